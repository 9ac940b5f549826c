//! All objects this peer knows, with the record and the value of each.
//!
//! Every part reads it; authority and intake write it. Absent: links, who may change an object.

use gaggle_kit::{BitWriter, BufferFull, Micros, PeerId, Slot};

use crate::config::ObjectError;
use crate::history::{Histories, History, NEVER};
use crate::id_table::IdTable;
use crate::layout::Layout;
use crate::pool::{Block, Pool};
use crate::version::{Record, Version};
use crate::{Kind, KindOptions, Kinds, MemberId, MemberTag, ObjectId};

/// Index of an object in the store. Used again after its object is forgotten.
pub(crate) type ObjectIndex = u32;

/// One object. Fields read in every update come first and together, because the processor loads
/// memory in lines of 64 bytes.
#[derive(Debug, Clone)]
#[repr(C)]
pub(crate) struct Object {
    /// Accepted record; `None` if all records so far were rejected.
    pub(crate) record: Option<Record>,
    /// The value, in the pool of the record's kind.
    value: Block,
    /// Values sent under this peer's authority, as baselines.
    pub(crate) history: History,
    /// Changes whenever the object must be sent in full again: with its claim and authority fields,
    /// and with the version of another member's record.
    pub(crate) stamp: u32,
    /// Tick of this peer's newest value.
    pub(crate) captured: u32,
    /// Changes with the fields that are sent only in an introduction.
    pub(crate) identity: u16,
    /// Whether this peer's value changed since the last tick.
    pub(crate) dirty: bool,
    /// It has no valid authority.
    pub(crate) orphan: bool,
    /// It is on the session's list of orphans.
    pub(crate) orphan_listed: bool,
    /// Whether this peer is the successor.
    pub(crate) inheriting: bool,
    /// It is on the session's list of tombstones.
    pub(crate) tombstone_listed: bool,
    /// It exists, but no peer sends it to this one.
    pub(crate) hidden: bool,
    pub(crate) id: ObjectId,
    /// Time the value last changed.
    pub(crate) changed_at: Micros,
    /// Time since which it has no valid authority.
    pub(crate) orphan_since: Micros,
    /// Claims to it that are known.
    pub(crate) claims: ClaimHistory,
    /// Display error, and when it arose.
    pub(crate) error: Option<(Block, Micros)>,
    /// Number of links that have it in their tables.
    pub(crate) mentions: u32,
    /// Number of links that have to get its record.
    pub(crate) owed: u32,
    /// Peer that introduced it; `None` if it was spawned here.
    pub(crate) brought_by: Option<PeerId>,
}

/// Claims to one object, as far as the next claim depends on them.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClaimHistory {
    /// Highest lock and claim counts ever received.
    pub(crate) top: (u32, u32),
    /// Time the claim last changed.
    pub(crate) claimed_at: Micros,
    /// Time this peer last claimed it; zero if never.
    pub(crate) claimed_here: Micros,
    /// Version a peer attributes to a present member, about which that member was asked.
    pub(crate) asked: Option<Version>,
    /// It is on the list of objects whose creator had no authority.
    pub(crate) unauthorized: bool,
    /// Its constants came from its creator.
    pub(crate) by_maker: bool,
}

/// Data that all objects of a kind share.
#[derive(Debug, Clone)]
pub(crate) struct KindStore {
    pub(crate) layout: Layout,
    pub(crate) rules: KindOptions,
    pub(crate) values: Pool,
    pub(crate) histories: Histories,
    pub(crate) errors: Pool<f64>,
}

/// Objects that changed since the last tick, lent to the round that sends them.
#[derive(Debug)]
pub(crate) struct Changed {
    /// All of them.
    pub(crate) dirty: Vec<ObjectIndex>,
    /// Those that were not sent to any peer yet.
    pub(crate) fresh: Vec<ObjectIndex>,
}

/// All objects this peer knows.
#[derive(Debug, Clone)]
pub(crate) struct ObjectStore {
    kinds: Vec<KindStore>,
    objects: Vec<Object>,
    free: Vec<ObjectIndex>,
    index: IdTable,
    /// Objects under this peer's authority that changed since the last tick.
    dirty: Vec<ObjectIndex>,
    /// Those of them that were not sent to any peer yet.
    fresh: Vec<ObjectIndex>,
    /// Counter of the last object spawned here.
    objects_made: u32,
    /// Buffer for one value.
    scratch: Vec<i32>,
}

impl ObjectStore {
    /// Values and rules by kind.
    #[inline]
    pub(crate) fn kinds(&self) -> &[KindStore] {
        &self.kinds
    }

    #[inline]
    pub(crate) fn kind_mut(&mut self, number: usize) -> &mut KindStore {
        &mut self.kinds[number]
    }

    /// Objects under this peer's authority that changed since the last tick.
    pub(crate) fn dirty(&self) -> &[ObjectIndex] {
        &self.dirty
    }

    /// Those of them that were not sent to any peer yet.
    pub(crate) fn fresh(&self) -> &[ObjectIndex] {
        &self.fresh
    }

    /// Lends the lists of changed objects, with their memory: [`return_changed`] gives them back.
    ///
    /// [`return_changed`]: ObjectStore::return_changed
    pub(crate) fn take_changed(&mut self) -> Changed {
        Changed { dirty: std::mem::take(&mut self.dirty), fresh: std::mem::take(&mut self.fresh) }
    }

    pub(crate) fn return_changed(&mut self, changed: Changed) {
        (self.dirty, self.fresh) = (changed.dirty, changed.fresh);
    }

    /// Counter of the last object spawned here.
    #[cfg(test)]
    pub(crate) fn objects_made(&self) -> u32 {
        self.objects_made
    }

    /// Objects up to this counter were spawned here.
    #[cfg(test)]
    pub(crate) fn note_made(&mut self, counter: u32) {
        self.objects_made = self.objects_made.max(counter);
    }

    pub(crate) fn new(kinds: &Kinds, interval: Micros, salt: u64) -> ObjectStore {
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
        ObjectStore {
            kinds: kinds.entries().iter().map(kind).collect(),
            objects: Vec::new(),
            free: Vec::new(),
            index: IdTable::new(salt),
            dirty: Vec::new(),
            fresh: Vec::new(),
            objects_made: 0,
            scratch: Vec::new(),
        }
    }

    pub(crate) fn find(&self, id: ObjectId) -> Option<ObjectIndex> {
        self.index.get(id)
    }

    /// Index of an object, allocated if there is none.
    pub(crate) fn place_of(&mut self, id: ObjectId) -> ObjectIndex {
        if let Some(place) = self.index.get(id) {
            return place;
        }
        let object = Object {
            id,
            claims: ClaimHistory::default(),
            record: None,
            value: 0,
            history: History::Empty,
            stamp: 1,
            identity: 0,
            captured: NEVER,
            dirty: false,
            orphan: false,
            orphan_listed: false,
            tombstone_listed: false,
            inheriting: false,
            orphan_since: Micros::ZERO,
            changed_at: Micros::ZERO,
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

    /// Forgets an object without a record.
    pub(crate) fn forget(&mut self, place: ObjectIndex) {
        debug_assert!(self[place].record.is_none());
        self.index.remove(self[place].id);
        self.free.push(place);
    }

    /// Index of an object that exists.
    pub(crate) fn live(&self, id: ObjectId) -> Result<ObjectIndex, ObjectError> {
        let place = self.find(id).ok_or(ObjectError::Unknown { id })?;
        match self[place].record {
            Some(record) if !record.gone => Ok(place),
            _ => Err(ObjectError::Unknown { id }),
        }
    }

    /// This peer's value of an object or its claim changed: it is sent with the next tick.
    pub(crate) fn mark_dirty(&mut self, place: ObjectIndex) {
        if !std::mem::replace(&mut self[place].dirty, true) {
            self.dirty.push(place);
        }
    }

    /// Makes all authority fields of an object due to be sent again.
    pub(crate) fn change_stamp(&mut self, place: ObjectIndex) {
        let object = &mut self[place];
        object.stamp = object.stamp.wrapping_add(1).max(1);
    }

    /// An object has no record any more: it is removed from all lists.
    pub(crate) fn unlist(&mut self, place: ObjectIndex) {
        self.dirty.retain(|other| *other != place);
        let object = &mut self[place];
        (object.orphan, object.inheriting, object.orphan_listed, object.dirty) = (false, false, false, false);
    }

    /// Whether a member with this tag would have spawned the object here, and did not.
    pub(crate) fn is_unmade(&self, id: ObjectId, tag: MemberTag) -> bool {
        id.creator() == tag && id.counter() > self.objects_made
    }

    /// Number of objects under a member's authority.
    pub(crate) fn count_of(&self, member: MemberId) -> usize {
        let theirs = |record: Record| record.version.authority == member && !record.gone;
        self.objects.iter().filter(|object| object.record.is_some_and(theirs)).count()
    }

    /// Whether no object and no tombstone is known.
    pub(crate) fn is_blank(&self) -> bool {
        self.objects.iter().all(|object| object.record.is_none())
    }

    /// Renames the slots of players.
    pub(crate) fn rename(&mut self, renamed: impl Fn(Slot) -> Slot) {
        for place in 0..self.places() as ObjectIndex {
            let Some(record) = self[place].record else { continue };
            let player = renamed(record.player);
            let (home, owner_claim) = (record.home.map(&renamed), record.owner_claim.map(&renamed));
            self.set_record(place, Some(Record { player, home, owner_claim, ..record }));
        }
    }

    /// Existing objects of a kind, by number of the kind.
    pub(crate) fn of_kind(
        &self,
        kind: Option<usize>,
    ) -> impl Iterator<Item = (ObjectIndex, &Object, Record)> {
        self.iter().filter_map(move |(place, object)| {
            let record = object.record.filter(|record| !record.gone)?;
            (Some(usize::from(record.kind)) == kind).then_some((place, object, record))
        })
    }

    /// Unused id for an object spawned here, and its counter. Another peer may have used the next
    /// counter to keep this peer from using it.
    pub(crate) fn next_id(&self, tag: MemberTag, is_forgotten: impl Fn(ObjectId) -> bool) -> ObjectId {
        let ids = (self.objects_made + 1..).map(|counter| ObjectId::new(tag, counter));
        let mut free = ids.filter(|&id| self.find(id).is_none() && !is_forgotten(id));
        free.next().unwrap_or(ObjectId::new(tag, u32::MAX))
    }

    /// Stores a new object of this peer.
    pub(crate) fn make<K: Kind>(&mut self, place: ObjectIndex, record: Record, value: &K, now: Micros) {
        self.set_record(place, Some(record));
        value.to_words(self.value_mut(place));
        let object = &mut self[place];
        object.claims.top = (0, 1);
        object.claims.by_maker = true;
        object.claims.claimed_at = now;
        object.changed_at = now;
        self.objects_made = self[place].id.counter();
        self.mark_dirty(place);
    }

    /// Writes a value, except for constants. Returns whether it changed.
    pub(crate) fn write<K: Kind>(&mut self, place: ObjectIndex, kind: usize, value: &K) -> bool {
        let mut scratch = std::mem::take(&mut self.scratch);
        let layout = &self.kinds[kind].layout;
        let words = layout.words;
        scratch.resize(layout.words_all(), 0);
        value.to_words(&mut scratch);
        let is_other = self.value(place)[..words] != scratch[..words];
        if is_other {
            self.value_mut(place)[..words].copy_from_slice(&scratch[..words]);
        }
        self.scratch = scratch;
        is_other
    }

    /// Number of known objects a peer introduced.
    pub(crate) fn brought_by(&self, peer: PeerId) -> usize {
        let is_theirs = |&(place, object): &(ObjectIndex, &Object)| {
            object.brought_by == Some(peer) && self.find(object.id) == Some(place)
        };
        self.iter().filter(is_theirs).count()
    }

    /// Number of indexes, used or not.
    pub(crate) fn places(&self) -> usize {
        self.objects.len()
    }

    /// Number of objects that are known or referenced.
    pub(crate) fn len(&self) -> usize {
        self.objects.len() - self.free.len()
    }

    /// Every index, unused ones included: their objects have no record.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ObjectIndex, &Object)> {
        (0..).zip(&self.objects)
    }

    /// Kind of an object with a record.
    #[inline]
    pub(crate) fn kind(&self, place: ObjectIndex) -> Option<&KindStore> {
        self[place].record.as_ref().map(|record| &self.kinds[usize::from(record.kind)])
    }

    /// Value of an object with a record.
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

    /// Gives an object a record, and a block for its value if it has one. The value stays if the
    /// kind does, and is zero otherwise.
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

    /// Drops the values sent under this peer's authority: a new claim begins a new history.
    pub(crate) fn clear_history(&mut self, place: ObjectIndex) {
        let object = &mut self.objects[place as usize];
        if let Some(record) = object.record {
            self.kinds[usize::from(record.kind)].histories.clear(&mut object.history);
        }
    }

    /// Copies the value a link has for it, which is of the kind of its record.
    pub(crate) fn copy_value(&mut self, place: ObjectIndex, from: Block) {
        let object = &self.objects[place as usize];
        if let Some(record) = object.record.filter(|record| !record.gone) {
            self.kinds[usize::from(record.kind)].values.copy(from, object.value);
        }
    }

    /// Stores the present value as the value of this tick.
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

impl std::ops::Index<ObjectIndex> for ObjectStore {
    type Output = Object;

    #[inline]
    fn index(&self, place: ObjectIndex) -> &Object {
        &self.objects[place as usize]
    }
}

impl std::ops::IndexMut<ObjectIndex> for ObjectStore {
    #[inline]
    fn index_mut(&mut self, place: ObjectIndex) -> &mut Object {
        &mut self.objects[place as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuthorityPolicy;
    use crate::session::work::bench::{Bench, Crate};

    fn bench() -> Bench {
        Bench::new(AuthorityPolicy::Anyone, 2)
    }

    #[test]
    fn written_value_is_quantized_and_reported_once() {
        let mut bench = bench();
        let place = bench.object(0, 1);
        assert!(bench.objects.write(place, 0, &Crate { place: 3.2 }));
        assert!(!bench.objects.write(place, 0, &Crate { place: 3.1 }), "equal within its precision");
        assert_eq!(Crate::from_words(bench.objects.value(place)).place, 3.0);
    }

    #[test]
    fn next_id_skips_taken_and_forgotten() {
        let mut bench = bench();
        bench.object(0, 1);
        let tag = bench.members.me().id.tag;
        let forgotten = ObjectId::new(tag, 2);
        let next = bench.objects.next_id(tag, |id| id == forgotten);
        assert_eq!(next.counter(), 3);
        assert!(bench.objects.is_unmade(next, tag) && bench.objects.find(next).is_none());
    }

    #[test]
    fn deleted_object_is_not_live_and_not_counted() {
        let mut bench = bench();
        let place = bench.object(1, 1);
        let (id, member) = (bench.objects[place].id, bench.member(1).id);
        assert_eq!((bench.objects.live(id), bench.objects.count_of(member)), (Ok(place), 1));
        bench.objects.set_record(place, Some(Record { gone: true, ..bench.record(1) }));
        assert_eq!(bench.objects.live(id), Err(ObjectError::Unknown { id }));
        assert!(bench.objects.count_of(member) == 0 && !bench.objects.is_blank());
        assert_eq!(bench.objects.of_kind(Some(0)).count(), 0);
    }

    #[test]
    fn dirty_object_is_listed_once_until_unlisted() {
        let mut bench = bench();
        let place = bench.object(0, 1);
        bench.objects.mark_dirty(place);
        bench.objects.mark_dirty(place);
        assert_eq!(bench.objects.dirty, [place]);
        bench.objects.unlist(place);
        assert!(bench.objects.dirty.is_empty() && !bench.objects[place].dirty);
    }

    #[test]
    fn renamed_slots_reach_owner_and_authority() {
        let mut bench = bench();
        let place = bench.object(0, 1);
        let record = Record { home: Some(Slot::at(0)), ..bench.record(0) };
        bench.objects.set_record(place, Some(record));
        bench.objects.rename(|_| Slot::at(9));
        let renamed = bench.objects[place].record.expect("it has one");
        assert_eq!((renamed.player, renamed.owner()), (Slot::at(9), Slot::at(9)));
    }
}
