//! Timeline settings of skein: lockstep, so no input is predicted and frames wait for all peers.
//!
//! Called by pages and tests that open a room. Absent: rooms, rules.

use gaggle_kit::Micros;
use gaggle_timeline::{SlowPolicy, TimelineConfig};

use crate::goose::SEATS;

/// Silence of a peer after which the others are shown that they wait for it.
const INTERRUPTED_AFTER: Micros = Micros::from_millis(500);
/// Silence after which the autopilot flies a peer's geese.
const TIMEOUT: Micros = Micros::from_secs(2);
/// Frames that the host may let all predict while one of them is slow: a frame costs a copy of the
/// state, and an ember that jumps back further is seen.
pub const LOOSEN_FRAMES: u32 = 3;

/// Settings of all matches. Packets are sent when they are due and not in every frame: on a lossy
/// link the timeline sends them in every frame anyway, elsewhere they would be three times as many
/// for nothing.
///
/// A peer that others wait for too much is taken off, and the autopilot flies its goose: one slow
/// machine never holds five others back for good. The host may choose another policy.
pub fn timeline_config() -> TimelineConfig {
    TimelineConfig {
        game_fingerprint: crate::FINGERPRINT,
        interrupted_after: INTERRUPTED_AFTER,
        timeout: TIMEOUT,
        slot_count: SEATS,
        slow_policy: SlowPolicy::TakeOff,
        loosen_frames_max: LOOSEN_FRAMES,
        ..TimelineConfig::lockstep()
    }
}
