//! A chart of a picture: axes, lines and bars.
//!
//! Used by the balances. Absent: what is counted.

use gaggle_scene::{Color, Scene, palette};

/// Place and size of a chart.
#[derive(Clone, Copy)]
pub(crate) struct Chart {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: i32,
    pub(crate) height: i32,
}

impl Chart {
    /// The place of a value, 0 to 1 on both axes.
    pub(crate) fn at(self, across: f64, up: f64) -> (i32, i32) {
        let x = f64::from(self.x + 44) + f64::from(self.width - 64) * across;
        let y = f64::from(self.y + self.height - 30) - f64::from(self.height - 68) * up.clamp(0.0, 1.05);
        (x as i32, y as i32)
    }

    /// Panel, title, and four lines up to `top`.
    pub(crate) fn axes(self, scene: &mut Scene, title: &str, top: f64, marks: &[(f64, String)]) {
        let Chart { x, y, width, height } = self;
        scene.panel((x, y, width, height), palette::INK, 1.0, Some(palette::NIGHT[3]));
        scene.text(title, (x + 12) as f32, (y + 9) as f32, palette::TEXT);
        for step in 0..=4 {
            let (left, row) = self.at(0.0, f64::from(step) / 4.0);
            scene.fill(left, row, width - 64, 1, palette::NIGHT[2]);
            let value = top * f64::from(step) / 4.0;
            let words = if top < 10.0 { format!("{value:.1}") } else { format!("{value:.0}") };
            scene.text(&words, (left - 6) as f32, (row - 3) as f32, palette::FAINT).right();
        }
        for (across, words) in marks {
            let (column, row) = self.at(*across, 0.0);
            scene.text(words, column as f32, (row + 8) as f32, palette::FAINT).centered();
        }
    }

    /// Points, 0 to 1 on both axes, and lines between them.
    pub(crate) fn line(self, scene: &mut Scene, points: &[(f64, f64)], color: Color) {
        for two in points.windows(2) {
            let ((x0, y0), (x1, y1)) = (self.at(two[0].0, two[0].1), self.at(two[1].0, two[1].1));
            let steps = (x1 - x0).abs().max((y1 - y0).abs()).max(1);
            for step in 0..=steps {
                let (x, y) = (x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps);
                scene.dot(x as f32, y as f32, color);
            }
        }
        for (across, up) in points {
            let (x, y) = self.at(*across, *up);
            scene.fill(x - 1, y - 1, 3, 3, color);
        }
    }

    /// Bars side by side, as high as their values of `top`.
    pub(crate) fn bars(self, scene: &mut Scene, values: &[f64], top: f64, color: Color) {
        let count = values.len() as f64;
        for (nth, value) in values.iter().enumerate() {
            let (left, high) = self.at((nth as f64 + 0.15) / count, value / top);
            let (right, low) = self.at((nth as f64 + 0.85) / count, 0.0);
            scene.fill(left, high, right - left, low - high, color);
        }
    }
}
