//! Pairs of members, and datagrams forwarded within them.
//!
//! Part of [`Relay`](super::Relay). Absent: authentication, connections.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::relay::{HOST_PEER, RelayFrame, RelayLeg};

use super::{Outbound, Relay, Sink};
use crate::member::MemberId;

impl Relay {
    pub(super) fn request_pair(&mut self, id: MemberId, peer: PeerId, out: Sink<'_>) {
        let max = self.pairs_max(id);
        let member = self.member(id);
        let (me, room) = (member.peer(), member.room());
        match member.pair(peer, max) {
            Some(pair) if me != peer => pair.called = true,
            _ => {
                self.totals.refused_full += 1;
                return;
            }
        }
        match self.rooms[&room].members.get(&peer).copied() {
            Some(other) => self.open(id, other, out),
            None => {
                if peer == HOST_PEER {
                    self.want_insider(room);
                }
                self.tell(id, RelayFrame::Closed { peer }, out);
            }
        }
    }

    /// Opens pairs that others requested while this member was away.
    pub(super) fn open_requested_pairs(&mut self, id: MemberId, out: Sink<'_>) {
        let member = self.member(id);
        let (me, room) = (member.peer(), member.room());
        let others: Vec<MemberId> = self.rooms[&room].members.values().copied().collect();
        for other in others.into_iter().filter(|other| *other != id) {
            let wanted = self.member(other).find(me).is_some_and(|pair| pair.called && pair.open.is_none());
            if wanted {
                self.open(id, other, out);
            }
        }
    }

    pub(super) fn open(&mut self, id: MemberId, other: MemberId, out: Sink<'_>) {
        let (max, back_max) = (self.pairs_max(id), self.pairs_max(other));
        let (me, peer) = (self.member(id).peer(), self.member(other).peer());
        let Some(pair) = self.member(id).pair(peer, max) else { return };
        let is_new = pair.open.is_none();
        let Some(back) = self.member(other).pair(me, back_max) else { return };
        back.open = Some(id);
        if is_new {
            back.leg = None;
            self.tell(other, RelayFrame::Opened { peer: me }, out);
        }
        if let Some(pair) = self.member(id).find_mut(peer) {
            pair.open = Some(other);
        }
        self.tell(id, RelayFrame::Opened { peer }, out);
    }

    pub(super) fn close_pair(&mut self, id: MemberId, peer: PeerId, out: Sink<'_>) {
        let member = self.member(id);
        let me = member.peer();
        let Some(pair) = member.find_mut(peer) else { return };
        pair.called = false;
        let other = pair.open.take();
        member.tidy();
        if let Some(other) = other {
            self.unpair(other, me, out);
            // The other side must request it again, or it would reopen at once.
            if let Some(pair) = self.member(other).find_mut(me) {
                pair.called = false;
            }
            self.member(other).tidy();
        }
    }

    pub(super) fn unpair(&mut self, id: MemberId, gone: PeerId, out: Sink<'_>) {
        if let Some(pair) = self.member(id).find_mut(gone) {
            pair.open = None;
            pair.leg = None;
            self.tell(id, RelayFrame::Closed { peer: gone }, out);
        }
    }

    pub(super) fn forward(
        &mut self,
        now: Micros,
        id: MemberId,
        leg: RelayLeg,
        to: Option<PeerId>,
        datagram: &[u8],
        out: Sink<'_>,
    ) {
        self.totals.received += 1;
        let sender = self.members[id].as_mut().expect("connections name current members");
        sender.note_heard(now);
        let from = sender.peer();
        self.frame.clear();
        RelayFrame::Data { peer: from, datagram }.write(&mut self.frame);
        let count = to.map_or(sender.pairs().len(), |_| 1);
        for nth in 0..count {
            let sender = self.members[id].as_mut().expect("connections name current members");
            let peer = to.unwrap_or_else(|| sender.pairs()[nth].peer);
            let Some(pair) = sender.find_mut(peer) else {
                self.totals.dropped_unconnected += 1;
                continue;
            };
            pair.leg = Some(leg);
            let Some(other) = pair.open else {
                self.totals.dropped_unconnected += 1;
                continue;
            };
            if !sender.is_insider()
                && !self.limits.allows_frame(now, sender.key(), sender.network(), datagram.len())
            {
                self.totals.dropped_rate += 1;
                continue;
            }
            match self.members[other].as_ref().and_then(|other| other.route(from)) {
                Some(connection) => {
                    self.totals.forwarded += 1;
                    self.totals.forwarded_bytes += datagram.len() as u64;
                    out(connection, Outbound::Data(&self.frame));
                }
                None => self.totals.dropped_unconnected += 1,
            }
        }
    }
}
