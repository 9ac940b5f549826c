//! Counts what a thread takes from the heap.
#![allow(unsafe_code, reason = "a global allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Plain cells instead of atomics: an atomic increment per call would make libraries that
    // allocate a lot look slower than they are.
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, counting. Install it with `#[global_allocator]`.
pub struct CountingAllocator;

/// What this thread has done with the heap so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Allocations {
    /// Calls that asked for memory, growing a block included.
    pub count: u64,
    /// Bytes asked for and not given back. Negative if the thread freed what others took.
    pub live_bytes: i64,
}

impl Allocations {
    /// The thread's account at this moment.
    pub fn now() -> Allocations {
        Allocations { count: COUNT.get(), live_bytes: LIVE.get() }
    }

    /// What was added since an earlier moment.
    #[must_use]
    pub fn since(self, earlier: Allocations) -> Allocations {
        Allocations { count: self.count - earlier.count, live_bytes: self.live_bytes - earlier.live_bytes }
    }
}

/// Runs what belongs to the harness and not to the library measured: its allocations are not
/// counted. Bytes held still are.
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

// SAFETY: every call goes to the system's allocator unchanged; the counters are const-initialised
// thread-locals without a destructor, so touching them neither allocates nor fails.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        gave_back(layout.size());
        took(new_size);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(block, layout, new_size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        gave_back(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: CountingAllocator = CountingAllocator;

    #[test]
    fn counts_what_is_taken_and_given_back() {
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
