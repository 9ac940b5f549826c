//! Step `format`: rustfmt changes no file, in any of the workspaces. Absent: other style.

use super::counted;
use crate::context::{Context, Failure};
use crate::needs;

pub(super) fn run(context: &mut Context) -> Result<String, Failure> {
    needs::component(context, "rustfmt", "fmt")?;
    let root = format!("{}/", context.root.display());
    let mut unformatted = Vec::new();
    for folder in ["", "bench", "fuzz"] {
        let folder = context.root.join(folder);
        if !folder.join("Cargo.toml").is_file() {
            continue;
        }
        let mut command = context.cargo(&["fmt", "--all", "--", "--check", "-l"]);
        command.current_dir(folder);
        let ended = context.run(command)?;
        let files: Vec<&str> = ended.lines.iter().filter_map(|line| line.strip_prefix(&root)).collect();
        if !ended.success && files.is_empty() {
            return Err(context.failure(&ended, "rustfmt cannot read the code"));
        }
        unformatted.extend(files.into_iter().map(str::to_string));
    }
    // Path dependencies of an outer workspace are reported twice.
    unformatted.sort();
    unformatted.dedup();
    match unformatted.len() {
        0 => Ok(String::new()),
        count => Err(Failure {
            summary: counted(count, "file is not formatted", "files are not formatted"),
            remedy: remedy(&unformatted),
            details: unformatted,
        }),
    }
}

fn remedy(files: &[String]) -> String {
    let outside = |folder: &str| files.iter().any(|file| file.starts_with(&format!("{folder}/")));
    let commands = [("bench", outside("bench")), ("fuzz", outside("fuzz"))];
    let also =
        commands.iter().filter(|(_, is_named)| *is_named).map(|(folder, _)| format!(", also in {folder}/"));
    format!("Run `cargo fmt --all`{}.", also.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedy_names_unformatted_workspaces() {
        assert_eq!(remedy(&["core/a/src/lib.rs".into()]), "Run `cargo fmt --all`.");
        assert_eq!(remedy(&["bench/link/src/main.rs".into()]), "Run `cargo fmt --all`, also in bench/.");
    }
}
