//! See `gaggle_fuzz::replica::session`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::replica::session(data));
