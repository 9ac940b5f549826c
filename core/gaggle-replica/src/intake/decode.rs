//! Decoding of a packet's records, all of them before any takes effect.
//!
//! `handle_packet` calls it. A packet whose baseline this peer does not have (any more) counts as
//! lost: it is not acknowledged. Absent: effect of the records.

use gaggle_kit::{BitReader, DecodeError};

use crate::codec::Baselines;
use crate::input_queue::{Change, read_changes};
use crate::peers::{Incoming, Peer};
use crate::record::{AuthorityFields, Form, Identity, Origin, read_handle};
use crate::store::ObjectStore;

/// Buffers for the records of one packet.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pub(super) records: Vec<Decoded>,
    pub(super) words: Vec<i32>,
    /// Input changes of the sender's players.
    pub(super) changes: Vec<Change>,
}

/// A decoded record, not yet resolved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decoded {
    pub(super) handle: u16,
    pub(super) what: What,
    pub(super) kind: u8,
    /// Start of its words.
    pub(super) value: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    /// A value of an object of the sender, under its last known claim.
    Value,
    Intro(Identity, AuthorityFields),
    Authority(AuthorityFields),
    Relay(Option<Identity>, Origin, AuthorityFields),
    Close {
        gone: bool,
    },
}

/// Reason to drop the records of a packet.
pub(super) enum Unusable {
    /// It came too late, or its baseline was lost: it counts as lost itself.
    Late,
    Malformed(DecodeError),
}

impl From<DecodeError> for Unusable {
    fn from(error: DecodeError) -> Unusable {
        Unusable::Malformed(error)
    }
}

/// A packet whose header was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) seq: u32,
    pub(super) tick: u32,
    /// Number of records that follow, and the size of inputs before them.
    pub(super) records: u16,
    pub(super) inputs: Option<usize>,
}

/// The ticks of a difference's baselines, the newer first.
type Base = (u32, Option<u32>);

impl Decoder {
    /// Reads all records, or none.
    pub(super) fn read(
        &mut self,
        store: &ObjectStore,
        link: &Peer,
        arrival: Arrival,
        bytes: &[u8],
    ) -> Result<(), Unusable> {
        self.records.clear();
        self.words.clear();
        self.changes.clear();
        let mut r = BitReader::new(bytes);
        if let Some(size) = arrival.inputs {
            read_changes(&mut r, size, |change| self.changes.push(change))?;
        }
        let mut before = -1;
        let mut base = None;
        for _ in 0..arrival.records {
            let handle = read_handle(&mut r, before)?;
            before = i32::from(handle);
            let form = Form::read(&mut r)?;
            // The packet is older than the handle's present use: the record is of the object
            // that had the handle before.
            let open = link
                .inbound
                .table
                .get(usize::from(handle))
                .filter(|incoming| incoming.is_open() && incoming.opened_in < arrival.seq);
            let value = self.words.len();
            let (what, kind) = match form {
                Form::Plain | Form::Pair(..) | Form::Single(_) => {
                    let incoming = open.ok_or(Unusable::Late)?;
                    self.read_difference(&mut r, store, incoming, form, &mut base, arrival.tick)?;
                    (What::Value, incoming.kind)
                }
                Form::Absolute => {
                    let kind = open.ok_or(Unusable::Late)?.kind;
                    self.read_whole(&mut r, store, kind, false, false)?;
                    (What::Value, kind)
                }
                Form::Intro => {
                    let identity = Identity::read(&mut r, store.kinds().len())?;
                    let authority = AuthorityFields::read(&mut r)?;
                    self.read_whole(&mut r, store, identity.kind, true, authority.gone)?;
                    (What::Intro(identity, authority), identity.kind)
                }
                Form::Authority => {
                    let kind = open.ok_or(Unusable::Late)?.kind;
                    let authority = AuthorityFields::read(&mut r)?;
                    self.read_whole(&mut r, store, kind, false, authority.gone)?;
                    (What::Authority(authority), kind)
                }
                Form::Relay => {
                    let introduces = r.bool("introduces")?;
                    let identity = match introduces {
                        true => Some(Identity::read(&mut r, store.kinds().len())?),
                        false => None,
                    };
                    let kind = match identity {
                        Some(identity) => identity.kind,
                        None => open.ok_or(Unusable::Late)?.kind,
                    };
                    let origin = Origin::read(&mut r)?;
                    let authority = AuthorityFields::read(&mut r)?;
                    self.read_whole(&mut r, store, kind, introduces, authority.gone)?;
                    (What::Relay(identity, origin, authority), kind)
                }
                Form::Close => (What::Close { gone: r.bool("gone")? }, 0),
            };
            self.records.push(Decoded { handle, what, kind, value });
        }
        r.finish("packet")?;
        Ok(())
    }

    /// Buffer for the value of one more record.
    fn room(&mut self, store: &ObjectStore, kind: u8) -> &mut [i32] {
        let start = self.words.len();
        self.words.resize(start + store.kinds()[usize::from(kind)].layout.words_all(), 0);
        &mut self.words[start..]
    }

    fn read_whole(
        &mut self,
        r: &mut BitReader<'_>,
        store: &ObjectStore,
        kind: u8,
        constants: bool,
        gone: bool,
    ) -> Result<(), DecodeError> {
        let layout = &store.kinds()[usize::from(kind)].layout;
        let words = self.room(store, kind);
        if gone {
            return Ok(());
        }
        if constants {
            layout.read_constants(r, words)?;
        }
        layout.read_whole(r, words)
    }

    fn read_difference(
        &mut self,
        r: &mut BitReader<'_>,
        store: &ObjectStore,
        incoming: &Incoming,
        form: Form,
        base: &mut Option<Base>,
        tick: u32,
    ) -> Result<(), Unusable> {
        let kind = &store.kinds()[usize::from(incoming.kind)];
        let in_slot = |slot| kind.histories.in_slot(incoming.history, slot).ok_or(Unusable::Late);
        let (newer, older) = match form {
            Form::Pair(newer, older) => (in_slot(newer)?.0, Some(in_slot(older)?.0)),
            Form::Single(newer) => (in_slot(newer)?.0, None),
            _ => base.ok_or(DecodeError::Unknown { what: "baseline", value: 0 })?,
        };
        *base = Some((newer, older));
        if newer >= tick || older.is_some_and(|older| older >= newer) {
            return Err(Unusable::Late);
        }
        let at = |tick| kind.histories.at(incoming.history, tick).ok_or(Unusable::Late);
        let older = match older {
            Some(older) => Some((at(older)?, newer - older)),
            None => None,
        };
        let base = Baselines::new(at(newer)?, tick - newer, older);
        let words = self.room(store, incoming.kind);
        if r.bool("expected")? {
            kind.layout.fill_expected(words, &base);
        } else {
            kind.layout.read_difference(r, words, &base)?;
        }
        Ok(())
    }
}
