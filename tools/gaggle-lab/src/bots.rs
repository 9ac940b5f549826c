//! Load generator: bots that join rooms of a real server and play over real links.
//!
//! Only the players are simulated. Called by `main.rs`. Absent: single bots (`bots/`).

mod bot;
mod shared_bot;
mod tally;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use gaggle::RoomCode;
use gaggle::link::Path;
use gaggle::lobby::Label;
use gander::SEATS;

use bot::Flyer;
use shared_bot::{Brawler, Rower, Shared};
use tally::{Tally, Told};

/// Time between two updates of a bot: a quarter of a frame.
const TURN: Duration = Duration::from_millis(4);
/// Time between two reports of a bot.
const TELL_EVERY: Duration = Duration::from_millis(250);

/// Games that bots play.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Game {
    #[default]
    Gander,
    Drake,
    Millpond,
}

/// A bot with its room.
trait Player {
    /// Runs the frames that are due.
    fn play(&mut self);
    /// Reports its figures.
    fn told(&mut self) -> Told;
    /// Leaves its room.
    fn leave(&mut self);
}

/// Lets bots join a server's rooms and play
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Address of the server, as ws://127.0.0.1:8080
    #[arg(long)]
    server: String,
    /// Game to play; drake and millpond replicate objects
    #[arg(long, value_enum, default_value_t = Game::Gander)]
    game: Game,
    /// Code of a room to join, to play with its members; without it bots look for rooms
    #[arg(long, value_parser = parse_code)]
    room: Option<RoomCode>,
    /// Number of rooms to fill
    #[arg(long, default_value_t = 1)]
    rooms: usize,
    /// Players per room
    #[arg(long, default_value_t = SEATS, value_parser = parse_players)]
    players: usize,
    /// Seconds to play once all are in a room
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Bots that start per second
    #[arg(long, default_value_t = 20)]
    pace: u32,
    /// The only path of their links: direct, relay or socket
    #[arg(long, value_parser = parse_path)]
    path: Option<Path>,
    /// Mode of the rooms they look for; players use "team", "brawl" and "pond"
    #[arg(long, default_value = "bots")]
    mode: Label,
    /// Seconds after which to give up if not all are in a room
    #[arg(long, default_value_t = 120)]
    patience: u64,
}

fn parse_players(text: &str) -> Result<usize, String> {
    let players = text.parse().ok().filter(|players| (1..=SEATS).contains(players));
    players.ok_or_else(|| format!("a room of gander has 1 to {SEATS} players"))
}

fn parse_code(text: &str) -> Result<RoomCode, String> {
    text.parse().map_err(|_| format!("{text} is no room: write the six letters of its code"))
}

fn parse_path(text: &str) -> Result<Path, String> {
    let found = Path::ALL.into_iter().find(|path| path.to_string() == text);
    found.ok_or_else(|| format!("{text} is no way for a link: write direct, relay or socket"))
}

/// Runs the command and returns its report.
pub(crate) fn run(options: &Options) -> Result<String, String> {
    let tally = play(options, |line| println!("{line}"))?;
    tally.verdict(options.path, options.game == Game::Gander)
}

/// A player that starts alone at once and looks for a room.
fn come(options: &Options, number: usize) -> Result<Box<dyn Player>, String> {
    Ok(match options.game {
        Game::Gander => Box::new(Flyer::come(options, number)?),
        Game::Drake => Box::new(Shared::<Brawler>::come(options, number)?),
        Game::Millpond => Box::new(Shared::<Rower>::come(options, number)?),
    })
}

/// Lets all bots play and reports progress now and then.
fn play(options: &Options, mut progress: impl FnMut(String)) -> Result<Tally, String> {
    let bots = options.rooms * options.players;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, bots.max(1));
    let board = Mutex::new(vec![Told::default(); bots]);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let lane = |lane: usize| {
            let (board, stop) = (&board, &stop);
            scope.spawn(move || drive(options, (lane..bots).step_by(threads), board, stop))
        };
        let lanes: Vec<_> = (0..threads).map(lane).collect();
        let tally = watch(options, &board, &mut progress);
        stop.store(true, Ordering::Relaxed);
        for lane in lanes {
            lane.join().map_err(|_| "a thread of bots panicked")??;
        }
        Ok(tally)
    })
}

/// Waits until the bots have played long enough or have failed.
fn watch(options: &Options, board: &Mutex<Vec<Told>>, progress: &mut impl FnMut(String)) -> Tally {
    let mut tally = Tally::new(options.rooms, options.players);
    let began = Instant::now();
    let mut all_in: Option<Instant> = None;
    let mut spoken = Instant::now();
    loop {
        std::thread::sleep(TELL_EVERY);
        tally.take(&board.lock().unwrap_or_else(PoisonError::into_inner));
        if tally.is_complete() && all_in.is_none() {
            all_in = Some(Instant::now());
            progress(format!("all are in after {:.1} s", began.elapsed().as_secs_f64()));
        }
        let enough = all_in.is_some_and(|at| at.elapsed() >= Duration::from_secs(options.seconds));
        let hopeless = all_in.is_none() && began.elapsed() >= Duration::from_secs(options.patience);
        if enough || hopeless {
            return tally;
        }
        if spoken.elapsed() >= Duration::from_secs(5) {
            spoken = Instant::now();
            progress(tally.to_string());
        }
    }
}

/// Drives some of the bots from the start of each to the common end.
fn drive(
    options: &Options,
    numbers: impl Iterator<Item = usize>,
    board: &Mutex<Vec<Told>>,
    stop: &AtomicBool,
) -> Result<(), String> {
    let began = Instant::now();
    let due = |number: usize| Duration::from_secs(1) * number as u32 / options.pace.max(1);
    let mut waiting = numbers.peekable();
    let mut players: Vec<(usize, Box<dyn Player>)> = Vec::new();
    let mut told_at = began;
    while !stop.load(Ordering::Relaxed) {
        while let Some(number) = waiting.next_if(|number| began.elapsed() >= due(*number)) {
            players.push((number, come(options, number)?));
        }
        players.iter_mut().for_each(|(_, player)| player.play());
        if told_at.elapsed() >= TELL_EVERY {
            told_at = Instant::now();
            let news: Vec<(usize, Told)> =
                players.iter_mut().map(|(number, one)| (*number, one.told())).collect();
            let mut board = board.lock().unwrap_or_else(PoisonError::into_inner);
            news.into_iter().for_each(|(number, told)| board[number] = told);
        }
        std::thread::sleep(TURN);
    }
    players.iter_mut().for_each(|(_, player)| player.leave());
    Ok(())
}

#[cfg(test)]
mod tests {
    use gaggle_server::{BackgroundServer, Config};

    use super::*;

    /// Plays with bots on a server of its own.
    fn load(game: Game, rooms: usize, players: usize, path: Option<Path>) -> Tally {
        let data = std::env::temp_dir().join(format!("gaggle-bots-{}-{game:?}-{path:?}", std::process::id()));
        let config = Config { listen: ([127, 0, 0, 1], 0).into(), data: data.clone(), ..Config::default() };
        let server = BackgroundServer::start(config).unwrap();
        let options = Options {
            server: format!("ws://{}", server.address()),
            game,
            room: None,
            rooms,
            players,
            seconds: 4,
            pace: 20,
            path,
            mode: "bots".parse().unwrap(),
            patience: 60,
        };
        let tally = play(&options, |_| {}).unwrap();
        tally.verdict(path, game == Game::Gander).unwrap();
        server.stop();
        let _ = std::fs::remove_dir_all(data);
        tally
    }

    #[test]
    fn bots_fill_rooms_of_real_server_and_play_over_direct_links() {
        let tally = load(Game::Gander, 3, 2, None);
        assert_eq!(
            (tally.rooms(), tally.paths(Path::Direct), tally.paths(Path::Relay)),
            (3, 6, 0),
            "{tally}"
        );
        assert!(tally.frames() > 6 * 60 && tally.agreed() > 0, "{tally}");
    }

    #[test]
    fn bots_play_through_relay_alone() {
        let tally = load(Game::Gander, 1, 3, Some(Path::Relay));
        assert_eq!(
            (tally.rooms(), tally.paths(Path::Relay), tally.paths(Path::Direct)),
            (1, 6, 0),
            "{tally}"
        );
        assert!(tally.frames() > 3 * 60 && tally.agreed() > 0, "{tally}");
    }

    #[test]
    #[ignore = "long: GAGGLE_LONG=1"]
    fn bots_share_worlds_on_real_server() {
        for game in [Game::Drake, Game::Millpond] {
            let tally = load(game, 1, 3, None);
            assert_eq!((tally.rooms(), tally.paths(Path::Direct)), (1, 6), "{game:?}: {tally}");
            assert!(tally.frames() > 3 * 60 && tally.updates() > 100, "{game:?}: {tally}");
        }
    }
}
