//! Count of started cues, kept apart from the code that decides about them, so that tests see a cue
//! started twice. `Arcade` feeds it. Absent: sounds.

use std::collections::VecDeque;

use gaggle_scene::{CueId, Heard};

/// Cues remembered: minutes of a lively match.
const REMEMBERED: usize = 1_024;

/// Cues counted so far.
#[derive(Debug, Default)]
pub(super) struct CueTally {
    /// Cues that were started.
    pub(super) started: u32,
    /// Cues started again although they were not taken back.
    pub(super) twice: u32,
    /// Cues left out because an equal one had just been started.
    pub(super) skipped: u32,
    /// Cues started although they should have been left out.
    pub(super) crowded: u32,
    recent: VecDeque<CueId>,
}

impl CueTally {
    pub(super) fn note(&mut self, heard: &Heard) {
        match heard {
            Heard::Start(cue) => {
                self.started += 1;
                if self.recent.contains(&cue.id) {
                    self.twice += 1;
                } else if self.recent.iter().any(|id| cue.is_crowded_by(*id)) {
                    self.crowded += 1;
                }
                if self.recent.len() == REMEMBERED {
                    self.recent.pop_front();
                }
                self.recent.push_back(cue.id);
            }
            Heard::Fade(id) => self.recent.retain(|known| known != id),
            Heard::Skip(_) => self.skipped += 1,
        }
    }

    /// Another match begins, whose frames are counted from the start.
    pub(super) fn forget(&mut self) {
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests {
    use gaggle_scene::Cue;

    use super::*;

    #[test]
    fn only_what_was_not_taken_back_can_be_heard_twice() {
        let cue = Cue { id: CueId { frame: 7, kind: 1, who: 0 }, recipe: 0, pan: 0, own: true, apart: 8 };
        let mut tally = CueTally::default();
        tally.note(&Heard::Start(cue));
        tally.note(&Heard::Fade(cue.id));
        tally.note(&Heard::Start(cue));
        assert_eq!((tally.started, tally.twice), (2, 0));
        tally.note(&Heard::Start(cue));
        assert_eq!((tally.started, tally.twice), (3, 1));
        let soon = Cue { id: CueId { frame: 14, ..cue.id }, ..cue };
        tally.note(&Heard::Skip(soon.id));
        assert_eq!((tally.skipped, tally.crowded), (1, 0));
        tally.note(&Heard::Start(soon));
        tally.note(&Heard::Start(Cue { id: CueId { who: 1, ..soon.id }, ..cue }));
        assert_eq!((tally.skipped, tally.crowded), (1, 1), "another player's is another");
        tally.forget();
        tally.note(&Heard::Start(cue));
        assert_eq!(tally.twice, 1);
    }
}
