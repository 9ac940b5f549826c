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
/// change past them. Records, which have no such methods, may show all they have, and so may
/// borrows, which have nothing of their own.
pub(super) fn check_fields(tree: &Tree) -> Vec<Finding> {
    let sources = code::sources(tree).into_iter();
    let counted = sources.filter(|file| HIDING.iter().any(|top| file.path.starts_with(top)));
    let mut crates: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in counted {
        crates.entry(crate_of(file)).or_default().push(file);
    }
    crates.values().flat_map(|files| open_parts(files)).collect()
}

fn crate_of(file: &File) -> &str {
    file.path.split("/src/").next().unwrap_or_default()
}

/// Parts with visible fields in the files of one crate. Struct and methods may be in two files.
fn open_parts(files: &[&File]) -> Vec<Finding> {
    let declared: Vec<(&str, Declared<'_>)> =
        files.iter().flat_map(|file| structs(file).into_iter().map(|it| (file.path.as_str(), it))).collect();
    let changed: BTreeSet<(&str, &str)> = files
        .iter()
        .flat_map(|file| {
            let declared = &declared;
            changed_types(file).into_iter().filter_map(|name| {
                let places = declared.iter().filter(|(_, (_, other, _))| *other == name);
                let place = places.max_by_key(|(path, _)| nearness(path, &file.path))?;
                Some((place.0, name))
            })
        })
        .collect();
    let parts =
        declared.iter().filter(|(path, (_, name, _))| *name != CONTEXT && changed.contains(&(path, name)));
    parts
        .filter_map(|(path, (line, name, fields))| {
            let is_open = |field: &&&str| field.starts_with("pub") && !field.contains(": &");
            let count = fields.iter().filter(is_open).count();
            let message =
                format!("`{name}` has methods that change it and {count} visible fields: hide them");
            (count > 0).then(|| Finding::at(path, *line, message))
        })
        .collect()
}

/// Names of types with methods in a file that change them.
fn changed_types(file: &File) -> BTreeSet<&str> {
    let mut changed = BTreeSet::new();
    let mut of = None;
    for (_, line) in code::before_tests(file) {
        if line.starts_with("impl") {
            of = implemented(line);
        } else if line.starts_with('}') {
            of = None;
        } else if line.contains("fn ") && line.contains("&mut self") {
            changed.extend(of);
        }
    }
    changed
}

/// How near the file of a struct is to one with its methods: of two structs of one name in a crate,
/// the nearer one is meant.
fn nearness(path: &str, from: &str) -> usize {
    if path == from {
        return usize::MAX;
    }
    let parts = |path: &str| path.trim_end_matches("/mod.rs").trim_end_matches(".rs").to_string();
    let (path, from) = (parts(path), parts(from));
    path.split('/').zip(from.split('/')).take_while(|(a, b)| a == b).count()
}

/// A struct: its line, name, and lines of fields.
type Declared<'a> = (usize, &'a str, Vec<&'a str>);

/// Structs with named fields, settings and counters left out.
fn structs(file: &File) -> Vec<Declared<'_>> {
    let mut all: Vec<Declared<'_>> = Vec::new();
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
        for name in code::before_tests(file).filter_map(|(_, line)| implemented(line)) {
            files.entry((crate_of(file), name)).or_default().insert(&file.path);
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
    fn part_and_its_methods_may_be_in_two_files() {
        let part = "pub struct Part {\n    pub(super) a: u8,\n}\n";
        let methods = "impl Part {\n    fn set(&mut self) {}\n}\n";
        let of = |files: &[(&str, &str)]| texts(&check_fields(&Tree::of(files)));
        let found = of(&[("core/a/src/x/mod.rs", part), ("core/a/src/x/route.rs", methods)]);
        let message = "`Part` has methods that change it and 1 visible fields: hide them";
        assert_eq!(found, [format!("core/a/src/x/mod.rs:1: {message}")]);
        // Another struct of the name is nearer to the methods, or the crate is another one.
        let own = format!("struct Part {{\n    a: u8,\n}}\n\n{methods}");
        assert_eq!(of(&[("core/a/src/x.rs", part), ("core/a/src/y.rs", &own)]), [""; 0]);
        let near = "struct Part {\n    a: u8,\n}\n";
        let files = [("core/a/src/x.rs", part), ("core/a/src/y.rs", near), ("core/a/src/y/set.rs", methods)];
        assert_eq!(of(&files), [""; 0]);
        assert_eq!(of(&[("core/a/src/x.rs", part), ("core/b/src/x.rs", methods)]), [""; 0]);
    }

    #[test]
    fn borrow_and_methods_of_trait_make_no_part() {
        let of = |text: &str| texts(&check_fields(&Tree::of(&[("core/a/src/lib.rs", text)])));
        let borrow = "struct View<'a> {\n    pub(crate) a: &'a mut u8,\n}\n\n\
                      impl View<'_> {\n    fn set(&mut self) {}\n}\n";
        assert_eq!(of(borrow), [""; 0]);
        assert_eq!(of(&borrow.replace("&'a mut u8", "u8")).len(), 1);
        let record = "struct Record {\n    pub a: u8,\n}\n\nimpl Record {\n    fn a(&self) {}\n}\n\n\
                      trait Change {\n    fn set(&mut self);\n}\n";
        assert_eq!(of(record), [""; 0]);
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
