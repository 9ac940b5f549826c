//! What others are told of us: who we are when a link comes up, and how we stand whenever that changes.

use gaggle_kit::{Input, PeerId, SlotSet};

use super::Session;
use crate::announce::{Announce, Message, PROTOCOL_VERSION};
use crate::exchange::MESSAGE_STREAM;
use crate::membership::{self, Known};

impl<I: Input> Session<I> {
    /// We say who we are and by which rules we play.
    pub(super) fn say_hello(&mut self, peer: PeerId) {
        let own = self.seats.iter().find(|seat| seat.peer == self.local_peer);
        let announce = Message::Announce(Announce {
            version: PROTOCOL_VERSION,
            game_fingerprint: self.config.game_fingerprint,
            settings_fingerprint: self.settings_fingerprint,
            incarnation: self.membership.me().incarnation,
            slots: own.map_or(SlotSet::EMPTY, |seat| seat.slots),
        });
        let bytes = self.outbox.letter(peer, MESSAGE_STREAM);
        announce.encode(bytes);
    }

    /// Tells everybody how we stand who does not know.
    pub(super) fn tell_standing(&mut self) {
        let epoch = self.membership.epoch().number();
        for index in 0..self.remotes.len() {
            let remote = &self.remotes[index];
            if !remote.is_linked() || remote.told.epoch == Some(epoch) {
                continue;
            }
            let Some(mut standing) = self.membership.standing() else {
                self.remotes[index].told.forget();
                continue;
            };
            let peer = remote.peer;
            standing.knows = self.membership.latest_standing(peer).and_then(|theirs| {
                let first = theirs.first?;
                Some(Known { incarnation: theirs.incarnation, first })
            });
            let remote = &mut self.remotes[index];
            remote.told.epoch = Some(epoch);
            if remote.told.standing() != Some(&standing) {
                // Packets that overtake the message mean nothing yet: more of them follow soon.
                remote.lossy_until = remote.lossy_until.max(self.now + super::REPEAT_AFTER);
                let tag = remote.told.tell(standing.clone());
                let message = membership::Message::Standing { tag, standing };
                message.encode(self.outbox.letter(peer, MESSAGE_STREAM));
            }
        }
    }

    /// What the membership machine says to others is on its way, if need be through somebody else.
    pub(super) fn send_membership(&mut self) {
        while let Some((to, message)) = self.membership.next_message() {
            if message == membership::Message::AskSnapshot {
                self.seek_from(to);
                continue;
            }
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            self.send_letter(to, &bytes);
        }
    }
}
