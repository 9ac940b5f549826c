//! Delivery of remote events, each once: directly, or by way of the leader, which approves. The
//! session hands it messages and leader changes. Absent: records, packets.

use std::collections::VecDeque;

use gaggle_kit::{Micros, Slot, State, encode_state};

use crate::event::{PeerFault, SessionEvent};
use crate::message::{Message, SignalMessage};
use crate::packet::widen;
use crate::remote_event::{
    EVENT_BYTES_MAX, EVENT_OBJECTS_MAX, EVENTS, EventError, EventRequest, PETITIONS_MAX, RemoteEvent, Target,
    Throttle, WAITING_MAX, Waiting,
};
use crate::roster::RosterMember;
use crate::schema::Schema;
use crate::session::cx::Cx;
use crate::session::work::Work;
use crate::{Interpolation, ObjectId};

/// Time an event waits for the objects it is about.
const PATIENCE: Micros = Micros::from_secs(1);
/// Members whose approved requests are remembered.
const GRANTED_MAX: usize = 256;

/// Result for an event that waits.
enum Fate {
    Wait,
    Deliver,
    Drop,
}

/// Events for this peer, requests for approval, and requests that were approved.
#[derive(Debug, Default)]
pub(crate) struct RemoteEvents {
    throttle: Throttle,
    /// Events this peer sent to itself.
    own: VecDeque<RemoteEvent>,
    petitions: VecDeque<EventRequest>,
    /// Requests of this peer without an answer.
    asked: VecDeque<EventRequest>,
    asked_count: u32,
    granted: VecDeque<Granted>,
}

/// Requests of one member that any leader approved: the highest number, and bit *i* for the number
/// *i* + 1 before.
#[derive(Debug, Clone, Copy)]
struct Granted {
    tag: u32,
    highest: u32,
    before: u64,
}

impl Granted {
    fn contains(&self, number: u32) -> bool {
        match self.highest.checked_sub(number) {
            None => false,
            Some(0) => true,
            // A request this old is not sent again by any peer.
            Some(age) => age > u64::BITS || self.before >> (age - 1) & 1 == 1,
        }
    }

    fn insert(&mut self, number: u32) {
        if number > self.highest {
            let ahead = number - self.highest;
            self.before = match ahead {
                1..=63 => self.before << ahead | 1 << (ahead - 1),
                64 => 1 << 63,
                _ => 0,
            };
            self.highest = number;
        } else if number < self.highest && self.highest - number <= u64::BITS {
            self.before |= 1 << (self.highest - number - 1);
        }
    }
}

impl RemoteEvents {
    /// Sends an event to its target, or asks the leader to approve it.
    pub(crate) fn send<T: State + 'static>(
        &mut self,
        work: &mut Work<'_>,
        from: Slot,
        to: Target,
        objects: &[ObjectId],
        what: &T,
    ) -> Result<(), EventError> {
        if !work.members.me().has_slot(from) {
            return Err(EventError::SlotNotLocal { slot: from });
        }
        if let Target::Slot(slot) = to
            && slot.byte() == u8::MAX
        {
            return Err(EventError::UnknownSlot { slot });
        }
        let kind = work.schema.kinds().signal_number::<T>().ok_or(EventError::UnknownType)?;
        let rules = work.schema.kinds().signals()[usize::from(kind)].rules;
        let bytes = encode_state(what);
        if objects.len() > EVENT_OBJECTS_MAX || bytes.len() > EVENT_BYTES_MAX {
            return Err(EventError::TooLarge);
        }
        if !work.members.is_member() {
            return Err(EventError::NotMember);
        }
        let asks = rules.needs_approval && !work.members.is_leader();
        if asks && self.asked.len() >= PETITIONS_MAX {
            return Err(EventError::TooMany);
        }
        if !self.throttle.admit(work.cx.now, kind, objects.first().copied(), rules.min_interval) {
            return Err(EventError::RateLimited);
        }
        let of = work.schema.kinds().signals()[usize::from(kind)].of;
        let signal = RemoteEvent { from, objects: objects.to_vec(), of, bytes };
        let tag = work.members.me().id.tag.0;
        let mut petition = EventRequest { event: signal, to, kind, tag, number: 0 };
        if asks {
            self.asked_count += 1;
            petition.number = self.asked_count;
            RemoteEvents::ask_leader(work, &petition);
            self.asked.push_back(petition);
        } else {
            self.publish(work, &petition);
        }
        Ok(())
    }

    /// Next event for this peer's game.
    pub(crate) fn poll(&mut self, work: &mut Work<'_>) -> Option<RemoteEvent> {
        if let Some(own) = self.own.pop_front() {
            return Some(own);
        }
        for link in 0..work.peers.len() {
            while let Some(front) = work.peers[link].side.inbox.waiting.front() {
                let fate = fate(work, link, front);
                if matches!(fate, Fate::Wait) {
                    break;
                }
                let Some(front) = work.peers[link].side.inbox.waiting.pop_front() else { break };
                if !matches!(fate, Fate::Deliver) {
                    work.cx.stats.remote_events_dropped += 1;
                } else if front.to_judge {
                    self.hear_request(work, front.petition);
                } else if self.is_news(work, &front) {
                    return Some(front.petition.event);
                }
            }
        }
        None
    }

    /// The leader approves a request: all recipients get it, in the one order of approval.
    pub(crate) fn approve(&mut self, work: &mut Work<'_>, petition: &EventRequest) {
        if self.note_granted(petition.tag, petition.number) {
            self.publish(work, petition);
        }
        RemoteEvents::tell_verdict(work, petition, true);
    }

    /// The leader rejects a request: only the peer that asked gets an answer.
    pub(crate) fn reject(work: &mut Work<'_>, petition: &EventRequest) {
        RemoteEvents::tell_verdict(work, petition, false);
    }

    /// Takes a request. One approved by an earlier leader is not decided again.
    fn hear_request(&mut self, work: &mut Work<'_>, petition: EventRequest) {
        if self.is_granted(petition.tag, petition.number) {
            RemoteEvents::tell_verdict(work, &petition, true);
        } else {
            self.petitions.push_back(petition);
        }
    }

    /// Whether the event did not arrive before, from an earlier leader.
    fn is_news(&mut self, work: &mut Work<'_>, heard: &Waiting) -> bool {
        let EventRequest { tag, number, .. } = heard.petition;
        if !heard.checked || number == 0 {
            return true;
        }
        if tag == work.members.me().id.tag.0 {
            self.asked.retain(|asked| asked.number != number);
        }
        self.note_granted(tag, number)
    }

    fn tell_verdict(work: &mut Work<'_>, petition: &EventRequest, granted: bool) {
        let asker = work
            .peers
            .iter()
            .find(|link| link.present().is_some_and(|present| present.id.tag.0 == petition.tag));
        if let Some(peer) = asker.map(|link| link.id) {
            work.cx.tell(peer, &Message::Verdict { number: petition.number, granted });
        }
    }

    /// Sends an event to all its recipients.
    fn publish(&mut self, work: &mut Work<'_>, petition: &EventRequest) {
        let origin_is_me = petition.tag == work.members.me().id.tag.0;
        let bytes = encode(petition, work.cx.tick, false);
        for index in 0..work.peers.len() {
            let Some(present) = work.peers[index].present() else { continue };
            let is_origin = present.id.tag.0 == petition.tag;
            let is_for = match petition.to {
                Target::All => true,
                Target::Others => !is_origin,
                Target::Leader => work.members.roster().leader() == Some(present),
                Target::Slot(slot) => present.has_slot(slot),
            };
            let hides = |id: &ObjectId| work.objects.find(*id).is_some_and(|place| work.hides(index, place));
            // A peer that interest excludes from an object would wait for it, and delay all later
            // events.
            if is_for && !petition.event.objects.iter().any(hides) {
                let peer = work.peers[index].id;
                work.cx.messages.push_back((peer, bytes.clone()));
            }
        }
        let is_for_me = match petition.to {
            Target::All => true,
            Target::Others => !origin_is_me,
            Target::Leader => work.members.is_leader(),
            Target::Slot(slot) => work.members.me().has_slot(slot),
        };
        if is_for_me && self.own.len() < WAITING_MAX {
            self.own.push_back(petition.event.clone());
        }
    }

    /// Asks the leader to approve.
    fn ask_leader(work: &mut Work<'_>, petition: &EventRequest) {
        let lead = work.members.roster().leader();
        let link = work.peers.iter().find(|link| link.present().is_some() && link.present() == lead);
        if let Some(peer) = link.map(|link| link.id) {
            let bytes = encode(petition, work.cx.tick, true);
            work.cx.messages.push_back((peer, bytes));
        }
    }

    /// Another member is the leader: requests without an answer are sent again. If this peer is the
    /// leader, they are approved like all its own.
    pub(crate) fn leader_changed(&mut self, work: &mut Work<'_>) {
        let asked = std::mem::take(&mut self.asked);
        for petition in asked {
            if work.members.is_leader() {
                if !self.is_granted(petition.tag, petition.number) {
                    self.note_granted(petition.tag, petition.number);
                    self.publish(work, &petition);
                }
            } else {
                RemoteEvents::ask_leader(work, &petition);
                self.asked.push_back(petition);
            }
        }
    }

    pub(crate) fn handle_verdict(&mut self, work: &mut Work<'_>, link: usize, number: u32, granted: bool) {
        if work.peers[link].present().is_none()
            || work.peers[link].present() != work.members.roster().leader()
        {
            return;
        }
        let Some(index) = self.asked.iter().position(|asked| asked.number == number) else {
            return;
        };
        if let Some(asked) = self.asked.remove(index).filter(|_| !granted) {
            let signal = work.schema.kinds().signals()[usize::from(asked.kind)].name;
            work.cx.emit(SessionEvent::EventRejected { event: signal });
        }
    }

    /// An event or a request arrived.
    pub(crate) fn handle(
        work: &mut Work<'_>,
        index: usize,
        message: &SignalMessage<'_>,
        to_judge: bool,
    ) -> Result<(), PeerFault> {
        let peer = work.peers[index].id;
        let Some(sender) = work.peers[index].present() else { return Ok(()) };
        check(work, sender, message, to_judge)?;
        let entry = &work.schema.kinds().signals()[usize::from(message.kind)];
        let (of, checked) = (entry.of, entry.rules.needs_approval && !to_judge);
        let signal = RemoteEvent {
            from: message.origin,
            objects: message.objects.clone(),
            of,
            bytes: message.bytes.to_vec(),
        };
        let (to, kind, tag, number) = (message.to, message.kind, message.tag, message.number);
        let petition = EventRequest { event: signal, to, kind, tag, number };
        let now = work.cx.now;
        let tick = widen(work.peers[index].inbound.their_tick(), message.tick);
        let inbox = &mut work.peers[index].side.inbox;
        if inbox.limit.try_acquire(now, &EVENTS, 1).is_err() || inbox.waiting.len() >= WAITING_MAX {
            work.cx.stats.remote_events_dropped += 1;
            if to_judge {
                work.cx.tell(peer, &Message::Verdict { number, granted: false });
            }
            return Ok(());
        }
        inbox.waiting.push_back(Waiting { petition, to_judge, checked, since: now, tick });
        Ok(())
    }

    /// Next event that waits for approval, if this peer is the leader.
    pub(crate) fn poll_request(&mut self) -> Option<EventRequest> {
        self.petitions.pop_front()
    }

    /// This peer joins again as another member: none of its requests gets an answer.
    pub(crate) fn reject_asked(&mut self, cx: &mut Cx, schema: &Schema) {
        for asked in std::mem::take(&mut self.asked) {
            cx.emit(SessionEvent::EventRejected {
                event: schema.kinds().signals()[usize::from(asked.kind)].name,
            });
        }
    }

    /// Notes that a request was approved; returns whether this is new.
    fn note_granted(&mut self, tag: u32, number: u32) -> bool {
        if let Some(known) = self.granted.iter_mut().find(|known| known.tag == tag) {
            let news = !known.contains(number);
            known.insert(number);
            return news;
        }
        if self.granted.len() == GRANTED_MAX {
            self.granted.pop_front();
        }
        self.granted.push_back(Granted { tag, highest: number, before: 0 });
        true
    }

    fn is_granted(&self, tag: u32, number: u32) -> bool {
        self.granted.iter().any(|known| known.tag == tag && known.contains(number))
    }
}

/// Detects messages that no honest peer sends.
fn check(
    work: &Work<'_>,
    sender: RosterMember,
    message: &SignalMessage<'_>,
    to_judge: bool,
) -> Result<(), PeerFault> {
    let entry =
        work.schema.kinds().signals().get(usize::from(message.kind)).ok_or(PeerFault::UnknownEvent)?;
    (entry.check)(message.bytes)?;
    let own_word = sender.has_slot(message.origin) && message.tag == sender.id.tag.0;
    if (to_judge || !entry.rules.needs_approval) && !own_word {
        return Err(PeerFault::Impersonation);
    }
    if to_judge && (!entry.rules.needs_approval || message.number == 0) {
        return Err(PeerFault::UnknownEvent);
    }
    Ok(())
}

fn fate(work: &Work<'_>, link: usize, waiting: &Waiting) -> Fate {
    let petition = &waiting.petition;
    let sender = work.peers[link].present();
    let in_place = match (waiting.to_judge, waiting.checked) {
        (true, _) => work.members.is_leader(),
        (false, true) => sender.is_some() && sender == work.members.roster().leader(),
        (false, false) => true,
    };
    let mut known = true;
    for id in &petition.event.objects {
        if work.objects.live(*id).is_err() && !work.smoothing.is_departing(*id) {
            known = false;
            let place = work.objects.find(*id);
            let gone =
                place.is_some_and(|place| work.objects[place].record.is_some_and(|record| record.gone));
            if gone || work.tombstones.contains(*id) {
                return Fate::Drop;
            }
        }
    }
    let mine = match petition.to {
        Target::Slot(slot) => waiting.to_judge || work.members.me().has_slot(slot),
        _ => true,
    };
    if !mine {
        return Fate::Drop;
    }
    let late = work.cx.now.since(waiting.since) >= PATIENCE;
    match (in_place && known, late) {
        (true, false) if is_ahead_of_motion(work, link, waiting) => Fate::Wait,
        (true, _) => Fate::Deliver,
        (false, true) => Fate::Drop,
        (false, false) => Fate::Wait,
    }
}

/// Whether an event is about buffered objects that are not shown at its tick yet.
fn is_ahead_of_motion(work: &Work<'_>, link: usize, waiting: &Waiting) -> bool {
    let state = &work.peers[link];
    let Some(sender) = state.present().filter(|_| work.cx.config.smoothing && !waiting.to_judge) else {
        return false;
    };
    // Objects about which the sender has sent nothing later do not move any more.
    let moment = state.playback.time_of(waiting.tick.min(state.inbound.their_tick()));
    let is_played = |id: &ObjectId| {
        let Ok(place) = work.objects.live(*id) else { return work.smoothing.is_departing(*id) };
        let record = work.objects[place].record;
        let kind = work.objects.kind(place);
        kind.is_some_and(|kind| kind.rules.interpolation == Interpolation::Buffered)
            && record.is_some_and(|record| record.version.authority == sender.id)
    };
    state.playback.displayed_at() < moment as f64 && waiting.petition.event.objects.iter().any(is_played)
}

fn encode(petition: &EventRequest, tick: u32, to_judge: bool) -> Vec<u8> {
    let signal = SignalMessage {
        kind: petition.kind,
        to: petition.to,
        origin: petition.event.from,
        tag: petition.tag,
        number: petition.number,
        tick: tick as u16,
        objects: petition.event.objects.clone(),
        bytes: &petition.event.bytes,
    };
    let message = if to_judge { Message::EventRequest(signal) } else { Message::RemoteEvent(signal) };
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuthorityPolicy;
    use crate::session::work::bench::Bench;

    #[test]
    fn approved_request_is_news_once() {
        let mut signals = RemoteEvents::default();
        assert!(!signals.is_granted(1, 4));
        assert!(signals.note_granted(1, 4) && !signals.note_granted(1, 4));
        assert!(signals.is_granted(1, 4) && !signals.is_granted(1, 5) && !signals.is_granted(2, 4));
        // The events arrive in any order, each once.
        assert!(signals.note_granted(1, 7) && signals.note_granted(1, 5) && signals.note_granted(1, 3));
        assert!(!signals.note_granted(1, 5) && !signals.note_granted(1, 4) && !signals.is_granted(1, 6));
        assert!(signals.note_granted(1, 71) && !signals.note_granted(1, 7) && signals.note_granted(1, 8));
        for tag in 0..2 * GRANTED_MAX as u32 {
            signals.note_granted(tag, 1);
        }
        assert!(signals.granted.len() <= GRANTED_MAX);
    }

    fn bench() -> (Bench, RemoteEvents) {
        (Bench::new(AuthorityPolicy::Anyone, 3), RemoteEvents::default())
    }

    /// Slot of the bench's own peer.
    const ME: Slot = Slot::at(0);

    fn message<'a>(
        bench: &Bench,
        origin: usize,
        objects: Vec<ObjectId>,
        bytes: &'a [u8],
    ) -> SignalMessage<'a> {
        let (member, to) = (bench.member(origin), Target::All);
        let (origin, tag) = (member.slot, member.id.tag.0);
        SignalMessage { kind: 0, to, origin, tag, number: 0, tick: 0, objects, bytes }
    }

    #[test]
    fn event_to_all_reaches_peers_and_sender() {
        let (mut bench, mut events) = bench();
        events.send(&mut bench.work(), ME, Target::All, &[], &3_u8).unwrap();
        assert_eq!(bench.cx.messages.len(), 2);
        assert!(events.poll(&mut bench.work()).is_some() && events.poll(&mut bench.work()).is_none());
    }

    #[test]
    fn event_in_name_of_another_causes_fault() {
        let (mut bench, _) = bench();
        let lie = message(&bench, 2, vec![], &[1]);
        assert_eq!(RemoteEvents::handle(&mut bench.work(), 0, &lie, false), Err(PeerFault::Impersonation));
    }

    #[test]
    fn event_about_unknown_object_waits_then_drops() {
        let (mut bench, mut events) = bench();
        let about = message(&bench, 1, vec![ObjectId::from_bits(77)], &[1]);
        RemoteEvents::handle(&mut bench.work(), 0, &about, false).unwrap();
        assert!(events.poll(&mut bench.work()).is_none() && bench.cx.stats.remote_events_dropped == 0);
        bench.cx.note_now(PATIENCE);
        assert!(events.poll(&mut bench.work()).is_none() && bench.cx.stats.remote_events_dropped == 1);
    }

    #[test]
    fn request_without_verdict_is_rejected_on_rejoin() {
        let (mut bench, mut events) = bench();
        let me = bench.members.me().id;
        bench.members.roster_mut().remove(me);
        events.send(&mut bench.work(), ME, Target::All, &[], &3_u16).unwrap();
        assert!(events.poll(&mut bench.work()).is_none(), "the leader approves requests");
        events.reject_asked(&mut bench.cx, &bench.schema);
        assert_eq!(bench.cx.events.pop(), Some(SessionEvent::EventRejected { event: "checked" }));
    }
}
