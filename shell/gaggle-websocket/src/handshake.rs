//! Opening handshake (RFC 6455, section 4): the answer to a key, and a whole handshake for servers
//! without other HTTP.
//!
//! The HTTP server uses [`accept_key`], test servers [`accept`]. Absent: paths, origins, anything
//! else of HTTP.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use base64ct::{Base64, Encoding};
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};

/// Suffix that the standard appends to every key.
const SUFFIX: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// Longest accepted request in bytes.
const REQUEST_BYTES_MAX: usize = 16 * 1024;
/// A request must be complete within this time.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// The `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key`.
pub fn accept_key(key: &[u8]) -> String {
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    context.update(key);
    context.update(SUFFIX);
    Base64::encode_string(context.finish().as_ref())
}

/// Reads a request from a blocking stream and answers it. Returns the bytes after the request.
///
/// # Errors
/// If the request is too long, too slow, or not for a WebSocket.
pub fn accept(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    stream.set_read_timeout(Some(REQUEST_TIMEOUT))?;
    let (mut request, mut buffer) = (Vec::new(), [0; 1_024]);
    let end = loop {
        if let Some(at) = request.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        let count = stream.read(&mut buffer)?;
        if count == 0 || request.len() > REQUEST_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        request.extend_from_slice(&buffer[..count]);
    };
    let rest = request.split_off(end);
    let key = key_of(&request).ok_or(io::ErrorKind::InvalidData)?;
    let accept = accept_key(key.as_bytes());
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    stream.write_all(answer.as_bytes())?;
    stream.set_read_timeout(None)?;
    Ok(rest)
}

fn key_of(request: &[u8]) -> Option<&str> {
    let lines = str::from_utf8(request).ok()?.lines();
    let fields = lines.filter_map(|line| line.split_once(':'));
    let mut keys = fields.filter(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-key"));
    keys.next().map(|(_, key)| key.trim())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn key_of_standard_has_answer_of_standard() {
        // RFC 6455, section 1.3.
        assert_eq!(accept_key(b"dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        let key = b"x3JJHMbDL1EzLkh9GBhXDw==";
        assert_eq!(accept_key(key), tungstenite::handshake::derive_accept_key(key));
    }

    #[test]
    fn request_of_client_is_answered() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let client = std::thread::spawn(move || {
            let stream = TcpStream::connect(address).unwrap();
            tungstenite::client(format!("ws://{address}/"), stream).is_ok()
        });
        let (mut stream, _) = listener.accept().unwrap();
        assert_eq!(accept(&mut stream).unwrap(), b"");
        assert!(client.join().unwrap());
    }

    #[test]
    fn request_without_key_is_rejected() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        assert_eq!(accept(&mut stream).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
