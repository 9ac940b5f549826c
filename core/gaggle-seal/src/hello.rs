//! The first message of a link: which process plays what, and under which settings.
//!
//! `Client` writes it, `RefereeRoom` reads it before anything else. Absent: tickets, who may play.

use gaggle_kit::{ByteReader, DecodeError, Varint, fnv1a_64};

use crate::config::SealConfig;

/// Version of the protocol, which both ends must share.
pub const PROTOCOL_VERSION: u8 = 1;

/// What two builds of a game must have in common beside the rules of sealing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Build {
    /// Fingerprint of the game's version.
    pub game: u64,
    /// Fingerprint of the fields of its state.
    pub state: u64,
    /// Fingerprint of the settings that are no rules of sealing.
    pub settings: u64,
}

impl Build {
    /// One number for a build and its rules of sealing. Lobby and referee compare it.
    pub fn fingerprint(&self, rules: &SealConfig) -> u64 {
        let parts = [self.game, self.settings_fingerprint(rules), self.state];
        let mut bytes = [0; 24];
        for (chunk, part) in bytes.chunks_exact_mut(8).zip(parts) {
            chunk.copy_from_slice(&part.to_le_bytes());
        }
        fnv1a_64(&bytes)
    }

    /// One number for all settings, rules of sealing included.
    pub fn settings_fingerprint(&self, rules: &SealConfig) -> u64 {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.settings.to_le_bytes());
        bytes[8..].copy_from_slice(&rules.fingerprint().to_le_bytes());
        fnv1a_64(&bytes)
    }
}

/// The first message of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) incarnation: u32,
    pub(crate) is_spectator: bool,
    pub(crate) build: Build,
    /// Rules of the match; settings of the referee alone have their defaults.
    pub(crate) rules: SealConfig,
}

impl Hello {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(PROTOCOL_VERSION);
        out.extend_from_slice(&self.incarnation.to_le_bytes());
        out.push(self.is_spectator.into());
        for part in [self.build.game, self.build.state, self.build.settings] {
            out.extend_from_slice(&part.to_le_bytes());
        }
        write_rules(&self.rules, out);
    }

    pub(crate) fn read(r: &mut ByteReader<'_>) -> Result<Hello, DecodeError> {
        let version = r.u8("version")?;
        if version != PROTOCOL_VERSION {
            return Err(DecodeError::Unknown { what: "version", value: version.into() });
        }
        let (incarnation, is_spectator) = (r.u32("incarnation")?, r.bool("spectator")?);
        let build = Build { game: r.u64("game")?, state: r.u64("state")?, settings: r.u64("settings")? };
        Ok(Hello { incarnation, is_spectator, build, rules: read_rules(r)? })
    }
}

/// Appends the rules, each as a varint.
pub(crate) fn write_rules(rules: &SealConfig, out: &mut Vec<u8>) {
    let numbers = [
        rules.slot_count as u64,
        rules.value_bytes as u64,
        rules.tick_rate.into(),
        rules.accept_frames.into(),
        rules.window_frames.into(),
        rules.input_delay_max.into(),
        rules.early_frames.into(),
        rules.out_after_frames.into(),
        rules.history_frames.into(),
        rules.gating_run_max.into(),
        rules.check_frames.into(),
        rules.send_interval.get(),
        rules.silence_timeout.get(),
    ];
    numbers.iter().for_each(|number| out.extend_from_slice(&Varint::new(*number)));
}

/// Reads what [`write_rules`] wrote. The numbers are not checked against their ranges yet.
fn read_rules(r: &mut ByteReader<'_>) -> Result<SealConfig, DecodeError> {
    const MAX: u64 = u32::MAX as u64;
    let mut next = |what| r.varint_max(what, MAX);
    Ok(SealConfig {
        slot_count: next("slots")? as usize,
        value_bytes: next("bytes of a value")? as usize,
        tick_rate: next("tick rate")? as u32,
        accept_frames: next("accept frames")? as u32,
        window_frames: next("window frames")? as u32,
        input_delay_max: next("input delay")? as u32,
        early_frames: next("early frames")? as u32,
        out_after_frames: next("out after frames")? as u32,
        history_frames: next("history frames")? as u32,
        gating_run_max: next("gating run")?.min(u64::from(u16::MAX)) as u16,
        check_frames: next("check frames")? as u32,
        send_interval: gaggle_kit::Micros::new(next("send interval")?),
        silence_timeout: gaggle_kit::Micros::new(next("silence timeout")?),
        ..SealConfig::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> Hello {
        let build = Build { game: 1, state: 2, settings: 3 };
        Hello { incarnation: 77, is_spectator: true, build, rules: SealConfig::default() }
    }

    #[test]
    fn hello_round_trips_and_rejects_other_version() {
        let mut bytes = Vec::new();
        hello().write(&mut bytes);
        assert_eq!(Hello::read(&mut ByteReader::new(&bytes)), Ok(hello()));
        for cut in 0..bytes.len() {
            assert!(Hello::read(&mut ByteReader::new(&bytes[..cut])).is_err());
        }
        bytes[0] = 2;
        let error = Hello::read(&mut ByteReader::new(&bytes)).unwrap_err();
        assert_eq!(error, DecodeError::Unknown { what: "version", value: 2 });
    }

    #[test]
    fn fingerprint_differs_with_every_rule_of_both_ends() {
        let rules = SealConfig::default();
        let build = hello().build;
        let others = [
            SealConfig { slot_count: 9, ..rules.clone() },
            SealConfig { accept_frames: 7, ..rules.clone() },
            SealConfig { check_frames: 61, ..rules.clone() },
            SealConfig { send_interval: gaggle_kit::Micros::from_millis(50), ..rules.clone() },
        ];
        for other in others {
            assert_ne!(build.fingerprint(&other), build.fingerprint(&rules));
        }
        let own = SealConfig { clients_max: 3, full_bytes: 1, ..rules.clone() };
        assert_eq!(build.fingerprint(&own), build.fingerprint(&rules), "settings of the referee alone");
        assert_ne!(Build { state: 9, ..build }.fingerprint(&rules), build.fingerprint(&rules));
    }
}
