//! Tests of the package in Node: those in `js/test/`, with the package as users install it.

#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, reason = "a failed step should stop the test")]

use std::path::{Path, PathBuf};
use std::process::Command;

use gaggle_web::js::bundle_js;

/// Tests that must have run at least: an empty run of Node passes.
const TESTS_MIN: usize = 30;
/// As in `engines` of `js/package.json`.
const NODE_MIN: u32 = 20;

/// Copies a folder with all folders in it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(path, to).unwrap();
        }
    }
}

/// A folder with the package installed and its sources beside it.
fn project() -> PathBuf {
    let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join("js_project");
    let _ = std::fs::remove_dir_all(&project);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    bundle_js(&here.join("../.."), &project.join("node_modules/gaggle-js")).unwrap();
    copy(&here.join("js"), &project.join("js"));
    // That of the package would make this folder the package.
    std::fs::remove_file(project.join("js/package.json")).unwrap();
    std::fs::write(project.join("package.json"), r#"{ "type": "module" }"#).unwrap();
    project
}

/// Panics unless this machine has a Node that the package supports.
fn check_node() {
    let ran = Command::new("node").arg("--version").output();
    let ran = ran.expect("Node is not on this machine: install the package `nodejs`, 20 or later");
    let version = String::from_utf8_lossy(&ran.stdout);
    let major = version.trim().trim_start_matches('v').split('.').next().and_then(|text| text.parse().ok());
    assert!(major.is_some_and(|major: u32| major >= NODE_MIN), "Node is {version}: install 20 or later");
}

#[test]
fn tests_of_package_pass_in_node() {
    check_node();
    let project = project();
    let files = std::fs::read_dir(project.join("js/test")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.to_string_lossy().ends_with(".test.js")).collect();
    files.sort();
    let ran = Command::new("node").args(["--test", "--test-reporter=tap"]).args(&files).output();
    let ran = ran.unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
    let passed = said.lines().find_map(|line| line.strip_prefix("# pass ")?.parse::<usize>().ok());
    assert!(passed.is_some_and(|passed| passed >= TESTS_MIN), "{passed:?} passed\n{said}");
}
