//! A maze in which inputs matter only at junctions, and optionally for turning back.
//!
//! The same rules read inputs in three ways, with equal states, so that the frames resimulated can
//! be compared. Called by `rows/questions.rs`. Absent: figures of the report.

use std::cell::RefCell;
use std::rc::Rc;

use gaggle_kit::{Micros, Slot, State, state_hash};
use gaggle_timeline::{Driver, Game, Inputs, Timeline};

use crate::chance::{draw, happens};
use crate::contest::Setup;
use crate::gaggle::{config, session};
use crate::link::link;
use crate::network::{NetConditions, Network, Socket, frame_us};

/// Tiles from one junction to the next.
const BLOCK_TILES: u8 = 3;
/// Tiles of a side: eight blocks and the last junction.
const SIDE_TILES: u8 = 8 * BLOCK_TILES + 1;
/// Frames to cross a tile: ten tiles a second.
const TILE_FRAMES: u8 = 6;
/// Most walkers of a maze.
const WALKERS_MAX: usize = 16;

/// Inputs are read with `get` in every frame.
pub const GET_ALWAYS: u8 = 0;
/// Inputs are read with `get` where they matter.
pub const GET_WHERE_USED: u8 = 1;
/// Inputs are read with `ask`: only the answer the rules need.
pub const ASK: u8 = 2;

/// Direction: 0 up, 1 right, 2 down, 3 left.
type Heading = u8;

fn back(heading: Heading) -> Heading {
    (heading + 2) % 4
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, State)]
struct Walker {
    x: u8,
    y: u8,
    heading: Heading,
    frames: u8,
    eaten: u32,
}

/// The game. `READ` is how inputs are read; with `TURN_BACK` a walker can turn around at any time.
#[derive(Clone, PartialEq, Eq, Debug, State)]
pub struct Maze<const READ: u8, const TURN_BACK: bool> {
    players: u8,
    walkers: [Walker; WALKERS_MAX],
    dots: [u32; SIDE_TILES as usize],
}

impl<const READ: u8, const TURN_BACK: bool> Maze<READ, TURN_BACK> {
    fn new(players: usize) -> Self {
        let corner = |walker: u8| Walker {
            x: walker % 4 * 2 * BLOCK_TILES,
            y: walker / 4 * 2 * BLOCK_TILES,
            heading: 1,
            frames: 0,
            eaten: 0,
        };
        Maze {
            players: players as u8,
            walkers: std::array::from_fn(|walker| corner(walker as u8)),
            dots: [u32::MAX; SIDE_TILES as usize],
        }
    }
}

impl<const READ: u8, const TURN_BACK: bool> Game for Maze<READ, TURN_BACK> {
    type Input = Heading;

    fn tick(&mut self, inputs: &Inputs<'_, Heading>) {
        for player in 0..usize::from(self.players) {
            let slot = Slot::at(player);
            if READ == GET_ALWAYS {
                inputs.get(slot);
            }
            let walker = &mut self.walkers[player];
            if TURN_BACK && wants_back::<READ>(inputs, slot, walker.heading) {
                walker.turn_back();
            }
            walker.frames += 1;
            if walker.frames == TILE_FRAMES {
                walker.enter_tile();
                let exits = walker.exits();
                if exits.count_ones() > 1 {
                    walker.heading = chosen::<READ>(inputs, slot, exits, walker.heading);
                } else {
                    walker.heading = exits.trailing_zeros() as Heading;
                }
                let dot = 1 << walker.x;
                let row = &mut self.dots[usize::from(walker.y)];
                walker.eaten += u32::from(*row & dot != 0);
                *row ^= dot;
            }
        }
    }
}

fn wants_back<const READ: u8>(inputs: &Inputs<'_, Heading>, slot: Slot, heading: Heading) -> bool {
    if READ == ASK {
        inputs.ask(slot, heading, |pressed, heading| pressed == back(heading))
    } else {
        inputs.get(slot) == back(heading)
    }
}

fn chosen<const READ: u8>(inputs: &Inputs<'_, Heading>, slot: Slot, exits: u8, heading: Heading) -> Heading {
    if READ == ASK {
        inputs.ask(slot, (exits, heading), |pressed, (exits, heading)| choose(pressed, exits, heading))
    } else {
        choose(inputs.get(slot), exits, heading)
    }
}

/// The pressed direction if it is open, else straight on, else the first open one.
fn choose(pressed: Heading, exits: u8, heading: Heading) -> Heading {
    [pressed, heading]
        .into_iter()
        .find(|&way| exits >> way & 1 == 1)
        .unwrap_or(exits.trailing_zeros() as Heading)
}

impl Walker {
    fn enter_tile(&mut self) {
        self.frames = 0;
        match self.heading {
            0 => self.y -= 1,
            1 => self.x += 1,
            2 => self.y += 1,
            _ => self.x -= 1,
        }
    }

    /// Open directions of this tile, one bit each.
    fn ways(&self) -> u8 {
        let last = SIDE_TILES - 1;
        let (across, along) = (self.y.is_multiple_of(BLOCK_TILES), self.x.is_multiple_of(BLOCK_TILES));
        let ways =
            [along && self.y > 0, across && self.x < last, along && self.y < last, across && self.x > 0];
        ways.iter().rev().fold(0, |all, way| all << 1 | u8::from(*way))
    }

    /// Open directions except back.
    fn exits(&self) -> u8 {
        self.ways() & !(1 << back(self.heading))
    }

    fn turn_back(&mut self) {
        let forth = self.heading;
        if self.frames > 0 {
            // Between two tiles it now comes from the one ahead.
            let rest = TILE_FRAMES - self.frames;
            self.enter_tile();
            self.frames = rest;
            self.heading = back(forth);
        } else if self.ways() >> back(forth) & 1 == 1 {
            self.heading = back(forth);
        }
    }
}

/// Outcome of a match in the maze.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    /// Frames resimulated by all peers.
    pub again: u64,
    /// Hash of the final state.
    pub hash: u64,
    /// Dots eaten, which proves that players moved.
    pub eaten: u32,
}

/// Plays a match, and 60 more frames in which inputs rest.
pub fn walk<const READ: u8, const TURN_BACK: bool>(players: usize, latency: u64, frames: u64) -> Walk {
    let setup = Setup::players(players);
    let network = Rc::new(RefCell::new(Network::new(players, NetConditions::latency(latency), setup.seed)));
    let mut peers: Vec<_> = (0..players)
        .map(|me| {
            let session = session(config(&setup), players, me);
            let link = link(Socket::new(&network, me), me, players);
            (Timeline::new(session, Maze::<READ, TURN_BACK>::new(players)), Driver::default(), link)
        })
        .collect();
    let mut pressed = vec![1; players];
    for step in 0.. {
        let now = Micros::new(frame_us(step));
        network.borrow_mut().set_now(now.get());
        for (player, (timeline, exchange, link)) in peers.iter_mut().enumerate() {
            exchange.receive(now, link, timeline.session_mut());
            let frame = u64::from(timeline.session().current_frame().number());
            let drawn = [player as u64, frame, 0];
            if frame < frames && happens(0.1, setup.seed, drawn) {
                pressed[player] = (pressed[player] + 1 + (draw(setup.seed, drawn) % 3) as u8) % 4;
            }
            if frame < frames + 60 {
                timeline.session_mut().set_input(Slot::at(player), pressed[player]).expect("a local slot");
                timeline.tick(now);
            }
            exchange.send(now, link, timeline.session_mut());
        }
        if peers
            .iter()
            .all(|(timeline, ..)| u64::from(timeline.session().current_frame().number()) == frames + 60)
        {
            break;
        }
    }
    let hashes: Vec<u64> = peers.iter().map(|(timeline, ..)| state_hash(timeline.game())).collect();
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "peers ended in different states");
    let walkers = &peers[0].0.game().walkers[..players];
    Walk {
        again: peers.iter().map(|(timeline, ..)| timeline.session().stats().frames_resimulated).sum(),
        hash: hashes[0],
        eaten: walkers.iter().map(|walker| walker.eaten).sum(),
    }
}
