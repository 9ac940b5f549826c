//! What stands in the place of a page where there is none, so that a game's own tests need no
//! browser.

use gaggle::replica::ReplicaConfig;
use gaggle::{Game, Micros, NoNetwork, OnlineConfig, RoomConfig, World};

use crate::KeyState;

/// A room in a page; here it is one without a network.
pub type GameRoom<G> = gaggle::GameRoom<G, NoNetwork>;

/// The same for a world of shared objects.
pub type WorldRoom<W> = gaggle::WorldRoom<W, NoNetwork>;

/// What a room in a page needs of the world; here nobody is.
pub fn platform() -> NoNetwork {
    NoNetwork::default()
}

/// As [`platform`], by certain ways only, or as if the network were worse.
pub fn platform_with(config: OnlineConfig) -> NoNetwork {
    let _ = config;
    NoNetwork::default()
}

/// As [`platform_with`], for a page that came from somewhere else than its server.
pub fn platform_at(server: &str, config: OnlineConfig) -> NoNetwork {
    let _ = server;
    platform_with(config)
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
pub struct Canvas(());

impl Canvas {
    /// Width and height.
    pub const SIZE: (i32, i32) = (640, 360);

    /// A box of a colour, which is anything CSS calls one.
    pub fn fill_rect(&self, color: &str, x: i32, y: i32, width: i32, height: i32) {
        let _ = (color, x, y, width, height);
    }

    /// Words, from their lower left corner on.
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

/// As [`run_page`], for a [`World`] of replicated objects.
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
