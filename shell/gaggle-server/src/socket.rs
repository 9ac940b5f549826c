//! One WebSocket: frames in and out of a TCP stream, plain or TLS, that never waits.
//!
//! Whoever has something to say leaves it with the socket and flushes it at once from its own
//! thread; only what the kernel does not take waits for the thread that has the socket
//! (`switchboard.rs`). So a message that passes from one client to another costs one wake-up, not
//! two. What comes is only ever seen by that thread: a message is heard where the kernel put it.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use gaggle_lobby::node::ConnectionId;
use gaggle_lobby::{Rejection, RejectionCode};
use mio::net::TcpStream;
use tokio_rustls::rustls::ServerConnection;

use crate::dispatcher::Dispatcher;
use crate::frames::{Frame, FrameError, Incoming, Message, Outgoing};
use crate::reactor::ReactorHandle;

/// What a client may leave unread before it is given up as too slow.
const WRITE_BUFFER_MAX: usize = 262_144;
/// Who leaves as much unread gets no answers to pings.
const PONG_BUFFER_MAX: usize = WRITE_BUFFER_MAX / 4;
/// What is opened at once of what came sealed.
const OPEN_AT_ONCE: usize = 16_384;

/// One WebSocket.
pub(crate) struct Socket {
    id: ConnectionId,
    stream: TcpStream,
    board: ReactorHandle,
    is_sealed: bool,
    /// We ended it.
    ended: AtomicBool,
    /// The kernel may not have taken everything, and says when it takes more. Changed only by who
    /// has the state.
    blocked: AtomicBool,
    state: Mutex<State>,
}

struct State {
    outgoing: Outgoing,
    tls: Option<Box<ServerConnection>>,
}

impl Socket {
    /// A connection whose opening handshake is done.
    pub(crate) fn new(
        id: ConnectionId,
        stream: TcpStream,
        tls: Option<ServerConnection>,
        board: ReactorHandle,
    ) -> Socket {
        let is_sealed = tls.is_some();
        let state = Mutex::new(State { outgoing: Outgoing::default(), tls: tls.map(Box::new) });
        let (ended, blocked) = (AtomicBool::new(false), AtomicBool::new(false));
        Socket { id, stream, board, is_sealed, ended, blocked, state }
    }

    pub(crate) fn id(&self) -> ConnectionId {
        self.id
    }

    /// Leaves a message with the socket; [`Socket::flush`] sends it. False if the client is too
    /// slow.
    pub(crate) fn queue(&self, text: Arc<str>) -> bool {
        self.queue_frame(Frame::Text(text))
    }

    /// The same with a ping.
    pub(crate) fn queue_ping(&self) -> bool {
        self.queue_frame(Frame::Ping)
    }

    fn queue_frame(&self, frame: Frame) -> bool {
        let mut state = self.lock();
        if self.has_ended() {
            return true;
        }
        state.outgoing.push(frame);
        state.outgoing.bytes() <= WRITE_BUFFER_MAX
    }

    /// Ends the connection after what is in the buffer.
    pub(crate) fn queue_end(&self, code: RejectionCode) {
        self.end(Frame::Close(Some(close_code(code)), code.as_str()));
    }

    fn end(&self, goodbye: Frame) {
        let mut state = self.lock();
        if !self.ended.swap(true, Ordering::AcqRel) {
            state.outgoing.push(goodbye);
            self.board.finish(self.id);
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Sends what waits, as far as the kernel takes it.
    pub(crate) fn flush(&self) {
        self.flush_state(&mut self.lock());
    }

    fn flush_state(&self, state: &mut State) {
        let State { outgoing, tls } = state;
        // Before the kernel says that it takes no more: it may say that it takes more again before
        // we know of the first.
        self.blocked.store(true, Ordering::Release);
        let flushed = outgoing.write_to(&mut Pipe { stream: &self.stream, tls: tls.as_deref_mut() });
        // Whatever else is wrong with the connection, its thread finds out by reading.
        let is_blocked = flushed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        self.blocked.store(is_blocked, Ordering::Release);
        // That was the last word. Clients wait for this before they take the connection for closed.
        if flushed.is_ok() && self.has_ended() {
            if let Some(tls) = tls {
                tls.send_close_notify();
                let _ = send_sealed(tls, &mut &self.stream);
            }
            let _ = self.stream.shutdown(Shutdown::Write);
        }
    }

    /// Whether something waits for the kernel to take it.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Acquire)
    }

    /// The kernel may take more.
    pub(crate) fn go_on(&self) {
        if self.is_blocked() {
            self.flush();
        }
    }

    /// Reads from the kernel, which says by an error that there is nothing.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.stream).read(buffer)
    }

    /// Takes what came from the kernel. False when it is over.
    pub(crate) fn take(&self, hub: &Arc<Dispatcher>, incoming: &mut Incoming, bytes: &mut [u8]) -> bool {
        if !self.is_sealed {
            return self.hear(hub, incoming, bytes);
        }
        let (mut sealed, mut plain) = (&*bytes, vec![0; OPEN_AT_ONCE]);
        loop {
            let opened = match &mut self.lock().tls {
                Some(tls) => open(tls, &mut sealed, &mut plain),
                None => return false,
            };
            match opened {
                Ok(count @ 1..) if self.hear(hub, incoming, &mut plain[..count]) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                _ => return false,
            }
        }
    }

    /// Passes on what is said in these bytes. False when it is over.
    pub(crate) fn hear(&self, hub: &Arc<Dispatcher>, incoming: &mut Incoming, bytes: &mut [u8]) -> bool {
        let heard = incoming.take(bytes, |heard| {
            match heard {
                Message::Text(text) => hub.text(self.id, text),
                Message::Pong => hub.pong(self.id),
                // As much a sign of life as an answer to ours.
                Message::Ping(bytes) => {
                    self.answer_ping(bytes);
                    hub.pong(self.id);
                }
                Message::Close(code) => {
                    self.end(Frame::Close(code, ""));
                    return false;
                }
            }
            !self.has_ended()
        });
        heard.unwrap_or_else(|wrong| {
            let code = match wrong {
                FrameError::TooLong { .. } | FrameError::TooManyPieces => RejectionCode::TooLarge,
                _ => RejectionCode::BadMessage,
            };
            hub.misbehaved(self.id, Rejection::new(code, wrong.to_string()));
            false
        })
    }

    fn answer_ping(&self, bytes: &[u8]) {
        let mut state = self.lock();
        if !self.has_ended() && state.outgoing.bytes() < PONG_BUFFER_MAX {
            state.outgoing.push(Frame::Pong(bytes.into()));
            self.flush_state(&mut state);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds a socket")
    }
}

/// What is below the frames that go out. It never waits.
struct Pipe<'a> {
    stream: &'a TcpStream,
    tls: Option<&'a mut ServerConnection>,
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

/// Opens some of what came sealed. Would block when there is nothing more in it.
fn open(tls: &mut ServerConnection, sealed: &mut &[u8], plain: &mut [u8]) -> io::Result<usize> {
    loop {
        match tls.reader().read(plain) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            done => return done,
        }
        if sealed.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        tls.read_tls(sealed)?;
        tls.process_new_packets().map_err(io::Error::other)?;
    }
}

/// Seals bytes and sends them, as far as the other side takes them. Never says that it took none:
/// that would mean that the connection is over.
fn seal(tls: &mut ServerConnection, out: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
    loop {
        let written = tls.writer().write(bytes)?;
        match send_sealed(tls, out) {
            // It is sealed and waits; the next flush goes on with it.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && written > 0 => return Ok(written),
            Err(error) => return Err(error),
            // As much was sealed before as can wait. Now there is room.
            Ok(()) if written == 0 && !bytes.is_empty() => {}
            Ok(()) => return Ok(written),
        }
    }
}

fn send_sealed(tls: &mut ServerConnection, out: &mut impl Write) -> io::Result<()> {
    while tls.wants_write() {
        tls.write_tls(out)?;
    }
    Ok(())
}

/// The code in the frame that ends a connection, for programs that look at nothing else (RFC 6455,
/// section 7.4.1).
fn close_code(code: RejectionCode) -> u16 {
    match code {
        RejectionCode::Draining | RejectionCode::ServerFull | RejectionCode::Unavailable => 1_013,
        RejectionCode::TooLarge => 1_009,
        RejectionCode::Replaced | RejectionCode::Silent => 1_000,
        _ => 1_008,
    }
}

#[cfg(test)]
mod tests {
    use tokio_rustls::rustls::crypto::ring::default_provider;
    use tokio_rustls::rustls::pki_types::{PrivateKeyDer, ServerName};
    use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig};

    use super::*;

    /// Takes nothing while it is full.
    #[derive(Default)]
    struct Kernel {
        is_full: bool,
        bytes: Vec<u8>,
    }

    impl Write for Kernel {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.is_full {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.bytes.extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_had_no_place_to_wait_is_taken_as_soon_as_there_is_one() {
        let mut tls = connected();
        let mut kernel = Kernel { is_full: true, ..Kernel::default() };
        let mut waiting = 0;
        let full = loop {
            match seal(&mut tls, &mut kernel, &[7; 10_000]) {
                Ok(count) => waiting += count,
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        assert!(waiting > 50_000, "{waiting}");
        kernel.is_full = false;
        assert_eq!(seal(&mut tls, &mut kernel, &[7; 10_000]).unwrap(), 10_000);
        assert!(kernel.bytes.len() > waiting + 10_000);
    }

    /// The server's end of a connection that has agreed on TLS.
    fn connected() -> ServerConnection {
        let made = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(default_provider());
        let server = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let mut client = ClientConnection::new(Arc::new(client), name).unwrap();
        let mut server = ServerConnection::new(Arc::new(server)).unwrap();
        while client.is_handshaking() || server.is_handshaking() {
            let (mut there, mut back) = (Vec::new(), Vec::new());
            while client.wants_write() {
                client.write_tls(&mut there).unwrap();
            }
            server.read_tls(&mut &there[..]).unwrap();
            server.process_new_packets().unwrap();
            while server.wants_write() {
                server.write_tls(&mut back).unwrap();
            }
            client.read_tls(&mut &back[..]).unwrap();
            client.process_new_packets().unwrap();
        }
        server
    }
}
