//! Size of a page with links: module and glue, gzipped.
//!
//! `main` calls it. Absent: speed.

use std::path::Path;

use crate::cargo;

pub(crate) fn kilobytes(root: &Path) -> Result<f64, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/transport_page");
    let mut build = cargo();
    build.args([
        "run",
        "--quiet",
        "--package",
        "gaggle-web",
        "--",
        "example",
        "gaggle-browser",
        "transport_page",
    ]);
    let built = build.arg(&folder).current_dir(root).status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("the page does not build".into());
    }
    let size = |name: &str| {
        std::fs::metadata(folder.join(name)).map(|file| file.len()).map_err(|error| error.to_string())
    };
    Ok((size("transport_page_bg.wasm.gz")? + size("transport_page.js.gz")?) as f64 / 1_000.0)
}
