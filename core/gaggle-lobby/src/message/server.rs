//! Messages from server to client.
//!
//! Encoded by [`Node`](crate::node::Node), read by [`Client`](crate::client::Client). Absent: when
//! they are sent.

pub use gaggle_kit::IceServer;
use gaggle_kit::{PeerId, Slot};

use super::rejection::RejectionCode;
use crate::id::{PlayerId, RoomCode, RoomId};
use crate::json::{record, record_of, tagged};
use crate::label::{DisplayName, Label};
use crate::view::{LeaveReason, RawJson, RoomUpdate, RoomView, Status, Verdict};
use crate::word::words;

words! {
    /// Whether the peer of a new connection has a reservation.
    pub enum MembershipState: "none, yours or elsewhere" {
        /// No reservation in any room.
        None = "none",
        /// A reservation; `joined` follows.
        Yours = "yours",
        /// Another connection with the same key is in use, possibly with a reservation: see
        /// `take_over`.
        Elsewhere = "elsewhere",
    }
}

record! {
    /// Answer to `hello`.
    pub struct Welcome {
        /// The protocol version the server speaks.
        version: u32,
        /// Name and version of the server.
        server: String,
        /// Server clock in Unix milliseconds.
        now: u64,
        /// Account of the player.
        player: PlayerId,
        /// Id of this client.
        peer: PeerId,
        /// Display name in force.
        name: DisplayName,
        /// Secret created for a client without one; the client stores it.
        key: Option<String>,
        /// Secret for the next `hello` after a lost connection.
        resume: String,
        /// Signal numbering continues from the last connection.
        resumed: bool,
        /// With `resumed`: the number of the last signal that arrived from this client.
        got: Option<u64>,
        /// Whether the peer has a reservation.
        seat: MembershipState,
        /// Room of a reservation that is in use elsewhere.
        code: Option<RoomCode>,
        /// Public key of tickets, in base64url: 32 bytes.
        ticket_key: String,
        /// Longest interval between messages of the client, in milliseconds.
        touch_ms: u64,
        /// Address of the sign-in page, with `{return}` and `{state}` to be filled in.
        sign_in: Option<String>,
    }
}

record! {
    /// The client is in a room.
    pub struct JoinedRoom {
        /// The room was created for this request.
        created: bool,
        /// The reservation existed before.
        returned: bool,
        /// Id of this client.
        peer: PeerId,
        /// Slot of the client; none for a spectator.
        slot: Option<Slot>,
        /// Own slots that another player had before: state a game keeps for them belongs to that
        /// player.
        reused_slots as "inherited": Vec<Slot>,
        /// Proves to peers and relays that the client may be in the room.
        ticket: String,
        /// Expiry of the ticket in Unix seconds.
        expires: u64,
        /// State of the room.
        room: RoomView,
        /// STUN and TURN servers.
        ice: Vec<IceServer>,
        /// Relay for members without a direct link, if there is one.
        relay: Option<Relay>,
    }
}

record_of! { IceServer { urls, username, credential } }

record! {
    /// Forwards packets between members without a direct link. Tickets open it.
    pub struct Relay {
        /// Path of its WebSocket on this server, or a whole `wss:` address.
        socket: String,
        /// UDP addresses such as `192.0.2.7:8081`; empty if it has only the WebSocket.
        udp: Vec<String>,
        /// Fingerprint of its certificate, as in SDP: `sha-256 AB:CD:…`.
        fingerprint: Option<String>,
    }
}

record! {
    /// State of the whole room.
    pub struct Room {
        /// The room as it is now.
        room: RoomView,
    }
}

record! {
    /// Changes in the client's room, in order.
    pub struct Change {
        /// Version of the room after the changes.
        version: u64,
        /// The changes themselves.
        events: Vec<RoomUpdate>,
    }
}

record! {
    /// The client is no longer in the room.
    pub struct Removed {
        /// Room it was in.
        room: RoomId,
        /// Why it left.
        reason: LeaveReason,
    }
}

record! {
    /// A signal from another member.
    pub struct SignalReceived {
        /// Member that sent it.
        from: PeerId,
        /// Counts the signals to this client from 1.
        n: u64,
        /// Content, not interpreted by the lobby.
        data: RawJson,
    }
}

record! {
    /// A fresh ticket; the previous one stays valid until it expires.
    pub struct TicketRenewed {
        /// The signed ticket.
        ticket: String,
        /// Expiry in Unix seconds.
        expires: u64,
    }
}

record! {
    /// Fresh STUN and TURN servers.
    pub struct IceServers {
        /// All ICE servers.
        servers: Vec<IceServer>,
        /// Lifetime of the credentials in seconds.
        ttl: u64,
        /// Relay, if there is one.
        relay: Option<Relay>,
    }
}

record! {
    /// A room in the list.
    pub struct Listing {
        /// Id of the room.
        id: RoomId,
        /// Code of the room.
        code: RoomCode,
        /// Mode of the game.
        mode: Label,
        /// Build of the game.
        build: Label,
        /// Status of the room.
        status: Status,
        /// Number of occupied slots.
        players: u8,
        /// Number of slots.
        max_players as "seats": u8,
        /// Number of spectators.
        spectators as "watchers": u8,
        /// Whether a player may join now.
        open: bool,
        /// Display name of the host.
        host: DisplayName,
    }
}

record! {
    /// The list of rooms, or changes of it.
    pub struct Rooms {
        /// Game of the list.
        game: Label,
        /// Whether this is the whole list and replaces the known one.
        whole: bool,
        /// Rooms that are new or changed.
        rooms: Vec<Listing>,
        /// Rooms no longer in the list.
        gone: Vec<RoomId>,
    }
}

record! {
    /// A search for players of similar skill goes on; `joined` ends it.
    pub struct Searching {
        /// Rating of the player.
        rating: i64,
        /// Accepted rating difference at the moment.
        range: u32,
        /// Number of searching players.
        waiting: u32,
    }
}

record! {
    /// State of a match's result.
    pub struct MatchResult {
        /// Number of the match in its room.
        round: u32,
        /// Verdict so far.
        verdict: Verdict,
    }
}

record! {
    /// One entry of a leaderboard.
    pub struct LeaderboardEntry {
        /// Account of the player.
        player: PlayerId,
        /// Display name at the time of the match.
        name: DisplayName,
        /// Points, higher is better.
        score: i64,
        /// Last wave or level reached.
        level: Option<u32>,
        /// How the result was verified.
        verdict: Verdict,
        /// Time of the match in Unix milliseconds.
        at: u64,
    }
}

record! {
    /// Best results of a game and mode.
    pub struct Leaderboard {
        /// Name of the game.
        game: Label,
        /// Mode of the game.
        mode: Label,
        /// Entries, the best first.
        entries: Vec<LeaderboardEntry>,
    }
}

record! {
    /// One of the player's last matches.
    pub struct MatchSummary {
        /// Room of the match.
        room: RoomId,
        /// Number of the match in its room.
        round: u32,
        /// Points of the player.
        score: i64,
        /// Rank of the player, from 1.
        place: u8,
        /// Number of players.
        players: u8,
        /// How the result was verified.
        verdict: Verdict,
        /// Time of the match in Unix milliseconds.
        at: u64,
    }
}

record! {
    /// Best result, rating and last matches of the player.
    pub struct MyStats {
        /// Name of the game.
        game: Label,
        /// Mode of the game.
        mode: Label,
        /// Best result of the player.
        best: Option<LeaderboardEntry>,
        /// Rating; none before the first rated match.
        rating: Option<i64>,
        /// Last matches, the latest first.
        matches: Vec<MatchSummary>,
    }
}

record! {
    /// The request succeeded.
    pub struct Done {}
}

record! {
    /// The request was rejected.
    pub struct Refused {
        /// Reason for programs.
        code: RejectionCode,
        /// Explanation for players.
        text: String,
        /// Retry after this many milliseconds.
        retry_ms: Option<u64>,
        /// Game of the requested room, if game or build differ.
        game: Option<Label>,
    }
}

record! {
    /// The server will stop: finish what is running and reconnect after this time.
    pub struct Draining {
        /// Reconnect delay in milliseconds.
        reconnect_ms: u64,
    }
}

record! {
    /// Last message on a connection.
    pub struct Closing {
        /// Reason for programs.
        code: RejectionCode,
        /// Explanation for players.
        text: String,
        /// Whether reconnecting makes sense.
        reconnect: bool,
    }
}

tagged! {
    /// Every message of a server.
    pub enum ServerMessage by "type" {
        /// Answer to `hello`.
        "welcome" => Welcome,
        /// The client is in a room.
        "joined" => JoinedRoom,
        /// State of the whole room.
        "room" => Room,
        /// Changes in the room.
        "change" => Change,
        /// The client left the room.
        "left" => Removed,
        /// Signal from a member.
        "signal" => SignalReceived,
        /// A fresh ticket.
        "ticket" => TicketRenewed,
        /// Fresh ICE servers.
        "ice" => IceServers,
        /// Open rooms, or changes.
        "rooms" => Rooms,
        /// A search goes on.
        "searching" => Searching,
        /// State of a result.
        "result" => MatchResult,
        /// Best results of a game.
        "top" => Leaderboard,
        /// Statistics of the player.
        "mine" => MyStats,
        /// The request succeeded.
        "ok" => Done,
        /// The request was rejected.
        "error" => Refused,
        /// The server will stop.
        "drain" => Draining,
        /// The connection ends.
        "bye" => Closing,
    }
}
