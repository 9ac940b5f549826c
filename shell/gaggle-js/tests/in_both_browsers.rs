//! A match of `examples/pong.html` between Chromium and Firefox: each plays, both compute the same
//! bits, and one leaves.

#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, reason = "a failed step should stop the test")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use gaggle_web::chromium::{Chromium, Page};
use gaggle_web::firefox::{Firefox, FirefoxPage};
use serde_json::Value;

use common::{WATCH, start_server};

const PATIENCE: Duration = Duration::from_secs(120);
/// Points that end the match.
const POINTS: u32 = 4;
/// What WebDriver calls the key that moves a paddle up.
const ARROW_UP: &str = "\u{e013}";

/// What the test needs of a page in either browser.
trait Played {
    fn value(&self, what: &str) -> Value;
    fn until(&self, what: &str);
}

impl Played for Page {
    fn value(&self, what: &str) -> Value {
        self.eval(what).unwrap()
    }

    fn until(&self, what: &str) {
        self.wait_for(what, PATIENCE)
            .unwrap_or_else(|error| panic!("Chromium: {error} {}", self.value("events")));
    }
}

impl Played for FirefoxPage {
    fn value(&self, what: &str) -> Value {
        self.eval(what).unwrap()
    }

    fn until(&self, what: &str) {
        self.wait_for(what, PATIENCE)
            .unwrap_or_else(|error| panic!("Firefox: {error} {}", self.value("events")));
    }
}

fn checksums(page: &dyn Played) -> BTreeMap<u64, String> {
    let sums = page.value("room.checksums");
    let sum = |sum: &Value| (sum["frame"].as_u64().unwrap(), sum["hash"].as_str().unwrap().to_string());
    sums.as_array().unwrap().iter().map(sum).collect()
}

#[test]
fn chromium_and_firefox_play_whole_match() {
    let server = start_server("pong_both", &[]);
    let (chromium, firefox) = (Chromium::start().unwrap(), Firefox::start().unwrap());
    let first = chromium.open_after(WATCH, &format!("http://{}/", server.address())).unwrap();
    first.until("window.room?.code");
    let link = first.value("location.href");
    let second = firefox.open_after(WATCH, link.as_str().unwrap()).unwrap();
    let pages: [&dyn Played; 2] = [&first, &second];
    for page in pages {
        page.until("window.metAt && room.phase === 'playing'");
        page.until("room.members.every((member) => member.isLocal || member.path === 'direct')");
    }

    // Each moves its paddle, and the other sees it.
    let own =
        |page: &dyn Played| page.value("`room.state.paddles[${room.slot}]`").as_str().unwrap().to_string();
    let (mine, theirs) = (own(&first), own(&second));
    assert_ne!(mine, theirs);
    let high = first.value(&theirs).as_f64().unwrap();
    second.key(ARROW_UP, true).unwrap();
    first.until(&format!("{theirs} < {}", high - 30.0));
    second.key(ARROW_UP, false).unwrap();
    let high = second.value(&mine).as_f64().unwrap();
    first.key("ArrowUp", "ArrowUp", true).unwrap();
    second.until(&format!("{mine} < {}", high - 30.0));
    first.key("ArrowUp", "ArrowUp", false).unwrap();

    for page in pages {
        page.until(&format!("room.state.scores[0] + room.state.scores[1] >= {POINTS}"));
    }
    let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pong_firefox.png");
    std::fs::write(&picture, second.screenshot().unwrap()).unwrap();
    println!("{}", picture.display());
    let (one, other) = (checksums(&first), checksums(&second));
    let both: Vec<u64> = one.keys().filter(|frame| other.contains_key(frame)).copied().collect();
    assert!(both.len() >= 5, "{one:?} {other:?}");
    assert!(both.iter().all(|frame| one[frame] == other[frame]), "{one:?} {other:?}");
    for page in pages {
        assert_eq!(page.value("events.filter(({ type }) => /desync|error/i.test(type)).length"), 0);
        assert_eq!(page.value("errors"), serde_json::json!([]));
    }
    second.value("void room.leave()");
    first.until("events.some(({ type, cause }) => type === 'playerLeft' && cause === 'left')");
}
