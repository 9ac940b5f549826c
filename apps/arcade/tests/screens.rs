//! One arcade without a browser and without a network: keys in, screens and sounds out.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::any::Any;

use arcade::cabinets;
use arcade::cabinets::gander::GanderCabinet;
use arcade::{Arcade, Choice, Keeping, Opening, Params, Screen};
use gaggle::kit::state_hash;
use gaggle::{Micros, NoNetwork};
use gaggle_scene::Heard;
use gander::{Gander, Phase};

fn open(query: &str) -> Arcade {
    let opening = Opening { seed: 1, params: Params::parse(query), ..Opening::default() };
    Arcade::new(Micros::ZERO, opening, &cabinets::gander(), NoNetwork::default())
}

/// The match on the screen.
fn game(arcade: &Arcade) -> &Gander {
    let cabinet: &dyn Any = arcade.cabinet();
    cabinet.downcast_ref::<GanderCabinet<NoNetwork>>().expect("gander is on").game()
}

fn run(arcade: &mut Arcade, from: u64, to: u64) -> Vec<Heard> {
    let mut heard = vec![];
    for at in (from..to).step_by(16) {
        arcade.frame(Micros::from_millis(at), |event| heard.push(event));
    }
    heard
}

fn tap(arcade: &mut Arcade, code: &str) {
    arcade.key_down(code, "");
    arcade.key_up(code);
}

#[test]
fn enter_takes_off_and_keys_fly_goose() {
    let mut arcade = open("");
    assert!(run(&mut arcade, 0, 500).is_empty(), "the attract mode is silent");
    tap(&mut arcade, "Enter");
    assert_eq!(arcade.screen(), Screen::Flying);
    let heard: usize = (0..20)
        .map(|nth| {
            let code = if nth % 2 == 0 { "Space" } else { "ArrowRight" };
            arcade.key_down(code, "");
            let heard = run(&mut arcade, 500 + nth * 200, 600 + nth * 200).len();
            arcade.key_up(code);
            heard + run(&mut arcade, 600 + nth * 200, 700 + nth * 200).len()
        })
        .sum();
    assert!(heard > 5, "only {heard} sounds");
    assert!(game(&arcade).players[0].riding());
}

#[test]
fn tap_between_two_frames_is_not_lost() {
    let mut arcade = open("seed=5");
    tap(&mut arcade, "Enter");
    run(&mut arcade, 0, 3_000);
    let feet = game(&arcade).players[0].mover.y;
    let mut lifted = false;
    for nth in 0..40 {
        tap(&mut arcade, "Space");
        run(&mut arcade, 3_000 + nth * 48, 3_048 + nth * 48);
        lifted |= game(&arcade).players[0].mover.y < feet;
    }
    assert!(lifted, "a tap shorter than a frame does not flap");
}

#[test]
fn page_that_loses_keyboard_pauses_and_resumes() {
    let mut arcade = open("");
    tap(&mut arcade, "Enter");
    run(&mut arcade, 0, 1_000);
    arcade.blur();
    run(&mut arcade, 1_000, 1_032);
    let frame = game(&arcade).frame;
    run(&mut arcade, 1_032, 3_000);
    assert_eq!((arcade.screen(), game(&arcade).frame), (Screen::Paused, frame));
    tap(&mut arcade, "Enter");
    run(&mut arcade, 3_000, 4_000);
    assert!(game(&arcade).frame > frame + 50);
    tap(&mut arcade, "Escape");
    tap(&mut arcade, "Escape");
    assert_eq!(arcade.screen(), Screen::Menu);
}

#[test]
fn hidden_page_goes_on_when_shown_again() {
    let mut arcade = open("");
    tap(&mut arcade, "Enter");
    run(&mut arcade, 0, 1_000);
    arcade.hide();
    assert_eq!(arcade.screen(), Screen::Paused);
    for at in (1_000..60_000).step_by(250) {
        arcade.update(Micros::from_millis(at));
    }
    let frame = game(&arcade).frame;
    arcade.show();
    run(&mut arcade, 60_000, 61_000);
    assert_eq!(arcade.screen(), Screen::Flying);
    let played = game(&arcade).frame - frame;
    assert!(
        (50..80).contains(&played),
        "{played} frames in a second: the hidden minute is not simulated later"
    );
}

#[test]
fn goose_is_flown_with_chosen_keys() {
    let mut arcade = open("?seed=7");
    tap(&mut arcade, "KeyH");
    tap(&mut arcade, "KeyK");
    assert!(arcade.help_words().starts_with("Your key for leaning left?"), "{}", arcade.help_words());
    // Some of these keys have another meaning outside of a match.
    for code in ["KeyF", "KeyM", "KeyC", "Digit1", "Digit2", "Digit3"] {
        assert!(arcade.help_words().starts_with("Your key for"), "{code}: {}", arcade.help_words());
        tap(&mut arcade, code);
    }
    assert!(!arcade.help_words().starts_with("Your key"), "all are chosen");
    let kept: Vec<_> = std::iter::from_fn(|| arcade.next_keep()).filter(|keep| keep.name == "keys").collect();
    assert_eq!(kept.len(), 6, "each is kept as soon as it is chosen");
    let keep = kept.into_iter().next_back().unwrap();
    // The next page starts with the stored keys.
    let opening = Opening { seed: 1, keys: keep.value, ..Opening::default() };
    let mut arcade = Arcade::new(Micros::ZERO, opening, &cabinets::gander(), NoNetwork::default());
    tap(&mut arcade, "Enter");
    run(&mut arcade, 0, 3_000);
    let (muted, before) = (arcade.muted(), game(&arcade).players[0].mover.x);
    arcade.key_down("KeyM", "m");
    run(&mut arcade, 3_000, 3_300);
    arcade.key_up("KeyM");
    assert_eq!(arcade.muted(), muted, "the key muted instead of steering");
    assert_ne!(game(&arcade).players[0].mover.x, before, "it leans to the right");
}

#[test]
fn help_returns_to_where_it_was_asked_for_and_has_pages() {
    let mut arcade = open("");
    for (from, back) in [(Screen::Menu, Screen::Menu), (Screen::Flying, Screen::Paused)] {
        if from == Screen::Flying {
            tap(&mut arcade, "Enter");
        }
        assert_eq!(arcade.screen(), from);
        tap(&mut arcade, "KeyH");
        assert_eq!(arcade.screen(), Screen::Help);
        for code in ["ArrowRight", "ArrowRight", "ArrowLeft"] {
            tap(&mut arcade, code);
            run(&mut arcade, 0, 32);
        }
        tap(&mut arcade, "Escape");
        assert_eq!(arcade.screen(), back);
    }
}

#[test]
fn any_size_of_screen_is_drawn_on_every_screen() {
    let mut arcade = open("");
    let mut at = 0;
    for keys in [&[][..], &["Enter"], &["F3", "F3"], &["Escape"], &["KeyH"]] {
        keys.iter().for_each(|code| tap(&mut arcade, code));
        for (width, height) in [(0, 0), (3, 900), (390, 844), (1280, 720), (2560, 200)] {
            arcade.resize(width, height, 1.0);
            run(&mut arcade, at, at + 17);
            at += 17;
            let (wide, tall) = arcade.size();
            assert_eq!(arcade.rgba().len(), (wide * tall * 4) as usize);
        }
    }
}

/// Hash of the game after six seconds in a window that is resized halfway.
fn six_seconds(windows: [(i32, i32); 2], turn: &str) -> u64 {
    let mut arcade = open("seed=7");
    tap(&mut arcade, "Enter");
    for (half, (width, height)) in (0..).zip(windows) {
        arcade.resize(width, height, 1.0);
        for at in (half * 3_000..half * 3_000 + 3_000).step_by(16) {
            match at % 200 {
                0..16 => tap(&mut arcade, "Space"),
                16..32 => _ = arcade.key_down(turn, ""),
                128..144 => arcade.key_up(turn),
                _ => {}
            }
            // Drawing is slow; one frame in 25 still draws every screen.
            if at % 25 == 0 {
                arcade.frame(Micros::from_millis(at), |_| {});
            } else {
                arcade.update(Micros::from_millis(at));
            }
        }
    }
    state_hash(game(&arcade))
}

#[test]
fn same_keys_lead_to_same_state_in_any_window() {
    let end = six_seconds([(640, 360); 2], "ArrowRight");
    for windows in [[(320, 200), (1_920, 1_080)], [(390, 844), (1_900, 300)]] {
        assert_eq!(six_seconds(windows, "ArrowRight"), end, "{windows:?}");
    }
    assert_ne!(six_seconds([(640, 360); 2], "ArrowLeft"), end, "other keys lead elsewhere");
}

#[test]
fn menu_fits_every_window() {
    let mut arcade = open("");
    let mut at = 0;
    for width in (160..2_400).step_by(131) {
        for height in (120..1_500).step_by(89) {
            arcade.resize(width, height, 1.0);
            run(&mut arcade, at, at + 1);
            at += 1;
        }
    }
    assert_eq!(arcade.screen(), Screen::Menu);
}

#[test]
fn match_ends_with_scores_and_another_follows() {
    let mut arcade = open("seed=2");
    tap(&mut arcade, "Enter");
    let mut at = 0;
    // Without keys every goose is lost in the end.
    while game(&arcade).wave.phase != Phase::Over {
        arcade.update(Micros::from_millis(at + 16));
        at += 16;
        if at % 1_024 == 0 {
            tap(&mut arcade, "Space");
        }
        assert!(at < 1_800_000, "half an hour without an end");
    }
    // Keys are ignored for a while: a player still flapping has not read the scores.
    for nth in 0..20 {
        tap(&mut arcade, "Space");
        run(&mut arcade, at + nth * 200, at + nth * 200 + 200);
    }
    assert_eq!(game(&arcade).wave.phase, Phase::Over, "no key asked for another match");
    tap(&mut arcade, "KeyS");
    let replay = arcade.take_download().expect("a match can be saved").bytes;
    assert!(replay.len() > 100);
    run(&mut arcade, at + 4_000, at + 4_032);
    tap(&mut arcade, "Enter");
    run(&mut arcade, at + 4_032, at + 5_000);
    assert_ne!(game(&arcade).wave.phase, Phase::Over, "Enter flies again");

    // The saved replay opens and plays from a given frame.
    arcade.open_replay(replay.clone());
    assert_eq!(arcade.screen(), Screen::Replay);
    let told = arcade.toast().unwrap_or_default();
    assert!(!told.contains("damaged"), "a saved file is whole: {told}");
    run(&mut arcade, at + 5_000, at + 6_000);
    let (frame, last) = arcade.replay_position().unwrap();
    assert!(frame > 40 && last > frame, "{frame} of {last}");
    // The bar is dragged with the mouse beyond its end. A link names the frame shown.
    let (width, height) = arcade.size();
    let (middle, y) = (width as i32 / 2, height as i32 - 30);
    arcade.pointer_down(1, middle, y, false);
    let dragged = [middle + 40, middle + 80, 5_000].map(|x| {
        arcade.pointer_move(1, x, y, false);
        arcade.replay_position().unwrap().0
    });
    assert!(
        dragged[0] < dragged[1] && dragged[1] < dragged[2] && dragged[2] + 1 >= last,
        "{dragged:?} of {last}"
    );
    arcade.pointer_up(1);
    arcade.pointer_move(1, middle, y, false);
    assert_eq!(arcade.replay_position().unwrap().0, dragged[2], "no finger holds it any more");
    tap(&mut arcade, "KeyL");
    assert_eq!(arcade.take_copy(), Some(format!("frame={}", dragged[2])));
    tap(&mut arcade, "KeyO");
    assert!(arcade.take_wants_file() && !arcade.take_wants_file(), "another file is asked for once");
    tap(&mut arcade, "Escape");
    assert_eq!(arcade.screen(), Screen::Menu);
    arcade.open_replay(replay[..10].to_vec());
    assert_eq!(arcade.screen(), Screen::Menu);
    run(&mut arcade, at + 6_000, at + 6_100);
    assert!(arcade.toast().is_some(), "a bad file is told of in words");
}

#[test]
fn page_without_server_says_so_and_plays() {
    let mut arcade = open("");
    run(&mut arcade, 0, 300);
    assert_eq!(arcade.toast(), None, "the menu says by itself how the lobby is");
    tap(&mut arcade, "Enter");
    run(&mut arcade, 300, 1_300);
    let toast = arcade.toast().unwrap_or_default().to_string();
    assert!(toast.contains("lobby"), "{toast:?}");
    assert!(game(&arcade).frame > 50);
}

#[test]
fn absurd_parameters_in_address_are_answered() {
    let mut arcade = open("latency=never&bots=900&room=1");
    run(&mut arcade, 0, 100);
    assert!(arcade.toast().unwrap().contains("makes no sense"));
    assert_eq!(arcade.screen(), Screen::Menu);
}

#[test]
fn bots_play_along_when_asked_for() {
    let mut arcade = open("bots=3");
    tap(&mut arcade, "Enter");
    run(&mut arcade, 0, 20_000);
    let game = game(&arcade);
    assert!(game.players.iter().all(gander::Player::present));
    assert!(game.players[1..].iter().any(|player| player.score > 0));
    assert_eq!(arcade.own(), [true; 4], "they sit at this machine");
}

#[test]
fn two_at_one_keyboard_have_one_goose_each() {
    let mut arcade = open("");
    arcade.choose(Choice::PlayTwo, false);
    run(&mut arcade, 0, 3_000);
    assert_eq!(arcade.own(), [true, true, false, false]);
    // Letters steer the first player, arrows the second.
    for (code, mover) in [("KeyD", 0), ("ArrowRight", 1)] {
        let before = [0, 1].map(|player| game(&arcade).players[player].mover.x);
        arcade.key_down(code, "");
        run(&mut arcade, 3_000 + 1_000 * mover as u64, 3_300 + 1_000 * mover as u64);
        arcade.key_up(code);
        let after = [0, 1].map(|player| game(&arcade).players[player].mover.x);
        assert_ne!(after[mover], before[mover], "{code} leans player {mover}");
        assert_eq!(after[1 - mover], before[1 - mover], "{code} leaves the other alone");
        run(&mut arcade, 3_300 + 1_000 * mover as u64, 4_000 + 1_000 * mover as u64);
    }
}

#[test]
fn name_is_typed_and_kept() {
    let mut arcade = open("");
    let arrows = ["ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"];
    let found = arrows.into_iter().flat_map(|arrow| [arrow; 8]).any(|arrow| {
        tap(&mut arcade, arrow);
        arcade.focus() == Choice::Name
    });
    assert!(found, "the name is reachable");
    while !arcade.name().is_empty() {
        assert!(arcade.key_down("Backspace", "Backspace"));
        arcade.key_up("Backspace");
    }
    for (code, text) in [("KeyM", "M"), ("KeyA", "a"), ("KeyH", "h")] {
        assert!(arcade.key_down(code, text));
        arcade.key_up(code);
    }
    assert_eq!((arcade.name(), arcade.muted(), arcade.screen()), ("Mah", false, Screen::Menu));
    arcade.choose(Choice::Play, false);
    let kept: Vec<_> = std::iter::from_fn(|| arcade.next_keep()).collect();
    assert!(kept.iter().any(|keep| keep.name == "name"
        && keep.value.as_deref() == Some("Mah")
        && keep.keeping == Keeping::Lasting));
}

#[test]
fn link_that_cannot_be_copied_is_shown_for_long() {
    let mut arcade = open("");
    tap(&mut arcade, "Enter");
    run(&mut arcade, 0, 100);
    let link = "http://192.168.178.23:8080/?room=BCDFGH";
    arcade.copied(link, false);
    run(&mut arcade, 100, 15_000);
    assert_eq!(arcade.toast(), Some("No clipboard here. The link: 192.168.178.23:8080/?room=BCDFGH"));
    run(&mut arcade, 15_000, 40_000);
    arcade.copied(link, true);
    run(&mut arcade, 40_000, 40_100);
    assert_eq!(arcade.toast(), Some("Link copied. Send it to a friend."));
}

#[test]
fn code_or_link_is_pasted_on_any_screen() {
    let mut arcade = open("");
    arcade.paste(" http://127.0.0.1:8080/?game=gander&room=bcdfgh\n");
    assert_eq!(arcade.focus(), Choice::Code);
    assert!(arcade.menu_words().contains("B C D F G H"), "{}", arcade.menu_words());
    tap(&mut arcade, "Enter");
    assert_eq!(arcade.screen(), Screen::Flying);
    for told in
        ["Come!\nroom=QRSTVW", "http://x/?game=drake&amp;room=QRSTVW", "(\"room=qrstvw\")", "x#room=QRSTVW&a"]
    {
        let mut arcade = open("");
        arcade.paste(told);
        assert!(arcade.menu_words().contains("Q R S T V W"), "{told}: {}", arcade.menu_words());
    }
    let mut arcade = open("");
    arcade.paste("JKLMNP");
    assert!(arcade.menu_words().contains("J K L M N P"), "{}", arcade.menu_words());
    arcade.paste("no code at all");
    assert!(arcade.menu_words().contains("J K L M N P"), "{}", arcade.menu_words());
}

#[test]
fn match_saved_midway_plays_from_frame_of_link() {
    let mut arcade = open("");
    tap(&mut arcade, "Enter");
    run(&mut arcade, 0, 8_000);
    tap(&mut arcade, "KeyS");
    assert!(arcade.take_download().is_none(), "in flight it is a key like any other");
    tap(&mut arcade, "Escape");
    tap(&mut arcade, "KeyS");
    let saved = arcade.take_download().expect("a file").bytes;

    let mut viewer = open("frame=120");
    run(&mut viewer, 0, 100);
    assert_eq!(viewer.toast(), Some("Now drop the replay here."));
    viewer.open_replay(saved.clone());
    assert_eq!(viewer.replay_position().map(|(frame, _)| frame), Some(120));
    viewer.open_replay(saved);
    assert_eq!(viewer.replay_position().map(|(frame, _)| frame), Some(0), "the link was to one replay");
}

#[test]
fn match_news_stay_in_match_and_volume_is_told_without_button() {
    let mut arcade = open("");
    run(&mut arcade, 0, 100);
    tap(&mut arcade, "Enter");
    run(&mut arcade, 100, 1_000);
    assert_eq!(arcade.toast(), Some("The lobby is out. You fly alone for now."));
    run(&mut arcade, 1_000, 9_000);
    tap(&mut arcade, "KeyM");
    run(&mut arcade, 9_000, 9_100);
    assert_eq!((arcade.toast(), arcade.muted()), (Some("Sound off."), true));
    tap(&mut arcade, "Escape");
    tap(&mut arcade, "Escape");
    assert_eq!((arcade.screen(), arcade.toast()), (Screen::Menu, None));
}

/// Moves the focus of the menu to the name or the code.
fn focus_on(arcade: &mut Arcade, choice: Choice) {
    for _ in 0..40 {
        if arcade.focus() == choice {
            return;
        }
        tap(arcade, "Tab");
    }
    panic!("{choice:?} is not reached by Tab");
}

#[test]
fn prompt_text_replaces_typed_text() {
    let mut arcade = open("");
    focus_on(&mut arcade, Choice::Name);
    for (text, name) in [("Wren", "Wren"), ("", ""), ("Ottilie\nof Sedge", "Ottilieof Sedge")] {
        arcade.enter_text(text);
        assert_eq!(arcade.name(), name);
    }
    let kept: Vec<_> = std::iter::from_fn(|| arcade.next_keep()).filter_map(|keep| keep.value).collect();
    assert_eq!(kept, ["Wren", "Ottilieof Sedge"], "a name is kept at once");
    focus_on(&mut arcade, Choice::Code);
    arcade.enter_text("bcd");
    assert!(arcade.menu_words().contains("Code B C D, 3 to go"), "{}", arcade.menu_words());
    arcade.enter_text("QRSTVW");
    assert_eq!(arcade.screen(), Screen::Flying, "six letters are enough");
}

#[test]
fn tab_moves_focus_in_menu_and_leaves_at_its_end() {
    let mut arcade = open("");
    assert!(arcade.key_down("Tab", "Tab"));
    arcade.key_up("Tab");
    assert_eq!(arcade.focus(), Choice::Mode);
    arcade.key_down("ShiftLeft", "Shift");
    assert!(arcade.key_down("Tab", "Tab"));
    arcade.key_up("Tab");
    assert_eq!(arcade.focus(), Choice::Play);
    assert!(!arcade.key_down("Tab", "Tab"), "before the first one the browser has it");
    arcade.key_up("Tab");
    arcade.key_up("ShiftLeft");
    tap(&mut arcade, "Enter");
    assert!(!arcade.key_down("Tab", "Tab"), "a match has no use for it");
}

#[test]
fn mouse_is_hand_over_clickable_places() {
    let mut arcade = open("");
    arcade.resize(1_280, 720, 1.0);
    run(&mut arcade, 0, 32);
    arcade.pointer_move(1, 120, 640, false);
    assert!(arcade.points(), "over Play");
    arcade.pointer_move(1, 640, 30, false);
    assert!(!arcade.points(), "over the sky");
    // The cabinet of the running game.
    arcade.pointer_move(1, 120, 400, false);
    assert!(arcade.points());
    arcade.pointer_down(1, 120, 400, false);
    assert_eq!(arcade.screen(), Screen::Flying);
    arcade.pointer_move(1, 120, 400, false);
    assert!(!arcade.points(), "a match answers no click");
}

#[test]
fn help_page_reads_own_text_and_no_keys_on_touch() {
    let games = [cabinets::gander(), cabinets::drake(), cabinets::millpond()];
    for entry in games {
        for touch in [false, true] {
            let opening = Opening { touch, ..Opening::default() };
            let mut arcade = Arcade::new(Micros::ZERO, opening, &entry, NoNetwork::default());
            assert!(arcade.label().starts_with(entry.about.name), "{}", arcade.label());
            assert_eq!(arcade.label().contains("Enter"), !touch);
            arcade.choose(Choice::Help, touch);
            let pages = entry.about.help_pages + usize::from(!touch);
            let mut read = vec![];
            for page in 1..=pages {
                let words = arcade.help_words();
                assert!(words.ends_with(&format!("Page {page} of {pages}.")), "{words}");
                if page <= entry.about.help_pages {
                    let (title, line) = (entry.about.help)(page - 1);
                    assert!(words.starts_with(&format!("{title}. {line}")), "{words}");
                }
                assert!(!read.contains(&words));
                read.push(words);
                let (width, height) = arcade.size();
                arcade.pointer_down(1, width as i32 - 4, height as i32 / 2, touch);
                arcade.pointer_up(1);
            }
            assert!(arcade.help_words().ends_with(&format!("Page 1 of {pages}.")), "round and round");
        }
    }
}

#[test]
fn late_match_news_are_not_shown_in_menu() {
    let mut arcade = open("");
    tap(&mut arcade, "Enter");
    run(&mut arcade, 0, 1_000);
    assert!(arcade.toast().is_some());
    tap(&mut arcade, "Escape");
    tap(&mut arcade, "Escape");
    assert_eq!((arcade.screen(), arcade.toast()), (Screen::Menu, None));
    run(&mut arcade, 1_000, 9_000);
    assert_eq!(arcade.toast(), None);
}

#[test]
fn toast_is_stale_after_its_time_on_any_screen() {
    let mut arcade = open("");
    tap(&mut arcade, "Enter");
    run(&mut arcade, 0, 100);
    tap(&mut arcade, "KeyM");
    assert_eq!(arcade.toast(), Some("Sound off."), "the newest first");
    // How to play shows no news: they do not wait for its end.
    tap(&mut arcade, "KeyH");
    run(&mut arcade, 100, 9_000);
    assert_eq!((arcade.screen(), arcade.toast()), (Screen::Help, None));
}
