//! Reports of a match, collected until it can be decided.
//!
//! Part of [`Room`](super::Room). Absent: whether reports agree (`results.rs`).

use gaggle_kit::{Micros, PeerId};

use super::Room;
use crate::message::client::{OwnScore, Report};
use crate::message::{Rejection, RejectionCode};
use crate::results::{
    MatchPlayer, MatchRecord, ResultClaim, ResultVotes, ScoreClaim, check, check_level, check_score, claims,
    judge, score_sheet,
};
use crate::rules::Rules;
use crate::view::{RatingChange, ResultDecided, Status, Verdict};

/// Decided matches waiting for storage. A further one means that storage has been down for as many
/// matches.
const DECIDED_MAX: usize = 4;

/// Players remembered per match, twice as many as a room has at once.
const CAST_MAX: usize = 128;

/// Score claims per match, as many as remembered players.
const TOLD_MAX: usize = 128;

/// A player who sent a score within this time is still playing. Clients send one every 15 s.
const PLAYS_ON: Micros = Micros::from_secs(40);

/// Retry time of a report that names players who have not returned.
const RETURN_MS: u64 = 5_000;

impl Room {
    /// Takes a member's report. Repeating it is harmless, and stores a match that could not be
    /// stored before.
    pub(super) fn report(
        &mut self,
        now: Micros,
        rules: &Rules,
        peer: PeerId,
        report: Report,
    ) -> Result<(), Rejection> {
        let refuse = |text: &str| Err(Rejection::new(RejectionCode::BadReport, text));
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
        let played = |peer: PeerId| self.state.cast.iter().any(|participant| participant.peer == peer);
        if self.is_reopened(now) && !report.scores.iter().all(|score| played(score.peer)) {
            let text = "the server restarted and waits for players to return; try again in a moment";
            let refusal = Rejection::new(RejectionCode::Unavailable, text);
            return Err(Rejection { retry_after_ms: Some(RETURN_MS), ..refusal });
        }
        let Some(participant) = self.state.cast.iter().find(|participant| participant.peer == peer) else {
            return refuse("you did not play in this match");
        };
        let player = participant.player;
        let mode = rules.mode(&self.view.game, &self.view.mode)?;
        let match_started_at = Micros::from_millis(self.view.match_started_at);
        let report = check(report, &self.state.cast, mode, (match_started_at, now))?;
        self.state.testimonies.retain(|testimony| testimony.peer != peer);
        self.state.testimonies.push(ResultClaim { peer, player, report, at: now });
        self.state.counted_at.get_or_insert(now);
        self.settle_if_complete(now);
        Ok(())
    }

    /// Takes a player's claim about its own score.
    pub(super) fn tell(
        &mut self,
        now: Micros,
        rules: &Rules,
        peer: PeerId,
        told: &OwnScore,
    ) -> Result<(), Rejection> {
        let OwnScore { round, score, level } = *told;
        let is_decided = self.state.decided.iter().any(|record| record.round == round);
        let is_open = round == self.view.round && self.view.status == Status::Playing && !is_decided;
        let participant = self.state.cast.iter().find(|participant| participant.peer == peer);
        let Some(participant) = participant.filter(|_| is_open) else {
            return Err(Rejection::new(RejectionCode::BadReport, "you are not playing that match"));
        };
        let mode = rules.mode(&self.view.game, &self.view.mode)?;
        check_score(score, mode, participant.played(Micros::from_millis(self.view.match_started_at), now))?;
        check_level(level, mode)?;
        self.state.told.retain(|told| told.peer != peer);
        self.state.told.push(ScoreClaim { peer, score, level, at: Some(now) });
        let excess = self.state.told.len().saturating_sub(TOLD_MAX);
        self.state.told.drain(..excess);
        Ok(())
    }

    /// Whether the host may end the match. In a matched room it may not while other players send
    /// scores, whose results would be lost: their reports end it.
    pub(super) fn check_end(&self, now: Micros) -> Result<(), Rejection> {
        let voices = self.voices(now);
        let is_other = |peer: PeerId| !voices.are_one(peer, self.view.host);
        let reported = || self.state.testimonies.iter().map(|testimony| testimony.peer);
        let plays_on = |told: &ScoreClaim| {
            let member = self.view.member(told.peer).filter(|member| !member.away && !member.resting);
            let is_fresh = told.at.is_some_and(|at| now.since(at) < PLAYS_ON);
            member.is_some() && is_fresh && reported().all(|peer| peer != told.peer)
        };
        let is_wanted = reported().any(is_other) && voices.are_enough(reported());
        if !self.view.matched || is_wanted {
            return Ok(());
        }
        match self.state.told.iter().find(|told| is_other(told.peer) && plays_on(told)) {
            Some(_) => Err(Rejection::new(
                RejectionCode::WrongStatus,
                "other players are still \
             playing this match",
            )),
            None => Ok(()),
        }
    }

    /// Verdict on a match so far.
    pub fn verdict(&self, round: u32) -> Verdict {
        let record = self.state.decided.iter().find(|record| record.round == round);
        let stored = record.filter(|record| record.round <= self.state.stored_round);
        stored.map_or(Verdict::Pending, |record| record.verdict)
    }

    /// Announces a stored match once, with its verdict: a restored room may have decided a match
    /// again that was stored before. The first stored verdict counts.
    pub fn set_stored(&mut self, round: u32, verdict: Option<Verdict>, ratings: Vec<RatingChange>) {
        if round <= self.state.stored_round {
            return;
        }
        let record = self.state.decided.iter_mut().find(|record| record.round == round);
        let Some(record) = record else { return };
        record.verdict = verdict.unwrap_or(record.verdict);
        let verdict = record.verdict;
        self.state.stored_round = round;
        self.happen(ResultDecided { round, verdict, ratings });
    }

    /// Adds a player to the match, once however often it joins. Beyond the limit the departed
    /// player with the least weight is dropped.
    pub(super) fn add_to_cast(&mut self, mut participant: MatchPlayer) {
        // A reservation belongs to its account, on another device as well, with the points won in
        // it.
        let is_same = |known: &&MatchPlayer| {
            known.peer == participant.peer
                || (known.player, known.slot) == (participant.player, participant.slot)
        };
        let known = self.state.cast.iter().filter(is_same);
        let firsts = known.map(|known| known.first.unwrap_or(known.since));
        participant.first = firsts.chain(participant.first).min();
        self.state.cast.retain(|known| known.peer != participant.peer);
        if self.state.cast.len() >= CAST_MAX {
            let rank = |known: &MatchPlayer| {
                let said = self.state.testimonies.iter().find(|testimony| testimony.peer == known.peer);
                let said_after = said.map(|testimony| testimony.at.since(known.since));
                (self.view.member(known.peer).is_some(), said_after)
            };
            let cast = self.state.cast.iter().enumerate();
            if let Some((at, _)) = cast.min_by_key(|(_, known)| rank(known)) {
                let forgotten = self.state.cast.remove(at);
                self.state.testimonies.retain(|testimony| testimony.peer != forgotten.peer);
            }
        }
        self.state.cast.push(participant);
    }

    /// Decides if all players have reported. Members that are away may still do so.
    pub(super) fn settle_if_complete(&mut self, now: Micros) {
        if self.state.testimonies.is_empty() || self.may_lack_players(now) {
            return;
        }
        let played = |peer: PeerId| self.state.cast.iter().any(|participant| participant.peer == peer);
        let reported = |peer: PeerId| self.state.testimonies.iter().any(|testimony| testimony.peer == peer);
        if !self.view.players().any(|member| played(member.peer) && !reported(member.peer)) {
            self.decide(now);
        }
    }

    /// Decides if the reports suffice, or waits for others once more: a match goes on for its
    /// players, even if one says that it has ended.
    pub(super) fn settle_if_enough(&mut self, now: Micros) {
        let reported = self.state.testimonies.iter().map(|testimony| testimony.peer);
        if !self.may_lack_players(now) && self.voices(now).are_enough(reported) {
            self.decide(now);
        } else {
            self.state.counted_at = Some(now);
        }
    }

    /// Decides early, because no more reports can come. The first members to return to a restored
    /// room do not decide for all.
    pub(super) fn decide_early(&mut self, now: Micros) {
        if self.may_lack_players(now) {
            self.state.testimonies.clear();
            self.state.told.clear();
            self.state.counted_at = None;
        } else if !self.state.testimonies.is_empty() || !self.state.told.is_empty() {
            self.decide(now);
        }
    }

    /// Whether players may be missing since the room was restored: for a while, unless returned
    /// members fill all slots.
    fn may_lack_players(&self, now: Micros) -> bool {
        let is_back = |peer: PeerId| self.reservations.get(&peer).is_some_and(|seat| seat.restored.is_some());
        let is_full = self.view.free_slots() == 0 && self.view.players().all(|member| is_back(member.peer));
        self.is_reopened(now) && !is_full
    }

    /// Votes of all players, and of those who reported before leaving. A removed player has no vote
    /// and keeps its weight, or a host could decide alone by removing all others.
    fn voices(&self, now: Micros) -> ResultVotes {
        let mut voices = ResultVotes::of(&self.state.cast);
        for participant in &self.state.cast {
            let peer = participant.peer;
            let said = || self.state.testimonies.iter().find(|testimony| testimony.peer == peer);
            let until = match self.view.member(peer) {
                Some(_) => Some(now),
                None => said().map(|testimony| testimony.at).or(participant.kicked_at),
            };
            if let Some(until) = until {
                voices.add(peer, until.since(participant.since));
            }
        }
        voices
    }

    /// Decides with the reports so far.
    pub(super) fn decide(&mut self, now: Micros) {
        let voices = self.voices(now);
        let testimonies = std::mem::take(&mut self.state.testimonies);
        self.state.counted_at = None;
        let (verdict, report) = match testimonies.is_empty() {
            true => (Verdict::Claimed, None),
            false => judge(&testimonies, &voices),
        };
        let cast = &self.state.cast;
        let mut scores = report.map(|report| score_sheet(report, cast)).unwrap_or_default();
        let told = std::mem::take(&mut self.state.told);
        if verdict != Verdict::Disputed {
            scores.extend(claims(&told, cast, &scores));
        }
        let level = match report {
            Some(report) => report.level,
            None => told.iter().filter_map(|told| told.level).max(),
        };
        let record = MatchRecord {
            room: self.view.id,
            round: self.view.round,
            game: self.view.game.clone(),
            mode: self.view.mode.clone(),
            verdict,
            scores,
            level,
            digest: report.and_then(|report| report.digest.clone()),
            match_started_at: self.view.match_started_at,
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
