//! Obstacles to playing together are reported, and a peer that does not play is not shown as
//! playing: other builds, undecodable states, large and too large states, slow links.

use crate::cluster;
use std::cell::Cell;
use std::rc::Rc;

use gaggle::timeline::{PeerFault, STATE_BYTES_MAX};
use gaggle::{
    AnyRoom, Game, GameRoom, Inputs, JoinTarget, PeerRejection, Phase, RoomCode, RoomConfig, RoomEvent, Slot,
    State,
};
use gaggle_kit::{ByteReader, ByteSink, DecodeError, FieldDiff, FieldPath, Micros, Prng};
use gaggle_link::sim::Conditions;

use crate::cluster::{SimPlatform, Subject};

#[derive(Debug, Clone, Default, State)]
struct Rope {
    frame: u32,
    pulled: i32,
}

/// The same game, built after a field was added.
#[derive(Debug, Clone, Default, State)]
struct LongRope {
    frame: u32,
    pulled: i32,
    cheers: u32,
}

thread_local! {
    /// The peer that computes at the moment.
    static COMPUTING: Cell<usize> = const { Cell::new(0) };
}

/// A state of any size with a handwritten codec: its shape says nothing about its fields.
#[derive(Debug, Clone)]
struct Heap {
    frame: u32,
    /// The build that made it: what build 1 writes only peer 0 can read, what build 2 writes no
    /// peer.
    build: u8,
    bulk: Rc<[u8]>,
}

impl Heap {
    fn of(bytes: usize, build: u8) -> Heap {
        // Bytes that do not compress.
        let mut rng = Prng::new(5);
        let mut bulk: Vec<u8> = (0..bytes / 4 + 1).flat_map(|_| rng.next_u32().to_le_bytes()).collect();
        bulk.truncate(bytes);
        Heap { frame: 0, build, bulk: bulk.into() }
    }
}

impl State for Heap {
    const SIZE_MIN: usize = 9;

    fn encode<S: ByteSink>(&self, out: &mut S) {
        out.put(&self.frame.to_le_bytes());
        out.put(&[self.build]);
        out.put(&(self.bulk.len() as u32).to_le_bytes());
        out.put(&self.bulk);
    }

    fn decode(r: &mut ByteReader<'_>) -> Result<Heap, DecodeError> {
        let (frame, build, length) = (r.u32("frame")?, r.u8("build")?, r.u32("bytes")?);
        if build == 2 || build == 1 && COMPUTING.get() != 0 {
            return Err(DecodeError::Unknown { what: "build", value: build.into() });
        }
        Ok(Heap { frame, build, bulk: r.take("bulk", length as usize)?.into() })
    }

    fn diff(&self, _: &Heap, _: &mut FieldPath, _: &mut dyn FnMut(FieldDiff<'_>)) {}
}

fn pull(inputs: &Inputs<'_, u8>) -> i32 {
    (0..4).map(|slot| i32::from(inputs.get(Slot::at(slot)))).sum()
}

impl Game for Rope {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        self.frame += 1;
        self.pulled += pull(inputs);
    }
}

impl Game for LongRope {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        self.frame += 1;
        self.pulled += pull(inputs);
        self.cheers += 1;
    }
}

impl Game for Heap {
    type Input = u8;

    fn tick(&mut self, _: &Inputs<'_, u8>) {
        self.frame += 1;
    }
}

/// A room of any of these games.
trait AnyBuild: AnyRoom {
    fn play(&mut self, now: Micros, index: usize);
    fn describe(&mut self) -> String;
    fn frame(&self) -> u32;
    fn present(&self) -> usize;
}

impl<G: Game<Input = u8> + Clone> AnyBuild for GameRoom<G, SimPlatform> {
    fn play(&mut self, now: Micros, index: usize) {
        self.set_input(0, (now.get() / 50_000 / (3 + index as u64) % 2) as u8);
        COMPUTING.set(index);
        self.update(now);
    }

    fn describe(&mut self) -> String {
        format!("{:?} {:?}", self.session().roster(), self.stats())
    }

    fn frame(&self) -> u32 {
        self.session().current_frame().number()
    }

    fn present(&self) -> usize {
        self.session().roster().iter().filter(|row| row.is_active()).count()
    }
}

/// Game that a peer plays.
#[derive(Clone, Copy)]
enum Build {
    Rope,
    LongRope,
    Heap { bytes: usize, build: u8 },
}

struct TestRoom(Box<dyn AnyBuild>);

fn code(cluster: &mut Cluster, index: usize) -> RoomCode {
    cluster.room(index).0.lobby_client().and_then(|lobby| lobby.room()).expect("a room").code
}

impl Subject for TestRoom {
    type Config = (RoomConfig, Build);

    fn peer_config(index: usize) -> (RoomConfig, Build) {
        let client = cluster::client_config(index);
        let config = RoomConfig::new("rope", 4).expect("a label").version("1");
        (RoomConfig { lobby: client, ..config }, Build::Rope)
    }

    fn open_peer(
        now: Micros,
        (config, build): (RoomConfig, Build),
        platform: SimPlatform,
        seed: u64,
    ) -> TestRoom {
        let why = "settings that can be";
        TestRoom(match build {
            Build::Rope => Box::new(GameRoom::open(now, config, platform, Rope::default(), seed).expect(why)),
            Build::LongRope => {
                Box::new(GameRoom::open(now, config, platform, LongRope::default(), seed).expect(why))
            }
            Build::Heap { bytes, build } => {
                Box::new(GameRoom::open(now, config, platform, Heap::of(bytes, build), seed).expect(why))
            }
        })
    }

    fn update_peer(&mut self, now: Micros, index: usize) -> Vec<RoomEvent> {
        self.0.play(now, index);
        std::iter::from_fn(|| self.0.poll_event()).collect()
    }

    fn any_room(&self) -> &dyn AnyRoom {
        self.0.as_ref()
    }

    fn describe(&mut self) -> String {
        self.0.describe()
    }
}

type Cluster = cluster::Cluster<TestRoom>;

/// A peer that plays this game, in the room with this code if there is one.
fn playing(index: usize, build: Build, code: Option<RoomCode>) -> (RoomConfig, Build) {
    let (config, _) = TestRoom::peer_config(index);
    (RoomConfig { join: code.map_or(JoinTarget::Matchmake, JoinTarget::Code), ..config }, build)
}

fn count(cluster: &Cluster, index: usize, what: impl Fn(&RoomEvent) -> bool) -> usize {
    cluster.told[index].iter().filter(|event| what(event)).count()
}

/// Asserts that the peer never joined, was told so, and plays on.
fn expect_alone(cluster: &mut Cluster, index: usize) {
    assert_eq!(count(cluster, index, |event| *event == RoomEvent::MatchJoined), 0, "{}", cluster.describe());
    assert_eq!(cluster.room(index).0.phase(), Phase::Solo, "{}", cluster.describe());
    let frame = cluster.room(index).0.frame();
    cluster.run_ms(1_000);
    assert!(cluster.room(index).0.frame() > frame + 50, "the game goes on\n{}", cluster.describe());
}

#[test]
fn builds_with_other_fields_under_one_version_never_meet() {
    let mut cluster = Cluster::of(3);
    cluster.open_with(0, playing(0, Build::Rope, None)).run_ms(1_000);
    cluster.open_with(1, playing(1, Build::LongRope, None)).run_ms(4_000);
    let first = code(&mut cluster, 0);
    let other = code(&mut cluster, 1);
    assert_ne!(other, first, "who looks for any room has another\n{}", cluster.describe());
    cluster.open_with(2, playing(2, Build::LongRope, Some(first))).run_ms(4_000);
    assert_eq!(
        count(&cluster, 2, |event| matches!(event, RoomEvent::RequestRejected { .. })),
        1,
        "{}",
        cluster.describe()
    );
    expect_alone(&mut cluster, 2);
    assert_eq!(cluster.room(0).0.present(), 1, "{}", cluster.describe());
}

#[test]
fn undecodable_state_ends_join_at_once() {
    let build = Build::Heap { bytes: 100, build: 1 };
    let mut cluster = Cluster::of(2);
    cluster.open_with(0, playing(0, build, None)).run_ms(1_000);
    cluster.open_with(1, playing(1, build, None));
    cluster.run_until("it is told", 3_000, |cluster| cluster.told[1].contains(&RoomEvent::JoinFailed));
    let unreadable = PeerRejection::MatchFault(PeerFault::SnapshotMalformed);
    let told =
        |event: &RoomEvent| matches!(event, RoomEvent::Rejected { reason, .. } if *reason == unreadable);
    assert_eq!(count(&cluster, 1, told), 1, "{}", cluster.describe());
    expect_alone(&mut cluster, 1);
    cluster.run_ms(20_000);
    assert_eq!(count(&cluster, 1, told), 1, "it is tried once\n{}", cluster.describe());
}

#[test]
fn state_its_own_peer_cannot_decode_is_reported() {
    let build = Build::Heap { bytes: 100, build: 2 };
    let mut cluster = Cluster::of(2);
    cluster.open_with(0, playing(0, build, None)).run_ms(1_000);
    let broken = |event: &RoomEvent| matches!(event, RoomEvent::StateNotDecodable { .. });
    assert_eq!(count(&cluster, 0, broken), 0, "no peer has asked for it\n{}", cluster.describe());
    cluster.open_with(1, playing(1, build, None)).run_ms(6_000);
    assert!(count(&cluster, 0, broken) > 0, "{}", cluster.describe());
    assert_eq!(cluster.room(0).0.present(), 1, "{}", cluster.describe());
}

#[test]
fn large_state_is_joined_with_however_long_it_takes() {
    for (megabytes, within_ms) in [(4, 10_000), (24, 40_000)] {
        let build = Build::Heap { bytes: megabytes << 20, build: 0 };
        let mut cluster = Cluster::of(2);
        cluster.open_with(0, playing(0, build, None)).run_ms(1_000);
        cluster.open_with(1, playing(1, build, None));
        cluster.run_until("both are in one match", within_ms, |cluster| {
            (0..2).all(|index| cluster.is_together(index) && cluster.room(index).0.present() == 2)
        });
        assert_eq!(count(&cluster, 1, |event| *event == RoomEvent::JoinFailed), 0, "{}", cluster.describe());
        assert_eq!(count(&cluster, 1, |event| *event == RoomEvent::MatchJoined), 1, "{}", cluster.describe());
        cluster.run_ms(3_000);
        let parted = |event: &RoomEvent| {
            matches!(
                event,
                RoomEvent::PlayerLeft { .. } | RoomEvent::BranchAbandoned | RoomEvent::DesyncDetected { .. }
            )
        };
        assert_eq!(
            (0..2).map(|index| count(&cluster, index, parted)).sum::<usize>(),
            0,
            "{}",
            cluster.describe()
        );
    }
}

#[test]
fn state_too_large_is_rejected_with_its_size() {
    let build = Build::Heap { bytes: (65 << 20) + 7, build: 0 };
    let mut cluster = Cluster::of(2);
    cluster.open_with(0, playing(0, build, None)).run_ms(200);
    let first = code(&mut cluster, 0);
    cluster.open_with(1, playing(1, Build::Heap { bytes: 10, build: 0 }, Some(first)));
    cluster.run_until("it is told", 6_000, |cluster| cluster.told[1].contains(&RoomEvent::JoinFailed));
    let measured = RoomEvent::StateTooLarge { bytes: (65 << 20) + 7 + 9, max: STATE_BYTES_MAX };
    for index in 0..2 {
        assert_eq!(count(&cluster, index, |event| *event == measured), 1, "{}", cluster.describe());
    }
    expect_alone(&mut cluster, 1);
}

#[test]
fn slow_link_is_played_over_or_reported() {
    for latency in [200, 300, 450] {
        let mut cluster = Cluster::of(2);
        cluster.weather(Conditions::latency_ms(latency)).open(0).run_ms(1_000).open(1).run_ms(20_000);
        let told = count(&cluster, 1, |event| matches!(event, RoomEvent::LinkTooSlow { .. }));
        let (frames, present) = (cluster.room(1).0.frame(), cluster.room(1).0.present());
        let other = cluster.room(0).0.frame();
        cluster.run_ms(5_000);
        let played = cluster.room(1).0.frame() - frames;
        let other_played = cluster.room(0).0.frame() - other;
        assert!(played > 100 && other_played > 100, "{latency} ms each way: {}", cluster.describe());
        if present < 2 || played < 240 {
            assert_eq!(told, 1, "{latency} ms each way: {}", cluster.describe());
        } else {
            assert_eq!(told, usize::from(latency > 233), "{latency} ms each way: {}", cluster.describe());
        }
        if present < 2 {
            expect_alone(&mut cluster, 1);
        }
    }
}
