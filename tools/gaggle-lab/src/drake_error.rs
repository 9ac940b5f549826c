//! Error of the place at which the drake of another player is drawn, for three ways of drawing: as
//! the game does, at the newest update, and interpolated at a fixed delay.
//!
//! Called by `main.rs`. Absent: the way drake draws (`drake`).

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use drake::bots::{Bot, Strength};
use drake::net::{self, Coop};
use drake::{Craft, Pad, Phase, Setup};
use gaggle_kit::{Fixed16, Micros};
use gaggle_link::sim::{Chance, Conditions};
use gaggle_replica::{Kinds, RemoteEvent, ReplicaConfig, Session, SessionEvent};

use crate::shared::{Cluster, FRAME, Part, percentile};

/// Options of the measurement.
#[derive(Args)]
pub(crate) struct Options {
    /// Seconds of play
    #[arg(long, default_value_t = 120)]
    seconds: u32,
    /// Seed of all random numbers of the run
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// SVG file to write
    #[arg(long, short, default_value = "drake_error.svg")]
    out: PathBuf,
}

/// Peer whose slot a bot plays.
pub(crate) struct DrakePart {
    pub(crate) coop: Coop,
    bot: Bot,
}

impl Part for DrakePart {
    fn kinds() -> Kinds {
        net::kinds_with_input()
    }

    fn config() -> ReplicaConfig {
        net::config()
    }

    fn new(me: usize, seed: u64) -> DrakePart {
        let coop = Coop::new(Setup { fill: 4, wins: 3 }, seed);
        DrakePart { coop, bot: Bot::new(me, Strength::Steady, seed) }
    }

    fn step(&mut self, session: &mut Session, still: bool) {
        let pad = if still { Pad::NONE } else { self.bot.play(self.coop.game()) };
        session.set_input(pad);
        self.coop.step(session);
    }

    fn hear(&mut self, _: &mut Session, event: &SessionEvent) {
        self.coop.hear(event);
    }

    fn signal(&mut self, session: &mut Session, signal: &RemoteEvent) {
        self.coop.signal(session, signal);
    }
}

/// Fixed delay of two update intervals; latency and most of the jitter would need more.
const BEHIND: Micros = Micros::from_millis(100);

/// Received positions of a player, with their times.
#[derive(Default)]
struct Heard {
    words: VecDeque<(Micros, [f64; 2])>,
}

impl Heard {
    fn note(&mut self, now: Micros, place: [f64; 2]) {
        if self.words.back().is_none_or(|(_, last)| *last != place) {
            self.words.push_back((now, place));
        }
        while self.words.len() > 64 {
            self.words.pop_front();
        }
    }

    /// Position interpolated at `now` minus [`BEHIND`].
    fn at(&self, now: Micros) -> Option<[f64; 2]> {
        let then = now.since(BEHIND);
        let after = self.words.iter().position(|(at, _)| *at > then)?;
        let (next, there) = self.words[after];
        let Some((last, here)) = after.checked_sub(1).map(|before| self.words[before]) else {
            return Some(there);
        };
        let part = then.since(last).get() as f64 / next.since(last).get().max(1) as f64;
        Some([0, 1].map(|axis| here[axis] + (there[axis] - here[axis]) * part))
    }
}

/// Errors in pixels, for the three ways of drawing.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    pub(crate) shown: Vec<f64>,
    pub(crate) snapped: Vec<f64>,
    pub(crate) between: Vec<f64>,
}

/// Round trip of 100 ms, 20 ms of jitter, loss of 2 percent.
fn conditions() -> Conditions {
    Conditions { jitter: Micros::from_millis(20), loss: Chance::percent(2), ..Conditions::latency_ms(50) }
}

fn floats(place: [Fixed16; 2]) -> [f64; 2] {
    place.map(Fixed16::to_f64)
}

fn apart(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Plays, and measures on the third peer the drakes of the second one and of the leader.
pub(crate) fn measure(seconds: u32, seed: u64) -> Result<Errors, String> {
    let mut company: Cluster<DrakePart> = Cluster::of(3, seed, conditions())?;
    let mut errors = Errors::default();
    let mut heard = [Heard::default(), Heard::default()];
    for _ in 0..seconds * 60 {
        company.frame();
        let now = company.world.now();
        let [host, other, me] = [0, 1, 2].map(|at| company.machines[at].as_ref());
        let (Some(host), Some(other), Some(me)) = (host, other, me) else { continue };
        for (seat, truth) in [(0, host), (1, other)] {
            let game = truth.part.coop.game();
            let (Some(real), seen) = (game.body(seat), me.part.coop.game()) else { continue };
            let known = me.session.iter::<Craft>().find(|(_, craft)| usize::from(craft.seat) == seat);
            let (Some((_, word)), Some(shown)) = (known, seen.body(seat)) else { continue };
            heard[seat].note(now, floats(word.place));
            if game.bout.phase != Phase::Play || real.life != word.life || shown.life != real.life {
                heard[seat].words.clear();
                continue;
            }
            let truth = floats(real.place);
            let Some(between) = heard[seat].at(now) else { continue };
            errors.shown.push(apart(truth, floats(shown.place)));
            errors.snapped.push(apart(truth, floats(word.place)));
            errors.between.push(apart(truth, between));
        }
    }
    Ok(errors)
}

pub(crate) fn draw(options: &Options) -> Result<String, String> {
    let mut errors = measure(options.seconds, options.seed)?;
    let rows = [
        ("as drake shows it", "#2ee68c", &mut errors.shown),
        ("the newest word, as it comes", "#4a8cff", &mut errors.snapped),
        ("between two words, 100 ms later", "#f26db4", &mut errors.between),
    ];
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 300\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"640\" height=\"300\" fill=\"#0a0c18\"/>\n",
    );
    // Curves: share of time in which the error is below a number of pixels.
    let (left, top, wide, high, most) = (60.0, 40.0, 540.0, 200.0, 24.0);
    for tick in 0..=6 {
        let x = left + wide * f64::from(tick) / 6.0;
        _ = writeln!(
            svg,
            "<line x1=\"{x}\" y1=\"{top}\" x2=\"{x}\" y2=\"{}\" stroke=\"#243c5c\"/><text x=\"{x}\" y=\"{}\" fill=\"#a9b9c4\" text-anchor=\"middle\">{} px</text>",
            top + high,
            top + high + 18.0,
            tick * 4
        );
    }
    for tick in 0..=4 {
        let y = top + high * f64::from(tick) / 4.0;
        _ = writeln!(
            svg,
            "<line x1=\"{left}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"#243c5c\"/><text x=\"{}\" y=\"{}\" fill=\"#a9b9c4\" text-anchor=\"end\">{} %</text>",
            left + wide,
            left - 8.0,
            y + 4.0,
            100 - tick * 25
        );
    }
    let mut said = String::new();
    for (row, (name, color, values)) in rows.into_iter().enumerate() {
        let (half, most_of) = (percentile(values, 0.5), percentile(values, 0.95));
        let mut points = String::new();
        for step in 0..=200 {
            let error = most * f64::from(step) / 200.0;
            let share = values.partition_point(|value| *value <= error) as f64 / values.len().max(1) as f64;
            _ = write!(points, "{:.1},{:.1} ", left + wide * error / most, top + high * (1.0 - share));
        }
        _ = writeln!(
            svg,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>"
        );
        let y = 130 + row * 18;
        _ = writeln!(svg, "<text x=\"330\" y=\"{y}\" fill=\"{color}\">{name}: p95 {most_of:.1} px</text>");
        _ = writeln!(
            said,
            "{name:34} median {half:5.1} px   p95 {most_of:5.1} px   ({} samples)",
            values.len()
        );
    }
    _ = writeln!(
        svg,
        "<text x=\"{left}\" y=\"24\" fill=\"#eef1e6\">Another player's drake: share of frames drawn nearer to the truth than this (100 ms RTT, 20 ms jitter, 2 % loss)</text>\n</svg>"
    );
    fs::write(&options.out, svg).map_err(|error| format!("{}: {error}", options.out.display()))?;
    Ok(format!("{said}{} ({} ms a frame)", options.out.display(), FRAME.as_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_draws_nearer_to_truth_than_snapping_or_waiting() {
        let mut errors = measure(40, 3).unwrap();
        assert!(errors.shown.len() > 1_000, "only {} samples", errors.shown.len());
        let [shown, snapped, between] =
            [&mut errors.shown, &mut errors.snapped, &mut errors.between].map(|all| percentile(all, 0.95));
        assert!(shown < snapped && shown < between, "{shown:.1} against {snapped:.1} and {between:.1}");
    }
}
