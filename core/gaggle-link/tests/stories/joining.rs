//! Connecting, disconnecting, timeouts and restarts.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use crate::mesh::{Mesh, Told};
use gaggle_kit::Micros;
use gaggle_link::sim::{Chance, Conditions, NetChange, SimNet};
use gaggle_link::{
    Channel, CloseCode, DisconnectReason, Endpoint, LinkConfig, SendError, Transport, TransportEvent,
};

#[test]
fn two_peers_connect_after_one_round_trip() {
    let mut mesh = Mesh::of(2, 1);
    mesh.world.set_all(Conditions::latency_ms(40));
    mesh.run_ms(79);
    assert!(mesh.told.iter().all(Vec::is_empty));
    mesh.run_ms(1);
    assert_eq!(mesh.told, [vec![Told::Joined(mesh.id(1))], vec![Told::Joined(mesh.id(0))]]);
}

#[test]
fn peers_connect_once_on_any_network() {
    for seed in 0..50 {
        let mut mesh = Mesh::of(4, seed);
        mesh.world.set_all(Conditions {
            latency: Micros::from_millis(40),
            loss: Chance::percent(20),
            duplicate: Chance::percent(20),
            reorder: Chance::percent(30),
            reorder_by: Micros::from_millis(200),
            ..Conditions::default()
        });
        mesh.run_ms(20_000);
        for (peer, told) in mesh.told.iter().enumerate() {
            assert_eq!(told.len(), 3, "seed {seed}, peer {peer}: {told:?}");
            assert!(told.iter().all(|told| matches!(told, Told::Joined(_))), "seed {seed}: {told:?}");
        }
    }
}

#[test]
fn close_code_reaches_other_side() {
    let mut mesh = Mesh::of(3, 1);
    mesh.world.set_all(Conditions::latency_ms(20));
    mesh.run_ms(100);
    let (now, [a, b]) = (mesh.world.now(), [mesh.id(0), mesh.id(1)]);
    let goodbye = CloseCode(CloseCode::APP.0 + 1);
    mesh.links[0].disconnect(now, b, goodbye);
    mesh.links[0].disconnect(now, b, goodbye);
    assert_eq!(
        mesh.links[0].send(now, b, Channel::Unreliable, b"x"),
        Err(SendError::NotConnected { peer: b })
    );
    assert_eq!(mesh.links[0].stats(b), None);
    mesh.run_ms(20_000);
    assert_eq!(mesh.told[0][2..], [Told::Left(b, DisconnectReason::Local(goodbye))]);
    assert_eq!(mesh.told[1][2..], [Told::Left(a, DisconnectReason::Remote(goodbye))]);
    assert_eq!(mesh.told[2].len(), 2, "no other peer is notified");
    assert_eq!(mesh.links[0].peers(), [mesh.id(2)]);
}

#[test]
fn silent_peer_times_out_after_3_s_and_reconnects_when_heard() {
    let mut mesh = Mesh::of(2, 1);
    mesh.world.set_all(Conditions::latency_ms(20));
    mesh.run_ms(1_000);
    mesh.world.apply(&NetChange::Isolate(1));
    // The last packet heard is not older than a heartbeat.
    mesh.run_ms(1_999);
    assert_eq!(mesh.told[0].len(), 1);
    mesh.run_ms(1_100);
    let b = mesh.id(1);
    assert_eq!(mesh.told[0][1..], [Told::Left(b, DisconnectReason::Timeout)]);
    mesh.run_ms(60_000);
    mesh.world.apply(&NetChange::Heal);
    mesh.run_ms(1_100);
    assert_eq!(mesh.told[0][2..], [Told::Joined(b)]);
    assert_eq!(mesh.told[1].len(), 3);
    mesh.links[1].send(mesh.world.now(), mesh.world.id(0), Channel::Reliable(0), b"back").unwrap();
    mesh.run_ms(100);
    assert_eq!(mesh.got(0, Channel::Reliable(0)).len(), 1);
}

#[test]
fn quiet_link_stays_up_with_packet_per_second() {
    let mut mesh = Mesh::of(2, 1);
    mesh.world.set_all(Conditions::latency_ms(20));
    mesh.run_ms(5_000);
    let before = mesh.world.totals();
    mesh.run_ms(60_000);
    let sent = mesh.world.totals().sent - before.sent;
    let bytes = mesh.world.totals().bytes_sent - before.bytes_sent;
    assert_eq!(mesh.told[0].len(), 1, "connected and nothing else");
    // Three packets a second serve both sides: ping, answer with a ping, answer.
    assert!((120..=190).contains(&sent), "{sent} packets");
    assert!(bytes < 60 * 45, "{bytes} bytes");
}

#[test]
fn link_in_use_needs_hardly_any_packets_of_its_own() {
    let mut mesh = Mesh::of(2, 1);
    mesh.world.set_all(Conditions::latency_ms(20));
    mesh.run_ms(2_000);
    let before = mesh.world.totals();
    let ids = [mesh.id(0), mesh.id(1)];
    let mut next_at = [Micros::ZERO; 2];
    let mut sent = 0;
    mesh.run(Micros::from_secs(60), |peer, now, link| {
        if now >= next_at[peer] {
            next_at[peer] = now + Micros::from_millis(33);
            link.send(now, ids[1 - peer], Channel::Unreliable, &[0; 11]).unwrap();
            sent += 1;
        }
    });
    let own = mesh.world.totals().sent - before.sent - sent;
    let own_bytes = mesh.world.totals().bytes_sent - before.bytes_sent - sent * 14;
    assert!(own <= 100 && own_bytes < 60 * 25, "{own} packets, {own_bytes} bytes beside {sent} messages");
}

#[test]
fn restarted_program_disconnects_and_connects() {
    let world = SimNet::new(2, 1);
    world.set_all(Conditions {
        reorder: Chance::percent(20),
        duplicate: Chance::percent(20),
        ..Conditions::latency_ms(30)
    });
    let mut mesh = Mesh::on(world, &LinkConfig::default(), 1);
    mesh.run_ms(500);
    let (a, b) = (mesh.id(0), mesh.id(1));
    for round in 0..20_u64 {
        // Data of the old program is still in flight when the new one starts.
        for n in 0..30 {
            mesh.links[1].send(mesh.world.now(), a, Channel::Reliable(0), &[n; 700]).unwrap();
            mesh.links[1].send(mesh.world.now(), a, Channel::Unreliable, b"old").unwrap();
        }
        mesh.run_ms(15);
        mesh.links[1] = Endpoint::new(mesh.world.restarted_carrier(1), LinkConfig::default(), 100 + round);
        mesh.told.iter_mut().for_each(Vec::clear);
        mesh.run_ms(400);
        let came_and_went: Vec<&Told> =
            mesh.told[0].iter().filter(|told| !matches!(told, Told::Message { .. })).collect();
        assert_eq!(
            came_and_went,
            [&Told::Left(b, DisconnectReason::Restarted), &Told::Joined(b)],
            "round {round}"
        );
        let joined_at = mesh.told[0].iter().position(|told| *told == Told::Joined(b)).unwrap();
        assert_eq!(mesh.told[0].len(), joined_at + 1, "round {round}: old messages in a new link");
        assert_eq!(mesh.told[1], [Told::Joined(a)], "round {round}");
        mesh.links[1].send(mesh.world.now(), a, Channel::Reliable(0), b"new").unwrap();
        mesh.run_ms(300);
        assert_eq!(
            mesh.got(0, Channel::Reliable(0)).last().map(|got| got.1),
            Some(&b"new"[..]),
            "round {round}"
        );
    }
}

#[test]
fn reopened_carrier_gives_disconnected_and_connected() {
    let mut mesh = Mesh::of(2, 1);
    mesh.run_ms(100);
    let b = mesh.id(1);
    mesh.world.apply(&NetChange::Disconnect(0, 1));
    mesh.run_ms(100);
    assert_eq!(mesh.told[0][1..], [Told::Left(b, DisconnectReason::CarrierClosed)]);
    mesh.world.apply(&NetChange::Connect(0, 1));
    mesh.world.apply(&NetChange::Connect(0, 1));
    mesh.run_ms(200);
    assert_eq!(mesh.told[0][2..], [Told::Joined(b)]);
}

#[test]
fn suspended_peer_does_not_time_out_others() {
    let mut mesh = Mesh::of(2, 1);
    mesh.world.set_all(Conditions::latency_ms(20));
    mesh.run_ms(500);
    // Peer 1 is suspended for 30 seconds: nothing polls it.
    let a = mesh.id(0);
    let mut heard = Vec::new();
    let asleep = &mut mesh.links[0];
    mesh.world.run_for(Micros::from_secs(30), |peer, now| {
        if peer == 1 {
            return Micros::MAX;
        }
        while let Some(event) = asleep.poll(now) {
            if let TransportEvent::Disconnected { reason, .. } = event {
                heard.push(reason);
            }
        }
        asleep.poll_timeout()
    });
    assert_eq!(heard, [DisconnectReason::Timeout]);
    mesh.told.iter_mut().for_each(Vec::clear);
    mesh.run_ms(2_500);
    // It learns that the link is a new one, not that the other timed out.
    assert_eq!(mesh.told[1], [Told::Left(a, DisconnectReason::Restarted), Told::Joined(a)]);
    assert_eq!(mesh.told[0].len(), 1);
}

#[test]
fn statistics_match_network_conditions() {
    let mut mesh = Mesh::of(2, 3);
    let there = Conditions {
        loss: Chance::percent(10),
        jitter: Micros::from_millis(10),
        ..Conditions::latency_ms(30)
    };
    mesh.world.set_direction(0, 1, there);
    mesh.world.set_direction(1, 0, Conditions::latency_ms(50));
    let ids = [mesh.id(0), mesh.id(1)];
    let mut next_at = [Micros::ZERO; 2];
    mesh.run(Micros::from_secs(30), |peer, now, link| {
        if now >= next_at[peer] && link.peers().len() == 1 {
            next_at[peer] = now + Micros::from_millis(16);
            link.send(now, ids[1 - peer], Channel::Unreliable, &[0; 97]).unwrap();
        }
    });
    let (mine, theirs) = (mesh.links[0].stats(ids[1]).unwrap(), mesh.links[1].stats(ids[0]).unwrap());
    for stats in [mine, theirs] {
        assert!((80..=95).contains(&stats.rtt.unwrap().as_millis()), "{stats:?}");
        assert!((80..=83).contains(&stats.rtt_min.unwrap().as_millis()), "{stats:?}");
        assert!((1..=6).contains(&stats.jitter.as_millis()), "{stats:?}");
        assert!(stats.packets_out > 1_800 && stats.bytes_out > 1_800 * 100, "{stats:?}");
    }
    assert_eq!((mine.loss_in_permille, mine.packets_lost, theirs.loss_out_permille), (0, 0, 0));
    assert!((60..=140).contains(&theirs.loss_in_permille), "{theirs:?}");
    assert!(mine.loss_out_permille.abs_diff(theirs.loss_in_permille) <= 25, "{mine:?} {theirs:?}");
    assert!((150..=230).contains(&theirs.packets_lost), "{theirs:?}");
    let under_way = mine.packets_out - theirs.packets_in - theirs.packets_lost;
    assert!(under_way < 5, "{under_way} packets are neither received nor counted as lost");
}

#[test]
fn busy_carrier_drops_oldest_and_reports_it() {
    let mut mesh = Mesh::of(2, 1);
    mesh.run_ms(100);
    let (now, other) = (mesh.world.now(), mesh.id(1));
    mesh.world.set_direction(0, 1, Conditions { is_blocked: true, ..Conditions::PERFECT });
    for n in 0..100_u8 {
        mesh.links[0].send(now, other, Channel::Unreliable, &[n]).unwrap();
    }
    let stats = mesh.links[0].stats(other).unwrap();
    assert_eq!((stats.unreliable_queued, stats.unreliable_dropped), (60, 40));
    mesh.run_ms(50);
    mesh.world.set_direction(0, 1, Conditions::PERFECT);
    mesh.run_ms(50);
    let got: Vec<u8> = mesh.got(1, Channel::Unreliable).iter().map(|(_, bytes)| bytes[0]).collect();
    assert_eq!(got, (40..100).collect::<Vec<u8>>());
    assert_eq!(mesh.links[0].stats(other).unwrap().unreliable_queued, 0);
    assert_eq!(
        mesh.links[1].stats(mesh.id(0)).unwrap().packets_lost,
        0,
        "what was never sent is not \
     lost"
    );
}
