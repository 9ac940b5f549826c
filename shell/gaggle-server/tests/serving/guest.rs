//! Test client: a WebSocket that sends texts and waits for messages.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use gaggle_lobby::message::server::{JoinedRoom, Welcome};
use gaggle_lobby::{Envelope, ServerMessage};
use gaggle_server::{Config, Server};
use tungstenite::{Error, Message, WebSocket};

use crate::place::Place;

/// Upper bound of every wait in these tests.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// A public room whose host may remove members, as long as `find` brings none.
pub(crate) const CREATE: &str = r#"{"type":"create","game":"gander","mode":"team","drop_in":true}"#;
pub(crate) const FIND: &str = r#"{"type":"find","game":"gander","mode":"team"}"#;

/// A server in this process on a port of its own.
pub(crate) struct TestServer {
    pub(crate) server: Option<Server>,
    pub(crate) address: SocketAddr,
    runtime: Option<tokio::runtime::Runtime>,
    _place: Place,
}

impl TestServer {
    pub(crate) fn start() -> TestServer {
        TestServer::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> TestServer {
        TestServer::with_extensions(change, gaggle_server::Extensions::default())
    }

    pub(crate) fn with_extensions(
        change: impl FnOnce(&mut Config),
        extensions: gaggle_server::Extensions,
    ) -> TestServer {
        let place = Place::new();
        let mut config = Config {
            listen: ([127, 0, 0, 1], 0).into(),
            data: place.path().into(),
            rate_limits: false,
            local_metrics: true,
            // All clients of a test are in one network.
            results: gaggle_lobby::view::Verdict::Claimed,
            ..Config::default()
        };
        change(&mut config);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let server = runtime.block_on(Server::start_with(config, extensions)).unwrap();
        let address = server.address();
        TestServer { server: Some(server), address, runtime: Some(runtime), _place: place }
    }

    pub(crate) fn guest(&self) -> Guest {
        Guest::connect(self.address)
    }

    pub(crate) fn local_slot(&self, number: u32) -> Guest {
        let mut guest = self.guest();
        guest.hello(number);
        guest.seat(FIND);
        guest
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}

/// Client with a WebSocket.
pub(crate) struct Guest<S: Read + Write = TcpStream> {
    pub(crate) socket: WebSocket<S>,
    /// Own peer id, once received.
    pub(crate) me: Option<gaggle_kit::PeerId>,
}

impl Guest {
    pub(crate) fn connect(address: SocketAddr) -> Guest {
        Guest::try_connect(address).unwrap_or_else(|error| panic!("{address}: {error}"))
    }

    pub(crate) fn try_connect(address: SocketAddr) -> Result<Guest, String> {
        let stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        let (socket, _) = tungstenite::client(format!("ws://{address}/lobby"), stream)
            .map_err(|error| error.to_string())?;
        Ok(Guest { socket, me: None })
    }
}

impl<S: Read + Write> Guest<S> {
    pub(crate) fn say(&mut self, text: &str) {
        self.socket.send(Message::text(text)).unwrap();
    }

    /// Next message received.
    pub(crate) fn hear(&mut self) -> ServerMessage {
        self.try_hear().unwrap_or_else(|error| panic!("no message arrived: {error}"))
    }

    pub(crate) fn try_hear(&mut self) -> Result<ServerMessage, Error> {
        loop {
            if let Message::Text(text) = self.socket.read()? {
                return Ok(Envelope::<ServerMessage>::decode(&text).unwrap().message);
            }
        }
    }

    /// Next message that matches; others are skipped.
    pub(crate) fn hear_until<T>(&mut self, mut wanted: impl FnMut(&ServerMessage) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            let message = self.hear();
            if let Some(found) = wanted(&message) {
                return found;
            }
            assert!(start.elapsed() < PATIENCE, "last message: {message:?}");
        }
    }

    pub(crate) fn hello(&mut self, number: u32) -> Welcome {
        self.say(&hello(number));
        let welcome = self.hear_until(|message| match message {
            ServerMessage::Welcome(welcome) => Some(welcome.clone()),
            ServerMessage::Closing(bye) => panic!("{bye:?}"),
            _ => None,
        });
        self.me = Some(welcome.peer);
        welcome
    }

    /// Sends a request for a room and waits for `joined`.
    pub(crate) fn seat(&mut self, text: &str) -> JoinedRoom {
        self.say(text);
        self.hear_until(|message| match message {
            ServerMessage::JoinedRoom(seated) => Some(seated.clone()),
            ServerMessage::Refused(refused) => panic!("{refused:?}"),
            _ => None,
        })
    }

    /// Last message before the server closed the connection.
    pub(crate) fn hear_bye(&mut self) -> gaggle_lobby::RejectionCode {
        let code = self.hear_until(|message| match message {
            ServerMessage::Closing(bye) => Some(bye.code),
            _ => None,
        });
        while let Ok(message) = self.socket.read() {
            assert!(matches!(message, Message::Close(_)), "{message:?}");
        }
        code
    }
}

pub(crate) fn hello(number: u32) -> String {
    format!(r#"{{"type":"hello","key":"key-of-guest-number-{number}","name":"Guest {number}"}}"#)
}
