//! Drawing of the lobby: a card with the players, what is waited for, and buttons. `Lobby` calls
//! it. Absent: choices.

use gaggle_scene::{Scene, View, font, palette};

use super::{Button, Lobby, LobbyFacts, Waiting, state_of};
use crate::pen::{Pen, Rect, wrapped};
use crate::pictures::pictures;

/// Greatest width of the card.
const WIDE: i32 = 236;
/// Heights of the rows: title, status, the large button, a setting, and the buttons at the foot.
const TITLE: i32 = 17;
const STATUS: i32 = 14;
const LARGE: i32 = 20;
const FOOT: i32 = 18;
/// Height of a player's row: at least, with keys, and for fingers.
const ROW_MIN: i32 = 11;
const ROW: i32 = 16;
const FINGER_ROW: i32 = 20;

/// Places of everything, in text pixels.
pub(super) struct Plan {
    card: Rect,
    inner: Rect,
    status: i32,
    rows: i32,
    row: i32,
    /// Row of the line about the delay, if there is room for it.
    cost: Option<i32>,
    buttons: Vec<(Button, Rect)>,
}

impl Plan {
    pub(super) fn of(lobby: &Lobby, view: View, touch: bool) -> Plan {
        let (wide, tall) = (view.word_width(), view.word_height());
        let upright = wide < tall;
        let card_wide = if upright { wide - 8 } else { WIDE.min(wide * 46 / 100) };
        let players = lobby.waiting.len().max(1) as i32;
        let settings = if lobby.is_host() { 2 } else { 1 };
        let setting = if touch { 18 } else { 16 };
        let fixed = 8 + TITLE + STATUS + LARGE + 6 + settings * setting + FOOT + 6;
        let has_cost = tall - 6 - fixed - players * ROW_MIN >= 24;
        let fixed = fixed + if has_cost { 22 } else { 0 };
        let row = ((tall - 6 - fixed) / players).clamp(ROW_MIN, if touch { FINGER_ROW } else { ROW });
        let card_tall = (fixed + players * row).min(tall - 4);
        let (x, y) = match upright {
            // Below the world, or as low as possible.
            true => (
                4,
                ((view.top + 360) * view.scale / view.word_scale + 4).clamp(2, (tall - card_tall - 2).max(2)),
            ),
            false => (wide - card_wide - if wide >= 480 { 12 } else { 3 }, ((tall - card_tall) / 2).max(2)),
        };
        let card = Rect::new(x, y, card_wide, card_tall);
        let inner = Rect::new(card.x + 9, card.y + 8, card.wide - 18, card.tall - 16);
        let (status, rows) = (inner.y + TITLE - 3, inner.y + TITLE + STATUS - 2);
        let mut plan = Plan { card, inner, status, rows, row, cost: None, buttons: Vec::new() };
        plan.place_buttons(lobby, setting, has_cost);
        plan
    }

    fn place_buttons(&mut self, lobby: &Lobby, setting: i32, has_cost: bool) {
        let Rect { x, wide, .. } = self.inner;
        let mut y = self.rows;
        for waiting in &lobby.waiting {
            if lobby.is_host() && !waiting.is_own {
                let [hand, kick] =
                    [58, 28].map(|from_right| Rect::new(x + wide - from_right, y, 28, self.row - 2));
                self.buttons.push((Button::Hand(waiting.peer), hand));
                self.buttons.push((Button::Kick(waiting.peer), kick));
            }
            y += self.row;
        }
        y += 3;
        let large = Rect::new(x, y, wide, LARGE - 3);
        if lobby.buttons().contains(&Button::Start) {
            let [ready, start] = large.columns([3, 2], 4);
            self.buttons.extend([(Button::Ready, ready), (Button::Start, start)]);
        } else {
            self.buttons.push((Button::Ready, large));
        }
        y += LARGE;
        if lobby.is_host() {
            self.buttons.push((Button::Slow, Rect::new(x, y, wide, setting - 2)));
            y += setting;
        }
        self.buttons.push((Button::Delay, Rect::new(x, y, wide, setting - 2)));
        y += setting;
        if has_cost {
            self.cost = Some(y + 1);
            y += 22;
        }
        let [invite, leave] = Rect::new(x, y + 2, wide, FOOT - 3).columns([1, 1], 4);
        self.buttons.extend([(Button::Invite, invite), (Button::Leave, leave)]);
    }

    pub(super) fn button_at(&self, view: View, x: i32, y: i32) -> Option<Button> {
        let (x, y) = (x.div_euclid(view.word_scale), y.div_euclid(view.word_scale));
        self.buttons.iter().find(|(_, place)| place.contains(x, y)).map(|(button, _)| *button)
    }
}

pub(super) fn draw(lobby: &Lobby, scene: &mut Scene, view: View, facts: &LobbyFacts<'_>) {
    let plan = Plan::of(lobby, view, facts.touch);
    let mut pen = Pen::new(scene, view);
    count(&mut pen, lobby, view, &plan);
    pen.card(plan.card, palette::MIST[0]);
    let inner = plan.inner;
    pen.bold("The roost", inner.x, inner.y, inner.wide * 2 / 3, palette::TEXT);
    pen.bold(&lobby.code, inner.right(), inner.y, inner.wide / 2, palette::FIRE[5]).right();
    pen.text(&lobby.status(), inner.x, plan.status, inner.wide, palette::BONE);
    for (nth, waiting) in (0..).zip(&lobby.waiting) {
        let row = Rect::new(inner.x, plan.rows + nth * plan.row, inner.wide, plan.row);
        if row.bottom() <= plan.card.bottom() {
            player(&mut pen, row, waiting, lobby.is_host() && !waiting.is_own);
        }
    }
    for (button, place) in &plan.buttons {
        if place.bottom() <= plan.card.bottom() {
            draw_button(&mut pen, lobby, *button, *place, facts);
        }
    }
    if let Some(y) = plan.cost {
        for (nth, line) in (0..).zip(wrapped(facts.cost, inner.wide, 2)) {
            pen.text(&line, inner.x, y + 10 * nth, inner.wide, palette::FAINT);
        }
    }
}

/// The last seconds, large over the water.
fn count(pen: &mut Pen<'_>, lobby: &Lobby, view: View, plan: &Plan) {
    let Some(seconds) = lobby.seconds().filter(|seconds| lobby.is_counting() && *seconds > 0) else { return };
    let upright = view.word_width() < view.word_height();
    let (x, y) = match upright {
        true => (view.word_width() / 2, (plan.card.y / 2).max(2)),
        false => (plan.card.x / 2, view.word_height() / 3),
    };
    let text = seconds.to_string();
    pen.bold(&text, x, y, 60, palette::MOON).centered().sized(5).outlined(palette::INK);
}

fn player(pen: &mut Pen<'_>, row: Rect, waiting: &Waiting, has_buttons: bool) {
    let color = palette::SEATS_SIX[waiting.seat % palette::SEATS_SIX.len()];
    let y = row.y + (row.tall - 9) / 2;
    pen.emblem(waiting.seat, !waiting.is_away, row.x - 1, y - 2);
    let buttons = if has_buttons { 63 } else { 0 };
    let state = state_of(waiting);
    let state_right = row.right() - buttons;
    let state_wide = font::width(state, false, 0);
    let tint = match state {
        "ready" => palette::OK,
        _ => palette::FAINT,
    };
    pen.text(state, state_right, y, state_wide, tint).right();
    if state == "ready" {
        pen.image(pictures().tick, state_right - state_wide - 11, y);
    }
    let host = if waiting.is_host { font::width("host", false, 0) + 5 } else { 0 };
    let room = state_right - state_wide - 14 - (row.x + 13) - host;
    let name_wide = font::width(&gaggle_scene::fitted(&waiting.name, room, true), true, 0);
    if waiting.is_own {
        pen.bold(&waiting.name, row.x + 13, y, room, color);
    } else {
        pen.text(&waiting.name, row.x + 13, y, room, color);
    }
    if host > 0 {
        pen.text("host", row.x + 13 + name_wide + 5, y, host, palette::FIRE[5]);
    }
}

fn draw_button(pen: &mut Pen<'_>, lobby: &Lobby, button: Button, place: Rect, facts: &LobbyFacts<'_>) {
    let is_primary = button == Button::Ready && !lobby.own().is_some_and(|own| own.is_ready);
    if is_primary {
        pen.panel(place, palette::FIRE[4], 1.0, Some(palette::FIRE[5]));
    } else {
        pen.panel(place, palette::NIGHT[2], 1.0, Some(palette::MIST[0]));
    }
    let (words, key) = label(lobby, button, facts);
    let y = place.y + (place.tall - 7) / 2;
    if matches!(button, Button::Slow | Button::Delay) {
        let (left, right) = words.split_once(": ").unwrap_or((&words, ""));
        let wide = font::width(left, false, 0);
        pen.text(left, place.x + 5, y, place.wide - 10, palette::DIM);
        pen.text(right, place.right() - 5, y, place.wide - wide - 16, palette::TEXT).right();
    } else {
        let key_wide = font::width(key, false, 0);
        let words_wide = font::width(&words, is_primary, 0);
        let has_key = !facts.touch && !key.is_empty() && words_wide + key_wide + 14 <= place.wide;
        let all = words_wide + if has_key { key_wide + 5 } else { 0 };
        let x = place.x + ((place.wide - all) / 2).max(2);
        let (ink, faint) =
            if is_primary { (palette::INK, palette::FIRE[1]) } else { (palette::TEXT, palette::FAINT) };
        if is_primary {
            pen.bold(&words, x, y, place.wide - 4, ink);
        } else {
            pen.text(&words, x, y, place.wide - 4, ink);
        }
        if has_key {
            pen.text(key, x + words_wide + 5, y, key_wide, faint);
        }
    }
    if lobby.focus == button && !facts.touch {
        pen.panel(place.grown(1), palette::INK, 0.0, Some(palette::MOON));
    }
}

/// Short text of a button, and its key.
fn label(lobby: &Lobby, button: Button, facts: &LobbyFacts<'_>) -> (String, &'static str) {
    let is_ready = lobby.own().is_some_and(|own| own.is_ready);
    match button {
        Button::Ready if is_ready => ("Not ready".to_string(), "Space"),
        Button::Ready => ("Ready".to_string(), "Space"),
        Button::Start => ("Start now".to_string(), ""),
        Button::Hand(_) => ("host".to_string(), ""),
        Button::Kick(peer) if lobby.doomed == Some(peer) => ("sure".to_string(), ""),
        Button::Kick(_) => ("kick".to_string(), ""),
        Button::Slow => (format!("Slow machines: {}", lobby.slow.row().2), ""),
        Button::Delay => (format!("Input delay: {}", facts.delay), ""),
        Button::Invite => ("Invite".to_string(), "C"),
        Button::Leave => ("Leave".to_string(), "Esc"),
    }
}

#[cfg(test)]
mod tests {
    use gaggle::{Micros, PeerId};

    use super::*;
    use crate::pen::tests::{assert_inside, views};

    fn lobby(count: usize, is_host: bool) -> Lobby {
        let waiting = (0..count).map(|seat| Waiting {
            peer: PeerId::from_u128(seat as u128 + 1),
            seat,
            name: "a name without end ".repeat(10),
            is_ready: seat % 2 == 0,
            is_away: seat == 4,
            is_host: (seat == 0) == is_host,
            is_own: seat == 0,
        });
        let starts_at = Some(Micros::from_secs(3));
        let code = "FNWKBX".to_string();
        Lobby { is_open: true, code, waiting: waiting.collect(), starts_at, ..Lobby::default() }
    }

    #[test]
    fn it_fits_on_any_screen_with_any_number_of_players() {
        let facts =
            LobbyFacts { delay: "automatic, 5", cost: &"long words ".repeat(20), ..LobbyFacts::default() };
        for view in views() {
            for count in [0, 1, 4, 6] {
                for (is_host, touch) in [(true, false), (false, true)] {
                    let mut scene = Scene::default();
                    draw(&lobby(count, is_host), &mut scene, view, &LobbyFacts { touch, ..facts });
                    assert_inside(&scene, crate::album(), view, "lobby");
                }
            }
        }
    }

    #[test]
    fn every_button_is_reached_by_keys_and_by_taps() {
        for view in views().into_iter().filter(|view| view.word_height() >= 190) {
            for is_host in [false, true] {
                let lobby = lobby(6, is_host);
                let plan = Plan::of(&lobby, view, true);
                let mut drawn: Vec<Button> = plan.buttons.iter().map(|(button, _)| *button).collect();
                assert_eq!(drawn.len(), lobby.buttons().len());
                drawn.retain(|button| !lobby.buttons().contains(button));
                assert_eq!(drawn, []);
                for (button, place) in &plan.buttons {
                    assert!(
                        place.bottom() <= plan.card.bottom(),
                        "{button:?} at {place:?} of {:?}",
                        plan.card
                    );
                    let (x, y) = place.middle();
                    let (x, y) = (x * view.word_scale, y * view.word_scale);
                    assert_eq!(plan.button_at(view, x, y), Some(*button));
                }
            }
        }
    }
}
