//! Pages of one match with a real server and real links, and what other tests need of them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use gaggle_server::{BackgroundServer, Config};
use gaggle_web::chromium::{Chromium, Page};
use serde_json::Value;

use crate::sheet::Sheet;
use crate::tabs::focus_on;
use crate::trouble::until_said;
use crate::wire::Wire;
use crate::{PATIENCE, build, picture, tap};

/// Script that keeps every text the page shows, as toasts vanish, and counts popstate events.
const LISTENING: &str = "
    window.heard = [];
    window.steps = 0;
    addEventListener('popstate', () => steps++);
    addEventListener('DOMContentLoaded', () => {
        const said = document.getElementById('said');
        new MutationObserver(() => heard.push(said.textContent)).observe(said, { childList: true });
    });
";

/// A server that serves the page, and a browser.
pub(crate) struct Hall {
    server: BackgroundServer,
    browser: Chromium,
}

impl Hall {
    pub(crate) fn open(name: &str) -> Hall {
        Hall::open_with(name, Config::default())
    }

    pub(crate) fn open_with(name: &str, rules: Config) -> Hall {
        let data = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hall-{name}"));
        let _ = std::fs::remove_dir_all(&data);
        // All pages share a network, so their results are only claims; here they are listed anyway.
        let results = gaggle::lobby::view::Verdict::Claimed;
        let listen = ([127, 0, 0, 1], 0).into();
        let config = Config { listen, data, files: Some(build()), results, ..rules };
        Hall { server: BackgroundServer::start(config).unwrap(), browser: Chromium::start().unwrap() }
    }

    /// Lobby address for native peers.
    pub(crate) fn lobby(&self) -> String {
        format!("ws://{}", self.server.address())
    }

    /// Opens a page in which the script runs before those of the page.
    pub(crate) fn open_after(&self, script: &str, query: &str) -> Page {
        self.open_at(self.server.address(), script, query)
    }

    fn open_at(&self, address: SocketAddr, script: &str, query: &str) -> Page {
        let url = format!("http://{address}/{query}");
        let page = self.browser.open_after(&format!("{LISTENING}{script}"), &url).unwrap();
        page.resize(1280, 720, 1, false).unwrap();
        page
    }

    /// Opens a page in a new tab of the same window, which hides the first.
    pub(crate) fn page_beside(&self, _first: &Page, query: &str) -> Page {
        let url = format!("http://{}/{query}", self.server.address());
        let page = self.browser.open_tab(LISTENING, &url).unwrap();
        page.wait_for("document.documentElement.dataset.ready === 'yes'", PATIENCE).unwrap();
        page
    }

    /// Navigates a tab to another address.
    pub(crate) fn go(&self, page: &Page, query: &str) {
        page.navigate(&format!("http://{}/{query}", self.server.address())).unwrap();
    }

    /// Opens a page that reaches the server through a wire, which a test can cut.
    pub(crate) fn page_over(&self, wire: &Wire, query: &str) -> Page {
        let page = self.open_at(wire.address(), "", query);
        page.wait_for("document.documentElement.dataset.ready === 'yes'", PATIENCE).unwrap();
        page
    }

    pub(crate) fn wire(&self) -> Wire {
        Wire::to(self.server.address())
    }

    pub(crate) fn page(&self, query: &str) -> Page {
        self.page_after("", query)
    }

    pub(crate) fn page_after(&self, script: &str, query: &str) -> Page {
        let page = self.open_after(script, query);
        page.wait_for("document.documentElement.dataset.ready === 'yes'", PATIENCE).unwrap();
        page
    }
}

impl Hall {
    /// WebSocket address of the lobby for native peers.
    pub(crate) fn url(&self) -> String {
        format!("ws://{}", self.server.address())
    }
}

/// Facts that the page reports for tests; null while it loads.
pub(crate) fn facts(page: &Page) -> Value {
    let text = page.eval("document.getElementById('facts')?.textContent ?? ''").unwrap_or_default();
    text.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Waits until the facts of a page meet the condition.
pub(crate) fn until(page: &Page, what: &str, so: impl Fn(&Value) -> bool) -> Value {
    until_within(PATIENCE, page, what, so)
}

/// [`until`] with a timeout of its own.
pub(crate) fn until_within(
    patience: Duration,
    page: &Page,
    what: &str,
    so: impl Fn(&Value) -> bool,
) -> Value {
    let deadline = Instant::now() + patience;
    loop {
        let known = facts(page);
        if so(&known) {
            return known;
        }
        assert!(Instant::now() < deadline, "{what}: {known}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn is_together(known: &Value, players: usize) -> bool {
    let here = known["here"].as_array().map_or(0, |here| here.iter().filter(|seat| **seat == true).count());
    known["stage"] == "together" && here == players
}

/// Departures seen by a page: with goodbye, and by timeout.
pub(crate) fn partings(known: &Value) -> [u64; 2] {
    ["goodbyes", "silences"].map(|parting| known[parting].as_u64().unwrap_or(0))
}

/// Waits until a departure is reported and `players` are left. The slot empties at once; the cause
/// is reported some frames later, when all peers agree on it.
pub(crate) fn until_parted(page: &Page, what: &str, parting: Parting, before: [u64; 2], players: usize) {
    let told = parting as usize;
    until(page, what, |known| is_together(known, players) && partings(known)[told] > before[told]);
}

/// How a player leaves: an index of [`partings`].
#[derive(Clone, Copy)]
pub(crate) enum Parting {
    Goodbye,
    Silence,
}

/// Flaps and turns, so that scores change and predictions fail.
pub(crate) fn fly(page: &Page, rounds: usize) {
    for round in 0..rounds {
        let code = if round % 2 == 0 { "ArrowRight" } else { "ArrowLeft" };
        page.key(code, code, true).unwrap();
        for _ in 0..4 {
            tap(page, "Space", " ");
            std::thread::sleep(Duration::from_millis(90));
        }
        page.key(code, code, false).unwrap();
    }
}

/// Waits until all pages have reported the hashes of three common frames, and asserts that no hash
/// differs.
pub(crate) fn expect_agreement(pages: &[&Page]) {
    let mut seen: BTreeMap<u64, BTreeMap<usize, String>> = BTreeMap::new();
    let deadline = Instant::now() + PATIENCE;
    loop {
        for (index, page) in pages.iter().enumerate() {
            for mark in facts(page)["marks"].as_array().into_iter().flatten() {
                if let (Some(frame), Some(hash)) = (mark[0].as_u64(), mark[1].as_str()) {
                    seen.entry(frame).or_default().insert(index, hash.to_string());
                }
            }
        }
        let everywhere: Vec<_> = seen.iter().filter(|(_, hashes)| hashes.len() == pages.len()).collect();
        for (frame, hashes) in &everywhere {
            let first = hashes.values().next();
            assert!(hashes.values().all(|hash| Some(hash) == first), "frame {frame} differs: {hashes:?}");
        }
        if everywhere.len() >= 3 {
            return;
        }
        assert!(Instant::now() < deadline, "too few frames in common: {seen:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Waits until a fact is stable, holds a key, and counts the frames shown until the fact changes.
/// Returns that count and the input delay in frames.
pub(crate) fn frames_to_answer(page: &Page, code: &str, fact: &str) -> (u64, u64) {
    let script = format!(
        "(async () => {{
            const facts = document.getElementById('facts'), look = () => JSON.parse(facts.textContent);
            const frame = () => new Promise(requestAnimationFrame);
            const press = kind => window.dispatchEvent(new KeyboardEvent(kind, {{ code: '{code}' }}));
            facts.dataset.live = '';
            let before = '', still = 0;
            for (let waited = 0; still < 12 && waited < 900; waited++) {{
                await frame();
                const now = JSON.stringify(look().{fact});
                [still, before] = [now === before ? still + 1 : 0, now];
            }}
            press('keydown');
            let frames = 0;
            do {{ await frame(); frames++; }} while (JSON.stringify(look().{fact}) === before && frames < 600);
            press('keyup');
            delete facts.dataset.live;
            return [frames, look().delay ?? 0];
        }})()"
    );
    let answer = page.eval(&script).unwrap();
    (answer[0].as_u64().unwrap(), answer[1].as_u64().unwrap())
}

pub(crate) fn paths(known: &Value) -> Vec<String> {
    let people = known["people"].as_array().cloned().unwrap_or_default();
    people.iter().filter_map(|person| person["path"].as_str().map(str::to_string)).collect()
}

/// Types a code into its field and joins.
pub(crate) fn join_by_code(page: &Page, code: &str) {
    focus_on(page, "Have a code?");
    for letter in code.chars() {
        tap(page, &format!("Key{letter}"), &letter.to_ascii_lowercase().to_string());
    }
    tap(page, "Enter", "Enter");
}

/// Sum of all scores in the match.
fn points(known: &Value) -> u64 {
    known["scores"].as_array().into_iter().flatten().filter_map(Value::as_u64).sum()
}

/// One page opens a match, two more drop in, the first is killed and returns. Over one path only,
/// or over the best one for `direct`.
fn meet_fly_leave_and_return(path: &str) {
    let hall = Hall::open(&format!("strangers-{path}"));
    let only = if path == "direct" { String::new() } else { format!("path={path}") };
    let first = hall.page(&format!("?seed=7&{only}"));
    tap(&first, "Enter", "Enter");
    let known = until(&first, "playing at once", |known| known["frame"].as_u64() > Some(10));
    assert!(known["drawn"].as_u64() > Some(0));
    let known = until(&first, "a room", |known| is_together(known, 1));
    let code = known["code"].as_str().unwrap().to_string();
    assert_eq!(code.len(), 6);
    // Compressed bytes loaded: those of this game and of no other.
    let loaded = "performance.getEntries().reduce((sum, entry) => sum + (entry.encodedBodySize ?? 0), 0)";
    let loaded = first.eval(loaded).unwrap().as_u64().unwrap();
    let most = crate::numbers::FIRST_LOAD_MAX + crate::numbers::LATER_MAX;
    assert!((100_000..most).contains(&loaded), "{loaded} bytes were loaded");
    let mut sheet = Sheet::default();
    fly(&first, 2);
    sheet.add(&first);

    let second = hall.page(&format!("?{only}"));
    tap(&second, "Enter", "Enter");
    let is_there = |known: &Value| is_together(known, 2) && paths(known) == [path];
    let known = until(&second, "the second drops in, over the requested path", is_there);
    assert_eq!(known["code"].as_str(), Some(code.as_str()));
    until(&first, "the first sees it", |known| is_together(known, 2));
    until_said(&first, "drops in.");
    sheet.add(&first);

    let third = hall.page(&format!("?{only}"));
    join_by_code(&third, &code);
    until(&third, "the third joins by code", |known| is_together(known, 3));
    // A joined player stands still until it is steered, then answers within the input delay and two
    // frames. A busy machine may show frames in which no time has passed, so the best of several
    // tries counts.
    let mut spare = [&second, &third].into_iter().cycle().take(20).map(|page| {
        let (frames, delay) = frames_to_answer(page, "ArrowRight", "goose");
        println!("the own goose answers on frame {frames} with a delay of {delay}");
        frames.saturating_sub(delay)
    });
    assert!(spare.any(|frames| frames <= 2), "always more than two frames beyond the delay of inputs");
    // Flap until a player has scored.
    let began = Instant::now();
    while points(&facts(&second)) == 0 {
        assert!(began.elapsed() < 3 * PATIENCE, "minutes of flapping and no score: {}", facts(&second));
        [&first, &second, &third].into_iter().for_each(|page| fly(page, 1));
    }
    sheet.add(&third);
    expect_agreement(&[&first, &second, &third]);
    let deadline = Instant::now() + PATIENCE;
    while facts(&second)["rollbacks"].as_u64() == Some(0) {
        assert!(Instant::now() < deadline, "no prediction was ever wrong");
        [&first, &third].into_iter().for_each(|page| fly(page, 1));
    }
    tap(&second, "F3", "F3");
    tap(&second, "F3", "F3");
    fly(&second, 2);
    picture(&second, &format!("three-{path}.png"));
    sheet.add(&second);
    tap(&second, "F3", "F3");

    // The leader is killed, the others play on, and it returns to its slot.
    let own = facts(&first)["own"].clone();
    let (before, scored) = (facts(&first), points(&facts(&second)));
    // Pages of a busy machine may have timed out before.
    let before_crash = partings(&facts(&second));
    first.crash().unwrap();
    until_parted(&second, "a killed page says no goodbye", Parting::Silence, before_crash, 2);
    until_said(&second, "is lost in the mist.");
    sheet.add(&second);
    expect_agreement(&[&second, &third]);
    first.revive().unwrap();
    let known = until(&first, "the first is back", |known| is_together(known, 3));
    assert_eq!(known["own"], own, "it has another slot: {known}");
    until_said(&first, "Welcome back. Your seat was kept.");
    sheet.add(&first);
    sheet.write(&format!("sheet-{path}.png"));
    let seat = own.as_u64().unwrap().trailing_zeros() as usize;
    // The player does not flap between the reading and the kill, so it may have lost a goose but
    // not won one.
    let [had, has] = [&before, &known].map(|known| (&known["scores"][seat], &known["mounts"][seat]));
    assert!(has.0.as_u64() >= had.0.as_u64(), "{known} had {before}");
    assert!(has.1.as_u64() <= had.1.as_u64() && has.1.as_u64() > Some(0), "{known} had {before}");
    assert!(points(&known) >= scored && scored > 0, "{known} had {scored} points in all");
    expect_agreement(&[&first, &second, &third]);

    // A closed page says goodbye, so no peer waits for a timeout.
    let before = partings(&facts(&second));
    third.close().unwrap();
    until_parted(&second, "the third said goodbye", Parting::Goodbye, before, 2);

    // A page with high latency shows the progress of joining, in words and as a picture.
    let far = hall.page(&format!("?room={code}&latency=2500&{only}"));
    until_said(&far, &format!("Joining {code}."));
    picture(&far, "joining.png");
}

#[test]
fn players_meet_fly_leave_and_return() {
    meet_fly_leave_and_return("direct");
}

/// Two pages over one path only. With `GAGGLE_LONG` also all of [`meet_fly_leave_and_return`].
fn meet_over(path: &str) {
    if std::env::var("GAGGLE_LONG").is_ok() {
        return meet_fly_leave_and_return(path);
    }
    let hall = Hall::open(path);
    let query = format!("?path={path}&latency=200");
    let pages = [hall.page(&query), hall.page(&query)];
    for page in &pages {
        tap(page, "Enter", "Enter");
        until(page, "a room", |known| known["stage"] == "together");
    }
    for page in &pages {
        // The simulated latency applies on every path.
        until(page, "both are in", |known| {
            is_together(known, 2) && paths(known) == [path] && known["people"][0]["rtt"].as_u64() >= Some(200)
        });
        fly(page, 2);
    }
    expect_agreement(&[&pages[0], &pages[1]]);
    pages[0].crash().unwrap();
    until(&pages[1], "alone again", |known| is_together(known, 1));
}

#[test]
fn players_meet_through_relay_alone() {
    meet_over("relay");
}

#[test]
fn players_meet_through_socket_alone() {
    meet_over("socket");
}
