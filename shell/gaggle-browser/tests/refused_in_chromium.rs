//! Malformed signals, and descriptions and addresses unusable for a browser: counted, without
//! effect on other peers.

#![allow(clippy::unwrap_used, reason = "a failed step should stop the test")]

use std::net::UdpSocket;
use std::path::Path as FilePath;
use std::time::{Duration, Instant};

use gaggle_kit::PeerId;
use gaggle_link::{Channel, Mesh, MeshConfig, Path, PathConfig, Transport, TransportEvent};
use gaggle_native::{Clock, MeshServers, NativeMesh, mesh};
use gaggle_web::bundle::bundle_example;
use gaggle_web::chromium::{Chromium, Page};
use gaggle_web::files::FileServer;
use serde_json::json;

const PAGE: &str = "<!doctype html><meta charset=utf-8><title>refused</title><script type=module>
import init, * as guests from './contract_page.js';
await init({ module_or_path: 'contract_page_bg.wasm' });
Object.assign(window, guests);
window.ready = true;
</script>";

const PATIENCE: Duration = Duration::from_secs(120);
const NATIVE: PeerId = PeerId::from_u128(1);
const GUEST: PeerId = PeerId::from_u128(2);
/// The peer with the greater id offers.
const HOSTILE: PeerId = PeerId::from_u128(3);

fn direct(me: PeerId, servers: &MeshServers) -> NativeMesh {
    let config = MeshConfig { paths: PathConfig::only(Path::Direct), ..MeshConfig::default() };
    mesh(me, "", servers, config, 1)
}

/// A page with a mesh, and what keeps it open.
fn open(name: &str) -> (FileServer, Chromium, Page) {
    let workspace = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = FilePath::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    bundle_example(&workspace, "gaggle-browser", "contract_page", &out).unwrap();
    let files = FileServer::start(&out, &[("index.html", PAGE)]).unwrap();
    let browser = Chromium::start().unwrap();
    let page = browser.open(&files.url("index.html")).unwrap();
    page.wait_for("window.ready", PATIENCE).unwrap();
    (files, browser, page)
}

/// A valid description.
fn offer(clock: &Clock) -> String {
    let mut links = direct(HOSTILE, &MeshServers::default());
    links.add_peer(clock.now(), GUEST);
    let began = Instant::now();
    loop {
        assert!(began.elapsed() < PATIENCE, "{links:?}");
        assert!(links.poll(clock.now()).is_none(), "no peer is there");
        let signals = std::iter::from_fn(|| links.poll_signal());
        let offers = signals.filter(|(_, signal)| signal.starts_with("offer "));
        if let Some(offer) =
            offers.filter_map(|(_, signal)| Some(signal.split_once('\n')?.1.to_string())).next()
        {
            return offer;
        }
    }
}

fn hand_in(page: &Page, text: &str) {
    page.eval(&format!("guest_doubtful_signal(0, '{HOSTILE}', {})", json!(text))).unwrap();
}

/// Polls the page until this many were rejected, and a little longer in case there are more.
fn refused(page: &Page, wanted: u64) -> u64 {
    let mut count = 0;
    for since in 0..200 {
        page.eval("void guest_poll(0)").unwrap();
        count = page.eval("guest_refused(0)").unwrap().as_u64().unwrap();
        if count >= wanted && since >= 20 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    count
}

/// Runs the page and the native peer until the latter has received this many messages. Its signals
/// are held back until the awaited one is among them.
fn talk(clock: &Clock, native: &mut NativeMesh, page: &Page, wanted: u32, awaited: &str) {
    let (began, mut heard) = (Instant::now(), 0);
    let me = native.local_id();
    let (mut kept, mut told) = (Vec::new(), false);
    while heard < wanted {
        assert!(began.elapsed() < PATIENCE, "{heard}: {native:?} sent {kept:?}");
        let now = clock.now();
        while let Some(event) = native.poll(now) {
            heard += u32::from(matches!(event, TransportEvent::Message { .. }));
        }
        while let Some((_, signal)) = native.poll_signal() {
            told |= signal.contains(awaited);
            kept.push(signal);
        }
        for signal in kept.drain(..if told { kept.len() } else { 0 }) {
            page.eval(&format!("guest_signal(0, '{me}', {})", json!(signal))).unwrap();
        }
        let _ = native.send(now, GUEST, Channel::Unreliable, b"honk");
        page.eval(&format!("guest_send(0, '{me}', undefined, '00')")).unwrap();
        let said = page.eval("guest_poll(0)").unwrap();
        for signal in said.as_str().unwrap().lines().filter_map(|line| line.strip_prefix("signal ")) {
            let (whom, hex) = signal.split_once(' ').unwrap();
            // The hostile peer answers nothing.
            if whom == me.to_string() {
                native.handle_signal(now, GUEST, &from_hex(hex)).unwrap();
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A STUN server that reports one fixed address, as behind a router.
fn stun_server() -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let url = format!("stun:{}", socket.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut question = [0; 512];
        while let Ok((_, from)) = socket.recv_from(&mut question) {
            // 192.0.2.7:4711, encoded as in RFC 8489.
            let seen = [0x00, 0x20, 0, 8, 0, 1, 0x33, 0x75, 0xe1, 0x12, 0xa6, 0x45];
            let answer = [&[0x01, 0x01, 0, 12][..], &question[4..20], &seen].concat();
            let _ = socket.send_to(&answer, from);
        }
    });
    url
}

fn from_hex(text: &str) -> String {
    let pairs = (0..text.len() / 2).map(|nth| &text[nth * 2..nth * 2 + 2]);
    String::from_utf8(pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()).unwrap()
}

#[test]
fn unusable_signals_are_counted_and_honest_peer_connects() {
    let (_files, _browser, page) = open("refused_page");
    page.eval(&format!("guest_open(0, '{GUEST}', '{NATIVE} {HOSTILE}')")).unwrap();
    let clock = Clock::start();
    let mut native = direct(NATIVE, &MeshServers::default());
    native.add_peer(clock.now(), GUEST);

    let offer = offer(&clock);
    let mid = offer.lines().find_map(|line| line.strip_prefix("a=mid:")).unwrap();
    let no_signals = ["", "nonsense", "offer", "offer zz\nv=0", "candidate 5", "\u{1f4a5} 5\n\u{1f4a5}"];
    no_signals.iter().for_each(|text| hand_in(&page, text));
    assert_eq!(refused(&page, 6), 6, "they are no signals");
    hand_in(&page, "offer 5\nno description");
    assert_eq!(refused(&page, 7), 7, "unusable for a browser");
    hand_in(&page, &format!("offer 6\n{}", offer.replace("ice-ufrag", "nothing")));
    assert_eq!(refused(&page, 8), 8, "an empty peer id cannot be called");
    // This one is valid, and the following addresses belong to it.
    hand_in(&page, &format!("offer 7\n{offer}"));
    let good = format!("0 {mid}\ncandidate:1 1 udp 1 127.0.0.1 9 typ host");
    hand_in(&page, &format!("candidate 7 {good}"));
    assert_eq!(refused(&page, 9), 8, "a usable one is not counted");
    hand_in(&page, &format!("candidate 7 0 {mid}\nno address"));
    hand_in(&page, &format!("candidate 7 0 {mid}\ncandidate:1 1 udp 1 999.0.0.1 99999 typ host"));
    assert_eq!(refused(&page, 10), 10, "no addresses");

    talk(&clock, &mut native, &page, 50, "");
    assert_eq!(native.path(GUEST), Some(Path::Direct));
    // Also during a match. An attempt that is dropped while the browser works on it does not count.
    hand_in(&page, "offer 8\nno description");
    assert_eq!(refused(&page, 11), 11);
    for attempt in 9..29 {
        hand_in(&page, &format!("offer {attempt}\n{offer}"));
        hand_in(&page, &format!("candidate {attempt} {good}"));
    }
    assert_eq!(refused(&page, 12), 11, "attempts replaced by others");
    talk(&clock, &mut native, &page, 50, "");
}

#[test]
fn public_address_of_native_peer_reaches_page_either_way() {
    let (_files, _browser, page) = open("seen_page");
    let clock = Clock::start();
    for me in [NATIVE, HOSTILE] {
        page.eval(&format!("guest_open(0, '{GUEST}', '{me}')")).unwrap();
        let mut native = direct(me, &MeshServers { stun: vec![stun_server()], relay: None });
        native.add_peer(clock.now(), GUEST);
        // On one machine they would connect before the public address is known.
        talk(&clock, &mut native, &page, 50, "192.0.2.7");
        assert_eq!(refused(&page, 1), 0, "signals of {me}");
    }
}
