//! Arcades that play together, each in a window of its own: a lobby and links in virtual time, no browser.

use std::any::Any;
use std::collections::BTreeMap;

use arcade::cabinet::Engine;
use arcade::cabinets;
use arcade::cabinets::gander::GanderCabinet;
use arcade::{Arcade, Opening};
use gaggle::{Event, Micros, Stage};
use gaggle_link::sim::Conditions;
use town::{Doorstep, FRAME, Resident, Town};

#[path = "../../../core/gaggle/tests/town/mod.rs"]
mod town;

/// An arcade somebody plays at.
struct Guest {
    arcade: Arcade,
    shown: u64,
    /// It looks at one frame of so many.
    glances: u64,
}

impl Guest {
    fn cabinet(&self) -> &GanderCabinet<Doorstep> {
        let cabinet: &dyn Any = self.arcade.cabinet();
        cabinet.downcast_ref().expect("gander is on")
    }

    fn engine(&self) -> Engine {
        self.arcade.cabinet().life().engine()
    }

    /// Frames that were simulated again.
    fn again(&self) -> u64 {
        let Engine::Timeline { again, .. } = self.engine() else { return 0 };
        again
    }
}

impl Resident for Guest {
    /// The window, and how often somebody looks at it.
    type Config = ((i32, i32), u64);

    fn settings(_: usize) -> ((i32, i32), u64) {
        ((320, 200), 1)
    }

    fn move_in(now: Micros, config: ((i32, i32), u64), doorstep: Doorstep, seed: u64) -> Guest {
        let ((width, height), glances) = config;
        let opening = Opening { seed, key: Some(format!("the-key-of-guest-{seed}")), ..Opening::default() };
        let mut arcade = Arcade::new(now, opening, &cabinets::gander(), doorstep);
        arcade.resize(width, height, 1.0);
        arcade.key_down("Enter", "");
        arcade.key_up("Enter");
        Guest { arcade, shown: 0, glances }
    }

    /// Everybody flaps and turns in a rhythm of their own.
    fn play(&mut self, now: Micros, house: usize) {
        let beat = now.get() / FRAME.get();
        let turn = if (beat / (40 + house as u64)).is_multiple_of(2) { "ArrowLeft" } else { "ArrowRight" };
        let held = [("Space", beat % (9 + house as u64) < 3), ("ArrowLeft", false), ("ArrowRight", false)];
        for (code, down) in held {
            match down || code == turn {
                true => _ = self.arcade.key_down(code, ""),
                false => self.arcade.key_up(code),
            }
        }
        if beat.is_multiple_of(self.glances) {
            self.arcade.frame(now, |_| {});
            self.shown += 1;
        } else {
            self.arcade.update(now);
        }
    }

    /// What happens is told on the screen.
    fn next_told(&mut self) -> Option<Event> {
        None
    }

    fn where_it_is(&self) -> Stage {
        self.arcade.cabinet().life().stage()
    }

    fn describe(&mut self) -> String {
        format!("{:?} {:?}", self.arcade.screen(), self.engine())
    }
}

/// Everybody in a window of this size, in one match, on a line that makes guesses go wrong.
fn guests(windows: &[(i32, i32)], glances: u64) -> Town<Guest> {
    let mut town = Town::of(windows.len());
    town.weather(Conditions { jitter: Micros::from_millis(20), ..Conditions::latency_ms(60) });
    for (house, window) in windows.iter().enumerate() {
        town.open_with(house, (*window, glances));
        town.run_until("it is in the match", 5_000, |town| town.is_together(house));
    }
    town
}

#[test]
fn a_picture_is_drawn_once_for_each_shown_frame_whatever_is_simulated_again() {
    let mut town = guests(&[(320, 200), (320, 200)], 1);
    let before = [0, 1].map(|house| {
        let guest = town.room(house);
        (guest.cabinet().pictures(), guest.shown, guest.again())
    });
    town.run_ms(5_000);
    for (house, (pictures, shown, again)) in before.into_iter().enumerate() {
        let guest = town.room(house);
        let again = guest.again() - again;
        assert!(again > 50, "only {again} frames were simulated again: this proves nothing");
        assert_eq!(guest.cabinet().pictures() - pictures, guest.shown - shown, "at {house}, {again} again");
    }
}

#[test]
fn a_picture_that_stands_still_says_why_within_half_a_second() {
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
        assert!(words.is_some() || still <= 30, "{still} frames without a word");
        assert!(words.is_none() || still > 0, "{words:?} while it moves");
        assert!(words.iter().all(|words| words.starts_with("Waiting for ")), "{words:?}");
        longest = longest.max(still);
    }
    assert!(longest > 60, "it stood still for {longest} frames only");

    // Cut off from both of the others, one may leave them and play on.
    town.weather(Conditions { cut: true, ..Conditions::default() }).run_ms(700);
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

fn room_code(guest: &mut Guest) -> String {
    let facts = guest.arcade.facts_json(0, &arcade::Busy::default());
    let (_, code) = facts.split_once("\"code\":\"").expect("a room");
    code[..6].to_string()
}

#[test]
fn the_address_is_that_of_the_room_on_the_screen() {
    let mut town = guests(&[(320, 200)], 1);
    let guest = town.room(0);
    let code = room_code(guest);
    assert_eq!(guest.arcade.take_address(), Some(Some(format!("room={code}"))));
    town.run_ms(200);
    let guest = town.room(0);
    assert_eq!(guest.arcade.take_address(), None, "it is told once");
    for code in ["Escape", "Escape"] {
        guest.arcade.key_down(code, "");
        guest.arcade.key_up(code);
    }
    assert_eq!(guest.arcade.take_address(), Some(None), "at home one is in no room");
}

#[test]
fn windows_of_any_size_are_windows_into_one_match() {
    let mut town = guests(&[(320, 200), (1_920, 1_080), (390, 844)], 20);
    town.run_ms(2_000);
    town.room(0).arcade.resize(1_900, 300, 1.0);
    town.run_ms(4_000);
    let mut marks: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for house in 0..3 {
        let Engine::Timeline { marks: own, .. } = town.room(house).engine() else { continue };
        own.into_iter().for_each(|(frame, hash)| marks.entry(frame).or_default().push(hash));
    }
    let compared: Vec<_> = marks.into_values().filter(|hashes| hashes.len() == 3).collect();
    assert!(compared.len() > 1, "only {} states were compared\n{}", compared.len(), town.describe());
    assert!(compared.iter().all(|hashes| hashes.iter().all(|hash| *hash == hashes[0])), "{compared:x?}");
    assert!(compared.windows(2).all(|pair| pair[0] != pair[1]), "and something happens in it");
}
