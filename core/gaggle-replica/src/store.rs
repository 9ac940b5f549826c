//! All objects this machine has heard of, with the record and the value the world has for each.
//!
//! Knows nothing of links and decides nothing: who may change an object is `session/`.

use gaggle_kit::{BitWriter, BufferFull, Micros, PeerId};

use crate::history::{Histories, History, NEVER};
use crate::id_table::IdTable;
use crate::layout::Layout;
use crate::pool::{Block, Pool};
use crate::version::{Record, Version};
use crate::{KindOptions, Kinds, ObjectId};

/// A place in the store. Used again after its object is forgotten.
pub(crate) type ObjectIndex = u32;

/// One object. What is looked at in every update comes first and together, because memory is
/// fetched in lines of 64 bytes.
#[derive(Debug, Clone)]
#[repr(C)]
pub(crate) struct Object {
    /// What the world has; none if records of it were only refused so far.
    pub(crate) record: Option<Record>,
    /// The value, in the pool of the record's kind.
    value: Block,
    /// Values told under our name, for differences.
    pub(crate) history: History,
    /// Changes with everything that has to be told anew in full: the claim and what comes with it,
    /// and for somebody else's record the version.
    pub(crate) stamp: u32,
    /// The tick of our newest value.
    pub(crate) captured: u32,
    /// Changes with what is told only when the object is introduced.
    pub(crate) identity: u16,
    /// Our value changed since the last tick.
    pub(crate) dirty: bool,
    /// Without a rightful holder.
    pub(crate) orphan: bool,
    /// On the session's list of those.
    pub(crate) stray_listed: bool,
    /// And it is ours to take.
    pub(crate) inheriting: bool,
    /// On the session's list of deleted objects.
    pub(crate) buried: bool,
    /// Nobody tells us of it any more, although it exists.
    pub(crate) hidden: bool,
    pub(crate) id: ObjectId,
    /// When the value last changed.
    pub(crate) changed_at: Micros,
    /// The highest hold and seq ever seen.
    pub(crate) top: (u32, u32),
    /// Since when it is without a rightful holder.
    pub(crate) stray_since: Micros,
    /// When the claim last changed.
    pub(crate) claimed_at: Micros,
    /// When this machine last claimed it; zero if never.
    pub(crate) claimed_here: Micros,
    /// By what it was shown wrongly, and when.
    pub(crate) error: Option<(Block, Micros)>,
    /// How many links have it in their tables.
    pub(crate) mentions: u32,
    /// How many links are owed its record.
    pub(crate) owed: u32,
    /// The version somebody says a present member gave it, about which that member was asked.
    pub(crate) asked: Option<Version>,
    /// On the session's list of what nobody rightful made.
    pub(crate) unauthorized: bool,
    /// Its constants are as its maker said itself.
    pub(crate) by_maker: bool,
    /// Who told of it first; none if it was made here.
    pub(crate) brought_by: Option<PeerId>,
}

/// What all objects of a kind share.
#[derive(Debug, Clone)]
pub(crate) struct KindStore {
    pub(crate) layout: Layout,
    pub(crate) rules: KindOptions,
    pub(crate) values: Pool,
    pub(crate) histories: Histories,
    pub(crate) errors: Pool<f64>,
}

/// All objects.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub(crate) kinds: Vec<KindStore>,
    objects: Vec<Object>,
    free: Vec<ObjectIndex>,
    index: IdTable,
}

impl Store {
    pub(crate) fn new(kinds: &Kinds, interval: Micros, salt: u64) -> Store {
        let kind = |entry: &crate::kinds::KindEntry| {
            let layout = entry.layout(interval);
            KindStore {
                rules: entry.rules,
                values: Pool::new(layout.words_all()),
                histories: Histories::new(layout.words),
                errors: Pool::new(layout.words),
                layout,
            }
        };
        Store {
            kinds: kinds.entries().iter().map(kind).collect(),
            objects: Vec::new(),
            free: Vec::new(),
            index: IdTable::new(salt),
        }
    }

    pub(crate) fn find(&self, id: ObjectId) -> Option<ObjectIndex> {
        self.index.get(id)
    }

    /// The place of an object, made if there is none.
    pub(crate) fn place_of(&mut self, id: ObjectId) -> ObjectIndex {
        if let Some(place) = self.index.get(id) {
            return place;
        }
        let object = Object {
            id,
            record: None,
            value: 0,
            history: History::Empty,
            top: (0, 0),
            stamp: 1,
            identity: 0,
            captured: NEVER,
            dirty: false,
            orphan: false,
            stray_listed: false,
            asked: None,
            buried: false,
            inheriting: false,
            stray_since: Micros::ZERO,
            claimed_at: Micros::ZERO,
            claimed_here: Micros::ZERO,
            changed_at: Micros::ZERO,
            unauthorized: false,
            by_maker: false,
            brought_by: None,
            mentions: 0,
            owed: 0,
            hidden: false,
            error: None,
        };
        let place = match self.free.pop() {
            Some(place) => {
                self.objects[place as usize] = object;
                place
            }
            None => {
                self.objects.push(object);
                self.objects.len() as ObjectIndex - 1
            }
        };
        self.index.insert(id, place);
        place
    }

    /// Forgets an object of which the world has no record.
    pub(crate) fn forget(&mut self, place: ObjectIndex) {
        debug_assert!(self[place].record.is_none());
        self.index.remove(self[place].id);
        self.free.push(place);
    }

    /// How many places there are, used or not.
    pub(crate) fn places(&self) -> usize {
        self.objects.len()
    }

    /// How many objects are known or heard of.
    pub(crate) fn len(&self) -> usize {
        self.objects.len() - self.free.len()
    }

    /// Every place, those not in use included: their objects have no record.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ObjectIndex, &Object)> {
        (0..).zip(&self.objects)
    }

    /// The kind of an object the world has.
    #[inline]
    pub(crate) fn kind(&self, place: ObjectIndex) -> Option<&KindStore> {
        self[place].record.as_ref().map(|record| &self.kinds[usize::from(record.kind)])
    }

    /// The value of an object the world has.
    #[inline]
    pub(crate) fn value(&self, place: ObjectIndex) -> &[i32] {
        let object = &self[place];
        match &object.record {
            Some(record) if !record.gone => self.kinds[usize::from(record.kind)].values.get(object.value),
            _ => &[],
        }
    }

    #[inline]
    pub(crate) fn value_mut(&mut self, place: ObjectIndex) -> &mut [i32] {
        let object = &self.objects[place as usize];
        match &object.record {
            Some(record) if !record.gone => self.kinds[usize::from(record.kind)].values.get_mut(object.value),
            _ => &mut [],
        }
    }

    /// Gives an object a record, and room for its value if it has one. The value itself stays if
    /// the kind does, and is zero otherwise.
    pub(crate) fn set_record(&mut self, place: ObjectIndex, record: Option<Record>) {
        let object = &mut self.objects[place as usize];
        let kind_of = |record: Option<Record>| record.filter(|record| !record.gone).map(|record| record.kind);
        let (before, after) = (kind_of(object.record), kind_of(record));
        object.record = record;
        if before == after {
            return;
        }
        if let Some(kind) = before {
            let kind = &mut self.kinds[usize::from(kind)];
            kind.values.give(object.value);
            kind.histories.clear(&mut object.history);
            object.captured = NEVER;
            if let Some((block, _)) = object.error.take() {
                kind.errors.give(block);
            }
        }
        if let Some(kind) = after {
            let kind = &mut self.kinds[usize::from(kind)];
            object.value = kind.values.take();
            kind.values.get_mut(object.value).fill(0);
        }
    }

    /// Forgets the values told under our name: a new claim begins a new history.
    pub(crate) fn clear_history(&mut self, place: ObjectIndex) {
        let object = &mut self.objects[place as usize];
        if let Some(record) = object.record {
            self.kinds[usize::from(record.kind)].histories.clear(&mut object.history);
        }
    }

    /// Takes over the value a link has for it, which is of the kind of its record.
    pub(crate) fn copy_value(&mut self, place: ObjectIndex, from: Block) {
        let object = &self.objects[place as usize];
        if let Some(record) = object.record.filter(|record| !record.gone) {
            self.kinds[usize::from(record.kind)].values.copy(from, object.value);
        }
    }

    /// Notes that the present value is the value of this tick.
    #[inline]
    pub(crate) fn capture(&mut self, place: ObjectIndex, tick: u32) {
        let object = &mut self.objects[place as usize];
        let Some(record) = object.record.as_ref().filter(|record| !record.gone) else { return };
        let kind = &mut self.kinds[usize::from(record.kind)];
        kind.histories.put(&mut object.history, tick, kind.values.get(object.value));
    }

    /// Writes constants and value of an object in full.
    pub(crate) fn write_whole(
        &self,
        w: &mut BitWriter<'_>,
        place: ObjectIndex,
        constants: bool,
    ) -> Result<(), BufferFull> {
        let Some(kind) = self.kind(place) else { return Ok(()) };
        let value = self.value(place);
        if constants {
            kind.layout.write_constants(w, value)?;
        }
        kind.layout.write_whole(w, value)
    }
}

impl std::ops::Index<ObjectIndex> for Store {
    type Output = Object;

    #[inline]
    fn index(&self, place: ObjectIndex) -> &Object {
        &self.objects[place as usize]
    }
}

impl std::ops::IndexMut<ObjectIndex> for Store {
    #[inline]
    fn index_mut(&mut self, place: ObjectIndex) -> &mut Object {
        &mut self.objects[place as usize]
    }
}
