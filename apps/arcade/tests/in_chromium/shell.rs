//! The page around the games: loading, failed downloads, invitations, offline use, emotes.

use std::time::Duration;

use gaggle_web::chromium::Chromium;
use gaggle_web::files::FileServer;

use crate::online::{Hall, is_together, until};
use crate::tabs::focus_on;
use crate::trouble::until_said;
use crate::{PATIENCE, build, picture, tap};

/// Script that delays WASM modules until the test releases them or fails them.
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

/// A module that does not compile is named as such, not as a failed connection.
#[test]
fn code_that_does_not_compile_is_not_called_failed_download() {
    let hall = Hall::open("compile");
    let page = hall.open_after(BROKEN, "?game=drake");
    let told = "document.getElementById('trouble').textContent";
    page.wait_for(&format!("{told}.includes('was downloaded and does not start')"), PATIENCE).unwrap();
    assert_eq!(page.eval(SIGN).unwrap(), false);
    assert_eq!(page.eval("document.querySelector('#trouble button').textContent").unwrap(), "Try again");
    // The same for a game chosen in the menu.
    let page = hall.page_after(BROKEN, "");
    focus_on(&page, "drake. Enter switches it on");
    tap(&page, "Enter", "Enter");
    until_said(&page, "drake does not start in this browser. This one still plays.");
}

/// Script that damages the module of drake.
const BROKEN: &str = "
    const real = window.fetch, headers = { 'content-type': 'application/wasm' };
    window.fetch = (...what) => String(what[0]).includes('drake_bg.wasm')
        ? Promise.resolve(new Response(new Uint8Array([0, 97, 115, 109, 9]), { headers })) : real(...what);
";

/// The main script is missing, damaged, or throws.
#[test]
fn page_whose_script_fails_says_so() {
    let folder = build();
    let html = std::fs::read_to_string(folder.join("index.html")).unwrap();
    let lost = html.replace("src=\"page.js\"", "src=\"lost/page.js\"");
    let browser = Chromium::start().unwrap();
    for (file, words) in [
        (("index.html", lost.as_str()), "could not be downloaded"),
        (("page.js", "const page = ;"), "does not start: Uncaught SyntaxError"),
        (("page.js", "await undefined.page;"), "does not start: Uncaught TypeError"),
    ] {
        let files = FileServer::start(&folder, &[file]).unwrap();
        let page = browser.open(&files.url("index.html")).unwrap();
        let told = format!("document.getElementById('trouble').textContent.includes('{words}')");
        page.wait_for(&told, Duration::from_secs(20)).unwrap();
        assert_eq!(page.eval(SIGN).unwrap(), false, "{words}");
        page.eval("window.old = true, document.querySelector('#trouble button').click()").unwrap();
        page.wait_for(&format!("!window.old && {told}"), Duration::from_secs(20)).unwrap();
    }
    // A script that neither loads nor fails: after a while the sign offers another try.
    let files = FileServer::start(&folder, &[("page.js", "await new Promise(() => {});")]).unwrap();
    let page = browser.open(&files.url("index.html")).unwrap();
    let offer = "document.querySelector('#loading a')";
    page.wait_for(offer, PATIENCE).unwrap();
    let seen = format!("getComputedStyle({offer}).visibility === 'visible'");
    assert_eq!(page.eval(&seen).unwrap(), false, "not at once");
    page.eval("document.getElementById('loading').setCurrentTime(21)").unwrap();
    page.wait_for(&seen, PATIENCE).unwrap();
    picture(&page, "loading-long.png");
}

/// Waits until the service worker has cached the module.
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

/// Only drake was ever played, but the start address of an installed page names no game.
#[test]
fn installed_page_opens_game_it_has_without_server() {
    let hall = Hall::open("installed");
    let wire = hall.wire();
    let page = hall.page_over(&wire, "?game=drake");
    page.eval(KEPT).unwrap();
    page.wait_for("window.kept", PATIENCE).unwrap();
    page.wait_for("navigator.serviceWorker.controller", PATIENCE).unwrap();
    wire.end();
    page.navigate(&format!("http://{}/", wire.address())).unwrap();
    let is_on = "document.title.startsWith('Drake') && document.documentElement.dataset.ready === 'yes'";
    page.wait_for(&format!("!location.search && {is_on}"), Duration::from_secs(30)).unwrap_or_else(|error| {
        panic!("{error}: {}", page.eval("document.body.innerText").unwrap());
    });
    tap(&page, "Enter", "Enter");
    let known = until(&page, "it plays alone", |known| known["frame"].as_u64() > Some(60));
    assert_eq!((&known["game"], &known["stage"]), (&"drake".into(), &"solo".into()), "{known}");
}

/// Script that adds a share sheet.
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
        std::thread::sleep(Duration::from_millis(400));
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
        // The corner below the exit opens the choice of emotes.
        let at = (844 - 20, 60);
        second.touch(Some(at)).unwrap();
        second.touch(None).unwrap();
        std::thread::sleep(Duration::from_millis(400));
        picture(&second, &format!("emote-picker-{game}.png"));
        first.close().unwrap();
        second.close().unwrap();
    }
}
