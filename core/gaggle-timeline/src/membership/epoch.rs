//! Counter of changes of a membership machine.
//!
//! The machine advances it, values derived from the machine compare it. Absent: what changed.

use std::hash::{Hash, Hasher};

/// Counts changes, so that values derived from this machine know when they are stale. It does not
/// take part in comparisons of machines.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Epoch(u32);

impl Epoch {
    pub(super) fn advance(&mut self) {
        self.0 = self.0.wrapping_add(1);
    }

    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

impl PartialEq for Epoch {
    fn eq(&self, _: &Epoch) -> bool {
        true
    }
}

impl Eq for Epoch {}

impl Hash for Epoch {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
