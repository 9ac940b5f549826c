//! What a page knows when it opens: its player's choices of the last time, its address, what its
//! browser can do.

use gaggle_scene::View;

use crate::{Params, Touch};

/// What a page knows when it opens.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// A random number.
    pub seed: u64,
    /// For people who want less motion.
    pub calm: bool,
    /// How loud the player likes it, as it was [kept](crate::Keep).
    pub volume: Option<String>,
    /// The page's address without what it asks for, as `https://play.example.org/`: links begin
    /// with it.
    pub address: String,
    /// Whether the system has a share sheet.
    pub can_share: bool,
    /// Whether the page can fill the screen.
    pub can_fill: bool,
    /// What the address asks for.
    pub params: Params,
    /// The player's secret from the last time.
    pub key: Option<String>,
    /// Which of the player's tabs this is.
    pub seat: Option<String>,
    /// What the player is called.
    pub name: Option<String>,
    /// The colour the player likes, as it was [kept](crate::Keep).
    pub palette: Option<String>,
    /// The keys the player chose, as they were [kept](crate::Keep).
    pub keys: Option<String>,
    /// The room this tab was in when it was closed or reloaded, as it was [kept](crate::Keep).
    pub return_to: Option<String>,
    /// An earlier page of this tab said goodbye: a seat it still has is ours.
    pub follows: bool,
    /// The screen is touched, and there may be no keyboard: until a key is pressed.
    pub touch: bool,
}

/// Rows of the world's pixels that a line of words needs.
const NAME_ROWS: i32 = 9;

/// The largest view of the world, with words that can be read: capitals are seven word pixels high,
/// and should have eleven of the page's.
pub(crate) fn fit(width: i32, height: i32, ratio: f32, world: (i32, i32)) -> View {
    let view = View::fit(width, height, world.0, world.1);
    let readable = (11.0 * ratio / 7.0).ceil() as i32;
    // On a screen too small for that, rather small words than none.
    let room = (view.width / 160).max(1);
    let word_scale = view.word_scale.max(readable.min(room));
    let mut view = View::at_scale(view.width, view.height, world.0, world.1, view.scale, word_scale);
    // Few rows are left over: all of them above the world, where names are written.
    let over = view.art_height - world.1;
    if (NAME_ROWS..2 * NAME_ROWS).contains(&over) {
        view.top = NAME_ROWS;
    }
    view
}

/// The same view for thumbs, and how many word pixels are free for them below the world. Where they
/// would lie over its lower corners, it moves up if that makes enough room, or becomes a step
/// smaller, if that is a quarter at most.
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
