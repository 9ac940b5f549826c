//! Hash table from object ids to places in the store. Remote peers choose ids, so the hash is
//! salted: no peer can choose ids that all collide. Absent: objects.

use crate::ObjectId;

/// Table from ids to places. Never iterated, so that nothing depends on the salt.
#[derive(Debug, Clone)]
pub(crate) struct IdTable {
    /// Id and place; id 0 is never used and marks an empty entry.
    entries: Vec<(u64, u32)>,
    used: usize,
    salt: u64,
}

impl IdTable {
    pub(crate) fn new(salt: u64) -> IdTable {
        IdTable { entries: vec![(0, 0); 16], used: 0, salt }
    }

    #[inline]
    fn home(&self, id: u64) -> usize {
        let mixed = (id ^ self.salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ mixed >> 29).wrapping_mul(self.salt | 1) >> 32) as usize & (self.entries.len() - 1)
    }

    #[inline]
    pub(crate) fn get(&self, id: ObjectId) -> Option<u32> {
        let id = id.to_bits();
        let mut place = self.home(id);
        loop {
            match self.entries[place] {
                (0, _) => return None,
                (held, value) if held == id => return Some(value),
                _ => place = (place + 1) & (self.entries.len() - 1),
            }
        }
    }

    /// Adds an id that is not in the table.
    pub(crate) fn insert(&mut self, id: ObjectId, value: u32) {
        debug_assert!(id.to_bits() != 0 && self.get(id).is_none());
        if (self.used + 1) * 2 > self.entries.len() {
            let larger = vec![(0, 0); self.entries.len() * 2];
            for (id, value) in std::mem::replace(&mut self.entries, larger) {
                if id != 0 {
                    self.place(id, value);
                }
            }
        }
        self.place(id.to_bits(), value);
        self.used += 1;
    }

    fn place(&mut self, id: u64, value: u32) {
        let mut place = self.home(id);
        while self.entries[place].0 != 0 {
            place = (place + 1) & (self.entries.len() - 1);
        }
        self.entries[place] = (id, value);
    }

    pub(crate) fn remove(&mut self, id: ObjectId) {
        let mask = self.entries.len() - 1;
        let mut hole = self.home(id.to_bits());
        while self.entries[hole].0 != id.to_bits() {
            if self.entries[hole].0 == 0 {
                return;
            }
            hole = (hole + 1) & mask;
        }
        self.used -= 1;
        // Following entries move up unless they would come before their hash position. So no
        // markers of removed entries are needed.
        let mut place = hole;
        loop {
            place = (place + 1) & mask;
            let (other, _) = self.entries[place];
            if other == 0 {
                break;
            }
            let from_home = place.wrapping_sub(self.home(other)) & mask;
            if from_home >= place.wrapping_sub(hole) & mask {
                self.entries[hole] = self.entries[place];
                hole = place;
            }
        }
        self.entries[hole] = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::Prng;
    use std::collections::BTreeMap;

    #[test]
    fn id_table_after_random_edits_equals_map() {
        let mut random = Prng::new(9);
        for salt in [0, 1, 0xdead_beef_0bad_cafe] {
            let mut table = IdTable::new(salt);
            let mut map = BTreeMap::new();
            for _ in 0..20_000 {
                let id = ObjectId::from_bits(u64::from(random.below(800)) << 32 | 1);
                if id.to_bits() >> 32 == 0 {
                    continue;
                }
                match table.get(id) {
                    Some(_) if random.chance(1, 2) => {
                        table.remove(id);
                        map.remove(&id);
                    }
                    None => {
                        let value = random.next_u32();
                        table.insert(id, value);
                        map.insert(id, value);
                    }
                    held => assert_eq!(held, map.get(&id).copied()),
                }
            }
            assert_eq!(table.used, map.len());
            for (id, value) in &map {
                assert_eq!(table.get(*id), Some(*value));
            }
        }
    }
}
