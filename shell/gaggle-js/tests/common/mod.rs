//! A server of the package and its example, for tests in browsers.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gaggle_server::{BackgroundServer, Config};
use gaggle_web::js::bundle_js;

/// Notes when the room was there, when another player was, and errors of the page.
pub(crate) const WATCH: &str = "window.errors = []; window.events = [];
addEventListener('error', (event) => errors.push(String(event.message)));
addEventListener('unhandledrejection', (event) => errors.push(String(event.reason)));
const timer = setInterval(() => {
  if (!window.room) return;
  if (!window.openedAt) {
    window.openedAt = performance.now();
    room.on('*', (event) => events.push(event));
  }
  if (room.error || room.isClosed) return;
  if (!window.metAt && room.members.filter((member) => member.slots.length).length > 1) window.metAt = performance.now();
}, 5);";

/// The package, built once for all tests of a program.
fn package(name: &str) -> &'static Path {
    static PACKAGE: OnceLock<PathBuf> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}_package"));
        bundle_js(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &out).unwrap();
        out
    })
}

/// A server of the package with pong and other pages, from a folder of this name.
pub(crate) fn start_server(name: &str, pages: &[(&str, &str)]) -> BackgroundServer {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (files, data) = (temporary.join(format!("{name}_page")), temporary.join(format!("{name}_data")));
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::create_dir_all(&files).unwrap();
    for entry in std::fs::read_dir(package(name)).unwrap().map(Result::unwrap) {
        std::fs::copy(entry.path(), files.join(entry.file_name())).unwrap();
    }
    std::fs::copy(here.join("examples/pong.html"), files.join("index.html")).unwrap();
    std::fs::copy(here.join("js/test/math-sum.js"), files.join("math-sum.js")).unwrap();
    for (page, text) in pages {
        std::fs::write(files.join(page), text).unwrap();
    }
    let _ = std::fs::remove_dir_all(&data);
    let listen = ([127, 0, 0, 1], 0).into();
    BackgroundServer::start(Config { listen, data, files: Some(files), ..Config::default() }).unwrap()
}
