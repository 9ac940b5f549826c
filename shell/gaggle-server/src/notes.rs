//! Writes into the log what happened to people: always with the connection, the person and the room
//! as fields, so that one evening of one of them can be put together from the lines of many.

use gaggle_lobby::node::{AuditEvent, AuditRecord};
use tracing::field::display;
use tracing::{debug, info};

/// What was refused is only told to who asks for details: whoever is refused decides how often.
pub(crate) fn log(note: &AuditRecord) {
    let connection = note.connection.0;
    let (player, room) = (note.player.map(display), note.room.map(display));
    match &note.happening {
        AuditEvent::Joined { created, returned } => {
            info!(connection, player, room, created, returned, "seated");
        }
        AuditEvent::Left(reason) => info!(connection, player, room, %reason, "left"),
        AuditEvent::Away => info!(connection, player, room, "away"),
        AuditEvent::BecameHost => info!(connection, player, room, "became host"),
        AuditEvent::Rejected(refusal) => {
            debug!(connection, player, room, code = %refusal.code, text = refusal.text, "refused");
        }
        AuditEvent::RoomClosed(refusal) => {
            info!(connection, player, room, code = %refusal.code, text = refusal.text, "ended");
        }
    }
}
