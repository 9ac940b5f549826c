//! The report of a bench: rows with targets, printed as a table or as JSON lines.
//!
//! All benches write one. Absent: how figures are measured.

use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};

/// One figure, with another library's and a target.
#[derive(Clone, Debug, Default)]
pub struct Row {
    metric: String,
    unit: &'static str,
    gaggle: Option<f64>,
    other: Option<f64>,
    library: &'static str,
    target: Option<Target>,
}

#[derive(Clone, Copy, Debug)]
enum Target {
    Ratio(f64),
    Value(f64),
    AtLeast(f64),
}

impl Row {
    /// A row without figures for a metric and its unit.
    pub fn new(metric: impl Into<String>, unit: &'static str) -> Row {
        Row { metric: metric.into(), unit, ..Row::default() }
    }

    /// Sets Gaggle's figure.
    #[must_use]
    pub fn gaggle(self, value: f64) -> Row {
        Row { gaggle: Some(value), ..self }
    }

    /// Sets another library's figure.
    #[must_use]
    pub fn other(self, library: &'static str, value: f64) -> Row {
        Row { library, other: Some(value), ..self }
    }

    /// Target: Gaggle's figure is at most this share of the other's.
    #[must_use]
    pub fn ratio_at_most(self, ratio: f64) -> Row {
        Row { target: Some(Target::Ratio(ratio)), ..self }
    }

    /// Target: Gaggle's figure is at most this.
    #[must_use]
    pub fn at_most(self, value: f64) -> Row {
        Row { target: Some(Target::Value(value)), ..self }
    }

    /// Target: Gaggle's figure is at least this.
    #[must_use]
    pub fn at_least(self, value: f64) -> Row {
        Row { target: Some(Target::AtLeast(value)), ..self }
    }

    /// Gaggle's share of the other's figure; none with a target for the figure itself, so that the
    /// JSON shows what the target is about.
    fn ratio(&self) -> Option<f64> {
        match (self.target, self.gaggle, self.other) {
            (Some(Target::Value(_) | Target::AtLeast(_)), ..) => None,
            (_, Some(gaggle), Some(other)) if other != 0.0 => Some(gaggle / other),
            _ => None,
        }
    }

    /// Whether the target is met; none without a target or a figure.
    pub fn met(&self) -> Option<bool> {
        match self.target? {
            // As a product, so that two zeros are equal instead of undefined.
            Target::Ratio(ratio) => Some(self.gaggle? <= ratio * self.other?),
            Target::Value(value) => Some(self.gaggle? <= value),
            Target::AtLeast(value) => Some(self.gaggle? >= value),
        }
    }

    fn json(&self) -> Value {
        let target = self.target.map(|target| match target {
            Target::Ratio(number) | Target::Value(number) | Target::AtLeast(number) => number,
        });
        json!({
            "metric": self.metric,
            "unit": self.unit,
            "gaggle": self.gaggle,
            "other": self.other,
            "library": if self.library.is_empty() { Value::Null } else { self.library.into() },
            "ratio": self.ratio(),
            "target": target,
            "met": self.met(),
        })
    }

    fn line(&self) -> String {
        let figure = |value: Option<f64>| value.map_or_else(String::new, figure);
        let part = |ratio: f64| {
            if ratio > 0.0 && ratio < 1.0 { format!("1/{:.1}", 1.0 / ratio) } else { format!("{ratio:.2}") }
        };
        let target = match self.target {
            None => String::new(),
            Some(Target::Ratio(ratio)) => format!("≤ {}", part(ratio)),
            Some(Target::Value(value)) => format!("≤ {}", figure(Some(value))),
            Some(Target::AtLeast(value)) => format!("≥ {}", figure(Some(value))),
        };
        let verdict = match self.met() {
            None => "",
            Some(true) => "met",
            Some(false) => "MISSED",
        };
        format!(
            "{:<66} {:>9} {:>10} {:>10} {:<16} {:>7} {:>8}  {verdict}",
            self.metric,
            self.unit,
            figure(self.gaggle),
            figure(self.other),
            self.library,
            self.ratio().map_or_else(String::new, part),
            target,
        )
    }
}

/// Three significant digits, which is the precision of a shared machine; counts stay whole.
fn figure(value: f64) -> String {
    let digits = match value.abs() {
        v if v == 0.0 || v >= 1000.0 || v.fract() == 0.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 1.0 => 2,
        _ => 4,
    };
    format!("{value:.digits$}")
}

/// A closed pipe is the reader's choice, not a failure of the bench.
fn print_line(line: &str) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Prints rows as they come and counts missed targets.
#[derive(Debug)]
pub struct Report {
    json: bool,
    silent: bool,
    judged: usize,
    missed: Vec<String>,
}

impl Report {
    /// A report by the command line: with `--json`, one object per line.
    pub fn from_args() -> Report {
        Report::new(std::env::args().any(|argument| argument == "--json"))
    }

    /// A report as JSON or as a table.
    pub fn new(json: bool) -> Report {
        Report { json, silent: false, judged: 0, missed: Vec::new() }
    }

    /// A report that judges and prints nothing, for benches with a table of their own.
    pub fn silent() -> Report {
        Report { silent: true, ..Report::new(false) }
    }

    /// Prints a heading; omitted from JSON.
    pub fn section(&mut self, title: &str) {
        if !self.json && !self.silent {
            print_line(&format!(
                "\n{title:<66} {:>9} {:>10} {:>10} {:<16} {:>7} {:>8}",
                "unit", "gaggle", "other", "library", "ratio", "target"
            ));
        }
    }

    /// Prints a remark; omitted from JSON.
    pub fn note(&mut self, text: &str) {
        if !self.json && !self.silent {
            print_line(&format!("  {text}"));
        }
    }

    /// Prints a row at once, so that a long run shows its progress.
    pub fn row(&mut self, row: Row) {
        if let Some(met) = row.met() {
            self.judged += 1;
            if !met {
                self.missed.push(row.metric.clone());
            }
        }
        if self.silent {
            return;
        }
        if self.json {
            print_line(&row.json().to_string());
        } else {
            print_line(&row.line());
        }
    }

    /// Prints the summary. Returns failure if a target was missed.
    pub fn finish(self) -> ExitCode {
        if !self.json && !self.silent {
            print_line(&format!("\n{} targets, {} missed", self.judged, self.missed.len()));
        }
        for metric in &self.missed {
            eprintln!("missed: {metric}");
        }
        if self.missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_row_has_documented_fields_only() {
        let row = Row::new("bytes", "B/s").gaggle(5.0).other("ggrs", 50.0).ratio_at_most(0.125);
        assert_eq!(
            row.json(),
            json!({
                "metric": "bytes", "unit": "B/s", "gaggle": 5.0, "other": 50.0, "library": "ggrs",
                "ratio": 0.1, "target": 0.125, "met": true,
            })
        );
    }

    #[test]
    fn value_target_judges_figure_and_omits_ratio() {
        let row = Row::new("stalled", "frames").gaggle(27.0).other("ggrs", 37.0).at_most(26.0);
        assert_eq!(row.met(), Some(false));
        assert_eq!(row.json()["ratio"], Value::Null);
        assert_eq!(row.json()["target"], 26.0);
    }

    #[test]
    fn at_least_target_accepts_larger_figure() {
        let row = Row::new("packets", "1/s").gaggle(2.0).at_least(1.0);
        assert_eq!((row.met(), row.json()["target"].as_f64()), (Some(true), Some(1.0)));
        assert_eq!(row.at_least(3.0).met(), Some(false));
    }

    #[test]
    fn ratio_target_of_two_zeros_is_met() {
        let row = Row::new("stalled", "%").gaggle(0.0).other("ggrs", 0.0).ratio_at_most(1.0);
        assert_eq!(row.met(), Some(true));
        assert_eq!(Row::new("plain", "x").gaggle(1.0).met(), None);
    }

    #[test]
    fn missed_target_fails_run() {
        let mut report = Report::new(true);
        report.row(Row::new("a", "x").gaggle(2.0).at_most(1.0));
        assert_eq!(format!("{:?}", report.finish()), format!("{:?}", ExitCode::FAILURE));
    }
}
