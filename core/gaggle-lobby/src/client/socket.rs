//! A client with its socket.
//!
//! Native programs and pages implement [`LobbySocket`]. Absent: content of messages.

use gaggle_kit::Micros;

use super::{Client, ClientConfig, ClientEvent, ClientOutput};

/// WebSocket to a lobby server. No method blocks.
pub trait LobbySocket {
    /// Starts a new connection and drops the current one without further events of it.
    fn connect(&mut self);

    /// Sends a text. On failure the socket reports [`SocketEvent::Closed`].
    fn send(&mut self, text: &str);

    /// Closes the connection. No further events of it follow.
    fn disconnect(&mut self);

    /// Next event of the socket.
    fn poll(&mut self) -> Option<SocketEvent>;
}

/// Event of a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SocketEvent {
    /// The connection is open.
    Opened,
    /// A received text message.
    Text(String),
    /// The connection is closed or could not be opened.
    Closed,
}

/// A lobby client with its socket. Make requests through [`SocketClient::client`], then poll; once
/// per displayed frame is enough.
///
/// ```
/// # use gaggle_kit::Micros;
/// # use gaggle_lobby::client::{ClientConfig, ClientEvent, SocketClient, LobbySocket, SocketEvent};
/// # use gaggle_lobby::message::client::Find;
/// # struct NoSocket;
/// # impl LobbySocket for NoSocket {
/// #     fn connect(&mut self) {}
/// #     fn send(&mut self, _text: &str) {}
/// #     fn disconnect(&mut self) {}
/// #     fn poll(&mut self) -> Option<SocketEvent> { None }
/// # }
/// # let (now, seed, socket) = (Micros::ZERO, 7, NoSocket);
/// let mut lobby = SocketClient::new(now, ClientConfig::default(), seed, socket);
/// lobby.client_mut().find(Find { game: "gander".parse()?, ..Find::default() });
/// // Every frame:
/// while let Some(event) = lobby.poll(now) {
///     if let ClientEvent::RoomJoined { .. } = event {
///         println!("room {}", lobby.client().room().expect("joined").code);
///     }
/// }
/// # Ok::<(), gaggle_lobby::ParseLabelError>(())
/// ```
#[derive(Debug)]
pub struct SocketClient<S> {
    client: Client,
    socket: S,
}

impl<S: LobbySocket> SocketClient<S> {
    /// A client that connects with the first poll. The seed spreads its reconnects from those of
    /// other clients.
    pub fn new(now: Micros, config: ClientConfig, seed: u64, socket: S) -> SocketClient<S> {
        SocketClient { client: Client::new(now, config, seed), socket }
    }

    /// The state machine: what it knows.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The state machine: requests go in here.
    pub fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Moves messages between client and socket and returns the next event for the game. Call until
    /// it returns `None`.
    pub fn poll(&mut self, now: Micros) -> Option<ClientEvent> {
        loop {
            if self.client.poll_timeout().is_some_and(|at| at <= now) {
                self.client.handle_timeout(now);
            }
            while let Some(output) = self.client.poll_output() {
                match output {
                    ClientOutput::Connect => self.socket.connect(),
                    ClientOutput::Send(text) => self.socket.send(&text),
                    ClientOutput::Disconnect => self.socket.disconnect(),
                }
            }
            if let Some(event) = self.client.poll_event() {
                return Some(event);
            }
            match self.socket.poll()? {
                SocketEvent::Opened => self.client.handle_open(now),
                SocketEvent::Text(text) => self.client.handle_text(now, &text),
                SocketEvent::Closed => self.client.handle_closed(now),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::rc::Rc;

    use super::*;
    use crate::message::client::Find;

    #[derive(Debug, Default)]
    struct Wire {
        done: Vec<String>,
        events: VecDeque<SocketEvent>,
    }

    #[derive(Debug, Default, Clone)]
    struct Script(Rc<RefCell<Wire>>);

    impl LobbySocket for Script {
        fn connect(&mut self) {
            self.0.borrow_mut().done.push("connect".into());
        }

        fn send(&mut self, text: &str) {
            self.0.borrow_mut().done.push(text.into());
        }

        fn disconnect(&mut self) {
            self.0.borrow_mut().done.push("disconnect".into());
        }

        fn poll(&mut self) -> Option<SocketEvent> {
            self.0.borrow_mut().events.pop_front()
        }
    }

    #[test]
    fn requests_are_sent_and_lost_connection_returns() {
        let script = Script::default();
        let config = ClientConfig { guest_key: Some("0123456789abcdef".into()), ..ClientConfig::default() };
        let mut lobby = SocketClient::new(Micros::ZERO, config, 1, script.clone());
        lobby.client_mut().find(Find { game: "gander".parse().unwrap(), ..Find::default() });
        assert_eq!(lobby.poll(Micros::ZERO), None);
        script.0.borrow_mut().events.push_back(SocketEvent::Opened);
        assert_eq!(lobby.poll(Micros::ZERO), None);
        let expected = [
            "connect",
            r#"{"type":"hello","key":"0123456789abcdef"}"#,
            r#"{"type":"find","id":1,"game":"gander"}"#,
        ];
        assert_eq!(script.0.borrow().done, expected);
        script.0.borrow_mut().events.push_back(SocketEvent::Closed);
        let Some(ClientEvent::Disconnected { retry_at }) = lobby.poll(Micros::ZERO) else {
            panic!("no event")
        };
        assert_eq!(lobby.poll(retry_at), None);
        assert_eq!(script.0.borrow().done.last().unwrap(), "connect");
        // The server is silent: the client drops the connection and announces the next attempt.
        let overdue = lobby.client.poll_timeout().unwrap();
        assert!(matches!(lobby.poll(overdue), Some(ClientEvent::Disconnected { .. })));
        assert_eq!(script.0.borrow().done.last().unwrap(), "disconnect");
    }
}
