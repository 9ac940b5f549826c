//! See `gaggle_fuzz::kit::input`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::kit::input(data));
