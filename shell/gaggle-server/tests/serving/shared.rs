//! Several servers on one Redis as one lobby, also when a server or the Redis crashes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gaggle_kit::Micros;
use gaggle_lobby::message::server::{Leaderboard, MyStats};
use gaggle_lobby::rules::ModeConfig;
use gaggle_lobby::view::{LeaveReason, RatingChange, RoomUpdate};
use gaggle_lobby::{RejectionCode, RoomId, ServerMessage};
use gaggle_server::config::{Duration as Setting, Secret};

use crate::guest::{FIND, Guest, PATIENCE, TestServer, hello};
use crate::http::get;
use crate::place::{Place, lasting_port};
use crate::process::Process;

#[test]
fn deep_nesting_is_rejected_and_unreadable_entry_skipped() {
    let redis = Redis::start();
    let (first, second) = (redis.node(|_| {}), redis.node(|_| {}));
    let mut nia = first.guest();
    nia.hello(1);
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(14), "]".repeat(14));
    nia.say(&format!(r#"{{"type":"create","game":"gander","settings":{deep}}}"#));
    let refused = nia.hear();
    assert!(
        matches!(&refused, ServerMessage::Refused(refused) if refused.code == RejectionCode::BadMessage),
        "{refused:?}"
    );
    let made = nia.seat("{\"type\":\"create\",\"game\":\"gander\",\"settings\":{\"a\" :\n\t1}}");
    assert_eq!(made.room.settings.as_str(), r#"{"a":1}"#);
    for spoilt in ["", "{\"entry\":\"create\"", "\u{0}", &format!("{{\"entry\":\"tick\",\"a\":{deep}}}")] {
        redis.spoil(spoilt);
    }
    // All clients go on, on both nodes, in their rooms.
    let mut ada = second.guest();
    ada.hello(2);
    let join = format!(r#"{{"type":"join","code":"{}"}}"#, made.room.code);
    assert_eq!(ada.seat(&join).room.members.len(), 2);
    let kind = nia.hear_until(|message| match message {
        ServerMessage::Change(change) => Some(change.events[0].kind()),
        ServerMessage::Closing(bye) => panic!("{bye:?}"),
        _ => None,
    });
    assert_eq!(kind, "joined");
    // And so does a node that starts now.
    let third = redis.node(|_| {});
    let mut ben = third.guest();
    ben.hello(3);
    assert_eq!(ben.seat(&join).room.members.len(), 3);
}

/// 32 bytes in base64url.
const SECRET: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

#[test]
fn two_nodes_are_one_lobby() {
    let redis = Redis::start();
    let nodes = [redis.node(|_| {}), redis.node(|_| {})];
    // Through both at once; no room is created while another has a free slot.
    let seats: Vec<(RoomId, Option<u16>)> = std::thread::scope(|scope| {
        let joiners: Vec<_> = (0..2)
            .map(|half: u32| {
                let node = &nodes[half as usize];
                scope.spawn(move || {
                    let guests: Vec<Guest> = (0..60).map(|n| node.slot_of(half * 1_000 + n)).collect();
                    guests
                })
            })
            .collect();
        let mut guests: Vec<Guest> = joiners.into_iter().flat_map(|joiner| joiner.join().unwrap()).collect();
        guests.iter_mut().map(look).collect()
    });
    let mut rooms: BTreeMap<RoomId, Vec<Option<u16>>> = BTreeMap::new();
    seats.into_iter().for_each(|(room, slot)| rooms.entry(room).or_default().push(slot));
    assert_eq!(rooms.len(), 30);
    for slots in rooms.values_mut() {
        slots.sort();
        assert_eq!(*slots, [Some(0), Some(1), Some(2), Some(3)]);
    }
}

#[test]
fn members_on_different_nodes_see_and_signal_each_other() {
    let redis = Redis::start();
    let (first, second) = (redis.node(|_| {}), redis.node(|_| {}));
    let mut nia = first.guest();
    let nia_peer = nia.hello(1).peer;
    let made = nia.seat(FIND);
    let mut ada = second.guest();
    let ada_peer = ada.hello(2).peer;
    ada.say(r#"{"type":"list","game":"gander"}"#);
    let listed = ada.hear_until(|message| match message {
        ServerMessage::Rooms(rooms) if !rooms.rooms.is_empty() => Some(rooms.rooms[0].id),
        _ => None,
    });
    assert_eq!(listed, made.room.id);
    let found = ada.seat(&format!(r#"{{"type":"join","code":"{}"}}"#, made.room.code.as_str()));
    assert_eq!(found.room.id, made.room.id);
    nia.hear_until(|message| joined(message, ada_peer));
    for n in 0..20 {
        nia.say(&format!(r#"{{"type":"signal","to":"{ada_peer}","data":{n}}}"#));
        ada.say(&format!(r#"{{"type":"signal","to":"{nia_peer}","data":{n}}}"#));
    }
    for guest in [&mut ada, &mut nia] {
        for n in 0..20 {
            let data = guest.hear_until(|message| match message {
                ServerMessage::SignalReceived(signal) => Some(signal.data.as_str().to_string()),
                _ => None,
            });
            assert_eq!(data, n.to_string());
        }
    }
    // The same client on another node: the older connection is probed on its node, and answers.
    let older = std::thread::spawn(move || nia.hear_bye());
    let mut copy = second.guest();
    copy.say(&hello(1));
    let seat = copy.hear_until(|message| match message {
        ServerMessage::Welcome(welcome) => Some(welcome.seat.as_str()),
        _ => None,
    });
    assert_eq!(seat, "elsewhere");
    copy.say(r#"{"type":"take_over"}"#);
    copy.hear_until(|message| matches!(message, ServerMessage::JoinedRoom(_)).then_some(()));
    assert_eq!(older.join().unwrap(), RejectionCode::Replaced);
}

#[test]
fn players_of_similar_skill_are_found_across_nodes() {
    let redis = Redis::start();
    let (first, second) = (redis.node(ranked), redis.node(ranked));
    let find = r#"{"type":"find","game":"gander","mode":"duel"}"#;
    let (mut nia, mut ada) = (first.guest(), second.guest());
    nia.hello(1);
    nia.say(find);
    let told = nia.hear_until(|message| match message {
        ServerMessage::Searching(searching) => Some((searching.rating, searching.waiting)),
        _ => None,
    });
    assert_eq!(told, (1_500, 1));
    ada.hello(2);
    let found = ada.seat(find);
    let other = nia.hear_until(|message| match message {
        ServerMessage::JoinedRoom(seat) => Some(seat.room.id),
        _ => None,
    });
    assert_eq!(other, found.room.id);
}

#[test]
fn results_and_ratings_are_equal_on_all_nodes() {
    results_are_the_same_on(&[&Place::new(), &Place::new()]);
}

#[test]
fn nodes_sharing_data_folder_count_each_match_once() {
    let place = Place::new();
    results_are_the_same_on(&[&place, &place]);
}

/// Two nodes with these data folders, and a match through each of them.
fn results_are_the_same_on(folders: &[&Place; 2]) {
    let redis = Redis::start();
    let nodes = folders.map(|folder| {
        redis.node(|config| {
            ranked(config);
            config.data = folder.path().into();
        })
    });
    let first = play_duel(&nodes[0], [70, 90]);
    let second = play_duel(&nodes[1], [30, 80]);
    let moves = |ratings: &[RatingChange]| ratings.iter().map(|r| (r.before, r.after)).collect::<Vec<_>>();
    assert!(first[0].after < 1_500 && first[1].after > 1_500, "{first:?}");
    let goes_on = first.iter().zip(&second).all(|(first, second)| first.after == second.before);
    assert!(goes_on, "{:?} {:?}", moves(&first), moves(&second));
    for node in &nodes {
        let start = Instant::now();
        while !get(node.address, "/metrics", "").1.contains("gaggle_matches_stored_total 2\n") {
            assert!(start.elapsed() < PATIENCE, "a node has not stored both");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    let [here, there] = nodes.each_ref().map(standing);
    assert_eq!(here, there);
    let (mine, top, rating) = here;
    assert_eq!((mine.matches.len(), mine.best.map(|best| best.score)), (2, Some(70)));
    assert_eq!(top.entries.iter().map(|entry| entry.score).collect::<Vec<_>>(), [90, 70]);
    assert_eq!((mine.rating, rating), (Some(second[0].after), second[0].after));
    for folder in folders {
        let database = rusqlite::Connection::open(folder.path().join("gaggle.sqlite")).unwrap();
        let count = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(count("SELECT count(*) FROM matches"), 2);
        assert_eq!(count("SELECT max(matches) FROM ratings"), 2, "each match changed a rating once");
    }
}

/// Two players play through this node and leave; returns their rating changes.
fn play_duel(node: &TestServer, scores: [i64; 2]) -> Vec<RatingChange> {
    let (mut nia, mut ada) = (node.guest(), node.guest());
    nia.hello(1);
    ada.hello(2);
    let made = nia.seat(r#"{"type":"create","game":"gander","mode":"duel","drop_in":true}"#);
    let found = ada.seat(&format!(r#"{{"type":"join","code":"{}"}}"#, made.room.code));
    let report = format!(
        r#"{{"type":"report","round":1,"scores":[{{"peer":"{}","slot":0,"score":{}}},{{"peer":"{}","slot":1,"score":{}}}]}}"#,
        made.peer, scores[0], found.peer, scores[1]
    );
    nia.say(&report);
    ada.say(&report);
    let ratings = nia.hear_until(|message| match message {
        ServerMessage::Change(change) => change.events.iter().find_map(|event| match event {
            RoomUpdate::ResultDecided(result) => Some(result.ratings.clone()),
            _ => None,
        }),
        _ => None,
    });
    for guest in [&mut nia, &mut ada] {
        guest.say(r#"{"type":"leave"}"#);
        guest.hear_until(|message| matches!(message, ServerMessage::Removed(_)).then_some(()));
    }
    ratings
}

/// A player's statistics, the leaderboard, and the rating used for a search.
fn standing(node: &TestServer) -> (MyStats, Leaderboard, i64) {
    let mut nia = node.guest();
    nia.hello(1);
    nia.say(r#"{"type":"mine","game":"gander","mode":"duel"}"#);
    let mine = nia.hear_until(|message| match message {
        ServerMessage::MyStats(mine) => Some(mine.clone()),
        _ => None,
    });
    nia.say(r#"{"type":"top","game":"gander","mode":"duel"}"#);
    let top = nia.hear_until(|message| match message {
        ServerMessage::Leaderboard(top) => Some(top.clone()),
        _ => None,
    });
    nia.say(r#"{"type":"find","game":"gander","mode":"duel"}"#);
    let rating = nia.hear_until(|message| match message {
        ServerMessage::Searching(searching) => Some(searching.rating),
        _ => None,
    });
    (mine, top, rating)
}

/// Settings with a ranked mode for two.
fn ranked(config: &mut gaggle_server::Config) {
    let rules = ModeConfig {
        players_default: 2,
        players_min: 2,
        players_max: 2,
        skill: true,
        ..ModeConfig::default()
    };
    config.games.add("gander".parse().unwrap(), "duel".parse().unwrap(), rules);
}

#[test]
fn killed_node_loses_no_room_and_leaves_no_stale_member() {
    let redis = Redis::start();
    let place = Place::new();
    let url = redis.url();
    let more = ["--redis", &url, "--ticket-secret", SECRET, "--reconnect-grace", "9s"];
    let mut doomed = Process::start(place.path(), 0, &more);
    let other = redis.node(|config| config.reconnect_grace = Setting(Micros::from_secs(9)));
    // Two on the node that is killed and one on the other, in one room.
    let mut nia = Guest::connect(doomed.address);
    let welcome = nia.hello(1);
    let made = nia.seat(FIND);
    let mut ghost = Guest::connect(doomed.address);
    let ghost_peer = ghost.hello(2).peer;
    ghost.seat(FIND);
    let mut ada = other.local_slot(3);
    // And a room with members on the killed node only.
    let mut lone = Guest::connect(doomed.address);
    lone.hello(4);
    let lone_room = lone.seat(r#"{"type":"create","game":"gander","mode":"team"}"#).room.id;
    doomed.kill();
    // A player that returns at once has its reservation at once.
    let mut back = other.guest();
    let resume = format!(r#","resume":"{}","ticket":"{}"}}"#, welcome.resume, made.ticket);
    back.say(&hello(1).replace('}', &resume));
    let seat = back.hear_until(|message| match message {
        ServerMessage::JoinedRoom(seat) => Some((seat.room.id, seat.slot, seat.returned)),
        _ => None,
    });
    assert_eq!(seat, (made.room.id, made.slot, true));
    // One that does not is away when the lease expires, and removed after the grace time.
    let mut seen = Vec::new();
    ada.hear_until(|message| {
        if let ServerMessage::Change(change) = message {
            for event in &change.events {
                match event {
                    RoomUpdate::Away(away) if away.peer == ghost_peer => seen.push("away"),
                    RoomUpdate::Left(left) if left.peer == ghost_peer => {
                        assert_eq!(left.reason, LeaveReason::ConnectionLost);
                        seen.push("left");
                    }
                    _ => {}
                }
            }
        }
        (seen.last() == Some(&"left")).then_some(())
    });
    assert_eq!(seen, ["away", "left"]);
    assert_eq!(look(&mut ada).0, made.room.id);
    // The room of the player that never returned ends, too.
    ada.say(r#"{"type":"list","game":"gander","all":true}"#);
    let rooms = ada.hear_until(|message| match message {
        ServerMessage::Rooms(rooms) => Some(rooms.rooms.iter().map(|room| room.id).collect::<Vec<_>>()),
        _ => None,
    });
    assert!(rooms.contains(&made.room.id) && !rooms.contains(&lone_room), "{rooms:?}");
}

#[test]
fn result_of_killed_node_is_stored_by_another() {
    let redis = Redis::start();
    let place = Place::new();
    let url = redis.url();
    let mut doomed = Process::start(place.path(), 0, &["--redis", &url, "--ticket-secret", SECRET]);
    let other = redis.node(|_| {});
    // Another process holds the database's write lock.
    let database = rusqlite::Connection::open(place.path().join("gaggle.sqlite")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (mut nia, mut ada) = (Guest::connect(doomed.address), Guest::connect(doomed.address));
    nia.hello(1);
    ada.hello(2);
    let (made, found) = (nia.seat(FIND), ada.seat(FIND));
    let report = format!(
        r#"{{"type":"report","round":1,"scores":[{{"peer":"{}","slot":0,"score":70}},{{"peer":"{}","slot":1,"score":90}}]}}"#,
        made.peer, found.peer
    );
    for guest in [&mut nia, &mut ada] {
        guest.say(&report);
        guest.hear_until(|message| matches!(message, ServerMessage::MatchResult(_)).then_some(()));
    }
    doomed.kill();
    let mut reader = other.guest();
    reader.hello(1);
    let start = Instant::now();
    loop {
        reader.say(r#"{"type":"mine","game":"gander","mode":"team"}"#);
        let matches = reader.hear_until(|message| match message {
            ServerMessage::MyStats(mine) => Some(mine.matches.clone()),
            _ => None,
        });
        if let [stored] = &matches[..] {
            assert_eq!((stored.room, stored.score), (made.room.id, 70));
            break;
        }
        assert!(start.elapsed() < PATIENCE, "no node stored it");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn late_node_reads_snapshot_and_later_entries() {
    let redis = Redis::start();
    let first = redis.node(|_| {});
    let mut keeper = first.guest();
    keeper.hello(1);
    let made = keeper.seat(r#"{"type":"create","game":"gander","mode":"team","settings":{"lava":true}}"#);
    let mut busy = first.guest();
    busy.hello(2);
    for _ in 0..1_050 {
        busy.seat(r#"{"type":"create","game":"other","mode":"team"}"#);
        busy.say(r#"{"type":"leave"}"#);
        busy.hear_until(|message| {
            matches!(message, ServerMessage::Removed(_) | ServerMessage::Done(_)).then_some(())
        });
    }
    assert!(redis.ask("EXISTS", "snapshot") == 1, "more than 2,000 entries make a snapshot");
    let late = redis.node(|_| {});
    let mut ada = late.guest();
    ada.hello(3);
    let found = ada.seat(FIND);
    assert_eq!(found.room.id, made.room.id);
    assert_eq!(found.room.settings.as_str(), r#"{"lava":true}"#);
    keeper.hear_until(|message| joined(message, found.peer));
}

#[test]
fn redis_that_loses_everything_costs_no_reservation() {
    let mut redis = Redis::start();
    let node = redis.node(|_| {});
    let mut nia = node.guest();
    nia.hello(1);
    let made = nia.seat(FIND);
    redis.kill();
    redis.start_again();
    // All reservations are unknown, so all clients are asked to reconnect.
    assert_eq!(nia.hear_bye(), RejectionCode::Unavailable);
    let start = Instant::now();
    loop {
        let mut back = node.guest();
        back.say(&hello(1).replace('}', &format!(r#","ticket":"{}"}}"#, made.ticket)));
        let seat = back.hear_until(|message| match message {
            ServerMessage::JoinedRoom(seat) => Some(Some((seat.room.id, seat.slot))),
            ServerMessage::Refused(_) | ServerMessage::Closing(_) => Some(None),
            _ => None,
        });
        match seat {
            Some(seat) => {
                assert_eq!(seat, (made.room.id, made.slot));
                break;
            }
            // The node's own lease must be renewed first.
            None => assert!(start.elapsed() < PATIENCE, "no reservation"),
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn redis_that_lost_last_entries_leaves_nodes_equal() {
    let redis = Redis::start();
    let (first, second) = (redis.node(|_| {}), redis.node(|_| {}));
    let mut nia = first.local_slot(1);
    let kept = redis.keep();
    let mut ada = second.guest();
    ada.hello(2);
    ada.seat(r#"{"type":"create","game":"lost"}"#);
    // After the restart it gets more entries than before, before any node reads it.
    redis.lose_what_came_after(&kept);
    assert_eq!(nia.hear_bye(), RejectionCode::Unavailable);
    assert_eq!(ada.hear_bye(), RejectionCode::Unavailable);
    let third = redis.node(|_| {});
    for node in [&first, &second, &third] {
        let mut guest = node.guest();
        guest.hello(3);
        guest.say(r#"{"type":"list","game":"lost","all":true}"#);
        let count = guest.hear_until(|message| match message {
            ServerMessage::Rooms(rooms) => Some(rooms.rooms.len()),
            _ => None,
        });
        assert_eq!(count, 0, "an entry outside the log is in no directory");
    }
    // What was not lost is the same for all clients.
    let mut back = second.guest();
    back.hello(1);
    let seat = back.hear_until(|message| match message {
        ServerMessage::JoinedRoom(seat) => Some(seat.room.code),
        _ => None,
    });
    let mut ben = third.guest();
    ben.hello(4);
    assert_eq!(ben.seat(&format!(r#"{{"type":"join","code":"{seat}"}}"#)).room.members.len(), 2);
}

#[test]
fn redis_that_lost_unread_entry_leaves_no_client_waiting() {
    let redis = Redis::start();
    let node = redis.node(|_| {});
    let (mut nia, mut ada) = (node.local_slot(1), node.local_slot(2));
    // It takes the next entry for a known one, and confirms it.
    redis.leave_out_the_next_entry();
    for guest in [&mut nia, &mut ada] {
        guest.say(r#"{"type":"profile","palette":1}"#);
    }
    assert_eq!(nia.hear_bye(), RejectionCode::Unavailable);
    assert_eq!(ada.hear_bye(), RejectionCode::Unavailable);
    let mut back = node.guest();
    back.hello(1);
    back.hear_until(|message| matches!(message, ServerMessage::JoinedRoom(_)).then_some(()));
}

#[test]
fn entries_queued_for_restarted_redis_add_no_stale_member() {
    let mut redis = Redis::start();
    let node = redis.node(|_| {});
    let mut ghost = node.guest();
    ghost.hello(1);
    redis.kill();
    // The node's lease, renewed every two seconds, is queued before the request.
    std::thread::sleep(Duration::from_millis(2_500));
    ghost.say(FIND);
    redis.start_again();
    assert_eq!(ghost.hear_bye(), RejectionCode::Unavailable);
    drop(ghost);
    let mut nia = node.guest();
    nia.hello(2);
    let seat = nia.seat(FIND);
    assert!(seat.created, "no player is matched with an absent one");
}

#[test]
fn node_without_redis_is_not_ready() {
    let mut redis = Redis::start();
    let node = redis.node(|_| {});
    let ready = || get(node.address, "/ready", "");
    let wait_for = |wanted: (u16, &str)| {
        let start = Instant::now();
        while ready() != (wanted.0, wanted.1.to_string()) {
            assert!(start.elapsed() < PATIENCE, "{:?}", ready());
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    assert_eq!(ready(), (200, "ready".into()));
    redis.kill();
    wait_for((503, "not ready: the shared rooms are unreachable; check the setting `redis`"));
    assert_eq!(get(node.address, "/health", "").0, 200, "the process is healthy");
    redis.start_again();
    wait_for((200, "ready"));
}

#[test]
fn missing_redis_is_named_at_start() {
    let place = Place::new();
    let config = gaggle_server::Config {
        listen: ([127, 0, 0, 1], 0).into(),
        data: place.path().into(),
        redis: Some("redis://:password@127.0.0.1:1".into()),
        ticket_secret: Some(Secret(SECRET.into())),
        ..gaggle_server::Config::default()
    };
    let error = gaggle_server::BackgroundServer::start(config).unwrap_err().to_string();
    assert!(error.starts_with("cannot use the Redis at redis://…@127.0.0.1:1:"), "{error}");
}

/// Room and slot according to the server.
fn look(guest: &mut Guest) -> (RoomId, Option<u16>) {
    guest.say(r#"{"type":"profile","palette":1}"#);
    guest.say(r#"{"type":"look","id":99}"#);
    let me = guest.me;
    guest.hear_until(|message| match message {
        ServerMessage::Room(room) => {
            let slot = room.room.member(me.unwrap()).and_then(|member| member.slot);
            Some((room.room.id, slot.map(|slot| slot.number())))
        }
        _ => None,
    })
}

fn joined(message: &ServerMessage, peer: gaggle_kit::PeerId) -> Option<()> {
    let ServerMessage::Change(change) = message else { return None };
    let is_them =
        |event: &RoomUpdate| matches!(event, RoomUpdate::Joined(joined) if joined.member.peer == peer);
    change.events.iter().any(is_them).then_some(())
}

impl TestServer {
    fn slot_of(&self, number: u32) -> Guest {
        let mut guest = self.guest();
        guest.hello(number);
        guest.seat(FIND);
        guest
    }
}

/// A Redis process for one test.
pub(crate) struct Redis {
    child: Child,
    port: u16,
    place: Place,
}

impl Redis {
    pub(crate) fn start() -> Redis {
        Redis::start_with(&[])
    }

    /// Starts it with these environment variables.
    pub(crate) fn start_with(variables: &[(&str, &Path)]) -> Redis {
        let place = Place::new();
        // Another process may take the port first.
        let found = (0..20).find_map(|_| {
            let port = lasting_port();
            run(port, &place, variables).map(|child| (child, port))
        });
        let (child, port) = found.expect("redis-server starts");
        Redis { child, port, place }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn node(&self, change: impl FnOnce(&mut gaggle_server::Config)) -> TestServer {
        TestServer::with(|config| {
            config.redis = Some(self.url());
            config.ticket_secret = Some(Secret(SECRET.into()));
            change(config);
        })
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn start_again(&mut self) {
        self.child = run(self.port, &self.place, &[]).expect("its port is still free");
    }

    /// Appends an entry that no server wrote.
    fn spoil(&self, text: &str) {
        let client = redis::Client::open(self.url()).unwrap();
        let mut connection = client.get_connection().unwrap();
        let mut key = |ending: &str| {
            let keys: Vec<String> =
                redis::cmd("KEYS").arg(format!("*:{ending}")).query(&mut connection).unwrap();
            keys[0].clone()
        };
        let (log, head) = (key("log"), key("head"));
        let script = "
            local head = redis.call('HMGET', KEYS[2], 'at', 'time', 'name')
            local at = string.format('%.0f', head[1] + 1)
            redis.call('XADD', KEYS[1], at .. '-1',
                'w', '0000000000000001', 'n', 0, 't', head[2], 'p', head[3], 'e', ARGV[1])
            return redis.call('HSET', KEYS[2], 'at', at, 'name', head[2] .. ':0000000000000001:0')";
        let mut eval = redis::cmd("EVAL");
        let _: i64 = eval.arg(script).arg(2).arg(log).arg(head).arg(text).query(&mut connection).unwrap();
    }

    /// Makes Redis skip the next entry. Only with one writing node.
    fn leave_out_the_next_entry(&self) {
        let client = redis::Client::open(self.url()).unwrap();
        let mut connection = client.get_connection().unwrap();
        let keys: Vec<String> = redis::cmd("KEYS").arg("*:head").query(&mut connection).unwrap();
        let fields: Vec<String> = redis::cmd("HKEYS").arg(&keys[0]).query(&mut connection).unwrap();
        let node = fields.iter().find(|field| field.len() == 16).unwrap();
        let mut add = redis::cmd("HINCRBY");
        let _: u64 = add.arg(&keys[0]).arg(node).arg(1).query(&mut connection).unwrap();
    }

    /// Contents of the log and its head.
    fn keep(&self) -> Vec<(String, Vec<u8>)> {
        let client = redis::Client::open(self.url()).unwrap();
        let mut connection = client.get_connection().unwrap();
        let mut keep = |ending: &str| {
            let keys: Vec<String> =
                redis::cmd("KEYS").arg(format!("*:{ending}")).query(&mut connection).unwrap();
            let value = redis::cmd("DUMP").arg(&keys[0]).query(&mut connection).unwrap();
            (keys[0].clone(), value)
        };
        vec![keep("log"), keep("head")]
    }

    /// As after a failover: later entries are lost, and others have taken their numbers.
    fn lose_what_came_after(&self, kept: &[(String, Vec<u8>)]) {
        let client = redis::Client::open(self.url()).unwrap();
        let mut connection = client.get_connection().unwrap();
        let script = "
            local lost = tonumber(redis.call('HGET', KEYS[2], 'at'))
            for i = 1, 2 do redis.call('RESTORE', KEYS[i], 0, ARGV[i], 'REPLACE') end
            local head = redis.call('HMGET', KEYS[2], 'at', 'time', 'name')
            local at, name = head[1] + 0, head[3]
            while at <= lost do
                at = at + 1
                redis.call('XADD', KEYS[1], string.format('%.0f-1', at),
                    'w', '0000000000000001', 'n', 0, 't', head[2], 'p', name, 'e', '{\"entry\":\"tick\"}')
                name = head[2] .. ':0000000000000001:0'
            end
            return redis.call('HSET', KEYS[2], 'at', string.format('%.0f', at), 'name', name)";
        let mut eval = redis::cmd("EVAL");
        eval.arg(script).arg(2).arg(&kept[0].0).arg(&kept[1].0).arg(&kept[0].1).arg(&kept[1].1);
        let _: i64 = eval.query(&mut connection).unwrap();
    }

    /// Runs a command on the key with this ending.
    fn ask(&self, command: &str, ending: &str) -> i64 {
        let client = redis::Client::open(self.url()).unwrap();
        let mut connection = client.get_connection().unwrap();
        let keys: Vec<String> = redis::cmd("KEYS").arg(format!("*:{ending}")).query(&mut connection).unwrap();
        redis::cmd(command).arg(keys).query(&mut connection).unwrap_or(0)
    }
}

/// Starts a process, unless the port is taken.
fn run(port: u16, place: &Place, variables: &[(&str, &Path)]) -> Option<Child> {
    let mut child = Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
        .arg("--dir")
        .arg(place.path())
        .envs(variables.iter().copied())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !answers(port, child.id()) {
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        assert!(start.elapsed() < PATIENCE, "redis-server does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(child)
}

/// Whether this process answers at the port.
fn answers(port: u16, process: u32) -> bool {
    let asked = redis::Client::open(format!("redis://127.0.0.1:{port}")).and_then(|client| {
        let mut connection = client.get_connection_with_timeout(Duration::from_secs(1))?;
        redis::cmd("INFO").arg("server").query::<String>(&mut connection)
    });
    asked.is_ok_and(|info| info.contains(&format!("process_id:{process}\r\n")))
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
