//! See `gaggle_fuzz::lobby::ticket`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::lobby::ticket(data));
