//! The games of shared objects, together: three pages, the host's is killed, play goes on, and it returns to its seat.

use std::time::Duration;

use gaggle_web::chromium::Page;
use serde_json::Value;

use crate::online::{Hall, facts, is_together, until};
use crate::{picture, tap};

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
    assert_eq!(facts(&third)["host"], host, "all know who leads");
    for page in [&first, &second, &third] {
        play(page);
    }
    until(&second, "something happens", is_lively);
    tap(&second, "F3", "F3");
    tap(&second, "F3", "F3");
    std::thread::sleep(Duration::from_millis(300));
    picture(&second, &format!("{game}-three.png"));

    let own = facts(&first)["own"].clone();
    let before = kept(&facts(&second));
    first.crash().unwrap();
    let alive = |known: &Value| is_together(known, 2) && known["host"] != host;
    let known = until(&second, "somebody else leads", alive);
    until(&third, "the third knows it too", |other| alive(other) && other["host"] == known["host"]);
    picture(&third, &format!("{game}-host-gone.png"));
    let after = kept(&known);
    assert!(before.iter().zip(&after).all(|(before, after)| after >= before), "{before:?} then {after:?}");
    let frame = known["frame"].as_u64();
    until(&second, "play goes on", |known| known["frame"].as_u64() > frame.map(|frame| frame + 30));

    first.reload().unwrap();
    let known = until(&first, "the first is back", |known| is_together(known, 3));
    assert_eq!(known["own"], own, "the seat is its own: {known}");
    play(&first);
    picture(&first, &format!("{game}-back.png"));
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

/// Rows ahead for a while.
fn row(page: &Page) {
    page.key("ArrowUp", "ArrowUp", true).unwrap();
    std::thread::sleep(Duration::from_millis(1_500));
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
        // The whole pond is here. What a boat touches is up to wind and current, and to the stories of the game.
        |known| known["things"].as_u64() >= Some(380),
        |known| {
            // Everything afloat, to within what is being traded just now.
            let things = known["things"].as_u64().unwrap_or(0);
            vec![known["day"].as_u64().unwrap_or(0), u64::from(things >= 380)]
        },
    );
}
