//! Figures of all bots, and whether their run was a success.
//!
//! Called by `bots.rs`. Absent: rooms and links.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use gaggle::link::Path;
use gaggle::{Frame, Micros, RoomCode};

/// Figures of one bot.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// Code of its room.
    pub(super) code: Option<RoomCode>,
    /// Players it sees in its match, itself included; none while it is in no match.
    pub(super) present: usize,
    /// Time from its start to the first frame with another player.
    pub(super) met_after: Option<Duration>,
    /// Frames it played.
    pub(super) frames: u64,
    /// Paths of its links.
    pub(super) paths: Vec<Path>,
    /// Round-trip time of each of its links.
    pub(super) rtts: Vec<Micros>,
    /// Branch of the match that its hashes are of.
    pub(super) history: u64,
    /// Hashes of its latest final states.
    pub(super) marks: Vec<(Frame, u64)>,
    pub(super) rollbacks: u64,
    pub(super) stalled: u64,
    pub(super) desyncs: u64,
    /// Files of desync bundles with its own state as the damaged one.
    pub(super) bundles: Vec<String>,
    /// Updates of objects it received.
    pub(super) updates: u64,
    pub(super) servers_lost: u64,
    /// Last rejection by the server, in its words.
    pub(super) refused: Option<String>,
}

/// Figures of all bots.
#[derive(Debug)]
pub(super) struct Tally {
    rooms_wanted: usize,
    players: usize,
    latest: Vec<Told>,
    /// States reported by more than one bot: room, branch and frame, and by how many.
    compared: BTreeMap<(RoomCode, u64, Frame), (u64, BTreeSet<usize>)>,
    agreed: u64,
    differed: Vec<String>,
}

impl Tally {
    pub(super) fn new(rooms_wanted: usize, players: usize) -> Tally {
        let (latest, compared, differed) = (Vec::new(), BTreeMap::new(), Vec::new());
        Tally { rooms_wanted, players, latest, compared, agreed: 0, differed }
    }

    /// Takes in new reports of all bots.
    pub(super) fn take(&mut self, told: &[Told]) {
        self.latest = told.to_vec();
        for (number, one) in told.iter().enumerate().filter(|(_, one)| one.present > 1) {
            let Some(code) = one.code else { continue };
            for (frame, hash) in &one.marks {
                self.compare(number, (code, one.history, *frame), *hash);
            }
        }
        // Hashes are reported for sixteen seconds; older ones will not be compared again.
        let newest = self.compared.keys().map(|(_, _, frame)| *frame).max().unwrap_or_default();
        self.compared.retain(|(_, _, frame), _| newest.number() - frame.number() < 60 * 60);
    }

    fn compare(&mut self, number: usize, place: (RoomCode, u64, Frame), hash: u64) {
        let (first, tellers) = self.compared.entry(place).or_insert_with(|| (hash, BTreeSet::new()));
        if *first != hash {
            self.differed.push(format!("bot {number} saw another frame {:?} in room {}", place.2, place.0));
        } else if tellers.insert(number) && tellers.len() == self.players {
            self.agreed += 1;
        }
    }

    /// Whether each bot is in a match with the requested number of players.
    pub(super) fn is_complete(&self) -> bool {
        !self.latest.is_empty() && self.latest.iter().all(|one| one.present == self.players)
    }

    /// Number of rooms they are in.
    pub(super) fn rooms(&self) -> usize {
        self.latest.iter().filter_map(|one| one.code).collect::<BTreeSet<_>>().len()
    }

    /// Frames played by all bots.
    pub(super) fn frames(&self) -> u64 {
        self.sum(|one| one.frames)
    }

    /// States that all bots of a room reported with the same hash.
    #[cfg(test)]
    pub(super) fn agreed(&self) -> u64 {
        self.agreed
    }

    /// Ends of links that use this path.
    pub(super) fn paths(&self, path: Path) -> usize {
        self.latest.iter().flat_map(|one| &one.paths).filter(|one| **one == path).count()
    }

    /// Updates of objects received by all bots.
    #[cfg(test)]
    pub(super) fn updates(&self) -> u64 {
        self.sum(|one| one.updates)
    }

    /// Report of a success, or the reason of a failure. Replica games have no states that must be
    /// equal.
    pub(super) fn verdict(&self, only: Option<Path>, compares: bool) -> Result<String, String> {
        let refusals: BTreeSet<&String> = self.latest.iter().filter_map(|one| one.refused.as_ref()).collect();
        let missing = self.latest.iter().filter(|one| one.present != self.players).count();
        let astray = Path::ALL.into_iter().filter(|path| only.is_some_and(|only| only != *path));
        let astray: usize = astray.map(|path| self.paths(path)).sum();
        let (rooms, wanted) = (self.rooms(), self.rooms_wanted);
        let why = match () {
            () if !self.differed.is_empty() => {
                format!("{} states differ, first: {}", self.differed.len(), self.differed[0])
            }
            () if missing > 0 => format!("{missing} are not in a match of {}: {refusals:?}", self.players),
            () if rooms != wanted => format!("they are in {rooms} rooms instead of {wanted}"),
            () if astray > 0 => format!("{astray} links took another way than they may"),
            () if compares && self.players > 1 && self.agreed == 0 => {
                "no state was told by all of a room".to_string()
            }
            () => return Ok(self.to_string()),
        };
        Err(format!("{self}\n{why}"))
    }

    fn sum(&self, of: impl Fn(&Told) -> u64) -> u64 {
        self.latest.iter().map(of).sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inside = self.latest.iter().filter(|one| one.present == self.players).count();
        let mut met: Vec<Duration> = self.latest.iter().filter_map(|one| one.met_after).collect();
        met.sort_unstable();
        let mut rtts: Vec<Micros> = self.latest.iter().flat_map(|one| one.rtts.iter().copied()).collect();
        rtts.sort_unstable();
        let rtt = rtts.get(rtts.len() / 2).copied().unwrap_or_default();
        write!(
            f,
            "{inside} of {} bots play in {} rooms; {} frames, {} rollbacks, {} ticks stalled; links: {} direct, {} relay, {} socket, \
             round trip {:.1} ms; met after {:.1} s (half of them) to {:.1} s; {} states alike in a whole room, {} differ; {} desyncs, \
             {} updates of objects, server lost {} times",
            self.latest.len(),
            self.rooms(),
            self.frames(),
            self.sum(|one| one.rollbacks),
            self.sum(|one| one.stalled),
            self.paths(Path::Direct),
            self.paths(Path::Relay),
            self.paths(Path::WebSocket),
            rtt.get() as f64 / 1_000.0,
            met.get(met.len() / 2).map_or(0.0, Duration::as_secs_f64),
            met.last().map_or(0.0, Duration::as_secs_f64),
            self.agreed,
            self.differed.len(),
            self.sum(|one| one.desyncs),
            self.sum(|one| one.updates),
            self.sum(|one| one.servers_lost),
        )?;
        let mut bundles = self.latest.iter().flat_map(|one| &one.bundles);
        bundles.try_for_each(|file| write!(f, "\nwhat a desync left, for `gaggle-lab desync`: {file}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two bots in one room that see each other, with these hashes of one frame.
    fn pair(hashes: [u64; 2]) -> Tally {
        let told = |hash| Told {
            code: "BCDFGH".parse().ok(),
            present: 2,
            frames: 60,
            paths: vec![Path::Direct],
            marks: vec![(Frame::new(60), hash)],
            ..Told::default()
        };
        let mut tally = Tally::new(1, 2);
        tally.take(&hashes.map(told));
        tally
    }

    #[test]
    fn agreement_counts_once_and_difference_is_failure() {
        let mut alike = pair([5, 5]);
        alike.take(&alike.latest.clone());
        assert_eq!((alike.agreed, alike.rooms(), alike.is_complete()), (1, 1, true));
        assert!(alike.verdict(None, true).is_ok());
        assert!(alike.verdict(Some(Path::Relay), true).unwrap_err().contains("another way"));
        assert!(pair([5, 6]).verdict(None, true).unwrap_err().contains("differ"));
    }

    #[test]
    fn report_names_desync_bundles() {
        let mut tally = pair([5, 5]);
        assert!(!tally.to_string().contains("gaggle-lab desync"));
        let mut told = tally.latest.clone();
        told[1].bundles = vec!["/tmp/gander-1-bot1-0.desync".into()];
        tally.take(&told);
        let said = tally.to_string();
        assert!(said.ends_with("for `gaggle-lab desync`: /tmp/gander-1-bot1-0.desync"), "{said}");
    }

    #[test]
    fn bot_without_room_is_failure() {
        let mut tally = pair([5, 5]);
        let mut told = tally.latest.clone();
        told[1].present = 0;
        told[1].refused = Some("too many".into());
        tally.take(&told);
        assert!(tally.verdict(None, true).unwrap_err().contains("too many"));
    }
}
