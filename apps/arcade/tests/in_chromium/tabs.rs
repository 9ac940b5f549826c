//! Tabs of one browser: two players in one, hidden, duplicated and reloaded tabs, and games
//! switched and steered by gamepad and touch.

use std::time::Duration;

use gaggle_web::chromium::Page;

use crate::online::{Hall, Parting, expect_agreement, facts, is_together, partings, until, until_parted};
use crate::trouble::until_said;
use crate::{PATIENCE, picture, said, tap};

/// Moves the focus by Tab, then by arrows, until the focused item has these words.
pub(crate) fn focus_on(page: &Page, words: &str) {
    let keys = [("Tab", 16), ("ArrowDown", 8), ("ArrowRight", 8), ("ArrowUp", 8), ("ArrowLeft", 8)];
    let found = keys.into_iter().flat_map(|(key, count)| [key].repeat(count)).any(|key| {
        tap(page, key, key);
        next_frames(page);
        said(page).contains(words)
    });
    assert!(found, "{words}: {}", said(page));
}

fn set_hidden(page: &Page, hidden: bool) {
    let script = format!(
        "Object.defineProperty(document, 'hidden', {{ value: {hidden}, configurable: true }}),
         document.dispatchEvent(new Event('visibilitychange'))"
    );
    page.eval(&script).unwrap();
}

#[test]
fn tabs_are_hidden_copied_shared_and_changed() {
    let hall = Hall::open("tabs");
    let both = hall.page("");
    focus_on(&both, "Two players at one keyboard");
    tap(&both, "Enter", "Enter");
    let known = until(&both, "two at one keyboard have a room", |known| is_together(known, 2));
    assert_eq!(known["own"], 3, "{known}");
    let code = known["code"].as_str().unwrap().to_string();
    let other = hall.page(&format!("?room={code}"));
    let own = until(&other, "a third", |known| is_together(known, 3))["own"].clone();

    // A hidden page leaves the match at once instead of stalling the others, and returns to the
    // same slot.
    let before = partings(&until(&both, "all three", |known| is_together(known, 3)));
    set_hidden(&other, true);
    until_parted(&both, "two are left, and no peer had to wait", Parting::Goodbye, before, 2);
    set_hidden(&other, false);
    until(&both, "it returns", |known| is_together(known, 3));
    let known = until(&other, "it is in again", |known| is_together(known, 3));
    assert_eq!(known["own"], own, "{known}");
    expect_agreement(&[&both, &other]);
    picture(&both, "two_at_one.png");

    // Both players return after a reload of their page.
    both.reload().unwrap();
    let known = until(&both, "both are back", |known| is_together(known, 3));
    assert_eq!(known["own"], 3, "{known}");

    // A duplicated tab begins with the stored slot of the first. The page asks, and takes the slot
    // only on a key.
    let seat = other.eval("sessionStorage.getItem('gaggle.seat')").unwrap();
    let seat = format!("sessionStorage.setItem('gaggle.seat', '{}')", seat.as_str().unwrap());
    let copy = hall.page_after(&seat, &format!("?room={code}"));
    until_said(&copy, "T: take it over");
    until(&other, "the first still has its slot", |known| is_together(known, 3));
    tap(&copy, "KeyT", "t");
    let known = until(&copy, "the copy has the slot", |known| is_together(known, 3));
    assert_eq!(known["own"], own, "{known}");
    until(&other, "the first flies alone", |known| known["stage"] == "solo");

    // With a gamepad, a button answers instead.
    let third = hall.page_after(&format!("{PAD}{seat}"), &format!("?room={code}"));
    until_said(&third, "T: take it over");
    press_pad(&third, 0);
    let known = until(&third, "the next copy has the slot", |known| is_together(known, 3));
    assert_eq!(known["own"], own, "{known}");
}

/// Script that adds a gamepad with no button held.
const PAD: &str = "
    window.pad = Object.create(Gamepad.prototype, {
        axes: { value: [0, 0] },
        buttons: { value: Array.from({ length: 17 }, () => ({ pressed: false })) },
    });
    navigator.getGamepads = () => [null, window.pad];
";

/// Holds a button or the stick of the gamepad until the page has seen it.
fn hold_pad(page: &Page, held: &str, free: &str) {
    page.eval(held).unwrap();
    next_frames(page);
    page.eval(free).unwrap();
    next_frames(page);
}

fn press_pad(page: &Page, button: u32) {
    let set = |pressed: bool| format!("pad.buttons[{button}].pressed = {pressed}");
    hold_pad(page, &set(true), &set(false));
}

fn next_frames(page: &Page) {
    let drawn = facts(page)["drawn"].as_u64().unwrap_or(0);
    until(page, "the next frames", |known| known["drawn"].as_u64() > Some(drawn + 2));
}

/// Holds a finger on the page until a fact changes.
fn hold_finger(page: &Page, at: (u32, u32), fact: &str) {
    let before = facts(page)[fact].clone();
    page.touch(Some(at)).unwrap();
    until(page, "the finger steers", |known| known[fact] != before);
    page.touch(None).unwrap();
}

fn until_words(page: &Page, words: &str) {
    let expression = format!("document.getElementById('said').textContent.startsWith('{words}')");
    page.wait_for(&expression, PATIENCE).unwrap();
}

#[test]
fn chosen_cabinet_loads_and_plays_with_pad_and_thumbs() {
    let hall = Hall::open("cabinets");
    let page = hall.page_after(PAD, "");
    // A gamepad takes off, leans and pauses.
    press_pad(&page, 0);
    let before = until(&page, "it plays", |known| known["frame"].as_u64() > Some(10))["goose"].clone();
    page.eval("pad.axes[0] = -1").unwrap();
    until(&page, "the stick leans", |known| known["goose"] != before);
    page.eval("pad.axes[0] = 0").unwrap();
    press_pad(&page, 9);
    until_words(&page, "Paused");
    press_pad(&page, 9);
    until_words(&page, "Menu");

    focus_on(&page, "drake. Enter switches it on");
    // The button is held longer than needed: it switches the game on and does not play in it.
    page.eval("pad.buttons[0].pressed = true").unwrap();
    until(&page, "drake is on", |known| known["game"] == "drake");
    page.wait_for("location.search.startsWith('?game=drake')", PATIENCE).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    page.eval("pad.buttons[0].pressed = false").unwrap();
    until_words(&page, "Menu");
    picture(&page, "drake-menu.png");
    tap(&page, "Enter", "Enter");
    until(&page, "it plays", |known| known["stage"] == "together" && known["frame"].as_u64() > Some(30));
    page.eval("pad.buttons[14].pressed = true").unwrap();
    let before = facts(&page)["heading"].clone();
    until(&page, "the pad turns", |known| known["heading"] != before);
    page.eval("pad.buttons[14].pressed = false").unwrap();
    // Steered by thumbs in both orientations.
    page.resize(390, 844, 2, true).unwrap();
    hold_finger(&page, (40, 690), "heading");
    picture(&page, "drake-phone.png");
    page.resize(844, 390, 2, true).unwrap();
    hold_finger(&page, (40, 330), "heading");
    picture(&page, "drake-phone-flat.png");
    page.resize(1280, 720, 1, false).unwrap();
    tap(&page, "Escape", "Escape");
    tap(&page, "Escape", "Escape");
    until_words(&page, "Menu");
    focus_on(&page, "gander. Enter switches it on");
    tap(&page, "Enter", "Enter");
    until(&page, "gander is back", |known| known["game"] == "gander");
    // A game that cannot be fetched is reported, and the current one still plays.
    page.eval("window.fetched = window.fetch, window.fetch = () => Promise.reject(new Error('down'))")
        .unwrap();
    focus_on(&page, "millpond. Enter switches it on");
    tap(&page, "Enter", "Enter");
    until_said(&page, "millpond cannot be fetched just now");
    focus_on(&page, "Play. Enter flies");
    tap(&page, "Enter", "Enter");
    until(&page, "it plays", |known| known["game"] == "gander" && known["frame"].as_u64() > Some(10));
    tap(&page, "Escape", "Escape");
    tap(&page, "Escape", "Escape");
    until_words(&page, "Menu");

    // Once it can be fetched it plays, and thumbs row the boat.
    page.eval("window.fetch = window.fetched").unwrap();
    focus_on(&page, "millpond. Enter switches it on");
    tap(&page, "Enter", "Enter");
    until(&page, "millpond is on", |known| known["game"] == "millpond");
    std::thread::sleep(Duration::from_secs(1));
    picture(&page, "millpond-menu.png");
    tap(&page, "Enter", "Enter");
    until(&page, "it plays", |known| known["stage"] == "together" && known["frame"].as_u64() > Some(30));
    page.resize(390, 844, 2, true).unwrap();
    hold_finger(&page, (40, 690), "boat");
    picture(&page, "millpond-phone.png");
    page.resize(844, 390, 2, true).unwrap();
    next_frames(&page);
    picture(&page, "millpond-phone-flat.png");
}
