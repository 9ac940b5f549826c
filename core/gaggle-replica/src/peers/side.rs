//! Streams between two peers beside objects: inputs, remote events, values, blobs. Each is written
//! by the part of the same name. Absent: meaning of their content.

use std::collections::VecDeque;

use gaggle_kit::rate_limit::{RateLimit, RateLimiter};

use crate::blob::Blob;
use crate::input_queue::InputIn;
use crate::remote_event::Inbox;
use crate::value::Values;

/// Most values written by others that one peer may send in a second: a few tables at once.
pub(crate) const RELAYED_VALUES: RateLimit = RateLimit::per_second(1_000, 2_000);

/// Side streams of one peer.
#[derive(Debug, Default)]
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
