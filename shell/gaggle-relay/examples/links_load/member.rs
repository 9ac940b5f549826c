//! Member of a room at a relay, without links on top: datagrams go out as they are.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::CarrierEvent;
use gaggle_link::relay::{RelayClient, RelayCommand, RelayFrame, RelayLeg, RelaySocket, RelaySocketEvent};
use gaggle_native::RelayWebSocket;

/// Raw client of a relay.
pub(crate) struct Member {
    pub(crate) id: PeerId,
    client: RelayClient,
    line: RelayWebSocket,
    open: usize,
    frame: Vec<u8>,
    out: Vec<u8>,
}

impl Member {
    /// Connects to the relay and opens pairs with the other members of its room.
    pub(crate) fn come(now: Micros, url: &str, ticket: &str, id: PeerId, others: &[PeerId]) -> Member {
        let mut client = RelayClient::new(id, ticket, &[RelayLeg::Datagram]);
        others.iter().for_each(|other| client.connect(now, RelayLeg::Datagram, *other));
        Member { id, client, line: RelayWebSocket::new(url), open: 0, frame: Vec::new(), out: Vec::new() }
    }

    /// Number of members it can send to.
    pub(crate) fn open(&self) -> usize {
        self.open
    }

    /// Sends a datagram to all others.
    pub(crate) fn say(&mut self, now: Micros, datagram: &[u8]) {
        self.out.clear();
        RelayFrame::Broadcast { datagram }.write(&mut self.out);
        let _ = self.line.send(now, RelayLeg::Datagram, &self.out);
    }

    /// Runs timers, and passes on received datagrams with their senders.
    pub(crate) fn poll(&mut self, now: Micros, mut heard: impl FnMut(PeerId, &[u8])) {
        while let Some(event) = self.line.poll(now, &mut self.frame) {
            match event {
                RelaySocketEvent::Opened => self.client.handle_socket_opened(now),
                RelaySocketEvent::Closed => self.client.handle_socket_closed(now),
                RelaySocketEvent::Described(description) => self.client.handle_described(&description),
                RelaySocketEvent::ChannelOpened => self.client.handle_channel_opened(),
                RelaySocketEvent::ChannelClosed => self.client.handle_channel_closed(),
                RelaySocketEvent::Frame(leg) => {
                    if let Some((peer, at)) = self.client.handle_frame(now, leg, &self.frame) {
                        heard(peer, &self.frame[at..]);
                    }
                }
            }
            self.obey(now);
        }
        self.client.handle_timeout(now);
        self.obey(now);
        while let Some(event) = self.client.poll_event(RelayLeg::Datagram) {
            match event {
                CarrierEvent::Opened { .. } => self.open += 1,
                CarrierEvent::Closed { .. } => self.open -= 1,
                _ => {}
            }
        }
    }

    fn obey(&mut self, now: Micros) {
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
}
