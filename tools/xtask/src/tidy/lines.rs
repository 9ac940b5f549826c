//! Size of the code: lines, and methods that exist for a single caller.
//!
//! `cargo xtask lines` prints it. Absent: limits; the numbers are for people who compare two
//! states of the project.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::code;
use super::tree::{File, Tree};

/// Top folders whose code is counted.
const TOPS: [&str; 3] = ["core", "shell", "apps"];

/// Size of one crate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Size {
    files: usize,
    /// Lines of Rust that are neither blank nor comment nor test.
    lines: usize,
    /// Functions of types with a `self`, those of traits left out.
    methods: usize,
    /// Private ones, without `pub` or with `pub(super)`, whose name is called in exactly one place
    /// of the crate's code. A name that several types use counts as called by all callers of any.
    called_once: usize,
}

impl Size {
    fn add(&mut self, other: Size) {
        self.files += other.files;
        self.lines += other.lines;
        self.methods += other.methods;
        self.called_once += other.called_once;
    }

    fn row(self, name: &str) -> String {
        let percent = (100 * self.called_once).checked_div(self.methods).unwrap_or(0);
        let Size { files, lines, methods, called_once } = self;
        format!("{name:<28} {files:>5} {lines:>7} {methods:>8} {called_once:>6} {percent:>4} %\n")
    }
}

/// Table of all crates of the counted folders, and their sum.
pub(crate) fn table(tree: &Tree) -> String {
    let mut crates: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in code::sources(tree) {
        let krate = file.path.split("/src/").next().unwrap_or_default();
        if TOPS.iter().any(|top| krate.split('/').next() == Some(top)) {
            crates.entry(krate).or_default().push(file);
        }
    }
    let mut text = String::new();
    let _ = writeln!(text, "{:<28} files   lines  methods   once  share", "crate");
    let mut sum = Size::default();
    for (krate, files) in crates {
        let size = size_of(&files);
        sum.add(size);
        text += &size.row(krate);
    }
    text + &sum.row("all")
}

fn size_of(files: &[&File]) -> Size {
    let mut size = Size { files: files.len(), ..Size::default() };
    let mut private = Vec::new();
    let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
    let mut is_of_trait = false;
    let lines: Vec<&str> = files.iter().flat_map(|file| code::code(file)).collect();
    size.lines = lines.len();
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with("impl") || line.contains("trait ") {
            is_of_trait = line.contains(" for ") || line.contains("trait ");
        }
        let next = lines.get(at + 1).copied().unwrap_or_default();
        match defined(line, next) {
            Some((name, is_private)) => {
                size.methods += usize::from(!is_of_trait);
                private.extend((is_private && !is_of_trait).then_some(name));
            }
            None => called(line).for_each(|name| *calls.entry(name).or_default() += 1),
        }
    }
    size.called_once = private.iter().filter(|name| calls.get(*name) == Some(&1)).count();
    size
}

/// Name of the method that a line defines, and whether it is private. On the same line, or on the
/// next one, it names `self`.
fn defined<'a>(line: &'a str, next: &str) -> Option<(&'a str, bool)> {
    let (head, rest) = line.split_once("fn ")?;
    let is_private = !head.starts_with("pub") || head.starts_with("pub(super)");
    let is_definition = head
        .split(' ')
        .all(|word| matches!(word, "" | "pub" | "const" | "async" | "unsafe") || word.starts_with("pub("));
    let name = rest.split(['(', '<']).next()?;
    let is_method = rest.contains("self") || rest.ends_with('(') && next.contains("self");
    (is_definition && is_method).then_some((name, is_private))
}

/// Names that a line calls, as methods or by path.
fn called(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices('(').filter_map(|(at, _)| {
        let before = &line[..at];
        let before =
            before.strip_suffix('>').map_or(before, |_| before.split("::<").next().unwrap_or(before));
        let begin = before.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
        let name = &before[begin + 1..];
        let is_call = before[..=begin].ends_with(['.', ':']) && !name.is_empty();
        is_call.then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn method_with_one_caller_is_counted_once() {
        let text = "impl A {\n    pub fn open(&self) {\n        self.once();\n        self.twice();\n    }\n\
                    \n    // why\n    fn once(&self) {\n        Self::twice(self);\n    }\n\
                    \n    fn twice(&self) {}\n\n    fn free() {}\n}\nimpl Drop for A {\n    fn drop(&mut self) {}\n}\n";
        let tree = Tree::of(&[("core/a/src/lib.rs", text), ("tools/b/src/lib.rs", text)]);
        let files = code::sources(&tree);
        let expected = Size { files: 1, lines: 14, methods: 3, called_once: 1 };
        assert_eq!(size_of(&files[..1]), expected);
        let table = table(&tree);
        assert!(table.ends_with(&expected.row("all")), "{table}");
        assert!(!table.contains("tools"), "{table}");
    }

    #[test]
    fn calls_are_found_behind_dot_and_path() {
        let names: Vec<&str> = called("self.a(x).b::<u8>(C::d(), e(), vec![(1)])").collect();
        assert_eq!(names, ["a", "b", "d"]);
    }
}
