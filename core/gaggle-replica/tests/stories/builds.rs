//! Tests of two builds of a game that meet: they play together if and only if their schemas mean
//! the same.

use gaggle_kit::{Input, Micros, PeerId, Slot, State};
use gaggle_replica::{
    AuthorityPolicy, EventOptions, Field, JoinMode, Kind, Kinds, RejectReason, ReplicaConfig, SchemaPart,
    Session, SessionEvent, ValueWriter,
};

#[derive(Kind)]
#[kind(name = "boat")]
struct Boat {
    load: u32,
    gear: Gear,
}

#[derive(Field)]
enum Gear {
    Forward,
    Reverse,
}

#[derive(Clone, State)]
struct Splash {
    x: u16,
    y: u16,
}

#[derive(Clone, State)]
struct Score {
    won: u16,
    lost: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Input)]
struct Pad {
    stick: (i8, i8),
}

/// The types of another build, changed in meaning: byte count and valid bytes stay the same.
mod changed {
    use super::*;

    #[derive(Kind)]
    #[kind(name = "boat")]
    pub(super) struct Boat {
        load: u32,
        gear: Gear,
    }

    #[derive(Field)]
    pub(super) enum Gear {
        Reverse,
        Forward,
    }

    #[derive(Clone, State)]
    pub(super) struct Splash {
        x: u16,
        y: i16,
    }

    #[derive(Clone, State)]
    pub(super) struct Score {
        lost: u16,
        won: u16,
    }

    #[derive(Clone, Copy, PartialEq, Eq, Default, Input)]
    pub(super) struct Pad {
        stick: (u8, i8),
    }
}

#[derive(Kind)]
struct Duck {
    age: u8,
}

fn kinds<K: Kind, S: State + 'static, V: State + 'static, I: Input>() -> Kinds {
    Kinds::new()
        .with::<K>()
        .with::<Duck>()
        .with_event::<S>("splash", EventOptions::DIRECT)
        .with_value::<V>("score", ValueWriter::Leader)
        .with_input::<I>()
}

/// The events of two peers that meet.
fn meet(kinds: [Kinds; 2], configs: [ReplicaConfig; 2]) -> [Vec<SessionEvent>; 2] {
    let mut player = 0_u8;
    let mut sessions = kinds.into_iter().zip(configs).map(|(kinds, config)| {
        player += 1;
        let entry = if player == 1 { JoinMode::Create } else { JoinMode::Join };
        Session::new(config, kinds, Slot::at(player.into()), entry, player.into()).expect("valid settings")
    });
    let mut both = [(); 2].map(|()| sessions.next().expect("two sessions"));
    let peers = [1, 2].map(PeerId::from_u128);
    both[0].handle_connected(Micros::ZERO, peers[1]);
    both[1].handle_connected(Micros::ZERO, peers[0]);
    for _ in 0..8 {
        let mut under_way = Vec::new();
        for (from, session) in both.iter_mut().enumerate() {
            while let Some(out) = session.poll_transmit() {
                under_way.extend(out.reliable.then(|| (from, out.bytes.to_vec())));
            }
        }
        for (from, bytes) in under_way {
            both[1 - from].handle_message(Micros::ZERO, peers[from], &bytes);
        }
    }
    both.map(|mut session| std::iter::from_fn(|| session.poll_event()).collect())
}

fn refused(events: &[SessionEvent]) -> Vec<RejectReason> {
    let reason = |event: &SessionEvent| match event {
        SessionEvent::Rejected { reason, .. } => Some(*reason),
        _ => None,
    };
    events.iter().filter_map(reason).collect()
}

#[test]
fn builds_with_different_schema_reject_each_other() {
    let ours = kinds::<Boat, Splash, Score, Pad>;
    let same = ReplicaConfig::default;
    let policy = || ReplicaConfig { authority: AuthorityPolicy::Anyone, ..same() };
    let interval = || ReplicaConfig { send_interval: Micros::from_millis(25), ..same() };
    let game = || ReplicaConfig { game_fingerprint: 7, ..same() };
    let cases = [
        (kinds::<changed::Boat, Splash, Score, Pad>(), same(), SchemaPart::Kind("boat"), "the kind `boat`"),
        (
            kinds::<Boat, changed::Splash, Score, Pad>(),
            same(),
            SchemaPart::Event("splash"),
            "the remote event `splash`",
        ),
        (
            kinds::<Boat, Splash, changed::Score, Pad>(),
            same(),
            SchemaPart::Value("score"),
            "the value `score`",
        ),
        (kinds::<Boat, Splash, Score, changed::Pad>(), same(), SchemaPart::Input, "inputs"),
        (ours(), policy(), SchemaPart::Authority, "the policy"),
        (ours(), interval(), SchemaPart::Interval, "the interval"),
        (ours(), game(), SchemaPart::Game, "the game's fingerprint"),
    ];
    for (theirs, config, part, words) in cases {
        let seen = meet([ours(), theirs], [same(), config]);
        for events in seen {
            assert_eq!(refused(&events), [RejectReason::SchemaMismatch { part }]);
            let said = RejectReason::SchemaMismatch { part }.to_string();
            assert!(said.contains(words), "{said}");
            assert!(!events.iter().any(|event| matches!(event, SessionEvent::Joined { .. })));
        }
    }
}

#[test]
fn builds_with_same_schema_play_together() {
    let both = [kinds::<Boat, Splash, Score, Pad>(), kinds::<Boat, Splash, Score, Pad>()];
    for events in meet(both, [ReplicaConfig::default(), ReplicaConfig::default()]) {
        assert_eq!(refused(&events), []);
        assert!(events.iter().any(|event| matches!(event, SessionEvent::Joined { .. })));
    }
}

#[test]
fn build_with_extra_kind_is_named_by_peer_that_knows_it() {
    let more = || kinds::<Boat, Splash, Score, Pad>();
    let less = || Kinds::new().with::<Boat>();
    let [ours, theirs] = meet([more(), less()], [ReplicaConfig::default(), ReplicaConfig::default()]);
    assert_eq!(refused(&ours), [RejectReason::SchemaMismatch { part: SchemaPart::Kind("Duck") }]);
    assert!(matches!(
        refused(&theirs)[..],
        [RejectReason::Game { .. } | RejectReason::SchemaMismatch { .. }]
    ));
    let turned = || Kinds::new().with::<Duck>().with::<Boat>();
    let straight = || Kinds::new().with::<Boat>().with::<Duck>();
    let [ours, theirs] = meet([turned(), straight()], [ReplicaConfig::default(), ReplicaConfig::default()]);
    assert_eq!(
        refused(&ours),
        [RejectReason::SchemaMismatch { part: SchemaPart::Kind("Duck") }],
        "the same kinds in another order"
    );
    assert_eq!(refused(&theirs), [RejectReason::SchemaMismatch { part: SchemaPart::Kind("boat") }]);
}
