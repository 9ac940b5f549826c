//! One match with every kind of peer: two pages, a native peer, and one that is reached only
//! through the relay. All join, leave and are killed; the rest stay in agreement.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod native;

use std::collections::BTreeMap;
use std::path::Path as FilePath;
use std::time::{Duration, Instant};

use gaggle::link::{Path, PathReason};
use gaggle_server::{BackgroundServer, Config};
use gaggle_web::bundle::{Build, bundle_arcade};
use gaggle_web::chromium::{Chromium, Page};
use serde_json::Value;

use native::{Known, Native};

const PATIENCE: Duration = Duration::from_secs(120);
/// With `GAGGLE_LONG=1`: sleep of a tab after the others have seen it leave.
const LONG_SLEEP: Duration = Duration::from_secs(30);
/// With `GAGGLE_LONG=1`: frames from the arrival of all four to the close of the first, one minute.
const LONG_MATCH: u64 = 3_600;
/// With `GAGGLE_LONG=1`: undisturbed play between two disturbances.
const LONG_PAUSE: Duration = Duration::from_secs(8);

/// Page of the arcade, steered by keys.
struct Flyer {
    page: Page,
}

/// Peer of the match.
enum Peer<'a> {
    Page(&'a Flyer),
    Native(&'a Native),
}

impl Flyer {
    fn open(browser: &Chromium, server: &BackgroundServer, query: &str) -> Flyer {
        let page = browser.open(&format!("http://{}/{query}", server.address())).unwrap();
        page.resize(640, 360, 1, false).unwrap();
        page.wait_for("document.documentElement.dataset.ready === 'yes'", PATIENCE).unwrap();
        Flyer { page }
    }

    fn tap(&self, code: &str, key: &str) {
        self.page.key(code, key, true).unwrap();
        self.page.key(code, key, false).unwrap();
    }

    /// Facts that the page reports; the default while it loads.
    fn known(&self) -> Known {
        let text = self.page.eval("document.getElementById('facts')?.textContent ?? ''").unwrap_or_default();
        let facts: Value = text.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let list = |name: &str| facts[name].as_array().cloned().unwrap_or_default();
        let here = list("here")
            .iter()
            .enumerate()
            .filter(|(_, here)| **here == true)
            .fold(0, |all, (seat, _)| all | 1 << seat);
        let mut known = Known::default();
        known.present = if facts["stage"] == "together" { here } else { 0 };
        known.own = facts["own"].as_u64().unwrap_or(0);
        known.code = facts["code"].as_str().unwrap_or_default().to_string();
        known.rollbacks = facts["rollbacks"].as_u64().unwrap_or(0);
        let path = |person: &Value| Some((person["slots"].as_u64()?, person["path"].as_str()?.to_string()));
        known.paths = list("people").iter().filter_map(path).collect();
        let mark = |mark: &Value| Some((mark[0].as_u64()?, mark[1].as_str()?.to_string()));
        known.marks = list("marks").iter().filter_map(mark).collect();
        known
    }
}

impl Peer<'_> {
    fn known(&self) -> Known {
        match self {
            Peer::Page(flyer) => flyer.known(),
            Peer::Native(native) => native.known(),
        }
    }
}

/// Waits until each of these peers has exactly these peers in its match.
fn until_together(what: &str, peers: &[Peer<'_>]) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let known: Vec<Known> = peers.iter().map(Peer::known).collect();
        let all = known.iter().fold(0, |all, one| all | one.own);
        let distinct = all.count_ones() as usize == peers.len();
        if distinct && known.iter().all(|one| one.present == all) {
            return;
        }
        assert!(Instant::now() < deadline, "{what}: {known:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until all peers have reported the hashes of the same frames, and asserts that no hash
/// differs.
fn expect_agreement(what: &str, peers: &[Peer<'_>]) {
    let mut seen: BTreeMap<u64, BTreeMap<usize, String>> = BTreeMap::new();
    let deadline = Instant::now() + PATIENCE;
    loop {
        for (index, peer) in peers.iter().enumerate() {
            if let Peer::Page(flyer) = peer {
                flyer.tap("Space", " ");
            }
            for (frame, hash) in peer.known().marks {
                seen.entry(frame).or_default().insert(index, hash);
            }
        }
        let everywhere: Vec<_> = seen.iter().filter(|(_, hashes)| hashes.len() == peers.len()).collect();
        for (frame, hashes) in &everywhere {
            let first = hashes.values().next();
            assert!(hashes.values().all(|hash| Some(hash) == first), "{what}, frame {frame}: {hashes:?}");
        }
        if everywhere.len() >= 2 {
            return;
        }
        assert!(Instant::now() < deadline, "{what}, too few frames in common: {seen:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Last frame whose hash every peer has reported.
fn latest(peers: &[Peer<'_>]) -> u64 {
    let last = |peer: &Peer<'_>| peer.known().marks.last().map_or(0, |mark| mark.0);
    peers.iter().map(last).min().unwrap_or(0)
}

/// Asserts that all links run directly, except those of the peer behind the relay.
fn expect_paths(what: &str, peers: &[Peer<'_>], hidden: u64) {
    let deadline = Instant::now() + PATIENCE;
    for peer in peers {
        loop {
            let Known { own, paths, .. } = peer.known();
            let wanted = |slots: u64| if slots == hidden || own == hidden { "relay" } else { "direct" };
            let right = paths.iter().filter(|(slots, path)| path == wanted(*slots)).count();
            if right == peers.len() - 1 && right == paths.len() {
                break;
            }
            assert!(
                Instant::now() < deadline,
                "{what}: the peer in slots {own:b} has {paths:?}, hidden is {hidden:b}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Asserts that the native rooms reported paths and reasons: to three peers each, and only the
/// relay for the peer behind it.
fn expect_told(plain: &Native, hidden: &Native) {
    let [plain, hidden] = [plain, hidden].map(|native| native.known().told);
    for told in [&plain, &hidden] {
        assert!(told.iter().filter(|(_, reason)| *reason == PathReason::Initial).count() >= 3, "{told:?}");
    }
    let ways = |path| plain.iter().filter(|told| told.0 == Some(path)).count();
    assert!(ways(Path::Direct) >= 2 && ways(Path::Relay) >= 1, "{plain:?}");
    assert!(hidden.iter().all(|(path, _)| path.is_none_or(|path| path == Path::Relay)), "{hidden:?}");
}

/// A server with the arcade's page, and a browser.
fn start() -> (BackgroundServer, Chromium) {
    let temporary = FilePath::new(env!("CARGO_TARGET_TMPDIR"));
    let workspace = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (files, data) = (temporary.join("mixed-page"), temporary.join("mixed-data"));
    bundle_arcade(&workspace, &files, "", Build::Small).unwrap();
    let _ = std::fs::remove_dir_all(&data);
    let config = Config { listen: ([127, 0, 0, 1], 0).into(), data, files: Some(files), ..Config::default() };
    let server = BackgroundServer::start(config).unwrap();
    let browser = Chromium::start().unwrap();
    (server, browser)
}

/// Waits until all peers have reached this frame.
fn until_frame(peers: &[Peer<'_>], frame: u64) {
    let deadline = Instant::now() + PATIENCE;
    while latest(peers) < frame {
        assert!(Instant::now() < deadline, "frame {} and not {frame}", latest(peers));
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
#[ignore = "full: three quarters of a minute"]
fn pages_native_and_relayed_peers_play_one_match() {
    let is_long = std::env::var("GAGGLE_LONG").is_ok();
    let pause = || {
        if is_long {
            std::thread::sleep(LONG_PAUSE);
        }
    };
    let (server, browser) = start();
    let url = format!("ws://{}", server.address());

    // All join.
    let first = Flyer::open(&browser, &server, "?seed=7");
    first.tap("Enter", "Enter");
    until_together("the first page", &[Peer::Page(&first)]);
    let code = first.known().code;
    let second = Flyer::open(&browser, &server, &format!("?room={code}"));
    until_together("a second page", &[Peer::Page(&first), Peer::Page(&second)]);
    let mut plain = Native::come(&url, &code, None);
    let mut hidden = Native::come(&url, &code, Some(Path::Relay));
    macro_rules! all {
        () => {
            [Peer::Page(&first), Peer::Page(&second), Peer::Native(&plain), Peer::Native(&hidden)]
        };
    }
    until_together("all four", &all!());
    expect_paths("all four", &all!(), hidden.known().own);
    expect_told(&plain, &hidden);
    expect_agreement("all four", &all!());
    let seats = all!().map(|peer| peer.known().own);
    let began_at = latest(&all!());
    pause();

    // The hidden peer leaves and returns.
    hidden.leave();
    until_together("the hidden peer left", &[Peer::Page(&first), Peer::Page(&second), Peer::Native(&plain)]);
    hidden.come_back();
    until_together("the hidden peer came back", &all!());
    pause();

    // A peer of each kind is killed and returns to its slot; the others play on.
    second.page.crash().unwrap();
    let others = [Peer::Page(&first), Peer::Native(&plain), Peer::Native(&hidden)];
    until_together("a page was killed", &others);
    expect_agreement("a page was killed", &others);
    pause();
    second.page.revive().unwrap();
    until_together("the page is back", &all!());
    plain.kill();
    let others = [Peer::Page(&first), Peer::Page(&second), Peer::Native(&hidden)];
    until_together("the native peer was killed", &others);
    pause();
    plain.come_back();
    until_together("the native peer is back", &all!());
    hidden.kill();
    let others = [Peer::Page(&first), Peer::Page(&second), Peer::Native(&plain)];
    until_together("the hidden peer was killed", &others);
    expect_agreement("the hidden peer was killed", &others);
    pause();
    hidden.come_back();
    until_together("the hidden peer is back", &all!());
    assert_eq!(all!().map(|peer| peer.known().own), seats, "a killed peer has another slot");

    // A tab is frozen. The others play on, and it returns to its slot when it wakes up.
    first.page.sleep().unwrap();
    let others = [Peer::Page(&second), Peer::Native(&plain), Peer::Native(&hidden)];
    until_together("a tab sleeps", &others);
    expect_agreement("a tab sleeps", &others);
    if is_long {
        std::thread::sleep(LONG_SLEEP);
    }
    first.page.wake().unwrap();
    until_together("the tab is awake", &all!());
    assert_eq!(all!().map(|peer| peer.known().own), seats, "the frozen tab has another slot");
    if is_long {
        until_frame(&all!(), began_at + LONG_MATCH);
    }
    expect_paths("all are back", &all!(), hidden.known().own);
    expect_agreement("all are back", &all!());
    assert!(all!().iter().any(|peer| peer.known().rollbacks > 0), "no prediction was ever wrong");

    // The first page closes with a goodbye, then a native peer leaves.
    first.page.close().unwrap();
    let others = [Peer::Page(&second), Peer::Native(&plain), Peer::Native(&hidden)];
    until_together("the first page left", &others);
    pause();
    plain.leave();
    let last = [Peer::Page(&second), Peer::Native(&hidden)];
    until_together("two are left", &last);
    expect_paths("two are left", &last, hidden.known().own);
    expect_agreement("two are left", &last);
}
