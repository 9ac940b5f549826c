//! The UDP port: channels of all members on one socket, and STUN responses.
//!
//! Runs on its own thread, with jobs from `server.rs`. A channel exists only after a member
//! requested it over its socket; other datagrams are dropped and counted. Nothing is sent to an
//! address without [consent](crate::consent). Networks are served in turn by a [fair
//! queue](crate::fair_queue). Absent: rules of the relay (`machine.rs`), WebRTC (`gaggle-rtc`).

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, UdpSocket as StdUdpSocket};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use gaggle_kit::Micros;
use gaggle_kit::rate_limit::{KeyedRateLimiter, Prefix, RateLimit, RateLimiter, prefixes};
use gaggle_link::relay::RelayFrame;
use gaggle_rtc::stun::{self, Stun, TransactionId};
use gaggle_rtc::{Certificate, Role, RtcChannel, RtcOutput};
use tokio::net::UdpSocket;

use crate::consent::Consent;
use crate::fair_queue::FairQueue;
use crate::fair_share::{FairShare, sender_of};
use crate::limiter::Limiter;
use crate::limits::{PREFIXES_MAX, RelayLimit};
use crate::machine::{ConnectionId, Relay, RelayConfig, Sink};
use crate::opening::Opening;
use crate::server::{JOBS_MAX, RelayServer};

/// Receive buffer, longer than any valid datagram.
const DATAGRAM_BYTES_MAX: usize = 2_048;
/// Kernel receive buffer for times when the thread is busy: about 1,300 datagrams. More would only
/// be older when read.
const KERNEL_BYTES: usize = 1 << 20;
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
/// Bytes of a transaction id that name the requesting channel; the others are random.
const ASKER_BYTES: usize = 5;

/// UDP port for channels.
#[derive(Debug)]
pub struct UdpPort {
    socket: StdUdpSocket,
    addresses: Vec<SocketAddr>,
}

impl UdpPort {
    /// Opens the port. `told` are its public addresses; if empty, the bound address, or for an
    /// unspecified one this machine's outward addresses.
    ///
    /// # Errors
    /// If the port cannot be opened.
    pub fn bind(listen: SocketAddr, told: &[SocketAddr]) -> io::Result<UdpPort> {
        let socket = StdUdpSocket::bind(listen)?;
        socket.set_nonblocking(true)?;
        // A smaller buffer is no reason not to serve.
        let buffers = socket2::SockRef::from(&socket);
        let _ = buffers.set_recv_buffer_size(KERNEL_BYTES);
        let _ = buffers.set_send_buffer_size(KERNEL_BYTES);
        let bound = socket.local_addr()?;
        let addresses = match told {
            [] if bound.ip().is_unspecified() => outward(bound),
            [] => vec![bound],
            told => told.to_vec(),
        };
        Ok(UdpPort { socket, addresses })
    }

    /// Addresses sent to members.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

/// Outward addresses of this machine, of both families for an IPv6 port. Nothing is sent to find
/// them.
fn outward(bound: SocketAddr) -> Vec<SocketAddr> {
    let v6 = (Ipv6Addr::UNSPECIFIED.into(), ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], 9).into());
    let v4 = (std::net::Ipv4Addr::UNSPECIFIED.into(), ([192, 0, 2, 1], 9).into());
    let kinds: &[(IpAddr, SocketAddr)] = if bound.is_ipv4() { &[v4] } else { &[v6, v4] };
    let find = |(here, far): &(IpAddr, SocketAddr)| {
        let socket = StdUdpSocket::bind((*here, 0)).ok()?;
        socket.connect(far).ok()?;
        Some(SocketAddr::new(socket.local_addr().ok()?.ip(), bound.port()))
    };
    let found: Vec<SocketAddr> = kinds.iter().filter_map(find).collect();
    if found.is_empty() {
        return vec![SocketAddr::new(std::net::Ipv4Addr::LOCALHOST.into(), bound.port())];
    }
    found
}

/// The UDP socket. An IPv6 socket may receive from IPv4 addresses, which are then shown as such.
struct Socket {
    socket: UdpSocket,
    is_ipv6: bool,
}

impl Socket {
    fn new(socket: StdUdpSocket) -> io::Result<Socket> {
        let is_ipv6 = socket.local_addr()?.is_ipv6();
        Ok(Socket { socket: UdpSocket::from_std(socket)?, is_ipv6 })
    }

    fn try_receive(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let (length, from) = self.socket.try_recv_from(buffer)?;
        Ok((length, SocketAddr::new(from.ip().to_canonical(), from.port())))
    }

    /// A datagram the kernel has no space for is lost, as on the network.
    fn send(&self, bytes: &[u8], to: SocketAddr) {
        let to = match to.ip() {
            IpAddr::V4(ip) if self.is_ipv6 => SocketAddr::new(ip.to_ipv6_mapped().into(), to.port()),
            _ => to,
        };
        let _ = self.socket.try_send_to(bytes, to);
    }
}

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

    /// Whether there is work that waits for nothing.
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

    /// Sends what this iteration produced. Beyond the limit, each network gets its share.
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

    /// Passes queued datagrams to channels, networks in turn.
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

    /// Our address that this peer talks to.
    fn local(&self, from: SocketAddr) -> SocketAddr {
        let alike = self.addresses.iter().find(|address| address.is_ipv4() == from.is_ipv4());
        *alike.unwrap_or(&self.addresses[0])
    }

    /// Whether a channel's rate limits permit one more datagram.
    fn may_bring(&mut self, id: ConnectionId, server: &RelayServer) -> bool {
        let at = server.now();
        let Some(held) = self.channels.get_mut(&id) else { return false };
        let exceeded = if held.datagrams.try_acquire(at, &self.datagrams, 1).is_err() {
            RelayLimit::ChannelDatagrams
        } else if self.networks.try_acquire(at, prefixes(held.network), &[(0, 1)]).is_err() {
            RelayLimit::NetworkDatagrams
        } else {
            return true;
        };
        server.count_datagram(Stray::Beyond);
        server.exceed(exceeded);
        false
    }

    /// Channel of a datagram, and its length. STUN is answered here; datagrams without a channel or
    /// beyond limits are dropped.
    fn owner(
        &mut self,
        now: Instant,
        from: SocketAddr,
        length: usize,
        server: &RelayServer,
    ) -> Option<(ConnectionId, usize)> {
        let bytes = &self.buffer[..length];
        // STUN, as RFC 7983 distinguishes it from DTLS.
        if bytes.first().is_some_and(|first| *first > 3) {
            let Some(id) = self.by_address.get(&from).copied() else {
                server.count_datagram(Stray::Unknown);
                return None;
            };
            return self.may_bring(id, server).then_some((id, length));
        }
        match stun::read(bytes) {
            Some(Stun::Request(question)) => {
                let answer = stun::answer(question, from);
                match self.questions.allows(from.ip(), length, answer.len(), server.now()) {
                    Ok(()) => {
                        self.socket.send(&answer, from);
                        server.count_datagram(Stray::Question);
                    }
                    Err(exceeded) => {
                        exceeded.into_iter().for_each(|limit| server.exceed(limit));
                        server.count_datagram(Stray::Refused);
                    }
                }
                None
            }
            Some(Stun::ConnectivityCheck { name }) => {
                let id = self.by_name.get(name).copied().filter(|id| {
                    // Only holders of the channel's password trigger a request or get an answer.
                    self.channels[id].channel.accepts(now, from, self.local(from), bytes)
                });
                let Some(id) = id else {
                    server.count_datagram(Stray::Refused);
                    return None;
                };
                // A consent request costs as much as any datagram.
                (self.may_bring(id, server) && self.judge(id, now, from, length)).then_some((id, length))
            }
            Some(Stun::Response(question, _)) => {
                let id = asker_of(question);
                let Some(check) = self.take_answer(id, question, now, from, length) else {
                    server.count_datagram(Stray::Refused);
                    return None;
                };
                self.buffer[..check.len()].copy_from_slice(&check);
                (!check.is_empty() && self.may_bring(id, server)).then_some((id, check.len()))
            }
            None => {
                server.count_datagram(Stray::Refused);
                None
            }
        }
    }

    /// Whether a check counts now. Sends a consent request first if needed.
    fn judge(&mut self, id: ConnectionId, now: Instant, from: SocketAddr, length: usize) -> bool {
        let Some(held) = self.channels.get_mut(&id) else { return false };
        let judged = held.consent.check(now, from, &self.buffer[..length], || question_of(id));
        let question = judged.question.and_then(|question| held.channel.request(question));
        // No address is sent more bytes than came from it. Honest checks are longer than the
        // request.
        if let Some(question) = question.filter(|question| question.len() <= length) {
            self.socket.send(&question, from);
        }
        if judged.is_taken {
            // The previous owner of the address may be gone.
            self.by_address.entry(from).or_insert(id);
        }
        judged.is_taken
    }

    /// Handles a consent answer. Returns the waiting check, possibly empty; none if the answer is
    /// invalid.
    fn take_answer(
        &mut self,
        id: ConnectionId,
        question: TransactionId,
        now: Instant,
        from: SocketAddr,
        length: usize,
    ) -> Option<Vec<u8>> {
        let held = self.channels.get_mut(&id)?;
        if !held.channel.is_response(&self.buffer[..length]) {
            return None;
        }
        let answered = held.consent.answer(now, from, question)?;
        if let Some(left) = answered.left {
            self.forget_address(left, id);
        }
        if answered.is_new {
            // Only the current owner of the address could answer.
            self.by_address.insert(from, id);
        }
        Some(answered.check)
    }

    fn forget_address(&mut self, address: SocketAddr, id: ConnectionId) {
        if self.by_address.get(&address) == Some(&id) {
            self.by_address.remove(&address);
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

/// An unguessable transaction id for this channel; none if the system provides no random bytes.
fn question_of(id: ConnectionId) -> Option<TransactionId> {
    let mut question = TransactionId::default();
    getrandom::fill(&mut question[ASKER_BYTES..]).ok()?;
    question[..ASKER_BYTES].copy_from_slice(&id.0.to_le_bytes()[..ASKER_BYTES]);
    Some(question)
}

/// Channel of a transaction id.
fn asker_of(question: TransactionId) -> ConnectionId {
    let mut number = [0; 8];
    number[..ASKER_BYTES].copy_from_slice(&question[..ASKER_BYTES]);
    ConnectionId(u64::from_le_bytes(number))
}

/// A datagram without a channel.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stray {
    /// A STUN request that was answered.
    Question,
    /// Invalid, or rate limited.
    Refused,
    /// From an unknown address.
    Unknown,
    /// Beyond the rate limit of its channel.
    Beyond,
}

/// Time for limits, which know no clock.
pub(crate) fn micros(began: Instant) -> Micros {
    Micros::new(began.elapsed().as_micros() as u64)
}
