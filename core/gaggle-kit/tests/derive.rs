//! Output of the derives, as seen from another crate.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytemuck::{Pod, Zeroable};
use gaggle_kit::{
    DecodeError, Frame, Input, PeerId, Prng, Slot, SlotSet, State, StateHasher, decode_state, diff,
    encode_state, state_hash,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable, State)]
#[repr(C)]
#[state(pod)]
struct Rider {
    position: [i32; 2],
    #[state(range = -8..=8)]
    speed: i16,
    kind: u16,
    random: Prng,
}

/// The same fields without `pod`: both must have the same encoding.
#[derive(Debug, Clone, PartialEq, Eq, State)]
struct SlowRider {
    position: [i32; 2],
    speed: i16,
    kind: u16,
    random: Prng,
}

#[derive(Debug, Clone, PartialEq, Eq, State)]
enum Phase {
    Lobby,
    Playing { wave: u8, since: Frame },
    Over(Option<Slot>, String),
}

#[derive(Debug, Clone, PartialEq, Eq, State)]
struct World<T> {
    phase: Phase,
    #[state(max = 4)]
    riders: Vec<Rider>,
    #[state(range = 1..=3)]
    dice: [u8; 2],
    seats: SlotSet,
    owners: BTreeMap<u8, PeerId>,
    seen: BTreeSet<u16>,
    queue: VecDeque<(bool, i64)>,
    extra: T,
    #[state(skip)]
    cache: Vec<u32>,
}

fn rider(speed: i16) -> Rider {
    Rider { position: [-1, 0x0102_0304], speed, kind: 7, random: Prng::new(1) }
}

fn world() -> World<char> {
    World {
        phase: Phase::Playing { wave: 3, since: Frame::new(600) },
        riders: vec![rider(-8), rider(8)],
        dice: [1, 3],
        seats: SlotSet::from_bits(0b101),
        owners: [(2, PeerId::from_u128(9)), (1, PeerId::from_u128(8))].into(),
        seen: [500, 2].into(),
        queue: [(true, -1), (false, 1)].into(),
        extra: 'ß',
        cache: vec![1, 2, 3],
    }
}

#[test]
fn state_survives_encoding_except_skipped_fields() {
    let original = world();
    let bytes = encode_state(&original);
    let copy: World<char> = decode_state(&bytes).unwrap();
    assert_eq!(copy, World { cache: Vec::new(), ..original.clone() });
    assert_eq!(state_hash(&copy), state_hash(&original));
    assert_eq!(state_hash(&original), StateHasher::of(&bytes));
    assert_eq!(diff(&original, &copy), Vec::<String>::new());
}

/// Encoding and hash: changing either changes the protocol.
#[test]
fn encoding_and_hash_are_golden() {
    let bytes = encode_state(&world());
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let expected = [
        "01 03 58020000", // phase: Playing, wave, since
        "02",             // riders
        // position, speed, kind, random
        "ffffffff 04030201 f8ff 0700 c15c0289ec2d0a9167ec8e65a18debbe",
        "ffffffff 04030201 0800 0700 c15c0289ec2d0a9167ec8e65a18debbe",
        "01 03",            // dice
        "0500000000000000", // seats
        // owners
        "02 01 00000000000000000000000000000008 02 00000000000000000000000000000009",
        "02 0200 f401",                               // seen
        "02 01 ffffffffffffffff 00 0100000000000000", // queue
        "df000000",                                   // extra
    ];
    assert_eq!(hex, expected.concat().replace(' ', ""));
    assert_eq!(state_hash(&world()), 0xd7b7_b4ff_2df4_49b9);
}

#[test]
fn hash_covers_last_of_many_elements_like_first() {
    let riders = vec![rider(5); 1_000];
    let hash = state_hash(&riders);
    for nth in [0, 1, 7, 500, 998, 999] {
        let mut others = riders.clone();
        others[nth].kind ^= 1;
        assert_ne!(state_hash(&others), hash, "rider {nth} of 1,000 differs by a bit");
    }
}

#[test]
fn pod_and_field_by_field_encodings_are_equal() {
    let Rider { position, speed, kind, random } = rider(5);
    let slow = SlowRider { position, speed, kind, random };
    assert_eq!(encode_state(&rider(5)), encode_state(&slow));
    assert_eq!(state_hash(&vec![rider(5); 3]), state_hash(&vec![slow; 3]));
    assert_eq!(decode_state::<[Rider; 2]>(&encode_state(&[rider(1), rider(2)])), Ok([rider(1), rider(2)]));
}

#[test]
fn decode_errors_name_their_field() {
    let check = |change: &dyn Fn(&mut World<char>), expected: &str| {
        let mut wrong = world();
        change(&mut wrong);
        let refusal = decode_state::<World<char>>(&encode_state(&wrong)).unwrap_err();
        assert_eq!(refusal.to_string(), expected);
    };
    check(&|w| w.riders[1].speed = 9, "Rider.speed is 9, but may only be -8 to 8");
    check(&|w| w.riders = vec![rider(0); 5], "5 World.riders announced, at most 4 are allowed");
    check(&|w| w.dice[1] = 0, "World.dice is 0, but may only be 1 to 3");
    check(&|w| w.riders[0].random = Zeroable::zeroed(), "Prng has no meaning: 0");

    let unknown = DecodeError::Unknown { what: "Phase", value: 3 };
    assert_eq!(decode_state::<Phase>(&[3]), Err(unknown));
    let slot = DecodeError::OutOfRange { what: "slot", value: 64, min: 0, max: 63 };
    assert_eq!(decode_state::<Phase>(&[2, 1, 64]), Err(slot));
    let not_text = DecodeError::InvalidUtf8 { what: "Phase::Over.1", position: 1 };
    assert_eq!(decode_state::<Phase>(&[2, 0, 2, b'a', 0xff]), Err(not_text));
    let truncated = DecodeError::Truncated { what: "Phase::Playing.since", needed: 4, left: 1 };
    assert_eq!(decode_state::<Phase>(&[1, 0, 0]), Err(truncated));
}

#[test]
fn maps_and_sets_have_one_order() {
    assert_eq!(decode_state::<BTreeSet<u8>>(&[2, 1, 2]), Ok([1, 2].into()));
    for bytes in [[2, 2, 1], [2, 1, 1]] {
        let refusal = decode_state::<BTreeSet<u8>>(&bytes).unwrap_err();
        assert_eq!(refusal, DecodeError::NotCanonical { what: DecodeError::UNNAMED });
    }
}

#[test]
fn differences_are_reported_by_name() {
    let ours = world();
    let mut theirs = world();
    theirs.phase = Phase::Over(None, String::new());
    theirs.riders[1].position[0] = 4;
    theirs.riders.push(rider(0));
    theirs.owners.remove(&1);
    theirs.seen.insert(3);
    theirs.queue[0].1 = 5;
    theirs.extra = 's';
    theirs.cache.clear();
    assert_eq!(
        diff(&ours, &theirs),
        [
            "phase: Playing vs Over",
            "riders.len(): 2 vs 3",
            "riders[1].position[0]: -1 vs 4",
            "owners[1]: present vs absent",
            "seen[3]: absent vs present",
            "queue[0].1: -1 vs 5",
            "extra: 'ß' vs 's'",
        ]
    );
    let (ours, theirs) = (Phase::Over(None, "a".into()), Phase::Over(Some(Slot::at(1)), "b".into()));
    assert_eq!(diff(&ours, &theirs), ["0: None vs Some", "1: \"a\" vs \"b\""]);
}

#[test]
fn copying_keeps_allocations() {
    let mut target = world();
    target.riders.reserve_exact(100);
    target.phase = Phase::Over(None, String::with_capacity(64));
    let (riders, cache) = (target.riders.as_ptr(), target.cache.as_ptr());

    let mut source = world();
    source.riders[0].kind = 99;
    source.cache = vec![7];
    source.phase = Phase::Over(Some(Slot::at(2)), "draw".to_owned());
    target.copy_from(&source);
    assert_eq!(target, source);
    assert_eq!((target.riders.as_ptr(), target.cache.as_ptr()), (riders, cache));
    assert!(matches!(&target.phase, Phase::Over(_, text) if text.capacity() == 64));

    source.phase = Phase::Lobby;
    source.riders = vec![rider(1); 50];
    target.copy_from(&source);
    assert_eq!(target, source);
    assert_eq!(target.riders.as_ptr(), riders);
}

mod elsewhere {
    pub(crate) use gaggle_kit as kit;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Input)]
#[state(crate = crate::elsewhere::kit)]
#[input(crate = crate::elsewhere::kit)]
struct Renamed(u8);

#[test]
fn kit_can_be_reexported() {
    assert_eq!(decode_state(&encode_state(&Renamed(7))), Ok(Renamed(7)));
    assert_eq!(Renamed::read(&[7]), Ok(Renamed(7)));
}

#[derive(Debug, Clone, PartialEq, State)]
struct Tree {
    children: Vec<Tree>,
}

#[test]
fn nested_bytes_cannot_exhaust_stack() {
    let mut bytes = vec![1; 64];
    *bytes.last_mut().unwrap() = 0;
    assert!(decode_state::<Tree>(&bytes).is_ok());
    let deep = vec![1; 1_000_000];
    let refusal = DecodeError::CountTooLarge { what: "levels", count: 65, max: 64 };
    assert_eq!(decode_state::<Tree>(&deep), Err(refusal));
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Input)]
struct Pad {
    #[input(range = -1..=1)]
    steer: i8,
    #[input(one_shot)]
    taps: [bool; 2],
    #[input(one_shot = 0b01)]
    buttons: u16,
    order: Order,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Input)]
enum Order {
    #[default]
    None,
    Go(u8, u16),
    #[input(one_shot)]
    Fire {
        power: u8,
    },
}

#[test]
fn inputs_have_one_encoding_of_fixed_size() {
    assert_eq!((Order::SIZE, Pad::SIZE), (4, 9));
    let check = |order: Order, expected: [u8; 4]| {
        let mut bytes = [0xaa; 4];
        order.write(&mut bytes);
        assert_eq!(bytes, expected);
        assert_eq!(Order::read(&bytes), Ok(order));
    };
    check(Order::None, [0, 0, 0, 0]);
    check(Order::Go(1, 0x0203), [1, 1, 3, 2]);
    check(Order::Fire { power: 9 }, [2, 9, 0, 0]);

    assert_eq!(Order::read(&[0, 0, 1, 0]), Err(DecodeError::NotCanonical { what: "Order" }));
    assert_eq!(Order::read(&[3, 0, 0, 0]), Err(DecodeError::Unknown { what: "Order", value: 3 }));
    assert_eq!(Order::read(&[0; 3]), Err(DecodeError::Truncated { what: "Order", needed: 4, left: 3 }));
    assert_eq!(Order::read(&[0; 5]), Err(DecodeError::TrailingBytes { what: "Order", left: 1 }));
    let steer = DecodeError::OutOfRange { what: "Pad.steer", value: 2, min: -1, max: 1 };
    assert_eq!(Pad::read(&[2, 0, 0, 0, 0, 0, 0, 0, 0]), Err(steer));
    let taps = DecodeError::Unknown { what: "Pad.taps", value: 2 };
    assert_eq!(Pad::read(&[0, 0, 2, 0, 0, 0, 0, 0, 0]), Err(taps));
}

#[test]
fn one_shot_presses_count_once_and_held_buttons_continue() {
    let pressed = Pad { steer: 1, taps: [true, false], buttons: 0b11, order: Order::Fire { power: 1 } };
    let released = Pad::default();
    let merged = Pad::merge(pressed, released);
    assert_eq!(merged, Pad { steer: 0, taps: [true, false], buttons: 0b01, order: Order::Fire { power: 1 } });
    assert_eq!(Pad::merge(released, pressed), pressed);
    assert_eq!(pressed.repeat(), Pad { steer: 1, taps: [false; 2], buttons: 0b10, order: Order::None });

    assert_eq!(Order::merge(Order::Go(1, 2), Order::None), Order::None);
    assert_eq!(Order::merge(Order::Fire { power: 1 }, Order::Fire { power: 2 }), Order::Fire { power: 2 });
    assert_eq!(Order::Go(1, 2).repeat(), Order::Go(1, 2));
}

#[test]
fn press_in_two_samples_begins_in_first() {
    let pressed = Pad { steer: 1, taps: [true, false], buttons: 0b11, order: Order::Fire { power: 1 } };
    assert_eq!(pressed.begun_since(Pad::default()), pressed);
    assert_eq!(pressed.begun_since(pressed), pressed.repeat());
    // Other keys change, and those that are held stay so.
    let more = Pad { steer: -1, taps: [true, true], ..pressed };
    let begun = Pad { steer: -1, taps: [false, true], buttons: 0b10, order: Order::None };
    assert_eq!(more.begun_since(pressed), begun);
    assert_eq!((more, 7_u8).begun_since((pressed, 7)), (begun, 7));
    assert_eq!([more, pressed].begun_since([pressed, more]), [begun, pressed.repeat()]);
    let (weak, strong) = (Order::Fire { power: 1 }, Order::Fire { power: 2 });
    assert_eq!((strong.begun_since(weak), strong.begun_since(strong)), (strong, Order::None));
    assert_eq!(Order::Go(1, 2).begun_since(Order::Go(1, 2)), Order::Go(1, 2));
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Input)]
struct Hand {
    #[input(new_player)]
    fresh: bool,
    held: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Input)]
enum Turn {
    #[default]
    Pass,
    Play {
        hands: [Hand; 2],
        bid: (u8, Hand),
    },
}

#[test]
fn new_player_mark_reaches_marked_fields() {
    let (hand, fresh) = (Hand { fresh: false, held: true }, Hand { fresh: true, held: true });
    assert_eq!((hand.mark_new_player(), fresh.mark_new_player()), (fresh, fresh));
    assert_eq!(fresh.repeat(), fresh, "in marked fields");
    assert_eq!(Hand::merge(fresh, hand), hand);
    let play = |hand| Turn::Play { hands: [hand; 2], bid: (7, hand) };
    assert_eq!((play(hand).mark_new_player(), Turn::Pass.mark_new_player()), (play(fresh), Turn::Pass));
    assert_eq!((0x5a_u8.mark_new_player(), true.mark_new_player(), ().mark_new_player()), (0x5a, true, ()));
}
