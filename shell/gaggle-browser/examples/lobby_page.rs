//! A page that searches for a room at its server and shows what it knows of it.
//!
//! `shell/gaggle-browser/tests/lobby_in_chromium.rs` opens it. On other targets it does nothing.

#![allow(missing_docs, reason = "an example's glue exports functions of its own")]

#[cfg(target_arch = "wasm32")]
pub mod page {
    use std::cell::RefCell;

    use gaggle_browser::{LobbyWebSocket, now};
    use gaggle_lobby::client::{ClientConfig, ClientEvent, SocketClient};
    use gaggle_lobby::message::client::Find;
    use gaggle_lobby::view::RawJson;
    use wasm_bindgen::prelude::*;

    thread_local! {
        static LOBBY: RefCell<Option<SocketClient<LobbyWebSocket>>> = const { RefCell::new(None) };
    }

    /// Searches for a room as the guest with this key.
    #[wasm_bindgen]
    pub fn find(key: String) {
        let config = ClientConfig { guest_key: Some(key), ..ClientConfig::default() };
        let mut lobby = SocketClient::new(now(), config, 1, LobbyWebSocket::here());
        lobby.client_mut().find(Find { game: "gander".parse().expect("a label"), ..Find::default() });
        LOBBY.set(Some(lobby));
    }

    /// Events since the last call, one per line.
    #[wasm_bindgen]
    pub fn poll() -> String {
        let mut lines = String::new();
        LOBBY.with_borrow_mut(|lobby| {
            let Some(lobby) = lobby else { return };
            while let Some(event) = lobby.poll(now()) {
                lines += &match event {
                    ClientEvent::Signal { data, .. } => format!("signal {}\n", data.as_str()),
                    ClientEvent::RoomJoined { returned, .. } => format!("seated returned={returned}\n"),
                    ClientEvent::Disconnected { .. } => "offline\n".to_string(),
                    _ => String::new(),
                };
            }
        });
        lines
    }

    /// Number of members in the room.
    #[wasm_bindgen]
    pub fn members() -> u32 {
        LOBBY.with_borrow(|lobby| {
            let room = lobby.as_ref().and_then(|lobby| lobby.client().room());
            room.map_or(0, |room| room.members.len() as u32)
        })
    }

    /// Sends a number to all other members of the room.
    #[wasm_bindgen]
    pub fn greet(number: u32) {
        LOBBY.with_borrow_mut(|lobby| {
            let Some(client) = lobby.as_mut().map(SocketClient::client_mut) else { return };
            let me = client.identity().map(|(_, peer)| peer);
            let members = client.room().map(|room| room.members.clone()).unwrap_or_default();
            for member in members.iter().filter(|member| Some(member.peer) != me) {
                client.send_signal(member.peer, RawJson::new(&number.to_string()).expect("a number"));
            }
        });
    }
}
