//! Concurrency limits, in total and by key.
//!
//! The lobby counts connections with it, the relay sockets and members, the server HTTP
//! connections. Absent: what is counted, for how long.

use std::collections::BTreeMap;

use super::LimitKey;

/// Acquisitions held at a time, in total and by key. A key with several shares may hold as many
/// times the limit of one.
#[derive(Debug, Clone)]
pub struct ConcurrencyLimit<K> {
    total: usize,
    held: BTreeMap<K, usize>,
}

impl<K> Default for ConcurrencyLimit<K> {
    fn default() -> ConcurrencyLimit<K> {
        ConcurrencyLimit { total: 0, held: BTreeMap::new() }
    }
}

impl<K: LimitKey> ConcurrencyLimit<K> {
    /// Acquires one for all of these keys, unless a limit is reached in total or by one of them.
    #[must_use]
    pub fn try_acquire<I>(&mut self, keys: I, total_max: usize, per_key_max: usize) -> bool
    where
        I: Iterator<Item = K> + Clone,
    {
        let is_full = |key: K| self.held(key) >= per_key_max.saturating_mul(key.shares() as usize);
        if self.total >= total_max || keys.clone().any(is_full) {
            return false;
        }
        self.total += 1;
        keys.for_each(|key| *self.held.entry(key).or_default() += 1);
        true
    }

    /// Releases what [`ConcurrencyLimit::try_acquire`] acquired for these keys.
    pub fn release(&mut self, keys: impl Iterator<Item = K>) {
        self.total = self.total.saturating_sub(1);
        for key in keys {
            match self.held.get_mut(&key) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(self.held.remove(&key)),
            }
        }
    }

    /// Number held by this key.
    pub fn held(&self, key: K) -> usize {
        self.held.get(&key).copied().unwrap_or(0)
    }

    /// Number held in total.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Whether none is held.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::iter::once;

    use super::*;

    #[test]
    fn released_key_leaves_nothing_behind() {
        let mut places = ConcurrencyLimit::<u64>::default();
        let mut take = |key: u64| places.try_acquire(once(key), usize::MAX, 10);
        assert_eq!((0..100).filter(|_| take(7)).count(), 10);
        assert!(take(8), "others are not affected");
        places.release(once(7));
        assert!(places.try_acquire(once(7), usize::MAX, 10) && !places.try_acquire(once(7), usize::MAX, 10));
        (0..10).for_each(|_| places.release(once(7)));
        places.release(once(8));
        assert!(places.is_empty() && places.total() == 0);
    }

    #[test]
    fn total_is_bounded_with_any_keys() {
        let mut places = ConcurrencyLimit::<u64>::default();
        assert_eq!((0..100).filter(|key| places.try_acquire(once(*key), 30, 10)).count(), 30);
        assert_eq!((places.total(), places.held(29), places.held(30)), (30, 1, 0));
        places.release(once(3));
        assert!(places.try_acquire(once(99), 30, 10) && !places.try_acquire(once(98), 30, 10));
    }

    #[test]
    fn rejected_acquisition_holds_nothing() {
        let mut places = ConcurrencyLimit::<u64>::default();
        assert!(places.try_acquire([1, 2].into_iter(), 10, 1));
        assert!(!places.try_acquire([2, 3].into_iter(), 10, 1));
        assert_eq!((places.held(3), places.total()), (0, 1));
    }
}
