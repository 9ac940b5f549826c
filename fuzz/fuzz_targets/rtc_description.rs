//! See `gaggle_fuzz::rtc::description`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::rtc::description(data));
