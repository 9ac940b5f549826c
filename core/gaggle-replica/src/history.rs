//! Values of one object that both ends of a link may use as baselines, by tick.
//!
//! Of 32 slots each holds the newest tick that fell into it. A sender refers to an acknowledged
//! tick by its slot while the slot still holds it; a receiver accepts only ticks older than the
//! packet, so both have the same value. Absent: packets, which ticks were acknowledged.

use crate::pool::{Block, Pool};

/// Number of slots of a history.
pub(crate) const SLOTS: u32 = 32;
/// Values kept before room for all slots is allocated: most objects rest.
const FEW: usize = 4;
/// Marks an empty slot.
pub(crate) const NEVER: u32 = u32::MAX;

/// Slot of a tick.
#[inline]
pub(crate) const fn slot_of(tick: u32) -> u32 {
    tick % SLOTS
}

/// Place of one object's values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum History {
    #[default]
    Empty,
    /// Any [`FEW`] slots.
    Few(Block),
    /// Room for all slots.
    All(Block),
}

/// Storage for the histories of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Histories {
    words: usize,
    few: Pool,
    all: Pages,
}

/// Objects whose slots are stored together.
const PAGE: usize = 16;

/// All slots of many objects. Values of neighboring objects in one tick are stored side by side,
/// because packets are written and read in this order: otherwise most of the time is spent waiting
/// for memory.
#[derive(Debug, Clone)]
struct Pages {
    /// Words of an entry: its tick and its value.
    words: usize,
    entries: Vec<i32>,
    given: usize,
    free: Vec<Block>,
}

impl Pages {
    fn new(value_words: usize) -> Pages {
        Pages { words: value_words + 1, entries: Vec::new(), given: 0, free: Vec::new() }
    }

    /// A block whose slots are empty.
    fn take(&mut self) -> Block {
        let block = self.free.pop().unwrap_or_else(|| {
            if self.given.is_multiple_of(PAGE) {
                self.entries.resize(self.entries.len() + SLOTS as usize * PAGE * self.words, 0);
            }
            self.given += 1;
            self.given as Block - 1
        });
        for slot in 0..SLOTS {
            self.entry_mut(block, slot)[0] = NEVER as i32;
        }
        block
    }

    fn give(&mut self, block: Block) {
        self.free.push(block);
    }

    #[inline]
    fn start(&self, block: Block, slot: u32) -> usize {
        let (page, row) = (block as usize / PAGE, block as usize % PAGE);
        ((page * SLOTS as usize + (slot % SLOTS) as usize) * PAGE + row) * self.words
    }

    #[inline]
    fn entry(&self, block: Block, slot: u32) -> &[i32] {
        &self.entries[self.start(block, slot)..][..self.words]
    }

    #[inline]
    fn entry_mut(&mut self, block: Block, slot: u32) -> &mut [i32] {
        let start = self.start(block, slot);
        &mut self.entries[start..][..self.words]
    }

    #[inline]
    fn put(&mut self, block: Block, tick: u32, value: &[i32]) {
        let entry = self.entry_mut(block, slot_of(tick));
        let held = entry[0] as u32;
        if held == NEVER || held <= tick {
            entry[0] = tick as i32;
            entry[1..].copy_from_slice(value);
        }
    }
}

impl Histories {
    /// Storage for values of `words` words.
    pub(crate) fn new(words: usize) -> Histories {
        Histories { words, few: Pool::new(FEW * (words + 1)), all: Pages::new(words) }
    }

    /// Stores the value of a tick. A newer tick replaces what is in its slot, an older one does
    /// not.
    #[inline]
    pub(crate) fn put(&mut self, history: &mut History, tick: u32, value: &[i32]) {
        let value = &value[..self.words];
        match *history {
            History::All(block) => self.all.put(block, tick, value),
            History::Few(block) => {
                let entries = self.few.get_mut(block);
                let fits = |held: i32| held as u32 == NEVER || slot_of(held as u32) == slot_of(tick);
                // The same slot first: a tick must not be stored twice.
                let place = (0..FEW)
                    .find(|&place| {
                        entries[place] as u32 != NEVER && slot_of(entries[place] as u32) == slot_of(tick)
                    })
                    .or_else(|| (0..FEW).find(|&place| fits(entries[place])));
                match place {
                    Some(place) => put_into(entries, place, tick, value),
                    None => {
                        self.grow(history, block);
                        self.put(history, tick, value);
                    }
                }
            }
            History::Empty => {
                let block = self.few.take();
                self.few.get_mut(block)[..FEW].fill(NEVER as i32);
                *history = History::Few(block);
                self.put(history, tick, value);
            }
        }
    }

    fn grow(&mut self, history: &mut History, few: Block) {
        let all = self.all.take();
        let entries = self.few.get(few);
        for place in 0..FEW {
            let value = &entries[FEW + place * self.words..][..self.words];
            self.all.put(all, entries[place] as u32, value);
        }
        self.few.give(few);
        *history = History::All(all);
    }

    /// Value in a slot, with its tick.
    #[inline]
    pub(crate) fn in_slot(&self, history: History, slot: u32) -> Option<(u32, &[i32])> {
        match history {
            History::Empty => None,
            History::All(block) => {
                let (tick, value) = self.all.entry(block, slot).split_first()?;
                (*tick as u32 != NEVER).then_some((*tick as u32, value))
            }
            History::Few(block) => {
                let entries = self.few.get(block);
                let is_it =
                    |&place: &usize| entries[place] as u32 != NEVER && slot_of(entries[place] as u32) == slot;
                let place = (0..FEW).find(is_it)?;
                Some((entries[place] as u32, &entries[FEW + place * self.words..][..self.words]))
            }
        }
    }

    /// Value of a tick, if its slot still holds it.
    #[inline]
    pub(crate) fn at(&self, history: History, tick: u32) -> Option<&[i32]> {
        self.in_slot(history, slot_of(tick)).filter(|(held, _)| *held == tick).map(|(_, value)| value)
    }

    /// Drops all values and frees their storage.
    pub(crate) fn clear(&mut self, history: &mut History) {
        match std::mem::take(history) {
            History::Empty => {}
            History::Few(block) => self.few.give(block),
            History::All(block) => self.all.give(block),
        }
    }
}

#[inline]
fn put_into(entries: &mut [i32], place: usize, tick: u32, value: &[i32]) {
    let held = entries[place] as u32;
    if held == NEVER || held <= tick {
        entries[place] = tick as i32;
        entries[FEW + place * value.len()..][..value.len()].copy_from_slice(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::Prng;

    /// Compares with a plain array of 32 slots.
    #[test]
    fn history_with_few_or_all_slots_behaves_like_array() {
        let mut random = Prng::new(5);
        for _ in 0..300 {
            let mut histories = Histories::new(2);
            let mut history = History::Empty;
            let mut plain: [Option<(u32, [i32; 2])>; 32] = [None; 32];
            let spread = random.below(60) + 1;
            for _ in 0..random.below(60) {
                let tick = random.below(spread);
                let value = [random.next_u32() as i32, tick as i32];
                histories.put(&mut history, tick, &value);
                let slot = &mut plain[(tick % 32) as usize];
                if slot.is_none_or(|(held, _)| held <= tick) {
                    *slot = Some((tick, value));
                }
                for slot in 0..32 {
                    let held =
                        histories.in_slot(history, slot).map(|(tick, value)| (tick, [value[0], value[1]]));
                    assert_eq!(held, plain[slot as usize]);
                }
            }
        }
    }

    #[test]
    fn cleared_history_is_used_again() {
        let mut histories = Histories::new(1);
        let mut history = History::Empty;
        for tick in 0..40 {
            histories.put(&mut history, tick, &[tick as i32]);
        }
        assert_eq!(histories.at(history, 7), None, "39 took its slot");
        assert_eq!(histories.at(history, 39), Some(&[39][..]));
        let before = history;
        histories.clear(&mut history);
        assert_eq!(histories.in_slot(history, 7), None);
        for tick in 0..40 {
            histories.put(&mut history, tick, &[0]);
        }
        assert_eq!(history, before);
    }
}
