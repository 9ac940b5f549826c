//! A match that is recorded while it is played, on every machine.

mod world;

use gaggle_kit::{Frame, Micros, state_hash};
use gaggle_timeline::{Recorder, RecorderConfig, Replay, ReplayInfo, Timeline};
use world::{Stew, Weather, World};

/// Takes everything that has become final since the last call.
fn keep_up(recorder: &mut Recorder<Stew>, timeline: &Timeline<Stew>) {
    let session = timeline.session();
    while recorder.frame() < session.settled_frame() {
        let inputs = session.confirmed_inputs(recorder.frame().next()).expect("not yet forgotten");
        recorder.record(&inputs);
    }
}

#[test]
fn every_machine_writes_the_same_replay_of_a_match_full_of_guesses() {
    let info = ReplayInfo { game_fingerprint: 0, frames_per_second: 60, slots: 3 };
    let mut world = World::of(3, 5);
    world.weather(Weather { latency: Micros::from_millis(60), jitter: Micros::from_millis(30), loss: 30 });
    let recorder = || Recorder::new(&Stew::new(), info, RecorderConfig::default());
    let mut recorders = [recorder(), recorder(), recorder()];
    for _ in 0..400 {
        world.run(Micros::from_millis(50));
        for (recorder, machine) in recorders.iter_mut().zip(&world.machines) {
            keep_up(recorder, &machine.timeline);
        }
    }
    world.settle().expect_rollbacks(50).expect_agreement();
    // Once everything has come to rest all of them can record up to one frame.
    let until = (0..3).map(|index| world.session(index).settled_frame()).min().expect("three machines");
    let files = [0, 1, 2].map(|index| {
        let (recorder, session) = (&mut recorders[index], world.session(index));
        while recorder.frame() < until {
            recorder.record(&session.confirmed_inputs(recorder.frame().next()).expect("not yet forgotten"));
        }
        std::mem::replace(recorder, Recorder::new(&Stew::new(), info, RecorderConfig::default())).finish()
    });
    assert!(files[0] == files[1] && files[1] == files[2], "the files differ");
    let replay = Replay::<Stew>::read(&files[0], 0).expect("just written");
    assert_eq!((replay.last_frame(), replay.damage(), replay.verify()), (until, None, Ok(())));
    assert!(until > Frame::new(1_200), "{until}");
    let mut playback = replay.play();
    playback.seek(until);
    let last = world.machines[0].timeline.confirmed_game().map(|(_, game)| game.mixed);
    assert!(last.is_some() && state_hash(playback.game()) != state_hash(&Stew::new()));
}
