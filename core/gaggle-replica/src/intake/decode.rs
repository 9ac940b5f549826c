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
    records: Vec<Decoded>,
    words: Vec<i32>,
    /// Input changes of the sender's players.
    changes: Vec<Change>,
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
    /// Records of the last packet that was read.
    #[inline]
    pub(super) fn records(&self) -> &[Decoded] {
        &self.records
    }

    /// This many words of a value, from [`Decoded::value`] or a later one on.
    #[inline]
    pub(super) fn words(&self, start: usize, count: usize) -> &[i32] {
        &self.words[start..start + count]
    }

    /// Input changes of the sender's players.
    pub(super) fn changes(&self) -> &[Change] {
        &self.changes
    }

    #[cfg(test)]
    pub(super) fn of(records: Vec<Decoded>, words: Vec<i32>) -> Decoder {
        Decoder { records, words, changes: Vec::new() }
    }

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
            let open = link.inbound.at(handle).filter(|incoming| incoming.concerns(arrival.seq));
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

#[cfg(test)]
mod tests {
    use gaggle_kit::{BitWriter, BufferFull};

    use super::*;
    use crate::AuthorityPolicy;
    use crate::record::write_handle;
    use crate::session::work::bench::Bench;
    use crate::{MemberTag, ObjectId};

    const TICK: u32 = 20;

    fn identity(counter: u32) -> Identity {
        Identity { kind: 0, id: ObjectId::new(MemberTag(2), counter), home: None }
    }

    fn packet(write: impl FnOnce(&mut BitWriter<'_>) -> Result<(), BufferFull>) -> Vec<u8> {
        let mut bytes = [0; 64];
        let mut w = BitWriter::new(&mut bytes);
        write(&mut w).expect("it is short");
        w.finish().to_vec()
    }

    /// A bench whose peer introduced an object under handle 0 in packet 7, with these values.
    fn bench(values: &[(u32, i32)]) -> Bench {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        let place = bench.object(1, 1);
        let mut incoming = Incoming::opened(place, &identity(1), 7, 0);
        for (tick, word) in values {
            bench.objects.kind_mut(0).histories.put(&mut incoming.history, *tick, &[*word]);
        }
        bench.peers[0].inbound.open(0, incoming);
        bench
    }

    fn read(bench: &Bench, seq: u32, records: u16, bytes: &[u8]) -> Result<Decoder, Unusable> {
        let mut decoder = Decoder::of(Vec::new(), vec![9]);
        let arrival = Arrival { seq, tick: TICK, records, inputs: None };
        decoder.read(&bench.objects, &bench.peers[0], arrival, bytes).map(|()| decoder)
    }

    #[test]
    fn difference_is_read_on_baseline_of_its_slot() {
        let bench = bench(&[(18, 30)]);
        let expected = packet(|w| {
            write_handle(w, -1, 0)?;
            Form::Single(18).write(w)?;
            w.bool(true)
        });
        let decoder = read(&bench, 9, 1, &expected).unwrap_or_else(|_| panic!("it is whole"));
        assert_eq!((decoder.records().len(), decoder.words(0, 1)), (1, &[30][..]));
        let lost = packet(|w| {
            write_handle(w, -1, 0)?;
            Form::Single(17).write(w)?;
            w.bool(true)
        });
        assert!(matches!(read(&bench, 9, 1, &lost), Err(Unusable::Late)), "there is no such baseline");
        assert!(matches!(read(&bench, 6, 1, &expected), Err(Unusable::Late)), "the handle was another's");
    }

    #[test]
    fn baseline_after_packet_makes_packet_late() {
        let bench = bench(&[(TICK, 30), (TICK + 2, 31)]);
        for slot in [TICK, TICK + 2] {
            let bytes = packet(|w| {
                write_handle(w, -1, 0)?;
                Form::Single(slot).write(w)?;
                w.bool(true)
            });
            assert!(matches!(read(&bench, 9, 1, &bytes), Err(Unusable::Late)));
        }
    }

    #[test]
    fn first_record_without_baseline_is_malformed() {
        let bytes = packet(|w| {
            write_handle(w, -1, 0)?;
            Form::Plain.write(w)?;
            w.bool(true)
        });
        assert!(matches!(read(&bench(&[(18, 30)]), 9, 1, &bytes), Err(Unusable::Malformed(_))));
    }

    #[test]
    fn closed_handle_needs_no_object() {
        let bytes = packet(|w| {
            write_handle(w, -1, 5)?;
            Form::Close.write(w)?;
            w.bool(true)
        });
        let bench = bench(&[]);
        let decoder = read(&bench, 9, 1, &bytes).unwrap_or_else(|_| panic!("it is whole"));
        let Decoded { handle, what, .. } = decoder.records()[0];
        assert!(handle == 5 && matches!(what, What::Close { gone: true }));
        assert!(read(&bench, 9, 2, &bytes).is_err(), "it has one record");
        let trailing = [&bytes[..], &[0]].concat();
        assert!(matches!(read(&bench, 9, 1, &trailing), Err(Unusable::Malformed(_))));
    }
}
