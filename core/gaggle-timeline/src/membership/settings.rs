//! Settings of membership.
//!
//! `Session` derives them from its configuration. Absent: rules.

use gaggle_kit::Micros;

use super::TIP_LINKS;
use crate::config::{Quorum, TimelineConfig};

/// Time after which an unanswered message is repeated: no less than a bad round trip.
pub(crate) const REPEAT_AFTER: Micros = Micros::from_millis(250);

/// Settings of membership, derived from those of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Settings {
    /// Prediction window plus largest input delay: the largest distance between two members'
    /// confirmed frames.
    pub(crate) lookahead_frames: u32,
    /// Number of slots of the game.
    pub(crate) slot_count: usize,
    /// Whether only a majority may go on, so that there is one branch.
    pub(crate) majority: bool,
    /// Smallest quorum that makes a view.
    pub(crate) quorum_min: usize,
    /// Ancestors sent without a request.
    pub(crate) tip_links: u32,
    /// Time after which an unanswered message is repeated.
    pub(crate) repeat_after: Micros,
    /// Time for which suspicions are gathered before peers are asked, while more may follow.
    pub(crate) gather: Micros,
    /// Time after which a ready joiner is admitted although its entries lag.
    pub(crate) patience: Micros,
    /// Time without progress after which a joiner starts over.
    pub(crate) feed_timeout: Micros,
    /// Time after which a peer that blocks a view change is evicted with it.
    pub(crate) stall_timeout: Micros,
    /// Time without a tick after which a peer counts as suspended.
    pub(crate) sleep_after: Micros,
}

impl Settings {
    /// Settings of a session with `slot_count` slots.
    pub(crate) fn new(config: &TimelineConfig, slot_count: usize) -> Settings {
        Settings {
            lookahead_frames: config.lookahead_frames(),
            slot_count,
            majority: config.quorum == Quorum::Majority,
            quorum_min: config.quorum_min,
            tip_links: TIP_LINKS as u32,
            repeat_after: REPEAT_AFTER,
            gather: Micros::from_millis(200),
            patience: Micros::from_secs(2),
            feed_timeout: Micros::from_secs(3),
            stall_timeout: config.evict_stalled_after,
            sleep_after: config.timeout,
        }
    }
}
