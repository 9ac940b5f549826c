//! Messages of membership on the reliable channel, and their encoding.
//!
//! Every message is repeated until it took effect, so a broken and restored link loses nothing.
//! docs/protocol/4-membership.md specifies the bytes. Absent: who sends which.

use gaggle_kit::{ByteReader, DecodeError, Frame, SlotSet};

use super::ballot::Ballot;
use super::codec;
use super::entry_range::EntryRange;
use super::history::Tip;
use super::rows::RosterEntry;
use super::view::View;
use crate::roster::{Incarnation, StreamId};

/// Status of a peer; packets refer to it by a one-byte tag.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PeerStatus {
    pub(crate) tip: Tip,
    pub(crate) incarnation: Incarnation,
    /// First frame of its stream. None for an observer without one; with one it is ready to be
    /// admitted to this branch.
    pub(crate) first: Option<Frame>,
    /// Number of the peer's players.
    pub(crate) players: u8,
    /// Slots the peer prefers.
    pub(crate) wanted: SlotSet,
    /// Stream of the receiver that the sender knows: its acknowledgements refer to entries of that
    /// stream.
    pub(crate) knows: Option<Known>,
}

/// A stream as another peer knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Known {
    pub(crate) incarnation: Incarnation,
    /// Its first frame.
    pub(crate) first: Frame,
}

/// A view in a message, with the part of its path the receiver needs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Told {
    pub(crate) tip: Tip,
    pub(crate) view: View,
}

/// A view that a peer accepted in a vote that may still be open.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Proposal {
    pub(crate) ballot: Ballot,
    pub(crate) told: Told,
    pub(crate) tails: Vec<EntryRange>,
}

/// All entries a peer holds, sent after it has promised to take none from outside the quorum.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Report {
    pub(crate) ballot: Ballot,
    pub(crate) incarnation: Incarnation,
    pub(crate) told: Told,
    /// Its roster, with the joins and goodbyes it holds.
    pub(crate) rows: Vec<RosterEntry>,
    pub(crate) confirmed: Frame,
    pub(crate) tails: Vec<EntryRange>,
    pub(crate) accepted: Option<Proposal>,
}

/// A message about membership.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Message {
    /// A status, and the tag by which packets will refer to it.
    PeerStatus {
        tag: u8,
        status: PeerStatus,
    },
    /// Asks for the receiver's path.
    AskPath,
    /// The whole path that is remembered.
    Path(Tip),
    /// Asks what the receiver holds, and to take no entries of streams outside the quorum.
    Collect {
        tip: Tip,
        ballot: Ballot,
        circle: Vec<StreamId>,
    },
    Report(Box<Report>),
    /// The ballot is too low: this higher one is promised.
    Nack {
        incarnation: Incarnation,
        promised: Ballot,
    },
    /// The named stream has ended.
    Gone {
        incarnation: Incarnation,
    },
    /// The agreed view, made at this ballot.
    View {
        told: Told,
        at: Ballot,
        tails: Vec<EntryRange>,
    },
    /// Asks to accept this view.
    Accept {
        told: Told,
        ballot: Ballot,
        tails: Vec<EntryRange>,
    },
    Accepted {
        incarnation: Incarnation,
        ballot: Ballot,
    },
    /// Another match or branch wins: asks for a snapshot of it.
    AskSnapshot,
}

const STANDING: u8 = 0x10;
const ASK_PATH: u8 = 0x11;
const PATH: u8 = 0x12;
const COLLECT: u8 = 0x13;
const REPORT: u8 = 0x14;
const NACK: u8 = 0x15;
const GONE: u8 = 0x16;
const VIEW: u8 = 0x17;
const ACCEPT: u8 = 0x18;
const ACCEPTED: u8 = 0x19;
const ASK_SNAPSHOT: u8 = 0x1a;

impl Message {
    /// All rows the message contains.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &RosterEntry> {
        let (told, report) = match self {
            Message::View { told, .. } | Message::Accept { told, .. } => (Some(told), None),
            Message::Report(report) => (Some(&report.told), Some(report)),
            _ => (None, None),
        };
        let accepted = report.and_then(|report| report.accepted.as_ref()).map(|accepted| &accepted.told);
        let views = told.into_iter().chain(accepted).flat_map(|told| &told.view.rows);
        views.chain(report.into_iter().flat_map(|report| &report.rows))
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Message::PeerStatus { tag, status } => {
                out.extend_from_slice(&[STANDING, *tag, u8::from(status.first.is_some())]);
                codec::put_frame(out, status.first.unwrap_or(Frame::START));
                out.extend_from_slice(&status.incarnation.0.to_le_bytes());
                out.push(status.players);
                codec::put_slots(out, status.wanted);
                let known = status.knows;
                out.push(u8::from(known.is_some()));
                if let Some(known) = known {
                    out.extend_from_slice(&known.incarnation.0.to_le_bytes());
                    codec::put_frame(out, known.first);
                }
                codec::put_tip(out, &status.tip);
            }
            Message::AskPath => out.push(ASK_PATH),
            Message::Path(tip) => {
                out.push(PATH);
                codec::put_tip(out, tip);
            }
            Message::Collect { tip, ballot, circle } => {
                out.push(COLLECT);
                codec::put_ballot(out, *ballot);
                codec::put_streams(out, circle);
                codec::put_tip(out, tip);
            }
            Message::Report(report) => {
                out.push(REPORT);
                report.encode(out);
            }
            Message::Nack { incarnation, promised } => {
                out.push(NACK);
                out.extend_from_slice(&incarnation.0.to_le_bytes());
                codec::put_ballot(out, *promised);
            }
            Message::Gone { incarnation } => {
                out.push(GONE);
                out.extend_from_slice(&incarnation.0.to_le_bytes());
            }
            Message::View { told, at, tails } => {
                out.push(VIEW);
                codec::put_ballot(out, *at);
                codec::put_told(out, told);
                codec::put_tails(out, tails);
            }
            Message::Accept { told, ballot, tails } => {
                out.push(ACCEPT);
                codec::put_ballot(out, *ballot);
                codec::put_told(out, told);
                codec::put_tails(out, tails);
            }
            Message::Accepted { incarnation, ballot } => {
                out.push(ACCEPTED);
                out.extend_from_slice(&incarnation.0.to_le_bytes());
                codec::put_ballot(out, *ballot);
            }
            Message::AskSnapshot => out.push(ASK_SNAPSHOT),
        }
    }

    /// Whether a message of this kind is about membership.
    pub(crate) fn is_kind(kind: u8) -> bool {
        (STANDING..=ASK_SNAPSHOT).contains(&kind)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Message, DecodeError> {
        let mut r = ByteReader::new(bytes);
        let message = match r.u8("message kind")? {
            STANDING => {
                let tag = r.u8("tag")?;
                Message::PeerStatus { tag, status: PeerStatus::decode(&mut r)? }
            }
            ASK_PATH => Message::AskPath,
            PATH => Message::Path(codec::tip(&mut r)?),
            COLLECT => {
                let (ballot, circle) = (codec::ballot(&mut r)?, codec::streams(&mut r)?);
                Message::Collect { tip: codec::tip(&mut r)?, ballot, circle }
            }
            REPORT => Message::Report(Box::new(Report::decode(&mut r)?)),
            NACK => {
                let incarnation = Incarnation(r.u32("incarnation")?);
                Message::Nack { incarnation, promised: codec::ballot(&mut r)? }
            }
            GONE => Message::Gone { incarnation: Incarnation(r.u32("incarnation")?) },
            VIEW => {
                let (at, told) = (codec::ballot(&mut r)?, codec::told(&mut r)?);
                Message::View { told, at, tails: codec::tails(&mut r)? }
            }
            ACCEPT => {
                let (ballot, told) = (codec::ballot(&mut r)?, codec::told(&mut r)?);
                Message::Accept { told, ballot, tails: codec::tails(&mut r)? }
            }
            ACCEPTED => {
                let incarnation = Incarnation(r.u32("incarnation")?);
                Message::Accepted { incarnation, ballot: codec::ballot(&mut r)? }
            }
            ASK_SNAPSHOT => Message::AskSnapshot,
            kind => return Err(DecodeError::Unknown { what: "message kind", value: kind.into() }),
        };
        r.finish("message")?;
        Ok(message)
    }
}

impl PeerStatus {
    fn decode(r: &mut ByteReader<'_>) -> Result<PeerStatus, DecodeError> {
        let begun = r.bool("stream begun")?;
        let first = codec::frame(r, "first frame of a stream")?;
        if begun == (first == Frame::START) {
            return Err(DecodeError::NotCanonical { what: "first frame of a stream" });
        }
        let incarnation = Incarnation(r.u32("incarnation")?);
        let (players, wanted) = (r.u8("players")?, codec::slots(r)?);
        let knows = if r.bool("known stream")? {
            let incarnation = Incarnation(r.u32("incarnation")?);
            Some(Known { incarnation, first: codec::frame(r, "first frame of a stream")? })
        } else {
            None
        };
        let tip = codec::tip(r)?;
        Ok(PeerStatus { tip, incarnation, first: begun.then_some(first), players, wanted, knows })
    }
}

impl Report {
    fn encode(&self, out: &mut Vec<u8>) {
        codec::put_ballot(out, self.ballot);
        out.extend_from_slice(&self.incarnation.0.to_le_bytes());
        codec::put_told(out, &self.told);
        codec::put_rows(out, &self.rows);
        codec::put_frame(out, self.confirmed);
        codec::put_tails(out, &self.tails);
        out.push(u8::from(self.accepted.is_some()));
        if let Some(accepted) = &self.accepted {
            codec::put_ballot(out, accepted.ballot);
            codec::put_told(out, &accepted.told);
            codec::put_tails(out, &accepted.tails);
        }
    }

    fn decode(r: &mut ByteReader<'_>) -> Result<Report, DecodeError> {
        let (ballot, incarnation) = (codec::ballot(r)?, Incarnation(r.u32("incarnation")?));
        let (told, rows) = (codec::told(r)?, codec::rows(r)?);
        let (confirmed, tails) = (codec::frame(r, "confirmed frame")?, codec::tails(r)?);
        let accepted = if r.bool("accepted proposal")? {
            let (ballot, told) = (codec::ballot(r)?, codec::told(r)?);
            Some(Proposal { ballot, told, tails: codec::tails(r)? })
        } else {
            None
        };
        Ok(Report { ballot, incarnation, told, rows, confirmed, tails, accepted })
    }
}
