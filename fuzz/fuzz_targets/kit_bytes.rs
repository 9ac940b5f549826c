//! See `gaggle_fuzz::kit::bytes`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::kit::bytes(data));
