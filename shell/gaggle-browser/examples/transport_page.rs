//! A page with links to the members of a room and nothing else: the size of the transport, and a
//! minimal custom page.
//!
//! `cargo xtask bench links` measures its size. On other targets it does nothing.

#![allow(missing_docs, reason = "an example's glue exports functions of its own")]

#[cfg(target_arch = "wasm32")]
pub mod page {
    use std::cell::RefCell;

    use gaggle_browser::{IceServer, MeshServers, PageMesh, mesh, now};
    use gaggle_kit::PeerId;
    use gaggle_link::{Channel, Mesh, MeshConfig, Transport, TransportEvent};
    use wasm_bindgen::prelude::*;

    thread_local! {
        static LINKS: RefCell<Option<PageMesh>> = const { RefCell::new(None) };
    }

    fn peer(text: &str) -> Result<PeerId, String> {
        text.parse().map_err(|_| format!("{text} is not a peer id"))
    }

    fn with<T>(act: impl FnOnce(&mut PageMesh) -> Result<T, String>) -> Result<T, String> {
        LINKS.with_borrow_mut(|links| links.as_mut().ok_or("not open".to_string()).and_then(act))
    }

    /// Creates a mesh for this page, with this STUN server and this relay.
    #[wasm_bindgen]
    pub fn open(me: &str, ticket: &str, stun: String, relay: String, seed: u64) -> Result<(), String> {
        let ice = vec![IceServer { urls: vec![stun], username: None, credential: None }];
        let servers = MeshServers { ice, relay: Some(relay) };
        LINKS.set(Some(mesh(peer(me)?, ticket, &servers, MeshConfig::default(), seed)));
        Ok(())
    }

    /// Adds a member of the room.
    #[wasm_bindgen]
    pub fn came(other: &str) -> Result<(), String> {
        let other = peer(other)?;
        with(|links| Ok(links.add_peer(now(), other)))
    }

    /// Handles a signal of a peer.
    #[wasm_bindgen]
    pub fn signal(from: &str, text: &str) -> Result<(), String> {
        let from = peer(from)?;
        with(|links| links.handle_signal(now(), from, text).map_err(|error| error.to_string()))
    }

    /// Next signal to send, with its receiver.
    #[wasm_bindgen]
    pub fn next_signal() -> Result<Option<Vec<String>>, String> {
        with(|links| Ok(links.poll_signal().map(|(to, text)| vec![to.to_string(), text])))
    }

    /// Sends a message on a stream, or unreliably without one.
    #[wasm_bindgen]
    pub fn send(to: &str, stream: Option<u8>, bytes: &[u8]) -> Result<(), String> {
        let (to, channel) = (peer(to)?, stream.map_or(Channel::Unreliable, Channel::Reliable));
        with(|links| links.send(now(), to, channel, bytes).map_err(|error| error.to_string()))
    }

    /// Next received message; call it until there is none, once per frame.
    #[wasm_bindgen]
    pub fn poll() -> Result<Option<Vec<u8>>, String> {
        with(|links| {
            while let Some(event) = links.poll(now()) {
                if let TransportEvent::Message { bytes, .. } = event {
                    return Ok(Some(bytes.to_vec()));
                }
            }
            Ok(None)
        })
    }
}
