//! Hidden pages, whose timers browsers run once a second or not at all, must not disturb other
//! players.

#[allow(dead_code, reason = "the stories of shared rooms need more of it")]
mod pond;
mod presses;
mod town;

use gaggle::{AnyRoom, JoinTarget, Phase, RoomCode, RoomEvent};
use gaggle_kit::Micros;
use pond::expect_one_world;
use presses::expect_one_match;
use town::{Cluster, Subject};

/// Frames between two timers of a hidden page.
const A_SECOND: u64 = 60;
/// Longest time in milliseconds that a joiner waits for the match of a hidden page.
const SOON: u64 = 1_000;

type Timeline = Cluster<presses::House>;
type Shared = Cluster<pond::House>;

/// A room of either engine, with the number of other peers in its match.
trait Door: Subject + AnyRoom {
    fn others(&self) -> usize;
}

impl Door for presses::House {
    fn others(&self) -> usize {
        self.session().roster().iter().filter(|row| row.is_active()).count() - 1
    }
}

impl Door for pond::House {
    fn others(&self) -> usize {
        self.session().roster().len() - 1
    }
}

fn code(room: &mut impl AnyRoom) -> RoomCode {
    room.lobby_client().and_then(|lobby| lobby.room()).expect("a room").code
}

/// A peer is alone and hidden, updated once in `every` frames or never; another joins.
fn hidden_alone<R: Door>(every: Option<u64>) -> Cluster<R> {
    let mut town: Cluster<R> = Cluster::of(3);
    town.open(0).run_ms(2_000);
    town.room(0).suspend();
    match every {
        Some(every) => town.throttle(0, every),
        None => town.sleep(0, true),
    };
    town.run_ms(2_500).open(1);
    town.run_until("the second plays", SOON, |town| town.is_together(1));
    town
}

/// The first page is shown again.
fn look_again<R: Door>(town: &mut Cluster<R>) {
    town.throttle(0, 1).sleep(0, false);
    town.room(0).resume();
    town.run_until("the first is back", 3_000, |town| town.is_together(0) && town.room(0).others() == 1);
}

#[test]
fn hidden_timeline_page_lets_joiner_play_within_second() {
    for every in [Some(1), Some(6), Some(A_SECOND), None] {
        let mut town: Timeline = hidden_alone(every);
        let stalled = town.room(1).stats().stalled_ticks;
        let frame = town.room(1).game().frame;
        town.run_ms(4_000);
        assert_eq!(town.room(1).stats().stalled_ticks, stalled, "{every:?}\n{}", town.describe());
        let played = town.room(1).game().frame - frame;
        assert!(played >= 235, "{every:?}: {played} frames in four seconds\n{}", town.describe());
        assert_eq!((town.is_together(1), town.room(1).others()), (true, 0), "{}", town.describe());
        look_again(&mut town);
        expect_one_match(&mut town, &[0, 1]);
    }
}

#[test]
fn hidden_shared_page_lets_joiner_play_within_second() {
    for every in [Some(1), Some(6), Some(A_SECOND), None] {
        let mut town: Shared = hidden_alone(every);
        town.run_ms(1_500);
        assert!(town.room(1).is_leader(), "{every:?}\n{}", town.describe());
        let steps = town.room(1).world().steps;
        town.run_ms(2_000);
        assert!(town.room(1).world().steps >= steps + 118, "{every:?}\n{}", town.describe());
        look_again(&mut town);
        town.run_ms(3_000);
        expect_one_world(&mut town, &[0, 1]);
    }
}

#[test]
fn hidden_page_with_prompt_timers_hands_its_match_over() {
    let mut town: Timeline = hidden_alone(Some(1));
    let pressed = town.room(0).game().counts[0];
    assert!(pressed > 30 && town.room(1).game().counts[0] >= pressed, "{}", town.describe());
    let mut town: Shared = hidden_alone(Some(1));
    let known = pond::pushes(&mut town, 0);
    assert!(pond::pushes(&mut town, 1) >= known, "{}", town.describe());
}

/// Two peers play, one is hidden: the other does not wait, with or without timers of the hidden
/// page.
#[test]
fn page_hidden_beside_another_player_stalls_no_frame() {
    for every in [Some(A_SECOND), None] {
        let mut town = Timeline::of(2);
        town.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |town| town.is_together(1));
        town.run_ms(1_000);
        let (stalled, frame) = (town.room(1).stats().stalled_ticks, town.room(1).game().frame);
        town.room(0).suspend();
        match every {
            Some(every) => town.throttle(0, every),
            None => town.sleep(0, true),
        };
        town.run_ms(4_000);
        assert_eq!(town.room(1).stats().stalled_ticks, stalled, "{every:?}\n{}", town.describe());
        assert!(town.room(1).game().frame - frame >= 235, "{every:?}\n{}", town.describe());
        assert_eq!(town.room(1).others(), 0, "{}", town.describe());
        look_again(&mut town);
        expect_one_match(&mut town, &[0, 1]);
    }
}

/// Both are hidden, and the first one shown again has the room.
#[test]
fn players_all_hidden_meet_again() {
    let mut town = Timeline::of(2);
    town.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |town| town.is_together(1));
    town.run_ms(1_000);
    for house in 0..2 {
        town.room(house).suspend();
        town.throttle(house, A_SECOND);
    }
    town.run_ms(5_000).throttle(1, 1);
    town.room(1).resume();
    town.run_until("the second plays", SOON, |town| town.is_together(1));
    town.run_ms(1_000);
    look_again(&mut town);
    expect_one_match(&mut town, &[0, 1]);
    let failed = town.told[1].contains(&RoomEvent::JoinFailed);
    assert!(!failed, "{}", town.describe());
}

/// A third peer joins a room with one playing and one hidden peer.
#[test]
fn joiner_waits_for_no_hidden_page_beside_open_one() {
    let mut town: Timeline = hidden_alone(Some(A_SECOND));
    town.run_ms(2_000).open(2);
    town.run_until("the third is in", 1_500, |town| town.is_together(2));
    expect_one_match(&mut town, &[1, 2]);
    let mut town: Shared = hidden_alone(Some(A_SECOND));
    town.run_ms(2_000).open(2);
    town.run_until("the third is in", 1_500, |town| town.is_together(2)).run_ms(2_000);
    expect_one_world(&mut town, &[1, 2]);
}

/// A page that is opened in the background joins no match before it is shown.
#[test]
fn page_opened_hidden_stalls_no_peer() {
    let mut town = Timeline::of(2);
    town.open(0).run_ms(1_000).open(1);
    town.room(1).suspend();
    town.throttle(1, A_SECOND).run_ms(5_000);
    assert_eq!(town.room(0).others(), 0, "{}", town.describe());
    assert_eq!(town.room(0).stats().stalled_ticks, 0);
    assert_eq!(town.room(1).phase(), Phase::Suspended);
    town.throttle(1, 1).room(1).resume();
    town.run_until("it is in", 2_000, |town| town.is_together(1));
    expect_one_match(&mut town, &[0, 1]);
}

/// After its restart the server learns again that a page is suspended.
#[test]
fn server_restart_does_not_wake_hidden_page() {
    let mut town = Timeline::of(2);
    town.open(0).run_ms(1_000);
    let code = code(town.room(0));
    town.room(0).suspend();
    town.run_ms(500).set_lobby_up(false).run_ms(1_000).set_lobby_up(true).run_ms(8_000);
    town.throttle(0, A_SECOND);
    let config =
        gaggle::RoomConfig { join: JoinTarget::Code(code), ..<presses::House as Subject>::peer_config(1) };
    town.open_with(1, config);
    town.run_until("the second plays", SOON, |town| town.is_together(1));
    assert!(town.now() > Micros::from_secs(5));
}

/// A spectator of a suspended player keeps watching, and sees it go on.
#[test]
fn watcher_of_hidden_page_stays() {
    let mut town = Timeline::of(2);
    town.open(0).run_ms(1_000);
    let watch = JoinTarget::Spectate(code(town.room(0)));
    let config = gaggle::RoomConfig { join: watch, ..<presses::House as Subject>::peer_config(1) };
    town.open_with(1, config)
        .run_until("it watches", 3_000, |town| town.room(1).phase() == Phase::Spectating);
    town.room(0).suspend();
    town.run_ms(3_000);
    assert_eq!(town.room(1).phase(), Phase::Spectating, "{}", town.describe());
    town.room(0).resume();
    let frame = town.room(1).game().frame;
    town.run_ms(2_000);
    assert!(town.room(1).game().frame > frame + 90, "{}", town.describe());
}

/// A room that was closed for a while and joins again.
#[test]
fn closed_room_comes_back_when_it_looks_for_others() {
    let mut town = Timeline::of(1);
    town.open(0).run_ms(1_000);
    town.room(0).close();
    town.run_ms(1_000);
    assert!(!town.is_together(0));
    town.room(0).join(JoinTarget::Matchmake);
    town.run_until("it has a room again", 2_000, |town| town.is_together(0));
}
