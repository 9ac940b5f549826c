//! What is known of each player beside the objects, as a table that ends up the same everywhere.

use gaggle_kit::{Micros, State, decode_state, encode_state};

use super::Session;
use crate::event::{PeerFault, SessionEvent};
use crate::message::{Message, ValueMessage};
use crate::value::{Entry, VALUE_BYTES_MAX, ValueError, ValueWriter};
use crate::{MemberId, Player};

/// So long a new lead believes what others say the one before it wrote. As long as strays wait for
/// their heirs.
const LEARNS_FOR: Micros = Micros::from_secs(1);

impl Session {
    /// Sets what is known of a player. All machines end up with the last value, those that come
    /// later too.
    ///
    /// # Errors
    /// If it is not this machine's to write, too large, or of a type that was not named.
    pub fn set_value<T: State + 'static>(&mut self, player: Player, value: &T) -> Result<(), ValueError> {
        let key = self.kinds.value_number::<T>().ok_or(ValueError::UnknownType)?;
        if !self.is_member() {
            return Err(ValueError::NotAdmitted);
        }
        let may = match self.kinds.values()[usize::from(key)].writer {
            ValueWriter::Player => player == self.me.slot,
            ValueWriter::Leader => self.is_leader(),
        };
        if !may {
            return Err(ValueError::NotWriter);
        }
        let bytes = encode_state(value);
        if bytes.len() > VALUE_BYTES_MAX {
            return Err(ValueError::TooLarge);
        }
        if player == self.me.slot {
            self.said.insert(key);
        }
        if self.values.get(player, key).is_none_or(|entry| entry.bytes != bytes) {
            self.write_value(player, key, bytes);
        }
        Ok(())
    }

    /// What is known of a player.
    pub fn value<T: State + 'static>(&self, player: Player) -> Option<T> {
        let key = self.kinds.value_number::<T>()?;
        // It was read once when it came.
        self.values.get(player, key).and_then(|entry| decode_state(&entry.bytes).ok())
    }

    /// Writes above whatever is there.
    fn write_value(&mut self, player: Player, key: u8, bytes: Vec<u8>) {
        let rev = self.values.get(player, key).map_or(0, |entry| entry.rev).saturating_add(1);
        self.write_value_as(player, key, bytes, rev);
    }

    fn write_value_as(&mut self, player: Player, key: u8, bytes: Vec<u8>, rev: u32) {
        let entry = Entry { rev, writer: self.me.id, bytes };
        self.values.merge(player, key, entry);
        self.spread_value(player, key, None);
    }

    /// Tells everybody but one.
    fn spread_value(&mut self, player: Player, key: u8, but: Option<usize>) {
        let Some(entry) = self.values.get(player, key) else { return };
        let bytes = encode(player, key, entry);
        for (index, link) in self.links.iter().enumerate() {
            if link.present.is_some() && Some(index) != but {
                self.messages.push_back((link.peer, bytes.clone()));
            }
        }
    }

    /// A member has come: it is told everything.
    pub(super) fn tell_values(&mut self, link: usize) {
        let peer = self.links[link].peer;
        for (player, key, entry) in self.values.iter() {
            self.messages.push_back((peer, encode(player, key, entry)));
        }
    }

    /// A member is gone: what it wrote last may not have reached everybody, and cannot any more but
    /// through us.
    pub(super) fn tell_values_of(&mut self, writer: MemberId) {
        let its: Vec<(Player, u8)> =
            self.values.iter().filter(|(.., entry)| entry.writer == writer).map(|(p, k, _)| (p, k)).collect();
        for (player, key) in its {
            self.spread_value(player, key, None);
        }
    }

    pub(super) fn handle_value(&mut self, index: usize, message: &ValueMessage<'_>) {
        let peer = self.links[index].peer;
        let Some(sender) = self.links[index].present else { return };
        let Some(kind) = self.kinds.values().get(usize::from(message.key)) else {
            return self.fault(peer, PeerFault::UnknownValue);
        };
        if let Err(error) = (kind.check)(message.bytes) {
            return self.fault(peer, PeerFault::Malformed(error));
        }
        let writer = kind.writer;
        let own_word = message.writer == sender.id;
        if own_word && writer == ValueWriter::Player && message.player != sender.slot {
            return self.fault(peer, PeerFault::Impersonation);
        }
        let entry = Entry { rev: message.rev, writer: message.writer, bytes: message.bytes.to_vec() };
        if self.values.get(message.player, message.key).is_some_and(|held| !entry.beats(held)) {
            return;
        }
        // What is not one's own to write is passed on or contradicted, to everybody: not as often
        // as one peer likes, and with room above it for whoever has to write above it.
        let from_lead = Some(sender) == self.roster.leader();
        let is_its_own = if writer == ValueWriter::Leader { from_lead } else { own_word };
        let rev_max = if is_its_own { self.claims_max() } else { self.claims_max() / 2 };
        if message.rev > rev_max || !is_its_own && !self.links[index].relayed_values_limit.take(self.now) {
            self.stats.records_rejected += 1;
            return;
        }
        match writer {
            ValueWriter::Player => self.hear_players_value(index, message.player, message.key, entry),
            ValueWriter::Leader if from_lead => self.take_value(index, message.player, message.key, entry),
            ValueWriter::Leader => self.hear_leads_value(index, message.player, message.key, entry),
        }
    }

    /// A player who is here speaks for itself. What others remember of an earlier visit is for that
    /// player to take up or to contradict.
    fn hear_players_value(&mut self, index: usize, player: Player, key: u8, entry: Entry) {
        let is_of_the_gone = !self.roster.contains(entry.writer);
        if is_of_the_gone && player == self.me.slot {
            let knows_better = self.said.contains(&key);
            self.write_above(player, key, entry, knows_better);
        } else if self.is_word_of(index, entry.writer)
            || is_of_the_gone && self.roster.by_slot(player).is_none()
        {
            self.take_value(index, player, key, entry);
        } else if !is_of_the_gone {
            self.keep_value(index, player, key, entry);
        }
    }

    /// The lead speaks for all. What the lead before it wrote others may tell for a while, and at
    /// any time what is known only to them.
    fn hear_leads_value(&mut self, index: usize, player: Player, key: u8, entry: Entry) {
        let knows_it = self.values.get(player, key).is_some();
        let is_settled = self.now.since(self.leader_since) > LEARNS_FOR;
        if !self.is_leader() {
            // Perhaps it will lead, or whoever does passes it on.
            self.keep_value(index, player, key, entry);
        } else if self.is_word_of(index, entry.writer) {
            // It led elsewhere.
            self.write_above(player, key, entry, knows_it);
        } else if !self.roster.contains(entry.writer) {
            if knows_it && is_settled {
                self.write_above(player, key, entry, true);
            } else {
                self.take_value(index, player, key, entry);
            }
        } else {
            self.keep_value(index, player, key, entry);
        }
    }

    /// Keeps what cannot be taken yet until the roster is another. Whoever wrote it is here and
    /// speaks for itself, as far as we know; but it may be gone already, and others know before we
    /// do: then this is all that is left of its word.
    fn keep_value(&mut self, index: usize, player: Player, key: u8, entry: Entry) {
        self.links[index].values.merge(player, key, entry);
    }

    /// Takes up as ours what somebody told us, or writes what we have above it.
    fn write_above(&mut self, player: Player, key: u8, told: Entry, knows_better: bool) {
        let held = self.values.get(player, key).filter(|_| knows_better);
        let (rev, is_new) = (told.rev.saturating_add(1), held.is_none());
        let bytes = held.map_or(told.bytes, |held| held.bytes.clone());
        self.write_value_as(player, key, bytes, rev);
        if is_new {
            self.changed_value(player, key);
        }
    }

    fn is_word_of(&self, index: usize, writer: MemberId) -> bool {
        self.links[index].present.is_some_and(|present| present.id == writer)
    }

    fn take_value(&mut self, index: usize, player: Player, key: u8, entry: Entry) {
        let is_hearsay = !self.is_word_of(index, entry.writer);
        if self.values.merge(player, key, entry) {
            if is_hearsay {
                self.spread_value(player, key, Some(index));
            }
            self.changed_value(player, key);
        }
    }

    fn changed_value(&mut self, player: Player, key: u8) {
        let value = self.kinds.values()[usize::from(key)].name;
        self.events.push(SessionEvent::ValueChanged { player, value });
    }

    /// Somebody else leads: what it said before we knew counts now. If we lead, everybody hears
    /// what we have.
    pub(super) fn judge_values(&mut self) {
        if self.is_leader() {
            let by_lead = |key: u8| self.kinds.values()[usize::from(key)].writer == ValueWriter::Leader;
            let all: Vec<(Player, u8)> =
                self.values.iter().filter(|(_, key, _)| by_lead(*key)).map(|(p, k, _)| (p, k)).collect();
            for (player, key) in all {
                self.spread_value(player, key, None);
            }
        }
        self.judge_kept_values();
    }

    /// The roster is another: what could not be taken from somebody may be taken now.
    pub(super) fn judge_kept_values(&mut self) {
        for index in 0..self.links.len() {
            for (player, key, entry) in std::mem::take(&mut self.links[index].values).into_all() {
                let (rev, writer) = (entry.rev, entry.writer);
                self.handle_value(index, &ValueMessage { player, key, rev, writer, bytes: &entry.bytes });
            }
        }
    }
}

fn encode(player: Player, key: u8, entry: &Entry) -> Vec<u8> {
    let mut bytes = Vec::new();
    let value = ValueMessage { player, key, rev: entry.rev, writer: entry.writer, bytes: &entry.bytes };
    Message::Value(value).encode(&mut bytes);
    bytes
}
