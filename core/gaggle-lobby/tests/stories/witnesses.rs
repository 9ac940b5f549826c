//! Weight of votes on a result: players of the match decide, however many visitors pass through.

use gaggle_lobby::node::ConnectionId;
use gaggle_lobby::view::{Status, Verdict};

use crate::server::{FIND, LEAVE, Server, hello, seat};
use crate::signals_and_results::{peer, report};

const HONEST: [i64; 2] = [10, 20];
const FORGED: [i64; 2] = [-1_000, 999];

#[test]
fn guests_who_just_joined_decide_no_match() {
    let mut server = Server::new();
    let players = play(&mut server, 2, 60);
    let guests = [server.player(10), server.player(11)];
    let forged = report(&server, &players, &FORGED);
    guests.iter().for_each(|guest| drop(server.say(*guest, &forged)));
    stay(&mut server, &[players[0], players[1], guests[0], guests[1]], 30);
    assert_eq!(server.records, []);
    assert_eq!(server.room_of(players[0]).status, Status::Playing);
    let honest = report(&server, &players, &HONEST);
    players.iter().for_each(|player| drop(server.say(*player, &honest)));
    expect(&server, Verdict::Agreed, &HONEST);
}

#[test]
fn report_of_one_guest_ends_no_match() {
    let mut server = Server::new();
    let players = play(&mut server, 2, 60);
    let guest = server.player(10);
    let forged = report(&server, &players, &FORGED);
    server.say(guest, &forged);
    server.say(guest, LEAVE);
    stay(&mut server, &players, 400);
    let room = server.room_of(players[0]);
    assert_eq!((room.status, room.members.len()), (Status::Playing, 2));
    let honest = report(&server, &players, &HONEST);
    players.iter().for_each(|player| drop(server.say(*player, &honest)));
    expect(&server, Verdict::Agreed, &HONEST);
}

#[test]
fn passing_guests_weigh_no_more_than_their_time() {
    let mut server = Server::new();
    let players = play(&mut server, 2, 60);
    let forged = report(&server, &players, &FORGED);
    for number in 10..30 {
        let guest = server.player(number);
        stay(&mut server, &players, 1);
        server.say(guest, &forged);
        server.say(guest, LEAVE);
    }
    let honest = report(&server, &players, &HONEST);
    players.iter().for_each(|player| drop(server.say(*player, &honest)));
    expect(&server, Verdict::Agreed, &HONEST);
}

#[test]
fn host_who_removes_others_before_reporting_confirms_nothing() {
    for (count, kicked, verdict) in
        [(2, 1, Verdict::Claimed), (3, 2, Verdict::Claimed), (3, 1, Verdict::Agreed)]
    {
        let mut server = Server::new();
        // In matched rooms the host cannot remove players.
        let players = server.gathered(0..count);
        stay(&mut server, &players, 60);
        let forged = report(&server, &players[..2], &FORGED);
        for player in players.iter().rev().take(kicked) {
            let kick = format!(r#"{{"type":"kick","peer":"{}"}}"#, peer(&server, *player));
            server.say(players[0], &kick);
        }
        let rest = &players[..players.len() - kicked];
        rest.iter().for_each(|player| drop(server.say(*player, &forged)));
        let verdicts: Vec<Verdict> = server.records.iter().map(|record| record.verdict).collect();
        assert_eq!(verdicts, [verdict], "{kicked} of {count} were sent away");
    }
}

#[test]
fn late_friend_does_not_break_tie() {
    let mut server = Server::new();
    let players = play(&mut server, 2, 60);
    let friend = server.player(10);
    let (honest, forged) = (report(&server, &players, &HONEST), report(&server, &players, &FORGED));
    stay(&mut server, &[players[0], players[1], friend], 5);
    server.say(friend, &forged);
    server.say(players[0], &forged);
    server.say(players[1], &honest);
    expect(&server, Verdict::Disputed, &[]);
}

#[test]
fn guests_decide_nothing_while_players_are_disconnected() {
    let mut server = Server::new();
    let players = play(&mut server, 2, 60);
    let guests = [server.player(10), server.player(11)];
    let forged = report(&server, &players, &FORGED);
    players.iter().for_each(|player| server.close(*player));
    guests.iter().for_each(|guest| drop(server.say(*guest, &forged)));
    stay(&mut server, &guests, 30);
    assert_eq!(server.records, []);
    let back: Vec<ConnectionId> = (0..2)
        .map(|number| {
            let connection = server.connect();
            assert!(seat(&server.say(connection, &hello(number))).returned);
            connection
        })
        .collect();
    let honest = report(&server, &back, &HONEST);
    back.iter().for_each(|player| drop(server.say(*player, &honest)));
    expect(&server, Verdict::Agreed, &HONEST);
}

#[test]
fn last_player_after_crash_is_believed_unconfirmed() {
    let mut server = Server::new();
    let players = play(&mut server, 2, 60);
    let honest = report(&server, &players, &HONEST);
    server.close(players[1]);
    server.say(players[0], &honest);
    stay(&mut server, &players[..1], 30);
    assert_eq!(server.records, [], "others may return and report, too");
    stay(&mut server, &players[..1], 31);
    expect(&server, Verdict::Claimed, &HONEST);
}

#[test]
fn crashed_players_vote_is_not_needed_for_majority() {
    let mut server = Server::new();
    let players = play(&mut server, 3, 60);
    let honest = report(&server, &players, &[1, 2, 3]);
    server.close(players[2]);
    players[..2].iter().for_each(|player| drop(server.say(*player, &honest)));
    assert_eq!(server.records, []);
    stay(&mut server, &players[..2], 11);
    expect(&server, Verdict::Agreed, &[1, 2, 3]);
}

#[test]
fn guest_cannot_void_solo_match() {
    let mut server = Server::new();
    let players = play(&mut server, 1, 60);
    let guest = server.player(10);
    let (honest, nonsense) = (report(&server, &players, &[700]), report(&server, &players, &[5]));
    server.say(guest, &nonsense);
    server.say(guest, LEAVE);
    server.say(players[0], &honest);
    expect(&server, Verdict::Claimed, &[700]);
}

#[test]
fn late_joiner_confirms_what_others_report() {
    let mut server = Server::new();
    let first = play(&mut server, 1, 60);
    let second = server.player(1);
    let players = [first[0], second];
    stay(&mut server, &players, 5);
    let honest = report(&server, &players, &HONEST);
    players.iter().for_each(|player| drop(server.say(*player, &honest)));
    expect(&server, Verdict::Agreed, &HONEST);
}

#[test]
fn joining_and_leaving_pushes_no_player_out_of_match() {
    let mut server = Server::new();
    let players = play(&mut server, 2, 60);
    let restless = server.player(10);
    for _ in 0..300 {
        server.say(restless, LEAVE);
        seat(&server.say(restless, FIND));
    }
    server.say(restless, LEAVE);
    let (honest, forged) = (report(&server, &players, &HONEST), report(&server, &players, &FORGED));
    // One reports and leaves before a crowd passes through.
    server.say(players[0], &honest);
    server.say(players[0], LEAVE);
    for number in 20..320 {
        let guest = server.player(number);
        server.say(guest, &forged);
        server.say(guest, LEAVE);
        server.close(guest);
    }
    server.say(players[1], &honest);
    expect(&server, Verdict::Agreed, &HONEST);
}

/// Players who have played for this many seconds.
fn play(server: &mut Server, count: u32, secs: u64) -> Vec<ConnectionId> {
    let players: Vec<ConnectionId> = (0..count).map(|number| server.player(number)).collect();
    stay(server, &players, secs);
    players
}

/// Advances time while these clients stay alive.
fn stay(server: &mut Server, connections: &[ConnectionId], secs: u64) {
    for second in 0..secs {
        server.wait_secs(1);
        if second % 10 == 0 {
            connections.iter().for_each(|who| drop(server.say(*who, r#"{"type":"touch"}"#)));
        }
    }
}

fn expect(server: &Server, verdict: Verdict, scores: &[i64]) {
    let [record] = &server.records[..] else { panic!("one decided match, not {:?}", server.records) };
    let kept: Vec<i64> = record.scores.iter().map(|line| line.score).collect();
    assert_eq!((record.verdict, &kept[..]), (verdict, scores));
}
