//! The server's command: reads settings, serves, and stops on a signal. Absent: serving
//! (`server.rs`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::process::ExitCode;
use std::sync::Arc;

use gaggle_server::config::{Command, Config, LogFormat};
use gaggle_server::{Embedded, Extensions, Server};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Embedded page: paths and bytes, written by `build.rs`.
static PAGE: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

fn main() -> ExitCode {
    let config = match Config::load(std::env::args().skip(1), std::env::vars()) {
        Ok(Command::Serve(config)) => *config,
        Ok(Command::Check(config)) => return check(&config),
        Ok(Command::Print(text)) => {
            println!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(error) => return fail(&error.to_string()),
    };
    if let Err(text) = log(&config) {
        return fail(&text);
    }
    // After a panic the lobby's state cannot be trusted; clients resume their rooms in a new
    // process. Panics inside one relay channel do not abort: they would be a way to stop the
    // server.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        if !gaggle_relay::is_contained() {
            std::process::abort();
        }
    }));
    allow_many_connections(&config);
    let threads = config.thread_count();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(serve(config)),
        Err(error) => fail(&format!("cannot start threads: {error}")),
    }
}

async fn serve(config: Config) -> ExitCode {
    let scheme = if config.tls_certificate.is_some() { "https" } else { "http" };
    let extensions = Extensions { assets: Arc::new(Embedded::new(PAGE)), ..Extensions::default() };
    let server = match Server::start_with(config, extensions).await {
        Ok(server) => server,
        Err(error) => return fail(&error.to_string()),
    };
    reached_at(server.address(), lan_address()).iter().for_each(|address| println!("{scheme}://{address}"));
    stop_signal().await;
    server.stop().await;
    ExitCode::SUCCESS
}

/// Addresses to open in a browser: on this machine, and on the network for a server on all
/// addresses.
fn reached_at(address: SocketAddr, lan: Option<IpAddr>) -> Vec<SocketAddr> {
    let here = match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        _ => return vec![address],
    };
    std::iter::once(here).chain(lan).map(|ip| SocketAddr::new(ip, address.port())).collect()
}

/// This machine's address on its network. Nothing is sent: the system says which address it would
/// use.
fn lan_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|address| !address.is_loopback())
}

/// Checks the settings as far as possible without starting a server.
fn check(config: &Config) -> ExitCode {
    match log(config).and_then(|()| Server::check(config).map_err(|error| error.to_string())) {
        Ok(()) => {
            println!("The settings are valid.");
            ExitCode::SUCCESS
        }
        Err(text) => fail(&text),
    }
}

/// Raises the limit of open files: every connection is one, and many systems allow 1,024 by
/// default.
fn allow_many_connections(config: &Config) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let files = if raised.is_ok() { limit.maximum } else { limit.current };
    let needed = config.files_needed();
    if let Some(files) = files.filter(|files| *files < needed) {
        tracing::warn!(
            files,
            needed,
            "this process may open too few files for `connections_max`; raise the limit (`ulimit \
             -n`, LimitNOFILE) or lower the setting"
        );
    }
}

/// Waits for a signal to stop.
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = match signal(SignalKind::terminate()) {
        Ok(signal) => signal,
        Err(error) => {
            tracing::warn!(%error, "SIGTERM cannot be handled");
            return std::future::pending().await;
        }
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

fn log(config: &Config) -> Result<(), String> {
    let targets: Targets =
        config.log.parse().map_err(|error| format!("`log` cannot be `{}`: {error}", config.log))?;
    let registry = tracing_subscriber::registry().with(targets);
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let started = match config.log_format {
        LogFormat::Text => registry.with(layer.with_ansi(false)).try_init(),
        LogFormat::Json => registry.with(layer.json().flatten_event(true)).try_init(),
    };
    started.map_err(|error| format!("cannot log: {error}"))
}

fn fail(text: &str) -> ExitCode {
    eprintln!("gaggle-server: {text}");
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_addresses_can_be_opened() {
        let check = |address: &str, lan: Option<&str>, expected: &[&str]| {
            let lan = lan.map(|lan| lan.parse().unwrap());
            let reached = reached_at(address.parse().unwrap(), lan);
            assert_eq!(reached.iter().map(SocketAddr::to_string).collect::<Vec<_>>(), expected);
        };
        check("127.0.0.1:8080", Some("192.168.1.5"), &["127.0.0.1:8080"]);
        check("0.0.0.0:8080", Some("192.168.1.5"), &["127.0.0.1:8080", "192.168.1.5:8080"]);
        check("0.0.0.0:8080", None, &["127.0.0.1:8080"]);
        check("[::]:80", Some("192.168.1.5"), &["[::1]:80", "192.168.1.5:80"]);
        check("203.0.113.7:80", Some("192.168.1.5"), &["203.0.113.7:80"]);
    }
}
