//! How a match ended, told to the lobby.

use gaggle_kit::PeerId;
use gaggle_lobby::client::Client;
use gaggle_lobby::message::client::{Finish, Report, Score, Start};
use gaggle_lobby::view::Status;

use super::Lounge;
use crate::outside::Outside;

impl<S, O: Outside> Lounge<S, O> {
    /// Tells the lobby how the match ended: points by person. Whether it could be told.
    pub(crate) fn report(&mut self, points: &[(PeerId, i64)], level: Option<u32>, digest: u64) -> bool {
        let Some(client) = &mut self.client else { return false };
        let Some(room) = client.room() else { return false };
        // The lobby knows people by the chair it gave them, which need not be their slot in the match.
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

    /// Another match begins in the same room: whoever is host tells the lobby so.
    pub(crate) fn begin_round(&mut self) {
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
