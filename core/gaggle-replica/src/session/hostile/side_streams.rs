//! Peers that send false events and values. Absent: objects.

use super::*;

#[test]
fn event_or_value_in_name_of_another_causes_fault() {
    let mut world = world(3, AuthorityPolicy::Leader);
    let tag = world.session(1).local_member().tag.0;
    say(&mut world, &Message::RemoteEvent(bang(1, tag)));
    assert_eq!(faults(&world, 0), [PeerFault::Impersonation]);

    let mut world = self::world(3, AuthorityPolicy::Leader);
    let writer = liar(&mut world).local_member();
    let value = ValueMessage { player: player(1), key: 0, rev: 3, writer, bytes: &[5] };
    say(&mut world, &Message::Value(value));
    assert_eq!(faults(&world, 0), [PeerFault::Impersonation]);

    let mut world = self::world(3, AuthorityPolicy::Leader);
    say(&mut world, &Message::RemoteEvent(SignalMessage { kind: 9, ..bang(2, 0) }));
    assert_eq!(faults(&world, 0), [PeerFault::UnknownEvent]);
}

#[test]
fn value_of_another_writer_is_not_taken() {
    let mut world = world(3, AuthorityPolicy::Leader);
    let writer = liar(&mut world).local_member();
    // Only the leader may write the value: another peer's is ignored once the leader has sent one.
    world.session(0).set_value(player(2), &Score(3)).unwrap();
    say(
        &mut world,
        &Message::Value(ValueMessage { player: player(2), key: 1, rev: 50, writer, bytes: &[99] }),
    );
    world.run_ms(300);
    for index in 0..2 {
        assert_eq!(world.session(index).value(player(2)), Some(Score(3)), "at {index}");
    }
    // In the name of a present member: only that member may report its value.
    let writer = world.session(1).local_member();
    say(
        &mut world,
        &Message::Value(ValueMessage { player: player(1), key: 0, rev: 50, writer, bytes: &[99] }),
    );
    assert_eq!(world.session(0).value::<Name>(player(1)), None);
    // In the name of a member that left long ago, with an impossible count.
    let writer = MemberId { join_order: 9, tag: MemberTag(9) };
    let value = ValueMessage { player: player(9), key: 0, rev: u32::MAX, writer, bytes: &[99] };
    say(&mut world, &Message::Value(value));
    assert_eq!(world.session(0).value::<Name>(player(9)), None);
    world.expect_peace();
}

#[test]
fn value_of_invented_writer_is_contradicted() {
    let mut world = world(3, AuthorityPolicy::Leader);
    world.session(0).set_value(player(2), &Score(3)).unwrap();
    world.session(1).set_value(player(1), &Name(7)).unwrap();
    world.run_ms(2_000);
    let writer = MemberId { join_order: 5, tag: MemberTag(0xdead) };
    for rev in 2..40 {
        for key in [0, 1] {
            let player = player(2 - usize::from(key == 0));
            let value = ValueMessage { player, key, rev, writer, bytes: &[99] };
            for told in 0..2 {
                say_to(&mut world, told, &Message::Value(value));
            }
        }
        world.run_ms(20);
    }
    for index in 0..3 {
        assert_eq!(world.session(index).value(player(2)), Some(Score(3)), "at {index}");
        assert_eq!(world.session(index).value(player(1)), Some(Name(7)), "at {index}");
    }
    // The rate limit leaves room for the next value after the correction.
    world.session(0).set_value(player(2), &Score(4)).unwrap();
    world.session(1).set_value(player(1), &Name(8)).unwrap();
    world.run_ms(200);
    for index in 0..3 {
        assert_eq!(world.session(index).value(player(2)), Some(Score(4)), "at {index}");
        assert_eq!(world.session(index).value(player(1)), Some(Name(8)), "at {index}");
    }
    world.expect_peace();
}

#[test]
fn endless_relayed_values_are_rate_limited() {
    let mut world = world(4, AuthorityPolicy::Anyone);
    world.run_ms(2_000);
    let refused = world.session(0).stats().records_rejected;
    let writer = MemberId { join_order: 5, tag: MemberTag(0xdead) };
    for number in 0..20_000_u32 {
        let (player, rev) = (player(10 + number as usize % 200), 1 + number / 200);
        let value = ValueMessage { player, key: 0, rev, writer, bytes: &[number as u8] };
        say(&mut world, &Message::Value(value));
    }
    assert!(world.session(0).stats().records_rejected - refused > 17_000);
}

#[test]
fn event_flood_is_cut_off_and_counted() {
    let mut world = world(3, AuthorityPolicy::Leader);
    let tag = liar(&mut world).local_member().tag.0;
    for _ in 0..5_000 {
        say(&mut world, &Message::RemoteEvent(bang(2, tag)));
    }
    let heard = std::iter::from_fn(|| world.session(0).poll_remote_event()).count();
    assert!(heard <= 512 && world.session(0).stats().remote_events_dropped >= 4_400, "{heard} heard");
}
