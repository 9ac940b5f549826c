//! Speed that keeps peers at the same frame, a little faster or slower than the game's own.
//!
//! Each peer measures how far it is ahead of the other's newest input and sends the result. Half
//! the difference is their distance: latency cancels out, and no clock is compared. `TimeSync`
//! calls it. Absent: peers, frames' meaning.

/// Frames in units of 1/65536.
pub(crate) type FramesQ16 = i64;

/// One frame, in these units.
pub(crate) const FRAME_Q16: FramesQ16 = 1 << 16;
/// Parts per million: the unit of speed.
pub(crate) const PPM: i64 = 1_000_000;

/// Fastest and slowest speed: small enough that players do not notice.
const BEND_PPM_MAX: i64 = 50_000;
/// Largest constant part of the adjustment, for clocks that differ constantly.
const DRIFT_PPM_MAX: i64 = 15_000;
/// Adjustment per frame of distance: one frame is recovered in about a second.
const PROPORTIONAL_PPM: i64 = 20_000;
/// Growth of the constant part, per frame of distance and second.
const INTEGRAL_PPM: i64 = 4_000;
/// Seconds in which the constant part fades: an offset common to all peers cannot be observed, and
/// without this it would drift.
const LEAK_SECONDS: i64 = 20;
/// A larger distance is not corrected by speed: a peer was suspended.
const APART_FRAMES_MAX: i64 = 30;

/// Frames this peer measured itself ahead of another, and what that one reports.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Advantage {
    ours: Option<FramesQ16>,
    theirs: Option<FramesQ16>,
    /// Latency to the peer in frames, if both directions take equally long.
    one_way: FramesQ16,
}

/// A report of this value may stand for a larger one.
const REPORT_MAX: FramesQ16 = 127 * FRAME_Q16 / 4;

impl Advantage {
    /// Takes the distance measured with a packet: `frames` is the own frame minus the sender's.
    #[inline]
    pub(crate) fn handle_distance(&mut self, frames: i64) {
        let sample = frames.clamp(-0x7fff, 0x7fff) * FRAME_Q16;
        let ours = self.ours.get_or_insert(sample);
        // After a suspension the old average is void: it would take seconds to fade.
        if (sample - *ours).abs() > APART_FRAMES_MAX * FRAME_Q16 {
            *ours = sample;
        } else {
            *ours += (sample - *ours) >> 4;
        }
    }

    /// Takes what the peer measured, in quarters of a frame, and the latency to it in frames.
    pub(crate) fn handle_report(&mut self, quarters: i8, one_way: FramesQ16) {
        self.theirs = Some(i64::from(quarters) * (FRAME_Q16 / 4));
        self.one_way = one_way;
    }

    /// Value to send to the peer, in quarters of a frame, saturating.
    pub(crate) fn report(&self) -> Option<i8> {
        self.ours.map(|ours| (ours / (FRAME_Q16 / 4)).clamp(-127, 127) as i8)
    }

    /// This peer ran this many extra ticks: shifts earlier measurements.
    pub(crate) fn shift(&mut self, frames: i64) {
        self.ours = self.ours.map(|ours| ours + frames * FRAME_Q16);
        self.theirs = self.theirs.map(|theirs| theirs - frames * FRAME_Q16);
    }

    /// Whether the distance is so small that fewer samples suffice: with clocks one percent apart
    /// it is a sixteenth of a frame.
    pub(crate) fn is_together(&self) -> bool {
        self.apart().is_some_and(|apart| apart.abs() < FRAME_Q16 / 8)
    }

    /// Frames this peer is ahead of the other.
    pub(crate) fn apart(&self) -> Option<FramesQ16> {
        let (ours, theirs) = (self.ours?, self.theirs?);
        if theirs.abs() >= REPORT_MAX {
            // Too far apart to be reported: half a round trip is close enough.
            return Some(ours - self.one_way);
        }
        Some((ours - theirs) / 2)
    }
}

/// Speed at which this peer should run.
#[derive(Debug, Clone)]
pub(crate) struct Speed {
    /// Growth of the constant part per adjustment and frame of distance.
    growth_per_frame: i64,
    /// Part of the constant part that fades per adjustment, in units of 1/2³².
    leak_q32: i64,
    /// Constant part, in millionths of a ppm.
    drift: i64,
    apart: FramesQ16,
    bend_ppm: i64,
}

impl Speed {
    /// Speed of a game with `tick_rate`, adjusted once in `every_frames`.
    pub(crate) fn new(tick_rate: u32, every_frames: u32) -> Self {
        let (tick_rate, every_frames) = (i64::from(tick_rate), i64::from(every_frames));
        Speed {
            growth_per_frame: INTEGRAL_PPM * PPM * every_frames / tick_rate,
            leak_q32: (every_frames << 32) / (LEAK_SECONDS * tick_rate),
            drift: 0,
            apart: 0,
            bend_ppm: 0,
        }
    }

    /// Updates the speed some frames later. Peers too far off for speed to correct are left out;
    /// returns whether there are any.
    pub(crate) fn tick(&mut self, apart: impl Iterator<Item = FramesQ16>) -> bool {
        // No single peer may demand more than the largest adjustment: among many, one suspended
        // peer hardly counts.
        let most = BEND_PPM_MAX * FRAME_Q16 / PROPORTIONAL_PPM;
        let (mut sum, mut count, mut far) = (0, 0, false);
        for apart in apart {
            if apart.abs() <= APART_FRAMES_MAX * FRAME_Q16 {
                sum += apart.clamp(-most, most);
                count += 1;
            } else {
                far = true;
            }
        }
        // Most matches have two peers, and division is the slowest operation here.
        self.apart = if count <= 1 { sum } else { sum / count };

        let growth = self.growth_per_frame * self.apart / FRAME_Q16;
        let leak = (self.drift * self.leak_q32) >> 32;
        let limit = DRIFT_PPM_MAX * PPM;
        self.drift = (self.drift + growth - leak).clamp(-limit, limit);

        let bend = PROPORTIONAL_PPM * self.apart / FRAME_Q16 + self.drift / PPM;
        self.bend_ppm = bend.clamp(-BEND_PPM_MAX, BEND_PPM_MAX);
        far
    }

    /// Speed in parts per million: 1,000,000 is the game's own; a peer that is ahead runs slower.
    pub(crate) fn ppm(&self) -> u32 {
        (PPM - self.bend_ppm) as u32
    }

    /// Frames this peer is ahead of the others, on average.
    pub(crate) fn apart(&self) -> FramesQ16 {
        self.apart
    }
}

/// Ticks to catch up with peers that speed cannot reach.
///
/// Only when *all* are that far ahead this peer is the one that is behind; otherwise another one
/// has to catch up. A peer ahead of all skips nothing: the others catch up, and until then the
/// window holds it back.
pub(crate) fn frames_to_make_up(apart: impl Iterator<Item = FramesQ16>) -> u32 {
    let most = apart.max().unwrap_or(0);
    if most < -APART_FRAMES_MAX * FRAME_Q16 { (-most / FRAME_Q16) as u32 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_cancels_to_half_difference() {
        let mut one = Advantage::default();
        // This peer sees the other 6 frames behind itself, the other sees this one 2 frames behind:
        // 4 apart, 2 each.
        one.handle_distance(6);
        one.handle_report(2 * 4, 0);
        assert_eq!(one.apart(), Some(2 * FRAME_Q16));
        assert_eq!(one.report(), Some(24));
    }

    #[test]
    fn reports_saturate_instead_of_wrapping() {
        let mut far = Advantage::default();
        far.handle_distance(4_000);
        assert_eq!(far.report(), Some(127));
        far.handle_distance(-4_000);
        assert_eq!(far.report(), Some(-127));
    }

    #[test]
    fn speed_is_bounded_and_follows_sign() {
        let mut speed = Speed::new(60, 1);
        for _ in 0..600 {
            speed.tick([25 * FRAME_Q16].into_iter());
            assert!(speed.ppm() >= 950_000);
        }
        for _ in 0..6_000 {
            speed.tick([-25 * FRAME_Q16].into_iter());
            assert!(speed.ppm() <= 1_050_000);
        }
        assert_eq!(speed.ppm(), 1_050_000);
    }

    #[test]
    fn sleeping_peer_changes_no_speed() {
        let mut speed = Speed::new(60, 1);
        speed.tick([200 * FRAME_Q16, 0].into_iter());
        assert_eq!(speed.ppm(), 1_000_000);
        assert_eq!(frames_to_make_up([200 * FRAME_Q16, 0].into_iter()), 0);
        assert_eq!(frames_to_make_up([-200 * FRAME_Q16, -190 * FRAME_Q16].into_iter()), 190);
        assert_eq!(frames_to_make_up([200 * FRAME_Q16, 190 * FRAME_Q16].into_iter()), 0, "the others do");
        assert_eq!(frames_to_make_up([].into_iter()), 0);
    }
}
