//! The counting allocator: calls and live bytes of each thread.
//!
//! Benches and tests install it. Absent: what is measured.
#![allow(unsafe_code, reason = "a global allocator requires unsafe code")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Cells instead of atomics: an atomic increment per call would slow down libraries that
    // allocate often.
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator with counters; install it with `#[global_allocator]`.
pub struct CountingAllocator;

/// Counters of this thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Allocations {
    /// Calls that requested memory, including those that grew a block.
    pub count: u64,
    /// Bytes requested and not freed; negative if the thread freed blocks of other threads.
    pub live_bytes: i64,
}

impl Allocations {
    /// Counters at this moment.
    pub fn now() -> Allocations {
        Allocations { count: COUNT.get(), live_bytes: LIVE.get() }
    }

    /// Difference to an earlier moment.
    #[must_use]
    pub fn since(self, earlier: Allocations) -> Allocations {
        Allocations { count: self.count - earlier.count, live_bytes: self.live_bytes - earlier.live_bytes }
    }
}

/// Runs work of the harness, whose allocations are not counted. Live bytes are.
pub fn uncounted<T>(work: impl FnOnce() -> T) -> T {
    let before = COUNT.get();
    let done = work();
    COUNT.set(before);
    done
}

fn took(bytes: usize) {
    COUNT.set(COUNT.get() + 1);
    LIVE.set(LIVE.get() + bytes as i64);
}

fn gave_back(bytes: usize) {
    LIVE.set(LIVE.get() - bytes as i64);
}

// SAFETY: every call goes to the system's allocator unchanged; the counters are const-initialized
// thread-locals without a destructor, so touching them neither allocates nor fails.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        gave_back(layout.size());
        took(new_size);
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.realloc(block, layout, new_size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        gave_back(layout.size());
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: CountingAllocator = CountingAllocator;

    #[test]
    fn allocator_counts_requested_and_freed_bytes() {
        let before = Allocations::now();
        let block = vec![0u8; 1000];
        let held = Allocations::now().since(before);
        assert_eq!(held, Allocations { count: 1, live_bytes: 1000 });
        drop(block);
        assert_eq!(Allocations::now().since(before), Allocations { count: 1, live_bytes: 0 });
        let aside = uncounted(|| vec![0u8; 10]);
        assert_eq!(Allocations::now().since(before), Allocations { count: 1, live_bytes: 10 });
        drop(aside);
    }
}
