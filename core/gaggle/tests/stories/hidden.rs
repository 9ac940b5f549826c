//! Hidden pages, whose timers browsers run once a second or not at all, must not disturb other
//! players.

use crate::cluster::{Cluster, Subject};
use crate::pond;
use crate::pond::expect_one_world;
use crate::presses;
use crate::presses::expect_one_match;
use gaggle::{AnyRoom, JoinTarget, Phase, RoomCode, RoomEvent};
use gaggle_kit::Micros;

/// Frames between two timers of a hidden page.
const A_SECOND: u64 = 60;
/// Longest time in milliseconds that a joiner waits for the match of a hidden page.
const SOON: u64 = 1_000;

type Timeline = Cluster<presses::TestRoom>;
type Shared = Cluster<pond::TestRoom>;

/// A room of either engine, with the number of other peers in its match.
trait Door: Subject + AnyRoom {
    fn others(&self) -> usize;
}

impl Door for presses::TestRoom {
    fn others(&self) -> usize {
        self.session().roster().iter().filter(|row| row.is_active()).count() - 1
    }
}

impl Door for pond::TestRoom {
    fn others(&self) -> usize {
        self.session().roster().len() - 1
    }
}

fn code(room: &mut impl AnyRoom) -> RoomCode {
    room.lobby_client().and_then(|lobby| lobby.room()).expect("a room").code
}

/// A peer is alone and hidden, updated once in `every` frames or never; another joins.
fn hidden_alone<R: Door>(every: Option<u64>) -> Cluster<R> {
    let mut cluster: Cluster<R> = Cluster::of(3);
    cluster.open(0).run_ms(2_000);
    cluster.room(0).suspend();
    match every {
        Some(every) => cluster.throttle(0, every),
        None => cluster.sleep(0, true),
    };
    cluster.run_ms(2_500).open(1);
    cluster.run_until("the second plays", SOON, |cluster| cluster.is_together(1));
    cluster
}

/// The first page is shown again.
fn look_again<R: Door>(cluster: &mut Cluster<R>) {
    cluster.throttle(0, 1).sleep(0, false);
    cluster.room(0).resume();
    cluster.run_until("the first is back", 3_000, |cluster| {
        cluster.is_together(0) && cluster.room(0).others() == 1
    });
}

#[test]
fn hidden_timeline_page_lets_joiner_play_within_second() {
    for every in [Some(1), Some(6), Some(A_SECOND), None] {
        let mut cluster: Timeline = hidden_alone(every);
        let stalled = cluster.room(1).stats().stalled_ticks;
        let frame = cluster.room(1).game().frame;
        cluster.run_ms(4_000);
        assert_eq!(cluster.room(1).stats().stalled_ticks, stalled, "{every:?}\n{}", cluster.describe());
        let played = cluster.room(1).game().frame - frame;
        assert!(played >= 235, "{every:?}: {played} frames in four seconds\n{}", cluster.describe());
        assert_eq!((cluster.is_together(1), cluster.room(1).others()), (true, 0), "{}", cluster.describe());
        look_again(&mut cluster);
        expect_one_match(&mut cluster, &[0, 1]);
    }
}

#[test]
fn hidden_shared_page_lets_joiner_play_within_second() {
    for every in [Some(1), Some(6), Some(A_SECOND), None] {
        let mut cluster: Shared = hidden_alone(every);
        cluster.run_ms(1_500);
        assert!(cluster.room(1).is_leader(), "{every:?}\n{}", cluster.describe());
        let steps = cluster.room(1).world().steps;
        cluster.run_ms(2_000);
        assert!(cluster.room(1).world().steps >= steps + 118, "{every:?}\n{}", cluster.describe());
        look_again(&mut cluster);
        cluster.run_ms(3_000);
        expect_one_world(&mut cluster, &[0, 1]);
    }
}

#[test]
fn hidden_page_with_prompt_timers_hands_its_match_over() {
    let mut cluster: Timeline = hidden_alone(Some(1));
    let pressed = cluster.room(0).game().counts[0];
    assert!(pressed > 30 && cluster.room(1).game().counts[0] >= pressed, "{}", cluster.describe());
    let mut cluster: Shared = hidden_alone(Some(1));
    let known = pond::pushes(&mut cluster, 0);
    assert!(pond::pushes(&mut cluster, 1) >= known, "{}", cluster.describe());
}

/// Two peers play, one is hidden: the other does not wait, with or without timers of the hidden
/// page.
#[test]
fn page_hidden_beside_another_player_stalls_no_frame() {
    for every in [Some(A_SECOND), None] {
        let mut cluster = Timeline::of(2);
        cluster.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
        cluster.run_ms(1_000);
        let (stalled, frame) = (cluster.room(1).stats().stalled_ticks, cluster.room(1).game().frame);
        cluster.room(0).suspend();
        match every {
            Some(every) => cluster.throttle(0, every),
            None => cluster.sleep(0, true),
        };
        cluster.run_ms(4_000);
        assert_eq!(cluster.room(1).stats().stalled_ticks, stalled, "{every:?}\n{}", cluster.describe());
        assert!(cluster.room(1).game().frame - frame >= 235, "{every:?}\n{}", cluster.describe());
        assert_eq!(cluster.room(1).others(), 0, "{}", cluster.describe());
        look_again(&mut cluster);
        expect_one_match(&mut cluster, &[0, 1]);
    }
}

/// Both are hidden, and the first one shown again has the room.
#[test]
fn players_all_hidden_meet_again() {
    let mut cluster = Timeline::of(2);
    cluster.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    cluster.run_ms(1_000);
    for index in 0..2 {
        cluster.room(index).suspend();
        cluster.throttle(index, A_SECOND);
    }
    cluster.run_ms(5_000).throttle(1, 1);
    cluster.room(1).resume();
    cluster.run_until("the second plays", SOON, |cluster| cluster.is_together(1));
    cluster.run_ms(1_000);
    look_again(&mut cluster);
    expect_one_match(&mut cluster, &[0, 1]);
    let failed = cluster.told[1].contains(&RoomEvent::JoinFailed);
    assert!(!failed, "{}", cluster.describe());
}

/// A third peer joins a room with one playing and one hidden peer.
#[test]
fn joiner_waits_for_no_hidden_page_beside_open_one() {
    let mut cluster: Timeline = hidden_alone(Some(A_SECOND));
    cluster.run_ms(2_000).open(2);
    cluster.run_until("the third is in", 1_500, |cluster| cluster.is_together(2));
    expect_one_match(&mut cluster, &[1, 2]);
    let mut cluster: Shared = hidden_alone(Some(A_SECOND));
    cluster.run_ms(2_000).open(2);
    cluster.run_until("the third is in", 1_500, |cluster| cluster.is_together(2)).run_ms(2_000);
    expect_one_world(&mut cluster, &[1, 2]);
}

/// A page that is opened in the background joins no match before it is shown.
#[test]
fn page_opened_hidden_stalls_no_peer() {
    let mut cluster = Timeline::of(2);
    cluster.open(0).run_ms(1_000).open(1);
    cluster.room(1).suspend();
    cluster.throttle(1, A_SECOND).run_ms(5_000);
    assert_eq!(cluster.room(0).others(), 0, "{}", cluster.describe());
    assert_eq!(cluster.room(0).stats().stalled_ticks, 0);
    assert_eq!(cluster.room(1).phase(), Phase::Suspended);
    cluster.throttle(1, 1).room(1).resume();
    cluster.run_until("it is in", 2_000, |cluster| cluster.is_together(1));
    expect_one_match(&mut cluster, &[0, 1]);
}

/// After its restart the server learns again that a page is suspended.
#[test]
fn server_restart_does_not_wake_hidden_page() {
    let mut cluster = Timeline::of(2);
    cluster.open(0).run_ms(1_000);
    let code = code(cluster.room(0));
    cluster.room(0).suspend();
    cluster.run_ms(500).set_lobby_up(false).run_ms(1_000).set_lobby_up(true).run_ms(8_000);
    cluster.throttle(0, A_SECOND);
    let config =
        gaggle::RoomConfig { join: JoinTarget::Code(code), ..<presses::TestRoom as Subject>::peer_config(1) };
    cluster.open_with(1, config);
    cluster.run_until("the second plays", SOON, |cluster| cluster.is_together(1));
    assert!(cluster.now() > Micros::from_secs(5));
}

/// A spectator of a suspended player keeps watching, and sees it go on.
#[test]
fn watcher_of_hidden_page_stays() {
    let mut cluster = Timeline::of(2);
    cluster.open(0).run_ms(1_000);
    let watch = JoinTarget::Spectate(code(cluster.room(0)));
    let config = gaggle::RoomConfig { join: watch, ..<presses::TestRoom as Subject>::peer_config(1) };
    cluster
        .open_with(1, config)
        .run_until("it watches", 3_000, |cluster| cluster.room(1).phase() == Phase::Spectating);
    cluster.room(0).suspend();
    cluster.run_ms(3_000);
    assert_eq!(cluster.room(1).phase(), Phase::Spectating, "{}", cluster.describe());
    cluster.room(0).resume();
    let frame = cluster.room(1).game().frame;
    cluster.run_ms(2_000);
    assert!(cluster.room(1).game().frame > frame + 90, "{}", cluster.describe());
}

/// A room that was closed for a while and joins again.
#[test]
fn closed_room_comes_back_when_it_looks_for_others() {
    let mut cluster = Timeline::of(1);
    cluster.open(0).run_ms(1_000);
    cluster.room(0).close();
    cluster.run_ms(1_000);
    assert!(!cluster.is_together(0));
    cluster.room(0).join(JoinTarget::Matchmake);
    cluster.run_until("it has a room again", 2_000, |cluster| cluster.is_together(0));
}
