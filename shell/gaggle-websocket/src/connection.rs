//! One WebSocket: frames in and out of a TCP stream, plain or TLS, without blocking.
//!
//! The reactor and all writers share it. Any thread queues frames and flushes them at once; only
//! bytes the kernel does not take wait for the reactor's thread (`reactor.rs`). Absent: which
//! frames are dropped, meaning of messages.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mio::net::TcpStream;

use crate::codec::{Encoder, Frame, Queue};
use crate::reactor::ReactorHandle;
use crate::tls::{TlsSession, open, seal, send_sealed};

/// Unread bytes beyond which a client gets no pongs and is not read.
const PONG_BUFFER_MAX: usize = 65_536;

/// A WebSocket, shared by its thread and all that write to it.
pub struct Connection<Q> {
    id: u64,
    stream: TcpStream,
    reactor: ReactorHandle,
    is_encrypted: bool,
    /// This side has closed it.
    ended: AtomicBool,
    /// The kernel may not have taken everything, and will report when it takes more. Changed only
    /// while the state is locked.
    blocked: AtomicBool,
    state: Mutex<State<Q>>,
}

impl<Q> std::fmt::Debug for Connection<Q> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("id", &self.id).finish_non_exhaustive()
    }
}

struct State<Q> {
    encoder: Encoder<Q>,
    tls: Option<Box<TlsSession>>,
}

impl<Q: Queue> Connection<Q> {
    /// A connection whose opening handshake is done.
    pub(crate) fn new(
        id: u64,
        stream: TcpStream,
        tls: Option<TlsSession>,
        reactor: ReactorHandle,
    ) -> Connection<Q> {
        let is_encrypted = tls.is_some();
        let state = Mutex::new(State { encoder: Encoder::default(), tls: tls.map(Box::new) });
        let (ended, blocked) = (AtomicBool::new(false), AtomicBool::new(false));
        Connection { id, stream, reactor, is_encrypted, ended, blocked, state }
    }

    /// Number given when it was handed over.
    pub fn number(&self) -> u64 {
        self.id
    }

    /// Queues a frame, which [`Connection::flush`] sends, and returns the queued bytes. No effect
    /// after the end.
    pub fn queue(&self, frame: Frame) -> usize {
        let mut state = self.lock();
        if self.has_ended() {
            return 0;
        }
        state.encoder.push(frame);
        state.encoder.bytes()
    }

    /// Changes the queue, unless the connection has ended.
    pub fn with_queue<T>(&self, change: impl FnOnce(&mut Q) -> T) -> Option<T> {
        let mut state = self.lock();
        (!self.has_ended()).then(|| change(state.encoder.queue_mut()))
    }

    /// Closes the connection after what is queued, with a code and a reason.
    pub fn end(&self, code: Option<u16>, reason: &'static str) {
        let mut state = self.lock();
        if !self.ended.swap(true, Ordering::AcqRel) {
            state.encoder.push(Frame::Close(code, reason));
            self.reactor.finish(self.id);
        }
    }

    /// Whether this side has closed it.
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Writes queued frames, as far as the kernel takes them.
    pub fn flush(&self) {
        self.flush_state(&mut self.lock());
    }

    fn flush_state(&self, state: &mut State<Q>) {
        let State { encoder, tls } = state;
        // Set before writing: the kernel may report space again before this thread sees that it
        // would block.
        self.blocked.store(true, Ordering::Release);
        let flushed = encoder.write_to(&mut Pipe { stream: &self.stream, tls: tls.as_deref_mut() });
        // The reactor's thread finds other errors by reading.
        let is_blocked = flushed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        self.blocked.store(is_blocked, Ordering::Release);
        // Clients wait for the end of the stream before they consider the connection closed.
        if flushed.is_ok() && self.has_ended() {
            if let Some(tls) = tls {
                tls.send_close_notify();
                let _ = send_sealed(tls, &mut &self.stream);
            }
            let _ = self.stream.shutdown(Shutdown::Write);
        }
    }

    /// Closes it without a close frame, even if it is still referenced.
    pub(crate) fn refuse(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Whether frames wait for the kernel.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Acquire)
    }

    /// Writes again, because the kernel may take more.
    pub(crate) fn resume(&self) {
        if self.is_blocked() {
            self.flush();
        }
    }

    /// Reads from the kernel; an error if it would block.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.stream).read(buffer)
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// Decrypts a part of what was received. Would block when nothing is left.
    pub(crate) fn decrypt(&self, sealed: &mut &[u8], plain: &mut [u8]) -> io::Result<usize> {
        match &mut self.lock().tls {
            Some(tls) => open(tls, sealed, plain),
            None => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Queues a pong for the next flush. False if too much is queued.
    pub(crate) fn answer_ping(&self, bytes: &[u8]) -> bool {
        let mut state = self.lock();
        if self.has_ended() {
            return true;
        }
        if state.encoder.bytes() < PONG_BUFFER_MAX {
            state.encoder.push(Frame::Pong(bytes.into()));
            return true;
        }
        !self.is_blocked()
    }

    fn lock(&self) -> MutexGuard<'_, State<Q>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Output below the frames. It never blocks.
struct Pipe<'a> {
    stream: &'a TcpStream,
    tls: Option<&'a mut TlsSession>,
}

impl Write for Pipe<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            Some(tls) => seal(tls, &mut self.stream, bytes),
            None => self.stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.tls {
            Some(tls) => send_sealed(tls, &mut self.stream),
            None => Ok(()),
        }
    }
}
