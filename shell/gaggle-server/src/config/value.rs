//! Text forms of setting values.
//!
//! The table in `config.rs` uses them. Absent: settings, validation across them.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use gaggle_kit::Micros;
use gaggle_lobby::view::Verdict;

use super::{Config, LogFormat};
use crate::client_address::Prefix;

/// One row of the settings table.
pub(super) struct Setting {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) set: fn(&mut Config, &str) -> Result<(), String>,
    pub(super) show: fn(&Config) -> String,
    /// As a flag without a value it is `true`.
    pub(super) is_flag: bool,
}

/// A type that a setting can have.
pub(super) trait SettingValue: Sized {
    const IS_FLAG: bool = false;

    /// Parses a text; the error describes valid values.
    fn parse(text: &str) -> Result<Self, String>;

    /// Text of a default; empty for none.
    fn show(&self) -> String;
}

/// A duration such as `250ms`, `10s`, `5m` or `2h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duration(pub Micros);

/// Several values, separated by commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T>(pub Vec<T>);

/// A text that is not shown in logs.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// A TOML value as it would be written in a flag.
pub(super) fn flatten(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(items) => items.iter().map(flatten).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

impl SettingValue for Duration {
    fn parse(text: &str) -> Result<Duration, String> {
        let expected = || "a time, as 250ms, 10s, 5m or 2h".to_string();
        let at = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(expected)?;
        let number: u64 = text[..at].parse().map_err(|_| expected())?;
        let unit_micros: u64 = match &text[at..] {
            "ms" => 1_000,
            "s" => 1_000_000,
            "m" => 60_000_000,
            "h" => 3_600_000_000,
            _ => return Err(expected()),
        };
        number.checked_mul(unit_micros).map(|micros| Duration(Micros::new(micros))).ok_or_else(expected)
    }

    fn show(&self) -> String {
        let millis = self.0.as_millis();
        match millis {
            _ if !millis.is_multiple_of(1_000) => format!("{millis}ms"),
            _ if !millis.is_multiple_of(60_000) => format!("{}s", millis / 1_000),
            _ if !millis.is_multiple_of(3_600_000) => format!("{}m", millis / 60_000),
            _ => format!("{}h", millis / 3_600_000),
        }
    }
}

impl<T: SettingValue> SettingValue for List<T> {
    fn parse(text: &str) -> Result<List<T>, String> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(T::parse).collect::<Result<_, _>>().map(List)
    }

    fn show(&self) -> String {
        self.0.iter().map(T::show).collect::<Vec<_>>().join(",")
    }
}

impl<T: SettingValue> SettingValue for Option<T> {
    fn parse(text: &str) -> Result<Option<T>, String> {
        if text.is_empty() { Ok(None) } else { T::parse(text).map(Some) }
    }

    fn show(&self) -> String {
        self.as_ref().map_or(String::new(), T::show)
    }
}

impl SettingValue for Secret {
    fn parse(text: &str) -> Result<Secret, String> {
        Ok(Secret(text.into()))
    }

    fn show(&self) -> String {
        String::new()
    }
}

impl SettingValue for bool {
    const IS_FLAG: bool = true;

    fn parse(text: &str) -> Result<bool, String> {
        text.parse().map_err(|_| "true or false".into())
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl SettingValue for usize {
    fn parse(text: &str) -> Result<usize, String> {
        text.parse().map_err(|_| "a whole number".into())
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl SettingValue for String {
    fn parse(text: &str) -> Result<String, String> {
        Ok(text.into())
    }

    fn show(&self) -> String {
        self.clone()
    }
}

impl SettingValue for PathBuf {
    fn parse(text: &str) -> Result<PathBuf, String> {
        Ok(text.into())
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

impl SettingValue for SocketAddr {
    fn parse(text: &str) -> Result<SocketAddr, String> {
        text.parse().map_err(|_| "an address and port, as 127.0.0.1:8080".into())
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl SettingValue for Prefix {
    fn parse(text: &str) -> Result<Prefix, String> {
        text.parse().map_err(|error: crate::client_address::ParsePrefixError| error.to_string())
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl SettingValue for Verdict {
    fn parse(text: &str) -> Result<Verdict, String> {
        match text {
            "claimed" => Ok(Verdict::Claimed),
            "agreed" => Ok(Verdict::Agreed),
            "refereed" => Ok(Verdict::Refereed),
            _ => Err("claimed, agreed or refereed".into()),
        }
    }

    fn show(&self) -> String {
        self.as_str().into()
    }
}

impl SettingValue for LogFormat {
    fn parse(text: &str) -> Result<LogFormat, String> {
        match text {
            "text" => Ok(LogFormat::Text),
            "json" => Ok(LogFormat::Json),
            _ => Err("text or json".into()),
        }
    }

    fn show(&self) -> String {
        match self {
            LogFormat::Text => "text".into(),
            LogFormat::Json => "json".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_back_as_shown() {
        for text in ["250ms", "10s", "5m", "2h", "90s"] {
            assert_eq!(Duration::parse(text).unwrap().show(), text);
        }
        for bad in ["", "10", "s", "1.5s", "-1s", "10 s", "99999999999999999999s", "18446744073709551615h"] {
            assert!(Duration::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let secret = Secret("hunter2".into());
        assert_eq!(format!("{secret:?}{}", secret.show()), "(secret)");
    }
}
