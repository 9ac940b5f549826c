//! Browsers that lack features, absurd addresses and hostile names: the page says what is wrong,
//! and the game goes on.

use gaggle_web::chromium::Page;

use crate::online::{Hall, expect_agreement, facts, fly, is_together, paths, until};
use crate::{PATIENCE, tap};

/// Waits until the page has shown this text, anywhere, now or before.
pub(crate) fn until_said(page: &Page, words: &str) {
    let expression = format!("heard.some(text => text.includes({words:?}))");
    page.wait_for(&expression, PATIENCE).unwrap();
}

#[test]
fn browser_without_canvas_or_modules_is_told_so() {
    let hall = Hall::open("canvas");
    for lack in ["HTMLCanvasElement.prototype.getContext = () => null", "delete globalThis.WebAssembly"] {
        let page = hall.open_after(lack, "");
        let told =
            "document.getElementById('trouble').textContent.includes('does not start in this browser')";
        page.wait_for(told, PATIENCE).unwrap();
    }
}

/// Script that removes storage, sound, WebRTC and clipboard, and records whether the page opens a
/// dialog.
const POOR: &str = "
    for (const name of ['localStorage', 'sessionStorage'])
        Object.defineProperty(window, name, { get() { throw new DOMException('no', 'SecurityError'); } });
    Object.defineProperty(navigator, 'clipboard', { value: undefined });
    delete window.AudioContext;
    delete window.RTCPeerConnection;
    window.prompt = () => { window.asked = true; return null; };
";

#[test]
fn limited_browser_meets_hostile_name_and_both_fly() {
    let hall = Hall::open("poor");
    let poor = hall.page_after(POOR, "");
    until_said(&poor, "This browser forgets.");
    until_said(&poor, "Using the slower road.");
    tap(&poor, "Enter", "Enter");
    until_said(&poor, "No sound here.");
    let code = until(&poor, "a room", |known| is_together(known, 1))["code"].as_str().unwrap().to_string();
    // The first press opens the invitation, the second copies its link.
    tap(&poor, "KeyC", "c");
    tap(&poor, "KeyC", "c");
    // A dialog would stop the page, and all peers would wait for its player.
    until_said(&poor, &format!("?room={code}"));
    assert_eq!(poor.eval("window.asked ?? false").unwrap(), false, "the page asks nothing while it flies");
    tap(&poor, "Enter", "Enter");

    let name = "localStorage.setItem('gaggle.name', '<img src=x onerror=pwned=1>\\u202e\\u0301\\u0301')";
    let hostile = hall.page_after(name, &format!("?room={code}"));
    until(&hostile, "the other drops in", |known| is_together(known, 2));
    // Without WebRTC the socket is the only path.
    until(&poor, "both are in", |known| is_together(known, 2) && paths(known) == ["socket"]);
    until_said(&poor, "drops in.");
    for page in [&poor, &hostile] {
        fly(page, 2);
        let harm = "document.images.length > 0 || 'pwned' in window";
        assert_eq!(page.eval(harm).unwrap(), false, "a name is a name");
    }
    expect_agreement(&[&poor, &hostile]);
}

#[test]
fn absurd_parameters_are_answered_and_page_plays() {
    let hall = Hall::open("absurd");
    let page = hall.page(
        "?latency=1e99&jitter=-5&loss=NaN&bots=999&room=%00&watch=%F0%9F%92%A5&seed=184467440737095516160\
         &game=../../etc/passwd&frame=-1&path=pigeon&lives=0&level=&&&=&%ZZ=%",
    );
    until_said(&page, "makes no sense here");
    tap(&page, "Enter", "Enter");
    until(&page, "it plays", |known| known["game"] == "gander" && known["frame"].as_u64() > Some(10));
    assert_eq!(facts(&page)["rollbacks"], 0);
}
