//! Reports the server has not said to be stored.
//!
//! It answers `pending` first, and what waits there is lost with the server. Until the result is
//! told a report is said again: after a while, after a refusal that passes, and to a server that
//! has come back without its memory.

use gaggle_kit::{Micros, Prng};

use super::backoff::Backoff;
use super::pending::Pending;
use super::{Client, ClientEvent, RequestId};
use crate::id::RoomId;
use crate::message::client::Report;
use crate::message::server::MatchResult;
use crate::message::{Rejection, RejectionCode};
use crate::view::Verdict;

/// More matches than a room has waiting to be decided.
const KEPT_MAX: usize = 4;
/// How often a report is said again on one connection: with the waits below about five minutes, as
/// long as a room whose match is over stays, and well beyond the time a server that lost its memory
/// waits for everybody.
const AGAIN_MAX: u32 = 6;
/// After a refusal that passes.
const AFTER_REFUSAL: Backoff = Backoff { initial: Micros::from_secs(1), max: Micros::from_secs(60) };
/// After `pending`: in 10 s the others have reported, or are waited for no longer.
const AFTER_PENDING: Backoff = Backoff { initial: Micros::from_secs(20), max: Micros::from_secs(60) };

/// Reports without a result.
#[derive(Debug, Default)]
pub(super) struct Reports(Vec<Kept>);

#[derive(Debug)]
struct Kept {
    request: u64,
    room: RoomId,
    report: Report,
    /// When to say it again; none while the server has yet to answer.
    due: Option<Micros>,
    again: u32,
    /// The server has answered `pending` once.
    is_taken: bool,
}

impl Reports {
    pub(super) fn due(&self) -> Option<Micros> {
        self.0.iter().filter_map(|kept| kept.due).min()
    }

    /// A report was made. It takes the place of an earlier one about the same match.
    fn keep(&mut self, request: u64, room: RoomId, report: Report) {
        self.0.retain(|kept| (kept.room, kept.report.round) != (room, report.round));
        self.0.push(Kept { request, room, report, due: None, again: 0, is_taken: false });
        let excess = self.0.len().saturating_sub(KEPT_MAX);
        self.0.drain(..excess);
    }

    /// A result is told: it is stored.
    pub(super) fn decided(&mut self, round: u32) {
        self.0.retain(|kept| kept.report.round != round);
    }

    /// Those of other rooms are nobody's business any more.
    pub(super) fn keep_only(&mut self, room: Option<RoomId>) {
        self.0.retain(|kept| Some(kept.room) == room);
    }

    /// On a new connection everything is said again that is not asked for again anyhow, and as
    /// often as on any.
    pub(super) fn begin_again(&mut self, now: Micros, pending: &Pending) {
        for kept in &mut self.0 {
            kept.again = 0;
            kept.due = (!pending.has(kept.request)).then_some(now);
        }
    }

    fn position(&self, request: u64) -> Option<usize> {
        self.0.iter().position(|kept| kept.request == request)
    }

    /// What is due, in the order it was reported.
    fn take_due(&mut self, now: Micros) -> Vec<(u64, Report)> {
        let due = self.0.iter_mut().filter(|kept| kept.due.is_some_and(|at| at <= now));
        let say = |kept: &mut Kept| {
            kept.due = None;
            kept.again += 1;
            (kept.request, kept.report.clone())
        };
        due.map(say).collect()
    }
}

impl Kept {
    /// Plans to say it again, if it was not said often enough.
    fn plan(&mut self, now: Micros, backoff: Backoff, at_least: Micros, prng: &mut Prng) -> bool {
        let wait = backoff.wait(self.again + 1, prng).max(at_least);
        self.due = (self.again < AGAIN_MAX).then(|| now + wait);
        self.due.is_some()
    }
}

impl Client {
    /// Reports how the match ended. Until the result is told it is said again by itself, as long as
    /// we are in the room.
    pub fn report(&mut self, report: Report) -> RequestId {
        let request = self.request(report.clone());
        if let Some(room) = self.room().map(|room| room.id) {
            self.reports.keep(request.0, room, report);
        }
        request
    }

    /// Says again what is due.
    pub(super) fn say_reports_again(&mut self, now: Micros) {
        for (id, report) in self.reports.take_due(now) {
            self.transmit(Some(id), report.into());
        }
    }

    /// The server has answered a report. The game hears the first answer, and the one that is
    /// final.
    pub(super) fn reported(&mut self, now: Micros, id: Option<u64>, result: MatchResult) {
        let is_final = result.verdict != Verdict::Pending;
        let kept = id.and_then(|id| self.reports.position(id));
        // What was refused and said again waits here alone.
        let is_first = id.is_some_and(|id| self.pending.take(id).is_some())
            || kept.is_some_and(|kept| !self.reports.0[kept].is_taken);
        if let Some(kept) = kept {
            if is_final {
                self.reports.0.remove(kept);
            } else {
                let kept = &mut self.reports.0[kept];
                kept.is_taken = true;
                let _ = kept.plan(now, AFTER_PENDING, Micros::ZERO, &mut self.prng);
            }
        }
        match id.filter(|_| is_first || kept.is_some() && is_final) {
            Some(id) => {
                self.events.push_back(ClientEvent::Replied { request: RequestId(id), answer: result.into() });
            }
            None if id.is_none() => self.events.push_back(ClientEvent::Notice(result.into())),
            None => {}
        }
    }

    /// Something was refused. True if it was a report: the game hears of it when it is not said
    /// again and was not taken before.
    pub(super) fn report_refused(&mut self, now: Micros, id: Option<u64>, refusal: &Rejection) -> bool {
        use RejectionCode::{Draining, TooFast, Unavailable};
        let Some((id, at)) = id.and_then(|id| Some((id, self.reports.position(id)?))) else { return false };
        let kept = &mut self.reports.0[at];
        let wait = Micros::from_millis(refusal.retry_after_ms.unwrap_or(0));
        let passes = matches!(refusal.code, Draining | TooFast | Unavailable);
        let is_taken = kept.is_taken;
        let is_planned = passes && kept.plan(now, AFTER_REFUSAL, wait, &mut self.prng);
        let _ = self.pending.take(id);
        if !is_planned {
            self.reports.0.remove(at);
        }
        if !is_planned && !is_taken {
            self.events.push_back(ClientEvent::Rejected { request: RequestId(id), refusal: refusal.clone() });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::{PeerId, Slot};

    use super::super::{ClientConfig, ClientOutput};
    use super::*;
    use crate::message::client::Score;
    use crate::message::{ClientMessage, Envelope};

    const REFUSED: &str = r#"{"type":"error","id":1,"code":"unavailable","text":"later","retry_ms":5000}"#;
    const PENDING: &str = r#"{"type":"result","id":1,"round":1,"verdict":"pending"}"#;
    const ACCEPTED: &str = r#"{"type":"result","id":1,"round":1,"verdict":"agreed"}"#;

    #[test]
    fn a_report_is_said_again_after_a_refusal_that_passes_and_the_game_hears_nothing_of_it() {
        let mut world = World::new();
        let request = world.report();
        assert_eq!(world.sent(), [1]);
        assert_eq!(world.hear(REFUSED), []);
        assert_eq!(world.sent_until(Micros::from_millis(4_900)), [0; 0], "it was told to wait");
        assert_eq!(world.sent_until(Micros::from_secs(6)), [1]);
        let pending = world.hear(PENDING);
        assert!(
            matches!(&pending[..], [ClientEvent::Replied { request: of, .. }] if *of == request),
            "{pending:?}"
        );
        let accepted = world.hear(ACCEPTED);
        assert!(
            matches!(&accepted[..], [ClientEvent::Replied { request: of, .. }] if *of == request),
            "{accepted:?}"
        );
        assert_eq!(world.sent_until(Micros::from_secs(600)), [0; 0]);
    }

    #[test]
    fn a_report_is_said_again_until_its_result_is_told() {
        let mut world = World::new();
        world.report();
        world.hear(PENDING);
        world.sent();
        assert_eq!(world.sent_until(Micros::from_secs(30)), [1]);
        assert_eq!(world.hear(PENDING), [], "nothing new for the game");
        let told =
            r#"{"type":"change","version":9,"events":[{"event":"result","round":1,"verdict":"agreed"}]}"#;
        assert_eq!(world.hear(told).len(), 1);
        assert_eq!(world.sent_until(Micros::from_secs(600)), [0; 0]);
    }

    #[test]
    fn whoever_is_refused_for_ever_gives_up_and_says_so() {
        let mut world = World::new();
        let request = world.report();
        let mut said = 0;
        let mut told = Vec::new();
        for _ in 0..=AGAIN_MAX {
            assert_eq!(told, []);
            let end = world.now + Micros::from_secs(61);
            said += world.sent_until(end).len();
            told = world.hear(REFUSED);
        }
        assert_eq!(said, 1 + AGAIN_MAX as usize);
        assert!(
            matches!(&told[..], [ClientEvent::Rejected { request: of, .. }] if *of == request),
            "{told:?}"
        );
        assert_eq!(world.sent_until(Micros::from_secs(3_000)), [0; 0]);
        // What cannot be true is not said again at all.
        world.report();
        world.sent();
        let bad = REFUSED.replace("unavailable", "bad-report").replace("\"id\":1", "\"id\":2");
        assert_eq!(world.hear(&bad).len(), 1);
        assert_eq!(world.sent_until(Micros::from_secs(6_000)), [0; 0]);
    }

    #[test]
    fn a_server_that_lost_its_memory_is_told_again() {
        let mut world = World::new();
        world.report();
        world.sent();
        world.hear(PENDING);
        world.come_back();
        assert_eq!(world.sent(), [1]);
        // Also if the connection is lost again before it answers.
        world.come_back();
        assert_eq!(world.sent(), [1]);
        // Whose answer was lost with the connection is said once, not twice.
        let mut world = World::new();
        world.report();
        world.sent();
        world.come_back();
        assert_eq!(world.sent(), [1]);
        // And nobody is told of another room's matches.
        let mut world = World::new();
        world.report();
        world.sent();
        world.hear(PENDING);
        world.hear(r#"{"type":"left","room":"00000000000000000000000000000001","reason":"left"}"#);
        world.come_back();
        assert_eq!(world.sent_until(Micros::from_secs(600)), [0; 0]);
    }

    /// A client in a room, and what it says of reports.
    struct World {
        now: Micros,
        client: Client,
    }

    impl World {
        fn new() -> World {
            let client = Client::new(Micros::ZERO, ClientConfig::default(), 7);
            let mut world = World { now: Micros::ZERO, client };
            world.open();
            world.sent();
            world
        }

        fn open(&mut self) {
            self.client.handle_open(self.now);
            let id = "00000000000000000000000000000001";
            self.hear(&format!(
                r#"{{"type":"welcome","version":1,"server":"s","now":0,"player":"{id}","peer":"{id}","name":"Nia","resume":"r","resumed":false,"seat":"yours","ticket_key":"k","touch_ms":600000}}"#
            ));
            self.hear(&format!(
                r#"{{"type":"joined","returned":true,"peer":"{id}","slot":0,"ticket":"t","expires":9999999,"room":{{"id":"{id}","code":"BBBBBB","game":"gander","mode":"","build":"","seats":4,"drop_in":true,"status":"playing","round":1,"seed":"0000000000000001","epoch":1,"born":1,"host":"{id}","settings":{{}},"version":1,"members":[{{"peer":"{id}","player":"{id}","name":"Nia","slot":0,"palette":0}}]}},"ice":[]}}"#
            ));
        }

        fn come_back(&mut self) {
            self.client.handle_closed(self.now);
            self.client.reconnect(self.now);
            self.open();
            let _ = std::iter::from_fn(|| self.client.poll_event()).count();
        }

        fn report(&mut self) -> RequestId {
            let score = Score { peer: PeerId::from_u128(1), slot: Slot::at(0), score: 5, place: None };
            self.client.report(Report { round: 1, scores: vec![score], level: None, digest: None })
        }

        /// The numbers of the reports that are said now.
        fn sent(&mut self) -> Vec<u64> {
            self.client.handle_timeout(self.now);
            let said = std::iter::from_fn(|| self.client.poll_output()).filter_map(|output| match output {
                ClientOutput::Send(text) => Envelope::<ClientMessage>::decode(&text).ok(),
                _ => None,
            });
            let reports = said.filter(|said| matches!(said.message, ClientMessage::Report(_)));
            reports.filter_map(|said| said.id).collect()
        }

        /// The same until then, with a server that answers signs of life.
        fn sent_until(&mut self, end: Micros) -> Vec<u64> {
            let mut sent = self.sent();
            while let Some(at) = self.client.poll_timeout().filter(|at| *at <= end) {
                assert!(at > self.now, "what was due is done");
                self.now = at;
                sent.extend(self.sent());
                self.hear(r#"{"type":"ok"}"#);
            }
            self.now = end;
            sent
        }

        fn hear(&mut self, text: &str) -> Vec<ClientEvent> {
            Envelope::<crate::message::ServerMessage>::decode(text).expect("the server speaks properly");
            self.client.handle_text(self.now, text);
            std::iter::from_fn(|| self.client.poll_event()).collect()
        }
    }
}
