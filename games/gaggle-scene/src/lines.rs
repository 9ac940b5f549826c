//! Text in a given width: cut with an ellipsis, broken into lines, or as a caption.
//!
//! Called by games and pages. Absent: glyphs (`font.rs`).

use std::borrow::Cow;

use crate::{Scene, View, font, palette};

/// Rows from one line of a caption to the next.
const LINE: i32 = 11;
/// Most lines of a caption.
const LINES_MAX: usize = 6;

/// As much of a text as fits into `wide` columns, with an ellipsis for the rest.
pub fn fitted(text: &str, wide: i32, bold: bool) -> Cow<'_, str> {
    // No column is that wide, so a hostile name is not measured to its end.
    let text = match text.char_indices().nth(240) {
        Some((end, _)) => text.get(..end).unwrap_or_default(),
        None => text,
    };
    if font::width(text, bold, 0) <= wide {
        return Cow::Borrowed(text);
    }
    let mut kept = String::new();
    for letter in text.chars() {
        kept.push(letter);
        kept.push('…');
        let fits = font::width(&kept, bold, 0) <= wide;
        kept.pop();
        if !fits {
            kept.pop();
            break;
        }
    }
    if font::width("…", bold, 0) <= wide {
        kept.truncate(kept.trim_end().len());
        kept.push('…');
    }
    Cow::Owned(kept)
}

/// A text in lines of at most `wide` columns. The last of `lines` is cut if necessary.
pub fn wrapped(text: &str, wide: i32, lines: usize) -> Vec<String> {
    let mut done: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = if line.is_empty() { word.to_string() } else { format!("{line} {word}") };
        if line.is_empty() || font::width(&longer, false, 0) <= wide || done.len() + 1 >= lines {
            line = longer;
        } else {
            done.push(std::mem::replace(&mut line, word.to_string()));
        }
    }
    done.push(line);
    done.iter().map(|line| fitted(line, wide, false).into_owned()).collect()
}

impl Scene {
    /// Adds a title and a text on a panel, `below` art pixels below the top of the world. On an
    /// upright screen it is below the world, where it hides nothing.
    pub fn caption(&mut self, view: View, below: i32, title: &str, text: &str) {
        let (width, height) = (view.word_width(), view.word_height());
        let words = |art: i32| art * view.scale / view.word_scale;
        let lines = wrapped(text, (width - 8 - 20).max(1), LINES_MAX);
        let widest = lines.iter().map(|line| font::width(line, false, 0)).max().unwrap_or(0);
        let wide = (widest.max(font::width(title, true, 1)) + 28).min(width - 8);
        let tall = 23 + LINE * lines.len() as i32;
        let top =
            if width < height { words(view.art_height - view.top) + 4 } else { words(view.top + below) };
        let top = top.min(height - tall).max(0);
        self.word_panel(((width - wide) / 2, top, wide, tall), palette::INK, 0.92, Some(palette::MIST[0]));
        let middle = (width / 2) as f32;
        let title = fitted(title, wide - 12, true);
        self.word(&title, middle, (top + 7) as f32, palette::FIRE[5]).centered().bold().tracked(1);
        for (nth, line) in (0..).zip(&lines) {
            self.word(line, middle, (top + 20 + LINE * nth) as f32, palette::TEXT).centered();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Align, Item};

    #[test]
    fn text_of_any_length_is_cut_to_column() {
        for text in ["", "Wren", "Sister Agnes of the Lower Sedge", &"W".repeat(100_000), "雁雁雁雁雁雁"]
        {
            for wide in [-5, 0, 3, 9, 40, 200] {
                for bold in [false, true] {
                    let kept = fitted(text, wide, bold);
                    assert!(font::width(&kept, bold, 0) <= wide.max(0), "{kept:?} in {wide}");
                }
            }
        }
        assert_eq!(fitted("Wren", 200, false), "Wren");
        assert_eq!(fitted("Ottilie of Sedge", 50, false), "Ottilie o…");
    }

    #[test]
    fn lines_break_between_words() {
        let lines = wrapped("Ottilie went quiet. Her goose glides on.", 110, 3);
        assert_eq!(lines, ["Ottilie went quiet.", "Her goose glides on."]);
        assert_eq!(wrapped("Ottilie went quiet. Her goose", 60, 1).len(), 1);
    }

    #[test]
    fn caption_of_any_length_stays_on_its_panel() {
        let text = "Scatter, puffball, hornet, lantern, shell; and one that turns every craft around.";
        for (width, height, scale, words) in
            [(780, 1688, 2, 4), (1170, 2532, 3, 5), (1688, 780, 3, 4), (2532, 1170, 5, 5), (1280, 720, 3, 2)]
        {
            let view = View::at_scale(width, height, 384, 216, scale, words);
            let mut scene = Scene::default();
            scene.caption(view, 17, "Bring them down", text);
            let Some(Item::Panel { x, y, width: wide, height: tall, .. }) = scene.words.first().copied()
            else {
                panic!("no panel")
            };
            assert!(x >= 0 && y >= 0 && x + wide <= view.word_width() && y + tall <= view.word_height());
            let mut read = String::new();
            for item in &scene.words[1..] {
                let Item::Text { words, x: middle, y: top, align, bold, track, .. } = *item else { panic!() };
                let half = font::width(scene.text_of(words), bold, i32::from(track)) / 2 + 1;
                assert_eq!(align, Align::Center);
                assert!(middle as i32 - half > x && middle as i32 + half < x + wide, "{width}×{height}");
                assert!(top as i32 > y && (top as i32) + font::CAP_ROWS < y + tall, "{width}×{height}");
                read = format!("{read} {}", scene.text_of(words));
            }
            assert_eq!(read, format!(" Bring them down {text}"), "a part of the text is missing");
        }
    }
}
