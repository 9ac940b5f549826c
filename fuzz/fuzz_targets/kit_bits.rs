//! See `gaggle_fuzz::kit::bits`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::kit::bits(data));
