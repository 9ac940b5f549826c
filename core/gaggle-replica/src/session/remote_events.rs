//! Things that happen once, from one game to others: directly, or by way of the lead, which judges.

use gaggle_kit::{Micros, PeerId, State, encode_state};

use super::Session;
use crate::event::{PeerFault, SessionEvent};
use crate::message::{Message, SignalMessage};
use crate::packet::widen;
use crate::remote_event::{
    EVENT_BYTES_MAX, EVENT_OBJECTS_MAX, EventError, EventRequest, PETITIONS_MAX, RemoteEvent, Target,
    WAITING_MAX, Waiting,
};
use crate::{Interpolation, ObjectId, Player};

/// For so long a signal waits for objects it is about.
const PATIENCE: Micros = Micros::from_secs(1);

/// What is to become of something that waits.
enum Fate {
    Wait,
    Deliver,
    Drop,
}

impl Session {
    /// Says that something happened. It arrives once, in the order it was said, after the `objects`
    /// it is about are known there; if one of them is deleted meanwhile, or does not become known
    /// within a second, it is dropped. Of objects that are
    /// [played in sequence](crate::Interpolation::Buffered) and held by its sender, it arrives when
    /// they are shown as they were then.
    ///
    /// Signals that are [`needs_approval`](crate::EventOptions::needs_approval) go to the lead,
    /// whose game grants or denies them; the lead's own are granted.
    ///
    /// # Errors
    /// If it is too large, too soon after the last of its kind, or this machine is no member yet.
    pub fn send_event<T: State + 'static>(
        &mut self,
        to: Target,
        objects: &[ObjectId],
        what: &T,
    ) -> Result<(), EventError> {
        let kind = self.kinds.signal_number::<T>().ok_or(EventError::UnknownType)?;
        let rules = self.kinds.signals()[usize::from(kind)].rules;
        let bytes = encode_state(what);
        if objects.len() > EVENT_OBJECTS_MAX || bytes.len() > EVENT_BYTES_MAX {
            return Err(EventError::TooLarge);
        }
        if !self.is_member() {
            return Err(EventError::NotAdmitted);
        }
        let asks = rules.needs_approval && !self.is_leader();
        if asks && self.signals.asked.len() >= PETITIONS_MAX {
            return Err(EventError::TooMany);
        }
        if !self.signals.throttle.admit(self.now, kind, objects.first().copied(), rules.min_interval) {
            return Err(EventError::RateLimited);
        }
        let of = self.kinds.signals()[usize::from(kind)].of;
        let signal = RemoteEvent { from: self.me.slot, objects: objects.to_vec(), of, bytes };
        let tag = self.me.id.tag.0;
        let mut petition = EventRequest { event: signal, to, kind, tag, number: 0 };
        if asks {
            self.signals.asked_count += 1;
            petition.number = self.signals.asked_count;
            self.petition(&petition);
            self.signals.asked.push_back(petition);
        } else {
            self.publish(&petition);
        }
        Ok(())
    }

    /// The next thing that happened elsewhere, or here by our own word to all.
    pub fn poll_remote_event(&mut self) -> Option<RemoteEvent> {
        if let Some(own) = self.signals.own.pop_front() {
            return Some(own);
        }
        for link in 0..self.links.len() {
            while let Some(front) = self.links[link].inbox.waiting.front() {
                let fate = self.fate(link, front);
                if matches!(fate, Fate::Wait) {
                    break;
                }
                let Some(front) = self.links[link].inbox.waiting.pop_front() else { break };
                if !matches!(fate, Fate::Deliver) {
                    self.stats.remote_events_dropped += 1;
                } else if front.to_judge {
                    self.hear_petition(front.petition);
                } else if self.is_news(&front) {
                    return Some(front.petition.event);
                }
            }
        }
        None
    }

    /// The next signal somebody wants to have granted, if this machine leads. Call it after
    /// [`poll_remote_event`](Session::poll_remote_event) has nothing more.
    pub fn poll_event_request(&mut self) -> Option<EventRequest> {
        self.signals.petitions.pop_front()
    }

    /// It is so: everybody it is for hears it, in the one order in which the lead grants.
    #[expect(clippy::needless_pass_by_value, reason = "a verdict is final, so the petition goes with it")]
    pub fn approve(&mut self, petition: EventRequest) {
        if self.signals.note_granted(petition.tag, petition.number) {
            self.publish(&petition);
        }
        self.pronounce(&petition, true);
    }

    /// It is not so: only whoever asked hears of it.
    #[expect(clippy::needless_pass_by_value, reason = "a verdict is final, so the petition goes with it")]
    pub fn reject(&mut self, petition: EventRequest) {
        self.pronounce(&petition, false);
    }

    /// What was granted before, by a lead that is gone, is not judged again.
    fn hear_petition(&mut self, petition: EventRequest) {
        if self.signals.is_granted(petition.tag, petition.number) {
            self.pronounce(&petition, true);
        } else {
            self.signals.petitions.push_back(petition);
        }
    }

    /// Whether this was not heard before, from a lead that is gone.
    fn is_news(&mut self, heard: &Waiting) -> bool {
        let EventRequest { tag, number, .. } = heard.petition;
        if !heard.checked || number == 0 {
            return true;
        }
        if tag == self.me.id.tag.0 {
            self.signals.asked.retain(|asked| asked.number != number);
        }
        self.signals.note_granted(tag, number)
    }

    fn pronounce(&mut self, petition: &EventRequest, granted: bool) {
        let asker = self
            .links
            .iter()
            .find(|link| link.present.is_some_and(|present| present.id.tag.0 == petition.tag));
        if let Some(peer) = asker.map(|link| link.peer) {
            self.tell(peer, &Message::Verdict { number: petition.number, granted });
        }
    }

    /// Sends a signal to all it is for.
    fn publish(&mut self, petition: &EventRequest) {
        let origin_is_me = petition.tag == self.me.id.tag.0;
        let bytes = encode(petition, self.tick, false);
        for index in 0..self.links.len() {
            let Some(present) = self.links[index].present else { continue };
            let is_origin = present.id.tag.0 == petition.tag;
            let is_for = match petition.to {
                Target::All => true,
                Target::Others => !is_origin,
                Target::Leader => self.roster.leader() == Some(present),
                Target::Slot(player) => present.slot == player,
            };
            let hides = |id: &ObjectId| self.store.find(*id).is_some_and(|place| self.hides(index, place));
            // Whoever is not told of an object would wait for it, and with it for all that follows.
            if is_for && !petition.event.objects.iter().any(hides) {
                let peer = self.links[index].peer;
                self.messages.push_back((peer, bytes.clone()));
            }
        }
        let is_for_me = match petition.to {
            Target::All => true,
            Target::Others => !origin_is_me,
            Target::Leader => self.is_leader(),
            Target::Slot(player) => player == self.me.slot,
        };
        if is_for_me && self.signals.own.len() < WAITING_MAX {
            self.signals.own.push_back(petition.event.clone());
        }
    }

    /// Asks the lead.
    fn petition(&mut self, petition: &EventRequest) {
        let lead = self.roster.leader();
        let link = self.links.iter().find(|link| link.present.is_some() && link.present == lead);
        if let Some(peer) = link.map(|link| link.peer) {
            let bytes = encode(petition, self.tick, true);
            self.messages.push_back((peer, bytes));
        }
    }

    /// Somebody else leads: what has no verdict is asked again. If we lead it is granted, as all
    /// our own.
    pub(super) fn petition_again(&mut self) {
        let asked = std::mem::take(&mut self.signals.asked);
        for petition in asked {
            if self.is_leader() {
                if !self.signals.is_granted(petition.tag, petition.number) {
                    self.signals.note_granted(petition.tag, petition.number);
                    self.publish(&petition);
                }
            } else {
                self.petition(&petition);
                self.signals.asked.push_back(petition);
            }
        }
    }

    pub(super) fn handle_verdict(&mut self, link: usize, number: u32, granted: bool) {
        if self.links[link].present.is_none() || self.links[link].present != self.roster.leader() {
            return;
        }
        let Some(index) = self.signals.asked.iter().position(|asked| asked.number == number) else { return };
        if let Some(asked) = self.signals.asked.remove(index).filter(|_| !granted) {
            let signal = self.kinds.signals()[usize::from(asked.kind)].name;
            self.events.push(SessionEvent::EventRejected { event: signal });
        }
    }

    /// A signal or a petition arrived.
    pub(super) fn handle_signal(&mut self, index: usize, message: &SignalMessage<'_>, to_judge: bool) {
        let peer = self.links[index].peer;
        let Some(sender) = self.links[index].present else { return };
        if let Err(fault) = self.check_signal(sender.slot, sender.id.tag.0, message, to_judge) {
            return self.fault(peer, fault);
        }
        let entry = &self.kinds.signals()[usize::from(message.kind)];
        let (of, checked) = (entry.of, entry.rules.needs_approval && !to_judge);
        let signal = RemoteEvent {
            from: message.origin,
            objects: message.objects.clone(),
            of,
            bytes: message.bytes.to_vec(),
        };
        let (to, kind, tag, number) = (message.to, message.kind, message.tag, message.number);
        let petition = EventRequest { event: signal, to, kind, tag, number };
        let now = self.now;
        let tick = widen(self.links[index].their_tick, message.tick);
        let inbox = &mut self.links[index].inbox;
        if !inbox.bucket.take(now) || inbox.waiting.len() >= WAITING_MAX {
            self.stats.remote_events_dropped += 1;
            if to_judge {
                self.tell(peer, &Message::Verdict { number, granted: false });
            }
            return;
        }
        inbox.waiting.push_back(Waiting { petition, to_judge, checked, since: now, tick });
    }

    /// What no honest peer sends.
    fn check_signal(
        &self,
        sender: Player,
        tag: u32,
        message: &SignalMessage<'_>,
        to_judge: bool,
    ) -> Result<(), PeerFault> {
        let entry = self.kinds.signals().get(usize::from(message.kind)).ok_or(PeerFault::UnknownEvent)?;
        (entry.check)(message.bytes)?;
        let own_word = (message.origin, message.tag) == (sender, tag);
        if (to_judge || !entry.rules.needs_approval) && !own_word {
            return Err(PeerFault::Impersonation);
        }
        if to_judge && (!entry.rules.needs_approval || message.number == 0) {
            return Err(PeerFault::UnknownEvent);
        }
        Ok(())
    }

    fn fate(&self, link: usize, waiting: &Waiting) -> Fate {
        let petition = &waiting.petition;
        let sender = self.links[link].present;
        let in_place = match (waiting.to_judge, waiting.checked) {
            (true, _) => self.is_leader(),
            (false, true) => sender.is_some() && sender == self.roster.leader(),
            (false, false) => true,
        };
        let mut known = true;
        for id in &petition.event.objects {
            if self.live(*id).is_err() && !self.is_departing(*id) {
                known = false;
                let place = self.store.find(*id);
                let gone =
                    place.is_some_and(|place| self.store[place].record.is_some_and(|record| record.gone));
                if gone || self.tombstone_ranges.contains(*id) {
                    return Fate::Drop;
                }
            }
        }
        let mine = match petition.to {
            Target::Slot(player) => waiting.to_judge || player == self.me.slot,
            _ => true,
        };
        if !mine {
            return Fate::Drop;
        }
        let late = self.now.since(waiting.since) >= PATIENCE;
        match (in_place && known, late) {
            (true, false) if self.is_ahead_of_motion(link, waiting) => Fate::Wait,
            (true, _) => Fate::Deliver,
            (false, true) => Fate::Drop,
            (false, false) => Fate::Wait,
        }
    }

    /// Whether something was said of objects that are played in sequence and are not shown at that
    /// moment yet.
    fn is_ahead_of_motion(&self, link: usize, waiting: &Waiting) -> bool {
        let state = &self.links[link];
        let Some(sender) = state.present.filter(|_| self.config.smoothing && !waiting.to_judge) else {
            return false;
        };
        // What the sender has told nothing after moves no more.
        let moment = state.clock.time_of(waiting.tick.min(state.their_tick));
        let is_played = |id: &ObjectId| {
            let Ok(place) = self.live(*id) else { return self.is_departing(*id) };
            let record = self.store[place].record;
            let kind = self.store.kind(place);
            kind.is_some_and(|kind| kind.rules.interpolation == Interpolation::Buffered)
                && record.is_some_and(|record| record.version.authority == sender.id)
        };
        state.playhead.at() < moment as f64 && waiting.petition.event.objects.iter().any(is_played)
    }

    /// Sends a message over the reliable channel.
    pub(super) fn tell(&mut self, peer: PeerId, message: &Message<'_>) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.messages.push_back((peer, bytes));
    }
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
