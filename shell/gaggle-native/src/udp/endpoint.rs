//! State machine of the UDP carrier: handshakes and sessions.
//!
//! Driven by `udp.rs`. Absent: sockets; outgoing datagrams are passed to the caller.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::CarrierEvent;

use super::keys::{Coder, Ephemeral, RoomKey, Seal};
use super::packet::{
    CHALLENGE, COOKIE_BYTES, Challenge, HEADER_BYTES, KNOCK, Knock, SESSION_MAX, Sealed, WELCOME, Welcome,
    read_header,
};
use super::session::{Opened, Session, SessionParts};
use super::{UdpConfig, UdpStats};
use crate::entropy::random;

const KNOCK_FIRST: Micros = Micros::from_millis(250);
const KNOCK_MAX: Micros = Micros::from_secs(2);

/// Lifetime of a cookie: between one and two of these.
const COOKIE_SPAN: Micros = Micros::from_secs(5);

/// Sessions per peer: the current one, one started by both sides at once, one left by a restart.
const SESSIONS_PER_PEER: usize = 3;

pub(crate) type Transmit<'a> = &'a mut dyn FnMut(SocketAddr, &[u8]);

pub(crate) struct Endpoint {
    local: PeerId,
    config: UdpConfig,
    room_key: RoomKey,
    room: Coder,
    cookies: Coder,
    targets: Vec<Target>,
    sessions: Vec<Session>,
    news: VecDeque<CarrierEvent>,
    totals: UdpStats,
    /// When to look for silent sessions.
    sweep_at: Micros,
}

/// A peer to connect to.
struct Target {
    address: SocketAddr,
    /// Its required id, if known.
    peer: Option<PeerId>,
    /// Its actual id, once connected.
    reached: Option<PeerId>,
    attempt: Option<Attempt>,
    next_at: Micros,
    interval: Micros,
}

/// One connection attempt.
struct Attempt {
    ephemeral: Ephemeral,
    knock: Knock,
}

impl Endpoint {
    pub(crate) fn new(local: PeerId, key: &RoomKey, config: UdpConfig) -> io::Result<Endpoint> {
        Ok(Endpoint {
            local,
            config,
            room: Coder::of_room(key),
            room_key: key.clone(),
            cookies: Coder::new(&random()?),
            targets: Vec::new(),
            sessions: Vec::new(),
            news: VecDeque::new(),
            totals: UdpStats::default(),
            sweep_at: Micros::ZERO,
        })
    }

    pub(crate) fn local(&self) -> PeerId {
        self.local
    }

    pub(crate) fn connect(&mut self, address: SocketAddr, peer: Option<PeerId>) {
        if peer == Some(self.local) {
            return;
        }
        if let Some(target) = self.targets.iter_mut().find(|target| target.address == address) {
            target.peer = peer.or(target.peer);
            return;
        }
        if self.targets.len() < self.config.peers_max {
            let next_at = Micros::ZERO;
            let target =
                Target { address, peer, reached: None, attempt: None, next_at, interval: KNOCK_FIRST };
            self.targets.push(target);
        }
    }

    /// Counters since the start.
    pub(crate) fn totals(&self) -> UdpStats {
        self.totals
    }

    pub(crate) fn is_open(&self, peer: PeerId) -> bool {
        self.sessions.iter().any(|session| session.peer() == peer && session.is_confirmed())
    }

    pub(crate) fn address(&self, peer: PeerId) -> Option<SocketAddr> {
        self.best(peer).map(|index| self.sessions[index].address())
    }

    pub(crate) fn pop_news(&mut self) -> Option<CarrierEvent> {
        self.news.pop_front()
    }

    /// Encrypts a datagram for a peer; returns its destination and length.
    pub(crate) fn seal(
        &mut self,
        to: PeerId,
        datagram: &[u8],
        buffer: &mut [u8],
    ) -> Option<(SocketAddr, usize)> {
        let index = self.best(to)?;
        let session = &mut self.sessions[index];
        let size = session.seal(Sealed::Data, datagram, buffer);
        Some((session.address(), size))
    }

    /// Handles a received datagram. If it is for the link, returns sender and position.
    pub(crate) fn handle(
        &mut self,
        now: Micros,
        from: SocketAddr,
        datagram: &mut [u8],
        transmit: Transmit<'_>,
    ) -> Option<(PeerId, Range<usize>)> {
        self.totals.received += 1;
        match (read_header(datagram), datagram.first()) {
            (Some((kind, number, count)), _) => {
                return self.handle_sealed(now, from, kind, number, count, datagram, transmit);
            }
            (_, Some(&KNOCK)) => self.handle_knock(now, from, datagram, transmit),
            (_, Some(&CHALLENGE)) => self.handle_challenge(now, from, datagram, transmit),
            (_, Some(&WELCOME)) => self.handle_welcome(now, from, datagram),
            _ => self.totals.rejected += 1,
        }
        None
    }

    /// Performs what is due.
    pub(crate) fn handle_timeout(&mut self, now: Micros, transmit: Transmit<'_>) {
        for index in 0..self.targets.len() {
            if self.targets[index].reached.is_none() && self.targets[index].next_at <= now {
                self.knock(now, index, transmit);
            }
        }
        if self.sweep_at <= now {
            self.sweep_at = now + Micros::from_secs(1);
            let (timeout, handshake_timeout) = (self.config.timeout, self.config.handshake_timeout);
            let silent = |session: &Session| session.is_silent(now, timeout, handshake_timeout);
            while let Some(index) = self.sessions.iter().position(silent) {
                let session = self.sessions.swap_remove(index);
                self.forget_if_last(&session);
            }
        }
    }

    pub(crate) fn timeout(&self) -> Micros {
        let knocking =
            self.targets.iter().filter(|target| target.reached.is_none()).map(|target| target.next_at);
        let sweep_at = if self.sessions.is_empty() { Micros::MAX } else { self.sweep_at };
        knocking.fold(sweep_at, Micros::min)
    }

    /// Drops a peer, and the target that led to it.
    pub(crate) fn close(&mut self, peer: PeerId) {
        self.sessions.retain(|session| session.peer() != peer);
        self.targets.retain(|target| target.reached != Some(peer));
    }

    fn knock(&mut self, now: Micros, index: usize, transmit: Transmit<'_>) {
        let Some(number) = self.free_number() else { return };
        let target = &mut self.targets[index];
        target.next_at = now + target.interval;
        target.interval = (target.interval + target.interval).min(KNOCK_MAX);
        if target.attempt.is_none() {
            let Ok(ephemeral) = Ephemeral::random() else { return };
            let cookie = [0; COOKIE_BYTES];
            let knock = Knock { peer: self.local, ephemeral: ephemeral.public, session: number, cookie };
            target.attempt = Some(Attempt { ephemeral, knock });
        }
        if let Some(attempt) = &mut target.attempt {
            // The cookie may have expired: request a new one.
            attempt.knock.cookie = [0; COOKIE_BYTES];
            transmit(target.address, &attempt.knock.write(&self.room));
        }
    }

    fn handle_knock(&mut self, now: Micros, from: SocketAddr, datagram: &[u8], transmit: Transmit<'_>) {
        let knock = match Knock::read(datagram, &self.room) {
            Ok(knock) if knock.peer != self.local => knock,
            _ => return self.totals.rejected += 1,
        };
        // No state is kept for a connecting peer before it proves that it receives at its address:
        // the cookie contains all that is needed, and is shorter than the knock.
        if !self.is_cookie(now, from, &knock) {
            let cookie = self.cookie(now, from, &knock.ephemeral);
            let of = *knock.ephemeral.first_chunk().expect("32 bytes begin with 8");
            return transmit(from, &Challenge { of, cookie }.write(&self.room));
        }
        let welcome = |session: &Session| session.welcome_for(knock.peer, &knock.ephemeral).is_some();
        let known = self.sessions.iter().position(welcome);
        let index = known.or_else(|| self.let_in(now, from, &knock));
        let session = index.map(|index| &self.sessions[index]);
        if let Some(welcome) = session.and_then(|it| it.welcome_for(knock.peer, &knock.ephemeral)) {
            transmit(from, welcome);
        }
    }

    fn let_in(&mut self, now: Micros, from: SocketAddr, knock: &Knock) -> Option<usize> {
        // A welcomed peer is not displaced by later ones: it will be probed again soon.
        let pending = self.sessions.iter().filter(|session| !session.is_confirmed()).count();
        let full = !self.is_open(knock.peer) && self.peers() >= self.config.peers_max;
        if full || pending >= self.config.pending_max {
            self.totals.dropped += 1;
            return None;
        }
        let number = self.free_number()?;
        let ephemeral = Ephemeral::random().ok()?;
        let welcome =
            Welcome { to: knock.session, peer: self.local, ephemeral: ephemeral.public, session: number };
        let keys = ephemeral.keys(&knock.ephemeral, &self.room_key, &[&knock.body(), &welcome.body()])?;
        let parts = SessionParts {
            number,
            remote_number: knock.session,
            peer: knock.peer,
            address: from,
            seal: Seal::new(&keys.from_responder),
            open: Seal::new(&keys.from_initiator),
        };
        let mut session = Session::new(now, parts);
        let welcome = welcome.write(&Coder::new(&keys.confirm)).to_vec();
        session.keep_welcome(knock.ephemeral, welcome);
        self.add(session)
    }

    fn handle_challenge(&mut self, now: Micros, from: SocketAddr, datagram: &[u8], transmit: Transmit<'_>) {
        let challenge = match Challenge::read(datagram, &self.room) {
            Ok(challenge) => challenge,
            Err(_) => return self.totals.rejected += 1,
        };
        for target in
            self.targets.iter_mut().filter(|target| target.address == from && target.reached.is_none())
        {
            let asked =
                target.attempt.as_mut().filter(|attempt| attempt.knock.ephemeral.starts_with(&challenge.of));
            if let Some(attempt) = asked {
                attempt.knock.cookie = challenge.cookie;
                transmit(from, &attempt.knock.write(&self.room));
                // Retry soon in case it is lost.
                target.next_at = target.next_at.min(now + KNOCK_FIRST);
            }
        }
    }

    fn handle_welcome(&mut self, now: Micros, from: SocketAddr, datagram: &[u8]) {
        let (welcome, code) = match Welcome::read(datagram) {
            Ok(read) => read,
            Err(_) => return self.totals.rejected += 1,
        };
        let mut arrived = None;
        for target in self.targets.iter_mut().filter(|target| target.address == from) {
            let expected = target.peer.is_none_or(|peer| peer == welcome.peer) && welcome.peer != self.local;
            let Some(attempt) =
                target.attempt.as_ref().filter(|attempt| expected && attempt.knock.session == welcome.to)
            else {
                continue;
            };
            let said: [&[u8]; 2] = [&attempt.knock.body(), &welcome.body()];
            let Some(keys) = attempt.ephemeral.keys(&welcome.ephemeral, &self.room_key, &said) else {
                continue;
            };
            if !Coder::new(&keys.confirm).check(&[&welcome.body()], &code) {
                continue;
            }
            let parts = SessionParts {
                number: welcome.to,
                remote_number: welcome.session,
                peer: welcome.peer,
                address: from,
                seal: Seal::new(&keys.from_initiator),
                open: Seal::new(&keys.from_responder),
            };
            target.attempt = None;
            target.reached = Some(welcome.peer);
            target.interval = KNOCK_FIRST;
            arrived = Some(parts);
            break;
        }
        let Some(parts) = arrived else { return self.totals.rejected += 1 };
        let peer = parts.peer;
        let was_open = self.is_open(peer);
        let mut session = Session::new(now, parts);
        // The code of the welcome has proven that the other side has the keys.
        session.confirm();
        if self.add(session).is_some() && !was_open {
            self.news.push_back(CarrierEvent::Opened { peer });
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one header, read once")]
    fn handle_sealed(
        &mut self,
        now: Micros,
        from: SocketAddr,
        kind: Sealed,
        number: u16,
        count: u16,
        datagram: &mut [u8],
        transmit: Transmit<'_>,
    ) -> Option<(PeerId, Range<usize>)> {
        let Some(index) = self.sessions.iter().position(|session| session.number() == number) else {
            self.totals.rejected += 1;
            return None;
        };
        let session = &mut self.sessions[index];
        let was_confirmed = session.is_confirmed();
        let opened = session.handle(now, from, (kind, count), datagram, || random().ok(), transmit);
        let peer = session.peer();
        if opened == Opened::Refused {
            self.totals.rejected += 1;
            return None;
        }
        if !was_confirmed
            && self.sessions.iter().filter(|session| session.peer() == peer && session.is_confirmed()).count()
                == 1
        {
            self.news.push_back(CarrierEvent::Opened { peer });
        }
        match opened {
            Opened::Data(length) => Some((peer, HEADER_BYTES..HEADER_BYTES + length)),
            Opened::Own | Opened::Refused => None,
        }
    }

    /// The session in which a peer was last heard: after the peer's restart, older sessions are
    /// unused.
    fn best(&self, peer: PeerId) -> Option<usize> {
        let of_peer = self
            .sessions
            .iter()
            .enumerate()
            .filter(|(_, session)| session.peer() == peer && session.is_confirmed());
        of_peer.max_by_key(|(_, session)| session.heard_at()).map(|(index, _)| index)
    }

    fn add(&mut self, session: Session) -> Option<usize> {
        let of_peer = self.sessions.iter().enumerate().filter(|(_, other)| other.peer() == session.peer());
        if of_peer.clone().count() >= SESSIONS_PER_PEER {
            // The longest silent one is dropped, and unused ones before it.
            let (index, _) =
                of_peer.min_by_key(|(_, session)| (session.is_confirmed(), session.heard_at()))?;
            self.sessions.swap_remove(index);
        }
        self.sessions.push(session);
        Some(self.sessions.len() - 1)
    }

    fn peers(&self) -> usize {
        let sessions = self.sessions.iter().enumerate().filter(|(_, session)| session.is_confirmed());
        let is_first = |(index, session): &(usize, &Session)| {
            !self.sessions[..*index]
                .iter()
                .any(|earlier| earlier.is_confirmed() && earlier.peer() == session.peer())
        };
        sessions.filter(is_first).count()
    }

    fn forget_if_last(&mut self, gone: &Session) {
        if gone.is_confirmed() && !self.is_open(gone.peer()) {
            self.news.push_back(CarrierEvent::Closed { peer: gone.peer() });
            for target in self.targets.iter_mut().filter(|target| target.reached == Some(gone.peer())) {
                target.reached = None;
            }
        }
    }

    fn free_number(&self) -> Option<u16> {
        let taken = |number: u16| {
            let knocking = self.targets.iter().filter_map(|target| target.attempt.as_ref());
            self.sessions.iter().any(|session| session.number() == number)
                || knocking.into_iter().any(|attempt| attempt.knock.session == number)
        };
        (0..64).find_map(|_| {
            Some(u16::from_be_bytes(random().ok()?) & SESSION_MAX).filter(|number| !taken(*number))
        })
    }

    fn cookie(&self, at: Micros, from: SocketAddr, ephemeral: &[u8; 32]) -> [u8; COOKIE_BYTES] {
        self.cookies.code(&[&place_and_time(at, from), ephemeral])
    }

    fn is_cookie(&self, now: Micros, from: SocketAddr, knock: &Knock) -> bool {
        [now, now.since(COOKIE_SPAN)]
            .into_iter()
            .any(|at| self.cookies.check(&[&place_and_time(at, from), &knock.ephemeral], &knock.cookie))
    }
}

/// Content of a cookie: an address and a time of a few seconds.
fn place_and_time(at: Micros, from: SocketAddr) -> [u8; 26] {
    let ip: [u8; 16] = match from.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
        IpAddr::V6(ip) => ip.octets(),
    };
    let mut bytes = [0; 26];
    bytes[..16].copy_from_slice(&ip);
    bytes[16..18].copy_from_slice(&from.port().to_be_bytes());
    bytes[18..].copy_from_slice(&(at.get() / COOKIE_SPAN.get()).to_be_bytes());
    bytes
}
