//! Rooms and links in a page, and a whole page for a small game.
//!
#![doc = include_str!("../README.md")]

#[macro_use]
mod texts;

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
#[cfg(all(test, not(target_arch = "wasm32")))]
mod exports;
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
    page::{Canvas, GameRoom, RequestRoom, WorldRoom, run_page, run_world},
    platform::{PageConnect, PagePlatform, has_webrtc, platform, platform_at, platform_with, random_seed},
    relay::RelayWebSocket,
    sign_in::{sign_in, sign_out, token},
    webrtc_carrier::WebRtcCarrier,
};

#[cfg(not(target_arch = "wasm32"))]
pub use elsewhere::{
    Canvas, GameRoom, PagePlatform, RequestRoom, WorldRoom, has_webrtc, now, on_arrival, platform,
    platform_at, platform_with, random_seed, run_page, run_world, sign_in, sign_out, token,
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
