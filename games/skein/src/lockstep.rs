//! How a match of skein runs on a timeline: nothing is predicted, and every frame waits for all.
//!
//! Called by whatever opens a room. Absent: rooms, rules.

use gaggle_kit::Micros;
use gaggle_timeline::{SlowPolicy, TimelineConfig};

use crate::goose::SEATS;

/// Silence after which the others read whom they wait for.
const INTERRUPTED_AFTER: Micros = Micros::from_millis(500);
/// Silence after which the autopilot flies a peer's geese.
const TIMEOUT: Micros = Micros::from_secs(2);
/// Frames that the host may let all predict while one of them is slow: a frame costs a copy of the
/// state, and an ember that jumps back further is seen.
pub const LOOSEN_FRAMES: u32 = 3;

/// The settings of every match. Packets go out when they are due, not every frame: where they are
/// lost they are sent every frame anyway, and three times as many would cost more than they save.
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
