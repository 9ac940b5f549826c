//! Hostile bytes: random ones, impossible counts, deep nesting. Each decoder returns an error or a
//! value, and allocates no more than documented.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gaggle_kit::{
    BitReader, BitWriter, ByteReader, ByteWriter, DecodeError, Fixed16, PeerId, Prng, Slot, State, Varint,
    decode_state, encode_state,
};

#[path = "../../../fuzz/src/kit.rs"]
pub mod kit;

/// Most bytes allocated at once while decoding.
fn allocated<T: State>(bytes: &[u8]) -> u64 {
    let info = allocation_counter::measure(|| drop(decode_state::<T>(bytes)));
    assert_eq!(info.bytes_current, 0, "memory was not freed");
    info.bytes_max
}

/// A count of any size in front of a few bytes.
fn announced(count: u64, follow: usize) -> Vec<u8> {
    let mut bytes = Varint::new(count).to_vec();
    bytes.extend(std::iter::repeat_n(1, follow));
    bytes
}

#[test]
fn impossible_counts_allocate_nothing() {
    fn check<T: State>() {
        for bits in 10..64 {
            for count in [1 << bits, (1 << bits) - 1, u64::MAX >> (64 - bits)] {
                let bytes = announced(count, 100);
                assert!(decode_state::<T>(&bytes).is_err());
                assert_eq!(allocated::<T>(&bytes), 0, "{} of {count}", std::any::type_name::<T>());
            }
        }
    }
    check::<Vec<u8>>();
    check::<Vec<u64>>();
    check::<Vec<[Fixed16; 8]>>();
    check::<Vec<(u8, Option<u64>)>>();
    check::<Vec<PeerId>>();
    check::<String>();
    check::<VecDeque<u16>>();
    check::<BTreeMap<u16, u32>>();
    check::<BTreeSet<PeerId>>();
}

/// The documented bound of [`State::decode`]: `size_of` per element for every `SIZE_MIN` available
/// bytes, on each level of nested lists.
#[test]
fn available_bytes_bound_allocation() {
    fn check<T: State>(inside: usize) {
        let bound = (size_of::<T>().div_ceil(T::SIZE_MIN) + inside) as u64;
        for follow in [0, 1, 2, 10, 100, 1_000, 10_000] {
            for count in [1, 2, 64, 1_000, 10_000] {
                let bytes = announced(count, follow);
                let most = bytes.len() as u64 * bound;
                let found = allocated::<Vec<T>>(&bytes);
                assert!(found <= most, "{}: {found} of {most}", std::any::type_name::<T>());
            }
        }
    }
    check::<u8>(0);
    check::<u64>(0);
    check::<Slot>(0);
    check::<Option<u32>>(0);
    check::<(u8, u64)>(0);
    check::<Option<[u8; 100]>>(0);
    check::<Vec<u8>>(1);
    check::<Vec<Vec<u16>>>(1 + 24);
}

#[test]
fn random_bytes_are_rejected_or_have_one_meaning() {
    let mut random = Prng::new(1);
    let mut accepted = 0;
    for _ in 0..20_000 {
        let mut bytes = vec![0; random.below(300) as usize];
        random.fill(&mut bytes);
        // Small numbers are valid more often, and so reach further.
        if random.chance(1, 2) {
            bytes.iter_mut().for_each(|byte| *byte &= 3);
        }
        for (_, target) in kit::TARGETS {
            target(&bytes);
        }
        accepted += usize::from(decode_state::<Vec<Option<u8>>>(&bytes).is_ok());
    }
    assert!(accepted > 0, "some random bytes must be valid, or nothing was tested");
}

/// Mutations of a valid state reach every field: errors name one of them, and allocations until
/// then are proportional to the bytes.
#[test]
fn every_field_of_state_can_cause_error() {
    // The widest element is a node of a map: less than 512 bytes for the 17 of its first entry.
    const ALLOCATED_PER_BYTE: u64 = 32;
    let valid = encode_state(&kit::Everything::example());
    let mut named = BTreeSet::new();
    let mut random = Prng::new(2);
    for _ in 0..200_000 {
        let mut bytes = valid.clone();
        for _ in 0..=random.below(2) {
            let index = random.below(bytes.len() as u32) as usize;
            bytes[index] = random.next_u32() as u8;
        }
        bytes.truncate(random.range(0..=2 * valid.len() as i32) as usize);
        if let Err(refusal) = decode_state::<kit::Everything>(&bytes) {
            named.insert(refusal.what());
        }
        let most = allocated::<kit::Everything>(&bytes);
        assert!(most <= bytes.len() as u64 * ALLOCATED_PER_BYTE, "{most} for {} bytes", bytes.len());
    }
    for name in [
        "Everything.flag",
        "Everything.letter",
        "Everything.ranged",
        "Everything.riders",
        "Rider.lift",
        "Everything.name",
        "Phase",
        "slot",
        "Everything.seen",
        "Everything.queue",
        "Tree.children",
        "Everything.now",
        "state",
    ] {
        assert!(named.contains(name), "no error names {name}: {named:?}");
    }
}

#[test]
fn readers_survive_any_bytes_and_any_order_of_calls() {
    let mut random = Prng::new(3);
    for _ in 0..5_000 {
        let mut bytes = vec![0; random.below(64) as usize];
        random.fill(&mut bytes);
        let info = allocation_counter::measure(|| {
            let mut r = ByteReader::new(&bytes);
            let mut bits = BitReader::new(&bytes);
            for _ in 0..32 {
                _ = match random.below(6) {
                    0 => r.varint("n").map(drop),
                    1 => r.counted("n", 20).map(drop),
                    2 => r.take("n", random.next_u32() as usize >> random.below(32)).map(drop),
                    3 => bits.varint("n").map(drop),
                    4 => bits.bits("n", random.below(65)).map(drop),
                    _ => bits.ranged("n", &(-3..=random.range(-3..=i32::MAX).into())).map(drop),
                };
            }
        });
        assert_eq!(info.count_total, 0, "reading allocates nothing");
    }
    let info = allocation_counter::measure(|| {
        let mut buffer = [0; 64];
        let mut w = ByteWriter::new(&mut buffer);
        while w.varint(300).and(w.zigzag(-300)).and(w.counted(b"goose")).is_ok() {}
        let mut w = BitWriter::new(&mut buffer);
        while w.bits(5, 3).and(w.ranged(-1, &(-9..=9))).and(w.varint(300)).is_ok() {}
    });
    assert_eq!(info.count_total, 0, "nor does writing, until the buffer is full");
    assert_eq!(
        BitReader::new(&[]).bytes("n", &mut [0; 4]),
        Err(DecodeError::Truncated { what: "n", needed: 4, left: 0 })
    );
}
