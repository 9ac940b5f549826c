//! Inputs of the local players on their way to the leader, in the packets of objects: every change
//! until it is acknowledged, those of several players as one. The session samples, the replicator
//! writes. Absent: meaning of an input, packets, slots.

use gaggle_kit::{BitWriter, BufferFull, Input};

use crate::input_queue::{Bytes, INPUT_BYTES_MAX, InputIn, InputOut, LocalInput};
use crate::peers::Peer;
use crate::roster::Roster;

/// Inputs of local players: for the leader, and for this peer itself.
#[derive(Debug, Default)]
pub(crate) struct InputRelay {
    out: InputOut,
    /// One for each local player, in the order of their slots.
    local: Vec<LocalInput>,
}

impl InputRelay {
    /// Sets the local players' inputs of this frame, in the order of their slots; `is_told` if they
    /// are sent to the leader.
    pub(crate) fn set<I: Input>(&mut self, inputs: &[I], size: usize, is_told: bool) {
        let bytes = pack(inputs.iter().copied(), size);
        if is_told {
            let repeated = pack(inputs.iter().map(|input| input.repeat()), size);
            self.out.sample(bytes, repeated, merger::<I>(size, inputs.len()));
        }
        self.local.resize_with(inputs.len(), LocalInput::default);
        for (index, local) in self.local.iter_mut().enumerate() {
            local.sample(part(&bytes, index, size), merger::<I>(size, 1));
        }
    }

    /// Next input of the local player at this position in the order of slots.
    pub(crate) fn take_local<I: Input>(&mut self, index: usize, size: usize) -> Option<I> {
        let taken = self.local.get_mut(index)?.take(repeater::<I>(size))?;
        Some(decode(&taken, size))
    }

    /// Next input of a player at another peer.
    pub(crate) fn take_remote<I: Input>(inputs: &mut InputIn, size: usize) -> Option<I> {
        let taken = inputs.next(merger::<I>(size, 1), repeater::<I>(size))?;
        Some(decode(&taken, size))
    }

    /// Whether a peer gets the inputs in this tick. Changes that must wait are sent later: all of
    /// them unless there are too many, and every press.
    pub(crate) fn is_told(&self, peer: &Peer, roster: &Roster) -> bool {
        let is_leader = peer.present().is_some() && peer.present() == roster.leader();
        self.out.newest() > peer.out.inputs_acked() && is_leader && peer.out.input_budget() > 0
    }

    /// Writes changes after `acked`, in about `bits` bits; returns the last one written.
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
        peer.out.note_inputs_acked(number);
        if peer.present() == roster.leader() {
            self.out.acknowledge(number);
        }
    }
}

/// Inputs one after the other, zero beyond the last.
fn pack<I: Input>(inputs: impl Iterator<Item = I>, size: usize) -> Bytes {
    let mut bytes = [0; INPUT_BYTES_MAX];
    for (index, input) in inputs.enumerate() {
        input.write(&mut bytes[index * size..(index + 1) * size]);
    }
    bytes
}

/// Input of one of several players, as it would be alone.
pub(crate) fn part(bytes: &Bytes, index: usize, size: usize) -> Bytes {
    let mut alone = [0; INPUT_BYTES_MAX];
    alone[..size].copy_from_slice(&bytes[index * size..(index + 1) * size]);
    alone
}

/// Decodes the input of one player. Each was checked on arrival; two merged into one that the game
/// does not read count as no input.
fn decode<I: Input>(bytes: &Bytes, size: usize) -> I {
    I::read(&bytes[..size]).unwrap_or_default()
}

fn repeater<I: Input>(size: usize) -> impl Fn(&Bytes) -> Bytes {
    move |bytes| pack([decode::<I>(bytes, size).repeat()].into_iter(), size)
}

fn merger<I: Input>(size: usize, players: usize) -> impl Fn(&Bytes, &Bytes) -> Bytes {
    move |earlier, later| {
        let of = |bytes: &Bytes, index| decode::<I>(&part(bytes, index, size), size);
        pack((0..players).map(|index| I::merge(of(earlier, index), of(later, index))), size)
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::BitReader;

    use super::*;
    use crate::AuthorityPolicy;
    use crate::input_queue::{Change, read_changes};
    use crate::session::work::bench::Bench;

    /// A peer that leads, as seen by the first peer of the table.
    fn led() -> Bench {
        let mut bench = Bench::new(AuthorityPolicy::Leader, 2);
        let me = bench.members.me().id;
        bench.members.roster_mut().remove(me);
        bench.peers[0].out.earn(200, 200);
        bench
    }

    #[test]
    fn own_input_is_taken_and_held() {
        let mut relay = InputRelay::default();
        assert_eq!(relay.take_local::<u16>(0, 2), None);
        relay.set(&[7_u16], 2, true);
        assert_eq!([0; 2].map(|_| relay.take_local::<u16>(0, 2)), [Some(7), Some(7)]);
    }

    #[test]
    fn inputs_of_two_players_travel_as_one() {
        let mut relay = InputRelay::default();
        relay.set(&[7_u16, 9], 2, true);
        assert_eq!([0, 1, 2].map(|index| relay.take_local::<u16>(index, 2)), [Some(7), Some(9), None]);
        let (mut bytes, mut told) = ([0; 64], Vec::new());
        let mut w = BitWriter::new(&mut bytes);
        assert_eq!(relay.write(&mut w, 0, 4, 800), Ok(1));
        let mut r = BitReader::new(&bytes);
        read_changes(&mut r, 4, |change| told.push(change)).unwrap();
        for (index, expected) in [7, 9].into_iter().enumerate() {
            let mut queue = InputIn::default();
            told.iter().for_each(|it| queue.push(Change { bytes: part(&it.bytes, index, 2), ..*it }));
            assert_eq!(InputRelay::take_remote::<u16>(&mut queue, 2), Some(expected));
        }
    }

    #[test]
    fn input_goes_to_leader_alone_until_acknowledged() {
        let (mut bench, mut relay) = (led(), InputRelay::default());
        relay.set(&[7_u16], 2, true);
        assert!(relay.is_told(&bench.peers[0], bench.members.roster()));
        relay.note_arrived(&mut bench.peers[0], bench.members.roster(), 1);
        assert!(!relay.is_told(&bench.peers[0], bench.members.roster()));
        let other = Bench::new(AuthorityPolicy::Leader, 2);
        relay.set(&[8_u16], 2, true);
        assert!(!relay.is_told(&other.peers[0], other.members.roster()), "this peer leads itself");
    }

    #[test]
    fn spectator_input_is_not_sent() {
        let (bench, mut relay) = (led(), InputRelay::default());
        relay.set(&[7_u16], 2, false);
        assert!(!relay.is_told(&bench.peers[0], bench.members.roster()));
        assert_eq!(relay.take_local::<u16>(0, 2), Some(7));
    }

    #[test]
    fn input_without_budget_waits() {
        let (mut bench, mut relay) = (led(), InputRelay::default());
        relay.set(&[7_u16], 2, true);
        bench.peers[0].out.spend_on_inputs(100);
        assert!(!relay.is_told(&bench.peers[0], bench.members.roster()));
    }
}
