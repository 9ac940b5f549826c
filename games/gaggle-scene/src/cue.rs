//! Cues: identities of sounds, so that resimulated frames neither repeat nor lose one.
//!
//! Listed by games in every scene; `Hearing` is called by the page that plays them. Absent: recipes
//! (`sound.rs`) and audio devices.

/// Identity of a sound: the same event of the same frame has the same, however often the frame is
/// simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CueId {
    /// Frame it starts in.
    pub frame: u32,
    /// Kind of event, as numbered by the game.
    pub kind: u16,
    /// Body or slot it belongs to, as numbered by the game.
    pub who: u16,
}

/// A sound that a frame starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cue {
    /// Identity, equal in every scene that lists it.
    pub id: CueId,
    /// Index of the recipe, in the game's list.
    pub recipe: u16,
    /// Direction: −100 is the left edge, 100 the right.
    pub pan: i8,
    /// Whether it belongs to a local player; others are quieter.
    pub own: bool,
    /// Least frames between two sounds of one kind and owner. One that comes sooner is left out.
    pub apart: u8,
}

impl Cue {
    /// Whether a sound of the same kind and owner is closer than `apart` frames.
    pub fn is_crowded_by(&self, other: CueId) -> bool {
        let ahead = self.id.frame.wrapping_sub(other.frame);
        let distance = ahead.min(ahead.wrapping_neg());
        (self.id.kind, self.id.who) == (other.kind, other.who) && distance < u32::from(self.apart)
    }
}

/// What to do with a cue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Start the sound of this cue.
    Start(Cue),
    /// Fade out: a rollback has removed its event.
    Fade(CueId),
    /// Do nothing: it comes too soon after another of its kind.
    Skip(CueId),
}

/// Decides which cues are new. Call it once per picture with all recent cues.
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
/// // A rollback has removed its event.
/// hearing.listen(12, &[], |event| heard.push(event));
/// assert_eq!(heard[1], Heard::Fade(cue.id));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Hearing {
    /// Cues started, oldest first.
    started: Vec<CueId>,
    /// Cues left out that are not too old yet to start.
    skipped: Vec<CueId>,
}

impl Hearing {
    /// Age in frames from which a cue no longer starts: it would be out of step with the picture.
    pub const LATE_FRAMES: u32 = 12;
    /// Age in frames below which a removed cue fades; older ones finish.
    pub const FADE_FRAMES: u32 = 3;
    /// Frames an identity is remembered: longer than any game lists its cues.
    const MEMORY_FRAMES: u32 = 240;
    /// Most identities remembered.
    const MEMORY_MAX: usize = 1024;

    /// Compares the cues of the state shown with those before and calls `say` for each decision.
    pub fn listen(&mut self, now: u32, cues: &[Cue], mut say: impl FnMut(Heard)) {
        self.started.retain(|id| {
            let age = now.wrapping_sub(id.frame);
            // A frame in the future belongs to another match, or to a jump in a replay.
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
    fn cue_moved_by_rollback_fades_and_starts_again() {
        let mut hearing = Hearing::default();
        assert_eq!(listen(&mut hearing, 20, &[cue(20, 0)]), [Heard::Start(cue(20, 0))]);
        assert_eq!(
            listen(&mut hearing, 21, &[cue(19, 0)]),
            [Heard::Fade(cue(20, 0).id), Heard::Start(cue(19, 0))]
        );
    }

    #[test]
    fn late_cue_starts_once_unless_too_late() {
        let mut hearing = Hearing::default();
        assert_eq!(listen(&mut hearing, 30, &[cue(23, 0), cue(10, 1)]), [Heard::Start(cue(23, 0))]);
        assert_eq!(listen(&mut hearing, 31, &[cue(23, 0), cue(10, 1)]), []);
    }

    #[test]
    fn old_cue_removed_by_rollback_is_not_faded() {
        let mut hearing = Hearing::default();
        listen(&mut hearing, 40, &[cue(40, 0)]);
        assert_eq!(listen(&mut hearing, 43, &[]), []);
        assert_eq!(listen(&mut hearing, 44, &[cue(40, 0)]), [], "the cue is repeated when it comes back");
    }

    /// One owner makes a sound in every frame, as a craft pressed against a wall does; another
    /// makes one in between.
    #[test]
    fn sound_repeated_every_frame_starts_every_eighth_frame() {
        let mut hearing = Hearing::default();
        let (mut heard, mut skipped) = (Vec::new(), 0);
        for now in 100..160_u32 {
            let mut cues: Vec<Cue> =
                (now - 29..=now).map(|frame| Cue { apart: 8, ..cue(frame.max(100), 0) }).collect();
            cues.extend((now >= 103).then(|| Cue { apart: 8, ..cue(103, 1) }));
            hearing.listen(now, &cues, |event| match event {
                Heard::Start(cue) => heard.push((cue.id.who, cue.id.frame)),
                Heard::Skip(_) => skipped += 1,
                Heard::Fade(id) => panic!("{id:?} was removed"),
            });
        }
        let (other, storm): (Vec<_>, Vec<_>) = heard.into_iter().partition(|(who, _)| *who == 1);
        assert_eq!(other, [(1, 103)]);
        assert_eq!(storm, [100, 108, 116, 124, 132, 140, 148, 156].map(|frame| (0, frame)));
        assert_eq!(skipped, 60 - 8, "every other cue is left out exactly once");
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
