//! Shows what a desync left: the fields in which a machine's state differed from the others', or, of a game that is not known
//! here, the inputs, frames, hashes and where the bytes part.

use std::path::PathBuf;

use clap::Args;
use gaggle_kit::StateHasher;
use gaggle_timeline::{Bundle, BundleView};
use gander::Gander;

/// Lines shown; a state that has gone wrong differs everywhere soon.
const LINES_MAX: usize = 40;

/// What a desync left: of gander field by field, of any other game its frames, inputs and hashes
#[derive(Args)]
pub(crate) struct Options {
    /// A file with the bytes of `Bundle::encode`
    file: PathBuf,
}

/// Runs the command.
pub(crate) fn show(options: &Options) -> Result<String, String> {
    let name = options.file.display();
    let bytes = std::fs::read(&options.file).map_err(|error| format!("{name}: {error}"))?;
    describe(&bytes).map_err(|error| format!("{name}: {error}"))
}

fn describe(bytes: &[u8]) -> Result<String, String> {
    let bundle = Bundle::decode(bytes).map_err(|error| error.to_string())?;
    let lines = match bundle.game_fingerprint {
        // Whatever it says of itself, it may still be a bundle of another version.
        gander::FINGERPRINT => match bundle.look::<Gander>() {
            Ok(view) => fields(&bundle, &view),
            Err(error) => raw(&bundle, &format!("it says it is of gander, but {error}")),
        },
        fingerprint => {
            let unknown = format!("it is of a game not known here (fingerprint {fingerprint:016x})");
            raw(&bundle, &format!("{unknown}: `Bundle::look` in that game's own code names the fields"))
        }
    };
    Ok(lines.join("\n"))
}

/// What differs, by name.
fn fields(bundle: &Bundle, view: &BundleView) -> Vec<String> {
    let (from, count) = (bundle.theirs.0, view.differences.len());
    let head = format!("simulated from {from} to {}: {count} fields differ, theirs vs ours", view.frame);
    listed(head, view.differences.iter().cloned())
}

/// What can be said without knowing the game.
fn raw(bundle: &Bundle, why: &str) -> Vec<String> {
    let mut lines = vec![why.to_owned()];
    for (whose, (frame, state)) in
        [("taken over, theirs", &bundle.theirs), ("given up, ours  ", &bundle.ours)]
    {
        let hash = StateHasher::of(state);
        lines.push(format!("{whose}: {frame}, {} bytes, hash {hash:016x}", state.len()));
    }
    let (theirs, ours) = (&bundle.theirs.1, &bundle.ours.1);
    if bundle.theirs.0 == bundle.ours.0 {
        let differ = theirs.iter().zip(ours).enumerate().filter(|(_, (theirs, ours))| theirs != ours);
        let bytes: Vec<String> =
            differ.map(|(at, (theirs, ours))| format!("byte {at}: {theirs:02x} vs {ours:02x}")).collect();
        lines.extend(listed(format!("{} bytes differ, theirs vs ours", bytes.len()), bytes.into_iter()));
    } else {
        lines.push("they are of different frames: only the game can bring one to the other's".to_owned());
    }
    let size = bundle.input_bytes();
    let inputs = bundle.rows().map(|(frame, present, bytes)| {
        let of = |slot: gaggle_kit::Slot| {
            let place = slot.index() * size..(slot.index() + 1) * size;
            let hex: String =
                bytes.get(place).unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{slot} {hex}")
        };
        format!("{frame}: {}", present.iter().map(of).collect::<Vec<_>>().join(", "))
    });
    let inputs: Vec<String> = inputs.collect();
    let head = format!("inputs of {} frames between, {size} bytes each, by slot", inputs.len());
    lines.extend(listed(head, inputs.into_iter()));
    lines
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
    use super::*;

    #[test]
    fn what_is_no_bundle_is_refused_with_a_reason() {
        let error = describe(b"not a bundle at all").expect_err("it is none");
        assert!(error.contains("no bundle"), "{error}");
    }

    /// A bundle as PROTOCOL.md has it: two slots of two bytes, from frame 10 to `ours`.
    fn bundle(ours: u32, fingerprint: u64) -> Vec<u8> {
        let mut bytes = b"gaggleD\x01".to_vec();
        bytes.extend(fingerprint.to_le_bytes());
        bytes.push(2);
        bytes.extend(2u32.to_le_bytes());
        for (frame, state) in [(10u32, [1, 2, 3]), (ours, [1, 9, 3])] {
            bytes.extend(frame.to_le_bytes());
            bytes.extend((state.len() as u64).to_le_bytes());
            bytes.extend(state);
        }
        bytes.extend((ours - 10).to_le_bytes());
        for nth in 11..=ours {
            bytes.extend(0b11u64.to_le_bytes());
            bytes.extend([0xab, nth as u8, 0, 0xcd]);
        }
        bytes.extend(StateHasher::of(&bytes).to_le_bytes());
        bytes
    }

    #[test]
    fn a_bundle_of_a_game_that_is_not_known_shows_frames_inputs_and_hashes() {
        let shown = describe(&bundle(12, 0xfeed)).expect("it is a bundle");
        for said in
            ["000000000000feed", "not known here", "3 bytes, hash", "ab0b", "ab0c", "00cd", "2 frames"]
        {
            assert!(shown.contains(said), "{said} is missing in\n{shown}");
        }
        let shown = describe(&bundle(10, 0xfeed)).expect("it is a bundle");
        assert!(shown.contains("1 bytes differ") && shown.contains("byte 1: 02 vs 09"), "{shown}");
        let shown = describe(&bundle(10, gander::FINGERPRINT)).expect("it is a bundle");
        assert!(shown.contains("says it is of gander, but"), "{shown}");
    }
}
