//! The UDP port: channels of all members on one socket, and answers to who asks where it is seen
//! from.
//!
//! Nothing is made for strangers: a channel is there only because a member asked for it over its
//! socket, and datagrams that belong to none are dropped and counted. Nothing is sent to an address
//! that has not [agreed](crate::consent). What one look at the socket brings for one member leaves
//! together, and nobody waits for more than a [turn](crate::turns) of whoever brings much.

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

/// Longer than any datagram we understand.
const DATAGRAM_BYTES_MAX: usize = 2_048;
/// What the kernel should keep for us while we are busy or not let run: about 1,300 datagrams. More
/// would only be older when they are read.
const KERNEL_BYTES: usize = 1 << 20;
/// Datagrams taken in one look at the socket.
const DATAGRAMS_PER_LOOK: usize = 64;
/// Of datagrams that are taken, so many wait until they are decrypted: about what the kernel keeps
/// for us.
const WAITING_MAX: usize = 1_024;
/// How long datagrams are decrypted before what they brought leaves and the next look: what comes
/// meanwhile waits no longer.
const DECRYPT_WITHIN: Duration = Duration::from_millis(1);
/// What leaves in one turn: as much work as decrypting, and many times what a room says at once.
const WORK_PER_TURN: usize = 64 * 1024;
/// The work of a frame that goes out is its bytes and this.
const WORK_PER_FRAME: usize = 200;
/// Channels made in one turn: each costs as much as a hundred datagrams, and datagrams that came
/// meanwhile wait no longer than that.
const OFFERS_PER_TURN: usize = 1;
/// A channel must open within this time.
const OPEN_WITHIN: Duration = Duration::from_secs(15);
/// Bytes of a question that say which channel asks; the others are drawn.
const ASKER_BYTES: usize = 5;

/// A port for channels.
#[derive(Debug)]
pub struct UdpPort {
    socket: StdUdpSocket,
    addresses: Vec<SocketAddr>,
}

impl UdpPort {
    /// Opens the port. `told` are the addresses members are told to reach it at; without any it is
    /// the one it listens on, or, if that is all of them, the one this machine uses towards others.
    ///
    /// # Errors
    /// If the port cannot be had.
    pub fn bind(listen: SocketAddr, told: &[SocketAddr]) -> io::Result<UdpPort> {
        let socket = StdUdpSocket::bind(listen)?;
        socket.set_nonblocking(true)?;
        // A system that gives less is no reason not to serve.
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

    /// Where members reach it.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

/// The addresses this machine uses towards others, which for a port of IPv6 are of both kinds;
/// nothing is sent to find out.
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

/// The port's socket. One of IPv6 may be spoken to by IPv4, too; whoever does so goes by the
/// address everybody knows it by.
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

    /// If the kernel has no room it is lost, like anything on the way.
    fn send(&self, bytes: &[u8], to: SocketAddr) {
        let to = match to.ip() {
            IpAddr::V4(ip) if self.is_ipv6 => SocketAddr::new(ip.to_ipv6_mapped().into(), to.port()),
            _ => to,
        };
        let _ = self.socket.try_send_to(bytes, to);
    }
}

/// What the rest of the relay wants of the port.
#[derive(Debug)]
pub(crate) enum Job {
    /// Make a channel.
    Offer(Offer),
    /// A socket has ended, and with it the channel it asked for, if that is not open.
    Closed { socket: ConnectionId },
    /// Send this, which comes from this network, over a channel.
    Data { network: u64, channel: ConnectionId, frame: Vec<u8> },
    /// End a channel.
    End { channel: ConnectionId },
}

/// A channel that a member on this socket asks for.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) socket: ConnectionId,
    pub(crate) network: u64,
    pub(crate) description: String,
}

/// One channel.
struct Held {
    channel: RtcChannel,
    /// The socket over which it was asked for, and where that comes from.
    socket: ConnectionId,
    network: u64,
    name: String,
    consent: Consent,
    since: Instant,
    /// When it wants to be looked after.
    timeout: Instant,
    /// When it will be: not later than that. Timeouts move into the future with every datagram, so
    /// that most alarms find nothing to do and are only set anew; that is cheaper than to set them
    /// with every datagram.
    alarm: Option<Instant>,
    open: bool,
    /// What more comes is dropped as it is: to decrypt it costs more than to send it.
    datagrams: RateLimiter,
    /// What goes out at the end of this turn.
    frames: Vec<Vec<u8>>,
    /// How senders share what waits for it.
    fair: FairShare,
}

/// A datagram of a channel, to be decrypted.
struct Waiting {
    id: ConnectionId,
    from: SocketAddr,
    length: usize,
    buffer: Box<[u8]>,
}

/// The port while it runs.
pub(crate) struct Port {
    socket: Socket,
    addresses: Vec<SocketAddr>,
    certificate: Certificate,
    channels: BTreeMap<ConnectionId, Held>,
    opening: Opening,
    /// Datagrams one channel may bring.
    datagrams: RateLimit,
    /// Datagrams by network, as [`Held::datagrams`] for one channel.
    networks: KeyedRateLimiter<Prefix>,
    /// Channels that were asked for and wait for their turn.
    offers: VecDeque<Offer>,
    by_name: HashMap<String, ConnectionId>,
    by_address: HashMap<SocketAddr, ConnectionId>,
    alarms: BTreeSet<(Instant, ConnectionId)>,
    /// What is done in a turn, kept for the next one's.
    jobs: VecDeque<Job>,
    /// Datagrams that came, by the network of their channel.
    waiting: FairQueue<Waiting>,
    /// Frames that go out, by the network they came from.
    leaving: FairQueue<(ConnectionId, Vec<u8>)>,
    questions: Limiter,
    buffer: Box<[u8]>,
    /// Buffers to use again.
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
            // Setting it costs something, and most turns leave it where it is.
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

    /// Whether there is something left to do that waits for nothing.
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

    /// Looks after channels whose time has come.
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
                    // The last one counts.
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

    /// What came in this turn, from here and from the sockets, goes out together. If it is more
    /// than a turn bears, each network has its part of it.
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

    /// Takes what came. It costs little, so that nobody's datagrams wait in the kernel behind
    /// whoever sends many.
    fn receive(&mut self, now: Instant, server: &RelayServer) {
        let mut dropped = 0;
        for _ in 0..DATAGRAMS_PER_LOOK {
            let (length, from) = match self.socket.try_receive(&mut self.buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // Some systems report here that an earlier datagram could not be delivered.
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

    /// Lets channels have what came for them, one of each network after the other.
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

    /// Which of our addresses whoever is there talks to.
    fn local(&self, from: SocketAddr) -> SocketAddr {
        let alike = self.addresses.iter().find(|address| address.is_ipv4() == from.is_ipv4());
        *alike.unwrap_or(&self.addresses[0])
    }

    /// Whether a channel may bring this datagram, too.
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

    /// Whose datagram it is, and how long. A question is answered here, an answer brings what
    /// waited for it, and what belongs to nobody, or is more than anybody may bring, is dropped.
    fn owner(
        &mut self,
        now: Instant,
        from: SocketAddr,
        length: usize,
        server: &RelayServer,
    ) -> Option<(ConnectionId, usize)> {
        let bytes = &self.buffer[..length];
        // STUN, as RFC 7983 tells it apart from DTLS.
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
                    // Only who knows the channel's password is asked anything, or gets an answer.
                    self.channels[id].channel.accepts(now, from, self.local(from), bytes)
                });
                let Some(id) = id else {
                    server.count_datagram(Stray::Refused);
                    return None;
                };
                // To ask whoever seems to be there costs as much as anything.
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

    /// Whether a check counts now. If whoever is there is to be asked first, it is.
    fn judge(&mut self, id: ConnectionId, now: Instant, from: SocketAddr, length: usize) -> bool {
        let Some(held) = self.channels.get_mut(&id) else { return false };
        let judged = held.consent.check(now, from, &self.buffer[..length], || question_of(id));
        let question = judged.question.and_then(|question| held.channel.request(question));
        // Nobody is sent more than came from there. No honest check is shorter: it has in it all
        // that ours has.
        if let Some(question) = question.filter(|question| question.len() <= length) {
            self.socket.send(&question, from);
        }
        if judged.is_taken {
            // Whoever had the address may be gone.
            self.by_address.entry(from).or_insert(id);
        }
        judged.is_taken
    }

    /// An answer came. The check that waited for it, which may be empty; none if the answer counts
    /// for nothing.
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
            // Nobody else can have answered that, so whoever had the address before has it no more.
            self.by_address.insert(from, id);
        }
        Some(answered.check)
    }

    fn forget_address(&mut self, address: SocketAddr, id: ConnectionId) {
        if self.by_address.get(&address) == Some(&id) {
            self.by_address.remove(&address);
        }
    }

    /// Ends the attempt of a socket to open a channel: there is one at a time, and none without its
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

    /// A channel as it was asked for, and what is answered.
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

    /// Sends what waits for a channel; what it has no room for is dropped.
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

    /// Does what a channel wants until it wants no more.
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

    /// Sees to it that a channel is looked after in time.
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

    /// Ends a channel and tells the other side, as far as one can.
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

/// Sends to who agreed to it.
fn transmit(socket: &Socket, consent: &Consent, now: Instant, to: SocketAddr, bytes: &[u8]) {
    if consent.allows(now, to) {
        socket.send(bytes, to);
    }
}

/// A question of this channel that nobody can guess; none if the system gives no entropy.
fn question_of(id: ConnectionId) -> Option<TransactionId> {
    let mut question = TransactionId::default();
    getrandom::fill(&mut question[ASKER_BYTES..]).ok()?;
    question[..ASKER_BYTES].copy_from_slice(&id.0.to_le_bytes()[..ASKER_BYTES]);
    Some(question)
}

/// The channel that asked this.
fn asker_of(question: TransactionId) -> ConnectionId {
    let mut number = [0; 8];
    number[..ASKER_BYTES].copy_from_slice(&question[..ASKER_BYTES]);
    ConnectionId(u64::from_le_bytes(number))
}

/// A datagram that reaches no channel.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stray {
    /// Asked where it is seen from, and was told.
    Question,
    /// Of no meaning, or too much.
    Refused,
    /// From an address nobody speaks from.
    Unknown,
    /// Of a channel that brings more than any member may say.
    Beyond,
}

/// Time for limits that do not know a clock.
pub(crate) fn micros(began: Instant) -> Micros {
    Micros::new(began.elapsed().as_micros() as u64)
}
