//! Shows what a desync left: the fields in which a machine's state differed from the others'.

use std::path::PathBuf;

use clap::Args;
use gaggle_timeline::Bundle;
use gander::Gander;

/// Lines shown; a state that has gone wrong differs everywhere soon.
const LINES_MAX: usize = 40;

/// What a desync of gander left, field by field
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
    let view = bundle.look::<Gander>().map_err(|error| error.to_string())?;
    let (from, count) = (bundle.theirs.0, view.differences.len());
    let mut lines =
        vec![format!("simulated from {from} to {}: {count} fields differ, theirs vs ours", view.frame)];
    lines.extend(view.differences.iter().take(LINES_MAX).map(|line| format!("  {line}")));
    if count > LINES_MAX {
        lines.push(format!("  and {} more", count - LINES_MAX));
    }
    Ok(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_bundle_is_refused_with_a_reason() {
        let error = describe(b"not a bundle at all").expect_err("it is none");
        assert!(error.contains("no bundle"), "{error}");
    }
}
