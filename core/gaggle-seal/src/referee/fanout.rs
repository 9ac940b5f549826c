//! Fan-out of a referee: rounds of merged packets, and bodies shared by clients that hold the same
//! frames.
//!
//! The referee begins a round per send interval and asks for the body of each link. Absent: which
//! clients are connected, headers, acknowledgements.

use gaggle_kit::{Frame, Micros};

use crate::config::SealConfig;
use crate::lanes;
use crate::log::Log;
use crate::shape::PACKET_BYTES_MAX;

/// Space for a body beside its header.
const BODY_BYTES_MAX: usize = PACKET_BYTES_MAX - 16;
/// Most packets per round to one client that is behind.
pub(super) const PACKETS_PER_ROUND_MAX: u8 = 4;

/// Full-size bodies for which space is reserved at the start.
const BODIES_KEPT: usize = 16;

#[derive(Debug, Clone, Copy)]
struct Body {
    lane: u16,
    from: Frame,
    to: Frame,
    start: u32,
    end: u32,
}

/// Position within a round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor {
    pub(super) link: usize,
    pub(super) lane: usize,
    /// Frame of the lane after which the link's next packet continues.
    pub(super) at: Frame,
    pub(super) packets: u8,
}

/// Rounds of both kinds of clients: spectators have their own interval and are told later.
#[derive(Debug)]
pub(super) struct Fanouts {
    players: Fanout,
    spectators: Fanout,
}

impl Fanouts {
    pub(super) fn new(config: &SealConfig, told: Frame) -> Fanouts {
        let delayed = told.saturating_sub(config.spectator_delay_frames);
        Fanouts {
            players: Fanout::new(config.full_bytes, told),
            spectators: Fanout::new(config.full_bytes, delayed),
        }
    }

    /// Begins the rounds that are due. Spectators are told what players were told a delay ago.
    pub(super) fn begin(&mut self, now: Micros, config: &SealConfig, log: &Log, told: Frame) {
        self.players.begin(now, config.send_interval, log, told);
        let delayed = told.saturating_sub(config.spectator_delay_frames);
        self.spectators.begin(now, config.spectator_interval, log, delayed);
    }

    /// Lets rounds that have just begun go up to `told`.
    pub(super) fn extend(&mut self, config: &SealConfig, told: Frame) {
        self.players.extend(told);
        self.spectators.extend(told.saturating_sub(config.spectator_delay_frames));
    }

    /// The rounds of one kind of client.
    pub(super) fn of(&mut self, is_spectator: bool) -> &mut Fanout {
        if is_spectator { &mut self.spectators } else { &mut self.players }
    }
}

#[derive(Debug)]
pub(super) struct Fanout {
    bodies: Vec<Body>,
    bytes: Vec<u8>,
    /// `None` between rounds.
    cursor: Option<Cursor>,
    began_at: Option<Micros>,
    /// Last frame of this round, and those of the two rounds before.
    limit: Frame,
    before: [Frame; 2],
    /// Whether bodies contain all unacknowledged frames; otherwise each frame is sent twice.
    is_full: bool,
    largest: usize,
    full_bytes: usize,
}

impl Fanout {
    pub(super) fn new(full_bytes: usize, told: Frame) -> Fanout {
        Fanout {
            bodies: Vec::with_capacity(64),
            bytes: Vec::with_capacity(BODIES_KEPT * PACKET_BYTES_MAX),
            cursor: None,
            began_at: None,
            limit: told,
            before: [told; 2],
            is_full: true,
            largest: 0,
            full_bytes,
        }
    }

    /// Begins a round if it is time for one.
    fn begin(&mut self, now: Micros, interval: Micros, log: &Log, told: Frame) {
        // Half a millisecond early instead of a whole frame late.
        let slop = Micros::new(500);
        if self.began_at.is_some_and(|began| now.since(began) + slop < interval) {
            return;
        }
        self.began_at = Some(now);
        self.choose_mode(log);
        self.bodies.clear();
        self.bytes.clear();
        self.largest = 0;
        self.before = [self.limit, self.before[0]];
        self.limit = told;
        self.cursor = Some(Cursor { link: 0, lane: 0, at: Frame::START, packets: 0 });
    }

    fn choose_mode(&mut self, log: &Log) {
        if self.is_full {
            self.is_full = self.largest <= self.full_bytes;
        } else if self.largest * 4 <= self.full_bytes && log.sealed() > Frame::START {
            self.is_full = true;
        }
    }

    /// Lets the round go up to `told` if it has just begun.
    fn extend(&mut self, told: Frame) {
        let is_fresh = self.cursor.is_some_and(|cursor| cursor.link == 0 && cursor.packets == 0);
        if is_fresh && self.bodies.is_empty() {
            self.limit = told;
        }
    }

    pub(super) fn cursor(&self) -> Option<Cursor> {
        self.cursor
    }

    pub(super) fn set_cursor(&mut self, cursor: Option<Cursor>) {
        self.cursor = cursor;
    }

    /// Last frame this round tells.
    pub(super) fn limit(&self) -> Frame {
        self.limit
    }

    /// First frame whose successors are sent to a client that acknowledged `ack` and was sent
    /// frames up to `sent`.
    pub(super) fn from(&self, ack: Frame, sent: Frame) -> Frame {
        if self.is_full { ack } else { self.before[1].min(sent).max(ack) }
    }

    /// Frames of a lane after `from`, as many as fit in a packet, and the last of them.
    pub(super) fn body(&mut self, log: &Log, lane: usize, from: Frame) -> (&[u8], Frame) {
        let is_it = |body: &&Body| usize::from(body.lane) == lane && body.from == from;
        let found = self.bodies.iter().find(is_it).copied();
        let body = match found {
            Some(body) => body,
            None => {
                let start = self.bytes.len();
                let to =
                    lanes::write(log, lane, from, self.limit, self.limit, BODY_BYTES_MAX, &mut self.bytes);
                let end = self.bytes.len();
                self.largest = self.largest.max(end - start);
                let body = Body { lane: lane as u16, from, to, start: start as u32, end: end as u32 };
                self.bodies.push(body);
                body
            }
        };
        (&self.bytes[body.start as usize..body.end as usize], body.to)
    }
}
