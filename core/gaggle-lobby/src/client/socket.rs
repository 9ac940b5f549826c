//! A client with a socket: the loop around the machine, the same for every kind of socket.

use gaggle_kit::Micros;

use super::{Client, ClientConfig, ClientEvent, ClientOutput};

/// A WebSocket to a lobby, as the client needs it. It never waits.
pub trait LobbySocket {
    /// Begins to connect and gives up what was there before: nothing of that is told any more.
    fn connect(&mut self);

    /// Sends a text. If that cannot be done the connection is told to be closed.
    fn send(&mut self, text: &str);

    /// Ends the connection. Nothing of it is told any more.
    fn disconnect(&mut self);

    /// What happened.
    fn poll(&mut self) -> Option<SocketEvent>;
}

/// What happens to a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SocketEvent {
    /// It is open.
    Opened,
    /// The server said something.
    Text(String),
    /// It is closed, or could not be opened.
    Closed,
}

/// A lobby client with its socket. Ask through [`SocketClient::client`], then poll it: once a frame
/// is often enough.
///
/// ```
/// # use gaggle_kit::Micros;
/// # use gaggle_lobby::client::{ClientConfig, ClientEvent, SocketClient, LobbySocket, SocketEvent};
/// # use gaggle_lobby::message::client::Find;
/// # struct Nowhere;
/// # impl LobbySocket for Nowhere {
/// #     fn connect(&mut self) {}
/// #     fn send(&mut self, _text: &str) {}
/// #     fn disconnect(&mut self) {}
/// #     fn poll(&mut self) -> Option<SocketEvent> { None }
/// # }
/// # let (now, seed, socket) = (Micros::ZERO, 7, Nowhere);
/// let mut lobby = SocketClient::new(now, ClientConfig::default(), seed, socket);
/// lobby.client.find(Find { game: "gander".parse()?, ..Find::default() });
/// // Every frame:
/// while let Some(event) = lobby.poll(now) {
///     if let ClientEvent::RoomJoined { .. } = event {
///         println!("room {}", lobby.client.room().expect("seated in one").code);
///     }
/// }
/// # Ok::<(), gaggle_lobby::ParseLabelError>(())
/// ```
#[derive(Debug)]
pub struct SocketClient<S> {
    /// The machine: what one asks for, and what is known.
    pub client: Client,
    socket: S,
}

impl<S: LobbySocket> SocketClient<S> {
    /// A client that connects with the first poll. The seed spreads its reconnects apart from those
    /// of others.
    pub fn new(now: Micros, config: ClientConfig, seed: u64, socket: S) -> SocketClient<S> {
        SocketClient { client: Client::new(now, config, seed), socket }
    }

    /// Passes on what goes in and out, and gives back what the game should know. Call it until
    /// there is nothing more.
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
    fn what_is_asked_goes_out_and_a_lost_connection_comes_back_by_itself() {
        let script = Script::default();
        let config = ClientConfig { guest_key: Some("0123456789abcdef".into()), ..ClientConfig::default() };
        let mut lobby = SocketClient::new(Micros::ZERO, config, 1, script.clone());
        lobby.client.find(Find { game: "gander".parse().unwrap(), ..Find::default() });
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
            panic!("not told")
        };
        assert_eq!(lobby.poll(retry_at), None);
        assert_eq!(script.0.borrow().done.last().unwrap(), "connect");
        // Nobody answers: the connection is given up, and the next attempt is announced.
        let overdue = lobby.client.poll_timeout().unwrap();
        assert!(matches!(lobby.poll(overdue), Some(ClientEvent::Disconnected { .. })));
        assert_eq!(script.0.borrow().done.last().unwrap(), "disconnect");
    }
}
