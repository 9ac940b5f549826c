//! Whoever watches sees what is confirmed, soon, and nobody who plays notices.

mod company;

use company::{Company, config};
use gaggle_timeline::Event;

#[test]
fn somebody_watches_while_people_come_and_go() {
    let mut company = Company::configured(6, 3, 51, config(4), 20_000);
    company.run_ms(2_000);
    let stalls = company.stalls();
    company.watch(4).watch(5).run_until("it shows the match", 3_000, |c| c.session(4).is_running());
    company.run_ms(3_000);
    assert_eq!(company.stalls()[..3], stalls[..3], "nobody waits for those who watch");
    company.join(3).run_until("a fourth plays", 3_000, |c| c.session(3).is_member());
    company.leave(0).run_ms(3_000).crash(0);
    company.run_ms(3_000).expect_together(&[1, 2, 3]);
    let playing = company.session(1).confirmed_frame();
    for index in [4, 5] {
        let session = company.session(index);
        assert!(session.is_watching() && !session.is_member() && session.local_slots().is_empty());
        assert!(session.current_frame() <= session.confirmed_frame(), "nothing guessed is shown");
        let behind = playing.since(session.current_frame());
        assert!(behind < 40, "{behind} frames behind:\n{}", company.describe());
        assert_eq!(session.stats().rollbacks, 0);
        assert!(company.machines[index].compared > 300, "{}", company.machines[index].compared);
    }
    assert_eq!(company.session(1).roster().iter().filter(|row| row.is_open()).count(), 3, "no seat is taken");
}

#[test]
fn whoever_fed_those_who_watch_may_go() {
    for seed in 52..56 {
        let mut company = Company::of(4, 3, seed);
        company.run_ms(1_500).watch(3).run_ms(2_000);
        let donor = (0..3).find(|index| company.session(*index).stats().states_given > 0);
        let donor = donor.expect("somebody gave it a state");
        company.crash(donor).run_ms(9_000);
        let others: Vec<usize> = (0..3).filter(|index| *index != donor).collect();
        company.expect_together(&others);
        let behind = company.session(others[0]).confirmed_frame().since(company.session(3).current_frame());
        assert!(behind < 40, "{behind} frames behind:\n{}", company.describe());
        assert_eq!(company.count(3, |event| matches!(event, Event::Fault { .. })), 0);
    }
}

#[test]
fn those_who_watch_pass_it_on_to_each_other() {
    let mut company = Company::configured(24, 2, 57, config(4), 0);
    company.run_ms(1_500);
    for index in 2..24 {
        company.watch(index).run_ms(60);
    }
    let stalls = company.stalls();
    company.run_ms(8_000).expect_together(&[0, 1]);
    assert_eq!(company.stalls()[..2], stalls[..2]);
    let playing = company.session(0).confirmed_frame();
    for index in 2..24 {
        let behind = playing.since(company.session(index).current_frame());
        assert!(behind < 60, "machine {index} is {behind} frames behind:\n{}", company.describe());
    }
    let passed_on: u64 = (2..24).map(|index| company.session(index).stats().states_given).sum();
    assert!(passed_on >= 6, "only {passed_on} were fed by others who watch");
}
