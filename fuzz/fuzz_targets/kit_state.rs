//! See `gaggle_fuzz::kit::state`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::kit::state(data));
