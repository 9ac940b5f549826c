//! See `gaggle_fuzz::drake::session`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::drake::session(data));
