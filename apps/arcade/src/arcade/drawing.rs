//! The picture: the match or demo, and panels over it. `Arcade` draws it every frame. Absent: what
//! keys do.

use gaggle::{Micros, Slot};
use gaggle_scene::{Scene, View, palette};

use crate::cabinet::{Looks, Standing};
use crate::key_hints;
use crate::toasts::Spot;

use super::online::TRIAL_SAID;
use super::{Arcade, JOINING_SHOWN_AFTER, Screen};
use crate::{
    JoiningFacts, MenuFacts, NetDetail, Notice, Params, ScoreBoard, ScoreFacts, ScrubFacts, Scrubber, Touch,
    draw_joining, joining_alone_at,
};

/// Last help page: parameters of the page's address.
const ADDRESS: Notice<'_> = Notice {
    seat: None,
    heading: "For trying things out: behind a ? in the address",
    lines: &["Join several with &. F3 shows what the network does."],
    keys: &Params::EXPLAINED,
    warn: false,
    shade_percent: 60,
    touch: false,
    is_high: false,
    focus: None,
};

/// Choices in a paused match: a line for each, and its key.
const PAUSED: [(&str, &str); 5] =
    [("Enter", "play on"), ("Esc", "home"), ("M", "sound"), ("H", "how to play"), ("C", "invite friends")];
/// The same where matches are recorded.
const PAUSED_RECORDED: [(&str, &str); 6] =
    [PAUSED[0], PAUSED[1], PAUSED[2], PAUSED[3], ("S", "save the replay"), PAUSED[4]];
/// The same where the input delay is a choice.
const PAUSED_DELAYED: [(&str, &str); 7] =
    [PAUSED[0], PAUSED[1], PAUSED[2], PAUSED[3], PAUSED_RECORDED[4], ("D", "another input delay"), PAUSED[4]];
/// The same after a desync in which the local state was wrong.
const PAUSED_DIFFERED: [(&str, &str); 7] = [
    PAUSED[0],
    PAUSED[1],
    PAUSED[2],
    PAUSED[3],
    PAUSED_RECORDED[4],
    ("X", "save what differed, for its makers"),
    PAUSED[4],
];
/// Notice for two tabs of one player.
const ELSEWHERE: Notice<'_> = Notice {
    seat: None,
    heading: "Another tab of yours has this seat.",
    lines: &[],
    keys: &[("T", "take it over (pad: A)"), ("Esc", "leave it there")],
    warn: true,
    shade_percent: 0,
    touch: false,
    is_high: false,
    focus: None,
};

/// Prompt for a key of the player's choice.
fn own_key(heading: &str) -> Notice<'_> {
    let keys = &[("Enter", "as it is"), ("Esc", "done"), ("Backspace", "the usual keys for all")];
    Notice { heading, keys, shade_percent: 60, ..Notice::default() }
}

/// A stall longer than this shows its reason.
const STILL_SHOWN_AFTER: Micros = Micros::from_millis(400);
/// How long key hints are shown over a goose that takes off.
const KEYS_SHOWN: Micros = Micros::from_secs(6);
/// Hint for players who hold a phone upright.
const TURN_HINT: &str = "Turn the phone: larger picture";
/// Choice during a stall.
const ALONE: (&str, &str) = ("Esc", "let go and play alone");

/// A stall of the picture.
pub(super) struct Still {
    long: Micros,
    words: String,
    /// Slot whose emblem is drawn in front of the text.
    seat: Option<usize>,
}

impl Still {
    pub(super) fn notice(&self) -> Notice<'_> {
        // Most stalls are short: the picture fades gradually, so that it does not flash.
        let shade_percent = ((self.long.as_millis() - STILL_SHOWN_AFTER.as_millis()) / 20).min(55) as u8;
        let (seat, heading) = (self.seat, self.words.as_str());
        Notice { seat, heading, keys: &[ALONE], warn: true, shade_percent, ..Notice::default() }
    }
}

impl Arcade {
    pub(super) fn draw(&mut self) {
        let show = self.shown();
        let (names, bars) = self.seats();
        let standing = Standing { board: self.is_board_up(), ..self.cabinet.standing() };
        let looks = Looks {
            names: &names,
            own: self.cabinet.room().local_slots(),
            bars: &bars,
            calm: self.calm,
            plain: self.screen != Screen::Flying || standing.board || self.is_joining_shown(),
            bare: standing.board,
            still: self.screen == Screen::Paused,
            thumbs: self.has_thumbs() && self.touch.covers_world(),
            curious: self.net.detail != NetDetail::Off,
            between: self.pace.alpha_permille() as f32 / 1_000.0,
        };
        if !self.draw_roost() {
            self.cabinet.draw(show, &looks, &mut self.scene);
        }
        self.canvas.paint(&self.scene, self.cabinet.album());
        if let Some(around) = self.cabinet.liveliest().filter(|_| self.screen == Screen::Menu) {
            self.menu.show(&self.canvas, around);
        }
        let mut over = Scene::default();
        if self.screen == Screen::Flying && self.has_thumbs() {
            let about = self.cabinet.about();
            self.touch.draw(&mut over, self.view, about.action, about.turn);
        }
        if self.has_way_out() {
            Touch::draw_way_out(&mut over, self.view);
        }
        if self.screen == Screen::Flying && standing.board {
            self.score_facts(|board, facts| board.draw(&mut over, facts));
        }
        self.draw_over(&mut over);
        // The menu's album contains every image.
        self.canvas.paint(&over, self.menu.album());
    }

    pub(super) fn has_thumbs(&self) -> bool {
        self.touch.used && !self.is_watching() && !self.is_in_lobby()
    }

    /// The scores after a match as text; none while they are not shown.
    pub fn board_words(&mut self) -> Option<String> {
        let shown = self.screen == Screen::Flying && self.is_board_up();
        let said = self.cabinet.standing().said;
        shown.then(|| self.score_facts(|_, facts| format!("{said} {} {}", facts.line, facts.board_note)))
    }

    fn score_facts<T>(&mut self, tell: impl FnOnce(&ScoreBoard, &ScoreFacts<'_>) -> T) -> T {
        let (players, board) = (self.player_lines(), self.board_lines());
        let best_now = players.iter().filter(|line| line.own).map(|line| line.score).max();
        // Without the leaderboard, earlier results are unknown.
        let is_known = self.shelf.top.is_some() && best_now > Some(0);
        let is_best = is_known && self.shelf.best.is_none_or(|best| best_now >= Some(best));
        let trial = self.shelf.is_trial;
        // Equal on all screens of the match, so that all show the same closing line.
        let match_number = players.iter().map(|line| u64::from(line.score)).sum();
        let facts = ScoreFacts {
            mode: if trial { "Trial" } else { self.cabinet.about().modes[self.menu.mode].1 },
            level: self.cabinet.about().columns.0,
            wave: self.cabinet.standing().level,
            line: self.cabinet.closing_line(match_number),
            players: &players,
            columns: self.cabinet.about().columns.1,
            board: board.as_deref(),
            board_note: match (self.shelf.server_lost, trial, is_best) {
                (true, ..) => "The lobby is out.",
                (_, true, _) => TRIAL_SAID,
                (_, _, true) => "Your best yet.",
                _ => "",
            },
        };
        tell(&self.board, &facts)
    }

    fn draw_scrub(&mut self, over: &mut Scene) {
        let Some(tape) = self.cabinet.tape() else { return };
        let (frame, frames) = tape.position();
        let (playing, waves, falls) = (tape.running(), tape.levels(), tape.falls());
        let scrubber = Scrubber::new(self.view);
        scrubber.draw(over, &ScrubFacts { frame, frames, playing, waves, falls });
        if !self.touch.used {
            scrubber.draw_keys(over);
        }
    }

    pub(super) fn is_joining_shown(&self) -> bool {
        self.shelf.joining_since.is_some_and(|since| self.now.since(since) >= JOINING_SHOWN_AFTER)
    }

    fn draw_over(&mut self, over: &mut Scene) {
        match self.screen {
            Screen::Menu => {
                self.menu.beat = if self.calm { 0 } else { (self.now.as_millis() * 60 / 1_000) as u32 };
                let online = self.lobby_answers();
                self.menu.draw(over, &self.menu_facts(online));
                if self.shelf.shows_top {
                    self.draw_top(over);
                }
            }
            Screen::Paused if self.is_inviting() => {}
            Screen::Paused => self.paused().draw(over, self.view),
            Screen::Help => {
                if self.is_about_address() {
                    ADDRESS.draw(over, self.view);
                } else if self.shelf.help_page == 0 && !self.touch.used {
                    key_hints::draw_all(over, self.view, self.cabinet.about().keys);
                }
                let (width, height) = (self.view.word_width(), self.view.word_height());
                let line = match self.touch.used {
                    true if width > 240 => "Tap to turn the page, here to go back",
                    true => "Tap: turn the page. Here: back",
                    false if width > 360 => "Arrows turn the page, K sets your own keys, Esc goes back",
                    false => "Arrows turn the page, Esc goes back",
                };
                let y = (height - 14) as f32;
                over.word(line, (width / 2) as f32, y, palette::TEXT).centered().outlined(palette::INK);
                if let Some(asked) = self.keys.asked(self.cabinet.about()) {
                    own_key(&asked).draw(over, self.view);
                }
            }
            Screen::Replay => self.draw_scrub(over),
            Screen::Flying if self.is_joining_shown() => {
                self.joining(|facts, view| draw_joining(over, view, facts));
            }
            Screen::Flying if self.is_in_lobby() => self.draw_lobby(over),
            Screen::Flying => {
                self.draw_room_line(over);
                self.draw_emotes(over);
                self.draw_keys(over);
                self.draw_turn_hint(over);
                self.draw_waiting(over);
            }
        }
        if self.is_inviting() {
            self.draw_invite(over);
        }
        self.with_refusal(|notice| notice.draw(over, self.view));
        for notice in self.out().into_iter().chain(self.elsewhere()) {
            notice.draw(over, self.view);
        }
        if self.screen != Screen::Help {
            let flies = self.screen == Screen::Flying && !self.is_board_up();
            let thumbs = (flies && self.has_thumbs()).then(|| self.touch.free());
            let spot = match self.screen {
                Screen::Flying if flies => Spot::Flight,
                Screen::Flying => Spot::Board,
                _ => Spot::Menu,
            };
            self.toasts.draw(over, self.view, thumbs, spot);
        }
        if self.screen == Screen::Flying {
            self.net.draw(over, self.view, self.cabinet.is_own_at_right());
        }
    }

    /// Question to a player with two tabs.
    pub(super) fn elsewhere(&self) -> Option<Notice<'static>> {
        let asks = self.shelf.is_elsewhere && matches!(self.screen, Screen::Menu | Screen::Flying);
        asks.then(|| self.fitting(ELSEWHERE))
    }

    /// Shows why the picture stalls, after a moment.
    fn draw_waiting(&mut self, over: &mut Scene) {
        if let Some(still) = self.standing_still() {
            self.fitting(still.notice()).draw(over, self.view);
        }
    }

    /// Text of the notice that is shown; none if there is none.
    pub fn notice_words(&mut self) -> Option<String> {
        let asked = self.elsewhere().or(self.out()).map(|notice| notice.words());
        let asked = asked.or_else(|| self.with_refusal(|notice| notice.words()));
        asked.or_else(|| self.standing_still().map(|still| still.notice().words()))
    }

    pub(super) fn standing_still(&mut self) -> Option<Still> {
        let waiting = self.cabinet.room().stall().filter(|_| self.screen == Screen::Flying)?;
        let long = self.now.since(waiting.since);
        if long < STILL_SHOWN_AFTER {
            return None;
        }
        let people = self.cabinet.room_mut().members();
        let others = people.iter().filter(|person| !person.is_local && !person.slots.is_empty()).count();
        // Of two peers that do not hear each other, only the lobby connection shows which one is
        // cut off.
        let is_lost = waiting.is_isolated && (others > 1 || self.shelf.server_lost);
        let who =
            people.iter().find(|person| waiting.waiting_for.contains(&person.peer)).filter(|_| !is_lost);
        let words = match who {
            _ if is_lost && self.is_watching() => "Lost touch.".to_string(),
            _ if is_lost => "Lost touch. Holding your seat.".to_string(),
            Some(person) if waiting.waiting_for.len() == 1 => format!("Waiting for {}.", person.name),
            _ => "Waiting for the others.".to_string(),
        };
        let seat = who.and_then(|person| person.slots.lowest()).map(Slot::index);
        Some(Still { long, words, seat })
    }

    /// Whether the lobby is connected; none while that is not known.
    fn lobby_answers(&mut self) -> Option<bool> {
        let online = self.cabinet.room_mut().lobby_client().map(|lobby| lobby.is_online());
        if self.shelf.server_lost { Some(false) } else { online.filter(|online| *online) }
    }

    fn menu_facts(&self, online: Option<bool>) -> MenuFacts<'_> {
        MenuFacts {
            name: self.menu.name(),
            best: self.shelf.best,
            rooms: &self.shelf.rooms,
            online,
            volume: self.volume,
        }
    }

    /// The focused entry of the menu as text.
    pub fn menu_words(&mut self) -> String {
        let online = self.lobby_answers();
        self.menu.words(&self.menu_facts(online))
    }

    /// Description of the picture for screen readers: the game, and how it is played.
    pub fn label(&self) -> String {
        let about = self.cabinet.about();
        if self.touch.used {
            return format!("{}, in the Gaggle arcade.", about.name);
        }
        let keys: Vec<String> =
            about.keys[0].iter().map(|(key, meaning)| format!("{key}: {meaning}")).collect();
        format!("{}, in the Gaggle arcade. Enter plays. {}.", about.name, keys.join(". "))
    }

    /// The help page as text.
    pub fn help_words(&self) -> String {
        let about = self.cabinet.about();
        if let Some(asked) = self.keys.asked(about) {
            return own_key(&asked).words();
        }
        let page = self.shelf.help_page;
        let mut words = if self.is_about_address() {
            ADDRESS.words()
        } else {
            let (title, line) = (about.help)(page);
            format!("{title}. {line}")
        };
        if page == 0 && !self.touch.used {
            for (key, meaning) in about.keys[0] {
                words.push_str(&format!(" {key}: {meaning}."));
            }
        }
        words.push_str(&format!(" Page {} of {}.", page + 1, self.help_pages()));
        words
    }

    /// The notice over a paused match.
    pub(super) fn paused(&mut self) -> Notice<'static> {
        let lines = if self.cabinet.room().has_company() { self.cabinet.about().aside } else { &[] };
        // Without a room there is nothing to link to.
        let keys: &[_] = match self.cabinet.about().has_replays {
            true if self.shelf.bundle.is_some() => &PAUSED_DIFFERED,
            true if self.has_lobby() => &PAUSED_DELAYED,
            true => &PAUSED_RECORDED,
            false => &PAUSED,
        };
        let keys = &keys[..keys.len() - usize::from(self.room_code().is_none())];
        let focus = self.shelf.tabbed;
        self.fitting(Notice { heading: "Paused", lines, keys, shade_percent: 45, focus, ..Notice::default() })
    }

    /// The notice over a paused match as text.
    pub fn paused_words(&mut self) -> String {
        let mut words = format!("Paused. {}", self.cabinet.standing().said);
        self.paused().say_focus(&mut words);
        words
    }

    /// Whether a tap asks to play alone instead of joining.
    pub(super) fn asks_to_stay_alone(&mut self, x: i32, y: i32) -> bool {
        self.joining(|facts, view| joining_alone_at(view, facts, x, y))
    }

    /// Progress of a join as text; none while nothing is shown.
    pub fn joining_words(&mut self) -> Option<String> {
        let shown = self.screen == Screen::Flying && self.is_joining_shown();
        shown.then(|| self.joining(|facts, _| facts.words()))
    }

    fn joining<T>(&mut self, tell: impl FnOnce(&JoiningFacts<'_>, View) -> T) -> T {
        let people = self.cabinet.room_mut().members();
        let linked_to: Vec<String> = people
            .iter()
            .filter(|person| !person.is_local && person.link_stats.is_some())
            .map(|person| person.name.clone())
            .collect();
        let rtts = people.iter().filter_map(|person| person.link_stats.and_then(|link| link.rtt));
        let slowest_ms = rtts.max().map(|rtt| rtt.as_millis() as u32);
        let room = self.cabinet.room_mut().lobby_client().and_then(|lobby| lobby.room().cloned());
        let code = room.as_ref().map(|room| room.code.to_string()).unwrap_or_default();
        let about = self.cabinet.about();
        let mut seats: Vec<Option<&str>> = vec![None; about.seats];
        let mut own_seat = None;
        for member in room.iter().flat_map(|room| &room.members) {
            let Some(seat) = member.slot.map(|slot| slot.index()).filter(|seat| *seat < about.seats) else {
                continue;
            };
            let is_self = people.iter().any(|person| person.is_local && person.peer == member.peer);
            if is_self {
                own_seat = Some(seat);
            }
            seats[seat] = Some(member.name.as_str());
        }
        let since = self.shelf.joining_since.map_or(0, |since| self.now.since(since).as_millis());
        let facts = JoiningFacts {
            code: &code,
            percent: self.join_percent(),
            linked_to: &linked_to,
            slowest_ms,
            place: about.place,
            arrival: about.arrival,
            seats: &seats,
            own_seat,
            since_ms: since as u32,
            touch: self.touch.used,
        };
        tell(&facts, self.view)
    }

    /// Draws key hints in the first seconds.
    fn draw_keys(&mut self, over: &mut Scene) {
        let late = self.now.since(self.took_off) >= KEYS_SHOWN;
        if late || self.touch.used || self.is_watching() || self.is_board_up() {
            return;
        }
        let (players, places) = (self.players, self.cabinet.own_places());
        // One player has the first set of keys; two players have the second and the third.
        let first = usize::from(players > 1);
        for (nth, keys) in self.cabinet.about().keys.iter().skip(first).enumerate().take(players) {
            key_hints::draw_over(over, self.view, keys, places.get(nth).copied());
        }
    }

    /// Draws a hint in the first seconds on a phone held upright, if the picture is larger when it
    /// is held sideways.
    fn draw_turn_hint(&mut self, over: &mut Scene) {
        let View { width, scale, word_scale, top, .. } = self.view;
        let is_late = self.now.since(self.took_off) >= KEYS_SHOWN;
        let gains = gains_by_turning(self.view, self.cabinet.about().world);
        if is_late || !self.touch.used || !gains || self.is_board_up() {
            return;
        }
        // Above the score plaques.
        let y = (top * scale / word_scale - 82).max(30);
        let middle = (width / word_scale / 2) as f32;
        over.word(TURN_HINT, middle, y as f32, palette::BONE).centered().outlined(palette::INK);
    }
}

/// Whether the world is shown larger when the screen is turned sideways.
fn gains_by_turning(view: View, world: (i32, i32)) -> bool {
    let turned = (view.height / world.0).min(view.width / world.1);
    view.width < view.height && turned > view.scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arcade::fit;

    #[test]
    fn phone_held_upright_is_told_to_be_turned_where_that_helps() {
        let world = (384, 216);
        for (width, height, ratio, gains) in [
            (780, 1_688, 2.0, true),
            (1_170, 2_532, 3.0, true),
            (1_688, 780, 2.0, false),
            (2_532, 1_170, 3.0, false),
            (400, 420, 1.0, false),
        ] {
            let view = fit(width, height, ratio, world);
            assert_eq!(gains_by_turning(view, world), gains, "{width}×{height}");
            // The hint fits on the screen.
            assert!(!gains || gaggle_scene::font::width(TURN_HINT, false, 0) < view.word_width());
        }
    }
}
