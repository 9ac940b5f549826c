//! The trait of games in the arcade. A new game is one file in `cabinets/` and one line in its
//! list; everything about it is behind [`Cabinet`]. `Arcade` calls it. Absent: menu, panels, keys
//! and sound.

mod room;

use std::any::Any;

use gaggle::{Micros, SlotSet};
use gaggle_scene::{Album, Recipe, Scene, View};

use crate::{Held, PlayerLine, Waiting};

pub use room::{CabinetRoom, EngineReport, HostedRoom};

/// Facts about a game before it is played.
#[derive(Debug)]
pub struct About {
    /// Name for the lobby, the address and the marquee: lower-case letters.
    pub name: &'static str,
    /// Width and height of the world in world pixels.
    pub world: (i32, i32),
    /// Most players; the score board and the joining panel show at most six.
    pub seats: usize,
    /// Most players at one peer.
    pub players_here: usize,
    /// Whether matches can be saved as replay files.
    pub has_replays: bool,
    /// Text for a player that leaves while others play on.
    pub aside: &'static [&'static str],
    /// Whether bots can be added with `bots=`.
    pub has_bots: bool,
    /// Its modes, at least one: name for the lobby, and name for players.
    pub modes: &'static [(&'static str, &'static str)],
    /// Names of unnamed players by slot.
    pub names: &'static [&'static str],
    /// Name of its world, such as `the fen`, shown while joining.
    pub place: &'static str,
    /// One or two sentences about a new player's arrival; empty for the arcade's own text.
    pub arrival: &'static str,
    /// Keys and their meanings: for a single player, and where two can play at one keyboard, for
    /// the first and the second of them.
    pub keys: &'static [&'static [(&'static str, &'static str)]],
    /// Actions that players can choose keys for, with their meanings: 0 to 5 for left, right, up,
    /// down, the button and the second button.
    pub own_keys: &'static [(usize, &'static str)],
    /// Whether up and down are used: touch controls then have four directions.
    pub has_four_ways: bool,
    /// Label of the touch button.
    pub action: &'static str,
    /// Label of both steering buttons where they do the same.
    pub turn: Option<&'static str>,
    /// Words of its table of results: what it counts its progress in, as `Wave`, and heads of its
    /// own figures beside name and score.
    pub columns: (&'static str, &'static [&'static str]),
    /// Number of help pages.
    pub help_pages: usize,
    /// Title and text of a help page.
    pub help: fn(usize) -> (&'static str, &'static str),
    /// Sounds that its cues refer to.
    pub recipes: &'static [Recipe],
}

impl About {
    /// Whether the game has a second button.
    pub fn has_second(&self) -> bool {
        self.own_keys.iter().any(|(action, _)| *action == SECOND)
    }
}

/// The second button in [`About::own_keys`].
const SECOND: usize = 5;

/// Parameters a cabinet is opened with.
#[derive(Debug)]
pub struct Parts<O> {
    /// Time of the frame.
    pub now: Micros,
    /// A random number for seeds.
    pub seed: u64,
    /// Size and scale of the screen.
    pub view: View,
    /// Settings of the lobby client, with the player's identity.
    pub client: gaggle::lobby::client::ClientConfig,
    /// Network and lobby of the page.
    pub outside: O,
}

/// Parameters of a match to begin.
#[derive(Debug, Clone)]
pub struct Start {
    /// Index in [`About::modes`].
    pub mode: usize,
    /// Number of local players.
    pub players: usize,
    /// Number of local bots.
    pub bots: usize,
    /// Seed of the match.
    pub seed: u64,
    /// Lives per player, for games that have lives; the game's default if none.
    pub lives: Option<u8>,
    /// Wave, lap or round to begin with, for games that have them.
    pub level: Option<u16>,
    /// The room to join.
    pub wish: gaggle::JoinTarget,
}

/// What the cabinet shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// The demo match behind the menu, without any text.
    Attract,
    /// A page of how to play.
    Help(usize),
    /// The match is shown.
    Match,
    /// The replay that is open.
    Replay,
}

/// Properties of the viewer that change the picture.
#[derive(Debug, Clone, Copy)]
pub struct Looks<'a> {
    /// Names by slot; empty for none.
    pub names: &'a [String],
    /// Slots that are played here.
    pub own: SlotSet,
    /// Quality of each link, 0 to 3 bars; none for local players and bots.
    pub bars: &'a [Option<u8>],
    /// Reduced motion is on.
    pub calm: bool,
    /// Whether to draw no captions in the middle, where the arcade draws text.
    pub plain: bool,
    /// Whether to draw neither plaques nor names, which the arcade's own table shows.
    pub bare: bool,
    /// The match is paused.
    pub still: bool,
    /// Whether touch controls cover the lower corners.
    pub thumbs: bool,
    /// Whether the network panel is shown.
    pub curious: bool,
    /// Position of a demo match between two frames, 0 to 1. A match has its own clock.
    pub between: f32,
}

impl<'a> Looks<'a> {
    /// Name of the player in a slot: bots have names from the game.
    pub fn name_of(&self, seat: usize, about: &About) -> &'a str {
        match self.names.get(seat) {
            Some(name) if !name.is_empty() => name,
            _ => about.names[seat % about.names.len()],
        }
    }
}

/// State of a match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    /// The shown frame, by which cues are counted.
    pub frame: u32,
    /// Progress: the wave, the lap, the round.
    pub level: u16,
    /// Whether the match is over, until a player begins another.
    pub over: bool,
    /// Whether it has been over for long enough to show the scores.
    pub board: bool,
    /// Whether all local players are out of it while others still play.
    pub out: bool,
    /// The state as text, for screen readers.
    pub said: String,
}

/// A replay that is shown.
pub trait Tape {
    /// Shown frame and last frame.
    fn position(&self) -> (u32, u32);
    /// Whether it runs.
    fn running(&self) -> bool;
    /// Frames at which a level begins, with the level.
    fn levels(&self) -> &[(u32, u16)];
    /// Frames in which a player fell, with its slot.
    fn falls(&self) -> &[(u32, usize)];
    /// Damage of the file as text.
    fn damage(&self) -> Option<&str>;
    /// Pauses or resumes.
    fn toggle(&mut self);
    /// Seeks by this many frames.
    fn jump(&mut self, frames: i64);
    /// Shows this frame.
    fn jump_to(&mut self, frame: u32);
}

/// One game in the arcade, with its room.
pub trait Cabinet: Any {
    /// Facts about the game.
    fn about(&self) -> &'static About;

    /// Room of the cabinet.
    fn room(&self) -> &dyn CabinetRoom;

    /// Room of the cabinet, mutable.
    fn room_mut(&mut self) -> &mut dyn CabinetRoom;

    /// Its room, if a host starts the matches there.
    fn hosted(&mut self) -> Option<&mut dyn HostedRoom> {
        None
    }

    /// Draws the lobby of such a room at a time in frames. `calm`: reduced motion is on.
    fn draw_lobby(&mut self, waiting: &[Waiting], time: f32, calm: bool, scene: &mut Scene) {
        let _ = (waiting, time, calm, scene);
    }

    /// Adapts to another screen.
    fn resize(&mut self, view: View);

    /// Begins a match alone at once, and joins a room as requested. True if it could.
    fn start(&mut self, start: &Start) -> bool;

    /// Sets the buttons a local player holds; called before every [`Cabinet::update`].
    fn hold(&mut self, player: usize, held: Held);

    /// Updates the room. Returns the number of simulated frames.
    fn update(&mut self, now: Micros) -> u32;

    /// Restarts the demo.
    fn rewind(&mut self, show: Show);

    /// Simulates one frame of the demo.
    fn step(&mut self, show: Show);

    /// Draws the scene, with the cues to be heard.
    fn draw(&mut self, show: Show, looks: &Looks<'_>, scene: &mut Scene);

    /// The most active place in the demo's world, for the cabinet's screen in the menu. None where
    /// the menu has an image of its own.
    fn liveliest(&self) -> Option<(i32, i32)> {
        None
    }

    /// The images its scenes refer to.
    fn album(&self) -> &Album;

    /// State of the match, or of the open replay.
    fn standing(&self) -> Standing;

    /// Players of the match, by slot. The arcade adds names.
    fn players(&self) -> Vec<PlayerLine>;

    /// Whether local players are mostly at the right: then the overlay is at the left.
    fn is_own_at_right(&self) -> bool;

    /// Positions of local players in world pixels, by slot. Empty where they need not be marked.
    fn own_places(&self) -> Vec<(i32, i32)> {
        Vec::new()
    }

    /// Position of a slot's player on the screen in world pixels; none if it is not visible.
    fn place_of(&self, seat: usize) -> Option<(i32, i32)>;

    /// One line about a finished match, equal for all its players.
    fn closing_line(&self, number: u64) -> &'static str;

    /// Reports a finished match to the lobby. True if it was sent; called until it is.
    fn report_result(&mut self) -> bool;

    /// Score of the local players, and the level reached; none where nothing is counted.
    fn own_score(&self) -> Option<(i64, u32)> {
        None
    }

    /// The match so far as a replay file.
    fn replay_bytes(&self) -> Option<Vec<u8>> {
        None
    }

    /// The desync bundle recorded since the last call, as a file.
    fn take_desync_bundle(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Opens a replay file, to be shown as [`Show::Replay`].
    ///
    /// # Errors
    /// The reason why no part of it can be shown, as text.
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

    /// Appends the game's facts for tools: members of a JSON object, each preceded by a comma.
    fn tell(&self, out: &mut String);
}
