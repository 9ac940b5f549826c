//! Large messages beside a game, in virtual time, so the figures are the same on all machines.
//!
//! `main` calls it. Absent: CPU time.

use bench_report::{Report, Row};
use gaggle_kit::Micros;
use gaggle_link::sim::{Chance, Conditions, SimCarrier, SimNet};
use gaggle_link::{Channel, Endpoint, LinkConfig, Transport, TransportEvent};

const FRAME: Micros = Micros::new(16_667);
const START: Micros = Micros::from_secs(2);

struct Outcome {
    done: Micros,
    added_p95: Micros,
}

/// One side: a packet every frame, and from a given frame a large message.
struct Sender {
    link: Endpoint<SimCarrier>,
    payload: Vec<u8>,
    next_frame: Micros,
}

impl Sender {
    fn act(&mut self, now: Micros) {
        let Some(&other) = self.link.peers().first() else { return };
        if now >= START && !self.payload.is_empty() {
            self.link.send(now, other, Channel::Reliable(1), &self.payload).expect("the buffer is empty");
            self.payload.clear();
        }
        if now >= self.next_frame {
            self.next_frame = now + FRAME;
            let mut packet = [0; 40];
            packet[..8].copy_from_slice(&now.get().to_le_bytes());
            self.link.send(now, other, Channel::Unreliable, &packet).expect("the peer is connected");
        }
    }
}

fn transfer(conditions: Conditions, bytes: usize, seed: u64) -> Outcome {
    let mut world = SimNet::new(2, seed);
    world.set_all(conditions);
    let link = |peer| Endpoint::new(world.carrier(peer), LinkConfig::default(), seed << 8 | peer as u64);
    let mut sender = Sender { link: link(0), payload: vec![7; bytes], next_frame: Micros::ZERO };
    let mut receiver = link(1);
    let (mut done_at, mut before, mut during) = (None, Vec::new(), Vec::new());
    world.run_for(Micros::from_secs(30), |peer, now| {
        if done_at.is_some() {
            return Micros::MAX;
        }
        if peer == 0 {
            while sender.link.poll(now).is_some() {}
            sender.act(now);
            return sender.link.poll_timeout().min(sender.next_frame).min(now + Micros::from_millis(1));
        }
        while let Some(event) = receiver.poll(now) {
            match event {
                TransportEvent::Message { channel: Channel::Unreliable, bytes, .. } => {
                    let sent_at = u64::from_le_bytes(*bytes.first_chunk().expect("40 bytes"));
                    let delays = if sent_at < START.get() { &mut before } else { &mut during };
                    delays.push(now.get() - sent_at);
                }
                TransportEvent::Message { .. } => done_at = Some(now),
                _ => {}
            }
        }
        receiver.poll_timeout()
    });
    before.sort_unstable();
    during.sort_unstable();
    let added_p95 = during[during.len() * 95 / 100] - before[before.len() / 2];
    Outcome { done: done_at.unwrap_or(Micros::MAX) - START, added_p95: Micros::new(added_p95) }
}

pub(crate) fn rows(report: &mut Report) {
    let narrow = Conditions {
        latency: Micros::from_millis(25),
        bytes_per_second: Some(500_000),
        queue_bytes: 64 * 1024,
        loss: Chance::percent(5),
        ..Conditions::PERFECT
    };
    report.section("A large message beside a game of 60 packets a second");
    let far = Conditions::latency_ms(50);
    let lossy = Conditions { loss: Chance::percent(5), ..far };
    for (name, conditions, bytes, seconds_max) in [
        ("1 MB, 4 Mbit/s, 64 KB queue, 50 ms, 5 % loss", narrow, 1_000_000, 6.0),
        ("100 KB, 100 ms", far, 100_000, 1.0),
        ("100 KB, 100 ms, 5 % loss", lossy, 100_000, 1.0),
    ] {
        let outcomes: Vec<Outcome> = (0..20).map(|seed| transfer(conditions, bytes, seed)).collect();
        let worst = |figure: fn(&Outcome) -> Micros| {
            outcomes.iter().map(figure).max().map_or(0.0, |span| span.get() as f64)
        };
        let done = worst(|outcome| outcome.done) / 1e6;
        report
            .row(Row::new(format!("{name}: done, worst of 20 seeds"), "s").gaggle(done).at_most(seconds_max));
        let added = worst(|outcome| outcome.added_p95) / 1e3;
        report
            .row(Row::new(format!("{name}: a game beside it, p95"), "ms later").gaggle(added).at_most(20.0));
    }
}
