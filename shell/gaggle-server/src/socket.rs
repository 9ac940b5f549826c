//! One WebSocket: frames in and out of a TCP stream, plain or TLS, without a task waiting for every write.
//!
//! Whoever has something to say writes it into the socket's buffer and flushes it at once from its own
//! thread; only what the kernel does not take waits for the socket's own task. So a message that passes
//! from one client to another costs one wake-up, not two.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::pin::Pin;
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
use tungstenite::error::{CapacityError, ProtocolError};
use tungstenite::protocol::frame::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{Role, WebSocketConfig, WebSocketContext};
use tungstenite::{Bytes, Error, Message, Utf8Bytes};

use crate::hub::Hub;

/// What is taken from the kernel at once, into a buffer all sockets of a thread share.
const READ_AT_ONCE: usize = 16_384;
/// What a socket keeps for itself to put frames together: a description of a session fits. It grows for longer ones.
const FRAME_BUFFER: usize = 2_048;
/// What may come without a message in it: one that is as long as can be, in the smallest pieces there are.
const PIECES_BYTES_MAX: usize = 8 * MESSAGE_BYTES_MAX;
/// The longest ping or pong, which is no part of a message.
const CONTROL_BYTES_MAX: usize = 131;
/// What a client may leave unread before it is given up as too slow.
const WRITE_BUFFER_MAX: usize = 262_144;
/// How long the other side may take to finish a connection we ended.
const LINGER: Duration = Duration::from_secs(2);
/// What of its unread words is taken for that. Who floods us need not hear why it was shown out.
const LINGER_BYTES: usize = 1 << 20;

/// One WebSocket.
pub(crate) struct Socket {
    id: ConnectionId,
    out: OwnedWriteHalf,
    state: Mutex<State>,
}

struct State {
    frames: WebSocketContext,
    tls: Option<Box<ServerConnection>>,
    /// The kernel did not take everything: the socket's task has to go on.
    blocked: bool,
    /// We ended it.
    ended: bool,
    /// What came since the last message.
    pieces: usize,
    waker: Option<Waker>,
}

/// What was read.
enum Incoming {
    Text(Utf8Bytes),
    Pong,
    /// Nothing more at the moment.
    Nothing,
    /// The other side is gone.
    Gone,
    /// The other side broke the rules.
    Bad(Refusal),
}

impl Socket {
    /// Serves a connection whose opening handshake is done until it ends. `read` was received after the handshake.
    pub(crate) async fn serve(
        id: ConnectionId,
        stream: TcpStream,
        tls: Option<ServerConnection>,
        read: Vec<u8>,
        address: std::net::IpAddr,
        hub: Arc<Hub>,
    ) {
        let config = WebSocketConfig::default()
            .read_buffer_size(FRAME_BUFFER)
            .write_buffer_size(WRITE_BUFFER_MAX / 2)
            .max_write_buffer_size(WRITE_BUFFER_MAX)
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX));
        let frames = WebSocketContext::from_partially_read(read, Role::Server, Some(config));
        let state =
            State { frames, tls: tls.map(Box::new), blocked: false, ended: false, pieces: 0, waker: None };
        let (mut input, out) = stream.into_split();
        let socket = Arc::new(Socket { id, out, state: Mutex::new(state) });
        hub.connected(&socket, address);
        // What came together with the handshake is there without the kernel saying so.
        if socket.take(&hub, &mut &[][..]) {
            std::future::poll_fn(|context| socket.poll(context, &mut input, &hub)).await;
        }
        hub.closed(id);
        // Unread bytes would make the kernel throw away what we said last.
        let _ = tokio::time::timeout(LINGER, socket.finish(&mut input)).await;
    }

    pub(crate) fn id(&self) -> ConnectionId {
        self.id
    }

    /// Puts a message into the buffer; [`Socket::flush`] sends it. False if the client is too slow.
    pub(crate) fn queue(&self, text: &str) -> bool {
        self.queue_message(Message::Text(Utf8Bytes::from(text)))
    }

    /// Puts a ping into the buffer.
    pub(crate) fn queue_ping(&self) -> bool {
        self.queue_message(Message::Ping(Bytes::new()))
    }

    fn queue_message(&self, message: Message) -> bool {
        let mut state = self.lock();
        if state.ended {
            return true;
        }
        let State { frames, tls, .. } = &mut *state;
        match frames.write(&mut Pipe::new(&mut &[][..], &self.out, tls), message) {
            Err(Error::WriteBufferFull(_)) => false,
            // Whatever else is wrong with the connection, its task finds out by reading.
            _ => true,
        }
    }

    /// Ends the connection after what is in the buffer.
    pub(crate) fn queue_end(&self, code: RefusalCode) {
        let mut state = self.lock();
        if state.ended {
            return;
        }
        state.ended = true;
        let reason = CloseFrame { code: close_code(code), reason: code.as_str().into() };
        let State { frames, tls, .. } = &mut *state;
        // If it cannot be sent now it is in the buffer.
        let _ = frames.close(&mut Pipe::new(&mut &[][..], &self.out, tls), Some(reason));
        state.wake();
    }

    /// Sends what is in the buffer, as far as the kernel takes it.
    pub(crate) fn flush(&self) {
        let mut state = self.lock();
        let was_blocked = state.blocked;
        state.flush(&self.out);
        if state.blocked && !was_blocked {
            state.wake();
        }
    }

    /// Goes on with reading and writing; ready when it is over.
    fn poll(&self, context: &mut Context<'_>, input: &mut OwnedReadHalf, hub: &Arc<Hub>) -> Poll<()> {
        thread_local! {
            static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_AT_ONCE]);
        }
        loop {
            let (blocked, ended) = {
                let mut state = self.lock();
                if state.waker.as_ref().is_none_or(|waker| !waker.will_wake(context.waker())) {
                    state.waker = Some(context.waker().clone());
                }
                (state.blocked, state.ended)
            };
            if ended {
                return Poll::Ready(());
            }
            if blocked && self.out.as_ref().poll_write_ready(context).is_ready() {
                self.flush();
                continue;
            }
            let is_over = BUFFER.with_borrow_mut(|buffer| {
                let mut read = ReadBuf::new(buffer);
                match Pin::new(&mut *input).poll_read(context, &mut read) {
                    Poll::Pending => None,
                    Poll::Ready(Err(_)) => Some(true),
                    Poll::Ready(Ok(())) if read.filled().is_empty() => Some(true),
                    Poll::Ready(Ok(())) => Some(!self.take(hub, &mut read.filled())),
                }
            });
            match is_over {
                Some(true) => return Poll::Ready(()),
                Some(false) => {}
                None => return Poll::Pending,
            }
        }
    }

    /// Passes on what is in these bytes. False when it is over.
    fn take(&self, hub: &Arc<Hub>, bytes: &mut &[u8]) -> bool {
        self.lock().pieces += bytes.len();
        loop {
            match self.read(bytes) {
                Incoming::Text(text) => hub.text(self.id, &text),
                Incoming::Pong => hub.pong(self.id),
                Incoming::Nothing => return true,
                Incoming::Gone => return false,
                Incoming::Bad(refusal) => {
                    hub.misbehaved(self.id, refusal);
                    return false;
                }
            }
        }
    }

    fn read(&self, bytes: &mut &[u8]) -> Incoming {
        let mut state = self.lock();
        if state.ended {
            return Incoming::Nothing;
        }
        loop {
            let State { frames, tls, .. } = &mut *state;
            return match frames.read(&mut Pipe::new(bytes, &self.out, tls)) {
                Ok(Message::Text(text)) => {
                    state.pieces = 0;
                    Incoming::Text(text)
                }
                // A ping is answered by the library, and as much a sign of life as an answer to ours.
                Ok(message @ (Message::Pong(_) | Message::Ping(_))) => {
                    state.pieces = state.pieces.saturating_sub(CONTROL_BYTES_MAX);
                    if message.is_ping() {
                        state.flush(&self.out);
                    }
                    Incoming::Pong
                }
                Ok(Message::Binary(_)) => {
                    Incoming::Bad(Refusal::new(RefusalCode::BadMessage, "messages are texts, not binary"))
                }
                Ok(Message::Close(_) | Message::Frame(_)) => continue,
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    if state.pieces <= PIECES_BYTES_MAX {
                        return Incoming::Nothing;
                    }
                    Incoming::Bad(Refusal::new(RefusalCode::TooLarge, "a message in too many pieces"))
                }
                Err(Error::Capacity(CapacityError::MessageTooLong { max_size, .. })) => {
                    let text = format!("a message has at most {max_size} bytes");
                    Incoming::Bad(Refusal::new(RefusalCode::TooLarge, text))
                }
                Err(Error::Utf8(_)) => {
                    Incoming::Bad(Refusal::new(RefusalCode::BadMessage, "a text must be UTF-8"))
                }
                Err(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => Incoming::Gone,
                Err(Error::Protocol(error)) => {
                    Incoming::Bad(Refusal::new(RefusalCode::BadMessage, error.to_string()))
                }
                Err(_) => Incoming::Gone,
            };
        }
    }

    /// Sends the rest and waits until the other side has taken it.
    async fn finish(&self, input: &mut OwnedReadHalf) {
        loop {
            self.flush();
            let (blocked, ended) = {
                let state = self.lock();
                (state.blocked, state.ended)
            };
            if !ended {
                return;
            }
            if !blocked {
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
        let State { frames, tls, .. } = self;
        let flushed = frames.flush(&mut Pipe::new(&mut &[][..], out, tls));
        self.blocked = matches!(flushed, Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock);
    }

    fn wake(&mut self) {
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }
}

/// What is below the frames, as the frame code wants it: it never waits. Reads take what was read from the
/// kernel before, writes go straight to it.
struct Pipe<'a, 'b> {
    input: &'a mut &'b [u8],
    out: &'a OwnedWriteHalf,
    tls: Option<&'a mut ServerConnection>,
}

impl<'a, 'b> Pipe<'a, 'b> {
    fn new(
        input: &'a mut &'b [u8],
        out: &'a OwnedWriteHalf,
        tls: &'a mut Option<Box<ServerConnection>>,
    ) -> Pipe<'a, 'b> {
        Pipe { input, out, tls: tls.as_deref_mut() }
    }
}

impl Read for Pipe<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return match self.input.read(buffer)? {
                0 => Err(io::ErrorKind::WouldBlock.into()),
                count => Ok(count),
            };
        };
        loop {
            match tls.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            if self.input.is_empty() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            tls.read_tls(self.input)?;
            tls.process_new_packets().map_err(io::Error::other)?;
        }
    }
}

impl Write for Pipe<'_, '_> {
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

/// The code in the frame that ends a connection, for programs that look at nothing else.
fn close_code(code: RefusalCode) -> CloseCode {
    match code {
        RefusalCode::Draining | RefusalCode::ServerFull | RefusalCode::Unavailable => CloseCode::Again,
        RefusalCode::TooLarge => CloseCode::Size,
        RefusalCode::Replaced | RefusalCode::Silent => CloseCode::Normal,
        _ => CloseCode::Policy,
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
