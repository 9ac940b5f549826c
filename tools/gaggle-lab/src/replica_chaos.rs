//! Chaos of replicated objects: groups of peers in virtual time on bad networks, one per seed.
//!
//! In the end all faults heal, and all peers must have the same objects. Called by `main.rs`.
//! Absent: the groups (`replica_chaos/group.rs`).

mod group;
mod plan;

use std::sync::Mutex;
use std::time::Instant;

use clap::{Args, value_parser};

use crate::digest::{DigestOptions, Digests};
use crate::runs::{MINUTES_MAX, SEEDS, each_seed, parse_seeds, survive};

use group::{Group, Tally};
use plan::{OBJECTS, PEERS, Plan};

/// Shares objects on bad networks, one group of peers per seed
#[derive(Args)]
pub(crate) struct Options {
    /// Range of seeds; the second number is excluded
    #[arg(long, default_value = "0..50", value_name = SEEDS, value_parser = parse_seeds)]
    seeds: (u64, u64),
    /// Number of peers, 2 to 32; by default 2 to 6, drawn from the seed
    #[arg(long, value_parser = value_parser!(u8).range(PEERS))]
    peers: Option<u8>,
    /// Number of objects, 1 to 10000; by default 20 to 199, drawn from the seed
    #[arg(long, value_parser = value_parser!(u16).range(OBJECTS))]
    objects: Option<u16>,
    /// Minutes of each run, in virtual time, 1 to 1440
    #[arg(long, default_value_t = 2, value_parser = value_parser!(u64).range(1..=MINUTES_MAX))]
    minutes: u64,
    #[command(flatten)]
    digest: DigestOptions,
}

/// Runs one group; a panic is a failure.
fn run_one(plan: &Plan) -> Result<Tally, String> {
    let plan = plan.clone();
    survive(move || Group::new(plan).run())
}

/// Sums over all runs.
#[derive(Debug, Default)]
struct Together {
    runs: u64,
    tally: Tally,
    digests: Digests,
    failures: Vec<String>,
}

impl Together {
    /// Required events that did not happen, without which the run proves nothing.
    fn too_little(&self, minutes: u64) -> Option<String> {
        let all = self.runs * minutes;
        let tally = &self.tally;
        let demands = [
            ("claims a minute", tally.claims, all * 20),
            ("deletions a minute", tally.deletions, all * 5),
            ("deaths", tally.deaths, all / 2),
            ("deaths of hosts", tally.host_deaths, all / 8),
            ("returns", tally.returns, all / 2),
            ("partitions", tally.partitions, all / 4),
            ("objects inherited", tally.inherited, all),
            ("updates a minute", tally.updates, all * 1_000),
            ("objects compared", tally.compared, self.runs * 20),
        ];
        let missing = demands
            .iter()
            .filter(|(_, found, wanted)| found < wanted)
            .map(|(what, found, wanted)| format!("too few {what}: {found} where at least {wanted} are due"));
        missing.reduce(|all, one| format!("{all}\n{one}"))
    }

    fn report(&self) -> String {
        let Tally { claims, deletions, deaths, host_deaths, returns, partitions, .. } = self.tally;
        let Tally { inherited, trusted, refused, updates, compared, bytes, slowest, .. } = self.tally;
        format!(
            "{} runs: {claims} claims, {deletions} deletions, {deaths} deaths ({host_deaths} of hosts), {returns} returns, {partitions} \
             partitions; {inherited} objects inherited, {trusted} taken back, {refused} records refused, {updates} updates in {} MB; \
             {compared} objects compared, equal {:.1} s after healing at the latest",
            self.runs,
            bytes / 1_000_000,
            slowest.get() as f64 / 1e6,
        )
    }
}

/// Runs all seeds, on several threads.
fn run_all(options: &Options) -> Together {
    let together = Mutex::new(Together::default());
    each_seed(options.seeds, None, |seed| {
        let plan = Plan::draw(seed, options.peers, options.objects, options.minutes);
        let outcome = run_one(&plan);
        let Ok(mut together) = together.lock() else { return };
        together.runs += 1;
        match outcome {
            Ok(tally) => {
                together.tally.add(&tally);
                together.digests.insert(seed, tally.digest);
            }
            Err(why) => together.failures.push(format!("{plan}\n{why}\nagain: {}", plan.command())),
        }
    });
    together.into_inner().unwrap_or_default()
}

/// Runs the command and returns its report.
pub(crate) fn run(options: &Options) -> Result<String, String> {
    let (first, end) = options.seeds;
    if end == first + 1 {
        eprintln!("{}", Plan::draw(first, options.peers, options.objects, options.minutes));
    } else {
        eprintln!("seeds {first}..{end}, {} minutes each", options.minutes);
    }
    let began = Instant::now();
    let together = run_all(options);
    let seconds = began.elapsed().as_secs();
    if !together.failures.is_empty() {
        let all = together.failures.len();
        let some = together.failures[..all.min(5)].join("\n\n");
        return Err(format!("{some}\n\n{all} of {} runs failed, {seconds} s", end - first));
    }
    if let Some(digests) = options.digest.report("replica", &together.digests) {
        return digests;
    }
    match together.too_little(options.minutes) {
        Some(missing) => {
            let why = "none failed, but too little happened to prove anything";
            Err(format!("{}; {why}, {seconds} s:\n{missing}", together.report()))
        }
        None => Ok(format!("{}; none failed, {seconds} s", together.report())),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn groups_with_all_faults_survive() {
        let options = Options {
            seeds: (0, 8),
            peers: None,
            objects: None,
            minutes: 1,
            digest: DigestOptions::default(),
        };
        let together = run_all(&options);
        assert!(together.failures.is_empty(), "{}", together.failures.join("\n\n"));
        assert_eq!(together.too_little(1), None, "{}", together.report());
    }

    #[test]
    fn eight_machines_with_five_hundred_objects_survive() {
        let options = Options {
            seeds: (100, 101),
            peers: Some(8),
            objects: Some(500),
            minutes: 3,
            digest: DigestOptions::default(),
        };
        let together = run_all(&options);
        assert!(together.failures.is_empty(), "{}", together.failures.join("\n\n"));
        assert!(together.tally.compared >= 500 && together.tally.partitions > 0, "{}", together.report());
    }

    #[test]
    fn same_seed_gives_same_run() {
        let plan = Plan::draw(5, None, None, 1);
        let [a, b] = [0, 1].map(|_| format!("{:?}", run_one(&plan)));
        assert_eq!(a, b);
    }

    /// The command line as clap reads it.
    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn impossible_options_are_rejected_and_others_kept() {
        let read = |line: &str| Line::try_parse_from(std::iter::once("chaos").chain(line.split(' ')));
        for line in
            ["--peers 1", "--peers 33", "--objects 0", "--objects 10001", "--minutes 0", "--seeds 5..5"]
        {
            assert!(read(line).is_err(), "{line}");
        }
        let Options { peers, objects, .. } =
            read("--peers 32 --objects 10000").unwrap_or_else(|why| panic!("{why}")).options;
        let plan = Plan::draw(0, peers, objects, 1);
        assert_eq!((plan.peers, plan.objects), (32, 10_000));
    }
}
