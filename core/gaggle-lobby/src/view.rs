//! A room as its members see it, and the changes that keep every copy of it right.
//!
//! The same [`RoomView::apply`] runs where rooms are decided, on every server node that has members
//! of the room, and in the client. What may happen is decided in `room.rs`; here it only takes
//! effect.

use gaggle_kit::{PeerId, Slot, SlotSet};

use crate::MessageError;
use crate::id::{PlayerId, RoomCode, RoomId, Seed};
use crate::json::{Raw, Value, compact, record, tagged, write_string};
use crate::label::{DisplayName, Label};
use crate::word::words;

words! {
    /// Where a room is in its life.
    pub enum Status: "waiting, starting, playing or finished" {
        /// People gather; nothing runs yet.
        Waiting = "waiting",
        /// The host has started a countdown.
        Starting = "starting",
        /// A match is running.
        Playing = "playing",
        /// The match is over; the host may start another.
        Finished = "finished",
    }
}

words! {
    /// Why somebody is no longer in a room.
    pub enum LeaveReason: "left, kicked, lost, silent or closed" {
        /// By their own wish.
        Left = "left",
        /// The host sent them away.
        Kicked = "kicked",
        /// The connection was lost and did not come back within the grace time.
        ConnectionLost = "lost",
        /// Connected, but nothing was heard for too long.
        IdleTimeout = "silent",
        /// The room was closed.
        Closed = "closed",
    }
}

words! {
    /// What became of a match's result.
    pub enum Verdict: "pending, disputed, claimed, agreed or refereed" {
        /// Waiting for the reports of the others.
        Pending = "pending",
        /// The players disagree. It counts nowhere.
        Disputed = "disputed",
        /// Reported by players of one network: no other one was there to confirm it.
        Claimed = "claimed",
        /// Players of different networks report the same.
        Agreed = "agreed",
        /// A referee computed it. No server does so yet.
        Refereed = "refereed",
    }
}

record! {
    /// Somebody in a room.
    pub struct Member {
        /// The machine, which is what others exchange packets and signals with.
        peer: PeerId,
        /// The person.
        player: PlayerId,
        /// What others see them called.
        name: DisplayName,
        /// Their seat; none for somebody who only watches.
        slot: Option<Slot>,
        /// The seats of those who play at the same machine.
        also: Vec<Slot>,
        /// The colours they wear. No two players of a room have the same.
        palette: u8,
        /// Whether they said they are ready for the next match.
        ready: bool,
        /// Whether their connection to the server is lost at the moment. Their links may well be
        /// alive.
        away: bool,
        /// Whether the player does not look at the game: its machine may answer slowly or not at
        /// all, and has no part in the match.
        resting: bool,
    }
}

record! {
    /// A room as its members see it.
    pub struct RoomView {
        /// The room's id.
        id: RoomId,
        /// The six letters to join by.
        code: RoomCode,
        /// What is played.
        game: Label,
        /// In which of its ways.
        mode: Label,
        /// Which build of the game; peers with different builds never meet.
        build: Label,
        /// How many may play.
        seats: u8,
        /// Not in the list of open rooms, found by code or link only.
        private: bool,
        /// Nobody may join.
        locked: bool,
        /// Whether one may join while a match is running.
        drop_in: bool,
        /// Matches begin when the host starts them, for all members together. Always so without
        /// `drop_in`.
        host_starts: bool,
        /// `find` brought players here: removing one takes a vote, and the host cannot shut the
        /// room.
        matched: bool,
        /// Where the room is in its life.
        status: Status,
        /// Which match of this room, counted from 1; 0 before the first.
        round: u32,
        /// The seed of the match.
        seed: Seed,
        /// Rises when old tickets must not count any more. See PROTOCOL.md, "Tickets".
        epoch: u32,
        /// When the match began, in Unix milliseconds.
        born: u64,
        /// When the countdown ends, in Unix milliseconds.
        starts_at: Option<u64>,
        /// Who may change the room. Always a player of the room.
        host: PeerId,
        /// What the game keeps about this room: a JSON object only the game understands.
        settings: RawJson,
        /// Counts the changes.
        version: u64,
        /// Who is here: players by slot, then watchers.
        members: Vec<Member>,
    }
}

record! {
    /// Somebody came.
    pub struct Joined {
        /// Who.
        member: Member,
    }
}

record! {
    /// Somebody is gone for good.
    pub struct Left {
        /// Who.
        peer: PeerId,
        /// Why.
        reason: LeaveReason,
    }
}

record! {
    /// Somebody's connection to the server is lost; the seat is kept for the grace time.
    pub struct Away {
        /// Who.
        peer: PeerId,
        /// They went by their own wish and may be back in a moment: their links are gone, too.
        left: bool,
    }
}

record! {
    /// Somebody is back in their seat. Signals sent meanwhile may be lost: offer again.
    pub struct Returned {
        /// Who.
        peer: PeerId,
    }
}

record! {
    /// Somebody else is host now.
    pub struct HostChanged {
        /// Who.
        peer: PeerId,
    }
}

record! {
    /// Somebody is ready, or not any more.
    pub struct ReadyChanged {
        /// Who.
        peer: PeerId,
        /// Whether.
        ready: bool,
    }
}

record! {
    /// A player looks away from the game, or is back at it.
    pub struct RestChanged {
        /// The machine of the player.
        peer: PeerId,
        /// Whether it rests now.
        resting: bool,
    }
}

record! {
    /// Somebody changed name or colours.
    pub struct ProfileChanged {
        /// Who.
        peer: PeerId,
        /// The name now.
        name: DisplayName,
        /// The colours now.
        palette: u8,
    }
}

record! {
    /// The host changed the game's settings.
    pub struct SettingsChanged {
        /// All of them, as they are now.
        settings: RawJson,
    }
}

record! {
    /// The host changed who may come.
    pub struct AccessChanged {
        /// Nobody may join.
        locked: bool,
        /// Not in the list.
        private: bool,
        /// How many may play.
        seats: u8,
        /// `find` brought players here.
        matched: bool,
    }
}

record! {
    /// A player of a matched room wants another one removed.
    pub struct VoteCast {
        /// The player to be removed.
        peer: PeerId,
        /// The player who voted.
        by: PeerId,
        /// Networks that voted so far.
        votes: u8,
        /// Networks that must vote.
        needed: u8,
    }
}

record! {
    /// The room's status changed.
    pub struct StatusChanged {
        /// The status now.
        status: Status,
        /// Which match.
        round: u32,
        /// Its seed.
        seed: Seed,
        /// When it began, in Unix milliseconds.
        born: u64,
        /// When the countdown ends, in Unix milliseconds.
        starts_at: Option<u64>,
    }
}

record! {
    /// Old tickets do not count any more; new ones follow.
    pub struct EpochChanged {
        /// The epoch now.
        epoch: u32,
    }
}

record! {
    /// How a rating moved.
    pub struct RatingChange {
        /// Whose.
        peer: PeerId,
        /// Before.
        before: i64,
        /// After.
        after: i64,
    }
}

record! {
    /// A match's result is decided and stored.
    pub struct ResultDecided {
        /// Which match.
        round: u32,
        /// What became of it.
        verdict: Verdict,
        /// How the ratings moved.
        ratings: Vec<RatingChange>,
    }
}

tagged! {
    /// One change of a room.
    pub enum RoomUpdate by "event" {
        /// Somebody came.
        "joined" => Joined,
        /// Somebody is gone for good.
        "left" => Left,
        /// Somebody's connection to the server is lost.
        "away" => Away,
        /// Somebody is back.
        "returned" => Returned,
        /// Somebody else is host.
        "host" => HostChanged,
        /// Somebody is ready or not.
        "ready" => ReadyChanged,
        /// A player looks away, or is back.
        "rest" => RestChanged,
        /// Name or colours changed.
        "profile" => ProfileChanged,
        /// The game's settings changed.
        "settings" => SettingsChanged,
        /// Who may come changed.
        "access" => AccessChanged,
        /// A player wants another one removed.
        "vote" => VoteCast,
        /// A match starts, runs or ends.
        "status" => StatusChanged,
        /// Tickets are renewed.
        "epoch" => EpochChanged,
        /// A result is in.
        "result" => ResultDecided,
    }
}

impl Member {
    /// All seats of this machine.
    pub fn slots(&self) -> SlotSet {
        self.slot.into_iter().chain(self.also.iter().copied()).collect()
    }
}

impl RoomView {
    /// The member on this machine.
    pub fn member(&self, peer: PeerId) -> Option<&Member> {
        self.members.iter().find(|member| member.peer == peer)
    }

    /// Those who play, by slot: one for each machine.
    pub fn players(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.slot.is_some())
    }

    /// Those who only watch.
    pub fn spectators(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.slot.is_none())
    }

    /// Whether matches begin when the host starts them, for all members together.
    pub fn starts_together(&self) -> bool {
        self.host_starts || !self.drop_in
    }

    /// Seats somebody has.
    pub fn occupied_slots(&self) -> SlotSet {
        self.members.iter().fold(SlotSet::EMPTY, |slots, member| slots.union(member.slots()))
    }

    /// Seats nobody has.
    pub fn free_slots(&self) -> u8 {
        self.seats.saturating_sub(self.occupied_slots().len() as u8)
    }

    /// Makes one change take effect. A change about somebody who is not here changes nothing.
    pub fn apply(&mut self, event: &RoomUpdate) {
        match event {
            RoomUpdate::Joined(Joined { member }) => {
                self.members.retain(|known| known.peer != member.peer);
                let rank = |member: &Member| (member.slot.map_or(u16::MAX, Slot::number), member.peer);
                let at = self.members.partition_point(|known| rank(known) < rank(member));
                self.members.insert(at, member.clone());
            }
            RoomUpdate::Left(Left { peer, .. }) => self.members.retain(|known| known.peer != *peer),
            RoomUpdate::Away(Away { peer, .. }) => self.change(*peer, |member| member.away = true),
            RoomUpdate::Returned(Returned { peer }) => self.change(*peer, |member| member.away = false),
            RoomUpdate::HostChanged(HostChanged { peer }) => self.host = *peer,
            RoomUpdate::ReadyChanged(ReadyChanged { peer, ready }) => {
                self.change(*peer, |member| member.ready = *ready);
            }
            RoomUpdate::RestChanged(RestChanged { peer, resting }) => {
                self.change(*peer, |member| member.resting = *resting);
            }
            RoomUpdate::ProfileChanged(ProfileChanged { peer, name, palette }) => {
                self.change(*peer, |member| {
                    member.name = name.clone();
                    member.palette = *palette;
                });
            }
            RoomUpdate::SettingsChanged(SettingsChanged { settings }) => self.settings = settings.clone(),
            RoomUpdate::AccessChanged(AccessChanged { locked, private, seats, matched }) => {
                (self.locked, self.private, self.seats) = (*locked, *private, *seats);
                self.matched = *matched;
            }
            RoomUpdate::StatusChanged(change) => self.change_status(change),
            RoomUpdate::EpochChanged(EpochChanged { epoch }) => self.epoch = *epoch,
            RoomUpdate::ResultDecided(_) | RoomUpdate::VoteCast(_) => {}
        }
    }

    /// The changes that turn this view into a later one of the same room, for whoever missed them.
    /// Somebody who came and went in between is not mentioned, nor is a result.
    pub fn changes_to(&self, later: &RoomView) -> Vec<RoomUpdate> {
        let mut events = Vec::new();
        // First, because a new match makes everybody unready.
        let status = later.status_change();
        let round_changed = self.round != later.round;
        if self.status_change() != status {
            events.push(status.into());
        }
        for member in &self.members {
            match later.member(member.peer) {
                // Another slot or person behind the same machine: left and came again.
                Some(known) if known.slots() == member.slots() && known.player == member.player => {}
                _ => events.push(Left { peer: member.peer, reason: LeaveReason::Left }.into()),
            }
        }
        for member in &later.members {
            let known = self.member(member.peer);
            let known =
                known.filter(|known| known.slots() == member.slots() && known.player == member.player);
            let Some(known) = known else {
                events.push(Joined { member: member.clone() }.into());
                continue;
            };
            let peer = member.peer;
            if (&known.name, known.palette) != (&member.name, member.palette) {
                let (name, palette) = (member.name.clone(), member.palette);
                events.push(ProfileChanged { peer, name, palette }.into());
            }
            if (known.ready && !round_changed) != member.ready {
                events.push(ReadyChanged { peer, ready: member.ready }.into());
            }
            if known.resting != member.resting {
                events.push(RestChanged { peer, resting: member.resting }.into());
            }
            match (known.away, member.away) {
                (false, true) => events.push(Away { peer, left: false }.into()),
                (true, false) => events.push(Returned { peer }.into()),
                _ => {}
            }
        }
        if self.host != later.host {
            events.push(HostChanged { peer: later.host }.into());
        }
        if self.settings != later.settings {
            events.push(SettingsChanged { settings: later.settings.clone() }.into());
        }
        let access = later.access();
        if self.access() != access {
            events.push(access.into());
        }
        if self.epoch != later.epoch {
            events.push(EpochChanged { epoch: later.epoch }.into());
        }
        events
    }

    /// Who may come, as a change that leads to it.
    pub(crate) fn access(&self) -> AccessChanged {
        let RoomView { locked, private, seats, matched, .. } = *self;
        AccessChanged { locked, private, seats, matched }
    }

    /// The status as a change that leads to it.
    pub(crate) fn status_change(&self) -> StatusChanged {
        let RoomView { status, round, seed, born, starts_at, .. } = *self;
        StatusChanged { status, round, seed, born, starts_at }
    }

    fn change_status(&mut self, change: &StatusChanged) {
        // A new match starts with nobody ready for the one after it.
        if change.round != self.round {
            self.members.iter_mut().for_each(|member| member.ready = false);
        }
        let StatusChanged { status, round, seed, born, starts_at } = *change;
        (self.status, self.round, self.seed) = (status, round, seed);
        (self.born, self.starts_at) = (born, starts_at);
    }

    fn change(&mut self, peer: PeerId, change: impl FnOnce(&mut Member)) {
        if let Some(member) = self.members.iter_mut().find(|member| member.peer == peer) {
            change(member);
        }
    }
}

/// A JSON value that passes through unread: a game's settings, what peers signal to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawJson(Box<str>);

impl RawJson {
    /// Checks that the text is one JSON value, and leaves white space out.
    ///
    /// # Errors
    /// If it is not, or has more than 12 levels.
    pub fn new(text: &str) -> Result<RawJson, MessageError> {
        compact(Raw::parse(text)?, "value").map(RawJson)
    }

    /// A string as a JSON value.
    ///
    /// ```
    /// use gaggle_lobby::view::RawJson;
    /// let said = RawJson::string("a \"word\"\n");
    /// assert_eq!(said.as_str(), r#""a \"word\"\n""#);
    /// assert_eq!(said.to_text().as_deref(), Some("a \"word\"\n"));
    /// ```
    pub fn string(text: &str) -> RawJson {
        let mut out = String::with_capacity(text.len() + 2);
        write_string(text, &mut out);
        RawJson(out.into())
    }

    /// The string, if the value is one.
    pub fn to_text(&self) -> Option<String> {
        Raw::parse(&self.0).ok()?.string().map(|text| text.into_owned())
    }

    /// The text, without white space between its parts.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is an object, as settings must be.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }
}

/// An empty object.
impl Default for RawJson {
    fn default() -> RawJson {
        RawJson("{}".into())
    }
}

/// Missing means an empty object.
impl Value for RawJson {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<RawJson, MessageError> {
        compact(raw, field).map(RawJson)
    }

    fn blank() -> RawJson {
        RawJson::default()
    }

    fn write(&self, out: &mut String) {
        out.push_str(&self.0);
    }

    fn missing() -> Option<RawJson> {
        Some(RawJson::default())
    }

    fn is_missing(&self) -> bool {
        &*self.0 == "{}"
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_changes_between_two_views_lead_from_one_to_the_other(before in view(), after in view()) {
            let mut copy = before.clone();
            let changes = before.changes_to(&after);
            changes.iter().for_each(|event| copy.apply(event));
            copy.version = after.version;
            // A change of a match tells its seed; nothing else about a room's beginning ever
            // changes.
            prop_assert_eq!(copy, after);
        }

        #[test]
        fn a_view_reads_back_as_it_was_written(view in view()) {
            let mut text = String::new();
            view.write(&mut text);
            prop_assert_eq!(RoomView::read(Raw::parse(&text).unwrap(), "room").unwrap(), view);
        }
    }

    fn view() -> impl Strategy<Value = RoomView> {
        let members = proptest::collection::vec((0..6_u8, 0..2_u8, 0..4_u8, any::<[bool; 3]>()), 1..6);
        (members, any::<[bool; 2]>(), 0..4_usize, 0..3_u32, 0..3_u32, 0..9_u64).prop_map(
            |(drawn, [locked, private], status, round, epoch, version)| {
                let mut view = blank_view();
                for (who, slot, palette, [ready, away, watch]) in drawn {
                    let peer = PeerId::from_u128(u128::from(who));
                    let slot = Slot::at(usize::from(who * 2 + slot));
                    let member = Member {
                        peer,
                        player: PlayerId::from_bytes([who; 16]),
                        name: format!("Guest {palette}").parse().unwrap(),
                        slot: (!watch).then_some(slot),
                        also: Vec::new(),
                        palette,
                        ready,
                        away,
                        resting: ready != away,
                    };
                    view.apply(&Joined { member }.into());
                }
                view.host = view.members[0].peer;
                (view.locked, view.private) = (locked, private);
                (view.status, view.round, view.epoch, view.version) =
                    (Status::ALL[status], round, epoch, version);
                view.seed = Seed(u64::from(round));
                view
            },
        )
    }

    fn blank_view() -> RoomView {
        RoomView {
            id: RoomId::from_bytes([1; 16]),
            code: RoomCode::from_number(1),
            game: "gander".parse().unwrap(),
            mode: Label::default(),
            build: Label::default(),
            seats: 16,
            private: false,
            locked: false,
            drop_in: true,
            host_starts: false,
            matched: false,
            status: Status::Playing,
            round: 0,
            seed: Seed(0),
            epoch: 0,
            born: 0,
            starts_at: None,
            host: PeerId::default(),
            settings: RawJson::default(),
            version: 0,
            members: Vec::new(),
        }
    }
}
