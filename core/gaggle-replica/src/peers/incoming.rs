//! What one sender told about one object, under one handle: kept whether or not the world took it.

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
    /// The place of its object; none while the handle is not in use.
    pub(crate) object: u32,
    /// The first packet of this use.
    pub(crate) opened_in: u32,
    /// The last packet that closed it.
    pub(crate) closed_in: u32,
    pub(crate) id: ObjectId,
    pub(crate) kind: u8,
    pub(crate) home: Option<Slot>,
    /// What the sender last said about its holding the object, and at which of its ticks.
    pub(crate) authority: Option<(AuthorityFields, u32)>,
    /// The newest record, by the number of its packet.
    pub(crate) record: Option<(u32, Record)>,
    /// Its value.
    pub(crate) value: Block,
    /// What differences may build on.
    pub(crate) history: History,
    /// The newest tick told.
    pub(crate) newest: u32,
    /// Its record claims more than can have happened yet.
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

/// A refused record whose handle is closed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkRecord {
    pub(crate) object: u32,
    pub(crate) record: Record,
}
