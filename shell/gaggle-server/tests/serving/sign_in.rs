//! Sign-in with tokens of an external issuer at a server process: keys from a file and from a URL,
//! every supported algorithm, and an issuer that is unreachable at first.

use std::io::{Read, Write};
use std::net::TcpListener;

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use gaggle_lobby::{RejectionCode, ServerMessage};
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA256,
    RsaEncoding, RsaKeyPair,
};

use crate::guest::Guest;
use crate::place::{Place, lasting_port};
use crate::process::Process;

const ISSUER: &str = "https://id.example";
const ALGORITHMS: [&str; 4] = ["EdDSA", "ES256", "RS256", "PS256"];

#[test]
fn tokens_of_every_kind_are_accepted_with_keys_from_file() {
    let (issuer, place) = (Issuer::new(), Place::new());
    let keys = place.path().join("keys.json");
    std::fs::write(&keys, issuer.jwks()).unwrap();
    let server = start(&place, keys.to_str().unwrap());
    issuer.check_all(&server);
}

#[test]
fn tokens_of_every_kind_are_accepted_with_keys_from_url() {
    let (issuer, place) = (Issuer::new(), Place::new());
    let url = publish(TcpListener::bind("127.0.0.1:0").unwrap(), issuer.jwks());
    let server = start(&place, &url);
    issuer.check_all(&server);
}

#[test]
fn unreachable_issuer_affects_no_guest_and_is_asked_again() {
    let (issuer, place) = (Issuer::new(), Place::new());
    let port = lasting_port();
    let server = start(&place, &format!("http://127.0.0.1:{port}/keys"));
    Guest::connect(server.address).hello(1);
    let hello = issuer.hello("EdDSA", &claims("nia"));
    let mut early = Guest::connect(server.address);
    early.say(&hello);
    assert_eq!(early.hear_bye(), RejectionCode::Unavailable, "the token itself is valid");
    publish(TcpListener::bind(("127.0.0.1", port)).unwrap(), issuer.jwks());
    // Asked again at sign-ins, but not at each of them.
    loop {
        let mut guest = Guest::connect(server.address);
        guest.say(&hello);
        match guest.hear() {
            ServerMessage::Welcome(_) => break,
            ServerMessage::Closing(bye) => assert_eq!(bye.code, RejectionCode::Unavailable),
            other => panic!("{other:?}"),
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}

fn start(place: &Place, keys: &str) -> Process {
    let more = ["--token-issuer", ISSUER, "--token-audience", "gaggle", "--token-keys", keys];
    Process::start(place.path(), 0, &more)
}

fn claims(subject: &str) -> String {
    format!(r#"{{"iss":"{ISSUER}","aud":"gaggle","sub":"{subject}","name":"Nia","exp":4000000000}}"#)
}

/// Serves these keys as long as the test runs.
fn publish(listener: TcpListener, text: String) -> String {
    let url = format!("http://{}/keys", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4_096]);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", text.len());
            let _ = stream.write_all(format!("{head}{text}").as_bytes());
        }
    });
    url
}

/// A token issuer with a key of each kind.
struct Issuer {
    random: SystemRandom,
    edwards: Ed25519KeyPair,
    elliptic: EcdsaKeyPair,
    rsa: RsaKeyPair,
}

impl Issuer {
    fn new() -> Issuer {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let elliptic = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        // Ring generates no such keys. This one signs only tokens of this test.
        let pem: String =
            include_str!("keys/rsa.pem").lines().filter(|line| !line.starts_with('-')).collect();
        Issuer {
            edwards: Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap(),
            elliptic: EcdsaKeyPair::from_pkcs8(algorithm, elliptic.as_ref(), &random).unwrap(),
            rsa: RsaKeyPair::from_pkcs8(&Base64::decode_vec(&pem).unwrap()).unwrap(),
            random,
        }
    }

    /// Public keys as a JWKS.
    fn jwks(&self) -> String {
        let x = encode(self.edwards.public_key().as_ref());
        // An uncompressed point: 4, x, y.
        let point = self.elliptic.public_key().as_ref();
        let (px, py) = (encode(&point[1..33]), encode(&point[33..]));
        let PublicKeyComponents::<Vec<u8>> { n, e } = self.rsa.public().into();
        let (n, e) = (encode(&n), encode(&e));
        format!(
            r#"{{"keys":[
                {{"kid":"EdDSA","kty":"OKP","crv":"Ed25519","x":"{x}"}},
                {{"kid":"ES256","kty":"EC","crv":"P-256","x":"{px}","y":"{py}"}},
                {{"kid":"RS256","kty":"RSA","n":"{n}","e":"{e}"}},
                {{"kid":"PS256","kty":"RSA","n":"{n}","e":"{e}"}}
            ]}}"#
        )
    }

    fn sign(&self, algorithm: &str, text: &[u8]) -> Vec<u8> {
        let rsa = |encoding: &'static dyn RsaEncoding| {
            let mut signature = vec![0; self.rsa.public().modulus_len()];
            self.rsa.sign(encoding, &self.random, text, &mut signature).unwrap();
            signature
        };
        match algorithm {
            "EdDSA" => self.edwards.sign(text).as_ref().to_vec(),
            "ES256" => self.elliptic.sign(&self.random, text).unwrap().as_ref().to_vec(),
            "RS256" => rsa(&RSA_PKCS1_SHA256),
            _ => rsa(&RSA_PSS_SHA256),
        }
    }

    /// A `hello` with a token of these claims.
    fn hello(&self, algorithm: &str, claims: &str) -> String {
        let header = format!(r#"{{"alg":"{algorithm}","kid":"{algorithm}"}}"#);
        let text = format!("{}.{}", encode(header.as_bytes()), encode(claims.as_bytes()));
        let signature = encode(&self.sign(algorithm, text.as_bytes()));
        format!(r#"{{"type":"hello","token":"{text}.{signature}"}}"#)
    }

    /// Signs in with each kind of key, as two players, and tries invalid tokens.
    fn check_all(&self, server: &Process) {
        let mut players = Vec::new();
        for algorithm in ALGORITHMS {
            let mut guest = Guest::connect(server.address);
            guest.say(&self.hello(algorithm, &claims("nia")));
            let ServerMessage::Welcome(welcome) = guest.hear() else { panic!("{algorithm} is not accepted") };
            players.push(welcome.player);
            // The signature is of other claims.
            let altered = self.hello(algorithm, &claims("nia"));
            let signed = self.hello(algorithm, &claims("eve"));
            let altered = [altered.rsplit_once('.').unwrap().0, signed.rsplit_once('.').unwrap().1].join(".");
            assert_eq!(refusal(server, &altered), "the token's signature is wrong", "{algorithm}");
        }
        players.dedup();
        assert_eq!(players.len(), 1, "the same player with every algorithm");
        let without_audience = claims("nia").replace(r#""aud":"gaggle","#, "");
        assert_eq!(refusal(server, &self.hello("RS256", &without_audience)), "the token has no audience");
        let other = claims("nia").replace("gaggle", "other");
        assert_eq!(refusal(server, &self.hello("ES256", &other)), "the token is for another audience");
    }
}

/// Why a `hello` is rejected.
fn refusal(server: &Process, hello: &str) -> String {
    let mut guest = Guest::connect(server.address);
    guest.say(hello);
    match guest.hear() {
        ServerMessage::Refused(refused) => refused.text,
        other => panic!("{other:?}"),
    }
}

fn encode(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}
