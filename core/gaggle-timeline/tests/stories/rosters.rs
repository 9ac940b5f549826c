//! Events alone describe the roster: every peer is reported to join and to leave once, in all
//! cases.

use std::collections::BTreeSet;

use crate::cluster::{Cluster, config};
use gaggle_kit::{Micros, PeerId, Prng};
use gaggle_link::sim::{Conditions, NetChange};
use gaggle_timeline::{SessionEvent, TimelineConfig};

/// Peers that are present according to one peer.
fn present(cluster: &Cluster, index: usize) -> BTreeSet<PeerId> {
    let session = cluster.session(index);
    let frame = session.confirmed_frame().max(session.start_frame().next());
    session.roster().iter().filter(|row| row.is_present_at(frame)).map(|row| row.stream.peer).collect()
}

/// Events of a peer since its roster was last read.
struct Account {
    here: BTreeSet<PeerId>,
    read: usize,
}

impl Account {
    fn begin(cluster: &Cluster, index: usize) -> Account {
        Account { here: present(cluster, index), read: cluster.machines[index].events.len() }
    }

    /// Reads new events, and fails for impossible ones: a present peer joins again, or an absent
    /// one leaves.
    fn follow(&mut self, cluster: &Cluster, index: usize) {
        let events = &cluster.machines[index].events;
        for event in &events[self.read..] {
            let possible = match event {
                SessionEvent::Joined { peer, .. } => self.here.insert(*peer),
                SessionEvent::Left { peer, .. } => self.here.remove(peer),
                _ => true,
            };
            assert!(possible, "machine {index}: {event:?}\n{}", cluster.describe());
        }
        self.read = events.len();
    }

    fn expect_true(&mut self, cluster: &Cluster, index: usize) {
        self.follow(cluster, index);
        assert_eq!(self.here, present(cluster, index), "machine {index}:\n{}", cluster.describe());
    }
}

#[test]
fn joiner_during_stall_is_told_of_leave() {
    for watches in [true, false] {
        let mut cluster = Cluster::of(4, 3, 901);
        cluster.run_ms(2_000).crash(2).run_ms(700);
        if watches {
            cluster.watch(3);
        } else {
            cluster.join(3);
        }
        cluster.run_until("it sees the match", 2_500, |c| c.session(3).is_running());
        let mut account = Account::begin(&cluster, 3);
        assert!(account.here.contains(&cluster.id(2)), "the others have not agreed yet that it is gone");
        cluster.run_ms(8_000);
        account.expect_true(&cluster, 3);
    }
}

#[test]
fn joiner_gone_before_first_frame_is_not_reported() {
    let mut let_in = 0;
    for moment in 40..58 {
        let mut cluster = Cluster::of(3, 2, 902);
        cluster.weather(Conditions::latency_ms(150)).run_ms(2_000);
        let mut accounts = [0, 1].map(|index| Account::begin(&cluster, index));
        cluster.join(2).run_ms(600 + moment * 15).crash(2);
        let who = cluster.id(2);
        let mut was_empty = false;
        for _ in 0..350 {
            let rows = cluster.run_ms(20).session(0).roster();
            was_empty |= rows.iter().any(|row| row.stream.peer == who && row.last_frame < row.first_frame);
        }
        let_in += usize::from(was_empty);
        for (index, account) in accounts.iter_mut().enumerate() {
            account.expect_true(&cluster, index);
            let told = cluster.count(index, |event| {
                matches!(event, SessionEvent::Joined { peer, .. } | SessionEvent::Left { peer, .. } if *peer == who)
            });
            assert!(told == 0 || !was_empty, "{}", cluster.describe());
        }
    }
    assert!(let_in > 3, "{let_in} times a joiner was admitted and never played");
}

#[test]
fn lone_peer_is_told_that_it_joined() {
    let mut cluster = Cluster::configured(3, 2, 911, config(2), 0);
    cluster.run_ms(1_500).join(2).run_until("it sees the match", 4_000, |c| c.session(2).is_running());
    let mut account = Account::begin(&cluster, 2);
    cluster.run_ms(500).crash(0).crash(1).run_ms(20_000);
    assert!(cluster.session(2).is_member(), "it goes on with what it has:\n{}", cluster.describe());
    account.expect_true(&cluster, 2);
    assert_eq!(account.here, BTreeSet::from([cluster.id(2)]));
}

#[test]
fn lost_branch_is_reported_as_abandoned() {
    for seed in 903..907 {
        let config = TimelineConfig { timeout: Micros::from_secs(8), ..config(4) };
        let mut cluster = Cluster::configured(4, 3, seed, config, 0);
        cluster.run_ms(1_500).watch(3).run_ms(2_500);
        let feeder = (0..3).find(|index| cluster.session(*index).stats().snapshots_sent > 0);
        let feeder = feeder.expect("a donor sent it a snapshot");
        for other in (0..3).filter(|other| *other != feeder) {
            cluster.net.set_direction(
                feeder,
                other,
                Conditions { is_cut: true, ..Conditions::latency_ms(50) },
            );
        }
        cluster.run_ms(1_000).crash(feeder);
        let (shown, taken) =
            (cluster.session(3).current_frame(), cluster.session(3).stats().snapshots_received);
        cluster
            .clear_events()
            .run_until("it takes another state", 20_000, |c| c.session(3).stats().snapshots_received > taken);
        assert!(cluster.session(3).start_frame() < shown, "it goes back:\n{}", cluster.describe());
        let dead = cluster.id(feeder);
        let back = |event: &SessionEvent| matches!(event, SessionEvent::Resumed { peer } if *peer == dead);
        let lost = |event: &SessionEvent| matches!(event, SessionEvent::BranchAbandoned { .. });
        assert_eq!((cluster.count(3, lost), cluster.count(3, back)), (1, 0), "{}", cluster.describe());
    }
}

#[test]
fn roster_equals_reported_events() {
    let mut rng = Prng::new(7);
    for seed in 0..24 {
        let mut cluster = Cluster::configured(6, 3, 5_000 + seed, config(4), 0);
        let mut accounts: [Option<Account>; 6] = [const { None }; 6];
        for _ in 0..24 {
            let index = rng.below(6) as usize;
            match rng.below(9) {
                0 | 1 => _ = cluster.crash(index),
                2..=4 if !cluster.machines[index].on => {
                    accounts[index] = None;
                    if index < 4 {
                        cluster.join(index);
                    } else {
                        cluster.watch(index);
                    }
                }
                5 => {
                    let (one, other) = (0..6).partition(|_| rng.below(2) == 0);
                    cluster.net.apply(&NetChange::Partition(vec![one, other]));
                }
                6 | 7 => {
                    cluster.net.apply(&NetChange::Heal);
                    cluster.connect_all();
                }
                _ => _ = cluster.weather(Conditions::latency_ms(20 + u64::from(rng.below(150)))),
            }
            for _ in 0..5 + rng.below(200) {
                cluster.run_ms(20);
                for (index, account) in accounts.iter_mut().enumerate() {
                    if cluster.machines[index].on && cluster.session(index).is_running() {
                        account
                            .get_or_insert_with(|| Account::begin(&cluster, index))
                            .follow(&cluster, index);
                    }
                }
            }
        }
        cluster.net.apply(&NetChange::Heal);
        cluster.connect_all().run_ms(15_000);
        for (index, account) in accounts.iter_mut().enumerate() {
            if let Some(account) = account.as_mut().filter(|_| cluster.machines[index].on) {
                account.expect_true(&cluster, index);
            }
        }
    }
}

#[test]
fn however_many_have_fallen_silent_others_can_come() {
    let mut cluster = Cluster::configured(40, 2, 913, config(4), 0);
    cluster.run_ms(1_500);
    for index in 2..40 {
        cluster.join_via(index, &[0, 1]).run_until("it plays", 8_000, |c| c.session(index).is_member());
        cluster.run_ms(100).crash(index).run_ms(4_500);
    }
    cluster.run_ms(5_000).expect_together(&[0, 1]);
}
