//! The npm package of `shell/gaggle-js`: modules, glue and sources joined into files that a page or
//! Node loads.
//!
//! Called by `cargo xtask js` and by its tests. Absent: what the package does.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::bundle::{Build, Finish, Panics, build, make_glue};

/// Folder of the crate, from the root.
const CRATE: &str = "shell/gaggle-js";
/// Files that are copied into the package; the version of the workspace replaces `VERSION`.
const COPIED: [(&str, &str); 5] = [
    ("js/package.json", "package.json"),
    ("js/gaggle.d.ts", "gaggle.d.ts"),
    ("js/testing.d.ts", "testing.d.ts"),
    ("js/README.md", "README.md"),
    ("../../LICENSE", "LICENSE"),
];

/// Builds the package into `out`: one file and one module for pages, the same for tests in Node,
/// and one file with its module inside for pages without a bundler.
///
/// # Errors
/// Names the failed step; cargo's output is in the terminal.
pub fn bundle_js(workspace: &Path, out: &Path) -> Result<(), String> {
    let sources = Sources { folder: workspace.join(CRATE).join("js") };
    std::fs::create_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
    let page = make_module(workspace, out, "gaggle", &[])?;
    let testing = make_module(workspace, out, "testing", &["--features", "simulate"])?;
    let module = read(&out.join("gaggle_bg.wasm"))?;
    let version = version_of(workspace)?;

    let in_page = sources.joined("page", &[("load", "load-page")])?;
    let as_module = format!("{}{in_page}{}", glue_value(&page), exported(PAGE_NAMES));
    write(&out.join("gaggle.js"), as_module.replace("'VERSION'", &format!("'{version}'")))?;

    let inline = sources.joined("page", &[("load", "load-inline")])?;
    let inline = inline.replace("'MODULE'", &format!("'{}'", STANDARD.encode(gzip(&module)?)));
    let whole =
        format!("var gaggle = (() => {{\n{}{inline}return {{ {PAGE_NAMES} }};\n}})();\n", glue_value(&page));
    write(&out.join("gaggle.global.js"), whole.replace("'VERSION'", &format!("'{version}'")))?;

    let in_node = sources.joined("testing", &[("load", "load-node")])?;
    let for_tests = format!("{}{in_node}{}", glue_value(&testing), exported(TESTING_NAMES));
    write(&out.join("testing.js"), for_tests.replace("'VERSION'", &format!("'{version}'")))?;

    for (from, to) in COPIED {
        let text = String::from_utf8_lossy(&read(&workspace.join(CRATE).join(from))?).into_owned();
        write(&out.join(to), text.replace("VERSION", &version))?;
    }
    Ok(())
}

/// Copies the starter of new games, `npm create gaggle`, into `out`.
///
/// # Errors
/// If a file cannot be read or written.
pub fn bundle_starter(workspace: &Path, out: &Path) -> Result<(), String> {
    let from = workspace.join(CRATE).join("create-gaggle");
    copy_folder(&from, out)?;
    for file in ["package.json", "index.js"] {
        let text = String::from_utf8_lossy(&read(&from.join(file))?).into_owned();
        write(&out.join(file), text.replace("VERSION", &version_of(workspace)?))?;
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    std::fs::create_dir_all(to).map_err(failed)?;
    for entry in std::fs::read_dir(from).map_err(failed)?.flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &to)?;
        } else {
            std::fs::copy(&path, &to).map_err(failed)?;
        }
    }
    Ok(())
}

/// Names that the package exports for pages.
const PAGE_NAMES: &str = "open, openReplay, load, checkDeterminism, Room, Replay, GameError";
/// Names that it exports for tests.
const TESTING_NAMES: &str = "simulate, openReplay, checkDeterminism, Room, Replay, GameError";

fn exported(names: &str) -> String {
    format!("export {{ {names} }};\n")
}

/// Builds one module of the crate. Its glue is returned instead of written.
fn make_module(workspace: &Path, out: &Path, name: &str, features: &[&str]) -> Result<String, String> {
    // Both modules have one name in cargo's folder, and tests build them in parallel.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _alone = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let built = build(workspace, Build::Small, "gaggle-js", &[&["--lib"], features].concat())?;
    let finish = Finish { panics: Panics::Trap, is_short: true };
    make_glue(&built.join("gaggle_js.wasm"), name, out, finish)?;
    let glue = out.join(format!("{name}.js"));
    String::from_utf8(read(&glue)?).map_err(|error| format!("{}: {error}", glue.display()))
}

/// The glue as one value, because its names are those of our classes.
fn glue_value(glue: &str) -> String {
    let mut names = Vec::new();
    let mut body = String::new();
    for line in glue.lines() {
        let Some(rest) = line.strip_prefix("export ") else {
            body += line;
            body.push('\n');
            continue;
        };
        if rest.starts_with('{') {
            let listed = rest.trim_matches(['{', '}', ';', ' ']).split(',').map(str::trim);
            names.extend(listed.map(|name| match name.split_once(" as ") {
                Some((own, "default")) => format!("init: {own}"),
                Some((own, other)) => format!("{other}: {own}"),
                None => name.to_string(),
            }));
            continue;
        }
        let name = rest.split_whitespace().nth(1).unwrap_or_default();
        names.push(name.split(['(', '{']).next().unwrap_or_default().to_string());
        body += rest;
        body.push('\n');
    }
    let names = names.join(", ");
    format!("const glue = (() => {{\n{body}return {{ {names} }};\n}})();\n")
}

/// Source files of the package. Each imports names from files beside it, and no two files have one
/// name at their top.
struct Sources {
    folder: PathBuf,
}

/// What was joined so far.
#[derive(Default)]
struct Joined {
    files: Vec<String>,
    /// Names at the top of these files.
    names: Vec<String>,
    text: String,
}

impl Sources {
    /// A file with all it imports, each before the first that needs it. `instead` replaces files.
    fn joined(&self, entry: &str, instead: &[(&str, &str)]) -> Result<String, String> {
        let mut joined = Joined::default();
        self.add(entry, instead, &mut joined)?;
        Ok(joined.text)
    }

    fn add(&self, name: &str, instead: &[(&str, &str)], joined: &mut Joined) -> Result<(), String> {
        let name = instead.iter().find(|(from, _)| *from == name).map_or(name, |(_, to)| to);
        if joined.files.iter().any(|other| other == name) {
            return Ok(());
        }
        joined.files.push(name.to_string());
        let path = self.folder.join(format!("{name}.js"));
        let source = String::from_utf8_lossy(&read(&path)?).into_owned();
        let mut own = String::new();
        for line in source.lines() {
            let trimmed = line.trim_start();
            if let Some(import) = trimmed.strip_prefix("import {") {
                let from = import.split("'./").nth(1).and_then(|rest| rest.split(".js'").next());
                let from = from.ok_or_else(|| format!("{}: not understood: {line}", path.display()))?;
                self.add(from, instead, joined)?;
            } else if !trimmed.is_empty() && !is_comment(trimmed) {
                if let Some(name) = declared(line).filter(|name| !name.is_empty()) {
                    if joined.names.iter().any(|other| other == name) {
                        return Err(format!("{}: another file has `{name}` at its top", path.display()));
                    }
                    joined.names.push(name.to_string());
                }
                own += trimmed.strip_prefix("export ").filter(|_| line == trimmed).unwrap_or(trimmed);
                own.push('\n');
            }
        }
        joined.text += &own;
        Ok(())
    }
}

/// Name that a line at the top of a file declares.
fn declared(line: &str) -> Option<&str> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let starts = ["const ", "let ", "class ", "function ", "async function "];
    let rest = starts.iter().find_map(|start| line.strip_prefix(start))?;
    rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

fn is_comment(line: &str) -> bool {
    line.starts_with("//") || line.starts_with("/**") && line.ends_with("*/")
}

fn version_of(workspace: &Path) -> Result<String, String> {
    let manifest = String::from_utf8_lossy(&read(&workspace.join("Cargo.toml"))?).into_owned();
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    version.map(str::to_string).ok_or_else(|| "Cargo.toml has no version".to_string())
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).map_err(|error| error.to_string())
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: String) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glue_becomes_one_value_with_its_exports() {
        let glue = "export class Room {\n}\nexport function mathSin(x) {\n}\nlet wasm;\n\
                    export { initSync, start as default };\n";
        let value = glue_value(glue);
        assert!(
            value.starts_with("const glue = (() => {\nclass Room {\n}\nfunction mathSin(x) {\n}\n"),
            "{value}"
        );
        assert!(value.ends_with("return { Room, mathSin, initSync, init: start };\n})();\n"), "{value}");
    }

    #[test]
    fn sources_are_joined_in_order_of_their_imports() {
        let folder = std::env::temp_dir().join(format!("gaggle-js-sources-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        file(
            "a.js",
            "// About.\nimport { b } from './b.js';\nimport { c } from './c.js';\nexport const a = b + c;\n",
        );
        file("b.js", "import { c } from './c.js';\n/** One. */\nexport const b = c;\n");
        file("c.js", "export const c = 1;\n");
        file("other.js", "export const c = 2;\n");
        let sources = Sources { folder: folder.clone() };
        assert_eq!(sources.joined("a", &[]).unwrap(), "const c = 1;\nconst b = c;\nconst a = b + c;\n");
        let other = sources.joined("a", &[("c", "other")]).unwrap();
        assert!(other.starts_with("const c = 2;\nconst b"), "{other}");
        file("b.js", "import { c } from './c.js';\nexport const b = c;\nfunction a() {\n}\n");
        let twice = sources.joined("a", &[]).unwrap_err();
        assert!(twice.ends_with("a.js: another file has `a` at its top"), "{twice}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
