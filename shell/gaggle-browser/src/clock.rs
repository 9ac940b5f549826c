//! Clock of a page.
//!
//! Pages pass its time to core as `now`. Absent: wall time.

use gaggle_kit::Micros;

#[doc = text!(now)]
pub fn now() -> Micros {
    let millis = web_sys::window().and_then(|window| window.performance()).map_or(0.0, |clock| clock.now());
    #[allow(clippy::float_arithmetic, reason = "the page's time has fractions of milliseconds")]
    let micros = millis * 1_000.0;
    Micros::new(micros as u64)
}
