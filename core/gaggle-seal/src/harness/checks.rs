//! Invariants of every random run: one content per frame, at every holder, permanently.
//!
//! The harness reports what each machine sealed, learned and gave. Absent: the network.

use std::collections::{BTreeMap, BTreeSet};

use gaggle_kit::{ByteReader, ByteSink, Frame, Slot, StateHasher};

use super::Run;
use crate::client::{Client, ClientPhase};
use crate::lineage::{Epoch, TERMS_MAX};
use crate::log::{Cell, Log};
use crate::packet::{Merged, complete};
use crate::referee::{Referee, RefereePhase};
use crate::roster::StreamId;

/// Missed frames for which an input is repeated.
const REPEAT_FRAMES: u16 = 5;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stats {
    pub(super) frames: u64,
    pub(super) missed: u64,
    pub(super) passive: u64,
    pub(super) refused: u64,
    pub(super) joins: u64,
    pub(super) outs: u64,
    pub(super) boots: u64,
    pub(super) terms: u64,
    pub(super) restarts: u64,
    pub(super) anew: u64,
    pub(super) witness_behind: u32,
}

impl Stats {
    pub(super) fn add(&mut self, other: &Stats) {
        self.frames += other.frames;
        self.missed += other.missed;
        self.passive += other.passive;
        self.refused += other.refused;
        self.joins += other.joins;
        self.outs += other.outs;
        self.boots += other.boots;
        self.terms += other.terms;
        self.restarts += other.restarts;
        self.anew += other.anew;
        self.witness_behind = self.witness_behind.max(other.witness_behind);
    }
}

/// Content of an entry: a value and whether it repeats, or that no further entries follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    Value([u8; 4], bool),
    Passive,
}

#[derive(Clone, Debug, Default)]
struct Follower {
    frame: Frame,
    /// State of the client's simulated game.
    state: u64,
    refused: BTreeSet<Frame>,
    has_state: bool,
}

pub(super) struct Checks {
    run: Run,
    pub(super) stats: Stats,
    pub(super) failure: Option<String>,
    /// Content and state of every frame of a match, with the hash of its log.
    finals: BTreeMap<(u64, Frame), (u64, u64, u64)>,
    given: BTreeMap<(StreamId, Frame), Given>,
    last: BTreeMap<StreamId, [u8; 4]>,
    followers: Vec<Follower>,
    referee: Frame,
    was_anew: bool,
    behind: u32,
    stands: (Frame, u32),
}

impl Checks {
    pub(super) fn new(run: Run) -> Checks {
        Checks {
            run,
            stats: Stats::default(),
            failure: None,
            finals: BTreeMap::new(),
            given: BTreeMap::new(),
            last: BTreeMap::new(),
            followers: vec![Follower::default(); run.machines],
            referee: Frame::START,
            was_anew: false,
            behind: 0,
            stands: (Frame::START, 0),
        }
    }

    pub(super) fn fail(&mut self, failure: String) {
        self.failure.get_or_insert(failure);
    }

    pub(super) fn begin(&mut self, index: usize) {
        self.followers[index] = Follower::default();
    }

    pub(super) fn restart(&mut self, sealed: Frame, journal: bool) {
        self.stats.restarts += 1;
        self.referee = sealed;
        // Frames the referee sealed and told no client of are not final.
        if journal {
            self.finals.retain(|(_, frame), _| *frame <= sealed);
        }
    }

    pub(super) fn resumed(&mut self, base: Frame, is_anew: bool) {
        self.stats.anew += u64::from(is_anew);
        self.was_anew |= is_anew;
        self.referee = base;
        // Frames that only crashed machines knew are dropped; `follow` checks whether a running one
        // knew them.
        self.finals.retain(|(_, frame), _| *frame <= base);
    }

    pub(super) fn has_value(&self, stream: StreamId) -> bool {
        self.last.contains_key(&stream)
    }

    pub(super) fn entry(&mut self, stream: StreamId, frame: Frame, value: Option<u32>, passive: bool) {
        let given = match value {
            _ if passive => Given::Passive,
            Some(value) => Given::Value(value.to_le_bytes(), false),
            None => Given::Value(self.last[&stream], true),
        };
        if let Given::Value(value, _) = given {
            self.last.insert(stream, value);
        }
        self.given.insert((stream, frame), given);
    }

    /// The referee keeps the frames it sealed.
    pub(super) fn seal(&mut self, referee: &Referee) {
        let log = referee.log();
        if referee.phase() != RefereePhase::Running {
            return;
        }
        for number in self.referee.number() + 1..=log.sealed().number() {
            self.stats.frames += 1;
            for slot in (0..log.shape().slots()).map(Slot::at) {
                match log.cell(Frame::new(number), slot) {
                    Cell::Missed { .. } => self.stats.missed += 1,
                    Cell::Passive => self.stats.passive += 1,
                    _ => {}
                }
            }
        }
        let match_id = referee.lineage().match_id();
        let first = self.referee.next().max(log.oldest());
        for number in first.number()..=log.sealed().number() {
            self.hold("referee", match_id, log, Frame::new(number));
        }
        self.referee = log.sealed();
        if self.run.steady {
            let is_stuck = self.stands.0 == log.sealed();
            self.stands = (log.sealed(), if is_stuck { self.stands.1 + 1 } else { 0 });
            if self.stands.1 > 60 {
                self.fail(format!("PROGRESS the sealer stands at {}", log.sealed()));
            }
        }
    }

    /// A machine holds a frame: its content must be equal to every other holder's.
    fn hold(&mut self, holder: &str, match_id: u64, log: &Log, frame: Frame) {
        let (content, hash) = (digest(log, frame), log.hash(frame).unwrap_or(0));
        self.expect_given(holder, log, frame);
        let before = self.straight(match_id, frame.previous());
        match self.finals.get(&(match_id, frame)) {
            Some((other, _, _)) if *other != content => {
                self.fail(format!("AGREEMENT {holder} frame {frame}: {content:x} against {other:x}"));
            }
            Some((_, _, other)) if *other != hash => self.fail(format!("HASH {holder} frame {frame}")),
            Some(_) => {}
            None => {
                let state = before.map_or(0, |before| step(before, log, frame));
                self.finals.insert((match_id, frame), (content, state, hash));
            }
        }
    }

    /// State of a direct simulation of the sealed log.
    pub(super) fn straight(&self, match_id: u64, frame: Frame) -> Option<u64> {
        if frame == Frame::START {
            return Some(0);
        }
        self.finals.get(&(match_id, frame)).map(|(_, state, _)| *state)
    }

    fn expect_given(&mut self, holder: &str, log: &Log, frame: Frame) {
        for slot in (0..log.shape().slots()).map(Slot::at) {
            if let Cell::Made { value, is_repeated } = log.cell(frame, slot) {
                let row = log.row(frame, slot);
                let given = row.and_then(|row| self.given.get(&(row.stream, frame)).copied());
                let matches = matches!(given, Some(Given::Value(given, repeats))
                    if given == value && repeats == is_repeated);
                if !matches {
                    self.fail(format!("FORGED {holder} frame {frame} slot {slot}: {given:?}"));
                }
            }
        }
    }

    /// A client took a packet: every new frame in its log is checked and simulated.
    pub(super) fn follow(&mut self, index: usize, client: &Client) {
        let Some(lineage) = client.lineage().filter(|_| client.phase() == ClientPhase::Following) else {
            return;
        };
        let log = client.log();
        let follower = self.followers[index].clone();
        let first = follower.frame.next();
        for number in first.number()..=log.sealed().number() {
            let frame = Frame::new(number);
            if !log.keeps(frame) {
                self.fail(format!("HISTORY p{index} forgot {frame} before it was simulated"));
                return;
            }
            self.hold(&format!("p{index}"), lineage.match_id(), log, frame);
            let state = step(self.followers[index].state, log, frame);
            (self.followers[index].frame, self.followers[index].state) = (frame, state);
            if self.straight(lineage.match_id(), frame) != Some(state) {
                self.fail(format!("STATE p{index} frame {frame}"));
            }
            self.expect_refused(index, client, frame);
        }
    }

    /// Checks that the owner of an entry knows whether it counted.
    fn expect_refused(&mut self, index: usize, client: &Client, frame: Frame) {
        let slot = Slot::at(index - 1);
        let is_own = client.log().row(frame, slot).is_some_and(|row| row.stream == client.stream());
        let given = self.given.get(&(client.stream(), frame));
        let counted = match (client.log().cell(frame, slot), given) {
            (_, None) => return,
            (Cell::Made { .. }, Some(Given::Value(..))) | (Cell::Passive, Some(Given::Passive)) => true,
            _ => false,
        };
        let refused = self.followers[index].refused.remove(&frame);
        self.stats.refused += u64::from(refused);
        if is_own && counted == refused {
            self.fail(format!("REFUSED p{index} frame {frame}: counted {counted}, told {refused}"));
        }
    }

    pub(super) fn state(&self, index: usize) -> Option<(Frame, u64)> {
        let follower = &self.followers[index];
        follower.has_state.then_some((follower.frame, follower.state))
    }

    pub(super) fn boot(&mut self, index: usize, frame: Frame, state: u64) {
        self.stats.boots += 1;
        let follower = &mut self.followers[index];
        (follower.frame, follower.state, follower.has_state) = (frame, state, true);
        follower.refused.clear();
    }

    pub(super) fn refused(&mut self, index: usize, frame: Frame) {
        if !self.followers[index].refused.insert(frame) {
            self.fail(format!("REFUSED p{index} frame {frame} told twice"));
        }
    }

    pub(super) fn term_changed(&mut self, index: usize, kept: Frame, sealed: Frame, epoch: Epoch) {
        self.stats.terms += 1;
        if kept < sealed {
            self.fail(format!("FINAL p{index}: final {sealed} but term {epoch:?} keeps {kept}"));
        }
    }

    /// The match begins again: entries of the old one do not count in it.
    pub(super) fn reset(&mut self, index: usize, stream: StreamId) {
        self.given.retain(|(other, _), _| *other != stream);
        self.last.remove(&stream);
        if !self.was_anew && self.stats.restarts < TERMS_MAX as u64 {
            self.fail(format!("RESET p{index} without need"));
        }
        self.followers[index] = Follower::default();
    }

    /// Checks that the undisturbed client keeps up with its packets.
    pub(super) fn witness(&mut self, client: &Client, bytes: &[u8]) {
        let Ok(head) = Merged::read(&mut ByteReader::new(bytes)) else { return };
        let held = client.log().sealed();
        if complete(head.sealed_low, held).is_some_and(|told| told > held) {
            self.behind += 1;
            self.stats.witness_behind = self.stats.witness_behind.max(self.behind);
            if self.behind > 40 {
                self.fail(format!("PROGRESS the witness stands at {held}"));
            }
        } else {
            self.behind = 0;
        }
    }
}

/// Content of a frame: rows and cells.
fn digest(log: &Log, frame: Frame) -> u64 {
    let mut hasher = StateHasher::new();
    for slot in (0..log.shape().slots()).map(Slot::at) {
        if let Some(row) = log.row(frame, slot) {
            hasher.put(row.stream.peer.as_bytes());
            hasher.put(&row.stream.incarnation.to_le_bytes());
            hasher.put(&row.first.number().to_le_bytes());
        }
        hasher.put(format!("{slot} {:?}", log.cell(frame, slot)).as_bytes());
    }
    hasher.finish()
}

/// A game that depends on every input and its history.
fn step(state: u64, log: &Log, frame: Frame) -> u64 {
    let mut state = state.rotate_left(7) ^ u64::from(frame.number());
    for slot in (0..log.shape().slots()).map(Slot::at) {
        let number = |value: &[u8]| value.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let input = match log.cell(frame, slot) {
            Cell::Made { value, is_repeated: false } => number(value) << 1,
            Cell::Made { value, is_repeated: true } => number(value) << 1 | 1,
            Cell::Missed { run, last: Some(value) } if run <= REPEAT_FRAMES => number(value) << 1 | 1,
            Cell::Missed { .. } | Cell::Passive => 0,
            Cell::Absent => 3,
        };
        state = (state ^ input).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    state
}
