//! One data channel, as browsers have it: number 0, unordered, never repeated, agreed on
//! beforehand.

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

/// What a datagram on the wire may have: a relayed datagram of 1,117 bytes with SCTP's 28 and DTLS'
/// 37 around it stays whole, for which str0m reckons with 88.
const WIRE_BYTES_TARGET: usize = 1_220;
const WIRE_BYTES_WARN: usize = 1_280;

/// What went wrong with a channel. It is of no use any more.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RtcChannelError {
    /// A description cannot be read, or does not fit.
    #[error("the description cannot be used: {0}")]
    Description(String),
    /// An address cannot be read.
    #[error("the candidate cannot be used: {0}")]
    Candidate(String),
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Failed(String),
}

/// How a channel finds the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Both sides look for a way.
    Peer,
    /// Waits at a known address for the other side (ICE lite). It believes where a check comes
    /// from: whoever runs it has to [ask](RtcChannel::request) an address before a check from there
    /// is handled.
    Server,
}

/// A key and its certificate, by which the other side recognises this one. Making one takes a
/// millisecond; it may serve many channels.
#[derive(Debug, Clone)]
pub struct Certificate(DtlsCert);

impl Certificate {
    /// A fresh one.
    ///
    /// # Errors
    /// If the system gives no entropy.
    pub fn generate() -> Result<Certificate, RtcChannelError> {
        let made = provider().dtls_provider.generate_certificate();
        made.map(Certificate)
            .ok_or_else(|| RtcChannelError::Failed("no certificate could be made".to_string()))
    }
}

/// What a channel wants done, or tells.
#[derive(Debug)]
pub enum RtcOutput {
    /// Send this datagram from one of our addresses.
    Transmit {
        /// Which of ours.
        from: SocketAddr,
        /// Where to.
        to: SocketAddr,
        /// The datagram.
        bytes: Vec<u8>,
    },
    /// Messages can be exchanged now.
    Open,
    /// A message came.
    Message(Vec<u8>),
    /// The channel has ended.
    Closed,
    /// Nothing more; call again at this time at the latest.
    Timeout(Instant),
}

/// By which the other side knows that it is asked, and signs what it answers.
#[derive(Debug)]
struct Other {
    /// Its name and ours.
    names: String,
    password: String,
}

/// One channel.
#[derive(Debug)]
pub struct RtcChannel {
    rtc: Rtc,
    pending: Option<SdpPendingOffer>,
    channel: Option<ChannelId>,
    other: Option<Other>,
    /// What our description calls the channel's part of it.
    mid: String,
    gate: Arc<Gate>,
    open: bool,
    ended: bool,
    crashed: bool,
}

impl RtcChannel {
    /// Bytes that may wait to be acknowledged. More than that is a queue that only gets older.
    pub const BUFFERED_BYTES_MAX: usize = 64 * 1024;

    /// A channel of which nothing is known yet.
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

    /// An address of ours.
    ///
    /// # Errors
    /// If it cannot be one.
    pub fn add_host(&mut self, address: SocketAddr) -> Result<String, RtcChannelError> {
        self.add_local(Candidate::host(address, "udp"))
    }

    /// An address at which others see one of ours.
    ///
    /// # Errors
    /// If it cannot be one.
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

    /// An address of the other side. Names instead of addresses (as browsers use to hide theirs)
    /// are left out.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn add_remote(&mut self, candidate: &str) -> Result<(), RtcChannelError> {
        let text = candidate.trim_start_matches("a=");
        self.contained(|channel| {
            let candidate = Candidate::from_sdp_string(text)
                .map_err(|error| RtcChannelError::Candidate(error.to_string()))?;
            channel.rtc.add_remote_candidate(candidate);
            Ok(())
        })?
    }

    /// Describes our side, for the other to answer.
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

    /// Answers the other side's description with ours.
    ///
    /// # Errors
    /// If it cannot be used.
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

    /// The other side's answer to our offer.
    ///
    /// # Errors
    /// If it cannot be used.
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

    /// What an address belongs to that is found after the description was given: browsers refuse
    /// one that names another part of it.
    pub fn mid(&self) -> &str {
        &self.mid
    }

    /// The name by which the other side calls for this channel in its first datagrams.
    pub fn local_name(&mut self) -> String {
        self.rtc.direct_api().local_ice_credentials().ufrag
    }

    /// A question that only the other side of this channel can answer: whoever does receives where
    /// it was sent. None before the other side's offer was answered.
    pub fn request(&self, id: TransactionId) -> Option<Vec<u8>> {
        let other = self.other.as_ref()?;
        Some(stun::check(id, &other.names, |bytes| sign(other.password.as_bytes(), &[bytes])))
    }

    /// Whether the other side of this channel wrote this answer. Servers that answer everybody
    /// cannot have.
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

    /// A datagram came. One that makes no sense is dropped.
    ///
    /// # Errors
    /// If the connection is broken by it.
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

    /// Time passed.
    ///
    /// # Errors
    /// If the connection is broken by it.
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), RtcChannelError> {
        self.gate.set_now(now);
        self.contained(|channel| channel.rtc.handle_input(Input::Timeout(now)).map_err(failed))?
    }

    /// Sends a message. What is written before the next poll goes out together.
    ///
    /// # Errors
    /// If there is no room for it at the moment. On a channel that is not open it goes nowhere.
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

    /// Bytes that wait to be acknowledged, of [`RtcChannel::BUFFERED_BYTES_MAX`].
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

    /// Whether the other side spoke of streams there are none of. The channel ends with that.
    pub fn is_faulty(&self) -> bool {
        self.gate.is_broken()
    }

    /// Whether the library below failed at what the other side sent. The channel ended with that.
    pub fn crashed(&self) -> bool {
        self.crashed
    }

    /// Says goodbye; what [`RtcChannel::poll`] gives afterwards tells the other side.
    pub fn close(&mut self) {
        let _ = self.contained(|channel| channel.rtc.close());
    }

    /// What is to be done next. Poll until it is [`RtcOutput::Timeout`] after everything that was
    /// done to a channel.
    pub fn poll(&mut self, now: Instant) -> RtcOutput {
        self.gate.set_now(now);
        let out = self.contained(RtcChannel::poll_alive).ok().flatten();
        out.unwrap_or_else(|| match std::mem::replace(&mut self.ended, true) {
            false => RtcOutput::Closed,
            // Nothing will ever happen here again.
            true => RtcOutput::Timeout(now + std::time::Duration::from_secs(3_600)),
        })
    }

    /// What is to be done next; none if the connection is over.
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

    /// Lets the library below do something. If it fails, this is the end of the channel and of
    /// nothing else.
    fn contained<T>(&mut self, act: impl FnOnce(&mut RtcChannel) -> T) -> Result<T, RtcChannelError> {
        let crash = || RtcChannelError::Failed("the library below failed".to_string());
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
    // STUN and DTLS, as RFC 7983 tells them apart. Media, which there is none of, would pass by
    // everything that guards a channel.
    if !matches!(bytes.first()?, 0..=3 | 20..=63) {
        return None;
    }
    let contents = bytes.try_into().ok()?;
    Some(Input::Receive(now, Receive { proto: Protocol::Udp, source: from, destination: to, contents }))
}

/// Descriptions of anything but one data channel are refused: what there is no use for need not be
/// understood.
fn expect_one_channel(description: &str) -> Result<(), RtcChannelError> {
    let mut media = description.split(['\r', '\n']).filter_map(|line| line.trim_start().strip_prefix("m="));
    let is_one =
        media.next().is_some_and(|first| first.starts_with("application ")) && media.next().is_none();
    let error = || RtcChannelError::Description("it is not of one data channel".to_string());
    is_one.then_some(()).ok_or_else(error)
}

/// What comes after this in the first line that begins with it.
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
    fn a_crash_below_ends_the_channel_and_is_told_once() {
        let (mut held, now) = (channel(Role::Server), Instant::now());
        let crashed: Result<(), _> = held.contained(|_| panic!("on purpose"));
        assert!(crashed.is_err() && held.crashed() && !held.is_open());
        assert!(matches!(held.poll(now), RtcOutput::Closed));
        assert!(matches!(held.poll(now), RtcOutput::Timeout(_)));
        let (from, to) = (([127, 0, 0, 1], 1).into(), ([127, 0, 0, 1], 4_000).into());
        assert!(held.handle(now, from, to, &[1; 20]).is_err() && held.handle_timeout(now).is_err());
        assert!(!held.accepts(now, from, to, &[1; 20]));
        assert_eq!(held.write(b"honk"), Ok(()), "it goes nowhere");
        held.close();
    }

    #[test]
    fn media_never_gets_further_than_its_first_byte() {
        let now = Instant::now();
        let here: SocketAddr = ([127, 0, 0, 1], 4_000).into();
        let is_taken = |first: u8| {
            // Long enough to be anything.
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
    fn only_one_data_channel_is_talked_about() {
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
