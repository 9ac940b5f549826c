//! Short texts about online events in the arcade's own style: calm, and never blaming. `Arcade`
//! shows them. Absent: when they are shown.

use gaggle::lobby::view::LeaveReason;
use gaggle::{LeaveCause, RoomEvent};

use crate::HAS_LOBBY;

/// A line for the corner of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// Whether it is a warning.
    pub(crate) warn: bool,
}

fn line(text: impl Into<String>) -> Option<Line> {
    Some(Line { text: text.into(), warn: false })
}

fn warning(text: impl Into<String>) -> Option<Line> {
    Some(Line { text: text.into(), warn: true })
}

fn parting_words(reason: LeaveReason) -> &'static str {
    match reason {
        LeaveReason::Kicked => "The host sent you away.",
        LeaveReason::ConnectionLost => "Your seat was given away.",
        LeaveReason::IdleTimeout => "The server had not heard from you for long.",
        _ => "The room was closed.",
    }
}

/// A text of the lobby as a sentence.
pub(crate) fn sentence(words: &str) -> String {
    let mut text = format!("{}.", words.trim_end_matches('.'));
    // Texts of the lobby are ASCII, so no Unicode tables are needed.
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// The line for an event; none for events that players need not read. Spectators (`watches`) and
/// two players at one keyboard get other texts.
pub(crate) fn line_for(event: &RoomEvent, has_company: bool, watches: bool, are_two: bool) -> Option<Line> {
    match event {
        RoomEvent::PlayerJoined { name, .. } => line(format!("{name} drops in.")),
        RoomEvent::PlayerLeft { name, cause: LeaveCause::TimedOut, .. } => {
            warning(format!("{name} is lost in the mist."))
        }
        RoomEvent::PlayerLeft { name, .. } => line(format!("{name} flies off.")),
        RoomEvent::PlayerInterrupted { name, .. } => warning(format!("{name} went quiet.")),
        RoomEvent::PlayerResumed { name, .. } => line(format!("{name} is back.")),
        RoomEvent::SlowPlayer { is_local: true, .. } if HAS_LOBBY => {
            warning("This machine is too slow for the others. Close what else runs.")
        }
        RoomEvent::SlowPlayer { name, .. } if HAS_LOBBY => {
            warning(format!("{name}'s machine is slow. You wait for it."))
        }
        RoomEvent::LeaderChanged { name, .. } => line(format!("{name} keeps the count now.")),
        RoomEvent::BranchAbandoned => warning("We had parted. This is how it went on."),
        RoomEvent::DesyncDetected { .. } => warning("We disagreed for a moment. Mending it."),
        RoomEvent::DesyncRecovered { .. } => line("We agree again."),
        RoomEvent::LobbyDisconnected if has_company => {
            warning("The lobby is out. This match goes on; new players can't find it.")
        }
        RoomEvent::LobbyDisconnected => warning("The lobby is out. You fly alone for now."),
        RoomEvent::LobbyReconnected => line("The lobby is back."),
        RoomEvent::RoomJoined { resumed: true, .. } => line("Welcome back. Your seat was kept."),
        RoomEvent::SpectatingStarted => line("You look on. Enter takes a seat."),
        RoomEvent::RoomLeft { .. } if watches => line("They have all flown off."),
        RoomEvent::JoinFailed if watches => warning("Could not reach them. There is nothing to see."),
        // Left at the player's own request: the next event says where the player is.
        RoomEvent::RoomLeft { reason: LeaveReason::Left } => None,
        RoomEvent::RoomLeft { reason } => warning(format!("{} You fly alone.", parting_words(*reason))),
        RoomEvent::JoinFailed if are_two => warning("No two seats there. You have a room of your own now."),
        RoomEvent::JoinFailed => warning("Could not reach them. You fly alone."),
        RoomEvent::Rejected { name, reason, .. } if reason.is_other_build() => {
            warning(format!("{name} has another version. Reload to play together."))
        }
        RoomEvent::Rejected { name, .. } => warning(format!("The link to {name} broke.")),
        RoomEvent::LinkTooSlow { name, .. } => warning(format!("The link to {name} is too slow for this.")),
        RoomEvent::StateTooLarge { .. } => warning("This match is too large to join. Open another room."),
        RoomEvent::RequestRejected { rejection: refusal, .. } => warning(sentence(&refusal.text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use gaggle::lobby::{Rejection, RejectionCode};

    use super::*;

    #[test]
    fn match_too_large_to_join_is_told() {
        let event = RoomEvent::StateTooLarge { bytes: 70_000_001, max: 67_108_864 };
        let told = line_for(&event, true, false, false).expect("words");
        assert!(told.warn && told.text.contains("too large to join"), "{}", told.text);
    }

    #[test]
    fn slow_player_and_others_are_told_apart() {
        let told = |is_local| {
            let (peer, name) = (gaggle::PeerId::from_u128(7), "Hob".to_string());
            let event = RoomEvent::SlowPlayer { peer, name, is_local, share_permille: 400 };
            line_for(&event, true, false, false).map(|line| line.text).unwrap_or_default()
        };
        assert!(told(true).starts_with("This machine is too slow"), "{}", told(true));
        assert!(told(false).starts_with("Hob's machine is slow"), "{}", told(false));
    }

    #[test]
    fn lobby_rejection_becomes_sentence() {
        let said = |text: &str| {
            let event = RoomEvent::RequestRejected {
                request: None,
                rejection: Rejection::new(RejectionCode::NoSuchRoom, text),
            };
            line_for(&event, false, false, false).map(|line| line.text).unwrap_or_default()
        };
        assert_eq!(said("there is no such room"), "There is no such room.");
        assert_eq!(said("Überfüllt."), "Überfüllt.");
        assert_eq!(said(""), ".");
    }
}
