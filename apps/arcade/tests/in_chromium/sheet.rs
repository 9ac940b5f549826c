//! Contact sheet: screenshots of one match, in order.

use std::io::Cursor;

use gaggle_web::chromium::Page;

use crate::write_picture;

/// Screenshots side by side.
const COLUMNS: usize = 2;
/// Gap between them in pixels.
const GAP: usize = 8;
/// Color of gaps and border: ink.
pub(crate) const INK: [u8; 3] = [0x0a, 0x0c, 0x18];

/// A screenshot: rows of RGB bytes.
pub(crate) struct Moment {
    pub(crate) width: usize,
    height: usize,
    pub(crate) pixels: Vec<[u8; 3]>,
}

/// Screenshots so far, all of the same size.
#[derive(Default)]
pub(crate) struct Sheet {
    moments: Vec<Moment>,
}

impl Sheet {
    /// Adds a screenshot at half size. Letters are two pixels thick, so texts stay legible.
    pub(crate) fn add(&mut self, page: &Page) {
        self.moments.push(Moment::read(&page.screenshot().unwrap()).halved());
    }

    /// Writes all screenshots as one picture.
    pub(crate) fn write(&self, name: &str) {
        let Some(Moment { width, height, .. }) = self.moments.first() else { return };
        let rows = self.moments.len().div_ceil(COLUMNS);
        let (wide, tall) = (COLUMNS * (width + GAP) + GAP, rows * (height + GAP) + GAP);
        let mut pixels = vec![INK; wide * tall];
        for (nth, moment) in self.moments.iter().enumerate() {
            let (left, top) = (GAP + nth % COLUMNS * (width + GAP), GAP + nth / COLUMNS * (height + GAP));
            for (y, row) in moment.pixels.chunks_exact(moment.width).enumerate().take(*height) {
                let start = (top + y) * wide + left;
                pixels[start..start + width].copy_from_slice(&row[..*width]);
            }
        }
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, wide as u32, tall as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(pixels.as_flattened()).unwrap();
        writer.finish().unwrap();
        write_picture(name, &bytes);
    }
}

impl Moment {
    pub(crate) fn read(bytes: &[u8]) -> Moment {
        let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().unwrap();
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut data).unwrap();
        assert_eq!(info.bit_depth, png::BitDepth::Eight);
        let samples = info.color_type.samples();
        let pixels =
            data[..info.buffer_size()].chunks_exact(samples).map(|pixel| [pixel[0], pixel[1], pixel[2]]);
        Moment { width: info.width as usize, height: info.height as usize, pixels: pixels.collect() }
    }

    /// Halves the size: each pixel is the mean of four.
    fn halved(&self) -> Moment {
        let (width, height) = (self.width / 2, self.height / 2);
        let at = |x: usize, y: usize| self.pixels[y * self.width + x];
        let pixel = |nth: usize| {
            let (x, y) = (nth % width * 2, nth / width * 2);
            let four = [at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)];
            std::array::from_fn(|part| {
                (four.iter().map(|pixel| u32::from(pixel[part])).sum::<u32>() / 4) as u8
            })
        };
        Moment { width, height, pixels: (0..width * height).map(pixel).collect() }
    }
}
