//! How people come into a room, vanish, return, and are given up.

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

/// More people than ever leave one match nobody can drop into.
const LEFT_MAX: usize = 128;

/// Whoever leaves sooner has most likely not come into the match.
const PASSING: Micros = Micros::from_secs(2);

/// Where a ticket says that the room is in its life.
fn status_by(claims: &Claims) -> Status {
    match (claims.playing, claims.round) {
        (true, _) => Status::Playing,
        (false, 0) => Status::Waiting,
        (false, _) => Status::Finished,
    }
}

impl Reservation {
    /// Until when it waits for its owner; none while they are there.
    fn kept_until(&self, rules: &Rules) -> Option<Micros> {
        let grace = if self.stepped_out {
            rules.reload_grace.min(rules.reconnect_grace)
        } else {
            rules.reconnect_grace
        };
        self.away_since.map(|since| since + grace)
    }
}

impl Room {
    /// Gives a joiner a seat, or a place to watch from.
    ///
    /// # Errors
    /// If there is none, or they may not have it.
    pub fn enter(
        &mut self,
        now: Micros,
        rules: &Rules,
        joiner: JoinRequest,
        link: Attachment,
    ) -> Result<(), Rejection> {
        let slots = self.seats_if_admitted(rules, &joiner)?;
        self.seat(now, joiner, slots, link, None);
        Ok(())
    }

    /// The seats a joiner would get, none of them to watch.
    ///
    /// # Errors
    /// If there is none, or they may not have it.
    pub(crate) fn seats_if_admitted(
        &self,
        rules: &Rules,
        joiner: &JoinRequest,
    ) -> Result<SlotSet, Rejection> {
        if self.view.member(joiner.peer).is_some() {
            return Err(Rejection::new(RejectionCode::AlreadyInRoom, "you are in this room already"));
        }
        self.check_banned(joiner)?;
        if joiner.watch {
            if self.view.locked {
                return Err(room_locked());
            }
            self.check_watchers(rules)?;
            return Ok(SlotSet::EMPTY);
        }
        match self.objection_to_join(joiner.players) {
            Some(objection) => Err(objection),
            None => Ok(slots::slots_for(&self.view, &self.state.vacated, joiner)
                .expect("a room that takes people in has free seats")),
        }
    }

    /// A room made again from the ticket of its first member to return.
    pub(crate) fn restore(
        now: Micros,
        rules: &Rules,
        claims: &Claims,
        new: NewRoom,
        joiner: JoinRequest,
        link: Attachment,
    ) -> Room {
        let mut room = Room::create(now, new, joiner.clone(), link);
        room.view.members.clear();
        room.seats.clear();
        room.state.cast.clear();
        room.take_epoch(claims);
        room.state.reopened_until = Some(now + rules.reconnect_grace);
        room.state.reopened_by = Some(claims.issued);
        let issued = if claims.host { claims.issued } else { 0 };
        room.state.host_claim = Some(HostClaim { issued, until: now + rules.host_grace });
        let first = claims.slot.unwrap_or(Slot::at(0));
        let slots = slots::slots_from(&room.view, first, joiner.players).unwrap_or(SlotSet::of(first));
        room.seat(now, joiner, slots, link, Some(claims.epoch));
        room.change = super::RoomChange::default();
        room
    }

    /// Seats somebody again whom the room does not know, but who has a ticket for it.
    ///
    /// # Errors
    /// If the ticket is too old, they left a match nobody may drop into, the host has sent them
    /// away or locked the room, or no seat is free.
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
        // Those who were here when the server lost its memory come back past the lock, as long as
        // their seats would have been kept. Whoever comes later has left, or was given up.
        if self.view.locked && !self.is_reopened(now) {
            return Err(room_locked());
        }
        // Whoever said goodbye to a match comes back as a joiner or not at all; whoever was lost
        // just comes back.
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
        // A newer ticket than those the room was made again by: whoever came with an older one may
        // have been sent away since. Only a player's: without players there is no room.
        if claims.epoch > self.view.epoch && plays {
            let outdated = |seat: &Reservation| seat.restored.is_some_and(|epoch| epoch < claims.epoch);
            let outdated: Vec<PeerId> =
                self.seats.iter().filter(|(_, seat)| outdated(seat)).map(|(peer, _)| *peer).collect();
            self.take_epoch(claims);
            self.happen(EpochChanged { epoch: claims.epoch });
            self.happen(self.view.status_change());
            self.seat(now, joiner, slots, link, Some(claims.epoch));
            outdated.into_iter().for_each(|peer| self.remove(now, peer, LeaveReason::Kicked));
        } else {
            self.seat(now, joiner, slots, link, Some(claims.epoch));
        }
        if plays {
            self.believe(now, claims, settings);
            self.give_back_host(now, claims, peer);
        }
        Ok(())
    }

    /// Whether the room was made again lately, and not everybody may be back.
    pub(super) fn is_reopened(&self, now: Micros) -> bool {
        self.state.reopened_until.is_some_and(|until| now < until)
    }

    /// Takes the word of a ticket about who may come and how it is played, if it is the latest one
    /// shown.
    fn believe(&mut self, now: Micros, claims: &Claims, settings: RawJson) {
        let is_latest = self.state.reopened_by.is_some_and(|issued| claims.issued >= issued);
        if !self.is_reopened(now) || !is_latest || claims.epoch < self.view.epoch {
            return;
        }
        self.state.reopened_by = Some(claims.issued);
        let beyond = self.view.occupied_slots().difference(SlotSet::first(claims.seats.into()));
        let seats = if beyond.is_empty() { claims.seats } else { self.view.seats };
        let (locked, private) = (claims.locked, claims.private);
        let matched = self.view.matched && !private;
        let change = AccessChanged { locked, private, seats, matched };
        if self.view.access() != change {
            self.happen(change);
        }
        if (status_by(claims), self.view.status) == (Status::Finished, Status::Playing) {
            self.set_finished(now);
        }
        // Settings that are not the ticket's are nobody's word.
        if self.view.settings != settings && Claims::digest(&settings) == claims.settings {
            self.happen(SettingsChanged { settings });
        }
    }

    /// Whoever comes back first is host, until the one comes back who was.
    fn give_back_host(&mut self, now: Micros, claims: &Claims, peer: PeerId) {
        let claim = self.state.host_claim.filter(|claim| now < claim.until && claims.issued > claim.issued);
        let Some(claim) = claim.filter(|_| claims.host) else { return };
        if self.view.host != peer {
            self.make_host(peer);
        }
        self.state.host_claim = Some(HostClaim { issued: claims.issued, ..claim });
    }

    fn check_watchers(&self, rules: &Rules) -> Result<(), Rejection> {
        if self.view.spectators().count() >= rules.spectators_max {
            return Err(Rejection::new(RejectionCode::RoomFull, "as many as may are watching already"));
        }
        Ok(())
    }

    fn take_epoch(&mut self, claims: &Claims) {
        self.view.epoch = claims.epoch;
        (self.view.round, self.view.seed, self.view.born) = (claims.round, claims.seed, claims.born);
        self.view.locked = claims.locked;
        self.view.status = status_by(claims);
    }

    /// Why so many cannot join as players at the moment, if so.
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

    /// Puts somebody into seats that are known to be free, or into none to watch.
    pub(super) fn seat(
        &mut self,
        now: Micros,
        joiner: JoinRequest,
        slots: SlotSet,
        link: Attachment,
        restored: Option<u32>,
    ) {
        let JoinRequest { peer, player, name, palette, watch: _, players: _, switch: _, source } = joiner;
        let palette = slots::free_palette(&self.view, peer, palette);
        let name = names::distinct_name(&self.view.members, peer, name);
        let order = self.state.next_order;
        self.state.next_order += 1;
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
        self.seats.insert(peer, seat);
        let (slot, also) = (slots.lowest(), slots.iter().skip(1).collect());
        let member =
            Member { peer, player, name, slot, also, palette, ready: false, away: false, resting: false };
        let participant = slot.map(|slot| MatchPlayer {
            peer,
            player,
            name: member.name.clone(),
            slot,
            source,
            since: now,
            // What it won before the server lost its memory is not known.
            first: restored.filter(|_| self.is_reopened(now)).map(|_| Micros::from_millis(self.view.born)),
            kicked_at: None,
        });
        self.happen(Joined { member });
        self.set_link(peer, Some(link));
        // Those who come back by a ticket have played the match that was over when the server lost
        // its memory.
        let plays = matches!(self.view.status, Status::Playing | Status::Starting)
            || (self.view.status == Status::Finished && restored.is_some());
        if plays {
            participant.into_iter().for_each(|participant| self.add_to_cast(participant));
        }
    }

    /// Gives a member its seat on a new connection. `resume` is the connection it had before, as it
    /// says. From now on it counts for the network it returns from; in the match it plays, for the
    /// one it came from, so that two keys of one network do not become two by a change of network.
    ///
    /// # Errors
    /// The connection that has the seat now, if it is another one, alive as far as the room knows,
    /// and may not be displaced.
    pub fn attach(
        &mut self,
        peer: PeerId,
        link: Attachment,
        source: Source,
        resume: Option<ResumeId>,
        displace: Displace,
    ) -> Result<Attached, Attachment> {
        let seat = self.seats.get_mut(&peer).expect("the directory asks a room about its members only");
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
            // One connection right after another at the same node: nothing was lost and nobody
            // needs to know.
            Some(current) if is_same && current.node == link.node => {
                let attached = Attached::Resumed { next_signal: seat.next_signal, got: seat.got };
                seat.source = source;
                self.set_link(peer, Some(link));
                return Ok(attached);
            }
            Some(_) => self.happen(Away { peer, left: false }),
            None => {}
        }
        let seat = self.seats.get_mut(&peer).expect("it was there before");
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
            // Another page has the seat: it says for itself whether its player looks away.
            self.set_resting(peer, None);
        }
        Ok(attached)
    }

    /// Notes that a connection is lost. A connection that had been replaced before does not matter.
    pub fn detach(
        &mut self,
        now: Micros,
        peer: PeerId,
        link: Attachment,
        next_signal: u64,
        got: Option<u64>,
    ) {
        let Some(seat) = self.seats.get_mut(&peer).filter(|seat| seat.link == Some(link)) else { return };
        (seat.next_signal, seat.got) = (next_signal, got);
        seat.away_since = Some(now);
        self.set_link(peer, None);
        self.happen(Away { peer, left: false });
    }

    /// Keeps the seat of somebody who goes and may be back in a moment. Who only watches has none
    /// to be kept.
    pub(super) fn step_out(&mut self, now: Micros, peer: PeerId) {
        let plays = self.view.member(peer).is_some_and(|member| member.slot.is_some());
        match self.seats.get_mut(&peer).filter(|_| plays) {
            Some(seat) => {
                (seat.away_since, seat.stepped_out) = (Some(now), true);
                self.set_link(peer, None);
                self.happen(Away { peer, left: true });
            }
            None => self.remove(now, peer, LeaveReason::Left),
        }
    }

    /// Whether somebody has left and might have come back: as a member still, but not as one who
    /// plays elsewhere.
    pub(crate) fn has_stepped_out(&self, peer: PeerId) -> bool {
        self.seats.get(&peer).is_some_and(|seat| seat.stepped_out)
    }

    /// Somebody goes for good, also who stepped out and does not come back.
    pub(crate) fn give_up(&mut self, now: Micros, peer: PeerId) {
        self.remember_leaving(peer);
        self.remove(now, peer, LeaveReason::Left);
    }

    /// Notes that a node is gone with everybody's connection on it. Their signals in flight are
    /// lost.
    pub fn expire_node(&mut self, now: Micros, node: NodeId, epoch: u32) {
        let on_node = |link: Attachment| link.node == node && link.epoch <= epoch;
        let lost: Vec<PeerId> =
            self.links().filter(|(_, link)| on_node(*link)).map(|(peer, _)| peer).collect();
        for peer in lost {
            let seat = self.seats.get_mut(&peer).expect("it was there before");
            seat.away_since = Some(now);
            // No next connection can be the one after this one as far as signals go.
            seat.session = ResumeId(0);
            self.set_link(peer, None);
            self.happen(Away { peer, left: false });
        }
    }

    /// When [`Room::expire`] has something to do.
    pub fn deadline(&self, rules: &Rules) -> Option<Micros> {
        let seats = self.seats.values().filter_map(|seat| seat.kept_until(rules));
        let host = self.host_gives_way_at(rules);
        let start = self.view.starts_at.map(Micros::from_millis);
        let report = self.state.counted_at.map(|at| at + rules.report_timeout);
        let finish = self.state.finished_at.map(|at| at + rules.finished_ttl);
        let reopened = self.state.reopened_until;
        seats.chain(host).chain(start).chain(report).chain(finish).chain(reopened).min()
    }

    /// Does what time alone brings about: gives up those who are away too long, moves the host on,
    /// starts a match whose countdown is over, decides a result nobody else will report, closes a
    /// room that is over.
    pub fn expire(&mut self, now: Micros, rules: &Rules) {
        if self.state.reopened_until.is_some_and(|until| until <= now) {
            self.state.reopened_until = None;
            self.settle_if_complete(now);
        }
        if self.state.counted_at.is_some_and(|at| at + rules.report_timeout <= now) {
            self.settle_if_enough(now);
        }
        if self.view.starts_at.is_some_and(|at| Micros::from_millis(at) <= now) {
            let mut change = self.view.status_change();
            (change.status, change.starts_at) = (Status::Playing, None);
            self.happen(change);
        }
        let given_up = |seat: &Reservation| seat.kept_until(rules).is_some_and(|until| until <= now);
        let given_up: Vec<PeerId> =
            self.seats.iter().filter(|(_, seat)| given_up(seat)).map(|(peer, _)| *peer).collect();
        for peer in given_up {
            // Taking the last player out may have closed the room meanwhile.
            match self.seats.get(&peer).map(|seat| seat.stepped_out) {
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

    /// Notes that a member's slots become free. A player who leaves that soon has most likely not
    /// come into the match.
    pub(super) fn note_freed_slots(&mut self, now: Micros, peer: PeerId) {
        let Some(member) = self.view.member(peer) else { return };
        let part = self.state.cast.iter().find(|known| known.peer == peer);
        let passed_by = part.is_some_and(|part| now.since(part.since) < PASSING);
        slots::note_freed(&mut self.state.vacated, now, member, passed_by);
    }

    /// Those of a member's slots that were another player's last.
    pub(crate) fn inherited(&self, peer: PeerId) -> Vec<Slot> {
        let member = self.view.member(peer);
        member.map(|member| slots::reused(&self.state.vacated, member)).unwrap_or_default()
    }

    /// Notes that somebody who plays goes and could not come as a joiner. Only those who were
    /// there at the start can, so there are never many of them; should there be, the earliest are
    /// forgotten.
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
    Rejection::new(RejectionCode::RoomFull, "no seat is free in this room")
}
