//! Animated picture of the README: four pages of one match side by side, as players drop in and
//! out.

use std::collections::BTreeMap;

use gaggle_web::chromium::Page;

use crate::online::{Hall, Parting, facts, is_together, partings, until, until_parted};
use crate::sheet::{INK, Moment};
use crate::{tap, write_picture};

/// Width of one page in pixels.
const WIDTH: usize = 400;
const HEIGHT: usize = 225;
/// Gap between pages in pixels.
const GAP: usize = 8;
/// Size of the palette. Entry 0 is transparent: the pixel of the previous frame stays.
const COLORS_MAX: usize = 255;
/// Largest file that tidy accepts in the repository, in bytes.
const BYTES_MAX: usize = 1_000_000;

/// Frames recorded so far, as rows of RGB bytes.
#[derive(Default)]
struct Film {
    frames: Vec<Vec<[u8; 3]>>,
}

impl Film {
    const WIDE: usize = 2 * WIDTH + GAP;
    const TALL: usize = 2 * HEIGHT + GAP;

    /// Records frames of all pages while their players flap. A missing page is dark.
    fn shoot(&mut self, pages: [Option<&Page>; 4], frames: usize) {
        for _ in 0..frames {
            let turn = self.frames.len();
            let mut pixels = vec![INK; Film::WIDE * Film::TALL];
            for (nth, page) in pages.iter().enumerate() {
                let Some(page) = page else { continue };
                steer(page, turn + 3 * nth);
                let seen = Moment::read(&page.screenshot().unwrap());
                let (left, top) = (nth % 2 * (WIDTH + GAP), nth / 2 * (HEIGHT + GAP));
                for (y, row) in seen.pixels.chunks_exact(seen.width).take(HEIGHT).enumerate() {
                    let start = (top + y) * Film::WIDE + left;
                    pixels[start..start + WIDTH.min(seen.width)]
                        .copy_from_slice(&row[..WIDTH.min(seen.width)]);
                }
            }
            self.frames.push(pixels);
        }
    }

    /// Most frequent colors over all frames.
    fn palette(&self) -> Vec<[u8; 3]> {
        let mut counts: BTreeMap<[u8; 3], usize> = BTreeMap::new();
        for pixel in self.frames.iter().flatten() {
            *counts.entry(*pixel).or_default() += 1;
        }
        let mut colors: Vec<_> = counts.into_iter().collect();
        colors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        colors.into_iter().take(COLORS_MAX).map(|(color, _)| color).collect()
    }

    /// Encodes all frames as an animated PNG. Unchanged pixels are transparent, which compresses
    /// well.
    fn encode(&self) -> Vec<u8> {
        let colors = self.palette();
        let mut numbers: BTreeMap<[u8; 3], u8> = BTreeMap::new();
        let mut number_of = |color: [u8; 3]| {
            let apart = |other: &[u8; 3]| -> u32 {
                (0..3).map(|part| u32::from(color[part].abs_diff(other[part])).pow(2)).sum()
            };
            let nearest = || (0..colors.len()).min_by_key(|nth| apart(&colors[*nth])).unwrap_or_default();
            *numbers.entry(color).or_insert_with(|| nearest() as u8 + 1)
        };
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, Film::WIDE as u32, Film::TALL as u32);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette([&[INK], &colors[..]].concat().as_flattened().to_vec());
        encoder.set_trns(vec![0]);
        encoder.set_compression(png::Compression::High);
        encoder.set_animated(self.frames.len() as u32, 0).unwrap();
        encoder.set_frame_delay(16, 100).unwrap();
        encoder.set_blend_op(png::BlendOp::Over).unwrap();
        let mut writer = encoder.write_header().unwrap();
        let mut shown: Vec<u8> = Vec::new();
        for frame in &self.frames {
            let numbers: Vec<u8> = frame.iter().map(|color| number_of(*color)).collect();
            let changed = numbers.iter().enumerate();
            let changed = changed.map(|(at, number)| if shown.get(at) == Some(number) { 0 } else { *number });
            writer.write_image_data(&changed.collect::<Vec<u8>>()).unwrap();
            shown = numbers;
        }
        writer.finish().unwrap();
        bytes
    }
}

/// Flaps and turns at irregular intervals.
fn steer(page: &Page, turn: usize) {
    let code = if (turn / 9).is_multiple_of(2) { "ArrowRight" } else { "ArrowLeft" };
    page.key(code, code, turn % 4 < 3).unwrap();
    if turn % 3 != 2 {
        tap(page, "Space", " ");
    }
}

fn open(hall: &Hall, query: &str) -> Page {
    let page = hall.page(query);
    page.resize(WIDTH as u32, HEIGHT as u32, 1, false).unwrap();
    page
}

#[test]
#[ignore = "long: takes the README's moving picture"]
fn four_pages_drop_in_and_out_on_film() {
    let (hall, mut film) = (Hall::open("film"), Film::default());
    let first = open(&hall, "?seed=7");
    tap(&first, "Enter", "Enter");
    let known = until(&first, "a room", |known| is_together(known, 1));
    let query = format!("?room={}", known["code"].as_str().unwrap());
    film.shoot([Some(&first), None, None, None], 5);
    let second = open(&hall, &query);
    until(&second, "two", |known| is_together(known, 2));
    film.shoot([Some(&first), Some(&second), None, None], 5);
    let third = open(&hall, &query);
    until(&third, "three", |known| is_together(known, 3));
    film.shoot([Some(&first), Some(&second), Some(&third), None], 4);
    let fourth = open(&hall, &query);
    until(&fourth, "four", |known| is_together(known, 4));
    film.shoot([Some(&first), Some(&second), Some(&third), Some(&fourth)], 6);

    // The leader is killed, the others play on, and it returns to its slot.
    let before = partings(&facts(&second));
    first.crash().unwrap();
    film.shoot([None, Some(&second), Some(&third), Some(&fourth)], 3);
    until_parted(&second, "it is given up", Parting::Silence, before, 3);
    film.shoot([None, Some(&second), Some(&third), Some(&fourth)], 5);
    first.revive().unwrap();
    first.resize(WIDTH as u32, HEIGHT as u32, 1, false).unwrap();
    until(&first, "it is back", |known| is_together(known, 4));
    film.shoot([Some(&first), Some(&second), Some(&third), Some(&fourth)], 5);

    fourth.close().unwrap();
    until(&third, "three again", |known| is_together(known, 3));
    film.shoot([Some(&first), Some(&second), Some(&third), None], 4);

    let bytes = film.encode();
    write_picture("players.png", &bytes);
    assert!(bytes.len() < BYTES_MAX, "{} bytes", bytes.len());
}
