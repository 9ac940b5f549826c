//! Bounded queue of frames for one WebSocket. When it is full, the oldest datagram of the heaviest
//! sender is dropped; control frames never are.
//!
//! The relay pushes, the reactor pops. Absent: sockets, who may send what.

use std::collections::{BTreeMap, VecDeque};

use gaggle_kit::PeerId;
use gaggle_websocket::{Frame, Queue};

use crate::fair_share::sender_of;

/// Most bytes of queued datagrams: more would only arrive later.
const DATA_BYTES_MAX: usize = 128 * 1024;
/// Queued control frames; a client that reads never has as many.
const CONTROL_MAX: usize = 1_024;

/// Frames for one socket, in order.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// Frames, each with the sender of its datagram, if it is one.
    frames: VecDeque<(Option<PeerId>, Frame)>,
    frame_bytes: usize,
    data_bytes: usize,
    /// Queued bytes by sender.
    sender_bytes: BTreeMap<PeerId, usize>,
    control_frames: usize,
    /// Whether it is listed for flushing since it was last empty.
    is_listed: bool,
}

impl Outbox {
    /// Adds a datagram. Returns how many were dropped for it.
    pub(crate) fn push_data(&mut self, bytes: &[u8]) -> u64 {
        let mut dropped = 0;
        while self.data_bytes + bytes.len() > DATA_BYTES_MAX {
            let most = self.sender_bytes.iter().max_by_key(|(_, bytes)| **bytes).map(|(sender, _)| *sender);
            let oldest = self.frames.iter().position(|(sender, _)| sender.is_some() && *sender == most);
            let Some(oldest) = oldest.and_then(|oldest| self.frames.remove(oldest)) else { break };
            self.take_out(&oldest);
            dropped += 1;
        }
        let sender = sender_of(bytes);
        self.data_bytes += bytes.len();
        *self.sender_bytes.entry(sender).or_default() += bytes.len();
        self.put(Some(sender), Frame::Binary(bytes.to_vec()));
        dropped
    }

    /// Adds a control frame. False if the client does not read and must be disconnected.
    #[must_use]
    pub(crate) fn push_control(&mut self, bytes: &[u8]) -> bool {
        self.control_frames += 1;
        self.put(None, Frame::Binary(bytes.to_vec()));
        self.control_frames <= CONTROL_MAX
    }

    /// Whether the socket must be listed for flushing.
    pub(crate) fn list(&mut self) -> bool {
        !std::mem::replace(&mut self.is_listed, true)
    }

    fn put(&mut self, sender: Option<PeerId>, frame: Frame) {
        self.frame_bytes += frame.bytes();
        self.frames.push_back((sender, frame));
    }

    fn take_out(&mut self, (sender, frame): &(Option<PeerId>, Frame)) {
        self.frame_bytes -= frame.bytes();
        let Frame::Binary(bytes) = frame else { return };
        let Some(sender) = sender else {
            self.control_frames -= 1;
            return;
        };
        self.data_bytes -= bytes.len();
        if let Some(held) = self.sender_bytes.get_mut(sender) {
            *held -= bytes.len();
            if *held == 0 {
                self.sender_bytes.remove(sender);
            }
        }
    }
}

impl Queue for Outbox {
    fn push(&mut self, frame: Frame) {
        self.put(None, frame);
    }

    fn pop(&mut self) -> Option<Frame> {
        let Some(next) = self.frames.pop_front() else {
            self.is_listed = false;
            return None;
        };
        self.take_out(&next);
        Some(next.1)
    }

    fn bytes(&self) -> usize {
        self.frame_bytes
    }
}

#[cfg(test)]
mod tests {
    use gaggle_link::relay::RelayFrame;

    use super::*;

    fn drained(outbox: &mut Outbox) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| outbox.pop())
            .filter_map(|frame| if let Frame::Binary(bytes) = frame { Some(bytes) } else { None })
            .collect()
    }

    #[test]
    fn full_outbox_drops_oldest_datagrams_and_no_control() {
        let mut outbox = Outbox::default();
        assert!(outbox.push_control(b"first"));
        let frame = |n: u8| [&[0][..], &[n; 999]].concat();
        let dropped: u64 = (0..200u8).map(|n| outbox.push_data(&frame(n))).sum();
        assert!(outbox.push_control(b"last"));
        let frames = drained(&mut outbox);
        assert_eq!(dropped, 200 - (DATA_BYTES_MAX / 1_000) as u64);
        assert_eq!(frames.first().map(Vec::as_slice), Some(&b"first"[..]));
        assert_eq!(frames.last().map(Vec::as_slice), Some(&b"last"[..]));
        assert_eq!(frames[1][1], dropped as u8, "the newest are kept, in order");
        assert_eq!(frames.len() as u64, 202 - dropped);
        assert_eq!(outbox.bytes(), 0);
    }

    #[test]
    fn flooding_sender_loses_only_its_own() {
        let mut outbox = Outbox::default();
        let frame = |peer, bytes: usize| {
            RelayFrame::Data { peer: PeerId::from_u128(peer), datagram: &[7; 1_000][..bytes] }.to_bytes()
        };
        let mut lost = 0;
        for nth in 0..10_000 {
            lost += outbox.push_data(&frame(1, 1_000));
            if nth % 100 == 0 {
                lost += outbox.push_data(&frame(2, 100));
            }
        }
        let little = frame(2, 100);
        assert_eq!(drained(&mut outbox).iter().filter(|frame| **frame == little).count(), 100);
        assert!(lost > 9_000 && outbox.sender_bytes.is_empty() && outbox.data_bytes == 0);
    }

    #[test]
    fn control_and_pongs_go_out_before_close() {
        let mut outbox = Outbox::default();
        assert!(outbox.push_control(b"why"));
        outbox.push(Frame::Pong(Box::new([])));
        outbox.push(Frame::Close(None, ""));
        assert!(matches!(outbox.pop(), Some(Frame::Binary(bytes)) if bytes == b"why"));
        assert!(matches!(outbox.pop(), Some(Frame::Pong(_))));
        assert!(matches!(outbox.pop(), Some(Frame::Close(None, ""))));
        assert!(outbox.pop().is_none() && outbox.bytes() == 0);
    }

    #[test]
    fn client_that_reads_no_control_is_given_up() {
        let mut outbox = Outbox::default();
        assert!((0..CONTROL_MAX).all(|_| outbox.push_control(b"hello")));
        assert!(!outbox.push_control(b"hello"));
    }

    #[test]
    fn outbox_is_listed_once_until_empty() {
        let mut outbox = Outbox::default();
        let _ = outbox.push_control(b"x");
        assert_eq!([outbox.list(), outbox.list()], [true, false]);
        drained(&mut outbox);
        assert!(outbox.list());
    }
}
