//! Peers whose encodings differ, or that claim slots they were not given, are rejected with the
//! reason.

use gaggle_kit::{Micros, PeerId, Slot, SlotSet, State};
use gaggle_link::CloseCode;
use gaggle_timeline::{
    Game, Incarnation, Inputs, PeerSlots, RejectReason, Session, SessionEvent, Timeline, TimelineConfig,
    shape_of,
};

#[derive(Clone, Default, State)]
struct Rope {
    pulled: i32,
}

/// The same game in another build, under the same version.
#[derive(Clone, Default, State)]
struct LongRope {
    pulled: i32,
    cheers: u32,
}

impl Game for Rope {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        self.pulled += i32::from(inputs.get(Slot::at(0))) - i32::from(inputs.get(Slot::at(1)));
    }
}

impl Game for LongRope {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        self.pulled += i32::from(inputs.get(Slot::at(0))) - i32::from(inputs.get(Slot::at(1)));
        self.cheers += 1;
    }
}

fn peer(index: usize) -> PeerId {
    PeerId::from_u128(index as u128 + 1)
}

/// Output of a session: whether each item is a message, and its receiver.
fn said<G: Game<Input = u8>>(timeline: &mut Timeline<G>) -> Vec<(bool, PeerId, Vec<u8>)> {
    let mut said = Vec::new();
    while let Some(packet) = timeline.session_mut().poll_transmit() {
        said.push((packet.is_reliable(), packet.to, packet.bytes.to_vec()));
    }
    said
}

fn hear<G: Game<Input = u8>>(
    timeline: &mut Timeline<G>,
    now: Micros,
    from: PeerId,
    said: &(bool, PeerId, Vec<u8>),
) {
    match said.0 {
        true => timeline.session_mut().handle_message(now, from, &said.2),
        false => timeline.session_mut().handle_packet(now, from, &said.2),
    }
}

/// Events of a session, and the peers it disconnects.
type Outcome = (Vec<SessionEvent>, Vec<(PeerId, CloseCode)>);

/// Runs two games over a perfect link for two seconds. Returns events of each, and the peers it
/// disconnects.
fn play<A: Game<Input = u8>, B: Game<Input = u8>>(
    one: &mut Timeline<A>,
    two: &mut Timeline<B>,
) -> [Outcome; 2] {
    let mut told = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
    one.session_mut().handle_connected(Micros::ZERO, peer(1)).expect("few links");
    two.session_mut().handle_connected(Micros::ZERO, peer(0)).expect("few links");
    for tick in 1..=120 {
        let now = Micros::from_millis(16 * tick);
        one.tick(now);
        two.tick(now);
        said(one).iter().for_each(|words| hear(two, now, peer(0), words));
        said(two).iter().for_each(|words| hear(one, now, peer(1), words));
        told[0].0.extend(std::iter::from_fn(|| one.session_mut().poll_event()));
        told[1].0.extend(std::iter::from_fn(|| two.session_mut().poll_event()));
        told[0].1.extend(std::iter::from_fn(|| one.session_mut().poll_disconnect()));
        told[1].1.extend(std::iter::from_fn(|| two.session_mut().poll_disconnect()));
    }
    told
}

fn session(index: usize, seats: &[PeerSlots]) -> Session<u8> {
    let config = TimelineConfig { slot_count: 4, ..TimelineConfig::default() };
    Session::new(config, peer(index), seats, Incarnation(index as u32 + 1)).expect("sensible")
}

fn refusals(told: &[SessionEvent]) -> Vec<RejectReason> {
    let reason = |event: &SessionEvent| match event {
        SessionEvent::Rejected { reason, .. } => Some(*reason),
        _ => None,
    };
    told.iter().filter_map(reason).collect()
}

#[test]
fn builds_with_other_state_fields_reject_each_other() {
    let seats = [0, 1].map(|index| PeerSlots::new(peer(index), Slot::at(index)));
    let mut same = [0, 1].map(|index| Timeline::new(session(index, &seats), Rope::default()));
    let [one, two] = &mut same;
    for (events, closed) in play(one, two) {
        assert_eq!((refusals(&events), closed), (Vec::new(), Vec::new()), "of one build: {events:?}");
        assert!(events.contains(&SessionEvent::Started), "{events:?}");
    }
    let mut one = Timeline::new(session(0, &seats), Rope::default());
    let mut two = Timeline::new(session(1, &seats), LongRope::default());
    let (ours, theirs) = (shape_of::<Rope>(), shape_of::<LongRope>());
    let told = play(&mut one, &mut two);
    assert_eq!(refusals(&told[0].0), [RejectReason::Shape { ours, theirs }]);
    assert_eq!(refusals(&told[1].0), [RejectReason::Shape { ours: theirs, theirs: ours }]);
    assert_eq!(told[0].1, [(peer(1), CloseCode::INCOMPATIBLE)]);
    assert_eq!(told[1].1, [(peer(0), CloseCode::INCOMPATIBLE)]);
    assert!(!told[0].0.contains(&SessionEvent::Started) && !told[1].0.contains(&SessionEvent::Started));
}

#[test]
fn session_without_shape_accepts_any_shape() {
    let seats = [0, 1].map(|index| PeerSlots::new(peer(index), Slot::at(index)));
    let mut one = Timeline::new(session(0, &seats), Rope::default());
    let mut two = Timeline::new(session(1, &seats), Rope::default());
    two.session_mut().set_shape(0);
    for (events, _) in play(&mut one, &mut two) {
        assert!(refusals(&events).is_empty() && events.contains(&SessionEvent::Started), "{events:?}");
    }
}

#[test]
fn late_peer_claiming_other_slots_is_rejected() {
    let seats = [0, 1].map(|index| PeerSlots::new(peer(index), Slot::at(index)));
    let mut one = Timeline::new(session(0, &seats), Rope::default());
    let mut two = Timeline::new(session(1, &seats), Rope::default());
    let started = play(&mut one, &mut two);
    assert!(started.iter().all(|(events, _)| events.contains(&SessionEvent::Started)), "{started:?}");
    // Both restart and meet a running match: one that claims the slots it was given may join, one
    // that claims others may not.
    for (slot, expected) in [(1, None), (3, Some(Slot::at(3)))] {
        one.session_mut().handle_disconnected(Micros::from_secs(3), peer(1));
        let claimed = [PeerSlots::new(peer(0), Slot::at(0)), PeerSlots::new(peer(1), Slot::at(slot))];
        let mut late = session(1, &claimed);
        late.handle_connected(Micros::from_secs(3), peer(0)).expect("few links");
        one.session_mut().handle_connected(Micros::from_secs(3), peer(1)).expect("few links");
        late.tick(Micros::from_secs(3));
        while let Some(packet) = late.poll_transmit() {
            if packet.is_reliable() {
                let bytes = packet.bytes.to_vec();
                one.session_mut().handle_message(Micros::from_secs(3), peer(1), &bytes);
            }
        }
        let events: Vec<SessionEvent> = std::iter::from_fn(|| one.session_mut().poll_event()).collect();
        let slots =
            |theirs| RejectReason::Slots { ours: SlotSet::of(Slot::at(1)), theirs: SlotSet::of(theirs) };
        assert_eq!(refusals(&events), expected.map(slots).into_iter().collect::<Vec<_>>(), "{events:?}");
    }
}
