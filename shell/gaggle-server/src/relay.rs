//! Mounts the relay of `gaggle-relay` at `/relay` and at a UDP port.
//!
//! `server.rs` calls it. Absent: forwarding.

use std::fmt;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use gaggle_lobby::TicketKey;
use gaggle_lobby::message::server::Relay;
use gaggle_relay::{RelayConfig, RelayServer, UdpPort};

use crate::clock::Clock;
use crate::config::Config;
use crate::extensions::{Extensions, Lobby, Upgrade, UpgradedStream};
use crate::http::take_back;
use crate::metrics::{Figures, MetricsSource, counter, gauge, limited};
use crate::server::StartError;

const PATH: &str = "/relay";

/// Starts the configured relay and adds it to the extensions. Returns the relay and its STUN
/// addresses.
pub(crate) fn mount(
    config: &Config,
    udp: Option<UdpPort>,
    key: TicketKey,
    clock: Clock,
    extensions: &mut Extensions,
) -> Result<(Option<Arc<RelayServer>>, Vec<String>), StartError> {
    if !config.relay || extensions.relay.is_some() {
        return Ok((None, Vec::new()));
    }
    let addresses = udp.as_ref().map(|udp| udp.addresses().to_vec()).unwrap_or_default();
    let unix_seconds = Box::new(move || clock.now().get() / 1_000_000);
    let server = RelayServer::start_with_clock(key, limits(config), udp, unix_seconds)
        .map_err(|error| StartError::Setting(format!("the relay cannot start: {error}")))?;
    let mount = Arc::new(Mount(server.clone()));
    extensions.upgrades.push(mount.clone());
    extensions.metrics.push(mount);
    let udp = addresses.iter().map(SocketAddr::to_string).collect();
    let socket = config.relay_url.clone().unwrap_or_else(|| PATH.into());
    extensions.relay = Some(Relay { socket, udp, fingerprint: None });
    Ok((Some(server), addresses.iter().map(|address| format!("stun:{address}")).collect()))
}

/// Limits of the relay from the settings.
pub(crate) fn limits(config: &Config) -> RelayConfig {
    let (member, network) = (config.relay_member_rate as u64, config.relay_network_rate as u64);
    RelayConfig {
        sockets_per_network: config.connections_per_address,
        frames_per_second: member,
        frames_burst: member / 2,
        network_frames_per_second: network,
        network_frames_burst: network / 2,
        ..RelayConfig::default()
    }
}

/// Opens the configured UDP port, or the one with the server's port number. If the latter fails,
/// the relay works with WebSockets only.
pub(crate) fn bind(listen: SocketAddr, config: &Config) -> Result<Option<UdpPort>, StartError> {
    let wanted = config.relay_udp.unwrap_or(listen);
    match UdpPort::bind(wanted, &config.relay_addresses.0) {
        Ok(port) => Ok(Some(port)),
        Err(error) if config.relay_udp.is_some() => Err(StartError::Setting(format!(
            "cannot open UDP port {wanted} for the relay: {error}; choose another with --relay-udp"
        ))),
        Err(error) => {
            tracing::warn!(%wanted, %error, "the relay has no UDP port: it forwards through \
             WebSockets only");
            Ok(None)
        }
    }
}

struct Mount(Arc<RelayServer>);

impl fmt::Debug for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Upgrade for Mount {
    fn path(&self) -> &str {
        PATH
    }

    fn started(&self, lobby: Lobby) {
        self.0.set_epochs(Box::new(move |room| lobby.epoch_of(room)));
    }

    fn serve(
        self: Arc<Mount>,
        stream: UpgradedStream,
        address: IpAddr,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let accepted = take_back(stream.into_inner(), address);
        accepted.into_iter().for_each(|accepted| self.0.serve(accepted));
        Box::pin(std::future::ready(()))
    }
}

impl MetricsSource for Mount {
    fn render(&self, out: &mut String) {
        let totals = self.0.totals();
        gauge(out, "gaggle_relay_members", "Members connected to the relay.", totals.members);
        gauge(out, "gaggle_relay_rooms", "Rooms with a member at the relay.", totals.rooms);
        for (name, about, value) in totals.counters() {
            counter(out, &format!("gaggle_relay_{name}_total"), about, value);
        }
        limited(out, "relay", self.0.limits().into_iter().map(|(row, count)| (row.name, count)));
    }

    fn figures(&self) -> Figures {
        let totals = self.0.totals();
        let dropped = totals.dropped_rate + totals.dropped_unconnected + totals.dropped_slow;
        Figures {
            now: vec![("relay members", totals.members)],
            counts: vec![("relay forwarded", totals.forwarded), ("relay dropped", dropped)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relay_rates_come_from_settings_with_relay_defaults() {
        assert_eq!(limits(&Config::default()), RelayConfig::default());
        let config = Config { relay_member_rate: 600, relay_network_rate: 20_000, ..Config::default() };
        let limits = limits(&config);
        assert_eq!((limits.frames_per_second, limits.frames_burst), (600, 300));
        assert_eq!((limits.network_frames_per_second, limits.network_frames_burst), (20_000, 10_000));
    }
}
