//! Layout of a kind's words, sorted by how they are predicted and written. Made once per kind and
//! session; `codec` follows it. Absent: values, packets.

#![expect(clippy::float_arithmetic, reason = "how far a step of velocity moves a position, once per kind")]

use gaggle_kit::Micros;

use crate::codec::SMALL_COUNT_BITS;
use crate::{Axis, Encoding, FieldShape, residual, rotation};

/// A whole value must fit a packet beside its header. A difference can be longer; then the value is
/// sent whole.
pub(crate) const RECORD_BITS_MAX: u32 = 900 * 8;

/// Continuous words, in the order they are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Glide {
    /// Numbers that change linearly, from `first` on. A velocity is a field that a position names.
    Line { first: usize, count: usize, velocity: bool },
    /// Positions moved by the numbers from `by` on.
    Moved { first: usize, count: usize, by: usize, per_tick: i64 },
    /// Directions of `bits` bits each.
    Turn { first: usize, count: usize, bits: u32 },
    /// One rotation of four words.
    Rotation { first: usize, bits: u32 },
}

/// A discrete field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Jump {
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) opaque: bool,
}

/// Order and encoding of one kind's words.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// Words that change; constants follow them.
    pub(crate) words: usize,
    pub(crate) constants: usize,
    /// One axis for every word, constants included; unused for words that are not numbers.
    pub(crate) axes: Vec<Axis>,
    pub(crate) glides: Vec<Glide>,
    pub(crate) jumps: Vec<Jump>,
    /// First word of every rotation.
    pub(crate) rotations: Vec<usize>,
    pub(crate) fixed: Vec<(FieldShape, usize)>,
    whole_bits: u32,
    difference_bits: u32,
    /// Whether each changing word is shown between two values.
    pub(crate) shown: Vec<bool>,
    /// First position: distances are measured by it.
    pub(crate) position: Option<(usize, usize)>,
}

/// Fraction bits of `per_tick`.
pub(crate) const PER_TICK_BITS: u32 = 24;

impl Layout {
    pub(crate) fn new(fields: &[FieldShape], interval: Micros) -> Layout {
        let mut layout = Layout {
            words: 0,
            constants: 0,
            axes: Vec::new(),
            glides: Vec::new(),
            jumps: Vec::new(),
            rotations: Vec::new(),
            fixed: Vec::new(),
            whole_bits: value_bits(fields),
            difference_bits: 0,
            shown: Vec::new(),
            position: None,
        };
        let mut places = Vec::new();
        for field in fields {
            places.push((field, layout.axes.len()));
            let axis = |word| if field.axes.is_empty() { Axis::whole(0, 0) } else { field.axis(word) };
            layout.axes.extend((0..field.words).map(axis));
            if field.constant {
                layout.constants += field.words;
            } else {
                layout.words += field.words;
                layout.shown.extend(std::iter::repeat_n(field.is_interpolated(), field.words));
            }
        }
        layout.fixed = places
            .iter()
            .filter(|(field, _)| field.constant)
            .map(|(field, first)| (**field, *first))
            .collect();
        let changing = || places.iter().filter(|(field, _)| !field.constant).copied();
        let velocity_of = |field: &FieldShape| {
            let name = field.moved_by?;
            changing().find(|(other, _)| other.name == name && other.words == field.words)
        };
        let is_velocity =
            |field: &FieldShape| changing().any(|(other, _)| other.moved_by == Some(field.name));
        // Velocities first: positions are predicted by the velocity just sent.
        for (field, first) in changing().filter(|(field, _)| is_velocity(field)) {
            layout.glides.push(Glide::Line { first, count: field.words, velocity: true });
        }
        for (field, first) in changing().filter(|(field, _)| !is_velocity(field)) {
            let count = field.words;
            match field.nature {
                Encoding::Continuous => {
                    layout.position = layout.position.or(Some((first, count)));
                    layout.glides.push(match velocity_of(field) {
                        Some((velocity, by)) => {
                            let per_tick = per_tick(field, velocity, interval);
                            Glide::Moved { first, count, by, per_tick }
                        }
                        None => Glide::Line { first, count, velocity: false },
                    });
                }
                Encoding::Angle { bits } => layout.glides.push(Glide::Turn { first, count, bits }),
                Encoding::Rotation { bits } => {
                    layout.rotations.push(first);
                    layout.glides.push(Glide::Rotation { first, bits });
                }
                Encoding::Discrete => layout.jumps.push(Jump { first, count, opaque: false }),
                Encoding::Opaque => layout.jumps.push(Jump { first, count, opaque: true }),
            }
        }
        if let Some((first, count)) =
            changing().find_map(|(field, first)| field.moved_by.is_some().then_some((first, field.words)))
        {
            layout.position = Some((first, count));
        }
        // Two flags, and a bit for each discrete field.
        layout.difference_bits = 2
            + layout.glides.iter().map(|glide| glide.difference_bits(&layout.axes)).sum::<u32>()
            + layout.jumps.iter().map(|jump| 1 + jump.difference_bits(&layout.axes)).sum::<u32>();
        layout
    }

    /// Bytes of a whole value, constants included.
    pub(crate) fn whole_bytes(&self) -> u32 {
        self.whole_bits.div_ceil(8)
    }

    /// Bits of the longest difference or whole value.
    pub(crate) fn bits_max(&self) -> usize {
        self.difference_bits.min(RECORD_BITS_MAX).max(self.whole_bits) as usize
    }

    /// All words of a value.
    pub(crate) fn words_all(&self) -> usize {
        self.words + self.constants
    }
}

impl Glide {
    /// Most bits of a difference.
    fn difference_bits(&self, axes: &[Axis]) -> u32 {
        match *self {
            Glide::Turn { count, bits, .. } => count as u32 * residual::bits_max(bits),
            // The omitted component comes first.
            Glide::Rotation { bits, .. } => 3 + 3 * residual::bits_max(bits),
            Glide::Line { first, count, .. } | Glide::Moved { first, count, .. } => {
                axes[first..first + count].iter().map(|axis| residual::bits_max(axis.bits())).sum()
            }
        }
    }
}

impl Jump {
    /// Most bits of a difference, if it changed.
    fn difference_bits(&self, axes: &[Axis]) -> u32 {
        let word = |axis: &Axis| match axis.bits() {
            _ if self.opaque => 32,
            bits if bits <= SMALL_COUNT_BITS => bits,
            bits => residual::bits_max(bits),
        };
        axes[self.first..self.first + self.count].iter().map(word).sum()
    }
}

/// Steps a position moves in a tick for two steps of velocity: velocities of both ends are added,
/// not averaged.
fn per_tick(position: &FieldShape, velocity: &FieldShape, interval: Micros) -> i64 {
    let seconds = interval.get() as f64 / 1e6;
    let (p, v) = (position.axis(0).precision(), velocity.axis(0).precision());
    let steps = v * seconds / (2.0 * p);
    // Beyond this, a step of velocity says nothing about the position.
    (steps * f64::from(1 << PER_TICK_BITS)).round().clamp(0.0, f64::from(1 << 30) * 1024.0) as i64
}

/// Bits of a whole value of these fields.
pub(crate) const fn value_bits(fields: &[FieldShape]) -> u32 {
    let mut bits = 0;
    let mut index = 0;
    while index < fields.len() {
        bits += fields[index].bits();
        index += 1;
    }
    bits
}

/// Number of discrete fields: a bit for each says whether it changed.
pub(crate) const fn jump_count(fields: &[FieldShape]) -> usize {
    let mut count = 0;
    let mut index = 0;
    while index < fields.len() {
        if !fields[index].nature.glides() {
            count += 1;
        }
        index += 1;
    }
    count
}

/// Whether every `moved_by` names a velocity that changes and has as many words, in one precision
/// each.
pub(crate) const fn velocities_fit(fields: &[FieldShape]) -> bool {
    let mut index = 0;
    while index < fields.len() {
        if let Some(name) = fields[index].moved_by {
            let mut found = false;
            let mut other = 0;
            while other < fields.len() {
                let velocity = &fields[other];
                found |= same(velocity.name, name)
                    && matches!(velocity.nature, Encoding::Continuous)
                    && !velocity.constant
                    && velocity.words == fields[index].words
                    && one_precision(velocity);
                other += 1;
            }
            if !found || fields[index].constant || !one_precision(&fields[index]) {
                return false;
            }
        }
        index += 1;
    }
    true
}

const fn one_precision(field: &FieldShape) -> bool {
    let mut index = 1;
    while index < field.axes.len() {
        if field.axes[index].precision() != field.axes[0].precision() {
            return false;
        }
        index += 1;
    }
    true
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut index = 0;
    while index < a.len() {
        if a[index] != b[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// A rotation has as many words as its field counts.
const _: () = assert!(rotation::WORDS == 4);
