//! Spectators that do what only members may do. Absent: members that lie.

use super::*;

#[test]
fn spectator_that_writes_loses_its_link() {
    for lie in 0..4 {
        let mut world = world(3, AuthorityPolicy::Anyone);
        let id = world.session(0).spawn(&cube(1)).unwrap();
        world.kill(2);
        world.start(2, JoinMode::Spectate);
        world.link(2, 0);
        world.link(2, 1);
        world.run_ms(500);
        assert_eq!(liar(&mut world).get::<Cube>(id), Some(cube(1)));
        let now = world.now;
        let tag = liar(&mut world).members.me().id.tag;
        match lie {
            // It has authority over objects that no peer gave it.
            0 => {
                let eye = liar(&mut world);
                eye.members.pretend_to_play();
                eye.admit(9);
                eye.claim(id).unwrap();
            }
            1 => {
                let mut bytes = Vec::new();
                let signal = SignalMessage {
                    kind: 0,
                    to: Target::All,
                    origin: player(2),
                    tag: tag.0,
                    number: 0,
                    tick: 0,
                    objects: Vec::new(),
                    bytes: &[7],
                };
                Message::RemoteEvent(signal).encode(&mut bytes);
                world.session(0).handle_message(now, peer(2), &bytes);
            }
            2 => {
                let mut bytes = Vec::new();
                let writer = MemberId { join_order: u32::MAX, tag };
                let value = ValueMessage { player: player(2), key: 0, rev: 1, writer, bytes: &[7] };
                Message::Value(value).encode(&mut bytes);
                world.session(0).handle_message(now, peer(2), &bytes);
            }
            _ => {
                // The lobby admitted it as a spectator, and it says hello as a member.
                world.session(0).set_identities(&[PeerIdentity::with_slots(peer(2), SlotSet::EMPTY)]);
                world.kill(2);
                world.start(2, JoinMode::Join);
                world.link(2, 0);
            }
        }
        world.run_ms(500);
        let refused = |event: &SessionEvent| {
            matches!(event, SessionEvent::Rejected { reason: RejectReason::NotAPlayer, .. })
        };
        if lie == 3 {
            assert_eq!(world.count_events(0, refused), 1);
        } else {
            let fault = faults(&world, 0);
            let expected = if lie == 0 { PeerFault::IdentityChanged } else { PeerFault::SpectatorWrote };
            assert_eq!(fault, [expected], "lie {lie}");
        }
        assert_eq!(world.session(0).roster().len(), 2);
        assert_eq!(world.session(1).authority(id), Some(player(0)));
    }
}
