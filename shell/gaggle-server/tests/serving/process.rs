//! The server as a process: stopped by a signal, and killed.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gaggle_lobby::view::{RoomUpdate, Verdict};
use gaggle_lobby::{RejectionCode, RoomId, ServerMessage};

use crate::guest::{CREATE, FIND, Guest, PATIENCE, hello};
use crate::http::get;
use crate::place::{Place, lasting_port};

/// A server process, killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Process {
    pub(crate) fn start(data: &Path, port: u16, more: &[&str]) -> Process {
        Process::start_with(data, port, more, Stdio::inherit())
    }

    /// Starts it with its log redirected.
    fn start_with(data: &Path, port: u16, more: &[&str], log: Stdio) -> Process {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gaggle-server"))
            .args(["--listen", &format!("127.0.0.1:{port}"), "--log", "warn", "--rate-limits", "false"])
            .args(["--connections-per-address", "100000", "--drain", "2s", "--local-metrics"])
            .arg("--data")
            .arg(data)
            .args(more)
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap_or_else(|| panic!("it printed {line:?}"));
        Process { address: address.parse().unwrap(), child }
    }

    /// Kills it with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    fn terminate(&mut self) {
        let status = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn stopped_server_sends_bye_and_exits_cleanly() {
    let place = Place::new();
    let mut process = Process::start(place.path(), 0, &["--drain", "1h"]);
    let mut guest = Guest::connect(process.address);
    guest.hello(1);
    guest.seat(FIND);
    process.terminate();
    let reconnect_ms = guest.hear_until(|message| match message {
        ServerMessage::Draining(drain) => Some(drain.reconnect_ms),
        _ => None,
    });
    assert_eq!(reconnect_ms, 3_600_000);
    // New clients are sent elsewhere, and the process still counts as alive.
    assert_eq!(get(process.address, "/ready", ""), (503, "not ready: the server is stopping".into()));
    assert_eq!(get(process.address, "/health", "").0, 200);
    // It would wait for an hour, but not for a client that is gone.
    drop(guest);
    assert!(process.child.wait().unwrap().success());
}

#[test]
fn remaining_member_receives_bye_before_exit() {
    let place = Place::new();
    let mut process = Process::start(place.path(), 0, &["--drain", "300ms"]);
    let mut guests: Vec<Guest> = (0..20).map(|_| Guest::connect(process.address)).collect();
    for (guest, number) in guests.iter_mut().zip(1..) {
        guest.hello(number);
        guest.seat(FIND);
    }
    process.terminate();
    for guest in &mut guests {
        guest.hear_until(|message| matches!(message, ServerMessage::Draining(_)).then_some(()));
        assert_eq!(guest.hear_bye(), RejectionCode::Draining);
    }
    assert!(process.child.wait().unwrap().success());
}

/// Output of the program with these arguments, and whether it succeeded.
fn output(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_gaggle-server")).args(arguments).output().unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn check_finds_missing_files() {
    let place = Place::new();
    let missing = place.path().join("nothing").display().to_string();
    let check = |arguments: &[&str]| output(&[arguments, &["--check"]].concat());
    assert!(check(&["--files", &place.path().display().to_string()]).0);
    let expected = format!("gaggle-server: `files` is `{missing}`, where there is no folder\n");
    assert_eq!(check(&["--files", &missing]), (false, expected));
    let expected = format!("gaggle-server: `token_keys` is `{missing}`, where there is no file\n");
    assert_eq!(
        check(&["--token-issuer", "https://issuer.example", "--token-keys", &missing]),
        (false, expected)
    );
    let file = place.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(!check(&["--data", &file.display().to_string()]).0);
}

#[test]
fn data_inside_served_files_is_refused() {
    let place = Place::new();
    let (site, data) = (place.path().join("site"), place.path().join("site/deep/data"));
    std::fs::create_dir_all(&site).unwrap();
    std::os::unix::fs::symlink(&site, place.path().join("link")).unwrap();
    let path = |name: &str| place.path().join(name).display().to_string();
    let check =
        |files: &str, data: &str| output(&["--check", "--files", &path(files), "--data", &path(data)]);
    let expect_refusal = |files: &str, data: &str| {
        let start = ["--listen", "127.0.0.1:0", "--files", &path(files), "--data", &path(data)];
        for (is_well, text) in [check(files, data), output(&start)] {
            assert!(!is_well && text.contains("would be served"), "{files}, {data}: {text}");
        }
    };
    expect_refusal("site", "site/deep/data");
    std::fs::create_dir_all(&data).unwrap();
    for (files, data) in [("link", "site/deep/data"), ("site", "link/deep/data"), ("site", "site")] {
        expect_refusal(files, data);
    }
    // The folder of files may be inside the data folder, and names may share a prefix.
    assert!(check("site", "site-data").0 && check("site", ".").0);
}

#[test]
fn damaged_database_is_rejected_with_instructions() {
    let place = Place::new();
    let path = place.path().join("gaggle.sqlite");
    Process::start(place.path(), 0, &[]).kill();
    let database = rusqlite::Connection::open(&path).unwrap();
    let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO best SELECT 'gander', 'team', randomblob(16), 0, i, 1, 'a player with a name', i FROM n";
    database.execute_batch(fill).unwrap();
    database.pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap();
    drop(database);
    let start = ["--listen", "127.0.0.1:0", "--data", &place.path().display().to_string()].map(String::from);
    let start: Vec<&str> = start.iter().map(String::as_str).collect();
    // Some pages in the middle, as after a disk failure.
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2 / 4_096 * 4_096;
    bytes[middle..middle + 4 * 4_096].fill(0xa5);
    std::fs::write(&path, &bytes).unwrap();
    let (is_well, text) = output(&start);
    assert!(!is_well && text.contains("it is damaged") && text.contains(".recover"), "{text}");
    // Truncated, as by a full disk.
    std::fs::write(&path, &bytes[..middle]).unwrap();
    let (is_well, text) = output(&start);
    assert!(!is_well && text.contains("it is damaged"), "{text}");
}

#[test]
fn low_limit_of_open_files_is_reported() {
    let place = Place::new();
    let program = format!(
        "ulimit -n 300; exec {} --listen 127.0.0.1:0 --data {}",
        env!("CARGO_BIN_EXE_gaggle-server"),
        place.path().display()
    );
    let mut child = Command::new("sh")
        .args(["-c", &program])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let log = BufReader::new(child.stderr.take().unwrap());
    let said = log
        .lines()
        .map_while(Result::ok)
        .find(|line| line.contains("too few files") || line.contains("serving"));
    child.kill().unwrap();
    child.wait().unwrap();
    let said = said.unwrap();
    assert!(said.contains("files=300") && said.contains("needed=33160"), "{said}");
}

#[test]
fn log_lines_name_player_room_and_connection() {
    let place = Place::new();
    let more = ["--log", "debug", "--log-format", "json"];
    let mut process = Process::start_with(place.path(), 0, &more, Stdio::piped());
    let log = BufReader::new(process.child.stderr.take().unwrap());
    let [mut nia, mut ada] = [1, 2].map(|number| {
        let mut guest = Guest::connect(process.address);
        let player = guest.hello(number).player.to_string();
        (guest, player)
    });
    let made = nia.0.seat(CREATE);
    let found = ada.0.seat(&format!(r#"{{"type":"join","code":"{}"}}"#, made.room.code));
    ada.0.say(r#"{"type":"finish"}"#);
    ada.0.hear_until(|message| matches!(message, ServerMessage::Refused(_)).then_some(()));
    nia.0.say(&format!(r#"{{"type":"kick","peer":"{}"}}"#, found.peer));
    ada.0.hear_until(|message| matches!(message, ServerMessage::Removed(_)).then_some(()));
    drop(nia.0);
    let room = made.room.id.to_string();
    let expected = [
        ("seated", &nia.1, ("created", "true")),
        ("seated", &ada.1, ("created", "false")),
        ("refused", &ada.1, ("code", "not-host")),
        ("left", &ada.1, ("reason", "kicked")),
        ("away", &nia.1, ("level", "INFO")),
    ];
    let mut lines =
        log.lines().map(|line| serde_json::from_str::<serde_json::Value>(&line.unwrap()).unwrap());
    let mut connections = std::collections::BTreeMap::new();
    for (message, player, (field, value)) in expected {
        let line = lines.find(|line| line["message"] == message && line["player"] == player.as_str());
        let line = line.unwrap_or_else(|| panic!("no line about {message}"));
        assert_eq!(line["room"], room.as_str(), "{line}");
        assert_eq!(line[field].to_string().trim_matches('"'), value, "{line}");
        let connection = line["connection"].as_u64().unwrap();
        assert_eq!(*connections.entry(player).or_insert(connection), connection, "{line}");
    }
    assert_eq!(connections.len(), 2);
}

#[test]
fn wrong_operator_tokens_are_logged_until_they_are_delayed() {
    let place = Place::new();
    let more = ["--log-format", "json", "--operator-token", "Zk8vQ2xW5nT7pLr3Jy6Hc9Bd"];
    let mut process = Process::start_with(place.path(), 0, &more, Stdio::piped());
    let log = BufReader::new(process.child.stderr.take().unwrap());
    let show = |token: &str| {
        get(process.address, "/operator/state", &format!("Authorization: Bearer {token}\r\n")).0
    };
    let began = Instant::now();
    let answered: Vec<u16> = (0..20).map(|nth| show(&format!("guess-{nth}"))).collect();
    process.kill();
    let lines = log.lines().map(|line| line.unwrap()).filter(|line| line.contains("operator"));
    let lines: Vec<serde_json::Value> = lines.map(|line| serde_json::from_str(&line).unwrap()).collect();
    // Five at once and one every ten seconds are checked. The others are neither checked nor
    // logged.
    let looked_at = answered.iter().filter(|status| **status == 401).count();
    assert!((5..=6 + began.elapsed().as_secs() as usize / 10).contains(&looked_at), "{answered:?}");
    assert!(answered.iter().all(|status| [401, 429].contains(status)), "{answered:?}");
    assert_eq!(lines.len(), looked_at, "{lines:?}");
    for (line, nth) in lines.iter().zip(1_u64..) {
        assert_eq!((&line["level"], &line["wrong"]), (&"WARN".into(), &nth.into()), "{line}");
        assert_eq!(line["client"], "127.0.0.1", "{line}");
        assert!(!line.to_string().contains("guess"), "tokens stay out of the log: {line}");
    }
}

#[test]
fn unnamed_local_proxy_is_logged_once() {
    let place = Place::new();
    let more = ["--log-format", "json"];
    let mut process = Process::start_with(place.path(), 0, &more, Stdio::piped());
    let log = BufReader::new(process.child.stderr.take().unwrap());
    for forwarded in ["", "X-Forwarded-For: 203.0.113.9\r\n", "X-Forwarded-For: 203.0.113.9\r\n"] {
        assert_eq!(get(process.address, "/health", forwarded).0, 200);
    }
    process.kill();
    let lines: Vec<String> =
        log.lines().map(Result::unwrap).filter(|line| line.contains("`proxies`")).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("`origins`") && lines[0].contains(r#""any_origin":true"#), "{lines:?}");
}

#[test]
fn server_that_cannot_store_results_is_not_ready() {
    let place = Place::new();
    let process = Process::start(place.path(), 0, &[]);
    let address = process.address;
    let ready = || get(address, "/ready", "");
    let play = |number| {
        let (seats, results) = (Mutex::default(), Mutex::default());
        play_a_match(address, number, &seats, &results)
    };
    play(1).unwrap();
    assert_eq!(ready(), (200, "ready".into()));
    let database = rusqlite::Connection::open(place.path().join("gaggle.sqlite")).unwrap();
    database.busy_timeout(PATIENCE).unwrap();
    database.execute_batch("ALTER TABLE matches RENAME TO elsewhere").unwrap();
    let start = Instant::now();
    std::thread::scope(|scope| {
        // Until it is stored, no client is told that it is.
        scope.spawn(|| play(11));
        while ready() != (503, "not ready: results cannot be stored; check the setting `data`".into()) {
            assert!(start.elapsed() < PATIENCE, "{:?}", ready());
            std::thread::sleep(Duration::from_millis(50));
        }
        database.execute_batch("ALTER TABLE elsewhere RENAME TO matches").unwrap();
        play(21).unwrap();
        assert_eq!(ready(), (200, "ready".into()));
        drop(process);
    });
}

#[test]
fn command_line_errors_are_one_line() {
    let output = Command::new(env!("CARGO_BIN_EXE_gaggle-server"))
        .args(["--reconnect-grace", "soon"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        text,
        "gaggle-server: --reconnect-grace: `reconnect_grace` cannot be `soon`; give a time, as 250ms, 10s, 5m or 2h\n"
    );
}

#[test]
fn server_killed_in_storm_keeps_all_it_confirmed() {
    let place = Place::new();
    let mut process = Process::start(place.path(), lasting_port(), &[]);
    let address = process.address;
    // Confirmed reservations and stored results are recorded here.
    let seats: Mutex<Vec<Acknowledged>> = Mutex::default();
    let results: Mutex<Vec<(RoomId, String)>> = Mutex::default();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (seats, results, stop) = (&seats, &results, &stop);
            scope.spawn(move || {
                let mut number = thread * 100_000;
                while !stop.load(Ordering::Relaxed) {
                    number += 2;
                    let _ = play_a_match(address, number, seats, results);
                }
            });
        }
        let start = Instant::now();
        while results.lock().unwrap().len() < 60 && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
        }
        process.kill();
        stop.store(true, Ordering::Relaxed);
    });
    let (seats, results) = (seats.into_inner().unwrap(), results.into_inner().unwrap());
    assert!(results.len() >= 60, "only {} results before the kill", results.len());
    let process = Process::start(place.path(), address.port(), &[]);
    // Every confirmed result is stored once.
    for (room, key) in &results {
        let mut guest = Guest::connect(process.address);
        guest.say(&format!(r#"{{"type":"hello","key":"{key}"}}"#));
        guest.say(r#"{"type":"mine","game":"gander","mode":"team"}"#);
        let count = guest.hear_until(|message| match message {
            ServerMessage::MyStats(mine) => Some(mine.matches.iter().filter(|m| m.room == *room).count()),
            _ => None,
        });
        assert_eq!(count, 1, "the result of {room:?} for {key}");
    }
    // Every confirmed reservation is resumed.
    assert!(seats.len() >= 120);
    for (number, room, slot, ticket) in &seats {
        let mut guest = Guest::connect(process.address);
        guest.say(&hello(*number).replace('}', &format!(r#","ticket":"{ticket}"}}"#)));
        let seat = guest.hear_until(|message| match message {
            ServerMessage::JoinedRoom(seat) => Some((seat.room.id, seat.slot.map(|slot| slot.number()))),
            _ => None,
        });
        assert_eq!(seat, (*room, *slot));
    }
}

#[test]
fn report_to_killed_server_counts_at_next_one() {
    let place = Place::new();
    let more = ["--reconnect-grace", "2s"];
    let mut process = Process::start(place.path(), lasting_port(), &more);
    let address = process.address;
    let seats = Mutex::default();
    let create = r#"{"type":"create","game":"gander","mode":"team","drop_in":true}"#;
    let mut host = seated(address, 1, create, &seats).unwrap();
    let other = seated(address, 2, &format!(r#"{{"type":"join","code":"{}"}}"#, host.2), &seats).unwrap();
    let report = format!(
        r#"{{"type":"report","round":1,"scores":[{{"peer":"{}","slot":0,"score":9}},{{"peer":"{}","slot":1,"score":7}}]}}"#,
        host.1, other.1
    );
    let answer = |guest: &mut Guest| {
        guest.say(&report);
        guest.hear_until(|message| match message {
            ServerMessage::MatchResult(result) => Some(Ok(result.verdict)),
            ServerMessage::Refused(refused) => Some(Err(refused.code)),
            _ => None,
        })
    };
    assert_eq!(answer(&mut host.0), Ok(Verdict::Pending));
    process.kill();
    let process = Process::start(place.path(), address.port(), &more);
    let back = |(number, _, _, ticket): &Acknowledged| {
        let mut guest = Guest::connect(process.address);
        guest.say(&hello(*number).replace('}', &format!(r#","ticket":"{ticket}"}}"#)));
        guest.hear_until(|message| matches!(message, ServerMessage::JoinedRoom(_)).then_some(()));
        guest
    };
    let seats = seats.into_inner().unwrap();
    let mut host = back(&seats[0]);
    assert_eq!(answer(&mut host), Err(RejectionCode::Unavailable), "the other one is still returning");
    let mut other = back(&seats[1]);
    for guest in [&mut host, &mut other] {
        assert_eq!(answer(guest), Ok(Verdict::Pending));
    }
    let verdict = host.hear_until(|message| match message {
        ServerMessage::Change(change) => change.events.iter().find_map(|event| match event {
            RoomUpdate::ResultDecided(result) => Some(result.verdict),
            _ => None,
        }),
        _ => None,
    });
    assert_eq!(verdict, Verdict::Claimed);
}

/// A confirmed reservation: client, room, slot and ticket.
type Acknowledged = (u32, RoomId, Option<u16>, String);

/// Two players meet in a room of their own, play, report, and learn that the result is stored.
fn play_a_match(
    address: SocketAddr,
    number: u32,
    seats: &Mutex<Vec<Acknowledged>>,
    results: &Mutex<Vec<(RoomId, String)>>,
) -> Result<(), String> {
    let mut host =
        seated(address, number, r#"{"type":"create","game":"gander","mode":"team","drop_in":true}"#, seats)?;
    let code = host.2;
    let mut other = seated(address, number + 1, &format!(r#"{{"type":"join","code":"{code}"}}"#), seats)?;
    let report = format!(
        r#"{{"type":"report","round":1,"scores":[{{"peer":"{}","slot":0,"score":{}}},{{"peer":"{}","slot":1,"score":7}}]}}"#,
        host.1,
        number % 900,
        other.1
    );
    for guest in [&mut host.0, &mut other.0] {
        guest.socket.send(tungstenite::Message::text(report.as_str())).map_err(|error| error.to_string())?;
    }
    loop {
        let message = host.0.try_hear().map_err(|error| error.to_string())?;
        let ServerMessage::Change(change) = message else { continue };
        let decided = change.events.iter().any(
            |event| matches!(event, RoomUpdate::ResultDecided(result) if result.verdict == Verdict::Claimed),
        );
        if decided {
            let key = format!("key-of-guest-number-{number}");
            results.lock().unwrap().push((host.3, key));
            return Ok(());
        }
    }
}

type SeatedGuest = (Guest, gaggle_kit::PeerId, gaggle_lobby::RoomCode, RoomId);

fn seated(
    address: SocketAddr,
    number: u32,
    wish: &str,
    seats: &Mutex<Vec<Acknowledged>>,
) -> Result<SeatedGuest, String> {
    let mut guest = Guest::try_connect(address)?;
    for text in [hello(number).as_str(), wish] {
        guest.socket.send(tungstenite::Message::text(text)).map_err(|error| error.to_string())?;
    }
    loop {
        if let ServerMessage::JoinedRoom(seat) = guest.try_hear().map_err(|error| error.to_string())? {
            let slot = seat.slot.map(|slot| slot.number());
            seats.lock().unwrap().push((number, seat.room.id, slot, seat.ticket.clone()));
            return Ok((guest, seat.peer, seat.room.code, seat.room.id));
        }
    }
}
