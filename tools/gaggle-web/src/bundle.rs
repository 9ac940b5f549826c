//! Builds pages: WASM module, JavaScript of wasm-bindgen (the glue), other files and version,
//! packed for a server.
//!
//! Called by `cargo xtask play` and `server` and by browser tests. Absent: what pages show.

use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
/// Version of wasm-bindgen that a module must use: that of the linked generator of the glue.
const GLUE: &str = "0.2.130";

/// Kind of build of the module of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// For deployment: the smallest module, compressed, without panic messages.
    Small,
    /// For local use: builds several times as fast, uncompressed, with names and panic messages.
    Local,
}

impl Build {
    /// Name of the cargo profile and of its folder.
    const fn profile(self) -> &'static str {
        match self {
            Build::Small => "page",
            Build::Local => "local",
        }
    }

    /// Settings of the profile, for workspaces that do not define it.
    const fn settings(self) -> [&'static str; 6] {
        match self {
            Build::Small => [
                r#"profile.page.inherits="release""#,
                r#"profile.page.opt-level="z""#,
                r#"profile.page.lto="fat""#,
                "profile.page.codegen-units=1",
                r#"profile.page.panic="abort""#,
                "profile.page.debug=false",
            ],
            Build::Local => [
                r#"profile.local.inherits="release""#,
                "profile.local.opt-level=1",
                "profile.local.lto=false",
                "profile.local.incremental=true",
                r#"profile.local.panic="abort""#,
                "profile.local.debug=false",
            ],
        }
    }
}

/// Builds an example of `package` for the browser into `NAME.js` and `NAME_bg.wasm` in `out`.
///
/// # Errors
/// Names the failed step; cargo's output is in the terminal.
pub fn bundle_example(workspace: &Path, package: &str, example: &str, out: &Path) -> Result<(), String> {
    let built = build(workspace, Build::Small, package, &["--example", example])?;
    let module = built.join("examples").join(format!("{example}.wasm"));
    make_glue(&module, example, out, Finish { panics: Panics::Report, is_short: true })
}

/// Builds the whole page of the arcade into `out`, packed: one module per game, loaded on demand.
/// `base` is the future address of the page, as `https://play.example.org/`: the preview picture of
/// a link needs a full address. Empty keeps it relative.
///
/// # Errors
/// Names the failed step; cargo's output is in the terminal.
pub fn bundle_arcade(workspace: &Path, out: &Path, base: &str, kind: Build) -> Result<(), String> {
    let folder = workspace.join("apps/arcade");
    let built = build(workspace, kind, "arcade", &["--bins"])?;
    // Games whose host starts the matches, with code that the pages of others need not carry.
    build(workspace, kind, "arcade", &["--bin", "arcade-skein", "--features", "host-starts"])?;
    let finish = match kind {
        Build::Small => Finish { panics: Panics::Trap, is_short: true },
        Build::Local => Finish { panics: Panics::Report, is_short: false },
    };
    let programs = std::fs::read_dir(folder.join("src/bin"));
    let programs = programs.map_err(|error| format!("{}: {error}", folder.display()))?;
    for program in programs.flatten() {
        let name = program.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        make_glue(&built.join(format!("{name}.wasm")), &name, out, finish)?;
    }
    copy_page(&folder.join("page"), out, base)?;
    match kind {
        Build::Small => crate::pack::pack(out),
        Build::Local => Ok(()),
    }
}

/// Copies the files of the page. Addresses of modules contain the version, so that browsers may
/// cache them.
fn copy_page(from: &Path, out: &Path, base: &str) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let version = version_of(out).map_err(|error| failed(out, error))?;
    for entry in std::fs::read_dir(from).map_err(|error| failed(from, error))?.flatten() {
        let (path, to) = (entry.path(), out.join(entry.file_name()));
        let mut bytes = std::fs::read(&path).map_err(|error| failed(&path, error))?;
        if let Some(text) = str::from_utf8(&bytes).ok().filter(|_| path.extension() != Some("png".as_ref())) {
            let is_script =
                path.extension().is_some_and(|kind| kind == "js" || kind == "css" || kind == "html");
            let text = if is_script { bare_script(text) } else { text.to_string() };
            bytes = text
                .replace("'VERSION'", &format!("'{version}'"))
                .replace("BASEcard", &format!("{}card", folder_of(base)))
                .into_bytes();
        }
        std::fs::write(&to, bytes).map_err(|error| failed(&to, error))?;
    }
    Ok(())
}

/// Strips comment lines and indents of a script, style sheet or page. Inside a multi-line template
/// literal, indentation stays.
fn bare_script(text: &str) -> String {
    if text.lines().any(|line| line.matches('`').count() % 2 == 1) {
        return text.to_string();
    }
    let is_comment = |line: &str| line.starts_with("//") || line.starts_with("/*") && line.ends_with("*/");
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_comment(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Adds a slash to the end of an address, for file names to follow.
fn folder_of(base: &str) -> String {
    if base.is_empty() || base.ends_with('/') { base.to_string() } else { format!("{base}/") }
}

/// Version of the page: a hash of all modules and glues.
fn version_of(out: &Path) -> Result<String, std::io::Error> {
    let is_module = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("arcade-") && (name.ends_with(".js") || name.ends_with(".wasm"))
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(out)?.flatten().map(|entry| entry.path()).collect();
    files.retain(is_module);
    files.sort();
    // FNV-1a: no attacker chooses the input, so it only has to differ.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        for byte in std::fs::read(file)? {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    Ok(format!("{hash:016x}"))
}

/// Builds parts of a package for the browser. Returns the folder of its modules.
pub(crate) fn build(workspace: &Path, kind: Build, package: &str, parts: &[&str]) -> Result<PathBuf, String> {
    ensure_target()?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace).args(["build", "--profile", kind.profile(), "--target", TARGET]);
    cargo.args(["--package", package]).args(parts);
    // Flags for the host (coverage, a linker) break the WASM build.
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    let status = cargo.status().map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!("{package} does not build for the browser"));
    }
    Ok(target.join(TARGET).join(kind.profile()))
}

/// Handling of panics in a page.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Panics {
    /// A trap without a message, for pages without a panic hook.
    Trap,
    /// The program's panic hook.
    Report,
}

/// Steps after generating the glue.
#[derive(Clone, Copy)]
pub(crate) struct Finish {
    pub(crate) panics: Panics,
    /// Whether names are shortened and comments removed.
    pub(crate) is_short: bool,
}

pub(crate) fn make_glue(module: &Path, name: &str, out: &Path, finish: Finish) -> Result<(), String> {
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    let made = bindgen.input_path(module).web(true).and_then(|bindgen| {
        let mut made =
            bindgen.typescript(false).out_name(name).remove_name_section(true).generate_output()?;
        if finish.panics == Panics::Trap {
            crate::panics::cut_panics(made.wasm_mut());
        }
        made.emit(out)
    });
    made.map_err(|error| format!("the glue for {} cannot be made: {error:#}", module.display()))?;
    if finish.is_short { crate::shorten::shorten(out, name) } else { Ok(()) }
}

/// HTML of a module that makes its own canvas. Style and script are separate files, so that servers
/// may forbid inline ones.
const PAGE: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>NAME</title>
<link rel="stylesheet" href="page.css">
</head>
<body>
<script type="module" src="page.js"></script>
</body>
</html>
"#;

/// Style sheet of the page.
const STYLE: &str = "body { margin: 0; height: 100vh; display: grid; place-items: center; background: #080a10; \
                     color: #ccd; font: 16px monospace; }\n\
                     canvas { width: min(100vw, 177.78vh); image-rendering: pixelated; }\n";

/// Script of the page.
const SCRIPT: &str = "import init from './MODULE.js';
await init({ module_or_path: 'MODULE_bg.wasm' });
document.documentElement.dataset.ready = 'yes';
";

/// Builds the program of any crate, in `folder`, for the browser into a whole page in `out`:
/// module, glue and `index.html`, the own one of the crate if there is one.
///
/// # Errors
/// Names the failed step; cargo's output is in the terminal.
pub fn bundle_program(folder: &Path, out: &Path, kind: Build) -> Result<(), String> {
    ensure_target()?;
    let cargo = || Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let manifest = folder.join("Cargo.toml");
    let metadata = cargo()
        .args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"])
        .arg(&manifest)
        .output()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !metadata.status.success() {
        return Err(format!("{}: {}", manifest.display(), String::from_utf8_lossy(&metadata.stderr).trim()));
    }
    let metadata: serde_json::Value =
        serde_json::from_slice(&metadata.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let name = program(&metadata, &manifest).ok_or_else(|| {
        format!("{} has no program: a page begins in `fn main` of src/main.rs", manifest.display())
    })?;
    let root = PathBuf::from(metadata["workspace_root"].as_str().unwrap_or_default());
    let lock = root.join("Cargo.lock");
    if !lock.exists() {
        // Our versions, which work together; cargo drops those that the crate does not need.
        let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
        std::fs::copy(&ours, &lock).map_err(|error| format!("{}: {error}", lock.display()))?;
    }
    let mut build = cargo();
    build.args(["build", "--profile", kind.profile(), "--target", TARGET, "--bin", &name]);
    build.arg("--manifest-path");
    build.arg(&manifest).env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    kind.settings().iter().for_each(|setting| _ = build.args(["--config", setting]));
    let status = build.status().map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!("{name} does not build for the browser"));
    }
    check_glue(&std::fs::read_to_string(&lock).unwrap_or_default())?;
    let target = PathBuf::from(metadata["target_directory"].as_str().unwrap_or("target"));
    let module = target.join(TARGET).join(kind.profile()).join(format!("{name}.wasm"));
    let glue = name.replace('-', "_");
    let is_short = kind == Build::Small;
    make_glue(&module, &glue, out, Finish { panics: Panics::Report, is_short })?;
    match std::fs::copy(folder.join("index.html"), out.join("index.html")) {
        Ok(_) => Ok(()),
        Err(_) => write_page(&name, out),
    }
}

/// Checks that the wasm-bindgen in a lock file is the version that the generator of the glue reads.
fn check_glue(lock: &str) -> Result<(), String> {
    let mut lines = lock.lines().skip_while(|line| *line != "name = \"wasm-bindgen\"");
    let version = lines.nth(1).and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    match version {
        Some(version) if version != GLUE => Err(format!(
            "Cargo.lock has wasm-bindgen {version}, and pages are made with {GLUE}; add `wasm-bindgen = \"={GLUE}\"` to \
             the crate's dependencies"
        )),
        _ => Ok(()),
    }
}

/// Writes a page into `out` for the module of this name there, which makes its own canvas.
///
/// # Errors
/// If a file cannot be written.
pub fn write_page(name: &str, out: &Path) -> Result<(), String> {
    let script = SCRIPT.replace("MODULE", &name.replace('-', "_"));
    for (file, text) in
        [("index.html", PAGE.replace("NAME", name)), ("page.css", STYLE.to_string()), ("page.js", script)]
    {
        let path = out.join(file);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Name of the program in a manifest's package.
fn program(metadata: &serde_json::Value, manifest: &Path) -> Option<String> {
    let manifest = manifest.canonicalize().ok()?;
    let is_it = |package: &&serde_json::Value| {
        package["manifest_path"]
            .as_str()
            .is_some_and(|path| Path::new(path).canonicalize().is_ok_and(|path| path == manifest))
    };
    let package = metadata["packages"].as_array()?.iter().find(is_it)?;
    let is_program = |target: &&serde_json::Value| target["kind"][0] == "bin";
    package["targets"].as_array()?.iter().find(is_program)?["name"].as_str().map(str::to_string)
}

/// Installs the standard library for the browser's target if it is missing.
fn ensure_target() -> Result<(), String> {
    let folder = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    let folder = folder.map_err(|error| format!("rustc cannot be started: {error}"))?.stdout;
    let folder = String::from_utf8_lossy(&folder).trim().to_string();
    // An empty folder remains after a target is removed, so the folder alone proves nothing.
    if std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some()) {
        return Ok(());
    }
    let added = Command::new("rustup").args(["target", "add", TARGET]).status();
    match added {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("the target {TARGET} is missing: run `rustup target add {TARGET}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_wasm_bindgen_in_lock_is_error_with_advice() {
        let lock = |version: &str| {
            format!(
                "[[package]]\nname = \"web\"\nversion = \"1\"\n\n[[package]]\nname = \"wasm-bindgen\"\nversion = \"{version}\"\n"
            )
        };
        assert_eq!((check_glue(&lock(GLUE)), check_glue("")), (Ok(()), Ok(())));
        let error = check_glue(&lock("0.2.9")).unwrap_err();
        assert!(error.contains("has wasm-bindgen 0.2.9") && error.contains(GLUE), "{error}");
    }

    #[test]
    fn glue_version_is_that_of_manifest_and_lock() {
        let manifest = include_str!("../Cargo.toml");
        assert!(manifest.contains(&format!("wasm-bindgen-cli-support = \"={GLUE}\"")));
        assert_eq!(check_glue(include_str!("../../../Cargo.lock")), Ok(()));
    }

    #[test]
    fn picture_of_page_with_known_address_has_full_address() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/arcade/page");
        let out = std::env::temp_dir().join(format!("gaggle-bundle-{}", std::process::id()));
        std::fs::create_dir_all(&out).expect("a folder");
        for (base, named) in [
            ("", "card.png"),
            ("https://play.example.org", "https://play.example.org/card.png"),
            ("https://example.org/play/", "https://example.org/play/card.png"),
        ] {
            copy_page(&page, &out, base).expect("copied");
            let html = std::fs::read_to_string(out.join("index.html")).expect("the page");
            for script in ["page.js", "start.js", "sw.js", "page.css"] {
                let text = std::fs::read_to_string(out.join(script)).expect("a script");
                assert!(!text.is_empty() && !text.lines().any(|line| line.starts_with("//")), "{script}");
                assert!(!text.contains("/*") && !text.contains("\n "), "{script}: {text}");
            }
            assert!(html.contains(&format!("property=\"og:image\" content=\"{named}\"")), "{html}");
        }
        std::fs::remove_dir_all(&out).expect("removed");
    }
}
