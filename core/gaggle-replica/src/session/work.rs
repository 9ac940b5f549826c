//! Parts that a decision about objects reads and writes, borrowed for one call. The session makes
//! it from its fields. Absent: packets, the decisions.

use crate::ObjectId;
use crate::authority::MembershipView;
use crate::membership::Membership;
use crate::peers::PeerTable;
use crate::schema::Schema;
use crate::session::cx::Cx;
use crate::smoothing::Smoothing;
use crate::store::{ObjectIndex, ObjectStore};
use crate::tombstones::Tombstones;

/// Parts borrowed from the session.
pub(crate) struct Work<'a> {
    pub(crate) cx: &'a mut Cx,
    pub(crate) schema: &'a Schema,
    pub(crate) members: &'a Membership,
    pub(crate) objects: &'a mut ObjectStore,
    pub(crate) peers: &'a mut PeerTable,
    pub(crate) tombstones: &'a mut Tombstones,
    pub(crate) smoothing: &'a mut Smoothing,
}

/// Borrows them from a session, field by field, so that its other parts stay free.
macro_rules! work {
    ($session:expr) => {
        $crate::session::work::Work {
            cx: &mut $session.cx,
            schema: &$session.schema,
            members: &$session.members,
            objects: &mut $session.objects,
            peers: &mut $session.peers,
            tombstones: &mut $session.tombstones,
            smoothing: &mut $session.smoothing,
        }
    };
}
pub(crate) use work;

impl Work<'_> {
    #[inline]
    pub(crate) fn view(&self) -> MembershipView<'_> {
        MembershipView { cx: self.cx, members: self.members }
    }

    /// Index of an object, allocated if there is none.
    pub(crate) fn place_of(&mut self, id: ObjectId) -> ObjectIndex {
        let place = self.objects.place_of(id);
        self.peers.reserve(self.objects.places());
        place
    }

    /// Call before an object changes. Returns whether [`after_change`](Work::after_change) must
    /// follow.
    #[inline]
    pub(crate) fn before_change(&mut self, place: ObjectIndex, same_holder: bool) -> bool {
        self.smoothing.before_change(self.cx, self.objects, self.peers, place, same_holder)
    }

    #[inline]
    pub(crate) fn after_change(&mut self, place: ObjectIndex) {
        self.smoothing.after_change(self.cx, self.objects, self.peers, place);
    }
}

#[cfg(test)]
pub(crate) mod bench {
    //! Parts without a session, for tests of other parts.

    use gaggle_kit::{Micros, PeerId, Prng, Slot};

    use super::*;
    use crate::peers::Peer;
    use crate::roster::RosterMember;
    use crate::version::{Record, Version};
    use crate::{
        AuthorityPolicy, EventOptions, JoinMode, Kind, Kinds, MemberId, MemberTag, ReplicaConfig, ValueWriter,
    };

    #[derive(Debug, Clone, PartialEq, Kind)]
    pub(crate) struct Crate {
        #[kind(range = 0.0..=100.0, precision = 0.5)]
        pub(crate) place: f32,
    }

    /// This peer is member 0 and leads; the others are peers with links.
    pub(crate) struct Bench {
        pub(crate) cx: Cx,
        pub(crate) schema: Schema,
        pub(crate) members: Membership,
        pub(crate) objects: ObjectStore,
        pub(crate) peers: PeerTable,
        pub(crate) tombstones: Tombstones,
        pub(crate) smoothing: Smoothing,
    }

    pub(crate) fn peer(number: usize) -> PeerId {
        PeerId::from_u128(number as u128)
    }

    fn member(number: usize) -> RosterMember {
        let id = MemberId { join_order: number as u32, tag: MemberTag(number as u32 + 1) };
        RosterMember::new(id, Slot::at(number))
    }

    impl Bench {
        pub(crate) fn new(authority: AuthorityPolicy, count: usize) -> Bench {
            let config = ReplicaConfig { authority, ..ReplicaConfig::default() };
            let kinds = Kinds::new()
                .with::<Crate>()
                .with_input::<u16>()
                .with_event::<u8>("bang", EventOptions::DIRECT)
                .with_event::<u16>("checked", EventOptions::APPROVED)
                .with_value::<u8>("name", ValueWriter::Player)
                .with_value::<u16>("score", ValueWriter::Leader);
            let (me, random) = (member(0), Prng::new(1));
            let mut members = Membership::new(me.slot, JoinMode::Create, me.id.tag, random);
            members.admit(0, Micros::ZERO);
            let mut peers = PeerTable::default();
            for number in 1..count {
                let mut link = Peer::new(peer(number), 1, 0, 0, config.send_interval);
                link.handshake.note_hello(1, member(number).id.tag, Micros::ZERO);
                link.handshake.note_member(member(number), Micros::ZERO);
                peers.push(link);
                members.roster_mut().insert(member(number));
            }
            let objects = ObjectStore::new(&kinds, config.send_interval, 7);
            let schema = Schema::new(&config, kinds, 4_000);
            let (tombstones, smoothing) = (Tombstones::default(), Smoothing::default());
            Bench { cx: Cx::new(config), schema, members, objects, peers, tombstones, smoothing }
        }

        pub(crate) fn member(&self, number: usize) -> RosterMember {
            member(number)
        }

        pub(crate) fn view(&self) -> MembershipView<'_> {
            MembershipView { cx: &self.cx, members: &self.members }
        }

        pub(crate) fn work(&mut self) -> Work<'_> {
            work!(self)
        }

        /// A record of the first version under this authority.
        pub(crate) fn record(&self, authority: usize) -> Record {
            let RosterMember { id, slot, .. } = member(authority);
            let version = Version { lock_seq: 0, claim_seq: 1, authority: id, tick: 1 };
            Record { version, player: slot, held: false, owner_claim: None, home: None, gone: false, kind: 0 }
        }

        /// An object of this authority, which created it.
        pub(crate) fn object(&mut self, authority: usize, counter: u32) -> ObjectIndex {
            let record = self.record(authority);
            let id = ObjectId::new(record.version.authority.tag, counter);
            let place = self.work().place_of(id);
            self.objects.set_record(place, Some(record));
            if authority == 0 {
                self.objects.note_made(counter);
            }
            place
        }
    }

    #[test]
    fn place_of_reserves_room_with_every_peer() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 3);
        bench.object(0, 1);
        bench.object(1, 1);
        assert!(bench.peers.iter().all(|peer| peer.out.places() == 2));
    }
}
