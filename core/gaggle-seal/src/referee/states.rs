//! States of the game at a referee: snapshots for joiners, donors, hashes and verdicts.
//!
//! `Referee` calls it with every tick and message. Absent: what states mean, sealing.

use gaggle_kit::{Frame, Micros};

use super::checks::Checks;
use super::donors::{Donated, Donors, Taken};
use super::links::LinkId;
use super::{Referee, RefereeEvent, SNAPSHOT_INTERVAL};
use crate::checkpoint;
use crate::config::SealConfig;
use crate::journal::Journal;
use crate::message::{Check, Message, StateInfo};
use crate::roster::Row;
use crate::sealer::{Fault, Sealer};
use crate::transfer::{Outgoing, PIECE_BYTES};

/// States that clients gave or are asked for, and what they reported.
#[derive(Debug)]
pub(super) struct States {
    pub(super) checks: Checks,
    pub(super) donors: Donors,
    asked_at: Option<Micros>,
    /// Number of the last state sent.
    transfers: u32,
}

impl States {
    pub(super) fn new(config: &SealConfig) -> States {
        let donors = Donors::new(config.spectator_delay_frames);
        States { checks: Checks::default(), donors, asked_at: None, transfers: 0 }
    }
}

/// Bytes of a message that carries a piece, for the rate of states.
const PIECE_COST: u64 = PIECE_BYTES as u64;

impl Referee {
    /// Takes the state of a sealed frame from the application, as if clients had given it: joiners
    /// start from it. False if the frame is not sealed, or no longer kept.
    pub fn put_snapshot(&mut self, frame: Frame, state_hash: u64, bytes: Vec<u8>) -> bool {
        let is_kept = self.sealer.log().keeps(frame) && frame <= self.told();
        if is_kept {
            self.states.donors.keep(Donated { frame, state_hash, bytes: bytes.into() });
        }
        is_kept
    }

    /// Clients that play, first in rank first.
    fn playing(&self) -> Vec<LinkId> {
        let log = self.sealer.log();
        let row = |link: &super::Link| -> Option<Row> {
            let slot =
                link.slots.filter(|slots| self.sealer.is_present(link.stream, slots))?.iter().next()?;
            link.progress.ack?;
            log.roster().row(slot.index())
        };
        let ranked = self.links.iter().filter_map(|(id, link)| {
            let slot = link.slots?.iter().next()?;
            row(link).map(|row| ((row.first, slot), id))
        });
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, id)| id).collect()
    }

    /// Takes a client's hashes of a frame.
    pub(super) fn take_check(&mut self, id: LinkId, check: &Check) -> Result<(), Fault> {
        let log = self.sealer.log();
        if check.frame > log.sealed() {
            return Err(Fault::AckBeyondSealed(check.frame));
        }
        let Some(own) = log.hash(check.frame) else { return Ok(()) };
        let Some(link) = self.links.get_mut(id) else { return Ok(()) };
        // Before it has said what it holds of this term, its hashes may be of another one.
        if link.progress.ack.is_none() || !check.frame.number().is_multiple_of(self.config.check_frames) {
            return Ok(());
        }
        link.depth = check.depth;
        if check.log_hash != own {
            self.stats.logs_rejected += 1;
            link.progress.ack = None;
            self.send_on(1, id, &Message::Verdict { frame: check.frame, is_of_log: true });
            return Ok(());
        }
        if !self.states.checks.take(self.now, id, check.frame, check.state_hash) {
            self.tell_minority(check.frame, id);
        }
        Ok(())
    }

    /// Tells a client that its state is wrong, and serves it a right one.
    fn tell_minority(&mut self, frame: Frame, id: LinkId) {
        self.send_on(1, id, &Message::Verdict { frame, is_of_log: false });
        let Some(link) = self.links.get_mut(id) else { return };
        let stream = link.stream;
        link.snapshot.want_after(frame);
        self.stats.desyncs += 1;
        self.event(RefereeEvent::Desync { stream, frame });
    }

    /// Decides on hashes, chooses donors, serves states. Called with every tick.
    pub(super) fn tick_states(&mut self) {
        let is_check_due = self.sealer.log().sealed().number().is_multiple_of(8);
        if is_check_due && !self.states.checks.is_empty() {
            let playing = self.playing();
            while let Some((frame, minority)) = self.states.checks.decide(self.now, &playing) {
                minority.into_iter().for_each(|id| self.tell_minority(frame, id));
            }
        }
        self.choose_donor();
        self.serve_snapshots();
        self.send_pieces();
    }

    pub(super) fn choose_donor(&mut self) {
        let verdict = self.states.donors.open_frame().and_then(|frame| self.states.checks.verdict(frame));
        if let Some((link, number)) = self.states.donors.choose(verdict) {
            self.send(link, &Message::Got { number, pieces: 0 });
        }
    }

    pub(super) fn take_piece(
        &mut self,
        id: LinkId,
        number: u32,
        index: u32,
        bytes: &[u8],
    ) -> Result<(), Fault> {
        match self.states.donors.piece(self.now, id, number, index, bytes)? {
            Taken::Piece(Some(pieces)) => self.send(id, &Message::Got { number, pieces }),
            Taken::Piece(None) => {}
            Taken::Whole => self.stats.states_donated += 1,
            Taken::False => return Err(Fault::FalseState),
            // Pieces of a question that timed out may be under way.
            Taken::Unasked => {
                let link = self.links.get_mut(id);
                let is_over = link.is_some_and(|link| {
                    link.arrivals.messages.try_acquire(self.now, &super::MESSAGE_RATE, 1).is_err()
                });
                return if is_over { Err(Fault::Flood) } else { Ok(()) };
            }
        }
        Ok(())
    }

    fn serve_snapshots(&mut self) {
        let now = self.now;
        let is_wanted = |link: &super::Link| link.snapshot.is_due(now, SNAPSHOT_INTERVAL);
        if !self.links.iter().any(|(_, link)| is_wanted(link)) {
            return;
        }
        let mut lacks_state = false;
        for index in 0..self.links.end() {
            let limit = self.told();
            let delayed = limit.saturating_sub(self.config.spectator_delay_frames);
            let log = self.sealer.log();
            let Some((id, link)) = self.links.at(index) else { continue };
            if !is_wanted(link) {
                continue;
            }
            let last = if link.slots.is_some() { limit } else { delayed };
            let usable = |frame: Frame| log.keeps(frame) && link.snapshot.allows(frame);
            // At the start of a match the state is the one every client begins with.
            let is_start = log.oldest() == Frame::START && link.snapshot.allows(Frame::START);
            let state = self.states.donors.newest(usable, last).cloned();
            let state = state.or_else(|| is_start.then(Donated::of_start));
            let Some(state) = state else {
                // A newer state will be usable after the spectators' delay: none is asked for.
                lacks_state |= self.states.donors.newest(usable, limit).is_none();
                continue;
            };
            link.snapshot.note_sent(now);
            link.is_told = true;
            self.states.transfers = self.states.transfers.wrapping_add(1);
            let number = self.states.transfers;
            let mut checkpoint = Vec::new();
            checkpoint::write(log, state.frame, &mut checkpoint);
            let piece = &state.bytes[..state.bytes.len().min(PIECE_BYTES)];
            let info = StateInfo { number, state_hash: state.state_hash, length: state.bytes.len() };
            link.sending = Some(Outgoing::begun(number, state.bytes.clone()));
            let lineage = self.lineage.clone();
            let message = Message::Snapshot { lineage, state: info, piece, checkpoint: &checkpoint };
            self.send_on(1, id, &message);
        }
        if lacks_state {
            self.want_state();
        }
    }

    /// Asks clients for a state, and tells the application that one is wanted.
    fn want_state(&mut self) {
        let now = self.now;
        if self.states.asked_at.is_none_or(|at| now.since(at) >= SNAPSHOT_INTERVAL) {
            self.states.asked_at = Some(now);
            self.event(RefereeEvent::SnapshotWanted);
            self.begin_again_if_lost();
        }
        if self.states.donors.is_asking(now) {
            return;
        }
        // A client whose state is wrong has none to give.
        let mut playing = self.playing();
        playing.retain(|id| self.links.get(*id).is_some_and(|link| !link.snapshot.is_wanted()));
        if playing.is_empty() {
            return;
        }
        // The next check frame: no client is past it, and all will report its hash.
        let (sealed, step) = (self.sealer.log().sealed().number(), self.config.check_frames);
        let Some(number) = (sealed / step + 1).checked_mul(step).filter(|number| *number < u32::MAX) else {
            return;
        };
        let frame = Frame::new(number);
        let (number, asked) = self.states.donors.ask(now, frame, &playing);
        for link in asked {
            self.send(link, &Message::Ask { number, frame });
        }
    }

    /// Begins the match again if no client holds any frame, and none plays: its state is lost.
    fn begin_again_if_lost(&mut self) {
        let log = self.sealer.log();
        let is_held = self.links.iter().any(|(_, link)| link.progress.ack.is_some() || link.is_told);
        let is_played = (0..log.shape().slots()).any(|slot| log.roster().row(slot).is_some());
        if is_held || is_played {
            return;
        }
        let frame = log.sealed();
        let (lineage, log) = self.anew(frame);
        self.restart_with(lineage, log);
        self.event(RefereeEvent::Resumed { base: Frame::START, answers: 0, is_anew: true });
    }

    /// Continues with another log, of this term.
    pub(super) fn restart_with(&mut self, lineage: crate::lineage::Lineage, log: crate::log::Log) {
        self.fanouts = super::Fanouts::new(&self.config, log.sealed());
        self.sealer = Sealer::new(self.config.clone(), log, self.now, self.ablation);
        self.lineage = lineage;
        self.states.checks.clear();
        self.states.donors.clear();
        match &mut self.journal {
            Some(journal) => journal.start_again(self.sealer.log(), &self.lineage),
            None if self.config.journal => {
                self.journal = Some(Journal::begin(self.sealer.log(), &self.lineage));
            }
            None => {}
        }
    }

    fn send_pieces(&mut self) {
        for index in 0..self.links.end() {
            let (now, rate) = (self.now, self.config.state_rate);
            let Some((id, link)) = self.links.at(index) else { continue };
            let Some(sending) = &mut link.sending else { continue };
            while let Some((index, bytes)) = sending.peek() {
                if link.progress.state_rate.try_acquire(now, &rate, PIECE_COST).is_err() {
                    break;
                }
                let mut message = Vec::new();
                Message::Piece { number: sending.number(), index, bytes }.write(&mut message);
                self.outbox.push_back((id, 1, message));
                sending.advance();
            }
            if sending.is_sent() {
                link.sending = None;
            }
        }
    }

    /// Notes how many pieces the receiver of a state holds.
    pub(super) fn confirm_pieces(&mut self, id: LinkId, number: u32, pieces: u32) -> Result<(), Fault> {
        let link = self.links.get_mut(id);
        let sending =
            link.and_then(|link| link.sending.as_mut()).filter(|sending| sending.number() == number);
        sending.map_or(Ok(()), |sending| Ok(sending.confirm(pieces)?))
    }

    /// Frames by which each client predicts ahead on average, in thousandths, and clients more than
    /// a second behind.
    pub fn health(&self) -> (u32, usize) {
        let (sealed, second) = (self.sealer.log().sealed(), self.config.tick_rate);
        let (mut depth, mut count, mut behind) = (0u64, 0u64, 0);
        for (_, link) in self.links.iter().filter(|(_, link)| link.slots.is_some()) {
            depth += u64::from(link.depth);
            count += 1;
            behind += usize::from(link.progress.ack.is_some_and(|ack| sealed.distance(ack) > second.into()));
        }
        ((depth * 1_000 / count.max(1)) as u32, behind)
    }
}
