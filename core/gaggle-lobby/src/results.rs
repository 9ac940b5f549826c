//! Verdict on a match result from the reports of its players.
//!
//! `room/result_vote.rs` calls it. Votes weigh as much as their players' time in the match; players
//! of one network and peers of one account share a vote, because guest keys are free. Absent: what
//! is done with a result.

use std::collections::{BTreeMap, BTreeSet};

use gaggle_kit::{Micros, PeerId, Slot};

use crate::id::{PlayerId, RoomId};
use crate::json::{record, record_of};
use crate::label::{DisplayName, Label};
use crate::message::client::{Report, Score};
use crate::message::{Rejection, RejectionCode};
use crate::room::Source;
use crate::rules::ModeConfig;
use crate::view::Verdict;

/// Longest digest a report may carry, in characters.
const DIGEST_LENGTH_MAX: usize = 64;

record! {
    /// A player of a match, kept also after it left.
    pub struct MatchPlayer {
        /// Peer of the player.
        peer: PeerId,
        /// Account of the player.
        player: PlayerId,
        /// Display name of the player.
        name: DisplayName,
        /// Slot of the player.
        slot: Slot,
        /// Network and sign-in of the player.
        source: Source,
        /// Start of its current stay in the match.
        since: Micros,
        /// Start of its first stay, if it left and returned: points won then count.
        first: Option<Micros>,
        /// When the host removed it: its time played keeps its weight and supports no report.
        kicked_at: Option<Micros>,
    }
}

impl MatchPlayer {
    /// Time in which the player may have won points in a match that started at `started`.
    pub(crate) fn played(&self, started: Micros, now: Micros) -> Micros {
        now.since(self.first.unwrap_or(self.since).max(started))
    }
}

record! {
    /// One player's part in a decided match.
    pub struct PlayerScore {
        /// Peer of the player.
        peer: PeerId,
        /// Account of the player.
        player: PlayerId,
        /// Display name of the player.
        name: DisplayName,
        /// Slot of the player.
        slot: Slot,
        /// Points, higher is better.
        score: i64,
        /// Rank from 1, equal for a tie.
        place: u8,
        /// A token issuer has authenticated the player.
        signed_in: bool,
        /// Only the player's own claim: no report names it.
        claimed: bool,
    }
}

record! {
    /// A decided match, to be stored.
    pub struct MatchRecord {
        /// Room of the match.
        room: RoomId,
        /// Number of the match. Room and round together are unique forever.
        round: u32,
        /// Game that was played.
        game: Label,
        /// Mode of the game.
        mode: Label,
        /// Verdict on the result.
        verdict: Verdict,
        /// Parts of all players; empty if disputed.
        scores: Vec<PlayerScore>,
        /// Last wave or level reached.
        level: Option<u32>,
        /// Hash of the final state.
        digest: Option<String>,
        /// Start of the match in Unix milliseconds.
        match_started_at as "born": u64,
        /// Time of the decision in Unix milliseconds.
        ended: u64,
    }
}

record! {
    /// One member's report, kept until the match is decided.
    pub struct ResultClaim {
        /// Peer that reports.
        peer: PeerId,
        /// Account of the peer.
        player: PlayerId,
        /// What it reported.
        report: Report,
        /// When it reported.
        at: Micros,
    }
}

/// A player's claim about its own score, kept in case it leaves before the first report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScoreClaim {
    /// Peer that claims.
    pub(crate) peer: PeerId,
    /// Points it claims.
    pub(crate) score: i64,
    /// Level it claims.
    pub(crate) level: Option<u32>,
    /// Time of the claim; none in data of earlier builds.
    pub(crate) at: Option<Micros>,
}

record_of! { ScoreClaim { peer, score, level, at } }

/// A vote shared by players with an account or network in common, as the index of the first of
/// them.
type VoteId = usize;

/// Vote of each player, and the weight of each vote in milliseconds played.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ResultVotes {
    of: BTreeMap<PeerId, VoteId>,
    weights: BTreeMap<VoteId, u64>,
}

impl ResultVotes {
    /// Votes of the players, all without weight.
    pub(crate) fn of(cast: &[MatchPlayer]) -> ResultVotes {
        let mut voice: Vec<VoteId> = (0..cast.len()).collect();
        for at in 0..cast.len() {
            for earlier in 0..at {
                let (one, other) = (&cast[at], &cast[earlier]);
                if one.player == other.player || one.source.network == other.source.network {
                    let (kept, merged) = (voice[earlier].min(voice[at]), voice[earlier].max(voice[at]));
                    voice.iter_mut().filter(|voice| **voice == merged).for_each(|voice| *voice = kept);
                }
            }
        }
        let of = cast.iter().map(|participant| participant.peer).zip(voice).collect();
        ResultVotes { of, weights: BTreeMap::new() }
    }

    /// Adds a player's time. Of several players with one vote the longest time counts.
    pub(crate) fn add(&mut self, peer: PeerId, played: Micros) {
        let Some(voice) = self.of.get(&peer) else { return };
        // A player who joined this moment has some weight, too.
        let weight = self.weights.entry(*voice).or_default();
        *weight = (*weight).max(played.as_millis() + 1);
    }

    /// Whether these suffice to decide: three fifths. With one half, any joiner could break a tie.
    pub(crate) fn are_enough(&self, peers: impl Iterator<Item = PeerId>) -> bool {
        self.carry(&peers.filter_map(|peer| self.of.get(&peer).copied()).collect())
    }

    /// Whether two players share a vote.
    pub(crate) fn are_one(&self, peer: PeerId, other: PeerId) -> bool {
        self.of.get(&peer) == self.of.get(&other)
    }

    fn carry(&self, voices: &BTreeSet<VoteId>) -> bool {
        let weight: u64 = voices.iter().filter_map(|voice| self.weights.get(voice)).sum();
        weight > 0 && weight * 5 >= self.weights.values().sum::<u64>() * 3
    }
}

/// Checks that a report can be true, and normalizes it for comparison.
pub(crate) fn check(
    mut report: Report,
    cast: &[MatchPlayer],
    rules: &ModeConfig,
    (started, now): (Micros, Micros),
) -> Result<Report, Rejection> {
    let bad = |text: String| Rejection::new(RejectionCode::BadReport, text);
    let slots: BTreeSet<Slot> = report.scores.iter().map(|score| score.slot).collect();
    if slots.is_empty() || slots.len() != report.scores.len() {
        return Err(bad("a report must name each slot of the match once".into()));
    }
    if report.digest.as_ref().is_some_and(|digest| digest.len() > DIGEST_LENGTH_MAX) {
        return Err(bad(format!("a digest has at most {DIGEST_LENGTH_MAX} characters")));
    }
    check_level(report.level, rules)?;
    for Score { peer, slot, score, place } in &report.scores {
        let Some(participant) = cast.iter().find(|participant| participant.peer == *peer) else {
            return Err(bad(format!("{peer} did not play in this match")));
        };
        if participant.slot != *slot {
            let (given, own) = (slot.number(), participant.slot.number());
            return Err(bad(format!("{peer} played in slot {own}, not {given}")));
        }
        check_score(*score, rules, participant.played(started, now))?;
        if place.is_some_and(|place| place == 0 || usize::from(place) > report.scores.len()) {
            return Err(bad(format!("a rank must be 1 to {}", report.scores.len())));
        }
    }
    report.scores.sort_by_key(|score| score.slot);
    Ok(report)
}

/// Whether the mode allows a score after this time.
pub(crate) fn check_score(score: i64, rules: &ModeConfig, played: Micros) -> Result<(), Rejection> {
    // One second of tolerance: the match began before the server knew.
    let seconds = played.get() / 1_000_000 + 1;
    let speed_max = rules.score_per_second_max.map(|points| i64::from(points).saturating_mul(seconds as i64));
    let score_max = rules.score_max.min(speed_max.unwrap_or(i64::MAX));
    if (rules.score_min..=score_max).contains(&score) {
        return Ok(());
    }
    let text = format!("a score after {seconds} s must be {} to {score_max}", rules.score_min);
    Err(Rejection::new(RejectionCode::BadReport, text))
}

/// Whether the mode allows a level.
pub(crate) fn check_level(level: Option<u32>, rules: &ModeConfig) -> Result<(), Rejection> {
    if level.is_none_or(|level| (1..=rules.level_max).contains(&level)) {
        return Ok(());
    }
    Err(Rejection::new(RejectionCode::BadReport, format!("a level must be 1 to {}", rules.level_max)))
}

/// Score lines of players who claimed a score and are in no report.
pub(crate) fn claims(told: &[ScoreClaim], cast: &[MatchPlayer], known: &[PlayerScore]) -> Vec<PlayerScore> {
    let line = |told: &ScoreClaim| {
        let participant = cast.iter().find(|participant| participant.peer == told.peer)?;
        let is_known = |line: &PlayerScore| line.peer == told.peer || line.slot == participant.slot;
        (!known.iter().any(is_known)).then(|| PlayerScore {
            peer: told.peer,
            player: participant.player,
            name: participant.name.clone(),
            slot: participant.slot,
            score: told.score,
            place: 0,
            signed_in: participant.source.signed_in,
            claimed: true,
        })
    };
    let mut claims: Vec<PlayerScore> = Vec::new();
    for claim in told.iter().filter_map(line) {
        // Of several players of one slot the best counts: a match has one line per slot.
        match claims.iter_mut().find(|known| known.slot == claim.slot) {
            Some(known) if known.score < claim.score => *known = claim,
            Some(_) => {}
            None => claims.push(claim),
        }
    }
    claims
}

/// Verdict on the reports, and the report that counts. With three votes one dishonest player is
/// outvoted; of two that disagree neither counts; a single one is kept as a claim.
pub(crate) fn judge<'a>(
    testimonies: &'a [ResultClaim],
    voices: &ResultVotes,
) -> (Verdict, Option<&'a Report>) {
    // Players that share a vote and disagree have none.
    let mut said: BTreeMap<VoteId, Option<&Report>> = BTreeMap::new();
    for ResultClaim { peer, report, .. } in testimonies {
        let Some(voice) = voices.of.get(peer) else { continue };
        let voice = said.entry(*voice).or_insert(Some(report));
        if voice.is_some_and(|known| known != report) {
            *voice = None;
        }
    }
    let agreeing = |report: &Report| {
        let agree = said.iter().filter(|(_, voice)| **voice == Some(report));
        agree.map(|(voice, _)| *voice).collect::<BTreeSet<VoteId>>()
    };
    let carries = |report: &&Report| voices.carry(&agreeing(report));
    // Fewer than required suffice if no vote says otherwise.
    let is_agreed = |report: &&Report| said.values().all(|voice| *voice == Some(*report));
    if let Some(report) = said.values().flatten().copied().find(carries) {
        let verdict = if agreeing(report).len() > 1 { Verdict::Agreed } else { Verdict::Claimed };
        (verdict, Some(report))
    } else if let Some(report) = said.values().flatten().copied().next().filter(is_agreed) {
        (Verdict::Claimed, Some(report))
    } else {
        (Verdict::Disputed, None)
    }
}

/// Score lines of a report with identities and ranks.
pub(crate) fn score_sheet(report: &Report, cast: &[MatchPlayer]) -> Vec<PlayerScore> {
    let better = |score: &Score| report.scores.iter().filter(|other| other.score > score.score).count() as u8;
    let line = |score: &Score| {
        // The slot distinguishes local players of one peer; the peer must match in any case.
        let here = cast.iter().filter(|participant| participant.peer == score.peer);
        let participant = here.max_by_key(|participant| participant.slot == score.slot)?;
        Some(PlayerScore {
            peer: score.peer,
            player: participant.player,
            name: participant.name.clone(),
            slot: score.slot,
            score: score.score,
            place: score.place.unwrap_or(better(score) + 1),
            signed_in: participant.source.signed_in,
            claimed: false,
        })
    };
    report.scores.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::NetworkId;

    #[test]
    fn agreeing_reports_decide() {
        expect(&[(1, 10), (2, 10)], &[9, 9], Verdict::Agreed, Some(10));
        expect(&[(1, 10), (2, 10), (3, 10), (4, 10)], &[9; 4], Verdict::Agreed, Some(10));
        // The time played makes no difference.
        expect(&[(1, 10), (2, 10)], &[900, 1], Verdict::Agreed, Some(10));
    }

    #[test]
    fn single_dissenter_cannot_forge_result() {
        expect(&[(1, 10), (2, 99), (3, 10)], &[9; 3], Verdict::Agreed, Some(10));
    }

    #[test]
    fn two_disagreeing_votes_decide_nothing() {
        expect(&[(1, 10), (2, 99)], &[9; 2], Verdict::Disputed, None);
        expect(&[(1, 10), (2, 99)], &[9, 8], Verdict::Disputed, None);
        expect(&[(1, 10), (2, 99), (3, 10), (4, 99)], &[9; 4], Verdict::Disputed, None);
        expect(&[(1, 10), (2, 99), (3, 50)], &[9; 3], Verdict::Disputed, None);
        // A player who just joined does not break the tie.
        expect(&[(1, 10), (2, 99), (3, 99)], &[900, 900, 10], Verdict::Disputed, None);
    }

    #[test]
    fn late_joiners_do_not_outvote_players() {
        expect(&[(1, 10), (2, 10), (3, 99), (4, 99)], &[900, 900, 5, 5], Verdict::Agreed, Some(10));
        expect(&[(1, 10), (3, 99), (4, 99)], &[900, 900, 5, 5], Verdict::Disputed, None);
        expect(&[(1, 10), (2, 99)], &[900, 5], Verdict::Claimed, Some(10));
    }

    #[test]
    fn single_vote_is_claim() {
        expect(&[(1, 10)], &[9], Verdict::Claimed, Some(10));
        // Also with other players present, as long as they report nothing.
        expect(&[(1, 10)], &[9; 4], Verdict::Claimed, Some(10));
    }

    #[test]
    fn two_peers_of_one_player_share_vote() {
        let mut testimonies = testimonies(&[(1, 10), (2, 10), (3, 99)]);
        let mut cast = cast(3);
        cast[1].player = cast[0].player;
        let voices = voices(&cast, &[9; 3]);
        assert_eq!(judge(&testimonies, &voices).0, Verdict::Disputed);
        // If they contradict each other, their player has no vote.
        testimonies[1].report = report(11);
        testimonies[2].report = report(10);
        assert_eq!(judge(&testimonies, &voices).0, Verdict::Disputed);
    }

    #[test]
    fn players_of_one_network_share_vote() {
        let reports = testimonies(&[(1, 10), (2, 10), (3, 99)]);
        let mut cast = cast(4);
        cast[1].source = cast[0].source;
        assert_eq!(judge(&reports[..2], &voices(&cast[..2], &[9; 2])).0, Verdict::Claimed);
        assert_eq!(judge(&reports, &voices(&cast[..3], &[9; 3])).0, Verdict::Disputed);
        // Also transitively: the first shares a network with the second, the second an account with
        // the last.
        cast[3].player = cast[1].player;
        let voices = ResultVotes::of(&cast);
        assert_eq!(voices.of.values().copied().collect::<Vec<VoteId>>(), [0, 0, 2, 0]);
    }

    #[test]
    fn impossible_reports_are_refused_by_name() {
        let rules = ModeConfig { score_per_second_max: Some(100), ..ModeConfig::default() };
        let check = |report| check(report, &cast(2), &rules, (Micros::ZERO, Micros::from_secs(9)));
        assert!(check(report(1_000)).is_ok());
        assert!(check(report(1_001)).unwrap_err().text.contains("after 10 s"));
        assert!(check(Report { level: Some(1_001), ..report(1) }).is_err());
        assert!(check(Report { level: Some(0), ..report(1) }).is_err());
        assert!(check(Report { scores: Vec::new(), ..report(1) }).is_err());
        let mut twice = report(1);
        twice.scores.push(twice.scores[0].clone());
        assert!(check(twice).is_err());
        let mut stranger = report(1);
        stranger.scores[0].peer = PeerId::from_u128(77);
        assert!(check(stranger).unwrap_err().text.contains("did not play"));
        let mut moved = report(1);
        moved.scores[0].slot = Slot::at(1);
        assert!(check(moved).unwrap_err().text.contains("in slot 0, not 1"));
        let mut placed = report(1);
        placed.scores[0].place = Some(2);
        assert!(check(placed).is_err());
        assert!(check(Report { digest: Some("x".repeat(65)), ..report(1) }).is_err());
    }

    #[test]
    fn ranks_follow_from_scores_and_ties_share() {
        let mut report = report(10);
        for (slot, score) in [(1, 30), (2, 10), (3, 20)] {
            let peer = PeerId::from_u128(slot as u128 + 1);
            report.scores.push(Score { peer, slot: Slot::at(slot), score, place: None });
        }
        let places: Vec<u8> = score_sheet(&report, &cast(4)).iter().map(|line| line.place).collect();
        assert_eq!(places, [3, 1, 3, 2]);
    }

    /// Checks the verdict on these reports, given each player's seconds played.
    fn expect(reports: &[(u8, i64)], played: &[u64], verdict: Verdict, score: Option<i64>) {
        let testimonies = testimonies(reports);
        let voices = voices(&cast(played.len() as u8), played);
        let (decided, report) = judge(&testimonies, &voices);
        assert_eq!((decided, report.map(|report| report.scores[0].score)), (verdict, score), "{reports:?}");
    }

    fn voices(cast: &[MatchPlayer], played: &[u64]) -> ResultVotes {
        let mut voices = ResultVotes::of(cast);
        cast.iter().zip(played).for_each(|(who, secs)| voices.add(who.peer, Micros::from_secs(*secs)));
        voices
    }

    fn testimonies(reports: &[(u8, i64)]) -> Vec<ResultClaim> {
        let testimony = |&(who, score): &(u8, i64)| ResultClaim {
            peer: PeerId::from_u128(u128::from(who)),
            player: player(who),
            report: report(score),
            at: Micros::ZERO,
        };
        reports.iter().map(testimony).collect()
    }

    fn player(who: u8) -> PlayerId {
        PlayerId::from_bytes([who; 16])
    }

    fn report(score: i64) -> Report {
        let score = Score { peer: PeerId::from_u128(1), slot: Slot::at(0), score, place: None };
        Report { round: 1, scores: vec![score], level: None, digest: None }
    }

    fn cast(count: u8) -> Vec<MatchPlayer> {
        let participant = |who: u8| MatchPlayer {
            peer: PeerId::from_u128(u128::from(who)),
            player: player(who),
            name: "Nia".parse().unwrap(),
            slot: Slot::at(usize::from(who) - 1),
            source: Source { network: NetworkId(who.into()), signed_in: false },
            since: Micros::ZERO,
            first: None,
            kicked_at: None,
        };
        (1..=count).map(participant).collect()
    }
}
