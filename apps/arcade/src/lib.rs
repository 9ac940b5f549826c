//! The arcade: a page with a cabinet per game.
//!
//! [`Arcade`] is all of it without a browser: keys and time in, a picture and sounds out. `page.rs`
//! connects it with canvas, keyboard and audio, in WASM builds only. Absent: rules of the games.

// Pictures and sounds are never simulated, so floats are allowed.
#![allow(clippy::float_arithmetic)]

mod arcade;
mod busy;
pub mod cabinet;
pub mod cabinets;
mod controls;
mod delay;
mod emotes;
mod invite_panel;
mod joining_panel;
mod key_hints;
mod lobby;
mod menu;
mod net_panel;
mod notice;
mod own_keys;
mod params;
mod pen;
mod pictures;
mod room_line;
mod score_board;
mod scrubber;
mod toasts;
mod touch;
mod volume;
mod words;

#[cfg(target_arch = "wasm32")]
mod audio;
#[cfg(target_arch = "wasm32")]
pub mod page;

/// Whether this build has games whose host starts the matches, with a lobby and a chosen input
/// delay: pages of other games leave that code out.
const HAS_LOBBY: bool = cfg!(any(feature = "host-starts", not(target_arch = "wasm32")));

pub use arcade::{Arcade, Download, Keep, Keeping, Opening, Screen, Whereabouts};
pub use busy::Busy;
pub use controls::{Controls, Held, Key};
pub use invite_panel::{Invite, InviteChoice};
pub use joining_panel::{JoiningFacts, draw_joining, joining_alone_at};
pub use lobby::{Lobby, LobbyFacts, LobbyScreen, LobbyWish, Waiting};
pub use menu::{CODE_LENGTH, CODE_LETTERS, Choice, Menu, MenuFacts, NAME_LENGTH, RoomLine, keep_places};
pub use net_panel::{LinkFacts, NetDetail, NetFacts, NetPanel};
pub use notice::Notice;
pub use params::Params;
pub use pictures::album;
pub use score_board::{BoardLine, PlayerLine, ScoreBoard, ScoreChoice, ScoreFacts, dry_line};
pub use scrubber::{ScrubFacts, Scrubber};
pub use toasts::{Spot, Toasts};
pub use touch::Touch;
pub use volume::Volume;
