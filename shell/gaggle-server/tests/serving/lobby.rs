//! The lobby over real sockets.

use std::time::{Duration, Instant};

use gaggle_kit::Micros;
use gaggle_lobby::client::{Client, ClientConfig, ClientEvent, ClientOutput};
use gaggle_lobby::message::client::Find;
use gaggle_lobby::view::{RoomUpdate, Verdict};
use gaggle_lobby::{RejectionCode, ServerMessage, TicketKey};
use tungstenite::Message;

use crate::guest::{FIND, Guest, PATIENCE, TestServer};

#[test]
fn two_strangers_meet_signal_and_report() {
    let server = TestServer::start();
    let mut nia = server.guest();
    let welcome = nia.hello(1);
    let made = nia.seat(FIND);
    assert!(made.created);
    let key = TicketKey::from_text(&welcome.ticket_key).unwrap();
    assert_eq!(key, server.server.as_ref().unwrap().lobby().ticket_key());
    let claims = key.open(&made.ticket, welcome.now / 1_000).unwrap();
    assert_eq!((claims.room, claims.peer, claims.slot), (made.room.id, welcome.peer, made.slot));

    let mut ada = server.guest();
    ada.hello(2);
    let found = ada.seat(FIND);
    assert_eq!(found.room.id, made.room.id);
    let joined = nia.hear_until(|message| match message {
        ServerMessage::Change(change) => Some(change.events.clone()),
        _ => None,
    });
    assert!(matches!(&joined[..], [RoomUpdate::Joined(joined)] if joined.member.peer == found.peer));

    let lobby = server.server.as_ref().unwrap().lobby();
    assert!(lobby.is_member(made.room.id, made.peer));
    assert!(!lobby.is_member(made.room.id, gaggle_kit::PeerId::from_u128(1)));

    nia.say(&format!(r#"{{"type":"signal","to":"{}","data":{{"offer":1}}}}"#, found.peer));
    let data = ada.hear_until(|message| match message {
        ServerMessage::SignalReceived(signal) => Some(signal.data.as_str().to_string()),
        _ => None,
    });
    assert_eq!(data, r#"{"offer":1}"#);

    let report = format!(
        r#"{{"type":"report","round":1,"scores":[{{"peer":"{}","slot":0,"score":70}},{{"peer":"{}","slot":1,"score":90}}]}}"#,
        made.peer, found.peer
    );
    nia.say(&report);
    ada.say(&report);
    for guest in [&mut nia, &mut ada] {
        let (verdict, ratings) = guest.hear_until(|message| match message {
            ServerMessage::Change(change) => change.events.iter().find_map(|event| match event {
                RoomUpdate::ResultDecided(result) => Some((result.verdict, result.ratings.clone())),
                _ => None,
            }),
            _ => None,
        });
        assert_eq!(verdict, Verdict::Claimed);
        assert!(ratings[0].after < ratings[1].after);
    }
    ada.say(r#"{"type":"top","game":"gander","mode":"team"}"#);
    let top = ada.hear_until(|message| match message {
        ServerMessage::Leaderboard(top) => {
            Some(top.entries.iter().map(|entry| entry.score).collect::<Vec<_>>())
        }
        _ => None,
    });
    assert_eq!(top, [90, 70]);
    ada.say(r#"{"type":"mine","game":"gander","mode":"team"}"#);
    let mine = ada.hear_until(|message| match message {
        ServerMessage::MyStats(mine) => Some(mine.clone()),
        _ => None,
    });
    assert_eq!(mine.matches[0].place, 1);
    assert!(mine.rating > Some(1_500));
}

#[test]
fn hello_and_find_sent_together_are_answered_in_order() {
    let server = TestServer::start();
    let mut guest = server.guest();
    guest.socket.write(Message::text(crate::guest::hello(1))).unwrap();
    guest.socket.write(Message::text(FIND)).unwrap();
    guest.socket.flush().unwrap();
    assert!(matches!(guest.hear(), ServerMessage::Welcome(_)));
    assert!(matches!(guest.hear(), ServerMessage::JoinedRoom(_)));
}

#[test]
fn lost_connection_and_return_are_announced() {
    let server = TestServer::start();
    let mut nia = server.local_slot(1);
    let ada = server.local_slot(2);
    drop(ada);
    let events = |guest: &mut Guest, count: usize| {
        let mut kinds = Vec::new();
        while kinds.len() < count {
            if let ServerMessage::Change(change) = guest.hear() {
                kinds.extend(change.events.iter().map(RoomUpdate::kind));
            }
        }
        kinds
    };
    assert_eq!(events(&mut nia, 2), ["joined", "away"]);
    let mut again = server.guest();
    again.hello(2);
    assert!(matches!(again.hear(), ServerMessage::JoinedRoom(seat) if seat.returned));
    assert_eq!(events(&mut nia, 1), ["returned"]);
}

#[test]
fn connections_close_without_delay() {
    let server = TestServer::start();
    let mut leaves = server.guest();
    leaves.hello(1);
    let began = Instant::now();
    leaves.socket.close(None).unwrap();
    // A client considers a connection closed when the server closed it.
    while leaves.socket.read().is_ok() {}
    let mut is_sent_away = server.guest();
    is_sent_away.socket.send(Message::binary(vec![1])).unwrap();
    assert_eq!(is_sent_away.hear_bye(), RejectionCode::BadMessage);
    while is_sent_away.socket.read().is_ok() {}
    // The server would wait two seconds for other clients.
    assert!(began.elapsed() < Duration::from_millis(1_900), "{:?}", began.elapsed());
}

#[test]
fn token_is_rejected_if_no_issuer_is_configured() {
    let server = TestServer::start();
    let mut guest = server.guest();
    guest.say(r#"{"type":"hello","token":"a.b.c"}"#);
    assert!(
        matches!(guest.hear(), ServerMessage::Refused(refused) if refused.code == RejectionCode::BadToken)
    );
    guest.hello(1);
}

#[test]
fn client_keeps_reservation_while_server_restarts() {
    let place = crate::place::Place::new();
    let config = |port: u16| gaggle_server::Config {
        listen: ([127, 0, 0, 1], port).into(),
        data: place.path().into(),
        drain: gaggle_server::config::Duration(Micros::from_millis(200)),
        ..gaggle_server::Config::default()
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(gaggle_server::Server::start(config(0))).unwrap();
    let address = server.address();
    let mut client = Driver::new(address);
    client.machine.find(Find { game: "gander".parse().unwrap(), ..Find::default() });
    client.run_until(|event| matches!(event, ClientEvent::RoomJoined { .. }));
    let before = client.machine.room().unwrap().clone();
    runtime.block_on(server.stop());
    client.run_until(|event| matches!(event, ClientEvent::Disconnected { .. }));
    let server = runtime.block_on(gaggle_server::Server::start(config(address.port()))).unwrap();
    client.run_until(|event| matches!(event, ClientEvent::RoomJoined { returned: true, .. }));
    let after = client.machine.room().unwrap();
    assert_eq!(
        (after.id, after.code, after.seed, after.epoch),
        (before.id, before.code, before.seed, before.epoch)
    );
    assert_eq!(after.members, before.members);
    runtime.block_on(server.stop());
    drop(place);
}

/// The lobby client on a blocking socket.
struct Driver {
    machine: Client,
    address: std::net::SocketAddr,
    guest: Option<Guest>,
    start: Instant,
}

impl Driver {
    fn new(address: std::net::SocketAddr) -> Driver {
        let machine = Client::new(Micros::ZERO, ClientConfig::default(), 1);
        Driver { machine, address, guest: None, start: Instant::now() }
    }

    fn run_until(&mut self, wanted: impl Fn(&ClientEvent) -> bool) {
        while self.start.elapsed() < PATIENCE {
            let now = Micros::new(self.start.elapsed().as_micros() as u64);
            self.machine.handle_timeout(now);
            while let Some(output) = self.machine.poll_output() {
                match output {
                    ClientOutput::Connect => {
                        self.guest = Guest::try_connect(self.address).ok();
                        match &self.guest {
                            Some(guest) => {
                                guest
                                    .socket
                                    .get_ref()
                                    .set_read_timeout(Some(Duration::from_millis(5)))
                                    .unwrap();
                                self.machine.handle_open(now);
                            }
                            None => self.machine.handle_closed(now),
                        }
                    }
                    ClientOutput::Send(text) => {
                        let sent = self.guest.as_mut().map(|guest| guest.socket.send(Message::text(text)));
                        if !matches!(sent, Some(Ok(()))) {
                            self.machine.handle_closed(now);
                        }
                    }
                    ClientOutput::Disconnect => self.guest = None,
                }
            }
            if let Some(guest) = &mut self.guest {
                match guest.socket.read() {
                    Ok(Message::Text(text)) => self.machine.handle_text(now, &text),
                    Ok(_) => {}
                    Err(tungstenite::Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    Err(_) => {
                        self.guest = None;
                        self.machine.handle_closed(now);
                    }
                }
            } else {
                std::thread::sleep(Duration::from_millis(5));
            }
            while let Some(event) = self.machine.poll_event() {
                if wanted(&event) {
                    return;
                }
            }
        }
        panic!("timed out");
    }
}

#[test]
fn turn_credentials_are_refused_without_room() {
    let server = TestServer::with(|config| {
        config.ice.0 = vec!["turn:turn.example:3478".into()];
        config.turn_secret = Some(gaggle_server::config::Secret("shared-with-the-turn-server".into()));
    });
    let mut guest = server.guest();
    let welcome = guest.hello(1);
    assert!(!format!("{welcome:?}").contains("turn.example"), "{welcome:?}");
    // Number of servers with a credential, or the rejection.
    let ask = |guest: &mut Guest| {
        guest.say(r#"{"type":"ice","id":5}"#);
        guest.hear_until(|message| match message {
            ServerMessage::IceServers(ice) => {
                Some(Ok(ice.servers.iter().filter(|server| server.credential.is_some()).count()))
            }
            ServerMessage::Refused(refused) => Some(Err(refused.code)),
            _ => None,
        })
    };
    assert_eq!(ask(&mut guest), Err(RejectionCode::NotInRoom));
    guest.seat(FIND);
    assert_eq!(ask(&mut guest), Ok(1));
    guest.say(r#"{"type":"leave"}"#);
    assert_eq!(ask(&mut guest), Err(RejectionCode::NotInRoom));
}
