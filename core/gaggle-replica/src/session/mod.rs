//! The session: local changes, packets and time in; packets, messages and events out. Fourteen
//! parts own its state; this file is what a game calls, `players.rs` has slots, inputs and peers,
//! `route.rs` links and ticks. Absent: decisions, which the parts make.

#[cfg(test)]
mod authority_attacks;
pub(crate) mod cx;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod identity_attacks;
mod players;
mod route;
#[cfg(test)]
mod seldom;
mod state;
mod stats;
pub(crate) mod work;

use gaggle_kit::{Micros, OutOfRange, Slot, State};

use crate::authority::{Authority, MembershipView};
use crate::blob::{Blob, BlobError};
use crate::blob_store::BlobStore;
use crate::config::{JoinMode, ObjectError, ReplicaConfig, SessionError};
use crate::input_relay::InputRelay;
use crate::intake::Intake;
use crate::membership::Membership;
use crate::peers::PeerTable;
use crate::policy::ObjectInfo;
use crate::remote_event::{EventError, EventRequest, RemoteEvent, Target};
use crate::remote_events::RemoteEvents;
use crate::replicator::Replicator;
use crate::roster::Roster;
use crate::schema::Schema;
use crate::smoothing::{Scene, Smoothing};
use crate::store::{ObjectIndex, ObjectStore};
use crate::tombstones::Tombstones;
use crate::value::ValueError;
use crate::value_table::ValueTable;
use crate::version::{Record, Version};
use crate::{Kind, Kinds, MemberId, ObjectId};

use cx::Cx;
use state::assemble;
use work::work;

pub use crate::replicator::Transmit;
pub use players::PeerIdentity;
pub use stats::{SessionStats, SyncProgress};

/// State machine of one peer in a world of shared objects.
///
/// It does no input or output: pass it changes, packets and the time, then drain its queues.
///
/// 1. [`handle_connected`](Session::handle_connected), [`handle_packet`](Session::handle_packet),
///    [`handle_message`](Session::handle_message),
///    [`handle_disconnected`](Session::handle_disconnected): input from the links;
/// 2. [`spawn`](Session::spawn), [`set`](Session::set), [`claim`](Session::claim),
///    [`despawn`](Session::despawn): changes by the game;
/// 3. [`tick`](Session::tick), once a frame, after the game;
/// 4. [`poll_transmit`](Session::poll_transmit) until it is empty: output to the links;
/// 5. [`poll_event`](Session::poll_event) until it is empty: events; the same for
///    [`poll_remote_event`](Session::poll_remote_event) and
///    [`poll_event_request`](Session::poll_event_request), where there are any.
///
/// [`Driver`](crate::Driver) does 1 and 4 with a transport.
#[derive(Debug)]
pub struct Session {
    cx: Cx,
    schema: Schema,
    objects: ObjectStore,
    members: Membership,
    authority: Authority,
    tombstones: Tombstones,
    peers: PeerTable,
    replicator: Replicator,
    intake: Intake,
    smoothing: Smoothing,
    inputs: InputRelay,
    remote_events: RemoteEvents,
    values: ValueTable,
    blobs: BlobStore,
}

impl Session {
    /// Creates a session of `player`. `seed` is a random number from the caller; it makes the
    /// member id of this stay unique.
    ///
    /// # Errors
    /// If a setting is out of range; the text says what to change.
    pub fn new(
        config: ReplicaConfig,
        kinds: Kinds,
        player: Slot,
        entry: JoinMode,
        seed: u64,
    ) -> Result<Session, SessionError> {
        config.validate()?;
        OutOfRange::check("slot", player.number().into(), 0, u64::from(u8::MAX) - 1)?;
        let mut session = assemble(config, kinds, player, entry, seed);
        if session.is_member() {
            session.admit(session.members.me().id.join_order);
        }
        Ok(session)
    }

    /// Spawns an object under this peer's authority.
    ///
    /// # Errors
    /// If the policy does not let this peer have it, it is no member yet, or there are too many
    /// objects.
    pub fn spawn<K: Kind>(&mut self, value: &K) -> Result<ObjectId, ObjectError> {
        self.spawn_record(value, None, None)
    }

    /// Spawns an object for a player. Under
    /// [`AuthorityPolicy::OwnerOrLeader`](crate::AuthorityPolicy::OwnerOrLeader) that player is its
    /// owner, and while it is present only its peer can spawn it. Under
    /// [`AuthorityPolicy::Anyone`](crate::AuthorityPolicy::Anyone) the player's peer takes
    /// authority as soon as it knows the object.
    ///
    /// # Errors
    /// As for [`spawn`](Session::spawn).
    pub fn spawn_owned<K: Kind>(&mut self, player: Slot, value: &K) -> Result<ObjectId, ObjectError> {
        if player.byte() == u8::MAX {
            return Err(ObjectError::UnknownSlot { slot: player });
        }
        let is_kept = self.cx.config.authority.is_open() && !self.members.me().has_slot(player);
        self.spawn_record(value, Some(player), is_kept.then_some(player))
    }

    fn spawn_record<K: Kind>(
        &mut self,
        value: &K,
        home: Option<Slot>,
        owner_claim: Option<Slot>,
    ) -> Result<ObjectId, ObjectError> {
        let kind = self.kind::<K>()? as u8;
        let (me, now) = (self.members.me(), self.cx.now);
        if !self.is_member() {
            return Err(ObjectError::NotMember);
        }
        if self.objects.len() >= self.cx.config.objects_max {
            return Err(ObjectError::Full { max: self.cx.config.objects_max });
        }
        let id = self.objects.next_id(me.id.tag, |id| self.tombstones.contains(id));
        let version = Version { lock_seq: 0, claim_seq: 1, authority: me.id, tick: self.cx.tick + 1 };
        let record = Record { version, player: me.slot, held: false, owner_claim, home, gone: false, kind };
        if !self.view().may_hold(id, &record) {
            return Err(ObjectError::Forbidden { id });
        }
        let place = work!(self).place_of(id);
        self.objects.make(place, record, value, now);
        Ok(id)
    }

    /// The latest known value of an object, without smoothing.
    pub fn get<K: Kind>(&self, id: ObjectId) -> Option<K> {
        let (place, record) = self.find(id).ok()?;
        let is_it = self.schema.kinds().number_of::<K>() == Some(usize::from(record.kind));
        is_it.then(|| K::from_words(self.objects.value(place)))
    }

    /// Changes an object under this peer's authority. Other peers, and later reads here, get
    /// `value` within the precision of its kind. Constant fields keep their values.
    ///
    /// # Errors
    /// If it does not exist, is of another kind, or another peer has authority.
    pub fn set<K: Kind>(&mut self, id: ObjectId, value: &K) -> Result<(), ObjectError> {
        let (place, record) = self.find(id)?;
        let kind = self.kind::<K>()?;
        if usize::from(record.kind) != kind {
            return Err(ObjectError::KindMismatch { id });
        }
        if record.version.authority != self.members.me().id {
            return Err(ObjectError::NoAuthority { id });
        }
        if self.objects.write(place, kind, value) {
            self.objects[place].changed_at = self.cx.now;
            self.objects.mark_dirty(place);
        }
        Ok(())
    }

    /// Changes an object under this peer's authority, starting from its present value.
    ///
    /// # Errors
    /// As for [`set`](Session::set).
    pub fn modify<K: Kind>(&mut self, id: ObjectId, change: impl FnOnce(&mut K)) -> Result<(), ObjectError> {
        self.find(id)?;
        self.kind::<K>()?;
        let mut value: K = self.get(id).ok_or(ObjectError::KindMismatch { id })?;
        change(&mut value);
        self.set(id, &value)
    }

    /// All objects of a kind with their latest known values, in no particular order.
    pub fn iter<K: Kind>(&self) -> impl Iterator<Item = (ObjectId, K)> + '_ {
        let of_kind = self.objects.of_kind(self.schema.kinds().number_of::<K>());
        of_kind.map(|(place, object, _)| (object.id, K::from_words(self.objects.value(place))))
    }

    /// All objects of all kinds, in no particular order.
    pub fn iter_info(&self) -> impl Iterator<Item = ObjectInfo> + '_ {
        let live = self.objects.iter().filter_map(|(_, object)| Some((object.id, object.record?)));
        live.filter(|(_, record)| !record.gone).map(|(id, record)| ObjectInfo::of(id, &record))
    }

    /// Ids of the objects of a kind under this peer's authority.
    pub fn iter_authoritative<K: Kind>(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let of_kind = self.objects.of_kind(self.schema.kinds().number_of::<K>());
        let mine = of_kind.filter(|(.., record)| record.version.authority == self.members.me().id);
        mine.map(|(_, object, _)| object.id)
    }

    /// Player whose peer has authority over an object: of several at that peer the owner of the
    /// object, else the first.
    pub fn authority(&self, id: ObjectId) -> Option<Slot> {
        let (_, record) = self.find(id).ok()?;
        let (member, owner) = (self.members.roster().of_member(record.version.authority), record.owner());
        let is_owner = member.is_some_and(|it| it.has_slot(owner) && it.has_slot(record.player));
        Some(if is_owner { owner } else { record.player })
    }

    /// Whether this peer has authority over an object.
    pub fn has_authority(&self, id: ObjectId) -> bool {
        self.find(id).is_ok_and(|(_, record)| record.version.authority == self.members.me().id)
    }

    /// Version of an object's present state, for overlays and logs.
    pub fn version(&self, id: ObjectId) -> Option<Version> {
        self.find(id).ok().map(|(_, record)| record.version)
    }

    /// Whether a present member has locked an object, so that no other can claim it.
    pub fn is_locked(&self, id: ObjectId) -> bool {
        let locks = |record: Record| record.held && self.members.roster().contains(record.version.authority);
        self.find(id).is_ok_and(|(_, record)| locks(record))
    }

    /// Claims authority over an object, for instance when a player bumps into it.
    ///
    /// # Errors
    /// If a present member has locked it or has just claimed it, or the policy does not let this
    /// peer have it.
    pub fn claim(&mut self, id: ObjectId) -> Result<(), ObjectError> {
        self.authority.claim(&mut work!(self), id)
    }

    /// Claims an object and locks it: no other peer can claim it until it is released. Beats every
    /// claim without a lock.
    ///
    /// # Errors
    /// If a present member has locked it, or the policy does not let this peer have it.
    pub fn lock(&mut self, id: ObjectId) -> Result<(), ObjectError> {
        self.authority.lock(&mut work!(self), id)
    }

    /// Unlocks an object. This peer keeps authority until another claims it.
    ///
    /// # Errors
    /// If another peer has authority.
    pub fn release(&mut self, id: ObjectId) -> Result<(), ObjectError> {
        Authority::release(&mut work!(self), id)
    }

    /// Deletes an object, whatever its authority. Beats every claim made meanwhile.
    ///
    /// # Errors
    /// If it does not exist, or the policy does not let this peer have it.
    pub fn despawn(&mut self, id: ObjectId) -> Result<(), ObjectError> {
        self.authority.despawn(&mut work!(self), id)
    }

    /// Player an object belongs to: its owner, or the one it is held for, else its authority. A
    /// player that returns finds its objects by this before it has authority over them again.
    pub fn owner(&self, id: ObjectId) -> Option<Slot> {
        self.find(id).ok().map(|(_, record)| record.owner())
    }

    /// The ids of a player's objects of a kind: see [`owner`](Session::owner).
    ///
    /// ```
    /// # use gaggle_replica::*;
    /// # #[derive(Kind)]
    /// # struct Ship { fuel: u8 }
    /// # fn enter(session: &mut Session) -> Result<ObjectId, ObjectError> {
    /// // A player that returns has its ship already; every other player gets one.
    /// let me = session.local_slot();
    /// let ship = session.iter_owned::<Ship>(me).next();
    /// ship.map_or_else(|| session.spawn_owned(me, &Ship { fuel: 100 }), Ok)
    /// # }
    /// ```
    pub fn iter_owned<K: Kind>(&self, player: Slot) -> impl Iterator<Item = ObjectId> + '_ {
        let of_kind = self.objects.of_kind(self.schema.kinds().number_of::<K>());
        of_kind.filter(move |(.., record)| record.owner() == player).map(|(_, object, _)| object.id)
    }

    /// An object as it should be displayed at the time of the session's last call. Objects under
    /// this peer's authority are shown unchanged; others by the [`KindOptions`](crate::KindOptions)
    /// of their kind. A deleted object of a buffered kind is shown until its deletion is due. For
    /// display only: game logic uses [`get`](Session::get).
    pub fn interpolated<K: Kind>(&self, id: ObjectId) -> Option<K> {
        let kind = self.schema.kinds().number_of::<K>()?;
        let Ok((place, record)) = self.find(id) else {
            return self.smoothing.departing(self.scene(), id, kind);
        };
        (usize::from(record.kind) == kind).then(|| self.scene().interpolated(place))
    }

    /// All objects of a kind as they should be displayed now, in no particular order: those that
    /// exist, as [`interpolated`](Session::interpolated) returns them, and those of a buffered kind
    /// whose deletion is not due yet.
    pub fn shown_all<K: Kind>(&self) -> impl Iterator<Item = (ObjectId, K)> + '_ {
        let (kind, scene) = (self.schema.kinds().number_of::<K>(), self.scene());
        let here =
            self.objects.of_kind(kind).map(move |(place, object, _)| (object.id, scene.interpolated(place)));
        here.chain(self.smoothing.departing_all(scene, kind.unwrap_or(usize::MAX)))
    }

    /// Age of the updates from each peer in the last second, network delay included.
    pub fn update_ages(&self) -> impl Iterator<Item = Micros> + '_ {
        self.scene().update_ages()
    }

    /// Sets a value of a player. All peers end up with the last value, later joiners too.
    ///
    /// # Errors
    /// If this peer may not write it, it is too large, or its type was not registered.
    pub fn set_value<T: State + 'static>(&mut self, player: Slot, value: &T) -> Result<(), ValueError> {
        self.values.set(&mut work!(self), player, value)
    }

    /// Value of a player, if one was set.
    pub fn value<T: State + 'static>(&self, player: Slot) -> Option<T> {
        self.values.get(&self.schema, player)
    }

    /// Sends a remote event. It arrives once, in sending order, after the receiver knows the
    /// `objects` it is about; if one of them is deleted meanwhile, or stays unknown for a second,
    /// the event is dropped. If they are [buffered](crate::Interpolation::Buffered) and under the
    /// sender's authority, it arrives when they are displayed as they were when it was sent.
    ///
    /// Events that [need approval](crate::EventOptions::needs_approval) go to the leader, whose
    /// game approves or rejects them; the leader's own are approved.
    ///
    /// # Errors
    /// If it is too large, too soon after the last of its type, or this peer is no member yet.
    pub fn send_event<T: State + 'static>(
        &mut self,
        to: Target,
        objects: &[ObjectId],
        what: &T,
    ) -> Result<(), EventError> {
        self.send_event_from(self.members.me().slot, to, objects, what)
    }

    /// Sends a remote event from one of several players at this peer.
    ///
    /// # Errors
    /// As for [`send_event`](Session::send_event), and if no player here has the slot.
    pub fn send_event_from<T: State + 'static>(
        &mut self,
        from: Slot,
        to: Target,
        objects: &[ObjectId],
        what: &T,
    ) -> Result<(), EventError> {
        self.remote_events.send(&mut work!(self), from, to, objects, what)
    }

    /// Next remote event from another peer, or from this peer if it is among the recipients.
    pub fn poll_remote_event(&mut self) -> Option<RemoteEvent> {
        self.remote_events.poll(&mut work!(self))
    }

    /// Next remote event that waits for approval, if this peer is the leader. Call it after
    /// [`poll_remote_event`](Session::poll_remote_event) returns `None`.
    pub fn poll_event_request(&mut self) -> Option<EventRequest> {
        self.remote_events.poll_request()
    }

    /// Approves a request: its recipients get the event in the one order in which the leader
    /// approves.
    #[expect(clippy::needless_pass_by_value, reason = "an answer is final, so it consumes the request")]
    pub fn approve(&mut self, request: EventRequest) {
        self.remote_events.approve(&mut work!(self), &request);
    }

    /// Rejects a request: only the peer that sent it gets an answer.
    #[expect(clippy::needless_pass_by_value, reason = "an answer is final, so it consumes the request")]
    pub fn reject(&mut self, request: EventRequest) {
        RemoteEvents::reject(&mut work!(self), &request);
    }

    /// Stores bytes so that other peers can fetch them, and returns the blob, a name that can be a
    /// field of an object.
    ///
    /// # Errors
    /// If they are too large, or there is no room for them.
    pub fn store_blob(&mut self, bytes: &[u8]) -> Result<Blob, BlobError> {
        self.blobs.keep(bytes, self.cx.config.blob_bytes_max)
    }

    /// Bytes of a blob, if they are here.
    pub fn blob(&self, blob: Blob) -> Option<&[u8]> {
        self.blobs.get(blob)
    }

    /// Fetches the blob an object names, from its authority or another peer that has it.
    /// [`BlobReceived`](crate::SessionEvent::BlobReceived) follows when it has arrived; until then
    /// show the former content.
    ///
    /// # Errors
    /// If there is no room for it, or too many are being fetched.
    pub fn fetch_blob(&mut self, object: ObjectId, blob: Blob) -> Result<(), BlobError> {
        self.blobs.fetch(&mut work!(self), object, blob)
    }

    /// Removes a blob that is not needed any more, or stops fetching it.
    pub fn remove_blob(&mut self, blob: Blob) {
        self.blobs.remove(&mut work!(self), blob);
    }

    /// Sets whether the caller expects more peers, for instance from a lobby: while it does, a peer
    /// that [joins](JoinMode::Join) does not create a session together with other joiners.
    pub fn set_expecting_peers(&mut self, awaits: bool) {
        self.members.set_awaits_others(awaits);
    }

    /// Present members, this peer's included.
    pub fn roster(&self) -> &Roster {
        self.members.roster()
    }

    /// Member id of this stay.
    pub fn local_member(&self) -> MemberId {
        self.members.me().id
    }

    /// Whether this peer is the leader.
    pub fn is_leader(&self) -> bool {
        self.members.is_leader()
    }

    /// Fingerprint of everything all peers must have in common: game, kinds, policy and interval.
    pub fn fingerprint(&self) -> u64 {
        self.schema.fingerprint()
    }

    /// Age of the session, about equal on all peers: network delay is taken as half a round trip,
    /// and differences are corrected gradually.
    pub fn session_age(&self) -> Micros {
        self.members.session_age(&self.cx)
    }

    /// Settings of the session.
    pub fn config(&self) -> &ReplicaConfig {
        &self.cx.config
    }

    /// Counters since the session began.
    pub fn stats(&self) -> SessionStats {
        SessionStats { events_dropped: self.cx.events.lost(), ..self.cx.stats }
    }

    fn view(&self) -> MembershipView<'_> {
        MembershipView { cx: &self.cx, members: &self.members }
    }

    #[cfg(test)]
    fn work(&mut self) -> work::Work<'_> {
        work!(self)
    }

    fn scene(&self) -> Scene<'_> {
        Scene { cx: &self.cx, objects: &self.objects, peers: &self.peers }
    }

    fn kind<K: Kind>(&self) -> Result<usize, ObjectError> {
        self.schema.kinds().number_of::<K>().ok_or(ObjectError::UnknownKind { name: K::NAME })
    }

    /// Index and record of an object that exists.
    fn find(&self, id: ObjectId) -> Result<(ObjectIndex, Record), ObjectError> {
        let place = self.objects.live(id)?;
        self.objects[place].record.map(|record| (place, record)).ok_or(ObjectError::Unknown { id })
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::{Micros, OutOfRange, PeerId, Slot, SlotSet};

    use crate::{
        AuthorityPolicy, EventError, JoinMode, Kind, Kinds, ObjectError, ReplicaConfig, Session,
        SessionError, Target, ValueError, ValueWriter,
    };

    #[derive(Debug, Clone, PartialEq, Kind)]
    struct Ship {
        fuel: u8,
    }

    fn session(policy: AuthorityPolicy) -> Session {
        let config = ReplicaConfig { authority: policy, ..ReplicaConfig::default() };
        let kinds = Kinds::new().with::<Ship>().with_value::<u32>("score", ValueWriter::Player);
        Session::new(config, kinds, Slot::at(0), JoinMode::Create, 7).expect("valid settings")
    }

    #[test]
    fn slot_change_alone_keeps_all_objects() {
        for policy in [AuthorityPolicy::Anyone, AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader] {
            let mut alone = session(policy);
            alone.tick(Micros::from_secs(1));
            let (me, other) = (Slot::at(0), Slot::at(3));
            let mine = alone.spawn_owned(me, &Ship { fuel: 1 }).expect("mine");
            let theirs = alone.spawn_owned(other, &Ship { fuel: 2 });
            alone.set_value(me, &17_u32).expect("my value");
            assert!(alone.set_local_slot(other));
            assert_eq!((alone.local_slot(), alone.owner(mine)), (other, Some(other)));
            assert!(alone.is_leader() && alone.has_authority(mine));
            assert_eq!(alone.value::<u32>(other), Some(17));
            assert_eq!(alone.iter_owned::<Ship>(other).collect::<Vec<_>>(), [mine]);
            if let Ok(theirs) = theirs {
                assert_eq!(
                    alone.owner(theirs),
                    Some(me),
                    "slots are swapped, objects stay with their players"
                );
            }
        }
    }

    #[test]
    fn two_local_players_take_their_objects_to_other_slots() {
        let mut alone = session(AuthorityPolicy::OwnerOrLeader);
        alone.tick(Micros::from_secs(1));
        let slots = |numbers: &[usize]| numbers.iter().copied().map(Slot::at).collect::<SlotSet>();
        alone.set_local_slots(slots(&[0, 1])).expect("no link");
        let ships = [0, 1, 2].map(|slot| alone.spawn_owned(Slot::at(slot), &Ship { fuel: slot as u8 }));
        let [first, second, other] = ships.map(|ship| ship.expect("the leader may spawn"));
        alone.set_value(Slot::at(0), &10_u32).expect("a local player's");
        alone.set_value(Slot::at(1), &11_u32).expect("a local player's");
        // Slot 1 is in both sets: the first player takes it, the second moves on.
        alone.set_local_slots(slots(&[1, 2])).expect("no link");
        assert_eq!(alone.local_slots().map(Slot::index).collect::<Vec<_>>(), [1, 2]);
        let owners = [first, second, other].map(|ship| alone.owner(ship).map(Slot::index));
        assert_eq!(owners, [Some(1), Some(2), Some(0)]);
        let authorities = [first, second, other].map(|ship| alone.authority(ship).map(Slot::index));
        assert_eq!(
            authorities,
            [Some(1), Some(2), Some(1)],
            "an object of no local player goes to the first one"
        );
        let values = [0, 1, 2].map(|slot| alone.value::<u32>(Slot::at(slot)));
        assert_eq!(values, [None, Some(10), Some(11)]);
        assert_eq!(alone.roster().leader().map(|leader| leader.has_slot(Slot::at(2))), Some(true));
    }

    #[test]
    fn too_many_local_players_are_rejected() {
        let mut session = session(AuthorityPolicy::Leader);
        let refused = |value| Err(OutOfRange { setting: "local players", value, min: 1, max: 8 }.into());
        assert_eq!(session.set_local_slots(SlotSet::EMPTY), refused(0));
        assert_eq!(session.set_local_slots(SlotSet::first(9)), refused(9));
        assert_eq!(session.set_local_slots(SlotSet::first(8)), Ok(()));
        session.handle_connected(Micros::ZERO, PeerId::from_u128(9));
        assert_eq!(session.set_local_slots(SlotSet::first(2)), Err(SessionError::Connected));
    }

    #[test]
    fn slot_beyond_254_is_rejected_everywhere() {
        let (beyond, config) = (Slot::at(255), ReplicaConfig::default());
        let refused = Session::new(config, Kinds::new(), beyond, JoinMode::Create, 7).unwrap_err();
        assert_eq!(refused.to_string(), "slot is 255; choose 0 to 254");
        let mut session = session(AuthorityPolicy::Leader);
        session.tick(Micros::from_secs(1));
        assert_eq!(
            session.spawn_owned(beyond, &Ship { fuel: 1 }),
            Err(ObjectError::UnknownSlot { slot: beyond })
        );
        assert_eq!(session.set_value(beyond, &1_u32), Err(ValueError::UnknownSlot { slot: beyond }));
        let target = Target::Slot(beyond);
        assert_eq!(session.send_event(target, &[], &1_u64), Err(EventError::UnknownSlot { slot: beyond }));
    }

    #[test]
    fn slot_change_with_link_is_rejected() {
        let mut session = session(AuthorityPolicy::Anyone);
        session.handle_connected(Micros::ZERO, PeerId::from_u128(9));
        assert!(!session.set_local_slot(Slot::at(1)));
        assert_eq!(session.local_slot(), Slot::at(0));
        assert!(!session.is_synced_to(PeerId::from_u128(9)), "no hello arrived yet");
    }
}
