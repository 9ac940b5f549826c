//! Match reports until the server confirms that the result is stored.
//!
//! [`Client`](super::Client) drives it. The server first answers `pending`, and loses a pending
//! report if it stops. So a report is repeated after a while, after a temporary rejection, and to a
//! server that lost its memory. Absent: meaning of results.

use gaggle_kit::{Micros, Prng};

use super::backoff::Backoff;
use super::pending::Pending;
use super::{Client, ClientEvent, RequestId};
use crate::id::RoomId;
use crate::message::client::Report;
use crate::message::server::MatchResult;
use crate::message::{Rejection, RejectionCode};
use crate::view::Verdict;

/// Unconfirmed reports kept; a room has fewer undecided matches.
const KEPT_MAX: usize = 4;
/// Repeats of a report per connection. With the waits below they take about five minutes: as long
/// as a finished room stays, and longer than a restarted server waits for reports.
const AGAIN_MAX: u32 = 6;
/// Waits after a temporary rejection.
const AFTER_REFUSAL: Backoff = Backoff { initial: Micros::from_secs(1), max: Micros::from_secs(60) };
/// Waits after `pending`: the server waits at most 10 s for other reports.
const AFTER_PENDING: Backoff = Backoff { initial: Micros::from_secs(20), max: Micros::from_secs(60) };

/// Reports without a stored result.
#[derive(Debug, Default)]
pub(super) struct Reports(Vec<Kept>);

#[derive(Debug)]
struct Kept {
    request: u64,
    room: RoomId,
    report: Report,
    /// When to repeat it; none while an answer is outstanding.
    due: Option<Micros>,
    again: u32,
    /// Whether the server has answered `pending` once.
    is_taken: bool,
}

impl Reports {
    pub(super) fn due(&self) -> Option<Micros> {
        self.0.iter().filter_map(|kept| kept.due).min()
    }

    /// Adds a report. It replaces an earlier one about the same match.
    fn keep(&mut self, request: u64, room: RoomId, report: Report) {
        self.0.retain(|kept| (kept.room, kept.report.round) != (room, report.round));
        self.0.push(Kept { request, room, report, due: None, again: 0, is_taken: false });
        let excess = self.0.len().saturating_sub(KEPT_MAX);
        self.0.drain(..excess);
    }

    /// Removes the report of a match whose result is stored.
    pub(super) fn decided(&mut self, round: u32) {
        self.0.retain(|kept| kept.report.round != round);
    }

    /// Drops reports about other rooms.
    pub(super) fn keep_only(&mut self, room: Option<RoomId>) {
        self.0.retain(|kept| Some(kept.room) == room);
    }

    /// Restarts the repeats on a new connection, except for reports that [`Pending`] sends again.
    pub(super) fn restart(&mut self, now: Micros, pending: &Pending) {
        for kept in &mut self.0 {
            kept.again = 0;
            kept.due = (!pending.has(kept.request)).then_some(now);
        }
    }

    fn position(&self, request: u64) -> Option<usize> {
        self.0.iter().position(|kept| kept.request == request)
    }

    /// Due reports, in the order they were made.
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
    /// Schedules the next repeat, if any are left.
    fn plan(&mut self, now: Micros, backoff: Backoff, at_least: Micros, prng: &mut Prng) -> bool {
        let wait = backoff.wait(self.again + 1, prng).max(at_least);
        self.due = (self.again < AGAIN_MAX).then(|| now + wait);
        self.due.is_some()
    }
}

impl Client {
    /// Reports how the match ended. Repeated until the result is stored, as long as the client
    /// stays in the room.
    pub fn report(&mut self, report: Report) -> RequestId {
        let request = self.request(report.clone());
        if let Some(room) = self.room().map(|room| room.id) {
            self.reports.keep(request.0, room, report);
        }
        request
    }

    /// Repeats the reports that are due.
    pub(super) fn resend_reports(&mut self, now: Micros) {
        for (id, report) in self.reports.take_due(now) {
            self.transmit(Some(id), report.into());
        }
    }

    /// Handles the answer to a report. The game sees the first answer and the final one.
    pub(super) fn reported(&mut self, now: Micros, id: Option<u64>, result: MatchResult) {
        let is_final = result.verdict != Verdict::Pending;
        let kept = id.and_then(|id| self.reports.position(id));
        // A repeated report is no longer in `pending`.
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

    /// Handles a rejection. True if it was for a report that is repeated or was accepted before:
    /// the game does not see it then.
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
    fn report_after_temporary_rejection_is_repeated_silently() {
        let mut world = World::new();
        let request = world.report();
        assert_eq!(world.sent(), [1]);
        assert_eq!(world.hear(REFUSED), []);
        assert_eq!(world.sent_until(Micros::from_millis(4_900)), [0; 0], "rate limited");
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
    fn report_without_result_is_repeated() {
        let mut world = World::new();
        world.report();
        world.hear(PENDING);
        world.sent();
        assert_eq!(world.sent_until(Micros::from_secs(30)), [1]);
        assert_eq!(world.hear(PENDING), [], "no second event");
        let told =
            r#"{"type":"change","version":9,"events":[{"event":"result","round":1,"verdict":"agreed"}]}"#;
        assert_eq!(world.hear(told).len(), 1);
        assert_eq!(world.sent_until(Micros::from_secs(600)), [0; 0]);
    }

    #[test]
    fn report_rejected_repeatedly_is_given_up_with_event() {
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
        // A report that can never be right is not repeated at all.
        world.report();
        world.sent();
        let bad = REFUSED.replace("unavailable", "bad-report").replace("\"id\":1", "\"id\":2");
        assert_eq!(world.hear(&bad).len(), 1);
        assert_eq!(world.sent_until(Micros::from_secs(6_000)), [0; 0]);
    }

    #[test]
    fn server_without_memory_gets_report_again() {
        let mut world = World::new();
        world.report();
        world.sent();
        world.hear(PENDING);
        world.come_back();
        assert_eq!(world.sent(), [1]);
        // Also when the connection is lost again before it answers.
        world.come_back();
        assert_eq!(world.sent(), [1]);
        // A report whose answer was lost with the connection is sent once, not twice.
        let mut world = World::new();
        world.report();
        world.sent();
        world.come_back();
        assert_eq!(world.sent(), [1]);
        // A report about another room is dropped.
        let mut world = World::new();
        world.report();
        world.sent();
        world.hear(PENDING);
        world.hear(r#"{"type":"left","room":"00000000000000000000000000000001","reason":"left"}"#);
        world.come_back();
        assert_eq!(world.sent_until(Micros::from_secs(600)), [0; 0]);
    }

    /// A client in a room, and the reports it sends.
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

        /// Numbers of the reports sent now.
        fn sent(&mut self) -> Vec<u64> {
            self.client.handle_timeout(self.now);
            let said = std::iter::from_fn(|| self.client.poll_output()).filter_map(|output| match output {
                ClientOutput::Send(text) => Envelope::<ClientMessage>::decode(&text).ok(),
                _ => None,
            });
            let reports = said.filter(|said| matches!(said.message, ClientMessage::Report(_)));
            reports.filter_map(|said| said.id).collect()
        }

        /// Numbers of the reports sent until `end`, with a server that answers keepalives.
        fn sent_until(&mut self, end: Micros) -> Vec<u64> {
            let mut sent = self.sent();
            while let Some(at) = self.client.poll_timeout().filter(|at| *at <= end) {
                assert!(at > self.now, "nothing is overdue");
                self.now = at;
                sent.extend(self.sent());
                self.hear(r#"{"type":"ok"}"#);
            }
            self.now = end;
            sent
        }

        fn hear(&mut self, text: &str) -> Vec<ClientEvent> {
            Envelope::<crate::message::ServerMessage>::decode(text).expect("server text is valid");
            self.client.handle_text(self.now, text);
            std::iter::from_fn(|| self.client.poll_event()).collect()
        }
    }
}
