//! Wire format of joining: a snapshot in pieces, feeds of confirmed frames, and messages forwarded
//! between peers that cannot reach each other. Layout and bounds.
//!
//! `Joiner`, `Donor` and `Session` use it. Absent: which peer serves which.

use gaggle_kit::{ByteReader, DecodeError, Frame, PeerId};

use crate::membership::{Feed, History, JoinContext, codec};

/// Most bytes of a state sent to a joiner: players would not wait for a larger one.
pub const STATE_BYTES_MAX: u64 = 64 << 20;
/// Bytes of one piece of a snapshot.
pub(crate) const PIECE_BYTES: usize = 8 << 10;
/// Most bytes of unacknowledged pieces: about what a fast link has in flight.
pub(crate) const WINDOW_BYTES: usize = 256 << 10;
/// Bytes of the largest forwarded message.
pub(crate) const FORWARD_BYTES_MAX: usize = 256 << 10;

/// Announcement of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Distinguishes transfers of the same donor.
    pub(crate) number: u32,
    pub(crate) state_bytes: u64,
    /// XXH64 of all bytes of the snapshot.
    pub(crate) state_hash: u64,
    /// Hash of all inputs up to the snapshot's frame.
    pub(crate) inputs_hash: u64,
    pub(crate) join_context: JoinContext,
}

/// Reason why a donor declines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decline {
    /// It cannot: it is in no match, or about to leave.
    Unable,
    /// It already serves enough joiners.
    Busy,
    /// The requested frame is too old.
    TooOld,
    /// The state is too large to be sent.
    TooLarge { bytes: u64 },
}

/// A message of a transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message<'a> {
    Offer(Box<Offer>),
    /// The next bytes of the state, in order, on their own stream.
    Piece {
        number: u32,
        bytes: &'a [u8],
    },
    /// The same bytes, compressed.
    Packed {
        number: u32,
        bytes: &'a [u8],
    },
    /// Acknowledges this many bytes.
    Got {
        number: u32,
        bytes: u64,
    },
    Decline(Decline),
    /// Frames confirmed since the last feed.
    Feed(Box<Feed>),
    /// Asks for a feed from this frame on; the sender knows this view.
    AskFeed {
        from: Frame,
        known: History,
        depth: u32,
    },
    /// Ends the feed: the joiner has all it needs.
    Enough,
    /// Asks to forward this message.
    Forward {
        to: PeerId,
        bytes: &'a [u8],
    },
    /// A forwarded message of another peer.
    ForwardFrom {
        from: PeerId,
        bytes: &'a [u8],
    },
}

const OFFER: u8 = 0x20;
const PIECE: u8 = 0x21;
const GOT: u8 = 0x22;
const DECLINE: u8 = 0x23;
const FEED: u8 = 0x24;
const ASK_FEED: u8 = 0x25;
const ENOUGH: u8 = 0x26;
const FORWARD: u8 = 0x27;
const LETTER_FROM: u8 = 0x28;
const PACKED: u8 = 0x29;

impl<'a> Message<'a> {
    /// Whether a message of this kind is one of the many of a transfer, which the receiver bounds
    /// by the window instead of the rate limit.
    pub(crate) fn moves_state(kind: u8) -> bool {
        matches!(kind, PIECE | GOT | PACKED)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Message::Offer(offer) => {
                out.push(OFFER);
                out.extend_from_slice(&offer.number.to_le_bytes());
                out.extend_from_slice(&offer.state_bytes.to_le_bytes());
                out.extend_from_slice(&offer.state_hash.to_le_bytes());
                out.extend_from_slice(&offer.inputs_hash.to_le_bytes());
                offer.join_context.encode(out);
            }
            Message::Piece { number, bytes } | Message::Packed { number, bytes } => {
                out.push(if matches!(self, Message::Piece { .. }) { PIECE } else { PACKED });
                out.extend_from_slice(&number.to_le_bytes());
                out.extend_from_slice(bytes);
            }
            Message::Got { number, bytes } => {
                out.push(GOT);
                out.extend_from_slice(&number.to_le_bytes());
                out.extend_from_slice(&bytes.to_le_bytes());
            }
            Message::Decline(why) => {
                let reason = match why {
                    Decline::Unable => 0,
                    Decline::Busy => 1,
                    Decline::TooOld => 2,
                    Decline::TooLarge { .. } => 3,
                };
                out.extend_from_slice(&[DECLINE, reason]);
                if let Decline::TooLarge { bytes } = why {
                    out.extend_from_slice(&bytes.to_le_bytes());
                }
            }
            Message::Feed(feed) => {
                out.push(FEED);
                feed.encode(out);
            }
            Message::AskFeed { from, known, depth } => {
                out.push(ASK_FEED);
                out.extend_from_slice(&from.number().to_le_bytes());
                out.extend_from_slice(&known.0.to_le_bytes());
                out.extend_from_slice(&depth.to_le_bytes());
            }
            Message::Enough => out.push(ENOUGH),
            Message::Forward { to: peer, bytes } | Message::ForwardFrom { from: peer, bytes } => {
                out.push(if matches!(self, Message::Forward { .. }) { FORWARD } else { LETTER_FROM });
                out.extend_from_slice(peer.as_bytes());
                out.extend_from_slice(bytes);
            }
        }
    }

    /// Whether bytes are a message of this kind.
    pub(crate) fn is_kind(kind: u8) -> bool {
        (OFFER..=PACKED).contains(&kind)
    }

    pub(crate) fn decode(bytes: &'a [u8]) -> Result<Message<'a>, DecodeError> {
        let mut r = ByteReader::new(bytes);
        let message = match r.u8("message kind")? {
            OFFER => {
                let number = r.u32("transfer")?;
                let state_bytes = r.u64("bytes of a state")?;
                if state_bytes > STATE_BYTES_MAX {
                    let max = STATE_BYTES_MAX;
                    return Err(DecodeError::CountTooLarge {
                        what: "bytes of a state",
                        count: state_bytes,
                        max,
                    });
                }
                let (state_hash, inputs_hash) = (r.u64("state hash")?, r.u64("inputs hash")?);
                let join_context = JoinContext::decode(&mut r)?;
                let offer = Offer { number, state_bytes, state_hash, inputs_hash, join_context };
                Message::Offer(Box::new(offer))
            }
            PIECE => {
                let number = r.u32("transfer")?;
                Message::Piece { number, bytes: bounded("bytes of a piece", r.rest(), PIECE_BYTES)? }
            }
            PACKED => {
                let number = r.u32("transfer")?;
                Message::Packed { number, bytes: bounded("bytes of a packed piece", r.rest(), PIECE_BYTES)? }
            }
            GOT => Message::Got { number: r.u32("transfer")?, bytes: r.u64("bytes of a state")? },
            DECLINE => Message::Decline(match r.u8("reason")? {
                0 => Decline::Unable,
                1 => Decline::Busy,
                2 => Decline::TooOld,
                3 => Decline::TooLarge { bytes: r.u64("bytes of a state")? },
                value => return Err(DecodeError::Unknown { what: "reason", value: value.into() }),
            }),
            FEED => Message::Feed(Box::new(Feed::decode(&mut r)?)),
            ASK_FEED => Message::AskFeed {
                from: codec::frame(&mut r, "frame")?,
                known: History(r.u64("history")?),
                depth: r.u32("depth")?,
            },
            ENOUGH => Message::Enough,
            FORWARD => {
                let to = PeerId::from_bytes(r.array("peer")?);
                Message::Forward {
                    to,
                    bytes: bounded("bytes of a forwarded message", r.rest(), FORWARD_BYTES_MAX)?,
                }
            }
            LETTER_FROM => {
                let from = PeerId::from_bytes(r.array("peer")?);
                let bytes = bounded("bytes of a forwarded message", r.rest(), FORWARD_BYTES_MAX)?;
                Message::ForwardFrom { from, bytes }
            }
            kind => return Err(DecodeError::Unknown { what: "message kind", value: kind.into() }),
        };
        r.finish("message")?;
        Ok(message)
    }
}

fn bounded<'a>(what: &'static str, bytes: &'a [u8], max: usize) -> Result<&'a [u8], DecodeError> {
    if bytes.len() > max {
        return Err(DecodeError::CountTooLarge { what, count: bytes.len() as u64, max: max as u64 });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_round_trips_and_rejects_every_truncation() {
        let peer = PeerId::from_u128(7);
        let messages = [
            Message::Piece { number: 3, bytes: &[1, 2, 3] },
            Message::Packed { number: 3, bytes: &[0x30, 1, 2, 3] },
            Message::Got { number: 3, bytes: 1 << 33 },
            Message::Decline(Decline::Busy),
            Message::Decline(Decline::TooLarge { bytes: 70 << 20 }),
            Message::AskFeed { from: Frame::new(9), known: History(5), depth: 2 },
            Message::Enough,
            Message::Forward { to: peer, bytes: &[9] },
            Message::ForwardFrom { from: peer, bytes: &[] },
        ];
        for message in messages {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            assert_eq!(Message::decode(&bytes).as_ref(), Ok(&message));
            assert!(Message::is_kind(bytes[0]));
            if matches!(message, Message::Got { .. } | Message::AskFeed { .. } | Message::Decline(_)) {
                for length in 0..bytes.len() {
                    assert!(Message::decode(&bytes[..length]).is_err(), "{length} bytes of {message:?}");
                }
            }
        }
    }

    #[test]
    fn impossible_state_is_rejected_before_allocation() {
        let mut bytes = vec![OFFER, 0, 0, 0, 0];
        bytes.extend_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(
            Message::decode(&bytes),
            Err(DecodeError::CountTooLarge { what: "bytes of a state", .. })
        ));
        for kind in [PIECE, PACKED] {
            let piece = [&[kind, 0, 0, 0, 0][..], &[0; PIECE_BYTES + 1]].concat();
            assert!(Message::decode(&piece).is_err());
        }
    }
}
