//! `cargo xtask test`: runs steps, reports each, and ends with `N passed, N failed`.
//!
//! `main` calls it. Absent: what steps check.

use std::process::ExitCode;

use crate::console::Console;
use crate::context::Context;
use crate::steps::{self, Depth, Step};
use crate::workspace::{self, Workspace};

/// Gigabytes that all steps together leave in `target/`.
const EVERYTHING_BUILT: u64 = 12;

/// Runs `cargo xtask test`.
pub(crate) fn command(arguments: &[&str]) -> ExitCode {
    let depth = [Depth::Long, Depth::Full].into_iter().find(|depth| arguments.contains(&depth.flag()));
    let depth = depth.unwrap_or(Depth::Usual);
    let names: Vec<&str> =
        arguments.iter().copied().filter(|argument| !["--full", "--long"].contains(argument)).collect();
    let root = workspace::root();
    let known: Vec<Step> = steps::all(&root).collect();
    if let Some(unknown) = names.iter().find(|name| !known.iter().any(|step| step.name == **name)) {
        let known: Vec<_> = known.iter().map(|step| step.name).collect();
        return crate::refuse(&format!("there is no step `{unknown}`; choose one of {}", known.join(", ")));
    }
    let workspace = match Workspace::load(&root) {
        Ok(workspace) => workspace,
        Err(error) => return crate::refuse(&error),
    };
    if let Err(full) = crate::disk::has_room_for(EVERYTHING_BUILT, &root) {
        return crate::refuse(&full);
    }
    let is_chosen =
        |step: &Step| if names.is_empty() { step.depth <= depth } else { names.contains(&step.name) };
    let chosen: Vec<Step> = known.into_iter().filter(is_chosen).collect();
    let mut context = Context::new(root, workspace, Console::stdout()).with_depth(depth);
    let failed = run_all(&mut context, &chosen);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs all steps in order, also after failures. Returns the number of failures.
fn run_all(context: &mut Context, steps: &[Step]) -> usize {
    let mut failed = 0;
    for step in steps {
        context.begin(step.name);
        let result = (step.run)(context);
        failed += usize::from(result.is_err());
        context.end(result);
    }
    context.console.gap();
    // Plain and alone on its line, because scripts look for it.
    context.console.line(&format!("{} passed, {failed} failed", steps.len() - failed));
    failed
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::{self, Write};
    use std::rc::Rc;

    use super::*;
    use crate::context::Failure;

    #[derive(Clone, Default)]
    struct Paper(Rc<RefCell<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn step(name: &'static str, run: fn(&mut Context) -> Result<String, Failure>) -> Step {
        Step { name, about: "", depth: Depth::Usual, place: "", run }
    }

    #[test]
    fn failed_step_is_explained_and_later_steps_run() {
        let paper = Paper::default();
        let mut context =
            Context::new("/nowhere".into(), Workspace::default(), Console::plain(paper.clone()));
        let failed = run_all(
            &mut context,
            &[
                step("first", |_| {
                    let details = vec!["line 3 is wrong".to_string()];
                    Err(Failure { summary: "1 wrong".into(), details, remedy: "Make line 3 right.".into() })
                }),
                step("second", |_| Ok("12 files".into())),
            ],
        );
        assert_eq!(failed, 1);
        let written = String::from_utf8(paper.0.borrow().clone()).unwrap();
        let expected = "\
✗ first        0.0 s  1 wrong

    line 3 is wrong

    → Make line 3 right.

✓ second       0.0 s  12 files

1 passed, 1 failed
";
        assert_eq!(written, expected);
    }
}
