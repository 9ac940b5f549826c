//! Rules of one room: what members may do, and what follows.
//!
//! The directory calls it. Each call either changes nothing and returns why, or records its changes
//! for [`Room::take_change`]. Absent: sockets, other rooms, clocks.

mod action;
mod members;
mod names;
mod result_vote;
mod roles;
mod slots;
mod types;

pub use action::{IdleTimeout, Leave, LeaveKeepingSlot, RoomAction, SetProfile, StartMatch};
use result_vote::MatchReports;
pub(crate) use roles::check_settings;
pub use types::{Attached, Attachment, Displace, JoinRequest, NewRoom, Reservation, Source};

use std::collections::BTreeMap;

use gaggle_kit::{Micros, PeerId, Slot, SlotSet};

use crate::MessageError;
use crate::id::{NetworkId, PlayerId};
use crate::json::{ObjectWriter, Raw, Record, Value, record};
use crate::message::client::{Access, Ready, Rest};
use crate::message::server::Listing;
use crate::message::{Rejection, RejectionCode};
use crate::players::LocalPlayers;
use crate::results::MatchRecord;
use crate::rules::Rules;
use crate::view::{AccessChanged, HostChanged, LeaveReason, Left, Member, RoomUpdate, RoomView, Status};

/// How long `find` avoids a room for a player who left it.
const AVOIDED: Micros = Micros::from_secs(60);

/// How long `find` avoids a room that voted a player out.
const VOTED_OUT_AVOIDED: Micros = Micros::from_secs(600);

/// Changes of a room since the last poll.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoomChange {
    /// Updates for members, in order.
    pub events: Vec<RoomUpdate>,
    /// Members whose connection changed.
    pub links: Vec<(PeerId, Option<Attachment>)>,
    /// Matches to store.
    pub records: Vec<MatchRecord>,
}

/// State of a room on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    view: RoomView,
    reservations: BTreeMap<PeerId, Reservation>,
    /// Join order of the next joiner.
    next_order: u64,
    results: MatchReports,
    state: RoomState,
    change: RoomChange,
}

record! {
    /// A slot that its player left.
    pub struct FreedSlot {
        /// The freed slot.
        slot: Slot,
        /// Its last peer.
        peer: PeerId,
        /// Its last account; none in data of earlier builds.
        player: Option<PlayerId>,
        /// When it was left.
        at: Micros,
    }
}

record! {
    /// A player's vote to remove another player.
    #[derive(Copy)]
    pub struct Vote {
        /// Peer that votes.
        by: PeerId,
        /// Peer to be removed.
        target: PeerId,
    }
}

record! {
    /// Claim to be host of a restored room.
    #[derive(Copy)]
    pub struct HostClaim {
        /// Issue time of the ticket that names the host, in Unix seconds; 0 without one.
        issued: u64,
        /// Until when a later ticket overrides it.
        until: Micros,
    }
}

record! {
    /// State of a room beside its members.
    pub struct RoomState {
        /// Accounts the host removed.
        banned: Vec<PlayerId>,
        /// Networks of removed players, unless shared with another member.
        banned_networks: Vec<NetworkId>,
        /// Votes to remove players, one per player.
        votes: Vec<Vote>,
        /// When a vote last removed a player.
        voted_out_at: Option<Micros>,
        /// Account that created the room.
        founder: Option<PlayerId>,
        /// Network of its creator.
        founded_from: NetworkId,
        /// Its network had its share of open rooms: `find` brings no player of another network.
        apart: bool,
        /// Peers that left a match without drop-in.
        left: Vec<PeerId>,
        /// Freed slots with their last players.
        vacated: Vec<FreedSlot>,
        /// When the match ended.
        finished_at: Option<Micros>,
        /// The room was restored from a ticket: until when it waits for its other members.
        reopened_until: Option<Micros>,
        /// Issue time of the ticket whose room settings count, in Unix seconds; none after a change
        /// by the host.
        reopened_by: Option<u64>,
        /// Claim of the host of a restored room, until the previous host returns.
        host_claim: Option<HostClaim>,
    }
}

impl Room {
    /// A new room with its creator as the first member.
    pub fn create(now: Micros, new: NewRoom, founder: JoinRequest, link: Attachment) -> Room {
        let NewRoom { id, code, seed, game, mode, build, max_players, private, drop_in, .. } = new;
        let NewRoom { host_starts, matched, settings, .. } = new;
        let started = (drop_in && !host_starts).then(|| (Status::Playing, 1, now.as_millis()));
        let (status, round, match_started_at) = started.unwrap_or((Status::Waiting, 0, 0));
        let view = RoomView {
            id,
            code,
            game,
            mode,
            build,
            max_players,
            private,
            locked: false,
            drop_in,
            host_starts,
            matched,
            status,
            round,
            seed,
            epoch: 1,
            match_started_at,
            starts_at: None,
            host: founder.peer,
            settings,
            version: 0,
            members: Vec::new(),
        };
        let mut room = Room::empty(view);
        (room.state.founder, room.state.founded_from) = (Some(founder.player), founder.source.network);
        let slots = slots::slots_for(&room.view, &room.state.vacated, &founder)
            .unwrap_or(SlotSet::first(founder.players.count().into()));
        room.reserve(now, founder, slots, link, None);
        room.view.version = 1;
        room.change.events.clear();
        room
    }

    fn empty(view: RoomView) -> Room {
        let state = RoomState {
            banned: Vec::new(),
            banned_networks: Vec::new(),
            votes: Vec::new(),
            voted_out_at: None,
            founder: None,
            founded_from: NetworkId(0),
            apart: false,
            left: Vec::new(),
            vacated: Vec::new(),
            finished_at: None,
            reopened_until: None,
            reopened_by: None,
            host_claim: None,
        };
        let (results, change) = (MatchReports::default(), RoomChange::default());
        Room { view, reservations: BTreeMap::new(), next_order: 0, results, state, change }
    }

    /// The room as its members see it.
    pub fn view(&self) -> &RoomView {
        &self.view
    }

    /// What the server knows about a member beyond the view.
    pub fn reservation_of(&self, peer: PeerId) -> Option<&Reservation> {
        self.reservations.get(&peer)
    }

    /// Connections of all members.
    pub fn links(&self) -> impl Iterator<Item = (PeerId, Attachment)> {
        self.reservations.iter().filter_map(|(peer, seat)| seat.link.map(|link| (*peer, link)))
    }

    /// Whether no member is left that could play.
    pub fn is_over(&self) -> bool {
        self.view.players().next().is_none()
    }

    /// Whether `find` may use the room: a slot is free, it is not closed to joiners, and a
    /// connected player is in it.
    pub fn is_open(&self) -> bool {
        !self.view.private
            && self.objection_to_join(LocalPlayers::ONE).is_none()
            && self.links().next().is_some()
    }

    /// The one network whose players `find` may bring, because it has more than half of the
    /// players, or more than its share of open rooms.
    pub fn reserved_for(&self) -> Option<NetworkId> {
        if self.state.apart {
            return Some(self.state.founded_from);
        }
        let mut held: BTreeMap<NetworkId, usize> = BTreeMap::new();
        for member in self.view.players() {
            if let Some(seat) = self.reservations.get(&member.peer) {
                *held.entry(seat.source.network).or_default() += member.slots().len();
            }
        }
        held.into_iter()
            .find(|(_, taken)| 2 * taken > usize::from(self.view.max_players))
            .map(|(network, _)| network)
    }

    /// Account and network that created the room.
    pub(crate) fn founder(&self) -> (Option<PlayerId>, NetworkId) {
        (self.state.founder, self.state.founded_from)
    }

    /// Whether `find` brings only players of the creator's network.
    pub(crate) fn is_apart(&self) -> bool {
        self.state.apart
    }

    /// Sets whether `find` brings only players of the creator's network.
    pub(crate) fn set_apart(&mut self, apart: bool) {
        self.state.apart = apart;
    }

    /// Whether at least half of the players are of one network.
    pub(crate) fn is_mostly_of(&self, network: NetworkId) -> bool {
        let is_of = |member: &&Member| {
            self.reservations.get(&member.peer).is_some_and(|seat| seat.source.network == network)
        };
        2 * self.view.players().filter(is_of).count() >= self.view.players().count()
    }

    /// Whether a vote removed a player so recently that `find` should avoid the room.
    pub(crate) fn has_voted_out_lately(&self, now: Micros) -> bool {
        self.state.voted_out_at.is_some_and(|at| now.since(at) < VOTED_OUT_AVOIDED)
    }

    /// Marks the room as matched: no player has privileges over strangers that `find` brings.
    pub(crate) fn set_matched(&mut self) {
        if !self.view.matched {
            let access = AccessChanged { matched: true, ..self.view.access() };
            self.happen(access);
        }
    }

    /// Whether this player left so recently that `find` should avoid the room.
    pub fn was_left_lately(&self, now: Micros, player: PlayerId) -> bool {
        let is_it = |vacated: &FreedSlot| {
            vacated.player == Some(player)
                && now.since(vacated.at) < AVOIDED
                && !self.view.occupied_slots().is_empty()
        };
        self.state.vacated.iter().any(is_it)
    }

    /// Entry in the room list; none if unlisted.
    pub fn listing(&self) -> Option<Listing> {
        let view = &self.view;
        let host = view.member(view.host).filter(|_| !view.private && self.links().next().is_some())?;
        // A member that has left and only keeps its reservation does not count.
        let is_there =
            |member: &&Member| self.reservations.get(&member.peer).is_none_or(|seat| !seat.stepped_out);
        let players = view.players().filter(is_there).map(|member| member.slots().len() as u8).sum();
        Some(Listing {
            id: view.id,
            code: view.code,
            mode: view.mode.clone(),
            build: view.build.clone(),
            status: view.status,
            players,
            max_players: view.max_players,
            spectators: view.spectators().count() as u8,
            open: self.is_open(),
            host: host.name.clone(),
        })
    }

    /// Performs a member's action.
    ///
    /// # Errors
    /// If the member may not; nothing changed then.
    pub fn act(
        &mut self,
        now: Micros,
        rules: &Rules,
        peer: PeerId,
        act: RoomAction,
    ) -> Result<(), Rejection> {
        let Some(member) = self.view.member(peer) else {
            return Err(Rejection::new(RejectionCode::NotInRoom, "you are not in this room"));
        };
        match act {
            RoomAction::Leave(_) => self.give_up(now, peer),
            RoomAction::LeaveKeepingSlot(_) => self.step_out(now, peer),
            RoomAction::IdleTimeout(_) => self.remove(now, peer, LeaveReason::IdleTimeout),
            RoomAction::Ready(Ready { ready }) => return self.set_ready(peer, ready),
            RoomAction::Rest(Rest { resting }) => self.set_resting(peer, resting.then_some(now)),
            RoomAction::SetProfile(SetProfile { name, preferred_slot }) => {
                let (name, palette) =
                    (name.unwrap_or(member.name.clone()), preferred_slot.unwrap_or(member.palette));
                self.set_profile(peer, name, palette);
            }
            RoomAction::Report(report) => return self.report(now, rules, (peer, report)),
            RoomAction::OwnScore(score) => return self.results.tell(now, rules, &self.view, (peer, &score)),
            RoomAction::Kick(kick) if self.view.matched => return self.vote(now, peer, kick.peer),
            _ if self.view.host != peer => {
                return Err(Rejection::new(RejectionCode::NotHost, "only the host may do that"));
            }
            RoomAction::Kick(kick) => return self.kick(now, kick.peer),
            RoomAction::TransferHost(host) => return self.hand_over(host.peer),
            act => {
                // The host's current settings override any ticket.
                self.state.reopened_by = None;
                return self.act_on_room(now, rules, act);
            }
        }
        Ok(())
    }

    fn act_on_room(&mut self, now: Micros, rules: &Rules, act: RoomAction) -> Result<(), Rejection> {
        match act {
            RoomAction::StartMatch(StartMatch { countdown_ms, seed }) => self.start(now, countdown_ms, seed),
            RoomAction::Finish(_) => self.finish(now),
            RoomAction::Settings(change) => self.set_settings(rules, change.settings),
            RoomAction::Access(Access { locked, private, max_players }) => {
                self.set_access(rules, locked, private, max_players)
            }
            _ => Ok(()),
        }
    }

    /// Changes since the last call. Raises the version if copies have to change.
    pub fn take_change(&mut self) -> RoomChange {
        if !self.change.events.is_empty() || !self.change.links.is_empty() {
            self.view.version += 1;
        }
        std::mem::take(&mut self.change)
    }

    /// Applies an event and records it for copies.
    fn happen(&mut self, event: impl Into<RoomUpdate>) {
        let event = event.into();
        self.view.apply(&event);
        self.change.events.push(event);
    }

    fn set_link(&mut self, peer: PeerId, link: Option<Attachment>) {
        if let Some(seat) = self.reservations.get_mut(&peer) {
            seat.link = link;
            if let Some(link) = link {
                seat.session = link.session;
            }
            self.change.links.push((peer, link));
        }
    }

    /// Removes a member and chooses a new host if it was the host.
    fn remove(&mut self, now: Micros, peer: PeerId, reason: LeaveReason) {
        self.set_link(peer, None);
        self.reservations.remove(&peer);
        self.state.votes.retain(|vote| vote.by != peer && vote.target != peer);
        self.note_freed_slots(now, peer);
        self.happen(Left { peer, reason });
        if self.is_over() {
            self.close(now);
        } else if self.view.host == peer {
            let host = self.successor(|_| true).expect("a member is left who could play");
            self.make_host(host);
        }
        self.decide_if_complete(now);
    }

    /// Removes all remaining members.
    fn close(&mut self, now: Micros) {
        self.decide_early(now);
        let members: Vec<PeerId> = self.view.members.iter().map(|member| member.peer).collect();
        for peer in members {
            self.set_link(peer, None);
            self.reservations.remove(&peer);
            self.happen(Left { peer, reason: LeaveReason::Closed });
        }
    }

    fn make_host(&mut self, peer: PeerId) {
        self.state.host_claim = None;
        self.happen(HostChanged { peer });
    }

    /// Next host among the players that fit: connected before away, attentive before resting, then
    /// by join order.
    fn successor(&self, fits: impl Fn(&Member) -> bool) -> Option<PeerId> {
        let players = self.view.players().filter(|member| fits(member));
        let order = |member: &&Member| self.reservations.get(&member.peer).map(|seat| seat.order);
        let rank = |member: &&Member| (member.away, member.resting, order(member));
        players.min_by_key(rank).map(|member| member.peer)
    }
}

record! {
    /// Stored form of a member.
    pub struct StoredMember {
        /// Public part of the member.
        member: Member,
        /// Private part of the member.
        seat: Reservation,
    }
}

/// Text form of a room: one text for the room, one per member. A join adds one text and changes no
/// other.
impl Room {
    /// Text of everything but the members.
    pub fn head_text(&self) -> String {
        let mut view = self.view.clone();
        view.members.clear();
        let mut out = String::from("[");
        view.write(&mut out);
        out.push(',');
        let mut state = ObjectWriter::new(&mut out);
        state.field("next_order", &self.next_order);
        self.results.write_fields(&mut state);
        self.state.write_fields(&mut state);
        state.end();
        out.push(']');
        out
    }

    /// Text of each member.
    pub fn member_texts(&self) -> Vec<(PeerId, String)> {
        let text = |member: &Member| {
            let seat = self.reservations.get(&member.peer)?.clone();
            let mut out = String::new();
            StoredMember { member: member.clone(), seat }.write(&mut out);
            Some((member.peer, out))
        };
        self.view.members.iter().filter_map(text).collect()
    }

    /// Restores a room from its texts.
    ///
    /// # Errors
    /// If they were not made by [`Room::head_text`] and [`Room::member_texts`].
    pub fn from_texts<'a>(
        head: &str,
        version: u64,
        members: impl Iterator<Item = &'a str>,
    ) -> Result<Room, MessageError> {
        let invalid = MessageError::Invalid { field: "head", expected: "a room and its state" };
        let mut parts = Raw::parse(head)?.items().ok_or(invalid)?;
        let mut room = Room::empty(RoomView::read(parts.next().ok_or(invalid)?, "head")?);
        let state = parts.next().ok_or(invalid)?.object("state")?;
        room.next_order = state.read("next_order");
        room.results = MatchReports::read_fields(&state);
        room.state = state.finish(RoomState::read_fields(&state))?;
        room.view.version = version;
        for text in members {
            let StoredMember { member, seat } = StoredMember::read(Raw::parse(text)?, "member")?;
            room.reservations.insert(member.peer, seat);
            room.view.apply(&crate::view::Joined { member }.into());
        }
        Ok(room)
    }
}
