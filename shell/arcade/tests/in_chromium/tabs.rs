//! Tabs: two players at one of them, one that is hidden and returns, one that is a copy of another, one that changes its game.

use gaggle_web::chromium::Page;

use crate::online::{Hall, expect_agreement, facts, is_together, until};
use crate::trouble::until_said;
use crate::{PATIENCE, picture, said, tap};

/// Presses arrows until what is in focus says so.
fn focus_on(page: &Page, words: &str) {
    let arrows = ["ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft"];
    let found = arrows.into_iter().flat_map(|arrow| [arrow; 8]).any(|arrow| {
        tap(page, arrow, arrow);
        let drawn = facts(page)["drawn"].as_u64().unwrap_or(0);
        until(page, "the next frames", |known| known["drawn"].as_u64() > Some(drawn + 2));
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

    // Whoever is hidden bows out at once instead of keeping the others waiting, and returns to the same seat.
    let goodbyes = until(&both, "all three", |known| is_together(known, 3))["goodbyes"].as_u64();
    set_hidden(&other, true);
    let known = until(&both, "two are left", |known| is_together(known, 2));
    assert_eq!(known["goodbyes"].as_u64(), goodbyes.map(|count| count + 1), "{known}");
    assert_eq!(known["silences"], 0, "nobody had to wait: {known}");
    set_hidden(&other, false);
    until(&both, "it returns", |known| is_together(known, 3));
    let known = until(&other, "it is in again", |known| is_together(known, 3));
    assert_eq!(known["own"], own, "{known}");
    expect_agreement(&[&both, &other]);
    picture(&both, "two_at_one.png");

    // A duplicated tab begins as a copy: it is asked, and takes the seat over only then.
    let seat = other.eval("sessionStorage.getItem('gaggle.seat')").unwrap();
    let seat = format!("sessionStorage.setItem('gaggle.seat', '{}')", seat.as_str().unwrap());
    let copy = hall.page_after(&seat, &format!("?room={code}"));
    until_said(&copy, "T takes over");
    assert!(is_together(&facts(&other), 3), "the first still has its seat");
    tap(&copy, "KeyT", "t");
    let known = until(&copy, "the copy has the seat", |known| is_together(known, 3));
    assert_eq!(known["own"], own, "{known}");
    until(&other, "the first flies alone", |known| known["stage"] == "solo");
}

#[test]
fn another_cabinet_is_fetched_when_it_is_chosen() {
    let hall = Hall::open("cabinets");
    let page = hall.page("");
    focus_on(&page, "drake. Enter switches it on");
    tap(&page, "Enter", "Enter");
    until(&page, "drake is on", |known| known["game"] == "drake");
    assert_eq!(page.eval("location.search").unwrap(), "?game=drake");
    tap(&page, "Enter", "Enter");
    until(&page, "it plays", |known| known["stage"] == "together" && known["frame"].as_u64() > Some(30));
    tap(&page, "Escape", "Escape");
    tap(&page, "Escape", "Escape");
    page.wait_for("document.getElementById('said').textContent.startsWith('Menu')", PATIENCE).unwrap();
    focus_on(&page, "gander. Enter switches it on");
    tap(&page, "Enter", "Enter");
    until(&page, "gander is back", |known| known["game"] == "gander");
    // A game that cannot be fetched is told of, and the one at hand still plays.
    page.eval("window.fetch = () => Promise.reject(new Error('down'))").unwrap();
    focus_on(&page, "millpond. Enter switches it on");
    tap(&page, "Enter", "Enter");
    until_said(&page, "millpond cannot be fetched just now");
    focus_on(&page, "Play. Enter flies");
    tap(&page, "Enter", "Enter");
    until(&page, "it plays", |known| known["game"] == "gander" && known["frame"].as_u64() > Some(10));
}
