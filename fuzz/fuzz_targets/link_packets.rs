//! See `gaggle_fuzz::link::packets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::link::packets(data));
