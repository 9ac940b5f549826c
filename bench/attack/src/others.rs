//! The same attacks on servers of other projects, from Debian: nginx for files, coturn for STUN.
//!
//! `main` compares with them. Absent: limits of Gaggle's server.

use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use bench_report::{Report, Row};
use gaggle_rtc::stun::{self, Stun};

use crate::attacker::{Attack, Kind};
use crate::client::{Target, honest, hostile};
use crate::endured::watch;
use crate::honest::{self, Wants};
use crate::process::Process;
use crate::samples::Samples;
use crate::scale::Scale;
use crate::server::{self, Server};
use crate::table::Beside;

const NGINX: &str = "nginx";
const COTURN: &str = "coturn";
/// Time between two STUN requests of honest clients.
const QUESTION_EVERY: Duration = Duration::from_millis(10);
/// Short requests from one address, to count the bytes that come back.
const BRIEF_QUESTIONS: usize = 100;

/// Figures of a server under attack.
struct Figures {
    p50: f64,
    p99: f64,
    /// CPU of the server per request of the attack, in microseconds.
    cpu_micros: f64,
    memory_mb: f64,
}

pub(crate) fn run(report: &mut Report, scale: Scale) -> Result<Vec<Beside>, String> {
    let mut beside = Vec::new();
    let folder = std::env::temp_dir().join(format!("gaggle-attack-nginx-{}", std::process::id()));
    let files = server::files(&folder, scale.build).map_err(|error| error.to_string())?;
    report.section("files, beside nginx");
    for (kind, name, strength) in [
        (Kind::Gets, "GET flood", 60_000),
        (Kind::Heads, "HEAD flood on 24 MB", 20_000),
        (Kind::SlowReaders, "128 slow readers of 24 MB", 128),
    ] {
        let ours = {
            let server = Server::start(scale.build)?;
            pages(&server.target, &server.process, kind, strength, scale)?
        };
        let theirs = {
            let nginx = start_nginx(&folder, &files)?;
            let target = Target { address: nginx.address, tls: None };
            pages(&target, &nginx, kind, strength, scale)?
        };
        let mut add = |title: &str, unit, figure: fn(&Figures) -> f64| {
            let title = format!("{name}: {title}");
            compare(report, &mut beside, title, unit, figure(&ours), NGINX, figure(&theirs));
        };
        add("page, p50", "ms", |figures| figures.p50);
        add("page, p99", "ms", |figures| figures.p99);
        match kind {
            Kind::SlowReaders => add("memory gained", "MB", |figures| figures.memory_mb),
            _ => add("CPU of a request", "µs", |figures| figures.cpu_micros),
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    report.section("STUN, beside coturn");
    let server = Server::start(scale.build)?;
    let ours = (questions(&server.process, scale)?, amplification(server.process.address)?);
    drop(server);
    let coturn = start_coturn()?;
    let theirs = (questions(&coturn, scale)?, amplification(coturn.address)?);
    for (title, unit, gaggle, other) in [
        ("STUN flood: an honest question, p50", "ms", ours.0.p50, theirs.0.p50),
        ("STUN flood: an honest question, p99", "ms", ours.0.p99, theirs.0.p99),
        ("STUN flood: CPU of a datagram", "µs", ours.0.cpu_micros, theirs.0.cpu_micros),
    ] {
        compare(report, &mut beside, title.into(), unit, gaggle, COTURN, other);
    }
    let title = "STUN: bytes sent for each byte of brief questions";
    report.row(Row::new(title, "").gaggle(ours.1).other(COTURN, theirs.1).at_most(1.0));
    beside.push(Beside { title: title.into(), unit: "", gaggle: ours.1, library: COTURN, other: theirs.1 });
    Ok(beside)
}

fn compare(
    report: &mut Report,
    beside: &mut Vec<Beside>,
    title: String,
    unit: &'static str,
    gaggle: f64,
    library: &'static str,
    other: f64,
) {
    report.row(Row::new(&title, unit).gaggle(gaggle).other(library, other));
    beside.push(Beside { title, unit, gaggle, library, other });
}

/// Honest clients load a page while files are attacked.
fn pages(
    target: &Target,
    process: &Process,
    kind: Kind,
    strength: u64,
    scale: Scale,
) -> Result<Figures, String> {
    let (noticed, watched) = honest::run(target, Wants::Pages, scale, |phase| {
        std::thread::sleep(scale.warm_up);
        let before = process.memory();
        let attack = Attack::begin(kind, target.address, scale.of(strength), scale.is_idle)?;
        std::thread::sleep(scale.warm_up);
        phase.count();
        watch(process, scale.time, before, Some(&attack))
    })?;
    Ok(Figures {
        p50: noticed.http.percentile(50),
        p99: noticed.http.percentile(99),
        cpu_micros: watched.cpu * 1e6 / watched.reached.max(1.0),
        memory_mb: watched.memory_mb,
    })
}

/// Honest clients send STUN requests while the port is flooded.
fn questions(process: &Process, scale: Scale) -> Result<Figures, String> {
    let attack = Attack::begin(Kind::Stun, process.address, scale.of(20_000), scale.is_idle)?;
    std::thread::sleep(scale.warm_up);
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let (mut samples, began, mut nth) = (Samples::default(), Instant::now(), 0);
            while began.elapsed() < scale.time {
                match ask(honest(6_000 + nth % 500), process.address) {
                    Ok(took) => samples.add(took),
                    Err(why) => samples.fail(why),
                }
                nth += 1;
                std::thread::sleep(QUESTION_EVERY);
            }
            samples
        });
        let watched = watch(process, scale.time, process.memory(), Some(&attack))?;
        let samples = asking.join().map_err(|_| "a client that asks panicked")?;
        Ok(Figures {
            p50: samples.percentile(50),
            p99: samples.percentile(99),
            cpu_micros: watched.cpu * 1e6 / watched.reached.max(1.0),
            memory_mb: watched.memory_mb,
        })
    })
}

/// Time until a STUN response.
fn ask(from: std::net::IpAddr, at: SocketAddr) -> Result<Duration, String> {
    let socket = UdpSocket::bind((from, 0)).map_err(|error| error.to_string())?;
    socket.set_read_timeout(Some(Duration::from_millis(500))).map_err(|error| error.to_string())?;
    let began = Instant::now();
    socket.send_to(&stun::request([9; 12]), at).map_err(|error| error.to_string())?;
    let mut buffer = [0; 512];
    let length = socket.recv(&mut buffer).map_err(|error| format!("no answer: {error}"))?;
    match stun::read(&buffer[..length]) {
        Some(Stun::Response(..)) => Ok(began.elapsed()),
        _ => Err("another answer than expected".into()),
    }
}

/// Bytes sent for each byte of the shortest possible requests.
pub(crate) fn amplification(at: SocketAddr) -> Result<f64, String> {
    let socket = UdpSocket::bind((hostile(3), 0)).map_err(|error| error.to_string())?;
    socket.set_read_timeout(Some(Duration::from_millis(100))).map_err(|error| error.to_string())?;
    let (mut sent, mut received, mut buffer) = (0, 0, [0; 2_048]);
    for nth in 0..BRIEF_QUESTIONS {
        let mut id = [0; 12];
        id[0] = nth as u8;
        sent += socket.send_to(&stun::short_request(id), at).map_err(|error| error.to_string())?;
        std::thread::sleep(Duration::from_millis(2));
    }
    while let Ok(length) = socket.recv(&mut buffer) {
        received += length;
    }
    Ok(received as f64 / sent as f64)
}

fn free_port() -> Result<SocketAddr, String> {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map_err(|error| error.to_string())
}

/// Starts a program that prints nothing when it serves.
fn start_silent(program: &str, arguments: &[String], address: SocketAddr) -> Result<Process, String> {
    let mut command = Command::new("sh");
    command.args(["-c", "echo ready; exec \"$0\" \"$@\" >/dev/null", program]).args(arguments);
    Process::start(&mut command, |line| (line == "ready").then_some(address))
}

fn start_nginx(folder: &Path, files: &Path) -> Result<Process, String> {
    let address = free_port()?;
    let (here, files) = (folder.display(), files.display());
    // A single process like Gaggle's server, so that its CPU time is complete.
    let config = format!(
        "daemon off; master_process off; pid {here}/nginx.pid; error_log stderr crit;\n\
         events {{ worker_connections 8192; }}\n\
         http {{\n  access_log off; keepalive_requests 1000000; root {files};\n\
           client_body_temp_path {here}/body; proxy_temp_path {here}/proxy; fastcgi_temp_path {here}/fastcgi;\n\
           uwsgi_temp_path {here}/uwsgi; scgi_temp_path {here}/scgi;\n\
           server {{ listen {address}; }}\n}}\n"
    );
    let path = folder.join("nginx.conf");
    std::fs::write(&path, config).map_err(|error| error.to_string())?;
    let nginx = start_silent("nginx", &["-c".into(), path.display().to_string()], address)?;
    await_until("nginx", || TcpStream::connect(address).is_ok())?;
    Ok(nginx)
}

fn start_coturn() -> Result<Process, String> {
    let address = free_port()?;
    let port = address.port().to_string();
    let arguments = [
        ["-n", "--stun-only"].map(String::from).to_vec(),
        ["--no-tls", "--no-dtls", "--no-cli", "--log-file", "stdout", "--pidfile", "/dev/null"]
            .map(String::from)
            .to_vec(),
        ["--listening-ip", "127.0.0.1", "--listening-port", &port].map(String::from).to_vec(),
    ]
    .concat();
    let coturn = start_silent("turnserver", &arguments, address)?;
    await_until("coturn", || ask(honest(0), address).is_ok())?;
    Ok(coturn)
}

fn await_until(name: &str, is_there: impl Fn() -> bool) -> Result<(), String> {
    let began = Instant::now();
    while !is_there() {
        if began.elapsed() > Duration::from_secs(10) {
            return Err(format!("{name} does not serve"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
