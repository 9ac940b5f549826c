//! The line at the lower edge of a page: the last thing that happened online, in words.

use gaggle::Event;

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
    pub(crate) fn hear(&mut self, event: &Event) {
        match event {
            // Of all there is to say about a player who joins this would be the last, and is the
            // least.
            Event::PathChanged { .. } => return,
            Event::Refused(_) => self.refusal = Some(event.to_string()),
            // The room that was found instead.
            Event::Key(_) | Event::Rooms | Event::Seated { .. } | Event::Joining { .. } | Event::Together => {
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
    use gaggle::lobby::{Refusal, RefusalCode};

    use super::*;

    #[test]
    fn refusal_stays_beside_the_room_found_instead() {
        let mut said = Said::new("latency: no number".to_string());
        assert_eq!(said.line(), "latency: no number");
        said.hear(&Event::Refused(Refusal::new(RefusalCode::NoSuchRoom, "there is no such room")));
        assert_eq!(said.line(), "there is no such room");
        let code = "BCDFGH".parse().expect("a code");
        said.hear(&Event::Seated { code, returned: false });
        assert_eq!(said.line(), "there is no such room; you are in room BCDFGH");
        said.hear(&Event::Together);
        assert_eq!(said.line(), "there is no such room; you are in");
        said.hear(&Event::ServerLost);
        said.hear(&Event::Together);
        assert_eq!(said.line(), "you are in", "by then it is long ago");
    }
}
