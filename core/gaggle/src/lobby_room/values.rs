//! Values that members set for each other: a vehicle, a team, a vote. The last write wins, and
//! joiners get them.
//!
//! They travel over the mesh on a reliable stream of their own. Absent: the lobby, which keeps none
//! of them; games and frames.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::{Channel, SendError, Transport};

/// The reliable stream of values: one key byte, then the value. Engines use the streams below 16.
const STREAM: u8 = 17;

/// Bytes of all values of a member together: see [`Room::set_value`](crate::Room::set_value).
pub const VALUES_BYTES_MAX: usize = 2_048;

/// One value of one member.
#[derive(Debug)]
struct Entry {
    peer: PeerId,
    key: u8,
    value: Vec<u8>,
    /// Received and not reported yet.
    is_new: bool,
}

/// The values of all members. Lists, not maps: there are few, and every page carries this code.
#[derive(Debug, Default)]
pub(crate) struct MemberValues {
    /// A removed value stays as an empty one: a peer that connects later may still have it.
    own: Vec<Entry>,
    remote: Vec<Entry>,
    /// Peers that have been sent the own values, or will be.
    connected: Vec<PeerId>,
    /// Own keys to be sent, and to whom.
    unsent: Vec<(PeerId, u8)>,
}

impl MemberValues {
    /// Sets an own value; an empty one removes the key.
    pub(crate) fn set(&mut self, key: u8, value: &[u8]) -> Result<(), SendError> {
        let own = PeerId::from_u128(0);
        let bytes = bytes_beside(&self.own, own, key) + value.len();
        if bytes > VALUES_BYTES_MAX {
            return Err(SendError::TooLarge { bytes, max: VALUES_BYTES_MAX });
        }
        put(&mut self.own, own, key, value);
        self.unsent.retain(|(_, unsent)| *unsent != key);
        self.unsent.extend(self.connected.iter().map(|peer| (*peer, key)));
        Ok(())
    }

    pub(crate) fn own(&self, key: u8) -> Option<&[u8]> {
        find(&self.own, PeerId::from_u128(0), key)
    }

    pub(crate) fn remote(&self, peer: PeerId, key: u8) -> Option<&[u8]> {
        find(&self.remote, peer, key)
    }

    /// Takes a message of the stream of values; others are ignored.
    pub(crate) fn receive(&mut self, from: PeerId, stream: u8, message: &[u8]) {
        let Some((&key, value)) = message.split_first().filter(|_| stream == STREAM) else { return };
        // A member that sends more than fits loses what it sent.
        if bytes_beside(&self.remote, from, key) + value.len() <= VALUES_BYTES_MAX {
            put(&mut self.remote, from, key, value);
        }
    }

    /// The next value that a member has changed.
    pub(crate) fn poll_change(&mut self) -> Option<(PeerId, u8)> {
        let entry = self.remote.iter_mut().find(|entry| entry.is_new)?;
        entry.is_new = false;
        Some((entry.peer, entry.key))
    }

    /// The mesh is another one: its peers have not been sent anything.
    pub(crate) fn forget_connections(&mut self) {
        self.connected.clear();
        self.unsent.clear();
    }

    /// Drops the values of a member that left, or of all.
    pub(crate) fn forget(&mut self, member: Option<PeerId>) {
        self.remote.retain(|entry| member.is_some_and(|member| member != entry.peer));
    }

    /// Sends what connected peers do not have. What a peer cannot take now is sent later.
    pub(crate) fn send(&mut self, now: Micros, mesh: &mut impl Transport) {
        let MemberValues { own, connected, unsent, .. } = self;
        connected.retain(|peer| mesh.peers().contains(peer));
        unsent.retain(|(peer, _)| connected.contains(peer));
        for &peer in mesh.peers() {
            if !connected.contains(&peer) {
                connected.push(peer);
                unsent.extend(own.iter().map(|entry| (peer, entry.key)));
            }
        }
        unsent.retain(|&(peer, key)| {
            let entry = own.iter().find(|entry| entry.key == key);
            let message = [&[key][..], entry.map_or(&[][..], |entry| &entry.value)].concat();
            mesh.send(now, peer, Channel::Reliable(STREAM), &message).is_err()
        });
    }
}

fn find(entries: &[Entry], peer: PeerId, key: u8) -> Option<&[u8]> {
    let entry = entries.iter().find(|entry| (entry.peer, entry.key) == (peer, key))?;
    Some(&entry.value[..]).filter(|value| !value.is_empty())
}

/// At most one entry for each key of a member.
fn put(entries: &mut Vec<Entry>, peer: PeerId, key: u8, value: &[u8]) {
    entries.retain(|entry| (entry.peer, entry.key) != (peer, key));
    entries.push(Entry { peer, key, value: value.to_vec(), is_new: true });
}

/// Bytes of a member's other values.
fn bytes_beside(entries: &[Entry], peer: PeerId, key: u8) -> usize {
    let others = entries.iter().filter(|entry| entry.peer == peer && entry.key != key);
    others.map(|entry| entry.value.len()).sum()
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
        values.forget(Some(PeerId::from_u128(8)));
        assert!(values.remote(hostile, 0).is_some());
        values.forget(Some(hostile));
        assert_eq!(values.remote(hostile, 0), None);
        assert_eq!(values.poll_change(), None);
    }
}
