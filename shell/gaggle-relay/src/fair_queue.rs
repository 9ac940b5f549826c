//! Bounded queue that serves networks in turn, so that heavy ones do not delay others.
//!
//! The UDP port queues datagrams of both directions in it. Absent: the queued items.

use std::collections::{BTreeMap, VecDeque};

/// Items by network, each network's in order. When full, the oldest item of the network with most
/// is dropped.
#[derive(Debug)]
pub(crate) struct FairQueue<T> {
    networks: BTreeMap<u64, VecDeque<T>>,
    /// Networks with items, the next one first.
    order: VecDeque<u64>,
    waiting: usize,
    waiting_max: usize,
    /// Empty queues for reuse.
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

    /// Adds an item. Returns the item dropped for it, if the queue was full.
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

    /// Removes the next item, with its network.
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

    /// Removes the oldest item of a network, and the network with its last.
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

/// Empty queues kept; more than ordinary traffic uses.
const SPARE_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn all(turns: &mut FairQueue<u32>) -> Vec<(u64, u32)> {
        std::iter::from_fn(|| turns.pop()).collect()
    }

    #[test]
    fn light_network_does_not_wait_for_heavy_one() {
        let mut turns = FairQueue::new(1_000);
        (0..500).for_each(|nth| assert_eq!(turns.push(1, nth), None));
        turns.push(2, 7);
        turns.push(3, 8);
        turns.push(2, 9);
        let served = all(&mut turns);
        assert_eq!(served[..5], [(1, 0), (2, 7), (3, 8), (1, 1), (2, 9)]);
        assert!(served[5..].iter().map(|(_, nth)| *nth).eq(2..500), "items of one network stay in order");
        assert!(turns.is_empty());
    }

    #[test]
    fn full_queue_drops_oldest_of_heaviest_network() {
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
    fn flood_of_networks_leaves_nothing_behind() {
        let mut turns = FairQueue::new(1_000);
        let dropped = (0..10_000).filter(|nth| turns.push(*nth, 1).is_some()).count();
        assert_eq!((dropped, turns.networks.len(), turns.order.len()), (9_000, 1_000, 1_000));
        assert_eq!(all(&mut turns).len(), 1_000);
        assert!(turns.networks.is_empty() && turns.order.is_empty() && turns.spare.len() <= SPARE_MAX);
    }
}
