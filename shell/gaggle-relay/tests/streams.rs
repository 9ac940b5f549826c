//! A member that opens more streams on its channel than the one there is.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod hostile;

use gaggle_link::relay::{RelayFrame, RelayRefusal};
use gaggle_relay::RelayConfig;
use gaggle_relay::loopback::Loopback;

use hostile::{Hostile, word};

#[test]
fn whoever_opens_another_stream_is_shown_out() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    let mut hostile = Hostile::come(&relay, &[0, 77]);
    hostile.run_until("two streams on its side", |hostile| hostile.open.len() == 2);
    // What it says on the one there is counts, and nothing happens to it.
    let totals = || relay.server().totals();
    hostile.write(0, &RelayFrame::Everyone { datagram: b"hello" }.to_bytes());
    hostile.run_until("a datagram handed in", |_| totals().received == 1);
    assert_eq!((totals().members, totals().malformed), (1, 0));
    hostile.write(1, b"hello");
    hostile.run_until("shown out", |_| totals().members == 0);
    assert_eq!(totals().malformed, 1);
    let reason = word(&mut hostile.words, |frame| match frame {
        RelayFrame::Refused { reason } => Some(*reason),
        _ => None,
    });
    assert_eq!(reason, RelayRefusal::Malformed, "it is told why");
}
