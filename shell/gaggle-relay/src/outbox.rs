//! What waits to go out over one socket: bounded, and of datagrams the oldest goes first when it is full.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::machine::Out;

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
    frames: VecDeque<(bool, Vec<u8>)>,
    data_bytes: usize,
    words: usize,
    ended: bool,
    spare: Vec<Vec<u8>>,
}

impl Outbox {
    /// Takes over what goes out. How many datagrams were dropped for it.
    pub(crate) fn push(&self, out: Out<'_>) -> u64 {
        let mut state = self.lock();
        if state.ended {
            return 0;
        }
        let dropped = match out {
            Out::Data(bytes) => state.push_data(bytes),
            Out::Word(bytes) => {
                state.words += 1;
                state.ended = state.words > WORDS_MAX;
                state.frames.push_back((false, bytes.to_vec()));
                0
            }
            Out::End => {
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

    /// Hands over what waits, at most so many bytes but one frame at least. False when the connection is to end after it.
    pub(crate) fn drain(&self, bytes_max: usize, mut take: impl FnMut(&[u8])) -> bool {
        let mut state = self.lock();
        let mut bytes = 0;
        while bytes < bytes_max {
            let Some((is_data, frame)) = state.frames.pop_front() else { return !state.ended };
            if is_data {
                state.data_bytes -= frame.len();
            } else {
                state.words -= 1;
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
            let Some(oldest) = self.frames.iter().position(|(is_data, _)| *is_data) else { break };
            let (_, frame) = self.frames.remove(oldest).expect("it was just found");
            self.data_bytes -= frame.len();
            self.spare.push(frame);
            dropped += 1;
        }
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.clear();
        frame.extend_from_slice(bytes);
        self.data_bytes += frame.len();
        self.frames.push_back((true, frame));
        dropped
    }
}

#[cfg(test)]
mod tests {
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
        outbox.push(Out::Word(b"first"));
        let dropped: u64 = (0..200u8).map(|n| outbox.push(Out::Data(&[n; 1_000]))).sum();
        outbox.push(Out::Word(b"last"));
        let frames = drained(&outbox);
        assert_eq!(dropped, 200 - (DATA_BYTES_MAX / 1_000) as u64);
        assert_eq!(frames.first().map(Vec::as_slice), Some(&b"first"[..]));
        assert_eq!(frames.last().map(Vec::as_slice), Some(&b"last"[..]));
        assert_eq!(frames[1][0], dropped as u8, "the newest are kept, in order");
        assert_eq!(frames.len() as u64, 202 - dropped);
    }

    #[test]
    fn what_was_said_before_the_end_goes_out() {
        let outbox = Outbox::default();
        outbox.push(Out::Word(b"why"));
        outbox.push(Out::End);
        outbox.push(Out::Word(b"too late"));
        let mut frames = Vec::new();
        assert!(!outbox.drain(100, |frame| frames.push(frame.to_vec())));
        assert_eq!(frames, [b"why"]);
    }

    #[test]
    fn who_reads_no_words_is_ended() {
        let outbox = Outbox::default();
        (0..=WORDS_MAX).for_each(|_| _ = outbox.push(Out::Word(b"hello")));
        assert!(!outbox.drain(usize::MAX, |_| {}));
    }
}
