//! One golden vector for every message about membership and every message of a transfer.
//! Absent: packets of the running game.

use gaggle_kit::{Frame, PeerId, Slot, SlotSet};
use gaggle_testkit::protocol_reader::{fields_of, list, or_null};

use crate::config::{PeerSlots, Quorum, TimelineConfig};
use crate::lifecycle::Lifecycle;
use crate::membership::held::{EntryControl, Join};
use crate::membership::{
    self, Ballot, EntryRange, Feed, History, JoinContext, Known, Lineage, MatchId, PeerStatus, Proposal,
    Report, Told, View,
};
use crate::packet::tests::{hex, slot_fields};
use crate::roster::{Incarnation, RosterEntry, StreamId};
use crate::transfer::{self, Decline, Offer};

fn stream(peer: u128) -> StreamId {
    StreamId { peer: PeerId::from_u128(peer), incarnation: Incarnation(0xa0b0_c000 + peer as u32) }
}

fn row(peer: u128, last: Frame) -> RosterEntry {
    let slots = SlotSet::of(Slot::at(peer as usize - 1));
    RosterEntry { stream: stream(peer), slots, first_frame: Frame::new(1), last_frame: last }
}

fn ballot() -> Ballot {
    Ballot { number: 5, by: stream(2) }
}

/// The view two machines made after a third fell silent at frame 0x0143.
fn told() -> Told {
    let game = MatchId { started_at: 0x1122_3344, nonce: 0x5566_7788 };
    let founding = View::founding(game, (1..=3).map(|peer| row(peer, Frame::NEVER)).collect());
    let rows = vec![row(1, Frame::new(0x0143)), row(2, Frame::NEVER), row(3, Frame::NEVER)];
    let view = View::new(game, founding.history, ballot(), rows, 2, false);
    let mut lineage = Lineage::founded(game, founding.link());
    lineage.push(view.link());
    Told { tip: lineage.tip(), view }
}

/// The view three peers start a match with.
fn founding() -> Told {
    let game = MatchId { started_at: 0x1122_3344, nonce: 0x5566_7788 };
    let view = View::founding(game, (1..=3).map(|peer| row(peer, Frame::NEVER)).collect());
    Told { tip: Lineage::founded(game, view.link()).tip(), view }
}

fn tails() -> Vec<EntryRange> {
    let mut tail = EntryRange::from(stream(3), Frame::new(0x0142));
    tail.push(&[7], EntryControl::NONE);
    tail.push(
        &[7],
        EntryControl { join: Some(Join { stream: stream(4), slots: SlotSet::of(Slot::at(0)) }), end: false },
    );
    vec![tail]
}

fn spectator_status() -> PeerStatus {
    PeerStatus {
        tip: told().tip,
        incarnation: stream(4).incarnation,
        first: None,
        players: 0,
        wanted: SlotSet::EMPTY,
        knows: None,
    }
}

fn about_membership() -> Vec<(membership::Message, &'static str)> {
    use membership::Message;
    let status = PeerStatus {
        tip: told().tip,
        incarnation: stream(2).incarnation,
        first: Some(Frame::new(1)),
        players: 1,
        wanted: SlotSet::of(Slot::at(1)),
        knows: Some(Known { incarnation: stream(3).incarnation, first: Frame::new(1) }),
    };
    let report = Report {
        ballot: ballot(),
        incarnation: stream(3).incarnation,
        told: told(),
        rows: told().view.rows,
        confirmed: Frame::new(0x0141),
        tails: tails(),
        accepted: Some(Proposal { ballot: ballot(), told: told(), tails: tails() }),
    };
    let incarnation = stream(3).incarnation;
    vec![
        (Message::PeerStatus { tag: 3, status }, include_str!("../vectors/standing.hex")),
        (
            Message::PeerStatus { tag: 4, status: spectator_status() },
            include_str!("../vectors/status_spectator.hex"),
        ),
        (Message::AskPath, include_str!("../vectors/ask_path.hex")),
        (Message::Path(told().tip), include_str!("../vectors/path.hex")),
        (
            Message::Collect { tip: told().tip, ballot: ballot(), circle: vec![stream(2), stream(3)] },
            include_str!("../vectors/collect.hex"),
        ),
        (Message::Report(Box::new(report)), include_str!("../vectors/report.hex")),
        (Message::Nack { incarnation, promised: ballot() }, include_str!("../vectors/nack.hex")),
        (Message::Gone { incarnation }, include_str!("../vectors/gone.hex")),
        (Message::View { told: told(), at: ballot(), tails: tails() }, include_str!("../vectors/view.hex")),
        (
            Message::Accept { told: told(), ballot: ballot(), tails: tails() },
            include_str!("../vectors/accept.hex"),
        ),
        (Message::Accepted { incarnation, ballot: ballot() }, include_str!("../vectors/accepted.hex")),
        (Message::AskSnapshot, include_str!("../vectors/ask_snapshot.hex")),
        (
            Message::View { told: founding(), at: Ballot::FOUNDING, tails: Vec::new() },
            include_str!("../vectors/founding.hex"),
        ),
    ]
}

fn of_transfers() -> Vec<(transfer::Message<'static>, &'static str)> {
    use transfer::Message;
    let confirmed = Frame::new(0x0143);
    let join_context = JoinContext { told: told(), rows: told().view.rows, confirmed, tails: tails() };
    let (number, state_bytes) = (9, 3);
    let (state_hash, inputs_hash) = (0x0102_0304_0506_0708, 0x1112_1314_1516_1718);
    let offer = Offer { number, state_bytes, state_hash, inputs_hash, join_context };
    let (history, view) = (told().view.history, Some(told()));
    let feed = Feed { history, told: view, confirmed, tails: tails() };
    vec![
        (Message::Offer(Box::new(offer)), include_str!("../vectors/offer.hex")),
        (Message::Piece { number, bytes: &[1, 2, 3] }, include_str!("../vectors/piece.hex")),
        (Message::Packed { number, bytes: &[0x30, 1, 2, 3] }, include_str!("../vectors/packed.hex")),
        (Message::Got { number, bytes: 3 }, include_str!("../vectors/got.hex")),
        (Message::Decline(Decline::TooOld), include_str!("../vectors/decline.hex")),
        (Message::Feed(Box::new(feed)), include_str!("../vectors/feed.hex")),
        (
            Message::AskFeed { from: confirmed, known: History(0x2122_2324_2526_2728), depth: 1 },
            include_str!("../vectors/ask_feed.hex"),
        ),
        (Message::Enough, include_str!("../vectors/enough.hex")),
        (
            Message::Forward { to: PeerId::from_u128(3), bytes: &[0x11] },
            include_str!("../vectors/letter.hex"),
        ),
        (
            Message::ForwardFrom { from: PeerId::from_u128(3), bytes: &[0x11] },
            include_str!("../vectors/letter_from.hex"),
        ),
    ]
}

/// Checks that every truncation is an error, unless the last bytes are optional.
fn check(bytes: &[u8], vector: &str, open_ended: usize, decodes: impl Fn(&[u8]) -> bool) {
    assert_eq!(bytes, hex(vector), "{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    for length in 0..bytes.len() - open_ended {
        assert!(!decodes(&bytes[..length]), "{length} of {} bytes", bytes.len());
    }
}

#[test]
fn fingerprints_match_their_vector() {
    let config = TimelineConfig {
        quorum: Quorum::Majority,
        quorum_min: 2,
        slot_count: 4,
        ..TimelineConfig::rollback(8)
    };
    let settings = [60, 8, 60, 15, 4, 2, 1, 2_u64];
    let id = MatchId { started_at: 1_800_000_000, nonce: 0x9e37_79b9_7f4a_7c15 };
    let mut life = Lifecycle::default();
    let seats = [
        PeerSlots::new(PeerId::from_u128(2), Slot::at(0)),
        PeerSlots { peer: PeerId::from_u128(1), slots: SlotSet::from_bits(0b110) },
    ];
    life.gather(&seats);
    let mut bytes: Vec<u8> = settings.iter().flat_map(|part| part.to_le_bytes()).collect();
    bytes.extend(config.settings_fingerprint::<u16>(4).to_le_bytes());
    bytes.extend([id.started_at.to_le_bytes(), id.nonce.to_le_bytes()].concat());
    bytes.push(2);
    for seat in seats.iter().rev() {
        bytes.extend(seat.peer.as_bytes());
        bytes.extend(seat.slots.bits().to_le_bytes());
    }
    bytes.extend(life.cohort(id).to_le_bytes());
    check(&bytes, include_str!("../vectors/fingerprints.hex"), bytes.len(), |_| false);
}

/// Fields of a status in the words of tools/protocol-reader.
fn status_fields(tag: u8, status: &PeerStatus) -> String {
    let known = |known: Known| list([known.incarnation.0, known.first.number()]);
    let links =
        status.tip.links.iter().map(|link| {
            format!("[{},{},{},{},{}]", link.history.0, link.by, link.number, link.size, link.stale)
        });
    let game = list([status.tip.game.started_at, status.tip.game.nonce]);
    let tip = format!(r#"{{"match":{game},"depth":{},"links":{}}}"#, status.tip.depth, list(links));
    format!(
        r#"["Status",{tag},{},{},{},{},{},{tip}]"#,
        or_null(status.first.map(Frame::number)),
        status.incarnation.0,
        status.players,
        slot_fields(status.wanted),
        or_null(status.knows.map(known))
    )
}

#[test]
fn statuses_have_fields_found_by_reader() {
    let vectors = [
        ("standing", include_str!("../vectors/standing.hex")),
        ("status_spectator", include_str!("../vectors/status_spectator.hex")),
    ];
    for (name, vector) in vectors {
        let message = membership::Message::decode(&hex(vector)).expect("a whole message");
        let membership::Message::PeerStatus { tag, status } = message else { panic!("{message:?}") };
        let found = fields_of(&format!("core/gaggle-timeline/vectors/{name}.hex"));
        assert_eq!(status_fields(tag, &status), found);
    }
}

#[test]
fn membership_messages_match_vectors_and_round_trip() {
    for (message, vector) in about_membership() {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        check(&bytes, vector, 0, |bytes| membership::Message::decode(bytes).is_ok());
        assert_eq!(membership::Message::decode(&bytes), Ok(message));
    }
}

#[test]
fn transfer_messages_match_vectors_and_round_trip() {
    for (message, vector) in of_transfers() {
        use transfer::Message;
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        let open_ended = match &message {
            Message::Piece { bytes, .. }
            | Message::Packed { bytes, .. }
            | Message::Forward { bytes, .. }
            | Message::ForwardFrom { bytes, .. } => bytes.len(),
            _ => 0,
        };
        check(&bytes, vector, open_ended, |bytes| Message::decode(bytes).is_ok());
        assert_eq!(Message::decode(&bytes), Ok(message));
    }
}
