//! One session with a peer: keys, address, and which datagrams to accept.
//!
//! Owned by `endpoint.rs`. Absent: handshakes, sockets.

use std::net::SocketAddr;

use gaggle_kit::{Micros, PeerId};

use super::keys::{Seal, TAG_BYTES};
use super::packet::{HEADER_BYTES, Sealed, header};
use super::replay::Replay;

/// Bytes of an address probe or its answer: kind and token.
const PROBE_BYTES: usize = 1 + 8;
const QUESTION: u8 = 0;
const ANSWER: u8 = 1;

/// Bytes of the datagram that probes an address.
const QUESTION_DATAGRAM_BYTES: usize = HEADER_BYTES + PROBE_BYTES + TAG_BYTES;

/// Interval of probes of a new address.
const QUESTION_INTERVAL: Micros = Micros::from_millis(100);

pub(crate) struct Session {
    /// Session number of datagrams to the local peer, and of those to the other.
    number: u16,
    remote_number: u16,
    peer: PeerId,
    address: SocketAddr,
    seal: Seal,
    open: Seal,
    sent: u64,
    replay: Replay,
    heard_at: Micros,
    /// The other side has proven that it has the keys.
    confirmed: bool,
    /// An encrypted datagram has arrived.
    used: bool,
    /// Answer to a repeated knock, on the side that received the knock.
    answer: Option<Answer>,
    move_to: Option<Move>,
}

/// The knock that started a session, and the welcome that answered it.
struct Answer {
    ephemeral: [u8; 32],
    welcome: Vec<u8>,
}

/// A possible new address of the peer. It must be proven, since a copy of a datagram can be sent
/// from anywhere.
struct Move {
    address: SocketAddr,
    token: [u8; 8],
    /// Until then the address gets no more bytes than came from there.
    received: usize,
    sent: usize,
    next_at: Micros,
}

/// Result of decrypting a datagram.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    /// A datagram for the link, in the buffer behind the header, with this length.
    Data(usize),
    /// A probe, already handled.
    Own,
    /// Not authentic, or repeated.
    Refused,
}

/// Initial data of a session.
pub(crate) struct SessionParts {
    pub(crate) number: u16,
    pub(crate) remote_number: u16,
    pub(crate) peer: PeerId,
    pub(crate) address: SocketAddr,
    pub(crate) seal: Seal,
    pub(crate) open: Seal,
}

impl Session {
    pub(crate) fn new(now: Micros, parts: SessionParts) -> Session {
        let SessionParts { number, remote_number, peer, address, seal, open } = parts;
        Session {
            number,
            remote_number,
            peer,
            address,
            seal,
            open,
            sent: 0,
            replay: Replay::new(),
            heard_at: now,
            confirmed: false,
            used: false,
            answer: None,
            move_to: None,
        }
    }

    /// Number of the session in datagrams to the local peer.
    pub(crate) fn number(&self) -> u16 {
        self.number
    }

    pub(crate) fn peer(&self) -> PeerId {
        self.peer
    }

    /// Whether the other side has proven that it has the keys.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.confirmed
    }

    /// The code of a welcome has proven that the other side has the keys.
    pub(crate) fn confirm(&mut self) {
        self.confirmed = true;
    }

    /// When the other side was last heard.
    pub(crate) fn heard_at(&self) -> Micros {
        self.heard_at
    }

    /// Whether nothing was heard for so long that the session is over: a handshake that leads to no
    /// datagram ends sooner.
    pub(crate) fn is_silent(&self, now: Micros, timeout: Micros, handshake_timeout: Micros) -> bool {
        now.since(self.heard_at) > if self.used { timeout } else { handshake_timeout }
    }

    /// Keeps the welcome that answers a knock with this key, for a repetition of the knock.
    pub(crate) fn keep_welcome(&mut self, ephemeral: [u8; 32], welcome: Vec<u8>) {
        self.answer = Some(Answer { ephemeral, welcome });
    }

    /// The welcome for a knock of this peer with this key, if that started the session.
    pub(crate) fn welcome_for(&self, peer: PeerId, ephemeral: &[u8; 32]) -> Option<&[u8]> {
        let answer = self.answer.as_ref().filter(|answer| answer.ephemeral == *ephemeral)?;
        (self.peer == peer).then_some(&answer.welcome)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Encrypts a datagram into the buffer and returns its length.
    pub(crate) fn seal(&mut self, kind: Sealed, bytes: &[u8], buffer: &mut [u8]) -> usize {
        let header = header(kind, self.remote_number, self.sent);
        let end = HEADER_BYTES + bytes.len();
        buffer[..HEADER_BYTES].copy_from_slice(&header);
        buffer[HEADER_BYTES..end].copy_from_slice(bytes);
        let tag = self.seal.seal(self.sent, &header, &mut buffer[HEADER_BYTES..end]);
        buffer[end..end + TAG_BYTES].copy_from_slice(&tag);
        self.sent += 1;
        end + TAG_BYTES
    }

    /// Decrypts a datagram of this session in place. `transmit` receives datagrams to send in
    /// response.
    pub(crate) fn handle(
        &mut self,
        now: Micros,
        from: SocketAddr,
        (kind, count): (Sealed, u16),
        datagram: &mut [u8],
        token: impl FnOnce() -> Option<[u8; 8]>,
        transmit: &mut dyn FnMut(SocketAddr, &[u8]),
    ) -> Opened {
        let size = datagram.len();
        let Some((head, sealed)) = datagram.split_first_chunk_mut::<HEADER_BYTES>() else {
            return Opened::Refused;
        };
        let Some((bytes, tag)) = sealed.split_last_chunk_mut::<TAG_BYTES>() else { return Opened::Refused };
        let count = self.replay.whole(count);
        if !self.replay.is_new(count) || !self.open.open(count, head, bytes, *tag) {
            return Opened::Refused;
        }
        let newest = self.replay.note(count);
        self.heard_at = now;
        self.confirmed = true;
        self.used = true;
        if kind == Sealed::Probe {
            self.handle_probe(from, bytes, transmit);
            return Opened::Own;
        }
        let length = bytes.len();
        if from == self.address {
            self.move_to = None;
        } else if newest {
            // An old datagram from another address is a copy, or was overtaken by a datagram from
            // the new address.
            self.consider_move(now, from, size, token, transmit);
        }
        Opened::Data(length)
    }

    fn handle_probe(&mut self, from: SocketAddr, bytes: &[u8], transmit: &mut dyn FnMut(SocketAddr, &[u8])) {
        let Ok([what, token @ ..]) = <[u8; PROBE_BYTES]>::try_from(bytes) else { return };
        if what == QUESTION {
            let mut buffer = [0; QUESTION_DATAGRAM_BYTES];
            let size = self.seal(Sealed::Probe, &probe(ANSWER, token), &mut buffer);
            transmit(from, &buffer[..size]);
        } else if what == ANSWER
            && let Some(moved) = self.move_to.take_if(|moved| moved.address == from && moved.token == token)
        {
            self.address = moved.address;
        }
    }

    fn consider_move(
        &mut self,
        now: Micros,
        from: SocketAddr,
        size: usize,
        token: impl FnOnce() -> Option<[u8; 8]>,
        transmit: &mut dyn FnMut(SocketAddr, &[u8]),
    ) {
        if self.move_to.as_ref().is_none_or(|moved| moved.address != from) {
            let Some(token) = token() else { return };
            self.move_to = Some(Move { address: from, token, received: 0, sent: 0, next_at: now });
        }
        let Some(moved) = &mut self.move_to else { return };
        moved.received += size;
        if now < moved.next_at || moved.sent + QUESTION_DATAGRAM_BYTES > moved.received {
            return;
        }
        moved.sent += QUESTION_DATAGRAM_BYTES;
        moved.next_at = now + QUESTION_INTERVAL;
        let token = moved.token;
        let mut buffer = [0; QUESTION_DATAGRAM_BYTES];
        let size = self.seal(Sealed::Probe, &probe(QUESTION, token), &mut buffer);
        transmit(from, &buffer[..size]);
    }
}

fn probe(what: u8, token: [u8; 8]) -> [u8; PROBE_BYTES] {
    let mut bytes = [what; PROBE_BYTES];
    bytes[1..].copy_from_slice(&token);
    bytes
}
