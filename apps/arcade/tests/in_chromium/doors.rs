//! Entering and leaving rooms in Chromium: the Back button, navigation in a tab, hidden tabs, codes
//! of other games and of no room.

use std::time::{Duration, Instant};

use gaggle_web::chromium::Page;
use serde_json::Value;

use crate::online::{Hall, expect_agreement, facts, is_together, join_by_code, until, until_within};
use crate::trouble::until_said;
use crate::{PATIENCE, picture, said, tap};

fn is_in_room(known: &Value) -> bool {
    known["stage"] == "together" && known["code"].as_str().is_some_and(|code| !code.is_empty())
}

/// Presses Play in the menu and returns the code of the new room. Waits first until the page has
/// left its last room, whose code it would read otherwise.
fn play(page: &Page) -> String {
    until(page, "no room", |known| known["stage"] == "solo" && known["code"] == "");
    tap(page, "Enter", "Enter");
    let known = until(page, "a room", is_in_room);
    known["code"].as_str().unwrap().to_string()
}

/// Number of other players in the room.
fn others(known: &Value) -> usize {
    known["people"].as_array().map_or(0, Vec::len)
}

fn until_ready(page: &Page) {
    page.wait_for("document.documentElement.dataset.ready === 'yes'", PATIENCE).unwrap();
}

fn until_words(page: &Page, words: &str) {
    let is_said = format!("document.getElementById('said').textContent.startsWith('{words}')");
    page.wait_for(&is_said, PATIENCE).unwrap();
}

/// Waits until the current history entry is that of the menu or of a match.
fn until_entry(page: &Page, in_match: bool) {
    let entry = format!("!!history.state === {in_match} && location.search.includes('room=') === {in_match}");
    if let Err(error) = page.wait_for(&entry, Duration::from_secs(10)) {
        let is = page.eval("[history.state, location.search, history.length]").unwrap();
        panic!("{error} but {is}: {}", said(page));
    }
}

#[test]
fn back_leads_from_match_to_menu_then_out() {
    let hall = Hall::open("back");
    let page = hall.page("");
    until_entry(&page, false);
    let length = || page.eval("history.length").unwrap().as_u64().unwrap();
    let entries = length();
    play(&page);
    until_entry(&page, true);
    assert_eq!(length(), entries + 1);
    page.eval("void history.back()").unwrap();
    until_words(&page, "Paused");
    until_entry(&page, true);
    page.eval("void history.back()").unwrap();
    until_words(&page, "Menu");
    until_entry(&page, false);

    // Esc returns to the same history entry, and the next match adds none.
    for _ in 0..2 {
        play(&page);
        until_entry(&page, true);
        tap(&page, "Escape", "Escape");
        tap(&page, "Escape", "Escape");
        until_words(&page, "Menu");
        until_entry(&page, false);
        assert_eq!(length(), entries + 1);
        // The menu text and the facts for tests change in the same frame.
        assert!(!is_in_room(&facts(&page)), "{}", facts(&page));
    }

    // Two steps: the Forward of the player and the Back with which the page answers.
    let steps = page.eval("steps").unwrap().as_u64().unwrap();
    page.eval("void history.forward()").unwrap();
    page.wait_for(&format!("steps >= {}", steps + 2), PATIENCE).unwrap();
    until_entry(&page, false);
    until_words(&page, "Menu");

    // With other players in the room Back asks first.
    let code = play(&page);
    let other = hall.page(&format!("?room={code}"));
    until(&page, "both are in", |known| is_together(known, 2));
    page.eval("void history.back()").unwrap();
    until_words(&page, "Paused");
    until_entry(&page, true);
    picture(&page, "back-asks.png");
    tap(&page, "Enter", "Enter");
    until(&page, "both are in again", |known| is_together(known, 2));
    expect_agreement(&[&page, &other]);

    // A page opened by a link has a history entry of the menu too, and leaves from there.
    until_entry(&other, true);
    let before = other.eval("history.length").unwrap();
    other.eval("void history.back()").unwrap();
    until_words(&other, "Paused");
    tap(&other, "Escape", "Escape");
    until_words(&other, "Menu");
    until_entry(&other, false);
    assert_eq!(other.eval("history.length").unwrap(), before);
    // A page that navigates away may not answer.
    let _ = other.eval("void history.back()");
    other.wait_for("location.href === 'about:blank'", PATIENCE).unwrap();
}

#[test]
fn tab_that_goes_elsewhere_keeps_no_seat_behind() {
    let hall = Hall::open("elsewhere");
    let page = hall.page("");
    let code = play(&page);
    // A second tab with the same key is another player.
    let other = hall.page(&format!("?room={code}"));
    until(&other, "both are in", |known| is_together(known, 2));
    let own = until(&page, "both are in", |known| is_together(known, 2))["own"].clone();

    // The tab goes to the address of its own room, as by a link.
    hall.go(&page, &format!("?room={code}"));
    until_ready(&page);
    let known = until(&page, "in the same room", |known| is_together(known, 2));
    assert_eq!((&known["code"], &known["own"]), (&code.as_str().into(), &own), "{known}");

    // A browser may keep the page alive while another is shown: the page leaves the match and
    // returns.
    page.eval(
        "for (const kind of ['pagehide', 'pageshow'])
            dispatchEvent(new PageTransitionEvent(kind, { persisted: true }));
         delete document.documentElement.dataset.ready",
    )
    .unwrap();
    until_ready(&page);
    let known = until(&page, "returned", |known| is_together(known, 2));
    assert_eq!((&known["code"], &known["own"]), (&code.as_str().into(), &own), "{known}");

    // The tab goes to another game.
    hall.go(&page, "?game=drake");
    page.wait_for("location.search.startsWith('?game=drake')", PATIENCE).unwrap();
    until_ready(&page);
    until_words(&page, "Menu");
    until(&other, "it is alone", |known| is_together(known, 1));
    assert_ne!(play(&page), code);
    let known = facts(&page);
    assert_eq!(known["game"], "drake", "{known}");
    let asked = "heard.some(text => text.includes('Another tab'))";
    assert_eq!(page.eval(asked).unwrap(), false, "{}", said(&page));

    // The tab goes back; the browser has kept the page or reloads it.
    let _ = page.eval("void history.go(-2)");
    page.wait_for(&format!("location.search.includes('{code}')"), PATIENCE).unwrap();
    until_ready(&page);
    let how = page.eval("performance.getEntriesByType('navigation')[0].type").unwrap();
    println!("the page came back by {how}");
    until(&page, "both play again", |known| is_together(known, 2) && known["code"] == code.as_str());
    assert_eq!(page.eval(asked).unwrap(), false, "{}", said(&page));
    expect_agreement(&[&page, &other]);
}

/// An invitation opened in the same window hides the tab of the first player.
#[test]
fn tab_behind_another_plays_on_when_it_is_shown() {
    let hall = Hall::open("behind");
    for game in ["", "game=millpond&"] {
        let first = hall.page(&format!("?{game}"));
        let code = play(&first);
        let second = hall.page_beside(&first, &format!("?{game}room={code}"));
        assert_eq!(first.eval("document.visibilityState").unwrap(), "hidden");
        assert_eq!(second.eval("document.visibilityState").unwrap(), "visible");
        until(&second, "a slot", |known| known["code"] == code.as_str());
        let began = Instant::now();
        let known = until_within(Duration::from_secs(20), &second, "the second plays", is_in_room);
        let waited = began.elapsed();
        println!("{game} together {} ms after its seat", waited.as_millis());
        assert!(waited < Duration::from_secs(1), "{known}");
        std::thread::sleep(Duration::from_secs(1));
        let known = facts(&second);
        assert_eq!(known["stalled"].as_u64().unwrap_or(0), 0, "{known}");

        first.to_front().unwrap();
        first.wait_for("document.visibilityState === 'visible'", PATIENCE).unwrap();
        let known = until(&first, "the first plays on", |known| is_in_room(known) && others(known) == 1);
        assert_eq!(known["code"], code.as_str());
        picture(&first, "behind-shown.png");
        second.close().unwrap();
        first.close().unwrap();
    }
}

#[test]
fn codes_lead_to_their_game_or_back_to_field() {
    let hall = Hall::open("codes");
    let host = hall.page("?game=drake");
    let code = play(&host);
    let page = hall.page(&format!("?room={code}"));
    let known = until(&page, "the other game", |known| known["game"] == "drake" && is_in_room(known));
    assert_eq!(known["code"], code.as_str());
    until(&host, "both are in", |known| others(known) == 1);
    page.wait_for(&format!("location.search === '?game=drake&room={code}'"), PATIENCE).unwrap();
    // A typed code works alike.
    let typed = hall.page("");
    join_by_code(&typed, &code);
    until(&typed, "the other game", |known| known["game"] == "drake" && is_in_room(known));
    until(&host, "three are in", |known| others(known) == 2);
    page.close().unwrap();
    typed.close().unwrap();

    // A code without a room is answered with the reason and with choices that work.
    let lost = hall.page("?room=BCDFGH");
    until_said(&lost, "There is no such room.");
    until_words(&lost, "Menu. There is no such room.");
    let words = said(&lost);
    assert!(words.contains("Enter: try again.") && words.contains("O: open a room of your own."), "{words}");
    until_entry(&lost, false);
    assert_eq!(said(&lost).matches("no such room").count(), 1, "it is said once: {}", said(&lost));
    picture(&lost, "no-such-room.png");
    // Enter asks the lobby again.
    tap(&lost, "Enter", "Enter");
    let twice = "heard.filter(text => text.startsWith('Menu. There is no such room.')).length > 1";
    lost.wait_for(twice, PATIENCE).unwrap();
    until_words(&lost, "Menu. There is no such room.");
    tap(&lost, "KeyO", "o");
    until_words(&lost, "Invite");
    tap(&lost, "Enter", "Enter");
    until(&lost, "a room of its own", is_in_room);
    until_entry(&lost, true);
}
