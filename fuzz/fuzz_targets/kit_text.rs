//! See `gaggle_fuzz::kit::text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::kit::text(data));
