//! Every kind of packet in PROTOCOL.md has a golden vector, and every vector is explained there.
//!
//! PROTOCOL.md lists the packets of a layer in a table with a column *Vector*, whose cells name one
//! or more files: `` `core/gaggle-link/vectors/heartbeat.hex` `` or, where that is clear, `` `heartbeat.hex` ``.
//! That the files named exist is for documents.rs to see.

use super::Finding;
use super::tree::Tree;

const PROTOCOL: &str = "PROTOCOL.md";

/// Whether the document and the vector files agree.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let text = tree.text(PROTOCOL).unwrap_or_default();
    let is_vector = |path: &str| path.contains("/vectors/");
    let vectors: Vec<&str> =
        tree.ending(".hex").map(|file| file.path.as_str()).filter(|path| is_vector(path)).collect();
    let mut findings = Vec::new();
    for (line, cell) in vector_cells(text) {
        if code_spans(cell).next().is_none() {
            findings.push(Finding::at(
                PROTOCOL,
                line,
                "this packet has no vector: write one and name it here",
            ));
        }
        let missing = code_spans(cell).filter(|name| !vectors.iter().any(|path| is_named(path, name)));
        findings
            .extend(missing.map(|name| Finding::at(PROTOCOL, line, format!("there is no vector `{name}`"))));
    }
    let unexplained = vectors
        .into_iter()
        .filter(|path| !text.lines().flat_map(code_spans).any(|name| is_named(path, name)));
    findings.extend(unexplained.map(|path| Finding::of_file(path, "PROTOCOL.md does not name this vector")));
    findings
}

fn is_named(path: &str, name: &str) -> bool {
    path == name || path.ends_with(&format!("/vectors/{name}"))
}

fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The cells of all columns headed *Vector* or *Vectors*, with their line numbers.
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
    fn a_table_and_its_files_agree() {
        let tree = Tree::of(&[
            ("PROTOCOL.md", TABLE),
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
            ("PROTOCOL.md", &table),
            ("core/gaggle-link/vectors/hello.hex", "01"),
            ("core/gaggle-link/vectors/hello_again.hex", "01"),
            ("core/gaggle-link/vectors/pong.hex", "04"),
        ]);
        let found = texts(&check(&tree));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("PROTOCOL.md:4: there is no vector"), "{found:?}");
        assert!(found[1].starts_with("PROTOCOL.md:5: this packet has no vector"), "{found:?}");
        assert!(
            found[2].starts_with("core/gaggle-link/vectors/pong.hex: PROTOCOL.md does not name"),
            "{found:?}"
        );
    }

    #[test]
    fn other_tables_are_left_alone() {
        assert_eq!(check(&Tree::of(&[("PROTOCOL.md", "| Field | Bits |\n|---|---|\n| kind | 8 |\n")])), []);
    }
}
