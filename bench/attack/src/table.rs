//! Results as Markdown for the security documents.
//!
//! `main` fills and prints it. Absent: how figures are measured.

use crate::endured::Endured;

/// Result of an attack that is judged by its outcome.
pub(crate) struct Outcome {
    pub(crate) title: String,
    pub(crate) unit: &'static str,
    pub(crate) value: f64,
    pub(crate) bound: f64,
    pub(crate) met: bool,
}

/// A figure beside another server's.
pub(crate) struct Beside {
    pub(crate) title: String,
    pub(crate) unit: &'static str,
    pub(crate) gaggle: f64,
    pub(crate) library: &'static str,
    pub(crate) other: f64,
}

/// All results of a run.
#[derive(Default)]
pub(crate) struct Table {
    /// Undisturbed figures, plain and with TLS.
    pub(crate) quiet: Vec<Endured>,
    pub(crate) endured: Vec<(Endured, bool)>,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) beside: Vec<Beside>,
}

impl Table {
    pub(crate) fn markdown(&self) -> String {
        let mut out = String::from(
            "| Attack | find | signal | relay | page | connect | lost | memory | the limit that holds it off | |\n\
             |---|---|---|---|---|---|---|---|---|---|\n",
        );
        let quiet = self.quiet.iter().map(|endured| (endured, None));
        let attacks = self.endured.iter().map(|(endured, holds)| (endured, Some(*holds)));
        for (endured, holds) in quiet.chain(attacks) {
            let kinds = ["find", "signal", "relay", "page", "connect"];
            let cells =
                kinds.map(|kind| format!("{} / {}", ms(endured.percentile(kind, 50)), ms(endured.p99(kind))));
            out += &format!(
                "| {} | {} | {} | {:.1} MB | {} | {} |\n",
                endured.title,
                cells.join(" | "),
                endured.noticed.lost(),
                endured.memory_mb,
                endured.limit,
                holds.map_or("", verdict),
            );
        }
        out += "\nLatencies are p50 / p99 in ms.\n\n| Attack | Outcome | At most | |\n|---|---|---|---|\n";
        for Outcome { title, unit, value, bound, met } in &self.outcomes {
            out += &format!(
                "| {title} | {} | {} | {} |\n",
                figure(*value, unit),
                figure(*bound, unit),
                verdict(*met)
            );
        }
        out += "\n| Beside others | Gaggle | Other | Ratio |\n|---|---|---|---|\n";
        for Beside { title, unit, gaggle, library, other } in &self.beside {
            let ratio = if *other > 0.0 { format!("{:.2}", gaggle / other) } else { "–".into() };
            out += &format!(
                "| {title} | {} | {}, {library} | {ratio} |\n",
                figure(*gaggle, unit),
                figure(*other, unit)
            );
        }
        out
    }
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "**missed**" }
}

fn figure(value: f64, unit: &str) -> String {
    let digits = if value.fract() == 0.0 || value >= 100.0 { 0 } else { 2 };
    format!("{value:.digits$} {unit}").trim_end().to_string()
}

fn ms(value: f64) -> String {
    match value {
        value if !value.is_finite() => "–".into(),
        value if value < 10.0 => format!("{value:.2}"),
        value => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_as_many_cells_as_its_head() {
        let outcome = Outcome { title: "a".into(), unit: "ms", value: 2_100.0, bound: 2_000.0, met: false };
        let beside = Beside { title: "b".into(), unit: "µs", gaggle: 3.0, library: "nginx", other: 2.0 };
        let quiet = Endured { title: "undisturbed".into(), ..Endured::default() };
        let table =
            Table { quiet: vec![quiet], outcomes: vec![outcome], beside: vec![beside], ..Table::default() };
        let markdown = table.markdown();
        for block in markdown.split("\n\n").filter(|block| block.starts_with('|')) {
            let cells: Vec<usize> = block.lines().map(|line| line.matches('|').count()).collect();
            assert!(cells.iter().all(|count| *count == cells[0]), "{block}");
        }
        assert!(markdown.contains("| a | 2100 ms | 2000 ms | **missed** |"), "{markdown}");
        assert!(markdown.contains("| b | 3 µs | 2 µs, nginx | 1.50 |"), "{markdown}");
    }
}
