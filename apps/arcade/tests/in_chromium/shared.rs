//! Replica games of three pages: the page of the leader is killed, play goes on, and it returns to
//! its slot.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use gaggle_web::chromium::Page;
use serde_json::Value;

use crate::guest::Guest;
use crate::numbers::{Targets, per_second};
use crate::online::{Hall, facts, frames_to_answer, is_together, until, until_within};
use crate::trouble::until_said;
use crate::{PATIENCE, picture, tap};

/// State of a match that must survive the loss of its leader.
#[derive(Debug)]
struct Kept {
    /// Number of the match. A new match would begin with nothing.
    number: u64,
    /// Points by slot, which never fall during a match.
    points: Vec<u64>,
    /// Ids of all objects.
    things: BTreeSet<u64>,
}

/// Objects that may vanish meanwhile, traded or stacked by the bot in the slot of the absent
/// player.
const TRADED_MAX: usize = 12;

impl Kept {
    fn of(known: &Value) -> Kept {
        let numbers = |name: &str| known[name].as_array().into_iter().flatten().filter_map(Value::as_u64);
        let points = if known["game"] == "drake" { "scores" } else { "credit" };
        Kept {
            number: known["match"].as_u64().unwrap_or(0),
            points: numbers(points).collect(),
            things: numbers("ids").collect(),
        }
    }

    /// Whether a page has received about as many objects and points as these.
    fn has_come_to(&self, known: &Value) -> bool {
        let now = Kept::of(known);
        let sum = |points: &[u64]| points.iter().sum::<u64>();
        now.things.len() + TRADED_MAX >= self.things.len() && sum(&now.points) >= sum(&self.points)
    }

    /// Asserts that the page still has these points and objects.
    fn expect_in(&self, known: &Value) {
        let now = Kept::of(known);
        assert_eq!(now.number, self.number, "another match: {self:?}, then {known}");
        assert_eq!(now.points.len(), self.points.len(), "{known}");
        let has_fallen = now.points.iter().zip(&self.points).any(|(now, before)| now < before);
        assert!(!has_fallen, "points are lost: {self:?}, then {known}");
        let lost = self.things.difference(&now.things).count();
        assert!(lost <= TRADED_MAX, "{lost} things are lost: {self:?}, then {known}");
    }
}

/// A replica game and how the test plays it.
struct Played {
    game: &'static str,
    /// Further parameters of the address.
    query: &'static str,
    /// Plays for a moment.
    play: fn(&Page),
    /// Keys that turn the own boat or drake.
    turns: &'static [&'static str],
    /// Whether enough has happened for a loss to be visible.
    is_lively: fn(&Value) -> bool,
    /// Whether the slot has points that its returning player must find.
    has_earned: fn(&Value, usize) -> bool,
}

/// Three pages play; then the first, which leads, is killed and returns.
fn outlive_the_host(played: &Played) {
    let Played { game, query, play, .. } = *played;
    let hall = Hall::open(game);
    let page = |name: &str, more: &str| {
        let called = format!("localStorage.setItem('gaggle.name', '{name}')");
        hall.page_after(&called, &format!("?game={game}{query}{more}"))
    };
    let first = page("Tansy", "");
    tap(&first, "Enter", "Enter");
    let known = until(&first, "a room", |known| is_together(known, 1));
    let code = known["code"].as_str().unwrap().to_string();
    if game == "millpond" {
        // With few players bots help, and what they deliver is what could be lost.
        until(&first, "something is brought", |known| {
            Kept::of(known).points.iter().any(|points| *points > 0)
        });
    }
    let second = page("Sorrel", "");
    tap(&second, "Enter", "Enter");
    until(&second, "the second drops in", |known| is_together(known, 2));
    let third = page("Yarrow", &format!("&room={code}"));
    until(&third, "the third joins by code", |known| is_together(known, 3));
    let host = until(&first, "all three", |known| is_together(known, 3))["host"].clone();
    until(&third, "all know who leads", |known| known["host"] == host);
    for page in [&first, &second, &third] {
        play(page);
    }
    if game == "drake" {
        hear_little_of_a_storm(&first, &second);
        // A page has authority over its own drake, so a key takes effect in the next frame whatever
        // the network does.
        let answer = |_| frames_to_answer(&second, "ArrowLeft", "heading").0;
        let fewest = (0..40).map(answer).find(|frames| *frames <= 1);
        assert_eq!(fewest, Some(1), "the own craft never answered in the frame after the key");
    }
    let deadline = Instant::now() + 3 * PATIENCE;
    while ![&first, &second, &third].into_iter().all(|page| (played.is_lively)(&facts(page))) {
        assert!(Instant::now() < deadline, "nothing happens: {}", facts(&second));
        [&first, &second, &third].into_iter().for_each(play);
    }
    picture(&second, &format!("{game}.png"));
    tap(&second, "F3", "F3");
    tap(&second, "F3", "F3");
    std::thread::sleep(Duration::from_millis(300));
    picture(&second, &format!("{game}-three.png"));
    let watcher = look_on(&hall, game, &code, &host);
    until(&second, "the spectator takes no slot", |known| is_together(known, 3));

    let own = facts(&first)["own"].clone();
    let [had_second, had_third] = [&second, &third].map(|page| Kept::of(&facts(page)));
    assert!(had_second.points.iter().sum::<u64>() > 0, "there is something to lose: {had_second:?}");
    first.crash().unwrap();
    let alive = |known: &Value| is_together(known, 2) && known["host"] != host;
    let known = until(&second, "another peer leads", alive);
    had_second.expect_in(&known);
    let other =
        until(&third, "the third knows it, too", |other| alive(other) && other["host"] == known["host"]);
    had_third.expect_in(&other);
    // A toast names the new leader.
    let leads = if own_seat_of(&known["own"]) == known["host"].as_u64() { "Sorrel" } else { "Yarrow" };
    for page in [&second, &third] {
        until_said(page, "Tansy is lost in the mist.");
        until_said(page, &format!("{leads} keeps the count now."));
    }
    picture(&third, &format!("{game}-host-gone.png"));
    expect_seen(played, &third, &second);
    expect_seen(played, &second, &third);
    // A bot plays the slot of the absent player and keeps its points.
    let seat = own_seat_of(&own).unwrap() as usize;
    until_within(3 * PATIENCE, &second, "something to come back to", |known| {
        (played.has_earned)(known, seat)
    });
    let had = Kept::of(&facts(&second));

    first.revive().unwrap();
    // The page is in the match before it has received all objects.
    let known = until(&first, "the first is back", |known| is_together(known, 3) && had.has_come_to(known));
    assert_eq!(known["own"], own, "it has another slot: {known}");
    // Its own points are among them.
    had.expect_in(&known);
    until_said(&second, "Tansy drops in.");
    expect_seen(played, &first, &second);
    had.expect_in(&facts(&second));
    picture(&first, &format!("{game}-back.png"));

    // The spectator knows the new leader, and takes a slot.
    until(&watcher, "it knows who leads", |known| known["stage"] == "watching" && known["host"] != host);
    tap(&watcher, "Enter", "Enter");
    until(&watcher, "it plays", |known| is_together(known, 4));
}

/// A page watches without a slot.
fn look_on(hall: &Hall, game: &str, code: &str, host: &Value) -> Page {
    let watcher = hall.page(&format!("?game={game}&watch={code}"));
    // The spectator may connect to another peer before the leader.
    let looks_on = |known: &Value| known["stage"] == "watching" && known["host"] == *host;
    let known = until(&watcher, "it looks on and knows who leads", looks_on);
    assert_eq!(known["own"].as_u64(), Some(0), "{known}");
    let frame = known["frame"].as_u64();
    until(&watcher, "it sees them play", |known| known["frame"].as_u64() > frame.map(|frame| frame + 30));
    picture(&watcher, &format!("{game}-watched.png"));
    watcher
}

/// Slot of the player in a page.
fn own_seat_of(own: &Value) -> Option<u64> {
    own.as_u64().filter(|own| *own != 0).map(|own| own.trailing_zeros().into())
}

/// Difference of two headings, in 65,536ths of a turn.
fn apart(one: u64, other: u64) -> u16 {
    let way = (one as u16).wrapping_sub(other as u16);
    way.min(way.wrapping_neg())
}

/// Asserts that turns in one page are shown in another, and that both agree in the end.
fn expect_seen(played: &Played, steered: &Page, seen_at: &Page) {
    const TURNED: u16 = 4_000;
    const ALIKE: u16 = 600;
    let seat = own_seat_of(&facts(steered)["own"]).unwrap() as usize;
    let heading = |page: &Page| facts(page)["headings"][seat].as_u64();
    let before = heading(seen_at).unwrap();
    let deadline = Instant::now() + PATIENCE;
    let mut keys = played.turns.iter().cycle();
    while heading(seen_at).is_none_or(|now| apart(now, before) < TURNED) {
        assert!(Instant::now() < deadline, "nothing is seen of seat {seat}: {}", facts(seen_at));
        let key = keys.next().unwrap();
        steered.key(key, key, true).unwrap();
        std::thread::sleep(Duration::from_millis(250));
        steered.key(key, key, false).unwrap();
        std::thread::sleep(Duration::from_millis(250));
    }
    while heading(seen_at).zip(heading(steered)).is_none_or(|(there, here)| apart(there, here) > ALIKE) {
        assert!(Instant::now() < deadline, "{} is seen as {}", facts(steered), facts(seen_at));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A drake pressed against the wicker fence bumps into it every frame. The page plays few of these
/// sounds, and the other pages hear them too.
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

/// Turns and fires for a second or so.
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

/// Rows in turns for a second or so.
fn row(page: &Page) {
    page.key("ArrowUp", "ArrowUp", true).unwrap();
    std::thread::sleep(Duration::from_millis(1_200));
    page.key("ArrowLeft", "ArrowLeft", true).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    page.key("ArrowLeft", "ArrowLeft", false).unwrap();
    page.key("ArrowUp", "ArrowUp", false).unwrap();
}

/// Whether at least three rounds of the match are left.
fn is_young(known: &Value) -> bool {
    known["round"].as_u64().is_some_and(|round| (1..=6).contains(&round))
}

#[test]
fn three_pages_of_drake_outlive_their_host() {
    outlive_the_host(&Played {
        game: "drake",
        // Enough rounds that no match ends while a test compares it.
        query: "&lives=9",
        play: brawl,
        turns: &["ArrowLeft"],
        // A player has shot down another, most likely a bot.
        is_lively: |known| is_young(known) && Kept::of(known).points.iter().sum::<u64>() > 0,
        has_earned: |known, seat| is_young(known) && known["scores"][seat].as_u64() > Some(0),
    });
}

#[test]
fn three_pages_of_millpond_outlive_their_host() {
    outlive_the_host(&Played {
        game: "millpond",
        query: "",
        play: row,
        turns: &["ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"],
        // The page has the whole pond and has claimed an object of another player.
        is_lively: |known| known["things"].as_u64() >= Some(380) && known["claims"].as_u64() >= Some(1),
        has_earned: |_, _| true,
    });
}

/// A whole match takes minutes, so this runs only with `--include-ignored`.
#[test]
#[ignore = "long: GAGGLE_LONG=1"]
fn finished_brawl_is_stored_and_listed() {
    let hall = Hall::open("brawl");
    let first = hall.page("?game=drake&lives=1");
    tap(&first, "Enter", "Enter");
    let code = until(&first, "a room", |known| is_together(known, 1))["code"].as_str().unwrap().to_string();
    // Another account instead of another tab of the same one: a result needs two accounts.
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
    let viewer = hall.page("?game=drake&lives=1");
    until(&viewer, "a stranger sees the list", |known| known["top"][0].as_u64() == best);
}

/// Time over which the frames of the page are counted.
const COUNTED: Duration = Duration::from_secs(20);

/// One page and three native peers, measured with `--include-ignored`. Whether the page has time to
/// spare in a frame is asserted by `cargo xtask bench arcade` only, on an idle machine.
fn three_others(game: &str, come: fn(&str, &str) -> Guest) {
    let hall = Hall::open(&format!("{game}-bots"));
    let page = hall.page(&format!("?game={game}"));
    tap(&page, "Enter", "Enter");
    let known = until(&page, "a room", |known| is_together(known, 1));
    let code = known["code"].as_str().unwrap().to_string();
    let guests: Vec<Guest> = (0..3).map(|_| come(&hall.url(), &code)).collect();
    until(&page, "three bots come", |known| is_together(known, 4));
    if game == "millpond" {
        let things = facts(&page)["things"].as_u64();
        assert!(things < Some(500), "several peers each made a pond: {things:?}");
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
#[ignore = "long: GAGGLE_LONG=1"]
fn page_of_drake_plays_with_three_native_peers() {
    three_others("drake", Guest::brawler);
}

#[test]
#[ignore = "long: GAGGLE_LONG=1"]
fn page_of_millpond_plays_with_three_native_peers() {
    three_others("millpond", Guest::rower);
}
