//! What a client says.

use gaggle_kit::{PeerId, Slot};

use crate::id::{RoomCode, RoomId};
use crate::json::{record, tagged};
use crate::label::Label;
use crate::players::LocalPlayers;
use crate::view::RawJson;

record! {
    /// The first message on a connection: who I am. Everything in it may be left out.
    #[derive(Default)]
    pub struct Hello {
        /// The protocol version the client speaks; 1 if not given.
        version: Option<u32>,
        /// The guest's secret: 16 to 128 of `A-Z a-z 0-9 _ -`, chosen at random and kept by the
        /// client. Without one the server chooses one and tells it in `welcome`.
        key: Option<String>,
        /// Which of this person's tabs or machines it is: up to 64 of the same characters. Each has
        /// its own seat.
        seat: Option<String>,
        /// The name to be shown by.
        name: Option<String>,
        /// A token from an outside issuer, instead of a guest's key.
        token: Option<String>,
        /// From the last `welcome`: proves that this is the same client and no second one.
        resume: Option<String>,
        /// With `resume`: the number of the last signal received.
        seen: Option<u64>,
        /// The last ticket, so that a server that forgot the room can seat its members again.
        ticket: Option<String>,
        /// The room's settings that go with the ticket.
        settings: RawJson,
    }
}

record! {
    /// Take my seat over from the tab or machine that has it now.
    pub struct TakeOver {}
}

record! {
    /// Seat me in the fullest open room of this game and mode, or in a new one.
    #[derive(Default)]
    pub struct Find {
        /// Which game.
        game: Label,
        /// Which of its modes.
        mode: Label,
        /// Which build: only peers with the same meet.
        build: Label,
        /// Seats of the room, should one have to be made and the server leaves it open.
        seats: Option<u8>,
        /// How many play at this machine. Each takes a seat.
        players: LocalPlayers,
        /// The colours wished for.
        palette: Option<u8>,
        /// Leave the room I am in, if any, instead of being refused.
        switch: bool,
        /// The game's settings, should a room have to be made.
        settings: RawJson,
    }
}

record! {
    /// Make a room and seat me in it as host.
    #[derive(Default)]
    pub struct Create {
        /// Which game.
        game: Label,
        /// Which of its modes.
        mode: Label,
        /// Which build.
        build: Label,
        /// How many may play.
        seats: Option<u8>,
        /// How many play at this machine. Each takes a seat.
        players: LocalPlayers,
        /// Keep it out of the list and of `find`.
        private: bool,
        /// Start playing at once and let others join while it runs.
        drop_in: bool,
        /// Wait for the host to start a match, although members may join while it runs.
        host_starts: bool,
        /// The colours wished for.
        palette: Option<u8>,
        /// Leave the room I am in, if any.
        switch: bool,
        /// The game's settings.
        settings: RawJson,
    }
}

record! {
    /// Seat me in this room, by its code or its id.
    #[derive(Default)]
    pub struct Join {
        /// The six letters.
        code: Option<RoomCode>,
        /// The id, as the list of open rooms gives it.
        room: Option<RoomId>,
        /// The build of my game. A room of another build refuses me.
        build: Label,
        /// How many play at this machine. Each takes a seat.
        players: LocalPlayers,
        /// The colours wished for.
        palette: Option<u8>,
        /// Only watch, without a seat.
        watch: bool,
        /// Leave the room I am in, if any.
        switch: bool,
    }
}

record! {
    /// Leave the room, or stop searching for one.
    #[derive(Default)]
    pub struct Leave {
        /// I may be back in a moment, because the page is perhaps only loaded again: keep my seat
        /// until then.
        back: bool,
    }
}

record! {
    /// I am still here.
    pub struct KeepAlive {}
}

record! {
    /// I am ready for the next match, or not any more.
    pub struct Ready {
        /// Which.
        ready: bool,
    }
}

record! {
    /// This peer's player looks away from the game, or is back at it: no peer should wait for it
    /// meanwhile.
    pub struct Rest {
        /// Which of the two.
        resting: bool,
    }
}

record! {
    /// Host: start a match.
    #[derive(Default)]
    pub struct Start {
        /// After so many milliseconds; at once if not given.
        countdown_ms: Option<u32>,
    }
}

record! {
    /// Host: the match is over.
    pub struct Finish {}
}

record! {
    /// Host: change the game's settings.
    pub struct Settings {
        /// All of them.
        settings: RawJson,
    }
}

record! {
    /// Host: change who may come. What is not given stays.
    #[derive(Default)]
    pub struct Access {
        /// Nobody may join.
        locked: Option<bool>,
        /// Not in the list.
        private: Option<bool>,
        /// How many may play.
        seats: Option<u8>,
    }
}

record! {
    /// Host: send somebody away. They cannot come back into this room.
    pub struct Kick {
        /// Whom.
        peer: PeerId,
    }
}

record! {
    /// Host: make somebody else host.
    pub struct Host {
        /// Whom.
        peer: PeerId,
    }
}

record! {
    /// Change my name or colours. What is not given stays.
    #[derive(Default)]
    pub struct Profile {
        /// The name to be shown by.
        name: Option<String>,
        /// The colours.
        palette: Option<u8>,
    }
}

record! {
    /// Hand this to another member of my room: an offer, an answer, a candidate, an address.
    pub struct Signal {
        /// To whom.
        to: PeerId,
        /// Counts the signals of this client from 1, so that none is delivered twice after a
        /// reconnect.
        n: Option<u64>,
        /// The number of the last signal that came: what came needs not be remembered for me any
        /// longer.
        seen: Option<u64>,
        /// What only the two understand.
        data: RawJson,
    }
}

record! {
    /// Give me a fresh ticket.
    pub struct RenewTicket {}
}

record! {
    /// Give me the servers that help to make links, with fresh credentials.
    pub struct Ice {}
}

record! {
    /// Tell me the whole room again.
    pub struct GetRoom {}
}

record! {
    /// Show me the open rooms of a game, and go on telling me how they change.
    #[derive(Default)]
    pub struct SubscribeRooms {
        /// Which game.
        game: Label,
        /// Only this mode.
        mode: Label,
        /// Only this build.
        build: Label,
        /// Also rooms that are full, locked or finished: to watch.
        all: bool,
    }
}

record! {
    /// No more open rooms, please.
    pub struct UnsubscribeRooms {}
}

record! {
    /// One player's part in a result.
    pub struct Score {
        /// Whose.
        peer: PeerId,
        /// In which slot they played.
        slot: Slot,
        /// How many points.
        score: i64,
        /// First, second …; equal for a tie. Without it the score decides.
        place: Option<u8>,
    }
}

record! {
    /// This is how the match ended. Every member says so; it counts when they agree.
    pub struct Report {
        /// Which match of the room.
        round: u32,
        /// Everybody's part.
        scores: Vec<Score>,
        /// How far they came: the last wave or level.
        level: Option<u32>,
        /// A hash of the final state, if the game has one.
        digest: Option<String>,
    }
}

record! {
    /// One's own score so far: said every 15 s and before leaving, and kept as a claim if no report
    /// names it.
    pub struct OwnScore {
        /// Which match of the room.
        round: u32,
        /// How many points.
        score: i64,
        /// How far one came.
        level: Option<u32>,
    }
}

record! {
    /// Who are the best of this game and mode?
    #[derive(Default)]
    pub struct GetLeaderboard {
        /// Which game.
        game: Label,
        /// Which of its modes.
        mode: Label,
        /// Only results somebody else confirmed.
        verified: bool,
        /// At most so many; 10 if not given.
        count: Option<u8>,
    }
}

record! {
    /// What is my own best, my rating, and how did my last matches end?
    #[derive(Default)]
    pub struct GetMyStats {
        /// Which game.
        game: Label,
        /// Which of its modes.
        mode: Label,
    }
}

tagged! {
    /// What a client says.
    pub enum ClientMessage by "type" {
        /// Who I am.
        "hello" => Hello,
        /// Take my seat over.
        "take_over" => TakeOver,
        /// Find or create.
        "find" => Find,
        /// Make a room.
        "create" => Create,
        /// Join by code or id.
        "join" => Join,
        /// Leave.
        "leave" => Leave,
        /// Still here.
        "touch" => KeepAlive,
        /// Ready or not.
        "ready" => Ready,
        /// Looks away, or is back.
        "rest" => Rest,
        /// Start a match.
        "start" => Start,
        /// End a match.
        "finish" => Finish,
        /// Change the game's settings.
        "settings" => Settings,
        /// Change who may come.
        "access" => Access,
        /// Send somebody away.
        "kick" => Kick,
        /// Make somebody else host.
        "host" => Host,
        /// Change name or colours.
        "profile" => Profile,
        /// Hand something to another member.
        "signal" => Signal,
        /// A fresh ticket.
        "ticket" => RenewTicket,
        /// Servers that help to make links.
        "ice" => Ice,
        /// The whole room again.
        "look" => GetRoom,
        /// Watch the open rooms.
        "list" => SubscribeRooms,
        /// Stop watching them.
        "unlist" => UnsubscribeRooms,
        /// How the match ended.
        "report" => Report,
        /// One's own score so far.
        "score" => OwnScore,
        /// The best of a game.
        "top" => GetLeaderboard,
        /// My own best.
        "mine" => GetMyStats,
    }
}
