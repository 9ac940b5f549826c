//! The browser's Back button and the page's address: one history entry for the menu, and one above
//! it for a match. The page owns it. Absent: what Back closes.

use gaggle::Micros;
use wasm_bindgen::JsValue;
use web_sys::{History, Window};

use crate::Params;
use crate::cabinets::NAMES;

/// A step back that takes longer was denied: there is no entry to go back to.
const STEP_WITHIN: Micros = Micros::from_secs(2);

/// Position in the page's history. Browsers go back some time after the request, and may drop the
/// step if an entry changes meanwhile: so nothing is changed before they have.
pub(super) struct WayBack {
    window: Window,
    /// Whether the current entry is that of a match.
    in_match: bool,
    /// When the pending step back was requested.
    stepping_since: Option<Micros>,
    /// Query of the match's address, such as `room=BCDFGH`.
    place: Option<String>,
    /// Whether the address may be outdated.
    is_stale: bool,
}

impl WayBack {
    /// Initial state from the browser. `is_stale`: the address was written for another game.
    pub(super) fn new(window: &Window, is_stale: bool) -> WayBack {
        let in_match =
            window.history().and_then(|history| history.state()).is_ok_and(|state| is_match(&state));
        WayBack { window: window.clone(), in_match, stepping_since: None, place: None, is_stale }
    }

    /// Sets the query of the shown match, if there is one.
    pub(super) fn set_place(&mut self, place: Option<String>) {
        (self.place, self.is_stale) = (place, true);
    }

    /// Updates history and address for the shown screen. Call it often.
    pub(super) fn follow(&mut self, now: Micros, in_match: bool, game: &str) {
        let Ok(history) = self.window.history() else { return };
        let stepping = self.stepping_since.take();
        if stepping.is_some_and(|since| now.since(since) < STEP_WITHIN) {
            self.stepping_since = stepping;
            return;
        }
        if in_match && !self.in_match {
            // The entry below is the menu's, whatever a link requested.
            let asked = self.window.location().search().unwrap_or_default();
            self.write(&history, game, None);
            let pushed =
                history.push_state_with_url(&JsValue::TRUE, "", Some(&with_path(&self.window, &asked)));
            self.in_match = pushed.is_ok();
        } else if !in_match && self.in_match {
            self.in_match = stepping.is_none();
            if self.in_match && history.back().is_ok() {
                self.stepping_since = Some(now);
                return;
            }
            self.is_stale = true;
        }
        if std::mem::take(&mut self.is_stale) {
            let place = self.place.clone().filter(|_| self.in_match);
            self.write(&history, game, place.as_deref());
        }
    }

    /// Handles a change of the history entry. True if the player went back from a match to the
    /// menu.
    pub(super) fn stepped(&mut self, state: &JsValue) -> bool {
        let was_in_match = std::mem::replace(&mut self.in_match, is_match(state));
        self.is_stale = true;
        self.stepping_since.take().is_none() && was_in_match && !self.in_match
    }

    fn write(&self, history: &History, game: &str, place: Option<&str>) {
        let asked = self.window.location().search().unwrap_or_default();
        let named = Params::parse(&asked).game;
        let game = Some(game).filter(|game| named.as_deref().unwrap_or(NAMES[0]) != *game);
        let query = Params::moved(&asked, game, place);
        let state = JsValue::from_bool(self.in_match);
        let _ = history.replace_state_with_url(&state, "", Some(&with_path(&self.window, &query)));
    }
}

/// Entries of matches have the state `true`.
fn is_match(state: &JsValue) -> bool {
    state.is_truthy()
}

fn with_path(window: &Window, query: &str) -> String {
    let path = window.location().pathname().unwrap_or_default();
    let query = query.trim_start_matches('?');
    if query.is_empty() { path } else { path + "?" + query }
}
