//! The game of the README, between a page and a native program: what either does the other sees,
//! and what the page's address asks for is done.

#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "../../gaggle-native/examples/tug_of_war/game.rs"]
mod game;

use std::path::Path;
use std::time::{Duration, Instant};

use gaggle::{JoinTarget, Member, Micros, Phase, RoomConfig, RoomEvent};
use gaggle_native::{Clock, GameRoom, platform, random_seed};
use gaggle_server::{BackgroundServer, Config};
use gaggle_web::bundle::{bundle_example, write_page};
use gaggle_web::chromium::{Chromium, Page};

use game::TugOfWar;

const PATIENCE: Duration = Duration::from_secs(120);

/// Where the page draws the rope's middle, left edge; -1 while it draws none.
const KNOT: &str = "(() => {
  const canvas = document.querySelector('canvas');
  if (!canvas) return -1;
  const { data, width } = canvas.getContext('2d').getImageData(0, 172, 640, 1);
  for (let x = 0; x < width; x++) {
    if (data[4 * x] === 250 && data[4 * x + 1] === 128 && data[4 * x + 2] === 114) return x;
  }
  return -1;
})()";

/// From now on the browser says that far too much waits in every channel, until `full` is no more.
const FULL: &str = "(() => {
  Object.assign(window, { full: true, looks: 0, sent: 0 });
  const channel = RTCDataChannel.prototype, send = channel.send;
  channel.send = function (...what) { window.sent++; return send.apply(this, what); };
  Object.defineProperty(channel, 'bufferedAmount', { get() { window.looks++; return window.full ? 1e9 : 0; } });
})()";

/// The native player.
struct Terminal {
    clock: Clock,
    room: GameRoom<TugOfWar>,
    code: String,
}

impl Terminal {
    /// In a room only those find who have the code.
    fn open(server: &BackgroundServer) -> Terminal {
        let clock = Clock::start();
        let config = RoomConfig {
            join: JoinTarget::CreatePrivate,
            ..RoomConfig::new("tug-of-war", 2).unwrap().version("1")
        };
        let outside = platform(&format!("ws://{}", server.address())).unwrap();
        let game = TugOfWar::default();
        let room = GameRoom::open(clock.now(), config, outside, game, random_seed().unwrap()).unwrap();
        Terminal { clock, room, code: String::new() }
    }

    /// Plays until something is so.
    fn until(&mut self, what: &str, pulls: bool, mut so: impl FnMut(&Terminal) -> bool) {
        let began = Instant::now();
        while !so(self) {
            assert!(began.elapsed() < PATIENCE, "{what}: {:?}, {:?}", self.room.game(), self.room.members());
            self.room.set_input(0, pulls);
            self.room.update(self.clock.now());
            while let Some(event) = self.room.poll_event() {
                if let RoomEvent::RoomJoined { code, .. } = event {
                    self.code = code.to_string();
                }
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Whoever plays with us.
    fn other(&self) -> Option<Member> {
        let is_in = |person: &Member| !person.is_local && !person.slots.is_empty();
        self.room.members().into_iter().find(is_in).filter(|_| self.room.phase() == Phase::Playing)
    }

    fn rope(&self) -> i32 {
        self.room.game().rope
    }
}

/// The rope as the page draws it.
fn rope(page: &Page) -> Option<i32> {
    let x = page.eval(KNOT).unwrap().as_i64().unwrap();
    (x >= 0).then(|| (x as i32 - 315) * 2)
}

#[test]
fn a_page_and_a_terminal_pull_one_rope() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (files, data) = (temporary.join("tug_of_war_page"), temporary.join("tug_of_war_data"));
    bundle_example(&workspace, "gaggle-browser", "tug_of_war_page", &files).unwrap();
    write_page("tug_of_war_page", &files).unwrap();
    let _ = std::fs::remove_dir_all(&data);
    let config = Config { listen: ([127, 0, 0, 1], 0).into(), data, files: Some(files), ..Config::default() };
    let server = BackgroundServer::start(config).unwrap();
    let mut terminal = Terminal::open(&server);
    terminal.until("a room", false, |terminal| !terminal.code.is_empty());

    // The address says which room, and that what the page sends takes 200 ms.
    let browser = Chromium::start().unwrap();
    let address = format!("http://{}/?room={}&latency=400", server.address(), terminal.code);
    let page = browser.open(&address).unwrap();
    terminal.until("the page comes", false, |terminal| {
        terminal.other().is_some_and(|other| other.link_stats.is_some_and(|link| link.rtt.is_some()))
    });
    let rtt = terminal.other().unwrap().link_stats.unwrap().rtt.unwrap();
    assert!(rtt >= Micros::from_millis(200), "{rtt:?}");

    // Each pulls, and both see it.
    assert_eq!((terminal.rope(), rope(&page)), (0, Some(0)));
    page.key("Space", " ", true).unwrap();
    terminal.until("the page pulls", false, |terminal| terminal.rope() > 60);
    page.key("Space", " ", false).unwrap();
    let mut seen = i32::MAX;
    terminal.until("the terminal pulls", true, |_| {
        let before = seen;
        seen = rope(&page).unwrap_or(before);
        seen < before && before < i32::MAX
    });
    // When nobody pulls it is the same rope, to a pixel.
    terminal.until("one rope", false, |terminal| rope(&page) == Some(terminal.rope() / 2 * 2));

    // What the browser would only queue the page does not hand to it; then it goes on.
    terminal.until("a direct way", false, |terminal| {
        terminal.other().is_some_and(|other| other.path == Some(gaggle::Path::Direct))
    });
    page.eval(FULL).unwrap();
    let began = Instant::now();
    terminal.until("the browser is full", false, |_| began.elapsed() > Duration::from_millis(500));
    let [looks, sent] = ["looks", "sent"].map(|name| page.eval(name).unwrap().as_u64().unwrap());
    assert!(looks > 0 && sent == 0, "it was sent {sent} times at {looks} looks at what waits");
    page.eval("void (full = false)").unwrap();
    terminal.until("it is not any more", false, |_| page.eval("sent").unwrap().as_u64() > Some(20));
}
