//! Lineages of views: the ancestors of a peer's view, how two branches are related, and which one
//! wins.
//!
//! Every view is a child of another, so the views of a match form a tree. A peer knows the path
//! from its own view to the root, and the end of other peers' paths. Absent: rosters, messages.

use std::cmp::Reverse;
use std::collections::VecDeque;

pub(crate) use crate::roster::MatchId;

/// Identity of a view with all its ancestors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct History(pub(crate) u64);

/// Record of a view kept after its roster is dropped: enough to compare two views.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Link {
    pub(crate) history: History,
    /// First half of the coordinator's id.
    pub(crate) by: u64,
    pub(crate) number: u32,
    pub(crate) size: u8,
    pub(crate) stale: bool,
}

impl Link {
    /// Order by which, of two children of one view, the greater wins. No part of it ever changes,
    /// so all peers of both branches get the same result at any time.
    fn precedence(&self) -> impl Ord + use<> {
        (!self.stale, self.size, self.number, Reverse(self.by), self.history)
    }
}

/// Ancestors kept, of 24 bytes each.
pub(crate) const LINKS_MAX: usize = 4_096;
/// Ancestors sent without a request.
pub(crate) const TIP_LINKS: usize = 16;

/// The path from the root of a match to a view.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Lineage {
    game: MatchId,
    /// Number of links dropped at the front.
    forgotten: u32,
    links: VecDeque<Link>,
}

/// Last part of a path, as other peers are sent it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Tip {
    pub(crate) game: MatchId,
    /// Steps from the root to the last link.
    pub(crate) depth: u32,
    /// Links in order; the last one is the view itself. Never empty.
    pub(crate) links: Vec<Link>,
}

/// How another branch relates to the local one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Relation {
    Same,
    /// The local branch descends from it.
    Ancestor,
    /// It descends from the local branch.
    Descendant,
    /// Neither descends from the other; `senior` if the other wins.
    Apart {
        senior: bool,
    },
    /// More of the other path must be known.
    Unknown,
}

impl Lineage {
    /// Match that the path belongs to.
    pub(crate) fn game(&self) -> MatchId {
        self.game
    }

    pub(crate) fn founded(game: MatchId, root: Link) -> Lineage {
        Lineage { game, forgotten: 0, links: VecDeque::from([root]) }
    }

    /// Takes over the path of another peer. The tip must contain all of it that the sender
    /// remembers.
    pub(crate) fn of_tip(tip: &Tip) -> Lineage {
        let forgotten = (tip.depth + 1).saturating_sub(tip.links.len() as u32);
        Lineage { game: tip.game, forgotten, links: tip.links.iter().copied().collect() }
    }

    pub(crate) fn depth(&self) -> u32 {
        (self.forgotten + self.links.len() as u32).saturating_sub(1)
    }

    pub(crate) fn history(&self) -> History {
        self.links.back().map_or(History::default(), |link| link.history)
    }

    fn link_at(&self, depth: u32) -> Option<&Link> {
        self.links.get(depth.checked_sub(self.forgotten)? as usize)
    }

    /// Whether the path contains this view.
    pub(crate) fn contains(&self, history: History) -> bool {
        self.links.iter().any(|link| link.history == history)
    }

    /// Adds one step to the path.
    pub(crate) fn push(&mut self, link: Link) {
        if self.links.len() == LINKS_MAX {
            self.links.pop_front();
            self.forgotten += 1;
        }
        self.links.push_back(link);
    }

    /// Follows a path that descends from this one.
    pub(crate) fn follow(&mut self, tip: &Tip) {
        let known = self.depth();
        for (depth, link) in tip.numbered() {
            if depth > known {
                self.push(*link);
            }
        }
    }

    /// The last links, to send without a request.
    pub(crate) fn tip(&self) -> Tip {
        self.tip_since(self.depth().saturating_sub(TIP_LINKS as u32 - 1))
    }

    /// The whole path that is remembered.
    pub(crate) fn whole(&self) -> Tip {
        self.tip_since(0)
    }

    /// The links from `depth` on, at least the last one.
    pub(crate) fn tip_since(&self, depth: u32) -> Tip {
        let skip = depth.min(self.depth()).saturating_sub(self.forgotten) as usize;
        Tip { game: self.game, depth: self.depth(), links: self.links.iter().skip(skip).copied().collect() }
    }

    /// How the branch of `tip` relates to this one.
    pub(crate) fn relate(&self, tip: &Tip) -> Relation {
        if tip.game != self.game {
            return Relation::Apart { senior: tip.game < self.game };
        }
        if tip.history() == self.history() {
            return Relation::Same;
        }
        let common = tip
            .numbered()
            .rev()
            .find(|(depth, link)| self.link_at(*depth).is_some_and(|mine| mine.history == link.history));
        match common {
            Some((depth, _)) if depth == tip.depth => Relation::Ancestor,
            Some((depth, _)) if depth == self.depth() => Relation::Descendant,
            Some((depth, _)) => self.compare_at(tip, depth + 1),
            None if tip.first_depth() == 0 => self.compare_at(tip, 0),
            None => Relation::Unknown,
        }
    }

    /// As [`relate`](Lineage::relate) when `tip` is all its owner remembers.
    pub(crate) fn relate_whole(&self, tip: &Tip) -> Relation {
        match self.relate(tip) {
            // Thousands of views apart: the longer path wins, on all peers.
            Relation::Unknown => Relation::Apart { senior: tip.depth > self.depth() },
            relation => relation,
        }
    }

    /// The first step from here toward a branch that descends from this one.
    pub(crate) fn next_towards<'a>(&self, tip: &'a Tip) -> Option<&'a Link> {
        tip.link_at(self.depth() + 1)
    }

    /// Compares the links of both paths at this depth, where they diverge.
    fn compare_at(&self, tip: &Tip, depth: u32) -> Relation {
        match (self.link_at(depth), tip.link_at(depth)) {
            (Some(mine), Some(theirs)) => Relation::Apart { senior: theirs.precedence() > mine.precedence() },
            _ => Relation::Apart { senior: tip.depth > self.depth() },
        }
    }
}

impl Tip {
    pub(crate) fn history(&self) -> History {
        self.links.last().map_or(History::default(), |link| link.history)
    }

    /// The parent of the last view, if it is remembered.
    pub(crate) fn parent(&self) -> Option<History> {
        let before = self.links.len().checked_sub(2)?;
        Some(self.links[before].history)
    }

    fn first_depth(&self) -> u32 {
        (self.depth + 1).saturating_sub(self.links.len() as u32)
    }

    fn link_at(&self, depth: u32) -> Option<&Link> {
        self.links.get(depth.checked_sub(self.first_depth())? as usize)
    }

    fn numbered(&self) -> impl DoubleEndedIterator<Item = (u32, &Link)> {
        let first = self.first_depth();
        self.links.iter().enumerate().map(move |(nth, link)| (first + nth as u32, link))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(history: u64, number: u32, size: u8) -> Link {
        Link { history: History(history), by: history, number, size, stale: false }
    }

    fn path(links: &[Link]) -> Lineage {
        let mut lineage = Lineage::founded(MatchId { started_at: 1, nonce: 1 }, links[0]);
        links[1..].iter().for_each(|link| lineage.push(*link));
        lineage
    }

    #[test]
    fn relations_are_seen_from_either_side() {
        let root = path(&[link(1, 0, 3)]);
        let child = path(&[link(1, 0, 3), link(2, 1, 2)]);
        let larger = path(&[link(1, 0, 3), link(3, 1, 3), link(4, 2, 1)]);
        assert_eq!(root.relate(&child.tip()), Relation::Descendant);
        assert_eq!(child.relate(&root.tip()), Relation::Ancestor);
        assert_eq!(child.relate(&child.tip()), Relation::Same);
        assert_eq!(child.relate(&larger.tip()), Relation::Apart { senior: true });
        assert_eq!(larger.relate(&child.tip()), Relation::Apart { senior: false });
    }

    #[test]
    fn branches_rank_by_sleep_then_size_then_ballot_then_id() {
        let senior = Link { history: History(9), by: 5, number: 5, size: 2, stale: false };
        let other = Link { history: History(10), ..senior };
        let yielding = [
            Link { stale: true, size: 9, ..other },
            Link { number: 9, size: 1, ..other },
            Link { number: 4, ..other },
            Link { by: 6, ..other },
            Link { history: History(8), ..other },
        ];
        for yielder in yielding {
            let (yielder, senior) = (path(&[link(1, 0, 3), yielder]), path(&[link(1, 0, 3), senior]));
            assert_eq!(yielder.relate(&senior.tip()), Relation::Apart { senior: true });
            assert_eq!(senior.relate(&yielder.tip()), Relation::Apart { senior: false });
        }
    }

    #[test]
    fn earlier_match_wins_whatever_happened() {
        let old = Lineage::founded(MatchId { started_at: 1, nonce: 9 }, link(1, 0, 1));
        let new = Lineage::founded(MatchId { started_at: 2, nonce: 1 }, link(2, 0, 8));
        assert_eq!(new.relate(&old.tip()), Relation::Apart { senior: true });
        assert_eq!(old.relate(&new.tip()), Relation::Apart { senior: false });
    }

    #[test]
    fn paths_that_part_beyond_sent_links_need_more() {
        let long = |tag: u64| {
            let mut links = vec![link(1, 0, 3)];
            links.extend((1..40).map(|nth| link(tag * 100 + nth, nth as u32, (tag + nth) as u8)));
            path(&links)
        };
        let (one, two) = (long(1), long(2));
        assert_eq!(one.relate(&two.tip()), Relation::Unknown);
        assert_eq!(one.relate(&two.whole()), Relation::Apart { senior: true });
        assert_eq!(two.relate_whole(&one.whole()), Relation::Apart { senior: false });
    }

    #[test]
    fn long_match_forgets_oldest_views_but_knows_itself() {
        let mut lineage = path(&[link(1, 0, 3)]);
        for nth in 1..LINKS_MAX as u64 + 50 {
            lineage.push(link(nth + 1, nth as u32, 2));
        }
        assert_eq!(lineage.whole().links.len(), LINKS_MAX);
        assert_eq!(lineage.depth(), LINKS_MAX as u32 + 49);
        let again = Lineage::of_tip(&lineage.whole());
        assert_eq!(again, lineage);
        assert_eq!(lineage.tip().links.len(), TIP_LINKS);
        assert_eq!(lineage.relate(&lineage.tip_since(4_000)), Relation::Same);
        assert_eq!(size_of::<Link>(), 24);
    }
}
