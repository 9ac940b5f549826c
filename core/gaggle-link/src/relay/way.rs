//! The two legs to a relay as ways of their own, over one line they share.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

use gaggle_kit::{Micros, PeerId};

use super::client::{Leg, Order, RelayClient};
use crate::{Busy, Carrier, CarrierEvent, Way};

/// Datagrams that wait until their leg is polled; one more drops the oldest.
const WAITING_MAX: usize = 1_024;

/// A socket to a relay and perhaps a channel beside it: what waits, natively or in a browser.
pub trait Line {
    /// Begin to open the socket, in place of the one there was.
    fn open(&mut self, now: Micros);

    /// Close the socket. [`LineEvent::Closed`] need not follow.
    fn close(&mut self);

    /// Send a frame over the socket, in order and without loss as long as it lives.
    fn say(&mut self, frame: &[u8]);

    /// Send a frame with a datagram.
    ///
    /// # Errors
    /// If there is no room for it at the moment.
    fn send(&mut self, now: Micros, leg: Leg, frame: &[u8]) -> Result<(), Busy>;

    /// Begin a channel; [`LineEvent::Described`] follows. A line that has none does nothing.
    fn offer(&mut self, now: Micros);

    /// What the relay answered to the offer.
    fn accept(&mut self, now: Micros, description: &str);

    /// Drop the channel. [`LineEvent::ChannelClosed`] need not follow.
    fn drop_channel(&mut self);

    /// What happened next. For [`LineEvent::Frame`] the bytes have replaced the content of `frame`.
    fn poll(&mut self, now: Micros, frame: &mut Vec<u8>) -> Option<LineEvent>;

    /// When to poll again even if nothing arrives.
    fn poll_timeout(&self) -> Micros;

    /// Frames that came over this leg and were thrown away before they could be polled.
    fn dropped(&self, leg: Leg) -> u64 {
        let _ = leg;
        0
    }
}

/// What happened on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineEvent {
    /// The socket is open.
    Opened,
    /// The socket is closed, or could not be opened.
    Closed,
    /// A frame came.
    Frame(Leg),
    /// The channel's description, for the relay.
    Described(String),
    /// The channel is open.
    ChannelOpened,
    /// The channel failed or ended.
    ChannelClosed,
}

struct Shared<L> {
    client: RelayClient,
    line: L,
    frame: Vec<u8>,
    waiting: [VecDeque<(PeerId, Vec<u8>)>; 2],
    dropped: [u64; 2],
    spare: Vec<Vec<u8>>,
    now: Micros,
}

impl<L: Line> Shared<L> {
    fn obey(&mut self) {
        let now = self.now;
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

    /// Takes what the line has, until there is something for this leg.
    fn poll(&mut self, now: Micros, leg: Leg, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        self.now = now;
        loop {
            if let Some(event) = self.client.next_event(leg) {
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
                return self.client.next_event(leg);
            }
        }
    }

    fn step(&mut self, now: Micros) -> Option<()> {
        match self.line.poll(now, &mut self.frame)? {
            LineEvent::Opened => self.client.socket_opened(now),
            LineEvent::Closed => self.client.socket_closed(now),
            LineEvent::Described(description) => self.client.described(&description),
            LineEvent::ChannelOpened => self.client.channel_opened(),
            LineEvent::ChannelClosed => self.client.channel_closed(),
            LineEvent::Frame(leg) => {
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

/// A machine's connection to a relay. Its ways go into [`Paths`](crate::Paths); this stays with whoever renews tickets.
pub struct RelayHandle<L>(Rc<RefCell<Shared<L>>>);

impl<L> Clone for RelayHandle<L> {
    fn clone(&self) -> RelayHandle<L> {
        RelayHandle(Rc::clone(&self.0))
    }
}

impl<L> fmt::Debug for RelayHandle<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RelayHandle").field(&self.0.borrow().client).finish()
    }
}

impl<L: Line> RelayHandle<L> {
    /// Puts the deciding and the waiting half together.
    pub fn new(client: RelayClient, line: L) -> RelayHandle<L> {
        let (frame, waiting, spare) = (Vec::new(), Default::default(), Vec::new());
        let (dropped, now) = ([0; 2], Micros::ZERO);
        RelayHandle(Rc::new(RefCell::new(Shared { client, line, frame, waiting, dropped, spare, now })))
    }

    /// The way over one leg. It must be one the client was made for.
    pub fn way(&self, leg: Leg) -> RelayWay<L> {
        RelayWay { shared: self.clone(), leg }
    }

    /// From now on this ticket counts.
    pub fn set_ticket(&self, now: Micros, ticket: &str) {
        let mut shared = self.0.borrow_mut();
        shared.client.set_ticket(now, ticket);
        shared.obey();
    }

    /// Looks at the line's other side, for tests that break it.
    pub fn with_line<T>(&self, look: impl FnOnce(&mut L) -> T) -> T {
        look(&mut self.0.borrow_mut().line)
    }
}

/// One leg to a relay, as a way to all peers.
#[derive(Debug)]
pub struct RelayWay<L> {
    shared: RelayHandle<L>,
    leg: Leg,
}

impl<L: Line> Way for RelayWay<L> {
    fn connect(&mut self, now: Micros, peer: PeerId) {
        let mut shared = self.shared.0.borrow_mut();
        shared.now = now;
        shared.client.connect(now, self.leg, peer);
        shared.obey();
    }
}

impl<L: Line> Carrier for RelayWay<L> {
    fn local_id(&self) -> PeerId {
        self.shared.0.borrow().client.local_id()
    }

    fn send(&mut self, now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), Busy> {
        let shared = &mut *self.shared.0.borrow_mut();
        let mut frame = std::mem::take(&mut shared.frame);
        let sent = match shared.client.frame(self.leg, to, datagram, &mut frame) {
            true => shared.line.send(now, self.leg, &frame),
            false => Ok(()),
        };
        shared.frame = frame;
        sent
    }

    fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        self.shared.0.borrow_mut().poll(now, self.leg, datagram)
    }

    fn poll_timeout(&self) -> Micros {
        let shared = self.shared.0.borrow();
        shared.client.poll_timeout().min(shared.line.poll_timeout())
    }

    fn dropped(&self) -> u64 {
        let shared = self.shared.0.borrow();
        shared.dropped[self.leg as usize] + shared.line.dropped(self.leg)
    }

    fn close(&mut self, now: Micros, peer: PeerId) {
        let mut shared = self.shared.0.borrow_mut();
        shared.now = now;
        shared.client.close(now, self.leg, peer);
        shared.obey();
    }
}
