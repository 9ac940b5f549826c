//! Network conditions from text, such as page parameters or a command line.
//!
//! Used by programs that let users impair the network. Absent: how settings are stored.

use gaggle_kit::Micros;
use thiserror::Error;

use super::{Burst, Chance, Conditions};

/// Largest delay setting: ten seconds.
const MILLIS_MAX: u64 = 10_000;

/// Mean burst length of the text setting, in datagrams.
const BURST_PACKETS: u32 = 8;

/// An invalid setting.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{key}={value} is invalid; give {expected}")]
pub struct SettingError {
    /// Name of the setting.
    pub key: String,
    /// Value that was given.
    pub value: String,
    /// Valid values of the setting.
    pub expected: &'static str,
}

impl Conditions {
    /// Conditions for the datagrams a peer sends; other names are ignored.
    ///
    /// - `latency`: round trip in milliseconds if all peers use it: each delays what it sends by
    ///   half.
    /// - `jitter`: largest additional delay in milliseconds.
    /// - `loss`: percentage of independent losses, up to three decimals.
    /// - `burst`: percentage lost in bursts of about eight.
    ///
    /// # Errors
    /// If a value is not a number or out of range.
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
    let refused = || error(key, value, "percent, 0 to 100, with up to three decimals");
    let (whole, decimals) = value.split_once('.').unwrap_or((value, ""));
    let digits = |text: &str| text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(decimals) || value.ends_with('.') {
        return Err(refused());
    }
    // 12.5 becomes "12" and "500", thousandths of a percent.
    let thousandths: u32 = format!("{whole}{decimals:0<3}").parse().map_err(|_| refused())?;
    if thousandths > 100_000 { Err(refused()) } else { Ok(Chance::per_million(thousandths * 10)) }
}

fn error(key: &str, value: &str, expected: &'static str) -> SettingError {
    // Long values are cut off in the error.
    let value = value.chars().take(40).collect();
    SettingError { key: key.to_string(), value, expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_settings_give_conditions() {
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
    fn invalid_settings_are_rejected_by_name() {
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
            "loss=250 is invalid; give percent, 0 to 100, with up to three decimals"
        );
    }
}
