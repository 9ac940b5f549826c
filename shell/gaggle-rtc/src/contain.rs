//! Containment of panics: unexpected input may make str0m panic, which must end only one channel.
//!
//! Used by `channel.rs`; panic hooks ask [`is_contained`]. Absent: the contained calls.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static CONTAINING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread, at this moment, ends only one channel. For panic hooks that
/// would abort the process.
pub fn is_contained() -> bool {
    CONTAINING.get()
}

/// Runs `act`; none if it panicked, after which its data must not be used.
pub(crate) fn contain<T>(act: impl FnOnce() -> T) -> Option<T> {
    let before = CONTAINING.replace(true);
    // Unwind safe, because the data is dropped after a panic.
    let done = catch_unwind(AssertUnwindSafe(act));
    CONTAINING.set(before);
    done.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_is_contained_and_hooks_know_it() {
        assert!(!is_contained());
        assert_eq!(contain(is_contained), Some(true));
        assert_eq!(
            contain(|| contain(|| panic!("on purpose")).map_or(is_contained(), |(): ()| false)),
            Some(true)
        );
        assert!(!is_contained());
    }
}
