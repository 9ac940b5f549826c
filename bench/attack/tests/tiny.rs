//! The suite at its smallest scale: every attack reaches a server built for tests, and every figure
//! is there. Nothing is judged, because a machine that builds at the same time measures nothing.

use std::process::{Command, Stdio};

use serde_json::Value;

const ATTACKS: usize = 10;

#[test]
fn tiny_suite_measures_each_attack() {
    // Two processes, each with servers of its own.
    let parts = [&["latency"][..], &["outcomes", "searching", "places"]].map(|parts| {
        Command::new(env!("CARGO_BIN_EXE_attack"))
            .args(["--tiny", "--json"])
            .args(parts)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    });
    let outputs = parts.map(|part| part.wait_with_output().unwrap());
    let text = |bytes: [&[u8]; 2]| bytes.map(String::from_utf8_lossy).concat();
    let said = text(outputs.each_ref().map(|output| &output.stdout[..]));
    let complained = text(outputs.each_ref().map(|output| &output.stderr[..]));
    let rows: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let figures = |part: &str| -> Vec<Option<f64>> {
        let of = rows.iter().filter(|row| row["metric"].as_str().is_some_and(|metric| metric.contains(part)));
        of.map(|row| row["gaggle"].as_f64()).collect()
    };
    let reached = figures("reached the server");
    assert_eq!(reached.len(), ATTACKS, "{said}{complained}");
    assert!(reached.iter().all(|reached| reached.is_some_and(|reached| reached > 0.0)), "{said}");
    // On a busy machine a short attack may end before a client had its turn.
    for kind in ["find", "signal", "relay", "page", "connect"] {
        let p99 = figures(&format!(": {kind}, p99"));
        assert!(p99.iter().flatten().count() >= ATTACKS / 2, "{kind}: {said}{complained}");
    }
    for part in ["locked private room", "revived", "two keys of one address", "throw-away", "forced"] {
        assert!(matches!(figures(part)[..], [Some(_)]), "{part}: {said}{complained}");
    }
    // p50 and p99.
    for part in ["hosts who kick", "idle hosts", "honest result", "in search by skill"] {
        assert!(matches!(figures(part)[..], [Some(_), Some(_)]), "{part}: {said}{complained}");
    }
    // Control: the attack on places succeeds at a server without shares by network. Without
    // namespaces there are no figures.
    let (shared, first_come) =
        (figures("succeed within 1 s while one /56"), figures("first who come have the places"));
    assert_eq!(shared.len(), first_come.len(), "{said}{complained}");
    if let ([Some(shared)], [Some(first_come)]) = (&shared[..], &first_come[..]) {
        assert!(first_come < &10.0 && first_come < shared, "{said}{complained}");
    }
}
