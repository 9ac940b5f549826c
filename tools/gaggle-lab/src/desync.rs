//! Readable form of a desync bundle: both states, the inputs between, and what differs.
//!
//! Fields of gander have names; of other games bytes are listed. Called by `main.rs`. Absent:
//! detection of desyncs.

use std::path::PathBuf;

use clap::Args;
use gaggle_kit::{Frame, Slot, StateHasher};
use gaggle_timeline::{DesyncBundle, DesyncDiff};
use gander::Gander;

/// Most differences shown: a wrong state soon differs everywhere.
const LINES_MAX: usize = 40;

/// Shows states, inputs and differences of a desync bundle, of gander field by field, of any other
/// game byte by byte
#[derive(Args)]
pub(crate) struct Options {
    /// File with the bytes of `DesyncBundle::encode`
    file: PathBuf,
}

/// Runs the command and returns its report.
pub(crate) fn show(options: &Options) -> Result<String, String> {
    let name = options.file.display();
    let bytes = std::fs::read(&options.file).map_err(|error| format!("{name}: {error}"))?;
    describe(&bytes).map_err(|error| format!("{name}: {error}"))
}

fn describe(bytes: &[u8]) -> Result<String, String> {
    let bundle = DesyncBundle::decode(bytes).map_err(|error| error.to_string())?;
    let (of, apart) = match bundle.game_fingerprint {
        // The bytes can still be of another version.
        gander::FINGERPRINT => match bundle.diff::<Gander>() {
            Ok(view) => ("it is of gander".to_owned(), fields(&bundle, &view)),
            Err(error) => (format!("it says it is of gander, but {error}"), raw(&bundle)),
        },
        fingerprint => {
            let unknown = format!("it is of a game not known here (fingerprint {fingerprint:016x})");
            (format!("{unknown}: `DesyncBundle::diff` in its own code names the fields"), raw(&bundle))
        }
    };
    let lines = [vec![of], states(&bundle), apart, inputs(&bundle)];
    Ok(lines.concat().join("\n"))
}

fn states(bundle: &DesyncBundle) -> Vec<String> {
    let both = [("taken over, theirs", &bundle.remote), ("given up, ours  ", &bundle.local)];
    let line = |(whose, (frame, state)): (&str, &(Frame, Vec<u8>))| {
        let hash = StateHasher::of(state);
        format!("{whose}: {frame}, {} bytes, hash {hash:016x}", state.len())
    };
    both.into_iter().map(line).collect()
}

/// Differences by name of the field.
fn fields(bundle: &DesyncBundle, view: &DesyncDiff) -> Vec<String> {
    let (from, count) = (bundle.remote.0, view.differences.len());
    let head = format!("simulated from {from} to {}: {count} fields differ, theirs vs ours", view.frame);
    listed(head, view.differences.iter().cloned())
}

/// Differences by byte, without knowledge of the game.
fn raw(bundle: &DesyncBundle) -> Vec<String> {
    if bundle.remote.0 != bundle.local.0 {
        return vec!["they are of different frames: only the game can bring one to the other's".to_owned()];
    }
    let (theirs, ours) = (&bundle.remote.1, &bundle.local.1);
    let differ = theirs.iter().zip(ours).enumerate().filter(|(_, (theirs, ours))| theirs != ours);
    let bytes: Vec<String> =
        differ.map(|(at, (theirs, ours))| format!("byte {at}: {theirs:02x} vs {ours:02x}")).collect();
    listed(format!("{} bytes differ, theirs vs ours", bytes.len()), bytes.into_iter())
}

fn inputs(bundle: &DesyncBundle) -> Vec<String> {
    let size = bundle.input_bytes();
    let rows = bundle.rows().map(|(frame, present, bytes)| {
        let of = |slot: Slot| {
            let place = slot.index() * size..(slot.index() + 1) * size;
            let hex: String =
                bytes.get(place).unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{slot} {hex}")
        };
        format!("{frame}: {}", present.iter().map(of).collect::<Vec<_>>().join(", "))
    });
    let rows: Vec<String> = rows.collect();
    let head = format!("inputs of {} frames between, {size} bytes each, by slot", rows.len());
    listed(head, rows.into_iter())
}

fn listed(head: String, all: impl ExactSizeIterator<Item = String>) -> Vec<String> {
    let count = all.len();
    let mut lines = vec![head];
    lines.extend(all.take(LINES_MAX).map(|line| format!("  {line}")));
    if count > LINES_MAX {
        lines.push(format!("  and {} more", count - LINES_MAX));
    }
    lines
}

#[cfg(test)]
mod tests {
    use gaggle_kit::{Input, SlotSet, decode_state, encode_state};
    use gaggle_timeline::{Game, Inputs};
    use gander::{Pad, SEATS, Setup};

    use super::*;

    #[test]
    fn file_without_bundle_is_rejected_with_reason() {
        let error = describe(b"not a bundle at all").expect_err("no bundle");
        assert!(error.contains("not a desync bundle"), "{error}");
    }

    /// A bundle as in docs/protocol/8-files.md: equal inputs in every frame between two states.
    fn bundle(
        fingerprint: u64,
        input_bytes: u32,
        states: [(u32, &[u8]); 2],
        row: impl Fn(u32) -> Vec<u8>,
    ) -> Vec<u8> {
        let mut bytes = b"gaggleD\x01".to_vec();
        bytes.extend(fingerprint.to_le_bytes());
        let [first, last] = states.map(|(frame, _)| frame);
        bytes.push((row(first).len() / input_bytes as usize) as u8);
        bytes.extend(input_bytes.to_le_bytes());
        for (frame, state) in states {
            bytes.extend(frame.to_le_bytes());
            bytes.extend((state.len() as u64).to_le_bytes());
            bytes.extend(state);
        }
        bytes.extend((last - first).to_le_bytes());
        for frame in first + 1..=last {
            bytes.extend(0b11u64.to_le_bytes());
            bytes.extend(row(frame));
        }
        bytes.extend(StateHasher::of(&bytes).to_le_bytes());
        bytes
    }

    /// Two slots of two bytes each, from frame 10 to `ours`.
    fn small(ours: u32, fingerprint: u64) -> Vec<u8> {
        bundle(fingerprint, 2, [(10, &[1, 2, 3]), (ours, &[1, 9, 3])], |nth| vec![0xab, nth as u8, 0, 0xcd])
    }

    #[test]
    fn bundle_of_unknown_game_shows_frames_inputs_and_hashes() {
        let shown = describe(&small(12, 0xfeed)).expect("a bundle");
        for said in
            ["000000000000feed", "not known here", "3 bytes, hash", "ab0b", "ab0c", "00cd", "2 frames"]
        {
            assert!(shown.contains(said), "{said} is missing in\n{shown}");
        }
        let shown = describe(&small(10, 0xfeed)).expect("a bundle");
        assert!(shown.contains("1 bytes differ") && shown.contains("byte 1: 02 vs 09"), "{shown}");
        let shown = describe(&small(10, gander::FINGERPRINT)).expect("it is a bundle");
        assert!(shown.contains("says it is of gander, but"), "{shown}");
    }

    #[test]
    fn bundle_of_gander_shows_differing_fields_and_inputs() {
        let pads = |frame: u32| [Pad { flap: frame.is_multiple_of(9), ..Pad::default() }; SEATS];
        let mut game = Gander::new(Setup::default(), 7);
        let play = |game: &mut Gander, frames: std::ops::RangeInclusive<u32>| {
            for frame in frames {
                game.tick(&Inputs::confirmed(Frame::new(frame), &pads(frame), SlotSet::first(2)));
            }
        };
        play(&mut game, 1..=300);
        let theirs = encode_state(&game);
        // Flips a bit, as a bad memory cell would.
        let mut bytes = theirs.clone();
        let wrong = (0..bytes.len()).rev().find_map(|at| {
            bytes.clone_from(&theirs);
            bytes[at] ^= 1;
            decode_state::<Gander>(&bytes).ok()
        });
        let mut ours = wrong.expect("a bit that can be flipped");
        play(&mut ours, 301..=304);
        play(&mut game, 301..=304);
        let named = gaggle_kit::diff(&game, &ours);
        assert!(!named.is_empty(), "the states do not differ");
        let ours = encode_state(&ours);
        let row = |frame: u32| {
            let mut row = [0; SEATS];
            pads(frame).iter().zip(row.chunks_mut(1)).for_each(|(pad, out)| pad.write(out));
            row.to_vec()
        };
        let bundle = bundle(gander::FINGERPRINT, 1, [(300, &theirs), (304, &ours)], row);
        let shown = describe(&bundle).expect("a bundle");
        let count = format!("simulated from f300 to f304: {} fields differ, theirs vs ours", named.len());
        let hashes = [&theirs, &ours].map(|state| format!("{:016x}", StateHasher::of(state)));
        for said in
            ["it is of gander", &count, &named[0], &hashes[0], &hashes[1], "inputs of 4 frames between"]
        {
            assert!(shown.contains(said), "{said} is missing in\n{shown}");
        }
        let frames = (301..=304).map(|frame| format!("{}: slot 0 ", Frame::new(frame)));
        frames.for_each(|frame| assert!(shown.contains(&frame), "{frame} is missing in\n{shown}"));
    }
}
