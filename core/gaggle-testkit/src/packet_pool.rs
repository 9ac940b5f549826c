//! Messages on their way between numbered peers, without time: the harness chooses which one
//! arrives.
//!
//! Harnesses that try many orders call it, at random or exhaustively. Absent: time, content of
//! messages, links. Randomness is an argument.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gaggle_kit::Prng;

/// Messages that may arrive in any order, and streams of messages that keep their order.
///
/// ```
/// use gaggle_kit::Prng;
/// use gaggle_testkit::PacketPool;
///
/// let (mut net, mut random) = (PacketPool::default(), Prng::new(7));
/// (0..9).for_each(|number| net.send(0, 1, number));
/// let mut numbers: Vec<i32> =
///     std::iter::from_fn(|| net.take_any(&mut random)).map(|(_, _, number)| number).collect();
/// assert!(!numbers.is_sorted());
/// numbers.sort();
/// assert!(numbers.into_iter().eq(0..9));
/// ```
#[derive(Debug, Clone)]
pub struct PacketPool<M> {
    packets: Vec<(usize, usize, M)>,
    streams: BTreeMap<(usize, usize), VecDeque<M>>,
    cut: BTreeSet<(usize, usize)>,
}

impl<M> Default for PacketPool<M> {
    fn default() -> PacketPool<M> {
        PacketPool { packets: Vec::new(), streams: BTreeMap::new(), cut: BTreeSet::new() }
    }
}

impl<M> PacketPool<M> {
    /// Puts a message on its way.
    pub fn send(&mut self, from: usize, to: usize, message: M) {
        self.packets.push((from, to, message));
    }

    /// Number of messages on their way, without those in streams.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether no message is on its way outside a stream.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Removes and returns the message at this index; the last one takes its place.
    ///
    /// # Panics
    ///
    /// If there are fewer messages.
    pub fn take(&mut self, nth: usize) -> (usize, usize, M) {
        self.packets.swap_remove(nth)
    }

    /// A copy of the message at this index, as made by a network that duplicates it.
    ///
    /// # Panics
    ///
    /// If there are fewer messages.
    pub fn copy(&self, nth: usize) -> (usize, usize, M)
    where
        M: Clone,
    {
        self.packets[nth].clone()
    }

    /// Removes and returns a random message, each equally likely; none if there are none.
    pub fn take_any(&mut self, random: &mut Prng) -> Option<(usize, usize, M)> {
        let count = u32::try_from(self.packets.len()).ok().filter(|count| *count > 0)?;
        Some(self.take(random.below(count) as usize))
    }

    /// Removes and returns the oldest message that passes the test; the others keep their order.
    pub fn take_first(&mut self, is: impl Fn(usize, usize, &M) -> bool) -> Option<(usize, usize, M)> {
        self.position(is).map(|nth| self.packets.remove(nth))
    }

    /// Index of the oldest message that passes the test.
    pub fn position(&self, is: impl Fn(usize, usize, &M) -> bool) -> Option<usize> {
        self.packets.iter().position(|(from, to, message)| is(*from, *to, message))
    }

    /// Removes and returns all messages outside streams; streams and cuts stay.
    #[must_use]
    pub fn take_all(&mut self) -> PacketPool<M> {
        PacketPool { packets: std::mem::take(&mut self.packets), ..PacketPool::default() }
    }

    /// Everything on its way as (sender, receiver, message).
    pub fn iter(&self) -> impl Iterator<Item = &(usize, usize, M)> {
        self.packets.iter()
    }

    /// Drops messages that fail the test.
    pub fn retain(&mut self, keep: impl FnMut(&(usize, usize, M)) -> bool) {
        self.packets.retain(keep);
    }

    /// Drops the newest messages beyond this count.
    pub fn truncate(&mut self, count: usize) {
        self.packets.truncate(count);
    }

    /// Drops all messages outside streams.
    pub fn clear(&mut self) {
        self.packets.clear();
    }

    /// Appends a message to the stream of its direction.
    pub fn send_ordered(&mut self, from: usize, to: usize, message: M) {
        self.streams.entry((from, to)).or_default().push_back(message);
    }

    /// Removes and returns the oldest message of a stream.
    pub fn take_ordered(&mut self, from: usize, to: usize) -> Option<M> {
        self.streams.get_mut(&(from, to)).and_then(VecDeque::pop_front)
    }

    /// Directions with a stream, even an empty one, with the number of its messages.
    pub fn streams(&self) -> impl Iterator<Item = ((usize, usize), usize)> {
        self.streams.iter().map(|(direction, queue)| (*direction, queue.len()))
    }

    /// Drops the streams of directions that fail the test.
    pub fn retain_streams(&mut self, mut keep: impl FnMut(usize, usize) -> bool) {
        self.streams.retain(|(from, to), _| keep(*from, *to));
    }

    /// Cuts or opens one direction. The harness asks [`PacketPool::is_cut`] before it delivers.
    pub fn set_cut(&mut self, from: usize, to: usize, is_cut: bool) {
        if is_cut {
            self.cut.insert((from, to));
        } else {
            self.cut.remove(&(from, to));
        }
    }

    /// Cuts both directions between the peers in this set and the others, and opens all other
    /// directions.
    pub fn split(&mut self, peers: usize, is_inside: impl Fn(usize) -> bool) {
        self.heal();
        for from in 0..peers {
            for to in (0..peers).filter(|to| is_inside(from) != is_inside(*to)) {
                self.cut.insert((from, to));
            }
        }
    }

    /// Opens all directions.
    pub fn heal(&mut self) {
        self.cut.clear();
    }

    /// Whether the direction from one to the other is cut.
    pub fn is_cut(&self, from: usize, to: usize) -> bool {
        self.cut.contains(&(from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_keeps_order_and_is_no_part_of_pool() {
        let mut net = PacketPool::default();
        net.send(0, 1, 'x');
        "abc".chars().for_each(|letter| net.send_ordered(0, 1, letter));
        assert_eq!((net.len(), net.streams().next()), (1, Some(((0, 1), 3))));
        let taken: String = std::iter::from_fn(|| net.take_ordered(0, 1)).collect();
        assert_eq!((taken.as_str(), net.take_ordered(1, 0)), ("abc", None));
        assert_eq!(net.streams().next(), Some(((0, 1), 0)));
        net.retain_streams(|from, _| from != 0);
        assert_eq!((net.streams().count(), net.len()), (0, 1));
    }

    #[test]
    fn take_first_keeps_order_of_others() {
        let mut net = PacketPool::default();
        (0..6).for_each(|number| net.send(number % 2, 2, number));
        assert_eq!(net.take_first(|from, _, _| from == 1), Some((1, 2, 1)));
        assert_eq!(net.take_first(|from, _, _| from == 7), None);
        assert!(net.iter().map(|(.., number)| *number).eq([0, 2, 3, 4, 5]));
        assert_eq!(net.take(0), (0, 2, 0));
        assert!(net.iter().map(|(.., number)| *number).eq([5, 2, 3, 4]));
    }

    #[test]
    fn split_cuts_between_halves_only() {
        let mut net = PacketPool::<()>::default();
        net.set_cut(0, 1, true);
        net.split(4, |peer| peer < 2);
        let cut: Vec<(usize, usize)> =
            (0..4).flat_map(|a| (0..4).map(move |b| (a, b))).filter(|(a, b)| net.is_cut(*a, *b)).collect();
        assert_eq!(cut, [(0, 2), (0, 3), (1, 2), (1, 3), (2, 0), (2, 1), (3, 0), (3, 1)]);
        net.heal();
        assert!(!net.is_cut(0, 2));
    }
}
