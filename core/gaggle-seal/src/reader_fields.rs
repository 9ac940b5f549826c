//! Heads, entries and messages of the vectors, held against what tools/protocol-reader decodes.
//!
//! Tests only. Absent: blocks, which need a log; `lanes.rs` reads what it wrote.

use gaggle_kit::{BitReader, ByteReader, DecodeError, Frame};
use gaggle_testkit::protocol_reader::{fields_of, list, or_null};

use crate::hello::Hello;
use crate::lineage::Lineage;
use crate::message::{Message, OverReason, StateInfo};
use crate::packet::{EntrySpan, Merged, TimeBlock, Up, read_entries};
use crate::shape::Shape;

/// The shape of all vectors.
const SLOTS: usize = 3;
const VALUE_BYTES: usize = 1;

fn bytes_of(vector: &str) -> Vec<u8> {
    let digits = vector.lines().flat_map(|line| line.split('#').next().unwrap_or_default().chars());
    let digits: Vec<u32> = digits.filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

fn found(name: &str) -> String {
    fields_of(&format!("core/gaggle-seal/vectors/{name}.hex"))
}

fn time_fields(time: TimeBlock) -> Vec<i32> {
    vec![time.clock_ms.into(), time.echo_ms.into(), time.hold_ms.into()]
}

fn entry_fields(bits: &mut BitReader<'_>, up: &Up) -> String {
    let sealed = Frame::new(up.sealed_low.into());
    let span = EntrySpan::read(bits, sealed, up.has_passive).expect("a span");
    let mut entries: Vec<String> = vec![r#""passive""#.into(); span.count as usize];
    let shape = Shape::new(SLOTS, VALUE_BYTES).expect("a shape");
    let read = read_entries(bits, shape, &span, |index, value, is_repeated| {
        let is_whole = index == 0 || span.is_passive(index - 1);
        entries[index as usize] = match (is_whole, is_repeated) {
            (true, _) => format!("[{},{is_repeated}]", value[0]),
            (false, true) => r#""repeats""#.into(),
            (false, false) => value[0].to_string(),
        };
        Ok::<(), DecodeError>(())
    });
    read.expect("entries");
    list([span.first.since(sealed).to_string(), list(entries)])
}

fn up_fields(bytes: &[u8]) -> String {
    let mut r = ByteReader::new(bytes);
    let up = Up::read(&mut r).expect("a packet of a client");
    let flags = [
        ("ready", up.is_ready),
        ("leaving", up.is_leaving),
        ("gap", up.has_gap),
        ("time", up.time.is_some()),
        ("lanes", up.has_lanes),
        ("passive", up.has_passive),
        ("entries", up.has_entries),
    ];
    let flags = flags.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| format!(r#""{name}""#));
    let mut fields = vec![r#""up""#.to_string(), list(flags)];
    fields.extend([up.epoch_low, up.incarnation_low].map(|byte| byte.to_string()));
    fields.push(up.sealed_low.to_string());
    fields.extend(up.time.map(|time| list(time_fields(time))));
    let mut bits = BitReader::new(r.rest());
    if up.has_entries {
        fields.push(entry_fields(&mut bits, &up));
    }
    bits.finish("packet").expect("nothing follows");
    list(fields)
}

fn merged_head(bytes: &[u8]) -> String {
    let head = Merged::read(&mut ByteReader::new(bytes)).expect("a merged packet");
    let time = head.time.map(|(time, low)| {
        let mut fields = time_fields(time);
        fields.push(low.map_or(-128, i32::from));
        list(fields)
    });
    let numbers = format!("{},{},{}", head.epoch.0, head.incarnation_low, head.sealed_low);
    format!(r#"["merged",{numbers},{},{},"#, or_null(head.ahead), or_null(time))
}

fn lineage_fields(lineage: &Lineage) -> String {
    let terms = lineage.terms().iter().map(|term| list([term.epoch.0, term.base.number()]));
    list([lineage.match_id().to_string(), list(terms)])
}

fn state_fields(state: &StateInfo) -> String {
    format!(r#"{},"{:016x}",{}"#, state.number, state.state_hash, state.length)
}

fn hello_fields(hello: &Hello) -> String {
    let role = if hello.is_spectator { "spectator" } else { "player" };
    let build = [hello.build.game, hello.build.state, hello.build.settings];
    let build = list(build.map(|part| format!(r#""{part:016x}""#)));
    let rules = &hello.rules;
    let numbers = [
        rules.slot_count as u64,
        rules.value_bytes as u64,
        rules.tick_rate.into(),
        rules.accept_frames.into(),
        rules.window_frames.into(),
        rules.input_delay_max.into(),
        rules.early_frames.into(),
        rules.out_after_frames.into(),
        rules.history_frames.into(),
        rules.gating_run_max.into(),
        rules.check_frames.into(),
        rules.send_interval.get(),
        rules.silence_timeout.get(),
    ];
    format!(r#"["Hello",{},"{role}",{build},{}]"#, hello.incarnation, list(numbers))
}

fn message_fields(bytes: &[u8]) -> String {
    match Message::read(bytes).expect("a message") {
        Message::Enter(None) => r#"["Enter"]"#.into(),
        Message::Enter(Some((lineage, sealed))) => {
            format!(r#"["Enter",{},{}]"#, lineage_fields(&lineage), sealed.number())
        }
        Message::WhoAreYou(epoch) => format!(r#"["WhoAreYou",{}]"#, epoch.0),
        Message::Terms(lineage) => format!(r#"["Terms",{}]"#, lineage_fields(&lineage)),
        Message::Hello(hello) => hello_fields(&hello),
        Message::Ask { number, frame } => format!(r#"["Ask",{number},{}]"#, frame.number()),
        Message::Offer { state, frame, bytes_hash } => {
            format!(r#"["Offer",{},{},"{bytes_hash:016x}"]"#, state_fields(&state), frame.number())
        }
        Message::Piece { number, index, bytes } => {
            let bytes: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!(r#"["Piece",{number},{index},"{bytes}"]"#)
        }
        Message::Got { number, pieces } => format!(r#"["Got",{number},{pieces}]"#),
        Message::Check(check) => format!(
            r#"["Check",{},"{:016x}","{:016x}",{}]"#,
            check.frame.number(),
            check.state_hash,
            check.log_hash,
            check.depth
        ),
        Message::Verdict { frame, is_of_log } => {
            format!(r#"["Verdict",{},"{}"]"#, frame.number(), if is_of_log { "log" } else { "state" })
        }
        Message::Over(OverReason::Left) => r#"["Over","left"]"#.into(),
        other => panic!("no fields for {other:?}"),
    }
}

#[test]
fn packets_of_clients_have_fields_found_by_reader() {
    for (name, vector) in [
        ("up", include_str!("../vectors/up.hex")),
        ("up_ready", include_str!("../vectors/up_ready.hex")),
        ("up_passive", include_str!("../vectors/up_passive.hex")),
        ("up_leaving", include_str!("../vectors/up_leaving.hex")),
    ] {
        assert_eq!(up_fields(&bytes_of(vector)), found(name));
    }
}

#[test]
fn merged_heads_have_fields_found_by_reader() {
    for (name, vector) in [
        ("merged", include_str!("../vectors/merged.hex")),
        ("merged_time", include_str!("../vectors/merged_time.hex")),
        ("merged_join", include_str!("../vectors/merged_join.hex")),
        ("merged_kinds", include_str!("../vectors/merged_kinds.hex")),
        ("merged_out", include_str!("../vectors/merged_out.hex")),
    ] {
        let (head, found) = (merged_head(&bytes_of(vector)), found(name));
        assert!(found.starts_with(&head), "{name}: {head} of {found}");
    }
}

#[test]
fn messages_have_fields_found_by_reader() {
    for (name, vector) in [
        ("enter", include_str!("../vectors/enter.hex")),
        ("enter_with_log", include_str!("../vectors/enter_with_log.hex")),
        ("who_are_you", include_str!("../vectors/who_are_you.hex")),
        ("terms", include_str!("../vectors/terms.hex")),
        ("over", include_str!("../vectors/over.hex")),
        ("hello", include_str!("../vectors/hello.hex")),
        ("ask", include_str!("../vectors/ask.hex")),
        ("offer", include_str!("../vectors/offer.hex")),
        ("got", include_str!("../vectors/got.hex")),
        ("piece", include_str!("../vectors/piece.hex")),
        ("check", include_str!("../vectors/check.hex")),
        ("verdict", include_str!("../vectors/verdict.hex")),
    ] {
        assert_eq!(message_fields(&bytes_of(vector)), found(name));
    }
}
