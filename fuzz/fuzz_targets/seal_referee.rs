//! See `gaggle_fuzz::seal::referee`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::seal::referee(data));
