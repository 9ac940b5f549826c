//! Referees of a server: players over the lobby, tickets and the relay's WebSocket; a process that
//! is killed in mid-match; hostile members; damaged journals on disk.

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use gaggle_kit::{Frame, Micros, PeerId, Slot};
use gaggle_link::relay::{HOST_PEER, RelayFrame};
use gaggle_link::{
    Carrier, CarrierEvent, Channel, CloseCode, DisconnectReason, Endpoint, LinkConfig, Transport,
    TransportEvent, WouldBlock,
};
use gaggle_lobby::message::server::JoinedRoom;
use gaggle_seal::{Build, Client, ClientEvent, Epoch, SealConfig, StreamId, StreamSlots};
use tungstenite::{Message, WebSocket};

use crate::guest::{Guest, PATIENCE, TestServer, hello};
use crate::http::get;
use crate::place::{Place, lasting_port};
use crate::process::Process;

const BUILD: Build = Build { game: 1, state: 2, settings: 3 };
/// Settings file of a server whose mode `sealed` has a referee.
const GAMES: &str = "[games.gander.modes.sealed]\nplayers = 4\nreferee = true\n";

fn rules() -> SealConfig {
    SealConfig { slot_count: 4, ..SealConfig::default() }
}

fn create() -> String {
    let build = format!("1.0-{:016x}", BUILD.fingerprint(&rules()));
    format!(r#"{{"type":"create","game":"gander","mode":"sealed","build":"{build}","drop_in":true}}"#)
}

/// The relay's WebSocket as a carrier.
struct RelayCarrier {
    me: PeerId,
    socket: Option<WebSocket<TcpStream>>,
    events: VecDeque<(CarrierEvent, Vec<u8>)>,
}

impl RelayCarrier {
    fn connect(address: SocketAddr, me: PeerId, ticket: &str) -> Option<RelayCarrier> {
        let stream = TcpStream::connect(address).ok()?;
        stream.set_nodelay(true).unwrap();
        let (mut socket, _) = tungstenite::client(format!("ws://{address}/relay"), stream).ok()?;
        for frame in [RelayFrame::Authenticate { ticket }, RelayFrame::Open { peer: HOST_PEER }] {
            socket.send(Message::Binary(frame.to_bytes().into())).ok()?;
        }
        socket.get_ref().set_nonblocking(true).unwrap();
        Some(RelayCarrier { me, socket: Some(socket), events: VecDeque::new() })
    }

    fn say(&mut self, frame: &RelayFrame<'_>) {
        if let Some(socket) = &mut self.socket
            && socket.send(Message::Binary(frame.to_bytes().into())).is_err()
        {
            let _ = socket.flush();
        }
    }
}

impl Carrier for RelayCarrier {
    fn local_id(&self) -> PeerId {
        self.me
    }

    fn send(&mut self, _: Micros, peer: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        self.say(&RelayFrame::Data { peer, datagram });
        Ok(())
    }

    fn poll(&mut self, _: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        loop {
            if let Some((event, bytes)) = self.events.pop_front() {
                *datagram = bytes;
                return Some(event);
            }
            let frame = match self.socket.as_mut()?.read() {
                Ok(Message::Binary(frame)) => frame,
                Ok(_) => continue,
                Err(tungstenite::Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    return None;
                }
                Err(_) => {
                    self.socket = None;
                    return Some(CarrierEvent::Closed { peer: HOST_PEER });
                }
            };
            match RelayFrame::read(&frame).unwrap() {
                RelayFrame::Opened { peer } => self.events.push_back((CarrierEvent::Opened { peer }, vec![])),
                RelayFrame::Closed { peer } => self.events.push_back((CarrierEvent::Closed { peer }, vec![])),
                RelayFrame::Data { peer, datagram } => {
                    self.events.push_back((CarrierEvent::Datagram { peer }, datagram.to_vec()));
                }
                _ => {}
            }
        }
    }

    fn poll_timeout(&self) -> Micros {
        Micros::ZERO
    }

    fn close(&mut self, _: Micros, peer: PeerId) {
        self.say(&RelayFrame::Close { peer });
    }
}

/// A player: its link to the referee, and the client of the protocol.
struct Player {
    link: Option<Endpoint<RelayCarrier>>,
    client: Client,
    seat: JoinedRoom,
    began: Instant,
    refused: usize,
    terms: Vec<Epoch>,
    resets: usize,
    closed: Option<DisconnectReason>,
    received: Vec<Vec<u8>>,
    /// Whether it gives entries.
    is_awake: bool,
}

impl Player {
    fn new(address: SocketAddr, seat: JoinedRoom, config: SealConfig, build: Build) -> Player {
        let slot = seat.room.member(seat.peer).and_then(|member| member.slot).unwrap();
        let stream = StreamId { peer: seat.peer, incarnation: 1 };
        let client = Client::new(config, stream, StreamSlots::new(&[slot]).unwrap()).unwrap();
        let mut player = Player {
            link: None,
            client: client.with_build(build),
            seat,
            began: Instant::now(),
            refused: 0,
            terms: Vec::new(),
            resets: 0,
            closed: None,
            received: Vec::new(),
            is_awake: true,
        };
        player.connect(address);
        player
    }

    /// Connects to the relay, once it answers.
    fn connect(&mut self, address: SocketAddr) {
        let start = Instant::now();
        loop {
            if let Some(carrier) = RelayCarrier::connect(address, self.seat.peer, &self.seat.ticket) {
                self.link = Some(Endpoint::new(carrier, LinkConfig::default(), 1));
                return;
            }
            assert!(start.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn now(&self) -> Micros {
        Micros::new(self.began.elapsed().as_micros() as u64)
    }

    fn tick(&mut self) {
        let now = self.now();
        let Some(link) = &mut self.link else { return };
        while let Some(event) = link.poll(now) {
            match event {
                TransportEvent::Connected { .. } => self.client.handle_connected(now),
                TransportEvent::Disconnected { reason, .. } => self.closed = Some(reason),
                TransportEvent::Message { channel: Channel::Unreliable, bytes, .. } => {
                    self.client.handle_packet(now, bytes).unwrap();
                }
                TransportEvent::Message { channel: Channel::Reliable(16..), bytes, .. } => {
                    self.received.push(bytes.to_vec());
                }
                TransportEvent::Message { bytes, .. } => self.client.handle_message(now, bytes).unwrap(),
            }
        }
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Refused { .. } => self.refused += 1,
                ClientEvent::TermChanged { epoch, .. } => self.terms.push(epoch),
                ClientEvent::Reset => self.resets += 1,
                _ => {}
            }
        }
        if self.is_awake {
            self.client.set_ready(true);
            // Early enough for a machine that does many other things.
            let frame = self.client.log().sealed() + 10;
            while self.client.newest_entry() < frame {
                let next = self.client.newest_entry().next().max(self.client.log().sealed() + 4);
                let _ = self.client.set_entry(next, &[Some(&[next.number() as u8])]);
            }
            self.client.tick(now);
        }
        while let Some(sent) = self.client.poll_transmit() {
            let channel = if sent.is_reliable { Channel::Reliable(sent.stream) } else { Channel::Unreliable };
            let _ = link.send(now, HOST_PEER, channel, sent.bytes);
        }
        while link.poll_timeout() <= now && link.poll(now).is_some() {}
    }

    fn sealed(&self) -> Frame {
        self.client.log().sealed()
    }
}

/// Runs all players until they are all where the test wants them.
fn run_until(players: &mut [Player], mut is_done: impl FnMut(&[Player]) -> bool) {
    let start = Instant::now();
    while !is_done(players) {
        players.iter_mut().for_each(Player::tick);
        std::thread::sleep(Duration::from_millis(8));
        let phases: Vec<_> = players.iter().map(|p| (p.client.phase(), p.sealed(), p.closed)).collect();
        assert!(start.elapsed() < PATIENCE, "{phases:?}");
    }
}

fn all_play(players: &[Player]) -> bool {
    players.iter().all(|player| player.client.is_playing())
}

/// Where the players' logs overlap they are the same.
fn expect_one_log(players: &[Player]) {
    let first = players.iter().map(|player| player.client.log().oldest()).max().unwrap();
    let last = players.iter().map(Player::sealed).min().unwrap();
    assert!(last > first + 20, "{first} to {last}");
    let hashes: Vec<_> = players.iter().map(|player| player.client.log().hash(last)).collect();
    assert!(hashes.windows(2).all(|pair| pair[0] == pair[1]), "{last}: {hashes:?}");
}

fn with_games(config: &mut gaggle_server::Config, folder: &Path) {
    let path = folder.join("server.toml");
    std::fs::write(&path, GAMES).unwrap();
    let arguments = ["--config".to_string(), path.display().to_string(), "--check".to_string()];
    match gaggle_server::Config::load(arguments, []).unwrap() {
        gaggle_server::config::Command::Check(read) => config.games = read.games,
        other => panic!("{other:?}"),
    }
}

fn server() -> (TestServer, Place) {
    let place = Place::new();
    let server = TestServer::with(|config| with_games(config, place.path()));
    (server, place)
}

/// Members of one room, with their lobby connections.
fn seats(address: SocketAddr, count: u32) -> (Vec<Guest>, Vec<JoinedRoom>) {
    let mut host = Guest::connect(address);
    host.hello(1);
    let first = host.seat(&create());
    let code = first.room.code;
    let (mut guests, mut seats) = (vec![host], vec![first]);
    for number in 2..=count {
        let mut guest = Guest::connect(address);
        guest.hello(number);
        let build = format!("1.0-{:016x}", BUILD.fingerprint(&rules()));
        let join = format!(r#"{{"type":"join","code":"{code}","game":"gander","build":"{build}"}}"#);
        seats.push(guest.seat(&join));
        guests.push(guest);
    }
    (guests, seats)
}

fn players(address: SocketAddr, seats: Vec<JoinedRoom>) -> Vec<Player> {
    seats.into_iter().map(|seat| Player::new(address, seat, rules(), BUILD)).collect()
}

fn counted(address: SocketAddr, name: &str) -> u64 {
    let (_, text) = get(address, "/metrics", "");
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("gaggle_referee_{name} ")));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

#[test]
fn players_of_sealed_mode_play_through_referee() {
    let (server, _place) = server();
    let (_guests, seats) = seats(server.address, 3);
    let mut players = players(server.address, seats);
    run_until(&mut players, |players| all_play(players) && players[0].sealed() > Frame::new(200));
    expect_one_log(&players);
    // Messages of the application go through the referee, with the sender's name.
    let now = players[0].now();
    let text = [&[0; 16][..], b"hello"].concat();
    let link = players[0].link.as_mut().unwrap();
    link.send(now, HOST_PEER, Channel::Reliable(16), &text).unwrap();
    run_until(&mut players, |players| players[1..].iter().all(|player| !player.received.is_empty()));
    let expected = [&players[0].seat.peer.as_bytes()[..], b"hello"].concat();
    assert_eq!(players[1].received, [expected]);
    // A frozen player stops no other.
    players[2].is_awake = false;
    let before = (players[0].sealed(), Instant::now());
    run_until(&mut players, |players| players[0].sealed() > before.0 + 90);
    assert!(before.1.elapsed() < Duration::from_secs(10));
    assert!(counted(server.address, "frames_sealed_total") > 200);
    assert_eq!((counted(server.address, "rooms"), counted(server.address, "members")), (1, 3));
    assert!(counted(server.address, "journal_bytes_total") > 100);
    assert_eq!(counted(server.address, "journal_failures_total"), 0);
}

#[test]
fn other_build_and_removed_member_have_no_link() {
    let (server, _place) = server();
    let (mut guests, seats) = seats(server.address, 3);
    let mut all = Vec::new();
    for (index, seat) in seats.into_iter().enumerate() {
        let build = if index == 2 { Build { game: 9, ..BUILD } } else { BUILD };
        all.push(Player::new(server.address, seat, rules(), build));
    }
    run_until(&mut all, |players| players[2].closed.is_some() && all_play(&players[..2]));
    assert_eq!(all[2].closed, Some(DisconnectReason::Remote(CloseCode::INCOMPATIBLE)));
    // The lobby removes a member: its row ends, and its link.
    let gone = all[1].seat.peer;
    guests[0].say(&format!(r#"{{"type":"kick","peer":"{gone}"}}"#));
    run_until(&mut all, |players| players[1].closed.is_some());
    let slot = Slot::at(1);
    run_until(&mut all[..1], |players| {
        let log = players[0].client.log();
        log.row(log.sealed(), slot).is_none()
    });
    assert!(all[0].client.is_playing());
}

#[test]
fn flood_at_referee_slows_no_other_player() {
    let (server, _place) = server();
    let (_guests, seats) = seats(server.address, 2);
    let mut players = players(server.address, seats);
    run_until(&mut players, all_play);
    let refused = players[0].refused;
    let before = (players[0].sealed(), Instant::now());
    while players[0].sealed() < before.0 + 120 {
        players.iter_mut().for_each(Player::tick);
        let now = players[1].now();
        if let Some(link) = &mut players[1].link {
            for _ in 0..50 {
                let _ = link.send(now, HOST_PEER, Channel::Unreliable, &[0, 1, 1, 0, 0]);
            }
        }
        std::thread::sleep(Duration::from_millis(8));
        assert!(before.1.elapsed() < PATIENCE);
    }
    assert!(before.1.elapsed() < Duration::from_secs(20));
    assert!(players[0].refused - refused < 30, "{} refused", players[0].refused - refused);
    assert!(counted(server.address, "over_rate_total") > 0 || players[1].closed.is_some());
}

/// A server process with a referee, its folder, and a match of two players.
struct Killed {
    process: Process,
    place: Place,
    port: u16,
    guests: Vec<Guest>,
    players: Vec<Player>,
    arguments: Vec<String>,
}

impl Killed {
    fn start() -> Killed {
        let place = Place::new();
        let (data, file, port) = (place.path().join("data"), place.path().join("games.toml"), lasting_port());
        std::fs::write(&file, GAMES).unwrap();
        let arguments = vec!["--config".to_string(), file.display().to_string()];
        let borrowed: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let process = Process::start(&data, port, &borrowed);
        let (guests, seats) = seats(process.address, 2);
        let mut players = players(process.address, seats);
        run_until(&mut players, |players| all_play(players) && players[0].sealed() > Frame::new(120));
        Killed { process, place, port, guests, players, arguments }
    }

    /// Kills the process in mid-match, changes its files, and starts it again.
    fn kill_and_restart(&mut self, change: impl FnOnce(&Path)) {
        self.process.kill();
        let data = self.place.path().join("data");
        change(&data.join("referee"));
        let borrowed: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        self.process = Process::start(&data, self.port, &borrowed);
        self.guests.clear();
        for (number, player) in (1..).zip(&self.players) {
            let mut guest = Guest::connect(self.process.address);
            let ticket = &player.seat.ticket;
            guest.say(&hello(number).replace('}', &format!(r#","ticket":"{ticket}"}}"#)));
            self.guests.push(guest);
        }
        for player in &mut self.players {
            player.connect(self.process.address);
        }
    }
}

fn segments(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "seal")).collect()
}

#[test]
fn match_goes_on_after_server_was_killed() {
    let mut world = Killed::start();
    for boot in 2..4 {
        let held = world.players.iter().map(Player::sealed).max().unwrap();
        world.kill_and_restart(|folder| assert!(!segments(folder).is_empty()));
        run_until(&mut world.players, |players| players.iter().all(|player| player.sealed() > held + 60));
        assert!(all_play(&world.players));
        for player in &world.players {
            assert_eq!((player.terms.last(), player.resets), (Some(&Epoch(boot)), 0));
        }
        expect_one_log(&world.players);
        assert_eq!(counted(world.process.address, "resumed_total{from=\"journal\"}"), 1);
    }
}

#[test]
fn match_goes_on_after_journal_was_cut_or_lost() {
    let mut world = Killed::start();
    let held = world.players.iter().map(Player::sealed).max().unwrap();
    world.kill_and_restart(|folder| {
        for path in segments(folder) {
            let mut bytes = std::fs::read(&path).unwrap();
            bytes.truncate(bytes.len() - 5);
            std::fs::write(&path, bytes).unwrap();
        }
    });
    run_until(&mut world.players, |players| players.iter().all(|player| player.sealed() > held + 60));
    expect_one_log(&world.players);
    assert_eq!(counted(world.process.address, "segments_damaged_total"), 1);
    let held = world.players.iter().map(Player::sealed).max().unwrap();
    world.kill_and_restart(|folder| {
        segments(folder).iter().for_each(|path| std::fs::remove_file(path).unwrap());
    });
    run_until(&mut world.players, |players| players.iter().all(|player| player.sealed() > held + 60));
    assert!(world.players.iter().all(|player| player.resets == 0));
    expect_one_log(&world.players);
    assert_eq!(counted(world.process.address, "resumed_total{from=\"players\"}"), 1);
}
