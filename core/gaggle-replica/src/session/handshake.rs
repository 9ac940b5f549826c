//! Who is present: links that start and end, and what both sides say about themselves. `seniority.rs` has what of it is believed.

use gaggle_kit::{Micros, PeerId};

use super::{Parted, Session};
use crate::ablation::Rule;
use crate::event::{PeerFault, RejectReason, SessionEvent};
use crate::link::{NONE, Peer};
use crate::message::{Hello, Message, NUMBER_NONE, PROTOCOL_VERSION};
use crate::roster::RosterMember;
use crate::store::{Object, ObjectIndex};
use crate::{ObjectId, Player};

/// If only newcomers are met for so long, one of them founds the session.
const FOUND_AFTER: Micros = Micros::from_secs(1);
/// So often a peer may start anew in one link; every time costs us a look at everything.
const RESTARTS_MAX: u32 = 16;
/// So often a peer is answered in one start of a link that it does not know our epoch: once or twice is honest.
const ANSWERED_MAX: u32 = 32;
/// Peers somebody vouched for.
const VOUCHED_MAX: usize = 1_024;
/// Members we remember to have left.
const PARTED_MAX: usize = 256;
/// Whoever has nothing to tell says so every second: somebody of whom so long nothing is heard may be in trouble.
const INTERRUPTED_AFTER: Micros = Micros::from_millis(2_200);

impl Session {
    /// A link to a peer is up: we say who we are.
    pub fn handle_connected(&mut self, now: Micros, peer: PeerId) {
        self.note_now(now);
        self.renew_link(peer);
    }

    /// A link starts, anew if there was one.
    pub(super) fn renew_link(&mut self, peer: PeerId) {
        if self.links.iter().any(|link| link.peer == peer) {
            self.end_link(peer);
        }
        self.epoch = self.epoch.wrapping_add(1).max(1);
        let mut link = Peer::new(peer, self.epoch, self.store.places(), self.config.send_interval);
        link.brought = self.brought_by(peer);
        self.links.push(link);
        self.handshake(self.links.len() - 1);
    }

    /// How many of the objects we know a peer told of first: starting anew does not make them fewer.
    fn brought_by(&self, peer: PeerId) -> usize {
        let known = |&(place, object): &(ObjectIndex, &Object)| {
            object.brought_by == Some(peer) && self.store.find(object.id) == Some(place)
        };
        self.store.iter().filter(known).count()
    }

    /// The link to a peer ended: it is not present any more.
    pub fn handle_disconnected(&mut self, now: Micros, peer: PeerId) {
        self.note_now(now);
        self.end_link(peer);
    }

    /// A peer said that it goes: it is not present any more.
    pub fn handle_leaving(&mut self, now: Micros, peer: PeerId) {
        self.note_now(now);
        if let Some(link) = self.link_of(peer) {
            self.links[link].goodbye = true;
        }
        self.end_link(peer);
    }

    /// Says which player a peer is, if the caller knows, for instance from a ticket. If the peer says something
    /// else it is refused, and so is anybody else who says it is that player.
    pub fn vouch(&mut self, peer: PeerId, player: Player) {
        self.identities.retain(|(other, known)| *other != peer && *known != Some(player));
        self.note_vouched(peer, Some(player));
        let present = self.link_of(peer).and_then(|link| self.links[link].present);
        if let Some(present) = present.filter(|present| present.slot != player) {
            let reason = RejectReason::SlotMismatch { said: present.slot, is: player };
            self.events.push(SessionEvent::Rejected { peer, reason });
            self.refuse(peer);
        }
    }

    /// Says that a peer may only look on, if the caller knows. If it says it is a member it is refused.
    pub fn vouch_onlooker(&mut self, peer: PeerId) {
        self.identities.retain(|(other, _)| *other != peer);
        self.note_vouched(peer, None);
        let link = self.link_of(peer).map(|link| &self.links[link]);
        if link.is_some_and(|link| link.present.is_some() && !link.spectator) {
            self.events.push(SessionEvent::Rejected { peer, reason: RejectReason::NotAPlayer });
            self.refuse(peer);
        }
    }

    fn note_vouched(&mut self, peer: PeerId, player: Option<Player>) {
        if self.identities.len() == VOUCHED_MAX {
            self.identities.remove(0);
        }
        self.identities.push((peer, player));
    }

    /// A message of the reliable channel arrived.
    pub fn handle_message(&mut self, now: Micros, peer: PeerId, bytes: &[u8]) {
        self.note_now(now);
        let Some(link) = self.link_of(peer) else { return };
        let message = Message::decode(bytes);
        let asks = |message: &Message<'_>| {
            matches!(
                message,
                Message::Hello(_) | Message::Ask(_) | Message::BlobAsk(_) | Message::BlobMissing(_)
            )
        };
        if self.links[link].spectator && message.as_ref().is_ok_and(|message| !asks(message)) {
            return self.fault(peer, PeerFault::SpectatorWrote);
        }
        match message {
            Ok(Message::Hello(hello)) => self.handle_hello(link, &hello),
            Ok(Message::Forgotten(id)) => self.handle_forgotten(link, id),
            Ok(Message::Ask(id)) => self.handle_ask(link, id),
            Ok(Message::RemoteEvent(signal)) => self.handle_signal(link, &signal, false),
            Ok(Message::EventRequest(signal)) => self.handle_signal(link, &signal, true),
            Ok(Message::Verdict { number, granted }) => self.handle_verdict(link, number, granted),
            Ok(Message::Value(value)) => self.handle_value(link, &value),
            Ok(Message::BlobAsk(blob)) => self.handle_blob_ask(link, blob),
            Ok(Message::BlobMissing(blob)) => self.handle_blob_missing(link, blob),
            Ok(Message::BlobPiece(piece)) => self.handle_piece(link, &piece),
            Err(error) => self.fault(peer, PeerFault::Malformed(error)),
        }
    }

    fn handle_hello(&mut self, index: usize, hello: &Hello) {
        let peer = self.links[index].peer;
        if let Some(reason) = self.objection(peer, hello) {
            self.events.push(SessionEvent::Rejected { peer, reason });
            self.refuse(peer);
            return;
        }
        let known = self.links[index].their_epoch;
        if known != 0 && known != hello.epoch {
            if self.links[index].restarts >= RESTARTS_MAX {
                return self.fault(peer, PeerFault::TooManyRestarts { max: RESTARTS_MAX });
            }
            // It started anew without our noticing: nothing told before counts, in either direction.
            let gone = self.links[index].present.filter(|_| !self.links[index].spectator);
            let unheard = self.links[index].unheard();
            self.release_link(index);
            self.links[index].restart(self.store.places(), self.config.send_interval);
            self.links[index].brought = self.brought_by(peer);
            self.leave(peer, gone, false, unheard);
        }
        let link = &mut self.links[index];
        if link.their_epoch == 0 {
            link.their_epoch = hello.epoch;
            link.their_tick = hello.tick;
            link.their_tag = hello.member.tag;
            let most = u32::try_from(self.config.objects_per_peer_max).unwrap_or(u32::MAX);
            link.announced = hello.objects.min(most);
            link.greeted_at = self.now;
        }
        if self.is_doubted_by(index, hello) {
            return self.stand_down(peer, hello.highest);
        }
        self.regard(index, hello);
        let is_member = hello.member.join_order != NUMBER_NONE;
        match self.links[index].present {
            Some(present) if present.id != hello.member || present.slot != hello.player => {
                self.fault(peer, PeerFault::IdentityChanged);
                return;
            }
            Some(present) if hello.echo == self.links[index].epoch && !self.links[index].spectator => {
                self.note_met(present.id, peer, true);
            }
            None if is_member && !self.is_believable(index, hello.member) => return self.doubt(index),
            None if is_member => self.welcome(index, hello),
            None if hello.spectator => self.seat_onlooker(index, hello),
            _ => {}
        }
        if is_member && !self.is_member() && !self.spectator && self.is_let_in_by(peer) {
            self.admit(self.highest.saturating_add(1));
        } else if let Some(index) = self.link_of(peer).filter(|&index| hello.echo != self.links[index].epoch)
        {
            self.links[index].answered += 1;
            if self.links[index].answered > ANSWERED_MAX {
                return self.fault(peer, PeerFault::TooManyRestarts { max: ANSWERED_MAX });
            }
            // What it said before it can have heard of us is answered once, whatever of that is still on its way: it would take the
            // same words again and again for insisting.
            if self.links[index].greeted != hello.epoch {
                self.handshake(index);
            }
        }
    }

    fn objection(&self, peer: PeerId, hello: &Hello) -> Option<RejectReason> {
        if hello.version != PROTOCOL_VERSION {
            return Some(RejectReason::Version { ours: PROTOCOL_VERSION, theirs: hello.version });
        }
        if hello.fingerprint != self.fingerprint {
            return Some(self.difference(hello));
        }
        let vouched = self.identities.iter().find(|(other, _)| *other == peer);
        match vouched {
            _ if hello.spectator => {}
            Some((_, Some(player))) if *player != hello.player => {
                return Some(RejectReason::SlotMismatch { said: hello.player, is: *player });
            }
            Some((_, None)) => return Some(RejectReason::NotAPlayer),
            None if self.identities.iter().any(|(_, player)| *player == Some(hello.player)) => {
                return Some(RejectReason::TagTaken);
            }
            _ => {}
        }
        self.is_name_of_another(hello.member.tag, peer).then_some(RejectReason::TagTaken)
    }

    /// What somebody means something else by.
    fn difference(&self, hello: &Hello) -> RejectReason {
        let ours = &self.parts;
        let not_theirs = ours.iter().find(|(_, hash)| !hello.parts.contains(hash));
        // The same in another order.
        let elsewhere = || ours.iter().zip(&hello.parts).find(|((_, ours), theirs)| ours != *theirs);
        match not_theirs.or_else(|| elsewhere().map(|(part, _)| part)) {
            Some(&(part, _)) if !hello.parts.is_empty() => RejectReason::SchemaMismatch { part },
            _ => RejectReason::Game { ours: self.fingerprint, theirs: hello.fingerprint },
        }
    }

    /// A member at the other end of a link.
    fn welcome(&mut self, index: usize, hello: &Hello) {
        let present = RosterMember { id: hello.member, slot: hello.player };
        self.highest = self.highest.max(present.id.join_order);
        let link = &mut self.links[index];
        link.present = Some(present);
        link.heard_at = self.now;
        link.welcomed_at = self.now;
        let peer = link.peer;
        self.roster.insert(present);
        self.events.push(SessionEvent::Joined { player: present.slot, peer });
        // Said before this start of the link it may not be so any more.
        let still = hello.echo == self.links[index].epoch;
        let first = self.note_met(present.id, peer, still);
        let blank = (hello.blank && first && still) || !self.ablation.holds(Rule::TombstonesAtLinkStart);
        if !blank && !self.spectator {
            for place in 0..self.store.places() as ObjectIndex {
                if self.store[place].record.is_some_and(|record| record.gone) {
                    self.set_owed(index, place, true);
                }
            }
        }
        self.tell_values(index);
        self.roster_changed();
    }

    /// Somebody at the other end of a link who is told everything and is no member.
    fn seat_onlooker(&mut self, index: usize, hello: &Hello) {
        let link = &mut self.links[index];
        link.spectator = true;
        link.present = Some(RosterMember { id: hello.member, slot: hello.player });
        if self.spectator {
            return;
        }
        self.tell_values(index);
        for place in 0..self.store.places() as ObjectIndex {
            self.refresh_link(index, place);
        }
    }

    /// Notes who has become quiet.
    pub(super) fn watch_over_links(&mut self) {
        for index in 0..self.links.len() {
            let link = &self.links[index];
            let Some(present) = link.present.filter(|_| !link.spectator) else { continue };
            let interrupted = self.now.since(link.heard_at) >= INTERRUPTED_AFTER;
            if interrupted == link.interrupted {
                continue;
            }
            self.links[index].interrupted = interrupted;
            let (player, peer) = (present.slot, self.links[index].peer);
            self.events.push(match interrupted {
                true => SessionEvent::Interrupted { player, peer },
                false => SessionEvent::Resumed { player, peer },
            });
        }
    }

    /// Becomes a member with this number.
    pub(super) fn admit(&mut self, number: u32) {
        let was_member = self.renumbered_by.is_some();
        self.me.id.join_order = number.min(NUMBER_NONE - 1);
        self.highest = self.highest.max(self.me.id.join_order);
        self.waiting_since = None;
        self.admitted_at = self.now;
        self.renumbered_by = None;
        self.roster.insert(self.me);
        self.events.push(SessionEvent::MembershipGranted);
        self.roster_changed();
        for link in 0..self.links.len() {
            self.handshake(link);
            if was_member && self.links[link].present.is_some() {
                // What we said before we had another number was said by nobody.
                self.tell_values(link);
            }
        }
    }

    /// If everybody we meet is new, the one of lowest name founds the session.
    pub(super) fn found_if_nobody_else_does(&mut self) {
        let was_member = self.renumbered_by.is_some();
        if self.is_member() || self.spectator || (self.links.is_empty() && !was_member) {
            return;
        }
        if self.awaits_others {
            self.waiting_since = None;
            return;
        }
        let since = *self.waiting_since.get_or_insert(self.now);
        let waited = self.now.since(since) >= FOUND_AFTER;
        let knows_members = self.links.iter().any(|link| link.present.is_some() && !link.spectator);
        let sponsor_gone = self.renumbered_by.is_some_and(|sponsor| self.link_of(sponsor).is_none());
        let alone = self.links.is_empty();
        if was_member && (alone || (knows_members && (waited || sponsor_gone))) {
            return self.admit(self.highest.saturating_add(1));
        }
        let all_greeted = self.links.iter().all(|link| link.their_epoch != 0);
        let mut others = self.links.iter().filter(|link| !link.spectator);
        let lowest = others.all(|link| self.me.id.tag < link.their_tag);
        if waited && all_greeted && lowest {
            self.admit(if was_member { self.highest.saturating_add(1) } else { 0 });
        }
    }

    fn handshake(&mut self, index: usize) {
        self.greet_with(index, false);
    }

    pub(super) fn greet_with(&mut self, index: usize, unknown: bool) {
        let (peer, hello) = (self.links[index].peer, self.hello(index, unknown));
        self.links[index].greeted = hello.echo;
        self.tell(peer, &Message::Hello(hello));
    }

    fn hello(&self, index: usize, unknown: bool) -> Hello {
        let mine = |record: crate::version::Record| record.version.authority == self.me.id && !record.gone;
        let objects = self.store.iter().filter(|(_, object)| object.record.is_some_and(mine)).count();
        let blank = self.store.iter().all(|(_, object)| object.record.is_none());
        let link = &self.links[index];
        Hello {
            version: PROTOCOL_VERSION,
            fingerprint: self.fingerprint,
            epoch: link.epoch,
            echo: link.their_epoch,
            member: self.me.id,
            player: self.me.slot,
            highest: self.highest,
            age_ms: self.age_at_tick_ms(),
            tick: self.tick,
            blank,
            unknown,
            spectator: self.spectator,
            objects: objects as u32,
            parts: self.parts.iter().map(|(_, hash)| *hash).collect(),
        }
    }

    /// What we would say to a peer who we are.
    #[cfg(test)]
    pub(super) fn hello_to(&self, peer: PeerId) -> Vec<u8> {
        let index = self.link_of(peer).expect("a link to it");
        let mut bytes = Vec::new();
        Message::Hello(self.hello(index, false)).encode(&mut bytes);
        bytes
    }

    /// The lead knows that an object is long gone.
    fn handle_forgotten(&mut self, link: usize, id: ObjectId) {
        let from_lead =
            self.links[link].present.is_some() && self.links[link].present == self.roster.leader();
        let Some(place) = self.store.find(id).filter(|_| from_lead) else { return };
        let Some(record) = self.store[place].record else { return };
        let mine = record.version.authority == self.me.id && self.may_hold(id, &record);
        if !record.gone {
            self.events.push(SessionEvent::Despawned { id });
            if mine && self.delete_place(place) {
                // Whoever knows it from us has to learn it from us.
                return;
            }
        } else if self.store[place].owed > 0 {
            return;
        }
        self.tombstone_ranges.insert(id);
        self.close_everywhere(place);
        for link in 0..self.links.len() {
            self.set_owed(link, place, false);
        }
        self.forget_record(place);
    }

    /// Somebody was told what we are said to have said: we say it ourselves.
    fn handle_ask(&mut self, link: usize, id: ObjectId) {
        let Some(place) = self.store.find(id).filter(|_| self.links[link].present.is_some()) else { return };
        // Only what is ours to say, and what is this one's business.
        let mine = |record: crate::version::Record| record.version.authority == self.me.id;
        let tells = self.store[place].record.is_some_and(|record| mine(record) && !self.hides(link, place));
        if tells {
            self.links[link].out[place as usize].forget_acks();
            self.set_owed(link, place, true);
            self.refresh_link(link, place);
        }
    }

    fn end_link(&mut self, peer: PeerId) {
        let Some(index) = self.link_of(peer) else { return };
        self.release_link(index);
        let link = self.links.swap_remove(index);
        self.messages.retain(|(to, _)| *to != peer);
        self.acks.retain(|(to, _)| *to != peer);
        self.leave(peer, link.present.filter(|_| !link.spectator), link.goodbye, link.unheard());
    }

    fn leave(&mut self, peer: PeerId, present: Option<RosterMember>, goodbye: bool, unheard: u32) {
        if let Some(present) = present {
            if self.departed.len() == PARTED_MAX {
                self.departed.pop_front();
            }
            self.departed.push_back(Parted { present, at: self.now, goodbye, unheard });
            self.links.iter_mut().for_each(|link| link.legacies = 0);
            self.roster.remove(present.id);
            self.events.push(SessionEvent::Left { player: present.slot, peer, graceful: goodbye });
            self.tell_values_of(present.id);
            self.judge_kept_values();
            self.roster_changed();
        }
    }

    /// Gives back everything a link keeps of objects.
    fn release_link(&mut self, index: usize) {
        let peer = self.links[index].peer;
        self.round.abandon(peer);
        self.give_up_on_blobs_of(peer);
        for handle in 0..self.links[index].table.len() {
            self.close_incoming(index, handle as u16);
        }
        for place in 0..self.links[index].out.len() as ObjectIndex {
            self.set_owed(index, place, false);
        }
        for refused in std::mem::take(&mut self.links[index].refused) {
            self.store[refused.object].mentions -= 1;
            self.forget_unmentioned(refused.object);
        }
        for out in &mut self.links[index].out {
            *out = Default::default();
        }
        for place in 0..self.store.places() as ObjectIndex {
            if self.store[place].record.is_none() && self.store.find(self.store[place].id) == Some(place) {
                self.forget_unmentioned(place);
            }
        }
    }

    /// A handle of the other side stands for nothing any more.
    pub(super) fn close_incoming(&mut self, link: usize, handle: u16) {
        let incoming = &mut self.links[link].table[usize::from(handle)];
        let place = incoming.object;
        if place == NONE {
            return;
        }
        incoming.object = NONE;
        incoming.record = None;
        incoming.authority = None;
        let kind = &mut self.store.kinds[usize::from(incoming.kind)];
        kind.values.give(incoming.value);
        kind.histories.clear(&mut incoming.history);
        self.links[link].table_of[place as usize] = NONE;
        self.store[place].mentions -= 1;
        self.forget_unmentioned(place);
    }

    pub(super) fn link_of(&self, peer: PeerId) -> Option<usize> {
        self.links.iter().position(|link| link.peer == peer)
    }

    /// A peer did what only a peer can do: its link ends.
    pub(super) fn fault(&mut self, peer: PeerId, fault: PeerFault) {
        let present = self.link_of(peer).and_then(|link| self.links[link].present);
        self.events.push(SessionEvent::PeerFault { peer, fault });
        self.refuse(peer);
        if let (PeerFault::TooManyObjects { .. }, Some(present)) = (fault, present) {
            self.bury_flood(peer, present.id);
        }
    }

    fn refuse(&mut self, peer: PeerId) {
        if !self.refused.contains(&peer) {
            self.refused.push(peer);
        }
        self.end_link(peer);
    }
}
