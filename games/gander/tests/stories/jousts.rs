//! Jousts: the higher lance wins, independent of the order of slots.

use super::fen::Fen;
use gander::arena::{HEARTHSTONE, MERE, PX, WIDTH};
use gander::cue::Kind;
use gander::{Class, Seat};

#[test]
fn higher_lance_wins_by_single_pixel() {
    for (knight, rider, wins) in [(110, 111, true), (111, 110, false)] {
        let mut fen = Fen::team(1);
        fen.fly(0, 90, knight);
        fen.rider(Class::Knave, 100, rider);
        fen.step(1);
        assert_eq!(fen.riders() == 0, wins);
        assert_eq!(fen.game.players[0].seat == Seat::Riding, wins);
    }
}

#[test]
fn level_lances_bounce() {
    let mut fen = Fen::team(1);
    fen.stand(0, 100, HEARTHSTONE).speed = 4;
    let number = fen.rider(Class::Wraith, 116, 193);
    fen.game.riders[number].mover.grounded = true;
    fen.game.riders[number].mover.speed = -3;
    fen.step(1);
    assert_eq!(fen.riders(), 1);
    assert!(fen.game.players[0].mover.speed < 0 && fen.game.riders[number].mover.speed > 0);
    assert_eq!(fen.marks(Kind::Bounce, 1).len(), 1);
}

#[test]
fn riders_are_worth_500_750_and_1500_points() {
    for (class, points) in [(Class::Knave, 500), (Class::Reeve, 750), (Class::Wraith, 1500)] {
        let mut fen = Fen::team(1);
        fen.fly(0, 90, 80);
        fen.rider(class, 96, 92);
        fen.step(1);
        assert_eq!(fen.score(0), points);
        assert_eq!(fen.game.players[0].tally.jousts, 1);
    }
}

#[test]
fn another_knight_is_worth_2000_in_versus() {
    let mut fen = Fen::versus(2);
    fen.fly(0, 90, 80);
    fen.fly(1, 96, 90);
    fen.step(1);
    assert_eq!(fen.score(0), 2000);
    assert_eq!(fen.game.players[1].seat, Seat::Waiting);
}

#[test]
fn teammates_bounce_off_each_other() {
    let mut fen = Fen::team(2);
    fen.fly(0, 90, 80).speed = 4;
    fen.fly(1, 104, 90).speed = -4;
    fen.step(1);
    assert!(fen.game.players[0].riding() && fen.game.players[1].riding());
    assert!(fen.game.players[0].mover.speed < 0 && fen.game.players[1].mover.speed > 0);
    assert_eq!(fen.score(0) + fen.score(1), 0);
}

#[test]
fn knight_falling_onto_teammate_is_thrown_up() {
    let mut fen = Fen::team(2);
    fen.fly(0, 90, 80).vy = 300;
    fen.fly(1, 92, 96);
    fen.step(1);
    assert!(fen.game.players[0].mover.vy < 0 && fen.game.players[1].mover.vy > 0);
}

#[test]
fn riders_bounce_off_each_other_and_never_kill() {
    let mut fen = Fen::team(1);
    let a = fen.rider(Class::Knave, 90, 100);
    let b = fen.rider(Class::Wraith, 104, 92);
    fen.game.riders[a].mover.speed = 3;
    fen.game.riders[b].mover.speed = -4;
    fen.step(1);
    assert_eq!(fen.riders(), 2);
    assert!(fen.game.riders[a].mover.speed < 0 && fen.game.riders[b].mover.speed > 0);
    assert!(fen.marks(Kind::Bounce, 1).is_empty(), "a bounce of two riders makes a sound");
}

#[test]
fn two_hits_on_rider_in_one_frame_score_twice_with_one_egg() {
    let mut fen = Fen::team(2);
    fen.fly(0, 80, 80);
    fen.fly(1, 104, 80);
    fen.rider(Class::Reeve, 92, 92);
    fen.step(1);
    assert_eq!((fen.score(0), fen.score(1)), (750, 750));
    assert_eq!(fen.eggs(), 1);
}

#[test]
fn rider_between_knights_loses_to_higher_beats_lower() {
    let mut fen = Fen::team(2);
    fen.fly(0, 80, 80);
    fen.fly(1, 104, 100);
    fen.rider(Class::Knave, 92, 90);
    fen.step(1);
    assert_eq!(fen.score(0), 500);
    assert_eq!(fen.game.players[1].seat, Seat::Waiting);
    assert_eq!(fen.riders(), 0);
}

#[test]
fn knight_wins_and_loses_in_one_frame() {
    let mut fen = Fen::team(1);
    fen.fly(0, 90, 90);
    fen.rider(Class::Knave, 80, 100);
    fen.rider(Class::Knave, 100, 80);
    fen.step(1);
    assert_eq!(fen.score(0), 500 + 50);
    assert_eq!(fen.game.players[0].seat, Seat::Waiting);
    assert_eq!(fen.riders(), 1);
}

#[test]
fn each_of_three_stacked_knights_loses_to_all_above() {
    let mut fen = Fen::versus(3);
    fen.fly(0, 90, 80);
    fen.fly(1, 92, 86);
    fen.fly(2, 94, 92);
    fen.step(1);
    assert_eq!([0, 1, 2].map(|seat| fen.game.players[seat].riding()), [true, false, false]);
    assert_eq!(fen.score(0), 4000);
    assert_eq!(fen.score(1), 2000 + 50);
    assert_eq!(fen.score(2), 50);
}

#[test]
fn four_knights_at_equal_height_all_bounce() {
    let mut fen = Fen::versus(4);
    for seat in 0..4 {
        fen.stand(seat, 150 + 10 * seat as i32, HEARTHSTONE).speed = if seat < 2 { 4 } else { -4 };
    }
    fen.step(1);
    assert!(fen.game.players.iter().all(|player| player.riding()));
}

#[test]
fn outcome_of_joust_is_independent_of_slots() {
    for (first, second) in [(0, 1), (1, 0), (2, 3), (3, 2)] {
        let mut fen = Fen::versus(4);
        for (n, seat) in (0..4).filter(|seat| *seat != first && *seat != second).enumerate() {
            fen.stand(seat, 340 + 30 * n as i32, MERE);
        }
        fen.fly(first, 90, 80);
        fen.fly(second, 96, 90);
        fen.step(1);
        assert!(fen.game.players[first].riding() && !fen.game.players[second].riding());
    }
}

#[test]
fn joust_happens_across_edge_of_fen() {
    let mut fen = Fen::team(1);
    fen.fly(0, 3, 90);
    fen.rider(Class::Knave, WIDTH - 6, 96);
    fen.step(1);
    assert_eq!(fen.score(0), 500);
}

#[test]
fn bodies_that_do_not_touch_do_not_joust() {
    for (dx, dy) in [(17, 4), (0, 21)] {
        let mut fen = Fen::team(1);
        fen.fly(0, 90, 80);
        fen.rider(Class::Knave, 90 + dx, 80 + dy);
        fen.step(1);
        assert_eq!(fen.riders(), 1, "{dx} right, {dy} below");
    }
}

#[test]
fn fallen_knight_gets_fifty_points_and_waits_two_seconds() {
    let mut fen = Fen::team(1);
    fen.fly(0, 90, 100);
    fen.rider(Class::Knave, 90, 88);
    fen.step(1);
    assert_eq!(fen.score(0), 50);
    assert_eq!(fen.game.players[0].mounts, 4);
    assert_eq!(fen.marks(Kind::Unseated, 1).len(), 1);
    fen.step(119);
    assert_eq!(fen.game.players[0].seat, Seat::Waiting);
    fen.step(1);
    assert!(fen.game.players[0].riding());
}

#[test]
fn appearing_rider_neither_harms_nor_is_harmed() {
    let mut fen = Fen::team(1);
    fen.fly(0, 90, 100);
    let number = fen.rider(Class::Knave, 90, 92);
    fen.game.riders[number].emerging = 30;
    fen.step(1);
    assert!(fen.game.players[0].riding());
    fen.fly(0, 90, 80);
    fen.step(1);
    assert_eq!(fen.riders(), 1);
    assert_eq!(fen.game.riders[number].mover.x, 90 * PX);
}
