//! A map and a set of a few things, in the order of their keys: those of a match, a room or a link.
//! The standard library's trees are made for many and are many times as large once compiled, for
//! every type anew: in a page that counts.

use std::fmt::{Debug, Formatter};

/// A map for what is bounded by the people in a room: one vector, sorted by key. It iterates in the
/// order of its keys, as a `BTreeMap` does, so machines that hold the same do the same. Looking up
/// takes the logarithm of how many there are; inserting and removing move those behind, so it is
/// for hundreds and not for thousands.
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
    /// Empty.
    pub const fn new() -> Self {
        VecMap { items: Vec::new() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// All of them, lowest key first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> + ExactSizeIterator + Clone {
        self.items.iter().map(|(key, value)| (key, value))
    }

    /// The same, to change what is there.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&K, &mut V)> + ExactSizeIterator {
        self.items.iter_mut().map(|(key, value)| (&*key, value))
    }

    /// The keys, lowest first.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.items.iter().map(|(key, _)| key)
    }

    /// The values, that of the lowest key first.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.items.iter().map(|(_, value)| value)
    }

    /// The same, to change them.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> + ExactSizeIterator {
        self.items.iter_mut().map(|(_, value)| value)
    }

    /// Forgets those that are not to be kept.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.items.retain_mut(|(key, value)| keep(key, value));
    }
}

impl<K: Ord, V> VecMap<K, V> {
    fn find(&self, key: &K) -> Result<usize, usize> {
        self.items.binary_search_by(|(other, _)| other.cmp(key))
    }

    /// What is there under this key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.find(key).ok().map(|at| &self.items[at].1)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.find(key).ok().map(|at| &mut self.items[at].1)
    }

    /// Whether anything is there under this key.
    pub fn contains_key(&self, key: &K) -> bool {
        self.find(key).is_ok()
    }

    /// Puts something there; what was there before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.items[at].1, value)),
            Err(at) => {
                self.items.insert(at, (key, value));
                None
            }
        }
    }

    /// What is there, put there first if nothing is.
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

    /// Takes out what is there.
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

/// Of those with equal keys the last stays.
impl<K: Ord, V> Extend<(K, V)> for VecMap<K, V> {
    fn extend<T: IntoIterator<Item = (K, V)>>(&mut self, items: T) {
        for (key, value) in items {
            self.insert(key, value);
        }
    }
}

/// Of those with equal keys the last stays.
impl<K: Ord, V> FromIterator<(K, V)> for VecMap<K, V> {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(items: T) -> Self {
        let mut map = VecMap::new();
        map.extend(items);
        map
    }
}

/// A set for what is bounded by the people in a room: see [`VecMap`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct VecSet<K> {
    map: VecMap<K, ()>,
}

impl<K> VecSet<K> {
    /// Empty.
    pub const fn new() -> Self {
        VecSet { map: VecMap::new() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.map.clear();
    }

    /// All of them, lowest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.map.keys()
    }

    /// Forgets those that are not to be kept.
    pub fn retain(&mut self, mut keep: impl FnMut(&K) -> bool) {
        self.map.retain(|key, ()| keep(key));
    }
}

impl<K: Ord> VecSet<K> {
    /// Whether it is in the set.
    pub fn contains(&self, key: &K) -> bool {
        self.map.contains_key(key)
    }

    /// Puts it in; whether it is new there.
    pub fn insert(&mut self, key: K) -> bool {
        self.map.insert(key, ()).is_none()
    }

    /// Takes it out; whether it was there.
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
    fn a_map_of_few_does_what_the_librarys_map_does() {
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
    fn a_set_of_few_does_what_the_librarys_set_does() {
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
