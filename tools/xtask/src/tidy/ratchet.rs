//! Counts of findings per check and crate that may only fall, and their table.
//!
//! Called by [`super::check`] with the findings of counted checks, and by `cargo xtask ratchet`,
//! which writes the table. Absent: what the checks look for.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Finding;

/// Path of the table from the root.
pub(crate) const PATH: &str = "tools/xtask/ratchet.toml";

/// Findings shown where a count rose.
const SHOWN: usize = 12;

const HEADER: &str =
    "# Findings left per check and folder. `cargo xtask ratchet` lowers them; no number may rise.\n";

/// Counts by check, then by crate folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ratchet(BTreeMap<String, BTreeMap<String, usize>>);

impl Ratchet {
    /// Reads the table: `[check]` headings, `"folder" = count` lines.
    pub(crate) fn parse(text: &str) -> Result<Ratchet, String> {
        let mut counts: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        let mut check = None;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            let wrong = || format!("line {} of {PATH} is not understood: {line}", number + 1);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                check = Some(name.to_string());
                continue;
            }
            let (folder, count) = line.split_once('=').ok_or_else(wrong)?;
            let count = count.trim().parse().map_err(|_| wrong())?;
            let folder = folder.trim().trim_matches('"').to_string();
            counts.entry(check.clone().ok_or_else(wrong)?).or_default().insert(folder, count);
        }
        Ok(Ratchet(counts))
    }

    /// Counts of these findings by check.
    pub(crate) fn of(found: &[(&str, Vec<Finding>)]) -> Ratchet {
        let mut counts: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        for (check, findings) in found {
            for finding in findings {
                let folder = folder(&finding.path);
                *counts.entry((*check).to_string()).or_default().entry(folder).or_default() += 1;
            }
        }
        Ratchet(counts)
    }

    fn count(&self, check: &str, folder: &str) -> usize {
        self.0.get(check).and_then(|folders| folders.get(folder)).copied().unwrap_or(0)
    }

    /// Text of the table.
    pub(crate) fn text(&self) -> String {
        let mut text = HEADER.to_string();
        for (check, folders) in &self.0 {
            let _ = writeln!(text, "\n[{check}]");
            for (folder, count) in folders {
                let _ = writeln!(text, "{folder:?} = {count}");
            }
        }
        text
    }

    /// Counts above those of `before`, as text.
    pub(crate) fn risen_from(&self, before: &Ratchet) -> Vec<String> {
        let mut risen = Vec::new();
        for (check, folders) in &self.0 {
            for (folder, count) in folders {
                let allowed = before.count(check, folder);
                if *count > allowed {
                    risen.push(format!("{check} of {folder}: {count}, at most {allowed}"));
                }
            }
        }
        risen
    }
}

/// Findings where a count is above the recorded one.
pub(super) fn check(recorded: &Ratchet, found: &[(&str, Vec<Finding>)]) -> Vec<Finding> {
    let counts = Ratchet::of(found);
    let mut wrong = Vec::new();
    for (check, findings) in found {
        let empty = BTreeMap::new();
        let now = counts.0.get(*check).unwrap_or(&empty);
        for (folder, &count) in now {
            let allowed = recorded.count(check, folder);
            if count > allowed {
                let message = format!("{count} findings of `{check}`, at most {allowed}; some of them:");
                wrong.push(Finding::of_file(folder, message));
                let here = findings.iter().filter(|finding| self::folder(&finding.path) == *folder);
                wrong.extend(here.take(SHOWN).cloned());
            }
        }
    }
    wrong
}

/// Crate folder of a file, or the top of the tree.
fn folder(path: &str) -> String {
    let mut parts = path.split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(top), Some(name), Some(_)) => format!("{top}/{name}"),
        (Some(top), Some(_), None) => top.to_string(),
        _ => ".".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;

    fn found(paths: &[&str]) -> Vec<(&'static str, Vec<Finding>)> {
        vec![("words", paths.iter().map(|path| Finding::at(path, 1, "a word")).collect())]
    }

    #[test]
    fn table_survives_writing_and_reading() {
        let counts = Ratchet::of(&found(&["core/a/src/lib.rs", "core/a/src/b.rs", "docs/X.md", "README.md"]));
        assert_eq!(Ratchet::parse(&counts.text()), Ok(counts.clone()));
        assert!(
            counts.text().contains("[words]\n\".\" = 1\n\"core/a\" = 2\n\"docs\" = 1\n"),
            "{}",
            counts.text()
        );
        assert!(Ratchet::parse("\"core/a\" = 2").is_err());
        assert!(Ratchet::parse("[words]\ncore/a: 2").is_err());
    }

    #[test]
    fn risen_count_shows_its_findings_and_fallen_one_passes() {
        let recorded = Ratchet::of(&found(&["core/a/src/lib.rs", "core/b/src/lib.rs"]));
        assert_eq!(check(&recorded, &found(&["core/a/src/lib.rs", "core/b/src/lib.rs"])), []);
        let rose =
            texts(&check(&recorded, &found(&["core/a/src/lib.rs", "core/a/src/x.rs", "core/b/src/lib.rs"])));
        assert_eq!(rose.len(), 3, "{rose:?}");
        assert!(rose[0].starts_with("core/a: 2 findings of `words`, at most 1"), "{rose:?}");
        assert_eq!(check(&recorded, &found(&["core/a/src/lib.rs"])), []);
    }

    #[test]
    fn count_that_rose_is_not_recorded() {
        let before = Ratchet::of(&found(&["core/a/src/lib.rs"]));
        let after = Ratchet::of(&found(&["core/a/src/lib.rs", "core/a/src/x.rs"]));
        assert_eq!(after.risen_from(&before), ["words of core/a: 2, at most 1"]);
        assert_eq!(before.risen_from(&after), [""; 0]);
    }
}
