//! Counters and progress of a session, for overlays and logs. Parts of the session count. Absent:
//! what follows from a counter.

/// Progress of receiving a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SyncProgress {
    /// Objects that have arrived.
    pub received: u32,
    /// Objects that were announced.
    pub expected: u32,
}

/// Counters since the session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionStats {
    /// Packets this peer sent.
    pub packets_sent: u64,
    /// Bytes of these packets.
    pub bytes_sent: u64,
    /// Updates of objects in these packets, closed handles not counted.
    pub updates_sent: u64,
    /// Updates sent without a baseline, with all fields.
    pub updates_full: u64,
    /// Packets accepted and read.
    pub packets_received: u64,
    /// Packets that were ignored: duplicates, of another epoch, or with a baseline that is gone.
    pub packets_dropped: u64,
    /// Updates in accepted packets.
    pub updates_received: u64,
    /// Claims made by this peer.
    pub claims: u64,
    /// Objects taken as the successor of their authority.
    pub inherited: u64,
    /// Objects whose creator had no authority, deleted here: see
    /// [`ReplicaConfig::despawn_unauthorized`](crate::ReplicaConfig::despawn_unauthorized).
    pub unauthorized_despawned: u64,
    /// Objects taken back by the player they were held for.
    pub reclaimed: u64,
    /// Records rejected by the rules of authority.
    pub records_rejected: u64,
    /// Older records answered with newer ones.
    pub corrections_sent: u64,
    /// Times this peer joined again because others did not know it under its join order.
    pub rejoins: u64,
    /// Remote events dropped: too frequent, about objects that did not become known, or not for
    /// this peer.
    pub remote_events_dropped: u64,
    /// Events dropped because the game did not read them.
    pub events_dropped: u64,
}
