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
    incarnation: Option<Incarnation>,
    handshake: Handshake,
    /// Whether there is a link to it, even if it was rejected.
    is_up: bool,
    /// Cohorts both peers announced, theirs and ours; 0 for none.
    cohorts: (u64, u64),
    /// Local status as last sent on this link.
    told: SentStatus,
    meaning: Option<SenderContext>,
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
    pub(crate) fn handshake(&self) -> Handshake {
        self.handshake
    }

    /// Whether there is a link to it, even if it was rejected.
    pub(crate) fn is_up(&self) -> bool {
        self.is_up
    }

    /// Local status as last sent on this link.
    #[inline]
    pub(crate) fn told(&self) -> &SentStatus {
        &self.told
    }

    pub(crate) fn told_mut(&mut self) -> &mut SentStatus {
        &mut self.told
    }

    /// Context of the tag received last.
    #[inline]
    pub(crate) fn meaning(&self) -> Option<&SenderContext> {
        self.meaning.as_ref()
    }

    pub(crate) fn meaning_mut(&mut self) -> Option<&mut SenderContext> {
        self.meaning.as_mut()
    }

    pub(crate) fn set_meaning(&mut self, meaning: SenderContext) {
        self.meaning = Some(meaning);
    }

    pub(crate) fn forget_meaning(&mut self) {
        self.meaning = None;
    }

    /// A link was established. False if the peer was rejected: nothing is sent to it.
    #[must_use]
    pub(crate) fn link(&mut self) -> bool {
        self.is_up = true;
        let is_welcome = self.handshake != Handshake::Refused;
        if is_welcome {
            self.handshake = Handshake::Linked;
            self.told.forget();
        }
        is_welcome
    }

    /// The link ended. A rejected peer is remembered as such.
    pub(crate) fn unlink(&mut self) {
        self.is_up = false;
        if self.handshake != Handshake::Refused {
            self.handshake = Handshake::Unlinked;
        }
        self.told.forget();
    }

    /// The local announcement goes out, with this cohort.
    pub(crate) fn begin_cohort(&mut self, cohort: u64) {
        self.cohorts = (0, cohort);
    }

    /// Whether both peers announced that they start together.
    pub(crate) fn shares_cohort(&self, cohort: u64) -> bool {
        self.cohorts == (cohort, cohort)
    }

    /// Takes the peer's announcement, which was accepted. True if it is of another incarnation than
    /// the one before.
    #[must_use]
    pub(crate) fn handle_announce(&mut self, announce: &Announce) -> bool {
        self.meaning = None;
        self.cohorts.0 = announce.cohort;
        self.handshake = Handshake::Announced;
        self.incarnation.replace(announce.incarnation) != Some(announce.incarnation)
    }

    /// The round trip is known. True if that was the last step of the handshake.
    #[must_use]
    pub(crate) fn synchronize(&mut self) -> bool {
        let is_news = self.handshake == Handshake::Announced;
        if is_news {
            self.handshake = Handshake::Synchronized;
        }
        is_news
    }

    /// Incarnation of a peer with which the handshake is complete.
    pub(crate) fn ready_as(&self) -> Option<Incarnation> {
        self.incarnation.filter(|_| self.handshake == Handshake::Synchronized)
    }

    #[cfg(test)]
    pub(crate) fn set_handshake(&mut self, handshake: Handshake) {
        self.handshake = handshake;
    }

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

    #[test]
    fn handshake_goes_from_link_to_known_round_trip() {
        let (cx, mut hello) = (Cx::for_test(), Hello::default());
        hello.begin_cohort(7);
        assert!(hello.link() && !hello.synchronize(), "it has not announced itself");
        let announced = Announce { cohort: 7, ..announce(&cx) };
        assert!(hello.handle_announce(&announced) && hello.shares_cohort(7));
        assert_eq!(hello.ready_as(), None);
        assert!(hello.synchronize() && !hello.synchronize());
        assert_eq!(hello.ready_as(), Some(announced.incarnation));
        hello.unlink();
        assert!(hello.link() && !hello.handle_announce(&announced), "the same stay");
    }
}
