//! Record of every input with its frame, against which all confirmed inputs are checked.
//!
//! Written by `machine.rs`, read by `chronicle.rs`. Absent: sessions.

use std::collections::BTreeMap;

use gaggle_kit::Frame;
use gaggle_timeline::StreamId;

use super::broth::Press;

/// Number of a stream in the record; 0 is no player.
pub(super) type Page = u16;

/// Added to the page of a stream for its second player, whose inputs thus differ from the first
/// one's.
const SECOND: Page = 1 << 15;

/// Page of a stream's first or second player.
pub(super) fn page_of(page: Page, nth: usize) -> Page {
    if nth == 0 { page } else { page | SECOND }
}

/// Input of the first or second player of a machine, which change together.
pub(super) fn held_by(press: Press, nth: usize) -> Press {
    if press == Press::default() { press } else { Press { stay: page_of(press.stay, nth), ..press } }
}

/// Inputs of all stays of all machines.
#[derive(Debug, Default)]
pub(super) struct Presses {
    pages: BTreeMap<StreamId, Page>,
    stays: Vec<Stay>,
    pub(super) checked: u64,
}

/// Inputs of a stay by frame, from the first frame on that can have one.
#[derive(Debug)]
struct Stay {
    first: Frame,
    held: Vec<Press>,
    pressed: u16,
}

impl Presses {
    /// Page of a stream, new if it has none.
    pub(super) fn page(&mut self, stream: StreamId) -> Page {
        let next = self.stays.len() as Page + 1;
        let page = *self.pages.entry(stream).or_insert(next);
        if page == next {
            self.stays.push(Stay { first: Frame::NEVER, held: Vec::new(), pressed: 0 });
        }
        page
    }

    /// Changes a player's input to a value that was never used.
    pub(super) fn press(&mut self, page: Page) -> Press {
        let stay = &mut self.stays[usize::from(page) - 1];
        stay.pressed += 1;
        Press { stay: page, count: stay.pressed }
    }

    /// Records the input of the frames that the session has just decided.
    pub(super) fn write(&mut self, page: Page, frames: (Frame, Frame), held: Press) -> Result<(), String> {
        let stay = &mut self.stays[usize::from(page) - 1];
        for frame in (frames.0.number()..=frames.1.number()).map(Frame::new) {
            stay.first = stay.first.min(frame);
            if frame.since(stay.first) as usize != stay.held.len() {
                return Err(format!("{frame} of stay {page} was decided out of turn"));
            }
            stay.held.push(held);
        }
        Ok(())
    }

    /// Input of a stream's player in a frame; the default before its stay.
    pub(super) fn held(&mut self, page: Page, frame: Frame) -> Press {
        let Some(stay) = usize::from(page & !SECOND).checked_sub(1).map(|nth| &self.stays[nth]) else {
            return Press::default();
        };
        self.checked += 1;
        let held = match frame < stay.first {
            true => Press::default(),
            false => stay.held.get(frame.since(stay.first) as usize).copied().unwrap_or_default(),
        };
        held_by(held, usize::from(page & SECOND > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::PeerId;
    use gaggle_timeline::Incarnation;

    #[test]
    fn record_has_input_of_every_frame() {
        let mut presses = Presses::default();
        let stream = StreamId { peer: PeerId::from_u128(1), incarnation: Incarnation(2) };
        let page = presses.page(stream);
        assert_eq!(presses.page(stream), page);
        let press = presses.press(page);
        presses.write(page, (Frame::new(5), Frame::new(6)), Press::default()).expect("the first frames");
        presses.write(page, (Frame::new(7), Frame::new(7)), press).expect("the next");
        assert_eq!(
            [4, 6, 7].map(|frame| presses.held(page, Frame::new(frame))),
            [Press::default(), Press::default(), press]
        );
        assert_eq!(presses.held(0, Frame::new(7)), Press::default(), "an empty slot has an input");
        let second = presses.held(page_of(page, 1), Frame::new(7));
        assert!(second != press && second == held_by(press, 1), "two players of a machine have equal inputs");
        assert!(presses.write(page, (Frame::new(9), Frame::new(9)), press).is_err(), "8 is missing");
    }
}
