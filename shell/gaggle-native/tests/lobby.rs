//! The lobby client on real sockets with a real server.

#![allow(clippy::unwrap_used, reason = "a failed step should stop the test")]

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gaggle_kit::Micros;
use gaggle_lobby::client::{Backoff, ClientConfig, ClientEvent, SocketClient};
use gaggle_lobby::message::client::Find;
use gaggle_lobby::view::RawJson;
use gaggle_native::{Clock, LobbyWebSocket};
use gaggle_server::{BackgroundServer, Config};

const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn two_programs_meet_and_signal() {
    let place = Place::new("meet");
    let server = BackgroundServer::start(place.config(0)).unwrap();
    let mut nia = Person::at(&format!("http://{}", server.address()), 1);
    let mut ada = Person::at(&format!("ws://{}/lobby", server.address()), 2);
    nia.find();
    ada.find();
    let room = nia.lobby.client().room().unwrap().id;
    assert_eq!(ada.lobby.client().room().unwrap().id, room);
    let (_, me) = nia.lobby.client().identity().unwrap();
    // Some have the maximum length, and all arrive in order.
    let long = "x".repeat(16_000);
    for n in 0..60 {
        let text = if n % 20 == 0 { &long } else { "short" };
        ada.lobby.client_mut().send_signal(me, RawJson::new(&format!("[{n},\"{text}\"]")).unwrap());
    }
    for n in 0..60 {
        let data = nia.wait_for(
            |event| match event {
                ClientEvent::Signal { data, .. } => Some(data.as_str().to_string()),
                _ => None,
            },
            &mut [&mut ada],
        );
        assert!(data.starts_with(&format!("[{n},")), "{n}: {}", &data[..10]);
    }
}

#[test]
fn late_or_restarted_server_is_found_again() {
    let place = Place::new("late");
    // A port without a listener.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut nia = Person::at(&format!("ws://127.0.0.1:{port}"), 1);
    nia.wait_for(|event| matches!(event, ClientEvent::Disconnected { .. }).then_some(()), &mut []);
    let server = BackgroundServer::start(place.config(port)).unwrap();
    nia.find();
    let before = nia.lobby.client().room().unwrap().clone();
    // Stopped without notice.
    drop(server);
    nia.wait_for(|event| matches!(event, ClientEvent::Disconnected { .. }).then_some(()), &mut []);
    assert_eq!(nia.lobby.client().room(), Some(&before), "the room stays as last seen");
    let server = BackgroundServer::start(place.config(port)).unwrap();
    nia.wait_for(
        |event| matches!(event, ClientEvent::RoomJoined { returned: true, .. }).then_some(()),
        &mut [],
    );
    assert_eq!(nia.lobby.client().room().unwrap().id, before.id);
    drop(server);
}

#[test]
fn server_that_stays_silent_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let config = ClientConfig { response_timeout: Micros::from_millis(300), ..config(1) };
    let mut nia = Person::with(&format!("ws://{}", listener.local_addr().unwrap()), config);
    nia.wait_for(|event| matches!(event, ClientEvent::Disconnected { .. }).then_some(()), &mut []);
}

#[test]
fn only_trusted_certificates_are_accepted() {
    use rustls::crypto::ring::default_provider;
    let place = Place::new("tls");
    let made = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
    let (certificate, key) = (place.0.join("cert.pem"), place.0.join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let secure = Config { tls_certificate: Some(certificate), tls_key: Some(key), ..place.config(0) };
    let server = BackgroundServer::start(secure).unwrap();
    let url = format!("wss://localhost:{}", server.address().port());
    let mut stranger = Person::at(&url, 1);
    stranger.wait_for(|event| matches!(event, ClientEvent::Disconnected { .. }).then_some(()), &mut []);

    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let socket = LobbyWebSocket::with_tls(&url, Arc::new(tls)).unwrap();
    let mut nia = Person::on(socket, config(2));
    nia.find();
}

/// A client with its events.
struct Person {
    lobby: SocketClient<LobbyWebSocket>,
    clock: Clock,
}

impl Person {
    fn at(url: &str, number: u32) -> Person {
        Person::with(url, config(number))
    }

    fn with(url: &str, config: ClientConfig) -> Person {
        Person::on(LobbyWebSocket::new(url).unwrap(), config)
    }

    fn on(socket: LobbyWebSocket, config: ClientConfig) -> Person {
        let clock = Clock::start();
        Person { lobby: SocketClient::new(clock.now(), config, 1, socket), clock }
    }

    fn find(&mut self) {
        self.lobby.client_mut().find(Find { game: "gander".parse().unwrap(), ..Find::default() });
        self.wait_for(|event| matches!(event, ClientEvent::RoomJoined { .. }).then_some(()), &mut []);
    }

    /// Waits for an event while others are polled.
    fn wait_for<T>(&mut self, wanted: impl Fn(&ClientEvent) -> Option<T>, others: &mut [&mut Person]) -> T {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            while let Some(event) = self.lobby.poll(self.clock.now()) {
                if let Some(found) = wanted(&event) {
                    return found;
                }
            }
            for other in others.iter_mut() {
                while other.lobby.poll(other.clock.now()).is_some() {}
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        panic!("timed out");
    }
}

fn config(number: u32) -> ClientConfig {
    ClientConfig {
        guest_key: Some(format!("key-of-guest-number-{number}")),
        backoff: Backoff { initial: Micros::from_millis(50), max: Micros::from_millis(400) },
        ..ClientConfig::default()
    }
}

/// A temporary folder, removed when dropped.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("gaggle-native-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    fn config(&self, port: u16) -> Config {
        Config { listen: ([127, 0, 0, 1], port).into(), data: self.0.clone(), ..Config::default() }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
