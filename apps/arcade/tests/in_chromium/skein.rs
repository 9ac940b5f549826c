//! Skein on several pages: a room of friends starts together from the roost, a page is killed and
//! comes back, one joins late, and all are at one state.

use std::time::Duration;

use crate::online::{Hall, expect_agreement, facts, is_together, until, until_within};
use crate::tabs::focus_on;
use crate::{PATIENCE, picture, said, tap};
use gaggle_web::chromium::Page;

const NAMES: [&str; 5] = ["Wren", "Hob", "Ottilie", "Maud", "Pip"];

fn open(hall: &Hall, nth: usize, query: &str) -> Page {
    let called = format!("localStorage.setItem('gaggle.name', '{}')", NAMES[nth]);
    hall.page_after(&called, &format!("?game=skein{query}"))
}

/// Waits until the page shows the roost with these words.
fn until_roost(page: &Page, words: &str) {
    let expression = format!("document.getElementById('said').textContent.includes({words:?})");
    page.wait_for(&expression, PATIENCE).unwrap_or_else(|error| panic!("{error}: {}", said(page)));
}

fn honk(page: &Page) {
    tap(page, "Space", " ");
}

/// Takes pictures of a screen as a desktop and as two phones.
fn pictures(page: &Page, name: &str) {
    for (wide, high, scale, mobile, what) in
        [(390, 844, 3, true, "phone"), (844, 390, 3, true, "sideways"), (1280, 720, 1, false, "desktop")]
    {
        page.resize(wide, high, scale, mobile).unwrap();
        std::thread::sleep(Duration::from_millis(700));
        picture(page, &format!("skein-{name}-{what}.png"));
    }
}

#[test]
fn four_pages_start_together_and_stay_at_one_state() {
    let hall = Hall::open("skein");
    let first = open(&hall, 0, "&seed=7");
    picture(&first, "skein-menu.png");
    focus_on(&first, "Play with friends");
    tap(&first, "Enter", "Enter");
    until_roost(&first, "The roost, room");
    let known = until(&first, "a room", |known| known["stage"] == "lobby");
    let code = known["code"].as_str().unwrap().to_string();
    let mut pages = vec![first];
    for (nth, name) in NAMES.iter().enumerate().take(4).skip(1) {
        let page = open(&hall, nth, &format!("&room={code}"));
        until_roost(&page, &format!("{name}: not ready."));
        pages.push(page);
    }
    // So many pages may be slow on this machine, and none shall be taken off for it.
    focus_on(&pages[0], "Slow machines");
    tap(&pages[0], "Enter", "Enter");
    until_roost(&pages[0], "loosen first");
    tap(&pages[0], "Enter", "Enter");
    until_roost(&pages[0], "all wait");
    honk(&pages[1]);
    honk(&pages[3]);
    until_roost(&pages[0], "Maud: ready.");
    pictures(&pages[0], "roost");

    // All are ready, then one is not.
    honk(&pages[0]);
    honk(&pages[2]);
    until_roost(&pages[1], "Ottilie: ready.");
    until_roost(&pages[1], "Off in");
    picture(&pages[1], "skein-count.png");
    honk(&pages[1]);
    until_roost(&pages[2], "Waiting for Hob.");
    assert!(pages.iter().all(|page| facts(page)["stage"] == "lobby"), "{}", facts(&pages[2]));
    honk(&pages[1]);
    for page in &pages {
        // The crew is counted in the first frame of a wave: all are in it.
        let known = until(page, "the start", |known| {
            known["stage"] == "together" && known["frame"].as_u64() > Some(0)
        });
        assert!(known["crew"] == 4, "{known}");
    }
    until(&pages[0], "all four fly", |known| is_together(known, 4));
    let all: Vec<&Page> = pages.iter().collect();
    expect_agreement(&all);
    pictures(&pages[1], "play");
    tap(&pages[1], "F3", "F3");
    tap(&pages[1], "F3", "F3");
    std::thread::sleep(Duration::from_millis(1_500));
    picture(&pages[1], "skein-net.png");

    pages[2].crash().unwrap();
    until(&pages[0], "the autopilot flies it", |known| is_together(known, 3));
    pages[2].revive().unwrap();
    until_within(2 * PATIENCE, &pages[2], "it is back", |known| is_together(known, 4));
    let late = open(&hall, 4, &format!("&room={code}"));
    until_within(2 * PATIENCE, &late, "it drops in", |known| is_together(known, 5));
    pages.push(late);
    for page in &pages {
        until(page, "all five", |known| is_together(known, 5));
        let known = facts(page);
        assert_eq!((known["desyncs"].as_u64(), known["rollbacks"].as_u64()), (Some(0), Some(0)), "{known}");
    }
    let all: Vec<&Page> = pages.iter().collect();
    expect_agreement(&all);
}
