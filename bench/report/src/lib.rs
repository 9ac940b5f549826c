//! Tools of all benches: report as table or JSON, counting allocator, CPU time, instructions,
//! medians.
//!
//! Absent: what is measured.

mod allocations;
mod cpu;
mod parallel;
mod report;
mod spread;
mod valgrind;

pub use allocations::{Allocations, CountingAllocator, uncounted};
pub use cpu::cpu_time;
pub use parallel::parallel;
pub use report::{Report, Row};
pub use spread::{Spread, median};
pub use valgrind::CountedRun;
