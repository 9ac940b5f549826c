//! Attacks on files and connections: request floods, slow readers, idle connections. Absent:
//! honest clients.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use super::{Hits, Strength, spread};
use crate::client::{hostile, tcp, tcp_with};

const THREADS: usize = 8;
/// Addresses of a flood: so many that each stays below its limit.
const ADDRESSES: usize = 320;
/// Requests written before the first answer is read.
const PIPELINED: usize = 32;
/// Connections of one address, which is its limit.
const READERS_PER_ADDRESS: usize = 64;
/// Bytes a slow reader reads at a time.
const SLOW_BYTES: usize = 512;
/// Socket buffer of a slow reader: all of them are local and must leave memory for others.
const SLOW_BUFFER: usize = 8_192;
const SLOW_PAUSE: Duration = Duration::from_millis(250);
/// Networks (/64) of the /56 that takes all places.
const NETWORKS: u128 = 80;
/// Time after which the attack begins without the connections that are not open.
const OPENING_MAX: Duration = Duration::from_secs(15);

pub(super) fn gets(at: SocketAddr, strength: Strength, hits: &Hits) -> Result<(), String> {
    let request = "GET /index.html HTTP/1.1\r\nHost: localhost\r\n\r\n".to_string();
    flood(at, strength, hits, move |_| request.clone());
    Ok(())
}

pub(super) fn heads(at: SocketAddr, strength: Strength, hits: &Hits) -> Result<(), String> {
    let request = "HEAD /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n".to_string();
    flood(at, strength, hits, move |_| request.clone());
    Ok(())
}

pub(super) fn guesses(at: SocketAddr, strength: Strength, hits: &Hits) -> Result<(), String> {
    flood(at, strength, hits, |nth| {
        let path = "GET /operator/state HTTP/1.1\r\nHost: localhost\r\n";
        format!("{path}Authorization: Bearer guess-{nth:016}\r\n\r\n")
    });
    Ok(())
}

/// Pipelined requests on a few connections from each of several addresses.
fn flood(
    at: SocketAddr,
    strength: Strength,
    hits: &Hits,
    request: impl Fn(u64) -> String + Clone + Send + 'static,
) {
    spread(THREADS, strength, PIPELINED as u64, hits, |thread| {
        let (request, mut nth, mut turn) = (request.clone(), 0_u64, 0);
        let mut connections: Vec<Option<TcpStream>> = (0..ADDRESSES / THREADS).map(|_| None).collect();
        Box::new(move || {
            let mut batch = String::new();
            for _ in 0..PIPELINED {
                nth += 1;
                batch += &request(nth);
            }
            turn = (turn + 1) % connections.len();
            let from = hostile(turn * THREADS + thread);
            let Some(mut stream) = connections[turn].take().or_else(|| tcp(from, at).ok()) else { return 0 };
            let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
            let answered = exchange(&mut stream, batch.as_bytes());
            // A connection the server closed or left unanswered is replaced.
            if answered == Some(PIPELINED as u64) {
                connections[turn] = Some(stream);
            }
            answered.map_or(0, |_| PIPELINED as u64)
        })
    });
}

/// Number of answered requests; none if they could not be sent.
fn exchange(stream: &mut TcpStream, batch: &[u8]) -> Option<u64> {
    stream.write_all(batch).ok()?;
    let (mut buffer, mut held, mut answered) = ([0; 65_536], Vec::new(), 0);
    while answered < PIPELINED as u64 {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(count) => held.extend_from_slice(&buffer[..count]),
        }
        answered += take_answers(&mut held);
    }
    Some(answered)
}

/// Counts and removes whole answers. Answers to HEAD have no body whatever their length says, so a
/// head before another head or before the end is whole.
fn take_answers(held: &mut Vec<u8>) -> u64 {
    let (mut at, mut answers) = (0, 0);
    while let Some(end) = find(&held[at..], b"\r\n\r\n") {
        let head = String::from_utf8_lossy(&held[at..at + end]).to_ascii_lowercase();
        let length = head
            .split("content-length:")
            .nth(1)
            .and_then(|rest| rest.lines().next()?.trim().parse::<usize>().ok())
            .unwrap_or(0);
        let body = at + end + 4;
        let has_body = held.get(body).is_some_and(|byte| *byte != b'H') && length <= 1 << 20;
        if has_body && held.len() < body + length {
            break;
        }
        at = if has_body { body + length } else { body };
        answers += 1;
    }
    held.drain(..at);
    answers
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// `strength` connections that request the large file and read it slowly.
pub(super) fn slow_readers(at: SocketAddr, strength: Strength, hits: &Hits) -> Result<(), String> {
    let ask = move |nth: usize| {
        let mut stream = tcp_with(hostile(nth / READERS_PER_ADDRESS), at, Some(SLOW_BUFFER)).ok()?;
        stream.write_all(b"GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n").ok()?;
        stream.set_read_timeout(Some(Duration::from_millis(20))).ok()?;
        Some(stream)
    };
    let (asked, all_asked) = mpsc::channel();
    let lanes = THREADS.min(strength.max(1) as usize);
    for lane in 0..lanes {
        let (hits, asked) = (hits.clone(), asked.clone());
        std::thread::spawn(move || {
            let numbers = (lane..strength as usize).step_by(lanes);
            let mut readers: Vec<(usize, Option<TcpStream>)> = numbers.map(|nth| (nth, ask(nth))).collect();
            hits.add(readers.iter().filter(|(_, stream)| stream.is_some()).count() as u64);
            let _ = asked.send(());
            loop {
                for (nth, reader) in &mut readers {
                    let read = reader.as_mut().and_then(|stream| stream.read(&mut [0; SLOW_BYTES]).ok());
                    if read == Some(0) || reader.is_none() {
                        // Rejected or done: start again.
                        *reader = ask(*nth);
                        hits.add(u64::from(reader.is_some()));
                    }
                }
                std::thread::sleep(SLOW_PAUSE);
            }
        });
    }
    (0..lanes).for_each(|_| _ = all_asked.recv());
    Ok(())
}

/// `strength` idle connections from 80 networks (/64) of one site (/56); closed ones are reopened.
pub(super) fn places(at: SocketAddr, strength: Strength, hits: &Hits) -> Result<(), String> {
    let from = |nth: usize| -> IpAddr {
        Ipv6Addr::from_bits((0x2001_0db8_00aa_bb00 + nth as u128 % NETWORKS) << 64 | 7).into()
    };
    let (opened, all_opened) = mpsc::channel();
    let (began, is_open) = (Instant::now(), Arc::new(AtomicBool::new(false)));
    for lane in 0..THREADS {
        let (hits, opened, is_open) = (hits.clone(), opened.clone(), is_open.clone());
        std::thread::spawn(move || {
            let numbers: Vec<usize> = (lane..strength as usize).step_by(THREADS).collect();
            let open = |nth: usize| {
                if began.elapsed() > OPENING_MAX && !is_open.load(Ordering::Relaxed) {
                    return None;
                }
                let stream = tcp(from(nth), at).ok()?;
                stream.set_nonblocking(true).ok()?;
                Some(stream)
            };
            let mut held: Vec<Option<TcpStream>> = numbers.iter().map(|nth| open(*nth)).collect();
            hits.add(held.iter().flatten().count() as u64);
            let _ = opened.send(());
            loop {
                for (nth, stream) in numbers.iter().zip(&mut held) {
                    // A connection without data holds a place; any other result is a lost one.
                    let read = stream.as_mut().map(|stream| stream.read(&mut [0; 64]));
                    let is_held = read
                        .is_some_and(|read| read.is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock));
                    if !is_held {
                        *stream = open(*nth);
                        hits.add(u64::from(stream.is_some()));
                    }
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
    }
    (0..THREADS).for_each(|_| _ = all_opened.recv());
    is_open.store(true, Ordering::Relaxed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_with_and_without_body_are_counted() {
        let mut held =
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Le".to_vec();
        assert_eq!(take_answers(&mut held), 1);
        held.extend(b"ngth: 5\r\n\r\nhel");
        assert_eq!(take_answers(&mut held), 0);
        held.extend(b"lo");
        assert_eq!((take_answers(&mut held), held.len()), (1, 0));
        let mut heads = b"HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n".repeat(3);
        assert_eq!((take_answers(&mut heads), heads.len()), (3, 0));
    }
}
