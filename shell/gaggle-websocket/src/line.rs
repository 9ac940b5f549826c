//! One connection in its thread: reading, and when it is read again.
//!
//! The reactor reads connections in turn and acts on the results. Absent: waiting for the kernel,
//! other connections.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gaggle_kit::Micros;
use gaggle_kit::rate_limit::{RateLimit, RateLimiter};

use crate::codec::{Decoder, Message, Queue};
use crate::connection::Connection;
use crate::reactor::{Flow, Handler};

/// Bytes read at once, into a buffer shared by all connections of a thread.
pub(crate) const READ_BYTES: usize = 16_384;
/// Pause of a connection that its handler paused.
const PAUSE: Duration = Duration::from_millis(200);

/// A connection with data that only its thread needs.
pub(crate) struct Line<Q> {
    connection: Arc<Connection<Q>>,
    decoder: Decoder,
    reads: RateLimiter,
    /// It has ended; this many bytes are still read and dropped.
    lingers: Option<u32>,
    reading: Reading,
}

/// When a connection is read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// When the kernel reports data.
    Awaited,
    /// In the next iteration, without a report.
    Due,
    /// When its pause is over.
    Paused,
    /// When the client has read what is queued for it.
    Blocked,
}

/// Result of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadResult {
    /// The buffer was filled: there may be more.
    Full,
    /// Less than the buffer: the kernel reports when there is more.
    Part,
    Nothing,
    /// Do not read before this moment.
    Pause(Instant),
    /// Do not read before the client has read.
    Block,
    /// This side has ended it.
    Over,
    /// The other side is gone.
    Gone,
}

impl<Q: Queue> Line<Q> {
    pub(crate) fn new(connection: Arc<Connection<Q>>, decoder: Decoder) -> Line<Q> {
        Line { connection, decoder, reads: RateLimiter::default(), lingers: None, reading: Reading::Awaited }
    }

    pub(crate) fn connection(&self) -> &Connection<Q> {
        &self.connection
    }

    /// Whether it has ended, and what still arrives is dropped.
    pub(crate) fn lingers(&self) -> bool {
        self.lingers.is_some()
    }

    /// It has ended: this many bytes are still read and dropped.
    pub(crate) fn linger(&mut self, bytes: u32) {
        self.lingers = Some(bytes);
    }

    /// Whether it is read when the kernel reports data.
    pub(crate) fn is_awaited(&self) -> bool {
        self.reading == Reading::Awaited
    }

    /// Whether it waits for the client to read.
    pub(crate) fn is_blocked(&self) -> bool {
        self.reading == Reading::Blocked
    }

    /// It is read at another time from now on. Returns false if that was so.
    pub(crate) fn set_reading(&mut self, reading: Reading) -> bool {
        std::mem::replace(&mut self.reading, reading) != reading
    }

    /// Its postponed reading is due now, if this is what it waited for.
    pub(crate) fn resume(&mut self, awaited: Reading) -> bool {
        let is_due = self.reading == awaited;
        if is_due {
            self.reading = Reading::Awaited;
        }
        is_due
    }

    /// Handles what was received with the handshake. Returns whether the connection is over.
    pub(crate) fn begin<H: Handler<Queue = Q>>(&mut self, handler: &H, bytes: &mut [u8]) -> bool {
        self.hear(handler, bytes) == Outcome::Over
            || self.connection.is_encrypted() && self.take(handler, &mut []) == Outcome::Over
    }

    /// Reads once from the kernel and handles the data.
    pub(crate) fn read<H: Handler<Queue = Q>>(
        &mut self,
        handler: &H,
        limit: &RateLimit,
        (began, now): (Instant, Instant),
        buffer: &mut [u8],
    ) -> ReadResult {
        let count = match self.connection.read(buffer) {
            // A client that has closed only its sending side still reads what is queued.
            Ok(0) if self.lingers.is_some() && self.connection.is_blocked() => return ReadResult::Nothing,
            Ok(0) => return ReadResult::Gone,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return ReadResult::Nothing,
            Err(error) if error.kind() == ErrorKind::Interrupted => return ReadResult::Full,
            Err(_) => return ReadResult::Gone,
        };
        if let Some(left) = &mut self.lingers {
            let Some(rest) = left.checked_sub(count as u32) else { return ReadResult::Gone };
            *left = rest;
            return if count == buffer.len() { ReadResult::Full } else { ReadResult::Part };
        }
        match self.take(handler, &mut buffer[..count]) {
            Outcome::More => {}
            Outcome::Pause => return ReadResult::Pause(now + PAUSE),
            Outcome::Block => return ReadResult::Block,
            Outcome::Over => return ReadResult::Over,
        }
        let time = Micros::from(now.duration_since(began));
        self.reads.acquire(time, limit, count as u64);
        let wait = self.reads.retry_after(time, limit, 1);
        if wait > Micros::ZERO {
            handler.throttled(&self.connection);
            return ReadResult::Pause(now + Duration::from_micros(wait.get()));
        }
        if count == buffer.len() { ReadResult::Full } else { ReadResult::Part }
    }

    /// Handles bytes from the kernel.
    fn take<H: Handler<Queue = Q>>(&mut self, handler: &H, bytes: &mut [u8]) -> Outcome {
        if !self.connection.is_encrypted() {
            return self.hear(handler, bytes);
        }
        let (mut sealed, mut plain) = (&*bytes, vec![0; READ_BYTES]);
        let mut heard = Outcome::More;
        loop {
            match self.connection.decrypt(&mut sealed, &mut plain) {
                Ok(count @ 1..) => match self.hear(handler, &mut plain[..count]) {
                    Outcome::Over => return Outcome::Over,
                    more => heard = heard.max(more),
                },
                Err(error) if error.kind() == ErrorKind::WouldBlock => return heard,
                _ => return Outcome::Over,
            }
        }
    }

    /// Handles the messages in these bytes.
    fn hear<H: Handler<Queue = Q>>(&mut self, handler: &H, bytes: &mut [u8]) -> Outcome {
        let (connection, mut heard) = (&*self.connection, Outcome::More);
        let (mut beats, mut has_pings) = (0, false);
        let decoded = self.decoder.decode(bytes, |message| {
            let now = match message {
                Message::Pong => {
                    beats += 1;
                    Outcome::More
                }
                Message::Ping(bytes) => {
                    // A ping proves life as well as a pong.
                    (beats, has_pings) = (beats + 1, true);
                    if connection.answer_ping(bytes) { Outcome::More } else { Outcome::Block }
                }
                Message::Close(code) => {
                    connection.end(code, "");
                    Outcome::Over
                }
                message => match handler.message(connection, message) {
                    Flow::Continue => Outcome::More,
                    Flow::Pause => Outcome::Pause,
                    Flow::Close => Outcome::Over,
                },
            };
            heard = heard.max(if connection.has_ended() { Outcome::Over } else { now });
            heard != Outcome::Over
        });
        // One answer for all pings: one read may contain thousands.
        if has_pings {
            connection.flush();
        }
        if beats > 0 {
            handler.pong(connection, beats);
        }
        if let Err(error) = decoded {
            handler.malformed(connection, error);
            return Outcome::Over;
        }
        if connection.has_ended() { Outcome::Over } else { heard }
    }
}

/// Requirement of the messages of one read, the strongest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    More,
    Pause,
    Block,
    Over,
}
