//! Signs of unfinished work: notes for later, missing code, tests that do not run.
//!
//! Called by `tidy::check`. Absent: banned words (`words`).

use super::Finding;
use super::tree::Tree;

/// Forbidden texts and what to do instead. Spelled in two halves, so that this file passes.
const IN_CODE: [(&str, &str, &str); 7] = [
    ("TO", "DO", "do it, or write down in docs/decisions why not"),
    ("FIX", "ME", "fix it, or write down in docs/decisions why not"),
    ("XX", "X", "do it, or write down in docs/decisions why not"),
    ("to", "do!(", "write the code"),
    ("unimple", "mented!(", "write the code"),
    ("#[ig", "nore", "assert today's answer and say why it is the wrong one"),
    ("for ", "now", "say what holds and when to look again, in docs/decisions"),
];

/// Finds signs of unfinished work in all files.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        let Some(kind) = Kind::of(&file.path) else { continue };
        for (number, line) in file.lines() {
            for (head, tail, instead) in IN_CODE {
                let word = format!("{head}{tail}");
                let text = if word.contains(' ') { kind.prose(line) } else { kind.text(line) };
                // A slow test is ignored with a reason; `--full` or `--long` runs it.
                let is_long =
                    ["long", "full"].iter().any(|why| text.contains(&format!("{word} = \"{why}: ")));
                if !is_long && contains_word(&text, &word) {
                    findings.push(Finding::at(&file.path, number, format!("`{word}`: {instead}")));
                }
            }
        }
    }
    findings
}

#[derive(Clone, Copy)]
enum Kind {
    Rust,
    Script,
    Document,
}

impl Kind {
    fn of(path: &str) -> Option<Kind> {
        match path.rsplit_once('.').map(|(_, ending)| ending) {
            Some("rs" | "js" | "css") => Some(Kind::Rust),
            Some("toml" | "sh" | "py" | "yml") => Some(Kind::Script),
            Some("md" | "html") => Some(Kind::Document),
            _ => None,
        }
    }

    /// Part of a line in which a forbidden word counts.
    fn text(self, line: &str) -> String {
        match self {
            Kind::Rust | Kind::Script => line.to_string(),
            // A document may quote forbidden words.
            Kind::Document => line.split('`').step_by(2).collect(),
        }
    }

    /// Part of a line written for readers: code may loop over moments.
    fn prose(self, line: &str) -> String {
        let comment =
            |mark: &str| line.split_once(mark).map_or(String::new(), |(_, comment)| comment.to_string());
        match self {
            Kind::Rust => comment("//"),
            Kind::Script => comment("#"),
            Kind::Document => self.text(line),
        }
    }
}

/// Whether the word occurs, not as a part of a longer one.
fn contains_word(text: &str, word: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        let open_end = word.ends_with(|letter| !is_letter(letter));
        !before.is_some_and(is_letter) && (open_end || word.starts_with('#') || !after.is_some_and(is_letter))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;

    fn findings(path: &str, line: &str) -> Vec<String> {
        texts(&check(&Tree::of(&[(path, line)])))
    }

    #[test]
    fn each_forbidden_text_is_found() {
        for (head, tail, _) in IN_CODE {
            let line = format!("    x(); // {head}{tail} later");
            let found = findings("core/a/src/lib.rs", &line);
            assert_eq!(found.len(), 1, "{line}: {found:?}");
            assert!(found[0].starts_with("core/a/src/lib.rs:1: "), "{found:?}");
        }
        let document = format!("This will do {} now.", "for");
        assert_eq!(findings("README.md", &document).len(), 1);
    }

    #[test]
    fn similar_words_and_loops_are_accepted() {
        assert_eq!(findings("a.rs", "for now in [1, 2] { wake(now); } // each moment"), [""; 0]);
        assert_eq!(findings("a.rs", "let METHODOLOGY = \"TODOS_LOS_DIAS\"; // for nowhere"), [""; 0]);
        let long = format!("#[ig{} = \"long: minutes\"]", "nore");
        assert_eq!(findings("a.rs", &long), [""; 0]);
        let quoted = format!("We never write `{}{}`.", "TO", "DO");
        assert_eq!(findings("STYLE.md", &quoted), [""; 0]);
    }
}
