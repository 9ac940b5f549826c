//! Exhaustion of connections by one site: 80 networks (/64) of one /56, in a network namespace of
//! its own, where all documentation addresses are local.
//!
//! `main` runs it. Absent: other attacks.

use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bench_report::{Report, Row};

use crate::attacker::{Attack, Kind};
use crate::client::Guest;
use crate::outcomes::judge;
use crate::samples::Samples;
use crate::scale::Scale;
use crate::server::{Build, IS_BUILT, Server};
use crate::table::Outcome;

/// Argument that starts the process inside the namespace.
const INSIDE: &str = "places-inside";
/// Connections of 80 networks at 64 each.
const CONNECTIONS: u64 = 5_120;
const HONEST: usize = 40;
/// Places behind the first-come door: fewer than the site wants.
const DOOR_PLACES: usize = 256;
const WITHIN: Duration = Duration::from_secs(1);
/// Percent of honest connects that must succeed.
const SUCCEED: f64 = 90.0;
const SERVER: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);

/// Measures in a namespace; notes where the system does not allow one. Then measures the same
/// behind a first-come door as a control: the attack must succeed there.
pub(crate) fn run(report: &mut Report, scale: Scale) -> Result<Vec<Outcome>, String> {
    // Builds happen outside, where there is a network.
    drop(Server::start(scale.build)?);
    let (Some(shared), Some(first_come)) = (in_namespace(scale, false)?, in_namespace(scale, true)?) else {
        report.note("without places: no network namespace can be made here");
        eprintln!("without places: no network namespace can be made here");
        return Ok(Vec::new());
    };
    report.section("80 networks of one /56 that take every place and say nothing");
    let title = "honest connects that succeed within 1 s while one /56 takes all places";
    report.row(Row::new(title, "%").gaggle(shared.succeeded).at_least(SUCCEED));
    report.row(Row::new("connections the site opened", "").gaggle(shared.opened));
    let within = WITHIN.as_secs_f64() * 1_000.0;
    let title = |percent: &str| format!("honest connect while one /56 takes all places, {percent}");
    let mut outcomes = Vec::new();
    judge(report, &mut outcomes, &title("p50"), "ms", shared.p50, within);
    judge(report, &mut outcomes, &title("p99"), "ms", shared.p99, within);
    let title = "the same where the first who come have the places, which must fail";
    report.row(Row::new(title, "%").gaggle(first_come.succeeded).at_most(SUCCEED));
    let (value, bound) = (100.0 - shared.succeeded, 100.0 - SUCCEED);
    let title = "honest connects that fail while one /56 takes all places".into();
    outcomes.push(Outcome { title, unit: "%", value, bound, met: value <= bound });
    Ok(outcomes)
}

/// Percent of honest connects that succeeded, connections the site opened, and the duration of
/// successful connects in milliseconds.
struct Measured {
    succeeded: f64,
    opened: f64,
    p50: f64,
    p99: f64,
}

/// Measures inside; none where the system allows no namespace.
fn in_namespace(scale: Scale, is_first_come: bool) -> Result<Option<Measured>, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let prepare = "ip link set lo up && ip -6 route add local 2001:db8::/32 dev lo && echo 1 > /proc/sys/net/ipv6/ip_nonlocal_bind && exec \"$0\" \"$@\"";
    let is_root = rustix::process::geteuid().is_root();
    let mut command = Command::new("unshare");
    command.args(if is_root { &["--net"][..] } else { &["--user", "--map-root-user", "--net"] });
    command.args(["sh", "-c", prepare]).arg(this).arg(INSIDE);
    let is_tiny = scale.build == Build::Debug;
    let flags = [is_tiny, scale.is_idle, is_first_come].map(|flag| if flag { "1" } else { "0" });
    command.args(flags).env(IS_BUILT, "1").stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("unshare: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    Ok(match numbers[..] {
        [succeeded, opened, p50, p99] => Some(Measured { succeeded, opened, p50, p99 }),
        _ => None,
    })
}

/// Runs the process inside, if the command line names it.
pub(crate) fn inside(arguments: &[String]) -> Option<Result<(), String>> {
    let [word, flags @ ..] = arguments else { return None };
    let [is_tiny, is_idle, is_first_come] = flags else { return None };
    (word == INSIDE).then(|| measure(is_tiny == "1", is_idle == "1", is_first_come == "1"))
}

fn measure(is_tiny: bool, is_idle: bool, is_first_come: bool) -> Result<(), String> {
    crate::process::allow_many_sockets();
    let (build, connections, honest) = match is_tiny {
        true => (Build::Debug, CONNECTIONS / 8, HONEST / 4),
        false => (Build::Release, CONNECTIONS, HONEST),
    };
    let server = Server::start_with(build, SERVER.into(), false, &[])?;
    let mut target = server.target.clone();
    if is_first_come {
        target.address = first_come_door(target.address).map_err(|error| error.to_string())?;
    }
    let attack = Attack::begin(Kind::Places, target.address, connections, is_idle)?;
    let mut connects = Samples::default();
    for nth in 0..honest {
        let from =
            IpAddr::from(Ipv6Addr::from_bits((0x2001_0db8_1000_0000 + ((nth as u128) << 12)) << 64 | 1));
        let began = Instant::now();
        let guest = Guest::connect(from, &target, &format!("honest-visitor-{nth:06}"));
        if guest.is_ok() && began.elapsed() <= WITHIN {
            connects.add(began.elapsed());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let succeeded = connects.count() as f64 * 100.0 / honest as f64;
    let [p50, p99] = [50, 99].map(|percent| connects.percentile(percent));
    println!("{succeeded} {} {p50} {p99}", attack.count());
    Ok(())
}

/// A proxy before the server with a fixed number of places for any network. Returns its address.
fn first_come_door(server: SocketAddr) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind((SERVER, 0))?;
    let (address, inside) = (listener.local_addr()?, Arc::new(AtomicUsize::new(0)));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if inside.load(Ordering::Relaxed) >= DOOR_PLACES {
                continue;
            }
            inside.fetch_add(1, Ordering::Relaxed);
            let inside = inside.clone();
            std::thread::spawn(move || {
                let _ = pass_on(stream, server);
                inside.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    Ok(address)
}

/// Connects to the server once the client sends something, and copies bytes until it is gone.
fn pass_on(client: TcpStream, server: SocketAddr) -> std::io::Result<()> {
    client.peek(&mut [0])?;
    let server = TcpStream::connect(server)?;
    let (mut from_server, mut to_client) = (server.try_clone()?, client.try_clone()?);
    std::thread::spawn(move || std::io::copy(&mut from_server, &mut to_client));
    let (mut from_client, mut to_server) = (&client, &server);
    let copied = std::io::copy(&mut from_client, &mut to_server);
    let _ = server.shutdown(std::net::Shutdown::Both);
    copied.map(drop)
}
