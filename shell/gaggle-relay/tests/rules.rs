//! Rules of the relay, checked on the state machine without sockets.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::collections::BTreeMap;
use std::net::IpAddr;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::relay::{HOST_PEER, RelayFrame, RelayReject};
use gaggle_lobby::{Claims, TicketSigner};
use gaggle_relay::{ConnectionId, Outbound, Relay, RelayConfig, Request};

const NOW: u64 = 1_000;
const ADA: PeerId = PeerId::from_u128(1);
const BEN: PeerId = PeerId::from_u128(2);
const EVE: PeerId = PeerId::from_u128(3);

/// A different network for each connection.
fn address(id: ConnectionId) -> IpAddr {
    IpAddr::V4((id.0 as u32).into())
}

/// A relay and its output by connection.
struct Rig {
    relay: Relay,
    signer: TicketSigner,
    now: Micros,
    said: BTreeMap<ConnectionId, Vec<Vec<u8>>>,
    ended: Vec<ConnectionId>,
    connections: u64,
}

impl Rig {
    fn new(config: RelayConfig) -> Rig {
        let signer = TicketSigner::from_secret(&[7; 32]);
        let relay = Relay::new(signer.key(), config, 42, true);
        let (said, ended) = (BTreeMap::new(), vec![]);
        Rig { relay, signer, now: Micros::from_secs(10), said, ended, connections: 0 }
    }

    fn act<T>(&mut self, act: impl FnOnce(&mut Relay, &mut dyn FnMut(ConnectionId, Outbound<'_>)) -> T) -> T {
        let Rig { relay, said, ended, .. } = self;
        act(relay, &mut |connection, out| match out {
            Outbound::Data(frame) | Outbound::Control(frame) => {
                said.entry(connection).or_default().push(frame.to_vec());
            }
            Outbound::Close => ended.push(connection),
        })
    }

    fn open(&mut self) -> ConnectionId {
        self.connections += 1;
        let id = ConnectionId(self.connections);
        assert!(self.relay.socket_opened(self.now, id, address(id)));
        id
    }

    fn say(&mut self, from: ConnectionId, frame: RelayFrame<'_>) -> Option<Request> {
        self.say_bytes(from, &frame.to_bytes())
    }

    fn say_bytes(&mut self, from: ConnectionId, bytes: &[u8]) -> Option<Request> {
        let now = self.now;
        self.act(|relay, out| relay.handle_socket(now, NOW, from, bytes, out))
    }

    fn prove(&mut self, room: u64, peer: PeerId, epoch: u32) -> ConnectionId {
        let connection = self.open();
        let ticket = self.signer.sign(&Claims::bare(room, peer, epoch, NOW + 100));
        self.say(connection, RelayFrame::Authenticate { ticket: &ticket });
        connection
    }

    fn prove_from(&mut self, from: IpAddr, room: u64, peer: PeerId) -> ConnectionId {
        self.connections += 1;
        let connection = ConnectionId(self.connections);
        assert!(self.relay.socket_opened(self.now, connection, from));
        self.show(connection, &Claims::bare(room, peer, 1, NOW + 100))
    }

    fn prove_with(&mut self, from: IpAddr, claims: &Claims) -> ConnectionId {
        self.connections += 1;
        let connection = ConnectionId(self.connections);
        assert!(self.relay.socket_opened(self.now, connection, from));
        self.show(connection, claims)
    }

    fn show(&mut self, connection: ConnectionId, claims: &Claims) -> ConnectionId {
        let ticket = self.signer.sign(claims);
        self.say(connection, RelayFrame::Authenticate { ticket: &ticket });
        connection
    }

    fn wait(&mut self, span: Micros) {
        self.now += span;
        let now = self.now;
        self.act(|relay, out| relay.handle_timeout(now, NOW, out));
    }

    /// Frames of a connection since the last call.
    fn heard(&mut self, connection: ConnectionId) -> Vec<Vec<u8>> {
        self.said.remove(&connection).unwrap_or_default()
    }

    fn expect(&mut self, connection: ConnectionId, frames: &[RelayFrame<'_>]) {
        let heard = self.heard(connection);
        let heard: Vec<_> = heard.iter().map(|bytes| RelayFrame::read(bytes).unwrap()).collect();
        assert_eq!(heard, frames);
    }

    /// Ada and Ben, authenticated, with an open pair.
    fn pair(&mut self) -> (ConnectionId, ConnectionId) {
        let (ada, ben) = (self.prove(1, ADA, 1), self.prove(1, BEN, 1));
        self.say(ada, RelayFrame::Open { peer: BEN });
        self.heard(ada);
        self.heard(ben);
        (ada, ben)
    }
}

const PROVEN: RelayFrame<'static> = RelayFrame::Authenticated { instance: 42, channels: true };

fn refused(reason: RelayReject) -> RelayFrame<'static> {
    RelayFrame::Refused { reason }
}

#[test]
fn open_pair_carries_datagrams_with_true_sender() {
    let mut rig = Rig::new(RelayConfig::default());
    let (ada, ben) = (rig.prove(1, ADA, 1), rig.prove(1, BEN, 1));
    rig.expect(ada, &[PROVEN]);
    rig.expect(ben, &[PROVEN]);
    rig.say(ada, RelayFrame::Data { peer: BEN, datagram: b"too early" });
    assert!(rig.heard(ben).is_empty());
    rig.say(ada, RelayFrame::Open { peer: BEN });
    rig.expect(ada, &[RelayFrame::Opened { peer: BEN }]);
    rig.expect(ben, &[RelayFrame::Opened { peer: ADA }]);
    rig.say(ada, RelayFrame::Data { peer: BEN, datagram: b"honk" });
    rig.expect(ben, &[RelayFrame::Data { peer: ADA, datagram: b"honk" }]);
    rig.say(ben, RelayFrame::Broadcast { datagram: b"honk honk" });
    rig.expect(ada, &[RelayFrame::Data { peer: BEN, datagram: b"honk honk" }]);
    rig.say(ben, RelayFrame::Close { peer: ADA });
    rig.expect(ada, &[RelayFrame::Closed { peer: BEN }]);
    rig.say(ada, RelayFrame::Data { peer: BEN, datagram: b"gone" });
    assert!(rig.heard(ben).is_empty());
    assert_eq!((rig.relay.totals().forwarded, rig.relay.totals().dropped_unconnected), (2, 2));
}

#[test]
fn member_called_before_it_connects_is_opened_then() {
    let mut rig = Rig::new(RelayConfig::default());
    let ada = rig.prove(1, ADA, 1);
    rig.say(ada, RelayFrame::Open { peer: BEN });
    rig.expect(ada, &[PROVEN, RelayFrame::Closed { peer: BEN }]);
    let ben = rig.prove(1, BEN, 1);
    rig.expect(ada, &[RelayFrame::Opened { peer: BEN }]);
    rig.expect(ben, &[PROVEN, RelayFrame::Opened { peer: ADA }]);
    // Gone and back, as after a broken connection.
    rig.act(|relay, out| relay.closed(ben, out));
    rig.expect(ada, &[RelayFrame::Closed { peer: BEN }]);
    rig.prove(1, BEN, 1);
    rig.expect(ada, &[RelayFrame::Opened { peer: BEN }]);
}

#[test]
fn forged_expired_and_foreign_tickets_are_refused() {
    let mut rig = Rig::new(RelayConfig::default());
    let stranger = TicketSigner::from_secret(&[8; 32]);
    let forged = stranger.sign(&Claims::bare(1, ADA, 1, NOW + 100));
    let expired = rig.signer.sign(&Claims::bare(1, ADA, 1, NOW));
    for (ticket, reason) in [
        (forged.as_str(), RelayReject::Ticket),
        ("nonsense", RelayReject::Ticket),
        (&expired, RelayReject::Expired),
    ] {
        let connection = rig.open();
        rig.say(connection, RelayFrame::Authenticate { ticket });
        rig.expect(connection, &[refused(reason)]);
        assert!(rig.ended.contains(&connection));
    }
    // A ticket of another room does not move a member there.
    let (ada, _) = rig.pair();
    let foreign = rig.signer.sign(&Claims::bare(2, ADA, 1, NOW + 100));
    rig.say(ada, RelayFrame::Authenticate { ticket: &foreign });
    rig.expect(ada, &[refused(RelayReject::Ticket)]);
    let totals = rig.relay.totals();
    assert_eq!((totals.refused_ticket, totals.refused_old, totals.members), (3, 1, 1));
}

#[test]
fn members_of_other_rooms_are_unreachable() {
    let mut rig = Rig::new(RelayConfig::default());
    let (ada, ben) = rig.pair();
    let eve = rig.prove(2, EVE, 1);
    rig.heard(eve);
    rig.say(eve, RelayFrame::Open { peer: ADA });
    rig.expect(eve, &[RelayFrame::Closed { peer: ADA }]);
    rig.say(eve, RelayFrame::Data { peer: ADA, datagram: b"psst" });
    rig.say(eve, RelayFrame::Broadcast { datagram: b"psst" });
    assert!(rig.heard(ada).is_empty() && rig.heard(ben).is_empty());
}

#[test]
fn removed_member_is_disconnected_after_grace_for_good() {
    let mut rig = Rig::new(RelayConfig::default());
    let (ada, ben) = rig.pair();
    let newer = rig.signer.sign(&Claims::bare(1, ADA, 2, NOW + 100));
    rig.say(ada, RelayFrame::Authenticate { ticket: &newer });
    rig.expect(ada, &[PROVEN]);
    rig.wait(Micros::from_secs(4));
    rig.say(ben, RelayFrame::Data { peer: ADA, datagram: b"still connected" });
    assert_eq!(rig.heard(ada).len(), 1, "new tickets take a moment to reach all members");
    rig.wait(Micros::from_secs(2));
    rig.expect(ben, &[refused(RelayReject::StaleEpoch)]);
    rig.expect(ada, &[RelayFrame::Closed { peer: BEN }]);
    let again = rig.prove(1, BEN, 1);
    rig.expect(again, &[refused(RelayReject::StaleEpoch)]);
    let renewed = rig.prove(1, BEN, 2);
    rig.expect(renewed, &[PROVEN, RelayFrame::Opened { peer: ADA }]);
}

#[test]
fn malformed_frames_and_silence_end_connection() {
    let mut rig = Rig::new(RelayConfig::default());
    let (_, ben) = rig.pair();
    for bytes in [&[][..], &[0], &[99; 40], &[4; 16], &[4; 2_000], &PROVEN.to_bytes()] {
        let eve = rig.prove(1, EVE, 1);
        rig.heard(eve);
        rig.say_bytes(eve, bytes);
        rig.expect(eve, &[refused(RelayReject::Malformed)]);
        assert!(rig.ended.contains(&eve));
    }
    let unproven = rig.open();
    rig.say(unproven, RelayFrame::Data { peer: BEN, datagram: b"let me in" });
    rig.expect(unproven, &[refused(RelayReject::Malformed)]);
    let silent = rig.open();
    rig.wait(Micros::from_secs(5));
    rig.expect(silent, &[refused(RelayReject::Malformed)]);
    assert!(rig.heard(ben).is_empty());
    assert_eq!(rig.relay.totals().members, 2);
}

#[test]
fn flood_is_cut_to_rate_and_affects_no_other_member() {
    let mut rig =
        Rig::new(RelayConfig { frames_per_second: 100, frames_burst: 50, ..RelayConfig::default() });
    let (ada, ben) = rig.pair();
    for _ in 0..10_000 {
        rig.say(ada, RelayFrame::Data { peer: BEN, datagram: &[0; 1_000] });
    }
    assert_eq!(rig.heard(ben).len(), 50);
    rig.say(ben, RelayFrame::Data { peer: ADA, datagram: b"fine" });
    assert_eq!(rig.heard(ada).len(), 1, "other members are not limited");
    rig.wait(Micros::from_millis(500));
    (0..100).for_each(|_| _ = rig.say(ada, RelayFrame::Data { peer: BEN, datagram: &[0; 1_000] }));
    assert_eq!(rig.heard(ben).len(), 50);
    assert_eq!(rig.relay.totals().dropped_rate, 9_950 + 50);
}

#[test]
fn network_has_its_rate_however_many_members_it_has() {
    let config =
        RelayConfig { network_frames_per_second: 100, network_frames_burst: 50, ..RelayConfig::default() };
    let mut rig = Rig::new(config);
    let (ada, ben) = rig.pair();
    let here = IpAddr::from([192, 0, 2, 1]);
    let flooders: Vec<ConnectionId> =
        (10..20).map(|peer| rig.prove_from(here, 1, PeerId::from_u128(peer))).collect();
    let to_ben = RelayFrame::Data { peer: BEN, datagram: b"flood" };
    flooders.iter().for_each(|flooder| _ = rig.say(*flooder, RelayFrame::Open { peer: BEN }));
    rig.heard(ben);
    for _ in 0..1_000 {
        flooders.iter().for_each(|flooder| _ = rig.say(*flooder, to_ben));
    }
    assert_eq!(rig.heard(ben).len(), 50, "all of them together");
    rig.wait(Micros::from_millis(300));
    flooders.iter().for_each(|flooder| (0..100).for_each(|_| _ = rig.say(*flooder, to_ben)));
    assert_eq!(rig.heard(ben).len(), 30);
    (0..40).for_each(|_| _ = rig.say(ada, RelayFrame::Data { peer: BEN, datagram: b"fine" }));
    assert_eq!(rig.heard(ben).len(), 40, "other networks have theirs");
}

#[test]
fn full_room_at_60_hz_is_within_limits() {
    let mut rig = Rig::new(RelayConfig::default());
    let here = rig.prove(1, ADA, 1);
    let others: Vec<ConnectionId> = (10..73).map(|peer| rig.prove(1, PeerId::from_u128(peer), 1)).collect();
    (10..73).for_each(|peer| _ = rig.say(here, RelayFrame::Open { peer: PeerId::from_u128(peer) }));
    others.iter().for_each(|other| _ = rig.heard(*other));
    for _ in 0..600 {
        rig.wait(Micros::new(16_667));
        (10..73).for_each(|peer| {
            _ = rig.say(here, RelayFrame::Data { peer: PeerId::from_u128(peer), datagram: b"frame" });
        });
    }
    assert_eq!(rig.relay.totals().dropped_rate, 0);
    others.iter().for_each(|other| assert_eq!(rig.heard(*other).len(), 600));
}

#[test]
fn offers_beyond_rate_are_counted_and_ignored() {
    let mut rig = Rig::new(RelayConfig { sockets_per_network: 20, ..RelayConfig::default() });
    let here = IpAddr::from([192, 0, 2, 1]);
    let members: Vec<ConnectionId> =
        (10..14).map(|peer| rig.prove_from(here, 1, PeerId::from_u128(peer))).collect();
    let offer = RelayFrame::Offer { description: "v=0" };
    let taken = |rig: &mut Rig| {
        let all = members.iter().flat_map(|member| std::iter::repeat_n(*member, 10));
        all.filter(|member| rig.say(*member, offer).is_some()).count()
    };
    assert_eq!(taken(&mut rig), 20, "of the eight of each, what the network may");
    assert_eq!(rig.relay.totals().offers_refused, 20);
    rig.wait(Micros::from_secs(2));
    assert_eq!(taken(&mut rig), 4);
    let (ada, _) = rig.pair();
    assert!(rig.say(ada, offer).is_some(), "other networks have theirs");
    rig.act(Relay::lose_channels);
    assert!(rig.say(ada, offer).is_none());
    let eve = rig.prove(1, EVE, 1);
    rig.expect(eve, &[RelayFrame::Authenticated { instance: 42, channels: false }]);
}

#[test]
fn ticket_issuer_decides_which_epochs_are_stale() {
    let mut rig = Rig::new(RelayConfig::default());
    let room = Claims::bare(1, ADA, 1, NOW).room;
    rig.relay.set_epochs(Box::new(move |asked| (asked == room).then_some(3)));
    let old = rig.prove(1, ADA, 2);
    rig.expect(old, &[refused(RelayReject::StaleEpoch)]);
    for (room, epoch) in [(1, 3), (1, 4), (2, 1)] {
        let fine = rig.prove(room, BEN, epoch);
        assert_eq!(rig.heard(fine).first(), Some(&PROVEN.to_bytes()), "{room} {epoch}");
    }
    let older = rig.prove(1, EVE, 3);
    rig.expect(older, &[refused(RelayReject::StaleEpoch)]);
}

#[test]
fn capacity_is_bounded() {
    let config =
        RelayConfig { members_max: 3, room_members_max: 2, unproven_max: 4, ..RelayConfig::default() };
    let mut rig = Rig::new(config);
    rig.pair();
    let eve = rig.prove(1, EVE, 1);
    rig.expect(eve, &[refused(RelayReject::Full)]);
    rig.prove(2, EVE, 1);
    let last = rig.prove(3, EVE, 1);
    rig.expect(last, &[refused(RelayReject::Full)]);
    (0..4).for_each(|_| _ = rig.open());
    assert!(!rig.relay.socket_opened(rig.now, ConnectionId(1_000), address(ConnectionId(1_000))));
    // Pairs are bounded, too.
    let (ada, _) = (ConnectionId(1), ());
    (10..100).for_each(|n| _ = rig.say(ada, RelayFrame::Open { peer: PeerId::from_u128(n) }));
    assert!(rig.relay.totals().refused_full >= 88);
}

#[test]
fn one_network_cannot_use_all_unauthenticated_connections() {
    let mut rig = Rig::new(RelayConfig { unproven_max: 160, ..RelayConfig::default() });
    let here = IpAddr::from([192, 0, 2, 1]);
    let came = (1_000..1_100).filter(|n| rig.relay.socket_opened(rig.now, ConnectionId(*n), here)).count();
    assert_eq!(came, 10);
    rig.pair();
    // One that does not authenticate in time is closed.
    let late = rig.now + Micros::from_secs(6);
    rig.act(|relay, out| relay.handle_timeout(late, NOW, out));
    assert!(rig.relay.socket_opened(late, ConnectionId(2_000), here));
}

#[test]
fn unauthenticated_of_heaviest_networks_are_closed_first() {
    let mut rig = Rig::new(RelayConfig { unproven_max: 160, ..RelayConfig::default() });
    let (ada, ben) = rig.pair();
    let came = (0..160).filter(|nth| {
        let network = IpAddr::from([192, 0, 2, (nth % 16) as u8]);
        rig.relay.socket_opened(rig.now, ConnectionId(1_000 + nth), network)
    });
    assert_eq!(came.count(), 160);
    let here = IpAddr::from([198, 51, 100, 1]);
    assert!(!rig.relay.socket_opened(rig.now, ConnectionId(5_000), here));
    rig.act(|relay, out| relay.make_way(here, out));
    assert!(rig.relay.socket_opened(rig.now, ConnectionId(5_000), here));
    assert_eq!(rig.ended.len(), 10);
    assert!(!rig.ended.contains(&ada) && !rig.ended.contains(&ben), "members stay");
    rig.act(|relay, out| relay.make_way(here, out));
    assert_eq!(rig.ended.len(), 10, "there is capacity");
}

#[test]
fn prefix_of_one_customer_has_few_unauthenticated() {
    let mut rig = Rig::new(RelayConfig { unproven_max: 160, ..RelayConfig::default() });
    let came = (0..2_000_u64).filter(|nth| {
        let network: IpAddr = format!("2001:db8:0:{:x}::1", nth % 256).parse().unwrap();
        rig.relay.socket_opened(rig.now, ConnectionId(1_000 + nth), network)
    });
    assert_eq!(came.count(), 20, "two shares for a /56");
}

#[test]
fn member_showing_endless_tickets_is_disconnected() {
    let mut rig = Rig::new(RelayConfig::default());
    let (ada, _) = rig.pair();
    let ticket = rig.signer.sign(&Claims::bare(1, ADA, 1, NOW + 60));
    let shown = (0..1_000).take_while(|_| {
        rig.say(ada, RelayFrame::Authenticate { ticket: &ticket });
        !rig.ended.contains(&ada)
    });
    assert_eq!(shown.count(), 32, "checking a ticket is expensive");
}

#[test]
fn member_opening_and_closing_pairs_is_rate_limited() {
    let mut rig = Rig::new(RelayConfig::default());
    let (ada, ben) = rig.pair();
    for _ in 0..5_000 {
        rig.say(ada, RelayFrame::Close { peer: BEN });
        rig.say(ada, RelayFrame::Open { peer: BEN });
    }
    let heard = rig.heard(ben).len();
    assert!((200..=256).contains(&heard), "{heard} frames");
    rig.wait(Micros::from_secs(2));
    for _ in 0..100 {
        rig.say(ada, RelayFrame::Close { peer: BEN });
        rig.say(ada, RelayFrame::Open { peer: BEN });
    }
    let heard = rig.heard(ben).len();
    assert!((38..=40).contains(&heard), "{heard} frames in two seconds");
    assert!(rig.relay.totals().words_ignored > 9_000);
    rig.heard(ada);
    rig.say(ben, RelayFrame::Open { peer: ADA });
    rig.expect(ben, &[RelayFrame::Opened { peer: ADA }]);
}

#[test]
fn same_peer_again_replaces_its_connection() {
    let mut rig = Rig::new(RelayConfig::default());
    let (ada, ben) = rig.pair();
    let again = rig.prove_from(address(ada), 1, ADA);
    rig.expect(ada, &[refused(RelayReject::Replaced)]);
    assert!(rig.ended.contains(&ada));
    rig.expect(again, &[PROVEN, RelayFrame::Opened { peer: BEN }]);
    rig.act(|relay, out| relay.closed(ada, out));
    rig.say(ben, RelayFrame::Data { peer: ADA, datagram: b"which one" });
    assert_eq!(rig.heard(again).len(), 1);
    rig.say(ada, RelayFrame::Data { peer: BEN, datagram: b"a ghost" });
    assert!(rig.heard(ben).is_empty());
}

#[test]
fn stolen_ticket_from_another_network_replaces_no_member() {
    let mut rig = Rig::new(RelayConfig::default());
    let (home, elsewhere) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([198, 51, 100, 7]));
    let owner = rig.prove_from(home, 1, ADA);
    rig.heard(owner);
    let thief = rig.prove_from(elsewhere, 1, ADA);
    rig.expect(thief, &[refused(RelayReject::Replaced)]);
    assert!(rig.heard(owner).is_empty() && !rig.ended.contains(&owner));
    // The owner on another network has a newer ticket, and after its socket is gone the old one is
    // accepted.
    let newer = Claims { issued: NOW + 1, ..Claims::bare(1, ADA, 1, NOW + 100) };
    let moved = rig.prove_with(elsewhere, &newer);
    rig.expect(moved, &[PROVEN]);
    assert!(rig.ended.contains(&owner));
    rig.act(|relay, out| relay.closed(moved, out));
    let back = rig.prove_from(home, 1, ADA);
    rig.expect(back, &[PROVEN]);
}

#[test]
fn removed_members_socket_closes_without_new_ticket_shown() {
    let mut rig = Rig::new(RelayConfig::default());
    let (ada, ben) = rig.pair();
    let room = Claims::bare(1, ADA, 1, NOW + 100).room;
    rig.relay.set_epochs(Box::new(move |asked| (asked == room).then_some(2)));
    rig.wait(Micros::from_secs(1));
    let renewed = rig.signer.sign(&Claims::bare(1, BEN, 2, NOW + 100));
    rig.say(ben, RelayFrame::Authenticate { ticket: &renewed });
    rig.wait(Micros::from_secs(6));
    assert!(rig.ended.contains(&ada) && !rig.ended.contains(&ben));
}

#[test]
fn replies_use_leg_of_last_datagram() {
    let mut rig = Rig::new(RelayConfig::default());
    let (ada, ben) = rig.pair();
    let request = rig.say(ada, RelayFrame::Offer { description: "v=0" });
    assert_eq!(request, Some(Request::Channel("v=0".to_string())));
    let (channel, now) = (ConnectionId(500), rig.now);
    assert!(rig.act(|relay, out| relay.channel_opened(now, ada, channel, out)));
    let to_ada = RelayFrame::Data { peer: ADA, datagram: b"x" };
    let to_ben = RelayFrame::Data { peer: BEN, datagram: b"y" };
    rig.say(ben, to_ada);
    assert_eq!((rig.heard(channel).len(), rig.heard(ada).len()), (1, 0), "the better leg at first");
    rig.say(ada, to_ben);
    rig.say(ben, to_ada);
    assert_eq!((rig.heard(channel).len(), rig.heard(ada).len()), (0, 1));
    rig.act(|relay, out| relay.handle_channel(now, channel, &to_ben.to_bytes(), out));
    rig.say(ben, to_ada);
    assert_eq!((rig.heard(channel).len(), rig.heard(ada).len()), (1, 0));
    // Without the channel the socket is used, and without the socket the channel.
    rig.act(|relay, out| relay.closed(channel, out));
    rig.say(ben, to_ada);
    assert_eq!(rig.heard(ada).len(), 1);
    // A channel carries only datagrams.
    let before = rig.relay.totals().malformed;
    assert!(rig.act(|relay, out| relay.channel_opened(now, ada, channel, out)));
    rig.act(|relay, out| {
        relay.handle_channel(now, channel, &RelayFrame::Close { peer: BEN }.to_bytes(), out);
    });
    assert_eq!(rig.relay.totals().malformed, before + 1);
    rig.act(|relay, out| relay.closed(ada, out));
    rig.heard(ben);
    rig.say(ben, to_ada);
    assert_eq!(rig.heard(channel).len(), 1, "a lost socket does not end a living channel");
    rig.wait(Micros::from_secs(31));
    assert_eq!(rig.relay.totals().members, 1, "a silent one ends");
}

#[test]
fn reconnecting_refills_no_limit() {
    let config = RelayConfig { bytes_per_second: 1_000, bytes_burst: 10_000, ..RelayConfig::default() };
    let mut rig = Rig::new(config);
    let (ada, ben) = rig.pair();
    let talk = |rig: &mut Rig, from| {
        (0..100).for_each(|_| _ = rig.say(from, RelayFrame::Data { peer: BEN, datagram: &[0; 1_000] }));
        (0..200).for_each(|_| {
            _ = rig.say(from, RelayFrame::Close { peer: BEN });
            _ = rig.say(from, RelayFrame::Open { peer: BEN });
        });
        let heard = rig.heard(ben);
        let data = |bytes: &&Vec<u8>| matches!(RelayFrame::read(bytes), Ok(RelayFrame::Data { .. }));
        let count = heard.iter().filter(data).count();
        (count, heard.len() - count)
    };
    let (data, words) = talk(&mut rig, ada);
    assert!(data == 10 && words >= 250, "{data} datagrams, {words} control frames");
    rig.act(|relay, out| relay.closed(ada, out));
    let ada = rig.prove(1, ADA, 1);
    rig.heard(ben);
    assert_eq!(talk(&mut rig, ada), (0, 0), "right after it left");
    rig.act(|relay, out| relay.closed(ada, out));
    rig.wait(Micros::from_secs(5));
    let ada = rig.prove(1, ADA, 1);
    rig.say(ada, RelayFrame::Open { peer: BEN });
    rig.heard(ben);
    let (data, words) = talk(&mut rig, ada);
    assert!(
        data == 5 && (90..=100).contains(&words),
        "{data} datagrams, {words} control frames \
     after five seconds"
    );
    rig.act(|relay, out| relay.closed(ada, out));
    rig.wait(Micros::from_secs(20));
    let ada = rig.prove(1, ADA, 1);
    rig.say(ada, RelayFrame::Open { peer: BEN });
    rig.heard(ben);
    assert_eq!(talk(&mut rig, ada).0, 10, "after a long absence limits are full again");
}

#[test]
fn connects_of_network_are_rate_limited() {
    let mut rig = Rig::new(RelayConfig { sockets_per_network: 20, ..RelayConfig::default() });
    let here = IpAddr::from([192, 0, 2, 1]);
    let mut connections = 1_000;
    let mut come = |rig: &mut Rig, times: usize| {
        let come = |_: &usize| {
            connections += 1;
            let (id, now) = (ConnectionId(connections), rig.now);
            let came = rig.relay.socket_opened(now, id, here);
            rig.act(|relay, out| relay.closed(id, out));
            came
        };
        (0..times).filter(come).count()
    };
    assert_eq!(come(&mut rig, 100), 20);
    rig.wait(Micros::from_secs(3));
    assert_eq!(come(&mut rig, 100), 6);
    let (ada, _) = rig.pair();
    assert!(!rig.ended.contains(&ada), "other networks are not limited");
}

#[test]
fn members_count_for_network_they_authenticated_from() {
    let mut rig = Rig::new(RelayConfig { sockets_per_network: 4, ..RelayConfig::default() });
    let [here, there] = [IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2])];
    let mut connections = 1_000;
    let mut come = |rig: &mut Rig, from: IpAddr, peer: u128| {
        connections += 1;
        let (socket, channel) = (ConnectionId(connections), ConnectionId(10_000 + connections));
        let now = rig.now;
        if !rig.relay.socket_opened(now, socket, from) {
            return None;
        }
        let ticket = rig.signer.sign(&Claims::bare(1, PeerId::from_u128(peer), 1, NOW + 100));
        rig.say(socket, RelayFrame::Authenticate { ticket: &ticket });
        // With a channel a member stays without its socket.
        let opened = rig.act(|relay, out| relay.channel_opened(now, socket, channel, out));
        rig.act(|relay, out| relay.closed(socket, out));
        rig.now += Micros::from_secs(1);
        opened.then_some(channel)
    };
    let channels: Vec<_> = (1..10).filter_map(|peer| come(&mut rig, here, peer)).collect();
    assert_eq!(channels.len(), 4);
    assert_eq!(rig.relay.totals().members, 4);
    assert!(come(&mut rig, here, 2).is_some(), "a connected member may reconnect");
    // One of them moves to another network, which frees capacity here.
    assert!(come(&mut rig, there, 3).is_some() && come(&mut rig, here, 20).is_some());
    assert!(come(&mut rig, here, 21).is_none() && come(&mut rig, there, 21).is_some());
    // A member that leaves frees capacity, too.
    rig.act(|relay, out| relay.closed(channels[0], out));
    assert!(come(&mut rig, here, 22).is_some() && come(&mut rig, here, 23).is_none());
}

#[test]
fn idle_members_are_removed_when_relay_is_full() {
    let mut rig = Rig::new(RelayConfig { members_max: 4, ..RelayConfig::default() });
    let (ada, ben) = rig.pair();
    // Two silent members of one network.
    let silent = [10, 11].map(|n| rig.prove_from([203, 0, 113, 9].into(), 2, PeerId::from_u128(n)));
    silent.iter().for_each(|connection| rig.expect(*connection, &[PROVEN]));
    let full = RelayFrame::Refused { reason: RelayReject::Full };
    let early = rig.prove(3, EVE, 1);
    rig.expect(early, &[full]);
    // Ada and Ben keep sending, and stay; of the two silent ones, the first is removed.
    rig.wait(Micros::from_secs(30));
    rig.say(ada, RelayFrame::Data { peer: BEN, datagram: b"tick" });
    rig.say(ben, RelayFrame::Data { peer: ADA, datagram: b"tock" });
    rig.heard(ada);
    rig.heard(ben);
    let eve = rig.prove(3, EVE, 1);
    rig.expect(eve, &[PROVEN]);
    rig.expect(silent[0], &[full]);
    assert!(rig.ended.contains(&silent[0]) && !rig.ended.contains(&silent[1]));
    rig.expect(ada, &[]);
    assert_eq!(rig.relay.totals().members, 4);
}

/// The server itself in room 1, and its connection.
fn seat(rig: &mut Rig) -> ConnectionId {
    rig.connections += 1;
    let (connection, now) = (ConnectionId(rig.connections), rig.now);
    let room = Claims::bare(1, ADA, 1, NOW).room;
    assert!(rig.act(|relay, out| relay.seat_insider(now, room, connection, out)));
    connection
}

#[test]
fn server_in_room_exchanges_datagrams_with_members() {
    let mut rig = Rig::new(RelayConfig::default());
    let early = rig.prove(1, ADA, 1);
    rig.say(early, RelayFrame::Open { peer: HOST_PEER });
    rig.expect(early, &[PROVEN, RelayFrame::Closed { peer: HOST_PEER }]);
    let server = seat(&mut rig);
    rig.expect(early, &[RelayFrame::Opened { peer: HOST_PEER }]);
    rig.expect(server, &[RelayFrame::Opened { peer: ADA }]);
    let late = rig.prove(1, BEN, 1);
    rig.say(late, RelayFrame::Open { peer: HOST_PEER });
    rig.expect(server, &[RelayFrame::Opened { peer: BEN }]);
    rig.heard(late);
    rig.say(late, RelayFrame::Data { peer: HOST_PEER, datagram: b"entries" });
    rig.expect(server, &[RelayFrame::Data { peer: BEN, datagram: b"entries" }]);
    let now = rig.now;
    rig.act(|relay, out| relay.send_from_insider(now, server, ADA, b"sealed", out));
    rig.expect(early, &[RelayFrame::Data { peer: HOST_PEER, datagram: b"sealed" }]);
    assert!(rig.heard(late).is_empty());
    rig.act(|relay, out| relay.close_from_insider(server, ADA, out));
    rig.expect(early, &[RelayFrame::Closed { peer: HOST_PEER }]);
    rig.act(|relay, out| relay.unseat_insider(server, out));
    rig.expect(late, &[RelayFrame::Closed { peer: HOST_PEER }]);
    assert_eq!(rig.relay.totals().rooms, 1, "its members are still there");
    // A restarted server is a member again, for those that still want it.
    let again = seat(&mut rig);
    rig.expect(again, &[RelayFrame::Opened { peer: BEN }]);
}

#[test]
fn server_in_room_is_claimed_by_no_ticket() {
    let mut rig = Rig::new(RelayConfig::default());
    let eve = rig.prove(1, HOST_PEER, 1);
    rig.expect(eve, &[refused(RelayReject::Ticket)]);
    let server = seat(&mut rig);
    let eve = rig.prove(1, HOST_PEER, 9);
    rig.expect(eve, &[refused(RelayReject::Ticket)]);
    assert!(rig.heard(server).is_empty());
    let (now, room) = (rig.now, Claims::bare(1, ADA, 1, NOW).room);
    assert!(!rig.act(|relay, out| relay.seat_insider(now, room, ConnectionId(99), out)), "only once");
    // What is no insider sends nothing as one.
    let ada = rig.prove(1, ADA, 1);
    rig.heard(ada);
    rig.act(|relay, out| relay.send_from_insider(now, ada, ADA, b"forged", out));
    rig.act(|relay, out| relay.unseat_insider(ada, out));
    assert!(rig.heard(ada).is_empty());
}

#[test]
fn server_in_room_outlives_silence_epochs_and_full_relay() {
    let config = RelayConfig { members_max: 2, ..RelayConfig::default() };
    let mut rig = Rig::new(config);
    let server = seat(&mut rig);
    assert_eq!(rig.relay.totals().members, 0, "it takes no member's place");
    let (ada, ben) = (rig.prove(1, ADA, 1), rig.prove(1, BEN, 7));
    rig.expect(ada, &[PROVEN]);
    rig.expect(ben, &[PROVEN]);
    rig.wait(Micros::from_secs(600));
    rig.prove(1, EVE, 7);
    rig.wait(Micros::from_secs(600));
    assert!(!rig.ended.contains(&server));
    rig.say(ben, RelayFrame::Open { peer: HOST_PEER });
    rig.expect(server, &[RelayFrame::Opened { peer: BEN }]);
}

#[test]
fn room_of_server_has_thousand_members_and_no_rate_for_it() {
    let config = RelayConfig { frames_per_second: 10, frames_burst: 10, ..RelayConfig::default() };
    let mut rig = Rig::new(config);
    let server = seat(&mut rig);
    let members: Vec<_> = (0..1_088)
        .map(|number| {
            let peer = PeerId::from_u128(1_000 + number);
            let connection = rig.prove(1, peer, 1);
            rig.say(connection, RelayFrame::Open { peer: HOST_PEER });
            (peer, connection)
        })
        .collect();
    let beyond = rig.prove(1, EVE, 1);
    rig.expect(beyond, &[refused(RelayReject::Full)]);
    assert_eq!(rig.heard(server).len(), members.len());
    members.iter().for_each(|(_, connection)| drop(rig.heard(*connection)));
    let now = rig.now;
    for (peer, _) in &members {
        rig.act(|relay, out| relay.send_from_insider(now, server, *peer, b"sealed", out));
    }
    assert!(members.iter().all(|(_, connection)| rig.heard(*connection).len() == 1));
    // A flood of one member is cut to its rate before it reaches the server.
    for _ in 0..10_000 {
        rig.say(members[0].1, RelayFrame::Data { peer: HOST_PEER, datagram: b"flood" });
    }
    assert_eq!(rig.heard(server).len(), 10);
    rig.say(members[1].1, RelayFrame::Data { peer: HOST_PEER, datagram: b"honest" });
    assert_eq!(rig.heard(server).len(), 1);
}
