//! The line at the lower edge of a page: the last thing that happened online, in words.

use gaggle::RoomEvent;

/// What the page says. A refusal stays beside what is done about it.
#[derive(Debug, Default)]
pub(crate) struct Said {
    line: String,
    refusal: Option<String>,
}

impl Said {
    /// Begins with these words.
    pub(crate) fn new(line: String) -> Said {
        Said { line, refusal: None }
    }

    /// The words at present.
    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    /// Takes in what happened online.
    pub(crate) fn hear(&mut self, event: &RoomEvent) {
        match event {
            // Of all there is to say about a player who joins this would be the last, and is the
            // least.
            RoomEvent::PathChanged { .. } | RoomEvent::LobbyReply { .. } | RoomEvent::ValueChanged { .. } => {
                return;
            }
            RoomEvent::RequestRejected { .. } => self.refusal = Some(event.to_string()),
            // The room that was found instead.
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
    fn refusal_stays_beside_the_room_found_instead() {
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
        assert_eq!(said.line(), "you are in", "by then it is long ago");
    }
}
