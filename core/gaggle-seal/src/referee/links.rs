//! Links of a referee: one per client, with its acknowledgements and its behavior.
//!
//! The referee looks them up by number; numbers of closed links are reused late. Absent: the log,
//! packets.

use gaggle_kit::rate_limit::RateLimiter;
use gaggle_kit::{Frame, Micros};

use crate::clocks::Clocks;
use crate::roster::StreamId;
use crate::shape::StreamSlots;
use crate::slack::Slack;
use crate::transfer::Outgoing;

/// Number of a client's link, given by [`crate::Referee::handle_connected`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl LinkId {
    /// Small number of the link, for tables of the caller; reused after the link closed.
    pub const fn index(self) -> usize {
        self.index as usize
    }
}

/// Frames a client holds, and frames it was sent.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Last frame acknowledged in all lanes in this term. `None`: it has not acknowledged any yet.
    pub(crate) ack: Option<Frame>,
    /// The same by lane, if there is more than one.
    pub(crate) lanes: Vec<Frame>,
    /// Last frame it was sent without a gap.
    pub(crate) sent: Frame,
    /// Whether it received frames that build on others it does not hold.
    pub(crate) has_gap: bool,
    /// Until this time, repeated frames may still be under way.
    pub(crate) resend_at: Micros,
    pub(crate) rate: RateLimiter,
    /// Bytes of states.
    pub(crate) state_rate: RateLimiter,
}

/// Arrival of a client's packets.
#[derive(Debug)]
pub(crate) struct Arrivals {
    pub(crate) heard_at: Micros,
    pub(crate) packets: RateLimiter,
    pub(crate) messages: RateLimiter,
    pub(crate) pieces: RateLimiter,
    /// Newest entry that arrived.
    pub(crate) newest: Frame,
    pub(crate) slack: Slack,
}

#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) stream: StreamId,
    /// Slots of the client; `None` for a spectator.
    pub(crate) slots: Option<StreamSlots>,
    pub(crate) progress: Progress,
    pub(crate) arrivals: Arrivals,
    pub(crate) clocks: Clocks,
    /// Answers limited to one per interval: the terms, or the end.
    pub(crate) answers: Answers,
    pub(crate) snapshot: SnapshotRequest,
    /// Whether it was sent frames or terms of this match, and so may hold some.
    pub(crate) is_told: bool,
    /// State under way to it.
    pub(crate) sending: Option<Outgoing>,
    /// Frames it simulated beyond the sealed one, as it last reported.
    pub(crate) depth: u8,
}

impl Link {
    fn new(now: Micros, stream: StreamId, slots: Option<StreamSlots>) -> Link {
        Link {
            stream,
            slots,
            progress: Progress {
                ack: None,
                lanes: Vec::new(),
                sent: Frame::START,
                has_gap: false,
                resend_at: Micros::ZERO,
                rate: RateLimiter::default(),
                state_rate: RateLimiter::default(),
            },
            arrivals: Arrivals {
                heard_at: now,
                packets: RateLimiter::default(),
                messages: RateLimiter::default(),
                pieces: RateLimiter::default(),
                newest: Frame::START,
                slack: Slack::new(),
            },
            clocks: Clocks::default(),
            answers: Answers::default(),
            snapshot: SnapshotRequest::default(),
            is_told: false,
            sending: None,
            depth: 0,
        }
    }

    /// Last frame acknowledged in a lane.
    pub(crate) fn ack_of(&self, lane: usize, ack: Frame) -> Frame {
        self.progress.lanes.get(lane).copied().unwrap_or(ack)
    }
}

/// When a client was last answered.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    told_at: Option<Micros>,
}

impl Answers {
    /// Whether an answer limited to one per interval may be sent now, which it then is.
    #[must_use]
    pub(crate) fn may_send(&mut self, now: Micros, interval: Micros) -> bool {
        let may = self.told_at.is_none_or(|told| now.since(told) >= interval);
        if may {
            self.told_at = Some(now);
        }
        may
    }
}

/// Whether a client wants a state, of which frames, and when it was last sent one.
#[derive(Debug, Default)]
pub(crate) struct SnapshotRequest {
    is_wanted: bool,
    /// The state is of this frame or a later one.
    after: Frame,
    sent_at: Option<Micros>,
}

impl SnapshotRequest {
    /// The client wants a state.
    pub(crate) fn want(&mut self) {
        self.is_wanted = true;
    }

    /// The client wants a state of this frame or a later one: its own is wrong.
    pub(crate) fn want_after(&mut self, frame: Frame) {
        (self.is_wanted, self.after) = (true, frame);
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// Whether a state is wanted, and the last one was sent at least an interval ago.
    pub(crate) fn is_due(&self, now: Micros, interval: Micros) -> bool {
        self.is_wanted && self.sent_at.is_none_or(|at| now.since(at) >= interval)
    }

    /// Whether a state of this frame is new enough.
    pub(crate) fn allows(&self, frame: Frame) -> bool {
        frame >= self.after
    }

    /// A state is sent.
    pub(crate) fn note_sent(&mut self, now: Micros) {
        *self = SnapshotRequest { sent_at: Some(now), ..SnapshotRequest::default() };
    }
}

#[derive(Debug, Default)]
pub(crate) struct Links {
    links: Vec<(u32, Option<Link>)>,
    count: usize,
}

impl Links {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// One more than the highest number in use.
    pub(crate) fn end(&self) -> usize {
        self.links.len()
    }

    pub(crate) fn add(&mut self, now: Micros, stream: StreamId, slots: Option<StreamSlots>) -> LinkId {
        let link = Some(Link::new(now, stream, slots));
        self.count += 1;
        if let Some(index) = self.links.iter().position(|(_, link)| link.is_none()) {
            let (generation, place) = &mut self.links[index];
            *generation += 1;
            *place = link;
            return LinkId { index: index as u32, generation: *generation };
        }
        self.links.push((0, link));
        LinkId { index: self.links.len() as u32 - 1, generation: 0 }
    }

    pub(crate) fn remove(&mut self, id: LinkId) -> Option<Link> {
        let (generation, link) = self.links.get_mut(id.index())?;
        let link = (*generation == id.generation).then(|| link.take()).flatten();
        self.count -= usize::from(link.is_some());
        link
    }

    pub(crate) fn get(&self, id: LinkId) -> Option<&Link> {
        let (generation, link) = self.links.get(id.index())?;
        link.as_ref().filter(|_| *generation == id.generation)
    }

    pub(crate) fn get_mut(&mut self, id: LinkId) -> Option<&mut Link> {
        let (generation, link) = self.links.get_mut(id.index())?;
        link.as_mut().filter(|_| *generation == id.generation)
    }

    /// The link with this small number.
    pub(crate) fn at(&mut self, index: usize) -> Option<(LinkId, &mut Link)> {
        let (generation, link) = self.links.get_mut(index)?;
        let id = LinkId { index: index as u32, generation: *generation };
        link.as_mut().map(|link| (id, link))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (LinkId, &Link)> {
        self.links.iter().enumerate().filter_map(|(index, (generation, link))| {
            let id = LinkId { index: index as u32, generation: *generation };
            link.as_ref().map(|link| (id, link))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Micros = Micros::from_secs(1);

    #[test]
    fn answer_is_sent_once_per_interval() {
        let mut answers = Answers::default();
        let sent = [0, 1, 999, 1_000].map(|ms| answers.may_send(Micros::from_millis(ms), SECOND));
        assert_eq!(sent, [true, false, false, true]);
    }

    #[test]
    fn wrong_state_needs_newer_one() {
        let mut snapshot = SnapshotRequest::default();
        assert!(!snapshot.is_due(SECOND, SECOND) && snapshot.allows(Frame::START));
        snapshot.want_after(Frame::new(9));
        assert!(snapshot.is_due(SECOND, SECOND) && !snapshot.allows(Frame::new(8)));
        snapshot.want();
        assert!(snapshot.allows(Frame::new(9)) && !snapshot.allows(Frame::new(8)));
    }

    #[test]
    fn state_wanted_again_waits_for_interval() {
        let mut snapshot = SnapshotRequest::default();
        snapshot.want_after(Frame::new(9));
        snapshot.note_sent(SECOND);
        assert!(!snapshot.is_wanted() && snapshot.allows(Frame::START));
        snapshot.want();
        assert!(snapshot.is_wanted() && !snapshot.is_due(SECOND, SECOND));
        assert!(snapshot.is_due(SECOND + SECOND, SECOND));
    }

    #[test]
    fn number_of_closed_link_names_no_later_one() {
        let mut links = Links::default();
        let stream = StreamId { peer: gaggle_kit::PeerId::from_u128(1), incarnation: 0 };
        let first = links.add(SECOND, stream, None);
        assert!(links.remove(first).is_some() && links.remove(first).is_none());
        let second = links.add(SECOND, stream, None);
        assert_eq!((first.index(), links.len(), links.end()), (second.index(), 1, 1));
        assert!(links.get(first).is_none() && links.get(second).is_some());
    }
}
