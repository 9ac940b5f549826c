//! STUN messages (RFC 8489): requests for the own public address, their responses, and signed
//! connectivity checks.
//!
//! Used by carriers and the relay. Absent: ICE, sockets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crc::{CRC_32_ISO_HDLC, Crc, Table};

const MAGIC: [u8; 4] = [0x21, 0x12, 0xa4, 0x42];
const HEADER_BYTES: usize = 20;
const REQUEST: u16 = 0x0001;
const RESPONSE: u16 = 0x0101;
const USERNAME: u16 = 0x0006;
const MESSAGE_INTEGRITY: u16 = 0x0008;
const PRIORITY: u16 = 0x0024;
const XOR_MAPPED_ADDRESS: u16 = 0x0020;
const SOFTWARE: u16 = 0x8022;
const FINGERPRINT: u16 = 0x8028;
const ICE_CONTROLLED: u16 = 0x8029;
/// Padding that makes a request longer than any response: servers that send no more bytes than they
/// receive can answer at once.
const FILLING: [u8; 24] = *b"gaggle, which asks amply";
/// Length of the attribute with its header.
const MESSAGE_INTEGRITY_BYTES: usize = 24;
const FINGERPRINT_BYTES: usize = 8;
const FINGERPRINT_MASK: u32 = 0x5354_554e;
/// Priority of a reflexive address with a single path (RFC 8445, 5.1.2).
const CHECK_PRIORITY: u32 = 110 << 24 | 65_535 << 8 | 255;
/// Attributes read per message: no honest one has more.
const ATTRIBUTES_MAX: usize = 32;

/// Identifies the response to a request.
pub type TransactionId = [u8; 12];

/// A decoded message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stun<'a> {
    /// A request for the sender's public address.
    Request(TransactionId),
    /// An ICE connectivity check.
    ConnectivityCheck {
        /// Part of the user name before the colon, which is the name of the receiver.
        name: &'a str,
    },
    /// A response with the public address.
    Response(TransactionId, SocketAddr),
}

/// Encodes a padded request.
pub fn request(id: TransactionId) -> Vec<u8> {
    let mut bytes = short_request(id).to_vec();
    bytes[3] = 4 + FILLING.len() as u8;
    bytes.extend(SOFTWARE.to_be_bytes());
    bytes.extend((FILLING.len() as u16).to_be_bytes());
    bytes.extend(FILLING);
    bytes
}

/// Encodes the shortest request, as browsers do.
pub fn short_request(id: TransactionId) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..2].copy_from_slice(&REQUEST.to_be_bytes());
    bytes[4..8].copy_from_slice(&MAGIC);
    bytes[8..].copy_from_slice(&id);
    bytes
}

/// Encodes an ICE check, which only a holder of the password that `sign` uses can answer with a
/// signature.
pub(crate) fn check(id: TransactionId, username: &str, sign: impl Fn(&[u8]) -> [u8; 20]) -> Vec<u8> {
    let mut bytes = short_request(id).to_vec();
    put(&mut bytes, USERNAME, username.as_bytes());
    put(&mut bytes, PRIORITY, &CHECK_PRIORITY.to_be_bytes());
    // A tie-breaker of zero yields the controlling role to any other.
    put(&mut bytes, ICE_CONTROLLED, &[0; 8]);
    // The signature covers the length including itself, and so does the fingerprint.
    set_length(&mut bytes, MESSAGE_INTEGRITY_BYTES);
    let signature = sign(&bytes);
    put(&mut bytes, MESSAGE_INTEGRITY, &signature);
    set_length(&mut bytes, FINGERPRINT_BYTES);
    let fingerprint = FINGERPRINTS.checksum(&bytes) ^ FINGERPRINT_MASK;
    put(&mut bytes, FINGERPRINT, &fingerprint.to_be_bytes());
    bytes
}

static FINGERPRINTS: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

fn put(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    bytes.extend(kind.to_be_bytes());
    bytes.extend((value.len() as u16).to_be_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

/// Sets the message length, including `more` bytes to come.
fn set_length(bytes: &mut [u8], more: usize) {
    let length = (bytes.len() + more - HEADER_BYTES) as u16;
    bytes[2..4].copy_from_slice(&length.to_be_bytes());
}

/// Encodes a response with this public address.
pub fn answer(id: TransactionId, seen: SocketAddr) -> Vec<u8> {
    let port = (seen.port() ^ u16::from_be_bytes([MAGIC[0], MAGIC[1]])).to_be_bytes();
    let mask: Vec<u8> = MAGIC.into_iter().chain(id).collect();
    let (family, address) = match seen.ip() {
        IpAddr::V4(ip) => (1, ip.octets().to_vec()),
        IpAddr::V6(ip) => (2, ip.octets().to_vec()),
    };
    let masked = address.iter().zip(mask).map(|(byte, mask)| byte ^ mask);
    let value: Vec<u8> = [0, family].into_iter().chain(port).chain(masked).collect();
    let length = (4 + value.len()) as u16;
    let mut bytes = Vec::with_capacity(HEADER_BYTES + usize::from(length));
    bytes.extend(RESPONSE.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes.extend(MAGIC);
    bytes.extend(id);
    bytes.extend(XOR_MAPPED_ADDRESS.to_be_bytes());
    bytes.extend((value.len() as u16).to_be_bytes());
    bytes.extend(value);
    bytes
}

/// Decodes a received message; none if it is of another kind or damaged.
pub fn read(bytes: &[u8]) -> Option<Stun<'_>> {
    let header: &[u8; HEADER_BYTES] = bytes.get(..HEADER_BYTES)?.try_into().ok()?;
    let kind = u16::from_be_bytes([header[0], header[1]]);
    let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let body = bytes.get(HEADER_BYTES..)?;
    if header[4..8] != MAGIC || body.len() != length || !length.is_multiple_of(4) {
        return None;
    }
    let id: TransactionId = header[8..].try_into().ok()?;
    match kind {
        REQUEST => Some(match attribute(body, USERNAME)? {
            None => Stun::Request(id),
            // Name of the receiver, a colon, name of the sender.
            Some(name) => Stun::ConnectivityCheck { name: str::from_utf8(name).ok()?.split(':').next()? },
        }),
        RESPONSE => Some(Stun::Response(id, unmask(attribute(body, XOR_MAPPED_ADDRESS)??, &id)?)),
        _ => None,
    }
}

/// Value of an attribute, if present; none if the attributes are damaged.
fn attribute(mut body: &[u8], wanted: u16) -> Option<Option<&[u8]>> {
    for _ in 0..ATTRIBUTES_MAX {
        if body.is_empty() {
            return Some(None);
        }
        let kind = u16::from_be_bytes([*body.first()?, *body.get(1)?]);
        let length = usize::from(u16::from_be_bytes([*body.get(2)?, *body.get(3)?]));
        let value = body.get(4..4 + length)?;
        if kind == wanted {
            return Some(Some(value));
        }
        body = body.get(4 + length.next_multiple_of(4)..)?;
    }
    None
}

fn unmask(value: &[u8], id: &TransactionId) -> Option<SocketAddr> {
    let (&[_, family, high, low], address) = value.split_first_chunk::<4>()?;
    let port = u16::from_be_bytes([high, low]) ^ u16::from_be_bytes([MAGIC[0], MAGIC[1]]);
    let mut mask = MAGIC.into_iter().chain(*id);
    let plain = |byte: u8| mask.next().map_or(0, |mask| byte ^ mask);
    let ip = match (family, address.len()) {
        (1, 4) => {
            let octets: Vec<u8> = address.iter().copied().map(plain).collect();
            IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(octets).ok()?))
        }
        (2, 16) => {
            let octets: Vec<u8> = address.iter().copied().map(plain).collect();
            IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(octets).ok()?))
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: TransactionId = [0xb7, 0xe7, 0xa7, 0x01, 0xbc, 0x34, 0xd6, 0x86, 0xfa, 0x87, 0xdf, 0xae];

    #[test]
    fn requests_and_responses_read_back() {
        assert_eq!(read(&request(ID)), Some(Stun::Request(ID)));
        assert_eq!(read(&short_request(ID)), Some(Stun::Request(ID)));
        for seen in ["192.0.2.1:32853", "[2001:db8:1234:5678:11:2233:4455:6677]:32853"] {
            let seen: SocketAddr = seen.parse().unwrap();
            assert_eq!(read(&answer(ID, seen)), Some(Stun::Response(ID, seen)));
            assert!(answer(ID, seen).len() <= request(ID).len(), "a longer response is not sent at once");
        }
    }

    #[test]
    fn response_matches_example_of_rfc_5769() {
        // Section 2.2: the address is 192.0.2.1, port 32853.
        let expected = [0x00, 0x20, 0x00, 0x08, 0x00, 0x01, 0xa1, 0x47, 0xe1, 0x12, 0xa6, 0x43];
        assert_eq!(answer(ID, "192.0.2.1:32853".parse().unwrap())[20..], expected);
    }

    #[test]
    fn check_names_its_receiver() {
        let mut bytes = short_request(ID).to_vec();
        bytes.extend([0x00, 0x06, 0x00, 0x09]);
        bytes.extend(b"evtj:h6vY\0\0\0");
        bytes[3] = 16;
        assert_eq!(read(&bytes), Some(Stun::ConnectivityCheck { name: "evtj" }));
    }

    #[test]
    fn damaged_messages_are_not_read() {
        let whole = answer(ID, "192.0.2.1:32853".parse().unwrap());
        for length in 0..whole.len() {
            assert_eq!(read(&whole[..length]), None, "{length}");
        }
        let mut longer = whole.clone();
        longer.push(0);
        assert_eq!(read(&longer), None);
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                let _ = read(&damaged);
            }
        }
        let mut endless = short_request(ID).to_vec();
        (0..100).for_each(|_| endless.extend([0x80, 0, 0, 0]));
        endless[2..4].copy_from_slice(&400u16.to_be_bytes());
        assert_eq!(read(&endless), None);
    }
}
