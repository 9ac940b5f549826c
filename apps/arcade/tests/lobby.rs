//! Arcades with skein in one room of friends: the roost, ready and not ready, the countdown, the
//! start in one frame, and what the host may do. Absent: browsers, real sockets.

use std::any::Any;

use arcade::cabinets::skein::SkeinCabinet;
use arcade::{Arcade, Choice, Opening, Params, Screen, cabinets};
use gaggle::{AnyRoom, Micros, Phase, RoomEvent};
use town::{Cluster, SimPlatform, Subject};

#[path = "../../../core/gaggle/tests/stories/cluster/mod.rs"]
mod town;

/// An open arcade: the first opens a room for friends, the others come by its address.
struct Guest {
    arcade: Arcade,
}

/// Number of the player, and the query of the page's address.
type Visit = (usize, String);

impl Guest {
    fn words(&self) -> String {
        self.arcade.lobby_words().unwrap_or_default()
    }

    fn tap(&mut self, code: &str) {
        self.arcade.key_down(code, "");
        self.arcade.key_up(code);
    }

    fn code(&mut self) -> String {
        self.arcade.whereabouts().2.expect("a room").to_string()
    }

    fn phase(&self) -> Phase {
        self.arcade.cabinet().room().phase()
    }

    fn game(&self) -> &skein::Skein {
        let cabinet: &dyn Any = self.arcade.cabinet();
        cabinet.downcast_ref::<SkeinCabinet<SimPlatform>>().expect("skein is on").game()
    }

    /// Moves the focus to a button and presses it.
    fn press(&mut self, button: &str) {
        for _ in 0..20 {
            if self.words().contains(&format!("In focus: {button}")) {
                self.tap("Enter");
                return;
            }
            self.tap("ArrowDown");
        }
        panic!("no {button}: {}", self.words());
    }
}

impl Subject for Guest {
    type Config = Visit;

    fn peer_config(house: usize) -> Visit {
        (house, String::new())
    }

    fn open_peer(now: Micros, (house, query): Visit, platform: SimPlatform, seed: u64) -> Guest {
        let names = ["Wren", "Hob", "Ottilie", "Maud"];
        let opening = Opening {
            seed,
            key: Some(format!("the-key-of-guest-{house}")),
            name: Some(names[house].to_string()),
            params: Params::parse(&query),
            ..Opening::default()
        };
        let mut arcade = Arcade::new(now, opening, &cabinets::skein(), platform);
        arcade.resize(640, 360, 1.0);
        if arcade.screen() == Screen::Menu {
            arcade.choose(Choice::Private, false);
        }
        Guest { arcade }
    }

    fn update_peer(&mut self, now: Micros, _house: usize) -> Vec<RoomEvent> {
        self.arcade.frame(now, |_| {});
        Vec::new()
    }

    fn any_room(&self) -> &dyn AnyRoom {
        self.arcade.cabinet().room()
    }

    fn describe(&mut self) -> String {
        format!("{:?} {} {:?}", self.phase(), self.words(), self.arcade.toast())
    }
}

/// So many players in the roost of a room; houses for a few more.
fn roost(count: usize) -> Cluster<Guest> {
    let mut town = Cluster::<Guest>::of(count + 1);
    town.open(0).run_until("a roost", 5_000, |town| town.room(0).words().starts_with("The roost"));
    for house in 1..count {
        let query = format!("room={}", town.room(0).code());
        town.open_with(house, (house, query));
        town.run_until("one more", 5_000, |town| town.room(house).words().starts_with("The roost"));
    }
    town.run_ms(500);
    town
}

fn are_in_roost(town: &mut Cluster<Guest>, count: usize) -> bool {
    (0..count).all(|house| matches!(town.room(house).phase(), Phase::Lobby { .. }))
}

#[test]
fn all_ready_count_down_and_start_in_one_frame() {
    let mut town = roost(3);
    let words = town.room(0).words();
    for part in ["Wren, host: not ready.", "Hob: not ready.", "Ottilie: not ready."] {
        assert!(words.contains(part), "{words}");
    }
    for house in 0..3 {
        town.room(house).tap("Space");
    }
    town.run_ms(1_500);
    for house in 0..3 {
        assert!(town.room(house).words().contains("Off in 2."), "{}", town.describe());
    }
    // One who is not ready ends it.
    town.room(1).tap("Space");
    town.run_ms(5_000);
    assert!(are_in_roost(&mut town, 3), "{}", town.describe());
    assert!(town.room(0).words().contains("Waiting for Hob. Off in 1"), "{}", town.describe());
    assert!(town.room(2).words().contains("Wren, host: ready."), "the others stay ready");
    town.room(1).tap("Space");
    town.run_ms(2_500);
    assert!(are_in_roost(&mut town, 3), "{}", town.describe());
    town.run_ms(1_500);
    for house in 0..3 {
        let guest = town.room(house);
        assert_eq!((guest.phase(), guest.words()), (Phase::Playing, String::new()));
        // The crew is counted in the first frame.
        let game = guest.game();
        assert_eq!((game.course.crew, game.persons()), (3, 3), "at {house}");
    }
    let frames = [0, 1, 2].map(|house| town.room(house).game().frame);
    let spread = frames.iter().max().zip(frames.iter().min()).map(|(most, least)| most - least);
    assert!(spread <= Some(20) && frames[0] > 10, "{frames:?}");

    // A late player drops in.
    let query = format!("room={}", town.room(0).code());
    town.open_with(3, (3, query));
    town.run_until("the late one flies", 8_000, |town| town.room(3).phase() == Phase::Playing);
    town.run_ms(1_000);
    for house in 0..4 {
        assert_eq!(town.room(house).game().persons(), 4, "at {house}");
    }
}

#[test]
fn last_player_is_waited_for_twenty_seconds() {
    let mut town = roost(3);
    town.room(0).tap("Space");
    town.room(2).tap("Space");
    town.run_ms(18_500);
    assert!(town.room(1).words().contains("All wait for you. Off in 2."), "{}", town.describe());
    assert!(are_in_roost(&mut town, 3));
    town.run_ms(4_000);
    assert!((0..3).all(|house| town.room(house).phase() == Phase::Playing), "{}", town.describe());
}

#[test]
fn host_starts_hands_over_and_sends_away() {
    let mut town = roost(3);
    town.room(0).press("Slow machines");
    town.run_ms(500);
    assert!(town.room(0).words().contains("In focus: Slow machines: loosen first."), "{}", town.describe());
    for house in [1, 2] {
        for _ in 0..10 {
            let words = town.room(house).words();
            assert!(!words.contains("Slow machines"), "only the host has the button: {words}");
            town.room(house).tap("ArrowDown");
        }
    }
    // The first press asks, the second means it.
    town.room(0).press("Send Hob away");
    town.run_ms(500);
    assert!(town.room(0).words().contains("Hob: not ready."), "{}", town.describe());
    town.room(0).press("Really send Hob away");
    town.run_ms(1_000);
    assert!(!town.room(0).words().contains("Hob"), "{}", town.describe());
    assert!(town.room(1).words().is_empty(), "{}", town.describe());
    town.room(0).press("Make Ottilie the host");
    town.run_ms(500);
    assert!(town.room(2).words().contains("Ottilie, host"), "{}", town.describe());
    town.room(2).press("Start now");
    town.run_ms(1_000);
    assert!(town.room(0).words().contains("The host starts in"), "{}", town.describe());
    town.run_ms(3_500);
    for house in [0, 2] {
        assert_eq!((town.room(house).phase(), town.room(house).game().course.crew), (Phase::Playing, 2));
    }
}

#[test]
fn input_delay_is_chosen_kept_and_given_by_address() {
    let mut town = Cluster::<Guest>::of(2);
    town.open(0).run_until("a roost", 5_000, |town| town.room(0).words().starts_with("The roost"));
    for _ in 0..4 {
        town.room(0).press("Input delay");
    }
    let words = town.room(0).words();
    assert!(words.contains("Input delay: 3 frames. Keys answer 50 ms later."), "{words}");
    let kept = std::iter::from_fn(|| town.room(0).arcade.next_keep())
        .filter(|keep| keep.name == "delay")
        .last()
        .and_then(|keep| keep.value);
    assert_eq!(kept.as_deref(), Some("skein:3"));
    town.room(0).tap("Space");
    town.run_ms(4_500);
    let told = |town: &mut Cluster<Guest>, house: usize| {
        let busy = arcade::Busy::default();
        town.room(house).arcade.facts_json(0, &busy)
    };
    assert!(told(&mut town, 0).contains("\"delay\":3"), "{}", told(&mut town, 0));
    let query = format!("delay=6&room={}", town.room(0).code());
    town.open_with(1, (1, query));
    town.run_until("it flies", 8_000, |town| town.room(1).phase() == Phase::Playing);
    town.run_ms(1_500);
    assert!(told(&mut town, 1).contains("\"delay\":6"), "{}", told(&mut town, 1));
}
