//! The useful part of a failed program's output: diagnostics, failed tests.
//!
//! `Context` and `steps::suite` call it. Absent: how programs run.

use crate::process::without_color;

/// Lines of one screen; the rest is in the log file.
const LINES_MAX: usize = 60;

/// Compiler errors, one paragraph each, without cargo's lines; warnings if there is no error.
pub(crate) fn diagnostics(lines: &[String]) -> Vec<Vec<String>> {
    let all = |first: &str| {
        let paragraphs = lines.split(|line| line.trim().is_empty()).filter_map(|paragraph| {
            let start = paragraph.iter().position(|line| is_diagnostic(&without_color(line), first))?;
            Some(paragraph[start..].iter().filter(|line| !is_status(line)).cloned().collect())
        });
        paragraphs.collect::<Vec<_>>()
    };
    let errors = all("error");
    if errors.is_empty() { all("warning") } else { errors }
}

/// Paragraphs as lines, with an empty line between them.
pub(crate) fn joined(paragraphs: &[Vec<String>]) -> Vec<String> {
    paragraphs.join(&String::new())
}

/// A failed test, or a crashed test program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FailedTest {
    /// `None`: the program crashed, so the test is unknown.
    pub(crate) name: Option<String>,
    /// Cargo's arguments that select its test program: `-p gaggle-kit --lib`.
    pub(crate) selection: String,
    pub(crate) output: Vec<String>,
}

/// Failed tests in the output of `cargo test`, each with its own output.
pub(crate) fn failed_tests(lines: &[String]) -> Vec<FailedTest> {
    let mut failed: Vec<FailedTest> = Vec::new();
    let mut selection = String::new();
    // Lines since the last one of the test program itself.
    let mut recent: Vec<String> = Vec::new();
    let mut in_failure = false;
    for line in lines {
        let plain = without_color(line);
        if let Some(name) = plain.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            failed.push(FailedTest { name: Some(name.into()), selection: String::new(), output: Vec::new() });
            in_failure = true;
        } else if let Some(rerun) = quoted_after(&plain, "to rerun pass `") {
            let unassigned = failed.iter_mut().rev().take_while(|test| test.selection.is_empty());
            unassigned.for_each(|test| test.selection = rerun.clone());
            selection = rerun;
        } else if let Some(end) = crash(&plain) {
            let mut output = std::mem::take(&mut recent);
            output.push(end);
            failed.push(FailedTest { name: None, selection: selection.clone(), output });
        } else if plain == "failures:"
            || ["test ", "test result:", "running "].iter().any(|own| plain.starts_with(own))
        {
            in_failure = false;
            recent.clear();
        } else if in_failure && !plain.starts_with("note: run with `RUST_BACKTRACE=1`") {
            failed.last_mut().expect("inside a failed test").output.push(line.clone());
        } else if plain != "Caused by:" {
            recent.push(line.clone());
        }
    }
    failed.iter_mut().for_each(|test| trim_blank(&mut test.output));
    failed
}

/// Number of passed tests over all test programs.
pub(crate) fn passed_tests(lines: &[String]) -> usize {
    let results = lines.iter().filter_map(|line| line.strip_prefix("test result: "));
    results.map(|result| number_before(result, " passed")).sum()
}

/// The first screen of lines, and how many it left out.
pub(crate) fn first_screen(mut lines: Vec<String>) -> (Vec<String>, usize) {
    let left_out = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    (lines, left_out)
}

/// The end of an output without diagnostics.
pub(crate) fn last_lines(lines: &[String]) -> Vec<String> {
    lines[lines.len().saturating_sub(20)..].to_vec()
}

fn is_diagnostic(line: &str, first: &str) -> bool {
    let summaries =
        ["could not compile", "build failed", "aborting due to", "could not document", "generated "];
    line.starts_with(first) && !summaries.iter().any(|summary| line.contains(summary))
}

/// Whether a line is cargo's progress, which may stand between compiler lines.
fn is_status(line: &str) -> bool {
    let plain = without_color(line);
    let verbs =
        ["Compiling ", "Checking ", "Documenting ", "Finished ", "Running ", "Doc-tests ", "Generated "];
    plain.starts_with("   ") && verbs.iter().any(|verb| plain.trim_start().starts_with(verb))
}

/// Signal that ended a test program, which cargo prints behind the command.
fn crash(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("process didn't exit successfully: `")?;
    rest.split_once("` (").map(|(_, end)| end.trim_end_matches(')').to_string())
}

fn quoted_after(line: &str, start: &str) -> Option<String> {
    let (_, rest) = line.split_once(start)?;
    Some(rest.split('`').next().unwrap_or(rest).to_string())
}

fn number_before(text: &str, word: &str) -> usize {
    let before = text.split(word).next().unwrap_or_default();
    before.rsplit([' ', ';']).next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn trim_blank(lines: &mut Vec<String>) {
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    let start = lines.iter().take_while(|line| line.trim().is_empty()).count();
    lines.drain(..start);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_string).collect()
    }

    const CLIPPY: &str = "\
    Checking gaggle-kit v0.1.0 (/somewhere/core/gaggle-kit)
error: unused variable: `x`
  --> core/gaggle-kit/src/frame.rs:3:9
   |
 3 |     let x = 1;

error: could not compile `gaggle-kit` (lib) due to 1 previous error
warning: build failed, waiting for other jobs to finish...";

    #[test]
    fn diagnostics_are_kept_without_lines_of_cargo() {
        let found = diagnostics(&lines(CLIPPY));
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!((found[0].len(), found[0][0].as_str()), (4, "error: unused variable: `x`"));
        let warned = CLIPPY.replace("error: unused", "warning: unused");
        assert_eq!(diagnostics(&lines(&warned)).len(), 1, "without errors, warnings count");
        let both = format!("{warned}\n\nerror: no such thing");
        assert_eq!(diagnostics(&lines(&both)), [["error: no such thing"]]);
        assert_eq!(joined(&[found[0].clone(), found[0].clone()]).len(), 4 + 1 + 4);
    }

    const TESTS: &str = "\
running 2 tests
test tests::good ... ok
test tests::bad ... FAILED

failures:

---- tests::bad stdout ----

thread 'tests::bad' panicked at core/gaggle-kit/src/frame.rs:9:5:
left is not right
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace


failures:
    tests::bad

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `-p gaggle-kit --lib`
test result: ok. 31 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";

    #[test]
    fn failed_test_has_its_output_and_selection() {
        let failed = failed_tests(&lines(TESTS));
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0].name.as_deref(), Some("tests::bad"));
        assert_eq!(failed[0].selection, "-p gaggle-kit --lib");
        assert_eq!(failed[0].output.len(), 2, "{:#?}", failed[0].output);
        assert_eq!(failed[0].output[1], "left is not right");
    }

    #[test]
    fn crashed_test_program_counts_as_failed() {
        let crashed = "\
running 2 tests
test tests::good ... ok

thread 'tests::deep' has overflowed its stack
fatal runtime error: stack overflow, aborting
error: test failed, to rerun pass `-p gaggle-kit --lib`

Caused by:
  process didn't exit successfully: `target/debug/deps/gaggle_kit-5b21` (signal: 6, SIGABRT: process abort signal)
     Running tests/derive.rs (target/debug/deps/derive-2f2b)";
        let failed = failed_tests(&lines(crashed));
        assert_eq!(failed.len(), 1);
        assert_eq!((failed[0].name.as_deref(), failed[0].selection.as_str()), (None, "-p gaggle-kit --lib"));
        assert_eq!(failed[0].output[0], "thread 'tests::deep' has overflowed its stack");
        assert_eq!(failed[0].output.last().unwrap(), "signal: 6, SIGABRT: process abort signal");
    }

    #[test]
    fn counts_add_up_over_test_programs() {
        assert_eq!(passed_tests(&lines(TESTS)), 32);
    }

    #[test]
    fn long_output_is_cut_and_rest_counted() {
        let (screen, left_out) = first_screen(vec![String::new(); 75]);
        assert_eq!((screen.len(), left_out), (60, 15));
    }
}
