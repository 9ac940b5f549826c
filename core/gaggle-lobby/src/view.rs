//! A room as its members see it, and the updates that keep every copy equal.
//!
//! [`RoomView::apply`] runs in the directory, on every node with a member of the room, and in
//! clients. Absent: which updates may happen (`room.rs`).

use gaggle_kit::{PeerId, Slot, SlotSet};

use crate::id::{PlayerId, RoomCode, RoomId, Seed};
use crate::json::{record, tagged};
use crate::label::{DisplayName, Label};
pub use crate::raw_json::RawJson;
use crate::word::words;

words! {
    /// Phase of a room.
    pub enum Status: "waiting, starting, playing or finished" {
        /// Members gather; no match runs yet.
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
    /// Why a member has left a room.
    pub enum LeaveReason: "left, kicked, lost, silent or closed" {
        /// The member left by itself.
        Left = "left",
        /// The host removed the member.
        Kicked = "kicked",
        /// The connection was lost and did not return within the grace time.
        ConnectionLost = "lost",
        /// The member was connected but sent nothing for too long.
        IdleTimeout = "silent",
        /// The room was closed.
        Closed = "closed",
    }
}

words! {
    /// Verdict on a match result.
    pub enum Verdict: "pending, disputed, claimed, agreed or refereed" {
        /// More reports are expected.
        Pending = "pending",
        /// The players disagree; the result counts nowhere.
        Disputed = "disputed",
        /// Reported by players of one network only.
        Claimed = "claimed",
        /// Players of different networks report the same.
        Agreed = "agreed",
        /// A referee computed it. No server does so yet.
        Refereed = "refereed",
    }
}

record! {
    /// A member of a room.
    pub struct Member {
        /// Peer id, the address of packets and signals.
        peer: PeerId,
        /// Account of the player.
        player: PlayerId,
        /// Display name in this room.
        name: DisplayName,
        /// Slot; none for a spectator.
        slot: Option<Slot>,
        /// Slots of further local players of the same peer.
        extra_slots as "also": Vec<Slot>,
        /// Color of the player, unique among the players of a room.
        palette: u8,
        /// Whether the player is ready for the next match.
        ready: bool,
        /// Whether the connection to the server is lost. Links to other peers may be alive.
        away: bool,
        /// Whether the player is away from the game: its peer may respond slowly or not at all, and
        /// takes no part in the match.
        resting: bool,
    }
}

record! {
    /// A room as its members see it.
    pub struct RoomView {
        /// Id of the room.
        id: RoomId,
        /// Six letters to join by.
        code: RoomCode,
        /// Game of the room.
        game: Label,
        /// Mode of the game.
        mode: Label,
        /// Build of the game; peers with different builds never meet.
        build: Label,
        /// Number of slots.
        max_players as "seats": u8,
        /// Kept out of the list: joined by code or link only.
        private: bool,
        /// Admits no joiners.
        locked: bool,
        /// Whether joiners are admitted while a match runs.
        drop_in: bool,
        /// Matches begin when the host starts them, for all members together. Always so without
        /// `drop_in`.
        host_starts: bool,
        /// Filled by `find`: removing a player takes a vote, and the host cannot lock the room.
        matched: bool,
        /// Phase of the room.
        status: Status,
        /// Number of the current match, from 1; 0 before the first.
        round: u32,
        /// Seed of the match.
        seed: Seed,
        /// Rises when older tickets become invalid. See docs/protocol/8-files.md.
        epoch: u32,
        /// Start of the match in Unix milliseconds.
        match_started_at as "born": u64,
        /// End of the countdown in Unix milliseconds.
        starts_at: Option<u64>,
        /// Member that may change the room; always a player.
        host: PeerId,
        /// The game's settings: a JSON object that only the game interprets.
        settings: RawJson,
        /// Number of changes so far.
        version: u64,
        /// Members: players by slot, then spectators.
        members: Vec<Member>,
    }
}

record! {
    /// A member joined.
    pub struct Joined {
        /// The new member.
        member: Member,
    }
}

record! {
    /// A member left for good.
    pub struct Left {
        /// Member that left.
        peer: PeerId,
        /// Reason of leaving.
        reason: LeaveReason,
    }
}

record! {
    /// A member lost its connection to the server; its reservation is kept for the grace time.
    pub struct Away {
        /// Member that is away.
        peer: PeerId,
        /// It left by itself and may return in a moment; its links are closed, too.
        intentional as "left": bool,
    }
}

record! {
    /// A member is connected again. Signals sent meanwhile may be lost: negotiate again.
    pub struct Returned {
        /// Member that returned.
        peer: PeerId,
    }
}

record! {
    /// Another member is host.
    pub struct HostChanged {
        /// The new host.
        peer: PeerId,
    }
}

record! {
    /// A member is ready or not.
    pub struct ReadyChanged {
        /// Member that changed.
        peer: PeerId,
        /// True if ready.
        ready: bool,
    }
}

record! {
    /// A player went away from the game or returned.
    pub struct RestChanged {
        /// Peer of the player.
        peer: PeerId,
        /// Whether it is resting now.
        resting: bool,
    }
}

record! {
    /// A member changed name or color.
    pub struct ProfileChanged {
        /// Member that changed.
        peer: PeerId,
        /// Name after the change.
        name: DisplayName,
        /// Color after the change.
        palette: u8,
    }
}

record! {
    /// The host changed the game's settings.
    pub struct SettingsChanged {
        /// The settings, complete.
        settings: RawJson,
    }
}

record! {
    /// The host changed who may join.
    pub struct AccessChanged {
        /// Admits no joiners.
        locked: bool,
        /// Kept out of the list.
        private: bool,
        /// Number of slots.
        max_players as "seats": u8,
        /// Filled by `find`.
        matched: bool,
    }
}

record! {
    /// A player of a matched room voted to remove another one.
    pub struct VoteCast {
        /// Player to be removed.
        peer: PeerId,
        /// Player that voted.
        by: PeerId,
        /// Votes so far, one per network.
        votes: u8,
        /// Votes that are needed.
        needed: u8,
    }
}

record! {
    /// The room's status changed.
    pub struct StatusChanged {
        /// Status after the change.
        status: Status,
        /// Number of the match.
        round: u32,
        /// Seed of the match.
        seed: Seed,
        /// Start of the match in Unix milliseconds.
        match_started_at as "born": u64,
        /// End of the countdown in Unix milliseconds.
        starts_at: Option<u64>,
    }
}

record! {
    /// Older tickets are invalid; new ones follow.
    pub struct EpochChanged {
        /// Epoch after the change.
        epoch: u32,
    }
}

record! {
    /// Rating change of one player.
    pub struct RatingChange {
        /// Peer of the player.
        peer: PeerId,
        /// Rating before the match.
        before: i64,
        /// Rating after the match.
        after: i64,
    }
}

record! {
    /// A match result is decided and stored.
    pub struct ResultDecided {
        /// Number of the match.
        round: u32,
        /// Verdict on the result.
        verdict: Verdict,
        /// Rating changes of its players.
        ratings: Vec<RatingChange>,
    }
}

tagged! {
    /// One change of a room.
    pub enum RoomUpdate by "event" {
        /// A member joined.
        "joined" => Joined,
        /// A member left.
        "left" => Left,
        /// A member lost its connection.
        "away" => Away,
        /// A member returned.
        "returned" => Returned,
        /// Another member is host.
        "host" => HostChanged,
        /// A member is ready or not.
        "ready" => ReadyChanged,
        /// A player went away or returned.
        "rest" => RestChanged,
        /// A member changed name or color.
        "profile" => ProfileChanged,
        /// The game's settings changed.
        "settings" => SettingsChanged,
        /// Who may join changed.
        "access" => AccessChanged,
        /// A vote to remove a player.
        "vote" => VoteCast,
        /// A match starts, runs or ends.
        "status" => StatusChanged,
        /// Tickets are renewed.
        "epoch" => EpochChanged,
        /// A result is stored.
        "result" => ResultDecided,
    }
}

impl Member {
    /// All slots of this member.
    pub fn slots(&self) -> SlotSet {
        self.slot.into_iter().chain(self.extra_slots.iter().copied()).collect()
    }
}

impl RoomView {
    /// Member with this peer id.
    pub fn member(&self, peer: PeerId) -> Option<&Member> {
        self.members.iter().find(|member| member.peer == peer)
    }

    /// Members with slots, by slot: one for each peer.
    pub fn players(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.slot.is_some())
    }

    /// Members without slots.
    pub fn spectators(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.slot.is_none())
    }

    /// Whether matches begin when the host starts them, for all members together.
    pub fn starts_together(&self) -> bool {
        self.host_starts || !self.drop_in
    }

    /// Version of the game, as players know it: the build without its fingerprint. Empty if the
    /// game names no version.
    pub fn version(&self) -> &str {
        version(&self.build)
    }

    /// Slots of all players.
    pub fn occupied_slots(&self) -> SlotSet {
        self.members.iter().fold(SlotSet::EMPTY, |slots, member| slots.union(member.slots()))
    }

    /// Number of unoccupied slots.
    pub fn free_slots(&self) -> u8 {
        self.max_players.saturating_sub(self.occupied_slots().len() as u8)
    }

    /// Applies an update. An update about an unknown member changes nothing.
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
            RoomUpdate::AccessChanged(AccessChanged { locked, private, max_players, matched }) => {
                (self.locked, self.private, self.max_players) = (*locked, *private, *max_players);
                self.matched = *matched;
            }
            RoomUpdate::StatusChanged(change) => self.change_status(change),
            RoomUpdate::EpochChanged(EpochChanged { epoch }) => self.epoch = *epoch,
            RoomUpdate::ResultDecided(_) | RoomUpdate::VoteCast(_) => {}
        }
    }

    /// Updates that turn this view into a later one of the same room. They omit members that joined
    /// and left in between, and results.
    pub fn changes_to(&self, later: &RoomView) -> Vec<RoomUpdate> {
        let mut events = Vec::new();
        // First, because a new match makes all members unready.
        let status = later.status_change();
        let round_changed = self.round != later.round;
        if self.status_change() != status {
            events.push(status.into());
        }
        for member in &self.members {
            match later.member(member.peer) {
                // Another slot or player of the same peer: it left and joined again.
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
                (false, true) => events.push(Away { peer, intentional: false }.into()),
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

    /// Access rules as an update that sets them.
    pub(crate) fn access(&self) -> AccessChanged {
        let RoomView { locked, private, max_players, matched, .. } = *self;
        AccessChanged { locked, private, max_players, matched }
    }

    /// Status as an update that sets it.
    pub(crate) fn status_change(&self) -> StatusChanged {
        let RoomView { status, round, seed, match_started_at, starts_at, .. } = *self;
        StatusChanged { status, round, seed, match_started_at, starts_at }
    }

    fn change_status(&mut self, change: &StatusChanged) {
        // No member is ready for the next match when one starts.
        if change.round != self.round {
            self.members.iter_mut().for_each(|member| member.ready = false);
        }
        let StatusChanged { status, round, seed, match_started_at, starts_at } = *change;
        (self.status, self.round, self.seed) = (status, round, seed);
        (self.match_started_at, self.starts_at) = (match_started_at, starts_at);
    }

    fn change(&mut self, peer: PeerId, change: impl FnOnce(&mut Member)) {
        if let Some(member) = self.members.iter_mut().find(|member| member.peer == peer) {
            change(member);
        }
    }
}

/// Version in a build, which is a version, a dash and a fingerprint without meaning for players.
pub(crate) fn version(build: &Label) -> &str {
    build.as_str().rsplit_once('-').map_or(build.as_str(), |(version, _)| version)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::{Raw, Value};

    proptest! {
        #[test]
        fn changes_between_views_lead_from_one_to_other(before in view(), after in view()) {
            let mut copy = before.clone();
            let changes = before.changes_to(&after);
            changes.iter().for_each(|event| copy.apply(event));
            copy.version = after.version;
            prop_assert_eq!(copy, after);
        }

        #[test]
        fn view_reads_back_as_written(view in view()) {
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
                        extra_slots: Vec::new(),
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
            max_players: 16,
            private: false,
            locked: false,
            drop_in: true,
            host_starts: false,
            matched: false,
            status: Status::Playing,
            round: 0,
            seed: Seed(0),
            epoch: 0,
            match_started_at: 0,
            starts_at: None,
            host: PeerId::default(),
            settings: RawJson::default(),
            version: 0,
            members: Vec::new(),
        }
    }
}
