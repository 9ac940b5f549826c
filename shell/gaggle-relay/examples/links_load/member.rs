//! A member of a room at a relay, without links on top: what it says goes out as it is.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::CarrierEvent;
use gaggle_link::relay::{Leg, Line, LineEvent, Order, RelayClient, RelayFrame};
use gaggle_native::RelayLine;

/// The member.
pub(crate) struct Member {
    pub(crate) id: PeerId,
    client: RelayClient,
    line: RelayLine,
    open: usize,
    frame: Vec<u8>,
    out: Vec<u8>,
}

impl Member {
    /// Comes to this relay and calls the others of its room.
    pub(crate) fn come(now: Micros, url: &str, ticket: &str, id: PeerId, others: &[PeerId]) -> Member {
        let mut client = RelayClient::new(id, ticket, &[Leg::Channel]);
        others.iter().for_each(|other| client.connect(now, Leg::Channel, *other));
        Member { id, client, line: RelayLine::new(url), open: 0, frame: Vec::new(), out: Vec::new() }
    }

    /// How many of the others it can talk to.
    pub(crate) fn open(&self) -> usize {
        self.open
    }

    /// Says something to all others.
    pub(crate) fn say(&mut self, now: Micros, datagram: &[u8]) {
        self.out.clear();
        RelayFrame::Everyone { datagram }.write(&mut self.out);
        let _ = self.line.send(now, Leg::Channel, &self.out);
    }

    /// Does what is due, and tells what was heard and from whom.
    pub(crate) fn poll(&mut self, now: Micros, mut heard: impl FnMut(PeerId, &[u8])) {
        while let Some(event) = self.line.poll(now, &mut self.frame) {
            match event {
                LineEvent::Opened => self.client.socket_opened(now),
                LineEvent::Closed => self.client.socket_closed(now),
                LineEvent::Described(description) => self.client.described(&description),
                LineEvent::ChannelOpened => self.client.channel_opened(),
                LineEvent::ChannelClosed => self.client.channel_closed(),
                LineEvent::Frame(leg) => {
                    if let Some((peer, at)) = self.client.handle_frame(now, leg, &self.frame) {
                        heard(peer, &self.frame[at..]);
                    }
                }
            }
            self.obey(now);
        }
        self.client.handle_timeout(now);
        self.obey(now);
        while let Some(event) = self.client.next_event(Leg::Channel) {
            match event {
                CarrierEvent::Opened { .. } => self.open += 1,
                CarrierEvent::Closed { .. } => self.open -= 1,
                _ => {}
            }
        }
    }

    fn obey(&mut self, now: Micros) {
        while let Some(order) = self.client.next_order() {
            match order {
                Order::Open => self.line.open(now),
                Order::Say(frame) => self.line.say(&frame),
                Order::Close => self.line.close(),
                Order::Offer => self.line.offer(now),
                Order::Accept(description) => self.line.accept(now, &description),
                Order::DropChannel => self.line.drop_channel(),
            }
        }
    }
}
