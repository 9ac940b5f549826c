//! Tests of the codec: written values read back, truncated and extended bytes are rejected, and
//! updates are as short as promised.

use gaggle_kit::{Angle, BitReader, BitWriter, Fixed16, Micros, Prng};

use super::*;
use crate::layout::Layout;
use crate::{Field, Kind, Kinds, ObjectId};

const INTERVAL: Micros = Micros::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Field)]
enum Mood {
    Calm,
    Cross,
    Asleep,
}

/// A layout with one field of each type.
#[derive(Debug, Clone, PartialEq, Kind)]
struct Everything {
    #[kind(range = [0.0..=512.0, 0.0..=32.0, 0.0..=512.0], precision = 1.0 / 512.0, moved_by = velocity)]
    position: [f32; 3],
    #[kind(range = -64.0..=64.0, precision = 1.0 / 32.0)]
    velocity: [f32; 3],
    #[kind(constant)]
    maker: u64,
    #[kind(rotation = 9)]
    rotation: [f32; 4],
    #[kind(range = -1000.0..=1000.0, precision = 0.01)]
    height: Fixed16,
    #[kind(angle = 10)]
    heading: f32,
    tilt: Angle,
    mood: Mood,
    awake: bool,
    #[kind(range = 0..=30_000)]
    score: u32,
    target: Option<ObjectId>,
    #[kind(constant, range = 0.5..=2.0, precision = 0.1)]
    size: f32,
    flags: [u8; 3],
}

/// A layout without any extrapolated field.
#[derive(Debug, Clone, PartialEq, Kind)]
struct Switch {
    on: bool,
    count: u16,
}

/// A layout in which every field is extrapolated.
#[derive(Debug, Clone, PartialEq, Kind)]
struct Dot {
    #[kind(range = 0.0..=1.0, precision = 0.001)]
    place: [f32; 2],
}

fn layout<K: Kind>() -> Layout {
    Kinds::new().with::<K>().entries()[0].layout(INTERVAL)
}

/// Random words that a value of this layout can have; near to `other` in most cases, if given.
fn draw(layout: &Layout, random: &mut Prng, other: Option<&[i32]>) -> Vec<i32> {
    let mut words = vec![0; layout.words_all()];
    random.fill_words(&mut words);
    let number = |axis: &Axis, random: &mut Prng, near: Option<i32>| {
        let (min, max) = axis.steps();
        match near {
            Some(near) if random.chance(3, 4) => {
                let away = random.range(-40..=40) * random.range(0..=3);
                axis.clamp(i64::from(near) + i64::from(away))
            }
            _ => random.range(min..=max),
        }
    };
    for glide in &layout.glides {
        let near = |word: usize| other.map(|other| other[word]);
        match *glide {
            Glide::Line { first, count, .. } | Glide::Moved { first, count, .. } => {
                for word in first..first + count {
                    words[word] = number(&layout.axes[word], random, near(word));
                }
            }
            Glide::Turn { first, count, bits } => {
                for word in first..first + count {
                    words[word] =
                        near(word).unwrap_or(0).wrapping_add(random.range(-50..=50)) & ((1 << bits) - 1);
                }
            }
            Glide::Rotation { first, bits } => {
                for word in first..first + 3 {
                    words[word] = number(&component_axis(bits), random, near(word));
                }
                words[first + 3] = random.range(0..=3);
            }
        }
    }
    for jump in layout.jumps.iter().filter(|jump| !jump.opaque) {
        for word in jump.words() {
            words[word] = number(&layout.axes[word], random, other.map(|other| other[word]));
        }
    }
    for (field, first) in &layout.fixed {
        for word in *first..*first + field.words {
            if !field.axes.is_empty() {
                words[word] = number(&layout.axes[word], random, None);
            }
        }
    }
    if let Some(other) = other {
        for jump in &layout.jumps {
            if random.chance(1, 2) {
                words[jump.words()].copy_from_slice(&other[jump.words()]);
            }
        }
        if random.chance(1, 4) {
            for glide in &layout.glides {
                words[glide.words()].copy_from_slice(&other[glide.words()]);
            }
        }
        words[layout.words..].copy_from_slice(&other[layout.words..]);
    }
    words
}

trait FillWords {
    fn fill_words(&mut self, words: &mut [i32]);
}

impl FillWords for Prng {
    fn fill_words(&mut self, words: &mut [i32]) {
        words.iter_mut().for_each(|word| *word = self.next_u32() as i32);
    }
}

/// The expected bit, then the difference, in the form records use.
fn write_difference(layout: &Layout, w: &mut BitWriter<'_>, value: &[i32], base: &Baselines<'_>) {
    let expected = layout.is_expected(value, base);
    w.bool(expected).unwrap();
    if !expected {
        layout.write_difference(w, value, base).unwrap();
    }
}

fn read_difference(
    layout: &Layout,
    r: &mut BitReader<'_>,
    value: &mut [i32],
    base: &Baselines<'_>,
) -> Result<(), gaggle_kit::DecodeError> {
    if r.bool("expected")? {
        layout.fill_expected(value, base);
        return Ok(());
    }
    layout.read_difference(r, value, base)
}

fn check_layout(layout: &Layout, seed: u64) -> (usize, usize) {
    let mut random = Prng::new(seed);
    let (mut expected, mut refused) = (0, 0);
    let older = draw(layout, &mut random, None);
    let newer = draw(layout, &mut random, Some(&older));
    let k = if random.chance(1, 8) { random.next_u32() >> 1 } else { random.below(40) + 1 };
    let before = random.chance(2, 3).then(|| (&older[..], random.below(32) + 1));
    let base = Baselines::new(&newer, k, before);
    let mut value = draw(layout, &mut random, Some(&newer));
    if random.chance(1, 5) {
        layout.fill_expected(&mut value, &base);
        expected += 1;
    }
    let mut buffer = [0; 200];
    let mut w = BitWriter::new(&mut buffer);
    layout.write_constants(&mut w, &value).unwrap();
    layout.write_whole(&mut w, &value).unwrap();
    let whole = w.written();
    assert!(whole <= layout.bits_max(), "seed {seed}: {whole} bits whole");
    write_difference(layout, &mut w, &value, &base);
    let bits = w.written() - whole;
    assert!(bits <= 1 + layout.bits_max(), "seed {seed}: {bits} bits of difference");
    let bytes = w.finish().to_vec();

    let read = |bytes: &[u8]| {
        let mut r = BitReader::new(bytes);
        let (mut whole, mut different) = (vec![0; layout.words_all()], newer.clone());
        layout.read_constants(&mut r, &mut whole)?;
        layout.read_whole(&mut r, &mut whole)?;
        read_difference(layout, &mut r, &mut different, &base)?;
        r.finish("values").map(|()| (whole, different))
    };
    assert_eq!(read(&bytes), Ok((value.clone(), value.clone())), "seed {seed}");
    for cut in 0..bytes.len() {
        assert!(read(&bytes[..cut]).is_err(), "seed {seed}: {cut} of {} bytes", bytes.len());
    }
    // Other bytes that are accepted are written back unchanged: one value has one form.
    let mut forged = bytes.clone();
    let at = random.below(bytes.len() as u32) as usize;
    forged[at] ^= 1 << random.below(8);
    match read(&forged) {
        Err(_) => refused += 1,
        Ok((whole, different)) => {
            let mut buffer = [0; 200];
            let mut w = BitWriter::new(&mut buffer);
            layout.write_constants(&mut w, &whole).unwrap();
            layout.write_whole(&mut w, &whole).unwrap();
            write_difference(layout, &mut w, &different, &base);
            assert_eq!(w.finish(), forged, "seed {seed}: two encodings of one value");
        }
    }
    (expected, refused)
}

#[test]
fn value_read_back_is_equal_and_canonical() {
    let (mut expected, mut refused) = (0, 0);
    for layout in [layout::<Everything>(), layout::<Switch>(), layout::<Dot>()] {
        for seed in 0..3_000 {
            let (e, r) = check_layout(&layout, seed);
            expected += e;
            refused += r;
        }
    }
    assert!(expected > 1_000 && refused > 1_000, "{expected} expected, {refused} refused");
}

#[test]
fn derived_value_as_words_reads_back() {
    let value = Everything {
        position: [1.5, 30.25, 500.0],
        velocity: [-3.0, 0.5, 0.03125],
        maker: 1 << 60 | 5,
        rotation: [0.0, 0.0, 0.0, 1.0],
        height: Fixed16::lit("-12.5"),
        heading: 0.0,
        tilt: Angle::QUARTER,
        mood: Mood::Asleep,
        awake: true,
        score: 29_999,
        target: Some(ObjectId::from_bits(3 << 32 | 1)),
        size: 1.5,
        flags: [1, 0, 255],
    };
    let layout = layout::<Everything>();
    let mut words = vec![0; layout.words_all()];
    value.to_words(&mut words);
    assert_eq!(Everything::from_words(&words), value);
    assert_eq!(layout.words + layout.constants, words.len());
    assert_eq!(layout.constants, 3, "constants come last");
    let position = layout.position.unwrap();
    assert_eq!(words[position.0..position.0 + position.1], [768, 15_488, 256_000]);
    let _ = Mood::Calm == Mood::Cross;
}

/// The bodies in the size promises: 1/512 m in 512 × 32 × 512 m, 1/32 m/s, 9 bits a component.
#[derive(Kind)]
struct Body {
    #[kind(range = [0.0..=511.998, 0.0..=31.998, 0.0..=511.998], precision = 1.0 / 512.0, moved_by = velocity)]
    position: [f32; 3],
    #[kind(range = -63.9..=63.9, precision = 1.0 / 32.0)]
    velocity: [f32; 3],
    #[kind(rotation = 9)]
    rotation: [f32; 4],
}

#[test]
fn body_takes_116_bits_whole_and_one_bit_as_expected() {
    let layout = layout::<Body>();
    let body =
        Body { position: [10.0, 2.0, 30.0], velocity: [1.0, 0.0, 0.0], rotation: [0.0, 0.0, 0.0, 1.0] };
    let mut words = vec![0; layout.words_all()];
    body.to_words(&mut words);
    let mut buffer = [0; 64];
    let mut w = BitWriter::new(&mut buffer);
    layout.write_whole(&mut w, &words).unwrap();
    assert_eq!(w.written(), 116);
    let later = Body { position: [10.25, 2.0, 30.0], ..body };
    let mut now = vec![0; layout.words_all()];
    later.to_words(&mut now);
    let base = Baselines::new(&words, 5, None);
    assert!(layout.is_expected(&now, &base), "a quarter meter in five ticks at one meter a second");
}
