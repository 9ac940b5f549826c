//! All rooms, and the promise that nobody is in two of them: what the nodes of a server share.
//!
//! It lives in memory. A server that runs as one process has one of them; processes that share
//! their rooms have one each and feed all of them the same requests in the same order, which is in
//! `log.rs`, so that all of them hold the same. Nodes ask with a [`Command`] and hear of what
//! happened through [`Directory::poll_notice`]; they never see each other.

mod index;
mod log;
mod matchmaking;
mod request;
mod snapshot;

pub use index::FindKey;
pub use log::LogEntry;
pub use matchmaking::Skill;
pub use request::{Command, FindSpec, JoinBy, JoinedReply, Notice, Origin, QueuedSignal, Reply, RoomCopy};
pub use snapshot::Snapshot;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gaggle_kit::{Micros, PeerId};

use crate::id::{NodeId, RoomCode, RoomId};
use crate::message::{Rejection, RejectionCode};
use crate::results::MatchRecord;
use crate::room::{Attached, Attachment, Displace, JoinRequest, NewRoom, Room, RoomAction};
use crate::rules::Rules;
use crate::ticket::Claims;
use crate::view::{RawJson, RoomUpdate, Verdict};
use index::Index;
use matchmaking::Matchmaking;

/// All rooms of a server.
#[derive(Debug)]
pub struct Directory {
    rules: Rules,
    rooms: BTreeMap<RoomId, Room>,
    index: Index,
    mail: BTreeMap<PeerId, VecDeque<QueuedSignal>>,
    matchmaking: Matchmaking,
    nodes: BTreeMap<NodeId, Lease>,
    /// The last life of each node that was taken for dead.
    dead: BTreeMap<NodeId, u32>,
    notices: VecDeque<(NodeId, Notice)>,
    records: VecDeque<MatchRecord>,
    /// Decided matches nobody has said to be stored.
    unstored: VecDeque<MatchRecord>,
    /// Rooms that ended, in that order, and until when tickets for them count.
    ended: VecDeque<(Micros, RoomId)>,
    has_ended: BTreeSet<RoomId>,
}

/// Decided matches that are remembered until they are stored, also when their rooms are gone.
const UNSTORED_MAX: usize = 1_024;
/// Rooms that are remembered after their end: as many as one address can make in a day.
const ENDED_MAX: usize = 1 << 17;

/// That a node is alive, until when.
#[derive(Debug, Clone, Copy)]
struct Lease {
    epoch: u32,
    until: Micros,
}

impl Directory {
    /// A directory without rooms.
    pub fn new(rules: Rules) -> Directory {
        Directory {
            rules,
            rooms: BTreeMap::new(),
            index: Index::default(),
            mail: BTreeMap::new(),
            matchmaking: Matchmaking::default(),
            nodes: BTreeMap::new(),
            dead: BTreeMap::new(),
            notices: VecDeque::new(),
            records: VecDeque::new(),
            unstored: VecDeque::new(),
            ended: VecDeque::new(),
            has_ended: BTreeSet::new(),
        }
    }

    /// Does what a node asks for.
    pub fn handle_request(&mut self, now: Micros, request: Command) -> Reply {
        match request {
            Command::Lease { node, epoch, until } => self.lease(now, node, epoch, until),
            Command::Attach { origin, name, resume, displace, ticket } => {
                self.attach(now, origin, name, resume, displace, ticket)
            }
            Command::Find { newcomer, link, wish } => match wish {
                FindSpec { new, may_create, skill: Some(skill) } => {
                    self.forget_stepped_out(now, newcomer.peer);
                    self.search(now, newcomer, link, new, may_create, skill)
                }
                wish => self.find(now, newcomer, link, wish),
            },
            Command::StopSearch { peer, link, leave } => self.stop_search(now, peer, link, leave),
            Command::Create { newcomer, link, new } => self.create(now, newcomer, link, new),
            Command::Join { newcomer, link, by, build } => self.join(now, newcomer, link, by, &build),
            Command::Act { room, peer, link, act } => self.act(now, room, peer, link, act),
            Command::Detach { room, peer, link, next_signal, got, mail } => {
                self.detach(now, room, peer, link, next_signal, got, mail)
            }
            Command::Mail { room, to, mail } => {
                // A member that has come back meanwhile gets it at once.
                let seat = self.rooms.get(&room).and_then(|room| room.reservation_of(to));
                match seat.map(|seat| seat.link) {
                    Some(Some(link)) => {
                        self.notices.push_back((link.node, Notice::Signal { room, to, mail }));
                    }
                    Some(None) => self.keep_mail(to, mail),
                    None => {}
                }
                Reply::Accepted
            }
            Command::Stored { room, round, verdict, ratings } => {
                self.unstored.retain(|record| (record.room, record.round) != (room, round));
                if let Some(known) = self.rooms.get_mut(&room) {
                    known.set_stored(round, verdict, ratings);
                    self.publish(now, room);
                }
                Reply::Accepted
            }
            Command::Look { room } => Reply::Room(self.copy(room)),
            Command::List { game, mode, build, all, stamp } => {
                self.index.list(&game, &mode, &build, all, stamp)
            }
        }
    }

    /// What a node has to be told, and which. Notices about one room come in the order things
    /// happened.
    pub fn poll_notice(&mut self) -> Option<(NodeId, Notice)> {
        self.notices.pop_front()
    }

    /// A match that is decided and has to be stored; say [`Command::Stored`] when it is. Processes
    /// that share their rooms each get it, in the same order, and keep the same books. If nobody
    /// has said so before some node was lost, it comes once more: that node may have been the only
    /// one to store it.
    pub fn poll_record(&mut self) -> Option<MatchRecord> {
        self.records.pop_front()
    }

    /// Whether a match is decided and nobody has said yet that it is stored.
    pub fn is_unstored(&self, room: RoomId, round: u32) -> bool {
        let waits = |known: &Room| known.verdict(round) == Verdict::Pending;
        self.unstored.iter().any(|record| (record.room, record.round) == (room, round))
            || self.rooms.get(&room).is_some_and(waits)
    }

    /// Does what time alone brings about.
    pub fn handle_timeout(&mut self, now: Micros) {
        let dead: Vec<(NodeId, u32)> = self
            .nodes
            .iter()
            .filter(|(_, lease)| lease.until <= now)
            .map(|(node, lease)| (*node, lease.epoch))
            .collect();
        for (node, epoch) in dead {
            self.nodes.remove(&node);
            self.expire_node(now, node, epoch);
        }
        while let Some(id) = self.index.due(now) {
            if let Some(room) = self.rooms.get_mut(&id) {
                room.expire(now, &self.rules);
            }
            self.publish(now, id);
        }
    }

    /// When [`Directory::handle_timeout`] has something to do.
    pub fn poll_timeout(&self) -> Option<Micros> {
        let lease = self.nodes.values().map(|lease| lease.until).min().filter(|until| *until < Micros::MAX);
        self.index.next_deadline().into_iter().chain(lease).min()
    }

    /// A room, for those who have to look at all of it: operators and tests.
    pub fn room(&self, id: RoomId) -> Option<&Room> {
        self.rooms.get(&id)
    }

    /// All rooms.
    pub fn rooms(&self) -> impl Iterator<Item = &Room> {
        self.rooms.values()
    }

    /// The room this machine has a seat in.
    pub fn room_of(&self, peer: PeerId) -> Option<&Room> {
        self.index.room_of(peer).and_then(|id| self.rooms.get(&id))
    }

    fn lease(&mut self, now: Micros, node: NodeId, epoch: u32, until: Micros) -> Reply {
        let known = self.nodes.get(&node).map(|lease| lease.epoch);
        let died = self.dead.get(&node).copied();
        if known.max(died).is_some_and(|later| later > epoch) || died == Some(epoch) {
            return Reply::LeaseExpired;
        }
        if let Some(earlier) = known.filter(|known| *known < epoch) {
            self.expire_node(now, node, earlier);
        }
        self.nodes.insert(node, Lease { epoch, until });
        if known == Some(epoch) { Reply::Leased } else { Reply::LeaseStarted }
    }

    fn is_alive(&self, link: Attachment) -> bool {
        self.nodes.get(&link.node).is_some_and(|lease| lease.epoch == link.epoch)
    }

    fn expire_node(&mut self, now: Micros, node: NodeId, epoch: u32) {
        self.dead.insert(node, epoch);
        self.records.extend(self.unstored.iter().cloned());
        for id in self.index.rooms_on(node) {
            if let Some(room) = self.rooms.get_mut(&id) {
                room.expire_node(now, node, epoch);
            }
            self.publish(now, id);
        }
    }

    fn attach(
        &mut self,
        now: Micros,
        origin: Origin,
        name: crate::label::DisplayName,
        resume: Option<crate::id::ResumeId>,
        displace: Displace,
        ticket: Option<(Claims, RawJson)>,
    ) -> Reply {
        let Origin { peer, player, link, source } = origin;
        if !self.is_alive(link) {
            return Reply::Rejected(node_out_of_date());
        }
        let Some(id) = self.index.room_of(peer) else {
            let Some((claims, settings)) = ticket else { return Reply::NotInRoom { why: None } };
            let watch = claims.slot.is_none();
            let players = claims.players;
            let newcomer =
                JoinRequest { peer, player, name, palette: 0, watch, players, switch: false, source };
            return self.restore(now, newcomer, link, &claims, settings);
        };
        let room = self.rooms.get_mut(&id).expect("the index names rooms that exist");
        let before = room.reservation_of(peer).and_then(|seat| seat.link);
        // What a dead node holds is free, even if nobody has noticed yet.
        let is_alive =
            |link: Attachment| self.nodes.get(&link.node).is_some_and(|lease| lease.epoch == link.epoch);
        let displace = match before {
            Some(old) if !is_alive(old) => Displace::Always,
            _ => displace,
        };
        match room.attach(peer, link, source, resume, displace) {
            Ok(attached) => {
                if let Some(old) = before.filter(|old| *old != link) {
                    let displaced = Notice::Displaced { peer, session: old.session };
                    self.notices.push_back((old.node, displaced));
                }
                self.publish(now, id);
                let mail = self.take_mail(peer, attached);
                self.seated(id, JoinedReply::kept(attached, mail))
            }
            Err(current) => Reply::Elsewhere { link: current, code: room.view().code },
        }
    }

    fn restore(
        &mut self,
        now: Micros,
        newcomer: JoinRequest,
        link: Attachment,
        claims: &Claims,
        settings: RawJson,
    ) -> Reply {
        let no_seat = |why: &Rejection| {
            let text = format!("the ticket brings no seat: {}", why.text);
            Reply::NotInRoom { why: Some(Rejection::new(RejectionCode::BadTicket, text)) }
        };
        let peer = newcomer.peer;
        // Tickets are kept by those who left, too: whoever collects them gets no more seats than
        // anybody.
        if let Err(refusal) = self.check_newcomer(&newcomer, link) {
            return no_seat(&refusal);
        }
        if let Some(room) = self.rooms.get_mut(&claims.room) {
            if let Err(refusal) = room.restore_member(now, &self.rules, (claims, settings), newcomer, link) {
                return no_seat(&refusal);
            }
            self.publish(now, claims.room);
        } else if self.has_ended.contains(&claims.room) {
            return no_seat(&Rejection::new(RejectionCode::NoSuchRoom, "the room has ended"));
        } else {
            // A watcher alone is no room.
            if claims.slot.is_none() {
                return Reply::NotInRoom { why: None };
            }
            if self.rooms.len() >= self.rules.rooms_max {
                return no_seat(&too_many_rooms());
            }
            let code = Some(claims.code).filter(|code| !self.index.has_code(*code));
            let Some(code) = code.or_else(|| self.index.free_code(claims.seed.0)) else {
                return no_seat(&no_code_is_free());
            };
            let new = NewRoom {
                id: claims.room,
                code,
                seed: claims.seed,
                game: claims.game.clone(),
                mode: claims.mode.clone(),
                build: claims.build.clone(),
                seats: claims.seats,
                private: claims.private,
                drop_in: claims.drop_in,
                // Tickets do not say so. Public rooms are most likely filled by `find`.
                matched: !claims.private && claims.drop_in,
                settings,
            };
            let room = Room::restore(now, &self.rules, claims, new, newcomer, link);
            self.rooms.insert(claims.room, room);
            self.publish(now, claims.room);
        }
        self.seated_anew(claims.room, peer, false, true)
    }

    fn find(&mut self, now: Micros, newcomer: JoinRequest, link: Attachment, wish: FindSpec) -> Reply {
        if let Err(refusal) = self.check_newcomer(&newcomer, link) {
            return Reply::Rejected(refusal);
        }
        let peer = newcomer.peer;
        let own = self.index.room_of(peer).and_then(|id| self.rooms.get(&id));
        let suits = |room: &&Room| !room.has_stepped_out(peer) && room.is_open() && wish.fits(room.view());
        let own = own.filter(suits).map(|room| room.view().id);
        if let Some(id) = self.room_found(now, &newcomer, &wish) {
            self.leave_for_another(now, peer);
            let Some(room) = self.rooms.get_mut(&id) else { return Reply::Rejected(no_such_room()) };
            if let Err(refusal) = room.enter(now, &self.rules, newcomer, link) {
                return Reply::Rejected(refusal);
            }
            room.set_matched();
            self.publish(now, id);
            return self.seated_anew(id, peer, false, false);
        }
        // There is no better room than the one it is in.
        if let Some(id) = own {
            return self.seated(id, JoinedReply::kept(Attached::Fresh, Vec::new()));
        }
        if !wish.may_create {
            return Reply::Rejected(too_many_rooms_made());
        }
        self.create(now, newcomer, link, wish.new)
    }

    /// The fullest open room that takes a player in, other than the one it is in. Those it left a
    /// moment ago come last, and so do those that voted a player out lately: two networks that
    /// remove all others would collect them one by one.
    fn room_found(&self, now: Micros, newcomer: &JoinRequest, wish: &FindSpec) -> Option<RoomId> {
        let NewRoom { game, mode, build, seats, .. } = &wish.new;
        let key = FindKey::of(game, mode, build);
        let network = newcomer.source.network;
        let is_stepped_out = |room: &Room| room.has_stepped_out(newcomer.peer);
        let admits = |room: &Room| match room.view().member(newcomer.peer) {
            Some(_) if is_stepped_out(room) => self.check_entry(now, room, newcomer).is_ok(),
            _ => room.seats_if_admitted(&self.rules, newcomer).is_ok(),
        };
        let rank = |id: RoomId| {
            let room = self.rooms.get(&id).filter(|room| admits(room))?;
            Some((room.has_voted_out_lately(now), room.was_left_lately(now, newcomer.player)))
        };
        self.index.open_room(&key, *seats, newcomer.players, network, rank)
    }

    fn create(&mut self, now: Micros, newcomer: JoinRequest, link: Attachment, mut new: NewRoom) -> Reply {
        let checked =
            self.check_newcomer(&newcomer, link).and_then(|()| self.check_new_room(&newcomer, &new));
        match checked {
            Ok(code) => new.code = code,
            Err(refusal) => return Reply::Rejected(refusal),
        }
        self.leave_for_another(now, newcomer.peer);
        let (id, peer) = (new.id, newcomer.peer);
        self.rooms.insert(id, Room::create(now, new, newcomer, link));
        self.publish(now, id);
        self.seated_anew(id, peer, true, false)
    }

    /// Whether this room can be made, and the code it gets.
    fn check_new_room(&self, newcomer: &JoinRequest, new: &NewRoom) -> Result<RoomCode, Rejection> {
        if newcomer.players.count() > new.seats {
            let text = format!("a room of {} seats is too small for all at your machine", new.seats);
            return Err(Rejection::new(RejectionCode::RoomFull, text));
        }
        if self.rooms.len() >= self.rules.rooms_max {
            return Err(too_many_rooms());
        }
        if self.index.has_code(new.code) {
            return self.index.free_code(new.seed.0).ok_or_else(no_code_is_free);
        }
        Ok(new.code)
    }

    fn join(
        &mut self,
        now: Micros,
        newcomer: JoinRequest,
        link: Attachment,
        by: JoinBy,
        build: &crate::label::Label,
    ) -> Reply {
        if let Err(refusal) = self.check_newcomer(&newcomer, link) {
            return Reply::Rejected(refusal);
        }
        let id = match by {
            JoinBy::Code(code) => self.index.room_by_code(code),
            JoinBy::Room(id) => Some(id),
        };
        let Some((id, room)) = id.and_then(|id| Some((id, self.rooms.get(&id)?))) else {
            return Reply::Rejected(no_such_room());
        };
        if room.view().build != *build {
            let text = format!(
                "this room plays build \"{}\" of {}, you have \"{build}\"",
                room.view().build,
                room.view().game
            );
            let game = Some(room.view().game.clone());
            return Reply::Rejected(Rejection { game, ..Rejection::new(RejectionCode::BadGame, text) });
        }
        if let Err(refusal) = self.check_entry(now, room, &newcomer) {
            return Reply::Rejected(refusal);
        }
        self.leave_for_another(now, newcomer.peer);
        // It was seen to that it is there still; if not, that is for this one to hear.
        let Some(room) = self.rooms.get_mut(&id) else {
            return Reply::Rejected(no_such_room());
        };
        let peer = newcomer.peer;
        if let Err(refusal) = room.enter(now, &self.rules, newcomer, link) {
            return Reply::Rejected(refusal);
        }
        self.publish(now, id);
        self.seated_anew(id, peer, false, false)
    }

    /// Whether a room will take somebody in once they have left the one they are in.
    fn check_entry(&self, now: Micros, room: &Room, newcomer: &JoinRequest) -> Result<(), Rejection> {
        if room.view().member(newcomer.peer).is_none() {
            return room.seats_if_admitted(&self.rules, newcomer).map(drop);
        }
        // It is the same room, in another place.
        let mut without = room.clone();
        without.give_up(now, newcomer.peer);
        if without.is_over() {
            let text = "you are the only one who plays in this room";
            return Err(Rejection::new(RejectionCode::NoSuchRoom, text));
        }
        without.seats_if_admitted(&self.rules, newcomer).map(drop)
    }

    /// Gives up the seat of somebody who is certain to get another.
    fn leave_for_another(&mut self, now: Micros, peer: PeerId) {
        let Some(id) = self.index.room_of(peer) else { return };
        if let Some(room) = self.rooms.get_mut(&id) {
            room.give_up(now, peer);
            self.publish(now, id);
        }
    }

    fn act(&mut self, now: Micros, id: RoomId, peer: PeerId, link: Attachment, act: RoomAction) -> Reply {
        let room = self.rooms.get_mut(&id).and_then(|room| Some((room.reservation_of(peer)?.link, room)));
        let Some((seat_link, room)) = room else {
            return Reply::Rejected(Rejection::new(RejectionCode::NotInRoom, "you are not in that room"));
        };
        if seat_link != Some(link) {
            let text = "another connection has this seat";
            return Reply::Rejected(Rejection::new(RejectionCode::Replaced, text));
        }
        let reported_round = match &act {
            RoomAction::Report(report) => Some(report.round),
            _ => None,
        };
        if let Err(refusal) = room.act(now, &self.rules, peer, act) {
            return Reply::Rejected(refusal);
        }
        let verdict = reported_round.map(|round| room.verdict(round));
        self.publish(now, id);
        Reply::Done { room: self.copy(id), verdict }
    }

    /// Whoever left and looks for others does not come back.
    fn forget_stepped_out(&mut self, now: Micros, peer: PeerId) {
        let room = self.index.room_of(peer).and_then(|id| self.rooms.get(&id));
        if room.is_some_and(|room| room.has_stepped_out(peer)) {
            self.leave_for_another(now, peer);
        }
    }

    fn check_newcomer(&self, newcomer: &JoinRequest, link: Attachment) -> Result<(), Rejection> {
        if !self.is_alive(link) {
            return Err(node_out_of_date());
        }
        let seat =
            self.room_of(newcomer.peer).and_then(|room| Some((room, room.reservation_of(newcomer.peer)?)));
        match seat {
            // Whoever left and wants to be somewhere else does not come back.
            Some((_, seat)) if seat.stepped_out => {}
            Some((_, seat)) if newcomer.switch && seat.link == Some(link) => {}
            Some(_) if newcomer.switch => {
                return Err(Rejection::new(RejectionCode::Replaced, "another connection has this seat"));
            }
            Some((room, _)) => {
                let text = format!("you are in room {}", room.view().code);
                return Err(Rejection::new(RejectionCode::AlreadyInRoom, text));
            }
            None => {}
        }
        // Whoever has signed in since has it under another name.
        let kept = self.index.seats_of(newcomer.player).saturating_sub(usize::from(seat.is_some()));
        if kept >= self.rules.rooms_per_player_max {
            let text = format!("you have {} seats in rooms already", self.rules.rooms_per_player_max);
            return Err(Rejection::new(RejectionCode::TooMany, text));
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one request")]
    fn detach(
        &mut self,
        now: Micros,
        room: RoomId,
        peer: PeerId,
        link: Attachment,
        next_signal: u64,
        got: Option<u64>,
        mail: Vec<QueuedSignal>,
    ) -> Reply {
        let Some(known) = self.rooms.get_mut(&room) else { return Reply::Accepted };
        if known.reservation_of(peer).is_some_and(|seat| seat.link == Some(link)) {
            known.detach(now, peer, link, next_signal, got);
            mail.into_iter().for_each(|mail| self.keep_mail(peer, mail));
            self.publish(now, room);
        }
        Reply::Accepted
    }

    fn keep_mail(&mut self, to: PeerId, mail: QueuedSignal) {
        let mailbox = self.mail.entry(to).or_default();
        mailbox.push_back(mail);
        let bytes = |mailbox: &VecDeque<QueuedSignal>| {
            mailbox.iter().map(|mail| mail.data.as_str().len()).sum::<usize>()
        };
        while mailbox.len() > self.rules.queued_signals_max
            || bytes(mailbox) > self.rules.queued_signal_bytes_max
        {
            mailbox.pop_front();
        }
    }

    /// What waited for somebody who is back. Who comes back anew cannot use what was meant for the
    /// life before.
    fn take_mail(&mut self, peer: PeerId, attached: Attached) -> Vec<QueuedSignal> {
        let mail = self.mail.remove(&peer).unwrap_or_default();
        let is_useful =
            |mail: &QueuedSignal| mail.n.is_none() || matches!(attached, Attached::Resumed { .. });
        mail.into_iter().filter(is_useful).collect()
    }

    /// Tells the nodes what happened in a room, and brings the index up to date.
    fn publish(&mut self, now: Micros, id: RoomId) {
        let Some(room) = self.rooms.get_mut(&id) else { return };
        // However it comes to be open: made so, shown, unlocked, or left by those who filled it.
        if room.is_open() && !self.index.was_open(id) {
            let (founder, network) = room.founder();
            room.set_apart(room.is_mostly_of(network) && self.index.has_share(founder, network));
        }
        let mut nodes = self.index.nodes_of(id);
        let change = room.take_change();
        for record in change.records {
            let is_it = |known: &MatchRecord| (known.room, known.round) == (record.room, record.round);
            if !self.unstored.iter().any(is_it) {
                self.unstored.push_back(record.clone());
            }
            self.records.push_back(record);
        }
        let excess = self.unstored.len().saturating_sub(UNSTORED_MAX);
        self.unstored.drain(..excess);
        for event in &change.events {
            if let RoomUpdate::Left(left) = event {
                self.mail.remove(&left.peer);
            }
        }
        nodes.extend(room.links().map(|(_, link)| link.node));
        if !change.events.is_empty() || !change.links.is_empty() {
            let notice = Notice::Changed {
                room: id,
                version: room.view().version,
                events: change.events,
                links: change.links,
            };
            nodes.iter().for_each(|node| self.notices.push_back((*node, notice.clone())));
        }
        if room.is_over() {
            self.index.forget(id);
            self.rooms.remove(&id);
            self.remember_end(now, id);
        } else {
            self.index.update(room, &self.rules);
        }
    }

    /// A room that ended is not made again from a ticket: who was removed from it would have it
    /// alone.
    fn remember_end(&mut self, now: Micros, id: RoomId) {
        self.ended.push_back((now + self.rules.ticket_ttl, id));
        self.has_ended.insert(id);
        while self.ended.front().is_some_and(|(until, _)| *until <= now) || self.ended.len() > ENDED_MAX {
            if let Some((_, id)) = self.ended.pop_front() {
                self.has_ended.remove(&id);
            }
        }
    }

    fn copy(&self, id: RoomId) -> Option<Box<RoomCopy>> {
        let room = self.rooms.get(&id)?;
        Some(Box::new(RoomCopy { view: room.view().clone(), links: room.links().collect() }))
    }

    /// For somebody who had no seat there a moment ago.
    fn seated_anew(&self, id: RoomId, peer: PeerId, created: bool, returned: bool) -> Reply {
        let inherited = self.rooms.get(&id).map(|room| room.inherited(peer)).unwrap_or_default();
        let (attached, mail) = (Attached::Fresh, Vec::new());
        self.seated(id, JoinedReply { created, returned, inherited, attached, mail })
    }

    fn seated(&self, id: RoomId, seated: JoinedReply) -> Reply {
        match self.copy(id) {
            Some(room) => Reply::Joined { room, seated },
            // What seated somebody has ended the room: one person's bad luck, not everybody's end.
            None => Reply::Rejected(Rejection::new(RejectionCode::NoSuchRoom, "the room was closed")),
        }
    }
}

fn no_such_room() -> Rejection {
    Rejection::new(RejectionCode::NoSuchRoom, "there is no such room")
}

fn too_many_rooms_made() -> Rejection {
    let refusal = Rejection::new(RejectionCode::TooFast, "too many rooms were made from your address lately");
    Rejection { retry_after_ms: Some(10_000), ..refusal }
}

fn too_many_rooms() -> Rejection {
    Rejection::new(RejectionCode::ServerFull, "there are as many rooms as this server can hold")
}

fn no_code_is_free() -> Rejection {
    Rejection::new(RejectionCode::ServerFull, "no room code is free")
}

fn node_out_of_date() -> Rejection {
    Rejection::new(RejectionCode::Unavailable, "this server was out of touch for too long: try again")
}
