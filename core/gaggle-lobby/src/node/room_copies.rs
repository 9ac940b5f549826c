//! Copies of the rooms that have members connected here.
//!
//! Owned by [`Node`](super::Node). Every connection receives every change once and in order: a
//! change is passed on when it follows the version of the copy; if one is missing, the whole room
//! is requested and compared. Absent: connections beyond their numbers, sending.

use std::collections::{BTreeMap, BTreeSet};

use gaggle_kit::rate_limit::{RateLimit, RateLimiter};
use gaggle_kit::{Micros, PeerId};

use super::ConnectionId;
use super::pending_changes::{PendingChanges, Step};
use crate::directory::RoomCopy;
use crate::id::RoomId;
use crate::message::server::Change;
use crate::room::Attachment;
use crate::view::{LeaveReason, RoomUpdate, RoomView};

/// How long an early change waits for its predecessor.
const PATIENCE: Micros = Micros::from_millis(200);
/// Timeout of a lookup of a whole room.
const LOOK_TIMEOUT: Micros = Micros::from_secs(1);
/// Early changes kept.
const EARLY_MAX: usize = 64;

/// A room with members connected here.
#[derive(Debug)]
pub(super) struct LocalRoom {
    view: RoomView,
    links: BTreeMap<PeerId, Attachment>,
    locals: BTreeMap<PeerId, ConnectionId>,
    early: BTreeMap<u64, Step>,
    /// When to request the whole room because a change is missing.
    missing_at: Option<Micros>,
    /// Limits the actions of its hosts.
    acts: RateLimiter,
}

impl LocalRoom {
    /// The room as its members see it.
    pub(super) fn view(&self) -> &RoomView {
        &self.view
    }

    /// Connection of a member at any node, unless it is away.
    pub(super) fn link_of(&self, peer: PeerId) -> Option<Attachment> {
        self.links.get(&peer).copied()
    }

    /// Charges an action to the hosts of the room, or returns how long to wait.
    pub(super) fn charge_host(&mut self, now: Micros, rate: &RateLimit) -> Result<(), Micros> {
        self.acts.try_acquire(now, rate, 1)
    }

    /// Connection of a member that is connected here.
    pub(super) fn local(&self, peer: PeerId) -> Option<ConnectionId> {
        self.locals.get(&peer).copied()
    }
}

/// Copies of all rooms with members here.
#[derive(Debug, Default)]
pub(super) struct RoomCopies {
    rooms: BTreeMap<RoomId, LocalRoom>,
    /// When to check whether each of them still misses a change.
    missing: BTreeSet<(Micros, RoomId)>,
    pending_changes: PendingChanges,
}

/// An applied change, and the connections it concerns.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(super) struct Passed {
    pub(super) room: RoomId,
    /// Members here that receive the change.
    pub(super) members: Vec<ConnectionId>,
    pub(super) change: Change,
    /// Members here that left, with the reason.
    pub(super) gone: Vec<(ConnectionId, LeaveReason)>,
    /// Members here that became host.
    pub(super) hosts: Vec<ConnectionId>,
    /// Whether members need new tickets.
    pub(super) changes_tickets: bool,
}

impl RoomCopies {
    pub(super) fn get(&self, room: RoomId) -> Option<&LocalRoom> {
        self.rooms.get(&room)
    }

    pub(super) fn get_mut(&mut self, room: RoomId) -> Option<&mut LocalRoom> {
        self.rooms.get_mut(&room)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &LocalRoom> {
        self.rooms.values()
    }

    /// Adds a member connected here, unless it has left already.
    #[must_use]
    pub(super) fn add_local(
        &mut self,
        room: RoomId,
        peer: PeerId,
        connection: ConnectionId,
    ) -> Option<&RoomView> {
        if self.rooms.get(&room).is_none_or(|known| known.view.member(peer).is_none()) {
            self.drop_unused(room);
            return None;
        }
        self.pending_changes.use_copy(room);
        let known = self.rooms.get_mut(&room)?;
        known.locals.insert(peer, connection);
        Some(&known.view)
    }

    /// Takes a room that is newer than the copy. Call [`RoomCopies::take_early`] next.
    pub(super) fn absorb(&mut self, now: Micros, copy: RoomCopy) -> Option<Passed> {
        let RoomCopy { view, links } = copy;
        let room = view.id;
        let links = links.into_iter().collect();
        let Some(known) = self.rooms.get_mut(&room) else {
            let mut early = self.pending_changes.take(room);
            early.retain(|version, _| *version > view.version);
            let missing_at = (!early.is_empty()).then(|| now + PATIENCE);
            self.missing.extend(missing_at.map(|at| (at, room)));
            let (locals, acts) = (BTreeMap::new(), RateLimiter::default());
            self.rooms.insert(room, LocalRoom { view, links, locals, early, missing_at, acts });
            return None;
        };
        if view.version <= known.view.version {
            return None;
        }
        let events = known.view.changes_to(&view);
        let version = view.version;
        known.links = links;
        known.missing_at = None;
        known.early.retain(|early, _| *early > version);
        Some(known.pass_on(version, events))
    }

    /// Applies a change, or keeps it until its predecessor arrives. Call [`RoomCopies::take_early`]
    /// next.
    pub(super) fn change(&mut self, now: Micros, room: RoomId, version: u64, step: Step) -> Option<Passed> {
        let Some(known) = self.rooms.get_mut(&room) else {
            self.pending_changes.keep(room, version, step);
            return None;
        };
        if version <= known.view.version {
            return None;
        }
        if version == known.view.version + 1 {
            return Some(known.take(version, step));
        }
        if known.early.len() < EARLY_MAX {
            known.early.insert(version, step);
        }
        let missing_at = *known.missing_at.get_or_insert(now + PATIENCE);
        self.missing.insert((missing_at, room));
        None
    }

    /// Applies the next early change whose turn it is.
    pub(super) fn take_early(&mut self, room: RoomId) -> Option<Passed> {
        let known = self.rooms.get_mut(&room)?;
        let version = known.view.version + 1;
        let step = known.early.remove(&version)?;
        if known.early.is_empty() {
            known.missing_at = None;
        }
        Some(known.take(version, step))
    }

    /// Removes a member that is no longer connected here, and the copy with the last one.
    pub(super) fn remove_local(&mut self, room: RoomId, peer: PeerId, connection: ConnectionId) {
        let Some(known) = self.rooms.get_mut(&room) else { return };
        if known.locals.get(&peer) == Some(&connection) {
            known.locals.remove(&peer);
        }
        self.drop_unused(room);
    }

    /// Drops a copy without members here, unless a reply may need it.
    pub(super) fn drop_unused(&mut self, room: RoomId) {
        let is_unused = self.rooms.get(&room).is_some_and(|known| known.locals.is_empty());
        if is_unused && !self.pending_changes.keep_copy(room) {
            self.rooms.remove(&room);
        }
    }

    /// A command was appended whose reply may bring a copy.
    pub(super) fn expect_reply(&mut self) {
        self.pending_changes.expect();
    }

    /// The reply to such a command has been handled.
    pub(super) fn note_answered(&mut self) {
        let over = self.pending_changes.answered();
        self.drop_over(&over);
    }

    /// Such a command was not appended, or is lost.
    pub(super) fn note_retracted(&mut self) {
        let over = self.pending_changes.retracted();
        self.drop_over(&over);
    }

    /// Drops copies kept for a reply, unless they have a member here now.
    fn drop_over(&mut self, over: &[RoomId]) {
        for room in over {
            if self.rooms.get(room).is_some_and(|known| known.locals.is_empty()) {
                self.rooms.remove(room);
            }
        }
    }

    /// When a missing change is due.
    pub(super) fn due(&self) -> Option<Micros> {
        self.missing.first().map(|(at, _)| *at)
    }

    /// Rooms to request because a change is missing; each is due again later if no answer arrives.
    #[must_use]
    pub(super) fn look_for_missing(&mut self, now: Micros) -> Vec<RoomId> {
        let mut rooms = Vec::new();
        while let Some(&(at, room)) = self.missing.first().filter(|(at, _)| *at <= now) {
            self.missing.remove(&(at, room));
            // The change may have arrived since.
            if self.rooms.get(&room).is_some_and(|copy| copy.missing_at == Some(at)) {
                self.expect_whole(now, room);
                rooms.push(room);
            }
        }
        rooms
    }

    /// All rooms, to request because any change may be missing.
    #[must_use]
    pub(super) fn look_for_all(&mut self, now: Micros) -> Vec<RoomId> {
        let rooms: Vec<RoomId> = self.rooms.keys().copied().collect();
        rooms.iter().for_each(|room| self.expect_whole(now, *room));
        rooms
    }

    fn expect_whole(&mut self, now: Micros, room: RoomId) {
        if let Some(known) = self.rooms.get_mut(&room) {
            let again_at = now + LOOK_TIMEOUT;
            known.missing_at = Some(again_at);
            self.missing.insert((again_at, room));
        }
    }

    /// A requested room has arrived: nothing is missing unless an early change waits.
    pub(super) fn has_whole(&mut self, room: RoomId, version: u64) {
        if let Some(known) = self.rooms.get_mut(&room)
            && !known.early.keys().any(|early| *early > version)
        {
            known.missing_at = None;
        }
    }

    /// Removes a room that ended. Returns its members here.
    #[must_use]
    pub(super) fn remove(&mut self, room: RoomId) -> Vec<ConnectionId> {
        self.rooms.remove(&room).map(|known| known.locals.into_values().collect()).unwrap_or_default()
    }
}

impl LocalRoom {
    fn take(&mut self, version: u64, (events, links): Step) -> Passed {
        for (peer, link) in links {
            match link {
                Some(link) => self.links.insert(peer, link),
                None => self.links.remove(&peer),
            };
        }
        self.pass_on(version, events)
    }

    /// Applies changes to the copy.
    fn pass_on(&mut self, version: u64, events: Vec<RoomUpdate>) -> Passed {
        events.iter().for_each(|event| self.view.apply(event));
        self.view.version = version;
        let mut gone = Vec::new();
        self.locals.retain(|peer, connection| {
            let stays = self.view.member(*peer).is_some();
            if !stays {
                gone.push((*connection, departure(&events, *peer)));
            }
            stays
        });
        let host = |event: &RoomUpdate| match event {
            RoomUpdate::HostChanged(changed) => self.locals.get(&changed.peer).copied(),
            _ => None,
        };
        Passed {
            room: self.view.id,
            members: self.locals.values().copied().collect(),
            gone,
            hosts: events.iter().filter_map(host).collect(),
            changes_tickets: events.iter().any(is_in_tickets),
            change: Change { version, events },
        }
    }
}

/// Whether the change is part of tickets, from which a server that lost its memory restores the
/// room.
fn is_in_tickets(event: &RoomUpdate) -> bool {
    matches!(
        event,
        RoomUpdate::EpochChanged(_)
            | RoomUpdate::AccessChanged(_)
            | RoomUpdate::SettingsChanged(_)
            | RoomUpdate::StatusChanged(_)
            | RoomUpdate::HostChanged(_)
    )
}

/// Why a peer has left the room, according to these events.
fn departure(events: &[RoomUpdate], peer: PeerId) -> LeaveReason {
    let reason = events.iter().find_map(|event| match event {
        RoomUpdate::Left(left) if left.peer == peer => Some(left.reason),
        _ => None,
    });
    reason.unwrap_or(LeaveReason::Closed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{NetworkId, NodeId, PlayerId, ResumeId, RoomCode, Seed};
    use crate::label::{DisplayName, Label};
    use crate::players::LocalPlayers;
    use crate::room::{JoinRequest, NewRoom, Room, Source};
    use crate::view::{HostChanged, Left, RawJson};

    const ROOM: RoomId = RoomId::from_bytes([1; 16]);
    const NIA: PeerId = PeerId::from_bytes([2; 16]);
    const HERE: ConnectionId = ConnectionId(7);

    fn copy() -> RoomCopy {
        let joiner = JoinRequest {
            peer: NIA,
            player: PlayerId::from_bytes([2; 16]),
            name: "Nia".parse::<DisplayName>().unwrap(),
            preferred_slot: 0,
            spectate: false,
            players: LocalPlayers::ONE,
            leave_current: false,
            source: Source { network: NetworkId(1), signed_in: false },
        };
        let new = NewRoom {
            id: ROOM,
            code: RoomCode::from_number(1),
            seed: Seed(1),
            game: "pond".parse().unwrap(),
            mode: Label::default(),
            build: Label::default(),
            max_players: 4,
            private: false,
            drop_in: true,
            host_starts: false,
            matched: false,
            settings: RawJson::default(),
        };
        let link = Attachment { node: NodeId(1), epoch: 1, session: ResumeId(1) };
        let room = Room::create(Micros::ZERO, new, joiner, link);
        RoomCopy { view: room.view().clone(), links: room.links().collect() }
    }

    fn copies() -> RoomCopies {
        let mut copies = RoomCopies::default();
        assert_eq!(copies.absorb(Micros::ZERO, copy()), None);
        assert!(copies.add_local(ROOM, NIA, HERE).is_some());
        copies
    }

    fn step(event: impl Into<RoomUpdate>) -> Step {
        (vec![event.into()], Vec::new())
    }

    #[test]
    fn change_in_order_is_passed_on_once() {
        let mut copies = copies();
        let host = HostChanged { peer: NIA };
        let passed = copies.change(Micros::ZERO, ROOM, 2, step(host.clone())).unwrap();
        assert_eq!((passed.members, passed.hosts, passed.changes_tickets), (vec![HERE], vec![HERE], true));
        assert_eq!(copies.change(Micros::ZERO, ROOM, 2, step(host)), None);
    }

    #[test]
    fn early_change_waits_for_predecessor() {
        let mut copies = copies();
        let host = HostChanged { peer: NIA };
        assert_eq!(copies.change(Micros::ZERO, ROOM, 3, step(host.clone())), None);
        assert_eq!(copies.due(), Some(PATIENCE));
        assert!(copies.change(Micros::ZERO, ROOM, 2, step(host)).is_some());
        assert_eq!(copies.take_early(ROOM).unwrap().change.version, 3);
        assert!(copies.look_for_missing(PATIENCE).is_empty());
    }

    #[test]
    fn missing_change_requests_whole_room_until_it_arrives() {
        let mut copies = copies();
        assert_eq!(copies.change(Micros::ZERO, ROOM, 3, step(HostChanged { peer: NIA })), None);
        assert_eq!(copies.look_for_missing(PATIENCE), [ROOM]);
        assert_eq!(copies.look_for_missing(PATIENCE + LOOK_TIMEOUT), [ROOM]);
        copies.has_whole(ROOM, 3);
        assert!(copies.look_for_missing(PATIENCE + LOOK_TIMEOUT + LOOK_TIMEOUT).is_empty());
    }

    #[test]
    fn member_that_left_is_local_no_more() {
        let mut copies = copies();
        let left = Left { peer: NIA, reason: LeaveReason::Kicked };
        let passed = copies.change(Micros::ZERO, ROOM, 2, step(left)).unwrap();
        assert_eq!((passed.gone, passed.members), (vec![(HERE, LeaveReason::Kicked)], Vec::new()));
        copies.drop_unused(ROOM);
        assert!(copies.get(ROOM).is_none());
    }

    #[test]
    fn copy_without_members_is_kept_for_reply() {
        let mut copies = copies();
        copies.expect_reply();
        copies.remove_local(ROOM, NIA, HERE);
        assert!(copies.get(ROOM).is_some());
        copies.note_answered();
        assert!(copies.get(ROOM).is_none());
    }
}
