//! What stands in the place of a page where there is none, so that a game's own tests need no
//! browser.

use gaggle::{Game, Micros, NoNetwork, OnlineConfig, Room, RoomConfig, SharedRoom};

use crate::Keys;

/// A room in a page; here it is one without a network.
pub type PageRoom<G> = Room<G, NoNetwork>;

/// The same for a world of shared objects.
pub type PageSharedRoom<W> = SharedRoom<W, NoNetwork>;

/// What a room in a page needs of the world; here nobody is.
pub fn online() -> NoNetwork {
    NoNetwork::default()
}

/// As [`online`], by certain ways only, or as if the network were worse.
pub fn online_with(config: OnlineConfig) -> NoNetwork {
    let _ = config;
    NoNetwork::default()
}

/// As [`online_with`], for a page that came from somewhere else than its server.
pub fn online_at(server: &str, config: OnlineConfig) -> NoNetwork {
    let _ = server;
    online_with(config)
}

/// Time since the page was opened; here none ever passes.
pub fn now() -> Micros {
    Micros::ZERO
}

/// A random number from the browser; here always the same.
pub fn random_seed() -> u64 {
    0
}

/// Calls this soon after something arrives; here nothing ever does.
pub fn on_arrival(handler: Option<std::rc::Rc<dyn Fn()>>) {
    drop(handler);
}

/// What is drawn on; here nothing comes of it.
#[derive(Debug)]
pub struct Picture(());

impl Picture {
    /// Width and height.
    pub const SIZE: (i32, i32) = (640, 360);

    /// A box of a colour, which is anything CSS calls one.
    pub fn fill(&self, color: &str, x: i32, y: i32, width: i32, height: i32) {
        let _ = (color, x, y, width, height);
    }

    /// Words, from their lower left corner on.
    pub fn text(&self, color: &str, x: i32, y: i32, words: &str) {
        let _ = (color, x, y, words);
    }
}

/// Says that this is a page's.
pub fn play<G: Game + Clone + 'static>(
    config: RoomConfig,
    game: G,
    input: impl FnMut(&Keys) -> G::Input + 'static,
    draw: impl FnMut(&PageRoom<G>, &Picture) + 'static,
) {
    println!("{} is a page: `cargo xtask play FOLDER` in Gaggle's folder opens it.", config.game.as_str());
    drop((config, game, input, draw));
}
