//! See `gaggle_fuzz::link::relay`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::link::relay(data));
