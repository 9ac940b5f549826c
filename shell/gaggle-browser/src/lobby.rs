//! WebSocket to a lobby, for the client of `gaggle-lobby`.
//!
//! Used by `platform.rs`. Absent: lobby messages.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use gaggle_lobby::client::{LobbySocket, SocketEvent};
use gaggle_lobby::message::MESSAGE_BYTES_MAX;
use wasm_bindgen::prelude::*;
use web_sys::{MessageEvent, WebSocket};

use crate::arrival::arrived;

/// Texts queued for polling. A page suspended for longer than this should reconnect.
const WAITING_MAX: usize = 1_024;

type Inbox = Rc<RefCell<VecDeque<SocketEvent>>>;

/// WebSocket to a lobby, for [`SocketClient`](gaggle_lobby::client::SocketClient), as natively.
#[derive(Debug)]
pub struct LobbyWebSocket {
    url: String,
    open: Option<Open>,
    inbox: Inbox,
}

/// One connection to the lobby.
#[derive(Debug)]
struct Open {
    socket: WebSocket,
    /// Kept alive as long as the browser may call them.
    _handlers: [Closure<dyn FnMut()>; 2],
    _message: Closure<dyn FnMut(MessageEvent)>,
}

impl LobbyWebSocket {
    /// A socket to the lobby at this address, such as `wss://play.example/lobby`.
    pub fn new(url: &str) -> LobbyWebSocket {
        LobbyWebSocket { url: url.into(), open: None, inbox: Inbox::default() }
    }

    /// A socket to the lobby of the page's own server.
    pub fn here() -> LobbyWebSocket {
        LobbyWebSocket::new(&format!("{}/lobby", own_server()))
    }
}

/// Origin of the page's own server, such as `wss://play.example`.
pub(crate) fn own_server() -> String {
    let location = web_sys::window().map(|window| window.location());
    let part = |read: fn(&web_sys::Location) -> Result<String, JsValue>| {
        location.as_ref().and_then(|location| read(location).ok()).unwrap_or_default()
    };
    let scheme = if part(web_sys::Location::protocol) == "https:" { "wss" } else { "ws" };
    format!("{scheme}://{}", part(web_sys::Location::host))
}

impl LobbySocket for LobbyWebSocket {
    fn connect(&mut self) {
        self.disconnect();
        // A new inbox: late reports of an earlier connection are ignored.
        self.inbox = Inbox::default();
        match Open::new(&self.url, &self.inbox) {
            Ok(open) => self.open = Some(open),
            Err(_) => self.inbox.borrow_mut().push_back(SocketEvent::Closed),
        }
    }

    fn send(&mut self, text: &str) {
        if let Some(open) = &self.open
            && open.socket.send_with_str(text).is_err()
        {
            self.inbox.borrow_mut().push_back(SocketEvent::Closed);
        }
    }

    fn disconnect(&mut self) {
        self.open = None;
        self.inbox.borrow_mut().clear();
    }

    fn poll(&mut self) -> Option<SocketEvent> {
        let event = self.inbox.borrow_mut().pop_front();
        if event == Some(SocketEvent::Closed) {
            self.disconnect();
        }
        event
    }
}

impl Open {
    fn new(url: &str, inbox: &Inbox) -> Result<Open, JsValue> {
        let socket = WebSocket::new(url)?;
        let on = Rc::clone(inbox);
        let opened = Closure::<dyn FnMut()>::new(move || {
            on.borrow_mut().push_back(SocketEvent::Opened);
            arrived();
        });
        socket.set_onopen(Some(opened.as_ref().unchecked_ref()));

        let on = Rc::clone(inbox);
        let closed = Closure::<dyn FnMut()>::new(move || on.borrow_mut().push_back(SocketEvent::Closed));
        socket.set_onclose(Some(closed.as_ref().unchecked_ref()));

        let on = Rc::clone(inbox);
        let message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            arrived();
            let mut inbox = on.borrow_mut();
            let text = event.data().as_string().filter(|text| text.len() <= MESSAGE_BYTES_MAX);
            match text {
                Some(text) if inbox.len() < WAITING_MAX => inbox.push_back(SocketEvent::Text(text)),
                // A gap in the messages would be worse than reconnecting.
                Some(_) => inbox.push_back(SocketEvent::Closed),
                None => {}
            }
        });
        socket.set_onmessage(Some(message.as_ref().unchecked_ref()));
        Ok(Open { socket, _handlers: [opened, closed], _message: message })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.socket.set_onopen(None);
        self.socket.set_onclose(None);
        self.socket.set_onmessage(None);
        let _ = self.socket.close();
    }
}
