//! Display names in a room: no two members have names that look alike.
//!
//! Called where a member joins or changes its name. Absent: permitted characters, which are in
//! `label.rs`.

use gaggle_kit::PeerId;

use crate::label::DisplayName;
use crate::view::Member;

/// The name to display: with a number behind it if another member's name looks the same.
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
    // One more number than other members, so that one of them is free.
    let numbered = (2..taken.len() + 3).filter_map(|number| {
        let ending = format!(" {number}");
        let room = DisplayName::LENGTH_MAX - ending.len();
        let mut text: String = name.as_str().chars().take(room).collect();
        text.push_str(&ending);
        DisplayName::sanitized(&text)
    });
    numbered.into_iter().find(is_free).unwrap_or(name)
}

/// Key that is equal for names that look the same: Unicode's confusables (UTS 39), in lower case.
#[cfg(feature = "confusables")]
fn likeness(name: &str) -> String {
    let shape = |text: &str| unicode_security::skeleton(text).collect::<String>();
    shape(&shape(name).to_lowercase()).to_lowercase()
}

/// Key that is equal for names that look the same, in lower case. Servers compare confusables, too.
#[cfg(not(feature = "confusables"))]
fn likeness(name: &str) -> String {
    name.to_lowercase()
}

#[cfg(all(test, feature = "confusables"))]
mod tests {
    use super::*;

    #[test]
    fn similar_names_have_one_likeness() {
        for (one, other) in [("Nia", "nia"), ("Nia", "Ν\u{131}а"), ("paypal", "раураl"), ("Bill", "BiII")]
        {
            assert_eq!(likeness(one), likeness(other), "{one} {other}");
        }
        for (one, other) in [("Nia", "Ada"), ("Nia", "Nia 2"), ("Guest 1", "Guest 11")] {
            assert_ne!(likeness(one), likeness(other), "{one} {other}");
        }
    }
}
