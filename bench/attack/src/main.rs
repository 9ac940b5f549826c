//! Attacks on a running server and their effect on honest clients: `cargo xtask bench attack
//! [--json] [--markdown] [--same-priority] [--tiny] [latency|outcomes|searching|places|others]`.
//!
//! The server has its default limits; attacks run in the idle class unless `--same-priority`, and
//! `--tiny` only shows that the suite works. nginx and coturn bear the same. Absent: real networks.

mod attacker;
mod client;
mod endured;
mod honest;
mod others;
mod outcomes;
mod places;
#[path = "../../server/src/process.rs"]
#[allow(dead_code, reason = "only another bench lets a server settle")]
mod process;
mod relay_pair;
mod samples;
mod scale;
mod searching;
mod server;
mod suite;
mod table;

use std::process::ExitCode;

use bench_report::Report;

use endured::Endured;
use scale::Scale;
use table::Table;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(done) = attacker::run(&arguments).or_else(|| places::inside(&arguments)) {
        return match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                println!("{why}");
                ExitCode::FAILURE
            }
        };
    }
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let parts: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|argument| !argument.starts_with("--")).collect();
    let is_markdown = has("--markdown");
    let mut report = if is_markdown { Report::silent() } else { Report::from_args() };
    let scale = if has("--tiny") { Scale::TINY } else { Scale::WHOLE };
    let scale = Scale { is_idle: scale.is_idle && !has("--same-priority"), ..scale };
    match measure(&mut report, scale, &parts) {
        Ok(table) if is_markdown => print!("{}", table.markdown()),
        Ok(_) => {}
        Err(why) => {
            eprintln!("the bench cannot be run: {why}");
            return ExitCode::FAILURE;
        }
    }
    report.finish()
}

/// Runs the named parts, or all of them.
fn measure(report: &mut Report, scale: Scale, parts: &[&str]) -> Result<Table, String> {
    process::allow_many_sockets();
    let wanted = |part: &str| parts.is_empty() || parts.contains(&part);
    let mut table = Table::default();
    if let Some(unknown) = parts.iter().find(|part| !PARTS.contains(part)) {
        return Err(format!("there is no part `{unknown}`: {}", PARTS.join(", ")));
    }
    if wanted("latency") {
        latency(report, scale, &mut table)?;
    }
    if wanted("outcomes") {
        table.outcomes.extend(outcomes::run(report, scale)?);
    }
    if wanted("searching") {
        table.outcomes.extend(searching::run(report, scale)?);
    }
    if wanted("places") {
        table.outcomes.extend(places::run(report, scale)?);
    }
    if wanted("others") {
        table.beside = others::run(report, scale)?;
    }
    Ok(table)
}

/// Parts that can be named.
const PARTS: [&str; 5] = ["latency", "outcomes", "searching", "places", "others"];

fn latency(report: &mut Report, scale: Scale, table: &mut Table) -> Result<(), String> {
    let quiet = at_once(scale, &[false, true], |tls| Endured::quiet(scale, *tls))?;
    quiet.iter().for_each(|quiet| quiet.report(report, None));
    for group in suite::ATTACKS.chunks(scale.attacks_at_once) {
        let endured = at_once(scale, group, |planned| Endured::attack(scale, planned))?;
        for (endured, planned) in endured.into_iter().zip(group) {
            let beside = &quiet[usize::from(planned.tls)];
            endured.report(report, Some(beside));
            let holds = endured.holds(beside);
            table.endured.push((endured, holds));
        }
    }
    table.quiet = quiet;
    Ok(())
}

/// Runs an action for each item, as many at the same time as the scale allows; results in order.
fn at_once<T: Sync, R: Send>(
    scale: Scale,
    items: &[T],
    work: impl Fn(&T) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    let work = &work;
    let mut results = Vec::new();
    for group in items.chunks(scale.attacks_at_once) {
        let done: Vec<Result<R, String>> = std::thread::scope(|scope| {
            let running: Vec<_> = group.iter().map(|item| scope.spawn(move || work(item))).collect();
            running
                .into_iter()
                .map(|running| running.join().unwrap_or_else(|_| Err("a measurement panicked".into())))
                .collect()
        });
        results.extend(done.into_iter().collect::<Result<Vec<_>, _>>()?);
    }
    Ok(results)
}
