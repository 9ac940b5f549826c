//! Fuzz targets, one file for each crate whose decoders they attack.
//!
//! Each file lists its targets. Called by `fuzz_targets/`, and by the crates' own tests, which
//! include the file and replay `corpus/TARGET/`, so that a finding stays found without a fuzzer.
//! Absent: the fuzzer.

pub mod drake;
pub mod gander;
pub mod kit;
pub mod link;
pub mod lobby;
pub mod millpond;
pub mod pair;
pub mod replica;
pub mod rtc;
pub mod seal;
pub mod timeline;
pub mod websocket;
