//! Step `protocol`: a Python reader, written from docs/protocol alone, decodes all vectors. Absent:
//! the format.

use std::process::Command;

use crate::context::{Context, Failure};
use crate::needs;

/// Path of the reader from the root.
const READER: &str = "tools/protocol-reader/check.py";

pub(super) fn run(context: &mut Context) -> Result<String, Failure> {
    let python = needs::program(context, "python3", "python3")?;
    let mut command = Command::new(python);
    command.arg(READER).current_dir(&context.root);
    let ended = context.run(command)?;
    if ended.success {
        return Ok(ended.lines.last().cloned().unwrap_or_default());
    }
    Err(Failure {
        summary: "vectors and docs/protocol differ".into(),
        details: ended.lines,
        remedy: "Correct the document or the reader; if the wire format has changed, `python3 \
                 tools/protocol-reader/check.py --write`, then review the difference."
            .into(),
    })
}
