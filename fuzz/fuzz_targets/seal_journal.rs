//! See `gaggle_fuzz::seal::journal`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::seal::journal(data));
