//! Donors that lie to joiners, and joiners that never join.

use gaggle_kit::{Frame, Micros, PeerId, Slot, SlotSet, StateHasher, compress, decompress};

use super::{Cluster, Mail, config, peer, reword};
use crate::event::{PeerFault, SessionEvent};
use crate::membership::{self, EntryControl, EntryRange, Feed, MatchId, View};
use crate::packet::Packet;
use crate::roster::Incarnation;
use crate::session::Session;
use crate::transfer::{Message, Offer, PIECE_BYTES, STATE_BYTES_MAX};

/// Changes the offers of a snapshot.
pub(super) fn offers(lie: impl Fn(&mut Offer) + 'static) -> super::Tamper {
    Box::new(move |_, mut mail| {
        for mail in mail.iter_mut().filter(|mail| mail.reliable) {
            let bytes = mail.bytes.clone();
            if let Ok(Message::Offer(mut offer)) = Message::decode(&bytes) {
                lie(&mut offer);
                mail.bytes.clear();
                Message::Offer(offer).encode(&mut mail.bytes);
            }
        }
        mail
    })
}

/// Adds a joiner that at first has a link only to the liar, then to all.
fn join_by_the_liar(table: &mut Cluster) -> usize {
    let joiner = table.run(60).join(&[2]);
    table.run(150);
    assert!(!table.session(joiner).is_member(), "{}", table.describe());
    table.link(joiner, 0);
    table.link(joiner, 1);
    table.run_until("it plays all the same", 600, |t| t.session(joiner).is_member());
    table.run(120);
    joiner
}

#[test]
fn snapshot_other_than_announced_is_fault() {
    let lies: [fn(&mut Offer); 2] = [|offer| offer.state_hash ^= 1, |offer| offer.state_bytes -= 1];
    for lie in lies {
        let mut table = Cluster::of(3, 2);
        table.tamper = offers(lie);
        let joiner = join_by_the_liar(&mut table);
        table.expect_fault(&[joiner], |fault| matches!(fault, PeerFault::SnapshotMismatch));
        table.expect_agreement(&[0, 1, joiner], 300).expect_no_fault(&[0, 1]);
        assert_eq!(table.stalled[..2], [0, 0]);
    }
}

#[test]
fn overlong_snapshot_claims_no_memory() {
    let mut table = Cluster::of(3, 2);
    // More than will ever arrive, but within the limit of a state: no memory is reserved for it.
    table.tamper = offers(|offer| offer.state_bytes = 60 << 20);
    let joiner = join_by_the_liar(&mut table);
    table.expect_agreement(&[0, 1, 2, joiner], 300).expect_no_fault(&[0, 1, joiner]);

    let mut table = Cluster::of(3, 2);
    table.tamper = offers(|offer| offer.state_bytes = u64::MAX);
    let joiner = join_by_the_liar(&mut table);
    table.expect_fault(&[joiner], |fault| matches!(fault, PeerFault::Malformed(_)));
}

/// Sends a forged snapshot; its other messages are correct.
pub(super) fn forged(state: fn(Vec<u8>) -> Vec<u8>) -> super::Tamper {
    Box::new(move |session, mail| {
        let mut said = Vec::new();
        for Mail { to, reliable, bytes } in mail {
            match Message::decode(&bytes) {
                Ok(Message::Offer(mut offer)) if reliable => {
                    let given = state(session.donor.transfer().unwrap_or_default());
                    offer.state_bytes = given.len() as u64;
                    offer.state_hash = StateHasher::of(&given);
                    let number = offer.number;
                    let mut bytes = Vec::new();
                    Message::Offer(offer).encode(&mut bytes);
                    said.push(Mail { to, reliable, bytes });
                    for piece in given.chunks(4_000) {
                        let mut bytes = Vec::new();
                        Message::Piece { number, bytes: piece }.encode(&mut bytes);
                        said.push(Mail { to, reliable, bytes });
                    }
                }
                Ok(Message::Piece { .. } | Message::Packed { .. }) => {}
                _ => said.push(Mail { to, reliable, bytes }),
            }
        }
        said
    })
}

fn is_piece(mail: &Mail) -> bool {
    let piece = Message::decode(&mail.bytes);
    mail.reliable && matches!(piece, Ok(Message::Piece { .. } | Message::Packed { .. }))
}

/// Replaces the bytes of a compressed piece.
type Forge = fn(&[u8]) -> Vec<u8>;

/// Compresses the pieces of a state in this way.
fn packs(forge: Forge) -> super::Tamper {
    Box::new(move |_, mut mail| {
        for mail in mail.iter_mut().filter(|mail| mail.reliable) {
            let forged = match Message::decode(&mail.bytes) {
                Ok(Message::Packed { number, bytes }) => Some((number, forge(bytes))),
                _ => None,
            };
            if let Some((number, bytes)) = forged {
                mail.bytes.clear();
                Message::Packed { number, bytes: &bytes }.encode(&mut mail.bytes);
            }
        }
        mail
    })
}

#[test]
fn undecompressible_piece_is_fault() {
    let forgeries: [Forge; 3] = [
        |packed| packed[..packed.len() / 2].to_vec(),
        // A repetition of bytes that do not exist.
        |_| vec![0x00, 0xff, 0xff, 0x00],
        // A byte, two million times.
        |_| [&[0x1f, 7, 1, 0][..], &[255; 8_000], &[0, 0]].concat(),
    ];
    for forge in forgeries {
        let mut table = Cluster::with_state(3, 2, 100_000);
        table.tamper = packs(forge);
        let joiner = join_by_the_liar(&mut table);
        table.expect_fault(&[joiner], |fault| matches!(fault, PeerFault::Malformed(_)));
        table.expect_agreement(&[0, 1, joiner], 300);
    }
}

/// Offers the largest snapshot allowed, and sends as many pieces of it at once as that takes, all
/// equal to this one.
fn floods(piece: &'static [u8]) -> super::Tamper {
    Box::new(move |_, mail| {
        let mut said = Vec::new();
        for mut mail in mail.into_iter().filter(|mail| !is_piece(mail)) {
            let offered = match Message::decode(&mail.bytes) {
                Ok(Message::Offer(offer)) if mail.reliable => Some(offer),
                _ => None,
            };
            let to = mail.to;
            let mut pieces = Vec::new();
            if let Some(mut offer) = offered {
                let number = offer.number;
                offer.state_bytes = STATE_BYTES_MAX;
                mail.bytes.clear();
                Message::Offer(offer).encode(&mut mail.bytes);
                let (mut packed, mut bytes) = (Vec::new(), Vec::new());
                compress(piece, &mut packed);
                Message::Packed { number, bytes: &packed }.encode(&mut bytes);
                pieces = vec![bytes; STATE_BYTES_MAX as usize / PIECE_BYTES - 1];
            }
            said.push(mail);
            said.extend(pieces.into_iter().map(|bytes| Mail { to, reliable: true, bytes }));
        }
        said
    })
}

#[test]
fn unrequested_pieces_are_fault() {
    let pieces: [&'static [u8]; 2] = [&[0; PIECE_BYTES], &[]];
    for piece in pieces {
        let mut table = Cluster::of(3, 2);
        table.tamper = floods(piece);
        let joiner = join_by_the_liar(&mut table);
        table.expect_fault(&[joiner], |fault| *fault == PeerFault::RateLimitExceeded);
        table.expect_agreement(&[0, 1, joiner], 300);
    }
}

#[test]
fn forged_compressed_pieces_fail_state_hash() {
    let mut table = Cluster::with_state(3, 2, 100_000);
    table.tamper = packs(|packed| {
        let mut other = decompress(packed, PIECE_BYTES).expect("it was packed by us");
        other[4] ^= 1;
        let mut packed = Vec::new();
        compress(&other, &mut packed);
        packed
    });
    let joiner = join_by_the_liar(&mut table);
    table.expect_fault(&[joiner], |fault| *fault == PeerFault::SnapshotMismatch);
    table.expect_agreement(&[0, 1, joiner], 300);
}

#[test]
fn offer_with_unknown_slots_is_fault() {
    let mut table = Cluster::of(3, 2);
    table.tamper = offers(|offer| offer.join_context.rows[0].slots = SlotSet::of(Slot::at(63)));
    let joiner = join_by_the_liar(&mut table);
    table.expect_fault(&[joiner], |fault| *fault == PeerFault::UnknownSlots);
    table.expect_agreement(&[0, 1, joiner], 300);
}

#[test]
fn offer_of_impossible_frame_is_fault() {
    for frame in [Frame::NEVER, Frame::NEVER.previous(), Frame::new(1 << 31)] {
        let mut table = Cluster::of(3, 2);
        table.tamper = offers(move |offer| offer.join_context.confirmed = frame);
        let joiner = join_by_the_liar(&mut table);
        table.expect_fault(&[joiner], |fault| matches!(fault, PeerFault::Malformed(_)));
        table.expect_agreement(&[0, 1, joiner], 300);
    }
}

/// Identity of a match that was never played, older than any.
const ELDER: MatchId = MatchId { started_at: 0, nonce: 0 };
/// Tag of the liar's status in it.
const ELDER_TAG: u8 = 7;

/// Claims to be in an older match, so that all request its snapshot, and then lies about that.
fn elder(lie: impl Fn(&mut Offer) + 'static) -> super::Tamper {
    let mut said = false;
    let mut offers = offers(move |offer| {
        let View { parent, ballot, rows, size, stale, .. } = offer.join_context.told.view.clone();
        let view = View::new(ELDER, parent, ballot, rows, size, stale);
        offer.join_context.told.tip.game = ELDER;
        offer.join_context.told.tip.links = vec![view.link()];
        offer.join_context.told.view = view;
        lie(offer);
    });
    Box::new(move |session, mut mail| {
        if !std::mem::replace(&mut said, true) {
            let mut status = session.membership.status().expect("it plays");
            status.tip.game = ELDER;
            let mut bytes = Vec::new();
            membership::Message::PeerStatus { tag: ELDER_TAG, status }.encode(&mut bytes);
            mail.extend((0..2).map(|to| Mail { to, reliable: true, bytes: bytes.clone() }));
        }
        for mail in &mut mail {
            _ = reword(mail, |packet| packet.tag = ELDER_TAG, |value| value);
        }
        offers(session, mail)
    })
}

fn lost_its_match(table: &Cluster, index: usize) -> bool {
    table.events[index].iter().any(|event| matches!(event, SessionEvent::BranchAbandoned { .. }))
}

#[test]
fn false_older_match_draws_players_over() {
    // Nothing proves how old a match is: a dishonest peer can do this, and the next test must not
    // depend on it.
    let mut table = Cluster::of(3, 2);
    table.run(60);
    table.tamper = elder(|_| {});
    table.run(120);
    assert!((0..2).any(|index| lost_its_match(&table, index)), "{}", table.describe());
}

#[test]
fn unusable_offer_leaves_match_unchanged() {
    type Lie = fn(&mut Offer);
    let lies: [(&str, Lie); 3] = [
        ("slots", |offer| offer.join_context.rows[0].slots = SlotSet::of(Slot::at(63))),
        ("frame", |offer| offer.join_context.confirmed = Frame::NEVER),
        ("tails", |offer| {
            let stream = offer.join_context.rows[0].stream;
            let mut tail = EntryRange::from(stream, offer.join_context.confirmed.next());
            tail.push(&[1, 2, 3], EntryControl::NONE);
            offer.join_context.tails.push(tail);
        }),
    ];
    for (what, lie) in lies {
        let mut table = Cluster::of(3, 2);
        table.run(60);
        table.tamper = elder(lie);
        table.run(120);
        for honest in 0..2 {
            assert!(!lost_its_match(&table, honest), "{what}: {}", table.describe());
            let faults = table.faults(honest);
            assert!(faults.iter().all(|(blamed, _)| *blamed == 2), "{what}: {faults:?}");
        }
        let caught = (0..2).flat_map(|honest| table.faults(honest)).count();
        assert!(caught > 0, "{what}: {}", table.describe());
        table.run(200).expect_agreement(&[0, 1], 300);
    }
}

#[test]
fn trickling_donor_is_replaced() {
    // One byte, or none, just before the timeout.
    let crumbs: [&'static [u8]; 2] = [&[9], &[]];
    for crumb in crumbs {
        let mut table = Cluster::with_state(2, 1, 400_000);
        let mut ticks = 0u64;
        table.tamper = Box::new(move |session, mail| {
            ticks += 1;
            let mut said: Vec<Mail> = Vec::new();
            for mail in mail {
                if !is_piece(&mail) {
                    said.push(mail);
                }
            }
            if let Some((to, number)) = session.donor.sending().filter(|_| ticks.is_multiple_of(40)) {
                let mut bytes = Vec::new();
                Message::Piece { number, bytes: crumb }.encode(&mut bytes);
                said.push(Mail { to: index_of(to), reliable: true, bytes });
            }
            said
        });
        let joiner = table.run(60).join(&[1]);
        table.run_until("it is helped", 120, |t| t.session(1).donor.unfinished() > 0);
        table.link(joiner, 0);
        table.run_until("it finds a better donor", 600, |t| t.session(joiner).is_member());
    }
}

fn index_of(peer: PeerId) -> usize {
    peer.to_u128() as usize - 1
}

#[test]
fn undecodable_snapshot_is_fault() {
    let mut table = Cluster::of(3, 2);
    table.tamper = forged(|_| vec![0xff; 777]);
    let joiner = join_by_the_liar(&mut table);
    table.expect_fault(&[joiner], |fault| matches!(fault, PeerFault::SnapshotMalformed));
    table.expect_agreement(&[0, 1, joiner], 300);
}

#[test]
fn false_snapshot_is_outvoted() {
    let mut table = Cluster::of(3, 2);
    table.tamper = forged(|mut state| {
        if let Some(last) = state.last_mut() {
            *last ^= 1;
        }
        state
    });
    let joiner = table.run(60).join(&[2]);
    table.run_until("it has a state", 120, |t| t.session(joiner).is_running());
    table.link(joiner, 0);
    table.link(joiner, 1);
    table.run_until("it plays", 600, |t| t.session(joiner).is_member());
    // The liar may be asked once more, but not twice in a row.
    table.run_until("its state is made good", 900, |t| t.session(joiner).stats().recoveries > 0);
    table.run(600).expect_agreement(&[0, 1, joiner], 300);
    let recovered = |event: &&SessionEvent| matches!(event, SessionEvent::DesyncRecovered { .. });
    assert!((1..=2).contains(&table.events[0].iter().filter(recovered).count()), "{}", table.describe());
    assert_eq!([0, 1].map(|index| table.session(index).stats().recoveries), [0, 0]);
}

#[test]
fn joiner_that_never_arrives_blocks_no_other() {
    type Silence = fn(&Mail) -> bool;
    let silences: [(&str, Silence); 3] = [
        ("takes nothing", |mail| {
            mail.reliable && matches!(Message::decode(&mail.bytes), Ok(Message::Got { .. }))
        }),
        ("never begins", |mail| {
            !mail.reliable && Packet::decode(&mail.bytes, 1).is_ok_and(|packet| packet.runs.carried > 0)
        }),
        ("says nothing at all any more", |_| true),
    ];
    for (what, silence) in silences {
        let mut table = Cluster::with_state(3, 3, 400_000);
        let liar = table.run(60).join(&[0, 1, 2]);
        table.run_until("a donor serves it", 60, |t| (0..3).any(|i| t.session(i).stats().snapshots_sent > 0));
        table.tamper = Box::new(move |_, mail| mail.into_iter().filter(|mail| !silence(mail)).collect());
        let joiner = table.join(&[0, 1, 2]);
        table.run_until("an honest joiner arrives", 300, |t| t.session(joiner).is_member());
        table.run(700).expect_agreement(&[0, 1, 2, joiner], 60);
        assert!(!table.session(liar).is_member(), "{what}");
        assert_eq!(table.stalled[..3], [0, 0, 0], "{what}");
        let helped: usize = (0..3).map(|index| table.session(index).donor.unfinished()).sum();
        // A joiner that asks another donor whenever it got nothing is served by each of them, one
        // snapshot at a time.
        let most = if what == "takes nothing" { 3 } else { 0 };
        assert!(helped <= most, "{what}: {helped} states are under way for ever");
    }
}

#[test]
fn silent_admitted_joiner_is_evicted() {
    let mut table = Cluster::of(3, 3);
    let liar = table.run(60).join(&[0, 1, 2]);
    table.run_until("it is in", 300, |t| t.session(liar).is_member());
    table.run(60);
    table.tamper = Box::new(|_, mut mail| {
        mail.iter_mut().for_each(|mail| {
            _ = reword(
                mail,
                |packet| {
                    let told = u16::from(packet.runs.carried);
                    packet.newest_low = packet.newest_low.wrapping_sub(told);
                    packet.runs = crate::runs::Runs { carried: 0, changes: 0, dense: false, bytes: &[] };
                },
                |value| value,
            );
        });
        mail
    });
    table.run_until("the others are rid of it", 1_200, |t| {
        (0..3).all(|index| t.session(index).roster().iter().filter(|row| row.is_active()).count() == 3)
    });
    table.run(60).expect_agreement(&[0, 1, 2], 300);
}

/// Changes the feeds of a joiner; `lie` gets the first feed, too.
fn feeds(mut lie: impl FnMut(&mut Feed, &mut Feed) + 'static) -> super::Tamper {
    let mut first: Option<Feed> = None;
    Box::new(move |_, mut mail| {
        for mail in mail.iter_mut().filter(|mail| mail.reliable) {
            let bytes = mail.bytes.clone();
            if let Ok(Message::Feed(mut feed)) = Message::decode(&bytes) {
                lie(first.get_or_insert_with(|| (*feed).clone()), &mut feed);
                mail.bytes.clear();
                Message::Feed(feed).encode(&mut mail.bytes);
            }
        }
        mail
    })
}

/// Adds a joiner that takes the liar's snapshot and feeds, then gets links to all.
fn join_fed_by_the_liar(table: &mut Cluster) -> usize {
    let joiner = table.run(60).join(&[2]);
    table.run_until("it has a state", 120, |t| t.session(joiner).is_running());
    table.run(120);
    table.link(joiner, 0);
    table.link(joiner, 1);
    joiner
}

#[test]
fn donor_repeating_feed_is_faulted_and_replaced() {
    let mut table = Cluster::of(3, 2);
    table.tamper = feeds(|first, feed| *feed = first.clone());
    let joiner = join_fed_by_the_liar(&mut table);
    table.run_until("it plays all the same", 600, |t| t.session(joiner).is_member());
    table.expect_fault(&[joiner], |fault| matches!(fault, PeerFault::FeedWithheld { .. }));
    assert_eq!(table.session(joiner).stats().donors_abandoned, 1);
    table.run(120).expect_agreement(&[0, 1, joiner], 300).expect_no_fault(&[0, 1]);
}

#[test]
fn donor_with_empty_feeds_is_replaced() {
    let mut table = Cluster::of(3, 2);
    table.tamper = feeds(|_, feed| feed.tails.clear());
    let joiner = join_fed_by_the_liar(&mut table);
    table.run_until("it plays all the same", 600, |t| t.session(joiner).is_member());
    table.run(120).expect_agreement(&[0, 1, joiner], 300).expect_no_fault(&[0, 1]);
}

#[test]
fn donor_feeding_too_slowly_is_replaced() {
    // One frame in every feed, while three frames pass.
    let mut table = Cluster::of(3, 2);
    table.tamper = feeds(|first, feed| {
        first.confirmed = first.confirmed.next();
        feed.confirmed = first.confirmed;
        feed.told = None;
    });
    let joiner = join_fed_by_the_liar(&mut table);
    table.run_until("it plays all the same", 1_200, |t| t.session(joiner).is_member());
    table.run(120).expect_agreement(&[0, 1, joiner], 300).expect_no_fault(&[0, 1]);
}

#[test]
fn donor_claiming_standstill_is_replaced() {
    let mut table = Cluster::of(3, 2);
    let mut feeds = feeds(|first, feed| *feed = first.clone());
    table.tamper = Box::new(move |session, mut mail| {
        for mail in mail.iter_mut().filter(|mail| mail.to == 3) {
            _ = reword(mail, |packet| packet.confirmed_age = u8::MAX, |value| value);
        }
        feeds(session, mail)
    });
    let joiner = join_fed_by_the_liar(&mut table);
    table.run_until("it plays all the same", 600, |t| t.session(joiner).is_member());
    // It may really have stalled: no peer can know.
    table.expect_no_fault(&[0, 1, joiner]);
    assert_eq!(table.session(joiner).stats().donors_abandoned, 1);
    table.run(120).expect_agreement(&[0, 1, joiner], 300);
}

#[test]
fn donor_withholding_view_is_replaced() {
    let mut table = Cluster::of(4, 2);
    table.tamper = feeds(|first, feed| *feed = first.clone());
    let joiner = join_fed_by_the_liar(&mut table);
    table.dead[3] = true;
    table.run_until("it plays all the same", 1_200, |t| t.session(joiner).is_member());
    table.run(300).expect_agreement(&[0, 1, joiner], 300).expect_no_fault(&[0, 1]);
}

#[test]
fn joiner_fed_to_impossible_frame_changes_donor() {
    for frames in [5_000, 1 << 16, 1 << 20] {
        let mut table = Cluster::of(3, 2);
        let mut ahead = offers(move |offer| {
            offer.join_context.confirmed = offer.join_context.confirmed.saturating_add(frames);
            offer.join_context.tails.clear();
        });
        let mut feeds = feeds(move |_, feed| {
            feed.confirmed = feed.confirmed.saturating_add(frames);
            feed.tails.clear();
        });
        table.tamper = Box::new(move |session, mail| {
            let mail = ahead(session, mail);
            feeds(session, mail)
        });
        let joiner = join_fed_by_the_liar(&mut table);
        table.run_until("it plays all the same", 2_400, |t| t.session(joiner).is_member());
        table.run(120).expect_agreement(&[0, 1, joiner], 300).expect_no_fault(&[0, 1]);
    }
}

#[test]
fn donor_of_stalled_match_is_kept() {
    // Four peers under the majority rule, two of them crashed: the others stall, and the joiner
    // waits with them.
    let mut table = Cluster::voting(4, 9);
    let joiner = table.run(60).join(&[0, 1]);
    table.run_until("it has a state", 120, |t| t.session(joiner).is_running());
    table.dead[2] = true;
    table.dead[3] = true;
    table.run(900);
    assert_eq!(table.session(joiner).stats().donors_abandoned, 0, "{}", table.describe());
    table.expect_no_fault(&[0, 1, joiner]);
}

#[test]
fn impossible_snapshot_frame_delays_no_recovery() {
    let mut table = Cluster::of(4, 2);
    let asked = std::rc::Rc::new(std::cell::Cell::new(0));
    let count = asked.clone();
    table.tamper = offers(move |offer| {
        count.set(count.get() + 1);
        offer.join_context.confirmed = offer.join_context.confirmed.saturating_add(100_000);
    });
    table.run(60);
    // Until the liar is the donor that is asked.
    for _ in 0..40 {
        table.players[1].session_mut().recovery.begin_with(peer(2));
        table.players[1].session_mut().seek_from(peer(2));
        table.run(12);
        if asked.get() > 0 {
            break;
        }
    }
    assert!(asked.get() > 0, "it was never asked");
    table.run_until("it waits for it no more", 300, |t| !t.session(1).is_recovering());
    table.expect_agreement(&[0, 1, 3], 300).expect_no_fault(&[0, 1, 3]);
}

/// Member that a joiner with this incarnation asks, if it hears these messages of three members.
fn asked_by(name: u32, words: &[(usize, Vec<u8>)]) -> usize {
    let mut joiner = Session::<u8>::join(config(), peer(3), 1, Incarnation(name)).expect("sensible");
    (0..3).for_each(|member| joiner.handle_connected(Micros::ZERO, peer(member)).expect("few links"));
    for (from, bytes) in words {
        joiner.handle_message(Micros::ZERO, peer(*from), bytes);
    }
    for tick in 1..60 {
        joiner.tick(Micros::from_millis(16 * tick));
        while let Some(packet) = joiner.poll_transmit() {
            if packet.is_reliable()
                && membership::Message::decode(packet.bytes) == Ok(membership::Message::AskSnapshot)
            {
                return packet.to.to_u128() as usize - 1;
            }
        }
    }
    panic!("{name} asks no member");
}

#[test]
fn members_are_asked_with_equal_chance() {
    const JOINERS: u32 = 3_000;
    let mut table = Cluster::of(3, 9);
    table.run(60).join(&[0, 1, 2]);
    let mut words = Vec::new();
    while words.len() < 6 {
        table.run(1);
        words.extend(table.said_to(3).map(|(from, bytes)| (from, bytes.to_vec())));
    }
    let mut asked = [0i64; 3];
    (0..JOINERS).for_each(|name| asked[asked_by(name, &words)] += 1);
    // Chi-square with two degrees of freedom: a fair choice exceeds 13.8 once in a thousand times.
    let expected = i64::from(JOINERS) / 3;
    let off = asked.iter().map(|count| (count - expected).pow(2)).sum::<i64>() * 10 / expected;
    assert!(off < 138, "{asked:?} of {expected} each");
}
