//! Routing of packets, messages and ticks: each goes to the part it concerns, and that part's
//! result to the others. The game's loop calls it. Absent: decisions of its own, bytes.

use gaggle_kit::{DecodeError, Micros, PeerId};

use super::Session;
use super::work::work;
use crate::ablation::Rule;
use crate::authority::Authority;
use crate::event::{PeerFault, RejectReason, SessionEvent};
use crate::intake::{Receipt, close_incoming};
use crate::interest::Interest;
use crate::membership::Departed;
use crate::message::{Hello, Message, NUMBER_NONE};
use crate::peers::Peer;
use crate::playout::Depth;
use crate::remote_events::RemoteEvents;
use crate::replicator::Transmit;
use crate::roster::RosterMember;
use crate::store::ObjectIndex;
use crate::version::{Record, Version};

/// A peer with nothing to send still sends every second, so one silent for this long may have lost
/// its link.
const INTERRUPTED_AFTER: Micros = Micros::from_millis(2_200);

impl Session {
    /// Handles a new link: this peer introduces itself.
    pub fn handle_connected(&mut self, now: Micros, peer: PeerId) {
        self.cx.note_now(now);
        self.renew_link(peer);
    }

    /// Handles the end of a link: the peer is not present any more.
    pub fn handle_disconnected(&mut self, now: Micros, peer: PeerId) {
        self.cx.note_now(now);
        self.end_link(peer);
    }

    /// Handles a peer's announcement that it leaves: it is not present any more.
    pub fn handle_leaving(&mut self, now: Micros, peer: PeerId) {
        self.cx.note_now(now);
        if let Some(link) = self.peers.find(peer) {
            self.peers[link].handshake.note_goodbye();
        }
        self.end_link(peer);
    }

    /// Advances time. Call it once a frame, after the game has changed its objects; then drain
    /// [`poll_transmit`](Session::poll_transmit).
    pub fn tick(&mut self, now: Micros) {
        self.tick_with(now, None);
    }

    /// Like [`tick`](Session::tick), with interest management.
    ///
    /// ```
    /// # use gaggle_replica::*;
    /// # fn tick(session: &mut Session, now: gaggle_kit::Micros, eyes: &[[f64; 3]]) {
    /// session.tick_with(now, Some(&mut |receiver: &Receiver, object: &ObjectRef<'_>| {
    ///     let (eye, place) = (eyes[receiver.player.index()], object.position()?);
    ///     let distance = ((eye[0] - place[0]).powi(2) + (eye[1] - place[1]).powi(2)).sqrt();
    ///     (distance < 500.0).then(|| Relevance::by_distance(distance, 60.0))
    /// }));
    /// # }
    /// ```
    pub fn tick_with(&mut self, now: Micros, interest: Option<&mut dyn Interest>) {
        self.cx.note_now(now);
        if let Some(join_order) = self.members.admission(self.cx.now, &self.peers) {
            self.admit(join_order);
        }
        self.note_interruptions();
        self.authority.tick(&mut work!(self));
        self.blobs.ask(&mut work!(self));
        let config = &self.cx.config;
        let depth = Depth {
            interval: config.send_interval,
            ticks_min: config.playout_ticks_min,
            ticks_max: config.playout_ticks_max,
        };
        for link in self.peers.iter_mut() {
            link.playback.advance(self.cx.now, link.inbound.their_tick(), depth);
        }
        self.smoothing.let_depart(&mut self.cx, &self.peers);
        let started = self.cx.started.unwrap_or(now);
        if let Some(elapsed) = self.replicator.begin_tick(&mut work!(self), started) {
            self.members.correct_age(&self.cx, &self.peers);
            self.replicator.begin_round(&mut work!(self), elapsed);
            self.blobs.send_pieces(&mut work!(self), elapsed);
            self.replicator.select_round(&mut work!(self), interest);
        }
    }

    /// Next event for the game.
    pub fn poll_event(&mut self) -> Option<SessionEvent> {
        self.cx.events.pop()
    }

    /// Next peer whose link should be closed, because it is incompatible or broke the protocol.
    pub fn poll_disconnect(&mut self) -> Option<PeerId> {
        self.cx.refused.pop()
    }

    /// Handles a packet that arrived.
    pub fn handle_packet(&mut self, now: Micros, peer: PeerId, bytes: &[u8]) {
        self.cx.note_now(now);
        let Some(link) = self.peers.find(peer) else { return };
        let Session { intake, authority, inputs, .. } = self;
        match intake.handle_packet(&mut work!(self), authority, inputs, link, now, bytes) {
            Ok(Receipt::Dropped | Receipt::Taken) => {}
            Ok(Receipt::Acknowledge) => self.replicator.acknowledge_at_once(&mut work!(self), link),
            Err(fault) => self.fault(peer, fault),
        }
    }

    /// Handles a message that arrived on the reliable stream.
    pub fn handle_message(&mut self, now: Micros, peer: PeerId, bytes: &[u8]) {
        self.cx.note_now(now);
        let Some(link) = self.peers.find(peer) else { return };
        if let Err(fault) = Message::decode(bytes)
            .map_err(PeerFault::Malformed)
            .and_then(|message| self.dispatch(link, &message))
        {
            self.fault(peer, fault);
        }
    }

    fn dispatch(&mut self, link: usize, message: &Message<'_>) -> Result<(), PeerFault> {
        let asks = matches!(
            message,
            Message::Hello(_) | Message::Ask(_) | Message::BlobAsk(_) | Message::BlobMissing(_)
        );
        if self.peers[link].handshake.is_spectator() && !asks {
            return Err(PeerFault::SpectatorWrote);
        }
        let (values, blobs, mut work) = (&mut self.values, &mut self.blobs, work!(self));
        match message {
            Message::Hello(hello) => return self.handle_hello(link, hello),
            Message::Forgotten(id) => self.authority.handle_forgotten(&mut work, link, *id),
            Message::Ask(id) => Authority::handle_ask(&mut work, link, *id),
            Message::RemoteEvent(event) => return RemoteEvents::handle(&mut work, link, event, false),
            Message::EventRequest(event) => return RemoteEvents::handle(&mut work, link, event, true),
            Message::Verdict { number, granted } => {
                self.remote_events.handle_verdict(&mut work, link, *number, *granted);
            }
            Message::Value(value) => return values.handle(&mut work, link, value),
            Message::BlobAsk(blob) => blobs.handle_ask(&mut work, link, *blob),
            Message::BlobMissing(blob) => blobs.handle_missing(&mut work, link, *blob),
            Message::BlobPiece(piece) => return blobs.handle_piece(&mut work, link, piece),
        }
        Ok(())
    }

    fn handle_hello(&mut self, index: usize, hello: &Hello) -> Result<(), PeerFault> {
        let peer = self.peers[index].id;
        if let Some(reason) = self.members.objection(&self.schema, &self.peers, peer, hello) {
            self.refuse(peer, reason);
            return Ok(());
        }
        let (count, max) = (1 + hello.extra_slots.len(), self.players_max());
        if count > max {
            let (count, max) = (count as u64, max as u64);
            return Err(DecodeError::CountTooLarge { what: "slots of a peer", count, max }.into());
        }
        if self.peers[index].handshake.has_restarted(hello.epoch)? {
            // It restarted unnoticed by this peer: nothing sent before counts, in either direction.
            let gone = self.peers[index].member();
            let unheard = self.peers[index].inbound.unheard();
            self.release_link(index);
            let (places, brought) = (self.objects.places(), self.objects.brought_by(peer));
            self.peers[index] = self.peers[index].restarted(places, brought, self.cx.config.send_interval);
            self.leave(peer, gone, false, unheard);
        }
        let link = &mut self.peers[index];
        if !link.handshake.is_greeted() {
            link.handshake.note_hello(hello.epoch, hello.member.tag, self.cx.now);
            let most = u32::try_from(self.cx.config.objects_per_peer_max).unwrap_or(u32::MAX);
            link.inbound.note_hello(hello.tick, hello.objects.min(most));
        }
        if self.members.is_doubted_by(&self.peers[index], hello) {
            self.stand_down(peer, hello.highest);
            return Ok(());
        }
        self.members.regard(&self.cx, &self.peers[index], hello);
        let is_member = hello.member.join_order != NUMBER_NONE;
        let link = &self.peers[index];
        match link.present() {
            Some(present) if present != hello.present() => {
                return Err(PeerFault::IdentityChanged);
            }
            Some(present) if hello.echo == link.handshake.epoch() && !link.handshake.is_spectator() => {
                self.members.note_met(present.id, peer, true);
            }
            None if is_member => {
                if !self.members.is_believable(&self.cx, &self.peers, link, hello.member) {
                    return self.doubt(index);
                }
                self.welcome(index, hello);
            }
            None if hello.spectator => self.seat_spectator(index, hello),
            _ => {}
        }
        let waits = !self.members.is_member() && !self.members.is_spectator();
        if is_member && waits && self.members.is_let_in_by(&self.peers, peer) {
            self.admit(self.members.highest().saturating_add(1));
            return Ok(());
        }
        let Some(index) = self.peers.find(peer) else { return Ok(()) };
        if self.peers[index].handshake.needs_answer(hello.epoch, hello.echo)? {
            self.greet(index, false);
        }
        Ok(())
    }

    /// A peer claims a membership it cannot have.
    fn doubt(&mut self, index: usize) -> Result<(), PeerFault> {
        self.peers[index].handshake.doubt()?;
        self.greet(index, true);
        Ok(())
    }

    /// A peer is a member.
    fn welcome(&mut self, index: usize, hello: &Hello) {
        let present = hello.present();
        self.members.note_join_order(present.id.join_order);
        let link = &mut self.peers[index];
        link.handshake.note_member(present, self.cx.now);
        link.inbound.note_heard(self.cx.now);
        let peer = link.id;
        // A hello sent before this start of the link may be outdated.
        let still = hello.echo == link.handshake.epoch();
        self.members.insert(present);
        self.cx.emit(SessionEvent::Joined { player: present.slot, peer });
        let first = self.members.note_met(present.id, peer, still);
        let blank = (hello.blank && first && still) || !self.cx.ablation.holds(Rule::TombstonesAtLinkStart);
        if !blank && !self.members.is_spectator() {
            work!(self).owe_tombstones(index);
        }
        self.values.tell_all(&mut work!(self), index);
        self.roster_changed();
    }

    /// A spectator is connected: it gets everything and is no member.
    fn seat_spectator(&mut self, index: usize, hello: &Hello) {
        self.peers[index].handshake.note_spectator(hello.present());
        if self.members.is_spectator() {
            return;
        }
        self.values.tell_all(&mut work!(self), index);
        for place in 0..self.objects.places() as ObjectIndex {
            work!(self).refresh_link(index, place);
        }
    }

    /// Becomes a member with this join order.
    pub(super) fn admit(&mut self, join_order: u32) {
        let was_member = self.members.admit(join_order, self.cx.now);
        self.cx.emit(SessionEvent::MembershipGranted);
        self.roster_changed();
        for link in 0..self.peers.len() {
            self.greet(link, false);
            if was_member && self.peers[link].present().is_some() {
                // Values written under another join order have no writer.
                self.values.tell_all(&mut work!(self), link);
            }
        }
    }

    /// Joins again as a new member, admitted by the peer that did not know this one. Its objects go
    /// to their successors.
    pub(super) fn stand_down(&mut self, peer: PeerId, highest: u32) {
        for index in 0..self.objects.dirty().len() {
            // Values not sent to any peer do not count for this tick.
            let (place, tick) = (self.objects.dirty()[index], self.cx.tick + 1);
            let mine = |record: &Record| record.version.authority == self.members.me().id;
            if let Some(record) = self.objects[place].record.filter(mine) {
                let version = Version { tick, ..record.version };
                self.objects.set_record(place, Some(Record { version, ..record }));
            }
        }
        self.remote_events.reject_asked(&mut self.cx, &self.schema);
        self.members.stand_down(peer, highest);
        self.cx.stats.rejoins += 1;
        let peers: Vec<PeerId> = self.peers.iter().map(|peer| peer.id).collect();
        for peer in peers {
            self.renew_link(peer);
        }
        self.roster_changed();
    }

    /// Updates all parts after a member came or left, or this peer became one.
    pub(super) fn roster_changed(&mut self) {
        self.authority.roster_changed(&mut work!(self));
        if let Some((leader, was_led)) = self.members.take_new_leader(self.cx.now) {
            if was_led {
                self.cx.emit(SessionEvent::LeaderChanged { player: leader.slot });
            }
            self.remote_events.leader_changed(&mut work!(self));
            self.values.leader_changed(&mut work!(self));
        }
    }

    fn greet(&mut self, index: usize, unknown: bool) {
        let link = &mut self.peers[index];
        let hello = self.members.hello(&self.cx, &self.schema, &self.objects, link, unknown);
        link.handshake.note_greeting(hello.echo);
        self.cx.tell(link.id, &Message::Hello(hello));
    }

    /// Hello of this peer for another one.
    #[cfg(test)]
    pub(super) fn hello_to(&self, peer: PeerId) -> Vec<u8> {
        let link = &self.peers[self.peers.find(peer).expect("a linked peer")];
        let mut bytes = Vec::new();
        let hello = self.members.hello(&self.cx, &self.schema, &self.objects, link, false);
        Message::Hello(hello).encode(&mut bytes);
        bytes
    }

    /// Starts a link, or restarts it.
    fn renew_link(&mut self, peer: PeerId) {
        if self.peers.find(peer).is_some() {
            self.end_link(peer);
        }
        let epoch = self.members.next_epoch();
        let (places, brought) = (self.objects.places(), self.objects.brought_by(peer));
        let link = Peer::new(peer, epoch, places, brought, self.cx.config.send_interval);
        let index = self.peers.push(link);
        self.greet(index, false);
    }

    fn end_link(&mut self, peer: PeerId) {
        let Some(index) = self.peers.find(peer) else { return };
        self.release_link(index);
        let link = self.peers.swap_remove(index);
        self.cx.drop_outbox(peer);
        self.leave(peer, link.member(), link.handshake.has_said_goodbye(), link.inbound.unheard());
    }

    fn leave(&mut self, peer: PeerId, present: Option<RosterMember>, goodbye: bool, unheard: u32) {
        let Some(present) = present else { return };
        self.members.remove(Departed { present, at: self.cx.now, goodbye, unheard });
        self.peers.iter_mut().for_each(|link| link.inbound.forget_legacies());
        self.cx.emit(SessionEvent::Left { player: present.slot, peer, graceful: goodbye });
        self.values.tell_of(&mut work!(self), present.id);
        self.values.resolve_kept(&mut work!(self));
        self.roster_changed();
    }

    /// Frees everything a link stores about objects.
    fn release_link(&mut self, index: usize) {
        let peer = self.peers[index].id;
        self.replicator.abandon(peer);
        self.blobs.give_up_on(&mut work!(self), peer);
        let mut work = work!(self);
        for handle in 0..work.peers[index].inbound.handles() {
            close_incoming(&mut work, index, handle as u16);
        }
        work.release(index);
    }

    /// Ends the link of a peer that broke the protocol.
    fn fault(&mut self, peer: PeerId, fault: PeerFault) {
        let present = self.peers.find(peer).and_then(|link| self.peers[link].present());
        self.cx.emit(SessionEvent::PeerFault { peer, fault });
        self.disconnect(peer);
        if let (PeerFault::TooManyObjects { .. }, Some(present)) = (fault, present) {
            self.authority.despawn_flood(&mut work!(self), peer, present.id);
        }
    }

    /// Ends the link of an incompatible peer.
    pub(super) fn refuse(&mut self, peer: PeerId, reason: RejectReason) {
        self.cx.emit(SessionEvent::Rejected { peer, reason });
        self.disconnect(peer);
    }

    fn disconnect(&mut self, peer: PeerId) {
        self.cx.disconnect(peer);
        self.end_link(peer);
    }

    /// Notes which members have become silent.
    fn note_interruptions(&mut self) {
        for link in self.peers.iter_mut() {
            let Some(RosterMember { slot: player, .. }) = link.member() else { continue };
            let (peer, is_silent) = (link.id, link.inbound.silence(self.cx.now) >= INTERRUPTED_AFTER);
            if link.handshake.note_silence(is_silent) {
                self.cx.emit(match is_silent {
                    true => SessionEvent::Interrupted { player, peer },
                    false => SessionEvent::Resumed { player, peer },
                });
            }
        }
    }

    /// Next packet or message to send, if any is left for this tick.
    pub fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        let (to, stream) = self.replicator.poll(&mut work!(self), &self.inputs)?;
        let bytes = self.replicator.bytes();
        Some(Transmit { to, reliable: stream.is_some(), stream: stream.unwrap_or(0), bytes })
    }
}
