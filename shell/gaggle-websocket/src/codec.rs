//! WebSocket frames of a server (RFC 6455, section 5): bytes to messages, messages to bytes.
//!
//! `connection.rs` uses it. Complete messages are read in place; only fragments are buffered, up to
//! the length of one message. Absent: sockets, TLS, which messages a server accepts.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;

use thiserror::Error;

/// Most outgoing bytes assembled at once.
const ASSEMBLE: usize = 16_384;
/// Longest header of an outgoing frame.
const HEADER_BYTES_MAX: usize = 10;
/// Longest content of a ping, pong or close frame.
const CONTROL_BYTES_MAX: usize = 125;

const CONTINUES: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// Protocol violation by a client, which ends its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the message of each variant says what it is")]
pub enum FrameError {
    #[error("a message has at most {max} bytes")]
    TooLong { max: usize },
    #[error("a message has too many fragments")]
    TooManyPieces,
    #[error("messages must be text, not binary")]
    Binary,
    #[error("messages must be binary, not text")]
    Text,
    #[error("a text must be UTF-8")]
    NotUtf8,
    #[error("frames of clients must be masked")]
    Unmasked,
    #[error("a frame has reserved bits set")]
    Reserved,
    #[error("unknown kind of frame: {0}")]
    UnknownKind(u8),
    #[error("a ping, pong or close must be one short frame")]
    Control,
    #[error("a continuation without a message, or a message inside another")]
    OutOfOrder,
}

/// Decoded item of a client.
#[derive(Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// A whole text message.
    Text(&'a str),
    /// A whole binary message.
    Binary(&'a [u8]),
    /// A ping, to be answered with the same bytes.
    Ping(&'a [u8]),
    /// Answer to a ping.
    Pong,
    /// Close of the connection, with its code if there is one.
    Close(Option<u16>),
}

/// Kind of messages a server accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// Text messages only.
    Text,
    /// Binary messages only.
    Binary,
    /// Text and binary messages.
    Any,
}

/// Decodes the bytes of one client.
#[derive(Debug)]
pub struct Decoder {
    /// Length of the longest message.
    max: u32,
    kind: MessageKind,
    /// An incomplete frame.
    held: Vec<u8>,
    /// An incomplete message.
    message: Option<Box<Pieces>>,
}

#[derive(Debug, Default)]
struct Pieces {
    is_text: bool,
    payload: Vec<u8>,
    /// Bytes received for it, including headers.
    bytes: usize,
}

impl Decoder {
    /// A decoder of messages of this kind with at most `max` bytes.
    pub fn new(kind: MessageKind, max: u32) -> Decoder {
        Decoder { max, kind, held: Vec::new(), message: None }
    }

    /// Passes the messages in these bytes, which are modified, to `heard` until that returns false.
    /// Returns the last result of `heard`.
    ///
    /// # Errors
    /// If the client violated the protocol: nothing more can be decoded.
    pub fn decode(
        &mut self,
        bytes: &mut [u8],
        mut heard: impl FnMut(Message<'_>) -> bool,
    ) -> Result<bool, FrameError> {
        if self.held.is_empty() {
            let (used, goes_on) = self.read(bytes, &mut heard)?;
            self.held.extend_from_slice(&bytes[used..]);
            return Ok(goes_on);
        }
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(bytes);
        let (used, goes_on) = self.read(&mut held, &mut heard)?;
        held.drain(..used);
        if !held.is_empty() {
            self.held = held;
        }
        Ok(goes_on)
    }

    /// Decodes whole frames. Returns their length in bytes, and whether to continue.
    fn read(
        &mut self,
        bytes: &mut [u8],
        heard: &mut impl FnMut(Message<'_>) -> bool,
    ) -> Result<(usize, bool), FrameError> {
        let mut used = 0;
        loop {
            let rest = &mut bytes[used..];
            let Some(header) = Header::read(rest)? else { return Ok((used, true)) };
            let before = self.message.as_ref().map_or(0, |pieces| pieces.payload.len());
            if !header.is_control() && header.length > self.max() - before {
                return Err(FrameError::TooLong { max: self.max() });
            }
            let end = header.size + header.length;
            if rest.len() < end {
                return Ok((used, true));
            }
            let payload = &mut rest[header.size..end];
            unmask(payload, header.mask);
            used += end;
            let goes_on = match header.kind {
                PING => heard(Message::Ping(payload)),
                PONG => heard(Message::Pong),
                CLOSE => heard(Message::Close(reason(payload))),
                _ => match self.piece(&header, end, payload)? {
                    Some((true, text)) => {
                        heard(Message::Text(str::from_utf8(&text).map_err(|_| FrameError::NotUtf8)?))
                    }
                    Some((false, bytes)) => heard(Message::Binary(&bytes)),
                    None => true,
                },
            };
            if !goes_on {
                return Ok((used, false));
            }
        }
    }

    /// Adds a fragment; returns the message, and whether it is text, if it was the last one.
    fn piece<'a>(
        &mut self,
        header: &Header,
        size: usize,
        payload: &'a [u8],
    ) -> Result<Option<(bool, Whole<'a>)>, FrameError> {
        let is_text = header.kind == TEXT;
        match (header.kind, self.kind) {
            (BINARY, MessageKind::Text) => return Err(FrameError::Binary),
            (TEXT, MessageKind::Binary) => return Err(FrameError::Text),
            _ => {}
        }
        match (header.kind, &mut self.message) {
            (TEXT | BINARY, None) if header.is_last => return Ok(Some((is_text, Whole::AsItCame(payload)))),
            (TEXT | BINARY, message @ None) => {
                *message = Some(Box::new(Pieces { is_text, ..Pieces::default() }));
            }
            (CONTINUES, Some(_)) => {}
            _ => return Err(FrameError::OutOfOrder),
        }
        let max = self.max();
        let Some(pieces) = &mut self.message else { return Err(FrameError::OutOfOrder) };
        pieces.payload.extend_from_slice(payload);
        pieces.bytes += size;
        // The longest message in the smallest reasonable fragments.
        if pieces.bytes > 8 * max {
            return Err(FrameError::TooManyPieces);
        }
        let whole = self.message.take_if(|_| header.is_last);
        Ok(whole.map(|pieces| (pieces.is_text, Whole::Collected(pieces.payload))))
    }

    fn max(&self) -> usize {
        self.max as usize
    }
}

/// Bytes of a whole message.
enum Whole<'a> {
    AsItCame(&'a [u8]),
    Collected(Vec<u8>),
}

impl std::ops::Deref for Whole<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Whole::AsItCame(bytes) => bytes,
            Whole::Collected(bytes) => bytes,
        }
    }
}

/// Header of a frame.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    is_last: bool,
    kind: u8,
    mask: [u8; 4],
    /// Length of the header.
    size: usize,
    /// Length of the content.
    length: usize,
}

impl Header {
    /// Reads a header; none if it is incomplete.
    fn read(bytes: &[u8]) -> Result<Option<Header>, FrameError> {
        let [first, second, rest @ ..] = bytes else { return Ok(None) };
        let (is_last, kind) = (first & 0x80 != 0, first & 0x0f);
        if first & 0x70 != 0 {
            return Err(FrameError::Reserved);
        }
        if !matches!(kind, CONTINUES | TEXT | BINARY | CLOSE | PING | PONG) {
            return Err(FrameError::UnknownKind(kind));
        }
        if second & 0x80 == 0 {
            return Err(FrameError::Unmasked);
        }
        let (length, rest) = match second & 0x7f {
            126 => match rest.split_first_chunk() {
                Some((length, rest)) => (usize::from(u16::from_be_bytes(*length)), rest),
                None => return Ok(None),
            },
            127 => match rest.split_first_chunk() {
                // A length beyond 32 bits exceeds any limit.
                Some((length, rest)) => {
                    (usize::try_from(u64::from_be_bytes(*length)).unwrap_or(usize::MAX), rest)
                }
                None => return Ok(None),
            },
            short => (usize::from(short), rest),
        };
        if kind >= CLOSE && (!is_last || length > CONTROL_BYTES_MAX) {
            return Err(FrameError::Control);
        }
        let Some((mask, rest)) = rest.split_first_chunk() else { return Ok(None) };
        Ok(Some(Header { is_last, kind, mask: *mask, size: bytes.len() - rest.len(), length }))
    }

    fn is_control(&self) -> bool {
        self.kind >= CLOSE
    }
}

/// Code of a close frame, checked for sending it back.
fn reason(goodbye: &[u8]) -> Option<u16> {
    const PROTOCOL_ERROR: u16 = 1_002;
    let code = u16::from_be_bytes(*goodbye.first_chunk()?);
    let may_be_sent = matches!(code, 1_000..=1_003 | 1_007..=1_014 | 3_000..=4_999);
    Some(if may_be_sent { code } else { PROTOCOL_ERROR })
}

fn unmask(bytes: &mut [u8], mask: [u8; 4]) {
    let [a, b, c, d] = mask;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes();
    }
    rest.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
}

/// Frame to a client.
#[derive(Debug)]
pub enum Frame {
    /// A text, possibly shared with other clients.
    Text(Arc<str>),
    /// A binary message.
    Binary(Vec<u8>),
    /// A ping, which requires a pong.
    Ping,
    /// Answer to a ping, with its bytes.
    Pong(Box<[u8]>),
    /// Close of the connection, with a code and a reason.
    Close(Option<u16>, &'static str),
}

impl Frame {
    /// Bytes it counts in a queue, with the longest header, so that even empty ones count.
    pub fn bytes(&self) -> usize {
        HEADER_BYTES_MAX
            + match self {
                Frame::Text(text) => text.len(),
                Frame::Binary(bytes) => bytes.len(),
                Frame::Ping => 0,
                Frame::Pong(bytes) => bytes.len(),
                Frame::Close(_, why) => 2 + why.len(),
            }
    }

    fn write(&self, out: &mut Vec<u8>) {
        let kind = match self {
            Frame::Text(_) => TEXT,
            Frame::Binary(_) => BINARY,
            Frame::Ping => PING,
            Frame::Pong(_) => PONG,
            Frame::Close(..) => CLOSE,
        };
        out.push(0x80 | kind);
        match self {
            Frame::Text(text) => put(out, text.as_bytes()),
            Frame::Binary(bytes) => put(out, bytes),
            Frame::Ping | Frame::Close(None, _) => put(out, &[]),
            Frame::Pong(bytes) => put(out, bytes),
            Frame::Close(Some(code), why) => put(out, &[&code.to_be_bytes(), why.as_bytes()].concat()),
        }
    }
}

/// Appends bytes behind their length.
fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    match (u8::try_from(bytes.len()), u16::try_from(bytes.len())) {
        (Ok(short @ ..126), _) => out.push(short),
        (_, Ok(length)) => {
            out.push(126);
            out.extend_from_slice(&length.to_be_bytes());
        }
        _ => {
            out.push(127);
            out.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(bytes);
}

/// Queue of frames to one client. A server that may drop some has its own implementation.
pub trait Queue: Default + Send + 'static {
    /// Adds a frame.
    fn push(&mut self, frame: Frame);

    /// Removes the next frame; a close frame comes last.
    fn pop(&mut self) -> Option<Frame>;

    /// Queued bytes, by [`Frame::bytes`].
    fn bytes(&self) -> usize;
}

/// Frames in order, none of which is dropped.
#[derive(Debug, Default)]
pub struct FrameQueue {
    waiting: VecDeque<Frame>,
    waiting_bytes: usize,
}

impl Queue for FrameQueue {
    fn push(&mut self, frame: Frame) {
        self.waiting_bytes += frame.bytes();
        self.waiting.push_back(frame);
    }

    fn pop(&mut self) -> Option<Frame> {
        let frame = self.waiting.pop_front()?;
        self.waiting_bytes -= frame.bytes();
        Some(frame)
    }

    fn bytes(&self) -> usize {
        self.waiting_bytes
    }
}

/// Output of one client: its queue, and assembled bytes that the kernel has not taken.
#[derive(Debug, Default)]
pub struct Encoder<Q> {
    /// Frames not sent yet.
    queue: Q,
    /// Assembled bytes, of which the first `sent` were taken.
    rest: Vec<u8>,
    sent: usize,
}

impl<Q: Queue> Encoder<Q> {
    /// The queue, for its own methods.
    pub fn queue_mut(&mut self) -> &mut Q {
        &mut self.queue
    }

    /// Queues a frame.
    pub fn push(&mut self, frame: Frame) {
        self.queue.push(frame);
    }

    /// Number of queued bytes.
    pub fn bytes(&self) -> usize {
        self.queue.bytes() + self.rest.len() - self.sent
    }

    /// Writes as much as `out` takes.
    ///
    /// # Errors
    /// Errors of `out`, mostly that it would block: the rest stays queued.
    pub fn write_to(&mut self, out: &mut impl Write) -> io::Result<()> {
        thread_local! {
            // Shared by all clients of a thread, so that it stays in the processor's cache.
            static TOGETHER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        TOGETHER.with_borrow_mut(|together| {
            loop {
                while self.sent < self.rest.len() {
                    self.sent += taken(out.write(&self.rest[self.sent..])?)?;
                }
                (self.rest, self.sent) = (Vec::new(), 0);
                together.clear();
                while together.len() < ASSEMBLE
                    && let Some(frame) = self.queue.pop()
                {
                    frame.write(together);
                }
                if together.is_empty() {
                    return out.flush();
                }
                let done = out.write(together).and_then(taken);
                self.rest.extend_from_slice(&together[*done.as_ref().unwrap_or(&0)..]);
                done?;
            }
        })
    }
}

/// Taking no bytes without an error means that the connection is gone.
fn taken(count: usize) -> io::Result<usize> {
    if count == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

    #[test]
    fn decoder_reads_examples_of_standard() {
        // RFC 6455, section 5.7: a masked text in one frame.
        let hello = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
        assert_eq!(frame(0x81, b"Hello"), hello);
        assert_eq!(heard(&[&hello]), ["text Hello"]);
        // A fragmented one, with a ping in between, and a pong.
        let pieces = [frame(0x01, b"Hel"), frame(0x89, b"Hello"), frame(0x80, b"lo"), frame(0x8a, b"")];
        assert_eq!(heard(&pieces.each_ref().map(|piece| &piece[..])), ["ping Hello", "text Hello", "pong"]);
        let goodbyes = [&[3, 232, b'x'][..], &[3, 237], &[]].map(|payload| frame(0x88, payload));
        let said = ["close Some(1000)", "close Some(1002)", "close None"];
        assert_eq!(heard(&goodbyes.each_ref().map(|goodbye| &goodbye[..])), said);
    }

    #[test]
    fn bytes_cut_anywhere_decode_to_same_messages() {
        let long = "é".repeat(20_000);
        let all = [
            frame(0x81, b"one"),
            frame(0x01, "tw".as_bytes()),
            frame(0x00, b""),
            frame(0x8a, b"beat"),
            frame(0x80, b"o"),
            frame(0x81, &[b'3'; 200]),
            frame(0x81, long.as_bytes()),
            frame(0x81, b""),
        ]
        .concat();
        let expected = heard(&[&all]);
        assert_eq!(expected.len(), 6);
        for size in [1, 2, 3, 7, 100, 4_096, 16_384] {
            let parts: Vec<&[u8]> = all.chunks(size).collect();
            assert!(heard(&parts) == expected, "in parts of {size}");
        }
        let mut decoder = Decoder::new(MessageKind::Text, 65_536);
        assert!(all.chunks(5).all(|part| decoder.decode(&mut part.to_vec(), |_| true) == Ok(true)));
        assert_eq!((decoder.held.capacity(), decoder.message.is_none()), (0, true), "nothing is kept");
    }

    #[test]
    fn forbidden_frames_are_named() {
        let unmasked = vec![0x81, 0x01, b'x'];
        check(&unmasked, FrameError::Unmasked);
        check(&frame(0xc1, b"x"), FrameError::Reserved);
        check(&frame(0x83, b"x"), FrameError::UnknownKind(3));
        check(&frame(0x8b, b"x"), FrameError::UnknownKind(11));
        check(&frame(0x82, b"x"), FrameError::Binary);
        check(&frame(0x02, b"x"), FrameError::Binary);
        check(&frame(0x09, b"x"), FrameError::Control);
        check(&frame(0x89, &[0; 126]), FrameError::Control);
        check(&frame(0x80, b"x"), FrameError::OutOfOrder);
        check(&[frame(0x01, b"x"), frame(0x81, b"y")].concat(), FrameError::OutOfOrder);
        check(&[frame(0x01, b"x"), frame(0x82, b"y")].concat(), FrameError::Binary);
        check(&frame(0x81, &[0xff, 0xfe]), FrameError::NotUtf8);
        check(&[frame(0x01, &[0xc3]), frame(0x80, b"x")].concat(), FrameError::NotUtf8);
    }

    #[test]
    fn message_beyond_maximum_is_rejected_early() {
        let too_long = FrameError::TooLong { max: 65_536 };
        assert_eq!(heard(&[&frame(0x81, &[b'x'; 65_536])])[0].len(), 5 + 65_536);
        // It is rejected before it has arrived.
        check(&frame(0x81, &[b'x'; 65_537])[..14], too_long);
        check(&[0x81, 0xff, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0], too_long);
        check(&[frame(0x01, &[b'x'; 60_000]), frame(0x80, &[b'x'; 5_537])].concat(), too_long);
        let pieces = [frame(0x01, b""), frame(0x00, b"").repeat(100_000)].concat();
        check(&pieces, FrameError::TooManyPieces);
        let as_small_as_can_be = [frame(0x01, b"x"), frame(0x00, b"x").repeat(65_534), frame(0x80, b"x")];
        assert_eq!(heard(&[&as_small_as_can_be.concat()])[0].len(), 5 + 65_536);
    }

    #[test]
    fn binary_messages_decode_where_they_are_wanted() {
        let mut heard = Vec::new();
        let mut all = [frame(0x82, b"one"), frame(0x02, b"t"), frame(0x80, b"wo")].concat();
        let mut decoder = Decoder::new(MessageKind::Binary, 100);
        let goes_on = decoder.decode(&mut all, |message| {
            heard.push(format!("{message:?}"));
            true
        });
        assert_eq!((goes_on, heard.len()), (Ok(true), 2));
        assert_eq!(
            heard,
            [Message::Binary(b"one"), Message::Binary(b"two")].map(|message| format!("{message:?}"))
        );
        assert_eq!(decoder.decode(&mut frame(0x81, b"x"), |_| true), Err(FrameError::Text));
        let mut any = Decoder::new(MessageKind::Any, 100);
        assert_eq!(any.decode(&mut [frame(0x81, b"x"), frame(0x82, b"x")].concat(), |_| true), Ok(true));
    }

    #[test]
    fn decoder_stops_when_told() {
        let mut decoder = Decoder::new(MessageKind::Text, 100);
        let mut count = 0;
        let mut bytes = [frame(0x81, b"a"), frame(0x81, b"b"), frame(0x82, b"c")].concat();
        let goes_on = decoder.decode(&mut bytes, |_| {
            count += 1;
            false
        });
        assert_eq!((goes_on, count), (Ok(false), 1));
    }

    #[test]
    fn random_bytes_decode_or_fail_within_bounds() {
        let mut state = 1_u64;
        for _ in 0..20_000 {
            let mut decoder = Decoder::new(MessageKind::Text, 64);
            let mut bytes = [0; 48];
            for byte in &mut bytes {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte = (state >> 56) as u8;
            }
            // Valid enough that half of the cases decode to a message.
            bytes[0] &= 0x8f;
            bytes[1] |= 0x80;
            for part in bytes.chunks_mut(11) {
                if decoder.decode(part, |_| true).is_err() {
                    break;
                }
                assert!(decoder.held.len() <= 64 + 14);
            }
        }
    }

    #[test]
    fn frames_go_out_in_order_through_narrow_socket() {
        let mut outgoing = Encoder::<FrameQueue>::default();
        let long = "y".repeat(70_000);
        for text in ["x", &"z".repeat(125), &"z".repeat(126), &long] {
            outgoing.push(Frame::Text(text.into()));
        }
        outgoing.push(Frame::Ping);
        outgoing.push(Frame::Pong(Box::new([1, 2])));
        outgoing.push(Frame::Close(Some(1_001), "bye"));
        assert_eq!(outgoing.bytes(), 1 + 125 + 126 + 70_000 + 2 + 5 + 7 * HEADER_BYTES_MAX);
        let mut narrow = Narrow { left: 0, bytes: Vec::new() };
        let mut blocked = 0;
        while let Err(error) = outgoing.write_to(&mut narrow) {
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
            (narrow.left, blocked) = (1_000, blocked + 1);
        }
        assert!(blocked > 70, "{blocked}");
        let expected = [
            &[0x81, 1, b'x', 0x81, 125][..],
            &[b'z'; 125],
            &[0x81, 126, 0, 126],
            &[b'z'; 126],
            &[0x81, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x70],
            long.as_bytes(),
            &[0x89, 0, 0x8a, 2, 1, 2, 0x88, 5, 3, 233, b'b', b'y', b'e'],
        ]
        .concat();
        assert!(narrow.bytes == expected);
        assert_eq!((outgoing.bytes(), outgoing.rest.capacity()), (0, 0));
    }

    /// Accepts a limited number of bytes, and then none.
    struct Narrow {
        left: usize,
        bytes: Vec<u8>,
    }

    impl Write for Narrow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.left);
            if count == 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.left -= count;
            self.bytes.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A frame as a client sends it.
    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut out = vec![first];
        put(&mut out, payload);
        out[1] |= 0x80;
        let at = out.len() - payload.len();
        unmask(&mut out[at..], MASK);
        out.splice(at..at, MASK);
        out
    }

    fn heard(parts: &[&[u8]]) -> Vec<String> {
        let (mut decoder, mut all) = (Decoder::new(MessageKind::Text, 65_536), Vec::new());
        for part in parts {
            let goes_on = decoder.decode(&mut part.to_vec(), |heard| {
                all.push(match heard {
                    Message::Text(text) => format!("text {text}"),
                    Message::Binary(bytes) => format!("binary {bytes:?}"),
                    Message::Ping(bytes) => format!("ping {}", str::from_utf8(bytes).unwrap()),
                    Message::Pong => "pong".to_string(),
                    Message::Close(code) => format!("close {code:?}"),
                });
                true
            });
            assert_eq!(goes_on, Ok(true));
        }
        all
    }

    fn check(bytes: &[u8], expected: FrameError) {
        assert_eq!(
            Decoder::new(MessageKind::Text, 65_536).decode(&mut bytes.to_vec(), |_| true),
            Err(expected)
        );
    }
}
