//! Short messages at the bottom left, or at the top of menus: the newest first, each for four
//! seconds, with the emblem of the player it is about. `Arcade` pushes and draws them. Absent:
//! events.

use std::collections::VecDeque;

use gaggle::Micros;
use gaggle_scene::{Scene, View, font, palette};

use crate::pen::{Pen, Rect, wrapped};

/// How long one is shown.
const SHOWN: Micros = Micros::from_secs(4);
/// A warning is shown longer, because newer messages may cover it meanwhile.
const WARNED: Micros = Micros::from_secs(6);
/// Most messages kept.
const KEPT: usize = 4;
/// Most messages shown at once, where there is room.
const SEEN: usize = 3;

/// Screen that messages are drawn over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// A running match.
    Flight,
    /// Score board, with room at the bottom.
    Board,
    /// Screens with buttons at the bottom.
    Menu,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Toast {
    seat: Option<usize>,
    text: String,
    warn: bool,
    shown: Micros,
    /// When it expires; none before the first tick.
    until: Option<Micros>,
}

/// All current messages, the newest first.
#[derive(Debug, Clone, Default)]
pub struct Toasts {
    queue: VecDeque<Toast>,
}

impl Toasts {
    /// Adds a message before all others. A repeated message is shown as new.
    pub fn push(&mut self, seat: Option<usize>, text: String, warn: bool) {
        self.add(Toast { seat, text, warn, shown: if warn { WARNED } else { SHOWN }, until: None });
    }

    /// Adds a message with a duration of its own.
    pub fn push_for(&mut self, shown: Micros, text: String) {
        self.add(Toast { seat: None, text, warn: true, shown, until: None });
    }

    fn add(&mut self, toast: Toast) {
        self.queue.retain(|other| (other.seat, &other.text) != (toast.seat, &toast.text));
        self.queue.push_front(toast);
        self.queue.truncate(KEPT);
    }

    /// Advances time: expired messages are dropped, even if they were not visible.
    pub fn tick(&mut self, now: Micros) {
        self.queue.retain_mut(|toast| now < *toast.until.get_or_insert(now + toast.shown));
    }

    /// The newest message, for screen readers.
    pub fn current(&self) -> Option<&str> {
        self.queue.front().map(|toast| toast.text.as_str())
    }

    /// All current messages, the newest first.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.queue.iter().map(|toast| toast.text.as_str())
    }

    /// Drops all messages.
    pub fn clear(&mut self) {
        *self = Toasts::default();
    }

    /// Draws them: at the left, or between the columns that no thumb covers. Older ones follow the
    /// newest where there is room.
    pub fn draw(&self, scene: &mut Scene, view: View, thumbs: Option<(i32, i32)>, spot: Spot) {
        let (width, height) = (view.word_width(), view.word_height());
        let margin = if width >= 400 { 26 } else { 4 };
        // On an upright phone thumbs are at the bottom: messages are right below the world then,
        // over the whole width.
        let (left, right) = thumbs.filter(|_| width >= height).unwrap_or((margin, width - margin));
        let seen = if thumbs.is_none() && width >= 480 && height >= 240 { SEEN } else { 1 };
        let mut moved = 0;
        for toast in self.queue.iter().take(seen) {
            let mark = if toast.seat.is_some() { 15 } else { 0 };
            let room = (right - left - 12 - mark).clamp(1, 320);
            let lines = wrapped(&toast.text, room, 3);
            let wide = lines.iter().map(|line| font::width(line, false, 0)).max().unwrap_or(0) + 12 + mark;
            let tall = 7 + 11 * lines.len() as i32;
            // As many rows are below the world as above it.
            let below = (view.art_height - view.top) * view.scale / view.word_scale + 4;
            let y = match spot {
                Spot::Menu => 2 + moved,
                Spot::Flight if width < height => below.min(height - tall - 4),
                Spot::Flight if thumbs.is_some() => height - tall - 2,
                Spot::Flight | Spot::Board => height - tall - 8 - moved,
            };
            moved += tall + 3;
            let x = if thumbs.is_some() || spot == Spot::Menu { (left + right - wide) / 2 } else { left };
            let place = Rect::new(x.clamp(0, (width - wide).max(0)), y.max(0), wide, tall);
            toast.draw(&mut Pen::new(scene, view), place, mark, &lines);
        }
    }
}

impl Toast {
    fn draw(&self, pen: &mut Pen<'_>, place: Rect, mark: i32, lines: &[String]) {
        let edge = match (self.warn, self.seat) {
            (true, _) => palette::WARN,
            (false, Some(seat)) => {
                palette::SEATS_SIX[seat % palette::SEATS_SIX.len()].mix(palette::NIGHT[1], 0.45)
            }
            (false, None) => palette::MIST[0],
        };
        pen.card(place, edge);
        if let Some(seat) = self.seat {
            pen.emblem(seat, true, place.x + 5, place.y + 4);
        }
        for (nth, line) in (0..).zip(lines) {
            pen.text(line, place.x + 6 + mark, place.y + 6 + 11 * nth, place.wide, palette::TEXT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Touch;
    use crate::pen::tests::{assert_inside, views};

    fn ms(millis: u64) -> Micros {
        Micros::from_millis(millis)
    }

    fn seen(toasts: &mut Toasts, from: u64, to: u64) -> Vec<String> {
        let mut seen: Vec<String> = vec![];
        for at in (from..to).step_by(100) {
            toasts.tick(ms(at));
            seen.extend(
                toasts
                    .current()
                    .filter(|text| seen.last().is_none_or(|last| last != text))
                    .map(str::to_string),
            );
        }
        seen
    }

    #[test]
    fn newest_is_first_and_nothing_waits_for_its_turn() {
        let mut toasts = Toasts::default();
        assert_eq!(toasts.current(), None);
        toasts.push(Some(1), "Hob flies off.".to_string(), false);
        assert_eq!(seen(&mut toasts, 10_000, 13_000), ["Hob flies off."]);
        toasts.push(None, "The lobby is back.".to_string(), false);
        assert_eq!(seen(&mut toasts, 13_000, 17_000), ["The lobby is back."]);
        assert_eq!(seen(&mut toasts, 17_000, 17_200), [""; 0], "four seconds after it was said");
    }

    #[test]
    fn stale_toast_is_dropped_unseen() {
        let mut toasts = Toasts::default();
        toasts.push(None, "Hob went quiet.".to_string(), true);
        toasts.push(None, "Wren drops in.".to_string(), false);
        assert_eq!(
            seen(&mut toasts, 0, 9_000),
            ["Wren drops in.", "Hob went quiet."],
            "a warning lasts longer"
        );
        toasts.push(None, "Hob is back.".to_string(), false);
        toasts.tick(ms(9_000));
        // The page was not visible for a minute.
        toasts.tick(ms(69_000));
        assert_eq!(toasts.current(), None);
    }

    #[test]
    fn flood_of_toasts_is_not_kept() {
        let mut toasts = Toasts::default();
        for nth in 0..1_000 {
            toasts.push(None, format!("Number {nth}"), false);
            toasts.push(None, format!("Number {nth}"), false);
        }
        assert_eq!((toasts.queue.len(), toasts.current()), (KEPT, Some("Number 999")));
        assert_eq!(toasts.queue.back().unwrap().text, format!("Number {}", 1_000 - KEPT));
    }

    #[test]
    fn any_text_fits_on_any_screen() {
        for view in views() {
            for (seat, text) in [(Some(9), "Hob drops in.".to_string()), (None, "honk ".repeat(200))] {
                let mut toasts = Toasts::default();
                for nth in 0..9 {
                    toasts.push(seat, format!("{nth} {text}"), true);
                }
                let free = Some(Touch::new(view, false).free());
                let spots =
                    [(None, Spot::Flight), (free, Spot::Flight), (None, Spot::Board), (None, Spot::Menu)];
                for (thumbs, spot) in spots {
                    let mut scene = Scene::default();
                    toasts.draw(&mut scene, view, thumbs, spot);
                    assert!(!scene.words.is_empty());
                    assert_inside(&scene, crate::album(), view, "toast");
                }
            }
        }
    }
}
