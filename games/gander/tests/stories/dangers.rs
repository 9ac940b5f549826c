//! Dangers besides riders: fire, the Clutch and Herns.

use super::fen::Fen;
use gander::arena::{DROWN, FIRE, HEARTHSTONE, PX, WIDTH};
use gander::clutch::{Clutch, ClutchPhase};
use gander::cue::Kind;
use gander::hern::{Hern, HernPhase};
use gander::mover::LANCE;
use gander::{Bridges, Class, Pad, Seat};

fn burnt(players: usize, wave: u16) -> Fen {
    let mut fen = Fen::team(players);
    fen.game.bridges = Bridges::GONE;
    fen.game.wave.number = wave;
    fen
}

#[test]
fn fire_takes_knight_seven_pixels_deep() {
    let mut fen = burnt(1, 1);
    fen.fly(0, 30, DROWN - 1);
    fen.step(1);
    assert!(fen.game.players[0].riding());
    assert!(fen.until(30, |game| !game.players[0].riding()));
    assert_eq!((fen.score(0), fen.game.players[0].tally.burns), (50, 1));
    assert_eq!(fen.marks(Kind::Splash, 1).len(), 1);
}

#[test]
fn rider_in_fire_leaves_no_egg_and_no_points() {
    let mut fen = burnt(1, 1);
    let number = fen.rider(Class::Knave, 30, DROWN);
    fen.game.riders[number].mover.vy = 600;
    fen.step(2);
    assert_eq!((fen.riders(), fen.eggs(), fen.score(0)), (0, 0, 0));
}

#[test]
fn new_player_with_protection_drowns() {
    let mut fen = burnt(1, 1);
    fen.safe_again(0);
    fen.fly(0, 30, DROWN + 2);
    fen.step(1);
    assert!(!fen.game.players[0].riding());
}

#[test]
fn clutch_does_not_wake_before_wave_four() {
    for (wave, wakes) in [(3, false), (4, true)] {
        let mut fen = burnt(1, wave);
        fen.fly(0, 30, FIRE - 14);
        fen.step(2);
        assert_eq!(fen.game.clutch.phase == ClutchPhase::Rising, wakes);
    }
}

#[test]
fn clutch_holds_knight_hovering_low_over_pit() {
    let mut fen = burnt(1, 4);
    fen.fly(0, 30, FIRE - 10);
    for _ in 0..40 {
        fen.game.players[0].mover.y = (FIRE - 10) * PX;
        fen.game.players[0].mover.vy = 0;
        fen.step(1);
    }
    assert_eq!(fen.game.clutch.holds(), Some(0));
    assert_eq!(fen.marks(Kind::Grip, 40).len(), 1);
}

#[test]
fn clutch_does_not_wake_over_rock() {
    let mut fen = burnt(1, 4);
    for x in [62, 100, 300] {
        fen.fly(0, x, 190);
        fen.step(1);
        assert_eq!(fen.game.clutch.phase, ClutchPhase::Hidden, "at {x}");
    }
}

fn held(wave: u16) -> Fen {
    let mut fen = burnt(1, wave);
    fen.fly(0, 30, FIRE - 8);
    fen.game.clutch = Clutch { phase: ClutchPhase::Grip, left: 0, x: 30 * PX, prey: 0, held: 0 };
    fen
}

#[test]
fn fast_flapping_breaks_grip_for_fifty_points() {
    let mut fen = held(4);
    fen.flap(0, 80);
    assert_eq!(fen.marks(Kind::Free, 80).len(), 1);
    assert_eq!(fen.score(0), 50);
    assert!(fen.game.players[0].riding());
}

#[test]
fn held_knight_without_flapping_is_pulled_under() {
    let mut fen = held(4);
    assert!(fen.until(90, |game| !game.players[0].riding()));
    assert_eq!(fen.game.players[0].tally.burns, 1);
    fen.step(2);
    assert_eq!(fen.game.clutch.holds(), None);
}

#[test]
fn held_knight_does_not_move_sideways() {
    let mut fen = held(4);
    fen.press(0, Pad::RIGHT.flapping(true)).step(3);
    assert_eq!(fen.game.players[0].mover.x, 30 * PX);
}

#[test]
fn grip_of_late_wave_cannot_be_broken() {
    let mut fen = held(40);
    fen.flap(0, 120);
    assert!(fen.marks(Kind::Free, 120).is_empty());
    assert_eq!(fen.game.players[0].tally.burns, 1);
}

#[test]
fn gripped_rider_is_pulled_under() {
    let mut fen = burnt(1, 12);
    fen.stand(0, 200, HEARTHSTONE);
    let number = fen.rider(Class::Knave, 30, FIRE - 8);
    fen.game.clutch =
        Clutch { phase: ClutchPhase::Grip, left: 0, x: 30 * PX, prey: 4 + number as u8, held: 2000 };
    assert!(fen.until(200, |game| !game.riders[number].live));
    assert_eq!(fen.marks(Kind::Splash, 1).len(), 1);
}

#[test]
fn clutch_sinks_when_gripped_player_leaves() {
    let mut fen = held(4);
    fen.present[1] = true;
    fen.present[0] = false;
    fen.step(2);
    assert_eq!(fen.game.clutch.phase, ClutchPhase::Sinking);
}

fn hern(fen: &mut Fen, x: i32, throat: i32, left: bool) {
    fen.game.herns[0] =
        Hern { phase: HernPhase::Crossing, x: x * PX, y: throat * PX, left, open: true, ..Hern::default() };
}

#[test]
fn lance_in_open_throat_kills_hern_for_1000_points() {
    let mut fen = Fen::team(1);
    fen.fly(0, 200, 110).left = true;
    hern(&mut fen, 176, 110 - LANCE / PX, false);
    fen.step(1);
    assert_eq!(fen.score(0), 1000);
    assert!(!fen.game.herns[0].live());
    assert_eq!(fen.marks(Kind::HernDown, 1).len(), 1);
}

#[test]
fn any_other_meeting_with_hern_unseats() {
    for (off, left) in [(8, true), (-8, true), (0, false)] {
        let mut fen = Fen::team(1);
        fen.fly(0, 200, 110).left = left;
        hern(&mut fen, 176, 110 - LANCE / PX + off, false);
        fen.step(1);
        assert_eq!(
            fen.game.players[0].seat,
            Seat::Waiting,
            "throat {off} px below the lance, looking left: {left}"
        );
    }
}

#[test]
fn two_lances_in_one_throat_both_get_points() {
    let mut fen = Fen::team(2);
    fen.fly(0, 200, 110).left = true;
    fen.fly(1, 201, 110).left = true;
    hern(&mut fen, 176, 110 - LANCE / PX, false);
    fen.step(1);
    assert_eq!((fen.score(0), fen.score(1)), (1000, 1000));
}

#[test]
fn hern_touches_neither_safe_knight_nor_rider() {
    let mut fen = Fen::team(1);
    fen.safe_again(0);
    fen.rider(Class::Knave, 200, 100);
    hern(&mut fen, 190, 90, false);
    fen.step(3);
    assert!(fen.game.players[0].riding() && fen.riders() == 1);
}

#[test]
fn hern_turns_beyond_edge_and_comes_back() {
    let mut fen = Fen::team(1);
    fen.safe_again(0);
    hern(&mut fen, 300, 90, false);
    assert!(fen.until(200, |game| game.herns[0].phase == HernPhase::Away));
    assert!(fen.game.herns[0].x > WIDTH * PX && fen.game.herns[0].left);
    fen.safe_again(0);
    assert!(fen.until(200, |game| game.herns[0].phase == HernPhase::Crossing));
    assert!(fen.until(60, |game| game.herns[0].x < WIDTH * PX));
}

#[test]
fn hern_does_not_hunt_below_rock() {
    let mut fen = burnt(1, 1);
    hern(&mut fen, 100, 90, true);
    let before = fen.game.herns[0].y;
    fen.fly(0, 40, FIRE - 4);
    fen.step(1);
    assert_eq!(fen.game.herns[0].y, before);
}

#[test]
fn herns_that_meet_turn_around() {
    let mut fen = Fen::team(1);
    fen.safe_again(0);
    hern(&mut fen, 150, 90, false);
    fen.game.herns[1] = Hern { x: 185 * PX, left: true, ..fen.game.herns[0] };
    fen.step(2);
    assert!(fen.game.herns[0].left && !fen.game.herns[1].left);
    assert!(fen.game.herns[..2].iter().all(Hern::live));
}
