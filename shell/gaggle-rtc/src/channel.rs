//! One WebRTC data channel: number 0, unordered, without retransmission, negotiated in advance.
//!
//! Used by `gaggle-native` and `gaggle-relay`, which own the sockets. Absent: signaling, sockets.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use gaggle_link::WouldBlock;
use str0m::change::{SdpAnswer, SdpOffer, SdpPendingOffer};
use str0m::channel::{ChannelConfig, ChannelId, Reliability};
use str0m::config::DtlsCert;
use str0m::crypto::CryptoProvider;
use str0m::ice::StunMessage;
use str0m::net::{Protocol, Receive};
use str0m::{Candidate, Event, IceConnectionState, Input, Output, Rtc, RtcConfig};
use thiserror::Error;

use crate::contain::contain;
use crate::gate::{Gate, guarding};
use crate::stun::{self, TransactionId};

/// Target size of datagrams. It fits a relayed datagram of 1,117 bytes with 28 of SCTP and 37 of
/// DTLS, for which str0m reserves 88.
const WIRE_BYTES_TARGET: usize = 1_220;
const WIRE_BYTES_WARN: usize = 1_280;

/// Error that ends a channel.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RtcChannelError {
    /// A description is malformed or unsuitable.
    #[error("the description cannot be used: {0}")]
    Description(String),
    /// An address is malformed.
    #[error("the candidate cannot be used: {0}")]
    Candidate(String),
    /// The connection has failed.
    #[error("the connection failed: {0}")]
    Failed(String),
}

/// Role in establishing the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Both sides search for a path.
    Peer,
    /// Waits at a known address (ICE lite). It accepts any source address of a check: its owner
    /// must [verify](RtcChannel::request) an address before passing on a check from there.
    Server,
}

/// Key and certificate that identify one side. Generating one takes a millisecond; it can serve
/// many channels.
#[derive(Debug, Clone)]
pub struct Certificate(DtlsCert);

impl Certificate {
    /// Generates a new certificate.
    ///
    /// # Errors
    /// If the system provides no random bytes.
    pub fn generate() -> Result<Certificate, RtcChannelError> {
        let made = provider().dtls_provider.generate_certificate();
        made.map(Certificate)
            .ok_or_else(|| RtcChannelError::Failed("no certificate could be generated".to_string()))
    }
}

/// Command or event of a channel.
#[derive(Debug)]
pub enum RtcOutput {
    /// Send this datagram from a local address.
    Transmit {
        /// Local address to send from.
        from: SocketAddr,
        /// Destination of the datagram.
        to: SocketAddr,
        /// Content of the datagram.
        bytes: Vec<u8>,
    },
    /// Messages can be exchanged.
    Open,
    /// A message has arrived.
    Message(Vec<u8>),
    /// The channel has ended.
    Closed,
    /// Nothing more; call again at this time at the latest.
    Timeout(Instant),
}

/// Credentials of the other side, by which it recognizes and signs checks.
#[derive(Debug)]
struct Other {
    /// ICE user names of both sides.
    names: String,
    password: String,
}

/// A WebRTC data channel, a state machine.
#[derive(Debug)]
pub struct RtcChannel {
    rtc: Rtc,
    pending: Option<SdpPendingOffer>,
    channel: Option<ChannelId>,
    other: Option<Other>,
    /// Name of the channel's media section in the local description.
    mid: String,
    gate: Arc<Gate>,
    open: bool,
    ended: bool,
    crashed: bool,
}

impl RtcChannel {
    /// Most unacknowledged bytes buffered. With more, messages would only arrive later.
    pub const BUFFERED_BYTES_MAX: usize = 64 * 1024;

    /// A channel before any description.
    pub fn new(now: Instant, role: Role, certificate: &Certificate) -> RtcChannel {
        let config = RtcConfig::new()
            .set_crypto_provider(provider())
            .set_dtls_cert(certificate.0.clone())
            .set_ice_lite(role == Role::Server)
            .set_mtu(WIRE_BYTES_TARGET..=WIRE_BYTES_WARN)
            .clear_codecs();
        let gate = Gate::new(now);
        let rtc = gate.guard(|| config.build(now));
        let (pending, channel, other, mid) = (None, None, None, String::new());
        RtcChannel { rtc, pending, channel, other, mid, gate, open: false, ended: false, crashed: false }
    }

    /// Adds a local address and returns its candidate.
    ///
    /// # Errors
    /// If it is not usable.
    pub fn add_host(&mut self, address: SocketAddr) -> Result<String, RtcChannelError> {
        self.add_local(Candidate::host(address, "udp"))
    }

    /// Adds the public address of a local one and returns its candidate.
    ///
    /// # Errors
    /// If it is not usable.
    pub fn add_reflexive(&mut self, seen: SocketAddr, base: SocketAddr) -> Result<String, RtcChannelError> {
        self.add_local(Candidate::server_reflexive(seen, base, "udp"))
    }

    fn add_local(
        &mut self,
        candidate: Result<Candidate, str0m::error::IceError>,
    ) -> Result<String, RtcChannelError> {
        let candidate = candidate.map_err(|error| RtcChannelError::Candidate(error.to_string()))?;
        let text = candidate.to_sdp_string();
        self.rtc.add_local_candidate(candidate);
        Ok(text)
    }

    /// Adds an address of the other side. Host names, by which browsers hide addresses, are
    /// ignored.
    ///
    /// # Errors
    /// If it is malformed.
    pub fn add_remote(&mut self, candidate: &str) -> Result<(), RtcChannelError> {
        let text = candidate.trim_start_matches("a=");
        self.contained(|channel| {
            let candidate = Candidate::from_sdp_string(text)
                .map_err(|error| RtcChannelError::Candidate(error.to_string()))?;
            channel.rtc.add_remote_candidate(candidate);
            Ok(())
        })?
    }

    /// Creates the local description as an offer.
    ///
    /// # Errors
    /// If that was done before.
    pub fn offer(&mut self) -> Result<String, RtcChannelError> {
        let mut change = self.rtc.sdp_api();
        self.channel = Some(change.add_channel_with_config(channel_config()));
        let (offer, pending) =
            change.apply().ok_or_else(|| RtcChannelError::Description("nothing to offer".to_string()))?;
        self.pending = Some(pending);
        let offer = offer.to_sdp_string();
        self.mid = line(&offer, "a=mid:").unwrap_or_default().to_string();
        Ok(offer)
    }

    /// Creates the local description as an answer to an offer.
    ///
    /// # Errors
    /// If the offer is not usable.
    pub fn answer(&mut self, offer: &str) -> Result<String, RtcChannelError> {
        expect_one_channel(offer)?;
        let (name, password) = (line(offer, "a=ice-ufrag:"), line(offer, "a=ice-pwd:"));
        self.other = name.zip(password).map(|(name, password)| Other {
            names: format!("{name}:{}", self.local_name()),
            password: password.to_string(),
        });
        self.contained(|channel| {
            let offer = SdpOffer::from_sdp_string(offer).map_err(description_error)?;
            let answer = channel.rtc.sdp_api().accept_offer(offer).map_err(description_error)?;
            channel.channel = Some(channel.rtc.direct_api().create_data_channel(channel_config()));
            let answer = answer.to_sdp_string();
            channel.mid = line(&answer, "a=mid:").unwrap_or_default().to_string();
            Ok(answer)
        })?
    }

    /// Applies the other side's answer.
    ///
    /// # Errors
    /// If it is not usable.
    pub fn accept(&mut self, answer: &str) -> Result<(), RtcChannelError> {
        expect_one_channel(answer)?;
        self.contained(|channel| {
            let answer = SdpAnswer::from_sdp_string(answer).map_err(description_error)?;
            let pending = channel.pending.take();
            let pending =
                pending.ok_or_else(|| RtcChannelError::Description("nothing was offered".to_string()))?;
            channel.rtc.sdp_api().accept_answer(pending, answer).map_err(description_error)
        })?
    }

    /// Media section for candidates found after the description: browsers reject others.
    pub fn mid(&self) -> &str {
        &self.mid
    }

    /// User name by which the other side's first datagrams name this channel.
    pub fn local_name(&mut self) -> String {
        self.rtc.direct_api().local_ice_credentials().ufrag
    }

    /// A request that only the other side of this channel can answer. The answer proves that it
    /// receives at the address the request was sent to. None before an offer was answered.
    pub fn request(&self, id: TransactionId) -> Option<Vec<u8>> {
        let other = self.other.as_ref()?;
        Some(stun::check(id, &other.names, |bytes| sign(other.password.as_bytes(), &[bytes])))
    }

    /// Whether the other side of this channel signed this response. STUN servers cannot.
    pub fn is_response(&self, bytes: &[u8]) -> bool {
        let Some(other) = &self.other else { return false };
        let is_answer = contain(|| {
            StunMessage::parse(bytes).is_ok_and(|message| {
                message.is_successful_binding_response() && message.verify(other.password.as_bytes(), sign)
            })
        });
        is_answer.unwrap_or(false)
    }

    /// Whether a datagram from there is for this channel.
    pub fn accepts(&self, now: Instant, from: SocketAddr, to: SocketAddr, bytes: &[u8]) -> bool {
        let accepts = || receive(now, from, to, bytes).is_some_and(|input| self.rtc.accepts(&input));
        !self.crashed && contain(accepts).unwrap_or(false)
    }

    /// Handles a datagram. Malformed ones are dropped.
    ///
    /// # Errors
    /// If it ends the connection.
    pub fn handle(
        &mut self,
        now: Instant,
        from: SocketAddr,
        to: SocketAddr,
        bytes: &[u8],
    ) -> Result<(), RtcChannelError> {
        self.gate.set_now(now);
        self.contained(|channel| match receive(now, from, to, bytes) {
            Some(input) => channel.rtc.handle_input(input).map_err(failed),
            None => Ok(()),
        })?
    }

    /// Runs timers.
    ///
    /// # Errors
    /// If the connection has ended.
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), RtcChannelError> {
        self.gate.set_now(now);
        self.contained(|channel| channel.rtc.handle_input(Input::Timeout(now)).map_err(failed))?
    }

    /// Sends a message. Messages written before the next poll share datagrams.
    ///
    /// # Errors
    /// If the buffer is full. On a closed channel the message is dropped.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), WouldBlock> {
        self.contained(|held| held.write_now(bytes)).unwrap_or(Ok(()))
    }

    fn write_now(&mut self, bytes: &[u8]) -> Result<(), WouldBlock> {
        let Some(mut channel) = self.channel.filter(|_| self.open).and_then(|id| self.rtc.channel(id)) else {
            return Ok(());
        };
        if channel.buffered_amount() + bytes.len() > RtcChannel::BUFFERED_BYTES_MAX {
            return Err(WouldBlock);
        }
        match channel.write(true, bytes) {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(WouldBlock),
        }
    }

    /// Unacknowledged bytes, of [`RtcChannel::BUFFERED_BYTES_MAX`].
    pub fn buffered_bytes(&mut self) -> usize {
        let buffered = self.contained(|held| {
            let id = held.channel.filter(|_| held.open);
            id.and_then(|id| held.rtc.channel(id)).map_or(0, |mut channel| channel.buffered_amount())
        });
        buffered.unwrap_or(0)
    }

    /// Whether messages can be exchanged.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Whether the channel ended because the other side used a forbidden stream.
    pub fn is_faulty(&self) -> bool {
        self.gate.is_broken()
    }

    /// Whether the channel ended because str0m panicked on received data.
    pub fn crashed(&self) -> bool {
        self.crashed
    }

    /// Closes the channel; poll [`RtcChannel::poll`] to notify the other side.
    pub fn close(&mut self) {
        let _ = self.contained(|channel| channel.rtc.close());
    }

    /// Next output. After every call, poll until it is [`RtcOutput::Timeout`].
    pub fn poll(&mut self, now: Instant) -> RtcOutput {
        self.gate.set_now(now);
        let out = self.contained(RtcChannel::poll_alive).ok().flatten();
        out.unwrap_or_else(|| match std::mem::replace(&mut self.ended, true) {
            false => RtcOutput::Closed,
            // A crashed channel has no output.
            true => RtcOutput::Timeout(now + std::time::Duration::from_secs(3_600)),
        })
    }

    /// Next output; none if the connection is over.
    fn poll_alive(&mut self) -> Option<RtcOutput> {
        while !self.ended && self.rtc.is_alive() {
            let output = self.rtc.poll_output();
            if self.is_faulty() {
                self.rtc.disconnect();
                continue;
            }
            match output {
                Ok(Output::Timeout(at)) => return Some(RtcOutput::Timeout(at)),
                Ok(Output::Transmit(transmit)) => {
                    return Some(RtcOutput::Transmit {
                        from: transmit.source,
                        to: transmit.destination,
                        bytes: transmit.contents.into(),
                    });
                }
                Ok(Output::Event(event)) => {
                    if let Some(out) = self.handle_event(event) {
                        return Some(out);
                    }
                }
                Err(_) => self.rtc.disconnect(),
            }
        }
        None
    }

    /// Calls str0m. A panic ends this channel and nothing else.
    fn contained<T>(&mut self, act: impl FnOnce(&mut RtcChannel) -> T) -> Result<T, RtcChannelError> {
        let crash = || RtcChannelError::Failed("the WebRTC library panicked".to_string());
        if self.crashed {
            return Err(crash());
        }
        let done = contain(|| act(self));
        self.crashed = done.is_none();
        self.open &= !self.crashed;
        done.ok_or_else(crash)
    }

    fn handle_event(&mut self, event: Event) -> Option<RtcOutput> {
        match event {
            Event::ChannelOpen(id, _) if Some(id) == self.channel => {
                self.open = true;
                Some(RtcOutput::Open)
            }
            Event::ChannelData(data) if Some(data.id) == self.channel => Some(RtcOutput::Message(data.data)),
            Event::ChannelClose(id) if Some(id) == self.channel => {
                self.rtc.disconnect();
                None
            }
            Event::IceConnectionStateChange(IceConnectionState::Disconnected) | Event::Closed => {
                self.rtc.disconnect();
                None
            }
            _ => None,
        }
    }
}

fn channel_config() -> ChannelConfig {
    ChannelConfig {
        label: "gaggle".to_string(),
        ordered: false,
        reliability: Reliability::MaxRetransmits { retransmits: 0 },
        negotiated: Some(0),
        protocol: String::new(),
    }
}

fn receive(now: Instant, from: SocketAddr, to: SocketAddr, bytes: &[u8]) -> Option<Input<'_>> {
    // STUN and DTLS, as RFC 7983 distinguishes them. Media would bypass the guards of the channel.
    if !matches!(bytes.first()?, 0..=3 | 20..=63) {
        return None;
    }
    let contents = bytes.try_into().ok()?;
    Some(Input::Receive(now, Receive { proto: Protocol::Udp, source: from, destination: to, contents }))
}

/// Rejects descriptions of anything but one data channel, which need not be parsed.
fn expect_one_channel(description: &str) -> Result<(), RtcChannelError> {
    let mut media = description.split(['\r', '\n']).filter_map(|line| line.trim_start().strip_prefix("m="));
    let is_one =
        media.next().is_some_and(|first| first.starts_with("application ")) && media.next().is_none();
    let error = || RtcChannelError::Description("it does not describe one data channel".to_string());
    is_one.then_some(()).ok_or_else(error)
}

/// Rest of the first line that starts with `begin`.
fn line<'a>(description: &'a str, begin: &str) -> Option<&'a str> {
    description.lines().find_map(|line| line.trim().strip_prefix(begin))
}

fn sign(password: &[u8], parts: &[&[u8]]) -> [u8; 20] {
    provider().sha1_hmac_provider.sha1_hmac(password, parts)
}

fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    Arc::clone(PROVIDER.get_or_init(|| Arc::new(guarding(&str0m::crypto::from_feature_flags()))))
}

fn description_error(error: impl std::fmt::Display) -> RtcChannelError {
    RtcChannelError::Description(error.to_string())
}

fn failed(error: impl std::fmt::Display) -> RtcChannelError {
    RtcChannelError::Failed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(role: Role) -> RtcChannel {
        let mut channel = RtcChannel::new(Instant::now(), role, &Certificate::generate().unwrap());
        channel.add_host(([127, 0, 0, 1], 4_000).into()).unwrap();
        channel
    }

    #[test]
    fn panic_below_ends_channel_and_is_reported_once() {
        let (mut held, now) = (channel(Role::Server), Instant::now());
        let crashed: Result<(), _> = held.contained(|_| panic!("on purpose"));
        assert!(crashed.is_err() && held.crashed() && !held.is_open());
        assert!(matches!(held.poll(now), RtcOutput::Closed));
        assert!(matches!(held.poll(now), RtcOutput::Timeout(_)));
        let (from, to) = (([127, 0, 0, 1], 1).into(), ([127, 0, 0, 1], 4_000).into());
        assert!(held.handle(now, from, to, &[1; 20]).is_err() && held.handle_timeout(now).is_err());
        assert!(!held.accepts(now, from, to, &[1; 20]));
        assert_eq!(held.write(b"honk"), Ok(()), "it is dropped");
        held.close();
    }

    #[test]
    fn media_is_dropped_at_its_first_byte() {
        let now = Instant::now();
        let here: SocketAddr = ([127, 0, 0, 1], 4_000).into();
        let is_taken = |first: u8| {
            // Long enough for any protocol.
            let bytes = [&[first, 96][..], &[0; 60]].concat();
            receive(now, here, here, &bytes).is_some()
        };
        for first in 0..=255 {
            assert!(!is_taken(first) || matches!(first, 0..=3 | 20..=63), "{first}");
        }
        assert!(is_taken(22), "DTLS is");
        assert!(receive(now, here, here, &[]).is_none());
    }

    #[test]
    fn description_must_contain_exactly_one_data_channel() {
        let offer = channel(Role::Peer).offer().unwrap();
        assert!(channel(Role::Server).answer(&offer).is_ok());
        let audio =
            "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 0.0.0.0\r\na=mid:1\r\na=rtpmap:111 opus/48000/2\r\n";
        let application = offer.find("m=application").unwrap();
        for hostile in [
            format!("{offer}{audio}"),
            format!("{}{audio}{}", &offer[..application], &offer[application..]),
            format!("{offer}{}", &offer[application..]),
            offer.replace("m=application", "m=audio"),
            offer.replace("a=mid", "a=x\rm=audio 9 UDP/TLS/RTP/SAVPF 0\ra=mid"),
            offer[..application].to_string(),
            String::new(),
        ] {
            assert!(channel(Role::Server).answer(&hostile).is_err(), "{hostile}");
            let mut asking = channel(Role::Peer);
            asking.offer().unwrap();
            assert!(asking.accept(&hostile).is_err(), "{hostile}");
        }
    }
}
