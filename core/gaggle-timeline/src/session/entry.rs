//! The ways into a match: start together, found one, come into one, come back to one. Looking on is
//! in `watching.rs`.

use gaggle_kit::{Input, PeerId, SlotSet};

use super::Session;
use crate::config::{PeerSlots, SessionError, TimelineConfig};
use crate::remote::Peer;
use crate::roster::Incarnation;

impl<I: Input> Session<I> {
    /// A session of `local` with everybody in `seats`, who start together; alone at once.
    /// `incarnation` is a random number the caller draws: it tells this stay from earlier ones of
    /// the same machine.
    ///
    /// # Errors
    /// If a setting or seat cannot be; the error says which, and what to change.
    pub fn new(
        config: TimelineConfig,
        local: PeerId,
        seats: &[PeerSlots],
        incarnation: Incarnation,
    ) -> Result<Self, SessionError> {
        config.validate::<I>(local, seats)?;
        let highest = seats.iter().flat_map(|seat| seat.slots).map(|slot| slot.index() + 1).max();
        let slot_count = highest.unwrap_or(0).max(config.slot_count);
        let own = seats.iter().find(|seat| seat.peer == local).map_or(SlotSet::EMPTY, |seat| seat.slots);
        let mut session = Session::with(config, local, slot_count, own.len(), own, incarnation);
        session.seats = seats.to_vec();
        session.ledger.local.set_slots(own);
        session.remotes =
            seats.iter().filter(|seat| seat.peer != local).map(|seat| Peer::new(seat.peer)).collect();
        gaggle_kit::insertion_sort(&mut session.remotes, |remote| remote.peer);
        session.start_when_ready();
        Ok(session)
    }

    /// A session of `local` that starts a match by itself, with so many players in the first slots.
    /// It runs at once and waits for nobody; others [join](Session::join) it, up to
    /// [`TimelineConfig::slot_count`] players. Give it a [`TimelineConfig::match_id`] of its own:
    /// when two matches meet, the one born earlier goes on and those of the other come over.
    ///
    /// # Errors
    /// If a setting cannot be; the error says which, and what to change.
    pub fn create(
        config: TimelineConfig,
        local: PeerId,
        players: usize,
        incarnation: Incarnation,
    ) -> Result<Self, SessionError> {
        config.validate_joiner::<I>(players)?;
        let seat = PeerSlots { peer: local, slots: SlotSet::first(players) };
        Session::new(config, local, &[seat], incarnation)
    }

    /// A session of `local` that comes into a match others play, with so many players. It takes the
    /// state from one of them chosen at random, catches up, and is admitted without anybody
    /// pausing. [`TimelineConfig::slot_count`] must be what the others have.
    ///
    /// # Errors
    /// If a setting cannot be; the error says which, and what to change.
    pub fn join(
        config: TimelineConfig,
        local: PeerId,
        players: usize,
        incarnation: Incarnation,
    ) -> Result<Self, SessionError> {
        config.validate_joiner::<I>(players)?;
        let slot_count = config.slot_count;
        Ok(Session::with(config, local, slot_count, players, SlotSet::EMPTY, incarnation))
    }

    /// As [`join`](Session::join), for players who were there before: they get the slots they had,
    /// unless somebody else sits there by now. The new incarnation ends what may be left of the
    /// stay before.
    ///
    /// # Errors
    /// If a setting cannot be; the error says which, and what to change.
    pub fn rejoin(
        config: TimelineConfig,
        local: PeerId,
        slots: SlotSet,
        incarnation: Incarnation,
    ) -> Result<Self, SessionError> {
        config.validate_joiner::<I>(slots.len())?;
        let slot_count = config.slot_count;
        Ok(Session::with(config, local, slot_count, slots.len(), slots, incarnation))
    }
}
