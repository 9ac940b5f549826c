//! What waits to go out over one socket: bounded. When it is full, the oldest datagram goes of
//! whoever has most there.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use gaggle_kit::PeerId;
use tokio::sync::Notify;

use crate::fair_share::sender_of;
use crate::machine::Outbound;

/// Bytes of datagrams that may wait: more is only older.
const DATA_BYTES_MAX: usize = 128 * 1024;
/// Words that may wait. Nobody who reads has so many unread.
const WORDS_MAX: usize = 1_024;

/// Frames for one socket, in order.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    news: Notify,
    end: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Each with the sender of its datagram, if it is one.
    frames: VecDeque<(Option<PeerId>, Vec<u8>)>,
    data_bytes: usize,
    /// The same by sender.
    sender_bytes: BTreeMap<PeerId, usize>,
    control_frames: usize,
    ended: bool,
    spare: Vec<Vec<u8>>,
}

impl Outbox {
    /// Takes over what goes out. How many datagrams were dropped for it.
    pub(crate) fn push(&self, out: Outbound<'_>) -> u64 {
        let mut state = self.lock();
        if state.ended {
            return 0;
        }
        let dropped = match out {
            Outbound::Data(bytes) => state.push_data(bytes),
            Outbound::Control(bytes) => {
                state.control_frames += 1;
                state.ended = state.control_frames > WORDS_MAX;
                state.frames.push_back((None, bytes.to_vec()));
                0
            }
            Outbound::Close => {
                state.ended = true;
                0
            }
        };
        if state.ended {
            self.end.notify_one();
        }
        drop(state);
        self.news.notify_one();
        dropped
    }

    /// Waits until the connection is to end.
    pub(crate) async fn ended(&self) {
        self.end.notified().await;
    }

    /// Waits until there is something new.
    pub(crate) async fn wait(&self) {
        self.news.notified().await;
    }

    /// Hands over what waits, at most so many bytes but one frame at least. False when the
    /// connection is to end after it.
    pub(crate) fn drain(&self, bytes_max: usize, mut take: impl FnMut(&[u8])) -> bool {
        let mut state = self.lock();
        let mut bytes = 0;
        while bytes < bytes_max {
            let Some((sender, frame)) = state.frames.pop_front() else { return !state.ended };
            match sender {
                Some(sender) => state.take_out(sender, frame.len()),
                None => state.control_frames -= 1,
            }
            bytes += frame.len();
            take(&frame);
            if state.spare.len() < 16 {
                state.spare.push(frame);
            }
        }
        self.news.notify_one();
        true
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn push_data(&mut self, bytes: &[u8]) -> u64 {
        let mut dropped = 0;
        while self.data_bytes + bytes.len() > DATA_BYTES_MAX {
            let most = self.sender_bytes.iter().max_by_key(|(_, bytes)| **bytes).map(|(sender, _)| *sender);
            let oldest = self.frames.iter().position(|(sender, _)| sender.is_some() && *sender == most);
            let Some((most, oldest)) = most.zip(oldest) else { break };
            let (_, frame) = self.frames.remove(oldest).expect("it was just found");
            self.take_out(most, frame.len());
            self.spare.push(frame);
            dropped += 1;
        }
        let sender = sender_of(bytes);
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.clear();
        frame.extend_from_slice(bytes);
        self.data_bytes += frame.len();
        *self.sender_bytes.entry(sender).or_default() += frame.len();
        self.frames.push_back((Some(sender), frame));
        dropped
    }

    fn take_out(&mut self, sender: PeerId, bytes: usize) {
        self.data_bytes -= bytes;
        if let Some(held) = self.sender_bytes.get_mut(&sender) {
            *held -= bytes;
            if *held == 0 {
                self.sender_bytes.remove(&sender);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use gaggle_link::relay::RelayFrame;

    use super::*;

    fn drained(outbox: &Outbox) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        while outbox.drain(1, |frame| frames.push(frame.to_vec())) && outbox.lock().frames.front().is_some() {
        }
        frames
    }

    #[test]
    fn of_datagrams_the_oldest_is_dropped_and_words_never_are() {
        let outbox = Outbox::default();
        outbox.push(Outbound::Control(b"first"));
        let frame = |n: u8| [&[0][..], &[n; 999]].concat();
        let dropped: u64 = (0..200u8).map(|n| outbox.push(Outbound::Data(&frame(n)))).sum();
        outbox.push(Outbound::Control(b"last"));
        let frames = drained(&outbox);
        assert_eq!(dropped, 200 - (DATA_BYTES_MAX / 1_000) as u64);
        assert_eq!(frames.first().map(Vec::as_slice), Some(&b"first"[..]));
        assert_eq!(frames.last().map(Vec::as_slice), Some(&b"last"[..]));
        assert_eq!(frames[1][1], dropped as u8, "the newest are kept, in order");
        assert_eq!(frames.len() as u64, 202 - dropped);
    }

    #[test]
    fn whoever_sends_much_loses_its_own() {
        let outbox = Outbox::default();
        let frame = |peer, bytes: usize| {
            RelayFrame::Data { peer: PeerId::from_u128(peer), datagram: &[7; 1_000][..bytes] }.to_bytes()
        };
        let mut lost = 0;
        for nth in 0..10_000 {
            lost += outbox.push(Outbound::Data(&frame(1, 1_000)));
            if nth % 100 == 0 {
                lost += outbox.push(Outbound::Data(&frame(2, 100)));
            }
        }
        let little = frame(2, 100);
        assert_eq!(drained(&outbox).iter().filter(|frame| **frame == little).count(), 100);
        assert!(lost > 9_000 && outbox.lock().sender_bytes.is_empty() && outbox.lock().data_bytes == 0);
    }

    #[test]
    fn what_was_said_before_the_end_goes_out() {
        let outbox = Outbox::default();
        outbox.push(Outbound::Control(b"why"));
        outbox.push(Outbound::Close);
        outbox.push(Outbound::Control(b"too late"));
        let mut frames = Vec::new();
        assert!(!outbox.drain(100, |frame| frames.push(frame.to_vec())));
        assert_eq!(frames, [b"why"]);
    }

    #[test]
    fn who_reads_no_words_is_ended() {
        let outbox = Outbox::default();
        (0..=WORDS_MAX).for_each(|_| _ = outbox.push(Outbound::Control(b"hello")));
        assert!(!outbox.drain(usize::MAX, |_| {}));
    }
}
