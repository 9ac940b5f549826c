//! See `gaggle_fuzz::timeline::session`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::timeline::session(data));
