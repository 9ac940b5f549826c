//! Attack with datagrams at the relay's UDP port: STUN requests, checks without a password, DTLS
//! hellos, noise. Absent: honest clients.

use std::net::{SocketAddr, UdpSocket};

use gaggle_rtc::stun;

use super::{Hits, Strength, spread};
use crate::client::hostile;

const THREADS: usize = 2;
const ADDRESSES: usize = 32;
/// Datagrams sent in a row by one thread.
const AT_ONCE: usize = 10;

pub(super) fn flood(at: SocketAddr, strength: Strength, hits: &Hits) -> Result<(), String> {
    let mut check = stun::short_request([1; 12]).to_vec();
    check.extend([0x00, 0x06, 0x00, 0x09]);
    check.extend(b"evtj:h6vY\0\0\0");
    check[3] = 16;
    let greeting = [&[22, 254, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 180, 1][..], &[0; 180]].concat();
    let brief = stun::short_request([3; 12]).to_vec();
    let thrown = [stun::request([7; 12]), brief, check, greeting, vec![0x5a; 1_000]];
    let sockets: Result<Vec<UdpSocket>, _> =
        (0..ADDRESSES).map(|nth| UdpSocket::bind((hostile(nth), 0))).collect();
    let sockets = sockets.map_err(|error| error.to_string())?;
    spread(THREADS, strength, AT_ONCE as u64, hits, |thread| {
        let sockets: Vec<UdpSocket> = sockets.iter().filter_map(|socket| socket.try_clone().ok()).collect();
        let (thrown, mut nth) = (thrown.clone(), thread);
        Box::new(move || {
            let sent = (0..AT_ONCE).filter(|_| {
                nth += 1;
                // What the kernel has no room for is lost, as on any network. Answers are never
                // read.
                sockets[nth % sockets.len()].send_to(&thrown[nth % thrown.len()], at).is_ok()
            });
            sent.count() as u64
        })
    });
    Ok(())
}
