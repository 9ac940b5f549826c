//! Desync detection: comparison of confirmed states, the search for the frame where they diverge,
//! and the vote on which peer takes over another's state.
//!
//! Only confirmed frames are hashed, after every correction was simulated: a difference in
//! predicted frames is no desync. Absent: state transfer, sockets, how the roster came about.

mod audit;
mod peer_audit;
mod recovery;

pub(crate) use audit::{Conclusion, DesyncAudit, stream_hashes};
pub(crate) use peer_audit::{Difference, OwnCheck, PeerAudit, RemoteCheck};
pub(crate) use recovery::{Recovery, Vote, Voter};
