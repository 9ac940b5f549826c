//! Gaggle in a browser: carriers over what a page has, and its clock.
//!
//! `links` is what a page that is online needs: links to everybody in a room, direct where that is
//! possible, through a relay where it is not. `WebRtcCarrier` and `RelayWebSocket` are its parts,
//! for those who put them together differently.
//!
//! `play` is a whole page for a small game: a canvas, the keyboard and a room.
//!
//! Everything here waits for the page; everything that decides is in `core/`. On other targets
//! `play` says so and nobody is online, so that games, their tests and the workspace build
//! everywhere.

#[cfg(target_arch = "wasm32")]
mod arrival;
#[cfg(any(target_arch = "wasm32", test))]
mod brought;
#[cfg(target_arch = "wasm32")]
mod clock;
#[cfg(target_arch = "wasm32")]
mod connection;
#[cfg(not(target_arch = "wasm32"))]
mod elsewhere;
mod keys;
#[cfg(target_arch = "wasm32")]
mod lobby;
#[cfg(target_arch = "wasm32")]
mod mesh;
#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(target_arch = "wasm32")]
mod platform;
#[cfg(target_arch = "wasm32")]
mod relay;
#[cfg(any(target_arch = "wasm32", test))]
mod said;
#[cfg(target_arch = "wasm32")]
mod sign_in;
#[cfg(target_arch = "wasm32")]
mod webrtc_carrier;

#[cfg(target_arch = "wasm32")]
pub use gaggle_link::IceServer;
pub use keys::KeyState;
#[cfg(target_arch = "wasm32")]
pub use {
    arrival::on_arrival,
    clock::now,
    lobby::LobbyWebSocket,
    mesh::{MeshServers, PageMesh, mesh},
    page::{Canvas, GameRoom, WorldRoom, run_page, run_world},
    platform::{PageConnect, PagePlatform, has_webrtc, platform, platform_at, platform_with, random_seed},
    relay::RelayWebSocket,
    sign_in::{sign_in, sign_out, token},
    webrtc_carrier::WebRtcCarrier,
};

#[cfg(not(target_arch = "wasm32"))]
pub use elsewhere::{
    Canvas, GameRoom, WorldRoom, now, on_arrival, platform, platform_at, platform_with, random_seed,
    run_page, run_world,
};

/// Code of the guide, compiled where there is no page.
#[cfg(all(doctest, not(target_arch = "wasm32")))]
mod guide {
    #[doc = include_str!("../../../docs/guide/own-page.md")]
    struct OwnPage;
    #[doc = include_str!("../../../docs/guide/page-and-terminal.md")]
    struct PageAndTerminal;
    #[doc = include_str!("../../../docs/guide/world-with-its-page.md")]
    struct WorldWithItsPage;
}
