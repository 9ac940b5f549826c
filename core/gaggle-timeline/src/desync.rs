//! Comparing confirmed states with other peers, finding where they part, and who takes whose.
//!
//! Only confirmed frames are hashed, after every correction has been simulated: what is not final
//! is never a desync. Absent: transfers of states, sockets, how the roster came about.

mod audit;
mod peer_audit;
mod recovery;

pub(crate) use audit::{Conclusion, DesyncAudit, stream_hashes};
pub(crate) use peer_audit::{Difference, OwnCheck, PeerAudit, RemoteCheck};
pub(crate) use recovery::{Recovery, Vote, Voter};
