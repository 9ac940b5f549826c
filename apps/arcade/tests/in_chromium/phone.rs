//! The arcade on phones in both orientations, with two and three device pixels per page pixel, by
//! touch alone.

use std::time::Duration;

use gaggle_web::chromium::{Chromium, Page};
use gaggle_web::files::FileServer;

use crate::online::{facts, until};
use crate::{PATIENCE, build, picture, said, tap};

/// Script that makes the page see a phone.
const PHONE: &str = "
    const media = window.matchMedia.bind(window);
    window.matchMedia = query => query.includes('coarse') ? { matches: true } : media(query);
";

/// Places to tap, in page pixels.
struct Phone {
    name: &'static str,
    size: (u32, u32),
    scale: u32,
    field: (u32, u32),
    help: (u32, u32),
    play: (u32, u32),
    ahead: (u32, u32),
}

const PHONES: [Phone; 4] = [
    Phone {
        name: "upright-2",
        size: (390, 844),
        scale: 2,
        field: (150, 30),
        help: (211, 30),
        play: (195, 404),
        ahead: (97, 629),
    },
    Phone {
        name: "upright-3",
        size: (390, 844),
        scale: 3,
        field: (150, 25),
        help: (239, 25),
        play: (195, 425),
        ahead: (97, 629),
    },
    Phone {
        name: "flat-2",
        size: (844, 390),
        scale: 2,
        field: (600, 38),
        help: (79, 344),
        play: (215, 140),
        ahead: (66, 274),
    },
    Phone {
        name: "flat-3",
        size: (844, 390),
        scale: 3,
        field: (600, 32),
        help: (79, 354),
        play: (215, 183),
        ahead: (55, 285),
    },
];

fn tap_at(page: &Page, at: (u32, u32)) {
    page.touch(Some(at)).unwrap();
    page.touch(None).unwrap();
}

fn wait_said(page: &Page, words: &str) {
    let expression = format!("document.getElementById('said').textContent.includes('{words}')");
    page.wait_for(&expression, PATIENCE).unwrap_or_else(|error| panic!("{words}: {error}: {}", said(page)));
}

fn open(browser: &Chromium, files: &FileServer, phone: &Phone, game: &str) -> Page {
    let page = browser.open_after(PHONE, &files.url(&format!("index.html?game={game}"))).unwrap();
    let (width, height) = phone.size;
    page.resize(width, height, phone.scale, true).unwrap();
    page.wait_for("document.documentElement.dataset.ready === 'yes'", PATIENCE).unwrap();
    wait_said(&page, "Menu.");
    page
}

#[test]
fn phone_is_enough_for_names_help_and_every_game() {
    let out = build();
    let files = FileServer::start(&out, &[]).unwrap();
    let browser = Chromium::start().unwrap();
    for phone in &PHONES {
        let name = phone.name;
        let page = open(&browser, &files, phone, "gander");
        std::thread::sleep(Duration::from_millis(600));
        picture(&page, &format!("phone-{name}-menu.png"));
        // The name is typed into a prompt of the browser; it is kept, and the page goes on.
        page.eval("window.prompt = () => 'Ottilie'").unwrap();
        tap_at(&page, phone.field);
        wait_said(&page, "Your name: Ottilie");
        assert_eq!(page.eval("localStorage.getItem('gaggle.name')").unwrap(), "Ottilie");
        let drawn = facts(&page)["drawn"].as_u64();
        until(&page, "it goes on drawing", |known| known["drawn"].as_u64() > drawn.map(|drawn| drawn + 10));

        tap_at(&page, phone.help);
        wait_said(&page, "Page 1 of 6.");
        for nth in 1..=6 {
            wait_said(&page, &format!("Page {nth} of 6."));
            std::thread::sleep(Duration::from_millis(300));
            picture(&page, &format!("phone-{name}-help-{nth}.png"));
            tap_at(&page, (phone.size.0 - 20, phone.size.1 / 2));
        }
        tap_at(&page, (phone.size.0 / 2, phone.size.1 - 10));
        wait_said(&page, "Menu.");
        tap_at(&page, phone.play);
        wait_said(&page, "Wave 1.");
        std::thread::sleep(Duration::from_millis(800));
        picture(&page, &format!("phone-{name}-gander.png"));
        tap_at(&page, (phone.size.0 - 20, 20));
        wait_said(&page, "Paused.");
        std::thread::sleep(Duration::from_millis(300));
        picture(&page, &format!("phone-{name}-paused.png"));
        page.close().unwrap();

        let page = open(&browser, &files, phone, "drake");
        tap_at(&page, phone.play);
        std::thread::sleep(Duration::from_millis(1_500));
        picture(&page, &format!("phone-{name}-drake.png"));
        page.close().unwrap();

        // One thumb rows a boat.
        let page = open(&browser, &files, phone, "millpond");
        tap_at(&page, phone.play);
        let known = until(&page, "a boat", |known| known["own"] == 1 && known["things"].as_u64() > Some(300));
        page.touch(Some(phone.ahead)).unwrap();
        until(&page, "it is rowed", |now| now["boat"] != known["boat"]);
        std::thread::sleep(Duration::from_millis(500));
        picture(&page, &format!("phone-{name}-millpond.png"));
        page.touch(None).unwrap();
        page.close().unwrap();
    }
}

#[test]
fn mouse_and_tab_find_what_can_be_chosen() {
    let out = build();
    let files = FileServer::start(&out, &[]).unwrap();
    let browser = Chromium::start().unwrap();
    let page = browser.open(&files.url("index.html?game=drake")).unwrap();
    page.resize(1280, 720, 1, false).unwrap();
    page.wait_for("document.documentElement.dataset.ready === 'yes'", PATIENCE).unwrap();
    wait_said(&page, "Menu. Play.");
    let label = page.eval("document.getElementById('arcade').getAttribute('aria-label')").unwrap();
    assert!(label.as_str().unwrap().starts_with("drake, in the Gaggle arcade."), "{label}");
    tap(&page, "Tab", "Tab");
    wait_said(&page, "Mode: brawl.");
    let moved = |x: u32, y: u32| {
        let script = format!(
            "window.dispatchEvent(new PointerEvent('pointermove',
                {{ clientX: {x}, clientY: {y}, pointerId: 1, pointerType: 'mouse' }})),
             getComputedStyle(document.getElementById('arcade')).cursor"
        );
        page.eval(&script).unwrap()
    };
    assert_eq!(moved(120, 640), "pointer", "over Play");
    std::thread::sleep(Duration::from_millis(200));
    picture(&page, "menu-hover.png");
    assert_ne!(moved(600, 20), "pointer", "over the sky");
}
