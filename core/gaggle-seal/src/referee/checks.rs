//! Hashes that clients report of final frames, and which of them most clients share.
//!
//! The referee passes reports and the clients that play; it acts on the verdicts. Absent: states,
//! messages, the log.

use std::collections::VecDeque;

use gaggle_kit::{Frame, Micros, VecMap};

use super::LinkId;

/// Frames for which reports are kept.
const FRAMES_MAX: usize = 8;
/// How long missing reports of a frame are waited for after its first one.
const WAIT: Micros = Micros::from_secs(2);

/// Reports of one frame.
#[derive(Debug)]
struct Reports {
    frame: Frame,
    began_at: Micros,
    hashes: VecMap<LinkId, u64>,
    verdict: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Checks {
    frames: VecDeque<Reports>,
}

impl Checks {
    /// Takes a report. The first one of a client for a frame counts. False if the verdict on that
    /// frame is another hash.
    pub(super) fn take(&mut self, now: Micros, link: LinkId, frame: Frame, hash: u64) -> bool {
        let found = self.frames.iter().position(|reports| reports.frame >= frame);
        let at = found.unwrap_or(self.frames.len());
        if self.frames.get(at).is_none_or(|reports| reports.frame != frame) {
            if self.frames.len() == FRAMES_MAX && at == 0 {
                return true;
            }
            let hashes = VecMap::new();
            self.frames.insert(at, Reports { frame, began_at: now, hashes, verdict: None });
        }
        let Some(reports) = self.frames.iter_mut().find(|reports| reports.frame == frame) else {
            return true;
        };
        if reports.hashes.get(&link).is_none() {
            reports.hashes.insert(link, hash);
        }
        let is_right = reports.verdict.is_none_or(|verdict| verdict == hash);
        if self.frames.len() > FRAMES_MAX {
            self.frames.pop_front();
        }
        is_right
    }

    /// Decides the oldest frame that can be decided, and returns it with the clients whose state
    /// differs. `ranked` are the clients that play, first in rank first.
    pub(super) fn decide(&mut self, now: Micros, ranked: &[LinkId]) -> Option<(Frame, Vec<LinkId>)> {
        let is_ready = |reports: &&mut Reports| {
            let all = || ranked.iter().all(|link| reports.hashes.get(link).is_some());
            reports.verdict.is_none() && (all() || now.since(reports.began_at) >= WAIT)
        };
        let reports = self.frames.iter_mut().find(is_ready)?;
        let mut counts: Vec<(u64, usize)> = Vec::new();
        // In the order of rank, so that among equal counts that of the first in rank wins.
        for hash in ranked.iter().filter_map(|link| reports.hashes.get(link)) {
            match counts.iter_mut().find(|(known, _)| known == hash) {
                Some((_, count)) => *count += 1,
                None => counts.push((*hash, 1)),
            }
        }
        let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let verdict = counts.iter().find(|(_, count)| *count == most).map_or(0, |(hash, _)| *hash);
        reports.verdict = Some(verdict);
        let differs = |(_, hash): &(&LinkId, &u64)| **hash != verdict;
        let minority = reports.hashes.iter().filter(differs).map(|(link, _)| *link).collect();
        Some((reports.frame, minority))
    }

    /// The checksum that counts for a frame, if that is decided.
    pub(super) fn verdict(&self, frame: Frame) -> Option<u64> {
        self.frames.iter().find(|reports| reports.frame == frame)?.verdict
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Forgets all reports, because the log is not continued.
    pub(super) fn clear(&mut self) {
        self.frames.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(index: u32) -> LinkId {
        LinkId { index, generation: 0 }
    }

    fn decided(votes: &[u64], ranked: &[u32]) -> Option<(Frame, Vec<LinkId>)> {
        let mut checks = Checks::default();
        for (index, hash) in votes.iter().enumerate() {
            assert!(checks.take(Micros::ZERO, link(index as u32), Frame::new(60), *hash));
        }
        let ranked: Vec<LinkId> = ranked.iter().map(|index| link(*index)).collect();
        checks.decide(Micros::ZERO, &ranked)
    }

    #[test]
    fn minority_is_named_and_tie_is_decided_by_rank() {
        assert_eq!(decided(&[7, 7, 9], &[0, 1, 2]), Some((Frame::new(60), vec![link(2)])));
        assert_eq!(decided(&[9, 7, 7], &[0, 1, 2]), Some((Frame::new(60), vec![link(0)])));
        assert_eq!(decided(&[7, 9], &[0, 1]), Some((Frame::new(60), vec![link(1)])));
        assert_eq!(decided(&[7, 9], &[1, 0]), Some((Frame::new(60), vec![link(0)])));
        assert_eq!(decided(&[7, 7], &[0, 1]), Some((Frame::new(60), vec![])));
    }

    #[test]
    fn frame_waits_for_reports_of_players_for_two_seconds() {
        let mut checks = Checks::default();
        checks.take(Micros::ZERO, link(0), Frame::new(60), 1);
        let ranked = [link(0), link(1)];
        assert_eq!(checks.decide(Micros::from_millis(1_999), &ranked), None);
        assert_eq!(checks.verdict(Frame::new(60)), None);
        assert_eq!(checks.decide(Micros::from_secs(2), &ranked), Some((Frame::new(60), vec![])));
        assert_eq!(checks.verdict(Frame::new(60)), Some(1));
        assert!(!checks.take(Micros::from_secs(3), link(1), Frame::new(60), 2), "late, and of a minority");
    }

    #[test]
    fn hash_of_spectator_decides_nothing() {
        assert_eq!(decided(&[9, 9, 7], &[2]), Some((Frame::new(60), vec![link(0), link(1)])));
    }

    #[test]
    fn reports_for_endless_frames_are_bounded() {
        let mut checks = Checks::default();
        for frame in 1..10_000 {
            checks.take(Micros::ZERO, link(0), Frame::new(frame), 1);
        }
        assert_eq!(checks.frames.len(), FRAMES_MAX);
        checks.take(Micros::ZERO, link(1), Frame::new(3), 1);
        assert_eq!(checks.frames.front().map(|reports| reports.frame), Some(Frame::new(9_992)));
    }
}
