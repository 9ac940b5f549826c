//! See `gaggle_fuzz::link::streams`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::link::streams(data));
