//! The numbers of a session, and whether they make sense together.

use gaggle_kit::{Input, Micros, PeerId, Slot, SlotSet};
use gaggle_link::Channel;
use thiserror::Error;

use crate::roster::MatchId;

/// What to do about a peer whose input is late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LatePolicy {
    /// Wait for it when the window is used up. With a window of 0 this is lockstep, otherwise
    /// rollback.
    Stall {
        /// How many frames may be simulated on guessed input. 0 to 60.
        prediction_frames: u32,
    },
}

/// Numbers to tune: begin with [`rollback`](TimelineConfig::rollback),
/// [`lockstep`](TimelineConfig::lockstep) or the default, which is rollback with a window of 8.
/// What has no sensible default (who plays, in which seat) is an argument of
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
    /// Which game and version this is. Peers with another number are refused.
    pub game_fingerprint: u64,
    /// Simulation steps a second. Default 60.
    pub tick_rate: u32,
    /// What to do about late input. Default: [`LatePolicy::Stall`] with a window of 8 frames.
    pub late_policy: LatePolicy,
    /// Frames between sampling a local input and its effect, to begin with among others. Default 2.
    /// Alone it is 0, unless the limits below are equal or the player chose another.
    pub input_delay_frames: u32,
    /// The delay adapts to the network within these limits; equal limits keep it fixed. Default 1
    /// to 6.
    pub input_delay_range: (u32, u32),
    /// How many frames of guessing the adapting delay leaves to the window, in quarters of a frame.
    /// More feels quicker and rolls back more. Default 10, which is 2.5 frames.
    pub prediction_target_quarters: u32,
    /// State hashes are compared every so many frames; 0 never. Default 60.
    pub checksum_interval_frames: u32,
    /// A peer silent for so long is reported as interrupted. Default 1.5 s.
    pub interrupted_after: Micros,
    /// A peer silent for so long is reported as gone. Default 3 s.
    pub timeout: Micros,
    /// Largest packet the session makes, at most what a link carries:
    /// [`Channel::UNRELIABLE_BYTES_MAX`], which is the default.
    pub packet_bytes_max: usize,
    /// How many players the game can have, those who join later included. 0, the default, is as
    /// many as the seats call for: then nobody else can join.
    pub slot_count: usize,
    /// Which match this is, if it is founded here. Default: the first of all.
    pub match_id: MatchId,
    /// After a split only a majority goes on, the others wait. By default every part goes on by
    /// itself, and when they meet again one of them yields.
    pub majority: bool,
    /// Fewer machines than this, those included who wait to be let in, do not go on without the
    /// others. Default 1.
    pub quorum_min: usize,
    /// A peer that gives no input for so long, while others wait for it, is removed, whoever says
    /// that it is there. Default 10 s.
    pub evict_stalled_after: Micros,
    /// Send every frame, even when nothing changed and the window has room. Costs bytes, confirms
    /// up to a frame earlier: worth it for large states, where every unconfirmed frame is a copy.
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
            majority: false,
            quorum_min: 1,
            evict_stalled_after: Micros::from_secs(10),
            send_every_frame: false,
        }
    }
}

/// Largest prediction window.
pub const PREDICTION_FRAMES_MAX: u32 = 60;
/// Largest input delay.
pub const INPUT_DELAY_FRAMES_MAX: u32 = 30;
/// Largest distance between two state hashes: what lies between must be kept to explain a desync.
pub const CHECKSUM_INTERVAL_FRAMES_MAX: u32 = 600;

/// Who sits where: one machine and the slots of the players at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerSlots {
    /// The machine.
    pub peer: PeerId,
    /// The slots of its players. Empty for a machine that only helps to agree.
    pub slots: SlotSet,
}

impl PeerSlots {
    /// One player at one machine.
    pub fn new(peer: PeerId, slot: Slot) -> PeerSlots {
        PeerSlots { peer, slots: SlotSet::of(slot) }
    }
}

/// The caller asked for something that cannot be. Says what to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A setting is out of its range.
    #[error("{setting} is {value}, choose {min} to {max}")]
    OutOfRange {
        /// The field of [`TimelineConfig`].
        setting: &'static str,
        /// Its value.
        value: u64,
        /// Smallest allowed.
        min: u64,
        /// Largest allowed.
        max: u64,
    },
    /// Two machines claim one slot.
    #[error("{slot} is given to two peers, give it to one")]
    SlotTaken {
        /// The slot.
        slot: Slot,
    },
    /// A machine is listed twice.
    #[error("{peer:?} is listed twice, give all its slots in one seat")]
    DuplicatePeer {
        /// The machine.
        peer: PeerId,
    },
    /// The local machine has no seat.
    #[error("{peer:?}, the local peer, is not among the seats")]
    LocalPeerMissing {
        /// The local machine.
        peer: PeerId,
    },
    /// More machines than slots exist.
    #[error("{count} peers are more than the {max} a match can have")]
    TooManyPeers {
        /// How many were given.
        count: usize,
        /// How many can be.
        max: usize,
    },
    /// What the players of one machine do in one frame does not fit in a packet.
    #[error(
        "an entry of {slots} players with {input_bytes} bytes each does not fit in a packet of {packet_bytes} bytes: \
         make the input smaller or packet_bytes_max larger"
    )]
    InputTooLarge {
        /// Players at one machine.
        slots: usize,
        /// Bytes of one input.
        input_bytes: usize,
        /// [`TimelineConfig::packet_bytes_max`].
        packet_bytes: usize,
    },
    /// Input was given for a slot that is not local.
    #[error("{slot} belongs to no local player, local slots are {local:?}")]
    SlotNotLocal {
        /// The slot.
        slot: Slot,
        /// The local slots.
        local: SlotSet,
    },
    /// More links than a session keeps up with.
    #[error("{max} peers are linked already, close the link of one or refuse this one")]
    TooManyLinks {
        /// How many there can be.
        max: usize,
    },
    /// The named machine is not part of the session.
    #[error("{peer:?} is not part of this session")]
    UnknownPeer {
        /// The machine.
        peer: PeerId,
    },
}

/// What a packet may need besides its entries: header 9, time 7, check 9, promise 24, count 1, and
/// one entry that admits somebody 31.
pub(crate) const PACKET_OVERHEAD_BYTES: usize = 81;

impl TimelineConfig {
    /// Nothing is ever guessed and nothing rolled back: every frame waits for everybody's input.
    /// The input delay adapts to whatever the network takes, up to a quarter of a second at 60
    /// frames a second, so that nobody has to wait.
    pub fn lockstep() -> TimelineConfig {
        TimelineConfig {
            input_delay_range: (1, 15),
            prediction_target_quarters: 0,
            ..TimelineConfig::rollback(0)
        }
    }

    /// Up to this many frames are played on guessed input, and again when a guess was wrong.
    pub fn rollback(window_frames: u32) -> TimelineConfig {
        TimelineConfig {
            late_policy: LatePolicy::Stall { prediction_frames: window_frames },
            ..TimelineConfig::default()
        }
    }

    /// How much guessing the adapting delay may leave: a frame less than there is in the window,
    /// because machines tick at different moments of a frame. In lockstep that is a frame of delay
    /// beyond what the way takes.
    pub(crate) fn guessing_quarters(&self) -> i64 {
        i64::from(self.prediction_target_quarters).min(4 * (i64::from(self.prediction_frames()) - 1))
    }

    /// Frames that may be simulated on guesses.
    pub fn prediction_frames(&self) -> u32 {
        match self.late_policy {
            LatePolicy::Stall { prediction_frames: window_frames } => window_frames,
        }
    }

    /// Length of one frame.
    pub fn frame_duration(&self) -> Micros {
        Micros::new(1_000_000 / u64::from(self.tick_rate.max(1)))
    }

    /// How far an honest peer's newest entry can be ahead of what it holds of the others: the
    /// window, the largest delay, and the frame it waits for.
    #[inline]
    pub(crate) fn reach_frames(&self) -> u32 {
        self.prediction_frames() + self.input_delay_range.1.max(self.input_delay_frames) + 1
    }

    /// Rows of input to keep: enough for everything that can still arrive or be simulated again,
    /// and for explaining a desync back to the last two agreed states.
    pub(crate) fn table_frames(&self) -> usize {
        let running = 4 * self.reach_frames() + 16;
        let explaining = 4 * self.checksum_interval_frames;
        (running.max(explaining) as usize).next_power_of_two()
    }

    /// What all peers must have in common besides the game, as one number.
    pub fn settings_fingerprint<I: Input>(&self, slot_count: usize) -> u64 {
        let parts = [
            u64::from(self.tick_rate),
            u64::from(self.prediction_frames()),
            u64::from(self.checksum_interval_frames),
            u64::from(self.reach_frames()),
            slot_count as u64,
            I::SIZE as u64,
            u64::from(self.majority),
            self.quorum_min as u64,
        ];
        let mut bytes = [0; 64];
        for (chunk, part) in bytes.chunks_exact_mut(8).zip(parts) {
            chunk.copy_from_slice(&part.to_le_bytes());
        }
        gaggle_kit::fnv1a_64(&bytes)
    }

    /// Whether the settings make sense for somebody with so many players who joins later.
    pub(crate) fn validate_joiner<I: Input>(&self, players: usize) -> Result<(), SessionError> {
        self.validate_numbers()?;
        if players == 0 || players > self.slot_count {
            let (value, max) = (players as u64, self.slot_count as u64);
            return Err(SessionError::OutOfRange { setting: "players", value, min: 1, max });
        }
        self.fits::<I>(players)
    }

    /// Whether the settings make sense for somebody who only watches.
    pub(crate) fn validate_watcher(&self) -> Result<(), SessionError> {
        self.validate_numbers()?;
        match self.slot_count {
            0 => Err(SessionError::OutOfRange {
                setting: "slots",
                value: 0,
                min: 1,
                max: SlotSet::COUNT_MAX as u64,
            }),
            _ => Ok(()),
        }
    }

    fn fits<I: Input>(&self, players: usize) -> Result<(), SessionError> {
        let room = self.packet_bytes_max.saturating_sub(PACKET_OVERHEAD_BYTES);
        // With a byte for the repetitions before it.
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

    fn validate_numbers(&self) -> Result<(), SessionError> {
        let within = |setting, value: u64, min: u64, max: u64| {
            if (min..=max).contains(&value) {
                Ok(())
            } else {
                Err(SessionError::OutOfRange { setting, value, min, max })
            }
        };
        let (delay_min, delay_max) = self.input_delay_range;
        let delay_cap = u64::from(INPUT_DELAY_FRAMES_MAX);
        within("frames_per_second", self.tick_rate.into(), 1, 1_000)?;
        within("window_frames", self.prediction_frames().into(), 0, PREDICTION_FRAMES_MAX.into())?;
        within("input_delay_limits.1", delay_max.into(), 0, delay_cap)?;
        within("input_delay_limits.0", delay_min.into(), 0, delay_max.into())?;
        within("input_delay_frames", self.input_delay_frames.into(), 0, delay_cap)?;
        within(
            "guessed_quarters",
            self.prediction_target_quarters.into(),
            0,
            4 * u64::from(PREDICTION_FRAMES_MAX),
        )?;
        within(
            "check_interval_frames",
            self.checksum_interval_frames.into(),
            0,
            CHECKSUM_INTERVAL_FRAMES_MAX.into(),
        )?;
        // A larger one would never leave; a smaller one may have no room for an entry, which is
        // looked at for each seat.
        within("packet_bytes_max", self.packet_bytes_max as u64, 128, Channel::UNRELIABLE_BYTES_MAX as u64)?;
        within("slots", self.slot_count as u64, 0, SlotSet::COUNT_MAX as u64)?;
        within("circle_min", self.quorum_min as u64, 1, SlotSet::COUNT_MAX as u64)?;
        within("interrupted_after (µs)", self.interrupted_after.get(), 1, self.timeout.get())
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
