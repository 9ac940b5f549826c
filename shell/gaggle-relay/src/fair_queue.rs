//! Who is served next where many wait: one of each network after the other, so that nobody waits
//! for whoever brings much.

use std::collections::{BTreeMap, VecDeque};

/// What waits, by the network it came from, each network's in order. Bounded: when it is full, the
/// oldest goes of whoever has most.
#[derive(Debug)]
pub(crate) struct FairQueue<T> {
    networks: BTreeMap<u64, VecDeque<T>>,
    /// Networks of which something waits, the next one first.
    order: VecDeque<u64>,
    waiting: usize,
    waiting_max: usize,
    /// Queues to use again.
    spare: Vec<VecDeque<T>>,
}

impl<T> FairQueue<T> {
    pub(crate) fn new(waiting_max: usize) -> FairQueue<T> {
        let (networks, order) = (BTreeMap::new(), VecDeque::new());
        FairQueue { networks, order, waiting: 0, waiting_max, spare: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Lets something wait. What is dropped for it, if there is no room.
    pub(crate) fn push(&mut self, network: u64, item: T) -> Option<T> {
        let dropped = if self.waiting >= self.waiting_max { self.drop_of_most() } else { None };
        if !self.networks.contains_key(&network) {
            self.order.push_back(network);
        }
        let spare = &mut self.spare;
        self.networks.entry(network).or_insert_with(|| spare.pop().unwrap_or_default()).push_back(item);
        self.waiting += 1;
        dropped
    }

    /// The next one's, and which network's it is.
    pub(crate) fn pop(&mut self) -> Option<(u64, T)> {
        let network = self.order.pop_front()?;
        let item = self.take_first(network)?;
        if self.networks.contains_key(&network) {
            self.order.push_back(network);
        }
        Some((network, item))
    }

    fn drop_of_most(&mut self) -> Option<T> {
        let most = self.networks.iter().max_by_key(|(_, items)| items.len()).map(|(network, _)| *network)?;
        let dropped = self.take_first(most);
        if !self.networks.contains_key(&most) {
            self.order.retain(|network| *network != most);
        }
        dropped
    }

    /// Takes the oldest of a network, and forgets that if it was its last.
    fn take_first(&mut self, network: u64) -> Option<T> {
        let items = self.networks.get_mut(&network)?;
        let item = items.pop_front()?;
        self.waiting -= 1;
        if items.is_empty() {
            self.spare.extend(self.networks.remove(&network));
            self.spare.truncate(SPARE_MAX);
        }
        Some(item)
    }
}

/// As many as are ever used at a time where nobody means it ill.
const SPARE_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn all(turns: &mut FairQueue<u32>) -> Vec<(u64, u32)> {
        std::iter::from_fn(|| turns.pop()).collect()
    }

    #[test]
    fn who_brings_little_waits_for_nobody_who_brings_much() {
        let mut turns = FairQueue::new(1_000);
        (0..500).for_each(|nth| assert_eq!(turns.push(1, nth), None));
        turns.push(2, 7);
        turns.push(3, 8);
        turns.push(2, 9);
        let served = all(&mut turns);
        assert_eq!(served[..5], [(1, 0), (2, 7), (3, 8), (1, 1), (2, 9)]);
        assert!(served[5..].iter().map(|(_, nth)| *nth).eq(2..500), "each network's stay in order");
        assert!(turns.is_empty());
    }

    #[test]
    fn when_it_is_full_the_oldest_goes_of_whoever_has_most() {
        let mut turns = FairQueue::new(10);
        turns.push(2, 100);
        let dropped: Vec<u32> = (0..100).filter_map(|nth| turns.push(1, nth)).collect();
        assert!(dropped.into_iter().eq(0..91));
        assert_eq!(turns.push(3, 200), Some(91));
        let served = all(&mut turns);
        assert_eq!((served.len(), turns.waiting), (10, 0));
        assert!(served.contains(&(2, 100)) && served.contains(&(3, 200)), "{served:?}");
    }

    #[test]
    fn a_flood_of_networks_leaves_nothing_behind() {
        let mut turns = FairQueue::new(1_000);
        let dropped = (0..10_000).filter(|nth| turns.push(*nth, 1).is_some()).count();
        assert_eq!((dropped, turns.networks.len(), turns.order.len()), (9_000, 1_000, 1_000));
        assert_eq!(all(&mut turns).len(), 1_000);
        assert!(turns.networks.is_empty() && turns.order.is_empty() && turns.spare.len() <= SPARE_MAX);
    }
}
