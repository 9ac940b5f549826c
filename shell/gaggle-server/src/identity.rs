//! Who an outside issuer says somebody is: tokens (JWT) checked with the issuer's keys, which come from a
//! file or a URL and are asked for again when one is missing.

mod fetch;
mod signatures;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use gaggle_lobby::node::Identity;
use gaggle_lobby::{Refusal, RefusalCode};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::{Map, Value};
use tracing::warn;

/// Keys are asked for again no more often than this, whatever tokens come.
const REFRESH_AFTER: Duration = Duration::from_secs(60);
/// Keys from a URL are asked for again after this time, in case one was withdrawn.
const STALE_AFTER: Duration = Duration::from_secs(3_600);
/// What is signed with a shared secret proves nothing to us, and `none` least of all.
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

/// Checks tokens of one issuer.
#[derive(Debug)]
pub(crate) struct TokenVerifier {
    issuer: String,
    audience: Option<String>,
    source: String,
    keys: Mutex<Keys>,
}

#[derive(Debug)]
struct Keys {
    set: JwkSet,
    asked_at: Instant,
}

impl TokenVerifier {
    /// Gets the issuer's keys; the error says what is wrong with them.
    pub(crate) async fn new(
        issuer: String,
        audience: Option<String>,
        source: String,
    ) -> Result<TokenVerifier, String> {
        signatures::install();
        let set = load(&source).await?;
        let keys = Mutex::new(Keys { set, asked_at: Instant::now() });
        Ok(TokenVerifier { issuer, audience, source, keys })
    }

    /// Who the token says somebody is.
    pub(crate) async fn verify(&self, token: &str) -> Result<Identity, Refusal> {
        if self.is_stale() || self.key_for(token).is_none() {
            self.refresh().await;
        }
        let key = self.key_for(token).ok_or_else(|| bad("the token is signed with a key nobody knows"))?;
        let header = decode_header(token).map_err(|_| bad("the token cannot be read"))?;
        let mut validation = Validation::new(header.alg);
        validation.algorithms = vec![header.alg];
        if !ALGORITHMS.contains(&header.alg) {
            return Err(bad("the token is signed in a way that is not accepted"));
        }
        validation.set_issuer(&[&self.issuer]);
        match &self.audience {
            Some(audience) => validation.set_audience(&[audience]),
            None => validation.validate_aud = false,
        }
        validation.set_required_spec_claims(&["exp", "iss", "sub"]);
        validation.validate_nbf = true;
        let claims: Map<String, Value> =
            decode(token, &key, &validation).map_err(|error| refuse(error.kind()))?.claims;
        let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_string);
        let subject = text("sub").ok_or_else(|| bad("the token names nobody"))?;
        let name = text("name").or_else(|| text("preferred_username"));
        Ok(Identity { issuer: self.issuer.clone(), subject, name })
    }

    fn key_for(&self, token: &str) -> Option<DecodingKey> {
        let kid = decode_header(token).ok()?.kid;
        let keys = self.keys.lock().ok()?;
        let jwk = match kid {
            Some(kid) => keys.set.find(&kid)?,
            // Without a name it must be the only one.
            None => keys.set.keys.first().filter(|_| keys.set.keys.len() == 1)?,
        };
        DecodingKey::from_jwk(jwk).ok()
    }

    fn is_stale(&self) -> bool {
        let is_url = self.source.contains("://");
        is_url && self.keys.lock().is_ok_and(|keys| keys.asked_at.elapsed() > STALE_AFTER)
    }

    /// Asks for the keys again, unless that was just done.
    async fn refresh(&self) {
        {
            let Ok(mut keys) = self.keys.lock() else { return };
            if keys.asked_at.elapsed() < REFRESH_AFTER {
                return;
            }
            keys.asked_at = Instant::now();
        }
        match load(&self.source).await {
            Ok(set) => {
                if let Ok(mut keys) = self.keys.lock() {
                    keys.set = set;
                }
            }
            Err(error) => warn!(%error, "the issuer's keys could not be had again"),
        }
    }
}

async fn load(source: &str) -> Result<JwkSet, String> {
    let bytes = if source.contains("://") {
        fetch::get(source).await.map_err(|error| format!("cannot get {source}: {error}"))?
    } else {
        std::fs::read(source).map_err(|error| format!("cannot read {source}: {error}"))?
    };
    serde_json::from_slice(&bytes).map_err(|error| format!("{source} is no set of keys (JWKS): {error}"))
}

fn bad(text: &str) -> Refusal {
    Refusal::new(RefusalCode::BadToken, text)
}

fn refuse(kind: &ErrorKind) -> Refusal {
    bad(match kind {
        ErrorKind::ExpiredSignature => "the token has expired",
        ErrorKind::ImmatureSignature => "the token does not count yet",
        ErrorKind::InvalidIssuer => "the token is from another issuer",
        ErrorKind::InvalidAudience => "the token is for somebody else",
        ErrorKind::InvalidSignature => "the token's signature is wrong",
        ErrorKind::MissingRequiredClaim(_) => "the token lacks exp, iss or sub",
        _ => "the token cannot be accepted",
    })
}

#[cfg(test)]
mod tests {
    use base64ct::{Base64UrlUnpadded, Encoding};
    use ring::signature::{Ed25519KeyPair, KeyPair};

    use super::*;

    #[tokio::test]
    async fn a_good_token_says_who_somebody_is() {
        let identity = verifier().verify(&token(&claims(""), "a", &pair())).await.unwrap();
        let expected =
            Identity { issuer: "https://id.example".into(), subject: "nia".into(), name: Some("Nia".into()) };
        assert_eq!(identity, expected);
    }

    #[tokio::test]
    async fn everything_else_is_refused_with_a_reason() {
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
        for (token, why) in [
            (altered.join("."), "the token's signature is wrong"),
            (token(&claims(""), "a", &stranger), "the token's signature is wrong"),
            (token(&claims(""), "b", &pair()), "the token is signed with a key nobody knows"),
            (token(&claims("").replace("4000000000", "1000000000"), "a", &pair()), "the token has expired"),
            (token(&claims(r#""nbf":3999999999,"#), "a", &pair()), "the token does not count yet"),
            (
                token(&claims("").replace("id.example", "evil.example"), "a", &pair()),
                "the token is from another issuer",
            ),
            (token(&claims("").replace("gaggle", "other"), "a", &pair()), "the token is for somebody else"),
            (
                token(r#"{"iss":"https://id.example","aud":"gaggle","sub":"nia"}"#, "a", &pair()),
                "the token lacks exp, iss or sub",
            ),
            (unsigned, "the token is signed with a key nobody knows"),
            (shared, "the token is signed in a way that is not accepted"),
            ("nonsense".into(), "the token is signed with a key nobody knows"),
        ] {
            let refusal = verifier.verify(&token).await.unwrap_err();
            assert_eq!((refusal.code, refusal.text.as_str()), (RefusalCode::BadToken, why));
        }
    }

    fn verifier() -> TokenVerifier {
        signatures::install();
        let x = Base64UrlUnpadded::encode_string(pair().public_key().as_ref());
        let set = format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"a","x":"{x}"}}]}}"#);
        let keys = Keys { set: serde_json::from_str(&set).unwrap(), asked_at: Instant::now() };
        TokenVerifier {
            issuer: "https://id.example".into(),
            audience: Some("gaggle".into()),
            source: "keys.json".into(),
            keys: Mutex::new(keys),
        }
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
        let header = format!(r#"{{"alg":"EdDSA","kid":"{kid}"}}"#);
        let text = format!("{}.{}", encode(&header), encode(claims));
        format!("{text}.{}", Base64UrlUnpadded::encode_string(pair.sign(text.as_bytes()).as_ref()))
    }

    fn encode(text: &str) -> String {
        Base64UrlUnpadded::encode_string(text.as_bytes())
    }
}
