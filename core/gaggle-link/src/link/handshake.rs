//! Handshake of a link: proof that both sides mean the current link, not one before a restart.
//!
//! `link.rs` calls it. Each side draws a new nonce, and only the other side's echo proves that it
//! was received. So a delayed handshake packet of an earlier link starts and ends nothing. Absent:
//! timeouts of a link.

use gaggle_kit::{Micros, Prng};

use super::packet::{Hello, Label};

const RETRY_FIRST: Micros = Micros::from_millis(100);
const RETRY_MAX: Micros = Micros::from_secs(1);

#[derive(Debug, Clone)]
pub(crate) struct Handshake {
    pub(crate) nonce: u32,
    /// Nonce and grant of the other side, from a packet that may be outdated.
    pub(crate) remote: Option<Remote>,
    next_at: Micros,
    retry: Micros,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Remote {
    pub(crate) nonce: u32,
    pub(crate) grant: u32,
}

/// Reaction to a handshake packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It echoes an outdated nonce.
    Ignore,
    /// Reply with a handshake packet.
    Greet,
    /// The other side has echoed the nonce: the link is established.
    Establish(Remote),
}

impl Handshake {
    pub(crate) fn new(now: Micros, random: &mut Prng) -> Handshake {
        // 0 means "unknown".
        let nonce = random.next_u32().max(1);
        Handshake { nonce, remote: None, next_at: now, retry: RETRY_FIRST }
    }

    pub(crate) fn handle(&mut self, hello: &Hello) -> Answer {
        if hello.echo != 0 && hello.echo != self.nonce {
            return Answer::Ignore;
        }
        let remote = Remote { nonce: hello.nonce, grant: hello.grant };
        self.remote = Some(remote);
        if hello.echo == self.nonce { Answer::Establish(remote) } else { Answer::Greet }
    }

    pub(crate) fn hello(&self, grant: u32) -> Hello {
        Hello { nonce: self.nonce, echo: self.remote.map_or(0, |remote| remote.nonce), grant }
    }

    /// When to repeat the handshake.
    pub(crate) fn next_at(&self) -> Micros {
        self.next_at
    }

    pub(crate) fn greeted(&mut self, now: Micros) {
        self.next_at = now.saturating_add(self.retry);
        self.retry = (self.retry + self.retry).min(RETRY_MAX);
    }
}

/// Label of packets from the first side to the second, and the number of the first packet.
pub(crate) fn label(from: u32, to: u32) -> (Label, u16) {
    // The finalizer of SplitMix64: labels of different links are unrelated.
    let mut z = u64::from(from) << 32 | u64::from(to);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    (Label { tag: (z & 0xf) as u8, check: (z >> 16) as u16 }, (z >> 32) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_match_their_vector() {
        let pairs = [(1, 2), (2, 1), (0x0102_0304, 0x1112_1314), (u32::MAX, 0x8000_0000)];
        let lines = pairs.map(|(from, to): (u32, u32)| {
            let (Label { tag, check }, first) = label(from, to);
            let bytes = [&from.to_le_bytes()[..], &to.to_le_bytes(), &[tag], &check.to_le_bytes()].concat();
            let bytes = [bytes, first.to_le_bytes().to_vec()].concat();
            bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        });
        let vector = include_str!("../../vectors/labels.hex");
        let found = vector.lines().map(|line| line.split('#').next().unwrap().replace(' ', ""));
        assert_eq!(found.collect::<Vec<_>>(), lines);
    }
}
