//! How often each limit of the lobby was exceeded.
//!
//! The node counts, the server's metrics show. Absent: the limits themselves (`limits.rs`).

/// A limit of the lobby, in the order of the operators' table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the settings of `rules::Limits`")]
pub enum LobbyLimit {
    Connections,
    Connect,
    Message,
    MessagePerAddress,
    MessageBytes,
    MessageBytesPerAddress,
    Find,
    Create,
    CreatePerAddress,
    Join,
    JoinPerAddress,
    TakeOver,
    Change,
    Signal,
    SignalBytes,
    SignalBytesToOne,
    Look,
    Report,
    ReportPerAddress,
}

const NAMES: [&str; LobbyLimit::ReportPerAddress as usize + 1] = [
    "connections",
    "connect",
    "message",
    "message_per_address",
    "message_bytes",
    "message_bytes_per_address",
    "find",
    "create",
    "create_per_address",
    "join",
    "join_per_address",
    "take_over",
    "change",
    "signal",
    "signal_bytes",
    "signal_bytes_to_one",
    "look",
    "report",
    "report_per_address",
];

/// Excesses by limit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exceeded([u64; NAMES.len()]);

impl Exceeded {
    /// Counts one excess.
    pub(super) fn count(&mut self, limit: LobbyLimit) {
        self.0[limit as usize] += 1;
    }

    /// Excesses of one limit.
    pub fn of(&self, limit: LobbyLimit) -> u64 {
        self.0[limit as usize]
    }

    /// Every limit's name, as in the operators' table, with its excesses.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        NAMES.into_iter().zip(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excess_is_counted_under_name_of_its_limit() {
        let mut exceeded = Exceeded::default();
        exceeded.count(LobbyLimit::SignalBytesToOne);
        assert_eq!(exceeded.of(LobbyLimit::SignalBytesToOne), 1);
        let counted: Vec<_> = exceeded.iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counted, [("signal_bytes_to_one", 1)]);
        assert_eq!(exceeded.iter().last(), Some(("report_per_address", 0)));
    }
}
