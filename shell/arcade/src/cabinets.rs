//! The games that can be played. A new one is a file here and a line in [`all`].

pub mod drake;
pub mod gander;
pub mod millpond;

use gaggle::Outside;

use crate::cabinet::{About, Cabinet, Parts};

/// One game: what it is, and how it is opened.
pub struct Entry<O> {
    /// What it is.
    pub about: &'static About,
    /// Switches it on.
    pub open: fn(Parts<O>) -> Box<dyn Cabinet>,
}

/// Every game that can be played, in the order of the menu. The first is on when the page opens.
pub fn all<O: Outside + 'static>() -> Vec<Entry<O>> {
    vec![
        Entry { about: &gander::ABOUT, open: |parts| Box::new(gander::GanderCabinet::open(parts)) },
        Entry { about: &drake::ABOUT, open: |parts| Box::new(drake::DrakeCabinet::open(parts)) },
        Entry { about: &millpond::ABOUT, open: |parts| Box::new(millpond::MillpondCabinet::open(parts)) },
    ]
}
