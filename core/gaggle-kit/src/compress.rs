//! Compression in the LZ4 block format, for which every language has a library.
//!
//! Snapshots and bundles use it. Compressed bytes are not canonical: compare states before
//! compressing. Absent: frames, checksums, dictionaries.

use crate::DecodeError;

/// Shortest repetition that is encoded.
const MATCH_MIN: usize = 4;
/// Largest distance of a repetition, encoded in 16 bits.
const DISTANCE_MAX: usize = u16::MAX as usize;
/// The last bytes are literals and no repetition starts in them: other decoders copy in large
/// steps.
const LITERALS_AT_END: usize = 5;
const NO_MATCH_AT_END: usize = 12;
/// Size of the table of recent positions, as a power of two.
const SEEN_BITS: u32 = 11;
/// After this many bytes without a repetition (as a power of two), fewer positions are tried.
const PATIENCE_BITS: u32 = 6;

/// Appends these bytes as an LZ4 block.
///
/// ```
/// use gaggle_kit::{compress, decompress};
/// let state = [[7u8, 0, 0, 0]; 100].concat();
/// let mut packed = Vec::new();
/// compress(&state, &mut packed);
/// assert!(packed.len() < 20);
/// assert_eq!(decompress(&packed, 400), Ok(state));
/// ```
pub fn compress(bytes: &[u8], out: &mut Vec<u8>) {
    let mut seen = [0u32; 1 << SEEN_BITS];
    // End of the encoded bytes.
    let mut written = 0;
    let mut at = 0;
    while at + NO_MATCH_AT_END < bytes.len() {
        let four = four_at(bytes, at);
        // Position plus one, so that 0 means empty.
        let place = &mut seen[(four.wrapping_mul(0x9e37_79b1) >> (u32::BITS - SEEN_BITS)) as usize];
        let before = std::mem::replace(place, at as u32 + 1) as usize;
        let repeats = before > 0 && at - (before - 1) <= DISTANCE_MAX && four_at(bytes, before - 1) == four;
        if repeats {
            let distance = at - (before - 1);
            let ahead = &bytes[at..bytes.len() - LITERALS_AT_END];
            let length = ahead.iter().zip(&bytes[before - 1..]).take_while(|(a, b)| a == b).count();
            write_sequence(out, &bytes[written..at], Some((distance as u16, length)));
            at += length;
            written = at;
        } else {
            at += 1 + ((at - written) >> PATIENCE_BITS);
        }
    }
    write_sequence(out, &bytes[written..], None);
}

/// Decompresses an LZ4 block to at most `bytes_max`.
///
/// # Errors
/// If it is truncated, refers to bytes before its start, or contains more.
pub fn decompress(packed: &[u8], bytes_max: usize) -> Result<Vec<u8>, DecodeError> {
    // Grown on demand: an announced length alone allocates nothing.
    let mut out = Vec::new();
    let mut rest = packed;
    match unpack_into(&mut out, &mut rest, bytes_max) {
        Some(()) => Ok(out),
        None => {
            let place = (packed.len() - rest.len()) as u64;
            Err(DecodeError::Unknown { what: "place in packed bytes", value: place })
        }
    }
}

/// None if the block is malformed. `rest` then starts after the offending byte.
fn unpack_into(out: &mut Vec<u8>, rest: &mut &[u8], bytes_max: usize) -> Option<()> {
    loop {
        let token = *rest.split_off_first()?;
        let literals = read_length(rest, token >> 4)?;
        let literals = rest.split_off(..literals)?;
        if literals.len() > bytes_max - out.len() {
            return None;
        }
        out.extend_from_slice(literals);
        if rest.is_empty() {
            return Some(());
        }
        let distance = u16::from_le_bytes([*rest.split_off_first()?, *rest.split_off_first()?]);
        let from = out.len().checked_sub(usize::from(distance)).filter(|from| *from < out.len())?;
        let length = read_length(rest, token & 15)?.saturating_add(MATCH_MIN);
        if length > bytes_max - out.len() {
            return None;
        }
        // Source and target may overlap: a distance of one repeats a single byte.
        let end = out.len() + length;
        while out.len() < end {
            let part = (end - out.len()).min(out.len() - from);
            out.extend_from_within(from..from + part);
        }
    }
}

fn four_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |four| u32::from_le_bytes(*four))
}

/// Writes literals, then a repetition as distance and length.
fn write_sequence(out: &mut Vec<u8>, literals: &[u8], repeated: Option<(u16, usize)>) {
    let further = repeated.map_or(0, |(_, length)| length - MATCH_MIN);
    out.push((literals.len().min(15) << 4 | further.min(15)) as u8);
    write_length(out, literals.len());
    out.extend_from_slice(literals);
    if let Some((distance, _)) = repeated {
        out.extend_from_slice(&distance.to_le_bytes());
        write_length(out, further);
    }
}

/// Writes the part of a length beyond the token's four bits.
fn write_length(out: &mut Vec<u8>, length: usize) {
    if let Some(mut rest) = length.checked_sub(15) {
        while rest >= 255 {
            out.push(255);
            rest -= 255;
        }
        out.push(rest as u8);
    }
}

/// Reads a length; at most 255 times the bytes it was read from.
fn read_length(rest: &mut &[u8], four_bits: u8) -> Option<usize> {
    let mut length = usize::from(four_bits);
    let mut more = if four_bits == 15 { 255 } else { 0 };
    while more == 255 {
        more = *rest.split_off_first()?;
        length = length.saturating_add(usize::from(more));
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prng;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        compress(bytes, &mut out);
        out
    }

    /// Samples of every length, from noise to a single repeated byte.
    fn samples() -> impl Iterator<Item = Vec<u8>> {
        let mut rng = Prng::new(5);
        (0..2_000).map(move |nth| {
            let (length, letters) = (if nth < 300 { nth } else { rng.below(70_000) }, 1 + rng.below(256));
            let again = rng.below(2_000) as usize;
            let mut bytes: Vec<u8> = Vec::new();
            while bytes.len() < length as usize {
                let copied = rng.below(bytes.len() as u32 + 1) as usize;
                let copied = copied..bytes.len().min(copied + again);
                bytes.extend_from_within(copied);
                bytes.push(rng.below(letters) as u8);
            }
            bytes.truncate(length as usize);
            bytes
        })
    }

    #[test]
    fn compressed_bytes_read_back_here_and_in_other_library() {
        for bytes in samples() {
            let packed = packed(&bytes);
            assert_eq!(decompress(&packed, bytes.len()).as_ref(), Ok(&bytes));
            assert_eq!(lz4_flex::block::decompress(&packed, bytes.len()).unwrap(), bytes);
            assert!(packed.len() <= bytes.len() + bytes.len() / 255 + 2, "{} bytes", bytes.len());
            if let Some(less) = bytes.len().checked_sub(1) {
                assert!(decompress(&packed, less).is_err(), "{} bytes are more than {less}", bytes.len());
            }
        }
    }

    #[test]
    fn blocks_of_other_library_are_decompressed() {
        for bytes in samples() {
            assert_eq!(decompress(&lz4_flex::block::compress(&bytes), bytes.len()), Ok(bytes));
        }
    }

    #[test]
    fn states_with_many_zeros_shrink_to_fraction() {
        let mut rng = Prng::new(3);
        let goose = |rng: &mut Prng| {
            [rng.below(4_000), rng.below(4_000), rng.below(8), 100, 0, 0].map(u32::to_le_bytes)
        };
        let geese: Vec<u8> = (0..4_000).flat_map(|_| goose(&mut rng).concat()).collect();
        let packed = packed(&geese).len();
        assert!(packed * 5 < geese.len() * 2, "{packed} of {}", geese.len());
        // About as many as another implementation needs.
        let theirs = lz4_flex::block::compress(&geese).len();
        assert!(packed * 10 < theirs * 11, "{packed}, and {theirs} by the other library");
    }

    #[test]
    fn damaged_blocks_are_rejected_within_memory_limit() {
        let mut rng = Prng::new(9);
        let (mut refused, mut read) = (0, 0);
        for bytes in samples().filter(|bytes| !bytes.is_empty()) {
            let mut damaged = packed(&bytes);
            for _ in 0..1 + rng.below(3) {
                let at = rng.below(damaged.len() as u32) as usize;
                damaged[at] ^= 1 << rng.below(8);
            }
            damaged.truncate(damaged.len() - rng.below(2) as usize);
            match decompress(&damaged, 4_096) {
                Ok(out) => {
                    read += 1;
                    assert!(out.len() <= 4_096);
                }
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 500 && read > 20, "{refused} rejected, {read} read");
        assert!(decompress(&[], 10).is_err());
        // A megabyte out of four kilobytes, with a limit of one kilobyte: nothing is allocated for
        // it.
        let zeros = packed(&vec![0; 1 << 20]);
        let allocated = allocation_counter::measure(|| assert!(decompress(&zeros, 1_024).is_err()));
        assert!(allocated.bytes_max < 8_192, "{allocated:?}");
    }
}
