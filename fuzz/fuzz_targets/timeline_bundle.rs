//! See `gaggle_fuzz::timeline::bundle`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::timeline::bundle(data));
