//! Lobby client: identity, reservation, requests, reconnects.
//!
//! Opens no socket. A caller feeds `handle_…` and drains [`Client::poll_output`] (commands for the
//! socket) and [`Client::poll_event`] (news for the game). After a lost connection the room stays
//! as last seen, requests wait, and the client reconnects by itself.
//!
//! ```
//! use gaggle_kit::Micros;
//! use gaggle_lobby::client::{Client, ClientConfig, ClientOutput};
//! use gaggle_lobby::message::client::Find;
//!
//! let mut client = Client::new(Micros::ZERO, ClientConfig::default(), 2024);
//! let request = client.find(Find { game: "gander".parse()?, ..Find::default() });
//! assert_eq!(client.poll_output(), Some(ClientOutput::Connect));
//! // … the socket is open:
//! client.handle_open(Micros::from_millis(5));
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
mod pending;
mod reports;
mod socket;

pub use backoff::Backoff;
pub use pending::RequestId;
pub use socket::{LobbySocket, SocketClient, SocketEvent};

use std::collections::VecDeque;

use gaggle_kit::{Micros, PeerId, Prng, Slot, SlotSet, VecMap};

use crate::id::{PlayerId, RoomCode, RoomId};
use crate::label::DisplayName;
use crate::message::client::{
    Access, Create, Find, Finish, GetLeaderboard, GetMyStats, Hello, Host, Ice, Join, KeepAlive, Kick, Leave,
    OwnScore, Profile, Ready, RenewTicket, Rest, Settings, Signal, Start, SubscribeRooms, TakeOver,
    UnsubscribeRooms,
};
use crate::message::server::{IceServer, Listing, Relay};
use crate::message::{ClientMessage, Envelope, Rejection, ServerMessage};
use crate::view::{LeaveReason, RawJson, RoomUpdate, RoomView};
use pending::Pending;
use reports::Reports;

/// Delay before an unanswered `rest` message is sent again.
const RESTING_AGAIN: Micros = Micros::from_secs(2);
/// Sent signals kept for a resend after a reconnect.
const SIGNALS_KEPT: usize = 64;

/// Settings of a new client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// Secret that identifies a guest, kept from the last run. Without one the server creates one
    /// and returns it in [`ClientEvent::Connected`].
    pub guest_key: Option<String>,
    /// Tells devices and browser tabs of one player apart. Each has its own reservation.
    pub device_key: Option<String>,
    /// Name shown to other players.
    pub display_name: Option<String>,
    /// Token of an external issuer, used instead of a key. A rejected token is dropped: see
    /// [`ClientEvent::SignInRejected`].
    pub token: Option<String>,
    /// Ticket and settings of the last run. They restore the room even on a server that lost it.
    pub ticket: Option<(String, RawJson)>,
    /// Waits between connection attempts.
    pub backoff: Backoff,
    /// Time the server has to answer before the client drops the connection.
    pub response_timeout: Micros,
    /// Longest silence before the client sends a keepalive; the server may ask for a shorter one.
    pub keepalive_interval: Micros,
}

impl Default for ClientConfig {
    fn default() -> ClientConfig {
        ClientConfig {
            guest_key: None,
            device_key: None,
            display_name: None,
            token: None,
            ticket: None,
            backoff: Backoff::default(),
            response_timeout: Micros::from_secs(10),
            keepalive_interval: Micros::from_secs(20),
        }
    }
}

/// Commands for the socket, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum ClientOutput {
    /// Connect; report the outcome with [`Client::handle_open`] or [`Client::handle_closed`].
    Connect,
    /// Send this text as one message.
    Send(String),
    /// Close; [`Client::handle_closed`] need not follow.
    Disconnect,
}

/// News for the game.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// Connected, for the first time or again.
    Connected {
        /// Account of the local player.
        player: PlayerId,
        /// Id of this client.
        peer: PeerId,
        /// Key that the server created; store it for the next run.
        key: Option<String>,
        /// Display name; after a sign-in the one of the issuer.
        name: DisplayName,
        /// Whether a token was accepted.
        signed_in: bool,
    },
    /// The server rejected the token. The client is connected as a guest instead.
    SignInRejected(Rejection),
    /// The connection is lost; the client retries by itself.
    Disconnected {
        /// Time of the next attempt.
        retry_at: Micros,
    },
    /// Another client with the same key and device key is connected. See [`Client::take_over`].
    OpenedElsewhere {
        /// Room of that client.
        code: Option<RoomCode>,
    },
    /// The server closed the connection for good; nothing follows until [`Client::reconnect`].
    Closed(Rejection),
    /// The client is in a room: see [`Client::room`].
    RoomJoined {
        /// Request that led to it; none if the reservation existed before.
        request: Option<RequestId>,
        /// The room was created for this request.
        created: bool,
        /// The reservation existed before.
        returned: bool,
    },
    /// Something changed in the room.
    RoomUpdated(RoomUpdate),
    /// The client is no longer in the room.
    RoomLeft {
        /// Room it was in.
        room: RoomId,
        /// Why it left.
        reason: LeaveReason,
    },
    /// A signal from another member of the room.
    Signal {
        /// Member that sent it.
        from: PeerId,
        /// Its content, not interpreted by the lobby.
        data: RawJson,
    },
    /// Signals in both directions may be lost after a reconnect: negotiate again.
    SignalsLost,
    /// There is a new ticket: see [`Client::ticket`].
    TicketRenewed,
    /// The list of rooms changed: [`Client::room_list`].
    RoomListChanged,
    /// A request succeeded.
    Replied {
        /// The answered request.
        request: RequestId,
        /// The server's answer.
        answer: ServerMessage,
    },
    /// A request was rejected.
    Rejected {
        /// The rejected request.
        request: RequestId,
        /// Why it was rejected.
        refusal: Rejection,
    },
    /// A message that answers no request: search progress, or a rejection of an unnumbered message.
    Notice(ServerMessage),
}

/// State of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Waiting to reconnect at this time.
    Offline(Micros),
    Connecting,
    /// `hello` is sent, `welcome` has not arrived.
    Greeting,
    Online,
    /// Closed until [`Client::reconnect`].
    Closed,
}

/// Reservation of this client.
#[derive(Debug, Clone)]
struct OwnReservation {
    slot: Option<Slot>,
    reused_slots: Vec<Slot>,
    room: RoomView,
    ice_servers: Vec<IceServer>,
    relay: Option<Relay>,
}

/// Lobby client, a state machine without socket.
#[derive(Debug)]
pub struct Client {
    config: ClientConfig,
    prng: Prng,
    state: State,
    attempts: u32,
    /// When to drop the connection because an answer is overdue.
    overdue_at: Option<Micros>,
    /// When to send a keepalive. Received messages do not move it: the server counts only what this
    /// client sends.
    touch_at: Option<Micros>,
    /// Keepalive interval in force.
    touch_every: Micros,
    renew_at: Option<Micros>,
    identity: Option<(PlayerId, PeerId)>,
    /// Address of the sign-in page.
    sign_in_url: Option<String>,
    resume: Option<String>,
    /// Server clock minus local clock, in Unix milliseconds.
    clock_ahead_ms: i64,
    seat: Option<OwnReservation>,
    ticket: Option<String>,
    pending: Pending,
    reports: Reports,
    listing: Option<SubscribeRooms>,
    listed: VecMap<RoomId, Listing>,
    /// The connection was lost after the room list was requested.
    listed_lost: bool,
    signals_sent: u64,
    signals_kept: VecDeque<Signal>,
    signals_seen: u64,
    wants_take_over: bool,
    /// Whether the local player is away from the game, and whether the server acknowledged that.
    resting: bool,
    resting_said: bool,
    /// When to send `rest` again if it is not acknowledged by then.
    resting_due: Option<Micros>,
    outputs: VecDeque<ClientOutput>,
    events: VecDeque<ClientEvent>,
}

impl Client {
    /// A client that connects at once. The seed spreads its reconnects from those of other clients.
    pub fn new(now: Micros, config: ClientConfig, seed: u64) -> Client {
        let mut client = Client {
            ticket: config.ticket.as_ref().map(|(ticket, _)| ticket.clone()),
            touch_every: config.keepalive_interval,
            config,
            prng: Prng::new(seed),
            state: State::Offline(now),
            attempts: 0,
            overdue_at: None,
            touch_at: None,
            renew_at: None,
            identity: None,
            sign_in_url: None,
            resume: None,
            clock_ahead_ms: 0,
            seat: None,
            pending: Pending::default(),
            reports: Reports::default(),
            listing: None,
            listed: VecMap::new(),
            listed_lost: false,
            signals_sent: 0,
            signals_kept: VecDeque::new(),
            signals_seen: 0,
            wants_take_over: false,
            resting: false,
            resting_said: false,
            resting_due: None,
            outputs: VecDeque::new(),
            events: VecDeque::new(),
        };
        client.connect(now);
        client
    }

    /// Call when the socket is open.
    pub fn handle_open(&mut self, now: Micros) {
        if self.state != State::Connecting {
            return;
        }
        self.state = State::Greeting;
        self.overdue_at = Some(now + self.config.response_timeout);
        let hello = self.hello();
        self.transmit(None, hello);
        if self.may_ask_early() {
            self.pending.unsent().into_iter().for_each(|envelope| self.transmit_envelope(&envelope));
        }
    }

    /// Call with each received text. Unknown messages are ignored: a later server version may send
    /// them.
    pub fn handle_text(&mut self, now: Micros, text: &str) {
        if !matches!(self.state, State::Greeting | State::Online) {
            return;
        }
        self.overdue_at = None;
        if let Ok(envelope) = Envelope::<ServerMessage>::decode(text) {
            self.take(now, envelope);
        }
    }

    /// Call when the socket is closed or could not be opened.
    pub fn handle_closed(&mut self, now: Micros) {
        if !matches!(self.state, State::Closed | State::Offline(_)) {
            self.go_offline(now, None);
        }
    }

    /// Performs what is due at `now`; call at [`Client::poll_timeout`] or later.
    pub fn handle_timeout(&mut self, now: Micros) {
        match self.state {
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
                if self.touch_at.is_some_and(|at| at <= now) {
                    self.touch_at = Some(now + self.touch_every);
                    self.overdue_at.get_or_insert(now + self.config.response_timeout);
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
        match self.state {
            State::Offline(at) => Some(at),
            State::Closed => None,
            State::Connecting | State::Greeting => self.overdue_at,
            State::Online => {
                let times = [self.overdue_at, self.touch_at, self.renew_at, self.reports.due()];
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
        self.state == State::Online
    }

    /// Rooms of the subscribed list.
    pub fn room_list(&self) -> impl Iterator<Item = &Listing> {
        self.listed.values()
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
        self.listed_lost = true;
        self.outputs.push_back(ClientOutput::Disconnect);
        self.pending.set_unsent();
        self.connect(now);
    }

    /// Connects again after [`ClientEvent::Closed`], or at once after
    /// [`ClientEvent::Disconnected`].
    pub fn reconnect(&mut self, now: Micros) {
        if matches!(self.state, State::Closed | State::Offline(_)) {
            self.connect(now);
        }
    }

    /// Disconnects until [`Client::reconnect`]; queued messages are sent first.
    pub fn close(&mut self) {
        self.outputs.push_back(ClientOutput::Disconnect);
        self.state = State::Closed;
        (self.overdue_at, self.touch_at) = (None, None);
        self.pending.set_unsent();
        self.listed_lost = true;
    }

    /// Takes the reservation over from the client that uses it: see
    /// [`ClientEvent::OpenedElsewhere`].
    pub fn take_over(&mut self, now: Micros) {
        self.wants_take_over = true;
        match self.state {
            State::Online => self.send_take_over(),
            _ => self.reconnect(now),
        }
    }

    /// Leaves the room. The next reservation starts as not resting.
    pub fn leave(&mut self, leave: Leave) -> RequestId {
        (self.resting, self.resting_said) = (false, false);
        self.request(leave)
    }

    /// Says whether the local player is away from the game. Repeated for every reservation until
    /// the server acknowledges it.
    pub fn set_resting(&mut self, resting: bool) {
        self.resting = resting;
        self.say_resting();
    }

    /// Sends `rest` again: the server may have rate limited it, and the room would stay wrong.
    fn resend_resting(&mut self, now: Micros) {
        let own = self.identity.and_then(|(_, peer)| self.room()?.member(peer));
        let is_known = own.is_none_or(|member| member.slot.is_none() || member.resting == self.resting);
        if is_known {
            self.resting_due = None;
        } else if self.resting_due.is_some_and(|at| at <= now) {
            self.transmit(None, Rest { resting: self.resting }.into());
            self.resting_due = Some(now + RESTING_AGAIN);
        } else {
            self.resting_due.get_or_insert(now + RESTING_AGAIN);
        }
    }

    fn say_resting(&mut self) {
        let can_say = self.state == State::Online && self.slot().is_some();
        if can_say && std::mem::replace(&mut self.resting_said, self.resting) != self.resting {
            self.transmit(None, Rest { resting: self.resting }.into());
        }
    }

    /// Sends a signal to another member of the room. Waits while the connection is lost.
    pub fn send_signal(&mut self, to: PeerId, data: RawJson) {
        self.signals_sent += 1;
        let seen = (self.signals_seen > 0).then_some(self.signals_seen);
        let signal = Signal { to, n: Some(self.signals_sent), seen, data };
        self.signals_kept.push_back(signal.clone());
        if self.signals_kept.len() > SIGNALS_KEPT {
            self.signals_kept.pop_front();
        }
        if self.state == State::Online {
            self.transmit(None, signal.into());
        }
    }

    /// Subscribes to the open rooms of a game: see [`Client::room_list`]. Survives reconnects.
    /// Replaces an earlier subscription.
    pub fn subscribe_rooms(&mut self, list: SubscribeRooms) -> RequestId {
        self.pending.forget_lists();
        self.listing = Some(list.clone());
        self.listed.clear();
        self.request(list)
    }

    /// Ends the subscription to the room list.
    pub fn unsubscribe_rooms(&mut self) -> RequestId {
        self.pending.forget_lists();
        self.listing = None;
        self.listed.clear();
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
            seen: self.resume.is_some().then_some(self.signals_seen),
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
        self.state = State::Connecting;
        self.attempts += 1;
        self.overdue_at = Some(now + self.config.response_timeout);
        self.outputs.push_back(ClientOutput::Connect);
    }

    fn go_offline(&mut self, now: Micros, wait: Option<Micros>) {
        let wait = wait.unwrap_or_else(|| self.config.backoff.wait(self.attempts, &mut self.prng));
        let retry_at = now + wait;
        self.state = State::Offline(retry_at);
        (self.overdue_at, self.touch_at) = (None, None);
        self.pending.set_unsent();
        self.listed_lost = true;
        self.events.push_back(ClientEvent::Disconnected { retry_at });
    }

    fn is_overdue(&self, now: Micros) -> bool {
        self.overdue_at.is_some_and(|at| at <= now)
    }

    fn request(&mut self, message: impl Into<ClientMessage>) -> RequestId {
        let is_free = match self.state {
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
        if self.state == State::Online {
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
    top: GetLeaderboard;
    /// Requests own best result, rating and last matches.
    mine: GetMyStats;
    /// Requests ICE servers with fresh credentials.
    refresh_ice: Ice;
}
