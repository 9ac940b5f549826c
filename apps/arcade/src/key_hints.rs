//! Key hints, over the player they control and on the first help page. `Arcade` draws them. Absent:
//! keys of the player's choice.

use gaggle_scene::{Scene, View, font, palette};

use crate::pen::{Pen, Rect};

/// A key and what it does.
pub(crate) type Meaning = (&'static str, &'static str);

/// Height of a key in text pixels.
const STEP: i32 = 16;
/// Height of a goose with its crest and name, in world pixels.
const OVER: i32 = 48;

fn width(&(key, meaning): &Meaning) -> i32 {
    font::width(key, false, 0) + 12 + font::width(meaning, false, 0)
}

/// Draws a player's keys on a card, one below the other: over a place in the world, or at the
/// bottom.
pub(crate) fn draw_over(scene: &mut Scene, view: View, keys: &[Meaning], place: Option<(i32, i32)>) {
    let (wide, tall) = (view.word_width(), view.word_height());
    let words = |art: i32| art * view.scale / view.word_scale;
    let card_wide = (keys.iter().map(width).max().unwrap_or(0) + 12).min(wide);
    let card_tall = keys.len() as i32 * STEP + 3;
    let (middle, bottom) = match place {
        Some((x, y)) => (words(x + view.left), words(y + view.top - OVER)),
        None => (wide / 2, tall - 16),
    };
    // Below the place where there is no room above.
    let plaques = words(view.top + 16);
    let top = match place {
        Some((_, y)) if bottom - card_tall < plaques => words(y + view.top + 5),
        _ => bottom - card_tall,
    };
    let (x, y) = (middle - card_wide / 2, top);
    let card =
        Rect::new(x.clamp(0, wide - card_wide), y.clamp(0, (tall - card_tall).max(0)), card_wide, card_tall);
    let mut pen = Pen::new(scene, view);
    pen.card(card, palette::MIST[0]);
    for (nth, (key, meaning)) in (0..).zip(keys) {
        pen.key(key, meaning, card.x + 6, card.y + 6 + STEP * nth, card.wide - 12);
    }
}

/// Draws all players' keys in rows at the bottom, above a line of text.
pub(crate) fn draw_all(scene: &mut Scene, view: View, players: &[&[Meaning]]) {
    let (wide, tall) = (view.word_width(), view.word_height());
    let row_wide = |keys: &[Meaning]| keys.iter().map(|key| width(key) + 12).sum::<i32>();
    let labels = if players.len() > 1 { 58 } else { 0 };
    let card_wide = (players.iter().map(|keys| row_wide(keys)).max().unwrap_or(0) + labels).min(wide - 4);
    let card_tall = players.len() as i32 * STEP + 3;
    let card = Rect::new((wide - card_wide) / 2, tall - 20 - card_tall, card_wide, card_tall).within(view);
    let mut pen = Pen::new(scene, view);
    pen.card(card, palette::MIST[0]);
    for (nth, keys) in (0..).zip(players) {
        let (mut x, y) = (card.x + 6, card.y + 6 + STEP * nth);
        if labels > 0 {
            let label = ["alone", "the first", "the second"][nth as usize % 3];
            pen.text(label, x, y, labels - 8, palette::FAINT);
            x += labels - 6;
        }
        for key in *keys {
            let room = card.right() - 4 - x;
            if room >= width(key) {
                x += pen.key(key.0, key.1, x, y, room) + 12;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cabinets::{drake, gander, millpond};
    use crate::pen::tests::{assert_inside, views};

    #[test]
    fn keys_are_named_on_every_screen() {
        for view in views() {
            for about in [&gander::ABOUT, &drake::ABOUT, &millpond::ABOUT] {
                let sets = if about.players_here > 1 { 3 } else { 1 };
                assert_eq!(about.keys.len(), sets, "each player has keys in {}", about.name);
                let mut scene = Scene::default();
                draw_all(&mut scene, view, about.keys);
                for (x, y) in [(0, 0), (192, 100), (383, 215)] {
                    draw_over(&mut scene, view, about.keys[0], Some((x, y)));
                }
                draw_over(&mut scene, view, about.keys[0], None);
                assert!(!scene.words.is_empty());
                assert_inside(&scene, crate::album(), view, "keys");
            }
        }
    }
}
