//! What people see while a command runs: one line per step, and below it, on a terminal, one line
//! that moves. In a log file the moving line becomes a sign of life every few seconds.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Often enough to show that a build goes on, rare enough to keep a log readable.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// Between two pictures of the moving line.
const FRAME: Duration = Duration::from_millis(80);

/// How a line should stand out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Quiet,
    Good,
    Bad,
    Strong,
}

/// The terminal or log file everything is written to.
pub(crate) struct Console {
    out: Box<dyn Write>,
    moving: bool,
    colour: bool,
    /// When the moving line was last written.
    last_sign: Instant,
    is_painted: bool,
    turn: usize,
    after_gap: bool,
}

impl Console {
    /// Standard output, moving and coloured if it is a terminal that wants to be.
    pub(crate) fn stdout() -> Console {
        let terminal =
            std::io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Console::over(Box::new(std::io::stdout()), terminal, colour)
    }

    /// Somewhere else, neither moving nor coloured.
    #[cfg(test)]
    pub(crate) fn plain(out: impl Write + 'static) -> Console {
        Console::over(Box::new(out), false, false)
    }

    fn over(out: Box<dyn Write>, moving: bool, colour: bool) -> Console {
        Console {
            out,
            moving,
            colour,
            last_sign: Instant::now(),
            is_painted: false,
            turn: 0,
            after_gap: true,
        }
    }

    /// Whether programs started from here should colour what they print.
    pub(crate) fn is_coloured(&self) -> bool {
        self.colour
    }

    /// Text in a tone, for use inside a line.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        let code = match tone {
            _ if !self.colour => return text.to_string(),
            Tone::Quiet => "2",
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Strong => "1",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// Writes a line that stays. A reader who went away is no reason to stop.
    pub(crate) fn line(&mut self, text: &str) {
        if std::mem::take(&mut self.is_painted) {
            let _ = write!(self.out, "\r\x1b[2K");
        }
        let _ = writeln!(self.out, "{text}");
        let _ = self.out.flush();
        self.after_gap = text.is_empty();
    }

    /// An empty line, unless there is one already.
    pub(crate) fn gap(&mut self) {
        if !self.after_gap {
            self.line("");
        }
    }

    /// Starts the clock of a step, so that short steps leave no sign of life in a log.
    pub(crate) fn begin(&mut self) {
        self.last_sign = Instant::now();
    }

    /// Shows what is going on right now, if it is time to.
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
        // Without line wrapping (?7l) a long text is cut at the edge, whatever the width.
        let _ = write!(self.out, "\r\x1b[2K\x1b[?7l{} {step:<8} {time}  {doing}\x1b[?7h", SPINNER[self.turn]);
        let _ = self.out.flush();
        self.is_painted = true;
    }
}

/// A time as people say it: `4.2 s`, `1 m 05 s`.
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
    fn times_read_like_times() {
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
    fn a_log_file_gets_no_escape_codes() {
        let console = Console::plain(Vec::new());
        assert_eq!(console.paint(Tone::Bad, "oh"), "oh");
    }
}
