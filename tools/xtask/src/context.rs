//! The environment of a step: its commands, their progress, and how a result is reported.
//!
//! `test` makes one, all steps take it. Absent: what a step checks.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::console::{Console, Tone, duration};
use crate::excerpt;
use crate::needs::{Machine, Missing, ThisMachine};
use crate::process::{self, Ended};
use crate::steps::Depth;
use crate::workspace::{self, Workspace};

/// Project, console and the running step.
pub(crate) struct Context {
    pub(crate) root: PathBuf,
    pub(crate) workspace: Workspace,
    pub(crate) console: Console,
    /// Depth that was asked for.
    pub(crate) depth: Depth,
    step: &'static str,
    started: Instant,
    doing: String,
    /// Compiler errors printed so far: a later step with the same errors refers to them.
    shown: BTreeSet<Vec<String>>,
}

/// Why a step failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// A few words after the step's name.
    pub(crate) summary: String,
    /// The useful part of the output.
    pub(crate) details: Vec<String>,
    /// One line: what to do.
    pub(crate) remedy: String,
}

impl From<Missing> for Failure {
    fn from(missing: Missing) -> Failure {
        Failure { summary: missing.what, details: Vec::new(), remedy: missing.remedy }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        let remedy = "See that the file or program named is there and the disk is not full.".to_string();
        Failure { summary: error.to_string(), details: Vec::new(), remedy }
    }
}

impl Context {
    pub(crate) fn new(root: PathBuf, workspace: Workspace, console: Console) -> Context {
        let (step, started, doing, shown) = ("", Instant::now(), String::new(), BTreeSet::new());
        Context { root, workspace, console, depth: Depth::Usual, step, started, doing, shown }
    }

    /// Sets another depth than the usual one.
    pub(crate) fn with_depth(self, depth: Depth) -> Context {
        Context { depth, ..self }
    }

    /// A cargo command in the project's root, with progress bars to show.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = workspace::cargo();
        command
            .args(arguments)
            .current_dir(&self.root)
            .env("CARGO_TERM_PROGRESS_WHEN", "always")
            .env("CARGO_TERM_PROGRESS_WIDTH", "100")
            .env("CARGO_TERM_COLOR", if self.console.is_colored() { "always" } else { "never" });
        command
    }

    /// Runs a command to its end and shows its progress.
    pub(crate) fn run(&mut self, mut command: Command) -> io::Result<Ended> {
        let log = self.log();
        process::run(&mut command, &log, |line| {
            if let Some(doing) = line.and_then(process::activity_in) {
                self.doing = doing;
            }
            self.console.activity(self.step, self.started.elapsed(), &self.doing);
        })
    }

    /// Shows an activity that is not a command.
    pub(crate) fn doing(&mut self, what: &str) {
        self.doing = what.to_string();
        self.console.activity(self.step, self.started.elapsed(), &self.doing);
    }

    /// Runs a command whose failure means `summary`.
    pub(crate) fn check(&mut self, command: Command, summary: &str) -> Result<Ended, Failure> {
        let ended = self.run(command)?;
        if ended.success { Ok(ended) } else { Err(self.failure(&ended, summary)) }
    }

    /// A failure with the compiler's errors that no earlier step has printed.
    pub(crate) fn failure(&mut self, ended: &Ended, summary: &str) -> Failure {
        let found = excerpt::diagnostics(&ended.lines);
        let fresh: Vec<_> =
            found.iter().filter(|paragraph| !self.shown.contains(*paragraph)).cloned().collect();
        let (details, remedy) = if found.is_empty() {
            let remedy = format!(
                "This is the end of the output; all of it is in {}.",
                shorter(&self.log(), &self.root)
            );
            (excerpt::last_lines(&ended.lines), remedy)
        } else if fresh.is_empty() {
            (Vec::new(), "The errors are those shown above.".to_string())
        } else {
            let step = self.step;
            let remedy =
                format!("Fix the first error, the others often go with it; then `cargo xtask test {step}`.");
            (excerpt::joined(&fresh), remedy)
        };
        self.shown.extend(fresh);
        Failure { summary: summary.to_string(), details, remedy }
    }

    fn log(&self) -> PathBuf {
        self.workspace.target.join("xtask").join(format!("{}.log", self.step))
    }

    /// Moves the last log away, so that the next command does not overwrite it.
    pub(crate) fn keep_log(&self) -> io::Result<()> {
        std::fs::rename(self.log(), self.log().with_extension("first.log"))
    }

    /// Starts a step.
    pub(crate) fn begin(&mut self, step: &'static str) {
        (self.step, self.started) = (step, Instant::now());
        self.console.begin();
        self.doing("");
    }

    /// Ends a step: prints its line and, if it failed, why and what to do.
    pub(crate) fn end(&mut self, result: Result<String, Failure>) {
        let time = duration(self.started.elapsed());
        let console = &mut self.console;
        let (mark, summary) = match &result {
            Ok(summary) => (console.paint(Tone::Good, "✓"), console.paint(Tone::Quiet, summary)),
            Err(failure) => (console.paint(Tone::Bad, "✗"), console.paint(Tone::Bad, &failure.summary)),
        };
        let line = format!("{mark} {:<8} {time:>9}  {summary}", self.step);
        console.line(line.trim_end());
        let Err(failure) = result else { return };
        let log = shorter(&self.log(), &self.root);
        let console = &mut self.console;
        let (details, left_out) = excerpt::first_screen(failure.details);
        console.gap();
        for line in &details {
            console.line(format!("    {line}").trim_end());
        }
        if left_out > 0 {
            let more = format!("… {left_out} more lines; everything is in {log}");
            console.line(&format!("    {}", console.paint(Tone::Quiet, &more)));
        }
        console.gap();
        console.line(&format!("    {} {}", console.paint(Tone::Strong, "→"), failure.remedy));
        console.gap();
    }
}

impl Machine for Context {
    fn find(&self, program: &str) -> Option<PathBuf> {
        ThisMachine.find(program)
    }

    fn is_root(&self) -> bool {
        ThisMachine.is_root()
    }

    fn run(&mut self, command: &[&str]) -> Result<(), String> {
        let (program, arguments) = command.split_first().expect("a command has a name");
        let process = match *program {
            "cargo" => self.cargo(arguments),
            program => {
                let mut process = Command::new(program);
                process.args(arguments);
                process
            }
        };
        self.doing(&command.join(" "));
        let ended = Context::run(self, process).map_err(|error| error.to_string())?;
        match ended.lines.iter().rev().find(|line| !line.trim().is_empty()) {
            _ if ended.success => Ok(()),
            Some(last) => Err(last.trim().to_string()),
            None => Err("it said nothing".into()),
        }
    }
}

/// A path relative to the root, if it is below it.
fn shorter(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_error_is_referred_to_instead_of_printed() {
        let mut context = Context::new("/nowhere".into(), Workspace::default(), Console::plain(Vec::new()));
        let lines = |text: &str| Ended { success: false, lines: text.lines().map(str::to_string).collect() };
        let broken = lines(
            "   Checking a v0.1.0\nerror: no such thing\n --> a.rs:1:1\n\nerror: could not compile `a`",
        );
        let first = context.failure(&broken, "it does not compile");
        assert_eq!(first.details, ["error: no such thing", " --> a.rs:1:1"]);
        let second = context.failure(&broken, "it still does not compile");
        assert_eq!((second.details.len(), second.remedy.as_str()), (0, "The errors are those shown above."));
        let other = context.failure(&lines("killed\n"), "it ended");
        assert_eq!(other.details, ["killed"], "output without errors must be kept");
    }
}
