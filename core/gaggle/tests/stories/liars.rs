//! Peers that no correct program makes, as the developer of a game is told of them.

use crate::pond;
use crate::presses::Presses;
use gaggle::kit::{DecodeError, IceServer};
use gaggle::link::{
    Channel, CloseCode, LinkStats, Mesh, Path, PathChanged, SendError, Transport, TransportEvent,
};
use gaggle::replica::{AuthorityPolicy, PeerFault};
use gaggle::testing::{FRAME, SimLobby, SimMesh, SimPlatform, SimSocket};
use gaggle::{GameRoom, MeshSetup, Micros, PeerId, PeerRejection, Platform, RoomConfig, RoomEvent};
use gaggle_link::sim::Conditions;

/// The platform of a peer that may send other inputs to its last neighbor than to the others.
struct LyingPlatform {
    inner: SimPlatform,
    lies: bool,
}

struct LyingMesh {
    inner: SimMesh,
    lies: bool,
}

impl Platform for LyingPlatform {
    type Lobby = SimSocket;
    type Mesh = LyingMesh;

    fn lobby(&mut self) -> &mut SimSocket {
        self.inner.lobby()
    }

    fn open_mesh(&mut self, now: Micros, setup: &MeshSetup<'_>) -> LyingMesh {
        LyingMesh { inner: self.inner.open_mesh(now, setup), lies: self.lies }
    }
}

impl Transport for LyingMesh {
    fn local_id(&self) -> PeerId {
        self.inner.local_id()
    }

    fn peers(&self) -> &[PeerId] {
        self.inner.peers()
    }

    fn send(&mut self, now: Micros, to: PeerId, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
        let is_last = self.peers().len() == 2 && self.peers().last() == Some(&to);
        // Of a match, and without what a joiner or a view change adds.
        let carries_inputs = channel == Channel::Unreliable
            && bytes.len() >= 7
            && bytes[0] & 0x3f < 62
            && bytes[0] & 0x80 == 0
            && bytes[1] & 0xc0 == 0;
        if !(self.lies && is_last && carries_inputs) {
            return self.inner.send(now, to, channel, bytes);
        }
        let mut packet = bytes.to_vec();
        lie(&mut packet);
        self.inner.send(now, to, channel, &packet)
    }

    fn poll(&mut self, now: Micros) -> Option<TransportEvent<'_>> {
        self.inner.poll(now)
    }

    fn poll_timeout(&self) -> Micros {
        self.inner.poll_timeout()
    }

    fn disconnect(&mut self, now: Micros, peer: PeerId, goodbye: CloseCode) {
        self.inner.disconnect(now, peer, goodbye);
    }

    fn stats(&self, peer: PeerId) -> Option<LinkStats> {
        self.inner.stats(peer)
    }
}

impl Mesh for LyingMesh {
    fn add_peer(&mut self, now: Micros, peer: PeerId) {
        self.inner.add_peer(now, peer);
    }

    fn remove_peer(&mut self, now: Micros, peer: PeerId) {
        self.inner.remove_peer(now, peer);
    }

    fn handle_signal(&mut self, now: Micros, from: PeerId, text: &str) -> Result<(), DecodeError> {
        self.inner.handle_signal(now, from, text)
    }

    fn poll_signal(&mut self) -> Option<(PeerId, String)> {
        self.inner.poll_signal()
    }

    fn set_ice_servers(&mut self, servers: &[IceServer]) {
        self.inner.set_ice_servers(servers);
    }

    fn path(&self, peer: PeerId) -> Option<Path> {
        self.inner.path(peer)
    }

    fn poll_path_change(&mut self) -> Option<PathChanged> {
        self.inner.poll_path_change()
    }
}

/// Changes every press in a packet in the same way, whenever it is sent.
fn lie(packet: &mut [u8]) {
    let bend = |value: &mut u8| *value |= if *value == 0 { 0 } else { 0x80 };
    let (flags, carried) = (packet[1], usize::from(packet[4]));
    let mut at = 7;
    at += if packet[5] == 255 { 2 } else { 0 };
    at += if flags & 0x10 != 0 { 7 } else { 0 };
    at += if flags & 0x20 != 0 { 9 } else { 0 };
    if flags & 0x08 != 0 {
        at += carried.div_ceil(8);
        packet[at..].iter_mut().for_each(bend);
    } else {
        at += if flags & 7 == 7 { 1 } else { 0 };
        packet[at..].iter_mut().skip(1).step_by(2).for_each(bend);
    }
}

/// Three peers in one match for 12 s, the last one a liar if `lies`. Returns the events of each and
/// the id of the last.
fn three_peers(lies: bool) -> (Vec<Vec<RoomEvent>>, PeerId) {
    let mut lobby = SimLobby::new(3, 9, Conditions::latency_ms(40));
    let mut rooms: Vec<Option<GameRoom<Presses, LyingPlatform>>> = (0..3).map(|_| None).collect();
    let mut told = vec![Vec::new(); 3];
    for frame in 0..12_000_000 / FRAME.get() {
        let now = lobby.advance();
        if frame.is_multiple_of(60) && frame / 60 < 3 {
            let peer = (frame / 60) as usize;
            let config = RoomConfig {
                lobby: SimLobby::client_config(peer),
                ..RoomConfig::new("presses", 4).expect("a label")
            };
            let platform = LyingPlatform { inner: lobby.platform(peer), lies: lies && peer == 2 };
            let game = Presses { frame: 0, here: 0, counts: [0; 4] };
            rooms[peer] = Some(GameRoom::open(now, config, platform, game, frame + 1).expect("in range"));
        }
        for (peer, room) in rooms.iter_mut().enumerate() {
            let Some(room) = room else { continue };
            // The last one presses once all are in the match, so that it lies from its first press.
            let is_still = peer == 2 && frame < 6 * 60;
            room.set_input(0, if is_still { 0 } else { (frame / (3 + peer as u64) % 2) as u8 });
            room.update(now);
            told[peer].extend(std::iter::from_fn(|| room.poll_event()));
        }
    }
    let last = rooms[2].as_ref().expect("it is open");
    let me = last.members().into_iter().find(|member| member.is_local).expect("it is a member");
    (told, me.peer)
}

#[test]
fn inputs_that_differ_by_receiver_name_their_sender() {
    let diverged = |event: &RoomEvent, by: PeerId| matches!(event, RoomEvent::InputsDiverged { suspect: Some(liar), .. } if *liar == by);
    let desync = |event: &RoomEvent| matches!(event, RoomEvent::DesyncDetected { .. });
    let (told, liar) = three_peers(true);
    for told in &told[..2] {
        assert!(told.iter().any(|event| diverged(event, liar)), "{told:?}");
        assert!(!told.iter().any(desync), "the game is not to blame: {told:?}");
    }
    let (told, honest) = three_peers(false);
    assert!(!told.iter().flatten().any(|event| diverged(event, honest) || desync(event)), "{told:?}");
}

#[test]
fn fault_in_world_is_told_with_its_reason() {
    let mut cluster = pond::Cluster::of(2);
    let mut strict = pond::with_policy(0, AuthorityPolicy::Anyone);
    strict.engine.objects_per_peer_max = 1;
    cluster.open_with(0, strict).run_ms(500);
    cluster.open_with(1, pond::with_policy(1, AuthorityPolicy::Anyone));
    cluster.run_until("both are in", 3_000, |cluster| cluster.is_together(1)).run_ms(1_000);
    let rejected = |event: &RoomEvent| match event {
        RoomEvent::Rejected { name, reason, .. } => Some((name.clone(), *reason)),
        _ => None,
    };
    // Its boat is the one object it may bring.
    assert_eq!(cluster.told[0].iter().find_map(rejected), None, "{}", cluster.describe());
    cluster.room(1).session_mut().spawn(&pond::Rock { pushes: 0 }).expect("there is room");
    cluster.run_ms(1_000);
    let fault = PeerRejection::WorldFault(PeerFault::TooManyObjects { max: 1 });
    let told: Vec<_> = cluster.told[0].iter().filter_map(rejected).collect();
    assert_eq!(told, [("Peer 1".to_string(), fault)], "{}", cluster.describe());
    assert!(!fault.is_other_build());
}
