//! A match is recorded while it is played, on every peer.

use crate::cluster;
use std::collections::BTreeMap;

use crate::cluster::{Cluster, config};
use crate::world::{MixGame, NetConditions, World};
use gaggle_kit::{Frame, Micros, state_hash};
use gaggle_timeline::{Game, Recorder, RecorderConfig, Replay, ReplayInfo, Timeline};

/// Hash of the confirmed state a peer showed, by frame.
type Shown = BTreeMap<Frame, u64>;

/// Records all frames that became final since the last call, and notes the live game's state.
fn keep_up<G: Game>(recorder: &mut Recorder<G>, timeline: &Timeline<G>, shown: &mut Shown) {
    let session = timeline.session();
    while recorder.frame() < session.settled_frame() {
        let inputs = session.confirmed_inputs(recorder.frame().next()).expect("not yet forgotten");
        recorder.record(&inputs);
    }
    shown.extend(timeline.confirmed_game().map(|(frame, game)| (frame, state_hash(game))));
}

/// Asserts that a replay shows the live game's states, from any start of a jump, for at least this
/// many frames.
fn expect_shown<G: Game>(replay: &Replay<'_, G>, shown: &Shown, at_least: usize) {
    let recorded: Vec<(&Frame, &u64)> = shown.range(..=replay.last_frame()).collect();
    assert!(recorded.len() >= at_least, "only {} frames can be compared", recorded.len());
    let mut playback = replay.play();
    for step in [1, 7] {
        for (frame, hash) in recorded.iter().rev().step_by(step).chain(recorded.iter().step_by(step)) {
            playback.seek(**frame);
            assert_eq!((playback.frame(), state_hash(playback.game())), (**frame, **hash));
        }
    }
}

#[test]
fn all_peers_write_same_replay() {
    let info = ReplayInfo { game_fingerprint: 0, tick_rate: 60, slots: 3 };
    let mut world = World::of(3, 5);
    world.conditions(NetConditions {
        latency: Micros::from_millis(60),
        jitter: Micros::from_millis(30),
        loss: 30,
        ..NetConditions::default()
    });
    let recorder = || Recorder::new(&MixGame::new(Vec::new()), info, RecorderConfig::default());
    let mut recorders = [recorder(), recorder(), recorder()];
    let mut shown = [(); 3].map(|()| Shown::new());
    for _ in 0..400 {
        world.run(Micros::from_millis(50));
        for ((recorder, machine), shown) in recorders.iter_mut().zip(&world.machines).zip(&mut shown) {
            keep_up(recorder, &machine.timeline, shown);
        }
    }
    world.settle().expect_rollbacks(50).expect_agreement();
    // Once all packets have arrived, all peers can record up to the same frame.
    let until = (0..3).map(|index| world.session(index).settled_frame()).min().expect("three machines");
    let files = [0, 1, 2].map(|index| {
        let (recorder, session) = (&mut recorders[index], world.session(index));
        while recorder.frame() < until {
            recorder.record(&session.confirmed_inputs(recorder.frame().next()).expect("not yet forgotten"));
        }
        std::mem::replace(recorder, Recorder::new(&MixGame::new(Vec::new()), info, RecorderConfig::default()))
            .finish()
    });
    assert!(files[0] == files[1] && files[1] == files[2], "the files differ");
    let replay = Replay::<MixGame>::read(&files[0], 0).expect("just written");
    assert_eq!((replay.last_frame(), replay.damage(), replay.verify()), (until, None, Ok(())));
    assert!(until > Frame::new(1_200), "{until}");
    shown.iter().for_each(|shown| expect_shown(&replay, shown, 200));
}

#[test]
fn replay_shows_match_with_joins_and_leaves() {
    let mut cluster = Cluster::configured(4, 3, 6, config(4), 0);
    let info = ReplayInfo { game_fingerprint: 0, tick_rate: 60, slots: 4 };
    let config = RecorderConfig { keyframe_interval_frames: 150, ..RecorderConfig::default() };
    let mut recorder = Recorder::new(&cluster::MixGame::new(Vec::new()), info, config);
    let mut shown = Shown::new();
    let mut play = |cluster: &mut Cluster, millis: u64| {
        for _ in 0..millis / 20 {
            cluster.run_ms(20);
            keep_up(&mut recorder, &cluster.machines[0].timeline, &mut shown);
        }
    };
    play(&mut cluster, 1_500);
    play(cluster.join(3), 2_000);
    assert!(cluster.session(3).is_member(), "it joined:\n{}", cluster.describe());
    play(cluster.leave(1), 2_000);
    assert!(cluster.session(1).is_closed(), "it left:\n{}", cluster.describe());
    play(cluster.crash(1).crash(2), 6_000);
    cluster.expect_together(&[0, 3]);
    assert_eq!(cluster.session(0).roster().iter().filter(|row| row.is_active()).count(), 2, "one crashed");
    let file = recorder.finish();
    let replay = Replay::<cluster::MixGame>::read(&file, 0).expect("just written");
    assert_eq!((replay.damage(), replay.verify()), (None, Ok(())));
    expect_shown(&replay, &shown, 200);
}
