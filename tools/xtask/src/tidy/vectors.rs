//! Golden vectors and docs/protocol: each packet has a vector, each vector is named.
//!
//! A document lists the packets of a layer in a table with a column *Vector*, whose cells name
//! files by path or, where that is unique, by name. Called by `tidy::check`. Absent: bytes.

use super::Finding;
use super::tree::{File, Tree};

const FOLDER: &str = "docs/protocol/";
/// Bytes of one document.
const DOCUMENT_BYTES_MAX: usize = 14_000;

/// Finds differences between the documents and the vector files.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let documents: Vec<&File> = tree.ending(".md").filter(|file| file.path.starts_with(FOLDER)).collect();
    let is_vector = |path: &&str| path.contains("/vectors/") && !path.ends_with('/');
    let vectors: Vec<&str> = tree.files().map(|file| file.path.as_str()).filter(is_vector).collect();
    let mut findings = Vec::new();
    for File { path, text, .. } in &documents {
        for (line, cell) in vector_cells(text) {
            if code_spans(cell).next().is_none() {
                findings.push(Finding::at(
                    path,
                    line,
                    "this packet has no vector: write one and name it here",
                ));
            }
            let missing = code_spans(cell).filter(|name| !vectors.iter().any(|path| is_named(path, name)));
            findings
                .extend(missing.map(|name| Finding::at(path, line, format!("there is no vector `{name}`"))));
        }
        if text.len() > DOCUMENT_BYTES_MAX {
            let message = format!("{} bytes, at most {DOCUMENT_BYTES_MAX}: shorten it", text.len());
            findings.push(Finding::of_file(path, message));
        }
    }
    let is_named_in = |path: &str| {
        let mut names = documents.iter().flat_map(|document| document.text.lines().flat_map(code_spans));
        names.any(|name| is_named(path, name))
    };
    let unexplained = vectors.into_iter().filter(|path| !is_named_in(path));
    findings.extend(
        unexplained.map(|path| Finding::of_file(path, format!("no document in {FOLDER} names this vector"))),
    );
    findings
}

fn is_named(path: &str, name: &str) -> bool {
    path == name || path.ends_with(&format!("/vectors/{name}"))
}

fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Cells of all columns headed *Vector* or *Vectors*, with their line numbers.
fn vector_cells(text: &str) -> Vec<(usize, &str)> {
    let mut cells = Vec::new();
    let mut column = None;
    let mut in_table = false;
    for (index, line) in text.lines().enumerate() {
        let Some(row) = line.trim().strip_prefix('|') else {
            (in_table, column) = (false, None);
            continue;
        };
        let row: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        let is_rule = row.iter().all(|cell| cell.trim_matches([':', '-']).is_empty());
        if !in_table {
            in_table = true;
            column = row.iter().position(|cell| matches!(*cell, "Vector" | "Vectors"));
        } else if let Some(column) = column.filter(|_| !is_rule) {
            cells.push((index + 1, row.get(column).copied().unwrap_or_default()));
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;

    const TABLE: &str = "\
| Kind | Name | Vectors |
|-----:|------|--------|
| 1 | hello | `hello.hex`, `hello_again.hex` |
| 2 | bye | `core/gaggle-link/vectors/bye.hex` |
";

    #[test]
    fn table_and_its_files_agree() {
        let tree = Tree::of(&[
            ("docs/protocol/1-link.md", TABLE),
            ("core/gaggle-link/vectors/hello.hex", "01"),
            ("core/gaggle-link/vectors/hello_again.hex", "01"),
            ("core/gaggle-link/vectors/bye.hex", "02"),
        ]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn packet_without_vector_and_vector_without_packet_are_found() {
        let table = format!("{TABLE}| 3 | ping | none |\n");
        let tree = Tree::of(&[
            ("docs/protocol/1-link.md", &table),
            ("core/gaggle-link/vectors/hello.hex", "01"),
            ("core/gaggle-link/vectors/hello_again.hex", "01"),
            ("core/gaggle-link/vectors/pong.hex", "04"),
        ]);
        let found = texts(&check(&tree));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("docs/protocol/1-link.md:4: there is no vector"), "{found:?}");
        assert!(found[1].starts_with("docs/protocol/1-link.md:5: this packet has no vector"), "{found:?}");
        assert!(
            found[2].starts_with("core/gaggle-link/vectors/pong.hex: no document in docs/protocol/ names"),
            "{found:?}"
        );
    }

    #[test]
    fn document_over_its_size_is_found() {
        let long = "word ".repeat(DOCUMENT_BYTES_MAX / 5 + 1);
        let found = texts(&check(&Tree::of(&[("docs/protocol/3-timeline.md", &long), ("docs/a.md", &long)])));
        assert_eq!(found, ["docs/protocol/3-timeline.md: 14005 bytes, at most 14000: shorten it"]);
    }

    #[test]
    fn other_tables_are_ignored() {
        assert_eq!(
            check(&Tree::of(&[("docs/protocol/1-link.md", "| Field | Bits |\n|---|---|\n| kind | 8 |\n")])),
            []
        );
    }
}
