//! Match results reported to the lobby. The room and its lobby side call it. Absent: how a match is
//! scored.

use gaggle_kit::{Micros, PeerId};
use gaggle_lobby::RejectionCode;
use gaggle_lobby::client::{Client, RequestId};
use gaggle_lobby::message::client::{Finish, OwnScore, Report, Score, Start};
use gaggle_lobby::view::{RoomView, Status};

use super::LobbyRoom;
use crate::platform::Platform;

/// Time between two scores sent to the lobby.
const TELL_EVERY: Micros = Micros::from_secs(15);

/// How long other members have to report a match before the next one is requested again.
const ASK_AGAIN: Micros = Micros::from_secs(3);

/// Scores and results the lobby has received from this peer.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// The local score, if the lobby does not have it.
    score: Option<(i64, Option<u32>)>,
    /// The score the lobby has, and when to send the next.
    told: Option<(i64, Option<u32>)>,
    tell_at: Micros,
    /// Number of the match that ended when this peer began another.
    ended: Option<u32>,
    /// Requests for the next match, and when to repeat them.
    asked: Vec<RequestId>,
    ask_at: Option<Micros>,
}

impl Results {
    /// Drops the score, which is of another room or match.
    pub(super) fn forget_score(&mut self) {
        (self.score, self.told) = (None, None);
    }
}

impl<S, P: Platform> LobbyRoom<S, P> {
    /// Reports how the match ended, with scores by peer. Returns whether it was sent.
    pub(crate) fn report_result(
        &mut self,
        points: &[(PeerId, i64)],
        level: Option<u32>,
        digest: u64,
    ) -> bool {
        let Some(client) = &mut self.lobby_client else { return false };
        let Some(room) = client.room() else { return false };
        // The lobby knows players by the slot it assigned, which need not be their slot in the
        // match.
        let reserved = points.iter().filter_map(|&(peer, score)| {
            let slot = room.member(peer)?.slot?;
            Some(Score { peer, slot, score, place: None })
        });
        let scores: Vec<Score> = reserved.collect();
        if scores.is_empty() {
            return false;
        }
        let round = room.round;
        client.report(Report { round, scores, level, digest: Some(format!("{digest:016x}")) });
        true
    }

    /// Notes the current score: it is sent to the lobby every 15 s, and on leaving.
    pub(crate) fn set_score(&mut self, points: i64, level: Option<u32>) {
        let score = Some((points, level));
        self.results.score = score.filter(|_| score != self.results.told);
        self.tell_due_score();
    }

    /// Sends the score if the lobby does not have it and the last one is old enough. Call it in
    /// every update.
    pub(super) fn tell_due_score(&mut self) {
        if self.now >= self.results.tell_at {
            self.tell_score();
        }
    }

    /// Sends the score, if a match is played and the lobby does not have it.
    pub(super) fn tell_score(&mut self) {
        let Some((score, level)) = self.results.score else { return };
        let (Some(client), Some((_, me))) = (&mut self.lobby_client, self.reservation) else { return };
        let plays = |room: &&RoomView| {
            room.status == Status::Playing && room.member(me).is_some_and(|member| member.slot.is_some())
        };
        if let Some(round) = client.room().filter(plays).map(|room| room.round) {
            client.tell_score(OwnScore { round, score, level });
            (self.results.score, self.results.told) = (None, Some((score, level)));
            self.results.tell_at = self.now + TELL_EVERY;
        }
    }

    /// Another match begins in the same room. Only the host tells the lobby.
    pub(crate) fn start_round(&mut self) {
        let ended = self.lobby_client.as_ref().and_then(Client::room).map(|room| room.round);
        self.results = Results { ended, tell_at: self.results.tell_at, ..Results::default() };
        self.ask_for_round();
    }

    /// Requests the next match, if this peer is host and the lobby still has the one that ended.
    fn ask_for_round(&mut self) {
        self.results.ask_at = None;
        let (local, ended) = (self.me(), self.results.ended);
        let room = self.lobby_client.as_ref().and_then(Client::room);
        let room = room.filter(|room| Some(room.host) == local && Some(room.round) == ended);
        let (Some(status), Some(client)) = (room.map(|room| room.status), &mut self.lobby_client) else {
            return;
        };
        let finish = (status == Status::Playing).then(|| client.finish(Finish {}));
        self.results.asked = finish.into_iter().chain([client.start(Start::default())]).collect();
    }

    /// Repeats the request if the lobby waited for reports of other members.
    pub(super) fn ask_for_round_again(&mut self) {
        if self.results.ask_at.is_some_and(|at| at <= self.now) {
            self.ask_for_round();
        }
    }

    /// Whether a rejection only means that other members have not reported the match that ended.
    pub(super) fn is_too_early(&mut self, request: RequestId, code: RejectionCode) -> bool {
        let is_ours = code == RejectionCode::WrongStatus && self.results.asked.contains(&request);
        if is_ours {
            self.results.ask_at = Some(self.now + ASK_AGAIN);
        }
        is_ours
    }
}
