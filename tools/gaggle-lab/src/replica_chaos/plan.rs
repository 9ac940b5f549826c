//! Settings of a run, drawn from its seed, and the command that repeats it.
//!
//! Called by `replica_chaos.rs`. Absent: faults (`group.rs`).

use std::fmt;
use std::ops::RangeInclusive;

use gaggle_kit::{Micros, Prng};
use gaggle_link::sim::{Burst, Chance, Conditions};
use gaggle_replica::AuthorityPolicy;

/// Range of machines of a group.
pub(super) const PEERS: RangeInclusive<i64> = 2..=32;
/// Range of objects of a group.
pub(super) const OBJECTS: RangeInclusive<i64> = 1..=10_000;

/// Settings of one run.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) peers: usize,
    pub(super) objects: usize,
    pub(super) minutes: u64,
    pub(super) policy: AuthorityPolicy,
    pub(super) bytes_per_second: u32,
    pub(super) conditions: Conditions,
    given: (Option<u8>, Option<u16>),
}

impl Plan {
    pub(super) fn draw(seed: u64, peers: Option<u8>, objects: Option<u16>, minutes: u64) -> Plan {
        let mut random = Prng::new(seed ^ 0x7265_706c);
        let policies = [AuthorityPolicy::Anyone, AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader];
        let burst = random.chance(1, 3).then(|| Burst::of(Chance::percent(3), 8));
        let conditions = Conditions {
            latency: Micros::from_millis(random.range(5..=120) as u64),
            jitter: Micros::from_millis(random.range(0..=40) as u64),
            loss: Chance::percent(random.below(16)),
            burst,
            duplicate: Chance::percent(random.below(4)),
            reorder: Chance::percent(random.below(10)),
            ..Conditions::PERFECT
        };
        Plan {
            seed,
            peers: peers.map_or(2 + random.below(5) as usize, usize::from),
            objects: objects.map_or(20 + random.below(180) as usize, usize::from),
            minutes,
            policy: policies[random.below(3) as usize].clone(),
            bytes_per_second: [4_000, 16_000, 64_000][random.below(3) as usize],
            conditions,
            given: (peers, objects),
        }
    }

    /// Command that repeats the run.
    pub(super) fn command(&self) -> String {
        let option = |name: &str, value: Option<u16>| {
            value.map(|value| format!(" --{name} {value}")).unwrap_or_default()
        };
        format!(
            "cargo xtask chaos --replica --seeds {}..{}{}{} --minutes {}",
            self.seed,
            self.seed + 1,
            option("peers", self.given.0.map(u16::from)),
            option("objects", self.given.1),
            self.minutes
        )
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "seed {}: {} machines, {} objects, {:?}, {} B/s, {} ms + {} ms, loss {:?}{}",
            self.seed,
            self.peers,
            self.objects,
            self.policy,
            self.bytes_per_second,
            self.conditions.latency.as_millis(),
            self.conditions.jitter.as_millis(),
            self.conditions.loss,
            if self.conditions.burst.is_some() { " and bursts" } else { "" },
        )
    }
}
