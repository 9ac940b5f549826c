//! Sign-in at the server's token issuer, and the return to the page.
//!
//! Called by `run_page` and by custom pages. The issuer returns to the page with
//! `#id_token=…&state=…`; the token is stored for the tab and removed from the address. Absent:
//! rooms, content of tokens.

use crate::brought::Brought;
use crate::random_seed;

const TOKEN: &str = "gaggle.token";
const STATE: &str = "gaggle.sign-in";
const QUERY: &str = "gaggle.query";

#[doc = text!(token)]
pub fn token() -> Option<String> {
    let window = web_sys::window()?;
    let storage = window.session_storage().ok().flatten()?;
    let fragment = window.location().hash().unwrap_or_default();
    let brought = Brought::read(&fragment);
    if let Some(Brought { token, state }) = brought {
        // A token this tab did not request may belong to another player.
        let is_asked = storage.get_item(STATE).ok().flatten().is_some_and(|asked| asked == state);
        // The query was stored before leaving: issuers compare the address they return to.
        let query = storage.get_item(QUERY).ok().flatten().filter(|_| is_asked);
        let query = query.or_else(|| window.location().search().ok()).unwrap_or_default();
        let page = format!("{}{query}", page_address(&window)?);
        let _ = window.history().ok()?.replace_state_with_url(&"".into(), "", Some(&page));
        let _ = storage.remove_item(STATE);
        let _ = storage.remove_item(QUERY);
        if is_asked {
            let _ = storage.set_item(TOKEN, &token);
        }
    }
    storage.get_item(TOKEN).ok().flatten()
}

#[doc = text!(sign_in)]
pub fn sign_in(url: &str) {
    // A foreign lobby could name a `javascript:` address.
    if !["https://", "http://localhost:", "http://127.0.0.1:"].iter().any(|start| url.starts_with(start)) {
        return;
    }
    let Some(window) = web_sys::window() else { return };
    let Some(storage) = window.session_storage().ok().flatten() else { return };
    let Some(page) = page_address(&window) else { return };
    let state = format!("{:016x}{:016x}", random_seed(), random_seed());
    let _ = storage.set_item(STATE, &state);
    let _ = storage.set_item(QUERY, &window.location().search().unwrap_or_default());
    let page = String::from(js_sys::encode_uri_component(&page));
    let _ = window.location().set_href(&url.replace("{return}", &page).replace("{state}", &state));
}

#[doc = text!(sign_out)]
pub fn sign_out() {
    let storage = web_sys::window().and_then(|window| window.session_storage().ok().flatten());
    let _ = storage.map(|storage| storage.remove_item(TOKEN));
}

/// Address of the page without query and fragment.
fn page_address(window: &web_sys::Window) -> Option<String> {
    let location = window.location();
    Some(format!("{}{}", location.origin().ok()?, location.pathname().ok()?))
}
