//! Both legs to one relay over the line they share, as a carrier that is asked by leg.
//!
//! [`PlatformCarriers`](crate::PlatformCarriers) calls it. Absent: which leg is better, and who may
//! connect.

use std::collections::VecDeque;
use std::fmt;

use gaggle_kit::{Micros, PeerId};

use super::client::{RelayClient, RelayCommand, RelayLeg};
use crate::{CarrierEvent, WouldBlock};

/// Datagrams that wait until their leg is polled; one more drops the oldest.
const WAITING_MAX: usize = 1_024;

/// A socket to a relay and perhaps a channel beside it: what waits, natively or in a browser.
pub trait RelaySocket {
    /// Begin to open the socket, in place of the one there was.
    fn open(&mut self, now: Micros);

    /// Close the socket. [`RelaySocketEvent::Closed`] need not follow.
    fn close(&mut self);

    /// Send a frame over the socket, in order and without loss as long as it lives.
    fn send_control(&mut self, frame: &[u8]);

    /// Send a frame with a datagram.
    ///
    /// # Errors
    /// If there is no room for it at the moment.
    fn send(&mut self, now: Micros, leg: RelayLeg, frame: &[u8]) -> Result<(), WouldBlock>;

    /// Begin a channel; [`RelaySocketEvent::Described`] follows. A line that has none does nothing.
    fn offer(&mut self, now: Micros);

    /// What the relay answered to the offer.
    fn accept(&mut self, now: Micros, description: &str);

    /// Drop the channel. [`RelaySocketEvent::ChannelClosed`] need not follow.
    fn drop_channel(&mut self);

    /// What happened next. For [`RelaySocketEvent::Frame`] the bytes have replaced the content of
    /// `frame`.
    fn poll(&mut self, now: Micros, frame: &mut Vec<u8>) -> Option<RelaySocketEvent>;

    /// When to poll again even if nothing arrives.
    fn poll_timeout(&self) -> Micros;

    /// Frames that came over this leg and were thrown away before they could be polled.
    fn dropped(&self, leg: RelayLeg) -> u64 {
        let _ = leg;
        0
    }
}

/// What happened on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelaySocketEvent {
    /// The socket is open.
    Opened,
    /// The socket is closed, or could not be opened.
    Closed,
    /// A frame came.
    Frame(RelayLeg),
    /// The channel's description, for the relay.
    Described(String),
    /// The channel is open.
    ChannelOpened,
    /// The channel failed or ended.
    ChannelClosed,
}

/// A machine's connection to a relay: the deciding half, the line it runs over, and datagrams that
/// wait until their leg is polled.
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
    /// Puts the deciding and the waiting half together.
    pub fn new(client: RelayClient, line: L) -> RelayCarrier<L> {
        let (frame, waiting, spare) = (Vec::new(), Default::default(), Vec::new());
        RelayCarrier { client, line, frame, waiting, dropped: [0; 2], spare, now: Micros::ZERO }
    }

    /// Whether the client was made for this leg.
    pub fn has(&self, leg: RelayLeg) -> bool {
        self.client.has_leg(leg)
    }

    /// From now on this ticket counts.
    pub fn set_ticket(&mut self, now: Micros, ticket: &str) {
        self.client.set_ticket(now, ticket);
        self.obey();
    }

    /// As [`RelayClient::wants_ticket`] says.
    pub fn wants_ticket(&mut self, now: Micros) -> bool {
        self.client.wants_ticket(now)
    }

    /// As [`ConnectCarrier::connect`](crate::ConnectCarrier::connect), over this leg.
    pub fn connect(&mut self, now: Micros, leg: RelayLeg, peer: PeerId) {
        self.now = now;
        self.client.connect(now, leg, peer);
        self.obey();
    }

    /// As [`Carrier::send`](crate::Carrier::send), over this leg.
    ///
    /// # Errors
    /// If the line has no room for it at the moment.
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

    /// As [`Carrier::poll`](crate::Carrier::poll): takes what the line has, until there is
    /// something for this leg.
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
                // Only now: what came while nobody looked must not count as silence.
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

    /// As [`Carrier::close`](crate::Carrier::close), over this leg.
    pub fn close(&mut self, now: Micros, leg: RelayLeg, peer: PeerId) {
        self.now = now;
        self.client.close(now, leg, peer);
        self.obey();
    }

    /// As [`Carrier::dropped`](crate::Carrier::dropped), over both legs.
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
