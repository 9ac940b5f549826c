//! Replay files that a room returns during a match.

use crate::presses::{Cluster, Presses};
use gaggle::timeline::Replay;

#[test]
fn every_peer_has_replay_from_where_it_joined() {
    let mut cluster = Cluster::of(3);
    cluster
        .open(0)
        .run_ms(3_000)
        .open(1)
        .run_until("the second is in", 3_000, |cluster| cluster.is_together(1));
    cluster.run_ms(3_000).open(2).run_until("the third is in", 3_000, |cluster| cluster.is_together(2));
    cluster.room(2).leave();
    cluster.run_ms(2_000);
    let marks: Vec<_> = (0..2).map(|index| cluster.room(index).checksums()).collect();
    let shared = marks[0].iter().filter(|mark| marks[1].iter().any(|other| other.0 == mark.0));
    let shared: Vec<_> = shared.collect();
    assert!(shared.len() >= 3, "{marks:?}");
    assert!(shared.iter().all(|mark| marks[1].contains(mark)), "{marks:?}");
    let mut lengths = Vec::new();
    for index in 0..2 {
        let confirmed = cluster.room(index).confirmed().map(|(_, game)| game.clone());
        let bytes = cluster.room(index).replay_bytes().expect("a replay");
        let replay = Replay::<Presses>::read(&bytes, 0).expect("a whole beginning");
        replay.verify().expect("the same again");
        let mut playback = replay.play();
        playback.seek(replay.last_frame());
        let (last, now) = (playback.game().clone(), confirmed.expect("confirmed"));
        assert!(now.frame - last.frame < 120, "{last:?} of {now:?}");
        assert!(now.counts.iter().zip(last.counts).all(|(now, last)| now - last < 60));
        lengths.push(replay.last_frame());
    }
    assert!(lengths[0] > lengths[1], "who came first has more to tell: {lengths:?}");
}

#[test]
fn replay_saved_during_match_is_undamaged() {
    let mut cluster = Cluster::of(1);
    // Not at the end of a chunk: frames that are not in a chunk yet are in the file as well.
    cluster.open(0).run_ms(2_300);
    let settled = cluster.room(0).confirmed().map(|(_, game)| game.frame);
    let first = cluster.room(0).replay_bytes().expect("a replay");
    let replay = Replay::<Presses>::read(&first, 0).expect("a whole beginning");
    assert_eq!(replay.damage(), None, "the file has an end");
    replay.verify().expect("the same again");
    let last = replay.last_frame().number();
    assert!(last > 100 && !last.is_multiple_of(60), "{last} frames prove nothing");
    let mut playback = replay.play();
    playback.seek(replay.last_frame());
    let (last_played, settled) = (playback.game().frame, settled.expect("confirmed"));
    assert!(settled - last_played < 8, "up to the last frames that are final: {last_played} of {settled}");
    // The recording goes on after a file was made: a later one has more of the same match.
    cluster.run_ms(1_000);
    let second = cluster.room(0).replay_bytes().expect("a replay");
    let replay = Replay::<Presses>::read(&second, 0).expect("a whole beginning");
    assert_eq!((replay.damage(), replay.verify()), (None, Ok(())));
    assert!(replay.last_frame().number() >= last + 50);
}
