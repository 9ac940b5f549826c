//! Joining a running match, and serving peers that do.
//!
//! `Session` owns a `Joiner` and a `Donor`. Absent: which peers are admitted, and when.

mod donor;
mod feed_progress;
mod incoming;
mod joiner;
mod stage;

pub(crate) use donor::{Asker, Donor, Joining, Progress};
pub(crate) use feed_progress::{FeedVerdict, FeedView, head_of};
pub(crate) use joiner::Joiner;
pub(crate) use stage::{Candidate, Declined, JoinAction};
