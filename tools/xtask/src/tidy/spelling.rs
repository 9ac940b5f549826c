//! American spelling in documents, code and scripts: the commonest British spellings.
//!
//! Called by `tidy::check`. Absent: a dictionary, names in backticks of documents.

use super::Finding;
use super::tree::{File, Tree};

/// Beginnings of words, in two halves so that this file passes, and what to write.
const BEGINNINGS: [(&str, &str, &str); 12] = [
    ("behav", "iour", "behavior"),
    ("cent", "re", "center"),
    ("col", "our", "color"),
    ("fav", "our", "favor"),
    ("flav", "our", "flavor"),
    ("hon", "our", "honor"),
    ("label", "led", "labeled"),
    ("lear", "nt", "learned"),
    ("model", "led", "modeled"),
    ("neigh", "bour", "neighbor"),
    ("travel", "led", "traveled"),
    ("def", "ence", "defense"),
];
/// Verbs that end in `ize`.
const VERBS: [&str; 14] = [
    "author", "final", "initial", "maxim", "minim", "normal", "optim", "organ", "priorit", "quant", "recogn",
    "serial", "summar", "synchron",
];
/// Their British endings.
const ENDINGS: [&str; 3] = ["ise", "ising", "isation"];
/// Files with prose.
const KINDS: [&str; 7] = [".rs", ".md", ".toml", ".js", ".css", ".html", ".sh"];

/// Finds British spellings, in names as well.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let british: Vec<(String, String)> = BEGINNINGS
        .iter()
        .map(|(head, tail, instead)| (format!("{head}{tail}"), (*instead).to_string()))
        .chain(VERBS.iter().flat_map(|verb| {
            ENDINGS
                .iter()
                .map(move |ending| (format!("{verb}{ending}"), format!("{verb}{}", ending.replace('s', "z"))))
        }))
        .collect();
    let is_prose = |file: &&File| KINDS.iter().any(|kind| file.path.ends_with(kind));
    let mut findings = Vec::new();
    for file in tree.files().filter(is_prose) {
        let is_document = file.path.ends_with(".md");
        for (number, line) in file.lines() {
            // A document may quote foreign names.
            let text: String =
                if is_document { line.split('`').step_by(2).collect() } else { line.to_string() };
            let lower = text.to_lowercase();
            for (word, instead) in british.iter().filter(|(word, _)| begins_a_word(&lower, word)) {
                let message = format!("`{word}`: write `{instead}`, the American spelling");
                findings.push(Finding::at(&file.path, number, message));
            }
        }
    }
    findings
}

/// Whether a word of the text begins with these letters. In `CamelCase` only the first word counts.
fn begins_a_word(text: &str, beginning: &str) -> bool {
    text.match_indices(beginning).any(|(at, _)| !text[..at].ends_with(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        texts(&check(&Tree::of(&[(path, text)])))
    }

    #[test]
    fn british_spelling_is_found_in_prose_names_and_scripts() {
        let color = format!("{}{}", "Col", "ours");
        let expected = |path: &str, word: &str, instead: &str| {
            vec![format!("{path}:1: `{word}`: write `{instead}`, the American spelling")]
        };
        let word = color.to_lowercase();
        let word = word.trim_end_matches('s');
        for (path, text) in [
            ("core/a/src/lib.rs", format!("// {color} of it.")),
            ("core/a/src/lib.rs", format!("fn pick_{}() {{}}", color.to_lowercase())),
            ("apps/arcade/page/page.css", format!("/* {color} */")),
        ] {
            assert_eq!(found(path, &text), expected(path, word, "color"), "{text}");
        }
        let verb = format!("initial{}", "ised");
        assert_eq!(found("docs/A.md", &verb), expected("docs/A.md", &verb[..10], "initialize"));
    }

    #[test]
    fn american_spelling_quotes_and_other_words_are_accepted() {
        assert_eq!(found("a.rs", "// Optimistic centers of minimal color are organized."), [""; 0]);
        let quoted = format!("`prefers-{}{}`", "col", "our");
        assert_eq!(found("docs/A.md", &quoted), [""; 0]);
        assert_eq!(found("core/a/vectors/a.hex", &quoted), [""; 0]);
    }
}
