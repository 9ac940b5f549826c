//! The operator's page: what is going on, for whoever has the token.

use std::sync::Arc;

use gaggle_lobby::view::RoomView;
use hyper::header::{self, HeaderMap};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::hub::{Hub, Snapshot};
use crate::metrics::{Figures, MetricsSource};

/// The page. It asks for the token and then for [`state`] every second.
pub(crate) const PAGE: &str = include_str!("operator.html");

/// Rooms shown on the page.
const ROOMS_MAX: usize = 200;

/// Whether the request carries the operator's token.
pub(crate) fn is_allowed(token: Option<&str>, headers: &HeaderMap) -> bool {
    let given =
        headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let (Some(token), Some(given)) = (token, given) else { return false };
    // Hashes are compared, so that the time it takes says nothing about the token.
    digest(&SHA256, token.as_bytes()).as_ref() == digest(&SHA256, given.as_bytes()).as_ref()
}

/// What the page shows.
pub(crate) fn state(hub: &Hub, sources: &[Arc<dyn MetricsSource>]) -> Value {
    let Snapshot { tally, connections, rooms, views, uptime, stored, lost } = hub.snapshot(ROOMS_MAX);
    let codes = |counts: &std::collections::BTreeMap<gaggle_lobby::RefusalCode, u64>| {
        counts
            .iter()
            .map(|(code, count)| (code.as_str().to_string(), json!(count)))
            .collect::<serde_json::Map<_, _>>()
    };
    let mut now = json!({ "connections": connections, "rooms": rooms });
    let mut counts = json!({
        "messages": tally.messages,
        "welcomed": tally.welcomed,
        "seated": tally.seated,
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
        "refused": codes(&tally.refused),
        "ended": codes(&tally.closed),
        "list": views.iter().map(room).collect::<Vec<_>>(),
    })
}

fn room(view: &RoomView) -> Value {
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
        "status": view.status.as_str(),
        "round": view.round,
        "epoch": view.epoch,
        "seats": view.seats,
        "private": view.private,
        "locked": view.locked,
        "members": view.members.iter().map(member).collect::<Vec<_>>(),
    })
}
