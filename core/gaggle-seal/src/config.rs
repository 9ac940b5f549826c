//! Settings of a sealed match: those both ends must agree on, and those only the referee uses.
//!
//! `Referee` and `Client` are made with them. Absent: the game, links, tickets.

use gaggle_kit::rate_limit::RateLimit;
use gaggle_kit::{Micros, OutOfRange};
use thiserror::Error;

use crate::hello::write_rules;
use crate::shape::{Shape, ShapeError};

/// Settings of a sealed match. Durations in frames unless noted otherwise; defaults for 60 Hz.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealConfig {
    /// Slots of the match, 1 to 1,024. Default 8.
    pub slot_count: usize,
    /// Bytes of one slot's encoded input, 1 to 64. Default 1.
    pub value_bytes: usize,
    /// Frames per second. Default 60.
    pub tick_rate: u32,
    /// Longest time after its due time until a frame is sealed. Default 6.
    pub accept_frames: u32,
    /// Frames a client may simulate beyond the sealed frame. Default 16.
    pub window_frames: u32,
    /// Largest input delay of a client. Default 10.
    pub input_delay_max: u32,
    /// Earliest time before its due time at which a complete frame is sealed. Default 16.
    pub early_frames: u32,
    /// Missed frames in a row after which a slot loses its row. Default 600.
    pub out_after_frames: u32,
    /// Sealed frames that are kept: a client this far behind needs no snapshot. Default 600.
    pub history_frames: u32,
    /// Most consecutive entries in time that a slot needs before frames wait for it again. Default
    /// 64.
    pub gating_run_max: u16,
    /// Frames between two hashes a client reports; states for joiners are of these frames. Default
    /// 60.
    pub check_frames: u32,
    /// Time between merged packets to one client. Default 33 ms: two frames.
    pub send_interval: Micros,
    /// The same for a spectator. Default 100 ms.
    pub spectator_interval: Micros,
    /// Frames by which spectators are behind, at most half of `history_frames`. Default 0.
    pub spectator_delay_frames: u32,
    /// Most spectators. Default 64.
    pub spectators_max: usize,
    /// Merged bodies up to this size repeat all unacknowledged frames. Default 64 bytes.
    pub full_bytes: usize,
    /// Bytes sent to one client. Default 32 KiB per second, two seconds' worth at once.
    pub client_rate: RateLimit,
    /// Bytes of a game's state sent to one client, beside `client_rate`. Default 256 KiB per
    /// second, two seconds' worth at once.
    pub state_rate: RateLimit,
    /// Packets from one client. Default 200 per second, 400 at once.
    pub packet_rate: RateLimit,
    /// How long a new referee without a journal waits for members. Default 3 s.
    pub resume_timeout: Micros,
    /// Silence after which a passive or joining client loses its row. Default 10 s.
    pub silence_timeout: Micros,
    /// Silence of the referee after which a client is told that it is lost. Default 30 s.
    pub abandon_timeout: Micros,
    /// Most clients connected at a time, spectators included. Default 1,088.
    pub clients_max: usize,
    /// Whether frames are written to a journal before any client is told of them. Default true.
    pub journal: bool,
}

impl Default for SealConfig {
    fn default() -> SealConfig {
        SealConfig {
            slot_count: 8,
            value_bytes: 1,
            tick_rate: 60,
            accept_frames: 6,
            window_frames: 16,
            input_delay_max: 10,
            early_frames: 16,
            out_after_frames: 600,
            history_frames: 600,
            gating_run_max: 64,
            check_frames: 60,
            send_interval: Micros::from_millis(33),
            spectator_interval: Micros::from_millis(100),
            spectator_delay_frames: 0,
            spectators_max: 64,
            full_bytes: 64,
            client_rate: RateLimit::per_second(32_768, 65_536),
            state_rate: RateLimit::per_second(262_144, 524_288),
            packet_rate: RateLimit::per_second(200, 400),
            resume_timeout: Micros::from_secs(3),
            silence_timeout: Micros::from_secs(10),
            abandon_timeout: Micros::from_secs(30),
            clients_max: 1_088,
            journal: true,
        }
    }
}

/// Settings that are out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// Slots or bytes per input are invalid.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A number beyond its range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
}

impl SealConfig {
    /// Checks all settings and computes the shape.
    ///
    /// # Errors
    /// Names the first setting that is out of its range.
    pub fn check(&self) -> Result<Shape, ConfigError> {
        let ranges = [
            ("tick_rate", u64::from(self.tick_rate), 1, 1_000),
            ("accept_frames", self.accept_frames.into(), 0, 600),
            ("window_frames", self.window_frames.into(), 1, 128),
            ("input_delay_max", self.input_delay_max.into(), 0, 64),
            ("early_frames", self.early_frames.into(), 0, 128),
            ("out_after_frames", self.out_after_frames.into(), 1, 60_000),
            ("history_frames", self.history_frames.into(), 8, 4_000),
            ("check_frames", self.check_frames.into(), 1, 6_000),
            ("send_interval", self.send_interval.get(), 0, 1_000_000),
            (
                "spectator_delay_frames",
                self.spectator_delay_frames.into(),
                0,
                u64::from(self.history_frames / 2),
            ),
            ("gating_run_max", self.gating_run_max.into(), 1, 10_000),
            ("full_bytes", self.full_bytes as u64, 0, 1_000),
            ("clients_max", self.clients_max as u64, 1, 65_536),
        ];
        for (setting, value, min, max) in ranges {
            OutOfRange::check(setting, value, min, max)?;
        }
        Ok(Shape::new(self.slot_count, self.value_bytes)?)
    }

    /// One number for the rules that both ends must agree on.
    pub fn fingerprint(&self) -> u64 {
        let mut bytes = Vec::new();
        write_rules(self, &mut bytes);
        gaggle_kit::fnv1a_64(&bytes)
    }

    /// Frames beyond the sealed one for which entries are taken.
    pub(crate) const fn lookahead(&self) -> u32 {
        2 * (self.window_frames + self.input_delay_max) + 32
    }

    /// Duration of a number of frames.
    pub(crate) const fn span(&self, frames: u32) -> Micros {
        Micros::new(frames as u64 * 1_000_000 / self.tick_rate as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_pass_and_extremes_are_named() {
        assert!(SealConfig::default().check().is_ok());
        let config = SealConfig { tick_rate: 0, ..SealConfig::default() };
        assert_eq!(config.check().unwrap_err().to_string(), "tick_rate is 0; choose 1 to 1000");
        let config = SealConfig { slot_count: 2_000, ..SealConfig::default() };
        assert!(matches!(config.check(), Err(ConfigError::Shape(_))));
    }
}
