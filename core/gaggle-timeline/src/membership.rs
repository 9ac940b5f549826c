//! Membership: which stream counts from which frame to which, agreed by peers without a server.
//!
//! A *stream* (a peer in one stay) never changes, so peers agree only on its first and last frame.
//! A *join* in the leader's entry begins it, a *goodbye* in its last entry ends it, a *view* ends
//! those of silent peers (`view_change`, `promise`, `merge`). Absent: inputs, clocks, snapshots.

mod admission;
mod ballot;
mod bootstrap;
pub(crate) mod codec;
mod collection;
mod confirm;
mod entry_range;
mod epoch;
mod fault;
#[cfg(test)]
mod harness;
pub(crate) mod held;
mod history;
mod install;
mod majority;
mod merge;
mod messages;
mod own_stream;
mod peers;
mod promise;
mod reports;
mod rows;
mod rules;
mod settings;
mod view;
mod view_change;
mod watch;

use gaggle_kit::{Frame, Micros, PeerId, SlotSet};

use crate::entries::Entries;
use crate::roster::{Incarnation, StreamId};

use collection::Collection;
use epoch::Epoch;
use own_stream::OwnStream;
use peers::Peers;
use promise::Fence;
use reports::Reports;
use rows::Changes;
use rules::Rules;
pub(crate) use view::View;
use watch::Watch;

pub(crate) use ballot::Ballot;
pub(crate) use bootstrap::{Feed, Followed, JoinContext};
pub(crate) use entry_range::EntryRange;
pub(crate) use fault::{Blame, Fault, StayEnd};
pub(crate) use held::{EntryControl, Held, Streams};
pub(crate) use history::{History, Lineage, MatchId, Relation, TIP_LINKS};
pub(crate) use merge::{Acceptance, SenderStatus};
pub(crate) use messages::{Known, Message, PeerStatus, Proposal};
#[cfg(test)]
pub(crate) use messages::{Report, Told};
pub(crate) use rows::{RosterEntry, leader_at, row_of};
pub(crate) use settings::{REPEAT_AFTER, Settings};

/// Role of this peer in its match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    /// In no match yet, or no longer.
    Out,
    /// Fed by a donor, as a learner or spectator.
    Observer,
    /// In the roster, as far as this peer knows.
    Member,
}

/// Tag of the status that peers assume of each other when they start together: the first one used
/// on a link.
pub(crate) const IMPLIED_TAG: u8 = 0;

/// Membership state of one peer: see the module.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Membership {
    settings: Settings,
    rules: Rules,
    me: StreamId,
    own_stream: OwnStream,
    mode: Mode,
    lineage: Lineage,
    view: View,
    /// Rows of the view, with the changes that confirmed entries made since.
    rows: Vec<RosterEntry>,
    /// The same rows, with the changes of entries that are held but not confirmed.
    known: Vec<RosterEntry>,
    changes: Changes,
    /// Changes with everything this peer tells others of itself and everything it knows of them.
    epoch: Epoch,
    streams: Streams,
    confirmed: Frame,
    settled: Frame,
    fence: Fence,
    /// Proposal accepted in a vote.
    accepted: Option<Proposal>,
    collection: Option<Collection>,
    peers: Peers,
    watch: Watch,
    reports: Reports,
}

impl Membership {
    /// Membership in a match that these peers start together, at the frame after `confirmed`.
    #[cfg(test)]
    pub(crate) fn start(
        settings: Settings,
        game: MatchId,
        me: StreamId,
        rows: Vec<RosterEntry>,
        confirmed: Frame,
    ) -> Membership {
        let mut membership = Membership::out(settings, me, 0, SlotSet::EMPTY);
        membership.begin(game, rows, confirmed);
        membership
    }

    /// Membership in no match.
    pub(crate) fn out(settings: Settings, me: StreamId, players: u8, wanted: SlotSet) -> Membership {
        Membership {
            settings,
            rules: Rules::ALL,
            me,
            own_stream: OwnStream::new(players, wanted),
            mode: Mode::Out,
            lineage: Lineage::default(),
            view: View::founding(MatchId::default(), Vec::new()),
            rows: Vec::new(),
            known: Vec::new(),
            changes: Changes::default(),
            epoch: Epoch::default(),
            streams: Streams::default(),
            confirmed: Frame::START,
            settled: Frame::START,
            fence: Fence::new(Ballot::FOUNDING),
            accepted: None,
            collection: None,
            peers: Peers::default(),
            watch: Watch::new(),
            reports: Reports::default(),
        }
    }

    /// Begins a match with all peers in these rows, after the confirmed frame.
    pub(crate) fn start_together(&mut self, game: MatchId, rows: Vec<RosterEntry>) {
        self.epoch.advance();
        self.begin(game, rows, self.confirmed);
    }

    fn begin(&mut self, game: MatchId, rows: Vec<RosterEntry>, confirmed: Frame) {
        self.view = View::founding(game, rows);
        self.lineage = Lineage::founded(game, self.view.link());
        self.rows.clone_from(&self.view.rows);
        for row in &self.rows {
            self.streams.insert(row.stream, Held::from(row.first_frame));
        }
        if let Some(row) = row_of(&self.rows, self.me).copied() {
            self.own_stream.seat(row.slots, row.first_frame);
        }
        self.mode = Mode::Member;
        self.confirmed = confirmed;
        self.settled = confirmed;
        self.fence.restart(Ballot::FOUNDING);
        self.refresh();
    }

    /// Sets whether a peer has a path to this one and was heard recently.
    pub(crate) fn set_reachable(&mut self, peer: PeerId, reachable: bool) {
        self.peers.entry(peer).reachable = reachable;
        self.epoch.advance();
    }

    /// Sets whether a suspicion may be wrong or followed by more: a reachable peer was silent
    /// recently, or an unreachable one was heard not long ago.
    pub(crate) fn set_doubtful(&mut self, doubtful: bool) {
        self.watch.set_doubtful(doubtful);
    }

    /// Forgets the effects of this peer's messages.
    pub(crate) fn forget_peer(&mut self, peer: PeerId) {
        self.peers.remove(peer);
    }

    /// A link to a peer was established: tags sent on the link before are void.
    pub(crate) fn handle_link(&mut self, peer: PeerId) {
        self.peers.entry(peer).forget_tags();
        self.epoch.advance();
    }

    /// A peer announced this incarnation: its other stays are over.
    pub(crate) fn handle_hello(&mut self, peer: PeerId, incarnation: Incarnation) {
        self.peers.entry(peer).set_incarnation(incarnation);
        self.epoch.advance();
    }

    /// A peer of this branch said that it confirmed this frame.
    pub(crate) fn note_confirmed(&mut self, peer: PeerId, confirmed: Frame) {
        let peer = self.peers.entry(peer);
        peer.confirmed = peer.confirmed.max(confirmed);
    }

    /// Status that packets of a peer with this tag refer to.
    pub(crate) fn status_of(&self, peer: PeerId, tag: u8) -> Option<&PeerStatus> {
        self.peers.get(peer)?.status(tag)
    }

    /// Newest status of a peer.
    pub(crate) fn latest_status(&self, peer: PeerId) -> Option<&PeerStatus> {
        self.peers.get(peer)?.latest()
    }

    /// Assumes this status of a peer that has not sent any. False if it has sent one.
    pub(crate) fn imply_status(&mut self, peer: PeerId, status: PeerStatus) -> bool {
        let peer = self.peers.entry(peer);
        let silent = peer.latest().is_none();
        if silent {
            peer.set_status(IMPLIED_TAG, status);
            self.epoch.advance();
        }
        silent
    }

    /// Whether a peer says that it is not in the roster.
    pub(crate) fn observes(&self, peer: PeerId) -> bool {
        self.peers.get(peer).is_some_and(|peer| peer.observes)
    }

    /// How the branch another peer is in relates to this one.
    pub(crate) fn relation_of(&self, peer: PeerId) -> Option<Relation> {
        let peer = self.peers.get(peer)?;
        Some(peer.relation(&self.lineage, &peer.latest()?.tip))
    }

    /// Highest ballot any peer was known to use.
    #[cfg(test)]
    pub(crate) fn number_seen(&self) -> u32 {
        self.fence.number_seen()
    }

    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Advances time: suspicions take effect, requests are repeated, a starving stay ends.
    pub(crate) fn tick(&mut self, now: Micros, entries: &mut dyn Entries) {
        self.watch.tick(now, self.settings.sleep_after);
        if self.mode == Mode::Out {
            return;
        }
        self.find_myself(now);
        let satisfied = self.mode == Mode::Member && self.is_full();
        if satisfied {
            self.watch.note_progress(now);
        } else if self.watch.starved(now) >= self.settings.feed_timeout {
            self.give_up(StayEnd::Starved);
            return;
        }
        if self.mode == Mode::Member {
            self.note_ready(now);
            self.decide(now, false, entries);
        }
        if !self.is_at_rest() {
            let since = self.may_rest().then_some(self.epoch);
            self.watch.set_at_rest(since);
        }
    }

    /// Advances time if only inputs were received. False if there is more to do: then call
    /// [`tick`](Membership::tick).
    pub(crate) fn rest(&mut self, now: Micros) -> bool {
        self.is_at_rest() && self.watch.rest(now, self.settings.sleep_after)
    }

    /// Whether the last check found nothing to do and nothing has changed since. Then only inputs
    /// are due, and no goodbye is pending.
    #[inline]
    pub(crate) fn is_at_rest(&self) -> bool {
        self.watch.is_at_rest(self.epoch)
    }

    fn may_rest(&self) -> bool {
        self.watch.is_quiescent(self.epoch)
            && self.mode == Mode::Member
            && !(self.own_stream.is_leaving() || self.watch.is_unfinished() || self.is_busy())
            && self.is_full()
            && self.promise_told().is_none()
            && self.own().is_some_and(|own| !own.is_empty())
            && self.streams.len() <= self.known.len()
            && !self.streams.say_something()
            && !self.peers.iter().any(|(_, peer)| peer.may_come_in())
    }

    /// Takes a message of a peer.
    ///
    /// # Errors
    /// If the message is a provable violation.
    pub(crate) fn handle_message(
        &mut self,
        now: Micros,
        from: PeerId,
        message: Message,
        entries: &mut dyn Entries,
    ) -> Result<(), Fault> {
        if !self.has_slots_of(message.rows()) {
            return Err(Fault::UnknownSlots);
        }
        match message {
            Message::PeerStatus { tag, status } => {
                let latest = self.latest_status(from);
                let same = latest.filter(|latest| latest.incarnation == status.incarnation);
                if let Some(same) = same.filter(|same| same.players != status.players) {
                    return Err(Fault::SlotCountChanged { players: status.players, seats: same.players });
                }
                self.peers.entry(from).set_status(tag, status);
                self.epoch.advance();
                Ok(())
            }
            Message::AskPath => {
                self.tell_path(now, from);
                Ok(())
            }
            Message::Path(path) => {
                self.peers.entry(from).set_path(&self.lineage, &path);
                self.epoch.advance();
                Ok(())
            }
            Message::Collect { tip, ballot, circle } => {
                self.take_collect(now, from, &tip, ballot, &circle, entries)
            }
            Message::Report(report) => self.take_report(now, from, *report, entries),
            Message::Nack { incarnation, promised } => {
                self.take_nack(now, StreamId { peer: from, incarnation }, promised, entries)
            }
            Message::Gone { incarnation } => {
                self.peers.entry(from).set_gone(incarnation);
                self.epoch.advance();
                Ok(())
            }
            Message::View { told, at, tails } => self.take_view(now, from, &told, at, &tails, entries),
            Message::Accept { told, ballot, tails } => self.take_accept(from, told, ballot, tails),
            Message::Accepted { incarnation, ballot } => {
                self.take_accepted(StreamId { peer: from, incarnation }, ballot, entries)
            }
            Message::AskSnapshot => Ok(()),
        }
    }

    /// The next message to send.
    pub(crate) fn next_message(&mut self) -> Option<(PeerId, Message)> {
        self.reports.next_message()
    }

    /// Why the stay ended, reported once.
    pub(crate) fn take_lost(&mut self) -> Option<StayEnd> {
        self.reports.take_lost()
    }

    /// An entry of which other peers hold another value, reported once.
    pub(crate) fn take_contested(&mut self) -> Option<(StreamId, Frame)> {
        self.reports.take_contested()
    }

    /// A stream that admitted a joiner without leading, reported once.
    pub(crate) fn take_false_leader(&mut self) -> Option<(StreamId, Frame)> {
        self.reports.take_false_leader()
    }

    /// Whether the known roster changed since the last call.
    pub(crate) fn take_roster_changed(&mut self) -> bool {
        self.changes.take()
    }

    /// Whether the known roster changed since
    /// [`take_roster_changed`](Membership::take_roster_changed).
    pub(crate) fn is_roster_changed(&self) -> bool {
        self.changes.is_unread()
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    pub(crate) fn me(&self) -> StreamId {
        self.me
    }

    /// The roster that confirmed entries describe.
    pub(crate) fn rows(&self) -> &[RosterEntry] {
        &self.rows
    }

    /// The roster that held entries describe, confirmed or not: the one to simulate with.
    pub(crate) fn known(&self) -> &[RosterEntry] {
        &self.known
    }

    pub(crate) fn held(&self, stream: StreamId) -> Option<&Held> {
        self.streams.get(stream)
    }

    /// Range of held entries of the own stream.
    pub(crate) fn own(&self) -> Option<&Held> {
        self.own_stream.held(&self.streams, self.me)
    }

    /// Largest number of entries held of one other stream.
    pub(crate) fn entries_held_most(&self) -> u32 {
        let others = self.streams.iter().filter(|(stream, _)| *stream != self.me);
        others.map(|(_, held)| held.len()).max().unwrap_or(0)
    }

    pub(crate) fn confirmed(&self) -> Frame {
        self.confirmed
    }

    /// Last frame confirmed by all peers that could still make a view.
    pub(crate) fn settled(&self) -> Frame {
        self.settled
    }

    pub(crate) fn lineage(&self) -> &Lineage {
        &self.lineage
    }

    /// Status to tell other peers.
    pub(crate) fn status(&self) -> Option<PeerStatus> {
        (self.mode != Mode::Out).then(|| PeerStatus {
            tip: self.lineage.tip_since(self.lineage.depth().saturating_sub(self.settings.tip_links - 1)),
            incarnation: self.me.incarnation,
            first: self.own_stream.first(),
            players: self.own_stream.players(),
            wanted: self.own_stream.wanted(),
            knows: None,
        })
    }

    /// As [`status`](Membership::status), with the stay of `peer` that this peer knows.
    pub(crate) fn status_for(&self, peer: PeerId) -> Option<PeerStatus> {
        let theirs = self.latest_status(peer);
        let knows = theirs.and_then(|theirs| Some((theirs.incarnation, theirs.first?)));
        let knows = knows.map(|(incarnation, first)| Known { incarnation, first });
        Some(PeerStatus { knows, ..self.status()? })
    }

    /// Ballot to add to a packet while a promise is open.
    pub(crate) fn promise_told(&self) -> Option<Ballot> {
        let promised = self.fence.promised();
        let fenced = self.fence.is_up() || promised > self.view.ballot;
        fenced.then_some(promised)
    }

    fn send(&mut self, to: PeerId, message: Message) {
        if to != self.me.peer {
            self.reports.send(to, message);
        }
    }

    /// Whether this is a member with an open row that has confirmed all frames before it.
    fn is_full(&self) -> bool {
        row_of(&self.known, self.me)
            .is_some_and(|row| row.is_active() && self.confirmed >= row.first_frame.previous())
    }

    /// Whether no join and no goodbye may be written now.
    fn is_busy(&self) -> bool {
        self.collection.is_some() || self.fence.is_up()
    }

    fn is_reachable(&self, stream: StreamId) -> bool {
        let is_evicted = self.watch.evicted().contains(&stream) && self.may_do_without_evicted();
        !is_evicted && self.peers.is_reachable(&self.lineage, stream)
    }

    /// Ends the stay by the peer's own decision.
    pub(crate) fn quit(&mut self) {
        self.mode = Mode::Out;
        self.epoch.advance();
        self.collection = None;
        self.own_stream.set_leaving(false);
    }

    fn give_up(&mut self, why: StayEnd) {
        self.quit();
        self.reports.lose(why);
    }
}
