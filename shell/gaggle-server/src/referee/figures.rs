//! Counters of the referees of this process, for metrics and the operator's page.
//!
//! Referee threads write them, `metrics.rs` and `operator.rs` read them. Absent: referees.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gaggle_lobby::RoomId;
use gaggle_seal::{CloseReason, Fault, RefereePhase, RefereeRoom, RefereeStats};

use crate::metrics::{self, Histogram, MetricsSource, counter, gauge};

/// Figures of one room's referee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RoomFigures {
    boot: u32,
    is_running: bool,
    members: u64,
    stats: RefereeStats,
    /// Frames by which players predict ahead on average, in thousandths.
    depth_permille: u32,
    /// Players more than a second behind.
    behind: u64,
}

#[derive(Debug, Default)]
struct Counts {
    rooms: BTreeMap<RoomId, RoomFigures>,
    /// Counters of rooms that are closed.
    closed: RefereeStats,
    resumed: BTreeMap<&'static str, u64>,
    faults: BTreeMap<&'static str, u64>,
    desyncs: u64,
    journal_bytes: u64,
    journal_failures: u64,
    segments_damaged: u64,
    datagrams_dropped: u64,
}

/// Counters of all referee threads.
#[derive(Debug, Default)]
pub(super) struct Figures {
    counts: Mutex<Counts>,
    /// Time from the due time of a frame until it was sealed.
    pub(super) lateness: Histogram,
    /// Time to write the journals of a tick.
    pub(super) journal: Histogram,
}

impl Figures {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn resumed(&self, how: &'static str) {
        *self.lock().resumed.entry(how).or_default() += 1;
    }

    pub(super) fn desynced(&self) {
        self.lock().desyncs += 1;
    }

    pub(super) fn closed(&self, reason: &CloseReason) {
        let kind = match reason {
            CloseReason::Incompatible => "incompatible",
            CloseReason::Settings => "settings",
            CloseReason::Silent => "no_hello",
            CloseReason::Rejected(_) => "rejected",
            CloseReason::Fault(Fault::Malformed(_)) => "malformed",
            CloseReason::Fault(Fault::Equivocation { .. }) => "equivocation",
            CloseReason::Fault(Fault::AckBeyondSealed(_)) => "ack_beyond_sealed",
            CloseReason::Fault(Fault::Flood) => "flood",
            CloseReason::Fault(_) => "other",
        };
        *self.lock().faults.entry(kind).or_default() += 1;
    }

    pub(super) fn journaled(&self, bytes: usize) {
        self.lock().journal_bytes += bytes as u64;
    }

    pub(super) fn journal_failed(&self) {
        self.lock().journal_failures += 1;
    }

    pub(super) fn segment_damaged(&self) {
        self.lock().segments_damaged += 1;
    }

    pub(super) fn set_dropped(&self, datagrams: u64) {
        self.lock().datagrams_dropped = datagrams;
    }

    /// Replaces the figures of a room.
    pub(super) fn look(&self, id: RoomId, room: &RefereeRoom) {
        let referee = room.referee();
        let (depth_permille, behind) = referee.map_or((0, 0), |referee| referee.health());
        let figures = RoomFigures {
            boot: room.epoch().0,
            is_running: referee.is_some_and(|referee| referee.phase() == RefereePhase::Running),
            members: room.member_count() as u64,
            stats: referee.map(|referee| referee.stats()).unwrap_or_default(),
            depth_permille,
            behind: behind as u64,
        };
        self.lock().rooms.insert(id, figures);
    }

    /// Adds the counters of a closed room to those of all closed ones.
    pub(super) fn forget(&self, id: RoomId) {
        let mut counts = self.lock();
        if let Some(room) = counts.rooms.remove(&id) {
            counts.closed = sum(counts.closed, room.stats);
        }
    }
}

fn sum(a: RefereeStats, b: RefereeStats) -> RefereeStats {
    RefereeStats {
        frames_sealed: a.frames_sealed + b.frames_sealed,
        entries_taken: a.entries_taken + b.entries_taken,
        entries_refused: a.entries_refused + b.entries_refused,
        packets_sent: a.packets_sent + b.packets_sent,
        bytes_sent: a.bytes_sent + b.bytes_sent,
        over_rate: a.over_rate + b.over_rate,
        states_donated: a.states_donated + b.states_donated,
        desyncs: a.desyncs + b.desyncs,
        logs_rejected: a.logs_rejected + b.logs_rejected,
        events_dropped: a.events_dropped + b.events_dropped,
    }
}

fn by(out: &mut String, name: &str, about: &str, label: &str, counts: &BTreeMap<&'static str, u64>) {
    let _ = writeln!(out, "# HELP {name} {about}\n# TYPE {name} counter");
    for (key, count) in counts {
        let _ = writeln!(out, "{name}{{{label}=\"{key}\"}} {count}");
    }
}

impl MetricsSource for Figures {
    fn render(&self, out: &mut String) {
        let counts = self.lock();
        let total = counts.rooms.values().fold(counts.closed, |total, room| sum(total, room.stats));
        let members: u64 = counts.rooms.values().map(|room| room.members).sum();
        let behind: u64 = counts.rooms.values().map(|room| room.behind).sum();
        gauge(out, "gaggle_referee_rooms", "Rooms with a referee here.", counts.rooms.len() as u64);
        gauge(out, "gaggle_referee_members", "Players and spectators connected to referees.", members);
        gauge(out, "gaggle_referee_behind", "Players more than a second behind.", behind);
        for (name, about, value) in [
            ("frames_sealed", "Frames sealed.", total.frames_sealed),
            ("entries_taken", "Entries that came in time.", total.entries_taken),
            ("entries_refused", "Entries that came too late to count.", total.entries_refused),
            ("packets_sent", "Merged packets sent.", total.packets_sent),
            ("bytes_sent", "Bytes of merged packets.", total.bytes_sent),
            ("over_rate", "Packets dropped because a player exceeded its rate.", total.over_rate),
            ("states_donated", "States that players gave for joiners.", total.states_donated),
            ("desyncs", "Players whose game differed from the others'.", counts.desyncs),
            ("logs_rejected", "Players whose log differed from the referee's.", total.logs_rejected),
            ("journal_bytes", "Bytes written to journals.", counts.journal_bytes),
            (
                "journal_failures",
                "Journals that could not be written; their rooms stopped.",
                counts.journal_failures,
            ),
            ("segments_damaged", "Journal files found damaged at the start.", counts.segments_damaged),
            ("datagrams_dropped", "Datagrams dropped before a referee took them.", counts.datagrams_dropped),
        ] {
            counter(out, &format!("gaggle_referee_{name}_total"), about, value);
        }
        let resumed = "Matches that went on after a restart, by what they went on from.";
        by(out, "gaggle_referee_resumed_total", resumed, "from", &counts.resumed);
        let closed = "Links of players that referees closed, by reason.";
        by(out, "gaggle_referee_closed_total", closed, "reason", &counts.faults);
        let late = "Time from the due time of a frame until it was sealed.";
        self.lateness.render(out, "gaggle_referee_seal_lateness_seconds", late);
        self.journal.render(
            out,
            "gaggle_referee_journal_write_seconds",
            "Time to write the journals of a tick.",
        );
    }

    fn figures(&self) -> metrics::Figures {
        let counts = self.lock();
        let total = counts.rooms.values().fold(counts.closed, |total, room| sum(total, room.stats));
        metrics::Figures {
            now: vec![("referee rooms", counts.rooms.len() as u64)],
            counts: vec![("frames sealed", total.frames_sealed), ("entries refused", total.entries_refused)],
        }
    }

    fn room_figures(&self, room: RoomId) -> Vec<(&'static str, u64)> {
        let counts = self.lock();
        let Some(room) = counts.rooms.get(&room) else { return Vec::new() };
        let entries = (room.stats.entries_taken + room.stats.entries_refused).max(1);
        vec![
            ("boot", room.boot.into()),
            ("running", room.is_running.into()),
            ("members", room.members),
            ("refused_permille", room.stats.entries_refused * 1_000 / entries),
            ("depth_permille", room.depth_permille.into()),
            ("behind", room.behind),
        ]
    }
}
