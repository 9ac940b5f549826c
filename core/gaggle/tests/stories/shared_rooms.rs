//! Rooms of a world: joining, leaving, crashes, lost servers and links.

use crate::cluster::Subject;
use crate::pond;
use crate::pond::{Cluster, Oars, Pond, TestRoom, boats, expect_one_world, pushes, rocks, strokes};
use gaggle::replica::AuthorityPolicy;
use gaggle::{JoinTarget, LeaveCause, Phase, RoomEvent, Slot, WorldConfig};
use gaggle_kit::Micros;
use gaggle_link::sim::{Chance, Conditions};

fn count(cluster: &Cluster, index: usize, what: impl Fn(&RoomEvent) -> bool) -> usize {
    cluster.told[index].iter().filter(|event| what(event)).count()
}

fn came(event: &RoomEvent) -> bool {
    matches!(event, RoomEvent::PlayerJoined { .. })
}

/// Causes with which players left, according to a peer's events.
fn partings(cluster: &Cluster, index: usize) -> Vec<LeaveCause> {
    let parting = |event: &RoomEvent| match event {
        RoomEvent::PlayerLeft { cause: parting, .. } => Some(*parting),
        _ => None,
    };
    cluster.told[index].iter().filter_map(parting).collect()
}

/// `indices` peers in one world with this policy.
fn together(count: usize, policy: &AuthorityPolicy) -> Cluster {
    let mut cluster = Cluster::of(count);
    for index in 0..count {
        cluster.open_with(index, pond::with_policy(index, policy.clone()));
        cluster.run_until("it is in", 3_000, move |cluster| cluster.is_together(index));
    }
    cluster
}

const POLICIES: [AuthorityPolicy; 3] =
    [AuthorityPolicy::OwnerOrLeader, AuthorityPolicy::Anyone, AuthorityPolicy::Leader];

#[test]
fn lone_peer_plays_at_once_and_others_join_its_world() {
    for policy in POLICIES {
        let mut cluster = Cluster::of(3);
        cluster.open_with(0, pond::with_policy(0, policy.clone())).step();
        cluster.step();
        assert_eq!(cluster.room(0).phase(), Phase::Solo);
        assert!(cluster.room(0).world().steps > 0, "playing begins before the server has answered");
        cluster.run_ms(3_000);
        let (before, ids) = (pushes(&mut cluster, 0), rocks(cluster.room(0).session()));
        assert!(cluster.is_together(0) && before > 1 && strokes(&mut cluster, 0, player(0)) > 50);
        for index in 1..3 {
            cluster.open_with(index, pond::with_policy(index, policy.clone()));
            cluster.run_until("it is in", 1_500, move |cluster| cluster.is_together(index));
            assert!(pushes(&mut cluster, index) >= before, "what was played before is there");
        }
        cluster.run_ms(3_000);
        expect_one_world(&mut cluster, &[0, 1, 2]);
        let now = rocks(cluster.room(2).session());
        assert!(now.iter().zip(&ids).all(|(now, then)| now.0 == then.0), "the very same rocks");
        for number in 0..3 {
            assert!(strokes(&mut cluster, 1, player(number)) > 30, "{policy:?}: {}", cluster.describe());
        }
        assert_eq!(count(&cluster, 0, came), 2, "{}", cluster.describe());
        assert_eq!(count(&cluster, 2, |event| *event == RoomEvent::MatchJoined), 1);
        assert_eq!(cluster.room(0).world().entered, 1, "founding a room interrupts nothing");
        assert_eq!(cluster.room(1).world().entered, 2);
        let people = cluster.room(1).members();
        assert!(people.len() == 3 && people.iter().all(|person| person.slots.len() == 1), "{people:?}");
        assert!(people.iter().any(|person| person.is_leader && person.name == "Peer 0"));
    }
}

fn player(number: u8) -> Slot {
    Slot::at(number.into())
}

#[test]
fn solo_world_goes_on_while_joining() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(1_000).open(1);
    let (mut steps, mut seen) = (0, false);
    for _ in 0..90 {
        let before = cluster.room(1).world().steps;
        cluster.step();
        if matches!(cluster.room(1).phase(), Phase::Joining { .. }) {
            seen = true;
            steps += cluster.room(1).world().steps - before;
        }
    }
    assert!(seen && steps > 3 && cluster.is_together(1), "{steps} steps\n{}", cluster.describe());
    let percents: Vec<u8> = cluster.told[1]
        .iter()
        .filter_map(|event| if let RoomEvent::Joining { percent } = event { Some(*percent) } else { None })
        .collect();
    assert!(percents.len() > 1 && percents.is_sorted(), "{percents:?}");
}

#[test]
fn result_all_peers_report_is_stored() {
    let mut cluster = together(2, &AuthorityPolicy::OwnerOrLeader);
    cluster.run_ms(2_000);
    let kept =
        |cluster: &Cluster, index: usize| count(cluster, index, |event| *event == RoomEvent::ResultStored);
    let points = [(Slot::at(0), 3), (Slot::at(1), 5)];
    assert!(cluster.room(0).report_result(&points, Some(2), 77), "the lobby is connected");
    cluster.run_ms(500);
    assert_eq!((kept(&cluster, 0), kept(&cluster, 1)), (0, 0), "one word is not enough");
    assert!(cluster.room(1).report_result(&points, Some(2), 77));
    cluster.run_ms(500);
    assert_eq!((kept(&cluster, 0), kept(&cluster, 1)), (1, 1), "{}", cluster.describe());
    // The next match has a result of its own.
    cluster.room(0).start_round();
    cluster.room(1).start_round();
    cluster.run_ms(5_000);
    for index in 0..2 {
        assert!(cluster.room(index).report_result(&points, Some(1), 78));
    }
    cluster.run_ms(500);
    assert_eq!((kept(&cluster, 0), kept(&cluster, 1)), (2, 2), "{}", cluster.describe());
}

#[test]
fn crashed_leader_loses_no_object() {
    for policy in POLICIES {
        let mut cluster = together(3, &policy);
        cluster.run_ms(3_000);
        expect_one_world(&mut cluster, &[0, 1, 2]);
        let (known, done) = (pushes(&mut cluster, 1), strokes(&mut cluster, 1, player(0)));
        let ids: Vec<_> = rocks(cluster.room(1).session()).into_iter().map(|(id, ..)| id).collect();
        cluster.crash(0).run_ms(8_000);
        assert_eq!(cluster.room(1).leader_slot(), Some(player(1)), "{policy:?}\n{}", cluster.describe());
        assert_eq!(cluster.room(2).leader_slot(), Some(player(1)));
        assert!(cluster.room(1).is_leader());
        expect_one_world(&mut cluster, &[1, 2]);
        let now: Vec<_> = rocks(cluster.room(2).session()).into_iter().map(|(id, ..)| id).collect();
        assert_eq!(now, ids);
        assert!(pushes(&mut cluster, 2) > known, "{policy:?}: the world goes on\n{}", cluster.describe());
        assert_eq!(strokes(&mut cluster, 2, player(0)), done, "and keeps what the host had");
        assert_eq!(count(&cluster, 2, |event| matches!(event, RoomEvent::LeaderChanged { .. })), 1);
        assert_eq!(partings(&cluster, 2), [LeaveCause::TimedOut]);
    }
}

#[test]
fn crashed_peer_returns_to_its_slot_and_objects() {
    for policy in POLICIES {
        let mut cluster = together(3, &policy);
        cluster.run_ms(2_000);
        for index in [0, 2] {
            let own = player(index as u8);
            let done = strokes(&mut cluster, 1, own);
            assert!(done > 20, "{}", cluster.describe());
            cluster.crash(index).run_ms(2_500);
            cluster.open_with(index, pond::with_policy(index, policy.clone()));
            cluster.run_until("it is back", 5_000, move |cluster| cluster.is_together(index)).run_ms(3_000);
            expect_one_world(&mut cluster, &[0, 1, 2]);
            assert_eq!(cluster.room(index).local_slot(), own);
            assert!(strokes(&mut cluster, index, own) > done, "{policy:?}: {}", cluster.describe());
            let boats = boats(cluster.room(index).session());
            assert_eq!(boats.len(), 3, "no player has two: {}", cluster.describe());
            let boat = boats.iter().find(|(_, boat, _)| boat.sailor == own.byte()).expect("a boat");
            let holder = if matches!(policy, AuthorityPolicy::Leader) {
                cluster.room(index).leader_slot()
            } else {
                Some(own)
            };
            assert_eq!(boat.2, holder, "{policy:?}: {}", cluster.describe());
            assert_eq!(
                count(&cluster, index, |event| matches!(event, RoomEvent::RoomJoined { resumed: true, .. })),
                1
            );
        }
    }
}

#[test]
fn leaving_peer_and_others_keep_whole_world() {
    for policy in POLICIES {
        let mut cluster = together(3, &policy);
        cluster.run_ms(2_000);
        let known = pushes(&mut cluster, 0);
        cluster.room(0).leave();
        cluster.run_ms(500);
        assert_eq!(cluster.room(0).phase(), Phase::Solo);
        for index in [1, 2] {
            assert_eq!(partings(&cluster, index), [LeaveCause::Left], "{}", cluster.describe());
        }
        cluster.run_ms(5_000);
        expect_one_world(&mut cluster, &[1, 2]);
        assert!(pushes(&mut cluster, 0) > known && pushes(&mut cluster, 1) > known, "{}", cluster.describe());
        assert_eq!(rocks(cluster.room(0).session()).len(), pond::ROCKS);
        assert_eq!(cluster.room(0).session().roster().len(), 1);
    }
}

#[test]
fn world_goes_on_without_lobby() {
    let mut cluster = together(2, &AuthorityPolicy::OwnerOrLeader);
    cluster.set_lobby_up(false).run_ms(5_000);
    expect_one_world(&mut cluster, &[0, 1]);
    for index in 0..2 {
        assert_eq!(count(&cluster, index, |event| *event == RoomEvent::LobbyDisconnected), 1);
    }
    let before = pushes(&mut cluster, 1);
    cluster.set_lobby_up(true).run_ms(20_000);
    expect_one_world(&mut cluster, &[0, 1]);
    assert!(pushes(&mut cluster, 1) > before + 10, "the world never stopped");
    for index in 0..2 {
        assert_eq!(
            count(&cluster, index, |event| *event == RoomEvent::LobbyReconnected),
            1,
            "{}",
            cluster.describe()
        );
        assert_eq!(partings(&cluster, index), [], "no peer was removed\n{}", cluster.describe());
    }
}

#[test]
fn peer_without_lobby_plays_solo_and_is_found_later() {
    let mut cluster = Cluster::of(2);
    cluster.set_lobby_up(false).open(0).run_ms(3_000);
    assert_eq!(cluster.room(0).phase(), Phase::Solo);
    let before = strokes(&mut cluster, 0, player(0));
    assert!(cluster.room(0).world().steps > 170 && before > 50);
    cluster.set_lobby_up(true).run_until("it found the server", 20_000, |cluster| cluster.is_together(0));
    cluster.open(1).run_until("the second is in", 3_000, |cluster| cluster.is_together(1)).run_ms(1_000);
    expect_one_world(&mut cluster, &[0, 1]);
    assert!(strokes(&mut cluster, 1, player(0)) >= before, "what was played is kept");
}

#[test]
fn failed_join_is_reported_and_succeeds_later() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(500).deafen(1).open(1).run_ms(10_000);
    assert!(matches!(cluster.room(1).phase(), Phase::Joining { .. }), "{}", cluster.describe());
    cluster.run_ms(7_000);
    assert_eq!(count(&cluster, 1, |event| *event == RoomEvent::JoinFailed), 1, "{}", cluster.describe());
    assert_eq!(cluster.room(1).phase(), Phase::Solo);
    assert!(
        cluster.room(1).world().steps > 900 && cluster.room(0).world().steps > 900,
        "both went on all the time"
    );
    assert_eq!(rocks(cluster.room(1).session()).len(), pond::ROCKS);
    let doubled = cluster.room(0).session().iter::<pond::Rock>().count();
    assert_eq!(doubled, pond::ROCKS, "two worlds are never mixed");
    cluster.hear_again(1).run_until("it is in after all", 5_000, |cluster| cluster.is_together(1));
    cluster.run_ms(1_000);
    expect_one_world(&mut cluster, &[0, 1]);
}

#[test]
fn slow_link_is_joined_over_as_soon_as_it_opens() {
    for millis in [500, 2_000, 8_000] {
        let mut cluster = Cluster::of(2);
        cluster.slow_links(millis).open(0).open(1).run_ms(millis);
        cluster.run_until("both are in", 3_000, |cluster| cluster.is_together(0) && cluster.is_together(1));
        cluster.run_ms(1_000);
        expect_one_world(&mut cluster, &[0, 1]);
        assert_eq!(count(&cluster, 1, |event| *event == RoomEvent::JoinFailed), 0);
    }
}

#[test]
fn hidden_page_leaves_world_to_others_and_rejoins() {
    for policy in POLICIES {
        let mut cluster = together(2, &policy);
        cluster.run_ms(2_000);
        let (done, entered) = (strokes(&mut cluster, 1, player(0)), cluster.room(0).world().entered);
        cluster.room(0).suspend();
        cluster.run_ms(500);
        assert_eq!(partings(&cluster, 1), [LeaveCause::Left], "{}", cluster.describe());
        assert!(cluster.room(1).is_leader(), "{policy:?}: the host stood up\n{}", cluster.describe());
        cluster.run_ms(4_000);
        assert_eq!(cluster.room(0).phase(), Phase::Suspended);
        let before = pushes(&mut cluster, 1);
        cluster.run_ms(4_000);
        assert!(pushes(&mut cluster, 1) > before, "{policy:?}: nothing stands still\n{}", cluster.describe());
        let steps = cluster.room(0).world().steps;
        cluster.room(0).resume();
        cluster.run_until("it is back", 3_000, |cluster| cluster.is_together(0)).run_ms(3_000);
        assert!(cluster.room(0).world().steps > steps && cluster.room(0).world().entered == entered + 1);
        expect_one_world(&mut cluster, &[0, 1]);
        assert!(strokes(&mut cluster, 1, player(0)) > done, "{policy:?}: its boat is its own again");
        assert_eq!(boats(cluster.room(1).session()).len(), 2, "{}", cluster.describe());
    }
}

#[test]
fn peer_suspended_alone_hands_world_to_joiner() {
    for policy in POLICIES {
        let mut cluster = Cluster::of(2);
        cluster.open_with(0, pond::with_policy(0, policy.clone())).run_ms(3_000);
        cluster.room(0).suspend();
        cluster.run_ms(500);
        let (steps, known) = (cluster.room(0).world().steps, pushes(&mut cluster, 0));
        cluster.open_with(1, pond::with_policy(1, policy.clone()));
        cluster.run_until("the second is in", 3_000, |cluster| cluster.is_together(1)).run_ms(4_000);
        assert_eq!(cluster.room(0).world().steps, steps, "a pause is a pause");
        assert_eq!(cluster.room(1).session().roster().len(), 1, "no peer waits for a suspended one");
        assert!(
            cluster.room(1).is_leader() && pushes(&mut cluster, 1) > known,
            "{policy:?}: {}",
            cluster.describe()
        );
        assert_eq!(rocks(cluster.room(1).session()).len(), pond::ROCKS);
        cluster.room(0).resume();
        cluster.run_until("the first is back", 3_000, |cluster| cluster.is_together(0)).run_ms(3_000);
        expect_one_world(&mut cluster, &[0, 1]);
    }
}

#[test]
fn joiner_left_alone_by_all_others_has_room_for_itself() {
    let mut cluster = Cluster::of(3);
    cluster.open(0).run_ms(500).deafen(1).open(1).run_ms(3_000);
    assert!(matches!(cluster.room(1).phase(), Phase::Joining { .. }));
    cluster.room(0).leave();
    cluster.run_until("it has the room", 1_000, |cluster| cluster.is_together(1));
    assert_eq!(count(&cluster, 1, |event| *event == RoomEvent::JoinFailed), 0);
    cluster
        .hear_again(1)
        .open(2)
        .run_until("the third is in", 3_000, |cluster| cluster.is_together(2))
        .run_ms(500);
    expect_one_world(&mut cluster, &[1, 2]);
}

#[test]
fn one_of_several_waiting_joiners_begins_world() {
    let mut cluster = Cluster::of(3);
    cluster.open(0).run_ms(500).slow_links(2_000).open(1).open(2).run_ms(500);
    // The peer they joined has crashed.
    cluster.crash(0).run_ms(1_000);
    cluster
        .run_until("both are in", 14_000, |cluster| cluster.is_together(1) && cluster.is_together(2))
        .run_ms(1_000);
    expect_one_world(&mut cluster, &[1, 2]);
    let failed = |event: &RoomEvent| *event == RoomEvent::JoinFailed;
    assert_eq!((count(&cluster, 1, failed), count(&cluster, 2, failed)), (0, 0), "{}", cluster.describe());
}

#[test]
fn peer_plays_in_one_room_after_another() {
    let mut cluster = together(2, &AuthorityPolicy::OwnerOrLeader);
    cluster.room(1).leave();
    cluster.run_ms(2_000);
    assert_eq!(cluster.room(1).phase(), Phase::Solo);
    cluster.room(1).restart(Pond::default(), 1, JoinTarget::Matchmake).expect("settings that can be");
    cluster.run_until("it is in again", 3_000, |cluster| cluster.is_together(1)).run_ms(1_000);
    expect_one_world(&mut cluster, &[0, 1]);
}

#[test]
fn player_with_another_slot_keeps_its_solo_objects() {
    let mut cluster = together(2, &AuthorityPolicy::OwnerOrLeader);
    cluster.run_ms(1_000);
    assert_eq!(cluster.room(1).local_slot(), player(1));
    let done = strokes(&mut cluster, 1, player(1));
    let boat = cluster.room(1).session().iter_owned::<pond::Boat>(player(1)).next().expect("a boat");
    cluster.room(1).leave();
    cluster.run_ms(500);
    cluster.room(1).join(JoinTarget::CreatePrivate);
    cluster.run_until("it has a room of its own", 2_000, |cluster| cluster.is_together(1)).run_ms(500);
    let room = cluster.room(1);
    assert_eq!(room.local_slot(), player(0), "the first chair");
    assert!(room.session().has_authority(boat) && room.session().owner(boat) == Some(player(0)));
    assert!(room.session().get::<pond::Boat>(boat).is_some_and(|boat| boat.strokes >= done));
    assert_eq!(room.world().entered, 2, "it is the same world");
}

#[test]
fn remote_event_reaches_all_peers_once() {
    let mut cluster = together(3, &AuthorityPolicy::OwnerOrLeader);
    cluster.weather(Conditions { loss: Chance::percent(10), ..Conditions::latency_ms(60) });
    for word in 0..5 {
        pond::shout(&mut cluster, usize::from(word) % 3, word);
        cluster.run_ms(600);
    }
    let expected: Vec<_> = (0..5).map(|word| (player(word % 3), word)).collect();
    for index in 0..3 {
        assert_eq!(cluster.room(index).world().shouts, expected);
    }
}

#[test]
fn press_between_two_steps_is_not_lost() {
    let mut cluster = Cluster::of(1);
    cluster.open(0).run_ms(500);
    cluster.room(0).world_mut().still = true;
    cluster.run_ms(200);
    let before = strokes(&mut cluster, 0, player(0));
    let now = cluster.now();
    let room = cluster.room(0);
    // Less than a step passes.
    for splash in [false, true, false] {
        room.set_input(0, Oars { row: false, splash });
        assert_eq!(room.update(now + Micros::new(1)), 0);
    }
    cluster.run_ms(200);
    assert_eq!(strokes(&mut cluster, 0, player(0)) - before, 1);
}

#[test]
fn press_held_over_many_steps_counts_once() {
    let mut cluster = Cluster::of(1);
    cluster.open(0).run_ms(500);
    cluster.room(0).world_mut().still = true;
    cluster.run_ms(200);
    let before = strokes(&mut cluster, 0, player(0));
    let now = cluster.now();
    let room = cluster.room(0);
    let steps: u32 = (1..=30)
        .map(|nth| {
            room.set_input(0, Oars { row: false, splash: true });
            room.update(now + Micros::from_millis(nth * 17))
        })
        .sum();
    assert!(steps > 20, "{steps} steps");
    assert_eq!(strokes(&mut cluster, 0, player(0)) - before, 1);
}

#[test]
fn offline_room_connects_to_no_server() {
    let mut cluster = Cluster::of(1);
    let config = WorldConfig { join: JoinTarget::Offline, ..TestRoom::peer_config(0) };
    cluster.open_with(0, config).run_ms(1_000);
    assert!(cluster.told[0].is_empty());
    assert!(cluster.room(0).world().steps > 50);
}

fn code_of(cluster: &mut Cluster, index: usize) -> gaggle::RoomCode {
    cluster.room(index).lobby_client().and_then(|lobby| lobby.room()).expect("a room").code
}

#[test]
fn spectator_takes_slot_later() {
    for policy in POLICIES {
        let mut cluster = Cluster::of(3);
        for index in 0..2 {
            cluster.open_with(index, pond::with_policy(index, policy.clone()));
            cluster.run_until("it is in", 3_000, move |cluster| cluster.is_together(index));
        }
        cluster.run_ms(1_000);
        let code = code_of(&mut cluster, 0);
        let watch = WorldConfig { join: JoinTarget::Spectate(code), ..pond::with_policy(2, policy.clone()) };
        let watches = |cluster: &mut Cluster| cluster.room(2).phase() == Phase::Spectating;
        cluster.open_with(2, watch.clone()).run_until("it looks on", 3_000, watches);
        cluster.run_ms(3_000);
        assert_eq!(count(&cluster, 2, |event| *event == RoomEvent::SpectatingStarted), 1);
        assert_eq!(count(&cluster, 0, came), 1, "only the second player joined");
        assert_eq!(cluster.room(0).session().roster().len(), 2);
        let eyes = cluster.room(2);
        assert_eq!((eyes.session().roster().len(), eyes.world().entered), (2, 2));
        assert_eq!(boats(eyes.session()).len(), 2, "no boat for who looks on");
        assert!(!eyes.report_result(&[], None, 0), "results are told by those who played");
        let seen = pushes(&mut cluster, 2);
        cluster.run_ms(1_000);
        assert!(pushes(&mut cluster, 2) > seen, "{policy:?}: what is seen moves");
        // A hidden spectator goes on: it has no slot to give up.
        cluster.room(2).suspend();
        cluster.run_ms(1_000);
        assert_eq!(cluster.room(2).phase(), Phase::Spectating);
        // The leader crashes and the others go on: so does the spectator.
        cluster.crash(0).run_ms(8_000);
        assert_eq!(cluster.room(2).phase(), Phase::Spectating);
        assert_eq!(cluster.room(2).leader_slot(), Some(player(1)));

        cluster.room(2).restart(Pond::default(), 1, JoinTarget::Code(code)).expect("settings that can be");
        cluster.run_until("it plays", 3_000, |cluster| cluster.is_together(2));
        cluster.run_ms(2_000);
        expect_one_world(&mut cluster, &[1, 2]);
    }
}

#[test]
fn spectator_has_own_world_when_all_players_have_left() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(1_000);
    let watch =
        WorldConfig { join: JoinTarget::Spectate(code_of(&mut cluster, 0)), ..TestRoom::peer_config(1) };
    cluster
        .open_with(1, watch)
        .run_until("it looks on", 3_000, |cluster| cluster.room(1).phase() == Phase::Spectating);
    cluster.room(0).leave();
    cluster.run_until("it is told", 5_000, |cluster| cluster.room(1).phase() == Phase::Solo);
    assert_eq!(
        count(&cluster, 1, |event| matches!(event, RoomEvent::RoomLeft { .. })),
        1,
        "{}",
        cluster.describe()
    );
    cluster.run_ms(1_000);
    let boats = boats(cluster.room(1).session());
    let room = cluster.room(1);
    assert!(room.session().is_leader() && boats.len() == 1, "it plays");
    assert!(!room.is_leader(), "there is no room any more");
}

#[test]
fn silence_is_reported_before_peer_times_out() {
    let mut cluster = together(2, &AuthorityPolicy::OwnerOrLeader);
    cluster.run_ms(1_000);
    cluster.weather(Conditions { loss: Chance::ALWAYS, ..Conditions::default() });
    cluster.run_until("it is told", 2_900, |cluster| {
        count(cluster, 0, |event| matches!(event, RoomEvent::PlayerInterrupted { .. })) == 1
    });
    assert_eq!(partings(&cluster, 0), []);
    cluster.weather(Conditions::default()).run_ms(1_000);
    assert_eq!(
        count(&cluster, 0, |event| matches!(event, RoomEvent::PlayerResumed { .. })),
        1,
        "{}",
        cluster.describe()
    );
    assert_eq!(partings(&cluster, 0), [], "and no player left");
}

#[test]
fn leader_that_leaves_is_succeeded_at_once() {
    for policy in POLICIES {
        let mut cluster = together(3, &policy);
        cluster.run_ms(2_000);
        cluster.room(0).leave();
        cluster.run_until("another leads", 1_000, |cluster| cluster.room(1).is_leader());
        // Far less than a peer's timeout.
        cluster.run_ms(400);
        let session = cluster.room(1).session();
        let held: Vec<Option<Slot>> = rocks(session).into_iter().map(|(_, _, holder)| holder).collect();
        assert!(held.iter().all(|holder| *holder != Some(player(0))), "{policy:?}: {held:?}");
        assert_eq!(partings(&cluster, 1), [LeaveCause::Left]);
    }
}
