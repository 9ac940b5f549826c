//! Truncated Rice code: numbers up to a known end, short if most are small.
//!
//! Lanes encode the distance to the next changed slot with it; the end itself means "no more".
//! Absent: slots, frames.

use gaggle_kit::{BitReader, BitWriter, BufferFull, DecodeError, bits_for};

/// Largest parameter: no distance is longer than the slots of a match.
pub(crate) const PARAMETER_MAX: u32 = 10;
/// Bits of a parameter on the wire.
pub(crate) const PARAMETER_BITS: u32 = 4;

/// Parameter for `count` distances within `total` numbers.
pub(crate) fn parameter(total: usize, count: usize) -> u32 {
    let mean = (total * 4) / (count.max(1) * 5);
    mean.max(1).ilog2().min(PARAMETER_MAX)
}

#[inline]
fn low_bits(max: u32, quotient: u32, parameter: u32) -> u32 {
    // In the last interval only numbers up to the end are possible.
    if quotient == max >> parameter {
        bits_for(&(0..=i64::from(max - (quotient << parameter))))
    } else {
        parameter
    }
}

/// Writes a number of 0 to `max`.
#[inline]
pub(crate) fn write(w: &mut BitWriter<'_>, number: u32, max: u32, parameter: u32) -> Result<(), BufferFull> {
    let quotient = number >> parameter;
    let mut zeros = quotient;
    while zeros >= 32 {
        w.bits(0, 32)?;
        zeros -= 32;
    }
    if quotient == max >> parameter {
        w.bits(0, zeros)?;
    } else {
        w.bits(1 << zeros, zeros + 1)?;
    }
    let rest = number - (quotient << parameter);
    w.bits(u64::from(rest), low_bits(max, quotient, parameter))
}

/// Reads a number of 0 to `max`.
#[inline]
pub(crate) fn read(
    r: &mut BitReader<'_>,
    what: &'static str,
    max: u32,
    parameter: u32,
) -> Result<u32, DecodeError> {
    let last = max >> parameter;
    let mut quotient = 0;
    while quotient < last && !r.bool(what)? {
        quotient += 1;
    }
    let rest = r.bits(what, low_bits(max, quotient, parameter))? as u32;
    let number = (quotient << parameter) + rest;
    if number > max {
        return Err(DecodeError::out_of_range(what, number, 0, max));
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_for_every_parameter() {
        for parameter in 0..=PARAMETER_MAX {
            for max in [0, 1, 2, 7, 8, 9, 31, 100, 1_024] {
                for number in (0..=max).step_by(1 + max as usize / 40).chain([max]) {
                    let mut buffer = [0; 200];
                    let mut w = BitWriter::new(&mut buffer);
                    write(&mut w, number, max, parameter).unwrap();
                    w.bits(0b101, 3).unwrap();
                    let bytes = w.finish().to_vec();
                    let mut r = BitReader::new(&bytes);
                    assert_eq!(read(&mut r, "number", max, parameter), Ok(number));
                    assert_eq!(r.bits("after", 3), Ok(0b101));
                }
            }
        }
    }

    #[test]
    fn number_beyond_its_end_is_rejected() {
        let mut r = BitReader::new(&[0xff; 4]);
        assert!(matches!(read(&mut r, "number", 4, 3), Err(DecodeError::OutOfRange { .. })));
    }
}
