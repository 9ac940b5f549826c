//! Data shown by the panels: player of each slot, links, final scores. `Arcade` computes it.
//! Absent: drawing.

use gaggle::link::Path;
use gaggle::lobby::message::server::LeaderboardEntry;
use gaggle::{Member, Phase, RoomCode, Slot};

use super::{Arcade, Screen};
use crate::Busy;
use crate::cabinet::EngineReport;
use crate::{BoardLine, LinkFacts, NetFacts, PlayerLine};

impl Arcade {
    /// Whether each slot is played here.
    pub fn own(&self) -> Vec<bool> {
        let own = self.cabinet.room().local_slots();
        (0..self.cabinet.about().seats).map(|seat| own.contains(Slot::at(seat))).collect()
    }

    /// Names by slot; empty for free slots.
    pub fn names(&mut self) -> Vec<String> {
        self.seats().0
    }

    /// Names and link quality by slot.
    pub(super) fn seats(&mut self) -> (Vec<String>, Vec<Option<u8>>) {
        let (own, about) = (self.own(), self.cabinet.about());
        let name = self.menu.name().trim().to_string();
        let people = self.cabinet.room_mut().members();
        let owner = |seat: usize| people.iter().find(|person| person.slots.contains(Slot::at(seat)));
        let name_of = |seat: usize| match owner(seat) {
            // On every screen a second player at one keyboard has the name of the slot.
            Some(person) if person.slots.lowest().map(Slot::index) != Some(seat) => {
                about.names[seat % about.names.len()].to_string()
            }
            Some(person) if !person.is_local || name.is_empty() => person.name.clone(),
            Some(_) => name.clone(),
            None if own[seat] && (own[..seat].contains(&true) || name.is_empty()) => {
                about.names[seat % about.names.len()].to_string()
            }
            None if own[seat] => name.clone(),
            None => String::new(),
        };
        let names = (0..about.seats).map(name_of).collect();
        let bars = |seat: usize| owner(seat).filter(|owner| !owner.is_local).map(bars);
        (names, (0..about.seats).map(bars).collect())
    }

    /// Whether state hashes of all peers agree. None if none were compared: solo, before the first
    /// check after a join, and for replica games.
    fn agree(&self) -> Option<bool> {
        let is_known = self.shelf.disagrees || self.cabinet.room().is_compared();
        (is_known && self.cabinet.room().has_company()).then_some(!self.shelf.disagrees)
    }

    /// Samples network figures, once per frame.
    pub(super) fn sample_net(&mut self) {
        let people = self.cabinet.room_mut().members();
        let links: Vec<LinkFacts> = people.iter().filter(|person| !person.is_local).map(link_facts).collect();
        let totals = people.iter().filter_map(|person| person.link_stats.as_ref());
        let (mut bytes_in, mut bytes_out, mut packets) = (0, 0, 0);
        for link in totals {
            bytes_in += link.bytes_in;
            bytes_out += link.bytes_out;
            packets += link.packets_out + link.packets_in;
        }
        let rates = self.shelf.rates.sample(self.now, bytes_in, bytes_out, packets);
        let mut facts = NetFacts {
            links,
            bytes_in_per_second: rates.bytes_in,
            bytes_out_per_second: rates.bytes_out,
            packets_per_second: rates.packets,
            agree: self.agree(),
            pictures_per_second: self.shelf.rates.pictures(),
            ..NetFacts::default()
        };
        let depth = match self.cabinet.room().report() {
            EngineReport::Timeline {
                frame,
                window,
                input_delay,
                guessed,
                rollbacks,
                depth_last,
                stalled,
                ..
            } => {
                (facts.frame, facts.rollback_window) = (frame, window);
                (facts.input_delay, facts.guessed) = (input_delay, guessed);
                (facts.delay_is_fixed, facts.stalled) = (self.chosen_delay().is_some(), stalled);
                let (count, depth) =
                    if crate::HAS_LOBBY && window == 0 { (stalled, 1) } else { (rollbacks, depth_last) };
                self.shelf.rates.rollback_depth(count, depth)
            }
            EngineReport::Shared { frame, lines } => {
                (facts.frame, facts.shared) = (frame, lines);
                0
            }
        };
        self.net.sample(&facts, depth);
    }

    /// Results of all players in the match, best first.
    pub(super) fn player_lines(&mut self) -> Vec<PlayerLine> {
        let ((names, _), own) = (self.seats(), self.own());
        let mut lines = self.cabinet.players();
        for line in &mut lines {
            line.name = names.get(line.seat).cloned().unwrap_or_default();
            line.own = own.get(line.seat) == Some(&true);
        }
        gaggle::kit::insertion_sort(&mut lines, |line| std::cmp::Reverse(line.score));
        lines
    }

    /// The best results of this mode; none while the lobby has not sent them.
    pub(super) fn board_lines(&mut self) -> Option<Vec<BoardLine>> {
        let me = self
            .cabinet
            .room_mut()
            .lobby_client()
            .and_then(|lobby| lobby.identity())
            .map(|(player, _)| player);
        let lines = self.shelf.top.as_ref()?.iter().enumerate().map(|(nth, entry)| BoardLine {
            place: nth as u32 + 1,
            name: entry.name.as_str().to_string(),
            level: entry.level,
            score: entry.score,
            own: Some(entry.player) == me,
        });
        Some(lines.collect())
    }

    /// Progress of a join in percent.
    pub(super) fn join_percent(&self) -> u8 {
        match self.cabinet.room().phase() {
            Phase::Joining { percent } => percent,
            _ => 100,
        }
    }
}

fn bars(person: &Member) -> u8 {
    let rtt = person.link_stats.and_then(|link| link.rtt).map_or(u64::MAX, |rtt| rtt.as_millis());
    match rtt {
        0..90 => 3,
        90..180 => 2,
        180..1_000 => 1,
        _ => 0,
    }
}

fn link_facts(person: &Member) -> LinkFacts {
    let link = person.link_stats.unwrap_or_default();
    LinkFacts {
        seat: person.slots.lowest().map(Slot::index),
        name: person.name.clone(),
        path: match person.path {
            Some(Path::Direct) => "direct",
            Some(Path::Relay) => "relay",
            Some(Path::WebSocket) => "socket",
            None => "-",
        },
        rtt_ms: link.rtt.map_or(0, |rtt| rtt.as_millis() as u32),
        jitter_ms: link.jitter.as_millis() as u32,
        loss_permille: u32::from(link.loss_in_permille),
        lead: person.is_leader,
    }
}

/// Screen, phase of the room, and the room's code if there is one.
pub type Whereabouts = (Screen, Phase, Option<RoomCode>);

impl Arcade {
    /// Current screen, phase and room.
    pub fn whereabouts(&mut self) -> Whereabouts {
        let life = self.cabinet.room_mut();
        let code = life.lobby_client().and_then(|lobby| lobby.room()).map(|room| room.code);
        (self.screen, self.cabinet.room().phase(), code)
    }

    /// Facts as JSON for tools that inspect a page. `busy_us`: 50th, 95th and 100th percentile of
    /// main-thread time per frame, in µs.
    pub fn facts_json(&mut self, frames_drawn: u32, busy: &Busy) -> String {
        use std::fmt::Write;

        let people = self.cabinet.room_mut().members();
        let stage = match self.cabinet.room().phase() {
            Phase::Solo => "solo",
            Phase::Joining { .. } => "joining",
            Phase::Playing => "together",
            Phase::Spectating => "watching",
            Phase::Suspended => "resting",
            _ => "lobby",
        };
        let code = self.room_code().unwrap_or_default();
        let mut out = String::from("{");
        let name = self.cabinet.about().name;
        let _ = write!(out, "\"game\":\"{name}\",\"stage\":\"{stage}\",\"code\":\"{code}\"");
        self.cabinet.tell(&mut out);
        let busy = [busy.percentile(50), busy.percentile(95), busy.longest()];
        let scores = |top: &Vec<LeaderboardEntry>| top.iter().map(|entry| entry.score).collect::<Vec<_>>();
        let top = self.shelf.top.as_ref().map_or("null".to_string(), |top| format!("{:?}", scores(top)));
        let best = self.shelf.best.map_or("null".to_string(), |best| best.to_string());
        let agree = self.agree().map_or("null", |agree| if agree { "true" } else { "false" });
        let _ = write!(out, ",\"busy_us\":{busy:?},\"top\":{top},\"best\":{best},\"agree\":{agree}");
        let ([goodbyes, silences], cues) = (self.shelf.partings, &self.tally);
        let mut counts = vec![
            ("drawn", frames_drawn.into()),
            ("own", self.cabinet.room().local_slots().bits()),
            ("goodbyes", goodbyes.into()),
            ("silences", silences.into()),
            ("desyncs", self.shelf.desyncs.into()),
            ("emotes", self.emotes_shown() as u64),
            ("cues", cues.started.into()),
            ("cues_twice", cues.twice.into()),
            ("cues_skipped", cues.skipped.into()),
            ("cues_crowded", cues.crowded.into()),
        ];
        if let EngineReport::Timeline { rollbacks, again, stalled, marks, input_delay, .. } =
            self.cabinet.room().report()
        {
            counts.extend([("delay", input_delay.into()), ("rollbacks", rollbacks)]);
            counts.extend([("again", again), ("stalled", stalled)]);
            let marks: Vec<String> =
                marks.iter().map(|(frame, hash)| format!("[{frame},\"{hash:016x}\"]")).collect();
            let _ = write!(out, ",\"marks\":[{}]", marks.join(","));
        }
        for (name, count) in counts {
            let _ = write!(out, ",\"{name}\":{count}");
        }
        let others = people.iter().filter(|person| !person.is_local).map(|person| {
            let facts = link_facts(person);
            let (path, rtt, slots) = (facts.path, facts.rtt_ms, person.slots.bits());
            format!("{{\"path\":\"{path}\",\"rtt\":{rtt},\"slots\":{slots}}}")
        });
        let _ = write!(out, ",\"people\":[{}]}}", others.collect::<Vec<_>>().join(","));
        out
    }
}
