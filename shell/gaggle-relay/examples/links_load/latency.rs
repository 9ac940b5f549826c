//! One-way latency of a message: median of half round trips, in microseconds.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use gaggle_kit::PeerId;
use gaggle_link::{Carrier, CarrierEvent, ConnectCarrier, SignaledCarrier};
use gaggle_native::{Clock, WebRtcCarrier, random_peer_id};

use crate::member::Member;
use crate::relay_process::ticket;
use crate::{RelayProcess, median};

const ROUNDS: usize = 2_000;
const MESSAGE: [u8; 100] = [5; 100];

/// Between two plain sockets.
pub(crate) fn bare(_: &Clock) -> f64 {
    let sockets = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
    sockets[0].connect(sockets[1].local_addr().unwrap()).unwrap();
    sockets[1].connect(sockets[0].local_addr().unwrap()).unwrap();
    sockets.iter().for_each(|socket| socket.set_nonblocking(true).unwrap());
    let mut buffer = [0; 2_048];
    half_of_rounds(|| {
        sockets[0].send(&MESSAGE).unwrap();
        while sockets[1].recv(&mut buffer).is_err() {}
        sockets[1].send(&MESSAGE).unwrap();
        while sockets[0].recv(&mut buffer).is_err() {}
    })
}

/// Between two native peers.
pub(crate) fn direct(clock: &Clock) -> f64 {
    let ids = [random_peer_id().unwrap(), random_peer_id().unwrap()];
    let mut ways = ids.map(|id| WebRtcCarrier::new(id, &[], id.to_u128() as u64).unwrap());
    (0..2).for_each(|nth| ways[nth].connect(clock.now(), ids[1 - nth]));
    let mut open = [false; 2];
    let mut datagram = Vec::new();
    while open != [true; 2] {
        for nth in 0..2 {
            while let Some((_, signal)) = ways[nth].poll_signal() {
                ways[1 - nth].handle_signal(clock.now(), ids[nth], &signal.to_string()).unwrap();
            }
            while let Some(event) = ways[nth].poll(clock.now(), &mut datagram) {
                open[nth] |= matches!(event, CarrierEvent::Opened { .. });
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    half_of_rounds(|| {
        for (from, to) in [(0, 1), (1, 0)] {
            ways[from].send(clock.now(), ids[to], &MESSAGE).unwrap();
            while !matches!(ways[to].poll(clock.now(), &mut datagram), Some(CarrierEvent::Datagram { .. })) {}
        }
    })
}

/// Between two members of a room through a relay.
pub(crate) fn relay(clock: &Clock) -> f64 {
    let relay = RelayProcess::start(false);
    let ids = [1, 2].map(PeerId::from_u128);
    let mut members = [0, 1]
        .map(|nth| Member::come(clock.now(), relay.url(), &ticket(1, ids[nth]), ids[nth], &[ids[1 - nth]]));
    while members.iter().any(|member| member.open() == 0) {
        members.iter_mut().for_each(|member| member.poll(clock.now(), |_, _| {}));
        std::thread::sleep(Duration::from_millis(1));
    }
    half_of_rounds(|| {
        for (from, to) in [(0, 1), (1, 0)] {
            members[from].say(clock.now(), &MESSAGE);
            let mut heard = false;
            while !heard {
                members[to].poll(clock.now(), |_, _| heard = true);
            }
        }
    })
}

fn half_of_rounds(mut round: impl FnMut()) -> f64 {
    let times = (0..ROUNDS + 100).map(|_| {
        // At a game's pace, not as fast as possible.
        std::thread::sleep(Duration::from_micros(500));
        let began = Instant::now();
        round();
        began.elapsed().as_secs_f64() * 1e6 / 2.0
    });
    median(times.skip(100).collect())
}
