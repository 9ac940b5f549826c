//! The README's game between a page and a native program: each sees the other's input, and the
//! parameters in the page's address take effect.

#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, reason = "a failed step should stop the test")]

#[path = "../../gaggle-native/examples/tug_of_war/game.rs"]
mod game;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use base64ct::{Base64UrlUnpadded, Encoding};
use gaggle::{JoinTarget, Member, Micros, Phase, RoomConfig, RoomEvent};
use gaggle_native::{Clock, GameRoom, platform, random_seed};
use gaggle_server::{BackgroundServer, Config};
use gaggle_web::bundle::{bundle_example, write_page};
use gaggle_web::chromium::{Chromium, Page};
use ring::signature::{Ed25519KeyPair, KeyPair};

use game::TugOfWar;

const PATIENCE: Duration = Duration::from_secs(120);

/// Left edge of the rope's middle as drawn; -1 before the first drawing.
const KNOT: &str = "(() => {
  const canvas = document.querySelector('canvas');
  if (!canvas) return -1;
  const { data, width } = canvas.getContext('2d').getImageData(0, 172, 640, 1);
  for (let x = 0; x < width; x++) {
    if (data[4 * x] === 250 && data[4 * x + 1] === 128 && data[4 * x + 2] === 114) return x;
  }
  return -1;
})()";

/// Makes the browser report a full buffer for every channel, until `full` is false.
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
    /// In a private room, joined by code only.
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

    /// Plays until the condition holds.
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

    /// The other player, if present.
    fn other(&self) -> Option<Member> {
        let is_in = |person: &Member| !person.is_local && !person.slots.is_empty();
        self.room.members().into_iter().find(is_in).filter(|_| self.room.phase() == Phase::Playing)
    }

    fn rope(&self) -> i32 {
        self.room.game().rope
    }
}

/// Position of the rope as the page draws it.
fn rope(page: &Page) -> Option<i32> {
    let x = page.eval(KNOT).unwrap().as_i64().unwrap();
    (x >= 0).then(|| (x as i32 - 315) * 2)
}

/// A server that serves the game's page from a folder of this name.
fn start_server(name: &str, config: Config) -> BackgroundServer {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (files, data) = (temporary.join(format!("{name}_page")), temporary.join(format!("{name}_data")));
    bundle_example(&workspace, "gaggle-browser", "tug_of_war_page", &files).unwrap();
    write_page("tug_of_war_page", &files).unwrap();
    let _ = std::fs::remove_dir_all(&data);
    let listen = ([127, 0, 0, 1], 0).into();
    BackgroundServer::start(Config { listen, data, files: Some(files), ..config }).unwrap()
}

/// A token issuer whose sign-in page returns at once. Its first token has expired.
struct Issuer {
    key: Ed25519KeyPair,
    address: SocketAddr,
    issued: AtomicU64,
}

impl Issuer {
    fn start() -> Arc<Issuer> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        let issuer = Arc::new(Issuer { key, address, issued: AtomicU64::new(0) });
        let serving = Arc::clone(&issuer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Browsers open connections early: one without a request must block no other.
                let issuer = Arc::clone(&serving);
                std::thread::spawn(move || issuer.answer(stream));
            }
        });
        issuer
    }

    fn answer(&self, mut stream: TcpStream) {
        let mut request = [0; 4_096];
        let count = stream.read(&mut request).unwrap_or(0);
        let request = String::from_utf8_lossy(&request[..count]).to_string();
        let Some((page, state)) = asked_for(&request) else { return };
        let nth = self.issued.fetch_add(1, Ordering::SeqCst);
        let token = self.token(if nth == 0 { 1_000_000_000 } else { 4_000_000_000 });
        let head = format!("HTTP/1.1 302 Found\r\nLocation: {page}#id_token={token}&state={state}\r\n");
        let _ = stream.write_all(format!("{head}Connection: close\r\nContent-Length: 0\r\n\r\n").as_bytes());
    }

    fn issued(&self) -> u64 {
        self.issued.load(Ordering::SeqCst)
    }

    fn url(&self) -> String {
        format!("http://{}/sign-in?to={{return}}&state={{state}}", self.address)
    }

    fn jwks(&self) -> String {
        let x = Base64UrlUnpadded::encode_string(self.key.public_key().as_ref());
        format!(r#"{{"keys":[{{"kid":"k","kty":"OKP","crv":"Ed25519","x":"{x}"}}]}}"#)
    }

    fn token(&self, expires: u64) -> String {
        let claims = format!(r#"{{"iss":"https://id.example","sub":"o","name":"Ottilie","exp":{expires}}}"#);
        let parts = [r#"{"alg":"EdDSA","kid":"k"}"#, &claims];
        let text = parts.map(|part| Base64UrlUnpadded::encode_string(part.as_bytes())).join(".");
        let signature = Base64UrlUnpadded::encode_string(self.key.sign(text.as_bytes()).as_ref());
        format!("{text}.{signature}")
    }
}

/// Return address and state of a sign-in request.
fn asked_for(request: &str) -> Option<(String, String)> {
    let query = request.strip_prefix("GET /sign-in?to=")?.split(' ').next()?;
    let (page, state) = query.split_once("&state=")?;
    let decode = |from: &str, to: &str, page: String| page.replace(from, to);
    let page = [("%3A", ":"), ("%2F", "/"), ("%3F", "?"), ("%3D", "="), ("%26", "&")]
        .into_iter()
        .fold(page.to_string(), |page, (from, to)| decode(from, to, page));
    Some((page, state.to_string()))
}

const BUTTON: &str = "document.querySelector('button')?.textContent ?? ''";

#[test]
fn page_signs_in_and_returns_with_name_of_token() {
    let issuer = Issuer::start();
    let keys = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sign_in_keys.json");
    std::fs::write(&keys, issuer.jwks()).unwrap();
    let server = start_server(
        "sign_in",
        Config {
            token_issuer: Some("https://id.example".to_string()),
            token_keys: Some(keys.to_str().unwrap().to_string()),
            sign_in: Some(issuer.url()),
            ..Config::default()
        },
    );
    let mut terminal = Terminal::open(&server);
    terminal.until("a room", false, |terminal| !terminal.code.is_empty());
    let browser = Chromium::start().unwrap();
    let address = format!("http://{}/?room={}", server.address(), terminal.code);
    let page = browser.open(&address).unwrap();
    let is =
        |page: &Page, words: &str| page.eval(BUTTON).ok().is_some_and(|text| text.as_str() == Some(words));
    let has = |terminal: &Terminal, name: &str| terminal.other().is_some_and(|other| other.name == name);
    terminal
        .until("a guest has joined", false, |terminal| terminal.other().is_some() && is(&page, "Sign in"));

    // An expired token is deleted, and the player is a guest.
    page.eval("document.querySelector('button').click()").unwrap();
    let stored = |page: &Page| page.eval("sessionStorage.getItem('gaggle.token')").unwrap_or_default();
    terminal.until("it is back and rejected", false, |_| {
        let is_back = page.eval("location.hash === '' && !sessionStorage.getItem('gaggle.sign-in')");
        issuer.issued() == 1
            && is_back.ok().and_then(|is| is.as_bool()) == Some(true)
            && stored(&page).is_null()
            && page.eval("!!document.querySelector('canvas')").ok().and_then(|is| is.as_bool()) == Some(true)
            && !is(&page, "")
    });
    assert!(!has(&terminal, "Ottilie"));
    assert!(is(&page, "Sign in"));

    page.eval("document.querySelector('button').click()").unwrap();
    terminal.until("the player has the name in the token", false, |terminal| has(terminal, "Ottilie"));
    assert_eq!(issuer.issued(), 2);
    let left = page.eval("location.href").unwrap();
    assert_eq!(left.as_str(), Some(address.as_str()), "no token stays in the address");

    // A link with a token the page has not requested signs no player in.
    page.eval("document.querySelector('button').click()").unwrap();
    terminal.until("signed out", false, |_| is(&page, "Sign in"));
    let forged = format!("{address}&x=1#id_token={}&state=guessed", issuer.token(4_000_000_000));
    page.navigate(&forged).unwrap();
    terminal.until("the forged page is open", false, |_| {
        let is_new = page.eval("location.search.endsWith('x=1') && location.hash === ''");
        is_new.ok().and_then(|is| is.as_bool()) == Some(true) && is(&page, "Sign in")
    });
    assert!(stored(&page).is_null());
}

#[test]
fn page_and_terminal_pull_one_rope() {
    let server = start_server("tug_of_war", Config::default());
    let mut terminal = Terminal::open(&server);
    terminal.until("a room", false, |terminal| !terminal.code.is_empty());

    // The address names the room and a latency of 200 ms.
    let browser = Chromium::start().unwrap();
    let address = format!("http://{}/?room={}&latency=400", server.address(), terminal.code);
    let page = browser.open(&address).unwrap();
    terminal.until("the page joins", false, |terminal| {
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
    // At rest both show the same position, to a pixel.
    terminal.until("equal positions", false, |terminal| rope(&page) == Some(terminal.rope() / 2 * 2));

    // While the browser's buffer is full, the page sends nothing; afterwards it continues.
    terminal.until("a direct path", false, |terminal| {
        terminal.other().is_some_and(|other| other.path == Some(gaggle::Path::Direct))
    });
    page.eval(FULL).unwrap();
    let began = Instant::now();
    terminal.until("the buffer is full", false, |_| began.elapsed() > Duration::from_millis(500));
    let [looks, sent] = ["looks", "sent"].map(|name| page.eval(name).unwrap().as_u64().unwrap());
    assert!(looks > 0 && sent == 0, "{sent} sends at {looks} checks of the buffer");
    page.eval("void (full = false)").unwrap();
    terminal.until("the buffer is free again", false, |_| page.eval("sent").unwrap().as_u64() > Some(20));
}
