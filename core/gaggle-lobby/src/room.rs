//! The rules of one room: who may do what, and what follows from it.
//!
//! The directory calls it. Each call either changes nothing and says why, or leaves what happened
//! in [`Room::take_change`] for those who keep copies. Absent: sockets, other rooms, clocks.

mod action;
mod members;
mod names;
mod result_vote;
mod roles;
mod slots;
mod types;

pub use action::{IdleTimeout, Leave, LeaveKeepingSlot, RoomAction, SetProfile, StartMatch};
pub(crate) use roles::check_settings;
pub use types::{Attached, Attachment, Displace, JoinRequest, NewRoom, Reservation, Source};

use std::collections::BTreeMap;

use gaggle_kit::{Micros, PeerId, Slot, SlotSet};

use crate::MessageError;
use crate::id::{NetworkId, PlayerId};
use crate::json::{Raw, Value, record};
use crate::message::client::{Access, Ready, Rest};
use crate::message::server::Listing;
use crate::message::{Rejection, RejectionCode};
use crate::players::LocalPlayers;
use crate::results::{MatchPlayer, MatchRecord, ResultClaim, Told};
use crate::rules::Rules;
use crate::view::{AccessChanged, HostChanged, LeaveReason, Left, Member, RoomUpdate, RoomView, Status};

/// For how long `find` prefers other rooms to one that was left.
const AVOIDED: Micros = Micros::from_secs(60);

/// For how long `find` prefers other rooms to one that voted a player out.
const VOTED_OUT_AVOIDED: Micros = Micros::from_secs(600);

/// What a call changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoomChange {
    /// What members see, in order.
    pub events: Vec<RoomUpdate>,
    /// Whose connection is where now.
    pub links: Vec<(PeerId, Option<Attachment>)>,
    /// Matches to be stored.
    pub records: Vec<MatchRecord>,
}

/// A room, as the server knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    view: RoomView,
    seats: BTreeMap<PeerId, Reservation>,
    state: RoomState,
    change: RoomChange,
}

record! {
    /// A seat somebody has left.
    pub struct FreedSlot {
        /// Which.
        slot: Slot,
        /// Who, as a machine.
        peer: PeerId,
        /// Who, as a person; none in what earlier builds kept.
        player: Option<PlayerId>,
        /// When.
        at: Micros,
    }
}

record! {
    /// A player's vote to remove another one.
    #[derive(Copy)]
    pub struct Vote {
        /// Who votes.
        by: PeerId,
        /// Who is to be removed.
        target: PeerId,
    }
}

record! {
    /// Why somebody is host of a room that was made again.
    #[derive(Copy)]
    pub struct HostClaim {
        /// When the ticket was made that calls them host, in Unix seconds; 0 if none does.
        issued: u64,
        /// Until when a later one counts more.
        until: Micros,
    }
}

record! {
    /// What a room keeps beside its members.
    pub struct RoomState {
        /// The order of the next joiner.
        next_order: u64,
        /// Who has played in this match.
        cast: Vec<MatchPlayer>,
        /// What was reported about it.
        testimonies: Vec<ResultClaim>,
        /// What players said of their own scores.
        told: Vec<Told>,
        /// When the reports were counted last, the first time when the first one came.
        counted_at: Option<Micros>,
        /// Decided matches that are not stored yet, and the last one that is.
        decided: Vec<MatchRecord>,
        /// The last match that is stored.
        stored_round: u32,
        /// Who was sent away.
        banned: Vec<PlayerId>,
        /// The networks they came from, where no other member does.
        banned_networks: Vec<NetworkId>,
        /// Who wants whom removed, each player one.
        votes: Vec<Vote>,
        /// When they removed one last.
        voted_out_at: Option<Micros>,
        /// Who made the room.
        founder: Option<PlayerId>,
        /// From which network.
        founded_from: NetworkId,
        /// Its network had its share of open rooms: `find` brings no player from another one.
        apart: bool,
        /// Who has left a match nobody can drop into.
        left: Vec<PeerId>,
        /// Seats somebody has left, each with who was the last.
        vacated: Vec<FreedSlot>,
        /// When the match was over.
        finished_at: Option<Micros>,
        /// The room was made again from a ticket: until when the others are waited for.
        reopened_until: Option<Micros>,
        /// When the ticket was made whose word about the room counts, in Unix seconds; none once
        /// the host has changed it.
        reopened_by: Option<u64>,
        /// By what right somebody is host of a room that was made again, until the one who was
        /// before is there.
        host_claim: Option<HostClaim>,
    }
}

impl Room {
    /// A new room with its founder in it.
    pub fn create(now: Micros, new: NewRoom, founder: JoinRequest, link: Attachment) -> Room {
        let NewRoom { id, code, seed, game, mode, build, seats, private, drop_in, .. } = new;
        let NewRoom { host_starts, matched, settings, .. } = new;
        let started = (drop_in && !host_starts).then(|| (Status::Playing, 1, now.as_millis()));
        let (status, round, born) = started.unwrap_or((Status::Waiting, 0, 0));
        let view = RoomView {
            id,
            code,
            game,
            mode,
            build,
            seats,
            private,
            locked: false,
            drop_in,
            host_starts,
            matched,
            status,
            round,
            seed,
            epoch: 1,
            born,
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
        room.seat(now, founder, slots, link, None);
        room.view.version = 1;
        room.change.events.clear();
        room
    }

    fn empty(view: RoomView) -> Room {
        let state = RoomState {
            next_order: 0,
            cast: Vec::new(),
            testimonies: Vec::new(),
            told: Vec::new(),
            counted_at: None,
            decided: Vec::new(),
            stored_round: 0,
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
        Room { view, seats: BTreeMap::new(), state, change: RoomChange::default() }
    }

    /// The room as its members see it.
    pub fn view(&self) -> &RoomView {
        &self.view
    }

    /// What the server knows about a member.
    pub fn reservation_of(&self, peer: PeerId) -> Option<&Reservation> {
        self.seats.get(&peer)
    }

    /// Everybody's connection.
    pub fn links(&self) -> impl Iterator<Item = (PeerId, Attachment)> {
        self.seats.iter().filter_map(|(peer, seat)| seat.link.map(|link| (*peer, link)))
    }

    /// Whether nobody is left who could play.
    pub fn is_over(&self) -> bool {
        self.view.players().next().is_none()
    }

    /// Whether `find` may put somebody here: there is a seat, it is not shut, and somebody is
    /// really there.
    pub fn is_open(&self) -> bool {
        !self.view.private
            && self.objection_to_join(LocalPlayers::ONE).is_none()
            && self.links().next().is_some()
    }

    /// The one network whose players `find` may bring, if others would only fill up seats among it:
    /// it holds more than half of them, or has made more than its share of open rooms.
    pub fn reserved_for(&self) -> Option<NetworkId> {
        if self.state.apart {
            return Some(self.state.founded_from);
        }
        let mut held: BTreeMap<NetworkId, usize> = BTreeMap::new();
        for member in self.view.players() {
            if let Some(seat) = self.seats.get(&member.peer) {
                *held.entry(seat.source.network).or_default() += member.slots().len();
            }
        }
        held.into_iter()
            .find(|(_, seats)| 2 * seats > usize::from(self.view.seats))
            .map(|(network, _)| network)
    }

    /// Who made the room, and from which network.
    pub(crate) fn founder(&self) -> (Option<PlayerId>, NetworkId) {
        (self.state.founder, self.state.founded_from)
    }

    /// Whether strangers are not brought here because its founder's network has its share of rooms.
    pub(crate) fn is_apart(&self) -> bool {
        self.state.apart
    }

    /// Whether `find` brings no player of another network here from now on.
    pub(crate) fn set_apart(&mut self, apart: bool) {
        self.state.apart = apart;
    }

    /// Whether at least half of those who play are of one network.
    pub(crate) fn is_mostly_of(&self, network: NetworkId) -> bool {
        let is_of = |member: &&Member| {
            self.seats.get(&member.peer).is_some_and(|seat| seat.source.network == network)
        };
        2 * self.view.players().filter(is_of).count() >= self.view.players().count()
    }

    /// Whether players have removed one of them so lately that others are better brought elsewhere.
    pub(crate) fn has_voted_out_lately(&self, now: Micros) -> bool {
        self.state.voted_out_at.is_some_and(|at| now.since(at) < VOTED_OUT_AVOIDED)
    }

    /// `find` brings players here: none of them rules over the others.
    pub(crate) fn set_matched(&mut self) {
        if !self.view.matched {
            let access = AccessChanged { matched: true, ..self.view.access() };
            self.happen(access);
        }
    }

    /// Whether this person left the room so lately that another one suits them better.
    pub fn was_left_lately(&self, now: Micros, player: PlayerId) -> bool {
        let is_it = |vacated: &FreedSlot| {
            vacated.player == Some(player)
                && now.since(vacated.at) < AVOIDED
                && !self.view.occupied_slots().is_empty()
        };
        self.state.vacated.iter().any(is_it)
    }

    /// The room in the list; none for one that is not listed.
    pub fn listing(&self) -> Option<Listing> {
        let view = &self.view;
        let host = view.member(view.host).filter(|_| !view.private && self.links().next().is_some())?;
        // Who has stepped out is no company, even if the seat is kept.
        let is_there = |member: &&Member| self.seats.get(&member.peer).is_none_or(|seat| !seat.stepped_out);
        let players = view.players().filter(is_there).map(|member| member.slots().len() as u8).sum();
        Some(Listing {
            id: view.id,
            code: view.code,
            mode: view.mode.clone(),
            build: view.build.clone(),
            status: view.status,
            players,
            seats: view.seats,
            watchers: view.spectators().count() as u8,
            open: self.is_open(),
            host: host.name.clone(),
        })
    }

    /// Does what a member wants, if it may.
    ///
    /// # Errors
    /// If it may not; nothing changed then.
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
            RoomAction::SetProfile(SetProfile { name, palette }) => {
                let (name, palette) =
                    (name.unwrap_or(member.name.clone()), palette.unwrap_or(member.palette));
                self.set_profile(peer, name, palette);
            }
            RoomAction::Report(report) => return self.report(now, rules, peer, report),
            RoomAction::OwnScore(score) => return self.tell(now, rules, peer, &score),
            RoomAction::Kick(kick) if self.view.matched => return self.vote(now, peer, kick.peer),
            _ if self.view.host != peer => {
                return Err(Rejection::new(RejectionCode::NotHost, "only the host may do that"));
            }
            RoomAction::Kick(kick) => return self.kick(now, kick.peer),
            RoomAction::TransferHost(host) => return self.hand_over(host.peer),
            act => {
                // What the host says now counts more than any ticket from before.
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
            RoomAction::Access(Access { locked, private, seats }) => {
                self.set_access(rules, locked, private, seats)
            }
            _ => Ok(()),
        }
    }

    /// What the calls since the last time have changed. Raises the version if copies have to
    /// change.
    pub fn take_change(&mut self) -> RoomChange {
        if !self.change.events.is_empty() || !self.change.links.is_empty() {
            self.view.version += 1;
        }
        std::mem::take(&mut self.change)
    }

    /// Makes an event take effect and keeps it for others.
    fn happen(&mut self, event: impl Into<RoomUpdate>) {
        let event = event.into();
        self.view.apply(&event);
        self.change.events.push(event);
    }

    fn set_link(&mut self, peer: PeerId, link: Option<Attachment>) {
        if let Some(seat) = self.seats.get_mut(&peer) {
            seat.link = link;
            if let Some(link) = link {
                seat.session = link.session;
            }
            self.change.links.push((peer, link));
        }
    }

    /// Takes somebody out, whoever wanted it, and finds a new host if it was the host.
    fn remove(&mut self, now: Micros, peer: PeerId, reason: LeaveReason) {
        self.set_link(peer, None);
        self.seats.remove(&peer);
        self.state.votes.retain(|vote| vote.by != peer && vote.target != peer);
        self.note_freed_slots(now, peer);
        self.happen(Left { peer, reason });
        if self.is_over() {
            self.close(now);
        } else if self.view.host == peer {
            let host = self.successor(|_| true).expect("somebody is left who could play");
            self.make_host(host);
        }
        self.settle_if_complete(now);
    }

    /// Sends everybody who is still here away.
    fn close(&mut self, now: Micros) {
        self.decide_early(now);
        let members: Vec<PeerId> = self.view.members.iter().map(|member| member.peer).collect();
        for peer in members {
            self.set_link(peer, None);
            self.seats.remove(&peer);
            self.happen(Left { peer, reason: LeaveReason::Closed });
        }
    }

    fn make_host(&mut self, peer: PeerId) {
        self.state.host_claim = None;
        self.happen(HostChanged { peer });
    }

    /// Who should be host: of the players asked for, those who are there before those who are away,
    /// those who look before those who rest, and among them who has been here longest.
    fn successor(&self, fits: impl Fn(&Member) -> bool) -> Option<PeerId> {
        let players = self.view.players().filter(|member| fits(member));
        let order = |member: &&Member| self.seats.get(&member.peer).map(|seat| seat.order);
        let rank = |member: &&Member| (member.away, member.resting, order(member));
        players.min_by_key(rank).map(|member| member.peer)
    }
}

record! {
    /// A member as a store keeps it.
    pub struct StoredMember {
        /// What others see.
        member: Member,
        /// What the server knows.
        seat: Reservation,
    }
}

/// A room taken apart into texts that can be kept outside: one for the room, one for each member.
/// Joining adds one text and changes no other, so that a store can do it by itself.
impl Room {
    /// The text of everything but the members.
    pub fn head_text(&self) -> String {
        let mut view = self.view.clone();
        view.members.clear();
        let mut out = String::from("[");
        view.write(&mut out);
        out.push(',');
        self.state.write(&mut out);
        out.push(']');
        out
    }

    /// The text of each member.
    pub fn member_texts(&self) -> Vec<(PeerId, String)> {
        let text = |member: &Member| {
            let seat = self.seats.get(&member.peer)?.clone();
            let mut out = String::new();
            StoredMember { member: member.clone(), seat }.write(&mut out);
            Some((member.peer, out))
        };
        self.view.members.iter().filter_map(text).collect()
    }

    /// The room these texts are of.
    ///
    /// # Errors
    /// If they were not written by [`Room::head_text`] and [`Room::member_texts`].
    pub fn from_texts<'a>(
        head: &str,
        version: u64,
        members: impl Iterator<Item = &'a str>,
    ) -> Result<Room, MessageError> {
        let invalid = MessageError::Invalid { field: "head", expected: "a room and its state" };
        let mut parts = Raw::parse(head)?.items().ok_or(invalid)?;
        let mut room = Room::empty(RoomView::read(parts.next().ok_or(invalid)?, "head")?);
        room.state = RoomState::read(parts.next().ok_or(invalid)?, "state")?;
        room.view.version = version;
        for text in members {
            let StoredMember { member, seat } = StoredMember::read(Raw::parse(text)?, "member")?;
            room.seats.insert(member.peer, seat);
            room.view.apply(&crate::view::Joined { member }.into());
        }
        Ok(room)
    }
}
