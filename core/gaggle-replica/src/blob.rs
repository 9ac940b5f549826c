//! Names of blobs: contents too large for a packet, such as a map, a drawing, a voice.
//!
//! An object carries only the name, a hash of the bytes; a peer that needs the bytes fetches them
//! from another peer. Absent: fetching, which `blob_store.rs` does.

use gaggle_kit::fnv1a_64;

use crate::{Axis, Encoding, Field};

/// Most bytes of one blob.
pub const BLOB_BYTES_MAX: usize = 1 << 20;
/// Bytes of a piece on the wire.
pub(crate) const PIECE_BYTES: usize = 1_000;
/// Blobs that may be fetched at a time.
pub(crate) const WANTED_MAX: usize = 64;

/// Name of a blob, as a field of an object: hash and length.
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
    /// Name of the empty blob.
    pub const EMPTY: Blob = Blob { hash: 0, length: 0 };

    /// Name of these bytes.
    pub(crate) fn of(bytes: &[u8]) -> Blob {
        if bytes.is_empty() {
            return Blob::EMPTY;
        }
        Blob { hash: fnv1a_64(bytes), length: bytes.len() as u32 }
    }

    /// Length in bytes.
    pub const fn len(self) -> usize {
        self.length as usize
    }

    /// Whether the length is zero.
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

/// Why a blob is not stored or fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// It has more than [`BLOB_BYTES_MAX`] bytes.
    #[error("blob is too large; use at most {BLOB_BYTES_MAX} bytes")]
    TooLarge,
    /// Stored blobs leave no room for it.
    #[error("no room for the blob; remove some that are not needed any more")]
    Full,
    /// Too many blobs are being fetched.
    #[error("{WANTED_MAX} blobs are being fetched already; retry when one has arrived")]
    TooMany,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blob_name_as_words_reads_back() {
        let blob = Blob::of(b"a map of the pond");
        let mut words = [0; 3];
        blob.to_words(&[], &mut words);
        assert_eq!(Blob::from_words(&[], &words), blob);
        assert_eq!(Blob::of(b""), Blob::EMPTY);
        assert_ne!(Blob::of(b"a"), Blob::of(b"b"));
    }
}
