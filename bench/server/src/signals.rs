//! Passing on what members hand to each other: a thousand sockets in pairs, one message of a kilobyte at a time each.

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use bench_report::{Report, Row};
use tungstenite::{Message, WebSocket};

use crate::process::Process;
use crate::{foreign, gaggle, joins, matchbox};

const SOCKETS: usize = 1_000;
const ROUNDS: usize = 40;
const LANES: usize = 4;

/// A socket, and what it says to the other of its pair after so many rounds.
pub(crate) type Speaker = (WebSocket<TcpStream>, Box<dyn Fn(usize) -> String + Send>);

pub(crate) fn rows(report: &mut Report, node: Option<&Path>) -> Result<(), String> {
    let server = gaggle::start()?;
    let cpu = measure(&server, ours(&server)?, r#"{"type":"signal""#)?;
    let mut row = Row::new("passing on a signal of 1 KB, CPU of the server", "µs").gaggle(cpu);
    drop(server);
    if let Some(folder) = node {
        let server = foreign::start(folder, "peerjs.js")?;
        let speakers = (0..SOCKETS).map(|number| peerjs(server.address, number)).collect::<Result<_, _>>()?;
        let theirs = measure(&server, speakers, r#"{"type":"OFFER""#)?;
        row = row.other("PeerJS server 1", theirs).ratio_at_most(1.0 / 1.75);
    }
    report.row(row);
    match matchbox::install() {
        Err(why) => eprintln!("without matchbox_server: {why}"),
        Ok(program) => {
            let server = matchbox::start(&program)?;
            let pairs = (0..SOCKETS / 2).map(|number| matchbox::pair(server.address, number));
            let speakers = pairs.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
            let theirs = measure(&server, speakers, r#"{"Signal""#)?;
            let row = Row::new("the same beside matchbox_server", "µs").gaggle(cpu);
            report.row(row.other("matchbox_server 0.15", theirs).ratio_at_most(1.0 / 1.75));
        }
    }
    Ok(())
}

/// Members of rooms, of which each talks to the next one in its room.
fn ours(server: &Process) -> Result<Vec<Speaker>, String> {
    let mut members = joins::join_in_lanes(server, SOCKETS, LANES)?;
    members.sort_by(|a, b| a.room.cmp(&b.room));
    let data = "x".repeat(1_024);
    let peers: Vec<String> = members.iter().map(|member| member.peer.clone()).collect();
    let speak = |(at, member): (usize, gaggle::Member)| {
        let (to, data) = (peers[at ^ 1].clone(), data.clone());
        // As our clients do it: with what they have seen, of which one came in every round.
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

/// CPU of the server for each signal, in microseconds. Pairs stay in one lane.
fn measure(server: &Process, mut speakers: Vec<Speaker>, mark: &str) -> Result<f64, String> {
    let before = server.cpu();
    std::thread::scope(|scope| {
        let lanes: Vec<_> = speakers
            .chunks_mut(SOCKETS / LANES)
            .map(|lane| scope.spawn(move || (0..ROUNDS).try_for_each(|passed| round(lane, passed, mark))))
            .collect();
        lanes.into_iter().try_for_each(|lane| lane.join().map_err(|_| "a lane panicked".to_string())?)
    })?;
    Ok((server.cpu() - before).as_secs_f64() * 1e6 / (SOCKETS * ROUNDS) as f64)
}

fn round(lane: &mut [Speaker], passed: usize, mark: &str) -> Result<(), String> {
    for (socket, says) in lane.iter_mut() {
        socket.send(Message::text(says(passed))).map_err(|error| error.to_string())?;
    }
    for (socket, _) in lane.iter_mut() {
        // Whatever else the server says meanwhile is let pass.
        while !socket.read().map_err(|error| error.to_string())?.to_text().unwrap_or("").starts_with(mark) {}
    }
    Ok(())
}
