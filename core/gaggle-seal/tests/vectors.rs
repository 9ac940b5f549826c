//! Golden bytes of everything that travels or is kept: one file per kind in `vectors/`.
//!
//! `SEAL_VECTORS=write` writes them anew; a change of any is a change of the protocol.

pub mod room;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use gaggle_kit::{Frame, Micros};
use gaggle_seal::{Client, Epoch, OutReason, Referee, SealConfig};
use room::{Room, Tapped, slots, stream};

fn config() -> SealConfig {
    SealConfig { slot_count: 3, ..SealConfig::default() }
}

fn hex(text: &str) -> Vec<u8> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let digits: Vec<u8> = lines.flat_map(str::bytes).filter(u8::is_ascii_hexdigit).collect();
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("a digit") as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) * 16 + digit(pair[1])).collect()
}

fn expect(name: &str, what: &str, bytes: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(name).with_extension("hex");
    if std::env::var("SEAL_VECTORS").is_ok_and(|wish| wish == "write") {
        let mut text = format!("# {what}\n");
        for line in bytes.chunks(32) {
            line.iter().for_each(|byte| write!(text, "{byte:02x}").expect("text grows"));
            text.push('\n');
        }
        fs::write(&path, text).expect("the folder can be written");
    }
    let text = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(hex(&text), bytes, "{name}: {what}");
}

/// A value in every third frame, the repetition in others.
fn steady(client: &mut Client, frame: Frame, _: u8, _: bool) {
    let value = [frame.number() as u8];
    let changes = frame.number().is_multiple_of(3) || client.newest_entry() == Frame::START;
    let _ = client.set_entry(frame, &[changes.then_some(&value[..])]);
}

fn rests(client: &mut Client, frame: Frame, _: u8, _: bool) {
    let _ = client.set_passive(frame);
}

fn last(tap: &[Tapped], player: usize, is_up: bool, is_reliable: bool) -> &[u8] {
    let is_it = |sent: &&Tapped| (sent.player, sent.is_up, sent.is_reliable) == (player, is_up, is_reliable);
    &tap.iter().rev().find(is_it).expect("it was sent").bytes
}

/// The last reliable message of this kind.
fn of_kind(tap: &[Tapped], player: usize, is_up: bool, kind: u8) -> &[u8] {
    let is_it = |sent: &&Tapped| {
        (sent.player, sent.is_up, sent.is_reliable, sent.bytes[0]) == (player, is_up, true, kind)
    };
    &tap.iter().rev().find(is_it).expect("it was sent").bytes
}

fn tap(room: &Room) -> &[Tapped] {
    room.tap.as_deref().unwrap_or_default()
}

/// The longest merged packet to a player: the one with what changed.
fn longest(tap: &[Tapped], player: usize) -> &[u8] {
    let merged = tap.iter().filter(|sent| sent.player == player && !sent.is_up && !sent.is_reliable);
    &merged.max_by_key(|sent| sent.bytes.len()).expect("it was sent").bytes
}

fn tapped() -> Room {
    let mut room = Room::new(&config(), 3, 2);
    room.players.iter_mut().for_each(|player| player.entry = steady);
    room.tap = Some(Vec::new());
    room
}

#[test]
fn packets_of_running_room_are_as_recorded() {
    let mut room = tapped();
    room.run(40);
    let tap = room.tap.take().unwrap();
    let first = |is_up: bool, is_reliable: bool| {
        let is_it = |sent: &&Tapped| (sent.player, sent.is_up, sent.is_reliable) == (0, is_up, is_reliable);
        &tap.iter().find(is_it).expect("it was sent").bytes[..]
    };
    expect("hello", "the first message of a client", first(true, true));
    expect("enter", "a client without a log asks to enter", of_kind(&tap, 0, true, 1));
    expect("snapshot", "checkpoint of frame 0 with an empty state", first(false, true));
    expect("up_ready", "a client without a row is ready", first(true, false));
    expect("up", "entries of a player", last(&tap, 1, true, false));
    let joins = tap.iter().filter(|sent| sent.player == 0 && !sent.is_up && !sent.is_reliable);
    let joins = joins.max_by_key(|sent| sent.bytes.len()).unwrap();
    expect("merged_join", "three rows begin", &joins.bytes);
    let merged = tap.iter().rev().filter(|sent| sent.player == 0 && !sent.is_up && !sent.is_reliable);
    let merged: Vec<&Tapped> = merged.take(8).collect();
    let timed = merged.iter().find(|sent| sent.bytes[0] & 2 != 0).expect("a time block in eight packets");
    let plain = merged.iter().find(|sent| sent.bytes[0] & 2 == 0).expect("most have none");
    expect("merged", "values of three players, without a time block", &plain.bytes);
    expect("merged_time", "values of three players and a time block", &timed.bytes);
}

#[test]
fn packets_of_kinds_are_as_recorded() {
    let mut room = tapped();
    room.run(30);
    room.players[1].entry = rests;
    room.players[2].is_awake = false;
    room.run(4);
    let passive = last(tap(&room), 1, true, false).to_vec();
    expect("up_passive", "entries of which the newest are passive", &passive);
    room.tap = Some(Vec::new());
    room.run(16);
    expect("merged_kinds", "one slot turns passive, one misses", longest(tap(&room), 0));
    let link = room.players[2].link.take().expect("connected");
    let now = room.now();
    room.referee.handle_disconnected(now, link, OutReason::Removed);
    room.players[0].client.leave();
    room.run(3);
    let leaving = last(tap(&room), 0, true, false).to_vec();
    expect("up_leaving", "a player says goodbye", &leaving);
    room.tap = Some(Vec::new());
    room.run(12);
    expect("merged_out", "two rows end", longest(tap(&room), 1));
    expect("over", "the match is over for a client that left", last(tap(&room), 0, false, true));
}

#[test]
fn messages_of_new_referee_are_as_recorded() {
    let mut room = tapped();
    room.run(20);
    let config = SealConfig { journal: false, history_frames: 8, ..config() };
    room.referee = Referee::ask(room.now(), config.clone(), 7, Epoch(2)).unwrap();
    let mut client = Client::new(config.clone(), stream(0), slots(0)).unwrap();
    std::mem::swap(&mut client, &mut room.players[0].client);
    let mut referee = Referee::ask(Micros::ZERO, config, 7, Epoch(2)).unwrap();
    let link = referee.handle_connected(Micros::ZERO, stream(0), Some(slots(0))).unwrap();
    referee.expect_answers([stream(0).peer].into_iter());
    let asks = referee.poll_transmit().unwrap().bytes.to_vec();
    expect("who_are_you", "a referee without a journal asks", &asks);
    let now = room.now();
    client.handle_message(now, &asks).unwrap();
    let answer = client.poll_transmit().unwrap().bytes.to_vec();
    expect("answer", "a client answers with its log", &answer);
    referee.handle_message(now, link, &answer).unwrap();
    referee.tick(now);
    client.handle_connected(now);
    assert_eq!(client.poll_transmit().unwrap().bytes[0], 7, "the hello comes first");
    let enter = client.poll_transmit().unwrap().bytes.to_vec();
    expect("enter_with_log", "a client with a log asks to enter", &enter);
    referee.handle_message(now, link, &enter).unwrap();
    while let Some(sent) = referee.poll_transmit() {
        if sent.is_reliable && sent.bytes[0] == 4 {
            expect("terms", "the terms of a match with two starts", sent.bytes);
            return;
        }
    }
    panic!("no terms were sent");
}

#[test]
fn messages_of_states_and_hashes_are_as_recorded() {
    let config = SealConfig { history_frames: 60, check_frames: 20, ..config() };
    let mut room = Room::new(&config, 3, 2);
    room.players.iter_mut().for_each(|player| player.entry = steady);
    room.tap = Some(Vec::new());
    room.run(40);
    for (index, hash) in [1, 1, 2].into_iter().enumerate() {
        room.players[index].client.report(Frame::new(20), hash, 3);
    }
    room.run(20);
    expect("check", "hashes of a frame", of_kind(tap(&room), 0, true, 12));
    expect("verdict", "the state of a frame is not that of most", of_kind(tap(&room), 2, false, 13));
    let wanted = |room: &Room, index: usize| {
        room.players[index].events.iter().rev().find_map(|event| match event {
            gaggle_seal::ClientEvent::StateWanted { number, frame } => Some((*number, *frame)),
            _ => None,
        })
    };
    let asked: Vec<usize> = (0..3).filter(|index| wanted(&room, *index).is_some()).collect();
    room.run(20);
    for index in &asked {
        let (number, frame) = wanted(&room, *index).expect("it was asked");
        room.players[*index].client.offer_state(number, frame, 0x5eed, b"state");
    }
    room.run(20);
    expect("ask", "the referee asks for a state", of_kind(tap(&room), asked[0], false, 8));
    expect("offer", "a client offers a state", of_kind(tap(&room), asked[0], true, 9));
    expect("got", "the referee takes pieces of the state", of_kind(tap(&room), asked[1], false, 11));
    expect("piece", "the only piece of a state", of_kind(tap(&room), asked[1], true, 10));
    expect("snapshot_state", "checkpoint and state of a later frame", of_kind(tap(&room), 2, false, 5));
}

#[test]
fn journal_is_as_recorded() {
    let mut room = tapped();
    room.run(12);
    expect("journal", "head, start and frames of a journal", &room.journal);
}
