//! Values and constants without a baseline: encoding and decoding. Absent: packets.

use gaggle_kit::{BitReader, BitWriter, BufferFull, DecodeError};

use super::component_axis;
use crate::layout::{Glide, Jump, Layout};
use crate::{Encoding, residual, rotation};

impl Layout {
    /// Writes the changing words of a value, without a baseline.
    pub(crate) fn write_whole(&self, w: &mut BitWriter<'_>, value: &[i32]) -> Result<(), BufferFull> {
        for glide in &self.glides {
            match *glide {
                Glide::Line { first, count, velocity } => {
                    let words = &value[first..first + count];
                    if velocity {
                        let rests = words.iter().all(|&word| word == 0);
                        w.bool(rests)?;
                        if rests {
                            continue;
                        }
                    }
                    self.write_numbers(w, first, words)?;
                }
                Glide::Moved { first, count, .. } => {
                    self.write_numbers(w, first, &value[first..first + count])?;
                }
                Glide::Turn { first, count, bits } => {
                    for &word in &value[first..first + count] {
                        w.bits(word as u64, bits)?;
                    }
                }
                Glide::Rotation { first, bits } => {
                    write_rotation_whole(w, &value[first..first + rotation::WORDS], bits)?;
                }
            }
        }
        self.jumps.iter().try_for_each(|jump| self.write_jump_whole(w, jump, value))
    }

    fn write_numbers(&self, w: &mut BitWriter<'_>, first: usize, words: &[i32]) -> Result<(), BufferFull> {
        for (axis, &word) in self.axes[first..].iter().zip(words) {
            residual::write_whole(w, axis, word)?;
        }
        Ok(())
    }

    /// Reads what [`Layout::write_whole`] wrote.
    pub(crate) fn read_whole(&self, r: &mut BitReader<'_>, value: &mut [i32]) -> Result<(), DecodeError> {
        for glide in &self.glides {
            match *glide {
                Glide::Line { first, count, velocity } => {
                    let words = &mut value[first..first + count];
                    if velocity && r.bool("at rest")? {
                        words.fill(0);
                        if self.axes[first..first + count].iter().any(|axis| !axis.contains(0)) {
                            return Err(DecodeError::Unknown { what: "rest", value: 0 });
                        }
                        continue;
                    }
                    self.read_numbers(r, first, words)?;
                    if velocity && words.iter().all(|&word| word == 0) {
                        return Err(DecodeError::NotCanonical { what: "velocity" });
                    }
                }
                Glide::Moved { first, count, .. } => {
                    self.read_numbers(r, first, &mut value[first..first + count])?;
                }
                Glide::Turn { first, count, bits } => {
                    for word in &mut value[first..first + count] {
                        *word = r.bits("direction", bits)? as i32;
                    }
                }
                Glide::Rotation { first, bits } => {
                    read_rotation_whole(r, &mut value[first..first + rotation::WORDS], bits)?;
                }
            }
        }
        self.jumps.iter().try_for_each(|jump| self.read_jump_whole(r, jump, value))
    }

    fn read_numbers(
        &self,
        r: &mut BitReader<'_>,
        first: usize,
        words: &mut [i32],
    ) -> Result<(), DecodeError> {
        for (axis, word) in self.axes[first..].iter().zip(words) {
            *word = residual::read_whole(r, "number", axis)?;
        }
        Ok(())
    }

    fn write_jump_whole(&self, w: &mut BitWriter<'_>, jump: &Jump, value: &[i32]) -> Result<(), BufferFull> {
        for word in jump.first..jump.first + jump.count {
            if jump.opaque {
                w.bits(u64::from(value[word] as u32), 32)?;
            } else {
                residual::write_whole(w, &self.axes[word], value[word])?;
            }
        }
        Ok(())
    }

    fn read_jump_whole(
        &self,
        r: &mut BitReader<'_>,
        jump: &Jump,
        value: &mut [i32],
    ) -> Result<(), DecodeError> {
        for word in jump.first..jump.first + jump.count {
            value[word] = if jump.opaque {
                r.bits("value", 32)? as u32 as i32
            } else {
                residual::read_whole(r, "value", &self.axes[word])?
            };
        }
        Ok(())
    }

    /// Writes the fields that never change.
    pub(crate) fn write_constants(&self, w: &mut BitWriter<'_>, value: &[i32]) -> Result<(), BufferFull> {
        for (field, first) in &self.fixed {
            let words = &value[*first..*first + field.words];
            match field.nature {
                Encoding::Continuous | Encoding::Discrete => self.write_numbers(w, *first, words)?,
                Encoding::Angle { bits } => words.iter().try_for_each(|&word| w.bits(word as u64, bits))?,
                Encoding::Rotation { bits } => write_rotation_whole(w, words, bits)?,
                Encoding::Opaque => words.iter().try_for_each(|&word| w.bits(u64::from(word as u32), 32))?,
            }
        }
        Ok(())
    }

    /// Reads what [`Layout::write_constants`] wrote.
    pub(crate) fn read_constants(&self, r: &mut BitReader<'_>, value: &mut [i32]) -> Result<(), DecodeError> {
        for (field, first) in &self.fixed {
            let words = &mut value[*first..*first + field.words];
            match field.nature {
                Encoding::Continuous | Encoding::Discrete => self.read_numbers(r, *first, words)?,
                Encoding::Angle { bits } => {
                    for word in words {
                        *word = r.bits("direction", bits)? as i32;
                    }
                }
                Encoding::Rotation { bits } => read_rotation_whole(r, words, bits)?,
                Encoding::Opaque => {
                    for word in words {
                        *word = r.bits("constant", 32)? as u32 as i32;
                    }
                }
            }
        }
        Ok(())
    }
}

fn write_rotation_whole(w: &mut BitWriter<'_>, words: &[i32], bits: u32) -> Result<(), BufferFull> {
    w.bits(words[3] as u64, 2)?;
    words[..3].iter().try_for_each(|&word| w.bits(word as u64, bits))
}

fn read_rotation_whole(r: &mut BitReader<'_>, words: &mut [i32], bits: u32) -> Result<(), DecodeError> {
    words[3] = r.bits("component", 2)? as i32;
    let axis = component_axis(bits);
    for word in &mut words[..3] {
        *word = residual::read_whole(r, "component", &axis)?;
    }
    Ok(())
}
