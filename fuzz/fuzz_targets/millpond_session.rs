//! See `gaggle_fuzz::millpond::session`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::millpond::session(data));
