//! Bounds on the data that SCTP must buffer and process for the other side.
//!
//! `gate.rs` calls it before SCTP, which has no bounds of its own: it keeps every fragment until
//! its message is complete, keeps everything after a gap, and scans all of it for every chunk.
//! Absent: parsing (`sctp.rs`).

use crate::sctp::{self, Chunk, Ends};

/// Most chunks ahead of the last acknowledged one: a quarter of a second of the datagrams of a full
/// room. A sender that exceeds it before giving up a loss loses the excess too.
const AHEAD_MAX: i32 = 1_024;

/// Most fragments of a message: browsers split the longest one into two or three.
const PIECES_MAX: u32 = 8;
/// Chunks remembered after the first fragment: more than can be ahead.
const REMEMBERED: usize = 2_048;

/// What to do with a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    /// Treat it as lost on the network.
    Drop,
    /// A protocol violation: end the channel.
    Broken,
}

/// A received chunk: its number, and its place in its message.
type Seen = (u32, Ends);

/// State about the other side's data.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    /// Highest acknowledged number; before the first acknowledgement, the number before the first
    /// data.
    acknowledged: Option<u32>,
    /// Latest chunks, from the first fragment on.
    chunks: Option<Box<[Option<Seen>]>>,
}

impl Intake {
    /// Notes what an outgoing packet acknowledges.
    pub(crate) fn sent(&mut self, packet: &[u8]) {
        self.acknowledged = sctp::acknowledged(packet).or(self.acknowledged);
    }

    /// Judges a received packet.
    pub(crate) fn judge(&mut self, packet: &[u8]) -> Verdict {
        let (mut seen, mut verdict) = ([0_u64; 4], Verdict::Pass);
        for (kind, chunk) in sctp::chunks(packet) {
            match sctp::read(kind, chunk) {
                Chunk::Broken => return Verdict::Broken,
                Chunk::Data { number, ends } => {
                    let from = *self.acknowledged.get_or_insert(number.wrapping_sub(1));
                    if number.wrapping_sub(from).cast_signed() > AHEAD_MAX {
                        verdict = Verdict::Drop;
                    } else if !self.fits(number, ends) {
                        return Verdict::Broken;
                    }
                }
                Chunk::Other => {
                    let (word, bit) = (usize::from(kind / 64), 1 << (kind % 64));
                    if seen[word] & bit != 0 {
                        verdict = Verdict::Drop;
                    }
                    seen[word] |= bit;
                }
            }
        }
        verdict
    }

    /// Whether a chunk fits its neighbors: the last fragment of a message, and only that, is
    /// followed by the first of another. So every acknowledged message is complete, and SCTP
    /// buffers only chunks ahead.
    fn fits(&mut self, number: u32, ends: Ends) -> bool {
        if self.chunks.is_none() && ends.is_first && ends.is_last {
            return true;
        }
        let chunks = self.chunks.get_or_insert_with(|| vec![None; REMEMBERED].into_boxed_slice());
        let slot = &mut chunks[number as usize % REMEMBERED];
        match slot {
            // A repetition must be identical.
            Some((known, before)) if *known == number => return *before == ends,
            // A chunk older than the record was received long ago.
            Some((known, _)) if number.wrapping_sub(*known).cast_signed() < 0 => return true,
            _ => *slot = Some((number, ends)),
        }
        let at = |number: u32| chunks[number as usize % REMEMBERED].filter(|(known, _)| *known == number);
        let is_after = at(number.wrapping_sub(1)).is_none_or(|(_, before)| before.is_last == ends.is_first);
        let is_before = at(number.wrapping_add(1)).is_none_or(|(_, after)| ends.is_last == after.is_first);
        // Number of consecutive fragments of its message before and after it.
        let back = (0..PIECES_MAX)
            .take_while(|nth| at(number.wrapping_sub(*nth)).is_some_and(|(_, ends)| !ends.is_first));
        let on = (0..PIECES_MAX)
            .take_while(|nth| at(number.wrapping_add(*nth)).is_some_and(|(_, ends)| !ends.is_last));
        is_after && is_before && back.count() + on.count() < PIECES_MAX as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sctp::tests::{ack, data, packet, piece};

    #[test]
    fn data_far_ahead_is_dropped_until_gap_is_given_up() {
        let numbered = |number: u32| {
            let mut body = data(0, b"hello");
            body[..4].copy_from_slice(&number.to_be_bytes());
            packet(&[(0, &body)])
        };
        // Chunk numbers start anywhere, and wrap.
        let first = u32::MAX - 3;
        let mut intake = Intake::default();
        assert_eq!(intake.judge(&numbered(first)), Verdict::Pass);
        assert_eq!(intake.judge(&numbered(first.wrapping_sub(2))), Verdict::Pass, "it arrived late");
        assert_eq!(intake.judge(&numbered(first.wrapping_add(1_023))), Verdict::Pass);
        assert_eq!(intake.judge(&numbered(first.wrapping_add(1_024))), Verdict::Drop);
        let mut body = ack(0, 1);
        body[..4].copy_from_slice(&first.to_be_bytes());
        intake.sent(&packet(&[(3, &body)]));
        assert_eq!(intake.judge(&numbered(first.wrapping_add(1_024))), Verdict::Pass);
        assert_eq!(intake.judge(&numbered(first.wrapping_add(1_025))), Verdict::Drop);
    }

    #[test]
    fn ordered_or_empty_messages_are_violations() {
        let judge = |packet: &[u8]| Intake::default().judge(packet);
        assert_eq!(judge(&packet(&[(0, &data(0, b"a")), (3, &ack(9, 2))])), Verdict::Pass);
        assert_eq!(judge(&packet(&[(0, &data(0, b""))])), Verdict::Broken);
        assert_eq!(judge(&packet(&[(0, b"cut")])), Verdict::Broken);
        for flags in [0b000, 0b001, 0b010, 0b011] {
            assert_eq!(judge(&piece(flags, &data(0, b"a"))), Verdict::Broken, "{flags:b}");
        }
        assert_eq!(judge(&piece(0b1111, &data(0, b"a"))), Verdict::Pass, "requests an answer at once");
        for kind in [3, 4, 10, 130, 192] {
            let body = if kind == 3 { ack(9, 0) } else { vec![0; 8] };
            assert_eq!(judge(&packet(&[(kind, &body)])), Verdict::Pass, "{kind}");
            assert_eq!(judge(&packet(&[(kind, &body), (kind, &body)])), Verdict::Drop, "{kind}");
        }
    }

    #[test]
    fn messages_may_have_few_matching_fragments() {
        const WHOLE: u8 = 0b111;
        const FIRST: u8 = 0b110;
        const MIDDLE: u8 = 0b100;
        const LAST: u8 = 0b101;
        let numbered = |number: u32, flags: u8| {
            let mut body = data(0, b"hello");
            body[..4].copy_from_slice(&number.to_be_bytes());
            piece(flags, &body)
        };
        let check = |chunks: &[(u32, u8)], expected: Verdict| {
            for first in [1_000, u32::MAX - 1] {
                let mut intake = Intake::default();
                let mut verdicts = chunks
                    .iter()
                    .map(|(nth, flags)| intake.judge(&numbered(first.wrapping_add(*nth), *flags)));
                let verdict = verdicts.find(|verdict| *verdict != Verdict::Pass).unwrap_or(Verdict::Pass);
                assert_eq!(verdict, expected, "{chunks:?}");
            }
        };
        check(&[(0, FIRST), (1, MIDDLE), (2, LAST), (3, WHOLE), (4, FIRST), (5, LAST)], Verdict::Pass);
        check(&[(2, LAST), (0, FIRST), (0, FIRST), (3, WHOLE), (1, MIDDLE)], Verdict::Pass);
        for never_whole in [
            &[(0, FIRST), (1, FIRST)][..],
            &[(1, FIRST), (0, FIRST)],
            &[(0, FIRST), (1, WHOLE)],
            &[(0, FIRST), (1, LAST), (2, LAST)],
            &[(0, FIRST), (1, LAST), (2, MIDDLE)],
            &[(0, FIRST), (1, LAST), (2, WHOLE), (3, LAST)],
            &[(0, FIRST), (1, LAST), (2, WHOLE), (2, FIRST)],
        ] {
            check(never_whole, Verdict::Broken);
        }
        let long = |pieces: u32| {
            let middles = (1..pieces - 1).map(|nth| (nth, MIDDLE));
            [(0, FIRST)].into_iter().chain(middles).chain([(pieces - 1, LAST)]).collect::<Vec<_>>()
        };
        check(&long(7), Verdict::Pass);
        check(&long(10), Verdict::Broken);
        let backwards: Vec<_> = long(12).into_iter().rev().collect();
        check(&backwards, Verdict::Broken);
    }

    #[test]
    fn acks_must_name_everything_once() {
        let judge = |gaps: &[(u16, u16)]| {
            let mut body = vec![0, 0, 0, 9, 0, 1, 0, 0, 0, gaps.len() as u8, 0, 0];
            gaps.iter().for_each(|(from, to)| body.extend([from.to_be_bytes(), to.to_be_bytes()].concat()));
            Intake::default().judge(&packet(&[(3, &body)]))
        };
        assert_eq!(judge(&[(2, 2), (4, 9), (11, 60_000)]), Verdict::Pass);
        for twice in [&[(2, 5), (5, 6)][..], &[(2, 9), (3, 4)], &[(7, 8), (2, 3)], &[(5, 4)], &[(0, 4)]] {
            assert_eq!(judge(twice), Verdict::Broken, "{twice:?}");
        }
    }
}
