//! The lobby over TLS.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

use gaggle_lobby::ServerMessage;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::guest::{FIND, Guest, PATIENCE, TestServer};
use crate::hostile::NOT_WAITED_FOR;
use crate::place::Place;

#[test]
fn strangers_meet_over_tls() {
    let place = Place::new();
    let made = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
    let (certificate, key) = (place.path().join("cert.pem"), place.path().join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let server = TestServer::with(|config| {
        config.tls_certificate = Some(certificate);
        config.tls_key = Some(key);
    });
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let config = Arc::new(config);
    let connect = || {
        let tcp = TcpStream::connect(server.address).unwrap();
        tcp.set_read_timeout(Some(PATIENCE)).unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let tls = StreamOwned::new(ClientConnection::new(config.clone(), name).unwrap(), tcp);
        let (socket, _) = tungstenite::client("wss://localhost/lobby", tls).unwrap();
        Guest { socket, me: None }
    };
    let (mut nia, mut ada) = (connect(), connect());
    nia.hello(1);
    let made = nia.seat(FIND);
    ada.hello(2);
    let found = ada.seat(FIND);
    assert_eq!(found.room.id, made.room.id);
    // Who says nothing, or stops in the middle of the first word, is not waited for.
    let start = Instant::now();
    let lurkers = [&b""[..], &[0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]].map(|said| {
        let mut tcp = TcpStream::connect(server.address).unwrap();
        tcp.set_read_timeout(Some(PATIENCE)).unwrap();
        tcp.write_all(said).unwrap();
        tcp
    });
    // Longer than a TLS record and than what is read at once, both ways.
    let data = "x".repeat(16_000);
    for _ in 0..20 {
        nia.say(&format!(r#"{{"type":"signal","to":"{}","data":"{data}"}}"#, found.peer));
    }
    for n in 1..=20 {
        let signal = ada.hear_until(|message| match message {
            ServerMessage::Signalled(signal) => Some((signal.n, signal.data.as_str().len())),
            _ => None,
        });
        assert_eq!(signal, (n, 16_002));
    }
    for mut lurker in lurkers {
        lurker.read_to_end(&mut Vec::new()).unwrap();
    }
    assert!(start.elapsed() < NOT_WAITED_FOR, "{:?}", start.elapsed());
    nia.say(r#"{"type":"touch"}"#);
    nia.hear_until(|message| matches!(message, ServerMessage::Done(_)).then_some(()));
}

#[test]
fn a_certificate_that_is_none_is_named() {
    let place = Place::new();
    let file = place.path().join("cert.pem");
    std::fs::write(&file, "nonsense").unwrap();
    let config = gaggle_server::Config {
        listen: ([127, 0, 0, 1], 0).into(),
        data: place.path().into(),
        tls_certificate: Some(file.clone()),
        tls_key: Some(file.clone()),
        ..gaggle_server::Config::default()
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let error = runtime.block_on(gaggle_server::Server::start(config)).unwrap_err();
    assert!(error.to_string().contains(&file.display().to_string()), "{error}");
}
