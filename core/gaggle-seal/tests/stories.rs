//! Stories of a room: what players see when one of them is slow, silent, passive, away or back.

pub mod room;

use gaggle_kit::{Frame, Micros, Slot};
use gaggle_seal::{
    Cell, Client, ClientPhase, Epoch, OutReason, OverReason, Referee, RefereeEvent, RefereePhase, SealConfig,
    read_journal,
};
use room::{Room, honest, stream};

fn config(players: usize) -> SealConfig {
    SealConfig { slot_count: players, ..SealConfig::default() }
}

/// All logs are the referee's as far as they go.
fn expect_one_log(room: &Room) {
    for player in &room.players {
        let (log, own) = (player.client.log(), room.referee.log());
        for number in log.oldest().number().max(own.oldest().number())..=log.sealed().number() {
            let frame = Frame::new(number);
            assert_eq!(log.hash(frame), own.hash(frame), "{frame}");
            for slot in (0..log.shape().slots()).map(Slot::at) {
                assert_eq!(log.cell(frame, slot), own.cell(frame, slot), "{frame} {slot}");
                assert_eq!(log.row(frame, slot), own.row(frame, slot), "{frame} {slot}");
            }
        }
    }
}

#[test]
fn frozen_player_refuses_and_stops_no_other() {
    let mut room = Room::new(&config(8), 8, 3);
    room.run(120);
    let before = room.referee.log().sealed();
    room.players[3].is_awake = false;
    room.run(120);
    assert_eq!(room.referee.log().sealed() - before, 120 - room_lag(&room), "frames go on at once");
    room.players[3].is_awake = true;
    room.run(200);
    for (index, player) in room.players.iter().enumerate() {
        assert!(player.refused.is_empty(), "player {index} was refused {:?}", player.refused);
        assert!(player.client.is_playing());
    }
    let log = room.referee.log();
    let missed = |frame: u32| matches!(log.cell(Frame::new(frame), Slot::at(3)), Cell::Missed { run, last: Some(_) } if run > 0);
    assert!(missed(200) && !missed(300));
    expect_one_log(&room);
}

/// While one is frozen, frames wait for their due time: they were sealed a frame early before.
fn room_lag(room: &Room) -> u32 {
    (room.ticks as u32 + 1).saturating_sub(room.referee.log().sealed().number()).min(1)
}

#[test]
fn silent_player_is_out_and_returns_as_same_stream() {
    let config = SealConfig { out_after_frames: 60, ..config(3) };
    let mut room = Room::new(&config, 3, 2);
    room.run(60);
    room.players[1].is_awake = false;
    room.run(90);
    let left = room.events.iter().find_map(|event| match event {
        RefereeEvent::Left { row, frame, why, .. } => Some((row.stream, *frame, *why)),
        _ => None,
    });
    let (gone, frame, why) = left.expect("it is out");
    assert_eq!((gone, why), (stream(1), OutReason::Silent));
    assert_eq!(room.referee.log().cell(frame, Slot::at(1)), Cell::Absent);
    room.players[1].is_awake = true;
    room.run(60);
    assert!(room.players[1].client.is_playing());
    expect_one_log(&room);
}

#[test]
fn goodbye_ends_row_and_says_over() {
    let mut room = Room::new(&config(3), 3, 2);
    room.run(60);
    room.players[2].client.leave();
    room.run(30);
    assert_eq!(room.players[2].client.phase(), ClientPhase::Over(OverReason::Left));
    let last = room.events.last().copied();
    assert!(matches!(last, Some(RefereeEvent::Left { why: OutReason::Goodbye, .. })), "{last:?}");
    let refused: usize = room.players[..2].iter().map(|player| player.refused.len()).sum();
    assert_eq!(refused, 0);
}

#[test]
fn passive_slot_is_neither_waited_for_nor_missed() {
    fn rest(client: &mut Client, frame: Frame, _: u8, _: bool) {
        if !client.is_passive() {
            let _ = client.set_passive(frame);
        }
    }
    let mut room = Room::new(&config(2), 2, 2);
    room.run(60);
    room.players[1].entry = rest;
    room.run(60);
    assert!(room.players[1].client.is_passive());
    let sealed = room.referee.log().sealed();
    assert_eq!(room.referee.log().cell(sealed, Slot::at(1)), Cell::Passive);
    room.run(900);
    assert!(room.players[1].client.is_passive(), "a passive player may rest for ever");
    room.players[1].entry = honest;
    room.run(30);
    let sealed = room.referee.log().sealed();
    assert!(matches!(room.referee.log().cell(sealed, Slot::at(1)), Cell::Made { .. }));
    assert_eq!(room.players[1].refused, []);
    expect_one_log(&room);
}

#[test]
fn player_missing_every_second_frame_delays_no_other() {
    fn every_second(client: &mut Client, frame: Frame, value: u8, changes: bool) {
        if frame.number().is_multiple_of(2) {
            honest(client, frame, value, changes);
        }
    }
    let mut room = Room::new(&config(4), 4, 3);
    room.players[2].entry = every_second;
    room.run(300);
    let mut late = 0;
    for _ in 0..300 {
        room.tick();
        late += u32::from(room.referee.log().sealed().number() + 1 < room.ticks as u32);
    }
    // Only frames after a run of made ones are waited for, and there is none.
    assert!(late < 15, "{late} of 300 frames were sealed after they were due");
}

#[test]
fn joiner_far_behind_gets_snapshot() {
    let config = SealConfig { history_frames: 60, ..config(3) };
    let mut room = Room::new(&config, 3, 2);
    room.players[2].is_awake = false;
    room.run(300);
    room.players[2].is_awake = true;
    room.run(10);
    assert!(room.events.contains(&RefereeEvent::SnapshotWanted));
    let frame = room.players[0].client.log().sealed();
    assert!(!room.referee.put_snapshot(Frame::new(3), 0, vec![1]), "a frame that is forgotten");
    assert!(room.referee.put_snapshot(frame, 0, vec![1, 2, 3]));
    room.run(60);
    assert!(room.players[2].client.is_playing());
    expect_one_log(&room);
}

#[test]
fn referee_restarted_with_journal_goes_on() {
    let config = config(3);
    let mut room = Room::new(&config, 3, 3);
    room.run(200);
    let sealed = room.referee.log().sealed();
    let recovered = read_journal(&room.journal, &config, |_| {}).expect("whole");
    assert_eq!((recovered.log.sealed(), recovered.damage), (sealed, None));
    let held: Vec<_> = room.players.iter().map(|player| player.client.log().sealed()).collect();
    room.referee = Referee::resume(room.now(), config, Epoch(2), recovered).expect("sensible");
    (0..3).for_each(|index| room.connect(index));
    room.run(100);
    for (player, held) in room.players.iter().zip(held) {
        assert!(player.client.is_playing() && player.client.log().sealed() > sealed);
        let kept = player.events.iter().find_map(|event| match event {
            gaggle_seal::ClientEvent::TermChanged { kept, .. } => Some(*kept),
            _ => None,
        });
        assert!(kept.is_some_and(|kept| kept >= held), "nothing is taken back");
    }
    expect_one_log(&room);
    // The file goes on where it ended, and is whole again.
    assert!(
        read_journal(&room.journal, &SealConfig { slot_count: 3, ..SealConfig::default() }, |_| {}).is_ok()
    );
}

#[test]
fn referee_without_journal_asks_and_loses_nothing() {
    let config = SealConfig { journal: false, ..config(3) };
    let mut room = Room::new(&config, 3, 3);
    room.run(200);
    let held: Vec<_> = room.players.iter().map(|player| player.client.log().sealed()).collect();
    room.referee = Referee::ask(room.now(), config, 7, Epoch(2)).expect("sensible");
    room.referee.expect_answers((0..3).map(|index| stream(index).peer));
    (0..3).for_each(|index| room.connect(index));
    room.run(100);
    assert_eq!(room.referee.phase(), RefereePhase::Running);
    let resumed = room.events.iter().any(
        |event| matches!(event, RefereeEvent::Resumed { answers: 3, is_anew: false, base } if *base >= held[0]),
    );
    assert!(resumed, "{:?}", room.events);
    assert!(room.players.iter().all(|player| player.client.is_playing()));
    expect_one_log(&room);
}

#[test]
fn referee_without_journal_waits_no_longer_than_its_timeout() {
    let config = SealConfig { journal: false, ..config(3) };
    let mut room = Room::new(&config, 3, 3);
    room.run(100);
    room.players[2].is_awake = false;
    room.referee = Referee::ask(room.now(), config, 7, Epoch(2)).expect("sensible");
    room.referee.expect_answers((0..4).map(|index| stream(index).peer));
    (0..3).for_each(|index| room.connect(index));
    room.run(170);
    assert_eq!(room.referee.phase(), RefereePhase::Asking);
    room.run(20);
    assert_eq!(room.referee.phase(), RefereePhase::Running);
}

#[test]
fn drained_referee_leaves_no_client_behind() {
    let mut room = Room::new(&config(3), 3, 3);
    room.run(100);
    let now = room.now();
    room.referee.drain(now);
    room.run(20);
    assert_eq!(room.referee.phase(), RefereePhase::Drained);
    let sealed = room.referee.log().sealed();
    assert!(room.players.iter().all(|player| player.client.log().sealed() == sealed));
    // The next start goes on with the match.
    assert!(room.players.iter().all(|player| player.client.phase() == ClientPhase::Following));
    let recovered = read_journal(&room.journal, &config(3), |_| {}).expect("a journal");
    room.referee = Referee::resume(room.now(), config(3), Epoch(2), recovered).expect("sensible");
    (0..3).for_each(|index| room.connect(index));
    room.run(100);
    assert!(room.referee.log().sealed() > sealed + 60);
    assert!(room.players.iter().all(|player| player.client.is_playing()));
}

#[test]
fn referee_that_stood_still_refuses_no_entry() {
    let mut room = Room::new(&config(3), 3, 3);
    room.run(100);
    let sealed = room.referee.log().sealed();
    // Two seconds in which the machine of the referee did nothing.
    let later = room.now() + Micros::from_secs(2);
    room.referee.tick(later);
    assert!(room.referee.log().sealed() - sealed < 20, "no frame is sealed for clients that stood too");
}

#[test]
fn thousand_players_play_in_one_room() {
    let config = SealConfig { slot_count: 1_000, tick_rate: 60, ..SealConfig::default() };
    let mut room = Room::new(&config, 1_000, 2);
    room.run(220);
    assert!(room.players.iter().all(|player| player.client.is_playing()));
    // A row begins as missed: what was given for those first frames did not count.
    room.players.iter_mut().for_each(|player| player.refused.clear());
    room.run(80);
    let mut thousand = room.players.iter().map(|player| player.refused.len());
    assert_eq!(thousand.clone().max(), Some(0), "{:?}", thousand.find(|refused| *refused > 0));
    let (own, last) = (room.referee.log(), room.players[999].client.log());
    assert!(own.sealed() - last.sealed() < 10);
    assert_eq!(own.hash(last.sealed()), last.hash(last.sealed()));
}

/// A tick may seal more frames than a short history keeps: all of them are in the journal.
#[test]
fn journal_is_whole_after_long_ticks_and_short_history() {
    for skip_at in 1..16 {
        let config = SealConfig { history_frames: 8, ..config(2) };
        let mut room = Room::new(&config, 2, 1);
        room.run(skip_at);
        room.ticks += 14;
        room.run(40);
        let recovered = read_journal(&room.journal, &config, |_| {}).expect("a journal");
        assert_eq!(recovered.damage, None, "a long tick after {skip_at}");
        let sealed = recovered.log.sealed();
        assert_eq!(sealed, room.referee.log().sealed());
        assert_eq!(recovered.log.hash(sealed), room.referee.log().hash(sealed));
    }
}
