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
    nonce: u32,
    /// Nonce and grant of the other side, from a packet that may be outdated.
    remote: Option<Remote>,
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

    /// Nonce of this side.
    pub(crate) fn nonce(&self) -> u32 {
        self.nonce
    }

    /// The other side, if a packet with this label proves that it has this side's nonce.
    pub(crate) fn proven_by(&self, found: Label) -> Option<Remote> {
        self.remote.filter(|remote| label(remote.nonce, self.nonce).0 == found)
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

    fn sides() -> [Handshake; 2] {
        let mut random = Prng::new(7);
        [(); 2].map(|()| Handshake::new(Micros::ZERO, &mut random))
    }

    #[test]
    fn echoed_nonce_establishes_link() {
        let [mut near, mut far] = sides();
        assert_eq!(near.handle(&far.hello(9)), Answer::Greet);
        let remote = Remote { nonce: near.nonce(), grant: 5 };
        assert_eq!(far.handle(&near.hello(5)), Answer::Establish(remote));
    }

    #[test]
    fn echo_of_earlier_link_is_ignored() {
        let [mut near, mut far] = sides();
        assert_eq!(near.handle(&far.hello(9)), Answer::Greet);
        let late = near.hello(5);
        far = Handshake::new(Micros::ZERO, &mut Prng::new(8));
        assert_eq!(far.handle(&late), Answer::Ignore);
        assert_eq!(far.proven_by(label(near.nonce(), far.nonce()).0), None, "it took nothing from it");
    }

    #[test]
    fn packet_with_label_of_both_nonces_proves_link() {
        let [mut near, far] = sides();
        let found = label(far.nonce(), near.nonce()).0;
        assert_eq!(near.proven_by(found), None);
        assert_eq!(near.handle(&far.hello(9)), Answer::Greet);
        assert_eq!(near.proven_by(found), Some(Remote { nonce: far.nonce(), grant: 9 }));
        assert_eq!(near.proven_by(label(near.nonce(), far.nonce()).0), None);
    }

    #[test]
    fn greeting_is_repeated_at_most_once_per_second() {
        let [mut near, _] = sides();
        let mut waits = Vec::new();
        for _ in 0..6 {
            let now = near.next_at();
            near.greeted(now);
            waits.push(near.next_at().since(now).get() / 1_000);
        }
        assert_eq!(waits, [100, 200, 400, 800, 1_000, 1_000]);
    }

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
