//! Instruction counts by valgrind, which do not depend on other load.
//!
//! Benches call it. Absent: time.

use std::process::Command;

/// Result of a run of this program under valgrind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedRun {
    /// Instructions the run executed.
    pub instructions: u64,
    /// Standard output of the run.
    pub printed: String,
}

impl CountedRun {
    /// Runs this program with these arguments and counts instructions: with `within`, only those in
    /// functions whose name matches it, callees included. `None` without valgrind.
    pub fn of(within: Option<&str>, arguments: &[String]) -> Option<CountedRun> {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .args(within.map(|pattern| format!("--toggle-collect={pattern}")))
            .arg(std::env::current_exe().ok()?)
            .args(arguments)
            .output()
            .ok()?;
        if !output.status.success() {
            return None;
        }
        let instructions = collected(&String::from_utf8_lossy(&output.stderr))?;
        Some(CountedRun { instructions, printed: String::from_utf8_lossy(&output.stdout).into_owned() })
    }
}

fn collected(said: &str) -> Option<u64> {
    let (_, collected) = said.split_once("Collected : ")?;
    collected.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instruction_count_is_read_from_output_of_valgrind() {
        let said =
            "==7== Events    : Ir\n==7== Collected : 1234567\n==7== \n==7== I   refs:      1,234,567\n";
        assert_eq!(collected(said), Some(1_234_567));
        assert_eq!(collected("valgrind: no such tool"), None);
    }
}
