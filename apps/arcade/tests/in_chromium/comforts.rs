//! Screen lock, full screen, volume and leaderboard of the page in Chromium.

use std::time::Duration;

use gaggle::{GameRoom, JoinTarget, Phase, RoomConfig};
use gaggle_native::{Clock, platform};
use gaggle_web::chromium::Page;
use gander::{Gander, SEATS, Setup};

use crate::online::{Hall, is_together, until};
use crate::tabs::focus_on;
use crate::trouble::until_said;
use crate::{PATIENCE, picture, said, tap};

/// Script that records wake lock and full screen requests, and every gain node.
const NOTING: &str = "
    window.awake = [];
    const request = async kind => {
        awake.push(kind);
        return { release: async () => { awake.push('released'); } };
    };
    Object.defineProperty(navigator, 'wakeLock', { value: { request } });
    window.gains = [];
    const make = BaseAudioContext.prototype.createGain;
    BaseAudioContext.prototype.createGain = function () {
        const gain = make.call(this);
        gains.push(gain);
        return gain;
    };
    localStorage['gaggle.name'] ??= 'Wren';
";

/// Native player that reports a score and leaves.
fn leave_a_score(server: &str, points: i64) {
    let clock = Clock::start();
    let mut config = RoomConfig::new("gander", SEATS as u8).unwrap();
    config.engine.game_fingerprint = gander::FINGERPRINT;
    config.mode = "team".parse().unwrap();
    config.join = JoinTarget::CreatePrivate;
    config.lobby.display_name = Some("Hob".to_string());
    let game = Gander::new(Setup::default(), 7);
    let mut room = GameRoom::open(clock.now(), config, platform(server).unwrap(), game, 7).unwrap();
    let run = |room: &mut GameRoom<_, _>, until: &dyn Fn(&GameRoom<_, _>) -> bool| {
        for _ in 0..1_000 {
            room.update(clock.now());
            while room.poll_event().is_some() {}
            if until(room) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("never so");
    };
    run(&mut room, &|room| room.phase() == Phase::Playing);
    room.set_score(points, Some(2));
    room.leave();
    let left = clock.now();
    run(&mut room, &|_| clock.now().since(left).as_millis() > 300);
}

fn expect_awake(page: &Page, noted: &str) {
    page.wait_for(&format!("awake.join() === '{noted}'"), Duration::from_secs(10))
        .unwrap_or_else(|error| panic!("{error}: {}", page.eval("awake.join()").unwrap()));
}

/// Master volume: the gain of the first gain node.
fn loudness(page: &Page) -> f64 {
    page.wait_for("gains.length > 0", PATIENCE).unwrap();
    page.eval("gains[0].gain.value").unwrap().as_f64().unwrap()
}

#[test]
fn page_keeps_screen_on_fills_it_sounds_and_lists_best() {
    let hall = Hall::open("comforts");
    leave_a_score(&hall.lobby(), 120);
    let page = hall.page_after(NOTING, "");
    // The wake lock is held during a match only.
    expect_awake(&page, "");
    tap(&page, "Enter", "Enter");
    until(&page, "a room", |known| is_together(known, 1));
    expect_awake(&page, "screen");
    tap(&page, "Escape", "Escape");
    expect_awake(&page, "screen,released");
    tap(&page, "Enter", "Enter");
    expect_awake(&page, "screen,released,screen");
    tap(&page, "Escape", "Escape");
    tap(&page, "Escape", "Escape");
    expect_awake(&page, "screen,released,screen,released");
    assert!(said(&page).starts_with("Menu"), "{}", said(&page));

    focus_on(&page, "The leaderboard. Enter opens it.");
    tap(&page, "Enter", "Enter");
    until_said(&page, "Leaderboard.  1. Hob, 120. 2. Wren, 0. Esc closes it.");
    picture(&page, "leaderboard.png");
    tap(&page, "Escape", "Escape");
    page.wait_for("!said.textContent.includes('Leaderboard')", PATIENCE).unwrap();

    focus_on(&page, "Full screen. Enter turns it on or off.");
    tap(&page, "Enter", "Enter");
    page.wait_for("document.fullscreenElement === document.documentElement", PATIENCE).unwrap();
    tap(&page, "Enter", "Enter");
    page.wait_for("document.fullscreenElement === null", PATIENCE).unwrap();

    // Volume: two steps down, and unchanged after a reload.
    focus_on(&page, "Sound full. Enter changes it.");
    let full = loudness(&page);
    tap(&page, "Enter", "Enter");
    tap(&page, "Enter", "Enter");
    until_said(&page, "Sound low. Enter changes it.");
    page.wait_for(&format!("gains[0].gain.value < {}", full / 2.0), PATIENCE).unwrap();
    let low = loudness(&page);
    page.reload().unwrap();
    page.wait_for("document.documentElement.dataset.ready === 'yes'", PATIENCE).unwrap();
    tap(&page, "Tab", "Tab");
    page.wait_for(&format!("gains[0]?.gain.value === {low}"), PATIENCE).unwrap();
}

/// Small phones in both orientations. The pictures are for review.
#[test]
fn small_phones_show_world_large() {
    let hall = Hall::open("small-phones");
    let coarse = "
        const media = window.matchMedia.bind(window);
        window.matchMedia = query => query.includes('coarse') ? { matches: true } : media(query);
    ";
    let canvas = "document.getElementById('arcade')";
    for game in ["gander", "drake", "millpond"] {
        let page = hall.page_after(coarse, &format!("?game={game}"));
        page.resize(667, 375, 2, true).unwrap();
        page.wait_for(&format!("{canvas}.width === 1334"), PATIENCE).unwrap();
        // Position of the Play button.
        page.touch(Some((170, 136))).unwrap();
        page.touch(None).unwrap();
        page.wait_for("!said.textContent.startsWith('Menu')", Duration::from_secs(10)).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        picture(&page, &format!("small-{game}-667x375.png"));
        // A few pixels too narrow for twice the size: the world is drawn at twice the size and
        // shrunk a little.
        page.resize(375, 667, 2, true).unwrap();
        page.wait_for(&format!("{canvas}.width === 768 && 'soft' in {canvas}.dataset"), PATIENCE).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        picture(&page, &format!("small-{game}-375x667.png"));
        page.resize(390, 844, 2, true).unwrap();
        page.wait_for(&format!("{canvas}.width === 780 && !('soft' in {canvas}.dataset)"), PATIENCE).unwrap();
        page.close().unwrap();
    }
}
