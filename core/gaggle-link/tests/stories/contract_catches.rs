//! The contract finds faults: transports with one fault each, and the rule that must fail.

use std::collections::VecDeque;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::contract::{Failure, Harness, Rule, run};
use gaggle_link::sim::{SimCarrier, SimNet};
use gaggle_link::{
    Channel, CloseCode, DisconnectReason, Endpoint, LinkConfig, LinkStats, SendError, Transport,
    TransportEvent,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    JoinsTwice,
    NeverLeaves,
    LeavesTwice,
    SpeaksAfterLeaving,
    ForgetsToJoin,
    KeepsStalePeerList,
    TakesAnyAddressee,
    SwapsSenders,
    CutsUnreliable,
    TakesAnySize,
    RepeatsReliable,
    DropsReliable,
    SwapsStreams,
    AltersLarge,
    DropsEmpty,
    BroadcastsToOne,
    TakesEverything,
    LiesAboutGoodbyes,
    MeasuresNothing,
    ChangesItsName,
}

/// An owned event that can be altered.
#[derive(Debug, Clone)]
enum Told {
    Joined(PeerId),
    Left(PeerId, DisconnectReason),
    Message(PeerId, Channel, Vec<u8>),
}

struct Broken {
    link: Endpoint<SimCarrier>,
    fault: Fault,
    told: VecDeque<Told>,
    lent: Vec<u8>,
    /// The first connected peer, and a counter of faults.
    first: Option<PeerId>,
    count: u32,
    peers: Vec<PeerId>,
}

impl Broken {
    /// Altered events in place of a true one.
    fn distort(&mut self, told: Told) {
        self.count += 1;
        let told = match (self.fault, told) {
            (Fault::JoinsTwice, Told::Joined(peer)) => {
                self.told.push_back(Told::Joined(peer));
                Told::Joined(peer)
            }
            (Fault::ForgetsToJoin, Told::Joined(peer)) if self.first.is_none() => {
                self.first = Some(peer);
                return;
            }
            (Fault::NeverLeaves, Told::Left(..)) => return,
            (Fault::LeavesTwice, Told::Left(peer, reason)) => {
                self.told.push_back(Told::Left(peer, reason));
                Told::Left(peer, reason)
            }
            (Fault::SpeaksAfterLeaving, Told::Left(peer, reason)) => {
                self.told.push_back(Told::Left(peer, reason));
                Told::Message(peer, Channel::Unreliable, vec![1])
            }
            (Fault::LiesAboutGoodbyes, Told::Left(peer, _)) => {
                Told::Left(peer, DisconnectReason::Remote(CloseCode::LEAVING))
            }
            (Fault::SwapsSenders, Told::Message(_, channel, bytes)) => {
                Told::Message(self.peers[0], channel, bytes)
            }
            (Fault::CutsUnreliable, Told::Message(peer, Channel::Unreliable, mut bytes)) => {
                bytes.truncate(1_000);
                Told::Message(peer, Channel::Unreliable, bytes)
            }
            (Fault::RepeatsReliable, Told::Message(peer, channel, bytes)) => {
                self.told.push_back(Told::Message(peer, channel, bytes.clone()));
                Told::Message(peer, channel, bytes)
            }
            (Fault::DropsReliable, Told::Message(_, Channel::Reliable(_), _))
                if self.count.is_multiple_of(50) =>
            {
                return;
            }
            (Fault::SwapsStreams, Told::Message(peer, Channel::Reliable(stream), bytes)) => {
                Told::Message(peer, Channel::Reliable(stream ^ 1), bytes)
            }
            (Fault::AltersLarge, Told::Message(peer, channel, mut bytes)) => {
                if let Some(byte) = bytes.get_mut(100_000) {
                    *byte ^= 1;
                }
                Told::Message(peer, channel, bytes)
            }
            (Fault::DropsEmpty, Told::Message(_, _, bytes)) if bytes.is_empty() => return,
            (_, told) => told,
        };
        self.told.push_back(told);
    }
}

impl Transport for Broken {
    fn local_id(&self) -> PeerId {
        let id = self.link.local_id();
        if self.fault == Fault::ChangesItsName { PeerId::from_u128(id.to_u128() ^ 1 << 99) } else { id }
    }

    fn peers(&self) -> &[PeerId] {
        if self.fault == Fault::KeepsStalePeerList { &self.peers } else { self.link.peers() }
    }

    fn send(&mut self, now: Micros, to: PeerId, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
        let sent = self.link.send(now, to, channel, bytes);
        match (self.fault, &sent) {
            (Fault::TakesAnyAddressee, Err(SendError::NotConnected { .. })) => Ok(()),
            (Fault::TakesAnySize, Err(SendError::TooLarge { .. })) => Ok(()),
            (Fault::TakesEverything, Err(SendError::Backpressure { .. })) => Ok(()),
            _ => sent,
        }
    }

    fn broadcast(&mut self, now: Micros, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
        if self.fault == Fault::BroadcastsToOne {
            return self.link.send(now, self.link.peers()[0], channel, bytes);
        }
        self.link.broadcast(now, channel, bytes)
    }

    fn poll(&mut self, now: Micros) -> Option<TransportEvent<'_>> {
        while let Some(event) = self.link.poll(now) {
            let told = match event {
                TransportEvent::Connected { peer } => Told::Joined(peer),
                TransportEvent::Disconnected { peer, reason } => Told::Left(peer, reason),
                TransportEvent::Message { peer, channel, bytes } => {
                    Told::Message(peer, channel, bytes.to_vec())
                }
            };
            if let Told::Joined(peer) = told {
                self.peers.push(peer);
                self.peers.sort_unstable();
            }
            self.distort(told);
        }
        Some(match self.told.pop_front()? {
            Told::Joined(peer) => TransportEvent::Connected { peer },
            Told::Left(peer, reason) => TransportEvent::Disconnected { peer, reason },
            Told::Message(peer, channel, bytes) => {
                self.lent = bytes;
                TransportEvent::Message { peer, channel, bytes: &self.lent }
            }
        })
    }

    fn poll_timeout(&self) -> Micros {
        self.link.poll_timeout()
    }

    fn disconnect(&mut self, now: Micros, peer: PeerId, goodbye: CloseCode) {
        self.link.disconnect(now, peer, goodbye);
    }

    fn stats(&self, peer: PeerId) -> Option<LinkStats> {
        let stats = self.link.stats(peer);
        if self.fault == Fault::MeasuresNothing { stats.map(|_| LinkStats::default()) } else { stats }
    }
}

struct BrokenStage {
    world: SimNet,
    fault: Fault,
}

impl Harness for BrokenStage {
    type Transport = Broken;

    fn transports(&mut self) -> Vec<Broken> {
        let link = |i| Endpoint::new(self.world.carrier(i), LinkConfig::default(), i as u64);
        let broken = |i| Broken {
            link: link(i),
            fault: self.fault,
            told: VecDeque::new(),
            lent: Vec::new(),
            first: None,
            count: 0,
            peers: Vec::new(),
        };
        (0..3).map(broken).collect()
    }

    fn wait(&mut self) -> Micros {
        self.world.advance(Micros::from_millis(5));
        self.world.now()
    }
}

fn trial(fault: Fault, point: Rule) -> Result<(), Failure> {
    run(point, BrokenStage { world: SimNet::new(3, 1), fault })
}

#[test]
fn every_fault_is_caught_by_its_rule() {
    for (fault, point) in [
        (Fault::JoinsTwice, Rule::PeersConnectOnce),
        (Fault::ForgetsToJoin, Rule::PeersConnectOnce),
        (Fault::ChangesItsName, Rule::IdsAreDistinctAndConstant),
        (Fault::KeepsStalePeerList, Rule::PeersListIsTheConnectedOnes),
        (Fault::TakesAnyAddressee, Rule::SendToUnconnectedIsRejected),
        (Fault::SwapsSenders, Rule::MessagesNameTheirSender),
        (Fault::SwapsStreams, Rule::MessagesNameTheirSender),
        (Fault::CutsUnreliable, Rule::UnreliableArrivesWholeOrNotAtAll),
        (Fault::TakesAnySize, Rule::OversizedUnreliableIsRejected),
        (Fault::RepeatsReliable, Rule::ReliableArrivesOnceInOrder),
        (Fault::DropsReliable, Rule::ReliableArrivesOnceInOrder),
        (Fault::SwapsStreams, Rule::StreamsDoNotWaitForEachOther),
        (Fault::AltersLarge, Rule::LargeMessageArrivesIntact),
        (Fault::DropsEmpty, Rule::EmptyMessagesArrive),
        (Fault::BroadcastsToOne, Rule::BroadcastReachesAllOthers),
        (Fault::TakesEverything, Rule::FullBufferRejectsWithoutLoss),
        (Fault::NeverLeaves, Rule::DisconnectIsReportedOncePerSide),
        (Fault::LiesAboutGoodbyes, Rule::DisconnectIsReportedOncePerSide),
        (Fault::LeavesTwice, Rule::NothingArrivesAfterDisconnect),
        (Fault::SpeaksAfterLeaving, Rule::NothingArrivesAfterDisconnect),
        (Fault::JoinsTwice, Rule::QuietLinkStaysUp),
        (Fault::NeverLeaves, Rule::SilentPeerTimesOut),
        (Fault::MeasuresNothing, Rule::StatisticsAreCounted),
    ] {
        let outcome = trial(fault, point);
        println!("{fault:?}: {outcome:?}");
        assert!(outcome.is_err(), "{fault:?} was not caught by {point:?}");
    }
}
