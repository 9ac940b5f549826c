//! Status that both peers of a link have told each other, and the tags that refer to it.
//!
//! Packets carry the tag of the status their sender told last. Absent: links, entries.

use gaggle_kit::{Frame, PeerId};

use crate::membership::{Acceptance, PeerStatus};
use crate::packet::TAG_NONE;
use crate::roster::{Incarnation, StreamId};

/// Meaning of packets with the tag received last, valid until membership changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SenderContext {
    pub(crate) tag: u8,
    pub(crate) epoch: u32,
    /// Whether its packets say that it is an observer.
    pub(crate) observer: bool,
    /// Whether packets need no further checks while nothing changes.
    pub(crate) plain: bool,
    pub(crate) hearing: Acceptance,
    /// The sender's own stream, and its first frame.
    pub(crate) stream: StreamId,
    pub(crate) first: Option<Frame>,
    pub(crate) players: u8,
    /// Whether its acknowledgements refer to the present local stream.
    pub(crate) knows_us: bool,
    /// Whether entries of its stream may be taken.
    pub(crate) grows: bool,
    /// Index of the stream in the input log.
    pub(crate) track: Option<usize>,
}

impl SenderContext {
    /// Context for an unknown tag.
    pub(crate) fn nothing(peer: PeerId, tag: u8) -> SenderContext {
        SenderContext {
            tag,
            epoch: 0,
            observer: false,
            plain: false,
            hearing: Acceptance::Nothing,
            stream: StreamId { peer, incarnation: Incarnation(0) },
            first: None,
            players: 0,
            knows_us: false,
            grows: false,
            track: None,
        }
    }
}

/// Local status as a peer was told it.
#[derive(Debug, Default)]
pub(crate) struct SentStatus {
    /// Number of statuses sent; the tag is computed from it.
    count: u64,
    status: Option<PeerStatus>,
    /// The status was never sent: both peers assume it because they start together.
    implied: bool,
    /// Epoch in which the status was last found to be up to date.
    epoch: Option<u32>,
}

/// Number of tags in use on one link.
const TAGS: u64 = TAG_NONE as u64;

impl SentStatus {
    /// Tag for packets to this peer.
    pub(crate) fn tag(&self) -> u8 {
        match self.status {
            Some(_) => (self.count % TAGS) as u8,
            None => TAG_NONE,
        }
    }

    /// Whether the status was never sent: both peers assume it because they start together.
    pub(crate) fn is_implied(&self) -> bool {
        self.implied
    }

    /// Whether the status was found to be up to date in this epoch.
    #[inline]
    pub(crate) fn is_up_to_date(&self, epoch: u32) -> bool {
        self.epoch == Some(epoch)
    }

    pub(crate) fn note_up_to_date(&mut self, epoch: u32) {
        self.epoch = Some(epoch);
    }

    /// Status the peer knows.
    pub(crate) fn status(&self) -> Option<&PeerStatus> {
        self.status.as_ref()
    }

    /// Sends another status from now on, under a new tag. Returns the tag.
    pub(crate) fn tell(&mut self, status: PeerStatus) -> u8 {
        self.count += 1;
        self.status = Some(status);
        self.implied = false;
        self.tag()
    }

    /// The peer assumes this status because both start together; none was sent before.
    pub(crate) fn imply(&mut self, status: PeerStatus) {
        self.status = Some(status);
        self.implied = true;
    }

    /// Forgets the status: packets refer to none.
    pub(crate) fn forget(&mut self) {
        self.status = None;
        self.epoch = None;
        self.implied = false;
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::SlotSet;

    use super::*;
    use crate::membership::{Lineage, MatchId, View};

    fn status() -> PeerStatus {
        let view = View::founding(MatchId::default(), Vec::new());
        let tip = Lineage::founded(MatchId::default(), view.link()).tip();
        let incarnation = Incarnation(1);
        PeerStatus { tip, incarnation, first: None, players: 1, wanted: SlotSet::EMPTY, knows: None }
    }

    #[test]
    fn every_told_status_has_tag_of_its_own() {
        let mut sent = SentStatus::default();
        assert_eq!(sent.tag(), TAG_NONE);
        assert_eq!([sent.tell(status()), sent.tell(status())], [1, 2]);
        (2..TAGS).for_each(|_| _ = sent.tell(status()));
        assert_eq!(sent.tag(), 0, "tags are used again");
    }

    #[test]
    fn implied_status_has_first_tag_until_one_is_told() {
        let mut sent = SentStatus::default();
        sent.imply(status());
        assert_eq!((sent.tag(), sent.implied), (0, true));
        assert_eq!((sent.tell(status()), sent.implied), (1, false));
    }

    #[test]
    fn forgotten_status_has_no_tag() {
        let mut sent = SentStatus::default();
        sent.tell(status());
        sent.epoch = Some(3);
        sent.forget();
        assert_eq!((sent.tag(), sent.status(), sent.epoch), (TAG_NONE, None, None));
    }
}
