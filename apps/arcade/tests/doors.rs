//! Entering, leaving and re-entering rooms, over a simulated lobby and network.
//! Absent: browsers, real sockets.

use arcade::cabinets;
use arcade::{Arcade, Choice, Keep, Opening, Params, Screen};
use gaggle::{AnyRoom, Micros, Phase, RoomEvent};
use town::{Cluster, FRAME, SimPlatform, Subject};

#[path = "../../../core/gaggle/tests/stories/cluster/mod.rs"]
mod town;

/// Parameters with which a page is opened.
#[derive(Clone)]
struct Visit {
    game: &'static str,
    key: String,
    seat: Option<String>,
    query: String,
    return_to: Option<String>,
    follows: bool,
    /// Flaps all the time instead of standing still.
    flaps: bool,
    choice: Option<Choice>,
}

struct Guest {
    arcade: Arcade,
    flaps: bool,
    kept: Vec<Keep>,
}

impl Guest {
    fn words(&mut self) -> String {
        self.arcade.notice_words().unwrap_or_default()
    }

    fn is_over(&self) -> bool {
        self.arcade.cabinet().standing().over
    }

    fn stage(&self) -> Phase {
        self.arcade.cabinet().room().phase()
    }

    fn press(&mut self, code: &str) {
        self.arcade.key_down(code, "");
        self.arcade.key_up(code);
    }

    fn code(&self) -> Option<String> {
        let room = self.kept.iter().rev().find(|keep| keep.name == "room")?;
        room.value.clone()
    }
}

impl Subject for Guest {
    type Config = Visit;

    fn peer_config(house: usize) -> Visit {
        Visit {
            game: "gander",
            key: format!("the-key-of-guest-{house}"),
            seat: None,
            query: String::new(),
            return_to: None,
            follows: false,
            flaps: true,
            choice: Some(Choice::Play),
        }
    }

    fn open_peer(now: Micros, visit: Visit, platform: SimPlatform, seed: u64) -> Guest {
        let Visit { game, key, seat, query, return_to, follows, flaps, choice } = visit;
        let params = Params::parse(&query);
        let opening =
            Opening { seed, key: Some(key), seat, params, return_to, follows, ..Opening::default() };
        let entry = if game == "drake" { cabinets::drake() } else { cabinets::gander() };
        let mut arcade = Arcade::new(now, opening, &entry, platform);
        arcade.resize(640, 360, 1.0);
        if let Some(choice) = choice.filter(|_| arcade.screen() == Screen::Menu) {
            arcade.choose(choice, false);
        }
        Guest { arcade, flaps, kept: Vec::new() }
    }

    fn update_peer(&mut self, now: Micros, house: usize) -> Vec<RoomEvent> {
        let beat = now.get() / FRAME.get();
        if self.flaps && self.arcade.screen() == Screen::Flying && beat % (9 + house as u64) < 3 {
            self.arcade.key_down("Space", "");
        } else if self.flaps {
            self.arcade.key_up("Space");
        }
        self.arcade.frame(now, |_| {});
        self.kept.extend(std::iter::from_fn(|| self.arcade.next_keep()));
        // The arcade has already taken the events of its room.
        Vec::new()
    }

    fn any_room(&self) -> &dyn AnyRoom {
        self.arcade.cabinet().room()
    }

    fn describe(&mut self) -> String {
        format!("{:?} {:?} {:?}", self.arcade.screen(), self.words(), self.arcade.toast())
    }
}

fn room_code(town: &mut Cluster<Guest>, house: usize) -> String {
    town.room(house).code().expect("a room that was kept")
}

/// A code without a room, from the address or typed, leads back to the field for codes, which says
/// why.
#[test]
fn wrong_code_stays_at_field_and_says_why() {
    let mut town: Cluster<Guest> = Cluster::of(1);
    town.open_with(0, Visit { query: "room=BCDFGH".into(), ..Guest::peer_config(0) }).run_ms(1_000);
    for key in ["Enter", "Enter"] {
        let guest = town.room(0);
        let words = guest.words();
        assert_eq!((guest.arcade.screen(), guest.arcade.focus()), (Screen::Menu, Choice::Code), "{words}");
        assert!(words.starts_with("There is no such room. Room BCDFGH."), "{words}");
        assert!(words.contains("Enter: try again.") && !words.contains(": watch."), "{words}");
        guest.press(key);
        assert_eq!(guest.arcade.screen(), Screen::Flying, "it tries again");
        town.run_ms(1_000);
    }
    // O opens a new room at once, with its invitation.
    town.room(0).press("KeyO");
    town.run_ms(1_000);
    let invite = town.room(0).arcade.invite_words().unwrap_or_default();
    assert!(!invite.is_empty(), "{}", town.describe());
    town.room(0).press("Enter");
    town.run_until("it plays", 3_000, |town| town.is_together(0));
    assert_eq!(town.room(0).words(), "");
}

#[test]
fn full_room_offers_to_watch() {
    let mut town: Cluster<Guest> = Cluster::of(5);
    for house in 0..4 {
        town.open(house).run_until("it is in", 5_000, move |town| town.is_together(house));
    }
    let code = room_code(&mut town, 0);
    town.open_with(4, Visit { query: format!("room={code}"), ..Guest::peer_config(4) }).run_ms(1_000);
    let words = town.room(4).words();
    assert!(words.starts_with("No slot is free in this room.") && words.contains("Space: watch."), "{words}");
    town.room(4).press("Space");
    town.run_until("it watches", 5_000, |town| town.room(4).stage() == Phase::Spectating);
}

#[test]
fn letters_after_rejected_code_go_into_field() {
    let mut town: Cluster<Guest> = Cluster::of(1);
    town.open_with(0, Visit { query: "room=BCDFGH".into(), ..Guest::peer_config(0) }).run_ms(1_000);
    let arcade = &mut town.room(0).arcade;
    arcade.key_down("Backspace", "Backspace");
    assert_eq!((arcade.notice_words(), arcade.screen()), (None, Screen::Menu));
}

/// A page reloaded after its room has ended joins no other room.
#[test]
fn stale_room_of_reloaded_page_is_told_and_not_replaced() {
    let mut town: Cluster<Guest> = Cluster::of(2);
    town.open(0).run_until("it is in", 3_000, |town| town.is_together(0));
    let visit = Visit { return_to: Some("BCDFGH".into()), ..Guest::peer_config(1) };
    town.open_with(1, visit).run_ms(2_000);
    let guest = town.room(1);
    let words = guest.words();
    assert_eq!((guest.arcade.screen(), guest.arcade.focus()), (Screen::Menu, Choice::Code), "{words}");
    assert!(words.starts_with("There is no such room. Room BCDFGH. You played there before."), "{words}");
    assert_eq!(guest.code(), None, "it is not kept");
}

/// A code of another game switches to that game and joins its room.
#[test]
fn code_of_another_game_switches_cabinet() {
    let mut town: Cluster<Guest> = Cluster::of(2);
    town.open_with(0, Visit { game: "drake", ..Guest::peer_config(0) }).run_ms(1_000);
    let code = room_code(&mut town, 0);
    for (house, kind) in [(1, "room"), (1, "watch")] {
        let visit = Visit { query: format!("{kind}={code}"), ..Guest::peer_config(1) };
        town.open_with(house, visit).run_ms(1_000);
        let guest = town.room(house);
        assert_eq!(guest.arcade.take_wanted(), Some("drake"));
        let goto = guest.kept.iter().find(|keep| keep.name == "goto").and_then(|keep| keep.value.clone());
        assert_eq!(goto, Some(format!("{kind}={code}")));
        let toast = guest.arcade.toast().unwrap_or_default();
        assert!(!toast.contains("build"), "{toast}");
        town.crash(1).run_ms(500);
    }
}

/// Two pages for one slot: a page that succeeds another in the same tab gets the slot at once, a
/// duplicated tab is asked first.
#[test]
fn page_that_follows_its_own_tab_takes_over_slot() {
    for follows in [true, false] {
        let mut town: Cluster<Guest> = Cluster::of(2);
        let same =
            Visit { key: "one-key-for-both-pages".into(), seat: Some("tab".into()), ..Guest::peer_config(0) };
        town.open_with(0, same.clone()).run_ms(2_000);
        let code = room_code(&mut town, 0);
        town.open_with(1, Visit { return_to: Some(code.clone()), follows, ..same }).run_ms(2_000);
        let asked = town.room(1).words();
        assert_eq!(asked.contains("Another tab of yours"), !follows, "{asked}");
        assert_eq!(town.room(1).code(), follows.then_some(code), "{}", town.describe());
    }
}

/// A page kept by the browser after its player went elsewhere gives up its slot, and the next game
/// finds a room.
#[test]
fn closed_page_leaves_its_slot_to_next() {
    let mut town: Cluster<Guest> = Cluster::of(2);
    let same =
        Visit { key: "one-key-for-both-pages".into(), seat: Some("tab".into()), ..Guest::peer_config(0) };
    town.open_with(0, same.clone()).run_ms(2_000);
    town.room(0).arcade.close();
    town.run_ms(100);
    town.open_with(1, Visit { game: "drake", ..same }).run_ms(2_000);
    assert!(town.room(1).code().is_some(), "{}", town.describe());
    assert_eq!(town.room(1).words(), "");
}

#[test]
fn player_out_of_geese_is_told_and_offered_room() {
    let mut town: Cluster<Guest> = Cluster::of(2);
    let visit = |house, flaps| Visit { query: "lives=1".into(), flaps, ..Guest::peer_config(house) };
    town.open_with(0, visit(0, true)).run_until("it is in", 3_000, |town| town.is_together(0));
    town.open_with(1, visit(1, false)).run_until("it is in", 3_000, |town| town.is_together(1));
    let is_out = |town: &mut Cluster<Guest>, house: usize| town.room(house).arcade.cabinet().standing().out;
    town.run_until("one is out", 240_000, |town| is_out(town, 0) || is_out(town, 1));
    let out = usize::from(is_out(&mut town, 1));
    let words = town.room(out).words();
    assert!(words.starts_with("You are out of geese.") && words.contains("N: a new room"), "{words}");
    let arcade = &mut town.room(out).arcade;
    let over = |y: &i32| {
        arcade.pointer_move(1, 320, *y, false);
        arcade.points()
    };
    assert!((0..180).filter(over).count() > 20, "the pointer is a hand over both keys");
    // A reload changes nothing: the player is still out of geese.
    let code = room_code(&mut town, out);
    town.room(out).arcade.close();
    town.step();
    town.crash(out).run_ms(300);
    town.open_with(out, Visit { return_to: Some(code.clone()), ..visit(out, false) });
    town.run_until("it is back", 3_000, |town| town.is_together(out)).run_ms(1_000);
    assert_eq!((is_out(&mut town, out), town.room(out).words()), (true, words), "{}", town.describe());
    town.room(out).press("KeyN");
    town.run_until("a room of its own", 3_000, |town| town.is_together(out)).run_ms(500);
    assert_ne!(room_code(&mut town, out), code);
    assert_eq!((is_out(&mut town, out), town.room(out).words()), (false, String::new()));
}

/// The Back button in a running match asks first, alone or with others.
#[test]
fn way_back_leads_to_menu_and_running_match_asks() {
    let mut town: Cluster<Guest> = Cluster::of(2);
    town.open(0).run_ms(1_000);
    let arcade = &mut town.room(0).arcade;
    assert_eq!((arcade.go_back(), arcade.screen()), (false, Screen::Paused));
    assert_eq!((arcade.go_back(), arcade.screen()), (true, Screen::Menu));
    assert!(arcade.go_back(), "from the menu it leads out of the page");
    arcade.choose(Choice::Play, false);
    town.run_ms(1_000).open(1).run_until("both are in", 3_000, |town| town.is_together(1)).run_ms(500);
    let arcade = &mut town.room(0).arcade;
    assert_eq!((arcade.go_back(), arcade.screen()), (false, Screen::Paused));
    assert_eq!((arcade.go_back(), arcade.screen()), (true, Screen::Menu));
}

/// Browsers take the keyboard focus from a page before they hide it.
#[test]
fn page_hidden_after_it_lost_keyboard_plays_on_when_shown() {
    let mut town: Cluster<Guest> = Cluster::of(1);
    town.open(0).run_until("it is in", 3_000, |town| town.is_together(0));
    let arcade = &mut town.room(0).arcade;
    arcade.blur();
    assert_eq!(arcade.screen(), Screen::Paused);
    arcade.hide();
    town.run_ms(3_000);
    assert_eq!(town.room(0).stage(), Phase::Suspended);
    town.room(0).arcade.show();
    assert_eq!(town.room(0).arcade.screen(), Screen::Flying);
    town.run_until("it plays on", 3_000, |town| town.is_together(0));
    // A page paused by its player stays paused after being shown.
    let arcade = &mut town.room(0).arcade;
    arcade.key_down("Escape", "");
    arcade.blur();
    arcade.hide();
    arcade.show();
    assert_eq!(arcade.screen(), Screen::Paused);
}

/// The tab was in a room of one game and is sent to the address of another.
#[test]
fn game_in_address_wins_over_previous_room() {
    let mut town: Cluster<Guest> = Cluster::of(2);
    let same =
        Visit { key: "one-key-for-both-pages".into(), seat: Some("tab".into()), ..Guest::peer_config(0) };
    town.open_with(0, same.clone()).run_ms(2_000);
    let code = room_code(&mut town, 0);
    town.room(0).arcade.close();
    town.run_ms(100);
    let next = Visit { game: "drake", query: "game=drake".into(), return_to: Some(code.clone()), ..same };
    town.open_with(1, Visit { follows: true, choice: None, ..next }).run_ms(2_000);
    let guest = town.room(1);
    assert_eq!((guest.arcade.screen(), guest.arcade.take_wanted()), (Screen::Menu, None));
    guest.arcade.choose(Choice::Play, false);
    town.run_until("it is in", 3_000, |town| town.is_together(1));
    assert_ne!(room_code(&mut town, 1), code);
    assert_eq!(town.room(1).words(), "");
}

/// The lobby gets scores every 15 s and when a player leaves, so matches without an end count as
/// well.
#[test]
fn score_is_told_every_15_s_and_on_leaving() {
    let points = |town: &mut Cluster<Guest>| {
        let (score, _) = town.room(0).arcade.cabinet().own_score().expect("a score");
        score
    };
    let scored = |town: &mut Cluster<Guest>, more_than: i64| {
        town.run_until("it scores", 240_000, |town| points(town) > more_than || town.room(0).is_over());
        assert!(!town.room(0).is_over(), "{}", town.describe());
    };
    let recorded = |town: &Cluster<Guest>| -> Vec<i64> {
        town.records().iter().flat_map(|record| &record.scores).map(|score| score.score).collect()
    };

    // Leaving reports the points since the last report.
    let mut town: Cluster<Guest> = Cluster::of(1);
    town.open(0).run_until("it is in", 3_000, |town| town.is_together(0));
    scored(&mut town, 0);
    let left_with = points(&mut town);
    town.room(0).press("Escape");
    town.room(0).press("Escape");
    town.run_ms(1_000);
    assert_eq!(recorded(&town), [left_with], "{}", town.describe());

    // A crashed page has reported its score at most 15 s before.
    let mut town: Cluster<Guest> = Cluster::of(1);
    town.open(0).run_until("it is in", 3_000, |town| town.is_together(0));
    scored(&mut town, 0);
    let had = points(&mut town);
    town.run_ms(15_100);
    let has = points(&mut town);
    town.crash(0).run_until("the lobby gives it up", 90_000, |town| !town.records().is_empty());
    let [told] = recorded(&town)[..] else { panic!("{:?}", town.records()) };
    assert!((had..=has).contains(&told), "{told} of {had} to {has}");
}
