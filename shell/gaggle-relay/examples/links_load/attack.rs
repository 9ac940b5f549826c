//! Attacks on a relay: floods at its UDP port, forged tickets at its WebSocket port, members that
//! offer channels or send without end.
//!
//! They run in a process of their own at idle priority, so that they take no CPU time from the
//! relay or from what is measured. What they send reaches the relay all the same, which counts it.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gaggle_kit::PeerId;
use gaggle_link::relay::RelayFrame;
use gaggle_lobby::{Claims, TicketSigner};
use gaggle_native::random_peer_id;
use gaggle_rtc::{Certificate, Role, RtcChannel, RtcOutput, stun};
use tungstenite::{Message, WebSocket};

use crate::relay_process::{Counts, ticket};

/// Unsolicited datagrams per millisecond.
const PER_MILLISECOND: usize = 5;
/// Loopback address of flooding members: another network than all others.
const ELSEWHERE: [u8; 4] = [127, 0, 0, 2];
/// Frames a member tries to send before it reads.
const AT_ONCE: usize = 64;
/// Networks of forgers, used in turn, because one may open few sockets a second.
const FORGERS: u8 = 32;
/// Members that offer channels, and offers of each per millisecond.
const OFFERERS: usize = 8;
const OFFERS_PER_MILLISECOND: usize = 2;

/// Kind of attack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Strangers,
    /// Connections with self-signed tickets.
    Forgers,
    /// Members of the first room, from one network, that offer channels without end.
    Offerers,
    /// Two by channel and one by WebSocket, all from one network, in the first room.
    Members,
}

impl By {
    const ALL: [(By, &str); 4] = [
        (By::Strangers, "strangers"),
        (By::Forgers, "forgers"),
        (By::Offerers, "offerers"),
        (By::Members, "members"),
    ];

    /// How much of it the relay counted as rejected.
    pub(crate) fn repelled(self, counts: Counts) -> u64 {
        match self {
            By::Strangers => counts.strays,
            By::Forgers => counts.forged,
            By::Offerers => counts.offers,
            By::Members => counts.dropped,
        }
    }
}

/// An attack; dropping it ends it.
pub(crate) struct Attack {
    child: Child,
}

impl Attack {
    /// Starts an attack on the relay at this URL. It is running when this returns.
    pub(crate) fn begin(by: By, url: &str, victims: &[PeerId]) -> Attack {
        let name = By::ALL.iter().find(|(kind, _)| *kind == by).map_or("", |(_, name)| name);
        // Idle priority: they get only time that no other process wants.
        let mut child = Command::new("chrt")
            .args(["--idle", "0"])
            .arg(std::env::current_exe().unwrap())
            .args(["attacker", name, url])
            .args(victims.iter().map(PeerId::to_string))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        assert_eq!(ready.trim(), "ready", "the attackers could not connect");
        Attack { child }
    }
}

impl Drop for Attack {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the attack in its own process: announces when all are connected, and goes on until killed.
pub(crate) fn run(name: &str, url: &str, victims: &[PeerId]) {
    let address = url.trim_start_matches("ws://").trim_end_matches("/relay");
    let address: SocketAddr = address.parse().unwrap();
    let come = |victims| Flooder::come(url, address, victims);
    let (by, _) = By::ALL.into_iter().find(|(_, known)| *known == name).unwrap();
    let url = url.to_string();
    let threads: Vec<JoinHandle<()>> = match by {
        By::Strangers => vec![std::thread::spawn(move || throw(address))],
        By::Forgers => vec![std::thread::spawn(move || forge(&url, address))],
        By::Offerers => {
            let mut flooders: Vec<Flooder> = (0..OFFERERS).map(|_| come(&[])).collect();
            vec![std::thread::spawn(move || offer(&mut flooders))]
        }
        By::Members => {
            let floods: [fn(Flooder); 3] = [flood_channel, flood_channel, flood_socket];
            let begin = |flood: fn(Flooder)| {
                let flooder = come(victims);
                std::thread::spawn(move || flood(flooder))
            };
            floods.map(begin).into()
        }
    };
    println!("ready");
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn throw(address: SocketAddr) -> ! {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut check = stun::short_request([1; 12]).to_vec();
    check.extend([0x00, 0x06, 0x00, 0x09]);
    check.extend(b"evtj:h6vY\0\0\0");
    check[3] = 16;
    let greeting = [&[22, 254, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 180, 1][..], &[0; 180]].concat();
    let thrown = [stun::request([7; 12]), check, greeting, vec![0x5a; 1_000], vec![1; 64]];
    loop {
        // What the kernel cannot buffer is lost, as on any network.
        thrown.iter().cycle().take(PER_MILLISECOND).for_each(|bytes| _ = socket.send_to(bytes, address));
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A socket from this loopback address.
fn connect(from: [u8; 4], address: SocketAddr, url: &str) -> Option<WebSocket<TcpStream>> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).ok()?;
    socket.bind(&SocketAddr::from((from, 0)).into()).ok()?;
    socket.connect(&address.into()).ok()?;
    Some(tungstenite::client(url, TcpStream::from(socket)).ok()?.0)
}

fn forge(url: &str, address: SocketAddr) {
    let signer = TicketSigner::from_secret(&[66; 32]);
    let ticket = signer.sign(&Claims::bare(0, random_peer_id().unwrap(), 1, u64::from(u32::MAX)));
    let frame = RelayFrame::Authenticate { ticket: &ticket }.to_bytes();
    for nth in (0..FORGERS).cycle() {
        // A rejected connection retries from another network.
        if let Some(mut words) = connect([127, 0, 1, nth], address, url) {
            let _ = words.send(Message::Binary(frame.clone().into()));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn offer(flooders: &mut [Flooder]) {
    let mut channel = RtcChannel::new(Instant::now(), Role::Peer, &Certificate::generate().unwrap());
    channel.add_host(SocketAddr::from((ELSEWHERE, 9))).unwrap();
    let description = channel.offer().unwrap();
    let frame = RelayFrame::Offer { description: &description }.to_bytes();
    for flooder in &*flooders {
        flooder.words.get_ref().set_nonblocking(true).unwrap();
    }
    loop {
        for flooder in &mut *flooders {
            for _ in 0..OFFERS_PER_MILLISECOND {
                let _ = flooder.words.write(Message::Binary(frame.clone().into()));
            }
            let _ = flooder.words.flush();
            // The relay stops reading from clients that read nothing.
            while flooder.words.read().is_ok() {}
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// An authenticated member with open links to its victims.
struct Flooder {
    words: WebSocket<TcpStream>,
    /// One frame per victim.
    frames: Vec<Vec<u8>>,
}

impl Flooder {
    fn come(url: &str, address: SocketAddr, victims: &[PeerId]) -> Flooder {
        let words = connect(ELSEWHERE, address, url).unwrap();
        // The send time in it is zero, so that receivers do not count it.
        let frame = |peer: &PeerId| RelayFrame::Data { peer: *peer, datagram: &[0; 1_000] }.to_bytes();
        let mut flooder = Flooder { words, frames: victims.iter().map(frame).collect() };
        flooder.say(RelayFrame::Authenticate { ticket: &ticket(0, random_peer_id().unwrap()) });
        victims.iter().for_each(|peer| flooder.say(RelayFrame::Open { peer: *peer }));
        flooder
    }

    fn say(&mut self, frame: RelayFrame<'_>) {
        self.words.send(Message::Binary(frame.to_bytes().into())).unwrap();
    }
}

fn flood_socket(mut flooder: Flooder) {
    flooder.words.get_ref().set_write_timeout(Some(Duration::from_millis(100))).unwrap();
    loop {
        for frame in &flooder.frames {
            // The relay reads no more than its limit.
            let _ = flooder.words.write(Message::Binary(frame.clone().into()));
        }
        let _ = flooder.words.flush();
    }
}

fn flood_channel(mut flooder: Flooder) {
    let socket = UdpSocket::bind(SocketAddr::from((ELSEWHERE, 0))).unwrap();
    socket.set_nonblocking(true).unwrap();
    let here = socket.local_addr().unwrap();
    let mut channel = RtcChannel::new(Instant::now(), Role::Peer, &Certificate::generate().unwrap());
    channel.add_host(here).unwrap();
    let offer = channel.offer().unwrap();
    flooder.say(RelayFrame::Offer { description: &offer });
    let answer = loop {
        let Message::Binary(bytes) = flooder.words.read().unwrap() else { continue };
        if let Ok(RelayFrame::Answer { description }) = RelayFrame::read(&bytes) {
            break description.to_string();
        }
    };
    channel.accept(&answer).unwrap();
    let mut buffer = [0; 2_048];
    loop {
        let now = Instant::now();
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let _ = channel.handle(now, from, here, &buffer[..length]);
        }
        let _ = channel.handle_timeout(now);
        let frames = flooder.frames.iter().cycle().take(AT_ONCE);
        frames.for_each(|frame| _ = channel.write(frame));
        loop {
            match channel.poll(now) {
                RtcOutput::Transmit { to, bytes, .. } => _ = socket.send_to(&bytes, to),
                RtcOutput::Timeout(_) | RtcOutput::Closed => break,
                RtcOutput::Open | RtcOutput::Message(_) => {}
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
