//! Status line at the lower edge of a page: the last online event in words.
//!
//! Used by `page.rs`. Absent: texts of events (`gaggle`).

use gaggle::RoomEvent;

/// The status line. A rejection stays until it has been read beside what follows.
#[derive(Debug, Default)]
pub(crate) struct Said {
    line: String,
    refusal: Option<String>,
}

impl Said {
    /// Starts with this text.
    pub(crate) fn new(line: String) -> Said {
        Said { line, refusal: None }
    }

    /// Current text of the line.
    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    /// Updates the line with an event.
    pub(crate) fn hear(&mut self, event: &RoomEvent) {
        match event {
            // These follow a join and would hide it.
            RoomEvent::PathChanged { .. } | RoomEvent::LobbyReply { .. } | RoomEvent::ValueChanged { .. } => {
                return;
            }
            RoomEvent::RequestRejected { .. } => self.refusal = Some(event.to_string()),
            // The room that was found instead of the requested one.
            RoomEvent::GuestKey(_)
            | RoomEvent::RoomListChanged
            | RoomEvent::RoomJoined { .. }
            | RoomEvent::Joining { .. }
            | RoomEvent::MatchJoined => {
                if let Some(refusal) = &self.refusal {
                    self.line = format!("{refusal}; {event}");
                    return;
                }
            }
            _ => self.refusal = None,
        }
        self.line = event.to_string();
    }
}

#[cfg(test)]
mod tests {
    use gaggle::lobby::{Rejection, RejectionCode};

    use super::*;

    #[test]
    fn rejection_stays_beside_room_found_instead() {
        let mut said = Said::new("latency: no number".to_string());
        assert_eq!(said.line(), "latency: no number");
        let rejection = Rejection::new(RejectionCode::NoSuchRoom, "there is no such room");
        said.hear(&RoomEvent::RequestRejected { request: None, rejection });
        assert_eq!(said.line(), "there is no such room");
        let code = "BCDFGH".parse().expect("a code");
        said.hear(&RoomEvent::RoomJoined { code, resumed: false });
        assert_eq!(said.line(), "there is no such room; you are in room BCDFGH");
        said.hear(&RoomEvent::MatchJoined);
        assert_eq!(said.line(), "there is no such room; you are in");
        said.hear(&RoomEvent::LobbyDisconnected);
        said.hear(&RoomEvent::MatchJoined);
        assert_eq!(said.line(), "you are in", "by then it is outdated");
    }
}
