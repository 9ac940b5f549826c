//! Malformed signals, and unusable descriptions and addresses: counted, without effect on other
//! peers.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::time::{Duration, Instant};

use gaggle_kit::PeerId;
use gaggle_link::{Channel, Mesh, MeshConfig, Path, PathConfig, Transport, TransportEvent};
use gaggle_native::{Clock, MeshServers, NativeMesh, mesh};
use gaggle_rtc::{Certificate, Role, RtcChannel};

const PATIENCE: Duration = Duration::from_secs(120);
const LOW: PeerId = PeerId::from_u128(1);
const HIGH: PeerId = PeerId::from_u128(2);
/// The peer with the greater id offers: this one may offer to both.
const HOSTILE: PeerId = PeerId::from_u128(3);

/// Runs both until each has received this many messages of the other.
fn talk(clock: &Clock, pair: &mut [NativeMesh; 2], wanted: u32) {
    let (began, mut heard) = (Instant::now(), [0; 2]);
    while heard.iter().any(|heard| *heard < wanted) {
        assert!(began.elapsed() < PATIENCE, "{heard:?}: {pair:?}");
        for (nth, from, to) in [(0, LOW, HIGH), (1, HIGH, LOW)] {
            let now = clock.now();
            while let Some(event) = pair[nth].poll(now) {
                heard[nth] += u32::from(matches!(event, TransportEvent::Message { .. }));
            }
            while let Some((whom, signal)) = pair[nth].poll_signal() {
                // The hostile peer answers nothing.
                if whom == to {
                    pair[1 - nth].handle_signal(now, from, &signal).unwrap();
                }
            }
            let _ = pair[nth].send(now, to, Channel::Unreliable, b"honk");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn unusable_signals_are_counted_and_honest_peer_connects() {
    let clock = Clock::start();
    let mut pair = [LOW, HIGH].map(|me| {
        let config = MeshConfig { paths: PathConfig::only(Path::Direct), ..MeshConfig::default() };
        mesh(me, "", &MeshServers::default(), config, me.to_u128() as u64)
    });
    for (links, other) in pair.iter_mut().zip([HIGH, LOW]) {
        links.add_peer(clock.now(), other);
        links.add_peer(clock.now(), HOSTILE);
    }
    let mut channel = RtcChannel::new(Instant::now(), Role::Peer, &Certificate::generate().unwrap());
    channel.add_host(([127, 0, 0, 1], 9).into()).unwrap();
    let offer = channel.offer().unwrap();
    let no_signals = ["", "nonsense", "offer", "offer zz\nv=0", "candidate 5", "\u{1f4a5} 5\n\u{1f4a5}"];
    let too_long = format!("offer 5\n{}", "v".repeat(9_000));
    let useless = [
        "offer 5\nno description".to_string(),
        format!("offer 6\n{}", offer.replace("ice-ufrag", "nothing")),
        format!("offer 7\n{offer}"),
        "candidate 7 0 0\nno address".to_string(),
        "candidate 7 0 0\ncandidate:1 1 udp 1 999.0.0.1 99999 typ host".to_string(),
    ];
    for links in &mut pair {
        for text in no_signals.into_iter().chain([too_long.as_str()]) {
            assert!(links.handle_signal(clock.now(), HOSTILE, text).is_err(), "{text:?}");
        }
        for text in &useless {
            links.handle_signal(clock.now(), HOSTILE, text).unwrap();
        }
        // The valid offer was accepted.
        assert_eq!(links.malformed_signals(), 7 + 4, "{links:?}");
    }
    talk(&clock, &mut pair, 50);
    assert_eq!(pair[0].path(HIGH), Some(Path::Direct));
    // Also during the match.
    for links in &mut pair {
        for text in no_signals.into_iter().chain(["offer 8\nno description"]) {
            let _ = links.handle_signal(clock.now(), HOSTILE, text);
        }
        assert!(links.malformed_signals() > 11 + 5);
    }
    talk(&clock, &mut pair, 50);
}
