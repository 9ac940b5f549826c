//! Names in documents: paths, crates, links, commands and tests must exist.
//!
//! Called by `tidy::check`; reads code spans, links and shell blocks. Absent: prose.

use super::Finding;
use super::tree::{File, Tree};
use crate::COMMANDS;
use crate::bench::IN_A_BROWSER;

/// Document that names tests for attacks.
const THREATS: &str = "docs/threat-model.md";
/// Top folders: a path that starts with one is relative to the root.
const TOPS: [&str; 9] = ["apps", "core", "games", "shell", "tools", "bench", "fuzz", ".ci", ".cargo"];
/// Endings of names that are files of the project.
const ENDINGS: [&str; 7] = [".rs", ".md", ".toml", ".hex", ".sh", ".html", ".lock"];

/// Finds names in documents that do not exist.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = missing_tests(tree);
    for document in tree.ending(".md") {
        for (line, mention) in mentions(&document.text) {
            if let Some(message) = objection(tree, document, &mention) {
                findings.push(Finding::at(&document.path, line, message));
            }
        }
    }
    findings
}

/// Tests named in the threat model that do not exist.
fn missing_tests(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(THREATS) else { return Vec::new() };
    let is_test = |span: &str| {
        span.matches('_').count() > 2
            && span.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
    };
    let mut findings = Vec::new();
    for (line, mention) in mentions(text) {
        let Mention::Span(name) = mention else { continue };
        let declared = format!("fn {name}(");
        if is_test(&name) && !tree.ending(".rs").any(|file| file.text.contains(&declared)) {
            findings.push(Finding::at(
                THREATS,
                line,
                format!("there is no test `{name}`: name it as it is now"),
            ));
        }
    }
    findings
}

/// A name in a document.
#[derive(Debug, PartialEq, Eq)]
enum Mention {
    /// Text between backticks.
    Span(String),
    /// Target of a link.
    Link(String),
    /// A line of a shell block.
    Command(String),
}

fn mentions(text: &str) -> Vec<(usize, Mention)> {
    let mut mentions = Vec::new();
    let mut fence: Option<bool> = None;
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        if let Some(language) = line.trim_start().strip_prefix("```") {
            let is_shell = matches!(language.trim(), "" | "sh" | "bash" | "console" | "text");
            fence = if fence.is_some() { None } else { Some(is_shell) };
        } else if let Some(is_shell) = fence {
            let command = line.trim_start().trim_start_matches("$ ");
            if is_shell && command.starts_with("cargo ") {
                mentions.push((number, Mention::Command(command.to_string())));
            }
        } else {
            let parts: Vec<&str> = line.split('`').collect();
            for (position, part) in parts.iter().enumerate() {
                if position % 2 == 0 {
                    mentions.extend(links(part).map(|link| (number, Mention::Link(link))));
                } else if part.starts_with("cargo ") {
                    mentions.push((number, Mention::Command((*part).to_string())));
                } else {
                    mentions.push((number, Mention::Span((*part).to_string())));
                }
            }
        }
    }
    mentions
}

fn links(text: &str) -> impl Iterator<Item = String> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(str::to_string)
}

fn objection(tree: &Tree, document: &File, mention: &Mention) -> Option<String> {
    match mention {
        Mention::Span(span) => span_objection(tree, span),
        Mention::Link(link) => link_objection(tree, document, link),
        Mention::Command(command) => command_objection(tree, command),
    }
}

fn span_objection(tree: &Tree, span: &str) -> Option<String> {
    if let Some((name, _)) = span.split_once("::") {
        let name = name.replace('_', "-");
        return (is_our_name(&name) && !is_crate(tree, &name)).then(|| format!("there is no crate `{name}`"));
    }
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_./*{},-".contains(letter);
    if span.is_empty() || !span.chars().all(plain) || span.starts_with(['/', '-', '*']) {
        return None;
    }
    if is_our_name(span) {
        return (!is_crate(tree, span)).then(|| format!("there is no crate `{span}`"));
    }
    let top = span.split('/').next().unwrap_or_default();
    let from_root = TOPS.contains(&top) && span.contains('/');
    let is_path = from_root || span.ends_with('/') || ENDINGS.iter().any(|ending| span.ends_with(ending));
    if !is_path || is_ignored(tree, top) {
        return None;
    }
    let missing: Vec<String> =
        alternatives(span).into_iter().filter(|path| !exists(tree, path, from_root)).collect();
    (!missing.is_empty()).then(|| format!("there is no `{}`", missing.join("`, `")))
}

fn link_objection(tree: &Tree, document: &File, link: &str) -> Option<String> {
    let path = link.split('#').next().unwrap_or_default();
    if path.is_empty() || path.contains("://") || path.starts_with("mailto:") {
        return None;
    }
    let mut parts: Vec<&str> = document.path.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    (!exists(tree, &parts.join("/"), true)).then(|| format!("the link leads nowhere: {link}"))
}

fn command_objection(tree: &Tree, command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    // NAME, SEED or … are placeholders.
    let is_literal = |word: &&str| {
        word.chars().all(|letter| letter.is_ascii_lowercase() || "0123456789_-".contains(letter))
    };
    if let Some(name) =
        words.get(2).filter(|word| words[1] == "xtask" && is_literal(word) && !word.starts_with('-'))
    {
        if !COMMANDS.iter().any(|(known, _)| known == name) {
            return Some(format!("there is no command `cargo xtask {name}`"));
        }
        if let Some(bench) =
            words.get(3).filter(|word| *name == "bench" && is_literal(word) && !word.starts_with('-'))
        {
            let is_program = tree.ending("Cargo.toml").any(|manifest| {
                manifest.path.starts_with("bench/") && names(manifest).any(|name| name == *bench)
            });
            let is_there = is_program || *bench == IN_A_BROWSER.0;
            return (!is_there).then(|| format!("there is no bench `{bench}`"));
        }
    }
    words.windows(2).find_map(|pair| match pair {
        ["-p" | "--package", name] if is_literal(name) && !is_crate(tree, name) => {
            Some(format!("there is no crate `{name}`"))
        }
        ["--example", name] if is_literal(name) => {
            let files = [format!("examples/{name}.rs"), format!("examples/{name}/main.rs")];
            (!files.iter().any(|path| exists(tree, path, false)))
                .then(|| format!("there is no example `{name}`"))
        }
        _ => None,
    })
}

/// Whether a name has the form of our crates: with underscores only before `::`, because metrics
/// are called `gaggle_rooms` too.
fn is_our_name(name: &str) -> bool {
    let is_name =
        name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-' || letter.is_ascii_digit());
    is_name && (name == "gaggle" || name.starts_with("gaggle-") || name.ends_with("-gaggle"))
}

fn is_crate(tree: &Tree, name: &str) -> bool {
    let wanted = name.replace('_', "-");
    tree.ending("Cargo.toml").any(|manifest| names(manifest).any(|name| name.replace('_', "-") == wanted))
}

/// Names of a manifest's package and of programs that differ from it.
fn names(manifest: &File) -> impl Iterator<Item = &str> {
    let lines = manifest.text.lines().filter_map(|line| line.trim().strip_prefix("name"));
    lines.map(|rest| rest.trim_start_matches([' ', '=']).trim_matches('"'))
}

/// Whether the folder only appears when something runs.
fn is_ignored(tree: &Tree, top: &str) -> bool {
    let ignored = tree.text(".gitignore").unwrap_or_default();
    ignored.lines().any(|line| line.trim_matches('/') == top)
}

/// Expands `a/{b,c}.rs` to two paths.
fn alternatives(path: &str) -> Vec<String> {
    match path.split_once('{').and_then(|(head, rest)| Some((head, rest.split_once('}')?))) {
        None => vec![path.to_string()],
        Some((head, (choices, tail))) => {
            choices.split(',').flat_map(|choice| alternatives(&format!("{head}{choice}{tail}"))).collect()
        }
    }
}

/// Whether a file or folder has this path, from the root or else below any folder.
fn exists(tree: &Tree, path: &str, from_root: bool) -> bool {
    let wanted: Vec<&str> = path.trim_end_matches('/').split('/').filter(|part| *part != ".").collect();
    tree.files().any(|file| {
        let parts: Vec<&str> = file.path.split('/').collect();
        let starts = if from_root { 0..1 } else { 0..parts.len() };
        starts.into_iter().any(|start| {
            let candidate = &parts[start..];
            candidate.len() >= wanted.len()
                && candidate.iter().zip(&wanted).all(|(part, wanted)| matches(part, wanted))
        })
    })
}

/// Whether a name matches a pattern with at most one star.
fn matches(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((head, tail)) => {
            name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;

    const PROJECT: [(&str, &str); 7] = [
        (".gitignore", "target/\n/gaggle-data/\n"),
        ("core/gaggle-kit/Cargo.toml", "[package]\nname = \"gaggle-kit\"\n"),
        ("core/gaggle-kit/src/frame.rs", ""),
        ("core/gaggle-kit/examples/count.rs", ""),
        ("core/gaggle-kit/vectors/hello.hex", ""),
        ("shell/bevy_gaggle/Cargo.toml", "[package]\nname = \"bevy_gaggle\"\n"),
        ("bench/link/Cargo.toml", "[package]\nname = \"bench-link\"\n\n[[bin]]\nname = \"link\"\n"),
    ];

    fn objections(text: &str) -> Vec<String> {
        let document = ("docs/GUIDE.md", text);
        texts(&check(&Tree::of(&[&PROJECT[..], &[document]].concat())))
    }

    #[test]
    fn existing_names_are_accepted() {
        for text in [
            "`core/gaggle-kit/src/frame.rs`, `core/`, `core/gaggle-kit`, `src/frame.rs`, `frame.rs`, `vectors/`",
            "`vectors/*.hex`, `core/gaggle-kit/{src,examples}`, `gaggle-kit`, `gaggle_kit::Frame`, `bevy_gaggle::Plugin`",
            "`target/xtask/tests.log`, `gaggle-data/`, `/metrics`, `gaggle_rooms_open`, `application/json`, `60/s`",
            "[kit](../core/gaggle-kit/src/frame.rs), [site](https://example.org/x), [below](#below), [kit](../core)",
            "`cargo xtask test`, `cargo xtask bench link --json`, `cargo xtask bench NAME`, `cargo test -p gaggle-kit`",
            "```sh\n$ cargo run -p gaggle-kit --example count\n```",
            "```rust\nlet path = `core/none.rs`;\n```",
        ] {
            assert_eq!(objections(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn test_named_in_threat_model_must_be_there() {
        let code = ("core/a/tests/hostile.rs", "fn flood_ends_own_link() {}\n");
        let found = |text| texts(&check(&Tree::of(&[code, ("docs/threat-model.md", text)])));
        assert_eq!(found("`flood_ends_own_link`, `evict_stalled_after`"), [""; 0]);
        let missing = "docs/threat-model.md:1: there is no test `flood_ends_all_links`: name it as it is now";
        assert_eq!(found("`flood_ends_all_links`"), [missing]);
    }

    #[test]
    fn missing_names_are_found() {
        fn check(text: &str, expected: &str) {
            assert_eq!(objections(text), [format!("docs/GUIDE.md:2: {expected}")], "{text}");
        }
        check("\nSee `core/gaggle-kit/src/slot.rs`.", "there is no `core/gaggle-kit/src/slot.rs`");
        check("\nSee `gaggle-kit/src/slot.rs`.", "there is no `gaggle-kit/src/slot.rs`");
        check("\nSee `core/src/frame.rs`.", "there is no `core/src/frame.rs`");
        check("\nSee `games/`.", "there is no `games/`");
        check("\nSee `slot.rs`.", "there is no `slot.rs`");
        check("\nSee `src/{frame,slot,peer}.rs`.", "there is no `src/slot.rs`, `src/peer.rs`");
        check("\nSee `vectors/*.txt` or `vectors/b*.hex`.", "there is no `vectors/b*.hex`");
        check("\nUse `gaggle-link`.", "there is no crate `gaggle-link`");
        check("\nUse `gaggle_link::Transport`.", "there is no crate `gaggle-link`");
        check("\n[link](GUIDES.md)", "the link leads nowhere: GUIDES.md");
        check("\nRun `cargo xtask tset`.", "there is no command `cargo xtask tset`");
        check("\nRun `cargo xtask bench timeline`.", "there is no bench `timeline`");
        check("```sh\ncargo run -p gaggle-lab\n```", "there is no crate `gaggle-lab`");
        check("```\n$ cargo run -p gaggle-kit --example pong\n```", "there is no example `pong`");
    }
}
