//! Gaggle in a browser: carriers over what a page has, and its clock.
//!
//! `links` is what a page that is online needs: links to everybody in a room, direct where that is possible, through a relay where
//! it is not. `DirectWay` and `RelayLine` are its parts, for those who put them together differently.
//!
//! `play` is a whole page for a small game: a canvas, the keyboard and a room.
//!
//! Everything here waits for the page; everything that decides is in `core/`. On other targets `play` says so and
//! nobody is online, so that games, their tests and the workspace build everywhere.

#[cfg(target_arch = "wasm32")]
mod arrival;
#[cfg(target_arch = "wasm32")]
mod clock;
#[cfg(target_arch = "wasm32")]
mod connection;
#[cfg(target_arch = "wasm32")]
mod direct;
#[cfg(not(target_arch = "wasm32"))]
mod elsewhere;
mod keys;
#[cfg(target_arch = "wasm32")]
mod links;
#[cfg(target_arch = "wasm32")]
mod lobby;
#[cfg(target_arch = "wasm32")]
mod online;
#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(target_arch = "wasm32")]
mod relay;
#[cfg(any(target_arch = "wasm32", test))]
mod said;

#[cfg(target_arch = "wasm32")]
pub use gaggle_link::IceServer;
pub use keys::Keys;
#[cfg(target_arch = "wasm32")]
pub use {
    arrival::on_arrival,
    clock::now,
    direct::DirectWay,
    links::{PageMesh, Servers, links},
    lobby::LobbySocket,
    online::{PageConnect, PagePlatform, has_direct_way, online, online_at, online_with, random_seed},
    page::{PageRoom, PageSharedRoom, Picture, play},
    relay::RelayLine,
};

#[cfg(not(target_arch = "wasm32"))]
pub use elsewhere::{
    PageRoom, PageSharedRoom, Picture, now, on_arrival, online, online_at, online_with, play, random_seed,
};
