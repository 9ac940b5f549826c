//! State of one object received from one sender, under one handle, accepted or not. Intake writes
//! it. Absent: which of it is permitted.

use gaggle_kit::Slot;

use crate::ObjectId;
use crate::history::{History, NEVER};
use crate::peers::NONE;
use crate::pool::Block;
use crate::record::{AuthorityFields, Identity};
use crate::store::ObjectIndex;
use crate::version::Record;

/// One handle of the other side.
#[derive(Debug, Clone)]
pub(crate) struct Incoming {
    /// Index of its object; [`NONE`](super::NONE) while the handle is not in use.
    pub(crate) object: u32,
    /// First packet of this use.
    pub(crate) opened_in: u32,
    /// Last packet that closed it.
    pub(crate) closed_in: u32,
    pub(crate) id: ObjectId,
    pub(crate) kind: u8,
    pub(crate) home: Option<Slot>,
    /// Authority fields the sender last sent, and at which of its ticks.
    pub(crate) authority: Option<(AuthorityFields, u32)>,
    /// Newest record, by the number of its packet.
    pub(crate) record: Option<(u32, Record)>,
    /// Value of the newest record.
    pub(crate) value: Block,
    /// Baselines of differences.
    pub(crate) history: History,
    /// Newest tick received.
    pub(crate) newest: u32,
    /// Whether its record claims more than can have happened yet.
    pub(crate) premature: bool,
}

impl Incoming {
    /// A handle that was never used.
    pub(crate) fn unused() -> Incoming {
        Incoming {
            object: NONE,
            opened_in: 0,
            closed_in: 0,
            id: ObjectId::from_bits(0),
            kind: 0,
            home: None,
            authority: None,
            record: None,
            value: 0,
            history: History::Empty,
            newest: NEVER,
            premature: false,
        }
    }

    /// An object introduced under a handle in packet `seq`, with this buffer for its value.
    pub(crate) fn opened(object: ObjectIndex, identity: &Identity, seq: u32, value: Block) -> Incoming {
        let Identity { id, kind, home } = *identity;
        Incoming { object, opened_in: seq - 1, id, kind, home, value, ..Incoming::unused() }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.object != NONE
    }

    /// Whether it was introduced with this identity.
    pub(crate) fn is_of(&self, identity: &Identity) -> bool {
        (self.id, self.kind, self.home) == (identity.id, identity.kind, identity.home)
    }

    /// Whether a record in packet `seq` concerns this use of the handle: an older one refers to the
    /// object that had the handle before.
    pub(crate) fn concerns(&self, seq: u32) -> bool {
        self.is_open() && self.opened_in < seq
    }

    /// Whether a packet after `seq` brought its record.
    pub(crate) fn has_record_after(&self, seq: u32) -> bool {
        self.record.is_some_and(|(newest, _)| newest > seq)
    }

    /// Authority under which a value of this tick counts; `None` for one from before the newest
    /// claim, which is useful as a baseline only.
    pub(crate) fn authority_at(&self, tick: u32) -> Option<AuthorityFields> {
        self.authority.filter(|(_, since)| *since <= tick).map(|(authority, _)| authority)
    }
}

/// A rejected record whose handle is closed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkRecord {
    pub(crate) object: u32,
    pub(crate) record: Record,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemberTag;

    fn identity(kind: u8) -> Identity {
        Identity { kind, id: ObjectId::new(MemberTag(2), 1), home: None }
    }

    #[test]
    fn introduced_object_counts_from_its_packet_on() {
        let incoming = Incoming::opened(4, &identity(1), 7, 0);
        assert!(incoming.concerns(7) && !incoming.concerns(6));
        assert!(!Incoming::unused().is_open() && !Incoming::unused().concerns(7));
    }

    #[test]
    fn another_kind_or_owner_is_another_identity() {
        let incoming = Incoming::opened(4, &identity(1), 7, 0);
        assert!(incoming.is_of(&identity(1)) && !incoming.is_of(&identity(2)));
        assert!(!incoming.is_of(&Identity { home: Some(Slot::at(1)), ..identity(1) }));
    }

    #[test]
    fn value_from_before_claim_has_no_authority() {
        let told = AuthorityFields { hold: 0, seq: 3, held: false, gone: false, owner_claim: None };
        let mut incoming = Incoming::opened(4, &identity(1), 7, 0);
        assert_eq!(incoming.authority_at(20), None);
        incoming.authority = Some((told, 20));
        assert_eq!((incoming.authority_at(19), incoming.authority_at(20)), (None, Some(told)));
    }
}
