//! What a game has to be to stand in the arcade. Everything of one game is behind [`Cabinet`]; a
//! new game is one file in `cabinets/` and one line in its list. The arcade has the menu, the
//! panels, keys and sound, and asks for the rest.

mod room;

use std::any::Any;

use gaggle::{Micros, SlotSet};
use gaggle_scene::{Album, Recipe, Scene, View};

use crate::{Held, PlayerLine};

pub use room::{CabinetRoom, EngineReport};

/// Facts about a game before it is played.
#[derive(Debug)]
pub struct About {
    /// As the lobby, the address and the marquee call it: small letters.
    pub name: &'static str,
    /// Width and height of what is shown, in pixels of figures.
    pub world: (i32, i32),
    /// How many may play, six at most on the score board and while joining.
    pub seats: usize,
    /// Players at one machine.
    pub players_here: usize,
    /// Whether matches can be kept as files.
    pub has_replays: bool,
    /// What is said to who steps aside while the others play on.
    pub aside: &'static [&'static str],
    /// Whether bots play along with `bots=`.
    pub has_bots: bool,
    /// Its modes: as the lobby calls them, and as people do. At least one.
    pub modes: &'static [(&'static str, &'static str)],
    /// What those are called who gave no name, by seat.
    pub names: &'static [&'static str],
    /// Where it is played, as `the fen`: what is copied when one joins.
    pub place: &'static str,
    /// What happens to who comes into a match, in a sentence or two; empty if the arcade knows
    /// better.
    pub arrival: &'static str,
    /// Which keys do what: for one player, and where two can play at one keyboard, for the first
    /// and for the second of them.
    pub keys: &'static [&'static [(&'static str, &'static str)]],
    /// Which keys of one's own it has use for, and what each does: 0 to 4 for left, right, up, down
    /// and the button.
    pub own_keys: &'static [(usize, &'static str)],
    /// Up and down mean something: thumbs have four ways to steer.
    pub has_four_ways: bool,
    /// What the button for thumbs says.
    pub action: &'static str,
    /// What left and right are called where both are the same.
    pub turn: Option<&'static str>,
    /// Pages of how to play.
    pub help_pages: usize,
    /// What is written on a page of how to play: its title, and what there is to know.
    pub help: fn(usize) -> (&'static str, &'static str),
    /// How it sounds: what cues refer to.
    pub recipes: &'static [Recipe],
}

/// What a cabinet is opened with.
#[derive(Debug)]
pub struct Parts<O> {
    /// Time of the frame.
    pub now: Micros,
    /// A random number.
    pub seed: u64,
    /// Size and scale of the screen.
    pub view: View,
    /// Who plays here.
    pub client: gaggle::lobby::client::ClientConfig,
    /// The world outside.
    pub outside: O,
}

/// A match to begin.
#[derive(Debug, Clone)]
pub struct Start {
    /// Which of [`About::modes`].
    pub mode: usize,
    /// Players at this machine.
    pub players: usize,
    /// Bots at this machine.
    pub bots: usize,
    /// What chance begins with.
    pub seed: u64,
    /// How often each may be lost, where a game has such a thing; otherwise as usual.
    pub lives: Option<u8>,
    /// The wave, lap or round to begin with, where a game has them.
    pub level: Option<u16>,
    /// Whom to play with.
    pub wish: gaggle::JoinTarget,
}

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// Bots at play, behind the menu. Nothing is to be read in it.
    Attract,
    /// A page of how to play.
    Help(usize),
    /// The match is shown.
    Match,
    /// The replay that is open.
    Replay,
}

/// Who is looking, as far as it changes the picture.
#[derive(Debug, Clone, Copy)]
pub struct Looks<'a> {
    /// What the seats are called; empty for none.
    pub names: &'a [String],
    /// Which seats are played here.
    pub own: SlotSet,
    /// How good each link is, 0 to 3 bars; none for oneself and for bots.
    pub bars: &'a [Option<u8>],
    /// Reduced motion is on.
    pub calm: bool,
    /// No captions in the middle: the arcade writes something there.
    pub plain: bool,
    /// Neither plaques nor names: the arcade's own table has them.
    pub bare: bool,
    /// The match is paused.
    pub still: bool,
    /// Thumbs lie over the lower corners.
    pub thumbs: bool,
    /// The network panel is up.
    pub curious: bool,
    /// How far what is played for show is from its frame before to its next, 0 to 1. A match has
    /// its own clock.
    pub between: f32,
}

impl<'a> Looks<'a> {
    /// Name of the player of a slot: bots have names of the game.
    pub fn name_of(&self, seat: usize, about: &About) -> &'a str {
        match self.names.get(seat) {
            Some(name) if !name.is_empty() => name,
            _ => about.names[seat % about.names.len()],
        }
    }
}

/// How a match stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    /// The frame on the screen: what cues are counted by.
    pub frame: u32,
    /// How far it is: the wave, the lap, the round.
    pub level: u16,
    /// The match is over, until a player begins another.
    pub over: bool,
    /// It has been over for long enough to show the scores.
    pub board: bool,
    /// Those who play here are out of it, and others are not.
    pub out: bool,
    /// In words, for those who listen.
    pub said: String,
}

/// A replay that is being watched.
pub trait Tape {
    /// The frame on the screen, and the last.
    fn position(&self) -> (u32, u32);
    /// Whether it runs.
    fn running(&self) -> bool;
    /// Frames at which a level begins, and which.
    fn levels(&self) -> &[(u32, u16)];
    /// Frames in which a player fell, with its slot.
    fn falls(&self) -> &[(u32, usize)];
    /// What is wrong with the file, in words.
    fn damage(&self) -> Option<&str>;
    /// Plays on or holds.
    fn toggle(&mut self);
    /// So many frames on or back.
    fn jump(&mut self, frames: i64);
    /// Shows this frame.
    fn jump_to(&mut self, frame: u32);
}

/// One game in the arcade, with the room it is played in.
pub trait Cabinet: Any {
    /// What it is.
    fn about(&self) -> &'static About;

    /// Room of the cabinet.
    fn room(&self) -> &dyn CabinetRoom;

    /// Room of the cabinet, mutable.
    fn room_mut(&mut self) -> &mut dyn CabinetRoom;

    /// The screen is another.
    fn resize(&mut self, view: View);

    /// Begins a match at once, alone, and looks for others as wished. Whether it could.
    fn start(&mut self, start: &Start) -> bool;

    /// What a player at this machine holds from now on; told before every [`Cabinet::update`].
    fn hold(&mut self, player: usize, held: Held);

    /// Lets the room do what is due. How many frames were played.
    fn update(&mut self, now: Micros) -> u32;

    /// What is played for show begins anew.
    fn rewind(&mut self, show: Show);

    /// One frame of what is played for show.
    fn step(&mut self, show: Show);

    /// Draws it, with the cues to be heard.
    fn draw(&mut self, show: Show, looks: &Looks<'_>, scene: &mut Scene);

    /// The place in its world that is most worth seeing of what is played for show: it is on the
    /// screen of the cabinet in the menu. None where the menu has a picture of its own.
    fn liveliest(&self) -> Option<(i32, i32)> {
        None
    }

    /// The images its scenes refer to.
    fn album(&self) -> &Album;

    /// How the match stands, or the replay that is open.
    fn standing(&self) -> Standing;

    /// Those who are in the match, by seat. Names are the arcade's.
    fn players(&self) -> Vec<PlayerLine>;

    /// Whether what is one's own is at the right: then the overlay is at the left.
    fn is_own_at_right(&self) -> bool;

    /// Positions of local players in pixels of the world, by slot. Empty where none needs to be
    /// found.
    fn own_places(&self) -> Vec<(i32, i32)> {
        Vec::new()
    }

    /// Where the rider of a seat is on the screen, in pixels of the world; none if it is not to be
    /// seen.
    fn place_of(&self, seat: usize) -> Option<(i32, i32)>;

    /// One line about a match that is over, the same for everybody who was in it.
    fn closing_line(&self, number: u64) -> &'static str;

    /// The match is over for everybody: tells the lobby how it ended. Whether it was told; asked
    /// until it was.
    fn report_result(&mut self) -> bool;

    /// The points of who plays here, and how far the match is; none where nothing is counted.
    fn own_score(&self) -> Option<(i64, u32)> {
        None
    }

    /// The match so far as a file.
    fn replay_bytes(&self) -> Option<Vec<u8>> {
        None
    }

    /// What a difference between games left here since it was last asked for, as a file.
    fn take_desync_bundle(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Opens a match that was kept as a file, to be seen as [`Show::Replay`].
    ///
    /// # Errors
    /// Why nothing of it can be shown, in words.
    fn open_tape(&mut self, bytes: Vec<u8>, frame: u32) -> Result<(), String> {
        let _ = (bytes, frame);
        Err("This cabinet keeps no replays.".to_string())
    }

    /// The replay that is open.
    fn tape(&mut self) -> Option<&mut dyn Tape> {
        None
    }

    /// Closes the replay.
    fn close_tape(&mut self) {}

    /// What the game knows, for tools that look into a page: members of a JSON object, each with a
    /// comma before it.
    fn tell(&self, out: &mut String);
}
