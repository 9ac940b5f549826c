//! List of the attacks during which honest clients are measured. Absent: how they work.

use crate::attacker::Kind;
use crate::endured::Planned;

/// All attacks, in the order of the report.
pub(crate) const ATTACKS: [Planned; 10] = [
    Planned {
        kind: Kind::Gets,
        title: "60,000 GET a second",
        strength: 60_000,
        tls: false,
        at_once: false,
        limit: "200 requests a second of a network, 1,000 of a connection",
    },
    Planned {
        kind: Kind::Heads,
        title: "20,000 HEAD a second of 24 MB",
        strength: 20_000,
        tls: false,
        at_once: false,
        limit: "a file is looked at, not read",
    },
    Planned {
        kind: Kind::SlowReaders,
        title: "128 slow readers of 24 MB",
        strength: 128,
        tls: false,
        at_once: true,
        limit: "64 KiB for each reader, 64 connections of a network",
    },
    Planned {
        kind: Kind::Guesses,
        title: "20,000 guesses of the operator's token a second",
        strength: 20_000,
        tls: false,
        at_once: false,
        limit: "five wrong ones of a network, then one in 10 s",
    },
    Planned {
        kind: Kind::HalfHandshakes,
        title: "1,000 half TLS handshakes a second, 128 networks",
        strength: 1_000,
        tls: true,
        at_once: false,
        limit: "half of the cores compute handshakes, networks in turns; 40 a second of a network, 5 s for each",
    },
    Planned {
        kind: Kind::LargeMessages,
        title: "2,000 messages of 64 KB a second",
        strength: 2_000,
        tls: false,
        at_once: false,
        limit: "65,536 bytes a message, 200 messages a second of a connection, 4,000 of a network",
    },
    Planned {
        kind: Kind::Stun,
        title: "20,000 STUN questions and noise a second",
        strength: 20_000,
        tls: false,
        at_once: false,
        limit: "5 answers a second to a network, 4,000 to all",
    },
    Planned {
        kind: Kind::ForgedTickets,
        title: "500 forged tickets a second",
        strength: 500,
        tls: false,
        at_once: false,
        limit: "20 relay sockets a second of a network",
    },
    Planned {
        kind: Kind::Offers,
        title: "8,000 offers of channels a second",
        strength: 8_000,
        tls: false,
        at_once: false,
        limit: "1 offer a second of a member, 20 of a network",
    },
    Planned {
        kind: Kind::Datagrams,
        title: "8 members who send the relay all they can",
        strength: 20_000,
        tls: false,
        at_once: false,
        limit: "4,000 datagrams a second of a member, 8,000 of a network",
    },
];
