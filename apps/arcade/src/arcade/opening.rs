//! Data a page has when it opens: stored choices, its address, abilities of the browser. The page
//! fills it. Absent: storage.

use gaggle_scene::View;

use crate::{Params, Touch};

/// Data a page has when it opens.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// A random number for seeds.
    pub seed: u64,
    /// Whether the player prefers reduced motion.
    pub calm: bool,
    /// Volume as it was [stored](crate::Keep).
    pub volume: Option<String>,
    /// The page's address without its query, such as `https://play.example.org/`, with which links
    /// begin.
    pub address: String,
    /// Whether the system has a share sheet.
    pub can_share: bool,
    /// Whether the page can fill the screen.
    pub can_fill: bool,
    /// Parsed query of the address.
    pub params: Params,
    /// Guest key from the last run.
    pub key: Option<String>,
    /// Device key of this tab.
    pub seat: Option<String>,
    /// Name of the player.
    pub name: Option<String>,
    /// Preferred color as it was [stored](crate::Keep).
    pub palette: Option<String>,
    /// Chosen keys as they were [stored](crate::Keep).
    pub keys: Option<String>,
    /// Chosen input delays as they were [stored](crate::Keep).
    pub delays: Option<String>,
    /// The room this tab was in when it was closed or reloaded, as it was [stored](crate::Keep).
    pub return_to: Option<String>,
    /// Whether an earlier page of this tab was closed properly: a reservation it still has belongs
    /// to this one.
    pub follows: bool,
    /// Whether the screen is touched and may have no keyboard, which counts until a key is pressed.
    pub touch: bool,
}

/// Width of worlds whose pixels are as small as those of words.
const FINE_WORLD: i32 = 640;
/// World pixels that a line of text needs above the world.
const NAME_ROWS: i32 = 9;

/// The largest view of the world with readable text: capitals are seven text pixels high, and
/// should be eleven CSS pixels high.
pub(crate) fn fit(width: i32, height: i32, ratio: f32, world: (i32, i32)) -> View {
    let view = View::fit(width, height, world.0, world.1);
    let readable = (11.0 * ratio / 7.0).ceil() as i32;
    // On a screen too small for that, text is small.
    let room = (view.width / 160).max(1);
    // Where the world itself has many pixels, its words are as fine as its picture.
    let fine = if world.0 >= FINE_WORLD { view.scale } else { view.word_scale };
    let word_scale = fine.max(readable.min(room));
    let mut view = View::at_scale(view.width, view.height, world.0, world.1, view.scale, word_scale);
    // The few remaining rows are all above the world, where names are drawn.
    let over = view.art_height - world.1;
    if (NAME_ROWS..2 * NAME_ROWS).contains(&over) {
        view.top = NAME_ROWS;
    }
    view
}

/// The same view with room for thumbs, and the number of text pixels free for them below the world.
/// Where thumbs would cover its lower corners, the world moves up if that makes enough room, or is
/// drawn one step smaller if that is at most a quarter.
pub(crate) fn make_room_for_thumbs(view: View, world: (i32, i32)) -> (View, i32) {
    let smaller = View::at_scale(view.width, view.height, world.0, world.1, view.scale - 1, view.word_scale);
    let sizes = if view.scale >= 4 { &[view, smaller][..] } else { &[view] };
    for &size in sizes.iter().filter(|size| size.height < size.width) {
        let words = |art: i32| art * size.scale / size.word_scale;
        let below = words(size.art_height - NAME_ROWS - world.1);
        if words(size.left) >= Touch::BESIDE {
            return (size, 0);
        }
        if below >= Touch::BELOW {
            return (View { top: NAME_ROWS, ..size }, below);
        }
    }
    (view, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_fine_world_have_its_pixels() {
        for (width, height, ratio, scale, words) in [
            (1_280, 720, 1.0, 2, 2),
            (1_920, 1_080, 1.0, 3, 3),
            (2_560, 1_440, 1.0, 4, 4),
            (640, 1_385, 1.64, 1, 3),
        ] {
            let view = fit(width, height, ratio, (640, 360));
            assert_eq!((view.scale, view.word_scale), (scale, words), "{width}×{height}");
        }
        assert_eq!(fit(1_920, 1_080, 1.0, (384, 216)).word_scale, 3);
        assert_eq!(fit(1_280, 720, 1.0, (384, 216)).word_scale, 2);
    }
}
