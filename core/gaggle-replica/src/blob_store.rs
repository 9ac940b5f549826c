//! Blobs of this peer: stored ones, and those being fetched in pieces on a reliable stream of their
//! own, within half of the bandwidth. The session hands it messages and ticks. Absent: kinds,
//! records.

use std::collections::BTreeMap;

use gaggle_kit::{DecodeError, Micros, PeerId};

use crate::ObjectId;
use crate::blob::{BLOB_BYTES_MAX, Blob, BlobError, PIECE_BYTES, WANTED_MAX};
use crate::event::{PeerFault, SessionEvent};
use crate::message::{Message, Piece};
use crate::session::work::Work;

/// Time without a piece after which another peer is asked for the blob.
const SILENCE_MAX: Micros = Micros::from_secs(5);
/// Interval at which all peers are asked again if none has the blob.
const RETRY: Micros = Micros::from_secs(1);

/// A blob that is being fetched.
#[derive(Debug)]
struct Wanted {
    blob: Blob,
    /// Object that names it: its authority is asked first.
    object: ObjectId,
    asked: Option<PeerId>,
    /// Time the asked peer was asked, or last sent a piece.
    heard_at: Micros,
    /// Peers that do not have it.
    tried: Vec<PeerId>,
    retry_at: Micros,
    got: Vec<u8>,
}

impl Wanted {
    /// The peer that was asked left or does not have it.
    fn give_up_on(&mut self, peer: PeerId, now: Micros) {
        if self.asked == Some(peer) {
            self.asked = None;
            self.got.clear();
            self.tried.push(peer);
            self.retry_at = now + RETRY;
        }
    }
}

/// Blobs this peer has or fetches.
#[derive(Debug, Default)]
pub(crate) struct BlobStore {
    kept: BTreeMap<Blob, Vec<u8>>,
    bytes: usize,
    wanted: Vec<Wanted>,
}

impl BlobStore {
    pub(crate) fn get(&self, blob: Blob) -> Option<&[u8]> {
        if blob.is_empty() {
            return Some(&[]);
        }
        self.kept.get(&blob).map(Vec::as_slice)
    }

    pub(crate) fn keep(&mut self, bytes: &[u8], max: usize) -> Result<Blob, BlobError> {
        let blob = Blob::of(bytes);
        if bytes.len() > BLOB_BYTES_MAX {
            return Err(BlobError::TooLarge);
        }
        if self.get(blob).is_some() {
            return Ok(blob);
        }
        if self.bytes + bytes.len() > max {
            return Err(BlobError::Full);
        }
        self.bytes += bytes.len();
        self.kept.insert(blob, bytes.to_vec());
        self.wanted.retain(|wanted| wanted.blob != blob);
        Ok(blob)
    }

    fn forget(&mut self, blob: Blob) {
        if let Some(bytes) = self.kept.remove(&blob) {
            self.bytes -= bytes.len();
        }
        self.wanted.retain(|wanted| wanted.blob != blob);
    }

    fn want(&mut self, blob: Blob, object: ObjectId, max: usize) -> Result<(), BlobError> {
        if self.get(blob).is_some() || self.wanted.iter().any(|wanted| wanted.blob == blob) {
            return Ok(());
        }
        if blob.len() > BLOB_BYTES_MAX {
            return Err(BlobError::TooLarge);
        }
        let coming: usize = self.wanted.iter().map(|wanted| wanted.blob.len()).sum();
        if self.bytes + coming + blob.len() > max {
            return Err(BlobError::Full);
        }
        if self.wanted.len() >= WANTED_MAX {
            return Err(BlobError::TooMany);
        }
        self.wanted.push(Wanted {
            blob,
            object,
            asked: None,
            heard_at: Micros::ZERO,
            tried: Vec::new(),
            retry_at: Micros::ZERO,
            got: Vec::new(),
        });
        Ok(())
    }

    /// Fetches the blob an object names, from its authority or another peer that has it.
    pub(crate) fn fetch(
        &mut self,
        work: &mut Work<'_>,
        object: ObjectId,
        blob: Blob,
    ) -> Result<(), BlobError> {
        self.want(blob, object, work.cx.config.blob_bytes_max)?;
        self.ask(work);
        Ok(())
    }

    /// Removes a blob that is not needed any more, or stops fetching it.
    pub(crate) fn remove(&mut self, work: &mut Work<'_>, blob: Blob) {
        self.forget(blob);
        for index in 0..work.peers.len() {
            if work.peers[index].side.blobs.remove(blob) {
                // A peer that has fetched part of it asks another.
                let peer = work.peers[index].id;
                work.cx.tell(peer, &Message::BlobMissing(blob));
            }
        }
    }

    /// Requests every blob that is not requested from any peer yet.
    pub(crate) fn ask(&mut self, work: &mut Work<'_>) {
        for index in 0..self.wanted.len() {
            let now = work.cx.now;
            let wanted = &mut self.wanted[index];
            if let Some(peer) = wanted.asked {
                if now.since(wanted.heard_at) < SILENCE_MAX {
                    continue;
                }
                wanted.give_up_on(peer, now);
            }
            let wanted = &self.wanted[index];
            let holder = work.objects.find(wanted.object).and_then(|place| work.objects[place].record);
            let holder = holder.map(|record| record.version.authority);
            let mut present = work.peers.iter().filter(|link| link.member().is_some());
            let untried = |peer: PeerId| !wanted.tried.contains(&peer);
            let holds = present
                .clone()
                .find(|link| link.present().map(|other| other.id) == holder && untried(link.id));
            let next = holds.or_else(|| present.find(|link| untried(link.id))).map(|link| link.id);
            let (blob, late) = (wanted.blob, work.cx.now >= wanted.retry_at);
            let wanted = &mut self.wanted[index];
            match next {
                Some(peer) => {
                    wanted.asked = Some(peer);
                    wanted.heard_at = now;
                    work.cx.tell(peer, &Message::BlobAsk(blob));
                }
                None if late => wanted.tried.clear(),
                None => {}
            }
        }
    }

    pub(crate) fn handle_ask(&mut self, work: &mut Work<'_>, link: usize, blob: Blob) {
        let state = &mut work.peers[link];
        let peer = state.id;
        if state.present().is_none() {
            return;
        }
        let is_known = self.get(blob).is_some() || state.side.blobs.contains(blob);
        if !is_known || !state.side.blobs.ask(blob) {
            work.cx.tell(peer, &Message::BlobMissing(blob));
        }
    }

    pub(crate) fn handle_missing(&mut self, work: &mut Work<'_>, link: usize, blob: Blob) {
        let (peer, now) = (work.peers[link].id, work.cx.now);
        if let Some(wanted) = self.wanted.iter_mut().find(|wanted| wanted.blob == blob) {
            wanted.give_up_on(peer, now);
            self.ask(work);
        }
    }

    pub(crate) fn handle_piece(
        &mut self,
        work: &mut Work<'_>,
        link: usize,
        piece: &Piece<'_>,
    ) -> Result<(), PeerFault> {
        let (peer, now) = (work.peers[link].id, work.cx.now);
        let asked = |wanted: &&mut Wanted| wanted.blob == piece.blob && wanted.asked == Some(peer);
        // It may have been removed meanwhile.
        let Some(wanted) = self.wanted.iter_mut().find(asked) else { return Ok(()) };
        let (start, length) = (piece.offset as usize, wanted.blob.len());
        let end = start.saturating_add(piece.bytes.len());
        if end > length || piece.bytes.is_empty() {
            let wrong = DecodeError::out_of_range("piece of a blob", piece.offset, 0, piece.blob.length);
            return Err(PeerFault::Malformed(wrong));
        }
        if start != wanted.got.len() {
            // Sent before this peer asked again from the beginning.
            return Ok(());
        }
        wanted.got.extend_from_slice(piece.bytes);
        if end < length {
            // A peer sends one blob at a time, so a piece counts as activity for all that were
            // asked of it.
            for wanted in self.wanted.iter_mut().filter(|wanted| wanted.asked == Some(peer)) {
                wanted.heard_at = now;
            }
            return Ok(());
        }
        let got = std::mem::take(&mut wanted.got);
        if Blob::of(&got) != piece.blob {
            // The bytes do not match the name; another peer may have the right ones.
            wanted.give_up_on(peer, now);
            self.ask(work);
            return Ok(());
        }
        self.wanted.retain(|wanted| wanted.blob != piece.blob);
        if self.keep(&got, work.cx.config.blob_bytes_max).is_ok() {
            work.cx.emit(SessionEvent::BlobReceived { blob: piece.blob });
        }
        Ok(())
    }

    /// A peer left: its blobs are requested from others.
    pub(crate) fn give_up_on(&mut self, work: &mut Work<'_>, peer: PeerId) {
        let now = work.cx.now;
        work.cx.pieces.retain(|(to, _)| *to != peer);
        for wanted in &mut self.wanted {
            wanted.give_up_on(peer, now);
            // It may return with the blob.
            wanted.tried.retain(|tried| *tried != peer);
        }
    }

    /// Sends as many pieces as half of each peer's bandwidth allows.
    pub(crate) fn send_pieces(&self, work: &mut Work<'_>, elapsed: Micros) {
        if !work.members.is_member() && !work.members.is_spectator() {
            return;
        }
        for index in 0..work.peers.len() {
            self.send_to(work, index, elapsed);
        }
    }

    fn send_to(&self, work: &mut Work<'_>, index: usize, elapsed: Micros) {
        let link = &mut work.peers[index];
        if link.side.blobs.is_empty() {
            return;
        }
        let rate = i64::from(work.cx.config.bytes_per_second) / 2;
        let most = (rate * work.cx.config.send_interval.get() as i64 / 1_000_000).max(PIECE_BYTES as i64);
        link.side.blobs.earn(rate * elapsed.get() as i64 / 1_000_000, 2 * most);
        let bytes_of = |blob| self.get(blob).unwrap_or_default();
        while let Some((blob, part)) = link.side.blobs.next(|blob| bytes_of(blob).len()) {
            let end = part.end;
            let piece = Piece { blob, offset: part.start as u32, bytes: &bytes_of(blob)[part] };
            let mut message = Vec::new();
            Message::BlobPiece(piece).encode(&mut message);
            link.side.blobs.note_sent(end, message.len());
            link.out.spend(message.len());
            work.cx.pieces.push_back((link.id, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuthorityPolicy;
    use crate::session::work::bench::{Bench, peer};

    #[test]
    fn blob_stored_twice_is_counted_once() {
        let mut blobs = BlobStore::default();
        let first = blobs.keep(&[1; 60], 100).unwrap();
        assert_eq!(blobs.keep(&[1; 60], 100), Ok(first), "the same blob counts once");
        assert_eq!(blobs.keep(&[2; 60], 100), Err(BlobError::Full));
        assert_eq!(blobs.want(Blob::of(&[3; 60]), ObjectId::from_bits(1), 100), Err(BlobError::Full));
        blobs.forget(first);
        assert!(blobs.get(first).is_none() && blobs.keep(&[2; 60], 100).is_ok());
        let absurd = Blob { hash: 1, length: u32::MAX };
        assert_eq!(blobs.want(absurd, ObjectId::from_bits(1), usize::MAX), Err(BlobError::TooLarge));
    }

    fn asked(bench: &mut Bench) -> Vec<PeerId> {
        std::mem::take(&mut bench.cx.messages).into_iter().map(|(to, _)| to).collect()
    }

    #[test]
    fn authority_of_naming_object_is_asked_first() {
        let (mut bench, mut blobs) = (Bench::new(AuthorityPolicy::Anyone, 4), BlobStore::default());
        let place = bench.object(2, 1);
        let (id, blob) = (bench.objects[place].id, Blob::of(&[7; 10]));
        blobs.fetch(&mut bench.work(), id, blob).unwrap();
        assert_eq!(asked(&mut bench), [peer(2)]);
        blobs.handle_missing(&mut bench.work(), 1, blob);
        assert_eq!(asked(&mut bench), [peer(1)], "then the other peers");
        blobs.give_up_on(&mut bench.work(), peer(1));
        blobs.ask(&mut bench.work());
        assert_eq!(asked(&mut bench).len(), 1);
    }

    #[test]
    fn pieces_that_differ_from_blob_name_are_not_kept() {
        let (mut bench, mut blobs) = (Bench::new(AuthorityPolicy::Anyone, 3), BlobStore::default());
        let (id, blob) = (ObjectId::from_bits(1), Blob::of(&[7; 10]));
        blobs.fetch(&mut bench.work(), id, blob).unwrap();
        blobs.handle_piece(&mut bench.work(), 0, &Piece { blob, offset: 0, bytes: &[8; 10] }).unwrap();
        assert_eq!(blobs.get(blob), None);
        assert_eq!(asked(&mut bench), [peer(1), peer(2)]);
        let longer = Piece { blob, offset: 0, bytes: &[7; 11] };
        assert!(
            blobs.handle_piece(&mut bench.work(), 1, &longer).is_err(),
            "the piece is longer than its name allows"
        );
        blobs.handle_piece(&mut bench.work(), 1, &Piece { blob, offset: 0, bytes: &[7; 10] }).unwrap();
        assert_eq!(blobs.get(blob), Some(&[7; 10][..]));
    }

    #[test]
    fn pieces_sent_use_at_most_half_of_budget() {
        let (mut bench, mut blobs) = (Bench::new(AuthorityPolicy::Anyone, 2), BlobStore::default());
        let blob = blobs.keep(&[7; 50_000], 100_000).unwrap();
        blobs.handle_ask(&mut bench.work(), 0, blob);
        blobs.send_pieces(&mut bench.work(), Micros::from_millis(50));
        let bytes: usize = bench.cx.pieces.iter().map(|(_, piece)| piece.len()).sum();
        assert!((500..=1_700).contains(&bytes), "{bytes} of 3,200 earned");
    }
}
