//! Parts: fields of structs and who sees them, files per type, lines per file.
//!
//! Called by `tidy::counted`. Absent: which parts there are.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{File, Tree};
use super::{Finding, code};

/// Fields of a struct; exempt are settings, counters and wire records.
const FIELDS_MAX: usize = 20;
/// Files with `impl` blocks of one type.
const IMPL_FILES_MAX: usize = 3;
/// Lines of a file before its tests.
const LINES_MAX: usize = 500;
/// Endings of type names without a limit of fields.
const EXEMPT: [&str; 4] = ["Config", "Stats", "Options", "Rules"];
/// Types whose fields every part uses: settings, time, randomness and queues of a session.
const CONTEXT: &str = "Cx";

/// Finds structs with too many fields, types in too many files, files that are too long.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let sources = code::sources(tree);
    let mut findings: Vec<Finding> = sources.iter().flat_map(|file| wide_structs(file)).collect();
    findings.extend(sources.iter().filter_map(|file| long_file(file)));
    findings.extend(spread_types(&sources));
    findings
}

/// Top folders whose parts hide their fields.
const HIDING: [&str; 3] = ["core/", "shell/", "apps/"];

/// Finds parts with visible fields: a struct whose methods change it, and whose fields others can
/// change past them. Records, which have no such methods, may show all they have.
pub(super) fn check_fields(tree: &Tree) -> Vec<Finding> {
    let sources = code::sources(tree).into_iter();
    let counted = sources.filter(|file| HIDING.iter().any(|top| file.path.starts_with(top)));
    counted.flat_map(open_parts).collect()
}

fn open_parts(file: &File) -> Vec<Finding> {
    let mut changing: BTreeSet<&str> = BTreeSet::new();
    let mut of = None;
    for (_, line) in code::before_tests(file) {
        if line.starts_with("impl") {
            of = implemented(line);
        } else if line.contains("fn ") && line.contains("&mut self") {
            changing.extend(of);
        }
    }
    let is_part = |name: &str| name != CONTEXT && changing.contains(name);
    let structs = structs(file).into_iter().filter(|(_, name, _)| is_part(name));
    structs
        .filter_map(|(line, name, fields)| {
            let count = fields.iter().filter(|field| field.starts_with("pub")).count();
            let message =
                format!("`{name}` has methods that change it and {count} visible fields: hide them");
            (count > 0).then(|| Finding::at(&file.path, line, message))
        })
        .collect()
}

/// Structs with named fields, settings and counters left out: line, name, lines of fields.
fn structs(file: &File) -> Vec<(usize, &str, Vec<&str>)> {
    let mut all: Vec<(usize, &str, Vec<&str>)> = Vec::new();
    let mut is_open = false;
    for (number, line) in code::before_tests(file) {
        if line.starts_with('}') {
            is_open = false;
        } else if let Some(name) = struct_name(line) {
            is_open = !EXEMPT.iter().any(|ending| name.ends_with(ending));
            if is_open {
                all.push((number, name, Vec::new()));
            }
        } else if is_open
            && is_field(line)
            && let Some((_, _, fields)) = all.last_mut()
        {
            fields.push(line.trim());
        }
    }
    all
}

fn wide_structs(file: &File) -> Vec<Finding> {
    let wide = structs(file).into_iter().filter(|(_, _, fields)| fields.len() > FIELDS_MAX);
    wide.map(|(line, name, fields)| {
        let count = fields.len();
        let message =
            format!("`{name}` has {count} fields, at most {FIELDS_MAX}: find the parts it is made of");
        Finding::at(&file.path, line, message)
    })
    .collect()
}

/// Name of a struct with named fields that begins at the left margin.
fn struct_name(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub(super) ")).unwrap_or(line);
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let rest = line.strip_prefix("struct ")?;
    rest.ends_with('{').then(|| rest.split(['<', ' ', '{']).next()).flatten()
}

/// Whether a line is a field, one level in as rustfmt puts it.
fn is_field(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("    ") else { return false };
    !rest.starts_with([' ', '/', '#', '}']) && rest.contains(':')
}

fn long_file(file: &File) -> Option<Finding> {
    let lines = code::before_tests(file).count();
    let message = format!("{lines} lines without tests, at most {LINES_MAX}");
    (lines > LINES_MAX).then(|| Finding::of_file(&file.path, message))
}

fn spread_types(sources: &[&File]) -> Vec<Finding> {
    let mut files: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for file in sources {
        let krate = file.path.split("/src/").next().unwrap_or_default();
        for name in code::before_tests(file).filter_map(|(_, line)| implemented(line)) {
            files.entry((krate, name)).or_default().insert(&file.path);
        }
    }
    let spread = files.into_iter().filter(|(_, files)| files.len() > IMPL_FILES_MAX);
    spread
        .map(|((krate, name), files)| {
            let message =
                format!("`{name}` has `impl` blocks in {} files, at most {IMPL_FILES_MAX}", files.len());
            Finding::of_file(&format!("{krate}/src"), message)
        })
        .collect()
}

/// Type of an inherent `impl` block at the left margin.
fn implemented(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    if rest.contains(" for ") {
        return None;
    }
    let rest = match rest.strip_prefix('<') {
        // Bounds may contain brackets; the list ends where they balance.
        Some(list) => {
            let (mut depth, mut before) = (1, ' ');
            let end = list.find(|letter| {
                depth += match (before, letter) {
                    (_, '<') => 1,
                    ('-', '>') => 0,
                    (_, '>') => -1,
                    _ => 0,
                };
                before = letter;
                depth == 0
            })?;
            &list[end + 1..]
        }
        None => rest,
    };
    rest.trim_start().split(['<', ' ', '{']).next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;

    #[test]
    fn struct_with_too_many_fields_is_found_unless_it_is_settings() {
        let fields: String =
            (0..=FIELDS_MAX).map(|nth| format!("    /// Doc: of it.\n    pub a{nth}: u8,\n")).collect();
        let of = |head: &str| {
            texts(&check(&Tree::of(&[("core/a/src/lib.rs", &format!("{head} {{\n{fields}}}\n"))])))
        };
        assert_eq!(of("pub struct Session<I>").len(), 1);
        assert_eq!(of("pub struct SessionConfig").len(), 0);
    }

    #[test]
    fn part_with_visible_fields_is_found_and_record_is_not() {
        let of = |methods: &str| {
            let fields = "    pub(crate) a: u8,\n    b: u8,\n";
            let text = format!("struct Part<I> {{\n{fields}}}\n\nimpl<I> Part<I> {{\n    {methods}\n}}\n");
            texts(&check_fields(&Tree::of(&[("core/a/src/lib.rs", &text)])))
        };
        let found = of("fn set(&mut self) {}");
        let message = "`Part` has methods that change it and 1 visible fields: hide them";
        assert_eq!(found, [format!("core/a/src/lib.rs:1: {message}")]);
        assert_eq!(of("fn get(&self) {}"), [""; 0]);
    }

    #[test]
    fn type_in_too_many_files_is_found_and_trait_impls_do_not_count() {
        let texts_of = |line: &str| {
            let files = ["a", "b", "c", "d"].map(|name| (format!("core/a/src/{name}.rs"), line.to_string()));
            let files: Vec<(&str, &str)> =
                files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            texts(&check(&Tree::of(&files)))
        };
        let found = texts_of("impl<I: Input, F: Fn(I) -> Vec<I>> Session<I> {");
        assert_eq!(found, ["core/a/src: `Session` has `impl` blocks in 4 files, at most 3"]);
        assert_eq!(texts_of("impl<I> Drop for Session<I> {"), [""; 0]);
    }

    #[test]
    fn long_file_counts_without_its_tests() {
        let code = "fn a() {}\n".repeat(LINES_MAX);
        let tests = "#[cfg(test)]\nmod tests {}\n";
        assert_eq!(check(&Tree::of(&[("core/a/src/lib.rs", &format!("{code}{tests}"))])), []);
        assert_eq!(
            check(&Tree::of(&[("core/a/src/lib.rs", &format!("{code}fn b() {{}}\n{tests}"))])).len(),
            1
        );
    }
}
