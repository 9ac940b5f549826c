//! Invariants that must hold after every step, checked from outside with separate bookkeeping.

use std::collections::{BTreeMap, BTreeSet};

use gaggle_kit::{Micros, PeerId, Slot, SlotSet};
use gaggle_lobby::client::{Client, ClientEvent};
use gaggle_lobby::directory::command::Find;
use gaggle_lobby::directory::{Command, Directory, Notice, Reply};
use gaggle_lobby::message::client::SubscribeRooms;
use gaggle_lobby::message::server::Listing;
use gaggle_lobby::rules::Rules;
use gaggle_lobby::view::{LeaveReason, RoomUpdate};
use gaggle_lobby::{MatchRecord, PlayerId, RejectionCode, RoomId};

/// Most rooms of a list.
const LISTINGS_MAX: usize = 100;

/// A reservation, and since when its member is away.
struct Place {
    room: RoomId,
    slots: SlotSet,
    lost_at: Option<Micros>,
}

/// Bookkeeping separate from the code it checks.
#[derive(Default)]
pub(crate) struct Checker {
    room_of: BTreeMap<PeerId, RoomId>,
    members: BTreeMap<RoomId, BTreeSet<PeerId>>,
    /// Reservations until their peers leave, are removed, or stay away too long.
    places: BTreeMap<PeerId, Place>,
    /// List each client is subscribed to.
    lists: BTreeMap<usize, SubscribeRooms>,
    /// Members each client knows of from the events it received alone.
    believed: BTreeMap<usize, BTreeSet<PeerId>>,
    believed_host: BTreeMap<usize, PeerId>,
    pub(crate) records: Vec<MatchRecord>,
    pub(crate) rooms_created: u64,
    pub(crate) seats_given_up: u64,
    pub(crate) returns: u64,
    /// Number of resumed reservations.
    pub(crate) kept: u64,
    pub(crate) host_changes: u64,
}

impl Checker {
    /// Checks a reply.
    pub(crate) fn answered(
        &mut self,
        now: Micros,
        directory: &Directory,
        rules: &Rules,
        command: &Command,
        reply: &Reply,
    ) {
        if let Command::Attach(attach) = command {
            self.check_return(now, directory, rules, attach.caller.peer, reply);
        }
        if let Reply::Joined { room, seated } = reply {
            let peer = match command {
                Command::Attach(attach) => attach.caller.peer,
                Command::Find(find) => find.joiner.peer,
                Command::Create(create) => create.joiner.peer,
                Command::Join(join) => join.joiner.peer,
                other => panic!("{other:?} reserves no slot"),
            };
            if seated.created {
                self.rooms_created += 1;
            }
            if let (Command::Find(Find { joiner, link, new, skill, .. }), true) = (command, seated.created)
                && skill.is_none()
            {
                // A removed player, or several local players without enough slots, need a new room.
                let takes = |open: &gaggle_lobby::room::Room| {
                    let (now, rules) = (Micros::ZERO, Rules::default());
                    open.clone().enter(now, &rules, joiner.clone(), *link).is_ok()
                };
                let same = |open: &&gaggle_lobby::room::Room| {
                    let view = open.view();
                    (&view.game, &view.mode, &view.build) == (&new.game, &new.mode, &new.build)
                        && view.id != room.view.id
                        && view.max_players >= new.max_players
                        && open.reserved_for().is_none_or(|network| network == joiner.source.network)
                        && open.is_open()
                        && !open.was_left_lately(now, joiner.player)
                        && takes(open)
                };
                let open = directory.rooms().find(same);
                assert!(open.is_none(), "{:?} had free slots, and {:?} was created", open, room.view);
            }
            self.check_room(directory, room.view.id);
            assert_eq!(self.room_of.get(&peer), Some(&room.view.id));
            let slots = room.view.member(peer).expect("a joined peer is a member").slots();
            self.take_place(peer, room.view.id, slots);
        }
    }

    /// Records a reservation. Spectators have none: a room without players ends.
    fn take_place(&mut self, peer: PeerId, room: RoomId, slots: SlotSet) {
        if slots.is_empty() {
            self.places.remove(&peer);
        } else {
            self.places.insert(peer, Place { room, slots, lost_at: None });
        }
    }

    /// A peer that returns in time gets its reservation, or learns that another connection has it.
    fn check_return(
        &mut self,
        now: Micros,
        directory: &Directory,
        rules: &Rules,
        peer: PeerId,
        reply: &Reply,
    ) {
        let Some(Place { room: id, slots, lost_at }) = self.places.get(&peer) else { return };
        if lost_at.is_some_and(|lost_at| now >= lost_at + rules.reconnect_grace) {
            return;
        }
        match reply {
            Reply::Joined { room, .. } => {
                let given = room.view.member(peer).map(|member| (room.view.id, member.slots()));
                assert_eq!(given, Some((*id, *slots)), "{peer:?} returned to another slot");
                self.kept += u64::from(lost_at.is_some());
            }
            Reply::Elsewhere { code, .. } => {
                assert_eq!(directory.room(*id).map(|room| room.view().code), Some(*code));
            }
            // The node's epoch is outdated, and it will ask again.
            Reply::Rejected(refusal) if refusal.code == RejectionCode::Unavailable => {}
            other => panic!(
                "{peer:?} lost {slots:?} in {id:?}, away since {lost_at:?}, at {now:?}: \
             {other:?}"
            ),
        }
    }

    pub(crate) fn noticed(&mut self, now: Micros, directory: &Directory, rules: &Rules, notice: &Notice) {
        let Notice::Changed { room, events, .. } = notice else { return };
        for event in events {
            match event {
                RoomUpdate::Joined(joined) => {
                    self.take_place(joined.member.peer, *room, joined.member.slots());
                }
                // Peers that leave by themselves have a shorter grace time.
                RoomUpdate::Away(away) if away.intentional => drop(self.places.remove(&away.peer)),
                RoomUpdate::Away(away) => {
                    if let Some(place) = self.places.get_mut(&away.peer) {
                        place.lost_at.get_or_insert(now);
                    }
                }
                RoomUpdate::Returned(returned) => {
                    if let Some(place) = self.places.get_mut(&returned.peer) {
                        place.lost_at = None;
                    }
                    self.returns += 1;
                }
                RoomUpdate::Left(left) => {
                    // A peer that switched rooms has its next reservation already.
                    let is_here = self.places.get(&left.peer).is_some_and(|place| place.room == *room);
                    let place = is_here.then(|| self.places.remove(&left.peer)).flatten();
                    if left.reason == LeaveReason::ConnectionLost
                        && let Some(since) = place.and_then(|place| place.lost_at)
                    {
                        self.seats_given_up += 1;
                        assert!(
                            since + rules.reconnect_grace <= now,
                            "{:?} was removed after {}",
                            left.peer,
                            now.since(since)
                        );
                    }
                }
                RoomUpdate::HostChanged(_) => self.host_changes += 1,
                _ => {}
            }
        }
        self.check_room(directory, *room);
    }

    /// Rooms per player and spectators per room are within bounds.
    pub(crate) fn check_bounds(directory: &Directory, rules: &Rules) {
        let mut seats: BTreeMap<PlayerId, usize> = BTreeMap::new();
        for room in directory.rooms() {
            assert!(room.view().spectators().count() <= rules.spectators_max, "a crowd: {:?}", room.view());
            room.view().members.iter().for_each(|member| *seats.entry(member.player).or_default() += 1);
        }
        let most = seats.values().max().copied().unwrap_or(0);
        assert!(most <= rules.rooms_per_player_max, "one player is in {most} rooms");
    }

    /// Capacity, slots and host of a room; no peer is in two rooms.
    fn check_room(&mut self, directory: &Directory, id: RoomId) {
        for peer in self.members.remove(&id).unwrap_or_default() {
            if self.room_of.get(&peer) == Some(&id) {
                self.room_of.remove(&peer);
            }
        }
        let Some(room) = directory.room(id) else { return };
        let view = room.view();
        let slots: Vec<Slot> = view.members.iter().flat_map(|member| member.slots().iter()).collect();
        let distinct: BTreeSet<Slot> = slots.iter().copied().collect();
        assert_eq!(slots.len(), distinct.len(), "one slot taken twice: {view:?}");
        assert!(slots.len() <= usize::from(view.max_players), "more players than slots: {view:?}");
        assert!(
            slots.iter().all(|slot| slot.index() < usize::from(view.max_players)),
            "a slot out of range: {view:?}"
        );
        let host = view.member(view.host).expect("the host is a member");
        assert!(host.slot.is_some(), "the host is a player: {view:?}");
        let palettes: BTreeSet<u8> = view.players().map(|member| member.palette).collect();
        assert_eq!(palettes.len(), view.players().count(), "two players have the same color: {view:?}");
        for member in &view.members {
            assert_eq!(member.away, room.reservation_of(member.peer).unwrap().link.is_none());
            let other = self.room_of.insert(member.peer, id).and_then(|other| directory.room(other));
            // A room that ended without connected members notifies no client, so the records may
            // still contain it.
            let other = other.filter(|other| other.view().member(member.peer).is_some());
            assert!(other.is_none(), "{:?} is in two rooms", member.peer);
        }
        self.members.insert(id, view.members.iter().map(|member| member.peer).collect());
    }

    /// Each client learns of each join and departure once, in a consistent order.
    pub(crate) fn told(&mut self, client: usize, machine: &Client, event: &ClientEvent) {
        let believed = self.believed.entry(client).or_default();
        match event {
            ClientEvent::RoomJoined { returned, .. } => {
                let room = machine.room().expect("a joined client has a room");
                let (_, me) = machine.identity().unwrap();
                assert!(room.member(me).is_some());
                // Back in a known room: differences follow as events.
                if !returned || believed.is_empty() {
                    *believed = room.members.iter().map(|member| member.peer).collect();
                    self.believed_host.insert(client, room.host);
                }
            }
            ClientEvent::RoomLeft { .. } => {
                believed.clear();
                self.believed_host.remove(&client);
            }
            ClientEvent::RoomUpdated(RoomUpdate::Joined(joined)) => {
                assert!(
                    believed.insert(joined.member.peer),
                    "client {client}: {:?} joined twice",
                    joined.member
                );
            }
            ClientEvent::RoomUpdated(RoomUpdate::Left(left)) => {
                assert!(believed.remove(&left.peer), "client {client}: {:?} left twice", left.peer);
            }
            ClientEvent::RoomUpdated(RoomUpdate::HostChanged(host)) => {
                let before = self.believed_host.insert(client, host.peer);
                assert_ne!(before, Some(host.peer), "client {client}: the same host was announced twice");
            }
            _ => {}
        }
    }

    pub(crate) fn client_reloaded(&mut self, client: usize) {
        self.believed.remove(&client);
        self.believed_host.remove(&client);
        self.lists.remove(&client);
    }

    /// A client subscribes to this list, or to none.
    pub(crate) fn room_list(&mut self, client: usize, list: Option<SubscribeRooms>) {
        match list {
            Some(list) => drop(self.lists.insert(client, list)),
            None => drop(self.lists.remove(&client)),
        }
    }

    /// Number of clients subscribed to a list.
    pub(crate) fn list_count(&self) -> usize {
        self.lists.len()
    }

    /// A match is decided once and names each player once.
    pub(crate) fn recorded(&mut self, record: MatchRecord) {
        let same = |known: &&MatchRecord| (known.room, known.round) == (record.room, record.round);
        assert_eq!(self.records.iter().find(same), None, "decided twice: {record:?}");
        let people: BTreeSet<PeerId> = record.scores.iter().map(|line| line.peer).collect();
        assert_eq!(people.len(), record.scores.len(), "one player is named twice: {record:?}");
        self.records.push(record);
    }

    pub(crate) fn forget_rooms(&mut self) {
        self.room_of.clear();
        self.members.clear();
        self.places.clear();
    }

    /// A client's list contains existing rooms, and as many as it may contain.
    fn check_list(&self, directory: &Directory, number: usize, client: &Client) {
        let shown: BTreeMap<RoomId, &Listing> =
            client.room_list().map(|listing| (listing.id, listing)).collect();
        let Some(SubscribeRooms { game, mode, build, all }) = self.lists.get(&number) else {
            assert!(shown.is_empty(), "client {number} has a list without subscription");
            return;
        };
        let rooms = directory.rooms().filter(|room| {
            let view = room.view();
            view.game == *game
                && (mode.is_empty() || view.mode == *mode)
                && (build.is_empty() || view.build == *build)
        });
        let listings = rooms.filter_map(|room| room.listing()).filter(|listing| *all || listing.open);
        let truth: BTreeMap<RoomId, Listing> = listings.map(|listing| (listing.id, listing)).collect();
        for (id, listing) in &shown {
            assert_eq!(truth.get(id), Some(*listing), "client {number} has an outdated room in its list");
        }
        assert_eq!(
            shown.len(),
            truth.len().min(LISTINGS_MAX),
            "client {number} does not have all \
         rooms in its list"
        );
    }

    /// After a quiet time: no member is away, every client's copy equals the directory's room,
    /// events alone led to the same members, and every list is right.
    pub(crate) fn settled(&self, directory: &Directory, clients: &[(usize, &Client)]) {
        for room in directory.rooms() {
            let away = room.view().members.iter().find(|member| member.away);
            assert_eq!(away, None, "a departed member is left in {:?}", room.view());
        }
        for (number, client) in clients {
            self.check_list(directory, *number, client);
            let Some((_, peer)) = client.identity() else { continue };
            let mut truth = directory.room_of(peer).map(|room| room.view().clone());
            if let (Some(truth), Some(seen)) = (&mut truth, client.room()) {
                // Connection changes concern nodes only and raise the version unseen.
                assert!(seen.version <= truth.version);
                truth.version = seen.version;
            }
            assert_eq!(client.room(), truth.as_ref(), "client {number} has a different copy of its room");
            if let Some(room) = truth {
                let members: BTreeSet<PeerId> = room.members.iter().map(|member| member.peer).collect();
                assert_eq!(
                    self.believed.get(number),
                    Some(&members),
                    "client {number} derived \
                 different members from events"
                );
                assert_eq!(self.believed_host.get(number), Some(&room.host));
            }
        }
    }
}
