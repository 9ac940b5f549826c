//! Cost and gain of compressing a state for a joiner, beside lz4_flex, which is too large for
//! pages.
//!
//! Called by `people.rs`. Absent: the session that sends it.

use std::hint::black_box;

use bench_report::{Report, Row, cpu_time, median};
use gaggle_kit::{compress, decompress};

use super::people::STATE_BYTES;
use crate::people::geese;

/// Bytes of a piece in which a state is sent.
const PIECE_BYTES: usize = 8 << 10;
/// Laps of each, of which the median counts.
const LAPS: usize = 31;
/// States in one lap.
const STATES: u32 = 40;

/// Size, and time to compress and decompress.
pub(super) fn rows(report: &mut Report) {
    let state: Vec<u8> = (0..STATE_BYTES as u32 / 4).flat_map(|nth| geese(nth).to_le_bytes()).collect();
    let ours: Vec<Vec<u8>> = state.chunks(PIECE_BYTES).map(packed).collect();
    let theirs: Vec<Vec<u8>> = state.chunks(PIECE_BYTES).map(lz4_flex::block::compress).collect();
    let bytes = |pieces: &[Vec<u8>]| pieces.iter().map(Vec::len).sum::<usize>() as f64 / 1_000.0;
    report.row(
        Row::new("100 KB of many things, packed", "kB")
            .gaggle(bytes(&ours))
            .other("lz4_flex", bytes(&theirs))
            .ratio_at_most(1.1),
    );
    let all = |each: &dyn Fn(&[u8])| state.chunks(PIECE_BYTES).for_each(each);
    let ours = || all(&|piece| drop(black_box(packed(piece))));
    let theirs = || all(&|piece| drop(black_box(lz4_flex::block::compress(piece))));
    let [ours, theirs] = in_turn([&ours, &theirs]);
    report.row(Row::new("packing them", "µs").gaggle(ours).other("lz4_flex", theirs).at_most(1_000.0));
    let pieces: Vec<Vec<u8>> = state.chunks(PIECE_BYTES).map(packed).collect();
    let all = |each: &dyn Fn(&Vec<u8>)| pieces.iter().for_each(each);
    let ours = || all(&|piece| drop(black_box(decompress(piece, PIECE_BYTES))));
    let theirs = || all(&|piece| drop(black_box(lz4_flex::block::decompress(piece, PIECE_BYTES))));
    let [ours, theirs] = in_turn([&ours, &theirs]);
    report.row(Row::new("unpacking them", "µs").gaggle(ours).other("lz4_flex", theirs).at_most(1_000.0));
}

fn packed(piece: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    compress(piece, &mut out);
    out
}

/// CPU time per state, in microseconds, of two functions that are run alternately.
fn in_turn(work: [&dyn Fn(); 2]) -> [f64; 2] {
    let mut laps = [Vec::new(), Vec::new()];
    for _ in 0..LAPS {
        for (work, laps) in work.iter().zip(&mut laps) {
            let began = cpu_time();
            (0..STATES).for_each(|_| work());
            laps.push((cpu_time() - began).as_secs_f64() * 1e6 / f64::from(STATES));
        }
    }
    laps.map(|laps| median(&laps))
}
