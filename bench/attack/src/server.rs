//! The attacked server: as shipped, with its limits, in a process of its own.
//!
//! All parts start one. Absent: attacks.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use base64ct::{Base64UrlUnpadded, Encoding};
use gaggle_kit::PeerId;
use gaggle_lobby::{Claims, TicketSigner};
use rustls::crypto::ring::default_provider;
use rustls::{ClientConfig, RootCertStore};

use crate::client::Target;
use crate::process::Process;

/// Secret of the tickets, so that honest clients of the relay need no lobby.
const SECRET: [u8; 32] = [7; 32];
/// Token of this server's operator.
const OPERATOR_TOKEN: &str = "Zk8vQ2xW5nT7pLr3Jy6Hc9Bd";
/// Bytes of the large file: larger than any file of an arcade, but reading it for each request does
/// not exhaust the machine.
const LARGE_BYTES: usize = 24 << 20;
/// Bytes of the large file in tests, which start many servers.
const LARGE_BYTES_DEBUG: usize = 2 << 20;
/// A mode that matches by skill in rooms of eight, and one that allows every score, so that only
/// the reports of players count.
const GAMES: &str = "[games.siege.modes.skill]\nplayers = 8\nskill = true\ndrop_in = false\n\
                     [games.siege.modes.team]\nplayers = 4\nscore_min = -1000000000\nscore_max = 10000000\n\
                     score_per_second_max = 10000000\n";

/// Tells a child process that the server is built. Not `GAGGLE_…`, which are settings of the
/// server.
pub(crate) const IS_BUILT: &str = "ATTACK_BENCH_IS_BUILT";

/// Build of the server: as shipped, or as the workspace's tests have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Build {
    Release,
    Debug,
}

/// A running server and how to connect to it.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) target: Target,
    folder: PathBuf,
}

impl Server {
    pub(crate) fn start(build: Build) -> Result<Server, String> {
        Server::start_with(build, IpAddr::V4(Ipv4Addr::LOCALHOST), false, &[])
    }

    /// Starts it at this address, with TLS if asked for, and with more settings.
    pub(crate) fn start_with(build: Build, at: IpAddr, tls: bool, more: &[&str]) -> Result<Server, String> {
        let program = build_server(build)?;
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let nth = STARTED.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("gaggle-attack-{}-{nth}", std::process::id()));
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        let files = files(&folder, build).map_err(failed)?;
        let config = folder.join("server.toml");
        std::fs::write(&config, GAMES).map_err(failed)?;
        let mut command = Command::new(program);
        command.args(["--listen", &SocketAddr::from((at, 0)).to_string(), "--log", "error"]);
        command.arg("--config").arg(config).arg("--data").arg(folder.join("data")).arg("--files").arg(files);
        command.args(["--ticket-secret", &Base64UrlUnpadded::encode_string(&SECRET)]);
        command.args(["--operator-token", OPERATOR_TOKEN]).args(more);
        let tls = match tls {
            true => Some(certificate(&folder, &mut command)?),
            false => None,
        };
        let process = Process::start(&mut command, |line| {
            line.strip_prefix("https://").or(line.strip_prefix("http://"))?.parse().ok()
        })?;
        let target = Target { address: process.address, tls };
        Ok(Server { process, target, folder })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Makes a folder with a small page and a large file. Returns its path.
pub(crate) fn files(folder: &Path, build: Build) -> std::io::Result<PathBuf> {
    let files = folder.join("files");
    std::fs::create_dir_all(&files)?;
    std::fs::write(files.join("index.html"), "<!doctype html><title>small</title>\n".repeat(32))?;
    // Incompressible, so that no layer can shorten it.
    let bytes = if build == Build::Debug { LARGE_BYTES_DEBUG } else { LARGE_BYTES };
    let large: Vec<u8> = (0..bytes as u32).map(|nth| (nth.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(files.join("large.bin"), large)?;
    Ok(files)
}

/// Gives the server a certificate. Returns the configuration of its clients.
fn certificate(folder: &Path, command: &mut Command) -> Result<Arc<ClientConfig>, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let made = rcgen::generate_simple_self_signed(["localhost".to_string()]).map_err(|error| text(&error))?;
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).map_err(|error| text(&error))?;
    std::fs::write(&key, made.signing_key.serialize_pem()).map_err(|error| text(&error))?;
    command.arg("--tls-certificate").arg(certificate).arg("--tls-key").arg(key);
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).map_err(|error| text(&error))?;
    Ok(client_config(roots))
}

/// Configuration of a TLS client with these roots.
pub(crate) fn client_config(roots: RootCertStore) -> Arc<ClientConfig> {
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let config = config.with_safe_default_protocol_versions().expect("ring has the default versions");
    Arc::new(config.with_root_certificates(roots).with_no_client_auth())
}

fn build_server(build: Build) -> Result<PathBuf, String> {
    static BUILT: OnceLock<Result<(), String>> = OnceLock::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), Into::into);
    // The test of this crate uses the build of the workspace's tests: built alone, the server and
    // most of its dependencies would have other features.
    let (arguments, folder) = match build {
        Build::Release => (["build", "--release", "--package", "gaggle-server"].as_slice(), "release"),
        Build::Debug => (["test", "--no-run", "--workspace", "--test", "serving"].as_slice(), "debug"),
    };
    BUILT
        .get_or_init(|| {
            if std::env::var_os(IS_BUILT).is_some() {
                return Ok(());
            }
            let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let status = Command::new(cargo).args(arguments).arg("--quiet").current_dir(&root).status();
            match status {
                Ok(status) if status.success() => Ok(()),
                _ => Err("gaggle-server does not build".into()),
            }
        })
        .clone()?;
    Ok(target.join(folder).join("gaggle-server"))
}

/// A ticket for a room at this server's relay, which the lobby does not know.
pub(crate) fn ticket(room: u64, peer: PeerId) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    TicketSigner::from_secret(&SECRET).sign(&Claims::bare(room, peer, 1, now + 3_600))
}

/// The same ticket with a foreign signature.
pub(crate) fn forged_ticket(room: u64, peer: PeerId) -> String {
    TicketSigner::from_secret(&[66; 32]).sign(&Claims::bare(room, peer, 1, u64::from(u32::MAX)))
}
