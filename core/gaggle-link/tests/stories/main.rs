//! Stories of gaggle-link, one program: what they share is built once.

mod carrier_of_your_own;
mod contract;
mod contract_catches;
mod corpus;
mod determinism;
mod hostile;
mod joining;
mod mesh;
mod paths;
mod reliable;
mod rerouted;
mod transfer;

#[path = "../../../../fuzz/src/link.rs"]
#[allow(dead_code, unreachable_pub, reason = "targets of the fuzzer, some of which no story uses")]
mod link;
