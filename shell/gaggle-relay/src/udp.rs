//! The UDP port: channels of all members on one socket, and STUN responses.
//!
//! It runs on its own thread, with jobs from `server.rs`. A channel exists only after a member
//! requested it; nothing is sent to an address without [consent](crate::consent), and a [fair
//! queue](crate::fair_queue) serves networks in turn. Absent: rules of the relay, WebRTC.

mod intake;
mod socket;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use gaggle_kit::Micros;
use gaggle_kit::rate_limit::{KeyedRateLimiter, Prefix, RateLimit, RateLimiter};
use gaggle_link::relay::RelayFrame;
use gaggle_rtc::{Certificate, Role, RtcChannel, RtcOutput};

use crate::config::RelayConfig;
use crate::consent::Consent;
use crate::fair_queue::FairQueue;
use crate::fair_share::{FairShare, sender_of};
use crate::limiter::Limiter;
use crate::limits::{PREFIXES_MAX, RelayLimit};
use crate::machine::{ConnectionId, Relay, Sink};
use crate::opening::Opening;
use crate::server::{JOBS_MAX, RelayServer};
pub(crate) use intake::Stray;
use socket::Socket;
pub use socket::UdpPort;

/// Receive buffer, longer than any valid datagram.
const DATAGRAM_BYTES_MAX: usize = 2_048;
/// Datagrams read per poll of the socket.
const DATAGRAMS_PER_LOOK: usize = 64;
/// Datagrams queued for decryption: about what the kernel buffers.
const WAITING_MAX: usize = 1_024;
/// Longest time to decrypt before sending and reading again.
const DECRYPT_WITHIN: Duration = Duration::from_millis(1);
/// Work sent per iteration: as much as decrypting, and many times a room's messages.
const WORK_PER_TURN: usize = 64 * 1024;
/// Work of an outgoing frame beside its bytes.
const WORK_PER_FRAME: usize = 200;
/// Channels created per iteration: each costs as much as a hundred datagrams.
const OFFERS_PER_TURN: usize = 1;
/// Time for a channel to open.
const OPEN_WITHIN: Duration = Duration::from_secs(15);

/// Work for the port.
#[derive(Debug)]
pub(crate) enum Job {
    /// Create a channel.
    Offer(Offer),
    /// A socket has ended, and with it its unopened channel.
    Closed { socket: ConnectionId },
    /// Send a frame from this network over a channel.
    Data { network: u64, channel: ConnectionId, frame: Vec<u8> },
    /// Close a channel.
    End { channel: ConnectionId },
}

/// A channel requested by the member on this socket.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) socket: ConnectionId,
    pub(crate) network: u64,
    pub(crate) description: String,
}

/// One channel with its state at the port.
struct Held {
    channel: RtcChannel,
    /// Socket that requested it, and its network.
    socket: ConnectionId,
    network: u64,
    name: String,
    consent: Consent,
    since: Instant,
    /// When the channel's timers are due.
    timeout: Instant,
    /// When the port checks them, never later. Every datagram moves the due time forward; keeping
    /// an early alarm is cheaper than moving it each time.
    alarm: Option<Instant>,
    open: bool,
    /// Excess is dropped before decryption, which costs more than sending it.
    datagrams: RateLimiter,
    /// Frames to send at the end of this iteration.
    frames: Vec<Vec<u8>>,
    /// Shares of senders in its send buffer.
    fair: FairShare,
}

/// A datagram to be decrypted.
struct Waiting {
    id: ConnectionId,
    from: SocketAddr,
    length: usize,
    buffer: Box<[u8]>,
}

/// The running port.
pub(crate) struct Port {
    socket: Socket,
    addresses: Vec<SocketAddr>,
    certificate: Certificate,
    channels: BTreeMap<ConnectionId, Held>,
    opening: Opening,
    /// Rate limit of datagrams per channel.
    datagrams: RateLimit,
    /// Datagrams by network, like [`Held::datagrams`] per channel.
    networks: KeyedRateLimiter<Prefix>,
    /// Offers that wait to be served.
    offers: VecDeque<Offer>,
    by_name: HashMap<String, ConnectionId>,
    by_address: HashMap<SocketAddr, ConnectionId>,
    alarms: BTreeSet<(Instant, ConnectionId)>,
    /// Jobs of this iteration; the buffer is reused.
    jobs: VecDeque<Job>,
    /// Received datagrams, by the network of their channel.
    waiting: FairQueue<Waiting>,
    /// Outgoing frames, by the network they came from.
    leaving: FairQueue<(ConnectionId, Vec<u8>)>,
    questions: Limiter,
    buffer: Box<[u8]>,
    /// Buffers for reuse.
    spare: Vec<Box<[u8]>>,
}

impl Port {
    pub(crate) fn new(port: UdpPort, opening: Opening, config: &RelayConfig) -> io::Result<Port> {
        Ok(Port {
            socket: Socket::new(port.socket)?,
            addresses: port.addresses,
            certificate: Certificate::generate().map_err(io::Error::other)?,
            channels: BTreeMap::new(),
            opening,
            datagrams: config.channel_datagrams(),
            networks: KeyedRateLimiter::new([config.network_datagrams()], PREFIXES_MAX),
            offers: VecDeque::new(),
            by_name: HashMap::new(),
            by_address: HashMap::new(),
            alarms: BTreeSet::new(),
            jobs: VecDeque::new(),
            waiting: FairQueue::new(WAITING_MAX),
            leaving: FairQueue::new(JOBS_MAX),
            questions: Limiter::default(),
            buffer: new_buffer(),
            spare: Vec::new(),
        })
    }

    /// Serves until the relay stops or is dropped.
    pub(crate) async fn run(mut self, server: Weak<RelayServer>, news: Arc<tokio::sync::Notify>) {
        let mut sleep = std::pin::pin!(tokio::time::sleep_until(tokio::time::Instant::now()));
        loop {
            // Resetting the timer is not free, and most iterations leave it unchanged.
            let next = self.alarms.first().map(|(at, _)| tokio::time::Instant::from_std(*at));
            if let Some(next) = next.filter(|next| *next != sleep.deadline()) {
                sleep.as_mut().reset(next);
            }
            tokio::select! {
                _ = self.socket.socket.readable() => {}
                () = news.notified() => {}
                () = &mut sleep, if next.is_some() => {}
                () = tokio::task::yield_now(), if self.has_work() => {}
            }
            let Some(server) = server.upgrade() else { return };
            let is_last = server.is_stopping();
            self.turn(&server);
            server.flush_soon();
            if is_last {
                return;
            }
        }
    }

    /// Whether there is work that can be done at once.
    fn has_work(&self) -> bool {
        !(self.offers.is_empty() && self.waiting.is_empty() && self.leaving.is_empty())
    }

    fn turn(&mut self, server: &RelayServer) {
        let now = Instant::now();
        self.receive(now, server);
        self.decrypt(now, server);
        self.wake(now, server);
        self.take_jobs(now, server);
        self.leave(now, server);
        for _ in 0..OFFERS_PER_TURN {
            let Some(offer) = self.offers.pop_front() else { break };
            self.give_up(offer.socket, now, server);
            self.offer(&offer, now, server);
        }
    }

    /// Runs due timers of channels.
    fn wake(&mut self, now: Instant, server: &RelayServer) {
        while let Some((at, id)) = self.alarms.first().copied().filter(|(at, _)| *at <= now) {
            self.alarms.remove(&(at, id));
            let Some(held) = self.channels.get_mut(&id) else { continue };
            held.alarm = None;
            if held.timeout > now {
                self.set_alarm(id);
                continue;
            }
            let late = !held.open && now.duration_since(held.since) >= OPEN_WITHIN;
            if late || held.channel.handle_timeout(now).is_err() {
                self.end(id, now, server);
            } else {
                self.drain(id, now, server);
            }
        }
    }

    fn take_jobs(&mut self, now: Instant, server: &RelayServer) {
        let mut jobs = std::mem::take(&mut self.jobs);
        server.swap_jobs(&mut jobs);
        let mut dropped = 0;
        for job in jobs.drain(..) {
            match job {
                Job::Offer(offer) => {
                    // The last offer of a socket counts.
                    self.offers.retain(|waiting| waiting.socket != offer.socket);
                    self.offers.push_back(offer);
                }
                Job::Closed { socket } => {
                    self.offers.retain(|waiting| waiting.socket != socket);
                    self.give_up(socket, now, server);
                }
                Job::End { channel } => self.end(channel, now, server),
                Job::Data { network, channel, frame } => {
                    dropped += u64::from(self.leaving.push(network, (channel, frame)).is_some());
                }
            }
        }
        self.jobs = jobs;
        server.count_slow(dropped);
    }

    /// Sends the output of this iteration. Beyond the limit, each network gets its share.
    fn leave(&mut self, now: Instant, server: &RelayServer) {
        let (mut touched, mut work) = (BTreeSet::new(), 0);
        while work < WORK_PER_TURN
            && let Some((_, (channel, frame))) = self.leaving.pop()
        {
            if let Some(held) = self.channels.get_mut(&channel) {
                work += frame.len() + WORK_PER_FRAME;
                held.frames.push(frame);
                touched.insert(channel);
            }
        }
        for id in touched {
            self.send(id, now, server);
        }
    }

    /// Reads the socket. Cheap, so that no datagram waits in the kernel behind a flood.
    fn receive(&mut self, now: Instant, server: &RelayServer) {
        let mut dropped = 0;
        for _ in 0..DATAGRAMS_PER_LOOK {
            let (length, from) = match self.socket.try_receive(&mut self.buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // Some systems report delivery failures of earlier datagrams here.
                Err(_) => continue,
            };
            let Some((id, length)) = self.owner(now, from, length, server) else { continue };
            let Some(held) = self.channels.get(&id) else { continue };
            let empty = self.spare.pop().unwrap_or_else(new_buffer);
            let buffer = std::mem::replace(&mut self.buffer, empty);
            let too_much = self.waiting.push(held.network, Waiting { id, from, length, buffer });
            dropped += u64::from(too_much.is_some());
            self.spare.extend(too_much.map(|waiting| waiting.buffer));
        }
        server.count_slow(dropped);
    }

    /// Passes queued datagrams to channels, serving networks in turn.
    fn decrypt(&mut self, now: Instant, server: &RelayServer) {
        let began = Instant::now();
        while let Some((_, Waiting { id, from, length, buffer })) = self.waiting.pop() {
            let to = self.local(from);
            if let Some(held) = self.channels.get_mut(&id) {
                if held.channel.handle(now, from, to, &buffer[..length]).is_err() {
                    self.end(id, now, server);
                } else {
                    self.drain(id, now, server);
                }
            }
            if self.spare.len() < DATAGRAMS_PER_LOOK {
                self.spare.push(buffer);
            }
            if began.elapsed() >= DECRYPT_WITHIN {
                return;
            }
        }
    }

    /// Gives up the unopened channel of a socket: there is one at a time, and none without its
    /// socket.
    fn give_up(&mut self, socket: ConnectionId, now: Instant, server: &RelayServer) {
        if let Some(id) = self.opening.of(socket) {
            self.end(id, now, server);
        }
    }

    fn offer(&mut self, offer: &Offer, now: Instant, server: &RelayServer) {
        let (id, socket) = (server.next_connection(), offer.socket);
        if !self.opening.begin(socket, id, offer.network) {
            server.count(|totals| totals.refused_full += 1);
            server.exceed(RelayLimit::PendingChannels);
            return;
        }
        let Some((channel, answer)) = self.describe(&offer.description, now) else {
            self.opening.end(socket, id);
            server.count(|totals| totals.offers_refused += 1);
            return;
        };
        self.hold(id, offer, channel, now);
        server.say(socket, RelayFrame::Answer { description: &answer });
        self.drain(id, now, server);
    }

    /// Creates a channel from an offer, with the answer.
    fn describe(&self, description: &str, now: Instant) -> Option<(RtcChannel, String)> {
        let mut channel = RtcChannel::new(now, Role::Server, &self.certificate);
        for address in &self.addresses {
            channel.add_host(*address).ok()?;
        }
        let answer = channel.answer(description).ok()?;
        Some((channel, answer))
    }

    fn hold(&mut self, id: ConnectionId, offer: &Offer, mut channel: RtcChannel, now: Instant) {
        let name = channel.local_name();
        self.by_name.insert(name.clone(), id);
        let held = Held {
            channel,
            socket: offer.socket,
            network: offer.network,
            name,
            consent: Consent::default(),
            since: now,
            timeout: now,
            alarm: None,
            open: false,
            datagrams: RateLimiter::default(),
            frames: Vec::new(),
            fair: FairShare::default(),
        };
        self.channels.insert(id, held);
    }

    /// Sends queued frames of a channel; what does not fit is dropped.
    fn send(&mut self, id: ConnectionId, now: Instant, server: &RelayServer) {
        let Some(held) = self.channels.get_mut(&id) else { return };
        let mut frames = std::mem::take(&mut held.frames);
        let mut buffered = held.channel.buffered_bytes();
        let mut is_dropped = |frame: &[u8]| {
            let is_admitted =
                held.fair.admits(buffered, RtcChannel::BUFFERED_BYTES_MAX, sender_of(frame), frame.len());
            if !is_admitted || held.channel.write(frame).is_err() {
                return true;
            }
            buffered += frame.len();
            false
        };
        let dropped = frames.drain(..).filter(|frame| is_dropped(frame)).count();
        held.frames = frames;
        server.count_slow(dropped as u64);
        self.drain(id, now, server);
    }

    /// Carries out a channel's outputs until there are none.
    fn drain(&mut self, id: ConnectionId, now: Instant, server: &RelayServer) {
        loop {
            let Some(held) = self.channels.get_mut(&id) else { return };
            match held.channel.poll(now) {
                RtcOutput::Transmit { to, bytes, .. } => {
                    transmit(&self.socket, &held.consent, now, to, &bytes);
                }
                RtcOutput::Message(frame) => {
                    let now = server.now();
                    let handle =
                        |relay: &mut Relay, out: Sink<'_>| relay.handle_channel(now, id, &frame, out);
                    server.with_relay_at_port(held.network, handle);
                }
                RtcOutput::Open => {
                    held.open = true;
                    self.opening.end(held.socket, id);
                    let (socket, now) = (held.socket, server.now());
                    let opened =
                        |relay: &mut Relay, out: Sink<'_>| relay.channel_opened(now, socket, id, out);
                    if !server.with_relay_at_port(held.network, opened).0 {
                        held.channel.close();
                    }
                }
                RtcOutput::Closed => {
                    if held.channel.is_faulty() {
                        server.with_relay_at_port(held.network, |relay, out| relay.misbehaved(id, out));
                    }
                    self.forget(id, server);
                    return;
                }
                RtcOutput::Timeout(at) => {
                    held.timeout = at;
                    self.set_alarm(id);
                    return;
                }
            }
        }
    }

    /// Schedules the next check of a channel's timers.
    fn set_alarm(&mut self, id: ConnectionId) {
        let Some(held) = self.channels.get_mut(&id) else { return };
        if held.alarm.is_some_and(|alarm| alarm <= held.timeout) {
            return;
        }
        if let Some(alarm) = held.alarm.replace(held.timeout) {
            self.alarms.remove(&(alarm, id));
        }
        self.alarms.insert((held.timeout, id));
    }

    /// Closes a channel and notifies the other side if possible.
    fn end(&mut self, id: ConnectionId, now: Instant, server: &RelayServer) {
        let Some(held) = self.channels.get_mut(&id) else { return };
        held.channel.close();
        loop {
            match held.channel.poll(now) {
                RtcOutput::Transmit { to, bytes, .. } => {
                    transmit(&self.socket, &held.consent, now, to, &bytes);
                }
                RtcOutput::Timeout(_) | RtcOutput::Closed => break,
                RtcOutput::Message(_) | RtcOutput::Open => {}
            }
        }
        self.forget(id, server);
    }

    fn forget(&mut self, id: ConnectionId, server: &RelayServer) {
        let Some(held) = self.channels.remove(&id) else { return };
        if held.channel.crashed() {
            server.count(|totals| totals.channels_crashed += 1);
        }
        if let Some(alarm) = held.alarm {
            self.alarms.remove(&(alarm, id));
        }
        self.by_name.remove(&held.name);
        self.opening.end(held.socket, id);
        for address in held.consent.addresses() {
            self.forget_address(address, id);
        }
        server.with_relay_at_port(held.network, |relay, out| relay.closed(id, out));
    }
}

fn new_buffer() -> Box<[u8]> {
    vec![0; DATAGRAM_BYTES_MAX].into_boxed_slice()
}

/// Sends to an address that has consented.
fn transmit(socket: &Socket, consent: &Consent, now: Instant, to: SocketAddr, bytes: &[u8]) {
    if consent.allows(now, to) {
        socket.send(bytes, to);
    }
}

/// Time since the start, for rate limits, which have no clock.
pub(crate) fn micros(began: Instant) -> Micros {
    Micros::new(began.elapsed().as_micros() as u64)
}
