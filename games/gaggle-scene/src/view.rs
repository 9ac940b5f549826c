//! Scale and offset of a world on a screen.
//!
//! Made by pages for each screen size, read by all painters. Absent: device pixels and browsers.

/// A screen and the world in it. The world has a fixed size in art pixels, is enlarged by a whole
/// number and centered. The rest of the screen shows bleed, so that no bars and no blurred pixels
/// appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Width of the screen, in screen pixels.
    pub width: i32,
    /// Height of the screen, in screen pixels.
    pub height: i32,
    /// Screen pixels per art pixel.
    pub scale: i32,
    /// Screen pixels per pixel of words.
    pub word_scale: i32,
    /// Width of the screen in art pixels; the last may be cut off.
    pub art_width: i32,
    /// Height of the screen in art pixels; the last may be cut off.
    pub art_height: i32,
    /// Art pixels of bleed left of the world; negative if the screen is narrower.
    pub left: i32,
    /// Art pixels of bleed above the world; negative if the screen is lower.
    pub top: i32,
}

impl View {
    /// The largest view in which the whole world fits, if any does.
    pub fn fit(width: i32, height: i32, world_width: i32, world_height: i32) -> View {
        let (width, height) = (width.max(1), height.max(1));
        let scale = (width / world_width.max(1)).min(height / world_height.max(1)).max(1);
        // Two thirds of the scale of art, rounded: words are finer.
        let word_scale = ((scale * 2 + 1) / 3).max(1);
        View::at_scale(width, height, world_width, world_height, scale, word_scale)
    }

    /// A view at given scales, for pages that choose their own.
    pub fn at_scale(
        width: i32,
        height: i32,
        world_width: i32,
        world_height: i32,
        scale: i32,
        word_scale: i32,
    ) -> View {
        let (scale, word_scale) = (scale.max(1), word_scale.max(1));
        let art_width = (width + scale - 1) / scale;
        let art_height = (height + scale - 1) / scale;
        View {
            width,
            height,
            scale,
            word_scale,
            art_width,
            art_height,
            left: (art_width - world_width).div_euclid(2),
            top: (art_height - world_height).div_euclid(2),
        }
    }

    /// Width of the screen in pixels of words.
    pub const fn word_width(&self) -> i32 {
        self.width / self.word_scale
    }

    /// Height of the screen in pixels of words.
    pub const fn word_height(&self) -> i32 {
        self.height / self.word_scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn world_is_as_large_as_whole_pixels_allow() {
        let check = |width, height, scale, word_scale, art, bleed| {
            let view = View::fit(width, height, 384, 216);
            let seen =
                (view.scale, view.word_scale, (view.art_width, view.art_height), (view.left, view.top));
            assert_eq!(seen, (scale, word_scale, art, bleed), "{width}×{height}");
        };
        check(1280, 720, 3, 2, (427, 240), (21, 12));
        check(1920, 1080, 5, 3, (384, 216), (0, 0));
        check(2560, 1440, 6, 4, (427, 240), (21, 12));
        check(390, 844, 1, 1, (390, 844), (3, 314));
        check(300, 100, 1, 1, (300, 100), (-42, -58));
    }
}
