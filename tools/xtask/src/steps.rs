//! The steps of `cargo xtask test`, cheapest first: what is wrong at a glance should not wait for a build.

use std::path::Path;

use crate::excerpt;
use crate::needs;
use crate::process::without_colour;
use crate::test::{Context, Failure};
use crate::tidy;
use crate::wasm;
use crate::workspace::{Package, Workspace};

/// One line of the report.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Only with `--long`, or by name.
    pub(crate) long: bool,
    /// Whether there is anything for it to look at.
    pub(crate) applies: fn(&Path) -> bool,
    /// Ends with a few words for the report.
    pub(crate) run: fn(&mut Context) -> Result<String, Failure>,
}

const WASM: &str = "wasm32-unknown-unknown";
/// Workspaces of their own, kept out of the default build by what they pull in.
const OUTSIDE: [&str; 2] = ["bench", "fuzz"];

/// Every step, in order.
pub(crate) fn all(long: bool) -> Vec<Step> {
    let always = |_: &Path| true;
    let steps = [
        Step {
            name: "format",
            about: "rustfmt has nothing to change",
            long: false,
            applies: always,
            run: format,
        },
        Step {
            name: "tidy",
            about: "layers, documents, file and naming rules",
            long: false,
            applies: always,
            run: tidy,
        },
        Step {
            name: "clippy",
            about: "no warnings, in all targets",
            long: false,
            applies: always,
            run: clippy,
        },
        Step {
            name: "tests",
            about: "all tests, doctests included",
            long: false,
            applies: always,
            run: tests,
        },
        Step { name: "docs", about: "rustdoc has no warnings", long: false, applies: always, run: docs },
        Step {
            name: "wasm",
            about: "core/ and games/ build for wasm32 and ask the host for nothing",
            long: false,
            applies: always,
            run: wasm,
        },
        Step {
            name: "outside",
            about: "bench/ and fuzz/ compile without warnings",
            long: false,
            applies: |root| OUTSIDE.iter().any(|folder| root.join(folder).join("Cargo.toml").is_file()),
            run: outside,
        },
        Step {
            name: "release",
            about: "all tests again, optimised: the same answers",
            long: true,
            applies: always,
            run: release,
        },
    ];
    steps.into_iter().filter(|step| long || !step.long).collect()
}

fn format(context: &mut Context) -> Result<String, Failure> {
    needs::component(context, "rustfmt", "fmt")?;
    let mut unformatted = Vec::new();
    for folder in [""].iter().chain(&OUTSIDE) {
        if !has_manifest(context, folder) {
            continue;
        }
        let mut command = context.cargo(&["fmt", "--all", "--", "--check", "-l"]);
        command.current_dir(context.root.join(folder));
        let ended = context.run(command)?;
        if ended.success {
            continue;
        }
        let root = format!("{}/", context.root.display());
        let files = ended.lines.iter().filter_map(|line| line.strip_prefix(&root)).map(str::to_string);
        let found_before = unformatted.len();
        unformatted.extend(files);
        if unformatted.len() == found_before {
            let details = context.diagnostics(&ended);
            return Err(Failure {
                summary: "rustfmt cannot read the code".into(),
                details,
                remedy: FIX_FIRST.into(),
            });
        }
    }
    unformatted.sort();
    unformatted.dedup();
    match unformatted.len() {
        0 => Ok(String::new()),
        count => Err(Failure {
            summary: counted(count, "file", "files"),
            details: unformatted,
            remedy: "Run `cargo fmt --all` (in bench/ and fuzz/ too, if they are named).".into(),
        }),
    }
}

const FIX_FIRST: &str = "Fix the first error; the others often go with it.";

fn tidy(context: &mut Context) -> Result<String, Failure> {
    let tree = tidy::Tree::load(&context.root)?;
    let foreign = foreign_crates(context)?;
    let findings = tidy::check(&tree, &context.workspace, &foreign);
    match findings.len() {
        0 => Ok(format!("{} files", tree.len())),
        count => Err(Failure {
            summary: counted(count, "finding", "findings"),
            details: findings.iter().map(ToString::to_string).collect(),
            remedy: "Each line says what to change. The rules are in tools/xtask/src/tidy.".into(),
        }),
    }
}

/// What deterministic code is compiled with, in cargo's words, for the target that has no clock to lend.
fn foreign_crates(context: &mut Context) -> Result<String, Failure> {
    let mut command =
        context.cargo(&["tree", "--edges", "normal,no-proc-macro", "--prefix", "none", "--target", WASM]);
    for package in deterministic(&context.workspace) {
        command.args(["--package", &package.name]);
    }
    context.doing("reading the dependency tree");
    let ended = context.run(command)?;
    if ended.success {
        return Ok(ended.lines.join("\n"));
    }
    let details = context.diagnostics(&ended);
    Err(Failure {
        summary: "cargo cannot resolve the dependencies".into(),
        details,
        remedy: FIX_FIRST.into(),
    })
}

fn clippy(context: &mut Context) -> Result<String, Failure> {
    needs::component(context, "clippy", "clippy")?;
    let arguments = ["clippy", "--workspace", "--all-targets", "--keep-going", "--", "-D", "warnings"];
    compile(context, &arguments, "cargo clippy --workspace --all-targets")
}

fn docs(context: &mut Context) -> Result<String, Failure> {
    let mut command = context.cargo(&["doc", "--workspace", "--no-deps", "--keep-going"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    let ended = context.run(command)?;
    if ended.success {
        return Ok(String::new());
    }
    let details = context.diagnostics(&ended);
    let remedy = "Fix the comments named above; `cargo doc --workspace --no-deps` shows them again.".into();
    Err(Failure { summary: "rustdoc complains".into(), details, remedy })
}

fn tests(context: &mut Context) -> Result<String, Failure> {
    let programs: Vec<_> =
        context.workspace.packages.iter().flat_map(|package| package.programs.clone()).collect();
    for (program, package) in programs {
        needs::program(context, &program, &package)?;
    }
    run_tests(context, &["test", "--workspace", "--no-fail-fast"])
}

fn release(context: &mut Context) -> Result<String, Failure> {
    run_tests(context, &["test", "--workspace", "--no-fail-fast", "--release"])
}

fn run_tests(context: &mut Context, arguments: &[&str]) -> Result<String, Failure> {
    let mut command = context.cargo(arguments);
    // The line that failed is what one needs first; who wants the whole stack runs that test alone.
    command.env("RUST_BACKTRACE", "0");
    let ended = context.run(command)?;
    let (passed, failed) = excerpt::test_counts(&ended.lines);
    if ended.success {
        return match passed {
            0 => Err(Failure { summary: "no test ran".into(), ..Failure::default() }),
            passed => Ok(counted(passed, "test", "tests")),
        };
    }
    let failed_tests = excerpt::failed_tests(&ended.lines);
    let Some(first) = failed_tests.first() else {
        let details = context.diagnostics(&ended);
        return Err(Failure {
            summary: "the tests did not run to the end".into(),
            details,
            remedy: FIX_FIRST.into(),
        });
    };
    let release = if arguments.contains(&"--release") { " --release" } else { "" };
    let remedy = if first.selection.contains("--doc") {
        format!("Run it again with `cargo test{release} {}`.", first.selection)
    } else {
        format!("Run the first again with `cargo test{release} {} {}`.", first.selection, first.name)
    };
    let mut details = Vec::new();
    for test in failed_tests {
        details.push(format!("{} ({})", test.name, test.selection));
        details.extend(test.output.iter().map(|line| format!("  {line}")));
        details.push(String::new());
    }
    details.pop();
    Err(Failure { summary: format!("{failed} of {} tests failed", passed + failed), details, remedy })
}

/// A library for wasm32 is only an archive. To see what it would ask a host for, it is linked into a
/// module with everything it has: nothing optimised away, nothing left out because nobody calls it.
const LINK_EVERYTHING: [&str; 6] =
    ["-C", "opt-level=0", "-C", "link-dead-code", "-C", "link-arg=--no-gc-sections"];

fn wasm(context: &mut Context) -> Result<String, Failure> {
    let installed = wasm_is_installed(context);
    needs::target(context, WASM, || installed)?;
    let packages: Vec<_> = deterministic(&context.workspace)
        .filter_map(|package| Some((package.name.clone(), package.targets("lib").next()?.name.clone())))
        .collect();
    let mut wanted = Vec::new();
    for (package, library) in &packages {
        let build =
            ["rustc", "--package", package, "--lib", "--target", WASM, "--crate-type", "cdylib", "--"];
        let command = context.cargo(&[&build[..], &LINK_EVERYTHING].concat());
        let ended = context.run(command)?;
        if !ended.success {
            let details = context.diagnostics(&ended);
            let remedy = format!("Make `cargo build -p {package} --target {WASM}` work.");
            return Err(Failure { summary: format!("{package} does not build"), details, remedy });
        }
        let module = context.workspace.target.join(WASM).join("debug").join(format!("{library}.wasm"));
        let imports = wasm::imports(&std::fs::read(&module)?).map_err(std::io::Error::other)?;
        wanted.extend(
            imports.iter().map(|import| format!("{package} imports {}::{}", import.module, import.name)),
        );
    }
    match wanted.len() {
        0 => Ok(counted(packages.len(), "crate", "crates")),
        count => Err(Failure {
            summary: counted(count, "import from the host", "imports from the host"),
            details: wanted,
            remedy:
                "Take out the dependency that asks the host for something: core computes, the shell waits."
                    .into(),
        }),
    }
}

fn wasm_is_installed(context: &mut Context) -> bool {
    let mut command = std::process::Command::new("rustc");
    command.args(["--print", "target-libdir", "--target", WASM]);
    let answer = context.run(command);
    // The folder alone proves nothing: removing a target leaves it behind empty.
    answer.is_ok_and(|ended| {
        let folder = ended.lines.first().map(|line| without_colour(line)).unwrap_or_default();
        ended.success && std::fs::read_dir(folder.trim()).is_ok_and(|mut files| files.next().is_some())
    })
}

fn outside(context: &mut Context) -> Result<String, Failure> {
    needs::component(context, "clippy", "clippy")?;
    let mut checked = Vec::new();
    for folder in OUTSIDE {
        if !has_manifest(context, folder) {
            continue;
        }
        let manifest = format!("{folder}/Cargo.toml");
        let mut command =
            context.cargo(&["clippy", "--manifest-path", &manifest, "--all-targets", "--", "-D", "warnings"]);
        // Linking a fuzz target needs libFuzzer and a C++ compiler; checking one does not.
        command.env("CUSTOM_LIBFUZZER_PATH", "/nonexistent/libfuzzer.a");
        let ended = context.run(command)?;
        if !ended.success {
            let details = context.diagnostics(&ended);
            let remedy =
                format!("{FIX_FIRST} Again: `cargo clippy --manifest-path {manifest} --all-targets`.");
            return Err(Failure { summary: format!("{folder}/ does not compile"), details, remedy });
        }
        checked.push(folder);
    }
    Ok(checked.join(", "))
}

fn compile(context: &mut Context, arguments: &[&str], again: &str) -> Result<String, Failure> {
    let command = context.cargo(arguments);
    let ended = context.run(command)?;
    if ended.success {
        return Ok(String::new());
    }
    let details = context.diagnostics(&ended);
    Err(Failure {
        summary: "there are warnings or errors".into(),
        details,
        remedy: format!("{FIX_FIRST} Again: `{again}`."),
    })
}

/// The crates that must compute the same everywhere; derives run inside the compiler and do not count.
fn deterministic(workspace: &Workspace) -> impl Iterator<Item = &Package> {
    workspace.packages.iter().filter(|package| {
        matches!(package.top(), "core" | "games") && package.targets("lib").next().is_some()
    })
}

fn has_manifest(context: &Context, folder: &str) -> bool {
    context.root.join(folder).join("Cargo.toml").is_file()
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
