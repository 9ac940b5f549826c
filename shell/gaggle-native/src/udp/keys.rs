//! Keys of rooms and sessions, and encryption of datagrams.
//!
//! Two fresh X25519 keys and the room's key go into every session (HKDF-SHA256), so that only
//! members of the room get one, and a key that leaks later decrypts no recording. Datagrams are
//! encrypted with AES-128-CCM and a tag of 8 bytes, as in RFC 6655. Absent: packets, sockets.

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

/// Bytes of the code that authenticates a handshake packet.
pub(crate) const CODE_BYTES: usize = 16;
/// Bytes that encryption adds to a datagram, without its header.
pub(crate) const TAG_BYTES: usize = 8;

/// Secret shared by the members of a room.
#[derive(Clone, PartialEq, Eq)]
pub struct RoomKey([u8; 32]);

impl RoomKey {
    /// A key from its bytes, as given by a lobby.
    pub const fn from_bytes(bytes: [u8; 32]) -> RoomKey {
        RoomKey(bytes)
    }

    /// A random key.
    ///
    /// # Errors
    /// If the operating system provides no random bytes.
    pub fn random() -> io::Result<RoomKey> {
        random().map(RoomKey)
    }

    /// A key from words that people can share. It is as hard to guess as they are: use a whole
    /// sentence.
    pub fn from_phrase(phrase: &str) -> RoomKey {
        RoomKey(Sha256::new().chain_update(b"gaggle room phrase\0").chain_update(phrase).finalize().into())
    }

    /// The bytes, for members of the room only.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for RoomKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RoomKey(…)")
    }
}

/// Creates and checks codes under one key.
#[derive(Clone)]
pub(crate) struct Coder(Hmac<Sha256>);

impl Coder {
    pub(crate) fn new(key: &[u8; 32]) -> Coder {
        Coder(Hmac::new_from_slice(key).expect("HMAC takes keys of any length"))
    }

    /// Coder with the room's key.
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

    /// Checks a code in constant time.
    pub(crate) fn check(&self, parts: &[&[u8]], code: &[u8; CODE_BYTES]) -> bool {
        let mut mac = self.0.clone();
        parts.iter().for_each(|part| mac.update(part));
        mac.verify_truncated_left(code).is_ok()
    }
}

/// Key pair of one session.
pub(crate) struct Ephemeral {
    secret: [u8; 32],
    pub(crate) public: [u8; 32],
}

impl Ephemeral {
    pub(crate) fn random() -> io::Result<Ephemeral> {
        let secret = random()?;
        Ok(Ephemeral { secret, public: x25519(secret, X25519_BASEPOINT_BYTES) })
    }

    /// Keys of a session, from both public keys and the handshake so far; none if the other side's
    /// key makes the shared secret predictable.
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

/// Keys derived from a handshake.
pub(crate) struct SessionKeys {
    pub(crate) from_initiator: [u8; 16],
    pub(crate) from_responder: [u8; 16],
    /// Proves that the responder has the other keys.
    pub(crate) confirm: [u8; 32],
}

/// Encryption of one direction of a session.
pub(crate) struct Seal(Ccm<Aes128, U8, U13>);

impl Seal {
    pub(crate) fn new(key: &[u8; 16]) -> Seal {
        Seal(Ccm::new(&(*key).into()))
    }

    /// Encrypts in place and returns the tag. Each count may be used only once.
    pub(crate) fn seal(&self, count: u64, header: &[u8], bytes: &mut [u8]) -> [u8; TAG_BYTES] {
        let tag = self.0.encrypt_inout_detached(&nonce(count).into(), header, bytes.into());
        tag.expect("a datagram is short enough").into()
    }

    /// Decrypts in place, if the datagram is authentic.
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
    use gaggle_kit::PeerId;

    use super::super::packet::{Knock, Sealed, Welcome, header};
    use super::*;

    #[test]
    fn both_sides_alone_derive_same_keys() {
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
        // A point of low order would make every shared secret the same.
        assert!(a.keys(&[0; 32], &room, &said).is_none());
    }

    #[test]
    fn seal_breaks_at_every_bit() {
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

    /// A whole handshake with fixed secrets, and the first datagram of either side.
    #[test]
    fn session_keys_match_their_vector() {
        let pair = |first: u8| {
            let secret = std::array::from_fn(|n| first + n as u8);
            Ephemeral { secret, public: x25519(secret, X25519_BASEPOINT_BYTES) }
        };
        let (a, b, room) = (pair(0xa0), pair(0xc0), RoomKey::from_bytes(std::array::from_fn(|n| n as u8)));
        let peer = PeerId::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);
        let knock = Knock { peer, ephemeral: a.public, session: 0x1234, cookie: [0xc0; 16] };
        let welcome =
            Welcome { to: 0x1234, peer: PeerId::from_u128(0xb), ephemeral: b.public, session: 0x0abc };
        let said: [&[u8]; 2] = [&knock.body(), &welcome.body()];
        let keys = a.keys(&b.public, &room, &said).unwrap();
        assert_eq!(b.keys(&a.public, &room, &said).unwrap().confirm, keys.confirm);
        let sealed = |key: &[u8; 16], kind: Sealed, session: u16, content: &[u8]| {
            let (head, mut content) = (header(kind, session, 0), content.to_vec());
            let tag = Seal::new(key).seal(0, &head, &mut content);
            [&head[..], &content, &tag].concat()
        };
        let mut greetings = [0; 32];
        let derived = Hkdf::<Sha256>::new(Some(b"gaggle udp 1"), &room.0);
        derived.expand(b"greetings", &mut greetings).unwrap();
        let transcript: [u8; 32] =
            Sha256::new().chain_update(said[0]).chain_update(said[1]).finalize().into();
        let bytes = [
            &room.0[..],
            &a.secret,
            &b.secret,
            &a.public,
            &b.public,
            &x25519(a.secret, b.public),
            &greetings,
            &knock.write(&Coder::of_room(&room)),
            &welcome.write(&Coder::new(&keys.confirm)),
            &transcript,
            &keys.from_initiator,
            &keys.from_responder,
            &keys.confirm,
            &sealed(&keys.from_initiator, Sealed::Data, 0x0abc, b"flap"),
            &sealed(&keys.from_responder, Sealed::Probe, 0x1234, &[0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ];
        let found: Vec<String> = bytes.iter().map(|part| hex(part)).collect();
        let vector = include_str!("../../vectors/session.hex");
        let lines = vector.lines().map(|line| line.split('#').next().unwrap().replace(' ', ""));
        assert_eq!(lines.filter(|line| !line.is_empty()).collect::<Vec<_>>(), found);
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn keys_are_hidden_in_logs() {
        assert_eq!(format!("{:?}", RoomKey::from_bytes([42; 32])), "RoomKey(…)");
    }
}
