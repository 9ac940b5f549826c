//! Reliable messages between client and referee: entering, terms, snapshots, answers, ends.
//!
//! `Client` and `Referee` write and read them. Absent: who may say what, and when.

use gaggle_kit::{ByteReader, DecodeError, Frame, Varint};

use crate::lineage::{Epoch, Lineage};

/// Most bytes of a game state in a snapshot.
pub const STATE_BYTES_MAX: usize = 16 << 20;

const ENTER: u8 = 1;
const ANSWER: u8 = 2;
const WHO_ARE_YOU: u8 = 3;
const TERMS: u8 = 4;
const SNAPSHOT: u8 = 5;
const OVER: u8 = 6;

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

/// A reliable message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message<'a> {
    /// A client that begins, or lost its referee: lineage and last frame it holds, if any.
    Enter(Option<(Lineage, Frame)>),
    /// The answer of a client to a referee without a journal: its log as an extract.
    Answer { asked: Epoch, lineage: Lineage, log: &'a [u8] },
    /// A referee without a journal asks which log the client holds.
    WhoAreYou(Epoch),
    /// The terms of the match; the client takes back frames of other terms.
    Terms(Lineage),
    /// A state and the checkpoint of its frame.
    Snapshot { lineage: Lineage, checkpoint: &'a [u8], state: &'a [u8] },
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
            Message::Snapshot { lineage, checkpoint, state } => {
                out.push(SNAPSHOT);
                lineage.write(out);
                out.extend_from_slice(&Varint::new(state.len() as u64));
                out.extend_from_slice(state);
                out.extend_from_slice(checkpoint);
            }
            Message::Over(reason) => out.extend_from_slice(&[OVER, reason.code()]),
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
                let lineage = Lineage::read(&mut r)?;
                let state = r.counted("state", STATE_BYTES_MAX)?;
                Message::Snapshot { lineage, checkpoint: r.rest(), state }
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
