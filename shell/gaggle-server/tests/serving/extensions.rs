//! Extensions of a server: a WebSocket handler that checks tickets, and another storage.

use std::future::Future;
use std::net::{IpAddr, TcpStream};
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};

use gaggle_lobby::message::server::{Leaderboard, MyStats, Relay};
use gaggle_lobby::view::{RoomUpdate, Verdict};
use gaggle_lobby::{Label, MatchRecord, PlayerId, ServerMessage};
use gaggle_server::storage::{Outcome, Storage, StorageError};
use gaggle_server::{Extensions, Lobby, Upgrade, UpgradedStream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::guest::{CREATE, PATIENCE, TestServer};
use crate::place::Place;

/// Reads one short frame with a ticket and answers whether it is valid.
#[derive(Debug, Default)]
struct Gate {
    lobby: OnceLock<Lobby>,
}

impl Upgrade for Gate {
    fn path(&self) -> &str {
        "/relay"
    }

    fn started(&self, lobby: Lobby) {
        self.lobby.set(lobby).expect("a server starts once");
    }

    fn serve(
        self: Arc<Self>,
        mut stream: UpgradedStream,
        address: IpAddr,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            let lobby = self.lobby.get().expect("started before the first connection");
            // A masked text of more than 125 bytes: two bytes, two of length, four of mask.
            let mut head = [0; 8];
            stream.read_exact(&mut head).await.unwrap();
            let mut text = vec![0; usize::from(u16::from_be_bytes([head[2], head[3]]))];
            stream.read_exact(&mut text).await.unwrap();
            text.iter_mut().zip(head[4..].iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
            let claims = lobby.ticket_key().open(str::from_utf8(&text).unwrap(), lobby.unix_seconds());
            let is_let_in = claims.is_ok_and(|claims| {
                lobby.epoch_of(claims.room) == Some(claims.epoch) && lobby.is_member(claims.room, claims.peer)
            });
            let answer = if is_let_in { format!("in {address}") } else { "out".into() };
            let mut frame = vec![0x81, answer.len() as u8];
            frame.extend(answer.as_bytes());
            stream.write_all(&frame).await.unwrap();
        })
    }
}

#[test]
fn lobby_ticket_opens_websocket_of_extension() {
    let relay = Relay {
        socket: "/relay".into(),
        udp: vec!["127.0.0.1:8081".into()],
        fingerprint: Some("sha-256 AB:CD".into()),
    };
    let extensions = Extensions {
        upgrades: vec![Arc::new(Gate::default())],
        relay: Some(relay.clone()),
        ..Extensions::default()
    };
    let server = TestServer::with_extensions(|_| {}, extensions);
    let mut guest = server.guest();
    guest.hello(1);
    let seat = guest.seat(CREATE);
    assert_eq!(seat.relay.as_ref(), Some(&relay));
    guest.say(r#"{"type":"ice"}"#);
    let told = guest.hear_until(|message| match message {
        ServerMessage::IceServers(ice) => Some(ice.relay.clone()),
        _ => None,
    });
    assert_eq!(told, Some(relay));

    let show = |ticket: &str| {
        let stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (mut socket, _) = tungstenite::client(format!("ws://{}/relay", server.address), stream).unwrap();
        socket.send(tungstenite::Message::text(ticket)).unwrap();
        socket.read().unwrap().into_text().unwrap().to_string()
    };
    assert_eq!(show(&seat.ticket), "in 127.0.0.1");
    let mut altered = seat.ticket.clone().into_bytes();
    altered[30] = if altered[30] == b'A' { b'B' } else { b'A' };
    assert_eq!(show(str::from_utf8(&altered).unwrap()), "out");
    // A removed member's ticket is of an earlier epoch.
    let mut other = server.guest();
    other.hello(2);
    let seat = other.seat(&format!(r#"{{"type":"join","code":"{}"}}"#, seat.room.code));
    assert_eq!(show(&seat.ticket), "in 127.0.0.1");
    guest.say(&format!(r#"{{"type":"kick","peer":"{}"}}"#, seat.peer));
    guest.hear_until(|message| matches!(message, ServerMessage::TicketRenewed(_)).then_some(()));
    assert_eq!(show(&seat.ticket), "out");
}

/// Storage into a list of the test.
#[derive(Debug, Clone, Default)]
struct Slate(Arc<Mutex<Vec<MatchRecord>>>);

impl Storage for Slate {
    fn store(&mut self, records: &[MatchRecord]) -> Result<Vec<Outcome>, StorageError> {
        self.0.lock().unwrap().extend(records.iter().cloned());
        let outcome = |record: &MatchRecord| Outcome { verdict: record.verdict, ratings: Vec::new() };
        Ok(records.iter().map(outcome).collect())
    }

    fn top(&mut self, game: &Label, mode: &Label, _: bool, _: u8) -> Result<Leaderboard, StorageError> {
        Ok(Leaderboard { game: game.clone(), mode: mode.clone(), entries: Vec::new() })
    }

    fn mine(&mut self, _: PlayerId, game: &Label, mode: &Label) -> Result<MyStats, StorageError> {
        let rating = Some(self.0.lock().unwrap().len() as i64);
        Ok(MyStats { game: game.clone(), mode: mode.clone(), best: None, rating, matches: Vec::new() })
    }
}

#[test]
fn results_are_stored_by_extension() {
    let (slate, place) = (Slate::default(), Place::new());
    let extensions = Extensions { storage: Some(Box::new(slate.clone())), ..Extensions::default() };
    let server = TestServer::with_extensions(|config| config.data = place.path().into(), extensions);
    let mut guest = server.guest();
    guest.hello(1);
    let seat = guest.seat(r#"{"type":"create","game":"gander","drop_in":true}"#);
    let scores = format!(r#"[{{"peer":"{}","slot":0,"score":70}}]"#, seat.peer);
    guest.say(&format!(r#"{{"type":"report","round":1,"scores":{scores}}}"#));
    let verdict = guest.hear_until(|message| match message {
        ServerMessage::Change(change) => change.events.iter().find_map(|event| match event {
            RoomUpdate::ResultDecided(result) => Some(result.verdict),
            _ => None,
        }),
        _ => None,
    });
    assert_eq!(verdict, Verdict::Claimed);
    guest.say(r#"{"type":"mine","game":"gander"}"#);
    let rating = guest.hear_until(|message| match message {
        ServerMessage::MyStats(mine) => Some(mine.rating),
        _ => None,
    });
    assert_eq!(rating, Some(1));
    assert_eq!(slate.0.lock().unwrap()[0].room, seat.room.id);
    assert!(!place.path().join("gaggle.sqlite").exists(), "there is one result");
}
