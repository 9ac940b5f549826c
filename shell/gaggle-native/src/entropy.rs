//! Random ids and seeds from the operating system.
//!
//! Absent: random numbers of games (`gaggle_kit::Prng`).

use std::io;

use gaggle_kit::PeerId;

/// A globally unique peer id.
///
/// # Errors
/// If the operating system provides no random bytes.
pub fn random_peer_id() -> io::Result<PeerId> {
    random().map(PeerId::from_bytes)
}

/// An unguessable seed for [`Endpoint::new`](gaggle_link::Endpoint::new).
///
/// # Errors
/// If the operating system provides no random bytes.
pub fn random_seed() -> io::Result<u64> {
    random().map(u64::from_le_bytes)
}

pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}
