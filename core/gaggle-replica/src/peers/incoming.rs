//! State of one object received from one sender, under one handle, accepted or not. Intake writes
//! it. Absent: which of it is permitted.

use gaggle_kit::Slot;

use crate::ObjectId;
use crate::history::{History, NEVER};
use crate::peers::NONE;
use crate::pool::Block;
use crate::record::AuthorityFields;
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

    pub(crate) fn is_open(&self) -> bool {
        self.object != NONE
    }
}

/// A rejected record whose handle is closed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkRecord {
    pub(crate) object: u32,
    pub(crate) record: Record,
}
