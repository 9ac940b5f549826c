//! Unguessable values from one secret: ids, codes, seeds, resume tokens, and the ids of accounts.
//!
//! Entropy is an argument: 32 bytes when a server starts. Everything else derives from it and a
//! counter. Absent: random sources, storage.

use std::net::IpAddr;

use base64ct::{Base64UrlUnpadded, Encoding};
use gaggle_kit::PeerId;
use sha2::{Digest, Sha256};

use crate::id::{NetworkId, PlayerId, ResumeId, RoomCode, RoomId, Seed};

/// Shortest guest key: 16 random characters of 64 kinds have 96 bits.
const KEY_LENGTH_MIN: usize = 16;
const KEY_LENGTH_MAX: usize = 128;
const DEVICE_KEY_LENGTH_MAX: usize = 64;

/// Generator of unguessable values.
#[derive(Debug)]
pub(crate) struct Secrets {
    secret: [u8; 32],
    drawn: u64,
}

impl Secrets {
    pub(crate) fn new(secret: [u8; 32]) -> Secrets {
        Secrets { secret, drawn: 0 }
    }

    pub(crate) fn room_id(&mut self) -> RoomId {
        RoomId::from_bytes(self.draw())
    }

    pub(crate) fn room_code(&mut self) -> RoomCode {
        RoomCode::from_number(u64::from_le_bytes(self.draw()))
    }

    pub(crate) fn seed(&mut self) -> Seed {
        Seed(u64::from_le_bytes(self.draw()))
    }

    /// A text of 128 random bits: a guest's key or a resume token.
    pub(crate) fn token(&mut self) -> String {
        Base64UrlUnpadded::encode_string(&self.draw::<16>())
    }

    fn draw<const N: usize>(&mut self) -> [u8; N] {
        self.drawn += 1;
        let hash = hash(b"draw", &[&self.secret, &self.drawn.to_le_bytes()]);
        std::array::from_fn(|at| hash[at])
    }
}

/// Account of a guest's key. The server stores the account, never the key.
pub(crate) fn guest(key: &str) -> Option<PlayerId> {
    let fits = (KEY_LENGTH_MIN..=KEY_LENGTH_MAX).contains(&key.len()) && key.bytes().all(is_key_byte);
    fits.then(|| PlayerId::from_bytes(first_half(hash(b"guest", &[key.as_bytes()]))))
}

/// Account of a subject at an external issuer. Subjects such as e-mail addresses can be guessed:
/// without the server's key a guess cannot be compared with the public id.
pub(crate) fn account(key: &[u8; 32], issuer: &str, subject: &str) -> PlayerId {
    let length = (issuer.len() as u64).to_le_bytes();
    let parts: [&[u8]; 4] = [key, &length, issuer.as_bytes(), subject.as_bytes()];
    PlayerId::from_bytes(first_half(hash(b"account", &parts)))
}

/// Network of an address (IPv6: its /48). Without the key the address cannot be derived from it.
pub(crate) fn network(key: &[u8; 32], address: IpAddr) -> NetworkId {
    let site = match address.to_canonical() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits() & !((1 << 80) - 1),
    };
    let hash = hash(b"network", &[key, &site.to_le_bytes()]);
    NetworkId(u64::from_le_bytes(std::array::from_fn(|at| hash[at])))
}

/// Peer id of a player's device.
pub(crate) fn peer_of(player: PlayerId, device_key: &str) -> Option<PeerId> {
    let fits = device_key.len() <= DEVICE_KEY_LENGTH_MAX && device_key.bytes().all(is_key_byte);
    fits.then(|| PeerId::from_bytes(first_half(hash(b"seat", &[player.as_bytes(), device_key.as_bytes()]))))
}

/// Public id of a resume token, from which the token cannot be derived.
pub(crate) fn session(resume: &str) -> ResumeId {
    let hash = hash(b"session", &[resume.as_bytes()]);
    ResumeId(u64::from_le_bytes(std::array::from_fn(|at| hash[at])))
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Hash of several parts. All parts but the last have a fixed length or contain it, so that no two
/// lists collide.
pub(crate) fn hash(purpose: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(b"gaggle ");
    hasher.update(purpose);
    hasher.update([0]);
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

fn first_half(hash: [u8; 32]) -> [u8; 16] {
    std::array::from_fn(|at| hash[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_always_names_same_player_and_each_device_its_own_peer() {
        let player = guest("a-key-of-sixteen").unwrap();
        assert_eq!(guest("a-key-of-sixteen"), Some(player));
        assert_ne!(guest("a-key-of-sixteeN"), Some(player));
        assert_ne!(peer_of(player, "tab-1"), peer_of(player, "tab-2"));
        assert_eq!(peer_of(player, "tab-1"), peer_of(player, "tab-1"));
        let key = [1; 32];
        assert_ne!(account(&key, "a", "bc"), account(&key, "ab", "c"));
        // Without the server's key, a guessed subject cannot be confirmed.
        assert_ne!(account(&key, "a", "bc"), account(&[2; 32], "a", "bc"));
    }

    #[test]
    fn network_is_one_address_or_one_site() {
        let network = |text: &str| network(&[1; 32], text.parse().unwrap());
        assert_eq!(network("10.0.0.1"), network("::ffff:10.0.0.1"));
        assert_ne!(network("10.0.0.1"), network("10.0.0.2"));
        assert_eq!(network("2001:db8:7:1::1"), network("2001:db8:7:2::9"));
        assert_ne!(network("2001:db8:7::1"), network("2001:db8:8::1"));
        assert_ne!(network("10.0.0.1"), super::network(&[2; 32], "10.0.0.1".parse().unwrap()));
    }

    #[test]
    fn malformed_keys_are_rejected() {
        for bad in ["", "fifteen-letters", "sixteen letters!", &"x".repeat(129)] {
            assert_eq!(guest(bad), None, "{bad}");
        }
        assert_eq!(peer_of(PlayerId::from_bytes([0; 16]), &"x".repeat(65)), None);
    }

    #[test]
    fn draws_differ_and_repeat_only_with_same_secret() {
        let mut a = Secrets::new([1; 32]);
        let mut again = Secrets::new([1; 32]);
        let mut other = Secrets::new([2; 32]);
        let first = a.token();
        assert_ne!(first, a.token());
        assert_eq!(first, again.token());
        assert_ne!(first, other.token());
    }
}
