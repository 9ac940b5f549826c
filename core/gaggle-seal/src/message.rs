//! Reliable messages between client and referee: entering, terms, states, answers, checks, ends.
//!
//! `Client` and `Referee` write and read them. Absent: who may say what, and when.

use gaggle_kit::{ByteReader, DecodeError, Frame, Varint};

use crate::hello::Hello;
use crate::lineage::{Epoch, Lineage};
use crate::transfer::PIECE_BYTES;

/// Most bytes of a game state in a snapshot.
pub const STATE_BYTES_MAX: usize = 16 << 20;

const ENTER: u8 = 1;
const ANSWER: u8 = 2;
const WHO_ARE_YOU: u8 = 3;
const TERMS: u8 = 4;
const SNAPSHOT: u8 = 5;
const OVER: u8 = 6;
const HELLO: u8 = 7;
const ASK: u8 = 8;
const OFFER: u8 = 9;
const PIECE: u8 = 10;
const GOT: u8 = 11;
const CHECK: u8 = 12;
const VERDICT: u8 = 13;

/// Why a match ends for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverReason {
    /// The client left, and its rows ended.
    Left,
    /// The server ends the match.
    Closed,
    /// The server stops; another one continues the match.
    Draining,
    /// The client broke the protocol.
    Fault,
}

impl OverReason {
    const fn code(self) -> u8 {
        match self {
            OverReason::Left => 0,
            OverReason::Closed => 1,
            OverReason::Draining => 2,
            OverReason::Fault => 3,
        }
    }
}

/// Announcement of a state whose pieces follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateInfo {
    /// Number of the transfer.
    pub(crate) number: u32,
    /// Checksum of the state as the game computes it, 0 for the state of frame 0.
    pub(crate) state_hash: u64,
    pub(crate) length: usize,
}

/// What a client reports of a frame that it simulated and that cannot change any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) frame: Frame,
    pub(crate) state_hash: u64,
    pub(crate) log_hash: u64,
    /// Frames simulated beyond the sealed one.
    pub(crate) depth: u8,
}

/// A reliable message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message<'a> {
    /// The first message of a client on every link.
    Hello(Hello),
    /// A client that begins, or lost its referee: lineage and last frame it holds, if any.
    Enter(Option<(Lineage, Frame)>),
    /// The answer of a client to a referee without a journal: its log as an extract.
    Answer { asked: Epoch, lineage: Lineage, log: &'a [u8] },
    /// A referee without a journal asks which log the client holds.
    WhoAreYou(Epoch),
    /// The terms of the match; the client takes back frames of other terms.
    Terms(Lineage),
    /// The checkpoint of a frame, and the first piece of its state.
    Snapshot { lineage: Lineage, state: StateInfo, piece: &'a [u8], checkpoint: &'a [u8] },
    /// The referee asks for the state of a frame that is not sealed yet.
    Ask { number: u32, frame: Frame },
    /// A client has the state that it was asked for.
    Offer { state: StateInfo, frame: Frame, bytes_hash: u64 },
    /// The next piece of a state.
    Piece { number: u32, index: u32, bytes: &'a [u8] },
    /// The receiver of a state confirms how many pieces it holds.
    Got { number: u32, pieces: u32 },
    /// Hashes of a frame.
    Check(Check),
    /// The client's state of a frame is not that of most others, or its log is not the referee's.
    Verdict { frame: Frame, is_of_log: bool },
    /// The match is over for this client.
    Over(OverReason),
}

impl<'a> Message<'a> {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Message::Enter(None) => out.extend_from_slice(&[ENTER, 0]),
            Message::Enter(Some((lineage, sealed))) => {
                out.extend_from_slice(&[ENTER, 1]);
                lineage.write(out);
                out.extend_from_slice(&sealed.number().to_le_bytes());
            }
            Message::Answer { asked, lineage, log } => {
                out.push(ANSWER);
                out.extend_from_slice(&asked.0.to_le_bytes());
                lineage.write(out);
                out.extend_from_slice(log);
            }
            Message::WhoAreYou(epoch) => {
                out.push(WHO_ARE_YOU);
                out.extend_from_slice(&epoch.0.to_le_bytes());
            }
            Message::Terms(lineage) => {
                out.push(TERMS);
                lineage.write(out);
            }
            Message::Snapshot { lineage, state, piece, checkpoint } => {
                out.push(SNAPSHOT);
                lineage.write(out);
                state.write(out);
                out.extend_from_slice(piece);
                out.extend_from_slice(checkpoint);
            }
            Message::Over(reason) => out.extend_from_slice(&[OVER, reason.code()]),
            Message::Hello(hello) => {
                out.push(HELLO);
                hello.write(out);
            }
            Message::Ask { number, frame } => {
                out.push(ASK);
                out.extend_from_slice(&number.to_le_bytes());
                out.extend_from_slice(&frame.number().to_le_bytes());
            }
            Message::Offer { state, frame, bytes_hash } => {
                out.push(OFFER);
                state.write(out);
                out.extend_from_slice(&frame.number().to_le_bytes());
                out.extend_from_slice(&bytes_hash.to_le_bytes());
            }
            Message::Piece { number, index, bytes } => {
                out.push(PIECE);
                out.extend_from_slice(&number.to_le_bytes());
                out.extend_from_slice(&Varint::new((*index).into()));
                out.extend_from_slice(bytes);
            }
            Message::Got { number, pieces } => {
                out.push(GOT);
                out.extend_from_slice(&number.to_le_bytes());
                out.extend_from_slice(&Varint::new((*pieces).into()));
            }
            Message::Check(check) => {
                out.push(CHECK);
                out.extend_from_slice(&check.frame.number().to_le_bytes());
                out.extend_from_slice(&check.state_hash.to_le_bytes());
                out.extend_from_slice(&check.log_hash.to_le_bytes());
                out.push(check.depth);
            }
            Message::Verdict { frame, is_of_log } => {
                out.push(VERDICT);
                out.extend_from_slice(&frame.number().to_le_bytes());
                out.push((*is_of_log).into());
            }
        }
    }

    pub(crate) fn read(bytes: &'a [u8]) -> Result<Message<'a>, DecodeError> {
        let mut r = ByteReader::new(bytes);
        let message = match r.u8("message")? {
            ENTER if !r.bool("log held")? => Message::Enter(None),
            ENTER => Message::Enter(Some((Lineage::read(&mut r)?, Frame::new(r.u32("sealed frame")?)))),
            ANSWER => {
                let (asked, lineage) = (Epoch(r.u32("epoch")?), Lineage::read(&mut r)?);
                Message::Answer { asked, lineage, log: r.rest() }
            }
            WHO_ARE_YOU => Message::WhoAreYou(Epoch(r.u32("epoch")?)),
            TERMS => Message::Terms(Lineage::read(&mut r)?),
            SNAPSHOT => {
                let (lineage, state) = (Lineage::read(&mut r)?, StateInfo::read(&mut r)?);
                let piece = r.take("piece", state.length.min(PIECE_BYTES))?;
                Message::Snapshot { lineage, state, piece, checkpoint: r.rest() }
            }
            HELLO => Message::Hello(Hello::read(&mut r)?),
            ASK => Message::Ask { number: r.u32("transfer")?, frame: Frame::new(r.u32("frame")?) },
            OFFER => Message::Offer {
                state: StateInfo::read(&mut r)?,
                frame: Frame::new(r.u32("frame")?),
                bytes_hash: r.u64("hash of the bytes")?,
            },
            PIECE => {
                let (number, index) = (r.u32("transfer")?, r.varint_max("piece", u32::MAX.into())? as u32);
                Message::Piece { number, index, bytes: r.rest() }
            }
            GOT => Message::Got {
                number: r.u32("transfer")?,
                pieces: r.varint_max("pieces", u32::MAX.into())? as u32,
            },
            CHECK => Message::Check(Check {
                frame: Frame::new(r.u32("frame")?),
                state_hash: r.u64("hash of the state")?,
                log_hash: r.u64("hash of the log")?,
                depth: r.u8("depth")?,
            }),
            VERDICT => {
                Message::Verdict { frame: Frame::new(r.u32("frame")?), is_of_log: r.bool("kind of verdict")? }
            }
            OVER => Message::Over(match r.u8("reason")? {
                0 => OverReason::Left,
                1 => OverReason::Closed,
                2 => OverReason::Draining,
                3 => OverReason::Fault,
                value => return Err(DecodeError::Unknown { what: "reason", value: value.into() }),
            }),
            value => return Err(DecodeError::Unknown { what: "message", value: value.into() }),
        };
        r.finish("message")?;
        Ok(message)
    }
}

impl StateInfo {
    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.state_hash.to_le_bytes());
        out.extend_from_slice(&Varint::new(self.length as u64));
    }

    fn read(r: &mut ByteReader<'_>) -> Result<StateInfo, DecodeError> {
        let (number, state_hash) = (r.u32("transfer")?, r.u64("hash of the state")?);
        let length = r.varint_max("state", STATE_BYTES_MAX as u64)? as usize;
        Ok(StateInfo { number, state_hash, length })
    }
}
