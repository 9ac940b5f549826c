//! What players do, on its way to the lead: in the same packets as the objects, every change until
//! it is acknowledged.

use std::any::type_name;

use gaggle_kit::{Input, Micros, PeerId};

use super::Session;
use crate::Player;
use crate::event::PeerFault;
use crate::input_queue::{Bytes, INPUT_BYTES_MAX};

fn encode<I: Input>(input: I, size: usize) -> Bytes {
    let mut bytes = [0; INPUT_BYTES_MAX];
    input.write(&mut bytes[..size]);
    bytes
}

impl Session {
    fn input_size<I: Input>(&self) -> usize {
        let size = self.kinds.input_size::<I>();
        size.unwrap_or_else(|| panic!("{} is not the input named by Kinds::with_input", type_name::<I>()))
    }

    /// What the player at this machine does now. Call it once a frame. Whoever leads gets every
    /// change of it, in order, and every press once, however short it was and whatever gets lost.
    ///
    /// # Panics
    /// If inputs of this type were not named by [`Kinds::with_input`](crate::Kinds::with_input).
    pub fn set_input<I: Input>(&mut self, input: I) {
        let size = self.input_size::<I>();
        let merge = merger::<I>(size);
        let bytes = encode(input, size);
        if !self.spectator {
            self.inputs.sample(bytes, encode(input.repeat(), size), &merge);
        }
        self.local_input.sample(bytes, &merge);
    }

    /// What a player does, for whoever simulates: call it once a frame and player. Each sample is
    /// told once, a gap is filled by what the player holds. None if nothing was ever heard of the
    /// player's hands.
    ///
    /// # Panics
    /// If inputs of this type were not named by [`Kinds::with_input`](crate::Kinds::with_input).
    pub fn input<I: Input>(&mut self, player: Player) -> Option<I> {
        let size = self.input_size::<I>();
        let (decode, merge) = (decoder::<I>(size), merger::<I>(size));
        let repeat = |bytes: &Bytes| encode(decode(bytes).repeat(), size);
        let taken = if player == self.me.slot {
            self.local_input.take(repeat)
        } else {
            let member = self.roster.by_slot(player)?;
            let link = self.links.iter_mut().find(|link| link.present == Some(member))?;
            link.inputs.next(merge, repeat)
        };
        taken.map(|bytes| decode(&bytes))
    }

    /// Whether a link is to be told what our player does.
    pub(super) fn owes_inputs(&self, link: usize) -> bool {
        let link = &self.links[link];
        self.inputs.newest() > link.inputs_acked
            && link.present.is_some()
            && link.present == self.roster.leader()
    }

    /// Whether a link is told what our player does in this round. What has to wait is told all the
    /// same, if late: every change, while there are not too many, and every press.
    pub(super) fn tells_inputs(&self, link: usize) -> bool {
        self.owes_inputs(link) && self.links[link].input_budget > 0
    }

    /// Takes in what [`Decoder`](super::decode::Decoder) read.
    pub(super) fn commit_inputs(&mut self, link: usize) -> Result<(), PeerFault> {
        let Some(entry) = self.kinds.input() else { return Ok(()) };
        for index in 0..self.decoder.changes.len() {
            let change = self.decoder.changes[index];
            (entry.check)(&change.bytes[..entry.size])?;
            self.links[link].inputs.push(change);
        }
        Ok(())
    }

    /// A packet with inputs arrived at the lead.
    pub(super) fn inputs_arrived(&mut self, link: usize, number: u32) {
        let link = &mut self.links[link];
        link.inputs_acked = link.inputs_acked.max(number);
        if link.present == self.roster.leader() {
            self.inputs.acknowledge(number);
        }
    }

    /// The time a packet takes to a peer and back, without what it was kept waiting.
    pub fn rtt(&self, peer: PeerId) -> Option<Micros> {
        self.link_of(peer).and_then(|link| self.links[link].rtt)
    }
}

/// Reads bytes that were checked when they came.
fn decoder<I: Input>(size: usize) -> impl Fn(&Bytes) -> I {
    move |bytes| I::read(&bytes[..size]).unwrap_or_default()
}

fn merger<I: Input>(size: usize) -> impl Fn(&Bytes, &Bytes) -> Bytes {
    let decode = decoder::<I>(size);
    move |earlier, later| encode(I::merge(decode(earlier), decode(later)), size)
}
