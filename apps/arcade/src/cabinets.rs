//! The available games. A new one is a file here, a name in [`NAMES`], and a program in `src/bin/`
//! for its page, so that a player loads only that game. Pages open them. Absent: the arcade.

mod cinema;
pub mod drake;
pub mod gander;
pub mod millpond;
pub mod skein;

use gaggle::Platform;

use crate::cabinet::{About, Cabinet, Parts};
use crate::lobby::{Lobby, LobbyScreen};

/// Names of all available games, in the order of the menu. The first one opens by default.
pub const NAMES: [&str; 4] = [gander::ABOUT.name, drake::ABOUT.name, millpond::ABOUT.name, skein::ABOUT.name];

/// One game: its facts, and how to open it.
pub struct Entry<P> {
    /// Facts about the game.
    pub about: &'static About,
    /// Opens the cabinet.
    pub open: fn(Parts<P>) -> Box<dyn Cabinet>,
    /// Makes the lobby of its rooms, if a host starts the matches there.
    pub lobby: Option<fn() -> Box<dyn LobbyScreen>>,
}

/// Knights on geese.
pub fn gander<P: Platform + 'static>() -> Entry<P> {
    Entry { about: &gander::ABOUT, open: |parts| Box::new(gander::GanderCabinet::open(parts)), lobby: None }
}

/// An autumn flight.
pub fn skein<P: Platform + 'static>() -> Entry<P> {
    Entry {
        about: &skein::ABOUT,
        open: |parts| Box::new(skein::SkeinCabinet::open(parts)),
        lobby: Some(|| Box::new(Lobby::default())),
    }
}

/// A brawl in a coop.
pub fn drake<P: Platform + 'static>() -> Entry<P> {
    Entry { about: &drake::ABOUT, open: |parts| Box::new(drake::DrakeCabinet::open(parts)), lobby: None }
}

/// A pond full of things.
pub fn millpond<P: Platform + 'static>() -> Entry<P> {
    Entry {
        about: &millpond::ABOUT,
        open: |parts| Box::new(millpond::MillpondCabinet::open(parts)),
        lobby: None,
    }
}
