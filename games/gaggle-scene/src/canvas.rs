//! A software painter: turns a scene into the pixels of a screen.
//!
//! Called by pages, examples and tests. Absent: how pixels reach a screen or file.

use std::ops::Range;

use crate::{Album, Align, Bitmap, Color, Item, Scene, View, bayer, font};

/// Pixels of a screen, painted over and over.
#[derive(Debug, Clone)]
pub struct Canvas {
    view: View,
    /// In a browser's format: see [`Color::pixel`].
    pixels: Vec<u32>,
}

const _: () = assert!(cfg!(target_endian = "little"), "the bytes of a pixel would be the wrong way round");

/// Origin and scale of places: one for art, one for words.
#[derive(Debug, Clone, Copy)]
struct Space {
    left: f32,
    top: f32,
    scale: i32,
}

impl Space {
    fn place(self, x: f32, y: f32) -> (i32, i32) {
        let scale = self.scale as f32;
        (((x + self.left) * scale + 0.5).floor() as i32, ((y + self.top) * scale + 0.5).floor() as i32)
    }
}

impl Canvas {
    /// A black screen of the view's size.
    pub fn new(view: View) -> Canvas {
        let count = (view.width * view.height) as usize;
        Canvas { view, pixels: vec![0xff00_0000; count] }
    }

    /// View the canvas was made for.
    pub fn view(&self) -> View {
        self.view
    }

    /// Paints a scene over the last picture.
    pub fn paint(&mut self, scene: &Scene, album: &Album) {
        let View { left, top, scale, word_scale, .. } = self.view;
        let art = Space { left: left as f32, top: top as f32, scale };
        for item in &scene.art {
            self.paint_item(item, art, scene, album);
        }
        let words = Space { left: 0.0, top: 0.0, scale: word_scale };
        for item in &scene.words {
            self.paint_item(item, words, scene, album);
        }
    }

    /// Copies the picture around a place of the world, one pixel per art pixel. What is outside of
    /// the screen stays as it was in `out`.
    pub fn copy_art(&self, (x, y): (i32, i32), out: &mut Bitmap) {
        let View { left, top, scale, width, height, .. } = self.view;
        let (first_x, first_y) = (x + left - out.width() / 2, y + top - out.height() / 2);
        for row in 0..out.height() {
            for column in 0..out.width() {
                let (x, y) = ((first_x + column) * scale, (first_y + row) * scale);
                if (0..width).contains(&x) && (0..height).contains(&y) {
                    out.set(column, row, Color::of_pixel(self.pixels[(y * width + x) as usize]));
                }
            }
        }
    }

    /// Bytes of all pixels: red, green, blue, 255, row by row.
    pub fn rgba(&self) -> &[u8] {
        bytemuck::must_cast_slice(&self.pixels)
    }

    /// All pixels as `0xffrrggbb`, row by row, for files and tests.
    pub fn pixels(&self) -> Vec<u32> {
        self.pixels.iter().map(|pixel| 0xff00_0000 | Color::of_pixel(*pixel).rgb()).collect()
    }

    fn paint_item(&mut self, item: &Item, space: Space, scene: &Scene, album: &Album) {
        match *item {
            Item::Image { image, x, y, mirrored, shown, flash } => {
                let at = space.place(x, y);
                self.paint_image(album.image(image), at, space.scale, mirrored, shown, flash);
            }
            Item::Fill { x, y, width, height, color, share } => {
                let (left, top) = space.place(x, y);
                let (right, bottom) = space.place(x + width, y + height);
                self.rect(left, top, right - left, bottom - top, color, u32::from(share));
            }
            Item::Panel { x, y, width, height, fill, share, edge } => {
                let at = space.place(x as f32, y as f32);
                self.paint_panel(at, (width, height), space.scale, (fill, u32::from(share)), edge);
            }
            Item::Text { words, x, y, color, align, bold, track, size, outline, shadow } => {
                let text = scene.text_of(words);
                let track = i32::from(track);
                let pixel = space.scale * i32::from(size);
                let (mut x, y) = space.place(x, y);
                let width = font::width(text, bold, track) * pixel;
                x -= match align {
                    Align::Left => 0,
                    Align::Center => width / 2 / space.scale * space.scale,
                    Align::Right => width,
                };
                let mut put = |around: i32, dy: i32, color: Color| {
                    font::runs(text, bold, track, |right, down, count| {
                        let at = (x + right * pixel - around, y + down * pixel - around + dy * space.scale);
                        let size = (count * pixel + 2 * around, pixel + 2 * around);
                        self.rect(at.0, at.1, size.0, size.1, color, 256);
                    });
                };
                if let Some(outline) = outline {
                    put(space.scale, 0, outline);
                }
                if let Some(shadow) = shadow {
                    put(0, i32::from(size), shadow);
                }
                put(0, 0, color);
            }
        }
    }

    fn paint_image(
        &mut self,
        image: &Bitmap,
        (left, top): (i32, i32),
        scale: i32,
        mirrored: bool,
        shown: u8,
        flash: Option<Color>,
    ) {
        let (first, last) = visible(left, image.width(), scale, self.view.width);
        let (first_row, last_row) = visible(top, image.height(), scale, self.view.height);
        // Runs are found from left to right in the image, also when it is mirrored.
        let seen = if mirrored { image.width() - last..image.width() - first } else { first..last };
        let threshold = f32::from(shown) / 16.0;
        for row in first_row..last_row {
            let source = &image.row(row)[seen.start as usize..seen.end as usize];
            let y = top + row * scale;
            let rows = y.max(0)..(y + scale).min(self.view.height);
            let mut paint = |begin: usize, end: usize| {
                let (from, to) = (seen.start + begin as i32, seen.start + end as i32);
                let column = if mirrored { image.width() - to } else { from };
                let run = Run { pixels: &source[begin..end], left: left + column * scale, mirrored, flash };
                self.paint_run(&run, scale, rows.clone());
            };
            if shown >= 16 {
                runs(source, |_, pixel| pixel != 0, &mut paint);
            } else {
                let column = |nth: usize| {
                    let column = seen.start + nth as i32;
                    if mirrored { image.width() - 1 - column } else { column }
                };
                let there = |nth: usize, pixel: u32| {
                    pixel != 0 && bayer(column(nth) + left / scale, row + top / scale) <= threshold
                };
                runs(source, there, &mut paint);
            }
        }
    }

    /// Enlarges a run into one row, and copies that to the rows below.
    fn paint_run(&mut self, run: &Run<'_>, scale: i32, rows: Range<i32>) {
        let width = self.view.width;
        let from_x = run.left.max(0) as usize;
        let to_x = (run.left + run.pixels.len() as i32 * scale).min(width) as usize;
        let start = (rows.start * width) as usize;
        let across = &mut self.pixels[start + from_x..start + to_x];
        // Columns of the first pixel that are outside.
        let hidden = (from_x as i32 - run.left) as usize;
        match run.flash {
            Some(flash) => across.fill(flash.pixel()),
            None => enlarge(across, run, scale as usize, hidden),
        }
        for y in rows.start + 1..rows.end {
            self.pixels.copy_within(start + from_x..start + to_x, (y * width) as usize + from_x);
        }
    }

    fn paint_panel(
        &mut self,
        (left, top): (i32, i32),
        (width, height): (i32, i32),
        scale: i32,
        (fill, share): (Color, u32),
        edge: Option<Color>,
    ) {
        if width < 4 || height < 4 {
            // Only corners: too small to have an inside.
            let color = edge.unwrap_or(fill);
            let share = if edge.is_some() { 256 } else { share };
            let inside = (width - 2, height - 2);
            self.rect(left + scale, top + scale, inside.0 * scale, inside.1 * scale, color, share);
            return;
        }
        let mut run = |column: i32, row: i32, across: i32, down: i32, on_edge: bool| {
            let (color, share) = match edge {
                Some(edge) if on_edge => (edge, 256),
                _ => (fill, share),
            };
            self.rect(left + column * scale, top + row * scale, across * scale, down * scale, color, share);
        };
        // Whole stretches at once: a panel can cover a third of the screen, in every frame.
        for row in [0, height - 1] {
            run(2, row, width - 4, 1, true);
        }
        for row in [1, height - 2] {
            run(1, row, 1, 1, true);
            run(2, row, width - 4, 1, false);
            run(width - 2, row, 1, 1, true);
        }
        run(0, 2, 1, height - 4, true);
        run(1, 2, width - 2, height - 4, false);
        run(width - 1, 2, 1, height - 4, true);
    }

    fn rect(&mut self, x: i32, y: i32, width: i32, height: i32, color: Color, share: u32) {
        let (left, right) = (x.max(0), x.saturating_add(width).min(self.view.width));
        let (top, bottom) = (y.max(0), y.saturating_add(height).min(self.view.height));
        if left >= right || share == 0 {
            return;
        }
        let color = color.pixel();
        for y in top..bottom {
            let start = (y * self.view.width) as usize;
            let row = &mut self.pixels[start + left as usize..start + right as usize];
            if share >= 256 {
                row.fill(color);
            } else {
                mix_row(row, color, share);
            }
        }
    }
}

/// Pixels of an image that are side by side on the screen.
struct Run<'a> {
    pixels: &'a [u32],
    /// Left edge of the first on the screen, possibly outside.
    left: i32,
    mirrored: bool,
    flash: Option<Color>,
}

impl Run<'_> {
    /// Pixel at the `nth` place from the left on the screen.
    fn shown_at(&self, nth: usize) -> u32 {
        self.pixels[if self.mirrored { self.pixels.len() - 1 - nth } else { nth }]
    }
}

/// Calls `run` with the start and the end of every stretch for which `there` holds.
#[inline]
fn runs(row: &[u32], there: impl Fn(usize, u32) -> bool, mut run: impl FnMut(usize, usize)) {
    let mut pixels = row.iter().enumerate();
    while let Some((begin, _)) = pixels.find(|(nth, pixel)| there(*nth, **pixel)) {
        let end = pixels.find(|(nth, pixel)| !there(*nth, **pixel)).map_or(row.len(), |(nth, _)| nth);
        run(begin, end);
    }
}

/// [`Color::mix_256`] for a row, two pixels at a time: four 16-bit numbers in a word, without
/// carries. Mixing does not depend on which channel is red.
fn mix_row(row: &mut [u32], color: u32, share: u32) {
    const LOW: u64 = 0x00ff_00ff_00ff_00ff;
    const OPAQUE: u64 = 0xff00_0000_ff00_0000;
    let twice = |color: u32| u64::from(color) << 32 | u64::from(color);
    let (share, keep) = (u64::from(share), u64::from(256 - share));
    let added = |part: u64| part * share + 0x0080_0080_0080_0080;
    let (even, odd) = (added(twice(color) & LOW), added(twice(color) >> 8 & LOW));
    let mix = |pixels: u64| {
        let low = ((pixels & LOW) * keep + even) >> 8 & LOW;
        let high = ((pixels >> 8 & LOW) * keep + odd) & !LOW;
        low | high | OPAQUE
    };
    let (pairs, last) = row.as_chunks_mut::<2>();
    for [left, right] in pairs {
        let mixed = mix(u64::from(*right) << 32 | u64::from(*left));
        (*left, *right) = (mixed as u32, (mixed >> 32) as u32);
    }
    for pixel in last {
        *pixel = mix(u64::from(*pixel)) as u32;
    }
}

/// Fills a row with each pixel `times` times, and with `hidden` fewer of the first.
fn enlarge(row: &mut [u32], run: &Run<'_>, times: usize, hidden: usize) {
    if hidden > 0 {
        // A picture that scrolls seldom starts with a whole pixel.
        let (cell, rest) = row.split_at_mut((times - hidden).min(row.len()));
        cell.fill(run.shown_at(0));
        let pixels = if run.mirrored { &run.pixels[..run.pixels.len() - 1] } else { &run.pixels[1..] };
        return enlarge(rest, &Run { pixels, ..*run }, times, 0);
    }
    match times {
        // Usual scales, for which the compiler knows how many to write.
        2 => enlarge_by::<2>(row, run),
        3 => enlarge_by::<3>(row, run),
        4 => enlarge_by::<4>(row, run),
        5 => enlarge_by::<5>(row, run),
        _ => row.chunks_mut(times).enumerate().for_each(|(nth, cell)| cell.fill(run.shown_at(nth))),
    }
}

#[inline]
fn enlarge_by<const TIMES: usize>(row: &mut [u32], run: &Run<'_>) {
    let (cells, cut) = row.as_chunks_mut::<TIMES>();
    if !cut.is_empty() {
        cut.fill(run.shown_at(cells.len()));
    }
    if run.mirrored {
        cells.iter_mut().zip(run.pixels.iter().rev()).for_each(|(cell, pixel)| *cell = [*pixel; TIMES]);
    } else {
        cells.iter_mut().zip(run.pixels).for_each(|(cell, pixel)| *cell = [*pixel; TIMES]);
    }
}

/// Range of the pixels of an image that are on the screen.
fn visible(start: i32, count: i32, scale: i32, end: i32) -> (i32, i32) {
    let first = if start < 0 { (-start / scale).min(count) } else { 0 };
    let last = if start >= end { 0 } else { ((end - start + scale - 1) / scale).min(count) };
    (first, last.max(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette;

    fn count(canvas: &Canvas, color: Color) -> usize {
        canvas.pixels().iter().filter(|pixel| **pixel & 0xff_ffff == color.rgb()).count()
    }

    #[test]
    fn image_scales_by_whole_pixels_and_moves_by_screen_pixels() {
        let mut album = Album::default();
        let mut bitmap = Bitmap::new(2, 1);
        bitmap.set(0, 0, palette::MOON);
        let image = album.add(bitmap);
        let view = View::fit(30, 30, 10, 10);
        for (x, expected) in [(0.0, 0), (1.0 / 3.0, 1), (4.0, 12)] {
            let mut canvas = Canvas::new(view);
            let mut scene = Scene::default();
            scene.image(image, x, 0.0);
            canvas.paint(&scene, &album);
            assert_eq!(count(&canvas, palette::MOON), 9);
            let first = canvas.pixels().iter().position(|pixel| *pixel & 0xff_ffff == palette::MOON.rgb());
            assert_eq!(first, Some(expected), "at {x}");
        }
    }

    #[test]
    fn row_is_scaled_clipped_and_mirrored_in_its_colors() {
        let (red, blue) = (Color::hex(0xfe_0201), Color::hex(0x03_04fd));
        let mut bitmap = Bitmap::new(2, 1);
        bitmap.set(0, 0, red);
        bitmap.set(1, 0, blue);
        let mut album = Album::default();
        let image = album.add(bitmap);
        // One scale has code of its own, and one has not.
        for scale in [3, 7] {
            let (width, times) = (2 * scale, scale as usize);
            for (mirrored, first, second) in [(false, red, blue), (true, blue, red)] {
                for hidden in 0..times {
                    let mut canvas = Canvas::new(View::at_scale(width, scale, 2, 1, scale, 1));
                    let mut scene = Scene::default();
                    let x = -(hidden as f32) / scale as f32;
                    scene.art.push(Item::Image { image, x, y: 0.0, mirrored, shown: 16, flash: None });
                    canvas.paint(&scene, &album);
                    let mut expected = vec![first; times - hidden];
                    expected.extend(vec![second; times]);
                    expected.resize(2 * times, Color::hex(0));
                    let expected: Vec<u8> = expected
                        .iter()
                        .flat_map(|color| {
                            let [red, green, blue] = color.parts();
                            [red, green, blue, 255]
                        })
                        .collect();
                    for row in canvas.rgba().chunks_exact(8 * times) {
                        assert_eq!(row, expected, "{hidden} of {scale} outside, mirrored: {mirrored}");
                    }
                }
            }
        }
    }

    #[test]
    fn part_of_picture_is_copied_in_art_pixels() {
        let mut canvas = Canvas::new(View::fit(35, 30, 10, 10));
        let mut scene = Scene::default();
        scene.fill(4, 4, 2, 1, palette::MOON);
        canvas.paint(&scene, &Album::default());
        let mut part = Bitmap::new(6, 4);
        canvas.copy_art((5, 5), &mut part);
        let moon: Vec<(i32, i32)> = (0..4)
            .flat_map(|y| (0..6).map(move |x| (x, y)))
            .filter(|(x, y)| part.get(*x, *y) == Some(palette::MOON))
            .collect();
        assert_eq!(moon, [(2, 1), (3, 1)]);
        let mut beyond = Bitmap::new(4, 4);
        canvas.copy_art((100, -100), &mut beyond);
        assert_eq!(beyond, Bitmap::new(4, 4));
    }

    #[test]
    fn items_outside_screen_are_clipped() {
        let mut album = Album::default();
        let mut bitmap = Bitmap::new(50, 50);
        bitmap.rect(0, 0, 50, 50, palette::MOON);
        let image = album.add(bitmap);
        // The same world on a screen with more around it. The small screen must show a part of
        // that.
        const MORE: i32 = 200;
        let view = View::fit(31, 29, 10, 10);
        let scaled = MORE * view.scale;
        let large = View {
            width: view.width + 2 * scaled,
            height: view.height + 2 * scaled,
            art_width: view.art_width + 2 * MORE,
            art_height: view.art_height + 2 * MORE,
            left: view.left + MORE,
            top: view.top + MORE,
            ..view
        };
        let mut seen = 0;
        for x in [-1000.0, -49.0, -20.5, -1.0, 0.0, 5.5, 9.9, 11.0, 1000.0] {
            for y in [-1000.0, -49.0, -3.3, 8.0, 1000.0] {
                let mut canvas = Canvas::new(view);
                let empty = canvas.pixels();
                let mut scene = Scene::default();
                scene.image(image, x, y);
                scene.text("honk", x, y, palette::TEXT).outlined(palette::INK).bold().sized(3);
                scene.panel((x as i32, y as i32, 40, 40), palette::INK, 0.5, Some(palette::MOON));
                canvas.paint(&scene, &album);
                let mut whole = Canvas::new(large);
                whole.paint(&scene, &album);
                let (part, whole) = (canvas.pixels(), whole.pixels());
                for (nth, pixel) in part.iter().enumerate() {
                    let (right, down) = (nth as i32 % view.width, nth as i32 / view.width);
                    let there = (down + scaled) * large.width + right + scaled;
                    assert_eq!(*pixel, whole[there as usize], "{right}, {down} of what is at {x}, {y}");
                }
                let is_near = (-50.0..12.0).contains(&x) && (-50.0..12.0).contains(&y);
                assert!(is_near || part == empty, "an item at {x}, {y} is visible");
                seen += usize::from(part != empty);
            }
        }
        assert!(seen >= 15, "only {seen} items were visible");
    }

    #[test]
    fn panel_is_rectangle_with_border_and_without_corners() {
        let view = View::at_scale(40, 30, 20, 15, 2, 2);
        let mut canvas = Canvas::new(view);
        let mut scene = Scene::default();
        let (width, height) = (9, 7);
        scene.panel((3, 2, width, height), palette::PEAT[3], 1.0, Some(palette::MOON));
        canvas.paint(&scene, &Album::default());
        for y in 0..15 {
            for x in 0..20 {
                let (column, row) = (x - 3, y - 2);
                let (side, up) = (column.min(width - 1 - column), row.min(height - 1 - row));
                let expected = match (side, up) {
                    _ if side < 0 || up < 0 || side + up < 2 => 0,
                    _ if side == 0 || up == 0 || side + up == 2 => palette::MOON.rgb(),
                    _ => palette::PEAT[3].rgb(),
                };
                let seen = canvas.pixels()[(2 * y * 40 + 2 * x) as usize] & 0xff_ffff;
                assert_eq!(seen, expected, "{x} {y}");
            }
        }
    }

    #[test]
    fn mixed_row_equals_mixed_pixels() {
        let colors = [0, 0xff_ffff, 0x10_1b36, 0xff_a636, 0x80_7f01];
        for share in [0, 1, 100, 128, 255, 256] {
            for over in colors {
                let mut row: Vec<u32> = colors.iter().map(|color| 0xff00_0000 | color).collect();
                mix_row(&mut row, over, share);
                let mixed = |color| Color::of_pixel(color).mix_256(Color::of_pixel(over), share).pixel();
                assert_eq!(row, colors.map(mixed), "{share} of {over:x}");
            }
        }
    }

    #[test]
    fn outline_is_every_neighbor_of_dot_and_nothing_else() {
        for size in [1, 2] {
            let mut canvas = Canvas::new(View::at_scale(60, 40, 60, 40, 1, 1));
            let mut scene = Scene::default();
            scene.text("i:", 4.0, 4.0, palette::MOON).outlined(palette::PEAT[3]).sized(size);
            canvas.paint(&scene, &Album::default());
            let pixels = canvas.pixels();
            let is = |x: i32, y: i32, color: Color| {
                let inside = (0..60).contains(&x) && (0..40).contains(&y);
                inside && pixels[(y * 60 + x) as usize] & 0xff_ffff == color.rgb()
            };
            let around =
                |x: i32, y: i32| (-1..=1).flat_map(move |dy| (-1..=1).map(move |dx| (x + dx, y + dy)));
            for (x, y) in (0..40).flat_map(|y| (0..60).map(move |x| (x, y))) {
                if !is(x, y, palette::MOON) {
                    let beside = around(x, y).any(|(x, y)| is(x, y, palette::MOON));
                    assert_eq!(is(x, y, palette::PEAT[3]), beside, "{x} {y} at size {size}");
                }
            }
            assert!(count(&canvas, palette::MOON) > 10);
        }
    }

    #[test]
    fn dithered_image_shows_its_share_of_pixels() {
        let mut album = Album::default();
        let mut bitmap = Bitmap::new(16, 16);
        bitmap.rect(0, 0, 16, 16, palette::MOON);
        let image = album.add(bitmap);
        for shown in 0..=16 {
            let mut canvas = Canvas::new(View::fit(16, 16, 16, 16));
            let mut scene = Scene::default();
            scene.art.push(Item::Image { image, x: 0.0, y: 0.0, mirrored: false, shown, flash: None });
            canvas.paint(&scene, &album);
            assert_eq!(count(&canvas, palette::MOON), usize::from(shown) * 16);
        }
    }
}
