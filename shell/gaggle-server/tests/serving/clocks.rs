//! A Redis whose clock is set by a day in either direction while a lobby uses it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use gaggle_lobby::view::{RoomUpdate, Status};
use gaggle_lobby::{RoomId, ServerMessage};

use crate::guest::Guest;
use crate::place::Place;
use crate::shared::Redis;

const DAY: i64 = 86_400;
/// Shifts the wall clock of the process it is loaded into by the seconds in a file.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long ahead(void) {
    long seconds = 0;
    FILE *file = fopen(getenv("CLOCK_AHEAD"), "r");
    if (file) { if (fscanf(file, "%ld", &seconds) != 1) seconds = 0; fclose(file); }
    return seconds;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int (*real)(struct timeval *, void *) = dlsym(RTLD_NEXT, "gettimeofday");
    int result = real(now, zone);
    now->tv_sec += ahead();
    return result;
}
int clock_gettime(clockid_t clock, struct timespec *now) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (clock == CLOCK_REALTIME) now->tv_sec += ahead();
    return result;
}
"#;

#[test]
fn step_of_redis_clock_moves_no_room_lease_or_countdown() {
    let place = Place::new();
    let ahead = place.path().join("ahead");
    std::fs::write(&ahead, "0").unwrap();
    let shim = build_shim(place.path());
    let redis = Redis::start_with(&[("LD_PRELOAD", &shim), ("CLOCK_AHEAD", &ahead)]);
    let clock = || {
        let client = redis::Client::open(redis.url()).unwrap();
        let mut connection = client.get_connection().unwrap();
        redis::cmd("TIME").query::<(i64, i64)>(&mut connection).unwrap().0
    };
    let nodes = [redis.node(|_| {}), redis.node(|_| {})];
    let (mut nia, mut ada) = (nodes[0].guest(), nodes[1].guest());
    nia.hello(1);
    ada.hello(2);
    let made = nia.seat(r#"{"type":"create","game":"gander","mode":"team"}"#);
    ada.seat(&format!(r#"{{"type":"join","code":"{}"}}"#, made.room.code));
    for (step, round) in [(DAY, 1), (-DAY, 2), (0, 3)] {
        let before = clock();
        std::fs::write(&ahead, step.to_string()).unwrap();
        assert!((clock() - before).abs() > DAY / 2, "the clock was set");
        countdown_takes_its_time(&mut nia, &mut ada, round);
        assert_eq!(room(&mut nia), (made.room.id, 2));
        assert_eq!(room(&mut ada), (made.room.id, 2));
    }
    // A node that starts now takes the lobby's time.
    std::fs::write(&ahead, DAY.to_string()).unwrap();
    let third = redis.node(|_| {});
    let mut ben = third.guest();
    ben.hello(3);
    nia.say(r#"{"type":"finish"}"#);
    let watch = format!(r#"{{"type":"join","code":"{}","watch":true}}"#, made.room.code);
    assert_eq!(ben.seat(&watch).room.members.len(), 3);
}

/// A match starts with a countdown of one second, which lasts about that long.
fn countdown_takes_its_time(nia: &mut Guest, ada: &mut Guest, round: u32) {
    ada.say(r#"{"type":"ready","ready":true}"#);
    nia.hear_until(|message| event(message, |event| matches!(event, RoomUpdate::ReadyChanged(_))));
    let start = Instant::now();
    nia.say(r#"{"type":"start","countdown_ms":1000}"#);
    let status = |status: Status| move |event: &RoomUpdate| matches!(event, RoomUpdate::StatusChanged(now) if (now.status, now.round) == (status, round));
    nia.hear_until(|message| event(message, status(Status::Starting)));
    nia.hear_until(|message| event(message, status(Status::Playing)));
    let took = start.elapsed();
    assert!((Duration::from_millis(900)..Duration::from_secs(20)).contains(&took), "{took:?}");
    nia.say(r#"{"type":"finish"}"#);
    nia.hear_until(|message| event(message, status(Status::Finished)));
}

fn event(message: &ServerMessage, is_it: impl Fn(&RoomUpdate) -> bool) -> Option<()> {
    match message {
        ServerMessage::Change(change) => change.events.iter().any(is_it).then_some(()),
        ServerMessage::Removed(_) | ServerMessage::Closing(_) | ServerMessage::Refused(_) => {
            panic!("{message:?}")
        }
        _ => None,
    }
}

/// Room of a member, and the number of its connected members.
fn room(guest: &mut Guest) -> (RoomId, usize) {
    guest.say(r#"{"type":"look"}"#);
    guest.hear_until(|message| match message {
        ServerMessage::Room(room) => {
            let here = room.room.members.iter().filter(|member| !member.away).count();
            Some((room.room.id, here))
        }
        ServerMessage::Removed(_) | ServerMessage::Closing(_) => panic!("{message:?}"),
        _ => None,
    })
}

fn build_shim(place: &Path) -> PathBuf {
    let (source, shim) = (place.join("shim.c"), place.join("shim.so"));
    std::fs::write(&source, SHIM).unwrap();
    // The compiler that links Rust programs.
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&shim).arg(&source).status().unwrap();
    assert!(built.success());
    shim
}
