//! Short news at the bottom left, or at the top of menus: one at a time, four seconds each, with the mark of whom it is about.

use std::collections::VecDeque;

use gaggle::Micros;
use gaggle_scene::{Scene, View, font, palette};

use crate::pen::{Pen, Rect, wrapped};

/// How long one is shown.
const SHOWN: Micros = Micros::from_secs(4);
/// How many are kept, the one that is shown included.
const KEPT: usize = 8;

/// What they are drawn over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// A match.
    Flight,
    /// Scores, which leave room at the bottom.
    Board,
    /// Whatever has buttons at the bottom.
    Menu,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Toast {
    seat: Option<usize>,
    text: String,
    warn: bool,
    shown: Micros,
}

/// The one that is shown, and those that wait.
#[derive(Debug, Clone, Default)]
pub struct Toasts {
    queue: VecDeque<Toast>,
    /// When the first began to be shown.
    since: Option<Micros>,
}

impl Toasts {
    /// Adds one. A warning is shown at once, before whatever is none. Of too many, the oldest that waits is forgotten; one that
    /// is there already is not repeated.
    pub fn push(&mut self, seat: Option<usize>, text: String, warn: bool) {
        self.add(Toast { seat, text, warn, shown: SHOWN });
    }

    /// Adds one that is shown for longer or shorter than others, and at once.
    pub fn push_for(&mut self, shown: Micros, text: String) {
        self.add(Toast { seat: None, text, warn: true, shown });
    }

    fn add(&mut self, toast: Toast) {
        if self.queue.contains(&toast) {
            return;
        }
        if self.queue.len() >= KEPT {
            self.queue.remove(1);
        }
        let calm = self.queue.iter().position(|waits| !waits.warn);
        match calm.filter(|_| toast.warn) {
            Some(place) => {
                self.queue.insert(place, toast);
                self.since = self.since.filter(|_| place > 0);
            }
            None => self.queue.push_back(toast),
        }
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Micros) {
        match self.since {
            _ if self.queue.is_empty() => self.since = None,
            None => self.since = Some(now),
            Some(since) if self.queue.front().is_none_or(|toast| now.since(since) >= toast.shown) => {
                self.queue.pop_front();
                self.since = (!self.queue.is_empty()).then_some(now);
            }
            Some(_) => {}
        }
    }

    /// What is shown, for those who listen instead.
    pub fn current(&self) -> Option<&str> {
        self.queue.front().map(|toast| toast.text.as_str())
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        *self = Toasts::default();
    }

    /// Draws the one that is shown: at the left, or where no thumb lies, from one column to another.
    pub fn draw(&self, scene: &mut Scene, view: View, thumbs: Option<(i32, i32)>, spot: Spot) {
        let Some(toast) = self.queue.front() else { return };
        let (width, height) = (view.word_width(), view.word_height());
        let mark = if toast.seat.is_some() { 15 } else { 0 };
        let margin = if width >= 400 { 26 } else { 4 };
        // Upright, thumbs are at the bottom: right below the world then, over the whole width.
        let (left, right) = thumbs.filter(|_| width >= height).unwrap_or((margin, width - margin));
        let room = (right - left - 12 - mark).clamp(1, 320);
        let lines = wrapped(&toast.text, room, 3);
        let wide = lines.iter().map(|line| font::width(line, false, 0)).max().unwrap_or(0) + 12 + mark;
        let tall = 7 + 11 * lines.len() as i32;
        let below = (view.top + gander::arena::HEIGHT) * view.scale / view.word_scale + 4;
        let y = match spot {
            Spot::Menu => 2,
            Spot::Flight if width < height => below.min(height - tall - 4),
            Spot::Flight if thumbs.is_some() => height - tall - 2,
            Spot::Flight | Spot::Board => height - tall - 8,
        };
        let x = if thumbs.is_some() || spot == Spot::Menu { (left + right - wide) / 2 } else { left };
        let place = Rect::new(x.clamp(0, (width - wide).max(0)), y.max(0), wide, tall);
        let mut pen = Pen::new(scene, view);
        let edge = match (toast.warn, toast.seat) {
            (true, _) => palette::WARN,
            (false, Some(seat)) => {
                palette::SEATS_SIX[seat % palette::SEATS_SIX.len()].mix(palette::NIGHT[1], 0.45)
            }
            (false, None) => palette::MIST[0],
        };
        pen.card(place, edge);
        if let Some(seat) = toast.seat {
            pen.emblem(seat, true, place.x + 5, place.y + 4);
        }
        for (nth, line) in lines.iter().enumerate() {
            pen.text(line, place.x + 6 + mark, place.y + 6 + 11 * nth as i32, room, palette::TEXT);
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

    #[test]
    fn each_is_shown_for_four_seconds_one_after_the_other() {
        let mut toasts = Toasts::default();
        assert_eq!(toasts.current(), None);
        toasts.push(Some(1), "Hob flies off.".to_string(), false);
        toasts.push(None, "The lobby is back.".to_string(), false);
        let mut seen = vec![];
        for at in (10_000..20_000).step_by(500) {
            toasts.tick(ms(at));
            seen.extend(toasts.current().map(str::to_string));
        }
        let shown = |text| seen.iter().filter(|seen| *seen == text).count();
        assert_eq!((shown("Hob flies off."), shown("The lobby is back.")), (8, 8));
        assert_eq!(seen[0], "Hob flies off.");
        assert_eq!(toasts.current(), None);
    }

    #[test]
    fn a_warning_waits_for_nothing_but_other_warnings() {
        let mut toasts = Toasts::default();
        toasts.push(None, "Big Tam drops in.".to_string(), false);
        toasts.tick(ms(0));
        for (name, warn) in
            [("Hob went quiet.", true), ("Wren drops in.", false), ("Ottilie went quiet.", true)]
        {
            toasts.push(None, name.to_string(), warn);
        }
        let mut seen = vec![];
        for at in (3_000..30_000).step_by(4_000) {
            toasts.tick(ms(at));
            seen.extend(toasts.current().map(str::to_string));
        }
        assert_eq!(seen, ["Hob went quiet.", "Ottilie went quiet.", "Big Tam drops in.", "Wren drops in."]);
    }

    #[test]
    fn a_flood_is_neither_kept_nor_does_it_hide_what_is_shown() {
        let mut toasts = Toasts::default();
        for nth in 0..1_000 {
            toasts.push(None, format!("Number {nth}"), false);
            toasts.push(None, format!("Number {nth}"), false);
        }
        assert_eq!((toasts.queue.len(), toasts.current()), (KEPT, Some("Number 0")));
        assert_eq!(toasts.queue.back().unwrap().text, "Number 999");
    }

    #[test]
    fn any_text_fits_on_any_screen() {
        for view in views() {
            for (seat, text) in [(Some(9), "Hob drops in.".to_string()), (None, "honk ".repeat(200))] {
                let mut toasts = Toasts::default();
                toasts.push(seat, text, true);
                let free = Some(Touch::default().free(view));
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
