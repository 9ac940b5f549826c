//! Direct carrier to pages and native peers: WebRTC of the browser.
//!
//! Used by `mesh.rs`. Absent: negotiation (`gaggle-link`).

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use gaggle_kit::{DecodeError, Micros, PeerId, VecMap};
use gaggle_link::{
    Carrier, CarrierEvent, ConnectCarrier, IceServer, NegotiationCommand, Negotiator, Signal,
    SignaledCarrier, WouldBlock,
};
use js_sys::Array;
use wasm_bindgen::JsValue;
use web_sys::{RtcConfiguration, RtcIceServer, RtcPeerConnection};

use crate::connection::{Connection, Inbox, Report, Task};

/// WebRTC data channels as a carrier.
///
/// Signals travel through whatever the peers have in common: drain
/// [`poll_signal`](SignaledCarrier::poll_signal) into it, feed
/// [`handle_signal`](SignaledCarrier::handle_signal) from it.
pub struct WebRtcCarrier {
    local: PeerId,
    configuration: RtcConfiguration,
    negotiator: Negotiator,
    inbox: Rc<RefCell<Inbox>>,
    connections: VecMap<PeerId, Connection>,
    told: VecDeque<CarrierEvent>,
    now: Micros,
}

impl std::fmt::Debug for WebRtcCarrier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DirectWay").field("rendezvous", &self.negotiator).finish_non_exhaustive()
    }
}

/// Makes the browser start its WebRTC threads, which takes ten times as long as a later connection,
/// now instead of in the frame in which a peer joins.
fn wake_browser() {
    if let Ok(connection) = RtcPeerConnection::new() {
        connection.close();
    }
}

fn configuration(servers: &[IceServer]) -> RtcConfiguration {
    let list = Array::new();
    for server in servers {
        let entry = RtcIceServer::new();
        let urls: Array = server.urls.iter().map(|url| JsValue::from_str(url)).collect();
        entry.set_urls(&urls);
        if let (Some(username), Some(credential)) = (&server.username, &server.credential) {
            entry.set_username(username);
            entry.set_credential(credential);
        }
        list.push(&entry);
    }
    let configuration = RtcConfiguration::new();
    configuration.set_ice_servers(&list);
    configuration
}

impl WebRtcCarrier {
    /// For the local peer, with these servers. The seed should be random.
    pub fn new(local: PeerId, servers: &[IceServer], seed: u64) -> WebRtcCarrier {
        wake_browser();
        WebRtcCarrier {
            local,
            configuration: configuration(servers),
            negotiator: Negotiator::new(local, seed),
            inbox: Rc::default(),
            connections: VecMap::new(),
            told: VecDeque::new(),
            now: Micros::ZERO,
        }
    }

    /// Executes the negotiator's commands.
    fn obey(&mut self) {
        while let Some((peer, attempt, command)) = self.negotiator.poll_command() {
            let task = match command {
                NegotiationCommand::Drop => {
                    let current = self.connections.get(&peer).is_some_and(|held| held.attempt == attempt);
                    if current {
                        self.connections.remove(&peer);
                        self.told.push_back(CarrierEvent::Closed { peer });
                    }
                    continue;
                }
                NegotiationCommand::Offer => Task::Offer,
                NegotiationCommand::Answer(offer) => Task::Answer(offer),
                NegotiationCommand::Accept(answer) => Task::Accept(answer),
                NegotiationCommand::Candidate(candidate) => Task::Candidate(candidate),
            };
            if matches!(task, Task::Offer | Task::Answer(_)) {
                match Connection::new(peer, attempt, &self.configuration, &self.inbox) {
                    Ok(connection) => drop(self.connections.insert(peer, connection)),
                    Err(_) => {
                        // A browser without WebRTC, or with too many connections: another path will
                        // be tried.
                        self.negotiator.handle_failed(peer, attempt);
                        continue;
                    }
                }
            }
            if let Some(connection) = self.connections.get(&peer).filter(|held| held.attempt == attempt) {
                connection.push(task);
            }
        }
    }

    fn take_reports(&mut self) {
        loop {
            let Some((peer, attempt, report)) = self.inbox.borrow_mut().reports.pop_front() else { break };
            match report {
                Report::Described(description) => {
                    self.negotiator.handle_description(peer, attempt, description)
                }
                Report::Found(candidate) => self.negotiator.handle_candidate(peer, attempt, candidate),
                Report::Open => {
                    if self.negotiator.handle_opened(peer, attempt) {
                        self.told.push_back(CarrierEvent::Opened { peer });
                    }
                }
                Report::Failed => {
                    if self.negotiator.handle_failed(peer, attempt) {
                        self.connections.remove(&peer);
                        self.told.push_back(CarrierEvent::Closed { peer });
                    }
                }
            }
        }
        self.obey();
    }
}

impl SignaledCarrier for WebRtcCarrier {
    fn handle_signal(&mut self, now: Micros, from: PeerId, text: &str) -> Result<(), DecodeError> {
        let taken = self.negotiator.handle_signal(now, from, text);
        self.obey();
        taken
    }

    fn poll_signal(&mut self) -> Option<(PeerId, Signal)> {
        self.take_reports();
        self.negotiator.poll_signal()
    }

    fn malformed_signals(&self) -> u64 {
        self.inbox.borrow().refused
    }

    fn set_ice_servers(&mut self, servers: &[IceServer]) {
        self.configuration = configuration(servers);
    }
}

impl ConnectCarrier for WebRtcCarrier {
    fn connect(&mut self, now: Micros, peer: PeerId) {
        self.negotiator.connect(now, peer);
        self.obey();
    }
}

impl Carrier for WebRtcCarrier {
    fn local_id(&self) -> PeerId {
        self.local
    }

    fn send(&mut self, _: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        self.connections.get(&to).map_or(Ok(()), |connection| connection.send(datagram))
    }

    fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        self.now = now;
        self.take_reports();
        if let Some(event) = self.told.pop_front() {
            return Some(event);
        }
        let mut inbox = self.inbox.borrow_mut();
        while let Some((peer, attempt, mut bytes)) = inbox.datagrams.pop_front() {
            std::mem::swap(datagram, &mut bytes);
            inbox.spare.push(bytes);
            if self.connections.get(&peer).is_some_and(|held| held.attempt == attempt) {
                return Some(CarrierEvent::Datagram { peer });
            }
        }
        None
    }

    fn poll_timeout(&self) -> Micros {
        // The browser calls back; a page polls every frame anyway.
        Micros::MAX
    }

    fn dropped(&self) -> u64 {
        self.inbox.borrow().dropped
    }

    fn close(&mut self, _: Micros, peer: PeerId) {
        self.negotiator.remove(peer);
        while let Some((peer, attempt, command)) = self.negotiator.poll_command() {
            if command == NegotiationCommand::Drop
                && self.connections.get(&peer).is_some_and(|held| held.attempt == attempt)
            {
                self.connections.remove(&peer);
            }
        }
    }
}
