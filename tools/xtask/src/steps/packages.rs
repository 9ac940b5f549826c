//! Step `packages`: published crates build from their packages, against the other packages.
//!
//! Absent: what manifests must contain (`tidy/packages.rs`).

use crate::context::{Context, Failure};
use crate::steps::counted;

/// Packages and builds all published crates.
pub(super) fn run(context: &mut Context) -> Result<String, Failure> {
    let mut arguments = vec!["package".to_string(), "--workspace".to_string(), "--allow-dirty".to_string()];
    let mut count = 0;
    for package in &context.workspace.packages {
        if package.is_published {
            count += 1;
        } else {
            arguments.extend(["--exclude".to_string(), package.name.clone()]);
        }
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let command = context.cargo(&arguments);
    context.check(command, "a crate cannot be packaged")?;
    Ok(counted(count, "package", "packages"))
}
