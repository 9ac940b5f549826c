//! Sounds and when they start: each has an identity, so that simulating a frame again neither repeats nor
//! swallows one.

/// Which sound this is. The same event of the same frame has the same identity, however often the frame is
/// simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CueId {
    /// The frame it starts in.
    pub frame: u32,
    /// What it is: the game's own number.
    pub kind: u16,
    /// Whose it is: the game's own number.
    pub who: u16,
}

/// A sound a frame gives rise to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cue {
    /// Which.
    pub id: CueId,
    /// The game's recipe for it.
    pub recipe: u16,
    /// Where it comes from: −100 is the left edge, 100 the right.
    pub pan: i8,
    /// Whether it is one's own: others are quieter.
    pub own: bool,
}

/// What to do about a sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Start it.
    Start(Cue),
    /// It never happened: fade it out.
    Fade(CueId),
}

/// Tells which sounds are new. Give it all recent cues of every frame shown.
///
/// ```
/// use gaggle_scene::{Cue, CueId, Heard, Hearing};
///
/// let cue = Cue { id: CueId { frame: 10, kind: 1, who: 0 }, recipe: 0, pan: 0, own: true };
/// let mut hearing = Hearing::default();
/// let mut heard = Vec::new();
/// hearing.listen(10, &[cue], |event| heard.push(event));
/// hearing.listen(11, &[cue], |event| heard.push(event));
/// assert_eq!(heard, [Heard::Start(cue)]);
///
/// // A rollback shows that it never happened.
/// hearing.listen(12, &[], |event| heard.push(event));
/// assert_eq!(heard[1], Heard::Fade(cue.id));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Hearing {
    /// What has been started, oldest first.
    started: Vec<CueId>,
}

impl Hearing {
    /// Sounds older than this are not started any more: they would come out of nowhere.
    pub const LATE_FRAMES: u32 = 12;
    /// A sound that turns out never to have happened is faded while it is younger than this; older ones ring.
    pub const FADE_FRAMES: u32 = 3;
    /// How long an identity is remembered: longer than any game keeps its cues.
    const MEMORY_FRAMES: u32 = 240;
    /// Sounds remembered at most.
    const MEMORY_MAX: usize = 1024;

    /// Takes the cues of the state shown now, and says what to do.
    pub fn listen(&mut self, now: u32, cues: &[Cue], mut say: impl FnMut(Heard)) {
        self.started.retain(|id| {
            let age = now.wrapping_sub(id.frame);
            // A frame in the future means another match, or a jump in a replay.
            if age >= Self::MEMORY_FRAMES {
                return false;
            }
            let gone = age < Self::FADE_FRAMES && !cues.iter().any(|cue| cue.id == *id);
            if gone {
                say(Heard::Fade(*id));
            }
            !gone
        });
        for cue in cues {
            let recent = now.wrapping_sub(cue.id.frame) < Self::LATE_FRAMES;
            if recent && !self.started.contains(&cue.id) && self.started.len() < Self::MEMORY_MAX {
                self.started.push(cue.id);
                say(Heard::Start(*cue));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cue(frame: u32, who: u16) -> Cue {
        Cue { id: CueId { frame, kind: 1, who }, recipe: 1, pan: 0, own: false }
    }

    fn listen(hearing: &mut Hearing, now: u32, cues: &[Cue]) -> Vec<Heard> {
        let mut heard = Vec::new();
        hearing.listen(now, cues, |event| heard.push(event));
        heard
    }

    #[test]
    fn a_cue_that_moves_in_a_rollback_is_faded_and_started_anew() {
        let mut hearing = Hearing::default();
        assert_eq!(listen(&mut hearing, 20, &[cue(20, 0)]), [Heard::Start(cue(20, 0))]);
        assert_eq!(
            listen(&mut hearing, 21, &[cue(19, 0)]),
            [Heard::Fade(cue(20, 0).id), Heard::Start(cue(19, 0))]
        );
    }

    #[test]
    fn a_late_cue_is_started_once_unless_it_is_too_late() {
        let mut hearing = Hearing::default();
        assert_eq!(listen(&mut hearing, 30, &[cue(23, 0), cue(10, 1)]), [Heard::Start(cue(23, 0))]);
        assert_eq!(listen(&mut hearing, 31, &[cue(23, 0), cue(10, 1)]), []);
    }

    #[test]
    fn an_old_cue_that_is_gone_rings_on() {
        let mut hearing = Hearing::default();
        listen(&mut hearing, 40, &[cue(40, 0)]);
        assert_eq!(listen(&mut hearing, 43, &[]), []);
        assert_eq!(listen(&mut hearing, 44, &[cue(40, 0)]), [], "and is not repeated when it comes back");
    }

    #[test]
    fn memory_is_bounded() {
        let mut hearing = Hearing::default();
        for now in 0..2000 {
            let cues: Vec<_> = (0..50).map(|who| cue(now, who)).collect();
            listen(&mut hearing, now, &cues);
            assert!(hearing.started.len() <= Hearing::MEMORY_MAX);
        }
    }
}
