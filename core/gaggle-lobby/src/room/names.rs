//! Names in a room: no two members are shown by names that look alike.
//!
//! Called where a member comes or renames itself. Absent: what a name may consist of, which is in
//! `label.rs`.

use gaggle_kit::PeerId;

use crate::label::DisplayName;
use crate::view::Member;

/// The name as the others see it: with a number behind it if another member has one that looks
/// the same.
pub(super) fn distinct_name(members: &[Member], peer: PeerId, name: DisplayName) -> DisplayName {
    let taken: Vec<String> = members
        .iter()
        .filter(|member| member.peer != peer)
        .map(|member| likeness(member.name.as_str()))
        .collect();
    let is_free = |name: &DisplayName| !taken.contains(&likeness(name.as_str()));
    if is_free(&name) {
        return name;
    }
    // One more than there are others, so that one of them is free.
    let numbered = (2..taken.len() + 3).filter_map(|number| {
        let ending = format!(" {number}");
        let room = DisplayName::LENGTH_MAX - ending.len();
        let mut text: String = name.as_str().chars().take(room).collect();
        text.push_str(&ending);
        DisplayName::sanitized(&text)
    });
    numbered.into_iter().find(is_free).unwrap_or(name)
}

/// What names that look the same have in common: by Unicode's table of characters that are mistaken
/// for each other (UTS 39), in either case.
#[cfg(feature = "confusables")]
fn likeness(name: &str) -> String {
    let shape = |text: &str| unicode_security::skeleton(text).collect::<String>();
    shape(&shape(name).to_lowercase()).to_lowercase()
}

/// What names that look the same have in common: letters in either case. Servers compare more.
#[cfg(not(feature = "confusables"))]
fn likeness(name: &str) -> String {
    name.to_lowercase()
}

#[cfg(all(test, feature = "confusables"))]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_have_one_likeness() {
        for (one, other) in [("Nia", "nia"), ("Nia", "Ν\u{131}а"), ("paypal", "раураl"), ("Bill", "BiII")]
        {
            assert_eq!(likeness(one), likeness(other), "{one} {other}");
        }
        for (one, other) in [("Nia", "Ada"), ("Nia", "Nia 2"), ("Guest 1", "Guest 11")] {
            assert_ne!(likeness(one), likeness(other), "{one} {other}");
        }
    }
}
