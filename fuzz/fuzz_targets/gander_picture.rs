//! See `gaggle_fuzz::gander::picture`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::gander::picture(data));
