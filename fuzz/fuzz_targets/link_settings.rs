//! See `gaggle_fuzz::link::settings`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::link::settings(data));
