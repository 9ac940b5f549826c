//! Names of the server's settings without building it, from the guide's table, which the server's
//! tests compare with its own.
//!
//! `play` checks flags with it. Absent: values.

use std::path::Path;

#[path = "../../../shell/gaggle-server/src/config/arguments.rs"]
mod arguments;

use arguments::Name;

/// Path of the guide with the table.
const GUIDE: &str = "docs/guide/settings.md";

/// Whether the server has these flags; the error is one line.
pub(crate) fn check(root: &Path, flags: &[&str]) -> Result<(), String> {
    let guide = std::fs::read_to_string(root.join(GUIDE)).map_err(|error| format!("{GUIDE}: {error}"))?;
    let names: Vec<Name<'_>> = guide.lines().filter_map(row).collect();
    arguments::read(flags.iter().map(ToString::to_string), &names).map(|_| ())
}

/// Reads ``| `rooms_max` | `50000` | …``: a setting, and whether it is a switch.
fn row(line: &str) -> Option<Name<'_>> {
    let mut cells = line.strip_prefix("| `")?.split(" | ");
    let name = cells.next()?.strip_suffix('`')?;
    let is_switch = matches!(cells.next()?, "`true`" | "`false`");
    Some(Name { name, is_switch })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn flags_are_checked_against_guide() {
        let check = |flags: &[&str]| check(&workspace::root(), flags);
        assert_eq!(
            check(&["--listen", "127.0.0.1:1", "--relay", "--rate-limits", "false", "--rooms-max=3"]),
            Ok(())
        );
        assert_eq!(check(&["--config", "server.toml"]), Ok(()));
        let refused = |flags: &[&str]| check(flags).unwrap_err();
        assert_eq!(refused(&["--nonsense"]), "there is no setting `--nonsense`: see --help");
        assert_eq!(
            refused(&["--room-max", "3"]),
            "there is no setting `--room-max`: did you mean `--rooms-max`?"
        );
        assert_eq!(refused(&["--listen"]), "`--listen` needs a value");
    }
}
