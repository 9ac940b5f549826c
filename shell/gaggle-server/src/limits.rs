//! Table of all limits of a server, as in the operators' guide: HTTP, lobby, relay.
//!
//! `docs/guide/limits.md` has this table, which a test compares. Absent: counting
//! (`gaggle_kit::rate_limit`), texts for clients.

use std::time::Duration;

use gaggle_kit::Micros;
use gaggle_kit::rate_limit::{Bound, LimitRow, RateLimit};
use gaggle_lobby::node::Exceeded;
use gaggle_lobby::rules::Rules;
use gaggle_seal::SealConfig;

use crate::config::Config;
use crate::http::HTTP_LIMITS;
use crate::{handshake_limit, handshakes, operator, relay, server};

/// Rows of the table in groups, with headings.
fn tables(config: &Config) -> [(&'static str, Vec<LimitRow>); 4] {
    let of_relay = relay::limits(config).limits();
    let of_lobby = of_lobby(&config.rules());
    [
        ("HTTP and TLS", of_http(config)),
        ("Lobby", of_lobby),
        ("Relay", of_relay),
        ("Referee", of_referee(&SealConfig::default())),
    ]
}

fn of_http(config: &Config) -> Vec<LimitRow> {
    let (per_network, total) = (handshake_limit::PER_NETWORK_MAX, handshake_limit::TOTAL_MAX);
    let requests = config.requests_per_address as u64;
    let every = |interval: Duration, burst| RateLimit::every(Micros::from(interval), burst);
    vec![
        places(
            "http_connections",
            Some(per_network),
            Some(total),
            "idle ones of heavier networks closed, else refused",
        ),
        rate(
            "http_requests",
            "network",
            RateLimit::per_second(requests, requests * u64::from(server::REQUEST_BURST)),
            "waits up to 1 s, then 429",
        ),
        rate(
            "tls_handshakes",
            "network",
            every(handshakes::EVERY, handshakes::AT_ONCE.into()),
            "waits up to 1 s, then refused",
        ),
        rate(
            "operator_guesses",
            "network",
            every(operator::GUESS_EVERY, operator::GUESSES_AT_ONCE.into()),
            "429",
        ),
    ]
}

fn of_lobby(rules: &Rules) -> Vec<LimitRow> {
    let limits = &rules.limits;
    let slow = "rejected as `too-fast`";
    vec![
        places(
            "connections",
            Some(rules.connections_per_address_max),
            Some(rules.connections_max),
            "clients without a room of heavier networks evicted, else rejected",
        ),
        rate("connect", "network", limits.connect, slow),
        rate("message", "connection", limits.message, slow),
        rate("message_per_address", "network", limits.message_per_address, slow),
        rate("message_bytes", "connection", limits.message_bytes, slow),
        rate("message_bytes_per_address", "network", limits.message_bytes_per_address, slow),
        rate("find", "player", limits.find, slow),
        rate("create", "player", limits.create, slow),
        rate("create_per_address", "network", limits.create_per_address, slow),
        rate("join", "player", limits.join, slow),
        rate("join_per_address", "network", limits.join_per_address, slow),
        rate("take_over", "player", limits.take_over, slow),
        rate("change", "player", limits.change, slow),
        rate("signal", "player", limits.signal, slow),
        rate("signal_bytes", "player", limits.signal_bytes, slow),
        rate("signal_bytes_to_one", "player and receiver", limits.signal_bytes_to_one, slow),
        rate("look", "player", limits.look, slow),
        rate("report", "player", limits.report, slow),
        rate("report_per_address", "network", limits.report_per_address, slow),
    ]
}

fn of_referee(config: &SealConfig) -> Vec<LimitRow> {
    let clients = |name, max, on_excess| {
        let bound = Bound::Places { per_key: Some(max), total: None };
        LimitRow { name, key: "room", bound, on_excess }
    };
    vec![
        clients("clients", config.clients_max, "link closed"),
        clients("spectators", config.spectators_max, "link closed"),
        rate("packets", "client", config.packet_rate, "dropped"),
        rate("messages", "client", gaggle_seal::MESSAGE_RATE, "link closed"),
        rate("state_pieces", "client", gaggle_seal::PIECE_RATE, "link closed"),
        rate("bytes_to_client", "client", config.client_rate, "sent later"),
        rate("state_bytes_to_client", "client", config.state_rate, "sent later"),
        rate("forwarded_bytes", "client", gaggle_seal::FORWARD_RATE, "dropped"),
    ]
}

fn rate(name: &'static str, key: &'static str, limit: RateLimit, on_excess: &'static str) -> LimitRow {
    LimitRow { name, key, bound: Bound::Rate(limit), on_excess }
}

fn places(
    name: &'static str,
    per_key: Option<usize>,
    total: Option<usize>,
    on_excess: &'static str,
) -> LimitRow {
    LimitRow { name, key: "network", bound: Bound::Places { per_key, total }, on_excess }
}

#[test]
fn operator_guide_has_table_of_limits() {
    let mut text = String::new();
    for (heading, rows) in tables(&Config::default()) {
        let rows: String = rows.iter().map(ToString::to_string).collect();
        text += &format!("**{heading}**\n\n{}{rows}\n", LimitRow::HEAD);
    }
    let guide = include_str!("../../../docs/guide/limits.md");
    assert!(
        guide.contains(&text),
        "docs/guide/limits.md has another table of limits; the right one is\n\n{text}"
    );
}

#[test]
fn metrics_name_limits_as_table_does() {
    let names = |rows: Vec<LimitRow>| rows.into_iter().map(|row| row.name).collect::<Vec<_>>();
    assert_eq!(names(of_http(&Config::default())), HTTP_LIMITS);
    let counted: Vec<&str> = Exceeded::default().iter().map(|(name, _)| name).collect();
    assert_eq!(names(of_lobby(&Rules::default())), counted);
}
