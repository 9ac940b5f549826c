//! Chaos matches, each with another seed, played by gaggle-lab in a process of its own.
//!
//! Called by `main.rs`. Absent: the chaos itself (`gaggle-lab`).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bench_report::{Report, Row};

const MATCHES: u64 = 1_000;
const MINUTES_EACH: u64 = 2;
const CORES: usize = 2;
const MINUTES_MOST: f64 = 10.0;

/// Time of all matches, and number that failed.
pub fn rows(report: &mut Report) {
    report.section("Chaos: people come, go and crash on networks that do their worst");
    let failed = match play() {
        Ok(Played { took, failed, said }) => {
            said.lines().for_each(|line| report.note(line));
            let what = format!("{MATCHES} chaos matches of {MINUTES_EACH} min on {CORES} cores");
            let minutes = took.as_secs_f64() / 60.0;
            report.row(Row::new(what, "min").gaggle(minutes).at_most(MINUTES_MOST));
            failed
        }
        Err(why) => {
            report.note(&why);
            MATCHES
        }
    };
    report.row(Row::new("chaos matches that failed", "matches").gaggle(failed as f64).at_most(0.0));
}

struct Played {
    took: Duration,
    failed: u64,
    /// Output of the lab, in which failures are explained.
    said: String,
}

fn play() -> Result<Played, String> {
    let lab = build()?;
    let (seeds, minutes) = (format!("0..{MATCHES}"), MINUTES_EACH.to_string());
    let began = Instant::now();
    let output = Command::new(lab)
        .args(["chaos", "--seeds", &seeds, "--minutes", &minutes, "--threads", &CORES.to_string()])
        .output()
        .map_err(|error| format!("the lab does not run: {error}"))?;
    let took = began.elapsed();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // A run that failed without a failed match proves nothing about any match.
    let failed = if output.status.success() { 0 } else { failures(&said).unwrap_or(MATCHES) };
    Ok(Played { took, failed, said })
}

/// Number of failed matches in the lab's output.
fn failures(said: &str) -> Option<u64> {
    let (before, _) = said.split_once(&format!(" of {MATCHES} matches failed"))?;
    before.split_whitespace().next_back()?.parse().ok()
}

/// Builds the lab as `cargo xtask chaos` does.
fn build() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = ["build", "--quiet", "--release", "--package", "gaggle-lab"];
    let built = Command::new(cargo).args(build).current_dir(&root).status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("gaggle-lab does not build".to_owned());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), Into::into);
    Ok(target.join("release/gaggle-lab"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_read_from_output_of_lab() {
        let said = "seed 7: …\nagain: cargo xtask chaos\n\n3 of 1000 matches failed (seeds 7, 9, 12), 40 s\n";
        assert_eq!(failures(said), Some(3));
        assert_eq!(failures("1000 matches; too few joins a minute: 9 where at least 10 are due"), None);
    }
}
