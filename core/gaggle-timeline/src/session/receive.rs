//! Incoming packets of the running game, and incoming messages.
//!
//! `Driver` calls it for each datagram and message. Absent: what parts decide about them.

use gaggle_kit::{Frame, Input, Micros, PeerId};

use super::Session;
use crate::announce::Message;
use crate::event::PeerFault;
use crate::membership::{self, Acceptance, Ballot, Mode, SenderStatus};
use crate::packet::{Packet, TAG_NONE, TAG_OTHER};
use crate::peers::SenderContext;
use crate::relay::Other;
use crate::roster::StreamId;
use crate::transfer;
use crate::wire::{
    EntryView, Inbound, Takes, TrackView, acked_frame, check_controls, decode, entry_range, moves_state,
    newest_frame, takes,
};

impl<I: Input> Session<I> {
    /// Takes bytes a peer sent on the unreliable channel, with their time of arrival. (With the
    /// time of the last tick, round trips would look a frame or two too short.)
    ///
    /// Bytes that no honest peer sends are reported as
    /// [`SessionEvent::PeerFault`](crate::SessionEvent::PeerFault).
    pub fn handle_packet(&mut self, now: Micros, from: PeerId, bytes: &[u8]) {
        self.cx.advance_to(now);
        self.route_packet(now, from, bytes);
        self.settle();
    }

    /// Takes bytes a peer sent on the reliable channel.
    pub fn handle_message(&mut self, now: Micros, from: PeerId, bytes: &[u8]) {
        self.cx.advance_to(now);
        self.route_message(now, from, bytes);
        self.settle();
    }

    #[inline]
    fn route_packet(&mut self, now: Micros, from: PeerId, bytes: &[u8]) {
        let Some(index) = self.peers.sender_index(from) else { return };
        if !self.peers[index].is_trusted() {
            // Unreliable packets may overtake the announcement; later ones repeat their content.
            return;
        }
        if !self.peers[index].allowed.may_send_packet(now) {
            self.cx.stats.packets_rate_limited += 1;
            return;
        }
        let taken = match Packet::tag_of(bytes) {
            Some(TAG_OTHER) => {
                self.peers[index].presence.hear(now);
                Other::decode(bytes).map(|other| self.take_other(index, other)).map_err(PeerFault::from)
            }
            Some(TAG_NONE) => Packet::decode(bytes, 0)
                .map(|packet| self.take_stranger(now, index, &packet))
                .map_err(PeerFault::from),
            Some(tag) => self.take_tagged(now, index, tag, bytes),
            None => Packet::decode(bytes, 0).map(|_| ()).map_err(PeerFault::from),
        };
        if let Err(fault) = taken
            && !self.blame_donor(index, fault)
        {
            self.fault(index, fault);
        }
    }

    fn route_message(&mut self, now: Micros, from: PeerId, bytes: &[u8]) {
        let Some(index) = self.peers.index_of(from) else { return };
        let remote = &mut self.peers[index];
        if !remote.is_linked() {
            return;
        }
        let trusted = remote.is_trusted();
        if trusted {
            remote.presence.hear(now);
        }
        self.peers.disturb();
        let remote = &mut self.peers[index];
        if !moves_state(bytes) && !remote.allowed.may_send_message(now) {
            self.fault(index, PeerFault::RateLimitExceeded);
            return;
        }
        let taken = decode(bytes).map(|message| match message {
            Inbound::Control(Message::Announce(announce)) => self.take_announce(index, &announce),
            _ if !trusted => {}
            Inbound::Transfer(message) => self.take_transfer(index, message),
            Inbound::Membership(message) => self.take_membership(index, message),
            Inbound::Control(Message::Findings(findings)) => self.take_findings(index, findings),
            Inbound::Control(Message::Recovered { through }) => self.take_recovered(index, through),
        });
        if let Err(error) = taken {
            self.fault(index, error.into());
        }
    }

    fn take_membership(&mut self, index: usize, message: membership::Message) {
        if message == membership::Message::AskSnapshot {
            self.take_ask_snapshot(index);
            return;
        }
        // A peer that starts a view change makes all others answer; one that rejects ballots makes
        // the leader start another.
        if let membership::Message::Collect { ballot, .. }
        | membership::Message::Accept { ballot, .. }
        | membership::Message::Nack { promised: ballot, .. } = &message
            && self.is_churn(index, ballot.number)
        {
            self.fault(index, PeerFault::TooManyViewChanges);
            return;
        }
        let peer = self.peers[index].peer;
        if let membership::Message::PeerStatus { status, .. } = &message
            && status.knows.is_none()
            && self.peers[index].hello.told().is_implied()
        {
            // The peer did not start together with this one after all.
            self.peers[index].hello.told_mut().forget();
        }
        if matches!(message, membership::Message::PeerStatus { .. }) {
            self.peers[index].unable_until = None;
        }
        let stay = self.membership.latest_status(peer).map(|status| status.incarnation);
        self.sync_held();
        let taken = self.membership.handle_message(self.cx.now, peer, message, &mut self.log);
        let stays = self.membership.latest_status(peer).map(|status| status.incarnation);
        let watches = self.membership.latest_status(peer).is_some_and(|status| status.players == 0);
        self.peers[index].watches = watches && !self.peers[index].is_open;
        if stay.is_some() && stay != stays {
            let agreed = self.membership.confirmed();
            self.peers[index].begin_stay(agreed);
        }
        self.blame(index, taken);
        self.unsettled = true;
    }

    /// Whether a peer starts too many view changes.
    fn is_churn(&mut self, index: usize, ballot: u32) -> bool {
        let remote = &mut self.peers[index];
        let leads = self.membership.first_here().is_some_and(|first| first.peer == remote.peer);
        !remote.allowed.may_change(self.cx.now, ballot, leads)
    }

    /// The promise, if it counts.
    ///
    /// # Errors
    /// If the promise shows that its sender started too many view changes itself.
    fn heed_promise(&mut self, index: usize, promised: Ballot) -> Result<Option<Ballot>, PeerFault> {
        if promised.by.peer == self.peers[index].peer {
            let churn = self.is_churn(index, promised.number);
            return if churn { Err(PeerFault::TooManyViewChanges) } else { Ok(Some(promised)) };
        }
        let is_heeded = self.peers[index].allowed.may_promise(self.cx.now, promised.number);
        Ok(is_heeded.then_some(promised))
    }

    fn take_transfer(&mut self, index: usize, message: transfer::Message<'_>) {
        use transfer::Message;
        match message {
            Message::Offer(offer) => self.take_offer(index, offer),
            Message::Piece { number, bytes } => {
                let peer = self.peers[index].peer;
                let taken = self.joiner.handle_piece(&mut self.cx, peer, number, bytes);
                self.fault_if(index, taken);
            }
            Message::Packed { number, bytes } => {
                let peer = self.peers[index].peer;
                let taken = self.joiner.handle_packed(&mut self.cx, peer, number, bytes);
                self.fault_if(index, taken);
            }
            Message::Got { number, bytes } => {
                let peer = self.peers[index].peer;
                self.donor.handle_ack(self.cx.now, peer, number, bytes);
            }
            Message::Decline(why) => self.take_decline(index, why),
            Message::Feed(feed) => self.take_feed(index, *feed),
            Message::AskFeed { from, known, depth } => self.take_ask_feed(index, from, known, depth),
            Message::Enough => self.donor.forget(self.peers[index].peer),
            Message::Forward { to, bytes } => self.take_forward(index, to, bytes),
            Message::ForwardFrom { from, bytes } => self.take_forward_from(index, from, bytes),
        }
    }

    /// Takes a packet of a peer in no match, or from before the match began: only the clocks are
    /// used.
    fn take_stranger(&mut self, now: Micros, index: usize, packet: &Packet<'_>) {
        self.peers[index].presence.hear(now);
        self.take_clock(now, index, packet);
        self.note_heard(index);
    }

    /// Takes a packet of a peer for which the match has begun already. Only its clock is used here.
    fn take_early(&mut self, now: Micros, index: usize, bytes: &[u8]) -> Result<(), PeerFault> {
        let peer = self.peers[index].peer;
        let players = self.life.seat_of(peer).map_or(0, |slots| slots.len());
        let packet = Packet::decode(bytes, players * I::SIZE)?;
        self.take_stranger(now, index, &packet);
        Ok(())
    }

    fn take_tagged(&mut self, now: Micros, index: usize, tag: u8, bytes: &[u8]) -> Result<(), PeerFault> {
        let epoch = self.membership.epoch().number();
        let known = self.peers[index]
            .hello
            .meaning()
            .copied()
            .filter(|known| known.tag == tag && known.epoch == epoch);
        let players = match known {
            Some(known) => known.players,
            None => match self.membership.status_of(self.peers[index].peer, tag) {
                Some(status) => status.players,
                None if tag == membership::IMPLIED_TAG && self.life.is_gathering() => {
                    return self.take_early(now, index, bytes);
                }
                None => {
                    // The status it refers to has not arrived yet; later packets repeat its
                    // content.
                    self.peers[index].presence.hear(now);
                    return Ok(());
                }
            },
        };
        // Not a function of its own: a packet is so large that copying it shows in a profile.
        let decoded = Packet::decode(bytes, usize::from(players) * I::SIZE);
        let packet = match &decoded {
            Ok(packet) => packet,
            Err(error) => return Err(PeerFault::Malformed(*error)),
        };
        let plain = known.is_some_and(|known| known.observer == packet.observer && known.plain);
        let meaning = match known {
            Some(known) if plain && packet.promised.is_none() => known,
            _ => self.find_meaning(now, index, packet)?,
        };
        self.take_packet(now, index, packet, &meaning)
    }

    /// Finds the context of a packet's tag, and caches it until something changes.
    fn find_meaning(
        &mut self,
        now: Micros,
        index: usize,
        packet: &Packet<'_>,
    ) -> Result<SenderContext, PeerFault> {
        let peer = self.peers[index].peer;
        let nothing = SenderContext::nothing(peer, packet.tag);
        if !self.life.is_running() {
            return Ok(nothing);
        }
        let promised = match packet.promised {
            Some(promised) => self.heed_promise(index, promised)?,
            None => None,
        };
        self.sync_held();
        let confirmed = Frame::START;
        let sign = SenderStatus { tag: packet.tag, observer: packet.observer, promised, confirmed };
        let hearing = match self.membership.hear(now, peer, sign, &self.log) {
            Ok(hearing) => hearing,
            Err(fault) => {
                self.blame(index, Err(fault));
                return Ok(nothing);
            }
        };
        self.send_membership();
        let Some(status) = self.membership.status_of(peer, packet.tag) else { return Ok(nothing) };
        let stream = StreamId { peer, incarnation: status.incarnation };
        let me = self.membership.me().incarnation;
        let own_first = self.membership.status().and_then(|own| own.first);
        let knows_us =
            status.knows.is_some_and(|known| known.incarnation == me && Some(known.first) == own_first);
        let track = self.log.track_of(stream, status.players);
        if track.is_none() && self.log.track_index(stream).is_some() {
            // The leader that admitted it gave it another number of slots: its entries fit no
            // slots.
            return Ok(nothing);
        }
        let meaning = SenderContext {
            tag: packet.tag,
            epoch: self.membership.epoch().number(),
            observer: packet.observer,
            // Packets that need no answer are not checked again.
            plain: matches!(hearing, Acceptance::All(_)) || packet.observer,
            hearing,
            stream,
            first: status.first,
            players: status.players,
            knows_us,
            grows: self.membership.grows(stream),
            track,
        };
        self.peers[index].hello.set_meaning(meaning);
        Ok(meaning)
    }

    fn take_packet(
        &mut self,
        now: Micros,
        index: usize,
        packet: &Packet<'_>,
        meaning: &SenderContext,
    ) -> Result<(), PeerFault> {
        let have = self.have_of_stream(meaning);
        let told_newest = self.log.local().newest();
        let remote = &mut self.peers[index];
        remote.presence.hear(now);
        if packet.missing {
            remote.stream.expect_loss(now + crate::wire::LOSS_MEMORY);
        }
        if meaning.knows_us {
            let acked = acked_frame(packet, remote.stream.acked(), told_newest)?;
            remote.stream.note_acked(acked);
        }
        let newest = newest_frame(packet, have);
        if matches!(meaning.hearing, Acceptance::All(_)) && packet.confirmed_age < u8::MAX {
            remote.stream.note_confirmed(newest.saturating_sub(packet.confirmed_age.into()));
        }
        if meaning.hearing != Acceptance::Nothing {
            self.take_entries(index, newest, packet, meaning, have)?;
        }
        self.take_time(now, index, newest, packet, meaning);
        if let Some(check) = packet.check {
            let frame = newest.saturating_sub(check.age_frames.into());
            match meaning.hearing {
                Acceptance::All(_) => self.take_check(index, frame, check),
                _ => self.take_check_spectating(index, frame, check),
            }
        }
        self.note_heard(index);
        Ok(())
    }

    /// Frame up to which the stream of a packet is held.
    fn have_of_stream(&self, meaning: &SenderContext) -> Frame {
        let track = meaning.track.map(|track| &self.log.tracks()[track]);
        match track.filter(|track| track.is_held()) {
            Some(track) => track.have,
            None => match self.membership.held(meaning.stream).filter(|held| !held.is_empty()) {
                Some(held) => held.through(),
                // Nothing of it is held: it is requested from its beginning, even if it counts only
                // later.
                None => meaning.first.map_or(self.log.past().current(), Frame::previous),
            },
        }
    }

    /// Frame up to which a peer's stream is held, as far as the peer was told that the stream is
    /// known.
    pub(super) fn have_of(&self, index: usize) -> Frame {
        let remote = &self.peers[index];
        let Some(known) = remote.hello.told().status().and_then(|status| status.knows) else {
            return Frame::START;
        };
        let told = |meaning: &SenderContext| {
            meaning.stream.incarnation == known.incarnation && meaning.first == Some(known.first)
        };
        match remote.hello.meaning().filter(|meaning| told(meaning)) {
            Some(meaning) => self.have_of_stream(meaning),
            None => {
                // Nothing came from it yet, but the donor said which frame it had.
                let stream = StreamId { peer: remote.peer, incarnation: known.incarnation };
                let held = self.membership.held(stream).filter(|held| !held.is_empty());
                held.map_or(known.first.previous(), |held| held.through())
            }
        }
    }

    /// Takes new entries: they confirm frames, correct predictions, and change later predictions.
    fn take_entries(
        &mut self,
        index: usize,
        newest: Frame,
        packet: &Packet<'_>,
        meaning: &SenderContext,
        have: Frame,
    ) -> Result<(), PeerFault> {
        let plays = self.membership.mode() == Mode::Member && self.membership.own_end().is_none();
        let track = meaning.track.map(|track| {
            let track = &self.log.tracks()[track];
            let last = track.row.last_frame;
            TrackView { since: track.since, last, is_awaited: track.is_held() && track.have < last }
        });
        let view = EntryView {
            have,
            first: meaning.first,
            track,
            grows: meaning.grows,
            knows_us: meaning.knows_us,
            in_step: plays && !self.time.is_catching_up(),
            confirmed: self.membership.confirmed(),
            current: self.log.past().current(),
            lookahead_frames: self.cx.config.lookahead_frames(),
            kept_frames: self.log.past().frames(),
        };
        let (track, base, last) = match (takes(newest, packet.runs.carried.into(), &view)?, meaning.track) {
            (Takes::Entries { base, last }, Some(track)) => (track, base, last),
            (Takes::Pending { base }, _) => return self.take_pending(index, base, newest, packet, meaning),
            _ => return Ok(()),
        };
        if (!packet.entry_controls.is_empty() || newest <= have)
            && let Some(held) = self.membership.held(meaning.stream)
        {
            check_controls(packet, held, base, newest)?;
        }
        let entry_bytes = usize::from(meaning.players) * I::SIZE;
        self.log.take_runs(track, base, last, entry_bytes, &packet.runs)?;
        if last > have {
            self.log.note_news();
            if !packet.entry_controls.is_empty() {
                self.take_controls(meaning.stream, newest, have, last, packet);
            }
        }
        Ok(())
    }

    fn take_controls(
        &mut self,
        stream: StreamId,
        newest: Frame,
        have: Frame,
        last: Frame,
        packet: &Packet<'_>,
    ) {
        self.sync_held();
        for (age, extras) in packet.entry_controls.iter() {
            let frame = newest.saturating_sub(age.into());
            if frame > have && frame <= last {
                self.membership.note_extras(stream, frame, extras);
            }
        }
        // What follows in this packet is judged by what these entries confirm.
        self.follow_membership();
    }

    /// Takes entries of a stream that has no column in the table, or had none when the entries were
    /// sent.
    fn take_pending(
        &mut self,
        index: usize,
        base: Frame,
        newest: Frame,
        packet: &Packet<'_>,
        meaning: &SenderContext,
    ) -> Result<(), PeerFault> {
        let players = usize::from(meaning.players);
        let before = if Some(base.next()) == meaning.first {
            Some(vec![I::default(); players])
        } else {
            self.log.entry_before(meaning.stream, base.next())
        };
        let Some(entry) = before.filter(|entry| entry.len() == players) else { return Ok(()) };
        let tail = entry_range(packet, meaning.stream, (base, newest), entry)?;
        self.sync_held();
        let taken = self.membership.take_tail(&tail, &mut self.log);
        self.blame(index, taken);
        // What follows in this packet is judged by what these entries confirm.
        self.follow_membership();
        Ok(())
    }

    fn take_clock(&mut self, now: Micros, index: usize, packet: &Packet<'_>) {
        let remote = &mut self.peers[index];
        if let Some(time) = &packet.time {
            remote.time.handle(now, time, self.cx.frame);
        }
    }

    fn take_time(
        &mut self,
        now: Micros,
        index: usize,
        newest: Frame,
        packet: &Packet<'_>,
        meaning: &SenderContext,
    ) {
        self.take_clock(now, index, packet);
        let remote = &mut self.peers[index];
        if self.life.is_running()
            && newest > Frame::START
            && meaning.hearing != Acceptance::Nothing
            && !packet.observer
        {
            let is_newest = remote.time.handle_newest(now, newest, self.log.past().current());
            self.cx.stats.packets_stale += u64::from(!is_newest);
        }
    }
}
