//! Numbers the membership machine goes by.
//!
//! `Session` makes them from its configuration. Absent: rules.

use gaggle_kit::Micros;

use super::TIP_LINKS;
use crate::config::TimelineConfig;

/// What was not answered is said again after so long: no less than a bad round trip.
pub(crate) const REPEAT_AFTER: Micros = Micros::from_millis(250);

/// Numbers the machine goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Settings {
    /// Window plus largest input delay: how far apart two members' confirmed frames can be.
    pub(crate) lookahead_frames: u32,
    /// How many slots the game has.
    pub(crate) slot_count: usize,
    /// Only a majority may go on, so that there is one history.
    pub(crate) majority: bool,
    /// No view is made by fewer.
    pub(crate) circle_min: usize,
    /// Ancestors told unasked.
    pub(crate) tip_links: u32,
    /// What was not answered is said again after this.
    pub(crate) repeat_after: Micros,
    /// Suspicions are gathered for so long before peers are asked, while more may follow.
    pub(crate) gather: Micros,
    /// A joiner is admitted although it lags after it has been ready for so long.
    pub(crate) patience: Micros,
    /// A joiner that makes no progress for so long starts over.
    pub(crate) feed_timeout: Micros,
    /// A peer that holds up a change of the view for so long goes with it.
    pub(crate) hold_up: Micros,
    /// A machine that did not tick for so long slept.
    pub(crate) sleep_after: Micros,
}

impl Settings {
    /// The settings of a session with so many slots.
    pub(crate) fn new(config: &TimelineConfig, slot_count: usize) -> Settings {
        Settings {
            lookahead_frames: config.reach_frames(),
            slot_count,
            majority: config.majority,
            circle_min: config.quorum_min,
            tip_links: TIP_LINKS as u32,
            repeat_after: REPEAT_AFTER,
            gather: Micros::from_millis(200),
            patience: Micros::from_secs(2),
            feed_timeout: Micros::from_secs(3),
            hold_up: config.evict_stalled_after,
            sleep_after: config.timeout,
        }
    }
}
