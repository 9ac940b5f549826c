//! A server process, with the CPU time and memory the system reports for it.
//!
//! All parts call it, and the benches `attack` and `links`. Absent: protocols.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A server process; killed when dropped.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Process {
    /// Starts a program that prints a line once it serves; `address` finds the address in that
    /// line.
    pub(crate) fn start(
        command: &mut Command,
        address: impl Fn(&str) -> Option<SocketAddr>,
    ) -> Result<Process, String> {
        let name = command.get_program().display().to_string();
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{name} does not start: {error}"))?;
        let output = child.stdout.take().ok_or("no output")?;
        let mut said = String::new();
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if let Some(address) = address(&line) {
                return Ok(Process { child, address });
            }
            said = line;
        }
        Err(format!("{name} ended: {said}"))
    }

    /// CPU time of all threads so far.
    pub(crate) fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        // After the name, which may contain spaces: user and system time are fields 12 and 13, in
        // hundredths of a second.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let hundredths: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        Duration::from_millis(hundredths * 10)
    }

    /// Waits until earlier requests are done, so that they are not counted with the next ones.
    pub(crate) fn settle(&self) {
        let (mut before, began) = (None, Instant::now());
        while before != Some(self.cpu()) && began.elapsed() < Duration::from_secs(10) {
            before = Some(self.cpu());
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    /// Memory in use, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) * 1_024
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Raises the limit of open files to its maximum, for this process and its children.
pub(crate) fn allow_many_sockets() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}
