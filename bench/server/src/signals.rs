//! Cost of passing signals between members: a thousand sockets in pairs, one message of 1 KB at a
//! time each.
//!
//! `main` calls it. Absent: how members connect.

use std::net::{SocketAddr, TcpStream};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use bench_report::{Report, Row, median};
use tungstenite::{Message, WebSocket};

use crate::process::Process;
use crate::{foreign, gaggle, joins, matchbox};

/// Runs of each server. Runs last seconds, so other load shows in them: the median of seven varies
/// by 5 %, of three by 20 %.
const RUNS: usize = 7;
const SOCKETS: usize = 1_000;
const ROUNDS: usize = 100;
/// Rounds before the measured ones.
const WARM_UP: usize = 10;
const LANES: usize = 4;

/// A socket, and the message it sends to the other of its pair in a round.
pub(crate) type Speaker = (WebSocket<TcpStream>, Box<dyn Fn(usize) -> String + Send>);

pub(crate) fn rows(report: &mut Report, node: &Path, matchbox: &Path) -> Result<(), String> {
    let (mut gaggle, mut peer_js, mut match_box) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let server = gaggle::start()?;
        gaggle.push(measure(&server, ours(&server)?, r#"{"type":"signal""#)?);
        drop(server);
        let server = foreign::start(node, "peerjs.js")?;
        let speakers = (0..SOCKETS).map(|number| peerjs(server.address, number)).collect::<Result<_, _>>()?;
        peer_js.push(measure(&server, speakers, r#"{"type":"OFFER""#)?);
        drop(server);
        let server = matchbox::start(matchbox)?;
        let pairs = (0..SOCKETS / 2).map(|number| matchbox::pair(server.address, number));
        let speakers = pairs.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        match_box.push(measure(&server, speakers, r#"{"Signal""#)?);
    }
    let cpu = median(&gaggle);
    let row = Row::new("passing on a signal of 1 KB, CPU of the server", "µs").gaggle(cpu);
    report.row(row.other("PeerJS server 1", median(&peer_js)).ratio_at_most(1.0 / 1.75));
    let row = Row::new("the same beside matchbox_server", "µs").gaggle(cpu);
    report.row(row.other("matchbox_server 0.15", median(&match_box)).ratio_at_most(1.0 / 1.75));
    Ok(())
}

/// Members of rooms, each with a message to the next member of its room.
fn ours(server: &Process) -> Result<Vec<Speaker>, String> {
    let mut members = joins::join_in_lanes(server, SOCKETS, LANES)?;
    members.sort_by(|a, b| a.room.cmp(&b.room));
    let data = "x".repeat(1_024);
    let peers: Vec<String> = members.iter().map(|member| member.peer.clone()).collect();
    let speak = |(at, member): (usize, gaggle::Member)| {
        let (to, data) = (peers[at ^ 1].clone(), data.clone());
        // With the acknowledgement that real clients send: one message arrived in each round.
        let says =
            move |seen: usize| format!(r#"{{"type":"signal","to":"{to}","seen":{seen},"data":"{data}"}}"#);
        (member.socket, Box::new(says) as Box<_>)
    };
    Ok(members.into_iter().enumerate().map(speak).collect())
}

fn peerjs(address: SocketAddr, number: usize) -> Result<Speaker, String> {
    let stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
    stream.set_nodelay(true).map_err(|error| error.to_string())?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).map_err(|error| error.to_string())?;
    let url = format!("ws://{address}/peerjs?key=peerjs&id=bench{number}&token=token{number}");
    let (mut socket, _) = tungstenite::client(url, stream).map_err(|error| error.to_string())?;
    socket.read().map_err(|error| error.to_string())?;
    let data = "x".repeat(1_024);
    let says = format!(r#"{{"type":"OFFER","dst":"bench{}","payload":"{data}"}}"#, number ^ 1);
    Ok((socket, Box::new(move |_| says.clone())))
}

/// CPU of the server per signal, in microseconds. A pair stays in one thread.
fn measure(server: &Process, mut speakers: Vec<Speaker>, mark: &str) -> Result<f64, String> {
    talk(&mut speakers, 0..WARM_UP, mark)?;
    server.settle();
    let before = server.cpu();
    talk(&mut speakers, WARM_UP..WARM_UP + ROUNDS, mark)?;
    Ok((server.cpu() - before).as_secs_f64() * 1e6 / (SOCKETS * ROUNDS) as f64)
}

fn talk(speakers: &mut [Speaker], rounds: Range<usize>, mark: &str) -> Result<(), String> {
    std::thread::scope(|scope| {
        let lanes: Vec<_> = speakers
            .chunks_mut(SOCKETS / LANES)
            .map(|lane| {
                let mut rounds = rounds.clone();
                scope.spawn(move || rounds.try_for_each(|passed| round(lane, passed, mark)))
            })
            .collect();
        lanes.into_iter().try_for_each(|lane| lane.join().map_err(|_| "a lane panicked".to_string())?)
    })
}

fn round(lane: &mut [Speaker], passed: usize, mark: &str) -> Result<(), String> {
    for (socket, says) in lane.iter_mut() {
        socket.send(Message::text(says(passed))).map_err(|error| error.to_string())?;
    }
    for (socket, _) in lane.iter_mut() {
        // Other messages of the server are skipped.
        while !socket.read().map_err(|error| error.to_string())?.to_text().unwrap_or("").starts_with(mark) {}
    }
    Ok(())
}
