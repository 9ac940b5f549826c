//! Network panel: one line, or a panel with small graphs. It keeps the recent past of each figure.
//! `Arcade` feeds and draws it. Absent: measuring.

mod history;
mod picture;

use gaggle_scene::{Scene, View};

use history::History;

/// Amount of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NetDetail {
    /// Panel is hidden.
    #[default]
    Off,
    /// Shows round trip, rollbacks and path.
    Line,
    /// Shows everything, with graphs.
    Panel,
}

impl NetDetail {
    /// The next amount of detail, cyclic.
    #[must_use]
    pub fn next(self) -> NetDetail {
        match self {
            NetDetail::Off => NetDetail::Line,
            NetDetail::Line => NetDetail::Panel,
            NetDetail::Panel => NetDetail::Off,
        }
    }
}

/// Figures of one link.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkFacts {
    /// Slot of the peer at the other end, if it plays.
    pub seat: Option<usize>,
    /// Name of the player.
    pub name: String,
    /// `direct`, `relay`, `socket`, or `-` without a path.
    pub path: &'static str,
    /// Round-trip time in milliseconds.
    pub rtt_ms: u32,
    /// Variation of the round-trip time in milliseconds.
    pub jitter_ms: u32,
    /// Packets lost, in thousandths.
    pub loss_permille: u32,
    /// Whether the peer is the leader.
    pub lead: bool,
}

/// Figures of the whole network.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NetFacts {
    /// Frame shown now.
    pub frame: u32,
    /// Links to other peers.
    pub links: Vec<LinkFacts>,
    /// Prediction window in frames.
    pub rollback_window: u32,
    /// Input delay in frames.
    pub input_delay: u32,
    /// Whether that is the player's choice.
    pub delay_is_fixed: bool,
    /// Ticks without a frame, because inputs of others were missing.
    pub stalled: u64,
    /// Frames that were simulated with predicted inputs.
    pub guessed: u32,
    /// Bytes received per second.
    pub bytes_in_per_second: u32,
    /// Bytes sent per second.
    pub bytes_out_per_second: u32,
    /// Packets per second in both directions.
    pub packets_per_second: u32,
    /// Labels and figures of an engine without rollbacks, instead.
    pub shared: Vec<(&'static str, String)>,
    /// Whether state hashes of all peers agree; none if none were compared yet.
    pub agree: Option<bool>,
    /// Pictures drawn in the last second.
    pub pictures_per_second: u32,
}

impl NetFacts {
    /// Whether every frame waits for all inputs.
    fn is_lockstep(&self) -> bool {
        crate::HAS_LOBBY && self.rollback_window == 0 && self.shared.is_empty()
    }
}

/// Most links remembered, more than a room has.
const LINKS: usize = 16;
/// Frames per column of the fast graphs, and of the slow ones.
const FAST: u32 = 2;
const SLOW: u32 = 6;

/// Past of one link.
#[derive(Debug, Clone)]
struct LinkHistory {
    seat: Option<usize>,
    name: String,
    rtt: History,
    /// Increases of the loss, where packets were lost.
    lost: History,
    loss_before: u32,
}

/// The panel and the past it shows.
#[derive(Debug, Clone)]
pub struct NetPanel {
    /// Amount of detail.
    pub detail: NetDetail,
    facts: NetFacts,
    links: Vec<LinkHistory>,
    depth: History,
    guessed: History,
    bytes: History,
    /// Rollback depth of each frame of the last second.
    second: History,
}

impl Default for NetPanel {
    fn default() -> NetPanel {
        NetPanel {
            detail: NetDetail::Off,
            facts: NetFacts::default(),
            links: Vec::new(),
            depth: History::every(FAST),
            guessed: History::every(FAST),
            bytes: History::every(SLOW),
            second: History::every(1),
        }
    }
}

impl NetPanel {
    /// Clears the past, for another match.
    pub fn clear(&mut self) {
        *self = NetPanel { detail: self.detail, ..NetPanel::default() };
    }

    /// Adds a frame, with the depth of its rollback, 0 for none. In lockstep it is 1 for a stall.
    pub fn sample(&mut self, facts: &NetFacts, rollback_depth: u32) {
        self.links.retain(|past| facts.links.iter().any(|link| past.is_of(link)));
        for link in facts.links.iter().take(LINKS) {
            let known = self.links.iter().position(|past| past.is_of(link));
            let nth = known.unwrap_or_else(|| {
                self.links.push(LinkHistory::of(link));
                self.links.len() - 1
            });
            self.links[nth].sample(link);
        }
        self.depth.push(rollback_depth);
        self.second.push(rollback_depth);
        self.guessed.push(facts.guessed);
        self.bytes.push(facts.bytes_in_per_second.saturating_add(facts.bytes_out_per_second));
        self.facts.clone_from(facts);
        self.facts.links.truncate(LINKS);
    }

    /// Text of the single line: pictures, round trip, rollbacks, path.
    pub fn words(&self) -> String {
        let pictures = self.facts.pictures_per_second;
        let Some(slowest) = self.facts.links.iter().max_by_key(|link| link.rtt_ms) else {
            return format!("{pictures} fps · alone, nothing to wait for");
        };
        let (rtt, path) = (slowest.rtt_ms, slowest.path);
        if let Some((label, figure)) = self.facts.shared.first() {
            return format!("{pictures} fps · {rtt} ms · {label} {figure} · {path}");
        }
        let count = self.second.recent(60).filter(|depth| *depth > 0).count();
        let what = if self.facts.is_lockstep() { "stalls" } else { "rollbacks" };
        format!("{pictures} fps · {rtt} ms · {count} {what}/s · {path}")
    }

    /// Draws the chosen detail, on the left half of the screen or on the right.
    pub fn draw(&self, scene: &mut Scene, view: View, left_half: bool) {
        match self.detail {
            NetDetail::Off => {}
            NetDetail::Line => picture::line(self, scene, view, left_half),
            NetDetail::Panel => picture::panel(self, scene, view, left_half),
        }
    }
}

impl LinkHistory {
    fn of(link: &LinkFacts) -> LinkHistory {
        LinkHistory {
            seat: link.seat,
            name: link.name.clone(),
            rtt: History::every(SLOW),
            lost: History::every(SLOW),
            loss_before: link.loss_permille,
        }
    }

    fn is_of(&self, link: &LinkFacts) -> bool {
        self.seat == link.seat && self.name == link.name
    }

    fn sample(&mut self, link: &LinkFacts) {
        self.rtt.push(link.rtt_ms);
        self.lost.push(link.loss_permille.saturating_sub(self.loss_before));
        self.loss_before = link.loss_permille;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pen::tests::{assert_inside, views};

    fn link(seat: Option<usize>, name: &str, rtt_ms: u32) -> LinkFacts {
        let path = "direct";
        LinkFacts { seat, name: name.to_string(), path, rtt_ms, ..LinkFacts::default() }
    }

    fn facts(links: Vec<LinkFacts>) -> NetFacts {
        NetFacts { links, rollback_window: 8, ..NetFacts::default() }
    }

    #[test]
    fn key_cycles_through_all_details() {
        let mut detail = NetDetail::Off;
        let seen = [0; 3].map(|_| {
            detail = detail.next();
            detail
        });
        assert_eq!(seen, [NetDetail::Line, NetDetail::Panel, NetDetail::Off]);
    }

    #[test]
    fn ended_link_is_forgotten() {
        let mut panel = NetPanel::default();
        for _ in 0..60 {
            panel.sample(&facts(vec![link(Some(1), "Hob", 38), link(Some(2), "Ottilie", 121)]), 0);
        }
        assert_eq!(panel.links[1].rtt.recent(20).max(), Some(121));
        panel.sample(&facts(vec![link(Some(2), "Ottilie", 60)]), 0);
        assert_eq!(panel.links.len(), 1);
        assert_eq!(panel.links[0].rtt.recent(20).max(), Some(121), "the other keeps its own");
        panel.sample(&facts(vec![]), 0);
        assert!(panel.links.is_empty() && panel.words().contains("alone"));
    }

    #[test]
    fn links_beyond_limit_are_not_remembered() {
        let mut panel = NetPanel::default();
        for frame in 0..1_000 {
            let links = (0..100).map(|nth| link(None, &format!("{frame} {nth}"), u32::MAX)).collect();
            panel.sample(&facts(links), 1);
        }
        assert_eq!((panel.links.len(), panel.facts.links.len()), (LINKS, LINKS));
    }

    #[test]
    fn line_shows_rollbacks_of_last_second() {
        let mut panel = NetPanel::default();
        for frame in 0..600 {
            panel.sample(&facts(vec![link(Some(1), "Hob", 38)]), if frame % 10 == 0 { 3 } else { 0 });
        }
        assert_eq!(panel.words(), "0 fps · 38 ms · 6 rollbacks/s · direct");
    }

    #[test]
    fn lockstep_shows_stalls_and_slowest_peer() {
        let mut panel = NetPanel { detail: NetDetail::Panel, ..NetPanel::default() };
        let links = vec![link(Some(1), "Hob", 38), link(Some(2), "Ottilie", 121)];
        let facts = NetFacts { rollback_window: 0, stalled: 7, input_delay: 5, ..facts(links) };
        for frame in 0..600 {
            panel.sample(&facts, u32::from(frame % 20 == 0));
        }
        assert_eq!(panel.words(), "0 fps · 121 ms · 3 stalls/s · direct");
        let mut scene = Scene::default();
        panel.draw(&mut scene, views()[0], false);
        let texts = scene.words.iter().filter_map(|item| match item {
            gaggle_scene::Item::Text { words, .. } => Some(scene.text_of(*words).to_string()),
            _ => None,
        });
        let texts: Vec<String> = texts.collect();
        for wanted in ["Stalls", "7 in all", "Slowest", "Ottilie, 121 ms", "Delay 5 frames, automatic"] {
            assert!(texts.iter().any(|text| text.contains(wanted)), "{wanted}: {texts:?}");
        }
        assert!(!texts.iter().any(|text| text.contains("Rollback")), "{texts:?}");
    }

    #[test]
    fn it_fits_on_any_screen_with_any_figures() {
        for view in views() {
            for count in [0, 1, 3, 16] {
                for (rtt, depth) in [(40, 2), (u32::MAX, u32::MAX)] {
                    let mut panel = NetPanel::default();
                    let links = (0..count).map(|nth| LinkFacts {
                        loss_permille: rtt,
                        jitter_ms: rtt,
                        lead: nth == 0,
                        ..link(Some(nth), &"a name without end ".repeat(nth + 1), rtt)
                    });
                    let facts = NetFacts {
                        guessed: depth,
                        bytes_in_per_second: rtt,
                        bytes_out_per_second: rtt,
                        packets_per_second: rtt,
                        frame: rtt,
                        agree: Some(count == 3),
                        ..facts(links.collect())
                    };
                    for _ in 0..300 {
                        panel.sample(&facts, depth);
                    }
                    for (detail, left_half) in
                        [(NetDetail::Line, false), (NetDetail::Panel, true), (NetDetail::Panel, false)]
                    {
                        panel.detail = detail;
                        let mut scene = Scene::default();
                        panel.draw(&mut scene, view, left_half);
                        assert!(!scene.words.is_empty());
                        assert_inside(&scene, crate::album(), view, "net panel");
                    }
                }
            }
        }
    }
}
