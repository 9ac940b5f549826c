//! Tests of the menu on screens of every kind. Absent: pixels.

use super::*;
use crate::cabinets::{NAMES, drake, gander, millpond};
use crate::pen::tests::{assert_inside, views};

fn rooms(count: usize) -> Vec<RoomLine> {
    let line = |nth: usize| RoomLine {
        code: "BCDFGHJKLMNPQRST"[nth..nth + 6].to_string(),
        mode: "versus, wave 12".to_string(),
        players: nth as u8,
        seats: 4,
        watchers: nth as u8 * 3,
        open: nth % 3 != 2,
    };
    (0..count).map(line).collect()
}

/// All entries that arrow keys reach from the beginning.
fn reached(menu: &mut Menu) -> Vec<Choice> {
    let mut seen = vec![];
    let mut open = vec![Choice::Play];
    while let Some(choice) = open.pop() {
        if seen.contains(&choice) {
            continue;
        }
        seen.push(choice);
        for key in [Key::Left, Key::Right, Key::Up, Key::Down] {
            menu.focus = choice;
            menu.scroll();
            menu.press(key);
            open.push(menu.focus());
        }
    }
    seen
}

/// A menu with one game only.
fn menu(view: View) -> Menu {
    Menu::new(view, &gander::ABOUT, &NAMES[..1])
}

#[test]
fn feature_game_lacks_cannot_be_chosen() {
    for view in views() {
        let mut menu = Menu::new(view, &millpond::ABOUT, &NAMES);
        let layout = Layout::of(view, true);
        let hidden = [Choice::PlayTwo, Choice::Replay];
        assert!(reached(&mut menu).iter().all(|choice| !hidden.contains(choice)));
        for place in [layout.play_two, layout.replay] {
            let (x, y) = place.middle();
            let chosen = menu.click(x * view.word_scale, y * view.word_scale);
            assert!(chosen.is_none_or(|choice| !hidden.contains(&choice)), "{chosen:?}");
        }
        menu.game = &gander::ABOUT;
        menu.arrange();
        assert!(hidden.iter().all(|choice| reached(&mut menu).contains(choice)));
    }
}

#[test]
fn page_that_cannot_fill_screen_offers_no_button() {
    for view in views() {
        let mut menu = menu(view);
        menu.set_can_fill(false);
        assert!(!reached(&mut menu).contains(&Choice::Fill));
        let taken = Layout::of(view, true);
        let (x, y) = taken.fill.middle();
        let chosen = menu.click(x * view.word_scale, y * view.word_scale);
        assert!(taken.fill.wide == 0 || chosen == Some(Choice::Board), "{chosen:?}");
    }
}

#[test]
fn every_place_is_reached_by_arrows_alone() {
    for view in views() {
        for count in [0, 1, 3, 9] {
            let mut menu = Menu::new(view, &gander::ABOUT, &NAMES);
            menu.set_rooms(&rooms(count));
            let seen = reached(&mut menu);
            let rooms = if menu.layout.rooms_seen == 0 { 0 } else { count };
            let (wide, tall) = (view.word_width(), view.word_height());
            let cabinets = menu.row.places.len();
            // The smallest screens have no room for two entries.
            let few = if wide < 200 && wide > tall { 10 } else { 12 };
            assert_eq!(seen.len(), few + cabinets + rooms, "{wide}×{tall} with {count} rooms: {seen:?}");
        }
    }
}

#[test]
fn every_button_is_on_screen_without_overlap_and_clickable() {
    for view in views() {
        let mut menu = menu(view);
        menu.set_rooms(&rooms(3));
        menu.type_text("never taken while Play is in focus");
        menu.focus = Choice::Code;
        menu.type_text("bcd fgh");
        let places = menu.places();
        for (nth, (choice, place)) in places.iter().enumerate() {
            assert!(place.wide >= 20 && place.tall >= 8, "{choice:?} is {place:?}");
            assert!(place.within(view) == *place, "{choice:?} lies outside");
            for (other, apart) in &places[..nth] {
                let meet = place.x < apart.right() && apart.x < place.right();
                let meet = meet && place.y < apart.bottom() && apart.y < place.bottom();
                assert!(!meet, "{choice:?} {place:?} over {other:?} {apart:?}");
            }
            let (x, y) = (place.x + 3, place.y + place.tall / 2);
            let expected = if *choice == Choice::Room(2) { Choice::Watch(2) } else { *choice };
            assert_eq!(menu.click(x * view.word_scale, y * view.word_scale), Some(expected));
        }
    }
}

#[test]
fn nothing_is_drawn_outside_screen() {
    let long = "a name that goes on and on until no one listens any more";
    let absurd = RoomLine {
        code: "W".repeat(500),
        mode: long.repeat(20),
        players: 255,
        seats: 255,
        watchers: 255,
        open: false,
    };
    for view in views() {
        for online in [None, Some(false), Some(true)] {
            for count in [0, 1, 9] {
                let mut lines = rooms(count);
                lines.extend((count > 0).then(|| absurd.clone()));
                let mut menu = menu(view);
                menu.set_rooms(&lines);
                let facts = MenuFacts {
                    name: long,
                    best: Some(u32::MAX),
                    rooms: &lines,
                    online,
                    volume: Volume::read("0"),
                };
                for (choice, _) in menu.places() {
                    menu.focus = choice;
                    menu.type_text(long);
                    let mut scene = Scene::default();
                    menu.draw(&mut scene, &facts);
                    assert!(scene.words.len() > 20);
                    assert_inside(&scene, menu.album(), view, "menu");
                }
            }
        }
    }
}

#[test]
fn screens_of_any_size_have_menu() {
    for (width, height) in [(1, 1), (3, 900), (900, 3), (64, 64), (200, 2000), (5000, 200)] {
        let mut menu = menu(View::fit(width, height, 384, 216));
        menu.set_rooms(&rooms(9));
        let mut scene = Scene::default();
        menu.draw(&mut scene, &MenuFacts { rooms: &rooms(9), ..MenuFacts::default() });
        let words: Vec<&str> = scene
            .words
            .iter()
            .filter_map(|item| match item {
                gaggle_scene::Item::Text { words, .. } => Some(scene.text_of(*words)),
                _ => None,
            })
            .collect();
        let is_readable = width >= 64 && height >= 64;
        assert!(!is_readable || words.contains(&"PLAY"), "{width}×{height}: {words:?}");
        for key in [Key::Down, Key::Right, Key::Up, Key::Left] {
            menu.press(key);
            let (focus, places) = (menu.focus(), menu.places());
            assert!(places.iter().any(|(choice, _)| *choice == focus), "{focus:?} on {width}×{height}");
            let is_outside = |place: &Rect| place.within(menu.view) != *place;
            let outside = places.iter().find(|(_, place)| is_readable && is_outside(place));
            assert!(outside.is_none(), "{outside:?} on {width}×{height}");
        }
        // A tap at any place chooses only entries that the menu offers.
        if let Some(choice) = menu.click(width / 2, height / 2) {
            assert!(menu.offers(choice) && !matches!(choice, Choice::Cabinet(_)), "{choice:?}");
        }
    }
}

#[test]
fn touch_screen_offers_no_two_players_at_one_keyboard() {
    for view in views() {
        let mut menu = menu(view);
        menu.focus = Choice::PlayTwo;
        menu.set_touch(true);
        assert_eq!(menu.focus(), Choice::Play);
        assert!(!reached(&mut menu).contains(&Choice::PlayTwo));
        let facts = MenuFacts::default();
        let written = |menu: &Menu| {
            let mut scene = Scene::default();
            menu.draw(&mut scene, &facts);
            assert_inside(&scene, menu.album(), view, "menu for fingers");
            let texts = scene.words.iter().filter_map(|item| match item {
                gaggle_scene::Item::Text { words, .. } => Some(scene.text_of(*words).to_string()),
                _ => None,
            });
            texts.collect::<Vec<_>>()
        };
        let keyboard = |text: &String| text.starts_with("Two") || text.contains("Enter");
        assert!(!written(&menu).iter().any(keyboard), "{:?}", written(&menu));
        for y in (0..view.height).step_by(view.word_scale as usize * 3) {
            for x in (0..view.width).step_by(view.word_scale as usize * 7) {
                assert_ne!(menu.click(x, y), Some(Choice::PlayTwo));
            }
        }
        menu.set_touch(false);
        assert!(written(&menu).iter().any(keyboard), "with a keyboard it is offered");
    }
}

#[test]
fn clicked_mode_is_chosen() {
    for view in views() {
        let mut menu = menu(view);
        let place = menu.layout.mode;
        let y = place.middle().1 * view.word_scale;
        for (mode, x) in [(1, place.right() - 4), (1, place.right() - 4), (0, place.x + 4), (0, place.x + 4)]
        {
            assert_eq!(menu.click(x * view.word_scale, y), Some(Choice::Mode));
            assert_eq!(menu.mode, mode);
        }
        menu.press(Key::Enter);
        assert_eq!(menu.mode, 1, "Enter takes the next");
    }
}

#[test]
fn running_cabinet_starts_and_is_framed_under_mouse() {
    let mut seen = 0;
    for view in views() {
        let mut menu = Menu::new(view, &drake::ABOUT, &NAMES);
        let Some(lit) = menu.row.lit else { continue };
        let (x, y) = lit.middle();
        let (x, y) = (x * view.word_scale, y * view.word_scale);
        assert!(menu.hover(x, y) && menu.hovered == Some(lit));
        assert_eq!((menu.click(x, y), menu.focus()), (Some(Choice::Play), Choice::Play));
        seen += 1;
    }
    assert!(seen >= 6, "only {seen} screens have a cabinet");
}

#[test]
fn hover_answers_exactly_where_click_does() {
    for view in views() {
        let mut menu = Menu::new(view, &gander::ABOUT, &NAMES);
        menu.set_rooms(&rooms(9));
        let (mut hot, mut cold) = (0, 0);
        for y in (0..view.height).step_by(view.word_scale as usize * 5) {
            for x in (0..view.width).step_by(view.word_scale as usize * 11) {
                let answers = menu.hover(x, y);
                let before = (menu.first, menu.code().len());
                menu.focus = Choice::Sound;
                let chosen = menu.click(x, y);
                let changed = chosen.is_some() || menu.focus() != Choice::Sound || menu.first != before.0;
                assert_eq!(answers, changed, "{x}, {y} of {}×{}: {chosen:?}", view.width, view.height);
                (hot, cold) = (hot + i32::from(answers), cold + i32::from(!answers));
            }
        }
        assert!(hot > 0 && cold > 0, "{hot} {cold}");
    }
}

#[test]
fn tab_goes_through_everything_once_and_leaves() {
    for view in views() {
        let mut menu = Menu::new(view, &gander::ABOUT, &NAMES);
        menu.set_rooms(&rooms(9));
        let mut seen = vec![menu.focus()];
        while menu.tab(false) {
            seen.push(menu.focus());
            assert!(menu.places().iter().any(|(choice, _)| *choice == menu.focus()), "it is on the screen");
        }
        assert_eq!((seen[0], menu.focus()), (Choice::Play, Choice::Play));
        let all = reached(&mut menu);
        assert_eq!(seen.len(), all.len(), "{seen:?}");
        assert!(all.iter().all(|choice| seen.contains(choice)));
        menu.focus = Choice::Mode;
        assert!(menu.tab(true) && menu.focus() == Choice::Play && !menu.tab(true));
    }
}

#[test]
fn cabinet_is_switched_on_by_arrows_or_click() {
    for view in views() {
        let mut menu = Menu::new(view, &gander::ABOUT, &NAMES);
        let off = menu.places().into_iter().find(|(choice, _)| *choice == Choice::Cabinet(1));
        let Some((_, place)) = off else {
            assert!(menu.layout.cabinets.is_none() && menu.layout.strip.is_none(), "there is room");
            continue;
        };
        let (x, y) = place.middle();
        let chosen = menu.click(x * view.word_scale, y * view.word_scale);
        assert_eq!(chosen, Some(Choice::Cabinet(1)));
        let mut menu = Menu::new(view, &drake::ABOUT, &NAMES);
        // Where there is room for one cabinet only, each leads to the next.
        let is_other = |choice: &Choice| matches!(choice, Choice::Cabinet(0 | 2));
        assert!(reached(&mut menu).iter().any(is_other), "arrows lead away from drake");
        let mut scene = Scene::default();
        menu.draw(&mut scene, &MenuFacts::default());
        assert_inside(&scene, menu.album(), view, "menu with all games");
    }
}

#[test]
fn code_of_six_letters_and_enter_joins() {
    let mut menu = menu(views()[0]);
    assert!(!menu.type_text("B"), "no prompt asked for letters");
    menu.focus = Choice::Code;
    assert!(menu.wants_text());
    for letter in ["b", "A", "1", "c", " ", "d", "f", "g"] {
        assert!(menu.type_text(letter));
        assert_eq!(menu.press(Key::Enter), None, "{}", menu.code());
    }
    assert!(menu.type_text("hjk"));
    assert_eq!(menu.code(), "BCDFGH");
    assert_eq!(menu.press(Key::Enter), Some(Choice::Code));
    assert!(menu.erase());
    assert_eq!(menu.press(Key::Enter), None);
    assert_eq!(menu.code(), "BCDFG");
}

#[test]
fn name_takes_any_letter_up_to_its_length() {
    let mut menu = menu(views()[0]);
    menu.set_name("Wren\u{7}");
    menu.focus = Choice::Name;
    assert!(menu.type_text(" 雁\n"));
    assert_eq!(menu.name(), "Wren 雁");
    assert!(menu.erase());
    menu.type_text(&"x".repeat(1_000));
    assert_eq!(menu.name().chars().count(), NAME_LENGTH);
    assert_eq!((menu.press(Key::Enter), menu.focus()), (Some(Choice::Name), Choice::Play));
}

#[test]
fn focus_stays_with_its_room_when_others_vanish() {
    let mut menu = menu(views()[0]);
    let mut lines = rooms(9);
    menu.set_rooms(&lines);
    menu.focus = Choice::Room(7);
    menu.scroll();
    assert!(menu.first > 0 && menu.places().iter().any(|(choice, _)| *choice == menu.focus));
    lines.drain(0..4);
    menu.set_rooms(&lines);
    assert_eq!(menu.press(Key::Enter), Some(Choice::Room(3)));
    assert_eq!(menu.watch(), Some(Choice::Watch(3)));
    menu.set_rooms(&[]);
    assert_eq!((menu.focus(), menu.watch()), (Choice::Play, None));
}

#[test]
fn all_rooms_can_be_turned_to_with_one_finger() {
    for view in views() {
        let mut menu = menu(view);
        menu.set_rooms(&rooms(9));
        if menu.layout.rooms_seen == 0 {
            continue;
        }
        let pager = menu.layout.pager();
        let mut seen = vec![];
        for _ in 0..9 {
            seen.extend((0..menu.seen()).map(|row| menu.first + row));
            let (x, y) = (pager.x + pager.wide / 2, pager.y + pager.tall / 2);
            assert_eq!(menu.click(x * view.word_scale, y * view.word_scale), None);
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, (0..9).collect::<Vec<_>>());
    }
}
