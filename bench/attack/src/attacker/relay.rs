//! Attacks on the relay: forged tickets, and members who offer channels or send without end.
//! Absent: honest clients.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use gaggle_kit::PeerId;
use gaggle_link::relay::RelayFrame;
use gaggle_rtc::{Certificate, Role, RtcChannel};
use tungstenite::Message;

use super::{Hits, Strength, spread};
use crate::client::{Target, hostile, websocket};
use crate::relay_pair::{Member, say};
use crate::server::forged_ticket;

const FORGERS: usize = 8;
/// Networks of the forgers, because one may open few sockets per second.
const FORGERS_ADDRESSES: usize = 200;
const MEMBERS: usize = 8;
/// Room of the attacking members.
const ROOM: u64 = 1 << 40;

pub(super) fn forged_tickets(at: SocketAddr, strength: Strength, hits: &Hits) -> Result<(), String> {
    let ticket = forged_ticket(1, PeerId::from_u128(99));
    let target = Target { address: at, tls: None };
    spread(FORGERS, strength, 1, hits, |forger| {
        let (ticket, target, mut nth) = (ticket.clone(), target.clone(), forger);
        Box::new(move || {
            nth += FORGERS;
            let Ok(mut socket) = websocket(hostile(nth % FORGERS_ADDRESSES), &target, "/relay") else {
                return 0;
            };
            let _ = say(&mut socket, RelayFrame::Authenticate { ticket: &ticket });
            let is_refused = socket.read().is_ok_and(|heard| heard.is_binary());
            u64::from(is_refused)
        })
    });
    Ok(())
}

pub(super) fn offers(at: SocketAddr, strength: Strength, hits: &Hits) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let certificate = Certificate::generate().map_err(|error| text(&error))?;
    let mut channel = RtcChannel::new(Instant::now(), Role::Peer, &certificate);
    channel.add_host(SocketAddr::from((hostile(0), 9))).map_err(|error| text(&error))?;
    let description = channel.offer().map_err(|error| text(&error))?;
    let frame = RelayFrame::Offer { description: &description }.to_bytes();
    let members = members(at, 4)?;
    speak(members, strength, hits, &[frame]);
    Ok(())
}

pub(super) fn datagrams(at: SocketAddr, strength: Strength, hits: &Hits) -> Result<(), String> {
    let mut members = members(at, 1)?;
    let peers: Vec<PeerId> = members.iter().map(|member| member.peer).collect();
    for member in &mut members {
        let own = member.peer;
        for peer in peers.iter().filter(|peer| **peer != own) {
            member.say(RelayFrame::Open { peer: *peer })?;
        }
    }
    let frame = RelayFrame::Broadcast { datagram: &[0; 1_000] }.to_bytes();
    speak(members, strength, hits, &[frame]);
    Ok(())
}

fn members(at: SocketAddr, per_address: usize) -> Result<Vec<Member>, String> {
    let target = Target { address: at, tls: None };
    let come = |nth: usize| {
        Member::come(hostile(nth / per_address), &target, ROOM, PeerId::from_u128((1 << 100) | nth as u128))
    };
    (0..MEMBERS).map(come).collect()
}

/// Each member repeats these frames and reads the answers, because the relay does not listen to a
/// member that does not read.
fn speak(members: Vec<Member>, strength: Strength, hits: &Hits, frames: &[Vec<u8>]) {
    let at_once = 8;
    let mut members: Vec<Option<Member>> = members.into_iter().map(Some).collect();
    let own = std::cell::RefCell::new(&mut members);
    spread(MEMBERS, strength, at_once, hits, |nth| {
        let mut member = own.borrow_mut()[nth].take();
        let frames = frames.to_vec();
        Box::new(move || {
            let Some(member) = &mut member else { return 0 };
            let socket = member.socket.get_ref().socket();
            let _ = socket.set_write_timeout(Some(Duration::from_millis(100)));
            let _ = socket.set_read_timeout(Some(Duration::from_millis(1)));
            let mut sent = 0;
            for frame in frames.iter().cycle().take(at_once as usize) {
                sent += u64::from(member.socket.write(Message::Binary(frame.clone().into())).is_ok());
            }
            let _ = member.socket.flush();
            while member.socket.read().is_ok() {}
            sent
        })
    });
}
