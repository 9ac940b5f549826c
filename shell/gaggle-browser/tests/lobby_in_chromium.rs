//! The lobby client in a real browser, with a real server that also serves the page.

#![allow(clippy::unwrap_used, reason = "a failed step should stop the test")]

use std::path::Path;
use std::time::Duration;

use gaggle_server::{BackgroundServer, Config};
use gaggle_web::bundle::bundle_example;
use gaggle_web::chromium::{Chromium, Page};

const PAGE: &str = "<!doctype html><meta charset=utf-8><title>lobby</title><script type=module>
import init, { find, poll, members, greet } from './lobby_page.js';
await init({ module_or_path: 'lobby_page_bg.wasm' });
window.seen = '';
window.members = members;
window.greet = greet;
window.find = find;
setInterval(() => { window.seen += poll(); }, 10);
window.ready = true;
</script>";
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn two_pages_meet_and_resume_after_server_restart() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lobby_page");
    bundle_example(&workspace, "gaggle-browser", "lobby_page", &out).unwrap();
    std::fs::write(out.join("index.html"), PAGE).unwrap();
    let data = std::env::temp_dir().join(format!("gaggle-browser-lobby-{}", std::process::id()));
    let config = |port| Config {
        listen: ([127, 0, 0, 1], port).into(),
        data: data.clone(),
        files: Some(out.clone()),
        ..Config::default()
    };
    let server = BackgroundServer::start(config(0)).unwrap();
    let address = server.address();
    let browser = Chromium::start().unwrap();
    let open = |key: &str| {
        let page = browser.open(&format!("http://{address}/")).unwrap();
        page.wait_for("window.ready", PATIENCE).unwrap();
        page.eval(&format!("find('{key}')")).unwrap();
        page
    };
    let nia = open("key-of-nia-0123456789");
    let ada = open("key-of-ada-0123456789");
    for page in [&nia, &ada] {
        page.wait_for("members() === 2", PATIENCE).unwrap();
    }
    nia.eval("greet(7)").unwrap();
    ada.wait_for("window.seen.includes('signal 7')", PATIENCE).unwrap();

    drop(server);
    for page in [&nia, &ada] {
        page.wait_for("window.seen.includes('offline')", PATIENCE).unwrap();
    }
    let server = BackgroundServer::start(config(address.port())).unwrap();
    for page in [&nia, &ada] {
        page.wait_for("window.seen.includes('seated returned=true') && members() === 2", PATIENCE).unwrap();
    }
    ada.eval("greet(8)").unwrap();
    nia.wait_for("window.seen.includes('signal 8')", PATIENCE).unwrap();
    assert_eq!(count(&nia, "seated returned=false"), 1);
    drop(server);
    std::fs::remove_dir_all(data).unwrap();
}

fn count(page: &Page, line: &str) -> u64 {
    page.eval(&format!("window.seen.split('{line}').length - 1")).unwrap().as_u64().unwrap()
}
