//! Negotiation of a direct connection: which peer offers, which answers, which attempt counts.
//!
//! Both WebRTC carriers use it: a state machine between signals and the platform's WebRTC
//! implementation, called its *engine*. Absent: content of descriptions, sockets.

use std::collections::VecDeque;

use gaggle_kit::{DecodeError, Micros, PeerId, Prng, VecMap};

use crate::signal::{Candidate, Signal, SignalBody};

/// Candidates kept until their description is known.
const EARLY_CANDIDATES_MAX: usize = 32;
/// Candidates accepted per attempt: more than any honest peer has addresses.
const CANDIDATES_MAX: u32 = 64;
/// A younger offer is still in flight: repeating it would only restart the attempt.
const OFFER_PATIENCE: Micros = Micros::from_millis(1_500);

/// Attempts a peer may cause within [`ATTEMPTS_WITHIN`]: each is a connection, and costs far more
/// than the signal that requests it.
const ATTEMPTS_MAX: u8 = 4;
const ATTEMPTS_WITHIN: Micros = Micros::from_secs(4);

/// Command for the engine, about one peer. Results carry the attempt number; those of older
/// attempts are ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NegotiationCommand {
    /// Create a connection and an offer: [`Negotiator::handle_description`].
    Offer,
    /// Create a connection from this offer, and an answer: [`Negotiator::handle_description`].
    Answer(String),
    /// Apply the answer to the local offer.
    Accept(String),
    /// Add an address of the other side.
    Candidate(Candidate),
    /// Close the connection of this attempt.
    Drop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// An offer was requested.
    Called,
    /// Descriptions are in flight.
    Negotiating,
    /// Both descriptions are known.
    Described,
    Open,
}

#[derive(Debug)]
struct Meeting {
    attempt: u32,
    stage: Stage,
    since: Micros,
    early: Vec<Candidate>,
    candidates: u32,
}

/// Negotiations with all peers.
#[derive(Debug)]
pub struct Negotiator {
    local: PeerId,
    attempts: Prng,
    meetings: VecMap<PeerId, Meeting>,
    /// Start of the window, and attempts each peer caused in it.
    begun: VecMap<PeerId, (Micros, u8)>,
    commands: VecDeque<(PeerId, u32, NegotiationCommand)>,
    signals: VecDeque<(PeerId, Signal)>,
}

impl Negotiator {
    /// For the local peer. The seed makes attempt numbers differ from those before a restart.
    pub fn new(local: PeerId, seed: u64) -> Negotiator {
        Negotiator {
            local,
            attempts: Prng::new(seed),
            meetings: VecMap::new(),
            begun: VecMap::new(),
            commands: VecDeque::new(),
            signals: VecDeque::new(),
        }
    }

    /// Next command: peer, attempt, command.
    pub fn poll_command(&mut self) -> Option<(PeerId, u32, NegotiationCommand)> {
        self.commands.pop_front()
    }

    /// Next signal to send.
    pub fn poll_signal(&mut self) -> Option<(PeerId, Signal)> {
        self.signals.pop_front()
    }

    /// Starts a connection to this peer, or a new one.
    pub fn connect(&mut self, now: Micros, peer: PeerId) {
        let negotiating = self.meetings.get(&peer).is_some_and(|meeting| {
            matches!(meeting.stage, Stage::Negotiating | Stage::Described)
                && now.since(meeting.since) < OFFER_PATIENCE
        });
        if negotiating {
            return;
        }
        if self.offers_to(peer) {
            self.offer(now, peer);
        } else {
            self.end(peer);
            let meeting =
                Meeting { attempt: 0, stage: Stage::Called, since: now, early: vec![], candidates: 0 };
            self.meetings.insert(peer, meeting);
            self.signals.push_back((peer, Signal { attempt: 0, body: SignalBody::Call }));
        }
    }

    /// The peer with the greater id offers, so that offers never cross.
    fn offers_to(&self, peer: PeerId) -> bool {
        self.local > peer
    }

    fn offer(&mut self, now: Micros, peer: PeerId) {
        self.end(peer);
        let attempt = self.attempts.next_u32().max(1);
        let meeting =
            Meeting { attempt, stage: Stage::Negotiating, since: now, early: vec![], candidates: 0 };
        self.meetings.insert(peer, meeting);
        self.commands.push_back((peer, attempt, NegotiationCommand::Offer));
    }

    /// Drops an attempt without notifying the other side.
    fn end(&mut self, peer: PeerId) {
        if let Some(meeting) = self.meetings.remove(&peer)
            && meeting.attempt != 0
        {
            self.commands.push_back((peer, meeting.attempt, NegotiationCommand::Drop));
        }
    }

    /// Handles a signal of the other side.
    ///
    /// # Errors
    /// If it is not a signal. Signals of other attempts are ignored.
    pub fn handle_signal(&mut self, now: Micros, from: PeerId, text: &str) -> Result<(), DecodeError> {
        let Signal { attempt, body } = Signal::parse(text)?;
        match body {
            SignalBody::Call if self.offers_to(from) => {
                let fresh = self.meetings.get(&from).is_some_and(|meeting| {
                    meeting.stage != Stage::Open && now.since(meeting.since) < OFFER_PATIENCE
                });
                if !fresh && self.may_begin(now, from) {
                    self.offer(now, from);
                }
            }
            SignalBody::Offer(description) if !self.offers_to(from) => {
                if self.current(from, attempt).is_some() || !self.may_begin(now, from) {
                    return Ok(());
                }
                self.end(from);
                let meeting =
                    Meeting { attempt, stage: Stage::Described, since: now, early: vec![], candidates: 0 };
                self.meetings.insert(from, meeting);
                self.commands.push_back((from, attempt, NegotiationCommand::Answer(description)));
            }
            SignalBody::Answer(description) => {
                let Some(meeting) = self.current(from, attempt) else { return Ok(()) };
                if meeting.stage == Stage::Negotiating {
                    meeting.stage = Stage::Described;
                    let early = std::mem::take(&mut meeting.early);
                    self.commands.push_back((from, attempt, NegotiationCommand::Accept(description)));
                    let early = early
                        .into_iter()
                        .map(|candidate| (from, attempt, NegotiationCommand::Candidate(candidate)));
                    self.commands.extend(early);
                }
            }
            SignalBody::Candidate(candidate) => self.take_candidate(from, attempt, candidate),
            SignalBody::End => {
                if self.current(from, attempt).is_some() {
                    self.end(from);
                }
            }
            // Requests beyond a peer's limit are ignored; invitations are for the relay.
            SignalBody::Call | SignalBody::Offer(_) | SignalBody::Invite => {}
        }
        Ok(())
    }

    /// Whether a peer may cause one more attempt. If not, it repeats its request later.
    fn may_begin(&mut self, now: Micros, peer: PeerId) -> bool {
        self.begun.retain(|_, (since, _)| now.since(*since) < ATTEMPTS_WITHIN);
        let (_, count) = self.begun.get_or_insert_with(peer, || (now, 0));
        *count = count.saturating_add(1);
        *count <= ATTEMPTS_MAX
    }

    fn take_candidate(&mut self, from: PeerId, attempt: u32, candidate: Candidate) {
        let Some(meeting) = self.current(from, attempt) else { return };
        meeting.candidates += 1;
        if meeting.candidates > CANDIDATES_MAX {
            return;
        }
        if meeting.stage == Stage::Negotiating {
            if meeting.early.len() < EARLY_CANDIDATES_MAX {
                meeting.early.push(candidate);
            }
        } else {
            self.commands.push_back((from, attempt, NegotiationCommand::Candidate(candidate)));
        }
    }

    fn current(&mut self, peer: PeerId, attempt: u32) -> Option<&mut Meeting> {
        self.meetings.get_mut(&peer).filter(|meeting| meeting.attempt == attempt && attempt != 0)
    }

    /// The engine has created the local description of an attempt.
    pub fn handle_description(&mut self, peer: PeerId, attempt: u32, description: String) {
        let offers = self.offers_to(peer);
        if self.current(peer, attempt).is_some() {
            let body = if offers { SignalBody::Offer(description) } else { SignalBody::Answer(description) };
            self.signals.push_back((peer, Signal { attempt, body }));
        }
    }

    /// The engine has found a local address.
    pub fn handle_candidate(&mut self, peer: PeerId, attempt: u32, candidate: Candidate) {
        if self.current(peer, attempt).is_some() {
            self.signals.push_back((peer, Signal { attempt, body: SignalBody::Candidate(candidate) }));
        }
    }

    /// The engine's connection is open. Returns whether it is the current attempt.
    pub fn handle_opened(&mut self, peer: PeerId, attempt: u32) -> bool {
        let meeting = self.current(peer, attempt);
        meeting.map(|meeting| meeting.stage = Stage::Open).is_some()
    }

    /// The engine's connection failed or ended. Returns whether it was the current attempt.
    pub fn handle_failed(&mut self, peer: PeerId, attempt: u32) -> bool {
        let counted = self.current(peer, attempt).is_some();
        if counted {
            self.meetings.remove(&peer);
        }
        counted
    }

    /// Ends the negotiation with this peer.
    pub fn remove(&mut self, peer: PeerId) {
        if let Some(attempt) =
            self.meetings.get(&peer).map(|meeting| meeting.attempt).filter(|attempt| *attempt != 0)
        {
            self.signals.push_back((peer, Signal { attempt, body: SignalBody::End }));
        }
        self.end(peer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOW: PeerId = PeerId::from_u128(1);
    const HIGH: PeerId = PeerId::from_u128(2);

    /// Two negotiators with minimal engines: describes when told to, records everything.
    struct Pair {
        sides: [Negotiator; 2],
        done: Vec<(PeerId, u32, NegotiationCommand)>,
        now: Micros,
    }

    impl Pair {
        fn new() -> Pair {
            Pair {
                sides: [Negotiator::new(LOW, 1), Negotiator::new(HIGH, 2)],
                done: vec![],
                now: Micros::ZERO,
            }
        }

        fn side(&mut self, id: PeerId) -> &mut Negotiator {
            &mut self.sides[usize::from(id == HIGH)]
        }

        fn settle(&mut self) {
            loop {
                let mut quiet = true;
                for (me, other) in [(LOW, HIGH), (HIGH, LOW)] {
                    while let Some((peer, attempt, command)) = self.side(me).poll_command() {
                        quiet = false;
                        if matches!(command, NegotiationCommand::Offer | NegotiationCommand::Answer(_)) {
                            let address =
                                Candidate { line: 0, mid: "0".into(), candidate: format!("at {me}") };
                            // Addresses may be found before the description is sent.
                            self.side(me).handle_candidate(peer, attempt, address);
                            self.side(me).handle_description(peer, attempt, format!("{me}"));
                        }
                        self.done.push((me, attempt, command));
                    }
                    let now = self.now;
                    while let Some((to, signal)) = self.side(me).poll_signal() {
                        quiet = false;
                        assert_eq!(to, other);
                        self.side(other).handle_signal(now, me, &signal.to_string()).unwrap();
                    }
                }
                if quiet {
                    return;
                }
            }
        }

        fn words(&mut self) -> Vec<(PeerId, &'static str)> {
            let word = |command: &NegotiationCommand| match command {
                NegotiationCommand::Offer => "offer",
                NegotiationCommand::Answer(_) => "answer",
                NegotiationCommand::Accept(_) => "accept",
                NegotiationCommand::Candidate(_) => "candidate",
                NegotiationCommand::Drop => "drop",
            };
            self.done.drain(..).map(|(me, _, command)| (me, word(&command))).collect()
        }
    }

    #[test]
    fn either_side_may_request_and_only_one_offers() {
        for who_asks in [vec![LOW], vec![HIGH], vec![LOW, HIGH], vec![HIGH, LOW]] {
            let mut pair = Pair::new();
            for me in who_asks.clone() {
                let other = if me == LOW { HIGH } else { LOW };
                pair.side(me).connect(Micros::ZERO, other);
            }
            pair.settle();
            let words = pair.words();
            let count = |wanted: (PeerId, &str)| words.iter().filter(|done| **done == wanted).count();
            assert_eq!(
                (count((HIGH, "offer")), count((LOW, "answer")), count((HIGH, "accept"))),
                (1, 1, 1),
                "{who_asks:?}: {words:?}"
            );
            assert_eq!(count((LOW, "offer")), 0);
            assert!(count((HIGH, "candidate")) == 1, "{words:?}");
        }
    }

    #[test]
    fn lost_connection_is_replaced_and_old_one_dropped() {
        let mut pair = Pair::new();
        pair.side(HIGH).connect(Micros::ZERO, LOW);
        pair.settle();
        let attempt = pair.done[0].1;
        assert!(pair.side(LOW).handle_opened(HIGH, attempt) && pair.side(HIGH).handle_opened(LOW, attempt));
        pair.words();
        pair.now = Micros::from_secs(9);
        assert!(pair.side(LOW).handle_failed(HIGH, attempt));
        let now = pair.now;
        pair.side(LOW).connect(now, HIGH);
        pair.settle();
        let words = pair.words();
        assert_eq!(words.iter().filter(|done| done.1 == "drop").collect::<Vec<_>>(), [&(HIGH, "drop")]);
        assert!(words.contains(&(HIGH, "offer")) && words.contains(&(LOW, "answer")), "{words:?}");
        assert!(!pair.side(HIGH).handle_opened(LOW, attempt), "the old attempt does not count");
    }

    #[test]
    fn flood_of_candidates_is_bounded_and_strangers_ignored() {
        let mut low = Negotiator::new(LOW, 1);
        low.handle_signal(Micros::ZERO, HIGH, "candidate 5 0 0\nx").unwrap();
        low.handle_signal(Micros::ZERO, HIGH, "answer 5\nx").unwrap();
        low.handle_signal(Micros::ZERO, HIGH, "call 5").unwrap();
        assert_eq!(low.poll_command(), None, "none of that belongs to a local attempt");
        low.handle_signal(Micros::ZERO, HIGH, "offer 5\nx").unwrap();
        for _ in 0..1_000 {
            low.handle_signal(Micros::ZERO, HIGH, "candidate 5 0 0\nx").unwrap();
        }
        assert_eq!(std::iter::from_fn(|| low.poll_command()).count(), 1 + CANDIDATES_MAX as usize);
        assert!(low.handle_signal(Micros::ZERO, HIGH, "nonsense").is_err());
    }

    #[test]
    fn flood_of_offers_and_calls_starts_few_connections() {
        let (mut low, mut high) = (Negotiator::new(LOW, 1), Negotiator::new(HIGH, 2));
        let began = |side: &mut Negotiator| {
            let commands = std::iter::from_fn(|| side.poll_command());
            commands
                .filter(|(.., done)| {
                    matches!(done, NegotiationCommand::Answer(_) | NegotiationCommand::Offer)
                })
                .count()
        };
        for n in 1..=1_500 {
            low.handle_signal(Micros::ZERO, HIGH, &format!("offer {n}\nx")).unwrap();
            let end = Signal { attempt: n, body: SignalBody::End };
            low.handle_signal(Micros::ZERO, HIGH, &end.to_string()).unwrap();
        }
        assert_eq!(began(&mut low), 4);
        for _ in 0..1_500 {
            let call = Signal { attempt: 0, body: SignalBody::Call };
            high.handle_signal(Micros::ZERO, LOW, &call.to_string()).unwrap();
            if let Some(attempt) = high.meetings.get(&LOW).map(|meeting| meeting.attempt) {
                let end = Signal { attempt, body: SignalBody::End };
                high.handle_signal(Micros::ZERO, LOW, &end.to_string()).unwrap();
            }
        }
        assert_eq!(began(&mut high), 4);
        // Other peers are not affected, and neither is the same one later.
        low.handle_signal(Micros::ZERO, PeerId::from_u128(3), "offer 1\nx").unwrap();
        low.handle_signal(ATTEMPTS_WITHIN, HIGH, "offer 9999\nx").unwrap();
        assert_eq!(began(&mut low), 2);
    }
}
