//! Rooms of a game: joining, leaving, crashes, lost servers and links.

use crate::cluster::Subject;
use crate::presses;
use crate::presses::{Cluster, Presses, TestRoom, expect_one_match};
use gaggle::timeline::Replay;
use gaggle::{
    GameRoom, JoinTarget, LeaveCause, Micros, NoNetwork, Phase, RoomConfig, RoomEvent, TimelineConfig,
};
use gaggle_kit::{Slot, SlotSet};
use gaggle_link::sim::Conditions;
use gaggle_lobby::view::Verdict;

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

fn count(cluster: &Cluster, index: usize, what: impl Fn(&RoomEvent) -> bool) -> usize {
    cluster.told[index].iter().filter(|event| what(event)).count()
}

#[test]
fn lone_peer_plays_at_once_and_is_found_by_others() {
    let mut cluster = Cluster::of(3);
    cluster.open(0).step();
    cluster.step();
    assert_eq!(cluster.room(0).phase(), Phase::Solo);
    assert!(cluster.room(0).game().frame > 0, "playing begins before the server has answered");
    cluster.run_ms(1_000);
    assert!(cluster.is_together(0));
    cluster.open(1).run_until("the second is in", 1_500, |cluster| cluster.is_together(1));
    cluster.open(2).run_until("the third is in", 1_500, |cluster| cluster.is_together(2));
    expect_one_match(&mut cluster, &[0, 1, 2]);
    assert_eq!(cluster.room(0).stats().stalled_ticks, 0, "no peer waits for a joiner");
    assert_eq!(count(&cluster, 0, came), 2);
    assert_eq!(count(&cluster, 2, |event| matches!(event, RoomEvent::RoomJoined { .. })), 1);
    assert_eq!(count(&cluster, 2, |event| *event == RoomEvent::MatchJoined), 1);
    let people = cluster.room(1).members();
    assert_eq!(people.len(), 3);
    assert!(people.iter().all(|person| person.slots.len() == 1), "{people:?}");
    assert!(people.iter().any(|person| person.is_leader && person.name == "Peer 0"));
}

#[test]
fn credentials_are_renewed_before_they_end() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(1_000).open(1).run_ms(3_000);
    for _ in 0..100 {
        cluster.run_ms(2_000);
        for index in 0..2 {
            let age = cluster.ice_age(index);
            assert!(age <= gaggle::testing::ICE_TTL, "{age} in peer {index}");
        }
    }
    let asked =
        |event: &RoomEvent| matches!(event, RoomEvent::LobbyReply { .. } | RoomEvent::RequestRejected { .. });
    assert_eq!(count(&cluster, 0, asked), 0, "players are told nothing of it");
}

#[test]
fn solo_match_is_what_others_join() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(5_000);
    let before = cluster.room(0).game().counts[0];
    assert!(before > 100);
    cluster.open(1).run_until("the second is in", 1_500, |cluster| cluster.is_together(1));
    cluster.run_ms(100);
    assert!(cluster.room(1).game().counts[0] >= before, "the joiner sees what was played before");
    expect_one_match(&mut cluster, &[0, 1]);
}

#[test]
fn joining_shows_progress_while_solo_match_goes_on() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(1_000).open(1);
    let (mut seen, mut frames) = (false, 0);
    for _ in 0..90 {
        let before = cluster.room(1).game().frame;
        cluster.step();
        if matches!(cluster.room(1).phase(), Phase::Joining { .. }) {
            seen = true;
            frames += cluster.room(1).game().frame - before;
        }
    }
    assert!(seen && frames > 3, "{frames} frames while joining");
    assert!(cluster.is_together(1));
}

#[test]
fn leaving_peer_is_reported_once_and_last_one_plays_on() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    expect_one_match(&mut cluster, &[0, 1]);
    cluster.room(0).leave();
    cluster.step();
    cluster.crash(0).run_ms(2_000);
    assert_eq!(partings(&cluster, 1), [LeaveCause::Left]);
    assert_eq!(count(&cluster, 1, |event| matches!(event, RoomEvent::LeaderChanged { .. })), 1);
    let stalls = cluster.room(1).stats().stalled_ticks;
    assert!(stalls < 12, "a goodbye costs no timeout: {stalls} ticks stalled");
    assert_eq!(cluster.room(1).game().here.count_ones(), 1);
    let frame = cluster.room(1).game().frame;
    cluster.run_ms(1_000);
    assert!(cluster.room(1).game().frame > frame + 50);
}

#[test]
fn crashed_page_gets_its_slot_back() {
    let mut cluster = Cluster::of(3);
    for index in 0..3 {
        cluster.open(index).run_until("it is in", 3_000, move |cluster| cluster.is_together(index));
    }
    cluster.run_ms(2_000);
    let slots = cluster.room(1).local_slots();
    let slot = slots.lowest().expect("a slot").index();
    let count_before = cluster.room(0).game().counts[slot];
    cluster.crash(1).run_ms(700);
    cluster.open(1).run_until("it is back", 4_000, |cluster| cluster.is_together(1));
    expect_one_match(&mut cluster, &[0, 1, 2]);
    assert_eq!(cluster.room(1).local_slots(), slots);
    assert!(cluster.room(1).game().counts[slot] >= count_before, "what it had is still there");
    assert_eq!(count(&cluster, 1, |event| matches!(event, RoomEvent::RoomJoined { resumed: true, .. })), 1);
}

/// Reloads the page of a peer: it closes its room, its socket breaks, and it opens another.
fn reload(cluster: &mut Cluster, index: usize, ms: u64) {
    cluster.room(index).close();
    cluster.step();
    cluster.crash(index).run_ms(ms);
    cluster.open(index);
}

#[test]
fn reloaded_page_gets_its_slot_back() {
    let mut cluster = Cluster::of(3);
    for index in 0..3 {
        cluster.open(index).run_until("it is in", 3_000, move |cluster| cluster.is_together(index));
    }
    cluster.run_ms(2_000);
    // A lower slot is free when it returns.
    cluster.room(0).leave();
    cluster.run_ms(500);
    let slots = cluster.room(2).local_slots();
    let slot = slots.lowest().expect("a slot").index();
    let (count_before, stalls) = (cluster.room(1).game().counts[slot], cluster.room(1).stats().stalled_ticks);
    assert!(slot == 2 && count_before > 10);
    reload(&mut cluster, 2, 900);
    assert_eq!(partings(&cluster, 1), [LeaveCause::Left; 2]);
    cluster.run_until("it is back", 4_000, |cluster| cluster.is_together(2));
    expect_one_match(&mut cluster, &[1, 2]);
    assert_eq!(cluster.room(2).local_slots(), slots);
    assert!(cluster.room(2).game().counts[slot] >= count_before, "what it had is still there");
    assert_eq!(count(&cluster, 2, |event| matches!(event, RoomEvent::RoomJoined { resumed: true, .. })), 1);
    let stalls = cluster.room(1).stats().stalled_ticks - stalls;
    assert!(stalls < 12, "no peer waits for a page that reloads: {stalls} ticks stalled");
}

#[test]
fn page_reloaded_alone_gets_its_room_back() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(1_000);
    let code = |cluster: &mut Cluster, index: usize| {
        cluster.room(index).lobby_client().and_then(|lobby| lobby.room()).map(|room| room.code)
    };
    let before = code(&mut cluster, 0);
    reload(&mut cluster, 0, 900);
    cluster.run_until("it is back", 4_000, |cluster| cluster.is_together(0));
    assert!(before.is_some());
    assert_eq!(code(&mut cluster, 0), before);
    assert_eq!(count(&cluster, 0, |event| matches!(event, RoomEvent::RequestRejected { .. })), 0);
    cluster.open(1).run_until("others find it", 3_000, |cluster| cluster.is_together(1));
    expect_one_match(&mut cluster, &[0, 1]);
}

#[test]
fn closed_page_leaves_at_once_and_its_reservation_ends() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    cluster.run_ms(500).room(0).close();
    cluster.step();
    cluster.crash(0).run_ms(2_000);
    assert_eq!(partings(&cluster, 1), [LeaveCause::Left]);
    assert_eq!(cluster.room(1).game().here.count_ones(), 1);
    cluster.run_ms(10_000);
    assert_eq!(cluster.room(1).members().len(), 1);
}

#[test]
fn match_full_of_local_players_gets_no_joiner() {
    let mut cluster = Cluster::of(3);
    let couch = |index| RoomConfig { local_players: 2, ..TestRoom::peer_config(index) };
    cluster.open_with(0, couch(0)).run_ms(500);
    cluster.open_with(1, couch(1)).run_until("four play", 3_000, |cluster| cluster.is_together(1));
    cluster.open(2).run_until("the fifth has a room", 3_000, |cluster| cluster.is_together(2));
    cluster.run_ms(1_000);
    assert_eq!(
        count(&cluster, 2, |event| matches!(event, RoomEvent::Joining { .. } | RoomEvent::JoinFailed)),
        0
    );
    assert_eq!(cluster.room(2).members().len(), 1);
    // Two local players that return after a reload have their slots.
    let slots = cluster.room(1).local_slots();
    let before = cluster.room(0).game().counts[2];
    cluster.room(1).close();
    cluster.step();
    cluster.crash(1).run_ms(500).open_with(1, couch(1));
    cluster.run_until("they are back", 4_000, |cluster| cluster.is_together(1));
    assert_eq!(cluster.room(1).local_slots(), slots);
    assert!(before > 10 && cluster.room(1).game().counts[2] >= before);
}

#[test]
fn joiner_gets_slot_no_player_has_left() {
    let mut cluster = Cluster::of(3);
    cluster.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    cluster.run_ms(2_000).room(1).leave();
    cluster.step();
    cluster.crash(1).run_ms(500);
    cluster.open(2).run_until("a stranger is in", 3_000, |cluster| cluster.is_together(2));
    assert_eq!(cluster.room(2).local_slots(), SlotSet::of(Slot::at(2)));
    cluster.open(1).run_until("who left is back", 3_000, |cluster| cluster.is_together(1));
    assert_eq!(cluster.room(1).local_slots(), SlotSet::of(Slot::at(1)));
    expect_one_match(&mut cluster, &[0, 1, 2]);
}

#[test]
fn result_of_two_local_players_and_one_remote_counts() {
    let mut cluster = Cluster::of(2);
    let couch = RoomConfig { local_players: 2, ..TestRoom::peer_config(0) };
    cluster
        .open_with(0, couch)
        .run_ms(500)
        .open(1)
        .run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    cluster.run_ms(500);
    let slots = [0, 1, 2].map(Slot::at);
    assert_eq!(cluster.room(1).local_slots(), SlotSet::of(slots[2]));
    let points = [(slots[1], 90), (slots[0], 30), (slots[2], 50)];
    for index in 0..2 {
        assert!(cluster.room(index).report_result(&points, Some(1), 7));
    }
    cluster.run_until("it is kept", 2_000, |cluster| {
        (0..2).all(|index| cluster.told[index].contains(&RoomEvent::ResultStored))
    });
    assert_eq!(count(&cluster, 0, |event| matches!(event, RoomEvent::RequestRejected { .. })), 0);
    let [record] = &cluster.records()[..] else { panic!("{:?}", cluster.records()) };
    assert_eq!(record.verdict, Verdict::Agreed);
    let sheet: Vec<(String, i64, u8)> =
        record.scores.iter().map(|line| (line.name.to_string(), line.score, line.place)).collect();
    assert_eq!(sheet, [("Peer 0".into(), 30, 2), ("Peer 1".into(), 50, 1)]);
}

#[test]
fn crashed_leader_returns() {
    let mut cluster = Cluster::of(3);
    for index in 0..3 {
        cluster.open(index).run_until("it is in", 3_000, move |cluster| cluster.is_together(index));
    }
    cluster.crash(0).run_ms(6_000);
    expect_one_match(&mut cluster, &[1, 2]);
    assert_eq!(partings(&cluster, 1), [LeaveCause::TimedOut]);
    cluster.open(0).run_until("it is back", 4_000, |cluster| cluster.is_together(0));
    expect_one_match(&mut cluster, &[0, 1, 2]);
}

/// Peers that a peer waits for, by name, and whether it is isolated.
fn waiting(cluster: &mut Cluster, index: usize) -> Option<(Vec<String>, bool)> {
    let room = cluster.room(index);
    let waiting = room.stall()?;
    let people = room.members();
    let named = people.into_iter().filter(|person| waiting.waiting_for.contains(&person.peer));
    Some((named.map(|person| person.name).collect(), waiting.is_isolated))
}

#[test]
fn stall_names_peers_it_waits_for_at_once() {
    let mut cluster = Cluster::of(3);
    for index in 0..3 {
        cluster.open(index).run_until("it is in", 3_000, move |cluster| cluster.is_together(index));
    }
    cluster.run_ms(1_000);
    assert_eq!(waiting(&mut cluster, 0), None);
    cluster.crash(1).run_ms(500);
    for index in [0, 2] {
        assert_eq!(waiting(&mut cluster, index), Some((vec!["Peer 1".to_string()], false)), "peer {index}");
        assert_eq!(
            count(&cluster, index, |event| matches!(event, RoomEvent::PlayerInterrupted { .. })),
            0,
            "long before that"
        );
        let since = cluster.room(index).stall().map(|waiting| waiting.since);
        cluster.run_ms(100);
        assert_eq!(
            cluster.room(index).stall().map(|waiting| waiting.since),
            since,
            "it is the same standstill"
        );
    }
    cluster.run_ms(5_000);
    assert_eq!((waiting(&mut cluster, 0), waiting(&mut cluster, 2)), (None, None), "the others play on");

    cluster.weather(Conditions { is_cut: true, ..Conditions::default() }).run_ms(600);
    let (_, is_isolated) = waiting(&mut cluster, 0).expect("nothing arrives any more");
    assert!(is_isolated);
    cluster.weather(Conditions::default()).run_ms(1_000);
    assert_eq!(waiting(&mut cluster, 0), None, "and now it does again");
}

#[test]
fn two_peers_returning_to_empty_match_meet_soon() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    cluster.run_ms(1_000).crash(0).crash(1).run_ms(300);
    cluster.open(0).open(1);
    cluster.run_until("both are back", 5_000, |cluster| cluster.is_together(0) && cluster.is_together(1));
    expect_one_match(&mut cluster, &[0, 1]);
    for index in 0..2 {
        assert_eq!(count(&cluster, index, |event| *event == RoomEvent::JoinFailed), 0);
    }
}

#[test]
fn match_goes_on_without_lobby() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    cluster.set_lobby_up(false).run_ms(5_000);
    expect_one_match(&mut cluster, &[0, 1]);
    for index in 0..2 {
        assert_eq!(count(&cluster, index, |event| *event == RoomEvent::LobbyDisconnected), 1);
    }
    let frame = cluster.room(0).game().frame;
    cluster.set_lobby_up(true).run_ms(20_000);
    expect_one_match(&mut cluster, &[0, 1]);
    assert!(cluster.room(0).game().frame > frame + 1_000, "the match never stopped");
    for index in 0..2 {
        assert_eq!(
            count(&cluster, index, |event| *event == RoomEvent::LobbyReconnected),
            1,
            "{}",
            cluster.describe()
        );
    }
}

/// Two peers play for a while, something happens to the second, and ten seconds after it ends both
/// must be in one match again, in their slots and known to the lobby.
fn back_within_ten_seconds(what: &str, happens: impl FnOnce(&mut Cluster)) {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    cluster.run_ms(2_000);
    let seats = [0, 1].map(|index| cluster.room(index).local_slots());
    let played = cluster.room(0).game().frame;
    happens(&mut cluster);
    let over = cluster.now();
    let frame = (0..2).map(|index| cluster.room(index).game().frame).max().expect("two indices");
    cluster.run_until(what, 10_000, |cluster| {
        let is_back = |cluster: &mut Cluster, index: usize| {
            cluster.is_together(index)
                && cluster.room(index).local_slots() == seats[index]
                // It is confirmed that both play on.
                && cluster.room(index).confirmed().is_some_and(|(_, game)| game.frame > frame && game.here == 3)
                && cluster.room(index).lobby_client().is_some_and(|lobby| lobby.is_online() && lobby.room().is_some())
        };
        let histories = [0, 1].map(|index| cluster.room(index).session().branch_id());
        histories[0] == histories[1] && (0..2).all(|index| is_back(cluster, index))
    });
    println!("{what}: back after {} ms", cluster.now().since(over).as_millis());
    expect_one_match(&mut cluster, &[0, 1]);
    for index in 0..2 {
        assert!(cluster.room(index).game().frame > played, "{what}: it is the match it was");
    }
    assert_eq!([0, 1].map(|index| cluster.room(index).local_slots()), seats, "{what}");
}

#[test]
fn slot_and_match_are_back_within_ten_seconds() {
    for seconds in [1, 45] {
        back_within_ten_seconds(&format!("the server was away for {seconds} s"), |cluster| {
            cluster.set_lobby_up(false).run_ms(seconds * 1_000).set_lobby_up(true);
        });
        back_within_ten_seconds(&format!("nothing arrived for {seconds} s"), |cluster| {
            cluster.weather(Conditions { is_cut: true, ..Conditions::default() }).run_ms(seconds * 1_000);
            cluster.weather(Conditions::latency_ms(40));
        });
        back_within_ten_seconds(&format!("a tab slept for {seconds} s"), |cluster| {
            cluster.sleep(1, true).run_ms(seconds * 1_000).sleep(1, false);
        });
    }
    back_within_ten_seconds("a page was killed and opened again", |cluster| {
        cluster.crash(1).run_ms(3_000).open(1);
    });
    back_within_ten_seconds("a page was loaded again", |cluster| reload(cluster, 1, 300));
    back_within_ten_seconds("the first of all was killed and opened again", |cluster| {
        cluster.crash(0).run_ms(3_000).open(0);
    });
}

#[test]
fn peer_without_lobby_plays_solo() {
    let mut cluster = Cluster::of(1);
    cluster.set_lobby_up(false).open(0).run_ms(3_000);
    assert_eq!(cluster.room(0).phase(), Phase::Solo);
    assert!(cluster.room(0).game().frame > 170);
    cluster.set_lobby_up(true).run_until("it found the server", 20_000, |cluster| cluster.is_together(0));
    assert!(cluster.room(0).game().frame > 170, "what was played is kept");
}

#[test]
fn failed_join_is_reported_and_peer_plays_on() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(500).deafen(1).open(1).run_ms(10_000);
    assert!(matches!(cluster.room(1).phase(), Phase::Joining { .. }), "{}", cluster.describe());
    cluster.run_ms(7_000);
    assert_eq!(count(&cluster, 1, |event| *event == RoomEvent::JoinFailed), 1);
    assert!(!matches!(cluster.room(1).phase(), Phase::Joining { .. }), "{}", cluster.describe());
    assert!(cluster.room(1).game().frame > 900, "the game went on all the time");
    assert!(cluster.room(0).game().frame > 900, "and so did the other's");
}

#[test]
fn hidden_page_leaves_match_and_rejoins() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    cluster.run_ms(1_000);
    let slots = cluster.room(1).local_slots();
    let stalls = cluster.room(0).stats().stalled_ticks;
    cluster.room(1).suspend();
    cluster.run_ms(5_000);
    assert_eq!(cluster.room(1).phase(), Phase::Suspended);
    assert_eq!(cluster.room(0).game().here.count_ones(), 1);
    assert_eq!(cluster.room(0).stats().stalled_ticks, stalls, "no peer waits for a hidden page");
    cluster.room(1).resume();
    cluster.run_until("it sits again", 2_000, |cluster| cluster.is_together(1));
    assert_eq!(cluster.room(1).local_slots(), slots);
    expect_one_match(&mut cluster, &[0, 1]);
}

#[test]
fn page_hidden_while_joining_joins_when_shown() {
    let mut cluster = Cluster::of(2);
    cluster.slow_links(800).open(0).run_ms(500).open(1);
    cluster.run_until("it is coming in", 1_000, |cluster| {
        matches!(cluster.room(1).phase(), Phase::Joining { .. })
    });
    cluster.room(1).suspend();
    cluster.run_ms(3_000);
    assert_eq!(cluster.room(1).phase(), Phase::Suspended);
    cluster.room(1).resume();
    cluster.run_until("it is in", 5_000, |cluster| cluster.is_together(1));
    expect_one_match(&mut cluster, &[0, 1]);
}

#[test]
fn peer_changing_rooms_plays_on_until_new_match_is_ready() {
    let mut cluster = Cluster::of(3);
    let private = RoomConfig { join: JoinTarget::CreatePrivate, ..TestRoom::peer_config(0) };
    cluster.open_with(0, private).run_ms(500).open(1).run_ms(500).open(2);
    cluster.run_until("two are together", 3_000, |cluster| cluster.is_together(2)).run_ms(1_000);
    let code = cluster.room(0).lobby_client().and_then(|lobby| lobby.room()).expect("a room").code;
    // Nothing arrives from the other room for a while.
    cluster.slow_links(2_000);
    let before = [1, 2].map(|index| cluster.room(index).game().frame);
    cluster.room(2).join(JoinTarget::Code(code));
    cluster.run_ms(1_500);
    // The peer that stays waits until the lobby says that the other has left.
    for (index, before, least) in [(2, before[1], 86), (1, before[0], 70)] {
        let played = cluster.room(index).game().frame - before;
        assert!(
            played >= least,
            "{index} played {played} frames in a second and a half: {}",
            cluster.describe()
        );
    }
    cluster.run_until("it is there", 5_000, |cluster| cluster.room(0).game().here.count_ones() == 2);
    cluster.run_ms(500);
    expect_one_match(&mut cluster, &[0, 2]);
    assert_eq!(cluster.room(1).game().here.count_ones(), 1);
}

#[test]
fn settings_without_slots_for_players_are_rejected() {
    let open = |config: RoomConfig| {
        let game = Presses { frame: 0, here: 0, counts: [0; 4] };
        GameRoom::open(Micros::ZERO, config, NoNetwork::default(), game, 7)
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    let config = || RoomConfig::new("presses", 4).expect("a name");
    assert_eq!(open(config()), Ok(()));
    for (config, words) in [
        (
            RoomConfig { engine: TimelineConfig::rollback(10), ..config() },
            "engine.slot_count is 0; choose 4 to 64",
        ),
        (RoomConfig { local_players: 0, ..config() }, "local_players is 0; choose 1 to 4"),
        (RoomConfig { local_players: 65, ..config() }, "local_players is 65; choose 1 to 4"),
    ] {
        assert_eq!(open(config), Err(words.to_string()));
    }
    assert_eq!(open(config().with_engine(TimelineConfig::rollback(10))), Ok(()));
}

#[test]
fn peer_suspended_alone_still_admits_joiners() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(1_000);
    cluster.room(0).suspend();
    cluster.run_ms(500);
    let frame = cluster.room(0).game().frame;
    cluster.run_ms(1_000);
    assert_eq!(cluster.room(0).game().frame, frame, "a pause is a pause");
    cluster.open(1).run_until("the second is in", 3_000, |cluster| cluster.is_together(1));
    cluster.run_ms(2_000);
    assert_eq!(cluster.room(1).game().here.count_ones(), 1, "no peer waits for a suspended one");
    let frame = cluster.room(1).game().frame;
    cluster.run_ms(1_000);
    assert!(cluster.room(1).game().frame > frame + 50);
    cluster.room(0).resume();
    cluster.run_until("the first is back", 3_000, |cluster| cluster.is_together(0));
    expect_one_match(&mut cluster, &[0, 1]);
}

#[test]
fn peer_plays_in_one_room_after_another() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    cluster.room(1).leave();
    cluster.run_ms(2_000);
    assert_eq!(cluster.room(1).phase(), Phase::Solo);
    assert_eq!(cluster.room(0).game().here.count_ones(), 1);
    let fresh = Presses { frame: 0, here: 0, counts: [0; 4] };
    cluster.room(1).restart(fresh, 1, JoinTarget::Matchmake).expect("settings that can be");
    cluster.run_until("it is in again", 3_000, |cluster| cluster.is_together(1));
    expect_one_match(&mut cluster, &[0, 1]);
}

#[test]
fn private_room_is_joined_by_code_only() {
    let mut cluster = Cluster::of(3);
    let private = RoomConfig { join: JoinTarget::CreatePrivate, ..TestRoom::peer_config(0) };
    cluster.open_with(0, private).run_ms(500).open(1).run_ms(1_000);
    assert_eq!(cluster.room(1).members().len(), 1, "a stranger does not stumble into it");
    let code = cluster.room(0).lobby_client().and_then(|lobby| lobby.room()).expect("a room").code;
    let invited = RoomConfig { join: JoinTarget::Code(code), ..TestRoom::peer_config(2) };
    cluster.open_with(2, invited).run_until("the guest is in", 2_000, |cluster| cluster.is_together(2));
    expect_one_match(&mut cluster, &[0, 2]);
}

#[test]
fn unknown_code_is_rejected_and_match_goes_on() {
    let mut cluster = Cluster::of(1);
    let code = "BCDFGH".parse().expect("a code");
    cluster
        .open_with(0, RoomConfig { join: JoinTarget::Code(code), ..TestRoom::peer_config(0) })
        .run_ms(2_000);
    let refusals: Vec<String> = cluster.told[0]
        .iter()
        .filter(|event| matches!(event, RoomEvent::RequestRejected { .. }))
        .map(RoomEvent::to_string)
        .collect();
    assert_eq!(refusals.len(), 1, "{}", cluster.describe());
    assert_eq!(refusals[0], "there is no such room");
    assert!(cluster.room(0).game().frame > 100);
}

#[test]
fn mistyped_code_costs_no_reservation() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(500).open(1);
    cluster.run_until("two are together", 3_000, |cluster| cluster.is_together(1));
    let mistyped = JoinTarget::Code("BCDFGH".parse().expect("a code"));
    cluster.room(1).join(mistyped.clone());
    cluster.run_ms(3_000);
    assert_eq!(
        count(&cluster, 1, |event| matches!(event, RoomEvent::RequestRejected { .. })),
        1,
        "{}",
        cluster.describe()
    );
    expect_one_match(&mut cluster, &[0, 1]);
    // A page that does not use its reservation blocks no other player.
    cluster.crash(1).open_with(1, RoomConfig { join: mistyped, ..TestRoom::peer_config(1) }).run_ms(3_000);
    assert_eq!(
        count(&cluster, 1, |event| matches!(event, RoomEvent::RequestRejected { .. })),
        1,
        "{}",
        cluster.describe()
    );
    let room = cluster.room(0).lobby_client().and_then(|lobby| lobby.room()).expect("a room");
    assert_eq!(room.members.len(), 1);
}

#[test]
fn offline_room_connects_to_no_server() {
    let mut cluster = Cluster::of(1);
    cluster.open_with(0, RoomConfig { join: JoinTarget::Offline, ..TestRoom::peer_config(0) }).run_ms(1_000);
    assert!(cluster.told[0].is_empty());
    assert!(cluster.room(0).game().frame > 50);
}

#[test]
fn peer_of_abandoned_branch_knows_members_and_records_other() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    cluster.run_ms(3_000).weather(Conditions { is_cut: true, ..Conditions::default() }).run_ms(12_000);
    assert_eq!([0, 1].map(|index| cluster.room(index).game().here.count_ones()), [1, 1], "each plays alone");
    cluster.told.iter_mut().for_each(Vec::clear);
    cluster.weather(Conditions::latency_ms(40)).run_until("they are in one match again", 15_000, |cluster| {
        let histories = [0, 1].map(|index| cluster.room(index).session().branch_id());
        histories[0] == histories[1] && (0..2).all(|index| cluster.room(index).game().here.count_ones() == 2)
    });
    cluster.run_ms(4_000);
    let lost = [0, 1].map(|index| count(&cluster, index, |event| *event == RoomEvent::BranchAbandoned));
    assert_eq!(lost.iter().sum::<usize>(), 1, "{lost:?}");
    let junior = usize::from(lost[1] == 1);
    assert_eq!([0, 1].map(|index| count(&cluster, index, came)), [1, 1], "{}", cluster.describe());
    assert_eq!(count(&cluster, junior, |event| matches!(event, RoomEvent::LeaderChanged { .. })), 1);
    let marks = [0, 1].map(|index| cluster.room(index).checksums());
    let common: Vec<_> =
        marks[0].iter().filter(|(at, _)| marks[1].iter().any(|(other, _)| other == at)).collect();
    assert!(!common.is_empty() && common.iter().all(|mark| marks[1].contains(mark)), "{marks:?}");
    let bytes = cluster.room(junior).replay_bytes().expect("a replay");
    Replay::<Presses>::read(&bytes, 0).expect("a whole beginning").verify().expect("the same again");
}

#[test]
fn slow_link_is_joined_over_as_soon_as_it_opens() {
    for millis in [500, 2_000, 4_000, 8_000] {
        let mut cluster = Cluster::of(2);
        cluster.slow_links(millis).open(0).open(1).run_ms(millis);
        cluster.run_until("both are in", 2_500, |cluster| cluster.is_together(0) && cluster.is_together(1));
        expect_one_match(&mut cluster, &[0, 1]);
        assert_eq!(count(&cluster, 1, |event| *event == RoomEvent::JoinFailed), 0);
    }
}

#[test]
fn room_of_another_mode_is_joined_by_code() {
    let mut cluster = Cluster::of(2);
    let versus = RoomConfig { mode: "versus".parse().expect("a label"), ..TestRoom::peer_config(0) };
    cluster.open_with(0, versus).run_ms(1_000);
    let code = cluster.room(0).lobby_client().and_then(|lobby| lobby.room()).expect("a room").code;
    let invited = RoomConfig { join: JoinTarget::Code(code), ..TestRoom::peer_config(1) };
    cluster.open_with(1, invited).run_until("it is in", 3_000, |cluster| cluster.is_together(1));
    expect_one_match(&mut cluster, &[0, 1]);
    assert_eq!(cluster.room(1).config().mode.as_str(), "versus");
}

#[test]
fn returning_peer_keeps_slot_though_lower_one_is_free() {
    let mut cluster = Cluster::of(3);
    for index in 0..3 {
        cluster.open(index).run_until("it is in", 3_000, move |cluster| cluster.is_together(index));
    }
    let slots = cluster.room(2).local_slots();
    cluster.room(0).leave();
    cluster.step();
    cluster.crash(0).run_ms(2_000);
    assert_eq!(cluster.room(1).game().here.count_ones(), 2, "the first place is free");
    cluster.room(2).suspend();
    cluster.run_ms(3_000);
    cluster.room(2).resume();
    cluster.run_until("it sits again", 3_000, |cluster| cluster.is_together(2));
    assert_eq!(cluster.room(2).local_slots(), slots, "after a rest");
    cluster.run_ms(1_000).crash(2).run_ms(700);
    cluster.open(2).run_until("it is back", 5_000, |cluster| cluster.is_together(2));
    assert_eq!(cluster.room(2).local_slots(), slots, "after a crash");
    expect_one_match(&mut cluster, &[1, 2]);
}

#[test]
fn peers_of_other_versions_or_settings_never_meet() {
    let mut cluster = Cluster::of(3);
    let mut slower = TestRoom::peer_config(2);
    slower.engine.tick_rate = 30;
    cluster
        .open(0)
        .run_ms(500)
        .open_with(1, TestRoom::peer_config(1).version("2"))
        .open_with(2, slower)
        .run_ms(3_000);
    for index in 0..3 {
        assert!(cluster.is_together(index), "{}", cluster.describe());
        assert_eq!(cluster.room(index).members().len(), 1, "{}", cluster.describe());
    }
}

#[test]
fn messages_reach_members_beside_match() {
    let mut cluster = Cluster::of(3);
    for index in 0..3 {
        cluster.open(index).run_until("it is in", 3_000, move |cluster| cluster.is_together(index));
    }
    let ids: Vec<_> = (0..3).map(|index| own_id(&mut cluster, index)).collect();
    cluster.room(0).send_message(None, b"good evening").expect("all are connected");
    cluster.room(0).send_message(Some(ids[1]), b"only you").expect("it is linked");
    let huge = vec![0; gaggle::MESSAGE_BYTES_MAX + 1];
    assert!(cluster.room(0).send_message(None, &huge).is_err());
    cluster.run_ms(500);
    let heard = |cluster: &mut Cluster, index: usize| -> Vec<_> {
        std::iter::from_fn(|| cluster.room(index).poll_message()).collect()
    };
    assert_eq!(heard(&mut cluster, 1), [(ids[0], b"good evening".to_vec()), (ids[0], b"only you".to_vec())]);
    assert_eq!(heard(&mut cluster, 2), [(ids[0], b"good evening".to_vec())]);
    assert_eq!(heard(&mut cluster, 0), []);
    expect_one_match(&mut cluster, &[0, 1, 2]);
}

fn own_id(cluster: &mut Cluster, index: usize) -> gaggle::PeerId {
    cluster.room(index).members().into_iter().find(|person| person.is_local).expect("it is in the room").peer
}

#[test]
fn desync_is_reported_recovered_and_explained() {
    let mut cluster = Cluster::of(3);
    for index in 0..3 {
        cluster.open(index).run_until("it is in", 3_000, move |cluster| cluster.is_together(index));
    }
    // Long enough that the frame with the wrong state is not resimulated.
    presses::BROKEN.set(Some(2));
    cluster.run_ms(300);
    presses::BROKEN.set(None);
    cluster.run_ms(6_000);
    let me = own_id(&mut cluster, 2);
    for index in 0..3 {
        assert!(
            count(&cluster, index, |event| matches!(event, RoomEvent::DesyncDetected { .. })) >= 1,
            "{}",
            cluster.describe()
        );
        let recovered =
            |event: &RoomEvent| matches!(event, RoomEvent::DesyncRecovered { peer, .. } if *peer == me);
        assert_eq!(count(&cluster, index, recovered), 1, "{}", cluster.describe());
    }
    assert!(count(&cluster, 2, |event| matches!(event, RoomEvent::DesyncLocated { .. })) >= 1);
    let bundle = cluster.room(2).take_desync_bundle().expect("what it had and what it took over");
    let view = bundle.diff::<Presses>().expect("a whole bundle");
    assert!(view.differences.iter().any(|field| field.contains("counts[3]")), "{view:?}");
    expect_one_match(&mut cluster, &[0, 1, 2]);
}
