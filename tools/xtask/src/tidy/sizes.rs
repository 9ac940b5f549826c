//! Limits of the size of each document: a reader has ten minutes.
//!
//! Called by `tidy::check`. Absent: what documents say, whether their links lead anywhere.

use super::Finding;
use super::tree::Tree;

/// Paths and the most bytes of a document there; `*` matches one name, and the first row that
/// matches counts.
const SIZES: [(&str, usize); 14] = [
    ("README.md", 8_192),
    ("CONTRIBUTING.md", 6_144),
    ("SECURITY.md", 2_048),
    ("CHANGELOG.md", 4_096),
    ("docs/README.md", 2_048),
    ("docs/architecture.md", 12_288),
    ("docs/benchmarks.md", 6_144),
    ("docs/threat-model.md", 14_336),
    ("docs/guide/*", 8_192),
    ("docs/protocol/*", 14_336),
    ("docs/decisions/*", 16_384),
    ("examples/README.md", 4_096),
    ("*/*/README.md", 3_072),
    ("docs/*", 8_192),
];

/// Finds documents larger than their row allows.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.ending(".md").filter_map(|file| over(&file.path, file.text.len())).collect()
}

fn over(path: &str, bytes: usize) -> Option<Finding> {
    let (_, most) = SIZES.iter().find(|(pattern, _)| fits(path, pattern))?;
    let message = format!("{bytes} bytes, at most {most}: say less, or move a part to its own page");
    (bytes > *most).then(|| Finding::of_file(path, message))
}

fn fits(path: &str, pattern: &str) -> bool {
    let (parts, wanted): (Vec<&str>, Vec<&str>) = (path.split('/').collect(), pattern.split('/').collect());
    parts.len() == wanted.len()
        && parts.iter().zip(&wanted).all(|(part, wanted)| *wanted == "*" || part == wanted)
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;

    fn found(path: &str, bytes: usize) -> Vec<String> {
        let text = "x".repeat(bytes);
        texts(&check(&Tree::of(&[(path, &text)])))
    }

    #[test]
    fn document_over_its_size_is_found() {
        for (path, most) in
            [("SECURITY.md", 2_048), ("docs/guide/rooms.md", 8_192), ("core/gaggle-kit/README.md", 3_072)]
        {
            assert_eq!(found(path, most), [""; 0], "{path}");
            let finding = format!(
                "{path}: {} bytes, at most {most}: say less, or move a part to its own page",
                most + 1
            );
            assert_eq!(found(path, most + 1), [finding]);
        }
    }

    #[test]
    fn document_without_row_is_free() {
        assert_eq!(found("shell/gaggle-browser/src/run_page.md", 20_000), [""; 0]);
    }
}
