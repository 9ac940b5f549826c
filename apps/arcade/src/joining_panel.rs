//! Panel shown while joining a match: a walking goose as progress bar, the steps, the slots, and an
//! exit. `Arcade` draws it. Absent: the join itself.

use gaggle_scene::{Color, Scene, View, chance, font, palette};
use gander::arena::{LEDGE, PAD};
use gander::stage::Figures;

use crate::pen::{Pen, Rect, figure_size, fitted, unit, wrapped};
use crate::pictures::pictures;

/// Progress of a join.
#[derive(Debug, Clone, Copy, Default)]
pub struct JoiningFacts<'a> {
    /// The room's code.
    pub code: &'a str,
    /// Received part of the state in percent.
    pub percent: u8,
    /// Names of the linked players.
    pub linked_to: &'a [String],
    /// The longest round trip to one of them.
    pub slowest_ms: Option<u32>,
    /// Name of the game's world.
    pub place: &'a str,
    /// Text about a new player's arrival; if empty, the place where a goose appears.
    pub arrival: &'a str,
    /// Name of the player in each slot; at most six are drawn.
    pub seats: &'a [Option<&'a str>],
    /// The slot the local player will have.
    pub own_seat: Option<usize>,
    /// Time since the join began, for the goose.
    pub since_ms: u32,
    /// Whether the screen is touched: the exit is then a button without a key.
    pub touch: bool,
}

/// A join longer than this shows a longer text.
const LONG_MS: u32 = 5_000;
/// Label of the exit.
const ALONE: &str = "play alone instead";
/// Duration of a step of the goose.
const STEP_MS: u32 = 110;

/// State of one of the four steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Done,
    Now,
    Later,
}

impl JoiningFacts<'_> {
    fn steps(&self) -> [Step; 4] {
        let linked = !self.linked_to.is_empty();
        let found = linked || self.own_seat.is_some() || self.percent > 0;
        let done = [found, linked, self.percent >= 100, false];
        let now = done.iter().position(|done| !done).unwrap_or(3);
        std::array::from_fn(|nth| match nth.cmp(&now) {
            std::cmp::Ordering::Less => Step::Done,
            std::cmp::Ordering::Equal => Step::Now,
            std::cmp::Ordering::Greater => Step::Later,
        })
    }

    /// Text of each step, and a longer and a shorter addition.
    fn lines(&self) -> [(String, [String; 2]); 4] {
        let players =
            ["", "one player", "two players", "three players", "four players", "five players", "six players"];
        let players = players[self.seats.iter().flatten().count().min(players.len() - 1)];
        let about = [players.to_string(), String::new()];
        let slowest = self
            .slowest_ms
            .map_or_else(<[String; 2]>::default, |ms| [format!("{ms} ms the slowest"), format!("{ms} ms")]);
        let copied = if self.percent > 0 { format!("{}%", self.percent.min(100)) } else { String::new() };
        let [found, linked, ..] = self.steps();
        let found = if found == Step::Done { "Found the room" } else { "Looking for the room" };
        let linked = if linked == Step::Done { links(self.linked_to) } else { "Linking".to_string() };
        [
            (found.to_string(), about),
            (linked, slowest),
            (format!("Copying {}", self.place), [copied, String::new()]),
            ("Catching up".to_string(), <[String; 2]>::default()),
        ]
    }

    /// The whole panel as text, for screen readers.
    pub fn words(&self) -> String {
        let lines = self.lines();
        let now = self.steps().iter().position(|step| *step == Step::Now).unwrap_or(3);
        let (step, [detail, _]) = &lines[now];
        format!("Joining {}. {step} {detail}", self.code).trim_end().to_string()
    }
}

/// A list such as `Linked to Wren, Hob and Ottilie`.
fn links(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => format!("Linked to {only}"),
        [first @ .., last] if names.len() <= 8 => format!("Linked to {} and {last}", first.join(", ")),
        _ => format!("Linked to {} others", names.len()),
    }
}

/// Places of the panel's parts.
struct Plan {
    card: Rect,
    inner: Rect,
    head: i32,
    walk: i32,
    step: i32,
    seats: i32,
    roomy: bool,
    promise: Vec<String>,
}

impl Plan {
    fn of(view: View, facts: &JoiningFacts<'_>) -> Plan {
        let (width, height) = (view.word_width(), view.word_height());
        let wide = (width - 8).min(420);
        let roomy = wide >= 340;
        let inset = if roomy { 22 } else { 8 };
        let (step, seats) = if roomy { (15, 18) } else { (13, 30) };
        let promise = wrapped(&promise(facts), wide - 2 * inset, 2);
        let figure = |rows: i32| (rows as f32 * unit(view)).ceil() as i32;
        // The goose, the lettering and the text about the arrival are left out where there is no
        // room for them.
        let body = 4 * step + 14 + seats + 12 * promise.len() as i32 + 26;
        let head = if height >= body + figure(28) + 10 { figure(28) + 4 } else { 16 };
        let walk = if height >= body + head + figure(40) + 8 { figure(40) } else { 0 };
        let tall = (body + head + walk).min(height - 4);
        let card = Rect::new((width - wide) / 2, (height - tall) / 2, wide, tall);
        let inner = Rect::new(card.x + inset, card.y, card.wide - 2 * inset, card.tall);
        Plan { card, inner, head, walk, step, seats, roomy, promise }
    }
}

/// Draws the panel over the shown match.
pub fn draw_joining(scene: &mut Scene, view: View, facts: &JoiningFacts<'_>) {
    let plan = Plan::of(view, facts);
    let Plan { card, inner, .. } = plan;
    let mut pen = Pen::new(scene, view);
    pen.shade(0.55);
    pen.card_behind(card, palette::MIST[0]);
    heading(&mut pen, view, inner, plan.head, facts.code);
    let mut y = card.y + plan.head;
    if plan.walk > 0 {
        goose(&mut pen, view, Rect::new(inner.x, y, inner.wide, plan.walk), facts);
        y += plan.walk;
    }
    for (state, (text, details)) in facts.steps().into_iter().zip(facts.lines()) {
        line(&mut pen, Rect::new(inner.x, y + 4, inner.wide, plan.step), state, &text, &details);
        y += plan.step;
    }
    let foot = card.bottom() - 20;
    if y + 13 + plan.seats <= foot {
        pen.fill(Rect::new(inner.x, y + 6, inner.wide, 1), palette::NIGHT[3], 1.0);
        y += 14;
        seats(&mut pen, Rect::new(inner.x, y, inner.wide, plan.seats), facts, plan.roomy);
        y += plan.seats;
    }
    for line in plan.promise {
        if y + 9 <= foot {
            pen.text(&line, inner.x, y, inner.wide, palette::BONE);
            y += 12;
        }
    }
    if facts.touch {
        let button = Rect::new(inner.x, card.bottom() - 19, inner.wide, 16);
        pen.panel(button, palette::NIGHT[2], 1.0, Some(palette::MIST[0]));
        pen.text(ALONE, button.middle().0, button.y + 5, inner.wide - 8, palette::TEXT).centered();
    } else {
        pen.key("Esc", ALONE, inner.x, card.bottom() - 15, inner.wide);
    }
}

/// Whether a click or tap at a pixel of the screen is on the exit.
pub fn joining_alone_at(view: View, facts: &JoiningFacts<'_>, x: i32, y: i32) -> bool {
    let Plan { card, .. } = Plan::of(view, facts);
    let (x, y) = (x.div_euclid(view.word_scale), y.div_euclid(view.word_scale));
    // The whole foot of the card, because fingers are wide.
    Rect::new(card.x, card.bottom() - 21, card.wide, 21).contains(x, y)
}

fn heading(pen: &mut Pen<'_>, view: View, inner: Rect, head: i32, code: &str) {
    if head < 28 {
        pen.bold("Joining", inner.x, inner.y + 6, inner.wide / 2, palette::TEXT);
        pen.bold(code, inner.right(), inner.y + 6, inner.wide / 2, palette::FIRE[5]).right();
        return;
    }
    let letters = pictures().joining;
    pen.figure(letters, (inner.x - 2) as f32, (inner.y + 6) as f32, false);
    let (letters_wide, letters_tall) = figure_size(view, letters);
    let size = if inner.wide - letters_wide > 130 { 2 } else { 1 };
    let room = (inner.wide - letters_wide) / size;
    // On the base line of the lettering, whose last rows are for descenders.
    let y = inner.y + 6 + letters_tall * 2 / 5 - 3 * size;
    pen.bold(code, inner.right(), y, room, palette::FIRE[5]).right().sized(size as u8);
}

/// Draws the bar, and the goose that walks along it.
fn goose(pen: &mut Pen<'_>, view: View, place: Rect, facts: &JoiningFacts<'_>) {
    let pictures = pictures();
    let seat = facts.own_seat.unwrap_or(3);
    let ground = place.bottom() - 5;
    let (nest_wide, nest_tall) = figure_size(view, pictures.nest);
    let length = place.wide - nest_wide - 6;
    // Finding and linking are the first tenth of the bar, catching up the last.
    let [found, linked, ..] = facts.steps().map(|step| i32::from(step == Step::Done));
    let percent = 4 * found + 6 * linked + i32::from(facts.percent.min(100)) * 82 / 100;
    let gone = length * percent / 100;
    pen.fill(Rect::new(place.x, ground, length, 3), palette::PEAT[2], 1.0);
    pen.fill(Rect::new(place.x, ground, gone, 2), palette::SEDGE[4], 1.0);
    pen.fill(Rect::new(place.x, ground + 2, gone, 2), palette::SEDGE[2], 1.0);
    for x in (0..length).filter(|x| chance(*x, 2, 6) > 0.8) {
        let color = if x < gone { palette::SEDGE[3] } else { palette::PEAT[2] };
        pen.fill(Rect::new(place.x + x, ground - 1, 1, 1), color, 1.0);
    }
    let nest = (place.right() - nest_wide, ground + 3 - nest_tall);
    pen.figure(pictures.nest, nest.0 as f32, nest.1 as f32, false);
    let image = pictures.figures.walking(seat, facts.since_ms / STEP_MS);
    let (wide, _) = figure_size(view, image);
    let x = (place.x + gone - wide * 2 / 5).clamp(place.x - 4, place.right() - wide);
    let feet = Figures::FEET as f32 * unit(view);
    pen.figure(image, x as f32, ground as f32 - feet, false);
}

fn line(pen: &mut Pen<'_>, place: Rect, step: Step, text: &str, details: &[String; 2]) {
    let Rect { x, y, .. } = place;
    let color = if step == Step::Later { palette::FAINT } else { palette::TEXT };
    match step {
        Step::Done => pen.image(pictures().tick, x, y),
        Step::Now => pen.panel(Rect::new(x, y, 7, 7), palette::FIRE[4], 1.0, None),
        Step::Later => pen.frame(Rect::new(x + 1, y + 1, 5, 5), palette::PEAT[4]),
    }
    let room = place.wide - 13;
    pen.text(text, x + 13, y, room, color);
    // An addition is shown whole or not at all.
    let left = room - font::width(&fitted(text, room, false), false, 0) - 8;
    let detail = details.iter().find(|detail| font::width(detail, false, 0) <= left);
    let detail_color = if step == Step::Now { palette::FIRE[5] } else { palette::DIM };
    pen.text(detail.map_or("", |detail| detail), place.right(), y, room, detail_color).right();
}

fn seats(pen: &mut Pen<'_>, place: Rect, facts: &JoiningFacts<'_>, in_one_row: bool) {
    let shown = facts.seats.len().min(palette::SEATS_SIX.len());
    let in_row = if in_one_row { shown } else { shown.div_ceil(2) }.max(1);
    let wide = (place.wide + 4) / in_row as i32 - 4;
    for (seat, name) in facts.seats.iter().copied().enumerate().take(shown) {
        let cell = Rect::new(place.x + (seat % in_row) as i32 * (wide + 4), place.y, wide, place.tall);
        let y = place.y + (seat / in_row) as i32 * 14;
        let own = facts.own_seat == Some(seat);
        pen.emblem(seat, own || name.is_some(), cell.x - 1, y - 2);
        let room = cell.wide - 14;
        let color: Color = palette::SEATS_SIX[seat];
        let yours = if font::width("your seat", true, 0) <= room { "your seat" } else { "you" };
        match name {
            _ if own => drop(pen.bold(yours, cell.x + 13, y, room, color)),
            Some(name) => drop(pen.text(name, cell.x + 13, y, room, palette::TEXT)),
            None => drop(pen.text("free", cell.x + 13, y, room, palette::FAINT)),
        }
    }
}

fn promise(facts: &JoiningFacts<'_>) -> String {
    match facts.own_seat.and_then(|seat| PAD.get(seat)) {
        _ if facts.since_ms >= LONG_MS && facts.percent < 100 => {
            "This takes longer than it should. Still trying.".to_string()
        }
        _ if !facts.arrival.is_empty() => facts.arrival.to_string(),
        Some(pad) => {
            format!("You appear on {}. Nothing can touch you until you move.", the(LEDGE[pad.ledge].name))
        }
        None => "Nothing can touch you until you move.".to_string(),
    }
}

/// Name with its article: the Hearthstone has one; eyots and steps do not.
fn the(ledge: &'static str) -> String {
    if ledge == "Hearthstone" { format!("the {ledge}") } else { ledge.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pen::tests::{assert_inside, views};

    fn names(count: usize) -> Vec<String> {
        ["Wren", "Hob", "Ottilie", "Big Tam"]
            .iter()
            .cycle()
            .take(count)
            .map(|name| name.to_string())
            .collect()
    }

    #[test]
    fn steps_of_joining_follow_progress() {
        let mut facts = JoiningFacts { code: "FNWKBX", place: "the fen", ..JoiningFacts::default() };
        assert_eq!(facts.words(), "Joining FNWKBX. Looking for the room");
        facts.own_seat = Some(2);
        assert_eq!(facts.words(), "Joining FNWKBX. Linking");
        let linked = names(3);
        facts.linked_to = &linked;
        facts.percent = 61;
        assert_eq!(facts.lines()[1].0, "Linked to Wren, Hob and Ottilie");
        assert_eq!(facts.words(), "Joining FNWKBX. Copying the fen 61%");
        facts.percent = 100;
        assert_eq!(facts.words(), "Joining FNWKBX. Catching up");
    }

    #[test]
    fn tap_on_way_out_is_found() {
        for view in views() {
            let facts = JoiningFacts { code: "FNWKBX", percent: 40, ..JoiningFacts::default() };
            let mut scene = Scene::default();
            draw_joining(&mut scene, view, &facts);
            let words = |item: &&gaggle_scene::Item| match item {
                gaggle_scene::Item::Text { words, .. } => scene.text_of(*words).starts_with("play al"),
                _ => false,
            };
            let Some(gaggle_scene::Item::Text { x, y, .. }) = scene.words.iter().find(words) else {
                panic!("nowhere to go");
            };
            let scale = view.word_scale;
            assert!(joining_alone_at(view, &facts, (*x as i32 + 5) * scale, (*y as i32 + 3) * scale));
            assert!(!joining_alone_at(view, &facts, view.width / 2, view.height / 2));
        }
    }

    #[test]
    fn it_fits_on_any_screen_whatever_people_are_called() {
        let long = "a name without end ".repeat(30);
        let name = Some(long.as_str());
        let seats = [name, Some("Hob"), None, None, name, None, None];
        for view in views() {
            for percent in [0, 61, 100, 255] {
                for linked in [names(0), names(1), names(300), vec![long.clone()]] {
                    for own_seat in [None, Some(0), Some(3), Some(77)] {
                        let facts = JoiningFacts {
                            code: &long,
                            percent,
                            linked_to: &linked,
                            slowest_ms: Some(u32::MAX),
                            place: &long,
                            arrival: "",
                            seats: &seats[..linked.len().clamp(4, 7)],
                            own_seat,
                            since_ms: 6_000,
                            touch: linked.len() % 2 == 1,
                        };
                        let mut scene = Scene::default();
                        draw_joining(&mut scene, view, &facts);
                        assert_inside(&scene, crate::album(), view, "joining");
                        assert!(scene.words.len() > 15);
                    }
                }
            }
        }
    }
}
