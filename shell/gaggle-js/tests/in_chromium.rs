//! Pages with `examples/pong.html` in Chromium, through a real server: they meet, play, join late,
//! spectate, fail alone; and the package without a bundler.

#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, reason = "a failed step should stop the test")]

mod common;

use std::path::{Path, PathBuf};
use std::time::Duration;

use gaggle_web::chromium::{Chromium, Page};
use serde_json::Value;

use common::{WATCH, start_server};

const PATIENCE: Duration = Duration::from_secs(120);

/// A page for the package without a bundler.
const GLOBAL: &str = "<!doctype html><meta charset=\"utf-8\"><title>global</title>
<script src=\"gaggle.global.js\"></script>
<script type=\"module\">
import { mathSum } from './math-sum.js';
const { math } = await gaggle.load();
window.sum = mathSum(math);
</script>";

/// A page whose room only its link opens.
const PRIVATE: &str = "<!doctype html><meta charset=\"utf-8\"><title>private</title><input>
<script type=\"module\">
import { open } from './gaggle.js';
const tick = (state) => void state.n++;
const controls = (keys) => void (window.isDown = keys.isDown('KeyA'));
window.room = await open({ game: 'private', version: '1', join: 'private', setup: () => ({ n: 0 }), tick, controls });
</script>";

fn number(page: &Page, what: &str) -> f64 {
    page.eval(what).unwrap().as_f64().unwrap_or_else(|| panic!("{what} is no number"))
}

fn text(page: &Page, what: &str) -> String {
    page.eval(what).unwrap().as_str().unwrap_or_default().to_string()
}

fn wait_for(page: &Page, what: &str) {
    if let Err(error) = page.wait_for(what, PATIENCE) {
        panic!("{error}: {:?} {:?}", page.eval("errors"), page.eval("events"));
    }
}

/// Number of frames of which all pages have a checksum. Panics if two differ.
fn equal_checksums(pages: &[&Page]) -> usize {
    let sums = |page: &&Page| page.eval("room.checksums").unwrap().as_array().unwrap().clone();
    let all: Vec<Vec<Value>> = pages.iter().map(sums).collect();
    let of = |sums: &[Value], frame: &Value| sums.iter().find(|sum| sum["frame"] == *frame).cloned();
    let mut count = 0;
    for sum in &all[0] {
        let others: Option<Vec<Value>> = all[1..].iter().map(|sums| of(sums, &sum["frame"])).collect();
        let Some(others) = others else { continue };
        assert!(others.iter().all(|other| other["hash"] == sum["hash"]), "{sum} {others:?}");
        count += 1;
    }
    count
}

fn keep_picture(page: &Page, name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, page.screenshot().unwrap()).unwrap();
    path
}

#[test]
fn two_pages_play_pong_third_spectates_and_one_fails_alone() {
    let server = start_server("pong", &[]);
    let browser = Chromium::start().unwrap();
    let address = format!("http://{}/", server.address());
    let first = browser.open_after(WATCH, &address).unwrap();
    wait_for(&first, "window.room?.code");
    let link = text(&first, "location.href");
    assert!(link.contains("?room="), "the address invites: {link}");

    let second = browser.open_after(WATCH, &link).unwrap();
    for page in [&first, &second] {
        wait_for(page, "window.metAt && room.phase === 'playing'");
    }
    assert_eq!(text(&first, "room.code"), text(&second, "room.code"));
    let slots: Vec<f64> = [&first, &second].map(|page| number(page, "room.slot")).to_vec();
    assert_eq!(slots.iter().sum::<f64>(), 1.0, "{slots:?}");
    let (opened, met) = (number(&second, "openedAt"), number(&second, "metAt"));
    println!("second page: open after {opened:.0} ms, in the match after {met:.0} ms");

    // Each moves its paddle, and the other sees it.
    for (mover, other) in [(&first, &second), (&second, &first)] {
        let own = text(mover, "`room.state.paddles[${room.slot}]`");
        let before = number(other, &own);
        mover.key("ArrowUp", "ArrowUp", true).unwrap();
        wait_for(other, &format!("{own} < {}", before - 30.0));
        mover.key("ArrowUp", "ArrowUp", false).unwrap();
    }
    wait_for(&first, "room.checksums.length >= 3");
    wait_for(&second, "room.checksums.length >= 3");
    assert!(equal_checksums(&[&first, &second]) > 0);

    // No slot is left for a third page, which is told so and then spectates.
    let third = browser.open_after(WATCH, &link).unwrap();
    wait_for(&third, "events.some((event) => event.type === 'rejected') || room.phase === 'spectating'");
    println!(
        "third page was told: {}",
        text(&third, "events.find((event) => event.type === 'rejected')?.text")
    );
    let stalled = |page: &Page| number(page, "room.figures.stalledTicks");
    let before = [&first, &second].map(stalled);
    let code = text(&first, "room.code");
    third.eval(&format!("room.spectate('{code}')")).unwrap();
    wait_for(&third, "room.phase === 'spectating' && room.checksums.length >= 2");
    let during = [stalled(&first) - before[0], stalled(&second) - before[1]];
    println!("stalled ticks while the third page joined: {during:?}");
    assert!(equal_checksums(&[&first, &second, &third]) > 0);
    first.eval("void document.body.append(room.panel())").unwrap();
    wait_for(&first, "document.querySelector('.gaggle-panel').textContent.includes('rollbacks')");
    println!("{}", keep_picture(&first, "pong.png").display());

    // The tick of one page throws: it says where, and the other plays on.
    second.eval("void (room.state.paddles = null)").unwrap();
    wait_for(&second, "room.error");
    let error = text(&second, "room.error.message");
    assert!(error.starts_with("tick failed in frame ") && error.contains("null"), "{error}");
    assert_eq!(text(&second, "events.at(-1).type"), "error");
    wait_for(&first, "events.some((event) => event.type === 'playerLeft')");
    let frame = number(&first, "room.frame");
    wait_for(&first, &format!("room.frame > {} && room.phase === 'playing'", frame + 60.0));
    let spoiled =
        text(&first, "events.filter(({ type }) => /desync/i.test(type)).map(({ text }) => text).join()");
    assert_eq!(spoiled, "");
    for page in [&first, &second, &third] {
        assert_eq!(page.eval("errors").unwrap(), serde_json::json!([]));
    }
}

#[test]
fn reloaded_page_returns_to_its_slot() {
    let server = start_server("pong_reload", &[]);
    let browser = Chromium::start().unwrap();
    let first = browser.open_after(WATCH, &format!("http://{}/", server.address())).unwrap();
    wait_for(&first, "window.room?.code");
    let second = browser.open_after(WATCH, &text(&first, "location.href")).unwrap();
    wait_for(&second, "window.metAt && room.phase === 'playing'");
    let slot = number(&second, "room.slot");
    second.reload().unwrap();
    wait_for(&second, "window.metAt && room.phase === 'playing'");
    assert_eq!(number(&second, "room.slot"), slot);
    wait_for(&second, "room.checksums.length >= 2");
    assert!(equal_checksums(&[&first, &second]) > 0);
}

#[test]
fn link_opens_private_room_and_reload_returns() {
    let server = start_server("pong_private", &[("private.html", PRIVATE)]);
    let browser = Chromium::start().unwrap();
    let first = browser.open_after(WATCH, &format!("http://{}/private.html", server.address())).unwrap();
    wait_for(&first, "window.room?.code");
    let code = text(&first, "room.code");
    let second = browser.open_after(WATCH, &text(&first, "location.href")).unwrap();
    wait_for(&second, "window.metAt && room.phase === 'playing'");
    assert_eq!(text(&second, "room.code"), code);
    first.reload().unwrap();
    wait_for(&first, "window.metAt && room.phase === 'playing'");
    assert_eq!(text(&first, "room.code"), code);

    // What a player types is the page's.
    first.key("KeyA", "a", true).unwrap();
    wait_for(&first, "isDown === true");
    first.key("KeyA", "a", false).unwrap();
    wait_for(&first, "isDown === false");
    first.eval("void document.querySelector('input').focus()").unwrap();
    first.eval("void addEventListener('keydown', () => { window.hasTyped = true; })").unwrap();
    first.key("KeyA", "a", true).unwrap();
    wait_for(&first, "window.hasTyped");
    let shown =
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(isDown))))";
    assert_eq!(first.eval(shown).unwrap(), serde_json::json!(false));

    // A closed room calls nothing more, and leaves the other one alone.
    first.eval("void (room.close(), room.close())").unwrap();
    wait_for(&second, "room.members.length === 1");
    let freed = "new Promise((done) => setTimeout(() => done(room.isClosed && room.update()), 1500))";
    assert_eq!(first.eval(freed).unwrap(), serde_json::json!(0));
    for page in [&first, &second] {
        assert_eq!(page.eval("errors").unwrap(), serde_json::json!([]));
    }
}

#[test]
fn package_without_bundler_computes_golden_bits() {
    let server = start_server("pong_global", &[("global.html", GLOBAL)]);
    let browser = Chromium::start().unwrap();
    let page = browser.open_after(WATCH, &format!("http://{}/global.html", server.address())).unwrap();
    wait_for(&page, "window.sum");
    assert_eq!(text(&page, "sum"), include_str!("../js/test/math.golden").trim());
    let wrong = "gaggle.checkDeterminism({ game: 'g', version: '1', setup: () => ({ n: 0 }), tick(state) { state.n = \
                 Math.random(); } }).catch((error) => error.message)";
    let said = text(&page, wrong);
    assert!(said.starts_with("tick failed in frame 1: tick called Math.random()"), "{said}");
}
