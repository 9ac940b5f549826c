//! An RGB color and its mixes.
//!
//! Used by all painters. Absent: the shared palette (`palette.rs`).

/// Red, green and blue with 8 bits each, stored as `0x00bbggrr`: the order of bytes in a browser's
/// pixels, so that painting needs no conversion.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Color(u32);

impl std::fmt::Debug for Color {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Color(#{:06x})", self.rgb())
    }
}

/// Swaps red and blue.
const fn turned(color: u32) -> u32 {
    (color & 0xff) << 16 | color & 0xff00 | color >> 16 & 0xff
}

impl Color {
    /// Color of a number `0xrrggbb`.
    pub const fn hex(rgb: u32) -> Color {
        Color(turned(rgb))
    }

    /// The color as a number `0xrrggbb`.
    pub const fn rgb(self) -> u32 {
        turned(self.0)
    }

    /// An opaque pixel `0xffbbggrr`, whose bytes are red, green, blue, 255.
    #[inline]
    pub(crate) const fn pixel(self) -> u32 {
        0xff00_0000 | self.0
    }

    /// Color of such a pixel.
    #[inline]
    pub(crate) const fn of_pixel(pixel: u32) -> Color {
        Color(pixel & 0xff_ffff)
    }

    /// Red, green and blue, 0 to 255.
    pub const fn parts(self) -> [u8; 3] {
        [self.0 as u8, (self.0 >> 8) as u8, (self.0 >> 16) as u8]
    }

    /// This color mixed with `other`; `share`, 0 to 1, is that of `other`.
    #[must_use]
    pub fn mix(self, other: Color, share: f32) -> Color {
        self.mix_256(other, (share.clamp(0.0, 1.0) * 256.0 + 0.5) as u32)
    }

    /// This color mixed with `other`; `share`, 0 to 256, is that of `other`.
    #[must_use]
    #[inline]
    pub const fn mix_256(self, other: Color, share: u32) -> Color {
        let keep = 256 - share;
        // Red and blue at once: the byte between them takes the carry.
        let red_blue =
            ((self.0 & 0xff_00ff) * keep + (other.0 & 0xff_00ff) * share + 0x80_0080) >> 8 & 0xff_00ff;
        let green = ((self.0 & 0xff00) * keep + (other.0 & 0xff00) * share + 0x8000) >> 8 & 0xff00;
        Color(red_blue | green)
    }

    /// This color mixed with gray of the same lightness; `share` is that of gray.
    #[must_use]
    pub fn grayed(self, share: f32) -> Color {
        let [r, g, b] = self.parts().map(u32::from);
        let gray = (r * 77 + g * 151 + b * 28) >> 8;
        self.mix(Color(gray << 16 | gray << 8 | gray), share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn color_keeps_its_components_in_every_form() {
        let color = Color::hex(0x12_3456);
        assert_eq!((color.rgb(), color.parts()), (0x12_3456, [0x12, 0x34, 0x56]));
        assert_eq!(color.pixel().to_le_bytes(), [0x12, 0x34, 0x56, 255]);
        assert_eq!(Color::of_pixel(color.pixel()), color);
        assert_eq!(format!("{color:?}"), "Color(#123456)");
    }

    #[test]
    fn mix_meets_both_ends_and_middle() {
        let (night, fire) = (Color::hex(0x10_1b36), Color::hex(0xff_a636));
        assert_eq!(night.mix(fire, 0.0), night);
        assert_eq!(night.mix(fire, 1.0), fire);
        assert_eq!(Color::hex(0).mix(Color::hex(0xff_ffff), 0.5), Color::hex(0x80_8080));
        assert_eq!(night.mix(fire, 7.0), fire);
    }
}
