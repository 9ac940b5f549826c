//! Channels that are not open yet: one per socket, limited in total and per network.
//!
//! `udp.rs` uses it. Absent: open channels.

use std::collections::BTreeMap;

use gaggle_kit::rate_limit::{ConcurrencyLimit, Prefix, prefixes};

use crate::machine::ConnectionId;

/// Unopened channels, by the socket that requested them.
#[derive(Debug)]
pub(crate) struct Opening {
    max: usize,
    share: usize,
    channels: BTreeMap<ConnectionId, Attempt>,
    places: ConcurrencyLimit<Prefix>,
}

#[derive(Debug, Clone, Copy)]
struct Attempt {
    channel: ConnectionId,
    network: u64,
}

impl Opening {
    /// Limits in total and per network.
    pub(crate) fn new(max: usize, share: usize) -> Opening {
        Opening { max, share, channels: BTreeMap::new(), places: ConcurrencyLimit::default() }
    }

    /// The unopened channel of this socket.
    pub(crate) fn of(&self, socket: ConnectionId) -> Option<ConnectionId> {
        self.channels.get(&socket).map(|attempt| attempt.channel)
    }

    /// Adds a channel for a socket that has none. False at a limit.
    pub(crate) fn begin(&mut self, socket: ConnectionId, channel: ConnectionId, network: u64) -> bool {
        let has_place = self.places.try_acquire(prefixes(network), self.max, self.share);
        if has_place {
            self.channels.insert(socket, Attempt { channel, network });
        }
        has_place
    }

    /// A channel has opened, or has been given up.
    pub(crate) fn end(&mut self, socket: ConnectionId, channel: ConnectionId) {
        if let Some(attempt) =
            self.channels.get(&socket).copied().filter(|attempt| attempt.channel == channel)
        {
            self.channels.remove(&socket);
            self.places.release(prefixes(attempt.network));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unopened_channels_are_bounded_and_given_back() {
        let mut opening = Opening::new(10, 4);
        let id = ConnectionId;
        let begun = |opening: &mut Opening, sockets: std::ops::Range<u64>, network: u64| {
            sockets.filter(|n| opening.begin(id(*n), id(1_000 + n), network)).count()
        };
        assert_eq!(begun(&mut opening, 0..10, 1), 4, "of one network");
        assert_eq!((begun(&mut opening, 20..30, 2), begun(&mut opening, 40..50, 3)), (4, 2));
        assert_eq!((opening.of(id(0)), opening.of(id(9))), (Some(id(1_000)), None));
        opening.end(id(0), id(77));
        assert!(!opening.begin(id(60), id(1), 1), "the end of another channel frees nothing");
        opening.end(id(0), id(1_000));
        assert!(opening.begin(id(60), id(1), 1) && opening.of(id(0)).is_none());
    }
}
