//! Embeds a page into the binary: the files of the folder that `GAGGLE_PAGE` names. Without it the
//! binary has none.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-env-changed=GAGGLE_PAGE");
    println!("cargo:rerun-if-changed=build.rs");
    let mut files = Vec::new();
    if let Some(folder) = env::var_os("GAGGLE_PAGE") {
        println!("cargo:rerun-if-changed={}", Path::new(&folder).display());
        collect(Path::new(&folder), "", &mut files);
    }
    files.sort();
    let entry = |(name, path): &(String, PathBuf)| format!("({name:?}, include_bytes!({path:?})),\n");
    let table: String = files.iter().map(entry).collect();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("page.rs");
    fs::write(out, format!("&[{table}]")).expect("OUT_DIR is writable");
}

/// All files below a folder, with the paths they are served at.
fn collect(folder: &Path, above: &str, files: &mut Vec<(String, PathBuf)>) {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("GAGGLE_PAGE: {}: {error}", folder.display()));
    for entry in entries.flatten() {
        let name = format!("{above}/{}", entry.file_name().to_string_lossy());
        let path = entry.path();
        if path.is_dir() {
            collect(&path, &name, files);
        } else if !entry.file_name().to_string_lossy().starts_with('.') {
            files.push((name, path.canonicalize().unwrap_or(path)));
        }
    }
}
