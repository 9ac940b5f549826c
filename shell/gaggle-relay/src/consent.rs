//! Which addresses of a channel have agreed to be sent to.
//!
//! Addresses can be forged, and a check shows no more than that its sender knows the channel's
//! password: a member may let a stranger's address seem to be its own. So whoever is there is asked
//! first what only the other side of the channel can answer, and the check waits until it is.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use gaggle_rtc::stun::TransactionId;

/// Addresses one channel may be spoken to from at a time.
const AGREED_MAX: usize = 8;
/// Addresses of one channel that may be asked at a time.
const ASKED_MAX: usize = 4;
/// Addresses that may agree during a channel's life: ICE keeps something for each. Whoever moves
/// more often asks for a new channel.
const AGREED_EVER_MAX: usize = 64;
/// A question is repeated with a check that comes so much later.
const ASK_AGAIN: Duration = Duration::from_millis(40);
/// An answer that takes longer counts for nothing.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// How long an answer counts (RFC 7675 has the same). Checks come every three seconds, and bring a
/// question from the tenth on.
const AGREED_FOR: Duration = Duration::from_secs(30);
const ASK_ANEW_AFTER: Duration = Duration::from_secs(10);

/// The addresses of one channel.
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
    /// The check that waits for the answer, or nothing.
    check: Vec<u8>,
}

/// What to do about a check.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    /// It counts now.
    pub(crate) is_taken: bool,
    /// Ask whoever is there this.
    pub(crate) question: Option<TransactionId>,
}

/// What an answer brings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answered {
    /// The check that waited for it, or nothing.
    pub(crate) check: Vec<u8>,
    /// The channel was not at this address before.
    pub(crate) is_new: bool,
    /// The address it is not at any more.
    pub(crate) left: Option<SocketAddr>,
}

impl Consent {
    /// Whether something may be sent there.
    pub(crate) fn allows(&self, now: Instant, address: SocketAddr) -> bool {
        self.agreed_at(address).is_some_and(|at| now.duration_since(at) < AGREED_FOR)
    }

    /// A check came from there, by somebody who knows the password.
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

    /// The other side of the channel answered from there; none if it was not asked that.
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
        // Who moves about leaves behind what it has not been at for the longest time.
        let oldest = (0..self.agreed.len()).min_by_key(|index| self.agreed[*index].at);
        let left =
            oldest.filter(|_| self.agreed.len() >= AGREED_MAX).map(|index| self.agreed.remove(index).address);
        self.agreed.push(Agreed { address: from, at: now });
        Some(Answered { check: asked.check, is_new: true, left })
    }

    /// Where the channel is, or was.
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

    /// A channel and its questions, of which each is another.
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
            let question = self.check(nth).question.expect("it is asked");
            self.consent.answer(self.now, address(nth), question)
        }

        fn allows(&self, nth: u16) -> bool {
            self.consent.allows(self.now, address(nth))
        }
    }

    #[test]
    fn nothing_is_sent_to_who_was_not_asked_and_a_check_waits_for_the_answer() {
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
    fn answers_from_elsewhere_to_other_questions_twice_or_late_count_for_nothing() {
        let mut rig = Rig::new();
        rig.check(1);
        rig.check(2);
        let mut answer = |nth: u16, question: u8, later: Duration| {
            rig.consent.answer(rig.now + later, address(nth), [question; 12])
        };
        assert_eq!(answer(2, 1, MS), None, "from elsewhere");
        assert_eq!(answer(1, 3, MS), None, "never asked");
        assert_eq!(answer(1, 1, 5 * SECOND), None, "late");
        assert!(answer(1, 1, MS).is_some());
        assert_eq!(answer(1, 1, MS), None, "twice");
        assert!(rig.allows(1) && !rig.allows(2));
    }

    #[test]
    fn a_question_is_repeated_with_checks_and_in_time() {
        let mut rig = Rig::new();
        assert_eq!(rig.check(1).question, Some([1; 12]));
        rig.now += 39 * MS;
        assert_eq!(rig.check(1).question, None);
        rig.now += MS;
        assert_eq!(rig.check(1).question, Some([1; 12]), "the same, whichever answer comes");
        rig.now += 5 * SECOND;
        assert_eq!(rig.check(1).question, Some([2; 12]), "another, for who saw the first long ago");
    }

    #[test]
    fn consent_is_asked_for_anew_and_ends_without_an_answer() {
        let mut rig = Rig::new();
        rig.agree(1);
        rig.now += 9 * SECOND;
        assert_eq!(rig.check(1).question, None);
        rig.now += SECOND;
        let judged = rig.check(1);
        assert!(judged.is_taken && judged.question.is_some(), "it counts while it is asked");
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
        assert_eq!(rig.agree(1).unwrap().check, [1], "whoever is there again says so");
        assert!(rig.allows(1));
    }

    #[test]
    fn whoever_moves_about_leaves_the_oldest_behind_and_nothing_grows() {
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
