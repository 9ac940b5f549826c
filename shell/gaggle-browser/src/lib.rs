//! Gaggle in a browser: carriers over what a page has, and its clock.
//!
//! `links` is what a page that is online needs: links to everybody in a room, direct where that is possible, through a relay where
//! it is not. `DirectWay` and `RelayLine` are its parts, for those who put them together differently.
//!
//! Everything here waits for the page; everything that decides is in `core/`. The crate is empty on other targets, so
//! that the workspace builds as a whole.

#![cfg(target_arch = "wasm32")]

mod clock;
mod connection;
mod direct;
mod links;
mod lobby;
mod online;
mod relay;

pub use clock::now;
pub use direct::{DirectWay, IceServer};
pub use links::{Servers, links};
pub use lobby::LobbySocket;
pub use online::{online, random_seed};
pub use relay::RelayLine;
