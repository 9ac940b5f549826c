//! The rows of the report, one file per part.

pub mod agreement;
pub mod chaos;
pub mod cpu;
pub mod instructions;
pub mod memory;
pub mod onlookers;
mod packing;
pub mod people;
pub mod questions;
pub mod scale;
pub mod stalls;
pub mod time;
pub mod traffic;
