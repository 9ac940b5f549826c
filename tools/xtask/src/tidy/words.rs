//! Banned words: unknown to readers of other projects in their sense, or naming no actor.
//!
//! Only unmistakable words; ambiguous ones are judged by reading. Called by `tidy::check`. Absent:
//! names and texts of the games.

use super::Finding;
use super::tree::Tree;

/// Banned words and what to write. Spelled in two halves, so that this file passes.
const BANNED: [(&str, &str, &str); 15] = [
    ("who", "ever", "name the actor: a peer, a player, a caller"),
    ("some", "body", "name the actor: a peer, a player, a caller"),
    ("no", "body", "say that no peer, player or caller does"),
    ("any", "body", "name the actor: any peer, any player"),
    ("every", "body", "name the actors: every peer, all players"),
    ("on", "looker", "spectator"),
    ("new", "comer", "joiner, or new player"),
    ("in", "quest", "audit"),
    ("he", "ir", "successor"),
    ("lou", "nge", "lobby room"),
    ("senior", "ity", "join order"),
    ("tid", "ings", "join context"),
    ("usur", "per", "authority attack"),
    ("impos", "tor", "identity attack"),
    ("con", "demn", "evict"),
];

/// Finds banned words in documents, code, and comments of games.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        let is_prose = file.path.ends_with(".md");
        if !(is_prose || file.path.ends_with(".rs")) {
            continue;
        }
        for (number, line) in file.lines() {
            // A document may quote names. Code is judged whole, names included, except that of
            // games: names in their state cannot change, and players read their texts.
            let text: String = if is_prose {
                line.split('`').step_by(2).collect()
            } else if is_game_source(&file.path) {
                line.split_once("//").map_or("", |(_, comment)| comment).to_string()
            } else {
                line.to_string()
            };
            for (word, instead) in words_in(&text) {
                findings.push(Finding::at(&file.path, number, format!("`{word}`: {instead}")));
            }
        }
    }
    findings
}

/// Banned words of a text, with what to write instead; a word twice counts twice.
pub(super) fn words_in(text: &str) -> Vec<(String, &'static str)> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for (head, tail, instead) in BANNED {
        let word = format!("{head}{tail}");
        for (start, _) in lower.match_indices(&word) {
            // In `snake_case` and `CamelCase` a word ends where the next one begins.
            let before = text[..start].chars().next_back();
            let begins = text[start..].starts_with(|letter: char| letter.is_ascii_uppercase())
                || !before.is_some_and(char::is_alphabetic);
            let after = text[start + word.len()..].trim_start_matches('s').chars().next();
            if begins && !after.is_some_and(|letter| letter.is_lowercase()) {
                found.push((word.clone(), instead));
            }
        }
    }
    found
}

fn is_game_source(path: &str) -> bool {
    path.starts_with("games/") && path.contains("/src/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn banned_word_is_found_in_prose_names_and_plurals() {
        let (who, new) = (format!("{}{}", "Who", "ever"), format!("{}{}", "new", "comer"));
        assert_eq!(count("core/a/src/lib.rs", &format!("// {who} waits.")), 1);
        assert_eq!(count("core/a/src/lib.rs", &format!("fn for_{new}s(x: {who}Waits) {{}}")), 2);
        assert_eq!(count("docs/A.md", &format!("{who} waits for `{new}`.")), 1);
    }

    #[test]
    fn longer_word_with_banned_part_is_accepted() {
        assert_eq!(count("core/a/src/lib.rs", "// their theirs inquestion"), 0);
    }

    #[test]
    fn comments_of_games_are_judged_without_their_code() {
        let (some, no) = (format!("{}{}", "some", "body"), format!("{}{}", "No", "body"));
        assert_eq!(count("games/a/src/lib.rs", &format!("use Sitting::{no}; // {some}")), 1);
        assert_eq!(count("games/a/src/lib.rs", &format!("    {no} => \"{no}\",")), 0);
        assert_eq!(count("games/a/tests/it.rs", &format!("let {some} = 1;")), 1);
    }
}
