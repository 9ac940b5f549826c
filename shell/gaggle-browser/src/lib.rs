//! Gaggle in a browser: carriers over what a page has, and its clock.
//!
//! Everything here waits for the page; everything that decides is in `core/`. The crate is empty on other targets, so
//! that the workspace builds as a whole.

#![cfg(target_arch = "wasm32")]

mod clock;
mod connection;
mod direct;
mod lobby;

pub use clock::now;
pub use direct::{DirectWay, IceServer};
pub use lobby::LobbySocket;
