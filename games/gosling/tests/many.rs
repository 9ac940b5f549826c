//! Many machines in one match, in rooms in virtual time: late wishes, equal states, no wait, few
//! bytes; and what questions save beside the same game without them.

use std::collections::{BTreeMap, BTreeSet};

use gaggle::kit::state_hash;
use gaggle::link::sim::{Chance, Conditions};
use gaggle::testing::{SimLobby, SimPlatform};
use gaggle::{GameRoom, Micros, Phase, RoomConfig, RoomEvent, TimelineConfig};
use gosling::press::{Manner, Presser};
use gosling::twin::{Play, compare};
use gosling::water::{EDGE, opposite};
use gosling::{Gosling, Mode, Setup, Wish, foresee, timeline_config};

type Room = GameRoom<Gosling, SimPlatform>;

/// Frames from one comparison of states to the next.
const COMPARED: u32 = 16;

/// Machines in one room, each with a player who presses.
struct Company {
    net: SimLobby,
    rooms: Vec<Room>,
    pressers: Vec<Presser>,
    /// Players whose wishes the test chooses itself.
    held: BTreeMap<usize, Wish>,
    frames: Vec<u32>,
    /// Hashes of all machines' confirmed states, by frame, and how many there were.
    hashes: BTreeMap<u32, BTreeSet<u64>>,
    compared: u64,
    desyncs: usize,
    left: usize,
}

impl Company {
    fn open(machines: usize, setup: Setup, config: &TimelineConfig, conditions: Conditions) -> Company {
        let seed = machines as u64;
        let net = SimLobby::new(machines, seed, conditions);
        let open = |peer| {
            let room = RoomConfig::new("gosling", machines as u8).expect("small letters");
            let mut room = room.with_engine(config.clone());
            room.engine.game_fingerprint = config.game_fingerprint;
            room.lobby = SimLobby::client_config(peer);
            let game = Gosling::new(setup, seed);
            GameRoom::open(Micros::ZERO, room, net.platform(peer), game, peer as u64).expect("in range")
        };
        let rooms: Vec<Room> = (0..machines).map(open).collect();
        let pressers = (0..machines).map(|slot| Presser::new(slot, Manner::USUAL, seed)).collect();
        let frames = vec![0; machines];
        let (held, hashes) = (BTreeMap::new(), BTreeMap::new());
        Company { net, rooms, pressers, held, frames, hashes, compared: 0, desyncs: 0, left: 0 }
    }

    /// All of them in one match, and two seconds later.
    fn together(machines: usize, setup: Setup, config: &TimelineConfig, conditions: Conditions) -> Company {
        let mut company = Company::open(machines, setup, config, conditions);
        for _ in 0..120 {
            company.run_ms(500);
            let is_together =
                |room: &Room| room.phase() == Phase::Playing && room.game().persons() == machines;
            if company.rooms.iter().all(is_together) {
                company.run_ms(2_000);
                company.hashes.clear();
                (company.compared, company.desyncs, company.left) = (0, 0, 0);
                return company;
            }
        }
        let here: Vec<_> = company.rooms.iter().map(|room| (room.phase(), room.game().persons())).collect();
        panic!("{machines} are not together: {here:?}");
    }

    fn run_ms(&mut self, ms: u64) {
        let until = self.net.now() + Micros::from_millis(ms);
        while self.net.now() < until {
            self.step();
        }
    }

    /// One displayed frame.
    fn step(&mut self) {
        let now = self.net.advance();
        for (peer, room) in self.rooms.iter_mut().enumerate() {
            if room.game().frame != self.frames[peer]
                && let Some(slot) = room.local_slots().lowest()
            {
                self.frames[peer] = room.game().frame;
                if self.pressers[peer].slot() != slot.index() {
                    self.pressers[peer] = Presser::new(slot.index(), Manner::USUAL, peer as u64);
                }
                let pressed = self.pressers[peer].press(room.game(), &room.game().reed());
                room.set_input(0, self.held.get(&peer).copied().unwrap_or(pressed));
            }
            room.update(now);
            while let Some(event) = room.poll_event() {
                self.desyncs += usize::from(matches!(event, RoomEvent::DesyncDetected { .. }));
                self.left += usize::from(matches!(event, RoomEvent::PlayerLeft { .. }));
            }
            if let Some((frame, game)) = room.confirmed()
                && frame.number().is_multiple_of(COMPARED)
            {
                self.hashes.entry(game.frame).or_default().insert(state_hash(game));
                self.compared += 1;
            }
        }
    }

    fn sum(&self, count: impl Fn(&Room) -> u64) -> u64 {
        self.rooms.iter().map(count).sum()
    }

    /// Plays for some seconds: no frame waits, no state differs, no link carries more than so many
    /// bytes a second.
    fn play(&mut self, seconds: u64, bytes_max: u64) {
        let machines = self.rooms.len() as u64;
        let counts = |company: &Company| {
            [
                company.sum(|room| room.stats().stalled_ticks),
                company.sum(|room| room.stats().bytes_sent),
                company.sum(|room| room.stats().frames),
                company.sum(|room| room.stats().frames_resimulated),
                company.sum(|room| room.stats().rollbacks),
                company.sum(|room| room.stats().corrections_without_rollback),
            ]
        };
        let before = counts(self);
        self.run_ms(1_000 * seconds);
        let after = counts(self);
        let [stalled, bytes, frames, again, rollbacks, harmless] =
            std::array::from_fn(|nth| after[nth] - before[nth]);
        let link = bytes / seconds / (machines * (machines - 1));
        println!(
            "{machines} machines, {seconds} s: {stalled} of {frames} frames stalled, {again} again in \
             {rollbacks} rollbacks, {harmless} corrections without one, {link} B/s a link, {} states \
             compared",
            self.compared
        );
        let different = self.hashes.values().filter(|hashes| hashes.len() > 1).count();
        assert_eq!((different, self.desyncs, self.left), (0, 0, 0), "of {} frames", self.hashes.len());
        assert!(self.compared >= machines * seconds / 4, "only {} states were compared", self.compared);
        assert_eq!(stalled, 0, "frames waited");
        assert!(frames >= machines * seconds * 29, "{frames} frames in {seconds} s");
        assert!(rollbacks > 0 && harmless > rollbacks, "{rollbacks} rollbacks, {harmless} harmless");
        assert!(link <= bytes_max, "{link} bytes a second and link");
        let banked: u32 = self.rooms[0].game().scores.iter().map(|score| u32::from(*score)).sum();
        assert!(banked > 0, "a match without anything in it");
    }
}

/// Bytes a second of a link without loss, and with: after a loss the engine sends every frame for
/// some seconds, so at 2 % nearly always.
const BYTES_MAX: u64 = 200;
const BYTES_LOSSY_MAX: u64 = 330;

fn lossy(one_way_ms: u64) -> Conditions {
    Conditions { loss: Chance::percent(2), ..Conditions::latency_ms(one_way_ms) }
}

#[test]
fn sixteen_machines_need_few_bytes() {
    let config = timeline_config(Mode::Broods);
    let mut company = Company::together(16, Setup::default(), &config, Conditions::latency_ms(80));
    company.play(20, BYTES_MAX);
}

#[test]
fn sixteen_machines_stay_equal_without_wait() {
    let config = timeline_config(Mode::Broods);
    let mut company = Company::together(16, Setup::default(), &config, lossy(80));
    company.play(40, BYTES_LOSSY_MAX);
}

fn sixty_four(seconds: u64) {
    let config = timeline_config(Mode::Great);
    let mut company = Company::together(64, Setup::of(Mode::Great), &config, lossy(80));
    company.play(seconds, BYTES_LOSSY_MAX);
}

#[test]
fn sixty_four_machines_stay_equal_without_wait() {
    sixty_four(5);
}

#[test]
#[ignore = "long: GAGGLE_LONG=1"]
fn sixty_four_machines_stay_equal_for_three_minutes() {
    sixty_four(180);
}

/// Two far apart without delay, no bots: every wish of the second is late for the first. Both have
/// left their nests, and the second's wish is settled.
fn far_apart() -> Company {
    let config =
        TimelineConfig { input_delay_frames: 0, input_delay_range: (0, 0), ..timeline_config(Mode::Broods) };
    let setup = Setup { fill: 0, ..Setup::default() };
    let mut company = Company::together(2, setup, &config, Conditions::latency_ms(150));
    company.held = [(0, Wish::default()), (1, Wish::default())].into();
    company.run_ms(9_000);
    company
}

/// Waits until the second's gosling is shortly before a cell, has been on its way for long enough
/// that the first knows all of it, and one of the wishes leads there as the test wants.
fn press_late(company: &mut Company, fits: impl Fn((Wish, u8), (Wish, u8)) -> bool) {
    for _ in 0..20_000 {
        company.step();
        let game = company.rooms[1].game();
        let slot = company.rooms[1].local_slots().lowest().expect("it plays").index();
        let chick = game.chicks[slot];
        let near = EDGE - 3 * chick.speed()..EDGE - 2 * chick.speed();
        if !chick.is_swimming() || chick.is_dizzy() || !near.contains(&chick.at.way) {
            continue;
        }
        let (reed, wish) = (game.reed(), company.held[&1]);
        let usual = foresee(game, &reed, slot, wish);
        let other = (0..4).map(|way| wish.pressed(way)).find(|other| {
            let way = other.direction();
            way != wish.direction()
                && way != opposite(chick.at.heading)
                && fits((wish, usual.1), (*other, foresee(game, &reed, slot, *other).1))
        });
        if let Some(other) = other {
            company.held.insert(1, other);
            return;
        }
    }
    panic!("no such cell was met");
}

#[test]
fn late_wish_with_same_answer_simulates_nothing_again() {
    let mut company = far_apart();
    let mut harmless = 0;
    for _ in 0..6 {
        let before = company.rooms[0].stats();
        // An unwished way back is remembered, so a wish for it is another answer.
        let is_back = |(wish, way): (Wish, u8)| wish.direction() == opposite(way);
        press_late(&mut company, |usual, other| usual.1 == other.1 && !is_back(usual) && !is_back(other));
        // Until the cell after this one is 12 frames away.
        company.run_ms(330);
        let after = company.rooms[0].stats();
        assert_eq!(
            (after.rollbacks, after.frames_resimulated),
            (before.rollbacks, before.frames_resimulated)
        );
        harmless += after.corrections_without_rollback - before.corrections_without_rollback;
        company.run_ms(2_000);
    }
    assert!(harmless >= 6, "{harmless} wishes came late");
}

#[test]
fn late_wish_with_other_answer_goes_back_to_cell() {
    let mut company = far_apart();
    for _ in 0..6 {
        let before = company.rooms[0].stats();
        press_late(&mut company, |usual, other| usual.1 != other.1);
        let pressed = company.rooms[1].game().frame + 1;
        let slot = company.rooms[1].local_slots().lowest().expect("it plays").index();
        let cell = company.rooms[1].game().chicks[slot].at.cell;
        // When its own machine reaches the cell, and when the other goes back.
        let (mut reached, mut corrected) = (None, None);
        for _ in 0..40 {
            company.step();
            let game = company.rooms[1].game();
            if reached.is_none() && game.chicks[slot].at.cell != cell {
                reached = Some(game.frame);
            }
            if corrected.is_none() && company.rooms[0].stats().rollbacks > before.rollbacks {
                corrected = Some(company.rooms[0].game().frame);
            }
        }
        let (reached, corrected) = (reached.expect("a cell"), corrected.expect("a rollback"));
        let after = company.rooms[0].stats();
        assert_eq!(after.rollbacks, before.rollbacks + 1);
        assert!(reached > pressed && corrected > reached, "{pressed} {reached} {corrected}");
        // The frame of the rollback itself is simulated for the first time.
        assert_eq!(after.frames_resimulated - before.frames_resimulated, u64::from(corrected - reached));
        assert_eq!(after.rollback_frames_last, corrected - reached);
        company.run_ms(2_000);
    }
}

#[test]
fn questions_save_seven_of_eight_frames() {
    let play = Play {
        mode: Mode::Broods,
        machines: 16,
        manner: Manner::USUAL,
        delay: 0,
        latency: Micros::from_millis(117),
        span: Micros::from_secs(40),
        seed: 3,
    };
    let [asks, reads] = compare(play);
    println!("{} frames again by asking, {} by reading", asks.again, reads.again);
    assert_eq!(asks.confirmed, reads.confirmed);
    assert!(asks.confirmed.len() > 100 && asks.confirmed.values().all(|hashes| hashes.len() == 1));
    assert!(asks.rollbacks > 100 && reads.rollbacks > 1_000, "{asks:?} {reads:?}");
    assert_eq!((asks.stalled, reads.stalled), (0, 0));
    assert!(asks.again * 8 <= reads.again, "{} again by asking, {} by reading", asks.again, reads.again);
}
