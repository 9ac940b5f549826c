//! Matches of several arcades, each in a window of its own, over a simulated lobby and network.
//! Absent: browsers, real sockets.

use std::any::Any;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use arcade::cabinet::EngineReport;
use arcade::cabinets;
use arcade::cabinets::gander::GanderCabinet;
use arcade::{Arcade, Choice, Opening, Params, Screen};
use gaggle::timeline::Replay;
use gaggle::{AnyRoom, Micros, RoomEvent};
use gaggle_link::sim::{Chance, Conditions};
use gaggle_scene::{Cue, CueId, Heard, Scene, View};
use gander::Gander;
use gander::arena::{HEIGHT, WIDTH};
use gander::stage::{Audience, Stage as Theatre};
use town::{Cluster, FRAME, SimPlatform, Subject};

#[path = "../../../core/gaggle/tests/stories/cluster/mod.rs"]
mod town;

/// Parameters with which one player opens an arcade.
#[derive(Clone)]
struct Visit {
    /// Guest key, the identity at the lobby.
    key: String,
    /// Window width and height in screen pixels.
    window: (i32, i32),
    /// The window is drawn once in this many frames.
    glances: u64,
    /// Query part of the page address, with its parameters.
    query: String,
    /// Players at the keyboard.
    players: usize,
    /// The player chose a private room.
    with_friends: bool,
    /// Stored preferred color, as a number.
    palette: Option<String>,
    /// Room stored by the page before its reload.
    return_to: Option<String>,
}

/// An open arcade and what the test recorded of it.
struct Guest {
    arcade: Arcade,
    visit: Visit,
    shown: u64,
    /// Cues played, and cues dropped because too many came at once.
    heard: BTreeSet<CueId>,
}

impl Guest {
    fn cabinet(&self) -> &GanderCabinet<SimPlatform> {
        let cabinet: &dyn Any = self.arcade.cabinet();
        cabinet.downcast_ref().expect("gander is on")
    }

    fn engine(&self) -> EngineReport {
        self.arcade.cabinet().room().report()
    }

    /// Frames resimulated after rollbacks.
    fn again(&self) -> u64 {
        let EngineReport::Timeline { again, .. } = self.engine() else { return 0 };
        again
    }
}

impl Subject for Guest {
    type Config = Visit;

    fn peer_config(house: usize) -> Visit {
        Visit {
            key: format!("the-key-of-guest-{house}"),
            window: (320, 200),
            glances: 1,
            query: String::new(),
            players: 1,
            with_friends: false,
            palette: None,
            return_to: None,
        }
    }

    fn open_peer(now: Micros, visit: Visit, platform: SimPlatform, seed: u64) -> Guest {
        let params = Params::parse(&visit.query);
        let (key, return_to) = (Some(visit.key.clone()), visit.return_to.clone());
        let palette = visit.palette.clone();
        let address = "https://play.example.org/".to_string();
        let can_share = true;
        let opening =
            Opening { seed, key, params, palette, return_to, address, can_share, ..Opening::default() };
        let mut arcade = Arcade::new(now, opening, &cabinets::gander(), platform);
        arcade.resize(visit.window.0, visit.window.1, 1.0);
        if arcade.screen() == Screen::Menu {
            let choice = match visit.players {
                2 => Choice::PlayTwo,
                _ if visit.with_friends => Choice::Private,
                _ => Choice::Play,
            };
            arcade.choose(choice, false);
        }
        Guest { arcade, visit, shown: 0, heard: BTreeSet::new() }
    }

    /// Each player flaps and turns in a rhythm of its own.
    fn update_peer(&mut self, now: Micros, house: usize) -> Vec<RoomEvent> {
        let beat = now.get() / FRAME.get();
        let turn = if (beat / (40 + house as u64)).is_multiple_of(2) { "ArrowLeft" } else { "ArrowRight" };
        let held = [("Space", beat % (9 + house as u64) < 3), ("ArrowLeft", false), ("ArrowRight", false)];
        for (code, down) in held {
            match down || code == turn {
                true => _ = self.arcade.key_down(code, ""),
                false => self.arcade.key_up(code),
            }
        }
        if beat.is_multiple_of(self.visit.glances) {
            self.arcade.frame(now, |heard| match heard {
                Heard::Start(Cue { id, .. }) | Heard::Skip(id) => _ = self.heard.insert(id),
                Heard::Fade(id) => _ = self.heard.remove(&id),
            });
            self.shown += 1;
        } else {
            self.arcade.update(now);
        }
        // The arcade has already taken the events of its room.
        Vec::new()
    }

    fn any_room(&self) -> &dyn AnyRoom {
        self.arcade.cabinet().room()
    }

    fn describe(&mut self) -> String {
        format!("{:?} {:?}", self.arcade.screen(), self.engine())
    }
}

/// One peer per window size, all in one match, over a network bad enough for wrong predictions.
fn guests(windows: &[(i32, i32)], glances: u64) -> Cluster<Guest> {
    let mut town = Cluster::of(windows.len());
    town.weather(Conditions { jitter: Micros::from_millis(20), ..Conditions::latency_ms(60) });
    for (house, window) in windows.iter().enumerate() {
        town.open_with(house, Visit { window: *window, glances, ..Guest::peer_config(house) });
        town.run_until("it is in the match", 5_000, |town| town.is_together(house));
    }
    town
}

#[test]
fn picture_is_drawn_once_per_shown_frame_despite_rollbacks() {
    let mut town = guests(&[(320, 200), (320, 200)], 1);
    let before = [0, 1].map(|house| {
        let guest = town.room(house);
        (guest.cabinet().pictures(), guest.shown, guest.again())
    });
    town.run_ms(5_000);
    for (house, (pictures, shown, again)) in before.into_iter().enumerate() {
        let guest = town.room(house);
        let again = guest.again() - again;
        assert!(again > 50, "only {again} frames were resimulated: too few to prove anything");
        assert_eq!(
            guest.cabinet().pictures() - pictures,
            guest.shown - shown,
            "at {house}, {again} resimulated"
        );
    }
}

#[test]
fn stalled_picture_says_why_within_half_second() {
    let mut town = guests(&[(640, 360), (320, 200), (320, 200), (320, 200)], 1);
    town.run_ms(1_000);
    assert_eq!(town.room(0).arcade.notice_words(), None);
    town.crash(1);
    let (mut frame, mut still, mut longest) = (0, 0, 0);
    for _ in 0..240 {
        town.step();
        let guest = town.room(0);
        let shown = guest.arcade.cabinet().standing().frame;
        still = if shown == frame { still + 1 } else { 0 };
        frame = shown;
        let words = guest.arcade.notice_words();
        assert!(words.is_some() || still <= 30, "stalled for {still} frames without a reason");
        assert!(words.is_none() || still > 0, "{words:?} while frames advance");
        assert!(words.iter().all(|words| words.starts_with("Waiting for ")), "{words:?}");
        longest = longest.max(still);
    }
    assert!(longest > 60, "it stalled for {longest} frames only");

    // A peer cut off from both others may leave their match and play on alone.
    town.weather(Conditions { is_cut: true, ..Conditions::default() }).run_ms(700);
    assert_eq!(
        town.room(0).arcade.notice_words().as_deref(),
        Some("Lost touch. Holding your seat. Esc: let go and play alone."),
        "{}",
        town.describe()
    );
    town.room(0).arcade.key_down("Escape", "");
    let before = town.room(0).arcade.cabinet().standing().frame;
    town.run_ms(500);
    let guest = town.room(0);
    assert_eq!(guest.arcade.notice_words(), None);
    assert!(guest.arcade.cabinet().standing().frame > before + 20);
}

fn facts(guest: &mut Guest) -> String {
    guest.arcade.facts_json(0, &arcade::Busy::default())
}

fn room_code(guest: &mut Guest) -> String {
    let facts = facts(guest);
    let (_, code) = facts.split_once("\"code\":\"").expect("a room");
    code[..6].to_string()
}

#[test]
fn address_is_that_of_room_on_screen() {
    let mut town = guests(&[(320, 200)], 1);
    let guest = town.room(0);
    let code = room_code(guest);
    assert_eq!(guest.arcade.take_address(), Some(Some(format!("room={code}"))));
    town.run_ms(200);
    let guest = town.room(0);
    assert_eq!(guest.arcade.take_address(), None, "the address is set once");
    for code in ["Escape", "Escape"] {
        guest.arcade.key_down(code, "");
        guest.arcade.key_up(code);
    }
    assert_eq!(guest.arcade.take_address(), Some(None), "a solo game has no room");
}

#[test]
fn windows_of_any_size_are_windows_into_one_match() {
    let mut town = guests(&[(320, 200), (1_920, 1_080), (390, 844)], 20);
    town.run_ms(2_000);
    town.room(0).arcade.resize(1_900, 300, 1.0);
    town.run_ms(4_000);
    let mut marks: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for house in 0..3 {
        let EngineReport::Timeline { marks: own, .. } = town.room(house).engine() else { continue };
        own.into_iter().for_each(|(frame, hash)| marks.entry(frame).or_default().push(hash));
    }
    let compared: Vec<_> = marks.into_values().filter(|hashes| hashes.len() == 3).collect();
    assert!(compared.len() > 1, "only {} states were compared\n{}", compared.len(), town.describe());
    assert!(compared.iter().all(|hashes| hashes.iter().all(|hash| *hash == hashes[0])), "{compared:x?}");
    assert!(compared.windows(2).all(|pair| pair[0] != pair[1]), "the states do not change");
}

/// Mode of the first match stored by the lobby, and whether its player was told that the match does
/// not count.
fn played_out(query: &str) -> (String, bool) {
    let mut town = Cluster::<Guest>::of(1);
    town.open_with(0, Visit { query: query.to_string(), glances: 60, ..Guest::peer_config(0) });
    let is_told = Cell::new(false);
    town.run_until("the match is decided, and the scores are up", 1_800_000, |town| {
        let words = town.room(0).arcade.board_words();
        is_told
            .set(words.as_ref().is_some_and(|words| words.contains("A trial: not on the real leaderboard.")));
        words.is_some() && !town.records().is_empty()
    });
    (town.records()[0].mode.to_string(), is_told.get())
}

#[test]
fn trials_by_address_are_kept_apart_from_ranked_results() {
    for query in ["lives=1&level=9", "bots=3&lives=1"] {
        assert_eq!(played_out(query), ("team-trial".to_string(), true), "{query}");
    }
    assert_eq!(played_out("seed=3"), ("team".to_string(), false));
}

#[test]
fn ranked_match_ignores_bots_and_rules_of_address() {
    let mut town = Cluster::<Guest>::of(2);
    town.open(0).run_until("it has a room", 5_000, |town| town.is_together(0));
    let code = room_code(town.room(0));
    let query = format!("bots=2&lives=9&room={code}");
    town.open_with(1, Visit { query, ..Guest::peer_config(1) });
    town.run_until("it plays there, alone at its keyboard", 10_000, |town| {
        let here = facts(town.room(0)).contains("\"here\":[true, true, false, false]");
        here && town.is_together(1) && room_code(town.room(1)) == code
    });
}

#[test]
fn two_at_one_keyboard_come_back_as_two() {
    let mut town = Cluster::<Guest>::of(2);
    town.open_with(0, Visit { players: 2, ..Guest::peer_config(0) });
    town.run_until("both are in", 5_000, |town| town.is_together(0));
    town.open(1);
    town.run_until("a third", 5_000, |town| town.is_together(1));
    let own = town.room(1).arcade.own();
    // Every player has a name, and the same one on every screen.
    let names = town.room(0).arcade.names();
    assert!(names[..3].iter().all(|name| !name.is_empty()) && names[0] != names[1], "{names:?}");
    assert_eq!(town.room(1).arcade.names(), names);
    let mut kept = None;
    while let Some(keep) = town.room(0).arcade.next_keep() {
        kept = if keep.name == "room" { keep.value } else { kept };
    }
    town.room(0).arcade.close();
    town.run_ms(200).crash(0);
    town.run_ms(1_000);
    town.open_with(0, Visit { return_to: kept, ..Guest::peer_config(0) });
    town.run_until("they are back", 10_000, |town| town.is_together(0));
    assert_eq!(town.room(0).arcade.own(), [true, true, false, false], "{}", town.describe());
    assert_eq!(town.room(1).arcade.own(), own);
    for house in [0, 1] {
        assert_eq!(town.room(house).arcade.names(), names, "names are kept");
    }
}

/// Points, geese left and falls of one slot, in the state of one peer.
fn has(town: &mut Cluster<Guest>, house: usize, seat: usize) -> (u32, u8, u16) {
    let player = &town.room(house).cabinet().game().players[seat];
    (player.score, player.mounts, player.tally.falls)
}

#[test]
fn new_player_starts_from_nothing_and_returning_one_does_not() {
    let mut town = Cluster::<Guest>::of(5);
    let visit = |house| Visit { glances: 60, ..Guest::peer_config(house) };
    for house in 0..4 {
        town.open_with(house, visit(house));
        town.run_until("it is in the match", 5_000, |town| town.is_together(house));
        assert_eq!(town.room(house).arcade.own().iter().position(|own| *own), Some(house));
    }
    let fallen = |town: &mut Cluster<Guest>| (1..4).find(|seat| has(town, 0, *seat).2 > 0);
    town.run_until("a player has fallen", 120_000, |town| fallen(town).is_some());
    let seat = fallen(&mut town).expect("a player has");
    // The player ends the match in the menu, then the page is closed.
    let leave = |town: &mut Cluster<Guest>| {
        for code in ["Escape", "Escape"] {
            town.room(seat).arcade.key_down(code, "");
            town.room(seat).arcade.key_up(code);
        }
        town.step();
        town.crash(seat).run_ms(1_000);
        let kept = has(town, 0, seat);
        assert!(kept.0 > 0 && kept.1 < 5 && kept.2 > 0, "{kept:?}");
        kept
    };
    for (house, is_back) in [(seat, true), (4, false)] {
        let kept = leave(&mut town);
        town.open_with(house, visit(house));
        town.run_until("a player has the slot", 5_000, |town| town.is_together(house)).run_ms(400);
        assert_eq!(town.room(house).arcade.own().iter().position(|own| *own), Some(seat));
        let expected = if is_back { kept } else { (0, 5, 0) };
        for seen_by in [0, house] {
            assert_eq!(has(&mut town, seen_by, seat), expected, "{house} as {seen_by} sees it");
        }
    }
}

#[test]
fn preferred_color_is_given_where_free() {
    let mut town = Cluster::<Guest>::of(3);
    let likes =
        |house, palette: &str| Visit { palette: Some(palette.to_string()), ..Guest::peer_config(house) };
    let seats = [[false, false, true, false], [true, false, false, false], [false, false, false, true]];
    for (house, palette) in ["2", "2", "3"].into_iter().enumerate() {
        town.open_with(house, likes(house, palette));
        if house == 0 {
            assert_eq!(town.room(0).arcade.own(), seats[0], "alone and at once");
        }
        town.run_until("it is in the match", 5_000, |town| town.is_together(house));
    }
    town.run_ms(1_000);
    for (house, seat) in seats.into_iter().enumerate() {
        assert_eq!(town.room(house).arcade.own(), seat, "{}", town.describe());
    }
    // The menu switches to the next color and stores it.
    let arcade = &mut town.room(0).arcade;
    while arcade.next_keep().is_some() {}
    arcade.choose(Choice::Palette, false);
    let keep = arcade.next_keep().expect("it is kept");
    assert_eq!((keep.name, keep.value.as_deref()), ("palette", Some("3")));
}

/// Rollbacks neither drop nor repeat a sound of the confirmed game.
#[test]
fn sound_is_heard_despite_rollbacks() {
    let mut town = guests(&[(320, 200); 4], 1);
    let begun = (0..4).map(|house| town.room(house).arcade.cabinet().standing().frame).max().unwrap_or(0);
    town.weather(Conditions {
        jitter: Micros::from_millis(20),
        loss: Chance::percent(3),
        ..Conditions::latency_ms(60)
    });
    town.run_ms(30_000);
    for house in 0..4 {
        let guest = town.room(house);
        assert!(guest.again() > 300, "only {} frames resimulated: too few to prove anything", guest.again());
        let own = guest.arcade.own();
        let replay = guest.arcade.cabinet().replay_bytes().expect("what was played is kept");
        let replay = Replay::<Gander>::read(&replay, gander::FINGERPRINT).expect("a replay");
        let mut playback = replay.play();
        let mut stage = Theatre::new(View::fit(320, 200, WIDTH, HEIGHT));
        let audience = Audience { own: std::array::from_fn(|seat| own[seat]), ..Audience::default() };
        let mut all = BTreeSet::new();
        while playback.step() {
            let mut scene = Scene::default();
            stage.draw(playback.game(), playback.game(), 1.0, &audience, &mut scene);
            all.extend(scene.cues.iter().map(|cue| cue.id).filter(|id| id.frame > begun + 30));
        }
        assert!(all.len() > 200, "only {} sounds in half a minute", all.len());
        let missing: Vec<_> = all.difference(&guest.heard).collect();
        assert!(missing.is_empty(), "at {house}, of {} sounds these were not heard: {missing:?}", all.len());
    }
}

#[test]
fn private_room_shows_invitation_until_friend_comes() {
    let mut town: Cluster<Guest> = Cluster::of(2);
    town.open_with(0, Visit { with_friends: true, ..Guest::peer_config(0) });
    town.run_until("the panel opens", 5_000, |town| town.room(0).arcade.invite_words().is_some());
    let code = room_code(town.room(0));
    let press = |arcade: &mut Arcade, code: &str| {
        arcade.key_down(code, "");
        arcade.key_up(code);
    };
    let host = town.room(0);
    let spelled: String = code.chars().flat_map(|letter| [' ', letter]).collect();
    let words = host.arcade.invite_words().expect("it is open");
    assert!(words.contains(&spelled) && words.contains(&format!("play.example.org/?room={code}")), "{words}");
    assert_eq!(host.arcade.screen(), Screen::Paused, "no goose is lost meanwhile");
    press(&mut host.arcade, "KeyS");
    let link = host.arcade.take_share().expect("the share sheet has the link");
    assert_eq!(link, format!("https://play.example.org/?room={code}"));
    press(&mut host.arcade, "KeyC");
    assert_eq!(host.arcade.take_copy(), Some(format!("room={code}")));
    town.run_ms(3_000);
    assert!(town.room(0).arcade.invite_words().is_some(), "it waits for a friend");

    town.open_with(1, Visit { query: format!("?room={code}"), ..Guest::peer_config(1) });
    town.run_until("both play", 10_000, |town| {
        (0..2).all(|house| facts(town.room(house)).contains("\"here\":[true, true"))
    });
    let host = town.room(0);
    assert_eq!((host.arcade.invite_words(), host.arcade.screen()), (None, Screen::Flying));
    // With another player in the room the match goes on behind the panel.
    press(&mut host.arcade, "KeyC");
    assert!(host.arcade.invite_words().is_some() && host.arcade.screen() == Screen::Flying);
    // Tab moves between the buttons of the panel, and Enter presses the one in focus.
    assert!(host.arcade.key_down("Tab", "Tab"), "the browser must not have it");
    press(&mut host.arcade, "Enter");
    assert_eq!(host.arcade.take_share(), Some(link), "the first button shares");
    press(&mut host.arcade, "Escape");
    assert!(host.arcade.invite_words().is_none() && host.arcade.screen() == Screen::Flying);
}

#[test]
fn games_are_said_to_agree_only_after_comparison() {
    let mut town = guests(&[(320, 200), (320, 200)], 1);
    let agree = |town: &mut Cluster<Guest>, house: usize| {
        let facts = facts(town.room(house));
        let (_, rest) = facts.split_once("\"agree\":").expect("it is told");
        rest.split(',').next().unwrap_or_default().to_string()
    };
    assert_eq!(agree(&mut town, 1), "null", "a peer that came in a moment ago compared nothing");
    town.run_until("hashes were compared", 5_000, |town| (0..2).all(|house| agree(town, house) == "true"));
    town.room(1).arcade.close();
    town.run_until("one is alone", 10_000, |town| agree(town, 0) == "null");
}

#[test]
fn emote_is_seen_by_others_unless_muted() {
    let mut town = guests(&[(640, 360), (640, 360), (640, 360)], 1);
    let press = |town: &mut Cluster<Guest>, house: usize, code: &str| {
        town.room(house).arcade.key_down(code, "");
        town.room(house).arcade.key_up(code);
    };
    let shown = |town: &mut Cluster<Guest>| {
        [0, 1, 2].map(|house| {
            let facts = facts(town.room(house));
            let (_, rest) = facts.split_once("\"emotes\":").expect("it is told");
            rest.split(',').next().unwrap_or_default().to_string()
        })
    };
    press(&mut town, 0, "Digit5");
    press(&mut town, 0, "Digit6");
    town.run_ms(500);
    assert_eq!(shown(&mut town), ["1", "1", "1"], "one at a time, and everywhere");
    town.run_ms(3_000);
    assert_eq!(shown(&mut town), ["0", "0", "0"]);
    // E opens the list of the other players; a digit mutes one.
    let hands = |town: &mut Cluster<Guest>| {
        let arcade = &mut town.room(1).arcade;
        let over = |y: &i32| {
            arcade.pointer_move(1, 320, *y, false);
            arcade.points()
        };
        (40..320).filter(over).count()
    };
    assert_eq!(hands(&mut town), 0, "nothing answers a click");
    press(&mut town, 1, "KeyE");
    assert!(hands(&mut town) > 30, "two players and a way out do");
    for digit in ["Digit1", "Digit2"] {
        press(&mut town, 1, digit);
    }
    press(&mut town, 1, "Escape");
    assert_eq!(town.room(1).arcade.screen(), Screen::Flying, "Esc closes the list only");
    press(&mut town, 0, "Digit5");
    town.run_ms(500);
    assert_eq!(shown(&mut town), ["1", "0", "1"]);
}
