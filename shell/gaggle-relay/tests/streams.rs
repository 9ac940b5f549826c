//! Authenticated members that misuse their channel: further streams, and floods.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod hostile;

use std::time::{Duration, Instant};

use gaggle_link::relay::{RelayFrame, RelayReject};
use gaggle_relay::RelayConfig;
use gaggle_relay::loopback::Loopback;

use hostile::{Hostile, PATIENCE, word};

#[test]
fn member_with_second_stream_is_disconnected() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    let mut hostile = Hostile::come(&relay, &[0, 77]);
    hostile.run_until("two streams on its side", |hostile| hostile.open.len() == 2);
    // What it sends on the permitted one counts, and it stays connected.
    let totals = || relay.server().totals();
    hostile.write(0, &RelayFrame::Broadcast { datagram: b"hello" }.to_bytes());
    hostile.run_until("a datagram received", |_| totals().received == 1);
    assert_eq!((totals().members, totals().malformed), (1, 0));
    hostile.write(1, b"hello");
    hostile.run_until("disconnected", |_| totals().members == 0);
    assert_eq!(totals().malformed, 1);
    let reason = word(&mut hostile.words, |frame| match frame {
        RelayFrame::Refused { reason } => Some(*reason),
        _ => None,
    });
    assert_eq!(reason, RelayReject::Malformed, "the reason is sent");
}

#[test]
fn flood_over_channel_is_dropped_before_decryption() {
    let config = RelayConfig { frames_per_second: 50, frames_burst: 100, ..RelayConfig::default() };
    let relay = Loopback::start(config).unwrap();
    let mut hostile = Hostile::come(&relay, &[0]);
    hostile.run_until("a channel", |hostile| !hostile.open.is_empty());
    let (totals, port) = (|| relay.server().totals(), relay.address());
    assert_eq!(totals().dropped_rate, 0);
    // Looks like encrypted data from the channel's address.
    let nonsense = [&[23, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 9, 0, 64][..], &[7; 64]].concat();
    let began = Instant::now();
    while totals().dropped_rate < 1_000 {
        assert!(began.elapsed() < PATIENCE, "{:?}", totals());
        (0..500).for_each(|_| _ = hostile.socket.send_to(&nonsense, port));
        std::thread::sleep(Duration::from_millis(1));
    }
    // It stays connected: the source may be forged. Afterwards all works as before.
    let (received, began) = (totals().received, Instant::now());
    while totals().received == received {
        assert!(began.elapsed() < PATIENCE, "{:?}", totals());
        hostile.write(0, &RelayFrame::Broadcast { datagram: b"hello" }.to_bytes());
        let said_at = Instant::now();
        hostile.run_until("a moment", |_| said_at.elapsed() > Duration::from_millis(100));
    }
}
