//! Images of geese and emblems for pages around the game: menus, tables of scores, progress bars.
//!
//! Painted by pages into their own album. Absent: states of a match.

use gaggle_scene::{Album, ImageId};

use super::creatures::Marks;
use super::poses::{self, FEET, Pose};
use crate::player::SEATS;

/// Figures of one album.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Emblem of each slot in its color: plume, horns, crown, star.
    pub emblems: [ImageId; SEATS],
    /// Emblem of each slot in the color of an empty one.
    pub emblems_free: [ImageId; SEATS],
    /// White geese without riders: standing, stepping, turning its head, honking.
    pub bare: [ImageId; 4],
    /// A knave on its goose, in flight.
    pub knave: ImageId,
    walking: [[ImageId; 4]; SEATS],
    flying: [[ImageId; 2]; SEATS],
}

impl Figures {
    /// Rows from the top of a goose's image to the ground.
    pub const FEET: i32 = FEET;
    /// Width of a goose's image, in pixels.
    pub const WIDTH: i32 = poses::CELL.0;

    /// Paints all figures into an album.
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

    /// Goose of a slot on foot, at pose `step` of its walk.
    pub fn walking(&self, seat: usize, step: u32) -> ImageId {
        self.walking[seat % SEATS][step as usize % 4]
    }

    /// Goose of a slot in flight, wings up or down.
    pub fn flying(&self, seat: usize, wings_down: bool) -> ImageId {
        self.flying[seat % SEATS][usize::from(wings_down)]
    }
}
