//! Stand-in for `identity.rs` in a build without the feature `sign-in`: no issuer is accepted.
//!
//! `server.rs` and `dispatcher.rs` call it. Absent: tokens.

use gaggle_lobby::Rejection;
use gaggle_lobby::node::Identity;

use crate::config::left_out;

/// Verifier of an issuer's tokens; there is none.
#[derive(Debug)]
pub(crate) enum TokenVerifier {}

#[allow(clippy::unused_async, reason = "its callers await the one that fetches keys")]
impl TokenVerifier {
    pub(crate) async fn new(_: String, _: Option<String>, _: String) -> Result<TokenVerifier, String> {
        Err(left_out("token_issuer", "sign-in"))
    }

    pub(crate) async fn verify(&self, _token: &str) -> Result<Identity, Rejection> {
        match *self {}
    }
}
