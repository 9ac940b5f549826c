//! Handshake with one peer: link, announcement, incarnation, and the status sent since.
//!
//! `PeerTable` and `Session` advance it. Absent: whether the peer is heard, what it plays.

use gaggle_kit::SlotSet;

use super::status::{SenderContext, SentStatus};
use crate::announce::{Announce, PROTOCOL_VERSION};
use crate::event::RejectReason;
use crate::roster::Incarnation;
use crate::session::Cx;

/// Stage of the handshake with a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Handshake {
    /// There is no link.
    Unlinked,
    /// The local announcement was sent.
    Linked,
    /// The peer's announcement was received and accepted.
    Announced,
    /// The round trip is measured, too.
    Synchronized,
    /// The peer was rejected for its settings or a violation: its messages are ignored.
    Refused,
}

/// Handshake state of one peer.
#[derive(Debug)]
pub(crate) struct Hello {
    /// Incarnation the peer announced.
    pub(crate) incarnation: Option<Incarnation>,
    pub(crate) handshake: Handshake,
    /// Whether there is a link to it, even if it was rejected.
    pub(crate) is_up: bool,
    /// Cohorts both peers announced, theirs and ours; 0 for none.
    pub(crate) cohorts: (u64, u64),
    /// Local status as last sent on this link.
    pub(crate) told: SentStatus,
    pub(crate) meaning: Option<SenderContext>,
}

impl Default for Hello {
    fn default() -> Hello {
        Hello {
            incarnation: None,
            handshake: Handshake::Unlinked,
            is_up: false,
            cohorts: (0, 0),
            told: SentStatus::default(),
            meaning: None,
        }
    }
}

impl Hello {
    /// Whether packets should be exchanged with it.
    #[inline]
    pub(crate) fn is_linked(&self) -> bool {
        matches!(self.handshake, Handshake::Linked | Handshake::Announced | Handshake::Synchronized)
    }

    /// Whether its messages are handled.
    #[inline]
    pub(crate) fn is_trusted(&self) -> bool {
        matches!(self.handshake, Handshake::Announced | Handshake::Synchronized)
    }

    /// Ignores its messages from now on. False if they were ignored before.
    #[must_use]
    pub(crate) fn reject(&mut self) -> bool {
        let is_news = self.handshake != Handshake::Refused;
        if is_news {
            self.handshake = Handshake::Refused;
            self.told.forget();
        }
        is_news
    }
}

/// Announcement of the local peer.
pub(crate) fn own_announce(cx: &Cx, incarnation: Incarnation, slots: SlotSet, cohort: u64) -> Announce {
    Announce {
        version: PROTOCOL_VERSION,
        game_fingerprint: cx.config.game_fingerprint,
        settings_fingerprint: cx.settings_fingerprint,
        shape: cx.shape,
        incarnation,
        slots,
        cohort,
    }
}

/// Reason to reject a peer with this announcement, or one that claims other slots than the given
/// ones.
pub(crate) fn refusal(cx: &Cx, announce: &Announce, given: Option<SlotSet>) -> Option<RejectReason> {
    let (ours, theirs) = (cx.config.game_fingerprint, announce.game_fingerprint);
    match given {
        _ if announce.version != PROTOCOL_VERSION => {
            Some(RejectReason::Version { ours: PROTOCOL_VERSION, theirs: announce.version })
        }
        _ if theirs != ours => Some(RejectReason::Game { ours, theirs }),
        _ if announce.settings_fingerprint != cx.settings_fingerprint => Some(RejectReason::Settings),
        _ if announce.shape != cx.shape && announce.shape != 0 && cx.shape != 0 => {
            Some(RejectReason::Shape { ours: cx.shape, theirs: announce.shape })
        }
        Some(ours) if ours != announce.slots && announce.slots != SlotSet::EMPTY => {
            Some(RejectReason::Slots { ours, theirs: announce.slots })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announce(cx: &Cx) -> Announce {
        Announce { shape: 5, ..own_announce(cx, Incarnation(1), SlotSet::first(1), 0) }
    }

    #[test]
    fn peer_with_same_rules_is_accepted() {
        let mut cx = Cx::for_test();
        assert_eq!(refusal(&cx, &announce(&cx), None), None, "a shape that was not told fits all");
        cx.shape = 5;
        assert_eq!(refusal(&cx, &announce(&cx), Some(SlotSet::first(1))), None);
    }

    #[test]
    fn peer_with_other_rules_is_rejected_for_first_difference() {
        let mut cx = Cx::for_test();
        cx.shape = 6;
        let same = announce(&cx);
        let shape = Some(RejectReason::Shape { ours: 6, theirs: 5 });
        assert_eq!(refusal(&cx, &same, None), shape);
        let settings = Announce { settings_fingerprint: !cx.settings_fingerprint, ..same };
        assert_eq!(refusal(&cx, &settings, None), Some(RejectReason::Settings));
        let version = Announce { version: PROTOCOL_VERSION + 1, ..settings };
        assert!(matches!(refusal(&cx, &version, None), Some(RejectReason::Version { .. })));
        cx.shape = 0;
        let (ours, theirs) = (SlotSet::first(2), SlotSet::first(1));
        let slots = Some(RejectReason::Slots { ours, theirs });
        assert_eq!(refusal(&cx, &same, Some(ours)), slots);
    }

    #[test]
    fn peer_is_rejected_once() {
        let mut hello = Hello::default();
        assert!(hello.reject() && !hello.reject());
        assert!(!hello.is_linked() && !hello.is_trusted());
    }
}
