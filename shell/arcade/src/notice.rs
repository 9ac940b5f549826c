//! A few words in the middle when the picture stands still: one is cut off, or pauses, or reads how to play.

use gaggle_scene::{Scene, View, font, palette};

use crate::pen::{Pen, Rect, wrapped};

/// What to say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Notice<'a> {
    /// Whose mark to put in front.
    pub seat: Option<usize>,
    /// In one line: `Lost touch. Holding your seat for 21 s.`
    pub heading: &'a str,
    /// What else there is to say, a line each.
    pub lines: &'a [&'a str],
    /// Keys and what they do.
    pub keys: &'a [(&'a str, &'a str)],
    /// Whether it is a warning.
    pub warn: bool,
    /// How much of what is behind turns to ink, in hundredths.
    pub shade_percent: u8,
}

impl Notice<'_> {
    /// All of it as one text, for those who listen instead.
    pub fn words(&self) -> String {
        let mut words = self.heading.to_string();
        for line in self.lines {
            words.push(' ');
            words.push_str(line);
        }
        for (key, meaning) in self.keys {
            words.push_str(&format!(" {key}: {meaning}."));
        }
        words
    }

    /// Draws it over whatever is there.
    pub fn draw(&self, scene: &mut Scene, view: View) {
        let mut pen = Pen::new(scene, view);
        pen.shade(f32::from(self.shade_percent.min(100)) / 100.0);
        let (width, height) = (view.word_width(), view.word_height());
        let mark = if self.seat.is_some() { 16 } else { 0 };
        let margin = if width >= 300 { 12 } else { 7 };
        let room = (width - 8 - 2 * margin - mark).min(380);
        let step = if height >= 200 { 14 } else { 11 };
        let lines: Vec<String> = self.lines.iter().flat_map(|line| wrapped(line, room, 3)).collect();
        let heading = wrapped(self.heading, room, 2);
        let widest =
            |texts: &[String], bold| texts.iter().map(|text| font::width(text, bold, 0)).max().unwrap_or(0);
        let key_wide = |key: &(&str, &str)| font::width(key.0, false, 0) + 12 + font::width(key.1, false, 0);
        let keys = self.keys.iter().map(key_wide).max().unwrap_or(0);
        let inner_wide =
            widest(&lines, false).max(widest(&heading, true)).max(keys).min(room).max(room.min(120));
        let rows = (lines.len() + heading.len()) as i32 * step + self.keys.len() as i32 * 16;
        let (wide, tall) = (inner_wide + 2 * margin + mark, (rows + 2 * margin - 4).min(height - 4));
        // A little below the middle: one's own goose is more often above it.
        let y = ((height - tall) * 55 / 100).max(2);
        let card = Rect::new((width - wide) / 2, y, wide, tall);
        pen.card(card, if self.warn { palette::WARN } else { palette::MIST[1] });
        let (x, mut y) = (card.x + margin + mark, card.y + margin);
        if let Some(seat) = self.seat {
            pen.emblem(seat, true, card.x + margin - 2, y - 2);
        }
        let fits = |y: i32| y + 9 <= card.bottom() - 2;
        for line in heading.iter().filter(|line| !line.is_empty()) {
            if fits(y) {
                pen.bold(line, x, y, inner_wide, palette::TEXT);
            }
            y += step;
        }
        for line in &lines {
            if fits(y) {
                pen.text(line, x, y, inner_wide, palette::DIM);
            }
            y += step;
        }
        y += 3;
        for (key, meaning) in self.keys {
            if fits(y + 3) {
                pen.key(key, meaning, x, y, inner_wide);
            }
            y += 16;
        }
    }
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
            },
            Notice { heading: &long, lines: &many, keys: &[("Enter", many[0]); 3], ..Notice::default() },
            Notice::default(),
        ];
        for view in views() {
            for notice in &notices {
                let mut scene = Scene::default();
                notice.draw(&mut scene, view);
                assert_inside(&scene, crate::album(), view, "notice");
            }
        }
        assert_eq!(
            notices[0].words(),
            "Lost touch. Holding your seat for 21 s. Trying the relay. Second try. Esc: let go and play alone."
        );
    }
}
