//! Rooms whose host starts the matches: lobby, countdown, one start for all, and the next match.

use crate::starters::{Cluster, Drill, Field, Race, Subject};
use gaggle::lobby::RejectionCode;
use gaggle::lobby::view::Verdict;
use gaggle::{GameEngine, HostCommand, JoinTarget, Phase, Requests, RoomEvent, Slot, StartMode, WorldEngine};

const STRICT: StartMode = StartMode::HostStarts { join_late: false };
const LOOSE: StartMode = StartMode::HostStarts { join_late: true };

fn members_gather_and_start_together<E: Subject>() {
    let mut cluster = Cluster::<E>::new(STRICT, 2);
    let waiting = Phase::Lobby { starts_at: None };
    assert_eq!(cluster.phases(), [waiting; 3], "{:?}", cluster.events);
    // Members exchange messages and values before any match.
    cluster.room(1).send_message(None, b"hello").expect("links are up");
    cluster.room(1).set_value(1, b"boat").expect("short enough");
    cluster.run_ms(300);
    let ada = cluster.room(1).members().iter().find(|member| member.is_local).expect("a member").peer;
    for peer in [0, 2] {
        assert_eq!(cluster.room(peer).poll_message(), Some((ada, b"hello".to_vec())));
        assert_eq!(cluster.room(peer).value(ada, 1), Some(&b"boat"[..]));
    }

    let asked = cluster.start(0);
    cluster.run_ms(300);
    let unready = |event: &RoomEvent| {
        matches!(event, RoomEvent::RequestRejected { request, rejection }
            if *request == Some(asked) && rejection.code == RejectionCode::NotReady)
    };
    assert_eq!(cluster.count(0, unready), 1, "{:?}", cluster.events[0]);
    assert_eq!(cluster.phases(), [waiting; 3]);

    cluster.all_ready(3);
    let before = cluster.net.now();
    cluster.start(2_000);
    cluster.run_ms(1_000);
    for peer in 0..3 {
        let Phase::Lobby { starts_at: Some(at) } = cluster.room(peer).phase() else { panic!("no countdown") };
        let wait = at.since(before);
        assert!((1_900..2_200).contains(&wait.as_millis()), "in {} ms", wait.as_millis());
        assert_eq!(cluster.count(peer, |event| *event == RoomEvent::MatchStarting { at }), 1);
    }
    cluster.run_ms(2_000);
    let first = cluster.expect_one_match(&[0, 1, 2]);
    assert_eq!((first.round, first.players), (1, 3));
    assert!((0..3).all(|peer| cluster.count(peer, |event| *event == RoomEvent::MatchJoined) == 1));

    // No player joins a match that does not permit it.
    cluster.open(3, JoinTarget::Code(cluster.code(0)), StartMode::DropIn);
    cluster.run_ms(1_000);
    let started = |event: &RoomEvent| matches!(event, RoomEvent::RequestRejected { rejection: why, .. } if why.code == RejectionCode::RoomStarted);
    assert_eq!((cluster.count(3, started), cluster.room(3).phase()), (1, Phase::Solo));
    cluster.rooms[3] = None;

    // Results count, and the room waits for the next match, which is a new one.
    for peer in 0..3 {
        assert!(cluster.room(peer).report_result(&[(Slot::at(0), 5), (Slot::at(1), 3)], None, 7));
    }
    cluster.run_ms(12_000);
    assert_eq!(cluster.net.records().len(), 1, "{:?}", cluster.events);
    assert!((0..3).all(|peer| cluster.count(peer, |event| *event == RoomEvent::MatchEnded) == 1));
    assert_eq!(cluster.phases(), [waiting; 3]);
    cluster.all_ready(3);
    cluster.start(1_000);
    cluster.run_ms(3_000);
    let second = cluster.expect_one_match(&[0, 1, 2]);
    assert_eq!((second.round, second.players), (2, 3));
    assert_ne!(first.seed, second.seed);
}

/// All report the same scores of three players: the result is stored, the match over, and the room
/// waits for its host.
fn expect_result_of_three<E: Subject>(cluster: &mut Cluster<E>) {
    let scores = [(Slot::at(0), 5), (Slot::at(1), 3), (Slot::at(2), 8)];
    let before = cluster.net.records().len();
    let count = |cluster: &Cluster<E>, what: &RoomEvent| {
        [0, 1, 2].map(|peer| cluster.count(peer, |event| event == what))
    };
    let ended = count(cluster, &RoomEvent::MatchEnded);
    let stored = count(cluster, &RoomEvent::ResultStored);
    for peer in 0..3 {
        assert!(cluster.room(peer).report_result(&scores, None, 7), "peer {peer}");
    }
    cluster.run_ms(1_000);
    assert_eq!(
        count(cluster, &RoomEvent::ResultStored),
        stored.map(|stored| stored + 1),
        "{:?}",
        cluster.events
    );
    assert_eq!(count(cluster, &RoomEvent::MatchEnded), ended.map(|ended| ended + 1), "{:?}", cluster.events);
    assert_eq!(cluster.phases(), [Phase::Lobby { starts_at: None }; 3]);
    let records = cluster.net.records();
    assert_eq!(records.len(), before + 1);
    let record = &records[before];
    let kept: Vec<(Slot, i64)> = record.scores.iter().map(|line| (line.slot, line.score)).collect();
    assert_eq!((record.verdict, kept), (Verdict::Agreed, scores.to_vec()));
}

/// Players whom `find` brings together wait for their host: two matches, with a result each.
fn matched_members_start_and_results_count<E: Subject>() {
    let mut cluster = Cluster::<E>::matched(3);
    assert_eq!(cluster.phases(), [Phase::Lobby { starts_at: None }; 3], "{:?}", cluster.events);
    assert!(cluster.room(0).is_host());
    // Nothing runs that could be reported.
    assert!(!cluster.room(0).report_result(&[(Slot::at(0), 5)], None, 7));
    let mut rounds = Vec::new();
    for _ in 0..2 {
        cluster.all_ready(3);
        cluster.start(500);
        cluster.run_ms(3_000);
        rounds.push(cluster.expect_one_match(&[0, 1, 2]).round);
        expect_result_of_three(&mut cluster);
    }
    assert_eq!(rounds, [1, 2]);
    let rejected = |event: &RoomEvent| matches!(event, RoomEvent::RequestRejected { .. });
    assert!((0..3).all(|peer| cluster.count(peer, rejected) == 0), "{:?}", cluster.events);
}

/// The same in a room that permits joining late.
fn late_joiner_reports_with_others<E: Subject>() {
    let mut cluster = Cluster::<E>::new(LOOSE, 1);
    cluster.start(0);
    cluster.run_ms(1_500);
    cluster.open(2, JoinTarget::Code(cluster.code(0)), StartMode::DropIn);
    cluster.run_ms(3_000);
    cluster.expect_one_match(&[0, 1, 2]);
    expect_result_of_three(&mut cluster);
}

fn late_members_join_running_match<E: Subject>() {
    let mut cluster = Cluster::<E>::new(LOOSE, 2);
    // Members start at once although one is not ready.
    cluster.start(0);
    cluster.run_ms(1_500);
    let begun = cluster.expect_one_match(&[0, 1, 2]);
    cluster.open(3, JoinTarget::Code(cluster.code(0)), StartMode::DropIn);
    cluster.open(4, JoinTarget::Spectate(cluster.code(0)), StartMode::DropIn);
    cluster.run_ms(4_000);
    assert_eq!(cluster.expect_one_match(&[0, 1, 2, 3]), begun);
    assert_eq!(cluster.room(4).phase(), Phase::Spectating, "{:?}", cluster.events[4]);
    assert_eq!(cluster.begun(4), begun);

    cluster.room(0).host_command(HostCommand::EndMatch).expect("it is the host");
    cluster.run_ms(500);
    assert!(cluster.phases().iter().all(|phase| matches!(phase, Phase::Lobby { .. })));
    cluster.start(0);
    cluster.run_ms(3_000);
    let again = cluster.expect_one_match(&[0, 1, 2, 3]);
    assert_eq!((again.round, again.players), (2, 4));
    assert_eq!(cluster.room(4).phase(), Phase::Spectating, "{:?}", cluster.events[4]);
    assert_eq!(cluster.begun(4), again);
}

fn start_waits_for_no_absent_member<E: Subject>() {
    let mut cluster = Cluster::<E>::new(LOOSE, 4);
    // One peer hides its page, one crashes in the countdown, one is suspended in it.
    cluster.room(1).suspend();
    cluster.run_ms(300);
    cluster.start(2_000);
    cluster.run_ms(1_500);
    let crashed = cluster.rooms[2].take();
    cluster.net.crash(2, crashed);
    cluster.asleep = Some(3);
    cluster.run_ms(7_000);
    for peer in [0, 4] {
        assert_eq!(cluster.room(peer).phase(), Phase::Playing, "peer {peer}: {:?}", cluster.events[peer]);
    }
    let begun = cluster.begun(0);
    assert_eq!(cluster.begun(4), begun);
    // They join when they are back.
    cluster.asleep = None;
    cluster.room(1).resume();
    cluster.run_ms(8_000);
    assert_eq!(cluster.expect_one_match(&[0, 1, 3, 4]), begun);
}

fn spectator_in_lobby_sees_first_match<E: Subject>() {
    let mut cluster = Cluster::<E>::new(LOOSE, 1);
    let join = JoinTarget::Spectate(cluster.code(0));
    cluster.open(4, join, StartMode::DropIn);
    cluster.run_ms(1_000);
    assert!(matches!(cluster.room(4).phase(), Phase::Lobby { .. }), "{:?}", cluster.events[4]);
    cluster.start(0);
    cluster.run_ms(4_000);
    let begun = cluster.expect_one_match(&[0, 1]);
    assert_eq!(cluster.room(4).phase(), Phase::Spectating, "{:?}", cluster.events[4]);
    assert_eq!(cluster.begun(4), begun);
    assert_eq!(cluster.count(4, |event| *event == RoomEvent::JoinFailed), 0);
}

fn lone_host_starts_and_friends_drop_in<E: Subject>() {
    let mut cluster = Cluster::<E>::new(LOOSE, 0);
    assert_eq!(cluster.phases(), [Phase::Lobby { starts_at: None }]);
    cluster.start(0);
    cluster.run_ms(500);
    let begun = cluster.expect_one_match(&[0]);
    cluster.open(1, JoinTarget::Code(cluster.code(0)), StartMode::DropIn);
    cluster.run_ms(3_000);
    assert_eq!(cluster.expect_one_match(&[0, 1]), begun);
    // A peer that leaves plays solo, and its phase is not `Lobby`.
    cluster.room(1).leave();
    cluster.run_ms(500);
    assert_eq!(cluster.room(1).phase(), Phase::Solo);
}

mod games {
    use super::*;

    #[test]
    fn matched_members_start_and_results_count() {
        super::matched_members_start_and_results_count::<GameEngine<Race>>();
    }

    #[test]
    fn late_joiner_reports_with_others() {
        super::late_joiner_reports_with_others::<GameEngine<Race>>();
    }

    #[test]
    fn members_gather_and_start_together() {
        super::members_gather_and_start_together::<GameEngine<Race>>();
    }

    #[test]
    fn late_members_join_running_match() {
        super::late_members_join_running_match::<GameEngine<Race>>();
    }

    #[test]
    fn start_waits_for_no_absent_member() {
        super::start_waits_for_no_absent_member::<GameEngine<Race>>();
    }

    #[test]
    fn lone_host_starts_and_friends_drop_in() {
        super::lone_host_starts_and_friends_drop_in::<GameEngine<Race>>();
    }

    #[test]
    fn spectator_in_lobby_sees_first_match() {
        super::spectator_in_lobby_sees_first_match::<GameEngine<Race>>();
    }

    /// All peers have the first frame in common, and none simulated it before all were there.
    #[test]
    fn first_frame_has_inputs_of_all() {
        let mut cluster = Cluster::<GameEngine<Race>>::new(LOOSE, 2);
        cluster.start(0);
        cluster.run_ms(2_000);
        let Race { steps, pressed, .. } = *cluster.room(0).game();
        let delay = 20;
        assert!(pressed[..3].iter().all(|count| *count + delay > steps), "{pressed:?} of {steps}");
    }
}

mod lockstep_games {
    use super::*;

    #[test]
    fn matched_members_start_and_results_count() {
        super::matched_members_start_and_results_count::<GameEngine<Drill>>();
    }

    #[test]
    fn late_joiner_reports_with_others() {
        super::late_joiner_reports_with_others::<GameEngine<Drill>>();
    }

    #[test]
    fn members_gather_and_start_together() {
        super::members_gather_and_start_together::<GameEngine<Drill>>();
    }

    #[test]
    fn late_members_join_running_match() {
        super::late_members_join_running_match::<GameEngine<Drill>>();
    }

    #[test]
    fn start_waits_for_no_absent_member() {
        super::start_waits_for_no_absent_member::<GameEngine<Drill>>();
    }

    #[test]
    fn lone_host_starts_and_friends_drop_in() {
        super::lone_host_starts_and_friends_drop_in::<GameEngine<Drill>>();
    }

    #[test]
    fn spectator_in_lobby_sees_first_match() {
        super::spectator_in_lobby_sees_first_match::<GameEngine<Drill>>();
    }
}

mod worlds {
    use super::*;

    #[test]
    fn matched_members_start_and_results_count() {
        super::matched_members_start_and_results_count::<WorldEngine<Field>>();
    }

    #[test]
    fn late_joiner_reports_with_others() {
        super::late_joiner_reports_with_others::<WorldEngine<Field>>();
    }

    #[test]
    fn members_gather_and_start_together() {
        super::members_gather_and_start_together::<WorldEngine<Field>>();
    }

    #[test]
    fn late_members_join_running_match() {
        super::late_members_join_running_match::<WorldEngine<Field>>();
    }

    #[test]
    fn start_waits_for_no_absent_member() {
        super::start_waits_for_no_absent_member::<WorldEngine<Field>>();
    }

    #[test]
    fn lone_host_starts_and_friends_drop_in() {
        super::lone_host_starts_and_friends_drop_in::<WorldEngine<Field>>();
    }

    #[test]
    fn spectator_in_lobby_sees_first_match() {
        super::spectator_in_lobby_sees_first_match::<WorldEngine<Field>>();
    }
}

mod requests {
    use super::*;

    #[test]
    fn matched_members_start_and_results_count() {
        super::matched_members_start_and_results_count::<Requests<u8>>();
    }

    #[test]
    fn late_joiner_reports_with_others() {
        super::late_joiner_reports_with_others::<Requests<u8>>();
    }

    #[test]
    fn members_gather_and_start_together() {
        super::members_gather_and_start_together::<Requests<u8>>();
    }

    #[test]
    fn late_members_join_running_match() {
        super::late_members_join_running_match::<Requests<u8>>();
    }

    #[test]
    fn start_waits_for_no_absent_member() {
        super::start_waits_for_no_absent_member::<Requests<u8>>();
    }

    #[test]
    fn lone_host_starts_and_friends_drop_in() {
        super::lone_host_starts_and_friends_drop_in::<Requests<u8>>();
    }

    #[test]
    fn spectator_in_lobby_sees_first_match() {
        super::spectator_in_lobby_sees_first_match::<Requests<u8>>();
    }
}
