//! The ways of a page, in a real browser.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::Path;
use std::time::{Duration, Instant};

use gaggle_web::bundle::bundle;
use gaggle_web::chromium::Chromium;
use gaggle_web::files::FileServer;

const PAGE: &str = "<!doctype html><meta charset=utf-8><title>contract</title><script type=module>
import init, { points, try_point } from './contract_page.js';
await init({ module_or_path: 'contract_page_bg.wasm' });
window.points = points;
window.failures = null;
window.tryAll = async () => {
  // All points at once: each has peers of its own, and most of their time they wait.
  const said = await Promise.all([...Array(points()).keys()].map(try_point));
  window.failures = said.filter((text) => text !== '');
};
window.ready = true;
</script>";

#[test]
fn the_direct_way_between_pages_keeps_the_contract() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contract_page");
    bundle(&workspace, "gaggle-browser", Some("contract_page"), &out).unwrap();
    let files = FileServer::start(&out, &[("index.html", PAGE)]).unwrap();
    let browser = Chromium::start().unwrap();
    let page = browser.open(&files.url("index.html")).unwrap();
    page.wait_for("window.ready", Duration::from_secs(20)).unwrap();
    assert!(page.eval("points()").unwrap().as_u64() >= Some(12));
    let began = Instant::now();
    page.eval("void tryAll()").unwrap();
    page.wait_for("window.failures !== null", Duration::from_secs(120)).unwrap();
    assert_eq!(page.eval("window.failures").unwrap(), serde_json::json!([]), "after {:?}", began.elapsed());
}
