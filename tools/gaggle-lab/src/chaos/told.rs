//! What one machine was told while it was in a match: nothing twice.

use std::collections::BTreeSet;

use gaggle_kit::{Frame, PeerId};
use gaggle_timeline::Event;

/// What was told in one stay.
#[derive(Debug, Default)]
pub(super) struct Told {
    stay: u64,
    came: BTreeSet<(PeerId, Frame)>,
    went: BTreeSet<(PeerId, Frame)>,
    lead: Option<PeerId>,
    /// How far coming in was, until it was in.
    percent: Option<u8>,
}

impl Told {
    /// What was told in another stay may be told again.
    pub(super) fn begin_stay(&mut self, stay: u64) {
        if self.stay != stay {
            let percent = self.percent;
            *self = Told { stay, percent, ..Told::default() };
        }
    }

    /// It plays: should it have to come in again, that begins anew.
    pub(super) fn is_in(&mut self) {
        self.percent = None;
    }

    /// Notes an event. False if it says what was told already.
    pub(super) fn is_news(&mut self, event: &Event) -> bool {
        match event {
            Event::Joined { peer, first, .. } => self.came.insert((*peer, *first)),
            Event::Left { peer, last } => self.went.insert((*peer, *last)),
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
        let doubles: [(&[Event], bool); 8] = [
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
