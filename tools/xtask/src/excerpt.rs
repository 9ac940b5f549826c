//! Finds the useful part of what a failed program printed.

use crate::process::without_colour;

/// A screenful; the rest is in the log file.
const LINES_MAX: usize = 60;

/// The compiler's errors and warnings, a paragraph each, without cargo's lines around and between them.
pub(crate) fn diagnostics(lines: &[String]) -> Vec<Vec<String>> {
    let paragraphs = lines.split(|line| line.trim().is_empty());
    let found = paragraphs.filter_map(|paragraph| {
        let start = paragraph.iter().position(|line| is_diagnostic(&without_colour(line)))?;
        Some(paragraph[start..].iter().filter(|line| !is_status(line)).cloned().collect())
    });
    found.collect()
}

/// Paragraphs as lines, with an empty line between them.
pub(crate) fn joined(paragraphs: &[Vec<String>]) -> Vec<String> {
    paragraphs.join(&String::new())
}

/// One test that failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FailedTest {
    pub(crate) name: String,
    /// What cargo wants to hear to run its test program alone: `-p gaggle-kit --lib`.
    pub(crate) selection: String,
    pub(crate) output: Vec<String>,
}

/// The failed tests in the output of `cargo test`, with what each printed.
pub(crate) fn failed_tests(lines: &[String]) -> Vec<FailedTest> {
    let mut failed: Vec<FailedTest> = Vec::new();
    let mut inside = false;
    for line in lines {
        if let Some(name) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            failed.push(FailedTest { name: name.into(), selection: String::new(), output: Vec::new() });
            inside = true;
        } else if line == "failures:" || line.starts_with("test result:") {
            inside = false;
        } else if let Some(selection) = quoted_after(&without_colour(line), "to rerun pass `") {
            let unassigned = failed.iter_mut().rev().take_while(|test| test.selection.is_empty());
            unassigned.for_each(|test| test.selection = selection.clone());
        } else if inside && !line.starts_with("note: run with `RUST_BACKTRACE=1`") {
            failed.last_mut().expect("inside a failed test").output.push(line.clone());
        }
    }
    for test in &mut failed {
        trim_blank(&mut test.output);
    }
    failed
}

/// How many tests passed and failed, over all test programs.
pub(crate) fn test_counts(lines: &[String]) -> (usize, usize) {
    let results = lines.iter().filter_map(|line| line.strip_prefix("test result: "));
    results.fold((0, 0), |(passed, failed), result| {
        (passed + number_before(result, " passed"), failed + number_before(result, " failed"))
    })
}

/// At most a screenful from the beginning, and how many lines that left out.
pub(crate) fn first_screen(mut lines: Vec<String>) -> (Vec<String>, usize) {
    let left_out = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    (lines, left_out)
}

/// The end of an output of which nothing else is known.
pub(crate) fn last_lines(lines: &[String]) -> Vec<String> {
    lines[lines.len().saturating_sub(20)..].to_vec()
}

fn is_diagnostic(line: &str) -> bool {
    let summary =
        ["could not compile", "build failed", "aborting due to", "could not document", "target(s) failed"];
    (line.starts_with("error") || line.starts_with("warning"))
        && !summary.iter().any(|summary| line.contains(summary))
        && !line.contains("generated ")
}

/// Cargo's progress, which may stand between the lines of a compiler.
fn is_status(line: &str) -> bool {
    let plain = without_colour(line);
    let verbs =
        ["Compiling ", "Checking ", "Documenting ", "Finished ", "Running ", "Doc-tests ", "Generated "];
    plain.starts_with("   ") && verbs.iter().any(|verb| plain.trim_start().starts_with(verb))
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
    fn diagnostics_are_kept_and_cargo_is_not() {
        let found = diagnostics(&lines(CLIPPY));
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!((found[0].len(), found[0][0].as_str()), (4, "error: unused variable: `x`"));
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
    fn a_failed_test_comes_with_its_output_and_how_to_run_it() {
        let failed = failed_tests(&lines(TESTS));
        assert_eq!(failed.len(), 1);
        assert_eq!(
            (failed[0].name.as_str(), failed[0].selection.as_str()),
            ("tests::bad", "-p gaggle-kit --lib")
        );
        assert_eq!(failed[0].output.len(), 2, "{:#?}", failed[0].output);
        assert_eq!(failed[0].output[1], "left is not right");
    }

    #[test]
    fn counts_add_up_over_test_programs() {
        assert_eq!(test_counts(&lines(TESTS)), (32, 1));
    }

    #[test]
    fn long_output_is_cut_and_the_rest_counted() {
        let (screen, left_out) = first_screen(vec![String::new(); 75]);
        assert_eq!((screen.len(), left_out), (60, 15));
    }
}
