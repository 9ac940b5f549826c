//! The operator's page: state of the server, for holders of the token.
//!
//! `http.rs` calls it. Absent: metrics for programs (`metrics.rs`).

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gaggle_kit::rate_limit::network;
use gaggle_lobby::view::RoomView;
use hyper::header::{self, HeaderMap};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tracing::warn;

use crate::dispatcher::{Dispatcher, Snapshot};
use crate::metrics::{Figures, MetricsSource};
use crate::pace::Pace;

/// HTML of the page. It asks for the token and then for [`state`] every second.
pub(crate) const PAGE: &str = include_str!("operator.html");

/// Rooms shown on the page.
const ROOMS_MAX: usize = 200;

/// Time between wrong tokens of one network, after the first few.
pub(crate) const GUESS_EVERY: Duration = Duration::from_secs(10);
pub(crate) const GUESSES_AT_ONCE: u32 = 5;

/// Access check of the operator's page.
#[derive(Debug)]
pub(crate) struct Operator {
    token: Option<String>,
    guesses: Pace,
    wrong: AtomicU64,
}

/// Result of the access check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The token is right.
    Operator,
    /// The token is missing or wrong.
    Stranger,
    /// Too many wrong tokens: this one was not checked.
    Guessing,
}

impl Operator {
    pub(crate) fn new(token: Option<String>) -> Operator {
        Operator { token, guesses: Pace::new(GUESS_EVERY, GUESSES_AT_ONCE), wrong: AtomicU64::new(0) }
    }

    pub(crate) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Tokens that were not checked, after too many wrong ones.
    pub(crate) fn exceeded(&self) -> u64 {
        self.guesses.exceeded()
    }

    /// Wrong tokens so far.
    pub(crate) fn wrong_count(&self) -> u64 {
        self.wrong.load(Ordering::Relaxed)
    }

    /// Checks the operator's token of a request.
    pub(crate) fn standing_of(&self, headers: &HeaderMap, client: IpAddr) -> Standing {
        let given = headers.get(header::AUTHORIZATION);
        let given = given.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let (Some(token), Some(given)) = (&self.token, given) else { return Standing::Stranger };
        let (network, now) = (network(client), Instant::now());
        if self.guesses.rejects(network, now) {
            return Standing::Guessing;
        }
        // Hashes are compared, so that timing reveals nothing about the token.
        if digest(&SHA256, token.as_bytes()).as_ref() == digest(&SHA256, given.as_bytes()).as_ref() {
            return Standing::Operator;
        }
        let wrong = self.wrong.fetch_add(1, Ordering::Relaxed) + 1;
        let _ = self.guesses.take(network, now, Duration::MAX);
        warn!(%client, wrong, "wrong operator token");
        Standing::Stranger
    }
}

/// Data of the page.
pub(crate) fn state(dispatcher: &Dispatcher, sources: &[Arc<dyn MetricsSource>]) -> Value {
    let Snapshot { tally, connections, rooms, views, uptime, stored, lost, .. } =
        dispatcher.snapshot(ROOMS_MAX);
    let codes = |counts: &std::collections::BTreeMap<gaggle_lobby::RejectionCode, u64>| {
        counts
            .iter()
            .map(|(code, count)| (code.as_str().to_string(), json!(count)))
            .collect::<serde_json::Map<_, _>>()
    };
    let mut now = json!({ "connections": connections, "rooms": rooms });
    let mut counts = json!({
        "messages": tally.messages,
        "welcomed": tally.authenticated,
        "seated": tally.joined,
        "returned": tally.returned,
        "rooms created": tally.rooms_created,
        "signals": tally.signals,
        "matches stored": stored,
        "matches not stored": lost,
    });
    for Figures { now: more, counts: more_counts } in sources.iter().map(|source| source.figures()) {
        more.into_iter().for_each(|(name, value)| now[name] = value.into());
        more_counts.into_iter().for_each(|(name, value)| counts[name] = value.into());
    }
    json!({
        "server": crate::NAME,
        "uptime_seconds": uptime.get() / 1_000_000,
        "now": now,
        "counts": counts,
        "refused": codes(&tally.rejected),
        "ended": codes(&tally.closed),
        "list": views.iter().map(|view| room(view, sources)).collect::<Vec<_>>(),
    })
}

fn room(view: &RoomView, sources: &[Arc<dyn MetricsSource>]) -> Value {
    let figures = sources.iter().flat_map(|source| source.room_figures(view.id));
    let referee: serde_json::Map<String, Value> =
        figures.map(|(name, value)| (name.to_string(), value.into())).collect();
    let member = |member: &gaggle_lobby::view::Member| {
        json!({
            "name": member.name.as_str(),
            "player": member.player.to_string(),
            "slot": member.slot.map(|slot| slot.number()),
            "away": member.away,
            "host": member.peer == view.host,
        })
    };
    json!({
        "code": view.code.as_str(),
        "game": view.game.as_str(),
        "mode": view.mode.as_str(),
        "build": view.build.as_str(),
        "version": view.version(),
        "status": view.status.as_str(),
        "round": view.round,
        "epoch": view.epoch,
        "seats": view.max_players,
        "private": view.private,
        "locked": view.locked,
        "referee": if referee.is_empty() { Value::Null } else { Value::Object(referee) },
        "members": view.members.iter().map(member).collect::<Vec<_>>(),
    })
}
