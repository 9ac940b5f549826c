//! What panels are made of: who sits where, how links are, how it ended.

use gaggle::link::Path;
use gaggle::{Outside, Person, Slot, Stage as RoomStage};
use gander::SEATS;

use super::Arcade;
use crate::{BoardLine, LinkFacts, NetFacts, PlayerLine};

/// What people are called who gave no name, by seat.
const NAMES: [&str; SEATS] = ["Wren", "Hob", "Ottilie", "Big Tam"];

impl<O: Outside> Arcade<O> {
    /// Which seats are played here.
    pub fn own(&self) -> [bool; SEATS] {
        let own = self.room.own_slots();
        std::array::from_fn(|seat| own.contains(Slot::at(seat)))
    }

    /// What the seats are called, and how good the links to them are.
    pub(super) fn seats(&mut self) -> ([String; SEATS], [Option<u8>; SEATS]) {
        let own = self.own();
        let name = self.menu.name().trim().to_string();
        let people = self.room.people();
        let mut first = true;
        let names = std::array::from_fn(|seat| {
            let owner = people.iter().find(|person| person.slots.contains(Slot::at(seat)));
            match owner {
                Some(person) if !person.is_self || (name.is_empty() && self.players == 1) => {
                    person.name.clone()
                }
                _ if own[seat] && std::mem::take(&mut first) && !name.is_empty() => name.clone(),
                _ if own[seat] => NAMES[seat].to_string(),
                _ => String::new(),
            }
        });
        let bars = std::array::from_fn(|seat| {
            let owner = people.iter().find(|person| person.slots.contains(Slot::at(seat)))?;
            (!owner.is_self).then(|| bars(owner))
        });
        (names, bars)
    }

    /// Samples what the network does, once a frame.
    pub(super) fn sample_net(&mut self) {
        let people = self.room.people();
        let stats = self.room.stats();
        let session = self.room.session();
        let (current, confirmed) = (session.current_frame().number(), session.confirmed_frame().number());
        let window = session.config().window_frames();
        let links: Vec<LinkFacts> = people.iter().filter(|person| !person.is_self).map(link_facts).collect();
        let totals = people.iter().filter_map(|person| person.link.as_ref());
        let (mut bytes_in, mut bytes_out, mut packets) = (0, 0, 0);
        for link in totals {
            bytes_in += link.bytes_in;
            bytes_out += link.bytes_out;
            packets += link.packets_out + link.packets_in;
        }
        let rates = self.shelf.rates.sample(self.now, bytes_in, bytes_out, packets);
        let depth = self.shelf.rates.rollback_depth(stats.rollbacks, stats.rollback_frames_last);
        let facts = NetFacts {
            frame: current,
            links,
            rollback_window: window,
            input_delay: stats.input_delay_frames,
            guessed: current.saturating_sub(confirmed),
            bytes_in_per_second: rates.bytes_in,
            bytes_out_per_second: rates.bytes_out,
            packets_per_second: rates.packets,
            agree: self.has_company().then_some(!self.shelf.disagrees),
        };
        self.net.sample(&facts, depth);
    }

    /// Everybody's part in the match, best first.
    pub(super) fn player_lines(&mut self) -> Vec<PlayerLine> {
        let (names, _) = self.seats();
        let own = self.own();
        let players = self.room.game().players;
        let mut lines: Vec<PlayerLine> = players
            .iter()
            .enumerate()
            .filter(|(_, player)| player.present())
            .map(|(seat, player)| PlayerLine {
                seat,
                name: names[seat].clone(),
                score: player.score,
                mounts: player.mounts,
                remark: remark(player),
                own: own[seat],
            })
            .collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.score));
        lines
    }

    /// The best of this mode.
    pub(super) fn board_lines(&mut self) -> Vec<BoardLine> {
        let me = self.room.lobby().and_then(|lobby| lobby.identity()).map(|(player, _)| player);
        let lines = self.shelf.top.iter().enumerate().map(|(nth, entry)| BoardLine {
            place: nth as u32 + 1,
            name: entry.name.as_str().to_string(),
            level: entry.level,
            score: entry.score,
            own: Some(entry.player) == me,
        });
        lines.collect()
    }

    /// How far a join is, in percent.
    pub(super) fn join_percent(&self) -> u8 {
        match self.room.stage() {
            RoomStage::Joining { percent } => percent,
            _ => 100,
        }
    }
}

/// What is worth saying about somebody's match.
fn remark(player: &gander::Player) -> String {
    let tally = &player.tally;
    let text = match () {
        () if tally.falls == 0 => "never fell",
        () if tally.burns > 1 => "fond of fire",
        () if tally.eggs > tally.jousts => "an eye for eggs",
        () if tally.jousts > 20 => "sharp lance",
        () => "",
    };
    text.to_string()
}

fn bars(person: &Person) -> u8 {
    let rtt = person.link.and_then(|link| link.rtt).map_or(u64::MAX, |rtt| rtt.as_millis());
    match rtt {
        0..90 => 3,
        90..180 => 2,
        180..1_000 => 1,
        _ => 0,
    }
}

fn link_facts(person: &Person) -> LinkFacts {
    let link = person.link.unwrap_or_default();
    LinkFacts {
        seat: person.slots.lowest().map(Slot::index),
        name: person.name.clone(),
        path: match person.path {
            Some(Path::Direct) => "direct",
            Some(Path::Relay) => "relay",
            Some(Path::Socket) => "socket",
            None => "-",
        },
        rtt_ms: link.rtt.map_or(0, |rtt| rtt.as_millis() as u32),
        jitter_ms: link.jitter.as_millis() as u32,
        loss_permille: u32::from(link.loss_in_permille),
        lead: person.is_lead,
    }
}

impl<O: Outside> Arcade<O> {
    /// What the arcade knows, as JSON, for tools that look into a page.
    pub fn facts_json(&mut self, frames_drawn: u32) -> String {
        use std::fmt::Write;

        let people = self.room.people();
        let stats = self.room.stats();
        let stage = match self.room.stage() {
            RoomStage::Solo => "solo",
            RoomStage::Joining { .. } => "joining",
            RoomStage::Together => "together",
            RoomStage::Resting => "resting",
        };
        let code = self.room.lobby().and_then(|lobby| lobby.room()).map(|room| room.code.to_string());
        let mut out = String::from("{");
        let _ = write!(
            out,
            "\"stage\":\"{stage}\",\"code\":\"{}\",\"drawn\":{frames_drawn}",
            code.unwrap_or_default()
        );
        let game = self.room.game();
        let scores: Vec<String> = game.players.iter().map(|player| player.score.to_string()).collect();
        let here: Vec<&str> =
            game.players.iter().map(|player| if player.present() { "true" } else { "false" }).collect();
        let _ = write!(
            out,
            ",\"frame\":{},\"wave\":{},\"over\":{},\"scores\":[{}],\"here\":[{}],\"own\":{}",
            game.frame,
            game.wave.number,
            game.wave.phase == gander::Phase::Over,
            scores.join(","),
            here.join(","),
            self.room.own_slots().bits(),
        );
        let _ = write!(
            out,
            ",\"rollbacks\":{},\"again\":{},\"stalled\":{},\"goodbyes\":{},\"silences\":{},\"history\":\"{:016x}\"",
            stats.rollbacks,
            stats.frames_again,
            stats.stalled_ticks,
            self.shelf.partings[0],
            self.shelf.partings[1],
            self.room.session().history(),
        );
        let marks: Vec<String> = self
            .room
            .marks()
            .iter()
            .map(|(frame, hash)| format!("[{},\"{hash:016x}\"]", frame.number()))
            .collect();
        let _ = write!(out, ",\"marks\":[{}]", marks.join(","));
        let others = people.iter().filter(|person| !person.is_self).map(|person| {
            let facts = link_facts(person);
            format!(
                "{{\"path\":\"{}\",\"rtt\":{},\"slots\":{}}}",
                facts.path,
                facts.rtt_ms,
                person.slots.bits()
            )
        });
        let _ = write!(out, ",\"people\":[{}]}}", others.collect::<Vec<_>>().join(","));
        out
    }
}
