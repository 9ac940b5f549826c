//! States of gosling with every slot and every pike in the water.
//!
//! `main` measures them. Absent: time.

use gaggle_kit::{Frame, SlotSet};
use gaggle_timeline::{Game, Inputs};
use gosling::press::{Manner, Presser};
use gosling::{Gosling, Mode, PIKES, SEATS, Setup, Wish};

/// Frames after which all pikes are out.
const OUT_FRAMES: u32 = 2_400;

/// A state and the wishes of its next frame.
pub(crate) struct Moment {
    pub(crate) game: Gosling,
    pub(crate) wishes: [Wish; SEATS],
}

/// So many states of one match with 64 players, ten frames apart.
pub(crate) fn moments(count: usize) -> Vec<Moment> {
    let mut game = Gosling::new(Setup::of(Mode::Great), 7);
    let mut pressers: Vec<Presser> = (0..SEATS).map(|slot| Presser::new(slot, Manner::USUAL, 7)).collect();
    let mut moments = Vec::with_capacity(count);
    for frame in (1..).map(Frame::new) {
        let reed = game.reed();
        let wishes = std::array::from_fn(|slot| pressers[slot].press(&game, &reed));
        let is_busy = frame.number() > OUT_FRAMES && frame.number().is_multiple_of(10);
        if is_busy {
            moments.push(Moment { game: game.clone(), wishes });
            if moments.len() == count {
                break;
            }
        }
        game.tick(&Inputs::confirmed(frame, &wishes, SlotSet::first(SEATS)));
    }
    let out = |moment: &Moment| moment.game.pikes.iter().filter(|pike| pike.is_out).count();
    assert!(moments.iter().map(out).max() == Some(PIKES), "all pikes come out");
    assert!(moments.iter().all(|moment| moment.game.swimmers() == SEATS));
    moments
}
