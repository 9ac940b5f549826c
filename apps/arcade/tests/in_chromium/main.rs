//! Tests of the arcade in Chromium, by keys, fingers and gamepads.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod comforts;
mod doors;
mod film;
mod guest;
mod lid;
#[path = "../mixed/native.rs"]
#[allow(dead_code, reason = "more is done with them elsewhere")]
mod native;
mod numbers;
mod online;
mod phone;
mod results;
mod shared;
mod sheet;
mod shell;
mod skein;
mod solo;
mod tabs;
mod trouble;
mod watching;
mod wire;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use gaggle_web::bundle::{Build, bundle_arcade};
use gaggle_web::chromium::Page;

/// Timeout of every wait. Generous for slow machines: no test asserts speed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Builds the page once and returns its folder.
pub(crate) fn build() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("arcade");
        bundle_arcade(&workspace, &out, "", Build::Small).unwrap();
        out
    };
    BUILT.get_or_init(build).clone()
}

pub(crate) fn tap(page: &Page, code: &str, key: &str) {
    page.key(code, key, true).unwrap();
    page.key(code, key, false).unwrap();
}

pub(crate) fn said(page: &Page) -> String {
    page.eval("document.getElementById('said').textContent").unwrap().as_str().unwrap().to_string()
}

/// Takes a screenshot for review.
pub(crate) fn picture(page: &Page, name: &str) {
    write_picture(name, &page.screenshot().unwrap());
}

/// Writes a picture into the folder of screenshots.
pub(crate) fn write_picture(name: &str, bytes: &[u8]) {
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    std::fs::create_dir_all(&pictures).unwrap();
    std::fs::write(pictures.join(name), bytes).unwrap();
}
