//! A painter in software: turns a scene into the pixels of a screen.

use crate::{Album, Align, Bitmap, Color, Item, Scene, View, bayer, font};

/// The pixels of a screen.
#[derive(Debug, Clone)]
pub struct Canvas {
    view: View,
    /// As a browser wants them: `0xffbbggrr`, whose bytes are red, green, blue, 255.
    pixels: Vec<u32>,
}

const _: () = assert!(cfg!(target_endian = "little"), "the bytes of a pixel would be the wrong way round");

/// From `0xaarrggbb` to `0xffbbggrr`, and back.
#[inline]
const fn turned(pixel: u32) -> u32 {
    0xff00_0000 | (pixel & 0xff) << 16 | pixel & 0xff00 | pixel >> 16 & 0xff
}

/// Where places are counted from, and how large a pixel is: in art, and in words.
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
    /// A black screen.
    pub fn new(view: View) -> Canvas {
        let count = (view.width * view.height) as usize;
        Canvas { view, pixels: vec![0xff00_0000; count] }
    }

    /// The screen's view.
    pub fn view(&self) -> View {
        self.view
    }

    /// Paints a scene over what is there.
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

    /// Copies what is painted around a place of the world, one pixel for each of art. What lies outside of the screen stays as it
    /// was.
    pub fn copy_art(&self, (x, y): (i32, i32), out: &mut Bitmap) {
        let View { left, top, scale, width, height, .. } = self.view;
        let (first_x, first_y) = (x + left - out.width() / 2, y + top - out.height() / 2);
        for row in 0..out.height() {
            for column in 0..out.width() {
                let (x, y) = ((first_x + column) * scale, (first_y + row) * scale);
                if (0..width).contains(&x) && (0..height).contains(&y) {
                    out.set(column, row, Color::hex(turned(self.pixels[(y * width + x) as usize])));
                }
            }
        }
    }

    /// The screen as bytes: red, green, blue, 255, row by row.
    pub fn rgba(&self) -> &[u8] {
        bytemuck::must_cast_slice(&self.pixels)
    }

    /// The screen as `0xffrrggbb`, row by row: for files and tests.
    pub fn pixels(&self) -> Vec<u32> {
        self.pixels.iter().map(|pixel| turned(*pixel)).collect()
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
                    Align::Centre => width / 2 / space.scale * space.scale,
                    Align::Right => width,
                };
                let mut put = |dx: i32, dy: i32, color: Color| {
                    font::dots(text, bold, track, |right, down| {
                        let at = (x + right * pixel + dx * space.scale, y + down * pixel + dy * space.scale);
                        self.rect(at.0, at.1, pixel, pixel, color, 256);
                    });
                };
                if let Some(outline) = outline {
                    for (dx, dy) in [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)] {
                        put(dx, dy, outline);
                    }
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
        let width = self.view.width;
        let (first, last) = visible(left, image.width(), scale, width);
        let (first_row, last_row) = visible(top, image.height(), scale, self.view.height);
        let threshold = f32::from(shown) / 16.0;
        for row in first_row..last_row {
            let source = image.row(row);
            let y = top + row * scale;
            let (from_y, to_y) = (y.max(0), (y + scale).min(self.view.height));
            let pixel =
                |column: i32| source[if mirrored { image.width() - 1 - column } else { column } as usize];
            let there = |column: i32| {
                pixel(column) >> 24 != 0
                    && (shown >= 16 || bayer(column + left / scale, row + top / scale) <= threshold)
            };
            let start = (from_y * width) as usize;
            let mut column = first;
            while column < last {
                if !there(column) {
                    column += 1;
                    continue;
                }
                // Runs of pixels that are there: enlarged once, then copied to the rows below.
                let begin = column;
                column += 1;
                while column < last && there(column) {
                    column += 1;
                }
                let from_x = (left + begin * scale).max(0) as usize;
                let to_x = (left + column * scale).min(width) as usize;
                let across = &mut self.pixels[start + from_x..start + to_x];
                // What of the first pixel lies outside.
                let hidden = from_x as i32 - (left + begin * scale);
                match flash {
                    Some(flash) => across.fill(turned(flash.rgb())),
                    None if mirrored => {
                        let last = (image.width() - begin) as usize;
                        let run = source[last - (column - begin) as usize..last].iter().rev();
                        enlarge(across, run, scale as usize, hidden as usize);
                    }
                    None => {
                        let run = source[begin as usize..column as usize].iter();
                        enlarge(across, run, scale as usize, hidden as usize);
                    }
                }
                for y in from_y + 1..to_y {
                    self.pixels.copy_within(start + from_x..start + to_x, (y * width) as usize + from_x);
                }
            }
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
            // Nothing but corners: too small to have an inside.
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
        // Whole stretches at once: a panel may cover a third of the screen, in every frame.
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
        let color = turned(color.rgb());
        for y in top..bottom {
            let start = (y * self.view.width) as usize;
            let row = &mut self.pixels[start + left as usize..start + right as usize];
            if share >= 256 {
                row.fill(color);
            } else {
                // Which of the three is red does not matter for mixing.
                for pixel in row {
                    *pixel = 0xff00_0000 | Color::hex(*pixel).mix_256(Color::hex(color), share).rgb();
                }
            }
        }
    }
}

/// Fills a row with pixels, each so many times; of the first so many are missing.
fn enlarge<'a>(row: &mut [u32], pixels: impl Iterator<Item = &'a u32>, times: usize, hidden: usize) {
    match (times, hidden) {
        // As large as screens are: the compiler knows how many to write.
        (2, 0) => enlarge_by::<2>(row, pixels),
        (3, 0) => enlarge_by::<3>(row, pixels),
        (4, 0) => enlarge_by::<4>(row, pixels),
        (5, 0) => enlarge_by::<5>(row, pixels),
        _ => {
            let mut rest = row;
            let mut missing = hidden;
            for pixel in pixels {
                let (cell, after) = rest.split_at_mut((times - missing).min(rest.len()));
                cell.fill(turned(*pixel));
                (rest, missing) = (after, 0);
            }
        }
    }
}

#[inline]
fn enlarge_by<'a, const TIMES: usize>(row: &mut [u32], pixels: impl Iterator<Item = &'a u32>) {
    let (cells, cut) = row.as_chunks_mut::<TIMES>();
    let mut cells = cells.iter_mut();
    for pixel in pixels {
        match cells.next() {
            Some(cell) => *cell = [turned(*pixel); TIMES],
            None => cut.fill(turned(*pixel)),
        }
    }
}

/// The first and the last-but-one pixel of something that lies on the screen at all.
fn visible(start: i32, count: i32, scale: i32, end: i32) -> (i32, i32) {
    let first = if start < 0 { -start / scale } else { 0 };
    let last = if start >= end { 0 } else { ((end - start + scale - 1) / scale).min(count) };
    (first, last.max(first.min(count)).min(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette;

    fn count(canvas: &Canvas, color: Color) -> usize {
        canvas.pixels().iter().filter(|pixel| **pixel & 0xff_ffff == color.rgb()).count()
    }

    #[test]
    fn an_image_is_enlarged_by_whole_pixels_and_moves_by_screen_pixels() {
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
    fn a_row_is_enlarged_cut_off_and_turned_round_in_the_colours_it_has() {
        let (red, blue) = (Color::hex(0xfe_0201), Color::hex(0x03_04fd));
        let mut bitmap = Bitmap::new(2, 1);
        bitmap.set(0, 0, red);
        bitmap.set(1, 0, blue);
        let mut album = Album::default();
        let image = album.add(bitmap);
        // By a size the compiler knows and by one it does not.
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
    fn a_part_of_the_picture_is_copied_in_pixels_of_art() {
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
    fn whatever_lies_outside_is_cut_off() {
        let mut album = Album::default();
        let mut bitmap = Bitmap::new(50, 50);
        bitmap.rect(0, 0, 50, 50, palette::MOON);
        let image = album.add(bitmap);
        let view = View::fit(31, 29, 10, 10);
        for x in [-1000.0, -49.0, -20.5, -1.0, 0.0, 5.5, 9.9, 11.0, 1000.0] {
            for y in [-1000.0, -49.0, -3.3, 8.0, 1000.0] {
                let mut canvas = Canvas::new(view);
                let mut scene = Scene::default();
                scene.image(image, x, y);
                scene.text("honk", x, y, palette::TEXT).outlined(palette::INK).bold().sized(3);
                scene.panel((x as i32, y as i32, 40, 40), palette::INK, 0.5, Some(palette::MOON));
                canvas.paint(&scene, &album);
            }
        }
    }

    #[test]
    fn a_panel_is_a_rectangle_without_its_corners_and_with_an_edge() {
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
    fn half_shown_is_half_of_the_pixels() {
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
