//! Messages from client to server.
//!
//! Encoded by [`Client`](crate::client::Client), validated by [`Node`](crate::node::Node). Absent:
//! rules of rooms, which are in `room`.

use gaggle_kit::{PeerId, Slot};

use crate::id::{RoomCode, RoomId};
use crate::json::{record, tagged};
use crate::label::Label;
use crate::players::LocalPlayers;
use crate::view::RawJson;

record! {
    /// First message on a connection. Every field is optional.
    #[derive(Default)]
    pub struct Hello {
        /// Protocol version of the client; 1 if missing.
        version: Option<u32>,
        /// Secret of a guest: 16 to 128 of `A-Z a-z 0-9 _ -`, random, kept by the client. Without
        /// one the server creates one and returns it in `welcome`.
        key: Option<String>,
        /// Distinguishes devices and browser tabs of one player: up to 64 of the same characters.
        /// Each has its own reservation.
        seat: Option<String>,
        /// Display name of the player.
        name: Option<String>,
        /// Token of an external issuer, instead of a guest's key.
        token: Option<String>,
        /// From the last `welcome`: proves that this is the same client.
        resume: Option<String>,
        /// With `resume`: the number of the last signal received.
        seen: Option<u64>,
        /// Last ticket, so that a server that lost the room can restore its members.
        ticket: Option<String>,
        /// Settings of the room that the ticket was signed with.
        settings: RawJson,
    }
}

record! {
    /// Takes the reservation over from the connection that uses it.
    pub struct TakeOver {}
}

record! {
    /// Joins the fullest open room of this game and mode, or creates one.
    #[derive(Default)]
    pub struct Find {
        /// Name of the game.
        game: Label,
        /// Mode of the game.
        mode: Label,
        /// Build of the game: only peers with the same build meet.
        build: Label,
        /// Slots of a room created for this request; the server's default if missing.
        max_players as "seats": Option<u8>,
        /// Local players of this peer. Each takes a slot.
        players: LocalPlayers,
        /// Preferred slot of the first player, which decides its colors.
        preferred_slot as "palette": Option<u8>,
        /// Leave the current room instead of being rejected.
        leave_current as "switch": bool,
        /// Settings of a room created for this request.
        settings: RawJson,
    }
}

record! {
    /// Creates a room and joins it as host.
    #[derive(Default)]
    pub struct Create {
        /// Name of the game.
        game: Label,
        /// Mode of the game.
        mode: Label,
        /// Build of the game.
        build: Label,
        /// Number of slots.
        max_players as "seats": Option<u8>,
        /// Local players of this peer. Each takes a slot.
        players: LocalPlayers,
        /// Keep the room out of the list and of `find`.
        private: bool,
        /// Start playing at once and let others join while it runs.
        drop_in: bool,
        /// Wait for the host to start a match, although members may join while it runs.
        host_starts: bool,
        /// Preferred slot of the first player.
        preferred_slot as "palette": Option<u8>,
        /// Leave the current room, if any.
        leave_current as "switch": bool,
        /// The game's settings for the room.
        settings: RawJson,
    }
}

record! {
    /// Joins a room named by its code or its id.
    #[derive(Default)]
    pub struct Join {
        /// Code of six letters.
        code: Option<RoomCode>,
        /// Id, as in the list of open rooms.
        room: Option<RoomId>,
        /// Build of the joiner's game. A room of another build rejects it.
        build: Label,
        /// Local players of this peer. Each takes a slot.
        players: LocalPlayers,
        /// Preferred slot of the first player.
        preferred_slot as "palette": Option<u8>,
        /// Join as a spectator, without a slot.
        spectate as "watch": bool,
        /// Leave the current room, if any.
        leave_current as "switch": bool,
    }
}

record! {
    /// Leaves the room, or stops a search.
    #[derive(Default)]
    pub struct Leave {
        /// Keep the reservation for a moment: the page may only be reloading.
        keep_reservation as "back": bool,
    }
}

record! {
    /// Shows that the client is alive.
    pub struct KeepAlive {}
}

record! {
    /// Says whether the player is ready for the next match.
    pub struct Ready {
        /// True if ready.
        ready: bool,
    }
}

record! {
    /// Says whether the player is away from the game: other peers do not wait for it meanwhile.
    pub struct Rest {
        /// True if away.
        resting: bool,
    }
}

record! {
    /// Host: starts a match.
    #[derive(Default)]
    pub struct Start {
        /// Countdown in milliseconds; 0 if missing.
        countdown_ms: Option<u32>,
    }
}

record! {
    /// Host: ends the match.
    pub struct Finish {}
}

record! {
    /// Host: changes the game's settings.
    pub struct Settings {
        /// New settings, complete.
        settings: RawJson,
    }
}

record! {
    /// Host: changes who may join. Missing fields stay as they are.
    #[derive(Default)]
    pub struct Access {
        /// Whether joining is blocked.
        locked: Option<bool>,
        /// Whether the room is kept out of the list.
        private: Option<bool>,
        /// Number of slots.
        max_players as "seats": Option<u8>,
    }
}

record! {
    /// Host: removes a member, which cannot join this room again.
    pub struct Kick {
        /// Member to remove.
        peer: PeerId,
    }
}

record! {
    /// Host: makes another member host.
    pub struct Host {
        /// Member to make host.
        peer: PeerId,
    }
}

record! {
    /// Changes name or preferred slot. Missing fields stay as they are.
    #[derive(Default)]
    pub struct Profile {
        /// Display name of the player.
        name: Option<String>,
        /// Preferred slot of the player.
        preferred_slot as "palette": Option<u8>,
    }
}

record! {
    /// Sends WebRTC signaling data or an address to another member of the room.
    pub struct Signal {
        /// Member to receive it.
        to: PeerId,
        /// Counts the signals of this client from 1, so that none is delivered twice after a
        /// reconnect.
        n: Option<u64>,
        /// Number of the last received signal; the server need not keep earlier ones.
        seen: Option<u64>,
        /// Content, not interpreted by the lobby.
        data: RawJson,
    }
}

record! {
    /// Requests a fresh ticket.
    pub struct RenewTicket {}
}

record! {
    /// Requests ICE servers with fresh credentials.
    pub struct Ice {}
}

record! {
    /// Requests the whole room again.
    pub struct GetRoom {}
}

record! {
    /// Subscribes to the open rooms of a game.
    #[derive(Default)]
    pub struct SubscribeRooms {
        /// Name of the game.
        game: Label,
        /// Only this mode, unless empty.
        mode: Label,
        /// Only this build, unless empty.
        build: Label,
        /// Also rooms that are full, locked or finished, for spectators.
        all: bool,
    }
}

record! {
    /// Ends the subscription to open rooms.
    pub struct UnsubscribeRooms {}
}

record! {
    /// One player's score in a report.
    pub struct Score {
        /// Peer of the player.
        peer: PeerId,
        /// Slot the player had.
        slot: Slot,
        /// Points, higher is better.
        score: i64,
        /// Rank from 1, equal for a tie. Derived from the score if missing.
        place: Option<u8>,
    }
}

record! {
    /// Reports how the match ended. Every member reports; the result counts when they agree.
    pub struct Report {
        /// Number of the match in its room.
        round: u32,
        /// Scores of all players.
        scores: Vec<Score>,
        /// Last wave or level reached.
        level: Option<u32>,
        /// Hash of the final state, if the game has one.
        digest: Option<String>,
    }
}

record! {
    /// Own score so far, sent every 15 s and before leaving; stored as a claim if no report names
    /// the player.
    pub struct OwnScore {
        /// Number of the match in its room.
        round: u32,
        /// Points, higher is better.
        score: i64,
        /// Last wave or level reached.
        level: Option<u32>,
    }
}

record! {
    /// Requests the best results of a game and mode.
    #[derive(Default)]
    pub struct GetLeaderboard {
        /// Name of the game.
        game: Label,
        /// Mode of the game.
        mode: Label,
        /// Only results that another player confirmed.
        verified: bool,
        /// Number of entries at most; 10 if missing.
        count: Option<u8>,
    }
}

record! {
    /// Requests own best result, rating and last matches.
    #[derive(Default)]
    pub struct GetMyStats {
        /// Name of the game.
        game: Label,
        /// Mode of the game.
        mode: Label,
    }
}

tagged! {
    /// Every message of a client.
    pub enum ClientMessage by "type" {
        /// Identifies the client.
        "hello" => Hello,
        /// Takes the reservation over.
        "take_over" => TakeOver,
        /// Joins a room or creates one.
        "find" => Find,
        /// Creates a room.
        "create" => Create,
        /// Joins by code or id.
        "join" => Join,
        /// Leaves the room.
        "leave" => Leave,
        /// Shows that the client is alive.
        "touch" => KeepAlive,
        /// Sets whether the player is ready.
        "ready" => Ready,
        /// Sets whether the player is away.
        "rest" => Rest,
        /// Starts a match.
        "start" => Start,
        /// Ends a match.
        "finish" => Finish,
        /// Changes the game's settings.
        "settings" => Settings,
        /// Changes who may join.
        "access" => Access,
        /// Removes a member.
        "kick" => Kick,
        /// Makes another member host.
        "host" => Host,
        /// Changes name or preferred slot.
        "profile" => Profile,
        /// Sends to another member.
        "signal" => Signal,
        /// Requests a fresh ticket.
        "ticket" => RenewTicket,
        /// Requests ICE servers.
        "ice" => Ice,
        /// Requests the whole room.
        "look" => GetRoom,
        /// Subscribes to open rooms.
        "list" => SubscribeRooms,
        /// Ends that subscription.
        "unlist" => UnsubscribeRooms,
        /// Reports a match result.
        "report" => Report,
        /// Own score so far.
        "score" => OwnScore,
        /// Requests the leaderboard.
        "top" => GetLeaderboard,
        /// Requests own statistics.
        "mine" => GetMyStats,
    }
}
