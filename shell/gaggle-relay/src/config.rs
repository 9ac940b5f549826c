//! Settings of a relay.
//!
//! Given to [`RelayServer`](crate::RelayServer). Absent: rate limits derived from them
//! (`limits.rs`).

use gaggle_kit::Micros;

/// Settings of a relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayConfig {
    /// Members at a time.
    pub members_max: usize,
    /// Unauthenticated connections, and unopened channels, at a time; one network may have a
    /// sixteenth of either.
    pub unproven_max: usize,
    /// Sockets, and members, from one network (an address, or an IPv6 /64) at a time. That many may
    /// connect at once, and a tenth of them every second.
    pub sockets_per_network: usize,
    /// Members of one room, and pairs of one member, at a time.
    pub room_members_max: usize,
    /// Members of a room in which the server itself is one: players and spectators of a referee.
    pub insider_members_max: usize,
    /// Time for a connection to authenticate.
    pub prove_within: Micros,
    /// After a room's epoch rises, members have this time to show a new ticket.
    pub epoch_grace: Micros,
    /// A member without socket whose channel is silent this long is removed. If the relay is full,
    /// a member silent this long is removed for a joiner.
    pub idle_timeout: Micros,
    /// Datagrams a member may send per second, counted per receiver.
    pub frames_per_second: u64,
    /// Burst of [`RelayConfig::frames_per_second`].
    pub frames_burst: u64,
    /// Datagrams of all members of one network per second, so that many members do not get the
    /// whole relay.
    pub network_frames_per_second: u64,
    /// Burst of [`RelayConfig::network_frames_per_second`].
    pub network_frames_burst: u64,
    /// Bytes a member may send per second.
    pub bytes_per_second: u64,
    /// Burst of [`RelayConfig::bytes_per_second`].
    pub bytes_burst: u64,
}

impl Default for RelayConfig {
    fn default() -> RelayConfig {
        RelayConfig {
            members_max: 10_000,
            unproven_max: 1_000,
            sockets_per_network: 200,
            room_members_max: 64,
            insider_members_max: 1_088,
            prove_within: Micros::from_secs(5),
            epoch_grace: Micros::from_secs(5),
            idle_timeout: Micros::from_secs(30),
            // A full room at 60 Hz sends to 63 others sixty times, 3,780; acknowledgements fit
            // beside it.
            frames_per_second: 4_000,
            frames_burst: 2_000,
            // Less than half of what a core forwards, and 44 players in rooms of four.
            network_frames_per_second: 8_000,
            network_frames_burst: 4_000,
            // Game traffic is far below this; snapshots for joiners need it at times.
            bytes_per_second: 2 << 20,
            bytes_burst: 2 << 20,
        }
    }
}
