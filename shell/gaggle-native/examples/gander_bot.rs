//! A bot that plays gander with browsers: a native peer and a page in one match.
//!
//! `cargo xtask play` opens the arcade; `cargo run -p gaggle-native --example gander_bot --
//! ws://127.0.0.1:8080` joins. It prints the path of its links: direct, through the relay's UDP
//! port, or through its WebSocket (`relay` or `socket` as second argument permits nothing else).

use std::time::Duration;

use gaggle::link::Path;
use gaggle::{GameRoom, OnlineConfig, Phase, RoomConfig};
use gaggle_native::{Clock, platform_with, random_seed};
use gander::bots::{Bot, Strength};
use gander::{Gander, SEATS, Setup};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let server = arguments.next().unwrap_or_else(|| "ws://127.0.0.1:8080".to_string());
    let only = arguments.next();
    let only = Path::ALL.into_iter().find(|path| Some(path.to_string()) == only);

    let mut config = RoomConfig::new("gander", SEATS as u8)?;
    config.engine.game_fingerprint = gander::FINGERPRINT;
    config.mode = "team".parse()?;
    config.lobby.display_name = Some("Auk the bot".to_string());
    let (clock, seed) = (Clock::start(), random_seed()?);
    let outside = platform_with(&server, OnlineConfig { only_path: only, ..OnlineConfig::default() })?;
    let mut room = GameRoom::open(clock.now(), config, outside, Gander::new(Setup::default(), seed), seed)?;

    let mut told = (Phase::Solo, Vec::new());
    let mut bot: Option<Bot> = None;
    loop {
        // A single local player, in whichever slot.
        if let Some(slot) = room.local_slots().iter().next() {
            let seat = slot.index();
            let bot = match &mut bot {
                Some(bot) if bot.seat() == seat => bot,
                other => other.insert(Bot::new(seat, Strength::Steady, seed)),
            };
            let pad = bot.play(room.game());
            room.set_input(0, pad);
        }
        room.update(clock.now());
        while let Some(event) = room.poll_event() {
            println!("{event:?}");
        }
        let people = room.members();
        let paths: Vec<String> = people
            .iter()
            .filter_map(|person| person.path.map(|path| format!("{} {path}", person.name)))
            .collect();
        if (room.phase(), &paths) != (told.0, &told.1) {
            println!("{:?}, links: {}", room.phase(), paths.join(", "));
            told = (room.phase(), paths);
        }
        std::thread::sleep(Duration::from_millis(4));
    }
}
