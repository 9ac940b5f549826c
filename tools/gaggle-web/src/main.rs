//! `gaggle-web play`: builds the arcade's page and serves it until it is stopped.

#![allow(clippy::print_stdout, reason = "it tells people where to look")]

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gaggle_web::bundle::bundle;
use gaggle_web::files::FileServer;

/// Taken if it is free.
const PORT: u16 = 8080;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let told = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["play"] => play(false),
        ["play", "--lan"] => play(true),
        _ => Err("usage: gaggle-web play [--lan]".to_string()),
    };
    match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn play(lan: bool) -> Result<(), String> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = out_directory(&workspace);
    bundle(&workspace, "arcade", None, &out)?;
    let page = workspace.join("shell/arcade/page/index.html");
    std::fs::copy(&page, out.join("index.html")).map_err(|error| format!("{}: {error}", page.display()))?;
    let address: IpAddr = if lan { [0, 0, 0, 0].into() } else { [127, 0, 0, 1].into() };
    let server =
        FileServer::on(address, PORT, &out, &[]).or_else(|_| FileServer::on(address, 0, &out, &[]))?;
    println!("\n  Gaggle is open at {}\n", server.url(""));
    if lan {
        println!("  Others on your network use this machine's address with the same port.\n");
    }
    println!("  Ctrl+C closes it.");
    loop {
        std::thread::park();
    }
}

fn out_directory(workspace: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    target.join("page/arcade")
}
