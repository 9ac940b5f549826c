//! One link: what was told over it in either direction. Decides nothing about objects.

mod handles;
mod incoming;
mod outgoing;

use std::collections::VecDeque;

use gaggle_kit::{Micros, PeerId};

use crate::MemberTag;
use crate::blob::Blob;
use crate::input_queue::InputIn;
use crate::interest::Receiver;
use crate::packet::Received;
use crate::playout::{Playhead, SenderClock};
use crate::remote_event::{Inbox, RateLimiter};
use crate::roster::RosterMember;
use crate::sent::Sent;
use crate::value::Values;

/// So much one peer may tell in a second of what others wrote: a few tables of values at once.
const HEARSAY_PER_SECOND: u32 = 1_000;

pub(crate) use handles::Handles;
pub(crate) use incoming::{Incoming, LinkRecord};
pub(crate) use outgoing::{Outgoing, Phase};

/// One link.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) peer: PeerId,
    /// Ours and theirs; theirs is 0 until its hello came.
    pub(crate) epoch: u32,
    pub(crate) their_epoch: u32,
    pub(crate) their_tag: MemberTag,
    /// Their epoch as we knew it when we last said who we are.
    pub(crate) greeted: u32,
    /// Who is at the other end, once it said so and is a member.
    pub(crate) present: Option<RosterMember>,
    /// It only looks on: is told everything, and is not in the roster.
    pub(crate) spectator: bool,
    /// Nothing was heard of it for a while.
    pub(crate) interrupted: bool,
    /// It said that it goes.
    pub(crate) goodbye: bool,
    /// By place of the object.
    pub(crate) out: Vec<Outgoing>,
    /// Places of objects that are due, each once, and of some that were.
    pub(crate) due: Vec<u32>,
    /// What it is told in this round, by handle, and how far that is.
    pub(crate) selected: Vec<(u16, u32)>,
    pub(crate) selected_next: usize,
    /// It was asked what of all objects matters here.
    pub(crate) interest_known: bool,
    pub(crate) handles: Handles,
    pub(crate) sent: Sent,
    /// By handle.
    pub(crate) table: Vec<Incoming>,
    /// By place of the object: its handle in `table`.
    pub(crate) table_of: Vec<u32>,
    /// How many objects the other side was about to introduce when the link began, and how many it
    /// has.
    pub(crate) announced: u32,
    pub(crate) introduced: u32,
    /// How many objects are known because it told of them first.
    pub(crate) brought: usize,
    /// How many objects that nobody else had told of it brought in the name of somebody who left,
    /// since last anybody did.
    pub(crate) legacies: u32,
    /// How often the other side started anew.
    pub(crate) restarts: u32,
    /// How often it said, since then, that it is whom it cannot be.
    pub(crate) doubts: u32,
    /// How often it was told who we are because it did not seem to know.
    pub(crate) answered: u32,
    /// When it first said who it is, and when it was let in.
    pub(crate) greeted_at: Micros,
    pub(crate) welcomed_at: Micros,
    /// What the player at the other end does, if this machine simulates.
    pub(crate) inputs: InputIn,
    /// The last change of our inputs that arrived there.
    pub(crate) inputs_acked: u32,
    /// What its games said.
    pub(crate) inbox: Inbox,
    /// How much it may tell of what others wrote.
    pub(crate) relayed_values_limit: RateLimiter,
    /// Blobs it asked for, and how far they are told.
    pub(crate) pieces: VecDeque<(Blob, usize)>,
    pub(crate) piece_budget: i64,
    /// Values it wrote as a lead, while we do not see it lead.
    pub(crate) values: Values,
    /// Refused records of deleted objects whose handles are closed.
    pub(crate) refused: VecDeque<LinkRecord>,
    pub(crate) received: Received,
    pub(crate) received_at: Micros,
    /// When last any packet came.
    pub(crate) heard_at: Micros,
    /// Something came that the other side waits to have acknowledged.
    pub(crate) owes_ack: bool,
    /// Packets that came since we last acknowledged any.
    pub(crate) unacknowledged: u32,
    /// The newest tick of the other side.
    pub(crate) their_tick: u32,
    pub(crate) rtt: Option<Micros>,
    pub(crate) clock: SenderClock,
    pub(crate) playhead: Playhead,
    lateness: (Micros, Micros),
    pub(crate) sent_at: Micros,
    /// How many packets came in the last ticks: so many acknowledgements must fit.
    pub(crate) arrivals: [u16; 4],
    /// The mean size of a record, in 256ths of a byte.
    pub(crate) record_size: u32,
    /// Bytes that may be sent.
    pub(crate) budget: i64,
    /// How many of them inputs may take.
    pub(crate) input_budget: i64,
}

/// No handle, no place.
pub(crate) const NONE: u32 = u32::MAX;

impl Peer {
    pub(crate) fn new(peer: PeerId, epoch: u32, places: usize, interval: Micros) -> Peer {
        Peer {
            peer,
            epoch,
            their_epoch: 0,
            their_tag: MemberTag(0),
            greeted: 0,
            present: None,
            spectator: false,
            interrupted: false,
            goodbye: false,
            out: vec![Outgoing::default(); places],
            due: Vec::new(),
            selected: Vec::new(),
            selected_next: 0,
            interest_known: false,
            handles: Handles::default(),
            sent: Sent::new(),
            table: Vec::new(),
            table_of: vec![NONE; places],
            announced: 0,
            introduced: 0,
            brought: 0,
            legacies: 0,
            restarts: 0,
            doubts: 0,
            answered: 0,
            greeted_at: Micros::ZERO,
            welcomed_at: Micros::ZERO,
            inputs: InputIn::default(),
            inputs_acked: 0,
            inbox: Inbox::default(),
            relayed_values_limit: RateLimiter::new(HEARSAY_PER_SECOND),
            pieces: VecDeque::new(),
            piece_budget: 0,
            values: Values::default(),
            refused: VecDeque::new(),
            received: Received::default(),
            received_at: Micros::ZERO,
            heard_at: Micros::ZERO,
            owes_ack: false,
            unacknowledged: 0,
            their_tick: 0,
            rtt: None,
            clock: SenderClock::new(interval),
            playhead: Playhead::default(),
            lateness: (Micros::ZERO, Micros::ZERO),
            sent_at: Micros::ZERO,
            arrivals: [0; 4],
            record_size: 12 << 8,
            budget: 0,
            input_budget: 0,
        }
    }

    /// Room for so many objects.
    pub(crate) fn reserve(&mut self, places: usize) {
        self.out.resize(places, Outgoing::default());
        self.table_of.resize(places, NONE);
    }

    /// Everything told in either direction counts for nothing any more.
    pub(crate) fn restart(&mut self, places: usize, interval: Micros) {
        let restarts = self.restarts + 1;
        *self = Peer { restarts, ..Peer::new(self.peer, self.epoch, places, interval) };
    }

    /// Who is told over it.
    pub(crate) fn receiver(&self) -> Option<Receiver> {
        let present = self.present?;
        Some(Receiver { peer: self.peer, player: present.slot, member: present.id })
    }

    /// How many objects the other side has yet to introduce of those it had when the link began.
    pub(crate) fn unheard(&self) -> u32 {
        self.announced.saturating_sub(self.introduced)
    }

    /// The handle of an object; one is given if it has none, while there are any.
    #[inline]
    pub(crate) fn handle_of(&mut self, place: u32, tick: u32) -> Option<u16> {
        let out = &mut self.out[place as usize];
        if out.handle.is_none() {
            out.handle = self.handles.take(tick);
            (out.closed_in, out.told_in) = (0, 0);
        }
        out.handle
    }

    /// An object is due.
    #[inline]
    pub(crate) fn make_due(&mut self, place: u32) {
        let out = &mut self.out[place as usize];
        out.phase = Phase::Due;
        if !std::mem::replace(&mut out.listed, true) {
            self.due.push(place);
        }
    }

    /// How unevenly its packets come, looked at once a second.
    pub(crate) fn lateness(&mut self, now: Micros) -> Micros {
        let (at, lateness) = self.lateness;
        if now.since(at) >= Micros::from_secs(1) {
            self.lateness = (now, self.clock.lateness());
        }
        lateness
    }

    /// Notes an arrival for the number of acknowledgements to send.
    pub(crate) fn note_arrival(&mut self) {
        self.arrivals[0] = self.arrivals[0].saturating_add(1);
    }

    /// How many words of acknowledgements cover the last four ticks.
    pub(crate) fn ack_words(&self) -> usize {
        let packets: usize = self.arrivals.iter().map(|&count| usize::from(count)).sum();
        packets.div_ceil(32).clamp(1, crate::packet::ACK_WORDS_MAX)
    }

    pub(crate) fn next_tick(&mut self) {
        self.arrivals.rotate_right(1);
        self.arrivals[0] = 0;
    }
}
