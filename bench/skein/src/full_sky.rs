//! States of skein with every place taken, as no run of bots keeps it for long.
//!
//! `main` measures them. Absent: time.

use gaggle_kit::{Angle, Prng};
use skein::ember::{EMBERS, Shot};
use skein::enemy::{ENEMIES, Foe, Path};
use skein::quill::{QUILLS, Quills};
use skein::sky::{LANES, PX};
use skein::{Flight, Pad, SEATS, Setup, Skein};

/// States with 600 embers, 160 quills, 96 enemies, and six geese that can be hit.
pub(crate) fn states(count: u64) -> Vec<Skein> {
    (0..count).map(state).collect()
}

fn state(seed: u64) -> Skein {
    let mut random = Prng::new(seed);
    let mut game = Skein::new(Setup { stage: 4, wave: 3, ..Setup::default() }, seed);
    let difficulty = game.course.difficulty();
    for frame in 0..130_u32 {
        // Nothing is shot down while they come in.
        game.quills = Quills::default();
        if frame >= 130 - ENEMIES as u32 {
            let foe = Foe::of(1 + (frame % 6) as u8).expect("six kinds");
            let path = [Path::Straight, Path::Ribbon][frame as usize % 2];
            game.enemies.send(foe, path, LANES[frame as usize % LANES.len()], frame as u8, difficulty);
        }
        game.step(&[Pad::NONE; SEATS], [true; SEATS]);
    }
    game.quills = Quills::default();
    let mut spot = |least: i32| (random.range(least..=600) * PX, random.range(40..=320) * PX);
    for nth in 0..QUILLS {
        game.quills.throw(nth % SEATS, spot(60), 0);
    }
    game.embers.tune(EMBERS as u16, 4);
    while game.embers.count() < EMBERS {
        let shot = Shot::of(1 + (game.embers.count() % 5) as u8).expect("five kinds");
        let curl = [0, 28, -28][game.embers.count() % 3];
        let angle = Angle::from_bits(game.embers.count() as u16 * 97);
        game.embers.curling(shot, spot(40), angle, curl, 16);
    }
    while game.enemies.iter().count() < ENEMIES {
        game.enemies.send(Foe::Owl, Path::Straight, 170, 0, difficulty);
    }
    for (nth, goose) in (0..).zip(&mut game.geese[..SEATS]) {
        (goose.flight, goose.safe) = (Flight::Flying, 0);
        (goose.x, goose.y) = ((120 + 40 * nth) * PX, (80 + 40 * nth) * PX);
    }
    assert_eq!(game.quills.iter().count(), QUILLS);
    game
}
