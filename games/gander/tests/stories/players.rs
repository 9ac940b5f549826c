//! Players that arrive, appear safely, leave, return, run out of geese and start again.

use super::fen::Fen;
use gaggle_kit::{Frame, Slot, SlotSet};
use gaggle_timeline::{Game, Inputs};
use gander::arena::{LEDGE, LONG_EYOT, MERE, PAD, PX};
use gander::cue::Kind;
use gander::flow::OVER_FRAMES;
use gander::player::{APPEAR_FRAMES, GRACE_FRAMES};
use gander::score::ENDLESS;
use gander::{Class, Gander, Pad, Phase, Seat, Setup};

#[test]
fn every_knight_appears_on_its_own_pad() {
    let mut fen = Fen::starting(Setup::default(), 4);
    fen.step(3);
    for seat in 0..4 {
        let mover = fen.game.players[seat].mover;
        assert_eq!((mover.x, mover.y), (PAD[seat].x * PX, LEDGE[PAD[seat].ledge].top * PX));
    }
}

#[test]
fn knight_without_pad_appears_on_next_pad() {
    let mut fen = Fen::team(1);
    fen.game.ledges.arrange(1 << LONG_EYOT);
    fen.step(60);
    fen.present[1] = true;
    fen.step(3);
    let mover = fen.game.players[1].mover;
    assert_eq!((mover.x, mover.y), (PAD[2].x * PX, LEDGE[MERE].top * PX));
}

#[test]
fn new_player_is_protected_until_half_second_after_moving() {
    let mut fen = Fen::team(1);
    fen.safe_again(0);
    fen.step(u32::from(APPEAR_FRAMES) + 1);
    let x = fen.game.players[0].mover.x / PX;
    let number = fen.rider(Class::Knave, x, 185);
    fen.step(30);
    fen.game.riders[number].mover.x = x * PX;
    assert!(fen.game.players[0].riding() && fen.riders() == 1);
    fen.press(0, Pad::RIGHT).step(1);
    assert!(fen.game.players[0].safe <= GRACE_FRAMES && fen.game.players[0].safe > 0);
    fen.game.riders = Default::default();
    fen.press(0, Pad::NONE).step(u32::from(GRACE_FRAMES));
    assert!(fen.game.players[0].tangible());
}

#[test]
fn button_held_on_entry_keeps_protection() {
    let mut fen = Fen::team(1);
    fen.safe_again(0);
    fen.press(0, Pad::RIGHT).step(u32::from(APPEAR_FRAMES) - 1);
    let player = fen.game.players[0];
    assert!(player.safe > GRACE_FRAMES && player.mover.speed == 0);
}

#[test]
fn safety_ends_after_ten_seconds_without_moving() {
    let mut fen = Fen::team(1);
    fen.safe_again(0);
    fen.step(599);
    assert!(!fen.game.players[0].tangible());
    fen.step(1);
    assert!(fen.game.players[0].tangible());
}

#[test]
fn new_player_joins_wave_with_five_geese_and_no_points() {
    let mut fen = Fen::team(1);
    fen.game.players[0].score = 4000;
    fen.present[3] = true;
    fen.step(2);
    let player = &fen.game.players[3];
    assert!(player.riding() && player.safe > 0);
    assert_eq!((player.mounts, player.score), (5, 0));
    assert_eq!(fen.score(0), 4000, "no other score changes");
    assert_eq!(fen.marks(Kind::Join, 2).len(), 1);
}

#[test]
fn match_goes_on_after_player_leaves() {
    let mut fen = Fen::team(2);
    fen.present[1] = false;
    fen.step(1);
    assert_eq!(fen.game.players[1].seat, Seat::Empty);
    assert_eq!(fen.marks(Kind::Leave, 1).len(), 1);
    fen.step(100);
    assert!(fen.game.players[0].riding());
    assert_eq!(fen.game.wave.phase, Phase::Play);
}

#[test]
fn return_within_half_minute_keeps_score_and_geese() {
    let mut fen = Fen::team(2);
    fen.hold = true;
    (fen.game.players[1].score, fen.game.players[1].mounts) = (9000, 2);
    fen.present[1] = false;
    fen.step(1);
    assert!(!fen.game.players[1].present());
    fen.step(1700);
    fen.present[1] = true;
    fen.step(2);
    assert_eq!((fen.score(1), fen.game.players[1].mounts), (9000, 2));
    assert!(fen.game.players[1].riding() && fen.game.players[1].safe > 0);
}

#[test]
fn return_after_half_minute_starts_anew() {
    let mut fen = Fen::team(2);
    (fen.game.players[1].score, fen.game.players[1].mounts) = (9000, 2);
    fen.present[1] = false;
    fen.step(1802);
    fen.present[1] = true;
    fen.step(2);
    assert_eq!((fen.score(1), fen.game.players[1].mounts), (0, 5));
}

#[test]
fn leaving_and_returning_gives_no_goose() {
    let mut fen = Fen::team(2);
    (fen.game.players[1].seat, fen.game.players[1].mounts) = (Seat::Out, 0);
    fen.present[1] = false;
    fen.step(10);
    fen.present[1] = true;
    fen.step(10);
    assert_eq!((fen.game.players[1].seat, fen.game.players[1].mounts), (Seat::Out, 0));
}

/// A player takes a slot whose player left ten seconds ago with this score and these geese.
fn seat_again(pad: Pad, (score, mounts): (u32, u8)) -> Fen {
    let mut fen = Fen::team(2);
    let player = &mut fen.game.players[1];
    (player.score, player.mounts, player.tally.eggs) = (score, mounts, 7);
    player.seat = if mounts > 0 { Seat::Riding } else { Seat::Out };
    fen.present[1] = false;
    fen.step(600);
    fen.present[1] = true;
    // The room tells the player a few frames after it has arrived.
    fen.step(8);
    fen.press(1, pad);
    fen
}

const FRESH: Pad = Pad { fresh: true, ..Pad::NONE };

#[test]
fn new_player_inherits_nothing_of_slot() {
    for kept in [(9000, 2), (9000, 0), (0, 5)] {
        let mut fen = seat_again(FRESH, kept);
        assert_eq!((fen.score(1), fen.game.players[1].mounts), kept);
        let appeared_at = fen.game.players[1].mover;
        fen.step(2);
        let player = &fen.game.players[1];
        assert_eq!((player.score, player.mounts, player.tally.eggs), (0, 5, 0), "{kept:?}");
        assert!(player.riding() && player.safe > 0 && player.wait == 0, "{player:?}");
        assert!(kept.1 == 0 || player.mover.x == appeared_at.x, "the knight appears again");
    }
}

#[test]
fn player_new_after_match_end_has_no_part_in_result() {
    let mut fen = Fen::team(2);
    fen.hold = false;
    fen.game.players[1].score = 9000;
    fen.present[1] = false;
    fen.step(1);
    finish(&mut fen, 0);
    fen.step(1);
    fen.present[1] = true;
    fen.step(8);
    assert_eq!((fen.game.wave.phase, fen.score(1)), (Phase::Over, 9000));
    fen.press(1, FRESH).step(1);
    assert_eq!((fen.game.wave.phase, fen.score(1), fen.game.players[1].mounts), (Phase::Over, 0, 5));
}

#[test]
fn new_player_flag_counts_once_however_long_it_is_held() {
    let mut fen = seat_again(FRESH, (9000, 2));
    fen.step(2);
    (fen.game.players[1].score, fen.game.players[1].mounts) = (500, 4);
    fen.step(300);
    assert_eq!((fen.score(1), fen.game.players[1].mounts), (500, 4));
    // It gives nothing after a fall, nor to a player that was never away.
    fen.press(0, FRESH);
    (fen.game.players[0].score, fen.game.players[0].mounts) = (700, 3);
    for seat in 0..2 {
        fen.game.players[seat].safe = 0;
        fen.fly(seat, 90, 110);
        let number = fen.rider(Class::Knave, 92, 100);
        fen.step(1);
        fen.game.riders[number].live = false;
    }
    fen.step(200);
    assert_eq!([0, 1].map(|seat| fen.game.players[seat].mounts), [2, 3]);
    assert!(fen.score(0) >= 700 && fen.score(1) >= 500);
}

#[test]
fn new_player_flag_expires_two_seconds_after_return() {
    let mut fen = seat_again(Pad::NONE, (9000, 2));
    fen.step(120);
    assert_eq!(fen.game.players[1].wait, 0);
    fen.press(1, FRESH).step(10);
    assert_eq!((fen.score(1), fen.game.players[1].mounts), (9000, 2));
    // A late flag gives no goose to a player without one.
    let mut fen = seat_again(Pad::NONE, (9000, 0));
    fen.step(120);
    fen.press(1, FRESH).step(10);
    assert_eq!((fen.game.players[1].seat, fen.game.players[1].mounts), (Seat::Out, 0));
}

#[test]
fn fall_right_after_return_waits_as_usual() {
    let mut fen = seat_again(Pad::NONE, (9000, 2));
    fen.game.players[1].safe = 0;
    fen.fly(1, 90, 110);
    let number = fen.rider(Class::Knave, 92, 100);
    fen.step(1);
    fen.game.riders[number].live = false;
    assert_eq!((fen.game.players[1].seat, fen.game.players[1].mounts), (Seat::Waiting, 1));
    fen.press(1, FRESH).step(100);
    assert_eq!((fen.game.players[1].seat, fen.game.players[1].mounts), (Seat::Waiting, 1));
    fen.step(30);
    assert!(fen.game.players[1].riding());
}

#[test]
fn new_player_flag_is_read_before_other_input() {
    let fen = seat_again(Pad::NONE, (9000, 2));
    let tick = |pad: Pad| {
        let mut game = fen.game;
        let row = [Pad::NONE, pad, Pad::NONE, Pad::NONE];
        game.tick(&Inputs::confirmed(Frame::new(1), &row, SlotSet::first(2)));
        game
    };
    assert!(fen.game.players[1].appearing());
    assert_eq!(tick(Pad::NONE), tick(Pad::LEFT.flapping(true)));
    assert_eq!((tick(Pad::NONE).players[1].score, tick(FRESH).players[1].score), (9000, 0));
}

#[test]
fn empty_fen_waits_until_next_player_starts_match() {
    let mut fen = Fen::team(1);
    fen.hold = false;
    fen.game.wave.number = 7;
    fen.present = [false; 4];
    fen.step(1);
    assert_eq!(fen.game.wave.phase, Phase::Empty);
    fen.step(1000);
    assert_eq!((fen.game.wave.phase, fen.riders()), (Phase::Empty, 0));
    fen.present[2] = true;
    fen.step(3);
    assert_eq!((fen.game.wave.phase, fen.game.wave.number), (Phase::Intro, 1));
    assert!(fen.game.players[2].riding());
}

#[test]
fn every_20000_points_give_one_goose() {
    let mut fen = Fen::team(1);
    fen.game.players[0].score = 19_900;
    fen.egg(200, 193);
    fen.stand(0, 200, gander::arena::HEARTHSTONE);
    fen.step(1);
    assert_eq!((fen.score(0), fen.game.players[0].mounts), (20_150, 6));
    assert_eq!(fen.marks(Kind::ExtraMount, 1).len(), 1);
    fen.egg(200, 193);
    fen.step(1);
    assert_eq!(fen.game.players[0].mounts, 6);
}

#[test]
fn points_and_geese_saturate() {
    let mut fen = Fen::team(1);
    fen.game.players[0].score = u32::MAX - 10;
    fen.game.players[0].mounts = 99;
    fen.egg(200, 193);
    fen.stand(0, 200, gander::arena::HEARTHSTONE);
    fen.step(1);
    assert_eq!((fen.score(0), fen.game.players[0].mounts), (u32::MAX, 99));
}

/// Unseats a knight that rides its last goose.
fn finish(fen: &mut Fen, seat: usize) {
    fen.game.players[seat].mounts = 1;
    fen.fly(seat, 90, 110);
    let number = fen.rider(Class::Knave, 92, 100);
    fen.step(1);
    fen.game.riders[number].live = false;
    assert_eq!(fen.game.players[seat].seat, Seat::Out);
}

#[test]
fn match_goes_on_while_any_player_has_goose() {
    let mut fen = Fen::team(2);
    finish(&mut fen, 0);
    fen.step(300);
    assert_eq!(fen.game.wave.phase, Phase::Play);
    finish(&mut fen, 1);
    fen.step(1);
    assert_eq!(fen.game.wave.phase, Phase::Over);
    assert_eq!(fen.marks(Kind::GameOver, 1).len(), 1);
}

#[test]
fn new_flap_after_end_of_match_starts_next() {
    let mut fen = Fen::team(2);
    fen.hold = false;
    finish(&mut fen, 0);
    finish(&mut fen, 1);
    fen.press(1, Pad::FLAP).step(u32::from(OVER_FRAMES) - 10);
    assert_eq!(fen.game.wave.phase, Phase::Over, "the final table was not shown long enough");
    fen.step(100);
    assert_eq!(fen.game.wave.phase, Phase::Over, "a held button is no new flap");
    fen.press(1, Pad::NONE).step(1);
    fen.press(1, Pad::FLAP).step(3);
    assert_eq!((fen.game.wave.phase, fen.game.wave.number), (Phase::Intro, 1));
    assert!((0..2).all(|seat| fen.score(seat) == 0 && fen.game.players[seat].mounts == 5));
}

#[test]
fn player_arriving_after_end_plays_in_next_match() {
    let mut fen = Fen::team(1);
    fen.hold = false;
    finish(&mut fen, 0);
    fen.step(1);
    fen.present[1] = true;
    fen.step(100);
    assert_eq!(fen.game.wave.phase, Phase::Over);
    fen.step(u32::from(OVER_FRAMES));
    fen.press(1, Pad::FLAP).step(3);
    assert_eq!(fen.game.wave.phase, Phase::Intro);
    assert!(fen.game.players[0].riding() && fen.game.players[1].riding());
}

#[test]
fn match_ends_when_last_player_with_goose_leaves() {
    let mut fen = Fen::team(2);
    finish(&mut fen, 0);
    fen.present[1] = false;
    fen.step(2);
    assert_eq!(fen.game.wave.phase, Phase::Over);
}

#[test]
fn endless_geese_never_run_out() {
    let mut fen = Fen::new(Setup { mounts: ENDLESS, ..Setup::default() }, 1);
    for _ in 0..300 {
        fen.game.players[0].seat = Seat::Riding;
        fen.fly(0, 90, 110);
        let number = fen.rider(Class::Knave, 92, 100);
        fen.step(1);
        fen.game.riders[number].live = false;
    }
    assert_eq!((fen.game.players[0].mounts, fen.game.players[0].seat), (ENDLESS, Seat::Waiting));
}

#[test]
fn player_out_of_saddle_has_no_input() {
    let mut fen = Fen::team(2);
    fen.game.players[1].seat = Seat::Waiting;
    fen.game.players[1].wait = 60;
    let tick = |game: &Gander, pad: Pad| {
        let mut game = *game;
        let row = [Pad::NONE, pad, Pad::NONE, Pad::NONE];
        game.tick(&Inputs::confirmed(Frame::new(1), &row, SlotSet::first(2)));
        game
    };
    assert_eq!(tick(&fen.game, Pad::NONE), tick(&fen.game, Pad::FLAP));
    let row = [Pad::NONE, Pad::FLAP, Pad::NONE, Pad::NONE];
    assert_eq!(Inputs::confirmed(Frame::new(1), &row, SlotSet::first(2)).get(Slot::at(1)), Pad::FLAP);
}
