//! Stand-ins for a page's functions on other targets, so that tests of games need no browser.
//!
//! Programs for native targets call them. Absent: any behavior.

use gaggle::replica::ReplicaConfig;
use gaggle::{Game, Micros, NoNetwork, OnlineConfig, RoomConfig, World};

use crate::KeyState;

#[doc = text!(PagePlatform)]
pub type PagePlatform = NoNetwork;

#[doc = text!(GameRoom)]
pub type GameRoom<G> = gaggle::GameRoom<G, PagePlatform>;

#[doc = text!(WorldRoom)]
pub type WorldRoom<W> = gaggle::WorldRoom<W, PagePlatform>;

#[doc = text!(RequestRoom)]
pub type RequestRoom<I> = gaggle::RequestRoom<I, PagePlatform>;

#[doc = text!(platform)]
pub fn platform() -> PagePlatform {
    NoNetwork::default()
}

#[doc = text!(platform_with)]
pub fn platform_with(config: OnlineConfig) -> PagePlatform {
    let _ = config;
    NoNetwork::default()
}

#[doc = text!(platform_at)]
pub fn platform_at(server: &str, config: OnlineConfig) -> PagePlatform {
    let _ = server;
    platform_with(config)
}

#[doc = text!(now)]
pub fn now() -> Micros {
    Micros::ZERO
}

#[doc = text!(random_seed)]
pub fn random_seed() -> u64 {
    0
}

#[doc = text!(has_webrtc)]
pub fn has_webrtc() -> bool {
    false
}

#[doc = text!(token)]
pub fn token() -> Option<String> {
    None
}

#[doc = text!(sign_in)]
pub fn sign_in(url: &str) {
    let _ = url;
}

#[doc = text!(sign_out)]
pub fn sign_out() {}

#[doc = text!(on_arrival)]
pub fn on_arrival(handler: Option<std::rc::Rc<dyn Fn()>>) {
    drop(handler);
}

#[doc = text!(Canvas)]
#[derive(Debug)]
pub struct Canvas(());

impl Canvas {
    #[doc = text!(SIZE)]
    pub const SIZE: (i32, i32) = (640, 360);

    #[doc = text!(fill_rect)]
    pub fn fill_rect(&self, color: &str, x: i32, y: i32, width: i32, height: i32) {
        let _ = (color, x, y, width, height);
    }

    #[doc = text!(fill_text)]
    pub fn fill_text(&self, color: &str, x: i32, y: i32, words: &str) {
        let _ = (color, x, y, words);
    }
}

#[doc = text!(run_page)]
pub fn run_page<G: Game + Clone + 'static>(
    config: RoomConfig,
    game: G,
    input: impl FnMut(&KeyState) -> G::Input + 'static,
    draw: impl FnMut(&mut GameRoom<G>, &Canvas) + 'static,
) {
    say_that_it_is_a_page(config.game.as_str());
    drop((config, game, input, draw));
}

#[doc = text!(run_world)]
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
