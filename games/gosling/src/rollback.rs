//! Settings of matches on the rollback engine.
//!
//! Read by rooms, tests and `twin`. Absent: the rules.

use gaggle_timeline::TimelineConfig;

use crate::Mode;

/// Frames a second.
pub const TICK_RATE: u32 = 30;
/// Frames that may be simulated on predicted wishes, 400 ms; and with 64 machines, where every few
/// seconds one of four thousand links loses three packets in a row.
const PREDICTION_FRAMES: u32 = 12;
const PREDICTION_FRAMES_GREAT: u32 = 18;

/// The settings of every match of a mode. A wish is a plan for the next cell, so a delay of two
/// frames is hardly felt, and every frame of delay is one that is not predicted.
pub fn timeline_config(mode: Mode) -> TimelineConfig {
    let is_great = mode == Mode::Great;
    let prediction = if is_great { PREDICTION_FRAMES_GREAT } else { PREDICTION_FRAMES };
    TimelineConfig {
        game_fingerprint: crate::FINGERPRINT,
        tick_rate: TICK_RATE,
        input_delay_frames: 2,
        input_delay_range: (1, 5),
        prediction_target_quarters: 8,
        slot_count: mode.seats(),
        ..TimelineConfig::rollback(prediction)
    }
}
