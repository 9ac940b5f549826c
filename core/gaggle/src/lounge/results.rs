//! How a match ended, told to the lobby.

use gaggle_kit::{Micros, PeerId};
use gaggle_lobby::client::Client;
use gaggle_lobby::message::client::{Finish, OwnScore, Report, Score, Start};
use gaggle_lobby::view::{RoomView, Status};

use super::Lounge;
use crate::platform::Platform;

/// How often the lobby is told our score.
const TELL_EVERY: Micros = Micros::from_secs(15);

impl<S, P: Platform> Lounge<S, P> {
    /// Tells the lobby how the match ended: points by person. Whether it could be told.
    pub(crate) fn report(&mut self, points: &[(PeerId, i64)], level: Option<u32>, digest: u64) -> bool {
        let Some(client) = &mut self.client else { return false };
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
        self.score = score.filter(|_| score != self.score_told);
        self.tell_due_score();
    }

    /// Tells our score if the lobby does not know it and has not been told one for long enough.
    /// Call it often: a score that was set once is told in its time.
    pub(super) fn tell_due_score(&mut self) {
        if self.now >= self.tell_at {
            self.tell_score();
        }
    }

    /// Tells our score, if we play a match and the lobby does not know it.
    pub(super) fn tell_score(&mut self) {
        let Some((score, level)) = self.score else { return };
        let (Some(client), Some((_, me))) = (&mut self.client, self.seat) else { return };
        let plays = |room: &&RoomView| {
            room.status == Status::Playing && room.member(me).is_some_and(|member| member.slot.is_some())
        };
        if let Some(round) = client.room().filter(plays).map(|room| room.round) {
            client.tell_score(OwnScore { round, score, level });
            (self.score, self.score_told) = (None, Some((score, level)));
            self.tell_at = self.now + TELL_EVERY;
        }
    }

    /// Another match begins in the same room: whoever is host tells the lobby so.
    pub(crate) fn begin_round(&mut self) {
        (self.score, self.score_told) = (None, None);
        let local = self.me();
        let room = self.client.as_ref().and_then(Client::room);
        let Some(status) = room.filter(|room| Some(room.host) == local).map(|room| room.status) else {
            return;
        };
        let Some(client) = &mut self.client else { return };
        if status == Status::Playing {
            client.finish(Finish {});
        }
        client.start(Start::default());
    }
}
