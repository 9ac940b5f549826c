//! Words of a room: who joins, what is kept for a member, what a new room is like.
//!
//! They travel in commands of the log and in snapshots. Absent: rules.

use gaggle_kit::{Micros, PeerId};

use crate::MessageError;
use crate::id::{NetworkId, NodeId, PlayerId, ResumeId, RoomCode, RoomId, Seed};
use crate::json::{Raw, Value, record, write_string};
use crate::label::{DisplayName, Label};
use crate::players::LocalPlayers;
use crate::ticket::Claims;
use crate::view::RawJson;

record! {
    /// Where a member's connection is: node, which life of that node, and which connection there.
    #[derive(Copy, PartialOrd, Ord)]
    pub struct Attachment {
        /// The node.
        node: NodeId,
        /// Which life of the node: after a crash, or when it was taken for dead, it gets a new one.
        epoch: u32,
        /// The connection.
        session: ResumeId,
    }
}

record! {
    /// Where a member comes from, as far as the server has to know.
    #[derive(Copy, PartialOrd, Ord)]
    pub struct Source {
        /// The network it connected from last; of a participant in a match, when it came.
        network: NetworkId,
        /// An issuer of tokens vouches for the person; a guest's key costs nothing to make.
        signed_in: bool,
    }
}

record! {
    /// What the server knows about a member and others need not.
    pub struct Reservation {
        /// Where the member comes from.
        source: Source,
        /// The connection, if there is one.
        link: Option<Attachment>,
        /// The last connection there was.
        session: ResumeId,
        /// When the connection was lost, if it is.
        away_since: Option<Micros>,
        /// It was not lost: they left, and may be back in a moment.
        stepped_out: bool,
        /// When the player looked away, if they did.
        resting_since: Option<Micros>,
        /// Rises with each joiner: who has been here longest has the lowest.
        order: u64,
        /// The number of the next signal to this member.
        next_signal: u64,
        /// The number of the last signal from this member, if it numbers them.
        got: Option<u64>,
        /// The epoch of the ticket this member was seated again by, after the server had forgotten
        /// the room.
        restored: Option<u32>,
    }
}

record! {
    /// Somebody about to be seated.
    pub struct JoinRequest {
        /// The machine.
        peer: PeerId,
        /// The person.
        player: PlayerId,
        /// What they are called.
        name: DisplayName,
        /// The colours they wish for.
        palette: u8,
        /// Only to watch.
        watch: bool,
        /// How many play at the machine.
        players: LocalPlayers,
        /// Gives up the seat they have elsewhere, once it is certain that they get this one.
        switch: bool,
        /// Where they come from.
        source: Source,
    }
}

record! {
    /// A room about to be made.
    pub struct NewRoom {
        /// Its id.
        id: RoomId,
        /// Its code.
        code: RoomCode,
        /// The seed of its first match.
        seed: Seed,
        /// What is played.
        game: Label,
        /// In which of its ways.
        mode: Label,
        /// By which build.
        build: Label,
        /// How many may play.
        seats: u8,
        /// Not in the list.
        private: bool,
        /// Playing at once, joinable while it does.
        drop_in: bool,
        /// Waiting for the host to start a match, although joinable while it runs.
        host_starts: bool,
        /// Made by `find`, for players who meet there.
        matched: bool,
        /// The game's settings.
        settings: RawJson,
    }
}

impl NewRoom {
    /// The room a ticket is for, to be created again.
    pub(crate) fn of_ticket(claims: &Claims, settings: RawJson) -> NewRoom {
        NewRoom {
            id: claims.room,
            code: claims.code,
            seed: claims.seed,
            game: claims.game.clone(),
            mode: claims.mode.clone(),
            build: claims.build.clone(),
            seats: claims.seats,
            private: claims.private,
            drop_in: claims.drop_in,
            host_starts: claims.host_starts,
            // Tickets do not say so. Public rooms are most likely filled by `find`.
            matched: !claims.private && claims.drop_in,
            settings,
        }
    }
}

/// Whose connection may lose a seat to the one that claims it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Displace {
    /// Nobody's that is alive.
    Never,
    /// This one's, which was found dead. Not that of one who came after it.
    OnlyFrom(ResumeId),
    /// Whoever's: the owner wants it here.
    Always,
}

/// Written as `"always"` or as the connection; left out if it is never.
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

/// How somebody got their seat back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attached {
    /// On the connection after the one that was lost: signals go on where they stopped.
    Resumed {
        /// The number of the next signal to the member.
        next_signal: u64,
        /// The number of the last signal that came from it.
        got: Option<u64>,
    },
    /// As somebody who knows nothing any more: after a reload, from another tab, through another
    /// node.
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
