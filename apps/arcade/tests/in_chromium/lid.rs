//! A computer whose lid is closed: its page stops without a goodbye, its connections end, and some
//! time later it goes on as if nothing had been.

use gaggle::Micros;
use gaggle_server::Config;
use serde_json::Value;

use crate::online::{Hall, Parting, expect_agreement, facts, is_together, partings, until, until_parted};
use crate::tap;
use crate::trouble::until_said;
use gaggle_web::chromium::Page;

/// Two in a room, of whom the second is on a wire; then its lid is closed. Which seat that was, and
/// what the first had heard before.
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

/// How many others the lobby has a seat for.
fn others(known: &Value) -> Option<usize> {
    known["people"].as_array().map(Vec::len)
}

#[test]
fn lid_opened_in_time_keeps_slot_and_score() {
    let (_hall, [first, second], own, before) = close_a_lid("lid", Config::default());
    until_parted(&first, "no page said goodbye", Parting::Silence, before, 1);
    until_said(&first, "is lost in the mist.");
    // The picture stood still, and said so long before a peer was given up.
    let first_heard = |words: &str| format!("heard.findIndex(text => text.includes('{words}'))");
    let order = format!("{} >= 0 && {0} < {}", first_heard("Waiting for"), first_heard("went quiet"));
    assert_eq!(first.eval(&order).unwrap(), true, "{}", first.eval("heard.join('; ')").unwrap());
    let known = facts(&first);
    assert_eq!(others(&known), Some(1), "the lobby keeps the seat: {known}");
    second.thaw().unwrap();
    // Until then it tells what it knew before.
    until_said(&second, "The lobby is back.");
    let known = until(&second, "it is back", |known| is_together(known, 2));
    assert_eq!(known["own"], own, "the seat is its own: {known}");
    until(&first, "both are", |known| is_together(known, 2));
    // Whatever they have, scores among it, is the same for both.
    expect_agreement(&[&first, &second]);
}

/// Too late for the reservation, not for the room: while other slots are free no player is given
/// this one, so the page has it again.
#[test]
fn lid_opened_late_finds_slot_if_others_were_free() {
    let rules = Config {
        reconnect_grace: gaggle_server::config::Duration(Micros::from_secs(1)),
        ..Config::default()
    };
    let (hall, [first, second], own, _) = close_a_lid("lid-late", rules);
    let is_alone = |known: &Value| is_together(known, 1) && others(known) == Some(0);
    let known = until(&first, "the seat is given away", is_alone);
    let third = hall.page(&format!("?room={}", known["code"].as_str().unwrap()));
    let known = until(&third, "another player comes", |known| is_together(known, 2));
    assert_ne!(known["own"], own, "no player gets a slot that was just left: {known}");
    second.thaw().unwrap();
    let known = until(&second, "it is back", |known| is_together(known, 3));
    assert_eq!(known["own"], own, "no player had it meanwhile: {known}");
    until_said(&second, "The lobby is back.");
    for page in [&first, &third] {
        until(page, "all three are", |known| is_together(known, 3));
    }
    expect_agreement(&[&first, &second, &third]);
}
