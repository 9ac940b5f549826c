//! The project's files, read once for all checks.
//!
//! Step `tidy` and `cargo xtask ratchet` load it. Absent: what is checked.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

/// Files of the project, by path from the root.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: Vec<File>,
}

/// One file of the tree.
#[derive(Debug)]
pub(crate) struct File {
    /// Path from the root with forward slashes.
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// Content; empty for binary files.
    pub(crate) text: String,
}

impl Tree {
    /// Reads the files git knows or would add; without git, all that are not hidden or built.
    pub(crate) fn load(root: &Path) -> io::Result<Tree> {
        let mut paths = match git_files(root) {
            Some(paths) => paths,
            None => walk(root)?,
        };
        paths.sort();
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            // Git lists a deleted file until the deletion is staged.
            let Ok(content) = fs::read(root.join(&path)) else { continue };
            let bytes = content.len() as u64;
            files.push(File { path, bytes, text: String::from_utf8(content).unwrap_or_default() });
        }
        Ok(Tree { files })
    }

    /// A made-up project for a test.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let file = |&(path, text): &(&str, &str)| File {
            path: path.into(),
            bytes: text.len() as u64,
            text: text.into(),
        };
        Tree { files: files.iter().map(file).collect() }
    }

    /// Number of files.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// All files, by path.
    pub(crate) fn files(&self) -> impl Iterator<Item = &File> {
        self.files.iter()
    }

    /// Files whose name has this ending.
    pub(crate) fn ending<'a>(&'a self, ending: &'a str) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |file| file.path.ends_with(ending))
    }

    /// The text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }
}

impl File {
    /// Lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

fn git_files(root: &Path) -> Option<Vec<String>> {
    if !root.join(".git").exists() {
        // Inside another project's repository its ignore rules would apply.
        return None;
    }
    // In containers the folder often belongs to another user, which git rejects unless told.
    let output = Command::new("git")
        .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()?;
    let paths = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| paths.split_terminator('\0').map(str::to_string).collect())
}

fn walk(root: &Path) -> io::Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            if entry.file_type()?.is_file() {
                paths.push(path);
            } else if entry.file_type()?.is_dir() && name != "target" && name != ".git" {
                folders.push(path);
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_and_walk_agree_on_this_file() {
        let root = crate::workspace::root();
        let here = "tools/xtask/src/tidy/tree.rs".to_string();
        assert!(walk(&root).unwrap().contains(&here));
        let tree = Tree::load(&root).unwrap();
        assert!(tree.text(&here).unwrap().starts_with("//! The project's files"));
        assert!(tree.files().all(|file| !file.path.starts_with("target/")));
    }
}
