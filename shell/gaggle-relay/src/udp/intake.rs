//! Assignment of received datagrams to channels, STUN responses, and consent of addresses.
//!
//! Part of [`Port`](super::Port). Absent: channels, sending.

use std::net::SocketAddr;
use std::time::Instant;

use gaggle_kit::rate_limit::prefixes;
use gaggle_rtc::stun::{self, Stun, TransactionId};

use super::Port;
use crate::limits::RelayLimit;
use crate::machine::ConnectionId;
use crate::server::RelayServer;

/// Bytes of a transaction id that name the requesting channel; the others are random.
const ASKER_BYTES: usize = 5;

impl Port {
    /// Our address that this peer talks to.
    pub(super) fn local(&self, from: SocketAddr) -> SocketAddr {
        let alike = self.addresses.iter().find(|address| address.is_ipv4() == from.is_ipv4());
        *alike.unwrap_or(&self.addresses[0])
    }

    /// Whether a channel's rate limits permit one more datagram.
    pub(super) fn may_bring(&mut self, id: ConnectionId, server: &RelayServer) -> bool {
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
    pub(super) fn owner(
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
    pub(super) fn judge(&mut self, id: ConnectionId, now: Instant, from: SocketAddr, length: usize) -> bool {
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

    /// Handles a consent answer. Returns the waiting check, which may be empty; none if the answer
    /// is invalid.
    pub(super) fn take_answer(
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

    pub(super) fn forget_address(&mut self, address: SocketAddr, id: ConnectionId) {
        if self.by_address.get(&address) == Some(&id) {
            self.by_address.remove(&address);
        }
    }
}

/// An unguessable transaction id for this channel; none if the system provides no random bytes.
pub(super) fn question_of(id: ConnectionId) -> Option<TransactionId> {
    let mut question = TransactionId::default();
    getrandom::fill(&mut question[ASKER_BYTES..]).ok()?;
    question[..ASKER_BYTES].copy_from_slice(&id.0.to_le_bytes()[..ASKER_BYTES]);
    Some(question)
}

/// Channel of a transaction id.
pub(super) fn asker_of(question: TransactionId) -> ConnectionId {
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
