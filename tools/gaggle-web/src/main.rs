//! Pages for a server: `gaggle-web arcade OUT [ADDRESS]` builds the arcade's, `gaggle-web program
//! CRATE OUT` that of any crate, `gaggle-web example PACKAGE NAME OUT` that of an example,
//! `gaggle-web js OUT` the npm packages. `--local` before them builds faster and larger. Absent:
//! serving.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gaggle_web::bundle::{Build, bundle_arcade, bundle_example, bundle_program, write_page};
use gaggle_web::js::{bundle_js, bundle_starter};
use gaggle_web::pack::pack;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let told = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["arcade", folder] => bundle_arcade(&workspace(), Path::new(folder), "", Build::Small),
        ["arcade", folder, base] => bundle_arcade(&workspace(), Path::new(folder), base, Build::Small),
        ["--local", "arcade", folder] => bundle_arcade(&workspace(), Path::new(folder), "", Build::Local),
        ["program", folder, out] => bundle_program(Path::new(folder), Path::new(out), Build::Small)
            .and_then(|()| pack(Path::new(out))),
        ["--local", "program", folder, out] => {
            bundle_program(Path::new(folder), Path::new(out), Build::Local)
        }
        ["js", folder] => bundle_js(&workspace(), &Path::new(folder).join("gaggle-js"))
            .and_then(|()| bundle_starter(&workspace(), &Path::new(folder).join("create-gaggle"))),
        ["example", package, name, out] => example(package, name, Path::new(out)),
        _ => Err("usage: gaggle-web [--local] arcade OUT [ADDRESS], gaggle-web [--local] program CRATE \
                  OUT, gaggle-web js OUT, or gaggle-web example PACKAGE NAME OUT"
            .to_string()),
    };
    match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn example(package: &str, name: &str, folder: &Path) -> Result<(), String> {
    bundle_example(&workspace(), package, name, folder)?;
    write_page(name, folder)?;
    pack(folder)
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
