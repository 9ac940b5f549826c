//! One WebSocket: frames in and out of a TCP stream, plain or TLS, without a task waiting for every write.
//!
//! Whoever has something to say leaves it with the socket and flushes it at once from its own thread; only what the
//! kernel does not take waits for the socket's own task. So a message that passes from one client to another costs one
//! wake-up, not two. What comes is only ever seen by that task: a message is heard where the kernel put it.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use gaggle_lobby::message::MESSAGE_BYTES_MAX;
use gaggle_lobby::node::ConnectionId;
use gaggle_lobby::{Refusal, RefusalCode};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio_rustls::rustls::ServerConnection;

use crate::frames::{Frame, Heard, Incoming, Outgoing, Wrong};
use crate::hub::Hub;

/// What is taken from the kernel at once, into a buffer all sockets of a thread share.
const READ_AT_ONCE: usize = 16_384;
/// What a client may leave unread before it is given up as too slow.
const WRITE_BUFFER_MAX: usize = 262_144;
/// Whose unread words are as many gets no answers to pings.
const PONG_BUFFER_MAX: usize = 1_024;
/// How long the other side may take to finish a connection we ended.
const LINGER: Duration = Duration::from_secs(2);
/// What of its unread words is taken for that. Who floods us need not hear why it was shown out.
const LINGER_BYTES: usize = 1 << 20;

/// One WebSocket.
pub(crate) struct Socket {
    id: ConnectionId,
    out: OwnedWriteHalf,
    is_sealed: bool,
    /// We ended it.
    ended: AtomicBool,
    state: Mutex<State>,
}

struct State {
    outgoing: Outgoing,
    tls: Option<Box<ServerConnection>>,
    /// The kernel did not take everything: the socket's task has to go on.
    blocked: bool,
    waker: Option<Waker>,
}

impl Socket {
    /// Serves a connection whose opening handshake is done until it ends. `read` was received after the handshake.
    pub(crate) async fn serve(
        id: ConnectionId,
        stream: TcpStream,
        tls: Option<ServerConnection>,
        mut read: Vec<u8>,
        address: std::net::IpAddr,
        hub: Arc<Hub>,
    ) {
        let (mut input, out) = stream.into_split();
        let is_sealed = tls.is_some();
        let state =
            State { outgoing: Outgoing::default(), tls: tls.map(Box::new), blocked: false, waker: None };
        let state = Mutex::new(state);
        let socket = Arc::new(Socket { id, out, is_sealed, ended: AtomicBool::new(false), state });
        hub.connected(&socket, address);
        let mut incoming = Incoming::new(MESSAGE_BYTES_MAX);
        // What came together with the handshake is there without the kernel saying so.
        if socket.hear(&hub, &mut incoming, &mut read) && socket.take(&hub, &mut incoming, &mut []) {
            drop(read);
            let go_on = |context: &mut Context<'_>| socket.poll(context, &mut input, &mut incoming, &hub);
            std::future::poll_fn(go_on).await;
        }
        hub.closed(id);
        // Unread bytes would make the kernel throw away what we said last.
        let _ = tokio::time::timeout(LINGER, socket.finish(&mut input)).await;
    }

    pub(crate) fn id(&self) -> ConnectionId {
        self.id
    }

    /// Leaves a message with the socket; [`Socket::flush`] sends it. False if the client is too slow.
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
    pub(crate) fn queue_end(&self, code: RefusalCode) {
        self.end(Frame::Close(Some(close_code(code)), code.as_str()));
    }

    fn end(&self, goodbye: Frame) {
        let mut state = self.lock();
        if !self.ended.swap(true, Ordering::AcqRel) {
            state.outgoing.push(goodbye);
            state.wake();
        }
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Sends what waits, as far as the kernel takes it.
    pub(crate) fn flush(&self) {
        let mut state = self.lock();
        let was_blocked = state.blocked;
        state.flush(&self.out);
        if state.blocked && !was_blocked {
            state.wake();
        }
    }

    /// Goes on with reading and writing; ready when it is over.
    fn poll(
        &self,
        context: &mut Context<'_>,
        input: &mut OwnedReadHalf,
        incoming: &mut Incoming,
        hub: &Arc<Hub>,
    ) -> Poll<()> {
        thread_local! {
            static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_AT_ONCE]);
        }
        while self.expect(context.waker()) && self.out.as_ref().poll_write_ready(context).is_ready() {
            self.flush();
        }
        while !self.has_ended() {
            let goes_on = BUFFER.with_borrow_mut(|buffer| {
                let mut read = ReadBuf::new(buffer);
                let Poll::Ready(came) = Pin::new(&mut *input).poll_read(context, &mut read) else {
                    return None;
                };
                let bytes = read.filled_mut();
                Some(came.is_ok() && !bytes.is_empty() && self.take(hub, incoming, bytes))
            });
            match goes_on {
                Some(true) => {}
                Some(false) => break,
                None => return Poll::Pending,
            }
        }
        Poll::Ready(())
    }

    /// Whoever waits is to be woken when there is something to do. True if the kernel has not taken everything.
    fn expect(&self, waker: &Waker) -> bool {
        let mut state = self.lock();
        if state.waker.as_ref().is_none_or(|known| !known.will_wake(waker)) {
            state.waker = Some(waker.clone());
        }
        state.blocked
    }

    /// Takes what came from the kernel. False when it is over.
    fn take(&self, hub: &Arc<Hub>, incoming: &mut Incoming, bytes: &mut [u8]) -> bool {
        if !self.is_sealed {
            return self.hear(hub, incoming, bytes);
        }
        let (mut sealed, mut plain) = (&*bytes, vec![0; READ_AT_ONCE]);
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
    fn hear(&self, hub: &Arc<Hub>, incoming: &mut Incoming, bytes: &mut [u8]) -> bool {
        let heard = incoming.take(bytes, |heard| {
            match heard {
                Heard::Text(text) => hub.text(self.id, text),
                Heard::Pong => hub.pong(self.id),
                // As much a sign of life as an answer to ours.
                Heard::Ping(bytes) => {
                    self.answer_ping(bytes);
                    hub.pong(self.id);
                }
                Heard::Close(code) => {
                    self.end(Frame::Close(code, ""));
                    return false;
                }
            }
            !self.has_ended()
        });
        heard.unwrap_or_else(|wrong| {
            let code = match wrong {
                Wrong::TooLong { .. } | Wrong::TooManyPieces => RefusalCode::TooLarge,
                _ => RefusalCode::BadMessage,
            };
            hub.misbehaved(self.id, Refusal::new(code, wrong.to_string()));
            false
        })
    }

    fn answer_ping(&self, bytes: &[u8]) {
        let mut state = self.lock();
        if !self.has_ended() && state.outgoing.bytes() < PONG_BUFFER_MAX {
            state.outgoing.push(Frame::Pong(bytes.into()));
            state.flush(&self.out);
        }
    }

    /// Sends the rest and waits until the other side has taken it.
    async fn finish(&self, input: &mut OwnedReadHalf) {
        loop {
            self.flush();
            if !self.has_ended() {
                return;
            }
            if !self.lock().blocked {
                break;
            }
            if self.out.writable().await.is_err() {
                return;
            }
        }
        let (mut rest, mut left) = ([0; 1_024], LINGER_BYTES);
        while left > 0 && input.readable().await.is_ok() {
            match input.try_read(&mut rest) {
                Ok(count @ 1..) => left = left.saturating_sub(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                _ => return,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds a socket")
    }
}

impl State {
    fn flush(&mut self, out: &OwnedWriteHalf) {
        let State { outgoing, tls, .. } = self;
        let flushed = outgoing.write_to(&mut Pipe { out, tls: tls.as_deref_mut() });
        // Whatever else is wrong with the connection, its task finds out by reading.
        self.blocked = flushed.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
    }

    fn wake(&mut self) {
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }
}

/// What is below the frames that go out. It never waits.
struct Pipe<'a> {
    out: &'a OwnedWriteHalf,
    tls: Option<&'a mut ServerConnection>,
}

impl Write for Pipe<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            Some(tls) => seal(tls, &mut Sealed(self.out), bytes),
            None => self.out.try_write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.tls {
            Some(tls) => send_sealed(tls, &mut Sealed(self.out)),
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

/// Seals bytes and sends them, as far as the other side takes them. Never says that it took none: that would mean that the
/// connection is over.
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

/// The kernel's end, for what is sealed already.
struct Sealed<'a>(&'a OwnedWriteHalf);

impl Write for Sealed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The code in the frame that ends a connection, for programs that look at nothing else (RFC 6455, section 7.4.1).
fn close_code(code: RefusalCode) -> u16 {
    match code {
        RefusalCode::Draining | RefusalCode::ServerFull | RefusalCode::Unavailable => 1_013,
        RefusalCode::TooLarge => 1_009,
        RefusalCode::Replaced | RefusalCode::Silent => 1_000,
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
