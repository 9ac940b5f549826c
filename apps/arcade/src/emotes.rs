//! Quick emotes: eight small pictures that players show over their riders, with muting. `Arcade`
//! feeds it with received emotes and asks it what to draw. Absent: rooms, keys, touch.

use gaggle::Micros;
use gaggle::lobby::PlayerId;
use gaggle_scene::{Scene, View, palette};

use crate::pen::{Pen, Rect};
use crate::pictures::pictures;

/// Number of emotes.
pub(crate) const COUNT: usize = 8;
/// Columns and rows of a picture in text pixels.
pub(crate) const PICTURE: (i32, i32) = (22, 18);
/// First byte of an emote's message. The second is its number.
const KIND: u8 = 0xe1;
/// How long an emote is shown.
const SHOWN: Micros = Micros::from_millis(2_500);
/// Shortest time between two emotes of a player; a peer's emotes that come sooner are ignored.
const EVERY: Micros = Micros::from_millis(700);
/// Tolerance of that interval, for jitter.
const JITTER: Micros = Micros::from_millis(200);
/// Players remembered: more than a room has.
const PLAYERS_MAX: usize = 32;
/// Height of a rider with its crest and name, in world pixels.
const OVER: i32 = 44;

/// An emote over a rider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shown {
    seat: usize,
    emote: usize,
    since: Micros,
}

/// The emotes on the screen.
#[derive(Debug, Default)]
pub(crate) struct Emotes {
    shown: Vec<Shown>,
    sent: Option<Micros>,
    /// Players, and when an emote of each was last accepted.
    heard: Vec<(PlayerId, Micros)>,
    muted: Vec<PlayerId>,
}

impl Emotes {
    /// Sends an own emote: returns the message for the others. None if it comes too soon.
    pub(crate) fn send(&mut self, now: Micros, seat: usize, emote: usize) -> Option<[u8; 2]> {
        if emote >= COUNT || self.sent.is_some_and(|sent| now.since(sent) < EVERY) {
            return None;
        }
        self.sent = Some(now);
        self.show(now, seat, emote);
        Some([KIND, emote as u8])
    }

    /// Takes a message of a peer. It is ignored if it is no emote, comes too soon or is from a
    /// muted player.
    pub(crate) fn hear(&mut self, now: Micros, player: PlayerId, seat: usize, bytes: &[u8]) {
        let &[KIND, emote] = bytes else { return };
        let is_late = |at: Micros| now.since(at) + JITTER >= EVERY;
        let known = self.heard.iter().position(|(known, _)| *known == player);
        let is_due = known.is_none_or(|nth| is_late(self.heard[nth].1));
        if usize::from(emote) >= COUNT || !is_due || self.is_muted(player) {
            return;
        }
        match known {
            Some(nth) => self.heard[nth].1 = now,
            None => {
                if self.heard.len() >= PLAYERS_MAX {
                    self.heard.remove(0);
                }
                self.heard.push((player, now));
            }
        }
        self.show(now, seat, emote.into());
    }

    /// Shows an emote, at most one per rider.
    fn show(&mut self, now: Micros, seat: usize, emote: usize) {
        self.shown.retain(|shown| shown.seat != seat && now.since(shown.since) < SHOWN);
        self.shown.push(Shown { seat, emote, since: now });
    }

    pub(crate) fn is_muted(&self, player: PlayerId) -> bool {
        self.muted.contains(&player)
    }

    /// Mutes or unmutes a player. `seat` is the slot where one of its emotes may be shown.
    pub(crate) fn toggle(&mut self, player: PlayerId, seat: Option<usize>) {
        match self.muted.iter().position(|muted| *muted == player) {
            Some(nth) => _ = self.muted.swap_remove(nth),
            None if self.muted.len() < PLAYERS_MAX => {
                self.muted.push(player);
                self.shown.retain(|shown| Some(shown.seat) != seat);
            }
            None => {}
        }
    }

    /// Clears the screen for another match. Muted players stay muted.
    pub(crate) fn clear(&mut self) {
        self.shown.clear();
    }

    /// Slots and emotes on the screen.
    pub(crate) fn on_screen(&self, now: Micros) -> Vec<(usize, usize)> {
        let fresh = self.shown.iter().filter(|shown| now.since(shown.since) < SHOWN);
        fresh.map(|shown| (shown.seat, shown.emote)).collect()
    }

    /// Draws emotes over their riders, whose positions are in world pixels.
    pub(crate) fn draw(
        &self,
        scene: &mut Scene,
        view: View,
        now: Micros,
        place_of: impl Fn(usize) -> Option<(i32, i32)>,
    ) {
        for shown in self.shown.iter().filter(|shown| now.since(shown.since) < SHOWN) {
            let Some((x, y)) = place_of(shown.seat) else { continue };
            let words = |art: i32| art * view.scale / view.word_scale;
            let (wide, tall) = (PICTURE.0 + 8, PICTURE.1 + 8);
            let (middle, bottom) = (words(x + view.left), words(y + view.top - OVER));
            let left = (middle - wide / 2).clamp(0, (view.word_width() - wide).max(0));
            let top = (bottom - tall).clamp(0, (view.word_height() - tall - 3).max(0));
            bubble(&mut Pen::new(scene, view), Rect::new(left, top, wide, tall), shown.seat, shown.emote);
        }
    }
}

fn bubble(pen: &mut Pen<'_>, place: Rect, seat: usize, emote: usize) {
    pen.card(place, palette::SEATS_SIX[seat % palette::SEATS_SIX.len()]);
    pen.image(pictures().emotes[emote % COUNT], place.x + 4, place.y + 4);
}

/// Grid of emotes for touch, with a button that leads to muting.
pub(crate) struct Picker {
    card: Rect,
}

/// Element that was tapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Picked {
    Emote(usize),
    Mutes,
}

const CELL: (i32, i32) = (34, 30);

impl Picker {
    pub(crate) fn of(view: View) -> Picker {
        let (wide, tall) = (4 * CELL.0 + 8, 2 * CELL.1 + 26);
        let x = (view.word_width() - wide) / 2;
        Picker { card: Rect::new(x, (view.word_height() - tall) / 3, wide, tall).within(view) }
    }

    fn cell(&self, nth: usize) -> Rect {
        let (column, row) = ((nth % 4) as i32, (nth / 4) as i32);
        Rect::new(self.card.x + 4 + column * CELL.0, self.card.y + 4 + row * CELL.1, CELL.0, CELL.1)
    }

    fn mutes(&self) -> Rect {
        Rect::new(self.card.x + 4, self.card.bottom() - 20, self.card.wide - 8, 17)
    }

    pub(crate) fn picked_at(&self, view: View, x: i32, y: i32) -> Option<Picked> {
        let (x, y) = (x.div_euclid(view.word_scale), y.div_euclid(view.word_scale));
        let emote = (0..COUNT).find(|nth| self.cell(*nth).contains(x, y)).map(Picked::Emote);
        emote.or(self.mutes().contains(x, y).then_some(Picked::Mutes))
    }

    pub(crate) fn draw(&self, scene: &mut Scene, view: View) {
        let mut pen = Pen::new(scene, view);
        pen.card(self.card, palette::MIST[1]);
        for nth in 0..COUNT {
            let cell = self.cell(nth).grown(-1);
            pen.panel(cell, palette::NIGHT[2], 1.0, Some(palette::MIST[0]));
            let (x, y) = cell.middle();
            pen.image(pictures().emotes[nth], x - PICTURE.0 / 2, y - PICTURE.1 / 2);
        }
        let at = self.mutes();
        pen.panel(at, palette::NIGHT[2], 1.0, Some(palette::MIST[0]));
        pen.text("Mute players", at.x + at.wide / 2, at.y + 5, at.wide - 4, palette::TEXT).centered();
    }
}

/// Button that opens the grid: below the exit button.
fn corner(view: View) -> Rect {
    Rect::new(view.word_width() - 24, 24, 24, 24).within(view)
}

/// Whether a tap is on that button.
pub(crate) fn asks_for_picker(view: View, x: i32, y: i32) -> bool {
    corner(view).contains(x.div_euclid(view.word_scale), y.div_euclid(view.word_scale))
}

/// Draws that button: a small face.
pub(crate) fn draw_corner(scene: &mut Scene, view: View) {
    let mut pen = Pen::new(scene, view);
    let place = corner(view).grown(-3);
    pen.panel(place, palette::PEAT[2], 0.6, Some(palette::PEAT[4]));
    let (x, y) = place.middle();
    for (left, top, wide) in [(-4, -4, 2), (2, -4, 2), (-5, 2, 2), (-3, 4, 6), (3, 2, 2)] {
        pen.fill(Rect::new(x + left, y + top, wide, 2), palette::BONE, 1.0);
    }
}

/// Pictures at half size: `y` and `r` are skin, `k` ink, `t` white, `u` water, `o` beak.
#[rustfmt::skip]
pub(crate) const PICTURES: [&[&str]; COUNT] = [
    &[
        "..yyyyyyy..",
        ".yyyyyyyyy.",
        "yyykyyykyyy",
        "yyykyyykyyy",
        "yyyyyyyyyyy",
        "yykyyyyykyy",
        "yyykkkkkyyy",
        ".yyyyyyyyy.",
        "..yyyyyyy..",
    ],
    &[
        "..yyyyyyy..",
        ".ykkyyykky.",
        "ykyykykyyky",
        "yyyyyyyyyyy",
        "yykkkkkkkyy",
        "yykttttkkyy",
        "yyykkrrkyyy",
        ".yyykkkyyy.",
        "..yyyyyyy..",
    ],
    &[
        "..yyyyyyy..",
        ".yyyyyyyyy.",
        "yyykyyykyyy",
        "yyykyyykyyy",
        "yyuyyyyyyyy",
        "yuuykkkyyyy",
        "yuukyyykyyy",
        ".yyyyyyyyy.",
        "..yyyyyyy..",
    ],
    &[
        "..rrrrrrr..",
        ".rkrrrrrkr.",
        "rrrkrrrkrrr",
        "rrktrrrtkrr",
        "rrrrrrrrrrr",
        "rrrkkkkkrrr",
        "rrkrrrrrkrr",
        ".rrrrrrrrr.",
        "..rrrrrrr..",
    ],
    &[
        "..rr...rr..",
        ".rrrr.rrrr.",
        "rrtrrrrrrrr",
        "rtrrrrrrrrr",
        ".rrrrrrrrr.",
        "..rrrrrrr..",
        "...rrrrr...",
        "....rrr....",
        ".....r.....",
    ],
    &[
        "....yyy....",
        "....yyy....",
        "....yyy....",
        "....yyy....",
        "....yyy....",
        ".....y.....",
        "...........",
        "....yyy....",
        "....yyy....",
    ],
    &[
        ".....yy....",
        ".....yy....",
        "....yyy....",
        "...yyyyyyy.",
        "uu.yyyyyyy.",
        "uu.yyyyyyy.",
        "uu.yyyyyyy.",
        "uu.yyyyyy..",
        "uu.........",
    ],
    &[
        "..tttt.....",
        ".tttttt..o.",
        ".ttkttooo..",
        ".tttttt....",
        ".tttttooo..",
        "..tttt...o.",
        "..tttt.....",
        ".ttttt.....",
        ".tttttt....",
    ],
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pen::tests::{assert_inside, views};

    fn ms(millis: u64) -> Micros {
        Micros::from_millis(millis)
    }

    fn player(number: u64) -> PlayerId {
        PlayerId::from_bytes(u128::from(number).to_be_bytes())
    }

    #[test]
    fn sent_emote_is_heard_and_fades() {
        let (mut ours, mut theirs) = (Emotes::default(), Emotes::default());
        let message = ours.send(ms(1_000), 2, 4).expect("the first goes at once");
        theirs.hear(ms(1_050), player(7), 2, &message);
        for (emotes, at) in [(&ours, 1_100), (&theirs, 3_500)] {
            assert_eq!(emotes.on_screen(ms(at)), [(2, 4)]);
        }
        assert_eq!(theirs.on_screen(ms(3_600)), []);
    }

    #[test]
    fn hasty_player_sends_one_emote_per_pace() {
        let mut ours = Emotes::default();
        let sent = (0..100).filter(|nth| ours.send(ms(nth * 100), 0, 1).is_some()).count();
        assert_eq!(sent, 15, "ten seconds at 700 ms");
    }

    #[test]
    fn flooding_peer_is_heard_at_pace_and_fills_nothing() {
        let mut theirs = Emotes::default();
        let mut changes = 0;
        for at in 0..10_000 {
            let before = theirs.on_screen(ms(at));
            theirs.hear(ms(at), player(7), 1, &[KIND, (at % 8) as u8]);
            changes += u32::from(theirs.on_screen(ms(at)) != before);
        }
        assert!(changes <= 20, "{changes} in ten seconds");
        for number in 0..1_000 {
            theirs.hear(ms(20_000), player(number), number as usize % 3, &[KIND, 0]);
        }
        assert!(theirs.heard.len() <= PLAYERS_MAX && theirs.shown.len() <= 3);
    }

    #[test]
    fn message_that_is_no_emote_is_dropped() {
        let mut theirs = Emotes::default();
        for bytes in [&[][..], &[KIND], &[KIND, 8], &[KIND, 255], &[0, 1], &[KIND, 1, 1], &[7; 4_096]] {
            theirs.hear(ms(0), player(7), 0, bytes);
        }
        assert_eq!(theirs.on_screen(ms(0)), []);
    }

    #[test]
    fn muted_player_shows_no_emote_until_heard_again() {
        let mut theirs = Emotes::default();
        theirs.hear(ms(0), player(7), 0, &[KIND, 1]);
        theirs.toggle(player(7), Some(0));
        assert_eq!(theirs.on_screen(ms(0)), [], "what is on the screen goes at once");
        theirs.hear(ms(5_000), player(7), 0, &[KIND, 1]);
        theirs.hear(ms(5_000), player(8), 1, &[KIND, 2]);
        assert_eq!(theirs.on_screen(ms(5_000)), [(1, 2)]);
        theirs.toggle(player(7), Some(0));
        theirs.hear(ms(9_000), player(7), 0, &[KIND, 1]);
        assert_eq!(theirs.on_screen(ms(9_000)), [(0, 1)]);
    }

    #[test]
    fn emotes_and_picker_fit_on_any_screen() {
        for view in views() {
            let mut scene = Scene::default();
            let mut emotes = Emotes::default();
            for seat in 0..6 {
                emotes.hear(ms(0), player(seat), seat as usize, &[KIND, seat as u8]);
            }
            emotes
                .draw(&mut scene, view, ms(1), |seat| Some((seat as i32 * 400 - 500, seat as i32 * 90 - 99)));
            draw_corner(&mut scene, view);
            assert_inside(&scene, crate::album(), view, "emotes");
            let picker = Picker::of(view);
            if view.word_height() < 100 {
                continue;
            }
            picker.draw(&mut scene, view);
            assert_inside(&scene, crate::album(), view, "picker");
            for nth in 0..COUNT {
                let (x, y) = picker.cell(nth).middle();
                let picked = picker.picked_at(view, x * view.word_scale, y * view.word_scale);
                assert_eq!(picked, Some(Picked::Emote(nth)));
            }
        }
    }
}
