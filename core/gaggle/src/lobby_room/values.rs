//! Values that members set for each other: a vehicle, a team, a vote. The last write wins, and joiners get them.
//!
//! They travel over the mesh on a reliable stream of their own. Absent: the lobby, which keeps none of them;
//! games and frames.

use gaggle_kit::{Micros, PeerId, VecMap, VecSet};
use gaggle_link::{Channel, SendError, Transport};

/// The reliable stream of values: one key byte, then the value. Engines use the streams below 16.
const STREAM: u8 = 17;

/// Bytes of all values of a member together: see [`Room::set_value`](crate::Room::set_value).
pub const VALUES_BYTES_MAX: usize = 2_048;

/// Values of one member by key.
type Values = VecMap<u8, Vec<u8>>;

/// The values of all members.
#[derive(Debug, Default)]
pub(crate) struct MemberValues {
    own: Values,
    remote: VecMap<PeerId, Values>,
    /// Own keys that a connected peer has not been sent.
    unsent: VecMap<PeerId, VecSet<u8>>,
    /// Received and not reported yet.
    changed: VecSet<(PeerId, u8)>,
}

impl MemberValues {
    /// Sets an own value; an empty one removes the key.
    pub(crate) fn set(&mut self, key: u8, value: &[u8]) -> Result<(), SendError> {
        let bytes = size_with(&self.own, key, value);
        if bytes > VALUES_BYTES_MAX {
            return Err(SendError::TooLarge { bytes, max: VALUES_BYTES_MAX });
        }
        if self.own.get(&key).map_or(&[][..], Vec::as_slice) != value {
            // A removed key stays as an empty value: a peer that connects later may still have it.
            self.own.insert(key, value.to_vec());
            self.unsent.values_mut().for_each(|keys| _ = keys.insert(key));
        }
        Ok(())
    }

    pub(crate) fn own(&self, key: u8) -> Option<&[u8]> {
        self.own.get(&key).map(Vec::as_slice).filter(|value| !value.is_empty())
    }

    pub(crate) fn remote(&self, peer: PeerId, key: u8) -> Option<&[u8]> {
        self.remote.get(&peer)?.get(&key).map(Vec::as_slice)
    }

    /// Takes a message of the stream of values; others are ignored.
    pub(crate) fn receive(&mut self, from: PeerId, stream: u8, message: &[u8]) {
        let Some((&key, value)) = message.split_first().filter(|_| stream == STREAM) else { return };
        let values = self.remote.get_or_insert_with(from, Values::new);
        // A member that sends more than fits loses what it sent.
        if size_with(values, key, value) <= VALUES_BYTES_MAX {
            if value.is_empty() {
                values.remove(&key);
            } else {
                values.insert(key, value.to_vec());
            }
            self.changed.insert((from, key));
        }
    }

    /// The next value that a member has changed.
    pub(crate) fn poll_change(&mut self) -> Option<(PeerId, u8)> {
        let next = self.changed.iter().next().copied()?;
        self.changed.remove(&next);
        Some(next)
    }

    /// The mesh is another one: its peers have not been sent anything.
    pub(crate) fn forget_connections(&mut self) {
        self.unsent.clear();
    }

    /// Drops the values of peers that are not members any more.
    pub(crate) fn retain_members(&mut self, is_member: impl Fn(PeerId) -> bool) {
        self.remote.retain(|peer, _| is_member(*peer));
        self.changed.retain(|(peer, _)| is_member(*peer));
    }

    /// Sends what connected peers do not have. What a peer cannot take now is sent later.
    pub(crate) fn send(&mut self, now: Micros, mesh: &mut impl Transport) {
        let MemberValues { own, unsent, .. } = self;
        unsent.retain(|peer, _| mesh.peers().contains(peer));
        for &peer in mesh.peers() {
            if !unsent.contains_key(&peer) {
                let all: Vec<u8> = own.keys().copied().collect();
                let keys = unsent.get_or_insert_with(peer, VecSet::new);
                all.into_iter().for_each(|key| _ = keys.insert(key));
            }
        }
        let mut message = Vec::new();
        for (peer, keys) in unsent.iter_mut() {
            keys.retain(|key| {
                message.clear();
                message.push(*key);
                message.extend_from_slice(own.get(key).map_or(&[], Vec::as_slice));
                mesh.send(now, *peer, Channel::Reliable(STREAM), &message).is_err()
            });
        }
    }
}

/// Bytes of all values once `value` is in place.
fn size_with(values: &Values, key: u8, value: &[u8]) -> usize {
    let others: usize = values.iter().filter(|(other, _)| **other != key).map(|(_, value)| value.len()).sum();
    others + value.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn member_holds_at_most_the_allowed_bytes() {
        let mut values = MemberValues::default();
        assert!(values.set(1, &[7; VALUES_BYTES_MAX]).is_ok());
        assert!(matches!(values.set(2, &[7]), Err(SendError::TooLarge { .. })));
        assert!(values.set(1, b"short").is_ok() && values.set(2, &[7]).is_ok());
        assert!(values.set(1, b"").is_ok());
        assert_eq!((values.own(1), values.own(2)), (None, Some(&[7][..])));

        let hostile = PeerId::from_u128(9);
        for key in 0..=255 {
            values.receive(hostile, STREAM, &[&[key][..], &[1; 100]].concat());
        }
        values.receive(hostile, STREAM, &[]);
        values.receive(hostile, STREAM + 1, &[0, 1]);
        let held: usize = (0..=255).filter_map(|key| values.remote(hostile, key)).map(<[u8]>::len).sum();
        assert_eq!(held, VALUES_BYTES_MAX / 100 * 100);
        values.retain_members(|_| false);
        assert_eq!(values.remote(hostile, 0), None);
        assert_eq!(values.poll_change(), None);
    }
}
