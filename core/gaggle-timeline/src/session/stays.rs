//! One stay in a match follows another: what was played here may be lost, and others may be present. Whoever goes by the
//! events alone has the roster all the same.

use gaggle_kit::{Frame, Input, PeerId, SlotSet};

use super::Session;
use crate::event::Event;
use crate::membership::{Mode, Relation, Tip, lead_at, row_of};

/// What people know of the stay that ends.
pub(super) struct FormerStay {
    /// There was none: whoever comes in for the first time reads who is present, and is told what changes.
    is_first: bool,
    /// What was played or shown in it does not count any more.
    is_lost: bool,
    last: Frame,
    present: Vec<(PeerId, SlotSet, Frame)>,
}

impl<I: Input> Session<I> {
    /// Another stay is about to begin, in the history `next`, or in one of our own making.
    pub(super) fn end_stay(&self, next: Option<&Tip>) -> FormerStay {
        let sat = row_of(self.membership.known(), self.membership.me()).is_some();
        let goes_on = |tip| {
            let relation = self.membership.lineage().relate_whole(tip);
            matches!(relation, Relation::Same | Relation::Descendant)
        };
        FormerStay {
            is_first: !self.running,
            is_lost: next.is_some_and(|tip| self.membership.mode() == Mode::Member || sat || !goes_on(tip)),
            last: self.membership.confirmed(),
            present: self.told_present(),
        }
    }

    /// Another stay has begun: what is different is told.
    pub(super) fn begin_stay(&mut self, former: &FormerStay) {
        let frame = self.membership.confirmed();
        let lead = lead_at(self.membership.rows(), frame.next()).map(|row| row.stream.peer);
        if former.is_first {
            self.told_history = Some(self.membership.lineage().history());
            self.lead = lead;
            return;
        }
        if former.is_lost {
            self.told_history = Some(self.membership.lineage().history());
            self.events.push(Event::HistoryChanged { frame, ours_lost: true });
        } else {
            self.note_history();
        }
        let present = self.told_present();
        let is_in = |all: &[(PeerId, SlotSet, Frame)], peer, slots| {
            all.iter().any(|(other, theirs, _)| (*other, *theirs) == (peer, slots))
        };
        for (peer, slots, _) in &former.present {
            if !is_in(&present, *peer, *slots) {
                self.events.push(Event::Left { peer: *peer, last: former.last });
            }
        }
        for (peer, slots, first) in &present {
            if !is_in(&former.present, *peer, *slots) {
                self.events.push(Event::Joined { peer: *peer, slots: *slots, first: *first });
            }
        }
        if let Some(peer) = lead.filter(|_| self.lead.is_some() && self.lead != lead) {
            self.events.push(Event::LeadChanged { lead: peer });
        }
        self.lead = lead;
    }

    /// The others who are present as far as was told. Of ourselves it is told when our own part begins and ends.
    fn told_present(&self) -> Vec<(PeerId, SlotSet, Frame)> {
        let frame = self.membership.confirmed().max(self.origin.next());
        let rows = self.membership.rows().iter().filter(|row| row.counts_at(frame));
        let others = rows.filter(|row| row.stream.peer != self.local_peer);
        others.map(|row| (row.stream.peer, row.slots, row.first)).collect()
    }
}
