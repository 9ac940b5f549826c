//! Sounds and when they start: each has an identity, so that simulating a frame again neither
//! repeats nor swallows one.

/// Which sound this is. The same event of the same frame has the same identity, however often the
/// frame is simulated.
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
    /// Identity of the cue, equal in every frame that shows it.
    pub id: CueId,
    /// The game's recipe for it.
    pub recipe: u16,
    /// Where it comes from: −100 is the left edge, 100 the right.
    pub pan: i8,
    /// Whether it is one's own: others are quieter.
    pub own: bool,
    /// Frames between it and the last of the same kind and owner: one that comes sooner is left
    /// out.
    pub apart: u8,
}

impl Cue {
    /// Whether another sound like it is so close that one of the two is enough.
    pub fn is_crowded_by(&self, other: CueId) -> bool {
        let ahead = self.id.frame.wrapping_sub(other.frame);
        let distance = ahead.min(ahead.wrapping_neg());
        (self.id.kind, self.id.who) == (other.kind, other.who) && distance < u32::from(self.apart)
    }
}

/// What to do about a sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Start the sound of this cue.
    Start(Cue),
    /// It never happened: fade it out.
    Fade(CueId),
    /// It comes too soon after another like it, and is left out.
    Skip(CueId),
}

/// Tells which sounds are new. Give it all recent cues of every frame shown.
///
/// ```
/// use gaggle_scene::{Cue, CueId, Heard, Hearing};
///
/// let id = CueId { frame: 10, kind: 1, who: 0 };
/// let cue = Cue { id, recipe: 0, pan: 0, own: true, apart: 0 };
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
    /// What was left out, for as long as it could still be started.
    skipped: Vec<CueId>,
}

impl Hearing {
    /// Sounds older than this are not started any more: they would come out of nowhere.
    pub const LATE_FRAMES: u32 = 12;
    /// A sound that turns out never to have happened is faded while it is younger than this; older
    /// ones ring.
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
        let is_recent = |id: &CueId| now.wrapping_sub(id.frame) < Self::LATE_FRAMES;
        self.skipped.retain(is_recent);
        for cue in cues.iter().filter(|cue| is_recent(&cue.id)) {
            if self.started.contains(&cue.id) || self.skipped.contains(&cue.id) {
                continue;
            }
            if self.started.len() + self.skipped.len() >= Self::MEMORY_MAX {
                break;
            }
            if self.started.iter().any(|id| cue.is_crowded_by(*id)) {
                self.skipped.push(cue.id);
                say(Heard::Skip(cue.id));
            } else {
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
        Cue { id: CueId { frame, kind: 1, who }, recipe: 1, pan: 0, own: false, apart: 0 }
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

    /// One owner makes a noise in every frame, as a craft does that is pressed against a wall;
    /// another makes one in between.
    #[test]
    fn of_a_storm_every_eighth_is_heard() {
        let mut hearing = Hearing::default();
        let (mut heard, mut skipped) = (Vec::new(), 0);
        for now in 100..160_u32 {
            let mut cues: Vec<Cue> =
                (now - 29..=now).map(|frame| Cue { apart: 8, ..cue(frame.max(100), 0) }).collect();
            cues.extend((now >= 103).then(|| Cue { apart: 8, ..cue(103, 1) }));
            hearing.listen(now, &cues, |event| match event {
                Heard::Start(cue) => heard.push((cue.id.who, cue.id.frame)),
                Heard::Skip(_) => skipped += 1,
                Heard::Fade(id) => panic!("{id:?} happened"),
            });
        }
        let (other, storm): (Vec<_>, Vec<_>) = heard.into_iter().partition(|(who, _)| *who == 1);
        assert_eq!(other, [(1, 103)]);
        assert_eq!(storm, [100, 108, 116, 124, 132, 140, 148, 156].map(|frame| (0, frame)));
        assert_eq!(skipped, 60 - 8, "each of the others is left out once");
    }

    #[test]
    fn memory_is_bounded() {
        let mut hearing = Hearing::default();
        for now in 0..2000 {
            let cues: Vec<_> = (0..50).map(|who| cue(now, who)).collect();
            listen(&mut hearing, now, &cues);
            assert!(hearing.started.len() + hearing.skipped.len() <= Hearing::MEMORY_MAX);
        }
    }
}
