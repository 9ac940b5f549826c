//! What packets mean between this peer and another: the status told under each tag.
//!
//! Packets carry a tag of the status their sender told last. Absent: links, entries.

use gaggle_kit::{Frame, PeerId};

use crate::membership::{Acceptance, PeerStatus};
use crate::packet::TAG_NONE;
use crate::roster::{Incarnation, StreamId};

/// What packets with the tag last seen mean, as long as nothing about membership changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SenderContext {
    pub(crate) tag: u8,
    pub(crate) epoch: u32,
    /// What its packets say of it.
    pub(crate) observer: bool,
    /// It need not be judged again while nothing changes.
    pub(crate) plain: bool,
    pub(crate) hearing: Acceptance,
    /// The stream the sender stands for, and its first frame.
    pub(crate) stream: StreamId,
    pub(crate) first: Option<Frame>,
    pub(crate) players: u8,
    /// What it acknowledges are entries of the stream we have now.
    pub(crate) knows_us: bool,
    /// Its stream may grow.
    pub(crate) grows: bool,
    /// Where the stream lies in the ledger.
    pub(crate) track: Option<usize>,
}

impl SenderContext {
    /// A tag that means nothing to us.
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

/// Our standing as a peer was told it.
#[derive(Debug, Default)]
pub(crate) struct SentStatus {
    /// How often; the tag follows from it.
    count: u64,
    status: Option<PeerStatus>,
    /// It was never said: it follows from starting together.
    pub(crate) implied: bool,
    /// Since what was looked at last, nothing changed that it should be told.
    pub(crate) epoch: Option<u32>,
}

/// Tags in use on one link at a time.
const TAGS: u64 = TAG_NONE as u64;

impl SentStatus {
    /// The tag for our packets to this peer.
    pub(crate) fn tag(&self) -> u8 {
        match self.status {
            Some(_) => (self.count % TAGS) as u8,
            None => TAG_NONE,
        }
    }

    /// What the peer believes.
    pub(crate) fn status(&self) -> Option<&PeerStatus> {
        self.status.as_ref()
    }

    /// It is told something else from now on, under a new tag.
    pub(crate) fn tell(&mut self, status: PeerStatus) -> u8 {
        self.count += 1;
        self.status = Some(status);
        self.implied = false;
        self.tag()
    }

    /// It knows this without being told, by starting together with us. Nothing was told before.
    pub(crate) fn imply(&mut self, status: PeerStatus) {
        self.status = Some(status);
        self.implied = true;
    }

    /// We stand for nothing any more.
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
