//! Whole matches in virtual time in which everything goes wrong, one per seed; then everything heals, and everybody must
//! agree with everybody and with what players pressed.

mod broth;
mod chronicle;
mod company;
mod machine;
mod plan;
mod presses;
mod told;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Args;

use crate::runs::{parse_seeds, survive};

use company::{Company, Shown};
use plan::Plan;

/// Plays whole matches on bad networks, one per seed
#[derive(Args)]
pub(crate) struct Options {
    /// Which seeds, as first..end
    #[arg(long, default_value = "0..100", value_parser = parse_seeds)]
    seeds: (u64, u64),
    /// How many machines; drawn from the seed if not given
    #[arg(long)]
    peers: Option<usize>,
    /// Minutes of every match, in virtual time
    #[arg(long, default_value_t = 2)]
    minutes: u64,
    /// In every match it takes a majority to go on without somebody, not only where the seed says so
    #[arg(long)]
    majority: bool,
}

impl Options {
    fn plan(&self, seed: u64) -> Plan {
        let plan = Plan::draw(seed, self.peers, self.minutes);
        Plan { majority: plan.majority || self.majority, ..plan }
    }

    /// The command that plays one of these matches again.
    fn again(&self, seed: u64) -> String {
        let peers = self.peers.map(|peers| format!(" --peers {peers}")).unwrap_or_default();
        let majority = if self.majority { " --majority" } else { "" };
        format!("cargo xtask chaos --seeds {seed}..{}{peers} --minutes {}{majority}", seed + 1, self.minutes)
    }
}

/// So many matches together must have shown everything.
const MATCHES_JUDGED_MIN: u64 = 20;
/// And so many minutes what happens all the time.
const MINUTES_JUDGED_MIN: u64 = 10;

/// One match, whatever becomes of it.
fn play(plan: &Plan) -> Result<Shown, String> {
    let plan = plan.clone();
    survive(move || Company::new(plan).play())
}

/// What all matches showed together.
#[derive(Debug, Default)]
struct Together {
    matches: u64,
    sum: Shown,
    with_lead_change: u64,
    with_recovery: u64,
    with_chain: u64,
    stood_still: u64,
    /// By seed, why a match failed.
    failures: Vec<(u64, String)>,
}

impl Together {
    fn add(&mut self, shown: &Shown) {
        self.matches += 1;
        self.sum.tally.add(&shown.tally);
        self.sum.joins += shown.joins;
        self.sum.leaves += shown.leaves;
        self.sum.joins_of_two += shown.joins_of_two;
        self.sum.watchers_came += shown.watchers_came;
        self.with_chain += u64::from(shown.tally.passed_on > 0);
        self.sum.inputs_checked += shown.inputs_checked;
        self.sum.healed_after = self.sum.healed_after.max(shown.healed_after);
        self.sum.peer_seconds += shown.peer_seconds;
        self.sum.entries_held_most = self.sum.entries_held_most.max(shown.entries_held_most);
        self.sum.bytes_held_most = self.sum.bytes_held_most.max(shown.bytes_held_most);
        self.with_lead_change += u64::from(shown.tally.lead_changes > 0);
        self.with_recovery += u64::from(shown.tally.recoveries > 0);
        self.stood_still += u64::from(shown.stood_still);
    }

    /// A run that did not do what it claims proves nothing. One that is looked at again claims nothing, and a few show what
    /// happens all the time, but not everything that is rare.
    fn too_little(&self, minutes: u64) -> Option<String> {
        let (tally, all_minutes) = (&self.sum.tally, self.matches * minutes);
        // Where a majority was lost for good nothing happens any more.
        let went_on = (self.matches - self.stood_still) * minutes;
        let always = [
            ("rollbacks per machine and second", tally.rollbacks, self.sum.peer_seconds),
            ("joins a minute", self.sum.joins, went_on),
            ("leaves a minute", self.sum.leaves, went_on),
        ];
        let in_many = [
            ("lead changes in half of the matches", self.with_lead_change * 2, self.matches),
            ("recoveries in a tenth of the matches", self.with_recovery * 10, self.matches),
            ("watchers who came, one in two minutes", self.sum.watchers_came * 2, all_minutes),
            ("seconds watched", tally.watched / 60, all_minutes * 10),
            ("chains of watchers in a tenth of the matches", self.with_chain * 10, self.matches),
            ("times somebody was away and came back, one a minute", tally.returns, all_minutes),
            ("compared states", tally.compared, all_minutes * 60),
            (
                "joins of two players at one machine, one in four minutes",
                self.sum.joins_of_two * 4,
                all_minutes,
            ),
            (
                "recoveries of those who watch, one in fifty matches",
                tally.recoveries_watching * 50,
                self.matches,
            ),
        ];
        let always = always.into_iter().filter(|_| went_on >= MINUTES_JUDGED_MIN);
        let in_many = in_many.into_iter().filter(|_| self.matches >= MATCHES_JUDGED_MIN);
        let demands = always.chain(in_many);
        let missing = demands
            .filter(|(_, found, wanted)| found < wanted)
            .map(|(what, found, wanted)| format!("too few {what}: {found} where at least {wanted} are due"));
        missing.reduce(|all, one| format!("{all}\n{one}"))
    }

    fn report(&self) -> String {
        let Shown {
            tally,
            inputs_checked,
            peer_seconds,
            entries_held_most,
            bytes_held_most,
            healed_after,
            ..
        } = &self.sum;
        format!(
            "{} matches, {} machine-minutes: {} frames, {} rollbacks, {} joins and {} leaves, {} lead changes, {} views and {} \
             yields, {} of the joins with two players, {} came to watch and saw {} s, {} times from each other, {} desyncs, {} recoveries and {} of those who watch, {} starts over, {} times somebody was away and came back; {} inputs and {} states checked; together again within {}; at most {} entries of a stream and {} KB held{}",
            self.matches,
            peer_seconds / 60,
            tally.frames,
            tally.rollbacks,
            self.sum.joins,
            self.sum.leaves,
            tally.lead_changes,
            tally.histories,
            tally.yields,
            self.sum.joins_of_two,
            self.sum.watchers_came,
            tally.watched / 60,
            tally.passed_on,
            tally.desyncs,
            tally.recoveries,
            tally.recoveries_watching,
            tally.starts_over,
            tally.returns,
            inputs_checked,
            tally.compared,
            healed_after,
            entries_held_most,
            bytes_held_most / 1_000,
            if self.stood_still > 0 {
                format!("; {} without a majority", self.stood_still)
            } else {
                String::new()
            },
        )
    }
}

/// Plays all seeds, on as many threads as there are cores.
fn play_all(options: &Options) -> Together {
    let (first, end) = options.seeds;
    let next = AtomicU64::new(first);
    let together = Mutex::new(Together::default());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min((end - first) as usize);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    let plan = options.plan(seed);
                    let outcome = play(&plan);
                    let Ok(mut together) = together.lock() else { return };
                    match outcome {
                        Ok(shown) => together.add(&shown),
                        Err(why) => {
                            let again = options.again(seed);
                            together.failures.push((seed, format!("{plan}\n{why}\nagain: {again}")));
                        }
                    }
                }
            });
        }
    });
    together.into_inner().unwrap_or_default()
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<String, String> {
    let (first, end) = options.seeds;
    if end == first + 1 {
        println!("{}", options.plan(first));
    } else {
        let peers = options.peers.map_or("3 to 6".to_owned(), |peers| peers.to_string());
        let majority = if options.majority { ", majority" } else { "" };
        println!("seeds {first}..{end}: {peers} machines, {} minutes each{majority}", options.minutes);
    }
    let began = Instant::now();
    let together = play_all(options);
    let seconds = began.elapsed().as_secs();
    if !together.failures.is_empty() {
        let failures = &together.failures;
        let some: Vec<&str> = failures.iter().take(5).map(|(_, why)| why.as_str()).collect();
        let seeds: Vec<String> = failures.iter().map(|(seed, _)| seed.to_string()).collect();
        return Err(format!(
            "{}\n\n{} of {} matches failed (seeds {}), {seconds} s",
            some.join("\n\n"),
            failures.len(),
            end - first,
            seeds.join(", ")
        ));
    }
    match together.too_little(options.minutes) {
        Some(missing) => Err(format!("{}\n{missing}", together.report())),
        None => Ok(format!("{}; none failed, {seconds} s", together.report())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_matches_survive_everything() {
        let options = Options { seeds: (0, 24), peers: None, minutes: 2, majority: false };
        let together = play_all(&options);
        assert!(together.failures.is_empty(), "{:#?}", together.failures);
        assert_eq!(together.too_little(2), None);
    }

    /// In this one somebody who looks on asks one feeder after the other, and was told each time that nothing has come yet.
    #[test]
    fn whoever_asks_somebody_else_is_told_once_that_it_begins() {
        let options = Options { seeds: (315, 316), peers: None, minutes: 2, majority: false };
        let together = play_all(&options);
        assert!(together.failures.is_empty(), "{:#?}", together.failures);
    }

    #[test]
    fn a_run_in_which_nothing_happens_proves_nothing() {
        let of = |matches, joins| {
            let tally = machine::Tally { rollbacks: 5_000, ..machine::Tally::default() };
            let sum = Shown { tally, joins, leaves: 30, peer_seconds: 4_000, ..Shown::default() };
            Together { matches, sum, ..Together::default() }.too_little(2)
        };
        assert_eq!(of(4, 3), None, "eight minutes say nothing");
        assert_eq!(of(5, 10), None, "ten say how often somebody comes, but not what is rare");
        assert_eq!(of(5, 9).as_deref(), Some("too few joins a minute: 9 where at least 10 are due"));
        assert!(of(20, 60).is_some_and(|missing| missing.contains("recoveries in a tenth")));
    }

    #[test]
    fn a_majority_asked_for_is_in_every_match_and_in_the_command_that_repeats_it() {
        let options = Options { seeds: (0, 4), peers: None, minutes: 2, majority: true };
        assert!((0..4).all(|seed| options.plan(seed).majority), "{}", options.plan(0));
        assert_eq!(options.again(3), "cargo xtask chaos --seeds 3..4 --minutes 2 --majority");
    }

    #[test]
    fn the_same_seed_is_the_same_match() {
        let plan = Plan::draw(5, None, 1);
        let [a, b] = [0, 1].map(|_| format!("{:?}", play(&plan)));
        assert_eq!(a, b);
    }

    #[test]
    fn ranges_of_seeds_are_read() {
        assert_eq!(parse_seeds("3..5"), Ok((3, 5)));
        assert!(parse_seeds("5..5").is_err() && parse_seeds("x").is_err());
    }
}
