//! Six rooms of skein in virtual time: no frame waits while the delay covers the network, all wait
//! for a peer that stops, and none ever differs.

use std::collections::{BTreeMap, BTreeSet};

use gaggle::kit::state_hash;
use gaggle::link::sim::{Chance, Conditions};
use gaggle::testing::{SimLobby, SimPlatform};
use gaggle::{GameRoom, Micros, Phase, RoomConfig, RoomEvent, TimelineConfig};
use skein::bots::{Bot, Strength};
use skein::{Flight, SEATS, Seat, Setup, Skein, timeline_config};

type Room = GameRoom<Skein, SimPlatform>;

/// Time between two updates of a slow peer: each makes up for ten ticks at most, half of those
/// that are due.
const HALF_SPEED: Micros = Micros::from_millis(333);
/// Frames from one comparison of states to the next.
const COMPARED: u32 = 32;

/// Six peers, each with a bot that plays its slot.
struct Company {
    net: SimLobby,
    rooms: Vec<Option<Room>>,
    bots: Vec<Bot>,
    events: Vec<Vec<RoomEvent>>,
    /// Hashes of all peers' states, by frame.
    hashes: BTreeMap<u32, BTreeSet<u64>>,
    /// States that were compared.
    compared: u64,
    asleep: Option<usize>,
    /// A peer that computes half of its ticks, and when it did last.
    slow: Option<(usize, Micros)>,
}

impl Company {
    /// All of them in one match with these settings, for two seconds already.
    fn of(config: &TimelineConfig, seed: u64, conditions: Conditions) -> Company {
        let net = SimLobby::new(SEATS, seed, conditions);
        let rooms = (0..SEATS).map(|peer| {
            let room = RoomConfig::new("skein", SEATS as u8).expect("small letters");
            let mut room = room.with_engine(config.clone());
            room.engine.game_fingerprint = config.game_fingerprint;
            room.lobby = SimLobby::client_config(peer);
            // Spare geese for as long as a test lasts.
            let setup = Setup { stage: 2, spares: 9, ..Setup::default() };
            let game = Skein::new(setup, seed);
            Some(GameRoom::open(Micros::ZERO, room, net.platform(peer), game, peer as u64).expect("in range"))
        });
        let rooms = rooms.collect();
        let bots = (0..SEATS).map(|seat| Bot::new(seat, Strength::Steady, seed)).collect();
        let (events, hashes) = (vec![Vec::new(); SEATS], BTreeMap::new());
        let mut company = Company { net, rooms, bots, events, hashes, compared: 0, asleep: None, slow: None };
        for _ in 0..60 {
            company.run_ms(250);
            if (0..SEATS).all(|peer| company.is_together(peer)) {
                company.run_ms(2_000);
                company.hashes.clear();
                company.compared = 0;
                company.events.iter_mut().for_each(Vec::clear);
                return company;
            }
        }
        panic!("six are not together: {:?}", company.events);
    }

    fn room(&self, peer: usize) -> &Room {
        self.rooms[peer].as_ref().expect("the room is open")
    }

    fn is_together(&self, peer: usize) -> bool {
        let room = self.room(peer);
        room.phase() == Phase::Playing && room.game().persons() == SEATS
    }

    fn run_ms(&mut self, ms: u64) {
        let Company { net, rooms, bots, events, hashes, compared, asleep, slow } = self;
        net.run_for(Micros::from_millis(ms), |peer, now| {
            let Some(room) = rooms[peer].as_mut().filter(|_| *asleep != Some(peer)) else { return };
            if let Some((_, last)) = slow.as_mut().filter(|(slow, _)| *slow == peer) {
                if now.since(*last) < HALF_SPEED {
                    return;
                }
                *last = now;
            }
            if let Some(slot) = room.local_slots().lowest() {
                if bots[peer].seat() != slot.index() {
                    bots[peer] = Bot::new(slot.index(), Strength::Steady, peer as u64);
                }
                let pad = bots[peer].play(room.game());
                room.set_input(0, pad);
            }
            let ticks = room.update(now);
            events[peer].extend(std::iter::from_fn(|| room.poll_event()));
            let game = room.game();
            if ticks > 0 && game.frame.is_multiple_of(COMPARED) {
                hashes.entry(game.frame).or_default().insert(state_hash(game));
                *compared += 1;
            }
        });
    }

    fn stalls(&self) -> Vec<u64> {
        self.rooms.iter().map(|room| room.as_ref().map_or(0, |room| room.stats().stalled_ticks)).collect()
    }

    fn frames(&self) -> Vec<u32> {
        self.rooms.iter().map(|room| room.as_ref().map_or(0, |room| room.game().frame)).collect()
    }

    fn delays(&self) -> Vec<u32> {
        self.rooms.iter().flatten().map(|room| room.stats().input_delay_frames).collect()
    }

    fn bytes(&self) -> Vec<u64> {
        self.rooms.iter().flatten().map(|room| room.stats().bytes_sent).collect()
    }

    fn count(&self, what: impl Fn(&RoomEvent) -> bool) -> usize {
        self.events.iter().flatten().filter(|event| what(event)).count()
    }

    /// All had one state in every frame that was compared, at least so many times, and no frame
    /// was simulated twice.
    fn expect_equal(&self, times: u64) {
        let different = self.hashes.values().filter(|hashes| hashes.len() > 1).count();
        assert!(different == 0, "{different} of {} frames differ", self.hashes.len());
        assert!(self.compared >= times, "only {} states were compared", self.compared);
        let desync = |event: &RoomEvent| matches!(event, RoomEvent::DesyncDetected { .. });
        assert_eq!(self.count(desync), 0);
        for room in self.rooms.iter().flatten() {
            assert_eq!((room.stats().rollbacks, room.stats().frames_resimulated), (0, 0));
        }
    }
}

fn sums(now: &[u64], then: &[u64]) -> u64 {
    now.iter().zip(then).map(|(now, then)| now - then).sum()
}

/// Six machines, 100 ms each way and a delay of 8 frames.
fn six_far_apart_play(minutes: u64) {
    let config = TimelineConfig { input_delay_frames: 8, input_delay_range: (8, 8), ..timeline_config() };
    let mut company = Company::of(&config, 26, Conditions::latency_ms(100));
    assert_eq!(company.delays(), [8; SEATS]);
    let (stalls, frames) = (company.stalls(), company.frames());
    company.run_ms(60_000 * minutes);
    assert_eq!(company.stalls(), stalls, "no frame waits");
    let played = company.frames()[0] - frames[0];
    assert!(u64::from(played) >= 3_560 * minutes, "{played} frames in {minutes} minutes");
    company.expect_equal(600 * minutes);
    assert!((0..SEATS).all(|peer| company.is_together(peer)));
    let scores: Vec<u32> =
        company.room(0).game().geese[..SEATS].iter().map(|goose| goose.tally.score).collect();
    assert!(scores.iter().all(|score| *score > 0), "a flight without anything in it: {scores:?}");
}

#[test]
fn six_far_apart_play_without_wait() {
    six_far_apart_play(2);
}

#[test]
#[ignore = "long: GAGGLE_LONG=1"]
fn six_far_apart_play_ten_minutes_without_wait() {
    six_far_apart_play(10);
}

#[test]
fn peer_that_stops_makes_all_wait_and_none_differs() {
    let mut company = Company::of(&timeline_config(), 27, Conditions::latency_ms(40));
    company.run_ms(3_000);
    let (stalls, frames) = (company.stalls(), company.frames());
    company.asleep = Some(3);
    company.run_ms(700);
    let waiting: Vec<usize> = (0..SEATS).filter(|peer| company.room(*peer).stall().is_some()).collect();
    assert_eq!(waiting, [0, 1, 2, 4, 5], "all but the one that stopped");
    for peer in waiting {
        let room = company.room(peer);
        let names: Vec<String> = room
            .members()
            .into_iter()
            .filter(|member| room.stall().is_some_and(|stall| stall.waiting_for.contains(&member.peer)))
            .map(|member| member.name)
            .collect();
        assert_eq!(names, ["Peer 3"]);
    }
    let interrupted = |event: &RoomEvent| matches!(event, RoomEvent::PlayerInterrupted { .. });
    assert_eq!(company.count(interrupted), 5, "after half a second they read its name");
    company.run_ms(300);
    company.asleep = None;
    company.run_ms(4_000);
    for peer in [0, 1, 2, 4, 5] {
        let stalled = company.stalls()[peer] - stalls[peer];
        assert!((30..=70).contains(&stalled), "{peer} waited {stalled} ticks for one second");
    }
    let played: Vec<u32> = company.frames().iter().zip(&frames).map(|(now, then)| now - then).collect();
    assert!(played.iter().all(|played| *played >= 230), "all play on: {played:?}");
    let left = |event: &RoomEvent| matches!(event, RoomEvent::PlayerLeft { .. });
    assert_eq!(company.count(left), 0, "a second is no reason to leave");
    assert!((0..SEATS).all(|peer| company.is_together(peer)));
    company.expect_equal(6 * 100 / u64::from(COMPARED) * 2);
}

#[test]
fn crashed_peer_is_flown_by_autopilot_after_two_seconds() {
    let mut company = Company::of(&timeline_config(), 28, Conditions::latency_ms(40));
    company.run_ms(2_000);
    let slot = company.room(4).local_slots().lowest().expect("it plays").index();
    let score = company.room(0).game().geese[slot].tally.score;
    let crashed = company.rooms[4].take();
    company.net.crash(4, crashed);
    company.run_ms(1_700);
    let goose = company.room(0).game().geese[slot];
    assert_eq!(goose.seat, Seat::Person, "all wait for two seconds");
    let frame = company.frames()[0];
    company.run_ms(100);
    assert_eq!(company.frames()[0], frame);
    company.run_ms(900);
    for peer in [0, 1, 2, 3, 5] {
        let goose = company.room(peer).game().geese[slot];
        assert_eq!(goose.seat, Seat::Away, "peer {peer}: it flies by itself");
        assert!(goose.tally.score >= score);
        assert!(company.frames()[peer] > frame + 20, "peer {peer} plays on");
    }
    let before = company.room(0).game().geese[slot];
    company.run_ms(1_500);
    let after = company.room(0).game().geese[slot];
    let flew = before.flight != Flight::Flying || before.spot() != after.spot();
    assert!(flew, "the autopilot steers: {before:?}");
    company.expect_equal(5 * 5);
}

/// One machine computes half of its frames: it is named, taken off, and the others play on.
#[test]
fn half_speed_peer_is_taken_off_and_flown_by_autopilot() {
    let mut company = Company::of(&timeline_config(), 29, Conditions::latency_ms(40));
    let slot = company.room(5).local_slots().lowest().expect("it plays").index();
    company.slow = Some((5, Micros::ZERO));
    let (mut seconds, before) = (0, company.frames()[0]);
    while company.room(0).game().geese[slot].seat == Seat::Person {
        company.run_ms(1_000);
        seconds += 1;
        assert!(seconds <= 15, "all wait for it: {:?}", company.frames());
    }
    let held = company.frames()[0] - before;
    assert!(held < 50 * seconds, "{held} frames in {seconds} s: it was never slow");
    // Those who wait most read its name first, and it is off before all have waited that long.
    let is_told = |local: bool| {
        move |event: &&RoomEvent| match event {
            RoomEvent::SlowPlayer { name, is_local, .. } => *is_local == local && name == "Peer 5",
            _ => false,
        }
    };
    assert_eq!(company.events[5].iter().filter(is_told(true)).count(), 1, "{:?}", company.events[5]);
    let named = company.events[..5].iter().filter(|events| events.iter().any(|event| is_told(false)(&event)));
    assert!(named.count() > 0, "{:?}", company.events);
    let left = |event: &RoomEvent| matches!(event, RoomEvent::PlayerLeft { .. });
    assert_eq!(company.count(left), 5, "all others see it go: {:?}", company.events);
    let frames = company.frames();
    company.run_ms(60_000);
    for (peer, (now, then)) in company.frames().iter().zip(&frames).enumerate().take(5) {
        let played = now - then;
        assert!(played >= 52 * 60, "{peer} played {played} frames in a minute");
    }
    let desync = |event: &RoomEvent| matches!(event, RoomEvent::DesyncDetected { .. });
    assert_eq!(company.count(desync), 0);
}

/// Round trips of 40 to 160 ms between six players, jitter 20 ms, loss 3 %. Returns the slowest
/// way between two of them in milliseconds.
fn mixed_links(company: &mut Company, seed: usize) -> u64 {
    let mut slowest = 0;
    for a in 0..SEATS {
        for b in a + 1..SEATS {
            let one_way = 20 + 10 * ((a * 5 + b * 3 + seed) % 7) as u64;
            slowest = slowest.max(one_way);
            let jitter = Micros::from_millis(20);
            let conditions =
                Conditions { jitter, loss: Chance::percent(3), ..Conditions::latency_ms(one_way) };
            company.net.set_conditions_between(a, b, conditions);
        }
    }
    slowest
}

#[test]
fn delay_covers_mixed_links_within_bytes() {
    const SECONDS: u64 = 40;
    let (mut frames, mut stalled) = (0, 0);
    for seed in 0..3 {
        let mut company = Company::of(&timeline_config(), 40 + seed, Conditions::latency_ms(40));
        let slowest = mixed_links(&mut company, seed as usize);
        company.run_ms(3_000);
        let (stalls, before, bytes) = (company.stalls(), company.frames(), company.bytes());
        company.run_ms(1_000 * SECONDS);
        let delays = company.delays();
        let covered = ((slowest + 20) * 60).div_ceil(1_000) + 3;
        let most = company.bytes().iter().zip(&bytes).map(|(now, then)| (now - then) / SECONDS).max();
        let most = most.expect("six peers");
        let waited = sums(&company.stalls(), &stalls);
        let played =
            company.frames().iter().zip(&before).map(|(now, then)| u64::from(now - then)).sum::<u64>();
        println!(
            "seed {seed}: slowest way {slowest} ms, delays {delays:?} of at most {covered}, \
             {waited} of {played} frames stalled, {most} bytes a second and player"
        );
        assert!(delays.iter().all(|delay| u64::from(*delay) <= covered), "{delays:?}, at most {covered}");
        assert!(most <= 4_200, "{most} bytes a second and player");
        company.expect_equal(6 * SECONDS);
        (frames, stalled) = (frames + played, stalled + waited);
    }
    assert!(stalled * 1_000 <= frames, "{stalled} of {frames} frames stalled");
}
