//! Map and set as sorted vectors, for few entries, with less code than the standard library's
//! trees.
//!
//! Pages use them: the library's trees are compiled again for every type and several times as
//! large. Absent: thousands of entries.

use std::fmt::{Debug, Formatter};

/// A map bounded by the players of a room: one vector, sorted by key. It iterates in key order like
/// a `BTreeMap`, so equal peers do the same. Lookup is logarithmic; insertion and removal move the
/// entries behind, so it is for hundreds of entries, not thousands.
///
/// ```
/// let mut ages = gaggle_kit::VecMap::new();
/// ages.insert("Wren", 5);
/// ages.insert("Hob", 3);
/// *ages.get_or_insert_with("Hob", || 0) += 1;
/// assert_eq!(ages.iter().collect::<Vec<_>>(), [(&"Hob", &4), (&"Wren", &5)]);
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct VecMap<K, V> {
    items: Vec<(K, V)>,
}

impl<K, V> VecMap<K, V> {
    /// An empty map.
    pub const fn new() -> Self {
        VecMap { items: Vec::new() }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// Entries, lowest key first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> + ExactSizeIterator + Clone {
        self.items.iter().map(|(key, value)| (key, value))
    }

    /// Entries with mutable values, lowest key first.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&K, &mut V)> + ExactSizeIterator {
        self.items.iter_mut().map(|(key, value)| (&*key, value))
    }

    /// Keys, lowest first.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.items.iter().map(|(key, _)| key)
    }

    /// Values, in key order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.items.iter().map(|(_, value)| value)
    }

    /// Mutable values, in key order.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> + ExactSizeIterator {
        self.items.iter_mut().map(|(_, value)| value)
    }

    /// Removes entries for which `keep` returns false.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.items.retain_mut(|(key, value)| keep(key, value));
    }
}

impl<K: Ord, V> VecMap<K, V> {
    fn find(&self, key: &K) -> Result<usize, usize> {
        self.items.binary_search_by(|(other, _)| other.cmp(key))
    }

    /// Value of this key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.find(key).ok().map(|at| &self.items[at].1)
    }

    /// Mutable value of this key.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.find(key).ok().map(|at| &mut self.items[at].1)
    }

    /// Whether this key has a value.
    pub fn contains_key(&self, key: &K) -> bool {
        self.find(key).is_ok()
    }

    /// Sets the value of a key and returns the previous one.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.items[at].1, value)),
            Err(at) => {
                self.items.insert(at, (key, value));
                None
            }
        }
    }

    /// Value of a key, inserted first if missing.
    pub fn get_or_insert_with(&mut self, key: K, value: impl FnOnce() -> V) -> &mut V {
        let at = match self.find(&key) {
            Ok(at) => at,
            Err(at) => {
                self.items.insert(at, (key, value()));
                at
            }
        };
        &mut self.items[at].1
    }

    /// Removes a key and returns its value.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.find(key).ok().map(|at| self.items.remove(at).1)
    }
}

impl<K, V> Default for VecMap<K, V> {
    fn default() -> Self {
        VecMap::new()
    }
}

impl<K: Debug, V: Debug> Debug for VecMap<K, V> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Of equal keys the last one counts.
impl<K: Ord, V> Extend<(K, V)> for VecMap<K, V> {
    fn extend<T: IntoIterator<Item = (K, V)>>(&mut self, items: T) {
        for (key, value) in items {
            self.insert(key, value);
        }
    }
}

/// Of equal keys the last one counts.
impl<K: Ord, V> FromIterator<(K, V)> for VecMap<K, V> {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(items: T) -> Self {
        let mut map = VecMap::new();
        map.extend(items);
        map
    }
}

/// A set bounded by the players of a room: see [`VecMap`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct VecSet<K> {
    map: VecMap<K, ()>,
}

impl<K> VecSet<K> {
    /// An empty set.
    pub const fn new() -> Self {
        VecSet { map: VecMap::new() }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Removes all elements.
    pub fn clear(&mut self) {
        self.map.clear();
    }

    /// Elements in ascending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.map.keys()
    }

    /// Removes elements for which `keep` returns false.
    pub fn retain(&mut self, mut keep: impl FnMut(&K) -> bool) {
        self.map.retain(|key, ()| keep(key));
    }
}

impl<K: Ord> VecSet<K> {
    /// Whether it is in the set.
    pub fn contains(&self, key: &K) -> bool {
        self.map.contains_key(key)
    }

    /// Adds an element; true if it is new.
    pub fn insert(&mut self, key: K) -> bool {
        self.map.insert(key, ()).is_none()
    }

    /// Removes an element; true if it was there.
    pub fn remove(&mut self, key: &K) -> bool {
        self.map.remove(key).is_some()
    }
}

impl<K> Default for VecSet<K> {
    fn default() -> Self {
        VecSet::new()
    }
}

impl<K: Debug> Debug for VecSet<K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<K: Ord> FromIterator<K> for VecSet<K> {
    fn from_iter<T: IntoIterator<Item = K>>(items: T) -> Self {
        VecSet { map: items.into_iter().map(|key| (key, ())).collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::Prng;

    #[test]
    fn map_behaves_like_standard_library_map() {
        let mut rng = Prng::new(7);
        let (mut few, mut many) = (VecMap::new(), BTreeMap::new());
        for step in 0..4_000 {
            let key = rng.below(24);
            match rng.below(8) {
                0..3 => assert_eq!(few.insert(key, step), many.insert(key, step)),
                3..5 => assert_eq!(few.remove(&key), many.remove(&key)),
                5 => {
                    let added = *few.get_or_insert_with(key, || step);
                    assert_eq!(added, *many.entry(key).or_insert(step));
                }
                6 => {
                    few.values_mut().for_each(|value| *value += 1);
                    many.values_mut().for_each(|value| *value += 1);
                    assert_eq!(few.get_mut(&key), many.get_mut(&key));
                }
                _ if step % 50 == 0 => {
                    few.retain(|other, _| other % 3 != key % 3);
                    many.retain(|other, _| other % 3 != key % 3);
                }
                _ => assert_eq!(few.get(&key), many.get(&key)),
            }
            assert_eq!(few.contains_key(&key), many.contains_key(&key));
            assert!(few.iter().eq(many.iter()) && few.keys().eq(many.keys()));
            assert_eq!((few.len(), format!("{few:?}")), (many.len(), format!("{many:?}")));
        }
        assert!(few.len() > 4, "it was never full: {few:?}");
    }

    #[test]
    fn set_behaves_like_standard_library_set() {
        let mut rng = Prng::new(8);
        let (mut few, mut many) = (VecSet::new(), BTreeSet::new());
        for _ in 0..2_000 {
            let key = rng.below(16);
            match rng.below(2) {
                0 => assert_eq!(few.insert(key), many.insert(key)),
                _ => assert_eq!(few.remove(&key), many.remove(&key)),
            }
            assert_eq!(few.contains(&key), many.contains(&key));
            assert!(few.iter().eq(many.iter()));
        }
        few.retain(|key| *key < 8);
        many.retain(|key| *key < 8);
        assert_eq!(format!("{few:?}"), format!("{many:?}"));
        assert_eq!(few, many.into_iter().rev().collect());
    }
}
