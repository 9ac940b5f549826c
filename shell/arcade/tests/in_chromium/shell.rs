//! The page around the games: loading, what fails on the way, inviting, and opening it without a server.

use crate::online::{Hall, is_together, until};
use crate::tabs::focus_on;
use crate::trouble::until_said;
use crate::{PATIENCE, picture, tap};

/// Modules come when the test says so, or not at all.
const HELD: &str = "
    const real = window.fetch;
    window.fetch = (...what) => String(what[0]).includes('.wasm') ? new Promise((done, fail) => {
        window.arrive = () => done(real(...what));
        window.fall = () => fail(new TypeError('Failed to fetch'));
        window.miss = () => done(new Response('', { status: 503 }));
    }) : real(...what);
";

const SIGN: &str = "getComputedStyle(document.getElementById('loading')).display !== 'none'";

#[test]
fn loading_sign_is_shown_until_game_is_on() {
    let hall = Hall::open("loading");
    let page = hall.open_after(HELD, "?game=drake");
    page.wait_for("window.arrive", PATIENCE).unwrap();
    assert_eq!(page.eval(SIGN).unwrap(), true, "a sign while the module is on its way");
    picture(&page, "loading.png");
    page.eval("arrive()").unwrap();
    page.wait_for("document.documentElement.dataset.ready === 'yes'", PATIENCE).unwrap();
    assert_eq!(page.eval(SIGN).unwrap(), false);
    assert_eq!(page.eval("document.title").unwrap(), "Drake · Gaggle");
    for wanted in ["link[rel=manifest]", "meta[name=theme-color]", "meta[property=\"og:image\"]"] {
        let there = page.eval(&format!("document.querySelector('{wanted}') !== null")).unwrap();
        assert_eq!(there, true, "{wanted}");
    }
}

#[test]
fn failed_download_is_not_called_missing_feature() {
    let hall = Hall::open("download");
    for how in ["fall()", "miss()"] {
        let page = hall.open_after(HELD, "");
        page.wait_for("window.arrive", PATIENCE).unwrap();
        page.eval(how).unwrap();
        let told = "document.getElementById('trouble').textContent";
        page.wait_for(&format!("{told}.includes('could not be downloaded')"), PATIENCE).unwrap();
        assert_eq!(page.eval(&format!("{told}.includes('browser')")).unwrap(), false);
        assert_eq!(page.eval("document.querySelector('#trouble button').textContent").unwrap(), "Try again");
        picture(&page, "no-download.png");
    }
}

/// Looks for the module among what the service worker keeps.
const KEPT: &str = "void (async () => {
    while (!window.kept) {
        const all = await (await caches.open('gaggle')).keys();
        window.kept = ['.wasm', 'page.js', 'page.css'].every(name => all.some(one => one.url.includes(name)));
        await new Promise(done => setTimeout(done, 50));
    }
})()";

#[test]
fn page_opens_and_plays_without_server() {
    let hall = Hall::open("offline");
    let wire = hall.wire();
    let page = hall.page_over(&wire, "");
    page.eval(KEPT).unwrap();
    page.wait_for("window.kept", PATIENCE).unwrap();
    page.wait_for("navigator.serviceWorker.controller", PATIENCE).unwrap();
    wire.end();
    page.reload().unwrap();
    page.wait_for("document.documentElement.dataset.ready === 'yes'", PATIENCE).unwrap();
    tap(&page, "Enter", "Enter");
    let known = until(&page, "it plays alone", |known| known["frame"].as_u64() > Some(60));
    assert_eq!(known["stage"], "solo", "{known}");
    picture(&page, "offline.png");
}

/// A phone with a share sheet.
const SHARING: &str = "navigator.share = what => { window.shared = what.url; return Promise.resolve(); };";

#[test]
fn friend_is_invited_through_share_sheet() {
    let hall = Hall::open("invite");
    let page = hall.page_after(SHARING, "");
    focus_on(&page, "Play with friends");
    tap(&page, "Enter", "Enter");
    until_said(&page, "Invite friends.");
    let code = until(&page, "a room", |known| known["code"] != "")["code"].as_str().unwrap().to_string();
    for (name, wide, high, mobile) in [
        ("desktop", 1280, 720, false),
        ("large", 1920, 1080, false),
        ("phone", 390, 844, true),
        ("flat", 844, 390, true),
    ] {
        page.resize(wide, high, if mobile { 3 } else { 1 }, mobile).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(400));
        picture(&page, &format!("invite-{name}.png"));
    }
    tap(&page, "KeyS", "s");
    page.wait_for("window.shared", PATIENCE).unwrap();
    let link = page.eval("window.shared").unwrap().as_str().unwrap().to_string();
    assert!(link.starts_with("http://127.0.0.1:") && link.ends_with(&format!("/?room={code}")), "{link}");
    let friend = hall.page(&link[link.find('?').unwrap()..]);
    until(&friend, "the friend is in", |known| is_together(known, 2));
    until(&page, "the panel made way", |known| is_together(known, 2));
    picture(&page, "invite-friend-came.png");
}

#[test]
fn emote_is_seen_in_every_game() {
    let hall = Hall::open("emotes");
    for game in arcade::cabinets::NAMES {
        let first = hall.page(&format!("?game={game}"));
        tap(&first, "Enter", "Enter");
        let code =
            until(&first, "a room", |known| is_together(known, 1))["code"].as_str().unwrap().to_string();
        let second = hall.page(&format!("?game={game}&room={code}"));
        for page in [&first, &second] {
            until(page, "both are in", |known| is_together(known, 2));
        }
        tap(&first, "Digit2", "2");
        until(&second, "the other sees it", |known| known["emotes"] == 1);
        picture(&second, &format!("emote-{game}.png"));
        until(&second, "it fades", |known| known["emotes"] == 0);
        second.resize(844, 390, 3, true).unwrap();
        // The corner below the way out opens the choice.
        let at = (844 - 20, 60);
        second.touch(Some(at)).unwrap();
        second.touch(None).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(400));
        picture(&second, &format!("emote-picker-{game}.png"));
        first.close().unwrap();
        second.close().unwrap();
    }
}
