//! A match to its end: the result is stored and listed, and the saved replay gives the same states
//! natively as in the page.

use std::time::{Duration, Instant};

use gaggle::Frame;
use gaggle::kit::state_hash;
use gaggle::timeline::{Recorder, RecorderConfig, Replay, ReplayInfo};
use gaggle_web::chromium::Page;
use gander::{Gander, SEATS, Setup};
use serde_json::Value;

use crate::online::{Hall, expect_agreement, facts, is_together, until};
use crate::trouble::until_said;
use crate::{PATIENCE, picture, said, tap};

/// Script that keeps the file that the page offers for download.
const KEEPING: &str = "
    const made = URL.createObjectURL;
    URL.createObjectURL = blob => { window.saved = blob; return made.call(URL, blob); };
";

/// Two players that flap now and then have lost all geese by then.
const MATCH_ENDS_WITHIN: Duration = Duration::from_secs(600);

/// Byte offsets in a replay: version, and fingerprint of the rules.
const AT_VERSION: usize = 7;
const AT_RULES: usize = 20;

/// Drops a file onto the page.
fn drop_on(page: &Page, bytes: &[u8]) {
    let script = format!(
        "(() => {{
            const transfer = new DataTransfer();
            transfer.items.add(new File([new Uint8Array({bytes:?})], 'match.replay'));
            window.dispatchEvent(new DragEvent('drop', {{ dataTransfer: transfer }}));
        }})()"
    );
    page.eval(&script).unwrap();
}

/// Flaps unless the match is over. The page itself checks that, so that no time passes in between.
fn flap_unless_over(page: &Page) {
    let script = "JSON.parse(document.getElementById('facts').textContent).over
        || ['keydown', 'keyup'].forEach(kind => window.dispatchEvent(new KeyboardEvent(kind, { code: 'Space', key: ' ' })))";
    page.eval(script).unwrap();
}

#[test]
fn finished_match_is_stored_listed_and_same_natively() {
    let hall = Hall::open("results");
    let first = hall.page_after(KEEPING, "?seed=3&lives=1&level=9");
    tap(&first, "Enter", "Enter");
    let code = until(&first, "a room", |known| is_together(known, 1))["code"].as_str().unwrap().to_string();
    // Another account instead of another tab of the same one: a result needs two accounts.
    let second = hall.page_after("localStorage.removeItem('gaggle.key')", &format!("?room={code}"));
    until(&second, "two", |known| is_together(known, 2));
    // One goose each, in a hard wave. No key may be pressed after the end, as that would start
    // another match.
    let began = Instant::now();
    while facts(&first)["over"] != true && began.elapsed() < 3 * PATIENCE {
        [&first, &second].into_iter().for_each(flap_unless_over);
    }
    let known = until(&first, "the end is kept and listed", |known| {
        known["over"] == true && known["top"].as_array().is_some_and(|top| !top.is_empty())
    });
    let best = known["top"][0].as_u64();
    let scores: Vec<Option<u64>> = known["scores"].as_array().unwrap().iter().map(Value::as_u64).collect();
    assert!(scores.contains(&best), "{known}");
    until(&second, "the other has the same list", |known| known["top"][0].as_u64() == best);
    expect_agreement(&[&first, &second]);
    until_said(&first, "Well flown");
    // A match with parameters in the address does not count, and both pages say so.
    [&first, &second].into_iter().for_each(|page| until_said(page, "not on the real leaderboard"));

    // The scores appear after a moment.
    let began = Instant::now();
    while first.eval("'saved' in window").unwrap() != true {
        assert!(began.elapsed() < PATIENCE, "nothing was saved");
        tap(&first, "KeyS", "s");
        std::thread::sleep(Duration::from_millis(100));
    }
    // The page reports only the latest hashes, and every picture takes a while.
    let marks = facts(&first)["marks"].clone();
    picture(&first, "gameover.png");
    first.resize(390, 844, 2, true).unwrap();
    let drawn = facts(&first)["drawn"].as_u64().unwrap_or(0);
    until(&first, "a smaller picture", |known| known["drawn"].as_u64() > Some(drawn + 2));
    picture(&first, "gameover-phone.png");
    let saved = first.eval("saved.arrayBuffer().then(buffer => Array.from(new Uint8Array(buffer)))").unwrap();
    let saved: Vec<u8> = saved.as_array().unwrap().iter().map(|byte| byte.as_u64().unwrap() as u8).collect();
    second.close().unwrap();
    first.close().unwrap();

    // Played natively, the replay reaches the hashes that the page reported.
    let replay = Replay::<Gander>::read(&saved, gander::FINGERPRINT).unwrap();
    let mut playback = replay.play();
    let mut compared = 0;
    for mark in marks.as_array().unwrap() {
        let frame = Frame::new(mark[0].as_u64().unwrap() as u32);
        if frame <= replay.last_frame() {
            playback.seek(frame);
            assert_eq!(format!("{:016x}", state_hash(playback.game())), mark[1].as_str().unwrap());
            compared += 1;
        }
    }
    assert!(compared >= 3, "{marks} of a replay until {:?}", replay.last_frame());

    see_it_again(&hall, &saved, best);
}

/// A ranked match, without parameters in the address. It takes minutes, so it runs only with
/// `--include-ignored`.
#[test]
#[ignore = "long: GAGGLE_LONG=1"]
fn ranked_match_is_on_real_list() {
    let hall = Hall::open("counts");
    let called = |name: &str| {
        format!("localStorage.removeItem('gaggle.key'); localStorage.setItem('gaggle.name', '{name}')")
    };
    let first = hall.page_after(&called("Wren"), "");
    tap(&first, "Enter", "Enter");
    let code = until(&first, "a room", |known| is_together(known, 1))["code"].as_str().unwrap().to_string();
    let second = hall.page_after(&called("Hob"), &format!("?room={code}"));
    until(&second, "two", |known| is_together(known, 2));
    let began = Instant::now();
    while facts(&first)["over"] != true {
        assert!(began.elapsed() < MATCH_ENDS_WITHIN, "no end: {}", facts(&first));
        [&first, &second].into_iter().for_each(flap_unless_over);
        std::thread::sleep(Duration::from_millis(300));
    }
    let is_listed = |known: &Value| known["top"].as_array().is_some_and(|top| top.len() == 2);
    let known = until(&first, "both are listed", is_listed);
    let mut scores: Vec<u64> = known["scores"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    scores.sort_unstable_by(|a, b| b.cmp(a));
    let top: Vec<u64> = known["top"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    assert_eq!(top, scores[..2], "{known}");
    until_said(&first, "Well flown");
    assert!(!said(&first).contains("trial"), "{}", said(&first));
    // The scores appear after a moment.
    std::thread::sleep(Duration::from_secs(4));
    picture(&first, "gameover-counts.png");
    [first, second].into_iter().for_each(|page| page.close().unwrap());
    let stranger = hall.page("");
    until(&stranger, "a stranger sees it", |known| known["top"][0].as_u64() == Some(top[0]));
}

/// A later page sees the list and plays the replay. A file that is no replay of this game is
/// rejected with a reason, and the page goes on.
fn see_it_again(hall: &Hall, saved: &[u8], best: Option<u64>) {
    let replay = Replay::<Gander>::read(saved, gander::FINGERPRINT).unwrap();
    let mut playback = replay.play();
    let last = replay.last_frame().number();
    let viewer = hall.page(&format!("?frame={last}&lives=1"));
    until(&viewer, "a stranger who tries the same sees the list", |known| known["top"][0].as_u64() == best);
    viewer.close().unwrap();
    let viewer = hall.page(&format!("?frame={last}"));
    let known = until(&viewer, "the lobby has answered", |known| known["top"].is_array());
    assert_eq!(known["top"].as_array().map(Vec::len), Some(0), "a trial is not on the real list: {known}");
    let changed = |at: usize| {
        let mut bytes = saved.to_vec();
        bytes[at] ^= 1;
        bytes
    };
    drop_on(&viewer, b"That is no replay at all, just words.");
    until_said(&viewer, "That is no replay.");
    drop_on(&viewer, &changed(AT_VERSION));
    until_said(&viewer, "from another fen (version 0, we fly 1)");
    drop_on(&viewer, &changed(AT_RULES));
    until_said(&viewer, "The beginning of this replay is damaged");
    let info = ReplayInfo { game_fingerprint: !gander::FINGERPRINT, tick_rate: 60, slots: SEATS as u8 };
    let other = Recorder::new(&Gander::new(Setup::default(), 1), info, RecorderConfig::default());
    drop_on(&viewer, &other.finish());
    until_said(&viewer, "from another fen: other rules than ours");
    assert!(facts(&viewer)["replay"].is_null() && said(&viewer).starts_with("Menu"), "{}", said(&viewer));

    // The replay ends in the same state in the page and natively.
    drop_on(&viewer, saved);
    let known =
        until(&viewer, "the replay is shown", |known| known["replay"][0].as_u64() == Some(last.into()));
    playback.seek(replay.last_frame());
    let hash = format!("{:016x}", state_hash(playback.game()));
    assert_eq!((known["replay"][1].as_u64(), known["replay"][2].as_str()), (Some(last.into()), Some(&*hash)));
    picture(&viewer, "replay.png");
    open_by_hand(&viewer, saved);
    // Of a damaged replay the part before the damage plays.
    drop_on(&viewer, &saved[..saved.len() - 40]);
    until_said(&viewer, "What is before plays");
    let known = until(&viewer, "the intact part is shown", |known| known["replay"][1].as_u64() > Some(0));
    assert!(known["replay"][1].as_u64() <= Some(last.into()), "{known}");
    tap(&viewer, "Escape", "Escape");
    tap(&viewer, "Enter", "Enter");
    until(&viewer, "it plays", |known| known["frame"].as_u64() > Some(10) && known["replay"].is_null());
}

/// Without a mouse: a key opens the file dialog, and the link to a frame is copied.
fn open_by_hand(page: &Page, saved: &[u8]) {
    page.eval("HTMLInputElement.prototype.click = function () { window.chooses = this; }").unwrap();
    // A headless browser cannot ask for the clipboard permission.
    page.eval("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }")
        .unwrap();
    tap(page, "KeyL", "l");
    page.wait_for("/[?]frame=[0-9]+$/.test(window.copied)", PATIENCE).unwrap();
    until_said(page, "Link copied.");
    tap(page, "Escape", "Escape");
    tap(page, "KeyO", "o");
    page.wait_for("window.chooses?.type === 'file'", PATIENCE).unwrap();
    let choose = |file: &str| {
        let script = format!(
            "(() => {{
                const transfer = new DataTransfer();
                transfer.items.add({file});
                chooses.files = transfer.files;
                chooses.dispatchEvent(new Event('change'));
            }})()"
        );
        page.eval(&script).unwrap();
    };
    choose("new File([new Uint8Array(64e6)], 'large.replay')");
    until_said(page, "No replay is that large.");
    choose(&format!("new File([new Uint8Array({saved:?})], 'match.replay')"));
    until(page, "it is shown again", |known| !known["replay"].is_null());
}
