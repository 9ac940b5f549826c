//! A computer whose lid is closed: its page freezes, its connections end, and later it goes on
//! without having noticed.

use gaggle::Micros;
use gaggle_server::Config;
use serde_json::Value;

use crate::online::{Hall, Parting, expect_agreement, facts, is_together, partings, until, until_parted};
use crate::tap;
use crate::trouble::until_said;
use gaggle_web::chromium::Page;

/// Opens two pages in a room, the second over a wire, then closes the lid of the second. Returns
/// its slots and the departures that the first page had seen before.
fn close_a_lid(name: &str, rules: Config) -> (Hall, [Page; 2], Value, [u64; 2]) {
    let hall = Hall::open_with(name, rules);
    let (first, wire) = (hall.page(""), hall.wire());
    tap(&first, "Enter", "Enter");
    let code = until(&first, "a room", |known| is_together(known, 1))["code"].as_str().unwrap().to_string();
    let second = hall.page_over(&wire, &format!("?room={code}"));
    let own = until(&second, "two", |known| is_together(known, 2))["own"].clone();
    let before = partings(&until(&first, "two", |known| is_together(known, 2)));
    second.freeze().unwrap();
    wire.cut();
    (hall, [first, second], own, before)
}

/// Number of other players for whom the lobby has a slot.
fn others(known: &Value) -> Option<usize> {
    known["people"].as_array().map(Vec::len)
}

#[test]
fn lid_opened_in_time_keeps_slot_and_score() {
    let (_hall, [first, second], own, before) = close_a_lid("lid", Config::default());
    until_parted(&first, "no page said goodbye", Parting::Silence, before, 1);
    until_said(&first, "is lost in the mist.");
    // The first page names the stall long before it gives the peer up.
    let first_heard = |words: &str| format!("heard.findIndex(text => text.includes('{words}'))");
    let order = format!("{} >= 0 && {0} < {}", first_heard("Waiting for"), first_heard("went quiet"));
    assert_eq!(first.eval(&order).unwrap(), true, "{}", first.eval("heard.join('; ')").unwrap());
    let known = facts(&first);
    assert_eq!(others(&known), Some(1), "the lobby released the slot: {known}");
    second.thaw().unwrap();
    // The page shows its old state until the lobby answers.
    until_said(&second, "The lobby is back.");
    let known = until(&second, "it is back", |known| is_together(known, 2));
    assert_eq!(known["own"], own, "it has another slot: {known}");
    until(&first, "both are", |known| is_together(known, 2));
    // Both pages have the same state, scores included.
    expect_agreement(&[&first, &second]);
}

/// After the reservation ended the room is still open. The lobby gives out other free slots first,
/// so the page gets its old one back.
#[test]
fn lid_opened_late_finds_slot_if_others_were_free() {
    let rules = Config {
        reconnect_grace: gaggle_server::config::Duration(Micros::from_secs(1)),
        ..Config::default()
    };
    let (hall, [first, second], own, _) = close_a_lid("lid-late", rules);
    let is_alone = |known: &Value| is_together(known, 1) && others(known) == Some(0);
    let known = until(&first, "the slot is released", is_alone);
    let third = hall.page(&format!("?room={}", known["code"].as_str().unwrap()));
    let known = until(&third, "another player comes", |known| is_together(known, 2));
    assert_ne!(known["own"], own, "the slot just left was given to another player: {known}");
    second.thaw().unwrap();
    let known = until(&second, "it is back", |known| is_together(known, 3));
    assert_eq!(known["own"], own, "it has another slot: {known}");
    until_said(&second, "The lobby is back.");
    for page in [&first, &third] {
        until(page, "all three are", |known| is_together(known, 3));
    }
    expect_agreement(&[&first, &second, &third]);
}
