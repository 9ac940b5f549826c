//! Figures of the game for whoever draws something beside it: a menu, a table of scores, a bar that
//! fills.

use gaggle_scene::{Album, ImageId};

use super::creatures::Marks;
use super::poses::{self, FEET, Pose};
use crate::player::SEATS;

/// Images of geese and of the marks of the seats, in an album of the caller's.
#[derive(Debug, Clone)]
pub struct Figures {
    /// The mark of each seat in its colour: plume, horns, crown, star.
    pub emblems: [ImageId; SEATS],
    /// The same for a seat that is free.
    pub emblems_free: [ImageId; SEATS],
    /// White geese without riders: standing, a step, looking round, and with an open bill.
    pub bare: [ImageId; 4],
    /// A knave on his goose, in flight.
    pub knave: ImageId,
    walking: [[ImageId; 4]; SEATS],
    flying: [[ImageId; 2]; SEATS],
}

impl Figures {
    /// Rows from the top of a goose's image to the ground under its feet.
    pub const FEET: i32 = FEET;
    /// How wide a goose's image is.
    pub const WIDTH: i32 = poses::CELL.0;

    /// Draws them all into an album.
    pub fn bake(album: &mut Album) -> Figures {
        let Marks { emblems, emblems_free, .. } = Marks::bake(album);
        let mut goose = |look, pose, light| album.add(poses::picture(look, pose, light));
        Figures {
            emblems,
            emblems_free,
            bare: [Pose::Stand, Pose::Run1, Pose::Turn, Pose::Skid].map(|pose| goose(None, pose, 2)),
            knave: goose(Some(SEATS), Pose::Mid, 1),
            walking: std::array::from_fn(|seat| {
                [Pose::Run0, Pose::Run1, Pose::Run2, Pose::Run3].map(|pose| goose(Some(seat), pose, 2))
            }),
            flying: std::array::from_fn(|seat| [Pose::Up, Pose::Down].map(|pose| goose(Some(seat), pose, 1))),
        }
    }

    /// A seat's goose on foot, so many steps on.
    pub fn walking(&self, seat: usize, step: u32) -> ImageId {
        self.walking[seat % SEATS][step as usize % 4]
    }

    /// A seat's goose in the air, wings up or down.
    pub fn flying(&self, seat: usize, wings_down: bool) -> ImageId {
        self.flying[seat % SEATS][usize::from(wings_down)]
    }
}
