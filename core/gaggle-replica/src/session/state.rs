//! A new session, made of its fourteen parts. `Session::new` calls it. Absent: what they do.

use gaggle_kit::{Prng, Slot};

use super::Session;
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
