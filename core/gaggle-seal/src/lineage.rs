//! Terms of one match: each start of the referee begins a term, and the base is where its log
//! begins.
//!
//! Client and referee compare lineages to find the frames that are certainly the same.
//! Absent: logs, links.

use gaggle_kit::{ByteReader, DecodeError, Frame, Varint};

/// Number of a start of the referee, higher with each, from the lobby's store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Epoch(pub u32);

impl Epoch {
    /// The part of the epoch that packets carry.
    pub(crate) const fn low(self) -> u8 {
        self.0 as u8
    }
}

/// Terms a lineage remembers; a client that knows none of them starts from a snapshot.
pub const TERMS_MAX: usize = 32;

/// A term: the referee's epoch, and the last frame of the terms before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// Start of the referee that seals in this term.
    pub epoch: Epoch,
    /// Last frame of the terms before.
    pub base: Frame,
}

/// The terms a log went through, newest last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage {
    /// Identity of the match, drawn when it was founded.
    match_id: u64,
    terms: Vec<Term>,
}

impl Lineage {
    /// The first term of a match.
    pub fn founded(match_id: u64, epoch: Epoch) -> Lineage {
        Lineage { match_id, terms: vec![Term { epoch, base: Frame::START }] }
    }

    /// Identity of the match.
    pub const fn match_id(&self) -> u64 {
        self.match_id
    }

    /// Whether both are of one room's match, which may have begun anew in between: then only the
    /// lower halves of their numbers differ.
    pub(crate) const fn is_of_family(&self, other: &Lineage) -> bool {
        self.match_id >> 32 == other.match_id >> 32
    }

    /// The first term of the same match begun anew, because all frames up to `lost` are lost.
    pub(crate) fn anew(&self, epoch: Epoch, lost: Frame) -> Lineage {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.match_id.to_le_bytes());
        bytes[8..12].copy_from_slice(&epoch.0.to_le_bytes());
        bytes[12..].copy_from_slice(&lost.number().to_le_bytes());
        let low = gaggle_kit::fnv1a_32(&bytes);
        let low = low.wrapping_add(u32::from(low == self.match_id as u32));
        Lineage::founded(self.match_id & !u64::from(u32::MAX) | u64::from(low), epoch)
    }

    /// The newest term's epoch.
    pub fn epoch(&self) -> Epoch {
        self.terms.last().map_or(Epoch(0), |term| term.epoch)
    }

    /// The newest term's base.
    pub fn base(&self) -> Frame {
        self.terms.last().map_or(Frame::START, |term| term.base)
    }

    /// All terms, newest last.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The term that a log of this length belongs to. A log that has not reached the base of the
    /// newest term belongs to an older one.
    pub fn term_at(&self, sealed: Frame) -> Epoch {
        let reached = self.terms.iter().rev().find(|term| term.base <= sealed);
        reached.or(self.terms.first()).map_or(Epoch(0), |term| term.epoch)
    }

    /// Adds the term of a start that continues after `base`. Terms with a later base are dropped.
    pub fn push(&mut self, epoch: Epoch, base: Frame) {
        self.terms.retain(|term| term.base <= base && term.epoch < epoch);
        if self.terms.len() == TERMS_MAX {
            self.terms.remove(0);
        }
        self.terms.push(Term { epoch, base });
    }

    /// Forgets terms a log of this length has not reached.
    pub(crate) fn shorten(&mut self, sealed: Frame) {
        if self.terms.first().is_some_and(|first| first.base <= sealed) {
            self.terms.retain(|term| term.base <= sealed);
        }
    }

    /// Frames up to this one are the same in logs of both. `None` if no term is common.
    pub fn common(&self, other: &Lineage) -> Option<Frame> {
        if self.match_id != other.match_id {
            return None;
        }
        let shared = self.terms.iter().rev().find(|term| other.terms.contains(term))?;
        let after = |terms: &[Term]| {
            let later = terms.iter().filter(|term| term.epoch > shared.epoch).map(|term| term.base);
            later.min().unwrap_or(Frame::NEVER)
        };
        Some(after(&self.terms).min(after(&other.terms)))
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.match_id.to_le_bytes());
        out.push(self.terms.len() as u8);
        for term in &self.terms {
            out.extend_from_slice(&Varint::new(term.epoch.0.into()));
            out.extend_from_slice(&Varint::new(term.base.number().into()));
        }
    }

    pub(crate) fn read(r: &mut ByteReader<'_>) -> Result<Lineage, DecodeError> {
        let match_id = r.u64("match")?;
        let count = r.count("terms", TERMS_MAX)?;
        if count == 0 {
            return Err(DecodeError::NotCanonical { what: "terms" });
        }
        let mut terms: Vec<Term> = Vec::with_capacity(count);
        for _ in 0..count {
            let epoch = Epoch(r.varint_max("epoch", u32::MAX.into())? as u32);
            let base = Frame::new(r.varint_max("base", u64::from(u32::MAX) - 1)? as u32);
            if terms.last().is_some_and(|last| last.epoch >= epoch || last.base > base) {
                return Err(DecodeError::NotCanonical { what: "terms" });
            }
            terms.push(Term { epoch, base });
        }
        Ok(Lineage { match_id, terms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lineage(terms: &[(u32, u32)]) -> Lineage {
        let mut lineage = Lineage::founded(7, Epoch(terms[0].0));
        terms[1..].iter().for_each(|(epoch, base)| lineage.push(Epoch(*epoch), Frame::new(*base)));
        lineage
    }

    #[test]
    fn common_frames_end_at_lowest_base_after_shared_term() {
        let a = lineage(&[(1, 0), (2, 10), (3, 20)]);
        let b = lineage(&[(1, 0), (2, 10), (5, 15), (6, 30)]);
        assert_eq!(a.common(&b), Some(Frame::new(15)));
        assert_eq!(b.common(&a), Some(Frame::new(15)));
        assert_eq!(a.common(&a), Some(Frame::NEVER));
        let mut other = a.clone();
        other.match_id = 8;
        assert_eq!(a.common(&other), None);
        assert_eq!(lineage(&[(9, 0)]).common(&a), None);
    }

    #[test]
    fn log_short_of_base_is_of_older_term() {
        let a = lineage(&[(1, 0), (4, 20)]);
        assert_eq!(a.term_at(Frame::new(19)), Epoch(1));
        assert_eq!(a.term_at(Frame::new(20)), Epoch(4));
    }

    #[test]
    fn lineage_round_trips_and_rejects_disorder() {
        let mut long = lineage(&[(1, 0)]);
        (2..100).for_each(|epoch| long.push(Epoch(epoch), Frame::new(epoch * 7)));
        assert_eq!(long.terms().len(), TERMS_MAX);
        let mut bytes = Vec::new();
        long.write(&mut bytes);
        assert_eq!(Lineage::read(&mut ByteReader::new(&bytes)), Ok(long));
        let disorder = [&[0; 8][..], &[2, 5, 9, 4, 10]].concat();
        assert!(Lineage::read(&mut ByteReader::new(&disorder)).is_err());
    }
}
