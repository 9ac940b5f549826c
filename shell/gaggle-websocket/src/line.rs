//! One connection in its thread: what is read from it, and when it is read again.
//!
//! The reactor reads lines in turns and acts on what comes of it.
//! Absent: waiting for the kernel, other connections.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gaggle_kit::Micros;
use gaggle_kit::rate_limit::{RateLimit, RateLimiter};

use crate::codec::{Decoder, Message, Queue};
use crate::connection::Connection;
use crate::reactor::{Flow, Handler};

/// Bytes taken from the kernel at once, into a buffer all connections of a thread share.
pub(crate) const READ_BYTES: usize = 16_384;
/// How long a handler that pauses a connection does not hear from it.
const PAUSE: Duration = Duration::from_millis(200);

/// A connection with what only its thread needs.
pub(crate) struct Line<Q> {
    pub(crate) connection: Arc<Connection<Q>>,
    decoder: Decoder,
    reads: RateLimiter,
    /// It is over; so many bytes that still come are thrown away.
    pub(crate) lingers: Option<u32>,
    pub(crate) reading: Reading,
}

/// When a connection is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// When the kernel says that there is something.
    Awaited,
    /// In the next turn, whatever the kernel says.
    Due,
    /// When its pause is over.
    Paused,
    /// When the client has read what waits for it.
    Blocked,
}

/// What came of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Came {
    /// As much as can be taken at once: there may be more.
    Full,
    /// Less than that: the kernel says when there is more.
    Part,
    Nothing,
    /// Nothing more is to be read until this moment.
    Pause(Instant),
    /// Nothing more is to be read until the client reads.
    Block,
    /// It is over for this side.
    Over,
    /// The other side is gone.
    Gone,
}

impl<Q: Queue> Line<Q> {
    pub(crate) fn new(connection: Arc<Connection<Q>>, decoder: Decoder) -> Line<Q> {
        Line { connection, decoder, reads: RateLimiter::default(), lingers: None, reading: Reading::Awaited }
    }

    /// Reads from the kernel once and handles what came.
    pub(crate) fn read<H: Handler<Queue = Q>>(
        &mut self,
        handler: &H,
        limit: &RateLimit,
        (began, now): (Instant, Instant),
        buffer: &mut [u8],
    ) -> Came {
        let count = match self.connection.read(buffer) {
            // A client that has closed only its own side still takes what was said last.
            Ok(0) if self.lingers.is_some() && self.connection.is_blocked() => return Came::Nothing,
            Ok(0) => return Came::Gone,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Came::Nothing,
            Err(error) if error.kind() == ErrorKind::Interrupted => return Came::Full,
            Err(_) => return Came::Gone,
        };
        if let Some(left) = &mut self.lingers {
            let Some(rest) = left.checked_sub(count as u32) else { return Came::Gone };
            *left = rest;
            return if count == buffer.len() { Came::Full } else { Came::Part };
        }
        match self.take(handler, &mut buffer[..count]) {
            Heard::More => {}
            Heard::Pause => return Came::Pause(now + PAUSE),
            Heard::Block => return Came::Block,
            Heard::Over => return Came::Over,
        }
        let time = Micros::from(now.duration_since(began));
        self.reads.acquire(time, limit, count as u64);
        let wait = self.reads.retry_after(time, limit, 1);
        if wait > Micros::ZERO {
            handler.throttled(&self.connection);
            return Came::Pause(now + Duration::from_micros(wait.get()));
        }
        if count == buffer.len() { Came::Full } else { Came::Part }
    }

    /// Takes what came from the kernel.
    pub(crate) fn take<H: Handler<Queue = Q>>(&mut self, handler: &H, bytes: &mut [u8]) -> Heard {
        if !self.connection.is_encrypted() {
            return self.hear(handler, bytes);
        }
        let (mut sealed, mut plain) = (&*bytes, vec![0; READ_BYTES]);
        let mut heard = Heard::More;
        loop {
            match self.connection.decrypt(&mut sealed, &mut plain) {
                Ok(count @ 1..) => match self.hear(handler, &mut plain[..count]) {
                    Heard::Over => return Heard::Over,
                    more => heard = heard.max(more),
                },
                Err(error) if error.kind() == ErrorKind::WouldBlock => return heard,
                _ => return Heard::Over,
            }
        }
    }

    /// Passes on the messages in these bytes.
    pub(crate) fn hear<H: Handler<Queue = Q>>(&mut self, handler: &H, bytes: &mut [u8]) -> Heard {
        let (connection, mut heard) = (&*self.connection, Heard::More);
        let (mut beats, mut has_pings) = (0, false);
        let decoded = self.decoder.decode(bytes, |message| {
            let now = match message {
                Message::Pong => {
                    beats += 1;
                    Heard::More
                }
                Message::Ping(bytes) => {
                    // As much a sign of life as an answer.
                    (beats, has_pings) = (beats + 1, true);
                    if connection.answer_ping(bytes) { Heard::More } else { Heard::Block }
                }
                Message::Close(code) => {
                    connection.end(code, "");
                    Heard::Over
                }
                message => match handler.message(connection, message) {
                    Flow::Continue => Heard::More,
                    Flow::Pause => Heard::Pause,
                    Flow::Close => Heard::Over,
                },
            };
            heard = heard.max(if connection.has_ended() { Heard::Over } else { now });
            heard != Heard::Over
        });
        // Once for all pongs: one read may hold thousands of pings.
        if has_pings {
            connection.flush();
        }
        if beats > 0 {
            handler.pong(connection, beats);
        }
        if let Err(error) = decoded {
            handler.malformed(connection, error);
            return Heard::Over;
        }
        if connection.has_ended() { Heard::Over } else { heard }
    }
}

/// What the messages of one read ask for, the strongest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Heard {
    More,
    Pause,
    Block,
    Over,
}
