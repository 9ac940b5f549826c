//! Log lines of audit records, always with connection, player and room as fields.
//!
//! `dispatcher.rs` calls it. Absent: which events are recorded (`gaggle-lobby`).

use gaggle_lobby::node::{AuditEvent, AuditRecord};
use tracing::field::display;
use tracing::{debug, info};

/// Rejections are logged at debug level only: clients decide how many there are.
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
