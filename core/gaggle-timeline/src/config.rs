//! Settings of a session, and whether they fit each other.
//!
//! Callers fill [`TimelineConfig`]; `Session::new` and its siblings validate it. Absent: state.

use gaggle_kit::{Input, Micros, OutOfRange, PeerId, Slot, SlotSet};
use gaggle_link::Channel;
use thiserror::Error;

use crate::roster::MatchId;
use crate::time_sync::SLOW_SPAN;

/// Treatment of a peer whose input is late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LatePolicy {
    /// Wait for the input once the prediction window is used up. A window of 0 is lockstep, a
    /// larger one is rollback.
    Stall {
        /// Frames that may be simulated on predicted input, 0 to 60.
        prediction_frames: u32,
    },
    /// A referee decides per frame which inputs count; no player waits for another. Needs a server
    /// with a referee, and a [`Sealed`](crate::Sealed) session.
    #[cfg(feature = "seal")]
    Seal(crate::SealConfig),
}

/// What to do about a peer that computes too slowly or falls silent, so that the others wait for
/// its input again and again.
///
/// Whatever is chosen, [`SessionEvent::SlowPeer`](crate::SessionEvent::SlowPeer) names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SlowPolicy {
    /// Wait for it, as long as [`TimelineConfig::timeout`] and
    /// [`TimelineConfig::evict_stalled_after`] allow; the application may
    /// [evict](crate::Session::evict) it.
    Wait,
    /// Evict it once the others waited [`TimelineConfig::take_off_after`] for it. It may join again
    /// at once after the first time, and later after a pause that doubles, 30 s to 8 min.
    TakeOff,
    /// Simulate up to `frames` more frames on predicted input while it is slow, which helps against
    /// late packets; evict it as above if the others still wait for it after 10 s.
    Loosen {
        /// Frames beyond the prediction window, 1 to [`TimelineConfig::loosen_frames_max`].
        frames: u32,
    },
}

/// Which peers of a match go on without the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Quorum {
    /// Every part of a split match goes on by itself; one of them yields when they meet again.
    #[default]
    Any,
    /// Only more than half go on, and the others wait: there is one history.
    Majority,
}

/// Settings to tune. Begin with [`rollback`](TimelineConfig::rollback),
/// [`lockstep`](TimelineConfig::lockstep) or the default, which is rollback with a window of 8.
/// Settings without a sensible default (the peers and their slots) are arguments of
/// [`Session::new`](crate::Session::new) instead.
///
/// ```
/// use gaggle_timeline::TimelineConfig;
/// let strategy = TimelineConfig { tick_rate: 30, ..TimelineConfig::lockstep() };
/// let brawler = TimelineConfig { input_delay_range: (1, 3), ..TimelineConfig::rollback(10) };
/// assert_eq!((strategy.prediction_frames(), brawler.prediction_frames()), (0, 10));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineConfig {
    /// Game and version. Peers with another number are rejected.
    pub game_fingerprint: u64,
    /// Simulation steps per second. Default 60.
    pub tick_rate: u32,
    /// Treatment of late input. Default: [`LatePolicy::Stall`] with a window of 8 frames.
    pub late_policy: LatePolicy,
    /// Frames between sampling a local input and its effect at the start of a match. Default 2. A
    /// lone peer has 0, unless the limits below are equal or the player chose another delay.
    pub input_delay_frames: u32,
    /// Limits within which the delay adapts to the network; equal limits fix it. Default 1 to 6. In
    /// lockstep it adapts to no less than 1 unless the upper limit is 0.
    pub input_delay_range: (u32, u32),
    /// Frames of prediction the adapting delay leaves to the window, in quarters of a frame. More
    /// feels quicker and rolls back more. Default 10, which is 2.5 frames.
    pub prediction_target_quarters: u32,
    /// Frames between two comparisons of state checksums; 0 for never. Default 60.
    pub checksum_interval_frames: u32,
    /// Silence after which a peer is reported as interrupted. Default 1.5 s.
    pub interrupted_after: Micros,
    /// Silence after which a peer is reported as timed out. Default 3 s.
    pub timeout: Micros,
    /// Largest packet the session makes, at most what a link carries:
    /// [`Channel::UNRELIABLE_BYTES_MAX`], which is the default.
    pub packet_bytes_max: usize,
    /// Players the game can have, later joiners included. The default 0 means the number the given
    /// slots need; no other peer can join then.
    pub slot_count: usize,
    /// Identity of a match created here. The default is a fixed value.
    pub match_id: MatchId,
    /// Which peers go on after a split. Default [`Quorum::Any`].
    pub quorum: Quorum,
    /// Fewer peers than this, waiting joiners included, do not go on without the others. Default 1.
    pub quorum_min: usize,
    /// A peer that sends no input for this long while others wait for it is evicted, even if other
    /// peers still hear it. Default 10 s.
    pub evict_stalled_after: Micros,
    /// Treatment of slow peers at the start; [`set_slow_policy`](crate::Session::set_slow_policy)
    /// changes it. Default: [`SlowPolicy::Wait`].
    pub slow_policy: SlowPolicy,
    /// Time of the last 10 s which others may spend waiting for one peer before
    /// [`SlowPolicy::TakeOff`] and [`SlowPolicy::Loosen`] evict it. Default 2 s.
    pub take_off_after: Micros,
    /// Frames by which the prediction window may grow during a match. Memory and snapshots are
    /// sized for the grown window, and all peers must set the same. Default 0.
    pub loosen_frames_max: u32,
    /// Send every frame, even when nothing changed and the window has room. Costs bytes and
    /// confirms up to a frame earlier: worth it for large states, where every unconfirmed frame is
    /// a copy.
    pub send_every_frame: bool,
}

impl Default for TimelineConfig {
    fn default() -> Self {
        TimelineConfig {
            game_fingerprint: 0,
            tick_rate: 60,
            late_policy: LatePolicy::Stall { prediction_frames: 8 },
            input_delay_frames: 2,
            input_delay_range: (1, 6),
            prediction_target_quarters: 10,
            checksum_interval_frames: 60,
            interrupted_after: Micros::from_millis(1_500),
            timeout: Micros::from_secs(3),
            packet_bytes_max: Channel::UNRELIABLE_BYTES_MAX,
            slot_count: 0,
            match_id: MatchId::default(),
            quorum: Quorum::Any,
            quorum_min: 1,
            evict_stalled_after: Micros::from_secs(10),
            slow_policy: SlowPolicy::Wait,
            take_off_after: Micros::from_secs(2),
            loosen_frames_max: 0,
            send_every_frame: false,
        }
    }
}

/// Largest prediction window in frames.
pub const PREDICTION_FRAMES_MAX: u32 = 60;
/// Largest input delay in frames.
pub const INPUT_DELAY_FRAMES_MAX: u32 = 30;
/// Largest distance between two checksums in frames: an audit needs all inputs between them.
pub const CHECKSUM_INTERVAL_FRAMES_MAX: u32 = 600;

/// A peer and the slots of its players.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerSlots {
    /// Peer that plays.
    pub peer: PeerId,
    /// Slots of its players. Empty for a peer that only takes part in agreement.
    pub slots: SlotSet,
}

impl PeerSlots {
    /// One player on one peer.
    pub fn new(peer: PeerId, slot: Slot) -> PeerSlots {
        PeerSlots { peer, slots: SlotSet::of(slot) }
    }
}

/// A request of the caller that was rejected. The text says what to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A setting is out of its range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// Two peers claim one slot.
    #[error("{slot} is given to two peers; give it to one")]
    SlotTaken {
        /// Slot that is claimed.
        slot: Slot,
    },
    /// A peer is listed twice.
    #[error("{peer:?} is listed twice; list it once with all of its slots")]
    DuplicatePeer {
        /// Peer that is listed twice.
        peer: PeerId,
    },
    /// The local peer is not listed.
    #[error("{peer:?}, the local peer, is not among the peers that start; add it")]
    LocalPeerMissing {
        /// Identity of the local peer.
        peer: PeerId,
    },
    /// More peers than slots exist.
    #[error("{count} peers are more than the {max} a match can have; remove some")]
    TooManyPeers {
        /// Peers that were given.
        count: usize,
        /// Peers a match can have.
        max: usize,
    },
    /// The inputs of one peer's players in one frame do not fit in a packet.
    #[error(
        "an entry of {slots} players with {input_bytes} bytes each does not fit in a packet of {packet_bytes} bytes; \
         make the input smaller or packet_bytes_max larger"
    )]
    InputTooLarge {
        /// Players on one peer.
        slots: usize,
        /// Bytes of one input.
        input_bytes: usize,
        /// Value of [`TimelineConfig::packet_bytes_max`].
        packet_bytes: usize,
    },
    /// Input was given for a slot that is not local.
    #[error("{slot} belongs to no local player; choose one of the local slots {local:?}")]
    SlotNotLocal {
        /// Slot of the input.
        slot: Slot,
        /// Slots of local players.
        local: SlotSet,
    },
    /// The session and the policy for late input do not belong together.
    #[error(
        "this session needs another late_policy; use Sealed for LatePolicy::Seal, Session for the others"
    )]
    OtherPolicy,
    /// A setting of sealing is out of its range.
    #[cfg(feature = "seal")]
    #[error(transparent)]
    Seal(#[from] gaggle_seal::ConfigError),
    /// More links than a session can have.
    #[error("{max} peers are linked already; disconnect one or reject this one")]
    TooManyLinks {
        /// Links a session can have.
        max: usize,
    },
    /// The named peer is not part of the session.
    #[error("{peer:?} is not part of this session; give a peer of the roster")]
    UnknownPeer {
        /// Peer that was named.
        peer: PeerId,
    },
}

/// Bytes a packet may need besides its entries: header 9, time 7, check 9, promise 24, count 1, and
/// one entry that admits a joiner 31.
pub(crate) const PACKET_OVERHEAD_BYTES: usize = 81;

impl TimelineConfig {
    /// Nothing is predicted or rolled back: every frame waits for the input of all peers. The input
    /// delay adapts to the network, from 1 frame to a quarter of a second at 60 frames per second,
    /// so that no peer has to wait. A player may choose 0 frames, which makes all wait in every
    /// frame.
    pub fn lockstep() -> TimelineConfig {
        TimelineConfig {
            input_delay_range: (0, 15),
            prediction_target_quarters: 0,
            ..TimelineConfig::rollback(0)
        }
    }

    /// Up to `prediction_frames` frames are simulated on predicted input, and resimulated where the
    /// prediction was wrong.
    pub fn rollback(prediction_frames: u32) -> TimelineConfig {
        TimelineConfig { late_policy: LatePolicy::Stall { prediction_frames }, ..TimelineConfig::default() }
    }

    /// Prediction the adapting delay may leave, in quarters of a frame: one frame less than the
    /// window, because peers tick at different moments of a frame. In lockstep this is one frame of
    /// delay beyond the latency.
    pub(crate) fn guessing_quarters(&self) -> i64 {
        i64::from(self.prediction_target_quarters).min(4 * (i64::from(self.prediction_frames()) - 1))
    }

    /// Frames that may be simulated on predicted input, at the start of a match.
    pub fn prediction_frames(&self) -> u32 {
        match self.late_policy {
            LatePolicy::Stall { prediction_frames } => prediction_frames,
            #[cfg(feature = "seal")]
            LatePolicy::Seal(seal) => seal.window_frames,
        }
    }

    /// Frames that may ever be simulated on predicted input: what
    /// [`Snapshots`](crate::Snapshots) must hold.
    pub fn prediction_frames_max(&self) -> u32 {
        self.prediction_frames() + self.loosen_frames_max
    }

    /// Duration of one frame.
    pub fn frame_duration(&self) -> Micros {
        Micros::new(1_000_000 / u64::from(self.tick_rate.max(1)))
    }

    /// Frames by which an honest peer's newest entry can be ahead of the entries it holds of
    /// others: the window, the largest delay, and the frame it waits for.
    #[inline]
    pub(crate) fn lookahead_frames(&self) -> u32 {
        self.prediction_frames_max() + self.input_delay_range.1.max(self.input_delay_frames) + 1
    }

    /// Input rows to keep: enough for every entry that can still arrive, every frame that can be
    /// resimulated, and a desync back to the last two agreed states.
    pub(crate) fn table_frames(&self) -> usize {
        let running = 4 * self.lookahead_frames() + 16;
        let explaining = 4 * self.checksum_interval_frames;
        #[cfg(feature = "seal")]
        let running = match self.late_policy {
            LatePolicy::Seal(_) => running.max(2 * (crate::sealed::AHEAD_FRAMES + self.lookahead_frames())),
            LatePolicy::Stall { .. } => running,
        };
        (running.max(explaining) as usize).next_power_of_two()
    }

    /// One number for all settings that peers must have in common besides the game.
    pub fn settings_fingerprint<I: Input>(&self, slot_count: usize) -> u64 {
        #[cfg(feature = "seal")]
        if let Some(fingerprint) = self.seal_fingerprint::<I>(slot_count) {
            return fingerprint;
        }
        let parts = [
            u64::from(self.tick_rate),
            u64::from(self.prediction_frames_max()),
            u64::from(self.checksum_interval_frames),
            u64::from(self.lookahead_frames()),
            slot_count as u64,
            I::SIZE as u64,
            u64::from(self.quorum == Quorum::Majority),
            self.quorum_min as u64,
        ];
        let mut bytes = [0; 64];
        for (chunk, part) in bytes.chunks_exact_mut(8).zip(parts) {
            chunk.copy_from_slice(&part.to_le_bytes());
        }
        gaggle_kit::fnv1a_64(&bytes)
    }

    /// Validates the settings for a later joiner with this many players.
    pub(crate) fn validate_joiner<I: Input>(&self, players: usize) -> Result<(), SessionError> {
        self.validate_numbers()?;
        OutOfRange::check("players", players as u64, 1, self.slot_count as u64)?;
        self.fits::<I>(players)
    }

    /// Whether the settings make sense for a spectator.
    pub(crate) fn validate_watcher(&self) -> Result<(), SessionError> {
        self.validate_numbers()?;
        Ok(OutOfRange::check("slot_count", self.slot_count as u64, 1, SlotSet::COUNT_MAX as u64)?)
    }

    fn fits<I: Input>(&self, players: usize) -> Result<(), SessionError> {
        let room = self.packet_bytes_max.saturating_sub(PACKET_OVERHEAD_BYTES);
        // The counts of repeated entries, written before the entry, take a byte.
        if players * I::SIZE >= room {
            return Err(SessionError::InputTooLarge {
                slots: players,
                input_bytes: I::SIZE,
                packet_bytes: self.packet_bytes_max,
            });
        }
        Ok(())
    }

    pub(crate) fn validate<I: Input>(&self, local: PeerId, seats: &[PeerSlots]) -> Result<(), SessionError> {
        self.validate_numbers()?;
        self.validate_seats::<I>(local, seats)
    }

    fn validate_numbers(&self) -> Result<(), OutOfRange> {
        let within = OutOfRange::check;
        let (delay_min, delay_max) = self.input_delay_range;
        let delay_cap = u64::from(INPUT_DELAY_FRAMES_MAX);
        within("tick_rate", self.tick_rate.into(), 1, 1_000)?;
        within("prediction_frames", self.prediction_frames().into(), 0, PREDICTION_FRAMES_MAX.into())?;
        let loosen_max = PREDICTION_FRAMES_MAX - self.prediction_frames();
        within("loosen_frames_max", self.loosen_frames_max.into(), 0, loosen_max.into())?;
        self.validate_slow_policy(self.slow_policy)?;
        within("take_off_after (µs)", self.take_off_after.get(), 1, SLOW_SPAN.get())?;
        within("input_delay_range.1", delay_max.into(), 0, delay_cap)?;
        within("input_delay_range.0", delay_min.into(), 0, delay_max.into())?;
        within("input_delay_frames", self.input_delay_frames.into(), 0, delay_cap)?;
        within(
            "prediction_target_quarters",
            self.prediction_target_quarters.into(),
            0,
            4 * u64::from(PREDICTION_FRAMES_MAX),
        )?;
        within(
            "checksum_interval_frames",
            self.checksum_interval_frames.into(),
            0,
            CHECKSUM_INTERVAL_FRAMES_MAX.into(),
        )?;
        // A larger packet would never be sent; a smaller one may have no room for an entry, which
        // is checked for each peer.
        within("packet_bytes_max", self.packet_bytes_max as u64, 128, Channel::UNRELIABLE_BYTES_MAX as u64)?;
        within("slot_count", self.slot_count as u64, 0, SlotSet::COUNT_MAX as u64)?;
        within("quorum_min", self.quorum_min as u64, 1, SlotSet::COUNT_MAX as u64)?;
        within("interrupted_after (µs)", self.interrupted_after.get(), 1, self.timeout.get())
    }

    /// Whether the window may grow by as much as this policy says.
    pub(crate) fn validate_input_delay(&self, frames: Option<u32>) -> Result<(), OutOfRange> {
        let (min, max) = self.input_delay_range;
        let (min, max) = (min.min(self.input_delay_frames), max.max(self.input_delay_frames));
        let Some(frames) = frames.filter(|frames| !(min..=max).contains(frames)) else { return Ok(()) };
        let (value, min, max) = (frames.into(), min.into(), max.into());
        Err(OutOfRange { setting: "input_delay_frames", value, min, max })
    }

    pub(crate) fn validate_slow_policy(&self, policy: SlowPolicy) -> Result<(), OutOfRange> {
        let SlowPolicy::Loosen { frames } = policy else { return Ok(()) };
        let most = self.loosen_frames_max;
        let (setting, value, min, max) = match frames {
            0 => ("slow_policy.frames", 0, 1, most.max(1)),
            _ if frames > most => ("loosen_frames_max", most, frames, PREDICTION_FRAMES_MAX),
            _ => return Ok(()),
        };
        Err(OutOfRange { setting, value: value.into(), min: min.into(), max: max.into() })
    }

    fn validate_seats<I: Input>(&self, local: PeerId, seats: &[PeerSlots]) -> Result<(), SessionError> {
        if seats.len() > SlotSet::COUNT_MAX {
            return Err(SessionError::TooManyPeers { count: seats.len(), max: SlotSet::COUNT_MAX });
        }
        let mut taken = SlotSet::EMPTY;
        for (index, seat) in seats.iter().enumerate() {
            if seats[..index].iter().any(|other| other.peer == seat.peer) {
                return Err(SessionError::DuplicatePeer { peer: seat.peer });
            }
            if let Some(slot) = taken.intersection(seat.slots).lowest() {
                return Err(SessionError::SlotTaken { slot });
            }
            taken = taken.union(seat.slots);
            self.fits::<I>(seat.slots.len())?;
        }
        if !seats.iter().any(|seat| seat.peer == local) {
            return Err(SessionError::LocalPeerMissing { peer: local });
        }
        Ok(())
    }
}
