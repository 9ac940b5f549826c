//! Plain HTTP responses of the server.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gaggle_server::Extensions;
use gaggle_server::assets::{Accepts, Asset, Assets, Content};
use gaggle_server::config::Secret;

use crate::guest::{PATIENCE, TestServer};

#[test]
fn health_readiness_and_metrics_are_served() {
    let server = TestServer::start();
    let _player = server.local_slot(1);
    assert_eq!(get(server.address, "/health", "").0, 200);
    assert_eq!(get(server.address, "/ready", ""), (200, "ready".into()));
    let (status, numbers) = get(server.address, "/metrics", "");
    assert_eq!(status, 200);
    for line in [
        "gaggle_connections 1\n",
        "gaggle_rooms 1\n",
        "gaggle_seats_given_total 1\n",
        "gaggle_rooms_created_total 1\n",
        "gaggle_matches_stored_total 0\n",
        "gaggle_matches_not_stored_total 0\n",
        "gaggle_http_limited_total{limit=\"http_requests\"} 0\n",
        "gaggle_lobby_limited_total{limit=\"create_per_address\"} 0\n",
        "# TYPE gaggle_message_bytes_total counter\n",
        "# TYPE gaggle_message_handling_seconds histogram\n",
    ] {
        assert!(numbers.contains(line), "{line} is not in\n{numbers}");
    }
}

#[test]
fn metrics_are_hidden_from_clients_of_proxies() {
    let server = TestServer::with(|config| config.operator_token = Some(Secret("right".into())));
    let forwarded = "X-Forwarded-For: 203.0.113.9\r\n";
    assert_eq!(get(server.address, "/metrics", forwarded).0, 401);
    let with_token = format!("{forwarded}Authorization: Bearer right\r\n");
    assert_eq!(get(server.address, "/metrics", &with_token).0, 200);
    // A local proxy that sends no forwarding header.
    let server = TestServer::with(|config| {
        config.operator_token = Some(Secret("right".into()));
        config.proxies.0 = vec!["127.0.0.1".parse().unwrap()];
    });
    assert_eq!(get(server.address, "/metrics", "").0, 401);
    assert_eq!(get(server.address, "/metrics", "Authorization: Bearer right\r\n").0, 200);
}

#[test]
fn metrics_need_token_unless_setting_says_otherwise() {
    // A local proxy that is not in `proxies` and sends no header looks like a local program.
    let server = TestServer::with(|config| config.local_metrics = false);
    assert_eq!(get(server.address, "/metrics", "").0, 401);
    let server = TestServer::start();
    assert_eq!(get(server.address, "/metrics", "").0, 200);
    for hint in
        ["Forwarded: for=192.0.2.1", "Via: 1.1 proxy", "X-Real-IP: 192.0.2.1", "X-Forwarded-Proto: https"]
    {
        assert_eq!(get(server.address, "/metrics", &format!("{hint}\r\n")).0, 401, "{hint}");
    }
    // A page whose own name resolves to this server.
    let rebound = "GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert_eq!(ask(server.address, rebound).status, 401);
}

#[test]
fn operator_token_is_guessed_few_times_only() {
    let server = TestServer::with(|config| {
        config.operator_token = Some(Secret("right".into()));
        config.proxies.0 = vec!["127.0.0.1".parse().unwrap()];
    });
    let show = |client: &str, token: &str| {
        let headers = format!("X-Forwarded-For: {client}\r\nAuthorization: Bearer {token}\r\n");
        get(server.address, "/operator/state", &headers).0
    };
    assert_eq!(show("192.0.2.1", "right"), 200);
    let guessed: Vec<u16> = (0..20).map(|nth| show("192.0.2.1", &format!("guess-{nth}"))).collect();
    assert_eq!(guessed[..5], [401; 5]);
    assert_eq!(guessed[5..], [429; 15]);
    assert_eq!(show("192.0.2.1", "right"), 429, "it could be the next guess");
    assert_eq!(show("192.0.2.2", "right"), 200, "others are not delayed");
    let headers = "X-Forwarded-For: 192.0.2.2\r\nAuthorization: Bearer right\r\n";
    let (_, numbers) = get(server.address, "/metrics", headers);
    assert!(numbers.contains("gaggle_operator_guesses_total 5\n"), "{numbers}");
    assert!(numbers.contains("gaggle_http_limited_total{limit=\"operator_guesses\"} 16\n"), "{numbers}");
}

#[test]
fn requests_of_one_address_are_rate_limited() {
    let server = TestServer::with(|config| {
        config.rate_limits = true;
        config.requests_per_address = 20;
    });
    // Eight connections that each request as fast as they are answered.
    let began = Instant::now();
    let answered: usize = std::thread::scope(|scope| {
        let ask = || {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            let (mut answered, mut answer) = (0, [0; 4_096]);
            while began.elapsed() < Duration::from_secs(3) {
                if stream.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n").is_err() {
                    break;
                }
                match stream.read(&mut answer) {
                    Ok(count @ 1..) if answer[..count].starts_with(b"HTTP/1.1 200") => answered += 1,
                    _ => break,
                }
            }
            answered
        };
        let asking: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|asking| asking.join().unwrap()).sum()
    });
    // 200 at once, then 20 a second; those waiting at the end are answered then.
    let most = 200 + 20 * (began.elapsed().as_secs() as usize + 1) + 8;
    assert!((200..=most).contains(&answered), "{answered} answers, not more than {most}");
}

#[test]
fn connection_ends_after_its_thousandth_request() {
    let server = TestServer::start();
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n".repeat(999)).unwrap();
    stream.write_all(b"GET /ready HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 1_000);
    assert_eq!(answers.matches("connection: close").count(), 1);
}

#[test]
fn pages_have_policy_for_scripts_and_frames() {
    let place = crate::place::Place::new();
    let page = "<!doctype html><script type=module>start()</script>";
    std::fs::write(place.path().join("index.html"), page).unwrap();
    std::fs::write(place.path().join("a.js"), "start()").unwrap();
    let server = TestServer::with(|config| config.files = Some(place.path().into()));
    let get = |path: &str| {
        ask(server.address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
    };
    let answer = get("/");
    let policy = answer.header("content-security-policy").unwrap();
    let hash = gaggle_server::inline_scripts(page.as_bytes());
    assert!(policy.contains(&format!("script-src 'self' 'wasm-unsafe-eval' '{}';", hash[0])), "{policy}");
    assert_eq!(answer.header("x-frame-options"), Some("SAMEORIGIN"));
    for path in ["/", "/a.js", "/health", "/nothing"] {
        assert_eq!(get(path).header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(get(path).header("strict-transport-security"), None, "it is plain HTTP");
    }
    let own = TestServer::with(|config| {
        config.files = Some(place.path().into());
        config.page_policy = "default-src 'none'".into();
    });
    let answer = ask(own.address, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_eq!(answer.header("content-security-policy"), Some("default-src 'none'"));
}

#[test]
fn operator_page_requires_token() {
    let without = TestServer::start();
    assert_eq!(get(without.address, "/operator", "").0, 404);
    assert_eq!(get(without.address, "/operator/state", "Authorization: Bearer \r\n").0, 401);
    let server = TestServer::with(|config| config.operator_token = Some(Secret("right".into())));
    let mut player = server.guest();
    player.say(r#"{"type":"hello","name":"<b>Nia</b>"}"#);
    player.seat(r#"{"type":"find","game":"gander","mode":"team","build":"1.2-3f2a"}"#);
    player.say(r#"{"type":"kick","peer":"00000000000000000000000000000000"}"#);
    player.hear_until(|message| matches!(message, gaggle_lobby::ServerMessage::Refused(_)).then_some(()));
    let (status, page) = get(server.address, "/operator", "");
    assert!(status == 200 && page.contains("operator token"));
    assert!(page.contains("room.version") && !page.contains("room.build"), "no fingerprints are shown");
    for wrong in [
        "",
        "Authorization: Bearer wrong\r\n",
        "Authorization: Basic right\r\n",
        "Authorization: Bearer right2\r\n",
    ] {
        assert_eq!(get(server.address, "/operator/state", wrong).0, 401, "{wrong}");
    }
    let (status, state) = get(server.address, "/operator/state", "Authorization: Bearer right\r\n");
    assert_eq!(status, 200);
    let state: serde_json::Value = serde_json::from_str(&state).unwrap();
    assert_eq!((&state["now"]["connections"], &state["now"]["rooms"]), (&1.into(), &1.into()));
    assert_eq!(state["now"]["relay members"], 0, "the relay is part of it");
    assert_eq!(state["server"], gaggle_server::NAME);
    for (name, count) in
        [("messages", 3), ("welcomed", 1), ("seated", 1), ("rooms created", 1), ("returned", 0)]
    {
        assert_eq!(state["counts"][name], count, "{name}: {state}");
    }
    for name in ["signals", "matches stored", "matches not stored"] {
        assert_eq!(state["counts"][name], 0, "{name}: {state}");
    }
    let refused = state["refused"].as_object().unwrap();
    assert_eq!(refused.values().filter_map(serde_json::Value::as_u64).sum::<u64>(), 1, "{state}");
    let room = &state["list"][0];
    assert_eq!([&room["game"], &room["mode"], &room["version"]], ["gander", "team", "1.2"]);
    assert_eq!(room["build"], "1.2-3f2a");
    assert_eq!((&room["seats"], &room["status"]), (&4.into(), &"playing".into()));
    assert_eq!(room["members"][0]["name"], "<b>Nia</b>");
    assert_eq!((&room["members"][0]["slot"], &room["members"][0]["host"]), (&0.into(), &true.into()));
}

#[test]
fn non_websocket_request_gets_explanation() {
    let server = TestServer::start();
    let (status, text) = get(server.address, "/lobby", "");
    assert_eq!(
        (status, text.as_str()),
        (
            426,
            "this address is for WebSockets: connect with ws:// or \
     wss://"
        )
    );
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
    assert_eq!(get(server.address, "/lobby", &format!("{upgrade}Sec-WebSocket-Version: 8\r\n")).0, 400);
    let no_key = format!("{upgrade}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n");
    assert_eq!(get(server.address, "/lobby", &no_key).0, 400);
    assert_eq!(get(server.address, "/nothing", "").0, 404);
    let post = "POST /lobby HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    assert_eq!(ask(server.address, post).status, 405);
}

#[test]
fn pages_of_other_origins_are_rejected_if_configured() {
    let server = TestServer::with(|config| config.origins.0 = vec!["https://play.example".into()]);
    let from = |origin: &str| {
        let headers = format!(
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{origin}"
        );
        status(server.address, &format!("GET /lobby HTTP/1.1\r\nHost: x\r\n{headers}\r\n"))
    };
    assert_eq!(from("Origin: https://evil.example\r\n"), 403);
    assert_eq!(from("Origin: https://play.example\r\n"), 101);
    assert_eq!(from(""), 101);
}

#[test]
fn files_are_served_with_cache_headers() {
    #[derive(Debug)]
    struct OnePage;
    impl Assets for OnePage {
        fn get(&self, path: &str, accepts: Accepts) -> Option<Asset> {
            let bytes: &'static [u8] = if accepts.gzip { b"small" } else { b"large" };
            (path == "/").then(|| Asset {
                content: Content::Bytes(bytes::Bytes::from_static(bytes)),
                content_type: "text/html; charset=utf-8",
                encoding: accepts.gzip.then_some("gzip"),
                etag: Some("v1".into()),
                scripts: Arc::default(),
            })
        }
    }
    let extensions = Extensions { assets: Arc::new(OnePage), ..Extensions::default() };
    let server = TestServer::with_extensions(|_| {}, extensions);
    assert_eq!(get(server.address, "/", ""), (200, "large".into()));
    assert_eq!(get(server.address, "/", "Accept-Encoding: br, gzip\r\n"), (200, "small".into()));
    assert_eq!(get(server.address, "/", "If-None-Match: \"v1\"\r\n"), (304, String::new()));
    assert_eq!(get(server.address, "/", "If-None-Match: \"v0\"\r\n").0, 200);
    assert_eq!(get(server.address, "/other", "").0, 404);
}

pub(crate) fn get(address: SocketAddr, path: &str, headers: &str) -> (u16, String) {
    let answer = ask(
        address,
        &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"),
    );
    (answer.status, answer.body)
}

/// A parsed response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let is_it = |line: &&str| line.split(':').next().is_some_and(|word| word.eq_ignore_ascii_case(name));
        self.head.lines().find(is_it).and_then(|line| line.split_once(": ")).map(|(_, value)| value)
    }
}

pub(crate) fn ask(address: SocketAddr, request: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.into(), body: body.into() }
}

/// Status line only: the connection stays open after it.
fn status(address: SocketAddr, request: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut start = [0; 12];
    stream.read_exact(&mut start).unwrap();
    str::from_utf8(&start[9..]).unwrap().parse().unwrap()
}
