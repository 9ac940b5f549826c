//! Chunks of a replay: kind, length, content, hash.
//!
//! Recorder and reader use it. Absent: what the content means.

use gaggle_kit::{ByteReader, DecodeError, StateHasher};

/// First bytes of the file; the last one is the version.
pub(super) const MAGIC: [u8; 7] = *b"gaggleR";
pub(super) const VERSION: u8 = 1;

/// State a match begins with, and the replay's info.
pub(super) const HEAD: u8 = 1;
/// Inputs of some frames.
pub(super) const FRAMES: u8 = 2;
/// A keyframe to begin from.
pub(super) const KEY: u8 = 3;
/// End of the match.
pub(super) const END: u8 = 4;
/// A keyframe, compressed.
pub(super) const PACKED_KEY: u8 = 5;

/// Most bytes of a chunk: no game's state is that large.
pub(super) const CONTENT_BYTES_MAX: usize = 64 << 20;

/// One chunk of a file.
pub(super) struct Chunk<'a> {
    pub(super) kind: u8,
    pub(super) content: &'a [u8],
}

/// Appends a chunk to a file.
pub(super) fn write(out: &mut Vec<u8>, kind: u8, content: &[u8]) {
    out.push(kind);
    out.extend_from_slice(&(content.len() as u32).to_le_bytes());
    out.extend_from_slice(content);
    out.extend_from_slice(&seal(kind, content).to_le_bytes());
}

/// Reads the next chunk.
pub(super) fn read<'a>(r: &mut ByteReader<'a>) -> Result<Chunk<'a>, DecodeError> {
    let kind = r.u8("chunk")?;
    let length = r.u32("length of a chunk")? as usize;
    if length > CONTENT_BYTES_MAX {
        let (count, max) = (length as u64, CONTENT_BYTES_MAX as u64);
        return Err(DecodeError::CountTooLarge { what: "bytes in a chunk", count, max });
    }
    let content = r.take("content of a chunk", length)?;
    let told = r.u32("hash of a chunk")?;
    if told != seal(kind, content) {
        return Err(DecodeError::Unknown { what: "hash of a chunk", value: told.into() });
    }
    Ok(Chunk { kind, content })
}

fn seal(kind: u8, content: &[u8]) -> u32 {
    let hash = StateHasher::of(content) ^ u64::from(kind).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> 32) as u32 ^ hash as u32
}
