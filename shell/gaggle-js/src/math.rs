//! Mathematical functions with the same bits in every engine and on every machine.
//!
//! JavaScript calls them inside a tick. Absent: functions that every engine rounds correctly
//! (`Math.sqrt`, `Math.floor`, …).

#[cfg(target_arch = "wasm32")]
use wasm_bindgen::prelude::wasm_bindgen;

macro_rules! functions {
    ($($(#[doc = $about:literal])* $name:ident = $export:literal ($($argument:ident),*);)*) => {$(
        $(#[doc = $about])*
        #[cfg_attr(target_arch = "wasm32", wasm_bindgen(js_name = $export))]
        pub fn $name($($argument: f64),*) -> f64 {
            libm::$name($($argument),*)
        }
    )*};
}

functions! {
    /// Sine of an angle in radians.
    sin = "mathSin" (x);
    /// Cosine of an angle in radians.
    cos = "mathCos" (x);
    /// Tangent of an angle in radians.
    tan = "mathTan" (x);
    /// Angle with this sine.
    asin = "mathAsin" (x);
    /// Angle with this cosine.
    acos = "mathAcos" (x);
    /// Angle with this tangent.
    atan = "mathAtan" (x);
    /// Angle of a point, from the axis of x.
    atan2 = "mathAtan2" (y, x);
    /// The base of the natural logarithm to this power.
    exp = "mathExp" (x);
    /// The natural logarithm of a number.
    log = "mathLog" (x);
    /// A number to a power, whole or not.
    pow = "mathPow" (x, y);
    /// Length of the hypotenuse, without overflow.
    hypot = "mathHypot" (x, y);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same values are compared in Node and Chromium: see `js/test/math.test.js`.
    #[test]
    fn values_have_these_bits_everywhere() {
        let mut sum = 0_u64;
        for step in 0..2_000 {
            let x = f64::from(step) * 0.37 - 300.0;
            let values = [
                sin(x),
                cos(x),
                tan(x),
                asin(x / 301.0),
                acos(x / 301.0),
                atan(x),
                atan2(x, 3.0),
                exp(x / 9.0),
                log(x.abs() + 0.5),
                pow(x.abs(), 1.7),
                hypot(x, 7.5),
            ];
            for value in values {
                sum = sum.rotate_left(5) ^ value.to_bits();
            }
        }
        assert_eq!(format!("{sum:016x}"), include_str!("../js/test/math.golden").trim());
    }
}
