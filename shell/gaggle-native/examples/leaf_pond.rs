//! A pond of leaves that all players may push, in terminals, online. Start a server, then this in
//! two terminals or more:
//!
//! ```text
//! cargo run -p gaggle-server
//! cargo run -p gaggle-native --example leaf_pond
//! ```
//!
//! Type directions to swim, as in `ddds`, and Enter. Close any terminal, the first one too: the
//! others keep every leaf.

use std::error::Error;
use std::io::{Write, stdin, stdout};
use std::{sync::mpsc, thread, time::Duration};

use gaggle::replica::{AuthorityPolicy, Kind, Kinds, ObjectId, Session};
use gaggle::{RoomConfig, World, WorldRoom};
use gaggle_native::{Clock, platform, random_seed};

const WIDTH: u8 = 40;
const HEIGHT: u8 = 9;

/// A leaf on the water. The player who touches one gets authority over it and moves it from then
/// on.
#[derive(Debug, Clone, Copy, PartialEq, Kind)]
struct Leaf {
    #[kind(range = 0..=39)]
    x: u8,
    #[kind(range = 0..=8)]
    y: u8,
}

/// A player's own duck. It leaves with its player.
#[derive(Debug, Clone, Copy, PartialEq, Kind)]
#[kind(on_leave = despawn)]
struct Duck {
    #[kind(range = 0..=39)]
    x: u8,
    #[kind(range = 0..=8)]
    y: u8,
}

/// No state beside the objects.
struct Pond;

impl World for Pond {
    type Input = u8; // a letter, or 0
    const TICK_RATE: u32 = 30;

    fn kinds() -> Kinds {
        Kinds::new().with::<Leaf>().with::<Duck>()
    }

    fn populate(&mut self, session: &mut Session) {
        for nth in 0..24 {
            session.spawn(&Leaf { x: nth * 7 % WIDTH, y: nth * 4 % HEIGHT }).expect("a free object id");
        }
    }

    fn on_enter(&mut self, session: &mut Session) {
        let me = session.local_slot();
        if session.iter_owned::<Duck>(me).next().is_none() {
            session
                .spawn_owned(me, &Duck { x: 3 + 4 * me.byte(), y: 4 })
                .expect("every player may have a duck");
        }
    }

    fn step(&mut self, session: &mut Session) {
        let letter = session.input(session.local_slot()).unwrap_or(0);
        let mine = session.iter_authoritative::<Duck>().next();
        let Some((id, duck)) = mine.and_then(|id| Some((id, session.get::<Duck>(id)?))) else { return };
        let Some((x, y)) = beyond((duck.x, duck.y), letter) else { return };
        let in_the_way: Option<(ObjectId, Leaf)> =
            session.iter::<Leaf>().find(|(_, leaf)| (leaf.x, leaf.y) == (x, y));
        if let Some((leaf, _)) = in_the_way {
            // Another player may have it locked.
            let Some((x, y)) = beyond((x, y), letter).filter(|_| session.claim(leaf).is_ok()) else { return };
            session.set(leaf, &Leaf { x, y }).expect("claiming it gave authority");
        }
        session.set(id, &Duck { x, y }).expect("it is the own duck");
    }
}

/// One step in the direction of a letter, if that is still on the pond.
fn beyond((x, y): (u8, u8), letter: u8) -> Option<(u8, u8)> {
    let (x, y) = match letter {
        b'w' => (x, y.checked_sub(1)?),
        b's' => (x, y + 1),
        b'a' => (x.checked_sub(1)?, y),
        b'd' => (x + 1, y),
        _ => return None,
    };
    (x < WIDTH && y < HEIGHT).then_some((x, y))
}

fn draw(session: &Session) -> String {
    let mut rows = vec![vec!['·'; WIDTH.into()]; HEIGHT.into()];
    for (_, leaf) in session.iter::<Leaf>() {
        rows[usize::from(leaf.y)][usize::from(leaf.x)] = '♣';
    }
    for (id, duck) in session.iter::<Duck>() {
        let number = session.owner(id).map_or(0, |player| player.byte());
        rows[usize::from(duck.y)][usize::from(duck.x)] = char::from(b'A' + number % 26);
    }
    rows.into_iter().map(|row| String::from_iter(row) + "\n").collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let server = std::env::args().nth(1).unwrap_or("ws://127.0.0.1:8080".to_string());
    let (clock, config) = (Clock::start(), RoomConfig::world("leaf-pond", 8, AuthorityPolicy::Anyone)?);
    let outside = platform(&server)?;
    let mut room = WorldRoom::open(clock.now(), config, outside, Pond, random_seed()?)?;

    // Reading a line blocks, so it has a thread of its own.
    let (typed, letters) = mpsc::channel();
    thread::spawn(move || stdin().lines().map_while(Result::ok).all(|line| typed.send(line).is_ok()));
    let (mut way, mut shown) = (Vec::new(), String::new());
    loop {
        match letters.try_recv() {
            Ok(line) => way.extend(line.bytes().rev()),
            Err(mpsc::TryRecvError::Empty) => {}
            Err(mpsc::TryRecvError::Disconnected) => break,
        }
        room.set_input(0, way.last().copied().unwrap_or(0));
        if room.update(clock.now()) > 0 {
            way.pop();
        }
        while let Some(event) = room.poll_event() {
            println!("* {event}");
        }
        let picture = draw(room.session());
        if picture != shown {
            println!("\n{picture}you are {}", char::from(b'A' + room.local_slot().byte() % 26));
            shown = picture;
        }
        stdout().flush()?;
        thread::sleep(Duration::from_millis(8));
    }
    room.leave();
    Ok(())
}
