//! Encoding of UDP datagrams, as in docs/protocol/2-udp.md.
//!
//! Used by `endpoint.rs` and `session.rs`. Absent: state, time, keys except those of codes.

use gaggle_kit::{ByteReader, DecodeError, PeerId};

use super::keys::{CODE_BYTES, Coder};

pub(crate) const VERSION: u8 = 1;
pub(crate) const KNOCK: u8 = 1;
pub(crate) const CHALLENGE: u8 = 2;
pub(crate) const WELCOME: u8 = 3;

pub(crate) const COOKIE_BYTES: usize = 16;
pub(crate) const KNOCK_BYTES: usize = 2 + 16 + 32 + 2 + COOKIE_BYTES + CODE_BYTES;
pub(crate) const CHALLENGE_BYTES: usize = 2 + 8 + COOKIE_BYTES + CODE_BYTES;
pub(crate) const WELCOME_BYTES: usize = 2 + 2 + 16 + 32 + 2 + CODE_BYTES;

/// Header of an encrypted datagram: kind and session, count.
pub(crate) const HEADER_BYTES: usize = 4;

/// Largest session number, of 14 bits.
pub(crate) const SESSION_MAX: u16 = 0x3fff;

/// Request to connect. Repeated with the cookie of the challenge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Knock {
    pub(crate) peer: PeerId,
    pub(crate) ephemeral: [u8; 32],
    /// Session number for datagrams to the sender.
    pub(crate) session: u16,
    /// All zero at first.
    pub(crate) cookie: [u8; COOKIE_BYTES],
}

/// Asks the peer to prove its address by returning the cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// First bytes of the knock's ephemeral key.
    pub(crate) of: [u8; 8],
    pub(crate) cookie: [u8; COOKIE_BYTES],
}

/// Accepts a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Welcome {
    /// Session number of the knock.
    pub(crate) to: u16,
    pub(crate) peer: PeerId,
    pub(crate) ephemeral: [u8; 32],
    pub(crate) session: u16,
}

impl Knock {
    /// Without its code: input of the session's keys.
    pub(crate) fn body(&self) -> [u8; KNOCK_BYTES - CODE_BYTES] {
        let mut body = [0; KNOCK_BYTES - CODE_BYTES];
        body[..2].copy_from_slice(&[KNOCK, VERSION]);
        body[2..18].copy_from_slice(self.peer.as_bytes());
        body[18..50].copy_from_slice(&self.ephemeral);
        body[50..52].copy_from_slice(&self.session.to_be_bytes());
        body[52..].copy_from_slice(&self.cookie);
        body
    }

    pub(crate) fn write(&self, room: &Coder) -> [u8; KNOCK_BYTES] {
        coded(&self.body(), room)
    }

    pub(crate) fn read(bytes: &[u8], room: &Coder) -> Result<Knock, DecodeError> {
        let mut r = ByteReader::new(bytes);
        begin(&mut r, KNOCK)?;
        let peer = PeerId::from_bytes(r.array("peer")?);
        let ephemeral = r.array("ephemeral key")?;
        let session = session(&mut r)?;
        let cookie = r.array("cookie")?;
        check(r, bytes, room)?;
        Ok(Knock { peer, ephemeral, session, cookie })
    }
}

impl Challenge {
    pub(crate) fn write(&self, room: &Coder) -> [u8; CHALLENGE_BYTES] {
        let mut body = [0; CHALLENGE_BYTES - CODE_BYTES];
        body[..2].copy_from_slice(&[CHALLENGE, VERSION]);
        body[2..10].copy_from_slice(&self.of);
        body[10..].copy_from_slice(&self.cookie);
        coded(&body, room)
    }

    pub(crate) fn read(bytes: &[u8], room: &Coder) -> Result<Challenge, DecodeError> {
        let mut r = ByteReader::new(bytes);
        begin(&mut r, CHALLENGE)?;
        let challenge = Challenge { of: r.array("beginning of a key")?, cookie: r.array("cookie")? };
        check(r, bytes, room)?;
        Ok(challenge)
    }
}

impl Welcome {
    pub(crate) fn body(&self) -> [u8; WELCOME_BYTES - CODE_BYTES] {
        let mut body = [0; WELCOME_BYTES - CODE_BYTES];
        body[..2].copy_from_slice(&[WELCOME, VERSION]);
        body[2..4].copy_from_slice(&self.to.to_be_bytes());
        body[4..20].copy_from_slice(self.peer.as_bytes());
        body[20..52].copy_from_slice(&self.ephemeral);
        body[52..].copy_from_slice(&self.session.to_be_bytes());
        body
    }

    pub(crate) fn write(&self, confirm: &Coder) -> [u8; WELCOME_BYTES] {
        coded(&self.body(), confirm)
    }

    /// The code can only be checked after the keys are derived from this packet.
    pub(crate) fn read(bytes: &[u8]) -> Result<(Welcome, [u8; CODE_BYTES]), DecodeError> {
        let mut r = ByteReader::new(bytes);
        begin(&mut r, WELCOME)?;
        let welcome = Welcome {
            to: session(&mut r)?,
            peer: PeerId::from_bytes(r.array("peer")?),
            ephemeral: r.array("ephemeral key")?,
            session: session(&mut r)?,
        };
        let code = r.array("code")?;
        r.finish("welcome")?;
        Ok((welcome, code))
    }
}

/// Kind of an encrypted datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sealed {
    /// A datagram of the link.
    Data,
    /// A probe of an address, or its answer.
    Probe,
}

/// Header of an encrypted datagram.
pub(crate) fn header(kind: Sealed, session: u16, count: u64) -> [u8; HEADER_BYTES] {
    let kind = match kind {
        Sealed::Data => 1 << 14,
        Sealed::Probe => 2 << 14,
    };
    let [a, b] = (kind | session & SESSION_MAX).to_be_bytes();
    let [c, d] = (count as u16).to_be_bytes();
    [a, b, c, d]
}

/// Kind, session and the low bits of the count; none if this is not an encrypted datagram.
pub(crate) fn read_header(bytes: &[u8]) -> Option<(Sealed, u16, u16)> {
    let [a, b, c, d] = *bytes.first_chunk()?;
    let first = u16::from_be_bytes([a, b]);
    let kind = match first >> 14 {
        1 => Sealed::Data,
        2 => Sealed::Probe,
        _ => return None,
    };
    Some((kind, first & SESSION_MAX, u16::from_be_bytes([c, d])))
}

fn begin(r: &mut ByteReader<'_>, kind: u8) -> Result<(), DecodeError> {
    for (what, expected) in [("datagram kind", kind), ("UDP version", VERSION)] {
        let value = r.u8(what)?;
        if value != expected {
            return Err(DecodeError::Unknown { what, value: u64::from(value) });
        }
    }
    Ok(())
}

fn session(r: &mut ByteReader<'_>) -> Result<u16, DecodeError> {
    let session = u16::from_be_bytes(r.array("session")?);
    if session > SESSION_MAX {
        return Err(DecodeError::Unknown { what: "session", value: u64::from(session) });
    }
    Ok(session)
}

fn check(mut r: ByteReader<'_>, bytes: &[u8], coder: &Coder) -> Result<(), DecodeError> {
    let code: [u8; CODE_BYTES] = r.array("code")?;
    r.finish("datagram")?;
    if coder.check(&[&bytes[..bytes.len() - CODE_BYTES]], &code) {
        Ok(())
    } else {
        Err(DecodeError::Unknown { what: "code", value: u64::from(code[0]) })
    }
}

fn coded<const BODY: usize, const WHOLE: usize>(body: &[u8; BODY], coder: &Coder) -> [u8; WHOLE] {
    let mut whole = [0; WHOLE];
    whole[..BODY].copy_from_slice(body);
    whole[BODY..].copy_from_slice(&coder.code(&[body]));
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::udp::keys::{RoomKey, Seal, TAG_BYTES};

    fn room() -> Coder {
        Coder::of_room(&RoomKey::from_bytes(std::array::from_fn(|n| n as u8)))
    }

    fn knock() -> Knock {
        let peer = PeerId::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);
        Knock { peer, ephemeral: [0xe1; 32], session: 0x1234, cookie: [0xc0; 16] }
    }

    fn welcome() -> Welcome {
        Welcome { to: 0x1234, peer: PeerId::from_u128(0xb), ephemeral: [0xe2; 32], session: 0x0abc }
    }

    fn bytes_of(hex: &str) -> Vec<u8> {
        let digits = hex.lines().map(|line| line.split('#').next().unwrap()).flat_map(str::split_whitespace);
        digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
    }

    #[test]
    fn datagrams_match_their_vectors() {
        let confirm = Coder::new(&[0xcf; 32]);
        let challenge = Challenge { of: [0xe1; 8], cookie: [0xc0; 16] };
        let bytes = bytes_of(include_str!("../../vectors/knock.hex"));
        assert_eq!(bytes, knock().write(&room()), "{:02x?}", knock().write(&room()));
        assert_eq!(Knock::read(&bytes, &room()), Ok(knock()));
        let bytes = bytes_of(include_str!("../../vectors/challenge.hex"));
        assert_eq!(bytes, challenge.write(&room()), "{:02x?}", challenge.write(&room()));
        assert_eq!(Challenge::read(&bytes, &room()), Ok(challenge));
        let bytes = bytes_of(include_str!("../../vectors/welcome.hex"));
        assert_eq!(bytes, welcome().write(&confirm), "{:02x?}", welcome().write(&confirm));
        let (read, code) = Welcome::read(&bytes).unwrap();
        assert!(read == welcome() && confirm.check(&[&read.body()], &code));
    }

    #[test]
    fn sealed_datagram_matches_its_vector() {
        let mut bytes = bytes_of(include_str!("../../vectors/sealed.hex"));
        let (kind, session, count) = read_header(&bytes).unwrap();
        assert_eq!((kind, session, count), (Sealed::Data, 0x0abc, 0x0102));
        let (head, rest) = bytes.split_first_chunk_mut::<HEADER_BYTES>().unwrap();
        let (message, tag) = rest.split_last_chunk_mut::<TAG_BYTES>().unwrap();
        assert_eq!(*head, header(Sealed::Data, 0x0abc, 0x0005_0102));
        assert!(Seal::new(&[0x5e; 16]).open(0x0005_0102, head, message, *tag));
        assert_eq!(message, b"flap");
        assert_eq!(read_header(&[0, 0, 0, 0]), None);
        assert_eq!(read_header(&[0xc0, 0, 0, 0]), None);
        assert_eq!(read_header(&[0x40, 0, 0]), None);
    }

    #[test]
    fn altered_datagrams_are_rejected() {
        let refused =
            |bytes: &[u8]| Knock::read(bytes, &room()).is_err() && Challenge::read(bytes, &room()).is_err();
        let challenge = Challenge { of: [1; 8], cookie: [2; 16] }.write(&room());
        for genuine in [&knock().write(&room())[..], &challenge] {
            assert!(!refused(genuine));
            assert!((0..genuine.len()).all(|cut| refused(&genuine[..cut])));
            assert!(refused(&[genuine, &[0]].concat()));
            for bit in 0..genuine.len() * 8 {
                let mut flipped = genuine.to_vec();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert!(refused(&flipped), "bit {bit}");
            }
        }
        let another_room = Coder::of_room(&RoomKey::from_phrase("another"));
        assert!(Knock::read(&knock().write(&room()), &another_room).is_err());
    }

    /// Answers to unproven addresses are never longer than the request.
    #[test]
    fn answers_are_shorter_than_knocks() {
        const { assert!(CHALLENGE_BYTES <= KNOCK_BYTES && WELCOME_BYTES <= KNOCK_BYTES) }
    }
}
