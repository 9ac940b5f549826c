//! Spectators of a game: watching without a slot, taking one later, and being told of the end.

use crate::cluster::Subject;
use crate::presses::{Cluster, Presses, TestRoom, expect_one_match};
use gaggle::{JoinTarget, Phase, RoomConfig, RoomEvent};

fn count(cluster: &Cluster, index: usize, what: impl Fn(&RoomEvent) -> bool) -> usize {
    cluster.told[index].iter().filter(|event| what(event)).count()
}

#[test]
fn spectator_takes_slot_later() {
    let mut cluster = Cluster::of(3);
    cluster.open(0).run_ms(500).open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    let code = cluster.room(0).lobby_client().and_then(|lobby| lobby.room()).expect("a room").code;
    let stalls = cluster.room(0).stats().stalled_ticks;
    let watch = RoomConfig { join: JoinTarget::Spectate(code), ..TestRoom::peer_config(2) };
    cluster
        .open_with(2, watch)
        .run_until("it looks on", 3_000, |cluster| cluster.room(2).phase() == Phase::Spectating);
    cluster.run_ms(3_000);
    assert_eq!(count(&cluster, 2, |event| *event == RoomEvent::SpectatingStarted), 1);
    assert_eq!(cluster.room(0).stats().stalled_ticks, stalls, "no peer waits for a spectator");
    assert!(cluster.room(2).local_slots().is_empty());
    assert_eq!(cluster.room(2).game().here.count_ones(), 2, "no seat is taken");
    let behind = cluster.room(0).game().frame - cluster.room(2).game().frame;
    assert!(behind < 40, "{behind} frames behind");
    let marks: Vec<_> = [0, 2].map(|index| cluster.room(index).checksums()).into();
    let shared: Vec<_> =
        marks[1].iter().filter(|mark| marks[0].iter().any(|other| other.0 == mark.0)).collect();
    assert!(shared.len() >= 2 && shared.iter().all(|mark| marks[0].contains(mark)), "{marks:?}");
    assert!(!cluster.room(2).report_result(&[], None, 0), "results are told by those who played");
    // A hidden spectator goes on: it has no slot to give up.
    cluster.room(2).suspend();
    cluster.run_ms(1_000);
    assert_eq!(cluster.room(2).phase(), Phase::Spectating);

    let fresh = Presses { frame: 0, here: 0, counts: [0; 4] };
    cluster.room(2).restart(fresh, 1, JoinTarget::Code(code)).expect("settings that can be");
    cluster.run_until("it plays", 3_000, |cluster| cluster.is_together(2));
    expect_one_match(&mut cluster, &[0, 1, 2]);
}

#[test]
fn spectator_is_told_when_all_players_have_left() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(1_000);
    let code = cluster.room(0).lobby_client().and_then(|lobby| lobby.room()).expect("a room").code;
    let watch = RoomConfig { join: JoinTarget::Spectate(code), ..TestRoom::peer_config(1) };
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
}

#[test]
fn looking_on_where_no_link_opens_is_given_up() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(1_000);
    let code = cluster.room(0).lobby_client().and_then(|lobby| lobby.room()).expect("a room").code;
    let watch = RoomConfig { join: JoinTarget::Spectate(code), ..TestRoom::peer_config(1) };
    cluster.deafen(1).open_with(1, watch).run_ms(18_000);
    assert_eq!(count(&cluster, 1, |event| *event == RoomEvent::JoinFailed), 1, "{}", cluster.describe());
    assert_eq!(cluster.room(1).phase(), Phase::Solo);
}
