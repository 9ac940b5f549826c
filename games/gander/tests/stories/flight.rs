//! Movement of a goose: flapping, falling, running, skidding, ledges and edges.

use super::fen::Fen;
use gander::arena::{CEILING, HEARTHSTONE, HIGH_SEDGE, LEDGE, LONG_EYOT, LOW_EYOT, MERE, PX, WIDTH};
use gander::cue::Kind;
use gander::mover::{GRAVITY, GRAVITY_HELD, LIFT};
use gander::{Bridges, Pad};

#[test]
fn goose_with_wings_down_falls_half_as_fast() {
    let mut fen = Fen::team(2);
    fen.fly(0, 90, 60);
    fen.fly(1, 300, 60).wings_down = true;
    fen.press(1, Pad::FLAP).step(10);
    assert_eq!(i32::from(fen.game.players[0].mover.vy), 10 * GRAVITY);
    assert_eq!(i32::from(fen.game.players[1].mover.vy), 10 * GRAVITY_HELD);
}

#[test]
fn flap_lifts_more_sooner_after_last_one() {
    let lift = |since: u8| {
        let mut fen = Fen::team(1);
        fen.fly(0, 20, 90).since_wings = since;
        fen.press(0, Pad::FLAP).step(1);
        GRAVITY_HELD - i32::from(fen.game.players[0].mover.vy)
    };
    assert!(lift(0) > LIFT - 2, "{}", lift(0));
    assert!(lift(0) > lift(60) && lift(60) > lift(200));
    assert_eq!(lift(255), 0, "a flap lifted long after the last one");
}

#[test]
fn held_button_is_one_flap() {
    let mut fen = Fen::team(1);
    fen.fly(0, 20, 90);
    fen.press(0, Pad::FLAP).step(30);
    let flaps = fen.game.murmurs.recent(fen.game.frame, 30).filter(|noise| noise.kind == Kind::Flap).count();
    assert_eq!(flaps, 1);
}

#[test]
fn quick_taps_climb_and_slow_taps_do_not() {
    let climb = |period: u32| {
        let mut fen = Fen::team(1);
        fen.fly(0, 90, 170);
        for frame in 0..72 {
            fen.press(0, Pad::NONE.flapping(frame % period < period / 2)).step(1);
        }
        170 - fen.game.players[0].mover.y / PX
    };
    assert!(climb(8) > 30, "{}", climb(8));
    assert!(climb(36) < -10, "{}", climb(36));
}

#[test]
fn airborne_speed_changes_one_step_per_flap() {
    let mut fen = Fen::team(1);
    fen.fly(0, 20, 40);
    fen.press(0, Pad::RIGHT).step(20);
    assert_eq!(fen.game.players[0].mover.speed, 0, "steering changed the speed without a flap");
    assert!(!fen.game.players[0].mover.left);
    let mut seen = vec![];
    for _ in 0..6 {
        fen.press(0, Pad::RIGHT.flapping(true)).step(1);
        seen.push(fen.game.players[0].mover.vx());
        fen.press(0, Pad::RIGHT).step(3);
    }
    assert_eq!(seen, [PX / 4, PX / 2, PX, 2 * PX, 2 * PX, 2 * PX]);
}

#[test]
fn airborne_goose_faces_stick_at_once() {
    let mut fen = Fen::team(1);
    fen.fly(0, 20, 40).speed = 4;
    fen.press(0, Pad::LEFT).step(1);
    let mover = fen.game.players[0].mover;
    assert!(mover.left && mover.speed == 4);
}

#[test]
fn runner_reaches_full_speed_after_quarter_second() {
    let mut fen = Fen::team(1);
    fen.stand(0, 100, HEARTHSTONE);
    fen.press(0, Pad::RIGHT).step(1);
    assert!(fen.game.players[0].mover.vx() > 0);
    fen.step(15);
    assert_eq!(fen.game.players[0].mover.vx(), 2 * PX);
}

#[test]
fn turning_around_at_speed_skids_first() {
    let mut fen = Fen::team(1);
    fen.stand(0, 120, HEARTHSTONE).speed = 4;
    fen.press(0, Pad::LEFT).step(1);
    let mover = fen.game.players[0].mover;
    assert!(mover.skidding && !mover.left && mover.vx() > 0);
    assert!(fen.until(40, |game| game.players[0].mover.vx() < 0));
    assert!(fen.game.players[0].mover.left && !fen.game.players[0].mover.skidding);
}

#[test]
fn slow_walker_turns_without_skid() {
    let mut fen = Fen::team(1);
    fen.stand(0, 120, HEARTHSTONE).speed = 1;
    fen.press(0, Pad::LEFT).step(1);
    assert!(fen.game.players[0].mover.left && !fen.game.players[0].mover.skidding);
}

#[test]
fn runner_without_input_coasts_to_stop() {
    let mut fen = Fen::team(1);
    fen.stand(0, 120, HEARTHSTONE).speed = 4;
    assert!(fen.until(40, |game| game.players[0].mover.speed == 0));
    assert!(fen.game.players[0].mover.grounded);
}

#[test]
fn runner_off_ledge_falls_and_keeps_speed() {
    let mut fen = Fen::team(1);
    let end = LEDGE[LONG_EYOT].x + LEDGE[LONG_EYOT].width;
    fen.stand(0, end, LONG_EYOT).speed = 4;
    fen.press(0, Pad::RIGHT).step(8);
    let mover = fen.game.players[0].mover;
    assert!(!mover.grounded && mover.vy > 0 && mover.vx() == 2 * PX);
}

#[test]
fn goose_lands_on_ledge_from_any_height() {
    for height in 20..60 {
        let mut fen = Fen::team(1);
        fen.fly(0, 160, LEDGE[LOW_EYOT].top - height).vy = 900;
        assert!(fen.until(120, |game| game.players[0].mover.grounded));
        assert_eq!(fen.game.players[0].mover.y, LEDGE[LOW_EYOT].top * PX);
    }
}

#[test]
fn ceiling_reflects_goose_downward() {
    let mut fen = Fen::team(1);
    fen.fly(0, 60, CEILING + 21).vy = -300;
    fen.step(1);
    let mover = fen.game.players[0].mover;
    assert!(mover.vy > 280, "{}", mover.vy);
    assert!(mover.y >= (CEILING + 20) * PX);
}

#[test]
fn underside_of_ledge_reflects_goose_downward() {
    let mut fen = Fen::team(1);
    fen.fly(0, 160, LEDGE[LONG_EYOT].bottom() + 21).vy = -300;
    fen.step(1);
    assert!(fen.game.players[0].mover.vy > 280);
    assert!(fen.game.players[0].mover.y >= (LEDGE[LONG_EYOT].bottom() + 20) * PX);
}

#[test]
fn ledge_end_turns_flyer_around_one_step_slower() {
    let mut fen = Fen::team(1);
    let end = LEDGE[LONG_EYOT].x;
    fen.fly(0, end - 8, LEDGE[LONG_EYOT].top + 6).speed = 4;
    fen.step(3);
    let mover = fen.game.players[0].mover;
    assert_eq!(mover.speed, -3);
    assert!(mover.x < (end - 5) * PX);
}

#[test]
fn left_edge_is_right_edge() {
    let mut fen = Fen::team(1);
    fen.fly(0, WIDTH - 1, 90).speed = 4;
    fen.step(1);
    assert_eq!(fen.game.players[0].mover.x, PX);
    fen.fly(0, 1, 90).speed = -4;
    fen.step(1);
    assert_eq!(fen.game.players[0].mover.x, (WIDTH - 1) * PX);
}

#[test]
fn walker_crosses_edge_of_fen() {
    let mut fen = Fen::team(1);
    fen.stand(0, WIDTH - 10, HIGH_SEDGE);
    fen.press(0, Pad::RIGHT);
    assert!(fen.until(120, |game| game.players[0].mover.x < 20 * PX && game.players[0].mover.x > 10 * PX));
    assert!(fen.game.players[0].mover.grounded);
    fen.stand(0, 5, MERE);
    fen.press(0, Pad::LEFT);
    assert!(fen.until(120, |game| game.players[0].mover.x > 350 * PX));
    assert!(fen.game.players[0].mover.grounded);
}

#[test]
fn walker_crosses_whole_bridge_and_not_burnt_one() {
    for (bridges, arrives) in [(Bridges::default(), true), (Bridges::GONE, false)] {
        let mut fen = Fen::team(1);
        fen.game.bridges = bridges;
        fen.stand(0, 300, HEARTHSTONE);
        fen.press(0, Pad::RIGHT);
        let crossed = fen.until(200, |game| {
            let mover = &game.players[0].mover;
            mover.grounded && mover.x > 70 * PX && mover.x < 100 * PX
        });
        assert_eq!(crossed, arrives);
    }
}

#[test]
fn goose_under_random_input_is_never_inside_ledge() {
    let mut random = gaggle_kit::Prng::new(5);
    let mut fen = Fen::team(4);
    let mut pads = [Pad::NONE; 4];
    for _ in 0..40_000 {
        for pad in &mut pads {
            if random.chance(1, 6) {
                *pad = Pad {
                    left: random.chance(1, 3),
                    right: random.chance(1, 3),
                    flap: random.chance(1, 2),
                    fresh: false,
                };
            }
        }
        fen.pads = pads;
        fen.step(1);
        let ground = fen.game.ground();
        for player in fen.game.players.iter().filter(|player| player.riding()) {
            let gander::Mover { x, y, .. } = player.mover;
            // Planks hang a little lower than the rock at their ends.
            let body = ground.inside(x, 5 * PX, y - 19 * PX, y - 2 * PX);
            assert_eq!(body.map(|number| LEDGE[number].name), None, "at {}, {}", x / PX, y / PX);
        }
    }
}
