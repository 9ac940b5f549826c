//! See `gaggle_fuzz::kit::packed`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::kit::packed(data));
