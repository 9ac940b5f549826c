//! Everything anybody pressed, so that an input that is lost, moved or made up shows.

use gaggle_kit::Frame;

use super::broth::Press;

/// An input may take effect so many frames after it was made: the largest delay, and the frames somebody who just
/// came in is behind.
const DELAY_FRAMES_MAX: u32 = 24;

/// All stays of all machines.
#[derive(Debug, Default)]
pub(super) struct Presses {
    stays: Vec<Stay>,
    pub(super) checked: u64,
}

#[derive(Debug)]
struct Stay {
    machine: usize,
    origin: Frame,
    /// For every press, the frame the machine was at.
    at: Vec<Frame>,
}

impl Presses {
    /// A machine begins anew: what it pressed before belongs to another stay.
    pub(super) fn begin(&mut self, machine: usize) {
        self.stays.push(Stay { machine, origin: Frame::NEVER, at: Vec::new() });
    }

    /// A player changes its mind.
    pub(super) fn press(&mut self, machine: usize, origin: Frame, current: Frame) -> Press {
        let found = self.stays.iter().rposition(|stay| stay.machine == machine);
        let nth = match found {
            Some(nth) if self.stays[nth].origin == origin || self.stays[nth].at.is_empty() => nth,
            _ => {
                self.begin(machine);
                self.stays.len() - 1
            }
        };
        let stay = &mut self.stays[nth];
        stay.origin = origin;
        stay.at.push(current);
        Press { stay: nth as u16 + 1, count: stay.at.len() as u16 }
    }

    /// What a confirmed frame says must have been pressed, once, then.
    pub(super) fn check(
        &mut self,
        index: usize,
        frame: Frame,
        before: Press,
        now: Press,
    ) -> Result<(), String> {
        if now == before || now == Press::default() {
            return Ok(());
        }
        self.checked += 1;
        let stay = usize::from(now.stay).checked_sub(1).and_then(|nth| self.stays.get(nth));
        let at = stay.and_then(|stay| stay.at.get(usize::from(now.count).checked_sub(1)?));
        let Some(at) = at else {
            return Err(format!("machine {index}: nobody pressed {now:?}, confirmed for {frame}"));
        };
        if now.stay == before.stay && now.count != before.count + 1 {
            return Err(format!("machine {index}: {now:?} follows {before:?} in {frame}: an input was lost"));
        }
        // Whoever just came in may see what has been held for long.
        let late = now.stay == before.stay && frame.since(*at) > DELAY_FRAMES_MAX;
        if frame <= *at || late {
            return Err(format!(
                "machine {index}: {now:?}, pressed at {at}, counts at {frame}: it was moved"
            ));
        }
        Ok(())
    }
}
