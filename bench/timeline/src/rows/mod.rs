//! Rows of the report, one file per part.
//!
//! Called by `main.rs`. Absent: measurement.

pub mod agreement;
pub mod chaos;
pub mod cpu;
pub mod instructions;
pub mod memory;
mod packing;
pub mod people;
pub mod questions;
pub mod scale;
pub mod spectators;
pub mod stalls;
pub mod time;
pub mod traffic;
