//! Coming into a running match, and serving those that do.

mod donor;
mod feed_progress;
mod incoming;
mod joiner;
mod stage;

pub(crate) use donor::{Asker, Donor, Joining, Progress};
pub(crate) use feed_progress::{FeedVerdict, FeedView, head_of};
pub(crate) use joiner::Joiner;
pub(crate) use stage::{Candidate, Declined, JoinAction};
