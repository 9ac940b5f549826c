//! Rooms that send through a relay as games do: every member to every other, sixty times a second.

use std::time::{Duration, Instant};

use gaggle_kit::{Micros, PeerId, Prng};
use gaggle_native::Clock;

use crate::RelayProcess;
use crate::attack::{Attack, By};
use crate::member::Member;
use crate::relay_process::ticket;

/// Bytes per message, about a game's packet. It begins with its send time.
const MESSAGE_BYTES: usize = 100;
const EVERY: Micros = Micros::new(16_667);
/// Time before measuring starts.
const WARM_UP: Micros = Micros::from_secs(1);
/// Time for the last messages to arrive.
const STILL_UNDER_WAY: Micros = Micros::from_millis(300);
/// Pause between two polls of all members.
const ROUND_PAUSE: Duration = Duration::from_micros(200);

/// Parameters of a load.
pub(crate) struct Load {
    pub(crate) rooms: u64,
    pub(crate) members: usize,
    pub(crate) seconds: u64,
    /// Threads that share the members: with too few, a member waits for its thread, which must not
    /// be measured as the relay's delay.
    pub(crate) lanes: u64,
    /// Whether all members of a room send at the same moment.
    pub(crate) in_phase: bool,
    /// Attack during the measurement.
    pub(crate) attacked: Option<By>,
}

/// Results of a load.
#[derive(Default)]
pub(crate) struct Carried {
    pub(crate) said: u64,
    pub(crate) delivered: u64,
    /// Attacks the relay rejected while it was measured.
    pub(crate) repelled: u64,
    pub(crate) memory_growth_kb: f64,
    /// Datagrams the relay forwarded while its CPU time was measured.
    forwarded: u64,
    cpu: Duration,
    wall: Duration,
    latencies_us: Vec<u32>,
    /// All rooms but the first, which is the one under attack, if any.
    others: Heard,
    /// Durations of polls of all members, which are part of the latency.
    rounds_us: Vec<u32>,
    members: u64,
}

impl Carried {
    pub(crate) fn per_cpu_second(&self) -> f64 {
        self.forwarded as f64 / self.cpu.as_secs_f64()
    }

    pub(crate) fn cpu_percent(&self) -> f64 {
        self.cpu.as_secs_f64() * 100.0 / self.wall.as_secs_f64()
    }

    /// Latency in milliseconds.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        percentile(&self.latencies_us, percent)
    }

    /// Latency in all rooms but the first, in milliseconds.
    pub(crate) fn percentile_of_others(&self, percent: usize) -> f64 {
        percentile(&self.others.latencies_us, percent)
    }

    /// Duration of a poll of all members, in milliseconds.
    pub(crate) fn round_percentile(&self, percent: usize) -> f64 {
        percentile(&self.rounds_us, percent)
    }

    /// Messages that never arrived.
    pub(crate) fn lost(&self) -> u64 {
        (self.said * (self.members - 1)).saturating_sub(self.delivered)
    }

    /// Messages that never arrived, in all rooms but the first.
    pub(crate) fn lost_by_others(&self) -> u64 {
        (self.others.said * (self.members - 1)).saturating_sub(self.others.latencies_us.len() as u64)
    }
}

impl Load {
    /// Connects all members and runs the load.
    pub(crate) fn run(&self, clock: &Clock) -> Carried {
        let mut relay = RelayProcess::start(self.attacked.is_none());
        let mut members = self.come(clock, &relay);
        let begin = clock.now() + Micros::from_millis(20);
        let mut due = self.phases(begin);
        let counts_from = begin + WARM_UP;
        let end = counts_from + Micros::from_secs(self.seconds);
        let victims: Vec<PeerId> = members[..self.members].iter().map(|member| member.id).collect();
        let attack = self.attacked.map(|by| Attack::begin(by, relay.url(), &victims));
        let lane = self.rooms.div_ceil(self.lanes) as usize * self.members;
        let lanes = members.chunks_mut(lane).zip(due.chunks_mut(lane));
        let mut carried = std::thread::scope(|scope| {
            let talking: Vec<_> = lanes
                .map(|(members, due)| scope.spawn(move || talk(clock, members, due, counts_from, end)))
                .collect();
            while clock.now() < counts_from {
                std::thread::sleep(Duration::from_millis(1));
            }
            let before = (relay.counts(), relay.cpu(), relay.memory_kb(), Instant::now());
            std::thread::sleep(Duration::from_micros(end.since(clock.now()).get()));
            let counts = relay.counts();
            let mut carried = Carried {
                forwarded: counts.forwarded - before.0.forwarded,
                repelled: self.attacked.map_or(0, |by| by.repelled(counts) - by.repelled(before.0)),
                cpu: relay.cpu() - before.1,
                memory_growth_kb: relay.memory_kb() - before.2,
                wall: before.3.elapsed(),
                ..Carried::default()
            };
            for lane in talking {
                let [first, others] = lane.join().unwrap();
                for heard in [&first, &others] {
                    carried.said += heard.said;
                    carried.delivered += heard.latencies_us.len() as u64;
                    carried.latencies_us.extend(&heard.latencies_us);
                    carried.rounds_us.extend(&heard.rounds_us);
                }
                carried.others.said += others.said;
                carried.others.latencies_us.extend(others.latencies_us);
            }
            carried
        });
        carried.members = self.members as u64;
        carried.latencies_us.sort_unstable();
        carried.others.latencies_us.sort_unstable();
        carried.rounds_us.sort_unstable();
        drop(attack);
        carried
    }

    /// First send time of each member.
    fn phases(&self, begin: Micros) -> Vec<Micros> {
        let mut random = Prng::new(1);
        let phase = |nth: usize| match self.in_phase {
            true => (nth / self.members) as u64 * 2_000,
            false => random.below(16_667).into(),
        };
        (0..self.rooms as usize * self.members).map(phase).map(|phase| begin + Micros::new(phase)).collect()
    }

    fn come(&self, clock: &Clock, relay: &RelayProcess) -> Vec<Member> {
        let id = |room: u64, nth: usize| PeerId::from_u128((u128::from(room) << 64) | (nth as u128 + 1));
        let mut members = Vec::new();
        for room in 0..self.rooms {
            let peers: Vec<PeerId> = (0..self.members).map(|nth| id(room, nth)).collect();
            for me in &peers {
                let others: Vec<PeerId> = peers.iter().copied().filter(|other| other != me).collect();
                members.push(Member::come(clock.now(), relay.url(), &ticket(room, *me), *me, &others));
                members.iter_mut().for_each(|member| member.poll(clock.now(), |_, _| {}));
            }
        }
        let began = Instant::now();
        while members.iter().any(|member| member.open() + 1 < self.members) {
            assert!(began.elapsed() < Duration::from_secs(60), "some members could not connect");
            members.iter_mut().for_each(|member| member.poll(clock.now(), |_, _| {}));
            std::thread::sleep(Duration::from_millis(1));
        }
        members
    }
}

fn percentile(sorted_us: &[u32], percent: usize) -> f64 {
    f64::from(sorted_us[(sorted_us.len() * percent / 100).min(sorted_us.len() - 1)]) / 1_000.0
}

/// 0 for members of the first room, 1 for all others: see [`Load::come`].
fn is_other(member: PeerId) -> usize {
    usize::from(member.to_u128() >> 64 > 0)
}

/// Messages sent and received by members of some rooms.
#[derive(Default)]
struct Heard {
    said: u64,
    latencies_us: Vec<u32>,
    rounds_us: Vec<u32>,
}

/// Runs some members until the end and a little longer. Counts the first room apart from all
/// others.
fn talk(
    clock: &Clock,
    members: &mut [Member],
    due: &mut [Micros],
    counts_from: Micros,
    end: Micros,
) -> [Heard; 2] {
    let mut heard = [Heard::default(), Heard::default()];
    loop {
        let began = clock.now();
        if began >= end + STILL_UNDER_WAY {
            return heard;
        }
        for (member, due) in members.iter_mut().zip(&mut *due) {
            let now = clock.now();
            if *due <= now && now < end {
                let mut message = [0; MESSAGE_BYTES];
                message[..8].copy_from_slice(&now.get().to_le_bytes());
                member.say(now, &message);
                heard[is_other(member.id)].said += u64::from(now >= counts_from);
                *due += EVERY;
            }
        }
        for member in &mut *members {
            let me = member.id;
            member.poll(clock.now(), |from, bytes| {
                assert_ne!(from, me, "no member receives its own messages");
                let said = Micros::new(u64::from_le_bytes(bytes[..8].try_into().unwrap()));
                if said >= counts_from {
                    heard[is_other(me)].latencies_us.push(clock.now().since(said).get() as u32);
                }
            });
        }
        if began >= counts_from && began < end {
            heard[0].rounds_us.push(clock.now().since(began).get() as u32);
        }
        std::thread::sleep(ROUND_PAUSE);
    }
}
