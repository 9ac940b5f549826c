//! Resolution of records: an object keeps the greatest record that is permitted. A rejected record
//! stays with its peer and is resolved again when the roster changes. Intake calls it for records,
//! the session when the roster changes. Absent: bytes, bandwidth.

use gaggle_kit::Micros;

use super::{Authority, Claim, MembershipView, Resolution};
use crate::ablation::Rule;
use crate::event::SessionEvent;
use crate::message::Message;
use crate::peers::LinkRecord;
use crate::pool::Block;
use crate::roster::RosterMember;
use crate::session::work::Work;
use crate::smoothing::Scene;
use crate::store::ObjectIndex;
use crate::version::Record;
use crate::{MemberId, ObjectId};

/// Interval at which premature records are resolved again.
const PREMATURE_INTERVAL: Micros = Micros::from_secs(1);

/// No questions are sent while this many messages wait.
const MESSAGES_MAX: usize = 1_024;

impl Authority {
    /// Resolves the record a peer has under a handle.
    pub(crate) fn resolve_handle(&mut self, work: &mut Work<'_>, link: usize, handle: u16) {
        let incoming = work.peers[link].inbound.at(handle).filter(|incoming| incoming.is_open());
        let Some(incoming) = incoming else { return };
        let Some((_, record)) = incoming.record else { return };
        let (place, value) = (incoming.object, incoming.value);
        let Some(sender) = work.peers[link].present() else { return };
        let claims_max = work.view().claims_max();
        if record.version.lock_seq > claims_max || record.version.claim_seq > claims_max {
            let peer = work.peers[link].id;
            if let Some(incoming) = work.peers[link].inbound.at_mut(handle)
                && !std::mem::replace(&mut incoming.premature, true)
            {
                self.premature.push((peer, handle));
                work.cx.stats.records_rejected += 1;
            }
            return;
        }
        self.take(work, link, sender, place, record, Some(value));
    }

    /// Resolves the records all peers have of an object.
    pub(crate) fn resolve_object(&mut self, work: &mut Work<'_>, place: ObjectIndex) {
        for link in 0..work.peers.len() {
            if let Some(handle) = work.peers[link].inbound.handle_of(place) {
                self.resolve_handle(work, link, handle);
            }
        }
    }

    /// Resolves a record: a function of its arguments alone.
    pub(crate) fn resolve(claim: &Claim<'_>, view: &MembershipView<'_>) -> Resolution {
        view.resolve(claim)
    }

    /// Resolves a record and applies the result.
    fn take(
        &mut self,
        work: &mut Work<'_>,
        link: usize,
        sender: RosterMember,
        place: ObjectIndex,
        record: Record,
        value: Option<Block>,
    ) {
        let their_tick = work.peers[link].inbound.their_tick();
        let object = &mut work.objects[place];
        let (id, holder) = (object.id, record.version.authority);
        object.claims.top = (
            object.claims.top.0.max(record.version.lock_seq),
            object.claims.top.1.max(record.version.claim_seq),
        );
        if let Some(world) = &mut object.record {
            // Its authority reports an earlier tick than others attributed to it, so those records
            // were forged while it was away.
            let same_claim = world.version.same_claim(&record.version);
            if same_claim && holder == sender.id && world.version.tick > their_tick {
                world.version.tick = 0;
            }
        }
        let is_spoken_for = work.cx.ablation.holds(Rule::PresentSpeakForThemselves)
            && holder != sender.id
            && work.members.roster().contains(holder)
            && !gave_up(work, holder, place);
        let claim = Claim {
            record: &record,
            object: &work.objects[place],
            sender,
            legacies: work.peers[link].inbound.legacies(),
            is_spoken_for,
            is_unmade: work.objects.is_unmade(id, work.members.me().id.tag),
            is_forgotten: work.tombstones.contains(id),
        };
        let resolution = Authority::resolve(&claim, &work.view());
        match resolution {
            Resolution::Keep => return,
            Resolution::Adopt | Resolution::Correct => {
                let by_maker = sender.id.tag == id.creator() && holder == sender.id;
                let world = work.objects[place].record;
                if resolution == Resolution::Correct {
                    self.replace(work, place, record, value);
                    work.objects[place].claims.by_maker |= by_maker;
                    return;
                }
                work.objects[place].claims.by_maker |= by_maker;
                if holder != sender.id && world.is_none() {
                    work.peers[link].inbound.note_legacy();
                }
                if world.is_none_or(|world| work.view().is_above(id, &record, &world)) {
                    self.replace(work, place, record, value);
                }
                return;
            }
            Resolution::Ask => ask(work, place, &record),
            Resolution::Unauthorized => self.note_unauthorized(work, place, record),
            Resolution::Contradict => self.contradict(work, place),
            Resolution::Reject => {}
        }
        work.cx.stats.records_rejected += 1;
    }

    /// Replaces the record of an object.
    fn replace(&mut self, work: &mut Work<'_>, place: ObjectIndex, record: Record, value: Option<Block>) {
        let object = &work.objects[place];
        let (id, before) = (object.id, object.record);
        let was_mine = before.is_some_and(|before| before.version.authority == work.members.me().id);
        let is_mine = record.version.authority == work.members.me().id;
        let in_trust = work.cx.config.authority.is_open()
            && record.owner_claim.is_some_and(|slot| work.members.me().has_slot(slot))
            && !record.gone
            && !is_mine
            && work.members.is_member();
        // A player that takes back its own object after a partition continues from its own value.
        let keeps_value = in_trust && was_mine && before.is_some_and(|b| !b.gone && b.kind == record.kind);

        if before.is_some_and(|before| {
            (before.gone, before.kind, before.home) != (record.gone, record.kind, record.home)
        }) {
            // Peers that know the handle do not know these constants.
            let object = &mut work.objects[place];
            object.identity = object.identity.wrapping_add(1);
            work.peers.iter_mut().for_each(|link| link.out[place].forget_identity());
        }
        let same_holder = before.is_some_and(|before| before.version.same_claim(&record.version));
        let shown = work.before_change(place, same_holder);
        let scene = Scene { cx: work.cx, objects: work.objects, peers: work.peers };
        let departs = record.gone && work.smoothing.keep_showing(scene, place, &record);
        work.objects.set_record(place, Some(record));
        if let Some(value) = value.filter(|_| !keeps_value) {
            work.objects.copy_value(place, value);
        }
        work.objects[place].changed_at = work.cx.now;
        if shown {
            work.after_change(place);
        }
        let now = work.cx.now;
        let object = &mut work.objects[place];
        object.orphan_since = now;
        let was_hidden = std::mem::replace(&mut object.hidden, false);
        if before.is_none_or(|before| !before.version.same_claim(&record.version)) {
            object.claims.claimed_at = now;
        }
        work.objects.change_stamp(place);
        self.note_orphan(work, place);
        if record.gone {
            work.keep_tombstone(place);
        }
        if was_hidden && !record.gone {
            work.cx.emit(SessionEvent::InterestGained { id });
        }
        // A deletion not shown yet is reported when it is shown.
        if !departs && (record.gone || !work.smoothing.return_departing(id)) {
            tell_of(work, id, before.as_ref(), &record, in_trust);
        }
        if was_mine && !is_mine && !in_trust {
            work.close_everywhere(place);
        }
        if in_trust && self.raise_claim(work, place, false, None) {
            work.cx.stats.reclaimed += 1;
            work.cx.emit(SessionEvent::AuthorityGained { id, from: record.player });
        }
        work.refresh(place);
    }

    /// A record lower than this peer's arrived: this peer answers, unless another peer will.
    pub(crate) fn answer(work: &mut Work<'_>, link: usize, place: ObjectIndex, record: &Record) {
        if work.members.is_spectator() {
            return;
        }
        let object = &work.objects[place];
        let id = object.id;
        if work.tombstones.contains(id) {
            if work.members.is_leader() && object.record.is_none() {
                let peer = work.peers[link].id;
                work.cx.tell(peer, &Message::Forgotten(id));
            }
            return;
        }
        let Some(world) = object.record else { return };
        if world.says_the_same(record) || !work.view().is_above(id, &world, record) {
            return;
        }
        let holder = world.version.authority;
        if work.hides(link, place) {
            // A peer that only uses the id of an object need not know the object.
            return;
        }
        let speaks_itself = holder != work.members.me().id && work.members.roster().contains(holder);
        if (world.gone || !speaks_itself) && work.cx.ablation.holds(Rule::OlderIsAnswered) {
            work.peers[link].out[place].forget_acks();
            work.set_owed(link, place, true);
            work.cx.stats.corrections_sent += 1;
            work.refresh_link(link, place);
        }
    }

    /// Checks whether an object has a valid authority, and lists it if not.
    pub(crate) fn note_orphan(&mut self, work: &mut Work<'_>, place: ObjectIndex) {
        let object = &work.objects[place];
        let Some(record) = object.record else { return };
        let id = object.id;
        let orphan = !work.view().is_rightful(id, &record);
        let inheriting = orphan && work.view().successor(id, &record) == Some(work.members.me().id);
        let now = work.cx.now;
        let object = &mut work.objects[place];
        if orphan && !object.orphan_listed {
            object.orphan_listed = true;
            self.orphans.push(place);
        }
        if inheriting && !object.inheriting {
            object.orphan_since = now;
        }
        object.orphan = orphan;
        object.inheriting = inheriting;
    }

    /// A member joined or left: every record is resolved again, and orphans are sent again.
    pub(crate) fn roster_changed(&mut self, work: &mut Work<'_>) {
        self.unauthorized.clear();
        for place in 0..work.objects.places() as ObjectIndex {
            work.objects[place].claims.asked = None;
            work.objects[place].claims.unauthorized = false;
            self.note_orphan(work, place);
        }
        for index in 0..self.orphans.len() {
            let place = self.orphans[index];
            for link in work.peers.iter_mut() {
                link.out[place].forget_record();
            }
        }
        for link in 0..work.peers.len() {
            for handle in 0..work.peers[link].inbound.handles() {
                self.resolve_handle(work, link, handle as u16);
            }
            for index in 0..work.peers[link].inbound.refused().len() {
                let LinkRecord { object, record } = work.peers[link].inbound.refused()[index];
                if let Some(sender) = work.peers[link].present() {
                    self.take(work, link, sender, object, record, None);
                }
            }
        }
        for place in 0..work.objects.places() as ObjectIndex {
            work.refresh(place);
        }
    }

    pub(crate) fn resolve_premature(&mut self, work: &mut Work<'_>) {
        if self.premature.is_empty() || work.cx.now.since(self.premature_at) < PREMATURE_INTERVAL {
            return;
        }
        self.premature_at = work.cx.now;
        for (peer, handle) in std::mem::take(&mut self.premature) {
            let Some(link) = work.peers.find(peer) else { continue };
            if let Some(incoming) = work.peers[link].inbound.at_mut(handle) {
                incoming.premature = false;
                self.resolve_handle(work, link, handle);
            }
        }
    }
}

/// Whether a member forwards another member's record of an object. Then its own record counts no
/// more, and others may report it. Otherwise, of two members that each gave way to the other,
/// neither record would be accepted.
fn gave_up(work: &Work<'_>, member: MemberId, place: ObjectIndex) -> bool {
    let Some(link) = work.peers.of(member).filter(|_| work.objects[place].mentions > 0) else {
        return false;
    };
    let newest = link.inbound.of_object(place).and_then(|incoming| incoming.record).map(|(_, record)| record);
    let refused = || link.inbound.refused().iter().rev().find(|refused| refused.object == place);
    newest.or_else(|| refused().map(|refused| refused.record)).is_some_and(|record| {
        record.version.authority != member && work.cx.ablation.holds(Rule::ForwardingGivesUp)
    })
}

/// A peer reports a record of a present member: that member is asked.
fn ask(work: &mut Work<'_>, place: ObjectIndex, record: &Record) {
    let object = &work.objects[place];
    let id = object.id;
    // Newer values under the known claim arrive from the authority itself.
    let news = object.record.is_none_or(|world| {
        !world.version.same_claim(&record.version) && work.view().is_above(id, record, &world)
    });
    let asked = object.claims.asked == Some(record.version);
    if !news || asked || work.cx.messages.len() >= MESSAGES_MAX || work.tombstones.contains(id) {
        return;
    }
    let holder = record.version.authority;
    let link = work.peers.of(holder);
    if let Some(peer) = link.map(|link| link.id) {
        work.cx.tell(peer, &Message::Ask(id));
        work.objects[place].claims.asked = Some(record.version);
    }
}

fn tell_of(work: &mut Work<'_>, id: ObjectId, before: Option<&Record>, record: &Record, in_trust: bool) {
    let was_live = before.is_some_and(|before| !before.gone);
    match (was_live, !record.gone) {
        (false, true) => work.cx.emit(SessionEvent::Spawned { id }),
        (true, false) => work.cx.emit(SessionEvent::Despawned { id }),
        (true, true) => {
            let was_mine = before.is_some_and(|before| before.version.authority == work.members.me().id);
            if was_mine && record.version.authority != work.members.me().id && !in_trust {
                work.cx.emit(SessionEvent::AuthorityLost { id, to: record.player });
            }
        }
        (false, false) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuthorityPolicy;
    use crate::session::work::bench::{Bench, peer};
    use crate::version::Version;

    /// The next claim of a member to an object of the bench.
    fn next_claim(bench: &Bench, member: usize) -> Record {
        let record = bench.record(member);
        let version = Version { claim_seq: record.version.claim_seq + 1, ..record.version };
        Record { version, ..record }
    }

    /// Hands a record from the first peer to the authority.
    fn take(bench: &mut Bench, rules: &mut Authority, place: ObjectIndex, record: Record) {
        let sender = bench.member(1);
        rules.take(&mut bench.work(), 0, sender, place, record, None);
    }

    #[test]
    fn greater_claim_replaces_own_and_game_gets_event() {
        let (mut bench, mut rules) = (Bench::new(AuthorityPolicy::Anyone, 3), Authority::default());
        let place = bench.object(0, 1);
        let id = bench.objects[place].id;
        let record = next_claim(&bench, 1);
        take(&mut bench, &mut rules, place, record);
        assert_eq!(bench.objects[place].record, Some(record));
        let lost = SessionEvent::AuthorityLost { id, to: bench.member(1).slot };
        assert_eq!(bench.cx.events.pop(), Some(lost));
    }

    #[test]
    fn record_of_present_member_by_another_is_requested_once() {
        let (mut bench, mut rules) = (Bench::new(AuthorityPolicy::Anyone, 3), Authority::default());
        let place = bench.object(0, 1);
        let (before, record) = (bench.objects[place].record, next_claim(&bench, 2));
        take(&mut bench, &mut rules, place, record);
        take(&mut bench, &mut rules, place, record);
        assert_eq!((bench.objects[place].record, bench.cx.stats.records_rejected), (before, 2));
        let asked: Vec<_> = bench.cx.messages.iter().map(|(to, _)| *to).collect();
        assert_eq!(asked, [peer(2)]);
    }

    #[test]
    fn rejected_record_counts_when_roster_changes() {
        let (mut bench, mut rules) = (Bench::new(AuthorityPolicy::Anyone, 3), Authority::default());
        let place = bench.object(0, 1);
        let record = next_claim(&bench, 2);
        bench.objects[place].mentions += 1;
        assert!(bench.peers[0].inbound.keep_refused(LinkRecord { object: place, record }).is_none());
        rules.roster_changed(&mut bench.work());
        assert_ne!(bench.objects[place].record, Some(record), "only its member may report it");
        let gone = bench.member(2).id;
        bench.members.roster_mut().remove(gone);
        rules.roster_changed(&mut bench.work());
        assert_eq!(bench.objects[place].record, Some(record));
    }

    #[test]
    fn older_record_of_peer_is_answered() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        let place = bench.object(0, 1);
        bench.objects.set_record(place, Some(next_claim(&bench, 0)));
        let older = bench.record(1);
        Authority::answer(&mut bench.work(), 0, place, &older);
        assert!(bench.work().wants(0, place) && bench.cx.stats.corrections_sent == 1);
    }
}
