//! Rooms of a game in lockstep: what members live through with a window of 0.

use crate::cluster::Subject;
use crate::presses::{BROKEN, Cluster, Presses, TestRoom, expect_one_match};
use crate::starters;
use crate::starters::Drill;
use gaggle::{
    GameEngine, HostCommand, JoinTarget, LeaveCause, Phase, RoomConfig, RoomEvent, StartMode, TimelineConfig,
};
use gaggle_link::sim::Conditions;

fn lockstep(index: usize) -> RoomConfig {
    TestRoom::peer_config(index).with_engine(TimelineConfig::lockstep())
}

fn open(cluster: &mut Cluster, index: usize) -> &mut Cluster {
    cluster.open_with(index, lockstep(index))
}

/// So many peers in one match.
fn playing(count: usize) -> Cluster {
    let mut cluster = Cluster::of(count + 1);
    for index in 0..count {
        open(&mut cluster, index).run_until("it is in", 3_000, move |cluster| cluster.is_together(index));
    }
    cluster.run_ms(2_000);
    cluster
}

/// These play one match, at full speed, and none of them ever simulated a frame twice.
fn expect_lockstep(cluster: &mut Cluster, indices: &[usize]) {
    expect_one_match(cluster, indices);
    let before: Vec<u32> = indices.iter().map(|&index| cluster.room(index).game().frame).collect();
    cluster.run_ms(2_000);
    for (&index, before) in indices.iter().zip(before) {
        let (played, stats) = (cluster.room(index).game().frame - before, cluster.room(index).stats());
        assert!(played >= 110, "{index} played {played} frames in two seconds: {}", cluster.describe());
        assert_eq!((stats.rollbacks, stats.frames_resimulated), (0, 0), "{index}: {}", cluster.describe());
    }
}

fn partings(cluster: &Cluster, index: usize) -> Vec<LeaveCause> {
    let parting = |event: &RoomEvent| match event {
        RoomEvent::PlayerLeft { cause, .. } => Some(*cause),
        _ => None,
    };
    cluster.told[index].iter().filter_map(parting).collect()
}

fn count(cluster: &Cluster, index: usize, what: impl Fn(&RoomEvent) -> bool) -> usize {
    cluster.told[index].iter().filter(|event| what(event)).count()
}

fn stalls(cluster: &mut Cluster, index: usize) -> u64 {
    cluster.room(index).stats().stalled_ticks
}

#[test]
fn lockstep_room_admits_joiner_beside_running_match() {
    let mut cluster = playing(2);
    let (frame, before) = (cluster.room(0).game().frame, [0, 1].map(|index| stalls(&mut cluster, index)));
    open(&mut cluster, 2).run_until("the third is in", 2_000, |cluster| cluster.is_together(2));
    expect_lockstep(&mut cluster, &[0, 1, 2]);
    assert_eq!([0, 1].map(|index| stalls(&mut cluster, index)), before, "no peer waits for a joiner");
    assert!(cluster.room(2).game().frame > frame, "it sees what was played before");
    assert_eq!(cluster.room(2).game().here, 0b111);
}

#[test]
fn lockstep_room_goes_on_after_leaver() {
    let mut cluster = playing(3);
    let before = [1, 2].map(|index| stalls(&mut cluster, index));
    cluster.room(0).leave();
    cluster.run_ms(2_000);
    assert_eq!([1, 2].map(|index| stalls(&mut cluster, index)), before, "a goodbye costs no stall");
    assert_eq!([1, 2].map(|index| partings(&cluster, index)), [[LeaveCause::Left], [LeaveCause::Left]]);
    expect_lockstep(&mut cluster, &[1, 2]);
    assert_eq!(cluster.room(0).phase(), Phase::Solo);
}

#[test]
fn lockstep_room_survives_leader_crash() {
    let mut cluster = playing(3);
    let before = [1, 2].map(|index| stalls(&mut cluster, index));
    cluster.crash(0).run_ms(6_000);
    expect_lockstep(&mut cluster, &[1, 2]);
    for (index, before) in [1, 2].into_iter().zip(before) {
        let stalled = stalls(&mut cluster, index) - before;
        assert!((120..=200).contains(&stalled), "three seconds at most: {stalled}\n{}", cluster.describe());
        assert_eq!(partings(&cluster, index), [LeaveCause::TimedOut]);
    }
    open(&mut cluster, 0).run_until("it is back", 4_000, |cluster| cluster.is_together(0));
    expect_lockstep(&mut cluster, &[0, 1, 2]);
}

#[test]
fn reloaded_lockstep_page_gets_slot_back() {
    let mut cluster = playing(3);
    let slots = cluster.room(1).local_slots();
    let before = stalls(&mut cluster, 0);
    cluster.room(1).close();
    cluster.step();
    cluster.crash(1).run_ms(900);
    open(&mut cluster, 1).run_until("it is back", 4_000, |cluster| cluster.is_together(1));
    expect_lockstep(&mut cluster, &[0, 1, 2]);
    assert_eq!(cluster.room(1).local_slots(), slots);
    let stalled = stalls(&mut cluster, 0) - before;
    assert!(stalled < 12, "no peer waits for a page that reloads: {stalled} ticks stalled");
}

#[test]
fn lockstep_spectator_disturbs_no_player() {
    let mut cluster = playing(2);
    let before = stalls(&mut cluster, 0);
    let code = cluster.room(0).lobby_client().and_then(|lobby| lobby.room()).expect("a room").code;
    let watch = RoomConfig { join: JoinTarget::Spectate(code), ..lockstep(2) };
    cluster.open_with(2, watch);
    cluster.run_until("it looks on", 3_000, |cluster| cluster.room(2).phase() == Phase::Spectating);
    cluster.run_ms(3_000);
    let behind = cluster.room(0).game().frame - cluster.room(2).game().frame;
    assert!(behind < 40, "{behind} frames behind");
    assert_eq!((stalls(&mut cluster, 0), cluster.room(2).game().here), (before, 0b11));
    let fresh = Presses { frame: 0, here: 0, counts: [0; 4] };
    cluster.room(2).restart(fresh, 1, JoinTarget::Code(code)).expect("settings that can be");
    cluster.run_until("it plays", 3_000, |cluster| cluster.is_together(2));
    expect_lockstep(&mut cluster, &[0, 1, 2]);
}

#[test]
fn suspended_lockstep_page_is_not_waited_for() {
    let mut cluster = playing(2);
    let (slots, before) = (cluster.room(1).local_slots(), stalls(&mut cluster, 0));
    cluster.room(1).suspend();
    cluster.run_ms(5_000);
    assert_eq!((cluster.room(1).phase(), cluster.room(0).game().here.count_ones()), (Phase::Suspended, 1));
    assert_eq!(stalls(&mut cluster, 0), before, "no peer waits for a hidden page");
    cluster.room(1).resume();
    cluster.run_until("it sits again", 2_000, |cluster| cluster.is_together(1));
    assert_eq!(cluster.room(1).local_slots(), slots);
    expect_lockstep(&mut cluster, &[0, 1]);
}

#[test]
fn halves_of_split_lockstep_room_become_one_match() {
    let mut cluster = playing(4);
    let between = |cluster: &mut Cluster, conditions: Conditions| {
        for (a, b) in [(0, 2), (0, 3), (1, 2), (1, 3)] {
            cluster.weather_between(a, b, conditions);
        }
    };
    between(&mut cluster, Conditions { is_cut: true, ..Conditions::default() });
    cluster.run_ms(8_000);
    let here = [0, 1, 2, 3].map(|index| cluster.room(index).game().here.count_ones());
    assert_eq!(here, [2; 4], "each half plays without the other: {}", cluster.describe());
    let frames = [0, 2].map(|index| cluster.room(index).game().frame);
    cluster.run_ms(2_000);
    for (index, frame) in [0, 2].into_iter().zip(frames) {
        assert!(cluster.room(index).game().frame - frame >= 110, "{index}: {}", cluster.describe());
    }
    cluster.told.iter_mut().for_each(Vec::clear);
    between(&mut cluster, Conditions::latency_ms(40));
    cluster.run_until("they are in one match again", 15_000, |cluster| {
        let branches = [0, 1, 2, 3].map(|index| cluster.room(index).session().branch_id());
        branches.iter().all(|branch| *branch == branches[0])
            && (0..4).all(|index| cluster.room(index).game().here == 0b1111)
    });
    cluster.run_ms(2_000);
    let abandoned =
        [0, 1, 2, 3].map(|index| count(&cluster, index, |event| matches!(event, RoomEvent::BranchAbandoned)));
    assert!(abandoned == [0, 0, 1, 1] || abandoned == [1, 1, 0, 0], "one half comes over: {abandoned:?}");
    expect_lockstep(&mut cluster, &[0, 1, 2, 3]);
}

#[test]
fn wrong_state_in_lockstep_room_is_replaced() {
    let mut cluster = playing(3);
    let before = [0, 1].map(|index| stalls(&mut cluster, index));
    BROKEN.set(Some(2));
    cluster.run_ms(300);
    BROKEN.set(None);
    cluster.run_ms(6_000);
    let member =
        cluster.room(2).members().into_iter().find(|member| member.is_local).expect("it is in the room");
    for index in 0..3 {
        let detected = |event: &RoomEvent| matches!(event, RoomEvent::DesyncDetected { .. });
        let recovered = |event: &RoomEvent| matches!(event, RoomEvent::DesyncRecovered { peer, .. } if *peer == member.peer);
        assert!(count(&cluster, index, detected) >= 1, "{}", cluster.describe());
        assert_eq!(count(&cluster, index, recovered), 1, "{}", cluster.describe());
    }
    assert_eq!([0, 1].map(|index| stalls(&mut cluster, index)), before, "no peer waits for it");
    let bundle = cluster.room(2).take_desync_bundle().expect("what it had and what it took over");
    let diff = bundle.diff::<Presses>().expect("a whole bundle");
    assert!(diff.differences.iter().any(|field| field.contains("counts[3]")), "{diff:?}");
    expect_lockstep(&mut cluster, &[0, 1, 2]);
}

#[test]
fn lockstep_members_start_in_one_frame() {
    let start = StartMode::HostStarts { join_late: true };
    let mut cluster = starters::Cluster::<GameEngine<Drill>>::new(start, 3);
    cluster.all_ready(4);
    cluster.start(1_000);
    cluster.run_ms(3_000);
    let begun = cluster.expect_one_match(&[0, 1, 2, 3]);
    assert_eq!((begun.round, begun.players), (1, 4));
    for peer in 0..4 {
        let Drill { race } = *cluster.room(peer).game();
        assert!(race.steps > 60, "{} frames", race.steps);
        // All peers have the first frame in common, and none has played before it.
        assert!(race.pressed[..4].iter().all(|count| count + 20 > race.steps), "{race:?}");
        assert_eq!(cluster.room(peer).stats().rollbacks, 0);
    }
    // One page is killed and comes back, one joins late.
    let crashed = cluster.rooms[2].take();
    cluster.net.crash(2, crashed);
    cluster.run_ms(300);
    let code = cluster.code(0);
    cluster.open(2, JoinTarget::Code(code), StartMode::DropIn);
    cluster.open(4, JoinTarget::Code(code), StartMode::DropIn);
    cluster.run_ms(6_000);
    assert_eq!(cluster.expect_one_match(&[0, 1, 2, 3, 4]), begun);
    cluster.room(0).host_command(HostCommand::EndMatch).expect("it is the host");
    cluster.run_ms(500);
    assert!(cluster.phases().iter().all(|phase| matches!(phase, Phase::Lobby { .. })));
}
