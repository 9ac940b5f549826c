//! See `gaggle_fuzz::kit::numbers`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::kit::numbers(data));
