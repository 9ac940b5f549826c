//! Eggs of unseated riders: taken, lost in the fire, or hatched into riders again.

use super::fen::Fen;
use gander::arena::{DROWN, HEARTHSTONE, LEDGE, LONG_EYOT, PX};
use gander::cue::Kind;
use gander::egg::{EggPhase, wait_frames};
use gander::rider::EGGS_EACH;
use gander::{Bridges, Class, Phase, Seat, Setup};

#[test]
fn unseated_rider_leaves_egg_with_same_velocity() {
    let mut fen = Fen::team(1);
    fen.fly(0, 90, 80);
    let number = fen.rider(Class::Reeve, 96, 92);
    fen.game.riders[number].mover.speed = 3;
    fen.game.riders[number].mover.vy = -100;
    fen.step(1);
    let egg = fen.game.eggs[0];
    assert_eq!((egg.phase, egg.class), (EggPhase::Falling, Class::Reeve));
    assert!(egg.vx > 0 && egg.vy < 0);
}

#[test]
fn egg_bounces_and_comes_to_rest() {
    let mut fen = Fen::team(1);
    fen.stand(0, 80, HEARTHSTONE);
    let number = fen.egg(160, 100);
    fen.game.eggs[number].phase = EggPhase::Falling;
    fen.game.eggs[number].vx = 200;
    assert!(fen.until(200, |game| game.eggs[0].vy < 0), "the egg does not bounce");
    assert!(fen.until(400, |game| game.eggs[0].phase == EggPhase::Resting));
    assert!(fen.until(400, |game| game.eggs[0].vx == 0));
    assert!(LEDGE.iter().any(|ledge| fen.game.eggs[0].y == ledge.top * PX));
}

#[test]
fn eggs_are_worth_250_500_750_and_then_1000_each() {
    let mut fen = Fen::team(1);
    let mut scores = vec![];
    for _ in 0..6 {
        let before = fen.score(0);
        fen.egg(200, 193);
        fen.stand(0, 200, HEARTHSTONE);
        fen.step(1);
        scores.push(fen.score(0) - before);
    }
    assert_eq!(scores, [250, 500, 750, 1000, 1000, 1000]);
    assert_eq!(fen.game.players[0].tally.eggs, 6);
}

#[test]
fn fall_restarts_row_of_eggs() {
    let mut fen = Fen::team(1);
    fen.game.players[0].run = 3;
    fen.fly(0, 90, 100);
    fen.rider(Class::Knave, 90, 90);
    fen.step(1);
    assert_eq!(fen.game.players[0].run, 0);
}

#[test]
fn next_wave_restarts_row_of_eggs() {
    let mut fen = Fen::team(1);
    fen.game.players[0].run = 3;
    fen.hold = false;
    fen.game.wave.queue = [0; 3];
    assert!(fen.until(400, |game| game.wave.number == 2));
    assert_eq!(fen.game.players[0].run, 0);
}

#[test]
fn egg_taken_before_landing_is_worth_500_more() {
    let mut fen = Fen::team(1);
    let number = fen.egg(90, 100);
    fen.game.eggs[number].phase = EggPhase::Falling;
    fen.game.eggs[number].landed = false;
    fen.fly(0, 90, 100);
    fen.step(1);
    assert_eq!(fen.score(0), 250 + 500);
}

#[test]
fn egg_that_has_bounced_gives_no_midair_points() {
    let mut fen = Fen::team(1);
    let number = fen.egg(90, 100);
    fen.game.eggs[number].phase = EggPhase::Falling;
    fen.fly(0, 90, 100);
    fen.step(1);
    assert_eq!(fen.score(0), 250);
}

#[test]
fn joust_winner_does_not_collect_egg_at_once() {
    let mut fen = Fen::team(1);
    fen.fly(0, 90, 80);
    fen.rider(Class::Knave, 92, 90);
    fen.step(1);
    assert_eq!(fen.score(0), 500);
    fen.step(20);
    assert_eq!((fen.score(0), fen.eggs()), (500, 1));
}

#[test]
fn nearer_of_two_knights_gets_egg() {
    let mut fen = Fen::team(2);
    fen.egg(200, 193);
    fen.stand(0, 208, HEARTHSTONE);
    fen.stand(1, 194, HEARTHSTONE);
    fen.step(1);
    assert_eq!((fen.score(0), fen.score(1)), (0, 250));
}

#[test]
fn equally_near_knights_both_get_points_of_egg() {
    let mut fen = Fen::team(2);
    fen.egg(200, 193);
    fen.stand(0, 207, HEARTHSTONE);
    fen.stand(1, 193, HEARTHSTONE);
    fen.step(1);
    assert_eq!((fen.score(0), fen.score(1)), (250, 250));
}

#[test]
fn egg_taken_in_last_fall_can_give_another_goose() {
    let mut fen = Fen::team(1);
    fen.game.players[0].mounts = 1;
    fen.game.players[0].score = 19_800;
    fen.egg(90, 100);
    fen.fly(0, 90, 100);
    fen.rider(Class::Knave, 96, 92);
    fen.step(1);
    assert_eq!(fen.score(0), 19_800 + 250 + 50);
    assert_eq!((fen.game.players[0].mounts, fen.game.players[0].seat), (1, Seat::Waiting));
}

#[test]
fn egg_in_fire_is_gone() {
    let mut fen = Fen::team(1);
    fen.game.bridges = Bridges::GONE;
    let number = fen.egg(30, DROWN - 4);
    fen.game.eggs[number].phase = EggPhase::Falling;
    assert!(fen.until(60, |game| game.eggs[0].phase == EggPhase::None));
    assert_eq!(fen.marks(Kind::Splash, 1).len(), 1);
}

#[test]
fn egg_cracks_at_three_quarters_and_hatches_class_higher() {
    let mut fen = Fen::team(1);
    fen.stand(0, 100, HEARTHSTONE);
    let number = fen.egg(250, 193);
    fen.game.eggs[number].wait = 200;
    fen.step(149);
    assert!(!fen.game.eggs[number].cracked());
    fen.step(1);
    assert!(fen.game.eggs[number].cracked());
    fen.step(51);
    assert_eq!(
        (fen.game.eggs[number].phase, fen.game.eggs[number].class),
        (EggPhase::Hatchling, Class::Reeve)
    );
}

#[test]
fn hatchling_fetched_by_bird_rides_with_one_egg_less() {
    let mut fen = Fen::team(1);
    fen.stand(0, 100, HEARTHSTONE);
    let number = fen.egg(300, 111);
    fen.game.eggs[number].wait = 2;
    fen.game.eggs[number].eggs = 3;
    assert!(fen.until(60, |game| game.eggs[number].phase == EggPhase::Hatchling));
    assert!(fen.until(60, |game| game.eggs[number].bird.coming));
    assert!(fen.until(400, |game| game.riders[0].live));
    assert_eq!((fen.game.riders[0].class, fen.game.riders[0].eggs), (Class::Reeve, 3));
    assert_eq!(fen.eggs(), 0);
    assert_eq!(fen.marks(Kind::Mounted, 1).len(), 1);
}

#[test]
fn hatchling_is_taken_like_egg() {
    let mut fen = Fen::team(1);
    let number = fen.egg(200, 193);
    fen.game.eggs[number].phase = EggPhase::Hatchling;
    fen.stand(0, 200, HEARTHSTONE);
    fen.step(1);
    assert_eq!((fen.score(0), fen.eggs()), (250, 0));
}

#[test]
fn egg_does_not_hatch_while_enough_riders_are_up() {
    let mut fen = Fen::team(1);
    fen.stand(0, 100, HEARTHSTONE);
    fen.game.wave.limit = 1;
    fen.rider(Class::Knave, 300, 60);
    let number = fen.egg(250, 193);
    fen.game.eggs[number].wait = 2;
    fen.step(60);
    assert_eq!(fen.game.eggs[number].phase, EggPhase::Resting);
    fen.game.riders = Default::default();
    fen.step(2);
    assert_eq!(fen.game.eggs[number].phase, EggPhase::Hatchling);
}

#[test]
fn rider_leaves_four_eggs_and_then_none() {
    let mut fen = Fen::team(1);
    for eggs in (0..=EGGS_EACH).rev() {
        fen.game.eggs = Default::default();
        fen.fly(0, 90, 80);
        let number = fen.rider(Class::Wraith, 92, 90);
        fen.game.riders[number].eggs = eggs;
        fen.step(1);
        assert_eq!(fen.riders(), 0);
        assert_eq!(fen.eggs(), usize::from(eggs > 0));
        if eggs > 0 {
            assert_eq!(fen.game.eggs[0].eggs, eggs - 1);
        }
    }
}

#[test]
fn egg_on_dropping_ledge_falls() {
    let mut fen = Fen::team(1);
    fen.stand(0, 100, HEARTHSTONE);
    let number = fen.egg(160, LEDGE[LONG_EYOT].top);
    fen.game.ledges.arrange(1 << LONG_EYOT);
    assert!(fen.until(120, |game| game.eggs[number].phase == EggPhase::Falling));
    assert!(fen.until(200, |game| game.eggs[number].phase == EggPhase::Resting));
    assert!(fen.game.eggs[number].y > LEDGE[LONG_EYOT].top * PX);
}

#[test]
fn egg_wave_lays_one_egg_per_ledge_and_six_anywhere() {
    let mut fen = Fen::starting(Setup { first_wave: 5, ..Setup::default() }, 1);
    fen.step(2);
    assert_eq!(fen.eggs(), 12);
    for ledge in LEDGE {
        assert!(fen.game.eggs.iter().any(|egg| egg.y == ledge.top * PX), "{}", ledge.name);
    }
    let mut places: Vec<_> =
        fen.game.eggs.iter().filter(|egg| egg.wait > 0).map(|egg| (egg.y, egg.x)).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 12, "two eggs in one place");
    assert!(fen.game.eggs[..12].iter().all(|egg| egg.eggs == EGGS_EACH));
}

#[test]
fn egg_wave_hatches_two_early_and_faster_with_more_players() {
    let waits = |players| {
        let mut fen = Fen::starting(Setup { first_wave: 5, ..Setup::default() }, players);
        fen.step(2);
        let mut waits: Vec<_> = fen.game.eggs[..12].iter().map(|egg| egg.wait).collect();
        waits.sort_unstable();
        waits
    };
    let (alone, two) = (waits(1), waits(2));
    assert_eq!(alone[..2], [wait_frames(5) / 2; 2]);
    assert!(alone[2..].iter().all(|wait| *wait >= wait_frames(5)));
    assert_eq!(two[..2], [wait_frames(5) / 4; 2]);
    assert!(two[2..].iter().all(|wait| (wait_frames(5) / 2..wait_frames(5)).contains(wait)));
}

#[test]
fn egg_wave_is_won_when_every_egg_is_taken() {
    let mut fen = Fen::starting(Setup { first_wave: 5, ..Setup::default() }, 1);
    assert!(fen.until(200, |game| game.wave.phase == Phase::Play));
    fen.game.eggs = Default::default();
    fen.step(1);
    assert_eq!(fen.game.wave.phase, Phase::Clear);
}
