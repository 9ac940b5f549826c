//! What others are told of us: who we are when a link comes up, and how we stand whenever that
//! changes.

use gaggle_kit::{Input, PeerId, SlotSet};

use super::Session;
use crate::PeerSlots;
use crate::announce::{Announce, Message, PROTOCOL_VERSION};
use crate::driver::MESSAGE_STREAM;
use crate::membership::{self, Known, PeerStatus};
use crate::remote::Peer;

impl<I: Input> Session<I> {
    /// We say who we are and by which rules we play.
    pub(super) fn say_hello(&mut self, peer: PeerId) {
        let own = self.seats.iter().find(|seat| seat.peer == self.local_peer);
        let company = self.cohort();
        if let Some(index) = self.remote_index(peer) {
            self.remotes[index].companies = (0, company);
        }
        let announce = Message::Announce(Announce {
            version: PROTOCOL_VERSION,
            game_fingerprint: self.config.game_fingerprint,
            settings_fingerprint: self.settings_fingerprint,
            shape: self.shape,
            incarnation: self.membership.me().incarnation,
            slots: own.map_or(SlotSet::EMPTY, |seat| seat.slots),
            cohort: company,
        });
        let bytes = self.outbox.letter(peer, MESSAGE_STREAM);
        announce.encode(bytes);
    }

    /// A name for those who start together, in which seats and which match; 0 if there is nobody to
    /// start with.
    pub(super) fn cohort(&self) -> u64 {
        if self.seats.is_empty() {
            return 0;
        }
        let mut seats: Vec<&PeerSlots> = self.seats.iter().collect();
        gaggle_kit::insertion_sort(&mut seats, |seat| seat.peer);
        let mut bytes = Vec::with_capacity(16 + 24 * seats.len());
        bytes.extend_from_slice(&self.config.match_id.started_at.to_le_bytes());
        bytes.extend_from_slice(&self.config.match_id.nonce.to_le_bytes());
        for seat in seats {
            bytes.extend_from_slice(seat.peer.as_bytes());
            bytes.extend_from_slice(&seat.slots.bits().to_le_bytes());
        }
        gaggle_kit::fnv1a_64(&bytes).max(1)
    }

    /// Those who start in the same company know how everybody stands, and mean that from their
    /// first packet on: the match begins at once, whatever gets lost meanwhile.
    pub(super) fn imply_standings(&mut self, company: u64) {
        let Some(own) = self.membership.standing() else { return };
        for index in 0..self.remotes.len() {
            let Peer { peer, companies, .. } = self.remotes[index];
            let row = self.membership.known().iter().find(|row| row.stream.peer == peer).copied();
            let Some(row) = row.filter(|_| companies == (company, company)) else { continue };
            let knows = |incarnation| Some(Known { incarnation, first: row.first_frame });
            let theirs = PeerStatus {
                incarnation: row.stream.incarnation,
                players: row.slots.len() as u8,
                wanted: row.slots,
                knows: knows(own.incarnation),
                ..own.clone()
            };
            if self.membership.imply_standing(peer, theirs) {
                let ours = PeerStatus { knows: knows(row.stream.incarnation), ..own.clone() };
                self.remotes[index].told.imply(ours);
            }
        }
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
                let message = membership::Message::PeerStatus { tag, standing };
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
