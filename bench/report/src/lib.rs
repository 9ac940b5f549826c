//! What every bench needs: a report as a table or as JSON lines, a counting allocator, the thread's
//! CPU time, and medians. Knows nothing about what is measured.

mod allocations;
mod cpu;
mod parallel;
mod report;
mod spread;

pub use allocations::{Allocations, CountingAllocator, uncounted};
pub use cpu::cpu_time;
pub use parallel::parallel;
pub use report::{Report, Row};
pub use spread::{Spread, median};
