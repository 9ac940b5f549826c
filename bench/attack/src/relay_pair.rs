//! Two honest members of a room at the relay who send each other sixty messages per second.
//!
//! `honest` runs them. Absent: attacks.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use gaggle_kit::PeerId;
use gaggle_link::relay::RelayFrame;
use gaggle_rtc::{Certificate, Role, RtcChannel, RtcOutput};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tungstenite::{Message, WebSocket};

use crate::client::{PATIENCE, Stream, Target, honest, websocket};
use crate::honest::Phase;
use crate::samples::Samples;
use crate::server::ticket;

const EVERY: Duration = Duration::from_micros(16_667);
/// Bytes of a message, as in a running game.
const MESSAGE_BYTES: usize = 100;
/// Time for the last messages to arrive.
const STILL_UNDER_WAY: Duration = Duration::from_millis(400);
/// Interval of reading the relay's socket.
const LOOK_AT_SOCKET: Duration = Duration::from_millis(200);

/// A member of a room at the relay.
pub(crate) struct Member {
    pub(crate) peer: PeerId,
    pub(crate) socket: WebSocket<Stream>,
}

impl Member {
    /// Connects and shows a ticket.
    pub(crate) fn come(from: IpAddr, target: &Target, room: u64, peer: PeerId) -> Result<Member, String> {
        let mut socket = websocket(from, target, "/relay")?;
        let ticket = ticket(room, peer);
        say(&mut socket, RelayFrame::Authenticate { ticket: &ticket })?;
        hear(&mut socket, |frame| matches!(frame, RelayFrame::Authenticated { .. }).then_some(()))?;
        Ok(Member { peer, socket })
    }

    pub(crate) fn say(&mut self, frame: RelayFrame<'_>) -> Result<(), String> {
        say(&mut self.socket, frame)
    }
}

pub(crate) fn say(socket: &mut WebSocket<Stream>, frame: RelayFrame<'_>) -> Result<(), String> {
    socket.send(Message::Binary(frame.to_bytes().into())).map_err(|error| format!("relay: {error}"))
}

fn hear<T>(
    socket: &mut WebSocket<Stream>,
    wanted: impl Fn(&RelayFrame<'_>) -> Option<T>,
) -> Result<T, String> {
    loop {
        let heard = socket.read().map_err(|error| format!("relay: {error}"))?;
        let Message::Binary(bytes) = heard else { continue };
        let frame = RelayFrame::read(&bytes).map_err(|error| error.to_string())?;
        if let RelayFrame::Refused { reason } = frame {
            return Err(format!("the relay refused: {reason:?}"));
        }
        if let Some(found) = wanted(&frame) {
            return Ok(found);
        }
    }
}

/// One end of a pair.
struct End {
    member: Member,
    other: PeerId,
    channel: RtcChannel,
    udp: UdpSocket,
    here: SocketAddr,
    open: bool,
    due: Instant,
    wake: Instant,
}

impl End {
    fn come(target: &Target, nth: usize, room: u64, peer: PeerId, other: PeerId) -> Result<End, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let from = honest(nth);
        let mut member = Member::come(from, target, room, peer)?;
        member.say(RelayFrame::Open { peer: other })?;
        let udp = UdpSocket::bind((from, 0)).map_err(|error| text(&error))?;
        udp.set_nonblocking(true).map_err(|error| text(&error))?;
        let here = udp.local_addr().map_err(|error| text(&error))?;
        let now = Instant::now();
        let certificate = Certificate::generate().map_err(|error| text(&error))?;
        let mut channel = RtcChannel::new(now, Role::Peer, &certificate);
        channel.add_host(here).map_err(|error| text(&error))?;
        let offer = channel.offer().map_err(|error| text(&error))?;
        member.say(RelayFrame::Offer { description: &offer })?;
        let answer = hear(&mut member.socket, |frame| match frame {
            RelayFrame::Answer { description } => Some(description.to_string()),
            _ => None,
        })?;
        channel.accept(&answer).map_err(|error| text(&error))?;
        member.socket.get_ref().socket().set_nonblocking(true).map_err(|error| text(&error))?;
        Ok(End { member, other, channel, udp, here, open: false, due: now, wake: now })
    }

    /// Receives, sends what is due, and reports each datagram.
    fn step(&mut self, mut heard: impl FnMut(&[u8])) -> Result<(), String> {
        let mut buffer = [0; 2_048];
        while let Ok((length, from)) = self.udp.recv_from(&mut buffer) {
            let _ = self.channel.handle(Instant::now(), from, self.here, &buffer[..length]);
        }
        let now = Instant::now();
        if now >= self.wake {
            let _ = self.channel.handle_timeout(now);
        }
        loop {
            match self.channel.poll(now) {
                RtcOutput::Transmit { to, bytes, .. } => {
                    let _ = self.udp.send_to(&bytes, to);
                }
                RtcOutput::Open => self.open = true,
                RtcOutput::Message(bytes) => {
                    if let Ok(RelayFrame::Data { datagram, .. }) = RelayFrame::read(&bytes) {
                        heard(datagram);
                    }
                }
                RtcOutput::Closed => return Err("the relay's channel closed".into()),
                RtcOutput::Timeout(at) => {
                    self.wake = at;
                    return Ok(());
                }
            }
        }
    }

    fn send(&mut self, datagram: &[u8]) {
        let frame = RelayFrame::Data { peer: self.other, datagram }.to_bytes();
        let _ = self.channel.write(&frame);
    }
}

/// Both ends of a pair.
pub(crate) struct Pair {
    ends: [End; 2],
}

impl Pair {
    /// Connects both and opens their channels.
    pub(crate) fn come(target: &Target, nth: usize) -> Result<Pair, String> {
        let id = |end: usize| PeerId::from_u128((nth as u128 + 1) << 64 | (end as u128 + 1));
        let room = nth as u64 + 1;
        let end = |end: usize| End::come(target, nth * 2 + end, room, id(end), id(1 - end));
        let mut ends = [end(0)?, end(1)?];
        let began = Instant::now();
        // A first message in each direction shows that the channels work.
        let mut met = [false; 2];
        while met != [true; 2] {
            if began.elapsed() > 3 * PATIENCE {
                return Err("the relay's channels do not open".into());
            }
            for (end, met) in ends.iter_mut().zip(&mut met) {
                end.step(|_| *met = true)?;
                if end.open {
                    end.send(&[0; 9]);
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(Pair { ends })
    }

    /// Sends until the phase ends. Messages sent while it counts are counted.
    pub(crate) fn talk(mut self, phase: &Phase) -> Samples {
        let (mut samples, start) = (Samples::default(), Instant::now());
        let (mut said, mut end) = (0_u64, None);
        self.ends[0].due = start;
        self.ends[1].due = start + EVERY / 2;
        let mut look = start + LOOK_AT_SOCKET;
        loop {
            let now = Instant::now();
            if phase.has_ended() && now > *end.get_or_insert(now + STILL_UNDER_WAY) {
                break;
            }
            for own in &mut self.ends {
                if own.due <= now && end.is_none() {
                    own.due += EVERY;
                    let counts = phase.counts();
                    said += u64::from(counts);
                    let mut message = [0; MESSAGE_BYTES];
                    message[..8].copy_from_slice(&(start.elapsed().as_micros() as u64).to_le_bytes());
                    message[8] = u8::from(counts);
                    own.send(&message);
                }
                let stepped = own.step(|datagram| {
                    let stamp = datagram.first_chunk::<8>().filter(|_| datagram.get(8) == Some(&1));
                    if let Some(stamp) = stamp {
                        let sent = Duration::from_micros(u64::from_le_bytes(*stamp));
                        samples.add(start.elapsed().saturating_sub(sent));
                    }
                });
                if let Err(why) = stepped {
                    samples.fail(why);
                    return samples;
                }
                if now >= look {
                    while own.member.socket.read().is_ok() {}
                }
            }
            if now >= look {
                look = now + LOOK_AT_SOCKET;
            }
            self.wait();
        }
        samples.lose(said.saturating_sub(samples.count() as u64), "datagrams of the relay lost");
        samples
    }

    /// Waits for a datagram or for the next time something is due.
    fn wait(&self) {
        let until = self.ends.iter().map(|end| end.due.min(end.wake)).min();
        let left = until.map_or(EVERY, |until| until.saturating_duration_since(Instant::now())).min(EVERY);
        let timeout = Timespec { tv_sec: 0, tv_nsec: left.as_nanos() as i64 };
        let mut sockets = self.ends.each_ref().map(|end| PollFd::new(&end.udp, PollFlags::IN));
        let _ = poll(&mut sockets, Some(&timeout));
    }
}
