//! Fuzz targets of gaggle-rtc: STUN from any sender, and session descriptions of other members.
//!
//! Called by `fuzz_targets/` and by the tests of the crate. Absent: the fuzzer and its corpora.

use std::sync::OnceLock;
use std::time::Instant;

use gaggle_rtc::stun::{self, Stun};
use gaggle_rtc::{Certificate, Role, RtcChannel};

/// Name, which is also that of its corpus, and function over the fuzzer's bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All fuzz targets of gaggle-rtc.
pub const TARGETS: [Target; 2] = [("rtc_stun", message), ("rtc_description", description)];

/// A datagram: what is read as STUN is written as it was read.
pub fn message(data: &[u8]) {
    match stun::read(data) {
        Some(Stun::Response(id, seen)) => {
            assert_eq!(stun::read(&stun::answer(id, seen)), Some(Stun::Response(id, seen)));
        }
        Some(Stun::ConnectivityCheck { name }) => assert!(!name.contains(':')),
        Some(Stun::Request(id)) => assert_eq!(stun::read(&stun::request(id)), Some(Stun::Request(id))),
        None => {}
    }
}

/// A description as offer and as answer, and its candidates, one per line: used or rejected,
/// without a failure in the library below.
#[allow(clippy::disallowed_methods, reason = "a channel has to begin at some time; none passes in it")]
pub fn description(data: &[u8]) {
    static CERTIFICATE: OnceLock<Certificate> = OnceLock::new();
    let certificate = CERTIFICATE.get_or_init(|| Certificate::generate().expect("there is entropy"));
    let text = String::from_utf8_lossy(data);
    let now = Instant::now();
    let channel = |role: Role| {
        let mut channel = RtcChannel::new(now, role, certificate);
        channel.add_host(([127, 0, 0, 1], 4_000).into()).expect("an address of this machine");
        channel
    };
    let mut answering = channel(Role::Server);
    let is_answered = answering.answer(&text).is_ok();
    let mut offering = channel(Role::Peer);
    offering.offer().expect("nothing was offered before");
    let is_accepted = offering.accept(&text).is_ok();
    for line in text.lines() {
        let (first, second) = (answering.add_remote(line).is_ok(), offering.add_remote(line).is_ok());
        assert_eq!(first, second, "only one of two channels took the address");
    }
    for (mut channel, is_used) in [(answering, is_answered), (offering, is_accepted)] {
        // No caller polls a channel after it was rejected; polling it must still do no harm.
        let _ = (channel.poll(now), channel.handle_timeout(now), channel.poll(now));
        assert!(!channel.crashed() && !channel.is_open(), "used: {is_used}");
    }
}
