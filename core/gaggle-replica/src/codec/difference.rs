//! Differences of values from their prediction: encoding and decoding. Absent: which baselines a
//! receiver has, packets.

use gaggle_kit::{BitReader, BufferFull, DecodeError};

use super::{Baselines, component_axis};
use crate::layout::{Glide, Layout};
use crate::residual;
use crate::rotation::{self, Prediction};
use crate::sink::Sink;

/// Bits up to which a count is written whole: a difference would not be shorter.
pub(crate) const SMALL_COUNT_BITS: u32 = 5;

impl Layout {
    /// Whether a value equals its prediction: numbers and directions continue, all other fields are
    /// unchanged. One bit encodes this.
    #[inline]
    pub(crate) fn is_expected(&self, value: &[i32], base: &Baselines<'_>) -> bool {
        // Cheap comparisons first: rotations and discrete fields, which must be unchanged.
        for &first in &self.rotations {
            if value[first..first + rotation::WORDS] != base.newer[first..first + rotation::WORDS] {
                return false;
            }
        }
        for jump in &self.jumps {
            if jump.changed(value, base.newer) {
                return false;
            }
        }
        for glide in &self.glides {
            let words = glide.words();
            let as_expected = match *glide {
                Glide::Line { .. } => words.into_iter().all(|word| {
                    value[word] == base.number(&self.axes[word], base.newer[word], base.older[word])
                }),
                Glide::Moved { first, by, per_tick, .. } => words.into_iter().all(|word| {
                    let by = by + word - first;
                    let velocities = (base.newer[by], value[by]);
                    value[word] == base.moved(&self.axes[word], base.newer[word], velocities, per_tick)
                }),
                Glide::Turn { bits, .. } => {
                    words.into_iter().all(|word| value[word] == base.direction(bits, word))
                }
                Glide::Rotation { .. } => true,
            };
            if !as_expected {
                return false;
            }
        }
        true
    }

    /// Fills in the value for which [`Layout::is_expected`] returns true.
    pub(crate) fn fill_expected(&self, value: &mut [i32], base: &Baselines<'_>) {
        for glide in &self.glides {
            match *glide {
                Glide::Line { first, count, .. } => {
                    for word in first..first + count {
                        value[word] = base.number(&self.axes[word], base.newer[word], base.older[word]);
                    }
                }
                Glide::Moved { first, count, by, per_tick } => {
                    for index in 0..count {
                        let (word, by) = (first + index, by + index);
                        let velocities = (base.newer[by], value[by]);
                        value[word] = base.moved(&self.axes[word], base.newer[word], velocities, per_tick);
                    }
                }
                Glide::Turn { first, count, bits } => {
                    for word in first..first + count {
                        value[word] = base.direction(bits, word);
                    }
                }
                Glide::Rotation { first, .. } => {
                    let words = first..first + rotation::WORDS;
                    value[words.clone()].copy_from_slice(&base.newer[words]);
                }
            }
        }
        for jump in &self.jumps {
            value[jump.words()].copy_from_slice(&base.newer[jump.words()]);
        }
    }

    /// Writes how a value differs from its prediction.
    ///
    /// Flags of changed discrete fields come first, if there are any: one bit if none changed, else
    /// one bit each and one for all continuous fields, which are omitted if none of them moved.
    pub(crate) fn write_difference(
        &self,
        w: &mut impl Sink,
        value: &[i32],
        base: &Baselines<'_>,
    ) -> Result<(), BufferFull> {
        let mut glides = !self.glides.is_empty();
        if !self.jumps.is_empty() {
            let jumped = self.jumps.iter().any(|jump| jump.changed(value, base.newer));
            if glides {
                w.bool(jumped)?;
            }
            if jumped {
                if glides {
                    glides = !self.rests(value, base.newer);
                    w.bool(glides)?;
                }
                for jump in &self.jumps {
                    w.bool(jump.changed(value, base.newer))?;
                }
            }
        }
        if glides {
            for glide in &self.glides {
                self.write_glide(w, glide, value, base)?;
            }
        }
        for jump in self.jumps.iter().filter(|jump| jump.changed(value, base.newer)) {
            for word in jump.words() {
                let axis = &self.axes[word];
                if jump.opaque {
                    w.bits(u64::from(value[word] as u32), 32)?;
                } else if axis.bits() <= SMALL_COUNT_BITS {
                    residual::write_whole(w, axis, value[word])?;
                } else {
                    residual::write(w, axis, value[word], base.newer[word])?;
                }
            }
        }
        Ok(())
    }

    /// Whether all continuous fields are unchanged.
    #[inline]
    fn rests(&self, value: &[i32], newer: &[i32]) -> bool {
        self.glides.iter().all(|glide| {
            let words = glide.words();
            value[words.clone()] == newer[words]
        })
    }

    #[inline]
    fn write_glide(
        &self,
        w: &mut impl Sink,
        glide: &Glide,
        value: &[i32],
        base: &Baselines<'_>,
    ) -> Result<(), BufferFull> {
        match *glide {
            Glide::Line { first, count, .. } => {
                let words = first..first + count;
                let baselines = base.newer[words.clone()].iter().zip(&base.older[words.clone()]);
                let values = value[words.clone()].iter().zip(&self.axes[words]);
                for ((&value, axis), (&newer, &older)) in values.zip(baselines) {
                    residual::write(w, axis, value, base.number(axis, newer, older))?;
                }
            }
            Glide::Moved { first, count, by, per_tick } => {
                let (words, by) = (first..first + count, by..by + count);
                let velocities = base.newer[by.clone()].iter().zip(&value[by]);
                let values = value[words.clone()].iter().zip(&self.axes[words.clone()]);
                for (((&value, axis), &newer), (&before, &now)) in
                    values.zip(&base.newer[words]).zip(velocities)
                {
                    residual::write(w, axis, value, base.moved(axis, newer, (before, now), per_tick))?;
                }
            }
            Glide::Turn { first, count, bits } => {
                for word in first..first + count {
                    residual::write_turn(w, bits, value[word], base.direction(bits, word))?;
                }
            }
            Glide::Rotation { first, bits } => {
                let prediction = self.predict_rotation(first, bits, base);
                let left_out = value[first + 3];
                let other = left_out != prediction.left_out();
                w.bool(other)?;
                if other {
                    w.bits(left_out as u64, 2)?;
                }
                let axis = component_axis(bits);
                for (index, expected) in prediction.words(left_out).into_iter().enumerate() {
                    residual::write(w, &axis, value[first + index], expected)?;
                }
            }
        }
        Ok(())
    }

    /// Reads what [`Layout::write_difference`] wrote. Constants of `value` are left unchanged.
    pub(crate) fn read_difference(
        &self,
        r: &mut BitReader<'_>,
        value: &mut [i32],
        base: &Baselines<'_>,
    ) -> Result<(), DecodeError> {
        let mut glides = !self.glides.is_empty();
        let mut is_expected = true;
        let mut changed = 0_u64;
        if !self.jumps.is_empty() && (!glides || r.bool("fields")?) {
            if glides {
                glides = r.bool("fields")?;
            }
            changed = r.bits("fields", self.jumps.len() as u32)?;
            if changed == 0 {
                return Err(DecodeError::NotCanonical { what: "fields" });
            }
        }
        if glides {
            for glide in &self.glides {
                is_expected &= self.read_glide(r, glide, value, base)?;
            }
            if changed != 0 && self.rests(value, base.newer) {
                return Err(DecodeError::NotCanonical { what: "fields" });
            }
        } else {
            for glide in &self.glides {
                let words = glide.words();
                value[words.clone()].copy_from_slice(&base.newer[words]);
            }
        }
        for (index, jump) in self.jumps.iter().enumerate() {
            value[jump.words()].copy_from_slice(&base.newer[jump.words()]);
            if changed >> index & 1 == 0 {
                continue;
            }
            for word in jump.words() {
                let axis = &self.axes[word];
                value[word] = if jump.opaque {
                    r.bits("value", 32)? as u32 as i32
                } else if axis.bits() <= SMALL_COUNT_BITS {
                    residual::read_whole(r, "value", axis)?
                } else {
                    residual::read(r, "value", axis, base.newer[word])?
                };
            }
            if !jump.changed(value, base.newer) {
                return Err(DecodeError::NotCanonical { what: "fields" });
            }
        }
        // One bit encodes the expected value. Discrete fields with a flag have changed.
        if changed == 0 && is_expected {
            return Err(DecodeError::NotCanonical { what: "difference" });
        }
        Ok(())
    }

    /// Reads a continuous field. Whether it is as [`Layout::is_expected`] demands.
    #[inline]
    fn read_glide(
        &self,
        r: &mut BitReader<'_>,
        glide: &Glide,
        value: &mut [i32],
        base: &Baselines<'_>,
    ) -> Result<bool, DecodeError> {
        let mut is_expected = true;
        match *glide {
            Glide::Line { first, count, .. } => {
                for word in first..first + count {
                    let axis = &self.axes[word];
                    let expected = base.number(axis, base.newer[word], base.older[word]);
                    value[word] = residual::read(r, "number", axis, expected)?;
                    is_expected &= value[word] == expected;
                }
            }
            Glide::Moved { first, count, by, per_tick } => {
                for index in 0..count {
                    let (word, by) = (first + index, by + index);
                    let axis = &self.axes[word];
                    let expected = base.moved(axis, base.newer[word], (base.newer[by], value[by]), per_tick);
                    value[word] = residual::read(r, "position", axis, expected)?;
                    is_expected &= value[word] == expected;
                }
            }
            Glide::Turn { first, count, bits } => {
                for word in first..first + count {
                    let expected = base.direction(bits, word);
                    value[word] = residual::read_turn(r, "direction", bits, expected)?;
                    is_expected &= value[word] == expected;
                }
            }
            Glide::Rotation { first, bits } => {
                let prediction = self.predict_rotation(first, bits, base);
                let mut left_out = prediction.left_out();
                if r.bool("component")? {
                    let other = r.bits("component", 2)? as i32;
                    if other == left_out {
                        return Err(DecodeError::NotCanonical { what: "component" });
                    }
                    left_out = other;
                }
                let axis = component_axis(bits);
                for (index, expected) in prediction.words(left_out).into_iter().enumerate() {
                    value[first + index] = residual::read(r, "component", &axis, expected)?;
                }
                value[first + 3] = left_out;
                let words = first..first + rotation::WORDS;
                is_expected = value[words.clone()] == base.newer[words];
            }
        }
        Ok(is_expected)
    }

    #[inline]
    fn predict_rotation(&self, first: usize, bits: u32, base: &Baselines<'_>) -> Prediction {
        let of = |value: &[i32]| -> [i32; rotation::WORDS] {
            let words = &value[first..first + rotation::WORDS];
            [words[0], words[1], words[2], words[3]]
        };
        let older = if base.has_line { Some((of(base.older), base.g)) } else { None };
        Prediction::new(of(base.newer), older, base.k, bits)
    }
}
