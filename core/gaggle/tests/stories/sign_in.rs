//! Signing in with a token of an outside issuer.

use crate::starters::{Cluster, Race, Subject};
use gaggle::testing::SimLobby;
use gaggle::{ClientConfig, GameEngine, JoinTarget, Phase, Room, RoomConfig, RoomEvent, StartMode};

type Games = Cluster<GameEngine<Race>>;

fn open_with_token(cluster: &mut Games, peer: usize, join: JoinTarget, token: &str) {
    let lobby =
        ClientConfig { token: Some(token.to_string()), display_name: None, ..SimLobby::client_config(peer) };
    let config = RoomConfig { join, lobby, ..GameEngine::<Race>::config() };
    let (now, platform) = (cluster.net.now(), cluster.net.platform(peer));
    let room = Room::open(now, config, platform, GameEngine::<Race>::content(), 9).expect("in range");
    cluster.rooms[peer] = Some(room);
}

fn own_name(cluster: &mut Games, peer: usize) -> String {
    cluster.room(peer).members().into_iter().find(|member| member.is_local).expect("a member").name
}

#[test]
fn signed_in_player_has_name_of_token() {
    let mut cluster = Games::new(StartMode::DropIn, 0);
    let code = JoinTarget::Code(cluster.code(0));
    open_with_token(&mut cluster, 1, code, "token of Ottilie");
    cluster.run_ms(3_000);
    assert_eq!(cluster.room(1).phase(), Phase::Playing);
    assert_eq!(own_name(&mut cluster, 1), "Ottilie");
    let signed_in = RoomEvent::SignedIn { name: "Ottilie".to_string() };
    assert_eq!(cluster.count(1, |event| *event == signed_in), 1, "{:?}", cluster.events[1]);
    // Reported once, even after a lost connection.
    cluster.net.set_lobby_up(false);
    cluster.run_ms(1_000);
    cluster.net.set_lobby_up(true);
    cluster.run_ms(8_000);
    assert_eq!(cluster.count(1, |event| *event == RoomEvent::LobbyReconnected), 1);
    assert_eq!(cluster.count(1, |event| *event == signed_in), 1, "{:?}", cluster.events[1]);
}

#[test]
fn refused_token_is_told_and_guest_plays() {
    let mut cluster = Games::new(StartMode::DropIn, 0);
    let code = JoinTarget::Code(cluster.code(0));
    open_with_token(&mut cluster, 1, code, "an old one");
    cluster.run_ms(3_000);
    let refused = |event: &RoomEvent| matches!(event, RoomEvent::SignInRejected(_));
    assert_eq!(cluster.count(1, refused), 1, "{:?}", cluster.events[1]);
    assert_eq!(cluster.count(1, |event| matches!(event, RoomEvent::RequestRejected { .. })), 0);
    assert_eq!(cluster.room(1).phase(), Phase::Playing);
    let text = cluster.events[1].iter().find(|event| refused(event)).expect("it was told").to_string();
    assert_eq!(text, "signing in failed: the token has expired; you play as a guest");
}

#[test]
fn player_signs_in_and_out_while_room_is_open() {
    let mut cluster = Games::new(StartMode::DropIn, 1);
    cluster.run_ms(2_000);
    let guest = own_name(&mut cluster, 1);
    let code = JoinTarget::Code(cluster.code(0));
    for (token, name) in [(Some("token of Ottilie"), "Ottilie"), (None, guest.as_str())] {
        cluster.room(1).set_token(token.map(str::to_string));
        assert_eq!(cluster.room(1).phase(), Phase::Solo);
        cluster.room(1).join(code.clone());
        cluster.run_ms(4_000);
        assert_eq!(cluster.room(1).phase(), Phase::Playing, "{:?}", cluster.events[1]);
        let members = cluster.room(0).members();
        assert_eq!(members.len(), 2, "the guest has left the room: {members:?}");
        assert_eq!(own_name(&mut cluster, 1), name);
    }
}
