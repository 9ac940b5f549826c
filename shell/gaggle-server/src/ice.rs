//! STUN and TURN servers from the configuration, with credentials that end by themselves (the scheme of
//! coturn's `static-auth-secret`: the name is the time it ends, the password its HMAC).

use base64ct::{Base64, Encoding};
use gaggle_kit::Micros;
use gaggle_lobby::PlayerId;
use gaggle_lobby::message::server::{IceServer, Relay};
use gaggle_lobby::node::IceSource;
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

impl ConfiguredIce {
    pub(crate) fn new(
        urls: &[String],
        secret: Option<&str>,
        ttl: Micros,
        relay: Option<Relay>,
    ) -> ConfiguredIce {
        let is_turn = |url: &&String| url.starts_with("turn:") || url.starts_with("turns:");
        ConfiguredIce {
            stun: urls.iter().filter(|url| !is_turn(url)).cloned().collect(),
            turn: urls.iter().filter(is_turn).cloned().collect(),
            key: secret.map(|secret| hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret.as_bytes())),
            ttl,
            relay,
        }
    }
}

impl IceSource for ConfiguredIce {
    fn servers(&self, now: Micros, player: PlayerId) -> Vec<IceServer> {
        let mut servers = Vec::new();
        if !self.stun.is_empty() {
            servers.push(IceServer { urls: self.stun.clone(), username: None, credential: None });
        }
        if !self.turn.is_empty() {
            let until = (now + self.ttl).get() / 1_000_000;
            // Half of the id tells people apart in the TURN server's log and gives nothing away.
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
    fn credentials_are_those_coturn_expects() {
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
    fn without_servers_nothing_is_told() {
        let ice = ConfiguredIce::new(&[], None, Micros::from_secs(1), None);
        assert!(ice.servers(Micros::ZERO, PlayerId::from_bytes([0; 16])).is_empty());
    }

    const CREDENTIAL: &str = "NjXsCkggBi4Fp9EyQl4cj/cU6Jk=";
}
