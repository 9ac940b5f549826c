//! Table of all other peers of a session: links, handshakes, clocks, statuses sent to each, rate
//! limits.
//!
//! `Session` reports link events to it and looks peers up. Absent: game state, what frames mean,
//! which peers are in the roster and why.

mod clock;
mod hello;
mod limits;
mod liveness;
mod status;
mod stream;

use std::ops::{Index, IndexMut};

use gaggle_kit::{Frame, Micros, PeerId};
use gaggle_link::CloseCode;

use crate::desync::PeerAudit;
use crate::event::SessionEvent;
use crate::gossip::SILENCE;
use crate::membership::{PeerStatus, REPEAT_AFTER};
use crate::session::Cx;

use clock::PeerClock;
use hello::Hello;
use liveness::Presence;
use stream::PeerStream;

pub(crate) use hello::{Handshake, own_announce, refusal};
pub(crate) use limits::Allowed;
#[cfg(test)]
pub(crate) use limits::FORWARDS;
pub(crate) use liveness::{Liveness, LivenessView, ReachChange};
pub(crate) use status::SenderContext;
pub(crate) use stream::Sent;

/// Most links of a session.
pub(crate) const LINKS_MAX: usize = 256;
/// Ticks between two searches for slow links.
const LINK_TICKS: u64 = 30;

/// A lost packet's entries come a frame later.
const LOSSY_PERCENT: i64 = 100;
/// Entries of a peer behind another come so much later than over two links: they are asked for
/// every second tick.
const INDIRECT_PERCENT: i64 = 300;

/// One other peer.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) peer: PeerId,
    /// Whether it is in the roster with an open row.
    pub(crate) is_open: bool,
    /// Whether it only spectates.
    pub(crate) watches: bool,
    /// Time until which it is not asked for its state, because it said that it has none and has not
    /// sent another status since.
    pub(crate) unable_until: Option<Micros>,
    pub(crate) hello: Hello,
    pub(crate) presence: Presence,
    pub(crate) time: PeerClock,
    pub(crate) stream: PeerStream,
    pub(crate) audit: PeerAudit,
    pub(crate) allowed: Allowed,
}

impl Peer {
    fn new(peer: PeerId) -> Self {
        Peer {
            peer,
            is_open: false,
            watches: false,
            unable_until: None,
            hello: Hello::default(),
            presence: Presence::default(),
            time: PeerClock::default(),
            stream: PeerStream::default(),
            audit: PeerAudit::default(),
            allowed: Allowed::default(),
        }
    }

    /// Another stay begins, of either peer: comparisons and measurements of the stay before are
    /// void.
    pub(crate) fn begin_stay(&mut self, agreed: Frame) {
        self.hello.forget_meaning();
        self.unable_until = None;
        self.time.begin_stay();
        self.stream.begin_stay();
        self.audit.begin_stay(agreed);
    }

    /// The roster has an open row of it, or none. `agreed` is the last frame whose hashes were
    /// equal with all. While the match is about to start (`is_gathering`) peers without a row are
    /// missed, too.
    pub(crate) fn set_open(&mut self, is_open: bool, agreed: Frame, is_gathering: bool) {
        if is_open && !self.is_open {
            // It took the state of a peer that agreed with all.
            self.audit.raise_agreed(agreed);
        }
        self.is_open = is_open;
        if !is_open && !is_gathering {
            // It left the roster: it is not missed, and may play again before the next check.
            self.presence.leave();
        }
    }

    /// The local status and its tag, if the peer is to be sent another one than it has. Called
    /// again in the same epoch it costs nothing.
    #[must_use]
    pub(crate) fn tell_status(
        &mut self,
        now: Micros,
        epoch: u32,
        status: impl FnOnce(PeerId) -> Option<PeerStatus>,
    ) -> Option<(u8, PeerStatus)> {
        if !self.is_linked() || self.hello.told().is_up_to_date(epoch) {
            return None;
        }
        let Some(status) = status(self.peer) else {
            self.hello.told_mut().forget();
            return None;
        };
        self.hello.told_mut().note_up_to_date(epoch);
        if self.hello.told().status() == Some(&status) {
            return None;
        }
        // Packets that overtake the message cannot be read yet: more of them are sent soon.
        self.stream.expect_loss(now + REPEAT_AFTER);
        Some((self.hello.told_mut().tell(status.clone()), status))
    }

    /// Whether packets should be exchanged with it.
    #[inline]
    pub(crate) fn is_linked(&self) -> bool {
        self.hello.is_linked()
    }

    /// Whether its messages are handled.
    #[inline]
    pub(crate) fn is_trusted(&self) -> bool {
        self.hello.is_trusted()
    }

    /// Whether it has no link, no row in the roster, and is not remembered as rejected.
    pub(crate) fn is_idle(&self) -> bool {
        !self.hello.is_up() && !self.is_open && self.hello.handshake() == Handshake::Unlinked
    }

    fn is_joining(&self) -> bool {
        self.hello.is_up() && !self.watches
    }
}

/// Peers sorted by id, for actions that every peer must do in the same order.
#[derive(Debug, Default)]
pub(crate) struct PeerTable {
    all: Vec<Peer>,
    /// Index of the peer whose packet probably comes next.
    next_sender: usize,
    /// Before this time no peer can have been silent for long, and all know the local status.
    quiescent_until: Micros,
    /// Peers to disconnect, at most one entry each.
    rejected: Vec<(PeerId, CloseCode)>,
}

impl Index<usize> for PeerTable {
    type Output = Peer;

    #[inline]
    fn index(&self, index: usize) -> &Peer {
        &self.all[index]
    }
}

impl IndexMut<usize> for PeerTable {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut Peer {
        &mut self.all[index]
    }
}

impl PeerTable {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    #[inline]
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Peer> {
        self.all.iter()
    }

    #[inline]
    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Peer> {
        self.all.iter_mut()
    }

    /// Peers in the roster.
    #[inline]
    pub(crate) fn open(&self) -> impl Iterator<Item = &Peer> + Clone {
        self.all.iter().filter(|remote| remote.is_open)
    }

    pub(crate) fn pair_mut(&mut self, one: usize, other: usize) -> Option<[&mut Peer; 2]> {
        self.all.get_disjoint_mut([one, other]).ok()
    }

    #[inline]
    pub(crate) fn index_of(&self, peer: PeerId) -> Option<usize> {
        // So few that looking at all of them is faster than searching.
        self.all.iter().position(|remote| remote.peer == peer)
    }

    pub(crate) fn get(&self, peer: PeerId) -> Option<&Peer> {
        self.all.iter().find(|remote| remote.peer == peer)
    }

    pub(crate) fn get_mut(&mut self, peer: PeerId) -> Option<&mut Peer> {
        self.all.iter_mut().find(|remote| remote.peer == peer)
    }

    /// As [`index_of`](PeerTable::index_of), for packets: those of one frame usually come in the
    /// order of their senders, so the next peer is tried first.
    pub(crate) fn sender_index(&mut self, peer: PeerId) -> Option<usize> {
        let index = match self.all.get(self.next_sender) {
            Some(remote) if remote.peer == peer => self.next_sender,
            _ => self.index_of(peer)?,
        };
        self.next_sender = if index + 1 < self.all.len() { index + 1 } else { 0 };
        Some(index)
    }

    /// Index of a peer, and whether it was inserted.
    pub(crate) fn find_or_insert(&mut self, peer: PeerId) -> (usize, bool) {
        match self.all.binary_search_by(|remote| remote.peer.cmp(&peer)) {
            Ok(index) => (index, false),
            Err(index) => {
                self.all.insert(index, Peer::new(peer));
                (index, true)
            }
        }
    }

    pub(crate) fn remove(&mut self, index: usize) {
        self.all.remove(index);
    }

    /// Number of links, and of peers remembered as rejected. Peers known only because another peer
    /// named them do not count.
    pub(crate) fn links(&self) -> usize {
        let counts = |remote: &&Peer| remote.hello.is_up() || remote.hello.handshake() == Handshake::Refused;
        self.all.iter().filter(counts).count()
    }

    /// Of the rejected peers without a link, the one heard longest ago that `is_free` to be
    /// forgotten.
    pub(crate) fn oldest_rejected(&self, is_free: impl Fn(PeerId) -> bool) -> Option<usize> {
        let is_idle = |remote: &Peer| remote.hello.handshake() == Handshake::Refused && !remote.hello.is_up();
        let idle = self.all.iter().enumerate().filter(|(_, r)| is_idle(r) && is_free(r.peer));
        idle.min_by_key(|(_, remote)| remote.presence.heard_at()).map(|(index, _)| index)
    }

    /// A link was established. False if the peer was rejected: nothing is sent to it.
    #[must_use]
    pub(crate) fn link(&mut self, index: usize, now: Micros) -> bool {
        let remote = &mut self.all[index];
        if !remote.hello.link() {
            return false;
        }
        // It may have forgotten this peer meanwhile: its acknowledgements will show what it holds.
        remote.stream.forget_acked();
        remote.presence.hear(now);
        remote.time.begin_link();
        self.disturb();
        true
    }

    /// A link ended. It may be established again.
    pub(crate) fn unlink(&mut self, index: usize) {
        self.all[index].hello.unlink();
        self.disturb();
    }

    /// Rejects a peer: its messages are ignored from now on, and its link should end. False if it
    /// was rejected before.
    #[must_use]
    pub(crate) fn reject(&mut self, index: usize, code: CloseCode) -> bool {
        let is_news = self.all[index].hello.reject();
        if is_news {
            self.rejected.push((self.all[index].peer, code));
            self.disturb();
        }
        is_news
    }

    pub(crate) fn poll_disconnect(&mut self) -> Option<(PeerId, CloseCode)> {
        self.rejected.pop()
    }

    /// Ends quiescence, because something happened that must be checked.
    #[inline]
    pub(crate) fn disturb(&mut self) {
        self.quiescent_until = Micros::ZERO;
    }

    /// Whether no peer must be checked, asked about or sent anything yet.
    #[inline]
    pub(crate) fn is_quiescent(&self, now: Micros) -> bool {
        now < self.quiescent_until
    }

    /// All peers were checked: this is not needed again until one can have been silent for this
    /// long, if only inputs arrive.
    pub(crate) fn find_quiescence(&mut self, may_rest: bool, silence: Micros) {
        let is_fine = |remote: &Peer| remote.is_trusted() && remote.presence.liveness() == Liveness::Heard;
        let heard_at = self.all.iter().map(|remote| remote.presence.heard_at()).min();
        self.quiescent_until = match heard_at {
            Some(at) if may_rest && self.all.iter().all(is_fine) => at + silence,
            _ => Micros::ZERO,
        };
    }

    /// The largest round trip among members, or among all while the match is about to start.
    pub(crate) fn rtt_worst(&self, is_gathering: bool) -> Option<Micros> {
        let members = self.all.iter().filter(|remote| is_gathering || remote.is_open);
        members.filter_map(|remote| remote.time.clock().rtt_high()).max()
    }

    /// The largest round trip among joiners: the first of them needs a suitable input delay from
    /// its first frame on.
    pub(crate) fn rtt_of_joiners(&self) -> Option<Micros> {
        let joining = self.all.iter().filter(|remote| remote.is_joining());
        joining.filter_map(|remote| remote.time.clock().rtt_high()).max()
    }

    /// Hundredths of a frame by which entries come later than half the worst round trip. An entry
    /// of a lost packet comes with the next one; an entry of a peer that is only heard through
    /// another is asked for, and takes a second link.
    pub(crate) fn late_percent(&self, now: Micros) -> i64 {
        let is_indirect = |remote: &Peer| {
            let fresh = |at: Micros| now.since(at) < SILENCE;
            let is_silent = now.since(remote.presence.heard_at()) >= SILENCE;
            is_silent && remote.presence.heard_via().is_some_and(|(_, at)| fresh(at))
        };
        if self.open().any(is_indirect) {
            let ways = self.open().filter(|remote| !is_indirect(remote) && remote.time.clock().is_known());
            let worst = ways.map(|remote| i64::from(remote.time.one_way_percent())).max();
            return worst.unwrap_or(0) + INDIRECT_PERCENT;
        }
        let is_lossy = self.open().any(|remote| remote.stream.losses().is_steady(now));
        if is_lossy { LOSSY_PERCENT } else { 0 }
    }

    /// No other peer is in the match or joining it.
    pub(crate) fn is_empty_match(&self, is_gathering: bool) -> bool {
        !self.all.iter().any(|remote| is_gathering || remote.is_open || remote.is_joining())
    }

    /// Frame the other peers are simulating now, from their packets: the median, so that no single
    /// outlier counts, and of two in the middle the earlier.
    pub(crate) fn present_frame(&self, now: Micros, frame: Micros) -> Option<Frame> {
        let mut told: Vec<i64> = self.open().filter_map(|remote| remote.time.present(now, frame)).collect();
        gaggle_kit::insertion_sort(&mut told, |frame| *frame);
        let middle = *told.get(told.len().saturating_sub(1) / 2)?;
        Some(Frame::new(middle.clamp(0, i64::from(u32::MAX - 1)) as u32))
    }

    /// Last frame whose hashes were equal with all members; the start if there is none.
    pub(crate) fn agreed_by_all(&self) -> Frame {
        self.open().map(|remote| remote.audit.agreed()).min().unwrap_or(Frame::START)
    }

    /// Reports links whose round trip exceeds what window and input delay cover: of members, or of
    /// `all` peers.
    pub(crate) fn tell_slow_links(&mut self, cx: &mut Cx, all: bool) {
        if !cx.ticks.is_multiple_of(LINK_TICKS) {
            return;
        }
        let delay = cx.config.input_delay_range.1.max(cx.config.input_delay_frames);
        let frames = 2 * u64::from(cx.config.prediction_frames() + delay);
        let max = Micros::new(frames * cx.frame.get());
        let trusted = self.all.iter_mut().filter(|remote| remote.is_trusted());
        for remote in trusted.filter(|remote| remote.is_open || all) {
            if let Some(rtt) = remote.time.take_slow(cx.now, max) {
                cx.events.push(SessionEvent::LinkTooSlow { peer: remote.peer, rtt, max });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(count: u128) -> PeerTable {
        let mut table = PeerTable::default();
        (1..=count).rev().for_each(|number| _ = table.find_or_insert(PeerId::from_u128(number)));
        table
    }

    #[test]
    fn peers_are_sorted_and_found_once() {
        let mut table = table(3);
        let names: Vec<u128> = table.iter().map(|remote| remote.peer.to_u128()).collect();
        assert_eq!(names, [1, 2, 3]);
        assert_eq!(table.find_or_insert(PeerId::from_u128(2)), (1, false));
        for number in [1, 2, 3, 1, 3] {
            let expected = Some(number as usize - 1);
            assert_eq!(table.sender_index(PeerId::from_u128(number)), expected);
        }
        assert_eq!(table.sender_index(PeerId::from_u128(9)), None);
    }

    #[test]
    fn rejected_peer_is_disconnected_once_and_remembered() {
        let mut table = table(2);
        assert!(table.link(0, Micros::ZERO));
        assert!(table.reject(0, CloseCode::PROTOCOL_ERROR) && !table.reject(0, CloseCode::PROTOCOL_ERROR));
        let rejected = (PeerId::from_u128(1), CloseCode::PROTOCOL_ERROR);
        assert_eq!([table.poll_disconnect(), table.poll_disconnect()], [Some(rejected), None]);
        table.unlink(0);
        assert!(!table.link(0, Micros::ZERO), "it stays rejected");
        table.unlink(0);
        assert_eq!((table.links(), table[0].is_idle()), (1, false));
        assert_eq!(table.oldest_rejected(|_| true), Some(0));
        assert_eq!(table.oldest_rejected(|_| false), None);
    }

    #[test]
    fn quiescence_ends_with_silence_or_news() {
        let mut table = table(1);
        table[0].hello.set_handshake(Handshake::Synchronized);
        let silence = Micros::from_millis(300);
        table.find_quiescence(true, silence);
        assert!(table.is_quiescent(Micros::from_millis(299)) && !table.is_quiescent(silence));
        table.disturb();
        assert!(!table.is_quiescent(Micros::ZERO));
        table[0].presence.set_liveness(Liveness::Interrupted);
        table.find_quiescence(true, silence);
        assert!(!table.is_quiescent(Micros::ZERO));
    }

    #[test]
    fn entries_are_late_by_losses_or_second_link() {
        let (mut table, now) = (table(2), Micros::from_secs(10));
        let via = table[1].peer;
        table.iter_mut().for_each(|remote| {
            remote.is_open = true;
            remote.presence.hear(now);
        });
        assert_eq!(table.late_percent(now), 0);
        (0..3).for_each(|_| table[0].stream.note_loss(now, Micros::ZERO));
        assert_eq!(table.late_percent(now), LOSSY_PERCENT);
        table[0].presence.hear(Micros::from_secs(9));
        assert_eq!(table.late_percent(now), LOSSY_PERCENT, "no peer hears it");
        table[0].presence.note_heard_via(via, now);
        assert_eq!(table.late_percent(now), INDIRECT_PERCENT, "the way to the other is not known");
        table[0].is_open = false;
        assert_eq!(table.late_percent(now), 0);
    }

    #[test]
    fn spectators_do_not_make_match_of_two() {
        let mut table = table(1);
        assert!(table.is_empty_match(false) && !table.is_empty_match(true));
        assert!(table.link(0, Micros::ZERO));
        assert!(!table.is_empty_match(false), "it may join");
        table[0].watches = true;
        assert!(table.is_empty_match(false));
    }
}
