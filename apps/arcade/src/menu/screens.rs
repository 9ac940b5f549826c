//! Screens of the other cabinets: one image per game, small enough for a page that has only another
//! game. `Row` draws them. Absent: games, except in the test that takes the images.

use gaggle_scene::{Bitmap, Color};

/// Columns and rows of an image.
const SIZE: (i32, i32) = (48, 40);
/// Colors of an image, indexed by four bits.
const COLORS: usize = 16;
/// Bytes of an image: red, green and blue of each color, then two pixels per byte.
const BYTES: usize = COLORS * 3 + (SIZE.0 * SIZE.1) as usize / 2;

/// Images drawn by the games themselves, by name. With `GAGGLE_BLESS=1` the test below takes them
/// again.
const MOMENTS: [(&str, &[u8; BYTES]); 3] = [
    ("gander", include_bytes!("screens/gander.moment")),
    ("drake", include_bytes!("screens/drake.moment")),
    ("millpond", include_bytes!("screens/millpond.moment")),
];

/// The image of a game, if there is one.
pub(super) fn moment(name: &str) -> Option<Bitmap> {
    let (_, bytes) = MOMENTS.iter().find(|(game, _)| *game == name)?;
    let (colors, pixels) = bytes.split_at(COLORS * 3);
    let mut out = Bitmap::new(SIZE.0, SIZE.1);
    for nth in 0..SIZE.0 * SIZE.1 {
        let color = usize::from(pixels[nth as usize / 2] >> (nth % 2 * 4) & 15) * 3;
        let rgb = colors[color..color + 3].iter().fold(0, |rgb, part| rgb << 8 | u32::from(*part));
        out.set(nth % SIZE.0, nth / SIZE.0, Color::hex(rgb));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use gaggle_scene::{Album, Canvas, Scene, View};
    use gander::arena::PX;

    use super::*;

    const WORLD: View = View {
        width: 384,
        height: 216,
        scale: 1,
        word_scale: 1,
        art_width: 384,
        art_height: 216,
        left: 0,
        top: 0,
    };

    /// The part of a scene around a place.
    fn part(scene: &Scene, album: &Album, around: (i32, i32)) -> Bitmap {
        let mut canvas = Canvas::new(WORLD);
        canvas.paint(scene, album);
        let mut out = Bitmap::new(SIZE.0, SIZE.1);
        canvas.copy_art(around, &mut out);
        out
    }

    /// Measure of the detail in a picture.
    fn busy(picture: &Bitmap) -> usize {
        let pixels: Vec<Color> = picture.pixels().map(Option::unwrap_or_default).collect();
        pixels.windows(2).filter(|pair| distance(pair[0], pair[1]) > 6_000).count()
    }

    /// The most detailed of some pictures, one second apart.
    fn best(seconds: usize, mut next: impl FnMut() -> Vec<Bitmap>) -> Bitmap {
        (0..seconds).flat_map(|_| next()).max_by_key(busy).unwrap()
    }

    fn gander() -> Bitmap {
        let (mut attract, mut stage) = (gander::attract::Attract::new(7), gander::stage::Stage::new(WORLD));
        best(60, || {
            (0..60).for_each(|_| attract.step());
            let mut scene = Scene::default();
            let audience = gander::stage::Audience { plain: true, bare: true, ..Default::default() };
            stage.draw(attract.game(), attract.game(), 1.0, &audience, &mut scene);
            let flying = attract.game().players.iter().filter(|player| player.riding());
            let places = flying.map(|player| (player.mover.x / PX, player.mover.y / PX - 12));
            places.map(|place| part(&scene, stage.album(), place)).collect()
        })
    }

    fn drake() -> Bitmap {
        let (mut attract, mut stage) = (drake::attract::Attract::new(7), drake::stage::Stage::new(WORLD));
        best(60, || {
            (0..60).for_each(|_| attract.step());
            let mut scene = Scene::default();
            let audience = drake::stage::Audience { plain: true, bare: true, ..Default::default() };
            stage.draw(attract.game(), 1.0, &audience, &mut scene);
            let game = attract.game();
            let up = game.seats.iter().zip(&game.crafts).filter(|(seat, _)| seat.form == drake::Form::Drake);
            let places = up.map(|(_, craft)| (craft.place[0].floor(), craft.place[1].floor()));
            // Leaves out places where only the wall is visible.
            let places = places.filter(|(x, y)| (50..334).contains(x) && (60..170).contains(y));
            places.map(|place| part(&scene, stage.album(), place)).collect()
        })
    }

    fn millpond() -> Bitmap {
        let (mut attract, mut stage) =
            (millpond::attract::Attract::new(7), millpond::stage::Stage::new(WORLD));
        best(60, || {
            (0..60).for_each(|_| attract.step());
            let mut scene = Scene::default();
            let audience = millpond::stage::Audience {
                plain: true,
                bare: true,
                calm: true,
                follow: Some(0),
                ..Default::default()
            };
            stage.draw(attract.pond(), 1.0, &audience, &mut scene);
            // The boat is in the middle, unless the shore is near.
            let [x, y] = attract.pond().boats[0].unwrap().place.map(|at| at.floor());
            let is_far = (192..768).contains(&x) && (108..432).contains(&y);
            let middle = (WORLD.width / 2, WORLD.height / 2);
            is_far.then(|| part(&scene, stage.album(), middle)).into_iter().collect()
        })
    }

    fn distance(a: Color, b: Color) -> i32 {
        a.parts().into_iter().zip(b.parts()).map(|(a, b)| (i32::from(a) - i32::from(b)).pow(2)).sum()
    }

    /// Packs a picture into few colors, each of which stands for similar ones.
    fn pack(picture: &Bitmap) -> Vec<u8> {
        let pixels: Vec<Color> = picture.pixels().map(Option::unwrap_or_default).collect();
        let mut colors: Vec<Color> = vec![pixels[0]];
        while colors.len() < COLORS {
            let off = |color: &Color| colors.iter().map(|kept| distance(*kept, *color)).min().unwrap();
            let most = pixels.iter().max_by_key(|color| {
                let many = pixels.iter().filter(|pixel| pixel == color).count() as i32;
                off(color) * many.min(24)
            });
            colors.push(*most.unwrap());
        }
        let nearest =
            |pixel: &Color| (0..COLORS).min_by_key(|nth| distance(colors[*nth], *pixel)).unwrap() as u8;
        let mut bytes: Vec<u8> = colors.iter().flat_map(|color| color.parts()).collect();
        bytes.extend(pixels.chunks(2).map(|pair| nearest(&pair[0]) | nearest(&pair[1]) << 4));
        bytes
    }

    #[test]
    fn every_game_has_colorful_preview() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/menu/screens");
        for (name, take) in [("gander", gander as fn() -> Bitmap), ("drake", drake), ("millpond", millpond)] {
            if std::env::var("GAGGLE_BLESS").is_ok() {
                std::fs::write(folder.join(format!("{name}.moment")), pack(&take())).unwrap();
                continue;
            }
            let moment = moment(name).unwrap();
            let mut colors: Vec<u32> = moment.pixels().flatten().map(Color::rgb).collect();
            colors.sort_unstable();
            colors.dedup();
            assert!((8..=COLORS).contains(&colors.len()), "{name} has {} colors", colors.len());
        }
        assert_eq!(moment("skein"), None);
    }
}
