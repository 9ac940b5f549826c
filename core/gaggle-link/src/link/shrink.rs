//! Decision when to release the memory of a buffer that grew for something large.
//!
//! Used by streams. Absent: the buffers.

/// Buffers up to this size are kept.
const KEPT_BYTES: usize = 64 * 1024;

/// A larger one is released after this many fills that did not need it.
const CALM_MAX: u8 = 64;

/// Watches how full a buffer gets.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shrink {
    peak_bytes: usize,
    calm: u8,
}

impl Shrink {
    pub(crate) fn filled(&mut self, bytes: usize) {
        self.peak_bytes = self.peak_bytes.max(bytes);
    }

    /// The buffer is empty: returns a smaller capacity to shrink to, if any.
    pub(crate) fn emptied(&mut self, capacity: usize) -> Option<usize> {
        let needed = std::mem::take(&mut self.peak_bytes);
        if capacity <= KEPT_BYTES || needed > capacity / 4 {
            self.calm = 0;
            return None;
        }
        self.calm += 1;
        (self.calm >= CALM_MAX).then(|| {
            self.calm = 0;
            KEPT_BYTES.max(needed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_unused_buffer_is_released() {
        let mut shrink = Shrink::default();
        assert!((0..1_000).all(|_| shrink.emptied(KEPT_BYTES).is_none()));
        for round in 0..1_000 {
            // Needed now and then: kept.
            shrink.filled(if round % 50 == 0 { 500_000 } else { 1_000 });
            assert_eq!(shrink.emptied(1_000_000), None);
        }
        let calm = (0..).take_while(|_| shrink.emptied(1_000_000).is_none()).count();
        assert!(calm < 64, "{calm}");
    }
}
