//! Decimal text of fixed-point numbers, by integers alone.
//!
//! Constants, logs and settings use it. Absent: arithmetic.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::Fixed;

/// The text is not a decimal number in range: an optional sign, digits, and optionally a point and
/// digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not a decimal number in range; write one such as -0.015")]
pub struct ParseFixedError;

impl<const FRACTION: u32> Fixed<FRACTION> {
    /// A decimal literal for constants.
    ///
    /// ```
    /// use gaggle_kit::Fixed16;
    /// const FRICTION: Fixed16 = Fixed16::lit("-0.015");
    /// ```
    ///
    /// # Panics
    /// If it is not a decimal number in range; in a constant that is a compile error.
    pub const fn lit(text: &str) -> Self {
        match parse(text.as_bytes()) {
            Some(number) => number,
            None => panic!("not a decimal number in range; write one such as -0.015"),
        }
    }

    /// Decimal places that distinguish all steps: the last one is worth less than a step.
    const DECIMALS: u32 = {
        let mut decimals = 0;
        let mut power = 1_u64;
        while power < Self::ONE.0 as u64 {
            power *= 10;
            decimals += 1;
        }
        decimals
    };
}

impl<const FRACTION: u32> FromStr for Fixed<FRACTION> {
    type Err = ParseFixedError;

    fn from_str(text: &str) -> Result<Self, ParseFixedError> {
        parse(text.as_bytes()).ok_or(ParseFixedError)
    }
}

/// Later decimal places are only checked to be digits. This many distinguish halves of up to 17
/// binary places, and with 31 bits before the point and 31 for the steps they fit into 127 bits.
const PLACES_MAX: u32 = 18;

const fn parse<const FRACTION: u32>(text: &[u8]) -> Option<Fixed<FRACTION>> {
    let (negative, mut index) = match text {
        [b'-', ..] => (true, 1),
        [b'+', ..] => (false, 1),
        _ => (false, 0),
    };
    let mut digits = 0_i128;
    let mut scale = 1_i128;
    let mut digit_seen = false;
    let mut point_seen = false;
    while index < text.len() {
        match text[index] {
            digit @ b'0'..=b'9' => {
                digit_seen = true;
                if !point_seen || scale < 10_i128.pow(PLACES_MAX) {
                    digits = digits * 10 + (digit - b'0') as i128;
                    scale *= if point_seen { 10 } else { 1 };
                }
                // Out of range already, and more digits would overflow.
                if digits / scale > i32::MAX as i128 + 1 {
                    return None;
                }
            }
            b'.' if !point_seen => point_seen = true,
            _ => return None,
        }
        index += 1;
    }
    if !digit_seen {
        return None;
    }
    let steps = (((digits << (Fixed::<FRACTION>::PLACES + 1)) / scale) + 1) >> 1;
    let steps = if negative { -steps } else { steps };
    if steps < i32::MIN as i128 || steps > i32::MAX as i128 { None } else { Some(Fixed(steps as i32)) }
}

/// The shortest text that reads back as the same number, or the requested number of decimal places.
impl<const FRACTION: u32> fmt::Display for Fixed<FRACTION> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = f.precision().map(|places| u32::try_from(places).unwrap_or(u32::MAX));
        // At most as many as are read.
        let places = wanted.unwrap_or(Self::DECIMALS).min(PLACES_MAX);
        let scale = 10_u128.pow(places);
        let size = u128::from(self.0.unsigned_abs()) * scale;
        let half = if Self::PLACES == 0 { 0 } else { 1 << (Self::PLACES - 1) };
        let rounded = (size + half) >> Self::PLACES;
        let mut text = format!("{}", rounded / scale);
        if places > 0 {
            let decimals = format!("{:0width$}", rounded % scale, width = places as usize);
            let decimals = if wanted.is_some() { &decimals } else { decimals.trim_end_matches('0') };
            if !decimals.is_empty() {
                text = text + "." + decimals;
            }
        }
        f.pad_integral(self.0 >= 0 || rounded == 0, "", &text)
    }
}

impl<const FRACTION: u32> fmt::Debug for Fixed<FRACTION> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Fixed8, Fixed16};
    use super::*;

    #[test]
    fn every_number_reads_back_from_its_text() {
        for steps in (i32::MIN..=i32::MAX).step_by(65_521).chain([-1, 0, 1, 127, 128, i32::MAX]) {
            assert_eq!(Fixed8::from_bits(steps).to_string().parse(), Ok(Fixed8::from_bits(steps)));
            assert_eq!(Fixed16::from_bits(steps).to_string().parse(), Ok(Fixed16::from_bits(steps)));
            assert_eq!(Fixed::<30>::from_bits(steps).to_string().parse(), Ok(Fixed::<30>::from_bits(steps)));
            assert_eq!(Fixed::<0>::from_bits(steps).to_string(), steps.to_string());
        }
    }

    #[test]
    fn formatting_flags_are_respected() {
        let number = Fixed16::from_ratio(-5, 4);
        assert_eq!(number.to_string(), "-1.25");
        assert_eq!(
            format!("{number:.1} {number:.0} {number:8} {number:+} {:+}", -number),
            "-1.3 -1    -1.25 -1.25 +1.25"
        );
        assert_eq!(format!("{:.3} {:.0}", Fixed16::ONE, -Fixed16::STEP), "1.000 0");
        assert_eq!(format!("{:.40}", Fixed8::STEP), "0.003906250000000000");
        assert_eq!(Fixed8::MIN.to_string(), "-8388608");
        assert_eq!(Fixed8::STEP.to_string(), "0.004");
    }

    #[test]
    fn text_out_of_range_or_malformed_is_rejected() {
        for text in [
            "",
            "-",
            ".",
            "1.2.3",
            "1e3",
            " 1",
            "0x1",
            "32768",
            "-32768.1",
            "∞",
            "99999999999999999999999999",
        ] {
            assert_eq!(text.parse::<Fixed16>(), Err(ParseFixedError), "{text}");
        }
        for (text, steps) in [
            ("+.5", 32_768),
            ("5.", 327_680),
            ("-32768", i32::MIN),
            ("32767.99999", i32::MAX),
            ("0.00000762939453125", 1),
            ("-0.00000762939453125", -1),
            ("0.0000076293", 0),
            ("0.33333333333333333333333333333333333333333333333333", 21_845),
        ] {
            assert_eq!(text.parse(), Ok(Fixed16::from_bits(steps)), "{text}");
        }
    }
}
