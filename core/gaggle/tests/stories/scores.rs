//! A player's own score, sent every 15 s and when the player leaves, and the round after a result.

use crate::presses::Cluster;
use gaggle::{RoomEvent, Slot};
use gaggle_kit::Micros;

/// Scores a peer has sent, each with the milliseconds since the one before.
fn told(cluster: &Cluster, index: usize) -> Vec<(u64, i64)> {
    let mut before = Micros::ZERO;
    let points = |text: &str| {
        let number = text.split(r#""score":"#).nth(1).and_then(|rest| rest.split([',', '}']).next());
        number.and_then(|number| number.parse().ok()).expect("a number")
    };
    let step = |(at, text): (Micros, String)| (at.since(std::mem::replace(&mut before, at)), text);
    cluster.scores(index).into_iter().map(step).map(|(gap, text)| (gap.as_millis(), points(&text))).collect()
}

fn two() -> Cluster {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    cluster
}

#[test]
fn score_set_once_is_told_in_its_time() {
    let mut cluster = two();
    cluster.room(1).set_score(10, Some(1));
    cluster.run_ms(100);
    assert_eq!(told(&cluster, 1).iter().map(|told| told.1).collect::<Vec<_>>(), [10]);
    // Too soon after the first score: it is sent later without a further call.
    cluster.room(1).set_score(20, Some(1));
    cluster.run_ms(14_000);
    assert_eq!(told(&cluster, 1).len(), 1);
    cluster.run_ms(2_000);
    let all = told(&cluster, 1);
    assert_eq!((all.len(), all[1].1), (2, 20), "{all:?}");
    assert!((14_900..=15_100).contains(&all[1].0), "{all:?}");
    // The same score is not sent again.
    cluster.room(1).set_score(20, Some(1));
    cluster.run_ms(20_000);
    assert_eq!(told(&cluster, 1).len(), 2);
}

#[test]
fn score_that_changes_often_is_told_every_15_s() {
    let mut cluster = two();
    for points in 1..=420 {
        cluster.room(1).set_score(points, None);
        cluster.run_ms(100);
    }
    let all = told(&cluster, 1);
    assert_eq!(all.len(), 3, "at once, after 15 s and after 30 s: {all:?}");
    for (gap, _) in &all[1..] {
        assert!((14_900..=15_100).contains(gap), "{all:?}");
    }
}

#[test]
fn player_who_leaves_tells_last_score() {
    for closes in [false, true] {
        let mut cluster = two();
        cluster.room(1).set_score(10, Some(1));
        cluster.run_ms(1_000);
        cluster.room(1).set_score(30, Some(2));
        cluster.run_ms(1_000);
        assert_eq!(told(&cluster, 1).len(), 1);
        if closes {
            cluster.room(1).close();
        } else {
            cluster.room(1).leave();
        }
        cluster.run_ms(100);
        let all = told(&cluster, 1);
        assert_eq!((all.len(), all[1].1), (2, 30), "closes: {closes}, {all:?}");
    }
}

#[test]
fn another_room_is_told_same_score_again() {
    let mut cluster = two();
    cluster.room(1).set_score(10, None);
    cluster.run_ms(16_000).room(1).join(gaggle::JoinTarget::CreatePrivate);
    cluster.run_until("a room of its own", 3_000, |cluster| {
        cluster.is_together(1) && cluster.room(1).members().len() == 1
    });
    cluster.room(1).set_score(10, None);
    cluster.run_ms(500);
    assert_eq!(told(&cluster, 1).iter().map(|told| told.1).collect::<Vec<_>>(), [10, 10]);
}

#[test]
fn next_round_begins_when_others_have_reported() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    (0..2).for_each(|index| cluster.room(index).set_score(40, None));
    let round = |cluster: &mut Cluster| cluster.room(0).lobby_client().unwrap().room().unwrap().round;
    cluster.run_ms(500).room(0).start_round();
    assert_eq!(round(cluster.run_ms(4_000)), 1, "the other one plays on");
    let points = [(Slot::at(0), 40), (Slot::at(1), 40)];
    (0..2).for_each(|index| assert!(cluster.room(index).report_result(&points, None, 7)));
    assert_eq!(round(cluster.run_ms(4_000)), 2);
    assert_eq!(
        cluster.told[0].iter().filter(|event| matches!(event, RoomEvent::RequestRejected { .. })).count(),
        0
    );
}
