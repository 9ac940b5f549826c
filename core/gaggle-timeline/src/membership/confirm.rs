//! Taking entries and confirming frames: what may grow, what follows from it for the roster.

use gaggle_kit::{Frame, Micros};

use super::held::{Entries, Extras, Held, Join, WARM_STREAMS_MAX};
use super::rows::{self, ROWS_MAX, Row};
use super::tail::Tail;
use super::{Fault, Membership, Mode};
use crate::roster::StreamId;

impl Membership {
    /// The next frame is confirmed if everything that counts in it is held. Call until it says no,
    /// then [`tidy`](Membership::tidy).
    ///
    /// An observer does not judge by itself: it follows whoever feeds it.
    pub(crate) fn confirm_next(&mut self) -> Option<Frame> {
        let frame = self.confirmed.next();
        let limit = match self.mode {
            Mode::Member => Frame::NEVER.previous(),
            Mode::Observer => self.fed,
            Mode::Out => return None,
        };
        let mut present = self.rows.iter().filter(|row| row.counts_at(frame)).peekable();
        let complete = present.peek().is_some() && present.all(|row| self.streams.holds(row.stream, frame));
        if frame > limit || !complete {
            return None;
        }
        self.apply(frame);
        Some(frame)
    }

    fn apply(&mut self, frame: Frame) {
        let lead = rows::lead_at(&self.rows, frame).map(|row| row.stream);
        let join = lead.and_then(|lead| self.streams.extras(lead, frame)).and_then(|extras| extras.join);
        let mut changed = false;
        for row in self.rows.iter_mut().filter(|row| row.counts_at(frame)) {
            if self.streams.extras(row.stream, frame).is_some_and(|extras| extras.end) {
                changed |= row.last != frame;
                row.last = frame;
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
            self.refresh();
        }
    }

    /// What the lead writes counts only if it can: everybody judges by the same table.
    fn may_join(&self, join: &Join, frame: Frame) -> bool {
        let free = rows::free_slots(&self.rows, frame.next(), self.settings.slot_count);
        self.rows.len() < ROWS_MAX
            && rows::row_of(&self.rows, join.stream).is_none()
            && join.slots.difference(free).is_empty()
    }

    /// Drops rows that ended so long ago that they are none of anybody's business: a view is compared
    /// with the last two reaches, and others may be one reach behind us.
    fn trim_rows(&mut self) -> bool {
        let before = self.rows.len();
        let keep = 3 * self.settings.reach_frames;
        let confirmed = self.confirmed;
        self.rows.retain(|row| row.last.max(row.first).saturating_add(keep) >= confirmed);
        self.rows.len() != before
    }

    /// Frames were confirmed: what nobody of this history can still need is forgotten.
    pub(crate) fn tidy(&mut self, entries: &mut dyn Entries) {
        let oldest = self.confirmed.saturating_sub(2 * self.settings.reach_frames);
        for (_, held) in self.streams.iter_mut() {
            held.trim(oldest);
        }
        if self.streams.len() > self.known.len() {
            self.drop_strangers(entries);
        }
        self.settle();
    }

    /// Streams that are neither in the roster nor of somebody warming up.
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
        let others = self.known.iter().filter(|row| row.is_open() && row.stream != self.me);
        let confirmed = others.map(|row| self.confirmed_by(row.stream)).min();
        self.settled = self.settled.max(confirmed.map_or(self.confirmed, |other| other.min(self.confirmed)));
    }

    fn is_full_or_ended(&self) -> bool {
        rows::row_of(&self.known, self.me).is_some_and(|row| self.confirmed >= row.first.previous())
    }

    /// The last frame the owner of this stream said it confirmed.
    fn confirmed_by(&self, stream: StreamId) -> Frame {
        let peer = self.peers.get(stream.peer).filter(|peer| !peer.is_gone(stream.incarnation));
        peer.map_or(Frame::START, |peer| peer.confirmed)
    }

    /// The roster as far as held entries tell: joins as far as the lead's are held, and goodbyes.
    pub(super) fn refresh(&mut self) {
        let mut known = self.rows.clone();
        if self.streams.iter().any(|(_, held)| held.says_after(self.confirmed)) {
            self.look_ahead(&mut known);
        }
        if known != self.known {
            self.known = known;
            self.roster_changed = true;
            let known = &self.known;
            self.condemned.retain(|stream| rows::is_open(known, *stream));
        }
    }

    fn look_ahead(&self, known: &mut Vec<Row>) {
        let mut frame = self.confirmed.next();
        while let Some(lead) = rows::lead_at(known, frame).map(|row| row.stream)
            && let Some(extras) = self.streams.extras(lead, frame)
        {
            for row in known.iter_mut().filter(|row| row.counts_at(frame)) {
                if self.streams.extras(row.stream, frame).is_some_and(|extras| extras.end) {
                    row.last = frame;
                }
            }
            if let Some(join) = extras.join
                && rows::row_of(known, join.stream).is_none()
                && known.len() < ROWS_MAX
            {
                known.push(joined(&join, frame));
            }
            frame = frame.next();
        }
        for row in known.iter_mut().filter(|row| row.is_open()) {
            if let Some(end) = self.streams.end(row.stream)
                && end >= row.first
            {
                row.last = end;
            }
        }
    }

    /// Takes a piece of a stream, as far as it may grow. `forced` is for what a view or a feed brings.
    pub(super) fn absorb(
        &mut self,
        tail: &Tail,
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
        let last = row.map_or(Frame::NEVER, |row| row.last);
        let cap = self.confirmed.saturating_add(2 * self.settings.reach_frames);
        let capped = self.rules.cap_ahead && !forced;
        let Some(held) = self.streams.get_mut(stream) else { return Ok(()) };
        let mut says_something = false;
        let mut frame = tail.from.max(held.first);
        while frame <= tail.through() && frame <= last {
            let (value, extras) = (tail.value(frame), tail.extras(frame));
            if held.holds(frame) {
                if !entries.equals(stream, frame, value) || held.extras(frame) != extras {
                    return Err(Fault::EntryChanged { stream, frame });
                }
            } else if frame == held.through.next() && !(capped && frame > cap) {
                entries.store(stream, frame, value).map_err(Fault::Value)?;
                held.push(extras);
                says_something |= extras.is_some();
            }
            frame = frame.next();
        }
        if says_something {
            self.refresh();
        }
        Ok(())
    }

    /// Makes sure there is a run the tail can add to. False if there can be none.
    fn open_run(&mut self, tail: &Tail, row: Option<Row>, entries: &mut dyn Entries) -> bool {
        let begin_anew = match self.streams.get(tail.stream) {
            None if row.is_none() && self.warm_streams() >= WARM_STREAMS_MAX => return false,
            None => true,
            Some(held) => {
                let gap = tail.from > held.through.next();
                match row {
                    // Of somebody not in the roster the newest run counts.
                    None => gap,
                    Some(row) => {
                        let needed = row.first.max(self.confirmed.next());
                        let begins_too_late = held.first > needed && tail.from <= needed;
                        // Frames before the first one count for nobody.
                        begins_too_late || gap && tail.from <= row.first
                    }
                }
            }
        };
        if begin_anew {
            entries.forget(tail.stream);
            self.streams.insert(tail.stream, Held::from(tail.from));
        }
        true
    }

    fn warm_streams(&self) -> usize {
        self.streams.iter().filter(|(stream, _)| rows::row_of(&self.known, *stream).is_none()).count()
    }

    fn may_grow(&self, stream: StreamId) -> bool {
        let is_known = rows::row_of(&self.known, stream).is_some();
        self.fence.admits(stream, is_known, &self.rules)
    }

    /// A piece of a stream somebody sent in or beside a packet, as far as `hearing` allows.
    pub(crate) fn take_tail(&mut self, tail: &Tail, entries: &mut dyn Entries) -> Result<(), Fault> {
        self.absorb(tail, false, entries)
    }

    /// The own stream got its next entry.
    pub(crate) fn push_own(&mut self, frame: Frame, extras: Extras) {
        let me = self.me;
        let held = match self.streams.get_mut(me) {
            Some(held) if held.through.next() == frame => held,
            _ => self.streams.insert(me, Held::from(frame)),
        };
        held.push(extras);
        if extras.is_some() {
            self.refresh();
        }
    }

    /// The own Join was read.
    pub(super) fn find_myself(&mut self, now: Micros) {
        if self.mode == Mode::Observer && rows::row_of(&self.known, self.me).is_some() {
            self.mode = Mode::Member;
            self.starving_since = now;
        }
    }
}

fn joined(join: &Join, frame: Frame) -> Row {
    Row { stream: join.stream, slots: join.slots, first: frame.next(), last: Frame::NEVER }
}
