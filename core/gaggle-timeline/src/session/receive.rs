//! What comes in: packets of the running game and messages.

use gaggle_kit::{Frame, Input, Micros, PeerId};
use gaggle_link::Goodbye;

use super::{HANDSHAKE_STEPS, Session};
use crate::announce::{Announce, Message, PROTOCOL_VERSION};
use crate::event::{Event, PeerFault, Refusal};
use crate::packet::{AHEAD_NONE, Packet, complete};
use crate::remote::{Handshake, Liveness};
use crate::time_sync::FRAME_Q16;

/// A history is tagged per link; with a fixed roster there is one.
pub(super) const TAG: u8 = 0;

impl<I: Input> Session<I> {
    /// Bytes a peer sent on the unreliable channel, and when they arrived (not the time of the last
    /// tick: round trips would look a frame or two too short).
    ///
    /// Bytes that nobody honest sends end the trust in that peer, told by [`Event::Fault`].
    pub fn handle_packet(&mut self, now: Micros, from: PeerId, bytes: &[u8]) {
        self.now = self.now.max(now);
        let Some(index) = self.remote_index(from) else { return };
        if !self.remotes[index].is_trusted() {
            // Unreliable packets may overtake the announcement; what they say comes again.
            return;
        }
        let entry_bytes = self.remotes[index].row.slots.len() * I::SIZE;
        // Not chained: a packet is large enough for its copies to show in a profile.
        let taken = match &Packet::decode(bytes, entry_bytes) {
            Ok(packet) => self.take_packet(now, index, packet, entry_bytes),
            Err(error) => Err(PeerFault::Malformed(*error)),
        };
        if let Err(fault) = taken {
            self.fault(index, fault);
        }
    }

    /// Bytes a peer sent on the reliable channel.
    pub fn handle_message(&mut self, now: Micros, from: PeerId, bytes: &[u8]) {
        self.now = self.now.max(now);
        let Some(index) = self.remote_index(from) else { return };
        if !self.remotes[index].is_linked() {
            return;
        }
        match Message::decode(bytes) {
            Ok(Message::Announce(announce)) => self.take_announce(index, &announce),
            Ok(Message::Findings(findings)) if self.remotes[index].is_trusted() => {
                self.take_findings(index, findings);
            }
            Ok(Message::Findings(_)) => {}
            Err(error) => self.fault(index, error.into()),
        }
    }

    fn take_announce(&mut self, index: usize, announce: &Announce) {
        let remote = &mut self.remotes[index];
        let refusal = match () {
            () if announce.version != PROTOCOL_VERSION => {
                Some(Refusal::Version { ours: PROTOCOL_VERSION, theirs: announce.version })
            }
            () if announce.game_fingerprint != self.config.game_fingerprint => {
                let (ours, theirs) = (self.config.game_fingerprint, announce.game_fingerprint);
                Some(Refusal::Game { ours, theirs })
            }
            () if announce.settings_fingerprint != self.settings_fingerprint => Some(Refusal::Settings),
            () if announce.slots != remote.row.slots => {
                Some(Refusal::Slots { ours: remote.row.slots, theirs: announce.slots })
            }
            () => None,
        };
        let peer = remote.peer();
        if let Some(reason) = refusal {
            remote.handshake = Handshake::Refused;
            self.refused.push((peer, Goodbye::INCOMPATIBLE));
            self.events.push(Event::Refused { peer, reason });
            return;
        }
        if remote.incarnation.is_some_and(|known| known != announce.incarnation) {
            self.fault(index, PeerFault::AnnouncedTwice);
            return;
        }
        remote.incarnation = Some(announce.incarnation);
        remote.heard_at = self.now;
        if remote.handshake == Handshake::Linked {
            remote.handshake = Handshake::Announced;
            self.events.push(Event::Synchronizing { peer, count: 1, total: HANDSHAKE_STEPS });
        }
    }

    fn take_packet(
        &mut self,
        now: Micros,
        index: usize,
        packet: &Packet<'_>,
        entry_bytes: usize,
    ) -> Result<(), PeerFault> {
        if packet.tag != TAG {
            return Ok(());
        }
        let remote = &mut self.remotes[index];
        remote.heard_at = now;
        let newest = complete(packet.newest_low, remote.have);
        let acked = complete(packet.ack_low, remote.acked);
        let told_newest = self.local.newest();
        if acked > i64::from(told_newest.number()) {
            let frame = Frame::new(acked.min(u32::MAX.into()) as u32);
            return Err(PeerFault::AckOfUnsent { frame, newest: told_newest });
        }
        let newest = frame_or_start(newest);
        remote.acked = remote.acked.max(frame_or_start(acked));
        remote.confirmed = remote.confirmed.max(newest.saturating_sub(packet.confirmed_age.into()));
        if packet.missing {
            remote.lossy_until = now + super::send::LOSS_MEMORY;
        }
        self.take_entries(index, newest, packet, entry_bytes)?;
        self.take_time(now, index, newest, packet);
        if let Some(check) = packet.check {
            self.take_check(index, newest.saturating_sub(check.age_frames.into()), check);
        }
        self.note_heard(index);
        Ok(())
    }

    /// New entries confirm frames, correct guesses, and change the guesses that follow from them.
    fn take_entries(
        &mut self,
        index: usize,
        newest: Frame,
        packet: &Packet<'_>,
        entry_bytes: usize,
    ) -> Result<(), PeerFault> {
        let carried = u32::from(packet.runs.carried);
        let remote = &self.remotes[index];
        let (have, slots) = (remote.have, remote.row.slots);
        // The entries of an honest peer reach as far as it can have confirmed ours.
        let possible = self.confirmed.saturating_add(2 * self.config.reach_frames());
        if newest > possible {
            return Err(PeerFault::InputTooFarAhead { frame: newest, possible });
        }
        if carried == 0 || newest.number() < carried {
            return Ok(());
        }
        let base = newest.saturating_sub(carried);
        if base > have {
            return Err(PeerFault::InputGap { from: base.next(), have });
        }
        if self.current.max(have).since(base) >= self.table.frames() {
            // So old that the entry it builds on is forgotten; everything in it is long confirmed.
            return Ok(());
        }
        let last = remote.row.last.min(newest);
        for (nth, slot) in slots.iter().enumerate() {
            let mut column = self.table.column(slot);
            let mut input = *column.cell(base);
            let mut frame = base;
            for change in packet.runs.entries(entry_bytes) {
                frame = frame.next();
                input = match change {
                    Some(bytes) => I::read(&bytes[nth * I::SIZE..(nth + 1) * I::SIZE])?,
                    None => input.repeat(),
                };
                let cell = column.cell(frame);
                if frame <= have {
                    if *cell != input {
                        return Err(PeerFault::InputChanged { frame });
                    }
                } else if frame > last {
                    break;
                } else if frame > self.current {
                    *cell = input;
                } else if *cell != input {
                    *cell = input;
                    if frame < self.changed && self.log.input_matters(frame, slot, input) {
                        self.changed = frame;
                    } else {
                        self.stats.corrections_harmless += u64::from(frame < self.changed);
                    }
                }
            }
        }
        if last > have {
            self.remotes[index].have = last;
            self.guess_again(index);
            self.horizon_outdated |= have == self.horizon;
        }
        Ok(())
    }

    /// Frames simulated beyond what is known guessed from an older input: guess them again.
    fn guess_again(&mut self, index: usize) {
        let (have, slots) = (self.remotes[index].have, self.remotes[index].row.slots);
        for slot in slots {
            let guess = self.table.cell(have, slot).repeat();
            for number in have.number() + 1..=self.current.number() {
                let frame = Frame::new(number);
                let cell = self.table.cell_mut(frame, slot);
                if *cell == guess {
                    // All later frames were guessed from the same input as this one.
                    break;
                }
                *cell = guess;
                if frame < self.changed && self.log.input_matters(frame, slot, guess) {
                    self.changed = frame;
                }
            }
        }
    }

    fn take_time(&mut self, now: Micros, index: usize, newest: Frame, packet: &Packet<'_>) {
        let remote = &mut self.remotes[index];
        if let Some(time) = packet.time {
            remote.delay_frames = time.delay_frames.into();
            remote.clock.handle(now, time.clock_ms, time.echo_ms, time.hold_ms);
            if time.ahead_quarters != AHEAD_NONE {
                let rtt_us = remote.clock.rtt().map_or(0, |rtt| rtt.get() as i64);
                let one_way = rtt_us * FRAME_Q16 / (2 * self.config.frame_micros().get() as i64);
                remote.advantage.handle_report(time.ahead_quarters, one_way);
                remote.one_way_percent = (one_way * 100 / FRAME_Q16) as u32;
            }
        }
        if self.running && newest > Frame::START {
            // Delay is no sign of being ahead: with it, every change of delay would look like drift.
            let theirs = i64::from(newest.number()) - i64::from(remote.delay_frames);
            remote.advantage.handle_distance(i64::from(self.current.number()) - theirs);
        }
    }

    fn note_heard(&mut self, index: usize) {
        let remote = &mut self.remotes[index];
        let peer = remote.peer();
        if remote.liveness != Liveness::Heard {
            remote.liveness = Liveness::Heard;
            self.events.push(Event::Resumed { peer });
        }
        if remote.handshake == Handshake::Announced && remote.clock.is_known() {
            remote.handshake = Handshake::Synchronized;
            self.events.push(Event::Synchronizing { peer, count: HANDSHAKE_STEPS, total: HANDSHAKE_STEPS });
            self.events.push(Event::Synchronized { peer });
            self.start_when_ready();
        }
    }

    pub(super) fn fault(&mut self, index: usize, fault: PeerFault) {
        let remote = &mut self.remotes[index];
        if remote.handshake == Handshake::Refused {
            return;
        }
        remote.handshake = Handshake::Refused;
        let peer = remote.peer();
        self.refused.push((peer, Goodbye::FAULT));
        self.events.push(Event::Fault { peer, fault });
        self.set_gone(index);
    }
}

fn frame_or_start(number: i64) -> Frame {
    Frame::new(number.clamp(0, u32::MAX.into()) as u32)
}
