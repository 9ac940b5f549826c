//! Outcomes of attacks on results: which reports count. Absent: rooms.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::{Guest, Target, honest, hostile, text};
use crate::samples::Samples;

const FORGED: i64 = 10_000_000;
const FORCED: i64 = -1_000_000_000;
const THROW_AWAY_KEYS: usize = 10;
/// Time within which a result is decided and stored.
const DECIDED_WITHIN: Duration = Duration::from_secs(13);
const BETWEEN_FORGERIES: Duration = Duration::from_millis(100);

/// Players of one match and their ids in it.
struct Match {
    guests: Vec<Guest>,
    slots: Vec<u64>,
    round: u64,
}

impl Match {
    /// A match of these players in a private room.
    fn of(mut guests: Vec<Guest>, mode: &str) -> Result<Match, String> {
        let create =
            format!(r#"{{"type":"create","game":"siege","mode":"{mode}","private":true,"drop_in":true}}"#);
        let mut joined = guests[0].ask(&create, "joined")?;
        let mut slots = vec![joined["slot"].as_u64().unwrap_or(0)];
        let join = format!(r#"{{"type":"join","code":"{}"}}"#, text(&joined["room"]["code"]));
        for guest in &mut guests[1..] {
            joined = guest.ask(&join, "joined")?;
            slots.push(joined["slot"].as_u64().unwrap_or(0));
        }
        let round = joined["room"]["round"].as_u64().unwrap_or(0);
        Ok(Match { guests, slots, round })
    }

    /// Reports the scores of all as one player.
    fn report(&mut self, by: usize, scores: &[i64]) -> Result<(), String> {
        let highest_first = |score: &i64| 1 + scores.iter().filter(|other| *other > score).count();
        let lines: Vec<String> = scores
            .iter()
            .enumerate()
            .map(|(nth, score)| {
                let (peer, slot) = (&self.guests[nth].peer, self.slots[nth]);
                let place = highest_first(score);
                format!(r#"{{"peer":"{peer}","slot":{slot},"score":{score},"place":{place}}}"#)
            })
            .collect();
        let round = self.round;
        self.guests[by].say(&format!(
            r#"{{"type":"report","id":7,"round":{round},"scores":[{}],"level":1}}"#,
            lines.join(",")
        ))
    }

    /// State of the result, or that the report was rejected.
    fn verdict(&mut self, by: usize) -> String {
        let began = Instant::now();
        while began.elapsed() < DECIDED_WITHIN {
            let Some(heard) = self.guests[by].hear_within(Duration::from_millis(200)) else { continue };
            if heard["type"] == "error" && heard["id"] == 7 {
                return text(&heard["code"]);
            }
            let events = heard["events"].as_array().into_iter().flatten();
            if let Some(result) = events.into_iter().find(|event| event["event"] == "result") {
                return text(&result["verdict"]);
            }
        }
        "undecided".into()
    }
}

/// Verified scores after two keys of one address have agreed on a forged one.
pub(super) fn agree_on_forged(target: &Target) -> Result<f64, String> {
    let guests = (0..2).map(|nth| Guest::connect(hostile(0), target, &format!("forger-of-scores-{nth}")));
    let mut played = Match::of(guests.collect::<Result<_, _>>()?, "team")?;
    (0..2).try_for_each(|by| played.report(by, &[FORGED, FORGED - 1]))?;
    played.verdict(0);
    let top = r#"{"type":"top","id":8,"game":"siege","mode":"team","verified":true,"count":10}"#;
    let board = Guest::connect(honest(40), target, "reader-of-the-board")?.ask(top, "top")?;
    let is_forged = |entry: &&Value| entry["score"].as_i64().is_some_and(|score| score >= FORGED - 1);
    Ok(board["entries"].as_array().into_iter().flatten().filter(is_forged).count() as f64)
}

/// Time that two honest players of different networks wait for their result, while others forge
/// scores.
pub(super) fn honest_results(target: &Target, matches: usize) -> Result<Samples, String> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let forging = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let _ = agree_on_forged(target);
                std::thread::sleep(BETWEEN_FORGERIES);
            }
        });
        let mut samples = Samples::default();
        let decided = (0..matches).try_for_each(|nth| {
            let (one, other) = (honest(60 + 2 * nth), honest(61 + 2 * nth));
            let guests = vec![
                Guest::connect(one, target, &format!("honest-player-{nth:06}"))?,
                Guest::connect(other, target, &format!("honest-opponent-{nth:06}"))?,
            ];
            let mut played = Match::of(guests, "team")?;
            let began = Instant::now();
            (0..2).try_for_each(|by| played.report(by, &[100, 50]))?;
            match played.verdict(0).as_str() {
                "agreed" => samples.add(began.elapsed()),
                verdict => return Err(format!("an honest result was {verdict}")),
            }
            played.guests.iter_mut().try_for_each(|guest| guest.say(r#"{"type":"leave"}"#))
        });
        over.store(true, Ordering::Relaxed);
        let _ = forging.join();
        decided.map(|()| samples)
    })
}

/// Rating that a key has won over throw-away keys of its address.
pub(super) fn pump_rating(target: &Target) -> Result<f64, String> {
    for nth in 0..THROW_AWAY_KEYS {
        let winner = Guest::connect(hostile(1), target, "winner-of-everything")?;
        let loser = Guest::connect(hostile(1), target, &format!("throw-away-key-{nth:04}"))?;
        // Each key makes its own room, because one player may not make so many.
        let mut played = Match::of(vec![loser, winner], "team")?;
        (0..2).try_for_each(|by| played.report(by, &[1, 100]))?;
        played.verdict(0);
        // Left players keep no reservation, of which one address has few.
        played.guests.iter_mut().try_for_each(|guest| guest.say(r#"{"type":"leave"}"#))?;
    }
    Ok((rating(target, hostile(1), "winner-of-everything")? - 1_500.0).max(0.0))
}

fn rating(target: &Target, from: std::net::IpAddr, key: &str) -> Result<f64, String> {
    let mine = own(target, from, key)?;
    Ok(mine["rating"].as_f64().unwrap_or(1_500.0))
}

/// Matches, best score and rating of the player with this key.
fn own(target: &Target, from: std::net::IpAddr, key: &str) -> Result<Value, String> {
    Guest::connect(from, target, key)?.ask(r#"{"type":"mine","id":9,"game":"siege","mode":"team"}"#, "mine")
}

/// Whether three keys of one address could give a fourth player a score it contradicts, or take
/// rating from it.
pub(super) fn force_on_victim(target: &Target) -> Result<f64, String> {
    let victim = "victim-of-three-keys";
    let mut guests = vec![Guest::connect(honest(41), target, victim)?];
    for nth in 0..3 {
        guests.push(Guest::connect(hostile(2), target, &format!("key-of-three-{nth:04}"))?);
    }
    let mut played = Match::of(guests, "team")?;
    played.report(0, &[500, 400, 300, 200])?;
    (1..4).try_for_each(|by| played.report(by, &[FORCED, 400, 300, 200]))?;
    played.verdict(0);
    let mine = own(target, honest(42), victim)?;
    let counts = |score: &Value| score.as_i64() == Some(FORCED);
    let in_matches = mine["matches"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|one| counts(&one["score"]) && one["verdict"] != "disputed");
    let is_rated_down = mine["rating"].as_i64().is_some_and(|rating| rating < 1_500);
    Ok(f64::from(u8::from(counts(&mine["best"]["score"]) || in_matches || is_rated_down)))
}
