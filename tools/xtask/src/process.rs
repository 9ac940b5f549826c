//! A child program whose output is shown while it runs and kept for its end.
//!
//! `Context` runs commands with it. Absent: what the output means.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Result of a program that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) success: bool,
    /// Standard output and error in the order written, without progress bars.
    pub(crate) lines: Vec<String>,
}

/// Interval of checks on a silent program.
const TICK: Duration = Duration::from_millis(100);

/// How long output of an ended program may still arrive.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Runs `command` to its end. `watch` is called for every line, and with `None` ten times a second
/// during silence. All output also goes into the file `log`.
pub(crate) fn run(
    command: &mut Command,
    log: &Path,
    mut watch: impl FnMut(Option<&str>),
) -> io::Result<Ended> {
    let mut log = create_with_folder(log)?;
    // One pipe for both streams keeps their order.
    let (reader, writer) = io::pipe()?;
    let mut child =
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).spawn().map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("{} does not start: {error}", command.get_program().display()),
            )
        })?;
    // The command holds the writing ends; while it exists, the reader would wait forever.
    command.stdout(Stdio::null()).stderr(Stdio::null());

    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || split_lines(reader, |line| send.send(line).is_ok()));
    let mut lines = Vec::new();
    let mut ended: Option<ExitStatus> = None;
    loop {
        match receive.recv_timeout(if ended.is_some() { LAST_WORDS } else { TICK }) {
            Ok(line) => {
                watch(Some(&line));
                if !is_progress_bar(&line) {
                    writeln!(log, "{}", without_color(&line))?;
                    lines.push(line);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
            // Silence after the end: a child of the program lives on and holds the pipe open.
            Err(RecvTimeoutError::Timeout) if ended.is_some() => break,
            Err(RecvTimeoutError::Timeout) => {
                watch(None);
                ended = child.try_wait()?;
            }
        }
    }
    let status = ended.map_or_else(|| child.wait(), Ok)?;
    Ok(Ended { success: status.success(), lines })
}

/// Activity that a line of cargo or of a test program announces, if any.
pub(crate) fn activity_in(line: &str) -> Option<String> {
    let plain = without_color(line);
    let text = plain.trim();
    if let Some((_, rest)) = text.split_once("] ").filter(|_| is_progress_bar(&plain)) {
        // "Building [===>   ] 43/61: serde, syn"
        return Some(rest.replacen(": ", "  ", 1));
    }
    if let Some(name) = text.strip_prefix("test ") {
        return Some(name.split(" ... ").next().unwrap_or(name).to_string());
    }
    // Cargo's status words are indented to a column; compiler output is not.
    let (verb, _) = text.split_once(' ')?;
    let is_status = plain.starts_with(' ') && verb.starts_with(char::is_uppercase) && verb != "Finished";
    is_status.then(|| text.split(" (").next().unwrap_or(text).to_string())
}

/// Whether a line is cargo's progress bar, which is shown but not kept.
fn is_progress_bar(line: &str) -> bool {
    let plain = without_color(line);
    ["Building [", "Downloading [", "Fetch [", "Updating ["]
        .iter()
        .any(|bar| plain.trim_start().starts_with(bar))
}

/// The text without color escape sequences.
pub(crate) fn without_color(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(letter) = rest.next() {
        if letter == '\x1b' {
            // ESC [ digits final-letter.
            let _ = rest.find(char::is_ascii_alphabetic);
        } else {
            plain.push(letter);
        }
    }
    plain
}

/// Splits at line ends and at carriage returns, with which progress bars overwrite themselves. Ends
/// early when `take` returns false.
fn split_lines(mut reader: impl Read, mut take: impl FnMut(String) -> bool) {
    let mut line = Vec::new();
    let mut buffer = [0; 8192];
    let mut previous = b'\n';
    loop {
        let count = match reader.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => break,
            Ok(count) => count,
        };
        for &byte in &buffer[..count] {
            match byte {
                b'\n' if previous == b'\r' => {}
                b'\n' | b'\r' => {
                    let text = String::from_utf8_lossy(&line).into_owned();
                    line.clear();
                    if !take(text) {
                        return;
                    }
                }
                byte => line.push(byte),
            }
            previous = byte;
        }
    }
    if !line.is_empty() {
        take(String::from_utf8_lossy(&line).into_owned());
    }
}

fn create_with_folder(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    File::create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        split_lines(bytes, |line| {
            lines.push(line);
            true
        });
        lines
    }

    #[test]
    fn lines_end_at_newlines_and_carriage_returns() {
        assert_eq!(lines_of(b"a\n\n 1/2\r 2/2\rdone\r\nlast"), ["a", "", " 1/2", " 2/2", "done", "last"]);
    }

    #[test]
    fn activity_is_read_from_cargo_and_test_programs() {
        fn check(line: &str, expected: Option<&str>) {
            assert_eq!(activity_in(line).as_deref(), expected, "{line:?}");
        }
        check("    Building [======>    ] 43/61: serde, syn(build)", Some("43/61  serde, syn(build)"));
        check(
            "   \x1b[1m\x1b[32mCompiling\x1b[0m gaggle-kit v0.1.0 (/somewhere)",
            Some("Compiling gaggle-kit v0.1.0"),
        );
        check(
            "    Blocking waiting for file lock on build directory",
            Some("Blocking waiting for file lock on build directory"),
        );
        check("test frame::tests::distances ... ok", Some("frame::tests::distances"));
        check("error[E0425]: cannot find value", None);
        check("    let Frame = 3;", None);
        check("", None);
    }

    #[test]
    fn both_streams_are_kept_in_order_without_progress_bars() {
        let log = std::env::temp_dir().join(format!("xtask-process-{}.log", std::process::id()));
        let mut seen = 0;
        let mut command = Command::new("sh");
        command
            .args(["-c", "echo one; echo two >&2; printf '  Building [=> ] 1/2: x\\r'; echo three; exit 3"]);
        let ended = run(&mut command, &log, |line| seen += usize::from(line.is_some())).unwrap();
        assert!(!ended.success);
        assert_eq!(ended.lines, ["one", "two", "three"]);
        assert_eq!(seen, 4, "the bar must be shown");
        assert_eq!(fs::read_to_string(&log).unwrap(), "one\ntwo\nthree\n");
        fs::remove_file(log).unwrap();
    }

    #[test]
    fn process_left_running_by_program_is_not_waited_for() {
        let log = std::env::temp_dir().join(format!("xtask-left-{}.log", std::process::id()));
        let started = std::time::Instant::now();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 30 & echo $!"]);
        let ended = run(&mut command, &log, |_| ()).unwrap();
        Command::new("kill").arg(&ended.lines[0]).status().unwrap();
        assert!(ended.success);
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
        fs::remove_file(log).unwrap();
    }

    #[test]
    fn missing_program_is_named_in_error() {
        let log = std::env::temp_dir().join(format!("xtask-missing-{}.log", std::process::id()));
        let error = run(&mut Command::new("no-such-program"), &log, |_| ()).unwrap_err();
        assert!(error.to_string().starts_with("no-such-program does not start"), "{error}");
        fs::remove_file(log).unwrap();
    }
}
