//! Host, readiness and settings of a room, the same for both engines; inputs computed for each
//! tick.

use crate::cluster::{Cluster, SimPlatform, Subject};
use crate::pond;
use crate::presses;
use gaggle::{
    Engine, GameEngine, HostCommand, JoinTarget, LeaveCause, LeaveReason, NotHost, PeerId, Phase, RawJson,
    Room, RoomCode, RoomConfig, RoomEvent, WorldEngine,
};
use gaggle_kit::Micros;

fn count<R: Subject>(cluster: &Cluster<R>, index: usize, what: impl Fn(&RoomEvent) -> bool) -> usize {
    cluster.told[index].iter().filter(|event| what(event)).count()
}

fn room_code<R: Subject>(cluster: &Cluster<R>, index: usize) -> RoomCode {
    let code = |event: &RoomEvent| match event {
        RoomEvent::RoomJoined { code, .. } => Some(*code),
        _ => None,
    };
    cluster.told[index].iter().find_map(code).expect("a room")
}

/// A private room of peer 0, joined by the others.
fn private_room<E>(count: usize) -> Cluster<Room<E, SimPlatform>>
where
    E: Engine,
    Room<E, SimPlatform>: Subject<Config = RoomConfig<E::Config>>,
{
    let mut cluster = Cluster::<Room<E, SimPlatform>>::of(4);
    cluster.open_with(
        0,
        RoomConfig { join: JoinTarget::CreatePrivate, ..<Room<E, SimPlatform> as Subject>::peer_config(0) },
    );
    cluster.run_until("the room is open", 2_000, |cluster| cluster.is_together(0));
    for index in 1..count {
        open_by_code(&mut cluster, index);
    }
    cluster
}

fn open_by_code<E>(cluster: &mut Cluster<Room<E, SimPlatform>>, index: usize)
where
    E: Engine,
    Room<E, SimPlatform>: Subject<Config = RoomConfig<E::Config>>,
{
    let join = JoinTarget::Code(room_code(cluster, 0));
    cluster.open_with(index, RoomConfig { join, ..<Room<E, SimPlatform> as Subject>::peer_config(index) });
    cluster.run_until("the peer is in", 3_000, move |cluster| cluster.is_together(index));
}

fn own_peer<E: Engine>(cluster: &mut Cluster<Room<E, SimPlatform>>, index: usize) -> PeerId
where
    Room<E, SimPlatform>: Subject,
{
    cluster.room(index).members().into_iter().find(|member| member.is_local).expect("a member").peer
}

fn host_and_leader_are_two_roles<E>()
where
    E: Engine,
    Room<E, SimPlatform>: Subject<Config = RoomConfig<E::Config>>,
{
    let mut cluster = private_room::<E>(2);
    let peers = [own_peer(&mut cluster, 0), own_peer(&mut cluster, 1)];
    for index in 0..2 {
        assert_eq!(cluster.room(index).host(), Some(peers[0]));
        assert_eq!(cluster.room(index).leader(), Some(peers[0]));
        assert_eq!(cluster.room(index).is_host(), index == 0);
        assert_eq!(cluster.room(index).is_leader(), index == 0);
        let hosts = cluster.room(index).members().into_iter().filter(|member| member.is_host).count();
        assert_eq!(hosts, 1);
    }
    assert_eq!(cluster.room(1).host_command(HostCommand::Kick(peers[0])), Err(NotHost));

    cluster.room(0).host_command(HostCommand::TransferHost(peers[1])).expect("it is the host");
    cluster.run_ms(500);
    for index in 0..2 {
        assert_eq!(cluster.room(index).host(), Some(peers[1]));
        assert_eq!(cluster.room(index).leader(), Some(peers[0]), "the match has not changed");
        assert_eq!(
            (cluster.room(index).is_host(), cluster.room(index).is_leader()),
            (index == 1, index == 0)
        );
        assert_eq!(count(&cluster, index, |event| matches!(event, RoomEvent::HostChanged { .. })), 1);
        assert_eq!(count(&cluster, index, |event| matches!(event, RoomEvent::LeaderChanged { .. })), 0);
    }

    // The host removes the leader: the match goes on with another one.
    cluster.room(1).host_command(HostCommand::Kick(peers[0])).expect("it is the host");
    cluster.run_until("it is kicked", 3_000, |cluster| cluster.room(0).phase() == Phase::Solo);
    cluster.run_ms(1_000);
    let kicked = RoomEvent::RoomLeft { reason: LeaveReason::Kicked };
    assert_eq!(count(&cluster, 0, |event| *event == kicked), 1, "{}", cluster.describe());
    let left = |event: &RoomEvent| matches!(event, RoomEvent::PlayerLeft { cause: LeaveCause::Left, .. });
    assert_eq!(count(&cluster, 1, left), 1, "{}", cluster.describe());
    assert_eq!((cluster.room(1).host(), cluster.room(1).leader()), (Some(peers[1]), Some(peers[1])));
    assert_eq!((cluster.room(0).host(), cluster.room(0).is_host()), (None, false));
    assert_eq!((cluster.room(0).is_leader(), cluster.room(1).is_leader()), (false, true));
}

fn access_decides_who_may_join<E>()
where
    E: Engine,
    Room<E, SimPlatform>: Subject<Config = RoomConfig<E::Config>>,
{
    let mut cluster = private_room::<E>(2);
    let change = |locked, max_players| HostCommand::Access { locked, private: None, max_players };
    let rejected = |event: &RoomEvent| matches!(event, RoomEvent::RequestRejected { .. });
    let seek = |cluster: &mut Cluster<Room<E, SimPlatform>>| {
        let join = JoinTarget::Code(room_code(cluster, 0));
        cluster.open_with(2, RoomConfig { join, ..<Room<E, SimPlatform> as Subject>::peer_config(2) });
        cluster.run_ms(2_000);
    };
    assert_eq!(cluster.room(1).host_command(change(Some(true), None)), Err(NotHost));
    for closed in [change(Some(true), None), change(Some(false), Some(2))] {
        cluster.room(0).host_command(closed.clone()).expect("it is the host");
        cluster.run_ms(500);
        seek(&mut cluster);
        assert_eq!(count(&cluster, 2, rejected), 1, "{closed:?}\n{}", cluster.describe());
        assert_eq!(cluster.room(2).phase(), Phase::Solo, "{closed:?}\n{}", cluster.describe());
        cluster.crash(2);
    }
    cluster.room(0).host_command(change(None, Some(3))).expect("it is the host");
    cluster.run_ms(500);
    seek(&mut cluster);
    assert_eq!(cluster.room(2).phase(), Phase::Playing, "{}", cluster.describe());
    // Fewer than are in it is no wish the lobby grants.
    cluster.room(0).host_command(change(None, Some(2))).expect("it is the host");
    cluster.run_ms(500);
    assert_eq!(count(&cluster, 0, rejected), 1, "{}", cluster.describe());
}

fn readiness_and_settings_reach_every_member<E>()
where
    E: Engine,
    Room<E, SimPlatform>: Subject<Config = RoomConfig<E::Config>>,
{
    let mut cluster = private_room::<E>(3);
    let settings = RawJson::new(r#"{"map":"fen"}"#).expect("an object");
    cluster.room(0).host_command(HostCommand::Settings(settings.clone())).expect("it is the host");
    cluster.room(0).host_command(HostCommand::EndMatch).expect("it is the host");
    cluster.run_ms(500);
    cluster.room(1).set_ready(true);
    cluster.run_ms(500);
    let peer = own_peer(&mut cluster, 1);
    for index in 0..3 {
        assert_eq!(cluster.room(index).settings(), &settings);
        assert_eq!(count(&cluster, index, |event| *event == RoomEvent::SettingsChanged), 1);
        let ready = |event: &RoomEvent| matches!(event, RoomEvent::ReadyChanged { ready: true, .. });
        assert_eq!(count(&cluster, index, ready), 1);
        let members = cluster.room(index).members();
        let is_ready: Vec<PeerId> =
            members.into_iter().filter(|member| member.is_ready).map(|member| member.peer).collect();
        assert_eq!(is_ready, [peer]);
    }
    // After the start of a match, readiness is for the next one.
    cluster.room(0).host_command(HostCommand::Start { countdown: Micros::ZERO }).expect("it is the host");
    cluster.run_ms(500);
    assert!(cluster.room(2).members().iter().all(|member| !member.is_ready));

    // The host leaves: its settings stay, also for a member that joins later.
    cluster.room(0).leave();
    cluster.run_ms(1_000);
    assert!(cluster.room(1).is_host() != cluster.room(2).is_host(), "one of the others is the host");
    open_by_code(&mut cluster, 3);
    for index in 1..4 {
        assert_eq!(cluster.room(index).settings(), &settings);
    }
    assert!(!cluster.room(3).is_host());
}

fn values_reach_members_and_joiners<E>()
where
    E: Engine,
    Room<E, SimPlatform>: Subject<Config = RoomConfig<E::Config>>,
{
    let mut cluster = private_room::<E>(2);
    let peers = [own_peer(&mut cluster, 0), own_peer(&mut cluster, 1)];
    cluster.room(0).set_value(3, b"boat").expect("short enough");
    cluster.room(1).set_value(3, b"raft").expect("short enough");
    assert!(cluster.room(1).set_value(4, &[0; gaggle::VALUES_BYTES_MAX]).is_err());
    cluster.run_ms(500);
    for index in 0..2 {
        assert_eq!(cluster.room(index).value(peers[0], 3), Some(&b"boat"[..]));
        assert_eq!(cluster.room(index).value(peers[1], 3), Some(&b"raft"[..]));
        let changed = |event: &RoomEvent| matches!(event, RoomEvent::ValueChanged { key: 3, .. });
        assert_eq!(count(&cluster, index, changed), 1, "of the other one");
    }
    // The last write wins, for a member that joins later too.
    for value in [&b"a"[..], b"b", b"canoe"] {
        cluster.room(0).set_value(3, value).expect("short enough");
    }
    open_by_code(&mut cluster, 2);
    cluster.run_ms(500);
    for index in 0..3 {
        assert_eq!(cluster.room(index).value(peers[0], 3), Some(&b"canoe"[..]));
    }
    // New links bring them again; a removed value is gone.
    cluster.room(1).suspend();
    cluster.run_ms(2_000);
    cluster.room(0).set_value(3, b"").expect("short enough");
    cluster.room(0).set_value(5, b"flag").expect("short enough");
    cluster.run_ms(500);
    cluster.room(1).resume();
    cluster.run_until("the peer is back", 3_000, |cluster| cluster.is_together(1)).run_ms(500);
    assert_eq!(cluster.room(1).value(peers[0], 5), Some(&b"flag"[..]));
    assert_eq!(cluster.room(1).value(peers[0], 3), None);
    assert_eq!(cluster.room(2).value(peers[0], 3), None);
    // A member that left has none.
    cluster.room(0).leave();
    cluster.run_ms(1_000);
    assert_eq!(cluster.room(1).value(peers[0], 5), None);
}

#[test]
fn values_of_game_reach_members_and_joiners() {
    values_reach_members_and_joiners::<GameEngine<presses::Presses>>();
}

#[test]
fn values_of_world_reach_members_and_joiners() {
    values_reach_members_and_joiners::<WorldEngine<pond::Pond>>();
}

#[test]
fn host_and_leader_of_game_are_two_roles() {
    host_and_leader_are_two_roles::<GameEngine<presses::Presses>>();
}

#[test]
fn host_and_leader_of_world_are_two_roles() {
    host_and_leader_are_two_roles::<WorldEngine<pond::Pond>>();
}

#[test]
fn access_of_game_decides_who_may_join() {
    access_decides_who_may_join::<GameEngine<presses::Presses>>();
}

#[test]
fn access_of_world_decides_who_may_join() {
    access_decides_who_may_join::<WorldEngine<pond::Pond>>();
}

#[test]
fn readiness_and_settings_of_game_reach_every_member() {
    readiness_and_settings_reach_every_member::<GameEngine<presses::Presses>>();
}

#[test]
fn readiness_and_settings_of_world_reach_every_member() {
    readiness_and_settings_reach_every_member::<WorldEngine<pond::Pond>>();
}

#[test]
fn tick_inputs_are_made_from_state_before_tick() {
    let mut cluster = presses::Cluster::of(1);
    cluster.open(0);
    let room = cluster.room(0);
    let start = Micros::from_secs(100);
    room.update(start);
    let (before, mut asked) = (room.game().frame, Vec::new());
    let ticks = room.update_with(start + Micros::from_millis(200), |tick| {
        assert_eq!((tick.player, tick.slot()), (0, Some(gaggle::Slot::at(0))));
        asked.push(tick.game().frame);
        u8::from(tick.game().frame.is_multiple_of(2))
    });
    assert!(ticks >= 10, "{ticks} ticks are due");
    assert_eq!(
        asked,
        (before..before + ticks).collect::<Vec<_>>(),
        "each tick is asked for, with its own state"
    );
    let pressed = asked.iter().filter(|frame| frame.is_multiple_of(2)).count() as u32;
    assert_eq!(room.game().counts[0], pressed);

    let mut cluster = pond::Cluster::of(1);
    cluster.open(0);
    let room = cluster.room(0);
    room.update(start);
    let steps = room.world().steps;
    let mut asked = Vec::new();
    let ticks = room.update_with(start + Micros::from_millis(200), |tick| {
        asked.push(tick.world().steps);
        pond::Oars { row: true, splash: false }
    });
    assert_eq!(asked.len(), ticks as usize);
    assert_eq!(asked.first(), Some(&steps));
    assert!(asked.is_sorted() && asked.last() > asked.first());
}

#[test]
fn room_whose_ticket_was_used_elsewhere_gets_newer_one() {
    let mut cluster = presses::Cluster::of(2);
    cluster.open(0).run_ms(1_000).open(1).run_ms(3_000);
    let before = cluster.tickets_renewed(0);
    cluster.run_ms(1_000);
    assert_eq!(cluster.tickets_renewed(0), before);
    cluster.rob(0).run_ms(1_000);
    assert_eq!(cluster.tickets_renewed(0), before + 1);
}
