//! Taking entries and confirming frames: which runs may grow, and how confirmed entries change the
//! roster.
//!
//! The session calls it for every entry it accepts. Absent: values of entries, view changes.

use gaggle_kit::{Frame, Micros, SlotSet};

use super::entry_range::EntryRange;
use super::held::{EntryControl, EntryIndex, Held, Join, WARM_STREAMS_MAX};
use super::rows::{self, ROWS_MAX, RosterEntry};
use super::{Fault, Membership, Mode, StayEnd};
use crate::entries::Entries;
use crate::roster::StreamId;

impl Membership {
    /// Confirms the next frame if every entry that counts in it is held. Call it until it returns
    /// none, then [`tidy`](Membership::tidy).
    ///
    /// An observer follows its donor instead.
    pub(crate) fn confirm_next(&mut self) -> Option<Frame> {
        let frame = self.confirmed.next();
        let limit = match self.mode {
            Mode::Member => Frame::NEVER.previous(),
            Mode::Observer => self.watch.fed(),
            Mode::Out => return None,
        };
        let mut present = self.rows.iter().filter(|row| row.is_present_at(frame)).peekable();
        let complete = present.peek().is_some() && present.all(|row| self.streams.holds(row.stream, frame));
        if frame > limit || !complete {
            return None;
        }
        self.apply(frame);
        if frame >= self.changes.quiet_until() {
            self.refresh();
        }
        Some(frame)
    }

    /// Frames before this one do not change the roster: if all their entries are held, the session
    /// may [confirm them at once](Membership::confirm_to).
    pub(crate) fn quiet_until(&self) -> Frame {
        self.changes.quiet_until()
    }

    /// Confirms frames before [`quiet_until`](Membership::quiet_until) whose entries are all held.
    pub(crate) fn confirm_to(&mut self, frame: Frame) {
        debug_assert!(frame < self.changes.quiet_until() && self.mode == Mode::Member);
        self.confirmed = self.confirmed.max(frame);
    }

    fn apply(&mut self, frame: Frame) {
        let leader = rows::leader_at(&self.rows, frame).map(|row| row.stream);
        let join =
            leader.and_then(|leader| self.streams.extras(leader, frame)).and_then(|extras| extras.join);
        if join.is_some_and(|join| !self.seats_us_rightly(&join)) {
            self.confirmed = frame;
            return self.give_up(StayEnd::Contradicted);
        }
        let mut changed = false;
        for row in self.rows.iter_mut().filter(|row| row.is_present_at(frame)) {
            let extras = self.streams.extras(row.stream, frame);
            if extras.is_some_and(|extras| extras.join.is_some()) && leader != Some(row.stream) {
                self.reports.note_false_leader(row.stream, frame);
            }
            if extras.is_some_and(|extras| extras.end) {
                changed |= row.last_frame != frame;
                row.last_frame = frame;
            }
        }
        self.confirmed = frame;
        changed |= self.trim_rows();
        if let Some(join) = join
            && self.may_join(&join, frame)
        {
            self.rows.push(joined(&join, frame));
            changed = true;
        }
        if changed {
            self.epoch.advance();
            self.refresh();
        }
    }

    /// Whether the game has these slots. A message with others is a violation.
    pub(super) fn has_slots(&self, slots: SlotSet) -> bool {
        slots.difference(SlotSet::first(self.settings.slot_count)).is_empty()
    }

    /// Whether the game has the slots of all these rows.
    pub(super) fn has_slots_of<'a>(&self, rows: impl IntoIterator<Item = &'a RosterEntry>) -> bool {
        rows.into_iter().all(|row| self.has_slots(row.slots))
    }

    /// Whether a join gives this peer as many slots as it has players. A leader that does otherwise
    /// cannot be followed.
    fn seats_us_rightly(&self, join: &Join) -> bool {
        join.stream != self.me || join.slots.len() == usize::from(self.own_stream.players())
    }

    /// Whether a join of the leader counts. All peers decide with the same table.
    fn may_join(&self, join: &Join, frame: Frame) -> bool {
        let free = rows::free_slots(&self.rows, frame.next(), self.settings.slot_count);
        self.rows.len() < ROWS_MAX
            && rows::row_of(&self.rows, join.stream).is_none()
            && join.slots.difference(free).is_empty()
    }

    /// Drops rows that ended too long ago to matter: comparing a view needs the last two
    /// lookaheads, and other peers may be one lookahead behind.
    fn trim_rows(&mut self) -> bool {
        let before = self.rows.len();
        let keep = 3 * self.settings.lookahead_frames;
        let Membership { rows, peers, confirmed, .. } = self;
        rows.retain(|row| {
            let kept = row.last_frame.max(row.first_frame).saturating_add(keep) >= *confirmed;
            if !kept {
                peers.note_forgotten(row.stream);
            }
            kept
        });
        rows.len() != before
    }

    /// Forgets, after frames were confirmed, everything no peer of this branch can still need.
    pub(crate) fn tidy(&mut self, entries: &mut dyn Entries) {
        self.trim_streams();
        if self.trim_rows() {
            self.refresh();
        }
        if self.streams.len() > self.known.len() {
            self.drop_strangers(entries);
        }
        self.settle();
    }

    /// Drops a run that begins after the first needed entry: the stream is awaited from that entry
    /// on. Nor does the run's end count while no peer may have the entries before it.
    fn close_gaps(&mut self) {
        for row in &self.known {
            let needed = row.first_frame.max(self.confirmed.next());
            if row.stream != self.me
                && let Some(held) = self.streams.get_mut(row.stream)
                && held.first() > needed
                && row.last_frame >= needed
            {
                *held = Held::from(needed);
            }
        }
    }

    /// Drops streams that are neither in the roster nor those of learners.
    fn drop_strangers(&mut self, entries: &mut dyn Entries) {
        let Membership { me, known, peers, streams, .. } = self;
        streams.retain(entries, |stream| {
            let present = || peers.get(stream.peer).is_some_and(|p| !p.is_gone(stream.incarnation));
            stream == *me || rows::row_of(known, stream).is_some() || present()
        });
    }

    fn settle(&mut self) {
        if self.mode != Mode::Member || !self.is_full_or_ended() {
            return;
        }
        let others = self.known.iter().filter(|row| row.is_active() && row.stream != self.me);
        let confirmed = others.map(|row| self.confirmed_by(row.stream)).min();
        self.settled = self.settled.max(confirmed.map_or(self.confirmed, |other| other.min(self.confirmed)));
    }

    fn is_full_or_ended(&self) -> bool {
        rows::row_of(&self.known, self.me).is_some_and(|row| self.confirmed >= row.first_frame.previous())
    }

    /// Last frame the owner of this stream said it had confirmed.
    fn confirmed_by(&self, stream: StreamId) -> Frame {
        let peer = self.peers.get(stream.peer).filter(|peer| !peer.is_gone(stream.incarnation));
        peer.map_or(Frame::START, |peer| peer.confirmed)
    }

    /// Computes the roster from held entries: joins as far as the leader's entries are held, and
    /// goodbyes.
    pub(super) fn refresh(&mut self) {
        let mut known = self.rows.clone();
        let says = self.streams.iter().filter_map(|(_, held)| held.says_after(self.confirmed)).min();
        if says.is_some() {
            self.look_ahead(&mut known);
        }
        let changes = known.iter().flat_map(|row| [row.first_frame, row.last_frame.next()]);
        let changes = changes.filter(|frame| *frame > self.confirmed).chain(says);
        self.changes.set_quiet_until(changes.min().unwrap_or(Frame::NEVER));
        if known != self.known {
            self.known = known;
            self.close_gaps();
            self.changes.note();
            self.epoch.advance();
            let known = &self.known;
            self.watch.retain_evicted(|stream| rows::is_open(known, stream));
        }
    }

    fn look_ahead(&self, known: &mut Vec<RosterEntry>) {
        let mut frame = self.confirmed.next();
        while let Some(leader) = rows::leader_at(known, frame).map(|row| row.stream)
            && let Some(extras) = self.streams.extras(leader, frame)
        {
            for row in known.iter_mut().filter(|row| row.is_present_at(frame)) {
                if self.end_of(row) == Some(frame) {
                    row.last_frame = frame;
                }
            }
            if let Some(join) = extras.join
                && rows::row_of(known, join.stream).is_none()
                && known.len() < ROWS_MAX
                && self.has_slots(join.slots)
                && self.seats_us_rightly(&join)
            {
                known.push(joined(&join, frame));
            }
            frame = frame.next();
        }
        for row in known.iter_mut().filter(|row| row.is_active()) {
            if let Some(end) = self.end_of(row) {
                row.last_frame = end;
            }
        }
    }

    /// Frame of a stream's goodbye, if everything before it is held.
    fn end_of(&self, row: &RosterEntry) -> Option<Frame> {
        let held = self.streams.get(row.stream)?;
        let whole = held.first() <= row.first_frame.max(self.confirmed.next());
        held.end().filter(|end| whole && *end >= row.first_frame)
    }

    /// Takes a range of a stream, as far as the stream may grow. `forced` is for entries of a view
    /// or a feed.
    pub(super) fn absorb(
        &mut self,
        tail: &EntryRange,
        forced: bool,
        entries: &mut dyn Entries,
    ) -> Result<(), Fault> {
        let stream = tail.stream;
        let row = rows::row_of(&self.known, stream).copied();
        if stream == self.me || tail.count == 0 || !forced && !self.may_grow(stream) {
            return Ok(());
        }
        if !self.open_run(tail, row, entries) {
            return Ok(());
        }
        let (first, last) = row.map_or((Frame::START, Frame::NEVER), |row| (row.first_frame, row.last_frame));
        let cap = self.confirmed.saturating_add(2 * self.settings.lookahead_frames);
        let capped = self.rules.cap_ahead && !forced;
        let Some(held) = self.streams.get_mut(stream) else { return Ok(()) };
        let mut says_something = false;
        let mut frame = tail.from.max(held.first());
        while frame <= tail.through() && frame <= last {
            let (value, extras) = (tail.value(frame), tail.extras(frame));
            if held.holds(frame) {
                // Before its first frame a stream counts for no peer, and some peers do not keep
                // those entries.
                let differs = || !entries.equals(stream, frame, value) || held.extras(frame) != extras;
                if frame >= first && differs() {
                    if !forced {
                        return Err(Fault::EntryChanged { stream, frame });
                    }
                    // The owner sent different values, or a peer changed one on the way; which of
                    // them cannot be known. The view is valid all the same, and the held value
                    // stays.
                    self.reports.contest(stream, frame);
                }
            } else if frame == held.through().next() && !(capped && frame > cap) {
                entries.store(stream, frame, value).map_err(Fault::Value)?;
                held.push(extras);
                says_something |= extras.is_some();
            }
            frame = frame.next();
        }
        if says_something {
            self.epoch.advance();
            self.refresh();
        }
        Ok(())
    }

    /// Makes sure that a run exists which the range can extend. False if none can.
    fn open_run(&mut self, tail: &EntryRange, row: Option<RosterEntry>, entries: &mut dyn Entries) -> bool {
        let begin_anew = match self.streams.get(tail.stream) {
            None if row.is_none() && self.pending_streams() >= WARM_STREAMS_MAX => return false,
            None => true,
            Some(held) => {
                let gap = tail.from > held.through().next();
                match row {
                    // Of a stream outside the roster the newest run is used.
                    None => gap,
                    Some(row) => {
                        let needed = row.first_frame.max(self.confirmed.next());
                        let begins_too_late = held.first() > needed && tail.from <= needed;
                        // Frames before the row's first one count for no peer.
                        begins_too_late || gap && tail.from <= row.first_frame
                    }
                }
            }
        };
        if begin_anew {
            entries.forget(tail.stream);
            let first = row.map_or(tail.from, |row| tail.from.max(row.first_frame));
            self.streams.insert(tail.stream, Held::from(first));
        }
        true
    }

    fn pending_streams(&self) -> usize {
        self.streams.iter().filter(|(stream, _)| rows::row_of(&self.known, *stream).is_none()).count()
    }

    fn may_grow(&self, stream: StreamId) -> bool {
        let is_known = rows::row_of(&self.known, stream).is_some();
        self.fence.admits(stream, is_known, &self.rules)
    }

    /// Whether entries of a stream in the roster may be taken; the session knows up to which frame.
    /// The answer changes only with the [epoch](Membership::epoch).
    pub(crate) fn grows(&self, stream: StreamId) -> bool {
        rows::row_of(&self.known, stream).is_some() && self.may_grow(stream)
    }

    /// Notes entries the session holds: first and last frame of each stream, in the order of their
    /// ids.
    pub(crate) fn grow(&mut self, held: impl Iterator<Item = (StreamId, Frame, Frame)>) {
        let mut near = EntryIndex::default();
        for (stream, since, through) in held {
            match self.streams.next_mut(&mut near, stream) {
                // A run that was dropped for its gap begins earlier: it waits for the entries in
                // the gap and their controls.
                Some(held) if since > held.through().next() => {}
                Some(held) => held.grow(through),
                // The stream was admitted before this peer knew of it: these are its first entries.
                None => {
                    let first = since.max(self.confirmed.next());
                    if through >= first {
                        self.streams.insert(stream, Held::from(first)).grow(through);
                    }
                }
            }
        }
        self.trim_streams();
    }

    /// Forgets entries that no peer of this branch can still need.
    fn trim_streams(&mut self) {
        let oldest = self.confirmed.saturating_sub(2 * self.settings.lookahead_frames);
        for (_, held) in self.streams.iter_mut() {
            held.trim(oldest);
        }
    }

    /// Notes the controls of an entry that was taken with [`grow`](Membership::grow).
    pub(crate) fn note_extras(&mut self, stream: StreamId, frame: Frame, extras: EntryControl) {
        if let Some(held) = self.streams.get_mut(stream) {
            held.note(frame, extras);
            self.epoch.advance();
            self.refresh();
        }
    }

    /// Takes a range of a stream from a packet or message, as far as `hearing` allows.
    pub(crate) fn take_tail(&mut self, tail: &EntryRange, entries: &mut dyn Entries) -> Result<(), Fault> {
        self.absorb(tail, false, entries)
    }

    /// Notes that own entries up to this one are held and have no controls.
    pub(crate) fn grow_own(&mut self, through: Frame) {
        let me = self.me;
        let held = self.own_stream.held_mut(&mut self.streams, me);
        if let Some(held) = held.filter(|held| !held.is_empty()) {
            held.grow(through);
        }
    }

    /// Appends an entry to the own stream.
    pub(crate) fn push_own(&mut self, frame: Frame, extras: EntryControl) {
        let me = self.me;
        match self.own_stream.held_mut(&mut self.streams, me) {
            Some(held) if held.through().next() == frame => held.push(extras),
            _ => self.streams.insert(me, Held::from(frame)).push(extras),
        }
        if self.own_stream.note_entry(frame, extras.end) {
            self.epoch.advance();
        }
        if extras.is_some() {
            self.epoch.advance();
            self.refresh();
        }
    }

    /// Finds the join of this peer.
    pub(super) fn find_myself(&mut self, now: Micros) {
        if self.mode == Mode::Observer && rows::row_of(&self.known, self.me).is_some() {
            self.mode = Mode::Member;
            self.epoch.advance();
            self.watch.note_progress(now);
        }
    }
}

fn joined(join: &Join, frame: Frame) -> RosterEntry {
    RosterEntry {
        stream: join.stream,
        slots: join.slots,
        first_frame: frame.next(),
        last_frame: Frame::NEVER,
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::{PeerId, SlotSet};

    use super::super::{MatchId, Settings};
    use super::*;
    use crate::input_log::InputLog;
    use crate::roster::Incarnation;

    fn stream(peer: u128) -> StreamId {
        StreamId { peer: PeerId::from_u128(peer), incarnation: Incarnation(1) }
    }

    fn row(peer: u128, slot: u64, first: u32) -> RosterEntry {
        let slots = SlotSet::from_bits(1 << slot);
        RosterEntry { stream: stream(peer), slots, first_frame: Frame::new(first), last_frame: Frame::NEVER }
    }

    fn machine() -> Membership {
        let settings = Settings {
            lookahead_frames: 10,
            slot_count: 4,
            majority: false,
            quorum_min: 1,
            tip_links: 16,
            repeat_after: Micros::from_millis(250),
            gather: Micros::ZERO,
            patience: Micros::from_secs(2),
            feed_timeout: Micros::from_secs(3),
            stall_timeout: Micros::from_secs(10),
            sleep_after: Micros::from_secs(3),
        };
        let rows = vec![row(1, 0, 1), row(2, 1, 1)];
        Membership::start(settings, MatchId::default(), stream(1), rows, Frame::START)
    }

    #[test]
    fn entries_behind_gap_are_not_held() {
        let mut machine = machine();
        let through = |machine: &Membership| machine.held(stream(2)).map(|held| held.through().number());
        // The session holds entries 8 to 12 of a stream that is awaited from frame 1 on.
        machine.grow([(stream(2), Frame::new(8), Frame::new(12))].into_iter());
        assert_eq!(through(&machine), Some(0), "1 to 7 are missing, and so is whatever they say");
        machine.grow([(stream(2), Frame::new(1), Frame::new(12))].into_iter());
        assert_eq!(through(&machine), Some(12));
    }

    /// Entries of a stream from this frame on.
    fn tail(peer: u128, from: u32, values: &[u8]) -> EntryRange {
        let mut tail = EntryRange::from(stream(peer), Frame::new(from));
        values.iter().for_each(|value| assert!(tail.push(&[*value], EntryControl::NONE)));
        tail
    }

    /// The leader of [`machine`] admits a joiner that counts from frame 5 on.
    fn admit(machine: &mut Membership, peer: u128) {
        let join = Join { stream: stream(peer), slots: SlotSet::from_bits(1 << 2) };
        (1..4).for_each(|frame| machine.push_own(Frame::new(frame), EntryControl::NONE));
        machine.push_own(Frame::new(4), EntryControl { join: Some(join), end: false });
        assert_eq!(
            rows::row_of(&machine.known, stream(peer)).map(|row| row.first_frame),
            Some(Frame::new(5))
        );
    }

    #[test]
    fn entries_before_first_frame_are_never_contested() {
        let (mut machine, mut ledger) = (machine(), InputLog::<u8>::new(stream(1), 1, 64, 4));
        machine.absorb(&tail(3, 3, &[7, 7, 7]), false, &mut ledger).expect("a joiner that warms up");
        admit(&mut machine, 3);
        // A peer that learns later that the stream was cut keeps none of its later entries.
        let of_a_view = tail(3, 3, &[0, 0, 7, 8]);
        machine.absorb(&of_a_view, true, &mut ledger).expect("nothing it says is new");
        assert_eq!(machine.take_contested(), None, "3 and 4 count for no peer");
        assert_eq!(machine.held(stream(3)).map(|held| held.through()), Some(Frame::new(6)));
        machine.absorb(&tail(3, 3, &[0, 0, 9]), true, &mut ledger).expect("a view stands all the same");
        assert_eq!(machine.take_contested(), Some((stream(3), Frame::new(5))), "5 counts");
    }

    #[test]
    fn run_of_known_stream_begins_at_first_frame() {
        let (mut machine, mut ledger) = (machine(), InputLog::<u8>::new(stream(1), 1, 64, 4));
        admit(&mut machine, 3);
        machine.absorb(&tail(3, 3, &[7, 7, 7]), false, &mut ledger).expect("as it should be");
        let held = machine.held(stream(3)).map(|held| (held.first(), held.through()));
        assert_eq!(held, Some((Frame::new(5), Frame::new(5))), "3 and 4 are not kept, so no peer gets them");
    }
}
