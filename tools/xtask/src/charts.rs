//! `cargo xtask charts`: results of benches as tables and pictures.
//!
//! Each file in `bench/results` becomes a table of `docs/benchmarks.md` and a picture in
//! `docs/pictures`; a test compares all three. `main` calls it. Absent: measuring.

#![allow(clippy::float_arithmetic, reason = "a picture is not simulated")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use crate::workspace;

/// Files of results, in the order of the document.
const RESULTS: [&str; 6] = ["timeline", "replica", "server", "links", "attack", "page"];
/// Width in pixels: text on the left, bars on the right.
const WIDTH: f64 = 860.0;
const BARS: f64 = 400.0;
const ROW: f64 = 20.0;
/// Doublings on the scale to each side of "equal".
const WORST: f64 = -3.5;
const BEST: f64 = 7.5;

/// One line of a file of results.
struct Row<'a> {
    scenario: &'a str,
    ours: &'a str,
    theirs: &'a str,
    /// Library it is compared with, or `target`.
    beside: &'a str,
    unit: &'a str,
    is_higher_better: bool,
    /// Arguments of `cargo xtask bench`.
    command: &'a str,
}

impl Row<'_> {
    /// Factor by which Gaggle is better; below 1 it is worse. None if one figure is 0.
    fn advantage(&self) -> Option<f64> {
        let (ours, theirs) = (self.ours.parse::<f64>().ok()?, self.theirs.parse::<f64>().ok()?);
        let ratio = if self.is_higher_better { ours / theirs } else { theirs / ours };
        (ratio.is_finite() && ratio > 0.0).then_some(ratio)
    }

    /// Gaggle's figure as a share or a multiple of the other.
    fn ratio(&self) -> String {
        let (Ok(ours), Ok(theirs)) = (self.ours.parse::<f64>(), self.theirs.parse::<f64>()) else {
            return String::new();
        };
        match ours / theirs {
            ratio if ratio <= 0.0 => "0".to_string(),
            ratio if ratio < 0.95 => format!("1/{:.1}", 1.0 / ratio),
            ratio => format!("{ratio:.1}"),
        }
    }
}

/// Writes all pictures and prints all tables.
pub(crate) fn command() -> ExitCode {
    let root = workspace::root();
    for name in RESULTS {
        let Some(text) = read(&root, name) else { return crate::refuse(&format!("no results of {name}")) };
        let rows = rows(&text);
        let path = root.join(picture_path(name));
        if let Err(error) = std::fs::write(&path, picture(&rows)) {
            return crate::refuse(&format!("{}: {error}", path.display()));
        }
        println!("{}", table(&rows));
    }
    ExitCode::SUCCESS
}

fn read(root: &Path, name: &str) -> Option<String> {
    std::fs::read_to_string(root.join(format!("bench/results/{name}.csv"))).ok()
}

fn picture_path(name: &str) -> String {
    format!("docs/pictures/bench_{name}.svg")
}

fn rows(text: &str) -> Vec<Row<'_>> {
    let row = |line| {
        let mut cells = str::split(line, ',');
        let mut next = || cells.next().unwrap_or_default();
        Row {
            scenario: next(),
            ours: next(),
            theirs: next(),
            beside: next(),
            unit: next(),
            is_higher_better: next() == "higher",
            command: next(),
        }
    };
    text.lines().skip(1).map(row).collect()
}

/// Table of a file of results, as in the document.
fn table(rows: &[Row<'_>]) -> String {
    let mut out = "| Scenario | Gaggle | Other | Ratio | Command |\n|---|---|---|---|---|\n".to_string();
    for row in rows {
        let unit = if matches!(row.unit, "" | "relative") { String::new() } else { format!(" {}", row.unit) };
        let command = if row.command.is_empty() { String::new() } else { format!("`{}`", row.command) };
        _ = writeln!(
            out,
            "| {} | {}{unit} | {}, {} | {} | {command} |",
            row.scenario,
            row.ours,
            row.theirs,
            row.beside,
            row.ratio()
        );
    }
    out
}

/// Bars on a scale of doublings: right of the middle is better than the other.
fn picture(rows: &[Row<'_>]) -> String {
    let x_of = |doublings: f64| {
        BARS + (doublings.clamp(WORST, BEST) - WORST) / (BEST - WORST) * (WIDTH - BARS - 50.0)
    };
    let height = ROW * (rows.len() as f64 + 2.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#101820\"/>\n"
    );
    for (doublings, label) in [(-2.0, "1/4"), (0.0, "equal"), (2.0, "4× better"), (4.0, "16×"), (6.0, "64×")]
    {
        let x = x_of(doublings);
        _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"14\" fill=\"#8fa3ad\" text-anchor=\"middle\">{label}</text>\
             <path d=\"M{x:.1} 20V{height:.0}\" stroke=\"#33424c\"/>"
        );
    }
    let equal = x_of(0.0);
    for (nth, row) in rows.iter().enumerate() {
        let y = ROW * (nth as f64 + 1.5);
        let name = format!("{} (beside {})", row.scenario, row.beside);
        _ = writeln!(svg, "<text x=\"8\" y=\"{:.0}\" fill=\"#eef1e6\">{name}</text>", y + 9.0);
        // Zero is better than any number.
        let advantage = row.advantage().map_or(BEST, f64::log2);
        let (from, to) = (equal.min(x_of(advantage)), equal.max(x_of(advantage)));
        let color = if advantage < 0.0 { "#d9734e" } else { "#7fb069" };
        let label = if row.advantage().is_some() { row.ratio() } else { "0".to_string() };
        _ = writeln!(
            svg,
            "<rect x=\"{from:.1}\" y=\"{:.0}\" width=\"{:.1}\" height=\"12\" fill=\"{color}\"/>\
             <text x=\"{:.1}\" y=\"{:.0}\" fill=\"#eef1e6\">{label}</text>",
            y - 1.0,
            (to - from).max(1.0),
            to + 5.0,
            y + 9.0
        );
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "scenario,ours,theirs,beside,unit,better,command\n\
                        a frame,2,10,other,ms,lower,timeline\n\
                        forwards,40,80,other,,higher,links\n\
                        allocations,0,7,other,,lower,timeline\n";

    #[test]
    fn table_has_ratio_of_each_row() {
        let table = table(&rows(TEXT));
        assert!(table.contains("| a frame | 2 ms | 10, other | 1/5.0 | `timeline` |"), "{table}");
        assert!(table.contains("| forwards | 40 | 80, other | 1/2.0 | `links` |"), "{table}");
        assert!(table.contains("| allocations | 0 | 7, other | 0 | `timeline` |"), "{table}");
    }

    #[test]
    fn picture_colors_worse_rows() {
        let picture = picture(&rows(TEXT));
        assert_eq!((picture.matches("#7fb069").count(), picture.matches("#d9734e").count()), (2, 1));
    }

    #[test]
    fn document_and_pictures_match_results() {
        let root = workspace::root();
        let document = std::fs::read_to_string(root.join("docs/benchmarks.md")).unwrap_or_default();
        for name in RESULTS {
            let text = read(&root, name).unwrap_or_default();
            let rows = rows(&text);
            assert!(rows.len() > 4, "bench/results/{name}.csv");
            let table = table(&rows);
            assert!(document.contains(&table), "docs/benchmarks.md should have this table:\n{table}");
            let shown = std::fs::read_to_string(root.join(picture_path(name))).unwrap_or_default();
            assert!(shown == picture(&rows), "run `cargo xtask charts`: {} is old", picture_path(name));
        }
    }
}
