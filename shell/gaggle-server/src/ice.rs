//! STUN and TURN servers from the settings, with expiring credentials.
//!
//! The node gets it. Credentials follow coturn's `static-auth-secret`: the user name contains the
//! expiry, the password is its HMAC. Absent: the servers themselves.

use std::net::Ipv6Addr;

use base64ct::{Base64, Encoding};
use gaggle_kit::Micros;
use gaggle_lobby::PlayerId;
use gaggle_lobby::message::server::{IceServer, Relay};
use gaggle_lobby::node::IceProvider;
use ring::hmac;

/// The configured servers.
#[derive(Debug)]
pub(crate) struct ConfiguredIce {
    stun: Vec<String>,
    turn: Vec<String>,
    key: Option<hmac::Key>,
    ttl: Micros,
    relay: Option<Relay>,
}

/// Whether browsers accept this address (RFC 7064 and 7065). A wrong one would disable all direct
/// links.
pub(crate) fn is_server(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once(':') else { return false };
    let (place, transport) = rest.split_once('?').map_or((rest, None), |(place, asked)| (place, Some(asked)));
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (place, None),
    };
    let is_bare =
        |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
    let is_host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(ip) => ip.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && is_bare(host),
    };
    let is_transport = |asked| is_turn(url) && matches!(asked, "transport=udp" | "transport=tcp");
    matches!(scheme, "stun" | "stuns" | "turn" | "turns")
        && is_host
        && port.is_none_or(|port| port.parse::<u16>().is_ok())
        && transport.is_none_or(is_transport)
}

/// Whether it is a TURN server, which requires credentials.
pub(crate) fn is_turn(url: &str) -> bool {
    url.starts_with("turn:") || url.starts_with("turns:")
}

impl ConfiguredIce {
    pub(crate) fn new(
        urls: &[String],
        secret: Option<&str>,
        ttl: Micros,
        relay: Option<Relay>,
    ) -> ConfiguredIce {
        let (turn, stun) = urls.iter().cloned().partition(|url| is_turn(url));
        ConfiguredIce {
            stun,
            turn,
            key: secret.map(|secret| hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret.as_bytes())),
            ttl,
            relay,
        }
    }
}

impl IceProvider for ConfiguredIce {
    fn servers(&self, now: Micros, player: PlayerId) -> Vec<IceServer> {
        let mut servers = Vec::new();
        if !self.stun.is_empty() {
            servers.push(IceServer { urls: self.stun.clone(), username: None, credential: None });
        }
        if !self.turn.is_empty() {
            let until = (now + self.ttl).get() / 1_000_000;
            // Half of the id distinguishes players in the TURN server's log without revealing them.
            let username = format!("{until}:{}", &player.to_string()[..16]);
            let credential = self
                .key
                .as_ref()
                .map(|key| Base64::encode_string(hmac::sign(key, username.as_bytes()).as_ref()));
            let username = credential.is_some().then_some(username);
            servers.push(IceServer { urls: self.turn.clone(), username, credential });
        }
        servers
    }

    fn ttl_seconds(&self) -> u64 {
        self.ttl.get() / 1_000_000
    }

    fn relay(&self) -> Option<Relay> {
        self.relay.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_match_coturns() {
        let urls = ["stun:a:3478", "turn:b:3478", "turns:b:5349"].map(String::from);
        let ice = ConfiguredIce::new(&urls, Some("north"), Micros::from_secs(3_600), None);
        let servers = ice.servers(Micros::from_secs(1_800_000_000), PlayerId::from_bytes([0xab; 16]));
        assert_eq!(servers[0].urls, ["stun:a:3478"]);
        assert_eq!(servers[1].urls, ["turn:b:3478", "turns:b:5349"]);
        assert_eq!(servers[1].username.as_deref(), Some("1800003600:abababababababab"));
        // printf 1800003600:abababababababab | openssl dgst -sha1 -hmac north -binary | base64
        assert_eq!(servers[1].credential.as_deref(), Some(CREDENTIAL));
    }

    #[test]
    fn without_servers_list_is_empty() {
        let ice = ConfiguredIce::new(&[], None, Micros::from_secs(1), None);
        assert!(ice.servers(Micros::ZERO, PlayerId::from_bytes([0; 16])).is_empty());
    }

    #[test]
    fn only_addresses_browsers_accept_are_valid() {
        for good in [
            "stun:stun.example",
            "stun:192.0.2.7:3478",
            "stuns:[2001:db8::7]:5349",
            "turn:turn.example:3478?transport=tcp",
            "turns:[2001:db8::7]?transport=udp",
        ] {
            assert!(is_server(good), "{good}");
        }
        for bad in [
            "",
            "stun.example:3478",
            "stun:",
            "stun:stun.example:",
            "stun:stun.example:65536",
            "stun://stun.example",
            "stun:2001:db8::7",
            "stun:stun.example?transport=udp",
            "turn:turn.example?transport=sctp",
            "turn:me@turn.example",
            "https:turn.example",
        ] {
            assert!(!is_server(bad), "{bad}");
        }
    }

    const CREDENTIAL: &str = "NjXsCkggBi4Fp9EyQl4cj/cU6Jk=";
}
