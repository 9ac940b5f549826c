//! Volume of the arcade: off, or one of three steps. The menu cycles through them, the key M
//! switches sound off and on. Absent: audio output.

/// Gain of each step.
const STEPS: [f32; 4] = [0.0, 0.3, 0.6, 1.0];

/// A step of the volume; 0 is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Volume {
    step: usize,
    /// The step before it was switched off.
    before: usize,
}

impl Default for Volume {
    fn default() -> Volume {
        let full = STEPS.len() - 1;
        Volume { step: full, before: full }
    }
}

impl Volume {
    /// Reads a stored value; full volume if it is invalid.
    pub fn read(kept: &str) -> Volume {
        let mut volume = Volume::default();
        volume.step = kept.parse().ok().filter(|step| *step < STEPS.len()).unwrap_or(volume.step);
        volume.before = if volume.step == 0 { volume.before } else { volume.step };
        volume
    }

    /// The value to store.
    pub fn kept(self) -> String {
        self.step.to_string()
    }

    /// Index of the step.
    pub fn step(self) -> usize {
        self.step
    }

    /// Whether sound is off.
    pub fn is_off(self) -> bool {
        self.step == 0
    }

    /// Gain from 0 to 1.
    pub fn loudness(self) -> f32 {
        STEPS[self.step % STEPS.len()]
    }

    /// The next quieter step; from off to full.
    pub fn next(&mut self) {
        self.step = self.step.checked_sub(1).unwrap_or(STEPS.len() - 1);
        self.before = if self.step == 0 { self.before } else { self.step };
    }

    /// Switches off, or back to the step before.
    pub fn toggle(&mut self) {
        self.step = if self.step == 0 { self.before } else { 0 };
    }

    /// The volume in words.
    pub fn words(self) -> &'static str {
        ["Sound off", "Sound low", "Sound half", "Sound full"][self.step % STEPS.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volume_steps_down_to_off_and_returns_to_where_it_was() {
        let mut volume = Volume::read("");
        let steps = [0; 5].map(|_| {
            volume.next();
            volume.step()
        });
        assert_eq!(steps, [2, 1, 0, 3, 2]);
        volume.toggle();
        assert!(volume.is_off());
        volume.toggle();
        assert_eq!((volume.step(), Volume::read(&volume.kept()).step()), (2, 2));
        assert_eq!(["9", "loud", "-1", "0"].map(|kept| Volume::read(kept).step()), [3, 3, 3, 0]);
        let mut off = Volume::read("0");
        off.toggle();
        assert_eq!(off.words(), "Sound full");
    }
}
