//! Fetching what is too large for packets: in pieces, on a reliable stream of its own, with at most
//! half of the budget.

use gaggle_kit::{DecodeError, Micros, PeerId};

use super::Session;
use crate::ObjectId;
use crate::blob::{ASKED_MAX, Blob, BlobError, PIECE_BYTES, SILENCE_MAX};
use crate::event::{PeerFault, SessionEvent};
use crate::message::{Message, Piece};

impl Session {
    /// Keeps bytes so that others can fetch them, and gives their name, to be put into an object.
    ///
    /// # Errors
    /// If they are too many.
    pub fn store_blob(&mut self, bytes: &[u8]) -> Result<Blob, BlobError> {
        self.blobs.keep(bytes, self.config.blob_bytes_max)
    }

    /// The bytes of a name, if they are here.
    pub fn blob(&self, blob: Blob) -> Option<&[u8]> {
        self.blobs.get(blob)
    }

    /// Fetches the bytes an object names, from its holder or whoever else has them. An
    /// [`SessionEvent::BlobReceived`] tells when they are here; until then show what was there
    /// before.
    ///
    /// # Errors
    /// If there is no room for them.
    pub fn fetch_blob(&mut self, object: ObjectId, blob: Blob) -> Result<(), BlobError> {
        self.blobs.want(blob, object, self.config.blob_bytes_max)?;
        self.ask_for_blobs();
        Ok(())
    }

    /// Forgets bytes that are not needed any more, or stops fetching them.
    pub fn remove_blob(&mut self, blob: Blob) {
        self.blobs.forget(blob);
        for index in 0..self.links.len() {
            let pieces = &mut self.links[index].pieces;
            let before = pieces.len();
            pieces.retain(|(other, _)| *other != blob);
            if pieces.len() < before {
                // Whoever was in the middle of fetching it asks somebody else.
                let peer = self.links[index].peer;
                self.tell(peer, &Message::BlobMissing(blob));
            }
        }
    }

    /// Asks somebody for everything nobody is asked for.
    pub(super) fn ask_for_blobs(&mut self) {
        for index in 0..self.blobs.wanted.len() {
            let now = self.now;
            let wanted = &mut self.blobs.wanted[index];
            if let Some(peer) = wanted.asked {
                if now.since(wanted.heard_at) < SILENCE_MAX {
                    continue;
                }
                wanted.give_up_on(peer, now);
            }
            let wanted = &self.blobs.wanted[index];
            let holder = self.store.find(wanted.object).and_then(|place| self.store[place].record);
            let holder = holder.map(|record| record.version.authority);
            let mut present = self.links.iter().filter(|link| link.present.is_some() && !link.spectator);
            let untried = |peer: PeerId| !wanted.tried.contains(&peer);
            let holds = present
                .clone()
                .find(|link| link.present.map(|other| other.id) == holder && untried(link.peer));
            let next = holds.or_else(|| present.find(|link| untried(link.peer))).map(|link| link.peer);
            let (blob, late) = (wanted.blob, self.now >= wanted.retry_at);
            let wanted = &mut self.blobs.wanted[index];
            match next {
                Some(peer) => {
                    wanted.asked = Some(peer);
                    wanted.heard_at = now;
                    self.tell(peer, &Message::BlobAsk(blob));
                }
                None if late => wanted.tried.clear(),
                None => {}
            }
        }
    }

    pub(super) fn handle_blob_ask(&mut self, link: usize, blob: Blob) {
        let state = &mut self.links[link];
        let peer = state.peer;
        if state.present.is_none() {
            return;
        }
        if let Some((_, told)) = state.pieces.iter_mut().find(|(other, _)| *other == blob) {
            // It had given up on us, and what it had.
            *told = 0;
            return;
        }
        if self.blobs.get(blob).is_none() || state.pieces.len() >= ASKED_MAX {
            self.tell(peer, &Message::BlobMissing(blob));
        } else {
            state.pieces.push_back((blob, 0));
        }
    }

    pub(super) fn handle_blob_missing(&mut self, link: usize, blob: Blob) {
        let (peer, now) = (self.links[link].peer, self.now);
        if let Some(wanted) = self.blobs.wanted.iter_mut().find(|wanted| wanted.blob == blob) {
            wanted.give_up_on(peer, now);
            self.ask_for_blobs();
        }
    }

    pub(super) fn handle_piece(&mut self, link: usize, piece: &Piece<'_>) {
        let (peer, now) = (self.links[link].peer, self.now);
        let asked =
            |wanted: &&mut crate::blob::Wanted| wanted.blob == piece.blob && wanted.asked == Some(peer);
        // Perhaps it was forgotten meanwhile.
        let Some(wanted) = self.blobs.wanted.iter_mut().find(asked) else { return };
        let (start, length) = (piece.offset as usize, wanted.blob.len());
        let end = start.saturating_add(piece.bytes.len());
        if end > length || piece.bytes.is_empty() {
            let wrong = DecodeError::out_of_range("piece of a blob", piece.offset, 0, piece.blob.length);
            return self.fault(peer, PeerFault::Malformed(wrong));
        }
        if start != wanted.got.len() {
            // It was on its way when we asked again, from the beginning.
            return;
        }
        wanted.got.extend_from_slice(piece.bytes);
        if end < length {
            // One at a time, so whoever sends this is not silent about the others.
            for wanted in self.blobs.wanted.iter_mut().filter(|wanted| wanted.asked == Some(peer)) {
                wanted.heard_at = now;
            }
            return;
        }
        let got = std::mem::take(&mut wanted.got);
        if Blob::of(&got) != piece.blob {
            // Not what the name says: others may have it.
            wanted.give_up_on(peer, now);
            return self.ask_for_blobs();
        }
        self.blobs.wanted.retain(|wanted| wanted.blob != piece.blob);
        if self.blobs.keep(&got, self.config.blob_bytes_max).is_ok() {
            self.events.push(SessionEvent::BlobReceived { blob: piece.blob });
        }
    }

    /// A link ended: others are asked.
    pub(super) fn give_up_on_blobs_of(&mut self, peer: PeerId) {
        let now = self.now;
        self.pieces.retain(|(to, _)| *to != peer);
        for wanted in &mut self.blobs.wanted {
            wanted.give_up_on(peer, now);
            // It may come back.
            wanted.tried.retain(|tried| *tried != peer);
        }
    }

    /// Hands out as many pieces as half of a link's budget allows.
    pub(super) fn send_pieces(&mut self, index: usize, elapsed: Micros) {
        if self.links[index].pieces.is_empty() {
            return;
        }
        let rate = i64::from(self.config.bytes_per_second) / 2;
        let most = (rate * self.config.send_interval.get() as i64 / 1_000_000).max(PIECE_BYTES as i64);
        let link = &mut self.links[index];
        link.piece_budget = (link.piece_budget + rate * elapsed.get() as i64 / 1_000_000).min(2 * most);
        while let Some(&(blob, start)) = self.links[index].pieces.front() {
            let link = &mut self.links[index];
            let bytes = self.blobs.get(blob).unwrap_or_default();
            let end = bytes.len().min(start + PIECE_BYTES);
            if start >= end {
                link.pieces.pop_front();
                continue;
            }
            if link.piece_budget < (end - start) as i64 {
                return;
            }
            let piece = Piece { blob, offset: start as u32, bytes: &bytes[start..end] };
            let mut message = Vec::new();
            Message::BlobPiece(piece).encode(&mut message);
            link.piece_budget -= message.len() as i64;
            link.budget -= message.len() as i64;
            link.pieces[0].1 = end;
            self.pieces.push_back((link.peer, message));
        }
    }
}
