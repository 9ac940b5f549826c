//! A link in steady state allocates nothing, neither for packets nor for small reliable messages.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use allocation_counter::measure;
use gaggle_kit::Micros;
use gaggle_link::sim::{Chance, Conditions, SimNet};
use gaggle_link::{Channel, Endpoint, LinkConditioner, LinkConfig, Transport, TransportEvent};

#[test]
fn steady_state_allocates_nothing() {
    let mut world = SimNet::new(3, 1);
    world.set_all(Conditions { loss: Chance::percent(2), ..Conditions::latency_ms(30) });
    let impaired = |carrier, seed| LinkConditioner::new(carrier, Conditions::latency_ms(5), seed);
    let mut links = [0, 1, 2]
        .map(|i| Endpoint::new(impaired(world.carrier(i), i as u64), LinkConfig::default(), i as u64));
    let mut received = 0_u32;
    let mut run = |seconds| {
        let mut next_frame = [Micros::ZERO; 3];
        world.run_for(Micros::from_secs(seconds), |peer, now| {
            let link = &mut links[peer];
            while let Some(event) = link.poll(now) {
                received += u32::from(matches!(event, TransportEvent::Message { .. }));
            }
            if now >= next_frame[peer] {
                next_frame[peer] = now + Micros::new(16_667);
                link.broadcast(now, Channel::Unreliable, &[0; 30]).unwrap();
                if now.as_millis() % 10 == 0 {
                    link.broadcast(now, Channel::Reliable(1), &[0; 200]).unwrap();
                }
            }
            link.poll_timeout().min(next_frame[peer])
        });
    };
    // Buffers grow to what the worst lossy minute needs.
    run(600);
    let used = measure(|| run(60));
    assert_eq!(used.count_total, 0, "{used:?}");
    assert!(received > 30_000, "only {received} messages");
}
