//! Limits of the relay: their table, and what members and networks have used.
//!
//! The state machine and the UDP port ask it before they forward, open or answer anything; the
//! operator's guide and the metrics come from the table. Absent: sockets, frames, texts for
//! members.

use std::iter::once;

use gaggle_kit::rate_limit::{Bound, KeyedRateLimiter, LimitKey, LimitRow, Prefix, RateLimit, prefixes};
use gaggle_kit::{Micros, PeerId};
use gaggle_lobby::RoomId;

use crate::config::RelayConfig;

/// Seconds in which all sockets of one network can reconnect.
const CONNECT_SECONDS: u64 = 10;
/// One network may have 1/16 of the unauthenticated connections.
const UNPROVEN_SHARE: usize = 16;
/// Channel datagrams permitted per permitted frame: acknowledgements of received data come on top.
const DATAGRAMS_PER_FRAME: u64 = 2;
/// Pair requests of one member: enough for all members of a room, twice. Each causes a frame to
/// another member that is never dropped.
const MEMBER_CONTROL: RateLimit = RateLimit::per_second(20, 256);
/// Channels one member requests.
const MEMBER_OFFERS: RateLimit = RateLimit::per_second(1, 8);
/// Tickets one member shows: checking one is expensive.
const MEMBER_AUTHENTICATIONS: RateLimit = RateLimit::per_second(2, 32);
/// STUN requests of one network. A page that connects sends two or three, each up to nine times.
pub(crate) const STUN_NETWORK: RateLimit = RateLimit::per_second(5, 20);
/// STUN requests of all networks: a thousand pages that start in one second, and no more for an
/// attacker with forged addresses.
pub(crate) const STUN_TOTAL: RateLimit = RateLimit::per_second(4_000, 4_000);
/// Bytes read from one WebSocket: several times what the relay forwards. More waits in the kernel,
/// so that reading excess does not keep the relay busy.
pub(crate) const SOCKET_READ: RateLimit =
    RateLimit { burst: 1 << 20, tokens: 1 << 20, per: Micros::from_millis(200) };
/// Network prefixes tracked; further ones share the limit of one network.
pub(crate) const PREFIXES_MAX: usize = 8_192;
/// Members tracked, relative to those that may be connected: a member that left is tracked until
/// its tokens are refilled.
const MEMBERS_FACTOR: usize = 4;

/// A limit of the relay, in the order of [`RelayLimit::table`]. Those of members come first, then
/// those of networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RelayLimit {
    MemberFrames,
    MemberBytes,
    MemberControl,
    MemberOffers,
    MemberAuthentications,
    NetworkFrames,
    NetworkConnects,
    NetworkOffers,
    ChannelDatagrams,
    NetworkDatagrams,
    StunNetwork,
    StunTotal,
    SocketRead,
    Sockets,
    Members,
    RoomMembers,
    Unauthenticated,
    PendingChannels,
}

pub(crate) const LIMITS: usize = RelayLimit::PendingChannels as usize + 1;
const MEMBER_LIMITS: usize = RelayLimit::NetworkFrames as usize;
const NETWORK_LIMITS: usize = RelayLimit::ChannelDatagrams as usize - MEMBER_LIMITS;

impl RelayConfig {
    /// Datagrams of one member.
    fn member_frames(&self) -> RateLimit {
        RateLimit::per_second(self.frames_per_second, self.frames_burst)
    }

    /// Datagrams of all members of one network.
    fn network_frames(&self) -> RateLimit {
        RateLimit::per_second(self.network_frames_per_second, self.network_frames_burst)
    }

    /// Datagrams over one channel.
    pub(crate) fn channel_datagrams(&self) -> RateLimit {
        self.member_frames().times(DATAGRAMS_PER_FRAME)
    }

    /// Datagrams over all channels of one network.
    pub(crate) fn network_datagrams(&self) -> RateLimit {
        self.network_frames().times(DATAGRAMS_PER_FRAME)
    }

    /// Connections from one network; each may request a channel.
    fn network_connects(&self) -> RateLimit {
        let sockets = self.sockets_per_network as u64;
        RateLimit::per_second(sockets.div_ceil(CONNECT_SECONDS), sockets)
    }

    /// Share of [`RelayConfig::unproven_max`] of one network.
    pub(crate) fn unproven_share(&self) -> usize {
        self.unproven_max.div_ceil(UNPROVEN_SHARE)
    }

    /// Open sockets, including those that are closing.
    pub(crate) fn sockets_max(&self) -> usize {
        self.members_max + self.unproven_max
    }

    fn rates_of_member(&self) -> [RateLimit; MEMBER_LIMITS] {
        let bytes = RateLimit::per_second(self.bytes_per_second, self.bytes_burst);
        [self.member_frames(), bytes, MEMBER_CONTROL, MEMBER_OFFERS, MEMBER_AUTHENTICATIONS]
    }

    fn rates_of_network(&self) -> [RateLimit; NETWORK_LIMITS] {
        [self.network_frames(), self.network_connects(), self.network_connects()]
    }

    /// Every limit of a relay with these settings.
    pub fn limits(&self) -> Vec<LimitRow> {
        let places = |per_key, total| Bound::Places { per_key, total };
        let unproven = places(Some(self.unproven_share()), Some(self.unproven_max));
        let [frames, bytes, control, offers, authentications] = self.rates_of_member().map(Bound::Rate);
        let [all_frames, connects, all_offers] = self.rates_of_network().map(Bound::Rate);
        let rows: [(&str, &str, Bound, &str); LIMITS] = [
            ("member_frames", "member", frames, "datagram dropped, its WebSocket not read for 200 ms"),
            ("member_bytes", "member", bytes, "datagram dropped, its WebSocket not read for 200 ms"),
            ("member_control", "member", control, "frame ignored"),
            ("member_offers", "member", offers, "offer rejected"),
            ("member_authentications", "member", authentications, "disconnected"),
            ("network_frames", "network", all_frames, "datagram dropped, its WebSocket not read for 200 ms"),
            ("network_connects", "network", connects, "connection closed"),
            ("network_offers", "network", all_offers, "offer rejected"),
            (
                "channel_datagrams",
                "channel",
                Bound::Rate(self.channel_datagrams()),
                "dropped before decryption",
            ),
            (
                "network_datagrams",
                "network",
                Bound::Rate(self.network_datagrams()),
                "dropped before decryption",
            ),
            ("stun_network", "network", Bound::Rate(STUN_NETWORK), "no answer"),
            ("stun_total", "all", Bound::Rate(STUN_TOTAL), "no answer"),
            ("socket_read", "WebSocket, bytes", Bound::Rate(SOCKET_READ), "waits in the kernel"),
            (
                "sockets",
                "network",
                places(Some(self.sockets_per_network), Some(self.sockets_max())),
                "connection closed",
            ),
            (
                "members",
                "network",
                places(Some(self.sockets_per_network), Some(self.members_max)),
                "idle members of heavier networks evicted, else rejected",
            ),
            ("room_members", "room", places(Some(self.room_members_max), None), "rejected"),
            (
                "unauthenticated",
                "network",
                unproven,
                "those of heavier networks evicted, else connection closed",
            ),
            ("pending_channels", "network", unproven, "offer rejected"),
        ];
        rows.map(|(name, key, bound, on_excess)| LimitRow { name, key, bound, on_excess }).into()
    }
}

/// Key of a member's limits: the same for all its connections, also later ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MemberKey {
    pub(crate) room: RoomId,
    pub(crate) peer: PeerId,
}

impl LimitKey for MemberKey {}

/// Usage of members and networks, and how often each limit was exceeded.
#[derive(Debug)]
pub(crate) struct Limits {
    members: KeyedRateLimiter<MemberKey, MEMBER_LIMITS>,
    networks: KeyedRateLimiter<Prefix, NETWORK_LIMITS>,
    exceeded: [u64; LIMITS],
}

impl Limits {
    pub(crate) fn new(config: &RelayConfig) -> Limits {
        let members_max = config.members_max.saturating_mul(MEMBERS_FACTOR);
        Limits {
            members: KeyedRateLimiter::new(config.rates_of_member(), members_max),
            networks: KeyedRateLimiter::new(config.rates_of_network(), PREFIXES_MAX),
            exceeded: [0; LIMITS],
        }
    }

    /// Excesses per limit, in the order of [`RelayConfig::limits`].
    pub(crate) fn exceeded(&self) -> &[u64; LIMITS] {
        &self.exceeded
    }

    /// Counts an excess found elsewhere. Returns false for convenience.
    pub(crate) fn exceed(&mut self, limit: RelayLimit) -> bool {
        self.exceeded[limit as usize] += 1;
        false
    }

    /// Whether a member may do this once more.
    pub(crate) fn allows(&mut self, now: Micros, member: MemberKey, limit: RelayLimit) -> bool {
        let taken = self.members.try_acquire(now, once(member), &[(limit as usize, 1)]);
        taken.is_ok() || self.exceed(limit)
    }

    /// Whether a member of this network may send a datagram of this size.
    pub(crate) fn allows_frame(
        &mut self,
        now: Micros,
        member: MemberKey,
        network: u64,
        bytes: usize,
    ) -> bool {
        let frame = (RelayLimit::MemberFrames as usize, 1);
        let charges = [frame, (RelayLimit::MemberBytes as usize, bytes as u64)];
        if self.members.try_acquire(now, once(member), &charges).is_err() {
            let has_frame = self.members.retry_after(now, once(member), &[frame]) == Micros::ZERO;
            return self.exceed(if has_frame { RelayLimit::MemberBytes } else { RelayLimit::MemberFrames });
        }
        self.allows_network(now, network, RelayLimit::NetworkFrames)
    }

    /// Whether this network may open one more connection.
    pub(crate) fn allows_connect(&mut self, now: Micros, network: u64) -> bool {
        self.allows_network(now, network, RelayLimit::NetworkConnects)
    }

    /// Whether a member of this network may request a channel.
    pub(crate) fn allows_offer(&mut self, now: Micros, member: MemberKey, network: u64) -> bool {
        self.allows(now, member, RelayLimit::MemberOffers)
            && self.allows_network(now, network, RelayLimit::NetworkOffers)
    }

    fn allows_network(&mut self, now: Micros, network: u64, limit: RelayLimit) -> bool {
        let charge = (limit as usize - MEMBER_LIMITS, 1);
        self.networks.try_acquire(now, prefixes(network), &[charge]).is_ok() || self.exceed(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits::new(&RelayConfig { members_max: 10, sockets_per_network: 10, ..RelayConfig::default() })
    }

    fn member(nth: u128) -> MemberKey {
        MemberKey { room: RoomId::from_bytes([1; 16]), peer: PeerId::from_u128(nth) }
    }

    #[test]
    fn network_has_its_connects_and_more_with_time() {
        let mut limits = limits();
        let mut count = |network: u64, second: u64| {
            (0..100).filter(|_| limits.allows_connect(Micros::from_secs(second), network)).count()
        };
        assert_eq!((count(1, 1), count(2, 1)), (10, 10));
        assert_eq!((count(1, 2), count(1, 4)), (1, 2));
        assert_eq!((count(1, 60), count(3, 60)), (10, 10));
    }

    #[test]
    fn flood_of_networks_and_members_fills_no_memory() {
        let (mut limits, now) = (limits(), Micros::from_secs(1));
        let taken = (0..20_000).filter(|network| limits.allows_connect(now, *network)).count();
        assert_eq!((taken, limits.networks.len()), (PREFIXES_MAX + 10, PREFIXES_MAX + 1));
        for nth in 0..1_000 {
            limits.allows(now, member(nth), RelayLimit::MemberControl);
        }
        assert_eq!(limits.members.len(), 41);
        let later = Micros::from_secs(60);
        assert!(
            limits.allows_connect(later, 20_000)
                && limits.allows(later, member(7), RelayLimit::MemberControl)
        );
        assert_eq!((limits.networks.len(), limits.members.len()), (1, 1));
    }

    #[test]
    fn networks_of_one_prefix_share_its_rate() {
        let mut limits = limits();
        let network = |nth: u128| {
            gaggle_kit::rate_limit::network(
                std::net::Ipv6Addr::from_bits(0x2001_0db8 << 96 | nth << 64).into(),
            )
        };
        let mut taken = |nth: u128| {
            (0..100).filter(|_| limits.allows_connect(Micros::from_secs(1), network(nth))).count()
        };
        assert_eq!((0..80).map(&mut taken).sum::<usize>(), 20, "twice what one network has");
    }

    #[test]
    fn member_that_left_gets_no_new_tokens_by_returning() {
        let (mut limits, now) = (limits(), Micros::from_secs(1));
        let mut count =
            |nth| (0..100).filter(|_| limits.allows(now, member(nth), RelayLimit::MemberOffers)).count();
        // Limits are not told that a member leaves: the key outlives its connections.
        assert_eq!((count(1), count(1), count(2)), (8, 0, 8));
    }

    #[test]
    fn table_names_each_limit_once() {
        let rows = RelayConfig::default().limits();
        let mut names: Vec<&str> = rows.iter().map(|row| row.name).collect();
        assert_eq!(rows[RelayLimit::StunTotal as usize].name, "stun_total");
        assert_eq!(rows[RelayLimit::SocketRead as usize].name, "socket_read");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), LIMITS);
    }

    #[test]
    fn excess_is_counted_by_limit() {
        let (mut limits, now) = (limits(), Micros::from_secs(1));
        (0..10).for_each(|_| _ = limits.allows(now, member(1), RelayLimit::MemberOffers));
        (0..3).for_each(|_| _ = limits.allows_frame(now, member(2), 7, 1 << 20));
        assert_eq!(limits.exceeded()[RelayLimit::MemberOffers as usize], 2);
        assert_eq!(limits.exceeded()[RelayLimit::MemberBytes as usize], 1);
        assert_eq!(limits.exceeded().iter().sum::<u64>(), 3);
    }
}
