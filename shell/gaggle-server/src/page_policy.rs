//! Security headers of pages: scripts they run, hosts they connect to, frames they may be in.
//!
//! `http.rs` calls it. A page runs its own files, its inline scripts by hash, and WebAssembly.
//! Absent: where pages come from.

use std::fmt::Write;

use base64ct::{Base64, Encoding};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use ring::digest::{SHA256, digest};

use crate::assets::is_page;

/// Browsers that used TLS once use only TLS for a year.
const TLS_ONLY: &str = "max-age=31536000";
/// Scripts hashed per page; more would exceed the length of a header.
const SCRIPTS_MAX: usize = 32;

/// Policy of pages, from the setting.
#[derive(Debug, Clone)]
pub(crate) struct PagePolicy {
    policy: Policy,
    has_tls: bool,
}

#[derive(Debug, Clone)]
enum Policy {
    /// Generated for each page.
    Own,
    Nothing,
    /// Written by the operator.
    Given(HeaderValue),
}

impl PagePolicy {
    /// Reads the setting: `own`, `none`, or a literal policy.
    pub(crate) fn read(setting: &str, has_tls: bool) -> Result<PagePolicy, String> {
        let policy = match setting {
            "own" => Policy::Own,
            "none" => Policy::Nothing,
            given if given.contains("-src") || given.contains("frame-ancestors") => Policy::Given(
                HeaderValue::from_str(given)
                    .map_err(|_| "`page_policy` must be one line of ASCII".to_string())?,
            ),
            other => {
                return Err(format!(
                    "`page_policy` cannot be `{other}`: it is `own`, `none` or a Content-Security-Policy, as `default-src 'self'`"
                ));
            }
        };
        Ok(PagePolicy { policy, has_tls })
    }

    /// Adds headers of every response.
    pub(crate) fn add_to_all(&self, headers: &mut HeaderMap) {
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        if self.has_tls {
            headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(TLS_ONLY));
        }
    }

    /// Adds headers of a file, if it is a page.
    pub(crate) fn add_to_file(&self, headers: &mut HeaderMap, content_type: &str, scripts: &[String]) {
        if !is_page(content_type) {
            return;
        }
        match &self.policy {
            Policy::Nothing => {}
            Policy::Given(policy) => drop(headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone())),
            Policy::Own => {
                if let Ok(policy) = HeaderValue::from_str(&own_policy(scripts)) {
                    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
                }
                let frames: (HeaderName, _) =
                    (header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
                headers.insert(frames.0, frames.1);
            }
        }
    }
}

/// Policy of a page with these scripts. WebSockets may go anywhere, because a lobby may be; styles
/// affect only looks.
fn own_policy(scripts: &[String]) -> String {
    let mut hashes = String::new();
    for hash in scripts.iter().take(SCRIPTS_MAX) {
        let _ = write!(hashes, " '{hash}'");
    }
    format!(
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'{hashes}; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; \
         connect-src 'self' data: blob: ws: wss:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; \
         form-action 'self'; frame-ancestors 'self'"
    )
}

/// Hashes of a page's inline scripts, in the form of a policy.
pub fn inline_scripts(page: &[u8]) -> Vec<String> {
    // Browsers normalize line ends before hashing.
    let text = String::from_utf8_lossy(page).replace("\r\n", "\n").replace('\r', "\n");
    let lower = text.to_ascii_lowercase();
    let (mut hashes, mut at) = (Vec::new(), 0);
    while let Some(begin) = lower[at..].find("<script").map(|found| at + found) {
        let Some(body) = lower[begin..].find('>').map(|found| begin + found + 1) else { break };
        let Some(end) = lower[body..].find("</script").map(|found| body + found) else { break };
        let has_source =
            lower[begin..body].split([' ', '\n', '\t', '\u{c}']).any(|word| word.starts_with("src="));
        if !has_source {
            let hash = digest(&SHA256, &text.as_bytes()[body..end]);
            hashes.push(format!("sha256-{}", Base64::encode_string(hash.as_ref())));
        }
        at = end;
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_scripts_are_hashed_as_browsers_do() {
        // Made with: printf "alert('Hello, world.');" | openssl dgst -sha256 -binary | base64
        let known = "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=";
        let page =
            b"<!doctype html><SCRIPT type=module>alert('Hello, world.');</Script><script src=a.js></script>\
                     <script\n src=\"b.js\"></script><p>";
        assert_eq!(inline_scripts(page), [known]);
        assert_eq!(inline_scripts(b"<script>a\r\nb</script>"), inline_scripts(b"<script>a\nb</script>"));
        assert_eq!(inline_scripts(b"<script>a</script><script>b</script>").len(), 2);
        for broken in [&b""[..], b"<script", b"<script>", b"<script>x", b"\xff<script>\xff"] {
            assert!(inline_scripts(broken).is_empty());
        }
    }

    #[test]
    fn setting_is_own_none_or_policy() {
        let told = |setting: &str, has_tls: bool| {
            let policy = PagePolicy::read(setting, has_tls).unwrap();
            let mut headers = HeaderMap::new();
            policy.add_to_file(&mut headers, "text/html; charset=utf-8", &["sha256-abc".into()]);
            policy.add_to_all(&mut headers);
            headers
        };
        let own = told("own", true);
        let policy = own[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.contains("script-src 'self' 'wasm-unsafe-eval' 'sha256-abc';"), "{policy}");
        assert!(policy.contains("frame-ancestors 'self'") && own.contains_key(header::X_FRAME_OPTIONS));
        assert_eq!(own[header::STRICT_TRANSPORT_SECURITY], "max-age=31536000");
        let none = told("none", false);
        assert!(!none.contains_key(header::CONTENT_SECURITY_POLICY));
        assert!(!none.contains_key(header::STRICT_TRANSPORT_SECURITY));
        assert_eq!(told("default-src 'none'", false)[header::CONTENT_SECURITY_POLICY], "default-src 'none'");
        for wrong in ["", "yes", "default-src 'self'\n"] {
            assert!(PagePolicy::read(wrong, false).is_err(), "{wrong:?}");
        }
    }
}
