//! What keeps a fault of the library below from ending more than the channel it happened in:
//! whatever others send may be what nobody has thought of, and one channel is all they may end by
//! it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static CONTAINING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread, right now, ends one channel and nothing else. For panic hooks
/// that end the process otherwise.
pub fn is_contained() -> bool {
    CONTAINING.get()
}

/// What came out of it; none if it panicked, after which whatever it worked on is of no use.
pub(crate) fn contain<T>(act: impl FnOnce() -> T) -> Option<T> {
    let before = CONTAINING.replace(true);
    // Nobody looks at what is left of it.
    let done = catch_unwind(AssertUnwindSafe(act));
    CONTAINING.set(before);
    done.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_here_and_hooks_know_it() {
        assert!(!is_contained());
        assert_eq!(contain(is_contained), Some(true));
        assert_eq!(
            contain(|| contain(|| panic!("on purpose")).map_or(is_contained(), |(): ()| false)),
            Some(true)
        );
        assert!(!is_contained());
    }
}
