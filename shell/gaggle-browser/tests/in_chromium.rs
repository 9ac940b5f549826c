//! The carriers of a page in a real browser.

#![allow(clippy::unwrap_used, reason = "a failed step should stop the test")]

use std::path::Path;
use std::time::{Duration, Instant};

use gaggle_kit::PeerId;
use gaggle_relay::RelayConfig;
use gaggle_relay::loopback::Loopback;
use gaggle_web::bundle::bundle_example;
use gaggle_web::chromium::{Chromium, Page};
use gaggle_web::files::FileServer;
use serde_json::json;

const PAGE: &str = "<!doctype html><meta charset=utf-8><title>contract</title><script type=module>
import init, { line_tells, points, try_point } from './contract_page.js';
await init({ module_or_path: 'contract_page_bg.wasm' });
window.points = points;
window.lineTells = line_tells;
window.tryAll = async (path, relay, passes) => {
  window.failures = null;
  // All rules at once: each has its own peers, and mostly waits.
  const said = await Promise.all([...Array(points()).keys()].map((nth) => try_point(nth, path, relay, passes[nth])));
  window.failures = said.filter((text) => text !== '');
};
window.ready = true;
</script>";

#[test]
fn every_path_of_page_keeps_transport_contract() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contract_page");
    bundle_example(&workspace, "gaggle-browser", "contract_page", &out).unwrap();
    let files = FileServer::start(&out, &[("index.html", PAGE)]).unwrap();
    let browser = Chromium::start().unwrap();
    let page = browser.open(&files.url("index.html")).unwrap();
    page.wait_for("window.ready", Duration::from_secs(120)).unwrap();
    // What the browser rejects is reported at once, without a timeout.
    let refused = "(() => {
      const before = window.RTCPeerConnection;
      window.RTCPeerConnection = function () { throw new Error('not here'); };
      try { return lineTells('ftp://nowhere'); } finally { window.RTCPeerConnection = before; }
    })()";
    assert_eq!(page.eval(refused).unwrap(), json!("[Closed, ChannelClosed]"));
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    try_all(&page, "direct", &relay);
    assert_eq!(relay.server().totals().connections, 0, "a page that needs no relay opens none");
    try_all(&page, "socket", &relay);
    assert_eq!(relay.server().totals().questions, 0);
    try_all(&page, "relay", &relay);
    let totals = relay.server().totals();
    assert!(totals.forwarded > 1_000 && totals.refused_ticket == 0, "{totals:?}");
}

fn try_all(page: &Page, path: &str, relay: &Loopback) {
    let points = page.eval("points()").unwrap().as_u64().unwrap();
    assert!(points >= 12);
    let passes = |point: u64| {
        let pass = |n: u64| {
            let peer = PeerId::from_u128(u128::from(point) << 64 | u128::from(n));
            format!("{peer} {}\n", relay.ticket(point, peer))
        };
        (1..=3).map(pass).collect::<String>()
    };
    let passes: Vec<String> = (0..points).map(passes).collect();
    let began = Instant::now();
    page.eval(&format!("void tryAll({}, {}, {})", json!(path), json!(relay.url()), json!(passes))).unwrap();
    page.wait_for("window.failures !== null", Duration::from_secs(300)).unwrap();
    let failures = page.eval("window.failures").unwrap();
    assert_eq!(failures, json!([]), "{path}, after {:?}", began.elapsed());
}
