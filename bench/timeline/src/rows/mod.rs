//! The rows of the report, one file per part.

pub mod cpu;
pub mod traffic;
