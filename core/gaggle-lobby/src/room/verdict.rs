//! How a room collects reports of a match until it can be decided. Whether they agree is judged in
//! `results.rs`.

use gaggle_kit::{Micros, PeerId};

use super::Room;
use crate::message::client::Report;
use crate::message::{Refusal, RefusalCode};
use crate::results::{MatchRecord, Testimony, check, judge, score_sheet};
use crate::rules::Rules;
use crate::view::{Member, RatingChange, ResultDecided, Status, Verdict};

/// Decided matches a room waits for storage to take. A fifth means storage has been down for five matches.
const DECIDED_MAX: usize = 4;

impl Room {
    /// Takes a member's report. Repeating it is harmless, and makes a match that could not be stored before
    /// be stored now.
    pub(super) fn report(
        &mut self,
        now: Micros,
        rules: &Rules,
        peer: PeerId,
        report: Report,
    ) -> Result<(), Refusal> {
        let refuse = |text: &str| Err(Refusal::new(RefusalCode::BadReport, text));
        if let Some(record) = self.state.decided.iter().find(|record| record.round == report.round) {
            if record.round > self.state.stored_round {
                self.change.records.push(record.clone());
            }
            return Ok(());
        }
        if report.round != self.view.round || !matches!(self.view.status, Status::Playing | Status::Finished)
        {
            return refuse("that match is not running in this room");
        }
        let Some(participant) = self.state.cast.iter().find(|participant| participant.peer == peer) else {
            return refuse("you did not play in this match");
        };
        let player = participant.player;
        let mode = rules.mode(&self.view.game, &self.view.mode)?;
        let played = now.since(Micros::from_millis(self.view.born));
        let report = check(report, &self.state.cast, mode, played)?;
        self.state.testimonies.retain(|testimony| testimony.peer != peer);
        self.state.testimonies.push(Testimony { peer, player, report });
        self.state.reported_at.get_or_insert(now);
        self.settle_if_complete(now);
        Ok(())
    }

    /// Where a match stands.
    pub fn verdict(&self, round: u32) -> Verdict {
        let record = self.state.decided.iter().find(|record| record.round == round);
        let stored = record.filter(|record| record.round <= self.state.stored_round);
        stored.map_or(Verdict::Pending, |record| record.verdict)
    }

    /// Tells everybody that a match is stored, once.
    pub fn set_stored(&mut self, round: u32, ratings: Vec<RatingChange>) {
        let record = self.state.decided.iter().find(|record| record.round == round);
        let Some(verdict) = record.map(|record| record.verdict) else { return };
        if round > self.state.stored_round {
            self.state.stored_round = round;
            self.happen(ResultDecided { round, verdict, ratings });
        }
    }

    /// Decides, if everybody who played and is there has reported.
    pub(super) fn settle_if_complete(&mut self, now: Micros) {
        if self.state.testimonies.is_empty() {
            return;
        }
        let played = |peer: PeerId| self.state.cast.iter().any(|participant| participant.peer == peer);
        let reported = |peer: PeerId| self.state.testimonies.iter().any(|testimony| testimony.peer == peer);
        let is_awaited = |member: &Member| !member.away && played(member.peer) && !reported(member.peer);
        if !self.view.players().any(is_awaited) {
            self.decide(now);
        }
    }

    /// Decides with what was reported so far.
    pub(super) fn decide(&mut self, now: Micros) {
        let testimonies = std::mem::take(&mut self.state.testimonies);
        self.state.reported_at = None;
        let (verdict, report) = judge(&testimonies, &self.state.cast);
        let record = MatchRecord {
            room: self.view.id,
            round: self.view.round,
            game: self.view.game.clone(),
            mode: self.view.mode.clone(),
            verdict,
            scores: report.map(|report| score_sheet(report, &self.state.cast)).unwrap_or_default(),
            level: report.and_then(|report| report.level),
            digest: report.and_then(|report| report.digest.clone()),
            born: self.view.born,
            ended: now.as_millis(),
        };
        self.change.records.push(record.clone());
        self.state.decided.push(record);
        let excess = self.state.decided.len().saturating_sub(DECIDED_MAX);
        self.state.decided.drain(..excess);
        if self.view.status == Status::Playing && !self.is_over() {
            self.set_finished(now);
        }
    }
}
