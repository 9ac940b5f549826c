//! Runs of the harness: with all rules, and with each rule removed in turn.
//! Absent: the steps of a run.

use gaggle_testkit::seeds;

use super::*;

fn run(seed: u64, without: Option<Rule>, crowd: Crowd, tally: &mut Tally) -> Result<(), String> {
    let mut world = World::new(seed, without, crowd);
    let steps = match crowd {
        Crowd::Few => 150 + world.random.below(400),
        Crowd::Seven => 150 + world.random.below(number("STEPS").unwrap_or(1_200) as u32),
    };
    let loss = world.random.below(400);
    for _ in 0..steps {
        world.step(loss);
    }
    let healed = world.heal().and_then(|()| world.check());
    for index in 0..world.machines.len() {
        world.count(index);
    }
    let found = world.tally;
    tally.claims += found.claims;
    tally.deletes += found.deletes;
    tally.creates += found.creates;
    tally.returns += found.returns;
    tally.splits += found.splits;
    tally.inherited += found.inherited;
    tally.despawned += found.despawned;
    tally.trusted += found.trusted;
    tally.answers += found.answers;
    tally.refused += found.refused;
    tally.renumbered += found.renumbered;
    tally.dropped += found.dropped;
    tally.differences += found.differences;
    healed.map_err(|error| {
        format!(
            "seed {seed}, {:?}, despawns {}, {} peers, {} renumbered, lobby {}: {error}",
            world.policy,
            world.despawns,
            world.machines.len(),
            found.renumbered,
            world.in_lobby
        )
    })
}

#[test]
fn replicas_after_random_faults_become_equal_and_silent() {
    let mut tally = Tally::default();
    seeds::check(seeds::range(1_500, 30_000), |seed| run(seed, None, Crowd::Few, &mut tally));
    println!("{tally:?}");
    let Tally { claims, deletes, creates, returns, splits, inherited, trusted, answers, refused, .. } = tally;
    for (what, count) in [
        ("claims", claims),
        ("deletions", deletes),
        ("objects", creates),
        ("returns", returns),
        ("splits", splits),
        ("inherited", inherited),
        ("despawned", tally.despawned),
        ("taken back", trusted),
        ("answers", answers),
        ("refused", refused),
        ("packets dropped", tally.dropped),
        ("differences", tally.differences),
    ] {
        assert!(count > 500, "only {count} {what}: the runs prove little");
    }
    assert!(tally.renumbered > 150, "only {} joined again under another number", tally.renumbered);
}

/// Seven peers reach states that fewer do not: several peers tell a member to join again at once,
/// and records are forwarded over longer chains of peers.
#[test]
fn seven_replicas_after_faults_become_equal_and_silent() {
    let mut tally = Tally::default();
    seeds::check(seeds::range(700, 30_000), |seed| run(seed, None, Crowd::Seven, &mut tally));
    println!("{tally:?}");
    let Tally { claims, returns, splits, inherited, renumbered, .. } = tally;
    for (what, count) in [
        ("claims", claims),
        ("returns", returns),
        ("splits", splits),
        ("inherited", inherited),
        ("joined again", renumbered),
    ] {
        assert!(count > 300, "only {count} {what}: the runs prove little");
    }
}

/// Every rule is needed: without it some run diverges. Rules needed too rarely for this test, in a
/// few of 20,000 runs or fewer, are measured by `rule_removed_failure_rate`.
#[test]
fn rule_removed_makes_some_run_diverge() {
    for rule in [
        Rule::ClaimsGoAbove,
        Rule::OrphansAreRelayed,
        Rule::ReturnersAreNew,
        Rule::TombstonesAreOwed,
        Rule::OnlyTheirAckPays,
        Rule::TombstonesAtLinkStart,
        Rule::SuccessorsTakeTombstones,
        Rule::LaterWins,
        Rule::PacketsAreAddressed,
        Rule::UnauthorizedAreDespawned,
        Rule::ForgedAuthorityIsContradicted,
    ] {
        let failing = |seed: &u64| run(*seed, Some(rule), Crowd::Few, &mut Tally::default()).is_err();
        let first = (0..10_000).find(failing);
        println!("without {rule:?} seed {first:?} fails");
        assert!(first.is_some(), "no run needs {rule:?}");
    }
}

/// How often each rule is needed: `GAGGLE_SEEDS=0..60000 RULE=RefusedAreKept cargo test --release`.
#[test]
fn rule_removed_failure_rate() {
    let Ok(name) = std::env::var("RULE") else { return };
    let rule = Rule::ALL.into_iter().find(|rule| format!("{rule:?}") == name).expect("a rule of this name");
    let failing = |seed: &u64| run(*seed, Some(rule), Crowd::Few, &mut Tally::default()).is_err();
    println!(
        "without {rule:?}: {} of {} fail",
        seeds::range(1_000, 60_000).filter(failing).count(),
        seeds::range(1_000, 60_000).count()
    );
}
