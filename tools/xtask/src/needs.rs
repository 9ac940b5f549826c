//! Tools that steps need: found on this machine or installed.
//!
//! Steps call it before they use a tool. What cannot be installed fails the step with one line that
//! says what to do; no step is skipped silently. Absent: what the tools are for.

use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The machine as this file sees it, so that tests can replace it.
pub(crate) trait Machine {
    /// Path of a program on PATH.
    fn find(&self, program: &str) -> Option<PathBuf>;
    /// Whether packages may be installed.
    fn is_root(&self) -> bool;
    /// Runs a command to its end; the error is its last output.
    fn run(&mut self, command: &[&str]) -> Result<(), String>;
}

/// The real machine. Output of its commands goes to standard error.
pub(crate) struct ThisMachine;

impl Machine for ThisMachine {
    fn find(&self, program: &str) -> Option<PathBuf> {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
    }

    fn is_root(&self) -> bool {
        let answer = Command::new("id").arg("-u").output();
        answer.is_ok_and(|answer| answer.stdout.trim_ascii() == b"0")
    }

    fn run(&mut self, command: &[&str]) -> Result<(), String> {
        let (program, arguments) = command.split_first().expect("a command has a name");
        let status = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(io::stderr()).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(status.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A missing tool. `remedy` is one line: what to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) what: String,
    pub(crate) remedy: String,
}

/// A program from a Debian package: found on PATH, or installed.
pub(crate) fn program(machine: &mut impl Machine, program: &str, package: &str) -> Result<PathBuf, Missing> {
    if let Some(path) = machine.find(program) {
        return Ok(path);
    }
    let missing = |remedy: String| Missing { what: format!("`{program}` is not on this machine"), remedy };
    if machine.find("apt-get").is_none() {
        return Err(missing(format!(
            "Install `{program}` and put it on PATH (Debian's package is `{package}`)."
        )));
    }
    if !machine.is_root() {
        return Err(missing(format!("Run `sudo apt-get install {package}`.")));
    }
    let install = [
        "env",
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "install",
        "-y",
        "--no-install-recommends",
        package,
    ];
    if machine.run(&install).is_err() {
        // A fresh machine has no package lists, and old lists name files that are gone.
        machine.run(&["apt-get", "update"]).and_then(|()| machine.run(&install)).map_err(|error| {
            missing(format!("`apt-get install {package}` failed ({error}): install it by hand."))
        })?;
    }
    machine.find(program).ok_or_else(|| {
        missing(format!(
            "Package `{package}` is installed but brings no `{program}`: put one on PATH by hand."
        ))
    })
}

/// A component of the Rust toolchain that `cargo COMMAND` needs, such as `clippy`.
pub(crate) fn component(machine: &mut impl Machine, component: &str, command: &str) -> Result<(), Missing> {
    let probe = ["cargo", command, "--version"];
    if machine.run(&probe).is_ok() {
        return Ok(());
    }
    from_rustup(machine, &format!("the component `{component}`"), &["component", "add", component])?;
    machine.run(&probe).map_err(|error| Missing {
        what: format!("`cargo {command}` does not work: {error}"),
        remedy: format!("Run `rustup component add {component}`."),
    })
}

/// The standard library for another target, such as wasm32. `present` tells whether it is there.
pub(crate) fn target(
    machine: &mut impl Machine,
    target: &str,
    present: impl Fn() -> bool,
) -> Result<(), Missing> {
    if present() {
        return Ok(());
    }
    from_rustup(machine, &format!("the target `{target}`"), &["target", "add", target])
}

fn from_rustup(machine: &mut impl Machine, what: &str, arguments: &[&str]) -> Result<(), Missing> {
    let missing = |remedy: String| Missing { what: format!("{what} is not installed"), remedy };
    if machine.find("rustup").is_none() {
        return Err(missing(
            "Install Rust with rustup (https://rustup.rs), or add it to the Rust you have.".into(),
        ));
    }
    let command = [&["rustup"], arguments].concat();
    machine.run(&command).map_err(|error| missing(format!("`{}` failed: {error}", command.join(" "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with some programs: `fails` counts failures per command, `brings` lists programs
    /// that a command installs.
    #[derive(Default)]
    struct Fake {
        has: Vec<&'static str>,
        root: bool,
        fails: Vec<(&'static str, usize)>,
        brings: Vec<(&'static str, &'static str)>,
        ran: Vec<String>,
    }

    impl Machine for Fake {
        fn find(&self, program: &str) -> Option<PathBuf> {
            self.has.iter().find(|&&name| name == program).map(|name| PathBuf::from(format!("/bin/{name}")))
        }

        fn is_root(&self) -> bool {
            self.root
        }

        fn run(&mut self, command: &[&str]) -> Result<(), String> {
            let command = command.join(" ");
            self.ran.push(command.clone());
            if let Some((_, left)) =
                self.fails.iter_mut().find(|(part, left)| command.contains(part) && *left > 0)
            {
                *left -= 1;
                return Err("it broke".into());
            }
            let brought =
                self.brings.iter().filter(|(part, _)| command.contains(part)).map(|&(_, program)| program);
            self.has.extend(brought);
            Ok(())
        }
    }

    #[test]
    fn program_on_path_is_used_without_installation() {
        let mut machine = Fake { has: vec!["valgrind"], ..Fake::default() };
        assert_eq!(program(&mut machine, "valgrind", "valgrind"), Ok("/bin/valgrind".into()));
        assert!(machine.ran.is_empty());
    }

    #[test]
    fn root_gets_program_installed_after_one_refresh_of_lists() {
        let mut machine = Fake {
            has: vec!["apt-get"],
            root: true,
            fails: vec![("install", 1)],
            brings: vec![("install", "nft")],
            ..Fake::default()
        };
        assert_eq!(program(&mut machine, "nft", "nftables"), Ok("/bin/nft".into()));
        assert_eq!(machine.ran.len(), 3, "install, update, install: {:?}", machine.ran);
        assert!(machine.ran[0].ends_with(" nftables"));
    }

    #[test]
    fn other_user_gets_remedy_in_one_line() {
        fn remedy(mut machine: Fake) -> String {
            let missing = program(&mut machine, "chromium", "chromium").unwrap_err();
            assert!(missing.what.contains("`chromium`"));
            assert!(!missing.remedy.contains('\n'));
            missing.remedy
        }
        assert_eq!(
            remedy(Fake { has: vec!["apt-get"], ..Fake::default() }),
            "Run `sudo apt-get install chromium`."
        );
        assert!(remedy(Fake::default()).contains("put it on PATH"));
        let broken =
            Fake { has: vec!["apt-get"], root: true, fails: vec![("install", 9)], ..Fake::default() };
        assert!(remedy(broken).contains("it broke"));
        let empty_package = Fake { has: vec!["apt-get"], root: true, ..Fake::default() };
        assert!(remedy(empty_package).contains("brings no `chromium`"));
    }

    #[test]
    fn toolchain_parts_come_from_rustup() {
        let mut machine = Fake { has: vec!["rustup"], fails: vec![("cargo clippy", 1)], ..Fake::default() };
        assert_eq!(component(&mut machine, "clippy", "clippy"), Ok(()));
        assert_eq!(
            machine.ran,
            ["cargo clippy --version", "rustup component add clippy", "cargo clippy --version"]
        );

        let mut machine = Fake { has: vec!["rustup"], ..Fake::default() };
        assert_eq!(target(&mut machine, "wasm32-unknown-unknown", || false), Ok(()));
        assert_eq!(machine.ran, ["rustup target add wasm32-unknown-unknown"]);
        assert_eq!(target(&mut Fake::default(), "wasm32-unknown-unknown", || true), Ok(()));
    }

    #[test]
    fn missing_rustup_is_named_in_remedy() {
        let missing = target(&mut Fake::default(), "wasm32-unknown-unknown", || false).unwrap_err();
        assert_eq!(missing.what, "the target `wasm32-unknown-unknown` is not installed");
        assert!(missing.remedy.contains("https://rustup.rs"));
    }
}
