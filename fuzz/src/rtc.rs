//! Targets for gaggle-rtc: STUN as anybody may send it to an open port.

use crate::gaggle_rtc::stun::{self, Stun};

/// A target: its name, which is that of its corpus, and what it does with its bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets of this crate.
pub const TARGETS: [Target; 1] = [("rtc_stun", message)];

/// A datagram: nothing panics, and an answer that is understood is written as it was read.
pub fn message(data: &[u8]) {
    match stun::read(data) {
        Some(Stun::Answer(id, seen)) => {
            assert_eq!(stun::read(&stun::answer(id, seen)), Some(Stun::Answer(id, seen)));
        }
        Some(Stun::Check { name }) => assert!(!name.contains(':')),
        Some(Stun::Question(id)) => assert_eq!(stun::read(&stun::question(id)), Some(Stun::Question(id))),
        None => {}
    }
}
