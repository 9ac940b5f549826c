//! Native peers and a page in one room: the transport contract holds between them, too.

#![allow(clippy::unwrap_used, reason = "a failed step should stop the test")]

use std::collections::{BTreeMap, VecDeque};
use std::path::Path as FilePath;
use std::rc::Rc;
use std::time::Duration;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::contract::{LocalPeer, Progress, Rule, Run, SignalBoard, SteppedClock};
use gaggle_link::{
    Channel, CloseCode, DisconnectReason, LinkConfig, LinkStats, MeshConfig, Path, PathConfig, SendError,
    Transport, TransportEvent,
};
use gaggle_native::{Clock, MeshServers, NativeMesh, mesh, random_peer_id};
use gaggle_web::bundle::bundle_example;
use gaggle_web::chromium::{Chromium, Page};
use gaggle_web::files::FileServer;
use serde_json::json;

const PAGE: &str = "<!doctype html><meta charset=utf-8><title>guests</title><script type=module>
import init, * as guests from './contract_page.js';
await init({ module_or_path: 'contract_page_bg.wasm' });
Object.assign(window, guests);
window.ready = true;
</script>";

/// Records every connection the page creates.
const WATCHED: &str = "
window.made = [];
window.RTCPeerConnection = class extends RTCPeerConnection {
  constructor(...how) { super(...how); window.made.push(this); }
};";

/// A mesh in the page, controlled from here: events and statistics are from the last poll.
struct Guest {
    nth: u32,
    me: PeerId,
    page: Page,
    post: SignalBoard,
    told: VecDeque<Told>,
    /// Events since the last poll are being returned.
    looked: bool,
    /// The last message, borrowed by its event.
    bytes: Vec<u8>,
    peers: Vec<PeerId>,
    stats: BTreeMap<PeerId, LinkStats>,
}

enum Told {
    Joined(PeerId),
    Left(PeerId, DisconnectReason),
    Message(PeerId, Channel, Vec<u8>),
}

enum Mixed {
    Native(Box<LocalPeer<NativeMesh>>),
    Guest(Guest),
}

impl Guest {
    fn open(nth: u32, me: PeerId, others: &[PeerId], page: &Page, post: &SignalBoard) -> Guest {
        let others: Vec<String> = others.iter().map(PeerId::to_string).collect();
        page.eval(&format!("guest_open({nth}, '{me}', '{}')", others.join(" "))).unwrap();
        let (page, post) = (page.clone(), Rc::clone(post));
        let (told, bytes, peers, stats) = Default::default();
        Guest { nth, me, page, post, told, looked: false, bytes, peers, stats }
    }

    /// Polls the page once, and again when all its events were returned.
    fn poll(&mut self) -> Option<TransportEvent<'_>> {
        if !std::mem::replace(&mut self.looked, true) {
            self.look();
        }
        let Some(told) = self.told.pop_front() else {
            self.looked = false;
            return None;
        };
        Some(match told {
            Told::Joined(peer) => TransportEvent::Connected { peer },
            Told::Left(peer, reason) => TransportEvent::Disconnected { peer, reason },
            Told::Message(peer, channel, bytes) => {
                self.bytes = bytes;
                TransportEvent::Message { peer, channel, bytes: &self.bytes }
            }
        })
    }

    /// Passes signals and fetches events in one call to the page.
    fn look(&mut self) {
        let mine: Vec<_> = self.post.borrow_mut().extract_if(.., |(_, to, _)| *to == self.me).collect();
        let nth = self.nth;
        let signals =
            mine.iter().map(|(from, _, text)| format!("guest_signal({nth}, '{from}', {}),", json!(text)));
        let said = self.page.eval(&format!("({} guest_poll({nth}))", signals.collect::<String>())).unwrap();
        (self.peers, self.stats) = Default::default();
        for line in said.as_str().unwrap().lines() {
            let (what, rest) = line.split_once(' ').unwrap();
            let (peer, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            self.hear(what, peer.parse().unwrap(), rest);
        }
    }

    fn hear(&mut self, what: &str, peer: PeerId, rest: &str) {
        match what {
            "joined" => self.told.push_back(Told::Joined(peer)),
            "left" => self.told.push_back(Told::Left(peer, reason(rest))),
            "message" => {
                let (stream, hex) = rest.split_once(' ').unwrap();
                let channel = stream.parse().map_or(Channel::Unreliable, Channel::Reliable);
                self.told.push_back(Told::Message(peer, channel, from_hex(hex)));
            }
            "signal" => {
                let text = String::from_utf8(from_hex(rest)).unwrap();
                self.post.borrow_mut().push((self.me, peer, text));
            }
            "peer" => {
                let numbers: Vec<u64> = rest.split(' ').map(|number| number.parse().unwrap()).collect();
                self.peers.push(peer);
                let stats = LinkStats {
                    rtt: Some(Micros::new(numbers[0])).filter(|rtt| *rtt > Micros::ZERO),
                    packets_out: numbers[1],
                    bytes_out: numbers[2],
                    packets_in: numbers[3],
                    bytes_in: numbers[4],
                    ..LinkStats::default()
                };
                self.stats.insert(peer, stats);
            }
            _ => panic!("the page returned {what}"),
        }
    }

    fn send(&mut self, to: PeerId, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
        let stream = match channel {
            Channel::Unreliable => "undefined".to_string(),
            Channel::Reliable(stream) => stream.to_string(),
        };
        let call = format!("guest_send({}, '{to}', {stream}, '{}')", self.nth, to_hex(bytes));
        let said = self.page.eval(&call).unwrap();
        let mut words = said.as_str().unwrap().split(' ');
        let what = words.next().unwrap_or_default();
        let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        match what {
            "" => Ok(()),
            "large" => Err(SendError::TooLarge { bytes: number(), max: number() }),
            "full" => Err(SendError::Backpressure { peer: to, queued: number(), max: number() }),
            _ => Err(SendError::NotConnected { peer: to }),
        }
    }
}

impl Transport for Mixed {
    fn local_id(&self) -> PeerId {
        match self {
            Mixed::Native(native) => native.local_id(),
            Mixed::Guest(guest) => guest.me,
        }
    }

    fn peers(&self) -> &[PeerId] {
        match self {
            Mixed::Native(native) => native.peers(),
            Mixed::Guest(guest) => &guest.peers,
        }
    }

    fn send(&mut self, now: Micros, to: PeerId, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
        match self {
            Mixed::Native(native) => native.send(now, to, channel, bytes),
            Mixed::Guest(guest) => guest.send(to, channel, bytes),
        }
    }

    fn poll(&mut self, now: Micros) -> Option<TransportEvent<'_>> {
        match self {
            Mixed::Native(native) => native.poll(now),
            Mixed::Guest(guest) => guest.poll(),
        }
    }

    fn poll_timeout(&self) -> Micros {
        Micros::ZERO
    }

    fn disconnect(&mut self, now: Micros, peer: PeerId, goodbye: CloseCode) {
        match self {
            Mixed::Native(native) => native.disconnect(now, peer, goodbye),
            Mixed::Guest(guest) => {
                guest
                    .page
                    .eval(&format!("guest_disconnect({}, '{peer}', {})", guest.nth, goodbye.0))
                    .unwrap();
                guest.look();
            }
        }
    }

    fn stats(&self, peer: PeerId) -> Option<LinkStats> {
        match self {
            Mixed::Native(native) => native.stats(peer),
            Mixed::Guest(guest) => guest.stats.get(&peer).copied(),
        }
    }
}

fn reason(text: &str) -> DisconnectReason {
    let (what, number) = text.split_once(' ').unwrap_or((text, "0"));
    let goodbye = CloseCode(number.parse().unwrap());
    match what {
        "ours" => DisconnectReason::Local(goodbye),
        "theirs" => DisconnectReason::Remote(goodbye),
        "silent" => DisconnectReason::Timeout,
        "restarted" => DisconnectReason::Restarted,
        _ => DisconnectReason::CarrierClosed,
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Vec<u8> {
    let pairs = (0..text.len() / 2).map(|nth| &text[nth * 2..nth * 2 + 2]);
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

/// Two native peers, and the page at this index.
fn transports(nth: u32, guest_at: usize, page: &Page) -> Vec<Mixed> {
    let peers: Vec<PeerId> = (0..3).map(|_| random_peer_id().unwrap()).collect();
    let post = SignalBoard::default();
    let others = |me: PeerId| peers.iter().copied().filter(move |peer| *peer != me);
    let transport = |(place, me): (usize, PeerId)| {
        if place == guest_at {
            let others: Vec<PeerId> = others(me).collect();
            return Mixed::Guest(Guest::open(nth, me, &others, page, &post));
        }
        let config = MeshConfig { paths: PathConfig::only(Path::Direct), ..MeshConfig::default() };
        let links = mesh(me, "", &MeshServers::default(), config, me.to_u128() as u64);
        Mixed::Native(Box::new(LocalPeer::new(links, &post, others(me).collect(), Path::Direct)))
    };
    peers.iter().copied().enumerate().map(transport).collect()
}

/// All rules at once: each has its own peers, and mostly waits.
fn try_all(page: &Page, guest_at: usize) {
    let (clock, mut forgiving) = (Clock::start(), SteppedClock::default());
    let timeout = LinkConfig::default().timeout;
    let trial =
        |(nth, point): (u32, Rule)| Some((point, Run::new(point, transports(nth, guest_at, page), timeout)));
    let mut trials: Vec<Option<(Rule, Run<Mixed>)>> = (0..).zip(Rule::ALL).map(trial).collect();
    while trials.iter().any(Option::is_some) {
        let now = forgiving.look(clock.now());
        for held in &mut trials {
            let Some((point, trial)) = held else { continue };
            match trial.step(now) {
                Progress::Running => {}
                Progress::Passed => *held = None,
                Progress::Failed(failure) => panic!(
                    "{point:?}, the page has index {guest_at}: \
                 {failure}"
                ),
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    page.eval("guests_close()").unwrap();
}

#[test]
fn native_peers_and_page_keep_transport_contract() {
    let workspace = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = FilePath::new(env!("CARGO_TARGET_TMPDIR")).join("guests_page");
    bundle_example(&workspace, "gaggle-browser", "contract_page", &out).unwrap();
    let files = FileServer::start(&out, &[("index.html", PAGE)]).unwrap();
    let browser = Chromium::start().unwrap();
    let page = browser.open_after(WATCHED, &files.url("index.html")).unwrap();
    page.wait_for("window.ready", Duration::from_secs(120)).unwrap();
    // Most rules let the first peer send and the second receive.
    try_all(&page, 0);
    try_all(&page, 1);
    // Dropped meshes leave no open connections.
    let left = "made.length < 10 ? 'few' : made.map((one) => one.connectionState).filter((state) => state !== 'closed')";
    assert_eq!(page.eval(left).unwrap(), json!([]));
}
