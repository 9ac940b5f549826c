//! Rooms that talk through a relay at the pace of a game: everybody to everybody, sixty times a second.

use std::time::{Duration, Instant};

use gaggle_kit::{Micros, PeerId, Prng};
use gaggle_native::Clock;

use crate::RelayProcess;
use crate::attack::Attack;
use crate::member::Member;

/// What one says: a running game's packet is of about this size. It begins with when it was said.
const MESSAGE_BYTES: usize = 100;
const EVERY: Micros = Micros::new(16_667);
/// Time for all to settle before anything counts.
const WARM_UP: Micros = Micros::from_secs(1);

/// Who talks, and how.
pub(crate) struct Load {
    pub(crate) rooms: u64,
    pub(crate) members: usize,
    pub(crate) seconds: u64,
    /// All of a room speak at the same moment, or each at its own.
    pub(crate) in_phase: bool,
    /// Strangers throw things at the relay's UDP port meanwhile.
    pub(crate) attacked: bool,
}

/// What came of it.
#[derive(Default)]
pub(crate) struct Carried {
    pub(crate) said: u64,
    pub(crate) delivered: u64,
    pub(crate) memory_growth_kb: f64,
    /// What was forwarded and dropped by the relay while its CPU time was taken.
    forwarded: u64,
    cpu: Duration,
    wall: Duration,
    latencies_us: Vec<u32>,
    members: u64,
}

impl Carried {
    pub(crate) fn per_cpu_second(&self) -> f64 {
        self.forwarded as f64 / self.cpu.as_secs_f64()
    }

    pub(crate) fn cpu_percent(&self) -> f64 {
        self.cpu.as_secs_f64() * 100.0 / self.wall.as_secs_f64()
    }

    /// In milliseconds.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        f64::from(
            self.latencies_us[(self.latencies_us.len() * percent / 100).min(self.latencies_us.len() - 1)],
        ) / 1_000.0
    }

    /// Deliveries that never came.
    pub(crate) fn lost(&self) -> u64 {
        (self.said * (self.members - 1)).saturating_sub(self.delivered)
    }
}

impl Load {
    /// Lets everybody come, and talk.
    pub(crate) fn run(&self, clock: &Clock) -> Carried {
        let mut relay = RelayProcess::start();
        let mut members = self.come(clock, &relay);
        let mut random = Prng::new(1);
        let begin = clock.now() + Micros::from_millis(20);
        let mut due: Vec<Micros> = (0..members.len())
            .map(|nth| {
                let phase = if self.in_phase {
                    (nth / self.members) as u64 * 2_000
                } else {
                    random.below(16_667).into()
                };
                begin + Micros::new(phase)
            })
            .collect();
        let counts_from = begin + WARM_UP;
        let end = counts_from + Micros::from_secs(self.seconds);
        let attack = self.attacked.then(|| Attack::begin(&relay));
        let mut carried = Carried { members: self.members as u64, ..Carried::default() };
        let mut before = None;
        loop {
            let now = clock.now();
            if before.is_none() && now >= counts_from {
                before = Some((relay.forwarded().0, relay.cpu(), relay.memory_kb(), Instant::now()));
            }
            if now >= end {
                break;
            }
            for (member, due) in members.iter_mut().zip(&mut due) {
                if *due <= now {
                    let mut message = [0; MESSAGE_BYTES];
                    message[..8].copy_from_slice(&now.get().to_le_bytes());
                    member.say(now, &message);
                    carried.said += u64::from(now >= counts_from);
                    *due += EVERY;
                }
            }
            hear(clock, &mut members, counts_from, &mut carried);
            std::thread::sleep(Duration::from_micros(200));
        }
        let (forwarded, cpu, memory, began) = before.unwrap();
        carried.forwarded = relay.forwarded().0 - forwarded;
        carried.cpu = relay.cpu() - cpu;
        carried.wall = began.elapsed();
        carried.memory_growth_kb = relay.memory_kb() - memory;
        // What is still under way.
        let last = Instant::now();
        while last.elapsed() < Duration::from_millis(300) {
            hear(clock, &mut members, counts_from, &mut carried);
            std::thread::sleep(Duration::from_micros(500));
        }
        carried.latencies_us.sort_unstable();
        drop(attack);
        carried
    }

    fn come(&self, clock: &Clock, relay: &RelayProcess) -> Vec<Member> {
        let id = |room: u64, nth: usize| PeerId::from_u128((u128::from(room) << 64) | (nth as u128 + 1));
        let mut members = Vec::new();
        for room in 0..self.rooms {
            let peers: Vec<PeerId> = (0..self.members).map(|nth| id(room, nth)).collect();
            for me in &peers {
                let others: Vec<PeerId> = peers.iter().copied().filter(|other| other != me).collect();
                members.push(Member::come(clock.now(), relay.url(), &relay.ticket(room, *me), *me, &others));
                members.iter_mut().for_each(|member| member.poll(clock.now(), |_, _| {}));
            }
        }
        let began = Instant::now();
        while members.iter().any(|member| member.open() + 1 < self.members) {
            assert!(began.elapsed() < Duration::from_secs(60), "not all could come");
            members.iter_mut().for_each(|member| member.poll(clock.now(), |_, _| {}));
            std::thread::sleep(Duration::from_millis(1));
        }
        members
    }
}

fn hear(clock: &Clock, members: &mut [Member], counts_from: Micros, carried: &mut Carried) {
    for member in members {
        let me = member.id;
        member.poll(clock.now(), |from, bytes| {
            assert_ne!(from, me, "nobody hears itself");
            let said = Micros::new(u64::from_le_bytes(bytes[..8].try_into().unwrap()));
            if said >= counts_from {
                carried.delivered += 1;
                carried.latencies_us.push(clock.now().since(said).get() as u32);
            }
        });
    }
}
