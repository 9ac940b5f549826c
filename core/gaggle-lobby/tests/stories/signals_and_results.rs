//! Signals between members, and results of matches.

use gaggle_kit::Micros;
use gaggle_lobby::directory::command::{Lease, MarkStored, Tick};
use gaggle_lobby::directory::{Directory, LogEntry, Snapshot};
use gaggle_lobby::node::ConnectionId;
use gaggle_lobby::rules::{Limits, Rules};
use gaggle_lobby::view::{RoomUpdate, Verdict};
use gaggle_lobby::{MatchRecord, NodeId, RejectionCode, ServerMessage};

use crate::server::{FIND, LEAVE, Server, code, events, hello, welcome};

#[test]
fn signals_reach_their_receiver_in_order() {
    let mut server = Server::new();
    let (a, b) = (server.player(1), server.player(2));
    let (peer_a, peer_b) = (peer(&server, a), peer(&server, b));
    server.hear(b);
    for n in 0..3 {
        assert!(server.say(a, &signal(&peer_b, &format!("{{\"sdp\":{n}}}"))).is_empty());
    }
    assert_eq!(
        signals(&server.hear(b)),
        [(1, "{\"sdp\":0}".into()), (2, "{\"sdp\":1}".into()), (3, "{\"sdp\":2}".into())]
    );
    server.say(b, &signal(&peer_a, "\"answer\""));
    assert_eq!(signals(&server.hear(a)), [(1, "\"answer\"".into())]);
}

#[test]
fn signals_stay_inside_room() {
    let mut server = Server::new();
    let a = server.player(1);
    let outsider = server.guest(2);
    server.say(outsider, r#"{"type":"create","game":"gander"}"#);
    let lost = server.guest(3);
    let (peer_a, peer_outsider) = (peer(&server, a), peer(&server, outsider));
    assert_eq!(code(&server.say(a, &signal(&peer_outsider, "1"))), RejectionCode::NoSuchMember);
    assert_eq!(code(&server.say(outsider, &signal(&peer_a, "1"))), RejectionCode::NoSuchMember);
    assert_eq!(code(&server.say(lost, &signal(&peer_a, "1"))), RejectionCode::NotInRoom);
    assert_eq!(code(&server.say(a, &signal(&peer_a, "1"))), RejectionCode::NoSuchMember);
    let large = format!("\"{}\"", "x".repeat(20_000));
    assert_eq!(code(&server.say(a, &signal(&peer_outsider, &large))), RejectionCode::TooLarge);
    assert!(server.hear(outsider).iter().all(|message| !matches!(message, ServerMessage::SignalReceived(_))));
}

#[test]
fn flood_of_signals_is_stopped() {
    let mut rules = Rules { limits: Limits::unlimited(), ..Rules::default() };
    rules.limits.signal = Limits::default().signal;
    let mut server = Server::with_rules(rules);
    let (a, b) = (server.player(1), server.player(2));
    let to_b = signal(&peer(&server, b), "1");
    let passed = (0..3_000).take_while(|_| server.say(a, &to_b).is_empty()).count();
    assert_eq!(passed, 1_500);
}

#[test]
fn signals_for_absent_member_are_queued() {
    let mut server = Server::new();
    let (a, b) = (server.player(1), server.player(2));
    let to_b = peer(&server, b);
    server.close(b);
    for n in 0..100 {
        server.say(a, &signal(&to_b, &n.to_string()));
    }
    let b = server.connect();
    let heard = server.say(b, &hello(2));
    let waited: Vec<String> = signals(&heard).into_iter().map(|(_, data)| data).collect();
    // The last 64 of them: the queue is bounded.
    assert_eq!(waited, (36..100).map(|n: i32| n.to_string()).collect::<Vec<_>>());
}

#[test]
fn signals_survive_broken_connection_exactly_once() {
    let mut server = Server::new();
    let a = server.player(1);
    let b = server.connect();
    let token = welcome(&server.say(b, &hello(2))).resume;
    server.say(b, FIND);
    let to_b = peer(&server, b);
    let to_a = peer(&server, a);
    server.hear(a);
    for n in 1..=4 {
        server.say(a, &signal(&to_b, &n.to_string()));
    }
    // b sent two, of which the server got one, and received two of four before the connection
    // broke.
    server.say(b, &format!(r#"{{"type":"signal","to":"{to_a}","n":1,"data":"first"}}"#));
    server.close(b);
    server.say(a, &signal(&to_b, "5"));
    let b = server.connect();
    let resume = format!(r#"{{"type":"hello","key":"key-of-guest-number-2","resume":"{token}","seen":2}}"#);
    let heard = server.say(b, &resume);
    let greeting = welcome(&heard);
    assert_eq!((greeting.resumed, greeting.got), (true, Some(1)));
    assert_eq!(signals(&heard), [(3, "3".into()), (4, "4".into()), (5, "5".into())]);
    // b repeats what may not have arrived.
    server.hear(a);
    for (n, data) in [(1, "first"), (2, "second")] {
        server.say(b, &format!(r#"{{"type":"signal","to":"{to_a}","n":{n},"data":"{data}"}}"#));
    }
    assert_eq!(signals(&server.hear(a)), [(2, "\"second\"".into())]);
    // The same when the new connection opens before the old one is known to be dead.
    let token = greeting.resume;
    server.say(a, &signal(&to_b, "6"));
    let again = server.connect();
    let resume = format!(r#"{{"type":"hello","key":"key-of-guest-number-2","resume":"{token}","seen":5}}"#);
    assert_eq!(signals(&server.say(again, &resume)), [(6, "6".into())]);
}

#[test]
fn reloaded_page_gets_no_signals_of_previous_page() {
    let mut server = Server::new();
    let (a, b) = (server.player(1), server.player(2));
    let to_b = peer(&server, b);
    server.say(a, &signal(&to_b, "\"for the old page\""));
    server.close(b);
    server.say(a, &signal(&to_b, "\"while away\""));
    let b = server.connect();
    assert_eq!(signals(&server.say(b, &hello(2))), [(1, "\"while away\"".into())]);
}

#[test]
fn result_counts_when_players_agree() {
    let mut server = Server::new();
    let players: Vec<_> = (0..3).map(|number| server.player(number)).collect();
    let report = report(&server, &players, &[300, 100, 200]);
    let pending = server.say(players[0], &report);
    assert!(
        matches!(&pending[..], [ServerMessage::MatchResult(result)] if result.verdict == Verdict::Pending)
    );
    server.say(players[1], &report);
    assert!(server.records.is_empty());
    server.hear(players[0]);
    server.say(players[2], &report);
    let [record] = &server.records[..] else { panic!("{:?}", server.records) };
    assert_eq!(record.verdict, Verdict::Agreed);
    let sheet: Vec<(i64, u8)> = record.scores.iter().map(|line| (line.score, line.place)).collect();
    assert_eq!(sheet, [(300, 1), (100, 3), (200, 2)]);
    // All members receive it once, and that the match is over.
    let told = events(&server.hear(players[0]));
    let results = told.iter().filter(|event| matches!(event, RoomUpdate::ResultDecided(_)));
    assert_eq!(results.count(), 1);
    // A repeated report gets the same answer and changes nothing.
    let again = server.say(players[1], &report);
    assert!(matches!(&again[..], [ServerMessage::MatchResult(result)] if result.verdict == Verdict::Agreed));
    assert_eq!(server.records.len(), 1);
}

#[test]
fn unstored_result_of_lost_node_is_offered_again() {
    let mut server = Server::new();
    server.storage_works = false;
    let players: Vec<_> = (0..2).map(|number| server.player(number)).collect();
    let report = report(&server, &players, &[300, 100]);
    players.iter().for_each(|player| drop(server.say(*player, &report)));
    // The room has ended, too: all members have left.
    players.iter().for_each(|player| drop(server.say(*player, LEAVE)));
    assert_eq!((server.records.len(), server.directory.room_count()), (1, 0));
    let lose_a_node = |directory: &mut Directory, number: u64, now: Micros| {
        let lease = Lease { node: NodeId(number), epoch: 1, ttl: Micros::ZERO };
        let _ = directory.apply(now, &LogEntry::new(lease));
        let _ = directory.apply(now, &LogEntry::new(Tick {}));
        std::iter::from_fn(|| directory.poll_record()).collect::<Vec<MatchRecord>>()
    };
    let now = server.now;
    assert_eq!(lose_a_node(&mut server.directory, 8, now), server.records);
    // A node that starts later knows it from the snapshot.
    let snapshot = Snapshot::from_text(&server.directory.snapshot().to_text()).unwrap();
    let mut late = Directory::from_snapshot(Rules::default(), snapshot);
    assert_eq!(lose_a_node(&mut late, 9, now), server.records);
    let (room, round) = (server.records[0].room, server.records[0].round);
    let stored = MarkStored { room, round, verdict: None, ratings: Vec::new() };
    let _ = late.apply(now, &LogEntry::new(stored));
    assert_eq!(lose_a_node(&mut late, 10, now), []);
}

#[test]
fn match_stored_before_keeps_stored_verdict() {
    let mut server = Server::new();
    server.stored_before = Some(Verdict::Agreed);
    let (player, other) = (server.player(1), server.player(2));
    let report = report(&server, &[player], &[500]);
    server.say(other, LEAVE);
    server.hear(player);
    server.say(player, &report);
    assert_eq!(server.records[0].verdict, Verdict::Claimed, "no other member is left");
    let heard = server.say(player, &report);
    let answers: Vec<Verdict> = heard
        .iter()
        .filter_map(|message| match message {
            ServerMessage::MatchResult(result) => Some(result.verdict),
            _ => None,
        })
        .collect();
    assert_eq!(answers, [Verdict::Agreed]);
}

#[test]
fn one_liar_among_three_is_outvoted_and_two_cancel_out() {
    for (count, verdict) in [(3, Verdict::Agreed), (2, Verdict::Disputed)] {
        let mut server = Server::new();
        let players: Vec<_> = (0..count).map(|number| server.player(number)).collect();
        let honest = report(&server, &players, &[10, 20, 30]);
        let forged = report(&server, &players, &[999, 0, 0]);
        server.say(players[0], &forged);
        players[1..].iter().for_each(|player| drop(server.say(*player, &honest)));
        assert_eq!(server.records[0].verdict, verdict);
        assert_eq!(server.records[0].scores.first().map(|line| line.score), (count == 3).then_some(10));
    }
}

#[test]
fn solo_result_is_kept_as_claim() {
    let mut server = Server::new();
    let player = server.player(1);
    let report = report(&server, &[player], &[500]);
    let heard = server.say(player, &report);
    assert!(heard.iter().any(|message| matches!(message,
        ServerMessage::MatchResult(result) if result.verdict == Verdict::Pending)));
    assert_eq!(server.records[0].verdict, Verdict::Claimed);
}

#[test]
fn silent_player_delays_result_for_limited_time() {
    let mut server = Server::new();
    let players: Vec<_> = (0..3).map(|number| server.player(number)).collect();
    let report = report(&server, &players, &[1, 2, 3]);
    server.say(players[0], &report);
    server.say(players[1], &report);
    server.wait_secs(9);
    assert!(server.records.is_empty());
    server.wait_secs(2);
    assert_eq!(server.records[0].verdict, Verdict::Agreed);
}

#[test]
fn report_counts_after_its_player_left() {
    let mut server = Server::new();
    let players: Vec<_> = (0..2).map(|number| server.player(number)).collect();
    let report = report(&server, &players, &[1, 2]);
    server.say(players[0], &report);
    server.say(players[0], LEAVE);
    server.say(players[1], &report);
    assert_eq!(server.records[0].verdict, Verdict::Agreed);
    assert_eq!(server.records[0].scores.len(), 2);
}

#[test]
fn last_player_to_leave_decides_match() {
    let mut server = Server::new();
    let players: Vec<_> = (0..3).map(|number| server.player(number)).collect();
    let report = report(&server, &players, &[1, 2, 3]);
    server.say(players[0], &report);
    server.say(players[1], &report);
    players.iter().for_each(|player| drop(server.say(*player, LEAVE)));
    assert_eq!(server.records.len(), 1);
    assert_eq!(server.records[0].verdict, Verdict::Agreed);
}

#[test]
fn unstored_match_is_stored_when_reported_again() {
    let mut server = Server::new();
    let players: Vec<_> = (0..2).map(|number| server.player(number)).collect();
    let report = report(&server, &players, &[1, 2]);
    server.storage_works = false;
    players.iter().for_each(|player| drop(server.say(*player, &report)));
    assert_eq!(server.records.len(), 1);
    let heard = server.say(players[0], &report);
    assert!(
        matches!(heard.last(), Some(ServerMessage::MatchResult(result)) if result.verdict == Verdict::Pending)
    );
    server.storage_works = true;
    server.say(players[0], &report);
    let heard = server.say(players[1], &report);
    assert!(
        matches!(heard.last(), Some(ServerMessage::MatchResult(result)) if result.verdict == Verdict::Agreed)
    );
}

#[test]
fn reports_by_or_about_strangers_are_rejected() {
    let mut server = Server::new();
    let players: Vec<_> = (0..2).map(|number| server.player(number)).collect();
    let stranger = server.guest(9);
    let honest = report(&server, &players, &[1, 2]);
    assert_eq!(code(&server.say(stranger, &honest)), RejectionCode::NotInRoom);
    let about = report(&server, &[players[0], stranger], &[1, 2]);
    assert_eq!(code(&server.say(players[0], &about)), RejectionCode::BadReport);
    let future = honest.replace("\"round\":1", "\"round\":2");
    assert_eq!(code(&server.say(players[0], &future)), RejectionCode::BadReport);
    let absurd = report(&server, &players, &[10_000_001, 0]);
    assert_eq!(code(&server.say(players[0], &absurd)), RejectionCode::BadReport);
    let watcher = server.guest(10);
    let room = server.room_of(players[0]);
    server.say(watcher, &format!(r#"{{"type":"join","code":"{}","watch":true}}"#, room.code));
    assert_eq!(code(&server.say(watcher, &honest)), RejectionCode::BadReport);
}

pub(crate) fn peer(server: &Server, connection: ConnectionId) -> String {
    server.node.peer_of(connection).expect("it is identified").0.to_string()
}

fn signal(to: &str, data: &str) -> String {
    format!(r#"{{"type":"signal","to":"{to}","data":{data}}}"#)
}

fn signals(heard: &[ServerMessage]) -> Vec<(u64, String)> {
    let signal = |message: &ServerMessage| match message {
        ServerMessage::SignalReceived(signal) => Some((signal.n, signal.data.as_str().to_string())),
        _ => None,
    };
    heard.iter().filter_map(signal).collect()
}

pub(crate) fn report(server: &Server, players: &[ConnectionId], scores: &[i64]) -> String {
    let line = |(slot, (player, score)): (usize, (&ConnectionId, &i64))| {
        format!(r#"{{"peer":"{}","slot":{slot},"score":{score}}}"#, peer(server, *player))
    };
    let lines: Vec<String> = players.iter().zip(scores).enumerate().map(line).collect();
    format!(r#"{{"type":"report","round":1,"scores":[{}]}}"#, lines.join(","))
}
