//! Output of a running command: one line per step, and on a terminal one moving line below it. In a
//! log file the moving line becomes an occasional plain line.
//!
//! `Context` writes to it. Absent: what the lines say.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Interval of plain lines: shows that a build goes on and keeps a log readable.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// Interval of updates of the moving line.
const FRAME: Duration = Duration::from_millis(80);

/// Emphasis of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Quiet,
    Good,
    Bad,
    Strong,
}

/// The terminal or log file that output goes to.
pub(crate) struct Console {
    out: Box<dyn Write>,
    moving: bool,
    color: bool,
    /// Time of the last update of the moving line.
    last_sign: Instant,
    is_painted: bool,
    turn: usize,
    after_gap: bool,
}

impl Console {
    /// Standard output, with moving line and colors if it is a terminal.
    pub(crate) fn stdout() -> Console {
        let terminal =
            std::io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let color = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Console::over(Box::new(std::io::stdout()), terminal, color)
    }

    /// Another output, without moving line and colors.
    #[cfg(test)]
    pub(crate) fn plain(out: impl Write + 'static) -> Console {
        Console::over(Box::new(out), false, false)
    }

    fn over(out: Box<dyn Write>, moving: bool, color: bool) -> Console {
        Console { out, moving, color, last_sign: Instant::now(), is_painted: false, turn: 0, after_gap: true }
    }

    /// Whether child programs should print colors.
    pub(crate) fn is_colored(&self) -> bool {
        self.color
    }

    /// Text in a tone, for use inside a line.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        let code = match tone {
            _ if !self.color => return text.to_string(),
            Tone::Quiet => "2",
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Strong => "1",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// Writes a permanent line. A closed pipe is ignored.
    pub(crate) fn line(&mut self, text: &str) {
        if std::mem::take(&mut self.is_painted) {
            let _ = write!(self.out, "\r\x1b[2K");
        }
        let _ = writeln!(self.out, "{text}");
        let _ = self.out.flush();
        self.after_gap = text.is_empty();
    }

    /// Writes an empty line unless the last one is empty.
    pub(crate) fn gap(&mut self) {
        if !self.after_gap {
            self.line("");
        }
    }

    /// Starts the clock of a step, so that short steps print no plain line.
    pub(crate) fn begin(&mut self) {
        self.last_sign = Instant::now();
    }

    /// Shows the present activity, if an update is due.
    pub(crate) fn activity(&mut self, step: &str, elapsed: Duration, doing: &str) {
        let pause = if self.moving { FRAME } else { SIGN_OF_LIFE };
        if self.last_sign.elapsed() < pause {
            return;
        }
        self.last_sign = Instant::now();
        let time = format!("{:>9}", duration(elapsed));
        if !self.moving {
            return self.line(&format!("… {step:<8} {time}  {doing}"));
        }
        self.turn = (self.turn + 1) % SPINNER.len();
        let (time, doing) = (self.paint(Tone::Quiet, &time), self.paint(Tone::Quiet, doing));
        // Without line wrapping (?7l) the terminal cuts a long text at its edge.
        let _ = write!(self.out, "\r\x1b[2K\x1b[?7l{} {step:<8} {time}  {doing}\x1b[?7h", SPINNER[self.turn]);
        let _ = self.out.flush();
        self.is_painted = true;
    }
}

/// Text of a duration: `4.2 s`, `1 m 05 s`.
pub(crate) fn duration(time: Duration) -> String {
    let tenths = (time.as_millis() + 50) / 100;
    if tenths < 600 {
        format!("{}.{} s", tenths / 10, tenths % 10)
    } else {
        let seconds = (tenths + 5) / 10;
        format!("{} m {:02} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_readable_units() {
        for (millis, text) in [
            (0, "0.0 s"),
            (49, "0.0 s"),
            (4_249, "4.2 s"),
            (59_940, "59.9 s"),
            (59_960, "1 m 00 s"),
            (125_400, "2 m 05 s"),
        ] {
            assert_eq!(duration(Duration::from_millis(millis)), text, "{millis} ms");
        }
    }

    #[test]
    fn log_file_gets_no_escape_codes() {
        let console = Console::plain(Vec::new());
        assert_eq!(console.paint(Tone::Bad, "oh"), "oh");
    }
}
