//! The menu: cabinets on the turf, one orange button, and what one can choose. Draws in word pixels.

use gaggle_scene::{Album, Color, ImageId, Item, Scene, View, font, lettering, palette};
use gander::Mode;

use crate::Key;

/// Something one can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Fly at once.
    Play,
    /// Two at one keyboard.
    PlayTwo,
    /// Team or versus.
    Mode,
    /// How to play.
    Help,
    /// Sound on or off.
    Sound,
}

impl Choice {
    const ALL: [Choice; 5] = [Choice::Play, Choice::PlayTwo, Choice::Mode, Choice::Help, Choice::Sound];
}

/// A place on the screen, in word pixels: left, top, width, height.
type Rect = (i32, i32, i32, i32);

/// The menu and what is chosen in it.
#[derive(Debug)]
pub struct Menu {
    album: Album,
    title: ImageId,
    focus: usize,
    /// Team or versus.
    pub mode: Mode,
    places: Vec<(Choice, Rect)>,
    view: View,
}

/// The games, the hue of their cabinets, and what hangs on those that are not there yet.
const CABINETS: [(&str, Color, &str); 5] = [
    ("GANDER", palette::FIRE[3], ""),
    ("skein", palette::SEAT[0], "soon"),
    ("gosling", palette::SEAT[1], "soon"),
    ("drake", palette::SEAT[2], "later"),
    ("millpond", palette::SEAT[3], "later"),
];

impl Menu {
    /// A menu for a screen.
    pub fn new(view: View) -> Menu {
        let mut album = Album::default();
        let rounds = if view.word_width() >= 480 { 2 } else { 1 };
        let title = album.add(lettering("GAGGLE", &palette::LETTERING, rounds, 1));
        let mut menu = Menu { album, title, focus: 0, mode: Mode::Team, places: Vec::new(), view };
        menu.places = menu.lay_out();
        menu
    }

    /// The images its scenes refer to.
    pub fn album(&self) -> &Album {
        &self.album
    }

    /// The same menu on another screen.
    pub fn resize(&mut self, view: View) {
        *self = Menu { focus: self.focus, mode: self.mode, ..Menu::new(view) };
    }

    /// What is in focus.
    pub fn focus(&self) -> Choice {
        Choice::ALL[self.focus]
    }

    /// A key: what was chosen with it, if anything.
    pub fn press(&mut self, key: Key) -> Option<Choice> {
        let last = Choice::ALL.len() - 1;
        match key {
            Key::Left | Key::Up => self.focus = self.focus.checked_sub(1).unwrap_or(last),
            Key::Right | Key::Down => self.focus = if self.focus == last { 0 } else { self.focus + 1 },
            Key::Enter => return Some(self.focus()),
            Key::Help => return Some(Choice::Help),
            Key::Mute => return Some(Choice::Sound),
            Key::Escape | Key::Overlay => {}
        }
        None
    }

    /// A click or a tap at a pixel of the screen.
    pub fn click(&mut self, x: i32, y: i32) -> Option<Choice> {
        let (x, y) = (x / self.view.word_scale, y / self.view.word_scale);
        let hit = |(left, top, width, height): Rect| {
            (left..left + width).contains(&x) && (top..top + height).contains(&y)
        };
        let choice = self.places.iter().find(|(_, rect)| hit(*rect)).map(|(choice, _)| *choice)?;
        self.focus = Choice::ALL.iter().position(|other| *other == choice).unwrap_or(0);
        Some(choice)
    }

    /// Too narrow for everything in one row.
    fn is_narrow(&self) -> bool {
        self.view.word_width() < 520
    }

    /// Where the buttons are.
    fn lay_out(&self) -> Vec<(Choice, Rect)> {
        let (width, height) = (self.view.word_width(), self.view.word_height());
        if self.is_narrow() {
            let (left, wide) = (8, width - 16);
            let top = height - 104;
            let half = wide / 2 - 3;
            return vec![
                (Choice::Play, (left, top, wide, 34)),
                (Choice::PlayTwo, (left, top + 40, half, 24)),
                (Choice::Mode, (left + wide - half, top + 40, half, 24)),
                (Choice::Help, (left, top + 70, half, 24)),
                (Choice::Sound, (left + wide - half, top + 70, half, 24)),
            ];
        }
        let top = height - 46;
        let unit = (width - 56) / 12;
        let mut left = 28;
        [(Choice::Play, 3), (Choice::PlayTwo, 2), (Choice::Mode, 3), (Choice::Help, 2), (Choice::Sound, 2)]
            .map(|(choice, units)| {
                let rect = (left, top, units * unit - 8, 32);
                left += units * unit;
                (choice, rect)
            })
            .to_vec()
    }

    /// Draws the menu over whatever is behind it.
    pub fn draw(&self, scene: &mut Scene, muted: bool) {
        let (width, height) = (self.view.word_width(), self.view.word_height());
        // The game behind steps back a little.
        scene.words.push(Item::Fill {
            x: 0.0,
            y: 0.0,
            width: width as f32,
            height: height as f32,
            color: palette::INK,
            share: 96,
        });
        let title = self.album.image(self.title);
        let title_x = if self.is_narrow() { (width - title.width()) / 2 } else { 28 };
        self.image(scene, self.title, title_x, 14);
        let below = 14 + title.height();
        let line = "Open the page and you are flying.";
        if font::width(line, false, 0) + 16 < width {
            let x = if self.is_narrow() { (width - font::width(line, false, 0)) / 2 } else { title_x + 4 };
            scene.word(line, x as f32, below as f32 + 6.0, palette::TEXT).outlined(palette::INK);
        }
        self.cabinets(scene, below + 22);
        for (choice, rect) in &self.places {
            self.button(scene, *choice, *rect, muted);
        }
    }

    fn image(&self, scene: &mut Scene, image: ImageId, x: i32, y: i32) {
        let (x, y) = (x as f32, y as f32);
        scene.words.push(Item::Image { image, x, y, mirrored: false, shown: 16, flash: None });
    }

    /// Five cabinets in a row; the first is lit, and through its screen one sees the game that is played behind.
    fn cabinets(&self, scene: &mut Scene, top: i32) {
        let (width, height) = (self.view.word_width(), self.view.word_height());
        let floor = self.places.iter().map(|(_, rect)| rect.1).min().unwrap_or(height) - 12;
        let count = if self.is_narrow() { 1 } else { CABINETS.len() as i32 };
        let room = width - 56;
        let first = if count == 1 { room.min(170) } else { (room * 26 / 100).min(150) };
        let other = if count == 1 { 0 } else { ((room - first) / (count - 1) - 8).min(104) };
        let mut left = if count == 1 { (width - first) / 2 } else { 28 };
        for (nth, (name, hue, tag)) in CABINETS.iter().take(count as usize).enumerate() {
            let lit = nth == 0;
            // No cabinet is much taller than wide.
            let tall = (floor - top).min(first * 16 / 10);
            let (wide, tall) = if lit { (first, tall) } else { (other, tall * 78 / 100) };
            if tall < 90 {
                return;
            }
            self.cabinet(scene, (left, floor - tall, wide, tall), name, *hue, tag, lit);
            left += wide + 8;
        }
    }

    fn cabinet(&self, scene: &mut Scene, rect: Rect, name: &str, hue: Color, tag: &str, lit: bool) {
        let (x, y, wide, tall) = rect;
        let body = palette::PEAT[2].mix(hue, if lit { 0.45 } else { 0.18 });
        let trim = palette::PEAT[3].mix(hue, if lit { 0.6 } else { 0.3 });
        let (marquee, screen) = (22, tall * 46 / 100);
        // Around the screen, so that it stays open where it is lit.
        let inset = 7;
        let (screen_y, base_y) = (y + marquee + 6, y + marquee + 6 + screen);
        scene.word_panel((x, y, wide, marquee + 6), body, 1.0, Some(trim));
        for side in [x, x + wide - inset] {
            scene.word_panel((side, screen_y - 2, inset, screen + 4), body, 1.0, None);
        }
        scene.word_panel((x, base_y, wide, y + tall - base_y), body.mix(palette::INK, 0.25), 1.0, Some(trim));
        scene.word_panel((x + 4, y + 3, wide - 8, marquee), palette::INK.mix(hue, 0.28), 1.0, Some(hue));
        let name_color = if lit { palette::FIRE[6] } else { hue.mix(palette::TEXT, 0.2) };
        let middle = (x + wide / 2) as f32;
        let text = scene.word(name, middle, (y + 10) as f32, name_color).centred();
        if lit {
            text.bold().tracked(1);
        }
        let glass = (x + inset, screen_y, wide - 2 * inset, screen);
        if lit {
            // Only the frame: behind the glass the bots are at it.
            scene.word_panel(glass, palette::INK, 0.0, Some(palette::FIRE[4]));
            let deck = base_y + 6;
            scene.word_panel((x + 12, deck, 7, 7), palette::BAD, 1.0, None);
            for (button, color) in [(0, palette::SEAT[1]), (1, palette::SEAT[0])] {
                scene.word_panel((x + wide - 34 + button * 12, deck, 7, 7), color, 1.0, None);
            }
        } else {
            scene.word_panel(glass, palette::INK, 0.85, Some(palette::PEAT[1]));
            let tag_width = font::width(tag, false, 0) + 12;
            let tag_rect = (x + (wide - tag_width) / 2, screen_y + screen - 20, tag_width, 15);
            scene.word_panel(tag_rect, palette::BONE, 1.0, None);
            scene.word(tag, middle, (screen_y + screen - 16) as f32, palette::INK).centred();
        }
        let slot_y = base_y + (y + tall - base_y) * 55 / 100;
        scene.word_panel((x + wide / 2 - 8, slot_y, 16, 16), palette::INK, 0.9, Some(trim));
        if lit {
            for bar in [-4, 2] {
                scene.word_panel((x + wide / 2 + bar, slot_y + 4, 2, 8), palette::FIRE[4], 1.0, None);
            }
        }
    }

    fn button(&self, scene: &mut Scene, choice: Choice, rect: Rect, muted: bool) {
        let (x, y, wide, tall) = rect;
        let focused = self.focus() == choice;
        if focused {
            let around = (x - 3, y - 3, wide + 6, tall + 6);
            scene.word_panel(around, palette::INK, 0.0, Some(palette::MOON));
        }
        let primary = choice == Choice::Play;
        let (fill, edge, ink) = if primary {
            (palette::FIRE[4], palette::FIRE[5], palette::INK)
        } else {
            (palette::NIGHT[1], palette::MIST[0], palette::TEXT)
        };
        scene.word_panel(rect, fill, if primary { 1.0 } else { 0.92 }, Some(edge));
        let text_y = (y + tall / 2 - 4) as f32;
        let middle = (x + wide / 2) as f32;
        match choice {
            Choice::Play => {
                scene.word("PLAY", x as f32 + 18.0, (y + tall / 2 - 7) as f32, ink).bold().sized(2);
                if wide > 100 {
                    let hint = (x + wide - 10) as f32;
                    scene.word("Enter", hint, text_y + 1.0, palette::FIRE[1]).right();
                }
            }
            Choice::PlayTwo => drop(scene.word("Two players", middle, text_y, ink).centred()),
            Choice::Mode => {
                let half = wide / 2;
                for (nth, (mode, name)) in
                    [(Mode::Team, "Team"), (Mode::Versus, "Versus")].into_iter().enumerate()
                {
                    let left = x + nth as i32 * half;
                    let chosen = self.mode == mode;
                    if chosen {
                        let inner = (left + 3, y + 3, half - 6, tall - 6);
                        scene.word_panel(inner, palette::NIGHT[3], 1.0, Some(palette::STAR));
                    }
                    let color = if chosen { palette::TEXT } else { palette::FAINT };
                    let text = scene.word(name, (left + half / 2) as f32, text_y, color).centred();
                    if chosen {
                        text.bold();
                    }
                }
            }
            Choice::Help => drop(scene.word("How to play", middle, text_y, ink).centred()),
            Choice::Sound => {
                let (word, color) = if muted { ("Sound off", palette::FAINT) } else { ("Sound on", ink) };
                scene.word(word, middle, text_y, color).centred();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn menu(width: i32, height: i32) -> Menu {
        Menu::new(View::fit(width, height, gander::arena::WIDTH, gander::arena::HEIGHT))
    }

    #[test]
    fn every_choice_is_reached_by_keys_and_by_clicks() {
        for (width, height) in [(1280, 720), (1920, 1080), (800, 600), (780, 1688)] {
            let mut menu = menu(width, height);
            let mut seen = vec![];
            for _ in Choice::ALL {
                seen.push(menu.press(Key::Enter).unwrap());
                menu.press(Key::Right);
            }
            assert_eq!(seen, Choice::ALL);
            assert_eq!(menu.focus(), Choice::Play, "round and round");
            let scale = menu.view.word_scale;
            for (choice, (x, y, wide, tall)) in menu.places.clone() {
                let inside = x >= 0 && y >= 0 && (x + wide) * scale <= width && (y + tall) * scale <= height;
                assert!(inside, "{choice:?} lies outside of {width}×{height}");
                assert_eq!(menu.click((x + wide / 2) * scale, (y + tall / 2) * scale), Some(choice));
            }
            assert_eq!(menu.click(width / 2, 1), None);
        }
    }

    #[test]
    fn the_title_fits_on_a_phone() {
        let menu = menu(390, 844);
        let title = menu.album.image(menu.title).width();
        assert!(title <= menu.view.word_width(), "{title}");
    }
}
