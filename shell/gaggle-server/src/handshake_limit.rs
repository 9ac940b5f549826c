//! Concurrent HTTP connections: limits per network and in total, and which are closed when there
//! are too many.
//!
//! `server.rs` and `http.rs` call it. A proxy's connection counts for the client whose request is
//! being answered. Absent: requests and responses (`http.rs`), rates (`pace.rs`).

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gaggle_kit::rate_limit::{ConcurrencyLimit, Prefix, choose_evicted, network, prefixes};
use tokio::sync::Notify;

/// Per network: browsers open six at a time, a household has several.
pub(crate) const PER_NETWORK_MAX: usize = 64;
/// Of all networks together.
pub(crate) const TOTAL_MAX: usize = 4_096;
/// Connections closed at once: choosing them scans all connections.
const MAKE_WAY: usize = TOTAL_MAX / 32;

/// Counts HTTP connections.
#[derive(Debug, Default)]
pub(crate) struct HandshakeLimit {
    inside: Mutex<Inside>,
    /// Connections rejected, and connections closed to make room.
    refused: AtomicU64,
    evicted: AtomicU64,
}

#[derive(Debug, Default)]
struct Inside {
    next: u64,
    /// In the order of arrival.
    connections: BTreeMap<u64, HttpConnection>,
    places: ConcurrencyLimit<Prefix>,
}

#[derive(Debug)]
struct HttpConnection {
    /// Network it counts for; none for a proxy's connection between requests.
    network: Option<u64>,
    is_proxy: bool,
    /// Whether a request is being answered.
    is_busy: bool,
    leave: Arc<Notify>,
}

/// A counted connection; dropping it ends the count.
#[derive(Debug)]
pub(crate) struct Pass {
    keeper: Arc<HandshakeLimit>,
    id: u64,
    leave: Arc<Notify>,
    requests: AtomicU32,
    sent: Arc<AtomicU64>,
}

/// A request being answered; dropping it ends the count.
#[derive(Debug)]
pub(crate) struct Serving {
    keeper: Arc<HandshakeLimit>,
    id: u64,
    /// Client whose network is charged, behind a proxy.
    client: Option<u64>,
    sent: Arc<AtomicU64>,
}

impl HandshakeLimit {
    /// Admits a connection, unless its network is at its limit. Beyond the total, idle connections
    /// of the heaviest networks are closed.
    pub(crate) fn enter(self: &Arc<HandshakeLimit>, address: IpAddr, is_proxy: bool) -> Option<Pass> {
        let mut inside = self.lock();
        let network = (!is_proxy).then(|| network(address));
        if inside.connections.len() >= TOTAL_MAX {
            let evicted = inside.make_way(network);
            self.evicted.fetch_add(evicted, Ordering::Relaxed);
        }
        let has_place = inside.connections.len() < TOTAL_MAX
            && network.is_none_or(|network| {
                inside.places.try_acquire(prefixes(network), usize::MAX, PER_NETWORK_MAX)
            });
        if !has_place {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let (id, leave) = (inside.next, Arc::new(Notify::new()));
        inside.next += 1;
        inside
            .connections
            .insert(id, HttpConnection { network, is_proxy, is_busy: false, leave: leave.clone() });
        Some(Pass { keeper: self.clone(), id, leave, requests: AtomicU32::new(0), sent: Arc::default() })
    }

    /// Connections now, rejected so far, and closed to make room so far.
    pub(crate) fn counts(&self) -> (usize, u64, u64) {
        let count = self.lock().connections.len();
        (count, self.refused.load(Ordering::Relaxed), self.evicted.load(Ordering::Relaxed))
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    /// Closes connections of networks that have more than the new one's, idle ones first.
    fn make_way(&mut self, joiner: Option<u64>) -> u64 {
        let weight_min = joiner.map_or(1, |network| self.places.weight(network) + 1);
        let held = |(id, connection): (&u64, &HttpConnection)| {
            Some((connection.network?, (connection.is_busy, *id)))
        };
        let known = self.connections.iter().filter_map(held);
        let mut chosen: Vec<u64> =
            choose_evicted(&self.places, weight_min, known, MAKE_WAY).into_iter().map(|(_, id)| id).collect();
        // A proxy reopens its connections when needed.
        let unused = self.connections.iter().filter(|(_, connection)| connection.network.is_none());
        chosen.extend(unused.map(|(id, _)| *id).take(MAKE_WAY - chosen.len()));
        for id in &chosen {
            if let Some(connection) = self.connections.remove(id) {
                connection.network.into_iter().for_each(|network| self.places.release(prefixes(network)));
                connection.leave.notify_one();
            }
        }
        chosen.len() as u64
    }
}

impl Pass {
    /// Resolves when the connection must be closed.
    pub(crate) async fn has_to_leave(&self) {
        self.leave.notified().await;
    }

    /// Response bytes sent so far.
    pub(crate) fn sent_bytes(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Number of requests on the connection, this one included.
    pub(crate) fn count_request(&self) -> u32 {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Starts a request of this client. None if its network has too many running.
    pub(crate) fn serve(&self, client: IpAddr) -> Option<Serving> {
        let mut inside = self.keeper.lock();
        let Inside { connections, places, .. } = &mut *inside;
        let connection = connections.get_mut(&self.id)?;
        let client = connection.is_proxy.then(|| network(client));
        if let Some(client) = client {
            if !places.try_acquire(prefixes(client), usize::MAX, PER_NETWORK_MAX) {
                self.keeper.refused.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            connection.network = Some(client);
        }
        connection.is_busy = true;
        Some(Serving { keeper: self.keeper.clone(), id: self.id, client, sent: self.sent.clone() })
    }
}

impl Serving {
    /// Counts response bytes sent.
    pub(crate) fn count_sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let mut inside = self.keeper.lock();
        // A connection that was closed to make room is not counted any more.
        let Some(connection) = inside.connections.get_mut(&self.id) else { return };
        connection.is_busy = false;
        if let Some(client) = self.client {
            connection.network = None;
            inside.places.release(prefixes(client));
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut inside = self.keeper.lock();
        if let Some(network) = inside.connections.remove(&self.id).and_then(|connection| connection.network) {
            inside.places.release(prefixes(network));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    fn enter(keeper: &Arc<HandshakeLimit>, address: IpAddr, times: usize) -> Vec<Pass> {
        (0..times).map_while(|_| keeper.enter(address, false)).collect()
    }

    #[test]
    fn one_address_cannot_take_all_connections() {
        let keeper = Arc::new(HandshakeLimit::default());
        let (greedy, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let passes = enter(&keeper, greedy, 1_000);
        assert_eq!(passes.len(), 64);
        assert!(keeper.enter(greedy, true).is_some());
        assert!(keeper.enter(other, false).is_some());
        drop(passes);
        assert!(keeper.enter(greedy, false).is_some());
        assert!(keeper.lock().places.is_empty() && keeper.lock().connections.is_empty());
    }

    #[test]
    fn prefix_of_one_customer_has_few_connections() {
        let keeper = Arc::new(HandshakeLimit::default());
        let address = |n: u128| IpAddr::V6(Ipv6Addr::from_bits((0x2001_0db8 << 96) | n));
        let keeper = &keeper;
        let from =
            |network: u128| (0..1_000).map_while(move |n| keeper.enter(address(network << 64 | n), false));
        let passes: Vec<Pass> = (0..80).flat_map(from).collect();
        assert_eq!(passes.len(), 128, "80 networks of one /56");
        let more: Vec<Pass> = (0..80).flat_map(|n| from(n << 8)).collect();
        assert_eq!(passes.len() + more.len(), 256, "80 of one /48");
        assert!(keeper.enter(address(1 << 80), false).is_some(), "another customer");
    }

    #[test]
    fn idle_connections_of_heavy_networks_are_closed() {
        let keeper = Arc::new(HandshakeLimit::default());
        let light = keeper.enter([192, 0, 2, 1].into(), false).unwrap();
        let from = |n: u8| enter(&keeper, [10, 0, 0, n].into(), if n == 255 { 15 } else { 16 });
        let heavy: Vec<Pass> = (0..=255).flat_map(from).collect();
        assert_eq!((heavy.len(), keeper.counts().0), (TOTAL_MAX - 1, TOTAL_MAX));
        let busy = heavy[0].serve([10, 0, 0, 0].into()).unwrap();
        let joiner = keeper.enter([192, 0, 2, 2].into(), false);
        assert!(joiner.is_some());
        assert_eq!(keeper.counts(), (TOTAL_MAX - MAKE_WAY + 1, 0, MAKE_WAY as u64));
        assert!(light.serve([192, 0, 2, 1].into()).is_some(), "its network has one");
        assert!(heavy[0].serve([10, 0, 0, 0].into()).is_some(), "a request is running");
        assert!(heavy[1].serve([10, 0, 0, 0].into()).is_none(), "it was closed to make room");
        drop((busy, light, joiner, heavy));
        assert!(keeper.lock().places.is_empty());
    }

    #[test]
    fn clients_of_proxy_are_counted_separately() {
        let keeper = Arc::new(HandshakeLimit::default());
        let proxy = IpAddr::from([127, 0, 0, 1]);
        let passes: Vec<Pass> = (0..100).map_while(|_| keeper.enter(proxy, true)).collect();
        assert_eq!(passes.len(), 100);
        let greedy: Vec<Serving> =
            passes.iter().filter_map(|pass| pass.serve([203, 0, 113, 9].into())).collect();
        assert_eq!(greedy.len(), 64);
        assert!(passes[99].serve([198, 51, 100, 1].into()).is_some());
        // After the responses the connections count for the proxy again.
        drop(greedy);
        assert!(keeper.lock().places.is_empty());
    }
}
