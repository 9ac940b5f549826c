//! See `gaggle_fuzz::lobby::message`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::lobby::message(data));
