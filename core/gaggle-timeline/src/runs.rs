//! Entries in a packet: runs of repetitions between changes, in the shorter of two forms.
//!
//! Packets of the running game carry them, `InputLog` takes them. Absent: input types, who sends
//! them, the rest of a packet.

use gaggle_kit::{ByteReader, DecodeError};

/// Flag bits of a packet that count the changes.
const FLAG_CHANGES: u8 = 0b0000_0111;
/// Flag bit of a packet whose changes are a bitmap and values.
pub(crate) const FLAG_DENSE: u8 = 0b0000_1000;
/// Value of the three flag bits that says the number of changes follows in a byte.
pub(crate) const CHANGES_FOLLOW: u8 = 7;

/// Entries of the sender that the receiver has not acknowledged, as changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Runs<'a> {
    /// Number of entries.
    pub(crate) carried: u8,
    /// Number of entries that do not repeat the one before.
    pub(crate) changes: u8,
    /// Whether the changes are a bitmap and values instead of gaps and values.
    pub(crate) dense: bool,
    /// Bytes written by [`RunsWriter`].
    pub(crate) bytes: &'a [u8],
}

impl<'a> Runs<'a> {
    /// Decodes the rest of a packet with these flags and this number of entries.
    #[inline]
    pub(crate) fn decode(
        r: &mut ByteReader<'a>,
        flags: u8,
        carried: u8,
        entry_bytes: usize,
    ) -> Result<Self, DecodeError> {
        let dense = flags & FLAG_DENSE != 0;
        let count = flags & FLAG_CHANGES;
        let bitmap_bytes = usize::from(carried).div_ceil(8);
        let (changes, bytes) = if dense {
            if count != 0 {
                return Err(DecodeError::NotCanonical { what: "count of changes" });
            }
            let bytes = r.rest();
            let bitmap = bytes.get(..bitmap_bytes).ok_or(DecodeError::Truncated {
                what: "bitmap of changes",
                needed: bitmap_bytes,
                left: bytes.len(),
            })?;
            let ones: u32 = bitmap.iter().map(|byte| byte.count_ones()).sum();
            let spare = bitmap_bytes * 8 - usize::from(carried);
            if bitmap.last().is_some_and(|last| u32::from(last.leading_zeros() as u8) < spare as u32) {
                return Err(DecodeError::NotCanonical { what: "bitmap of changes" });
            }
            let expected = bitmap_bytes + ones as usize * entry_bytes;
            exactly("entries", bytes.len(), expected)?;
            (ones as u8, bytes)
        } else {
            let changes = if count == CHANGES_FOLLOW { r.u8("count of changes")? } else { count };
            if count == CHANGES_FOLLOW && changes < CHANGES_FOLLOW {
                return Err(DecodeError::NotCanonical { what: "count of changes" });
            }
            let bytes = r.rest();
            exactly("entries", bytes.len(), usize::from(changes) * (1 + entry_bytes))?;
            let gap = |nth: u8| usize::from(bytes[usize::from(nth) * (1 + entry_bytes)]);
            let told: usize = (0..changes).map(|nth| 1 + gap(nth)).sum();
            if told > usize::from(carried) {
                let max = u64::from(carried);
                return Err(DecodeError::CountTooLarge { what: "entries", count: told as u64, max });
            }
            (changes, bytes)
        };
        if dense != is_dense(changes, carried) {
            return Err(DecodeError::NotCanonical { what: "form of the entries" });
        }
        Ok(Runs { carried, changes, dense, bytes })
    }

    /// Each entry in order: the bytes of a changed one, none for a repetition.
    pub(crate) fn entries(&self, entry_bytes: usize) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
        let Runs { carried, dense, bytes, .. } = *self;
        let (bitmap, mut values) = bytes.split_at(if dense { usize::from(carried).div_ceil(8) } else { 0 });
        let mut gap = if dense { 0 } else { next_gap(values) };
        (0..usize::from(carried)).map(move |index| {
            let changed = if dense {
                bitmap[index / 8] >> (index % 8) & 1 == 1
            } else if gap == 0 {
                values = &values[1..];
                true
            } else {
                gap -= 1;
                false
            };
            if !changed {
                return None;
            }
            let (value, rest) = values.split_at(entry_bytes);
            values = rest;
            if !dense {
                gap = next_gap(values);
            }
            Some(value)
        })
    }
}

/// Entries until the next change; more than a packet holds when there is none.
fn next_gap(values: &[u8]) -> usize {
    values.first().map_or(usize::MAX, |gap| usize::from(*gap))
}

/// Whether a bitmap is shorter, which it is when there are more changes than bytes in it.
fn is_dense(changes: u8, carried: u8) -> bool {
    usize::from(changes) > usize::from(carried).div_ceil(8)
}

fn exactly(what: &'static str, left: usize, needed: usize) -> Result<(), DecodeError> {
    match left {
        left if left < needed => Err(DecodeError::Truncated { what, needed, left }),
        left if left > needed => Err(DecodeError::TrailingBytes { what, left: left - needed }),
        _ => Ok(()),
    }
}

/// Collects the entries of a packet in order, and writes them in the shorter of the two forms.
#[derive(Debug, Default)]
pub(crate) struct RunsWriter {
    carried: u8,
    changes: u8,
    gap: u8,
    /// Gap and value of each change: the sparse form, from which the dense one is computed.
    sparse: Vec<u8>,
    dense: Vec<u8>,
}

impl RunsWriter {
    /// Reserves space for everything a packet can hold, so that writing allocates nothing.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        RunsWriter { sparse: Vec::with_capacity(bytes), dense: Vec::with_capacity(bytes), ..Self::default() }
    }

    pub(crate) fn clear(&mut self) {
        self.carried = 0;
        self.changes = 0;
        self.gap = 0;
        self.sparse.clear();
    }

    /// Adds an entry that equals the one before.
    pub(crate) fn repeat(&mut self) {
        self.carried += 1;
        self.gap += 1;
    }

    /// Adds an entry unlike the one before; `write` fills in its bytes.
    pub(crate) fn change(&mut self, entry_bytes: usize, write: impl FnOnce(&mut [u8])) {
        self.carried += 1;
        self.changes += 1;
        self.sparse.push(self.gap);
        self.gap = 0;
        let at = self.sparse.len();
        self.sparse.resize(at + entry_bytes, 0);
        write(&mut self.sparse[at..]);
    }

    /// Entries written so far.
    pub(crate) fn carried(&self) -> u8 {
        self.carried
    }

    /// An upper bound on the bytes so far in either form.
    pub(crate) fn bytes_max(&self) -> usize {
        self.sparse.len() + 1
    }

    /// The entries in their final form.
    #[inline]
    pub(crate) fn finish(&mut self, entry_bytes: usize) -> Runs<'_> {
        let dense = is_dense(self.changes, self.carried);
        if dense {
            self.dense.clear();
            self.dense.resize(usize::from(self.carried).div_ceil(8), 0);
            let mut index = 0;
            for change in self.sparse.chunks_exact(1 + entry_bytes) {
                index += usize::from(change[0]);
                self.dense[index / 8] |= 1 << (index % 8);
                self.dense.extend_from_slice(&change[1..]);
                index += 1;
            }
        }
        let bytes = if dense { &self.dense } else { &self.sparse };
        Runs { carried: self.carried, changes: self.changes, dense, bytes }
    }
}
