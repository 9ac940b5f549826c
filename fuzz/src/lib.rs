//! What the fuzz targets do with their bytes, one file for each crate whose decoders they attack.
//!
//! Each file has a list of its targets. The crate's own tests include the file and replay
//! `corpus/TARGET/` through it, so that what a fuzzer once found stays found without a fuzzer.

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
