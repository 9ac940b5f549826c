//! Scheduling of TLS handshakes: rate per network, and order of computation.
//!
//! `server.rs` calls it. A handshake costs a thousand times a request, and an unfinished one costs
//! the client nothing: at most half of the cores compute handshakes, and each step delays its
//! network's next one. Absent: certificates (`tls.rs`), connection counts (`handshake_limit.rs`).

use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use gaggle_kit::rate_limit::{LimitKey, Prefix, prefixes};
use tokio::sync::oneshot;

use crate::pace::Pace;

/// Time per handshake of one network, its burst, and the longest wait before rejection.
pub(crate) const EVERY: Duration = Duration::from_millis(25);
pub(crate) const AT_ONCE: u32 = 400;
const WAIT_MAX: Duration = Duration::from_secs(1);
/// Cost of a step for the smallest prefix; wider ones pay less.
const COST: u64 = 4;
/// Prefixes tracked. Those without debt are dropped first; if none is, no more are added.
const PREFIXES_MAX: usize = 32_768;
/// Steps between two sweeps, which scan all prefixes.
const SWEEP_EVERY: u64 = 8_192;

/// All handshakes of a server.
#[derive(Debug)]
pub(crate) struct Handshakes {
    pace: Option<Pace>,
    permits: Arc<PermitQueue>,
}

impl Handshakes {
    /// With or without a rate per network.
    pub(crate) fn new(is_paced: bool) -> Handshakes {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let pace = is_paced.then(|| Pace::new(EVERY, AT_ONCE));
        Handshakes { pace, permits: PermitQueue::new((cores / 2).max(1)) }
    }

    /// Waits until this network may begin another handshake. False if that takes too long.
    pub(crate) async fn may_begin(&self, network: u64) -> bool {
        let Some(pace) = &self.pace else { return true };
        let Ok(wait) = pace.take(network, Instant::now(), WAIT_MAX) else { return false };
        if wait > Duration::ZERO {
            tokio::time::sleep(wait).await;
        }
        true
    }

    /// Handshakes that were rejected by the rate of their network.
    pub(crate) fn exceeded(&self) -> u64 {
        self.pace.as_ref().map_or(0, Pace::exceeded)
    }

    /// Runs a handshake to its end, each step when its network is scheduled.
    pub(crate) async fn run<F: Future>(&self, network: u64, handshake: F) -> F::Output {
        let mut handshake = pin!(handshake);
        loop {
            let permit = self.permits.take(network).await;
            let step = poll_fn(|context| Poll::Ready(handshake.as_mut().poll(context))).await;
            drop(permit);
            match step {
                Poll::Ready(ended) => return ended,
                Poll::Pending => wake().await,
            }
        }
    }
}

/// Waits until the task is woken by the I/O that the last step waits for.
async fn wake() {
    let mut is_woken = false;
    poll_fn(|_| match std::mem::replace(&mut is_woken, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

/// A bounded number of permits, with a queue of waiting handshakes.
#[derive(Debug)]
struct PermitQueue(Mutex<Waiting>);

#[derive(Debug)]
struct Waiting {
    free: usize,
    /// By virtual time, then by arrival.
    queue: BTreeMap<(u64, u64), oneshot::Sender<Permit>>,
    next: u64,
    /// Virtual time of the last permit.
    now: u64,
    /// Virtual time until which each prefix has used its share.
    paid_until: HashMap<Prefix, u64>,
    charges: u64,
    sweep_at: u64,
}

/// A permit to compute; dropping it passes it on.
#[derive(Debug)]
struct Permit(Option<Arc<PermitQueue>>);

impl PermitQueue {
    fn new(at_once: usize) -> Arc<PermitQueue> {
        let (queue, paid_until) = (BTreeMap::new(), HashMap::new());
        let waiting = Waiting { free: at_once, queue, next: 0, now: 0, paid_until, charges: 0, sweep_at: 0 };
        Arc::new(PermitQueue(Mutex::new(waiting)))
    }

    /// Waits for a permit of this network. Dropping the future leaves the queue.
    async fn take(self: &Arc<PermitQueue>, network: u64) -> Permit {
        let receiver = {
            let mut waiting = self.lock();
            let at = waiting.charge(network);
            if waiting.free > 0 {
                waiting.free -= 1;
                waiting.now = waiting.now.max(at);
                return Permit(Some(self.clone()));
            }
            let (sender, receiver) = oneshot::channel();
            let nth = waiting.next;
            waiting.next += 1;
            waiting.queue.insert((at, nth), sender);
            receiver
        };
        // Without a queue every handshake may proceed.
        receiver.await.unwrap_or(Permit(None))
    }

    /// Passes a permit to the next waiting handshake.
    fn pass_on(self: &Arc<PermitQueue>) {
        let mut waiting = self.lock();
        while let Some(((at, _), sender)) = waiting.queue.pop_first() {
            waiting.now = waiting.now.max(at);
            match sender.send(Permit(Some(self.clone()))) {
                Ok(()) => return,
                // Clear it without running its `Drop`: the lock is held.
                Err(mut permit) => permit.0 = None,
            }
        }
        waiting.free += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Charges a step to every prefix of the network and returns its virtual time. For a network
    /// that was idle for long it is in the past, which puts it before busy ones.
    fn charge(&mut self, network: u64) -> u64 {
        let now = self.now;
        self.charges += 1;
        if self.paid_until.len() >= PREFIXES_MAX && self.charges >= self.sweep_at {
            self.sweep_at = self.charges + SWEEP_EVERY;
            self.paid_until.retain(|_, until| *until > now);
        }
        let is_full = self.paid_until.len() >= PREFIXES_MAX;
        let mut due = 0;
        for prefix in prefixes(network) {
            if is_full && !self.paid_until.contains_key(&prefix) {
                continue;
            }
            let until = self.paid_until.entry(prefix).or_insert(0);
            due = due.max(*until);
            *until = (*until).max(now) + COST / prefix.shares();
        }
        due
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(permits) = self.0.take() {
            permits.pass_on();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use gaggle_kit::rate_limit::network;
    use tokio::task::JoinSet;

    use super::*;

    /// Networks in the order they are scheduled, if all wait while one permit is taken.
    async fn order(networks: &[u64]) -> Vec<u64> {
        let permits = PermitQueue::new(1);
        let held = permits.take(u64::MAX >> 1).await;
        let had = Arc::new(Mutex::new(Vec::new()));
        let mut waiting = JoinSet::new();
        for network in networks.iter().copied() {
            let (permits, had) = (permits.clone(), had.clone());
            waiting.spawn(async move {
                let _turn = permits.take(network).await;
                had.lock().unwrap().push(network);
            });
            // Each is queued before the next arrives.
            tokio::task::yield_now().await;
        }
        drop(held);
        while waiting.join_next().await.is_some() {}
        assert!(permits.lock().queue.is_empty() && permits.lock().free == 1);
        std::mem::take(&mut *had.lock().unwrap())
    }

    #[tokio::test]
    async fn new_network_is_scheduled_before_backlogs() {
        // 128 networks with eight handshakes each, and then one with a single one.
        let mut networks: Vec<u64> = (0..1_024).map(|nth| nth % 128).collect();
        networks.push(9_999);
        let order = order(&networks).await;
        let place = order.iter().position(|network| *network == 9_999).unwrap();
        assert_eq!(place, 128, "after the first of each");
    }

    #[tokio::test]
    async fn network_served_long_ago_is_next() {
        let permits = PermitQueue::new(1);
        for nth in 0..1_280 {
            drop(permits.take(nth % 128).await);
        }
        let mut waiting = permits.lock();
        let (again, first) = (waiting.charge(5), waiting.charge(9_999));
        assert!(first < again && again > 0, "{first} {again}");
    }

    #[tokio::test]
    async fn networks_of_one_prefix_have_its_shares() {
        let of = |nth: u128| network(Ipv6Addr::from_bits(0x2001_0db8 << 96 | nth << 64).into());
        let mut networks: Vec<u64> = (0..80).map(of).collect();
        networks.extend([7; 10]);
        let order = order(&networks).await;
        let last = order.iter().rposition(|network| *network == 7).unwrap();
        // While the lone network gets its ten, a /56 with 80 networks gets two for each of them.
        assert!((20..40).contains(&last), "{last}");
    }

    #[tokio::test]
    async fn canceled_waiter_is_skipped() {
        let permits = PermitQueue::new(1);
        let held = permits.take(1).await;
        let gone = tokio::time::timeout(Duration::from_millis(1), permits.take(2)).await;
        assert!(gone.is_err());
        let waits = tokio::spawn({
            let permits = permits.clone();
            async move { drop(permits.take(3).await) }
        });
        tokio::task::yield_now().await;
        drop(held);
        waits.await.unwrap();
        assert_eq!(permits.lock().free, 1);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn concurrent_steps_are_bounded_and_waiting_holds_no_permit() {
        let handshakes = Arc::new(Handshakes { pace: None, permits: PermitQueue::new(2) });
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut running = JoinSet::new();
        for nth in 0..200 {
            let (handshakes, now, most) = (handshakes.clone(), now.clone(), most.clone());
            running.spawn(async move {
                let compute = || {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_micros(200));
                    now.fetch_sub(1, Ordering::SeqCst);
                };
                let handshake = async {
                    compute();
                    // The other side is slow: all 200 wait at once.
                    tokio::time::sleep(Duration::from_millis(300)).await;
                    compute();
                };
                handshakes.run(nth, handshake).await;
            });
        }
        let began = Instant::now();
        while running.join_next().await.is_some() {}
        assert_eq!((most.load(Ordering::SeqCst), handshakes.permits.lock().free), (2, 2));
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    }

    #[test]
    fn flood_of_networks_fills_no_memory() {
        let permits = PermitQueue::new(1);
        let mut waiting = permits.lock();
        for network in 0..100_000 {
            waiting.charge(network);
        }
        assert_eq!(waiting.paid_until.len(), PREFIXES_MAX);
        // When scheduled networks have advanced the time, there is space again.
        waiting.now = COST;
        for _ in 0..SWEEP_EVERY {
            waiting.charge(200_000);
        }
        assert_eq!(waiting.paid_until.len(), 1);
    }
}
