//! Check of the events of one peer: each once, in order, none missing.
//!
//! Who plays, who leads and which branch it is must follow from the events alone. Called by
//! `machine.rs`. Absent: inputs and states.

use std::collections::{BTreeMap, BTreeSet};

use gaggle_kit::{Frame, PeerId, SlotSet};
use gaggle_timeline::{Session, SessionEvent};

use super::broth::Press;

/// Last event about a silent peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Silence {
    Interrupted,
    Gone,
}

/// Events that can happen to one peer at one frame only once in a stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Desync,
    Recovered,
}

/// Identity of a stay in a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Stay {
    /// Frame of the state it started with.
    pub(super) origin: Frame,
    pub(super) states_taken: u64,
}

/// Roster, leader and branch of a session after a tick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    /// Players and their slots.
    present: BTreeMap<PeerId, SlotSet>,
    lead: Option<PeerId>,
    history: u64,
}

impl Known {
    /// State at the last confirmed frame; none before the first one of a stay.
    pub(super) fn by(session: &Session<Press>) -> Option<Known> {
        let frame = session.confirmed_frame();
        let here = session.roster().iter().filter(|row| row.is_present_at(frame));
        let known = Known {
            present: here.map(|row| (row.stream.peer, row.slots)).collect(),
            lead: session.leader_at(frame),
            history: session.branch_id(),
        };
        Some(known).filter(|_| session.is_running() && frame > session.start_frame())
    }
}

/// Events so far.
#[derive(Debug, Default)]
pub(super) struct Told {
    stay: Stay,
    /// A stay has started since the last comparison.
    pub(super) stay_began: bool,
    /// A change of branch was reported since the last comparison.
    history_changed: bool,
    /// Roster, leader and branch as the events tell; none until a match begins.
    known: Option<Known>,
    happened: BTreeSet<(Happening, PeerId, Frame)>,
    /// By peer, desyncs detected and not located yet.
    unlocated: BTreeMap<PeerId, u32>,
    /// Progress of joining in percent, until it is a member.
    percent: Option<u8>,
    stalled: bool,
    started: bool,
    /// Peers that were interrupted or timed out.
    missed: BTreeMap<PeerId, Silence>,
    /// Times a missed peer was resumed.
    pub(super) back: u64,
    /// Recoveries of its own state that were reported.
    recoveries: u64,
}

impl Told {
    /// Starts a new stay, in which events about states may be repeated.
    pub(super) fn begin_stay(&mut self, stay: Stay) {
        if self.stay != stay {
            self.stay = stay;
            self.stay_began = true;
            self.happened.clear();
            self.unlocated.clear();
        }
    }

    /// Ends joining; a later join starts over.
    pub(super) fn is_in(&mut self) {
        self.percent = None;
    }

    /// Stops missing peers that are no longer members.
    pub(super) fn forget_absent(&mut self, plays: impl Fn(PeerId) -> bool) {
        self.missed.retain(|peer, _| plays(*peer));
    }

    /// Whether a player was reported interrupted and not resumed.
    pub(super) fn misses_peer(&self) -> bool {
        !self.missed.is_empty()
    }

    /// Records an event of the machine `own`. False if it repeats an earlier one or contradicts it.
    pub(super) fn is_news(&mut self, own: PeerId, event: &SessionEvent) -> bool {
        match event {
            SessionEvent::Joined { peer, slots, .. } => {
                self.known.as_mut().is_none_or(|known| known.present.insert(*peer, *slots).is_none())
            }
            SessionEvent::Left { peer, .. } => {
                self.known.as_mut().is_none_or(|known| known.present.remove(peer).is_some())
            }
            SessionEvent::LeaderChanged { leader: lead } => {
                self.known.as_mut().is_none_or(|known| known.lead.replace(*lead) != Some(*lead))
            }
            SessionEvent::ViewChanged { .. } => {
                self.history_changed = true;
                true
            }
            SessionEvent::BranchAbandoned { .. } => {
                self.history_changed = true;
                // Frames are abandoned only when another state is imported.
                self.stay_began
            }
            SessionEvent::Interrupted { peer } => self.missed.insert(*peer, Silence::Interrupted).is_none(),
            SessionEvent::TimedOut { peer } => {
                self.missed.insert(*peer, Silence::Gone) != Some(Silence::Gone)
            }
            SessionEvent::Resumed { peer } => {
                let missed = self.missed.remove(peer).is_some();
                self.back += u64::from(missed);
                missed
            }
            SessionEvent::Stalled { .. } => !std::mem::replace(&mut self.stalled, true),
            SessionEvent::StallEnded { ticks } => std::mem::take(&mut self.stalled) && *ticks > 0,
            SessionEvent::Started => !std::mem::replace(&mut self.started, true),
            SessionEvent::JoinProgress { percent } => {
                let before = self.percent.replace(*percent);
                // From 0 again, if the donor failed.
                before.is_none_or(|before| *percent > before || *percent == 0 && before > 0)
            }
            SessionEvent::DesyncDetected { peer, frame, .. } => {
                *self.unlocated.entry(*peer).or_default() += 1;
                self.happened.insert((Happening::Desync, *peer, *frame))
            }
            SessionEvent::DesyncLocated { peer, .. } => {
                let unlocated = self.unlocated.entry(*peer).or_default();
                let due = *unlocated > 0;
                *unlocated = unlocated.saturating_sub(1);
                due
            }
            SessionEvent::DesyncRecovered { peer, frame } => {
                self.recoveries += u64::from(*peer == own);
                self.happened.insert((Happening::Recovered, *peer, *frame))
            }
            _ => true,
        }
    }

    /// Compares what the events of a tick told with the session and its count of recoveries.
    pub(super) fn expect(&mut self, now: Option<Known>, recoveries: u64) -> Result<(), String> {
        if self.recoveries != recoveries {
            let told = self.recoveries;
            return Err(format!("recovered {recoveries} times and reported {told} of them"));
        }
        let Some(now) = now else { return Ok(()) };
        let stay_began = std::mem::take(&mut self.stay_began);
        let history_changed = std::mem::take(&mut self.history_changed);
        let Some(known) = self.known.replace(now.clone()) else { return Ok(()) };
        if (&known.present, known.lead) != (&now.present, now.lead) {
            return Err(format!("reported {known:?}, but knows {now:?}"));
        }
        match (history_changed, known.history != now.history) {
            (true, false) if !stay_began => Err("reported another branch, but it is the same".to_owned()),
            (false, true) => Err("did not report that another branch goes on".to_owned()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::Slot;
    use gaggle_timeline::DesyncCause;

    use super::*;

    const OWN: u128 = 9;

    fn peer(number: u128) -> PeerId {
        PeerId::from_u128(number)
    }

    /// Slot of the same number as the peer.
    fn seat(number: u128) -> SlotSet {
        SlotSet::of(Slot::at(number as usize))
    }

    fn came(number: u128) -> SessionEvent {
        SessionEvent::Joined { peer: peer(number), slots: seat(number), first: Frame::new(5) }
    }

    fn went(number: u128) -> SessionEvent {
        SessionEvent::Left { peer: peer(number), last: Frame::new(8) }
    }

    fn leads(number: u128) -> SessionEvent {
        SessionEvent::LeaderChanged { leader: peer(number) }
    }

    fn changed(ours_lost: bool) -> SessionEvent {
        let frame = Frame::new(7);
        match ours_lost {
            true => SessionEvent::BranchAbandoned { frame },
            false => SessionEvent::ViewChanged { frame },
        }
    }

    fn recovered(number: u128, frame: u32) -> SessionEvent {
        SessionEvent::DesyncRecovered { peer: peer(number), frame: Frame::new(frame) }
    }

    fn known(present: &[u128], lead: u128, history: u64) -> Option<Known> {
        let present = present.iter().map(|number| (peer(*number), seat(*number))).collect();
        Some(Known { present, lead: Some(peer(lead)), history })
    }

    /// Events of a peer that has been in a match with the first for a while.
    fn settled() -> Told {
        let mut told = Told::default();
        assert_eq!(told.expect(known(&[1], 1, 100), 0), Ok(()));
        told
    }

    fn is_news(told: &mut Told, event: &SessionEvent) -> bool {
        told.is_news(peer(OWN), event)
    }

    #[test]
    fn repeated_or_contradicting_event_is_found() {
        let silent = |number| SessionEvent::Interrupted { peer: peer(number) };
        let gone = |number| SessionEvent::TimedOut { peer: peer(number) };
        let back = |number| SessionEvent::Resumed { peer: peer(number) };
        let joining = |percent| SessionEvent::JoinProgress { percent };
        let stalled = || SessionEvent::Stalled { waiting_for: SlotSet::first(1) };
        let unstalled = |ticks| SessionEvent::StallEnded { ticks };
        let differs = |number, frame| {
            let (frame, agreed) = (Frame::new(frame), Frame::START);
            SessionEvent::DesyncDetected { peer: peer(number), frame, local: 1, remote: 2, agreed }
        };
        let located =
            |number| SessionEvent::DesyncLocated { peer: peer(number), cause: DesyncCause::Unknown };
        let stories: [(&[SessionEvent], bool); 29] = [
            (&[silent(1), silent(2), back(1), silent(1)], true),
            (&[silent(1), silent(2), silent(1)], false),
            (&[silent(1), gone(1), back(1)], true),
            (&[gone(1), back(1), gone(1)], true),
            (&[silent(1), gone(1), gone(1)], false),
            (&[silent(1), back(1), back(1)], false),
            (&[silent(1), back(2)], false),
            (&[came(2), came(3), went(2), came(2)], true),
            (&[came(2), came(2)], false),
            (&[came(1)], false),
            (&[went(1), came(1)], true),
            (&[went(2)], false),
            (&[went(1), went(1)], false),
            (&[leads(2), leads(1)], true),
            (&[leads(1)], false),
            (&[leads(2), leads(2)], false),
            (&[changed(true)], false),
            (&[joining(0), joining(7), joining(8), joining(0), joining(3)], true),
            (&[joining(0), joining(7), joining(7)], false),
            (&[stalled(), unstalled(3), stalled()], true),
            (&[stalled(), stalled()], false),
            (&[unstalled(1)], false),
            (&[stalled(), unstalled(0)], false),
            (&[differs(2, 60), differs(2, 120), differs(3, 60), located(2)], true),
            (&[differs(2, 60), differs(2, 60)], false),
            (&[differs(2, 60), located(2), located(2)], false),
            (&[recovered(2, 60), recovered(3, 60), recovered(2, 90)], true),
            (&[recovered(2, 60), recovered(2, 60)], false),
            (&[SessionEvent::Started, SessionEvent::Started], false),
        ];
        for (events, news) in stories {
            let mut told = settled();
            let [before @ .., last] = events else { continue };
            assert!(before.iter().all(|event| is_news(&mut told, event)), "{before:?}");
            assert_eq!(is_news(&mut told, last), news, "{events:?}");
        }
    }

    #[test]
    fn reader_of_events_knows_what_session_knows() {
        let stories: [(&[SessionEvent], Option<Known>, bool); 9] = [
            (&[], known(&[1], 1, 100), true),
            (&[came(2)], known(&[1, 2], 1, 100), true),
            (&[], known(&[1, 2], 1, 100), false),
            (&[came(2)], known(&[1], 1, 100), false),
            (&[came(2), went(1), leads(2), changed(false)], known(&[2], 2, 101), true),
            (&[came(2), leads(2), changed(false)], known(&[2], 2, 101), false),
            (&[came(2), went(1), changed(false)], known(&[2], 2, 101), false),
            (&[came(2), went(1), leads(2)], known(&[2], 2, 101), false),
            (&[changed(false)], known(&[1], 1, 100), false),
        ];
        for (events, now, right) in stories {
            let mut told = settled();
            assert!(events.iter().all(|event| is_news(&mut told, event)), "{events:?}");
            assert_eq!(told.expect(now.clone(), 0).is_ok(), right, "{events:?} {now:?}");
        }
    }

    #[test]
    fn change_of_branch_is_reported_once() {
        let mut told = settled();
        assert!(is_news(&mut told, &changed(false)));
        assert_eq!(told.expect(known(&[1], 1, 101), 0), Ok(()));
        assert!(is_news(&mut told, &changed(false)));
        assert!(told.expect(known(&[1], 1, 101), 0).is_err());
    }

    #[test]
    fn joiner_reads_roster() {
        let mut told = Told::default();
        assert_eq!(told.expect(None, 0), Ok(()), "it sees no match");
        assert!(is_news(&mut told, &came(2)), "a first join is news");
        assert_eq!(told.expect(known(&[1, 2], 1, 100), 0), Ok(()));
        assert!(!is_news(&mut told, &came(2)) && is_news(&mut told, &went(2)));
    }

    #[test]
    fn event_before_first_frame_of_stay_counts() {
        let mut told = settled();
        told.begin_stay(Stay { origin: Frame::new(300), states_taken: 1 });
        assert!(is_news(&mut told, &changed(true)));
        assert_eq!(told.expect(None, 0), Ok(()), "nothing is confirmed in this stay");
        assert_eq!(told.expect(known(&[1], 1, 200), 0), Ok(()));
    }

    #[test]
    fn peer_that_changes_branch_hears_its_differences() {
        let next = Stay { origin: Frame::new(300), states_taken: 1 };
        for (events, right) in [
            (&[changed(true), went(1), came(2), leads(2)][..], true),
            (&[changed(true), came(2), leads(2)], false),
            (&[went(1), came(2), leads(2)], false),
        ] {
            let mut told = settled();
            told.begin_stay(next);
            assert!(events.iter().all(|event| is_news(&mut told, event)), "{events:?}");
            assert_eq!(told.expect(known(&[2], 2, 200), 0).is_ok(), right, "{events:?}");
        }
        let mut told = settled();
        told.begin_stay(next);
        assert!(is_news(&mut told, &changed(true)));
        assert_eq!(told.expect(known(&[1], 1, 100), 0), Ok(()), "the same knowledge in another stay");
    }

    #[test]
    fn recovered_peer_hears_it() {
        let (mut told, here) = (settled(), known(&[1], 1, 100));
        assert!(is_news(&mut told, &recovered(1, 60)));
        assert_eq!(told.expect(here.clone(), 0), Ok(()), "another peer recovered");
        assert!(is_news(&mut told, &recovered(OWN, 60)));
        assert_eq!(told.expect(here.clone(), 1), Ok(()));
        assert!(told.expect(here, 2).is_err());
    }

    #[test]
    fn peer_that_left_is_not_missed() {
        let ([one, two], mut told) = ([1, 2].map(peer), Told::default());
        assert!(is_news(&mut told, &SessionEvent::Interrupted { peer: one }));
        assert!(is_news(&mut told, &SessionEvent::TimedOut { peer: two }));
        told.begin_stay(Stay { states_taken: 1, ..Stay::default() });
        told.forget_absent(|peer| peer == two);
        assert!(told.misses_peer(), "the peer is also in the next stay");
        assert!(!is_news(&mut told, &SessionEvent::Resumed { peer: one }));
        assert!(is_news(&mut told, &SessionEvent::Resumed { peer: two }) && !told.misses_peer());
        assert_eq!(told.back, 1);
    }

    #[test]
    fn event_about_state_may_repeat_in_another_stay() {
        let mut told = settled();
        assert!(
            is_news(&mut told, &recovered(2, 60))
                && is_news(&mut told, &SessionEvent::JoinProgress { percent: 80 })
        );
        told.begin_stay(Stay::default());
        assert!(!is_news(&mut told, &recovered(2, 60)), "an event repeated in one stay");
        told.begin_stay(Stay { states_taken: 1, ..Stay::default() });
        assert!(is_news(&mut told, &recovered(2, 60)));
        assert!(
            !is_news(&mut told, &SessionEvent::JoinProgress { percent: 80 }),
            "progress repeated before the join ended"
        );
        told.is_in();
        assert!(is_news(&mut told, &SessionEvent::JoinProgress { percent: 80 }));
    }
}
