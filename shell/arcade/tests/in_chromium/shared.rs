//! The games of shared objects, together: three pages, the host's is killed, play goes on, and it returns to its seat.

use std::time::{Duration, Instant};

use gaggle_web::chromium::Page;
use serde_json::Value;

use crate::guest::Guest;
use crate::numbers::{Targets, per_second};
use crate::online::{Hall, facts, frames_to_answer, is_together, until};
use crate::{PATIENCE, picture, tap};

/// What is known of a match that must survive its host, as numbers that never fall while it lasts.
type Kept = fn(&Value) -> Vec<u64>;

/// Three pages play; then the first, which leads, is killed and comes back.
fn outlive_the_host(game: &str, play: fn(&Page), is_lively: fn(&Value) -> bool, kept: Kept) {
    let hall = Hall::open(game);
    let first = hall.page(&format!("?game={game}"));
    tap(&first, "Enter", "Enter");
    let known = until(&first, "a room", |known| is_together(known, 1));
    let code = known["code"].as_str().unwrap().to_string();
    let second = hall.page(&format!("?game={game}"));
    tap(&second, "Enter", "Enter");
    until(&second, "the second drops in", |known| is_together(known, 2));
    let third = hall.page(&format!("?game={game}&room={code}"));
    until(&third, "the third joins by code", |known| is_together(known, 3));
    let host = until(&first, "all three", |known| is_together(known, 3))["host"].clone();
    until(&third, "all know who leads", |known| known["host"] == host);
    for page in [&first, &second, &third] {
        play(page);
    }
    if game == "drake" {
        hear_little_of_a_storm(&first, &second);
        // Whatever happens elsewhere: what one steers oneself is one's own, and answers with the next frame.
        let answer = |_| frames_to_answer(&second, "ArrowLeft", "heading").0;
        let fewest = (0..40).map(answer).find(|frames| *frames <= 1);
        assert_eq!(fewest, Some(1), "the own craft never answered in the frame after the key");
    }
    until_lively(&second, play, is_lively);
    tap(&second, "F3", "F3");
    tap(&second, "F3", "F3");
    std::thread::sleep(Duration::from_millis(300));
    picture(&second, &format!("{game}-three.png"));

    // Somebody looks on, without a seat.
    let watcher = hall.page(&format!("?game={game}&watch={code}"));
    // It may meet a guest before it meets the host.
    let looks_on = |known: &Value| known["stage"] == "watching" && known["host"] == host;
    let known = until(&watcher, "it looks on and knows who leads", looks_on);
    assert_eq!(known["own"].as_u64(), Some(0), "{known}");
    let frame = known["frame"].as_u64();
    until(&watcher, "it sees them play", |known| known["frame"].as_u64() > frame.map(|frame| frame + 30));
    picture(&watcher, &format!("{game}-watched.png"));
    until(&second, "no seat is taken", |known| is_together(known, 3));

    let own = facts(&first)["own"].clone();
    let before = kept(&facts(&second));
    first.crash().unwrap();
    let alive = |known: &Value| is_together(known, 2) && known["host"] != host;
    let known = until(&second, "somebody else leads", alive);
    until(&third, "the third knows it too", |other| alive(other) && other["host"] == known["host"]);
    picture(&third, &format!("{game}-host-gone.png"));
    // What the host said last may be on its way.
    until(&second, "nothing is lost", |known| {
        kept(known).iter().zip(&before).all(|(after, before)| after >= before)
    });
    let frame = known["frame"].as_u64();
    until(&second, "play goes on", |known| known["frame"].as_u64() > frame.map(|frame| frame + 30));

    first.reload().unwrap();
    let known = until(&first, "the first is back", |known| is_together(known, 3));
    assert_eq!(known["own"], own, "the seat is its own: {known}");
    play(&first);
    picture(&first, &format!("{game}-back.png"));

    // Whoever looked on knows the new host, and takes a seat.
    until(&watcher, "it knows who leads", |known| known["stage"] == "watching" && known["host"] != host);
    tap(&watcher, "Enter", "Enter");
    until(&watcher, "it plays", |known| is_together(known, 4));
}

/// A craft pressed against the wicker bumps into it in every frame. Where that happens it is heard now and then, and elsewhere, too.
fn hear_little_of_a_storm(host: &Page, guest: &Page) {
    let heard = facts(guest)["cues"].as_u64();
    host.key("Space", " ", true).unwrap();
    until(host, "more happens than is heard", |known| known["cues_skipped"].as_u64() > Some(5));
    until(guest, "something is heard of it", |known| known["cues"].as_u64() > heard);
    host.key("Space", " ", false).unwrap();
    for page in [host, guest] {
        let known = facts(page);
        assert_eq!(known["cues_crowded"], 0, "two were heard closer than they may be: {known}");
    }
}

/// Plays until something has happened that shows it.
fn until_lively(page: &Page, play: fn(&Page), is_lively: fn(&Value) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_lively(&facts(page)) {
        assert!(Instant::now() < deadline, "nothing happens: {}", facts(page));
        play(page);
    }
}

/// Turns and fires for a while.
fn brawl(page: &Page) {
    for _ in 0..4 {
        page.key("ArrowLeft", "ArrowLeft", true).unwrap();
        std::thread::sleep(Duration::from_millis(150));
        page.key("ArrowLeft", "ArrowLeft", false).unwrap();
        page.key("Space", " ", true).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        page.key("Space", " ", false).unwrap();
    }
}

/// Rows about for a while.
fn row(page: &Page) {
    page.key("ArrowUp", "ArrowUp", true).unwrap();
    std::thread::sleep(Duration::from_millis(1_200));
    page.key("ArrowLeft", "ArrowLeft", true).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    page.key("ArrowLeft", "ArrowLeft", false).unwrap();
    page.key("ArrowUp", "ArrowUp", false).unwrap();
}

#[test]
fn three_pages_of_drake_outlive_their_host() {
    // The number of the match: scores belong to one. They are compared by the stories of the game, in virtual time.
    outlive_the_host(
        "drake",
        brawl,
        |known| known["round"].as_u64() >= Some(1),
        |known| vec![known["match"].as_u64().unwrap_or(0)],
    );
}

#[test]
fn three_pages_of_millpond_outlive_their_host() {
    outlive_the_host(
        "millpond",
        row,
        // The whole pond is here, and something in it was taken that somebody else had.
        |known| known["things"].as_u64() >= Some(380) && known["claims"].as_u64() >= Some(1),
        |known| {
            // Everything afloat, to within what is being traded just now.
            let things = known["things"].as_u64().unwrap_or(0);
            vec![known["day"].as_u64().unwrap_or(0), u64::from(things >= 380)]
        },
    );
}

/// A whole match takes minutes: only if asked for with `GAGGLE_LONG=1`.
#[test]
fn a_brawl_to_its_end_is_kept_and_listed() {
    if std::env::var("GAGGLE_LONG").is_err() {
        return;
    }
    let hall = Hall::open("brawl");
    let first = hall.page("?game=drake&lives=1");
    tap(&first, "Enter", "Enter");
    let code = until(&first, "a room", |known| is_together(known, 1))["code"].as_str().unwrap().to_string();
    // Somebody else, not another tab of the same person: only then is a result more than one's word.
    let forget = "localStorage.removeItem('gaggle.key')";
    let second = hall.page_after(forget, &format!("?game=drake&lives=1&room={code}"));
    until(&second, "two", |known| is_together(known, 2));
    let deadline = Instant::now() + 3 * PATIENCE;
    while facts(&first)["top"].as_array().is_none_or(Vec::is_empty) {
        assert!(Instant::now() < deadline, "no end: {}", facts(&first));
        brawl(&first);
        brawl(&second);
    }
    picture(&first, "drake-over.png");
    let best = facts(&first)["top"][0].as_u64();
    until(&second, "the other has the same list", |known| known["top"][0].as_u64() == best);
    let viewer = hall.page("?game=drake");
    until(&viewer, "a stranger sees the list", |known| known["top"][0].as_u64() == best);
}

/// So long the frames of a page with three others are counted.
const COUNTED: Duration = Duration::from_secs(20);

/// One page and three native machines, measured with `GAGGLE_LONG=1`: whether a page has time to spare in a frame can only be asked of
/// a machine that does nothing else, so that is demanded by `cargo xtask bench arcade` only.
fn three_others(game: &str, come: fn(&str, &str) -> Guest) {
    if std::env::var("GAGGLE_LONG").is_err() {
        return;
    }
    let hall = Hall::open(&format!("{game}-bots"));
    let page = hall.page(&format!("?game={game}"));
    tap(&page, "Enter", "Enter");
    let known = until(&page, "a room", |known| is_together(known, 1));
    let code = known["code"].as_str().unwrap().to_string();
    let guests: Vec<Guest> = (0..3).map(|_| come(&hall.url(), &code)).collect();
    until(&page, "three bots come", |known| is_together(known, 4));
    if game == "millpond" {
        let things = facts(&page)["things"].as_u64();
        assert!(things < Some(500), "one pond, not one for everybody who came at once: {things:?}");
    }
    let frame = facts(&page)["frame"].as_u64();
    let known = until(&page, "they play", |known| known["frame"].as_u64() > frame.map(|frame| frame + 120));
    assert!(known["people"].as_array().is_some_and(|people| people.len() == 3), "{known}");
    let (began, before) = (Instant::now(), known["drawn"].as_u64().unwrap());
    std::thread::sleep(COUNTED);
    let known = facts(&page);
    let drawn = known["drawn"].as_u64().unwrap() - before;
    let rate = per_second(drawn, began);
    println!("{game} with three native bots: busy for {} µs (p50, p95, most)", known["busy_us"]);
    let mut targets = Targets::default();
    targets.at_least(&format!("{game}, frames a second"), rate, 58.0);
    targets.at_most(&format!("{game}, busy for, µs"), known["busy_us"][1].as_f64().unwrap(), 8_000.0);
    picture(&page, &format!("{game}-bots.png"));
    drop(guests);
}

#[test]
fn a_page_of_drake_plays_with_three_native_machines() {
    three_others("drake", Guest::brawler);
}

#[test]
fn a_page_of_millpond_plays_with_three_native_machines() {
    three_others("millpond", Guest::rower);
}
