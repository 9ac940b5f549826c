//! Streams between two peers beside objects: inputs, remote events, values, blobs. Each is written
//! by the part of the same name. Absent: meaning of their content.

use std::collections::VecDeque;

use crate::blob::Blob;
use crate::input_queue::InputIn;
use crate::remote_event::{Inbox, RateLimiter};
use crate::value::Values;

/// Most values of other writers that one peer may forward per second: a few tables at once.
const RELAYED_VALUES_PER_SECOND: u32 = 1_000;

/// Side streams of one peer.
#[derive(Debug)]
pub(crate) struct SideStreams {
    /// Inputs of the players at the other end, if this peer simulates: one queue per player.
    pub(crate) inputs: Vec<InputIn>,
    pub(crate) inbox: Inbox,
    pub(crate) relayed_values_limit: RateLimiter,
    /// Values that cannot be accepted with the present roster.
    pub(crate) values: Values,
    /// Blobs it requested, and the bytes sent of each.
    pub(crate) pieces: VecDeque<(Blob, usize)>,
    pub(crate) piece_budget: i64,
}

impl Default for SideStreams {
    fn default() -> SideStreams {
        SideStreams {
            inputs: Vec::new(),
            inbox: Inbox::default(),
            relayed_values_limit: RateLimiter::new(RELAYED_VALUES_PER_SECOND),
            values: Values::default(),
            pieces: VecDeque::new(),
            piece_budget: 0,
        }
    }
}
