//! Values of players, as a table that becomes equal on every peer. The session hands it messages
//! and roster changes. Absent: objects, packets.

use gaggle_kit::{Micros, Slot, State, VecSet, decode_state, encode_state};

use crate::MemberId;
use crate::event::{PeerFault, SessionEvent};
use crate::message::{Message, ValueMessage};
use crate::peers::RELAYED_VALUES;
use crate::round;
use crate::schema::Schema;
use crate::session::work::Work;
use crate::value::{Entry, VALUE_BYTES_MAX, ValueError, ValueWriter, Values};

/// Time for which a new leader accepts values that others report as written by the leader before
/// it: as long as orphans wait for their successors.
const LEARNS_FOR: Micros = Micros::from_secs(1);

/// Values of players as this peer knows them.
#[derive(Debug, Default)]
pub(crate) struct ValueTable {
    table: Values,
    /// Values of local players that this peer has set.
    set_here: VecSet<(Slot, u8)>,
}

impl ValueTable {
    /// Sets a value of a player and sends it to all peers.
    pub(crate) fn set<T: State + 'static>(
        &mut self,
        work: &mut Work<'_>,
        player: Slot,
        value: &T,
    ) -> Result<(), ValueError> {
        let key = work.schema.kinds().value_number::<T>().ok_or(ValueError::UnknownType)?;
        if !work.members.is_member() {
            return Err(ValueError::NotMember);
        }
        if player.byte() == u8::MAX {
            return Err(ValueError::UnknownSlot { slot: player });
        }
        let may = match work.schema.kinds().values()[usize::from(key)].writer {
            ValueWriter::Player => work.members.me().has_slot(player),
            ValueWriter::Leader => work.members.is_leader(),
        };
        if !may {
            return Err(ValueError::NotWriter);
        }
        let bytes = encode_state(value);
        if bytes.len() > VALUE_BYTES_MAX {
            return Err(ValueError::TooLarge);
        }
        if work.members.me().has_slot(player) {
            self.set_here.insert((player, key));
        }
        if self.table.get(player, key).is_none_or(|entry| entry.bytes != bytes) {
            self.write(work, player, key, bytes);
        }
        Ok(())
    }

    /// Value of a player, if it is known.
    pub(crate) fn get<T: State + 'static>(&self, schema: &Schema, player: Slot) -> Option<T> {
        let key = schema.kinds().value_number::<T>()?;
        // It was decoded once on arrival.
        self.table.get(player, key).and_then(|entry| decode_state(&entry.bytes).ok())
    }

    /// Writes with a version above the present one.
    fn write(&mut self, work: &mut Work<'_>, player: Slot, key: u8, bytes: Vec<u8>) {
        let rev = self.table.get(player, key).map_or(0, |entry| entry.rev).saturating_add(1);
        self.write_as(work, player, key, bytes, rev);
    }

    fn write_as(&mut self, work: &mut Work<'_>, player: Slot, key: u8, bytes: Vec<u8>, rev: u32) {
        let entry = Entry { rev, writer: work.members.me().id, bytes };
        self.table.merge(player, key, entry);
        self.spread(work, player, key, None);
    }

    /// Sends a value to all peers but one.
    fn spread(&mut self, work: &mut Work<'_>, player: Slot, key: u8, but: Option<usize>) {
        let Some(entry) = self.table.get(player, key) else { return };
        let bytes = encode(player, key, entry);
        for (index, link) in work.peers.iter().enumerate() {
            if link.present().is_some() && Some(index) != but {
                work.cx.messages.push_back((link.id, bytes.clone()));
            }
        }
    }

    /// Sends a new member all values.
    pub(crate) fn tell_all(&mut self, work: &mut Work<'_>, link: usize) {
        let peer = work.peers[link].id;
        for (player, key, entry) in self.table.iter() {
            work.cx.messages.push_back((peer, encode(player, key, entry)));
        }
    }

    /// A member left: its last values may not have reached all peers, and from now on only peers
    /// such as this one can forward them.
    pub(crate) fn tell_of(&mut self, work: &mut Work<'_>, writer: MemberId) {
        let its: Vec<(Slot, u8)> =
            self.table.iter().filter(|(.., entry)| entry.writer == writer).map(|(p, k, _)| (p, k)).collect();
        for (player, key) in its {
            self.spread(work, player, key, None);
        }
    }

    pub(crate) fn handle(
        &mut self,
        work: &mut Work<'_>,
        index: usize,
        message: &ValueMessage<'_>,
    ) -> Result<(), PeerFault> {
        let Some(sender) = work.peers[index].present() else { return Ok(()) };
        let Some(kind) = work.schema.kinds().values().get(usize::from(message.key)) else {
            return Err(PeerFault::UnknownValue);
        };
        if let Err(error) = (kind.check)(message.bytes) {
            return Err(PeerFault::Malformed(error));
        }
        let writer = kind.writer;
        let own_word = message.writer == sender.id;
        if own_word && writer == ValueWriter::Player && !sender.has_slot(message.player) {
            return Err(PeerFault::Impersonation);
        }
        let entry = Entry { rev: message.rev, writer: message.writer, bytes: message.bytes.to_vec() };
        if self.table.get(message.player, message.key).is_some_and(|held| !entry.beats(held)) {
            return Ok(());
        }
        // A value the sender may not write is forwarded or contradicted, to all peers. So it is
        // rate-limited for each peer, with a reserve for its writer.
        let from_lead = Some(sender) == work.members.roster().leader();
        let is_its_own = if writer == ValueWriter::Leader { from_lead } else { own_word };
        let rev_max = if is_its_own { work.view().claims_max() } else { work.view().claims_max() / 2 };
        let limit = &mut work.peers[index].side.relayed_values_limit;
        if message.rev > rev_max || !is_its_own && limit.try_acquire(work.cx.now, &RELAYED_VALUES, 1).is_err()
        {
            work.cx.stats.records_rejected += 1;
            return Ok(());
        }
        match writer {
            ValueWriter::Player => self.hear_player(work, index, message.player, message.key, entry),
            ValueWriter::Leader if from_lead => self.take(work, index, message.player, message.key, entry),
            ValueWriter::Leader => self.hear_leader(work, index, message.player, message.key, entry),
        }
        Ok(())
    }

    /// Takes a value of a present player, which decides about its own values. Values that others
    /// report from an earlier stay are for that player to adopt or to contradict.
    fn hear_player(&mut self, work: &mut Work<'_>, index: usize, player: Slot, key: u8, entry: Entry) {
        let is_of_the_gone = !work.members.roster().contains(entry.writer);
        if is_of_the_gone && work.members.me().has_slot(player) {
            let knows_better = self.set_here.contains(&(player, key));
            self.write_above(work, player, key, entry, knows_better);
        } else if ValueTable::is_word_of(work, index, entry.writer)
            || is_of_the_gone && work.members.roster().by_slot(player).is_none()
        {
            self.take(work, index, player, key, entry);
        } else if !is_of_the_gone {
            ValueTable::keep(work, index, player, key, entry);
        }
    }

    /// Takes a value the leader decides about. For a while others may forward values of the former
    /// leader, and at any time values that only they know.
    fn hear_leader(&mut self, work: &mut Work<'_>, index: usize, player: Slot, key: u8, entry: Entry) {
        let knows_it = self.table.get(player, key).is_some();
        let is_settled = work.cx.now.since(work.members.leader_since()) > LEARNS_FOR;
        if !work.members.is_leader() {
            // The sender may become the leader, or the leader may forward the value.
            ValueTable::keep(work, index, player, key, entry);
        } else if ValueTable::is_word_of(work, index, entry.writer) {
            // The writer was the leader of another branch.
            self.write_above(work, player, key, entry, knows_it);
        } else if !work.members.roster().contains(entry.writer) {
            if knows_it && is_settled {
                self.write_above(work, player, key, entry, true);
            } else {
                self.take(work, index, player, key, entry);
            }
        } else {
            ValueTable::keep(work, index, player, key, entry);
        }
    }

    /// Keeps a value that cannot be accepted yet until the roster changes. Its writer is present
    /// and sends its own values, as far as known; but if it has left already, this is the last
    /// copy.
    fn keep(work: &mut Work<'_>, index: usize, player: Slot, key: u8, entry: Entry) {
        work.peers[index].side.values.merge(player, key, entry);
    }

    /// Adopts what a peer sent as this peer's own value, or writes the present one above it.
    fn write_above(&mut self, work: &mut Work<'_>, player: Slot, key: u8, told: Entry, knows_better: bool) {
        let held = self.table.get(player, key).filter(|_| knows_better);
        let (rev, is_new) = (told.rev.saturating_add(1), held.is_none());
        let bytes = held.map_or(told.bytes, |held| held.bytes.clone());
        self.write_as(work, player, key, bytes, rev);
        if is_new {
            ValueTable::emit_changed(work, player, key);
        }
    }

    fn is_word_of(work: &Work<'_>, index: usize, writer: MemberId) -> bool {
        work.peers[index].present().is_some_and(|present| present.id == writer)
    }

    fn take(&mut self, work: &mut Work<'_>, index: usize, player: Slot, key: u8, entry: Entry) {
        let is_hearsay = !ValueTable::is_word_of(work, index, entry.writer);
        if self.table.merge(player, key, entry) {
            if is_hearsay {
                self.spread(work, player, key, Some(index));
            }
            ValueTable::emit_changed(work, player, key);
        }
    }

    fn emit_changed(work: &mut Work<'_>, player: Slot, key: u8) {
        let value = work.schema.kinds().values()[usize::from(key)].name;
        work.cx.emit(SessionEvent::ValueChanged { player, value });
    }

    /// Another member is the leader: values it sent before this was known count now. If this peer
    /// is the leader, all others get its values.
    pub(crate) fn leader_changed(&mut self, work: &mut Work<'_>) {
        if work.members.is_leader() {
            let by_lead =
                |key: u8| work.schema.kinds().values()[usize::from(key)].writer == ValueWriter::Leader;
            let all: Vec<(Slot, u8)> =
                self.table.iter().filter(|(_, key, _)| by_lead(*key)).map(|(p, k, _)| (p, k)).collect();
            for (player, key) in all {
                self.spread(work, player, key, None);
            }
        }
        self.resolve_kept(work);
    }

    /// The roster changed: kept values may be accepted now.
    pub(crate) fn resolve_kept(&mut self, work: &mut Work<'_>) {
        for index in 0..work.peers.len() {
            for (player, key, entry) in std::mem::take(&mut work.peers[index].side.values).into_all() {
                let (rev, writer) = (entry.rev, entry.writer);
                let message = ValueMessage { player, key, rev, writer, bytes: &entry.bytes };
                // It was checked on arrival.
                let _ = self.handle(work, index, &message);
            }
        }
    }

    /// Renames the slots of players; the round is stored under a fixed slot.
    pub(crate) fn rename(&mut self, schema: &Schema, renamed: impl Fn(Slot) -> Slot) {
        for (player, key, entry) in std::mem::take(&mut self.table).into_all() {
            let is_shared = schema.kinds().values()[usize::from(key)].name == round::NAME;
            self.table.merge(if is_shared { player } else { renamed(player) }, key, entry);
        }
        self.set_here = self.set_here.iter().map(|(slot, key)| (renamed(*slot), *key)).collect();
    }
}

fn encode(player: Slot, key: u8, entry: &Entry) -> Vec<u8> {
    let mut bytes = Vec::new();
    let value = ValueMessage { player, key, rev: entry.rev, writer: entry.writer, bytes: &entry.bytes };
    Message::Value(value).encode(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuthorityPolicy;
    use crate::session::work::bench::Bench;

    fn message<'a>(bench: &Bench, writer: usize, slot: usize, key: u8, bytes: &'a [u8]) -> ValueMessage<'a> {
        let (writer, player) = (bench.member(writer).id, bench.member(slot).slot);
        ValueMessage { player, key, rev: 1, writer, bytes }
    }

    #[test]
    fn value_set_here_is_sent_to_all_once() {
        let (mut bench, mut values) = (Bench::new(AuthorityPolicy::Leader, 3), ValueTable::default());
        let me = bench.members.me().slot;
        values.set(&mut bench.work(), me, &5_u8).unwrap();
        values.set(&mut bench.work(), me, &5_u8).unwrap();
        assert_eq!((values.get::<u8>(&bench.schema, me), bench.cx.messages.len()), (Some(5), 2));
    }

    #[test]
    fn value_of_another_player_is_not_writable() {
        let (mut bench, mut values) = (Bench::new(AuthorityPolicy::Leader, 2), ValueTable::default());
        let other = bench.member(1).slot;
        assert_eq!(values.set(&mut bench.work(), other, &5_u8), Err(ValueError::NotWriter));
        assert_eq!(values.set(&mut bench.work(), other, &5_u16), Ok(()), "this peer leads");
    }

    #[test]
    fn value_in_name_of_another_causes_fault() {
        let (mut bench, mut values) = (Bench::new(AuthorityPolicy::Leader, 3), ValueTable::default());
        let lie = message(&bench, 1, 2, 0, &[7]);
        assert_eq!(values.handle(&mut bench.work(), 0, &lie), Err(PeerFault::Impersonation));
        let own = message(&bench, 1, 1, 0, &[7]);
        assert_eq!(values.handle(&mut bench.work(), 0, &own), Ok(()));
        assert_eq!(values.get::<u8>(&bench.schema, bench.member(1).slot), Some(7));
    }

    #[test]
    fn relayed_value_of_present_member_waits_until_it_left() {
        let (mut bench, mut values) = (Bench::new(AuthorityPolicy::Leader, 3), ValueTable::default());
        let slot = bench.member(2).slot;
        let relayed = message(&bench, 2, 2, 0, &[7]);
        values.handle(&mut bench.work(), 0, &relayed).unwrap();
        assert_eq!(values.get::<u8>(&bench.schema, slot), None);
        let gone = bench.member(2).id;
        bench.members.roster_mut().remove(gone);
        values.resolve_kept(&mut bench.work());
        assert_eq!(values.get::<u8>(&bench.schema, slot), Some(7));
    }
}
