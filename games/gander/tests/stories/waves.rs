//! Course of waves: start, hurry, end and bonus, and ledges between them.

use super::fen::Fen;
use gander::arena::{HEARTHSTONE, LEDGE, LONG_EYOT, PX};
use gander::cue::Kind;
use gander::hern::HERNS;
use gander::ledges::LedgePhase;
use gander::waves::plan;
use gander::{Class, Mode, Phase, Seat, Setup, WaveKind};

fn wave(number: u16, mode: Mode, players: usize) -> Fen {
    let mut fen = Fen::starting(Setup { first_wave: number, mode, ..Setup::default() }, players);
    assert!(fen.until(200, |game| game.wave.phase == Phase::Play));
    fen.game.players.iter_mut().for_each(|player| player.safe = 0);
    fen
}

/// Ends the current wave by removing its riders and eggs.
fn win(fen: &mut Fen) {
    fen.game.wave.queue = [0; 3];
    fen.game.riders = Default::default();
    fen.game.eggs = Default::default();
    fen.step(1);
    assert_eq!(fen.game.wave.phase, Phase::Clear);
}

/// Lets a rider unseat the knight in `seat`.
fn lose(fen: &mut Fen, seat: usize) {
    fen.fly(seat, 90, 110);
    let number = fen.rider(Class::Knave, 92, 100);
    fen.step(1);
    assert!(!fen.game.players[seat].riding());
    fen.game.riders[number].live = false;
}

#[test]
fn match_begins_with_three_knaves_on_pads_one_by_one() {
    let mut fen = Fen::starting(Setup::default(), 1);
    let mut most = 0;
    let mut appeared = vec![];
    for _ in 0..400 {
        fen.step(1);
        let up = fen.riders();
        if up > most {
            most = up;
            appeared.push(fen.game.frame);
        }
    }
    assert_eq!(most, 3);
    assert!(fen.game.riders.iter().filter(|rider| rider.live).all(|rider| rider.class == Class::Knave));
    assert!(appeared.windows(2).all(|pair| pair[1] - pair[0] >= 40));
}

#[test]
fn wave_ends_without_riders_eggs_and_queue() {
    let mut fen = wave(1, Mode::Team, 1);
    win(&mut fen);
    assert!(fen.until(200, |game| game.wave.number == 2 && game.wave.phase == Phase::Intro));
    assert_eq!(fen.game.wave.kind, WaveKind::Together);
}

#[test]
fn wave_goes_on_while_egg_is_left() {
    let mut fen = wave(1, Mode::Team, 1);
    fen.stand(0, 100, HEARTHSTONE);
    fen.egg(250, 193);
    fen.game.wave.queue = [0; 3];
    fen.game.riders = Default::default();
    fen.step(60);
    assert_eq!(fen.game.wave.phase, Phase::Play);
}

#[test]
fn lone_knight_without_fall_in_wave_two_gets_3000() {
    for (falls, points) in [(false, 3000), (true, 50)] {
        let mut fen = wave(2, Mode::Team, 1);
        if falls {
            lose(&mut fen, 0);
        }
        win(&mut fen);
        assert_eq!(fen.score(0), points);
    }
}

#[test]
fn team_without_fall_gets_3000_each() {
    for (falls, points) in [(false, [3000, 3000]), (true, [0, 50])] {
        let mut fen = wave(2, Mode::Team, 2);
        if falls {
            lose(&mut fen, 1);
        }
        win(&mut fen);
        assert_eq!([fen.score(0), fen.score(1)], points);
    }
}

#[test]
fn rivals_get_3000_each_if_neither_unseats_other() {
    let mut fen = wave(2, Mode::Versus, 2);
    lose(&mut fen, 1);
    win(&mut fen);
    assert_eq!([fen.score(0), fen.score(1)], [3000, 3050], "a fall to a rider counted");

    let mut fen = wave(2, Mode::Versus, 2);
    fen.fly(0, 90, 80);
    fen.fly(1, 92, 90);
    fen.step(1);
    win(&mut fen);
    assert_eq!([fen.score(0), fen.score(1)], [2000, 50]);
}

#[test]
fn player_that_joined_mid_wave_gets_no_bonus() {
    let mut fen = wave(2, Mode::Team, 2);
    fen.present[2] = true;
    fen.step(60);
    win(&mut fen);
    assert_eq!([0, 1, 2].map(|seat| fen.score(seat)), [3000, 3000, 0]);
}

#[test]
fn first_unseating_in_gladiator_wave_gets_bounty_once() {
    let mut fen = wave(4, Mode::Versus, 3);
    fen.hold = true;
    fen.game.riders = Default::default();
    fen.stand(2, 280, HEARTHSTONE);
    fen.fly(0, 90, 80);
    fen.fly(1, 92, 90);
    fen.step(1);
    assert_eq!(fen.score(0), 2000 + 3000);
    fen.fly(2, 90, 60);
    fen.fly(0, 92, 70);
    fen.step(1);
    assert_eq!(fen.score(2), 2000, "a second bounty was paid");
}

#[test]
fn team_bounty_goes_to_player_with_most_jousts() {
    let mut fen = wave(4, Mode::Team, 2);
    fen.game.riders = Default::default();
    fen.hold = true;
    fen.stand(0, 280, HEARTHSTONE);
    fen.fly(1, 90, 80);
    fen.rider(Class::Knave, 92, 90);
    fen.step(1);
    assert_eq!([fen.score(0), fen.score(1)], [0, 500]);
    fen.hold = false;
    win(&mut fen);
    assert_eq!([fen.score(0), fen.score(1)], [0, 3500]);
}

#[test]
fn lone_player_gets_no_bounty() {
    let mut fen = wave(4, Mode::Team, 1);
    fen.game.players[0].deeds.jousts = 5;
    win(&mut fen);
    assert_eq!(fen.score(0), 0);
}

#[test]
fn bridges_burn_in_wave_three_and_do_not_come_back() {
    let mut fen = wave(2, Mode::Team, 1);
    assert_eq!(fen.game.bridges.burnt, 0);
    win(&mut fen);
    assert!(fen.until(200, |game| game.wave.number == 3));
    assert!(fen.game.bridges.burning());
    assert_eq!(fen.marks(Kind::Burn, 1).len(), 2);
    fen.step(200);
    assert!(fen.game.bridges.surface(30 * PX).is_none());
    fen.stand(0, 100, HEARTHSTONE);
    win(&mut fen);
    assert!(fen.until(200, |game| game.wave.number == 4));
    assert!(fen.game.bridges.surface(30 * PX).is_none());
}

#[test]
fn ledges_leave_as_table_of_waves_says() {
    let mut fen = wave(5, Mode::Team, 1);
    fen.stand(0, 100, HEARTHSTONE);
    win(&mut fen);
    assert!(fen.until(200, |game| game.wave.number == 6));
    assert_eq!(fen.game.ledges.state[LONG_EYOT].phase, LedgePhase::Leaving);
    fen.step(70);
    assert_eq!(fen.game.ledges.state[LONG_EYOT].phase, LedgePhase::Gone);
    let gone = |fen: &Fen| {
        (0..6).filter(|n| fen.game.ledges.state[*n].phase == LedgePhase::Gone).fold(0, |m, n| m | 1 << n)
    };
    assert_eq!(gone(&fen), plan(6, 1).gone);
}

#[test]
fn knight_on_dropping_ledge_falls() {
    let mut fen = Fen::team(1);
    fen.stand(0, 160, LONG_EYOT);
    fen.game.ledges.arrange(1 << LONG_EYOT);
    assert!(fen.until(80, |game| !game.players[0].mover.grounded));
}

#[test]
fn returning_ledge_does_not_trap_knight() {
    for y in 60..96 {
        let mut fen = Fen::team(1);
        fen.game.ledges.arrange(1 << LONG_EYOT);
        fen.step(60);
        fen.game.ledges.arrange(0);
        fen.step(59);
        fen.fly(0, 160, y);
        fen.step(3);
        let gander::Mover { x, y: now, .. } = fen.game.players[0].mover;
        assert_eq!(fen.game.ground().inside(x, 5 * PX, now - 19 * PX, now), None, "feet at {y}");
    }
}

#[test]
fn slow_wave_calls_herns_ever_sooner_up_to_three() {
    let mut fen = wave(3, Mode::Team, 1);
    fen.game.wave.queue = [0; 3];
    fen.game.riders = Default::default();
    fen.egg(250, 193);
    fen.game.players[0].seat = Seat::Waiting;
    let mut cries = vec![];
    let start = fen.game.frame;
    for _ in 0..60 * 75 {
        fen.game.players[0].wait = 100;
        fen.game.eggs[0].waited = 0;
        fen.step(1);
        if !fen.marks(Kind::Cry, 1).is_empty() {
            cries.push((fen.game.frame - start) / 60);
        }
        assert!(fen.game.herns.iter().filter(|hern| hern.live()).count() <= HERNS);
    }
    assert_eq!(cries, [30, 45, 60], "a fourth Hern cried, or one is missing");
}

#[test]
fn first_hern_of_wave_one_comes_after_one_minute() {
    let mut fen = wave(1, Mode::Team, 1);
    assert_eq!(fen.game.wave.bait_in, 60 * 60);
    win(&mut fen);
    assert!(fen.until(200, |game| game.wave.number == 2));
    assert_eq!(fen.game.wave.bait_in, 45 * 60);
}

#[test]
fn herns_of_wave_come_65_frames_apart_and_leave_with_it() {
    let mut fen = wave(18, Mode::Team, 1);
    let mut cries = vec![];
    for _ in 0..400 {
        fen.safe_again(0);
        fen.step(1);
        if !fen.marks(Kind::Cry, 1).is_empty() {
            cries.push(fen.game.frame);
        }
    }
    assert_eq!(cries.len(), 2);
    assert_eq!(cries[1] - cries[0], 65);
    win(&mut fen);
    assert!(fen.until(100, |game| game.wave.phase == Phase::Clear));
    fen.hold = true;
    assert!(fen.until(400, |game| game.herns.iter().all(|hern| !hern.live())));
}

#[test]
fn more_players_meet_more_riders() {
    let riders = |players| {
        let mut fen = wave(4, Mode::Team, players);
        let mut seen = 0;
        for _ in 0..900 {
            // All knights wait, so that no rider is unseated.
            for player in &mut fen.game.players[..players] {
                player.seat = Seat::Waiting;
                player.wait = 100;
            }
            fen.step(1);
            seen = seen.max(fen.riders());
        }
        seen
    };
    assert_eq!([riders(1), riders(2), riders(3), riders(4)], [6, 6, 8, 10]);
}

#[test]
fn knights_on_all_pads_do_not_keep_riders_away() {
    let mut fen = wave(1, Mode::Team, 4);
    assert!(fen.until(300, |game| game.riders.iter().any(|rider| rider.live)));
}

#[test]
fn rider_appears_far_from_knight() {
    let mut fen = wave(1, Mode::Team, 1);
    fen.stand(0, 160, LONG_EYOT);
    assert!(fen.until(300, |game| game.riders.iter().any(|rider| rider.live)));
    let rider = fen.game.riders.iter().find(|rider| rider.live).unwrap();
    assert!(rider.mover.y > LEDGE[LONG_EYOT].top * PX);
}

#[test]
fn player_without_geese_gets_one_in_next_egg_wave() {
    let mut fen = wave(4, Mode::Team, 2);
    fen.game.players[1].mounts = 1;
    lose(&mut fen, 1);
    assert_eq!(fen.game.players[1].seat, Seat::Out);
    win(&mut fen);
    assert!(fen.until(200, |game| game.wave.number == 5));
    fen.step(2);
    assert!(fen.game.players[1].riding());
    assert_eq!(fen.game.players[1].mounts, 1);
}
