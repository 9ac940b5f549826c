//! Players that come, go, look on or are wrong, and referees that start again.

use gaggle_kit::{Frame, Slot, SlotSet, State};
use gaggle_seal::{Origin, OutReason, RoomEvent};
use gaggle_testkit::NetConditions;
use gaggle_timeline::{Game, Inputs, SessionEvent};

use super::world::{Condition, Mix, REFEREE, SIMULATES, World, peer};

fn slot(index: usize) -> SlotSet {
    SlotSet::of(Slot::at(index))
}

fn playing(seed: u64, players: usize) -> World<Mix> {
    let mut world = World::new(seed, players, NetConditions { loss: 10, ..NetConditions::latency_ms(30) });
    world.settle();
    world
}

#[test]
fn late_joiner_takes_state_of_others_and_plays() {
    let mut world = playing(11, 4);
    // Frame 0 is forgotten, so only another player has a state.
    world.run_ms(12_000);
    world.join(slot(6));
    world.settle();
    let joiner = &world.players[4];
    assert_eq!((joiner.session().stats().snapshots_received, joiner.session().local_slots()), (1, slot(6)));
    assert!(joiner.session().start_frame() > Frame::new(600));
    let compared = world.compared;
    world.run_ms(2_000);
    assert!(world.compared > compared + 500);
    for player in &world.players {
        assert_eq!(player.session().roster().len(), 5);
    }
    assert!(world.players[4].events.is_empty(), "{:?}", world.players[4].events);
}

#[test]
fn goodbye_is_one_frame_for_all_and_slot_is_free_again() {
    let mut world = playing(12, 4);
    world.players[2].timeline.session_mut().leave();
    assert!(world.run_until(2_000, |world| world.players[2].session().is_closed()));
    world.crash(2, true);
    world.run_ms(1_000);
    let left = world.players[0].session().left(Slot::at(2)).expect("it left");
    assert_eq!(left.1, OutReason::Goodbye);
    for index in [0, 1, 3] {
        let player = &world.players[index];
        assert_eq!(player.session().left(Slot::at(2)), Some(left));
        let is_it = |event: &SessionEvent| matches!(event, SessionEvent::Left { peer: left_peer, last } if *left_peer == peer(2) && last.next() == left.0);
        assert_eq!(player.told(is_it), 1);
    }
    world.join(slot(2));
    world.settle();
    assert_eq!(world.players[0].session().left(Slot::at(2)), None);
    assert!(world.players[4].session().is_member());
}

#[test]
fn leader_is_first_in_join_order() {
    let mut world = playing(13, 3);
    let first = world.players[0].session().roster()[0].stream.peer;
    let index = (first.to_u128() - 1) as usize;
    world.crash(index, true);
    world.run_ms(12_000);
    let other = (index + 1) % 3;
    let leader = world.players[other].session().roster()[0].stream.peer;
    let told = |event: &SessionEvent| *event == SessionEvent::LeaderChanged { leader };
    assert_eq!(world.players[other].told(told), 1);
}

#[test]
fn match_goes_on_from_journal_without_lost_frame() {
    let mut world = playing(14, 4);
    world.run_ms(3_000);
    world.is_server_up = false;
    world.run_ms(2_000);
    assert!(world.players.iter().all(|player| player.session().is_stalled()));
    let confirmed = world.players[0].session().confirmed_frame();
    let journal = world.journal.clone();
    world.restart_referee(Origin::Journal(journal), slot);
    world.run_ms(5_000);
    assert!(world.room_events.iter().any(|event| matches!(event, RoomEvent::Recovered { damage: None, .. })));
    for player in &world.players {
        assert!(player.session().confirmed_frame() > confirmed + 200);
        assert!(player.session().is_member() && !player.session().is_stalled());
        assert_eq!(player.told(|event| matches!(event, SessionEvent::FramesTakenBack { .. })), 0);
        assert_eq!(
            player.told(|event| matches!(event, SessionEvent::Interrupted { peer } if *peer == REFEREE)),
            1
        );
        assert_eq!(
            player.told(|event| matches!(event, SessionEvent::Resumed { peer } if *peer == REFEREE)),
            1
        );
        assert!((1..=2).contains(&player.told(|event| matches!(event, SessionEvent::StallEnded { .. }))));
    }
}

#[test]
fn match_goes_on_from_logs_of_clients() {
    let mut world = playing(15, 4);
    world.run_ms(3_000);
    world.is_server_up = false;
    world.run_ms(1_000);
    let confirmed = world.players[0].session().confirmed_frame();
    world.restart_referee(Origin::Ask, slot);
    world.run_ms(8_000);
    for player in &world.players {
        assert!(player.session().confirmed_frame() > confirmed + 150);
        assert!(player.session().is_member());
    }
}

#[test]
fn frames_of_referee_that_died_are_taken_back() {
    let conditions = NetConditions::latency_ms(30);
    let mut world = World::<Mix>::new(16, 4, conditions).without_straight_run();
    world.settle();
    world.run_ms(2_000);
    // The journal lost its end: clients hold frames that the new referee does not.
    let kept = world.journal.clone();
    world.run_ms(130);
    let held = world.players[0].session().confirmed_frame();
    world.restart_referee(Origin::Journal(kept), slot);
    world.run_ms(4_000);
    let mut taken_back = 0;
    for player in &world.players {
        taken_back += player.told(|event| matches!(event, SessionEvent::FramesTakenBack { .. }));
        assert!(player.session().confirmed_frame() > held + 100 && player.session().is_member());
    }
    assert!(taken_back >= 3, "{taken_back}");
    let hashes: std::collections::BTreeSet<(Frame, u64)> = common_states(&mut world);
    assert_eq!(hashes.len(), 1, "{hashes:?}");
}

/// Confirmed states at one common frame.
fn common_states(world: &mut World<Mix>) -> std::collections::BTreeSet<(Frame, u64)> {
    let target =
        world.players.iter().map(|player| player.session().confirmed_frame()).max().expect("players") + 30;
    let mut found: Vec<Option<(Frame, u64)>> = vec![None; world.players.len()];
    assert!(world.run_until(2_000, |world| {
        for (player, found) in world.players.iter().zip(&mut found) {
            // States between two ticks are skipped by none of them for long.
            if let Some((frame, game)) = player.timeline.confirmed_game()
                && frame == target
            {
                *found = Some((frame, game.hash));
            }
        }
        found.iter().filter(|found| found.is_some()).count() >= 2 && world.sealed() > target + 60
    }));
    found.into_iter().flatten().collect()
}

#[test]
fn wrong_state_is_replaced_by_that_of_others() {
    let mut world = World::<Spilled>::new(17, 4, NetConditions::latency_ms(30)).without_straight_run();
    world.settle();
    SPILL.with(|spill| spill.set(world.players[1].session().current_frame() + 5));
    world.run_ms(8_000);
    let outvoted: Vec<usize> = world
        .players
        .iter()
        .map(|player| player.told(|event| matches!(event, SessionEvent::StateOutvoted { .. })))
        .collect();
    assert_eq!(outvoted, [0, 1, 0, 0]);
    assert_eq!(world.players[1].session().stats().recoveries, 1);
    assert!(world.players[1].session().is_member());
    assert!(world.players[1].timeline.take_desync_bundle().is_some());
    world.run_ms(4_000);
    let more = world.players[1].told(|event| matches!(event, SessionEvent::StateOutvoted { .. }));
    assert_eq!(more, 1, "the state is right now");
}

thread_local! {
    /// Frame that goes wrong at the second player.
    static SPILL: std::cell::Cell<Frame> = const { std::cell::Cell::new(Frame::NEVER) };
}

/// A game with a bug that shows on one peer.
#[derive(Clone, Default, State)]
struct Spilled {
    mix: Mix,
}

impl Game for Spilled {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        self.mix.tick(inputs);
        let is_wrong = SPILL.with(|spill| spill.get()) == inputs.frame();
        self.mix.spill += u32::from(is_wrong && SIMULATES.with(|index| index.get()) == 1);
    }
}

#[test]
fn spectator_shows_sealed_frames_only_and_takes_no_slot() {
    let mut world = playing(18, 3);
    world.run_ms(11_000);
    world.join(SlotSet::EMPTY);
    world.settle();
    let frame = world.players[3].session().current_frame();
    let rollbacks = world.players[3].session().stats().rollbacks;
    world.run_ms(5_000);
    let session = world.players[3].session();
    assert!((280..=320).contains(&session.current_frame().since(frame)), "{frame}");
    assert_eq!((session.stats().rollbacks, rollbacks), (0, 0));
    assert!(session.current_frame() <= session.confirmed_frame());
    assert!(session.is_spectating() && !session.is_member() && session.local_slots().is_empty());
    assert!(world.sealed().since(session.current_frame()) < 40);
}

#[test]
fn passive_player_sends_no_input_and_returns() {
    let mut world = playing(19, 4);
    world.players[2].timeline.session_mut().set_passive(true);
    world.run_ms(2_000);
    let quiet = world.players[2].session().stats().bytes_sent;
    world.run_ms(15_000);
    let player = &world.players[2];
    assert!(player.session().is_member(), "its slot stays");
    assert_eq!(player.told(|event| matches!(event, SessionEvent::InputRefused { .. })), 0);
    let per_second = (player.session().stats().bytes_sent - quiet) / 15;
    let others = world.players[1].session().stats().bytes_sent / (world.now.as_millis() / 1_000);
    assert!(per_second < others * 3 / 4, "{per_second} {others}");
    assert!(
        world
            .players
            .iter()
            .all(|player| player.told(|event| matches!(event, SessionEvent::Stalled { .. })) == 0)
    );
    world.players[2].timeline.session_mut().set_passive(false);
    world.run_ms(3_000);
    let player = &world.players[2];
    assert!(player.session().is_member() && !player.session().is_passive());
    let late = player.told(|event| matches!(event, SessionEvent::InputRefused { .. }));
    assert!(late <= 12, "{late}");
}

#[test]
fn several_players_on_one_peer_play_in_their_slots() {
    let mut world = World::<Mix>::empty(20, NetConditions { loss: 20, ..NetConditions::latency_ms(30) });
    let pair: SlotSet = [1, 4].into_iter().map(Slot::at).collect();
    world.join(slot(0));
    world.join(pair);
    world.join([2, 3, 5, 7].into_iter().map(Slot::at).collect());
    world.settle();
    assert_eq!(world.players[1].session().local_slots(), pair);
    let compared = world.compared;
    world.run_ms(5_000);
    assert!(world.compared > compared + 500);
    assert_eq!(world.players[0].session().roster().len(), 3);
}

#[test]
fn damaged_bytes_end_only_link_of_their_receiver() {
    let mut world = playing(21, 4);
    let now = world.now;
    let session = world.players[1].timeline.session_mut();
    session.handle_message(now, peer(3), &[255; 40]);
    assert!(session.poll_disconnect().is_none(), "only the referee is heard");
    session.handle_message(now, REFEREE, &[255; 40]);
    assert!(matches!(session.poll_event(), Some(SessionEvent::PeerFault { peer: REFEREE, .. })));
    assert_eq!(session.poll_disconnect().map(|(peer, _)| peer), Some(REFEREE));
    assert!(session.poll_transmit().is_none());
    world.run_ms(500);
    world.connect(1, slot(1));
    world.run_ms(3_000);
    assert!(world.players.iter().all(|player| player.session().is_member()));
}

#[test]
fn player_with_other_build_is_turned_away() {
    let mut world = playing(22, 3);
    world.config.game_fingerprint = 99;
    world.join(slot(5));
    world.run_ms(2_000);
    assert_eq!(world.closed.len(), 1);
    assert!(!world.players[3].session().is_running());
    assert!(world.players[..3].iter().all(|player| player.session().is_member()));
}

#[test]
fn dead_referee_is_told_of() {
    let mut world = playing(23, 2);
    world.is_server_up = false;
    world.players[1].condition = Condition::Awake;
    world.run_ms(31_000);
    for player in &world.players {
        assert_eq!(player.told(|event| matches!(event, SessionEvent::TimedOut { peer: REFEREE })), 1);
        assert_eq!(player.told(|event| matches!(event, SessionEvent::Stalled { .. })), 1);
    }
}

#[test]
fn start_and_join_lose_few_inputs() {
    let mut world = World::<Mix>::new(24, 4, NetConditions::latency_ms(30));
    let told = |event: &SessionEvent| matches!(event, SessionEvent::InputRefused { .. });
    assert!(world.run_until(3_000, |world| world.players.iter().all(|player| player.session().is_member())));
    world.run_ms(3_000);
    let refused: Vec<usize> = world.players.iter().map(|player| player.told(told)).collect();
    assert!(refused.iter().all(|count| *count <= 20), "{refused:?}");
}
