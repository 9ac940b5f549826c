//! How a match ended, told to the lobby.

use gaggle_kit::{PeerId, Slot};
use gaggle_lobby::message::client::{Finish, Report, Score, Start};
use gaggle_lobby::view::Status;
use gaggle_timeline::Game;

use super::Room;
use crate::outside::Outside;

impl<G: Game + Clone, O: Outside> Room<G, O> {
    /// Tells the lobby how the match ended: points by slot, how far it went, a hash of the final state. Everybody tells
    /// it, and it counts when they agree. Say it once, of a [confirmed](Room::confirmed_game) state. Whether it could be
    /// told: alone without a server there is nobody to tell.
    pub fn report(&mut self, points: &[(Slot, i64)], level: Option<u32>, digest: u64) -> bool {
        let session = self.shown.session();
        let owner = |slot: Slot| -> Option<PeerId> {
            let mut rows = session.roster().iter().filter(|row| row.is_open() && row.slots.contains(slot));
            rows.next().map(|row| row.stream.peer)
        };
        let owners: Vec<(PeerId, i64)> =
            points.iter().filter_map(|&(slot, score)| Some((owner(slot)?, score))).collect();
        let Some(client) = &mut self.client else { return false };
        let Some(room) = client.room().filter(|_| self.together) else { return false };
        // The lobby knows people by the chair it gave them, which need not be their slot in the match.
        let scores: Vec<Score> = owners
            .into_iter()
            .filter_map(|(peer, score)| {
                let slot = room.member(peer)?.slot?;
                Some(Score { peer, slot, score, place: None })
            })
            .collect();
        if scores.is_empty() {
            return false;
        }
        let round = room.round;
        client.report(Report { round, scores, level, digest: Some(format!("{digest:016x}")) });
        true
    }

    /// Another match begins in the same room: whoever is host tells the lobby so, which everybody may call.
    pub fn begin_round(&mut self) {
        let local = self.seat.map(|(_, peer)| peer);
        let Some(client) = &mut self.client else { return };
        let Some(room) = client.room() else { return };
        if Some(room.host) != local {
            return;
        }
        if room.status == Status::Playing {
            client.finish(Finish {});
        }
        client.start(Start::default());
    }
}
