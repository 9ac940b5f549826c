//! The guide `docs/guide/quick-start.md` followed literally: its code in a new crate, and two tabs
//! in one match.

#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, reason = "a failed step should stop the test")]

mod coturn;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use gaggle_server::{BackgroundServer, Config};
use gaggle_web::bundle::{Build, bundle_program};
use gaggle_web::chromium::{Chromium, Page};

const PATIENCE: Duration = Duration::from_secs(120);

/// Crate a reader of the guide ends up with. Its build output is kept beside the workspace's.
fn follow_the_guide() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crumbs");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::create_dir_all(folder.join(".cargo")).unwrap();
    let guide = std::fs::read_to_string(root.join("docs/guide/quick-start.md")).unwrap();
    let blocks = guide.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    std::fs::write(folder.join("src/main.rs"), blocks.collect::<String>()).unwrap();
    let path = |crate_path: &str| root.join(crate_path).display().to_string();
    let manifest = format!(
        "[package]\nname = \"crumbs\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         gaggle = {{ path = {:?} }}\ngaggle-browser = {{ path = {:?} }}\n",
        path("core/gaggle"),
        path("shell/gaggle-browser"),
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let config = format!("[build]\ntarget-dir = {:?}\n", target.display().to_string());
    std::fs::write(folder.join(".cargo/config.toml"), config).unwrap();
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    folder
}

/// Position of the second goose's left edge on a page.
const SECOND_GOOSE: &str = "(() => {
  const canvas = document.querySelector('canvas');
  if (!canvas) return -1;
  const { data, width, height } = canvas.getContext('2d').getImageData(0, 40, 640, 280);
  for (let x = 0; x < width; x++) for (let y = 0; y < height; y++) {
    const at = 4 * (y * width + x);
    if (data[at] === 135 && data[at + 1] === 206 && data[at + 2] === 235) return x;
  }
  return -1;
})()";

fn second_goose(page: &Page) -> i64 {
    page.eval(SECOND_GOOSE).unwrap().as_i64().unwrap()
}

fn until(page: &Page, what: &str, so: impl Fn(i64) -> bool) -> i64 {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let x = second_goose(page);
        if so(x) {
            return x;
        }
        assert!(Instant::now() < deadline, "{what}: the second goose is at {x}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The guide's page, built once for all tests.
fn page_of_the_guide() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crumbs-page");
        bundle_program(&follow_the_guide(), &out, Build::Local).unwrap();
        out
    };
    BUILT.get_or_init(build).clone()
}

/// A tab in which this script runs first.
fn open(browser: &Chromium, script: &str, server: &BackgroundServer) -> Page {
    let page = browser.open_after(script, &format!("http://{}/", server.address())).unwrap();
    page.wait_for("document.querySelector('canvas') !== null", PATIENCE).unwrap();
    page
}

fn press_in_second_and_see_it_in_first(first: &Page, second: &Page) {
    for page in [first, second] {
        until(page, "both have joined", |x| x >= 0);
    }
    let before = second_goose(first);
    second.key("ArrowRight", "ArrowRight", true).unwrap();
    let mover = if until(first, "a goose moves", |x| x != before) > before { "the second" } else { "none" };
    second.key("ArrowRight", "ArrowRight", false).unwrap();
    assert_eq!(mover, "the second", "each sees the other's input");
}

/// Records violations of the page's policy.
const NOTE_REFUSED: &str = "window.refused = [];
  document.addEventListener('securitypolicyviolation',
    event => window.refused.push(`${event.violatedDirective}: ${event.blockedURI}`));";

/// Violations so far, and whether a policy is active: an inline script added by the test is blocked
/// by it.
fn refused(page: &Page) -> (Vec<serde_json::Value>, bool) {
    let refused = page.eval("window.refused.slice()").unwrap().as_array().unwrap().clone();
    page.eval("document.head.append(Object.assign(document.createElement('script'), { text: '1' }))")
        .unwrap();
    (refused, page.wait_for("window.refused.length > 0", PATIENCE).is_ok())
}

#[test]
fn own_game_page_breaks_no_rule_of_servers_policy() {
    let data = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crumbs-policy-data");
    let _ = std::fs::remove_dir_all(&data);
    let files = Some(page_of_the_guide());
    let config = Config { listen: ([127, 0, 0, 1], 0).into(), data, files, ..Config::default() };
    let server = BackgroundServer::start(config).unwrap();
    let browser = Chromium::start().unwrap();
    let first = open(&browser, NOTE_REFUSED, &server);
    let second = open(&browser, NOTE_REFUSED, &server);
    press_in_second_and_see_it_in_first(&first, &second);
    for page in [&first, &second] {
        assert_eq!(refused(page), (vec![], true));
    }
}

#[test]
fn reader_of_guide_has_two_tabs_in_one_match() {
    let data = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crumbs-data");
    let _ = std::fs::remove_dir_all(&data);
    let files = Some(page_of_the_guide());
    let config = Config { listen: ([127, 0, 0, 1], 0).into(), data, files, ..Config::default() };
    let server = BackgroundServer::start(config).unwrap();
    let browser = Chromium::start().unwrap();
    let first = open(&browser, "", &server);
    assert_eq!(second_goose(&first), -1, "alone at first");
    let second = open(&browser, "", &server);
    press_in_second_and_see_it_in_first(&first, &second);
}
