//! Who is present at which frame, agreed by peers alone: a pure machine beside the session.
//!
//! A *stream* (machine and stay) is immutable, so peers can never disagree about a value, only
//! about from which frame to which a stream counts. Three things change that: a *join*, written in
//! the lead's entry; a *goodbye*, written in the leaver's own last entry; and a *view*, agreed by
//! those who can still reach each other when somebody falls silent. Only the last needs a
//! conversation: one survivor asks all it can reach what they hold ([`collect`]), whoever answers
//! stops listening outside that circle ([`fence`]), what any of them holds counts, and the result
//! is the next view ([`install`]). Those outside may live on in another [`history`]; a fixed order
//! decides which one wins when they meet ([`meeting`]).
//!
//! The machine owns the roster, views, promises and which entries may be taken. It does not hold
//! inputs (see [`held::Entries`]), draw random numbers, read clocks, measure who is reachable or
//! move snapshots: its holder does, and drains [`Membership::next_message`].

mod admission;
mod ballot;
mod bootstrap;
pub(crate) mod codec;
mod confirm;
mod entry_range;
#[cfg(test)]
mod harness;
pub(crate) mod held;
mod history;
mod install;
mod majority;
mod merge;
mod messages;
mod peers;
mod promise;
mod rows;
mod rules;
mod settings;
mod view;
mod view_change;

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use gaggle_kit::{DecodeError, Frame, Micros, PeerId, SlotSet, VecSet};

use crate::roster::{Incarnation, StreamId};

use peers::Peers;
use promise::Fence;
use rules::Rules;
pub(crate) use view::View;
use view_change::Collection;

pub(crate) use ballot::Ballot;
pub(crate) use bootstrap::{Feed, Followed, JoinContext};
pub(crate) use entry_range::EntryRange;
use held::EntryIndex;
pub(crate) use held::{Entries, EntryControl, Held, Streams};
pub(crate) use history::{History, Lineage, MatchId, Relation, TIP_LINKS};
pub(crate) use merge::{Acceptance, SenderStatus};
pub(crate) use messages::{Known, Message, PeerStatus, Proposal};
#[cfg(test)]
pub(crate) use messages::{Report, Told};
pub(crate) use rows::{RosterEntry, lead_at, row_of};
pub(crate) use settings::{REPEAT_AFTER, Settings};

/// What the machine is in its match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    /// In none.
    Out,
    /// Fed by somebody: warming up, or watching.
    Observer,
    /// In the roster by its own knowledge.
    Member,
}

/// Why a stay ended against one's will.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum StayEnd {
    /// Nobody fed us, or we did not become full in time.
    Starved,
    /// A view says otherwise than what we have confirmed.
    Contradicted,
}

/// What only a peer can do, never the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// An entry it gave differs from the one that is held.
    EntryChanged { stream: StreamId, frame: Frame },
    /// A value in an entry cannot be read.
    Value(DecodeError),
    /// A ballot beyond all that can have been used.
    BallotLeap { number: u32 },
    /// A view with us in it, though nobody asked us what we hold.
    ViewUnasked { number: u32 },
    /// Somebody is to sit in slots the game does not have.
    NoSuchSlots,
    /// What it says it holds cannot be.
    ReportFalse,
    /// It has another number of players than it said before.
    PlayersChanged { players: u8, seats: u8 },
}

/// Counts what changed, for whoever keeps something that follows from it. Two machines in the same
/// state are equal whatever they count.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Epoch(u32);

impl Epoch {
    fn advance(&mut self) {
        self.0 = self.0.wrapping_add(1);
    }

    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

impl PartialEq for Epoch {
    fn eq(&self, _: &Epoch) -> bool {
        true
    }
}

impl Eq for Epoch {}

impl Hash for Epoch {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// The tag of what follows from starting together: the first that is used on a link.
pub(crate) const IMPLIED_TAG: u8 = 0;

/// Messages waiting to be sent; beyond this new ones are dropped, and said again later.
const OUTBOX_MAX: usize = 512;

/// The machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Membership {
    settings: Settings,
    rules: Rules,
    me: StreamId,
    /// How many players are here, and which slots they would like.
    players: u8,
    wanted: SlotSet,
    mode: Mode,
    lineage: Lineage,
    view: View,
    /// The view's rows with what confirmed entries said since.
    rows: Vec<RosterEntry>,
    /// The same with what entries say that are held but not confirmed.
    known: Vec<RosterEntry>,
    /// `known` changed since it was last asked.
    roster_changed: bool,
    /// Before this frame nothing changes about the roster.
    quiet_until: Frame,
    /// Changes with everything others are told of us and everything we think of them.
    epoch: Epoch,
    streams: Streams,
    /// Where the own one was last.
    own_place: EntryIndex,
    /// The first frame of the own stream.
    begun_at: Option<Frame>,
    /// Its last one, once the goodbye is written: what is held of it may be forgotten before
    /// everybody has read it.
    ended_at: Option<Frame>,
    confirmed: Frame,
    settled: Frame,
    /// Up to which frame an observer was told what is confirmed.
    fed: Frame,
    /// Since when nothing came of being fed or becoming full.
    starving_since: Micros,
    fence: Fence,
    /// What was accepted in a vote.
    accepted: Option<Proposal>,
    collection: Option<Collection>,
    peers: Peers,
    /// Streams the application wants gone.
    condemned: VecSet<StreamId>,
    /// The highest ballot number ever seen.
    number_seen: u32,
    /// Somebody is left with a fence: a change must be finished.
    unfinished: bool,
    suspicious_since: Option<Micros>,
    /// More suspicions may follow.
    doubtful: bool,
    /// A change is called for, and this one must act first: since when we wait for it, standing at
    /// which frame.
    held_up: Option<(StreamId, Micros, Frame)>,
    /// Nobody was missing when this epoch began.
    quiescent_since: Option<Epoch>,
    /// Nobody was missing or coming and nothing was being said when this epoch began.
    at_rest_since: Option<Epoch>,
    leaving: bool,
    slept: bool,
    ticked_at: Option<Micros>,
    lost: Option<StayEnd>,
    /// An entry of which others hold another value.
    contested: Option<(StreamId, Frame)>,
    /// Somebody who admitted somebody without being the lead, and where.
    usurper: Option<(StreamId, Frame)>,
    outbox: VecDeque<(PeerId, Message)>,
}

impl Membership {
    /// Everybody starts together, at the frame after `confirmed`.
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

    /// A machine in no match.
    pub(crate) fn out(settings: Settings, me: StreamId, players: u8, wanted: SlotSet) -> Membership {
        Membership {
            settings,
            rules: Rules::ALL,
            me,
            players,
            wanted,
            mode: Mode::Out,
            lineage: Lineage::default(),
            view: View::founding(MatchId::default(), Vec::new()),
            rows: Vec::new(),
            known: Vec::new(),
            roster_changed: false,
            quiet_until: Frame::START,
            epoch: Epoch::default(),
            streams: Streams::default(),
            own_place: EntryIndex::default(),
            begun_at: None,
            ended_at: None,
            confirmed: Frame::START,
            settled: Frame::START,
            fed: Frame::START,
            starving_since: Micros::ZERO,
            fence: Fence::new(Ballot::FOUNDING),
            accepted: None,
            collection: None,
            peers: Peers::default(),
            condemned: VecSet::new(),
            number_seen: 0,
            unfinished: false,
            suspicious_since: None,
            doubtful: true,
            held_up: None,
            quiescent_since: None,
            at_rest_since: None,
            leaving: false,
            slept: false,
            ticked_at: None,
            lost: None,
            contested: None,
            usurper: None,
            outbox: VecDeque::new(),
        }
    }

    /// The match begins with everybody in these rows, after what is confirmed.
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
            self.wanted = row.slots;
            self.players = row.slots.len() as u8;
            self.begun_at = Some(row.first_frame);
        }
        self.mode = Mode::Member;
        self.confirmed = confirmed;
        self.settled = confirmed;
        self.fence = Fence::new(Ballot::FOUNDING);
        self.refresh();
    }

    /// Whether there is a way to a peer, and it was heard lately.
    pub(crate) fn set_reachable(&mut self, peer: PeerId, reachable: bool) {
        self.peers.entry(peer).reachable = reachable;
        self.epoch.advance();
    }

    /// Whether a suspicion may not be the only one, or may turn out to be wrong: somebody who
    /// counts as reachable has been silent lately, or somebody who does not was heard not long ago.
    pub(crate) fn set_doubtful(&mut self, doubtful: bool) {
        self.doubtful = doubtful;
    }

    /// Nothing more is to be known about this machine.
    pub(crate) fn forget_peer(&mut self, peer: PeerId) {
        self.peers.remove(peer);
    }

    /// Whether a machine made everybody wait lately, so that it must not be taken for somebody new.
    pub(crate) fn is_wary_of(&self, now: Micros, peer: PeerId) -> bool {
        self.peers.get(peer).is_some_and(|peer| peer.is_on_record(now))
    }

    /// A link to a machine came up: tags told on the one before are void.
    pub(crate) fn handle_link(&mut self, peer: PeerId) {
        self.peers.entry(peer).forget_tags();
        self.epoch.advance();
    }

    /// A machine is here under this name, whatever it does: any other stay of it is over.
    pub(crate) fn handle_hello(&mut self, peer: PeerId, incarnation: Incarnation) {
        self.peers.entry(peer).set_incarnation(incarnation);
        self.epoch.advance();
    }

    /// A peer in our history said it confirmed this frame.
    pub(crate) fn note_confirmed(&mut self, peer: PeerId, confirmed: Frame) {
        let peer = self.peers.entry(peer);
        peer.confirmed = peer.confirmed.max(confirmed);
    }

    /// How a peer stands: what packets with this tag mean.
    pub(crate) fn standing_of(&self, peer: PeerId, tag: u8) -> Option<&PeerStatus> {
        self.peers.get(peer)?.standing(tag)
    }

    /// How a peer stands now.
    pub(crate) fn latest_standing(&self, peer: PeerId) -> Option<&PeerStatus> {
        self.peers.get(peer)?.latest()
    }

    /// A peer stands like this without having said so. False if it has said anything else.
    pub(crate) fn imply_standing(&mut self, peer: PeerId, standing: PeerStatus) -> bool {
        let peer = self.peers.entry(peer);
        let silent = peer.latest().is_none();
        if silent {
            peer.set_standing(IMPLIED_TAG, standing);
            self.epoch.advance();
        }
        silent
    }

    /// Whether a peer says that it is not in the roster.
    pub(crate) fn observes(&self, peer: PeerId) -> bool {
        self.peers.get(peer).is_some_and(|peer| peer.observes)
    }

    /// What another history a peer is in is to ours.
    pub(crate) fn relation_of(&self, peer: PeerId) -> Option<Relation> {
        let peer = self.peers.get(peer)?;
        Some(peer.relation(&self.lineage, &peer.latest()?.tip))
    }

    /// The highest attempt anybody was heard to make.
    #[cfg(test)]
    pub(crate) fn number_seen(&self) -> u32 {
        self.number_seen
    }

    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// How many frames the entries of a peer may lag when it is admitted.
    pub(crate) fn set_lag(&mut self, peer: PeerId, frames: u32) {
        self.peers.entry(peer).lag_frames = Some(frames);
    }

    /// The application wants this stream gone, though it may be alive.
    pub(crate) fn condemn(&mut self, stream: StreamId) {
        if rows::is_open(&self.known, stream) && stream != self.me {
            self.condemned.insert(stream);
            self.epoch.advance();
        }
    }

    /// Everybody has waited for this stream for too long. Whoever does that again is not let in
    /// again at once: unless it is somebody who has come back meanwhile, under another name, and
    /// the others may not even agree that the former one is gone.
    pub(crate) fn condemn_idle(&mut self, now: Micros, stream: StreamId) {
        let is_here = rows::is_open(&self.known, stream) && self.peers.is_reachable(&self.lineage, stream);
        if is_here && self.decide_without(stream) && stream != self.me {
            self.peers.entry(stream.peer).bar(now, stream.incarnation);
        }
        self.condemn(stream);
    }

    /// Time passes: suspicions ripen, questions are asked again, starving ends.
    pub(crate) fn tick(&mut self, now: Micros, entries: &mut dyn Entries) {
        if self.ticked_at.is_some_and(|at| now.since(at) > self.settings.sleep_after) {
            self.slept = true;
            self.starving_since = now;
            self.suspicious_since = None;
        }
        self.ticked_at = Some(now);
        if self.mode == Mode::Out {
            return;
        }
        self.find_myself(now);
        let satisfied = self.mode == Mode::Member && self.is_full();
        if satisfied {
            self.starving_since = now;
        } else if now.since(self.starving_since) >= self.settings.feed_timeout {
            self.give_up(StayEnd::Starved);
            return;
        }
        if self.mode == Mode::Member {
            self.note_ready(now);
            self.decide(now, false, entries);
        }
        if !self.is_at_rest() {
            self.at_rest_since = self.may_rest().then_some(self.epoch);
        }
    }

    /// Time passes, and nothing but inputs came. False if that is not all: then
    /// [`tick`](Membership::tick).
    pub(crate) fn rest(&mut self, now: Micros) -> bool {
        let awake = self.ticked_at.is_some_and(|at| now.since(at) <= self.settings.sleep_after);
        let rests = awake && self.is_at_rest();
        if rests {
            self.ticked_at = Some(now);
            self.starving_since = now;
        }
        rests
    }

    /// Whether there was nothing to do when we last looked, and nothing has changed since.
    /// Then nothing but inputs is told, and nobody has said goodbye.
    #[inline]
    pub(crate) fn is_at_rest(&self) -> bool {
        self.at_rest_since.is_some_and(|epoch| epoch.number() == self.epoch.number())
    }

    fn may_rest(&self) -> bool {
        let calm = self.quiescent_since.is_some_and(|epoch| epoch.number() == self.epoch.number());
        calm && self.mode == Mode::Member
            && !(self.leaving || self.unfinished || self.is_busy())
            && self.is_full()
            && self.promise_told().is_none()
            && self.own().is_some_and(|own| !own.is_empty())
            && self.streams.len() <= self.known.len()
            && !self.streams.say_something()
            && !self.peers.iter().any(|(_, peer)| peer.may_come_in())
    }

    /// Something a peer said.
    ///
    /// # Errors
    /// If only a peer that breaks the rules can have said it.
    pub(crate) fn handle_message(
        &mut self,
        now: Micros,
        from: PeerId,
        message: Message,
        entries: &mut dyn Entries,
    ) -> Result<(), Fault> {
        if !self.has_slots_of(message.rows()) {
            return Err(Fault::NoSuchSlots);
        }
        match message {
            Message::PeerStatus { tag, standing } => {
                let latest = self.latest_standing(from);
                let same = latest.filter(|latest| latest.incarnation == standing.incarnation);
                if let Some(same) = same.filter(|same| same.players != standing.players) {
                    return Err(Fault::PlayersChanged { players: standing.players, seats: same.players });
                }
                self.peers.entry(from).set_standing(tag, standing);
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
        self.outbox.pop_front()
    }

    /// Why the stay ended, told once.
    pub(crate) fn take_lost(&mut self) -> Option<StayEnd> {
        self.lost.take()
    }

    /// An entry of which others hold another value than we do, told once.
    pub(crate) fn take_contested(&mut self) -> Option<(StreamId, Frame)> {
        self.contested.take()
    }

    /// Somebody who admitted somebody without being the lead, told once.
    pub(crate) fn take_usurper(&mut self) -> Option<(StreamId, Frame)> {
        self.usurper.take()
    }

    /// Whether the roster as far as it is known changed since this was last asked.
    pub(crate) fn take_roster_changed(&mut self) -> bool {
        std::mem::take(&mut self.roster_changed)
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    pub(crate) fn me(&self) -> StreamId {
        self.me
    }

    /// The roster as confirmed entries have it.
    pub(crate) fn rows(&self) -> &[RosterEntry] {
        &self.rows
    }

    /// The roster with what is held beyond: what to simulate with.
    pub(crate) fn known(&self) -> &[RosterEntry] {
        &self.known
    }

    pub(crate) fn held(&self, stream: StreamId) -> Option<&Held> {
        self.streams.get(stream)
    }

    /// What is held of the own stream.
    pub(crate) fn own(&self) -> Option<&Held> {
        self.streams.get_near(self.own_place, self.me)
    }

    /// Of the other machine's stream most is held of, how many entries.
    pub(crate) fn entries_held_most(&self) -> u32 {
        let others = self.streams.iter().filter(|(stream, _)| *stream != self.me);
        others.map(|(_, held)| held.len()).max().unwrap_or(0)
    }

    pub(crate) fn confirmed(&self) -> Frame {
        self.confirmed
    }

    /// The last frame everybody who could still make a view has confirmed.
    pub(crate) fn settled(&self) -> Frame {
        self.settled
    }

    pub(crate) fn lineage(&self) -> &Lineage {
        &self.lineage
    }

    /// What to tell others of oneself.
    pub(crate) fn standing(&self) -> Option<PeerStatus> {
        (self.mode != Mode::Out).then(|| PeerStatus {
            tip: self.lineage.tip_since(self.lineage.depth().saturating_sub(self.settings.tip_links - 1)),
            incarnation: self.me.incarnation,
            first: self.begun_at,
            players: self.players,
            wanted: self.wanted,
            knows: None,
        })
    }

    /// What to add to a packet while fenced.
    pub(crate) fn promise_told(&self) -> Option<Ballot> {
        let promised = self.fence.promised();
        let fenced = self.fence.is_up() || promised > self.view.ballot;
        fenced.then_some(promised)
    }

    fn send(&mut self, to: PeerId, message: Message) {
        if to != self.me.peer && self.outbox.len() < OUTBOX_MAX {
            self.outbox.push_back((to, message));
        }
    }

    /// A member with an open row that has confirmed all that was before it.
    fn is_full(&self) -> bool {
        row_of(&self.known, self.me)
            .is_some_and(|row| row.is_active() && self.confirmed >= row.first_frame.previous())
    }

    /// No join and no goodbye may be written.
    fn is_busy(&self) -> bool {
        self.collection.is_some() || self.fence.is_up()
    }

    fn is_reachable(&self, stream: StreamId) -> bool {
        let is_condemned = self.condemned.contains(&stream) && self.may_do_without_condemned();
        !is_condemned && self.peers.is_reachable(&self.lineage, stream)
    }

    /// The stay is over, by one's own will.
    pub(crate) fn quit(&mut self) {
        self.mode = Mode::Out;
        self.epoch.advance();
        self.collection = None;
        self.leaving = false;
    }

    fn give_up(&mut self, why: StayEnd) {
        self.quit();
        self.lost = Some(why);
    }
}
