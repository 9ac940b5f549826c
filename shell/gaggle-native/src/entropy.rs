//! Chance from the operating system, for names, seeds and secrets.

use std::io;

use gaggle_kit::PeerId;

/// A name nobody else has.
///
/// # Errors
/// If the operating system gives no entropy.
pub fn random_peer_id() -> io::Result<PeerId> {
    random().map(PeerId::from_bytes)
}

/// A seed nobody can guess, for [`Link::new`](gaggle_link::Endpoint::new).
///
/// # Errors
/// If the operating system gives no entropy.
pub fn random_seed() -> io::Result<u64> {
    random().map(u64::from_le_bytes)
}

pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}
