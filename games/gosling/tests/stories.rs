//! The game as its players meet it: ways, crumbs, nests, pikes, feathers, joins and leaves.

use std::sync::Arc;

use gaggle_kit::{Frame, Prng, SlotSet};
use gaggle_timeline::{Game, Inputs};
use gosling::chick::{AWAY_FRAMES, GOOSE_FRAMES, LOAD_MAX, SAFE_FRAMES};
use gosling::crumb::Crumbs;
use gosling::cue::Kind;
use gosling::pike::{DASH_FRAMES, DEN_FRAMES, Hunt, Prey, Temper};
use gosling::water::{Swimmer, Way, opposite, ways};
use gosling::{
    Chick, EDGE, Gosling, Mode, PIKES, Pike, Reed, SEATS, Seat, Setup, Strength, Swim, Wish, foresee,
};

/// A match in which no pike comes and no crumb lies, with so many players and no bots.
fn calm(mode: Mode, persons: usize) -> (Gosling, Arc<Reed>) {
    let mut game = Gosling::new(Setup { fill: 0, ..Setup::of(mode) }, 5);
    step(&mut game, &[Wish::default(); SEATS], persons);
    (game.crumbs, game.pikes) = (Crumbs::default(), [Pike::default(); PIKES]);
    game.pikes.iter_mut().for_each(|pike| pike.timer = u16::MAX);
    game.feathers.list.iter_mut().for_each(|feather| feather.timer = u16::MAX);
    let reed = game.reed();
    (game, reed)
}

fn step(game: &mut Gosling, wishes: &[Wish], persons: usize) {
    let frame = Frame::new(game.frame + 1);
    game.tick(&Inputs::confirmed(frame, wishes, SlotSet::first(persons)));
}

fn idle(game: &mut Gosling, frames: u32, persons: usize) {
    (0..frames).for_each(|_| step(game, &[Wish::default(); SEATS], persons));
}

fn place(game: &mut Gosling, slot: usize, at: Swimmer) {
    let chick = &mut game.chicks[slot];
    *chick = Chick { swim: Swim::Swimming, at, safe: 0, stale: 0, ..*chick };
}

fn put_pike(game: &mut Gosling, which: usize, at: Swimmer) {
    game.pikes[which] = Pike { is_out: true, at, ..Pike::default() };
}

fn seen(game: &Gosling, kind: Kind) -> bool {
    game.marks.recent(game.frame, 1).any(|mark| mark.kind == kind)
}

/// A cell and a way from which the water is open so many cells straight on, with two exits at each
/// cell between: far from nests and den.
fn straight(reed: &Reed, cells: usize) -> Swimmer {
    let (width, height) = reed.size();
    let quiet = |cell: u16| reed.nest_at(cell).is_none() && !reed.den().contains(&cell);
    let all = (0..(width * height) as u16).flat_map(|cell| [0, 1].map(|way| (cell, way)));
    let found = all.clone().find(|(cell, way)| {
        let mut at = *cell;
        (0..cells).all(|nth| {
            let next = reed.next(at, *way);
            let fits = next != at
                && quiet(at)
                && quiet(next)
                && (nth + 1 == cells || reed.exits(next) == 1 << *way | 1 << opposite(*way));
            at = next;
            fits
        })
    });
    let (cell, way) = found.expect("reeds have straight water");
    Swimmer::at(cell, way)
}

/// A cell with two exits at a bend, reached by a way.
fn bend(reed: &Reed) -> (Swimmer, Way) {
    let (width, height) = reed.size();
    let found = (0..(width * height) as u16).find_map(|cell| {
        let exits = reed.exits(cell);
        let from = ways(exits).next()?;
        let on = reed.bend(cell, opposite(from));
        let is_bend = exits.count_ones() == 2 && on != opposite(from);
        let behind = reed.next(cell, from);
        (is_bend && reed.nest_at(behind).is_none()).then_some((Swimmer::at(behind, opposite(from)), on))
    });
    found.expect("reeds have bends")
}

#[test]
fn gosling_without_input_swims_on_and_follows_bends() {
    let (mut game, reed) = calm(Mode::Broods, 1);
    idle(&mut game, 245, 1);
    let (mut cells, mut bends) = (0, 0);
    for _ in 0..900 {
        let before = game.chicks[0];
        idle(&mut game, 1, 1);
        let now = game.chicks[0];
        assert_ne!(reed.place(before.at), reed.place(now.at), "it never stops");
        cells += u32::from(before.at.cell != now.at.cell);
        let is_bend = reed.exits(now.at.cell).count_ones() == 2 && before.at.heading != now.at.heading;
        bends += u32::from(is_bend);
        assert!(!is_bend || now.at.heading != opposite(before.at.heading));
    }
    assert!(cells >= 60 && bends > 3, "{cells} cells, {bends} bends");
}

#[test]
fn wish_is_kept_until_junction_has_its_exit() {
    let (mut game, reed) = calm(Mode::Broods, 1);
    let at = straight(&reed, 3);
    let wanted = (at.heading + 1) & 3;
    place(&mut game, 0, at);
    let mut passed = 0;
    for _ in 0..400 {
        let before = game.chicks[0].at;
        let foreseen = foresee(&game, &reed, 0, Wish::to(wanted));
        step(&mut game, &[Wish::to(wanted)], 1);
        let now = game.chicks[0].at;
        if now.cell != before.cell {
            assert_eq!((now.cell, now.heading), foreseen);
            passed += 1;
            if reed.is_junction(now.cell) && reed.exits(now.cell) >> wanted & 1 == 1 {
                assert_eq!(now.heading, wanted);
                assert!(passed >= 2, "cells without the exit came first");
                return;
            }
        }
    }
    panic!("no junction has the exit");
}

#[test]
fn turn_back_happens_at_next_cell_and_not_before() {
    let (mut game, reed) = calm(Mode::Broods, 1);
    let at = straight(&reed, 3);
    place(&mut game, 0, at);
    let back = Wish::to(opposite(at.heading));
    let first = reed.next(at.cell, at.heading);
    for frame in 0..12 {
        step(&mut game, &[back], 1);
        assert_eq!(game.chicks[0].at.heading, at.heading, "frame {frame}");
    }
    step(&mut game, &[back], 1);
    assert_eq!((game.chicks[0].at.cell, game.chicks[0].at.heading), (first, opposite(at.heading)));
}

#[test]
fn question_is_asked_at_cells_only() {
    let (mut game, reed) = calm(Mode::Broods, 1);
    place(&mut game, 0, straight(&reed, 3));
    for _ in 0..300 {
        let (asked, cell) = (game.questions, game.chicks[0].at.cell);
        idle(&mut game, 1, 1);
        assert_eq!(game.questions - asked, u32::from(game.chicks[0].at.cell != cell));
    }
    assert!(game.questions > 20);
}

#[test]
fn bot_is_asked_nothing() {
    let mut game = Gosling::new(Setup::default(), 5);
    idle(&mut game, 600, 0);
    assert!(game.chicks.iter().any(|chick| chick.load > 0 || chick.banked > 0));
    assert_eq!(game.questions, 0);
}

#[test]
fn caught_gosling_is_asked_when_it_waits_in_nest() {
    let (mut game, reed) = calm(Mode::Broods, 1);
    let at = straight(&reed, 3);
    place(&mut game, 0, at);
    put_pike(&mut game, 0, Swimmer { way: 600, ..at });
    idle(&mut game, 1, 1);
    assert!(seen(&game, Kind::Caught));
    game.pikes[0].is_out = false;
    let asked = game.questions;
    idle(&mut game, u32::from(AWAY_FRAMES) - 1, 1);
    assert_eq!((game.chicks[0].swim, game.questions), (Swim::Away, asked));
    idle(&mut game, 13, 1);
    assert_eq!((game.chicks[0].swim, game.chicks[0].at.cell), (Swim::Nest, reed.nests()[0]));
    assert_eq!(game.questions, asked + 1, "one in twelve frames");
    (0..12).for_each(|_| step(&mut game, &[Wish::to(1)], 1));
    assert!(game.chicks[0].is_swimming() && game.chicks[0].safe >= SAFE_FRAMES - 12);
}

#[test]
fn twelve_crumbs_slow_by_ninety_six_units() {
    let (mut game, reed) = calm(Mode::Broods, 1);
    let at = straight(&reed, 3);
    for (load, units) in [(0, 640), (12, 544)] {
        place(&mut game, 0, at);
        game.chicks[0].load = load;
        idle(&mut game, 1, 1);
        assert_eq!(game.chicks[0].at.way, units);
    }
}

#[test]
fn thirteenth_crumb_stays() {
    let (mut game, reed) = calm(Mode::Broods, 1);
    let at = straight(&reed, 3);
    let tile = reed.tile_beside(at.cell, at.heading);
    for (load, then) in [(11, 12), (12, 12)] {
        game.crumbs.put(tile);
        place(&mut game, 0, at);
        game.chicks[0].load = load;
        idle(&mut game, 9, 1);
        assert_eq!((game.chicks[0].load, game.crumbs.has(tile)), (then, load == 12));
    }
}

/// Lets a gosling with a load reach a nest, and returns its points.
fn bring(game: &mut Gosling, reed: &Reed, slot: usize, nest: usize, load: u8) -> u16 {
    let (nest, before) = (reed.nests()[nest], game.chicks[slot].banked);
    place(game, slot, Swimmer { cell: reed.next(nest, 0), heading: 2, way: EDGE - 100 });
    game.chicks[slot].load = load;
    let persons = game.persons();
    idle(game, 1, persons);
    game.chicks[slot].banked - before
}

#[test]
fn dozen_banks_fifteen() {
    let (mut game, reed) = calm(Mode::Broods, 1);
    assert_eq!(bring(&mut game, &reed, 0, 0, 11), 11);
    assert_eq!(bring(&mut game, &reed, 0, 0, 12), 15);
    assert_eq!((game.scores[0], game.chicks[0].heaviest, game.chicks[0].load), (26, 12, 0));
}

#[test]
fn rival_banks_at_its_own_nest_only() {
    let (mut game, reed) = calm(Mode::Broods, 2);
    assert_eq!(game.chicks[1].brood, 1);
    assert_eq!(bring(&mut game, &reed, 1, 0, 7), 0);
    assert_eq!(game.chicks[1].load, 7);
    assert_eq!(bring(&mut game, &reed, 1, 1, 7), 7);
    assert_eq!(game.scores[..2], [0, 7]);
}

#[test]
fn nest_of_free_mode_rests_after_bank() {
    let (mut game, reed) = calm(Mode::Free, 2);
    assert_eq!(bring(&mut game, &reed, 0, 2, 7), 7);
    assert_eq!(bring(&mut game, &reed, 1, 2, 5), 0);
    assert_eq!(bring(&mut game, &reed, 1, 3, 5), 5, "the others are open");
    for _ in 0..238 {
        place(&mut game, 0, Swimmer::at(reed.junctions()[0], 0));
        place(&mut game, 1, Swimmer::at(reed.junctions()[0], 0));
        idle(&mut game, 1, 2);
    }
    assert_eq!(bring(&mut game, &reed, 0, 2, 7), 7);
}

#[test]
fn pike_dashes_with_prey_in_same_straight_water_only() {
    let (mut game, reed) = calm(Mode::Broods, 1);
    let at = straight(&reed, 3);
    let far = Swimmer { cell: reed.next(at.cell, at.heading), way: 6_000, ..at };
    place(&mut game, 0, far);
    put_pike(&mut game, 0, at);
    idle(&mut game, 1, 1);
    assert_eq!(game.pikes[0].dash, DASH_FRAMES);
    assert!(seen(&game, Kind::Dash));
    // Behind it, and round a bend.
    put_pike(&mut game, 0, far);
    place(&mut game, 0, at);
    idle(&mut game, 1, 1);
    assert_eq!(game.pikes[0].dash, 0);
    let (before, on) = bend(&reed);
    let corner = reed.next(before.cell, before.heading);
    put_pike(&mut game, 0, Swimmer { way: 2_000, ..before });
    place(&mut game, 0, Swimmer { cell: corner, heading: on, way: 4_000 });
    idle(&mut game, 1, 1);
    assert_eq!(game.pikes[0].dash, 0);
}

#[test]
fn pike_turns_back_never_unless_shy() {
    let mut game = Gosling::new(Setup::default(), 8);
    let reed = game.reed();
    let (mut turns, mut shy_turns) = (0, 0);
    for _ in 0..4_000 {
        let before = game.pikes;
        idle(&mut game, 1, 0);
        for (before, now) in
            before.iter().zip(&game.pikes).filter(|(before, now)| before.is_out && now.is_out)
        {
            let is_back = now.at.heading == opposite(before.at.heading);
            let beside_nest =
                ways(reed.exits(now.at.cell)).any(|way| reed.nest_at(reed.next(now.at.cell, way)).is_some());
            if now.shy > 0 || before.shy > 0 {
                shy_turns += u32::from(is_back);
            } else if !beside_nest {
                turns += u32::from(is_back);
            }
        }
    }
    assert_eq!(turns, 0);
    assert!(shy_turns > 0, "feathers were found");
}

/// Prey as pikes see it.
fn prey(reed: &Reed, slot: usize, at: Swimmer, load: u8) -> Prey {
    Prey { slot, place: reed.place(at), cell: reed.near(at), at, load }
}

#[test]
fn pikes_choose_by_temper_and_ties_by_slot() {
    let reed = Reed::new(5, Mode::Broods);
    let mut random = Prng::new(1);
    assert_eq!([0, 1, 2, 3, 4].map(Temper::of)[3..], [Temper::Drifter, Temper::Shadow]);
    let mut compared = [0; 3];
    for cell in reed.junctions().iter().copied() {
        for heading in ways(reed.exits(cell)).map(opposite) {
            let pike = Pike { is_out: true, at: Swimmer::at(cell, heading), ..Pike::default() };
            // Two equally near, the fuller one in the higher slot.
            let target = reed.junctions()[usize::from(cell) * 7 % reed.junctions().len()];
            let target = Swimmer::at(target, ways(reed.exits(target)).next().expect("an exit"));
            let both = [prey(&reed, 2, target, 3), prey(&reed, 5, target, 9)];
            let hunt = Hunt { reed: &reed, prey: &both, geese: &[], frame: 0 };
            let distance = |way: Way, to: u16| reed.distance(reed.next(cell, way), to);
            let open = || {
                ways(reed.exits(cell))
                    .filter(|way| *way != opposite(heading) && reed.nest_at(reed.next(cell, *way)).is_none())
            };
            let nearest = |to: u16| open().min_by_key(|way| distance(*way, to));
            if open().count() < 2 {
                continue;
            }
            assert_eq!(Some(hunt.choose(0, &pike, &mut random)), nearest(target.cell));
            compared[0] += 1;
            let first = reed.ahead(target.cell, target.heading);
            let on = gosling::wish::turn(Wish::default(), (reed.exits(first.cell), first.heading, 0));
            let second = reed.ahead(first.cell, on.heading).cell;
            if second != cell {
                assert_eq!(Some(hunt.choose(1, &pike, &mut random)), nearest(second));
                compared[1] += 1;
            }
            let near = reed.distance(cell, target.cell) <= 8;
            let nest = if near { target.cell } else { reed.nests()[0] };
            assert_eq!(Some(hunt.choose(2, &pike, &mut random)), nearest(nest));
            compared[2] += u32::from(near);
            let drifted = hunt.choose(3, &pike, &mut random);
            assert!(open().any(|way| way == drifted));
        }
    }
    assert!(compared.iter().all(|count| *count > 20), "{compared:?}");
}

#[test]
fn drifter_turns_to_prey_in_sight() {
    let reed = Reed::new(5, Mode::Broods);
    let mut random = Prng::new(1);
    let cell = *reed.junctions().iter().find(|cell| reed.exits(**cell) == 0b1111).expect("a crossing");
    for way in [0, 1, 3] {
        let seen = [prey(&reed, 0, Swimmer { cell, heading: way, way: 5_000 }, 0)];
        let hunt = Hunt { reed: &reed, prey: &seen, geese: &[], frame: 0 };
        let pike = Pike { is_out: true, at: Swimmer::at(cell, 0), ..Pike::default() };
        (0..8).for_each(|_| assert_eq!(hunt.choose(3, &pike, &mut random), way));
    }
}

#[test]
fn safe_gosling_is_no_prey() {
    let (mut game, reed) = calm(Mode::Broods, 1);
    let at = straight(&reed, 3);
    place(&mut game, 0, at);
    game.chicks[0].safe = 10;
    put_pike(&mut game, 0, Swimmer { way: 600, ..at });
    idle(&mut game, 5, 1);
    assert!(game.chicks[0].is_swimming());
    assert_eq!(game.pikes[0].dash, 0, "a pike does not dash at it");
}

#[test]
fn feather_makes_goose_and_near_pikes_turn_back() {
    let (mut game, reed) = calm(Mode::Broods, 1);
    let at = straight(&reed, 3);
    let first = reed.next(at.cell, at.heading);
    game.feathers.list[0].cell = first;
    place(&mut game, 0, Swimmer { way: EDGE - 100, ..at });
    let there = Swimmer { cell: reed.next(first, at.heading), heading: opposite(at.heading), way: 100 };
    put_pike(&mut game, 0, there);
    idle(&mut game, 1, 1);
    assert_eq!(game.chicks[0].goose, GOOSE_FRAMES);
    assert!(seen(&game, Kind::Feather));
    idle(&mut game, 1, 1);
    assert_eq!(game.pikes[0].at.heading, at.heading, "it turned back");
    assert!(game.pikes[0].shy > 230);
    game.pikes[0].is_out = false;
    idle(&mut game, 237, 1);
    assert!(game.chicks[0].is_goose());
    idle(&mut game, 2, 1);
    assert!(!game.chicks[0].is_goose());
}

#[test]
fn goose_sends_pike_home_for_five_points() {
    let (mut game, reed) = calm(Mode::Broods, 1);
    let at = straight(&reed, 3);
    place(&mut game, 0, at);
    game.chicks[0].goose = 100;
    put_pike(&mut game, 0, Swimmer { way: 2_500, ..at });
    idle(&mut game, 1, 1);
    assert_eq!((game.pikes[0].is_out, game.pikes[0].timer), (false, DEN_FRAMES));
    assert_eq!((game.scores[0], game.chicks[0].banked, game.chicks[0].sent), (5, 5, 1));
    idle(&mut game, u32::from(DEN_FRAMES) - 1, 1);
    assert!(!game.pikes[0].is_out);
    idle(&mut game, 1, 1);
    assert!(game.pikes[0].is_out && reed.den().contains(&game.pikes[0].at.cell));
}

#[test]
fn goose_makes_rival_drop_everything_once() {
    let (mut game, reed) = calm(Mode::Broods, 2);
    let at = straight(&reed, 3);
    place(&mut game, 0, at);
    place(&mut game, 1, Swimmer { way: 1_500, ..at });
    (game.chicks[0].goose, game.chicks[1].load) = (100, 9);
    idle(&mut game, 1, 2);
    assert!(seen(&game, Kind::Scattered));
    let rival = game.chicks[1];
    assert_eq!((rival.load, rival.at.heading), (0, opposite(at.heading)));
    assert!(rival.is_dizzy() && rival.speed() == 320);
    assert!(game.crumbs.count() >= 7, "{}", game.crumbs.count());
    let again = (0..20).any(|_| {
        idle(&mut game, 1, 2);
        seen(&game, Kind::Scattered)
    });
    assert!(!again);
    // Its own brood is not scattered.
    game.chicks[1] = Chick { brood: 0, load: 5, dizzy: 0, ..rival };
    place(&mut game, 0, at);
    place(&mut game, 1, Swimmer { way: 1_000, ..at });
    idle(&mut game, 1, 2);
    assert!(game.chicks[1].load >= 5);
}

#[test]
fn two_geese_turn_each_other_back() {
    let (mut game, reed) = calm(Mode::Broods, 2);
    let at = straight(&reed, 3);
    place(&mut game, 0, at);
    place(&mut game, 1, reed.turned(Swimmer { way: 3_800, ..at }));
    (game.chicks[0].goose, game.chicks[1].goose) = (100, 100);
    idle(&mut game, 1, 2);
    assert!(seen(&game, Kind::Clash));
    assert_eq!([0, 1].map(|slot| game.chicks[slot].at.heading), [opposite(at.heading), at.heading]);
    idle(&mut game, 1, 2);
    assert!(!seen(&game, Kind::Clash), "they swim apart");
}

#[test]
fn crumbs_grow_again_but_not_beside_goslings() {
    let (mut game, reed) = calm(Mode::Broods, 1);
    let across = reed.tile_size().0 as i32;
    let mut grown = 0;
    for _ in 0..120 {
        place(&mut game, 0, straight(&reed, 3));
        let before = game.crumbs;
        idle(&mut game, 1, 1);
        let (x, y) = reed.place(game.chicks[0].at);
        for tile in reed.tiles().iter().filter(|tile| game.crumbs.has(**tile) && !before.has(**tile)) {
            let tile = i32::from(*tile);
            let (dx, dy) = ((tile % across - 1) * 4_096 - x, (tile / across - 1) * 4_096 - y);
            assert!(dx.abs() > 3 * 4_096 || dy.abs() > 3 * 4_096);
            grown += 1;
        }
    }
    assert!((6..=12).contains(&grown), "{grown} in four seconds");
}

#[test]
fn joiner_takes_bot_with_its_load() {
    let mut game = Gosling::new(Setup::default(), 5);
    idle(&mut game, 300, 0);
    let bots = game.chicks;
    let loads = |chicks: &[Chick]| chicks.iter().map(|chick| u32::from(chick.load)).sum::<u32>();
    assert!(loads(&bots) > 20);
    idle(&mut game, 1, 3);
    assert_eq!((game.persons(), game.swimmers()), (3, 12));
    for slot in 0..3 {
        let chick = game.chicks[slot];
        let taken = bots.iter().find(|bot| {
            bot.is_here()
                && bot.brood == chick.brood
                && (bot.at.cell == chick.at.cell || chick.at.way < 700)
                && bot.load.abs_diff(chick.load) <= 2
        });
        assert!(taken.is_some() && chick.safe >= 29 && chick.banked == 0, "slot {slot}");
    }
    let broods = [0, 1, 2].map(|slot| game.chicks[slot].brood);
    assert!(broods.contains(&0) && broods.contains(&1), "{broods:?}");
}

#[test]
fn joiner_without_bot_begins_in_smaller_brood() {
    let (mut game, reed) = calm(Mode::Broods, 2);
    idle(&mut game, 1, 3);
    assert_eq!((game.chicks[2].swim, game.chicks[2].at.cell), (Swim::Nest, reed.nests()[0]));
    idle(&mut game, 1, 4);
    assert_eq!(game.chicks[3].brood, 1);
}

#[test]
fn leaver_is_bot_at_once_and_return_keeps_count() {
    let (mut game, reed) = calm(Mode::Broods, 2);
    assert_eq!(bring(&mut game, &reed, 1, 1, 9), 9);
    idle(&mut game, 1, 1);
    assert_eq!((game.chicks[1].seat, game.chicks[1].banked), (Seat::Bot, 9));
    let asked = game.questions;
    for _ in 0..890 {
        game.chicks[0].swim = Swim::Away;
        game.chicks[0].timer = 9;
        idle(&mut game, 1, 1);
    }
    assert_eq!(game.questions, asked, "the bot is asked nothing");
    let brood = game.chicks[1].brood;
    idle(&mut game, 1, 2);
    assert_eq!((game.chicks[1].seat, game.chicks[1].banked, game.chicks[1].brood), (Seat::Person, 9, brood));
    idle(&mut game, 905, 1);
    idle(&mut game, 1, 2);
    assert_eq!(game.chicks[1].banked, 0, "later it is a new join");
}

#[test]
fn bots_keep_broods_equal_when_players_leave() {
    let mut game = Gosling::new(Setup::default(), 5);
    let play = |game: &mut Gosling, frames: u32, present: u64| {
        for _ in 0..frames {
            let frame = Frame::new(game.frame + 1);
            game.tick(&Inputs::confirmed(frame, &[Wish::default(); SEATS], SlotSet::from_bits(present)));
        }
    };
    play(&mut game, 200, 0xffff);
    assert_eq!((game.swimmers(), game.persons()), (16, 16));
    // All of one brood leave.
    let rest = (0..16).filter(|slot| game.chicks[*slot].brood == 0).fold(0, |set, slot| set | 1 << slot);
    play(&mut game, 3_000, rest);
    let size = |brood| game.chicks.iter().filter(|chick| chick.is_here() && chick.brood == brood).count();
    assert!(size(0).abs_diff(size(1)) <= 1, "{} and {}", size(0), size(1));
    assert!(game.swimmers() <= 16);
}

#[test]
fn rounds_follow_each_other_in_other_mazes() {
    let mut game =
        Gosling::new(Setup { round_frames: 120, strength: Some(Strength::Sharp), ..Setup::default() }, 5);
    let mut hurried = game.clone();
    let frames = |game: &mut Gosling, wish: Wish| {
        let seed = game.seed;
        (1..1_000).find(|_| {
            step(game, &[wish; SEATS], 2);
            game.seed != seed
        })
    };
    assert_eq!(frames(&mut game, Wish::default()), Some(120 + 240));
    let again = Wish { again: true, ..Wish::default() };
    let soon = frames(&mut hurried, again).expect("a round follows");
    assert!((210..=220).contains(&soon), "{soon}");
    assert_eq!((game.clock.round, game.scores, game.seed), (2, [0; 4], hurried.seed));
    assert_eq!(game.chicks.iter().filter(|chick| chick.is_here() && chick.load > 0).count(), 0);
    assert!(game.crumbs.count() as usize == game.reed().beds().len());
    assert_eq!(LOAD_MAX, 12);
}
