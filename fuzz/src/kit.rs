//! Fuzz targets of gaggle-kit: what decodes has one encoding, and nothing panics.
//!
//! Called by `fuzz_targets/` and by the tests of the crate. Absent: the fuzzer and its corpora.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytemuck::{Pod, Zeroable};
use gaggle_kit::{
    Angle, BitReader, BitWriter, BufferFull, ByteReader, ByteWriter, DecodeError, Fixed, Fixed8, Fixed16,
    Frame, Input, Micros, PeerId, Prng, Quantizer, Slot, SlotSet, State, StateHasher, compress, decode_state,
    decompress, diff, encode_state, state_hash,
};

/// Name, which is also that of its corpus, and function over the fuzzer's bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All fuzz targets of gaggle-kit.
pub const TARGETS: [Target; 7] = [
    ("kit_bytes", bytes),
    ("kit_bits", bits),
    ("kit_state", state),
    ("kit_input", input),
    ("kit_text", text),
    ("kit_numbers", numbers),
    ("kit_packed", packed),
];

/// The data is the length of a script, the script (kinds of reads), and bytes to read. Writing
/// what was read gives the same bytes.
pub fn bytes(data: &[u8]) {
    let Some((script, payload)) = script(data) else { return };
    let mut r = ByteReader::new(payload);
    let mut written = vec![0; payload.len()];
    let mut w = ByteWriter::new(&mut written);
    for &step in script {
        let before = r.remaining();
        if copy_value(step, &mut r, &mut w).is_err() {
            assert!(r.remaining() <= before);
            break;
        }
        assert_eq!(w.written(), payload.len() - r.remaining());
    }
    let written = w.finish();
    assert_eq!(written, &payload[..written.len()]);
}

fn copy_value(step: u8, r: &mut ByteReader<'_>, w: &mut ByteWriter<'_>) -> Result<(), DecodeError> {
    let small = usize::from(step / 16);
    let room = match step % 16 {
        0 => w.u8(r.u8("u8")?),
        1 => w.u16(r.u16("u16")?),
        2 => w.u32(r.u32("u32")?),
        3 => w.u64(r.u64("u64")?),
        4 => w.u128(r.u128("u128")?),
        5 => w.i8(r.i8("i8")?),
        6 => w.i16(r.i16("i16")?),
        7 => w.i32(r.i32("i32")?),
        8 => w.i64(r.i64("i64")?),
        9 => w.bool(r.bool("bool")?),
        10 => w.zigzag(r.zigzag("zigzag")?),
        11 => w.varint(r.varint_max("varint", 1 << small)?),
        12 => w.varint(r.count("count", small)? as u64),
        13 => w.counted(r.counted("counted", small)?),
        14 => w.bytes(r.take("take", small)?),
        _ => w.varint(r.varint("varint")?),
    };
    room.expect("a value takes more bytes than were read");
    Ok(())
}

/// The same as [`bytes`], bit by bit.
pub fn bits(data: &[u8]) {
    let Some((script, payload)) = script(data) else { return };
    let mut r = BitReader::new(payload);
    let mut written = vec![0xaa; payload.len()];
    let mut w = BitWriter::new(&mut written);
    for &step in script {
        if copy_bits(step, &mut r, &mut w).is_err() {
            break;
        }
        assert_eq!(w.remaining(), r.remaining());
    }
    let count = w.written();
    let written = w.finish();
    let Some((last, whole)) = written.split_last() else { return };
    assert_eq!(whole, &payload[..whole.len()]);
    let padding = written_padding(count);
    assert_eq!(*last, payload[whole.len()] << padding >> padding);
}

/// Unused bits of the last byte.
fn written_padding(count: usize) -> u32 {
    (count.next_multiple_of(8) - count) as u32
}

fn copy_bits(step: u8, r: &mut BitReader<'_>, w: &mut BitWriter<'_>) -> Result<(), DecodeError> {
    let small = u32::from(step / 8);
    let range = -i64::from(small * small)..=i64::from(small);
    let room = match step % 8 {
        0 => w.bool(r.bool("bool")?),
        1 => w.bits(r.bits("bits", small)?, small),
        2 => w.bits(r.bits("bits", 64 - small)?, 64 - small),
        3 => w.ranged(r.ranged("ranged", &range)?, &range),
        4 => w.varint(r.varint("varint")?),
        5 => w.zigzag(r.zigzag("zigzag")?),
        6 => w.ranged(r.count("count", small)?.into(), &(0..=small.into())),
        _ => copy_unaligned(small as usize % 8, r, w)?,
    };
    room.expect("a value takes more bits than were read");
    Ok(())
}

fn copy_unaligned(
    count: usize,
    r: &mut BitReader<'_>,
    w: &mut BitWriter<'_>,
) -> Result<Result<(), BufferFull>, DecodeError> {
    if count == 0 {
        r.align("padding")?;
        w.align();
        return Ok(Ok(()));
    }
    let mut bytes = [0; 8];
    r.bytes("bytes", &mut bytes[..count])?;
    Ok(w.bytes(&bytes[..count]))
}

/// Splits data into script and payload; the first byte is the script's length.
fn script(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&size, rest) = data.split_first()?;
    rest.split_at_checked(usize::from(size))
}

/// A state with a field of every type: what decodes encodes to the same bytes, has their hash, and
/// can be copied and compared.
pub fn state(data: &[u8]) {
    let Ok(value) = decode_state::<Everything>(data) else { return };
    assert_eq!(encode_state(&value), data);
    assert_eq!(state_hash(&value), StateHasher::of(data));
    assert_eq!(diff(&value, &value), Vec::<String>::new());
    let mut copy = Everything::example();
    copy.copy_from(&value);
    assert_eq!(copy, value);
}

/// A state with a field of every supported type.
#[derive(Debug, Clone, PartialEq, State)]
pub struct Everything {
    flag: bool,
    wide: u128,
    letter: char,
    #[state(range = -5..=5)]
    ranged: [i16; 2],
    position: [Fixed16; 2],
    heading: Angle,
    #[state(max = 8)]
    riders: Vec<Rider>,
    #[state(max = 16)]
    name: String,
    phase: Phase,
    owners: BTreeMap<Slot, PeerId>,
    seen: BTreeSet<u8>,
    queue: VecDeque<(u16, bool)>,
    tree: Tree,
    random: Prng,
    seats: SlotSet,
    now: Micros,
    #[state(skip)]
    cache: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable, State)]
#[repr(C)]
#[state(pod)]
struct Rider {
    #[state(range = Fixed8::ZERO..=Fixed8::ONE)]
    lift: Fixed8,
    random: Prng,
    since: Frame,
}

#[derive(Debug, Clone, PartialEq, State)]
enum Phase {
    Waiting,
    Playing { wave: u8 },
    Over(Option<Box<Phase>>),
}

#[derive(Debug, Clone, PartialEq, State)]
struct Tree {
    children: Vec<Tree>,
}

impl Everything {
    /// A valid state, for the corpus and for copies.
    pub fn example() -> Everything {
        let leaf = Tree { children: Vec::new() };
        Everything {
            flag: true,
            wide: 1 << 100,
            letter: 'ß',
            ranged: [-5, 5],
            position: [Fixed16::ONE, Fixed16::MIN],
            heading: Angle::QUARTER,
            riders: vec![Rider { lift: Fixed8::HALF, random: Prng::new(1), since: Frame::new(60) }; 2],
            name: "Gänse".to_owned(),
            phase: Phase::Over(Some(Box::new(Phase::Playing { wave: 3 }))),
            owners: [(Slot::at(0), PeerId::from_u128(7)), (Slot::at(9), PeerId::from_u128(8))].into(),
            seen: [1, 2, 200].into(),
            queue: [(1, true), (2, false)].into(),
            tree: Tree { children: vec![Tree { children: vec![leaf.clone()] }, leaf] },
            random: Prng::new(2),
            seats: SlotSet::first(4),
            now: Micros::from_secs(1),
            cache: Some(1),
        }
    }
}

/// Inputs of every type: what decodes encodes to the same bytes, and merging and repeating give
/// valid inputs.
pub fn input(data: &[u8]) {
    input_of::<Pad>(data);
    input_of::<Order>(data);
    input_of::<(Angle, [bool; 3])>(data);
}

fn input_of<I: Input + std::fmt::Debug>(data: &[u8]) {
    let Ok(value) = I::read(data) else { return };
    let mut written = vec![0xaa; I::SIZE];
    value.write(&mut written);
    assert_eq!(written, data);
    for other in [I::merge(value, I::default()), I::merge(I::default(), value), value.repeat()] {
        other.write(&mut written);
        assert_eq!(I::read(&written), Ok(other));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Input)]
struct Pad {
    #[input(range = -1..=1)]
    stick: [i8; 2],
    #[input(one_shot = 0x0f)]
    buttons: u16,
    #[input(one_shot)]
    jump: bool,
    order: Order,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Input)]
enum Order {
    #[default]
    Nothing,
    Go(i16, i16),
    #[input(one_shot)]
    Fire {
        power: u8,
    },
}

/// Texts: what parses is printed so that it parses to the same.
pub fn text(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    fixed_text::<0>(text);
    fixed_text::<8>(text);
    fixed_text::<16>(text);
    fixed_text::<30>(text);
    if let Ok(peer) = text.parse::<PeerId>() {
        assert_eq!(peer.to_string(), text.to_ascii_lowercase());
    }
}

fn fixed_text<const FRACTION: u32>(text: &str) {
    if let Ok(number) = text.parse::<Fixed<FRACTION>>() {
        assert_eq!(number.to_string().parse(), Ok(number));
    }
}

/// Compressed bytes: the result is within its limit and survives compression. Any bytes can be
/// compressed.
pub fn packed(data: &[u8]) {
    const BYTES_MAX: usize = 4_096;
    let unpacked = decompress(data, BYTES_MAX).inspect(|bytes| assert!(bytes.len() <= BYTES_MAX));
    for bytes in [Ok(data.to_vec()), unpacked].into_iter().flatten() {
        let mut packed = Vec::new();
        compress(&bytes, &mut packed);
        assert_eq!(decompress(&packed, bytes.len()), Ok(bytes));
    }
}

/// Arithmetic on any numbers: nothing panics, and the laws of arithmetic hold.
pub fn numbers(data: &[u8]) {
    let mut r = ByteReader::new(data);
    while let (Ok(a), Ok(b)) = (r.i32("a"), r.i32("b")) {
        pair::<0>(a, b);
        pair::<8>(a, b);
        pair::<16>(a, b);
        pair::<30>(a, b);
        if let (Ok(c), Ok(d)) = (r.u32("c"), r.u32("d")) {
            quantized([a as u32, b as u32, c, d].map(f32::from_bits));
        }
    }
}

fn pair<const FRACTION: u32>(a: i32, b: i32) {
    let (a, b) = (Fixed::<FRACTION>::from_bits(a), Fixed::<FRACTION>::from_bits(b));
    assert_eq!(a + b, b + a);
    assert_eq!(a * b, b * a);
    if let (Some(product), Some(mirrored)) = (a.checked_mul(b), a.checked_mul(-b)) {
        assert!(b == Fixed::MIN || mirrored == -product);
    }
    assert_eq!(a.checked_add(b).unwrap_or(a + b), a + b);
    assert_eq!(a.checked_sub(b).unwrap_or(a - b), a - b);
    assert_eq!(a.checked_div(b).unwrap_or(a / b), a / b);
    assert_eq!(Fixed::hypot(a, Fixed::ZERO), a.abs());
    let angle = Angle::atan2(b, a);
    assert!(a == Fixed::MIN || b == Fixed::MIN || Angle::atan2(-b, a) == -angle);
    let root = a.sqrt();
    assert!(root * root <= a.abs() + root + Fixed::STEP);
    let wrapped = a.rem_euclid(b);
    assert!(wrapped >= Fixed::ZERO && (b == Fixed::MIN || wrapped <= b.abs()));
    assert_eq!(a.rescale::<8>().rescale::<8>(), a.rescale::<8>());
    assert_eq!(Fixed::<FRACTION>::from_f64(a.to_f64()), a);
}

fn quantized([min, max, precision, value]: [f32; 4]) {
    let Ok(quantizer) = Quantizer::new(min, max, precision) else { return };
    let steps = quantizer.to_steps(value);
    assert!(quantizer.steps().contains(&steps.into()));
    assert_eq!(quantizer.to_steps(quantizer.from_steps(steps)), steps);
    assert!(quantizer.from_steps(steps).is_finite());
    assert!(quantizer.bits() <= 24);
}
