//! The session: local changes, packets and time in; packets, messages and events out.
//!
//! This file owns the state and what a game does with objects. Its neighbours: `claims.rs` who
//! holds what, `owner.rs` whose it is, `judge.rs` which record the world takes, `standing.rs`
//! whether its holder ever had a right to it, `duty.rs` what each link has to be told, `greet.rs`
//! who is present, `seniority.rs` in which order, `select.rs` and `send.rs` what goes out,
//! `decode.rs` and `receive.rs` what comes in, `display.rs` what a player sees; `inputs.rs`,
//! `signals.rs`, `values.rs` and `blobs.rs` what travels beside the objects.

#[cfg(test)]
mod authority_attacks;
mod blobs;
mod claims;
mod decode;
mod delivery;
mod delta_cache;
mod departing;
mod handshake;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod identity_attacks;
mod inputs;
mod join_order;
mod owner;
mod provenance;
mod receive;
mod remote_events;
mod resolve;
#[cfg(test)]
mod seldom;
mod select;
mod send;
mod smoothing;
mod values;

use std::collections::VecDeque;

use gaggle_kit::{Micros, PeerId, Prng, VecSet, fnv1a_64};

use crate::ablation::Ablation;
use crate::blob::Blobs;
use crate::config::{JoinMode, ObjectError, ReplicaConfig, SessionError};
use crate::event::{Events, SessionEvent};
use crate::input_queue::{InputOut, LocalInput};
use crate::link::Peer;
use crate::message::NUMBER_NONE;
use crate::policy::ObjectInfo;
use crate::remote_event::Signals;
use crate::roster::{Roster, RosterMember};
use crate::store::{ObjectIndex, Store};
use crate::tombstone_ranges::Forgotten;
use crate::value::Values;
use crate::version::{Record, Version};
use crate::{Kind, Kinds, MemberId, MemberTag, ObjectId, Player, SchemaPart};

use decode::Decoder;
use departing::Departing;
use send::Round;
use smoothing::Display;

pub use send::Transmit;

/// One machine's part in a world of shared objects.
///
/// A pure state machine: give it changes, packets and the time, then drain what it wants.
///
/// 1. [`handle_connected`](Session::handle_connected), [`handle_packet`](Session::handle_packet),
///    [`handle_message`](Session::handle_message),
///    [`handle_disconnected`](Session::handle_disconnected): what the links bring;
/// 2. [`spawn`](Session::spawn), [`set`](Session::set), [`claim`](Session::claim),
///    [`despawn`](Session::despawn): what the game does;
/// 3. [`tick`](Session::tick), once a frame, after the game: time passes;
/// 4. [`poll_transmit`](Session::poll_transmit) until it is empty: what to send;
/// 5. [`poll_event`](Session::poll_event) until it is empty: what happened; the same for
///    [`poll_remote_event`](Session::poll_remote_event) and
///    [`poll_event_request`](Session::poll_event_request), where there are any.
///
/// [`Driver`](crate::Driver) does 1 and 4 with a transport.
#[derive(Debug)]
pub struct Session {
    config: ReplicaConfig,
    kinds: Kinds,
    fingerprint: u64,
    /// What peers must mean the same by, part by part.
    parts: Vec<(SchemaPart, u32)>,
    me: RosterMember,
    store: Store,
    roster: Roster,
    links: Vec<Peer>,
    /// Objects without a rightful holder.
    orphans: Vec<ObjectIndex>,
    /// Objects this machine grabbed.
    locked: Vec<ObjectIndex>,
    /// Deleted objects that are remembered in full.
    tombstones: Vec<ObjectIndex>,
    tombstone_cursor: usize,
    tombstone_ranges: Forgotten,
    /// Deleted objects that are still shown.
    departing: Vec<Departing>,
    /// Our objects that changed since the last tick.
    dirty: Vec<ObjectIndex>,
    /// Those of them that nobody was told about yet.
    fresh: Vec<ObjectIndex>,
    /// Records that claim more than can have happened yet: link and handle.
    premature: Vec<(PeerId, u16)>,
    premature_at: Micros,
    /// Members we have had a link with.
    known_members: VecDeque<Met>,
    /// Peers who came after we became a member.
    joiners: VecDeque<PeerId>,
    /// Who did not know us under the number we had, and gives us another.
    renumbered_by: Option<PeerId>,
    /// Everybody who did so, a few times each.
    doubted_by: Vec<PeerId>,
    /// Who is who, as far as somebody said so; none for who only looks on.
    identities: Vec<(PeerId, Option<Player>)>,
    /// Members who left, the latest last.
    departed: VecDeque<Parted>,
    /// What nobody rightful made, as far as we can tell, since when we know of it, and what was
    /// said of it first.
    unauthorized: Vec<(ObjectId, Record, Micros)>,
    /// This machine only looks on.
    spectator: bool,
    /// There is somebody we have not met yet: what is founded now would be another world than
    /// theirs.
    awaits_others: bool,
    /// The highest member number heard of.
    highest: u32,
    objects_made: u32,
    epoch: u32,
    /// The last tick in which something could be sent.
    tick: u32,
    ticked_at: Micros,
    /// When our ticks began to count.
    started: Option<Micros>,
    /// How old the session was then, in µs; below zero if our ticks are older than it.
    age_at_start: i64,
    /// Who says how old it is, and how old it was in µs when that one's ticks began to count.
    age_by: Option<MemberId>,
    age_there: Option<i64>,
    admitted_at: Micros,
    /// Since when there is somebody to wait for, but no member among them.
    waiting_since: Option<Micros>,
    joined_leader: Option<MemberId>,
    /// Since when that one leads.
    leader_since: Micros,
    now: Micros,
    round: Round,
    /// What a record of any kind takes at most.
    bits_max_of_all: usize,
    decoder: Decoder,
    smoothing: Display,
    /// Acknowledgements that cannot wait for the next round.
    acks: VecDeque<(PeerId, Vec<u8>)>,
    /// For the reliable channel.
    messages: VecDeque<(PeerId, Vec<u8>)>,
    /// Pieces of blobs, for a stream of their own.
    pieces: VecDeque<(PeerId, Vec<u8>)>,
    blobs: Blobs,
    inputs: InputOut,
    local_input: LocalInput,
    signals: Signals,
    values: Values,
    /// Which of its player's values this machine has set itself.
    said: VecSet<u8>,
    /// Peers whose links should end, at most one entry each.
    refused: Vec<PeerId>,
    events: Events,
    stats: SessionStats,
    ablation: Ablation,
    /// Draws our names.
    random: Prng,
}

/// A member we have had a link with.
#[derive(Debug, Clone, Copy)]
struct Met {
    member: MemberId,
    /// At which machine, if we were a member ourselves.
    at: Option<PeerId>,
    /// It said who it is in answer to us, as who we are now: whoever is at that machine later came
    /// after us.
    answered_us: bool,
}

/// Somebody who left.
#[derive(Debug, Clone, Copy)]
struct Parted {
    present: RosterMember,
    at: Micros,
    /// It said that it goes.
    goodbye: bool,
    /// How many objects it had said it would tell of, and had not.
    unheard: u32,
}

/// How much of a world has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SyncProgress {
    /// Objects that were introduced.
    pub received: u32,
    /// Objects that were announced.
    pub expected: u32,
}

/// What happened so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionStats {
    /// Packets sent.
    pub packets_sent: u64,
    /// Bytes of these packets.
    pub bytes_sent: u64,
    /// Updates of objects in these packets, closing of handles not counted.
    pub updates_sent: u64,
    /// Updates that had to tell everything.
    pub updates_full: u64,
    /// Packets taken.
    pub packets_received: u64,
    /// Packets that could not be used: repeated, of another epoch, or built on what is not there
    /// any more.
    pub packets_dropped: u64,
    /// Updates in packets taken.
    pub updates_received: u64,
    /// Claims made here.
    pub claims: u64,
    /// Objects inherited.
    pub inherited: u64,
    /// Objects nobody rightful made, deleted here: see [`ReplicaConfig::despawn_unauthorized`].
    pub unauthorized_despawned: u64,
    /// Objects taken back in trust.
    pub reclaimed: u64,
    /// Records that were not taken into the world, by rule.
    pub records_rejected: u64,
    /// Older records answered with newer ones.
    pub corrections_sent: u64,
    /// How often this machine came in again, because others did not know it under its number.
    pub rejoins: u64,
    /// Signals that came too often, named objects that did not become known, or were not for this
    /// machine.
    pub remote_events_dropped: u64,
    /// Events thrown away because nobody read them.
    pub events_dropped: u64,
}

impl Session {
    /// A session of `player`. `seed` is a random number the caller draws: it tells this stay from
    /// all others.
    ///
    /// # Errors
    /// Says which setting cannot be and what to change.
    pub fn new(
        config: ReplicaConfig,
        kinds: Kinds,
        player: Player,
        entry: JoinMode,
        seed: u64,
    ) -> Result<Session, SessionError> {
        config.validate()?;
        let mut random = Prng::new(seed);
        let tag = MemberTag(random.next_u32() | 1);
        let number = match entry {
            JoinMode::Create => 0,
            JoinMode::Join | JoinMode::Spectate => NUMBER_NONE,
            JoinMode::Start(number) => number.min(NUMBER_NONE - 1),
        };
        let store = Store::new(&kinds, config.send_interval, random.next_u64());
        let bits_max_of_all = send::record_bits_max(&store.kinds);
        let parts = parts(&config, &kinds);
        let mut session = Session {
            fingerprint: fingerprint(&config, &kinds),
            parts,
            me: RosterMember { id: MemberId { join_order: number, tag }, slot: player },
            store,
            roster: Roster::default(),
            links: Vec::new(),
            orphans: Vec::new(),
            locked: Vec::new(),
            tombstones: Vec::new(),
            tombstone_cursor: 0,
            tombstone_ranges: Forgotten::default(),
            departing: Vec::new(),
            dirty: Vec::new(),
            fresh: Vec::new(),
            premature: Vec::new(),
            premature_at: Micros::ZERO,
            known_members: VecDeque::new(),
            joiners: VecDeque::new(),
            renumbered_by: None,
            doubted_by: Vec::new(),
            identities: Vec::new(),
            departed: VecDeque::new(),
            unauthorized: Vec::new(),
            spectator: entry == JoinMode::Spectate,
            awaits_others: false,
            highest: 0,
            objects_made: 0,
            epoch: random.next_u32() >> 1 | 1,
            tick: 0,
            ticked_at: Micros::ZERO,
            started: None,
            age_at_start: 0,
            age_there: None,
            age_by: (number != NUMBER_NONE).then_some(MemberId { join_order: number, tag }),
            admitted_at: Micros::ZERO,
            waiting_since: None,
            joined_leader: None,
            leader_since: Micros::ZERO,
            now: Micros::ZERO,
            round: Round::default(),
            bits_max_of_all,
            decoder: Decoder::default(),
            smoothing: Display::default(),
            acks: VecDeque::new(),
            messages: VecDeque::new(),
            pieces: VecDeque::new(),
            blobs: Blobs::default(),
            inputs: InputOut::default(),
            local_input: LocalInput::default(),
            signals: Signals::default(),
            values: Values::default(),
            said: VecSet::default(),
            refused: Vec::new(),
            events: Events::default(),
            stats: SessionStats::default(),
            ablation: Ablation::default(),
            random,
            kinds,
            config,
        };
        if number != NUMBER_NONE {
            session.admit(number);
        }
        Ok(session)
    }

    /// Makes an object, held by this machine.
    ///
    /// # Errors
    /// If this machine may not hold it, is not admitted yet, or there are too many objects.
    pub fn spawn<K: Kind>(&mut self, value: &K) -> Result<ObjectId, ObjectError> {
        self.spawn_record(value, None, None)
    }

    /// Makes an object for a player. Under
    /// [`AuthorityPolicy::OwnerOrLeader`](crate::AuthorityPolicy::OwnerOrLeader) it is that
    /// player's home, and only the player itself can make it while it is present. Under
    /// [`AuthorityPolicy::Anyone`](crate::AuthorityPolicy::Anyone) the player takes it over as soon
    /// as it sees it.
    ///
    /// # Errors
    /// As for [`spawn`](Session::spawn).
    pub fn spawn_owned<K: Kind>(&mut self, player: Player, value: &K) -> Result<ObjectId, ObjectError> {
        let trust = (self.config.authority.is_open() && player != self.me.slot).then_some(player);
        self.spawn_record(value, Some(player), trust)
    }

    fn spawn_record<K: Kind>(
        &mut self,
        value: &K,
        home: Option<Player>,
        trust: Option<Player>,
    ) -> Result<ObjectId, ObjectError> {
        let kind = self.kinds.number_of::<K>().ok_or(ObjectError::UnknownKind { name: K::NAME })?;
        if !self.is_member() {
            return Err(ObjectError::NotMember);
        }
        if self.store.len() >= self.config.objects_max {
            return Err(ObjectError::Full { max: self.config.objects_max });
        }
        // Somebody may have used our next name to keep us from using it.
        let mut counter = self.objects_made + 1;
        let is_taken = |id| self.store.find(id).is_some() || self.tombstone_ranges.contains(id);
        while is_taken(ObjectId::new(self.me.id.tag, counter)) {
            counter += 1;
        }
        let id = ObjectId::new(self.me.id.tag, counter);
        let record = Record {
            version: Version { lock_seq: 0, claim_seq: 1, authority: self.me.id, tick: self.tick + 1 },
            player: self.me.slot,
            held: false,
            owner_claim: trust,
            home,
            gone: false,
            kind: kind as u8,
        };
        if !self.may_hold(id, &record) {
            return Err(ObjectError::Forbidden { id });
        }
        self.objects_made = counter;
        let place = self.place_of(id);
        self.store.set_record(place, Some(record));
        value.to_words(self.store.value_mut(place));
        let object = &mut self.store[place];
        object.top = (0, 1);
        object.by_maker = true;
        object.claimed_at = self.now;
        object.changed_at = self.now;
        self.make_dirty(place);
        Ok(id)
    }

    /// The truth about an object, as far as it is known here.
    pub fn get<K: Kind>(&self, id: ObjectId) -> Option<K> {
        let place = self.live(id).ok()?;
        let kind = self.kinds.number_of::<K>()?;
        let record = self.store[place].record?;
        (usize::from(record.kind) == kind).then(|| K::from_words(self.store.value(place)))
    }

    /// Changes an object this machine holds. What is told and read back is `value` to within the
    /// precision of its kind. Constants stay what they were.
    ///
    /// # Errors
    /// If it is not there, of another kind, or somebody else's.
    pub fn set<K: Kind>(&mut self, id: ObjectId, value: &K) -> Result<(), ObjectError> {
        let place = self.live(id)?;
        let kind = self.kinds.number_of::<K>().ok_or(ObjectError::UnknownKind { name: K::NAME })?;
        let Some(record) = self.store[place].record else { return Err(ObjectError::Unknown { id }) };
        if usize::from(record.kind) != kind {
            return Err(ObjectError::KindMismatch { id });
        }
        if record.version.authority != self.me.id {
            return Err(ObjectError::NoAuthority { id });
        }
        let words = self.store.kinds[kind].layout.words;
        self.round.words.resize(self.store.kinds[kind].layout.words_all(), 0);
        value.to_words(&mut self.round.words);
        if self.store.value(place)[..words] != self.round.words[..words] {
            self.store.value_mut(place)[..words].copy_from_slice(&self.round.words[..words]);
            self.store[place].changed_at = self.now;
            self.make_dirty(place);
        }
        Ok(())
    }

    /// Changes an object this machine holds, starting from what it is.
    ///
    /// # Errors
    /// As for [`set`](Session::set).
    pub fn modify<K: Kind>(&mut self, id: ObjectId, change: impl FnOnce(&mut K)) -> Result<(), ObjectError> {
        self.live(id)?;
        self.kinds.number_of::<K>().ok_or(ObjectError::UnknownKind { name: K::NAME })?;
        let mut value: K = self.get(id).ok_or(ObjectError::KindMismatch { id })?;
        change(&mut value);
        self.set(id, &value)
    }

    /// All objects of a kind, with what is known of them, in no particular order.
    pub fn iter<K: Kind>(&self) -> impl Iterator<Item = (ObjectId, K)> + '_ {
        self.places_of::<K>().map(|place| (self.store[place].id, K::from_words(self.store.value(place))))
    }

    /// Everything there is, of whatever kind, in no particular order: for whoever would otherwise
    /// ask for every kind in turn.
    pub fn iter_info(&self) -> impl Iterator<Item = ObjectInfo> + '_ {
        let live = self.store.iter().filter_map(|(_, object)| Some((object.id, object.record?)));
        live.filter(|(_, record)| !record.gone).map(|(id, record)| ObjectInfo::of(id, &record))
    }

    /// The ids of the objects of a kind this machine holds.
    pub fn iter_authoritative<K: Kind>(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let me = self.me.id;
        let mine = move |place: &ObjectIndex| {
            self.store[*place].record.is_some_and(|record| record.version.authority == me)
        };
        self.places_of::<K>().filter(mine).map(|place| self.store[place].id)
    }

    fn places_of<K: Kind>(&self) -> impl Iterator<Item = ObjectIndex> + '_ {
        let kind = self.kinds.number_of::<K>();
        let is_it = move |record: Record| !record.gone && Some(usize::from(record.kind)) == kind;
        let live = self.store.iter().filter(move |(_, object)| object.record.is_some_and(is_it));
        live.map(|(place, _)| place)
    }

    /// Who holds an object.
    pub fn authority(&self, id: ObjectId) -> Option<Player> {
        let place = self.live(id).ok()?;
        self.store[place].record.map(|record| record.player)
    }

    /// Whether this machine holds an object.
    pub fn has_authority(&self, id: ObjectId) -> bool {
        let Ok(place) = self.live(id) else { return false };
        self.store[place].record.is_some_and(|record| record.version.authority == self.me.id)
    }

    /// How the present state of an object came to be: for overlays and logs.
    pub fn version(&self, id: ObjectId) -> Option<Version> {
        let place = self.live(id).ok()?;
        self.store[place].record.map(|record| record.version)
    }

    /// Whether somebody holds on to an object, so that nobody else can touch it.
    pub fn is_locked(&self, id: ObjectId) -> bool {
        let Ok(place) = self.live(id) else { return false };
        self.store[place]
            .record
            .is_some_and(|record| record.held && self.roster.contains(record.version.authority))
    }

    /// Who is present, this machine included.
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// The player at this machine.
    pub fn local_slot(&self) -> Player {
        self.me.slot
    }

    /// This stay of the player.
    pub fn local_member(&self) -> MemberId {
        self.me.id
    }

    /// Whether this machine leads: is the host, where there is one.
    pub fn is_leader(&self) -> bool {
        self.roster.leader().is_some_and(|lead| lead.id == self.me.id)
    }

    /// Whether this machine is a member yet.
    pub fn is_member(&self) -> bool {
        self.me.id.join_order != NUMBER_NONE
    }

    /// Whether this machine only looks on: see [`JoinMode::Spectate`].
    pub fn is_spectator(&self) -> bool {
        self.spectator
    }

    /// Says whether somebody is still to be met, if the caller knows, for instance from a lobby:
    /// until then a machine that [joins](JoinMode::Join) founds nothing together with others who
    /// are new, too.
    pub fn set_expecting_peers(&mut self, awaits: bool) {
        self.awaits_others = awaits;
    }

    /// How much of what the present members hold has arrived: for a newcomer's progress bar.
    pub fn sync_progress(&self) -> SyncProgress {
        let announced = self.links.iter().map(|link| link.announced).sum();
        let known = self.links.iter().map(|link| link.introduced.min(link.announced)).sum();
        SyncProgress { received: known, expected: announced }
    }

    /// What all peers must have in common: game, kinds, policy and interval, as one number.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Everybody there is a link to, member or not.
    pub fn connected_peers(&self) -> impl Iterator<Item = PeerId> + '_ {
        self.links.iter().map(|link| link.peer)
    }

    /// The settings.
    pub fn config(&self) -> &ReplicaConfig {
        &self.config
    }

    /// What happened so far.
    pub fn stats(&self) -> SessionStats {
        SessionStats { events_dropped: self.events.lost(), ..self.stats }
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<SessionEvent> {
        self.events.pop()
    }

    /// The next peer whose link should be closed, because it plays by other rules or broke them.
    pub fn poll_disconnect(&mut self) -> Option<PeerId> {
        self.refused.pop()
    }

    /// The place of an object that is there.
    fn live(&self, id: ObjectId) -> Result<ObjectIndex, ObjectError> {
        let place = self.store.find(id).ok_or(ObjectError::Unknown { id })?;
        match self.store[place].record {
            Some(record) if !record.gone => Ok(place),
            _ => Err(ObjectError::Unknown { id }),
        }
    }

    /// The place of any object, made if there is none.
    fn place_of(&mut self, id: ObjectId) -> ObjectIndex {
        let place = self.store.place_of(id);
        let places = self.store.places();
        for link in self.links.iter_mut().filter(|link| link.out.len() < places) {
            link.reserve(places);
        }
        place
    }

    /// Our value of an object changed, or our claim to it: it is told with the next tick.
    fn make_dirty(&mut self, place: ObjectIndex) {
        let object = &mut self.store[place];
        if !object.dirty {
            object.dirty = true;
            self.dirty.push(place);
        }
    }

    /// How old the session is, about the same on every machine: the way here is counted as half a
    /// round trip, and differences are taken away little by little.
    pub fn session_age(&self) -> Micros {
        Micros::new(u64::try_from(self.age_at_start + self.ticked_for()).unwrap_or(0))
    }

    /// For how long our ticks count, in µs.
    fn ticked_for(&self) -> i64 {
        self.started.map_or(0, |started| self.now.since(started).get() as i64)
    }

    fn note_now(&mut self, now: Micros) {
        self.now = self.now.max(now);
        if self.started.is_none() {
            self.started = Some(self.now);
        }
    }
}

/// What all peers must have in common, as one number.
fn fingerprint(config: &ReplicaConfig, kinds: &Kinds) -> u64 {
    let parts = [
        config.game_fingerprint,
        kinds.fingerprint(),
        config.authority.fingerprint(),
        config.send_interval.get(),
    ];
    let mut bytes = [0; 32];
    for (chunk, part) in bytes.chunks_exact_mut(8).zip(parts) {
        chunk.copy_from_slice(&part.to_le_bytes());
    }
    fnv1a_64(&bytes)
}

/// The same part by part, to say where two differ. What a game has of its own comes first: it is
/// what says most.
fn parts(config: &ReplicaConfig, kinds: &Kinds) -> Vec<(SchemaPart, u32)> {
    let setting = |part: SchemaPart, number: u64| (part, fnv1a_64(format!("{part} {number}").as_bytes()));
    let settings = [
        setting(SchemaPart::Authority, config.authority.fingerprint()),
        setting(SchemaPart::Interval, config.send_interval.get()),
        setting(SchemaPart::Game, config.game_fingerprint),
    ];
    let short = |(part, hash): (SchemaPart, u64)| (part, (hash ^ hash >> 32) as u32);
    kinds.parts().into_iter().chain(settings).map(short).collect()
}
