//! One WebSocket after its opening handshake: frames in and out of a stream of bytes.

use std::io::{self, Read, Write};
use std::time::Duration;

use gaggle_link::relay::RELAY_TEXT_BYTES_MAX;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;
use tungstenite::protocol::{Role, WebSocketConfig, WebSocketContext};
use tungstenite::{Bytes, Error, Message};

use crate::outbox::Outbox;

/// Longest message taken: the longest frame there is.
const MESSAGE_BYTES_MAX: usize = RELAY_TEXT_BYTES_MAX + 64;
/// What is handed to the kernel at once. What waits beyond it can still be dropped.
const WRITE_AT_ONCE: usize = 16 * 1024;
const READ_AT_ONCE: usize = 16 * 1024;
/// What is taken from one client in a while: several times what may pass through the relay. More
/// waits in the kernel, whatever it is, so that nobody keeps us busy with what is thrown away.
const READ_IN_A_WHILE: usize = 1 << 20;
const WHILE: Duration = Duration::from_millis(200);
/// Who leaves so much unread is not listened to.
const UNREAD_MAX: usize = 4 * WRITE_AT_ONCE;
/// A client that was silent for this long is asked whether it is there, and given up if it still is
/// after the same time again.
const PING_AFTER: Duration = Duration::from_secs(20);
/// How long the other side may take to read our last words.
const LINGER: Duration = Duration::from_secs(2);
/// What of its unread words is taken for that.
const LINGER_BYTES: usize = 1 << 20;

/// Why a socket was not served any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The other side left, or was sent away.
    Gone,
    /// It said something that is no message of ours: too long, or text.
    Malformed,
}

/// Serves a WebSocket until it ends: what comes goes to `handle`, what is in the outbox goes out.
/// Where `handle` says that it was too much, nothing more is read for a moment.
pub(crate) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    outbox: &Outbox,
    handle: impl Fn(&[u8]) -> bool,
) -> Ended {
    let (mut input, mut output) = tokio::io::split(stream);
    let mut frames = Frames::new();
    let mut clock = tokio::time::interval(PING_AFTER);
    let (mut heard, mut asked) = (true, false);
    let mut read = vec![0; READ_AT_ONCE];
    let (mut left, mut since) = (READ_IN_A_WHILE, Instant::now());
    let (mut serving, mut ended) = (true, Ended::Gone);
    while serving {
        let written = frames.pipe.output.len();
        tokio::select! {
            // A full outbox does not keep us from reading, but answers to pings that nobody takes
            // do.
            came = input.read(&mut read), if written < UNREAD_MAX && left > 0 => match came {
                Ok(0) | Err(_) => return ended,
                Ok(count) => {
                    heard = true;
                    let now = Instant::now();
                    if now.duration_since(since) >= WHILE {
                        (left, since) = (READ_IN_A_WHILE, now);
                    }
                    left = left.saturating_sub(count);
                    match frames.take(&read[..count], &handle) {
                        Taken::Fine => {}
                        Taken::TooMuch => left = 0,
                        Taken::Over => serving = false,
                        Taken::Malformed => (serving, ended) = (false, Ended::Malformed),
                    }
                }
            },
            done = output.write(&frames.pipe.output), if written > 0 => match done {
                Ok(0) | Err(_) => return ended,
                Ok(count) => drop(frames.pipe.output.drain(..count)),
            },
            () = outbox.wait(), if written < WRITE_AT_ONCE => {
                serving = outbox.drain(WRITE_AT_ONCE, |frame| frames.put(frame));
            }
            () = tokio::time::sleep_until(since + WHILE), if left == 0 => {
                (left, since) = (READ_IN_A_WHILE, Instant::now());
            }
            // Whoever does not read is sent away all the same.
            () = outbox.ended() => serving = false,
            _ = clock.tick() => {
                if !heard && asked {
                    return ended;
                }
                asked = !heard;
                heard = false;
                if asked {
                    frames.ping();
                }
            }
        }
        if frames.pipe.output.is_empty() {
            let _ = output.flush().await;
        }
    }
    outbox.drain(usize::MAX, |frame| frames.put(frame));
    frames.close();
    let last_words = async {
        let _ = output.write_all(&frames.pipe.output).await;
        let _ = output.shutdown().await;
        // Unread bytes would make the kernel throw away what we said last.
        let mut left = LINGER_BYTES;
        while let Ok(count @ 1..) = input.read(&mut read).await
            && left > 0
        {
            left = left.saturating_sub(count);
        }
    };
    let _ = tokio::time::timeout(LINGER, last_words).await;
    ended
}

/// What became of bytes that came.
enum Taken {
    Fine,
    TooMuch,
    Over,
    Malformed,
}

/// The frames of a WebSocket between two buffers.
struct Frames {
    context: WebSocketContext,
    pipe: Pipe,
}

#[derive(Default)]
struct Pipe {
    input: Vec<u8>,
    at: usize,
    output: Vec<u8>,
}

impl Frames {
    fn new() -> Frames {
        let config = WebSocketConfig::default()
            .read_buffer_size(2 * 1024)
            .write_buffer_size(0)
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX));
        Frames { context: WebSocketContext::new(Role::Server, Some(config)), pipe: Pipe::default() }
    }

    /// Passes on what is in these bytes.
    fn take(&mut self, bytes: &[u8], handle: &impl Fn(&[u8]) -> bool) -> Taken {
        self.pipe.input.extend_from_slice(bytes);
        let mut taken = Taken::Fine;
        loop {
            match self.context.read(&mut self.pipe) {
                Ok(Message::Binary(frame)) => {
                    if !handle(&frame) {
                        taken = Taken::TooMuch;
                    }
                }
                // The library answers pings itself.
                Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => {}
                Ok(Message::Text(_)) => return Taken::Malformed,
                Ok(Message::Close(_)) => {}
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    let _ = self.context.flush(&mut self.pipe);
                    return taken;
                }
                Err(Error::Capacity(_) | Error::Protocol(_) | Error::Utf8(_)) => return Taken::Malformed,
                Err(_) => return Taken::Over,
            }
        }
    }

    fn put(&mut self, frame: &[u8]) {
        let _ = self.context.write(&mut self.pipe, Message::Binary(Bytes::copy_from_slice(frame)));
    }

    fn ping(&mut self) {
        let _ = self.context.write(&mut self.pipe, Message::Ping(Bytes::new()));
    }

    fn close(&mut self) {
        let _ = self.context.close(&mut self.pipe, None);
        let _ = self.context.flush(&mut self.pipe);
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = (self.input.len() - self.at).min(buffer.len());
        if count == 0 {
            self.input.clear();
            self.at = 0;
            return Err(io::ErrorKind::WouldBlock.into());
        }
        buffer[..count].copy_from_slice(&self.input[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::io::duplex;

    use super::*;
    use crate::machine::Outbound;

    /// How long anything may take on the slowest machine.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn who_pings_and_never_reads_is_not_listened_to_and_can_be_sent_away() {
        let (mut client, stream) = duplex(16 * 1024);
        let outbox = Arc::new(Outbox::default());
        let served = Arc::clone(&outbox);
        let server = tokio::spawn(async move { serve(stream, &served, |_| true).await });
        // A masked ping of 125 bytes; its mask is zero.
        let ping = [&[0x89, 0x80 | 125, 0, 0, 0, 0][..], &[b'x'; 125]].concat();
        let mut sent = 0;
        // When it is not read for a moment it never will be: we take nothing from the other side.
        while let Ok(done) = tokio::time::timeout(Duration::from_millis(500), client.write_all(&ping)).await {
            done.expect("the connection stays open");
            sent += ping.len();
            assert!(sent < 1024 * 1024, "{sent} bytes were taken from somebody who reads nothing");
        }
        assert!(sent > UNREAD_MAX / 2, "only {sent} bytes were taken");
        outbox.push(Outbound::Close);
        tokio::time::timeout(PATIENCE, server).await.expect("it ends").expect("it does not panic");
    }

    #[tokio::test]
    async fn who_sends_without_end_waits() {
        let (mut client, stream) = duplex(16 * 1024);
        let server = tokio::spawn(async move { serve(stream, &Outbox::default(), |_| true).await });
        // A message of pieces in which there is nothing.
        client.write_all(&[0x02, 0x80, 0, 0, 0, 0]).await.expect("the connection is open");
        let pieces = [0x00, 0x80, 0, 0, 0, 0].repeat(1_000);
        let (began, mut sent) = (Instant::now(), 0);
        while sent < 3 * READ_IN_A_WHILE {
            client.write_all(&pieces).await.expect("the connection stays open");
            sent += pieces.len();
        }
        let took = began.elapsed();
        assert!(took >= WHILE, "{sent} bytes were taken in {took:?}");
        server.abort();
    }

    #[tokio::test]
    async fn who_says_too_much_is_not_read_for_a_moment() {
        let (mut client, stream) = duplex(1 << 20);
        let server = tokio::spawn(async move { serve(stream, &Outbox::default(), |_| false).await });
        // Binary messages of one byte, as many as are read in two looks at most.
        let messages = [0x82, 0x81, 0, 0, 0, 0, 7].repeat(3 * READ_AT_ONCE / 7);
        let began = Instant::now();
        for _ in 0..3 {
            client.write_all(&messages).await.expect("the connection stays open");
        }
        client.shutdown().await.expect("it can be shut");
        let ended =
            tokio::time::timeout(PATIENCE, server).await.expect("it ends").expect("it does not panic");
        assert_eq!(ended, Ended::Gone);
        assert!(began.elapsed() >= 4 * WHILE, "nine looks in {:?}", began.elapsed());
    }

    #[tokio::test]
    async fn what_is_no_message_of_ours_is_told_apart() {
        let long = (MESSAGE_BYTES_MAX as u16 + 1).to_be_bytes();
        for (bytes, expected) in [
            (vec![0x81, 0x81, 0, 0, 0, 0, b'x'], Ended::Malformed),
            (vec![0x82, 0xfe, long[0], long[1], 0, 0, 0, 0], Ended::Malformed),
            (vec![0x83, 0x80, 0, 0, 0, 0], Ended::Malformed),
            (vec![0x82, 0x81, 0, 0, 0, 0, 7], Ended::Gone),
        ] {
            let (mut client, stream) = duplex(16 * 1024);
            let server = tokio::spawn(async move { serve(stream, &Outbox::default(), |_| true).await });
            client.write_all(&bytes).await.expect("the connection is open");
            client.shutdown().await.expect("it can be shut");
            let ended =
                tokio::time::timeout(PATIENCE, server).await.expect("it ends").expect("it does not panic");
            assert_eq!(ended, expected, "{bytes:?}");
        }
    }
}
