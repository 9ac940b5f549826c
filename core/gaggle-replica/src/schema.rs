//! Schema of a session: its kinds, a fingerprint, and a hash per part that names what differs when
//! fingerprints do.
//!
//! A handshake compares it with another peer's. Absent: peers, objects.

use gaggle_kit::fnv1a_64;

use crate::config::ReplicaConfig;
use crate::event::RejectReason;
use crate::{Kinds, SchemaPart};

/// Kinds of a session and what identifies them.
#[derive(Debug)]
pub(crate) struct Schema {
    kinds: Kinds,
    fingerprint: u64,
    parts: Vec<(SchemaPart, u32)>,
    /// Most bits of a record of any kind.
    bits_max_of_all: usize,
}

impl Schema {
    pub(crate) fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// Most bits of a record of any kind.
    pub(crate) fn bits_max_of_all(&self) -> usize {
        self.bits_max_of_all
    }

    pub(crate) fn new(config: &ReplicaConfig, kinds: Kinds, bits_max_of_all: usize) -> Schema {
        Schema {
            fingerprint: fingerprint(config, &kinds),
            parts: parts(config, &kinds),
            kinds,
            bits_max_of_all,
        }
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Hashes of the parts, in their order, for a hello.
    pub(crate) fn hashes(&self) -> Vec<u32> {
        self.parts.iter().map(|(_, hash)| *hash).collect()
    }

    /// Reason to reject a peer with this fingerprint and these parts, if there is one.
    pub(crate) fn objection(&self, fingerprint: u64, theirs: &[u32]) -> Option<RejectReason> {
        if fingerprint == self.fingerprint {
            return None;
        }
        let missing = self.parts.iter().find(|(_, hash)| !theirs.contains(hash));
        // The same parts in another order.
        let moved = || self.parts.iter().zip(theirs).find(|((_, ours), theirs)| ours != *theirs);
        Some(match missing.or_else(|| moved().map(|(part, _)| part)) {
            Some(&(part, _)) if !theirs.is_empty() => RejectReason::SchemaMismatch { part },
            _ => RejectReason::Game { ours: self.fingerprint, theirs: fingerprint },
        })
    }
}

fn fingerprint(config: &ReplicaConfig, kinds: &Kinds) -> u64 {
    let parts = [
        config.game_fingerprint,
        kinds.fingerprint(),
        config.authority.fingerprint(),
        config.send_interval.get(),
    ];
    let mut bytes = [0; 32];
    for (chunk, part) in bytes.chunks_exact_mut(8).zip(parts) {
        chunk.copy_from_slice(&part.to_le_bytes());
    }
    fnv1a_64(&bytes)
}

/// A game's own parts come first: a difference there is the most specific.
fn parts(config: &ReplicaConfig, kinds: &Kinds) -> Vec<(SchemaPart, u32)> {
    let setting = |part: SchemaPart, number: u64| (part, fnv1a_64(format!("{part} {number}").as_bytes()));
    let settings = [
        setting(SchemaPart::Authority, config.authority.fingerprint()),
        setting(SchemaPart::Interval, config.send_interval.get()),
        setting(SchemaPart::Game, config.game_fingerprint),
    ];
    let short = |(part, hash): (SchemaPart, u64)| (part, (hash ^ hash >> 32) as u32);
    kinds.parts().into_iter().chain(settings).map(short).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AuthorityPolicy, ValueWriter};

    fn schema(config: &ReplicaConfig, kinds: Kinds) -> Schema {
        Schema::new(config, kinds, 0)
    }

    #[test]
    fn equal_schema_has_no_objection() {
        let config = ReplicaConfig::default();
        let (a, b) = (schema(&config, Kinds::new()), schema(&config, Kinds::new()));
        assert_eq!(a.objection(b.fingerprint(), &b.hashes()), None);
    }

    #[test]
    fn objection_names_part_that_differs() {
        let ours = schema(&ReplicaConfig::default(), Kinds::new());
        let config = ReplicaConfig { authority: AuthorityPolicy::Anyone, ..ReplicaConfig::default() };
        let theirs = schema(&config, Kinds::new());
        let reason = ours.objection(theirs.fingerprint(), &theirs.hashes());
        assert_eq!(reason, Some(RejectReason::SchemaMismatch { part: SchemaPart::Authority }));
    }

    #[test]
    fn objection_to_reordered_values_names_first_moved() {
        let config = ReplicaConfig::default();
        let kinds = |names: [&'static str; 2]| {
            let [a, b] = names;
            let first = Kinds::new();
            match a {
                "a" => {
                    first.with_value::<u8>(a, ValueWriter::Leader).with_value::<u16>(b, ValueWriter::Leader)
                }
                _ => first.with_value::<u16>(a, ValueWriter::Leader).with_value::<u8>(b, ValueWriter::Leader),
            }
        };
        let (ours, theirs) = (schema(&config, kinds(["a", "b"])), schema(&config, kinds(["b", "a"])));
        let reason = ours.objection(theirs.fingerprint(), &theirs.hashes());
        assert_eq!(reason, Some(RejectReason::SchemaMismatch { part: SchemaPart::Value("a") }));
    }

    #[test]
    fn objection_without_parts_names_game() {
        let ours = schema(&ReplicaConfig::default(), Kinds::new());
        let reason = ours.objection(1, &[]);
        assert_eq!(reason, Some(RejectReason::Game { ours: ours.fingerprint(), theirs: 1 }));
    }
}
