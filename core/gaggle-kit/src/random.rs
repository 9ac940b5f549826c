//! Portable random generators of a few words, to be stored in a game's state.
//!
//! Games and simulations use them. Absent: seeds, secrets.

use std::ops::RangeInclusive;

use bytemuck::{Pod, Zeroable};

/// A generator of 16 bytes, part of the state it affects: saved, sent and rolled back with it. The
/// algorithm is xoshiro128++, seeded through SplitMix64, and will not change.
///
/// ```
/// use gaggle_kit::Prng;
///
/// let mut random = Prng::new(2024);
/// let die = random.range(1..=6);
/// assert!((1..=6).contains(&die));
/// if random.chance(1, 3) { /* one time in three */ }
///
/// // A copy repeats what the original will do, which rollback needs.
/// let mut again = random;
/// assert_eq!(random.next_u32(), again.next_u32());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Prng([u32; 4]);

impl Prng {
    /// A generator from a seed. Neighboring seeds give unrelated generators.
    pub const fn new(seed: u64) -> Prng {
        let (seed, a) = splitmix64(seed);
        let (_, b) = splitmix64(seed);
        // SplitMix64 never gives 0 twice in a row, so the words are not all zero.
        Prng([a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32])
    }

    /// One of many generators of the same seed, for example for map or player number *n*. Their
    /// sequences are unrelated.
    pub const fn stream(seed: u64, number: u64) -> Prng {
        Prng::new(splitmix64(seed).1 ^ splitmix64(!number).1.rotate_left(32))
    }

    /// An independent generator: for a part of the game that draws more or less often than the rest
    /// and must not affect it.
    #[must_use]
    pub const fn fork(&mut self) -> Prng {
        Prng::new(self.next_u64())
    }

    /// A generator from its words; none if all are zero, because it would only return zeros.
    pub const fn from_words(words: [u32; 4]) -> Option<Prng> {
        match words {
            [0, 0, 0, 0] => None,
            _ => Some(Prng(words)),
        }
    }

    /// The words, for [`Prng::from_words`].
    pub const fn words(self) -> [u32; 4] {
        self.0
    }

    /// A random 32-bit number.
    #[inline]
    pub const fn next_u32(&mut self) -> u32 {
        let [a, b, c, d] = self.0;
        let result = a.wrapping_add(d).rotate_left(7).wrapping_add(a);
        let c = c ^ a;
        let d = d ^ b;
        self.0 = [a ^ d, b ^ c, c ^ (b << 9), d.rotate_left(11)];
        result
    }

    /// A random 64-bit number: two draws, the low half first.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        let low = self.next_u32() as u64;
        low | (self.next_u32() as u64) << 32
    }

    /// A number below `end`, uniformly distributed; 0 if `end` is 0.
    #[inline]
    pub const fn below(&mut self, end: u32) -> u32 {
        // Lemire's method: the high half of a product is uniform once the few low halves that would
        // bias it are drawn again.
        let mut product = self.next_u32() as u64 * end as u64;
        if (product as u32) < end {
            let uneven = end.wrapping_neg() % end;
            while (product as u32) < uneven {
                product = self.next_u32() as u64 * end as u64;
            }
        }
        (product >> 32) as u32
    }

    /// A number of this range, uniformly distributed; the start if the range is empty.
    #[inline]
    pub const fn range(&mut self, range: RangeInclusive<i32>) -> i32 {
        let (start, end) = (*range.start(), *range.end());
        let span = end as i64 - start as i64;
        if span < 0 {
            return start;
        }
        match (span + 1) as u64 {
            0x1_0000_0000 => self.next_u32() as i32,
            count => start.wrapping_add(self.below(count as u32) as i32),
        }
    }

    /// True with a probability of `numerator` / `denominator`; false if the denominator is 0.
    #[inline]
    pub const fn chance(&mut self, numerator: u32, denominator: u32) -> bool {
        denominator != 0 && self.below(denominator) < numerator
    }

    /// An element, uniformly chosen; none if there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
        items.get(self.below(count) as usize)
    }

    /// Shuffles the elements, every order equally likely.
    ///
    /// ```
    /// let mut deck: Vec<u8> = (0..52).collect();
    /// gaggle_kit::Prng::new(7).shuffle(&mut deck);
    /// assert_ne!(deck[..4], [0, 1, 2, 3]);
    /// deck.sort();
    /// assert!(deck.into_iter().eq(0..52));
    /// ```
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
        for end in (2..=count).rev() {
            items.swap(end as usize - 1, self.below(end) as usize);
        }
    }

    /// Overwrites these bytes with random ones.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(4) {
            chunk.copy_from_slice(&self.next_u32().to_le_bytes()[..chunk.len()]);
        }
    }
}

/// Generator of seeds by Steele, Lea and Flood: the next state, and the number drawn.
const fn splitmix64(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state, z ^ (z >> 31))
}

/// A generator of 4 bytes, common in JavaScript games. Prefer [`Prng`] for new games: this one
/// never returns about a third of all numbers.
///
/// ```
/// use gaggle_kit::Mulberry32;
/// let mut random = Mulberry32::new(42);
/// // `mulberry32(42)()` in JavaScript, before the division by 2³²: 0.6011037519201636.
/// assert_eq!(random.next_u32(), 2_581_720_956);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Mulberry32(u32);

impl Mulberry32 {
    /// A generator from a seed, or continued from a state.
    pub const fn new(seed: u32) -> Mulberry32 {
        Mulberry32(seed)
    }

    /// State for [`Mulberry32::new`] to continue from here.
    pub const fn seed(self) -> u32 {
        self.0
    }

    /// A random 32-bit number.
    pub const fn next_u32(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x6d2b_79f5);
        let mut z = self.0;
        z = (z ^ (z >> 15)).wrapping_mul(z | 1);
        z ^= z.wrapping_add((z ^ (z >> 7)).wrapping_mul(z | 61));
        z ^ (z >> 14)
    }
}

/// Marsaglia's generator of 4 bytes with the shifts 13, 17 and 5. Prefer [`Prng`] for new games:
/// this one's low bits are weak and it never returns 0.
///
/// ```
/// use gaggle_kit::Xorshift32;
/// assert_eq!(Xorshift32::new(1).next_u32(), 270_369);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Xorshift32(u32);

impl Xorshift32 {
    /// A generator from a seed, or continued from a state. Seed 0, which would return only zeros,
    /// is replaced by the seed of Marsaglia's paper.
    pub const fn new(seed: u32) -> Xorshift32 {
        Xorshift32(if seed == 0 { 2_463_534_242 } else { seed })
    }

    /// State for [`Xorshift32::new`] to continue from here.
    pub const fn seed(self) -> u32 {
        self.0
    }

    /// A random 32-bit number other than 0.
    pub const fn next_u32(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference implementation started with 1, 2, 3, 4, as in several independent test suites.
    #[test]
    fn prng_matches_published_xoshiro128_vectors() {
        let mut random = Prng::from_words([1, 2, 3, 4]).unwrap();
        let drawn: [u32; 10] = std::array::from_fn(|_| random.next_u32());
        assert_eq!(
            drawn,
            [
                641, 1573767, 3222811527, 3517856514, 836907274, 4247214768, 3867114732, 1355841295,
                495546011, 621204420
            ]
        );
        let mut random = Prng::from_words([1, 2, 3, 4]).unwrap();
        (0..102_400).for_each(|_| _ = random.next_u32());
        assert_eq!(random.next_u32(), 0x2c87_3cfa);
    }

    #[test]
    fn seeds_go_through_splitmix64() {
        let mut state = 1_234_567;
        let drawn: [u64; 3] = std::array::from_fn(|_| {
            let (next, drawn) = splitmix64(state);
            state = next;
            drawn
        });
        assert_eq!(drawn, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
        assert_eq!(Prng::new(0).words(), [0x7b1d_cdaf, 0xe220_a839, 0xa1b9_65f4, 0x6e78_9e6a]);
        assert_eq!(Prng::from_words([0; 4]), None);
    }

    /// Every drawing method: changing one would change running games and existing replays.
    #[test]
    fn draws_are_golden() {
        let mut random = Prng::new(7);
        let drawn = (random.next_u32(), random.next_u64(), random.below(1_000), random.range(-50..=50));
        assert_eq!(drawn, (408380677, 6902467977735299362, 332, -44));
        let mut deck = [0, 1, 2, 3, 4, 5, 6, 7];
        random.shuffle(&mut deck);
        assert_eq!(deck, [5, 1, 3, 0, 7, 4, 2, 6]);
        let mut bytes = [0; 6];
        random.fill(&mut bytes);
        assert_eq!(bytes, [212, 127, 8, 133, 232, 86]);
        assert_eq!((random.fork().next_u32(), Prng::stream(7, 1).next_u32()), (4020644459, 3972385388));
    }

    #[test]
    fn older_generators_match_published_vectors() {
        for (seed, expected) in [
            (0, [1144304738, 1416247, 958946056]),
            (1, [2693262067, 11749833, 2265367787]),
            (42, [2581720956, 1925393290, 3661312704]),
        ] {
            let mut random = Mulberry32::new(seed);
            assert_eq!(std::array::from_fn(|_| random.next_u32()), expected, "seed {seed}");
        }
        for (seed, expected) in
            [(1, [270369, 67634689, 2647435461]), (0, [723471715, 2497366906, 2064144800])]
        {
            let mut random = Xorshift32::new(seed);
            assert_eq!(std::array::from_fn(|_| random.next_u32()), expected, "seed {seed}");
        }
    }

    #[test]
    fn every_number_below_end_is_equally_likely() {
        let mut random = Prng::new(3);
        // Three quarters of 2^32: the remainder would draw the lower third twice as often.
        let end = 3 << 30;
        let low = (0..30_000).filter(|_| random.below(end) < end / 3).count();
        assert!(low.abs_diff(10_000) < 500, "{low} of 30000 in the lowest third");

        let mut counts = [0_usize; 6];
        (0..60_000).for_each(|_| counts[random.below(6) as usize] += 1);
        assert!(counts.iter().all(|n| n.abs_diff(10_000) < 500), "{counts:?}");
    }

    #[test]
    fn degenerate_arguments_have_defined_results() {
        let mut random = Prng::new(4);
        assert_eq!(random.below(0), 0);
        assert_eq!(random.below(1), 0);
        #[expect(clippy::reversed_empty_ranges)]
        let empty = 5..=3;
        assert_eq!(random.range(empty), 5);
        assert!(!random.chance(1, 0));
        assert!(random.chance(7, 7));
        assert_eq!(random.pick::<u8>(&[]), None);
        random.shuffle::<u8>(&mut []);
        let drawn: Vec<i32> = (0..64).map(|_| random.range(i32::MIN..=i32::MAX)).collect();
        assert!(drawn.iter().any(|&n| n < 0) && drawn.iter().any(|&n| n > 0));
    }

    #[test]
    fn every_order_of_shuffle_is_equally_likely() {
        let mut random = Prng::new(5);
        let mut counts = std::collections::BTreeMap::<[u8; 3], usize>::new();
        for _ in 0..6_000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *counts.entry(items).or_default() += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|n| n.abs_diff(1_000) < 150), "{counts:?}");
    }

    #[test]
    fn streams_and_forks_are_independent() {
        let mut random = Prng::new(6);
        let mut fork = random.fork();
        let mut seen: Vec<u64> = (0..100).map(|n| Prng::stream(6, n).next_u64()).collect();
        seen.extend((0..100).map(|n| Prng::stream(n, 6).next_u64()));
        seen.extend([random.next_u64(), fork.next_u64(), Prng::new(6).next_u64()]);
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        // Stream 6 of seed 6 is drawn twice.
        assert_eq!(seen.len(), count - 1);
    }
}
