//! What one machine was told while it was in a match: nothing twice, and of nobody that it is back who was not missed.

use std::collections::{BTreeMap, BTreeSet};

use gaggle_kit::{Frame, PeerId};
use gaggle_timeline::Event;

/// What was last told of somebody who was not heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Silence {
    Interrupted,
    Gone,
}

/// What was told in one stay.
#[derive(Debug, Default)]
pub(super) struct Told {
    stay: u64,
    came: BTreeSet<(PeerId, Frame)>,
    went: BTreeSet<(PeerId, Frame)>,
    lead: Option<PeerId>,
    /// How far coming in was, until it was in.
    percent: Option<u8>,
    /// Who is missed, whatever stay it is.
    missed: BTreeMap<PeerId, Silence>,
    /// How often somebody was missed and came back.
    pub(super) back: u64,
}

impl Told {
    /// What was told in another stay may be told again.
    pub(super) fn begin_stay(&mut self, stay: u64) {
        if self.stay != stay {
            let (percent, missed, back) = (self.percent, std::mem::take(&mut self.missed), self.back);
            *self = Told { stay, percent, missed, back, ..Told::default() };
        }
    }

    /// It plays: should it have to come in again, that begins anew.
    pub(super) fn is_in(&mut self) {
        self.percent = None;
    }

    /// Whoever does not play any more is missed by nobody.
    pub(super) fn forget_absent(&mut self, plays: impl Fn(PeerId) -> bool) {
        self.missed.retain(|peer, _| plays(*peer));
    }

    /// Whether somebody who plays was told to be away, and not that it is back.
    pub(super) fn misses_somebody(&self) -> bool {
        !self.missed.is_empty()
    }

    /// Notes an event. False if it says what was told already.
    pub(super) fn is_news(&mut self, event: &Event) -> bool {
        match event {
            Event::Joined { peer, first, .. } => self.came.insert((*peer, *first)),
            Event::Left { peer, last } => self.went.insert((*peer, *last)),
            Event::Interrupted { peer } => self.missed.insert(*peer, Silence::Interrupted).is_none(),
            Event::Gone { peer } => self.missed.insert(*peer, Silence::Gone) != Some(Silence::Gone),
            Event::Resumed { peer } => {
                let missed = self.missed.remove(peer).is_some();
                self.back += u64::from(missed);
                missed
            }
            Event::LeadChanged { lead } => self.lead.replace(*lead) != Some(*lead),
            Event::Joining { percent } => {
                let before = self.percent.replace(*percent);
                // From the beginning again, if whoever helped could not.
                before.is_none_or(|before| *percent > before || *percent == 0 && before > 0)
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::SlotSet;

    use super::*;

    #[test]
    fn what_is_told_twice_is_no_news() {
        let [one, two] = [1, 2].map(PeerId::from_u128);
        let came = |peer, first| Event::Joined { peer, slots: SlotSet::first(1), first: Frame::new(first) };
        let went = |peer, last| Event::Left { peer, last: Frame::new(last) };
        let (lead, joining) = (|lead| Event::LeadChanged { lead }, |percent| Event::Joining { percent });
        let (silent, gone) = (|peer| Event::Interrupted { peer }, |peer| Event::Gone { peer });
        let back = |peer| Event::Resumed { peer };
        let doubles: [(&[Event], bool); 15] = [
            (&[silent(one), silent(two), back(one), silent(one)], true),
            (&[silent(one), silent(two), silent(one)], false),
            (&[silent(one), gone(one), back(one)], true),
            (&[gone(one), back(one), gone(one)], true),
            (&[silent(one), gone(one), gone(one)], false),
            (&[silent(one), back(one), back(one)], false),
            (&[silent(one), back(two)], false),
            (&[came(one, 5), came(two, 5), came(one, 9)], true),
            (&[came(one, 5), came(two, 5), came(one, 5)], false),
            (&[went(one, 5), went(two, 5), came(one, 5)], true),
            (&[went(one, 5), went(one, 5)], false),
            (&[lead(one), lead(two), lead(one)], true),
            (&[lead(one), lead(one)], false),
            (&[joining(0), joining(7), joining(8), joining(0), joining(3)], true),
            (&[joining(0), joining(7), joining(7)], false),
        ];
        for (events, news) in doubles {
            let mut told = Told::default();
            let [before @ .., last] = events else { continue };
            assert!(before.iter().all(|event| told.is_news(event)), "{before:?}");
            assert_eq!(told.is_news(last), news, "{events:?}");
        }
    }

    #[test]
    fn whoever_plays_no_more_is_not_missed() {
        let ([one, two], mut told) = ([1, 2].map(PeerId::from_u128), Told::default());
        assert!(told.is_news(&Event::Interrupted { peer: one }) && told.is_news(&Event::Gone { peer: two }));
        told.begin_stay(1);
        told.forget_absent(|peer| peer == two);
        assert!(told.misses_somebody(), "it plays in the next stay, too");
        assert!(!told.is_news(&Event::Resumed { peer: one }));
        assert!(told.is_news(&Event::Resumed { peer: two }) && !told.misses_somebody());
        assert_eq!(told.back, 1);
    }

    #[test]
    fn another_stay_begins_with_nothing_told() {
        let (one, mut told) = (PeerId::from_u128(1), Told::default());
        let lead = Event::LeadChanged { lead: one };
        assert!(told.is_news(&lead) && told.is_news(&Event::Joining { percent: 80 }));
        told.begin_stay(0);
        assert!(!told.is_news(&lead), "the same stay");
        told.begin_stay(1);
        assert!(told.is_news(&lead) && !told.is_news(&Event::Joining { percent: 80 }), "it was not in yet");
        told.is_in();
        assert!(told.is_news(&Event::Joining { percent: 80 }));
    }
}
