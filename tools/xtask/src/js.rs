//! `cargo xtask js`: the npm packages for games in JavaScript.
//!
//! `main` calls it. Absent: how the package is made (`gaggle-web`).

use std::process::ExitCode;

use crate::workspace;

/// Builds the package and the starter of new games into `target/js` and prints how to use them.
pub(crate) fn command() -> ExitCode {
    let root = workspace::root();
    let out = workspace::target(&root).join("js");
    let mut build = workspace::cargo();
    build.args(["run", "--package", "gaggle-web", "--", "js"]).arg(&out).current_dir(root);
    let built = crate::hand_over(&mut build);
    if built == ExitCode::SUCCESS {
        let (starter, package) = (out.join("create-gaggle/index.js"), out.join("gaggle-js"));
        println!("\nA new game: node {} FOLDER --gaggle-js {}", starter.display(), package.display());
        println!("In a game that exists: npm install {}", package.display());
    }
    built
}
