//! Panel that invites friends: the room's code in large letters, its link, the link as a QR code,
//! and buttons. `Arcade` opens it and asks it what a tap means. Absent: how a link is copied or
//! shared.

use gaggle_scene::{Scene, View, font, palette};
use qrcodegen::{QrCode, QrCodeEcc, QrSegment, Version};

use crate::pen::{Pen, Rect};

/// Choices of the invitation panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InviteChoice {
    /// Hands the link to the system's share sheet.
    Share,
    /// Copies the link to the clipboard.
    Copy,
    /// Closes the panel; the match goes on.
    Play,
}

/// Light modules around a QR code, as its standard requires.
const QUIET: i32 = 4;
/// Height of a button in text pixels.
const BUTTON: i32 = 24;
/// Margin between the edge of the card and its content.
const MARGIN: i32 = 10;
/// Narrowest column for text and buttons beside the QR code.
const BESIDE: i32 = 116;

/// A link to a room, and its QR code.
pub struct Invite {
    code: String,
    link: String,
    /// None if the link is too long for a QR code.
    picture: Option<QrCode>,
    /// Whether the system has a share sheet.
    can_share: bool,
}

impl Invite {
    /// An invitation to the room with this code, with its full link.
    pub fn new(code: String, link: String, can_share: bool) -> Invite {
        let parts = [QrSegment::make_bytes(link.as_bytes())];
        let level = QrCodeEcc::Medium;
        let picture =
            QrCode::encode_segments_advanced(&parts, level, Version::MIN, Version::MAX, None, true).ok();
        Invite { code, link, picture, can_share }
    }

    /// The full link.
    pub fn link(&self) -> &str {
        &self.link
    }

    /// The whole panel as one text, for screen readers.
    pub fn words(&self) -> String {
        let mut words = String::from("Invite friends. Room");
        for letter in self.code.chars() {
            words.push(' ');
            words.push(letter);
        }
        words.push_str(". ");
        words.push_str(self.short());
        words.push_str(" C copies the link. Enter plays.");
        words
    }

    /// The link as shown.
    fn short(&self) -> &str {
        let schemes = ["https://", "http://"];
        schemes.iter().find_map(|scheme| self.link.strip_prefix(scheme)).unwrap_or(&self.link)
    }

    fn choices(&self) -> &'static [(InviteChoice, &'static str, &'static str)] {
        const ALL: [(InviteChoice, &str, &str); 3] = [
            (InviteChoice::Share, "Share", "S"),
            (InviteChoice::Copy, "Copy link", "C"),
            (InviteChoice::Play, "Play", "Enter"),
        ];
        &ALL[usize::from(!self.can_share)..]
    }

    /// Number of buttons.
    pub(crate) fn count(&self) -> usize {
        self.choices().len()
    }

    /// Choice of a button, counted from the first.
    pub(crate) fn nth(&self, nth: usize) -> Option<InviteChoice> {
        self.choices().get(nth).map(|choice| choice.0)
    }

    /// Choice at a pixel of the screen.
    pub fn choice_at(&self, view: View, x: i32, y: i32) -> Option<InviteChoice> {
        let plan = Plan::of(self, view);
        let (x, y) = (x.div_euclid(view.word_scale), y.div_euclid(view.word_scale));
        let choices = self.choices().iter().enumerate();
        choices
            .map(|(nth, choice)| (plan.button(nth), choice.0))
            .find(|(at, _)| at.contains(x, y))
            .map(|at| at.1)
    }

    /// Draws the panel over the match. Keys are named unless the screen is `touched`; the button in
    /// `focus`, or the first, is highlighted.
    pub fn draw(&self, scene: &mut Scene, view: View, touched: bool, focus: Option<usize>) {
        let plan = Plan::of(self, view);
        let mut pen = Pen::new(scene, view);
        pen.shade(0.5);
        pen.card(plan.card, palette::FIRE[4]);
        let Rect { x, mut y, wide, .. } = plan.words;
        let middle = x + wide / 2;
        pen.bold("Invite friends", middle, y, wide, palette::TEXT).centered();
        y += 14;
        pen.bold(&self.code, middle, y, wide, palette::FIRE[5]).centered().sized(plan.code_size as u8);
        y += 7 * plan.code_size + 7;
        for line in plan.link_lines(self) {
            pen.text(line, middle, y, wide, palette::TEXT).centered();
            y += 11;
        }
        for (nth, (choice, words, key)) in self.choices().iter().enumerate() {
            let (at, main) = (plan.button(nth), nth == focus.unwrap_or(0));
            if main {
                pen.panel(at, palette::FIRE[4], 1.0, Some(palette::FIRE[5]));
            } else {
                pen.card(at, palette::MIST[1]);
            }
            // Where the whole label has no room, its first word suffices.
            let is_whole = font::width(words, true, 0) + 8 <= at.wide;
            let words = if is_whole { words } else { words.split(' ').next().unwrap_or(words) };
            let with_key =
                !touched && font::width(words, true, 0) + font::width(key, false, 0) + 14 <= at.wide;
            let all = font::width(words, true, 0) + if with_key { 6 + font::width(key, false, 0) } else { 0 };
            let (left, y) = (at.x + (at.wide - all).max(0) / 2, at.y + (at.tall - 7) / 2);
            let (ink, dim) =
                if main { (palette::INK, palette::FIRE[1]) } else { (palette::TEXT, palette::DIM) };
            pen.bold(words, left, y, at.wide, ink);
            if with_key {
                pen.text(key, left + all - font::width(key, false, 0), y, at.wide, dim);
            }
            debug_assert!(nth > 0 || *choice != InviteChoice::Play, "playing on is the last of them");
        }
        if let (Some(picture), true) = (&self.picture, plan.unit > 0) {
            draw_picture(&mut pen, picture, plan.picture, plan.unit);
        }
    }
}

/// Draws dark modules on light ones, whatever the background: many cameras read nothing else.
fn draw_picture(pen: &mut Pen<'_>, picture: &QrCode, at: Rect, unit: i32) {
    pen.fill(at, palette::BONE.mix(gaggle_scene::Color::hex(0xff_ff_ff), 0.8), 1.0);
    let (left, top) = (at.x + QUIET * unit, at.y + QUIET * unit);
    for row in 0..picture.size() {
        let mut column = 0;
        while column < picture.size() {
            let first = column;
            while picture.get_module(column, row) {
                column += 1;
            }
            let dark = Rect::new(left + first * unit, top + row * unit, (column - first) * unit, unit);
            pen.fill(dark, palette::INK, 1.0);
            column += 1;
        }
    }
}

/// Places of everything, in text pixels.
struct Plan {
    card: Rect,
    /// Heading, code and link.
    words: Rect,
    code_size: i32,
    /// The QR code with its quiet zone, and the size of a module; 0 if there is no room for it.
    picture: Rect,
    unit: i32,
    /// The first button, and the offset from one button to the next.
    first: Rect,
    step: (i32, i32),
}

impl Plan {
    fn of(invite: &Invite, view: View) -> Plan {
        let (wide, tall) = (view.word_width(), view.word_height());
        let count = invite.choices().len() as i32;
        let across = invite.picture.as_ref().map_or(1_000, |picture| picture.size() + 2 * QUIET);
        let flat = wide > tall;
        let stacked = flat && tall >= 150;
        // The remaining room for the QR code: beside the rest on a wide screen, within it
        // otherwise.
        let room = match flat {
            true => (tall - 8 - 2 * MARGIN).min(wide - 8 - 3 * MARGIN - BESIDE),
            false => (wide - 8 - 2 * MARGIN).min(tall - 8 - 4 * MARGIN - 100 - BUTTON),
        };
        let unit = (room.max(0) / across).min(if flat { 5 } else { 6 });
        let side = unit * across;
        let beside = if unit > 0 { side + MARGIN } else { 0 };
        let column = match flat {
            true => (wide - 8 - 2 * MARGIN - beside).min(210),
            false => (wide - 8 - 2 * MARGIN).min(side.max(200)),
        };
        let code_size = (column / font::width(&invite.code, true, 0).max(1)).clamp(1, 4);
        let link = if font::width(invite.short(), false, 0) > column { 22 } else { 11 };
        let said = 14 + 7 * code_size + 7 + link;
        let buttons = if stacked { count * (BUTTON + 3) } else { BUTTON };
        let inner = match flat {
            true => (said + 6 + buttons).max(side),
            false => said + 6 + beside + buttons,
        };
        let card_wide = 2 * MARGIN + column + if flat { beside } else { 0 };
        let card_tall = (inner + 2 * MARGIN).min(tall);
        let card =
            Rect::new((wide - card_wide) / 2, (tall - card_tall) / 2, card_wide, card_tall).within(view);
        let left = card.x + MARGIN + if flat { beside } else { 0 };
        let spare = if flat { (card_tall - 2 * MARGIN - said - 6 - buttons).max(0) / 2 } else { 0 };
        let words = Rect::new(left, card.y + MARGIN.min(card.tall / 8) + spare, column, said);
        let picture = match flat {
            true => Rect::new(card.x + MARGIN, card.y + (card.tall - side) / 2, side, side),
            false => Rect::new((wide - side) / 2, words.bottom() + 2, side, side),
        };
        let (first, step) = match stacked {
            true => {
                let top = (words.bottom() + 6).min(card.bottom() - buttons - 2);
                (Rect::new(left, top, column, BUTTON), (0, BUTTON + 3))
            }
            false => {
                let each = (column - 4 * (count - 1)) / count;
                let top = card.bottom() - MARGIN.min(card.tall / 8) - BUTTON;
                (Rect::new(left, top, each, BUTTON), (each + 4, 0))
            }
        };
        Plan { card, words, code_size, picture, unit, first, step }
    }

    fn button(&self, nth: usize) -> Rect {
        let nth = nth as i32;
        Rect { x: self.first.x + nth * self.step.0, y: self.first.y + nth * self.step.1, ..self.first }
    }

    /// The link in one line, or in two if it is too long.
    fn link_lines<'a>(&self, invite: &'a Invite) -> Vec<&'a str> {
        let link = invite.short();
        let is_long = font::width(link, false, 0) > self.words.wide;
        // Not `link[..at]`: its panic message alone adds 3 kB of Unicode tables to the page.
        match link.find('?').filter(|_| is_long).and_then(|at| link.split_at_checked(at)) {
            Some((page, query)) => vec![page, query],
            None => vec![link],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pen::tests::{assert_inside, views};
    use gaggle_scene::Canvas;

    const LINK: &str = "https://play.example.org/arcade/?game=millpond&room=BCDFGH";

    /// Text that a camera reads from the screen.
    fn read_picture(canvas: &mut Canvas, view: View) -> Option<String> {
        let (wide, rgba) = (view.width as usize, canvas.rgba());
        let gray = |x: usize, y: usize| {
            let at = 4 * (y * wide + x);
            ((u32::from(rgba[at]) + 2 * u32::from(rgba[at + 1]) + u32::from(rgba[at + 2])) / 4) as u8
        };
        let mut seen = rqrr::PreparedImage::prepare_from_greyscale(wide, view.height as usize, gray);
        seen.detect_grids().into_iter().find_map(|grid| grid.decode().ok()).map(|(_, text)| text)
    }

    #[test]
    fn picture_on_any_phone_or_desktop_reads_as_link() {
        for (width, height, ratio) in
            [(1170, 2532, 3.0), (2532, 1170, 3.0), (1280, 720, 1.0), (1920, 1080, 1.0), (750, 1334, 2.0)]
        {
            let view = crate::arcade::fit(width, height, ratio, (320, 180));
            for can_share in [false, true] {
                let invite = Invite::new("BCDFGH".to_string(), LINK.to_string(), can_share);
                let mut scene = Scene::default();
                invite.draw(&mut scene, view, false, None);
                let mut canvas = Canvas::new(view);
                canvas.paint(&scene, crate::album());
                assert_eq!(read_picture(&mut canvas, view).as_deref(), Some(LINK), "{width} x {height}");
            }
        }
    }

    #[test]
    fn panel_fits_on_any_screen_and_buttons_work() {
        for view in views() {
            for (link, can_share) in [(LINK, true), ("http://localhost:1/?room=BCDFGH", false)] {
                let invite = Invite::new("BCDFGH".to_string(), link.to_string(), can_share);
                let mut scene = Scene::default();
                invite.draw(&mut scene, view, can_share, Some(1));
                assert_inside(&scene, crate::album(), view, "invite panel");
                let plan = Plan::of(&invite, view);
                for (nth, (choice, ..)) in invite.choices().iter().enumerate() {
                    let (x, y) = plan.button(nth).middle();
                    let at = invite.choice_at(view, x * view.word_scale, y * view.word_scale);
                    assert_eq!(at, Some(*choice), "{} x {}", view.width, view.height);
                }
            }
        }
    }

    #[test]
    fn link_too_long_for_picture_is_still_shown() {
        let link = format!("https://example.org/{}?room=BCDFGH", "goose/".repeat(900));
        let invite = Invite::new("BCDFGH".to_string(), link, false);
        assert!(invite.picture.is_none() && invite.words().contains("B C D F G H"));
        let mut scene = Scene::default();
        invite.draw(&mut scene, views()[0], false, None);
        assert_inside(&scene, crate::album(), views()[0], "invite panel");
    }
}
