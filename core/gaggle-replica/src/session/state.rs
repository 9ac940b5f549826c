//! The fourteen parts of a session. Every method of it uses them. Absent: what they do.

use gaggle_kit::{Prng, Slot};

use super::cx::Cx;
use crate::authority::Authority;
use crate::blob_store::BlobStore;
use crate::config::{JoinMode, ReplicaConfig};
use crate::input_relay::InputRelay;
use crate::intake::Intake;
use crate::membership::Membership;
use crate::peers::PeerTable;
use crate::remote_events::RemoteEvents;
use crate::replicator::{Replicator, record_bits_max};
use crate::schema::Schema;
use crate::smoothing::Smoothing;
use crate::store::ObjectStore;
use crate::tombstones::Tombstones;
use crate::value_table::ValueTable;
use crate::{Kinds, MemberTag};

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
    pub(super) cx: Cx,
    pub(super) schema: Schema,
    pub(super) objects: ObjectStore,
    pub(super) members: Membership,
    pub(super) authority: Authority,
    pub(super) tombstones: Tombstones,
    pub(super) peers: PeerTable,
    pub(super) replicator: Replicator,
    pub(super) intake: Intake,
    pub(super) smoothing: Smoothing,
    pub(super) inputs: InputRelay,
    pub(super) remote_events: RemoteEvents,
    pub(super) values: ValueTable,
    pub(super) blobs: BlobStore,
}

/// Parts of a new session, not a member yet.
pub(super) fn assemble(
    config: ReplicaConfig,
    kinds: Kinds,
    player: Slot,
    entry: JoinMode,
    seed: u64,
) -> Session {
    let mut random = Prng::new(seed);
    let tag = MemberTag(random.next_u32() | 1);
    let objects = ObjectStore::new(&kinds, config.send_interval, random.next_u64());
    Session {
        schema: Schema::new(&config, kinds, record_bits_max(objects.kinds())),
        cx: Cx::new(config),
        objects,
        members: Membership::new(player, entry, tag, random),
        authority: Authority::default(),
        tombstones: Tombstones::default(),
        peers: PeerTable::default(),
        replicator: Replicator::default(),
        intake: Intake::default(),
        smoothing: Smoothing::default(),
        inputs: InputRelay::default(),
        remote_events: RemoteEvents::default(),
        values: ValueTable::default(),
        blobs: BlobStore::default(),
    }
}
