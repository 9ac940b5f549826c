//! Who is present, as told by events; and what is told where one stay in a match follows another.
//! Whoever goes by the events alone has the roster, whatever views are made of it and whichever
//! history goes on.

use gaggle_kit::{Frame, Input};

use super::Session;
use crate::event::SessionEvent;
use crate::membership::{JoinContext, Mode, Relation, lead_at, row_of};
use crate::roster::RosterEntry;

/// What becomes of a stay that ends.
pub(super) struct FormerStay {
    /// There was none: whoever comes in for the first time reads who is present, and is told what
    /// changes.
    is_first: bool,
    /// What was played or shown in it does not count any more.
    is_lost: bool,
    last: Frame,
}

impl FormerStay {
    /// The last frame that was final in it.
    pub(super) fn last(&self) -> Frame {
        self.last
    }
}

impl<I: Input> Session<I> {
    /// Another stay is about to begin, in somebody's history, or in one of our own making.
    pub(super) fn end_stay(&self, next: Option<&JoinContext>) -> FormerStay {
        let sat = || row_of(self.membership.known(), self.membership.me()).is_some();
        let is_lost = |next: &JoinContext| {
            let relation = self.membership.lineage().relate_whole(&next.told.tip);
            let goes_on = matches!(relation, Relation::Same | Relation::Descendant);
            self.membership.mode() == Mode::Member || sat() || !goes_on || self.membership.takes_back(next)
        };
        let last = self.membership.confirmed();
        FormerStay { is_first: !self.running, is_lost: next.is_some_and(is_lost), last }
    }

    /// Another stay has begun: what is different is told.
    pub(super) fn begin_stay(&mut self, former: &FormerStay) {
        let frame = self.membership.confirmed();
        if former.is_first {
            self.reported_branch = Some(self.membership.lineage().history());
            self.leader = lead_at(self.membership.rows(), frame.next()).map(|row| row.stream.peer);
            self.begin_with_present();
            return;
        }
        if former.is_lost {
            self.reported_branch = Some(self.membership.lineage().history());
            self.events.push(SessionEvent::BranchAbandoned { frame });
        } else {
            self.note_history();
        }
        // Whoever sits here as it sat there has not moved, under whatever name.
        let is_in = |all: &[RosterEntry], row: &RosterEntry| {
            all.iter().any(|other| (other.stream.peer, other.slots) == (row.stream.peer, row.slots))
        };
        let before = std::mem::take(&mut self.present_told);
        self.begin_with_present();
        for row in before.iter().filter(|row| !is_in(&self.present_told, row)) {
            self.events.push(SessionEvent::Left { peer: row.stream.peer, last: former.last });
        }
        for row in self.present_told.iter().filter(|row| !is_in(&before, row)) {
            self.events.push(SessionEvent::Joined {
                peer: row.stream.peer,
                slots: row.slots,
                first: row.first_frame,
            });
        }
        self.tell_lead(frame.next());
    }

    /// Nobody needs to be told of those a stay begins with.
    pub(super) fn begin_with_present(&mut self) {
        let frame = self.membership.confirmed().next();
        self.present_told.clear();
        self.present_told.extend(self.membership.rows().iter().filter(|row| row.is_present_at(frame)));
    }

    /// A frame is confirmed in which somebody may have come or gone.
    pub(super) fn tell_roster(&mut self, frame: Frame) {
        let Session { present_told: told, membership, events, .. } = self;
        let rows = membership.rows();
        told.retain(|row| {
            let now = row_of(rows, row.stream);
            let stays = now.is_some_and(|now| now.is_present_at(frame));
            if !stays {
                let last = now.map_or(frame.previous(), |now| now.last_frame);
                events.push(SessionEvent::Left { peer: row.stream.peer, last });
            }
            stays
        });
        for row in rows.iter().filter(|row| row.is_present_at(frame)) {
            if row_of(told, row.stream).is_none() {
                told.push(*row);
                events.push(SessionEvent::Joined {
                    peer: row.stream.peer,
                    slots: row.slots,
                    first: row.first_frame,
                });
            }
        }
        self.tell_lead(frame);
    }

    fn tell_lead(&mut self, frame: Frame) {
        let lead = lead_at(self.membership.rows(), frame).map(|row| row.stream.peer);
        if let Some(peer) = lead.filter(|_| self.leader != lead) {
            if self.leader.is_some() {
                self.events.push(SessionEvent::LeaderChanged { leader: peer });
            }
            self.leader = lead;
        }
    }
}
