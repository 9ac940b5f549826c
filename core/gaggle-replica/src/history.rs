//! The values of one object that both ends of a link may build on, each under the slot of its tick.
//!
//! 32 slots; a slot holds the newest tick that fell into it. A sender names a baseline by its slot and only if the slot still
//! holds the tick that was acknowledged; a receiver only takes it if that tick is older than the packet. Then both
//! have the same value: had the receiver a newer one, the sender's slot would have it too.

use crate::pool::{Block, Pool};

/// How many slots there are.
pub(crate) const SLOTS: u32 = 32;
/// How many values are kept before room for all slots is taken: most objects rest.
const FEW: usize = 4;
/// No tick.
pub(crate) const NEVER: u32 = u32::MAX;

/// In which slot a tick falls.
#[inline]
pub(crate) const fn slot_of(tick: u32) -> u32 {
    tick % SLOTS
}

/// Where the values of one object are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum History {
    #[default]
    Empty,
    /// Any [`FEW`] slots.
    Few(Block),
    /// All slots.
    All(Block),
}

/// Room for the histories of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Histories {
    words: usize,
    few: Pool,
    all: Pool,
}

impl Histories {
    /// For values of so many words.
    pub(crate) fn new(words: usize) -> Histories {
        Histories { words, few: Pool::new(FEW * (words + 1)), all: Pool::new(SLOTS as usize * (words + 1)) }
    }

    /// Notes the value of a tick. A newer tick replaces what is in its slot, an older one does not.
    #[inline]
    pub(crate) fn put(&mut self, history: &mut History, tick: u32, value: &[i32]) {
        let value = &value[..self.words];
        match *history {
            History::All(block) => {
                put_into(self.all.get_mut(block), slot_of(tick) as usize, SLOTS as usize, tick, value);
            }
            History::Few(block) => {
                let entries = self.few.get_mut(block);
                let fits = |held: i32| held as u32 == NEVER || slot_of(held as u32) == slot_of(tick);
                // The same slot first: a tick must not be in two places.
                let place = (0..FEW)
                    .find(|&place| {
                        entries[place] as u32 != NEVER && slot_of(entries[place] as u32) == slot_of(tick)
                    })
                    .or_else(|| (0..FEW).find(|&place| fits(entries[place])));
                match place {
                    Some(place) => put_into(entries, place, FEW, tick, value),
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
        let room = self.all.get_mut(all);
        room[..SLOTS as usize].fill(NEVER as i32);
        let entries = self.few.get(few);
        for place in 0..FEW {
            let tick = entries[place] as u32;
            let value = &entries[FEW + place * self.words..][..self.words];
            put_into(room, slot_of(tick) as usize, SLOTS as usize, tick, value);
        }
        self.few.give(few);
        *history = History::All(all);
    }

    /// What is in a slot, and of which tick it is.
    #[inline]
    pub(crate) fn in_slot(&self, history: History, slot: u32) -> Option<(u32, &[i32])> {
        let (entries, places, place) = match history {
            History::Empty => return None,
            History::All(block) => (self.all.get(block), SLOTS as usize, (slot % SLOTS) as usize),
            History::Few(block) => {
                let entries = self.few.get(block);
                let is_it =
                    |&place: &usize| entries[place] as u32 != NEVER && slot_of(entries[place] as u32) == slot;
                (entries, FEW, (0..FEW).find(is_it)?)
            }
        };
        let tick = entries[place] as u32;
        (tick != NEVER).then(|| (tick, &entries[places + place * self.words..][..self.words]))
    }

    /// The value of a tick, if its slot still holds it.
    #[inline]
    pub(crate) fn at(&self, history: History, tick: u32) -> Option<&[i32]> {
        self.in_slot(history, slot_of(tick)).filter(|(held, _)| *held == tick).map(|(_, value)| value)
    }

    /// Forgets everything and gives the room back.
    pub(crate) fn clear(&mut self, history: &mut History) {
        match std::mem::take(history) {
            History::Empty => {}
            History::Few(block) => self.few.give(block),
            History::All(block) => self.all.give(block),
        }
    }
}

#[inline]
fn put_into(entries: &mut [i32], place: usize, places: usize, tick: u32, value: &[i32]) {
    let held = entries[place] as u32;
    if held == NEVER || held <= tick {
        entries[place] = tick as i32;
        entries[places + place * value.len()..][..value.len()].copy_from_slice(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::Prng;

    /// Against a plain array of 32 slots.
    #[test]
    fn few_or_all_slots_behave_alike() {
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
    fn what_is_cleared_is_used_again() {
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
