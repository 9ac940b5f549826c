//! Reports of a match, collected until it can be decided.
//!
//! Owned by [`Room`](super::Room), which stores decided matches. Absent: members' rights, whether
//! reports agree (`results.rs`).

use gaggle_kit::{Micros, PeerId};

use crate::json::record_of;
use crate::message::client::{OwnScore, Report};
use crate::message::{Rejection, RejectionCode};
use crate::results::{
    MatchPlayer, MatchRecord, ResultClaim, ResultVotes, ScoreClaim, check, check_level, check_score, claims,
    judge, score_sheet,
};
use crate::rules::Rules;
use crate::view::{RatingChange, ResultDecided, RoomView, Status, Verdict};

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

/// Players of a match, and what they say about its result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct MatchReports {
    /// Players of the current match.
    cast: Vec<MatchPlayer>,
    /// Reports about it.
    testimonies: Vec<ResultClaim>,
    /// Score claims of players.
    told: Vec<ScoreClaim>,
    /// When reports were last counted; first when the first one arrived.
    counted_at: Option<Micros>,
    /// Decided matches not stored yet, and the last stored one.
    decided: Vec<MatchRecord>,
    /// Number of the last stored match.
    stored_round: u32,
}

record_of! { MatchReports { cast, testimonies, told, counted_at, decided, stored_round } }

/// What follows from a report.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub(super) enum Reported {
    /// It counts: the match may be decided now.
    Counted,
    /// The match was decided before. It is stored again if it could not be stored.
    Decided(Option<MatchRecord>),
}

impl MatchReports {
    /// A match of these players begins.
    pub(super) fn begin(&mut self, cast: Vec<MatchPlayer>) {
        self.cast = cast;
    }

    /// What a player of the match is known for.
    pub(super) fn player(&self, peer: PeerId) -> Option<&MatchPlayer> {
        self.cast.iter().find(|participant| participant.peer == peer)
    }

    /// A player was removed by others.
    pub(super) fn note_kicked(&mut self, now: Micros, peer: PeerId) {
        let cast = self.cast.iter_mut().filter(|participant| participant.peer == peer);
        cast.for_each(|participant| participant.kicked_at = Some(now));
    }

    /// When the reports suffice after this time without further ones.
    pub(super) fn due(&self, timeout: Micros) -> Option<Micros> {
        self.counted_at.map(|at| at + timeout)
    }

    /// Takes a member's report. Repeating it is harmless, and stores a match that could not be
    /// stored before. `is_reopened` is whether the room was restored lately.
    pub(super) fn report(
        &mut self,
        now: Micros,
        rules: &Rules,
        view: &RoomView,
        is_reopened: bool,
        (peer, report): (PeerId, Report),
    ) -> Result<Reported, Rejection> {
        let refuse = |text: &str| Err(Rejection::new(RejectionCode::BadReport, text));
        if let Some(record) = self.decided.iter().find(|record| record.round == report.round) {
            let is_lost = record.round > self.stored_round;
            return Ok(Reported::Decided(is_lost.then(|| record.clone())));
        }
        if report.round != view.round || !matches!(view.status, Status::Playing | Status::Finished) {
            return refuse("that match is not running in this room");
        }
        if is_reopened && !report.scores.iter().all(|score| self.player(score.peer).is_some()) {
            let text = "the server restarted and waits for players to return; try again in a moment";
            let refusal = Rejection::new(RejectionCode::Unavailable, text);
            return Err(Rejection { retry_after_ms: Some(RETURN_MS), ..refusal });
        }
        let Some(player) = self.player(peer).map(|participant| participant.player) else {
            return refuse("you did not play in this match");
        };
        let mode = rules.mode(&view.game, &view.mode)?;
        let match_started_at = Micros::from_millis(view.match_started_at);
        let report = check(report, &self.cast, mode, (match_started_at, now))?;
        self.testimonies.retain(|testimony| testimony.peer != peer);
        self.testimonies.push(ResultClaim { peer, player, report, at: now });
        self.counted_at.get_or_insert(now);
        Ok(Reported::Counted)
    }

    /// Takes a player's claim about its own score.
    pub(super) fn tell(
        &mut self,
        now: Micros,
        rules: &Rules,
        view: &RoomView,
        (peer, told): (PeerId, &OwnScore),
    ) -> Result<(), Rejection> {
        let OwnScore { round, score, level } = *told;
        let is_decided = self.decided.iter().any(|record| record.round == round);
        let is_open = round == view.round && view.status == Status::Playing && !is_decided;
        let Some(participant) = self.player(peer).filter(|_| is_open) else {
            return Err(Rejection::new(RejectionCode::BadReport, "you are not playing that match"));
        };
        let mode = rules.mode(&view.game, &view.mode)?;
        check_score(score, mode, participant.played(Micros::from_millis(view.match_started_at), now))?;
        check_level(level, mode)?;
        self.told.retain(|told| told.peer != peer);
        self.told.push(ScoreClaim { peer, score, level, at: Some(now) });
        let excess = self.told.len().saturating_sub(TOLD_MAX);
        self.told.drain(..excess);
        Ok(())
    }

    /// Whether the host may end the match. In a matched room it may not while other players send
    /// scores, whose results would be lost: their reports end it.
    pub(super) fn check_end(&self, now: Micros, view: &RoomView) -> Result<(), Rejection> {
        let voices = self.voices(now, view);
        let is_other = |peer: PeerId| !voices.are_one(peer, view.host);
        let reported = || self.testimonies.iter().map(|testimony| testimony.peer);
        let plays_on = |told: &ScoreClaim| {
            let member = view.member(told.peer).filter(|member| !member.away && !member.resting);
            let is_fresh = told.at.is_some_and(|at| now.since(at) < PLAYS_ON);
            member.is_some() && is_fresh && reported().all(|peer| peer != told.peer)
        };
        let is_wanted = reported().any(is_other) && voices.are_enough(reported());
        if !view.matched || is_wanted {
            return Ok(());
        }
        match self.told.iter().find(|told| is_other(told.peer) && plays_on(told)) {
            Some(_) => Err(Rejection::new(
                RejectionCode::WrongStatus,
                "other players are still \
             playing this match",
            )),
            None => Ok(()),
        }
    }

    /// Verdict on a match so far.
    pub(super) fn verdict(&self, round: u32) -> Verdict {
        let record = self.decided.iter().find(|record| record.round == round);
        let stored = record.filter(|record| record.round <= self.stored_round);
        stored.map_or(Verdict::Pending, |record| record.verdict)
    }

    /// Announces a stored match once, with its verdict: a restored room may have decided a match
    /// again that was stored before. The first stored verdict counts.
    #[must_use]
    pub(super) fn set_stored(
        &mut self,
        round: u32,
        verdict: Option<Verdict>,
        ratings: Vec<RatingChange>,
    ) -> Option<ResultDecided> {
        if round <= self.stored_round {
            return None;
        }
        let record = self.decided.iter_mut().find(|record| record.round == round)?;
        record.verdict = verdict.unwrap_or(record.verdict);
        self.stored_round = round;
        Some(ResultDecided { round, verdict: record.verdict, ratings })
    }

    /// Adds a player to the match, once however often it joins. Beyond the limit the departed
    /// player with the least weight is dropped.
    pub(super) fn add_player(&mut self, view: &RoomView, mut participant: MatchPlayer) {
        // A reservation belongs to its account, on another device as well, with the points won in
        // it.
        let is_same = |known: &&MatchPlayer| {
            known.peer == participant.peer
                || (known.player, known.slot) == (participant.player, participant.slot)
        };
        let known = self.cast.iter().filter(is_same);
        let firsts = known.map(|known| known.first.unwrap_or(known.since));
        participant.first = firsts.chain(participant.first).min();
        self.cast.retain(|known| known.peer != participant.peer);
        if self.cast.len() >= CAST_MAX {
            let rank = |known: &MatchPlayer| {
                let said = self.testimonies.iter().find(|testimony| testimony.peer == known.peer);
                let said_after = said.map(|testimony| testimony.at.since(known.since));
                (view.member(known.peer).is_some(), said_after)
            };
            let cast = self.cast.iter().enumerate();
            if let Some((at, _)) = cast.min_by_key(|(_, known)| rank(known)) {
                let forgotten = self.cast.remove(at);
                self.testimonies.retain(|testimony| testimony.peer != forgotten.peer);
            }
        }
        self.cast.push(participant);
    }

    /// Decides if all players have reported. Members that are away may still do so.
    #[must_use]
    pub(super) fn settle_if_complete(
        &mut self,
        now: Micros,
        view: &RoomView,
        may_lack_players: bool,
    ) -> Option<MatchRecord> {
        if self.testimonies.is_empty() || may_lack_players {
            return None;
        }
        let reported = |peer: PeerId| self.testimonies.iter().any(|testimony| testimony.peer == peer);
        let is_awaited = |peer: PeerId| self.player(peer).is_some() && !reported(peer);
        let is_complete = !view.players().any(|member| is_awaited(member.peer));
        is_complete.then(|| self.decide(now, view))
    }

    /// Decides if the reports suffice, or waits for others once more: a match goes on for its
    /// players, even if one says that it has ended.
    #[must_use]
    pub(super) fn settle_if_enough(
        &mut self,
        now: Micros,
        view: &RoomView,
        may_lack_players: bool,
    ) -> Option<MatchRecord> {
        let reported = self.testimonies.iter().map(|testimony| testimony.peer);
        if !may_lack_players && self.voices(now, view).are_enough(reported) {
            return Some(self.decide(now, view));
        }
        self.counted_at = Some(now);
        None
    }

    /// Decides early, because no more reports can come. The first members to return to a restored
    /// room do not decide for all.
    #[must_use]
    pub(super) fn decide_early(
        &mut self,
        now: Micros,
        view: &RoomView,
        may_lack_players: bool,
    ) -> Option<MatchRecord> {
        if may_lack_players {
            self.testimonies.clear();
            self.told.clear();
            self.counted_at = None;
            return None;
        }
        let has_claims = !self.testimonies.is_empty() || !self.told.is_empty();
        has_claims.then(|| self.decide(now, view))
    }

    /// Votes of all players, and of those who reported before leaving. A removed player has no vote
    /// and keeps its weight, or a host could decide alone by removing all others.
    fn voices(&self, now: Micros, view: &RoomView) -> ResultVotes {
        let mut voices = ResultVotes::of(&self.cast);
        for participant in &self.cast {
            let peer = participant.peer;
            let said = || self.testimonies.iter().find(|testimony| testimony.peer == peer);
            let until = match view.member(peer) {
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
    fn decide(&mut self, now: Micros, view: &RoomView) -> MatchRecord {
        let voices = self.voices(now, view);
        let testimonies = std::mem::take(&mut self.testimonies);
        self.counted_at = None;
        let (verdict, report) = match testimonies.is_empty() {
            true => (Verdict::Claimed, None),
            false => judge(&testimonies, &voices),
        };
        let cast = &self.cast;
        let mut scores = report.map(|report| score_sheet(report, cast)).unwrap_or_default();
        let told = std::mem::take(&mut self.told);
        if verdict != Verdict::Disputed {
            scores.extend(claims(&told, cast, &scores));
        }
        let level = match report {
            Some(report) => report.level,
            None => told.iter().filter_map(|told| told.level).max(),
        };
        let record = MatchRecord {
            room: view.id,
            round: view.round,
            game: view.game.clone(),
            mode: view.mode.clone(),
            verdict,
            scores,
            level,
            digest: report.and_then(|report| report.digest.clone()),
            match_started_at: view.match_started_at,
            ended: now.as_millis(),
        };
        self.decided.push(record.clone());
        let excess = self.decided.len().saturating_sub(DECIDED_MAX);
        self.decided.drain(..excess);
        record
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::Slot;

    use super::*;
    use crate::id::{NetworkId, NodeId, PlayerId, ResumeId, RoomCode, RoomId, Seed};
    use crate::label::Label;
    use crate::message::client::Score;
    use crate::players::LocalPlayers;
    use crate::room::{Attachment, JoinRequest, NewRoom, Room, Source};
    use crate::view::RawJson;

    const NIA: PeerId = PeerId::from_bytes([1; 16]);
    const ADA: PeerId = PeerId::from_bytes([2; 16]);
    const LATER: Micros = Micros::from_secs(600);

    /// A room in whose first match Nia plays. Other players are only in the match.
    fn view() -> RoomView {
        let joiner = JoinRequest {
            peer: NIA,
            player: PlayerId::from_bytes([1; 16]),
            name: "Nia".parse().unwrap(),
            preferred_slot: 0,
            spectate: false,
            players: LocalPlayers::ONE,
            leave_current: false,
            source: Source { network: NetworkId(1), signed_in: false },
        };
        let new = NewRoom {
            id: RoomId::from_bytes([1; 16]),
            code: RoomCode::from_number(1),
            seed: Seed(1),
            game: "pond".parse().unwrap(),
            mode: Label::default(),
            build: Label::default(),
            max_players: 4,
            private: false,
            drop_in: true,
            host_starts: false,
            matched: true,
            settings: RawJson::default(),
        };
        let link = Attachment { node: NodeId(1), epoch: 1, session: ResumeId(1) };
        Room::create(Micros::ZERO, new, joiner, link).view().clone()
    }

    fn player(peer: PeerId, number: u8) -> MatchPlayer {
        MatchPlayer {
            peer,
            player: PlayerId::from_bytes([number; 16]),
            name: "Nia".parse().unwrap(),
            slot: Slot::at(number.into()),
            source: Source { network: NetworkId(number.into()), signed_in: false },
            since: Micros::ZERO,
            first: None,
            kicked_at: None,
        }
    }

    fn reports() -> MatchReports {
        let mut reports = MatchReports::default();
        reports.begin(vec![player(NIA, 0), player(ADA, 1)]);
        reports
    }

    fn report(reports: &mut MatchReports, round: u32) -> Result<Reported, Rejection> {
        let scores = [(NIA, 0), (ADA, 1)].map(|(peer, slot)| Score {
            peer,
            slot: Slot::at(slot),
            score: 3,
            place: None,
        });
        let report = Report { round, scores: scores.to_vec(), level: None, digest: None };
        reports.report(LATER, &Rules::default(), &view(), false, (NIA, report))
    }

    #[test]
    fn complete_reports_decide_once() {
        let mut reports = reports();
        assert_eq!(reports.settle_if_complete(LATER, &view(), false), None, "no report has arrived");
        assert_eq!(report(&mut reports, 1), Ok(Reported::Counted));
        assert_eq!(reports.settle_if_complete(LATER, &view(), true), None, "players may be missing");
        let record = reports.settle_if_complete(LATER, &view(), false).expect("the only member reported");
        assert_eq!((record.round, record.scores.len(), reports.due(LATER)), (1, 2, None));
        assert_eq!(report(&mut reports, 1), Ok(Reported::Decided(Some(record))), "it is not stored yet");
        assert_eq!(reports.verdict(1), Verdict::Pending);
        assert!(reports.set_stored(1, Some(Verdict::Agreed), Vec::new()).is_some());
        assert_eq!(
            (reports.verdict(1), report(&mut reports, 1)),
            (Verdict::Agreed, Ok(Reported::Decided(None)))
        );
        assert!(reports.set_stored(1, None, Vec::new()).is_none(), "it is announced once");
    }

    #[test]
    fn report_of_other_match_or_by_spectator_is_rejected() {
        let mut reports = reports();
        assert_eq!(report(&mut reports, 2).unwrap_err().code, RejectionCode::BadReport);
        reports.begin(vec![player(ADA, 1)]);
        assert_eq!(report(&mut reports, 1).unwrap_err().code, RejectionCode::BadReport);
        assert_eq!(reports.due(LATER), None);
    }

    #[test]
    fn returning_player_keeps_its_first_time_in_match() {
        let mut reports = reports();
        reports.add_player(&view(), MatchPlayer { since: LATER, ..player(NIA, 0) });
        let known = reports.player(NIA).expect("it plays");
        assert_eq!((known.since, known.first), (LATER, Some(Micros::ZERO)));
        for number in 2..200 {
            let peer = PeerId::from_bytes([number; 16]);
            reports.add_player(&view(), player(peer, number));
        }
        assert!(reports.cast.len() == CAST_MAX && reports.player(NIA).is_some(), "it is still in the room");
    }

    #[test]
    fn own_claims_count_if_match_ends_without_reports() {
        let mut reports = reports();
        assert!(reports.check_end(LATER, &view()).is_ok());
        let told = OwnScore { round: 1, score: 3, level: None };
        reports.tell(LATER, &Rules::default(), &view(), (NIA, &told)).expect("it plays");
        assert!(reports.check_end(LATER, &view()).is_ok(), "its own scores do not hold it up");
        let record = reports.decide_early(LATER, &view(), false).expect("there is a claim");
        assert_eq!((record.verdict, record.scores.len()), (Verdict::Claimed, 1));
        let late = reports.tell(LATER, &Rules::default(), &view(), (NIA, &told));
        assert_eq!(late.unwrap_err().code, RejectionCode::BadReport, "the match is decided");
    }
}
