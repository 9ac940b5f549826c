//! The arcade as strangers meet it: in a real browser, with keys.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod guest;
mod online;
mod shared;
mod solo;
mod watching;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use gaggle_web::bundle::bundle;
use gaggle_web::chromium::Page;

/// How long anything may take on the slowest machine: what should happen is asserted, never how fast.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Builds the page once; where it is.
pub(crate) fn build() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("arcade");
        bundle(&workspace, "arcade", None, &out).unwrap();
        std::fs::copy(workspace.join("shell/arcade/page/index.html"), out.join("index.html")).unwrap();
        gaggle_web::pack::pack(&out).unwrap();
        out
    };
    BUILT.get_or_init(build).clone()
}

/// What a stranger has to load before anything moves: 200 kB for the arcade and being online, 100 kB for every game.
#[test]
fn the_whole_page_is_small_over_the_wire() {
    let games = arcade::cabinets::all::<gaggle::Nowhere>().len() as u64;
    let bytes = gaggle_web::pack::wire_bytes(&build()).unwrap();
    // With a little room for what grows elsewhere: this is to notice what nobody meant to send.
    let most = 210_000 + 100_000 * games;
    assert!((100_000..most).contains(&bytes), "{bytes} of {most} bytes for {games} games");
}

pub(crate) fn tap(page: &Page, code: &str, key: &str) {
    page.key(code, key, true).unwrap();
    page.key(code, key, false).unwrap();
}

pub(crate) fn said(page: &Page) -> String {
    page.eval("document.getElementById('said').textContent").unwrap().as_str().unwrap().to_string()
}

/// Takes a picture, to be looked at.
pub(crate) fn picture(page: &Page, name: &str) {
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    std::fs::create_dir_all(&pictures).unwrap();
    std::fs::write(pictures.join(name), page.screenshot().unwrap()).unwrap();
}
