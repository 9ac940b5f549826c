//! Insertion sort for short lists, with less code than the standard library's sorts.
//!
//! Pages use it: the library's sorts are compiled again for every type and several times as large.
//! Absent: long lists.

/// Sorts a short list by a key; equal keys keep their order. Quadratic, so only for lists bounded
/// by the players of a match.
///
/// ```
/// let mut scores = [("Hob", 3), ("Wren", 5), ("Ottilie", 5)];
/// gaggle_kit::insertion_sort(&mut scores, |(_, score)| std::cmp::Reverse(*score));
/// assert_eq!(scores.map(|(name, _)| name), ["Wren", "Ottilie", "Hob"]);
/// ```
pub fn insertion_sort<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && key(&items[at]) < key(&items[at - 1]) {
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prng;

    #[test]
    fn sorts_like_standard_library() {
        let mut rng = Prng::new(7);
        for count in 0..40 {
            let mut items: Vec<(u32, usize)> = (0..count).map(|nth| (rng.below(9), nth)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            insertion_sort(&mut items, |item| item.0);
            assert_eq!(items, expected);
        }
    }
}
