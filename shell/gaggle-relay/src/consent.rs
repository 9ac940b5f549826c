//! Addresses of a channel that have consented to receive.
//!
//! `udp.rs` calls it. Source addresses can be forged, and a valid ICE check only proves knowledge
//! of the channel's password. So each address is first sent a request that only the other side can
//! answer, or a member could direct traffic at a third party. Absent: sockets, ICE itself.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use gaggle_rtc::stun::TransactionId;

/// Consented addresses per channel at a time.
const AGREED_MAX: usize = 8;
/// Addresses per channel with an open request.
const ASKED_MAX: usize = 4;
/// Addresses that may consent during a channel's life, because ICE keeps state for each. A member
/// that moves more often needs a new channel.
const AGREED_EVER_MAX: usize = 64;
/// A request is repeated with a check that arrives this much later.
const ASK_AGAIN: Duration = Duration::from_millis(40);
/// Longest time until an answer counts; later ones are ignored.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// Lifetime of consent, as in RFC 7675. Checks arrive every three seconds; from the tenth on they
/// renew it.
const AGREED_FOR: Duration = Duration::from_secs(30);
const ASK_ANEW_AFTER: Duration = Duration::from_secs(10);

/// Addresses of one channel and their consent.
#[derive(Debug, Default)]
pub(crate) struct Consent {
    agreed: Vec<Agreed>,
    asked: Vec<Asked>,
    agreed_ever: usize,
}

#[derive(Debug)]
struct Agreed {
    address: SocketAddr,
    at: Instant,
}

#[derive(Debug)]
struct Asked {
    address: SocketAddr,
    question: TransactionId,
    since: Instant,
    last: Instant,
    /// The check that waits for the answer, or empty.
    check: Vec<u8>,
}

/// Decision about a check.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    /// Pass it to the channel now.
    pub(crate) is_taken: bool,
    /// Send this request to its source first.
    pub(crate) question: Option<TransactionId>,
}

/// Result of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answered {
    /// The check that waited for it, or empty.
    pub(crate) check: Vec<u8>,
    /// The channel has a new address.
    pub(crate) is_new: bool,
    /// Address the channel has given up.
    pub(crate) left: Option<SocketAddr>,
}

impl Consent {
    /// Whether this address may be sent to.
    pub(crate) fn allows(&self, now: Instant, address: SocketAddr) -> bool {
        self.agreed_at(address).is_some_and(|at| now.duration_since(at) < AGREED_FOR)
    }

    /// Handles a check from this address that knows the password.
    pub(crate) fn check(
        &mut self,
        now: Instant,
        from: SocketAddr,
        check: &[u8],
        draw: impl FnOnce() -> Option<TransactionId>,
    ) -> Judged {
        let is_taken = self.allows(now, from);
        let is_fresh = self.agreed_at(from).is_some_and(|at| now.duration_since(at) < ASK_ANEW_AFTER);
        if is_fresh {
            return Judged { is_taken, question: None };
        }
        self.asked.retain(|asked| now.duration_since(asked.since) < ANSWER_WITHIN);
        let waiting = if is_taken { Vec::new() } else { check.to_vec() };
        let question = match self.asked.iter_mut().find(|asked| asked.address == from) {
            Some(asked) => {
                asked.check = waiting;
                let is_due = now.duration_since(asked.last) >= ASK_AGAIN;
                is_due.then(|| {
                    asked.last = now;
                    asked.question
                })
            }
            None => {
                if self.asked.len() >= ASKED_MAX {
                    self.asked.remove(0);
                }
                let question = draw();
                let asked =
                    |question| Asked { address: from, question, since: now, last: now, check: waiting };
                self.asked.extend(question.map(asked));
                question
            }
        };
        Judged { is_taken, question }
    }

    /// Handles an answer from this address; none if it answers no request.
    pub(crate) fn answer(
        &mut self,
        now: Instant,
        from: SocketAddr,
        question: TransactionId,
    ) -> Option<Answered> {
        let is_it = |asked: &Asked| {
            asked.address == from
                && asked.question == question
                && now.duration_since(asked.since) < ANSWER_WITHIN
        };
        let asked = self.asked.iter().position(is_it).map(|index| self.asked.remove(index))?;
        let known = self.agreed.iter_mut().find(|agreed| agreed.address == from);
        if let Some(agreed) = known {
            agreed.at = now;
            return Some(Answered { check: asked.check, is_new: false, left: None });
        }
        if self.agreed_ever >= AGREED_EVER_MAX {
            return None;
        }
        self.agreed_ever += 1;
        // Beyond the limit, the least recently used address is given up.
        let oldest = (0..self.agreed.len()).min_by_key(|index| self.agreed[*index].at);
        let left =
            oldest.filter(|_| self.agreed.len() >= AGREED_MAX).map(|index| self.agreed.remove(index).address);
        self.agreed.push(Agreed { address: from, at: now });
        Some(Answered { check: asked.check, is_new: true, left })
    }

    /// Addresses of the channel, current and pending.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.agreed.iter().map(|agreed| agreed.address)
    }

    fn agreed_at(&self, address: SocketAddr) -> Option<Instant> {
        self.agreed.iter().find(|agreed| agreed.address == address).map(|agreed| agreed.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const SECOND: Duration = Duration::from_secs(1);

    fn address(nth: u16) -> SocketAddr {
        ([192, 0, 2, 1], nth).into()
    }

    /// A channel with numbered requests.
    struct Rig {
        consent: Consent,
        now: Instant,
        drawn: u8,
    }

    impl Rig {
        fn new() -> Rig {
            Rig { consent: Consent::default(), now: Instant::now(), drawn: 0 }
        }

        fn check(&mut self, nth: u16) -> Judged {
            let drawn = &mut self.drawn;
            self.consent.check(self.now, address(nth), &[nth as u8], || {
                *drawn = drawn.wrapping_add(1);
                Some([*drawn; 12])
            })
        }

        fn agree(&mut self, nth: u16) -> Option<Answered> {
            let question = self.check(nth).question.expect("a request is sent");
            self.consent.answer(self.now, address(nth), question)
        }

        fn allows(&self, nth: u16) -> bool {
            self.consent.allows(self.now, address(nth))
        }
    }

    #[test]
    fn check_waits_for_answer_and_nothing_else_is_sent() {
        let mut rig = Rig::new();
        assert_eq!(rig.check(1), Judged { is_taken: false, question: Some([1; 12]) });
        assert!(!rig.allows(1));
        rig.now += 60 * MS;
        let answered = rig.consent.answer(rig.now, address(1), [1; 12]);
        assert_eq!(answered, Some(Answered { check: vec![1], is_new: true, left: None }));
        assert!(rig.allows(1) && !rig.allows(2));
        assert_eq!(rig.check(1), Judged { is_taken: true, question: None });
    }

    #[test]
    fn foreign_repeated_or_late_answers_are_ignored() {
        let mut rig = Rig::new();
        rig.check(1);
        rig.check(2);
        let mut answer = |nth: u16, question: u8, later: Duration| {
            rig.consent.answer(rig.now + later, address(nth), [question; 12])
        };
        assert_eq!(answer(2, 1, MS), None, "from another address");
        assert_eq!(answer(1, 3, MS), None, "never requested");
        assert_eq!(answer(1, 1, 5 * SECOND), None, "late");
        assert!(answer(1, 1, MS).is_some());
        assert_eq!(answer(1, 1, MS), None, "twice");
        assert!(rig.allows(1) && !rig.allows(2));
    }

    #[test]
    fn request_is_repeated_with_checks_in_time() {
        let mut rig = Rig::new();
        assert_eq!(rig.check(1).question, Some([1; 12]));
        rig.now += 39 * MS;
        assert_eq!(rig.check(1).question, None);
        rig.now += MS;
        assert_eq!(rig.check(1).question, Some([1; 12]), "the same one, whichever answer arrives");
        rig.now += 5 * SECOND;
        assert_eq!(
            rig.check(1).question,
            Some([2; 12]),
            "a new one, for an address that saw the \
         first long ago"
        );
    }

    #[test]
    fn consent_is_renewed_and_ends_without_answer() {
        let mut rig = Rig::new();
        rig.agree(1);
        rig.now += 9 * SECOND;
        assert_eq!(rig.check(1).question, None);
        rig.now += SECOND;
        let judged = rig.check(1);
        assert!(judged.is_taken && judged.question.is_some(), "it is valid while it is renewed");
        let question = judged.question.unwrap();
        let answered = rig.consent.answer(rig.now, address(1), question);
        assert_eq!(answered, Some(Answered { check: vec![], is_new: false, left: None }));
        for _ in 0..29 {
            rig.now += SECOND;
            assert!(rig.check(1).is_taken && rig.allows(1));
        }
        rig.now += SECOND;
        assert!(!rig.check(1).is_taken && !rig.allows(1), "half a minute without an answer");
        rig.now += SECOND;
        assert_eq!(rig.agree(1).unwrap().check, [1], "an address that returns must answer again");
        assert!(rig.allows(1));
    }

    #[test]
    fn moving_member_gives_up_oldest_address_and_state_is_bounded() {
        let mut rig = Rig::new();
        for nth in 0..8 {
            rig.now += MS;
            assert_eq!(rig.agree(nth).unwrap().left, None);
        }
        rig.now += 10 * SECOND;
        rig.agree(0);
        assert_eq!(rig.agree(8).unwrap().left, Some(address(1)), "the first has answered since");
        assert!(rig.allows(0) && !rig.allows(1) && rig.allows(8));
        assert_eq!((9..1_000).filter(|nth| rig.agree(*nth).is_some()).count(), AGREED_EVER_MAX - 9);
        assert_eq!(rig.consent.addresses().count(), AGREED_MAX);
        (2_000..3_000).for_each(|nth| _ = rig.check(nth));
        assert_eq!(rig.consent.asked.len(), ASKED_MAX);
    }
}
