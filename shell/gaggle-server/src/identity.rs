//! Verification of an external issuer's tokens (JWT).
//!
//! `dispatcher.rs` calls it. Keys come from a file or a URL and are fetched again when one is
//! unknown. Absent: accounts (`gaggle-lobby`).

mod fetch;
mod signatures;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use base64ct::{Base64UrlUnpadded, Encoding};
use gaggle_lobby::node::Identity;
use gaggle_lobby::{Rejection, RejectionCode};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::jwk::{JwkSet, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::{Map, Value};
use tracing::{error, warn};

/// Shortest time between two fetches of keys, whatever tokens arrive.
const REFRESH_AFTER: Duration = Duration::from_secs(60);
/// The same while there are no keys, so that sign-in works soon after the issuer is back.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// Keys of a URL are fetched again after this time, in case one was revoked.
const STALE_AFTER: Duration = Duration::from_secs(3_600);
/// Accepted algorithms: none with a shared secret, and not `none`.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::EdDSA,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
];

/// Verifies tokens of one issuer.
#[derive(Debug)]
pub(crate) struct TokenVerifier {
    issuer: String,
    audience: Option<String>,
    source: String,
    refresh_after: Duration,
    keys: Mutex<Keys>,
}

#[derive(Debug)]
struct Keys {
    /// Keys; none until the issuer has answered once.
    set: Option<JwkSet>,
    /// Time of the last fetch, and of the last success.
    asked_at: Instant,
    had_at: Instant,
}

impl TokenVerifier {
    /// Fetches the issuer's keys. While an issuer does not answer, sign-in is unavailable. A file
    /// or address that can never work is an error.
    pub(crate) async fn new(
        issuer: String,
        audience: Option<String>,
        source: String,
    ) -> Result<TokenVerifier, String> {
        signatures::install();
        if is_url(&source) {
            fetch::check(&source).map_err(|error| format!("cannot get {source}: {error}"))?;
        }
        let set = match load(&source).await {
            Ok(set) => Some(set),
            Err(error) if is_url(&source) => {
                error!(%error, "sign-in is unavailable until the issuer's keys can be fetched");
                None
            }
            Err(error) => return Err(error),
        };
        let now = Instant::now();
        let keys = Mutex::new(Keys { set, asked_at: now, had_at: now });
        Ok(TokenVerifier { issuer, audience, source, refresh_after: REFRESH_AFTER, keys })
    }

    /// The player that the token authenticates.
    pub(crate) async fn verify(&self, token: &str) -> Result<Identity, Rejection> {
        if self.is_stale() || self.key_for(token).is_none() {
            self.refresh().await;
        }
        if !self.has_keys() {
            let text = "the issuer's keys are unavailable at the moment; try again";
            return Err(Rejection::new(RejectionCode::Unavailable, text));
        }
        let unknown = || bad("the token is signed with an unknown key");
        let (key, key_algorithm) = self.key_for(token).ok_or_else(unknown)?;
        let header = decode_header(token).map_err(|_| bad("the token is malformed"))?;
        check_header(token)?;
        let mut validation = Validation::new(header.alg);
        validation.algorithms = vec![header.alg];
        if !ALGORITHMS.contains(&header.alg) {
            return Err(bad("the token is signed with an algorithm that is not accepted"));
        }
        if key_algorithm.is_some_and(|algorithm| algorithm != KeyAlgorithm::from(header.alg)) {
            return Err(bad("the token is signed with another algorithm than its key allows"));
        }
        validation.set_issuer(&[&self.issuer]);
        validation.set_required_spec_claims(&["exp", "iss", "sub"]);
        match &self.audience {
            Some(audience) => {
                validation.set_audience(&[audience]);
                // Without this a missing `aud` would be accepted.
                validation.required_spec_claims.insert("aud".into());
            }
            None => validation.validate_aud = false,
        }
        validation.validate_nbf = true;
        let claims: Map<String, Value> =
            decode(token, &key, &validation).map_err(|error| refuse(error.kind()))?.claims;
        let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_string);
        let subject = text("sub")
            .filter(|sub| !sub.trim().is_empty())
            .ok_or_else(|| bad("the token has no subject"))?;
        let name = text("name").or_else(|| text("preferred_username"));
        Ok(Identity { issuer: self.issuer.clone(), subject, name })
    }

    /// Key named by a token, and its algorithm if the issuer declares one.
    fn key_for(&self, token: &str) -> Option<(DecodingKey, Option<KeyAlgorithm>)> {
        let kid = decode_header(token).ok()?.kid;
        let keys = self.keys.lock().ok()?;
        let set = keys.set.as_ref()?;
        let jwk = match kid {
            Some(kid) => set.find(&kid)?,
            // A token without a key name is accepted only if there is one key.
            None => set.keys.first().filter(|_| set.keys.len() == 1)?,
        };
        // Encryption keys do not sign.
        let signs = jwk.common.public_key_use.as_ref().is_none_or(|usage| *usage == PublicKeyUse::Signature);
        let key = DecodingKey::from_jwk(jwk).ok().filter(|_| signs)?;
        Some((key, jwk.common.key_algorithm))
    }

    fn has_keys(&self) -> bool {
        self.keys.lock().is_ok_and(|keys| keys.set.is_some())
    }

    fn is_stale(&self) -> bool {
        is_url(&self.source) && self.keys.lock().is_ok_and(|keys| keys.had_at.elapsed() > STALE_AFTER)
    }

    /// Fetches the keys again, unless that was just done.
    async fn refresh(&self) {
        {
            let Ok(mut keys) = self.keys.lock() else { return };
            let wait = if keys.set.is_some() { self.refresh_after } else { RETRY_AFTER };
            if keys.asked_at.elapsed() < wait {
                return;
            }
            keys.asked_at = Instant::now();
        }
        match load(&self.source).await {
            Ok(set) => {
                if let Ok(mut keys) = self.keys.lock() {
                    (keys.set, keys.had_at) = (Some(set), Instant::now());
                }
            }
            Err(error) => warn!(%error, "cannot fetch the issuer's keys"),
        }
    }
}

/// Rejects tokens with critical extensions, since none is supported (RFC 7515, section 4.1.11).
fn check_header(token: &str) -> Result<(), Rejection> {
    let header = token.split('.').next().and_then(|part| Base64UrlUnpadded::decode_vec(part).ok());
    let header: Option<Map<String, Value>> = header.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    match header {
        Some(header) if !header.contains_key("crit") => Ok(()),
        Some(_) => Err(bad("the token requires an unsupported extension")),
        None => Err(bad("the token is malformed")),
    }
}

/// Whether the source is a URL; anything else is a file.
fn is_url(source: &str) -> bool {
    source.contains("://")
}

async fn load(source: &str) -> Result<JwkSet, String> {
    let bytes = if is_url(source) {
        fetch::get(source).await.map_err(|error| format!("cannot get {source}: {error}"))?
    } else {
        std::fs::read(source).map_err(|error| format!("cannot read {source}: {error}"))?
    };
    serde_json::from_slice(&bytes).map_err(|error| {
        format!(
            "{source} is not a set of keys (JWKS): \
     {error}"
        )
    })
}

fn bad(text: &str) -> Rejection {
    Rejection::new(RejectionCode::BadToken, text)
}

fn refuse(kind: &ErrorKind) -> Rejection {
    bad(match kind {
        ErrorKind::ExpiredSignature => "the token has expired",
        ErrorKind::ImmatureSignature => "the token is not valid yet",
        ErrorKind::InvalidIssuer => "the token is from another issuer",
        ErrorKind::InvalidAudience => "the token is for another audience",
        ErrorKind::InvalidSignature => "the token's signature is wrong",
        ErrorKind::MissingRequiredClaim(claim) if claim == "aud" => "the token has no audience",
        ErrorKind::MissingRequiredClaim(_) => "the token lacks exp, iss or sub",
        _ => "the token is not accepted",
    })
}

#[cfg(test)]
mod tests {
    use ring::signature::{Ed25519KeyPair, KeyPair};

    use super::*;

    #[tokio::test]
    async fn valid_token_authenticates_player() {
        let identity = verifier().verify(&token(&claims(""), "a", &pair())).await.unwrap();
        let expected =
            Identity { issuer: "https://id.example".into(), subject: "nia".into(), name: Some("Nia".into()) };
        assert_eq!(identity, expected);
    }

    #[tokio::test]
    async fn invalid_tokens_are_rejected_with_reason() {
        let verifier = verifier();
        let stranger = Ed25519KeyPair::from_seed_unchecked(&[9; 32]).unwrap();
        let good = token(&claims(""), "a", &pair());
        let mut altered: Vec<&str> = good.split('.').collect();
        let other = token(&claims(r#""admin":true,"#), "a", &pair());
        altered[1] = other.split('.').nth(1).unwrap();
        let unsigned = format!("{}.{}.", encode(r#"{"alg":"none","kid":"a"}"#), encode(&claims("")));
        let shared = {
            let text = format!("{}.{}", encode(r#"{"alg":"HS256","kid":"a"}"#), encode(&claims("")));
            let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, pair().public_key().as_ref());
            format!(
                "{text}.{}",
                Base64UrlUnpadded::encode_string(ring::hmac::sign(&key, text.as_bytes()).as_ref())
            )
        };
        let for_whom = |aud: &str| {
            token(&claims("").replace(r#""aud":"gaggle""#, &format!(r#""aud":{aud}"#)), "a", &pair())
        };
        for (token, why) in [
            (altered.join("."), "the token's signature is wrong"),
            (token(&claims(""), "a", &stranger), "the token's signature is wrong"),
            (token(&claims(""), "b", &pair()), "the token is signed with an unknown key"),
            (token(&claims("").replace("4000000000", "1000000000"), "a", &pair()), "the token has expired"),
            (token(&claims(r#""nbf":3999999999,"#), "a", &pair()), "the token is not valid yet"),
            (
                token(&claims("").replace("id.example", "evil.example"), "a", &pair()),
                "the token is from another issuer",
            ),
            (
                token(&claims("").replace("gaggle", "other"), "a", &pair()),
                "the token is for another \
             audience",
            ),
            (for_whom(r#"["other","another"]"#), "the token is for another audience"),
            (for_whom("[]"), "the token is for another audience"),
            (for_whom("null"), "the token has no audience"),
            (for_whom("7"), "the token has no audience"),
            (for_whom(r#"{"gaggle":true}"#), "the token has no audience"),
            (for_whom(r#"["gaggle",7]"#), "the token has no audience"),
            (token(&claims("").replace(r#""aud":"gaggle","#, ""), "a", &pair()), "the token has no audience"),
            (
                token(r#"{"iss":"https://id.example","aud":"gaggle","sub":"nia"}"#, "a", &pair()),
                "the token lacks exp, iss or sub",
            ),
            (unsigned, "the token is signed with an unknown key"),
            (shared, "the token is signed with an algorithm that is not accepted"),
            ("nonsense".into(), "the token is signed with an unknown key"),
        ] {
            let refusal = verifier.verify(&token).await.unwrap_err();
            assert_eq!((refusal.code, refusal.text.as_str()), (RejectionCode::BadToken, why));
        }
    }

    #[tokio::test]
    async fn token_with_unusable_header_or_subject_is_rejected() {
        let verifier = verifier();
        let header = r#"{"alg":"EdDSA","kid":"a","crit":["exp"]}"#;
        for (token, why) in [
            (signed(header, &claims(""), &pair()), "the token requires an unsupported extension"),
            (token(&claims("").replace("\"nia\"", "\"\""), "a", &pair()), "the token has no subject"),
            (token(&claims("").replace("\"nia\"", "\" \""), "a", &pair()), "the token has no subject"),
        ] {
            assert_eq!(verifier.verify(&token).await.unwrap_err().text, why);
        }
        let of_key = |more: &str| {
            let set = jwks("a").replace("\"kid\"", &format!("{more},\"kid\""));
            verifier.keys.lock().unwrap().set = Some(serde_json::from_str(&set).unwrap());
        };
        let good = token(&claims(""), "a", &pair());
        of_key(r#""alg":"EdDSA","use":"sig""#);
        assert!(verifier.verify(&good).await.is_ok());
        of_key(r#""alg":"RS256""#);
        let text = verifier.verify(&good).await.unwrap_err().text;
        assert_eq!(text, "the token is signed with another algorithm than its key allows");
        of_key(r#""use":"enc""#);
        let text = verifier.verify(&good).await.unwrap_err().text;
        assert_eq!(text, "the token is signed with an unknown key");
    }

    #[tokio::test]
    async fn token_for_several_audiences_is_accepted() {
        let mut verifier = verifier();
        let several = claims("").replace(r#""gaggle""#, r#"["other","gaggle"]"#);
        assert!(verifier.verify(&token(&several, "a", &pair())).await.is_ok());
        verifier.audience = None;
        for said in [claims("").replace("gaggle", "other"), claims("").replace(r#""aud":"gaggle","#, "")] {
            assert!(verifier.verify(&token(&said, "a", &pair())).await.is_ok());
        }
    }

    #[tokio::test]
    async fn new_key_is_fetched_and_revoked_key_rejected() {
        let (url, published) = publish(jwks("a")).await;
        let mut verifier = TokenVerifier::new("https://id.example".into(), None, url.clone()).await.unwrap();
        let (old, new) = (token(&claims(""), "a", &pair()), token(&claims(""), "b", &pair()));
        assert!(verifier.verify(&old).await.is_ok());
        *published.lock().unwrap() = jwks("b");
        let refusal = verifier.verify(&new).await.unwrap_err();
        assert_eq!(refusal.text, "the token is signed with an unknown key", "it was fetched just now");
        verifier.refresh_after = Duration::ZERO;
        assert!(verifier.verify(&new).await.is_ok());
        assert!(verifier.verify(&old).await.is_err());
        // While the issuer sends garbage, the previous keys count.
        *published.lock().unwrap() = "nonsense".into();
        assert!(verifier.verify(&old).await.is_err());
        assert!(verifier.verify(&new).await.is_ok());
    }

    #[tokio::test]
    async fn keys_that_can_never_be_fetched_are_error_at_once() {
        for (source, why) in [
            ("/nowhere/keys.json", "cannot read /nowhere/keys.json: "),
            (
                "ftp://id.example/keys",
                "cannot get ftp://id.example/keys: the URL must begin with https:// or http://",
            ),
            ("http://", "cannot get http://: "),
        ] {
            let error = TokenVerifier::new("i".into(), None, source.into()).await.unwrap_err();
            assert!(error.starts_with(why), "{error}");
        }
    }

    /// An issuer on loopback, and the document it publishes.
    async fn publish(text: String) -> (String, std::sync::Arc<Mutex<String>>) {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let published = std::sync::Arc::new(Mutex::new(text));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap());
        let text = published.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let _ = stream.read(&mut [0; 4_096]).await;
                let body = text.lock().unwrap().clone();
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
            }
        });
        (url, published)
    }

    fn verifier() -> TokenVerifier {
        signatures::install();
        let now = Instant::now();
        let set = Some(serde_json::from_str(&jwks("a")).unwrap());
        TokenVerifier {
            issuer: "https://id.example".into(),
            audience: Some("gaggle".into()),
            source: "keys.json".into(),
            refresh_after: REFRESH_AFTER,
            keys: Mutex::new(Keys { set, asked_at: now, had_at: now }),
        }
    }

    fn jwks(kid: &str) -> String {
        let x = Base64UrlUnpadded::encode_string(pair().public_key().as_ref());
        format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"{kid}","x":"{x}"}}]}}"#)
    }

    fn pair() -> Ed25519KeyPair {
        Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap()
    }

    fn claims(more: &str) -> String {
        format!(
            r#"{{{more}"iss":"https://id.example","aud":"gaggle","sub":"nia","name":"Nia","exp":4000000000}}"#
        )
    }

    fn token(claims: &str, kid: &str, pair: &Ed25519KeyPair) -> String {
        signed(&format!(r#"{{"alg":"EdDSA","kid":"{kid}"}}"#), claims, pair)
    }

    fn signed(header: &str, claims: &str, pair: &Ed25519KeyPair) -> String {
        let text = format!("{}.{}", encode(header), encode(claims));
        format!("{text}.{}", Base64UrlUnpadded::encode_string(pair.sign(text.as_bytes()).as_ref()))
    }

    fn encode(text: &str) -> String {
        Base64UrlUnpadded::encode_string(text.as_bytes())
    }
}
