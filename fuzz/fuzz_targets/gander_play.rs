//! See `gaggle_fuzz::gander::play`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::gander::play(data));
