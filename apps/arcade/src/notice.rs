//! A short text in the middle of the screen: about a stall, a pause, or how to play. `Arcade` draws
//! it. Absent: when it is shown.

use gaggle_scene::{Scene, View, font, palette};

use crate::pen::{Pen, Rect, wrapped};

/// Content of a notice.
#[derive(Debug, Clone, Copy, Default)]
pub struct Notice<'a> {
    /// Slot whose emblem is drawn in front.
    pub seat: Option<usize>,
    /// Heading in one line: `Lost touch. Holding your seat for 21 s.`
    pub heading: &'a str,
    /// Further text, a line each.
    pub lines: &'a [&'a str],
    /// Keys and their meanings.
    pub keys: &'a [(&'a str, &'a str)],
    /// Whether it is a warning.
    pub warn: bool,
    /// How much the background is darkened, in percent.
    pub shade_percent: u8,
    /// Whether the screen is touched: buttons instead of keys.
    pub touch: bool,
    /// Whether it is at the upper edge, so that the picture stays visible.
    pub is_high: bool,
    /// The key that Enter chooses, counted from the first, once Tab has focused one.
    pub focus: Option<usize>,
}

impl Notice<'_> {
    /// The whole notice as one text, for screen readers.
    pub fn words(&self) -> String {
        let mut words = self.heading.to_string();
        for line in self.lines {
            words.push(' ');
            words.push_str(line);
        }
        for (key, meaning) in self.keys {
            words.push_str(&format!(" {key}: {meaning}."));
        }
        self.say_focus(&mut words);
        words
    }

    /// Appends the key that Enter chooses to the spoken text.
    pub(crate) fn say_focus(&self, words: &mut String) {
        if let Some((_, meaning)) = self.focus.and_then(|nth| self.keys.get(nth)) {
            words.push_str(&format!(" In focus: {meaning}."));
        }
    }

    /// The key whose line is at a pixel of the screen, counted from the first: a tap chooses it.
    pub fn key_at(&self, view: View, x: i32, y: i32) -> Option<usize> {
        let plan = Plan::of(self, view);
        let (x, y) = (x.div_euclid(view.word_scale), y.div_euclid(view.word_scale));
        (0..self.keys.len()).find(|nth| {
            let top = plan.key_y(*nth as i32) - 4;
            plan.fits(top + 7) && Rect::new(plan.card.x, top, plan.card.wide, plan.key_step).contains(x, y)
        })
    }

    /// Draws the notice over the picture.
    pub fn draw(&self, scene: &mut Scene, view: View) {
        let plan = Plan::of(self, view);
        let mut pen = Pen::new(scene, view);
        pen.shade(f32::from(self.shade_percent.min(100)) / 100.0);
        pen.card(plan.card, if self.warn { palette::WARN } else { palette::MIST[1] });
        let (x, mut y) = (plan.x, plan.y);
        if let Some(seat) = self.seat {
            pen.emblem(seat, true, x - MARK - 2, y - 2);
        }
        for line in &plan.heading {
            if plan.fits(y) {
                pen.bold(line, x, y, plan.wide, palette::TEXT);
            }
            y += plan.step;
        }
        for line in &plan.lines {
            if plan.fits(y) {
                pen.text(line, x, y, plan.wide, palette::DIM);
            }
            y += plan.step;
        }
        for (nth, (key, meaning)) in (0..).zip(self.keys) {
            let y = plan.key_y(nth);
            if !plan.fits(y + 3) {
                continue;
            }
            let in_focus = self.focus == Some(nth as usize);
            if in_focus && !self.touch {
                let row = Rect::new(x - 4, y - 5, plan.wide + 8, plan.key_step.min(17));
                pen.panel(row, palette::NIGHT[1], 1.0, Some(palette::MOON));
            }
            if self.touch {
                let button = Rect::new(x - 4, y - 4, plan.wide + 8, plan.key_step - 3);
                let frame = if in_focus { palette::MOON } else { palette::MIST[0] };
                pen.panel(button, palette::NIGHT[2], 1.0, Some(frame));
                pen.text(
                    meaning,
                    x + plan.wide / 2,
                    y - 4 + (plan.key_step - 10) / 2,
                    plan.wide,
                    palette::TEXT,
                )
                .centered();
            } else {
                pen.key(key, meaning, x, y, plan.wide);
            }
        }
    }
}

/// Columns for the emblem of a slot.
const MARK: i32 = 16;
/// Height of a key line: where many keys have little room, and for touch.
const KEY_STEP: i32 = 16;
const KEY_STEP_MIN: i32 = 13;
const FINGER_STEP: i32 = 23;

/// Places of everything.
struct Plan {
    card: Rect,
    /// Left edge of the text, and its greatest width.
    x: i32,
    y: i32,
    wide: i32,
    step: i32,
    key_step: i32,
    heading: Vec<String>,
    lines: Vec<String>,
}

impl Plan {
    fn of(notice: &Notice<'_>, view: View) -> Plan {
        let (width, height) = (view.word_width(), view.word_height());
        let mark = if notice.seat.is_some() { MARK } else { 0 };
        let margin = if width >= 300 { 12 } else { 7 };
        let room = (width - 8 - 2 * margin - mark).min(380);
        let step = if height >= 200 { 14 } else { 11 };
        let lines: Vec<String> = notice.lines.iter().flat_map(|line| wrapped(line, room, 3)).collect();
        let mut heading = wrapped_bold(notice.heading, room);
        heading.retain(|line| !line.is_empty());
        let widest =
            |texts: &[String], bold| texts.iter().map(|text| font::width(text, bold, 0)).max().unwrap_or(0);
        let key_wide = |key: &(&str, &str)| font::width(key.0, false, 0) + 12 + font::width(key.1, false, 0);
        let keys = notice.keys.iter().map(key_wide).max().unwrap_or(0);
        let wide = widest(&lines, false).max(widest(&heading, true)).max(keys).max(120).min(room);
        let rows = (lines.len() + heading.len()) as i32 * step;
        let (count, room_below) = (notice.keys.len() as i32, height - 2 - rows - 2 * margin);
        let key_step = match notice.touch {
            true => FINGER_STEP,
            false => KEY_STEP,
        };
        let key_step = (room_below / count.max(1)).clamp(KEY_STEP_MIN, key_step);
        let rows = rows + count * key_step;
        let (card_wide, tall) = (wide + 2 * margin + mark, (rows + 2 * margin - 2).min(height - 4));
        // A little below the middle, because the own goose is more often above it.
        let free = height - tall;
        let top = if notice.is_high { free.min(18) } else { free * 58 / 100 }.max(2);
        let card = Rect::new((width - card_wide) / 2, top, card_wide, tall);
        Plan { card, x: card.x + margin + mark, y: card.y + margin, wide, step, key_step, heading, lines }
    }

    /// Row of a key, counted from the first.
    fn key_y(&self, nth: i32) -> i32 {
        self.y + (self.heading.len() + self.lines.len()) as i32 * self.step + 3 + self.key_step * nth
    }

    /// Whether a line at this height is still on the card.
    fn fits(&self, y: i32) -> bool {
        y + 9 <= self.card.bottom() - 2
    }
}

/// Bold letters are one column wider, so a line has fewer of them.
fn wrapped_bold(text: &str, room: i32) -> Vec<String> {
    wrapped(text, room * 6 / 7, 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pen::tests::{assert_inside, views};

    #[test]
    fn it_fits_on_any_screen() {
        let long = "honk ".repeat(100);
        let many = [long.as_str(); 12];
        let notices = [
            Notice {
                seat: Some(0),
                heading: "Lost touch. Holding your seat for 21 s.",
                lines: &["Trying the relay. Second try."],
                keys: &[("Esc", "let go and play alone")],
                warn: true,
                shade_percent: 55,
                touch: false,
                is_high: true,
                focus: Some(0),
            },
            Notice { heading: &long, lines: &many, keys: &[("Enter", many[0]); 3], ..Notice::default() },
            Notice::default(),
        ];
        for view in views() {
            for (notice, touch) in notices.iter().flat_map(|notice| [(notice, false), (notice, true)]) {
                let mut scene = Scene::default();
                Notice { touch, ..*notice }.draw(&mut scene, view);
                assert_inside(&scene, crate::album(), view, "notice");
            }
        }
        let view = views()[0];
        let written = |touch: bool| {
            let mut scene = Scene::default();
            Notice { touch, ..notices[0] }.draw(&mut scene, view);
            let texts = scene.words.iter().filter_map(|item| match item {
                gaggle_scene::Item::Text { words, .. } => Some(scene.text_of(*words).to_string()),
                _ => None,
            });
            texts.collect::<Vec<_>>()
        };
        let says = |touch: bool, words: &str| written(touch).iter().any(|text| text == words);
        assert!(says(false, "Esc") && says(false, "let go and play alone"));
        assert!(!says(true, "Esc") && says(true, "let go and play alone"), "a finger has no Esc");
        let tapped = (0..view.height).filter_map(|y| notices[0].key_at(view, view.width / 2, y)).count();
        assert_eq!(tapped as i32, KEY_STEP * view.word_scale, "the key has a row of its own");
        assert_eq!(
            Notice { focus: None, ..notices[0] }.words(),
            "Lost touch. Holding your seat for 21 s. Trying the relay. Second try. Esc: let go and play alone."
        );
        assert!(notices[0].words().ends_with("In focus: let go and play alone."));
    }
}
