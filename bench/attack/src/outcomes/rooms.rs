//! Outcomes of attacks on rooms: who meets whom, who gets in. Absent: scores.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::client::{Guest, Target, honest, hostile, text};
use crate::samples::Samples;

const HOSTS: usize = 8;
const FIND: &str = r#"{"type":"find","game":"siege","mode":"team","switch":true}"#;
/// Time that two players must share a room to count as met.
const TOGETHER: Duration = Duration::from_millis(300);
/// Time after which two players count as not met.
const GIVE_UP: Duration = Duration::from_secs(6);

/// Behavior of the hosts of open rooms toward players that `find` brings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hosts {
    /// They kick them. All eight hosts share an address.
    Kick,
    /// They do nothing. Each host has an address of its own.
    Idle,
}

/// Time that pairs of honest players take to meet while eight hosts offer open rooms.
pub(super) fn meetings(target: &Target, pairs: usize, kind: Hosts) -> Result<Samples, String> {
    let over = AtomicBool::new(false);
    let mut hosts = Vec::new();
    for nth in 0..HOSTS {
        let from = hostile(if kind == Hosts::Kick { 0 } else { nth });
        let mut host = Guest::connect(from, target, &format!("host-of-nothing-{nth:06}"))?;
        host.ask(r#"{"type":"create","game":"siege","mode":"team"}"#, "joined")?;
        hosts.push(host);
    }
    std::thread::scope(|scope| {
        let kicking: Vec<_> =
            hosts.into_iter().map(|host| scope.spawn(|| attend(host, kind, &over))).collect();
        let met: Vec<_> = (0..pairs).map(|pair| meet(target, pair)).collect();
        over.store(true, Ordering::Relaxed);
        kicking.into_iter().for_each(|thread| _ = thread.join());
        let mut samples = Samples::default();
        for met in met {
            samples.add(met?);
        }
        Ok(samples)
    })
}

/// Reads the room's events until all is over, and kicks each joining player if hosts do.
fn attend(mut host: Guest, kind: Hosts, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        let Some(heard) = host.hear_within(Duration::from_millis(50)) else { continue };
        for event in heard["events"].as_array().into_iter().flatten() {
            let peer = text(&event["member"]["peer"]);
            if kind == Hosts::Kick && event["event"] == "joined" {
                let _ = host.say(&format!(r#"{{"type":"kick","peer":"{peer}"}}"#));
            }
        }
    }
}

/// One player of a pair.
struct Seeker {
    guest: Guest,
    room: Option<String>,
    since: Instant,
    /// Time of the next `find`, after one was rejected as too frequent.
    retry: Option<Instant>,
}

impl Seeker {
    fn come(target: &Target, nth: usize) -> Result<Seeker, String> {
        let guest = Guest::connect(honest(2_000 + nth), target, &format!("honest-seeker-{nth:06}"))?;
        Ok(Seeker { guest, room: None, since: Instant::now(), retry: Some(Instant::now()) })
    }

    fn step(&mut self) -> Result<(), String> {
        if self.retry.is_some_and(|at| at <= Instant::now()) {
            self.retry = None;
            self.guest.say(FIND)?;
        }
        let Some(heard) = self.guest.hear_within(Duration::from_millis(5)) else { return Ok(()) };
        match heard["type"].as_str() {
            Some("joined") => {
                self.room = Some(text(&heard["room"]["id"]));
                self.since = Instant::now();
            }
            Some("left") => {
                self.room = None;
                self.retry = Some(Instant::now());
            }
            Some("error") => {
                let wait = heard["retry_ms"].as_u64().unwrap_or(100);
                self.retry = Some(Instant::now() + Duration::from_millis(wait));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Time until two players share a room and stay.
fn meet(target: &Target, pair: usize) -> Result<Duration, String> {
    let began = Instant::now();
    let mut two = [Seeker::come(target, pair * 2)?, Seeker::come(target, pair * 2 + 1)?];
    loop {
        two.iter_mut().try_for_each(Seeker::step)?;
        let is_together = two[0].room.is_some() && two[0].room == two[1].room;
        let since = two[0].since.max(two[1].since);
        if is_together && since.elapsed() >= TOGETHER {
            // Reservations of earlier pairs would fill the rooms of this one.
            two.iter_mut().try_for_each(|one| one.guest.say(r#"{"type":"leave"}"#))?;
            return Ok(since - began);
        }
        // A pair in two rooms searches again, as players do who are alone.
        if !is_together && two.iter().all(|one| one.room.is_some()) && since.elapsed() >= 2 * TOGETHER {
            two[1].room = None;
            two[1].retry = Some(Instant::now());
        }
        if began.elapsed() > GIVE_UP {
            two.iter_mut().try_for_each(|one| one.guest.say(r#"{"type":"leave"}"#))?;
            return Ok(GIVE_UP);
        }
    }
}

/// Number of strangers who could watch a private room after its host had locked it.
pub(super) fn watch_locked(target: &Target) -> Result<f64, String> {
    let mut host = Guest::connect(honest(0), target, "host-of-a-private-room")?;
    let create = r#"{"type":"create","game":"siege","mode":"team","private":true}"#;
    let room = host.ask(create, "joined")?["room"].clone();
    let watch = |field: &str, value: String| format!(r#"{{"type":"join","{field}":"{value}","watch":true}}"#);
    let by_code = watch("code", text(&room["code"]));
    // Control: before the lock a friend with the code may watch, so what follows fails for the lock
    // alone.
    let mut friend = Guest::connect(honest(1), target, "friend-with-the-code")?;
    friend.ask(&by_code, "joined")?;
    host.ask(r#"{"type":"access","id":1,"locked":true}"#, "ok")?;
    let mut let_in = 0;
    for (nth, said) in [by_code, watch("room", text(&room["id"]))].iter().enumerate() {
        let mut stranger = Guest::connect(hostile(nth), target, &format!("stranger-at-the-door-{nth}"))?;
        let_in += u32::from(stranger.ask(said, "joined").is_ok());
    }
    Ok(f64::from(let_in))
}

/// Number of ended rooms that a ticket revived.
pub(super) fn revive_ended(target: &Target) -> Result<f64, String> {
    let key = "keeper-of-old-tickets";
    let mut guest = Guest::connect(hostile(9), target, key)?;
    let create = r#"{"type":"create","game":"siege","mode":"team"}"#;
    let joined = guest.ask(create, "joined")?;
    let (ticket, room) = (text(&joined["ticket"]), text(&joined["room"]["id"]));
    guest.ask(r#"{"type":"leave","id":1}"#, "left")?;
    drop(guest);
    let hello = format!(r#"{{"type":"hello","key":"{key}","ticket":"{ticket}"}}"#);
    let mut back = Guest::connect_with(hostile(9), target, &hello)?;
    back.say(r#"{"type":"look","id":2}"#)?;
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(2) {
        let heard = back.hear()?;
        if text(&heard["room"]["id"]) == room {
            return Ok(1.0);
        }
        if heard["id"] == 2 {
            break;
        }
    }
    Ok(0.0)
}
