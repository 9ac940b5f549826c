//! What referee threads ask the lobby: rooms that have a referee, their members and slots.
//!
//! The dispatcher answers. Absent: referees, relays.

use gaggle_kit::PeerId;
use gaggle_lobby::RoomId;
use gaggle_lobby::view::RoomView;
use gaggle_seal::StreamSlots;

use crate::dispatcher::Dispatcher;

/// A room whose mode has a referee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RefereeSpec {
    /// Fingerprint in the room's build label; none if it has no such form.
    pub(super) build: Option<u64>,
    pub(super) match_id: u64,
    pub(super) round: u32,
    pub(super) slots: usize,
}

/// What a peer is in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seat {
    /// No member, or of a room this process does not know.
    Unknown,
    /// A member without a slot.
    Spectator,
    /// A member with these slots.
    Player(StreamSlots),
}

/// The lobby, as referees see it.
pub(super) trait Members {
    /// The room, if it is known and has a referee.
    fn spec(&self, room: RoomId) -> Option<RefereeSpec>;
    /// Whether the room is known.
    fn knows(&self, room: RoomId) -> bool;
    /// What a peer is in a room.
    fn seat(&self, room: RoomId, peer: PeerId) -> Seat;
    /// Players of a room that are not away.
    fn present(&self, room: RoomId) -> Vec<PeerId>;
}

impl Members for Dispatcher {
    fn spec(&self, room: RoomId) -> Option<RefereeSpec> {
        self.with_room(room, |view, has_referee| has_referee.then(|| spec_of(view)))?
    }

    fn knows(&self, room: RoomId) -> bool {
        self.with_room(room, |_, _| ()).is_some()
    }

    fn seat(&self, room: RoomId, peer: PeerId) -> Seat {
        self.with_room(room, |view, _| seat_in(view, peer)).unwrap_or(Seat::Unknown)
    }

    fn present(&self, room: RoomId) -> Vec<PeerId> {
        let present = |view: &RoomView, _| {
            let players = view.members.iter().filter(|member| member.slot.is_some() && !member.away);
            players.map(|member| member.peer).collect()
        };
        self.with_room(room, present).unwrap_or_default()
    }
}

fn spec_of(view: &RoomView) -> RefereeSpec {
    let build = view.build.as_str().rsplit('-').next().and_then(|hash| u64::from_str_radix(hash, 16).ok());
    // The same in every process: seed and round are in tickets.
    let mut bytes = [0; 28];
    bytes[..16].copy_from_slice(view.id.as_bytes());
    bytes[16..24].copy_from_slice(&view.seed.0.to_le_bytes());
    bytes[24..].copy_from_slice(&view.round.to_le_bytes());
    let match_id = gaggle_kit::fnv1a_64(&bytes);
    RefereeSpec { build, match_id, round: view.round, slots: usize::from(view.max_players) }
}

fn seat_in(view: &RoomView, peer: PeerId) -> Seat {
    let Some(member) = view.member(peer) else { return Seat::Unknown };
    let slots: Vec<_> = member.slot.iter().chain(&member.extra_slots).copied().collect();
    match StreamSlots::new(&slots) {
        Some(slots) if member.slot.is_some() => Seat::Player(slots),
        _ => Seat::Spectator,
    }
}
