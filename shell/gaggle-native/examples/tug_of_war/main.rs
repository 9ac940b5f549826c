//! Tug of war in terminals, online. Start a server, then this in two terminals:
//!
//! ```text
//! cargo run -p gaggle-server
//! cargo run -p gaggle-native --example tug_of_war
//! ```
//!
//! Every Enter pulls; Ctrl+D leaves, and the other player continues. Start it again to return to
//! the match. The other player may use a page: `shell/gaggle-browser/examples/tug_of_war_page.rs`
//! is the same game there.

mod game;

use std::error::Error;
use std::io::{Write, stdin, stdout};
use std::{sync::mpsc, thread, time::Duration};

use gaggle::{GameRoom, Micros, RoomConfig};
use gaggle_native::{Clock, platform, random_seed};

use game::TugOfWar;

fn main() -> Result<(), Box<dyn Error>> {
    let server = std::env::args().nth(1).unwrap_or("ws://127.0.0.1:8080".to_string());
    let (clock, config) = (Clock::start(), RoomConfig::new("tug-of-war", 2)?.version("1"));
    let platform = platform(&server)?;
    let mut room = GameRoom::open(clock.now(), config, platform, TugOfWar::default(), random_seed()?)?;

    // Reading a line waits, and nothing else here may.
    let (typed, enters) = mpsc::channel();
    thread::spawn(move || stdin().lines().map_while(Result::ok).all(|_| typed.send(()).is_ok()));
    let mut pulls_until = Micros::ZERO;
    loop {
        let now = clock.now();
        match enters.try_recv() {
            Ok(()) => pulls_until = now + Micros::from_millis(200),
            Err(mpsc::TryRecvError::Empty) => {}
            Err(mpsc::TryRecvError::Disconnected) => break,
        }
        room.set_input(0, now < pulls_until);
        room.update(now);
        while let Some(event) = room.poll_event() {
            println!("\r* {event}{:40}", "");
        }
        print!(
            "\r[{:1$}O{2:3$}]",
            "",
            (room.game().rope / 20 + 30) as usize,
            "",
            (30 - room.game().rope / 20) as usize
        );
        stdout().flush()?;
        thread::sleep(Duration::from_millis(8));
    }
    room.leave();
    Ok(())
}
