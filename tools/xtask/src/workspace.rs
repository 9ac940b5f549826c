//! Packages of a workspace as cargo reports them: folders, dependencies, targets.
//!
//! Commands, steps and tidy checks ask it. Absent: what the packages do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The project's workspace, or one beside it (`bench/`, `fuzz/`).
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// Target folder of cargo.
    pub(crate) target: PathBuf,
    /// Members, by name.
    pub(crate) packages: Vec<Package>,
}

/// Manifest keys that a registry shows.
const SHOWN: [&str; 6] = ["description", "repository", "documentation", "readme", "keywords", "categories"];

/// One member of a workspace.
#[derive(Debug, Default, Clone)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Description from its manifest, one line.
    pub(crate) description: String,
    /// Path from the root with forward slashes: `core/gaggle-kit`.
    pub(crate) folder: String,
    /// Whether it is published: no `publish = false`.
    pub(crate) is_published: bool,
    /// Keys that a registry shows and its manifest lacks.
    pub(crate) lacks: Vec<&'static str>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
    /// `[package.metadata.programs]`: programs its tests run, with their Debian packages.
    pub(crate) programs: BTreeMap<String, String>,
    /// `[package.metadata.programs-for-root]`: programs of tests that only root can run.
    pub(crate) programs_for_root: BTreeMap<String, String>,
}

/// A dependency as the manifest states it.
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Whether only tests, examples and benches use it.
    pub(crate) dev: bool,
    /// Whether it requires exactly one version: `=1.2.3`.
    pub(crate) is_pinned: bool,
}

/// A library, program, example or test of a package.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) name: String,
    /// `lib` for all libraries except a `proc-macro`, else `bin`, `example`, `test` …
    pub(crate) kind: String,
}

impl Workspace {
    /// Asks cargo about the workspace in `root`. Builds and fetches nothing.
    pub(crate) fn load(root: &Path) -> Result<Workspace, String> {
        let output = cargo()
            .args(["metadata", "--format-version", "1", "--no-deps"])
            .current_dir(root)
            .output()
            .map_err(|error| format!("cargo does not start: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_string());
        }
        let metadata = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        Ok(Workspace::from_metadata(&metadata))
    }

    /// The package with this name.
    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }

    fn from_metadata(metadata: &Value) -> Workspace {
        let root = PathBuf::from(text(metadata, "workspace_root"));
        let packages =
            list(metadata, "packages").map(|package| Package::from_metadata(package, &root)).collect();
        Workspace { target: text(metadata, "target_directory").into(), packages }
    }
}

impl Package {
    /// Top folder of the package, which decides its rules.
    pub(crate) fn top(&self) -> &str {
        self.folder.split('/').next().unwrap_or_default()
    }

    /// Targets of one kind.
    pub(crate) fn targets<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Target> {
        self.targets.iter().filter(move |target| target.kind == kind)
    }

    fn from_metadata(package: &Value, root: &Path) -> Package {
        let manifest = PathBuf::from(text(package, "manifest_path"));
        let folder =
            manifest.parent().and_then(|folder| folder.strip_prefix(root).ok()).unwrap_or(Path::new(""));
        let dependencies = list(package, "dependencies")
            .map(|edge| Dependency {
                name: text(edge, "name"),
                dev: edge["kind"] == "dev",
                is_pinned: text(edge, "req").starts_with('='),
            })
            .collect();
        let is_empty = |value: &Value| {
            value.is_null() || value.as_str() == Some("") || value.as_array().is_some_and(Vec::is_empty)
        };
        let lacks = SHOWN.into_iter().filter(|key| is_empty(&package[*key])).collect();
        let targets = list(package, "targets")
            .map(|target| Target { name: text(target, "name"), kind: kind(target) })
            .collect();
        let programs = |key: &str| {
            let named = package["metadata"][key].as_object().into_iter().flatten();
            named
                .map(|(program, debian)| (program.clone(), debian.as_str().unwrap_or(program).to_string()))
                .collect()
        };
        Package {
            name: text(package, "name"),
            description: text(package, "description"),
            folder: folder.to_string_lossy().replace('\\', "/"),
            is_published: package["publish"].is_null(),
            lacks,
            dependencies,
            targets,
            programs: programs("programs"),
            programs_for_root: programs("programs-for-root"),
        }
    }
}

/// The cargo that runs this program, so that a `+toolchain` holds for its children.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Root folder of the project.
pub(crate) fn root() -> PathBuf {
    // At run time if possible, because checkouts may share a target folder.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&here).ancestors().nth(2).expect("xtask lives two folders below the root").to_path_buf()
}

/// Target folder of cargo.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

fn kind(target: &Value) -> String {
    match target["kind"][0].as_str().unwrap_or_default() {
        "rlib" | "cdylib" | "dylib" | "staticlib" => "lib".to_string(),
        kind => kind.to_string(),
    }
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_string()
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_workspace_is_read_from_cargo() {
        let workspace = Workspace::load(&root()).unwrap();
        let kit = workspace.package("gaggle-kit").unwrap();
        assert_eq!((kit.folder.as_str(), kit.top()), ("core/gaggle-kit", "core"));
        assert_eq!(kit.targets("lib").count(), 1);
        assert_eq!(workspace.package("xtask").unwrap().top(), "tools");
        assert!(workspace.target.is_absolute());
    }

    #[test]
    fn dev_dependencies_and_programs_are_read_from_manifest() {
        let metadata = serde_json::json!({
            "workspace_root": "/w", "target_directory": "/w/target",
            "packages": [{
                "name": "page", "manifest_path": "/w/shell/page/Cargo.toml",
                "dependencies": [{ "name": "a", "kind": null }, { "name": "b", "kind": "dev" }],
                "targets": [], "metadata": { "programs": { "nft": "nftables" }, "programs-for-root": { "ip": "iproute2" } },
            }],
        });
        let workspace = Workspace::from_metadata(&metadata);
        let page = &workspace.packages[0];
        assert_eq!(page.folder, "shell/page");
        assert_eq!(page.dependencies.iter().map(|edge| edge.dev).collect::<Vec<_>>(), [false, true]);
        assert_eq!(page.programs["nft"], "nftables");
        assert_eq!((page.programs.len(), page.programs_for_root["ip"].as_str()), (1, "iproute2"));
    }
}
