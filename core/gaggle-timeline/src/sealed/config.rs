//! Settings of a match that a referee seals.
//!
//! Callers put them into `LatePolicy::Seal`; all peers of a match need the same. Absent: settings
//! of the referee alone, which its server has.

use gaggle_kit::{Input, Micros, OutOfRange};
use gaggle_seal::Build;

use crate::config::{LatePolicy, SessionError, TimelineConfig};

/// What becomes of an input that arrived too late to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum RefusedInput {
    /// It is dropped: what the player pressed in that frame did not happen.
    #[default]
    Drop,
    /// It is merged into the next input by [`Input::merge`] if it is at most 150 ms old.
    Merge,
}

/// Settings of [`LatePolicy::Seal`]. Durations in frames unless noted otherwise; defaults for 60
/// frames per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SealConfig {
    /// Longest time after a frame is due until it is sealed without the inputs that are late.
    /// Default 6.
    pub accept_frames: u32,
    /// Frames that may be simulated beyond the sealed one, 1 to 60. Default 16.
    pub window_frames: u32,
    /// Earliest time before a frame is due at which it is sealed if all inputs are there. Default
    /// 16.
    pub early_frames: u32,
    /// Missed frames in a row for which a player's last input is repeated; after them it is
    /// neutral. Default 30.
    pub repeat_frames: u16,
    /// What becomes of an input that arrived too late. Default: it is dropped.
    pub refused: RefusedInput,
    /// Time by which a client's inputs should arrive earlier than they must. Default 8 ms.
    pub margin: Micros,
    /// Simulated frames beyond the sealed one between which the input delay stays as it is: more
    /// raise it, fewer lower it. Default 5 to 9.
    pub depth_range: (u32, u32),
    /// Missed frames in a row after which a player is removed from the match. Default 600.
    pub out_after_frames: u32,
    /// Sealed frames that are kept: a player that slept no longer returns without a snapshot.
    /// Default 600.
    pub history_frames: u32,
    /// Most inputs in time in a row that a late player needs before frames wait for it again.
    /// Default 64.
    pub gating_run_max: u16,
    /// Time between packets to one client. Default 33 ms.
    pub send_interval: Micros,
    /// Silence after which a passive or joining player is removed. Default 10 s.
    pub silence_timeout: Micros,
    /// Silence of the referee after which [`SessionEvent::TimedOut`](crate::SessionEvent::TimedOut)
    /// tells of it. Default 30 s.
    pub abandon_timeout: Micros,
}

impl Default for SealConfig {
    fn default() -> SealConfig {
        SealConfig {
            accept_frames: 6,
            window_frames: 16,
            early_frames: 16,
            repeat_frames: 30,
            refused: RefusedInput::Drop,
            margin: Micros::from_millis(8),
            depth_range: (5, 9),
            out_after_frames: 600,
            history_frames: 600,
            gating_run_max: 64,
            send_interval: Micros::from_millis(33),
            silence_timeout: Micros::from_secs(10),
            abandon_timeout: Micros::from_secs(30),
        }
    }
}

impl TimelineConfig {
    /// A referee seals every frame with the inputs that are there in time: no player waits for
    /// another. Input delay adapts from 1 to 10 frames.
    ///
    /// ```
    /// use gaggle_timeline::{SealConfig, TimelineConfig};
    /// let party = TimelineConfig::sealed(SealConfig::default());
    /// assert_eq!((party.prediction_frames(), party.input_delay_range), (16, (1, 10)));
    /// ```
    pub fn sealed(seal: SealConfig) -> TimelineConfig {
        TimelineConfig {
            late_policy: LatePolicy::Seal(seal),
            input_delay_range: (1, 10),
            ..TimelineConfig::default()
        }
    }

    /// Settings of sealing, and the rules that both ends of a link must share.
    pub(crate) fn seal_rules<I: Input>(
        &self,
        slot_count: usize,
    ) -> Result<(SealConfig, gaggle_seal::SealConfig), SessionError> {
        let LatePolicy::Seal(seal) = self.late_policy else {
            return Err(SessionError::OtherPolicy);
        };
        let (low, high) = seal.depth_range;
        OutOfRange::check("depth_range", low.into(), 0, high.into())?;
        let rules = gaggle_seal::SealConfig {
            slot_count,
            value_bytes: I::SIZE,
            tick_rate: self.tick_rate,
            accept_frames: seal.accept_frames,
            window_frames: seal.window_frames,
            input_delay_max: self.input_delay_range.1,
            early_frames: seal.early_frames,
            out_after_frames: seal.out_after_frames,
            history_frames: seal.history_frames,
            gating_run_max: seal.gating_run_max,
            check_frames: if self.checksum_interval_frames == 0 { 60 } else { self.checksum_interval_frames },
            send_interval: seal.send_interval,
            silence_timeout: seal.silence_timeout,
            abandon_timeout: seal.abandon_timeout,
            ..gaggle_seal::SealConfig::default()
        };
        rules.check()?;
        Ok((seal, rules))
    }

    /// Fingerprints that the referee compares among clients.
    pub(crate) fn seal_build(&self, shape: u64) -> Build {
        let LatePolicy::Seal(seal) = self.late_policy else { return Build::default() };
        // Rules of the game's inputs that the referee does not know.
        let settings = gaggle_kit::fnv1a_64(&u64::from(seal.repeat_frames).to_le_bytes());
        Build { game: self.game_fingerprint, state: shape, settings }
    }

    /// One number for all settings of a sealed match, as the referee computes it.
    pub(crate) fn seal_fingerprint<I: Input>(&self, slot_count: usize) -> Option<u64> {
        let (_, rules) = self.seal_rules::<I>(slot_count).ok()?;
        Some(self.seal_build(0).settings_fingerprint(&rules))
    }
}
