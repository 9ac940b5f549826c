//! What comes in: packets of the running game and messages.

use gaggle_kit::{Frame, Input, Micros, PeerId, SlotSet};
use gaggle_link::CloseCode;

use super::{HANDSHAKE_STEPS, Session};
use crate::announce::{Announce, Message, PROTOCOL_VERSION};
use crate::budget::RateLimit;
use crate::event::{PeerFault, RejectReason, SessionEvent};
use crate::input_log::RemoteStream;
use crate::membership::{self, Acceptance, Ballot, EntryRange, Mode, SenderStatus};
use crate::packet::{AHEAD_NONE, Packet, TAG_NONE, TAG_OTHER, complete};
use crate::relay::Other;
use crate::remote::{Handshake, Liveness, SenderContext};
use crate::roster::{RosterEntry, StreamId};
use crate::time_sync::FRAME_Q16;
use crate::transfer;

/// What a peer may send: an order of magnitude more than the busiest does. Beyond that packets,
/// which a network can multiply, are ignored; messages, which it cannot, are a fault.
const PACKETS: RateLimit = RateLimit { burst: 4_096, per_second: 4_096 };
const MESSAGES: RateLimit = RateLimit { burst: 1_024, per_second: 256 };
/// Attempts to change the view are the lead's business; others make some when they take it for
/// lost.
const CHANGES: RateLimit = RateLimit { burst: 48, per_second: 2 };
const CHANGES_OF_LEAD: RateLimit = RateLimit { burst: 256, per_second: 8 };
/// Promises a peer says it made to somebody else, each of which may make everybody agree anew. Who
/// invented them, it or the one it names, nobody can tell: those beyond are not heeded yet. What is
/// true is told in every packet until it is over.
const PROMISES: RateLimit = RateLimit { burst: 16, per_second: 1 };
pub(super) const ASKS: RateLimit = RateLimit { burst: 16, per_second: 1 };

/// Frames that have the same low bits are so far apart.
const LOW_BITS: i64 = 1 << 16;

impl<I: Input> Session<I> {
    /// Bytes a peer sent on the unreliable channel, and when they arrived (not the time of the last
    /// tick: round trips would look a frame or two too short).
    ///
    /// Bytes that nobody honest sends end the trust in that peer, told by
    /// [`SessionEvent::PeerFault`].
    pub fn handle_packet(&mut self, now: Micros, from: PeerId, bytes: &[u8]) {
        self.now = self.now.max(now);
        let Some(index) = self.sender_index(from) else { return };
        if !self.remotes[index].is_trusted() {
            // Unreliable packets may overtake the announcement; what they say comes again.
            return;
        }
        if !self.remotes[index].allowed.packets.spend(now, PACKETS) {
            self.stats.packets_rate_limited += 1;
            return;
        }
        let taken = match Packet::tag_of(bytes) {
            Some(TAG_OTHER) => {
                self.remotes[index].heard_at = now;
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

    /// Bytes a peer sent on the reliable channel.
    pub fn handle_message(&mut self, now: Micros, from: PeerId, bytes: &[u8]) {
        self.now = self.now.max(now);
        let Some(index) = self.remote_index(from) else { return };
        let remote = &mut self.remotes[index];
        if !remote.is_linked() {
            return;
        }
        let trusted = remote.is_trusted();
        if trusted {
            remote.heard_at = now;
        }
        self.quiescent_until = Micros::ZERO;
        let moves_state = bytes.first().is_some_and(|kind| transfer::Message::moves_state(*kind));
        if !moves_state && !remote.allowed.messages.spend(now, MESSAGES) {
            self.fault(index, PeerFault::RateLimitExceeded);
            return;
        }
        let taken = match bytes.first().copied() {
            Some(kind) if transfer::Message::is_kind(kind) => {
                transfer::Message::decode(bytes).map(|message| {
                    if trusted {
                        self.take_transfer(index, message);
                    }
                })
            }
            Some(kind) if membership::Message::is_kind(kind) => {
                membership::Message::decode(bytes).map(|message| {
                    if trusted {
                        self.take_membership(index, message);
                    }
                })
            }
            _ => Message::decode(bytes).map(|message| match message {
                Message::Announce(announce) => self.take_announce(index, &announce),
                Message::Findings(findings) if trusted => self.take_findings(index, findings),
                Message::Recovered { through } if trusted => self.take_recovered(index, through),
                Message::Findings(_) | Message::Recovered { .. } => {}
            }),
        };
        if let Err(error) = taken {
            self.fault(index, error.into());
        }
    }

    fn take_announce(&mut self, index: usize, announce: &Announce) {
        let remote = &mut self.remotes[index];
        let peer = remote.peer;
        // Who comes late, or again, still says what it was given: it has not heard that the match
        // began.
        let seat = self.seats.iter().chain(&self.founders).find(|seat| seat.peer == peer);
        let seat = seat.map(|seat| seat.slots);
        let refusal = match () {
            () if announce.version != PROTOCOL_VERSION => {
                Some(RejectReason::Version { ours: PROTOCOL_VERSION, theirs: announce.version })
            }
            () if announce.game_fingerprint != self.config.game_fingerprint => {
                let (ours, theirs) = (self.config.game_fingerprint, announce.game_fingerprint);
                Some(RejectReason::Game { ours, theirs })
            }
            () if announce.settings_fingerprint != self.settings_fingerprint => Some(RejectReason::Settings),
            () if announce.shape != self.shape && announce.shape != 0 && self.shape != 0 => {
                Some(RejectReason::Shape { ours: self.shape, theirs: announce.shape })
            }
            () if seat.is_some_and(|ours| ours != announce.slots && announce.slots != SlotSet::EMPTY) => {
                Some(RejectReason::Slots { ours: seat.unwrap_or_default(), theirs: announce.slots })
            }
            () => None,
        };
        if let Some(reason) = refusal {
            remote.handshake = Handshake::Refused;
            self.refused.push((peer, CloseCode::INCOMPATIBLE));
            self.events.push(SessionEvent::Rejected { peer, reason });
            return;
        }
        if remote.is_trusted() {
            self.fault(index, PeerFault::DuplicateAnnounce);
            return;
        }
        remote.meaning = None;
        self.membership.handle_link(peer);
        if remote.incarnation != Some(announce.incarnation) {
            remote.incarnation = Some(announce.incarnation);
            self.membership.handle_hello(peer, announce.incarnation);
        }
        remote.companies.0 = announce.cohort;
        remote.heard_at = self.now;
        remote.liveness =
            if remote.liveness == Liveness::Gone { Liveness::Interrupted } else { remote.liveness };
        remote.handshake = Handshake::Announced;
        self.events.push(SessionEvent::Synchronizing { peer, count: 1, total: HANDSHAKE_STEPS });
        self.judge_reachable(index);
    }

    fn take_membership(&mut self, index: usize, message: membership::Message) {
        if message == membership::Message::AskSnapshot {
            self.take_ask_snapshot(index);
            return;
        }
        // Whoever calls for a change makes everybody answer; whoever says no makes the lead call
        // for another.
        if let membership::Message::Collect { ballot, .. }
        | membership::Message::Accept { ballot, .. }
        | membership::Message::Nack { promised: ballot, .. } = &message
            && self.is_churn(index, ballot.number)
        {
            self.fault(index, PeerFault::TooManyViewChanges);
            return;
        }
        let peer = self.remotes[index].peer;
        if let membership::Message::PeerStatus { standing, .. } = &message
            && standing.knows.is_none()
            && self.remotes[index].told.implied
        {
            // It did not start together with us after all.
            self.remotes[index].told.forget();
        }
        if matches!(message, membership::Message::PeerStatus { .. }) {
            self.remotes[index].unable_until = None;
        }
        let stay = self.membership.latest_standing(peer).map(|standing| standing.incarnation);
        self.sync_held();
        let taken = self.membership.handle_message(self.now, peer, message, &mut self.ledger);
        let stays = self.membership.latest_standing(peer).map(|standing| standing.incarnation);
        let watches = self.membership.latest_standing(peer).is_some_and(|standing| standing.players == 0);
        self.remotes[index].watches = watches && !self.remotes[index].is_open;
        if stay.is_some() && stay != stays {
            let agreed = self.membership.confirmed();
            self.remotes[index].begin_stay(agreed);
        }
        self.blame(index, taken);
        self.follow_membership();
    }

    /// Whether a peer calls for ever new changes. One that is only repeated costs nothing.
    fn is_churn(&mut self, index: usize, ballot: u32) -> bool {
        let peer = self.remotes[index].peer;
        let leads = self.membership.first_here().is_some_and(|first| first.peer == peer);
        let allowance = if leads { CHANGES_OF_LEAD } else { CHANGES };
        let allowed = &mut self.remotes[index].allowed;
        let newer = ballot > allowed.ballot;
        allowed.ballot = allowed.ballot.max(ballot);
        newer && !allowed.changes.spend(self.now, allowance)
    }

    /// A promise as far as it is heeded: whoever claims ever higher ones makes the others agree
    /// anew without end.
    ///
    /// # Errors
    /// If it says that it called for all of these itself.
    fn heed_promise(&mut self, index: usize, promised: Ballot) -> Result<Option<Ballot>, PeerFault> {
        if promised.by.peer == self.remotes[index].peer {
            let churn = self.is_churn(index, promised.number);
            return if churn { Err(PeerFault::TooManyViewChanges) } else { Ok(Some(promised)) };
        }
        let allowed = &mut self.remotes[index].allowed;
        let newer = promised.number > allowed.promise_ballot;
        if newer && !allowed.promises.spend(self.now, PROMISES) {
            return Ok(None);
        }
        allowed.promise_ballot = allowed.promise_ballot.max(promised.number);
        Ok(Some(promised))
    }

    fn take_transfer(&mut self, index: usize, message: transfer::Message<'_>) {
        use transfer::Message;
        match message {
            Message::Offer(offer) => self.take_offer(index, offer),
            Message::Piece { number, bytes } => self.take_piece(index, Some((number, bytes))),
            Message::Packed { number, bytes } => self.take_packed(index, number, bytes),
            Message::Got { number, bytes } => self.take_got(index, number, bytes),
            Message::Decline(why) => self.take_decline(index, why),
            Message::Feed(feed) => self.take_feed(index, *feed),
            Message::AskFeed { from, known, depth } => self.take_ask_feed(index, from, known, depth),
            Message::Enough => self.donations.forget(self.remotes[index].peer),
            Message::Forward { to, bytes } => self.take_letter(index, to, bytes),
            Message::ForwardFrom { from, bytes } => {
                if self.take_letter_from(index, from, bytes).is_err() {
                    self.stats.forwards_rejected += 1;
                }
            }
        }
    }

    /// A packet of somebody in no match, or from before it began: only the clocks count.
    fn take_stranger(&mut self, now: Micros, index: usize, packet: &Packet<'_>) {
        self.remotes[index].heard_at = now;
        self.take_clock(now, index, packet);
        self.note_heard(index);
    }

    /// A packet of somebody for whom the match has begun already. Its clock is what we still wait
    /// for.
    fn take_early(&mut self, now: Micros, index: usize, bytes: &[u8]) -> Result<(), PeerFault> {
        let peer = self.remotes[index].peer;
        let seat = self.seats.iter().find(|seat| seat.peer == peer);
        let packet = Packet::decode(bytes, seat.map_or(0, |seat| seat.slots.len()) * I::SIZE)?;
        self.take_stranger(now, index, &packet);
        Ok(())
    }

    fn take_tagged(&mut self, now: Micros, index: usize, tag: u8, bytes: &[u8]) -> Result<(), PeerFault> {
        let epoch = self.membership.epoch().number();
        let known = self.remotes[index].meaning.filter(|known| known.tag == tag && known.epoch == epoch);
        let players = match known {
            Some(known) => known.players,
            None => match self.membership.standing_of(self.remotes[index].peer, tag) {
                Some(standing) => standing.players,
                None if tag == membership::IMPLIED_TAG && !self.seats.is_empty() => {
                    return self.take_early(now, index, bytes);
                }
                None => {
                    // What it means is still under way; what it says comes again.
                    self.remotes[index].heard_at = now;
                    return Ok(());
                }
            },
        };
        // Not taken out: a packet is large enough for its copies to show in a profile.
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

    /// Finds out what a packet's tag means, and remembers it until something changes.
    fn find_meaning(
        &mut self,
        now: Micros,
        index: usize,
        packet: &Packet<'_>,
    ) -> Result<SenderContext, PeerFault> {
        let peer = self.remotes[index].peer;
        let nothing = SenderContext::nothing(peer, packet.tag);
        if !self.running {
            return Ok(nothing);
        }
        let promised = match packet.promised {
            Some(promised) => self.heed_promise(index, promised)?,
            None => None,
        };
        self.sync_held();
        let confirmed = Frame::START;
        let sign = SenderStatus { tag: packet.tag, observer: packet.observer, promised, confirmed };
        let hearing = match self.membership.hear(now, peer, sign, &self.ledger) {
            Ok(hearing) => hearing,
            Err(fault) => {
                self.blame(index, Err(fault));
                return Ok(nothing);
            }
        };
        self.send_membership();
        let Some(standing) = self.membership.standing_of(peer, packet.tag) else { return Ok(nothing) };
        let stream = StreamId { peer, incarnation: standing.incarnation };
        let me = self.membership.me().incarnation;
        let own_first = self.membership.standing().and_then(|own| own.first);
        let knows_us =
            standing.knows.is_some_and(|known| known.incarnation == me && Some(known.first) == own_first);
        let track = self.ledger.track_of(stream, standing.players);
        if track.is_none() && self.ledger.track_index(stream).is_some() {
            // Whoever admitted it gave it another number of slots: its entries fit nowhere.
            return Ok(nothing);
        }
        let meaning = SenderContext {
            tag: packet.tag,
            epoch: self.membership.epoch().number(),
            observer: packet.observer,
            // What needs no answer need not be judged again.
            plain: matches!(hearing, Acceptance::All(_)) || packet.observer,
            hearing,
            stream,
            first: standing.first,
            players: standing.players,
            knows_us,
            grows: self.membership.grows(stream),
            track,
        };
        self.remotes[index].meaning = Some(meaning);
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
        let told_newest = self.ledger.local.newest();
        let remote = &mut self.remotes[index];
        remote.heard_at = now;
        if packet.missing {
            remote.lossy_until = now + super::send::LOSS_MEMORY;
        }
        if meaning.knows_us {
            let mut acked = complete(packet.ack_low, remote.acked.unwrap_or(told_newest));
            if acked > i64::from(told_newest.number()) && remote.acked.is_none() && acked >= LOW_BITS {
                // Who has just come may hold nothing of us but what is so long ago that the low
                // bits mean another frame.
                acked -= LOW_BITS;
            }
            if acked > i64::from(told_newest.number()) {
                let frame = Frame::new(acked.min(u32::MAX.into()) as u32);
                return Err(PeerFault::AckBeyondSent { frame, newest: told_newest });
            }
            let acked = frame_or_start(acked);
            remote.acked = Some(remote.acked.map_or(acked, |before| before.max(acked)));
        }
        let newest = frame_or_start(complete(packet.newest_low, have));
        if matches!(meaning.hearing, Acceptance::All(_)) && packet.confirmed_age < u8::MAX {
            remote.confirmed = remote.confirmed.max(newest.saturating_sub(packet.confirmed_age.into()));
        }
        if meaning.hearing != Acceptance::Nothing {
            self.take_entries(index, newest, packet, meaning, have)?;
        }
        self.take_time(now, index, newest, packet, meaning);
        if let Some(check) = packet.check {
            let frame = newest.saturating_sub(check.age_frames.into());
            match meaning.hearing {
                Acceptance::All(_) => self.take_check(index, frame, check),
                _ => self.take_check_watching(index, frame, check),
            }
        }
        self.note_heard(index);
        Ok(())
    }

    /// Up to which frame the stream a packet is about is held.
    fn have_of_stream(&self, meaning: &SenderContext) -> Frame {
        let track = meaning.track.map(|track| &self.ledger.tracks()[track]);
        match track.filter(|track| track.is_held()) {
            Some(track) => track.have,
            None => match self.membership.held(meaning.stream).filter(|held| !held.is_empty()) {
                Some(held) => held.through,
                // Nothing of it is held: it is wanted from its beginning, whenever it counts from.
                None => meaning.first.map_or(self.ledger.current, Frame::previous),
            },
        }
    }

    /// Up to which frame a peer's stream is held, as far as we told it that we know that stream.
    pub(super) fn have_of(&self, index: usize) -> Frame {
        let remote = &self.remotes[index];
        let Some(known) = remote.told.standing().and_then(|standing| standing.knows) else {
            return Frame::START;
        };
        let told = |meaning: &SenderContext| {
            meaning.stream.incarnation == known.incarnation && meaning.first == Some(known.first)
        };
        match remote.meaning.as_ref().filter(|meaning| told(meaning)) {
            Some(meaning) => self.have_of_stream(meaning),
            None => {
                // Nothing came from it yet, but whoever brought us in told us what it had.
                let stream = StreamId { peer: remote.peer, incarnation: known.incarnation };
                let held = self.membership.held(stream).filter(|held| !held.is_empty());
                held.map_or(known.first.previous(), |held| held.through)
            }
        }
    }

    /// New entries confirm frames, correct guesses, and change the guesses that follow from them.
    fn take_entries(
        &mut self,
        index: usize,
        newest: Frame,
        packet: &Packet<'_>,
        meaning: &SenderContext,
        have: Frame,
    ) -> Result<(), PeerFault> {
        let carried = u32::from(packet.runs.carried);
        // The entries of an honest peer reach as far as it can have confirmed ours. Who comes in
        // may be far behind everybody, and nobody waits for whoever has said goodbye.
        let plays = self.membership.mode() == Mode::Member && self.membership.own_end().is_none();
        let in_step = plays && !self.catching_up && meaning.track.is_some();
        let possible = self.membership.confirmed().saturating_add(2 * self.config.reach_frames());
        // A little more is only not taken: whoever lags, or was cut and does not know it, may see
        // that of an honest one.
        let absurd = possible.saturating_add(2 * self.config.reach_frames());
        if newest > absurd && in_step {
            return Err(PeerFault::InputTooFarAhead { frame: newest, possible });
        }
        if carried == 0 || newest.number() < carried {
            return Ok(());
        }
        let base = newest.saturating_sub(carried);
        if base > have {
            let fault = PeerFault::InputGap { from: base.next(), have };
            // Of whoever was cut and does not know it, all there will ever be is held.
            let held = meaning.track.map(|track| &self.ledger.tracks()[track]);
            let held = held.is_some_and(|track| track.is_held() && track.have < track.row.last_frame);
            return if in_step && meaning.knows_us && held { Err(fault) } else { Ok(()) };
        }
        if self.ledger.current.max(have).since(base) >= self.ledger.table.frames() {
            // So old that the entry it builds on is forgotten; everything in it is long confirmed.
            return Ok(());
        }
        let Some(track) = meaning.track else {
            return self.take_warm(index, base, newest, packet, meaning);
        };
        let RemoteStream { row: RosterEntry { last_frame: row_last, .. }, since, .. } =
            self.ledger.tracks()[track];
        if base < since && (base.next() < since || Some(base.next()) != meaning.first) {
            // What the runs build on is not in the table: it is with those who were not there yet.
            return self.take_warm(index, base, newest, packet, meaning);
        }
        let last = if meaning.grows { newest.min(row_last).min(possible) } else { have };
        if !packet.entry_controls.is_empty() || newest <= have {
            self.check_sayings(meaning.stream, base, newest, packet)?;
        }
        let entry_bytes = usize::from(meaning.players) * I::SIZE;
        self.ledger.take_runs(track, base, last, entry_bytes, &packet.runs)?;
        if last > have {
            self.held_news = true;
            if !packet.entry_controls.is_empty() {
                self.take_sayings(meaning.stream, newest, have, last, packet);
            }
        }
        Ok(())
    }

    /// What entries say that are held already must be what they said before.
    fn check_sayings(
        &self,
        stream: StreamId,
        base: Frame,
        newest: Frame,
        packet: &Packet<'_>,
    ) -> Result<(), PeerFault> {
        let Some(held) = self.membership.held(stream) else { return Ok(()) };
        let known = |frame: Frame| frame > base && frame >= held.first && frame <= held.through.min(newest);
        let told = |frame: Frame| {
            let mut all = packet.entry_controls.iter();
            all.find(|(age, _)| newest.saturating_sub((*age).into()) == frame).map(|(_, extras)| extras)
        };
        let frames = packet.entry_controls.iter().map(|(age, _)| newest.saturating_sub(age.into()));
        let held_frames = held.entry_controls().iter().map(|(frame, _)| *frame);
        for frame in frames.chain(held_frames).filter(|frame| known(*frame)) {
            if told(frame).unwrap_or_default() != held.extras(frame) {
                return Err(PeerFault::InputChanged { frame });
            }
        }
        Ok(())
    }

    fn take_sayings(
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
        self.follow_membership();
    }

    /// Entries of somebody who has no place in the table yet, or had none when it made them.
    fn take_warm(
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
            self.ledger.entry_before(meaning.stream, base.next())
        };
        let Some(mut entry) = before.filter(|entry| entry.len() == players) else { return Ok(()) };
        let mut tail = EntryRange::from(meaning.stream, base.next());
        let mut value = vec![0; players * I::SIZE];
        let mut frame = base;
        for change in packet.runs.entries(players * I::SIZE) {
            frame = frame.next();
            for (nth, input) in entry.iter_mut().enumerate() {
                let place = nth * I::SIZE..(nth + 1) * I::SIZE;
                *input = match change {
                    Some(bytes) => I::read(&bytes[place.clone()])?,
                    None => input.repeat(),
                };
                input.write(&mut value[place]);
            }
            let mut said = packet.entry_controls.iter();
            let extras = said.find(|(age, _)| newest.saturating_sub((*age).into()) == frame);
            tail.push(&value, extras.map(|(_, extras)| extras).unwrap_or_default());
        }
        self.sync_held();
        let taken = self.membership.take_tail(&tail, &mut self.ledger);
        self.blame(index, taken);
        self.follow_membership();
        Ok(())
    }

    fn take_clock(&mut self, now: Micros, index: usize, packet: &Packet<'_>) {
        let remote = &mut self.remotes[index];
        if let Some(time) = packet.time {
            remote.delay_frames = time.delay_frames.into();
            remote.clock.handle(now, time.clock_ms, time.echo_ms, time.hold_ms);
            let rtt_us = remote.clock.rtt().map_or(0, |rtt| rtt.get() as i64);
            let one_way = rtt_us * FRAME_Q16 / (2 * self.frame.get() as i64);
            if time.ahead_quarters != AHEAD_NONE {
                remote.advantage.handle_report(time.ahead_quarters, one_way);
            }
            if remote.clock.is_known() {
                remote.one_way_percent = (one_way * 100 / FRAME_Q16) as u32;
            }
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
        let remote = &mut self.remotes[index];
        if self.running && newest > Frame::START && meaning.hearing != Acceptance::Nothing && !packet.observer
        {
            // Delay is no sign of being ahead: with it, every change of delay would look like
            // drift.
            let theirs = i64::from(newest.number()) - i64::from(remote.delay_frames);
            remote.advantage.handle_distance(i64::from(self.ledger.current.number()) - theirs);
            if remote.newest.is_none_or(|(known, _)| newest > known) {
                remote.newest = Some((newest, now));
            } else if remote.newest.is_some_and(|(known, _)| newest < known) {
                self.stats.packets_stale += 1;
            }
        }
    }

    fn note_heard(&mut self, index: usize) {
        let remote = &mut self.remotes[index];
        let peer = remote.peer;
        if remote.liveness != Liveness::Heard {
            remote.liveness = Liveness::Heard;
            self.tell_liveness(index);
            self.judge_reachable(index);
        }
        let remote = &mut self.remotes[index];
        if remote.handshake == Handshake::Announced && remote.clock.is_known() {
            remote.handshake = Handshake::Synchronized;
            self.events.push(SessionEvent::Synchronizing {
                peer,
                count: HANDSHAKE_STEPS,
                total: HANDSHAKE_STEPS,
            });
            self.events.push(SessionEvent::Synchronized { peer });
            self.start_when_ready();
        }
    }

    pub(super) fn fault(&mut self, index: usize, fault: PeerFault) {
        let remote = &mut self.remotes[index];
        if remote.handshake == Handshake::Refused {
            return;
        }
        remote.handshake = Handshake::Refused;
        let peer = remote.peer;
        remote.told.forget();
        self.quiescent_until = Micros::ZERO;
        self.refused.push((peer, CloseCode::PROTOCOL_ERROR));
        self.events.push(SessionEvent::PeerFault { peer, fault });
        self.set_gone(index);
    }
}

#[inline]
fn frame_or_start(number: i64) -> Frame {
    Frame::new(number.clamp(0, u32::MAX.into()) as u32)
}
