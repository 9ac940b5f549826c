//! Every kind of packet in PROTOCOL.md has a golden vector, and every vector belongs to a kind.
//!
//! PROTOCOL.md lists the packet kinds of each layer in a table with a column *Vector*. Its cells name
//! the file as `` `core/gaggle-link/vectors/heartbeat.hex` `` or, when the layer's crate is clear from
//! the table, as `` `heartbeat.hex` ``.

use super::Finding;
use super::tree::Tree;

const PROTOCOL: &str = "PROTOCOL.md";

/// Whether tables and vector files agree.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let text = tree.text(PROTOCOL).unwrap_or_default();
    let vectors: Vec<&str> = tree
        .ending(".hex")
        .map(|file| file.path.as_str())
        .filter(|path| path.contains("/vectors/"))
        .collect();
    let mut findings = Vec::new();
    let mut named = Vec::new();
    for (line, cell) in vector_cells(text) {
        let name = cell.trim_matches('`');
        let found =
            vectors.iter().filter(|path| **path == name || path.ends_with(&format!("/vectors/{name}")));
        let before = named.len();
        named.extend(found.copied());
        if named.len() == before {
            let message = match name {
                "" => "this packet kind has no vector: write one and name it here".to_string(),
                name => format!("there is no vector `{name}`"),
            };
            findings.push(Finding::at(PROTOCOL, line, message));
        }
    }
    let nameless = vectors.into_iter().filter(|path| !named.contains(path));
    findings.extend(
        nameless
            .map(|path| Finding::of_file(path, "no table of packet kinds in PROTOCOL.md names this vector")),
    );
    findings
}

/// The cells of all columns headed *Vector*, with their line numbers.
fn vector_cells(text: &str) -> Vec<(usize, &str)> {
    let mut cells = Vec::new();
    let mut column = None;
    let mut in_table = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let Some(row) = line.strip_prefix('|') else {
            (in_table, column) = (false, None);
            continue;
        };
        let row: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        if !in_table {
            in_table = true;
            column = row.iter().position(|cell| cell.eq_ignore_ascii_case("vector"));
        } else if let Some(column) =
            column.filter(|_| !row.iter().all(|cell| cell.trim_matches([':', '-']).is_empty()))
        {
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
| Kind | Name | Vector |
|-----:|------|--------|
| 1 | hello | `hello.hex` |
| 2 | bye | `core/gaggle-link/vectors/bye.hex` |
";

    #[test]
    fn a_table_and_its_files_agree() {
        let tree = Tree::of(&[
            ("PROTOCOL.md", TABLE),
            ("core/gaggle-link/vectors/hello.hex", "01"),
            ("core/gaggle-link/vectors/bye.hex", "02"),
        ]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn a_kind_without_vector_and_a_vector_without_kind_are_found() {
        let table = format!("{TABLE}| 3 | ping | |\n");
        let tree = Tree::of(&[
            ("PROTOCOL.md", &table),
            ("core/gaggle-link/vectors/hello.hex", "01"),
            ("core/gaggle-link/vectors/pong.hex", "04"),
        ]);
        let found = texts(&check(&tree));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("PROTOCOL.md:4: there is no vector"), "{found:?}");
        assert!(found[1].starts_with("PROTOCOL.md:5: this packet kind has no vector"), "{found:?}");
        assert!(found[2].starts_with("core/gaggle-link/vectors/pong.hex: no table"), "{found:?}");
    }

    #[test]
    fn other_tables_are_left_alone() {
        assert_eq!(check(&Tree::of(&[("PROTOCOL.md", "| Field | Bits |\n|---|---|\n| kind | 8 |\n")])), []);
    }
}
