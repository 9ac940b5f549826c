//! Fuzz targets of gander: any snapshot, any roster, any pads.
//!
//! Called by `fuzz_targets/` and by the tests of gander. What decodes can be simulated, stays
//! decodable, and can be drawn. Absent: the fuzzer and its corpora.

use std::cell::RefCell;

use gaggle_kit::{Frame, Input, SlotSet, decode_state, encode_state, state_hash};
use gaggle_scene::{Canvas, Scene, View};
use gaggle_timeline::{Game, Inputs};
use gander::arena::{HEIGHT, WIDTH};
use gander::stage::{Audience, Stage};
use gander::{Gander, Mode, Pad, SEATS, Setup};

/// Name, which is also that of its corpus, and function over the fuzzer's bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets of this crate.
pub const TARGETS: [Target; 3] =
    [("gander_snapshot", snapshot), ("gander_play", play), ("gander_picture", picture)];

/// Frames simulated from a snapshot.
const FRAMES_MAX: usize = 24;

/// A snapshot behind a byte that all players' pads are made of.
pub fn snapshot(data: &[u8]) {
    let Some((&pressed, bytes)) = data.split_first() else { return };
    let Ok(mut game) = decode_state::<Gander>(bytes) else { return };
    assert_eq!(encode_state(&game), bytes, "one state has one encoding");
    for frame in 0..FRAMES_MAX {
        tick(&mut game, frame, pressed.rotate_left(frame as u32 / 3), 0b1111 ^ pressed & 1);
    }
    acceptable(&game);
}

/// A setup and a seed, and then two bytes for every 8 frames: pads and presence.
pub fn play(data: &[u8]) {
    let Some((setup, script)) = data.split_at_checked(4) else { return };
    let mode = if setup[0] & 1 == 0 { Mode::Team } else { Mode::Versus };
    let setup_of =
        Setup { mode, mounts: setup[1], first_wave: u16::from_le_bytes([setup[2], setup[0] >> 1]) };
    let mut game = Gander::new(setup_of, u64::from(setup[3]));
    for (step, pair) in script.chunks_exact(2).take(400).enumerate() {
        for frame in 0..8 {
            tick(&mut game, step * 8 + frame, pair[0].rotate_left(frame as u32), pair[1] & 15);
        }
    }
    acceptable(&game);
}

/// A snapshot, drawn half way between its frame and the next.
pub fn picture(data: &[u8]) {
    thread_local! {
        static SCREEN: RefCell<(Stage, Scene, Canvas)> = RefCell::new(screen());
    }
    let Ok(before) = decode_state::<Gander>(data) else { return };
    let mut now = before;
    tick(&mut now, 0, data.len() as u8, 15);
    SCREEN.with_borrow_mut(|(stage, scene, canvas)| {
        let audience =
            Audience { names: ["Wren", "", "Ottilie", "Hob"], own: [true; SEATS], ..Audience::default() };
        stage.draw(&now, &before, 0.5, &audience, scene);
        canvas.paint(scene, stage.album());
        assert!(scene.art.len() < 4000, "a scene of {} items", scene.art.len());
    });
}

fn screen() -> (Stage, Scene, Canvas) {
    let view = View::fit(WIDTH / 2, HEIGHT, WIDTH, HEIGHT);
    (Stage::new(view), Scene::default(), Canvas::new(view))
}

fn tick(game: &mut Gander, frame: usize, pressed: u8, present: u8) {
    let pads: [Pad; SEATS] = std::array::from_fn(|seat| {
        Pad::read(&[pressed.rotate_left(2 * seat as u32) & 15]).unwrap_or_default()
    });
    let present = SlotSet::from_bits(u64::from(present));
    game.tick(&Inputs::confirmed(Frame::new(frame as u32), &pads, present));
}

/// Panics if a state does not decode from its encoding.
fn acceptable(game: &Gander) {
    let again: Gander = decode_state(&encode_state(game)).unwrap_or_else(|error| panic!("{error}: {game:?}"));
    assert_eq!(state_hash(&again), state_hash(game));
}
