//! Counters and progress of a session, for overlays and logs. Absent: what counts them.

/// How much of a world has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SyncProgress {
    /// Objects that were introduced.
    pub received: u32,
    /// Objects that were announced.
    pub expected: u32,
}

/// What happened so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionStats {
    /// Packets sent.
    pub packets_sent: u64,
    /// Bytes of these packets.
    pub bytes_sent: u64,
    /// Updates of objects in these packets, closing of handles not counted.
    pub updates_sent: u64,
    /// Updates that had to tell everything.
    pub updates_full: u64,
    /// Packets taken.
    pub packets_received: u64,
    /// Packets that could not be used: repeated, of another epoch, or built on what is not there
    /// any more.
    pub packets_dropped: u64,
    /// Updates in packets taken.
    pub updates_received: u64,
    /// Claims made here.
    pub claims: u64,
    /// Objects inherited.
    pub inherited: u64,
    /// Objects whose creator had no authority, deleted here: see
    /// [`ReplicaConfig::despawn_unauthorized`](crate::ReplicaConfig::despawn_unauthorized).
    pub unauthorized_despawned: u64,
    /// Objects taken back in trust.
    pub reclaimed: u64,
    /// Records that were not taken into the world, by rule.
    pub records_rejected: u64,
    /// Older records answered with newer ones.
    pub corrections_sent: u64,
    /// How often this peer came in again, because others did not know it under its number.
    pub rejoins: u64,
    /// Remote events that came too often, named objects that did not become known, or were not for
    /// this peer.
    pub remote_events_dropped: u64,
    /// Events thrown away because the game did not read them.
    pub events_dropped: u64,
}
