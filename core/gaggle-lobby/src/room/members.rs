//! Members of a room: joining, losing and resuming connections, removal.
//!
//! Called by the directory. Absent: which room a peer joins (`directory/joining.rs`), votes and
//! host rights (`roles.rs`).

use gaggle_kit::{Micros, PeerId, Slot, SlotSet};

use super::{
    Attached, Attachment, Displace, HostClaim, JoinRequest, NewRoom, Reservation, Room, Source, names, slots,
};
use crate::id::{NodeId, ResumeId};
use crate::message::{Rejection, RejectionCode};
use crate::players::LocalPlayers;
use crate::results::MatchPlayer;
use crate::rules::Rules;
use crate::ticket::Claims;
use crate::view::{
    AccessChanged, Away, EpochChanged, Joined, LeaveReason, Member, RawJson, Returned, SettingsChanged,
    Status,
};

/// Departures remembered per match without drop-in; more than such a match has.
const LEFT_MAX: usize = 128;

/// A player who leaves sooner than this has most likely not reached the match.
const PASSING: Micros = Micros::from_secs(2);

/// Status of the room according to a ticket.
fn status_by(claims: &Claims) -> Status {
    match (claims.flags.playing, claims.round) {
        (true, _) => Status::Playing,
        (false, 0) => Status::Waiting,
        (false, _) => Status::Finished,
    }
}

impl Room {
    /// Adds a joiner as player or spectator.
    ///
    /// # Errors
    /// If the room is full or does not admit it.
    pub fn enter(
        &mut self,
        now: Micros,
        rules: &Rules,
        joiner: JoinRequest,
        link: Attachment,
    ) -> Result<(), Rejection> {
        let slots = self.slots_if_admitted(rules, &joiner)?;
        self.reserve(now, joiner, slots, link, None);
        Ok(())
    }

    /// Slots a joiner would get; none for a spectator.
    ///
    /// # Errors
    /// If the room is full or does not admit it.
    pub(crate) fn slots_if_admitted(
        &self,
        rules: &Rules,
        joiner: &JoinRequest,
    ) -> Result<SlotSet, Rejection> {
        if self.view.member(joiner.peer).is_some() {
            return Err(Rejection::new(RejectionCode::AlreadyInRoom, "you are in this room already"));
        }
        self.check_banned(joiner)?;
        if joiner.spectate {
            if self.view.locked {
                return Err(room_locked());
            }
            self.check_watchers(rules)?;
            return Ok(SlotSet::EMPTY);
        }
        match self.objection_to_join(joiner.players) {
            Some(objection) => Err(objection),
            None => Ok(slots::slots_for(&self.view, &self.state.vacated, joiner)
                .expect("an admitting room has free slots")),
        }
    }

    /// Restores a room from the ticket of its first member to return, if it has such slots.
    pub(crate) fn restore(
        now: Micros,
        rules: &Rules,
        claims: &Claims,
        new: NewRoom,
        joiner: JoinRequest,
        link: Attachment,
    ) -> Result<Room, Rejection> {
        let mut room = Room::create(now, new, joiner.clone(), link);
        room.view.members.clear();
        room.reservations.clear();
        room.results.begin(Vec::new());
        room.take_epoch(claims);
        room.state.reopened_until = Some(now + rules.reconnect_grace);
        room.state.reopened_by = Some(claims.issued);
        let issued = if claims.flags.host { claims.issued } else { 0 };
        room.state.host_claim = Some(HostClaim { issued, until: now + rules.host_grace });
        let slots = claims.slot.and_then(|first| slots::slots_from(&room.view, first, joiner.players));
        let slots = slots.ok_or_else(room_full)?;
        room.reserve(now, joiner, slots, link, Some(claims.epoch));
        room.change = super::RoomChange::default();
        Ok(room)
    }

    /// Adds a member by its ticket after the room lost it.
    ///
    /// # Errors
    /// If the ticket is too old, the member left a match without drop-in, was removed by the host,
    /// the room is locked, or no slot is free.
    pub fn restore_member(
        &mut self,
        now: Micros,
        rules: &Rules,
        (claims, settings): (&Claims, RawJson),
        joiner: JoinRequest,
        link: Attachment,
    ) -> Result<(), Rejection> {
        claims
            .admit(self.view.id, self.view.epoch)
            .map_err(|error| Rejection::new(RejectionCode::BadTicket, error.to_string()))?;
        self.check_banned(&joiner)?;
        // Members from before the server lost its memory pass the lock while their reservations
        // would have been kept. Later ones had left or were removed.
        if self.view.locked && !self.is_reopened(now) {
            return Err(room_locked());
        }
        // A player who left a match returns as a joiner or not at all; one whose connection was
        // lost resumes.
        if claims.slot.is_some()
            && self.state.left.contains(&joiner.peer)
            && let Some(objection) = self.objection_to_join(joiner.players)
        {
            return Err(objection);
        }
        let slots = match claims.slot {
            None => {
                self.check_watchers(rules)?;
                SlotSet::EMPTY
            }
            Some(slot) => {
                let own = slots::slots_from(&self.view, slot, joiner.players);
                own.or_else(|| slots::slots_for(&self.view, &self.state.vacated, &joiner))
                    .ok_or_else(room_full)?
            }
        };
        let (peer, plays) = (joiner.peer, !slots.is_empty());
        // A newer ticket than the one the room was restored from: a member with an older one may
        // have been removed since. Only a player's counts: a room needs players.
        if claims.epoch > self.view.epoch && plays {
            let outdated = |seat: &Reservation| seat.restored.is_some_and(|epoch| epoch < claims.epoch);
            let outdated: Vec<PeerId> =
                self.reservations.iter().filter(|(_, seat)| outdated(seat)).map(|(peer, _)| *peer).collect();
            self.take_epoch(claims);
            self.happen(EpochChanged { epoch: claims.epoch });
            self.happen(self.view.status_change());
            self.reserve(now, joiner, slots, link, Some(claims.epoch));
            outdated.into_iter().for_each(|peer| self.remove(now, peer, LeaveReason::Kicked));
        } else {
            self.reserve(now, joiner, slots, link, Some(claims.epoch));
        }
        if plays {
            self.believe(now, claims, settings);
            self.give_back_host(now, claims, peer);
        }
        Ok(())
    }

    /// Whether the room was restored lately, so that members may be missing.
    pub(super) fn is_reopened(&self, now: Micros) -> bool {
        self.state.reopened_until.is_some_and(|until| now < until)
    }

    /// Takes lock and settings from a ticket, if it is the latest one shown.
    fn believe(&mut self, now: Micros, claims: &Claims, settings: RawJson) {
        let is_latest = self.state.reopened_by.is_some_and(|issued| claims.issued >= issued);
        if !self.is_reopened(now) || !is_latest || claims.epoch < self.view.epoch {
            return;
        }
        self.state.reopened_by = Some(claims.issued);
        let beyond = self.view.occupied_slots().difference(SlotSet::first(claims.max_players.into()));
        let max_players = if beyond.is_empty() { claims.max_players } else { self.view.max_players };
        let (locked, private) = (claims.flags.locked, claims.flags.private);
        let matched = self.view.matched && !private;
        let change = AccessChanged { locked, private, max_players, matched };
        if self.view.access() != change {
            self.happen(change);
        }
        if (status_by(claims), self.view.status) == (Status::Finished, Status::Playing) {
            self.set_finished(now);
        }
        // Settings that the ticket was not signed with are ignored.
        if self.view.settings != settings && Claims::digest(&settings) == claims.settings {
            self.happen(SettingsChanged { settings });
        }
    }

    /// Makes the first member to return host, until the previous host returns.
    fn give_back_host(&mut self, now: Micros, claims: &Claims, peer: PeerId) {
        let claim = self.state.host_claim.filter(|claim| now < claim.until && claims.issued > claim.issued);
        let Some(claim) = claim.filter(|_| claims.flags.host) else { return };
        if self.view.host != peer {
            self.make_host(peer);
        }
        self.state.host_claim = Some(HostClaim { issued: claims.issued, ..claim });
    }

    fn check_watchers(&self, rules: &Rules) -> Result<(), Rejection> {
        if self.view.spectators().count() >= rules.spectators_max {
            return Err(Rejection::new(
                RejectionCode::RoomFull,
                "the room has as many spectators as \
             it admits",
            ));
        }
        Ok(())
    }

    fn take_epoch(&mut self, claims: &Claims) {
        self.view.epoch = claims.epoch;
        (self.view.round, self.view.seed, self.view.match_started_at) =
            (claims.round, claims.seed, claims.match_started_at);
        self.view.locked = claims.flags.locked;
        self.view.status = status_by(claims);
    }

    /// Reason why this many players cannot join at the moment, if there is one.
    pub(super) fn objection_to_join(&self, players: LocalPlayers) -> Option<Rejection> {
        let refuse = |code, text: &str| Some(Rejection::new(code, text));
        if self.view.locked {
            Some(room_locked())
        } else if self.view.free_slots() < players.count() {
            Some(room_full())
        } else {
            match (self.view.drop_in, self.view.status) {
                (_, Status::Waiting) | (true, _) => None,
                (false, Status::Finished) => refuse(RejectionCode::RoomFinished, "the match is over"),
                (false, _) => refuse(RejectionCode::RoomStarted, "the match has started"),
            }
        }
    }

    /// Adds a member to slots known to be free, or as spectator.
    pub(super) fn reserve(
        &mut self,
        now: Micros,
        joiner: JoinRequest,
        slots: SlotSet,
        link: Attachment,
        restored: Option<u32>,
    ) {
        let JoinRequest { peer, player, name, preferred_slot, source, .. } = joiner;
        let palette = slots::free_palette(&self.view, peer, preferred_slot);
        let name = names::distinct_name(&self.view.members, peer, name);
        let order = self.next_order;
        self.next_order += 1;
        let seat = Reservation {
            source,
            link: None,
            session: link.session,
            away_since: None,
            stepped_out: false,
            resting_since: None,
            order,
            next_signal: 1,
            got: None,
            restored,
        };
        self.reservations.insert(peer, seat);
        let (slot, extra_slots) = (slots.lowest(), slots.iter().skip(1).collect());
        let member = Member {
            peer,
            player,
            name,
            slot,
            extra_slots,
            palette,
            ready: false,
            away: false,
            resting: false,
        };
        let participant = slot.map(|slot| MatchPlayer {
            peer,
            player,
            name: member.name.clone(),
            slot,
            source,
            since: now,
            // What it won before the server lost its memory is unknown.
            first: restored
                .filter(|_| self.is_reopened(now))
                .map(|_| Micros::from_millis(self.view.match_started_at)),
            kicked_at: None,
        });
        self.happen(Joined { member });
        self.set_link(peer, Some(link));
        // Members restored by ticket took part in the match that had ended by then.
        let plays = matches!(self.view.status, Status::Playing | Status::Starting)
            || (self.view.status == Status::Finished && restored.is_some());
        if plays {
            participant.into_iter().for_each(|participant| self.results.add_player(&self.view, participant));
        }
    }

    /// Attaches a member to a new connection. `resume` is the connection it had before, as it
    /// claims. Its network changes to that of the new connection; in the match it keeps the one it
    /// joined from, so that two keys of one network do not become two votes by changing networks.
    ///
    /// # Errors
    /// The current connection, if it is another one, alive as far as the room knows, and may not be
    /// displaced.
    pub fn attach(
        &mut self,
        peer: PeerId,
        link: Attachment,
        source: Source,
        resume: Option<ResumeId>,
        displace: Displace,
    ) -> Result<Attached, Attachment> {
        let seat = self.reservations.get_mut(&peer).expect("the directory passes members only");
        if seat.link == Some(link) {
            return Ok(Attached::Fresh);
        }
        let is_same = resume == Some(seat.session);
        let yields = |current: Attachment| match displace {
            Displace::Never => false,
            Displace::OnlyFrom(session) => current.session == session,
            Displace::Always => true,
        };
        match seat.link {
            Some(current) if !is_same && !yields(current) => return Err(current),
            // Two connections in a row at one node: nothing was lost, other members need not know.
            Some(current) if is_same && current.node == link.node => {
                let attached = Attached::Resumed { next_signal: seat.next_signal, got: seat.got };
                seat.source = source;
                self.set_link(peer, Some(link));
                return Ok(attached);
            }
            Some(_) => self.happen(Away { peer, intentional: false }),
            None => {}
        }
        let seat = self.reservations.get_mut(&peer).expect("the reservation exists");
        let attached = if is_same && seat.link.is_none() {
            Attached::Resumed { next_signal: seat.next_signal, got: seat.got }
        } else {
            seat.next_signal = 1;
            seat.got = None;
            Attached::Fresh
        };
        (seat.away_since, seat.stepped_out) = (None, false);
        seat.source = source;
        self.set_link(peer, Some(link));
        self.happen(Returned { peer });
        if attached == Attached::Fresh {
            // Another page has the reservation now and says itself whether its player is away.
            self.set_resting(peer, None);
        }
        Ok(attached)
    }

    /// Records that a connection is lost. Ignores one that was replaced before.
    pub fn detach(
        &mut self,
        now: Micros,
        peer: PeerId,
        link: Attachment,
        next_signal: u64,
        got: Option<u64>,
    ) {
        let Some(seat) = self.reservations.get_mut(&peer).filter(|seat| seat.link == Some(link)) else {
            return;
        };
        (seat.next_signal, seat.got) = (next_signal, got);
        seat.away_since = Some(now);
        self.set_link(peer, None);
        self.happen(Away { peer, intentional: false });
    }

    /// Keeps the reservation of a member that leaves and may return. A spectator has none.
    pub(super) fn step_out(&mut self, now: Micros, peer: PeerId) {
        let plays = self.view.member(peer).is_some_and(|member| member.slot.is_some());
        match self.reservations.get_mut(&peer).filter(|_| plays) {
            Some(seat) => {
                (seat.away_since, seat.stepped_out) = (Some(now), true);
                self.set_link(peer, None);
                self.happen(Away { peer, intentional: true });
            }
            None => self.remove(now, peer, LeaveReason::Left),
        }
    }

    /// Whether a peer has left and may return, still as a member and in no other room.
    pub(crate) fn has_stepped_out(&self, peer: PeerId) -> bool {
        self.reservations.get(&peer).is_some_and(|seat| seat.stepped_out)
    }

    /// Removes a member for good, also one that left and did not return.
    pub(crate) fn give_up(&mut self, now: Micros, peer: PeerId) {
        self.remember_leaving(peer);
        self.remove(now, peer, LeaveReason::Left);
    }

    /// Detaches all members of a lost node. Their signals in flight are lost.
    pub fn expire_node(&mut self, now: Micros, node: NodeId, epoch: u32) {
        let on_node = |link: Attachment| link.node == node && link.epoch <= epoch;
        let lost: Vec<PeerId> =
            self.links().filter(|(_, link)| on_node(*link)).map(|(peer, _)| peer).collect();
        for peer in lost {
            let seat = self.reservations.get_mut(&peer).expect("the reservation exists");
            seat.away_since = Some(now);
            // No next connection can continue its signals.
            seat.session = ResumeId(0);
            self.set_link(peer, None);
            self.happen(Away { peer, intentional: false });
        }
    }

    /// When [`Room::expire`] is due.
    pub fn deadline(&self, rules: &Rules) -> Option<Micros> {
        let kept = self.reservations.values().filter_map(|seat| seat.kept_until(rules));
        let host = self.host_gives_way_at(rules);
        let start = self.view.starts_at.map(Micros::from_millis);
        let report = self.results.due(rules.report_timeout);
        let finish = self.state.finished_at.map(|at| at + rules.finished_ttl);
        let reopened = self.state.reopened_until;
        kept.chain(host).chain(start).chain(report).chain(finish).chain(reopened).min()
    }

    /// Performs what is due: removes members away too long, changes the host, starts a match after
    /// its countdown, decides a result, closes the room.
    pub fn expire(&mut self, now: Micros, rules: &Rules) {
        if self.state.reopened_until.is_some_and(|until| until <= now) {
            self.state.reopened_until = None;
            self.decide_if_complete(now);
        }
        if self.results.due(rules.report_timeout).is_some_and(|at| at <= now) {
            self.decide_if_enough(now);
        }
        if self.view.starts_at.is_some_and(|at| Micros::from_millis(at) <= now) {
            let mut change = self.view.status_change();
            (change.status, change.starts_at) = (Status::Playing, None);
            self.happen(change);
        }
        let given_up = |seat: &Reservation| seat.kept_until(rules).is_some_and(|until| until <= now);
        let given_up: Vec<PeerId> =
            self.reservations.iter().filter(|(_, seat)| given_up(seat)).map(|(peer, _)| *peer).collect();
        for peer in given_up {
            // Removing the last player may have closed the room.
            match self.reservations.get(&peer).map(|seat| seat.stepped_out) {
                Some(true) => self.give_up(now, peer),
                Some(false) => self.remove(now, peer, LeaveReason::ConnectionLost),
                None => {}
            }
        }
        if self.host_gives_way_at(rules).is_some_and(|at| at <= now)
            && let Some(peer) = self.successor(|member| !member.away)
        {
            self.make_host(peer);
        }
        if self.state.finished_at.is_some_and(|at| at + rules.finished_ttl <= now) {
            self.close(now);
        }
    }

    /// Records that a member's slots become free. A player who leaves very soon has most likely not
    /// reached the match.
    pub(super) fn note_freed_slots(&mut self, now: Micros, peer: PeerId) {
        let Some(member) = self.view.member(peer) else { return };
        let part = self.results.player(peer);
        let passed_by = part.is_some_and(|part| now.since(part.since) < PASSING);
        slots::note_freed(&mut self.state.vacated, now, member, passed_by);
    }

    /// Slots of a member that another player had before.
    pub(crate) fn reused_slots(&self, peer: PeerId) -> Vec<Slot> {
        let member = self.view.member(peer);
        member.map(|member| slots::reused(&self.state.vacated, member)).unwrap_or_default()
    }

    /// Remembers a player that leaves and could not rejoin as a joiner. Only players from the start
    /// can, so there are few; beyond the limit the oldest is dropped.
    pub(super) fn remember_leaving(&mut self, peer: PeerId) {
        let is_shut = !self.view.drop_in && self.view.status != Status::Waiting;
        let plays = self.view.member(peer).is_some_and(|member| member.slot.is_some());
        if is_shut && plays && !self.state.left.contains(&peer) {
            self.state.left.push(peer);
            let excess = self.state.left.len().saturating_sub(LEFT_MAX);
            self.state.left.drain(..excess);
        }
    }
}

fn room_locked() -> Rejection {
    Rejection::new(RejectionCode::RoomLocked, "the host has locked this room")
}

fn room_full() -> Rejection {
    Rejection::new(RejectionCode::RoomFull, "no slot is free in this room")
}
