//! Incoming messages and packets: their kind, and the frames of their entries.
//!
//! `Session` passes bytes and held frames. Absent: decisions; no state is kept here.

use gaggle_kit::{DecodeError, Frame, Input};

use crate::announce;
use crate::event::PeerFault;
use crate::membership::{self, EntryControl, EntryRange, Held};
use crate::packet::{Packet, complete};
use crate::roster::StreamId;
use crate::transfer;

/// Distance of two frames with the same low bits.
const LOW_BITS: i64 = 1 << 16;

/// A message, by the part that handles it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Inbound<'a> {
    Transfer(transfer::Message<'a>),
    Membership(membership::Message),
    Control(announce::Message),
}

/// Decodes a message.
///
/// # Errors
/// If it is malformed.
pub(crate) fn decode(bytes: &[u8]) -> Result<Inbound<'_>, DecodeError> {
    match bytes.first().copied() {
        Some(kind) if transfer::Message::is_kind(kind) => {
            transfer::Message::decode(bytes).map(Inbound::Transfer)
        }
        Some(kind) if membership::Message::is_kind(kind) => {
            membership::Message::decode(bytes).map(Inbound::Membership)
        }
        _ => announce::Message::decode(bytes).map(Inbound::Control),
    }
}

/// Whether a message belongs to a transfer, whose window bounds it.
pub(crate) fn moves_state(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|kind| transfer::Message::moves_state(*kind))
}

/// The last local entry a packet acknowledges; `known` was acknowledged before, and `newest` is the
/// last one sent.
///
/// # Errors
/// If there is no such entry yet.
#[inline]
pub(crate) fn acked_frame(
    packet: &Packet<'_>,
    known: Option<Frame>,
    newest: Frame,
) -> Result<Frame, PeerFault> {
    let mut acked = complete(packet.ack_low, known.unwrap_or(newest));
    if acked > i64::from(newest.number()) && known.is_none() && acked >= LOW_BITS {
        // A peer that has just joined may acknowledge an entry so old that the low bits mean
        // another frame.
        acked -= LOW_BITS;
    }
    if acked > i64::from(newest.number()) {
        let frame = Frame::new(acked.min(u32::MAX.into()) as u32);
        return Err(PeerFault::AckBeyondSent { frame, newest });
    }
    Ok(frame_or_start(acked))
}

/// The newest entry of a packet, for a stream that is held up to `have`.
#[inline]
pub(crate) fn newest_frame(packet: &Packet<'_>, have: Frame) -> Frame {
    frame_or_start(complete(packet.newest_low, have))
}

#[inline]
fn frame_or_start(number: i64) -> Frame {
    Frame::new(number.clamp(0, u32::MAX.into()) as u32)
}

/// Controls of an entry of a packet.
fn told_control(packet: &Packet<'_>, newest: Frame, frame: Frame) -> EntryControl {
    let mut all = packet.entry_controls.iter();
    let told = all.find(|(age, _)| newest.saturating_sub((*age).into()) == frame);
    told.map(|(_, control)| control).unwrap_or_default()
}

/// Checks that the controls of entries after `base` equal those of entries held already.
///
/// # Errors
/// If they differ.
pub(crate) fn check_controls(
    packet: &Packet<'_>,
    held: &Held,
    base: Frame,
    newest: Frame,
) -> Result<(), PeerFault> {
    let is_known =
        |frame: Frame| frame > base && frame >= held.first() && frame <= held.through().min(newest);
    let frames = packet.entry_controls.iter().map(|(age, _)| newest.saturating_sub(age.into()));
    let held_frames = held.entry_controls().iter().map(|(frame, _)| *frame);
    for frame in frames.chain(held_frames).filter(|frame| is_known(*frame)) {
        if told_control(packet, newest, frame) != held.extras(frame) {
            return Err(PeerFault::InputChanged { frame });
        }
    }
    Ok(())
}

/// All entries of a packet decoded, which build on the one of frame `base`.
///
/// # Errors
/// If an input cannot be decoded.
pub(crate) fn entry_range<I: Input>(
    packet: &Packet<'_>,
    stream: StreamId,
    (base, newest): (Frame, Frame),
    mut entry: Vec<I>,
) -> Result<EntryRange, DecodeError> {
    let mut range = EntryRange::from(stream, base.next());
    let mut value = vec![0; entry.len() * I::SIZE];
    let mut frame = base;
    for change in packet.runs.entries(entry.len() * I::SIZE) {
        frame = frame.next();
        for (nth, input) in entry.iter_mut().enumerate() {
            let place = nth * I::SIZE..(nth + 1) * I::SIZE;
            *input = match change {
                Some(bytes) => I::read(&bytes[place.clone()])?,
                None => input.repeat(),
            };
            input.write(&mut value[place]);
        }
        range.push(&value, told_control(packet, newest, frame));
    }
    Ok(range)
}

/// Checks that bytes are the inputs of this many players in one frame.
///
/// # Errors
/// If they are not.
pub(crate) fn check_entry<I: Input>(value: &[u8], players: Option<usize>) -> Result<(), DecodeError> {
    if let Some(players) = players.filter(|players| players * I::SIZE != value.len()) {
        let (value, max) = (value.len() as i64, (players * I::SIZE) as i64);
        return Err(DecodeError::OutOfRange { what: "bytes of a value", value, min: max, max });
    }
    match I::SIZE {
        0 => Ok(()),
        size => value.chunks(size).try_for_each(|bytes| I::read(bytes).map(|_| ())),
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::PeerId;

    use super::*;
    use crate::packet::EntryControls;
    use crate::roster::Incarnation;
    use crate::runs::{Runs, RunsWriter};

    fn packet<'a>(newest: u16, ack_low: u16, runs: Runs<'a>) -> Packet<'a> {
        Packet {
            tag: 0,
            missing: false,
            newest_low: newest,
            ack_low,
            confirmed_age: 0,
            time: None,
            check: None,
            observer: false,
            promised: None,
            entry_controls: EntryControls::default(),
            runs,
        }
    }

    #[test]
    fn acknowledgement_of_unwritten_entry_is_fault() {
        let mut runs = RunsWriter::default();
        let acked = |packet: &Packet<'_>| acked_frame(packet, Some(Frame::new(5)), Frame::new(9));
        assert_eq!(acked(&packet(0, 9, runs.finish(1))), Ok(Frame::new(9)));
        let beyond = PeerFault::AckBeyondSent { frame: Frame::new(10), newest: Frame::new(9) };
        assert_eq!(acked(&packet(0, 10, runs.finish(1))), Err(beyond));
    }

    #[test]
    fn first_acknowledgement_may_be_long_ago() {
        let (mut runs, newest) = (RunsWriter::default(), Frame::new(0x2_0010));
        let old = packet(0, 0x0020, runs.finish(1));
        assert_eq!(acked_frame(&old, None, newest), Ok(Frame::new(0x1_0020)));
        assert!(acked_frame(&old, Some(newest), newest).is_err());
    }

    #[test]
    fn entries_are_told_in_full() {
        let mut runs = RunsWriter::default();
        runs.change(1, |out| out[0] = 7);
        runs.repeat();
        let stream = StreamId { peer: PeerId::from_u128(2), incarnation: Incarnation(1) };
        let told = packet(12, 0, runs.finish(1));
        let newest = newest_frame(&told, Frame::new(11));
        let range = entry_range::<u8>(&told, stream, (Frame::new(10), newest), vec![3]).expect("bytes");
        let mut expected = EntryRange::from(stream, Frame::new(11));
        [7, 7].iter().for_each(|value| _ = expected.push(&[*value], EntryControl::NONE));
        assert_eq!((newest, range), (Frame::new(12), expected));
    }

    #[test]
    fn control_of_held_entry_must_stay_equal() {
        let mut held = Held::from(Frame::new(5));
        (0..3).for_each(|_| held.push(EntryControl::NONE));
        let mut runs = RunsWriter::default();
        let plain = packet(8, 0, runs.finish(1));
        assert_eq!(check_controls(&plain, &held, Frame::new(4), Frame::new(8)), Ok(()));
        let said = [(1, EntryControl { end: true, ..EntryControl::NONE })];
        let mut bytes = Vec::new();
        EntryControls::write(&said, &mut bytes);
        let changed = Packet { entry_controls: EntryControls::written(&bytes), ..plain };
        let frame = Frame::new(6);
        let newest = Frame::new(7);
        assert_eq!(
            check_controls(&changed, &held, Frame::new(4), newest),
            Err(PeerFault::InputChanged { frame })
        );
    }

    #[test]
    fn unknown_kind_is_error() {
        assert!(decode(&[255]).is_err() && decode(&[]).is_err());
        assert!(!moves_state(&[]));
    }

    #[test]
    fn entry_of_wrong_length_is_rejected() {
        assert_eq!(check_entry::<u16>(&[1, 2, 3, 4], Some(2)), Ok(()));
        assert!(check_entry::<u16>(&[1, 2, 3, 4], Some(1)).is_err());
        assert!(check_entry::<u16>(&[1, 2, 3], None).is_err());
    }
}
