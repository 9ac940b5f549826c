//! See `gaggle_fuzz::websocket::frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gaggle_fuzz::websocket::frames(data));
