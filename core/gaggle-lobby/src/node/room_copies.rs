//! Copies of the rooms that have members connected here, and what those members are told.
//!
//! Every connection is told of every change exactly once and in order: a change is passed on when
//! it follows the version of the copy, and if one is missing the whole room is asked for and
//! compared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gaggle_kit::{Micros, PeerId};

use super::answers::Asked;
use super::{AskId, AuditEvent, ConnectionId, Node, NodeOutput, encode};
use crate::directory::{Command, RoomCopy};
use crate::id::RoomId;
use crate::message::server::{Change, Removed, TicketRenewed};
use crate::players::LocalPlayers;
use crate::rate::RateLimiter;
use crate::room::Attachment;
use crate::ticket::Claims;
use crate::view::{LeaveReason, Member, RoomUpdate, RoomView, Status};

/// How long a change that came before its predecessor waits for it.
const PATIENCE: Micros = Micros::from_millis(200);
/// Changes that wait for their predecessor.
const EARLY_MAX: usize = 64;

/// What happened in one step of a room.
type Step = (Vec<RoomUpdate>, Vec<(PeerId, Option<Attachment>)>);

/// Changes of rooms this node has no copy of, kept while it waits for one: the news of what
/// happened right after somebody was seated may be here before the answer that they were.
///
/// Answers come in the order of what happened: one that was asked for later has all of it in it. So
/// everything is kept with the last question before it, and no longer than one up to that is under
/// way.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// Questions under way whose answer may be a copy.
    expected: BTreeSet<AskId>,
    /// Copies that nobody here needs, and that may be newer than the one to come.
    unused: BTreeMap<RoomId, AskId>,
    steps: BTreeMap<RoomId, (AskId, BTreeMap<u64, Step>)>,
}

impl Strays {
    /// A copy may come.
    pub(super) fn expect(&mut self, ask: AskId) {
        self.expected.insert(ask);
    }

    /// It has come, or not. Gives back which copies nobody can need any more.
    fn expected(&mut self, ask: AskId) -> Vec<RoomId> {
        let was_first = self.expected.first() == Some(&ask);
        self.expected.remove(&ask);
        if !was_first {
            return Vec::new();
        }
        let first = self.expected.first().copied();
        let is_over = |last: AskId| first.is_none_or(|first| last < first);
        self.steps.retain(|_, (last, _)| !is_over(*last));
        let unused: Vec<RoomId> =
            self.unused.iter().filter(|(_, last)| is_over(**last)).map(|(room, _)| *room).collect();
        self.unused.retain(|_, last| !is_over(*last));
        unused
    }

    fn keep(&mut self, room: RoomId, version: u64, step: Step) {
        if let Some(last) = self.expected.last() {
            let (kept_for, steps) = self.steps.entry(room).or_insert((*last, BTreeMap::new()));
            *kept_for = *last;
            steps.insert(version, step);
        }
    }
}

/// A room with members connected here.
#[derive(Debug)]
pub(super) struct LocalRoom {
    pub(super) view: RoomView,
    pub(super) links: BTreeMap<PeerId, Attachment>,
    locals: BTreeMap<PeerId, ConnectionId>,
    early: BTreeMap<u64, Step>,
    /// When to ask for the whole room because a change is missing.
    missing_at: Option<Micros>,
    /// What its hosts have done lately.
    pub(super) acts: RateLimiter,
}

impl LocalRoom {
    /// The connection of a member that is connected here.
    pub(super) fn local(&self, peer: PeerId) -> Option<ConnectionId> {
        self.locals.get(&peer).copied()
    }
}

impl Node {
    /// Notes that somebody connected here is a member of this room, unless that is over already.
    pub(super) fn add_local(
        &mut self,
        now: Micros,
        copy: RoomCopy,
        peer: PeerId,
        connection: ConnectionId,
    ) -> Option<&RoomView> {
        let room = copy.view.id;
        self.absorb(now, copy);
        let Some(known) = self.rooms.get_mut(&room).filter(|known| known.view.member(peer).is_some()) else {
            self.drop_unused(room);
            return None;
        };
        known.locals.insert(peer, connection);
        self.strays.unused.remove(&room);
        if let Some(session) = self.session_mut(connection) {
            session.room = Some(room);
        }
        self.rooms.get(&room).map(|known| &known.view)
    }

    /// Takes a room that is newer than the copy, and tells members here what is different.
    fn absorb(&mut self, now: Micros, copy: RoomCopy) {
        let RoomCopy { view, links } = copy;
        let room = view.id;
        let Some(known) = self.rooms.get_mut(&room) else {
            let mut early = self.strays.steps.remove(&room).map_or(BTreeMap::new(), |(_, steps)| steps);
            early.retain(|version, _| *version > view.version);
            let missing_at = (!early.is_empty()).then(|| now + PATIENCE);
            self.missing.extend(missing_at.map(|at| (at, room)));
            let links = links.into_iter().collect();
            let (locals, acts) = (BTreeMap::new(), RateLimiter::default());
            self.rooms.insert(room, LocalRoom { view, links, locals, early, missing_at, acts });
            return;
        };
        if view.version <= known.view.version {
            return;
        }
        let events = known.view.changes_to(&view);
        let version = view.version;
        known.links = links.into_iter().collect();
        known.missing_at = None;
        known.early.retain(|early, _| *early > version);
        self.pass_on(now, room, version, events);
        self.take_early(now, room);
    }

    /// The directory says that something happened in a room.
    pub(super) fn room_changed(
        &mut self,
        now: Micros,
        room: RoomId,
        version: u64,
        events: Vec<RoomUpdate>,
        links: Vec<(PeerId, Option<Attachment>)>,
    ) {
        let Some(known) = self.rooms.get_mut(&room) else {
            self.strays.keep(room, version, (events, links));
            return;
        };
        if version <= known.view.version {
            return;
        }
        if version == known.view.version + 1 {
            self.take_change(now, room, version, events, links);
            self.take_early(now, room);
            self.drop_unused(room);
            return;
        }
        if known.early.len() < EARLY_MAX {
            known.early.insert(version, (events, links));
        }
        let missing_at = *known.missing_at.get_or_insert(now + PATIENCE);
        self.missing.insert((missing_at, room));
    }

    /// Passes on what came before its turn and has it now.
    pub(super) fn catch_up(&mut self, now: Micros, room: RoomId) {
        self.take_early(now, room);
        self.drop_unused(room);
    }

    fn take_early(&mut self, now: Micros, room: RoomId) {
        while let Some(known) = self.rooms.get_mut(&room) {
            let version = known.view.version + 1;
            let Some((events, links)) = known.early.remove(&version) else { break };
            if known.early.is_empty() {
                known.missing_at = None;
            }
            self.take_change(now, room, version, events, links);
        }
    }

    fn take_change(
        &mut self,
        now: Micros,
        room: RoomId,
        version: u64,
        events: Vec<RoomUpdate>,
        links: Vec<(PeerId, Option<Attachment>)>,
    ) {
        let Some(known) = self.rooms.get_mut(&room) else { return };
        for (peer, link) in links {
            match link {
                Some(link) => known.links.insert(peer, link),
                None => known.links.remove(&peer),
            };
        }
        self.pass_on(now, room, version, events);
    }

    /// Makes changes take effect in the copy and tells members here.
    fn pass_on(&mut self, now: Micros, room: RoomId, version: u64, events: Vec<RoomUpdate>) {
        let Some(known) = self.rooms.get_mut(&room) else { return };
        for event in &events {
            known.view.apply(event);
        }
        known.view.version = version;
        let gone: Vec<(PeerId, ConnectionId, LeaveReason)> = known
            .locals
            .iter()
            .filter(|(peer, _)| known.view.member(**peer).is_none())
            .map(|(peer, connection)| (*peer, *connection, departure(&events, *peer)))
            .collect();
        for (peer, ..) in &gone {
            known.locals.remove(peer);
        }
        let hosts: Vec<ConnectionId> = events
            .iter()
            .filter_map(|event| match event {
                RoomUpdate::HostChanged(changed) => known.locals.get(&changed.peer).copied(),
                _ => None,
            })
            .collect();
        let renew = events.iter().any(is_in_tickets);
        let locals: Vec<(PeerId, ConnectionId)> =
            known.locals.iter().map(|(peer, connection)| (*peer, *connection)).collect();
        if !events.is_empty() && !locals.is_empty() {
            let text: Arc<str> = encode(None, Change { version, events }.into());
            for (_, connection) in &locals {
                self.outputs.push_back(NodeOutput::Send { connection: *connection, text: text.clone() });
            }
        }
        for (_, connection, reason) in gone {
            self.note_in(connection, Some(room), AuditEvent::Left(reason));
            if let Some(session) = self.session_mut(connection).filter(|session| session.room == Some(room)) {
                session.room = None;
            }
            self.send(connection, None, Removed { room, reason });
        }
        hosts.into_iter().for_each(|connection| self.note(connection, AuditEvent::BecameHost));
        if renew {
            locals.iter().for_each(|(_, connection)| self.send_ticket(now, *connection, None));
        }
    }

    /// A member here is connected no longer. The last one takes the copy along.
    pub(super) fn forget_local(&mut self, room: RoomId, peer: PeerId, connection: ConnectionId) {
        let Some(known) = self.rooms.get_mut(&room) else { return };
        if known.locals.get(&peer) == Some(&connection) {
            known.locals.remove(&peer);
        }
        self.drop_unused(room);
    }

    fn drop_unused(&mut self, room: RoomId) {
        if self.rooms.get(&room).is_none_or(|known| !known.locals.is_empty()) {
            return;
        }
        match self.strays.expected.last() {
            Some(last) => drop(self.strays.unused.insert(room, *last)),
            None => drop(self.rooms.remove(&room)),
        }
    }

    /// A copy that might have come has come, or not. What was kept for it goes, unless somebody
    /// here is a member now.
    pub(super) fn stop_expecting(&mut self, ask: AskId) {
        for room in self.strays.expected(ask) {
            if self.rooms.get(&room).is_some_and(|known| known.locals.is_empty()) {
                self.rooms.remove(&room);
            }
        }
    }

    /// Asks for rooms of which a change did not arrive.
    pub(super) fn look_for_missing_rooms(&mut self, now: Micros) {
        while let Some(&(at, room)) = self.missing.first().filter(|(at, _)| *at <= now) {
            self.missing.remove(&(at, room));
            // The change may have arrived since.
            if self.rooms.get(&room).is_some_and(|copy| copy.missing_at == Some(at)) {
                self.look_again(now, room);
            }
        }
    }

    /// Asks for the whole room, and again later if there is no answer.
    fn look_again(&mut self, now: Micros, room: RoomId) {
        if let Some(known) = self.rooms.get_mut(&room) {
            let again_at = now + Micros::from_secs(1);
            known.missing_at = Some(again_at);
            self.missing.insert((again_at, room));
            self.ask(Asked::Look { room }, Command::Look { room });
        }
    }

    /// Asks for every room again: changes may have been missed, nobody knows which.
    pub fn resync(&mut self, now: Micros) {
        let rooms: Vec<RoomId> = self.rooms.keys().copied().collect();
        rooms.into_iter().for_each(|room| self.look_again(now, room));
    }

    /// The whole room, or that there is none any more.
    pub(super) fn looked(&mut self, now: Micros, room: RoomId, copy: Option<RoomCopy>) {
        if let Some(copy) = copy {
            let is_missing = |known: &LocalRoom| known.early.keys().any(|early| *early > copy.view.version);
            if let Some(known) = self.rooms.get_mut(&room)
                && !is_missing(known)
            {
                known.missing_at = None;
            }
            self.absorb(now, copy);
            self.drop_unused(room);
            return;
        }
        let Some(known) = self.rooms.remove(&room) else { return };
        for connection in known.locals.into_values() {
            self.note(connection, AuditEvent::Left(LeaveReason::Closed));
            if let Some(session) = self.session_mut(connection).filter(|session| session.room == Some(room)) {
                session.room = None;
            }
            self.send(connection, None, Removed { room, reason: LeaveReason::Closed });
        }
    }

    /// Gives a member a fresh ticket.
    pub(super) fn send_ticket(&mut self, now: Micros, connection: ConnectionId, id: Option<u64>) {
        if let Some((ticket, expires)) = self.ticket_for(now, connection) {
            self.send(connection, id, TicketRenewed { ticket, expires });
        }
    }

    /// A ticket for the member behind this connection, and until when it counts.
    pub(super) fn ticket_for(&self, now: Micros, connection: ConnectionId) -> Option<(String, u64)> {
        let session = self.session(connection)?;
        let view = &self.rooms.get(&session.room?)?.view;
        let claims = claims(now, self.rules.ticket_ttl, view, view.member(session.peer)?);
        Some((self.signer.sign(&claims), claims.expires))
    }
}

fn claims(now: Micros, ttl: Micros, view: &RoomView, member: &Member) -> Claims {
    let issued = now.get() / 1_000_000;
    Claims {
        room: view.id,
        player: member.player,
        peer: member.peer,
        slot: member.slot,
        epoch: view.epoch,
        round: view.round,
        seed: view.seed,
        born: view.born,
        issued,
        expires: issued + ttl.get() / 1_000_000,
        code: view.code,
        seats: view.seats,
        private: view.private,
        locked: view.locked,
        drop_in: view.drop_in,
        playing: matches!(view.status, Status::Playing | Status::Starting),
        host: view.host == member.peer,
        players: LocalPlayers::new(member.slots().len() as u8).unwrap_or_default(),
        game: view.game.clone(),
        mode: view.mode.clone(),
        build: view.build.clone(),
        settings: Claims::digest(&view.settings),
    }
}

/// Whether tickets say what changed: a server that loses its memory makes the room again by them.
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

/// Why somebody is not in the room any more, as far as these events tell.
fn departure(events: &[RoomUpdate], peer: PeerId) -> LeaveReason {
    let reason = events.iter().find_map(|event| match event {
        RoomUpdate::Left(left) if left.peer == peer => Some(left.reason),
        _ => None,
    });
    reason.unwrap_or(LeaveReason::Closed)
}
