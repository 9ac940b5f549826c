//! The arcade as a stranger meets it: in a real browser, with keys.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gaggle_web::bundle::bundle;
use gaggle_web::chromium::{Chromium, Page};
use gaggle_web::files::FileServer;

const PATIENCE: Duration = Duration::from_secs(30);

/// Builds the page once; where it is and where pictures go.
fn build() -> (PathBuf, PathBuf) {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("arcade");
    bundle(&workspace, "arcade", None, &out).unwrap();
    std::fs::copy(workspace.join("shell/arcade/page/index.html"), out.join("index.html")).unwrap();
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    std::fs::create_dir_all(&pictures).unwrap();
    (out, pictures)
}

fn tap(page: &Page, code: &str, key: &str) {
    page.key(code, key, true).unwrap();
    page.key(code, key, false).unwrap();
}

fn said(page: &Page) -> String {
    page.eval("document.getElementById('said').textContent").unwrap().as_str().unwrap().to_string()
}

fn picture(page: &Page, pictures: &Path, name: &str) {
    std::fs::write(pictures.join(name), page.screenshot().unwrap()).unwrap();
}

#[test]
fn a_stranger_opens_the_page_and_flies() {
    let (out, pictures) = build();
    let bytes: u64 = ["arcade.js", "arcade_bg.wasm", "index.html"]
        .iter()
        .map(|name| std::fs::metadata(out.join(name)).unwrap().len())
        .sum();
    assert!(bytes < 700_000, "the page weighs {bytes} bytes before compression");
    let files = FileServer::start(&out, &[]).unwrap();
    let browser = Chromium::start().unwrap();
    let page = browser.open(&files.url("index.html")).unwrap();
    page.resize(1280, 720, 1, false).unwrap();
    let opened = Instant::now();
    page.wait_for("document.documentElement.dataset.ready === 'yes'", PATIENCE).unwrap();
    page.wait_for("document.getElementById('said').textContent.startsWith('Menu')", PATIENCE).unwrap();
    let ready_after = opened.elapsed();
    std::thread::sleep(Duration::from_secs(1));
    picture(&page, &pictures, "menu.png");

    tap(&page, "Enter", "Enter");
    page.wait_for("document.getElementById('said').textContent.startsWith('Wave 1')", PATIENCE).unwrap();
    // Flapping about for a while: the goose moves, and sooner or later the score does.
    let began = Instant::now();
    let mut right = true;
    while said(&page).contains("Score 0.") && began.elapsed() < Duration::from_secs(60) {
        let code = if right { "ArrowRight" } else { "ArrowLeft" };
        page.key(code, code, true).unwrap();
        for _ in 0..6 {
            tap(&page, "Space", " ");
            std::thread::sleep(Duration::from_millis(120));
        }
        page.key(code, code, false).unwrap();
        right = !right;
    }
    assert!(!said(&page).contains("Score 0."), "a minute of flapping and no score: {}", said(&page));
    picture(&page, &pictures, "solo.png");

    tap(&page, "Escape", "Escape");
    page.wait_for("document.getElementById('said').textContent.startsWith('Paused')", PATIENCE).unwrap();
    picture(&page, &pictures, "paused.png");
    tap(&page, "KeyH", "h");
    page.wait_for("document.getElementById('said').textContent.startsWith('How')", PATIENCE).unwrap();
    picture(&page, &pictures, "help.png");
    tap(&page, "Escape", "Escape");
    tap(&page, "Escape", "Escape");
    page.wait_for("document.getElementById('said').textContent.startsWith('Menu')", PATIENCE).unwrap();

    page.resize(390, 844, 2, true).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    picture(&page, &pictures, "phone-menu.png");
    assert!(ready_after < Duration::from_secs(20), "ready only after {ready_after:?}");
}
