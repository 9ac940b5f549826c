//! Chaos matches of the timeline: one per seed, in virtual time, with all kinds of faults.
//!
//! In the end all faults heal, and all peers must agree with each other and with the recorded
//! inputs. Called by `main.rs`. Absent: the match itself (`company.rs`).

mod broth;
mod chronicle;
mod company;
mod machine;
mod plan;
mod presses;
mod stranger;
mod told;

use std::sync::Mutex;
use std::time::Instant;

use clap::{Args, value_parser};

use crate::digest::{DigestOptions, Digests};
use crate::runs::{MINUTES_MAX, SEEDS, THREADS_MAX, each_seed, parse_seeds, survive};

use company::{Cluster, Shown};
use plan::{MACHINES, MACHINES_DRAWN, Plan};

/// Plays whole matches on bad networks, one per seed
#[derive(Args)]
#[command(
    after_help = "cargo xtask chaos --replica shares objects instead, and with --game drake or --game millpond bots play \
                        that game: each of them has options of its own, see its --help."
)]
pub(crate) struct Options {
    /// Range of seeds; the second number is excluded
    #[arg(long, default_value = "0..100", value_name = SEEDS, value_parser = parse_seeds)]
    seeds: (u64, u64),
    /// Number of playing peers, 2 to 8; by default 3 to 6, drawn from the seed. Up to 3 more
    /// spectate
    #[arg(long, value_parser = value_parser!(u8).range(MACHINES))]
    peers: Option<u8>,
    /// Minutes of each match, in virtual time, 1 to 1440
    #[arg(long, default_value_t = 2, value_parser = value_parser!(u64).range(1..=MINUTES_MAX))]
    minutes: u64,
    /// Number of matches at once, 1 to 1024; by default one per core
    #[arg(long, value_parser = value_parser!(u16).range(1..=THREADS_MAX))]
    threads: Option<u16>,
    /// Require a majority to evict a peer in every match, not only where the seed chooses it
    #[arg(long)]
    majority: bool,
    #[command(flatten)]
    digest: DigestOptions,
}

impl Options {
    fn plan(&self, seed: u64) -> Plan {
        let plan = Plan::draw(seed, self.peers, self.minutes);
        Plan { majority: plan.majority || self.majority, ..plan }
    }

    /// Command that repeats one of these matches.
    fn again(&self, seed: u64) -> String {
        let peers = self.peers.map(|peers| format!(" --peers {peers}")).unwrap_or_default();
        let majority = if self.majority { " --majority" } else { "" };
        format!("cargo xtask chaos --seeds {seed}..{}{peers} --minutes {}{majority}", seed + 1, self.minutes)
    }
}

/// Least matches, and least minutes of each, for requiring events that need many matches.
const MATCHES_JUDGED_MIN: u64 = 20;
const MATCH_MINUTES_JUDGED_MIN: u64 = 2;
/// Least matches for requiring rare events.
const MATCHES_JUDGED_WHOLE_MIN: u64 = 100;
/// Least minutes of all matches together for requiring frequent events.
const MINUTES_JUDGED_MIN: u64 = 10;

/// Plays one match; a panic is a failure.
fn play(plan: &Plan) -> Result<Shown, String> {
    let plan = plan.clone();
    survive(move || Cluster::new(plan).play())
}

/// Sums over all matches.
#[derive(Debug, Default)]
struct Together {
    matches: u64,
    sum: Shown,
    with_lead_change: u64,
    with_recovery: u64,
    with_chain: u64,
    stood_still: u64,
    /// Matches in which enough peers play to recover a damaged state, and in which the others go on
    /// without any one peer.
    can_recover: u64,
    go_on: u64,
    /// Matches that a peer with another build tried to join.
    with_stranger: u64,
    /// Matches whose state takes thousands of packets to send.
    with_large_state: u64,
    /// Matches in lockstep, and seconds that peers ran in the other ones.
    in_lockstep: u64,
    rollback_seconds: u64,
    digests: Digests,
    /// Seed and reason of every failed match.
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
        self.with_stranger += u64::from(shown.with_stranger);
        self.with_large_state += u64::from(shown.with_large_state);
        self.in_lockstep += u64::from(shown.is_lockstep);
        self.rollback_seconds += if shown.is_lockstep { 0 } else { shown.peer_seconds };
        self.sum.strangers_refused += shown.strangers_refused;
        // Without a majority the match stays stalled, so later events cannot happen.
        self.can_recover += u64::from(shown.can_recover && !shown.stood_still);
        self.go_on += u64::from(shown.goes_on && !shown.stood_still);
    }

    /// Required events that did not happen, without which the run proves nothing. A single repeated
    /// seed requires none, and a match requires only events that can happen in it.
    fn too_little(&self, minutes: u64) -> Option<String> {
        let (tally, all_minutes) = (&self.sum.tally, self.matches * minutes);
        let went_on = self.go_on * minutes;
        // In a match of two a peer can miss only one other, and a stalled peer reports no further
        // loss.
        let returns_due = all_minutes - (self.matches - self.can_recover) * minutes / 2;
        let always = [
            ("rollbacks per machine and second", tally.rollbacks, self.rollback_seconds),
            ("joins a minute", self.sum.joins, went_on),
            ("leaves a minute", self.sum.leaves, went_on),
            (
                "refusals of another build, four a minute where one knocks",
                self.sum.strangers_refused,
                4 * self.with_stranger * minutes,
            ),
        ];
        let in_many = [
            ("lead changes in half of the matches", self.with_lead_change * 2, self.go_on),
            ("recoveries in a tenth of the matches", self.with_recovery * 10, self.can_recover),
            ("watchers who came, one in two minutes", self.sum.watchers_came * 2, all_minutes),
            ("seconds watched", tally.watched / 60, all_minutes * 10),
            ("chains of watchers in a tenth of the matches", self.with_chain * 10, self.matches),
            ("times a peer was interrupted and resumed, one a minute", tally.returns, returns_due),
            ("compared states", tally.compared, all_minutes * 60),
            ("matches in lockstep", self.in_lockstep, 1),
            (
                "joins of two players at one machine, one in four minutes",
                self.sum.joins_of_two * 4,
                all_minutes,
            ),
        ];
        let in_few = [(
            "recoveries of those who watch, one in fifty matches",
            tally.recoveries_watching * 50,
            self.can_recover,
        )];
        let long = minutes >= MATCH_MINUTES_JUDGED_MIN;
        let always = always.into_iter().filter(|_| went_on >= MINUTES_JUDGED_MIN);
        let in_many = in_many.into_iter().filter(|_| long && self.matches >= MATCHES_JUDGED_MIN);
        let in_few = in_few.into_iter().filter(|_| long && self.can_recover >= MATCHES_JUDGED_WHOLE_MIN);
        let demands = always.chain(in_many).chain(in_few);
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
            "{} matches, {} of them in lockstep, {} machine-minutes: {} frames, {} rollbacks, {} joins and {} leaves, {} lead changes, {} views and {} \
             yields, {} of the joins with two players, {} came to watch and saw {} s, {} times from each other, {} desyncs, {} recoveries and {} of those who watch, {} starts over, {} times a peer was interrupted and resumed, {} refusals of another build; {} inputs and {} states checked; together again within {}; at most {} entries of a stream and {} KB held{}",
            self.matches,
            self.in_lockstep,
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
            self.sum.strangers_refused,
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

/// Plays all seeds, on several threads.
fn play_all(options: &Options) -> Together {
    let together = Mutex::new(Together::default());
    each_seed(options.seeds, options.threads, |seed| {
        let plan = options.plan(seed);
        let outcome = play(&plan);
        let Ok(mut together) = together.lock() else { return };
        match outcome {
            Ok(shown) => {
                together.add(&shown);
                together.digests.insert(seed, shown.digest);
            }
            Err(why) => {
                let again = options.again(seed);
                together.failures.push((seed, format!("{plan}\n{why}\nagain: {again}")));
            }
        }
    });
    together.into_inner().unwrap_or_default()
}

/// Runs the command and returns its report.
pub(crate) fn run(options: &Options) -> Result<String, String> {
    let (first, end) = options.seeds;
    if end == first + 1 {
        eprintln!("{}", options.plan(first));
    } else {
        let (least, most) = MACHINES_DRAWN.into_inner();
        let peers = options.peers.map_or(format!("{least} to {most}"), |peers| peers.to_string());
        let majority = if options.majority { ", majority" } else { "" };
        eprintln!("seeds {first}..{end}: {peers} machines, {} min each{majority}", options.minutes);
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
    if let Some(digests) = options.digest.report("timeline", &together.digests) {
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
    use std::collections::BTreeSet;

    use clap::{CommandFactory, Parser};

    use super::*;

    impl Options {
        /// Options with nothing but seeds given.
        fn of(seeds: (u64, u64)) -> Options {
            Options {
                seeds,
                peers: None,
                minutes: 2,
                threads: None,
                majority: false,
                digest: DigestOptions::default(),
            }
        }
    }

    /// These seeds have some matches of each kind; the first seeds of all have neither another
    /// build nor a large state.
    #[test]
    fn matches_with_all_faults_survive() {
        let options = Options::of((112, 136));
        let together = play_all(&options);
        assert!(together.failures.is_empty(), "{:#?}", together.failures);
        assert_eq!(together.too_little(2), None);
        assert_eq!((together.with_stranger, together.with_large_state), (11, 2));
        assert!(together.in_lockstep >= 3, "{}", together.in_lockstep);
        assert!(together.sum.strangers_refused > 50, "{}", together.sum.strangers_refused);
    }

    /// A spectator asks one donor after the other and reports no progress each time.
    #[test]
    fn spectator_that_changes_donor_reports_start_once() {
        let options = Options::of((315, 316));
        let together = play_all(&options);
        assert!(together.failures.is_empty(), "{:#?}", together.failures);
    }

    /// A spectator receives more frames at once than a roster remembers departures.
    #[test]
    fn departure_missed_by_one_peer_is_found_at_others() {
        let together = play_all(&Options { peers: Some(8), ..Options::of((359, 360)) });
        assert!(together.failures.is_empty(), "{:#?}", together.failures);
    }

    /// A missing peer left with one branch and was a member of the next one before any check.
    #[test]
    fn peer_that_left_meanwhile_is_not_resumed() {
        let together = play_all(&Options::of((72_125, 72_126)));
        assert!(together.failures.is_empty(), "{:#?}", together.failures);
    }

    /// Here findings about a state arrive after its recovery or a second time, and a checksum
    /// arrives again after its findings were forgotten.
    #[test]
    fn differing_state_is_reported_once() {
        for seed in [372, 1532, 41_422] {
            let together = play_all(&Options::of((seed, seed + 1)));
            assert!(together.failures.is_empty(), "{:#?}", together.failures);
        }
    }

    #[test]
    fn run_without_events_proves_nothing() {
        let of = |matches, joins| {
            let tally = machine::Tally { rollbacks: 5_000, ..machine::Tally::default() };
            let sum = Shown { tally, joins, leaves: 30, peer_seconds: 4_000, ..Shown::default() };
            let rollback_seconds = sum.peer_seconds;
            let together = Together {
                matches,
                sum,
                rollback_seconds,
                in_lockstep: 1,
                can_recover: matches,
                go_on: matches,
                ..Together::default()
            };
            together.too_little(2)
        };
        assert_eq!(of(4, 3), None, "eight minutes are too short to judge");
        assert_eq!(of(5, 10), None, "ten seeds show joins, but nothing rare");
        assert_eq!(of(5, 9).as_deref(), Some("too few joins a minute: 9 where at least 10 are due"));
        assert!(of(20, 60).is_some_and(|missing| missing.contains("recoveries in a tenth")));
    }

    #[test]
    fn majority_option_is_in_every_match_and_repeat_command() {
        let options = Options { majority: true, ..Options::of((0, 4)) };
        assert!((0..4).all(|seed| options.plan(seed).majority), "{}", options.plan(0));
        assert_eq!(options.again(3), "cargo xtask chaos --seeds 3..4 --minutes 2 --majority");
    }

    #[test]
    fn same_seed_gives_same_match() {
        let plan = Plan::draw(5, None, 1);
        let [a, b] = [0, 1].map(|_| format!("{:?}", play(&plan)));
        assert_eq!(a, b);
    }

    /// Missing events of matches in which nothing happened.
    fn missed(matches: u64, minutes: u64, can_recover: bool, goes_on: bool) -> String {
        let mut together = Together::default();
        let shown = Shown { can_recover, goes_on, ..Shown::default() };
        (0..matches).for_each(|_| together.add(&shown));
        together.too_little(minutes).unwrap_or_default()
    }

    #[test]
    fn targets_of_impossible_events_are_not_asked_for() {
        let all = missed(100, 2, true, true);
        for what in [
            "joins a minute",
            "lead changes in half",
            "recoveries in a tenth",
            "recoveries of those who watch",
        ] {
            assert!(all.contains(what), "{what}: {all}");
        }
        let two = missed(100, 2, false, true);
        assert!(!two.contains("recoveries") && two.contains("joins a minute"), "{two}");
        assert!(two.contains("resumed, one a minute: 0 where at least 100"), "{two}");
        let majority_of_two = missed(100, 2, false, false);
        assert!(!majority_of_two.contains("joins a minute") && !majority_of_two.contains("lead changes"));
        assert!(majority_of_two.contains("compared states"), "{majority_of_two}");
    }

    #[test]
    fn rare_events_are_required_of_many_matches_only() {
        assert!(!missed(99, 2, true, true).contains("recoveries of those who watch"));
        let short = missed(100, 1, true, true);
        assert!(short.contains("joins a minute") && !short.contains("lead changes"), "{short}");
    }

    #[test]
    fn matches_of_two_machines_prove_something() {
        let options = Options { peers: Some(2), ..Options::of((0, 20)) };
        let together = play_all(&options);
        assert!(together.failures.is_empty(), "{:#?}", together.failures);
        assert_eq!((together.matches, together.can_recover, together.too_little(2)), (20, 0, None));
    }

    /// The command line as clap reads it.
    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn read(line: &str) -> Result<Options, String> {
        let words = std::iter::once("chaos").chain(line.split_whitespace());
        Line::try_parse_from(words).map(|line| line.options).map_err(|error| error.to_string())
    }

    #[test]
    fn impossible_options_are_rejected_in_one_line() {
        let refused = [
            ("--peers 1", "1 is not in 2..=8"),
            ("--peers 16", "16 is not in 2..=8"),
            ("--peers 300", "300 is not in 2..=8"),
            ("--peers three", "invalid digit"),
            ("--peers", "a value is required for '--peers <PEERS>'"),
            ("--minutes 0", "0 is not in 1..=1440"),
            ("--minutes 1441", "1441 is not in 1..=1440"),
            ("--minutes -1", "unexpected argument '-1'"),
            ("--threads 0", "0 is not in 1..=1024"),
            ("--seeds 5..5", "no seed is in it"),
            ("--seeds 7", "write 0..100"),
            ("--seeds", "a value is required for '--seeds <FIRST..END>'"),
            ("--seed 5..6", "unexpected argument '--seed'"),
            ("12", "unexpected argument '12'"),
        ];
        for (line, why) in refused {
            let said = read(line).err().unwrap_or_default();
            assert!(said.lines().next().is_some_and(|first| first.contains(why)), "{line}: {said}");
        }
        let all = read("--seeds 3..9 --peers 8 --minutes 1440 --threads 2 --majority")
            .unwrap_or_else(|why| panic!("{why}"));
        assert_eq!((all.seeds, all.peers, all.minutes), ((3, 9), Some(8), 1440));
        assert!(all.threads == Some(2) && all.majority);
    }

    #[test]
    fn number_of_machines_is_as_requested() {
        for peers in [2, 8] {
            let options = Options { peers: Some(peers), ..Options::of((0, 1)) };
            assert_eq!(options.plan(0).machines, usize::from(peers));
        }
        let drawn: BTreeSet<u8> =
            (0..100).map(|seed| Options::of((0, 1)).plan(seed).machines as u8).collect();
        assert_eq!(drawn, MACHINES_DRAWN.collect());
    }

    #[test]
    fn help_names_bounds_of_options() {
        let help = Line::command().render_help().to_string();
        let (least, most) = MACHINES.into_inner();
        let (few, many) = MACHINES_DRAWN.into_inner();
        for said in [
            format!("{least} to {most}; by default {few} to {many}, drawn from the seed"),
            format!("1 to {MINUTES_MAX}"),
            format!("1 to {THREADS_MAX}"),
            "--replica".to_owned(),
            SEEDS.to_owned(),
        ] {
            assert!(help.contains(&said), "{said}: {help}");
        }
    }
}
