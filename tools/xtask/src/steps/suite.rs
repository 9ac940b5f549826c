//! Steps `tests` and `release`: all tests of the workspace, doctests included.
//!
//! Tests in `core/` and `games/` never wait, so one failure counts. Others use browsers, sockets
//! and clocks, which a paused machine can fail: a few of those may be tried once more, alone, and
//! are named. Absent: what tests assert.

use std::path::Path;
use std::process::Command;

use super::counted;
use crate::bench::ANY_RUST;
use crate::context::{Context, Failure};
use crate::excerpt::{self, FailedTest};
use crate::needs::{self, Machine};
use crate::process::Ended;
use crate::steps::Depth;
use crate::workspace::Workspace;

/// Start of the reason for ignoring slow tests, which `--full` runs.
const SLOW: &str = "full: ";
/// Start of the reason for ignoring tests of many minutes, which `--long` runs.
const LONG: &str = "long: ";

/// Failures that may be tried again; more are no accident.
const SECOND_TRIES_MAX: usize = 3;

pub(super) fn run(context: &mut Context) -> Result<String, Failure> {
    get_programs(context)?;
    run_in(context, "", &["--workspace"])
}

pub(super) fn run_optimized(context: &mut Context) -> Result<String, Failure> {
    get_programs(context)?;
    run_in(context, "", &["--workspace", "--release"])
}

/// Runs the tests of the workspace in a folder.
pub(super) fn run_in(context: &mut Context, folder: &str, flags: &[&str]) -> Result<String, Failure> {
    let command = context.cargo(&[&["test", "--no-fail-fast"], flags].concat());
    let mut ended =
        context.run(prepared(command, &context.root.join(folder), &context.workspace.target, flags))?;
    if ended.success && context.depth >= Depth::Full && !is_long(flags) {
        run_slow(context, folder, flags, &mut ended)?;
    }
    let mut skipped = skipped(&ended.lines, context.depth);
    if ended.success && is_long(flags) && !skipped.is_empty() {
        // Separately and without doctests, some of which must not be compiled.
        let command =
            context.cargo(&[&["test", "--no-fail-fast"], flags, &["--tests", "--", "--ignored"]].concat());
        let long =
            context.run(prepared(command, &context.root.join(folder), &context.workspace.target, flags))?;
        (ended.success, skipped) = (long.success, String::new());
        ended.lines.extend(long.lines);
    }
    let passed = excerpt::passed_tests(&ended.lines);
    let not_tried = not_tried(&ended.lines) + &skipped;
    if ended.success && passed > 0 {
        return Ok(counted(passed, "test", "tests") + &not_tried);
    }
    if ended.success {
        return Err(context.failure(&ended, "no test ran"));
    }
    let failed_tests = excerpt::failed_tests(&ended.lines);
    if may_try_again(&failed_tests, &context.workspace)
        && all_pass_alone(context, folder, &failed_tests, flags)?
    {
        let names: Vec<_> = failed_tests.iter().filter_map(|test| test.name.as_deref()).collect();
        let passed = counted(passed + names.len(), "test", "tests");
        return Ok(format!("{passed}; only at the second try: {}{not_tried}", names.join(", ")));
    }
    let Some(first) = failed_tests.first() else {
        return Err(context.failure(&ended, "the tests did not run to the end"));
    };
    let place = if folder.is_empty() { String::new() } else { format!(" in {folder}/") };
    let long = if is_long(flags) { "GAGGLE_LONG=1 " } else { "" };
    let remedy = format!("Run the first again with `{long}{}`{place}.", again(first, flags));
    let summary = format!("{} failed, {passed} passed", counted(failed_tests.len(), "test", "tests"));
    Err(Failure { summary, details: details(&failed_tests), remedy })
}

/// Runs ignored slow tests by name and adds their output.
fn run_slow(context: &mut Context, folder: &str, flags: &[&str], ended: &mut Ended) -> Result<(), Failure> {
    let names = ignored_for(SLOW, &ended.lines);
    if names.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let filter = [&["--tests", "--", "--ignored", "--exact"], &names[..]].concat();
    let command = context.cargo(&[&["test", "--no-fail-fast"], flags, &filter].concat());
    let slow =
        context.run(prepared(command, &context.root.join(folder), &context.workspace.target, flags))?;
    if slow.success && excerpt::passed_tests(&slow.lines) < names.len() {
        return Err(context.failure(&slow, "not every slow test ran"));
    }
    ended.success = slow.success;
    ended.lines.extend(slow.lines);
    Ok(())
}

/// Names of tests ignored for a reason with this start.
fn ignored_for(reason: &str, lines: &[String]) -> Vec<String> {
    let name = |line: &String| {
        let (name, why) = line.strip_prefix("test ")?.split_once(" ... ignored, ")?;
        why.starts_with(reason).then(|| name.to_string())
    };
    lines.iter().filter_map(name).collect()
}

/// Parts of tests that were not possible on this machine. Such tests pass, so the report names
/// them.
fn not_tried(lines: &[String]) -> String {
    let mut said: Vec<&str> =
        lines.iter().filter_map(|line| Some(line.split_once("not tried: ")?.1.trim())).collect();
    said.sort_unstable();
    said.dedup();
    said.iter().map(|what| format!("; not tried: {what}")).collect()
}

/// Counts of tests that are ignored at this depth; they neither pass nor fail.
fn skipped(lines: &[String], depth: Depth) -> String {
    let mut said = String::new();
    let slow = ignored_for(SLOW, lines).len();
    if slow > 0 && depth < Depth::Full {
        said += &format!("; {} skipped, which `--full` runs", counted(slow, "slow test", "slow tests"));
    }
    let long = ignored_for(LONG, lines).len();
    if long > 0 {
        said += &format!("; {} skipped, which `--long` runs", counted(long, "long test", "long tests"));
    }
    said
}

/// Command for a run of tests, the first or the second.
fn prepared(mut command: Command, folder: &Path, target: &Path, flags: &[&str]) -> Command {
    // The failed line matters first; a developer can rerun one test for the stack.
    command.current_dir(folder).env("RUST_BACKTRACE", "0");
    // A second workspace shares most builds with the first, C libraries among them.
    command.env("CARGO_TARGET_DIR", target);
    if is_long(flags) {
        command.env("GAGGLE_LONG", "1");
    }
    command
}

/// Whether tests with adjustable length run long.
fn is_long(flags: &[&str]) -> bool {
    flags.contains(&"--release")
}

/// Whether the machine may have caused the failures: few tests, all named, in crates that use real
/// sockets and clocks.
fn may_try_again(failed: &[FailedTest], workspace: &Workspace) -> bool {
    let waits = |test: &FailedTest| {
        let package = test.selection.split_whitespace().nth(1).and_then(|name| workspace.package(name));
        let is_named = test.name.is_some() && !test.selection.contains("--doc");
        is_named && package.is_some_and(|package| ["apps", "shell", "tools"].contains(&package.top()))
    };
    (1..=SECOND_TRIES_MAX).contains(&failed.len()) && failed.iter().all(waits)
}

fn all_pass_alone(
    context: &mut Context,
    folder: &str,
    failed: &[FailedTest],
    flags: &[&str],
) -> Result<bool, Failure> {
    context.keep_log()?;
    for test in failed {
        let line = again(&in_workspace(test), flags);
        let arguments: Vec<_> =
            line.split_whitespace().skip(1).chain(["--", "--exact", "--include-ignored"]).collect();
        let command = context.cargo(&arguments);
        let ended =
            context.run(prepared(command, &context.root.join(folder), &context.workspace.target, flags))?;
        if !ended.success || excerpt::passed_tests(&ended.lines) == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The same test selected from the whole workspace: its package alone would enable fewer features
/// and rebuild its dependencies.
fn in_workspace(test: &FailedTest) -> FailedTest {
    let target = test.selection.split_whitespace().skip(2).collect::<Vec<_>>().join(" ");
    FailedTest { selection: format!("--workspace {target}"), ..test.clone() }
}

/// Installs the programs in `[package.metadata.programs]` of all crates.
fn get_programs(context: &mut Context) -> Result<(), Failure> {
    let programs: Vec<_> =
        context.workspace.packages.iter().flat_map(|package| package.programs.clone()).collect();
    for (program, package) in programs {
        needs::program(context, &program, &package)?;
    }
    if context.is_root() {
        let for_root =
            context.workspace.packages.iter().flat_map(|package| package.programs_for_root.clone());
        for (program, package) in for_root.collect::<Vec<_>>() {
            // Root in a container may lack permissions; those tests report it themselves.
            let _ = needs::program(context, &program, &package);
        }
    }
    Ok(())
}

fn again(test: &FailedTest, flags: &[&str]) -> String {
    let repeated = flags.iter().filter(|flag| matches!(**flag, "--release" | ANY_RUST));
    let kept: String = repeated.map(|flag| format!(" {flag}")).collect();
    // Doctests go by file and line, which makes no filter.
    let name = test.name.as_deref().filter(|_| !test.selection.contains("--doc")).unwrap_or_default();
    format!("cargo test{kept} {} {name}", test.selection).trim_end().to_string()
}

fn details(failed: &[FailedTest]) -> Vec<String> {
    let mut details = Vec::new();
    for test in failed {
        if !details.is_empty() {
            details.push(String::new());
        }
        let name = test.name.as_deref().unwrap_or("a test program crashed");
        details.push(format!("{name} ({})", test.selection));
        details.extend(test.output.iter().map(|line| format!("  {line}")));
    }
    details
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Package;

    #[test]
    fn few_failed_tests_of_shell_may_be_tried_again() {
        let package = |name: &str, folder: &str| Package {
            name: name.into(),
            folder: folder.into(),
            ..Package::default()
        };
        let packages = vec![package("gaggle-kit", "core/gaggle-kit"), package("arcade", "apps/arcade")];
        let workspace = Workspace { packages, ..Workspace::default() };
        let failed = |name: Option<&str>, selection: &str| FailedTest {
            name: name.map(str::to_string),
            selection: selection.into(),
            output: Vec::new(),
        };
        let page = || failed(Some("online::strangers"), "-p arcade --test in_chromium");
        let pure = || failed(Some("frame::next"), "-p gaggle-kit --lib");
        let crashed = || failed(None, "-p arcade --test in_chromium");
        let documented = || failed(Some("src/lib.rs - (line 3)"), "-p arcade --doc");
        for (tests, may) in [
            (vec![page()], true),
            (vec![page(), page(), page()], true),
            (vec![page(), page(), page(), page()], false),
            (vec![pure()], false),
            (vec![page(), pure()], false),
            (vec![crashed()], false),
            (vec![documented()], false),
            (vec![], false),
        ] {
            assert_eq!(may_try_again(&tests, &workspace), may, "{tests:?}");
        }
    }

    #[test]
    fn second_try_runs_as_long_as_first() {
        let long = |flags: &[&str]| {
            let command = prepared(Command::new("cargo"), Path::new("."), Path::new("target"), flags);
            command.get_envs().any(|(name, value)| name == "GAGGLE_LONG" && value.is_some())
        };
        assert!(long(&["--workspace", "--release"]));
        assert!(!long(&["--workspace"]));
    }

    #[test]
    fn second_try_uses_existing_builds() {
        let selection = "-p arcade --test in_chromium".to_string();
        let test = FailedTest { name: Some("online::strangers".into()), selection, output: Vec::new() };
        let line = again(&in_workspace(&test), &["--workspace"]);
        assert_eq!(line, "cargo test --workspace --test in_chromium online::strangers");
    }

    #[test]
    fn parts_not_tried_are_reported_once() {
        let lines =
            ["test a ... ok", "not tried: routers: not root", "test b ... not tried: routers: not root", ""];
        assert_eq!(not_tried(&lines.map(String::from)), "; not tried: routers: not root");
        assert_eq!(not_tried(&[]), "");
    }

    #[test]
    fn ignored_tests_count_as_skipped_by_depth() {
        let lines = [
            "test a ... ok",
            "test b ... ignored, long: GAGGLE_LONG=1",
            "test c - (line 3) ... ignored",
            "test m::d ... ignored, full: half a minute",
        ]
        .map(String::from);
        assert_eq!(ignored_for(SLOW, &lines), ["m::d"]);
        assert_eq!(
            skipped(&lines, Depth::Usual),
            "; 1 slow test skipped, which `--full` runs; 1 long test skipped, which `--long` runs"
        );
        assert_eq!(skipped(&lines, Depth::Full), "; 1 long test skipped, which `--long` runs");
        assert_eq!(skipped(&lines[..1], Depth::Usual), "");
    }

    #[test]
    fn remedy_is_command_for_failed_test_alone() {
        fn check(name: &str, selection: &str, flags: &[&str], expected: &str) {
            let test =
                FailedTest { name: Some(name.into()), selection: selection.into(), output: Vec::new() };
            assert_eq!(again(&test, flags), expected);
        }
        check(
            "tests::bad",
            "-p gaggle-kit --lib",
            &["--workspace"],
            "cargo test -p gaggle-kit --lib tests::bad",
        );
        check("it_is", "-p xtask --test it", &["--release"], "cargo test --release -p xtask --test it it_is");
        check("src/frame.rs - Frame (line 3)", "-p gaggle-kit --doc", &[], "cargo test -p gaggle-kit --doc");
    }
}
