//! Spectators of a match, and spectators that take a slot.

use crate::online::{Hall, expect_agreement, facts, fly, is_together, until};
use crate::tabs::focus_on;
use crate::{picture, tap};

#[test]
fn spectator_watches_and_then_takes_slot() {
    let hall = Hall::open("watching");
    let player = hall.page("");
    tap(&player, "Enter", "Enter");
    let known = until(&player, "a room", |known| is_together(known, 1));
    let code = known["code"].as_str().unwrap().to_string();

    // Opened from the list of rooms, by keyboard alone.
    let watcher = hall.page("");
    watcher
        .wait_for("document.getElementById('said').textContent.includes('One open room')", crate::PATIENCE)
        .unwrap();
    focus_on(&watcher, "W watches");
    tap(&watcher, "KeyW", "w");
    let known = until(&watcher, "it spectates", |known| known["stage"] == "watching");
    assert_eq!((known["code"].as_str(), known["own"].as_u64()), (Some(code.as_str()), Some(0)));
    fly(&player, 3);
    expect_agreement(&[&player, &watcher]);
    let known = until(&watcher, "one goose", |known| known["here"][0] == true);
    assert_eq!(known["rollbacks"], 0, "a spectator was shown a prediction: {known}");
    picture(&watcher, "watching.png");
    assert!(is_together(&facts(&player), 1), "the spectator took a slot");

    // A second spectator comes by a link while the first takes a slot.
    let second = hall.page(&format!("?watch={code}"));
    until(&second, "it spectates, too", |known| known["stage"] == "watching");
    tap(&watcher, "Enter", "Enter");
    until(&watcher, "it has a slot", |known| is_together(known, 2));
    expect_agreement(&[&player, &watcher, &second]);

    // A spectator that took a slot keeps it after a reload, although the address asks to spectate.
    tap(&second, "Enter", "Enter");
    let own = until(&second, "it has a slot", |known| is_together(known, 3))["own"].clone();
    second.wait_for(&format!("location.search === '?room={code}'"), crate::PATIENCE).unwrap();
    second.reload().unwrap();
    let known = until(&second, "it is back", |known| is_together(known, 3));
    assert_eq!(known["own"], own, "{known}");
    second.close().unwrap();
    let second = hall.page(&format!("?watch={code}"));
    until(&second, "a page watches again", |known| known["stage"] == "watching");

    // No player is left, so the match ends for the spectator.
    player.close().unwrap();
    watcher.close().unwrap();
    second
        .wait_for("document.getElementById('said').textContent.startsWith('Menu')", crate::PATIENCE)
        .unwrap();
}
