//! Writes into the log what happened to people: always with the connection, the person and the room as fields, so that one
//! evening of one of them can be put together from the lines of many.

use gaggle_lobby::node::{Happening, Note};
use tracing::field::display;
use tracing::{debug, info};

/// What was refused is only told to who asks for details: whoever is refused decides how often.
pub(crate) fn log(note: &Note) {
    let connection = note.connection.0;
    let (player, room) = (note.player.map(display), note.room.map(display));
    match &note.happening {
        Happening::Seated { created, returned } => {
            info!(connection, player, room, created, returned, "seated");
        }
        Happening::Left(reason) => info!(connection, player, room, %reason, "left"),
        Happening::Away => info!(connection, player, room, "away"),
        Happening::BecameHost => info!(connection, player, room, "became host"),
        Happening::Refused(refusal) => {
            debug!(connection, player, room, code = %refusal.code, text = refusal.text, "refused");
        }
        Happening::Ended(refusal) => {
            info!(connection, player, room, code = %refusal.code, text = refusal.text, "ended");
        }
    }
}
