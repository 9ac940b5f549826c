//! Data of a room: join requests, reservations, settings of a new room.
//!
//! Part of log commands and snapshots. Absent: rules.

use gaggle_kit::{Micros, PeerId};

use crate::MessageError;
use crate::id::{NetworkId, NodeId, PlayerId, ResumeId, RoomCode, RoomId, Seed};
use crate::json::{Raw, Value, record, write_string};
use crate::label::{DisplayName, Label};
use crate::players::LocalPlayers;
use crate::rules::Rules;
use crate::ticket::Claims;
use crate::view::RawJson;

record! {
    /// Connection of a member: node, epoch of the node, and connection there.
    #[derive(Copy, PartialOrd, Ord)]
    pub struct Attachment {
        /// Node of the connection.
        node: NodeId,
        /// Epoch of the node; a new one starts after a crash or an expired lease.
        epoch: u32,
        /// Public id of the connection.
        session: ResumeId,
    }
}

record! {
    /// Network and sign-in of a member.
    #[derive(Copy, PartialOrd, Ord)]
    pub struct Source {
        /// Network of its last connection; for a player in a match, of the connection it joined
        /// from.
        network: NetworkId,
        /// A token issuer has authenticated the player; a guest's key is free.
        signed_in: bool,
    }
}

record! {
    /// What only the server knows about a member.
    pub struct Reservation {
        /// Network and sign-in of the member.
        source: Source,
        /// Connection, if there is one.
        link: Option<Attachment>,
        /// Last connection there was.
        session: ResumeId,
        /// When the connection was lost, if it is.
        away_since: Option<Micros>,
        /// The member left by itself and may return in a moment.
        stepped_out: bool,
        /// When the player went away from the game, if it did.
        resting_since: Option<Micros>,
        /// Join order: the lowest joined first.
        order: u64,
        /// Number of the next signal to this member.
        next_signal: u64,
        /// Number of the last signal from this member, if it numbers them.
        got: Option<u64>,
        /// Epoch of the ticket that restored this member after the server lost the room.
        restored: Option<u32>,
    }
}

record! {
    /// A peer about to join.
    pub struct JoinRequest {
        /// Id of the peer.
        peer: PeerId,
        /// Account of its player.
        player: PlayerId,
        /// Display name of its player.
        name: DisplayName,
        /// Preferred slot, which decides its color.
        preferred_slot as "palette": u8,
        /// Joins as a spectator.
        spectate as "watch": bool,
        /// Local players of the peer.
        players: LocalPlayers,
        /// Gives up another reservation once this one is certain.
        leave_current as "switch": bool,
        /// Network and sign-in of the peer.
        source: Source,
    }
}

record! {
    /// A room about to be created.
    pub struct NewRoom {
        /// Id of the room.
        id: RoomId,
        /// Code of the room.
        code: RoomCode,
        /// Seed of its first match.
        seed: Seed,
        /// Game to play.
        game: Label,
        /// Mode of the game.
        mode: Label,
        /// Build of the game.
        build: Label,
        /// Number of slots.
        max_players as "seats": u8,
        /// Kept out of the list and of `find`.
        private: bool,
        /// Plays at once and admits joiners while it does.
        drop_in: bool,
        /// Waits for the host to start a match, although joiners are admitted while it runs.
        host_starts: bool,
        /// Created by `find`, for players who do not know each other.
        matched: bool,
        /// The game's settings.
        settings: RawJson,
    }
}

impl Reservation {
    /// Until when the reservation of an absent member is kept; none while it is connected.
    pub(super) fn kept_until(&self, rules: &Rules) -> Option<Micros> {
        let grace = if self.stepped_out {
            rules.reload_grace.min(rules.reconnect_grace)
        } else {
            rules.reconnect_grace
        };
        self.away_since.map(|since| since + grace)
    }
}

impl NewRoom {
    /// The room of a ticket, to be restored.
    pub(crate) fn of_ticket(claims: &Claims, settings: RawJson) -> NewRoom {
        NewRoom {
            id: claims.room,
            code: claims.code,
            seed: claims.seed,
            game: claims.game.clone(),
            mode: claims.mode.clone(),
            build: claims.build.clone(),
            max_players: claims.max_players,
            private: claims.flags.private,
            drop_in: claims.flags.drop_in,
            host_starts: claims.flags.host_starts,
            // Tickets do not say so. Public rooms are most likely filled by `find`.
            matched: !claims.flags.private && claims.flags.drop_in,
            settings,
        }
    }
}

/// Which connection may lose a reservation to a claiming one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Displace {
    /// No connection that is alive.
    Never,
    /// This connection, which was found dead, and no later one.
    OnlyFrom(ResumeId),
    /// Any connection: the player asked for it.
    Always,
}

/// Written as `"always"` or as the connection; omitted for [`Displace::Never`].
impl Value for Displace {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<Displace, MessageError> {
        match raw.string().as_deref() {
            Some("always") => Ok(Displace::Always),
            _ => ResumeId::read(raw, field).map(Displace::OnlyFrom),
        }
    }

    fn blank() -> Displace {
        Displace::Never
    }

    fn write(&self, out: &mut String) {
        match self {
            Displace::OnlyFrom(session) => session.write(out),
            Displace::Always | Displace::Never => write_string("always", out),
        }
    }

    fn missing() -> Option<Displace> {
        Some(Displace::Never)
    }

    fn is_missing(&self) -> bool {
        *self == Displace::Never
    }
}

/// How a peer resumed its reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attached {
    /// On the connection after the lost one: signal numbering continues.
    Resumed {
        /// Number of the next signal to the member.
        next_signal: u64,
        /// Number of the last signal that arrived from it.
        got: Option<u64>,
    },
    /// Without memory of signals: after a reload, on another device, through another node.
    Fresh,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(displace: Displace) -> String {
        let mut out = String::new();
        displace.write(&mut out);
        out
    }

    #[test]
    fn displace_reads_back_as_it_was_written() {
        for displace in [Displace::Always, Displace::OnlyFrom(ResumeId(7))] {
            let text = written(displace);
            assert_eq!(Displace::read(Raw::parse(&text).unwrap(), "displace"), Ok(displace));
        }
    }

    #[test]
    fn displace_never_is_left_out() {
        assert!(Displace::Never.is_missing() && !Displace::Always.is_missing());
        assert_eq!(Displace::missing(), Some(Displace::Never));
    }

    #[test]
    fn displace_of_another_word_is_invalid() {
        assert!(Displace::read(Raw::parse("\"sometimes\"").unwrap(), "displace").is_err());
        assert!(Displace::read(Raw::parse("3").unwrap(), "displace").is_err());
    }
}
