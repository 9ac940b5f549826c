//! Images in memory, and the drawing of them pixel by pixel.
//!
//! Painted by games, kept in albums, read by the canvas. Absent: scaling and files.

use crate::Color;

/// An image with transparent pixels. Drawing outside of it has no effect.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bitmap {
    width: i32,
    height: i32,
    /// Each as [`Color::pixel`], or 0 for transparent; none is translucent.
    pixels: Vec<u32>,
}

impl Bitmap {
    /// A transparent image; negative sizes count as 0.
    pub fn new(width: i32, height: i32) -> Bitmap {
        let (width, height) = (width.max(0), height.max(0));
        Bitmap { width, height, pixels: vec![0; (width * height) as usize] }
    }

    /// Width in pixels.
    pub const fn width(&self) -> i32 {
        self.width
    }

    /// Height in pixels.
    pub const fn height(&self) -> i32 {
        self.height
    }

    /// Its pixels, row by row; none for transparent ones.
    pub fn pixels(&self) -> impl Iterator<Item = Option<Color>> {
        self.pixels.iter().map(|pixel| (*pixel != 0).then(|| Color::of_pixel(*pixel)))
    }

    /// One row of pixels in the canvas' format; 0 is transparent.
    pub(crate) fn row(&self, y: i32) -> &[u32] {
        let start = (y * self.width) as usize;
        &self.pixels[start..start + self.width as usize]
    }

    /// Makes all pixels transparent.
    pub fn clear(&mut self) {
        self.pixels.fill(0);
    }

    /// Copies all pixels of another image of the same size.
    ///
    /// # Panics
    /// If the sizes differ.
    pub fn copy_from(&mut self, other: &Bitmap) {
        self.pixels.copy_from_slice(&other.pixels);
    }

    #[inline]
    fn index(&self, x: i32, y: i32) -> Option<usize> {
        let inside = x >= 0 && y >= 0 && x < self.width && y < self.height;
        inside.then(|| (y * self.width + x) as usize)
    }

    /// Makes a pixel opaque.
    #[inline]
    pub fn set(&mut self, x: i32, y: i32, color: Color) {
        if let Some(index) = self.index(x, y) {
            self.pixels[index] = color.pixel();
        }
    }

    /// Color of a pixel, if it is inside and opaque.
    #[inline]
    pub fn get(&self, x: i32, y: i32) -> Option<Color> {
        let pixel = self.pixels[self.index(x, y)?];
        (pixel != 0).then(|| Color::of_pixel(pixel))
    }

    /// Mixes a color into a pixel, if that is opaque; `share` is 0 to 1.
    #[inline]
    pub fn blend(&mut self, x: i32, y: i32, color: Color, share: f32) {
        if let Some(index) = self.index(x, y)
            && self.pixels[index] != 0
        {
            self.pixels[index] = Color::of_pixel(self.pixels[index]).mix(color, share).pixel();
        }
    }

    /// Fills a rectangle, clipped to the image.
    pub fn rect(&mut self, x: i32, y: i32, width: i32, height: i32, color: Color) {
        let (left, right) = (x.max(0), (x + width).min(self.width));
        for y in y.max(0)..(y + height).min(self.height) {
            if left < right {
                let row = (y * self.width) as usize;
                self.pixels[row + left as usize..row + right as usize].fill(color.pixel());
            }
        }
    }

    /// Draws a line one pixel wide, both ends included.
    pub fn line(&mut self, from: (i32, i32), to: (i32, i32), color: Color) {
        let (mut x, mut y) = from;
        let (dx, dy) = ((to.0 - x).abs(), -(to.1 - y).abs());
        let (step_x, step_y) = ((to.0 - x).signum(), (to.1 - y).signum());
        let mut error = dx + dy;
        loop {
            self.set(x, y, color);
            if (x, y) == to {
                break;
            }
            let twice = 2 * error;
            if twice >= dy {
                error += dy;
                x += step_x;
            }
            if twice <= dx {
                error += dx;
                y += step_y;
            }
        }
    }

    /// Draws another image over this one, with its top left corner at `x`, `y`.
    pub fn blit(&mut self, image: &Bitmap, x: i32, y: i32) {
        for row in 0..image.height {
            for column in 0..image.width {
                if let Some(color) = image.get(column, row) {
                    self.set(x + column, y + row, color);
                }
            }
        }
    }

    /// Draws rows of letters as pixels: `.` and space are transparent, `color` maps the others.
    pub fn stamp(&mut self, x: i32, y: i32, rows: &[&str], mut color: impl FnMut(char) -> Color) {
        for (down, row) in (0..).zip(rows) {
            for (right, letter) in (0..).zip(row.chars()) {
                if letter != '.' && letter != ' ' {
                    self.set(x + right, y + down, color(letter));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: Color = Color::hex(0xff_0000);

    #[test]
    fn drawing_outside_has_no_effect() {
        let mut bitmap = Bitmap::new(4, 3);
        bitmap.set(-1, 0, RED);
        bitmap.set(0, 3, RED);
        bitmap.rect(-5, -5, 5, 20, RED);
        bitmap.rect(4, 0, i32::MAX - 10, 1, RED);
        bitmap.line((-3, -3), (-1, 9), RED);
        assert_eq!(bitmap, Bitmap::new(4, 3));
        bitmap.rect(-5, 1, 7, 1, RED);
        assert_eq!(bitmap.pixels().flatten().count(), 2);
    }

    #[test]
    fn black_is_not_transparent() {
        let mut bitmap = Bitmap::new(2, 1);
        bitmap.set(0, 0, Color::hex(0));
        assert_eq!(bitmap.get(0, 0), Some(Color::hex(0)));
        assert_eq!(bitmap.get(1, 0), None);
        bitmap.blend(1, 0, RED, 1.0);
        assert_eq!(bitmap.get(1, 0), None);
    }
}
