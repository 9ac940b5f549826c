//! The carriers a [`PathSelector`](crate::PathSelector) chooses from, one for each [`Path`], held
//! by value.
//!
//! `PathSelector` calls them; `gaggle-native` and `gaggle-browser` build [`PlatformCarriers`].
//! Absent: which path is better, when to change, which peers may connect.

use gaggle_kit::{DecodeError, Micros, PeerId};

use crate::relay::{RelayCarrier, RelayLeg, RelaySocket};
use crate::{Carrier, CarrierEvent, ConnectCarrier, Path, Signal, SignaledCarrier, WouldBlock};

/// Several carriers behind one value, selected by [`Path`]. Calls for a path without [a
/// carrier](Carriers::has) do nothing.
pub trait Carriers {
    /// Whether there is a carrier for this path.
    fn has(&self, path: Path) -> bool;

    /// Connects like [`ConnectCarrier::connect`].
    fn connect(&mut self, now: Micros, path: Path, peer: PeerId);

    /// Sends like [`Carrier::send`].
    ///
    /// # Errors
    /// If the datagram was not taken; it may be sent again at a later poll.
    fn send(&mut self, now: Micros, path: Path, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock>;

    /// Polls like [`Carrier::poll`].
    fn poll(&mut self, now: Micros, path: Path, datagram: &mut Vec<u8>) -> Option<CarrierEvent>;

    /// Earliest [`Carrier::poll_timeout`] of all.
    fn poll_timeout(&self) -> Micros;

    /// Closes like [`Carrier::close`].
    fn close(&mut self, now: Micros, path: Path, peer: PeerId);

    /// Sum of [`Carrier::dropped`] of all.
    fn dropped(&self) -> u64;
}

/// One carrier per path, in the order of [`Path::ALL`].
impl<W: ConnectCarrier> Carriers for [Option<W>; 3] {
    fn has(&self, path: Path) -> bool {
        self[path.index()].is_some()
    }

    fn connect(&mut self, now: Micros, path: Path, peer: PeerId) {
        if let Some(way) = &mut self[path.index()] {
            way.connect(now, peer);
        }
    }

    fn send(&mut self, now: Micros, path: Path, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        self[path.index()].as_mut().map_or(Ok(()), |way| way.send(now, to, datagram))
    }

    fn poll(&mut self, now: Micros, path: Path, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        self[path.index()].as_mut()?.poll(now, datagram)
    }

    fn poll_timeout(&self) -> Micros {
        self.iter().flatten().map(Carrier::poll_timeout).min().unwrap_or(Micros::MAX)
    }

    fn close(&mut self, now: Micros, path: Path, peer: PeerId) {
        if let Some(way) = &mut self[path.index()] {
            way.close(now, peer);
        }
    }

    fn dropped(&self) -> u64 {
        self.iter().flatten().map(Carrier::dropped).sum()
    }
}

/// Carriers of a platform: a direct one, and a relay with two legs. Generic, so that links are
/// `Send` where both are.
#[derive(Debug)]
pub struct PlatformCarriers<D, L> {
    /// Carrier of [`Path::Direct`].
    pub direct: Option<D>,
    /// Carrier of [`Path::Relay`] and [`Path::WebSocket`].
    pub relay: Option<RelayCarrier<L>>,
}

const fn leg_of(path: Path) -> Option<RelayLeg> {
    match path {
        Path::Direct => None,
        Path::Relay => Some(RelayLeg::Datagram),
        Path::WebSocket => Some(RelayLeg::WebSocket),
    }
}

impl<D: SignaledCarrier, L: RelaySocket> Carriers for PlatformCarriers<D, L> {
    fn has(&self, path: Path) -> bool {
        match (leg_of(path), &self.relay) {
            (None, _) => self.direct.is_some(),
            (Some(leg), Some(relay)) => relay.has(leg),
            (Some(_), None) => false,
        }
    }

    fn connect(&mut self, now: Micros, path: Path, peer: PeerId) {
        match (leg_of(path), &mut self.direct, &mut self.relay) {
            (None, Some(direct), _) => direct.connect(now, peer),
            (Some(leg), _, Some(relay)) => relay.connect(now, leg, peer),
            _ => {}
        }
    }

    fn send(&mut self, now: Micros, path: Path, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        match (leg_of(path), &mut self.direct, &mut self.relay) {
            (None, Some(direct), _) => direct.send(now, to, datagram),
            (Some(leg), _, Some(relay)) => relay.send(now, leg, to, datagram),
            _ => Ok(()),
        }
    }

    fn poll(&mut self, now: Micros, path: Path, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        match leg_of(path) {
            None => self.direct.as_mut()?.poll(now, datagram),
            Some(leg) => self.relay.as_mut().filter(|relay| relay.has(leg))?.poll(now, leg, datagram),
        }
    }

    fn poll_timeout(&self) -> Micros {
        let direct = self.direct.as_ref().map_or(Micros::MAX, Carrier::poll_timeout);
        direct.min(self.relay.as_ref().map_or(Micros::MAX, RelayCarrier::poll_timeout))
    }

    fn close(&mut self, now: Micros, path: Path, peer: PeerId) {
        match (leg_of(path), &mut self.direct, &mut self.relay) {
            (None, Some(direct), _) => direct.close(now, peer),
            (Some(leg), _, Some(relay)) => relay.close(now, leg, peer),
            _ => {}
        }
    }

    fn dropped(&self) -> u64 {
        let direct = self.direct.as_ref().map_or(0, Carrier::dropped);
        direct + self.relay.as_ref().map_or(0, RelayCarrier::dropped)
    }
}

/// Direct carrier of a platform without one: it has no values.
#[derive(Debug, Clone, Copy)]
pub enum NoDirect {}

impl Carrier for NoDirect {
    fn local_id(&self) -> PeerId {
        match *self {}
    }

    fn send(&mut self, _now: Micros, _to: PeerId, _datagram: &[u8]) -> Result<(), WouldBlock> {
        match *self {}
    }

    fn poll(&mut self, _now: Micros, _datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        match *self {}
    }

    fn poll_timeout(&self) -> Micros {
        match *self {}
    }

    fn close(&mut self, _now: Micros, _peer: PeerId) {
        match *self {}
    }
}

impl ConnectCarrier for NoDirect {
    fn connect(&mut self, _now: Micros, _peer: PeerId) {
        match *self {}
    }
}

impl SignaledCarrier for NoDirect {
    fn handle_signal(&mut self, _now: Micros, _from: PeerId, _text: &str) -> Result<(), DecodeError> {
        match *self {}
    }

    fn poll_signal(&mut self) -> Option<(PeerId, Signal)> {
        match *self {}
    }
}
