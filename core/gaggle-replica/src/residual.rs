//! Residuals: errors of predictions, short when they are small. Four rungs without state, so that
//! each packet can be read alone. `codec` writes them. Absent: values, predictions.
//!
//! | Rung | Bits | Differences |
//! |---|---|---|
//! | `0` | 3 | −4 to 3 |
//! | `10` | 6 | −32 to 31 |
//! | `110` | 10 | −512 to 511 |
//! | `111` | bits of the range | any: the value itself |

use gaggle_kit::{BitReader, BufferFull, DecodeError};

use crate::Axis;
use crate::sink::Sink;

#[inline]
fn zigzag(difference: i32) -> u32 {
    (difference << 1 ^ difference >> 31) as u32
}

#[inline]
fn unzigzag(code: u32) -> i32 {
    (code >> 1) as i32 ^ -((code & 1) as i32)
}

/// Form of a code: number of bits that select the rung, these bits, and the bits of both.
#[derive(Clone, Copy)]
struct Rung {
    head_bits: u8,
    head: u8,
    bits: u8,
}

/// All rungs but the last, by the highest bit of a code. Rungs are hard to predict for a processor,
/// so the code does not branch on them.
const RUNGS: [Rung; 10] = {
    let mut rungs = [Rung { head_bits: 1, head: 0b0, bits: 4 }; 10];
    let mut highest = 3;
    while highest < rungs.len() {
        rungs[highest] = match highest {
            3..6 => Rung { head_bits: 2, head: 0b01, bits: 8 },
            _ => Rung { head_bits: 3, head: 0b011, bits: 13 },
        };
        highest += 1;
    }
    rungs
};

/// Most bits of an encoded value whose range has `bits` bits: the last rung, or the one below.
pub(crate) const fn bits_max(bits: u32) -> u32 {
    3 + if bits > 10 { bits } else { 10 }
}

/// Writes a value of the range, given the expected one, also of the range.
#[inline]
pub(crate) fn write(w: &mut impl Sink, axis: &Axis, value: i32, expected: i32) -> Result<(), BufferFull> {
    // Both lie in a range of at most 31 bits, so the difference fits.
    let code = zigzag(value.wrapping_sub(expected));
    if let Some(rung) = RUNGS.get((code | 1).ilog2() as usize) {
        w.bits(u64::from(code) << rung.head_bits | u64::from(rung.head), rung.bits.into())
    } else {
        let above = value.wrapping_sub(axis.steps().0) as u32;
        w.bits(u64::from(above) << 3 | 0b111, 3 + axis.bits())
    }
}

/// How to read a rung: bits that select it, the mask of its code, its least code, bits of all.
#[derive(Clone, Copy)]
struct ReadRung {
    head_bits: u8,
    bits: u8,
    mask: u16,
    least: u16,
}

/// Rungs by the lowest three bits; the last one is read by [`read_slowly`].
const READ_RUNGS: [ReadRung; 8] = {
    let mut rungs = [ReadRung { head_bits: 1, bits: 4, mask: 0b111, least: 0 }; 8];
    rungs[0b001] = ReadRung { head_bits: 2, bits: 8, mask: 0b11_1111, least: 1 << 3 };
    rungs[0b101] = rungs[0b001];
    rungs[0b011] = ReadRung { head_bits: 3, bits: 13, mask: 0b11_1111_1111, least: 1 << 6 };
    rungs
};

/// Reads what [`write`] wrote. One value has one form; every other is rejected.
#[inline]
pub(crate) fn read(
    r: &mut BitReader<'_>,
    what: &'static str,
    axis: &Axis,
    expected: i32,
) -> Result<i32, DecodeError> {
    // Rungs are hard to predict for a processor, so this does not branch on them.
    let Some(word) = r.peek().filter(|word| word & 0b111 != 0b111) else {
        return read_slowly(r, what, axis, expected);
    };
    let rung = READ_RUNGS[(word & 0b111) as usize];
    r.skip(what, rung.bits.into())?;
    let code = (word >> rung.head_bits) as u16 & rung.mask;
    if code < rung.least {
        return Err(DecodeError::NotCanonical { what });
    }
    in_range(what, axis, i64::from(expected) + i64::from(unzigzag(code.into())))
}

/// [`read`] for values of the last rung, and close to the end of the bytes.
fn read_slowly(
    r: &mut BitReader<'_>,
    what: &'static str,
    axis: &Axis,
    expected: i32,
) -> Result<i32, DecodeError> {
    // Every form has at least four bits, which select the rung.
    let head = r.bits(what, 4)?;
    let (code, least) = if head & 0b1 == 0 {
        (head >> 1, 0)
    } else if head & 0b10 == 0 {
        (head >> 2 | r.bits(what, 4)? << 2, 1 << 3)
    } else if head & 0b100 == 0 {
        (head >> 3 | r.bits(what, 9)? << 1, 1 << 6)
    } else {
        let rest = r.bits(what, axis.bits().saturating_sub(1))?;
        let value = in_range(what, axis, i64::from(axis.steps().0) + (head >> 3 | rest << 1) as i64)?;
        if zigzag(value.wrapping_sub(expected)) < 1 << 10 {
            return Err(DecodeError::NotCanonical { what });
        }
        return Ok(value);
    };
    if code < least {
        return Err(DecodeError::NotCanonical { what });
    }
    in_range(what, axis, i64::from(expected) + i64::from(unzigzag(code as u32)))
}

/// Writes a value of the range without an expected one.
#[inline]
pub(crate) fn write_whole(w: &mut impl Sink, axis: &Axis, value: i32) -> Result<(), BufferFull> {
    w.bits(u64::from(value.wrapping_sub(axis.steps().0) as u32), axis.bits())
}

/// Reads what [`write_whole`] wrote.
#[inline]
pub(crate) fn read_whole(r: &mut BitReader<'_>, what: &'static str, axis: &Axis) -> Result<i32, DecodeError> {
    let above = r.bits(what, axis.bits())? as i64;
    in_range(what, axis, i64::from(axis.steps().0) + above)
}

/// Writes a value that wraps around: only the low bits count, and the shorter way is sent.
#[inline]
pub(crate) fn write_turn(w: &mut impl Sink, bits: u32, value: i32, expected: i32) -> Result<(), BufferFull> {
    let axis = Axis::whole(0, (1 << bits) - 1);
    let away = turned(bits, value.wrapping_sub(expected));
    // Centered on the middle of the range, so that no value is beyond its ends.
    let middle = 1 << (bits - 1);
    write(w, &axis, middle + away, middle)
}

/// Reads what [`write_turn`] wrote.
#[inline]
pub(crate) fn read_turn(
    r: &mut BitReader<'_>,
    what: &'static str,
    bits: u32,
    expected: i32,
) -> Result<i32, DecodeError> {
    let axis = Axis::whole(0, (1 << bits) - 1);
    let middle = 1 << (bits - 1);
    let away = read(r, what, &axis, middle)? - middle;
    Ok(expected.wrapping_add(away) & ((1 << bits) - 1))
}

/// Difference of directions, the shorter way.
#[inline]
pub(crate) fn turned(bits: u32, difference: i32) -> i32 {
    difference << (32 - bits) >> (32 - bits)
}

#[inline]
fn in_range(what: &'static str, axis: &Axis, value: i64) -> Result<i32, DecodeError> {
    if axis.contains(value) {
        return Ok(value as i32);
    }
    let (min, max) = axis.steps();
    Err(DecodeError::OutOfRange { what, value, min: min.into(), max: max.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::BitWriter;

    fn written(write: impl Fn(&mut BitWriter<'_>) -> Result<(), BufferFull>) -> (Vec<u8>, usize) {
        let mut buffer = [0; 16];
        let mut w = BitWriter::new(&mut buffer);
        write(&mut w).unwrap();
        let bits = w.written();
        (w.finish().to_vec(), bits)
    }

    #[test]
    fn both_readers_agree_on_every_head_and_end() {
        let axis = Axis::whole(-2_000, 2_000);
        let (mut values, mut rejected) = (0, 0);
        for head in 0..1_u32 << 16 {
            let bytes = u64::from(head).to_le_bytes();
            for length in [2, 8] {
                let mut readers = [0, 1].map(|_| BitReader::new(&bytes[..length]));
                let fast = read(&mut readers[0], "value", &axis, 7);
                let slow = read_slowly(&mut readers[1], "value", &axis, 7);
                assert_eq!(fast, slow, "{head:016b}");
                match fast {
                    Ok(_) => assert_eq!(readers[0].remaining(), readers[1].remaining()),
                    Err(_) => rejected += 1,
                }
                values += u32::from(fast.is_ok());
            }
        }
        assert!(values > 90_000 && rejected > 1_000, "{values} {rejected}");
    }

    #[test]
    fn difference_takes_first_range_it_fits() {
        let axis = Axis::whole(-100_000, 100_000);
        for (difference, bits) in [
            (0, 4),
            (3, 4),
            (-4, 4),
            (4, 8),
            (-32, 8),
            (31, 8),
            (32, 13),
            (-512, 13),
            (512, 21),
            (-90_000, 21),
        ] {
            let (bytes, taken) = written(|w| write(w, &axis, 7 + difference, 7));
            assert_eq!(taken, bits, "{difference}");
            assert_eq!(read(&mut BitReader::new(&bytes), "x", &axis, 7), Ok(7 + difference));
        }
    }

    #[test]
    fn widest_range_holds_every_difference() {
        let axis = Axis::whole(1 - (1 << 30), (1 << 30) - 1);
        let (min, max) = axis.steps();
        for value in [min, -1, 0, 1, max] {
            for expected in [min, -513, 0, 512, max] {
                let (bytes, _) = written(|w| write(w, &axis, value, expected));
                assert_eq!(read(&mut BitReader::new(&bytes), "x", &axis, expected), Ok(value));
            }
        }
    }

    #[test]
    fn noncanonical_form_and_value_out_of_range_are_rejected() {
        let axis = Axis::whole(0, 1_500);
        for (form, bits) in [(5 << 2 | 0b01, 8), (9 << 3 | 0b011, 13), (103 << 3 | 0b111, 14)] {
            let (bytes, _) = written(|w| w.bits(form, bits));
            let refusal = read(&mut BitReader::new(&bytes), "x", &axis, 100);
            assert_eq!(refusal, Err(DecodeError::NotCanonical { what: "x" }));
        }
        let (bytes, _) = written(|w| w.bits(2_047 << 3 | 0b111, 14));
        assert!(matches!(
            read(&mut BitReader::new(&bytes), "x", &axis, 100),
            Err(DecodeError::OutOfRange { value: 2_047, .. })
        ));
        let (bytes, _) = written(|w| w.bits(7 << 1, 4));
        assert!(matches!(
            read(&mut BitReader::new(&bytes), "x", &axis, 2),
            Err(DecodeError::OutOfRange { value: -2, .. })
        ));
    }

    #[test]
    fn direction_difference_takes_shorter_arc() {
        for bits in [1, 5, 10, 24] {
            let steps = 1 << bits;
            for (value, expected) in
                [(0, steps - 1), (steps - 1, 0), (steps / 2, 0), (0, 0), (steps / 2 - 1, 0)]
            {
                let (bytes, taken) = written(|w| write_turn(w, bits, value, expected));
                let read = read_turn(&mut BitReader::new(&bytes), "x", bits, expected);
                assert_eq!(read, Ok(value), "{value} of {bits} bits");
                assert!(taken == 4 || value == steps / 2 || value == steps / 2 - 1, "{taken} bits");
            }
        }
    }
}
