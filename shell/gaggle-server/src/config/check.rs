//! Validation of settings, each by itself and together.
//!
//! Loading of settings calls it. Absent: files on disk, which the server checks.

use gaggle_kit::Micros;

use super::{Config, ConfigError};
use crate::ice;
use crate::page_policy::PagePolicy;

/// Most serving threads: with more they only wait for each other on any machine.
const THREADS_MAX: usize = 256;
/// Shortest operator token, in characters: with the token one sees all players.
const OPERATOR_TOKEN_MIN: usize = 16;
/// Fewest different characters in it.
const OPERATOR_TOKEN_VARIETY: usize = 8;
/// Common words; they do not count toward a token's strength.
const GUESSED_FIRST: [&str; 12] = [
    "password",
    "passwort",
    "operator",
    "gaggle",
    "server",
    "secret",
    "admin",
    "token",
    "changeme",
    "letmein",
    "qwertyuiop",
    "example",
];

/// Valid relay rates per second: two players at 60 Hz need the minimum, no machine forwards the
/// maximum.
const RELAY_RATES: std::ops::RangeInclusive<usize> = 100..=1_000_000;
/// Valid message rates per second: the limit's unit is at least a microsecond.
pub(super) const MESSAGE_RATES: std::ops::RangeInclusive<usize> = 1..=1_000_000;

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let found = self.check_pairs().and_then(|()| self.check_numbers()).and_then(|()| self.check_texts());
        found.and_then(|()| self.check_built_in()).map_err(ConfigError::Conflict)
    }

    /// Risks of valid settings, to be logged.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        // Concerns servers reached from elsewhere, through a proxy if they listen on loopback.
        let is_proxied = !self.proxies.0.is_empty()
            || self.relay_url.is_some()
            || !self.relay_addresses.0.is_empty()
            || self.redis.is_some();
        let is_public = !self.listen.ip().is_loopback() || is_proxied;
        if is_public && self.origins.0.iter().any(|origin| origin == "*") {
            warnings.push("pages of any origin may connect: list yours in `origins`".into());
        }
        if self.local_metrics && !self.proxies.0.is_empty() {
            let text = "`local_metrics` with a proxy: if it runs on this machine and is not in \
             `proxies`, `/metrics` is public";
            warnings.push(text.into());
        }
        warnings
    }

    fn check_built_in(&self) -> Result<(), String> {
        let needs = [
            ("redis", self.redis.is_some(), "redis", cfg!(feature = "redis")),
            ("tls_certificate", self.tls_certificate.is_some(), "tls", cfg!(feature = "tls")),
            ("token_issuer", self.token_issuer.is_some(), "sign-in", cfg!(feature = "sign-in")),
        ];
        let missing = needs.into_iter().find(|(_, is_set, _, is_built_in)| *is_set && !is_built_in);
        missing.map_or(Ok(()), |(setting, _, feature, _)| Err(left_out(setting, feature)))
    }

    fn check_pairs(&self) -> Result<(), String> {
        let conflict = |text: &str| Err(text.to_string());
        if self.tls_certificate.is_some() != self.tls_key.is_some() {
            return conflict("`tls_certificate` and `tls_key` go together: set both or none");
        }
        if self.token_issuer.is_some() != self.token_keys.is_some() {
            return conflict("`token_issuer` and `token_keys` go together: set both or none");
        }
        if let Some(address) = &self.sign_in {
            let starts = ["https://", "http://localhost:", "http://127.0.0.1:"];
            let is_safe = starts.iter().any(|start| address.starts_with(start));
            if !is_safe || !address.contains("{return}") || !address.contains("{state}") {
                return conflict("`sign_in` is an https address with `{return}` and `{state}` in it");
            }
            if self.token_issuer.is_none() {
                return conflict("`sign_in` needs `token_issuer` and `token_keys`, or no token is accepted");
            }
        }
        if self.redis.is_some() && self.ticket_secret.is_none() {
            return conflict(
                "nodes that share a Redis must sign with the same key: set `ticket_secret` to the same on all of them",
            );
        }
        if self.turn_secret.is_none() && self.ice.0.iter().any(|url| ice::is_turn(url)) {
            return conflict("TURN servers need credentials: set `turn_secret` to the secret they share");
        }
        Ok(())
    }

    fn check_numbers(&self) -> Result<(), String> {
        let conflict = |text: &str| Err(text.to_string());
        if !RELAY_RATES.contains(&self.relay_member_rate) || !RELAY_RATES.contains(&self.relay_network_rate) {
            return conflict("`relay_member_rate` and `relay_network_rate` are 100 to 1000000 a second");
        }
        if self.relay_network_rate < self.relay_member_rate {
            return conflict(
                "`relay_network_rate` cannot be less than `relay_member_rate`: one member is a network, too",
            );
        }
        if !MESSAGE_RATES.contains(&self.messages_per_address) {
            return conflict("`messages_per_address` is 1 to 1000000 a second");
        }
        if !MESSAGE_RATES.contains(&self.requests_per_address) {
            return conflict("`requests_per_address` is 1 to 1000000 a second");
        }
        if self.threads > THREADS_MAX {
            return Err(format!("`threads` cannot be {}: at most {THREADS_MAX}, 0 chooses", self.threads));
        }
        for (name, value) in [
            ("rooms_max", self.rooms_max),
            ("connections_max", self.connections_max),
            ("connections_per_address", self.connections_per_address),
            ("connections_per_player", self.connections_per_player),
            ("rooms_per_player", self.rooms_per_player),
        ] {
            if value == 0 {
                return Err(format!(
                    "`{name}` cannot be 0: no player could play; leave it out for the \
                 default"
                ));
            }
        }
        for (name, value) in [
            ("hello_timeout", self.hello_timeout),
            ("ticket_ttl", self.ticket_ttl),
            ("turn_ttl", self.turn_ttl),
            ("idle_timeout", self.idle_timeout),
            ("finished_ttl", self.finished_ttl),
        ] {
            if value.0 == Micros::ZERO {
                return Err(format!("`{name}` cannot be 0s: it would be over at once"));
            }
        }
        Ok(())
    }

    fn check_texts(&self) -> Result<(), String> {
        if let Some(url) = self.ice.0.iter().find(|url| !ice::is_server(url)) {
            return Err(format!("`ice` has `{url}`: it takes `stun:HOST:PORT` and `turn:HOST:PORT`"));
        }
        if self.origins.0.is_empty() {
            return Err("`origins` is empty: no page could connect; name yours, or `*` for any".into());
        }
        self.origins.0.iter().try_for_each(|origin| check_origin(origin))?;
        if let Some(url) =
            self.relay_url.as_ref().filter(|url| !url.starts_with("ws://") && !url.starts_with("wss://"))
        {
            return Err(format!(
                "`relay_url` cannot be `{url}`: it is a WebSocket, as `wss://play.example/relay`"
            ));
        }
        if self.operator_token.as_ref().is_some_and(|token| is_weak(&token.0)) {
            return Err(format!(
                "`operator_token` is too easy to guess: use {OPERATOR_TOKEN_MIN} or more random \
                 characters, as from `openssl rand -base64 24`"
            ));
        }
        PagePolicy::read(&self.page_policy, false).map(|_| ())
    }
}

/// Error of a setting that needs a part this program was built without.
pub(crate) fn left_out(setting: &str, feature: &str) -> String {
    format!(
        "`{setting}` needs the feature `{feature}`, which this server was built without; leave the \
         setting out, or build with `cargo build --release --package gaggle-server`"
    )
}

/// Checks that browsers can send this as a page's origin; the error suggests one.
fn check_origin(origin: &str) -> Result<(), String> {
    let matches_nothing = |meant: &str| {
        Err(format!(
            "`origins` has `{origin}`, which is not an \
     origin: {meant}"
        ))
    };
    if origin == "*" || origin == "null" {
        return Ok(());
    }
    let Some((scheme, rest)) = origin.split_once("://") else {
        return matches_nothing(&format!("write `https://{origin}`"));
    };
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if host.is_empty() || host.contains(['@', ' ', '*']) {
        return matches_nothing(
            "it takes `https://HOST` or `https://HOST:PORT`, one for each page, or `*` alone",
        );
    }
    let lower = format!("{}://{}", scheme.to_lowercase(), host.to_lowercase());
    let default_port = match scheme.to_lowercase().as_str() {
        "http" | "ws" => ":80",
        "https" | "wss" => ":443",
        _ => "\0",
    };
    let plain = lower.strip_suffix(default_port).unwrap_or(&lower);
    let plain = plain.replacen("wss://", "https://", 1).replacen("ws://", "http://", 1);
    if !path.is_empty() || plain != origin {
        return matches_nothing(&format!("write `{plain}`"));
    }
    Ok(())
}

/// Whether a token could be guessed.
fn is_weak(token: &str) -> bool {
    let mut rest = token.to_lowercase();
    for word in GUESSED_FIRST {
        rest = rest.replace(word, "");
    }
    // A character that follows or repeats the previous one adds nothing.
    let bytes = rest.as_bytes();
    let steps = bytes.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) > 1).count();
    let mut variety: Vec<char> = rest.chars().collect();
    variety.sort_unstable();
    variety.dedup();
    token.chars().count() < OPERATOR_TOKEN_MIN
        || bytes.len() < OPERATOR_TOKEN_MIN - 4
        || steps * 2 < bytes.len()
        || variety.len() < OPERATOR_TOKEN_VARIETY
}

#[cfg(test)]
mod tests {
    use super::super::{List, Secret};
    use super::*;

    #[test]
    fn invalid_origin_gets_suggestion() {
        for good in [
            "*",
            "null",
            "https://play.example",
            "http://localhost:8080",
            "capacitor://localhost",
            "http://[::1]:1",
        ] {
            assert_eq!(check_origin(good), Ok(()), "{good}");
        }
        for (bad, meant) in [
            ("play.example", "write `https://play.example`"),
            ("https://play.example/", "write `https://play.example`"),
            ("https://play.example/arcade", "write `https://play.example`"),
            ("https://Play.Example", "write `https://play.example`"),
            ("https://play.example:443", "write `https://play.example`"),
            ("http://play.example:80", "write `http://play.example`"),
            ("wss://play.example", "write `https://play.example`"),
            (
                "https://*.example",
                "it takes `https://HOST` or `https://HOST:PORT`, one for each page, or `*` alone",
            ),
        ] {
            let text = check_origin(bad).unwrap_err();
            assert_eq!(text, format!("`origins` has `{bad}`, which is not an origin: {meant}"));
        }
    }

    #[test]
    fn setting_of_absent_feature_is_refused() {
        let config = Config {
            redis: Some("redis://127.0.0.1".into()),
            ticket_secret: Some(Secret("secret".into())),
            ..Config::default()
        };
        match (config.check(), cfg!(feature = "redis")) {
            (Ok(()), true) => {}
            (Err(error), false) => {
                assert_eq!(error.to_string(), left_out("redis", "redis"));
            }
            (found, is_built_in) => panic!("{found:?}, built in: {is_built_in}"),
        }
        assert!(left_out("redis", "redis").starts_with("`redis` needs the feature `redis`, which"));
        Config::default().check().expect("the defaults need nothing");
    }

    #[test]
    fn guessable_token_is_weak() {
        for weak in [
            "hunter2",
            "short-but-odd!",
            "aaaaaaaaaaaaaaaaaaaaaaaa",
            "0123456789abcdefghij",
            "password-password-1",
            "gaggle-operator-token",
            "abababababababababab",
            "operatoroperator2024",
        ] {
            assert!(is_weak(weak), "{weak}");
        }
        for strong in ["nL2r8xq0vBz7yKp4mWdT", "correct horse battery staple", "7f3a9c15e08b4d62a1f7c3e9"] {
            assert!(!is_weak(strong), "{strong}");
        }
    }

    #[test]
    fn public_server_is_warned_about_any_origin() {
        let public = Config { listen: ([0, 0, 0, 0], 80).into(), ..Config::default() };
        assert_eq!(public.warnings(), ["pages of any origin may connect: list yours in `origins`"]);
        let proxied = Config { relay_url: Some("wss://play.example/relay".into()), ..Config::default() };
        assert_eq!(proxied.warnings(), public.warnings(), "on loopback, behind a proxy");
        let named = Config { origins: List(vec!["https://play.example".into()]), ..public };
        assert!(named.warnings().is_empty() && Config::default().warnings().is_empty());
        let token = Config { operator_token: Some(Secret("hunter2".into())), ..named };
        assert!(token.check().is_err());
    }
}
