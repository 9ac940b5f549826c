//! Reused slots: games keep state per slot for a while, and a player learns whether it belongs to
//! another one.

use gaggle_kit::Slot;
use gaggle_lobby::RoomCode;
use gaggle_lobby::message::server::JoinedRoom;
use gaggle_lobby::node::ConnectionId;

use crate::restarts::ticket;
use crate::server::{CREATE, FIND, LEAVE, STEP_OUT, Server, hello, join, seat, welcome};

/// Four players who played for a while, and the code of their room.
fn full_room() -> (Server, Vec<ConnectionId>, RoomCode) {
    let mut server = Server::new();
    let players: Vec<_> = (0..4).map(|number| server.player(number)).collect();
    let code = server.room_of(players[0]).code;
    server.wait_secs(5);
    (server, players, code)
}

fn come(server: &mut Server, number: u32, code: RoomCode) -> (ConnectionId, JoinedRoom) {
    let connection = server.guest(number);
    let seated = seat(&server.say(connection, &join(code)));
    (connection, seated)
}

fn leave(server: &mut Server, connection: ConnectionId) {
    server.say(connection, LEAVE);
    server.close(connection);
}

#[test]
fn stranger_learns_that_slot_is_reused_and_returner_does_not() {
    let (mut server, players, code) = full_room();
    leave(&mut server, players[2]);
    let (stranger, seated) = come(&mut server, 9, code);
    assert_eq!((seated.slot, &seated.reused_slots[..]), (Some(Slot::at(2)), &[Slot::at(2)][..]));
    // After playing there for a while the slot is the stranger's.
    server.wait_secs(5);
    leave(&mut server, stranger);
    let (owner, seated) = come(&mut server, 2, code);
    assert_eq!(seated.reused_slots, [Slot::at(2)]);
    server.wait_secs(5);
    leave(&mut server, owner);
    let (_, seated) = come(&mut server, 2, code);
    assert_eq!((seated.slot, seated.returned, &seated.reused_slots[..]), (Some(Slot::at(2)), false, &[][..]));
}

#[test]
fn unused_slot_is_not_reported_as_reused() {
    let mut server = Server::new();
    for number in 0..4 {
        let guest = server.guest(number);
        assert_eq!(seat(&server.say(guest, FIND)).reused_slots, []);
    }
}

#[test]
fn own_slot_after_reload_crash_or_reconnect_is_not_reused() {
    let (mut server, players, code) = full_room();
    leave(&mut server, players[2]);
    let (stranger, seated) = come(&mut server, 9, code);
    assert_eq!(seated.reused_slots, [Slot::at(2)]);
    // From now on the slot's state belongs to the new player, whatever happens.
    server.say(stranger, STEP_OUT);
    server.close(stranger);
    let reloaded = server.connect();
    let seated = seat(&server.say(reloaded, &hello(9)));
    assert_eq!((seated.returned, &seated.reused_slots[..]), (true, &[][..]));
    let again = seat(&server.say(reloaded, &join(code).replace('}', r#","switch":true}"#)));
    assert_eq!((again.returned, &again.reused_slots[..]), (true, &[][..]));
    server.close(reloaded);
    server.wait_secs(30);
    let crashed = server.connect();
    let heard = server.say(crashed, &hello(9));
    assert_eq!(seat(&heard).reused_slots, []);
    let resume = format!(r#","resume":"{}"}}"#, welcome(&heard).resume);
    server.close(crashed);
    let resumed = server.connect();
    assert_eq!(seat(&server.say(resumed, &hello(9).replace('}', &resume))).reused_slots, []);
}

#[test]
fn new_tab_of_same_player_keeps_its_slot_state() {
    let (mut server, players, code) = full_room();
    leave(&mut server, players[2]);
    let tab = server.connect();
    server.say(tab, &hello(2).replace('}', r#","seat":"another-tab"}"#));
    let seated = seat(&server.say(tab, &join(code)));
    assert_eq!((seated.slot, &seated.reused_slots[..]), (Some(Slot::at(2)), &[][..]));
}

#[test]
fn brief_visitor_takes_no_slot_state() {
    let (mut server, players, code) = full_room();
    leave(&mut server, players[2]);
    server.wait_secs(3);
    let (passer_by, seated) = come(&mut server, 9, code);
    assert_eq!(seated.reused_slots, [Slot::at(2)]);
    server.wait_secs(1);
    leave(&mut server, passer_by);
    let (_, seated) = come(&mut server, 2, code);
    assert_eq!((seated.slot, &seated.reused_slots[..]), (Some(Slot::at(2)), &[][..]));
}

#[test]
fn local_players_learn_about_their_own_slots() {
    const TWO: &str = r#","players":2}"#;
    let mut server = Server::new();
    let couch = server.guest(1);
    let made = seat(&server.say(couch, &FIND.replace('}', TWO)));
    let (single, _) = come(&mut server, 2, made.room.code);
    let (_, last) = come(&mut server, 3, made.room.code);
    assert_eq!(last.room.free_slots(), 0);
    server.wait_secs(5);
    leave(&mut server, couch);
    let back = server.guest(1);
    let both = join(made.room.code).replace('}', TWO);
    assert_eq!(seat(&server.say(back, &both)).reused_slots, [], "both slots are their own");
    server.wait_secs(5);
    leave(&mut server, back);
    leave(&mut server, single);
    // One of the two slots was taken by the player of the third: the pair gets its other one, and
    // the third.
    let (_, taken) = come(&mut server, 9, made.room.code);
    assert_eq!((taken.slot, &taken.reused_slots[..]), (Some(Slot::at(0)), &[Slot::at(0)][..]));
    let back = server.guest(1);
    let seated = seat(&server.say(back, &both));
    let slots = seated.room.member(seated.peer).map(|member| member.slots().bits());
    assert_eq!((slots, &seated.reused_slots[..]), (Some(0b0110), &[Slot::at(2)][..]));
}

#[test]
fn restarted_server_reports_no_slot_as_reused() {
    let tickets: Vec<String> = {
        let (mut server, players, _) = full_room();
        players.iter().map(|player| ticket(&mut server, *player)).collect()
    };
    let mut server = Server::new();
    for (number, ticket) in (0..).zip(&tickets) {
        let connection = server.connect();
        let text = hello(number).replace('}', &format!(r#","ticket":"{ticket}"}}"#));
        let seated = seat(&server.say(connection, &text));
        assert_eq!((seated.returned, &seated.reused_slots[..]), (true, &[][..]), "{number}");
    }
}

#[test]
fn resting_host_gives_way_to_awake_player() {
    let mut server = Server::new();
    let [host, other] = [1, 2].map(|number| server.guest(number));
    let made = seat(&server.say(host, CREATE));
    let joined = seat(&server.say(other, &join(made.room.code)));
    let rest = |resting: bool| format!(r#"{{"type":"rest","resting":{resting}}}"#);
    let wait = |server: &mut Server, tens: u32| {
        for _ in 0..tens {
            server.wait_secs(10);
            for connection in [host, other] {
                server.say(connection, r#"{"type":"touch"}"#);
            }
        }
    };
    // While no other player is attentive, and for a minute in any case, the host stays.
    for connection in [host, other] {
        server.say(connection, &rest(true));
    }
    wait(&mut server, 12);
    assert_eq!(server.room_of(host).host, made.peer);
    server.say(host, &rest(false));
    server.say(other, &rest(false));
    server.say(host, &rest(true));
    wait(&mut server, 5);
    assert_eq!(server.room_of(host).host, made.peer);
    wait(&mut server, 2);
    assert_eq!(server.room_of(host).host, joined.peer);
    // A host that returns is an ordinary member.
    server.say(host, &rest(false));
    wait(&mut server, 1);
    assert_eq!(server.room_of(host).host, joined.peer);
}
