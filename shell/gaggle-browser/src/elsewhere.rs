//! Stand-ins for a page's functions on other targets, so that tests of games need no browser.
//!
//! Programs for native targets call them. Absent: any behavior.

use gaggle::replica::ReplicaConfig;
use gaggle::{Game, Micros, NoNetwork, OnlineConfig, RoomConfig, World};

use crate::KeyState;

/// A room of a page; here one without a network.
pub type GameRoom<G> = gaggle::GameRoom<G, NoNetwork>;

/// A room for a world of replicated objects; here without a network.
pub type WorldRoom<W> = gaggle::WorldRoom<W, NoNetwork>;

/// Platform of a page's room; here without a network.
pub fn platform() -> NoNetwork {
    NoNetwork::default()
}

/// Like [`platform`], with settings of the network.
pub fn platform_with(config: OnlineConfig) -> NoNetwork {
    let _ = config;
    NoNetwork::default()
}

/// Like [`platform_with`], for a page from another origin than its server.
pub fn platform_at(server: &str, config: OnlineConfig) -> NoNetwork {
    let _ = server;
    platform_with(config)
}

/// Time since the page was opened; here always zero.
pub fn now() -> Micros {
    Micros::ZERO
}

/// A random number from the browser; here a constant.
pub fn random_seed() -> u64 {
    0
}

/// Sets a function to call soon after something arrives; here never.
pub fn on_arrival(handler: Option<std::rc::Rc<dyn Fn()>>) {
    drop(handler);
}

/// Drawing area of a page; here without effect.
#[derive(Debug)]
pub struct Canvas(());

impl Canvas {
    /// Width and height in pixels.
    pub const SIZE: (i32, i32) = (640, 360);

    /// Fills a rectangle with a CSS color.
    pub fn fill_rect(&self, color: &str, x: i32, y: i32, width: i32, height: i32) {
        let _ = (color, x, y, width, height);
    }

    /// Draws text from its lower left corner.
    pub fn fill_text(&self, color: &str, x: i32, y: i32, words: &str) {
        let _ = (color, x, y, words);
    }
}

#[doc = include_str!("run_page.md")]
pub fn run_page<G: Game + Clone + 'static>(
    config: RoomConfig,
    game: G,
    input: impl FnMut(&KeyState) -> G::Input + 'static,
    draw: impl FnMut(&mut GameRoom<G>, &Canvas) + 'static,
) {
    say_that_it_is_a_page(config.game.as_str());
    drop((config, game, input, draw));
}

/// Like [`run_page`], for a [`World`] of replicated objects.
pub fn run_world<W: World + 'static>(
    config: RoomConfig<ReplicaConfig>,
    world: W,
    input: impl FnMut(&KeyState) -> W::Input + 'static,
    draw: impl FnMut(&mut WorldRoom<W>, &Canvas) + 'static,
) {
    say_that_it_is_a_page(config.game.as_str());
    drop((config, world, input, draw));
}

fn say_that_it_is_a_page(game: &str) {
    println!("{game} is a page: `cargo xtask play FOLDER` in Gaggle's folder opens it.");
}
