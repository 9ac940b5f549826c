//! Values that members set for each other: a vehicle, a team, a vote. The last write wins, and
//! joiners get them.
//!
//! A peer sends all its values in one message over the mesh, on a reliable stream of their own,
//! when a link opens and whenever one changes. Absent: the lobby, games, frames.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::relay::HOST_PEER;
use gaggle_link::{Channel, SendError, Transport};

/// The reliable stream of values. Engines use the streams below 16.
const STREAM: u8 = 17;

/// Most bytes of all values of a member together, each with three more for its key and length: see
/// [`Room::set_value`](crate::Room::set_value).
pub const VALUES_BYTES_MAX: usize = 2_048;

/// One value of one member.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    peer: PeerId,
    key: u8,
    value: Vec<u8>,
}

/// A peer that has been sent the local values.
#[derive(Debug)]
struct Told {
    peer: PeerId,
    /// Packets of the link at the last check: fewer mean that it is a new link.
    packets: u64,
    version: u32,
}

/// The values of all members. Lists instead of maps, because there are few and every page includes
/// this code.
#[derive(Debug, Default)]
pub(crate) struct MemberValues {
    own: Vec<Entry>,
    /// Number of changes of the local values.
    version: u32,
    remote: Vec<Entry>,
    told: Vec<Told>,
    /// Changes that are received and not reported yet.
    changed: Vec<(PeerId, u8)>,
}

impl MemberValues {
    /// Sets an own value; an empty one removes the key.
    pub(crate) fn set(&mut self, key: u8, value: &[u8]) -> Result<(), SendError> {
        if self.own(key).unwrap_or_default() == value {
            return Ok(());
        }
        let others: usize = self.own.iter().filter(|entry| entry.key != key).map(size).sum();
        let bytes = others + 3 + value.len();
        if bytes > VALUES_BYTES_MAX {
            return Err(SendError::TooLarge { bytes, max: VALUES_BYTES_MAX });
        }
        self.own.retain(|entry| entry.key != key);
        if !value.is_empty() {
            self.own.push(Entry { peer: PeerId::from_u128(0), key, value: value.to_vec() });
        }
        self.version = self.version.wrapping_add(1);
        Ok(())
    }

    pub(crate) fn own(&self, key: u8) -> Option<&[u8]> {
        find(&self.own, PeerId::from_u128(0), key)
    }

    pub(crate) fn remote(&self, peer: PeerId, key: u8) -> Option<&[u8]> {
        find(&self.remote, peer, key)
    }

    /// Takes all values of a peer; messages of other streams, and malformed ones, are ignored.
    pub(crate) fn receive(&mut self, peer: PeerId, stream: u8, message: &[u8]) {
        if stream != STREAM || message.len() > VALUES_BYTES_MAX {
            return;
        }
        let mut entries = Vec::new();
        let mut rest = message;
        while let [key, low, high, values @ ..] = rest {
            let length = usize::from(u16::from_le_bytes([*low, *high]));
            let Some((value, after)) = values.split_at_checked(length) else { return };
            if find(&entries, peer, *key).is_none() {
                entries.push(Entry { peer, key: *key, value: value.to_vec() });
            }
            rest = after;
        }
        let MemberValues { remote, changed, .. } = self;
        let before = remote.iter().filter(|entry| entry.peer == peer);
        for entry in before.chain(&entries) {
            let is_same = find(remote, peer, entry.key) == find(&entries, peer, entry.key);
            if !is_same && !changed.contains(&(peer, entry.key)) {
                changed.push((peer, entry.key));
            }
        }
        remote.retain(|entry| entry.peer != peer);
        remote.append(&mut entries);
    }

    /// The next value that a member has changed.
    pub(crate) fn poll_change(&mut self) -> Option<(PeerId, u8)> {
        (!self.changed.is_empty()).then(|| self.changed.remove(0))
    }

    /// The mesh was replaced: its peers have not been sent any values.
    pub(crate) fn forget_connections(&mut self) {
        self.told.clear();
    }

    /// Drops the values of a member that left, or of all.
    pub(crate) fn forget(&mut self, member: Option<PeerId>) {
        let stays = |peer: PeerId| member.is_some_and(|member| member != peer);
        self.remote.retain(|entry| stays(entry.peer));
        self.changed.retain(|(peer, _)| stays(*peer));
    }

    /// Sends all values to peers that do not have them. A peer whose buffer is full gets them
    /// later.
    pub(crate) fn send(&mut self, now: Micros, mesh: &mut impl Transport) {
        self.told.retain(|told| mesh.peers().contains(&told.peer));
        let mut message = Vec::new();
        for entry in &self.own {
            message.push(entry.key);
            message.extend((entry.value.len() as u16).to_le_bytes());
            message.extend(&entry.value);
        }
        for nth in 0..mesh.peers().len() {
            let peer = mesh.peers()[nth];
            let packets = mesh.stats(peer).map_or(0, |stats| stats.packets_in);
            let version = self.version;
            let told = self.told.iter_mut().find(|told| told.peer == peer);
            let is_told = told.is_some_and(|told| {
                let is_same_link = std::mem::replace(&mut told.packets, packets) <= packets;
                is_same_link && told.version == version
            });
            // A referee forwards to all: their names are zeros before the content.
            let recipients = if peer == HOST_PEER { &[0; 16][..] } else { &[] };
            let message = [recipients, &message].concat();
            if !is_told && mesh.send(now, peer, Channel::Reliable(STREAM), &message).is_ok() {
                self.told.retain(|told| told.peer != peer);
                self.told.push(Told { peer, packets, version });
            }
        }
    }
}

fn find(entries: &[Entry], peer: PeerId, key: u8) -> Option<&[u8]> {
    let entry = entries.iter().find(|entry| (entry.peer, entry.key) == (peer, key))?;
    Some(&entry.value)
}

/// Bytes of a value in a message.
fn size(entry: &Entry) -> usize {
    3 + entry.value.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(values: &[(u8, &[u8])]) -> Vec<u8> {
        let entry =
            |(key, value): &(u8, &[u8])| [&[*key][..], &(value.len() as u16).to_le_bytes(), value].concat();
        values.iter().flat_map(entry).collect()
    }

    #[test]
    fn values_on_wire_match_their_vector() {
        let vector = include_str!("../../vectors/values.hex");
        let digits: String = vector.lines().filter_map(|line| line.split('#').next()).collect();
        let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        let bytes: Vec<u8> = digits.chunks(2).map(byte).collect();
        assert_eq!(bytes, message(&[(1, b"kayak"), (7, &[0, 255])]));
        let (peer, mut values) = (PeerId::from_u128(2), MemberValues::default());
        values.receive(peer, STREAM, &bytes);
        assert_eq!(values.remote(peer, 1), Some(&b"kayak"[..]));
        assert_eq!(values.remote(peer, 7), Some(&[0, 255][..]));
    }

    #[test]
    fn member_holds_at_most_allowed_bytes() {
        let mut values = MemberValues::default();
        assert!(values.set(1, &[7; VALUES_BYTES_MAX - 3]).is_ok());
        assert!(matches!(values.set(2, &[7]), Err(SendError::TooLarge { .. })));
        assert!(values.set(1, b"short").is_ok() && values.set(2, &[7]).is_ok());
        assert!(values.set(1, b"").is_ok());
        assert_eq!((values.own(1), values.own(2)), (None, Some(&[7][..])));
        let version = values.version;
        assert!(values.set(2, &[7]).is_ok() && values.set(1, b"").is_ok());
        assert_eq!(values.version, version, "nothing has changed");
    }

    #[test]
    fn message_replaces_all_values_of_its_sender() {
        let mut values = MemberValues::default();
        let (calm, hostile) = (PeerId::from_u128(8), PeerId::from_u128(9));
        values.receive(calm, STREAM, &message(&[(1, b"a"), (2, b"b")]));
        values.receive(calm, STREAM, &message(&[(1, b"a"), (3, b"c")]));
        let mut changes: Vec<_> = std::iter::from_fn(|| values.poll_change()).collect();
        changes.sort_unstable();
        assert_eq!(changes, [(calm, 1), (calm, 2), (calm, 3)]);
        assert_eq!((values.remote(calm, 1), values.remote(calm, 2)), (Some(&b"a"[..]), None));
        values.receive(calm, STREAM, &message(&[(1, b"a"), (3, b"c")]));
        assert_eq!(values.poll_change(), None, "the same again");

        // Malformed, too long, of another stream, one key twice.
        values.receive(hostile, STREAM, &[1, 255, 255, 0]);
        values.receive(hostile, STREAM, &[0; VALUES_BYTES_MAX + 1]);
        values.receive(hostile, STREAM + 1, &message(&[(1, b"x")]));
        assert_eq!(values.remote(hostile, 1), None);
        values.receive(hostile, STREAM, &message(&[(1, b"x"), (1, b"y")]));
        assert_eq!(values.remote(hostile, 1), Some(&b"x"[..]));
        values.forget(Some(hostile));
        assert_eq!(values.remote(hostile, 1), None);
        assert!(values.remote(calm, 1).is_some());
        values.receive(calm, STREAM, &[]);
        values.forget(None);
        assert_eq!(values.poll_change(), None);
    }
}
