//! Contents too large for a packet: a map, a drawing, a voice. An object carries only their name,
//! which is made of the bytes themselves; who needs the bytes fetches them from whoever has them.

use std::collections::BTreeMap;

use gaggle_kit::{Micros, PeerId, fnv1a_64};

use crate::{Axis, Encoding, Field, ObjectId};

/// Most bytes of one blob.
pub const BLOB_BYTES_MAX: usize = 1 << 20;
/// Bytes of a piece on the wire.
pub(crate) const PIECE_BYTES: usize = 1_000;
/// Blobs that may be fetched at a time.
const WANTED_MAX: usize = 64;
/// Blobs one peer may wait for.
pub(crate) const ASKED_MAX: usize = 16;
/// Whoever was asked and sends nothing of what it was asked for is given up after this.
pub(crate) const SILENCE_MAX: Micros = Micros::from_secs(5);
/// If nobody has it, everybody is asked again after this.
const RETRY: Micros = Micros::from_secs(1);

/// The name of some bytes, as a field of an object: hash and length.
///
/// ```
/// use gaggle_replica::{Blob, Kind};
///
/// #[derive(Kind)]
/// struct Level {
///     ground: Blob,
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Blob {
    pub(crate) hash: u64,
    pub(crate) length: u32,
}

impl Blob {
    /// The name of no bytes.
    pub const EMPTY: Blob = Blob { hash: 0, length: 0 };

    /// The name of these bytes.
    pub(crate) fn of(bytes: &[u8]) -> Blob {
        if bytes.is_empty() {
            return Blob::EMPTY;
        }
        Blob { hash: fnv1a_64(bytes), length: bytes.len() as u32 }
    }

    /// How many bytes there are.
    pub const fn len(self) -> usize {
        self.length as usize
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.length == 0
    }
}

impl Field for Blob {
    const WORDS: usize = 3;
    const ENCODING: Encoding = Encoding::Opaque;

    fn to_words(&self, _: &[Axis], words: &mut [i32]) {
        words[0] = self.hash as i32;
        words[1] = (self.hash >> 32) as i32;
        words[2] = self.length as i32;
    }

    fn from_words(_: &[Axis], words: &[i32]) -> Blob {
        let half = |word: i32| u64::from(word as u32);
        Blob { hash: half(words[0]) | half(words[1]) << 32, length: words[2] as u32 }
    }

    fn from_interpolated(_: &[Axis], _: &[f64]) -> Blob {
        Blob::EMPTY
    }
}

/// Why a blob is not kept or fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// It has too many bytes.
    #[error("too large: at most {BLOB_BYTES_MAX} bytes")]
    TooLarge,
    /// There is no room beside those that are kept.
    #[error("no room: forget some that are not needed any more")]
    Full,
    /// Too many are being fetched.
    #[error("{WANTED_MAX} are being fetched already")]
    TooMany,
}

/// A blob that is being fetched.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) blob: Blob,
    /// The object that names it: its holder is asked first.
    pub(crate) object: ObjectId,
    pub(crate) asked: Option<PeerId>,
    /// When that one was asked, or sent something last.
    pub(crate) heard_at: Micros,
    /// Who does not have it.
    pub(crate) tried: Vec<PeerId>,
    pub(crate) retry_at: Micros,
    pub(crate) got: Vec<u8>,
}

impl Wanted {
    /// Whoever was asked is gone or does not have it.
    pub(crate) fn give_up_on(&mut self, peer: PeerId, now: Micros) {
        if self.asked == Some(peer) {
            self.asked = None;
            self.got.clear();
            self.tried.push(peer);
            self.retry_at = now + RETRY;
        }
    }
}

/// All blobs this machine has or wants.
#[derive(Debug, Default)]
pub(crate) struct Blobs {
    kept: BTreeMap<Blob, Vec<u8>>,
    bytes: usize,
    pub(crate) wanted: Vec<Wanted>,
}

impl Blobs {
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

    pub(crate) fn forget(&mut self, blob: Blob) {
        if let Some(bytes) = self.kept.remove(&blob) {
            self.bytes -= bytes.len();
        }
        self.wanted.retain(|wanted| wanted.blob != blob);
    }

    pub(crate) fn want(&mut self, blob: Blob, object: ObjectId, max: usize) -> Result<(), BlobError> {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_survives_being_words() {
        let blob = Blob::of(b"a map of the pond");
        let mut words = [0; 3];
        blob.to_words(&[], &mut words);
        assert_eq!(Blob::from_words(&[], &words), blob);
        assert_eq!(Blob::of(b""), Blob::EMPTY);
        assert_ne!(Blob::of(b"a"), Blob::of(b"b"));
    }

    #[test]
    fn room_is_counted() {
        let mut blobs = Blobs::default();
        let first = blobs.keep(&[1; 60], 100).unwrap();
        assert_eq!(blobs.keep(&[1; 60], 100), Ok(first), "twice is once");
        assert_eq!(blobs.keep(&[2; 60], 100), Err(BlobError::Full));
        assert_eq!(blobs.want(Blob::of(&[3; 60]), ObjectId::from_bits(1), 100), Err(BlobError::Full));
        blobs.forget(first);
        assert!(blobs.get(first).is_none() && blobs.keep(&[2; 60], 100).is_ok());
        let absurd = Blob { hash: 1, length: u32::MAX };
        assert_eq!(blobs.want(absurd, ObjectId::from_bits(1), usize::MAX), Err(BlobError::TooLarge));
    }
}
