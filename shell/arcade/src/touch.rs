//! Thumbs on glass: two slabs to lean at one side, a disc to flap at the other.

use gander::Pad;

/// Share of the screen's width for leaning; the rest flaps.
const LEAN_SHARE: f32 = 0.45;

/// Fingers on the screen.
#[derive(Debug, Clone, Default)]
pub struct Touch {
    fingers: Vec<(i32, f32)>,
    /// Somebody has touched this screen: show where to.
    pub used: bool,
}

impl Touch {
    /// A finger came down or moved; `x` is 0 at the left edge and 1 at the right. Sliding between slabs counts.
    pub fn set(&mut self, finger: i32, x: f32) {
        self.used = true;
        let room = self.fingers.len() < 10;
        match self.fingers.iter_mut().find(|(id, _)| *id == finger) {
            Some((_, place)) => *place = x,
            None if room => self.fingers.push((finger, x)),
            None => {}
        }
    }

    /// A finger went up.
    pub fn lift(&mut self, finger: i32) {
        self.fingers.retain(|(id, _)| *id != finger);
    }

    /// What the thumbs hold.
    pub fn pad(&self) -> Pad {
        let any = |from: f32, to: f32| self.fingers.iter().any(|(_, x)| (from..to).contains(x));
        Pad {
            left: any(0.0, LEAN_SHARE / 2.0),
            right: any(LEAN_SHARE / 2.0, LEAN_SHARE),
            flap: any(LEAN_SHARE, 1.01),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thumb_slides_from_one_slab_to_the_other() {
        let mut touch = Touch::default();
        touch.set(1, 0.1);
        touch.set(2, 0.9);
        assert_eq!(touch.pad(), Pad { left: true, right: false, flap: true });
        touch.set(1, 0.3);
        assert_eq!(touch.pad(), Pad { left: false, right: true, flap: true });
        touch.lift(2);
        assert_eq!(touch.pad(), Pad::RIGHT);
    }
}
