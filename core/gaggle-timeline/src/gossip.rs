//! Help for peers that cannot hear each other: requests for entries, answers, and forwarded
//! messages.
//!
//! `Session` asks what is due and forwards packets. Absent: rules of views, which entries are
//! right, links.

use gaggle_kit::{Frame, Micros, PeerId};

use crate::entries::Entries;
use crate::membership::{self, EntryControl, EntryRange, Held};
use crate::peers::Allowed;
use crate::relay::{Backfill, HEARD_NEVER, HEARD_UNIT_MS, Other};
use crate::roster::StreamId;
use crate::session::Cx;

pub(crate) use crate::relay::NEEDS_MAX;

/// Entries of a peer that was not heard directly for this long are requested from others.
pub(crate) const SILENCE: Micros = Micros::from_millis(300);
/// Ticks between two requests.
const ASK_TICKS: u64 = 2;
/// A stall of this many ticks leads to a request for entries.
const STALL_TICKS: u32 = 3;
/// A request this old is not answered.
const ASKED_TICKS: u64 = 120;

/// When entries of which peers were requested, and what was given in this tick.
#[derive(Debug, Default)]
pub(crate) struct Gossip {
    asked_tick: u64,
    asked: Vec<(StreamId, u64)>,
    /// Streams given to each peer in the tick `given_tick`.
    given: Vec<(PeerId, StreamId)>,
    given_tick: u64,
}

impl Gossip {
    /// Whether a stall is long enough to request entries.
    pub(crate) fn is_late(stalled_ticks: u32) -> bool {
        stalled_ticks >= STALL_TICKS
    }

    /// Whether entries may be requested in this tick. True once per tick.
    #[must_use]
    pub(crate) fn take_due(&mut self, ticks: u64) -> bool {
        let is_due = ticks >= self.asked_tick + ASK_TICKS;
        if is_due {
            self.asked_tick = ticks;
        }
        is_due
    }

    /// Asks these peers for entries of other peers' streams from these frames on.
    pub(crate) fn ask(
        &mut self,
        cx: &mut Cx,
        needs: &[(StreamId, Frame)],
        peers: impl Iterator<Item = PeerId>,
    ) {
        if needs.is_empty() {
            return;
        }
        self.asked.retain(|(stream, at)| {
            cx.ticks - at < ASKED_TICKS && !needs.iter().any(|(needed, _)| needed == stream)
        });
        self.asked.extend(needs.iter().map(|(stream, _)| (*stream, cx.ticks)));
        for peer in peers {
            let others: Vec<_> = needs.iter().copied().filter(|(s, _)| s.peer != peer).collect();
            if !others.is_empty() {
                Other::BackfillRequest(others).encode(cx.outbox.packet(peer));
            }
        }
    }

    /// Whether entries of a stream were requested recently. Otherwise only its owner may send them:
    /// a peer that sends another's entries unasked may be lying.
    pub(crate) fn has_asked(&self, stream: StreamId, ticks: u64) -> bool {
        self.asked.iter().any(|(asked, at)| *asked == stream && ticks - at < ASKED_TICKS)
    }

    /// Whether to give a stream to a peer: once per tick each, however often it is requested,
    /// because answers are larger than requests.
    #[must_use]
    pub(crate) fn may_give(&mut self, peer: PeerId, stream: StreamId, ticks: u64) -> bool {
        if self.given_tick != ticks {
            self.given.clear();
            self.given_tick = ticks;
        }
        let is_first = !self.given.contains(&(peer, stream));
        if is_first {
            self.given.push((peer, stream));
        }
        is_first
    }

    /// Number of remembered answers of a tick.
    #[cfg(test)]
    pub(crate) fn given_count(&self) -> usize {
        self.given.len()
    }
}

/// Held entries of a stream from a frame on, at most this many. The range ends at an entry with
/// more than inputs.
pub(crate) fn held_range(
    entries: &dyn Entries,
    held: &Held,
    stream: StreamId,
    from: Frame,
    count: u32,
) -> EntryRange {
    let from = from.max(held.first());
    let mut range = EntryRange::from(stream, from);
    let mut value = Vec::new();
    for number in from.number()..=held.through().min(from.saturating_add(count).previous()).number() {
        let frame = Frame::new(number);
        value.clear();
        entries.write(stream, frame, &mut value);
        let extras = held.extras(frame);
        if !range.push(&value, extras) || extras != EntryControl::NONE {
            break;
        }
    }
    range
}

/// Time since a peer was heard, as packets carry it.
pub(crate) fn heard_age(now: Micros, heard_at: Option<Micros>) -> u8 {
    heard_at.map_or(HEARD_NEVER, |at| {
        (now.since(at).as_millis() / HEARD_UNIT_MS).min(u64::from(HEARD_NEVER) - 1) as u8
    })
}

/// When the giver of entries heard their owner; the giver's packet took `under_way` to arrive.
/// Without this correction a peer that is gone would count as alive for as long as packets travel.
pub(crate) fn heard_at(give: &Backfill, now: Micros, under_way: Micros) -> Option<Micros> {
    (give.heard_age != HEARD_NEVER).then(|| {
        let age = Micros::from_millis((u64::from(give.heard_age) + 1) * HEARD_UNIT_MS);
        Micros::new(now.get().saturating_sub(age.get() + under_way.get()))
    })
}

/// Nothing proves which peer wrote a forwarded message. So it must not have a greater effect than
/// the forwarding peer could have with messages of its own, or by withholding others.
pub(crate) fn may_be_true(
    now: Micros,
    messenger: &mut Allowed,
    message: &membership::Message,
    is_awaited: impl FnOnce(crate::Incarnation) -> bool,
) -> bool {
    use membership::Message;
    match message {
        // Accepted on direct links only: it could end a stay.
        Message::PeerStatus { .. } | Message::AskSnapshot => false,
        // This could end a stay, too: it is accepted only as an answer this peer waits for.
        Message::Gone { incarnation } => is_awaited(*incarnation),
        // Each restarts the view change of all peers, so messages of a peer that forwards too many
        // are ignored, no matter which peer wrote them.
        Message::Collect { ballot, .. } | Message::Nack { promised: ballot, .. } => {
            messenger.may_bring(now, ballot.number)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::Ballot;
    use crate::peers::FORWARDS;
    use crate::roster::Incarnation;

    fn stream(number: u128) -> StreamId {
        StreamId { peer: PeerId::from_u128(number), incarnation: Incarnation(1) }
    }

    #[test]
    fn owner_is_not_asked_for_its_own_stream() {
        let (mut cx, mut gossip) = (Cx::for_test(), Gossip::default());
        cx.ticks = 10;
        assert!(gossip.take_due(cx.ticks) && !gossip.take_due(cx.ticks + 1));
        let peers = [2, 3].map(PeerId::from_u128);
        gossip.ask(&mut cx, &[(stream(2), Frame::new(5))], peers.into_iter());
        assert_eq!(cx.outbox.pop().map(|(to, ..)| to.to_u128()), Some(3));
        assert_eq!(cx.outbox.pop(), None);
        assert!(gossip.has_asked(stream(2), 11) && !gossip.has_asked(stream(3), 11));
        assert!(!gossip.has_asked(stream(2), 10 + ASKED_TICKS));
    }

    #[test]
    fn stream_is_given_once_per_tick_and_peer() {
        let (mut gossip, peer) = (Gossip::default(), PeerId::from_u128(2));
        assert!(gossip.may_give(peer, stream(3), 1) && !gossip.may_give(peer, stream(3), 1));
        assert!(gossip.may_give(PeerId::from_u128(4), stream(3), 1));
        assert!(gossip.may_give(peer, stream(3), 2));
        assert_eq!(gossip.given_count(), 1);
    }

    #[test]
    fn forwarded_message_does_no_more_than_messenger_could() {
        use membership::Message;
        let mut limits = Allowed::default();
        let now = Micros::from_secs(1);
        let mut brings = |message: &Message, awaited| may_be_true(now, &mut limits, message, |_| awaited);
        assert!(!brings(&Message::AskSnapshot, true));
        let gone = Message::Gone { incarnation: Incarnation(1) };
        assert!(brings(&gone, true) && !brings(&gone, false));
        let nack = |number| {
            let promised = Ballot { number, by: stream(2) };
            Message::Nack { incarnation: Incarnation(1), promised }
        };
        let heeded = (1..99).filter(|number| brings(&nack(*number), false)).count();
        assert_eq!(heeded, FORWARDS.burst as usize);
        assert!(brings(&nack(1), false), "repeating costs nothing");
    }

    #[test]
    fn word_of_giver_is_as_old_as_it_was_and_its_way() {
        let now = Micros::from_secs(10);
        assert_eq!(heard_age(now, None), HEARD_NEVER);
        let age = heard_age(now, Some(Micros::from_millis(9_900)));
        let tail = EntryRange::from(stream(2), Frame::new(1));
        let give = |heard_age| Backfill { tag: 0, heard_age, confirmed: Frame::START, tail: tail.clone() };
        let at = heard_at(&give(age), now, Micros::from_millis(50)).expect("it heard it");
        assert!(at < Micros::from_millis(9_900 - 50) && at > Micros::from_millis(9_800));
        assert_eq!(heard_at(&give(HEARD_NEVER), now, Micros::ZERO), None);
    }
}
