//! The lobby over TLS.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gaggle_lobby::ServerMessage;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::guest::{FIND, Guest, PATIENCE, TestServer};
use crate::hostile::NOT_WAITED_FOR;
use crate::place::Place;

/// A server with its own certificate, and what a client needs to trust it.
fn start(change: impl FnOnce(&mut gaggle_server::Config)) -> (Place, TestServer, Arc<ClientConfig>) {
    let place = Place::new();
    let made = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
    let (certificate, key) = (place.path().join("cert.pem"), place.path().join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let server = TestServer::with(|config| {
        config.tls_certificate = Some(certificate);
        config.tls_key = Some(key);
        change(config);
    });
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (place, server, Arc::new(config))
}

#[test]
fn tls_responses_require_tls_from_then_on() {
    let (_place, server, config) = start(|_| {});
    let tcp = TcpStream::connect(server.address).unwrap();
    tcp.set_read_timeout(Some(PATIENCE)).unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut tls = StreamOwned::new(ClientConnection::new(config, name).unwrap(), tcp);
    tls.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = tls.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.contains("strict-transport-security: max-age="), "{answer}");
}

#[test]
fn half_handshakes_of_one_address_are_rate_limited() {
    let (_place, server, config) = start(|config| config.rate_limits = true);
    // The first message of a client; the answer costs the server a signature.
    let name = ServerName::try_from("localhost").unwrap();
    let mut hello = Vec::new();
    ClientConnection::new(config, name).unwrap().write_tls(&mut hello).unwrap();
    let began = Instant::now();
    let answered: usize = std::thread::scope(|scope| {
        let ask = || {
            let mut answered = 0;
            while began.elapsed() < Duration::from_secs(4) {
                let mut tcp = TcpStream::connect(server.address).unwrap();
                tcp.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
                let _ = tcp.write_all(&hello);
                answered += usize::from(matches!(tcp.read(&mut [0; 64]), Ok(1..)));
            }
            answered
        };
        let asking: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|asking| asking.join().unwrap()).sum()
    });
    // 400 at once, then 40 a second; those waiting at the end are answered then.
    let most = 400 + 40 * (began.elapsed().as_secs() as usize + 2);
    assert!((100..=most).contains(&answered), "{answered} answers, not more than {most}");
}

#[test]
fn half_handshakes_of_many_networks_leave_pages_to_others() {
    let (_place, server, config) = start(|config| config.rate_limits = true);
    let name = ServerName::try_from("localhost").unwrap();
    let mut hello = Vec::new();
    ClientConnection::new(config.clone(), name.clone()).unwrap().write_tls(&mut hello).unwrap();
    let (over, begun) = (AtomicBool::new(false), AtomicUsize::new(0));
    let from = |nth: usize| SocketAddr::from(([127, 3, 0, 1 + (nth % 128) as u8], 0));
    std::thread::scope(|scope| {
        // 128 networks, each below its own rate, that send only the first message.
        for lane in 0..8 {
            let (over, begun, hello) = (&over, &begun, &hello);
            scope.spawn(move || {
                let mut held = VecDeque::new();
                for nth in (lane..).step_by(8) {
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                    let Ok(mut tcp) = connect_from(from(nth), server.address) else { continue };
                    begun.fetch_add(usize::from(tcp.write_all(hello).is_ok()), Ordering::Relaxed);
                    held.push_back(tcp);
                    if held.len() > 100 {
                        held.pop_front();
                    }
                    std::thread::sleep(Duration::from_millis(4));
                }
            });
        }
        let began = Instant::now();
        while begun.load(Ordering::Relaxed) < 500 && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(10));
        }
        let ask = |nth: u8| {
            let began = Instant::now();
            let tcp = connect_from(SocketAddr::from(([127, 4, 0, nth + 1], 0)), server.address)?;
            let mut tls = StreamOwned::new(ClientConnection::new(config.clone(), name.clone()).unwrap(), tcp);
            tls.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
            tls.read_exact(&mut [0; 12])?;
            Ok::<_, std::io::Error>(began.elapsed())
        };
        let took: Vec<_> = (0..20).map(ask).collect();
        over.store(true, Ordering::Relaxed);
        let in_time = took.iter().flatten().filter(|took| **took < Duration::from_secs(1)).count();
        assert!(in_time >= 18, "{in_time} of 20 within a second: {took:?}");
        assert!(begun.load(Ordering::Relaxed) >= 500, "the attack was running");
    });
}

/// A connection from this loopback address.
fn connect_from(from: SocketAddr, to: SocketAddr) -> std::io::Result<TcpStream> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind(from)?;
        socket.connect(to).await?.into_std()
    })?;
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

#[test]
fn strangers_meet_over_tls() {
    let (_place, server, config) = start(|_| {});
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
    // A client that sends nothing, or half of the first message, is closed.
    let start = Instant::now();
    let lurkers = [&b""[..], &[0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]].map(|said| {
        let mut tcp = TcpStream::connect(server.address).unwrap();
        tcp.set_read_timeout(Some(PATIENCE)).unwrap();
        tcp.write_all(said).unwrap();
        tcp
    });
    // Longer than a TLS record and than a read, in both directions.
    let data = "x".repeat(16_000);
    for _ in 0..20 {
        nia.say(&format!(r#"{{"type":"signal","to":"{}","data":"{data}"}}"#, found.peer));
    }
    for n in 1..=20 {
        let signal = ada.hear_until(|message| match message {
            ServerMessage::SignalReceived(signal) => Some((signal.n, signal.data.as_str().len())),
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
fn invalid_certificate_is_named() {
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
