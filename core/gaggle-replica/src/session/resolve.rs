//! Which record of an object the world takes: the greatest that is permitted. What is refused stays
//! with its link and is judged again when the roster changes.

use gaggle_kit::Micros;

use super::Session;
use super::provenance::Standing;
use crate::ablation::Rule;
use crate::event::SessionEvent;
use crate::link::{LinkRecord, NONE, Peer};
use crate::message::Message;
use crate::pool::Block;
use crate::roster::RosterMember;
use crate::store::ObjectIndex;
use crate::version::Record;
use crate::{MemberId, ObjectId};

/// How often it is tried again with what came too soon.
const TOO_SOON_INTERVAL: Micros = Micros::from_secs(1);

/// Questions wait while so many messages do.
const MESSAGES_MAX: usize = 1_024;

impl Session {
    /// Whether `a` is above `b` in the eyes of this machine.
    pub(super) fn is_above(&self, id: ObjectId, a: &Record, b: &Record) -> bool {
        if self.config.authority.rightful_first() {
            let (a_rank, b_rank) = (self.rank(id, a), self.rank(id, b));
            if a_rank != b_rank {
                return a_rank > b_rank;
            }
        }
        if !self.ablation.holds(Rule::LaterWins) && a.version.same_claim(&b.version) {
            return true;
        }
        a.version > b.version
    }

    /// What rightful holders say comes first, then what those said who are gone, who may have been
    /// rightful; last what somebody says who is here and may not. Otherwise whoever may not would
    /// only have to wait for the host to leave.
    fn rank(&self, id: ObjectId, record: &Record) -> u8 {
        match (self.is_rightful(id, record), self.roster.contains(record.version.authority)) {
            (true, _) => 2,
            (false, false) => 1,
            (false, true) => 0,
        }
    }

    /// Judges what a link has under a handle.
    pub(super) fn resolve(&mut self, link: usize, handle: u16) {
        let incoming = &self.links[link].table[usize::from(handle)];
        let Some((_, record)) = incoming.record.filter(|_| incoming.is_open()) else { return };
        let (place, value) = (incoming.object, incoming.value);
        let Some(sender) = self.links[link].present else { return };
        let claims_max = self.claims_max();
        if record.version.lock_seq > claims_max || record.version.claim_seq > claims_max {
            let peer = self.links[link].peer;
            let too_soon = &mut self.links[link].table[usize::from(handle)].premature;
            if !std::mem::replace(too_soon, true) {
                self.premature.push((peer, handle));
                self.stats.records_rejected += 1;
            }
            return;
        }
        self.take(link, sender, place, record, Some(value));
    }

    /// Judges what all links have of an object.
    pub(super) fn judge_all(&mut self, place: ObjectIndex) {
        for link in 0..self.links.len() {
            if let Ok(handle) = u16::try_from(self.links[link].table_of[place as usize]) {
                self.resolve(link, handle);
            }
        }
    }

    /// Takes a record into the world if it is permitted and above what is there.
    fn take(
        &mut self,
        link: usize,
        sender: RosterMember,
        place: ObjectIndex,
        record: Record,
        value: Option<Block>,
    ) {
        let their_tick = self.links[link].their_tick;
        let object = &mut self.store[place];
        let id = object.id;
        let holder = record.version.authority;
        object.top = (object.top.0.max(record.version.lock_seq), object.top.1.max(record.version.claim_seq));
        if let Some(world) = &mut object.record {
            let same_claim = world.version.same_claim(&record.version);
            // Others said it at a time its holder has not reached yet, which it says itself: they
            // lied while it was away.
            if same_claim && holder == sender.id && world.version.tick > their_tick {
                world.version.tick = 0;
            }
            let own_word = world.version.authority == self.me.id && same_claim;
            if own_word || world.says_the_same(&record) {
                return;
            }
        }
        let spoken_for = self.ablation.holds(Rule::PresentSpeakForThemselves)
            && holder != sender.id
            && self.roster.contains(holder)
            && !self.gave_up(holder, place);
        if self.is_unmade(id) {
            self.stats.records_rejected += 1;
            return;
        }
        let standing = self.provenance(link, sender, place, &record);
        if standing == Standing::Correction {
            self.replace(place, record, value);
        }
        let by_maker = sender.id.tag == id.creator() && holder == sender.id;
        if by_maker && matches!(standing, Standing::Permitted | Standing::Correction) {
            self.store[place].by_maker = true;
        }
        if standing == Standing::Correction {
            return;
        }
        if !spoken_for && standing == Standing::Permitted && !self.tombstone_ranges.contains(id) {
            if holder != sender.id && self.store[place].record.is_none() {
                self.links[link].legacies += 1;
            }
            return self.adopt(place, record, value);
        }
        self.stats.records_rejected += 1;
        match standing {
            _ if self.tombstone_ranges.contains(id) => {}
            Standing::Permitted => self.ask(place, &record),
            Standing::Disowned if !spoken_for => self.disown(place, record),
            Standing::Usurper if !spoken_for => self.contradict(place),
            _ => {}
        }
    }

    /// Whether a member passes on somebody else's word about an object: then it does not stand by
    /// its own any more, and others may tell what that was. Two who each gave way to the other
    /// would else be believed by nobody.
    fn gave_up(&self, member: MemberId, place: ObjectIndex) -> bool {
        let is_theirs = |link: &&Peer| link.present.is_some_and(|present| present.id == member);
        let Some(link) = self.links.iter().find(is_theirs).filter(|_| self.store[place].mentions > 0) else {
            return false;
        };
        let table = link.table.get(link.table_of[place as usize] as usize);
        let newest = table.and_then(|incoming| incoming.record).map(|(_, record)| record);
        let refused = || link.refused.iter().rev().find(|refused| refused.object == place);
        newest.or_else(|| refused().map(|refused| refused.record)).is_some_and(|record| {
            record.version.authority != member && self.ablation.holds(Rule::WhoeverPassesOnGaveUp)
        })
    }

    /// Somebody says what a present member said: that one is asked itself.
    fn ask(&mut self, place: ObjectIndex, record: &Record) {
        let object = &self.store[place];
        let id = object.id;
        // Newer values of the claim we know come from the holder by themselves.
        let news = object.record.is_none_or(|world| {
            !world.version.same_claim(&record.version) && self.is_above(id, record, &world)
        });
        let asked = object.asked == Some(record.version);
        if !news || asked || self.messages.len() >= MESSAGES_MAX || self.tombstone_ranges.contains(id) {
            return;
        }
        let holder = record.version.authority;
        let link = self.links.iter().find(|link| link.present.is_some_and(|other| other.id == holder));
        if let Some(peer) = link.map(|link| link.peer) {
            self.tell(peer, &Message::Ask(id));
            self.store[place].asked = Some(record.version);
        }
    }

    /// Puts a permitted record into the world if it is above what is there.
    fn adopt(&mut self, place: ObjectIndex, record: Record, value: Option<Block>) {
        let object = &self.store[place];
        let (id, before) = (object.id, object.record);
        if before.is_none_or(|before| self.is_above(id, &record, &before)) {
            self.replace(place, record, value);
        }
    }

    /// Puts a record into the world.
    fn replace(&mut self, place: ObjectIndex, record: Record, value: Option<Block>) {
        let object = &self.store[place];
        let (id, before) = (object.id, object.record);
        let was_mine = before.is_some_and(|before| before.version.authority == self.me.id);
        let is_mine = record.version.authority == self.me.id;
        let in_trust = self.config.authority.is_open()
            && record.owner_claim == Some(self.me.slot)
            && !record.gone
            && !is_mine
            && self.is_member();
        // Whoever gets its own back after a split goes on from where it was.
        let keeps_value = in_trust && was_mine && before.is_some_and(|b| !b.gone && b.kind == record.kind);

        if before.is_some_and(|before| {
            (before.gone, before.kind, before.home) != (record.gone, record.kind, record.home)
        }) {
            // Whoever knows the handle does not know these constants.
            let object = &mut self.store[place];
            object.identity = object.identity.wrapping_add(1);
            self.links.iter_mut().for_each(|link| link.out[place as usize].known = false);
        }
        let same_holder = before.is_some_and(|before| before.version.same_claim(&record.version));
        let shown = self.before_change(place, same_holder);
        let departs = record.gone && self.keep_showing(place, &record);
        self.store.set_record(place, Some(record));
        if let Some(value) = value.filter(|_| !keeps_value) {
            self.store.copy_value(place, value);
        }
        self.store[place].changed_at = self.now;
        if shown {
            self.after_change(place);
        }
        let now = self.now;
        let object = &mut self.store[place];
        object.stray_since = now;
        let was_hidden = std::mem::replace(&mut object.hidden, false);
        if before.is_none_or(|before| !before.version.same_claim(&record.version)) {
            object.claimed_at = now;
        }
        self.change_stamp(place);
        self.note_stray(place);
        if record.gone {
            self.bury(place);
        }
        if was_hidden && !record.gone {
            self.events.push(SessionEvent::InterestGained { id });
        }
        // Of a deletion that is not shown yet is told when it is.
        if !departs && (record.gone || !self.return_departing(id)) {
            self.tell_of(id, before.as_ref(), &record, in_trust);
        }
        if was_mine && !is_mine && !in_trust {
            self.close_everywhere(place);
        }
        if in_trust && self.raise_claim(place, false, None) {
            self.stats.reclaimed += 1;
            self.events.push(SessionEvent::AuthorityGained { id, from: record.player });
        }
        self.refresh(place);
    }

    fn tell_of(&mut self, id: ObjectId, before: Option<&Record>, record: &Record, in_trust: bool) {
        let was_live = before.is_some_and(|before| !before.gone);
        match (was_live, !record.gone) {
            (false, true) => self.events.push(SessionEvent::Spawned { id }),
            (true, false) => self.events.push(SessionEvent::Despawned { id }),
            (true, true) => {
                let was_mine = before.is_some_and(|before| before.version.authority == self.me.id);
                if was_mine && record.version.authority != self.me.id && !in_trust {
                    self.events.push(SessionEvent::AuthorityLost { id, to: record.player });
                }
            }
            (false, false) => {}
        }
    }

    /// A record came that is below ours: if nobody else will, we tell.
    pub(super) fn answer(&mut self, link: usize, place: ObjectIndex, record: &Record) {
        if self.spectator {
            return;
        }
        let object = &self.store[place];
        let id = object.id;
        if self.tombstone_ranges.contains(id) {
            if self.is_leader() && object.record.is_none() {
                let peer = self.links[link].peer;
                self.tell(peer, &Message::Forgotten(id));
            }
            return;
        }
        let Some(world) = object.record else { return };
        if world.says_the_same(record) || !self.is_above(id, &world, record) {
            return;
        }
        let holder = world.version.authority;
        if self.hides(link, place) {
            // Whoever names it need not know it.
            return;
        }
        let speaks_itself = holder != self.me.id && self.roster.contains(holder);
        if (world.gone || !speaks_itself) && self.ablation.holds(Rule::OlderIsAnswered) {
            self.links[link].out[place as usize].forget_acks();
            self.set_owed(link, place, true);
            self.stats.corrections_sent += 1;
            self.refresh_link(link, place);
        }
    }

    /// Finds out whether an object has a rightful holder, and keeps the list of those that have
    /// none.
    pub(super) fn note_stray(&mut self, place: ObjectIndex) {
        let object = &self.store[place];
        let Some(record) = object.record else { return };
        let id = object.id;
        let stray = !self.is_rightful(id, &record);
        let inheriting = stray && self.successor(id, &record) == Some(self.me.id);
        let now = self.now;
        let object = &mut self.store[place];
        if stray && !object.stray_listed {
            object.stray_listed = true;
            self.orphans.push(place);
        }
        if inheriting && !object.inheriting {
            object.stray_since = now;
        }
        object.orphan = stray;
        object.inheriting = inheriting;
    }

    /// Somebody came or went: everything is judged again, and what has no rightful holder is told
    /// again.
    pub(super) fn roster_changed(&mut self) {
        self.unauthorized.clear();
        for place in 0..self.store.places() as ObjectIndex {
            self.store[place].asked = None;
            self.store[place].unauthorized = false;
            self.note_stray(place);
        }
        for index in 0..self.orphans.len() {
            let place = self.orphans[index];
            for link in &mut self.links {
                link.out[place as usize].acked_stamp = 0;
            }
        }
        for link in 0..self.links.len() {
            for handle in 0..self.links[link].table.len() {
                self.resolve(link, handle as u16);
            }
            for index in 0..self.links[link].refused.len() {
                let LinkRecord { object, record } = self.links[link].refused[index];
                if let Some(sender) = self.links[link].present {
                    self.take(link, sender, object, record, None);
                }
            }
        }
        for place in 0..self.store.places() as ObjectIndex {
            self.refresh(place);
        }
        self.tell_lead();
    }

    fn tell_lead(&mut self) {
        let lead = self.roster.leader();
        if let Some(lead) = lead
            && self.joined_leader != Some(lead.id)
        {
            if self.joined_leader.is_some() {
                self.events.push(SessionEvent::LeaderChanged { player: lead.slot });
            }
            self.joined_leader = Some(lead.id);
            self.leader_since = self.now;
            self.petition_again();
            self.judge_values();
        }
    }

    pub(super) fn judge_again_what_came_too_soon(&mut self) {
        if self.premature.is_empty() || self.now.since(self.premature_at) < TOO_SOON_INTERVAL {
            return;
        }
        self.premature_at = self.now;
        for (peer, handle) in std::mem::take(&mut self.premature) {
            let Some(link) = self.link_of(peer) else { continue };
            if let Some(incoming) = self.links[link].table.get_mut(usize::from(handle)) {
                incoming.premature = false;
                self.resolve(link, handle);
            }
        }
    }

    /// Whether a record of a link's table is what the world has.
    pub(super) fn is_taken(&self, place: ObjectIndex, record: &Record) -> bool {
        place != NONE && self.store[place].record.is_some_and(|world| world.says_the_same(record))
    }
}
