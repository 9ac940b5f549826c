//! Line at the lower edge of a match with the room's code, on a card so that it is readable over
//! any background. `Arcade` draws it and asks whether a tap is on it. Absent: rooms.

use gaggle_scene::{Scene, View, font, palette};

use crate::pen::{Pen, Rect, fitted};

/// Place of the card of a one-line text: at the left, or in the middle of the columns `between`.
/// Taller for touch.
pub(crate) fn place(view: View, text: &str, between: Option<(i32, i32)>, touched: bool) -> Rect {
    let tall = if touched { 21 } else { 15 };
    let wide = (font::width(text, false, 0) + 12).min(view.word_width());
    let x = between.map_or(4, |(left, right)| (left + right - wide) / 2);
    Rect::new(x.clamp(0, view.word_width() - wide), view.word_height() - tall - 2, wide, tall).within(view)
}

/// Draws a text at that place.
pub(crate) fn draw(scene: &mut Scene, view: View, text: &str, place: Rect) {
    let mut pen = Pen::new(scene, view);
    pen.card(place, palette::MIST[1]);
    let text = fitted(text, place.wide - 12, false);
    pen.text(&text, place.x + 6, place.y + (place.tall - 7) / 2, place.wide - 12, palette::TEXT);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pen::tests::{assert_inside, views};
    use gaggle_scene::{Canvas, Color};

    #[test]
    fn room_line_is_readable_over_any_background() {
        for view in views() {
            for behind in [0xff_ff_ff, 0x00_00_00, 0xf4_b9_42, 0x7f_7f_7f, 0x2a_d0_ff] {
                let text = "room BCDFGH";
                let place = place(view, text, None, false);
                let mut scene = Scene::default();
                Pen::new(&mut scene, view).fill(
                    Rect::new(0, 0, view.word_width(), view.word_height()),
                    Color::hex(behind),
                    1.0,
                );
                draw(&mut scene, view, text, place);
                assert_inside(&scene, crate::album(), view, "room line");
                let mut canvas = Canvas::new(view);
                canvas.paint(&scene, crate::album());
                let (scale, inner) = (view.word_scale, place.grown(-2));
                let mut seen = [0; 2];
                for y in inner.y * scale..inner.bottom() * scale {
                    for x in inner.x * scale..inner.right() * scale {
                        let at = 4 * (y * view.width + x) as usize;
                        let sum: u32 = canvas.rgba()[at..at + 3].iter().map(|part| u32::from(*part)).sum();
                        // A contrast of seven to one, for readers with low vision: no pixel between
                        // dark and light.
                        assert!(!(150..=600).contains(&sum), "{sum} over {behind:06x}");
                        seen[usize::from(sum > 600)] += 1;
                    }
                }
                assert!(seen[0] > seen[1] && seen[1] > 100, "letters on a card: {seen:?}");
            }
        }
    }
}
