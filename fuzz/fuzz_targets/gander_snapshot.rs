//! See `gaggle_fuzz::gander::snapshot`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::gander::snapshot(data));
