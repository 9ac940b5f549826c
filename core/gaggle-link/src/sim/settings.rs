//! Network conditions from text: the parameters of a page, a command line or a file.

use gaggle_kit::Micros;
use thiserror::Error;

use super::{Burst, Chance, Conditions};

/// Ten seconds: more than anybody wants to try out.
const MILLIS_MAX: u64 = 10_000;

/// Datagrams per burst of loss asked for in text.
const BURST_PACKETS: u32 = 8;

/// A setting makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{key}={value} is not possible: {expected}")]
pub struct SettingError {
    /// Which setting.
    pub key: String,
    /// What it was set to.
    pub value: String,
    /// What it may be set to.
    pub expected: &'static str,
}

impl Conditions {
    /// What a peer does to the datagrams it sends, from settings by name; other names are left to
    /// others.
    ///
    /// - `latency`: milliseconds of round trip, if all peers have this setting: each delays what it
    ///   sends by half.
    /// - `jitter`: milliseconds on top at most.
    /// - `loss`: per cent of datagrams lost one by one, up to three decimals.
    /// - `burst`: per cent of datagrams lost in bursts of about eight.
    ///
    /// # Errors
    /// If a value is no number or out of range.
    pub fn from_settings<'a>(
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Conditions, SettingError> {
        let mut conditions = Conditions::PERFECT;
        for (key, value) in settings {
            match key {
                "latency" => conditions.latency = Micros::new(millis(key, value)? * 500),
                "jitter" => conditions.jitter = Micros::from_millis(millis(key, value)?),
                "loss" => conditions.loss = percent(key, value)?,
                "burst" => {
                    let share = percent(key, value)?;
                    conditions.burst = (share > Chance::NEVER).then(|| Burst::of(share, BURST_PACKETS));
                }
                _ => {}
            }
        }
        Ok(conditions)
    }
}

fn millis(key: &str, value: &str) -> Result<u64, SettingError> {
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let millis = value.parse().ok().filter(|millis| digits && *millis <= MILLIS_MAX);
    millis.ok_or_else(|| error(key, value, "whole milliseconds, 0 to 10000"))
}

fn percent(key: &str, value: &str) -> Result<Chance, SettingError> {
    let refused = || error(key, value, "per cent, 0 to 100, with up to three decimals");
    let (whole, decimals) = value.split_once('.').unwrap_or((value, ""));
    let digits = |text: &str| text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(decimals) || value.ends_with('.') {
        return Err(refused());
    }
    // 12.5 becomes "12" and "500", thousandths of a per cent.
    let thousandths: u32 = format!("{whole}{decimals:0<3}").parse().map_err(|_| refused())?;
    if thousandths > 100_000 { Err(refused()) } else { Ok(Chance::per_million(thousandths * 10)) }
}

fn error(key: &str, value: &str, expected: &'static str) -> SettingError {
    // What is shown again to whoever typed it need not be shown whole.
    let value = value.chars().take(40).collect();
    SettingError { key: key.to_string(), value, expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_say_what_they_mean() {
        let settings =
            [("latency", "120"), ("jitter", "20"), ("loss", "2.5"), ("burst", "10"), ("room", "XYZ")];
        let conditions = Conditions::from_settings(settings).unwrap();
        assert_eq!(conditions.latency, Micros::from_millis(60));
        assert_eq!(conditions.jitter, Micros::from_millis(20));
        assert_eq!(conditions.loss, Chance::per_mille(25));
        assert_eq!(conditions.burst, Some(Burst::of(Chance::percent(10), 8)));
        assert_eq!(Conditions::from_settings([("latency", "0"), ("burst", "0")]), Ok(Conditions::PERFECT));
    }

    #[test]
    fn absurd_settings_are_refused_by_name() {
        let long = "9".repeat(5_000);
        for (key, value) in [
            ("latency", ""),
            ("latency", "-5"),
            ("latency", "+5"),
            ("latency", "1e3"),
            ("latency", "10001"),
            ("jitter", "NaN"),
            ("loss", "101"),
            ("loss", "100.001"),
            ("loss", "5."),
            ("loss", ".5"),
            ("loss", "0.0001"),
            ("burst", "١"),
            ("loss", &long),
        ] {
            let error = Conditions::from_settings([(key, value)]).unwrap_err();
            assert_eq!(error.key, key);
            assert!(error.to_string().len() < 200);
        }
        assert_eq!(
            Conditions::from_settings([("loss", "250")]).unwrap_err().to_string(),
            "loss=250 is not possible: per cent, 0 to 100, with up to three decimals"
        );
    }
}
