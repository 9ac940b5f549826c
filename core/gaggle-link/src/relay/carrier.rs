//! Both legs to one relay over their shared socket, as a carrier that is asked by leg.
//!
//! [`PlatformCarriers`](crate::PlatformCarriers) calls it. Absent: which leg is better, and who may
//! connect.

use std::collections::VecDeque;
use std::fmt;

use gaggle_kit::{Micros, PeerId};

use super::client::{RelayClient, RelayCommand};
use super::leg::RelayLeg;
use crate::{CarrierEvent, WouldBlock};

/// Datagrams queued until their leg is polled; beyond that the oldest is dropped.
const WAITING_MAX: usize = 1_024;

/// WebSocket to a relay with an optional channel, natively or in a browser. No method blocks.
pub trait RelaySocket {
    /// Starts opening the WebSocket; replaces the current one.
    fn open(&mut self, now: Micros);

    /// Closes the WebSocket. [`RelaySocketEvent::Closed`] need not follow.
    fn close(&mut self);

    /// Sends a frame over the WebSocket, in order and without loss while it is open.
    fn send_control(&mut self, frame: &[u8]);

    /// Sends a frame with a datagram.
    ///
    /// # Errors
    /// If there is no space for it at the moment.
    fn send(&mut self, now: Micros, leg: RelayLeg, frame: &[u8]) -> Result<(), WouldBlock>;

    /// Starts a channel; [`RelaySocketEvent::Described`] follows. No effect without channel
    /// support.
    fn offer(&mut self, now: Micros);

    /// Applies the relay's answer to the offer.
    fn accept(&mut self, now: Micros, description: &str);

    /// Closes the channel. [`RelaySocketEvent::ChannelClosed`] need not follow.
    fn drop_channel(&mut self);

    /// Next event. For [`RelaySocketEvent::Frame`] its bytes replace the content of `frame`.
    fn poll(&mut self, now: Micros, frame: &mut Vec<u8>) -> Option<RelaySocketEvent>;

    /// When to poll again even if nothing arrives.
    fn poll_timeout(&self) -> Micros;

    /// Frames received over this leg and dropped before they were polled.
    fn dropped(&self, leg: RelayLeg) -> u64 {
        let _ = leg;
        0
    }
}

/// Event of a relay socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelaySocketEvent {
    /// The WebSocket is open.
    Opened,
    /// The WebSocket is closed, or could not be opened.
    Closed,
    /// A frame has arrived over this leg.
    Frame(RelayLeg),
    /// The channel's offer, for the relay.
    Described(String),
    /// The channel is open.
    ChannelOpened,
    /// The channel failed or ended.
    ChannelClosed,
}

/// A peer's connection to a relay: state machine, socket, and datagrams that wait until their leg
/// is polled.
pub struct RelayCarrier<L> {
    client: RelayClient,
    line: L,
    frame: Vec<u8>,
    waiting: [VecDeque<(PeerId, Vec<u8>)>; 2],
    dropped: [u64; 2],
    spare: Vec<Vec<u8>>,
    now: Micros,
}

impl<L> fmt::Debug for RelayCarrier<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayCarrier").field("client", &self.client).finish_non_exhaustive()
    }
}

impl<L: RelaySocket> RelayCarrier<L> {
    /// Combines the state machine with its socket.
    pub fn new(client: RelayClient, line: L) -> RelayCarrier<L> {
        let (frame, waiting, spare) = (Vec::new(), Default::default(), Vec::new());
        RelayCarrier { client, line, frame, waiting, dropped: [0; 2], spare, now: Micros::ZERO }
    }

    /// Whether the client supports this leg.
    pub fn has(&self, leg: RelayLeg) -> bool {
        self.client.has_leg(leg)
    }

    /// Sets the ticket to show from now on.
    pub fn set_ticket(&mut self, now: Micros, ticket: &str) {
        self.client.set_ticket(now, ticket);
        self.obey();
    }

    /// Whether a newer ticket is needed: see [`RelayClient::wants_ticket`].
    pub fn wants_ticket(&mut self, now: Micros) -> bool {
        self.client.wants_ticket(now)
    }

    /// Connects over this leg, like [`ConnectCarrier::connect`](crate::ConnectCarrier::connect).
    pub fn connect(&mut self, now: Micros, leg: RelayLeg, peer: PeerId) {
        self.now = now;
        self.client.connect(now, leg, peer);
        self.obey();
    }

    /// Sends over this leg, like [`Carrier::send`](crate::Carrier::send).
    ///
    /// # Errors
    /// If the socket has no space for it at the moment.
    pub fn send(
        &mut self,
        now: Micros,
        leg: RelayLeg,
        to: PeerId,
        datagram: &[u8],
    ) -> Result<(), WouldBlock> {
        let is_open = self.client.frame(leg, to, datagram, &mut self.frame);
        if is_open { self.line.send(now, leg, &self.frame) } else { Ok(()) }
    }

    /// Reads the socket until there is an event for this leg, like
    /// [`Carrier::poll`](crate::Carrier::poll).
    pub fn poll(&mut self, now: Micros, leg: RelayLeg, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        self.now = now;
        loop {
            if let Some(event) = self.client.poll_event(leg) {
                return Some(event);
            }
            while let Some((peer, mut bytes)) = self.waiting[leg as usize].pop_front() {
                std::mem::swap(datagram, &mut bytes);
                self.spare.push(bytes);
                if self.client.is_open(leg, peer) {
                    return Some(CarrierEvent::Datagram { peer });
                }
            }
            if self.step(now).is_none() {
                // Only after reading: what waited unread must not count as silence.
                self.client.handle_timeout(now);
                self.obey();
                return self.client.poll_event(leg);
            }
        }
    }

    /// When to poll again even if nothing arrives.
    pub fn poll_timeout(&self) -> Micros {
        self.client.poll_timeout().min(self.line.poll_timeout())
    }

    /// Closes over this leg, like [`Carrier::close`](crate::Carrier::close).
    pub fn close(&mut self, now: Micros, leg: RelayLeg, peer: PeerId) {
        self.now = now;
        self.client.close(now, leg, peer);
        self.obey();
    }

    /// Dropped datagrams of both legs, like [`Carrier::dropped`](crate::Carrier::dropped).
    pub fn dropped(&self) -> u64 {
        RelayLeg::ALL.iter().map(|leg| self.dropped[*leg as usize] + self.line.dropped(*leg)).sum()
    }

    fn obey(&mut self) {
        let now = self.now;
        while let Some(order) = self.client.poll_command() {
            match order {
                RelayCommand::Open => self.line.open(now),
                RelayCommand::SendControl(frame) => self.line.send_control(&frame),
                RelayCommand::Close => self.line.close(),
                RelayCommand::Offer => self.line.offer(now),
                RelayCommand::Accept(description) => self.line.accept(now, &description),
                RelayCommand::DropChannel => self.line.drop_channel(),
            }
        }
    }

    fn step(&mut self, now: Micros) -> Option<()> {
        match self.line.poll(now, &mut self.frame)? {
            RelaySocketEvent::Opened => self.client.handle_socket_opened(now),
            RelaySocketEvent::Closed => self.client.handle_socket_closed(now),
            RelaySocketEvent::Described(description) => self.client.handle_described(&description),
            RelaySocketEvent::ChannelOpened => self.client.handle_channel_opened(),
            RelaySocketEvent::ChannelClosed => self.client.handle_channel_closed(),
            RelaySocketEvent::Frame(leg) => {
                if let Some((peer, at)) = self.client.handle_frame(now, leg, &self.frame) {
                    let waiting = &mut self.waiting[leg as usize];
                    if waiting.len() == WAITING_MAX {
                        waiting.pop_front();
                        self.dropped[leg as usize] += 1;
                    }
                    let mut bytes = self.spare.pop().unwrap_or_default();
                    bytes.clear();
                    bytes.extend_from_slice(&self.frame[at..]);
                    waiting.push_back((peer, bytes));
                }
            }
        }
        self.obey();
        Some(())
    }
}
