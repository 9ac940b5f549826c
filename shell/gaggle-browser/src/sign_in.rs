//! Signing in: the way to the server's issuer of tokens and back.
//!
//! `run_page` and pages of their own kind call it. The issuer comes back to the page with
//! `#id_token=…&state=…`; the token is kept for the tab, and never stays in the address.
//! Absent: rooms, what a token says.

use crate::brought::Brought;
use crate::random_seed;

const TOKEN: &str = "gaggle.token";
const STATE: &str = "gaggle.sign-in";
const QUERY: &str = "gaggle.query";

/// The token to open a room with: one the issuer has just brought, or the tab has. Put it into
/// [`ClientConfig::token`](gaggle::ClientConfig::token), and call [`sign_out`] when the lobby
/// refuses it.
pub fn token() -> Option<String> {
    let window = web_sys::window()?;
    let storage = window.session_storage().ok().flatten()?;
    let fragment = window.location().hash().unwrap_or_default();
    let brought = Brought::read(&fragment);
    if let Some(Brought { token, state }) = brought {
        // A token this tab has not asked for may be another person's.
        let is_asked = storage.get_item(STATE).ok().flatten().is_some_and(|asked| asked == state);
        // Issuers compare the address they return to, so what stood behind `?` waited here.
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

/// Goes to the issuer, by the address of
/// [`Client::sign_in_url`](gaggle::lobby::client::Client::sign_in_url). The page is left.
pub fn sign_in(url: &str) {
    // A lobby of other people could name a script instead.
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

/// Forgets the token.
pub fn sign_out() {
    let storage = web_sys::window().and_then(|window| window.session_storage().ok().flatten());
    let _ = storage.map(|storage| storage.remove_item(TOKEN));
}

/// The page without what stands behind `?` and `#`.
fn page_address(window: &web_sys::Window) -> Option<String> {
    let location = window.location();
    Some(format!("{}{}", location.origin().ok()?, location.pathname().ok()?))
}
