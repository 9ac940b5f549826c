//! Bar of a replay: the shown position, where waves began and where knights fell. `Arcade` draws
//! it. Absent: the replay.

use gaggle_scene::{Scene, View, font, palette};

use crate::pen::{Pen, Rect, fitted, grouped};

/// What the bar shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScrubFacts<'a> {
    /// The frame that is shown.
    pub frame: u32,
    /// Number of frames.
    pub frames: u32,
    /// Whether it is playing.
    pub playing: bool,
    /// First frame of each wave, and its number, in order.
    pub waves: &'a [(u32, u16)],
    /// Frames in which a player was unseated, with its slot.
    pub falls: &'a [(u32, usize)],
}

/// Frames per second.
const SECOND: u32 = 60;
/// Height of the whole element.
const TALL: i32 = 38;

/// The bar at the bottom of a screen.
#[derive(Debug, Clone, Copy)]
pub struct Scrubber {
    view: View,
    card: Rect,
    /// Place of the bar.
    bar: Rect,
    /// Place of the button that plays and pauses.
    button: Rect,
    /// Whether there is room for times beside it.
    times: bool,
}

impl Scrubber {
    /// A bar for a screen.
    pub fn new(view: View) -> Scrubber {
        let (width, height) = (view.word_width(), view.word_height());
        let margin = if width >= 400 { 24 } else { 4 };
        let card = Rect::new(margin, height - TALL - 6, width - 2 * margin, TALL).within(view);
        let times = card.wide >= 300;
        let right = if times { 100 } else { 10 };
        let bar = Rect::new(card.x + 28, card.y + 13, (card.wide - 28 - right).max(1), 2);
        let button = Rect::new(card.x, card.y, 24.min(card.wide), card.tall);
        Scrubber { view, card, bar, button, times }
    }

    /// Whether a pixel of the screen is on the button.
    pub fn plays(&self, x: i32, y: i32) -> bool {
        let (x, y) = self.words(x, y);
        self.button.contains(x, y)
    }

    /// The frame under a pixel of the screen, if that is on the bar. The height need not be exact,
    /// for touch.
    pub fn frame_at(&self, x: i32, y: i32, frames: u32) -> Option<u32> {
        let (x, y) = self.words(x, y);
        let reach = Rect::new(self.bar.x - 4, self.card.y, self.bar.wide + 8, self.card.tall);
        if !reach.contains(x, y) {
            return None;
        }
        Some(self.across(x, frames))
    }

    /// The frame at the column of a pixel of the screen, however far from the bar: a finger that
    /// drags it may leave it.
    pub fn frame_across(&self, x: i32, frames: u32) -> u32 {
        self.across(x.div_euclid(self.view.word_scale), frames)
    }

    fn across(&self, x: i32, frames: u32) -> u32 {
        let across = u64::from((x - self.bar.x).clamp(0, self.bar.wide - 1).unsigned_abs());
        let last = u64::from(frames.saturating_sub(1));
        (across * last / u64::from((self.bar.wide - 1).max(1).unsigned_abs())) as u32
    }

    /// Draws the bar.
    pub fn draw(&self, scene: &mut Scene, facts: &ScrubFacts<'_>) {
        let mut pen = Pen::new(scene, self.view);
        pen.card(self.card, palette::MIST[0]);
        self.draw_button(&mut pen, facts.playing);
        let here = self.column(facts.frame, facts.frames);
        let Rect { x, y, wide, tall } = self.bar;
        pen.fill(self.bar, palette::PEAT[3], 1.0);
        pen.fill(Rect::new(x, y, here - x, tall), palette::FIRE[4], 1.0);
        self.draw_waves(&mut pen, facts);
        let mut last = [i32::MIN; 4];
        for (frame, seat) in facts.falls {
            let (at, seat) = (self.column(*frame, facts.frames), seat % 4);
            // Two marks at the same place are drawn once.
            if at - 2 > last[seat] {
                last[seat] = at;
                pen.fill(Rect::new((at - 1).min(x + wide - 3), y - 9, 3, 3), palette::SEAT[seat], 1.0);
            }
        }
        pen.panel(Rect::new(here - 3, y - 4, 7, 10), palette::MOON, 1.0, Some(palette::INK));
        if self.times {
            let right = self.card.right() - 10;
            let time = format!("{} / {}", clock(facts.frame), clock(facts.frames));
            pen.text(&time, right, y - 5, 84, palette::TEXT).right();
            let frame = format!("frame {}", grouped(i64::from(facts.frame)));
            pen.text(&frame, right, y + 8, 84, palette::DIM).right();
        }
    }

    /// Draws the keys and their meanings, above the bar.
    pub fn draw_keys(&self, scene: &mut Scene) {
        let line = "Space holds   ← → 5 s   ↑ ↓ a frame   L copies a link to it   O opens another   Esc home";
        let mut pen = Pen::new(scene, self.view);
        pen.text(line, self.card.x + 2, self.card.y - 12, self.card.wide - 4, palette::DIM)
            .outlined(palette::INK);
    }

    /// Whether a click at a pixel of the screen is on the bar or its button.
    pub fn answers(&self, x: i32, y: i32) -> bool {
        self.plays(x, y) || self.frame_at(x, y, 1).is_some()
    }

    fn words(&self, x: i32, y: i32) -> (i32, i32) {
        (x.div_euclid(self.view.word_scale), y.div_euclid(self.view.word_scale))
    }

    /// The column of a frame.
    fn column(&self, frame: u32, frames: u32) -> i32 {
        let last = frames.saturating_sub(1).max(1);
        let room = u64::from((self.bar.wide - 1).max(0).unsigned_abs());
        self.bar.x + (u64::from(frame.min(last)) * room / u64::from(last)) as i32
    }

    fn draw_button(&self, pen: &mut Pen<'_>, playing: bool) {
        let (x, y) = (self.button.x + 11, self.bar.y - 2);
        if playing {
            for side in [0, 4] {
                pen.fill(Rect::new(x + side, y, 2, 7), palette::TEXT, 1.0);
            }
        } else {
            for (row, wide) in (0..).zip([2, 4, 6, 7, 6, 4, 2]) {
                pen.fill(Rect::new(x, y + row, wide, 1), palette::TEXT, 1.0);
            }
        }
    }

    /// Draws a tick for every wave; its number where there is room for one.
    fn draw_waves(&self, pen: &mut Pen<'_>, facts: &ScrubFacts<'_>) {
        let y = self.bar.y;
        if self.bar.wide > 120 {
            pen.text("wave", self.bar.x - 2, y + 8, 24, palette::FAINT);
        }
        let (mut tick, mut free) = (i32::MIN, self.bar.x + 26);
        for (frame, number) in facts.waves {
            let at = self.column(*frame, facts.frames);
            if at <= tick + 2 {
                continue;
            }
            tick = at;
            pen.fill(Rect::new(at, y - 4, 1, 10), palette::MIST[1], 1.0);
            let text = fitted(&number.to_string(), 40, false).into_owned();
            let half = font::width(&text, false, 0) / 2 + 1;
            if at - half >= free && at + half <= self.bar.right() {
                pen.text(&text, at, y + 8, 40, palette::FAINT).centered();
                free = at + half + 8;
            }
        }
    }
}

/// Frames as minutes and seconds.
fn clock(frames: u32) -> String {
    let seconds = frames / SECOND;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pen::tests::{assert_inside, views};

    #[test]
    fn click_seeks_to_frame_drawn_there() {
        for view in views() {
            let scrubber = Scrubber::new(view);
            let y = scrubber.bar.y * view.word_scale;
            let mut seen = vec![];
            for column in 0..scrubber.bar.wide {
                let x = (scrubber.bar.x + column) * view.word_scale;
                let frame = scrubber.frame_at(x, y, 50_000).unwrap();
                // More frames than columns: converting back gives the same column or its neighbor.
                assert!((scrubber.column(frame, 50_000) - scrubber.bar.x - column).abs() <= 1);
                seen.push(frame);
            }
            assert_eq!((seen[0], seen.last()), (0, Some(&49_999)));
            assert_eq!(scrubber.frame_at(0, 0, 50_000), None);
            let (x, y) = scrubber.button.middle();
            assert!(scrubber.plays(x * view.word_scale, y * view.word_scale));
        }
    }

    #[test]
    fn any_match_fits_on_any_screen() {
        let waves: Vec<(u32, u16)> = (0..60_000).map(|nth| (nth * 7, nth as u16)).collect();
        let falls: Vec<(u32, usize)> = (0..60_000).map(|nth| (nth * 5, nth as usize)).collect();
        for view in views() {
            for (frame, frames) in [(0, 0), (7, 1), (33_120, 51_600), (u32::MAX, u32::MAX)] {
                let facts = ScrubFacts { frame, frames, playing: frame == 0, waves: &waves, falls: &falls };
                let mut scene = Scene::default();
                Scrubber::new(view).draw(&mut scene, &facts);
                Scrubber::new(view).draw_keys(&mut scene);
                assert_inside(&scene, crate::album(), view, "scrubber");
                assert!(scene.words.len() < 8_000, "{} things to draw", scene.words.len());
            }
        }
        assert_eq!((clock(33_120), clock(59)), ("9:12".to_string(), "0:00".to_string()));
    }
}
