//! One page without a lobby: it still plays.

use std::time::{Duration, Instant};

use gaggle_web::chromium::Chromium;
use gaggle_web::files::FileServer;

use crate::online::until;
use crate::tabs::focus_on;
use crate::{PATIENCE, build, picture, said, tap};

#[test]
fn new_player_opens_page_and_flies() {
    let out = build();
    let files = FileServer::start(&out, &[]).unwrap();
    let browser = Chromium::start().unwrap();
    let page = browser.open(&files.url("index.html")).unwrap();
    page.resize(1280, 720, 1, false).unwrap();
    page.wait_for("document.documentElement.dataset.ready === 'yes'", PATIENCE).unwrap();
    page.wait_for("document.getElementById('said').textContent.startsWith('Menu')", PATIENCE).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    picture(&page, "menu.png");

    page.wait_for("document.getElementById('said').textContent.includes('lobby is out')", PATIENCE).unwrap();
    // A color other than the first, kept after a reload.
    focus_on(&page, "Your color: blue");
    tap(&page, "Enter", "Enter");
    tap(&page, "Enter", "Enter");
    page.wait_for("document.getElementById('said').textContent.includes('pink')", PATIENCE).unwrap();
    picture(&page, "menu-color.png");
    page.reload().unwrap();
    page.wait_for("document.documentElement.dataset.ready === 'yes'", PATIENCE).unwrap();
    focus_on(&page, "Your color: pink");
    focus_on(&page, "Play. Enter flies");
    tap(&page, "Enter", "Enter");
    page.wait_for("document.getElementById('said').textContent.startsWith('Wave 1')", PATIENCE).unwrap();
    until(&page, "the page has the slot of that color", |known| known["own"] == 0b100);
    // Flaps until the goose has moved and scored.
    let began = Instant::now();
    let mut right = true;
    while said(&page).contains("Score 0.") && began.elapsed() < 3 * PATIENCE {
        let code = if right { "ArrowRight" } else { "ArrowLeft" };
        page.key(code, code, true).unwrap();
        for _ in 0..6 {
            tap(&page, "Space", " ");
            std::thread::sleep(Duration::from_millis(120));
        }
        page.key(code, code, false).unwrap();
        right = !right;
    }
    assert!(!said(&page).contains("Score 0."), "minutes of flapping and no score: {}", said(&page));
    picture(&page, "solo.png");

    tap(&page, "Escape", "Escape");
    page.wait_for("document.getElementById('said').textContent.startsWith('Paused')", PATIENCE).unwrap();
    picture(&page, "paused.png");
    tap(&page, "KeyH", "h");
    page.wait_for("document.getElementById('said').textContent.startsWith('How')", PATIENCE).unwrap();
    picture(&page, "help.png");
    tap(&page, "KeyK", "k");
    page.wait_for(
        "document.getElementById('said').textContent.includes('Your key for leaning left')",
        PATIENCE,
    )
    .unwrap();
    picture(&page, "own-keys.png");
    tap(&page, "Escape", "Escape");
    // The last page of the help lists the parameters of the address.
    tap(&page, "ArrowLeft", "ArrowLeft");
    page.wait_for("document.getElementById('said').textContent.includes('latency=100')", PATIENCE).unwrap();
    picture(&page, "address.png");
    tap(&page, "Escape", "Escape");
    tap(&page, "Escape", "Escape");
    page.wait_for("document.getElementById('said').textContent.startsWith('Menu')", PATIENCE).unwrap();

    // As on a phone, in both orientations, by touch.
    page.resize(390, 844, 2, true).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    picture(&page, "phone-menu.png");
    page.touch(Some((195, 404))).unwrap();
    page.touch(None).unwrap();
    page.wait_for("document.getElementById('said').textContent.startsWith('Wave 1')", PATIENCE).unwrap();
    page.touch(Some((300, 690))).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    picture(&page, "phone.png");
    page.touch(None).unwrap();
    page.resize(844, 390, 2, true).unwrap();
    page.touch(Some((760, 300))).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    picture(&page, "phone-flat.png");
    page.touch(None).unwrap();
    // A tap on the corner pauses, and a tap on a line of the pause panel chooses it.
    page.touch(Some((820, 20))).unwrap();
    page.touch(None).unwrap();
    page.wait_for("document.getElementById('said').textContent.startsWith('Paused')", PATIENCE).unwrap();
    picture(&page, "phone-flat-paused.png");
    page.touch(Some((422, 186))).unwrap();
    page.touch(None).unwrap();
    page.wait_for("document.getElementById('said').textContent.startsWith('Menu')", PATIENCE).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    picture(&page, "phone-flat-menu.png");
}
