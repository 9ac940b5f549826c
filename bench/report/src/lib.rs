//! What every bench needs: a report as a table or as JSON lines, a counting allocator, the thread's
//! CPU time, instructions, and medians. Knows nothing about what is measured.

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
