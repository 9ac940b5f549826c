//! Paths to one peer: which is used, and what to try next.
//!
//! Decides only; `paths.rs` carries out. Absent: carriers, packets.

use gaggle_kit::{Micros, PeerId};

use super::{Path, PathConfig, PathReason};

/// Longest delay between retries of a better path.
const RETRY_MAX: Micros = Micros::from_secs(60);

/// One path to the peer.
#[derive(Debug, Clone, Copy, Default)]
struct PathState {
    usable: bool,
    open: bool,
    /// Time of the last try, and of the first try since it was last open.
    tried_at: Option<Micros>,
    first_tried_at: Option<Micros>,
    heard_at: Micros,
    failures: u32,
    /// It was silent. Received packets prove only one direction, so only an answered probe clears
    /// this.
    doubtful: bool,
    /// Last probe, and when it was sent.
    probe: u32,
    probed_at: Micros,
}

/// Paths to one peer.
#[derive(Debug)]
pub(super) struct Pair {
    peer: PeerId,
    /// The local side wants this peer and tries paths. Otherwise only the other side does.
    wanted: bool,
    ways: [PathState; 3],
    active: Option<Path>,
    /// Previous path, and until when copies are sent there.
    before: Option<(Path, Micros)>,
    /// The link knows of this peer.
    told: bool,
    /// The peer waits at a relay.
    met: bool,
    /// Time at which the active path was chosen.
    taken_at: Micros,
    /// Time since which no path is open.
    lost_at: Option<Micros>,
}

/// Next action for a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Rest,
    Connect { path: Path, invite: bool },
    Take { path: Path, reason: PathReason },
    Lose,
    Leave(Path),
    Probe { path: Path, token: u32 },
    GiveUp,
}

impl Pair {
    pub(super) fn new(peer: PeerId, usable: [bool; 3], now: Micros) -> Pair {
        let ways = usable.map(|usable| PathState { usable, ..PathState::default() });
        Pair {
            peer,
            wanted: false,
            ways,
            active: None,
            before: None,
            told: false,
            met: false,
            taken_at: now,
            lost_at: Some(now),
        }
    }

    pub(super) fn peer(&self) -> PeerId {
        self.peer
    }

    /// The local side wants this peer: it tries paths from now on.
    pub(super) fn want(&mut self) {
        self.wanted = true;
    }

    pub(super) fn active(&self) -> Option<Path> {
        self.active
    }

    /// The peer waits at a relay.
    pub(super) fn meet(&mut self) {
        self.met = true;
    }

    /// Previous path, while copies are sent there.
    pub(super) fn beside(&self, now: Micros) -> Option<Path> {
        self.before.filter(|(path, until)| now < *until && self.ways[path.index()].open).map(|(path, _)| path)
    }

    /// The other side answered a probe of this path.
    pub(super) fn answered(&mut self, path: Path, token: u32, now: Micros) {
        let way = &mut self.ways[path.index()];
        if way.open && way.probe == token {
            way.doubtful = false;
            way.heard_at = now;
        }
    }

    pub(super) fn opened(&mut self, path: Path, now: Micros) {
        let way = &mut self.ways[path.index()];
        way.open = true;
        way.heard_at = now;
        way.doubtful = false;
        (way.tried_at, way.first_tried_at, way.failures) = (None, None, 0);
    }

    pub(super) fn closed(&mut self, path: Path, now: Micros) {
        let way = &mut self.ways[path.index()];
        way.open = false;
        way.failures += 1;
        way.tried_at = Some(now);
        way.first_tried_at.get_or_insert(now);
    }

    /// A datagram arrived on this path; returns whether it counts.
    pub(super) fn heard(&mut self, path: Path, now: Micros) -> bool {
        let way = &mut self.ways[path.index()];
        way.heard_at = now;
        way.open && self.told
    }

    /// Whether nothing was heard for long, or the other side is only heard on another path.
    fn is_silent(&self, path: Path, now: Micros, config: &PathConfig) -> bool {
        let heard_at = self.ways[path.index()].heard_at;
        let heard_elsewhere = self.open().map(|other| self.ways[other.index()].heard_at).max();
        let has_left = heard_elsewhere.is_some_and(|other| other.since(heard_at) > config.overlap);
        now.since(heard_at) >= config.timeout || self.active == Some(path) && has_left
    }

    fn is_good(&self, path: Path, now: Micros, config: &PathConfig) -> bool {
        let way = self.ways[path.index()];
        way.open && !way.doubtful && !self.is_silent(path, now, config)
    }

    fn usable(&self) -> impl Iterator<Item = Path> + '_ {
        Path::ALL.into_iter().filter(|path| self.ways[path.index()].usable)
    }

    fn open(&self) -> impl Iterator<Item = Path> + '_ {
        self.usable().filter(|path| self.ways[path.index()].open)
    }

    /// The next action that is due, if any.
    pub(super) fn step(&mut self, now: Micros, config: &PathConfig) -> Step {
        self.choose(now, config)
            .or_else(|| self.try_more(now, config))
            .or_else(|| self.try_out(now, config))
            .or_else(|| self.tidy(now, config))
            .unwrap_or(Step::Rest)
    }

    /// Chooses the best path that is open and not silent.
    fn choose(&mut self, now: Micros, config: &PathConfig) -> Option<Step> {
        let heard = self.open().find(|path| self.is_good(*path, now, config));
        // A silent path is better than none.
        let best =
            heard.or(self.active.filter(|path| self.ways[path.index()].open)).or_else(|| self.open().next());
        if best == self.active {
            return None;
        }
        let before = std::mem::replace(&mut self.active, best);
        let Some(path) = best else {
            self.lost_at = Some(now);
            return Some(Step::Lose);
        };
        self.lost_at = None;
        self.taken_at = now;
        self.ways[path.index()].doubtful = false;
        let reason = match before {
            _ if !self.told => PathReason::Initial,
            Some(before) if path < before => PathReason::Upgrade,
            Some(before) if self.ways[before.index()].open => {
                self.ways[before.index()].doubtful = true;
                PathReason::Timeout
            }
            _ => PathReason::Closed,
        };
        self.told = true;
        self.before = before.map(|before| (before, now + config.overlap));
        Some(Step::Take { path, reason })
    }

    /// Tries another path: the best first, the next after a while, a better one again later.
    fn try_more(&mut self, now: Micros, config: &PathConfig) -> Option<Step> {
        let due = self.usable().find(|path| self.next_try_at(*path, now, config).is_some_and(|at| at <= now));
        let meeting = self.meeting_place();
        self.met = false;
        let path = due.or(meeting)?;
        let invite = due.is_some() && path != Path::Direct;
        let way = &mut self.ways[path.index()];
        way.failures += u32::from(way.tried_at.is_some());
        way.tried_at = Some(now);
        way.first_tried_at.get_or_insert(now);
        Some(Step::Connect { path, invite })
    }

    /// The relayed path on which a peer waits because it cannot use the current one: the first that
    /// is not open here.
    fn meeting_place(&self) -> Option<Path> {
        let mut relayed = self.usable().filter(|path| *path != Path::Direct);
        relayed.find(|path| self.met && !self.ways[path.index()].open)
    }

    /// Time at which to try a path; `None` if that is not needed.
    fn next_try_at(&self, path: Path, now: Micros, config: &PathConfig) -> Option<Micros> {
        let way = self.ways[path.index()];
        let mut better =
            Path::ALL.into_iter().filter(|other| *other < path && self.ways[other.index()].usable);
        if way.open
            || !(self.wanted || self.told)
            || better.clone().any(|path| self.is_good(path, now, config))
        {
            return None;
        }
        // Before the first connection, worse paths wait for better ones; afterwards none waits.
        let patient_until = if self.told {
            Micros::ZERO
        } else {
            let had_time =
                |path: Path| self.ways[path.index()].first_tried_at.map(|at| at + config.fallback_after);
            better.try_fold(Micros::ZERO, |latest, path| Some(latest.max(had_time(path)?)))?
        };
        let retry_at = way.tried_at.map_or(Micros::ZERO, |tried| {
            let doubled = config.retry_after.get() << way.failures.min(10);
            tried + Micros::new(doubled.min(RETRY_MAX.get()))
        });
        Some(patient_until.max(retry_at))
    }

    /// Probes a doubtful path, or, while the active one is silent, any other open one.
    fn try_out(&mut self, now: Micros, config: &PathConfig) -> Option<Step> {
        let is_due = |path: &Path| self.next_probe_at(*path, now, config).is_some_and(|at| at <= now);
        let path = self.open().find(is_due)?;
        let way = &mut self.ways[path.index()];
        way.probe = way.probe.wrapping_add(1);
        way.probed_at = now;
        Some(Step::Probe { path, token: way.probe })
    }

    fn next_probe_at(&self, path: Path, now: Micros, config: &PathConfig) -> Option<Micros> {
        let way = self.ways[path.index()];
        let is_needed = |active: Path| active != path && self.is_silent(active, now, config);
        let is_asked = way.doubtful || self.active.is_some_and(is_needed);
        (way.open && is_asked).then_some(way.probed_at + config.probe_interval)
    }

    /// Closes paths that are not needed, and gives up unreachable peers.
    fn tidy(&mut self, now: Micros, config: &PathConfig) -> Option<Step> {
        if let Some(active) = self.active {
            let stable =
                now.since(self.taken_at) >= config.retry_after && !self.is_silent(active, now, config);
            // Traffic on a worse path shows that the other side needs it.
            let unused = |path: &Path| now.since(self.ways[path.index()].heard_at) >= config.retry_after;
            let worse = self.open().find(|path| *path > active && unused(path))?;
            if stable {
                let way = &mut self.ways[worse.index()];
                *way = PathState { usable: true, ..PathState::default() };
                return Some(Step::Leave(worse));
            }
            return None;
        }
        let lost_at = self.lost_at?;
        (self.told && now.since(lost_at) >= config.give_up_after).then_some(Step::GiveUp)
    }

    /// Time at which a step may be due without any arrival.
    pub(super) fn timeout(&self, now: Micros, config: &PathConfig) -> Micros {
        let silent = self.active.map(|path| self.ways[path.index()].heard_at + config.timeout);
        let tries = self.usable().filter_map(|path| self.next_try_at(path, now, config));
        let give_up = self.lost_at.filter(|_| self.told).map(|at| at + config.give_up_after);
        let probes = self.open().filter_map(|path| self.next_probe_at(path, now, config));
        let due = tries.chain(probes).chain(silent.filter(|at| *at > now)).chain(give_up).min();
        due.unwrap_or(Micros::MAX)
    }
}
