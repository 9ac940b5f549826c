//! The games of shared objects, together: three pages, the host's is killed, play goes on, and it
//! returns to its seat.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use gaggle_web::chromium::Page;
use serde_json::Value;

use crate::guest::Guest;
use crate::numbers::{Targets, per_second};
use crate::online::{Hall, facts, frames_to_answer, is_together, until, until_within};
use crate::trouble::until_said;
use crate::{PATIENCE, picture, tap};

/// What the match on the screen has that must survive its host.
#[derive(Debug)]
struct Kept {
    /// Which match it is: another one would have to begin at nothing.
    number: u64,
    /// Numbers that never fall while it lasts, by seat.
    points: Vec<u64>,
    /// What there is, by what all machines call it.
    things: BTreeSet<u64>,
}

/// Things that may change meanwhile: traded or stacked by the bot that plays an absent player's
/// slot.
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

    /// As much of it is known now.
    fn has_come_to(&self, known: &Value) -> bool {
        let now = Kept::of(known);
        let sum = |points: &[u64]| points.iter().sum::<u64>();
        now.things.len() + TRADED_MAX >= self.things.len() && sum(&now.points) >= sum(&self.points)
    }

    /// Nothing of it is lost in what is known now.
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

/// A game of shared objects, as it is played here.
struct Played {
    game: &'static str,
    /// More of the address.
    query: &'static str,
    /// Does something for a moment.
    play: fn(&Page),
    /// Keys that turn whatever one steers.
    turns: &'static [&'static str],
    /// Something is going on, and there is something to lose.
    is_lively: fn(&Value) -> bool,
    /// The slot has something that a returning player must find.
    has_earned: fn(&Value, usize) -> bool,
}

/// Three pages play; then the first, which leads, is killed and comes back.
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
        // Where few row, bots help: what they bring is what can be lost.
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
        // Whatever happens elsewhere: what one steers oneself is one's own, and answers with the
        // next frame.
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
    until(&second, "no seat is taken", |known| is_together(known, 3));

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
    // In words, with the name of who leads now.
    let leads = if own_seat_of(&known["own"]) == known["host"].as_u64() { "Sorrel" } else { "Yarrow" };
    for page in [&second, &third] {
        until_said(page, "Tansy is lost in the mist.");
        until_said(page, &format!("{leads} keeps the count now."));
    }
    picture(&third, &format!("{game}-host-gone.png"));
    expect_seen(played, &third, &second);
    expect_seen(played, &second, &third);
    // A bot has the seat of who is gone, and keeps what is won there for him.
    let seat = own_seat_of(&own).unwrap() as usize;
    until_within(3 * PATIENCE, &second, "something to come back to", |known| {
        (played.has_earned)(known, seat)
    });
    let had = Kept::of(&facts(&second));

    first.revive().unwrap();
    // It is there before the others have told it all.
    let known = until(&first, "the first is back", |known| is_together(known, 3) && had.has_come_to(known));
    assert_eq!(known["own"], own, "the seat is its own: {known}");
    // Its own points among them.
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
    // It may meet a guest before it meets the host.
    let looks_on = |known: &Value| known["stage"] == "watching" && known["host"] == *host;
    let known = until(&watcher, "it looks on and knows who leads", looks_on);
    assert_eq!(known["own"].as_u64(), Some(0), "{known}");
    let frame = known["frame"].as_u64();
    until(&watcher, "it sees them play", |known| known["frame"].as_u64() > frame.map(|frame| frame + 30));
    picture(&watcher, &format!("{game}-watched.png"));
    watcher
}

/// The seat played in a page.
fn own_seat_of(own: &Value) -> Option<u64> {
    own.as_u64().filter(|own| *own != 0).map(|own| own.trailing_zeros().into())
}

/// How far one heading is from another, in 65536ths of a turn.
fn apart(one: u64, other: u64) -> u16 {
    let way = (one as u16).wrapping_sub(other as u16);
    way.min(way.wrapping_neg())
}

/// A player's actions in one page are seen in another: it turns there as here, and ends up alike.
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

/// A craft pressed against the wicker bumps into it in every frame. Where that happens it is heard
/// now and then, and elsewhere, too.
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

/// At least three more rounds are played in this match.
fn is_young(known: &Value) -> bool {
    known["round"].as_u64().is_some_and(|round| (1..=6).contains(&round))
}

#[test]
fn three_pages_of_drake_outlive_their_host() {
    outlive_the_host(&Played {
        game: "drake",
        // So many rounds win a match that none is over while something is compared in it.
        query: "&lives=9",
        play: brawl,
        turns: &["ArrowLeft"],
        // A player has brought another down: a bot, most likely.
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
        // The whole pond is here, and something in it was taken from another player.
        is_lively: |known| known["things"].as_u64() >= Some(380) && known["claims"].as_u64() >= Some(1),
        has_earned: |_, _| true,
    });
}

/// A whole match takes minutes: only if asked for with `--include-ignored`.
#[test]
#[ignore = "long: GAGGLE_LONG=1"]
fn finished_brawl_is_stored_and_listed() {
    let hall = Hall::open("brawl");
    let first = hall.page("?game=drake&lives=1");
    tap(&first, "Enter", "Enter");
    let code = until(&first, "a room", |known| is_together(known, 1))["code"].as_str().unwrap().to_string();
    // Another account, not another tab of the same one: a result needs two accounts.
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

/// So long the frames of a page with three others are counted.
const COUNTED: Duration = Duration::from_secs(20);

/// One page and three native machines, measured with `--include-ignored`: whether a page has time
/// to spare in a frame can only be asked of a machine that does nothing else, so that is demanded
/// by `cargo xtask bench arcade` only.
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
#[ignore = "long: GAGGLE_LONG=1"]
fn page_of_drake_plays_with_three_native_peers() {
    three_others("drake", Guest::brawler);
}

#[test]
#[ignore = "long: GAGGLE_LONG=1"]
fn page_of_millpond_plays_with_three_native_peers() {
    three_others("millpond", Guest::rower);
}
