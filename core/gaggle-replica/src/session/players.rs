//! Players and peers from the view of a session's caller: slots, identities, inputs, and what has
//! arrived from and at each peer. A game and its room call it. Absent: changes of links, objects.

use std::any::type_name;

use gaggle_kit::{Input, Micros, OutOfRange, PeerId, Slot, SlotSet};

use super::{Session, SyncProgress};
use crate::config::SessionError;
use crate::event::RejectReason;
use crate::input_queue::INPUT_BYTES_MAX;
use crate::input_relay::InputRelay;
use crate::membership::{Identity, mismatch};
use crate::roster::{LOCAL_PLAYERS_MAX, RosterMember};
use crate::store::ObjectIndex;

/// What the caller knows of a peer, for instance from a lobby or a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerIdentity {
    /// Peer that is known.
    pub peer: PeerId,
    /// Slots of its players, empty for a spectator. The peer is rejected if it claims others, and
    /// so is any other peer that claims these. `None` if the caller does not know.
    pub slots: Option<SlotSet>,
    /// It came after this peer became a member, so it ranks behind all members known here, whatever
    /// it claims. Ends when this peer has to join again: it may itself rank behind peers that came
    /// after it.
    pub joined_later: bool,
}

impl PeerIdentity {
    /// A peer with these slots; without any it may only spectate.
    pub fn with_slots(peer: PeerId, slots: SlotSet) -> PeerIdentity {
        PeerIdentity { peer, slots: Some(slots), joined_later: false }
    }

    /// A peer of unknown slots that came after this one became a member.
    pub fn later_joiner(peer: PeerId) -> PeerIdentity {
        PeerIdentity { peer, slots: None, joined_later: true }
    }
}

impl Session {
    /// Whether this peer is a member yet.
    pub fn is_member(&self) -> bool {
        self.members.is_member()
    }

    /// Whether this peer only spectates: see [`JoinMode::Spectate`](crate::JoinMode::Spectate).
    pub fn is_spectator(&self) -> bool {
        self.members.is_spectator()
    }

    /// Part of the present members' objects that has arrived, for a joiner's progress bar.
    pub fn sync_progress(&self) -> SyncProgress {
        let progress = self.peers.iter().map(|peer| peer.inbound.progress());
        let expected = progress.clone().map(|it| it.expected).sum();
        SyncProgress { received: progress.map(|it| it.received).sum(), expected }
    }

    /// Whether a peer has acknowledged every update of objects meant for it: then nothing is lost
    /// when this peer leaves.
    pub fn is_synced_to(&self, peer: PeerId) -> bool {
        let peer = self.peers.find(peer).map(|link| &self.peers[link]);
        let mut places = 0..self.objects.places() as ObjectIndex;
        peer.filter(|peer| peer.present().is_some())
            .is_some_and(|peer| places.all(|place| !self.view().wants(&self.objects, peer, place)))
    }

    /// All peers with a link, members or not.
    pub fn connected_peers(&self) -> impl Iterator<Item = PeerId> + '_ {
        self.peers.iter().map(|peer| peer.id)
    }

    /// Round-trip time to a peer, without the time it held the acknowledgement.
    pub fn rtt(&self, peer: PeerId) -> Option<Micros> {
        self.peers.find(peer).and_then(|link| self.peers[link].playback.rtt())
    }

    /// States who these peers are; stating it again changes nothing. What was stated of other peers
    /// stays until their slots are given away.
    pub fn set_identities(&mut self, identities: &[PeerIdentity]) {
        for &PeerIdentity { peer, slots, joined_later } in identities {
            if joined_later && self.is_member() && self.cx.stats.rejoins == 0 {
                self.members.note_joiner(peer);
            }
            match slots.map(|slots| (slots, slots.lowest())) {
                Some((slots, Some(first))) => {
                    self.set_player(peer, (first, slots.difference(SlotSet::of(first))));
                }
                Some((_, None)) => self.set_spectator(peer),
                None => {}
            }
        }
    }

    fn set_player(&mut self, peer: PeerId, known: Identity) {
        self.members.set_identity(peer, Some(known));
        let present = self.peers.find(peer).and_then(|link| self.peers[link].present());
        let said = present.map(|present| (present.slot, present.extra_slots));
        if let Some(said) = said.filter(|said| *said != known) {
            self.refuse(peer, mismatch(said, known));
        }
    }

    fn set_spectator(&mut self, peer: PeerId) {
        self.members.set_identity(peer, None);
        if self.peers.find(peer).is_some_and(|link| self.peers[link].member().is_some()) {
            self.refuse(peer, RejectReason::NotAPlayer);
        }
    }

    /// Moves the local player to another slot, with all its objects; a player that had that slot
    /// gets the old one. For a player that played alone and now has a slot among others. Returns
    /// whether it changed, which is possible only while there is no link.
    pub fn set_local_slot(&mut self, player: Slot) -> bool {
        let (me, slots) = (self.members.me(), (player, SlotSet::EMPTY));
        if self.peers.is_empty() && (me.slot, me.extra_slots) != slots {
            self.swap_slots(me.slot, player);
            self.members.set_slots(slots);
            self.roster_changed();
        }
        self.peers.is_empty()
    }

    /// Changes the slots of the local players, each with all objects and values of the local player
    /// before it in the order of slots. For several players at one peer, and for a peer that played
    /// alone and now has slots among others.
    ///
    /// # Errors
    /// If there is a link, no slot, or more players than a peer can have: 8, and no more than fit
    /// inputs of 32 bytes together.
    pub fn set_local_slots(&mut self, slots: SlotSet) -> Result<(), SessionError> {
        let max = self.players_max();
        let Some(first) = slots.lowest().filter(|_| slots.len() <= max) else {
            let (setting, value) = ("local players", slots.len() as u64);
            return Err(OutOfRange { setting, value, min: 1, max: max as u64 }.into());
        };
        if !self.peers.is_empty() {
            return Err(SessionError::Connected);
        }
        let mut before: Vec<Slot> = self.members.me().slots().collect();
        for (index, new) in slots.iter().enumerate().take(before.len()) {
            let old = before[index];
            if old != new {
                self.swap_slots(old, new);
                before.iter_mut().skip(index).filter(|slot| **slot == new).for_each(|slot| *slot = old);
            }
        }
        self.members.set_slots((first, slots.difference(SlotSet::of(first))));
        self.roster_changed();
        Ok(())
    }

    /// Most players one peer can have: their inputs are sent as one.
    pub(super) fn players_max(&self) -> usize {
        let size = self.schema.kinds().input().map_or(0, |entry| entry.size);
        LOCAL_PLAYERS_MAX.min(INPUT_BYTES_MAX / size.max(1))
    }

    /// Slot of the player at this peer; of several the first.
    pub fn local_slot(&self) -> Slot {
        self.members.me().slot
    }

    /// Slots of all players at this peer, the lowest first.
    pub fn local_slots(&self) -> impl Iterator<Item = Slot> + use<> {
        self.members.me().slots()
    }

    /// Sets the input of the player at this peer. Call it once a frame. The leader gets every
    /// change in order and every press once, however short it was and whatever packets are lost.
    /// Further local players get no input: see [`set_inputs`](Session::set_inputs).
    ///
    /// # Panics
    /// If inputs of this type were not registered by
    /// [`Kinds::with_input`](crate::Kinds::with_input).
    pub fn set_input<I: Input>(&mut self, input: I) {
        self.set_inputs(&[input]);
    }

    /// Sets the inputs of the players at this peer, in the order of their slots. Call it once a
    /// frame. A missing one counts as no input.
    ///
    /// # Panics
    /// As for [`set_input`](Session::set_input), and if there are more inputs than local players.
    pub fn set_inputs<I: Input>(&mut self, inputs: &[I]) {
        let (size, players) = (self.input_size::<I>(), self.members.me().player_count());
        assert!(inputs.len() <= players, "{} inputs of {players} local players", inputs.len());
        let mut all = [I::default(); LOCAL_PLAYERS_MAX];
        all[..inputs.len()].copy_from_slice(inputs);
        self.inputs.set(&all[..players], size, !self.members.is_spectator());
    }

    /// Next input of a player, for the peer that simulates: call it once a frame and player. Each
    /// sample is returned once; a gap is filled with what the player holds down. `None` if no input
    /// of the player ever arrived.
    ///
    /// # Panics
    /// If inputs of this type were not registered by
    /// [`Kinds::with_input`](crate::Kinds::with_input).
    pub fn input<I: Input>(&mut self, player: Slot) -> Option<I> {
        let size = self.input_size::<I>();
        let index_in = |member: &RosterMember| member.slots().position(|slot| slot == player);
        if let Some(index) = index_in(&self.members.me()) {
            return self.inputs.take_local(index, size);
        }
        let member = self.members.roster().by_slot(player)?;
        let inputs = &mut self.peers.of_member_mut(member)?.side.inputs;
        InputRelay::take_remote(inputs.get_mut(index_in(&member)?)?, size)
    }

    fn input_size<I: Input>(&self) -> usize {
        let size = self.schema.kinds().input_size::<I>();
        size.unwrap_or_else(|| {
            panic!("{} is not the input registered by Kinds::with_input", type_name::<I>())
        })
    }

    /// Swaps two slots wherever objects and values name them.
    pub(super) fn swap_slots(&mut self, old: Slot, new: Slot) {
        let swapped = |slot: Slot| match slot {
            _ if slot == old => new,
            _ if slot == new => old,
            _ => slot,
        };
        self.objects.rename(swapped);
        self.values.rename(&self.schema, swapped);
    }
}
