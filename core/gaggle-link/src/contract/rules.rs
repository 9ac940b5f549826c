//! The rules of the contract, each a small state machine.
//!
//! Stepped by [`Run`](super::Run) after every poll. Absent: invariants that always hold
//! (`room.rs`).

mod delivery;

use gaggle_kit::{Micros, PeerId};

use self::delivery::{broadcast, empty, full_buffer, large, reliable, streams};
use super::Progress;
use super::room::{Failure, Room, Told};
use crate::{Channel, CloseCode, DisconnectReason, SendError, Transport};

/// One rule of a [`Transport`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// Each of three peers reports the two others once.
    PeersConnectOnce,
    /// Each transport has its own id and keeps it.
    IdsAreDistinctAndConstant,
    /// The list of peers is exactly the connected ones, in ascending order.
    PeersListIsTheConnectedOnes,
    /// Sending to an unknown peer, an unconnected one or itself is rejected.
    SendToUnconnectedIsRejected,
    /// A message names its sender and its channel.
    MessagesNameTheirSender,
    /// Unreliable messages of any allowed size are not cut, joined or altered.
    UnreliableArrivesWholeOrNotAtAll,
    /// An unreliable message beyond the limit is rejected with the limit, and nothing arrives.
    OversizedUnreliableIsRejected,
    /// A thousand reliable messages on several streams, in both directions, arrive once and in
    /// order.
    ReliableArrivesOnceInOrder,
    /// A short message overtakes a long one on another stream.
    StreamsDoNotWaitForEachOther,
    /// A single message of 300 KB arrives intact.
    LargeMessageArrivesIntact,
    /// Empty messages arrive on both channels.
    EmptyMessagesArrive,
    /// Every connected peer receives a broadcast once, the sender does not.
    BroadcastReachesAllOthers,
    /// More reliable messages than the buffer takes: rejected with an error, never blocking;
    /// accepted ones arrive.
    FullBufferRejectsWithoutLoss,
    /// Both sides report a disconnect once, with its reason; the third peer does not.
    DisconnectIsReportedOncePerSide,
    /// After a disconnect amid much data in flight, neither side gets another message or event.
    NothingArrivesAfterDisconnect,
    /// Nothing is sent for twice the timeout, and no peer disconnects.
    QuietLinkStaysUp,
    /// A peer whose program hangs is reported as disconnected in time, and the others stay.
    SilentPeerTimesOut,
    /// Round trip, packets and bytes are counted for connected peers, and only for those.
    StatisticsAreCounted,
}

/// Content of test messages: shows when something is cut, repeated or swapped.
fn pattern(salt: usize, size: usize) -> Vec<u8> {
    (0..size).map(|n| (n ^ n >> 8 ^ salt.wrapping_mul(31)) as u8).collect()
}

impl Rule {
    /// All rules, in the order of the tests that the macro `contract` makes.
    pub const ALL: [Rule; 18] = [
        Rule::PeersConnectOnce,
        Rule::IdsAreDistinctAndConstant,
        Rule::PeersListIsTheConnectedOnes,
        Rule::SendToUnconnectedIsRejected,
        Rule::MessagesNameTheirSender,
        Rule::UnreliableArrivesWholeOrNotAtAll,
        Rule::OversizedUnreliableIsRejected,
        Rule::ReliableArrivesOnceInOrder,
        Rule::StreamsDoNotWaitForEachOther,
        Rule::LargeMessageArrivesIntact,
        Rule::EmptyMessagesArrive,
        Rule::BroadcastReachesAllOthers,
        Rule::FullBufferRejectsWithoutLoss,
        Rule::DisconnectIsReportedOncePerSide,
        Rule::NothingArrivesAfterDisconnect,
        Rule::QuietLinkStaysUp,
        Rule::SilentPeerTimesOut,
        Rule::StatisticsAreCounted,
    ];

    pub(crate) fn step<T: Transport>(self, room: &mut Room<T>, now: Micros) -> Result<Progress, Failure> {
        // Every rule begins when all are connected.
        if room.phase() == 0 {
            if self == Rule::SendToUnconnectedIsRejected {
                refuse_who_is_not_joined(room, now)?;
            }
            if !room.all_joined() {
                return Ok(Progress::Running);
            }
            room.next_phase(now);
        }
        match self {
            Rule::PeersConnectOnce => peers_connect(room, now),
            Rule::IdsAreDistinctAndConstant => names(room, now),
            Rule::PeersListIsTheConnectedOnes => peers(room, now),
            Rule::SendToUnconnectedIsRejected => {
                refuse_who_is_not_joined(room, now)?;
                wait_quietly(room, now, Micros::from_millis(100))
            }
            Rule::MessagesNameTheirSender => senders(room, now),
            Rule::UnreliableArrivesWholeOrNotAtAll => unreliable(room, now),
            Rule::OversizedUnreliableIsRejected => too_large(room, now),
            Rule::ReliableArrivesOnceInOrder => reliable(room, now),
            Rule::StreamsDoNotWaitForEachOther => streams(room, now),
            Rule::LargeMessageArrivesIntact => large(room, now),
            Rule::EmptyMessagesArrive => empty(room, now),
            Rule::BroadcastReachesAllOthers => broadcast(room, now),
            Rule::FullBufferRejectsWithoutLoss => full_buffer(room, now),
            Rule::DisconnectIsReportedOncePerSide => disconnecting(room, now),
            Rule::NothingArrivesAfterDisconnect => after_left(room, now),
            Rule::QuietLinkStaysUp => quiet(room, now),
            Rule::SilentPeerTimesOut => silent(room, now),
            Rule::StatisticsAreCounted => statistics(room, now),
        }
    }
}

type Step = Result<Progress, Failure>;

fn send<T: Transport>(
    room: &mut Room<T>,
    now: Micros,
    from: usize,
    to: usize,
    channel: Channel,
    bytes: &[u8],
) -> Result<(), Failure> {
    let to = room.id(to);
    room.transport_mut(from)
        .send(now, to, channel, bytes)
        .map_err(|error| room.failure(format!("sending was rejected: {error}")))
}

fn wait_quietly<T: Transport>(room: &mut Room<T>, now: Micros, span: Micros) -> Step {
    if room.waited(now) < span {
        return Ok(Progress::Running);
    }
    let quiet = room.all_told().flatten().all(|told| matches!(told, Told::Joined(_)));
    room.expect(quiet, "an event without a cause")?;
    Ok(Progress::Passed)
}

fn peers_connect<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    for index in 0..3 {
        let others = (0..3).filter(|other| *other != index).map(|other| room.id(other));
        for other in others {
            let times = room.told(index).iter().filter(|told| **told == Told::Joined(other)).count();
            room.expect(times == 1, "a peer was reported as connected more than once, or not at all")?;
        }
    }
    wait_quietly(room, now, Micros::from_millis(500))
}

fn names<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    let mut names: Vec<PeerId> = (0..3).map(|index| room.id(index)).collect();
    for (index, told) in room.all_told().enumerate() {
        let mut joined: Vec<PeerId> = told
            .iter()
            .filter_map(|told| if let Told::Joined(peer) = told { Some(*peer) } else { None })
            .collect();
        joined.push(names[index]);
        joined.sort_unstable();
        let mut all = names.clone();
        all.sort_unstable();
        room.expect(joined == all, "the others know a peer by another id than it has")?;
    }
    names.sort_unstable();
    names.dedup();
    room.expect(names.len() == 3, "two transports have the same id")?;
    wait_quietly(room, now, Micros::from_millis(100))
}

fn peers<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    let expected = |room: &Room<T>, index: usize, gone: bool| {
        let mut others: Vec<PeerId> = (0..3)
            .filter(|other| *other != index && !(gone && index + other == 1))
            .map(|other| room.id(other))
            .collect();
        others.sort_unstable();
        others
    };
    if room.phase() == 1 {
        for index in 0..3 {
            room.expect(
                room.transport(index).peers() == expected(room, index, false),
                "peers() is not the two others in order",
            )?;
        }
        let other = room.id(1);
        room.transport_mut(0).disconnect(now, other, CloseCode::LEAVING);
        room.next_phase(now);
    }
    let known = [room.id(0), room.id(1)];
    if room.left(0, known[1]).is_empty() || room.left(1, known[0]).is_empty() {
        return Ok(Progress::Running);
    }
    for index in 0..3 {
        room.expect(
            room.transport(index).peers() == expected(room, index, true),
            "peers() contains a disconnected peer, or misses a connected one",
        )?;
    }
    Ok(Progress::Passed)
}

fn refuse_who_is_not_joined<T: Transport>(room: &mut Room<T>, now: Micros) -> Result<(), Failure> {
    for index in 0..3 {
        let me = room.id(index);
        let stranger = PeerId::from_u128(!me.to_u128() ^ 0x5a5a);
        for peer in [me, stranger, room.id((index + 1) % 3)] {
            let joined = room.transport(index).peers().contains(&peer);
            for channel in [Channel::Unreliable, Channel::Reliable(0)] {
                if joined {
                    continue;
                }
                let sent = room.transport_mut(index).send(now, peer, channel, b"to no peer");
                room.expect(
                    sent == Err(SendError::NotConnected { peer }),
                    "a message to an unconnected peer was not rejected as such",
                )?;
            }
            if !joined {
                room.transport_mut(index).disconnect(now, peer, CloseCode::LEAVING);
                let transport = room.transport(index);
                // A peer may connect between these calls in a page.
                let is_consistent = transport.stats(peer).is_none() || transport.peers().contains(&peer);
                room.expect(is_consistent, "there are statistics of an unconnected peer")?;
            }
        }
    }
    Ok(())
}

fn senders<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    let channels = [Channel::Unreliable, Channel::Reliable(0), Channel::Reliable(255)];
    for from in 0..3 {
        for to in (0..3).filter(|to| *to != from) {
            for channel in channels {
                // Repeated until it arrives: an unreliable one may be lost.
                let arrived = room.got(to, channel).any(|(sender, _)| sender == room.id(from));
                if !arrived && (channel == Channel::Unreliable || room.phase() == 1) {
                    send(room, now, from, to, channel, &[from as u8, to as u8])?;
                }
            }
        }
    }
    if room.phase() == 1 {
        room.next_phase(now);
    }
    let mut all = true;
    for to in 0..3 {
        for channel in channels {
            for (sender, bytes) in room.got(to, channel) {
                let right = bytes.len() == 2
                    && bytes[1] == to as u8
                    && room.id(usize::from(bytes[0]).min(2)) == sender;
                room.expect(right, "a message came from a peer that did not send it, or to the wrong one")?;
            }
            all &= (0..3)
                .filter(|from| *from != to)
                .all(|from| room.got(to, channel).any(|(sender, _)| sender == room.id(from)));
        }
    }
    Ok(if all { Progress::Passed } else { Progress::Running })
}

fn unreliable<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    let sizes =
        [0, 1, 2, 13, 255, 256, 1_000, Channel::UNRELIABLE_BYTES_MAX - 1, Channel::UNRELIABLE_BYTES_MAX];
    let mut missing = false;
    for size in sizes {
        if !room.got(1, Channel::Unreliable).any(|(_, bytes)| bytes.len() == size) {
            send(room, now, 0, 1, Channel::Unreliable, &pattern(size, size))?;
            missing = true;
        }
    }
    for (_, bytes) in room.got(1, Channel::Unreliable) {
        let sent = sizes.contains(&bytes.len()) && bytes == pattern(bytes.len(), bytes.len());
        room.expect(sent, "an unreliable message arrived that was not sent like this")?;
    }
    Ok(if missing { Progress::Running } else { Progress::Passed })
}

fn too_large<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    if room.phase() == 1 {
        let (to, max) = (room.id(1), Channel::UNRELIABLE_BYTES_MAX);
        for bytes in [max + 1, 2 * max, 100_000] {
            let sent = room.transport_mut(0).send(now, to, Channel::Unreliable, &vec![7; bytes]);
            room.expect(
                sent == Err(SendError::TooLarge { bytes, max }),
                "a message that is too large was not rejected as such",
            )?;
        }
        room.next_phase(now);
    }
    wait_quietly(room, now, Micros::from_millis(300))
}

fn disconnecting<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    let (a, b, goodbye) = (room.id(0), room.id(1), CloseCode(CloseCode::APP.0 + 7));
    if room.phase() == 1 {
        room.transport_mut(0).disconnect(now, b, goodbye);
        room.transport_mut(0).disconnect(now, b, goodbye);
        room.next_phase(now);
    }
    let (ours, theirs) = (room.left(0, b), room.left(1, a));
    room.expect(
        room.left(2, a).is_empty() && room.left(2, b).is_empty(),
        "an uninvolved peer reported the disconnect",
    )?;
    if ours.is_empty() || theirs.is_empty() || room.waited(now) < Micros::from_millis(500) {
        return Ok(Progress::Running);
    }
    room.expect(
        ours == [DisconnectReason::Local(goodbye)],
        "the disconnecting side did not report it once as its own",
    )?;
    // Close packets are not acknowledged: on a lossy path the other side notices by timeout or the
    // closed path.
    let told = matches!(theirs[..], [DisconnectReason::Remote(said)] if said == goodbye)
        || matches!(theirs[..], [DisconnectReason::Timeout | DisconnectReason::CarrierClosed]);
    room.expect(told, "the other side did not report it once with the given reason")?;
    Ok(Progress::Passed)
}

fn after_left<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    let (a, b) = (room.id(0), room.id(1));
    if room.phase() == 1 {
        for count in 0..50 {
            for (from, to) in [(0, 1), (1, 0)] {
                send(room, now, from, to, Channel::Unreliable, &[count; 100])?;
                send(room, now, from, to, Channel::Reliable(0), &[count; 2_000])?;
            }
        }
        room.next_phase(now);
    } else if room.phase() == 2 {
        // Disconnects in the middle of it. Every poll checks that nothing follows.
        room.transport_mut(0).disconnect(now, b, CloseCode::LEAVING);
        for channel in [Channel::Unreliable, Channel::Reliable(0)] {
            let refused = room.transport_mut(0).send(now, b, channel, b"too late");
            room.expect(
                refused == Err(SendError::NotConnected { peer: b }),
                "a message to a disconnected peer was not rejected",
            )?;
        }
        room.next_phase(now);
    }
    let told = room.left(0, b).len() == 1 && room.left(1, a).len() == 1;
    Ok(if told && room.waited(now) > Micros::from_millis(500) { Progress::Passed } else { Progress::Running })
}

fn quiet<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    let span = room.timeout() + room.timeout();
    wait_quietly(room, now, span)
}

fn silent<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    let c = room.id(2);
    if room.phase() == 1 {
        room.hang(2);
        room.next_phase(now);
    }
    let limit = room.timeout() + room.timeout();
    let left = [room.left(0, c), room.left(1, c)];
    if left.iter().any(Vec::is_empty) {
        room.expect(room.waited(now) < limit, "a hanging peer was not reported as disconnected")?;
        return Ok(Progress::Running);
    }
    let reasons = left
        .iter()
        .all(|left| matches!(left[..], [DisconnectReason::Timeout | DisconnectReason::CarrierClosed]));
    room.expect(
        reasons,
        "a hanging peer disconnected for another reason than a timeout, or more \
     than once",
    )?;
    room.expect(
        room.waited(now) + Micros::from_millis(50) >= Micros::new(room.timeout().get() / 2),
        "a peer was disconnected too early",
    )?;
    let (a, b) = (room.id(0), room.id(1));
    room.expect(
        room.left(0, b).is_empty() && room.left(1, a).is_empty(),
        "a peer that did not hang disconnected, too",
    )?;
    Ok(Progress::Passed)
}

fn statistics<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    let b = room.id(1);
    if room.waited(now) < Micros::from_millis(300) {
        return send(room, now, 0, 1, Channel::Unreliable, &[0; 100]).map(|()| Progress::Running);
    }
    let Some(stats) = room.transport(0).stats(b) else {
        return Err(room.failure("no statistics of a connected peer".to_string()));
    };
    // A busy page makes few steps in that time: what matters is that every packet is counted.
    if stats.rtt.is_none() || stats.packets_out < 10 {
        return send(room, now, 0, 1, Channel::Unreliable, &[0; 100]).map(|()| Progress::Running);
    }
    room.expect(stats.bytes_out >= stats.packets_out * 3, "bytes sent were not counted")?;
    room.expect(stats.packets_in >= 1 && stats.bytes_in >= 1, "packets or bytes received were not counted")?;
    room.expect(stats.loss_in_permille <= 1_000 && stats.loss_out_permille <= 1_000, "loss is above 100 %")?;
    Ok(Progress::Passed)
}
