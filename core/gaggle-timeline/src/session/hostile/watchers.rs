//! Those who watch and lie.

use gaggle_kit::Frame;

use super::{Mail, Table, peer};
use crate::announce::{Findings, Message as Word};
use crate::event::Event;

#[test]
fn whoever_only_watches_parts_nobody_by_what_it_says() {
    let mut table = Table::of(2, 2);
    table.run(60).watch(&[0, 1]);
    table.run_until("it watches", 300, |t| t.session(2).is_running());
    table.tongue = Box::new(|session, mut mail| {
        let Some(own) = session.checks.newest() else { return mail };
        for (to, from) in [0, 1].into_iter().flat_map(|to| [(to, Frame::START), (to, own.frame.previous())]) {
            let streams = vec![(peer(1 - to), 77)];
            let findings = Findings { from, to: own.frame, live_hash: 7, hashes: Vec::new(), streams };
            let mut bytes = Vec::new();
            Word::Findings(findings).encode(&mut bytes);
            mail.push(Mail { to, reliable: true, bytes });
        }
        mail
    });
    table.run(300).expect_agreement(&[0, 1], 300).expect_no_fault(&[0, 1]);
    let asked = |event: &Event| matches!(event, Event::DesyncLocated { .. } | Event::InputsDiffer { .. });
    assert!((0..2).all(|index| !table.events[index].iter().any(asked)), "{}", table.describe());
}
