//! Attackers who try to use up all connections: other clients connect within a second.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use gaggle_kit::Micros;
use gaggle_lobby::ServerMessage;
use gaggle_server::config::Duration as Setting;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

use crate::guest::{FIND, Guest, PATIENCE, TestServer};
use crate::place::Place;
use crate::process::Process;

const IN_TIME: Duration = Duration::from_secs(1);

/// Opens a WebSocket for a client behind the proxy that this test acts as.
fn through_proxy(address: SocketAddr, path: &str, client: &str) -> Result<WebSocket<TcpStream>, String> {
    let stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
    request.headers_mut().insert("x-forwarded-for", client.parse().unwrap());
    Ok(tungstenite::client(request, stream).map_err(|error| error.to_string())?.0)
}

/// Connects to the lobby and waits for `welcome`.
fn come(address: SocketAddr, client: &str, number: u32) -> Result<Guest, String> {
    let mut guest = Guest { socket: through_proxy(address, "/lobby", client)?, me: None };
    guest.socket.send(Message::text(crate::guest::hello(number))).map_err(|error| error.to_string())?;
    match guest.try_hear() {
        Ok(ServerMessage::Welcome(_)) => Ok(guest),
        other => Err(format!("{other:?}")),
    }
}

/// Nine of ten clients connect, each within a second.
fn assert_honest_get_in(mut come: impl FnMut(u32) -> Result<(), String>) {
    let mut failures = Vec::new();
    for nth in 0..10 {
        let began = Instant::now();
        match come(nth) {
            Ok(()) if began.elapsed() < IN_TIME => {}
            other => failures.push((other, began.elapsed())),
        }
    }
    assert!(failures.len() <= 1, "{failures:?}");
}

fn small_lobby(connections_max: usize) -> TestServer {
    TestServer::with(|config| {
        config.proxies.0 = vec!["127.0.0.1".parse().unwrap()];
        config.connections_max = connections_max;
        config.connections_per_address = 10;
        config.hello_timeout = Setting(Micros::from_secs(60));
    })
}

#[test]
fn prefix_of_one_customer_leaves_lobby_to_others() {
    let server = small_lobby(400);
    let mut taken = Vec::new();
    // 80 networks of one /56, as a provider's customer has them.
    for network in 0..80 {
        for host in 1..=10 {
            let client = format!("2001:db8:0:{network:x}::{host}");
            taken.extend(come(server.address, &client, 1_000 + network * 10 + host));
        }
    }
    assert!(taken.len() < 100, "one customer has {} connections", taken.len());
    assert_honest_get_in(|nth| {
        come(server.address, &format!("198.51.100.{nth}"), nth).map(|guest| taken.push(guest))
    });
}

#[test]
fn idle_connections_of_many_networks_are_closed_for_others() {
    let server = small_lobby(200);
    let mut player = come(server.address, "203.0.113.1", 1).unwrap();
    player.seat(FIND);
    let mut taken = Vec::new();
    for nth in 0..300_u32 {
        let [.., high, low] = nth.to_be_bytes();
        taken.extend(come(server.address, &format!("100.64.{high}.{low}"), 1_000 + nth));
    }
    assert!(taken.len() >= 199, "{} came", taken.len());
    assert_honest_get_in(|nth| {
        let mut guest = come(server.address, &format!("198.51.100.{nth}"), 10 + nth)?;
        guest.seat(FIND);
        taken.push(guest);
        Ok(())
    });
    // A player in a room is never closed for others.
    player.say(r#"{"type":"touch"}"#);
    player.hear_until(|message| matches!(message, ServerMessage::Done(_)).then_some(()));
}

#[test]
fn prefix_of_one_customer_leaves_relay_to_others() {
    let server = small_lobby(400);
    let mut taken = Vec::new();
    for network in 0..120 {
        for host in 1..=10 {
            let client = format!("2001:db8:0:{network:x}::{host}");
            taken.extend(through_proxy(server.address, "/relay", &client));
        }
    }
    assert_honest_get_in(|nth| {
        let client = format!("198.51.100.{nth}");
        let ticket = come(server.address, &client, nth)?.seat(FIND).ticket;
        let began = Instant::now();
        let mut socket = through_proxy(server.address, "/relay", &client)?;
        let proof = [&[1, 1][..], ticket.as_bytes()].concat();
        socket.send(Message::Binary(proof.into())).map_err(|error| error.to_string())?;
        let answer = socket.read().map_err(|error| error.to_string())?.into_data();
        taken.push(socket);
        match answer.first() {
            Some(7) if began.elapsed() < IN_TIME => Ok(()),
            other => Err(format!("{other:?} after {:?}", began.elapsed())),
        }
    });
}

/// Raises the limit of open files for this test.
fn allow_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Connections from other loopback addresses.
fn connect_from(from: &[IpAddr], address: SocketAddr) -> Vec<TcpStream> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let connect = |from: IpAddr| async move {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind(SocketAddr::new(from, 0))?;
        socket.connect(address).await?.into_std()
    };
    let mut streams = Vec::new();
    for from in from {
        let Ok(stream) = runtime.block_on(connect(*from)) else { continue };
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        streams.push(stream);
    }
    streams
}

/// Requests `/health` for a client.
fn ask_health(mut stream: TcpStream, client: &str) -> Result<(), String> {
    let request = format!("GET /health HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {client}\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).map_err(|error| error.to_string())?;
    if &answer == b"HTTP/1.1 200" { Ok(()) } else { Err(String::from_utf8_lossy(&answer).into()) }
}

#[test]
fn client_behind_proxy_leaves_http_to_others() {
    allow_many_files();
    let place = Place::new();
    let site = place.path().join("site");
    std::fs::create_dir_all(&site).unwrap();
    std::fs::File::create(site.join("large.bin")).unwrap().set_len(32 << 20).unwrap();
    let site = site.display().to_string();
    let process =
        Process::start(&place.path().join("data"), 0, &["--files", &site, "--proxies", "127.0.0.0/24"]);
    // One client requests a file repeatedly and reads none of it. The proxy writes a different port
    // each time.
    let mut taken = Vec::new();
    for port in 0..4_200 {
        let Ok(mut stream) = TcpStream::connect(process.address) else { break };
        let client = format!("203.0.113.9:{}", 20_000 + port);
        let request = format!("GET /large.bin HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {client}\r\n\r\n");
        let _ = stream.write_all(request.as_bytes());
        taken.push(stream);
    }
    assert_honest_get_in(|nth| {
        let stream = TcpStream::connect(process.address).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        ask_health(stream, &format!("[2001:db8:{nth}::1]:443"))
    });
}

#[test]
fn silent_connections_of_many_addresses_leave_http_to_others() {
    allow_many_files();
    let place = Place::new();
    let process = Process::start(place.path(), 0, &[]);
    let from: Vec<IpAddr> = (0..5_000).map(|nth| IpAddr::from([127, 1, (nth % 100) as u8, 1])).collect();
    let mut taken = connect_from(&from, process.address);
    assert!(taken.len() > 4_900, "only {} connected", taken.len());
    taken.iter_mut().for_each(|stream| drop(stream.write_all(b"GET /")));
    assert_honest_get_in(|nth| {
        let stream = connect_from(&[IpAddr::from([127, 2, 0, nth as u8 + 1])], process.address).pop();
        ask_health(stream.ok_or("no connection")?, "x")
    });
}
