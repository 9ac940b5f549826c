//! What a server says.

pub use gaggle_kit::IceServer;
use gaggle_kit::{PeerId, Slot};

use super::rejection::RejectionCode;
use crate::id::{PlayerId, RoomCode, RoomId};
use crate::json::{record, record_of, tagged};
use crate::label::{DisplayName, Label};
use crate::view::{LeaveReason, RawJson, RoomUpdate, RoomView, Status, Verdict};
use crate::word::words;

words! {
    /// What a connection finds when it says hello.
    pub enum MembershipState: "none, yours or elsewhere" {
        /// No seat anywhere.
        None = "none",
        /// A seat; `joined` follows.
        Yours = "yours",
        /// A seat or at least a connection that another tab or machine with the same key is using:
        /// see `take_over`.
        Elsewhere = "elsewhere",
    }
}

record! {
    /// The answer to `hello`.
    pub struct Welcome {
        /// The protocol version the server speaks.
        version: u32,
        /// The server's name and version.
        server: String,
        /// The server's clock, in Unix milliseconds.
        now: u64,
        /// Who you are, as a person.
        player: PlayerId,
        /// Who you are, as a machine.
        peer: PeerId,
        /// What you are called.
        name: DisplayName,
        /// Your secret, if you did not bring one: keep it.
        key: Option<String>,
        /// To be given with the next `hello` after a lost connection.
        resume: String,
        /// Signals in both directions go on where the last connection stopped.
        resumed: bool,
        /// With `resumed`: the number of the last signal of yours that arrived.
        got: Option<u64>,
        /// Whether you have a seat.
        seat: MembershipState,
        /// The code of the room that seat is in, if it is elsewhere.
        code: Option<RoomCode>,
        /// The key tickets are signed with, in base64url: 32 bytes.
        ticket_key: String,
        /// Send `touch` at least this often, in milliseconds.
        touch_ms: u64,
        /// Where players sign in, with `{return}` and `{state}` to be filled in.
        sign_in: Option<String>,
    }
}

record! {
    /// You have a seat in this room now.
    pub struct JoinedRoom {
        /// The room was made for you.
        created: bool,
        /// You had this seat before.
        returned: bool,
        /// Your machine.
        peer: PeerId,
        /// Your slot; none if you only watch.
        slot: Option<Slot>,
        /// Those of your slots that were somebody else's last: what a game keeps in them is not
        /// yours.
        inherited: Vec<Slot>,
        /// Proves to peers and relays that you may be here.
        ticket: String,
        /// Until when the ticket counts, in Unix seconds.
        expires: u64,
        /// The whole room.
        room: RoomView,
        /// The servers that help to make links.
        ice: Vec<IceServer>,
        /// The relay for members that cannot reach each other, if there is one.
        relay: Option<Relay>,
    }
}

record_of! { IceServer { urls, username, credential } }

record! {
    /// What passes packets on between members that cannot reach each other. Tickets open it.
    pub struct Relay {
        /// The path of its WebSocket on the server that says so, or a whole `wss:` address
        /// elsewhere.
        socket: String,
        /// Where it takes datagrams, as `192.0.2.7:8081`; empty if it has only the socket.
        udp: Vec<String>,
        /// Its certificate's fingerprint, as in SDP: `sha-256 AB:CD:…`.
        fingerprint: Option<String>,
    }
}

record! {
    /// The whole room.
    pub struct Room {
        /// As it is now.
        room: RoomView,
    }
}

record! {
    /// What changed in your room, in order.
    pub struct Change {
        /// The room's version after it.
        version: u64,
        /// What happened.
        events: Vec<RoomUpdate>,
    }
}

record! {
    /// You are not in this room any more.
    pub struct Removed {
        /// Which room.
        room: RoomId,
        /// Why.
        reason: LeaveReason,
    }
}

record! {
    /// Another member of your room hands you this.
    pub struct SignalReceived {
        /// From whom.
        from: PeerId,
        /// Counts the signals to this client from 1.
        n: u64,
        /// What only the two of you understand.
        data: RawJson,
    }
}

record! {
    /// A fresh ticket; the one before counts no longer than it says.
    pub struct TicketRenewed {
        /// The ticket.
        ticket: String,
        /// Until when it counts, in Unix seconds.
        expires: u64,
    }
}

record! {
    /// The servers that help to make links.
    pub struct IceServers {
        /// All of them.
        servers: Vec<IceServer>,
        /// How long the credentials count, in seconds.
        ttl: u64,
        /// The relay, if there is one.
        relay: Option<Relay>,
    }
}

record! {
    /// A room in the list.
    pub struct Listing {
        /// Its id.
        id: RoomId,
        /// Its code.
        code: RoomCode,
        /// Its mode.
        mode: Label,
        /// Its build.
        build: Label,
        /// Its status.
        status: Status,
        /// How many play.
        players: u8,
        /// How many may play.
        seats: u8,
        /// How many watch.
        watchers: u8,
        /// Whether one may join now.
        open: bool,
        /// What its host is called.
        host: DisplayName,
    }
}

record! {
    /// The list of rooms, or what changed in it.
    pub struct Rooms {
        /// Of which game.
        game: Label,
        /// Whether this is the whole list, replacing what was known.
        whole: bool,
        /// Rooms that are new or changed.
        rooms: Vec<Listing>,
        /// Rooms that are not in the list any more.
        gone: Vec<RoomId>,
    }
}

record! {
    /// Looking for people of your skill; `joined` follows when they are found.
    pub struct Searching {
        /// Your rating.
        rating: i64,
        /// How far from it the others may be at the moment.
        range: u32,
        /// How many are looking.
        waiting: u32,
    }
}

record! {
    /// Where a match's result stands.
    pub struct MatchResult {
        /// Which match of the room.
        round: u32,
        /// What became of it so far.
        verdict: Verdict,
    }
}

record! {
    /// One line of the best.
    pub struct LeaderboardEntry {
        /// Who.
        player: PlayerId,
        /// Called so when it happened.
        name: DisplayName,
        /// How many points.
        score: i64,
        /// How far they came.
        level: Option<u32>,
        /// How it was found.
        verdict: Verdict,
        /// When, in Unix milliseconds.
        at: u64,
    }
}

record! {
    /// The best of a game and mode.
    pub struct Leaderboard {
        /// Which game.
        game: Label,
        /// Which mode.
        mode: Label,
        /// Best first.
        entries: Vec<LeaderboardEntry>,
    }
}

record! {
    /// One of your last matches.
    pub struct MatchSummary {
        /// In which room.
        room: RoomId,
        /// Which of its matches.
        round: u32,
        /// Your points.
        score: i64,
        /// Your place.
        place: u8,
        /// How many played.
        players: u8,
        /// What became of it.
        verdict: Verdict,
        /// When, in Unix milliseconds.
        at: u64,
    }
}

record! {
    /// Your own best and your last matches.
    pub struct MyStats {
        /// Which game.
        game: Label,
        /// Which mode.
        mode: Label,
        /// Your best.
        best: Option<LeaderboardEntry>,
        /// Your rating, if you have played for one.
        rating: Option<i64>,
        /// Your last matches, the latest first.
        matches: Vec<MatchSummary>,
    }
}

record! {
    /// Done.
    pub struct Done {}
}

record! {
    /// It was not done, and why.
    pub struct Refused {
        /// For programs.
        code: RejectionCode,
        /// For people.
        text: String,
        /// Try again after so many milliseconds.
        retry_ms: Option<u64>,
        /// What is played where one wanted to be, if it is another game or build.
        game: Option<Label>,
    }
}

record! {
    /// The server is going to stop: finish what you are saying and come back after this time.
    pub struct Draining {
        /// In milliseconds.
        reconnect_ms: u64,
    }
}

record! {
    /// The last message on a connection.
    pub struct Closing {
        /// For programs.
        code: RejectionCode,
        /// For people.
        text: String,
        /// Whether it makes sense to come back.
        reconnect: bool,
    }
}

tagged! {
    /// What a server says.
    pub enum ServerMessage by "type" {
        /// The answer to `hello`.
        "welcome" => Welcome,
        /// You have a seat.
        "joined" => JoinedRoom,
        /// The whole room.
        "room" => Room,
        /// What changed in it.
        "change" => Change,
        /// You are out of it.
        "left" => Removed,
        /// Something from another member.
        "signal" => SignalReceived,
        /// A fresh ticket.
        "ticket" => TicketRenewed,
        /// Servers that help to make links.
        "ice" => IceServers,
        /// Open rooms.
        "rooms" => Rooms,
        /// Looking for people of your skill.
        "searching" => Searching,
        /// Where a result stands.
        "result" => MatchResult,
        /// The best.
        "top" => Leaderboard,
        /// Your own best.
        "mine" => MyStats,
        /// Done.
        "ok" => Done,
        /// Not done.
        "error" => Refused,
        /// The server is going to stop.
        "drain" => Draining,
        /// The end.
        "bye" => Closing,
    }
}
