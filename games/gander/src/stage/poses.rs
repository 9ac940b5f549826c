//! Images of geese with and without riders, by pose, look and light.
//!
//! Painted once by `stage.rs` and `figures.rs`. Absent: pixel data (`goose_parts.rs`,
//! `rider_parts.rs`), places.

use gaggle_scene::{Album, Bitmap, ImageId, LIGHTS, Part, Sprite};

use super::goose_parts::*;
use super::materials::{COMMON, of_look, plumage};
use super::rider_parts::*;
use crate::mover::Mover;
use crate::player::SEATS;

/// Number of looks: four slots and three classes.
pub(super) const LOOKS: usize = 7;
/// Width and height of a goose's image.
pub(super) const CELL: (i32, i32) = (36, 36);
/// Place of the data's cell in that image.
const PAD: (i32, i32) = (2, 8);
/// Column about which a goose's image is mirrored, and row below its feet.
pub(super) const CENTER: i32 = 12 + PAD.0;
pub(super) const FEET: i32 = 26 + PAD.1;

/// Pose of a goose, one image each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pose {
    Stand,
    /// Just landed: body and neck are a pixel lower.
    Land,
    Run0,
    Run1,
    Run2,
    Run3,
    Skid,
    Turn,
    Up,
    Mid,
    Down,
    /// Wings just went down: the crest is a pixel higher.
    Beat,
    TurnAir,
}

const POSES: usize = Pose::TurnAir as usize + 1;
const ALL: [Pose; POSES] = [
    Pose::Stand,
    Pose::Land,
    Pose::Run0,
    Pose::Run1,
    Pose::Run2,
    Pose::Run3,
    Pose::Skid,
    Pose::Turn,
    Pose::Up,
    Pose::Mid,
    Pose::Down,
    Pose::Beat,
    Pose::TurnAir,
];

impl Pose {
    /// Pose of a goose in motion. Input shows in the same frame.
    pub(super) fn of(mover: &Mover) -> Pose {
        let turning = mover.since.turn < 3;
        if !mover.grounded {
            return match (mover.wings_down, mover.since_wings) {
                _ if turning => Pose::TurnAir,
                (true, 0..3) => Pose::Beat,
                (true, 3..6) => Pose::Down,
                (true, _) => Pose::Mid,
                (false, _) => Pose::Up,
            };
        }
        if mover.skidding {
            return Pose::Skid;
        }
        if turning {
            return Pose::Turn;
        }
        if mover.speed == 0 {
            return if mover.since.land < 4 { Pose::Land } else { Pose::Stand };
        }
        // A cycle of 4 poses is 16 pixels of ground.
        [Pose::Run0, Pose::Run1, Pose::Run2, Pose::Run3][usize::from(mover.stride / (4 * 256)) % 4]
    }

    /// Parts from back to front, each with an offset in x and y.
    fn parts(self) -> &'static [(&'static Part, i32, i32)] {
        match self {
            Pose::Stand => &[(&LEGS_STAND, 0, 0), (&BODY, 0, 0), (&NECK_UP, 0, 0), (&WING_FOLD, 0, 0)],
            Pose::Land => &[(&LEGS_STAND, 0, 0), (&BODY, 0, 1), (&NECK_UP, 0, 1), (&WING_FOLD, 0, 1)],
            Pose::Run0 => &[(&LEGS_RUN0, 0, 0), (&BODY, 0, 0), (&NECK_UP, 0, 0), (&WING_FOLD, 0, 0)],
            Pose::Run1 => &[(&LEGS_RUN1, 0, 0), (&BODY, 0, 0), (&NECK_UP, 1, 0), (&WING_FOLD, 0, 0)],
            Pose::Run2 => &[(&LEGS_RUN2, 0, 0), (&BODY, 0, 0), (&NECK_UP, 0, 0), (&WING_FOLD, 0, 0)],
            Pose::Run3 => &[(&LEGS_RUN3, 0, 0), (&BODY, 0, 0), (&NECK_UP, 1, 0), (&WING_FOLD, 0, 0)],
            Pose::Skid => &[(&LEGS_SKID, 0, 0), (&BODY, 0, 0), (&NECK_HONK, 0, 0), (&WING_UP, 0, 0)],
            Pose::Turn => &[(&LEGS_STAND, 0, 0), (&BODY, 0, 0), (&NECK_TURN, 0, 0), (&WING_FOLD, 0, 0)],
            Pose::Up => &[(&WING_UP, 0, 0), (&LEGS_TUCK, 0, 0), (&BODY, 0, 0), (&NECK_OUT, 0, 0)],
            Pose::Mid => &[(&LEGS_TUCK, 0, 0), (&BODY, 0, 0), (&NECK_OUT, 0, 0), (&WING_MID, 0, 0)],
            Pose::Down | Pose::Beat => {
                &[(&LEGS_TUCK, 0, 0), (&BODY, 0, 0), (&NECK_OUT, 0, 0), (&WING_DOWN, 0, 0)]
            }
            Pose::TurnAir => &[(&WING_UP, 0, 0), (&LEGS_TUCK, 0, 0), (&BODY, 0, 0), (&NECK_TURN_AIR, 0, 0)],
        }
    }
}

/// Images of all geese in one album.
#[derive(Debug, Clone)]
pub(super) struct Geese {
    ridden: Vec<ImageId>,
    bare: Vec<ImageId>,
}

/// Number of plumages: white, brent, pewter, ashen.
const PLUMAGES: usize = 4;

impl Geese {
    pub(super) fn bake(album: &mut Album) -> Geese {
        let mut geese = Geese { ridden: Vec::new(), bare: Vec::new() };
        for look in 0..LOOKS {
            let (cloth, feathers) = (of_look(look), plumage(look));
            for pose in ALL {
                let mut sprite = bare(pose);
                saddle(&mut sprite, look, pose);
                for light in 0..LIGHTS {
                    let image = sprite.bake(&[&cloth, &feathers, COMMON], light, true);
                    geese.ridden.push(album.add(image));
                }
            }
        }
        for kind in 0..PLUMAGES {
            let feathers = if kind == 0 { Vec::new() } else { plumage(SEATS + kind - 1) };
            for pose in ALL {
                for light in 0..LIGHTS {
                    geese.bare.push(album.add(bare(pose).bake(&[&feathers, COMMON], light, true)));
                }
            }
        }
        geese
    }

    /// Image of a goose with its rider.
    pub(super) fn ridden(&self, look: usize, pose: Pose, light: usize) -> ImageId {
        self.ridden[(look.min(LOOKS - 1) * POSES + pose as usize) * LIGHTS + light]
    }

    /// Image of a goose without a rider; white if `look` is a slot.
    pub(super) fn bare(&self, look: usize, pose: Pose, light: usize) -> ImageId {
        let kind = if look < SEATS { 0 } else { (look - SEATS + 1).min(PLUMAGES - 1) };
        self.bare[(kind * POSES + pose as usize) * LIGHTS + light]
    }
}

fn bare(pose: Pose) -> Sprite {
    let mut sprite = Sprite::new(CELL.0, CELL.1);
    for (part, dx, dy) in pose.parts() {
        sprite.put(part, PAD.0 + dx, PAD.1 + dy);
    }
    sprite
}

/// Adds a rider. Its lance is on the same row in every pose, so that the picture shows which lance
/// is higher.
fn saddle(sprite: &mut Sprite, look: usize, pose: Pose) {
    let crest = [Some(&CREST_PLUME), Some(&CREST_HORNS), Some(&CREST_CROWN), Some(&CREST_STAR)];
    let thrown = -i32::from(pose == Pose::Beat);
    if let Some(Some(crest)) = crest.get(look) {
        sprite.put(crest, PAD.0, PAD.1 + thrown);
    }
    let helm =
        [&HELM_PLAYER, &HELM_PLAYER, &HELM_PLAYER, &HELM_PLAYER, &HELM_KNAVE, &HELM_REEVE, &HELM_WRAITH];
    sprite.put(&RIDER, PAD.0, PAD.1).put(helm[look], PAD.0, PAD.1).put_across(&LANCE, PAD.0, PAD.1);
}

/// Image of one goose: white without a rider, or with the rider of a look.
pub(super) fn picture(look: Option<usize>, pose: Pose, light: usize) -> Bitmap {
    let mut sprite = bare(pose);
    let Some(look) = look else { return sprite.bake(&[COMMON], light, true) };
    saddle(&mut sprite, look, pose);
    sprite.bake(&[&of_look(look), &plumage(look), COMMON], light, true)
}

/// Light by the row of the feet, 0 to 3: nearer to the fire is more.
pub(super) fn light(feet: f32) -> usize {
    match feet {
        y if y > 172.0 => 3,
        y if y > 128.0 => 2,
        y if y > 84.0 => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mover::LANCE as LANCE_HEIGHT;

    #[test]
    fn lance_row_matches_rules() {
        assert_eq!(FEET - 1 - (LANCE.y + PAD.1), LANCE_HEIGHT / 256);
    }

    #[test]
    fn every_look_has_every_pose_in_every_light() {
        let mut album = Album::default();
        let geese = Geese::bake(&mut album);
        assert_eq!(album.len(), (LOOKS + PLUMAGES) * POSES * LIGHTS);
        let (a, b) = (geese.ridden(0, Pose::Up, 0), geese.ridden(0, Pose::Up, 3));
        assert_ne!(album.image(a), album.image(b), "light must change the image");
        assert_ne!(album.image(geese.ridden(0, Pose::Up, 0)), album.image(geese.ridden(1, Pose::Up, 0)));
    }
}
