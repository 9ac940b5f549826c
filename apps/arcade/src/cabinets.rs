//! The games that can be played. A new one is a file here, a name in [`NAMES`], and a program in
//! `src/bin/` that is its page: a player loads the game it plays, and no other.

pub mod drake;
pub mod gander;
pub mod millpond;
pub mod skein;

use gaggle::Platform;

use crate::cabinet::{About, Cabinet, Parts};

/// Every game that can be played, in the order of the menu. The first is on when the page opens.
pub const NAMES: [&str; 4] = [gander::ABOUT.name, drake::ABOUT.name, millpond::ABOUT.name, skein::ABOUT.name];

/// One game: what it is, and how it is opened.
pub struct Entry<P> {
    /// What it is.
    pub about: &'static About,
    /// Switches it on.
    pub open: fn(Parts<P>) -> Box<dyn Cabinet>,
}

/// Knights on geese.
pub fn gander<P: Platform + 'static>() -> Entry<P> {
    Entry { about: &gander::ABOUT, open: |parts| Box::new(gander::GanderCabinet::open(parts)) }
}

/// An autumn flight.
pub fn skein<P: Platform + 'static>() -> Entry<P> {
    Entry { about: &skein::ABOUT, open: |parts| Box::new(skein::SkeinCabinet::open(parts)) }
}

/// A brawl in a coop.
pub fn drake<P: Platform + 'static>() -> Entry<P> {
    Entry { about: &drake::ABOUT, open: |parts| Box::new(drake::DrakeCabinet::open(parts)) }
}

/// A pond full of things.
pub fn millpond<P: Platform + 'static>() -> Entry<P> {
    Entry { about: &millpond::ABOUT, open: |parts| Box::new(millpond::MillpondCabinet::open(parts)) }
}
