//! Host, readiness and settings of a room, the same for both engines; inputs computed for each
//! tick.

#[allow(dead_code, reason = "the stories of world rooms need more of it")]
mod pond;
#[allow(dead_code, reason = "the stories of game rooms need more of it")]
mod presses;
mod town;

use gaggle::{
    Engine, GameEngine, HostCommand, JoinTarget, LeaveCause, LeaveReason, NotHost, PeerId, Phase, RawJson,
    Room, RoomCode, RoomConfig, RoomEvent, WorldEngine,
};
use gaggle_kit::Micros;
use town::{Cluster, SimPlatform, Subject};

fn count<R: Subject>(town: &Cluster<R>, house: usize, what: impl Fn(&RoomEvent) -> bool) -> usize {
    town.told[house].iter().filter(|event| what(event)).count()
}

fn room_code<R: Subject>(town: &Cluster<R>, house: usize) -> RoomCode {
    let code = |event: &RoomEvent| match event {
        RoomEvent::RoomJoined { code, .. } => Some(*code),
        _ => None,
    };
    town.told[house].iter().find_map(code).expect("a room")
}

/// A private room of peer 0, joined by the others.
fn private_room<E>(houses: usize) -> Cluster<Room<E, SimPlatform>>
where
    E: Engine,
    Room<E, SimPlatform>: Subject<Config = RoomConfig<E::Config>>,
{
    let mut town = Cluster::<Room<E, SimPlatform>>::of(4);
    town.open_with(
        0,
        RoomConfig { join: JoinTarget::CreatePrivate, ..<Room<E, SimPlatform> as Subject>::peer_config(0) },
    );
    town.run_until("the room is open", 2_000, |town| town.is_together(0));
    for house in 1..houses {
        open_by_code(&mut town, house);
    }
    town
}

fn open_by_code<E>(town: &mut Cluster<Room<E, SimPlatform>>, house: usize)
where
    E: Engine,
    Room<E, SimPlatform>: Subject<Config = RoomConfig<E::Config>>,
{
    let join = JoinTarget::Code(room_code(town, 0));
    town.open_with(house, RoomConfig { join, ..<Room<E, SimPlatform> as Subject>::peer_config(house) });
    town.run_until("the peer is in", 3_000, move |town| town.is_together(house));
}

fn own_peer<E: Engine>(town: &mut Cluster<Room<E, SimPlatform>>, house: usize) -> PeerId
where
    Room<E, SimPlatform>: Subject,
{
    town.room(house).members().into_iter().find(|member| member.is_local).expect("a member").peer
}

fn host_and_leader_are_two_roles<E>()
where
    E: Engine,
    Room<E, SimPlatform>: Subject<Config = RoomConfig<E::Config>>,
{
    let mut town = private_room::<E>(2);
    let peers = [own_peer(&mut town, 0), own_peer(&mut town, 1)];
    for house in 0..2 {
        assert_eq!(town.room(house).host(), Some(peers[0]));
        assert_eq!(town.room(house).leader(), Some(peers[0]));
        assert_eq!(town.room(house).is_host(), house == 0);
        assert_eq!(town.room(house).is_leader(), house == 0);
        let hosts = town.room(house).members().into_iter().filter(|member| member.is_host).count();
        assert_eq!(hosts, 1);
    }
    assert_eq!(town.room(1).host_command(HostCommand::Kick(peers[0])), Err(NotHost));

    town.room(0).host_command(HostCommand::TransferHost(peers[1])).expect("it is the host");
    town.run_ms(500);
    for house in 0..2 {
        assert_eq!(town.room(house).host(), Some(peers[1]));
        assert_eq!(town.room(house).leader(), Some(peers[0]), "the match has not changed");
        assert_eq!((town.room(house).is_host(), town.room(house).is_leader()), (house == 1, house == 0));
        assert_eq!(count(&town, house, |event| matches!(event, RoomEvent::HostChanged { .. })), 1);
        assert_eq!(count(&town, house, |event| matches!(event, RoomEvent::LeaderChanged { .. })), 0);
    }

    // The host removes the leader: the match goes on with another one.
    town.room(1).host_command(HostCommand::Kick(peers[0])).expect("it is the host");
    town.run_until("it is kicked", 3_000, |town| town.room(0).phase() == Phase::Solo);
    town.run_ms(1_000);
    let kicked = RoomEvent::RoomLeft { reason: LeaveReason::Kicked };
    assert_eq!(count(&town, 0, |event| *event == kicked), 1, "{}", town.describe());
    let left = |event: &RoomEvent| matches!(event, RoomEvent::PlayerLeft { cause: LeaveCause::Left, .. });
    assert_eq!(count(&town, 1, left), 1, "{}", town.describe());
    assert_eq!((town.room(1).host(), town.room(1).leader()), (Some(peers[1]), Some(peers[1])));
    assert_eq!((town.room(0).host(), town.room(0).is_host()), (None, false));
    assert_eq!((town.room(0).is_leader(), town.room(1).is_leader()), (false, true));
}

fn access_decides_who_may_join<E>()
where
    E: Engine,
    Room<E, SimPlatform>: Subject<Config = RoomConfig<E::Config>>,
{
    let mut town = private_room::<E>(2);
    let change = |locked, max_players| HostCommand::Access { locked, private: None, max_players };
    let rejected = |event: &RoomEvent| matches!(event, RoomEvent::RequestRejected { .. });
    let seek = |town: &mut Cluster<Room<E, SimPlatform>>| {
        let join = JoinTarget::Code(room_code(town, 0));
        town.open_with(2, RoomConfig { join, ..<Room<E, SimPlatform> as Subject>::peer_config(2) });
        town.run_ms(2_000);
    };
    assert_eq!(town.room(1).host_command(change(Some(true), None)), Err(NotHost));
    for closed in [change(Some(true), None), change(Some(false), Some(2))] {
        town.room(0).host_command(closed.clone()).expect("it is the host");
        town.run_ms(500);
        seek(&mut town);
        assert_eq!(count(&town, 2, rejected), 1, "{closed:?}\n{}", town.describe());
        assert_eq!(town.room(2).phase(), Phase::Solo, "{closed:?}\n{}", town.describe());
        town.crash(2);
    }
    town.room(0).host_command(change(None, Some(3))).expect("it is the host");
    town.run_ms(500);
    seek(&mut town);
    assert_eq!(town.room(2).phase(), Phase::Playing, "{}", town.describe());
    // Fewer than are in it is no wish the lobby grants.
    town.room(0).host_command(change(None, Some(2))).expect("it is the host");
    town.run_ms(500);
    assert_eq!(count(&town, 0, rejected), 1, "{}", town.describe());
}

fn readiness_and_settings_reach_every_member<E>()
where
    E: Engine,
    Room<E, SimPlatform>: Subject<Config = RoomConfig<E::Config>>,
{
    let mut town = private_room::<E>(3);
    let settings = RawJson::new(r#"{"map":"fen"}"#).expect("an object");
    town.room(0).host_command(HostCommand::Settings(settings.clone())).expect("it is the host");
    town.room(0).host_command(HostCommand::EndMatch).expect("it is the host");
    town.run_ms(500);
    town.room(1).set_ready(true);
    town.run_ms(500);
    let peer = own_peer(&mut town, 1);
    for house in 0..3 {
        assert_eq!(town.room(house).settings(), &settings);
        assert_eq!(count(&town, house, |event| *event == RoomEvent::SettingsChanged), 1);
        let ready = |event: &RoomEvent| matches!(event, RoomEvent::ReadyChanged { ready: true, .. });
        assert_eq!(count(&town, house, ready), 1);
        let members = town.room(house).members();
        let is_ready: Vec<PeerId> =
            members.into_iter().filter(|member| member.is_ready).map(|member| member.peer).collect();
        assert_eq!(is_ready, [peer]);
    }
    // After the start of a match, readiness is for the next one.
    town.room(0).host_command(HostCommand::Start { countdown: Micros::ZERO }).expect("it is the host");
    town.run_ms(500);
    assert!(town.room(2).members().iter().all(|member| !member.is_ready));

    // The host leaves: its settings stay, also for a member that joins later.
    town.room(0).leave();
    town.run_ms(1_000);
    assert!(town.room(1).is_host() != town.room(2).is_host(), "one of the others is the host");
    open_by_code(&mut town, 3);
    for house in 1..4 {
        assert_eq!(town.room(house).settings(), &settings);
    }
    assert!(!town.room(3).is_host());
}

fn values_reach_members_and_joiners<E>()
where
    E: Engine,
    Room<E, SimPlatform>: Subject<Config = RoomConfig<E::Config>>,
{
    let mut town = private_room::<E>(2);
    let peers = [own_peer(&mut town, 0), own_peer(&mut town, 1)];
    town.room(0).set_value(3, b"boat").expect("short enough");
    town.room(1).set_value(3, b"raft").expect("short enough");
    assert!(town.room(1).set_value(4, &[0; gaggle::VALUES_BYTES_MAX]).is_err());
    town.run_ms(500);
    for house in 0..2 {
        assert_eq!(town.room(house).value(peers[0], 3), Some(&b"boat"[..]));
        assert_eq!(town.room(house).value(peers[1], 3), Some(&b"raft"[..]));
        let changed = |event: &RoomEvent| matches!(event, RoomEvent::ValueChanged { key: 3, .. });
        assert_eq!(count(&town, house, changed), 1, "of the other one");
    }
    // The last write wins, for a member that joins later too.
    for value in [&b"a"[..], b"b", b"canoe"] {
        town.room(0).set_value(3, value).expect("short enough");
    }
    open_by_code(&mut town, 2);
    town.run_ms(500);
    for house in 0..3 {
        assert_eq!(town.room(house).value(peers[0], 3), Some(&b"canoe"[..]));
    }
    // New links bring them again; a removed value is gone.
    town.room(1).suspend();
    town.run_ms(2_000);
    town.room(0).set_value(3, b"").expect("short enough");
    town.room(0).set_value(5, b"flag").expect("short enough");
    town.run_ms(500);
    town.room(1).resume();
    town.run_until("the peer is back", 3_000, |town| town.is_together(1)).run_ms(500);
    assert_eq!(town.room(1).value(peers[0], 5), Some(&b"flag"[..]));
    assert_eq!(town.room(1).value(peers[0], 3), None);
    assert_eq!(town.room(2).value(peers[0], 3), None);
    // A member that left has none.
    town.room(0).leave();
    town.run_ms(1_000);
    assert_eq!(town.room(1).value(peers[0], 5), None);
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
    let mut town = presses::Cluster::of(1);
    town.open(0);
    let room = town.room(0);
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

    let mut town = pond::Cluster::of(1);
    town.open(0);
    let room = town.room(0);
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
    let mut town = presses::Cluster::of(2);
    town.open(0).run_ms(1_000).open(1).run_ms(3_000);
    let before = town.tickets_renewed(0);
    town.run_ms(1_000);
    assert_eq!(town.tickets_renewed(0), before);
    town.rob(0).run_ms(1_000);
    assert_eq!(town.tickets_renewed(0), before + 1);
}
