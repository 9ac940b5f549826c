//! Lobby client: identity, reservation, requests, reconnects.
//!
//! A caller passes socket events to `handle_…` and drains [`Client::poll_output`] and
//! [`Client::poll_event`]. After a lost connection the room stays as last seen, requests wait, and
//! the client reconnects by itself. Absent: sockets, clocks, rules of rooms.
//!
//! ```
//! use gaggle_kit::Micros;
//! use gaggle_lobby::client::{Client, ClientConfig, ClientOutput};
//! use gaggle_lobby::message::client::Find;
//!
//! let mut client = Client::new(Micros::ZERO, ClientConfig::default(), 2024);
//! let request = client.find(Find { game: "gander".parse()?, ..Find::default() });
//! assert_eq!(client.poll_output(), Some(ClientOutput::Connect));
//! client.handle_open(Micros::from_millis(5)); // the socket is open
//! let Some(ClientOutput::Send(hello)) = client.poll_output() else { panic!("a text") };
//! assert!(hello.starts_with(r#"{"type":"hello""#));
//! // The request follows at once, without waiting for the welcome.
//! let Some(ClientOutput::Send(find)) = client.poll_output() else { panic!("a text") };
//! assert!(find.contains("gander"));
//! # let _ = request;
//! # Ok::<(), gaggle_lobby::ParseLabelError>(())
//! ```

mod backoff;
mod incoming;
mod parts;
mod pending;
mod reports;
mod socket;
mod types;

pub use backoff::Backoff;
pub use pending::RequestId;
pub use socket::{LobbySocket, SocketClient, SocketEvent};
pub use types::{ClientConfig, ClientEvent, ClientOutput};

use std::collections::VecDeque;

use gaggle_kit::{Micros, PeerId, Prng, Slot, SlotSet};

use crate::id::PlayerId;
use crate::message::client::{
    Access, Create, Find, Finish, GetLeaderboard, GetMyStats, Hello, Host, Ice, Join, KeepAlive, Kick, Leave,
    OwnScore, Profile, Ready, RenewTicket, Rest, Settings, Signal, Start, SubscribeRooms, TakeOver,
    UnsubscribeRooms,
};
use crate::message::server::{IceServer, Listing, Relay};
use crate::message::{ClientMessage, Envelope, ServerMessage};
use crate::view::{LeaveReason, RawJson, RoomView};
use parts::{
    Connection, Keepalive, OwnReservation, RESTING_AGAIN, Resting, RoomList, SIGNALS_KEPT, Signals, State,
};
use pending::Pending;
use reports::Reports;

/// Lobby client, a state machine without socket.
#[derive(Debug)]
pub struct Client {
    config: ClientConfig,
    prng: Prng,
    connection: Connection,
    keepalive: Keepalive,
    renew_at: Option<Micros>,
    identity: Option<(PlayerId, PeerId)>,
    /// Address of the sign-in page.
    sign_in_url: Option<String>,
    resume: Option<String>,
    /// Server clock minus local clock, in milliseconds.
    clock_ahead_ms: i64,
    seat: Option<OwnReservation>,
    ticket: Option<String>,
    pending: Pending,
    reports: Reports,
    list: RoomList,
    signals: Signals,
    wants_take_over: bool,
    rest: Resting,
    outputs: VecDeque<ClientOutput>,
    events: VecDeque<ClientEvent>,
}

impl Client {
    /// A client that connects at once. The seed spreads its reconnects from those of other clients.
    pub fn new(now: Micros, config: ClientConfig, seed: u64) -> Client {
        let mut client = Client {
            ticket: config.ticket.as_ref().map(|(ticket, _)| ticket.clone()),
            keepalive: Keepalive { at: None, interval: config.keepalive_interval },
            config,
            prng: Prng::new(seed),
            connection: Connection { state: State::Offline(now), attempts: 0, overdue_at: None },
            renew_at: None,
            identity: None,
            sign_in_url: None,
            resume: None,
            clock_ahead_ms: 0,
            seat: None,
            pending: Pending::default(),
            reports: Reports::default(),
            list: RoomList::default(),
            signals: Signals::default(),
            wants_take_over: false,
            rest: Resting::default(),
            outputs: VecDeque::new(),
            events: VecDeque::new(),
        };
        client.connect(now);
        client
    }

    /// Call when the socket is open.
    pub fn handle_open(&mut self, now: Micros) {
        if self.connection.state != State::Connecting {
            return;
        }
        self.connection.state = State::Greeting;
        self.connection.overdue_at = Some(now + self.config.response_timeout);
        let hello = self.hello();
        self.transmit(None, hello);
        if self.may_ask_early() {
            self.pending.unsent().into_iter().for_each(|envelope| self.transmit_envelope(&envelope));
        }
    }

    /// Call with each received text. Unknown messages are ignored: a later server version may send
    /// them.
    pub fn handle_text(&mut self, now: Micros, text: &str) {
        if !matches!(self.connection.state, State::Greeting | State::Online) {
            return;
        }
        self.connection.overdue_at = None;
        if let Ok(envelope) = Envelope::<ServerMessage>::decode(text) {
            self.take(now, envelope);
        }
    }

    /// Call when the socket is closed or could not be opened.
    pub fn handle_closed(&mut self, now: Micros) {
        if !matches!(self.connection.state, State::Closed | State::Offline(_)) {
            self.go_offline(now, None);
        }
    }

    /// Performs what is due at `now`; call at [`Client::poll_timeout`] or later.
    pub fn handle_timeout(&mut self, now: Micros) {
        match self.connection.state {
            State::Offline(at) if at <= now => self.connect(now),
            State::Connecting | State::Greeting | State::Online if self.is_overdue(now) => {
                self.outputs.push_back(ClientOutput::Disconnect);
                self.go_offline(now, None);
            }
            State::Online => {
                if self.renew_at.is_some_and(|at| at <= now) {
                    self.renew_at = None;
                    self.transmit(None, RenewTicket {}.into());
                }
                if self.keepalive.at.is_some_and(|at| at <= now) {
                    self.keepalive.at = Some(now + self.keepalive.interval);
                    self.connection.overdue_at.get_or_insert(now + self.config.response_timeout);
                    self.transmit(None, KeepAlive {}.into());
                }
                self.resend_resting(now);
                self.resend_reports(now);
            }
            _ => {}
        }
    }

    /// When [`Client::handle_timeout`] has something to do.
    pub fn poll_timeout(&self) -> Option<Micros> {
        match self.connection.state {
            State::Offline(at) => Some(at),
            State::Closed => None,
            State::Connecting | State::Greeting => self.connection.overdue_at,
            State::Online => {
                let times =
                    [self.connection.overdue_at, self.keepalive.at, self.renew_at, self.reports.due()];
                times.into_iter().flatten().min()
            }
        }
    }

    /// Requests a new ticket now, if there is one: the relay rejected the current one.
    pub fn renew_ticket(&mut self, now: Micros) {
        if self.renew_at.is_some() {
            self.renew_at = Some(now);
        }
    }

    /// Next command for the socket.
    pub fn poll_output(&mut self) -> Option<ClientOutput> {
        self.outputs.pop_front()
    }

    /// Next event for the game.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// The current room as last seen; kept while the connection is lost.
    pub fn room(&self) -> Option<&RoomView> {
        self.seat.as_ref().map(|seat| &seat.room)
    }

    /// Slot in that room; none for a spectator or outside a room.
    pub fn slot(&self) -> Option<Slot> {
        self.seat.as_ref().and_then(|seat| seat.slot)
    }

    /// Own slots that another player had before this client joined: state a game keeps for them
    /// belongs to that player.
    pub fn reused_slots(&self) -> SlotSet {
        self.seat.iter().flat_map(|seat| seat.reused_slots.iter().copied()).collect()
    }

    /// Own ticket for that room.
    pub fn ticket(&self) -> Option<&str> {
        self.ticket.as_deref()
    }

    /// STUN and TURN servers for direct links.
    pub fn ice_servers(&self) -> &[IceServer] {
        self.seat.as_ref().map_or(&[], |seat| &seat.ice_servers)
    }

    /// Relay for members without a direct link, if the server has one.
    pub fn relay(&self) -> Option<&Relay> {
        self.seat.as_ref().and_then(|seat| seat.relay.as_ref())
    }

    /// Own account and peer id, once the server has assigned them.
    pub fn identity(&self) -> Option<(PlayerId, PeerId)> {
        self.identity
    }

    /// Whether the client is connected and welcomed.
    pub fn is_online(&self) -> bool {
        self.connection.state == State::Online
    }

    /// Rooms of the subscribed list.
    pub fn room_list(&self) -> impl Iterator<Item = &Listing> {
        self.list.rooms.values()
    }

    /// Server clock in Unix seconds, used to check tickets.
    pub fn server_unix_seconds(&self, now: Micros) -> u64 {
        (now.as_millis() as i64).saturating_add(self.clock_ahead_ms).max(0) as u64 / 1_000
    }

    /// Local time at which the server clock shows `unix_millis`.
    pub fn local_time(&self, unix_millis: u64) -> Micros {
        let millis = (unix_millis as i64).saturating_sub(self.clock_ahead_ms).max(0);
        Micros::from_millis(millis as u64)
    }

    /// Address of the sign-in page; none if the server accepts no tokens. `{return}` stands for the
    /// return address and `{state}` for a random text that comes back with it.
    pub fn sign_in_url(&self) -> Option<&str> {
        self.sign_in_url.as_deref()
    }

    /// Signs in with a token of the server's issuer, or out with `None`. Either changes the player:
    /// the client leaves its room and reconnects, and pending requests follow the new connection.
    pub fn set_token(&mut self, now: Micros, token: Option<String>) {
        if self.seat.is_some() {
            self.leave(Leave::default());
            self.lose_seat(LeaveReason::Left);
        }
        (self.resume, self.ticket, self.config.ticket) = (None, None, None);
        self.config.token = token;
        self.list.is_lost = true;
        self.outputs.push_back(ClientOutput::Disconnect);
        self.pending.set_unsent();
        self.connect(now);
    }

    /// Connects again after [`ClientEvent::Closed`], or at once after
    /// [`ClientEvent::Disconnected`].
    pub fn reconnect(&mut self, now: Micros) {
        if matches!(self.connection.state, State::Closed | State::Offline(_)) {
            self.connect(now);
        }
    }

    /// Disconnects until [`Client::reconnect`]; queued messages are sent first.
    pub fn close(&mut self) {
        self.outputs.push_back(ClientOutput::Disconnect);
        self.connection.state = State::Closed;
        (self.connection.overdue_at, self.keepalive.at) = (None, None);
        self.pending.set_unsent();
        self.list.is_lost = true;
    }

    /// Takes the reservation over from the client that uses it: see
    /// [`ClientEvent::OpenedElsewhere`].
    pub fn take_over(&mut self, now: Micros) {
        self.wants_take_over = true;
        match self.connection.state {
            State::Online => self.send_take_over(),
            _ => self.reconnect(now),
        }
    }

    /// Leaves the room. In the next reservation the player does not count as resting.
    pub fn leave(&mut self, leave: Leave) -> RequestId {
        (self.rest.is_resting, self.rest.is_acknowledged) = (false, false);
        self.request(leave)
    }

    /// Says whether the local player is away from the game. Repeated for every reservation until
    /// the server acknowledges it.
    pub fn set_resting(&mut self, resting: bool) {
        self.rest.is_resting = resting;
        self.say_resting();
    }

    /// Sends `rest` again: the server may have rate limited it, and other members would see a wrong
    /// state.
    fn resend_resting(&mut self, now: Micros) {
        let own = self.identity.and_then(|(_, peer)| self.room()?.member(peer));
        let is_known =
            own.is_none_or(|member| member.slot.is_none() || member.resting == self.rest.is_resting);
        if is_known {
            self.rest.repeat_at = None;
        } else if self.rest.repeat_at.is_some_and(|at| at <= now) {
            self.transmit(None, Rest { resting: self.rest.is_resting }.into());
            self.rest.repeat_at = Some(now + RESTING_AGAIN);
        } else {
            self.rest.repeat_at.get_or_insert(now + RESTING_AGAIN);
        }
    }

    fn say_resting(&mut self) {
        let can_say = self.connection.state == State::Online && self.slot().is_some();
        if can_say
            && std::mem::replace(&mut self.rest.is_acknowledged, self.rest.is_resting) != self.rest.is_resting
        {
            self.transmit(None, Rest { resting: self.rest.is_resting }.into());
        }
    }

    /// Sends a signal to another member of the room. Waits while the connection is lost.
    pub fn send_signal(&mut self, to: PeerId, data: RawJson) {
        self.signals.sent += 1;
        let seen = (self.signals.seen > 0).then_some(self.signals.seen);
        let signal = Signal { to, n: Some(self.signals.sent), seen, data };
        self.signals.kept.push_back(signal.clone());
        if self.signals.kept.len() > SIGNALS_KEPT {
            self.signals.kept.pop_front();
        }
        if self.connection.state == State::Online {
            self.transmit(None, signal.into());
        }
    }

    /// Subscribes to the open rooms of a game: see [`Client::room_list`]. Survives reconnects.
    /// Replaces an earlier subscription.
    pub fn subscribe_rooms(&mut self, list: SubscribeRooms) -> RequestId {
        self.pending.forget_lists();
        self.list.subscription = Some(list.clone());
        self.list.rooms.clear();
        self.request(list)
    }

    /// Ends the subscription to the room list.
    pub fn unsubscribe_rooms(&mut self) -> RequestId {
        self.pending.forget_lists();
        self.list.subscription = None;
        self.list.rooms.clear();
        self.request(UnsubscribeRooms {})
    }

    fn hello(&self) -> ClientMessage {
        let ClientConfig { guest_key: key, device_key: seat, display_name: name, token, ticket, .. } =
            &self.config;
        let settings = self.room().map(|room| room.settings.clone());
        let settings = settings.or(ticket.as_ref().map(|(_, settings)| settings.clone()));
        Hello {
            version: None,
            key: key.clone(),
            seat: seat.clone(),
            // With a token the issuer's name counts.
            name: name.clone().filter(|_| token.is_none()),
            token: token.clone(),
            resume: self.resume.clone(),
            seen: self.resume.is_some().then_some(self.signals.seen),
            settings: settings.filter(|_| self.ticket.is_some()).unwrap_or_default(),
            ticket: self.ticket.clone(),
        }
        .into()
    }

    /// Whether requests may follow `hello` before `welcome`. A client with a reservation waits,
    /// because `welcome` says whether it still stands; one with a token waits, because the token
    /// may be rejected.
    fn may_ask_early(&self) -> bool {
        self.seat.is_none() && self.resume.is_none() && self.config.token.is_none()
    }

    fn connect(&mut self, now: Micros) {
        self.connection.state = State::Connecting;
        self.connection.attempts += 1;
        self.connection.overdue_at = Some(now + self.config.response_timeout);
        self.outputs.push_back(ClientOutput::Connect);
    }

    fn go_offline(&mut self, now: Micros, wait: Option<Micros>) {
        let wait = wait.unwrap_or_else(|| self.config.backoff.wait(self.connection.attempts, &mut self.prng));
        let retry_at = now + wait;
        self.connection.state = State::Offline(retry_at);
        (self.connection.overdue_at, self.keepalive.at) = (None, None);
        self.pending.set_unsent();
        self.list.is_lost = true;
        self.events.push_back(ClientEvent::Disconnected { retry_at });
    }

    fn is_overdue(&self, now: Micros) -> bool {
        self.connection.overdue_at.is_some_and(|at| at <= now)
    }

    fn request(&mut self, message: impl Into<ClientMessage>) -> RequestId {
        let is_free = match self.connection.state {
            State::Online => true,
            State::Greeting => self.may_ask_early(),
            _ => false,
        };
        let envelope = self.pending.add(message.into(), is_free);
        let request = RequestId(envelope.id.expect("requests are numbered"));
        if is_free {
            self.transmit_envelope(&envelope);
        }
        request
    }

    fn transmit(&mut self, id: Option<u64>, message: ClientMessage) {
        self.transmit_envelope(&Envelope { id, message });
    }

    fn transmit_envelope(&mut self, envelope: &Envelope<ClientMessage>) {
        self.outputs.push_back(ClientOutput::Send(envelope.encode()));
    }

    fn send_take_over(&mut self) {
        self.wants_take_over = false;
        let envelope = self.pending.add(TakeOver {}.into(), true);
        self.transmit_envelope(&envelope);
    }
}

impl Client {
    /// Sends the local player's score so far. The answer is ignored: the next score replaces this
    /// one.
    pub fn tell_score(&mut self, score: OwnScore) {
        if self.connection.state == State::Online {
            self.transmit(None, score.into());
        }
    }
}

/// Requests with an answer, which arrives as [`ClientEvent::RoomJoined`], [`ClientEvent::Replied`]
/// or [`ClientEvent::Rejected`].
macro_rules! requests {
    ($($(#[$meta:meta])* $name:ident: $message:ty;)*) => {
        impl Client {
            $($(#[$meta])* pub fn $name(&mut self, request: $message) -> RequestId { self.request(request) })*
        }
    };
}

requests! {
    /// Joins the fullest open room, or creates one.
    find: Find;
    /// Creates a room and joins it as host.
    create: Create;
    /// Joins the named room.
    join: Join;
    /// Says whether the local player is ready.
    ready: Ready;
    /// Host: starts a match.
    start: Start;
    /// Host: ends the match.
    finish: Finish;
    /// Host: changes the game's settings.
    set_settings: Settings;
    /// Host: changes who may join.
    set_access: Access;
    /// Host: removes a member for good.
    kick: Kick;
    /// Host: makes another member host.
    hand_over: Host;
    /// Changes the player's name or preferred slot.
    set_profile: Profile;
    /// Requests the leaderboard of a game.
    leaderboard: GetLeaderboard;
    /// Requests own best result, rating and last matches.
    my_stats: GetMyStats;
    /// Requests ICE servers with fresh credentials.
    refresh_ice: Ice;
}
