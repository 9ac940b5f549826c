//! The pond between peers on simulated networks with loss and delay, in virtual time.

mod company;

use std::collections::BTreeSet;

use company::{Cluster, Loot, bad_wifi};
use gaggle_kit::{Fixed16, Slot};
use gaggle_link::sim::Conditions;
use gaggle_replica::{ObjectId, Session};
use millpond::ledger::{JETTY_REACH, PADDLE_REACH, PADDLES};
use millpond::{Boat, Ledger, Pad, Sort, THINGS, Thing, WISHES, water};

#[test]
fn joiner_sees_whole_pond_within_seconds() {
    let mut company = Cluster::of(2, 3, bad_wifi());
    let frames = company.run_until(|company| {
        let boats = company.pond(1).boats[0].is_some() && company.pond(0).boats[1].is_some();
        boats && company.session(1).iter::<Thing>().count() >= THINGS
    });
    assert!(frames <= 5 * 60, "it took {frames} frames");
}

#[test]
fn pushed_thing_changes_authority_and_peers_agree() {
    let mut company = Cluster::of(2, 9, bad_wifi());
    company.run_until(|company| company.session(1).iter::<Thing>().count() >= THINGS);
    company.press_all(Some(Pad::NONE));
    // The second boat rows ahead until it has pushed something.
    company.machine(1).pressed = Some(Pad { up: true, ..Pad::NONE });
    company.run_until(|company| company.session(1).iter_authoritative::<Thing>().count() > 0);
    let pushed: Vec<_> = company.session(1).iter_authoritative::<Thing>().collect();
    let place = |company: &Cluster, me: usize, id: ObjectId| company.pond(me).find(id).unwrap().thing.place;
    let before: Vec<_> = pushed.iter().map(|id| place(&company, 0, *id)).collect();
    company.press_all(Some(Pad::NONE));
    company.run_secs(6);
    assert!(!pushed.is_empty());
    for (id, before) in pushed.iter().zip(before) {
        assert!(company.session(1).has_authority(*id), "the pusher lost its authority");
        assert_eq!(
            company.session(0).authority(*id),
            Some(Slot::at(1)),
            "the other peer has another authority"
        );
        let told = |me: usize| company.session(me).get::<Thing>(*id).unwrap();
        assert!(told(0).rests() && told(0) == told(1), "{:?} and {:?}", told(0), told(1));
        assert_ne!(told(0).place, before, "the thing did not move");
    }
    // Things at rest lie at the same place at both peers; those in the race move on.
    let still = |(_, thing): &(_, Thing)| thing.rests() && thing.sort != Sort::Lily;
    let (one, other) = (company.things(0), company.things(1));
    let (one, other): (Vec<_>, Vec<_>) =
        (one.into_iter().filter(still).collect(), other.into_iter().filter(still).collect());
    assert!(one.len() > 200);
    let same = one.iter().filter(|thing| other.contains(thing)).count();
    assert!(same * 100 >= one.len() * 97, "{same} of {}", one.len());
}

#[test]
fn touch_does_not_take_thing_in_tow() {
    let mut company = Cluster::of(2, 17, Conditions::latency_ms(30));
    company.run_until(|company| company.session(1).iter::<Thing>().count() >= THINGS);
    company.press_all(Some(Pad::NONE));
    company.run_secs(1);
    let log =
        company.things(1).into_iter().find(|(_, thing)| thing.sort == Sort::Log).map(|(id, _)| id).unwrap();
    company.machine(1).session.lock(log).unwrap();
    company.run_secs(1);
    // A thing at rest is released, so it is kept in motion.
    assert_eq!(company.session(0).authority(log), Some(Slot::at(1)));
    company.machine(1).session.lock(log).unwrap();
    (0..12).for_each(|_| company.frame());
    assert!(company.machine(0).session.claim(log).is_err());
    company.run_secs(2);
    assert!(company.machine(0).session.claim(log).is_ok(), "a thing at rest could not be claimed");
}

#[test]
fn leader_crash_loses_no_things_and_no_deliveries() {
    let mut company = Cluster::of(3, 23, bad_wifi());
    company.run_until(|company| (1..3).all(|me| company.session(me).iter::<Thing>().count() >= THINGS));
    company.run_until(|company| company.pond(1).ledger.brought.iter().sum::<u8>() > 0);
    company.run_secs(2);
    let (things, ledger) = (company.session(1).iter::<Thing>().count(), company.pond(1).ledger);
    company.kill(0);
    company.run_until(|company| company.session(1).is_leader());
    company.run_secs(3);
    let after = company.session(1).iter::<Thing>().count();
    assert!(after + 8 >= things && after <= things + 12, "{things} things before, {after} after");
    assert!(ledger.brought.iter().any(|brought| *brought > 0), "nothing was delivered before the crash");
    assert_eq!(company.pond(1).ledger.day, ledger.day);
    let kept = company.pond(1).ledger.brought.iter().zip(ledger.brought).all(|(now, then)| *now >= then);
    assert!(kept, "a delivery was lost");
    let kept = company.pond(1).ledger.credit.iter().zip(ledger.credit).all(|(now, then)| *now >= then);
    assert!(kept && ledger.credit.iter().any(|credit| *credit > 0), "credit was lost: {ledger:?}");
    company.run_secs(5);
    assert_eq!(company.session(1).iter::<Thing>().count(), company.session(2).iter::<Thing>().count());
    // The crashed player returns to its boat.
    company.start(0);
    company.run_until(|company| company.session(0).iter::<Thing>().count() >= after - 12);
    company.run_until(|company| {
        let boats = company.session(1).iter::<Boat>().filter(|(_, boat)| boat.seat == 0);
        boats.into_iter().any(|(id, _)| company.session(1).authority(id) == Some(Slot::at(0)))
    });
}

#[test]
fn leader_is_not_credited_for_deliveries_of_bots() {
    let mut company = Cluster::of(1, 27, bad_wifi());
    company.press_all(Some(Pad::NONE));
    for _ in 0..4 * 60 {
        company.run_secs(1);
        if company.pond(0).ledger.credit.iter().map(|credit| u32::from(*credit)).sum::<u32>() >= 3 {
            break;
        }
    }
    let credit = company.pond(0).ledger.credit;
    assert_eq!(credit[0], 0, "the leader's idle boat was credited: {credit:?}");
    assert!(credit[1..].iter().any(|credit| *credit > 0), "bots were not credited: {credit:?}");
}

#[test]
fn thing_that_leaps_to_jetty_is_not_delivered() {
    let mut company = Cluster::of(2, 41, Conditions::latency_ms(20));
    company.run_until(|company| company.session(1).iter::<Thing>().count() >= THINGS);
    company.press_all(Some(Pad::NONE));
    company.run_secs(2);
    let before = company.pond(0).ledger;
    company.cheat = Some((1, |session, _| {
        let all: Vec<_> = session.iter::<Thing>().collect();
        for (id, crate_) in all.into_iter().filter(|(_, thing)| thing.sort == Sort::Crate).take(3) {
            if session.has_authority(id) || session.claim(id).is_ok() {
                _ = session
                    .set(id, &Thing { place: WISHES[0].place(), velocity: [Fixed16::ZERO; 2], ..crate_ });
            }
        }
        // Neither the ledger nor another player's boat is writable.
        assert!(session.set_value(Slot::at(0), &Ledger { day: 9, ..Ledger::default() }).is_err());
        let boats: Vec<_> =
            session.iter::<Boat>().filter(|(_, boat)| boat.seat == 0).map(|(id, _)| id).collect();
        assert!(boats.into_iter().all(|id| session.lock(id).is_err()));
    }));
    company.run_secs(4);
    let leapt = company
        .things(0)
        .iter()
        .filter(|(_, thing)| water::is_within(thing.place, WISHES[0].place(), 40))
        .count();
    assert!(leapt > 0, "no leap arrived");
    assert_eq!(company.pond(0).ledger.brought, before.brought);
}

/// Peers that have received the whole pond and do not play.
fn quiet(seed: u64) -> Cluster {
    let mut company = Cluster::of(3, seed, Conditions::latency_ms(20));
    company.run_until(|company| (1..3).all(|me| company.session(me).iter::<Thing>().count() >= THINGS));
    company.press_all(Some(Pad::NONE));
    company.run_secs(2);
    company
}

/// Number of things of a sort, each in a stack counted.
fn units(company: &Cluster, sort: Sort) -> u32 {
    let all = company.things(0).into_iter().filter(|(_, thing)| thing.sort == sort);
    all.map(|(_, thing)| u32::from(thing.count)).sum()
}

#[test]
fn forged_thing_at_jetty_scores_nothing_and_is_removed() {
    let mut company = quiet(43);
    let (before, crates) = (company.pond(0).ledger, units(&company, Sort::Crate));
    company.cheat = Some((1, |session, _| {
        let mine = session.iter_authoritative::<Thing>().count();
        if mine < 20 {
            let stack = Thing { count: 4, ..Thing::new(Sort::Crate, WISHES[0].place()) };
            session.spawn(&stack).unwrap();
            // Before the leader's bow, which will claim it by collision.
            session.spawn(&Thing { place: water::at(480, 280), ..stack }).unwrap();
        }
    }));
    company.machine(0).pressed = Some(Pad { up: true, ..Pad::NONE });
    company.run_secs(4);
    company.cheat = None;
    company.run_secs(6);
    let after = company.pond(0).ledger;
    assert_eq!((after.brought, after.credit), (before.brought, before.credit));
    assert!(company.undone() >= 20);
    assert_eq!(units(&company, Sort::Crate), crates, "the number of crates changed");
}

/// Claims up to `count` wanted things at least `far` from their jetty, and moves each toward it
/// by `step` pixels per frame.
fn hop(session: &mut Session, loot: &mut Loot, wish: usize, (count, far): (usize, i32), step: Fixed16) {
    let (jetty, sort) = (WISHES[wish].place(), WISHES[wish].sort);
    if loot.is_empty() {
        let all: Loot = session.iter::<Thing>().collect();
        let far = |thing: &Thing| thing.sort == sort && !water::is_within(thing.place, jetty, far);
        let mine = |(id, _): &(ObjectId, Thing)| session.has_authority(*id) || session.claim(*id).is_ok();
        *loot = all.into_iter().filter(|(_, thing)| far(thing)).filter(mine).take(count).collect();
    }
    for (id, thing) in loot {
        let way = water::offset(thing.place, jetty);
        let hop = water::from_polar(water::direction(way), step.min(water::length(way)));
        thing.place = water::add(thing.place, hop);
        // Rejected once the leader has removed it.
        _ = session.set(*id, thing);
    }
}

/// Runs with a cheater and then without. Returns how far a wanted thing was reported from its true
/// position, and how many were reported at the jetty.
fn told_while_cheated(company: &mut Cluster, wish: usize) -> (Fixed16, usize) {
    let wanted = |company: &Cluster| -> Loot {
        company.things(0).into_iter().filter(|(_, thing)| thing.sort == WISHES[wish].sort).collect()
    };
    let before = wanted(company);
    let (mut farthest, mut there) = (Fixed16::ZERO, BTreeSet::new());
    for _ in 0..14 * 60 {
        company.frame();
        for (id, thing) in wanted(company) {
            let from = before.get(&id).map_or(thing.place, |before| before.place);
            farthest = farthest.max(water::length(water::offset(from, thing.place)));
            if water::is_within(thing.place, WISHES[wish].place(), JETTY_REACH) {
                there.insert(id);
            }
        }
    }
    company.cheat = None;
    company.run_secs(6);
    (farthest, there.len())
}

#[test]
fn things_in_small_hops_are_not_delivered_and_put_back() {
    let mut company = quiet(47);
    let (before, crates) = (company.pond(0).ledger, units(&company, Sort::Crate));
    // Four pixels per frame, twice the speed of anything afloat.
    company.cheat = Some((1, |session, loot| hop(session, loot, 0, (4, 800), Fixed16::from_int(4))));
    let (farthest, there) = told_while_cheated(&mut company, 0);
    assert!(
        farthest > Fixed16::from_int(600) && there >= 2,
        "{there} were reported at the jetty, {farthest} pixels away"
    );
    assert_eq!(company.pond(0).ledger.brought, before.brought);
    // Drifting things in the race may have pushed some away from the cheater.
    assert_eq!(company.undone() as usize, there, "not all were put back");
    assert_eq!(units(&company, Sort::Crate), crates, "the number of crates changed");
    let there =
        |(_, thing): &(ObjectId, Thing)| water::is_within(thing.place, WISHES[0].place(), JETTY_REACH);
    for me in 0..3 {
        assert_eq!(company.things(me).iter().filter(|it| there(it)).count(), 0, "not back at peer {me}");
    }
}

#[test]
fn bell_at_crate_speed_is_not_delivered_by_one_peer() {
    let mut company = quiet(47);
    let before = company.pond(0).ledger;
    // The speed of a crate, which would be plausible with two boats.
    company.cheat = Some((1, |session, loot| hop(session, loot, 3, (1, 320), Fixed16::from_ratio(3, 2))));
    let (farthest, _) = told_while_cheated(&mut company, 3);
    assert!(farthest > Fixed16::from_int(300), "it was reported only {farthest} pixels away");
    assert_eq!(company.undone(), 1, "it was not put back");
    assert_eq!(company.pond(0).ledger.brought, before.brought);
    let bells: Vec<Thing> =
        company.things(0).into_iter().map(|(_, thing)| thing).filter(|it| it.sort == Sort::Bell).collect();
    assert!(bells.len() == 1 && !water::is_within(bells[0].place, WISHES[3].place(), JETTY_REACH));
}

#[test]
fn crate_with_forged_count_scores_nothing() {
    let mut company = quiet(47);
    let (before, crates) = (company.pond(0).ledger, units(&company, Sort::Crate));
    company.cheat = Some((1, |session, loot| {
        hop(session, loot, 0, (6, 60), Fixed16::ZERO);
        for (id, thing) in loot {
            thing.count = 4;
            _ = session.set(*id, thing);
        }
    }));
    company.run_secs(2);
    assert_eq!(units(&company, Sort::Crate), crates + 18, "the forged counts did not arrive");
    company.run_secs(10);
    company.cheat = None;
    company.run_secs(6);
    assert_eq!(
        (company.undone(), units(&company, Sort::Crate)),
        (6, crates),
        "not all forged counts were undone"
    );
    assert_eq!(company.pond(0).ledger.brought, before.brought);
}

#[test]
fn boats_that_leap_to_paddles_do_not_open_sluice() {
    let mut company = quiet(51);
    company.accomplice = Some(2);
    company.cheat = Some((1, |session, _| {
        let me = session.local_slot();
        let (x, y) = PADDLES[usize::from(me.number()) - 1];
        let boat = session.iter_owned::<Boat>(me).next();
        let Some((id, boat)) = boat.and_then(|id| Some((id, session.get::<Boat>(id)?))) else { return };
        _ = session.set(id, &Boat { place: water::at(x, y), ..boat });
    }));
    for _ in 0..10 * 60 {
        company.frame();
        assert!(!company.pond(0).ledger.open, "the sluice opened");
    }
    for (seat, (x, y)) in [1, 2].into_iter().zip(PADDLES) {
        let boat = company.pond(0).boats[seat].unwrap();
        assert!(water::is_within(boat.place, water::at(x, y), PADDLE_REACH), "no leap arrived");
    }
}

#[test]
fn honest_deliveries_count_and_none_is_undone() {
    let mut brought = 0;
    for seed in [53, 54, 55] {
        let mut company = Cluster::of(4, seed, bad_wifi());
        company.run_secs(45);
        assert_eq!(company.undone(), 0);
        let (things, crates) = (company.things(0).len(), units(&company, Sort::Crate));
        assert!(things < THINGS + 20 && (59..64).contains(&crates), "{things} things, {crates} crates");
        // Credit of players other than the leader.
        brought += company.pond(0).ledger.credit[1..4].iter().map(|credit| u32::from(*credit)).sum::<u32>();
    }
    assert!(brought >= 2, "{brought}");
}

#[test]
fn object_flood_ends_only_link_of_its_sender() {
    let mut company = Cluster::of(3, 59, Conditions::latency_ms(20));
    company.run_until(|company| (1..3).all(|me| company.session(me).iter::<Thing>().count() >= THINGS));
    company.cheat = Some((2, |session, _| {
        if session.iter::<Thing>().count() < 3_000 {
            (0..40).for_each(|at| _ = session.spawn(&Thing::new(Sort::Log, water::at(40 + at * 20, 400))));
        }
    }));
    company.run_until(|company| (0..2).all(|me| company.session(me).roster().len() == 2));
    let rowed = company.pond(0).boats[1].map(|boat| boat.place);
    company.run_secs(4);
    assert!(company.session(0).roster().by_slot(Slot::at(1)).is_some(), "another peer was disconnected");
    assert_ne!(company.pond(0).boats[1].map(|boat| boat.place), rowed, "the other peer's boat does not move");
    company.run_until(|company| (0..2).all(|me| company.session(me).iter::<Thing>().count() < THINGS + 20));
}

#[test]
fn healed_partition_keeps_one_pond_with_enough_things() {
    let mut company = Cluster::of(4, 61, bad_wifi());
    company.run_until(|company| (1..4).all(|me| company.session(me).iter::<Thing>().count() >= THINGS));
    company.split(Some(vec![vec![0, 1], vec![2, 3]]));
    company.run_secs(30);
    company.split(None);
    company.run_until(|company| (0..4).all(|me| company.session(me).roster().len() == 4));
    company.run_secs(20);
    let (things, crates) = (company.things(0).len(), units(&company, Sort::Crate));
    assert!((THINGS - 20..THINGS + 20).contains(&things), "{things} things");
    assert!((58..66).contains(&crates), "{crates} crates");
    company.run_until(|company| (1..4).all(|me| company.things(me).len() == company.things(0).len()));
}
