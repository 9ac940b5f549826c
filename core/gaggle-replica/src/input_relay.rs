//! What this peer's player does, on its way to the leader: in the same packets as objects, every
//! change until it is acknowledged. Absent: what an input means, packets.

use gaggle_kit::{BitWriter, BufferFull, Input};

use crate::input_queue::{Bytes, INPUT_BYTES_MAX, InputIn, InputOut, LocalInput};
use crate::peers::Peer;
use crate::roster::Roster;

/// Inputs of this peer's player: towards the leader, and for itself.
#[derive(Debug, Default)]
pub(crate) struct InputRelay {
    out: InputOut,
    local: LocalInput,
}

impl InputRelay {
    /// The player's input of this frame; `is_told` says whether the leader is to hear of it.
    pub(crate) fn set<I: Input>(&mut self, input: I, size: usize, is_told: bool) {
        let merge = merger::<I>(size);
        let bytes = encode(input, size);
        if is_told {
            self.out.sample(bytes, encode(input.repeat(), size), &merge);
        }
        self.local.sample(bytes, &merge);
    }

    /// The next input of the player here, or of the one at the other end of a link.
    pub(crate) fn take<I: Input>(&mut self, remote: Option<&mut InputIn>, size: usize) -> Option<I> {
        let (decode, merge) = (decoder::<I>(size), merger::<I>(size));
        let repeat = |bytes: &Bytes| encode(decode(bytes).repeat(), size);
        let taken = match remote {
            Some(inputs) => inputs.next(merge, repeat),
            None => self.local.take(repeat),
        };
        taken.map(|bytes| decode(&bytes))
    }

    /// Whether a peer is told in this round what the player does. What has to wait is told all the
    /// same, if late: every change, while there are not too many, and every press.
    pub(crate) fn is_told(&self, peer: &Peer, roster: &Roster) -> bool {
        let is_leader = peer.present().is_some() && peer.present() == roster.leader();
        self.out.newest() > peer.out.inputs_acked && is_leader && peer.out.input_budget > 0
    }

    /// Writes changes after `acked`, in about so many bits; the last one written.
    pub(crate) fn write(
        &self,
        w: &mut BitWriter<'_>,
        acked: u32,
        size: usize,
        bits: usize,
    ) -> Result<u32, BufferFull> {
        self.out.write(w, acked, size, bits)
    }

    /// A packet with inputs arrived at a peer.
    pub(crate) fn note_arrived(&mut self, peer: &mut Peer, roster: &Roster, number: u32) {
        peer.out.inputs_acked = peer.out.inputs_acked.max(number);
        if peer.present() == roster.leader() {
            self.out.acknowledge(number);
        }
    }
}

fn encode<I: Input>(input: I, size: usize) -> Bytes {
    let mut bytes = [0; INPUT_BYTES_MAX];
    input.write(&mut bytes[..size]);
    bytes
}

/// Reads bytes that were checked when they came.
fn decoder<I: Input>(size: usize) -> impl Fn(&Bytes) -> I {
    move |bytes| I::read(&bytes[..size]).unwrap_or_default()
}

fn merger<I: Input>(size: usize) -> impl Fn(&Bytes, &Bytes) -> Bytes {
    let decode = decoder::<I>(size);
    move |earlier, later| encode(I::merge(decode(earlier), decode(later)), size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuthorityPolicy;
    use crate::session::work::bench::Bench;

    /// A peer that leads, as the first of the table sees it.
    fn led() -> Bench {
        let mut bench = Bench::new(AuthorityPolicy::Leader, 2);
        bench.members.roster.remove(bench.members.me.id);
        bench.peers[0].out.input_budget = 100;
        bench
    }

    #[test]
    fn own_input_is_taken_and_held() {
        let mut relay = InputRelay::default();
        assert_eq!(relay.take::<u16>(None, 2), None);
        relay.set(7_u16, 2, true);
        assert_eq!([0; 2].map(|_| relay.take::<u16>(None, 2)), [Some(7), Some(7)]);
    }

    #[test]
    fn only_leader_is_told_until_it_acknowledges() {
        let (mut bench, mut relay) = (led(), InputRelay::default());
        relay.set(7_u16, 2, true);
        assert!(relay.is_told(&bench.peers[0], &bench.members.roster));
        relay.note_arrived(&mut bench.peers[0], &bench.members.roster, 1);
        assert!(!relay.is_told(&bench.peers[0], &bench.members.roster));
        let other = Bench::new(AuthorityPolicy::Leader, 2);
        relay.set(8_u16, 2, true);
        assert!(!relay.is_told(&other.peers[0], &other.members.roster), "this peer leads itself");
    }

    #[test]
    fn spectator_input_stays_here() {
        let (bench, mut relay) = (led(), InputRelay::default());
        relay.set(7_u16, 2, false);
        assert!(!relay.is_told(&bench.peers[0], &bench.members.roster));
        assert_eq!(relay.take::<u16>(None, 2), Some(7));
    }

    #[test]
    fn input_without_budget_waits() {
        let (mut bench, mut relay) = (led(), InputRelay::default());
        relay.set(7_u16, 2, true);
        bench.peers[0].out.input_budget = 0;
        assert!(!relay.is_told(&bench.peers[0], &bench.members.roster));
    }
}
