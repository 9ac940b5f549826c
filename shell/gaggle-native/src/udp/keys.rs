//! Secrets: what a room shares, what two peers derive from it, and how datagrams are sealed with
//! that.
//!
//! Two fresh X25519 keys and the room's key go into every session (HKDF-SHA256), so that only
//! members of the room get one, and a key that leaks later opens nothing that was recorded.
//! Datagrams are sealed with AES-128-CCM and a tag of 8 bytes, as RFC 6655 does for small packets.

use std::fmt;
use std::io;

use aes::Aes128;
use ccm::Ccm;
use ccm::aead::{AeadInOut, KeyInit};
use ccm::consts::{U8, U13};
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};

use crate::entropy::random;

/// Bytes of a code that proves who made a greeting.
pub(crate) const CODE_BYTES: usize = 16;
/// Bytes a sealed datagram is longer than what is in it, without its header.
pub(crate) const TAG_BYTES: usize = 8;

/// What the members of a room share, and nobody else has.
#[derive(Clone, PartialEq, Eq)]
pub struct RoomKey([u8; 32]);

impl RoomKey {
    /// A key by its bytes, as a lobby hands it out.
    pub const fn from_bytes(bytes: [u8; 32]) -> RoomKey {
        RoomKey(bytes)
    }

    /// A key nobody can guess.
    ///
    /// # Errors
    /// If the operating system gives no entropy.
    pub fn random() -> io::Result<RoomKey> {
        random().map(RoomKey)
    }

    /// A key from words people can tell each other. It is as hard to guess as they are: a whole
    /// sentence, not a word.
    pub fn from_phrase(phrase: &str) -> RoomKey {
        RoomKey(Sha256::new().chain_update(b"gaggle room phrase\0").chain_update(phrase).finalize().into())
    }

    /// The bytes, to be handed to a member of the room.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for RoomKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RoomKey(…)")
    }
}

/// Makes and checks codes under one key.
#[derive(Clone)]
pub(crate) struct Coder(Hmac<Sha256>);

impl Coder {
    pub(crate) fn new(key: &[u8; 32]) -> Coder {
        Coder(Hmac::new_from_slice(key).expect("HMAC takes keys of any length"))
    }

    /// The coder of everyone in the room.
    pub(crate) fn of_room(key: &RoomKey) -> Coder {
        let mut derived = [0; 32];
        let room = Hkdf::<Sha256>::new(Some(b"gaggle udp 1"), &key.0);
        room.expand(b"greetings", &mut derived).expect("32 bytes are few enough");
        Coder::new(&derived)
    }

    pub(crate) fn code(&self, parts: &[&[u8]]) -> [u8; CODE_BYTES] {
        let mut mac = self.0.clone();
        parts.iter().for_each(|part| mac.update(part));
        let whole: [u8; 32] = mac.finalize().into_bytes().into();
        *whole.first_chunk().expect("32 bytes begin with 16")
    }

    /// In a time that does not depend on how much of the code is right.
    pub(crate) fn check(&self, parts: &[&[u8]], code: &[u8; CODE_BYTES]) -> bool {
        let mut mac = self.0.clone();
        parts.iter().for_each(|part| mac.update(part));
        mac.verify_truncated_left(code).is_ok()
    }
}

/// A key pair for one session.
pub(crate) struct Ephemeral {
    secret: [u8; 32],
    pub(crate) public: [u8; 32],
}

impl Ephemeral {
    pub(crate) fn random() -> io::Result<Ephemeral> {
        let secret = random()?;
        Ok(Ephemeral { secret, public: x25519(secret, X25519_BASEPOINT_BYTES) })
    }

    /// What two sides of a session share, given both public keys and all they said to each other;
    /// none if the other's key is one that would make it predictable.
    pub(crate) fn keys(&self, theirs: &[u8; 32], room: &RoomKey, said: &[&[u8]]) -> Option<SessionKeys> {
        let shared = x25519(self.secret, *theirs);
        if shared == [0; 32] {
            return None;
        }
        let mut transcript = Sha256::new();
        said.iter().for_each(|part| transcript.update(part));
        let transcript: [u8; 32] = transcript.finalize().into();
        let derived = Hkdf::<Sha256>::new(Some(&room.0), &shared);
        let mut bytes = [0; 64];
        derived
            .expand_multi_info(&[b"gaggle udp 1 session", &transcript], &mut bytes)
            .expect("64 bytes are few enough");
        let part = |start: usize| -> [u8; 16] { std::array::from_fn(|n| bytes[start + n]) };
        let confirm: [u8; 32] = std::array::from_fn(|n| bytes[32 + n]);
        Some(SessionKeys { from_initiator: part(0), from_responder: part(16), confirm })
    }
}

/// What follows from a greeting.
pub(crate) struct SessionKeys {
    pub(crate) from_initiator: [u8; 16],
    pub(crate) from_responder: [u8; 16],
    /// With it the responder shows that it has the others.
    pub(crate) confirm: [u8; 32],
}

/// One direction of a session.
pub(crate) struct Seal(Ccm<Aes128, U8, U13>);

impl Seal {
    pub(crate) fn new(key: &[u8; 16]) -> Seal {
        Seal(Ccm::new(&(*key).into()))
    }

    /// Encrypts in place and says the tag. No count may be used twice.
    pub(crate) fn seal(&self, count: u64, header: &[u8], bytes: &mut [u8]) -> [u8; TAG_BYTES] {
        let tag = self.0.encrypt_inout_detached(&nonce(count).into(), header, bytes.into());
        tag.expect("a datagram is short enough").into()
    }

    /// Decrypts in place, if nobody has touched it.
    pub(crate) fn open(&self, count: u64, header: &[u8], bytes: &mut [u8], tag: [u8; TAG_BYTES]) -> bool {
        self.0.decrypt_inout_detached(&nonce(count).into(), header, bytes.into(), &tag.into()).is_ok()
    }
}

fn nonce(count: u64) -> [u8; 13] {
    let mut nonce = [0; 13];
    nonce[5..].copy_from_slice(&count.to_be_bytes());
    nonce
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_and_nobody_else_get_the_same_keys() {
        let (a, b, eve) =
            (Ephemeral::random().unwrap(), Ephemeral::random().unwrap(), Ephemeral::random().unwrap());
        let room = RoomKey::from_phrase("geese");
        let said: [&[u8]; 2] = [b"knock", b"welcome"];
        let ours = a.keys(&b.public, &room, &said).unwrap();
        let theirs = b.keys(&a.public, &room, &said).unwrap();
        assert_eq!((ours.from_initiator, ours.confirm), (theirs.from_initiator, theirs.confirm));
        assert_ne!(ours.from_initiator, ours.from_responder);
        let others = [
            eve.keys(&b.public, &room, &said),
            a.keys(&b.public, &RoomKey::from_phrase("ducks"), &said),
            a.keys(&b.public, &room, &[b"knock", b"welcom"]),
        ];
        assert!(others.iter().flatten().all(|keys| keys.from_initiator != ours.from_initiator));
        // A point of low order would make every secret the same.
        assert!(a.keys(&[0; 32], &room, &said).is_none());
    }

    #[test]
    fn a_seal_breaks_at_every_bit() {
        let seal = Seal::new(&[7; 16]);
        let mut bytes = *b"flap";
        let tag = seal.seal(9, b"head", &mut bytes);
        assert_ne!(&bytes, b"flap");
        for bit in 0..8 * (4 + TAG_BYTES) {
            let (mut changed, mut changed_tag) = (bytes, tag);
            let byte = changed.iter_mut().chain(&mut changed_tag).nth(bit / 8).unwrap();
            *byte ^= 1 << (bit % 8);
            assert!(!seal.open(9, b"head", &mut changed, changed_tag), "bit {bit}");
        }
        assert!(!seal.open(10, b"head", &mut bytes.clone(), tag));
        assert!(!seal.open(9, b"Head", &mut bytes.clone(), tag));
        assert!(seal.open(9, b"head", &mut bytes, tag));
        assert_eq!(&bytes, b"flap");
    }

    #[test]
    fn keys_do_not_show_in_logs() {
        assert_eq!(format!("{:?}", RoomKey::from_bytes([42; 32])), "RoomKey(…)");
    }
}
