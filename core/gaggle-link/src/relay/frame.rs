//! Frames between a relay and its members.
//!
//! Used by `client.rs` and `shell/gaggle-relay`. Absent: state, when frames are sent.

use gaggle_kit::{ByteReader, ByteSink, DecodeError, PeerId};

use crate::DATAGRAM_BYTES_MAX;

/// Bytes in front of a datagram: kind, and the peer it goes to or comes from.
pub const DATA_HEADER_BYTES: usize = 17;
/// Longest frame on a channel, and longest frame without a text.
pub const RELAY_FRAME_BYTES_MAX: usize = DATA_HEADER_BYTES + DATAGRAM_BYTES_MAX;
/// Longest text in a frame: a ticket or a session description.
pub const RELAY_TEXT_BYTES_MAX: usize = 8 * 1024;

const VERSION: u8 = 1;

/// Why a relay closes a connection, sent as its last frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RelayReject {
    /// The ticket is forged or malformed.
    Ticket,
    /// The ticket has expired.
    Expired,
    /// The room is in a later epoch: a newer ticket is needed.
    StaleEpoch,
    /// The room or the relay is full; it may work later.
    Full,
    /// The same peer connected again.
    Replaced,
    /// A frame was malformed.
    Malformed,
    /// The relay stops. Another may replace it.
    Stopping,
}

impl RelayReject {
    const ALL: [RelayReject; 7] = [
        RelayReject::Ticket,
        RelayReject::Expired,
        RelayReject::StaleEpoch,
        RelayReject::Full,
        RelayReject::Replaced,
        RelayReject::Malformed,
        RelayReject::Stopping,
    ];

    const fn number(self) -> u8 {
        self as u8
    }
}

/// One frame. Members send the first five kinds, relays the others; datagrams go both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayFrame<'a> {
    /// First frame of a connection, repeated with each newer ticket.
    Authenticate {
        /// Ticket of the member.
        ticket: &'a str,
    },
    /// Opens a pair with this peer, now or when it connects.
    Open {
        /// Peer of the pair.
        peer: PeerId,
    },
    /// Closes the pair with this peer.
    Close {
        /// Peer of the pair.
        peer: PeerId,
    },
    /// A datagram: to this peer if a member sends it, from this peer if the relay does.
    Data {
        /// The other peer.
        peer: PeerId,
        /// Content of the datagram.
        datagram: &'a [u8],
    },
    /// A datagram for all open pairs of the sender.
    Broadcast {
        /// Content of the datagram.
        datagram: &'a [u8],
    },
    /// Offers a channel with a session description.
    Offer {
        /// Session description of the member.
        description: &'a str,
    },
    /// The member is authenticated.
    Authenticated {
        /// Random number of this run of the relay: another number means that it lost its state.
        instance: u64,
        /// Whether channels are available.
        channels: bool,
    },
    /// The pair with this peer is open.
    Opened {
        /// Peer of the pair.
        peer: PeerId,
    },
    /// The pair with this peer is closed.
    Closed {
        /// Peer of the pair.
        peer: PeerId,
    },
    /// Answers an offer.
    Answer {
        /// Session description of the relay.
        description: &'a str,
    },
    /// The connection ends for this reason.
    Refused {
        /// Reason of the end.
        reason: RelayReject,
    },
}

impl<'a> RelayFrame<'a> {
    /// Reads a received frame.
    ///
    /// # Errors
    /// If it is malformed or too long for its kind.
    pub fn read(bytes: &'a [u8]) -> Result<RelayFrame<'a>, DecodeError> {
        let mut r = ByteReader::new(bytes);
        let kind = r.u8("kind of frame")?;
        let frame = match kind {
            1 => {
                let version = r.u8("relay version")?;
                if version != VERSION {
                    return Err(DecodeError::Unknown { what: "relay version", value: version.into() });
                }
                RelayFrame::Authenticate { ticket: text(&mut r, "ticket")? }
            }
            2 => RelayFrame::Open { peer: peer(&mut r)? },
            3 => RelayFrame::Close { peer: peer(&mut r)? },
            4 => RelayFrame::Data { peer: peer(&mut r)?, datagram: datagram(&mut r)? },
            5 => RelayFrame::Broadcast { datagram: datagram(&mut r)? },
            6 => RelayFrame::Offer { description: text(&mut r, "offer")? },
            7 => RelayFrame::Authenticated { instance: r.u64("instance")?, channels: r.bool("channels")? },
            8 => RelayFrame::Opened { peer: peer(&mut r)? },
            9 => RelayFrame::Closed { peer: peer(&mut r)? },
            10 => RelayFrame::Answer { description: text(&mut r, "answer")? },
            11 => {
                let number = r.u8("refusal")?;
                let reason = RelayReject::ALL.get(usize::from(number)).copied();
                let unknown = DecodeError::Unknown { what: "refusal", value: number.into() };
                RelayFrame::Refused { reason: reason.ok_or(unknown)? }
            }
            _ => return Err(DecodeError::Unknown { what: "kind of frame", value: kind.into() }),
        };
        r.finish("frame")?;
        Ok(frame)
    }

    /// Appends the frame to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        match *self {
            RelayFrame::Authenticate { ticket } => {
                out.put(&[1, VERSION]);
                out.put(ticket.as_bytes());
            }
            RelayFrame::Open { peer } => put_peer(out, 2, peer),
            RelayFrame::Close { peer } => put_peer(out, 3, peer),
            RelayFrame::Data { peer, datagram } => {
                put_peer(out, 4, peer);
                out.put(datagram);
            }
            RelayFrame::Broadcast { datagram } => {
                out.put(&[5]);
                out.put(datagram);
            }
            RelayFrame::Offer { description } => {
                out.put(&[6]);
                out.put(description.as_bytes());
            }
            RelayFrame::Authenticated { instance, channels } => {
                out.put(&[7]);
                out.put(&instance.to_le_bytes());
                out.put(&[u8::from(channels)]);
            }
            RelayFrame::Opened { peer } => put_peer(out, 8, peer),
            RelayFrame::Closed { peer } => put_peer(out, 9, peer),
            RelayFrame::Answer { description } => {
                out.put(&[10]);
                out.put(description.as_bytes());
            }
            RelayFrame::Refused { reason } => out.put(&[11, reason.number()]),
        }
    }

    /// Encodes the frame as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }
}

fn put_peer(out: &mut Vec<u8>, kind: u8, peer: PeerId) {
    out.put(&[kind]);
    out.put(peer.as_bytes());
}

fn peer(r: &mut ByteReader<'_>) -> Result<PeerId, DecodeError> {
    r.array("peer").map(PeerId::from_bytes)
}

fn datagram<'a>(r: &mut ByteReader<'a>) -> Result<&'a [u8], DecodeError> {
    bounded(r.rest(), "bytes of a datagram", DATAGRAM_BYTES_MAX)
}

fn text<'a>(r: &mut ByteReader<'a>, what: &'static str) -> Result<&'a str, DecodeError> {
    let bytes = bounded(r.rest(), what, RELAY_TEXT_BYTES_MAX)?;
    str::from_utf8(bytes).map_err(|error| DecodeError::InvalidUtf8 { what, position: error.valid_up_to() })
}

fn bounded<'a>(bytes: &'a [u8], what: &'static str, max: usize) -> Result<&'a [u8], DecodeError> {
    if bytes.len() > max {
        return Err(DecodeError::CountTooLarge { what, count: bytes.len() as u64, max: max as u64 });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: PeerId = PeerId::from_u128(0x0f1e_2d3c_4b5a_6978_8796_a5b4_c3d2_e1f0);

    fn vectors() -> [(&'static str, RelayFrame<'static>); 11] {
        [
            (include_str!("../../vectors/relay-prove.hex"), RelayFrame::Authenticate { ticket: "AQAA" }),
            (include_str!("../../vectors/relay-call.hex"), RelayFrame::Open { peer: PEER }),
            (include_str!("../../vectors/relay-hang-up.hex"), RelayFrame::Close { peer: PEER }),
            (
                include_str!("../../vectors/relay-data.hex"),
                RelayFrame::Data { peer: PEER, datagram: &[1, 2, 3] },
            ),
            (
                include_str!("../../vectors/relay-everyone.hex"),
                RelayFrame::Broadcast { datagram: &[1, 2, 3] },
            ),
            (include_str!("../../vectors/relay-offer.hex"), RelayFrame::Offer { description: "v=0" }),
            (
                include_str!("../../vectors/relay-proven.hex"),
                RelayFrame::Authenticated { instance: 0x0123_4567_89ab_cdef, channels: true },
            ),
            (include_str!("../../vectors/relay-opened.hex"), RelayFrame::Opened { peer: PEER }),
            (include_str!("../../vectors/relay-closed.hex"), RelayFrame::Closed { peer: PEER }),
            (include_str!("../../vectors/relay-answer.hex"), RelayFrame::Answer { description: "v=0" }),
            (
                include_str!("../../vectors/relay-refused.hex"),
                RelayFrame::Refused { reason: RelayReject::StaleEpoch },
            ),
        ]
    }

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: String =
            hex.lines().flat_map(|line| line.split('#').next()).flat_map(str::split_whitespace).collect();
        (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
    }

    #[test]
    fn frames_match_their_vectors() {
        for (hex, frame) in vectors() {
            assert_eq!(frame.to_bytes(), bytes(hex), "{frame:?}");
            assert_eq!(RelayFrame::read(&bytes(hex)), Ok(frame));
        }
    }

    #[test]
    fn truncated_or_extended_frame_is_rejected_or_another_frame() {
        for (hex, frame) in vectors() {
            let whole = bytes(hex);
            for length in 0..whole.len() {
                assert_ne!(RelayFrame::read(&whole[..length]), Ok(frame));
            }
            let has_fixed_size = !matches!(
                frame,
                RelayFrame::Authenticate { .. }
                    | RelayFrame::Data { .. }
                    | RelayFrame::Broadcast { .. }
                    | RelayFrame::Offer { .. }
                    | RelayFrame::Answer { .. }
            );
            let longer = [whole.as_slice(), &[0]].concat();
            assert_eq!(RelayFrame::read(&longer).is_err(), has_fixed_size, "{frame:?}");
        }
    }

    #[test]
    fn too_long_and_unknown_frames_are_rejected() {
        let datagram = [0; DATAGRAM_BYTES_MAX + 1];
        assert!(RelayFrame::read(&RelayFrame::Data { peer: PEER, datagram: &datagram }.to_bytes()).is_err());
        assert!(
            RelayFrame::read(&RelayFrame::Data { peer: PEER, datagram: &datagram[1..] }.to_bytes()).is_ok()
        );
        let ticket = "A".repeat(RELAY_TEXT_BYTES_MAX + 1);
        assert!(RelayFrame::read(&RelayFrame::Authenticate { ticket: &ticket }.to_bytes()).is_err());
        for bad in
            [&[][..], &[0], &[12], &[255; 40], &[1, 2, b'A'], &[11, 7], &[7, 0, 0, 0, 0, 0, 0, 0, 0, 2]]
        {
            assert!(RelayFrame::read(bad).is_err(), "{bad:?}");
        }
    }
}
