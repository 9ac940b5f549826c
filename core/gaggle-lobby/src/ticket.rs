//! Tickets: signed proof that a peer may be in a room, in which slot, until when.
//!
//! Nodes sign them; peers and relays check them without asking the server (layout in
//! docs/protocol/8-files.md). They also contain what a server needs to restore a lost room. Absent:
//! transport of tickets, admission rules.

use base64ct::{Base64UrlUnpadded, Encoding};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use gaggle_kit::{ByteReader, ByteSink, DecodeError, Micros, PeerId, Slot, SlotSet};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::MessageError;
use crate::id::{PlayerId, RoomCode, RoomId, Seed};
use crate::json::{Raw, Value};
use crate::label::Label;
use crate::players::LocalPlayers;
use crate::secret;
use crate::view::{Member, RawJson, RoomView, Status};

/// Signed in front of the ticket, so that no other signature of the same key can pass for one.
const CONTEXT: &[u8] = b"gaggle ticket 1\0";
const VERSION: u8 = 1;
const SIGNATURE_BYTES: usize = 64;
/// Claims have 106 bytes and three labels of up to 32 bytes with a length byte each.
const TICKET_BYTES_MAX: usize = 106 + 3 * 33 + SIGNATURE_BYTES;
const NO_SLOT: u8 = u8::MAX;

/// Content of a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// Room the ticket is valid for.
    pub room: RoomId,
    /// Account of the holder.
    pub player: PlayerId,
    /// Peer id of the holder.
    pub peer: PeerId,
    /// Slot of the holder; none for a spectator.
    pub slot: Option<Slot>,
    /// Raised when a member is removed and when a match starts; tickets of earlier epochs are
    /// invalid.
    pub epoch: u32,
    /// Number of the match in its room.
    pub round: u32,
    /// Seed of the match.
    pub seed: Seed,
    /// Start of the match in Unix milliseconds.
    pub match_started_at: u64,
    /// Issue time in Unix seconds.
    pub issued: u64,
    /// Expiry in Unix seconds.
    pub expires: u64,
    /// Code of the room.
    pub code: RoomCode,
    /// Number of slots of the room.
    pub max_players: u8,
    /// Access to the room, and the holder's role in it.
    pub flags: TicketFlags,
    /// Local players of the holder.
    pub players: LocalPlayers,
    /// Game of the room.
    pub game: Label,
    /// Mode of the game.
    pub mode: Label,
    /// Build of the game.
    pub build: Label,
    /// First bytes of the SHA-256 of the room's settings.
    pub settings: [u8; 8],
}

/// Yes-or-no claims of a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TicketFlags {
    /// The room is kept out of the list.
    pub private: bool,
    /// The room admits no joiners.
    pub locked: bool,
    /// The room admits joiners while a match runs.
    pub drop_in: bool,
    /// The host starts matches, although joiners are admitted while they run.
    pub host_starts: bool,
    /// A match is running.
    pub playing: bool,
    /// The holder is host.
    pub host: bool,
}

/// Why a ticket is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TicketError {
    /// Not base64url, too long, or not in the layout of a ticket.
    #[error("the ticket is malformed")]
    Malformed,
    /// Not signed with the server's key, or altered.
    #[error("the ticket's signature is wrong")]
    BadSignature,
    /// Past its expiry.
    #[error("the ticket expired {seconds} seconds ago")]
    Expired {
        /// Seconds since expiry.
        seconds: u64,
    },
    /// Valid for another room.
    #[error("the ticket is for another room")]
    WrongRoom,
    /// Of an earlier epoch: a member was removed since, or a match started.
    #[error("the ticket is of epoch {epoch}, but the room is in {current}")]
    StaleEpoch {
        /// Epoch of the ticket.
        epoch: u32,
        /// Epoch of the room.
        current: u32,
    },
}

impl From<DecodeError> for TicketError {
    fn from(_: DecodeError) -> TicketError {
        TicketError::Malformed
    }
}

/// Key that signs tickets.
#[derive(Debug)]
pub struct TicketSigner(SigningKey);

impl TicketSigner {
    /// Signer with this secret, which stays on the server. Nodes of one lobby share it.
    pub fn from_secret(secret: &[u8; 32]) -> TicketSigner {
        TicketSigner(SigningKey::from_bytes(secret))
    }

    /// Public key that checks the tickets of this signer.
    pub fn key(&self) -> TicketKey {
        TicketKey(self.0.verifying_key())
    }

    /// A key for another purpose, equal on all nodes; it cannot sign tickets.
    pub(crate) fn derive(&self, purpose: &[u8]) -> [u8; 32] {
        secret::hash(b"derive", &[self.0.as_bytes(), purpose])
    }

    /// Signs a ticket and returns its text.
    pub fn sign(&self, claims: &Claims) -> String {
        let mut bytes = Vec::with_capacity(CONTEXT.len() + TICKET_BYTES_MAX);
        bytes.put(CONTEXT);
        claims.write(&mut bytes);
        let signature = self.0.sign(&bytes);
        bytes.put(&signature.to_bytes());
        Base64UrlUnpadded::encode_string(&bytes[CONTEXT.len()..])
    }
}

/// Public key that checks tickets, sent in `welcome`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketKey(VerifyingKey);

impl TicketKey {
    /// Reads 32 bytes; none if they are not a valid key.
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<TicketKey> {
        VerifyingKey::from_bytes(bytes).ok().map(TicketKey)
    }

    /// Reads the text form used in `welcome`.
    pub fn from_text(text: &str) -> Option<TicketKey> {
        let mut bytes = [0; 32];
        let decoded = Base64UrlUnpadded::decode(text, &mut bytes).ok()?;
        TicketKey::from_bytes(decoded.try_into().ok()?)
    }

    /// Bytes of the public key.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Text form used in `welcome`.
    pub fn to_text(&self) -> String {
        Base64UrlUnpadded::encode_string(self.0.as_bytes())
    }

    /// Decodes a ticket and checks its signature and expiry.
    ///
    /// # Errors
    /// If it is malformed, forged or expired. The caller checks room and epoch: see
    /// [`Claims::admit`].
    pub fn open(&self, ticket: &str, now_unix_seconds: u64) -> Result<Claims, TicketError> {
        // Four characters encode three bytes.
        if ticket.len() > TICKET_BYTES_MAX.div_ceil(3) * 4 {
            return Err(TicketError::Malformed);
        }
        let bytes = Base64UrlUnpadded::decode_vec(ticket).map_err(|_| TicketError::Malformed)?;
        let at = bytes.len().checked_sub(SIGNATURE_BYTES).ok_or(TicketError::Malformed)?;
        let (body, signature) = bytes.split_at(at);
        let claims = Claims::read(body)?;
        let signature = Signature::from_slice(signature).map_err(|_| TicketError::Malformed)?;
        let signed = [CONTEXT, body].concat();
        // Strict: lenient checks accept several signatures for one text, this one exactly one.
        self.0.verify_strict(&signed, &signature).map_err(|_| TicketError::BadSignature)?;
        if now_unix_seconds >= claims.expires {
            return Err(TicketError::Expired { seconds: now_unix_seconds - claims.expires });
        }
        Ok(claims)
    }
}

impl Claims {
    /// Claims of a member's ticket, valid for `ttl` from now.
    pub(crate) fn of_member(now: Micros, ttl: Micros, view: &RoomView, member: &Member) -> Claims {
        let issued = now.get() / 1_000_000;
        Claims {
            room: view.id,
            player: member.player,
            peer: member.peer,
            slot: member.slot,
            epoch: view.epoch,
            round: view.round,
            seed: view.seed,
            match_started_at: view.match_started_at,
            issued,
            expires: issued + ttl.get() / 1_000_000,
            code: view.code,
            max_players: view.max_players,
            flags: TicketFlags {
                private: view.private,
                locked: view.locked,
                drop_in: view.drop_in,
                host_starts: view.host_starts,
                playing: matches!(view.status, Status::Playing | Status::Starting),
                host: view.host == member.peer,
            },
            players: LocalPlayers::holding(member.slots()),
            game: view.game.clone(),
            mode: view.mode.clone(),
            build: view.build.clone(),
            settings: Claims::digest(&view.settings),
        }
    }

    /// Claims of a member of a running room for four, in which only room, peer, epoch and expiry
    /// matter. For relays without a lobby, as in tests and measurements.
    pub fn bare(room: u64, peer: PeerId, epoch: u32, expires: u64) -> Claims {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&room.to_le_bytes());
        Claims {
            room: RoomId::from_bytes(id),
            player: PlayerId::from_bytes(*peer.as_bytes()),
            peer,
            slot: None,
            epoch,
            round: 1,
            seed: Seed(1),
            match_started_at: 0,
            issued: 0,
            expires,
            code: RoomCode::from_number(42),
            max_players: 4,
            flags: TicketFlags {
                private: false,
                locked: false,
                drop_in: true,
                host_starts: false,
                playing: true,
                host: false,
            },
            players: LocalPlayers::ONE,
            game: Label::default(),
            mode: Label::default(),
            build: Label::default(),
            settings: [0; 8],
        }
    }

    /// Checks that the ticket is valid for this room and epoch.
    ///
    /// # Errors
    /// If it is for another room, or of an earlier epoch.
    pub fn admit(&self, room: RoomId, epoch: u32) -> Result<(), TicketError> {
        if self.room != room {
            return Err(TicketError::WrongRoom);
        }
        if self.epoch < epoch {
            return Err(TicketError::StaleEpoch { epoch: self.epoch, current: epoch });
        }
        Ok(())
    }

    /// Digest of settings, as stored in tickets.
    pub fn digest(settings: &RawJson) -> [u8; 8] {
        let hash = Sha256::digest(settings.as_str().as_bytes());
        std::array::from_fn(|at| hash[at])
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.put(&[VERSION]);
        out.put(self.room.as_bytes());
        out.put(self.player.as_bytes());
        out.put(self.peer.as_bytes());
        out.put(&[self.slot.map_or(NO_SLOT, Slot::byte)]);
        out.put(&self.epoch.to_le_bytes());
        out.put(&self.round.to_le_bytes());
        for number in [self.seed.0, self.match_started_at, self.issued, self.expires] {
            out.put(&number.to_le_bytes());
        }
        out.put(self.code.as_str().as_bytes());
        let flags =
            [self.flags.private, self.flags.locked, self.flags.drop_in, self.flags.playing, self.flags.host];
        let flags = flags.iter().rev().fold(0, |bits, &flag| bits << 1 | u8::from(flag));
        let others = self.players.count() - 1;
        out.put(&[self.max_players | u8::from(self.flags.host_starts) << 7, others << 5 | flags]);
        out.put(&self.settings);
        for label in [&self.game, &self.mode, &self.build] {
            out.put(&[label.as_str().len() as u8]);
            out.put(label.as_str().as_bytes());
        }
    }

    fn read(bytes: &[u8]) -> Result<Claims, TicketError> {
        let mut r = ByteReader::new(bytes);
        if r.u8("version")? != VERSION {
            return Err(TicketError::Malformed);
        }
        let room = RoomId::from_bytes(r.array("room")?);
        let player = PlayerId::from_bytes(r.array("player")?);
        let peer = PeerId::from_bytes(r.array("peer")?);
        let slot = match r.u8("slot")? {
            NO_SLOT => None,
            number if usize::from(number) < SlotSet::COUNT_MAX => Some(Slot::at(number.into())),
            _ => return Err(TicketError::Malformed),
        };
        let (epoch, round) = (r.u32("epoch")?, r.u32("round")?);
        let (seed, match_started_at) = (Seed(r.u64("seed")?), r.u64("born")?);
        let (issued, expires) = (r.u64("issued")?, r.u64("expires")?);
        let code = str::from_utf8(r.take("code", 6)?).ok().and_then(|text| text.parse().ok());
        let code = code.ok_or(TicketError::Malformed)?;
        let (max_players, flags) = (r.u8("seats")?, r.u8("flags")?);
        let (host_starts, max_players) = (max_players >> 7 == 1, max_players & 0x7f);
        let flag = |bit: u8| flags >> bit & 1 == 1;
        let settings = r.array("settings")?;
        let mut label = || -> Result<Label, TicketError> {
            let length = r.u8("label")?;
            let text = str::from_utf8(r.take("label", usize::from(length))?);
            text.ok().and_then(|text| text.parse().ok()).ok_or(TicketError::Malformed)
        };
        let (game, mode, build) = (label()?, label()?, label()?);
        r.finish("ticket")?;
        let (private, locked, drop_in, playing, host) = (flag(0), flag(1), flag(2), flag(3), flag(4));
        let players = LocalPlayers::new((flags >> 5) + 1).ok_or(TicketError::Malformed)?;
        Ok(Claims {
            room,
            player,
            peer,
            slot,
            epoch,
            round,
            seed,
            match_started_at,
            issued,
            expires,
            code,
            max_players,
            flags: TicketFlags { private, locked, drop_in, host_starts, playing, host },
            players,
            game,
            mode,
            build,
            settings,
        })
    }
}

/// Checked claims, as nodes exchange them.
impl Value for Claims {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<Claims, MessageError> {
        let bytes = raw.string().and_then(|text| Base64UrlUnpadded::decode_vec(&text).ok());
        let claims = bytes.and_then(|bytes| Claims::read(&bytes).ok());
        claims.ok_or(MessageError::Invalid { field, expected: "the body of a ticket" })
    }

    fn blank() -> Claims {
        Claims {
            room: Value::blank(),
            player: Value::blank(),
            peer: Value::blank(),
            slot: None,
            epoch: 0,
            round: 0,
            seed: Value::blank(),
            match_started_at: 0,
            issued: 0,
            expires: 0,
            code: Value::blank(),
            max_players: 0,
            flags: TicketFlags {
                private: false,
                locked: false,
                drop_in: false,
                host_starts: false,
                playing: false,
                host: false,
            },
            players: Value::blank(),
            game: Value::blank(),
            mode: Value::blank(),
            build: Value::blank(),
            settings: [0; 8],
        }
    }

    fn write(&self, out: &mut String) {
        let mut bytes = Vec::with_capacity(TICKET_BYTES_MAX);
        Claims::write(self, &mut bytes);
        Base64UrlUnpadded::encode_string(&bytes).write(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opened_ticket_contains_signed_claims() {
        let flags = TicketFlags { private: true, playing: false, ..claims().flags };
        let watcher = Claims { slot: None, flags, ..claims() };
        let admission = {
            let flags = TicketFlags { host: true, ..claims().flags };
            Claims { players: LocalPlayers::new(LocalPlayers::MAX).unwrap(), flags, ..claims() }
        };
        for claims in [claims(), watcher, admission] {
            let ticket = signer().sign(&claims);
            assert_eq!(signer().key().open(&ticket, 1_999), Ok(claims));
        }
    }

    #[test]
    fn every_altered_character_is_detected() {
        let ticket = signer().sign(&claims());
        for at in 0..ticket.len() {
            let mut altered = ticket.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).unwrap();
            let error = signer().key().open(&altered, 1_000).unwrap_err();
            assert!(matches!(error, TicketError::BadSignature | TicketError::Malformed), "{at}: {error}");
        }
    }

    #[test]
    fn every_truncation_and_extension_is_detected() {
        let ticket = signer().sign(&claims());
        for length in 0..ticket.len() {
            assert!(signer().key().open(&ticket[..length], 1_000).is_err(), "{length}");
        }
        assert!(signer().key().open(&format!("{ticket}AAAA"), 1_000).is_err());
        assert_eq!(signer().key().open(&"A".repeat(100_000), 1_000), Err(TicketError::Malformed));
    }

    #[test]
    fn foreign_keys_and_expired_tickets_are_rejected() {
        let ticket = signer().sign(&claims());
        let stranger = TicketSigner::from_secret(&[8; 32]).key();
        assert_eq!(stranger.open(&ticket, 1_000), Err(TicketError::BadSignature));
        assert_eq!(signer().key().open(&ticket, 2_000), Err(TicketError::Expired { seconds: 0 }));
        assert_eq!(signer().key().open(&ticket, 2_060), Err(TicketError::Expired { seconds: 60 }));
    }

    #[test]
    fn ticket_admits_to_its_room_until_next_epoch() {
        let ticket = claims();
        assert_eq!(ticket.admit(ticket.room, 3), Ok(()));
        assert_eq!(ticket.admit(ticket.room, 4), Err(TicketError::StaleEpoch { epoch: 3, current: 4 }));
        assert_eq!(ticket.admit(RoomId::from_bytes([9; 16]), 3), Err(TicketError::WrongRoom));
    }

    #[test]
    fn ticket_matches_its_vector() {
        let settings = RawJson::new(r#"{"lava":true}"#).unwrap();
        let claims = Claims {
            build: "3f2a".parse().unwrap(),
            flags: TicketFlags { locked: true, host: true, host_starts: true, ..claims().flags },
            players: LocalPlayers::new(2).unwrap(),
            settings: Claims::digest(&settings),
            ..claims()
        };
        let ticket = Base64UrlUnpadded::decode_vec(&signer().sign(&claims)).unwrap();
        let bytes = [&signer().key().as_bytes()[..], &ticket].concat();
        let vector = include_str!("../vectors/ticket.hex").lines();
        let vector: String = vector.map(|line| line.split('#').next().unwrap().replace(' ', "")).collect();
        assert_eq!(vector, bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    }

    #[test]
    fn key_reads_back_from_text() {
        let key = signer().key();
        assert_eq!(TicketKey::from_text(&key.to_text()), Some(key));
        assert_eq!(TicketKey::from_text("short"), None);
    }

    fn signer() -> TicketSigner {
        TicketSigner::from_secret(&[7; 32])
    }

    fn claims() -> Claims {
        Claims {
            room: RoomId::from_bytes([1; 16]),
            player: PlayerId::from_bytes([2; 16]),
            peer: PeerId::from_u128(3),
            slot: Some(Slot::at(2)),
            epoch: 3,
            round: 1,
            seed: Seed(0x0123_4567_89ab_cdef),
            match_started_at: 1_700_000_000_000,
            issued: 1_000,
            expires: 2_000,
            code: RoomCode::from_number(42),
            max_players: 4,
            flags: TicketFlags {
                private: false,
                locked: false,
                drop_in: true,
                host_starts: false,
                playing: true,
                host: false,
            },
            players: LocalPlayers::ONE,
            game: "gander".parse().unwrap(),
            mode: "team".parse().unwrap(),
            build: Label::default(),
            settings: Claims::digest(&RawJson::default()),
        }
    }
}
