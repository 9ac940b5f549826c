//! What is known of each player beside the objects, as a table that ends up the same everywhere.

use gaggle_kit::{State, decode_state, encode_state};

use super::Session;
use crate::event::{Event, PeerFault};
use crate::message::{Message, ValueMessage};
use crate::value::{Entry, VALUE_BYTES_MAX, ValueError, Writer};
use crate::{Member, Player};

impl Session {
    /// Sets what is known of a player. All machines end up with the last value, those that come later too.
    ///
    /// # Errors
    /// If it is not this machine's to write, too large, or of a type that was not named.
    pub fn set_value<T: State + 'static>(&mut self, player: Player, value: &T) -> Result<(), ValueError> {
        let key = self.kinds.value_number::<T>().ok_or(ValueError::UnknownType)?;
        if !self.is_admitted() {
            return Err(ValueError::NotAdmitted);
        }
        let may = match self.kinds.values()[usize::from(key)].writer {
            Writer::Player => player == self.me.player,
            Writer::Lead => self.is_lead(),
        };
        if !may {
            return Err(ValueError::NotYours);
        }
        let bytes = encode_state(value);
        if bytes.len() > VALUE_BYTES_MAX {
            return Err(ValueError::TooLarge);
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
        let entry = Entry { rev, writer: self.me.member, bytes };
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

    /// A member is gone: what it wrote last may not have reached everybody, and cannot any more but through us.
    pub(super) fn tell_values_of(&mut self, writer: Member) {
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
        let (player, key) = (message.player, message.key);
        let own_word = message.writer == sender.member;
        if own_word && kind.writer == Writer::Player && player != sender.player {
            return self.fault(peer, PeerFault::InAnotherName);
        }
        let of_the_present = !own_word && self.roster.contains(message.writer);
        let by_lead = kind.writer == Writer::Lead;
        let from_lead = by_lead && Some(sender) == self.roster.lead();
        if message.rev > self.claims_max() {
            self.stats.records_refused += 1;
            return;
        }
        let held = self.values.get(player, key);
        let entry = Entry { rev: message.rev, writer: message.writer, bytes: message.bytes.to_vec() };
        if held.is_some_and(|held| !entry.beats(held)) {
            return;
        }
        if by_lead && !from_lead {
            if !self.is_lead() {
                // Perhaps it will lead, or whoever does passes it on.
                self.links[index].values.merge(player, key, entry);
                return;
            }
            if own_word {
                // It led elsewhere: what it wrote there counts only if we have nothing to say.
                let bytes = held.map_or(entry.bytes, |held| held.bytes.clone());
                self.write_value_as(player, key, bytes, message.rev.saturating_add(1));
                self.changed_value(player, key);
                return;
            }
        }
        // Whoever is here speaks for itself, but for the lead's values the lead speaks for all.
        if (from_lead || !of_the_present) && self.values.merge(player, key, entry) {
            if !own_word {
                self.spread_value(player, key, Some(index));
            }
            self.changed_value(player, key);
        }
    }

    fn changed_value(&mut self, player: Player, key: u8) {
        let value = self.kinds.values()[usize::from(key)].name;
        self.events.push(Event::ValueChanged { player, value });
    }

    /// Somebody else leads: what it said before we knew counts now. If we lead, everybody hears what we have.
    pub(super) fn judge_values(&mut self) {
        if self.is_lead() {
            let by_lead = |key: u8| self.kinds.values()[usize::from(key)].writer == Writer::Lead;
            let all: Vec<(Player, u8)> =
                self.values.iter().filter(|(_, key, _)| by_lead(*key)).map(|(p, k, _)| (p, k)).collect();
            for (player, key) in all {
                self.spread_value(player, key, None);
            }
        }
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
