//! Cost of links on this machine as name and number per line: `cargo xtask bench links` runs it and
//! judges the figures.
//!
//! The relay under load is a process of its own, so that the system can measure it.

#![allow(clippy::unwrap_used, reason = "a failed measurement should stop")]
#![allow(clippy::float_arithmetic, reason = "figures are printed, never simulated")]

mod attack;
mod back;
mod latency;
mod load;
mod meeting;
mod member;
mod relay_process;

use gaggle_kit::PeerId;
use gaggle_native::Clock;

use attack::By;
use load::Load;
use relay_process::RelayProcess;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "relay") {
        relay_process::run(arguments.get(1).map_or("usual", String::as_str));
        return;
    }
    if let [attacker, by, url, victims @ ..] = &arguments[..]
        && attacker == "attacker"
    {
        let victims: Vec<PeerId> = victims.iter().map(|victim| victim.parse().unwrap()).collect();
        attack::run(by, url, &victims);
        return;
    }
    let wanted = |name: &str| arguments.is_empty() || arguments.iter().any(|argument| argument == name);
    let clock = Clock::start();
    if wanted("meeting") {
        say("first_packet_direct_ms", meeting::direct(&clock));
        say("first_packet_relay_ms", meeting::relay_after_failure(&clock));
    }
    if wanted("latency") {
        let bare = latency::bare(&clock);
        say("one_way_bare_us", bare);
        say("added_direct_us", latency::direct(&clock) - bare);
        say("added_relay_us", latency::relay(&clock) - bare);
    }
    if wanted("single") {
        let load = Load { rooms: 24, members: 2, seconds: 8, lanes: 1, in_phase: false, attacked: None };
        say("relay_single_per_cpu_second", load.run(&clock).per_cpu_second());
    }
    if wanted("rooms") {
        for (name, in_phase) in [("in_phase", true), ("random_phase", false)] {
            let carried =
                Load { rooms: 3, members: 8, seconds: 8, lanes: 1, in_phase, attacked: None }.run(&clock);
            say(&format!("relay_{name}_per_cpu_second"), carried.per_cpu_second());
        }
    }
    // All kinds of attack, or the named ones.
    for (name, attacked) in [
        ("quiet", None),
        ("attacked", Some(By::Strangers)),
        ("forged", Some(By::Forgers)),
        ("offered", Some(By::Offerers)),
        ("flooded", Some(By::Members)),
    ] {
        if wanted("attack") || wanted(name) {
            endure(&clock, name, attacked);
        }
    }
    if wanted("back") {
        say("back_after_restart_ms", back::after_restart(&clock));
    }
    if wanted("held") {
        let seconds = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(60);
        let load = Load { rooms: 12, members: 4, seconds, lanes: 2, in_phase: false, attacked: None };
        let carried = load.run(&clock);
        say("held_p50_ms", carried.percentile(50));
        say("held_p99_ms", carried.percentile(99));
        say("held_round_p99_ms", carried.round_percentile(99));
        say("held_lost", carried.lost() as f64);
        say("held_delivered", carried.delivered as f64);
        say("held_memory_growth_kb", carried.memory_growth_kb);
        say("held_cpu_percent", carried.cpu_percent());
    }
}

/// Effect of an attack on members that are not its victims.
fn endure(clock: &Clock, name: &str, attacked: Option<By>) {
    // A thread per room: reading in a flooded room delays no other.
    let load = Load { rooms: 4, members: 4, seconds: 8, lanes: 4, in_phase: false, attacked };
    let carried = load.run(clock);
    say(&format!("{name}_p50_ms"), carried.percentile_of_others(50));
    say(&format!("{name}_p99_ms"), carried.percentile_of_others(99));
    say(&format!("{name}_lost"), carried.lost_by_others() as f64);
    say(&format!("{name}_all_p99_ms"), carried.percentile(99));
    say(&format!("{name}_all_lost"), carried.lost() as f64);
    say(&format!("{name}_repelled"), carried.repelled as f64);
    say(&format!("{name}_round_p99_ms"), carried.round_percentile(99));
    say(&format!("{name}_cpu_percent"), carried.cpu_percent());
}

fn say(name: &str, value: f64) {
    println!("{name} {value}");
}

/// Median of the values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
