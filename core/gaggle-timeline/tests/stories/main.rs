//! Stories of gaggle-timeline, one program: what they share is built once.

mod builds;
mod cluster;
mod corpus;
mod desync;
mod events;
mod hostile;
mod lifecycle;
mod located;
mod lockstep;
mod majority;
mod matches;
mod membership;
mod questions;
mod recovery;
mod replays;
mod rosters;
#[cfg(feature = "seal")]
mod sealed;
mod several_players;
mod slow;
mod spectators;
mod time;
mod world;

#[path = "../../../../fuzz/src/timeline.rs"]
#[allow(dead_code, unreachable_pub, reason = "targets of the fuzzer, some of which no story uses")]
mod timeline;
