//! Instructions: the same on a busy machine as on a quiet one.

use std::process::Command;

/// A run of this program under valgrind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedRun {
    /// Instructions it took.
    pub instructions: u64,
    /// What it printed.
    pub printed: String,
}

impl CountedRun {
    /// Starts this very program again with these arguments and counts its instructions; only those
    /// within functions whose name fits `within`, if that is given, and all that these call. None
    /// where there is no valgrind.
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
    fn the_count_is_found_in_what_valgrind_says() {
        let said =
            "==7== Events    : Ir\n==7== Collected : 1234567\n==7== \n==7== I   refs:      1,234,567\n";
        assert_eq!(collected(said), Some(1_234_567));
        assert_eq!(collected("valgrind: no such tool"), None);
    }
}
