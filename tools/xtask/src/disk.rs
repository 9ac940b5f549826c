//! Check that a build fits on the disk, because a disk that fills up fails in confusing ways.
//!
//! `test` and `play` call it. Absent: what is built.

use std::path::Path;
use std::process::Command;

use crate::workspace;

const GB: u64 = 1_000_000_000;
/// Bytes needed by a build when most of it exists.
const ONCE_BUILT: u64 = 2 * GB;

/// Fails if the disk has no room for `needed` gigabytes of a first build. Free space that cannot be
/// determined counts as enough.
pub(crate) fn has_room_for(needed: u64, root: &Path) -> Result<(), String> {
    let target = workspace::target(root);
    let is_built = target.join("debug/deps").is_dir() && target.join("page").is_dir();
    let needed = if is_built { ONCE_BUILT } else { needed * GB };
    // The folder may not exist yet.
    let nearest = target.ancestors().find(|folder| folder.is_dir()).unwrap_or(root);
    match free(nearest) {
        Some(free) if free < needed => Err(too_full(nearest, free, needed)),
        _ => Ok(()),
    }
}

fn too_full(folder: &Path, free: u64, needed: u64) -> String {
    format!(
        "the disk of {} has {}.{} GB free and this builds about {} GB; make room, or set CARGO_TARGET_DIR to a folder on another disk",
        folder.display(),
        free / GB,
        free % GB * 10 / GB,
        needed / GB
    )
}

/// Free bytes of the disk that a folder is on.
fn free(folder: &Path) -> Option<u64> {
    let answer = Command::new("df").arg("-Pk").arg(folder).output().ok()?;
    free_in(std::str::from_utf8(&answer.stdout).ok()?)
}

/// Reads the output of POSIX `df -P -k`: a heading, then a line whose fourth word is in kilobytes.
fn free_in(table: &str) -> Option<u64> {
    let kilobytes: u64 = table.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn df_output_is_read_and_unreadable_output_is_accepted() {
        let table = "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/vda 263174212 11534336 83886080 13% /\n";
        assert_eq!(free_in(table), Some(83_886_080 * 1024));
        for unreadable in
            ["", "one line only", "a\nb c d e f", "heading\n/dev/vda 1 2 99999999999999999999 1% /"]
        {
            assert_eq!(free_in(unreadable), None, "{unreadable:?}");
        }
        assert!(free(Path::new("/")).is_some_and(|free| free > 0), "this disk has some room");
    }

    #[test]
    fn full_disk_is_reported_with_free_and_needed_space() {
        let words = too_full(Path::new("/small"), GB / 2, 12 * GB);
        assert!(
            words.starts_with("the disk of /small has 0.5 GB free and this builds about 12 GB"),
            "{words}"
        );
        assert!(!words.contains('\n'));
    }
}
