//! State machine of a relay's client: when to connect, which pairs to open, which leg leads to
//! which peer.
//!
//! Driven by [`RelayCarrier`](super::RelayCarrier). Absent: sockets, clocks.

use std::collections::VecDeque;

use gaggle_kit::{Micros, PeerId, VecMap};

use super::frame::{RelayFrame, RelayReject};
use super::leg::RelayLeg;
use super::ticket_request::TicketRequest;
use crate::CarrierEvent;

/// Time for the WebSocket to open. The network may work again while an old attempt still backs off.
const OPEN_PATIENCE: Micros = Micros::from_secs(5);
/// Silence on a WebSocket after which the relay is asked: after a change of an address on the path,
/// a broken one looks open for a quarter of an hour.
const ASK_AFTER: Micros = Micros::from_secs(3);
/// Time for an answer to such a request, or to the ticket. Together with the silence, the first
/// retry delay and opening, recovery takes less than ten seconds.
const ANSWER_PATIENCE: Micros = Micros::from_secs(3);
/// A channel that does not open within this time is offered again when needed.
const CHANNEL_PATIENCE: Micros = Micros::from_secs(10);
/// First delay after a lost connection; doubles up to the longest.
const RETRY_FIRST: Micros = Micros::from_millis(250);
const RETRY_MAX: Micros = Micros::from_secs(4);
/// Delay before a pair is closed: earlier datagrams may take a slower path.
const HANG_UP_AFTER: Micros = Micros::from_millis(250);
/// Peers a relay may announce: more than any room has.
const PEERS_MAX: usize = 128;
/// An unused connection is closed after this time.
const IDLE_MAX: Micros = Micros::from_secs(10);

/// Command for the socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelayCommand {
    /// Open the WebSocket.
    Open,
    /// Send this over the WebSocket, in order and without loss while it is open.
    SendControl(Vec<u8>),
    /// Close the WebSocket.
    Close,
    /// Create a channel and its offer: [`RelayClient::handle_described`].
    Offer,
    /// Apply the relay's answer to the offer.
    Accept(String),
    /// Close the channel.
    DropChannel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Socket {
    Closed { retry_at: Micros },
    Opening { since: Micros },
    Proving { since: Micros },
    Proven,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Channel {
    None,
    Negotiating { since: Micros },
    Open,
}

/// State of a peer at the relay.
#[derive(Debug, Default)]
struct Reach {
    /// The relay forwards to it.
    forwarded: bool,
    /// The local side requested this peer on that leg.
    wanted: [bool; 2],
    /// The local side left that leg, until either side requests it again.
    left: [bool; 2],
    /// Reported as open on that leg.
    open: [bool; 2],
}

/// Client of a relay, a state machine.
#[derive(Debug)]
pub struct RelayClient {
    local: PeerId,
    ticket: String,
    /// Permitted legs, in the order of [`RelayLeg::ALL`].
    legs: [bool; 2],
    socket: Socket,
    channel: Channel,
    /// When the WebSocket last received something, and when the relay was asked since.
    heard_at: Micros,
    asked_at: Option<Micros>,
    /// Connections lost in a row.
    failures: u32,
    instance: Option<u64>,
    has_channels: bool,
    peers: VecMap<PeerId, Reach>,
    /// Peers that were left, and when to close their pairs.
    leaving: Vec<(Micros, PeerId)>,
    idle_since: Option<Micros>,
    ticket_request: TicketRequest,
    refused: Option<RelayReject>,
    orders: VecDeque<RelayCommand>,
    told: [VecDeque<CarrierEvent>; 2],
}

impl RelayClient {
    /// For the local peer, with this ticket, over these legs. Connects when the first peer is
    /// requested.
    pub fn new(local: PeerId, ticket: &str, legs: &[RelayLeg]) -> RelayClient {
        RelayClient {
            local,
            ticket: ticket.to_string(),
            legs: RelayLeg::ALL.map(|leg| legs.contains(&leg)),
            socket: Socket::Closed { retry_at: Micros::ZERO },
            channel: Channel::None,
            heard_at: Micros::ZERO,
            asked_at: None,
            failures: 0,
            instance: None,
            has_channels: false,
            peers: VecMap::new(),
            leaving: Vec::new(),
            idle_since: None,
            ticket_request: TicketRequest::default(),
            refused: None,
            orders: VecDeque::new(),
            told: Default::default(),
        }
    }

    /// Id of the local peer.
    pub fn local_id(&self) -> PeerId {
        self.local
    }

    /// Whether this leg is permitted.
    pub fn has_leg(&self, leg: RelayLeg) -> bool {
        self.legs[leg.index()]
    }

    /// Next command for the socket.
    pub fn poll_command(&mut self) -> Option<RelayCommand> {
        self.orders.pop_front()
    }

    /// Next event of this leg.
    pub fn poll_event(&mut self, leg: RelayLeg) -> Option<CarrierEvent> {
        self.told[leg.index()].pop_front()
    }

    /// Why the relay closed the last connection, if it said so.
    pub fn refused(&self) -> Option<RelayReject> {
        self.refused
    }

    /// Whether to request a newer ticket from the lobby now, because the relay rejected this one.
    pub fn wants_ticket(&mut self, now: Micros) -> bool {
        self.ticket_request.take(now)
    }

    /// Sets the ticket to show from now on.
    pub fn set_ticket(&mut self, now: Micros, ticket: &str) {
        if self.ticket == ticket {
            return;
        }
        self.ticket = ticket.to_string();
        self.ticket_request.granted();
        match &mut self.socket {
            Socket::Proving { .. } | Socket::Proven => self.say(RelayFrame::Authenticate { ticket }),
            Socket::Closed { retry_at } => *retry_at = now,
            Socket::Opening { .. } => {}
        }
    }

    /// Connects to this peer over this leg, now or when it arrives.
    pub fn connect(&mut self, now: Micros, leg: RelayLeg, peer: PeerId) {
        let reach = self.peers.get_or_insert_with(peer, Reach::default);
        reach.wanted[leg.index()] = true;
        reach.left[leg.index()] = false;
        let forwarded = reach.forwarded;
        self.leaving.retain(|(_, leaving)| *leaving != peer);
        self.idle_since = None;
        if self.socket == Socket::Proven {
            if !forwarded {
                self.say(RelayFrame::Open { peer });
            }
            self.offer_if_needed(now);
        }
        self.refresh(peer);
        self.open_if_due(now);
    }

    /// Closes this leg to the peer.
    pub fn close(&mut self, now: Micros, leg: RelayLeg, peer: PeerId) {
        let Some(reach) = self.peers.get_mut(&peer) else { return };
        (reach.wanted[leg.index()], reach.open[leg.index()]) = (false, false);
        reach.left[leg.index()] = true;
        if !reach.wanted.contains(&true) && !reach.open.contains(&true) {
            self.peers.remove(&peer);
            self.leaving.push((now + HANG_UP_AFTER, peer));
        }
        self.told[leg.index()].retain(|event| event_peer(*event) != peer);
        self.note_idle(now);
    }

    /// Writes the frame of a datagram into `out`; false if the leg is not open to this peer.
    pub fn frame(&self, leg: RelayLeg, peer: PeerId, datagram: &[u8], out: &mut Vec<u8>) -> bool {
        let open = self.is_open(leg, peer);
        if open {
            out.clear();
            RelayFrame::Data { peer, datagram }.write(out);
        }
        open
    }

    /// Whether a leg is open to a peer.
    pub fn is_open(&self, leg: RelayLeg, peer: PeerId) -> bool {
        self.peers.get(&peer).is_some_and(|reach| reach.open[leg.index()])
    }

    /// The WebSocket has opened.
    pub fn handle_socket_opened(&mut self, now: Micros) {
        if matches!(self.socket, Socket::Opening { .. }) {
            self.socket = Socket::Proving { since: now };
            let ticket = std::mem::take(&mut self.ticket);
            self.say(RelayFrame::Authenticate { ticket: &ticket });
            self.ticket = ticket;
        }
    }

    /// The WebSocket has closed, or could not be opened.
    pub fn handle_socket_closed(&mut self, now: Micros) {
        let wait = RETRY_FIRST.get() << self.failures.min(8);
        self.failures += 1;
        self.asked_at = None;
        self.socket = Socket::Closed { retry_at: now + Micros::new(wait.min(RETRY_MAX.get())) };
        if self.channel != Channel::Open {
            self.drop_channel();
            self.forget_forwarding();
        }
        self.refresh_all();
        self.note_idle(now);
    }

    /// The socket has created the offer of its channel.
    pub fn handle_described(&mut self, description: &str) {
        if self.socket == Socket::Proven && matches!(self.channel, Channel::Negotiating { .. }) {
            self.say(RelayFrame::Offer { description });
        }
    }

    /// The channel has opened.
    pub fn handle_channel_opened(&mut self) {
        if matches!(self.channel, Channel::Negotiating { .. }) {
            self.channel = Channel::Open;
            self.refresh_all();
        }
    }

    /// The channel has failed or ended.
    pub fn handle_channel_closed(&mut self) {
        self.channel = Channel::None;
        if self.socket != Socket::Proven {
            self.forget_forwarding();
        }
        self.refresh_all();
    }

    /// Handles a frame of a leg. For a datagram, returns its sender and its position in the frame.
    pub fn handle_frame(&mut self, now: Micros, leg: RelayLeg, bytes: &[u8]) -> Option<(PeerId, usize)> {
        if leg == RelayLeg::WebSocket {
            (self.heard_at, self.asked_at) = (now, None);
        }
        let frame = RelayFrame::read(bytes).ok()?;
        if let RelayFrame::Data { peer, datagram } = frame {
            return self.is_open(leg, peer).then_some((peer, bytes.len() - datagram.len()));
        }
        if leg == RelayLeg::WebSocket {
            self.handle_word(now, frame);
        }
        None
    }

    fn handle_word(&mut self, now: Micros, frame: RelayFrame<'_>) {
        match frame {
            RelayFrame::Authenticated { instance, channels } => self.handle_proven(now, instance, channels),
            // No honest relay opens as many.
            RelayFrame::Opened { peer }
                if self.peers.len() >= PEERS_MAX && !self.peers.contains_key(&peer) => {}
            RelayFrame::Opened { peer } => {
                let reach = self.peers.get_or_insert_with(peer, Reach::default);
                if !std::mem::replace(&mut reach.forwarded, true) {
                    reach.left = [false; 2];
                }
                self.leaving.retain(|(_, leaving)| *leaving != peer);
                self.idle_since = None;
                self.refresh(peer);
                self.offer_if_needed(now);
            }
            RelayFrame::Closed { peer } => {
                if let Some(reach) = self.peers.get_mut(&peer) {
                    reach.forwarded = false;
                    self.refresh(peer);
                    self.forget_unwanted(now);
                }
            }
            RelayFrame::Answer { description } => {
                if matches!(self.channel, Channel::Negotiating { .. }) {
                    self.orders.push_back(RelayCommand::Accept(description.to_string()));
                }
            }
            RelayFrame::Refused { reason } => {
                self.refused = Some(reason);
                self.ticket_request
                    .refused(now, matches!(reason, RelayReject::Replaced | RelayReject::Ticket));
            }
            _ => {}
        }
    }

    fn handle_proven(&mut self, now: Micros, instance: u64, channels: bool) {
        let renewed = self.socket == Socket::Proven;
        self.socket = Socket::Proven;
        (self.failures, self.refused, self.has_channels) = (0, None, channels);
        if self.instance.replace(instance) != Some(instance) {
            self.drop_channel();
            self.forget_forwarding();
        }
        if !renewed {
            // Changes during the outage are in the replies to repeated requests.
            let peers: Vec<PeerId> = self.peers.keys().copied().collect();
            peers.into_iter().for_each(|peer| self.say(RelayFrame::Open { peer }));
        }
        self.offer_if_needed(now);
        self.refresh_all();
        self.note_idle(now);
    }

    /// Performs what is due. Pass on everything received before calling it.
    pub fn handle_timeout(&mut self, now: Micros) {
        self.open_if_due(now);
        match self.socket {
            Socket::Opening { since } if now.since(since) >= OPEN_PATIENCE => self.give_up_socket(now),
            Socket::Proving { since } if now.since(since) >= ANSWER_PATIENCE => self.give_up_socket(now),
            Socket::Proven => match self.asked_at {
                Some(asked) if now.since(asked) >= ANSWER_PATIENCE => self.give_up_socket(now),
                None if now.since(self.heard_at) >= ASK_AFTER => self.ask(now),
                _ => {}
            },
            _ => {}
        }
        while let Some(index) = self.leaving.iter().position(|(at, _)| *at <= now) {
            let (_, peer) = self.leaving.swap_remove(index);
            if self.socket == Socket::Proven {
                self.say(RelayFrame::Close { peer });
            }
        }
        if self.idle_since.is_some_and(|since| now.since(since) >= IDLE_MAX) {
            self.idle_since = None;
            self.drop_channel();
            if !matches!(self.socket, Socket::Closed { .. }) {
                self.orders.push_back(RelayCommand::Close);
                self.socket = Socket::Closed { retry_at: now };
            }
        }
    }

    /// When [`RelayClient::handle_timeout`] has something to do.
    pub fn poll_timeout(&self) -> Micros {
        let socket = match self.socket {
            Socket::Closed { retry_at } if !self.ticket_request.is_open() && !self.peers.is_empty() => {
                retry_at
            }
            Socket::Closed { .. } => Micros::MAX,
            Socket::Opening { since } => since + OPEN_PATIENCE,
            Socket::Proving { since } => since + ANSWER_PATIENCE,
            Socket::Proven if self.peers.is_empty() => Micros::MAX,
            Socket::Proven => {
                self.asked_at.map_or(self.heard_at + ASK_AFTER, |asked| asked + ANSWER_PATIENCE)
            }
        };
        let leaving = self.leaving.iter().map(|(at, _)| *at).min().unwrap_or(Micros::MAX);
        self.idle_since.map_or(Micros::MAX, |since| since + IDLE_MAX).min(socket).min(leaving)
    }

    fn open_if_due(&mut self, now: Micros) {
        let is_due = matches!(self.socket, Socket::Closed { retry_at } if retry_at <= now);
        if is_due && !self.ticket_request.is_open() && !self.peers.is_empty() {
            self.socket = Socket::Opening { since: now };
            self.orders.push_back(RelayCommand::Open);
        }
    }

    /// Sends a frame that is always answered: a repeated pair request, of a connected peer if
    /// possible.
    fn ask(&mut self, now: Micros) {
        let forwarded = self.peers.iter().find(|(_, reach)| reach.forwarded);
        if let Some(peer) = forwarded.or_else(|| self.peers.iter().next()).map(|(peer, _)| *peer) {
            self.asked_at = Some(now);
            self.say(RelayFrame::Open { peer });
        }
    }

    fn give_up_socket(&mut self, now: Micros) {
        self.orders.push_back(RelayCommand::Close);
        self.handle_socket_closed(now);
    }

    fn offer_if_needed(&mut self, now: Micros) {
        let stale = match self.channel {
            Channel::None => true,
            Channel::Negotiating { since } => now.since(since) >= CHANNEL_PATIENCE,
            Channel::Open => false,
        };
        // A peer that connected by itself is served on the better leg, too.
        let wanted = self.peers.values().any(|reach| {
            !reach.left[RelayLeg::Datagram.index()]
                && (reach.wanted[RelayLeg::Datagram.index()] || !reach.wanted[1])
        });
        let possible =
            self.socket == Socket::Proven && self.has_channels && self.legs[RelayLeg::Datagram.index()];
        if possible && wanted && stale {
            self.drop_channel();
            self.channel = Channel::Negotiating { since: now };
            self.orders.push_back(RelayCommand::Offer);
        }
    }

    fn is_up(&self, leg: RelayLeg) -> bool {
        match leg {
            RelayLeg::Datagram => self.channel == Channel::Open,
            RelayLeg::WebSocket => self.socket == Socket::Proven,
        }
    }

    /// Emits events for changes of a peer.
    fn refresh(&mut self, peer: PeerId) {
        let up = RelayLeg::ALL.map(|leg| self.is_up(leg) && self.legs[leg.index()]);
        let Some(reach) = self.peers.get_mut(&peer) else { return };
        for (leg, is_up) in up.into_iter().enumerate() {
            let open = is_up && reach.forwarded && !reach.left[leg];
            if std::mem::replace(&mut reach.open[leg], open) != open {
                let event = if open { CarrierEvent::Opened { peer } } else { CarrierEvent::Closed { peer } };
                self.told[leg].push_back(event);
            }
        }
    }

    fn refresh_all(&mut self) {
        let peers: Vec<PeerId> = self.peers.keys().copied().collect();
        peers.into_iter().for_each(|peer| self.refresh(peer));
    }

    fn forget_forwarding(&mut self) {
        self.peers.values_mut().for_each(|reach| reach.forwarded = false);
    }

    /// Drops peers that connected by themselves and left.
    fn forget_unwanted(&mut self, now: Micros) {
        self.peers.retain(|_, reach| reach.forwarded || reach.wanted.contains(&true));
        self.note_idle(now);
    }

    fn note_idle(&mut self, now: Micros) {
        if self.peers.is_empty() {
            self.idle_since.get_or_insert(now);
        }
    }

    fn drop_channel(&mut self) {
        if self.channel != Channel::None {
            self.channel = Channel::None;
            self.orders.push_back(RelayCommand::DropChannel);
        }
    }

    fn say(&mut self, frame: RelayFrame<'_>) {
        self.orders.push_back(RelayCommand::SendControl(frame.to_bytes()));
    }
}

fn event_peer(event: CarrierEvent) -> PeerId {
    match event {
        CarrierEvent::Opened { peer }
        | CarrierEvent::Datagram { peer }
        | CarrierEvent::Rerouted { peer }
        | CarrierEvent::Closed { peer } => peer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: PeerId = PeerId::from_u128(1);
    const BEN: PeerId = PeerId::from_u128(2);
    const T0: Micros = Micros::from_secs(100);

    fn orders(client: &mut RelayClient) -> Vec<RelayCommand> {
        std::iter::from_fn(|| client.poll_command()).collect()
    }

    fn events(client: &mut RelayClient, leg: RelayLeg) -> Vec<CarrierEvent> {
        std::iter::from_fn(|| client.poll_event(leg)).collect()
    }

    fn say(frame: RelayFrame<'_>) -> RelayCommand {
        RelayCommand::SendControl(frame.to_bytes())
    }

    fn hear(client: &mut RelayClient, now: Micros, frame: RelayFrame<'_>) -> Option<(PeerId, usize)> {
        client.handle_frame(now, RelayLeg::WebSocket, &frame.to_bytes())
    }

    fn proven(legs: &[RelayLeg]) -> RelayClient {
        let mut client = RelayClient::new(ME, "ticket", legs);
        client.connect(T0, *legs.last().unwrap(), BEN);
        client.handle_socket_opened(T0);
        hear(&mut client, T0, RelayFrame::Authenticated { instance: 7, channels: true });
        orders(&mut client);
        client
    }

    #[test]
    fn client_connects_on_demand_and_authenticates_first() {
        let mut client = RelayClient::new(ME, "ticket", &RelayLeg::ALL);
        client.handle_timeout(T0);
        assert_eq!(orders(&mut client), []);
        client.connect(T0, RelayLeg::WebSocket, BEN);
        assert_eq!(orders(&mut client), [RelayCommand::Open]);
        client.handle_socket_opened(T0);
        assert_eq!(orders(&mut client), [say(RelayFrame::Authenticate { ticket: "ticket" })]);
        hear(&mut client, T0, RelayFrame::Authenticated { instance: 7, channels: false });
        assert_eq!(orders(&mut client), [say(RelayFrame::Open { peer: BEN })]);
        assert_eq!(events(&mut client, RelayLeg::WebSocket), []);
        hear(&mut client, T0, RelayFrame::Opened { peer: BEN });
        assert_eq!(events(&mut client, RelayLeg::WebSocket), [CarrierEvent::Opened { peer: BEN }]);
        assert_eq!(events(&mut client, RelayLeg::Datagram), []);
    }

    #[test]
    fn channel_is_offered_and_opens_better_leg() {
        let mut client = RelayClient::new(ME, "ticket", &RelayLeg::ALL);
        client.connect(T0, RelayLeg::Datagram, BEN);
        client.handle_socket_opened(T0);
        hear(&mut client, T0, RelayFrame::Authenticated { instance: 7, channels: true });
        assert!(orders(&mut client).contains(&RelayCommand::Offer));
        client.handle_described("v=0");
        assert_eq!(orders(&mut client), [say(RelayFrame::Offer { description: "v=0" })]);
        hear(&mut client, T0, RelayFrame::Opened { peer: BEN });
        hear(&mut client, T0, RelayFrame::Answer { description: "v=1" });
        assert_eq!(orders(&mut client), [RelayCommand::Accept("v=1".to_string())]);
        client.handle_channel_opened();
        assert_eq!(events(&mut client, RelayLeg::Datagram), [CarrierEvent::Opened { peer: BEN }]);
        let data = RelayFrame::Data { peer: BEN, datagram: b"honk" }.to_bytes();
        assert_eq!(client.handle_frame(T0, RelayLeg::Datagram, &data), Some((BEN, 17)));
        // Control frames are accepted on the WebSocket only.
        let closed = RelayFrame::Closed { peer: BEN }.to_bytes();
        client.handle_frame(T0, RelayLeg::Datagram, &closed);
        assert!(client.is_open(RelayLeg::Datagram, BEN));
    }

    #[test]
    fn lost_socket_leaves_channel_open_and_is_reopened() {
        let mut client = proven(&RelayLeg::ALL);
        client.connect(T0, RelayLeg::Datagram, BEN);
        hear(&mut client, T0, RelayFrame::Opened { peer: BEN });
        client.handle_channel_opened();
        orders(&mut client);
        events(&mut client, RelayLeg::WebSocket);
        client.handle_socket_closed(T0);
        assert_eq!(events(&mut client, RelayLeg::WebSocket), [CarrierEvent::Closed { peer: BEN }]);
        assert!(client.is_open(RelayLeg::Datagram, BEN));
        assert_eq!(client.poll_timeout(), T0 + RETRY_FIRST);
        client.handle_timeout(T0 + RETRY_FIRST);
        assert_eq!(orders(&mut client), [RelayCommand::Open]);
        client.handle_socket_opened(T0);
        hear(&mut client, T0, RelayFrame::Authenticated { instance: 7, channels: true });
        assert!(orders(&mut client).contains(&say(RelayFrame::Open { peer: BEN })));
        assert!(client.is_open(RelayLeg::Datagram, BEN) && client.is_open(RelayLeg::WebSocket, BEN));
    }

    #[test]
    fn restarted_relay_knows_no_peers() {
        let mut client = proven(&RelayLeg::ALL);
        client.connect(T0, RelayLeg::Datagram, BEN);
        hear(&mut client, T0, RelayFrame::Opened { peer: BEN });
        client.handle_channel_opened();
        client.handle_socket_closed(T0);
        client.handle_timeout(T0 + RETRY_MAX);
        client.handle_socket_opened(T0);
        orders(&mut client);
        hear(&mut client, T0, RelayFrame::Authenticated { instance: 8, channels: true });
        let ordered = orders(&mut client);
        assert!(
            ordered.contains(&RelayCommand::DropChannel) && ordered.contains(&RelayCommand::Offer),
            "{ordered:?}"
        );
        assert!(!client.is_open(RelayLeg::Datagram, BEN));
    }

    #[test]
    fn calling_peer_is_open_without_request_and_left_leg_stays_left() {
        let mut client = proven(&[RelayLeg::WebSocket]);
        let ada = PeerId::from_u128(3);
        hear(&mut client, T0, RelayFrame::Opened { peer: ada });
        assert_eq!(events(&mut client, RelayLeg::WebSocket), [CarrierEvent::Opened { peer: ada }]);
        assert_eq!(hear(&mut client, T0, RelayFrame::Data { peer: ada, datagram: b"x" }), Some((ada, 17)));
        client.close(T0, RelayLeg::WebSocket, ada);
        client.handle_timeout(T0 + HANG_UP_AFTER);
        assert_eq!(orders(&mut client), [say(RelayFrame::Close { peer: ada })]);
        assert_eq!(hear(&mut client, T0, RelayFrame::Data { peer: ada, datagram: b"x" }), None);
    }

    #[test]
    fn idle_connection_is_closed() {
        let mut client = proven(&RelayLeg::ALL);
        client.close(T0, RelayLeg::WebSocket, BEN);
        client.close(T0, RelayLeg::Datagram, BEN);
        client.handle_timeout(client.poll_timeout());
        orders(&mut client);
        let at = client.poll_timeout();
        assert_eq!(at, T0 + IDLE_MAX);
        client.handle_timeout(at);
        assert!(orders(&mut client).contains(&RelayCommand::Close));
        client.connect(at, RelayLeg::WebSocket, BEN);
        assert_eq!(orders(&mut client), [RelayCommand::Open]);
    }

    #[test]
    fn silent_socket_is_probed_and_reopened_without_answer() {
        let mut client = proven(&[RelayLeg::WebSocket]);
        hear(&mut client, T0, RelayFrame::Opened { peer: BEN });
        assert_eq!(client.poll_timeout(), T0 + ASK_AFTER);
        client.handle_timeout(T0 + ASK_AFTER);
        assert_eq!(orders(&mut client), [say(RelayFrame::Open { peer: BEN })]);
        // An answer is enough for the same time again.
        let answered = T0 + ASK_AFTER + ANSWER_PATIENCE;
        hear(&mut client, answered, RelayFrame::Opened { peer: BEN });
        client.handle_timeout(answered);
        assert_eq!((orders(&mut client), client.poll_timeout()), (vec![], answered + ASK_AFTER));
        client.handle_timeout(answered + ASK_AFTER);
        orders(&mut client);
        let lost = answered + ASK_AFTER + ANSWER_PATIENCE;
        assert_eq!(client.poll_timeout(), lost);
        client.handle_timeout(lost);
        assert_eq!(orders(&mut client), [RelayCommand::Close]);
        assert!(!client.is_open(RelayLeg::WebSocket, BEN));
        client.handle_timeout(client.poll_timeout());
        assert_eq!(orders(&mut client), [RelayCommand::Open]);
    }

    #[test]
    fn unanswered_ticket_is_shown_on_another_socket() {
        let mut client = RelayClient::new(ME, "ticket", &RelayLeg::ALL);
        client.connect(T0, RelayLeg::WebSocket, BEN);
        client.handle_socket_opened(T0);
        orders(&mut client);
        assert_eq!(client.poll_timeout(), T0 + ANSWER_PATIENCE);
        client.handle_timeout(T0 + ANSWER_PATIENCE);
        client.handle_timeout(client.poll_timeout());
        assert_eq!(orders(&mut client), [RelayCommand::Close, RelayCommand::Open]);
    }

    #[test]
    fn replaced_client_does_not_reconnect_by_itself() {
        let mut client = proven(&RelayLeg::ALL);
        hear(&mut client, T0, RelayFrame::Refused { reason: RelayReject::Replaced });
        client.handle_socket_closed(T0);
        client.handle_timeout(T0 + Micros::from_secs(60));
        assert_eq!(orders(&mut client).iter().filter(|order| **order == RelayCommand::Open).count(), 0);
        client.set_ticket(T0 + Micros::from_secs(60), "newer");
        client.handle_timeout(T0 + Micros::from_secs(60));
        assert_eq!(orders(&mut client), [RelayCommand::Open]);
    }
}
