//! Ports of the relay from outside: unsolicited datagrams, floods, restarts.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod hostile;

use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gaggle_kit::PeerId;
use gaggle_link::relay::RelayFrame;
use gaggle_link::{Channel, Mesh, MeshConfig, Path, PathConfig, Transport, TransportEvent};
use gaggle_lobby::TicketSigner;
use gaggle_native::{Clock, MeshServers, NativeMesh, mesh, random_peer_id};
use gaggle_relay::RelayConfig;
use gaggle_relay::loopback::Loopback;
use gaggle_rtc::stun::{self, Stun};
use gaggle_rtc::{Certificate, Role, RtcChannel};
use tungstenite::{Message, WebSocket};

use hostile::{Hostile, PATIENCE, prove, prove_from, say};

/// Loopback address of floods: another network than all others.
const ELSEWHERE: [u8; 4] = [127, 0, 0, 2];

/// An unauthenticated client of the UDP port.
struct Stranger {
    socket: UdpSocket,
    sent: usize,
}

impl Stranger {
    fn of(relay: &Loopback) -> Stranger {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(relay.address()).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        Stranger { socket, sent: 0 }
    }

    fn send(&mut self, bytes: &[u8]) {
        // A full buffer loses it, as a network would.
        self.sent += self.socket.send(bytes).unwrap_or(0);
    }

    /// First datagram that comes back.
    fn answer(&self) -> Vec<u8> {
        let (mut buffer, began) = ([0; 2_048], Instant::now());
        loop {
            match self.socket.recv(&mut buffer) {
                Ok(length) => return buffer[..length].to_vec(),
                Err(error) => assert!(began.elapsed() < PATIENCE, "no answer: {error}"),
            }
        }
    }

    /// All datagrams that come back until it is quiet.
    fn answers(&self) -> Vec<Vec<u8>> {
        let mut buffer = [0; 2_048];
        std::iter::from_fn(|| self.socket.recv(&mut buffer).ok().map(|length| buffer[..length].to_vec()))
            .collect()
    }
}

#[test]
fn unauthenticated_clients_get_only_stun_answers() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    let mut stranger = Stranger::of(&relay);
    stranger.send(&stun::request([7; 12]));
    let here = stranger.socket.local_addr().unwrap();
    assert_eq!(stun::read(&stranger.answer()), Some(Stun::Response([7; 12], here)));

    // ICE checks without a channel, with and without a password, DTLS hellos, media, truncated and
    // endless STUN, noise.
    let mut check = stun::short_request([1; 12]).to_vec();
    check.extend([0x00, 0x06, 0x00, 0x09]);
    check.extend(b"evtj:h6vY\0\0\0");
    check[3] = 16;
    let mut signed = check.clone();
    signed.extend([0x00, 0x08, 0x00, 0x14]);
    signed.extend([0xab; 20]);
    signed[3] = 40;
    let hello = [&[22, 254, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 180, 1][..], &[0; 180]].concat();
    let noise: Vec<Vec<u8>> = (0..=255u8).map(|first| [&[first][..], &[first ^ 0x5a; 99]].concat()).collect();
    let before = relay.server().totals();
    for bytes in [check, signed, hello, vec![128; 60], stun::short_request([1; 12])[..19].to_vec(), vec![]] {
        stranger.send(&bytes);
    }
    noise.iter().for_each(|bytes| stranger.send(bytes));
    assert_eq!(stranger.answers(), Vec::<Vec<u8>>::new());
    let counted = |totals: gaggle_relay::RelayStats| totals.strays_refused + totals.strays_unknown;
    let began = Instant::now();
    while counted(relay.server().totals()) - counted(before) < 250 {
        assert!(began.elapsed() < PATIENCE, "{:?}", relay.server().totals());
        assert_eq!(stranger.answers(), Vec::<Vec<u8>>::new());
    }
}

#[test]
fn flood_of_requests_gets_few_answers() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    let mut stranger = Stranger::of(&relay);
    let began = Instant::now();
    for n in 0..5_000u32 {
        stranger.send(&stun::request(
            [n.to_le_bytes(), n.to_le_bytes(), n.to_le_bytes()].concat().try_into().unwrap(),
        ));
    }
    let mut answers = vec![stranger.answer()];
    answers.extend(stranger.answers());
    // The burst and the rate, for as long as a busy machine needs.
    let at_most = 20 + 5 * (began.elapsed().as_secs() as usize + 1);
    assert!(answers.len() <= at_most, "{} answers", answers.len());
    let got: usize = answers.iter().map(Vec::len).sum();
    assert!(got < stranger.sent / 10, "{got} bytes for {}", stranger.sent);
}

#[test]
fn client_that_reads_nothing_is_not_read() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    let stream = TcpStream::connect(relay.address()).unwrap();
    let (socket, _) = tungstenite::client(relay.url(), stream).unwrap();
    let mut stream = socket.into_inner();
    stream.write_all(&member_proof(&relay)).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(3))).unwrap();
    // Every ping wants a pong, and nothing reads them. If the relay kept them, this would never
    // end.
    let pings = [&[0x89, 0xfd, 0, 0, 0, 0][..], &[7; 125]].concat().repeat(1_000);
    let mut written = 0;
    while let Ok(count @ 1..) = stream.write(&pings) {
        written += count;
        assert!(written < 200 << 20, "the relay reads everything");
    }
}

/// The frame that authenticates a member.
fn member_proof(relay: &Loopback) -> Vec<u8> {
    let ticket = relay.ticket(1, random_peer_id().unwrap());
    let frame = RelayFrame::Authenticate { ticket: &ticket }.to_bytes();
    let length = u16::try_from(frame.len()).unwrap().to_be_bytes();
    assert!(frame.len() >= 126, "the long form of a length");
    [&[0x82, 0xfe, length[0], length[1], 0, 0, 0, 0][..], &frame].concat()
}

#[test]
fn unauthenticated_client_never_gets_more_bytes_than_it_sent() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    let mut stranger = Stranger::of(&relay);
    let mut got = 0;
    for n in 0..6 {
        stranger.send(&stun::short_request([n; 12]));
        got += stranger.answers().iter().map(Vec::len).sum::<usize>();
        assert!(got <= stranger.sent, "{got} bytes for {}", stranger.sent);
    }
    // A busy machine answers late.
    for _ in 0..100 {
        if got == 3 * 32 {
            break;
        }
        got += stranger.answers().iter().map(Vec::len).sum::<usize>();
    }
    assert_eq!(
        got,
        3 * 32,
        "a client that retries is answered: three answers are shorter than six \
     requests"
    );
}

/// Offers a channel until it is answered or rejected for capacity.
fn is_offer_answered(relay: &Loopback, words: &mut WebSocket<TcpStream>) -> bool {
    let mut channel = RtcChannel::new(Instant::now(), Role::Peer, &Certificate::generate().unwrap());
    channel.add_host(([127, 0, 0, 1], 9).into()).unwrap();
    let (description, before) = (channel.offer().unwrap(), relay.server().totals().refused_full);
    words.get_ref().set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    say(words, RelayFrame::Offer { description: &description });
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if let Ok(Message::Binary(bytes)) = words.read()
            && matches!(RelayFrame::read(&bytes), Ok(RelayFrame::Answer { .. }))
        {
            return true;
        }
        if relay.server().totals().refused_full > before {
            return false;
        }
    }
    panic!("neither answered nor rejected: {:?}", relay.server().totals());
}

#[test]
fn unopened_channels_are_limited_and_end_with_sockets() {
    // A sixteenth of them for one network.
    let relay = Loopback::start(RelayConfig { unproven_max: 32, ..RelayConfig::default() }).unwrap();
    let come = || prove(&relay, random_peer_id().unwrap());
    let (mut first, mut second) = (come(), come());
    assert!(is_offer_answered(&relay, &mut first) && is_offer_answered(&relay, &mut second));
    assert!(is_offer_answered(&relay, &mut first), "a new offer replaces the earlier one");
    assert!(!is_offer_answered(&relay, &mut come()), "the limit is reached");
    drop((first, second));
    // If channels outlived their sockets, each of these would wait for a quarter of a minute.
    let began = Instant::now();
    for nth in 0..20 {
        let mut words = come();
        while !is_offer_answered(&relay, &mut words) {
            assert!(began.elapsed() < PATIENCE, "after {nth}");
            words = come();
        }
    }
}

/// Two members of one room.
struct Pair {
    clock: Clock,
    links: [NativeMesh; 2],
    ids: [PeerId; 2],
    /// Messages the first has sent and the second has received.
    said: usize,
    heard: usize,
}

impl Pair {
    fn at(relay: &Loopback, allowed: &[Path]) -> Pair {
        let clock = Clock::start();
        let ids = [random_peer_id().unwrap(), random_peer_id().unwrap()];
        let servers = MeshServers { stun: vec![], relay: Some(relay.url()) };
        let paths = PathConfig { allowed_paths: allowed.to_vec(), ..PathConfig::default() };
        let links = ids.map(|me| {
            let config = MeshConfig { paths: paths.clone(), ..MeshConfig::default() };
            mesh(me, &relay.ticket(1, me), &servers, config, me.to_u128() as u64)
        });
        let mut pair = Pair { clock, links, ids, said: 0, heard: 0 };
        for nth in 0..2 {
            let now = pair.clock.now();
            pair.links[nth].add_peer(now, pair.ids[1 - nth]);
        }
        pair
    }

    /// Polls both until the second received this many messages, or time is up.
    fn poll_until(&mut self, wanted: usize, patience: Duration) -> usize {
        let (began, mut arrived) = (Instant::now(), 0);
        while arrived < wanted && began.elapsed() < patience {
            let now = self.clock.now();
            for nth in 0..2 {
                while let Some(event) = self.links[nth].poll(now) {
                    arrived += usize::from(nth == 1 && matches!(event, TransportEvent::Message { .. }));
                }
                while self.links[nth].poll_signal().is_some() {}
            }
            let said = self.links[0].send(now, self.ids[1], Channel::Unreliable, b"honk");
            self.said += usize::from(said.is_ok());
            std::thread::sleep(Duration::from_millis(2));
        }
        self.heard += arrived;
        // Messages that arrive together are counted together.
        arrived.min(wanted)
    }

    fn path(&self) -> Option<Path> {
        self.links[1].path(self.ids[0])
    }

    /// Of what was sent since then, nearly everything was received.
    fn expect_heard(&self, what: &str, (said, heard): (usize, usize)) {
        let (said, heard) = (self.said - said, self.heard - heard);
        assert!(said >= 200 && heard * 10 >= said * 9, "{what}: {heard} of {said}");
    }
}

#[test]
fn members_do_not_notice_flood_of_unsolicited_datagrams() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    let mut pair = Pair::at(&relay, &[Path::Relay]);
    assert_eq!(pair.poll_until(50, PATIENCE), 50);
    let address = relay.address();
    let (stop, before) = (AtomicBool::new(false), (pair.said, pair.heard));
    let arrived = std::thread::scope(|scope| {
        scope.spawn(|| {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            while !stop.load(Ordering::Relaxed) {
                (0..20).for_each(|n| _ = socket.send_to(&[n * 13; 200], address));
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let mut arrived = 0;
        let began = Instant::now();
        while (arrived < 200 || relay.server().totals().strays_unknown < 1_000) && began.elapsed() < PATIENCE
        {
            arrived += pair.poll_until(1, PATIENCE);
        }
        stop.store(true, Ordering::Relaxed);
        arrived
    });
    assert!(arrived >= 200, "{arrived}");
    pair.expect_heard("during the flood", before);
    assert_eq!(pair.path(), Some(Path::Relay));
    assert!(relay.server().totals().strays_unknown >= 1_000);
}

/// A member that sends as much as it can to others over its channel.
fn flood_channel(mut flooder: Hostile, victims: &[PeerId], stop: &AtomicBool) {
    flooder.run_until("a channel", |flooder| !flooder.open.is_empty());
    victims.iter().for_each(|victim| say(&mut flooder.words, RelayFrame::Open { peer: *victim }));
    while !stop.load(Ordering::Relaxed) {
        for victim in victims.iter().cycle().take(100) {
            let frame = RelayFrame::Data { peer: *victim, datagram: &[7; 1_000] }.to_bytes();
            let id = flooder.open[0];
            flooder.rtc.channel(id).into_iter().for_each(|mut channel| _ = channel.write(true, &frame));
        }
        flooder.step();
    }
}

/// The same over its WebSocket.
fn flood_socket(mut words: WebSocket<TcpStream>, victims: &[PeerId], stop: &AtomicBool) {
    victims.iter().for_each(|victim| say(&mut words, RelayFrame::Open { peer: *victim }));
    words.get_ref().set_write_timeout(Some(Duration::from_millis(100))).unwrap();
    while !stop.load(Ordering::Relaxed) {
        for victim in victims {
            let frame = RelayFrame::Data { peer: *victim, datagram: &[7; 1_000] }.to_bytes();
            // The relay reads no more than its limit.
            let _ = words.write(Message::Binary(frame.into()));
        }
        let _ = words.flush();
    }
}

#[test]
fn flooding_members_do_not_stop_others() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    for path in [Path::Relay, Path::WebSocket] {
        let mut pair = Pair::at(&relay, &[path]);
        assert_eq!(pair.poll_until(50, PATIENCE), 50);
        let (stop, victims, before) = (AtomicBool::new(false), pair.ids, relay.server().totals());
        let spoken = (pair.said, pair.heard);
        let channels = [0, 1].map(|_| Hostile::come_from(ELSEWHERE, &relay, &[0]));
        let talker = random_peer_id().unwrap();
        let words = prove_from(ELSEWHERE, &relay, talker);
        // They are members, and no victim closes its pair.
        for flooder in channels.iter().map(|flooder| flooder.peer).chain([talker]) {
            let now = pair.clock.now();
            pair.links.iter_mut().for_each(|links| links.add_peer(now, flooder));
        }
        let arrived = std::thread::scope(|scope| {
            let (relay, stop) = (&relay, &stop);
            for flooder in channels {
                scope.spawn(move || flood_channel(flooder, &victims, stop));
            }
            scope.spawn(move || flood_socket(words, &victims, stop));
            let (began, mut arrived) = (Instant::now(), 0);
            let flooded = || relay.server().totals().dropped_rate - before.dropped_rate;
            while (arrived < 300 || flooded() < 2_000) && began.elapsed() < PATIENCE {
                arrived += pair.poll_until(1, PATIENCE);
            }
            stop.store(true, Ordering::Relaxed);
            arrived
        });
        let totals = relay.server().totals();
        assert!(totals.dropped_rate - before.dropped_rate >= 2_000, "it was a flood: {totals:?}");
        assert!(arrived >= 300, "{arrived} of {path}: {totals:?}");
        pair.expect_heard(&path.to_string(), spoken);
        assert_eq!(pair.path(), Some(path));
    }
}

#[test]
fn dual_stack_port_tells_each_family_its_address() {
    let Ok(relay) =
        Loopback::at("[::]:0".parse().unwrap(), RelayConfig::default(), TicketSigner::from_secret(&[9; 32]))
    else {
        let _ = writeln!(std::io::stderr(), "skipped: no IPv6 on this machine");
        return;
    };
    for here in ["127.0.0.1", "::1"] {
        let here: std::net::IpAddr = here.parse().unwrap();
        let socket = UdpSocket::bind((here, 0)).unwrap();
        socket.connect((here, relay.address().port())).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let mut stranger = Stranger { socket, sent: 0 };
        stranger.send(&stun::request([7; 12]));
        let seen = stranger.socket.local_addr().unwrap();
        assert_eq!(stun::read(&stranger.answer()), Some(Stun::Response([7; 12], seen)));
    }
}

#[test]
fn restarted_relay_is_found_again() {
    let signer = || TicketSigner::from_secret(&[9; 32]);
    let relay = Loopback::at("127.0.0.1:0".parse().unwrap(), RelayConfig::default(), signer()).unwrap();
    let address = relay.address();
    let mut pair = Pair::at(&relay, &[Path::Relay, Path::WebSocket]);
    assert_eq!(pair.poll_until(20, PATIENCE), 20);
    relay.stop();
    assert!(pair.poll_until(1_000, Duration::from_secs(1)) < 1_000);
    let began = Instant::now();
    let relay = loop {
        if let Ok(relay) = Loopback::at(address, RelayConfig::default(), signer()) {
            break relay;
        }
        assert!(began.elapsed() < PATIENCE, "the port is still in use");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(pair.poll_until(20, PATIENCE), 20, "{:?}", relay.server().totals());
}

#[test]
fn peers_with_similar_ids_receive_only_their_own() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    let servers = MeshServers { stun: vec![], relay: Some(relay.url()) };
    let name = random_peer_id().unwrap().to_u128() & !3;
    let ids = [name, name | 1, name | 2].map(PeerId::from_u128);
    for path in [Path::Relay, Path::WebSocket] {
        let clock = Clock::start();
        let mut members = ids.map(|me| {
            let paths = PathConfig::only(path);
            let config = MeshConfig { paths, ..MeshConfig::default() };
            mesh(me, &relay.ticket(1, me), &servers, config, me.to_u128() as u64)
        });
        for (nth, member) in members.iter_mut().enumerate() {
            ids.iter().filter(|id| **id != ids[nth]).for_each(|id| member.add_peer(clock.now(), *id));
        }
        // Messages per sender and receiver. Each names both.
        let (began, mut letters) = (Instant::now(), [[0; 3]; 3]);
        let missing = |letters: &[[u32; 3]; 3]| {
            letters.iter().enumerate().any(|(to, from)| (0..3).any(|nth| nth != to && from[nth] < 10))
        };
        while missing(&letters) && began.elapsed() < PATIENCE {
            for (nth, member) in members.iter_mut().enumerate() {
                while let Some(event) = member.poll(clock.now()) {
                    let TransportEvent::Message { peer, bytes, .. } = event else { continue };
                    let from = ids.iter().position(|id| *id == peer).expect("no other peer is connected");
                    assert_eq!(
                        bytes,
                        [from as u8, nth as u8],
                        "{path:?}: a message at {nth} from \
                     {from}"
                    );
                    letters[nth][from] += 1;
                }
                while member.poll_signal().is_some() {}
                for to in (0..3).filter(|to| *to != nth) {
                    let letter = [nth as u8, to as u8];
                    let _ = member.send(clock.now(), ids[to], Channel::Unreliable, &letter);
                }
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(!missing(&letters), "{path:?}: {letters:?}");
        assert_eq!(members[0].path(ids[1]), Some(path));
    }
}
