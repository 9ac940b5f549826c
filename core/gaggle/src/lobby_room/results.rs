//! How a match ended, told to the lobby.

use gaggle_kit::{Micros, PeerId};
use gaggle_lobby::RejectionCode;
use gaggle_lobby::client::{Client, RequestId};
use gaggle_lobby::message::client::{Finish, OwnScore, Report, Score, Start};
use gaggle_lobby::view::{RoomView, Status};

use super::LobbyRoom;
use crate::platform::Platform;

/// How often the lobby is told our score.
const TELL_EVERY: Micros = Micros::from_secs(15);

/// How long others have to report a match before the lobby is asked for the next one again.
const ASK_AGAIN: Micros = Micros::from_secs(3);

/// What the lobby knows of our matches.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// Our score, if the lobby does not know it.
    score: Option<(i64, Option<u32>)>,
    /// The score it knows, and when to tell it the next one.
    told: Option<(i64, Option<u32>)>,
    tell_at: Micros,
    /// The match that ended when we began another one.
    ended: Option<u32>,
    /// The questions for the next one, and when to ask again.
    asked: Vec<RequestId>,
    ask_at: Option<Micros>,
}

impl Results {
    /// Scores of another room or match mean nothing here.
    pub(super) fn forget_score(&mut self) {
        (self.score, self.told) = (None, None);
    }
}

impl<S, P: Platform> LobbyRoom<S, P> {
    /// Tells the lobby how the match ended: points by person. Whether it could be told.
    pub(crate) fn report_result(
        &mut self,
        points: &[(PeerId, i64)],
        level: Option<u32>,
        digest: u64,
    ) -> bool {
        let Some(client) = &mut self.lobby_client else { return false };
        let Some(room) = client.room() else { return false };
        // The lobby knows people by the chair it gave them, which need not be their slot in the
        // match.
        let chairs = points.iter().filter_map(|&(peer, score)| {
            let slot = room.member(peer)?.slot?;
            Some(Score { peer, slot, score, place: None })
        });
        let scores: Vec<Score> = chairs.collect();
        if scores.is_empty() {
            return false;
        }
        let round = room.round;
        client.report(Report { round, scores, level, digest: Some(format!("{digest:016x}")) });
        true
    }

    /// What we have so far: the lobby is told every 15 s, and when we leave.
    pub(crate) fn set_score(&mut self, points: i64, level: Option<u32>) {
        let score = Some((points, level));
        self.results.score = score.filter(|_| score != self.results.told);
        self.tell_due_score();
    }

    /// Tells our score if the lobby does not know it and has not been told one for long enough.
    /// Call it often: a score that was set once is told in its time.
    pub(super) fn tell_due_score(&mut self) {
        if self.now >= self.results.tell_at {
            self.tell_score();
        }
    }

    /// Tells our score, if we play a match and the lobby does not know it.
    pub(super) fn tell_score(&mut self) {
        let Some((score, level)) = self.results.score else { return };
        let (Some(client), Some((_, me))) = (&mut self.lobby_client, self.seat) else { return };
        let plays = |room: &&RoomView| {
            room.status == Status::Playing && room.member(me).is_some_and(|member| member.slot.is_some())
        };
        if let Some(round) = client.room().filter(plays).map(|room| room.round) {
            client.tell_score(OwnScore { round, score, level });
            (self.results.score, self.results.told) = (None, Some((score, level)));
            self.results.tell_at = self.now + TELL_EVERY;
        }
    }

    /// Another match begins in the same room. Only its host tells the lobby.
    pub(crate) fn start_round(&mut self) {
        let ended = self.lobby_client.as_ref().and_then(Client::room).map(|room| room.round);
        self.results = Results { ended, tell_at: self.results.tell_at, ..Results::default() };
        self.ask_for_round();
    }

    /// Asks for the next match, if we are host and the lobby is still at the one that ended.
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

    /// Asks once more if the lobby waited for reports of others when we asked last.
    pub(super) fn ask_for_round_again(&mut self) {
        if self.results.ask_at.is_some_and(|at| at <= self.now) {
            self.ask_for_round();
        }
    }

    /// Whether a refusal only says that others have not reported the match that ended.
    pub(super) fn is_too_early(&mut self, request: RequestId, code: RejectionCode) -> bool {
        let is_ours = code == RejectionCode::WrongStatus && self.results.asked.contains(&request);
        if is_ours {
            self.results.ask_at = Some(self.now + ASK_AGAIN);
        }
        is_ours
    }
}
