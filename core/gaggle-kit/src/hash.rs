//! Portable hashes: XXH64 for states, FNV-1a for names and other short data.
//!
//! Engines compare results of honest peers with them. Absent: resistance to forgery.

use crate::ByteSink;

/// Hash of a game's state: XXH64 with seed 0, fed in pieces.
///
/// The result does not depend on how the bytes are divided, so the hash of a state is the hash of
/// its encoding. Four independent lanes of 64-bit multiplications make it as fast in WASM as
/// natively.
///
/// ```
/// use gaggle_kit::{ByteSink, StateHasher};
///
/// let mut hasher = StateHasher::new();
/// hasher.put(b"go");
/// hasher.put(b"ose");
/// assert_eq!(hasher.finish(), StateHasher::of(b"goose"));
/// ```
#[derive(Debug, Clone)]
pub struct StateHasher {
    lanes: [u64; 4],
    /// The first `tail_size` bytes are buffered.
    tail: [u8; TAIL],
    tail_size: usize,
    /// Bytes that the lanes have processed.
    taken: u64,
}

/// Bytes that the lanes process at once.
const STRIPE: usize = 32;
/// Many stripes, so that small pieces of a state are mostly just copied.
const TAIL: usize = 8 * STRIPE;

const PRIME_1: u64 = 0x9e37_79b1_85eb_ca87;
const PRIME_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME_3: u64 = 0x1656_67b1_9e37_79f9;
const PRIME_4: u64 = 0x85eb_ca77_c2b2_ae63;
const PRIME_5: u64 = 0x27d4_eb2f_1656_67c5;

impl StateHasher {
    /// A hasher without input.
    pub const fn new() -> StateHasher {
        StateHasher {
            lanes: [PRIME_1.wrapping_add(PRIME_2), PRIME_2, 0, 0u64.wrapping_sub(PRIME_1)],
            tail: [0; TAIL],
            tail_size: 0,
            taken: 0,
        }
    }

    /// Hash of these bytes.
    pub fn of(bytes: &[u8]) -> u64 {
        let mut hasher = StateHasher::new();
        hasher.put(bytes);
        hasher.finish()
    }

    /// Hash of all bytes so far.
    pub fn finish(&self) -> u64 {
        let (stripes, rest) = self.tail[..self.tail_size].as_chunks::<STRIPE>();
        let lanes = take_in(self.lanes, stripes);
        let total = self.taken.wrapping_add(self.tail_size as u64);

        let [a, b, c, d] = lanes;
        let mut hash = if total < STRIPE as u64 {
            PRIME_5
        } else {
            let sum = a
                .rotate_left(1)
                .wrapping_add(b.rotate_left(7))
                .wrapping_add(c.rotate_left(12))
                .wrapping_add(d.rotate_left(18));
            lanes
                .iter()
                .fold(sum, |hash, &lane| (hash ^ round(0, lane)).wrapping_mul(PRIME_1).wrapping_add(PRIME_4))
        };
        hash = hash.wrapping_add(total);

        let (words, rest) = rest.as_chunks::<8>();
        for &word in words {
            hash ^= round(0, u64::from_le_bytes(word));
            hash = hash.rotate_left(27).wrapping_mul(PRIME_1).wrapping_add(PRIME_4);
        }
        let (halves, rest) = rest.as_chunks::<4>();
        for &half in halves {
            hash ^= u64::from(u32::from_le_bytes(half)).wrapping_mul(PRIME_1);
            hash = hash.rotate_left(23).wrapping_mul(PRIME_2).wrapping_add(PRIME_3);
        }
        for &byte in rest {
            hash ^= u64::from(byte).wrapping_mul(PRIME_5);
            hash = hash.rotate_left(11).wrapping_mul(PRIME_1);
        }

        hash = (hash ^ (hash >> 33)).wrapping_mul(PRIME_2);
        hash = (hash ^ (hash >> 29)).wrapping_mul(PRIME_3);
        hash ^ (hash >> 32)
    }

    /// Processes bytes that do not fit into the tail.
    #[inline(never)]
    fn put_beyond(&mut self, bytes: &[u8]) {
        let (first, bytes) = bytes.split_at(TAIL - self.tail_size);
        self.tail[self.tail_size..].copy_from_slice(first);
        let (stripes, rest) = bytes.as_chunks::<STRIPE>();
        self.lanes = take_in(take_in(self.lanes, self.tail.as_chunks().0), stripes);
        self.taken = self.taken.wrapping_add((TAIL + stripes.len() * STRIPE) as u64);
        self.tail[..rest.len()].copy_from_slice(rest);
        self.tail_size = rest.len();
    }
}

impl Default for StateHasher {
    fn default() -> StateHasher {
        StateHasher::new()
    }
}

impl ByteSink for StateHasher {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        match self.tail[self.tail_size..].get_mut(..bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.tail_size += bytes.len();
            }
            None => self.put_beyond(bytes),
        }
    }
}

/// The lanes after these stripes.
fn take_in(mut lanes: [u64; 4], stripes: &[[u8; STRIPE]]) -> [u64; 4] {
    for stripe in stripes {
        let (words, _) = stripe.as_chunks::<8>();
        for (lane, &word) in lanes.iter_mut().zip(words) {
            *lane = round(*lane, u64::from_le_bytes(word));
        }
    }
    lanes
}

#[inline]
const fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(PRIME_2)).rotate_left(31).wrapping_mul(PRIME_1)
}

/// FNV-1a in 32 bits, for names and other short data.
///
/// ```
/// const MAP_ID: u32 = gaggle_kit::fnv1a_32(b"foobar");
/// assert_eq!(MAP_ID, 0xbf9c_f968);
/// ```
pub const fn fnv1a_32(bytes: &[u8]) -> u32 {
    let mut hash = 0x811c_9dc5;
    let mut index = 0;
    while index < bytes.len() {
        hash = (hash ^ bytes[index] as u32).wrapping_mul(0x0100_0193);
        index += 1;
    }
    hash
}

/// FNV-1a in 64 bits, for names and other short data.
///
/// ```
/// const GAME_ID: u64 = gaggle_kit::fnv1a_64(b"foobar");
/// assert_eq!(GAME_ID, 0x8594_4171_f739_67e8);
/// ```
pub const fn fnv1a_64(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut index = 0;
    while index < bytes.len() {
        hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        index += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the FNV authors' test suite.
    #[test]
    fn fnv_matches_published_vectors() {
        for (text, small, large) in [
            ("", 0x811c_9dc5, 0xcbf2_9ce4_8422_2325),
            ("a", 0xe40c_292c, 0xaf63_dc4c_8601_ec8c),
            ("b", 0xe70c_2de5, 0xaf63_df4c_8601_f1a5),
            ("foobar", 0xbf9c_f968, 0x8594_4171_f739_67e8),
            ("chongo was here!\n", 0xd499_30d5, 0x4681_0940_eff5_f915),
        ] {
            assert_eq!(fnv1a_32(text.as_bytes()), small, "{text:?}");
            assert_eq!(fnv1a_64(text.as_bytes()), large, "{text:?}");
        }
    }

    /// From the self-test of the reference implementation: one buffer, cut at these lengths.
    #[test]
    fn state_hash_matches_published_xxh64_vectors() {
        let buffer = reference_buffer();
        for (size, hash) in [
            (0, 0xef46_db37_51d8_e999),
            (1, 0xe934_a84a_db05_2768),
            (4, 0x9136_a0dc_a574_57ee),
            (14, 0x8282_dcc4_994e_35c8),
            (222, 0xb641_ae8c_b691_c174),
        ] {
            assert_eq!(StateHasher::of(&buffer[..size]), hash, "first {size} bytes");
        }
        assert_eq!(StateHasher::of(b"abc"), 0x44bc_2cf5_ad77_0999);
    }

    #[test]
    fn hash_is_independent_of_division_into_pieces() {
        let buffer = reference_buffer();
        for size in [0, 1, 31, 32, 33, 63, 64, 65, 96, 222, 255, 256, 257, 288, 511, 512, 513, 999] {
            let whole = StateHasher::of(&buffer[..size]);
            for piece in [1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 100, 255, 256, 257, 300] {
                let mut hasher = StateHasher::new();
                buffer[..size].chunks(piece).for_each(|bytes| hasher.put(bytes));
                assert_eq!(hasher.finish(), whole, "{size} bytes in pieces of {piece}");
            }
        }
    }

    /// Each input bit must flip each bit of the hash about half of the time, at any position.
    #[test]
    fn flipped_bit_flips_half_of_hash() {
        const ROUNDS: usize = 512;
        let mut random = crate::Prng::new(1);
        for size in [4, 8, 31, 32, 64, 200, 300] {
            for bit in [0, 7, size * 4, size * 8 - 1] {
                let mut flips = [0_usize; 64];
                for _ in 0..ROUNDS {
                    let mut bytes = vec![0; size];
                    random.fill(&mut bytes);
                    let before = StateHasher::of(&bytes);
                    bytes[bit / 8] ^= 1 << (bit % 8);
                    let change = before ^ StateHasher::of(&bytes);
                    flips.iter_mut().enumerate().for_each(|(n, count)| *count += (change >> n & 1) as usize);
                }
                // 512 fair coins are outside 256 ± 90 once in 10^15.
                assert!(
                    flips.iter().all(|n| n.abs_diff(ROUNDS / 2) < 90),
                    "size {size} bit {bit}: {flips:?}"
                );
            }
        }
    }

    fn reference_buffer() -> [u8; 999] {
        let mut generator = 2_654_435_761_u64;
        std::array::from_fn(|_| {
            let byte = (generator >> 56) as u8;
            generator = generator.wrapping_mul(11_400_714_785_074_694_797);
            byte
        })
    }
}
