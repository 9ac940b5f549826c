//! The client side of the lobby: says hello, keeps the seat, comes back by itself.
//!
//! It opens no socket. Feed it with `handle_…`, then drain [`Client::poll_output`] (what the socket
//! must do) and [`Client::poll_event`] (what the game should know). Losing the connection ends
//! nothing: the room stays as it was last seen, requests wait, and events go on where they stopped.
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
//! assert!(matches!(client.poll_output(), Some(ClientOutput::Send(hello)) if hello.starts_with(r#"{"type":"hello""#)));
//! // The request follows at once: nobody waits for the welcome before asking to play.
//! assert!(matches!(client.poll_output(), Some(ClientOutput::Send(find)) if find.contains("gander")));
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

/// After so long without an answer it is said again whether our player looks away.
const RESTING_AGAIN: Micros = Micros::from_secs(2);
/// Signals kept to be sent again after a reconnect.
const SIGNALS_KEPT: usize = 64;

/// What a client starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// The guest's secret from the last time, or a new one; without one the server makes one up:
    /// see [`ClientEvent::Connected`].
    pub guest_key: Option<String>,
    /// Which tab or machine of this person it is. Each has its own seat.
    pub device_key: Option<String>,
    /// The name to be shown by.
    pub display_name: Option<String>,
    /// A token from an outside issuer, instead of a key. One that the server refuses is dropped:
    /// see [`ClientEvent::SignInRejected`].
    pub token: Option<String>,
    /// The ticket and settings from the last time, to return even to a server that forgot the room.
    pub ticket: Option<(String, RawJson)>,
    /// How long to wait between attempts to connect.
    pub backoff: Backoff,
    /// How long the server may take to answer before the connection is given up.
    pub response_timeout: Micros,
    /// How often to show life; more often if the server asks for it.
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

/// What the socket must do, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum ClientOutput {
    /// Connect; say [`Client::handle_open`] or [`Client::handle_closed`] when it is decided.
    Connect,
    /// Send this text.
    Send(String),
    /// Close; no [`Client::handle_closed`] is expected.
    Disconnect,
}

/// What the game should know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// Connected, for the first time or again.
    Connected {
        /// Who we are, as a person.
        player: PlayerId,
        /// Who we are, as a machine.
        peer: PeerId,
        /// A key the server made up: keep it, and give it the next time.
        key: Option<String>,
        /// The display name, after signing in the issuer's.
        name: DisplayName,
        /// A token was accepted.
        signed_in: bool,
    },
    /// The server refused the token. The player is connected as a guest instead.
    SignInRejected(Rejection),
    /// The connection is lost; another attempt follows by itself.
    Disconnected {
        /// When.
        retry_at: Micros,
    },
    /// Another tab or machine with the same key is connected. See [`Client::take_over`].
    OpenedElsewhere {
        /// The room it is in.
        code: Option<RoomCode>,
    },
    /// The server ended it for good; nothing follows until [`Client::reconnect`].
    Closed(Rejection),
    /// We have a seat: [`Client::room`] has the room.
    RoomJoined {
        /// The request that led to it; none if it is a seat we had before.
        request: Option<RequestId>,
        /// The room was made for us.
        created: bool,
        /// We had the seat before.
        returned: bool,
    },
    /// Something changed in the room.
    RoomUpdated(RoomUpdate),
    /// We are not in the room any more.
    RoomLeft {
        /// Which room.
        room: RoomId,
        /// Why.
        reason: LeaveReason,
    },
    /// Another member hands us something.
    Signal {
        /// Who.
        from: PeerId,
        /// What.
        data: RawJson,
    },
    /// After a reconnect: signals to and from us may be lost. Offer again.
    SignalsLost,
    /// There is a new ticket: [`Client::ticket`].
    TicketRenewed,
    /// The list of rooms changed: [`Client::room_list`].
    RoomListChanged,
    /// A request is done.
    Replied {
        /// Which.
        request: RequestId,
        /// With this answer.
        answer: ServerMessage,
    },
    /// A request was refused.
    Rejected {
        /// Which.
        request: RequestId,
        /// Why.
        refusal: Rejection,
    },
    /// The server told something else: it searches, it refuses what was no request.
    Notice(ServerMessage),
}

/// Where the connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Waiting until this time.
    Offline(Micros),
    Connecting,
    /// Hello was said.
    Greeting,
    Online,
    /// For good.
    Closed,
}

/// The seat we have.
#[derive(Debug, Clone)]
struct OwnSeat {
    slot: Option<Slot>,
    reused_slots: Vec<Slot>,
    room: RoomView,
    ice_servers: Vec<IceServer>,
    relay: Option<Relay>,
}

/// A lobby client.
#[derive(Debug)]
pub struct Client {
    config: ClientConfig,
    prng: Prng,
    state: State,
    attempts: u32,
    /// When to give the connection up, because an answer is overdue.
    overdue_at: Option<Micros>,
    /// When to show life. What others say does not move it: to the server only our own words are a
    /// sign of it.
    touch_at: Option<Micros>,
    /// How often, as this server asks for it.
    touch_every: Micros,
    renew_at: Option<Micros>,
    identity: Option<(PlayerId, PeerId)>,
    /// Where players sign in.
    sign_in_url: Option<String>,
    resume: Option<String>,
    /// What the server's clock shows more than ours, in Unix milliseconds.
    clock_ahead_ms: i64,
    seat: Option<OwnSeat>,
    ticket: Option<String>,
    pending: Pending,
    reports: Reports,
    listing: Option<SubscribeRooms>,
    listed: VecMap<RoomId, Listing>,
    /// The connection was lost since the list was asked for.
    listed_lost: bool,
    signals_sent: u64,
    signals_kept: VecDeque<Signal>,
    signals_seen: u64,
    wants_take_over: bool,
    /// Our player looks away, and whether that was said for the seat we have.
    resting: bool,
    resting_said: bool,
    /// When to say it again, if the server has not taken it up by then.
    resting_due: Option<Micros>,
    outputs: VecDeque<ClientOutput>,
    events: VecDeque<ClientEvent>,
}

impl Client {
    /// A client that connects at once. The seed spreads its reconnects apart from those of others.
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

    /// The socket is open.
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

    /// The server said something. What cannot be understood is left aside: a later version may say
    /// more.
    pub fn handle_text(&mut self, now: Micros, text: &str) {
        if !matches!(self.state, State::Greeting | State::Online) {
            return;
        }
        self.overdue_at = None;
        if let Ok(envelope) = Envelope::<ServerMessage>::decode(text) {
            self.take(now, envelope);
        }
    }

    /// The socket is closed, or could not be opened.
    pub fn handle_closed(&mut self, now: Micros) {
        if !matches!(self.state, State::Closed | State::Offline(_)) {
            self.go_offline(now, None);
        }
    }

    /// Does what is due.
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
                self.say_resting_again(now);
                self.say_reports_again(now);
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

    /// Asks for a newer ticket now, if there is one: the relay has no place for the one there is.
    pub fn renew_ticket(&mut self, now: Micros) {
        if self.renew_at.is_some() {
            self.renew_at = Some(now);
        }
    }

    /// What the socket must do.
    pub fn poll_output(&mut self) -> Option<ClientOutput> {
        self.outputs.pop_front()
    }

    /// What the game should know.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// The room we are in, as last seen; it stays while the connection is lost.
    pub fn room(&self) -> Option<&RoomView> {
        self.seat.as_ref().map(|seat| &seat.room)
    }

    /// Our slot in that room; none if we only watch or are in no room.
    pub fn slot(&self) -> Option<Slot> {
        self.seat.as_ref().and_then(|seat| seat.slot)
    }

    /// Those of our slots that were somebody else's when we last sat down there: what a game keeps
    /// in them is not ours.
    pub fn reused_slots(&self) -> SlotSet {
        self.seat.iter().flat_map(|seat| seat.reused_slots.iter().copied()).collect()
    }

    /// Our ticket for that room.
    pub fn ticket(&self) -> Option<&str> {
        self.ticket.as_deref()
    }

    /// Servers that help to make links.
    pub fn ice_servers(&self) -> &[IceServer] {
        self.seat.as_ref().map_or(&[], |seat| &seat.ice_servers)
    }

    /// The relay for members that cannot be reached, if there is one.
    pub fn relay(&self) -> Option<&Relay> {
        self.seat.as_ref().and_then(|seat| seat.relay.as_ref())
    }

    /// Who we are, once the server has said so.
    pub fn identity(&self) -> Option<(PlayerId, PeerId)> {
        self.identity
    }

    /// Whether the server can be talked to at the moment.
    pub fn is_online(&self) -> bool {
        self.state == State::Online
    }

    /// The rooms of the list that was asked for.
    pub fn room_list(&self) -> impl Iterator<Item = &Listing> {
        self.listed.values()
    }

    /// The server's clock in Unix seconds, to check tickets by.
    pub fn server_unix_seconds(&self, now: Micros) -> u64 {
        (now.as_millis() as i64).saturating_add(self.clock_ahead_ms).max(0) as u64 / 1_000
    }

    /// When it is this time on the server, in Unix milliseconds, by the clock of `now`.
    pub fn local_time(&self, unix_millis: u64) -> Micros {
        let millis = (unix_millis as i64).saturating_sub(self.clock_ahead_ms).max(0);
        Micros::from_millis(millis as u64)
    }

    /// Where players of this server sign in; none if it accepts no tokens. `{return}` stands for
    /// the address to come back to and `{state}` for a random text that comes back with it.
    pub fn sign_in_url(&self) -> Option<&str> {
        self.sign_in_url.as_deref()
    }

    /// Signs in with a token of the server's issuer, under the name in it, or out. That is another
    /// player: the room is left first, and requests for another one follow the new connection.
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

    /// Connects again after [`ClientEvent::Closed`], or sooner than planned after
    /// [`ClientEvent::Disconnected`].
    pub fn reconnect(&mut self, now: Micros) {
        if matches!(self.state, State::Closed | State::Offline(_)) {
            self.connect(now);
        }
    }

    /// Hangs up for good, until [`Client::reconnect`]: what was said before is still sent.
    pub fn close(&mut self) {
        self.outputs.push_back(ClientOutput::Disconnect);
        self.state = State::Closed;
        (self.overdue_at, self.touch_at) = (None, None);
        self.pending.set_unsent();
        self.listed_lost = true;
    }

    /// Takes the seat over from the tab or machine that has it.
    pub fn take_over(&mut self, now: Micros) {
        self.wants_take_over = true;
        match self.state {
            State::Online => self.send_take_over(),
            _ => self.reconnect(now),
        }
    }

    /// Leaves the room. The next seat does not rest.
    pub fn leave(&mut self, leave: Leave) -> RequestId {
        (self.resting, self.resting_said) = (false, false);
        self.request(leave)
    }

    /// Our player looks away from the game, or is back at it. Said again for every seat that is not
    /// known to rest.
    pub fn set_resting(&mut self, resting: bool) {
        self.resting = resting;
        self.say_resting();
    }

    /// What was said too often is refused, and the room would have it wrong for good.
    fn say_resting_again(&mut self, now: Micros) {
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

    /// Hands something to another member of the room. Waits while the connection is lost.
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

    /// Shows the open rooms of a game: see [`Client::room_list`]. Goes on by itself after a
    /// reconnect. A list that was asked for before and did not come yet does not come any more.
    pub fn subscribe_rooms(&mut self, list: SubscribeRooms) -> RequestId {
        self.pending.forget_lists();
        self.listing = Some(list.clone());
        self.listed.clear();
        self.request(list)
    }

    /// No more list.
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
            // The issuer's name is the one of who signs in.
            name: name.clone().filter(|_| token.is_none()),
            token: token.clone(),
            resume: self.resume.clone(),
            seen: self.resume.is_some().then_some(self.signals_seen),
            settings: settings.filter(|_| self.ticket.is_some()).unwrap_or_default(),
            ticket: self.ticket.clone(),
        }
        .into()
    }

    /// Requests may follow `hello` at once. A client that had a seat waits for the welcome, which
    /// says whether it still stands; one with a token, which may be refused, for its answer.
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
    /// Says our own score so far. Nothing waits for an answer, and none is told: the next one says
    /// it better.
    pub fn tell_score(&mut self, score: OwnScore) {
        if self.state == State::Online {
            self.transmit(None, score.into());
        }
    }
}

/// Everything one can ask for. The answer comes as [`ClientEvent::RoomJoined`],
/// [`ClientEvent::Replied`] or [`ClientEvent::Rejected`].
macro_rules! requests {
    ($($(#[$meta:meta])* $name:ident: $message:ty;)*) => {
        impl Client {
            $($(#[$meta])* pub fn $name(&mut self, request: $message) -> RequestId { self.request(request) })*
        }
    };
}

requests! {
    /// Asks for a seat in the fullest open room, or in a new one.
    find: Find;
    /// Asks for a room of our own.
    create: Create;
    /// Asks for a seat in this room.
    join: Join;
    /// Says whether we are ready.
    ready: Ready;
    /// Host: starts a match.
    start: Start;
    /// Host: ends the match.
    finish: Finish;
    /// Host: changes the game's settings.
    set_settings: Settings;
    /// Host: changes who may come.
    set_access: Access;
    /// Host: sends somebody away.
    kick: Kick;
    /// Host: makes somebody else host.
    hand_over: Host;
    /// Changes our name or colours.
    set_profile: Profile;
    /// Asks for the best of a game.
    top: GetLeaderboard;
    /// Asks for our own best.
    mine: GetMyStats;
    /// Asks for fresh servers that help to make links.
    refresh_ice: Ice;
}
